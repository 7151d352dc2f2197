"""Vectors in CSV and TSV, with one row per word, in the columns that `columns` describes.

A word that a spreadsheet would take for a formula has a ' before it, which is taken away again here.
"""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from os import PathLike

import numpy as np

from alacarte._io.arrays import Doubles
from alacarte._io.printing import guarded, shortened, unguarded
from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors
from alacarte.vectors.formats.columns import (
    COUNT_COLUMN,
    NUMERIC,
    ORIGIN_COLUMN,
    TEXTUAL,
    WHOLE,
    WORD_COLUMN,
    Layout,
    find_layout,
    written_columns,
)
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, decode_words
from alacarte.vectors.formats.streams import STREAM_BUFFER, Source, open_sink
from alacarte.vectors.formats.text import BOM, HEAD_BYTES, MAX_LINE, number

ROWS_TOGETHER = 1000  # rows that are read or written together
DELIMITERS = ",;\t"
# What the column of words is called where values are numbered.
WORD_COLUMN_NAMES = (WORD_COLUMN, "words", "token", "term", "key", "")
_QUOTED = re.compile(r'["\r\n,;\t]|^\s|\s$|^$')
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def looks_like_csv(head: bytes, whole: bool) -> bool:
    r"""Whether the first bytes of a file are a table of vectors: one of ours, or lines of a word and some numbers.

    >>> [looks_like_csv(text, True) for text in (b"word,0\na,2\n", b"a,1,2,3\n", b"text,n\nhi,1\n")]
    [True, True, False]
    """
    delimiter, records = _first_records(head, whole)
    if not records or len({len(row) for row in records}) != 1 or len(records[0]) < 2:
        return False
    if _ours(records[0]):
        return True
    if delimiter == "\t" and not _is_header(records[0]):  # which is GloVe's format with tabs
        return False
    # A table of others: a word and at least three numbers. Row names that are numbers are those of a bare matrix.
    last = records[-1]
    return len(last) > 3 and _numbers(last) == len(last) - 1 and _numbers(last[:1]) == 0


def _first_records(head: bytes, whole: bool) -> tuple[str, list[list[str]]]:
    """Return the delimiter that makes most fields of the first line, and up to three records; none if it is no CSV."""
    text = head.removeprefix(BOM).decode(errors="replace")
    if not whole:  # the last line may be cut off
        text = text.rpartition("\n")[0] + "\n"
    lines = [f"{line}\n" for line in text.split("\n", 100)[:100]]
    delimiter = max(DELIMITERS, key=lambda mark: len(next(iter(_records(lines[:1], mark)), [])))
    return delimiter, [row for row in _records(lines, delimiter) if row][:3]


def _records(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(lines, delimiter=delimiter, strict=True), 4))
    except csv.Error:
        return []


def _numbers(row: list[str]) -> int:
    return sum(number(field.encode(errors="replace")) is not None for field in row)


def _ours(header: list[str]) -> bool:
    """Whether a header numbers the dimensions, as this package and pandas do, behind a name for the words."""
    rest = [name for name in header[1:] if name not in (COUNT_COLUMN, ORIGIN_COLUMN)]
    numbered = [sorted(str(place + start) for place in range(len(rest))) for start in (0, 1)]
    return bool(rest) and sorted(rest) in numbered and header[0].lower() in WORD_COLUMN_NAMES


