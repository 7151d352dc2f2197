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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, cast

from alacarte._io.remote import url_of
from alacarte._io.uploads import uploaded
from alacarte.errors import AlacarteError, DiskFull, NoFolder, require

fcntl: ModuleType | None
try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
MAGIC |= {bytes([byte]) + b"\x2a\x4d\x18": "zst" for byte in range(0x50, 0x60)}  # frames without text, as of pzstd
PART = ".alacarte-part"  # ends the name of a file that is being written
NEW = ".alacarte-new"  # stands in the name of a complete one that waits for its main file
LOCK = ".alacarte-lock"
LONGEST_NAME = 40  # characters of a file's name that stand in the names of its temporary files
WAIT = 60.0  # seconds for another process that writes the same files
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")
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
def atomic_write(path: str | os.PathLike[str], size: int | None = None) -> Iterator[BinaryIO]:
    """Write a file completely or not at all: a temporary file beside it, then a rename.

    A symbolic link is followed, and a file that is replaced hands on its mode and owner. Devices, pipes and open
    descriptors (`/dev/stdout`) are written to and never replaced. Behind a URL, a file is uploaded when it is whole.
    `size` is how many bytes there will be, where that is known, for the message of a full disk (`DiskFull`).

    The temporary file is locked while it is written. So one that a killed process left behind is told from one that
    is still being written, and the next writer of the same path removes it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    if url_of(path) is not None:
        with uploaded(path) as target, atomic_write(target, size) as file:
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
    written = 0
    try:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            written = os.fstat(file.fileno()).st_size
            raise
        _take_place(file, target)
    except BaseException as error:
        with suppress(OSError):  # what it still holds finds no room either
            file.close()
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL and not isinstance(error, DiskFull):
            raise _disk_full(Path(path), target, error, written, size) from error
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
    return os.fdopen(os.dup(number), "wb")  # as it stands, at its end where it appends


def _temporary_file(target: Path, path: str | os.PathLike[str]) -> BinaryIO:
    """A new file beside the target, open and locked; readable by whoever may read the one that it is to replace."""
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
            name = target.with_name(f"{_beginning(target.name)}{secrets.token_hex(8)}{PART}")
            file = open(name, "xb", opener=lambda at, flags: os.open(at, flags, mode))  # noqa: SIM115
            _lock_file(file, wait=True)
            if name.exists():  # and was not taken for a leftover before it was locked
                break
            file.close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    if before is not None:
        _keep_owner_and_mode(Path(file.name), before)
    return file


def _keep_owner_and_mode(path: Path, before: os.stat_result) -> None:
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


def _disk_full(path: Path, target: Path, error: OSError, written: int, size: int | None) -> DiskFull:
    need = amount(size) if size is not None else f"more than {amount(written)}" if written else "more"
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
    """A number of bytes, for people.

    >>> amount(512), amount(1_234_567)
    ('512 bytes', '1.2 MB')
    """
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1e6:,.1f} MB"


# ------------------------------------------------------------------------------------- what killed processes leave


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files of writers of this path that are no more; nothing else is touched.

    A writer holds a lock on its temporary file, and a lock ends with its process.
    """
    for name in _files_named(target.parent, rf"{re.escape(_beginning(target.name))}[0-9a-f]{{16}}{PART}"):
        with suppress(OSError):
            if os.name == "nt":  # where a file that is open is not removed
                name.unlink()
                continue
            with name.open("r+b") as left:
                if _lock_file(left, wait=False) and os.path.samestat(os.fstat(left.fileno()), name.lstat()):
                    name.unlink()


def is_leftover(name: str) -> bool:
    """Whether a file has the name of one that this package makes for a while.

    >>> is_leftover(f".model.json.{'0' * 16}.alacarte-part"), is_leftover(".model.json"), is_leftover("a.lock")
    (True, False, False)
    """
    return re.fullmatch(rf"\..+\.[0-9a-f]{{16}}{PART}|\.[0-9a-f]{{16}}{NEW}\..+|\..+{LOCK}", name) is not None


