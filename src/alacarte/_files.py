"""Files: atomic writes, and reading that looks through compression."""

import bz2
import gzip
import io
import lzma
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from alacarte.errors import require

MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
SUFFIXES = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}


def compression(head: bytes) -> str | None:
    """Which compression the first bytes of a file show, by content and not by name.

    >>> compression(b"\\x1f\\x8b rest"), compression(b"plain text")
    ('gz', None)
    """
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def decompressed(raw: BinaryIO, kind: str | None) -> BinaryIO:
    """A stream of the plain bytes behind `raw`, which must stand at its start."""
    if kind is None:
        return raw
    if kind == "gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if kind == "bz2":
        return cast(BinaryIO, bz2.BZ2File(raw))
    if kind == "xz":
        return cast(BinaryIO, lzma.LZMAFile(raw))
    zstandard = require("zstandard", extra="zst", purpose="reading .zst files")
    reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return cast(BinaryIO, io.BufferedReader(reader))


# What the decompressors raise on a damaged or cut-off stream.
DAMAGED: tuple[type[Exception], ...] = (EOFError, OSError, lzma.LZMAError)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file completely or not at all: a temporary file beside it, then a rename.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _new_file_mode())  # noqa: PTH101
        os.replace(name, target)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _new_file_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
