"""Sums in the making: what one block of text adds, and who adds it.

The dimensions of the vectors do not depend on each other, so threads share them out: each adds its dimensions of every
match, in the order of the text. The result is the same to the last bit for any number of threads and any size of
blocks, and no thread needs sums of its own. (Measured against private sums for each thread, which need memory for each
and differ in the last bits: docs/performance.md.)

One thing stands in the way: where two cores keep writing to parts of the same row, each takes lines of it out of the
other's cache, also lines that it only expects to need. So the first targets, which in vectors are the commonest words,
are summed in a corner of each thread's own, and are put in their rows when the sums are wanted.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte.contexts.windows import add_windows, count_windows
from alacarte.targets.sequences import Matches
from alacarte.text.encoding import Encoded

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
FEW = 1000  # matches that are added at once
IN_HAND = 2  # blocks of text that are being added
COUNTS = ("occurrences", "contexts", "tokens", "totals")
HOT = 4096  # targets summed in corners; 256 to 65,536, tried once at d = 100 and 300, are within 10 %


@dataclass(frozen=True)
class Work:
    """One block, ready for the kernels, and how much text it was."""

    ids: Ints
    offsets: Longs
    bounds: Longs  # matches of document i: [bounds[i], bounds[i + 1])
    matches: Matches
    documents: int
    tokens_read: int
    tokens_known: int

    @property
    def where(self) -> tuple[Ints, Longs, Longs, Ints, Ints, Ints]:
        """What the kernels begin with."""
        return self.ids, self.offsets, self.bounds, self.matches.starts, self.matches.ends, self.matches.targets


def prepare(encoded: Encoded, matches: Matches, known: int, keep_unknown: bool) -> Work:
    """Match positions by document; where unknown words hold no place, the gaps they leave are closed."""
    has_vector = (encoded.ids >= 0) & (encoded.ids < known)
    ids, offsets = encoded.ids, encoded.offsets
    documents = int(np.count_nonzero(np.diff(offsets)))  # blank lines are no documents
    amounts = documents, ids.size, int(np.count_nonzero(has_vector))
    bounds = np.searchsorted(matches.starts, offsets)
    if not keep_unknown:
        before = np.concatenate([[0], np.cumsum(has_vector)])
        starts, ends = before[matches.starts].astype(np.int32), before[matches.ends].astype(np.int32)
        ids, offsets, matches = ids[has_vector], before[offsets], Matches(starts, ends, matches.targets)
    return Work(ids, offsets, bounds, matches, *amounts)


@dataclass(frozen=True)
class Windows:
    """How contexts are weighed, in the form that the kernels take."""

    left: Doubles
    right: Doubles
    uniform: bool
    mean: bool
    weights: Singles  # by word; empty if all are 1


class Accumulator:
    """Counts and sums per target, which grow with the targets."""

    def __init__(self, rows: Singles, windows: Windows, size: int, threads: int, counting: bool = True) -> None:
        self.rows = rows
        self.windows = windows
        self._blocks = dimension_blocks(rows.shape[1], threads)
        self._start(np.zeros((0, rows.shape[1])), size)
        self.counts = np.zeros((size, len(COUNTS)))  # a row a target, as float64, which counts exactly to 2⁵³
        # One thread for each block of dimensions, and one that counts; each takes the blocks of text in order, and
        # none waits for another.
        self._counting = counting
        workers = len(self._blocks) + counting if threads > 1 else 1
        self._workers = [ThreadPoolExecutor(1, thread_name_prefix="alacarte-sums") for _ in range(workers)]
        self._pending: deque[tuple[list[Future[None]], Any]] = deque()
        self._in_hand = IN_HAND if threads > 1 else 0
        self._failed = False
        # Ctrl-C reaches the main thread only. One other thread hands blocks out and notes which are added, so that
        # after `close` the note is true, whenever the main thread was interrupted.
        self._adder = ThreadPoolExecutor(1, thread_name_prefix="alacarte-adder")
        self.note: Any = None

    def add(self, work: Work, size: int, note: Any = None) -> None:
        """Add one block, now or soon; `size` is how many targets there are by now, `note` what is true then."""
        self._adder.submit(self._hand_out, work, size, note).result()

    def wait(self) -> None:
        """Until all is added."""
        self._adder.submit(self._settle, 0).result()

    def _hand_out(self, work: Work, size: int, note: Any) -> None:
        if size > len(self._sums):
            self._settle(0)
            self._make_room(size)
        tasks: list[Callable[[Work], None]] = []
        if len(work.matches):
            tasks = [partial(self._add, block=block) for block in self._blocks]
            tasks += [self._count] if self._counting else []
        if len(work.matches) < FEW and not self._pending:  # done sooner than handed out
            started = [_done(task, work) for task in tasks]
        else:
            started = [worker.submit(task, work) for worker, task in zip(cycle(self._workers), tasks, strict=False)]
        self._pending.append((started, note))
        self._settle(self._in_hand if len(work.matches) >= FEW else 0)

    def _settle(self, left: int) -> None:
        """Wait until no more than so many blocks are being added."""
        while len(self._pending) > left:
            tasks, note = self._pending.popleft()
            try:
                for task in tasks:
                    task.result()
            except BaseException:  # some dimensions have this block and others not
                self.note, self._failed = None, True
                raise
            if not self._failed:
                self.note = note

    def _add(self, work: Work, block: tuple[int, int]) -> None:
        how, corner = self.windows, self._sums.size + self._hot * block[0]
        add_windows(
            *work.where, self.rows, how.weights, how.left, how.right, how.uniform, how.mean, self._memory, *block,
            self._hot, corner,
        )  # fmt: skip

    def _count(self, work: Work) -> None:
        how = self.windows
        count_windows(*work.where, len(self.rows), how.weights, how.left, how.right, how.uniform, self.counts)

    def _start(self, sums: Doubles, size: int) -> None:
        """Room for the sums of so many targets, of which the first are given."""
        self._hot = min(size, HOT) if len(self._blocks) > 1 else 0
        dimension = self.rows.shape[1]
        length = (size + self._hot) * dimension
        memory = np.zeros(length + 8)
        shift = -memory.ctypes.data % 64 // 8  # to the beginning of a line of the cache
        self._memory = memory[shift : shift + length]
        self._sums = self._memory[: size * dimension].reshape(size, dimension)
        self._sums[: len(sums)] = sums
        for rows, corner in self._corners():
            corner[:] = rows

    def _corners(self) -> Iterator[tuple[Doubles, Doubles]]:
        """(part of the rows, corner) of each thread: the same sums, and the corner is where they grow."""
        for low, high in self._blocks if self._hot else ():
            begin = self._sums.size + self._hot * low
            corner = self._memory[begin : begin + self._hot * (high - low)]
            yield self._sums[: self._hot, low:high], corner.reshape(self._hot, high - low)

    @property
    def sums(self) -> Doubles:
        """A row a target, for when all is added: no copy."""
        for rows, corner in self._corners():
            rows[:] = corner
        return self._sums

    def _make_room(self, size: int) -> None:
        """Labels of spans turn up on the way: grow by doubling."""
        room = len(self._sums)
        more = max(size, 2 * room)
        self._start(self.sums, more)
        self.counts = np.concatenate([self.counts, np.zeros((more - room, len(COUNTS)))])

    def arrays(self, size: int) -> dict[str, npt.NDArray[Any]]:
        """The sums and the counts by name, for that many targets, when all is added; `restore` takes them back."""
        return {"sums": self.sums[:size], **counts_by_name(self.counts[:size])}

    def restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._start(arrays["sums"], len(arrays["sums"]))
        self.counts = np.column_stack([arrays[name].astype(np.float64) for name in COUNTS])

    def close(self) -> None:
        """Wait for what is being added, and let the threads go."""
        try:
            self.wait()
        finally:
            for pool in (self._adder, *self._workers):
                pool.shutdown()


def _done(task: Callable[[Work], None], work: Work) -> "Future[None]":
    result: Future[None] = Future()
    try:
        task(work)
        result.set_result(None)
    except BaseException as error:
        result.set_exception(error)
    return result


def counts_by_name(counts: Doubles) -> dict[str, npt.NDArray[Any]]:
    """The columns of the counts; all but the total weight are whole numbers."""
    kinds = (np.int64, np.int64, np.int64, np.float64)
    return {name: counts[:, place].astype(kinds[place]) for place, name in enumerate(COUNTS)}


def dimension_blocks(dimension: int, threads: int) -> list[tuple[int, int]]:
    """Share the dimensions out in whole cache lines of float32."""
    lines = -(-dimension // 16)
    threads = max(1, min(threads, lines))
    edges = [min(dimension, 16 * (lines * i // threads)) for i in range(threads + 1)]
    return [(low, high) for low, high in pairwise(edges) if low < high]
