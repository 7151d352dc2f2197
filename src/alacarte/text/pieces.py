"""Pieces of files, for several processes or machines to read: cut so that their blocks are those of the whole file.

Block k of a plain text begins at the first line's start from byte k · size on (`alacarte.text.sources.line_blocks`). So
a file that is cut at multiples of the block size can be read by anybody in any order, and the blocks, and with them the
units of text, are the same as those of one reader of the whole file. A compressed text is cut in the same way, by the
bytes of its plain text, if it consists of members that can be read by themselves (`alacarte.text.members`); a Parquet
file is cut between its row groups. Everything else (one stream of gzip, archives, other tables, text in other
encodings) is a piece as a whole.
"""

import io
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO, cast

from alacarte._io.files import compression, decompressed
from alacarte._io.remote import Location, locate
from alacarte.errors import BadCorpus
from alacarte.text.members import CannotCut, Place, member_places
from alacarte.text.records import row_groups
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
class Packed:
    """Where the text of a piece lies in a compressed file: the member that it begins in, and the one that it ends in.

    A reader compares the length of the plain text between the two beginnings with what they say about it.
    """

    size: int  # bytes of the file as it is stored
    begin: Place
    end: Place


@dataclass(frozen=True, slots=True)
class Piece:
    """The lines of a file that begin in [start, stop); `size` and `version` are those of the whole file.

    Of a compressed file that was cut (`packed`), start, stop and size count bytes of the plain text; of Parquet, the
    piece holds the row groups that begin there.
    """

    path: str
    start: int
    stop: int
    size: int
    version: str
    packed: Packed | None = None

    @property
    def whole(self) -> bool:
        """Whether this is all of the file."""
        return (self.start, self.stop) == (0, self.size)

    @property
    def stored_size(self) -> int:
        """Bytes of the whole file as it is stored."""
        return self.size if self.packed is None else self.packed.size

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
        if (now.size, now.version) != (self.stored_size, self.version):
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
    if location.path is None and location.address != location.name:
        raise BadCorpus(
            f"{location.name}: its URL holds a secret, which is not written into a plan; let every machine have the "
            "credentials in its environment, or download the file"
        )
    name = location.name if location.path is None else os.path.abspath(location.path)  # noqa: PTH100 (links stay)
    return Piece(name, 0, location.size, location.size, location.version)


def grid(block_size: int) -> int:
    """What the places to cut a file for blocks of this size are multiples of."""
    return min(block_size, LONGEST)


