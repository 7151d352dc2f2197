"""Choices among candidates: flat arrays in which candidates `bounds[i]:bounds[i + 1]` belong to choice i."""

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


def owners(bounds: Longs) -> Longs:
    """Which choice each candidate belongs to.

    >>> owners(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def best(scores: Doubles, bounds: Longs) -> Longs:
    """The candidate with the largest score, the first of equals; -1 for a choice that has none.

    >>> best(np.array([1.0, 1.0, 0.0, 5.0]), np.array([0, 3, 3, 4])).tolist()
    [0, -1, 3]
    """
    result = np.full(len(bounds) - 1, -1, dtype=np.int64)
    owner = owners(bounds)
    order = np.lexsort((np.arange(len(scores)), -scores, owner))
    firsts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    result[owner[order[firsts]]] = order[firsts]
    return result


def shares(scores: Doubles, bounds: Longs) -> Doubles:
    """Softmax within each choice; a score of -inf has share 0, and where all are -inf so are all shares.

    >>> shares(np.log([1.0, 3.0, 7.0]), np.array([0, 2, 3])).round(2).tolist()
    [0.25, 0.75, 1.0]
    """
    owner = owners(bounds)
    highest = np.full(len(bounds) - 1, -np.inf)
    np.maximum.at(highest, owner, scores)
    exponents = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0)[owner])
    totals = np.bincount(owner, exponents, len(bounds) - 1)[owner]
    return np.divide(exponents, totals, out=np.zeros_like(exponents), where=totals > 0)


def ranks(counts: Doubles, bounds: Longs) -> Longs:
    """0 for the candidate with the largest count of its choice, 1 for the next, …; equals in their order.

    >>> ranks(np.array([1.0, 5.0, 1.0]), np.array([0, 3])).tolist()
    [1, 0, 2]
    """
    owner = owners(bounds)
    order = np.lexsort((np.arange(len(counts)), -counts, owner))
    result = np.empty(len(counts), dtype=np.int64)
    result[order] = np.arange(len(counts)) - bounds[owner[order]]
    return result


def log_prior(counts: Doubles, bounds: Longs, smoothing: float) -> Doubles:
    """log p of each candidate from counts: p ∝ count + smoothing / (1 + rank).

    What was never met keeps a chance that falls with its place in the order of senses.

    >>> np.exp(log_prior(np.array([3.0, 0.0]), np.array([0, 2]), 1.0)).round(3).tolist()
    [0.889, 0.111]
    """
    owner = owners(bounds)
    amounts = counts + smoothing / (1 + ranks(counts, bounds))
    totals = np.bincount(owner, amounts, len(bounds) - 1)[owner]
    result: Doubles = np.log(amounts / totals)
    return result
