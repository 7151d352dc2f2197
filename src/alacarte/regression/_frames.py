"""Frames of any library in, frames of the same library out; and the table that results come in."""

import contextlib
import datetime
import io
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io import table
from alacarte._io.copies import copied
from alacarte._io.decoding import decoding
from alacarte._io.files import compression, decompressed
from alacarte._io.frames import is_frame
from alacarte._io.printing import map_text, unguarded
from alacarte.concordance import Concordance
from alacarte.errors import AlacarteError, BadCorpus, require
from alacarte.text.records import as_frame, is_null

if TYPE_CHECKING:
    from alacarte.regression.plots import TableFigureOptions

Column = npt.NDArray[Any]
PADDED = r"\s*[+-]?0\d"  # a number that begins with 0, as codes do: 01, 007
ESTIMATES = ("estimate", "value")  # what a table estimates: the first of these that it has
# The first of these ends the columns that say what a row is about.
RESULTS = frozenset([*ESTIMATES, "rank", "score", "n", "df", "effect", "squared_norm", "std_error", "p_value"])
BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")


@dataclass(frozen=True, eq=False)
class Table(table.Table):
    """A result: named columns of equal length, which become a frame of the library the data came in.

    `table["value"]` is a column, `values` has all of them by name. `coef()`, `se()`, `tstat()`, `pvalue()` and
    `confint()` give single columns as pandas has them, by what a row is about. In print, a column `reason` is left out
    if it has nothing to explain.

    >>> table = Table({"feature": np.array(["reform", "law"]), "value": np.array([0.5, 0.25])})
    >>> table["value"].tolist(), len(table)
    ([0.5, 0.25], 2)
    >>> table.to_frame().columns.tolist()
    ['feature', 'value']
    >>> float(table.coef()["law"])
    0.25
    """

    values: dict[str, Column]
    backend: str = "pandas"
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.values.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of different lengths: {lengths}")

    @property
    def least_p(self) -> float:
        """With R's rules, one of the permutations: a p-value of 0 says that none of them reached the estimate."""
        return float(self.info.get("least_p", super().least_p))

    def __len__(self) -> int:
        return len(next(iter(self.values.values()))) if self.values else 0

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def __getitem__(self, name: str) -> Column:
        return self.values[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.values)

    def columns(self) -> dict[str, Column]:
        return self.values

    @property
    def about(self) -> list[str]:
        """The columns that say what a row is about: those before the results."""
        return list(itertools.takewhile(lambda name: name not in RESULTS, self.values))

    def take(self, rows: npt.ArrayLike) -> "Table":
        """Some of the rows, by number or by mask."""
        chosen = np.asarray(rows)
        return Table({name: column[chosen] for name, column in self.values.items()}, self.backend, self.info)

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as tuples of Python's own values."""
        return list(zip(*(column.tolist() for column in self.values.values()), strict=True))

    def to_frame(self) -> Any:
        """A frame of the library the data came in, pandas if it was none."""
        return make_frame(self.values, self.backend)

    tidy = to_frame

    def coef(self) -> Any:
        """The estimates, as a pandas series by what each row is about: without the bias of noise, if that was asked."""
        return self._series(*ESTIMATES)

    def se(self) -> Any:
        """The standard errors of the estimates, as `coef` has them."""
        return self._series("std_error")

    def tstat(self) -> Any:
        """The statistic of the test, as `coef` has the estimates."""
        return self._series("statistic")

    def pvalue(self, adjusted: bool = False) -> Any:
        """The p-values, each for itself or adjusted for all rows together, as `coef` has the estimates."""
        return self._series("p_adjusted" if adjusted else "p_value")

    def confint(self) -> Any:
        """The ends of the intervals, a pandas frame with two columns, by what each row is about."""
        pandas = require("pandas", extra="regression", purpose="confint()")
        return pandas.DataFrame({name: self._series(name) for name in ("conf_low", "conf_high")})

    def glance(self) -> Any:
        """A frame with one row: what the table is about as a whole."""
        info = {name: value for name, value in self.info.items() if isinstance(value, str | int | float)}
        return make_frame(
            {name: column_of([value]) for name, value in (info | {"rows": len(self)}).items()}, self.backend
        )

    def summary(self) -> str:
        """The table as text."""
        return str(self)

    def plot(self, **options: "Unpack[TableFigureOptions]") -> Any:
        """The figure for a table of this kind: `plot_coefficients`, `plot_ratio` or `plot_over`, and their keywords."""
        from alacarte.regression import plots

        drawing: dict[Any, Callable[..., Any]] = {
            "regression": plots.plot_coefficients,
            "regressions": plots.plot_coefficients,
            "sensitivity": plots.plot_coefficients,
            "ratio": plots.plot_ratio,
            "over": plots.plot_over,
        }
        kind = self.info.get("kind")
        if kind not in drawing:
            raise AlacarteError(f"there is no figure for a table of this kind ({kind}); plot a column of to_frame()")
        return drawing[kind](self, **options)

    def _series(self, *names: str) -> Any:
        """The first of some columns that is there, by the columns before the results."""
        pandas = require("pandas", extra="regression", purpose="series by row")
        name = next((name for name in names if name in self), None)
        if name is None:
            raise AlacarteError(
                f"the table has no column {names[0]!r}, only {', '.join(map(repr, self.values))}; ask for intervals or "
                "permutations where it is made"
            )
        about = self.about
        index = (
            pandas.Index(self[about[0]].tolist(), name=about[0])
            if len(about) == 1
            else pandas.MultiIndex.from_arrays([self[column].tolist() for column in about], names=about)
        )
        return pandas.Series(self[name], index=index, name=name)

    def _shown(self, most: int | None) -> table.Columns:
        unexplained = "reason" in self and not any(self["reason"].tolist())
        shown = {name: column for name, column in self.values.items() if not (unexplained and name == "reason")}
        for name in self.about:
            if any(isinstance(value, int) and value >= 1000 for value in shown[name].tolist()):
                shown[name] = column_of([str(value) for value in shown[name].tolist()])  # a year: no thousands in it
        return shown

    def __repr__(self) -> str:
        return str(self)


