"""How much memory a pass may take, and what to do when its sums do not fit."""

import ctypes
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from alacarte._io.files import amount
from alacarte.errors import AlacarteError

AMOUNT = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
PREFIXES = ("", "k", "m", "g", "t")


def parse_size(size: int | str) -> int:
    """Return the bytes that a number or a text such as "4GB", "4GiB" or "500M" means.

    >>> parse_size("1.5GB"), parse_size("4GiB") == 4 << 30, parse_size("500m"), parse_size(7)
    (1500000000, True, 500000000, 7)
    """
    written = AMOUNT.fullmatch(str(size).strip())
    amount = 0
    if written is not None and (written[2] or not written[3]):
        base = 1024 if written[3] else 1000
        with suppress(ValueError, OverflowError):
            amount = int(float(written[1]) * base ** PREFIXES.index(written[2].lower()))
    if amount < 1:
        raise AlacarteError(f"{size!r} is no amount of memory; write it as 4GB or 500MB, or with powers of two as 4GiB")
    return amount


def room_for_sums(memory: int | str, others: int) -> int:
    """Return what a limit leaves for sums, after `others` bytes for the program, vectors and the text under way."""
    limit = parse_size(memory)
    if limit <= others:
        raise AlacarteError(
            f"{limit / 1e9:.2f} GB of memory do not even hold the program, the vectors and the text under way "
            f"({others / 1e9:.2f} GB); give more, or read fewer vectors (limit)"
        )
    return limit - others


def return_free_memory() -> None:
    """Give the system what was freed and is kept for later use, where the C library (glibc) has a function for it."""
    if os.name == "posix":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def scratch_file(shape: tuple[int, int], dtype: npt.DTypeLike = np.int64) -> "np.memmap[Any, np.dtype[Any]]":
    """Return zeros in a file without a name, whose space is given back when the array is gone."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the memory map keeps it open)
    with disk_space(Path(tempfile.gettempdir()), np.dtype(dtype).itemsize * shape[0] * shape[1]):
        allocate(file, np.dtype(dtype).itemsize * shape[0] * shape[1])
    return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def allocate(file: IO[bytes], length: int) -> None:
    """Take the space at once: a disk found full later, through a memory map, would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, max(1, length))
    else:
        os.truncate(file.fileno(), max(1, length))


@contextmanager
def disk_space(place: Path, size: int | None = None) -> Iterator[None]:
    """Say in one error what could not be written to a file, or in a folder under no name; `size` is its length."""
    try:
        yield
    except OSError as error:
        need = "" if size is None else f": it needs {amount(size)}"
        free = amount(shutil.disk_usage(place if place.is_dir() else place.absolute().parent).free)
        raise AlacarteError(
            f"what does not fit in memory is kept in {place}, where it cannot be written ({error.strerror}{need}, and "
            f"{free} are free); make room there, or let TMPDIR (with a checkpoint, its name) lead to another folder"
        ) from error
