"""Where a target stands in a concordance: lines of text in any order, any stretch of them at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte._io.table import Columns, Table
from alacarte.concordance._segment import Segment

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

AROUND = 10  # words shown on each side of a match
SIDES = ("before", "after")
SORTED_BY = 3  # words next to a match that decide its place


class Place(NamedTuple):
    """Matches in one segment: tokens [begin, end) of it, in the order of the text."""

    segment: Segment
    begins: Longs
    ends: Longs

    @property
    def documents(self) -> Longs:
        """The document of each, counted over all segments."""
        return self.segment.first + self.segment.document_of(self.begins)

    def only(self, chosen: Any) -> "Place":
        return Place(self.segment, self.begins[chosen], self.ends[chosen])


@dataclass(frozen=True)
class Lines(Table):
    """Lines of a concordance: the document, the words before, the match, the words after.

    Then what was measured of each line, and the values of the document's columns.
    """

    document: Longs
    before: list[str]
    match: list[str]
    after: list[str]
    measures: Mapping[str, npt.NDArray[np.float64]]
    values: Mapping[str, list[Any]]

    def columns(self) -> Columns:
        own: Columns = {"document": self.document, "before": self.before, "match": self.match, "after": self.after}
        return {**own, **self.measures, **self.values}

    def _shown(self, most: int | None) -> Columns:
        """Numbers of documents, and values, as they are written in the data: a year has no comma."""
        written = {name: ["" if v is None else str(v) for v in values] for name, values in self.values.items()}
        return {**self.columns(), "document": list(map(str, self.document.tolist())), **written}

    def __len__(self) -> int:
        return len(self.document)

    def taken(self, rows: Longs) -> "Lines":
        """Some of the lines, in this order; without what was measured."""
        sides = {name: [getattr(self, name)[row] for row in rows.tolist()] for name in ("before", "match", "after")}
        values = {name: [column[row] for row in rows.tolist()] for name, column in self.values.items()}
        return Lines(self.document[rows], **sides, measures={}, values=values)


class Source(NamedTuple):
    """What lines are written from: the words that ids stand for, and the values of documents' columns."""

    words: Sequence[str]
    values: Callable[[Longs], Mapping[str, list[Any]]]

    def word(self, segment: Segment, number: int) -> str:
        known = len(self.words)
        return self.words[number] if number < known else segment.extra[number - known]

    def text(self, segment: Segment, ids: Ints) -> str:
        return " ".join(self.word(segment, number) for number in ids.tolist() if number >= 0)


@dataclass(frozen=True, eq=False)
class Uses:
    """All uses of a target, in an order: `len` of them, and the lines of any stretch."""

    places: list[Place]
    source: Source
    order: Longs | None = None  # their numbers; None is the order of the text

    def __len__(self) -> int:
        return sum(len(place.begins) for place in self.places)

    def lines(self, skip: int = 0, limit: int | None = 20, *, around: int = AROUND) -> Lines:
        """At most `limit` lines after the first `skip`; `around`: words on each side."""
        stop = len(self) if limit is None else min(len(self), skip + limit)
        numbers = np.arange(skip, stop) if self.order is None else self.order[skip:stop]
        return self.at(numbers, around=around)

    def at(self, numbers: Longs, measures: Mapping[str, Any] | None = None, *, around: int = AROUND) -> Lines:
        """The lines of some uses, by their numbers in the order of the text, with what was measured of each."""
        bounds = np.cumsum([0, *(len(place.begins) for place in self.places)])
        which = np.searchsorted(bounds, numbers, side="right") - 1
        parts = [
            self._lines(self.places[part].only(numbers[which == part] - bounds[part]), around)
            for part in np.unique(which).tolist()
        ] or [self._lines(self.places[0].only(slice(0)), around)]
        back = np.argsort(np.argsort(which, kind="stable"), kind="stable")
        return replace(_joined(parts).taken(back), measures=measures or {})

    def _lines(self, place: Place, around: int) -> Lines:
        segment = place.segment
        before, after = segment.window(place.begins, place.ends, around, around)
        spans = [segment.ids[low:high] for low, high in zip(place.begins, place.ends, strict=True)]
        sides = {
            name: [self.source.text(segment, row) for row in rows]
            for name, rows in (("before", before), ("match", spans), ("after", after))
        }
        return Lines(place.documents, **sides, measures={}, values=self.source.values(place.documents))


def order_by_words(places: list[Place], source: Source, side: str, descending: bool) -> Longs:
    """The order of uses by the words next to them on one side, the nearest first, as in a dictionary."""
    columns, names = [], []
    for place in places:
        before, after = place.segment.window(place.begins, place.ends, SORTED_BY, SORTED_BY)
        ids, inverse = np.unique(before[:, ::-1] if side == "before" else after, return_inverse=True)
        names.append(["" if number < 0 else source.word(place.segment, number) for number in ids.tolist()])
        columns.append(inverse.reshape(-1, SORTED_BY))
    ranks = {name: rank for rank, name in enumerate(sorted({name for some in names for name in some}))}
    keys = [np.array([ranks[name] for name in some])[inverse] for some, inverse in zip(names, columns, strict=True)]
    ranked = np.concatenate(keys)
    return np.lexsort((-ranked if descending else ranked).T[::-1])


def _joined(parts: list[Lines]) -> Lines:
    """Several lists of lines as one."""
    values = {name: [value for part in parts for value in part.values[name]] for name in parts[0].values}
    sides = {name: [text for part in parts for text in getattr(part, name)] for name in ("before", "match", "after")}
    return Lines(np.concatenate([part.document for part in parts]), **sides, measures={}, values=values)
