"""Rows with a text, tokens or spans in them, out of JSON lines, CSV, Parquet, Arrow, frames and datasets."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any, BinaryIO, TypeAlias

from alacarte._io.decoding import decoding, read_json
from alacarte._io.frames import is_dataset, open_frame
from alacarte._io.printing import unguarded
from alacarte._io.remote import Location
from alacarte.errors import BadCorpus, Hint, require
from alacarte.text.sources import LONGEST

ROWS = 1024  # of a frame or a Parquet file, turned into Python objects at a time
ARROW_FILE = b"ARROW1\0\0"  # how an Arrow file begins; a stream has no such mark

# line (from 1) or row (from 0), text, tokens, spans, values of further columns
Record: TypeAlias = tuple[int, Any, Any, Any, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of the fields, or columns, that are read."""

    text: str | None
    tokens: str | None
    spans: str | None
    columns: tuple[str, ...] = ()  # further ones, kept with each document

    def among(self, columns: Iterable[str], where: str) -> list[str]:
        """The fields that are there, which must be text or tokens at least."""
        columns = list(columns)
        if self.text not in columns and self.tokens not in columns:
            wanted = " or ".join(repr(name) for name in (self.text, self.tokens) if name is not None)
            raise BadCorpus(
                f"{where}: no {wanted} among {', '.join(map(repr, columns)) or 'no fields at all'}",
                hint=Hint(
                    "name the one with the text as text=…, or the one with a list of tokens as tokens=…",
                    "name the one with the text as --text …, or the one with a list of tokens as --tokens …",
                ),
            )
        absent = [name for name in self.columns if name not in columns]
        if absent:
            raise BadCorpus(f"{where}: no {absent[0]!r} among {', '.join(map(repr, columns))}; check the column's name")
        read = dict.fromkeys((self.text, self.tokens, self.spans, *self.columns))
        return [name for name in read if name is not None and name in columns]

    def values(self, record: Mapping[str, Any]) -> tuple[Any, ...]:
        """The further columns of one record; None where one is not there."""
        return tuple(record.get(name) for name in self.columns)


def jsonl(name: str, texts: Iterable[str], fields: Fields) -> Iterator[Record]:
    """A record per line: an object with the fields, or a bare string or list of tokens.

    >>> list(jsonl("x.jsonl", ['{"text": "a b"}\\n["a", "b"]\\n'], Fields("text", "tokens", "spans")))
    [(1, 'a b', None, None, ()), (2, None, ['a', 'b'], None, ())]
    """
    number = 0
    for text in texts:
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            number += 1
            if not line or line.isspace():
                continue
            try:
                value = read_json(line)
            except ValueError as error:
                said = f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else error
                raise BadCorpus(
                    f"{name}, line {number}: not JSON ({said}); correct the line",
                    hint=Hint(
                        'or pass format="text" if the file is plain text',
                        "or pass --format text if the file is plain text",
                    ),
                ) from None
            if isinstance(value, str):
                yield number, value, None, None, fields.values({})
            elif isinstance(value, list):
                yield number, None, value, None, fields.values({})
            elif isinstance(value, dict):
                if fields.text not in value and fields.tokens not in value:
                    fields.among(value, f"{name}, line {number}")
                text_of, tokens, spans = (value.get(name) for name in (fields.text, fields.tokens, fields.spans))
                yield number, text_of, tokens, spans, fields.values(value)
            else:
                raise BadCorpus(
                    f"{name}, line {number}: {json.dumps(value)} is no document; each line holds an object, "
                    "a string, or a list of tokens"
                )


def delimited(name: str, texts: Iterable[str], fields: Fields, delimiter: str) -> Iterator[Record]:
    """A record per row of CSV or TSV with a header row; the ' before what would be a formula is taken away.

    >>> list(delimited("x.csv", ["id,text\\n1,a b\\n"], Fields("text", None, None), ","))
    [(2, 'a b', None, None, ())]
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    rows = csv.reader(_lines(texts), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    column, further = -1, list[int]()
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadCorpus(
                f"{name}, line {rows.line_num}: {error}; correct the quotes there, or split the file "
                "yourself and pass the texts as a list"
            ) from None
        if not row:
            continue
        if header is None:
            header = [unguarded(name) for name in row]
            Fields(fields.text, None, None, fields.columns).among(header, f"{name}, header")
            column = header.index(str(fields.text))
            further = [header.index(name) for name in fields.columns]
        elif len(row) != len(header):
            raise BadCorpus(
                f"{name}, line {rows.line_num}: {len(row)} values under a header of {len(header)}; correct "
                "the row: a value that holds the delimiter, a quote or a line end must be quoted"
            )
        else:
            yield rows.line_num, unguarded(row[column]), None, None, tuple(unguarded(row[place]) for place in further)


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        lines = text.split("\n")
        last = lines.pop()
        for line in lines:
            yield line + "\n"
        if last:
            yield last


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of a Parquet file that lie together."""

    number: int
    start: int  # bytes of the file up to it
    stop: int  # and up to the next one
    first_row: int
    rows: int

    def position(self, row: int) -> int:
        """About where in the file a row lies."""
        return self.start + (self.stop - self.start) * (row - self.first_row) // self.rows


def row_groups(location: Location) -> list[RowGroup]:
    """The row groups of a Parquet file that hold anything."""
    with _parquet(location) as file:
        return _row_groups(file, location.size)


def _row_groups(file: Any, size: int) -> list[RowGroup]:
    groups: list[RowGroup] = []
    stop, row = size, file.metadata.num_rows
    for number in reversed(range(file.metadata.num_row_groups)):
        group = file.metadata.row_group(number)
        row -= group.num_rows
        if group.num_rows:
            columns = [group.column(place) for place in range(group.num_columns)]
            start = min(column.dictionary_page_offset or column.data_page_offset for column in columns) if row else 0
            groups.append(RowGroup(number, start, stop, row, group.num_rows))
            stop = start
    return groups[::-1]


