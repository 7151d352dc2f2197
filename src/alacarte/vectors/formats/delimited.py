"""Vectors as CSV or TSV: a header, then a word and its values a line; text is quoted as RFC 4180 has it.

A word that a spreadsheet would take for a formula has a ' before it, which is taken away again here. Files of others
may have no header, a semicolon for a comma, and other names for the columns; the words are in the column `word`, or in
the first one.
"""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import islice
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from alacarte._io.printing import guarded, unguarded
from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors
from alacarte.vectors.formats.columns import (
    COUNT,
    NUMBER,
    ORIGIN,
    TEXT,
    WHOLE,
    WORD,
    Layout,
    add_rows,
    columns_of,
    find_layout,
)
from alacarte.vectors.formats.problems import Problems, shortened
from alacarte.vectors.formats.streams import Source
from alacarte.vectors.formats.table import Growing, Table
from alacarte.vectors.formats.text import BOM, HEAD, MAX_LINE, number

BLOCK = 1 << 22
ROWS = 1000  # rows written together
FIELDS = 1 << 20  # fields read together
LONGEST = 1 << 24  # characters of a record
DELIMITERS = ",;\t"
WORDS = (WORD, "words", "token", "term", "key", "")  # what the column of words is called where values are numbered
_QUOTED = re.compile(r'["\r\n,;\t]|^\s|\s$|^$')
_WHOLE = re.compile(r"-?[0-9]{1,19}")


def looks_like(head: bytes, whole: bool) -> bool:
    """Whether the first bytes of a file are a table of vectors: one of ours, or a word and some numbers a line.

    >>> [looks_like(text, True) for text in (b"word,0\\na,2\\n", b"a,1,2,3\\n", b"text,n\\nhi,1\\n")]
    [True, True, False]
    """
    text = head.removeprefix(BOM).decode(errors="replace")
    if not whole:  # the last line may be cut off
        text = text.rpartition("\n")[0] + "\n"
    lines = [f"{line}\n" for line in text.split("\n", 100)[:100]]
    delimiter = _delimiter(lines[0])
    try:
        records = [row for row in islice(csv.reader(lines, delimiter=delimiter, strict=True), 3) if row]
    except csv.Error:
        return False
    if not records or len({len(row) for row in records}) != 1 or len(records[0]) < 2:
        return False
    if _ours(records[0]):
        return True
    if delimiter == "\t" and not _is_header(records[0]):  # which is GloVe's format with tabs
        return False
    # A table of others: a word and at least three numbers. Row names that are numbers are those of a bare matrix.
    last = records[-1]
    return len(last) > 3 and _numbers(last) == len(last) - 1 and _numbers(last[:1]) == 0


def _delimiter(first: str) -> str:
    """The character that makes most fields of the first line."""
    fields = [_fields(first, mark) for mark in DELIMITERS]
    return DELIMITERS[fields.index(max(fields))]


