"""Rows with a text, tokens or spans in them, out of JSON lines, CSV, Parquet, Arrow, frames and datasets."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeAlias

from alacarte._io.arrow import ArrowFile, open_arrow
from alacarte._io.decoding import decoding, read_json
from alacarte._io.frames import is_dataset, open_frame
from alacarte._io.printing import unguarded
from alacarte._io.urls import Location
from alacarte.errors import BadCorpus, Hint
from alacarte.text.documents import Document, Item, check_tokens, type_name
from alacarte.text.lines import LONGEST_LINE
from alacarte.text.options import CorpusOptions, Format
from alacarte.text.streams import Stream, reading

RECORDS_AT_ONCE = 1024  # of a frame or a Parquet file, turned into Python objects at a time
ARROW_FILE = b"ARROW1\0\0"  # how an Arrow file begins; a stream has no such mark

# line (from 1) or row (from 0), text, tokens, spans, values of further columns
Record: TypeAlias = tuple[int, Any, Any, Any, tuple[Any, ...]]


def jsonl(name: str, texts: Iterable[str], options: CorpusOptions) -> Iterator[Record]:
    r"""Give a record for each line: an object with the fields, or a bare string or list of tokens.

    >>> list(jsonl("x.jsonl", ['{"text": "a b"}\n["a", "b"]\n'], CorpusOptions()))
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
                yield number, value, None, None, options.values_of({})
            elif isinstance(value, list):
                yield number, None, value, None, options.values_of({})
            elif isinstance(value, dict):
                if options.text not in value and options.tokens not in value:
                    options.fields_among(value, f"{name}, line {number}")
                text_of, tokens, spans = (value.get(name) for name in (options.text, options.tokens, options.spans))
                yield number, text_of, tokens, spans, options.values_of(value)
            else:
                raise BadCorpus(
                    f"{name}, line {number}: {json.dumps(value)} is no document; each line holds an object, "
                    "a string, or a list of tokens"
                )


def delimiter_of(header: str) -> str:
    """Return what separates the columns of a CSV file: semicolons if the header has more of them than of commas.

    >>> delimiter_of("id,text"), delimiter_of('text;"price, net"')
    (',', ';')
    """
    header = re.sub('"[^"]*"', "", header)
    return ";" if header.count(";") > header.count(",") else ","


