"""Parts of files that can be read by themselves, and the blocks of text in them.

Plain UTF-8 text with a document on each line is cut at multiples of the block size, Parquet between its row groups;
every other file is read as a whole. Block k of a plain text begins at the first line's start from byte k · size on, so
the blocks of the segments of a file are those of one reader of the whole file.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from alacarte._io.urls import Location
from alacarte.errors import BadCorpus
from alacarte.text.documents import Document, Item, is_empty
from alacarte.text.lines import (
    LONGEST_LINE,
    READ_AT_ONCE,
    as_one_document,
    paragraphs_of_blocks,
    segment_of_lines,
    text_blocks,
    undecodable,
    utf8_blocks,
)
from alacarte.text.options import CorpusOptions
from alacarte.text.records import RowGroup, arrow, delimited, documents_of, jsonl, parquet, row_groups
from alacarte.text.sources import file_streams, is_stored_plainly
from alacarte.text.streams import Stream, is_pipe

OVERHEAD = 64  # bytes that a document takes besides its text


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents: lines of UTF-8 in one piece, or else a list."""

    text: bytes | None
    documents: list[Item]
    position: int  # how far the reading of the segment has come: bytes on disk for files, items for the rest
    name: str = ""  # of the file, for messages
    source: str = ""  # the file's full path or URL; empty for what has no name (lists, standard input, pipes)
    start: int = 0  # the first byte, or the number of the first item
    is_checked: bool = False  # whether the text is known to be UTF-8

    def line(self, low: int, high: int) -> str:
        """Return the text between two bytes; `BadCorpus` names a byte that is not UTF-8 by its place in the file."""
        try:
            errors = "surrogatepass" if self.is_checked or not self.name else "strict"
            return (self.text or b"")[low:high].decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise undecodable(self.name, "utf-8", self.start + low + error.start, error) from error

    def items(self) -> list[Item]:
        r"""Return the documents, without empty ones.

        >>> Block(b"one\r\n\ntwo", [], 0).items()
        ['one', 'two']
        """
        if self.text is None:
            return self.documents
        # Not splitlines: it would also split at form feeds, U+2028 and others.
        lines = self.line(0, len(self.text)).replace("\r\n", "\n").split("\n")
        return [line for line in lines if line and not line.isspace()]


@dataclass(frozen=True, slots=True)
class Segment:
    """What begins in the bytes [start, stop) of a file: lines of plain text, row groups of Parquet, or all of it."""

    location: Location
    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.stop - self.start

    @property
    def source(self) -> str:
        """The full path or URL of the file, which its units are named by. Empty for a pipe."""
        if self.location.path is None:
            return self.location.name
        return "" if is_pipe(self.location) else os.path.abspath(self.location.path)  # noqa: PTH100 (links stay)

    @property
    def is_whole(self) -> bool:
        """Whether this is all of the file."""
        return (self.start, self.stop) == (0, self.location.size)

    def check(self) -> None:
        """Raise `BadCorpus` if the file is no longer the one that was found."""
        try:
            self.location.check()
        except FileNotFoundError:
            raise BadCorpus(f"no such file: {self.location}; it was there before, or a link to it was") from None


def whole_file(location: Location) -> Segment:
    """Return a file as one segment."""
    return Segment(location, 0, location.size)


def cut_segment(segment: Segment, places: list[int], options: CorpusOptions, block_size: int) -> list[Segment]:
    """Cut a segment near some bytes of its file.

    A place beside which no cut is possible is moved to the next one, and in the end to the end of the segment.
    """
    inner = [place for place in places if segment.start < place < segment.stop]
    bounds = _places_to_cut(segment, inner, options, block_size) if inner else []
    bounds = [segment.start, *(place for place in sorted(set(bounds)) if segment.start < place < segment.stop)]
    return [Segment(segment.location, low, high) for low, high in pairwise([*bounds, segment.stop])]


def segment_between(segment: Segment, low: int, high: int, options: CorpusOptions, block_size: int) -> Segment | None:
    """Return what begins in the bytes [low, high) of a segment's file, moved to where it can be cut; None for nothing.

    What cannot be cut begins where the segment does.
    """
    inner = [place for place in (low, high) if segment.start < place < segment.stop]
    moved = dict(zip(inner, _places_to_cut(segment, inner, options, block_size), strict=True)) if inner else {}
    start = moved.get(low, min(max(low, segment.start), segment.stop))
    stop = moved.get(high, min(max(high, segment.start), segment.stop))
    return Segment(segment.location, start, stop) if start < stop else None


