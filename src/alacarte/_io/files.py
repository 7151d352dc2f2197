"""Files and folders: written completely or not at all, held by one process at a time, read through compression."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import secrets
import shutil
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, cast

from alacarte._io.uploads import upload_target
from alacarte._io.urls import local_path, url_of
from alacarte.errors import AlacarteError, DiskFull, NoFolder, require

fcntl: ModuleType | None
try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

COMPRESSION_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
# Frames without text, as of pzstd.
COMPRESSION_MAGIC |= {bytes([byte]) + b"\x2a\x4d\x18": "zst" for byte in range(0x50, 0x60)}
PART = ".alacarte-part"  # ends the name of a file that is being written
LOCK = ".alacarte-lock"
LONGEST_NAME = 40  # characters of a file's name that are in the names of its temporary files
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")
SUFFIXES = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}


def compression(head: bytes) -> str | None:
    r"""Which compression the first bytes of a file show, by content and not by name.

    >>> compression(b"\x1f\x8b rest"), compression(b"plain text")
    ('gz', None)
    """
    return next((name for magic, name in COMPRESSION_MAGIC.items() if head.startswith(magic)), None)


def decompressed(raw: BinaryIO, kind: str | None) -> BinaryIO:
    """Return a stream of the plain bytes behind `raw`, which must be at its start."""
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
            # Few bytes at a time: four of them may decompress to 128 KiB.
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
def atomic_write(path: str | os.PathLike[str], size: int | None = None) -> Iterator[BinaryIO]:
    """Write a file completely or not at all: a temporary file beside it, then a rename.

    A symbolic link is followed, and a file that is replaced hands on its mode and owner. Devices, pipes and open
    descriptors (`/dev/stdout`) are written to and never replaced. Behind a URL, a file is uploaded when it is whole.
    `size` is how many bytes there will be, where that is known, for the message of a full disk (`DiskFull`).

    The temporary file is locked while it is written. So the next writer of the same path
    knows one that a killed process left behind from one that is still being written, and removes it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    if url_of(path) is not None:
        with upload_target(path) as target, atomic_write(target, size) as file:
            yield file
        return
    stream = _open_stream(path)
    if stream is not None:
        try:
            with stream:
                yield stream
        except OSError as error:
            error.filename = error.filename or os.fspath(path)
            raise
        return
    target = Path(os.path.realpath(path))
    remove_leftovers(target)
    file = _temporary_file(target, path)
    temporary = Path(file.name)
    try:
        yield file
        file.flush()
        os.fsync(file.fileno())
        _take_place(file, target)
    except BaseException as error:
        with suppress(OSError):  # what it still holds finds no room either
            file.close()
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL and not isinstance(error, DiskFull):
            raise _disk_full(path, target, error, size) from error
        raise


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a device, a pipe or an open descriptor, which are written to and never replaced."""
    if DESCRIPTOR.fullmatch(Path(path).as_posix()):
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _open_stream(path: str | os.PathLike[str]) -> BinaryIO | None:
    if not is_stream(path):
        return None
    descriptor = DESCRIPTOR.fullmatch(Path(path).as_posix())
    if descriptor is None:
        return Path(path).open("wb")
    sys.stdout.flush()
    number = {"stdout": 1, "stderr": 2}.get(descriptor[1]) or int(descriptor[2])
    return os.fdopen(os.dup(number), "wb")  # at its present position: at its end where it appends


def _temporary_file(target: Path, path: str | os.PathLike[str]) -> BinaryIO:
    """Return a new locked file beside the target, readable by whoever may read the one that it is to replace."""
    if not target.parent.is_dir():
        folder = target.parent if Path(path).is_symlink() else Path(path).parent
        raise NoFolder(f"{path}: there is no folder {folder}; make it with `mkdir -p {folder}`")
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{os.strerror(errno.EISDIR)}; name a file in it")
        before = target.stat() if target.exists() else None
        if before is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = 0o666 if before is None else 0o600  # at first: nobody else reads a file that may be private
        while True:
            name = target.with_name(f".{target.name[:LONGEST_NAME]}.{secrets.token_hex(8)}{PART}")
            file = open(name, "xb", opener=lambda at, flags: os.open(at, flags, mode))  # noqa: SIM115
            _lock_file(file, wait=True)
            if name.exists():  # and was not taken for a leftover before it was locked
                break
            file.close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    if before is not None:
        keep_owner_and_mode(Path(file.name), before)
    return file


def keep_owner_and_mode(path: Path, before: os.stat_result) -> None:
    """Give a file or folder the mode of another, and its owner where the system allows."""
    if hasattr(os, "chown"):
        for owner in ((before.st_uid, before.st_gid), (-1, before.st_gid)):
            with suppress(OSError):  # only root gives files away
                os.chown(path, *owner)
                break
    path.chmod(before.st_mode & 0o777)


def _take_place(file: BinaryIO, target: Path) -> None:
    """Give a complete temporary file its name; it stays locked until then (not on Windows)."""
    if os.name == "nt":
        file.close()
    Path(file.name).replace(target)
    file.close()
    with suppress(OSError):  # not every system can do this: after a power cut the name is the new file's, too
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _disk_full(path: str | os.PathLike[str], target: Path, error: OSError, size: int | None) -> DiskFull:
    need = "more" if size is None else amount(size)
    try:
        free = f"{amount(shutil.disk_usage(target.parent).free)} are free in {target.parent}"
    except OSError:
        free = f"{target.parent} has less"
    kept = "the file that was there before is intact" if target.exists() else "nothing was written"
    reason = f"{error.strerror}: it needs {need}, and {free}"
    return DiskFull(
        f"{path} cannot be written ({reason}); {kept}. Make room or choose another folder", error.errno or 0, reason
    )


def amount(size: int) -> str:
    """Return a number of bytes, for people.

    >>> amount(512), amount(1_234_567)
    ('512 bytes', '1.2 MB')
    """
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1e6:,.1f} MB"


# ------------------------------------------------------------------------------------------- files left behind


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files of this path whose writers have ended; nothing else is touched.

    A writer holds a lock on its temporary file, and a lock ends with its process.
    """
    for name in leftovers(target):
        with suppress(OSError):
            if os.name == "nt":  # where a file that is open is not removed
                name.unlink()
                continue
            with name.open("r+b") as left:
                if _lock_file(left, wait=False) and os.path.samestat(os.fstat(left.fileno()), name.lstat()):
                    name.unlink()


