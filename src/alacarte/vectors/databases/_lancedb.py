"""LanceDB: a table with a row a word, in a folder."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import numpy as np

from alacarte.errors import BadVectors, require
from alacarte.vectors.databases import Address
from alacarte.vectors.databases._blocks import blocks, table_of
from alacarte.vectors.formats.table import Table


def _opened(address: Address) -> Any:
    if not address.place:
        raise BadVectors(f"{address.shown}: in which folder? As in lancedb:///data/vectors?table=words")
    lancedb = require("lancedb", extra="lancedb", purpose="LanceDB")
    try:
        return lancedb.connect(unquote(address.place))
    except (OSError, RuntimeError, ValueError) as error:
        raise address.failure(error) from None


def _table(database: Any, address: Address) -> Any:
    """The table, if it is there; what a writer that was killed has left is none."""
    try:
        return database.open_table(address.name)
    except (FileNotFoundError, ValueError):
        return None


def check(address: Address, overwrite: bool) -> None:
    """Raise unless the table may be written."""
    if not overwrite and _table(_opened(address), address) is not None:
        address.refuse_to_replace("table")


def write(address: Address, table: Table, overwrite: bool) -> None:
    """Write all rows as one version of the table; an older version is seen until it is whole."""
    pyarrow = require("pyarrow", extra="lancedb", purpose="LanceDB")
    check(address, overwrite)
    dimension = table.matrix.shape[1]
    fields = {
        "rank": pyarrow.int64(),
        "word": pyarrow.string(),
        "count": pyarrow.int64(),
        "origin": pyarrow.string(),
        "vector": pyarrow.list_(pyarrow.float32(), dimension),
    }
    schema = pyarrow.schema(list(fields.items()))

    def batches() -> Iterator[Any]:
        for block in blocks(table, address):
            vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(block.matrix.reshape(-1)), dimension)
            values = [block.ranks, block.words, block.counts, block.origin]
            arrays = [pyarrow.array(column, schema.field(place).type) for place, column in enumerate(values)]
            yield pyarrow.record_batch([*arrays, vectors], schema=schema)

    database = _opened(address)
    is_new = _table(database, address) is None
    try:
        reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
        database.create_table(address.name, data=reader, mode="create" if is_new else "overwrite")
    except (OSError, RuntimeError, ValueError) as error:
        if is_new and _table(database, address) is None:
            with suppress(OSError, RuntimeError, ValueError):
                database.drop_table(address.name)  # what there is of it
        raise address.failure(error) from None


def read(address: Address, limit: int | None) -> Table:
    """All rows of a table with columns `word` and `vector`, and `count`, `origin` and `rank` if it has them."""
    database = _opened(address)
    table = _table(database, address)
    if table is None:
        raise BadVectors(f"{address.shown}: there is no table {address.name!r}; check the folder and the name")
    rows = table.to_arrow()
    if not {"word", "vector"} <= set(rows.column_names):
        raise BadVectors(
            f"{address.shown}: vectors are read from columns 'word' and 'vector', and this has "
            f"{', '.join(map(repr, rows.column_names))}"
        )
    if "rank" in rows.column_names:
        rows = rows.sort_by("rank")
    rows = rows.slice(0, limit).combine_chunks()
    if not len(rows):
        return Table([], np.empty((0, 0), np.float32))
    words, vectors = rows["word"].to_pylist(), rows["vector"].combine_chunks()
    if None in words or vectors.null_count:
        raise BadVectors(f"{address.shown}: a row has no word or no vector; delete it, or complete it")
    try:
        matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(len(words), -1)
    except ValueError:
        raise BadVectors(f"{address.shown}: the vectors have different numbers of values") from None
    nothing = [None] * len(words)
    counts = rows["count"].to_pylist() if "count" in rows.column_names else nothing
    origin = rows["origin"].to_pylist() if "origin" in rows.column_names else nothing
    return table_of(words, matrix, counts, origin, address)
