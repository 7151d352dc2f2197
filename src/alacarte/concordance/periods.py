"""A word over time: a column cut into periods, and the uses and likeness of a word in each."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from alacarte._io.checks import whole_number
from alacarte._io.table import Record, Records
from alacarte.concordance.conditions import Condition, as_number, condition
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.targets.targets import Targets, TargetsLike

if TYPE_CHECKING:
    from alacarte.concordance.concordance import Concordance
    from alacarte.model import ALaCarte

DATES = 0.9  # of the documents that have a value must have a date for a column to be one of dates
DATE = re.compile(r"[0-9]{4}-[0-9]{2}([-T ].*)?", re.DOTALL)
YEAR = re.compile(r"[0-9]{4}")


@dataclass(frozen=True)
class Period:
    """Documents whose column lies between two values.

    Parameters
    ----------
    name : str
        The first and the last value.
    conditions : tuple of str
        The conditions by which `Concordance.where` gives these documents.
    documents : int
        How many there are in the whole concordance.
    """

    name: str
    conditions: tuple[str, ...]
    documents: int


def periods_of(column: str, levels: Mapping[Any, int], most: int) -> list[Period]:
    """Return at most `most` periods of a column, from its values in their order and the number of documents of each.

    >>> [period.name for period in periods_of("year", {1999: 5, 2000: 4, 2001: 1, 2002: 1, 2003: 9}, 3)]
    ['1999', '2000–2002', '2003']
    >>> periods_of("date", {"2001-05-03": 2, "2001-07-01": 1, "2002-01-01": 3}, 9)[0]
    Period(name='2001', conditions=('date>=2001', 'date<2002'), documents=3)
    """
    most = whole_number(most, "most", 1)
    known = {value: count for value, count in levels.items() if value is not None}
    years = _years(known)
    ordered = years or (known if len(known) <= most else _one_kind(known))
    values, counts = list(ordered), np.array(list(ordered.values()), dtype=np.int64)
    middle = np.cumsum(counts) - counts / 2  # where a value's documents lie among all
    part = (middle * min(most, len(values)) / max(1, counts.sum())).astype(int)
    if len(values) <= most:
        part = np.arange(len(values))
    periods = []
    for number in np.unique(part).tolist():
        rows = np.flatnonzero(part == number)
        low, high = values[rows[0]], values[rows[-1]]
        conditions: tuple[str, ...]
        if years:
            conditions = condition(column, ">=", low), condition(column, "<", high + 1)
        elif low == high:
            conditions = (condition(column, "=", low),)
        else:
            conditions = condition(column, ">=", low), condition(column, "<=", high)
        tests = [Condition.parse(text, [column]) for text in conditions]
        documents = sum(count for value, count in known.items() if all(test.holds(value) for test in tests))
        periods.append(Period(f"{low}" if low == high else f"{low}–{high}", conditions, documents))
    return periods


def _years(known: Mapping[Any, int]) -> dict[int, int]:
    """Return the documents of each year, if the column is one of dates; bare years may be among them."""
    dated = [value for value in known if isinstance(value, str) and DATE.fullmatch(value)]
    bare = [value for value in known if YEAR.fullmatch(str(value))]
    if not dated or sum(known[value] for value in dated + bare) < DATES * sum(known.values()):
        return {}
    years: dict[int, int] = {}
    for value in dated + bare:
        year = int(str(value)[:4])
        years[year] = years.get(year, 0) + known[value]
    return dict(sorted(years.items()))


def _one_kind(known: Mapping[Any, int]) -> dict[Any, int]:
    """Return the numbers among the values, or the others, whichever more documents have: only one kind has an order."""
    numbers = {value: count for value, count in known.items() if _is_number(value)}
    others = {value: count for value, count in known.items() if value not in numbers and isinstance(value, str)}
    return max(numbers, others, key=lambda kind: sum(kind.values()))


def _is_number(value: Any) -> bool:
    number = as_number(value)
    return number is not None and math.isfinite(number)


@dataclass(frozen=True)
class PeriodUse(Record):
    """A word in one period: how often it is used, and how like another word it is.

    Parameters
    ----------
    period : str
        The name of the period.
    documents, uses : int
        How many documents there are, and how often the word occurs in them.
    per_million : float
        Uses per million tokens; NaN in a period without tokens.
    other : str
        The other word; empty if there is none.
    estimate, conf_low, conf_high : float
        The likeness to the other word and its 95 % interval; NaN where there are too few uses to know.
    """

    period: str
    documents: int
    uses: int
    per_million: float
    other: str
    estimate: float
    conf_low: float
    conf_high: float


@dataclass(frozen=True, repr=False)
class PeriodUses(Records[PeriodUse]):
    """A word over time: one row per period and other word."""

    kind: ClassVar[type[Any]] = PeriodUse
    items: tuple[PeriodUse, ...]


def over_periods(
    concordance: "Concordance",
    model: "ALaCarte",
    target: TargetsLike,
    column: str,
    others: Iterable[str] = (),
    *,
    most: int = 12,
) -> PeriodUses:
    """Return how often a target is used in each period of a column, and how like other words it is there.

    Parameters
    ----------
    concordance : Concordance
        The text, or a slice of it.
    model : ALaCarte
        The model that gives the vectors.
    target : str or Targets
        A word, phrase or pattern.
    column : str
        The column that is cut into periods (see `Concordance.periods`).
    others : iterable of str, optional
        Words to compare with, which have vectors.
    most : int, default 12
        The most periods.

    Returns
    -------
    PeriodUses

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from alacarte import ALaCarte, Concordance, Corpus, Document, Transform, WordVectors
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors(["river", "money", "the"], [[1.0, 0.1], [0.1, 1.0], [0.2, 0.2]])
    >>> texts = [Document(f"the bank {rng.choice(['river', 'money'])} the", values=(2000 + i % 2,)) for i in range(60)]
    >>> corpus = Corpus(texts, columns=["year"])
    >>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
    >>> banks = Concordance.build(vectors, corpus, path, show_progress=False)
    >>> table = over_periods(banks, ALaCarte(vectors, Transform(np.eye(2))), "bank", "year", ["money"])
    >>> [(row.period, row.uses, row.other) for row in table]
    [('2000', 30, 'money'), ('2001', 30, 'money')]
    """
    words = list(dict.fromkeys(others))
    missing = [word for word in words if word not in model.vectors]
    if missing:
        raise AlacarteError(f"there is no vector for {missing[0]!r} to compare with; choose another word")
    wanted = Targets.of([target] if isinstance(target, str) else target)
    concordance.uses(wanted)  # says what to do where there is none
    rows: list[PeriodUse] = []
    for period in concordance.periods(column, most):
        part = concordance.where(*period.conditions)
        uses, tokens = part.count(wanted), part.tokens
        facts = period.name, len(part), uses, 1e6 * uses / tokens if tokens else math.nan
        rows += [PeriodUse(*facts, *likeness) for likeness in _likenesses(part, model, wanted, words, uses)]
    return PeriodUses(tuple(rows))


def _likenesses(
    part: "Concordance", model: "ALaCarte", target: Targets, words: list[str], uses: int
) -> list[tuple[str, float, float, float]]:
    """Return (other word, likeness, its interval) for each word; one row of nothing without any."""
    nothing = (math.nan,) * 3
    if not words:
        return [("", *nothing)]
    if not uses:
        return [(word, *nothing) for word in words]
    induced = part.induce(model, target)
    try:
        uncertainty = induced.uncertainty_after(induced.adaptation, words)
        similarities = uncertainty.similarities(next(iter(target)), words)
    except NotEnoughData:
        return [(word, *nothing) for word in words]
    return [(item.other, item.estimate, item.conf_low, item.conf_high) for item in similarities]
