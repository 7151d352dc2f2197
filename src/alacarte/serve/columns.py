"""What the columns of a corpus are, so that the page offers what fits them."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from alacarte.concordance import Concordance
from alacarte.concordance.conditions import as_number, condition
from alacarte.concordance.periods import DATE

MOST_CHOICES = 40  # values that can be chosen from a list
MOSTLY = 0.9  # of the documents with a value have one of the kind that a column is said to be
YEARS = (1000, 2999)  # whole numbers between these are years
STEPS = (1, 2, 5, 10, 20, 50, 100, 1000)  # years that are counted together
MOST_BARS = 25
DOCUMENTS_PER_VALUE = 2.0  # documents for each value, at least, where a column groups them


def described_column(corpus: Concordance, name: str) -> dict[str, Any]:
    """Return the kind of a column, its least and greatest value where it has an order, its values where they are few.

    A column is a date (also a year), a number, one of few values, one of many, or text, which groups nothing.
    """
    levels = corpus.value_counts(name)
    known = {value: count for value, count in levels.items() if value is not None}
    kind = value_kind(known)
    ordered = kind in ("date", "number")
    few = len(levels) <= MOST_CHOICES and kind in ("few", "number")
    ends = [min(known, key=_place), max(known, key=_place)] if ordered else [None, None]
    return {
        "name": name,
        "kind": kind,
        "values": [_in_json(value) for value in levels] if few else None,
        "low": _in_json(ends[0]),
        "high": _in_json(ends[1]),
    }


def value_kind(known: Mapping[Any, int]) -> str:
    """Return the kind of a column, from its values and how many documents have each.

    >>> value_kind({"2001-05-03": 1, "2001-06": 1}), value_kind({1950: 3, 1951: 2}), value_kind({4.5: 1, 3: 1})
    ('date', 'date', 'number')
    >>> value_kind({"D": 50, "R": 60}), value_kind({f"Senator {n}": 9 for n in range(99)})
    ('few', 'many')
    >>> value_kind({"A remark.": 1, "B.": 1})
    'text'
    """
    total = sum(known.values())
    if not total:
        return "text"

    def share(holds: Any) -> float:
        return sum(count for value, count in known.items() if holds(value)) / total

    if share(lambda value: _is_year(value) or DATE.fullmatch(str(value)) is not None) >= MOSTLY:
        return "date"
    if share(lambda value: as_number(value) is not None) >= MOSTLY:
        return "number"
    if total / len(known) < DOCUMENTS_PER_VALUE:
        return "text"
    return "few" if len(known) <= MOST_CHOICES else "many"


def groups_to_compare(corpus: Concordance, columns: list[dict[str, Any]]) -> list[list[str]] | None:
    """Return conditions for two sides that make sense: before and after, or the two largest groups."""
    for column in columns:
        periods = corpus.periods(column["name"], 2) if column["kind"] == "date" else []
        if len(periods) == 2:
            boundary = periods[1].conditions[0]
            low = boundary.removeprefix(column["name"]).lstrip(">=")
            return [[condition(column["name"], "<", low)], [condition(column["name"], ">=", low)]]
    for column in columns:
        if column["kind"] == "few":
            counts = corpus.value_counts(column["name"])
            largest = sorted((value for value in counts if value is not None), key=lambda value: -counts[value])
            if len(largest) > 1:
                return [[condition(column["name"], "=", value)] for value in largest[:2]]
    return None


def by_years(corpus: Concordance, name: str) -> list[dict[str, Any]]:
    """Return how many documents a column of dates has in each year, or in each few years of the same number."""
    dated = [(str(value)[:4], count) for value, count in corpus.value_counts(name).items()]
    years = Counter[int]()
    for year, count in dated:
        if year.isdecimal():
            years[int(year)] += count
    if not years:
        return []
    low, high = min(years), max(years)
    step = next(step for step in STEPS if (high - low) // step < MOST_BARS)
    periods = []
    for first in range(low - low % step, high + 1, step):
        last = first + step - 1
        where = [condition(name, ">=", first), condition(name, "<", first + step)]
        period = f"{first}" if step == 1 else f"{first}–{last}"
        documents = sum(years[year] for year in range(first, first + step))
        periods.append({"period": period, "documents": documents, "where": where})
    return periods


def matching(corpus: Concordance, name: str, part: str, most: int) -> list[str]:
    """Return values of a column that hold some letters, those of most documents first."""
    counts = corpus.value_counts(name)
    found = [value for value in counts if value is not None and part.casefold() in str(value).casefold()]
    return [str(value) for value in sorted(found, key=lambda value: -counts[value])[:most]]


def _is_year(value: Any) -> bool:
    number = as_number(value)
    return isinstance(number, int) and YEARS[0] <= number <= YEARS[1]


def _place(value: Any) -> tuple[bool, Any]:
    number = as_number(value)
    return (True, str(value)) if number is None else (False, number)


def _in_json(value: Any) -> Any:
    """Return a value; a number that JSON has not, as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
