"""Context weights learned from text: how much a context word counts by frequency, informativeness, distance and side.

    u = Σ over context words c of f(frequency of c) · h(informativeness of c) · g(distance, side) · v_c

f, h and g are step functions. Few-shot learning is played through on known words: u from a few sampled contexts of a
word should lead to its vector, A u ≈ v. Given the weights, A is a least squares solution; given A and two of the three
functions, so is the third, with a penalty that pulls it to where it started and no value below 0. The steps are taken
in turn. Each function has 1 as its largest value (the scale is A's). The start is SIF; uniform weights, SIF and weights
that fall with distance are all special cases. At the end words that took no part decide: if they are not predicted
better than with SIF, SIF is kept, and the result says so.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from alacarte._io.figures import save_figure
from alacarte._io.table import Columns, Table
from alacarte.contexts.reading import Positions, written_positions
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import ContextWeights, named, sif
from alacarte.errors import AlacarteError, BadCorpus, NotEnoughData, require
from alacarte.passes.collect import CollectOptions, collect
from alacarte.passes.sample import SampledWindows, sample_windows
from alacarte.passes.work import WorkOptions, chosen, refuse_unknown
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.tokenizers import TokenizerLike
from alacarte.transform.component_removal import ComponentRemoval
from alacarte.transform.informative_weights import informativeness, word_counts
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Curve = Sequence[tuple[float, float]]
PER_DECADE = 3  # bins of frequency
PER_OCTAVE = 1  # bins of informativeness
LEAST = 20  # occurrences of a word that is learned from
HELD_OUT = 5  # each fifth word
RIDGE = 1e-3  # on A, of the mean of the diagonal
SIF = 1e-3
FUNCTIONS = ("distance", "frequency", "informativeness")


class LearningOptions(TypedDict, total=False):
    """The keywords that say how context weights are learned; see `Learning`."""

    functions: Collection[str]
    words: int
    contexts: int
    rounds: int
    penalty: float
    seed: int


class LearnOptions(LearningOptions, WorkOptions, total=False):
    """All keywords of `learn_weights`: those of `Learning`, and how the text is read (`Work`)."""


@dataclass(frozen=True)
class Learning:
    """How context weights are learned.

    `words` and `contexts` say how much is sampled: so many words, so many contexts of each, by the random `seed`.
    `functions` are those that are learned, in so many `rounds`; the others stay as they start. `penalty` is how
    strongly they are held there, in units of what the data say about an average bin.
    """

    functions: Collection[str] = FUNCTIONS
    words: int = 8000
    contexts: int = 4
    rounds: int = 4
    penalty: float = 1e-2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.contexts < 1 or self.rounds < 1 or self.penalty < 0 or not set(self.functions) <= set(FUNCTIONS):
            raise AlacarteError(
                f"contexts and rounds are at least 1, the penalty is not negative, and functions are out of "
                f"{', '.join(FUNCTIONS)}"
            )


@dataclass(frozen=True, eq=False)
class LearnedWeights(Table):
    """What was learned; as a table, a row a step of the functions: `what` it depends on, `at` which value, `weight`.

    `weights` and `positions` are what `collect` and `ALaCarte.fit` take.
    """

    weights: ContextWeights
    positions: Positions
    by_frequency: list[tuple[float, float, int]]  # (least share of the text, weight, words)
    by_informativeness: list[tuple[float, float, int]]  # (least κ, weight, words)
    left: Doubles  # by distance 1, 2, …
    right: Doubles
    held_out: dict[str, float]  # mean cosine with the vectors of held-out words, for each kind of weights
    learned: bool  # False: SIF was no worse, and is kept
    words: int
    contexts: int
    rounds: list[float]  # held-out cosine after each

    def rows(self) -> list[tuple[str, str, float]]:
        """(what, value of it, weight) of everything that was learned."""
        rows = [("frequency", f"{share:.2g}", weight) for share, weight, _ in self.by_frequency]
        rows += [("informativeness", f"{kappa:.2g}", weight) for kappa, weight, _ in self.by_informativeness]
        for side, values in (("left", self.left), ("right", self.right)):
            rows += [(side, str(distance), float(weight)) for distance, weight in enumerate(values, start=1)]
        return rows

    def columns(self) -> Columns:
        what, at, weights = zip(*self.rows(), strict=True)
        return {"what": what, "at": at, "weight": weights}

    def __str__(self) -> str:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in self.held_out.items())
        verdict = "kept" if self.learned else "not better than SIF, which is kept"
        return f"learned context weights: {verdict}; cosine with held-out words from {self.contexts} contexts: {scores}"

    def draw(self, path: str | PathLike[str]) -> Path:
        """The three functions as a figure (SVG, PNG or PDF, by the ending)."""
        require("matplotlib", extra="plot", purpose="the figure of learned weights")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 2.8), layout="constrained")
        frequency, telling = ([row[:2] for row in table] for table in (self.by_frequency, self.by_informativeness))
        left, right = (list(enumerate(side.tolist(), start=1)) for side in (self.left, self.right))
        draw_functions(figure, frequency, telling, left, right)
        save_figure(figure, path)
        return Path(path)


def draw_functions(figure: Any, frequency: Curve, telling: Curve, left: Curve, right: Curve) -> None:
    """Weight by frequency, by informativeness, and by distance to the left and to the right, on a matplotlib figure."""
    first, second, third = figure.subplots(1, 3, sharey=True)
    positive = [(share, weight) for share, weight in frequency if share > 0]  # the words never met have no place here
    first.step(*zip(*positive, strict=True), "k-", where="post", label="learned")
    first.plot([share for share, _ in positive], [SIF / (SIF + share) for share, _ in positive], "k--", label="SIF")
    first.set(xscale="log", xlabel="share of the text", ylabel="weight", title="frequency", ylim=(0, 1.05))
    first.legend(frameon=False)
    second.step(*zip(*telling, strict=True), "k-", where="post")
    second.set(xscale="log", xlabel="κ", title="informativeness")
    for side, curve in ((-1, left), (1, right)):
        third.plot([side * distance for distance, _ in curve], [weight for _, weight in curve], "ko-")
    third.set(xlabel="distance", title="words before | after")


def collect_with_learned_weights(
    vectors: WordVectors,
    corpus: CorpusLike,
    *,
    spread: int | None = None,
    seed: int = 0,
    **options: Unpack[CollectOptions],
) -> tuple[ContextSums, LearnedWeights]:
    """Sums over the whole vocabulary under learned weights, and these: `ALaCarte.fit(…, context_weights="learned")`.

    The corpus is read four times: to count words, for SIF-weighted sums, to sample contexts, for the sums themselves.
    `context_weights` and `positions` are what is learned; the other options are those of `collect`.
    """
    if options.get("shard") is not None or options.get("checkpoint") is not None:
        raise AlacarteError(
            "learned context weights come out of several passes over all of the text, which have no shards and no "
            "checkpoint; learn them first, then collect with the weights that were found"
        )
    source = Corpus.of(corpus)
    if source.once:
        raise BadCorpus("learned context weights read the corpus several times, and this one can be read only once")
    smooth: CollectOptions = {
        **options,
        "averaging": "occurrence",
        "positions": "uniform",
        "context_weights": f"sif:{SIF:g}",
    }
    first = collect(vectors, source, **smooth)
    learned = learn_weights(
        vectors,
        source,
        first,
        tokenizer=options.get("tokenizer"),
        seed=seed,
        show_progress=options.get("show_progress"),
        callback=options.get("callback"),
    )
    del first
    final: CollectOptions = {**options, "positions": learned.positions, "context_weights": learned.weights}
    return collect(vectors, source, spread=spread, **final), learned


def learn_weights(
    vectors: WordVectors,
    corpus: CorpusLike,
    sums: ContextSums,
    *,
    window: tuple[int, int] | None = None,
    tokenizer: TokenizerLike | None = None,
    **options: Unpack[LearnOptions],
) -> LearnedWeights:
    """Learn context weights from a corpus whose `sums` over the whole vocabulary are at hand (best: SIF-weighted ones).

    `window`: words before and after, that of the sums unless given. Options: how the weights are learned (`contexts`,
    `functions`, …: `Learning`) and how the text is read (`threads`, `show_progress`, …: `Work`).
    """
    refuse_unknown("learn_weights", options, LearnOptions)
    learning = Learning(**chosen(options, LearningOptions))
    reading = sums.settings if window is None else replace(sums.settings, left=window[0], right=window[1])
    sample = sample_windows(
        vectors,
        corpus,
        word_counts(sums, vectors),
        reading,
        words=learning.words,
        contexts=learning.contexts,
        least=LEAST,
        tokenizer=tokenizer,
        seed=learning.seed,
        **cast(WorkOptions, chosen(options, WorkOptions)),
    )
    return learn_weights_from_sample(vectors, sums, sample, learning)


def learn_weights_from_sample(
    vectors: WordVectors, sums: ContextSums, sample: SampledWindows, learning: Learning | None = None
) -> LearnedWeights:
    """The same from contexts that were sampled before; of `learning`, what says how they are sampled has no effect."""
    learning = learning or Learning()
    if len(sample.rows) < 4 * vectors.dimension:
        raise NotEnoughData(
            f"{len(sample.rows):,} words occur {LEAST} times or more, too few to learn weights for "
            f"{vectors.dimension} dimensions; give more text, or use sif"
        )
    counts = word_counts(sums, vectors)
    space = ComponentRemoval.of(vectors, 1)
    moved = space.vectors(vectors)
    kappa = informativeness(space.sums(sums, moved), moved)
    share = counts / counts.sum()
    bins = (
        _bins(np.log10(np.maximum(share, share[share > 0].min())) * PER_DECADE),
        _bins(np.log2(kappa) * PER_OCTAVE),
    )
    smooth = sif(counts, SIF)
    assert smooth.values is not None
    problem = FewShot(vectors, sample, space)
    width = sample.windows.shape[2]
    start = [np.ones(width), _means(smooth.values, bins[0]), np.ones(bins[1].max() + 1)]
    values, history = _alternate(problem, start, bins, learning)
    by_word, by_place = _split(values, bins)
    left, right = by_place[: sample.left], by_place[sample.left :]
    scores = {**_scores_of_fixed_weights(problem, smooth.values, (len(left), len(right))), "learned": history[-1]}
    learned = scores["learned"] > scores["sif"]
    weights = named("learned", by_word.astype(np.float32)) if learned else smooth
    return LearnedWeights(
        weights.for_vectors(vectors),
        written_positions(left, right) if learned else "uniform",
        _table(share, bins[0], values[1]),
        _table(kappa, bins[1], values[2]),
        left,
        right,
        scores,
        learned,
        len(sample.rows),
        sample.contexts,
        history,
    )


def _alternate(
    problem: "FewShot", start: list[Doubles], bins: tuple[Longs, Longs], learning: Learning
) -> tuple[list[Doubles], list[float]]:
    """(the functions after all rounds, the score on held-out words after each): A and the functions in turn."""
    values = [function.copy() for function in start]
    history: list[float] = []
    for _ in range(learning.rounds):
        matrix = problem.matrix(*_split(values, bins))[0]
        for which, name in enumerate(FUNCTIONS):
            if name in learning.functions:
                values[which] = _improved(problem, matrix, values, bins, which, start[which], learning.penalty)
        history.append(problem.held_out(*_split(values, bins)))
    return values, history


def _scores_of_fixed_weights(
    problem: "FewShot", smooth: npt.NDArray[np.float32], sides: tuple[int, int]
) -> dict[str, float]:
    """The score on held-out words of weights that are not learned, by name."""
    distance = np.concatenate([np.arange(1, side + 1) for side in sides])
    same, by_word = np.ones(len(distance)), smooth.astype(np.float64)
    return {
        "uniform": problem.held_out(np.ones(len(by_word)), same),
        "sif": problem.held_out(by_word, same),
        "sif, linear": problem.held_out(by_word, distance.max() + 1.0 - distance),
        "sif, inverse": problem.held_out(by_word, 1 / distance),
    }


class FewShot:
    """The regression behind it: sampled contexts as a sparse matrix, vectors as unit targets, some words held out."""

    def __init__(self, vectors: WordVectors, sample: SampledWindows, space: ComponentRemoval) -> None:
        self.contexts = sample.contexts
        words, contexts, width = sample.windows.shape
        flat = sample.windows.reshape(-1)
        known = np.flatnonzero(flat >= 0)
        self.owner = known // (contexts * width)
        self.place = known % width
        self.used, self.token = np.unique(flat[known], return_inverse=True)  # only words that occur in the sample
        self.matrix_of_used = vectors.matrix[self.used]
        self.target = unit_rows(space(vectors.matrix[sample.rows]))
        self.words = words
        self.held = np.random.default_rng(0).permutation(words) % HELD_OUT == 0

    def grouped(self, group: Longs, groups: int, scale: Doubles) -> npt.NDArray[np.float32]:
        """Σ scale · v over the context words of each word and group: (words, groups, dimensions)."""
        from scipy import sparse

        shape = (self.words * groups, len(self.used))
        counts = sparse.csr_matrix((scale.astype(np.float32), (self.owner * groups + group, self.token)), shape=shape)
        summed = counts @ self.matrix_of_used / np.float32(self.contexts)
        result: npt.NDArray[np.float32] = summed.reshape(self.words, groups, -1)
        return result

    def scale(self, by_word: Doubles, by_place: Doubles) -> Doubles:
        result: Doubles = by_word[self.used][self.token] * by_place[self.place]
        return result

    def matrix(self, by_word: Doubles, by_place: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """(A, u of all words less the mean, the targets less theirs) by least squares on the words not held out."""
        from scipy import linalg

        u = self.grouped(np.zeros(len(self.token), dtype=np.int64), 1, self.scale(by_word, by_place))[:, 0]
        rest = ~self.held
        centred = (u - u[rest].mean(axis=0)).astype(np.float64)
        target = self.target - self.target[rest].mean(axis=0)
        gram = centred[rest].T @ centred[rest]
        gram += RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
        return linalg.solve(gram, centred[rest].T @ target[rest], assume_a="pos").T, centred, target

    def held_out(self, by_word: Doubles, by_place: Doubles) -> float:
        """The mean cosine of A u with the target over the words held out."""
        matrix, u, target = self.matrix(by_word, by_place)
        return float(cosines(u[self.held] @ matrix.T, target[self.held]).mean())

    def equations(self, matrix: Doubles, group: Longs, groups: int, scale: Doubles) -> tuple[Doubles, Doubles]:
        """(G, h) of the normal equations G f = h for a weight f of each group, given A and all other weights."""
        rest = ~self.held
        parts = self.grouped(group, groups, scale)[rest]
        parts -= parts.mean(axis=0)
        target = (self.target[rest] - self.target[rest].mean(axis=0)).astype(np.float32)
        moved = parts.reshape(-1, parts.shape[2]) @ matrix.T.astype(np.float32)
        moved = moved.reshape(parts.shape[0], groups, -1)
        across = np.ascontiguousarray(moved.transpose(1, 0, 2)).reshape(groups, -1).astype(np.float64)
        return across @ across.T, across @ target.reshape(-1)


def _improved(
    problem: FewShot,
    matrix: Doubles,
    functions: list[Doubles],
    bins: tuple[Longs, Longs],
    which: int,
    start: Doubles,
    penalty: float,
) -> Doubles:
    """One function anew, by non-negative least squares with a pull to its start; the largest value is 1."""
    by_word, by_place = _split(functions, bins, without=which)
    group = problem.place if which == 0 else bins[which - 1][problem.used][problem.token]
    gram, right = problem.equations(matrix, group, len(start), problem.scale(by_word, by_place))
    current = functions[which]
    scale = float(current @ start / (start @ start))  # the start, at the scale that A has now
    return solve_step(gram, right, scale * start, penalty * float(np.trace(gram)) / len(gram))


def solve_step(gram: Doubles, right: Doubles, toward: Doubles, penalty: float) -> Doubles:
    """argmin over f ≥ 0 of fᵀ G f − 2 hᵀ f + λ ‖f − f₀‖², scaled so that its largest value is 1.

    >>> solve_step(np.eye(2), np.array([1.0, -1.0]), np.array([1.0, 1.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    from scipy import linalg, optimize

    ridge = penalty + 1e-12 * float(np.trace(gram))
    factor = linalg.cholesky(gram + ridge * np.eye(len(gram)))
    wanted = linalg.solve_triangular(factor, right + ridge * toward, trans="T")
    solution: Doubles = optimize.nnls(factor, wanted)[0]
    best: Doubles = solution if solution.max() > 0 else toward
    return np.asarray(best / best.max())


def _split(functions: list[Doubles], bins: tuple[Longs, Longs], without: int | None = None) -> tuple[Doubles, Doubles]:
    """(weight of each word, weight of each place); `without` leaves one function out."""
    by_place = np.ones_like(functions[0]) if without == 0 else functions[0]
    by_word = np.ones(len(bins[0]))
    for which, group in enumerate(bins, start=1):
        if which != without:
            by_word = by_word * functions[which][group]
    return by_word, by_place


def _bins(values: Doubles) -> Longs:
    """Bins of width 1, numbered from 0.

    >>> _bins(np.array([0.1, 0.2, 1.5, 3.9])).tolist()
    [0, 0, 1, 3]
    """
    whole = np.floor(values).astype(np.int64)
    return np.asarray(whole - whole.min())


def _means(values: npt.NDArray[np.float32], group: Longs) -> Doubles:
    return np.asarray(
        np.bincount(group, weights=values.astype(np.float64)) / np.maximum(np.bincount(group), 1), dtype=np.float64
    ).clip(1e-6)


def _table(values: Doubles, group: Longs, weights: Doubles) -> list[tuple[float, float, int]]:
    """(least value, weight, words) of each bin that holds any."""
    sizes = np.bincount(group, minlength=len(weights))
    least = np.full(len(weights), np.inf)
    np.minimum.at(least, group, values)
    return [(float(least[i]), float(weights[i]), int(sizes[i])) for i in np.flatnonzero(sizes)]