def _beginning(name: str) -> str:
    """How the names of the temporary files of a file begin; a companion's do before it has its own name, too."""
    hidden = re.fullmatch(rf"\.[0-9a-f]{{16}}{NEW}\.(.+)", name)
    return f".{(hidden[1] if hidden else name)[:LONGEST_NAME]}."


def _files_named(folder: Path, pattern: str) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            named = [item for item in entries if re.fullmatch(pattern, item.name)]
            return [Path(item.path) for item in named if item.is_file(follow_symlinks=False)]
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


# -------------------------------------------------------------------------------- several files that belong together


class Companions:
    """Files beside a main file, which change together with it: readers see all the old ones or all the new ones.

    New companions are written under hidden names that hold a `generation`, 16 random digits. The main file, which
    names the generation, takes its place next, and at this moment all of the new ones hold. Only then do they get
    their own names; a reader who comes before that finds them under the hidden ones (`companion`). One process at a
    time writes; what is left of a process that was killed is finished or removed by the next one.
    """

    def __init__(self, main: Path, names: Iterable[str], generation_of: Callable[[Path], str | None]) -> None:
        self.main, self.names, self.generation_of = main, tuple(names), generation_of
        self.generation = secrets.token_hex(8)

    def path(self, name: str) -> Path:
        """Where to write a companion."""
        assert name in self.names
        return hidden_companion(self.main.with_name(name), self.generation)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within this, write the companions to `path(name)`, then the main file, which names the `generation`."""
        with lock(self.main, AlacarteError, wait=WAIT):
            self._settle()
            try:
                yield
            finally:
                self._settle()

    def _settle(self) -> None:
        """Let the companions of the main file's generation take their places; remove those of any other."""
        generation = self.generation_of(self.main)
        for name in self.names:
            place = self.main.with_name(name)
            remove_leftovers(place)
            for hidden in _files_named(place.parent, rf"\.[0-9a-f]{{16}}{NEW}\.{re.escape(name)}"):
                if generation is None or hidden != hidden_companion(place, generation):
                    hidden.unlink(missing_ok=True)
                    continue
                if place.is_file():
                    _keep_owner_and_mode(hidden, place.stat())
                hidden.replace(place)


def hidden_companion(place: Path, generation: str) -> Path:
    """Where a companion stands until it has its own name; the ending, by which some formats are told, is the same."""
    return place.with_name(f".{generation}{NEW}.{place.name}")


def is_same_file(one: str | os.PathLike[str], two: str | os.PathLike[str]) -> bool:
    """Whether two names lead to one file, by its identity: symbolic and hard links are seen through."""
    urls = url_of(one), url_of(two)
    if any(urls):
        return urls[0] == urls[1]
    try:
        return Path(one).samefile(two)
    except (OSError, ValueError):  # one of them is not there, or no path at all
        return False


def absolute(source: str | None) -> str | None:
    """A path that holds in any folder; a name or a URL stays as it is."""
    return os.path.abspath(source) if source is not None and Path(source).exists() else source  # noqa: PTH100


@contextmanager
def lock(path: Path, error: type[AlacarteError], what: str = "file", wait: float = 0.1) -> Iterator[None]:
    """Keep other processes that lock this path out; a lock ends with its process, however that ends.

    Raises `error` if another process holds the lock for `wait` seconds. `what` says in messages what the path is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "work"
    ...     with lock(path, AlacarteError):
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
    """A file that is locked until it is closed; None if another process, or another part of this one, has it."""
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
    """Where copies that can be made again are kept: `$XDG_CACHE_HOME/alacarte`, or `~/.cache/alacarte`."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def data_folder() -> Path:
    """Where what a user made is kept: `$XDG_DATA_HOME/alacarte`, or `~/.local/share/alacarte`."""
    return _user_folder("XDG_DATA_HOME", ".local/share")


def _user_folder(variable: str, usual: str) -> Path:
    given = os.environ.get(variable)
    try:
        folder = Path(given) if given else Path.home() / usual
    except RuntimeError:  # a user without an entry in the system's list of users, as in some containers
        raise FileNotFoundError(f"this user has no home folder; let {variable} name a folder for files") from None
    return folder / "alacarte"
