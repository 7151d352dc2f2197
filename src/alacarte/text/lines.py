"""Plain text as blocks of whole lines, and documents of several lines made of them."""

import codecs
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from alacarte._io.urls import Location
from alacarte.errors import AlacarteWarning, BadCorpus, Hint
from alacarte.text.options import CorpusOptions
from alacarte.text.streams import Buffered, Counted, Stream, open_location, reading

READ_AT_ONCE = 1 << 18  # bytes; larger ones are slower, as malloc maps new memory for each of them
PEEKED = 1 << 12  # bytes that are read to find the end of a line
LONGEST_LINE = 1 << 24  # bytes of a line, or characters of another document: what bounds the memory
BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def line_blocks(
    stream: Stream, size: int = READ_AT_ONCE, cut: bool = True, start: int = 0
) -> Iterator[tuple[bytes, int, int]]:
    r"""Give blocks of whole lines: (bytes, where they begin in the file, position after reading them).

    A line belongs to the block in which it begins, and block k begins at the first line's start from byte k · size on.
    So blocks depend on the text and `size` alone. A line longer than a block makes the block grow; its parts are joined
    once, so this stays linear. A line that does not end within `LONGEST_LINE` bytes is cut at the last blank among
    these, which is made a line end, and a block begins behind it; or, without `cut`, it is an error. `start` is where
    the stream begins in its file, if not at the beginning.

    >>> stream = Stream("x", io.BytesIO(b"one\ntwo\nthree\nfour"), lambda: 0)
    >>> [block[:2] for block in line_blocks(stream, size=6)]
    [(b'one\ntwo\n', 0), (b'three\n', 8), (b'four', 14)]
    """
    size = min(size, LONGEST_LINE)
    parts: list[bytes] = []  # lines that began in the block before, the last of them not yet whole
    pending = 0  # bytes of that last line
    begin = read = start
    whole = True  # no line was cut so far
    while True:
        with reading(stream.name):
            data = stream.file.read(size)
        if not data:
            break
        while parts and data:
            most = LONGEST_LINE - pending
            end = data.find(b"\n", 0, most) + 1
            taken = data[: end or most]
            parts.append(taken)
            data = data[len(taken) :]
            read, pending = read + len(taken), pending + len(taken)
            if end:
                yield b"".join(parts), begin, stream.position()
                parts = []
            elif data:
                block = b"".join(parts)
                at = _last_blank(stream.name, block, begin, len(block) - LONGEST_LINE, whole, cut)
                whole = False
                yield block[:at] + b"\n", begin, stream.position()
                begin, parts = begin + at + 1, [block[at + 1 :]]
                pending = len(parts[0])
        if not parts and data:
            begin, read = read, read + len(data)
            if data.endswith(b"\n"):
                yield data, begin, stream.position()
            else:
                parts, pending = [data], len(data) - data.rfind(b"\n") - 1
    if parts:
        yield b"".join(parts), begin, stream.position()


def _last_blank(name: str, block: bytes, begin: int, line: int, warn: bool, cut: bool) -> int:
    """Where a line that is too long, from block[line] on, is cut."""
    where = f"{name}: the line that begins at byte {begin + line:,} is longer than {LONGEST_LINE >> 20} MiB"
    if not cut:
        raise BadCorpus(f"{where}, the most that is read of a row; split its text into several rows")
    at = max(block.rfind(b" ", line), block.rfind(b"\t", line))
    if at < 0:
        raise BadCorpus(f"{where}, and there is no blank in it; is it text? If it is, break it into lines")
    if warn:
        message = f"{where}; such lines are cut at blanks, and each part is a document of its own"
        warnings.warn(AlacarteWarning(message), stacklevel=2)
    return at


def segment_of_lines(location: Location, start: int, stop: int, size: int) -> Iterator[tuple[bytes, int, int]]:
    """Give those `line_blocks` of a plain UTF-8 file that begin in bytes [start, stop), two multiples of `size`.

    Nothing of the file is read but these bytes and the end of the last line. The blocks are those of a reader of the
    whole file.
    """
    name, size = str(location), min(size, LONGEST_LINE)
    with reading(name), open_location(location, max(0, start - 1)) as raw:
        if location.path is None:
            blocks = _blocks_in_order(name, raw, location.size, (start, stop), size)
        else:
            blocks = _blocks_on_disk(name, cast("io.FileIO", raw), location.size, (start, stop), size)
        for block, offset, position in blocks:
            skip = byte_order_mark(name, block) if offset == 0 else 0
            yield block[skip:] if skip else block, offset + skip, position - start


