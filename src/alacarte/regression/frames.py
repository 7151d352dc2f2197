"""Columns of frames of any library, of mappings, of table files and of concordances."""

import contextlib
import datetime
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from alacarte._io.arrays import Mask
from alacarte._io.arrow import open_arrow
from alacarte._io.copies import local_copy
from alacarte._io.decoding import decoding
from alacarte._io.files import compression, decompressed
from alacarte._io.frames import is_frame
from alacarte._io.printing import map_text, unguarded
from alacarte.concordance import Concordance
from alacarte.errors import BadCorpus, require
from alacarte.regression.results import LIBRARIES, Column, column_of
from alacarte.text.records import as_frame, delimiter_of, is_null

PADDED = r"\s*[+-]?0\d"  # a number that begins with 0, as codes do: 01, 007
LONGEST = 40  # characters of a number or a date


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
    backend = str(frame.implementation.value)
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
    if column.dtype.kind == "O" and not absent.all() and all(map(_is_date, column[~absent].tolist())):
        days = np.full(len(column), np.nan)
        with contextlib.suppress(ValueError):  # 2001-02-30
            moments = np.array([_naive(value) for value in column[~absent].tolist()], dtype="datetime64[us]")
            days[~absent] = (moments - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
            return days
    return column


def _is_date(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?", value) is not None
    return isinstance(value, (datetime.date, np.datetime64))


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


# ------------------------------------------------------------------------------------------------------- files


def read_table(path: str | PathLike[str]) -> Any:
    """Read CSV, TSV, JSON lines or Parquet, compressed or not, into a pandas frame.

    Text in CSV and JSON becomes numbers or dates (2001-01-20) where every value of a column is written as one is; 01 is
    not, and such a column stays text: 01 and 1 are two levels.

    Parameters
    ----------
    path : str or path
        The file, or its URL; its ending says what it is.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "speeches.jsonl"
    ...     _ = path.write_text('{"text": "a b", "year": "1990", "district": "01", "day": "1990-05-01"}')
    ...     row = read_table(path).iloc[0]
    >>> int(row["year"]), row["district"], str(row["day"].date())
    (1990, '01', '1990-05-01')
    """
    pandas = require("pandas", extra="regression", purpose="reading tables")
    with local_copy(path, BadCorpus) as file:
        return _read_table(file, pandas)


def _read_table(path: Path, pandas: Any) -> Any:
    if not path.is_file():
        raise BadCorpus(f"{path}: there is no such file; pass a CSV, TSV, JSON lines or Parquet file, or a frame")
    kinds = [suffix.lower() for suffix in path.suffixes]
    with decoding(path, BadCorpus, "check how it was written"):
        if ".parquet" in kinds:
            with open_arrow(path, "parquet") as table:
                return table.read().to_pandas()
        if ".jsonl" in kinds or ".ndjson" in kinds:
            return _typed(_read_json_lines(path, pandas), pandas)
        if ".csv" in kinds or ".tsv" in kinds:
            separator = "\t" if ".tsv" in kinds else delimiter_of(_first_line(path))
            frame = pandas.read_csv(path, sep=separator, dtype=str)
            return _typed(map_text(frame, unguarded), pandas)
    raise BadCorpus(f"{path}: the ending does not say what it is; name it .csv, .tsv, .jsonl or .parquet")


def _first_line(path: Path) -> str:
    with _opened(path, errors="replace") as text:
        return text.readline()


def _read_json_lines(path: Path, pandas: Any) -> Any:
    with _opened(path) as text:
        return pandas.DataFrame([json.loads(line) for line in text if line.strip()])


@contextlib.contextmanager
def _opened(path: Path, errors: str = "strict") -> Iterator[io.TextIOWrapper]:
    with path.open("rb") as raw:
        kind = compression(raw.read(8))
        raw.seek(0)
        yield io.TextIOWrapper(decompressed(raw, kind), encoding="utf-8", errors=errors)


def _typed(frame: Any, pandas: Any) -> Any:
    """Return the frame with strings as numbers or as dates, where every value of a column is written as one."""
    for name in frame.columns:
        present = frame[name].dropna()
        if not len(present) or not all(isinstance(value, str) and len(value) < LONGEST for value in present):
            continue
        if not any(re.match(PADDED, value) for value in present):
            with contextlib.suppress(ValueError, TypeError):
                frame[name] = pandas.to_numeric(frame[name])
                continue
        if all(map(_is_date, present)):
            with contextlib.suppress(ValueError, TypeError):  # 2001-02-30
                frame[name] = pandas.to_datetime(frame[name], format="ISO8601")
    return frame
