"""What is wrong with rows of a file: raised, or left out and counted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte.errors import BadVectors, Hint

EXAMPLES = 5
BLOCK = 1 << 22  # values looked at in one go


@dataclass(frozen=True)
class Skipped:
    """What `on_error="skip"` left out: how many rows for which reason, and the first few of them.

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
        """One row, or `count` rows, that cannot be used: raises unless such rows are to be skipped."""
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
        """What was left out."""
        return Skipped(dict(self._counts), tuple(self._examples))


def shortened(text: str) -> str:
    """At most 60 characters of a word for a message.

    >>> len(shortened("x" * 1000))
    60
    """
    return text if len(text) <= 60 else text[:59] + "…"


def unfinished_rows(matrix: NDArray[Any]) -> NDArray[np.int64]:
    """The rows that hold NaN or infinity, looked for block by block.

    >>> unfinished_rows(np.array([[1.0, 2.0], [np.nan, 0.0]])).tolist()
    [1]
    """
    step = max(1, BLOCK // max(1, matrix.shape[1]))
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
    matrix: NDArray[Any],
    problems: Problems,
    seen: set[str] | None = None,
    first: int = 0,
    keep: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_] | None:
    """Which rows, of those in `keep`, have a word of their own and finite values; None if all rows have.

    The new words go into `seen`. Messages number rows from `first` on.
    """
    keep = np.ones(len(words), np.bool_) if keep is None else keep
    for row in unfinished_rows(matrix).tolist():
        if keep[row]:
            keep[row] = False
            problems.add("not finite", f"row {first + row + 1}", words[row], "a value is NaN or infinite")
    seen = set() if seen is None else seen
    drop_duplicates(words, keep, seen, lambda row: f"row {first + row + 1}", problems)
    return None if keep.all() else keep


def decode_words(encoded: list[bytes], problems: Problems, first: int = 0) -> tuple[list[str], NDArray[np.bool_]]:
    """Words from UTF-8, and which of them are; messages number rows from `first` on.

    >>> decode_words([b"n\\xc3\\xa9", b"n\\xe9"], Problems("a.bin", "skip"))[1].tolist()
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


def drop_duplicates(words: list[str], keep: NDArray[np.bool_], seen: set[str], where: Any, problems: Problems) -> None:
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
