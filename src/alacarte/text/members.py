"""Where the independent members of a compressed file begin, where that can be known without decompressing it.

A file whose members (of gzip, or its BGZF; frames of zstd) say how many bytes they hold can be read from the beginning
of any of them, and it is known which byte of the plain text that is. So it can be cut as plain text is.

Members of gzip do not say where they end, except in BGZF. The next one is looked for by its first bytes, as fast as a
disk is read; each place that is found is tried. A file in which anything is in doubt is not cut, and readers of pieces
(`alacarte.text.pieces`) notice members that do not end, or are not as long, as was found here.
"""

import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from alacarte._io.remote import Location, base_name, locate, sibling
from alacarte.errors import AlacarteError

ZSTD, SEEK_TABLE, SEEKABLE = 0xFD2FB528, 0x184D2A5E, 0x8F92EAB1  # magic numbers of a frame, a table, and its end
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
MOST_MEMBERS = 1 << 27  # of a table: what is larger is no table
GZIP = b"\x1f\x8b\x08"  # what a member of gzip begins with; its header and its end are 18 bytes at least
TRIED = 1 << 12  # bytes of text that a member of gzip is tried for: chance does not get as far
MOST_TEXT = 1032  # bytes of text for each that is stored, by the format
MOST_STORED = (1 << 32) // 20  # of a member of gzip, whose text, 20 times as long, is less than what it can tell


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
    except (struct.error, IndexError, EOFError, zlib.error):
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
    """Blocks of BGZF, which say in their headers how long they are (behind a URL, by the index beside the file).

    Members of any other gzip are looked for in the whole file, so on disk only.
    """
    with location.open() as file:
        is_bgzf = _bgzf_length(_read(file, 0, 64)) is not None
    if not is_bgzf and location.path is None:
        raise CannotCut("is gzip but not BGZF, whose members are looked for on disk only; download it, or use bgzip")
    if not is_bgzf:
        return _gzip_walk(location)
    return _bgzf_index(location) if location.path is None else _bgzf_walk(location, Place(0, 0))


def _gzip_walk(location: Location) -> Iterator[Place]:
    stored = plain = 0
    with location.open() as file:
        while stored < location.size:
            yield Place(stored, plain)
            end, holds = _try_member(file, stored)
            if end is None:
                end = _next_member(file, stored, location.size)
            if (stored, end) == (0, location.size):
                raise CannotCut("is one stream of gzip; compress it with bgzip, or as several files")
            if holds is None:
                if end - stored > MOST_STORED:
                    raise CannotCut("has members that may hold 4 GiB, more than gzip can tell; compress it with bgzip")
                holds = _text_length(file, stored, end)
            if holds is None:
                raise EOFError("the file ends within a member")
            stored, plain = end, plain + holds
    yield Place(stored, plain)


def _try_member(file: BinaryIO, start: int) -> tuple[int, int] | tuple[None, None]:
    """(where a member that begins here ends, with the zeros behind it, bytes of text), or Nones if it is long.

    Raises `zlib.error` or `EOFError` if no member begins here.
    """
    unpacker = zlib.decompressobj(wbits=31)
    place, holds = start, 0
    while holds < TRIED and not unpacker.eof:
        data = _read(file, place, TRIED)
        if not data:
            raise EOFError("the file ends within a member")
        place += len(data)
        holds += len(unpacker.decompress(data, TRIED - holds))
    if not unpacker.eof:
        return None, None
    end = place - len(unpacker.unused_data)
    while data := _read(file, end, TRIED):
        zeros = len(data) - len(data.lstrip(b"\0"))
        end += zeros
        if zeros < len(data):
            break
    return end, holds


def _next_member(file: BinaryIO, start: int, size: int) -> int:
    """Where the member behind one that begins here begins; the end of the file if there is none."""
    for place in _occurrences(file, GZIP, start + 18):
        try:
            _try_member(file, place)
        except (EOFError, zlib.error):  # by chance, the same bytes
            continue
        if _text_length(file, start, place) is not None:
            return place
    return size


def _occurrences(file: BinaryIO, what: bytes, start: int) -> Iterator[int]:
    """Where some bytes occur in a file, from a place on."""
    size = 1 << 16
    while len(data := _read(file, start, size)) >= len(what):
        place = data.find(what)
        while place >= 0:
            yield start + place
            place = data.find(what, place + 1)
        start += len(data) - len(what) + 1
        size = min(2 * size, 1 << 22)  # the next member may be near


def _text_length(file: BinaryIO, start: int, end: int) -> int | None:
    """Bytes of text that a long member says it holds, in its last four bytes; None if no member can hold as many.

    Zeros may stand behind it, and some of the four may be 0 themselves. A zero too many is noticed, since it makes the
    text 256 times shorter: text is never shorter than half of what it is stored in.
    """
    last = end  # behind the last byte that is not 0
    while not (tail := _read(file, max(start, last - TRIED), min(TRIED, last - start)).rstrip(b"\0")):
        last -= min(TRIED, last - start)
    last = max(start, last - TRIED) + len(tail)
    for behind in [end] if end - last < 4 else range(last + 3, last - 1, -1):
        (holds,) = struct.unpack("<I", _read(file, behind - 4, 4))
        if last - start <= 2 * holds:
            return int(holds) if holds <= MOST_TEXT * (last - start) else None
    raise CannotCut("has members that do not say rightly how long their text is; compress it with bgzip")


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
