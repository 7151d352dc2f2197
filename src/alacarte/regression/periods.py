"""Variables that vary only over time, and how often a cut at another time would look like an effect.

Neighbouring years are alike, in what is said and in who governs. So two series that have nothing to do with each other
differ together, and tests that take years as independent find it. What holds is to compare within blocks of years: a
constant for each block is taken out, which takes slow drift with it, and blocks are the clusters, whose scores change
sign at random. A variable that changes once, such as a new era, cannot be told from drift in that way; a cut at any
other time would look like an effect too, and `placebo_cuts` says how often.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.inference.levels import varies_between
from alacarte.inference.means import Units
from alacarte.inference.regression_noise import Fit, unit_shares
from alacarte.regression.embed import Embeddings, check_embeddings
from alacarte.regression.frames import as_days, is_numeric
from alacarte.regression.groups import Groups, clusters_of, codes_by_name
from alacarte.regression.results import Results, column_of

BLOCK = "block of "  # before the name of a column of time
BLOCKS = 12  # of periods, at most
LEAST_BLOCKS = 8
SHORTEST = 5  # periods in a block
COUNT = 4.0  # blocks in which a term changes: fewer cannot be told from drift
ALIKE = 0.3  # correlation of neighbouring periods from which on they are alike
LEAST_PERIODS = 10  # fewer do not show whether neighbours are alike
NAMES = re.compile(r"(?:^|_)(?:year|date|day|month|week|quarter|decade|time|period)s?(?:_|$)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Periods:
    """The period of each row, by the order of time, and which variables vary only with it."""

    name: str
    codes: Longs
    only: tuple[str, ...]

    def __len__(self) -> int:
        """How many periods there are."""
        return int(self.codes.max()) + 1

    def blocks(self) -> Longs | None:
        """Return the block of each row; None if there are too few periods."""
        number = min(BLOCKS, len(self) // SHORTEST)
        return None if number < LEAST_BLOCKS else self.codes * number // len(self)


def periods_of(embeddings: Embeddings, columns: Mapping[str, npt.NDArray[Any]], time: str | None) -> Periods | None:
    """Return the periods by a column; by the first that looks like one, if none is named and variables vary with it."""
    known = dict(embeddings.variables.columns) | dict(columns)
    if time is not None:
        column = as_days(embeddings.column(time, "time"))
        if not is_numeric(column) or not np.isfinite(column.astype(np.float64)).all():
            raise AlacarteError(f"time: {time!r} is no column of numbers or dates without gaps; name one that is")
        return _periods(time, column, columns)
    found = []
    for name, column in known.items():
        days = as_days(column) if NAMES.search(name) or not is_numeric(column) else column
        if not is_numeric(days) or not (NAMES.search(name) or days is not column):
            continue
        if np.isfinite(days.astype(np.float64)).all() and len(np.unique(days)) >= LEAST_PERIODS:
            periods = _periods(name, days, columns)
            if periods.only:
                found.append(periods)
    return max(found, key=lambda periods: (len(periods.only), len(periods)), default=None)


def _periods(name: str, column: npt.NDArray[Any], columns: Mapping[str, npt.NDArray[Any]]) -> Periods:
    codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    only = [
        variable
        for variable, values in codes_by_name(columns).items()
        if varies_between(values, codes) and _alike(columns[variable], values, codes)
    ]
    return Periods(name, codes, tuple(only))


def _alike(column: npt.NDArray[Any], values: Longs, periods: Longs) -> bool:
    """Whether neighbouring periods have like values, more than chance would have them."""
    first = np.unique(periods, return_index=True)[1]
    if len(first) < LEAST_PERIODS:
        return False
    if is_numeric(column):
        series = column[first].astype(np.float64)
        series = series - series.mean()
        likeness = float(series[1:] @ series[:-1] / max(float(series @ series), 1e-300))
    else:
        listed = values[first]
        chance = float(np.square(np.bincount(listed - listed.min()) / len(listed)).sum())
        likeness = (float(np.mean(listed[1:] == listed[:-1])) - chance) / max(1 - chance, 1e-300)
    return bool(likeness > max(ALIKE, 3 / np.sqrt(len(first))))


def blocks_that_count(fit: Fit, combinations: Doubles) -> Doubles:
    """Return in how many blocks each combination changes: 1 / Σ s², s the blocks' shares in what it rests on."""
    return np.asarray(1 / np.square(unit_shares(fit, combinations)).sum(axis=0))