def _places_to_cut(segment: Segment, places: list[int], options: CorpusOptions, block_size: int) -> list[int]:
    """Return, for each of some bytes, the place to cut the file instead; the segment's end if there is none."""
    location = segment.location
    format = options.format_of(location.name)
    if not (_is_lines(location, options) or format == "parquet") or not is_stored_plainly(location):
        return [segment.stop] * len(places)
    if format == "parquet":
        starts = [*(group.start for group in row_groups(location)), location.size]
        return [starts[bisect_left(starts, place)] for place in places]
    step = min(block_size, LONGEST_LINE)
    return [min((place + step // 2) // step * step, segment.stop) for place in places]


def _is_lines(location: Location, options: CorpusOptions) -> bool:
    """Whether a file is read as lines of text, just as they are stored."""
    return options.format_of(location.name) == "text" and options.unit == "line" and options.is_strict_utf8


# -------------------------------------------------------------------------------------------------- reading blocks


def read_segment(segment: Segment, options: CorpusOptions, size: int) -> Iterator[Block]:
    """Give the blocks of a segment, each of about `size` bytes of text."""
    location, source = segment.location, segment.source
    is_local = location.path is not None and not is_pipe(location)
    if is_local or not segment.is_whole:
        segment.check()
    is_plain = is_local and segment.size > 0 and is_stored_plainly(location)
    if segment.is_whole and not (is_plain and _is_lines(location, options)):
        for stream in file_streams(location):
            member = stream.name.removeprefix(str(location)) if source else ""
            yield from read_stream(stream, options, size, source + member)
        if not is_pipe(location):
            segment.check()
        return
    if options.format_of(location.name) == "parquet":
        yield from _parquet_blocks(segment, options, size, source)
    else:
        for text, offset, position in segment_of_lines(location, segment.start, segment.stop, size):
            if text:
                yield Block(text, [], position, str(location), source, offset)
    segment.check()


def read_stream(stream: Stream, options: CorpusOptions, size: int, source: str = "") -> Iterator[Block]:
    """Give the blocks of an open file; `source` is its full name, by which its units are known."""
    format, name = options.format_of(stream.name), stream.name
    if format == "parquet":
        if stream.location is None:
            raise BadCorpus(
                f"{name}: Parquet is read from a plain file only; unpack it, or pass format= if it is something else"
            )
        return _parquet_blocks(whole_file(stream.location), options, size, source)
    if format == "text" and options.unit == "line":
        is_checked = not options.is_strict_utf8
        return (
            Block(text, [], position, name, source, offset, is_checked)
            for text, offset, position in utf8_blocks(stream, options, size)
            if text
        )
    return blocks_of(_items(stream, options, size), lambda _: stream.position(), size, name, source)


def _items(stream: Stream, options: CorpusOptions, size: int) -> Iterator[Item]:
    """Return the documents of a file of any format but lines of text and Parquet."""
    format, name = options.format_of(stream.name), stream.name
    if format == "arrow":
        return documents_of(f"{name}, at index", arrow(stream, options), options)
    blocks = text_blocks(stream, options.encoding, options.errors, min(size, READ_AT_ONCE), cut=format == "text")
    texts = (text for text, _, _ in blocks)
    if format == "text":
        return paragraphs_of_blocks(texts) if options.unit == "paragraph" else as_one_document(texts)
    if format == "jsonl":
        return documents_of(f"{name}, line", jsonl(name, texts, options), options)
    return documents_of(f"{name}, line", delimited(name, texts, options, format), options)


def _parquet_blocks(segment: Segment, options: CorpusOptions, size: int, source: str) -> Iterator[Block]:
    """Yield the blocks of the row groups in a segment. No block goes beyond its group, so groups can be divided."""
    name = segment.location.name
    for group, records in parquet(segment.location, options, segment.start, segment.stop):
        items = documents_of(f"{name}, at index", records, options)
        yield from blocks_of(items, partial(_place_in, segment, group), size, name, source, group.first_row)


def _place_in(segment: Segment, group: RowGroup, row: int) -> int:
    return group.position(row) - segment.start


def blocks_of(
    items: Iterator[Item], position: Callable[[int], int], size: int, name: str = "", source: str = "", first: int = 0
) -> Iterator[Block]:
    """Give the items that are not empty in blocks; `position` is called with the number of items so far.

    >>> [block.documents for block in blocks_of(iter(["one", " ", "two"]), lambda count: count, 10)]
    [['one'], ['two']]
    """
    documents: list[Item] = []
    weight, count, start = 0, first, first
    for count, item in enumerate(items, first + 1):
        if is_empty(item):
            continue
        documents.append(item)
        content = (item.text or item.tokens or "") if isinstance(item, Document) else item
        weight += OVERHEAD + (len(content) if isinstance(content, str) else sum(map(len, content)))
        if weight >= size:
            yield Block(None, documents, position(count), name, source, start)
            documents, weight, start = [], 0, count
    if documents:
        yield Block(None, documents, position(count), name, source, start)
