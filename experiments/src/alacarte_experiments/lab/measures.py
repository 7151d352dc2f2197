"""Ranks and rank correlations, many at a time."""

import numpy as np
import numpy.typing as npt
from scipy import stats

from alacarte import WordVectors
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
BLOCK = 1 << 15  # words of the vocabulary in one product


def mean_and_error(values: npt.ArrayLike) -> tuple[float, float | None]:
    """(mean, its standard error); of a single value there is no error.

    >>> mean_and_error([1.0, 2.0, 3.0]), mean_and_error([1.0])
    ((2.0, 0.5773502691896258), (1.0, None))
    """
    wide = np.asarray(values, dtype=np.float64)
    error = float(wide.std(ddof=1) / np.sqrt(wide.size)) if wide.size > 1 else None
    return float(wide.mean()), error


def gold_ranks(vectors: WordVectors, queries: npt.ArrayLike, gold: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """For each query, 1 + the number of words of the whole vocabulary with a strictly larger cosine than its gold.

    Exact: products in float32 decide where the difference is clear, products in float64 where it is not.

    >>> vectors = WordVectors(["a", "b", "c"], [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> gold_ranks(vectors, [[1.0, 0.1], [1.0, 0.1]], [0, 2]).tolist()
    [1, 3]
    """
    units = unit_rows(queries)
    rough = units.astype(np.float32)
    own = np.einsum("qj,qj->q", units, unit_rows(vectors.matrix[np.asarray(gold, dtype=np.int64)]))
    margin = (vectors.dimension + 8) * 2.0**-22  # more than rounding to float32 can make of a cosine
    low, high = ((own + sign * margin).astype(np.float32)[:, None] for sign in (-1, 1))
    larger = np.zeros(len(units), dtype=np.int64)
    for start in range(0, len(vectors), BLOCK):
        block = unit_rows(vectors.matrix[start : start + BLOCK])
        products = rough @ block.astype(np.float32).T
        above = products > high
        larger += above.sum(axis=1)
        q, row = np.nonzero((products >= low) & ~above)  # too close to call
        exact = np.einsum("ij,ij->i", units[q], block[row])
        larger += np.bincount(q[exact > own[q] + 1e-12], minlength=len(units))  # ties are no larger, rounded or not
    return larger + 1


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> Doubles:
    """Spearman's ρ along the last axis, ties at their mean rank; NaN where one side is constant.

    >>> spearman([[1, 2, 3], [3, 2, 1]], [1.0, 5.0, 9.0]).tolist()
    [1.0, -1.0]
    """
    a = _centred_ranks(first)
    b = _centred_ranks(second)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = (a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    return np.asarray(np.clip(rho, -1.0, 1.0))


def spearman_p(rho: npt.ArrayLike, n: int) -> Doubles:
    """The two-sided p-value of ρ over n pairs by Student's t with n − 2 degrees of freedom.

    >>> float(spearman_p(0.5, 6).round(4))
    0.3125
    """
    r = np.asarray(rho, dtype=np.float64)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt((n - 2) / ((1.0 + r) * (1.0 - r)))
    return np.asarray(2 * stats.t.sf(np.abs(t), n - 2))


def _centred_ranks(values: npt.ArrayLike) -> Doubles:
    ranks = stats.rankdata(values, axis=-1)
    return np.asarray(ranks - ranks.mean(axis=-1, keepdims=True))