def _fields(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0


def _numbers(row: list[str]) -> int:
    return sum(number(field.encode(errors="replace")) is not None for field in row)


def _ours(header: list[str]) -> bool:
    """Whether a header numbers the dimensions, as this package and pandas do, behind a name for the words."""
    rest = [name for name in header[1:] if name not in (COUNT, ORIGIN)]
    numbered = [sorted(str(place + start) for place in range(len(rest))) for start in (0, 1)]
    return bool(rest) and sorted(rest) in numbered and header[0].lower() in WORDS


def _is_header(row: list[str]) -> bool:
    numbers = _numbers(row[1:])
    return _ours(row) or numbers == 0 or (numbers < len(row) - 1 and row[0].lower() in WORDS)


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read the rows, a block at a time."""
    with Source(path) as source:
        head = source.read(HEAD)
        first = head.removeprefix(BOM).decode(errors="replace").partition("\n")[0]
        records = _Records(_lines(source, head.removeprefix(BOM)), _delimiter(first), problems)
        opening = records.take(1)
        if not opening:
            return Table([], np.empty((0, 0), np.float32))
        header = [unguarded(name) for name in opening[0]]
        headed = _is_header(header)
        names = header if headed else [WORD, *(str(place) for place in range(len(header) - 1))]
        if len(set(names)) != len(names):
            raise BadVectors(f"{path}, line 1: two columns have the same name; give each its own")
        records.width = len(names)
        block = records.take(1) if headed else opening
        if not block:
            return Table([], np.empty((0, 0), np.float32))
        layout = find_layout(_kinds(names, block[0]), str(path), words=WORD if WORD in names else names[0])
        places = {name: place for place, name in enumerate(names)}
        rows = Growing(len(layout.dimensions), 1)
        rows_read = 0
        while block:
            add_rows(rows, *_parse(block, layout, places, problems, rows_read), problems, rows_read)
            rows_read += len(block)
            at_once = max(1, FIELDS // len(names))
            block = records.take(at_once if limit is None else min(at_once, limit - len(rows)))
    return rows.table(problems, None)


def _kinds(names: list[str], row: list[str]) -> dict[str, str]:
    """What each column holds, going by one row; what is no number in it is a fault unless it is text all through."""
    kinds = {}
    for name, field in zip(names, row, strict=True):
        is_number = number(field.encode(errors="replace")) is not None
        kinds[name] = (WHOLE if name == COUNT and _WHOLE.fullmatch(field) else NUMBER) if is_number else TEXT
    return kinds


class _Records:
    """The records of a CSV file; those with too few or too many fields are reported and left out as rows."""

    def __init__(self, lines: Iterator[str], delimiter: str, problems: Problems) -> None:
        self._reader = csv.reader(self._watched(lines), delimiter=delimiter, strict=True)
        self._problems = problems
        self._length = 0  # of the record that is being read
        self.width: int | None = None

    def _watched(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self._length += len(line)
            if self._length > LONGEST:
                where = f"{self._problems.path}, line {self._reader.line_num + 1}"
                raise BadVectors(f"{where}: a record is longer than {LONGEST >> 20} MiB; is a quote missing?")
            yield line

    def take(self, count: int) -> list[list[str]]:
        """The next records, at most so many."""
        records: list[list[str]] = []
        while len(records) < count:
            try:
                record = next(self._reader)
            except StopIteration:
                break
            except csv.Error as error:
                raise BadVectors(
                    f"{self._problems.path}, line {self._reader.line_num}: {error}; correct the quotes there"
                ) from None
            self._length = 0
            if not record:
                continue
            if self.width is not None and len(record) != self.width:
                detail = f"{len(record)} fields where the first line has {self.width}"
                self._problems.add("wrong number of fields", f"line {self._reader.line_num}", record[0], detail)
                continue
            records.append(record)
        return records


def _lines(source: Source, data: bytes) -> Iterator[str]:
    """The lines of a file with their ends; what is no UTF-8 in them as halves of surrogate pairs."""
    while True:
        lines = data.split(b"\n")
        data = lines.pop()
        for line in lines:
            yield line.decode(errors="surrogateescape") + "\n"
        if len(data) > MAX_LINE:
            raise BadVectors(f"{source.path}: a line is longer than {MAX_LINE >> 20} MiB; is it a text file?")
        more = source.read(BLOCK)
        if not more:
            break
        data += more
    if data:
        yield data.decode(errors="surrogateescape")


def _parse(
    block: list[list[str]], layout: Layout, places: dict[str, int], problems: Problems, first: int
) -> tuple[Table, NDArray[np.bool_]]:
    """The words and values of some records, and which of them could be read; the others are reported."""
    words = [unguarded(record[places[layout.words]]) for record in block]
    good = np.ones(len(block), np.bool_)

    def leave_out(row: int, reason: str, detail: str) -> None:
        if good[row]:
            good[row] = False
            problems.add(reason, f"row {first + row + 1}", words[row].encode(errors="replace"), detail)

    for row, word in enumerate(words):
        if not word.isascii() and any("\ud800" <= mark <= "\udfff" for mark in word):
            leave_out(row, "bad UTF-8", "the word is not UTF-8")
    columns = [places[name] for name in layout.dimensions]
    matrix = _values([[record[place] for place in columns] for record in block], leave_out)
    counts = origin = None
    if layout.counts is not None:
        counts = np.zeros(len(block), np.int64)
        for row, record in enumerate(block):
            field = record[places[layout.counts]]
            if _WHOLE.fullmatch(field):
                counts[row] = int(field)
            else:
                leave_out(row, "bad count", f"the count is {shortened(field)!r}, no whole number")
    if layout.origin is not None:
        origin = tuple(unguarded(record[places[layout.origin]]) for record in block)
    return Table(words, matrix, counts=counts, origin=origin), good


def _values(fields: list[list[str]], leave_out: Callable[[int, str, str], None]) -> NDArray[Any]:
    try:
        return np.array(fields, np.float64)
    except ValueError:
        pass
    values = np.zeros((len(fields), len(fields[0])))
    for row, record in enumerate(fields):
        for place, field in enumerate(record):
            value = number(field.encode(errors="replace"))
            if value is None:
                leave_out(row, "not a number", f"value {place + 1} is {shortened(field)!r}, no number")
                break
            values[row, place] = value
    return values


def write_csv(file: BinaryIO, table: Table) -> None:
    """Write fields with commas between them."""
    _write(file, table, ",")


def write_tsv(file: BinaryIO, table: Table) -> None:
    """Write fields with tabs between them."""
    _write(file, table, "\t")


def _write(file: BinaryIO, table: Table, delimiter: str) -> None:
    file.write(f"{delimiter.join(columns_of(table, 0, 1))}\n".encode())
    numbers = f"{delimiter}%.9g" * table.matrix.shape[1]  # nine digits are enough to tell any two float32 apart
    with progress(len(table.words), "words", "writing") as bar:
        for low in range(0, len(table.words), ROWS):
            block = table.matrix[low : low + ROWS].tolist()
            text = [_field(word) for word in table.words[low : low + ROWS]]
            if table.counts is not None:
                counts = table.counts[low : low + ROWS].tolist()
                text = [f"{start}{delimiter}{count}" for start, count in zip(text, counts, strict=True)]
            if table.origin is not None:
                origin = table.origin[low : low + ROWS]
                text = [f"{start}{delimiter}{_field(name)}" for start, name in zip(text, origin, strict=True)]
            lines = [start + numbers % tuple(row) + "\n" for start, row in zip(text, block, strict=True)]
            file.write("".join(lines).encode())
            bar.update_to(low + len(lines))


def _field(text: str) -> str:
    encode_word(text)  # an error that names a word that is no text
    cell: str = guarded(text)
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell
