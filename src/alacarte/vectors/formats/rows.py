"""What readers of vector files return and writers take: words with their vectors; and what was wrong with a file."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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


class Growing:
    """Rows that arrive block by block: a matrix that grows in place, and its words.

    >>> rows = Growing(2, 1)
    >>> rows.room(3)[:] = 1
    >>> rows.take(["a", "b", "c"])
    >>> rows.finish(Problems("a.txt"), 3).matrix.tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, dimension: int, expected: int) -> None:
        self.words: list[str] = []
        self.seen: set[str] = set()
        self._counts: list[Longs] = []
        self._origin: list[str] = []
        self._matrix = np.empty((max(1, expected), dimension), np.float32)

    def __len__(self) -> int:
        return len(self.words)

    def room(self, rows: int) -> Singles:
        """Return the next `rows` rows, to be filled."""
        needed = len(self.words) + rows
        if needed > len(self._matrix):
            # Nothing else holds the array, and realloc moves large ones without copying.
            grown = (max(needed, len(self._matrix) * 3 // 2), self._matrix.shape[1])
            self._matrix.resize(grown, refcheck=False)
        return self._matrix[len(self.words) : needed]

    def take(
        self,
        words: list[str],
        keep: Mask | None = None,
        counts: Longs | None = None,
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

    def finish(self, problems: Problems, total: int | None) -> WordRows:
        """Return all rows taken, in a matrix cut to their number; nothing more can be added."""
        self._matrix.resize((len(self.words), self._matrix.shape[1]), refcheck=False)
        self._matrix.flags.writeable = False
        counts = np.concatenate(self._counts).astype(np.int64) if self._counts else None
        origin = tuple(self._origin) if self._origin else None
        return WordRows(self.words, self._matrix, problems.report(), total, counts=counts, origin=origin)


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
    masks: list[Mask] = []
    kept = low = 0
    while low < len(rows.words) and (limit is None or kept < limit):
        high = len(rows.words) if limit is None else min(len(rows.words), low + limit - kept)
        keep = usable_rows(list(rows.words[low:high]), rows.matrix[low:high], problems, seen, low)
        masks.append(np.ones(high - low, np.bool_) if keep is None else keep)
        kept, low = kept + int(masks[-1].sum()), high
    rows = first_rows(rows, low)
    words, matrix, counts, origin = list(rows.words), rows.matrix, rows.counts, rows.origin
    if kept < low:
        chosen = np.concatenate(masks)
        words, matrix = list(compress(words, chosen.tolist())), matrix[chosen]
        counts = None if counts is None else counts[chosen]
        origin = None if origin is None else tuple(compress(origin, chosen.tolist()))
    matrix.flags.writeable = False
    return WordRows(words, matrix, problems.report(), total, rows.subwords, counts, origin)


def first_rows(rows: WordRows, n: int) -> WordRows:
    """Return the first n rows; the memory of the matrix is shared."""
    return WordRows(
        rows.words.first(n) if isinstance(rows.words, PackedWords) else rows.words[:n],
        rows.matrix[:n],
        rows.skipped,
        rows.total,
        rows.subwords,
        None if rows.counts is None else rows.counts[:n],
        None if rows.origin is None else rows.origin[:n],
    )


def unfinished_rows(matrix: Any) -> Longs:
    """Return the rows that hold NaN or infinity, looked for block by block.

    >>> unfinished_rows(np.array([[1.0, 2.0], [np.nan, 0.0]])).tolist()
    [1]
    """
    step = max(1, CHECKED_VALUES // max(1, matrix.shape[1]))
    bad = []
    for start in range(0, len(matrix), step):
        block = matrix[start : start + step]
        # One sum tells whether there is anything to look for: it is finite only if every value is.
        with np.errstate(all="ignore"):
            total = block.sum(dtype=np.float64)
        if not np.isfinite(total):
            bad.append(start + np.flatnonzero(~np.isfinite(block).all(axis=1)))
    return np.concatenate(bad) if bad else np.empty(0, np.int64)


def usable_rows(
    words: list[str],
    matrix: Any,
    problems: Problems,
    seen: set[str],
    first: int = 0,
    keep: Mask | None = None,
) -> Mask | None:
    """Which rows, of those in `keep`, have a word of their own and finite values; None if all rows have.

    The new words go into `seen`. Messages number rows from `first` on.
    """
    keep = np.ones(len(words), np.bool_) if keep is None else keep
    for row in unfinished_rows(matrix).tolist():
        if keep[row]:
            keep[row] = False
            problems.add("not finite", f"row {first + row + 1}", words[row], "a value is NaN or infinite")
    drop_duplicates(words, keep, seen, lambda row: f"row {first + row + 1}", problems)
    return None if keep.all() else keep


def decode_words(encoded: list[bytes], problems: Problems, first: int = 0) -> tuple[list[str], Mask]:
    r"""Return words from UTF-8, and which of them are; messages number rows from `first` on.

    >>> decode_words([b"n\xc3\xa9", b"n\xe9"], Problems("a.bin", "skip"))[1].tolist()
    [True, False]
    """
    words, good = [], np.ones(len(encoded), np.bool_)
    for row, word in enumerate(encoded):
        try:
            words.append(word.decode())
        except UnicodeDecodeError:
            good[row] = False
            words.append(word.decode(errors="replace"))
            problems.add("bad UTF-8", f"row {first + row + 1}", words[-1], "the word is not UTF-8")
    return words, good


def drop_duplicates(
    words: list[str], keep: Mask, seen: set[str], where: Callable[[int], str], problems: Problems
) -> None:
    """Take rows whose word was seen before out of `keep`; `where(row)` names a row."""
    fresh = set(words)
    if len(fresh) == len(words) and keep.all() and seen.isdisjoint(fresh):
        seen |= fresh
        return
    for row in np.flatnonzero(keep).tolist():
        word = words[row]
        if word in seen:
            keep[row] = False
            problems.add("duplicate word", where(row), word, "a second vector for the same word")
        else:
            seen.add(word)
