"""The list of segments, the columns of documents, and which documents were removed: one SQLite file.

A segment counts from the moment its row is committed here; until then, nothing has happened.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte._io.sqlite import rows, transaction
from alacarte.errors import AlacarteError

Mask = npt.NDArray[np.bool_]
VERSION = 1
SIGN_AND_VALUE = r"\s*(>=|<=|!=|==|=|>|<)\s*(.*?)\s*"
CONDITION = re.compile(r"\s*(.+?)" + SIGN_AND_VALUE, re.DOTALL)
ALTERNATIVES = re.compile(r"(?<!\\)\|")  # between values; \| is a bar in a value
NUMBER = re.compile(r"[+-]?([0-9]+|[0-9]*\.[0-9]+|[0-9]+\.)([eE][+-]?[0-9]+)?")
LONGEST_WHOLE = 20  # characters of a whole number that 64 bits can hold
FORM = 'a condition is a column, one of = != >= <= > < and a value, as in "party=D" or "date>=2001-01-01"'


class SegmentRow(NamedTuple):
    """A segment as the database knows it."""

    file: str
    documents: int
    tokens: int


class Database:
    """The SQLite file of a concordance. Every call is a transaction of its own; readers never wait for each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        facts = self._facts()
        if facts.get("version") != VERSION:
            raise AlacarteError(
                f"{path} was made by another version of alacarte (version {facts.get('version')}; this one reads "
                f"{VERSION}); build the concordance again"
            )
        self.tokenizer: str = facts["tokenizer"]
        self.vocabulary: str = facts["vocabulary"]
        self.columns: tuple[str, ...] = tuple(facts["columns"])

    @classmethod
    def create(cls, path: Path, columns: Sequence[str], tokenizer: str, vocabulary: str) -> "Database":
        """A new one; `vocabulary` is the digest of the words that tokens are looked up among."""
        facts = {"version": VERSION, "columns": list(columns), "tokenizer": tokenizer, "vocabulary": vocabulary}
        if len(set(map(str.lower, columns))) < len(columns):
            raise AlacarteError(f"two columns have the same name: {', '.join(columns)}; name each once")
        new = path.with_name(f".{path.name}.new")
        new.unlink(missing_ok=True)
        with transaction(new) as connection:
            connection.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT)")
            connection.executemany(
                "INSERT INTO facts VALUES (?, ?)", [(name, json.dumps(value)) for name, value in facts.items()]
            )
            connection.execute("CREATE TABLE segments (number INTEGER PRIMARY KEY, file, documents, tokens)")
            listed = "".join(f", c{place}" for place in range(len(columns)))
            connection.execute(f"CREATE TABLE documents (number INTEGER PRIMARY KEY{listed})")
            connection.execute("CREATE TABLE removed (number INTEGER PRIMARY KEY)")
        new.replace(path)  # all of it is there, or nothing
        return cls(path)

    def _facts(self) -> dict[str, Any]:
        return {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM facts")}

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return rows(self.path, query, values, {"number": _as_number})

    # ----------------------------------------------------------------------------------------------- segments

    def segments(self) -> list[SegmentRow]:
        """All segments, in the order in which they were added."""
        found = self._rows("SELECT file, documents, tokens FROM segments ORDER BY number")
        return [SegmentRow(*row) for row in found]

    def add_segment(self, segment: SegmentRow, values: Iterable[Sequence[Any]]) -> None:
        """A new segment, with the values of the columns of each of its documents: from here on it counts."""
        with transaction(self.path) as connection:
            first = connection.execute("SELECT COALESCE(SUM(documents), 0) FROM segments").fetchone()[0]
            connection.execute("INSERT INTO segments (file, documents, tokens) VALUES (?, ?, ?)", segment)
            if self.columns:
                marks = ", ".join("?" * (1 + len(self.columns)))
                numbered = ((first + place, *row) for place, row in enumerate(values))
                connection.executemany(f"INSERT INTO documents VALUES ({marks})", numbered)

    # ---------------------------------------------------------------------------------------------- documents

    def remove(self, documents: npt.NDArray[np.int64]) -> None:
        """Take documents out; their text stays where it is and is not read any more."""
        with transaction(self.path) as connection:
            connection.executemany("INSERT OR IGNORE INTO removed VALUES (?)", [(n,) for n in documents.tolist()])

    def kept(self, count: int) -> Mask:
        """Of each of `count` documents whether it was not removed."""
        kept = np.ones(count, dtype=bool)
        kept[[number for (number,) in self._rows("SELECT number FROM removed")]] = False
        return kept

    def matching(self, conditions: Sequence[str], count: int) -> Mask:
        """Of each of `count` documents whether its columns are as all of the conditions say."""
        parts, values = zip(*map(self._condition, conditions), strict=True)
        query = f"SELECT number FROM documents WHERE {' AND '.join(parts)}"
        numbers = self._rows(query, [value for part in values for value in part])
        mask = np.zeros(count, dtype=bool)
        mask[np.fromiter((number for (number,) in numbers), dtype=np.int64, count=len(numbers))] = True
        return mask

    def _condition(self, text: str) -> tuple[str, list[Any]]:
        """A condition as SQL and the values in it; several values of = and != are separated by |.

        What is missing or empty is neither equal to a value nor unequal, larger or smaller: `date=` asks for it, and
        `date!=` for all else.
        """
        name, sign, value = self._parsed(text)
        column = self._value_of(name)
        if sign not in ("=", "!="):  # numbers are compared as numbers, however they are written; all else as text
            number, as_text = _number(value), f"(typeof({column}) = 'text' AND {column} {sign} ?)"
            if isinstance(number, str):
                return as_text, [value]
            return f"CASE WHEN number({column}) IS NULL THEN {as_text} ELSE number({column}) {sign} ? END", [
                value,
                number,
            ]
        parts = [part.replace("\\|", "|") for part in ALTERNATIVES.split(value)]
        alternatives = [form for part in parts if part for form in {part, _number(part)}]
        among = f"{column} IN ({', '.join('?' * len(alternatives))})"
        if sign == "=":
            return (f"({among} OR {column} IS NULL)" if "" in parts else among), alternatives
        return f"(NOT {among} AND {column} IS NOT NULL)", alternatives

    def _parsed(self, text: str) -> tuple[str, str, str]:
        """(column, sign, value) of a condition; the name of a column may hold signs itself."""
        for name in sorted(self.columns, key=len, reverse=True):
            known = re.fullmatch(rf"\s*{re.escape(name)}{SIGN_AND_VALUE}", text, re.DOTALL)
            if known is not None:
                return name, known[1].replace("==", "="), known[2]
        parsed = CONDITION.fullmatch(text)
        raise AlacarteError(f"{text!r} is no condition: {FORM}") if parsed is None else self._no_column(parsed[1])

    def _value_of(self, name: str) -> str:
        """A column, in which what is empty is missing."""
        return f"NULLIF({self._column(name)}, '')"

    def _column(self, name: str) -> str:
        if name not in self.columns:
            raise self._no_column(name)
        return f"c{self.columns.index(name)}"

    def _no_column(self, name: str) -> AlacarteError:
        listed = ", ".join(map(repr, self.columns)) or "no columns; build it with columns=… (--column)"
        return AlacarteError(f"there is no column {name!r}; this concordance has {listed}")

    def values(self, documents: npt.NDArray[np.int64]) -> Mapping[str, list[Any]]:
        """The values of each column for some documents, in their order."""
        if not self.columns:
            return {}
        listed = ", ".join(f"c{place}" for place in range(len(self.columns)))
        values: dict[int, tuple[Any, ...]] = {}
        wanted = np.unique(documents).tolist()
        for low in range(0, len(wanted), 500):  # the number of values in a statement is limited
            part = wanted[low : low + 500]
            query = f"SELECT number, {listed} FROM documents WHERE number IN ({', '.join('?' * len(part))})"
            values |= {number: row for number, *row in self._rows(query, part)}
        missing = (None,) * len(self.columns)
        chosen = [values.get(number, missing) for number in documents.tolist()]
        return {name: [row[place] for row in chosen] for place, name in enumerate(self.columns)}

    def levels(self, name: str) -> dict[Any, int]:
        """The different values of a column in their order, and how many documents have each; None: none of them."""
        value = self._value_of(name)
        kept = "number NOT IN (SELECT number FROM removed)"
        order = _IN_ORDER.format(value)
        return dict(self._rows(f"SELECT {value}, COUNT(*) FROM documents WHERE {kept} GROUP BY 1 ORDER BY {order}"))

    def ranks(self, name: str, count: int) -> npt.NDArray[np.int64]:
        """The place of each of `count` documents in the order of a column; those with the same value share one."""
        order = _IN_ORDER.format(self._value_of(name))
        ranked = self._rows(f"SELECT number, DENSE_RANK() OVER (ORDER BY {order}) FROM documents")
        numbers, places = np.array(ranked, dtype=np.int64).reshape(-1, 2).T
        ranks = np.zeros(count, dtype=np.int64)
        ranks[numbers] = places
        return ranks


_IN_ORDER = "{0} IS NULL, number({0}) IS NULL, number({0}), {0}"  # numbers, however they are written; text; nothing


def condition(column: str, sign: str, value: object) -> str:
    """A condition on a column, in which a bar in the value is no sign.

    >>> condition("party", "=", "D|R")
    'party=D\\\\|R'
    """
    text = str(value)
    return f"{column}{sign}{text.replace('|', chr(92) + '|') if sign in ('=', '!=') else text}"


def _number(text: str) -> str | int | float:
    """A number if the text is one; what is too large for SQLite's integers is a float.

    >>> _number("12"), _number("1.5"), _number("2001-01-01"), _number("1" + "0" * 30)
    (12, 1.5, '2001-01-01', 1e+30)
    """
    if NUMBER.fullmatch(text) is None:
        return text
    if text.lstrip("+-").isdigit() and len(text) <= LONGEST_WHOLE and abs(int(text)) < 2**63:
        return int(text)
    return float(text)


def _as_number(value: Any) -> int | float | None:
    """The number that a value of a column is, or None."""
    number = _number(value) if isinstance(value, str) else value
    return number if isinstance(number, int | float) else None
