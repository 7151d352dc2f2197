"""Files: atomic writes, and reading that looks through compression."""

import bz2
import gzip
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, cast

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
    return cast(BinaryIO, io.BufferedReader(_ZstdStream(raw, zstandard)))


# What the decompressors raise on a damaged or cut-off stream.
DAMAGED: tuple[type[Exception], ...] = (EOFError, OSError, lzma.LZMAError, zlib.error)


class _ZstdStream(io.RawIOBase):
    """The reader that zstandard brings ends quietly where a file is cut off; this one raises."""

    def __init__(self, raw: BinaryIO, zstandard: ModuleType) -> None:
        self._raw = raw
        self._zstandard = zstandard
        self._frame: Any = None
        self._spare = b""  # compressed bytes that belong to the next frame
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._spare or self._raw.read(1 << 14)
            if not chunk:
                if self._frame is not None:
                    raise EOFError("the zstd stream is cut off")
                return 0
            if self._frame is None:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            try:
                self._ready = memoryview(self._frame.decompress(chunk))
            except self._zstandard.ZstdError as error:
                raise OSError(str(error)) from error
            self._spare = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


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
