"""The exact search for nearest rows: rough cosines in float32 leave few candidates, exact ones in float64 decide.

Products in single precision are quick, and wrong in the last digits. So all rows that may still be among the best are
kept, and their cosines are computed again, each row by itself: equal rows have equal cosines, and ties go to the row
that comes first.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte.vectors.geometry import cosines

FIRST = 1 << 11  # rows that are searched first
BLOCK_VALUES = 1 << 22  # of the matrix in one step: 16 MiB
BLOCK_PRODUCTS = 1 << 20  # of queries and rows in one step
BLOCK_QUERIES = 256
FEW_QUERIES = 8  # up to which products are computed in small pieces
PIECE_VALUES = 9216  # of the matrix in such a piece: BLAS does not share so little among its threads
SHORTEST, LONGEST = 1e-30, 1e30  # rows whose length is beyond these are too short or long for products in float32


def nearest_rows(
    matrix: Singles, lengths: Doubles, units: Doubles, k: int, rows: Longs | range
) -> list[tuple[Longs, Doubles]]:
    """For each of some unit vectors, the k rows with the largest cosines, and these; rows of zeros are left out.

    `rows` says which rows to search, in ascending order; `lengths` are those of all rows (`row_lengths`).

    >>> matrix = np.array([[1, 0], [3, 4], [0, 1]], np.float32)
    >>> ((rows, found),) = nearest_rows(matrix, row_lengths(matrix), np.array([[0.0, 1.0]]), 2, range(3))
    >>> rows.tolist(), found.tolist()
    ([2, 1], [1.0, 0.8])
    """
    results: list[tuple[Longs, Doubles]] = []
    for low in range(0, len(units), BLOCK_QUERIES):
        block = units[low : low + BLOCK_QUERIES]
        results += _best(matrix, block, *_candidates(matrix, lengths, block, k, rows), k)
    return results


def row_lengths(matrix: Singles) -> Doubles:
    """The length of each row; infinite for rows of zeros, so that dividing by it leaves zeros."""
    lengths = np.empty(len(matrix))
    for low in range(0, len(matrix), step := rows_at_once(matrix)):
        block = matrix[low : low + step].astype(np.float64)
        lengths[low : low + step] = np.sqrt((block * block).sum(axis=1))
    lengths[lengths == 0] = np.inf
    return lengths


def rows_at_once(matrix: Singles) -> int:
    """How many rows are worked on together."""
    return max(1, BLOCK_VALUES // int(matrix.shape[1]))


def _candidates(matrix: Singles, lengths: Doubles, units: Doubles, k: int, rows: Longs | range) -> tuple[Longs, Longs]:
    """(the number of a unit vector, a row that may be among its best k), for all such pairs, in ascending order."""
    queries = units.astype(np.float32)
    margin = np.float32((matrix.shape[1] + 8) * 2.0**-22)  # more than rounding can make of a product
    floors = np.full(len(queries), -2, np.float32)  # what a score must reach
    kept = _Scores(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    wanted = k
    step = min(rows_at_once(matrix), max(FIRST, BLOCK_PRODUCTS // len(queries)))
    room = np.empty(len(queries) * step, np.float32)
    # A few rows first: what is as good as the best of these is then a small part of all others.
    bounds = [0, *range(min(FIRST, step), len(rows), step), len(rows)]
    for low, high in pairwise(bounds):
        part = rows[low:high]
        block = slice(part.start, part.stop) if isinstance(part, range) else part
        numbers = np.arange(part.start, part.stop) if isinstance(part, range) else part
        zeros = np.isinf(lengths[block])
        beyond = ((lengths[block] < SHORTEST) | (lengths[block] > LONGEST)) & ~zeros
        products = room[: len(queries) * len(numbers)].reshape(len(queries), len(numbers))
        with np.errstate(all="ignore"):
            _multiply(queries, matrix[block], products)
            products /= lengths[block].astype(np.float32)
        products[:, beyond] = 3  # looked at in any case, beside the best k
        products[:, zeros] = -4  # never
        wanted += int(beyond.sum())
        if low == 0 and len(numbers) >= wanted:
            floors = np.maximum(floors, np.partition(products, -wanted, axis=1)[:, -wanted] - 2 * margin)
        hits = np.flatnonzero(products >= floors[:, None])
        query, column = np.divmod(hits, len(numbers))
        kept = kept.joined(_Scores(query, numbers[column], products.reshape(-1)[hits]))
        floors = np.maximum(floors, kept.best(wanted, len(queries)) - 2 * margin)
        kept = kept.above(floors)
    order = np.lexsort((kept.row, kept.query))
    return kept.query[order], kept.row[order]


def _multiply(queries: Singles, rows: Singles, out: Singles) -> None:
    """Fill `out` with the product of each query and each row.

    For few queries it goes through memory as fast as one thread can, in pieces that BLAS leaves to the calling thread:
    its own threads would get into each other's way where several threads search at once, as in a web service.
    """
    size = max(1, PIECE_VALUES // rows.shape[1])
    even = len(rows) // size * size if len(queries) <= FEW_QUERIES else 0
    if even:
        pieces = rows[:even].reshape(-1, size, rows.shape[1]).transpose(0, 2, 1)
        np.matmul(queries, pieces, out=out[:, :even].reshape(len(queries), -1, size).transpose(1, 0, 2))
    if even < len(rows):
        np.matmul(queries, rows[even:].T, out=out[:, even:])


class _Scores(NamedTuple):
    """The rough cosine of a query with a row."""

    query: Longs
    row: Longs
    score: Singles

    def joined(self, others: "_Scores") -> "_Scores":
        return _Scores(
            np.concatenate([self.query, others.query]),
            np.concatenate([self.row, others.row]),
            np.concatenate([self.score, others.score]),
        )

    def above(self, floors: Singles) -> "_Scores":
        chosen = self.score >= floors[self.query]
        return _Scores(self.query[chosen], self.row[chosen], self.score[chosen])

    def best(self, k: int, queries: int) -> Singles:
        """The k-th largest score of each query, -2 where there are fewer."""
        order = np.lexsort((-self.score, self.query))
        ends = np.searchsorted(self.query[order], np.arange(queries), side="right")
        places = np.searchsorted(self.query[order], np.arange(queries)) + k - 1
        largest = np.full(queries, -2, np.float32)
        enough = places < ends
        largest[enough] = self.score[order][places[enough]]
        return largest


def _best(matrix: Singles, units: Doubles, query: Longs, rows: Longs, k: int) -> list[tuple[Longs, Doubles]]:
    """For each unit vector, the k of its rows that have the largest cosines with it, and these."""
    exact = np.empty(len(rows))
    for low in range(0, len(rows), step := rows_at_once(matrix)):
        chosen = slice(low, low + step)
        exact[chosen] = cosines(matrix[rows[chosen]], units[query[chosen]])
    order = np.lexsort((-exact, query))
    begins = np.searchsorted(query, np.arange(len(units) + 1)).tolist()
    best = [order[low : min(low + k, high)] for low, high in pairwise(begins)]
    return [(rows[chosen], exact[chosen]) for chosen in best]
