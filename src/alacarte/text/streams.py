"""Open files, archive members and standard input as plain (decompressed) bytes."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from alacarte._io.decoding import in_words
from alacarte._io.files import compression, decompressed
from alacarte._io.urls import Location, locate
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus

BUFFER = 1 << 18  # bytes
LARGEST_WHOLE = 1 << 30  # bytes of a file that is read at once
Buffered: TypeAlias = "io.BufferedReader[Any]"


@dataclass(slots=True)
class Stream:
    """An open file, archive member or standard input, as plain (decompressed) bytes."""

    name: str  # for messages and for the format by ending
    file: BinaryIO
    position: Callable[[], int]  # bytes of the input consumed so far, as they lie on disk
    location: Location | None = None  # of a file that is stored just as it is read


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what decompressors and disks raise into a `BadCorpus` that names the file."""
    try:
        yield
    except (AlacarteError, AlacarteWarning):
        raise
    except Exception as error:
        raise BadCorpus(
            f"{name} cannot be read to its end ({in_words(error)}): it is damaged or was cut "
            "off; copy or download it again"
        ) from error


def find(file: Path | Location) -> Location:
    """Return a file that was found before with the size and version that it has now."""
    try:
        return locate(file if isinstance(file, Path) or file.path is None else file.path, BadCorpus)
    except FileNotFoundError:
        raise BadCorpus(f"no such file: {file}; it was there before, or a link to it was") from None
    except OSError as error:
        raise _not_opened(str(file), error) from error


def is_pipe(location: Location) -> bool:
    """Whether a file on disk is one that can be read only once, such as a named pipe."""
    return location.path is not None and location.path.exists() and not location.path.is_file()


def open_location(location: Location, start: int = 0) -> io.RawIOBase:
    """Open a file at a byte; `BadCorpus` if that cannot be done."""
    try:
        return location.open(start).detach()
    except OSError as error:
        raise _not_opened(location.name, error) from error


def _not_opened(name: str, error: OSError) -> BadCorpus:
    return BadCorpus(f"{name} cannot be opened: {error.strerror}; check that it is a readable file")


def decompressed_stream(name: str, buffered: Buffered, position: Callable[[], int]) -> Stream:
    """Return what a file holds, decompressed if its first bytes are those of a compressed one."""
    with reading(name):
        kind = compression(buffered.peek(8))
        return Stream(name, decompressed(cast("BinaryIO", buffered), kind), position)


def read_whole(stream: Stream) -> bytes:
    """Return all bytes of a stream, up to a limit that no file of its kind reaches."""
    with reading(stream.name):
        data = stream.file.read(LARGEST_WHOLE + 1)
    if len(data) > LARGEST_WHOLE:
        raise BadCorpus(
            f"{stream.name} holds more than {LARGEST_WHOLE >> 30} GiB in one piece; split it into several files"
        )
    return data


class Counted(io.RawIOBase):
    """Counts the bytes that go through: a pipe cannot tell its position, and a file may shrink while it is read."""

    def __init__(self, raw: io.RawIOBase, expected: int = 0) -> None:
        self.raw = raw
        self.count = 0
        self.expected = expected

    def readable(self) -> bool:
        """Return True, as for every stream that is read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read into a buffer."""
        count = self.raw.readinto(buffer) or 0
        self.count += count
        if not count and self.count < self.expected:  # its new end would pass for the end of the text
            raise OSError("it shrank while it was read")
        return count