def make_frame(columns: Mapping[str, Column], backend: str) -> Any:
    """A frame with these columns; lists inside a column stay lists.

    >>> make_frame({"a": np.array([1, 2])}, "polars").shape
    (2, 1)
    """
    listed = {name: column.tolist() for name, column in columns.items()}
    if backend == "polars":
        return require("polars", extra="regression", purpose="polars frames").DataFrame(listed, strict=False)
    if backend == "pyarrow":
        return require("pyarrow", extra="regression", purpose="Arrow tables").table(listed)
    return require("pandas", extra="regression", purpose="to_frame()").DataFrame(listed)


@dataclass(frozen=True, eq=False)
class Variables:
    """What is known of each row: named columns, and for those that are ordered or categorical, their levels."""

    columns: dict[str, Column] = field(default_factory=dict)
    levels: dict[str, list[Any]] = field(default_factory=dict)
    backend: str = "pandas"

    def take(self, rows: npt.NDArray[Any]) -> "Variables":
        return Variables({name: column[rows] for name, column in self.columns.items()}, self.levels, self.backend)

    def without(self, *names: str | None) -> "Variables":
        kept = {name: column for name, column in self.columns.items() if name not in names}
        return Variables(kept, self.levels, self.backend)

    def column(self, name: str, purpose: str) -> Column:
        if name not in self.columns:
            raise BadCorpus(
                f"no column {name!r} for {purpose}; the columns are {', '.join(map(repr, self.columns)) or 'none'}"
            )
        return self.columns[name]


def read_frame(data: Any) -> Variables:
    """The columns of any frame, of a mapping of columns, of a table file, or of a concordance.

    >>> read_frame({"party": ["D", None, "R"]}).columns["party"].tolist()
    ['D', None, 'R']
    """
    if isinstance(data, (str, PathLike)):
        data = read_table(data)
    if isinstance(data, Variables):
        return data
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
    return Variables(columns, levels, backend if backend in BACKENDS else "pandas")


def as_column(values: Any) -> Column:
    """Numbers as numbers (missing ones as NaN), everything else as objects (missing ones as None).

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


def missing(column: Column) -> npt.NDArray[np.bool_]:
    """Which values are missing.

    >>> missing(as_column(["a", None])).tolist(), missing(as_column([1.0, None])).tolist()
    ([False, True], [False, True])
    """
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.array([is_null(value) for value in column], dtype=bool)


def as_days(column: Column) -> Column:
    """Dates, or strings such as 2001-01-20, as days since 1970; any other column as it is.

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
    return column.dtype.kind in "iuf"


