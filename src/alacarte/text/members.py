"""Where the independent members of a compressed file begin, where that can be known without decompressing it.

A file whose members (blocks of BGZF, frames of zstd) say how many bytes they hold can be read from the beginning of any
of them, and it is known which byte of the plain text that is. So it can be cut as plain text is.
"""

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from alacarte._io.remote import Location, base_name, locate, sibling
from alacarte.errors import AlacarteError

ZSTD, SEEK_TABLE, SEEKABLE = 0xFD2FB528, 0x184D2A5E, 0x8F92EAB1  # magic numbers of a frame, a table, and its end
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
MOST_MEMBERS = 1 << 27  # of a table: what is larger is no table


class Place(NamedTuple):
    """The beginning of a member: a byte of the file as it is stored, and the byte of the plain text that it is."""

    stored: int
    plain: int


class CannotCut(Exception):
    """Why a compressed file cannot be cut, in words that follow its name."""


def member_places(location: Location, kind: str, step: int) -> list[Place]:
    """Beginnings of members, at least `step` bytes of plain text apart; first the file's own, last its end.

    Raises `CannotCut`, which says why, if they cannot be known without decompressing the file.
    """
    if kind not in ("gz", "zst"):
        raise CannotCut(f"is {kind}, which cannot be read from the middle; compress it with zstd or bgzip")
    try:
        listed = _gzip_members(location) if kind == "gz" else _zstd_members(location)
        places = [next(listed)]
        last = places[0]
        for last in listed:
            if last.plain - places[-1].plain >= step:
                places.append(last)
    except (struct.error, IndexError):
        raise CannotCut("has members that are damaged or cut off; copy it again") from None
    if last.stored != location.size:
        raise CannotCut("has a table of members that does not fit it; compress it again")
    return places if places[-1] == last else [*places, last]


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    """So many bytes from a place on; fewer at the end of the file."""
    file.seek(start)
    data = b""
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data


# ----------------------------------------------------------------------------------------------------------- gzip


def _gzip_members(location: Location) -> Iterator[Place]:
    """Blocks of BGZF, which say in their headers how long they are; behind a URL, by the index beside the file."""
    with location.open() as file:
        if _bgzf_length(_read(file, 0, 64)) is None:
            raise CannotCut("is one stream of gzip; compress it with bgzip, or as several files")
    if location.path is None:
        yield from _bgzf_index(location)
    else:
        yield from _bgzf_walk(location, Place(0, 0))


def _bgzf_walk(location: Location, place: Place) -> Iterator[Place]:
    stored, plain = place
    with location.open() as file:
        head = _read(file, stored, 64)
        while head:
            yield Place(stored, plain)
            length = _bgzf_length(head)
            if length is None:
                raise CannotCut("begins as BGZF and goes on as something else; compress it with bgzip again")
            end = _read(file, stored + length - 4, 4 + 64)  # with the beginning of the next block
            plain += struct.unpack("<I", end[:4])[0]
            stored, head = stored + length, end[4:]
    yield Place(stored, plain)


def _bgzf_length(head: bytes) -> int | None:
    """Bytes of the block that begins like this; None if it is no block of BGZF."""
    if head[:4] != b"\x1f\x8b\x08\x04":
        return None
    extra = head[12 : 12 + int.from_bytes(head[10:12], "little")]
    while len(extra) >= 4:
        size = int.from_bytes(extra[2:4], "little")
        if extra[:2] == b"BC" and size == 2 and len(extra) >= 6:
            return int.from_bytes(extra[4:6], "little") + 1
        extra = extra[4 + size :]
    return None