def _is_header(row: list[str]) -> bool:
    numbers = _numbers(row[1:])
    return _ours(row) or numbers == 0 or (numbers < len(row) - 1 and row[0].lower() in WORD_COLUMN_NAMES)


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read CSV or TSV; files of others may have no header, a semicolon for a comma, and other names for the columns.

    The words are in the column `word`, or in the first one.
    """
    with Source(path) as source:
        head = source.read(HEAD_BYTES)
    delimiter, records = _first_records(head, len(head) < HEAD_BYTES)
    if not records:
        raise BadVectors(f"{path}, line 1: these are no fields that CSV could have; check the quotes")
    header = [unguarded(name) for name in records[0]]
    headed = _is_header(header)
    names = header if headed else [WORD_COLUMN, *(str(place) for place in range(len(header) - 1))]
    if len(set(names)) != len(names):
        raise BadVectors(f"{path}, line 1: two columns have the same name; give each its own")
    if headed and len(records) == 1:
        return WordRows([], np.empty((0, 0), np.float32))
    kinds = {name: _field_kind(name, field) for name, field in zip(names, records[headed], strict=False)}
    layout = find_layout(kinds, str(path), words=WORD_COLUMN if WORD_COLUMN in names else names[0])
    rows = Growing(len(layout.dimensions), limit, problems)
    with Source(path) as source:
        found = _usable(_numbered(source, delimiter, headed), names, layout, problems)
        while block := list(islice(found, min(rows.wanted, ROWS_TOGETHER))):
            where, encoded, counts, origin, values = map(list, zip(*block, strict=True))
            words, good = decode_words(encoded, problems, where.__getitem__)
            with np.errstate(over="ignore"):
                rows.room(len(block))[:] = values
            rows.take(
                words,
                good,
                None if layout.counts is None else np.array(counts, np.int64),
                None if layout.origin is None else origin,
                where.__getitem__,
            )
    return rows.finish()


def _field_kind(name: str, field: str) -> str:
    """Return what a column holds, going by one field of it."""
    if number(field.encode(errors="replace")) is None:
        return TEXTUAL
    return WHOLE if name == COUNT_COLUMN and _WHOLE.fullmatch(field) else NUMERIC


def _numbered(source: Source, delimiter: str, headed: bool) -> Iterator[tuple[str, list[str]]]:
    """Give the records after the header, each with the line that it ends on."""
    reader = csv.reader(_lines(source), delimiter=delimiter, strict=True)
    records = ((f"line {reader.line_num}", record) for record in reader if record)
    return islice(records, int(headed), None)


def _lines(source: Source) -> Iterator[str]:
    """Give the lines of a file as text; of bytes that are no UTF-8, each is half a character."""
    data = source.read(STREAM_BUFFER).removeprefix(BOM)
    while data:
        if len(data) > MAX_LINE:
            raise BadVectors(f"{source.path}: a line is longer than {MAX_LINE >> 20} MiB; is it CSV?")
        more = source.read(STREAM_BUFFER)
        whole, newline, rest = data.rpartition(b"\n") if more else (data, b"", b"")
        yield from StringIO((whole + newline).decode(errors="surrogateescape"), newline="\n")
        data = rest + more


def _usable(
    records: Iterator[tuple[str, list[str]]], names: list[str], layout: Layout, problems: Problems
) -> Iterator[tuple[str, bytes, int, str, Doubles]]:
    """Give (where, word, count, origin, values) of the records that hold them; report the others."""
    for where, record in records:
        fields = dict(zip(names, record, strict=False))
        word = _encoded(unguarded(fields.get(layout.words, record[0])))
        if len(record) != len(names):
            detail = f"{len(record)} fields where the first line has {len(names)}"
            problems.add("wrong number of fields", where, word, detail)
            continue
        values = [fields[name] for name in layout.dimensions]
        try:
            numbers = np.array([float(value) for value in values])
        except ValueError:
            numbers = None
        if numbers is None or "_" in "".join(values):  # which Python, and no CSV, has in numbers
            place, value = next((place, value) for place, value in enumerate(values, 1) if not _numbers([value]))
            problems.add("not a number", where, word, f"value {place} is {_shown(value)}, no number")
            continue
        count = "0" if layout.counts is None else fields[layout.counts]
        if not _WHOLE.fullmatch(count):
            problems.add("bad count", where, word, f"the count is {_shown(count)}, no whole number")
            continue
        origin = "" if layout.origin is None else unguarded(_encoded(fields[layout.origin]).decode(errors="replace"))
        yield where, word, int(count), origin, numbers


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _shown(field: str) -> str:
    return repr(shortened(_encoded(field).decode(errors="replace")))


def write_csv(path: str | PathLike[str], rows: WordRows) -> None:
    """Write fields with commas between them."""
    _write_csv(path, rows, ",")


def write_tsv(path: str | PathLike[str], rows: WordRows) -> None:
    """Write fields with tabs between them."""
    _write_csv(path, rows, "\t")


def _write_csv(path: str | PathLike[str], rows: WordRows, delimiter: str) -> None:
    # pyarrow would write the shortest digits of a float32, which not every reader of doubles turns into it again.
    numbers = f"{delimiter}%.9g" * rows.matrix.shape[1]  # nine digits are enough, read in whatever way
    with open_sink(path) as file, progress(len(rows.words), "words", "writing") as bar:
        file.write(f"{delimiter.join(written_columns(rows, 0, 1))}\n".encode())
        for low in range(0, len(rows.words), ROWS_TOGETHER):
            part = slice(low, low + ROWS_TOGETHER)
            heads = [[_quoted(word)] for word in rows.words[part]]
            for column in (rows.counts, rows.origin):
                if column is not None:
                    heads = [[*head, _quoted(str(value))] for head, value in zip(heads, column[part], strict=True)]
            block = zip(heads, rows.matrix[part].tolist(), strict=True)
            file.write("".join(delimiter.join(head) + numbers % tuple(row) + "\n" for head, row in block).encode())
            bar.update_to(low + len(heads))


def _quoted(text: str) -> str:
    encode_word(text)  # an error that names a word that is no text
    cell: str = guarded(text)
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell
