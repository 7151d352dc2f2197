"""Vectors in tables that pyarrow reads: Parquet, Arrow (.arrow, .feather), CSV and TSV; the last two written by us.

There is one row per word, in the columns that `columns` describes. In CSV, a word that a spreadsheet would take for a
formula has a ' before it, which is taken away again here.
"""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.arrays import Mask
from alacarte._io.arrow import open_arrow
from alacarte._io.printing import guarded, shortened, unguarded
from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors, require
from alacarte.vectors.formats.columns import (
    COUNT_COLUMN,
    LIST,
    NUMERIC,
    ORIGIN_COLUMN,
    OTHER,
    TEXTUAL,
    WHOLE,
    WORD_COLUMN,
    Layout,
    add_rows,
    find_layout,
    take_columns,
    written_columns,
)
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, decode_words, rows_at_once
from alacarte.vectors.formats.streams import Source, open_sink, uncompressed
from alacarte.vectors.formats.text import BOM, HEAD_BYTES, number

STREAM = b"\xff\xff\xff\xff"  # how Arrow's format for streams begins
WRITTEN = 1 << 16  # rows of Arrow and Parquet files written together
CSV_LINES = 1000  # lines of CSV written together
RECORD = 1 << 24  # bytes of CSV that are read together, and the most that one row may have
DELIMITERS = ",;\t"
# What the column of words is called where values are numbered.
WORD_COLUMN_NAMES = (WORD_COLUMN, "words", "token", "term", "key", "")
_QUOTED = re.compile(r'["\r\n,;\t]|^\s|\s$|^$')
_WHOLE = re.compile(r"-?[0-9]{1,19}")

ToColumns = Callable[[Any, Layout, int], tuple[dict[str, NDArray[Any]], Mask]]  # a batch, the layout, its first row


def read_parquet(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the columns that hold words and values."""
    with uncompressed(path) as plain, open_arrow(plain, "parquet") as file:
        layout = _layout(file.schema, path)
        batches = file.batches(layout.names, rows_at_once(max(1, len(layout.names))))
        return _read_batches(batches, layout, limit, problems, _arrays, sum(rows for _, rows in file.groups))


def read_arrow(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read Arrow's format for files (Feather's, too) or for streams."""
    with uncompressed(path) as plain, plain.open("rb") as raw:
        head = raw.read(len(STREAM))
        is_stream = head == STREAM
        with open_arrow(raw if is_stream else plain, "arrow", head if is_stream else None) as file:
            layout = _layout(file.schema, path)
            total = None if is_stream else sum(rows for _, rows in file.groups)
            batches = file.batches(layout.names, rows_at_once(max(1, len(layout.names))))
            return _read_batches(batches, layout, limit, problems, _arrays, total)


def _layout(schema: Any, path: str | PathLike[str]) -> Layout:
    kinds = {name: _kind(schema.field(place).type) for place, name in enumerate(schema.names)}
    return find_layout(kinds, str(path))


def _kind(type_: Any) -> str:
    types = require("pyarrow.types", extra="parquet", purpose="reading Arrow files")
    if types.is_dictionary(type_):
        type_ = type_.value_type
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return TEXTUAL
    if types.is_integer(type_):
        return WHOLE
    if types.is_floating(type_) or types.is_boolean(type_):
        return NUMERIC
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        return LIST if _kind(type_.value_type) in (WHOLE, NUMERIC) else OTHER
    return OTHER


def _read_batches(
    batches: Iterator[Any],
    layout: Layout,
    limit: int | None,
    problems: Problems,
    to_columns: ToColumns,
    total: int | None = None,
) -> WordRows:
    rows: Growing | None = None
    rows_read = 0
    for batch in batches:
        low = 0
        while low < batch.num_rows and (limit is None or rows is None or len(rows) < limit):
            wanted = rows_at_once(len(layout.names))
            wanted = wanted if limit is None else min(wanted, limit - (0 if rows is None else len(rows)))
            part = batch.slice(low, wanted)
            columns, good = to_columns(part, layout, rows_read)
            taken = take_columns(columns, layout, problems.path)
            if rows is None:
                rows = Growing(taken.matrix.shape[1], len(taken.words))
            add_rows(rows, taken, good, problems, rows_read)
            low += part.num_rows
            rows_read += part.num_rows
        if rows is not None and len(rows) == limit:
            break
    return WordRows([], np.empty((0, 0), np.float32)) if rows is None else rows.finish(problems, total)


def _arrays(batch: Any, layout: Layout, first: int) -> tuple[dict[str, NDArray[Any]], Mask]:
    """Return the columns of a batch as arrays, and which of its rows could be read: all."""
    columns = {name: _array(batch.column(batch.schema.get_field_index(name))) for name in layout.names}
    return columns, np.ones(batch.num_rows, np.bool_)


def _array(column: Any) -> NDArray[Any]:
    """Return a column as NumPy array: text and uneven lists as objects, even lists as a matrix, null as NaN or None."""
    kind = _kind(column.type)
    if kind == TEXTUAL:
        return np.array(column.to_pylist(), object)
    if kind == LIST:
        lengths = column.value_lengths()
        if not column.null_count and len(set(lengths.to_pylist())) == 1 and lengths[0].as_py():
            return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(column), -1)
        listed = np.empty(len(column), object)
        listed[:] = column.to_pylist()
        return listed
    return np.asarray(column.to_numpy(zero_copy_only=False))


def write_parquet(path: str | PathLike[str], rows: WordRows) -> None:
    """Write a Parquet file: float32 values, one column per dimension."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing Parquet files")
    schema, batches = _batches(rows)
    with open_sink(path) as file, parquet.ParquetWriter(file, schema, use_dictionary=["origin"]) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_arrow(path: str | PathLike[str], rows: WordRows) -> None:
    """Write an Arrow file, which is Feather's format, not compressed: it can be mapped into memory."""
    ipc = require("pyarrow.ipc", extra="parquet", purpose="writing Arrow files")
    schema, batches = _batches(rows)
    with open_sink(path) as file, ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _batches(rows: WordRows) -> tuple[Any, Iterator[Any]]:
    arrow = require("pyarrow", extra="parquet", purpose="writing Arrow and Parquet files")
    for word in (*rows.words, *(rows.origin or ())):
        encode_word(word)  # an error that names a word that is no text
    first = arrow.record_batch(written_columns(rows, 0, 1))
    blocks = range(0, len(rows.words), WRITTEN)
    return first.schema, (arrow.record_batch(written_columns(rows, low, low + WRITTEN)) for low in blocks)


# --------------------------------------------------------------------------------------------------- CSV and TSV


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


def read_csv(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read CSV or TSV; files of others may have no header, a semicolon for a comma, and other names for the columns.

    The words are in the column `word`, or in the first one.
    """
    reader = require("pyarrow.csv", extra="parquet", purpose="reading CSV files")
    arrow = require("pyarrow", extra="parquet", purpose="reading CSV files")
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
    row = records[1] if headed else records[0]
    kinds = {name: _field_kind(name, field) for name, field in zip(names, row, strict=False)}
    layout = find_layout(kinds, str(path), words=WORD_COLUMN if WORD_COLUMN in names else names[0])
    odd: list[Any] = []  # rows with too few or too many fields

    def skip_odd(found: Any) -> str:
        odd.append(found)
        return "skip"

    reported = 0

    def report_odd(before: float) -> None:
        """Report the odd rows that come before a row of those that are not."""
        nonlocal reported
        while reported < len(odd) and odd[reported].number - reported <= headed + before:
            found = odd[reported]
            reported += 1
            detail = f"{found.actual_columns} fields where the first line has {found.expected_columns}"
            word = unguarded(found.text.partition(delimiter)[0]).encode("latin-1")
            problems.add("wrong number of fields", f"line {found.number}", word, detail)

    def to_columns(batch: Any, layout: Layout, first: int) -> tuple[dict[str, NDArray[Any]], Mask]:
        report_odd(first + batch.num_rows)
        return _fields(batch, layout, first, problems)

    def all_batches(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        report_odd(float("inf"))  # those at the end

    with Source(path) as source, arrow.PythonFile(source, mode="r") as file:
        batches = reader.open_csv(
            file,
            # As Latin-1 any byte is a character: words that are no UTF-8 are found, and named, in `_fields`.
            reader.ReadOptions(
                use_threads=False,
                block_size=RECORD,
                column_names=names,
                skip_rows_after_names=int(headed),
                encoding="latin-1",
            ),
            reader.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip_odd),
            reader.ConvertOptions(column_types=dict.fromkeys(names, arrow.string()), include_columns=layout.names),
        )
        return _read_batches(all_batches(batches), layout, limit, problems, to_columns)


def _field_kind(name: str, field: str) -> str:
    """Return what a column holds, going by one field of it."""
    if number(field.encode(errors="replace")) is None:
        return TEXTUAL
    return WHOLE if name == COUNT_COLUMN and _WHOLE.fullmatch(field) else NUMERIC


def _fields(batch: Any, layout: Layout, first: int, problems: Problems) -> tuple[dict[str, NDArray[Any]], Mask]:
    """Return the columns of some rows of CSV, and which of the rows could be read; the others are reported."""
    compute = require("pyarrow.compute", extra="parquet", purpose="reading CSV files")
    fields = {name: batch.column(batch.schema.get_field_index(name)) for name in layout.names}
    encoded = [word.encode("latin-1") for word in fields[layout.words].to_pylist()]
    if first == 0:
        encoded[0] = encoded[0].removeprefix(BOM)
    words, good = decode_words(encoded, problems, first)

    def converted(name: str, kind: Any, reason: str, convert: Callable[[bytes], Any], said: str) -> NDArray[Any]:
        try:
            return np.asarray(compute.cast(fields[name], kind))
        except ValueError:  # find out which of them
            pass
        values = np.zeros(len(words), kind)
        for row, text in enumerate(fields[name].to_pylist()):
            field = text.encode("latin-1")
            value = convert(field)
            if value is None and good[row]:
                good[row] = False
                shown = repr(shortened(field.decode(errors="replace")))
                problems.add(reason, f"row {first + row + 1}", words[row], said.format(shown))
            values[row] = 0 if value is None else value
        return values

    columns: dict[str, NDArray[Any]] = {layout.words: np.array([unguarded(word) for word in words], object)}
    for place, name in enumerate(layout.dimensions):
        said = f"value {place + 1} is {{}}, no number"
        columns[name] = converted(name, "float64", "not a number", number, said)
    if layout.counts is not None:
        said = "the count is {}, no whole number"
        columns[layout.counts] = converted(layout.counts, "int64", "bad count", _whole, said)
    if layout.origin is not None:
        origins = fields[layout.origin].to_pylist()
        decoded = [origin.encode("latin-1").decode(errors="replace") for origin in origins]
        columns[layout.origin] = np.array([unguarded(origin) for origin in decoded], object)
    return columns, good


def _whole(field: bytes) -> int | None:
    return int(field) if _WHOLE.fullmatch(field.decode(errors="replace")) else None


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
        for low in range(0, len(rows.words), CSV_LINES):
            part = slice(low, low + CSV_LINES)
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
