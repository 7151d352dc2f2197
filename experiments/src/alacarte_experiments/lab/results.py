"""What an experiment gives: tidy rows, what was left out, and the protocol behind every number."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from alacarte import Table
from alacarte_experiments.lab.measures import mean_and_error
from alacarte_experiments.lab.settings import Settings

Row = dict[str, Any]


class RowTable(Table):
    """A table whose rows are dataclasses, all of the class `kind`, with notes beside it: a dataclass with these two.

    >>> @dataclass(frozen=True)
    ... class Word:
    ...     word: str
    ...     times: int
    >>> @dataclass(frozen=True)
    ... class Words(RowTable):
    ...     kind = Word
    ...     rows: tuple[Word, ...]
    ...     notes: tuple[str, ...] = ()
    >>> Words((Word("a", 12),)).columns()
    {'word': ['a'], 'times': [12]}
    """

    kind: ClassVar[type[Any]]
    rows: tuple[Any, ...]
    notes: tuple[str, ...]

    def columns(self) -> dict[str, list[Any]]:
        return {item.name: [getattr(row, item.name) for row in self.rows] for item in fields(self.kind)}

    def to_dict(self) -> dict[str, Any]:
        return {"rows": [asdict(row) for row in self.rows], "notes": list(self.notes)}


def mean_row(values: npt.ArrayLike, n: int | None = None, **labels: object) -> Row:
    """A row of ours: the mean of some values and its standard error; `n` is what they are of, if not of as many.

    >>> mean_row([0.5, 1.5], system="additive", metric="ρ")
    {'system': 'additive', 'metric': 'ρ', 'value': 1.0, 'stderr': 0.5, 'n': 2, 'source': 'ours'}
    """
    mean, error = mean_and_error(values)
    return {**labels, "value": mean, "stderr": error, "n": np.size(values) if n is None else n, "source": "ours"}


@dataclass(frozen=True)
class Exclusion:
    """Something that took no part: how many of what, why, and a few of them."""

    what: str
    count: int
    why: str
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f" ({', '.join(self.examples)}{', …' if self.count > len(self.examples) else ''})" * bool(self.examples)
        return f"{self.count:,} {self.what} left out: {self.why}{shown}"

    @classmethod
    def of(cls, what: str, items: Iterable[str], why: str) -> list["Exclusion"]:
        """One exclusion for these items, or none if there are no items.

        >>> print(*Exclusion.of("pairs", ["a b", "c d"], "no vector"))
        2 pairs left out: no vector (a b, c d)
        >>> Exclusion.of("pairs", [], "no vector")
        []
        """
        listed = list(items)
        return [cls(what, len(listed), why, tuple(listed[:5]))] if listed else []


@dataclass(frozen=True)
class Results(Table):
    """Rows of an experiment: one value of one metric of one system each, ours and published ones.

    As a table, every number has its protocol; published numbers have none but their source.
    """

    settings: Settings
    rows: tuple[Row, ...]
    exclusions: tuple[Exclusion, ...] = ()
    protocol: dict[str, Any] = field(default_factory=dict)  # what was found on the way: sizes, fingerprints

    def select(self, **wanted: object) -> list[Row]:
        """The rows with these values."""
        return [row for row in self.rows if all(row.get(name) == value for name, value in wanted.items())]

    def value(self, **wanted: object) -> float:
        """The value of the one row that is meant."""
        matching = self.select(**wanted)
        if len(matching) != 1:
            raise KeyError(f"{len(matching)} rows have {wanted}")
        return float(matching[0]["value"])

    def to_dict(self) -> dict[str, Any]:
        return {
            "settings": asdict(self.settings),
            "protocol": self.protocol,
            "exclusions": [asdict(item) for item in self.exclusions],
            "rows": list(self.rows),
        }

    def columns(self) -> dict[str, list[Any]]:
        settings = {
            name: " ".join(map(str, value)) if isinstance(value, tuple) else value
            for name, value in asdict(self.settings).items()
            if name not in ("systems", "sizes")
        }
        ours = {**settings, **self.protocol}
        rows = [{**(ours if row["source"] == "ours" else {}), **row} for row in self.rows]
        names = dict.fromkeys([*(ours if rows else {}), *(name for row in rows for name in row)])
        return {name: [row.get(name) for row in rows] for name in names}

    def pivot(self, index: Sequence[str], column: str) -> tuple[list[str], list[list[str]]]:
        """(header, lines): a line for each combination of `index`, a column for each value of `column`."""
        columns = list(dict.fromkeys(row[column] for row in self.rows))
        if all(isinstance(value, int | float) for value in columns):
            columns.sort()
        lines: dict[tuple[Any, ...], dict[Any, str]] = {}
        for row in self.rows:
            key = tuple(row.get(name, "") for name in index)
            lines.setdefault(key, {})[row[column]] = shown(row["value"], row.get("stderr"))
        header = [*index, *map(str, columns)]
        return header, [[*map(str, key), *(cells.get(c, "") for c in columns)] for key, cells in lines.items()]

    def write(self, folder: Path) -> list[Path]:
        """results.csv and settings.toml into a folder; figures are written by `figures`."""
        folder.mkdir(parents=True, exist_ok=True)
        self.to_csv(folder / "results.csv")
        (folder / "settings.toml").write_text(self.settings.to_toml(), encoding="utf-8")
        return [folder / "results.csv", folder / "settings.toml"]


def shown(value: float, stderr: float | None = None) -> str:
    """A number as a table has it.

    >>> shown(0.12345), shown(0.12345, 0.004), shown(165.5), shown(111012.0)
    ('0.123', '0.123 ±.004', '165.5', '111012')
    """
    if abs(value) >= 10:
        return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
    text = f"{value:.3f}" if abs(value) >= 0.0995 or value == 0 else f"{value:.4f}"
    return text if stderr is None else f"{text} ±{f'{stderr:.3f}'.lstrip('0')}"