def cut(whole: Piece, places: list[int], block_size: int) -> list[Piece]:
    """A plain text, cut near some places.

    >>> [(piece.start, piece.stop) for piece in cut(Piece("a.txt", 0, 100, 100, ""), [33, 34, 66], 10)]
    [(0, 30), (30, 70), (70, 100)]
    """
    step = grid(block_size)
    return _cut_at(whole, [(place + step // 2) // step * step for place in places])


def _cut_at(whole: Piece, places: list[int]) -> list[Piece]:
    bounds = [0, *sorted({place for place in places if 0 < place < whole.size}), whole.size]
    return [Piece(whole.path, low, high, whole.size, whole.version) for low, high in pairwise(bounds)]


def cut_lines(whole: Piece, places: list[int], block_size: int) -> list[Piece]:
    """A file of lines, plain or compressed, cut near some of its bytes as it is stored.

    Raises `CannotCut`, which says why, if it cannot be cut.
    """
    location = locate(whole.path, BadCorpus)
    streams = file_streams(location)
    try:
        stream = next(streams, None)
        if stream is None or stream.name != str(location):
            raise CannotCut("is an archive; unpack it")
        if stream.location is not None:
            return cut(whole, places, block_size)
    finally:
        streams.close()  # type: ignore[attr-defined]
    with location.open() as file:
        kind = compression(file.read(8))
    return _cut_packed(whole, member_places(location, str(kind), grid(block_size)), places, block_size)


def _cut_packed(whole: Piece, members: list[Place], places: list[int], block_size: int) -> list[Piece]:
    starts, size = [member.plain for member in members], members[-1].plain
    wanted = [starts[bisect_left(members, (place, 0))] for place in places if 0 < place < whole.size]
    pieces = []
    for piece in cut(Piece(whole.path, 0, size, size, whole.version), wanted, block_size):
        begin = members[bisect_right(starts, max(0, piece.start - 1)) - 1]
        end = members[bisect_right(starts, piece.stop) - 1]
        pieces.append(
            Piece(piece.path, *(piece.start, piece.stop, size), piece.version, Packed(whole.size, begin, end))
        )
    if len(pieces) < 2:
        raise CannotCut("has one member, or a few long ones; compress it in zstd's seekable format or with bgzip")
    return pieces


def cut_row_groups(whole: Piece, places: list[int]) -> list[Piece]:
    """A Parquet file, cut between row groups near some places; `CannotCut` if there is one only."""
    starts = [group.start for group in row_groups(locate(whole.path, BadCorpus))]
    pieces = _cut_at(whole, [[*starts, whole.size][bisect_left(starts, place)] for place in places])
    if len(pieces) < 2:
        raise CannotCut("has one row group, or a few long ones; write it with smaller ones")
    return pieces


def piece_blocks(piece: Piece, block_size: int) -> Iterator[tuple[bytes, int, int]]:
    """The blocks that begin in a piece of UTF-8: (text, its first byte in the plain file, bytes of the piece read)."""
    size = grid(block_size)
    with reading(piece.path), _open(piece) as file:
        begin, ahead = _first_line(file, piece.start, piece.stop)
        if begin >= piece.stop:
            return
        lines = cast("BinaryIO", _Lines(_Ahead(ahead, file), begin, piece.stop))
        for text, offset, _ in line_blocks(Stream(piece.path, lines, lambda: 0), size, start=begin):
            skip = byte_order_mark(piece.path, text) if offset == 0 else 0
            yield text[skip:], offset + skip, min(offset + len(text), piece.stop) - piece.start


def _open(piece: Piece) -> BinaryIO:
    """The plain text from the byte before a piece on; nothing before it is needed."""
    location, start = piece.location(), max(0, piece.start - 1)
    if piece.packed is None:
        raw: Any = location.open(start, until=piece.stop)
        return io.BufferedReader(raw)
    file = io.BufferedReader(_Unpacked(location, piece.packed), STEP)
    left = start - piece.packed.begin.plain
    while left > 0 and (skipped := len(file.read(min(left, 1 << 20)))):
        left -= skipped
    return cast("BinaryIO", file)


class _Unpacked(io.RawIOBase):
    """The plain text of a compressed file from one member to another, which must be as long as planned, and on.

    Who reads as far as the last byte before the other member knows that it was the last, and that its member is whole.
    """

    def __init__(self, location: Location, packed: Packed) -> None:
        self._location, self._packed = location, packed
        self._position = packed.begin.plain
        self._read_from(_Bounded(location, packed.begin.stored, packed.end.stored))
        self._is_checked = False  # whether the text ends where the other member begins
        self._is_behind = False  # whether the file is read from there on

    def _read_from(self, file: Any) -> None:
        self._raw: Any = io.BufferedReader(file, STEP)
        self._plain = decompressed(self._raw, compression(self._raw.peek(8)))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._plain.read(len(buffer))
        self._position += len(data)
        if not self._is_checked and (not data or self._position >= self._packed.end.plain):
            self._check_end()
        if not data and not self._is_behind and self._packed.end.stored < self._location.size:
            self._is_behind = True
            self._raw.close()
            self._read_from(self._location.open(self._packed.end.stored))
            data = self._plain.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _check_end(self) -> None:
        planned = self._packed.end.plain
        if self._position != planned or self._plain.read(1):
            found = f"goes on behind byte {planned:,}" if self._position >= planned else f"ends at {self._position:,}"
            raise BadCorpus(
                f"{self._location}: the index of its members does not fit it: text that should end at byte {planned:,} "
                f"{found}; make the index again, or compress the file again with bgzip"
            )
        self._is_checked = True

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Bounded(io.RawIOBase):
    """The bytes of a file from one place to another."""

    def __init__(self, location: Location, start: int, stop: int) -> None:
        self._file = location.open(start, until=stop)
        self._left = stop - start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _first_line(file: BinaryIO, start: int, stop: int) -> tuple[int, bytes]:
    """Where the first line begins from `start` on (`stop` if none does before it), and what was read from there on.

    The file stands at the byte before `start`.
    """
    if start == 0:
        return 0, b""
    place = start - 1
    while place < stop:
        data = file.read(STEP)
        end = data.find(b"\n")
        if end >= 0:
            return min(place + end + 1, stop), data[end + 1 :]
        if not data:
            break
        place += len(data)
    return stop, b""


class _Ahead:
    """Bytes that were read already, and those of the file behind them."""

    def __init__(self, data: bytes, file: BinaryIO) -> None:
        self._data, self._file = data, file

    def read(self, size: int) -> bytes:
        data, self._data = self._data[:size], self._data[size:]
        return data if len(data) == size else data + self._file.read(size - len(data))


class _Lines:
    """Bytes from the beginning of a line on, to the end of the line that is under way at `stop`.

    Reads end at multiples of the block size in the file, as those of somebody who reads it from its beginning.
    """

    def __init__(self, file: _Ahead, position: int, stop: int) -> None:
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