def _blocks_in_order(
    name: str, raw: io.RawIOBase, length: int, part: tuple[int, int], size: int
) -> Iterator[tuple[bytes, int, int]]:
    """Give the `line_blocks` of a part of a file that is open at the byte before it."""
    start, stop = part
    file = io.BufferedReader(Counted(raw, length - max(0, start - 1)), READ_AT_ONCE)
    lines = _LinesOf(file, start, stop)
    stream = Stream(name, cast("BinaryIO", lines), lambda: min(lines.position, stop))
    return line_blocks(stream, size, start=lines.position)


def _blocks_on_disk(
    name: str, file: io.FileIO, length: int, part: tuple[int, int], size: int
) -> Iterator[tuple[bytes, int, int]]:
    """Give the `line_blocks` of a part of a file on disk, each read in one step and never copied.

    Copies are made while no other thread can run Python, and many threads wait for each other then.
    """
    start, stop = part
    begin = _line_end(file, start - 1, stop) if start else 0
    while begin < stop:
        low = begin // size * size
        last = min(low + size, stop, length)
        end = _line_end(file, last - 1, min(last + LONGEST_LINE, length))
        file.seek(begin)
        block = file.read(end - begin)
        while len(block) < end - begin:
            more = file.read(end - begin - len(block))
            if not more:
                raise OSError("it shrank while it was read")
            block += more
        if len(block) - block.rfind(b"\n", 0, len(block) - 1) - 1 > LONGEST_LINE:  # of its last line
            low = max(low, start)
            file.seek(max(0, low - 1))
            yield from _blocks_in_order(name, file, length, (low, stop), size)
            return
        yield block, begin, min(end, stop)
        begin = end


def _line_end(file: io.FileIO, place: int, most: int) -> int:
    """Return where the line of the byte at `place` ends, behind its newline, or `most` if that is farther."""
    file.seek(place)
    while place < most:
        data = file.read(PEEKED)
        at = data.find(b"\n")
        if at >= 0:
            return min(place + at + 1, most)
        if not data:
            break
        place += len(data)
    return most


class _LinesOf:
    """The lines that begin in bytes [start, stop) of a file that is open at the byte before `start`.

    Reads end at multiples of the block size in the file, as those of somebody who reads it from its beginning.
    """

    def __init__(self, file: Buffered, start: int, stop: int) -> None:
        self._file, self._stop = file, stop
        self.position = max(0, start - 1)
        while start and self.position < stop:  # the rest of a line that began before
            rest = file.readline(READ_AT_ONCE)
            self.position += len(rest)
            if rest.endswith(b"\n") or not rest:
                break
        self._ended = self.position >= stop

    def read(self, size: int) -> bytes:
        if self._ended:
            return b""
        most = size - self.position % size
        if self.position < self._stop:
            data = self._file.read(min(most, self._stop - self.position))
        else:
            data = self._file.readline(most)  # of the line that is under way
        self.position += len(data)
        self._ended = self.position >= self._stop and data.endswith(b"\n")
        return data


def text_blocks(
    stream: Stream, encoding: str, errors: str, size: int = READ_AT_ONCE, cut: bool = True
) -> Iterator[tuple[str, int, int]]:
    r"""Give `line_blocks`, each decoded in one call, with its size in bytes and the position.

    ``\r\n`` is made ``\n``, and a byte order mark at the start is dropped.

    >>> stream = Stream("x", io.BytesIO(b"\xef\xbb\xbfone\r\ntwo"), lambda: 0)
    >>> list(text_blocks(stream, "utf-8", "strict"))
    [('one\ntwo', 11, 0)]
    """
    utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    if not utf8:
        file = io.BufferedReader(_Transcoded(stream, encoding, errors), 1 << 20)
        stream = Stream(stream.name, cast("BinaryIO", file), stream.position)
        errors = "surrogatepass"
    for block, offset, position in line_blocks(stream, size, cut):
        skip = byte_order_mark(stream.name, block) if offset == 0 and utf8 else 0
        try:
            text = (block[skip:] if skip else block).decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise undecodable(stream.name, "utf-8", offset + skip + error.start, error) from error
        yield text.replace("\r\n", "\n") if "\r" in text else text, len(block), position


