"""Text vectors: GloVe's "word v1 … vd" lines, and the same under a header "n d" (word2vec, fastText's .vec).

Fields are separated by spaces or tabs and by nothing else, so that words may hold any other white space, and
a word is everything before the last d fields, so that it may hold spaces too (as some of glove.840B do).
"""

import re
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import BinaryIO

import numpy as np

from alacarte._io.arrays import Bytes, Longs, Mask, Singles
from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors, Hint
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, drop_duplicates, rows_at_once
from alacarte.vectors.formats.streams import STREAM_BUFFER, Source, open_sink

# Where the kernels found the parts of each row: the columns of `places`, and the state that a row is in.
LINE, WORD_BEGIN, WORD_END, LINE_END = 0, 1, 2, 3
FINE, SHORT, SLOW = 0, 1, 2  # parsed; too few fields; left to Python's `float`

HEAD_BYTES = 1 << 18  # bytes that tell what a file is
HEAD_LINES = 1000
MAX_LINE = 1 << 26
MOST_DIMENSIONS = 1 << 20  # a header that promises more is none
BOM = b"\xef\xbb\xbf"
_GAP = re.compile(rb"[ \t]+")
_HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,9})[ \t\r]*")


def new_places(rows: int) -> Longs:
    """Return room for what the kernels say about `rows` rows."""
    return np.zeros((rows, 4), np.int64)


def number(field: bytes) -> float | None:
    """Return a field as a number, or None if it is none.

    >>> number(b"-1.5e3"), number(b"1_000"), number(b"x")
    (-1500.0, None, None)
    """
    if b"_" in field:  # Python reads 1_000; no vector file means it
        return None
    try:
        return float(field)
    except ValueError:
        return None


def trailing_numbers(line: bytes) -> int:
    """How many fields at the end of a line are numbers; the first field is the word and does not count.

    >>> trailing_numbers(b"new york 1 2 3"), trailing_numbers(b"7 1 2 3"), trailing_numbers(b"some prose")
    (3, 3, 0)
    """
    fields = _GAP.split(line.strip(b" \t\r"))
    count = 0
    while count < len(fields) - 1 and number(fields[-1 - count]) is not None:
        count += 1
    return count


def usual_width(lines: Sequence[bytes]) -> int:
    """How many values most lines have. Lines with too few, or with a word like "windows 95", are rare."""
    counts = Counter(trailing_numbers(line) for line in lines if line.strip(b" \t\r"))
    return max(counts, key=lambda width: (counts[width], width), default=0)


def head_lines(head: bytes, whole: bool) -> list[bytes]:
    """Return the lines in the first bytes of a file, without a last one that is cut off by where the head ends."""
    lines = head.removeprefix(BOM).split(b"\n", HEAD_LINES)
    if len(lines) > 1 and (not lines[-1] or (not whole and len(lines) > 2)):
        lines.pop()
    return lines[:HEAD_LINES]


def parse_header(line: bytes) -> tuple[int, int] | None:
    """Return the number of words and of dimensions on the first line, if that is what it holds.

    >>> parse_header(b"400000 50"), parse_header(b"the 0.1 0.2")
    ((400000, 50), None)
    """
    match = _HEADER.fullmatch(line)
    return (int(match[1]), int(match[2])) if match and int(match[2]) <= MOST_DIMENSIONS else None


