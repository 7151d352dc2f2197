"""Agreement between contexts: those that differ from the rest (another sense, boilerplate, a slip) count less.

Each context by itself gives a vector. The context counts by a power of the cosine of that vector with the mean of the
*others*, weighted the same way, so the weights are found by repeating this a few times. The power is ½ n / (n + 8): the
square root for many contexts, and less for few, whose mean says little. Fewer than four contexts count alike, since
there is no telling which of them is the exception.

It is played through on known words: what it costs where all contexts are the word's own, and what it gives where a
quarter of them are another word's.
"""

import numpy as np
import numpy.typing as npt

from alacarte import Corpus, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.word_counts import word_counts
from alacarte.errors import AlacarteError
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte_experiments.fewshot.sampled_windows import sample_windows
from alacarte_experiments.fewshot.systems import Workbench
from alacarte_experiments.lab.measures import Doubles
from alacarte_experiments.lab.results import Results, Row, mean_row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

LEAST_CONTEXTS = 4  # contexts
POWER = 0.5  # of the cosine, for many contexts: 1 and more throw away too much where nothing is wrong
HALF_POWER_AT = 8  # contexts at which the power is half of that
AGREEMENT_ROUNDS = 5
COSINE_FLOOR = 1e-3  # cosines below count as this
WORDS = 1500
SHARES = (0.0, 0.25)  # of contexts that are another word's
POWERS = (0.0, 0.5, 1.0, 2.0)


def run(
    settings: Settings, store: Store, *, vectors: WordVectors | None = None, corpus: Corpus | None = None
) -> Results:
    """The mean cosine of a word's vector with the one induced from its contexts, for some powers (0: all alike).

    The powers are those for many contexts, as `agreement_weights` takes them.

    The words take no part in learning the matrix. Each fourth context is one of another word out of the same list.
    """
    vectors, corpus = settings.open(vectors, corpus)
    bench = Workbench(vectors, corpus, store)
    sums = bench.sums(settings, averaging=settings.averaging)
    most = max(settings.sizes)
    counts = word_counts(sums, vectors)
    words = min(WORDS, int((counts >= 2 * most).sum()) // 3)  # the others are there to learn from
    sample = sample_windows(
        vectors,
        bench.text(settings),
        counts,
        Reading(settings.window, settings.window, tokenizer=settings.tokenizer),
        words=words,
        contexts=2 * most,
        least=2 * most,
        seed=settings.seed,
        show_progress=store.show_progress,
    )
    bench.exclude = [vectors.words[row] for row in sample.rows]
    model = bench.alacarte(settings)
    scale = model.transform.weights.values
    weighted = vectors.matrix if scale is None else vectors.matrix * scale[:, None]
    known = (sample.windows >= 0)[..., None]
    single = np.stack(
        [np.where(mask, weighted[ids], 0.0).sum(axis=1) for ids, mask in zip(sample.windows, known, strict=True)]
    )
    mapped = model.transform(single).astype(np.float64)  # (words, contexts, dimensions)
    gold = vectors.matrix[sample.rows]
    rows: list[Row] = []
    for size in settings.sizes:
        for share in SHARES:
            foreign = round(share * size)
            mixed = mapped[:, :size].copy()
            mixed[:, :foreign] = np.roll(mapped[:, most : most + foreign], 1, axis=0)
            for power in POWERS:
                weights = np.stack([agreement_weights(word, power=power)[0] for word in mixed])
                values = cosines(np.einsum("wc,wcj->wj", weights, mixed), gold)
                metric = f"power {power:g}" if power else "all alike"
                rows.append(mean_row(values, size=size, foreign=foreign, metric=metric))
    return Results(settings, tuple(rows), (), bench.protocol(settings))


def agreement_weights(
    rows: npt.ArrayLike, *, power: float = POWER, rounds: int = AGREEMENT_ROUNDS
) -> tuple[Doubles, Doubles]:
    """Return (weight, cosine with the weighted mean of the others) of each row; weights are 1 on average.

    Rows of zeros have weight 0 and no cosine. All others count alike where there are fewer than LEAST_CONTEXTS.

    >>> weights, cosines = agreement_weights([[1.0, 0.1], [0.9, 0.0], [1.0, -0.1], [-0.1, 1.0]])
    >>> weights.round(2).tolist(), cosines.round(2).tolist()
    ([1.21, 1.21, 1.2, 0.38], [1.0, 0.99, 0.95, -0.1])
    >>> agreement_weights([[1.0, 0.0], [0.0, 1.0]])[0].tolist()
    [1.0, 1.0]
    """
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise AlacarteError("agreement is measured between the rows of a matrix")
    if not matrix.any():
        return np.ones(len(matrix)), np.full(len(matrix), np.nan)
    units = unit_rows(matrix)
    not_empty = units.any(axis=1)
    number = int(not_empty.sum())
    weights = np.asarray(not_empty, dtype=np.float64)
    exponent = power * number / (number + HALF_POWER_AT)
    for _ in range(rounds if number >= LEAST_CONTEXTS else 0):
        powers = np.maximum(_cosines_with_others(units, weights), COSINE_FLOOR) ** exponent
        weights = _mean_one(np.where(not_empty, powers, 0.0))
    return _mean_one(weights), np.where(not_empty, _cosines_with_others(units, weights), np.nan)


def _cosines_with_others(units: Doubles, weights: Doubles) -> Doubles:
    """Return the cosine of each row with the weighted sum of all others; 0 where these cancel."""
    others = weights @ units - weights[:, None] * units
    cancel = np.linalg.norm(others, axis=1) <= 1e-12
    return np.where(cancel, 0.0, cosines(units, others))


def _mean_one(weights: Doubles) -> Doubles:
    return np.asarray(weights / weights.mean())
