"""What readers of vector files return and writers take: words with their vectors; and what was wrong with a file."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from os import PathLike, fspath
from typing import Any, Protocol

import numpy as np

from alacarte._io.arrays import Longs, Mask, Singles
from alacarte._io.printing import shortened
from alacarte.errors import BadVectors, Hint
from alacarte.vectors.words import PackedWords

EXAMPLES = 5  # rows that a report names
CHECKED_VALUES = 1 << 22  # values that are looked at together

Where = Callable[[int], str]  # the name of a row of a block, for messages


@dataclass(frozen=True)
class Skipped:
    """What ``on_error="skip"`` left out: how many rows for which reason, and the first few of them.

    Parameters
    ----------
    counts : mapping of str to int
        The number of rows for each reason.
    examples : tuple of str
        The first few of these rows.

    Examples
    --------
    >>> report = Skipped({"duplicate word": 2}, ("line 7 ('the'): a second vector for the same word",))
    >>> len(report), bool(report), bool(Skipped())
    (2, True, False)
    >>> print(report)
    2 rows left out: 2 duplicate word
      line 7 ('the'): a second vector for the same word
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __str__(self) -> str:
        if not self:
            return "nothing left out"
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.counts.items())
        return "\n  ".join([f"{len(self)} row{'s' * (len(self) != 1)} left out: {reasons}", *self.examples])


class Problems:
    """Collects what is wrong with the rows of one file, or raises at the first of them."""

    def __init__(self, path: str | PathLike[str], on_error: str = "raise") -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip", not {on_error!r}')
        self.path = fspath(path)
        self.skip = on_error == "skip"
        self._counts: Counter[str] = Counter()
        self._examples: list[str] = []

    def add(self, reason: str, where: str, word: str | bytes | None, detail: str, count: int = 1) -> None:
        """Note one row, or `count` rows, that cannot be used; raise unless such rows are to be skipped."""
        if isinstance(word, bytes):
            word = word.decode(errors="replace")
        text = where + ("" if word is None else f" ({shortened(word)!r})") + f": {detail}"
        if not self.skip:
            raise BadVectors(
                f"{self.path}, {text}; correct the file",
                hint=Hint(
                    'or pass on_error="skip" to leave such rows out', "or pass --skip-errors to leave such rows out"
                ),
            )
        self._counts[reason] += count
        if len(self._examples) < EXAMPLES:
            self._examples.append(text)

    def report(self) -> Skipped:
        """Return what was left out."""
        return Skipped(dict(self._counts), tuple(self._examples))


class SubwordSource(Protocol):
    """Computes the vector of any word from its parts."""

    def vector(self, word: str) -> Singles | None:
        """Return the vector of a word, or None if it has no known part."""


@dataclass(frozen=True)
class WordRows:
    """Words and their vectors; unique words and finite float32 values, once they are checked."""

    words: Sequence[str]
    matrix: Singles
    skipped: Skipped = field(default_factory=Skipped)
    total: int | None = None  # how many words the file says it has, whatever the limit
    subwords: SubwordSource | None = None  # for words that are not listed
    counts: Longs | None = None  # how many occurrences each vector comes from
    origin: tuple[str, ...] | None = None  # what each vector comes from, such as "contexts" or "spelling"

    def first(self, n: int) -> "WordRows":
        """Return the first n rows; the memory of the matrix is shared."""
        return replace(
            self,
            words=self.words.first(n) if isinstance(self.words, PackedWords) else self.words[:n],
            matrix=self.matrix[:n],
            counts=None if self.counts is None else self.counts[:n],
            origin=None if self.origin is None else self.origin[:n],
        )

    def chosen(self, rows: Longs) -> "WordRows":
        """Return rows by their numbers, in that order, in memory of their own."""
        numbers = rows.tolist()
        return replace(
            self,
            words=[self.words[row] for row in numbers],
            matrix=self.matrix[rows],
            counts=None if self.counts is None else self.counts[rows],
            origin=None if self.origin is None else tuple(self.origin[row] for row in numbers),
        )


