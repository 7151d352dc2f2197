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

from alacarte._io.arrays import Longs, Singles
from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors, Hint
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, decode_words
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

    rows = Growing(dimension, limit, problems)
    places, status = new_places(rows.wanted), np.zeros(rows.wanted, np.uint8)
    lines = 0 if promised is None else 1  # before the next block
    at_end = False
    while wanted := rows.wanted:
        out = rows.room(wanted)
        taken, used, passed = parse_lines(np.frombuffer(data, np.uint8), at_end, dimension, out, places, status)
        if taken:

            def where(row: int, before: int = lines) -> str:
                return f"line {before + int(places[row, LINE]) + 1}"

            spans = places[:taken, [WORD_BEGIN, WORD_END]].tolist()
            words, good = decode_words([data[begin:end] for begin, end in spans], problems, where)
            for row in np.flatnonzero(status[:taken]).tolist():
                line = data[places[row, WORD_END] : places[row, LINE_END]]
                reason, detail = _parse_by_hand(line, status[row], out[row])
                if reason and good[row]:
                    good[row] = False
                    problems.add(reason, where(row), words[row], detail)
            for row in range(taken if promised is None else max(0, promised - rows.rows_read), taken):
                good[row] = False
                detail = f"the header promises only {promised} words"
                problems.add("row beyond the header", where(row), words[row], detail)
            rows.take(words, good, where=where)
        lines += passed
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
    if promised is not None and rows.rows_read < promised and at_end:
        detail = f"the header promises {promised} words and there are {rows.rows_read}: the file is cut off"
        problems.add("missing row", f"line {lines}", None, detail, promised - rows.rows_read)
    return rows.finish(promised)


def _parse_by_hand(values: bytes, status: int, out: Singles) -> tuple[str, str]:
    """Fill a row that the kernel left to Python's `float`; return what is wrong with it, in short and in detail."""
    fields = _GAP.split(values.strip(b" \t")) if values else []
    if status == SHORT:
        return "wrong number of values", f"{len(fields)} values where other lines have {len(out)}"
    for column, field in enumerate(fields):
        value = number(field)
        if value is None:
            shown = field[:40].decode(errors="replace")
            return "not a number", f"value {column + 1} is {shown!r}, no number"
        with np.errstate(over="ignore"):
            out[column] = value
        if not np.isfinite(out[column]):
            return "not finite", f"value {column + 1} is {value}, not a finite float32"
    return "", ""


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
