"""PostgreSQL with pgvector: a table with a row a word, copied in PostgreSQL's binary format."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np

from alacarte.errors import BadVectors, require
from alacarte.vectors.databases import Address
from alacarte.vectors.databases._blocks import Block, blocks, table_of
from alacarte.vectors.formats.table import Table

LARGEST = 16_000  # values that pgvector can store
COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_END = struct.pack("!h", -1)
NULL = struct.pack("!i", -1)
COLUMNS = "rank integer not null, word text primary key, count bigint, origin text, vector vector({dimension}) not null"


@contextmanager
def _transaction(address: Address) -> Iterator[Any]:
    """A connection, with one transaction that is committed at the end, or rolled back when anything is raised."""
    psycopg = require("psycopg", extra="postgres", purpose="PostgreSQL")
    try:
        with psycopg.connect(address.url, client_encoding="utf8", application_name="alacarte") as connection:
            yield connection
    except psycopg.Error as error:
        raise address.failure(error) from None  # whose own message may hold the password


def _table_name(name: str) -> Any:
    """A table's name, with its schema if that is given, as part of a statement."""
    sql = require("psycopg.sql", extra="postgres", purpose="PostgreSQL")
    return sql.Identifier(*name.split(".", 1))


def _kind_of(connection: Any, address: Address) -> str | None:
    """What there is of that name: "r" for a table, another letter for a view and the like; None for nothing."""
    query = "select relkind::text from pg_class where oid = to_regclass(%s)"
    row = connection.execute(query, [_table_name(address.name).as_string(connection)]).fetchone()
    return None if row is None else str(row[0])


def _check(connection: Any, address: Address, overwrite: bool) -> bool:
    """Raise unless the table may be written; whether there is one that is replaced."""
    kind = _kind_of(connection, address)
    if kind not in (None, "r"):
        raise BadVectors(f"{address.shown}: {address.name!r} is a view, and not a table; choose another name")
    if kind == "r" and not overwrite:
        address.refuse_to_replace("table")
    return kind == "r"


def check(address: Address, overwrite: bool) -> None:
    """Raise unless the table may be written, and pgvector is there."""
    with _transaction(address) as connection:
        _check(connection, address, overwrite)
        if connection.execute("select 1 from pg_available_extensions where name = 'vector'").fetchone() is None:
            raise BadVectors(f"{address.shown}: this server has no pgvector; install it there (github.com/pgvector)")


def write(address: Address, table: Table, overwrite: bool) -> None:
    """Copy all rows to a new table, which takes the place of an older one when it is whole: in one transaction.

    Until then, others see the older one. Its indexes and permissions go with it, and where a view depends on it, it
    is not replaced.
    """
    dimension = table.matrix.shape[1]
    if dimension > LARGEST:
        raise BadVectors(
            f"{address.shown}: pgvector stores at most {LARGEST:,} values, and these vectors {dimension:,}"
        )
    sql = require("psycopg.sql", extra="postgres", purpose="PostgreSQL")
    schema = address.name.split(".", 1)[:-1]
    new = sql.Identifier(*schema, f"alacarte_{uuid4().hex[:16]}")
    name = _table_name(address.name)
    with _transaction(address) as connection:
        replaces = _check(connection, address, overwrite)
        if connection.execute("select 1 from pg_extension where extname = 'vector'").fetchone() is None:
            connection.execute("create extension vector")
        columns = sql.SQL(COLUMNS.format(dimension=dimension))
        connection.execute(sql.SQL("create table {} ({})").format(new, columns))
        with connection.cursor().copy(sql.SQL("copy {} from stdin (format binary)").format(new)) as copy:
            copy.write(COPY_HEADER)
            for block in blocks(table, address):
                copy.write(_binary(block, address))
            copy.write(COPY_END)
        if replaces:
            connection.execute(sql.SQL("drop table {}").format(name))
        last = sql.Identifier(address.name.split(".", 1)[-1])
        connection.execute(sql.SQL("alter table {} rename to {}").format(new, last))


