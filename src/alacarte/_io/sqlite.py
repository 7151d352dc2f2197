"""SQLite files: what is written is on the disk when it is done, all of it or nothing; readers never wait."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from alacarte.errors import AlacarteError


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose changes are kept if the block ends well, and are undone if not.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words.sqlite"
    >>> with transaction(path) as connection:
    ...     _ = connection.execute("CREATE TABLE words (word)")
    >>> rows(path, "SELECT * FROM words")
    []
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        with connection:
            yield connection


def rows(
    path: Path,
    query: str,
    values: Sequence[Any] = (),
    functions: Mapping[str, Callable[[Any], Any]] | None = None,
) -> list[tuple[Any, ...]]:
    """What a query finds; nothing is written. `functions` of one value may be used in it by their names."""
    if not path.is_file():
        raise AlacarteError(f"{path}: there is no such file; check the path")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            for name, function in (functions or {}).items():
                connection.create_function(name, 1, function, deterministic=True)
            return connection.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise AlacarteError(f"{path} cannot be read ({error}); it is damaged, or of another program") from error
