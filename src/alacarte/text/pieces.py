"""Pieces of files, for several processes or machines to read: cut so that their blocks are those of the whole file.

Block k of a plain text begins at the first line's start from byte k · size on (`alacarte.text.sources.line_blocks`). So
a file that is cut at multiples of the block size can be read by anybody in any order, and the blocks, and with them the
units of text, are the same as those of one reader of the whole file. Everything else (compressed files, archives,
tables, text in other encodings) is a piece as a whole.
"""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO, cast

from alacarte._io.remote import Location, locate
from alacarte.errors import BadCorpus
from alacarte.text.sources import (
    LONGEST,
    File,
    Stream,
    byte_order_mark,
    file_streams,
    find,
    line_blocks,
    reading,
)

STEP = 1 << 16  # bytes read at a time to find the end of a line


@dataclass(frozen=True, slots=True)
class Piece:
    """The lines of a file that begin in [start, stop); `size` and `version` are those of the whole file."""

    path: str
    start: int
    stop: int
    size: int
    version: str

    @property
    def whole(self) -> bool:
        """Whether this is all of the file."""
        return (self.start, self.stop) == (0, self.size)

    def location(self) -> Location:
        """The file, as it is now."""
        try:
            return locate(self.path, BadCorpus)
        except OSError as error:
            raise BadCorpus(
                f"{self.path} cannot be read: {error.strerror}; is its disk there on this machine?"
            ) from None

    def check(self) -> None:
        """Raise `BadCorpus` if the file is no longer the one that was cut."""
        now = self.location()
        if (now.size, now.version) != (self.size, self.version):
            raise BadCorpus(
                f"{self.path} was changed after the work was planned; restore it, or plan again in another folder"
            )

    def check_block_size(self, block_size: int) -> None:
        """Raise `BadCorpus` if blocks of this size are not those of the whole file."""
        size = grid(block_size)
        if self.start % size or (self.stop % size and self.stop != self.size):
            raise BadCorpus(f"{self.path} was cut for blocks of another size than {block_size} bytes; cut it again")


def whole_file(file: File) -> Piece:
    """A file as one piece, under its full path or its URL (without secrets, which do not go into files)."""
    location = find(file)
    name = location.name if location.path is None else os.path.abspath(location.path)  # noqa: PTH100 (links stay)
    return Piece(name, 0, location.size, location.size, location.version)


def is_plain(path: str) -> bool:
    """Whether the bytes of a file are text as it stands: not compressed, and no archive."""
    streams = file_streams(locate(path, BadCorpus))
    try:
        return all(stream.location is not None for stream in (next(streams),))
    except StopIteration:  # an archive without members
        return False
    finally:
        streams.close()  # type: ignore[attr-defined]


def grid(block_size: int) -> int:
    """What the places to cut a file for blocks of this size are multiples of."""
    return min(block_size, LONGEST)


def cut(whole: Piece, places: list[int], block_size: int) -> list[Piece]:
    """A piece that is a whole file, cut near some places.

    >>> [(piece.start, piece.stop) for piece in cut(Piece("a.txt", 0, 100, 100, ""), [33, 34, 66], 10)]
    [(0, 30), (30, 70), (70, 100)]
    """
    step = grid(block_size)
    rounded = sorted({(place + step // 2) // step * step for place in places})
    bounds = [0, *(place for place in rounded if 0 < place < whole.size), whole.size]
    return [Piece(whole.path, low, high, whole.size, whole.version) for low, high in pairwise(bounds)]


def piece_blocks(piece: Piece, block_size: int) -> Iterator[tuple[bytes, int, int]]:
    """The blocks that begin in a piece of plain UTF-8: (text, its first byte in the file, bytes of the piece read)."""
    size = grid(block_size)
    with (
        reading(piece.path),
        io.BufferedReader(cast("io.RawIOBase", piece.location().open(piece.start, until=piece.stop))) as file,
    ):
        begin = _first_line(file, piece.start, piece.stop)
        if begin >= piece.stop:
            return
        file.seek(begin)
        lines = cast("BinaryIO", _Lines(cast("BinaryIO", file), begin, piece.stop))
        for text, offset, _ in line_blocks(Stream(piece.path, lines, file.tell), size, start=begin):
            skip = byte_order_mark(piece.path, text) if offset == 0 else 0
            yield text[skip:], offset + skip, min(offset + len(text), piece.stop) - piece.start


def _first_line(file: BinaryIO, start: int, stop: int) -> int:
    """Where the first line begins from `start` on; `stop` if none does before it."""
    if start == 0:
        return 0
    place = start - 1
    file.seek(place)
    while place < stop:
        data = file.read(STEP)
        end = data.find(b"\n")
        if end >= 0:
            return min(place + end + 1, stop)
        if not data:
            break
        place += len(data)
    return stop


class _Lines:
    """Bytes from the beginning of a line on, to the end of the line that is under way at `stop`.

    Reads end at multiples of the block size in the file, as those of somebody who reads it from its beginning.
    """

    def __init__(self, file: BinaryIO, position: int, stop: int) -> None:
        self._file, self._position, self._stop = file, position, stop
        self._ended = False

    def read(self, size: int) -> bytes:
        if self._ended:
            return b""
        left = self._stop - self._position
        data = self._file.read(min(size - self._position % size, left if left > 0 else size))
        if self._position >= self._stop:
            end = data.find(b"\n") + 1
            data, self._ended = data[: end or None], end > 0
        elif self._position + len(data) >= self._stop:
            self._ended = data.endswith(b"\n")
        self._position += len(data)
        return data
