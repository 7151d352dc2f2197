"""Databases that word vectors are written to, and read from: by an address in the place of a file's name.

| address | what it names |
|---|---|
| `postgresql://user@host/database?table=words` | a table of PostgreSQL with pgvector; `table=schema.words` too |
| `lancedb:///folder?table=words` | a table of LanceDB, in a folder or wherever LanceDB keeps one |
| `qdrant://host:6333?collection=words` | a collection of a Qdrant server (`qdrant+https://` for TLS); written only |
| `qdrant:///folder?collection=words` | a collection in a folder, without a server; written only |

What is not known here (`table`, `collection`, `distance`) stays in PostgreSQL's address, which its own programs
explain. Passwords are in no message: better still, leave them out and use ~/.pgpass or PGPASSWORD, and for Qdrant
QDRANT_API_KEY.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from alacarte._io.remote import without_secrets
from alacarte.errors import BadVectors, Hint
from alacarte.vectors.formats.table import Table

__all__ = ["check_database", "is_database", "read_database", "shown_database", "write_database"]


@dataclass(frozen=True)
class Database:
    """A kind of database: its module, which has `check`, `write` and maybe `read`; what its addresses name."""

    module: str
    named: str  # the parameter of an address that names the table
    parameters: tuple[str, ...] = ()  # others that are ours
    readable: bool = True

    def function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(f"{__name__}.{self.module}"), name)
        return function


POSTGRESQL = Database("_postgresql", "table")
QDRANT = Database("_qdrant", "collection", ("distance",), readable=False)
DATABASES = {
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "lancedb": Database("_lancedb", "table"),
    "qdrant": QDRANT,
    "qdrant+https": QDRANT,
}
HOST = re.compile(r"(\[[^]]*\]|[^:]*)(:\d*)?")  # and its port
SCHEME = re.compile(rf"({'|'.join(map(re.escape, DATABASES))}):/(/?)", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """A table, or what a database has for it."""

    url: str  # without the parameters that are ours
    name: str  # of the table
    parameters: dict[str, str]
    shown: str
    secrets: tuple[str, ...]

    @property
    def place(self) -> str:
        """What stands between :// and the parameters."""
        return self.url.partition("://")[2].partition("?")[0]

    def failure(self, error: object, advice: str = "check the address, and whether you may do this") -> BadVectors:
        """An error of the database's own, without secrets."""
        said = " ".join(str(error).split())
        for secret in self.secrets:
            said = said.replace(secret, "…")
        return BadVectors(f"{self.shown}: {said or type(error).__name__}; {advice}")

    def refuse_to_replace(self, kind: str) -> None:
        """Raise because there is such a table."""
        raise BadVectors(
            f"{self.shown}: there is a {kind} {self.name!r} already; choose another name",
            hint=Hint("or pass overwrite=True, which replaces it", "or pass --overwrite, which replaces it"),
        )


def is_database(name: object) -> bool:
    """Whether a name is the address of a table and not that of a file.

    >>> is_database("postgresql://localhost/words"), is_database("s3://bucket/a.vec"), is_database("a.vec")
    (True, False, False)
    """
    return isinstance(name, str | os.PathLike) and SCHEME.match(os.fspath(name)) is not None


def parsed(name: str | os.PathLike[str]) -> tuple[Database, Address]:
    """The kind of database that an address leads to, and its parts.

    >>> parsed("postgresql://me:secret@host/news?sslmode=require&table=words")[1].shown
    'postgresql://me@host/news?sslmode=require&table=words'
    """
    text = os.fspath(name)
    match = SCHEME.match(text)
    if match is None or not match[2]:
        raise BadVectors("this address has lost a slash; pass it as a str, and not as a Path")
    kind = DATABASES[match[1].lower()]
    place, _, query = text.partition("?")
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    shown = shown_database(text)
    table = parameters.get(kind.named)
    if not table:
        raise BadVectors(f"{shown}: which {kind.named}? Put its name at the end, as in ?{kind.named}=words")
    own = {key: value for key, value in parameters.items() if key in (kind.named, *kind.parameters)}
    others = {key: value for key, value in parameters.items() if key not in own}
    if others and kind is not POSTGRESQL:
        raise BadVectors(f"{shown}: there is no parameter {next(iter(others))!r}; leave it out")
    url = f"{place}?{urlencode(others)}" if others else place
    return kind, Address(url, table, own, shown, _secrets(place, parameters))


def shown_database(name: str | os.PathLike[str]) -> str:
    """An address as it may be shown and saved: without the password; PostgreSQL's keeps the user.

    >>> shown_database("postgresql://me:secret@host/news?table=words")
    'postgresql://me@host/news?table=words'
    """
    place, mark, query = os.fspath(name).partition("?")
    scheme, separator, rest = place.partition("://")
    before, at, host = rest.rpartition("@")
    hosts = host.partition("/")[0].split(",")
    if "/" in before or not all(map(HOST.fullmatch, hosts)):  # and so what is the password cannot be told
        raise BadVectors(
            f"this address, {scheme}://…, cannot be read; in a password, : / ? # @ are written %3A %2F %3F %23 %40"
        )
    shown = without_secrets(f"{scheme}{separator}{host}{mark}{query}")
    user = before.partition(":")[0] if DATABASES[scheme.lower()] is POSTGRESQL else ""
    return shown.replace(separator, f"{separator}{user}{at}", 1) if user else shown


def _secrets(place: str, parameters: dict[str, str]) -> tuple[str, ...]:
    """What must not be in a message: the password as it is written and as it is meant."""
    user = place.partition("://")[2].rpartition("@")[0]
    given = [user.partition(":")[2], *(value for key, value in parameters.items() if "pass" in key.lower())]
    return tuple(form for secret in given if secret for form in (secret, unquote(secret)))


def check_database(name: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Raise unless a table can be written here: the database answers, and there is none yet, or `overwrite`."""
    kind, address = parsed(name)
    kind.function("check")(address, overwrite)


def write_database(name: str | os.PathLike[str], table: Table, overwrite: bool = False) -> None:
    """Write words, vectors, counts and origins to a table, all of them or none."""
    kind, address = parsed(name)
    kind.function("write")(address, table, overwrite)


def read_database(name: str | os.PathLike[str], limit: int | None = None) -> Table:
    """The vectors in a table, in the order in which they were written."""
    kind, address = parsed(name)
    if not kind.readable:
        raise BadVectors(f"{address.shown}: vectors are written there, and not read; read the file they came from")
    table: Table = kind.function("read")(address, limit)
    if not len(table.words):
        raise BadVectors(f"{address.shown}: the {kind.named} {address.name!r} is empty")
    return table
