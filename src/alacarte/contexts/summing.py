"""The tally behind `ContextSums`: windows around matches, added up per target, by any number of threads.

Sums are whole numbers, so threads may add in any order. The targets that a thread sees first, which are the commonest,
are added up in rows of its own, and put together when the sums are wanted; all others in rows that the threads share,
under one lock for each stripe of rows.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Ints, Longs
from alacarte._io.artifact import word_tensors
from alacarte._io.tensors import unpack_words
from alacarte.contexts.groups import groups_given, groups_of
from alacarte.contexts.integers import LANES, IntegerVectors, aligned_zeros, row_width
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import is_wide
from alacarte.contexts.tally import Tally
from alacarte.errors import AlacarteError
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded

PRIVATE = 1 << 26  # bytes for rows of a thread's own, at most; with 8 MB, two threads took a quarter more time
PRIVATE_OF_TARGETS = 1 << 23  # the same for chosen targets, a few of which are seen most of the time
ALL_PRIVATE = 48 << 20  # for those of all threads, or PRIVATE_SHARE of the shared sums where that is more
PRIVATE_SHARE = 0.3
STRIPES = 1 << 14  # locks
COUNTS = ("totals", "tokens", "occurrences", "contexts")  # the columns behind the dimensions
SETTLED_ROWS = 4096  # rows put together at a time
COVERED = 100_000  # targets up to which the progress bar says how many occur


def row_stride(dimension: int) -> int:
    """Return the number of values in a row: as in a row of integers, and at least the dimensions and the counts."""
    return max(row_width(dimension), -(-(dimension + len(COUNTS)) // 8) * 8)


def widest_row(values: int) -> int:
    """Return how many dimensions a row of this many values has room for; 0 or fewer if it has room for nothing.

    >>> widest_row(row_stride(100)), widest_row(7)
    (108, -4)
    """
    dimension = min(values // LANES * LANES - 2, values // 8 * 8 - len(COUNTS))
    while dimension > 0 and row_stride(dimension) > values:  # rows of several pieces are a little wider
        dimension -= 1
    return dimension


class SumsTally(Tally):
    """Rows of sums for the targets of a matcher; with `groups`, that many rows for each target, by document.

    If `given`, each document of the corpus says its group as the value of its only column.
    """

    def __init__(
        self,
        integers: IntegerVectors,
        reading: Reading,
        matcher: Matcher,
        groups: int = 1,
        threads: int = 1,
        given: bool = False,
    ) -> None:
        from alacarte.contexts._windows_kernel import APART

        self.integers, self.reading, self.matcher, self.groups = integers, reading, matcher, groups
        self.columns = integers.columns
        if self.size > np.iinfo(np.int32).max:
            raise AlacarteError(
                f"{len(matcher.keys):,} targets in {groups} groups are too many; use fewer groups (spread), or embed "
                "the targets in several runs"
            )
        self.rows: Any = aligned_zeros(self.size, row_stride(self.columns), np.int64, integers.few)
        self._given = given
        # Labels that turn up on the way make the sums grow, which only one thread at a time can do.
        self._alone = threading.Lock() if matcher.any_label else None
        self._threads = threads
        self._shared = threads > 1 and self._alone is None
        self._locks = np.zeros(STRIPES * APART if self._shared else 0, dtype=np.int32)
        self._adders: list[_SumAdder] = []
        # Where every word is a target, one window moves along each document.
        one_by_one = reading.averaging == "context" or reading.positions != "uniform" or is_wide(reading)
        self._moving = matcher.whole_vocabulary and not one_by_one

    @property
    def size(self) -> int:
        """How many rows the targets have by now."""
        return len(self.matcher.keys) * self.groups

    # ------------------------------------------------------------------------------------------- as a tally

    def adder(self) -> Callable[[Encoded], None]:
        """Return what one thread calls with each of its blocks."""
        chosen = not self.matcher.whole_vocabulary
        capacity = private_rows(len(self.rows), self.rows.shape[1], self._threads, chosen) if self._shared else 0
        adder = _SumAdder(self.rows, capacity)
        self._adders.append(adder)
        return lambda encoded: self._add(encoded, adder)

    def settle(self) -> None:
        """Add the sums that threads hold by themselves to those that all share."""
        for adder in self._adders:
            adder.settle(self.rows)

    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the sums so far, and the labels that were found."""
        return {"rows": self.rows[: self.size], **word_tensors(self.matcher.labels_found, "labels")}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up what `arrays` gave."""
        self.matcher.restore(unpack_words(arrays["labels"], arrays["labels_offsets"]))
        self._make_room()
        self.rows[: self.size] = arrays["rows"]

    def result(self) -> Longs:
        """Return the rows of the targets (dimensions, then counts) after all is settled; to be called once."""
        rows: Longs = self.rows[: self.size]
        self.integers.join(rows)
        return rows

    def progress(self) -> dict[str, object]:
        """Return how many targets occur, for the progress bar."""
        if len(self.matcher.keys) > COVERED:
            return {}
        seen = np.array(self.rows[: self.size, self.columns + 2] > 0)
        for adder in self._adders:
            seen[adder.owners[: adder.used[0]]] = True
        covered = np.count_nonzero(seen.reshape(-1, self.groups).any(axis=1))
        return {"targets": f"{covered:,}/{len(self.matcher.keys):,}"}

    # ---------------------------------------------------------------------------------------------- adding

    def _add(self, encoded: Encoded, adder: "_SumAdder") -> None:
        groups = None
        if self.groups > 1:
            groups = groups_given(encoded) if self._given else groups_of(encoded, self.integers.known, self.groups)
        if self._moving:
            self._add_vocabulary(encoded, groups, adder)
        else:
            with self._alone or nullcontext():
                self._add_matches(encoded, groups, adder)

    def _add_vocabulary(self, encoded: Encoded, groups: Ints | None, adder: "_SumAdder") -> None:
        from alacarte.contexts._windows_kernel import add_vocabulary

        ids, offsets = encoded.ids, encoded.offsets
        if self.reading.unknown == "drop":
            ids, offsets, _ = without_unknown(ids, offsets, self.integers.known)
        self.integers.fill(ids)
        add_vocabulary(
            ids,
            offsets,
            np.zeros(0, dtype=np.int32) if groups is None else groups,
            self.groups,
            self.integers.rows,
            self.integers.lanes,
            self.columns,
            self.reading.left,
            self.reading.right,
            adder.sums(self.rows, self._locks),
        )

    def _add_matches(self, encoded: Encoded, groups: Ints | None, adder: "_SumAdder") -> None:
        matches = self.matcher.match(encoded)
        if not len(matches):
            return
        self._make_room()
        if groups is not None:
            in_document = np.diff(np.searchsorted(matches.starts, encoded.offsets))
            rows = matches.targets * np.int32(self.groups) + np.repeat(groups, in_document)
            matches = Matches(matches.starts, matches.ends, rows)
        add_windows(self.integers, self.reading, encoded, matches, adder.sums(self.rows, self._locks))

    def _make_room(self) -> None:
        if self.size > len(self.rows):
            grown: Any = aligned_zeros(max(self.size, 2 * len(self.rows)), self.rows.shape[1], np.int64)
            grown[: len(self.rows)] = self.rows
            self.rows = grown


class _SumAdder:
    """What one thread holds by itself: sums of the targets that it saw first."""

    def __init__(self, rows: Longs, capacity: int) -> None:
        capacity = min(capacity, len(rows))
        self.slots = np.full(len(rows) if capacity else 0, -1, dtype=np.int32)  # by row of the sums: one of `private`
        self.owners = np.zeros(capacity, dtype=np.int64)  # and the other way round
        self.used = np.zeros(1, dtype=np.int64)
        self.private: Any = aligned_zeros(capacity, rows.shape[1], np.int64)

    def sums(self, rows: Longs, locks: Ints) -> tuple[Any, ...]:
        """Return where this thread adds windows, as `contexts._windows_kernel` takes it."""
        private = self.private.reshape(-1)
        return rows.reshape(-1), rows.shape[1], locks, self.slots, self.owners, self.used, private

    def settle(self, rows: Longs) -> None:
        """Add the thread's own sums to those that all share."""
        used = int(self.used[0])
        for low in range(0, used, SETTLED_ROWS):
            part = slice(low, min(low + SETTLED_ROWS, used))
            rows[self.owners[part]] += self.private[part]
            self.private[part] = 0


