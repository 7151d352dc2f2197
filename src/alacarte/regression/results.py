"""The table that results come in."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.figures import SizeName
from alacarte._io.table import Columns, Table
from alacarte.errors import AlacarteError, require

Column = npt.NDArray[Any]


class PlotOptions(TypedDict, total=False):
    """How figures of tables are drawn; `standardised` and `labels` are for coefficients only."""

    standardised: bool
    labels: Mapping[str, str] | None
    alpha: float
    ax: Any
    title: str | None
    size: SizeName


ESTIMATES = ("estimate", "value")  # what a table estimates: the first of these that it has
# The first of these ends the columns that say what a row is about.
RESULTS = frozenset([*ESTIMATES, "rank", "score", "n", "df", "effect", "squared_norm", "std_error", "p_value"])
MOST = 8  # columns in print
LESS = (  # what is left out of print first, where there are more; to_frame() and to_csv() have all
    *("covariate_mean", "squared_norm", "noise", "statistic", "contexts", "clusters", "n", "name", "std_error"),
    *("rank", "value"),
)
LIBRARIES = {"polars": "polars frames", "pyarrow": "Arrow tables", "pandas": "pandas frames"}


@dataclass(frozen=True, eq=False, repr=False)
class Results(Table):
    """Named columns of equal length, which become a frame of the library the data came in.

    `results["value"]` is a column. In print, a column `reason` is left out if it has nothing to explain, and a value
    that cannot be known is "unknown"; there are eight columns at most.

    Parameters
    ----------
    values : dict of str to array
        The columns by name.
    backend : str
        The library of the data, which `to_frame` uses too.
    info : dict
        What holds for the whole table.

    Examples
    --------
    >>> results = Results({"feature": np.array(["reform", "law"]), "value": np.array([0.5, 0.25])})
    >>> results["value"].tolist(), len(results)
    ([0.5, 0.25], 2)
    >>> results.to_frame().columns.tolist()
    ['feature', 'value']
    >>> float(results.coef()["law"])
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
        """The p-value below which only "less than" is shown: one permutation, where the observed one is not counted."""
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
        """Return all columns by name."""
        return self.values

    @property
    def about(self) -> list[str]:
        """The columns that say what a row is about: those before the results."""
        return list(itertools.takewhile(lambda name: name not in RESULTS, self.values))

    def take(self, rows: npt.ArrayLike) -> "Results":
        """Return some of the rows, by number or by mask."""
        chosen = np.asarray(rows)
        return Results({name: column[chosen] for name, column in self.values.items()}, self.backend, self.info)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows as tuples of Python's own values."""
        return list(zip(*(column.tolist() for column in self.values.values()), strict=True))

    def to_frame(self) -> Any:
        """Return a frame of the library the data came in; a pandas frame if it was none."""
        return make_frame(self.values, self.backend)

    tidy = to_frame

    def coef(self) -> Any:
        """Return the estimates, without the bias of noise where that is known, as a pandas series."""
        return self._series(*ESTIMATES)

    def se(self) -> Any:
        """Return the standard errors of the estimates as a pandas series."""
        return self._series("std_error")

    def tstat(self) -> Any:
        """Return the estimates over their standard errors as a pandas series."""
        return (self.coef() / self.se()).rename("tstat")

    def pvalue(self, adjusted: bool = False) -> Any:
        """Return the p-values as a pandas series: each for itself, or adjusted for all rows together."""
        return self._series("p_adjusted" if adjusted else "p_value")

    def confint(self) -> Any:
        """Return the ends of the intervals as a pandas frame with two columns."""
        pandas = require("pandas", extra="regression", purpose="confint()")
        return pandas.DataFrame({name: self._series(name) for name in ("conf_low", "conf_high")})

    def plot(self, **options: Unpack[PlotOptions]) -> Any:
        """Draw the figure for a table of this kind: options as in `plot_coefficients`, `plot_ratio` and `plot_over`."""
        from alacarte.regression import plots

        given: dict[str, Any] = {**options}
        kind = self.info.get("kind")
        if kind in ("regression", "regressions"):
            return plots.plot_coefficients(self, **given)
        if kind in ("ratio", "over"):
            return plots.plot_ratio(self, **given) if kind == "ratio" else plots.plot_over(self, **given)
        raise AlacarteError(f"there is no figure for a table of this kind ({kind}); plot a column of to_frame()")

    def _series(self, *names: str) -> Any:
        """Return the first of some columns that the table has, by the columns before the results."""
        pandas = require("pandas", extra="regression", purpose="series by row")
        name = next((name for name in names if name in self), None)
        if name is None:
            raise AlacarteError(
                f"the table has no column {names[0]!r}, only {', '.join(map(repr, self.values))}; ask for intervals or "
                "permutations where it is computed"
            )
        about = self.about
        index = (
            pandas.Index(self[about[0]].tolist(), name=about[0])
            if len(about) == 1
            else pandas.MultiIndex.from_arrays([self[column].tolist() for column in about], names=about)
        )
        return pandas.Series(self[name], index=index, name=name)

    def _printed_columns(self, most: int | None) -> Columns:
        unexplained = "reason" in self and not any(self["reason"].tolist())
        shown: dict[str, Any] = {
            name: column for name, column in self.values.items() if not (unexplained and name == "reason")
        }
        for name in self.about:
            if any(isinstance(value, int) and value >= 1000 for value in shown[name].tolist()):
                shown[name] = [str(value) for value in shown[name].tolist()]  # a year: no thousands in it
        if "value" in shown:
            shown["value"] = ["unknown" if value != value else value for value in shown["value"].tolist()]
        for name in LESS:
            if len(shown) > MOST:
                shown.pop(name, None)
        return shown

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken as one observation, in sentences."""
        return tuple(self.info.get("notes", ()))

    def _sentences(self) -> Sequence[str]:
        return self.notes


def make_frame(columns: Mapping[str, Column], backend: str) -> Any:
    """Return a frame with these columns; lists inside a column stay lists.

    >>> make_frame({"a": np.array([1, 2])}, "polars").shape
    (2, 1)
    """
    listed = {name: column.tolist() for name, column in columns.items()}
    library = require(backend, extra="regression", purpose=LIBRARIES[backend])
    if backend == "polars":
        return library.DataFrame(listed, strict=False)
    return library.table(listed) if backend == "pyarrow" else library.DataFrame(listed)


def column_of(values: Sequence[Any]) -> Column:
    """Return an array of objects, one for each value, even if the values are lists.

    >>> column_of([["a", "b"], ["c", "d"]]).shape
    (2,)
    """
    column = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        column[row] = value
    return column


def joined(parts: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """Return tables with the same columns, below each other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