class Growing:
    """Rows that arrive block by block, until there are enough: a matrix that grows in place, and its words.

    >>> rows = Growing(2, 3, Problems("a.txt"))
    >>> rows.wanted
    3
    >>> rows.room(3)[:] = 1
    >>> rows.take(["a", "b", "c"])
    >>> rows.wanted, rows.finish(3).matrix.tolist()
    (0, [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    """

    def __init__(self, dimension: int, limit: int | None, problems: Problems) -> None:
        self.words: list[str] = []
        self.rows_read = 0  # good or bad
        self._seen: set[str] = set()
        self._counts: list[Longs] = []
        self._origin: list[str] = []
        self._limit, self._problems = limit, problems
        self._matrix = np.empty((1, dimension), np.float32)

    @property
    def wanted(self) -> int:
        """How many rows are to be read next."""
        at_once = rows_at_once(self._matrix.shape[1])
        return at_once if self._limit is None else min(at_once, self._limit - len(self.words))

    def room(self, rows: int) -> Singles:
        """Return the next `rows` rows, to be filled."""
        needed = len(self.words) + rows
        if needed > len(self._matrix):
            # Nothing else holds the array, and realloc moves large ones without copying.
            grown = (max(needed, len(self._matrix) * 3 // 2), self._matrix.shape[1])
            self._matrix.resize(grown, refcheck=False)
        return self._matrix[len(self.words) : needed]

    def where(self, row: int) -> str:
        """Return the name of a row of this block, for messages."""
        return f"row {self.rows_read + row + 1}"

    def take(
        self,
        words: list[str],
        keep: Mask | None = None,
        counts: Longs | None = None,
        origin: Sequence[str] | None = None,
        where: Where | None = None,
    ) -> None:
        """Accept the rows just filled: those in `keep` that can be used. Counts and origins are those of all rows."""
        start, stop = len(self.words), len(self.words) + len(words)
        keep = usable_rows(words, self._matrix[start:stop], self._problems, self._seen, where or self.where, keep)
        self.rows_read += len(words)
        if not keep.all():
            self._matrix[start : start + keep.sum()] = self._matrix[start:stop][keep]
        self.words.extend(compress(words, keep.tolist()))
        if counts is not None:
            self._counts.append(counts[keep])
        if origin is not None:
            self._origin.extend(compress(origin, keep.tolist()))

    def add(self, part: WordRows) -> None:
        """Accept rows that are in memory, as many as are wanted."""
        low = 0
        while size := min(self.wanted, len(part.words) - low):
            chosen = slice(low, low + size)
            with np.errstate(over="ignore"):
                self.room(size)[:] = part.matrix[chosen]
            counts = None if part.counts is None else part.counts[chosen]
            origin = None if part.origin is None else part.origin[chosen]
            self.take(list(part.words[chosen]), None, counts, origin)
            low += size

    def finish(self, total: int | None = None) -> WordRows:
        """Return all rows taken, in a matrix cut to their number; nothing more can be added."""
        self._matrix.resize((len(self.words), self._matrix.shape[1]), refcheck=False)
        self._matrix.flags.writeable = False
        counts = np.concatenate(self._counts).astype(np.int64) if self._counts else None
        origin = tuple(self._origin) if self._origin else None
        return WordRows(self.words, self._matrix, self._problems.report(), total, counts=counts, origin=origin)


def rows_at_once(dimension: int) -> int:
    """How many rows are read together: at most 32,768, and no more than 64 MiB, whatever a header promises.

    >>> rows_at_once(300), rows_at_once(1 << 20)
    (32768, 16)
    """
    return min(1 << 15, max(1, (1 << 24) // dimension))


def checked_rows(rows: WordRows, limit: int | None, problems: Problems) -> WordRows:
    """Return the first `limit` rows that can be used, out of a whole matrix; rows after them are not looked at."""
    total = len(rows.words) if rows.total is None else rows.total
    seen: set[str] = set()
    kept = np.empty(0, np.int64)
    low = 0

    def where(row: int) -> str:
        return f"row {low + row + 1}"

    while low < len(rows.words) and (limit is None or len(kept) < limit):
        high = len(rows.words) if limit is None else min(len(rows.words), low + limit - len(kept))
        keep = usable_rows(list(rows.words[low:high]), rows.matrix[low:high], problems, seen, where)
        kept, low = np.concatenate([kept, low + np.flatnonzero(keep)]), high
    usable = rows.first(low) if len(kept) == low else rows.chosen(kept)
    usable.matrix.flags.writeable = False
    return replace(usable, words=list(usable.words), skipped=problems.report(), total=total)


def unfinished_rows(matrix: Any) -> Longs:
    """Return the rows that hold NaN or infinity, looked for block by block.

    >>> unfinished_rows(np.array([[1.0, 2.0], [np.nan, 0.0]])).tolist()
    [1]
    """
    bad = [np.empty(0, np.int64)]
    for start in range(0, len(matrix), step := max(1, CHECKED_VALUES // max(1, matrix.shape[1]))):
        bad.append(start + np.flatnonzero(~np.isfinite(matrix[start : start + step]).all(axis=1)))
    return np.concatenate(bad)


def usable_rows(
    words: list[Any], matrix: Any, problems: Problems, seen: set[str], where: Where, keep: Mask | None = None
) -> Mask:
    """Return which rows, of those in `keep`, have a word that is not among those `seen`, and finite values.

    The new words go into `seen`.
    """
    keep = np.ones(len(words), np.bool_) if keep is None else keep
    new = set(words)
    if None in new:  # as in tables
        for row in [row for row, word in enumerate(words) if word is None and keep[row]]:
            keep[row] = False
            problems.add("no word", where(row), None, "there is no word")
    for row in unfinished_rows(matrix).tolist():
        if keep[row]:
            keep[row] = False
            problems.add("not finite", where(row), words[row], "a value is NaN or infinite")
    if len(new) == len(words) and keep.all() and seen.isdisjoint(new):  # as nearly always
        seen |= new
        return keep
    for row in np.flatnonzero(keep).tolist():
        if words[row] in seen:
            keep[row] = False
            problems.add("duplicate word", where(row), words[row], "a second vector for the same word")
        seen.add(words[row])
    return keep


def decode_words(encoded: list[bytes], problems: Problems, where: Where) -> tuple[list[str], Mask]:
    r"""Return words from UTF-8, and which of them are.

    >>> decode_words([b"n\xc3\xa9", b"n\xe9"], Problems("a.bin", "skip"), str)[1].tolist()
    [True, False]
    """
    words = [word.decode(errors="replace") for word in encoded]
    good = np.ones(len(encoded), np.bool_)
    for row, word in enumerate(words):
        if "\ufffd" in word and word.encode() != encoded[row]:
            good[row] = False
            problems.add("bad UTF-8", where(row), word, "the word is not UTF-8")
    return words, good