def leftovers(target: Path) -> list[Path]:
    """Return the temporary files of all writers of a path, also of those that are still writing."""
    pattern = re.compile(rf"{re.escape(f'.{target.name[:LONGEST_NAME]}.')}[0-9a-f]{{16}}{PART}")
    try:
        return [file for file in target.parent.iterdir() if pattern.fullmatch(file.name) and not file.is_symlink()]
    except OSError:  # there is no such folder, or it cannot be listed
        return []


def _lock_file(file: BinaryIO, *, wait: bool) -> bool:
    """Take the lock of an open file; False if another process holds it, or the file system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


# ----------------------------------------------------------------------------------------------- names and locks


def is_same_file(one: str | os.PathLike[str], two: str | os.PathLike[str]) -> bool:
    """Whether two names lead to one file, by its identity: symbolic and hard links are seen through."""
    try:
        path, other = local_path(one), local_path(two)
        if path is None or other is None:
            return url_of(one) == url_of(two)
        return path.samefile(other)
    except (OSError, AlacarteError):  # one of them is not there, or no name of a file
        return False


@contextmanager
def lock(
    path: Path, error: type[AlacarteError] = AlacarteError, what: str = "file", wait: float = 0.1
) -> Iterator[None]:
    """Keep other processes that lock this path out, as from reading a file to writing it again.

    A lock ends with its process, however that ends. Raises `error` if another process holds the lock for `wait`
    seconds. `what` says in messages what the path is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "work"
    ...     with lock(path):
    ...         print([file.name for file in path.parent.iterdir()])
    ...     print([file.name for file in path.parent.iterdir()])
    ['.work.alacarte-lock']
    []
    """
    file = path.with_name(f".{path.name}{LOCK}")
    last = time.monotonic() + wait
    try:
        while (held := _locked(file)) is None:
            if time.monotonic() > last:
                raise error(f"{path}: another process is working with this {what}; wait for it or choose another")
            time.sleep(0.01)
    except OSError as problem:
        reason = problem.strerror if path.parent.is_dir() else "no such folder"
        raise error(f"{path}: no {what} can be written there ({reason}); choose another {what}") from None
    try:
        yield
    finally:
        with held, suppress(OSError):  # Windows does not remove an open file
            file.unlink()  # while it is held: whoever waits for it sees that the file is gone, and takes a new one


def _locked(path: Path) -> BinaryIO | None:
    """Return a file that is locked until it is closed; None if another process, or another part of this one, has it."""
    file = path.open("ab")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        if os.fstat(file.fileno()).st_ino == path.stat().st_ino:  # and not one that its holder has just removed
            return file
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except OSError:
        file.close()
        raise
    file.close()
    return None


def cache_folder() -> Path:
    """Return where copies that can be made again are kept: `$XDG_CACHE_HOME/alacarte`, or `~/.cache/alacarte`."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def data_folder() -> Path:
    """Return where a user's own files are kept: `$XDG_DATA_HOME/alacarte`, or `~/.local/share/alacarte`."""
    return _user_folder("XDG_DATA_HOME", ".local/share")


def _user_folder(variable: str, usual: str) -> Path:
    given = os.environ.get(variable)
    try:
        folder = Path(given) if given else Path.home() / usual
    except RuntimeError:  # a user without an entry in the system's list of users, as in some containers
        raise FileNotFoundError(f"this user has no home folder; let {variable} name a folder for files") from None
    return folder / "alacarte"
