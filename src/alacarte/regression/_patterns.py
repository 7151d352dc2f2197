"""Patterns over tokens: compiled against a vocabulary, found in encoded documents, overlaps settled."""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from alacarte.errors import BadTargets

ValueType = Literal["glob", "regex", "fixed"]
Overlaps = Literal["longest", "unique", "all"]
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Hits:
    """Where patterns were found: positions [start, end) of the flat ids, document number, pattern number."""

    starts: Longs
    ends: Longs
    documents: Longs
    patterns: Longs


def token_tests(part: str, valuetype: ValueType, case_sensitive: bool) -> Callable[[str], bool]:
    """Whether a token matches one part of a pattern; the empty token (a pad) matches nothing.

    >>> token_tests("immigr*", "glob", False)("Immigration"), token_tests("igr", "regex", True)("immigrant")
    (True, True)
    """
    if valuetype == "fixed":
        wanted = part if case_sensitive else part.lower()
        return lambda token: bool(token) and (token if case_sensitive else token.lower()) == wanted
    if valuetype == "glob":
        inner = "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in part)
        source = rf"\A(?s:{inner})\Z"
    elif valuetype == "regex":
        source = part
    else:
        raise BadTargets(f"valuetype is 'glob', 'regex' or 'fixed', not {valuetype!r}")
    try:
        pattern = re.compile(source, 0 if case_sensitive else re.IGNORECASE)
    except re.error as error:
        raise BadTargets(f"the regular expression {part!r} is malformed: {error}; correct or escape it") from None
    return lambda token: bool(token) and pattern.search(token) is not None


def find(
    ids: Ints,
    offsets: Longs,
    vocabulary: Sequence[str],
    patterns: Sequence[Sequence[str]],
    valuetype: ValueType,
    case_sensitive: bool,
    overlaps: Overlaps,
) -> Hits:
    """All hits, ordered by document, start, end and pattern."""
    parts: dict[str, npt.NDArray[np.bool_]] = {}
    starts, ends, numbers = [], [], []
    document_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for number, pattern in enumerate(patterns):
        for part in pattern:
            if part not in parts:
                test = token_tests(part, valuetype, case_sensitive)
                parts[part] = np.fromiter(map(test, vocabulary), dtype=bool, count=len(vocabulary))
        length = len(pattern)
        room = max(len(ids) - length + 1, 0)
        matches = np.ones(room, dtype=bool)
        for shift, part in enumerate(pattern):
            matches &= parts[part][ids[shift : shift + room]]
        at = np.flatnonzero(matches)
        if length > 1:
            at = at[document_of[at] == document_of[at + length - 1]]
        starts.append(at)
        ends.append(at + length)
        numbers.append(np.full(len(at), number))
    start, end, pattern_of = (np.concatenate(part).astype(np.int64) for part in (starts, ends, numbers))
    order = np.lexsort((pattern_of, end, start))
    start, end, pattern_of = start[order], end[order], pattern_of[order]
    keep = settle(start, end, overlaps)
    return Hits(start[keep], end[keep], document_of[start[keep]].astype(np.int64), pattern_of[keep])


def settle(starts: Longs, ends: Longs, overlaps: Overlaps) -> npt.NDArray[np.bool_]:
    """Which of the hits (sorted by start, then end) count.

    >>> starts, ends = np.array([0, 0, 0, 1, 5]), np.array([1, 1, 2, 3, 6])
    >>> [settle(starts, ends, how).tolist() for how in ("all", "unique", "longest")]
    [[True, True, True, True, True], [True, False, True, True, True], [False, False, True, False, True]]
    """
    if overlaps == "all" or not len(starts):
        return np.ones(len(starts), dtype=bool)
    first = np.ones(len(starts), dtype=bool)
    first[1:] = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
    if overlaps == "unique":
        return first
    if overlaps != "longest":
        raise BadTargets(f"overlaps is 'longest', 'unique' or 'all', not {overlaps!r}")
    if (ends - starts).max() == 1:
        return first
    keep = np.zeros(len(starts), dtype=bool)
    # Runs of hits that touch each other are rare and short; the longest of a run wins, the leftmost of equals.
    reach = np.maximum.accumulate(ends)
    borders = np.flatnonzero(np.concatenate([[True], starts[1:] >= reach[:-1], [True]]))
    for low, high in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        if high - low == 1:
            keep[low] = True
            continue
        taken: list[tuple[int, int]] = []
        for hit in sorted(range(low, high), key=lambda hit: (starts[hit] - ends[hit], starts[hit])):
            if first[hit] and all(ends[hit] <= a or starts[hit] >= b for a, b in taken):
                keep[hit] = True
                taken.append((int(starts[hit]), int(ends[hit])))
    return keep


def suggestion(patterns: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Words of the text that look like what was not found.

    >>> suggestion(["immigraton"], ["immigration", "border"])
    "; the text has 'immigration'"
    """
    near: list[str] = []
    words = [word for word in vocabulary if word]
    for pattern in patterns[:5]:
        near += difflib.get_close_matches(pattern.strip("*?"), words, n=2, cutoff=0.75)
    return f"; the text has {', '.join(map(repr, dict.fromkeys(near)))}" if near else ""
