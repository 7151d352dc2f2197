"""The list of segments, the columns of documents, and which documents were removed: one SQLite file.

A segment counts from the moment its row is committed here; until then, nothing has happened.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alacarte._io.arrays import Longs, Mask
from alacarte._io.decoding import decoding, read_json
from alacarte._io.sqlite import SqliteFile
from alacarte.concordance.conditions import Condition, as_number, no_column
from alacarte.errors import BadCorpus

VERSION = 2
FACTS = "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
SEGMENTS = "CREATE TABLE segments (number INTEGER PRIMARY KEY, file TEXT, documents INTEGER, tokens INTEGER, id TEXT)"
REMOVED = "CREATE TABLE removed (number INTEGER PRIMARY KEY)"
DOCUMENTS_TABLE = r"CREATE TABLE documents \(number INTEGER PRIMARY KEY(, c\d+)*\)"
TABLES = (re.escape(FACTS), re.escape(SEGMENTS), re.escape(REMOVED), DOCUMENTS_TABLE)
SEGMENT_FILE = re.compile(r"segment-[0-9]{4,}\.safetensors")
IN_ORDER = "{0} IS NULL, number({0}) IS NULL, number({0}), {0}"  # numbers, however they are written; text; nothing
VALUES_REMEMBERED = 1 << 12  # values of a column, of which many documents have the same


class SegmentRow(NamedTuple):
    """A segment as the database knows it: its file, how much is in it, and what tells the file from others."""

    file: str
    documents: int
    tokens: int
    id: str


class BuiltWith(NamedTuple):
    """What a concordance was built with; `vocabulary` is the digest of the words that tokens are looked up among."""

    tokenizer: str
    vocabulary: str
    columns: tuple[str, ...]


class Database:
    """The SQLite file of a concordance. Every call is a transaction of its own; readers never wait for each other."""

    def __init__(self, path: Path) -> None:
        self.file = SqliteFile(path, TABLES, BadCorpus, {"number": as_number})
        self._kept: Mask | None = None
        with decoding(path, BadCorpus, "copy or build it again"):
            facts = {name: read_json(value) for name, value in self.file.rows("SELECT name, value FROM facts")}
            if facts.pop("version", None) != VERSION:
                raise BadCorpus(f"{path} was made by another version of alacarte; build the concordance again")
            self.facts = BuiltWith(facts["tokenizer"], facts["vocabulary"], tuple(facts["columns"]))

    @classmethod
    def create(cls, path: Path, facts: BuiltWith) -> "Database":
        """Make a new one."""
        file = SqliteFile(path, TABLES, BadCorpus)
        listed = "".join(f", c{place}" for place in range(len(facts.columns)))
        file.create(FACTS, SEGMENTS, REMOVED, f"CREATE TABLE documents (number INTEGER PRIMARY KEY{listed})")
        with file.changing() as connection:
            connection.executemany(
                "INSERT INTO facts VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in {"version": VERSION, **facts._asdict()}.items()],
            )
        return cls(path)

    # ----------------------------------------------------------------------------------------------- segments

    def segments(self) -> list[SegmentRow]:
        """Return all segments, in the order in which they were added."""
        query = "SELECT file, documents, tokens, id FROM segments ORDER BY number"
        found = [SegmentRow(*row) for row in self.file.rows(query)]
        for row in found:
            if SEGMENT_FILE.fullmatch(str(row.file)) is None:
                raise BadCorpus(f"{self.file.path} is damaged: it names the file {row.file!r}; copy or build it again")
        return found

    def add_segment(self, segment: SegmentRow, values: Iterable[Sequence[Any]]) -> None:
        """Add a segment, with the values of the columns of each of its documents: from here on it counts."""
        with self.file.changing() as connection:
            first = connection.execute("SELECT COALESCE(SUM(documents), 0) FROM segments").fetchone()[0]
            connection.execute("INSERT INTO segments (file, documents, tokens, id) VALUES (?, ?, ?, ?)", segment)
            if self.facts.columns:
                marks = ", ".join("?" * (1 + len(self.facts.columns)))
                numbered = ((first + place, *row) for place, row in enumerate(values))
                connection.executemany(f"INSERT INTO documents VALUES ({marks})", numbered)

    # ---------------------------------------------------------------------------------------------- documents

    def remove(self, documents: Longs) -> None:
        """Take documents out; their text stays where it is and is not read any more."""
        with self.file.changing() as connection:
            connection.executemany("INSERT OR IGNORE INTO removed VALUES (?)", [(n,) for n in documents.tolist()])
        self._kept = None

    def kept(self, count: int) -> Mask:
        """Return for each of `count` documents whether it is still there, and was not removed."""
        if self._kept is None or len(self._kept) != count:
            self._kept = ~self._marked("SELECT number FROM removed", count)
        return self._kept

    def matching(self, conditions: Sequence[str], count: int) -> Mask:
        """Return for each of `count` documents whether its columns meet all of the conditions."""
        parsed = [Condition.parse(text, self.facts.columns) for text in conditions]
        remembered = lru_cache(VALUES_REMEMBERED, typed=True)
        meets = {f"meets{place}": remembered(condition.holds) for place, condition in enumerate(parsed)}
        tests = [f"meets{place}({self._column(condition.column)})" for place, condition in enumerate(parsed)]
        return self._marked(f"SELECT number FROM documents WHERE {' AND '.join(tests)}", count, meets)

    def _marked(self, query: str, count: int, functions: Mapping[str, Any] | None = None) -> Mask:
        found = self.file.rows(query, functions=functions)
        numbers = np.fromiter((number for (number,) in found), dtype=np.int64, count=len(found))
        if not (0 <= numbers.min(initial=0) <= numbers.max(initial=-1) < count or not len(numbers)):
            raise BadCorpus(f"{self.file.path} is damaged: it numbers documents that are not there; build it again")
        mask = np.zeros(count, dtype=bool)
        mask[numbers] = True
        return mask

    def _column(self, name: str) -> str:
        if name not in self.facts.columns:
            raise no_column(name, self.facts.columns)
        return f"c{self.facts.columns.index(name)}"

    def values(self, documents: Longs) -> dict[str, list[Any]]:
        """Return the values of each column for some documents, in their order."""
        columns = self.facts.columns
        listed = ", ".join(["number", *map(self._column, columns)])
        query = f"SELECT {listed} FROM documents WHERE number IN (SELECT value FROM json_each(?))"
        wanted = json.dumps(np.unique(documents).tolist() if columns else [])
        rows = {number: row for number, *row in self.file.rows(query, [wanted])}
        missing = (None,) * len(columns)
        chosen = [rows.get(number, missing) for number in documents.tolist()]
        return {name: [row[place] for row in chosen] for place, name in enumerate(columns)}

    def levels(self, name: str) -> dict[Any, int]:
        """Return the different values of a column in order, and how many documents have each; None for none."""
        value = f"NULLIF({self._column(name)}, '')"
        kept = "number NOT IN (SELECT number FROM removed)"
        order = IN_ORDER.format(value)
        return dict(self.file.rows(f"SELECT {value}, COUNT(*) FROM documents WHERE {kept} GROUP BY 1 ORDER BY {order}"))

    def ranks(self, name: str, count: int) -> Longs:
        """Return the place of each of `count` documents in the order of a column; equal values share one."""
        order = IN_ORDER.format(f"NULLIF({self._column(name)}, '')")
        query = f"SELECT number, DENSE_RANK() OVER (ORDER BY {order}) FROM documents WHERE number BETWEEN 0 AND ?"
        ranked = self.file.rows(query, [count - 1])
        numbers, places = np.array(ranked, dtype=np.int64).reshape(-1, 2).T
        ranks = np.zeros(count, dtype=np.int64)
        ranks[numbers] = places
        return ranks
