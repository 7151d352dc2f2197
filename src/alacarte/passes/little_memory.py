"""Sums that do not fit in memory: ids and matches are kept in a file, and summed some dimensions at a time, in passes.

Text is tokenised once, and the bits are the same, since the dimensions do not depend on each other.

The sums lie in a file, too. Without a checkpoint both files have no name, so that their space is given back when the
arrays are gone; with one they lie beside it, and a pass that was cut off begins again with its first dimension.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError
from alacarte.passes.accumulate import COUNTS, Accumulator, Windows, Work, counts_by_name
from alacarte.targets.sequences import Matches

Arrays = dict[str, npt.NDArray[Any]]
Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Mapped = np.memmap[Any, np.dtype[np.float64]]
ROWS = 65536  # of sums that are written at a time


def sum_in_passes(
    works: Iterable[Work], rows: Singles, windows: Windows, count: Callable[[], int], threads: int, room: int
) -> Arrays:
    """Sums and counts by name, with at most `room` bytes of sums in memory.

    `count` tells how many targets there are: labels of spans turn up while `works` are made.
    """
    folder = Path(tempfile.gettempdir())
    dimensions_at_a_time(count(), rows.shape[1], room)  # better refused before the text is read than after
    with tempfile.TemporaryFile(dir=folder) as kept:
        for work in works:
            with disk_space(folder):
                keep(kept, work)
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (the memory map keeps it open)
        with disk_space(folder):
            sums = allocate(file, count(), rows.shape[1])
        counts = np.zeros((count(), len(COUNTS)))
        for _ in sum_dimensions(kept, rows, windows, threads, room, sums, counts):
            pass
    return {"sums": sums, **counts_by_name(counts)}


def sum_dimensions(
    kept: IO[bytes],
    rows: Singles,
    windows: Windows,
    threads: int,
    room: int,
    sums: Doubles,
    counts: Doubles,
    first: int = 0,
) -> Iterator[int]:
    """Fill the sums from dimension `first` on, and the counts with dimension 0; yields how many dimensions are done."""
    size, dimension = sums.shape
    width = dimensions_at_a_time(size, dimension, room)
    for low in range(first, dimension, width):
        high = min(dimension, low + width)
        part = np.ascontiguousarray(rows[:, low:high])
        part.flags.writeable = False  # one type of array for the compiler
        accumulator = Accumulator(part, windows, size, threads, counting=low == 0)
        try:
            kept.seek(0)
            for work in _read(kept):
                accumulator.add(work, size)
        finally:
            accumulator.close()
        made = accumulator.sums
        for begin in range(0, size, ROWS):
            sums[begin : begin + ROWS, low:high] = made[begin : begin + ROWS]
        if low == 0:
            counts[:] = accumulator.counts
        yield high


def dimensions_at_a_time(size: int, dimension: int, room: int) -> int:
    width = room // (8 * max(size, 1))
    if width < 1:
        raise AlacarteError(
            f"not even one dimension of the sums of {size:,} targets fits in {room / 1e6:,.0f} MB; "
            "give more memory, or embed the targets in several runs"
        )
    return min(dimension, width - width % 16 if width >= 16 else width)


# ------------------------------------------------------------------------------------------------- the files


@contextmanager
def disk_space(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AlacarteError(
            f"sums that do not fit in memory are kept in {folder}, where they cannot be written ({error.strerror}); "
            "make room there, or let TMPDIR (with a checkpoint, its name) lead to another folder"
        ) from error


def allocate(file: IO[bytes], size: int, dimension: int) -> Mapped:
    """Zeros in a file, which takes the space at once: a disk found full later would end the process."""
    length = max(1, size) * dimension * 8
    os.truncate(file.fileno(), 0)
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, length)
    else:
        os.truncate(file.fileno(), length)
    return mapped(file, size, dimension)


def mapped(file: IO[bytes], size: int, dimension: int, mode: Literal["r+", "c"] = "r+") -> Mapped:
    """What is in the file, to be written there too or (c) only in memory."""
    sums: Mapped = np.memmap(file, dtype=np.float64, mode=mode, shape=(max(1, size), dimension))
    return sums[:size]  # type: ignore[return-value] # which is one, too


def opened(path: Path) -> IO[bytes]:
    """For reading and writing, where it stands; made if it is not there."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b")


def on_disk(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def keep(file: IO[bytes], work: Work) -> None:
    """Write what `sum_dimensions` will read, behind what is there."""
    amounts = np.array([work.documents, work.tokens_read, work.tokens_known])
    for array in (*work.where, amounts):
        np.save(file, array)


def _read(file: IO[bytes]) -> Iterator[Work]:
    while True:
        try:
            ids, offsets, bounds, starts, ends, targets, amounts = (np.load(file) for _ in range(7))
        except EOFError:
            return
        yield Work(ids, offsets, bounds, Matches(starts, ends, targets), *(int(n) for n in amounts))