def read_table(path: str | PathLike[str]) -> Any:
    """A pandas frame from CSV, TSV, JSON lines or Parquet, compressed or not.

    In CSV, and in JSON's strings, a column holds numbers only if each value is written as a number is (1990, -0.5); 01
    is not, and such a column stays as it is: 01 and 1 are two levels. Columns of dates (2001-01-20) become dates.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "speeches.jsonl"
    ...     _ = path.write_text('{"text": "a b", "year": "1990", "district": "01", "day": "1990-05-01"}')
    ...     row = read_table(path).iloc[0]
    >>> int(row["year"]), row["district"], str(row["day"].date())
    (1990, '01', '1990-05-01')
    """
    pandas = require("pandas", extra="regression", purpose="reading tables")
    with copied(path, BadCorpus) as file:
        return _read_table(file, pandas)


def _read_table(path: Path, pandas: Any) -> Any:
    if not path.is_file():
        raise BadCorpus(f"{path}: there is no such file; pass a CSV, TSV, JSON lines or Parquet file, or a frame")
    kinds = [suffix.lower() for suffix in path.suffixes]
    with decoding(path, BadCorpus, "check how it was written"):
        if ".parquet" in kinds:
            frame = pandas.read_parquet(path)
            for place, dtype in enumerate(frame.dtypes):
                if dtype.kind == "O":  # bytes that are not UTF-8 are met here, and not later
                    frame.iloc[:, place].tolist()
            return frame
        if ".jsonl" in kinds or ".ndjson" in kinds:
            return _typed(_read_json_lines(path, pandas), pandas)
        if ".csv" in kinds or ".tsv" in kinds:
            return _typed(_read_csv(path, "\t" if ".tsv" in kinds else ",", pandas), pandas)
    raise BadCorpus(f"{path}: the ending does not say what it is; name it .csv, .tsv, .jsonl or .parquet")


def _read_json_lines(path: Path, pandas: Any) -> Any:
    """Values as they are."""
    with path.open("rb") as raw:
        kind = compression(raw.read(8))
        raw.seek(0)
        text = io.TextIOWrapper(decompressed(raw, kind), encoding="utf-8")
        return pandas.DataFrame([json.loads(line) for line in text if line.strip()])


def _read_csv(path: Path, separator: str, pandas: Any) -> Any:
    """As pandas reads it, but for columns that it takes for numbers although they are not written as numbers are.

    The ' that we write before text that a spreadsheet would take for a formula is taken away.
    """
    frame = pandas.read_csv(path, sep=separator)
    numeric = [name for name in frame.columns if frame[name].dtype.kind in "iuf"]
    if numeric:
        written = pandas.read_csv(path, sep=separator, usecols=numeric, dtype=str)
        for name in numeric:
            if written[name].str.match(PADDED).any():
                frame[name] = written[name]
    return map_text(frame, unguarded)


def _typed(frame: Any, pandas: Any) -> Any:
    """Columns of strings as numbers or as dates, where every value is written as one."""
    for name in frame.columns:
        present = frame[name].dropna()
        if not len(present) or not all(isinstance(value, str) and len(value) < 40 for value in present):
            continue
        if not any(re.match(PADDED, value) for value in present):
            with contextlib.suppress(ValueError, TypeError):
                frame[name] = pandas.to_numeric(frame[name])
                continue
        if all(map(_is_date, present)):
            with contextlib.suppress(ValueError, TypeError):  # 2001-02-30
                frame[name] = pandas.to_datetime(frame[name], format="ISO8601")
    return frame


def looks_like_frame(data: Any) -> bool:
    """Whether data has columns: a frame, a mapping of columns, a concordance, or the name of a table file."""
    return isinstance(data, (Mapping, Variables, Concordance, str, PathLike)) or is_frame(data)


def column_of(values: Sequence[Any]) -> Column:
    """An array of objects, one for each value, even if the values are lists.

    >>> column_of([["a", "b"], ["c", "d"]]).shape
    (2,)
    """
    column = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        column[row] = value
    return column
