"""Columns of frames of any library, of mappings, of table files and of concordances."""

import contextlib
import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from alacarte._io.arrays import Mask
from alacarte._io.frames import is_frame
from alacarte.concordance import Concordance
from alacarte.errors import BadCorpus
from alacarte.regression.results import LIBRARIES, Column, column_of
from alacarte.text.records import as_frame, is_null
from alacarte.text.tables import is_date, read_table


@dataclass(frozen=True, eq=False)
class Variables:
    """What the data say about each row: named columns, and for those that are categorical, their levels."""

    columns: dict[str, Column] = field(default_factory=dict)
    levels: dict[str, list[Any]] = field(default_factory=dict)
    backend: str = "pandas"

    def take(self, rows: Any) -> "Variables":
        """Return some of the rows."""
        return Variables({name: column[rows] for name, column in self.columns.items()}, self.levels, self.backend)

    def without(self, name: str) -> "Variables":
        """Return all columns but one."""
        kept = {other: column for other, column in self.columns.items() if other != name}
        return Variables(kept, self.levels, self.backend)

    def column(self, name: str, purpose: str) -> Column:
        """Return one column; an error that names all of them if there is none of this name."""
        if name not in self.columns:
            raise BadCorpus(
                f"no column {name!r} for {purpose}; the columns are {', '.join(map(repr, self.columns)) or 'none'}"
            )
        return self.columns[name]


def read_frame(data: Any) -> Variables:
    """Return the columns of any frame, of a mapping of columns, of a table file, or of a concordance.

    >>> read_frame({"party": ["D", None, "R"]}).columns["party"].tolist()
    ['D', None, 'R']
    """
    if isinstance(data, (str, PathLike)):
        data = read_table(data)
    if isinstance(data, Concordance):
        data = data.to_columns()
    if isinstance(data, Mapping):
        return Variables({str(name): as_column(values) for name, values in data.items()})
    frame = as_frame(data)
    if hasattr(frame, "collect"):
        frame = frame.collect()
    backend = frame.implementation.name.lower()
    columns: dict[str, Column] = {}
    levels: dict[str, list[Any]] = {}
    for name in frame.columns:
        series = frame[name]
        declared = getattr(getattr(series.to_native(), "cat", None), "categories", None)  # pandas
        if declared is None:
            declared = getattr(series.dtype, "categories", None)  # an Enum
        if declared is not None:
            levels[name] = list(declared)
        columns[name] = as_column(series.to_list())
    return Variables(columns, levels, backend if backend in LIBRARIES else "pandas")


def as_column(values: Any) -> Column:
    """Return numbers as numbers (missing ones as NaN), everything else as objects (missing ones as None).

    >>> as_column([1, None, 3]).tolist(), as_column(["a", float("nan")]).tolist()
    ([1.0, nan, 3.0], ['a', None])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and values.ndim == 1:
        return values
    listed = [None if is_null(value) else value for value in values]
    present = [value for value in listed if value is not None]
    numeric = present and all(isinstance(value, (int, float, np.number)) for value in present)
    if numeric and not any(isinstance(value, (bool, np.bool_)) for value in present):
        if len(present) == len(listed) and all(isinstance(value, (int, np.integer)) for value in present):
            small = max(map(abs, present)) < 1 << 63
            return np.array(listed, dtype=np.int64 if small else np.float64)
        return np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
    return column_of(listed)


def missing(column: Column) -> Mask:
    """Return which values are missing.

    >>> missing(as_column(["a", None])).tolist(), missing(as_column([1.0, None])).tolist()
    ([False, True], [False, True])
    """
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.array([is_null(value) for value in column], dtype=bool)


def as_days(column: Column) -> Column:
    """Return dates, or strings such as 2001-01-20, as days since 1970; any other column as it is.

    >>> as_days(as_column(["1970-01-11", None])).tolist(), as_days(as_column(["1970", "a"])).tolist()
    ([10.0, nan], ['1970', 'a'])
    """
    absent = missing(column)
    if column.dtype.kind == "O" and not absent.all() and all(map(is_date, column[~absent].tolist())):
        days = np.full(len(column), np.nan)
        with contextlib.suppress(ValueError):  # 2001-02-30
            moments = np.array([_naive(value) for value in column[~absent].tolist()], dtype="datetime64[us]")
            days[~absent] = (moments - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
            return days
    return column


def _naive(value: Any) -> np.datetime64:
    return np.datetime64(value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value, "us")


def is_numeric(column: Column) -> bool:
    """Whether a column holds numbers."""
    return column.dtype.kind in "iuf"


def all_numbers(values: list[Any]) -> bool:
    """Whether all of some values are numbers."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def looks_like_frame(data: Any) -> bool:
    """Whether data has columns: a frame, a mapping of columns, a concordance, or the name of a table file."""
    return isinstance(data, (Mapping, Concordance, str, PathLike)) or is_frame(data)