def utf8_blocks(stream: Stream, options: CorpusOptions, size: int = READ_AT_ONCE) -> Iterator[tuple[bytes, int, int]]:
    """Give `line_blocks` as UTF-8, each with its offset in the stream and the position.

    Strict UTF-8 is passed on as it is, unchecked. Text in another encoding is cut after it was turned into UTF-8, and
    its offsets count bytes of that.
    """
    if not options.is_strict_utf8:
        offset = 0
        for text, _, position in text_blocks(stream, options.encoding, options.errors, size):
            block = text.encode("utf-8", "surrogatepass")
            yield block, offset, position
            offset += len(block)
        return
    for block, offset, position in line_blocks(stream, size):
        skip = byte_order_mark(stream.name, block) if offset == 0 else 0
        yield block[skip:] if skip else block, offset + skip, position


def byte_order_mark(name: str, block: bytes) -> int:
    """Return how many bytes of a first block are a mark and not text."""
    if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadCorpus(f'{name} is UTF-16 text, not UTF-8; pass encoding="utf-16"')
    return 3 if block.startswith(codecs.BOM_UTF8) else 0


def paragraphs_of_blocks(texts: Iterable[str]) -> Iterator[str]:
    r"""Give the paragraphs between blank lines, out of blocks of whole lines.

    >>> list(paragraphs_of_blocks(["one\nstill one\n", "\ntwo\n"]))
    ['one\nstill one', 'two']
    """
    paragraph = _GrowingDocument()
    for text in texts:
        # The line end before the block is put back, for a blank line right at its start.
        first, *others = BLANK_LINES.split("\n" + text)
        yield from paragraph.add(first[1:])
        for other in others:
            yield paragraph.end().removesuffix("\n")
            yield from paragraph.add(other)
    text, newline, last = paragraph.end().rpartition("\n")
    yield text if not last or last.isspace() else text + newline + last


def as_one_document(texts: Iterable[str]) -> Iterator[str]:
    r"""Give all blocks of lines as one document; cut at line ends into several, if it is longer than `LONGEST_LINE`.

    >>> list(as_one_document(["one\n", "two"]))
    ['one\ntwo']
    """
    document = _GrowingDocument()
    for text in texts:
        yield from document.add(text)
    yield document.end()


class _GrowingDocument:
    """A document that grows by whole lines; what is beyond `LONGEST_LINE` characters begins another."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str) -> Iterator[str]:
        self._parts.append(text)
        self._length += len(text)
        while self._length > LONGEST_LINE:
            whole = "".join(self._parts)
            at = whole.rfind("\n", 0, LONGEST_LINE) + 1 or len(whole)
            yield whole[:at]
            self._parts, self._length = [whole[at:]], len(whole) - at

    def end(self) -> str:
        whole = "".join(self._parts)
        self._parts, self._length = [], 0
        return whole


def undecodable(name: str, encoding: str, offset: int, error: UnicodeDecodeError) -> BadCorpus:
    """Return the error for a byte that is not text of its encoding."""
    return BadCorpus(
        f"{name}: byte {offset} (0x{error.object[error.start]:02x}) is not {encoding} text ({error.reason})",
        hint=Hint(
            'pass errors="replace" to put � there, or the encoding the file is in, such as encoding="latin-1"',
            "pass --errors replace to put � there, or the encoding the file is in, such as --encoding latin-1",
        ),
    )


class _Transcoded(io.RawIOBase):
    """A stream in another encoding, as UTF-8."""

    def __init__(self, stream: Stream, encoding: str, errors: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._fed = 0
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            with reading(self._stream.name):
                data = self._stream.file.read(1 << 20)
            self._ended = not data
            pending = len(self._decoder.getstate()[0])
            try:
                text = self._decoder.decode(data, final=self._ended)
            except UnicodeDecodeError as error:
                offset = self._fed - pending + error.start
                raise undecodable(self._stream.name, self._encoding, offset, error) from error
            except UnicodeError as error:
                raise BadCorpus(f"{self._stream.name} is not {self._encoding} text: {error}") from error
            self._fed += len(data)
            self._ready = text.encode("utf-8", "surrogatepass")
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
