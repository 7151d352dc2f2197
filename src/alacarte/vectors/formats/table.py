"""What every reader returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from alacarte.vectors.formats.problems import Problems, Skipped, usable_rows


class SubwordSource(Protocol):
    """What makes a vector of any word, out of its parts."""

    def vector(self, word: str) -> NDArray[np.float32] | None:
        """The vector of a word, or None if there is nothing to make it of."""


@dataclass(frozen=True)
class Table:
    """Words and their vectors, checked: unique words, finite float32 rows."""

    words: Sequence[str]
    matrix: NDArray[np.float32]
    skipped: Skipped = field(default_factory=Skipped)
    total: int | None = None  # how many words the file says it has, whatever the limit
    subwords: SubwordSource | None = None  # for words that are not in the table
    counts: NDArray[np.int64] | None = None  # how many occurrences each vector comes from
    origin: tuple[str, ...] | None = None  # what each vector comes from, such as "contexts" or "spelling"
    verify: Callable[[NDArray[np.integer]], bool] | None = None  # compares rows with digests; True: all are compared
    files: tuple[Path, ...] | None = ()  # that were read beside the one that was asked for; None: not known


def rows_at_once(dimension: int) -> int:
    """How many rows are read in one go: at most 32,768, and no more than 64 MiB, whatever a header promises.

    >>> rows_at_once(300), rows_at_once(1 << 20)
    (32768, 16)
    """
    return min(1 << 15, max(1, (1 << 24) // dimension))


class Growing:
    """Rows that arrive block by block: a matrix that grows in place, and its words.

    >>> rows = Growing(2, 1)
    >>> rows.room(3)[:] = 1
    >>> rows.take(["a", "b", "c"])
    >>> rows.finish().tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, dimension: int, expected: int) -> None:
        self.words: list[str] = []
        self.seen: set[str] = set()
        self._counts: list[NDArray[Any]] = []
        self._origin: list[str] = []
        self._matrix = np.empty((max(1, expected), dimension), np.float32)

    def __len__(self) -> int:
        return len(self.words)

    def room(self, rows: int) -> NDArray[np.float32]:
        """The next `rows` rows, to be filled."""
        needed = len(self.words) + rows
        if needed > len(self._matrix):
            # Nothing else holds the array, and realloc moves large ones without copying.
            grown = (max(needed, len(self._matrix) * 3 // 2), self._matrix.shape[1])
            self._matrix.resize(grown, refcheck=False)
        return self._matrix[len(self.words) : needed]

    def take(
        self,
        words: list[str],
        keep: NDArray[np.bool_] | None = None,
        counts: NDArray[Any] | None = None,
        origin: Sequence[str] | None = None,
    ) -> None:
        """Accept the rows just filled, those in `keep` only; counts and origins of all of them, or of no row at all."""
        start = len(self.words)
        if keep is not None:
            words = list(compress(words, keep.tolist()))
            counts = None if counts is None else counts[keep]
            origin = None if origin is None else list(compress(origin, keep.tolist()))
            self._matrix[start : start + len(words)] = self._matrix[start : start + len(keep)][keep]
        self.words.extend(words)
        if counts is not None:
            self._counts.append(counts)
        if origin is not None:
            self._origin.extend(origin)

    def table(self, problems: Problems, total: int | None) -> Table:
        """All rows taken; nothing more can be added."""
        counts = np.concatenate(self._counts).astype(np.int64) if self._counts else None
        origin = tuple(self._origin) if self._origin else None
        return Table(self.words, self.finish(), problems.report(), total, counts=counts, origin=origin)

    def finish(self) -> NDArray[np.float32]:
        """The matrix, cut to the rows taken."""
        self._matrix.resize((len(self.words), self._matrix.shape[1]), refcheck=False)
        self._matrix.flags.writeable = False
        return self._matrix


def whole_table(
    words: list[str],
    matrix: NDArray[Any],
    limit: int | None,
    problems: Problems,
    total: int | None = None,
    counts: NDArray[np.int64] | None = None,
    origin: tuple[str, ...] | None = None,
) -> Table:
    """A table from all words and a whole matrix, less what is beyond `limit` or cannot be used."""
    total = len(words) if total is None else total
    # Rows beyond the limit are not looked at; with rows to skip among the first, fewer than `limit` remain.
    words, matrix = words[:limit], matrix[:limit]
    counts, origin = None if counts is None else counts[:limit], None if origin is None else origin[:limit]
    keep = usable_rows(words, matrix, problems)
    if keep is not None:
        words, matrix = list(compress(words, keep.tolist())), matrix[keep]
        counts = None if counts is None else counts[keep]
        origin = None if origin is None else tuple(compress(origin, keep.tolist()))
    matrix.flags.writeable = False
    return Table(words, matrix, problems.report(), total, counts=counts, origin=origin)