def delimited(name: str, texts: Iterable[str], options: CorpusOptions, format: Format) -> Iterator[Record]:
    r"""Give a record for each row of CSV or TSV with a header row; the ' before what would be a formula is taken away.

    >>> list(delimited("x.csv", ["id;text\n1;a b\n"], CorpusOptions(), "csv"))
    [(2, 'a b', None, None, ())]
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    lines = _lines(texts)
    first = next(lines, "")
    delimiter = delimiter_of(first) if format == "csv" else "\t"
    rows = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
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
            replace(options, tokens=None, spans=None).fields_among(header, f"{name}, header")
            column = header.index(str(options.text))
            further = [header.index(name) for name in options.columns]
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
        """Return about where in the file a row lies."""
        return self.start + (self.stop - self.start) * (row - self.first_row) // self.rows


def row_groups(location: Location) -> list[RowGroup]:
    """Return the row groups of a Parquet file that hold anything."""
    with _parquet(location) as file:
        return _row_groups(file, location.size)


def _row_groups(file: ArrowFile, size: int) -> list[RowGroup]:
    groups: list[RowGroup] = []
    stop, row = size, sum(rows for _, rows in file.groups)
    for number, (start, rows) in reversed([*enumerate(file.groups)]):
        row -= rows
        if rows:
            groups.append(RowGroup(number, start if row else 0, stop, row, rows))
            stop = groups[-1].start
    return groups[::-1]


@contextmanager
def _parquet(location: Location) -> Iterator[ArrowFile]:
    """Yield a Parquet file, open."""
    with ExitStack() as stack:
        source = location.path or stack.enter_context(location.open())
        with decoding(location.name, BadCorpus, "check how it was written"):
            file = stack.enter_context(open_arrow(source, "parquet"))
        yield file


def parquet(
    location: Location, options: CorpusOptions, start: int, stop: int
) -> Iterator[tuple[RowGroup, Iterator[Record]]]:
    """Yield the row groups that begin in [start, stop), and the records of each."""
    with _parquet(location) as file:
        columns = options.fields_among(file.schema.names, location.name)
        for group in _row_groups(file, location.size):
            if start <= group.start < stop:
                batches = file.batches(columns, RECORDS_AT_ONCE, group.number)
                yield group, _records(location.name, batches, group.first_row, options)


def _records(name: str, batches: Iterator[Any], number: int, options: CorpusOptions) -> Iterator[Record]:
    while True:
        with decoding(f"{name}, after row {number},", BadCorpus, "copy it again"):
            batch = next(batches, None)
            if batch is None:
                return
            rows = batch.to_pydict()
        yield from _zipped(options, number, rows)
        number += batch.num_rows


def arrow(stream: Stream, options: CorpusOptions) -> Iterator[Record]:
    """Give each row of an Arrow file or stream, or of Feather, with one record batch in memory at a time."""
    head = stream.file.read(len(ARROW_FILE))
    with ExitStack() as stack:
        source: Path | BinaryIO = stream.file
        if head == ARROW_FILE:  # with a table of contents at its end
            source = stack.enter_context(_seekable(stream, head))
        with decoding(stream.name, BadCorpus, "check how it was written"):
            file = stack.enter_context(open_arrow(source, "arrow", None if head == ARROW_FILE else head))
        columns = options.fields_among(file.schema.names, stream.name)
        yield from _records(stream.name, file.batches(columns, RECORDS_AT_ONCE), 0, options)
        if stream.location is not None:
            stream.position = lambda size=stream.location.size: size  # type: ignore[misc]


@contextmanager
def _seekable(stream: Stream, head: bytes) -> Iterator[Path | BinaryIO]:
    """Yield a file to be read at any byte, of which `head` was read: itself, or a copy if it is packed."""
    if stream.location is not None:
        with stream.location.open() as file:
            yield stream.location.path or file
        return
    with TemporaryFile() as copy:
        copy.write(head)
        with reading(stream.name):
            copyfileobj(stream.file, copy, 1 << 20)
        yield copy


def dataset_rows(source: Any, options: CorpusOptions) -> Iterator[Record]:
    """Give each row of a `datasets.Dataset` or `IterableDataset`; with its transform, if it has one."""
    if source.column_names is not None:
        columns = options.fields_among(source.column_names, "the dataset")
    transformed = (getattr(source, "format", None) or {}).get("type") == "custom"
    if not transformed:
        source = source.with_format("arrow")
        source = source if source.column_names is None else source.select_columns(columns)
    number = 0
    for batch in source.iter(batch_size=RECORDS_AT_ONCE):
        rows = batch if transformed else batch.to_pydict()
        columns = options.fields_among(rows, "the dataset")
        yield from _zipped(options, number, {name: list(rows[name]) for name in columns})
        number += len(rows[columns[0]])


def frame_rows(source: Any, options: CorpusOptions) -> Iterator[Record]:
    """Give each row of a pandas, polars or Arrow frame, of a dataset, or of whatever else narwhals knows."""
    if is_dataset(source):
        yield from dataset_rows(source, options)
        return
    frame = as_frame(source)
    columns = options.fields_among(frame.collect_schema().names(), "the frame")
    frame = frame.select(columns)
    if hasattr(frame, "collect"):
        frame = frame.collect()
    for start in range(0, len(frame), RECORDS_AT_ONCE):
        part = frame[start : start + RECORDS_AT_ONCE]
        yield from _zipped(options, start, {name: part[name].to_list() for name in columns})


def frame_length(source: Any) -> int | None:
    """Return the number of rows; None where counting means reading."""
    if is_dataset(source):
        return len(source) if hasattr(source, "__len__") else None
    frame = as_frame(source)
    return None if hasattr(frame, "collect") else len(frame)


def as_frame(source: Any) -> Any:
    """Return a frame, or a dataset that is not a stream, as narwhals has it."""
    return open_frame(source, BadCorpus, "reading documents from a data frame", "pass its texts as a list")


def _zipped(options: CorpusOptions, start: int, columns: dict[str, list[Any]]) -> Iterator[Record]:
    nothing = [None] * len(next(iter(columns.values())))
    text, tokens, spans = (columns.get(name or "", nothing) for name in (options.text, options.tokens, options.spans))
    further = (
        zip(*(columns[name] for name in options.columns), strict=True) if options.columns else repeat((), len(nothing))
    )
    return zip(range(start, start + len(nothing)), text, tokens, spans, further, strict=True)


def is_null(value: Any) -> bool:
    """Whether a value is None, or what the frame libraries put for it.

    >>> is_null(None), is_null(float("nan")), is_null("")
    (True, True, False)
    """
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


# --------------------------------------------------------------------------------------------- documents of records


def documents_of(place: str, records: Iterable[Record], options: CorpusOptions) -> Iterator[Item]:
    """Turn records into documents; errors name the place and the number of the record."""
    for number, text, tokens, spans, values in records:
        try:
            yield _document(text, tokens, spans, values, options)
        except BadCorpus as error:
            raise BadCorpus(f"{place} {number}: {error.message}", hint=error.hint) from None


def _document(text: Any, tokens: Any, spans: Any, values: tuple[Any, ...], options: CorpusOptions) -> Item:
    no_text, no_tokens = is_null(text), is_null(tokens)
    if no_text and no_tokens:
        named = " and ".join(repr(name) for name in (options.text, options.tokens) if name is not None)
        raise BadCorpus(
            f"{named}: nothing there (null); drop such rows first, or put an empty string, which is skipped"
        )
    if not no_text and not no_tokens:
        raise BadCorpus(
            f"both {options.text!r} and {options.tokens!r} are there",
            hint=Hint(
                "pass tokens=None to read the text, or text=None to read the tokens",
                "pass --tokens '' to read the text, or --text '' to read the tokens",
            ),
        )
    if not no_text and not isinstance(text, str):
        raise BadCorpus(
            f"{options.text!r} is of type {type_name(text)}, not str",
            hint=Hint("name another field as text=…", "name another field as --text …"),
        )
    if not no_tokens:
        tokens = tokens.tolist() if hasattr(tokens, "tolist") else tokens  # NumPy, in pandas frames
        check_tokens(tokens)
    spans = spans.tolist() if hasattr(spans, "tolist") else spans
    spans = [] if is_null(spans) else spans
    if spans == [] and not values:
        return text if not no_text else list(tokens)
    if not isinstance(spans, list):
        raise BadCorpus(
            f"{options.spans!r} is of type {type_name(spans)}, not a list of spans; name another field as "
            "spans=…, or pass spans=None to leave them out"
        )
    return Document(None if no_text else text, None if no_tokens else tokens, tuple(spans), values)