def add_windows(
    integers: IntegerVectors, reading: Reading, encoded: Encoded, matches: Matches, sums: tuple[Any, ...]
) -> None:
    """Add the windows around matches to rows of sums, as an adder gives them to a kernel."""
    from alacarte.contexts._windows_kernel import add_matches, ring_rows

    ids, offsets, starts, ends = encoded.ids, encoded.offsets, matches.starts, matches.ends
    bounds = np.searchsorted(starts, offsets)  # the matches of document d are bounds[d]:bounds[d + 1]
    # Words without a vector take no place in windows: the text closes up, and matches move with it.
    if reading.unknown == "drop":
        ids, offsets, before = without_unknown(ids, offsets, integers.known)
        starts, ends = before[starts].astype(np.int32), before[ends].astype(np.int32)
    integers.fill(_near(ids, starts, ends, reading))
    running = ring_rows(reading.left, reading.right, int((ends - starts).max(initial=1))) + 2
    add_matches(
        ids,
        offsets,
        bounds,
        starts,
        ends,
        matches.targets,
        integers.rows,
        integers.lanes,
        integers.columns,
        *reading.position_weights(),
        reading.positions == "uniform" and not is_wide(reading),
        integers.scale.mean_factor if reading.averaging == "context" else 0.0,
        sums,
        np.zeros(running * integers.rows.shape[1], dtype=np.int32),
        np.empty(integers.columns + 2),
    )


def sums_for_one_thread(rows: Longs) -> tuple[Any, ...]:
    """Return rows of sums that nobody else adds to, for a kernel."""
    return _SumAdder(rows, 0).sums(rows, np.zeros(0, dtype=np.int32))


def private_rows(rows: int, stride: int, threads: int, chosen: bool) -> int:
    """Return how many rows a thread has for itself beside `rows` that all share; a single thread needs none.

    `chosen`: they are rows of chosen targets, not of the whole vocabulary.
    """
    if threads == 1:
        return 0
    of_all_threads = max(ALL_PRIVATE, int(PRIVATE_SHARE * 8 * rows * stride))
    most = min(PRIVATE, PRIVATE_OF_TARGETS) if chosen else PRIVATE
    return min(rows, min(most, of_all_threads // threads) // (8 * stride))


def private_memory(rows: int, stride: int, threads: int, chosen: bool) -> int:
    """Return the bytes that the threads hold by themselves beside the rows of sums."""
    own = private_rows(rows, stride, threads, chosen)
    return threads * (8 * own * (stride + 1) + (4 * rows if own else 0))


def _near(ids: Ints, starts: Ints, ends: Ints, reading: Reading) -> Ints:
    """Return the ids that may be in the windows around matches; all of them, unless the windows are few."""
    if 2 * starts.size * (reading.left + reading.right) > ids.size:
        return ids
    before, after = starts[:, None] + np.arange(-reading.left, 0), ends[:, None] + np.arange(reading.right)
    near: Ints = ids[np.clip(np.concatenate([before, after], axis=None), 0, ids.size - 1)]
    return near


def without_unknown(ids: Ints, offsets: Longs, known: int) -> tuple[Ints, Longs, Longs]:
    """Return (ids, offsets) without the tokens that have no vector, and the new place of each position."""
    has_vector = (ids >= 0) & (ids < known)
    before = np.concatenate([[0], np.cumsum(has_vector)])
    return ids[has_vector], before[offsets], before