# ------------------------------------------------------------------------------------------------ placebos


def placebo_cuts(embeddings: Embeddings, over: str, at: Any, *, cluster: Groups | None = None) -> Results:
    """Compare the difference before and after a point in time with those at all other points.

    Language drifts, so that any two eras differ. The question is whether they differ more than eras that are cut
    elsewhere.

    Parameters
    ----------
    embeddings : Embeddings
        Of contexts.
    over : str
        The variable of time: numbers or dates.
    at : number or date
        The first value of the later era.
    cluster : str, list of str, or one value per row, optional
        What is one observation; the document if left out.

    Returns
    -------
    Results
        One row per cut with five periods or more on either side: `cut`, `contexts_before`, `contexts_after` and
        `estimate`, the debiased squared length of the difference of means. `notes` say how many cuts have one as large,
        and `info["p_value"]` is their share.

    Examples
    --------
    >>> from alacarte.regression import dem, documents
    >>> words = [["a"] * 8 + ["b"] * (1 + number // 15) for number in range(30)]
    >>> data = {"text": words, "year": range(1990, 2020)}
    >>> found = dem(documents(data, duplicates="keep"), (["a", "b"], np.eye(2)))
    >>> placebo_cuts(found, "year", 2005).notes
    ('a cut of year at 2005: another one has as large a difference in 0 of 20 cuts',)
    """
    check_embeddings(embeddings)
    column = as_days(embeddings.column(over, "time"))
    wanted = as_days(column_of([at]))[0] if not is_numeric(column_of([at])) else at
    if not is_numeric(column) or isinstance(wanted, str):
        raise AlacarteError(f"{over!r} has to hold numbers or dates, and `at` one of them")
    values, codes = np.unique(column, return_inverse=True)
    if len(values) < LEAST_PERIODS + 2 * SHORTEST or not np.isfinite(values.astype(np.float64)).all():
        least = LEAST_PERIODS + 2 * SHORTEST
        raise NotEnoughData(f"{over!r} has {len(values)} values, and {least} without gaps are needed to compare cuts")
    place = int(np.searchsorted(values, wanted))
    if not SHORTEST <= place <= len(values) - SHORTEST:
        raise NotEnoughData(f"fewer than {SHORTEST} values of {over!r} lie on one side of {at}; cut elsewhere")
    clusters = clusters_of(embeddings, cluster)
    weights = clusters.weights(np.ones(len(codes), dtype=bool))
    cuts = np.arange(SHORTEST, len(values) - SHORTEST + 1)
    estimates = np.array([_apart(embeddings.matrix, codes < cut, clusters.codes, weights) for cut in cuts])
    observed = float(estimates[cuts == place][0])
    others = estimates[cuts != place]
    as_large = int(np.count_nonzero(others >= observed))
    shown = embeddings.column(over, "time")
    first = np.unique(codes, return_index=True)[1]
    before = np.cumsum(np.bincount(codes))[cuts - 1]
    columns = {
        "cut": shown[first][cuts],
        "contexts_before": before,
        "contexts_after": len(codes) - before,
        "estimate": estimates,
    }
    said = f"a cut of {over} at {at}: another one has as large a difference in {as_large} of {len(others)} cuts"
    info = {"kind": "placebo cuts", "p_value": (1 + as_large) / (1 + len(others)), "notes": (said, *clusters.notes)}
    return Results(columns, embeddings.variables.backend, info)


def _apart(matrix: Doubles, before: npt.NDArray[np.bool_], clusters: Longs | None, weights: Doubles | None) -> float:
    """Return the debiased squared length of the difference of two means."""
    sides = [
        Units.of(matrix[rows], None if clusters is None else clusters[rows], None if weights is None else weights[rows])
        for rows in (before, ~before)
    ]
    apart = sides[0].mean() - sides[1].mean()
    return float(apart @ apart - sides[0].noise() - sides[1].noise())
