"""The exact search for nearest rows: rough cosines in float32 leave few candidates, exact ones in float64 decide.

Products in single precision are quick, and wrong in the last digits. So all rows that may still be among the best are
kept, and their cosines are computed again, each row by itself: equal rows have equal cosines, and ties go to the row
that comes first.
"""

from itertools import pairwise

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte.vectors.geometry import cosines

BLOCK_VALUES = 1 << 22  # of the matrix in one step: 16 MiB
BLOCK_SCORES = 1 << 25  # of queries and rows that are in memory together: 128 MiB
BLOCK_QUERIES = 256
ROWS_OF_PART = 64  # rows
FEW_QUERIES = 8  # up to which products are computed in small pieces
PIECE_VALUES = 9216  # of the matrix in such a piece: BLAS does not share so little among its threads
SHORTEST_ROW, LONGEST_ROW = (
    1e-30,
    1e30,
)  # rows whose length is beyond these are too short or long for products in float32


def nearest_rows(
    matrix: Singles, lengths: Doubles, units: Doubles, k: int, rows: Longs | range
) -> list[tuple[Longs, Doubles]]:
    """Return for each unit vector the k rows with the largest cosines, and these; rows of zeros are left out.

    `rows` says which rows to search, in ascending order; `lengths` are those of all rows (`row_lengths`).

    >>> matrix = np.array([[1, 0], [3, 4], [0, 1]], np.float32)
    >>> ((rows, found),) = nearest_rows(matrix, row_lengths(matrix), np.array([[0.0, 1.0]]), 2, range(3))
    >>> rows.tolist(), found.tolist()
    ([2, 1], [1.0, 0.8])
    """
    results: list[tuple[Longs, Doubles]] = []
    for low in range(0, len(units), step := max(1, min(BLOCK_QUERIES, BLOCK_SCORES // max(1, len(rows))))):
        block = units[low : low + step]
        results += _best(matrix, block, *_candidates(matrix, lengths, block, k, rows), k)
    return results


def row_lengths(matrix: Singles) -> Doubles:
    """Return the length of each row; infinite for rows of zeros, so that dividing by it leaves zeros."""
    lengths = np.empty(len(matrix))
    for low in range(0, len(matrix), step := rows_per_block(matrix)):
        block = matrix[low : low + step].astype(np.float64)
        lengths[low : low + step] = np.sqrt((block * block).sum(axis=1))
    lengths[lengths == 0] = np.inf
    return lengths


def rows_per_block(matrix: Singles) -> int:
    """How many rows are worked on together."""
    return max(1, BLOCK_VALUES // int(matrix.shape[1]))


def _candidates(matrix: Singles, lengths: Doubles, units: Doubles, k: int, rows: Longs | range) -> tuple[Longs, Longs]:
    """Return all pairs (number of a unit vector, a row that may be among its best k), in ascending order."""
    if not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    queries = units.astype(np.float32)
    margin = np.float32((matrix.shape[1] + 8) * 2.0**-22)  # more than rounding can make of a product
    scores = np.empty((len(queries), len(rows)), np.float32)
    for low in range(0, len(rows), step := rows_per_block(matrix)):
        part = rows[low : low + step]
        block = slice(part.start, part.stop) if isinstance(part, range) else part
        with np.errstate(all="ignore"):
            products = _products(queries, matrix[block])
            np.divide(products, lengths[block].astype(np.float32), out=scores[:, low : low + step])
    numbers = np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows
    sizes = lengths[numbers]
    beyond = np.flatnonzero((sizes < SHORTEST_ROW) | ((sizes > LONGEST_ROW) & (sizes < np.inf)))
    scores[:, beyond] = 3  # looked at in any case, beside the best k
    scores[:, np.flatnonzero(np.isinf(sizes))] = -4  # rows of zeros: never
    # The k-th best of the best of some parts: the k-th best of all is no worse, and this is quicker to find.
    wanted = min(k + len(beyond), len(numbers))
    parts = np.arange(0, len(numbers), min(ROWS_OF_PART, len(numbers) // wanted))
    best = np.maximum.reduceat(scores, parts, axis=1)
    floors = np.partition(best, -wanted, axis=1)[:, -wanted] - 2 * margin
    query, column = np.divmod(np.flatnonzero(scores >= np.maximum(floors, -2)[:, None]), len(numbers))
    return query, numbers[column]


def _products(queries: Singles, rows: Singles) -> Singles:
    """Return the product of each query with each row.

    For few queries it goes through memory as fast as one thread can, in pieces that BLAS leaves to the calling thread:
    its own threads would get into each other's way where several threads search at once, as in a web service.
    """
    if len(queries) > FEW_QUERIES:
        return queries @ rows.T
    size = max(1, PIECE_VALUES // rows.shape[1])
    even = len(rows) // size * size
    pieces = rows[:even].reshape(-1, size, rows.shape[1])
    products = np.matmul(queries, pieces.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(len(queries), even)
    return np.concatenate([products, queries @ rows[even:].T], axis=1)


def _best(matrix: Singles, units: Doubles, query: Longs, rows: Longs, k: int) -> list[tuple[Longs, Doubles]]:
    """Return for each unit vector the k of its rows that have the largest cosines with it, and these."""
    exact = np.empty(len(rows))
    for low in range(0, len(rows), step := rows_per_block(matrix)):
        chosen = slice(low, low + step)
        exact[chosen] = cosines(matrix[rows[chosen]], units[query[chosen]])
    order = np.lexsort((-exact, query))
    begins = np.searchsorted(query, np.arange(len(units) + 1)).tolist()
    best = [order[low : min(low + k, high)] for low, high in pairwise(begins)]
    return [(rows[chosen], exact[chosen]) for chosen in best]
