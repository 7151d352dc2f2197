"""A word over time: a column cut into periods, and the uses and likeness of a word in each."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from alacarte._io.table import Record, Records
from alacarte.concordance._database import condition
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.targets.targets import Targets, TargetsLike

if TYPE_CHECKING:
    from alacarte.concordance.concordance import Concordance
    from alacarte.model import ALaCarte

DATES = 0.9  # of the documents that have a value must have a date for a column to be one of dates
DATE = re.compile(r"[0-9]{4}-[0-9]{2}([-T ].*)?")


@dataclass(frozen=True)
class Period:
    """Documents whose column lies between two values: their name, the conditions of `where`, how many there are."""

    name: str
    conditions: tuple[str, ...]
    documents: int


def periods_of(column: str, levels: Mapping[Any, int], most: int) -> list[Period]:
    """Values of a column in their order, with the number of documents of each, as at most `most` periods.

    A column is one of dates if nine tenths of its documents have one; others are then in no period, as are those
    without a value.

    >>> [period.name for period in periods_of("year", {1999: 5, 2000: 4, 2001: 1, 2002: 1, 2003: 9}, 3)]
    ['1999', '2000–2002', '2003']
    >>> periods_of("date", {"2001-05-03": 2, "2001-07-01": 1, "2002-01-01": 3}, 9)[0]
    Period(name='2001', conditions=('date>=2001', 'date<2002'), documents=3)
    """
    if most < 1:
        raise AlacarteError(f"at least one period is needed, not {most}")
    known = {value: count for value, count in levels.items() if value is not None}
    dated = {value: count for value, count in known.items() if isinstance(value, str) and DATE.fullmatch(value)}
    dates = bool(dated) and sum(dated.values()) >= DATES * sum(known.values())
    if dates:
        years: dict[Any, int] = {}
        for value, count in dated.items():
            years[int(value[:4])] = years.get(int(value[:4]), 0) + count
        known = dict(sorted(years.items()))
    values, counts = list(known), np.array(list(known.values()), dtype=np.int64)
    middle = np.cumsum(counts) - counts / 2  # where a value's documents lie among all
    part = (middle * min(most, len(values)) / max(1, counts.sum())).astype(int)
    if len(values) <= most:
        part = np.arange(len(values))
    periods = []
    for number in np.unique(part).tolist():
        rows = np.flatnonzero(part == number)
        low, high = values[rows[0]], values[rows[-1]]
        name = f"{low}" if low == high else f"{low}–{high}"
        if dates:
            conditions: tuple[str, ...] = condition(column, ">=", low), condition(column, "<", high + 1)
        elif low == high:
            conditions = (condition(column, "=", low),)
        else:
            conditions = condition(column, ">=", low), condition(column, "<=", high)
        periods.append(Period(name, conditions, int(counts[rows].sum())))
    return periods


@dataclass(frozen=True)
class PeriodUse(Record):
    """A word in one period: how often it is used, and how like another word it is, with an interval.

    `per_million` is uses a million tokens. Without another word, and where a period has too few uses to tell, the
    likeness is not there (NaN).
    """

    period: str
    documents: int
    uses: int
    per_million: float
    other: str
    estimate: float
    conf_low: float
    conf_high: float


@dataclass(frozen=True)
class PeriodUses(Records[PeriodUse]):
    """A word over time, a row a period and other word."""

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
    """How often a word, phrase or pattern is used in each period of a column, and how like other words it is there.

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
        facts = period.name, len(part), uses, 1e6 * uses / max(1, tokens)
        rows += [PeriodUse(*facts, *likeness) for likeness in _likenesses(part, model, wanted, words, uses)]
    return PeriodUses(tuple(rows))


def _likenesses(
    part: "Concordance", model: "ALaCarte", target: Targets, words: list[str], uses: int
) -> list[tuple[str, float, float, float]]:
    """(other word, likeness, its interval) for each word; one row of nothing without any."""
    nothing = (float("nan"),) * 3
    if not words:
        return [("", *nothing)]
    if not uses:
        return [(word, *nothing) for word in words]
    try:
        similarities = part.induce(model, target).uncertainty.similarities(next(iter(target)), words)
    except NotEnoughData:
        return [(word, *nothing) for word in words]
    return [(item.other, item.estimate, item.conf_low, item.conf_high) for item in similarities]
