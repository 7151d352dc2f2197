"""SQLite files of our own: known tables and a digest of their rows; every change is on the disk whole, or not at all.

A file may come from somebody else, so nothing that it brings along is run (views, triggers, other tables), and a
process may have been killed while it changed one, so a change that was cut off is undone by whoever opens it next.

What the bytes of a file and of the journal beside it mean is in https://www.sqlite.org/fileformat2.html, sections 1.3
and 3; a journal that names others, in https://www.sqlite.org/atomiccommit.html, section 5.
"""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from alacarte.errors import AlacarteError

SQLITE_MAGIC = b"SQLite format 3\x00"
ROLLBACK = b"\x01\x01"  # bytes 18 and 19 of a file whose changes are undone by a journal, as of all that we write
OTHER_FILES = bytes.fromhex("d9d505f920a163d7")  # ends a journal that names further files, which SQLite would delete
SEAL = "CREATE TABLE seal (digest TEXT)"
_checked: dict[Path, tuple[int, ...]] = {}  # inode, time and size of files when they were compared with their digests


class SqliteFile:
    r"""A file with certain tables; `tables` are regular expressions for the statements that make them.

    The rows of a table are ordered by its first column. `functions` of one value may be used in queries by their names.

    >>> import tempfile
    >>> file = SqliteFile(Path(tempfile.mkdtemp()) / "words.sqlite", [r"CREATE TABLE words \(word\)"])
    >>> file.create("CREATE TABLE words (word)")
    >>> file.rows("SELECT * FROM words")
    []
    """

    def __init__(
        self,
        path: Path,
        tables: Sequence[str],
        error: type[AlacarteError] = AlacarteError,
        functions: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        self.path, self._tables, self._error, self._functions = path, tables, error, dict(functions or {})
        self._inode = 0  # of the file that was opened first

    def create(self, *statements: str) -> None:
        """Make the file, with the tables of these statements."""
        new = self.path.with_name(f".{self.path.name}.new")
        with self._errors("written", "make room, or choose another folder"):
            new.unlink(missing_ok=True)
            with closing(sqlite3.connect(new, isolation_level=None)) as connection:
                connection.execute("BEGIN")
                for statement in (SEAL, *statements):
                    connection.execute(statement)
                _seal(connection)
                connection.execute("COMMIT")
            new.replace(self.path)  # all of it is there, or nothing

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection; its changes are committed at the end, or undone if anything is raised."""
        errors = self._errors("changed", "nothing in it was changed; make room, or see who may write there")
        with errors, closing(self._connected("rw")) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                _seal(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def rows(
        self, query: str, values: Sequence[Any] = (), functions: Mapping[str, Callable[[Any], Any]] | None = None
    ) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        with self._errors("read", "copy or build it again"), closing(self._connected("ro")) as connection:
            for name, function in {**self._functions, **(functions or {})}.items():
                connection.create_function(name, 1, function, deterministic=True)
            return connection.execute(query, values).fetchall()

    def verify(self) -> None:
        """Compare all of the file with what was written."""
        _checked.pop(self.path.absolute(), None)
        with self._errors("read", "copy or build it again"), closing(self._connected("ro")):
            pass

    def _connected(self, mode: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode={self._recovering(mode)}"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _recovering(self, mode: str) -> str:
        """Return the mode to open the file in: to write, where a change was cut off that SQLite has to undo."""
        if not self.path.is_file():
            raise self._error(f"{self.path}: there is no such file; check the path")
        with self.path.open("rb") as file:
            head, inode = file.read(20), os.fstat(file.fileno()).st_ino
        if self._inode not in (0, inode):
            raise self._error(f"{self.path} was replaced by another one meanwhile; open it again")
        self._inode = inode
        if head[:16] != SQLITE_MAGIC or head[18:] != ROLLBACK or self._beside("-wal").exists():
            raise self._damaged("it is no file that alacarte wrote")
        try:
            with self._beside("-journal").open("rb") as journal:
                journal.seek(max(0, journal.seek(0, os.SEEK_END) - len(OTHER_FILES)))
                if journal.read() == OTHER_FILES:
                    raise self._damaged("its journal names other files")
        except FileNotFoundError:
            return mode
        return "rw"

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)

    def _check(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")  # whatever others change meanwhile
        found = [str(sql) for (sql,) in connection.execute("SELECT sql FROM sqlite_schema")]
        expected = [re.escape(SEAL), *self._tables]
        matching = [[sql for sql in found if re.fullmatch(pattern, sql)] for pattern in expected]
        if len(found) != len(expected) or any(len(same) != 1 for same in matching):
            raise self._error(f"{self.path} holds other tables than this version of alacarte makes; build it again")
        facts = self.path.stat()
        now = facts.st_ino, facts.st_mtime_ns, facts.st_size
        if now != _checked.get(self.path.absolute()):  # about 35 ms per MB
            wrong = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if wrong != "ok":
                raise self._damaged(" ".join(str(wrong).split()))
            if connection.execute("SELECT digest FROM seal").fetchall() != [(_digest(connection),)]:
                raise self._damaged("its rows are not what was written")
            _checked[self.path.absolute()] = now
        connection.execute("COMMIT")

    def _damaged(self, what: str) -> AlacarteError:
        return self._error(f"{self.path} is damaged: {what}; copy or build it again")

    @contextmanager
    def _errors(self, done: str, advice: str) -> Iterator[None]:
        """Turn what SQLite and the system raise into an error of ours."""
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as problem:  # the last for names that are no text
            if isinstance(problem, AlacarteError):
                raise
            reason = (problem.strerror if isinstance(problem, OSError) else None) or problem
            raise self._error(f"{self.path} cannot be {done} ({reason}); {advice}") from problem


def _seal(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM seal")
    connection.execute("INSERT INTO seal VALUES (?)", (_digest(connection),))


def _digest(connection: sqlite3.Connection) -> str:
    """Return a digest of all rows but the digest itself."""
    digest = sha256()
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE name != 'seal' ORDER BY name").fetchall()
    for (name,) in tables:
        digest.update(f"{name}\n".encode())
        for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1"):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