def _binary(block: Block, address: Address) -> bytes:
    """Rows as COPY takes them: the number of columns, then of each its bytes, after their number."""
    dimension = block.matrix.shape[1]
    vectors = block.matrix.astype(">f4").tobytes()
    width = 4 * dimension
    before_vector = struct.pack("!ihh", width + 4, dimension, 0)
    parts = []
    for row, (rank, word, count, origin) in enumerate(
        zip(block.ranks, block.words, block.counts, block.origin, strict=True)
    ):
        if "\0" in word:
            raise BadVectors(
                f"{address.shown}: PostgreSQL stores no NUL characters, and {word!r} has one; leave it out"
            )
        parts += [struct.pack("!hii", 5, 4, rank), _text(word)]
        parts.append(NULL if count is None else struct.pack("!iq", 8, count))
        parts.append(NULL if origin is None else _text(origin))
        parts += [before_vector, vectors[row * width : (row + 1) * width]]
    return b"".join(parts)


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("!i", len(data)) + data


def read(address: Address, limit: int | None) -> Table:
    """All rows of a table with columns `word` and `vector`, and `count`, `origin` and `rank` if it has them."""
    sql = require("psycopg.sql", extra="postgres", purpose="PostgreSQL")
    with _transaction(address) as connection:
        connection.read_only = True
        connection.isolation_level = require("psycopg", "postgres", "PostgreSQL").IsolationLevel.REPEATABLE_READ
        if _kind_of(connection, address) is None:
            raise BadVectors(f"{address.shown}: there is no table {address.name!r}; check its name and schema")
        name = _table_name(address.name)
        columns = _columns(connection, address)
        (rows,) = connection.execute(sql.SQL("select count(*) from {}").format(name)).fetchone()
        order = "rank" if "rank" in columns else "count desc nulls last, word" if "count" in columns else "word"
        chosen = [
            sql.Identifier(column) if column in columns else sql.SQL("null::{}").format(sql.SQL(kind))
            for column, kind in (("word", "text"), ("count", "bigint"), ("origin", "text"), ("vector", ""))
        ]
        chosen[1] = sql.SQL("{}::bigint").format(chosen[1])
        query = sql.SQL("copy (select {} from {} order by {} limit {}) to stdout (format binary)").format(
            sql.SQL(", ").join(chosen), name, sql.SQL(order), sql.SQL("all" if limit is None else str(int(limit)))
        )
        with connection.cursor().copy(query) as copy:
            copy.set_types(["text", "int8", "text", "bytea"])
            return _table(copy.rows(), rows if limit is None else min(rows, limit), address)


def _columns(connection: Any, address: Address) -> dict[str, str]:
    """The columns of the table, with their types; raises without words and vectors."""
    query = (
        "select attname, atttypid::regtype::text from pg_attribute "
        "where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped"
    )
    listed = connection.execute(query, [_table_name(address.name).as_string(connection)]).fetchall()
    columns = {name: kind.rpartition(".")[2] for name, kind in listed}
    if columns.get("word") not in ("text", "character varying") or columns.get("vector") != "vector":
        there = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        raise BadVectors(
            f"{address.shown}: vectors are read from columns `word text` and `vector vector`, and this has {there}; "
            "make a view with these names"
        )
    return columns


def _table(rows: Iterator[Any], expected: int, address: Address) -> Table:
    words: list[str] = []
    counts: list[int] = []
    origin: list[str] = []
    matrix: np.ndarray[Any, np.dtype[np.float32]] | None = None
    for word, count, kind, vector in rows:
        if word is None or vector is None:
            raise BadVectors(f"{address.shown}: a row has no word or no vector ({word!r}); delete it, or complete it")
        values = np.frombuffer(vector, ">f4", offset=4)
        if matrix is None:
            matrix = np.empty((expected, len(values)), np.float32)
        if len(values) != matrix.shape[1]:
            raise BadVectors(
                f"{address.shown}: the vector of {word!r} has {len(values)} values, and those before it "
                f"{matrix.shape[1]}; all must have as many"
            )
        matrix[len(words)] = values
        words.append(word)
        counts.append(count)
        origin.append(kind)
    if matrix is None:
        return Table([], np.empty((0, 0), np.float32))
    return table_of(words, matrix, counts, origin, address)
