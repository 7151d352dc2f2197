"""Results that are tables: as a pandas frame, as CSV, JSON, Markdown or LaTeX, in notebooks and on the terminal.

A result that is a table derives from `Table` and defines `columns`; a result that is one row derives from `Record`; a
result that is a sequence of such rows derives from `Records`.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Counts(Table):
...     words: list[str]
...     times: list[float]
...     def columns(self):
...         return {"word": self.words, "times": self.times}
>>> counts = Counts(["a", "b_c"], [12, 0.123456])
>>> print(counts)
word   times
a         12
b_c   0.1235
>>> print(counts.to_markdown())
| word | times |
|---|---:|
| a | 12 |
| b_c | 0.1235 |
>>> counts.to_dict()
[{'word': 'a', 'times': 12}, {'word': 'b_c', 'times': 0.123456}]
"""

import csv
import io
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from alacarte._io import html
from alacarte._io.files import atomic_write
from alacarte._io.printing import finite, guarded, printable, quoting
from alacarte.errors import AlacarteError, require

Columns = Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]
Row = TypeVar("Row")

CHANCES = {"p", "q", "p_value", "q_value", "p_adjusted"}  # columns of p-values, which are never 0
LEAST_P = 1e-16  # below it, tails of distributions are not accurate in 64 bits
PREFIX = "columns."  # before the name of a column of the data, where a table has a column of this name itself
MANY = 60  # rows that a notebook or a terminal is shown; more are cut
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