def _bgzf_index(location: Location) -> Iterator[Place]:
    """What the `.gzi` beside a file says, which `bgzip -r` makes, and from its last block on the file itself."""
    try:
        index = locate(sibling(location.address, f"{base_name(location.address)}.gzi"))
    except AlacarteError:
        raise CannotCut("has no index (.gzi) beside it; make one with bgzip -r, or download the file") from None
    with index.open() as file:
        (count,) = struct.unpack("<Q", _read(file, 0, 8))
        if count > MOST_MEMBERS or index.size != 8 + 16 * count:
            raise CannotCut("has an index (.gzi) that is damaged; make it again with bgzip -r")
        listed = list(struct.iter_unpack("<QQ", _read(file, 8, 16 * count)))
    places = [Place(0, 0), *(Place(*pair) for pair in listed)]
    if any(one.stored >= two.stored or one.plain > two.plain for one, two in pairwise(places)):
        raise CannotCut("has an index (.gzi) that is damaged; make it again with bgzip -r")
    yield from places[:-1]
    yield from _bgzf_walk(location, places[-1])


# ----------------------------------------------------------------------------------------------------------- zstd


def _zstd_members(location: Location) -> Iterator[Place]:
    """Frames: by the table of the seekable format at the end, or, on disk, by going from block to block."""
    with location.open() as file:
        table = _seek_table(file, location.size)
    if table is not None:
        return iter(table)
    if location.path is None:
        raise CannotCut("has no seek table at its end; compress it in zstd's seekable format, or download it")
    return _zstd_walk(location)


def _seek_table(file: BinaryIO, size: int) -> list[Place] | None:
    foot = _read(file, max(0, size - 9), 9)
    if len(foot) < 9 or struct.unpack("<I", foot[5:])[0] != SEEKABLE:
        return None
    count, flags = struct.unpack("<IB", foot[:5])
    entry = 12 if flags & 0x80 else 8
    length = count * entry + 9
    begin = size - length - 8
    if count > MOST_MEMBERS or begin < 0:
        raise CannotCut("has a seek table that is damaged; compress it again")
    table = _read(file, begin, length + 8)
    if struct.unpack("<II", table[:8]) != (SEEK_TABLE, length):
        raise CannotCut("has a seek table that is damaged; compress it again")
    places = [Place(0, 0)]
    for number in range(count):
        stored, plain = struct.unpack_from("<II", table, 8 + number * entry)
        places.append(Place(places[-1].stored + stored, places[-1].plain + plain))
    if places[-1].stored != begin:
        raise CannotCut("has a seek table that does not fit it; compress it again")
    return [*places, Place(size, places[-1].plain)]


def _zstd_walk(location: Location) -> Iterator[Place]:
    stored = plain = 0
    with location.open() as file:
        while head := _read(file, stored, 18):
            yield Place(stored, plain)
            (magic,) = struct.unpack("<I", head[:4])
            if magic in SKIPPABLE:
                stored += 8 + struct.unpack("<I", head[4:8])[0]
                continue
            header, holds = _frame_header(head, magic)
            stored, plain = _frame_end(file, stored + header, head[4] >> 2 & 1), plain + holds
    yield Place(stored, plain)


def _frame_header(head: bytes, magic: int) -> tuple[int, int]:
    """(bytes of a frame's header, bytes of plain text that the frame holds)."""
    if magic != ZSTD:
        raise CannotCut("begins as zstd and goes on as something else; copy it again")
    flags = head[4]
    is_single = flags >> 5 & 1
    before = 5 + (1 - is_single) + (0, 1, 2, 4)[flags & 3]
    size = (1 if is_single else 0, 2, 4, 8)[flags >> 6]
    if not size:
        raise CannotCut("has frames that do not say how long their text is; compress it in zstd's seekable format")
    holds = int.from_bytes(head[before : before + size], "little")
    return before + size, holds + 256 if size == 2 else holds


def _frame_end(file: BinaryIO, place: int, has_checksum: int) -> int:
    """The byte behind a frame whose first block begins at a place."""
    while True:
        low, high = struct.unpack("<BH", _read(file, place, 3))
        head = low | high << 8
        is_last, kind, size = head & 1, head >> 1 & 3, head >> 3
        if kind == 3:
            raise struct.error("there is no such kind of block")
        place += 3 + (1 if kind == 1 else size)
        if is_last:
            return place + 4 * has_checksum
