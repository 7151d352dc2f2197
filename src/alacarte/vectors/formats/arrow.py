"""Vectors in tables that pyarrow reads: Parquet and Arrow (.arrow, .feather).

There is one row per word, in the columns that `columns` describes.
"""

from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.arrow import ArrowFile, open_arrow
from alacarte._io.tensors import encode_word
from alacarte.errors import require
from alacarte.vectors.formats.columns import (
    LIST,
    NUMERIC,
    OTHER,
    TEXTUAL,
    WHOLE,
    find_layout,
    take_columns,
    written_columns,
)
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, rows_at_once
from alacarte.vectors.formats.streams import open_sink, uncompressed

STREAM = b"\xff\xff\xff\xff"  # how Arrow's format for streams begins
WRITTEN = 1 << 16  # rows of Arrow and Parquet files written together


def read_parquet(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the columns that hold words and values."""
    with uncompressed(path) as plain, open_arrow(plain, "parquet") as file:
        return _rows(file, limit, problems, sum(rows for _, rows in file.groups))


def read_arrow(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read Arrow's format for files (Feather's, too) or for streams."""
    with uncompressed(path) as plain, plain.open("rb") as raw:
        head = raw.read(len(STREAM))
        if head == STREAM:
            with open_arrow(raw, "arrow", head) as file:
                return _rows(file, limit, problems, None)
        with open_arrow(plain, "arrow") as file:
            return _rows(file, limit, problems, sum(rows for _, rows in file.groups))


def _rows(file: ArrowFile, limit: int | None, problems: Problems, total: int | None) -> WordRows:
    kinds = {name: _kind(file.schema.field(place).type) for place, name in enumerate(file.schema.names)}
    layout = find_layout(kinds, problems.path)
    rows: Growing | None = None
    for batch in file.batches(layout.names, rows_at_once(len(layout.names))):
        arrays = {name: _array(batch.column(batch.schema.get_field_index(name))) for name in layout.names}
        part = take_columns(arrays, layout, problems.path)
        if rows is None:
            rows = Growing(part.matrix.shape[1], limit, problems)
        rows.add(part)
        if not rows.wanted:
            break
    return WordRows([], np.empty((0, 0), np.float32)) if rows is None else rows.finish(total)


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