class Table(ABC):
    """A result that is a table. Subclasses define `columns`; showing and saving follow from it."""

    @property
    def least_p(self) -> float:
        """Return the p-value below which only "< p" is printed."""
        return LEAST_P

    @abstractmethod
    def columns(self) -> Columns:
        """Return the columns by name, all of one length."""

    def to_dict(self) -> Any:
        """Return the rows as a list of dictionaries for JSON; NaN and infinity become None."""
        names, rows = _plain(self.columns())
        return [dict(zip(names, map(_for_json, row), strict=True)) for row in rows]

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_frame(self) -> Any:
        """Return a pandas frame."""
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        return pandas.DataFrame(dict(self.columns()))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table as CSV with a header and every number in full.

        Text that a spreadsheet would take for a formula (=, +, -, @ at its start) gets a ' before it, which this
        package removes when it reads CSV; `to_json` and `to_frame` return all text unchanged. Lists of words become
        one text.

        Parameters
        ----------
        path : path, optional
            A file to write the text to as well.
        """
        names, rows = _plain(self.columns())
        rows = [tuple(" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in row) for row in rows]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n", quoting=quoting(cell for row in rows for cell in row))  # type: ignore[arg-type]
        writer.writerow(map(guarded, names))
        writer.writerows(["" if value is None else guarded(value) for value in row] for row in rows)
        if path is not None:
            with atomic_write(path) as file:
                file.write(text.getvalue().encode("utf-8", "backslashreplace"))  # half characters
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        names, rows, right = self.cells()
        lines = ["| " + " | ".join(map(markdown, line)) + " |" for line in (names, *rows)]
        rule = "|" + "|".join("---:" if at_right else "---" for at_right in right) + "|"
        return "\n".join([lines[0], rule, *lines[1:]])

    def to_latex(self) -> str:
        r"""Return a LaTeX `tabular` for the package booktabs."""
        names, rows, right = self.cells()
        lines = [" & ".join(map(latex, line)) + r" \\" for line in (names, *rows)]
        columns = "".join("r" if at_right else "l" for at_right in right)
        top = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule"]
        return "\n".join([*top, *lines[1:], r"\bottomrule", r"\end{tabular}"])

    def _repr_html_(self) -> str:
        try:
            below = "".join(f"<p>{html.text_of(sentence)}</p>" for sentence in self._sentences())
            return html.table(*self.cells(MANY)) + below
        except AlacarteError as error:  # which a notebook would show as a traceback from inside of IPython
            return html.card(type(self).__name__, {"not known": error})

    def __str__(self) -> str:
        names, rows, right = self.cells(MANY)
        widths = [max(len(line[place]) for line in (names, *rows)) for place in range(len(names))]
        lines = (
            "  ".join(
                cell.rjust(width) if at_right else cell.ljust(width)
                for cell, width, at_right in zip(line, widths, right, strict=True)
            )
            for line in (names, *rows)
        )
        return "\n\n".join(["\n".join(line.rstrip() for line in lines), *self._sentences()])

    def __repr__(self) -> str:
        return str(self)

    def _sentences(self) -> Sequence[str]:
        """Return the sentences below the table."""
        return ()

    def _printed_columns(self, most: int | None) -> Columns:
        """Return the columns to print; rows after the first `most` + 1 may be missing."""
        return self.columns()

    def cells(self, most: int | None = None) -> tuple[list[str], list[list[str]], list[bool]]:
        """Return (names, rows of text, whether each column holds numbers).

        With `most`, rows after the first `most` are replaced by one row of "…".
        """
        behind = None if most is None else most + 1
        names, rows = _plain({name: column[:behind] for name, column in self._printed_columns(most).items()})
        right = [all(_is_number(row[place]) for row in rows) for place in range(len(names))]
        shown = [
            [
                format_p(value, self.least_p) if name in CHANCES else format_cell(value)
                for name, value in zip(names, row, strict=True)
            ]
            for row in rows[:most]
        ]
        if len(shown) < len(rows):
            shown.append(["…"] * len(names))
        return [printable(name) for name in names], shown, right


class Record(Table):
    """A result that is one row: a dataclass whose fields are the columns."""

    def columns(self) -> Columns:
        return {name: [value] for name, value in asdict(self).items()}  # type: ignore[call-overload]

    def to_dict(self) -> Any:
        """Return the fields as a dictionary for JSON."""
        (row,) = super().to_dict()
        return row


class Records(Table, Sequence[Row]):
    """A result that is a sequence of rows: a dataclass with `items`, all dataclasses of the class `kind`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Word(Record):
    ...     word: str
    ...     times: int
    >>> @dataclass(frozen=True)
    ... class Words(Records[Word]):
    ...     kind = Word
    ...     items: tuple[Word, ...]
    >>> words = Words((Word("a", 12), Word("b", 3)))
    >>> words[1].times, len(words), words.to_dict()[0]
    (3, 2, {'word': 'a', 'times': 12})
    """

    kind: ClassVar[type[Any]]
    items: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: Any) -> Any:
        return self.items[place]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.items)

    def columns(self) -> Columns:
        return columns_of(self.items, self.kind)


def columns_of(rows: Iterable[Any], kind: type[Any]) -> Columns:
    """Return the fields of dataclasses as columns; `kind` is the class of the rows.

    >>> from dataclasses import make_dataclass
    >>> Word = make_dataclass("Word", [("word", str), ("times", int)])
    >>> columns_of([Word("a", 12)], Word), columns_of([], Word)
    ({'word': ['a'], 'times': [12]}, {'word': [], 'times': []})
    """
    listed = list(rows)
    return {field.name: [getattr(row, field.name) for row in listed] for field in fields(kind)}


def beside(own: Columns, theirs: Columns) -> dict[str, Any]:
    """Return our columns and then those of the data; a name that ours have gets "columns." before it.

    >>> list(beside({"document": [1], "match": ["a"]}, {"match": ["b"], "year": [1990]}))
    ['document', 'match', 'columns.match', 'year']
    """
    taken = {*own, *theirs}
    result = dict(own)
    for name, column in theirs.items():
        header = name
        while header in own or (header != name and header in taken):
            header = PREFIX + header
        taken.add(header)
        result[header] = column
    return result


def format_cell(value: object) -> str:
    r"""Return a value as text: four digits of a float, all digits of an integer, a dash for None and NaN.

    >>> [format_cell(value) for value in (0.123456, 1e-9, 12345, 12345.678, None, float("nan"), True, "a\x1b[1m")]
    ['0.1235', '1e-09', '12,345', '12,346', '–', '–', 'yes', 'a\\x1b[1m']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
    return printable(str(value))


def format_p(value: object, least: float = LEAST_P) -> str:
    """Return a p-value as text: never 0, but "< least" if it is smaller than that.

    >>> format_p(0.01234), format_p(0.0), format_p(0.0, least=0.01), format_p(None)
    ('0.01234', '< 1e-16', '< 0.01', '–')
    """
    small = isinstance(value, float) and value < least
    return f"< {least:g}" if small else format_cell(value)


def _plain(columns: Columns) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names, and rows with Python's own values in place of NumPy's."""
    lists = [
        column.tolist()
        if isinstance(column, np.ndarray)
        else [value.item() if isinstance(value, np.generic) else value for value in column]
        for column in columns.values()
    ]
    return [str(name) for name in columns], list(zip(*lists, strict=True))


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _for_json(value: Any) -> Any:
    return finite(value) if value is None or isinstance(value, str | int | float | list | tuple | dict) else str(value)


def markdown(text: str) -> str:
    r"""Return text with Markdown's special characters escaped.

    >>> print(markdown("a|b*c"))
    a\|b\*c
    """
    return "".join(rf"\{mark}" if mark in r"\|*`<" else mark for mark in text)


def latex(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(LATEX.get(mark, mark) for mark in text)