@contextmanager
def _parquet(location: Location) -> Iterator[Any]:
    """A Parquet file, open."""
    require("pyarrow", extra="parquet", purpose="reading Parquet files")
    module = require("pyarrow.parquet", extra="parquet", purpose="reading Parquet files")
    with location.open() as raw:
        with decoding(location.name, BadCorpus, "check how it was written"):
            file = module.ParquetFile(raw if location.path is None else location.path)
        with file:
            yield file


def parquet(location: Location, fields: Fields, start: int, stop: int) -> Iterator[tuple[RowGroup, Iterator[Record]]]:
    """The row groups that begin in [start, stop), and the records of each."""
    with _parquet(location) as file:
        columns = fields.among(file.schema_arrow.names, location.name)
        for group in _row_groups(file, location.size):
            if start <= group.start < stop:
                batches = file.iter_batches(batch_size=ROWS, row_groups=[group.number], columns=columns)
                yield group, _records(location, batches, group.first_row, fields)


def _records(location: Location, batches: Iterator[Any], number: int, fields: Fields) -> Iterator[Record]:
    while True:
        with decoding(f"{location}, after row {number},", BadCorpus, "copy it again"):
            batch = next(batches, None)
            if batch is None:
                return
            rows = batch.to_pydict()
        yield from _zipped(fields, number, rows)
        number += batch.num_rows


def arrow(name: str, file: BinaryIO, fields: Fields) -> Iterator[Record]:
    """Each row of an Arrow file or stream, or of Feather, which is the same; one record batch in memory at a time."""
    ipc = require("pyarrow.ipc", extra="parquet", purpose="reading Arrow files")
    head = file.read(len(ARROW_FILE))
    # A file is a stream with a mark before it and a table of contents behind it, which a reader of all has no use for.
    source = _ToItsEnd(b"" if head == ARROW_FILE else head, file)
    with decoding(name, BadCorpus, "check how it was written"):
        reader = ipc.open_stream(source)
        columns = fields.among(reader.schema.names, name)
    number = 0
    while True:
        with decoding(f"{name}, after row {number},", BadCorpus, "copy it again"):
            batch = next(reader, None)
        if batch is None:
            break
        batch = batch.select(columns)
        for start in range(0, batch.num_rows, ROWS):
            with decoding(f"{name}, after row {number + start},", BadCorpus, "copy it again"):
                rows = batch.slice(start, ROWS).to_pydict()
            yield from _zipped(fields, number + start, rows)
        number += batch.num_rows
    whole = source.read().endswith(ARROW_FILE.rstrip(b"\0")) if head == ARROW_FILE else not source.ended
    if not whole:
        raise BadCorpus(f"{name} was cut off after row {number}; copy it again")


class _ToItsEnd(io.RawIOBase):
    """Some bytes and then a file; knows whether its reader went on to the end, for want of a mark before it."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = head, file
        self.ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._head and size >= 0:
            read, self._head = self._head[:size], self._head[size:]
            return read + (self.read(size - len(read)) if len(read) < size else b"")
        read = self._file.read(size)
        self.ended = self.ended or len(read) < size
        return read


def dataset_rows(source: Any, fields: Fields) -> Iterator[Record]:
    """Each row of a `datasets.Dataset` or `IterableDataset`; with its transform, if it has one."""
    if source.column_names is not None:
        columns = fields.among(source.column_names, "the dataset")
    transformed = (getattr(source, "format", None) or {}).get("type") == "custom"
    if not transformed:
        source = source.with_format("arrow")
        source = source if source.column_names is None else source.select_columns(columns)
    number = 0
    for batch in source.iter(batch_size=ROWS):
        rows = batch if transformed else batch.to_pydict()
        columns = fields.among(rows, "the dataset")
        yield from _zipped(fields, number, {name: list(rows[name]) for name in columns})
        number += len(rows[columns[0]])


def frame_rows(source: Any, fields: Fields) -> Iterator[Record]:
    """Each row of a pandas, polars or Arrow frame, of a dataset, or of whatever else narwhals knows."""
    if is_dataset(source):
        yield from dataset_rows(source, fields)
        return
    frame = as_frame(source)
    columns = fields.among(frame.collect_schema().names(), "the frame")
    frame = frame.select(columns)
    if hasattr(frame, "collect"):
        frame = frame.collect()
    for start in range(0, len(frame), ROWS):
        part = frame[start : start + ROWS]
        yield from _zipped(fields, start, {name: part[name].to_list() for name in columns})


def frame_length(source: Any) -> int | None:
    if is_dataset(source):
        return len(source) if hasattr(source, "__len__") else None
    frame = as_frame(source)
    return None if hasattr(frame, "collect") else len(frame)


def as_frame(source: Any) -> Any:
    """A frame, or a dataset that is not a stream, as narwhals has it."""
    return open_frame(source, BadCorpus, "reading documents from a data frame", "pass its texts as a list")


def _zipped(fields: Fields, start: int, columns: dict[str, list[Any]]) -> Iterator[Record]:
    nothing = [None] * len(next(iter(columns.values())))
    text, tokens, spans = (columns.get(name or "", nothing) for name in (fields.text, fields.tokens, fields.spans))
    further = (
        zip(*(columns[name] for name in fields.columns), strict=True) if fields.columns else repeat((), len(nothing))
    )
    return zip(range(start, start + len(nothing)), text, tokens, spans, further, strict=True)


def is_null(value: Any) -> bool:
    """None, and what the frame libraries put for it.

    >>> is_null(None), is_null(float("nan")), is_null("")
    (True, True, False)
    """
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"
