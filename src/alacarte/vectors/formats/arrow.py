"""Vectors in Parquet and Arrow files (.arrow, .feather): a word a row, in the columns that `columns` describes."""

from collections.abc import Iterator
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from alacarte._io.tensors import encode_word
from alacarte.errors import require
from alacarte.vectors.formats.columns import (
    LIST,
    NUMBER,
    OTHER,
    TEXT,
    WHOLE,
    Layout,
    add_rows,
    columns_of,
    find_layout,
    take_columns,
)
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.streams import uncompressed
from alacarte.vectors.formats.table import Growing, Table, rows_at_once

FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # how Arrow's two formats begin
BLOCK = 1 << 16  # rows written together


def read_parquet(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read the columns that hold words and values."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="reading Parquet files")
    with uncompressed(path) as plain, parquet.ParquetFile(plain) as file:
        layout = _layout(file.schema_arrow, path)
        width = max(1, len(layout.names))
        batches = file.iter_batches(batch_size=rows_at_once(width), columns=layout.names)
        return _table(batches, layout, limit, problems, int(file.metadata.num_rows))


def read_arrow(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read a file in Arrow's format for files (Feather) or for streams."""
    arrow = require("pyarrow", extra="parquet", purpose="reading Arrow files")
    ipc = require("pyarrow.ipc", extra="parquet", purpose="reading Arrow files")
    with uncompressed(path) as plain, arrow.memory_map(str(plain)) as raw:
        if raw.read(len(STREAM)) == STREAM:
            raw.seek(0)
            reader, total = ipc.open_stream(raw), None
            batches: Iterator[Any] = iter(reader)
        else:
            raw.seek(0)
            reader = ipc.open_file(raw)
            batches = (reader.get_batch(place) for place in range(reader.num_record_batches))
            total = sum(reader.get_batch(place).num_rows for place in range(reader.num_record_batches))
        return _table(batches, _layout(reader.schema, path), limit, problems, total)


def _layout(schema: Any, path: str | PathLike[str]) -> Layout:
    kinds = {name: _kind(schema.field(place).type) for place, name in enumerate(schema.names)}
    return find_layout(kinds, str(path))


def _kind(type_: Any) -> str:
    types = require("pyarrow.types", extra="parquet", purpose="reading Arrow files")
    if types.is_dictionary(type_):
        type_ = type_.value_type
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return TEXT
    if types.is_integer(type_):
        return WHOLE
    if types.is_floating(type_) or types.is_boolean(type_):
        return NUMBER
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        return LIST if _kind(type_.value_type) in (WHOLE, NUMBER) else OTHER
    return OTHER


def _table(batches: Iterator[Any], layout: Layout, limit: int | None, problems: Problems, total: int | None) -> Table:
    rows: Growing | None = None
    rows_read = 0
    for batch in batches:
        batch.validate(full=True)  # a damaged file may lead anywhere in memory
        low = 0
        while low < batch.num_rows and (limit is None or rows is None or len(rows) < limit):
            wanted = rows_at_once(len(layout.names))
            wanted = wanted if limit is None else min(wanted, limit - (0 if rows is None else len(rows)))
            part = batch.slice(low, wanted)
            columns = {name: _array(part.column(part.schema.get_field_index(name))) for name in layout.names}
            taken = take_columns(columns, layout, problems.path)
            if rows is None:
                rows = Growing(taken.matrix.shape[1], len(taken.words))
            add_rows(rows, taken, np.ones(len(taken.words), np.bool_), problems, rows_read)
            low += part.num_rows
            rows_read += part.num_rows
    return Table([], np.empty((0, 0), np.float32)) if rows is None else rows.table(problems, total)


def _array(column: Any) -> NDArray[Any]:
    """A column as numpy has it: text and uneven lists as objects, even lists as a matrix, nothing as NaN or None."""
    kind = _kind(column.type)
    if kind == TEXT:
        return np.array(column.to_pylist(), object)
    if kind == LIST:
        lengths = column.value_lengths()
        if not column.null_count and len(set(lengths.to_pylist())) == 1 and lengths[0].as_py():
            return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(column), -1)
        listed = np.empty(len(column), object)
        listed[:] = column.to_pylist()
        return listed
    return np.asarray(column.to_numpy(zero_copy_only=False))


def write_parquet(file: BinaryIO, table: Table) -> None:
    """Write a Parquet file: float32 values, a column a dimension."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing Parquet files")
    schema, batches = _batches(table)
    with parquet.ParquetWriter(file, schema, use_dictionary=["origin"]) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_arrow(file: BinaryIO, table: Table) -> None:
    """Write an Arrow file, which is Feather's format, not compressed: it can be mapped into memory."""
    ipc = require("pyarrow.ipc", extra="parquet", purpose="writing Arrow files")
    schema, batches = _batches(table)
    with ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _batches(table: Table) -> tuple[Any, Iterator[Any]]:
    arrow = require("pyarrow", extra="parquet", purpose="writing Arrow and Parquet files")
    for word in (*table.words, *(table.origin or ())):
        encode_word(word)  # an error that names a word that is no text
    first = arrow.record_batch(columns_of(table, 0, 1))
    blocks = range(0, len(table.words), BLOCK)
    return first.schema, (arrow.record_batch(columns_of(table, low, low + BLOCK)) for low in blocks)
