"""Choices among candidates: in one array, candidates `bounds[i]:bounds[i + 1]` belong to choice i."""

import numpy as np

from alacarte._io.arrays import Doubles, Longs


def owners(bounds: Longs) -> Longs:
    """Return the number of the choice that each candidate belongs to.

    Examples
    --------
    >>> owners(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def best(scores: Doubles, bounds: Longs) -> Longs:
    """Return the candidate with the largest score, the first of equals; -1 for a choice without candidates.

    Examples
    --------
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
    """Return the softmax of the scores within each choice; a score of -inf has share 0, even if all are -inf.

    Examples
    --------
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
    """Return 0 for the candidate with the largest count of its choice, 1 for the next, …; equals in their order.

    Examples
    --------
    >>> ranks(np.array([1.0, 5.0, 1.0]), np.array([0, 3])).tolist()
    [1, 0, 2]
    """
    owner = owners(bounds)
    order = np.lexsort((np.arange(len(counts)), -counts, owner))
    result = np.empty(len(counts), dtype=np.int64)
    result[order] = np.arange(len(counts)) - bounds[owner[order]]
    return result


def log_prior(counts: Doubles, bounds: Longs, smoothing: float) -> Doubles:
    """Return log p of each candidate, where p is proportional to count + smoothing / (1 + rank).

    A sense that was never counted keeps a chance that falls with its place in the order of senses.

    Examples
    --------
    >>> np.exp(log_prior(np.array([3.0, 0.0]), np.array([0, 2]), 1.0)).round(3).tolist()
    [0.889, 0.111]
    """
    owner = owners(bounds)
    amounts = counts + smoothing / (1 + ranks(counts, bounds))
    totals = np.bincount(owner, amounts, len(bounds) - 1)[owner]
    result: Doubles = np.log(amounts / totals)
    return result