def read_glove(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read lines without a header; the dimension is what most of the first lines have."""
    with Source(path) as source:
        head = source.read(HEAD_BYTES)
        width = usual_width(head_lines(head, len(head) < HEAD_BYTES))
        if not width:
            raise BadVectors(f'{path}: the lines do not look like "word number number …"; is it a vector file?')
        return _read_rows(source, head.removeprefix(BOM), width, None, limit, problems)


def read_word2vec(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read lines under a header that gives the number of words and of dimensions."""
    with Source(path) as source:
        head = source.read(HEAD_BYTES)
        lines = head_lines(head, len(head) < HEAD_BYTES)
        header = parse_header(lines[0])
        if header is None:
            raise BadVectors(
                f"{path}, line 1: word2vec text starts with the number of words and of dimensions",
                hint=Hint(
                    'pass format="glove-text" for a file without them',
                    "the format of a file without them is glove-text",
                ),
            )
        width = usual_width(lines[1:])
        if width != header[1] and len(lines) > 1:
            raise BadVectors(
                f"{path}, line 1: the header promises {header[1]} dimensions and the lines have {width}; "
                "correct the header, or download the file again"
            )
        rest = head.removeprefix(BOM).partition(b"\n")[2]
        return _read_rows(source, rest, header[1], header[0], limit, problems)


def _read_rows(
    source: Source, data: bytes, dimension: int, promised: int | None, limit: int | None, problems: Problems
) -> WordRows:
    from alacarte.vectors.formats._text_matrix import parse_lines

    likely = source.size // (dimension * 6) + 1
    # Memory that is not written to costs nothing, but a header may lie about how much there will be.
    rows = Growing(
        dimension, min(likely if promised is None else promised, 4 * likely, likely if limit is None else limit)
    )
    at_once = rows_at_once(dimension)
    places, status = new_places(at_once), np.zeros(at_once, np.uint8)
    lines = 0 if promised is None else 1  # before the next block
    rows_read = 0  # rows, good or bad
    at_end = False
    while limit is None or len(rows) < limit:
        wanted = at_once if limit is None else min(at_once, limit - len(rows))
        view = np.frombuffer(data, np.uint8)
        out = rows.room(wanted)
        taken, used, passed = parse_lines(view, at_end, dimension, out, places, status)
        if taken:
            block = _ParsedRows(data, places[:taken], status[:taken], out[:taken], lines)
            block.check(promised, rows_read, rows.seen, problems)
            rows.take(block.words, block.keep)
        lines += passed
        rows_read += taken
        data = data[used:]
        if taken < wanted:
            if at_end:
                break
            if len(data) > MAX_LINE:
                raise BadVectors(
                    f"{problems.path}, line {lines + 1}: longer than {MAX_LINE >> 20} MiB; is it a text file?"
                )
            more = source.read(STREAM_BUFFER)
            at_end = not more
            data += more
    if promised is not None and rows_read < promised and at_end:
        detail = f"the header promises {promised} words and there are {rows_read}: the file is cut off"
        problems.add("missing row", f"line {lines}", None, detail, promised - rows_read)
    return rows.finish(problems, promised)


class _ParsedRows:
    """Rows as the kernel left them, to be completed and checked."""

    def __init__(
        self,
        data: bytes,
        places: Longs,
        status: Bytes,
        out: Singles,
        lines: int,
    ) -> None:
        self.data, self.places, self.status, self.out, self.lines = data, places, status, out, lines
        self.words: list[str] = []
        self.keep: Mask = np.ones(len(out), np.bool_)

    def check(self, promised: int | None, rows_read: int, seen: set[str], problems: Problems) -> None:
        """Parse what the kernel could not, decode the words, and mark the rows to leave out."""
        for row in np.flatnonzero(self.status).tolist():
            self._complete(row, problems)
        self._decode(problems)
        if promised is not None and rows_read + len(self.keep) > promised:
            for row in range(max(0, promised - rows_read), len(self.keep)):
                self._leave_out(row, "row beyond the header", f"the header promises only {promised} words", problems)
        drop_duplicates(self.words, self.keep, seen, self._where, problems)

    def _where(self, row: int) -> str:
        return f"line {self.lines + int(self.places[row, LINE]) + 1}"

    def _leave_out(self, row: int, reason: str, detail: str, problems: Problems) -> None:
        if self.keep[row]:
            self.keep[row] = False
            problems.add(reason, self._where(row), self._word(row), detail)

    def _word(self, row: int) -> bytes:
        begin, end = self.places[row, WORD_BEGIN], self.places[row, WORD_END]
        if self.status[row] == SHORT:  # the word ends at the first gap
            end = self.places[row, LINE_END]
            return _GAP.split(self.data[begin:end])[0]
        return self.data[begin:end]

    def _complete(self, row: int, problems: Problems) -> None:
        text = self.data[self.places[row, WORD_END] : self.places[row, LINE_END]]
        if self.status[row] == SHORT:
            line = self.data[self.places[row, WORD_BEGIN] : self.places[row, LINE_END]]
            values = len(_GAP.split(line)) - 1
            detail = f"{values} values where other lines have {self.out.shape[1]}"
            self._leave_out(row, "wrong number of values", detail, problems)
            return
        for column, field in enumerate(_GAP.split(text.strip(b" \t"))):
            value = number(field)
            if value is None:
                shown = field[:40].decode(errors="replace")
                self._leave_out(row, "not a number", f"value {column + 1} is {shown!r}, no number", problems)
                return
            with np.errstate(over="ignore"):
                single = np.float32(value)
            if not np.isfinite(single):
                detail = f"value {column + 1} is {value}, not a finite float32"
                self._leave_out(row, "not finite", detail, problems)
                return
            self.out[row, column] = single

    def _decode(self, problems: Problems) -> None:
        data = self.data
        spans = self.places[:, [WORD_BEGIN, WORD_END]].tolist()
        try:
            self.words = [data[begin:end].decode() for begin, end in spans]
        except UnicodeDecodeError:
            self.words = [data[begin:end].decode(errors="replace") for begin, end in spans]
            for row, (begin, end) in enumerate(spans):
                try:
                    data[begin:end].decode()
                except UnicodeDecodeError:
                    self._leave_out(row, "bad UTF-8", "the word is not UTF-8", problems)


def write_glove(path: str | PathLike[str], rows: WordRows) -> None:
    """Write lines without a header."""
    with open_sink(path) as file:
        _write_rows(file, rows, b"", "glove-text")


def write_word2vec(path: str | PathLike[str], rows: WordRows) -> None:
    """Write lines under a header."""
    with open_sink(path) as file:
        _write_rows(file, rows, b"%d %d\n" % rows.matrix.shape, "word2vec-text")


def _write_rows(file: BinaryIO, rows: WordRows, header: bytes, name: str) -> None:
    words, matrix = rows.words, rows.matrix
    dimension = matrix.shape[1]
    row_format = b"%b" + b" %.9g" * dimension + b"\n"  # nine digits are enough to tell any two float32 apart
    with progress(len(words), "words", "writing") as bar:
        for start in range(0, len(words), HEAD_LINES):
            block = matrix[start : start + HEAD_LINES].tolist()
            lines = [
                row_format % (_writable(word), *row)
                for word, row in zip(words[start : start + HEAD_LINES], block, strict=True)
            ]
            text = header + b"".join(lines) if start == 0 else b"".join(lines)
            if start == 0:
                _check_readable(text[:HEAD_BYTES], len(text) < HEAD_BYTES and len(words) <= HEAD_LINES, name, dimension)
            file.write(text)
            bar.update_to(start + len(lines))


def _writable(word: str) -> bytes:
    if not word or "\n" in word or word != word.strip(" \t"):
        raise BadVectors(
            f"{word!r} cannot be written as text, where spaces and line ends separate; save as .safetensors"
        )
    return encode_word(word)


def _check_readable(head: bytes, whole: bool, name: str, dimension: int) -> None:
    """Raise if words that end in numbers would be read as further dimensions."""
    lines = head_lines(head, whole)
    has_header = name == "word2vec-text"
    width = usual_width(lines[1:] if has_header else lines)
    if width != dimension or head.startswith(BOM) or (parse_header(lines[0]) is not None) != has_header:
        raise BadVectors(f"as {name}, words and numbers could not be separated when read; save as .safetensors")
