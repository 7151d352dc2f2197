"""Files and folders: written completely or not at all, held by one process at a time, read through compression."""

import bz2
import gzip
import io
import lzma
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, cast

from alacarte.errors import AlacarteError, require

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
    return cast(BinaryIO, io.BufferedReader(_ZstdStream(raw, zstandard), 1 << 20))


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
            # Few bytes at a time: each four of them may stand for 128 KiB.
            chunk = self._spare or self._raw.read(512)
            if not chunk:
                if self._frame is not None:
                    raise EOFError("the zstd stream is cut off")
                return 0
            if self._frame is None:
                # Windows up to 2 GiB: dumps made with `zstd --long=31` need them.
                self._frame = self._zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
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
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise unless a model may be saved here: nothing is there yet, or an empty folder, or an older model."""
    path = Path(folder)
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or (path / "model.json").is_file())):
        raise AlacarteError(f"{path}: exists and is not a saved model; choose another folder or remove it")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes its place, and that of an older one, when all is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        yield staging
        staging.chmod(0o777 & ~_umask())
        _replace_folder(staging, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def absolute(source: str | None) -> str | None:
    """A path that holds in any folder; a name stays a name."""
    return os.path.abspath(source) if source is not None and Path(source).exists() else source  # noqa: PTH100


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _replace_folder(new: Path, old: Path) -> None:
    """Put a finished folder in the place of another; the other goes only when this one is there."""
    if not old.exists():
        new.rename(old)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{old.name}.", suffix=".old", dir=old.parent))
    old.rename(aside / "old")
    try:
        new.rename(old)
    except BaseException:
        (aside / "old").rename(old)
        raise
    shutil.rmtree(aside)


@contextmanager
def lock(path: Path, error: type[AlacarteError], what: str = "file") -> Iterator[None]:
    """Keep other processes that lock this path out; a lock ends with its process, however that ends.

    Raises `error` if another process holds the lock. `what` says in messages what the path is.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "work"
    ...     with lock(path, AlacarteError):
    ...         print([file.name for file in path.parent.iterdir()])
    ...     print([file.name for file in path.parent.iterdir()])
    ['work.lock']
    []
    """
    from filelock import FileLock, Timeout

    if not path.parent.is_dir():  # which filelock would make
        raise error(f"{path}: nothing can be written there (no such folder); choose another {what}")
    file = path.with_name(path.name + ".lock")
    held = FileLock(file, timeout=0.1)
    try:
        held.acquire()
    except Timeout:
        raise error(f"{path}: another process is working with this {what}; wait for it or choose another") from None
    except OSError as problem:
        raise error(f"{path}: nothing can be written there ({problem.strerror}); choose another {what}") from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows does not remove an open file
            file.unlink()  # while it is held: filelock sees that the file is gone, and takes a new one
        held.release()


def cache_folder() -> Path:
    """Where copies that can be made again are kept: `$XDG_CACHE_HOME/alacarte`, or `~/.cache/alacarte`."""
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # a user without an entry in the system's list of users, as in some containers
        raise FileNotFoundError("this user has no home folder; let XDG_CACHE_HOME name a folder for copies") from None
    return folder / "alacarte"
