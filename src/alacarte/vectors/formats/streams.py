"""Vector files as streams of plain bytes, whatever compresses them, with a progress bar for long ones."""

import bz2
import gzip
import lzma
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from alacarte._io.files import DAMAGED, SUFFIXES, atomic_write, compression, decompressed
from alacarte._io.progress import progress
from alacarte.errors import BadVectors, require

STREAM_BUFFER = 1 << 22  # bytes of a vector file


class Source:
    """The plain bytes of a file, read from its start.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a"
    ...     _ = file.write_bytes(gzip.compress(b"plain"))
    ...     with Source(file) as source:
    ...         print(source.compression, source.read(100))
    gz b'plain'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise BadVectors(f"{self.path} is a folder; pass the path of the vector file in it")
        if not self.path.exists():
            raise BadVectors(f"there is no file {self.path}; check the path")
        with ExitStack() as stack:
            self._raw = stack.enter_context(self.path.open("rb"))
            self._state = self._state_now()
            self.size = self._state[0]
            self.compression = compression(self._raw.read(16))
            self._raw.seek(0)
            self._plain = decompressed(self._raw, self.compression)
            self._bar = stack.enter_context(progress(self.size, "B", f"reading {self.path.name}"))
            self._stack = stack.pop_all()

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes; fewer at the end."""
        try:
            data = self._plain.read(size)
        except DAMAGED as error:
            if self.compression is None:
                raise
            raise BadVectors(f"{self.path} is damaged or cut off ({error}); download or copy it again") from error
        self._bar.update_to(self._raw.tell())
        return data

    def whole(self) -> bytes | mmap:
        """Return all bytes, mapped into memory unless the file is compressed."""
        if self.compression is None:
            return mmap(self._raw.fileno(), 0, access=ACCESS_READ)
        return b"".join(iter(lambda: self.read(STREAM_BUFFER), b""))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *args: object) -> None:
        state = self._state_now()
        self._stack.close()
        if kind is None and state != self._state:
            raise BadVectors(f"{self.path} was changed while it was read; wait for what writes it, then begin again")

    def _state_now(self) -> tuple[int, int]:
        facts = os.fstat(self._raw.fileno())
        return (facts.st_size, facts.st_mtime_ns) if stat.S_ISREG(facts.st_mode) else (0, 0)


@contextmanager
def uncompressed(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a file as it is; of a compressed one, that of an unpacked copy, which is removed at the end."""
    with Source(path) as source:
        if source.compression is None:
            yield Path(path)
            return
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / Path(path).name
            with plain.open("wb") as file:
                shutil.copyfileobj(cast("BinaryIO", source), file)
            yield plain


@contextmanager
def open_sink(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file to write plain bytes to; it is compressed as its name says, and complete or absent at the end."""
    kind = SUFFIXES.get(Path(path).suffix.lower())
    with atomic_write(path) as file:
        if kind is None:
            yield file
        else:
            with _compressor(file, kind) as plain:
                yield plain


def _compressor(file: BinaryIO, kind: str) -> Any:
    if kind == "gz":
        return gzip.GzipFile("", "wb", 6, file, mtime=0)  # no time in it: same vectors, same bytes
    if kind == "bz2":
        return bz2.BZ2File(file, "wb")
    if kind == "xz":
        return lzma.LZMAFile(file, "wb")
    zstandard = require("zstandard", extra="zst", purpose="writing .zst files")
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)


def plain_suffix(path: str | os.PathLike[str]) -> str:
    """Return the end of a file's name, without that of its compression.

    >>> plain_suffix("glove.TXT.gz")
    '.txt'
    """
    path = Path(path)
    if path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    return path.suffix.lower()
