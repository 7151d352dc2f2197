"""From sums over the vocabulary to the matrix: choose the words, solve, and measure how well it does."""

from dataclasses import asdict, replace

import numpy as np

from alacarte._io.arrays import Doubles, Rows
from alacarte.contexts.sums import ContextSums
from alacarte.errors import Hint, NotEnoughData
from alacarte.transform.automatic import choose
from alacarte.transform.least_squares import Regression
from alacarte.transform.report import FitReport, quantiles
from alacarte.transform.solve import Solve, Weighting
from alacarte.vectors.word_vectors import WordVectors

LEAST_COVERAGE = 0.01  # of the tokens: below, text and vectors do not belong together


def learn_matrix(sums: ContextSums, vectors: WordVectors, solve: Solve) -> tuple[Doubles, FitReport]:
    """Return (A, with the intercept as last column if there is one; how it was learned and how well it does)."""
    if 0 < sums.tokens_read * LEAST_COVERAGE > sums.tokens_known:
        raise NotEnoughData(
            f"only {sums.tokens_known:,} of the {sums.tokens_read:,} tokens have a vector; check that text and vectors "
            "share language, spelling and case (tokenizer)"
        )
    rows, vector_rows = _words_with_vectors(sums, vectors, solve)
    name, reason, weights = _word_weights(sums, vectors, (rows, vector_rows), solve)
    used = np.flatnonzero(weights > 0)
    rows, vector_rows, weights = rows[used], vector_rows[used], weights[used]
    needed = vectors.dimension + solve.intercept
    _check_enough(sums, len(rows), needed, solve.ridge == 0, name)
    data = Regression(sums, vectors, (rows, vector_rows), weights, solve.intercept, solve.folds)
    center = data.best_scalar() if solve.toward == "identity" else 0.0
    penalty = data.leave_one_out(center) if solve.ridge == "loo" else float(solve.ridge)
    solution, solver, condition = data.solve(penalty, center)
    held_out: list[Doubles] | None = None
    if solve.folds > 1 and (penalty > 0 or len(rows) - -(-len(rows) // solve.folds) >= needed):
        held_out = [data.solve(penalty, center, without=fold)[0] for fold in range(solve.folds)]
    cosines, held_out_cosines = data.cosines(solution, held_out)
    report = FitReport(
        words=len(rows),
        vocabulary=len(vectors),
        dimension=vectors.dimension,
        documents=sums.documents,
        tokens_read=sums.tokens_read,
        tokens_known=sums.tokens_known,
        words_seen=len(sums.seen),
        weighting=name,
        weighting_reason=reason,
        ridge=penalty,
        ridge_toward=center,
        intercept=solve.intercept,
        solver=solver,
        condition=condition,
        cosine_mean=float(np.average(cosines, weights=data.alpha)),
        cosine_quantiles=quantiles(cosines, data.alpha),
        cv_cosine_mean=None if held_out_cosines is None else float(np.average(held_out_cosines, weights=data.alpha)),
        cv_cosine_quantiles=None if held_out_cosines is None else quantiles(held_out_cosines, data.alpha),
        folds=solve.folds,
        settings=asdict(sums.settings),
    )
    return solution, report


def _word_weights(
    sums: ContextSums, vectors: WordVectors, rows: tuple[Rows, Rows], solve: Solve
) -> tuple[str, str, Doubles]:
    """Return (name of the weighting, why it was chosen, weight of each word in the regression)."""
    counts = sums.occurrences[rows[0]]
    if solve.weighting != "auto":
        name, weights = solve.word_weights(counts)
        return name, "as asked", weights
    choice = choose(sums, vectors, rows, solve)
    weighting: Weighting = "log" if choice is None else choice.threshold
    reason = f"{len(counts):,} words are too few to choose by" if choice is None else choice.reason
    name, weights = replace(solve, weighting=weighting).word_weights(counts)
    return name, reason, weights


def _words_with_vectors(sums: ContextSums, vectors: WordVectors, solve: Solve) -> tuple[Rows, Rows]:
    """Return the rows of the sums that may take part, and the rows of the vectors that belong to them."""
    seen = sums.seen
    if len(sums) == len(vectors) and list(sums.keys) == list(vectors.words):
        index = vectors.key_to_index if solve.exclude else {}
        excluded = [index[word] for word in solve.exclude if word in index]
        rows = seen[~np.isin(seen, excluded)] if excluded else seen
        return rows, rows
    index = vectors.key_to_index
    pairs = [
        (row, index[sums.keys[row]])
        for row in seen.tolist()
        if sums.keys[row] in index and sums.keys[row] not in solve.exclude
    ]
    # In the order of the vectors, so that all that is drawn is the same however the sums were put together.
    both = np.array(sorted(pairs, key=lambda pair: pair[1]), dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _check_enough(sums: ContextSums, words: int, needed: int, unpenalised: bool, weighting: str) -> None:
    if unpenalised and words < needed:
        if sums.targets is not None:
            raise NotEnoughData(
                f"these are the sums of {len(sums):,} chosen targets, {words:,} of them words with a vector; a "
                "transform is learned from sums over the whole vocabulary, which alc fit --save-sums and "
                "collect without targets give"
            )
        lower, or_log, or_log_option = "", "", ""
        if weighting.startswith("count"):
            lower, or_log, or_log_option = ", a lower threshold", "weighting='log', ", "--weighting log, "
        raise NotEnoughData(
            f"{words:,} words are too few to learn {needed} dimensions from (weighting: {weighting}). "
            f"Give more text{lower}",
            hint=Hint(f"or pass {or_log}ridge='loo'", f"or pass {or_log_option}--ridge loo"),
        )
    if words == 0:
        raise NotEnoughData(
            f"no word of the vectors is left to learn from (weighting: {weighting}); give more text, a lower "
            "threshold, or check that text and vectors share language and case"
        )
