"""Feature co-occurrence, feature embeddings (`fem`) and the transform learned from them.

For corpora of any size use `ALaCarte.fit`; this is for what fits in memory as a matrix of counts, with the exact
semantics of conText's `fem` and `compute_transform`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from alacarte.errors import AlacarteError, BadTransform, NotEnoughData
from alacarte.regression._frames import Table, Variables, column_of
from alacarte.regression._space import EmbeddingSpace
from alacarte.regression.compat import DEPENDENT, Compat, independent_columns
from alacarte.regression.context_table import ReadingDocuments, Source, read_documents
from alacarte.regression.embed import Embeddings
from alacarte.vectors.geometry import cosines

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """How often features stand near each other (symmetric, sparse) and how often each occurs."""

    features: list[str]
    counts: Any  # scipy.sparse.csr_matrix, features × features
    frequencies: Longs
    window: int

    def __repr__(self) -> str:
        return f"Cooccurrence({len(self.features):,} features, {self.counts.nnz:,} pairs)"


def cooccurrences(
    data: Any,
    *,
    window: int = 6,
    weights: Literal["uniform", "inverse"] | Sequence[float] = "uniform",
    **source: Unpack[ReadingDocuments],
) -> Cooccurrence:
    """Count pairs of features up to `window` positions apart, on both sides, within documents.

    `weights` is what a pair at distance 1, 2, … counts: 1 ("uniform"), 1/distance ("inverse"), or as given. Empty
    tokens take up positions and are not counted. Data and the other keywords as in `documents`.

    >>> pairs = cooccurrences(["a b a"], window=1)
    >>> pairs.features, pairs.counts.toarray().tolist(), pairs.frequencies.tolist()
    (['a', 'b'], [[0.0, 2.0], [2.0, 0.0]], [2, 1])
    """
    if isinstance(weights, str):
        if weights not in ("uniform", "inverse"):
            raise AlacarteError(f"weights are 'uniform', 'inverse' or a number for each distance, not {weights!r}")
        scale = np.ones(window) if weights == "uniform" else 1 / np.arange(1, window + 1)
    else:
        scale = np.asarray(weights, dtype=np.float64)
        if len(scale) != window:
            raise AlacarteError(f"{len(scale)} weights for a window of {window}; give one for each distance")
    encoded = read_documents(data, Source(**source))
    used, first = np.unique(encoded.ids, return_index=True)
    order = [token for token in used[np.argsort(first)].tolist() if encoded.vocabulary[token]]
    place = np.full(len(encoded.vocabulary), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    ids = place[encoded.ids]
    document = np.repeat(np.arange(len(encoded.offsets) - 1), np.diff(encoded.offsets))
    size = len(order)
    half = sparse.csr_matrix((size, size))
    for distance in range(1, min(window, len(ids) - 1) + 1):
        a, b = ids[:-distance], ids[distance:]
        pair = (a >= 0) & (b >= 0) & (document[:-distance] == document[distance:])
        a, b = a[pair], b[pair]
        half = half + sparse.csr_matrix((np.full(len(a), scale[distance - 1]), (a, b)), shape=(size, size))
    frequencies = np.bincount(ids[ids >= 0], minlength=size)
    features = [encoded.vocabulary[token] for token in order]
    return Cooccurrence(features, (half + half.T).tocsr(), frequencies, window)


def fem(pairs: Cooccurrence, vectors: Any, transform: Any = None) -> Embeddings:
    """One embedding for each feature: A times the mean of the vectors of all words near it, pooled over the corpus.

    Features beside no known word are left out and counted.

    >>> pairs = cooccurrences(["x a b", "x b"], window=2)
    >>> found = fem(pairs, (["a", "b"], np.eye(2)))
    >>> found["x"].round(3).tolist()
    [0.333, 0.667]
    """
    space = EmbeddingSpace.of(vectors, transform)
    rows = space.rows_of(pairs.features, "exact")
    known = np.flatnonzero(rows >= 0)
    if not len(known):
        raise NotEnoughData("none of the features has a vector; check that text and vectors share language and case")
    counts = pairs.counts[:, known]
    totals = np.asarray(counts.sum(axis=1)).ravel()
    kept = np.flatnonzero(totals > 0)
    if not len(kept):
        raise NotEnoughData("no feature stands beside a word that has a vector; give more text or a larger window")
    means = counts[kept] @ space.matrix[rows[known]].astype(np.float64) / totals[kept, None]
    return Embeddings(
        space.apply(np.asarray(means)),
        [pairs.features[row] for row in kept.tolist()],
        space,
        Variables(),
        [pairs.features[row] for row in known.tolist()],
        kept,
        dropped=len(totals) - len(kept),
        counts=pairs.frequencies[kept],
    )


@dataclass(frozen=True, eq=False)
class LearnedTransform:
    """A in float64 (applied as A u), and how well it is determined.

    `cosine` is the mean cosine of A u_w with v_w, `held_out` the same over words that took no part; a wide gap
    between the two says that the text is too small for the dimension.
    """

    matrix: Doubles
    words: list[str]
    weighting: str
    condition: float
    cosine: float
    held_out: float | None
    window: int

    def __repr__(self) -> str:
        d = len(self.matrix)
        held = "" if self.held_out is None else f", held out {self.held_out:.3f}"
        return f"LearnedTransform({d} × {d} from {len(self.words):,} words, cosine {self.cosine:.3f}{held})"


def compute_transform(
    pairs: Cooccurrence,
    vectors: Any,
    *,
    weighting: float | Literal["log"] | None = None,
    ridge: float = 0.0,
    compat: Compat = None,
) -> LearnedTransform:
    """Learn A by weighted least squares from the features that have a vector: Σ α ‖v − A u‖² + ridge ‖A‖².

    `weighting` is "log" (α = log frequency, the default), or a number (α = 1 from so many occurrences on). Too few
    words for the dimension, or contexts that do not span it, are an error; with `compat="conText"` (whose default
    weighting is 500) they give, as there, a matrix with columns of zeros.

    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(30)]
    >>> text = [" ".join(rng.choice(words, 40)) for _ in range(50)]
    >>> compute_transform(cooccurrences(text), (words, rng.normal(size=(30, 3)))).matrix.shape
    (3, 3)
    """
    weighting = weighting if weighting is not None else (500 if compat else "log")
    space = EmbeddingSpace.of(vectors)
    means = fem(pairs, space)
    rows = space.rows_of([str(name) for name in means.names], "exact")
    counts = means.counts if means.counts is not None else np.ones(len(means), dtype=np.int64)
    if weighting == "log":
        alpha, shown = np.log(np.maximum(counts, 1).astype(np.float64)), "log(count)"
    elif isinstance(weighting, (int, float, np.number)):
        alpha, shown = (counts >= weighting).astype(np.float64), f"count ≥ {weighting:g}"
    else:
        raise BadTransform(f"weighting is 'log' or the least number of occurrences, not {weighting!r}")
    chosen = np.flatnonzero((rows >= 0) & (alpha > 0))
    d = space.dimension
    if len(chosen) < d and not ridge and compat is None:
        raise NotEnoughData(
            f"{len(chosen)} words are too few to learn {d} dimensions from (weighting: {shown}). Give more text, a "
            "lower threshold or weighting='log', a ridge penalty, or use a transform learned on a larger corpus"
        )
    u, v = means.matrix[chosen], space.matrix[rows[chosen]].astype(np.float64)
    root = np.sqrt(alpha[chosen])[:, None]
    matrix, condition = _solve(root * u, root * v, ridge, pivot=compat is not None)
    held_out = None
    if len(chosen) >= 2 * FOLDS and len(chosen) * (FOLDS - 1) // FOLDS >= d:
        fold = np.random.default_rng(0).permutation(len(chosen)) % FOLDS
        guesses = np.empty_like(v)
        for number in range(FOLDS):
            part = fold != number
            guesses[~part] = u[~part] @ _solve((root * u)[part], (root * v)[part], ridge, pivot=True)[0].T
        held_out = _mean_cosine(guesses, v)
    words = [str(means.names[row]) for row in chosen.tolist()]
    cosine = _mean_cosine(u @ matrix.T, v)
    return LearnedTransform(matrix, words, shown, condition, cosine, held_out, pairs.window)


def _mean_cosine(a: Doubles, b: Doubles) -> float:
    return float(cosines(a, b).mean()) if len(a) else 0.0


def _solve(u: Doubles, v: Doubles, ridge: float, pivot: bool) -> tuple[Doubles, float]:
    """(A, condition number) of min ‖v − u Aᵀ‖² + ridge ‖A‖²; `pivot` gives dependent columns a weight of 0."""
    d = u.shape[1]
    if ridge:
        u = np.vstack([u, np.sqrt(ridge) * np.eye(d)])
        v = np.vstack([v, np.zeros((d, v.shape[1]))])
    singular = linalg.svdvals(u) if u.size else np.zeros(1)
    condition = float(singular[0] / singular[-1]) if len(u) >= d and singular[-1] > 0 else np.inf
    if condition > 1e14 and not pivot:
        raise NotEnoughData(
            f"the words' contexts do not span all {d} dimensions (condition number {condition:.1g}): no matrix is "
            "determined. Add a ridge penalty, or give more text"
        )
    columns = np.arange(d) if condition <= 1 / DEPENDENT else independent_columns(u)
    q, r = linalg.qr(u[:, columns], mode="economic")
    solution = np.zeros((d, v.shape[1]))
    solution[columns] = linalg.solve_triangular(r, q.T @ v)
    return np.ascontiguousarray(solution.T), condition


def feature_similarity(a: Embeddings, b: Embeddings, features: Iterable[str] | None = None) -> Table:
    """The cosine between the embeddings that two corpora give each feature they share, the least alike first.

    >>> a, b = (fem(cooccurrences([text]), (["x", "y"], np.eye(2))) for text in ("x w", "y w"))
    >>> feature_similarity(a, b).rows()
    [('w', 0.0)]
    """
    place_a = {name: row for row, name in enumerate(a.names)}
    place_b = {name: row for row, name in enumerate(b.names)}
    shared = [name for name in (place_a if features is None else features) if name in place_a and name in place_b]
    if not shared:
        raise NotEnoughData("no feature has an embedding on both sides; check the names, or leave `features` out")
    left, right = a.matrix[[place_a[name] for name in shared]], b.matrix[[place_b[name] for name in shared]]
    values = cosines(left, right)
    order = np.argsort(values, kind="stable")
    return Table({"feature": column_of(shared)[order], "value": values[order]}, a.variables.backend)
