"""The exact search for nearest rows: rough cosines in float32 leave few candidates, exact ones in float64 decide.

Products in single precision are quick, and wrong in the last digits. So all rows that may still be among the best are
kept, and their cosines are worked out again, each row by itself: equal rows have equal cosines, and ties go to the row
that comes first.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from alacarte.vectors.geometry import cosines

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
Singles = NDArray[np.float32]

FIRST = 1 << 11  # rows that are searched first
BLOCK_VALUES = 1 << 22  # of the matrix in one step: 16 MiB
BLOCK_QUERIES = 64
SHORTEST, LONGEST = 1e-30, 1e30  # rows whose length is beyond these are too short or long for products in float32


def nearest_rows(
    matrix: Singles, lengths: Doubles, units: Doubles, k: int, rows: Longs | range
) -> list[tuple[Longs, Doubles]]:
    """For each of some unit vectors, the k rows with the largest cosines, and these; zeros have the cosine 0 with all.

    `rows` says which rows to search, in ascending order; `lengths` are those of all rows (`row_lengths`).

    >>> matrix = np.array([[1, 0], [3, 4], [0, 1]], np.float32)
    >>> ((rows, found),) = nearest_rows(matrix, row_lengths(matrix), np.array([[0.0, 1.0]]), 2, range(3))
    >>> rows.tolist(), found.tolist()
    ([2, 1], [1.0, 0.8])
    """
    results: list[tuple[Longs, Doubles]] = []
    for low in range(0, len(units), BLOCK_QUERIES):
        block = units[low : low + BLOCK_QUERIES]
        candidates = _candidates(matrix, lengths, block, k, rows)
        for unit, chosen in zip(block, candidates, strict=True):
            if unit.any():
                results.append(_best(matrix, unit, chosen, k))
            else:
                first = np.array(rows[:k], np.int64)
                results.append((first, np.zeros(len(first))))
    return results


def row_lengths(matrix: Singles) -> Doubles:
    """The length of each row, 1 for rows of zeros."""
    lengths = np.empty(len(matrix))
    for low in range(0, len(matrix), step := rows_at_once(matrix)):
        block = matrix[low : low + step].astype(np.float64)
        lengths[low : low + step] = np.sqrt((block * block).sum(axis=1))
    lengths[lengths == 0] = 1.0
    return lengths


def rows_at_once(matrix: Singles) -> int:
    """How many rows are worked on together."""
    return max(1, BLOCK_VALUES // int(matrix.shape[1]))


def _candidates(matrix: Singles, lengths: Doubles, units: Doubles, k: int, rows: Longs | range) -> list[Longs]:
    """For each unit vector, all rows that may be among the best k, in ascending order."""
    queries = units.astype(np.float32)
    margin = np.float32((matrix.shape[1] + 8) * 2.0**-22)  # more than rounding can make of a product
    scores = [np.empty(0, np.float32)] * len(queries)
    candidates = [np.empty(0, np.int64)] * len(queries)
    floors = np.full(len(queries), -2, np.float32)
    extreme: list[Longs] = []
    active = np.flatnonzero(units.any(axis=1)).tolist() if k else []
    step = rows_at_once(matrix)
    # A few rows first: what is as good as the best of these is then a small part of all others.
    bounds = [0, *range(min(FIRST, step), len(rows), step), len(rows)] if active else []
    for low, high in pairwise(bounds):
        part = rows[low:high]
        block = slice(part.start, part.stop) if isinstance(part, range) else part
        numbers = np.arange(part.start, part.stop) if isinstance(part, range) else part
        beyond = (lengths[block] < SHORTEST) | (lengths[block] > LONGEST)
        extreme.append(numbers[beyond])
        with np.errstate(all="ignore"):
            products = queries @ matrix[block].T
            products /= lengths[block].astype(np.float32)
        products[:, beyond] = -3
        for query in active:
            hits = np.flatnonzero(products[query] >= floors[query])
            scores[query] = np.concatenate([scores[query], products[query, hits]])
            candidates[query] = np.concatenate([candidates[query], numbers[hits]])
            if len(scores[query]) > k:
                floors[query] = np.partition(scores[query], -k)[-k] - 2 * margin
                kept = scores[query] >= floors[query]
                scores[query], candidates[query] = scores[query][kept], candidates[query][kept]
    return [np.unique(np.concatenate([chosen, *extreme])) for chosen in candidates]


def _best(matrix: Singles, unit: Doubles, rows: Longs, k: int) -> tuple[Longs, Doubles]:
    """The k of some rows that have the largest cosines with a unit vector, and these."""
    exact = np.empty(len(rows))
    for low in range(0, len(rows), step := rows_at_once(matrix)):
        exact[low : low + step] = cosines(matrix[rows[low : low + step]], unit)
    best = np.argsort(-exact, kind="stable")[:k]
    return rows[best], exact[best]
