"""The uses of a target in a concordance, as lines of text in any order, some of them at a time."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from alacarte._io.arrays import Doubles, Longs
from alacarte._io.checks import whole_number
from alacarte._io.table import Columns, Table, beside
from alacarte.concordance._segment import StoredSegment
from alacarte.text.tokenizers import character_classes, fold

AROUND = 10  # words shown on each side of a match
LOOKED_AT = 10  # words on each side by which a match is found again in its document, at least
TEXTS = ("before", "match", "after")
SORTED_BY = 3  # words next to a match that decide its place
CONTEXT_ORDERS = {  # the side, and the first of the words there that counts
    side if word == 1 else f"{side} {word}": (side, word)
    for side in ("before", "after")
    for word in range(1, SORTED_BY + 1)
}


class Place(NamedTuple):
    """Matches in one segment: tokens [begin, end) of it, in the order of the text."""

    segment: StoredSegment
    begins: Longs
    ends: Longs

    @property
    def documents(self) -> Longs:
        """The document of each, counted over all segments."""
        return self.segment.first + self.segment.document_of(self.begins)

    def only(self, chosen: Any) -> "Place":
        """Return some of the places."""
        return Place(self.segment, self.begins[chosen], self.ends[chosen])

    @classmethod
    def joined(cls, places: Sequence["Place"]) -> "Place":
        """Return the matches of several targets in one segment, in the order of the text."""
        begins, ends = (np.concatenate(each) for each in list(zip(*places, strict=True))[1:])
        return cls(places[0].segment, begins, ends).only(np.lexsort((ends, begins)))


@dataclass(frozen=True)
class Lines(Table):
    """Lines of a concordance, as a table.

    `columns()` and all that is made from it (frames, CSV, print) have the columns of the documents behind those of the
    line; one that has the name of one of the line's gets "columns." before it. `to_dict()` keeps them
    apart, under "columns".

    Parameters
    ----------
    document : array of int
        The number of each line's document.
    before, match, after : list of str
        The text before the match, the match, and the text after it, as it was written.
    measures : mapping of str to array of float
        What was measured of each line, as `share` and `change` by `Concordance.influence`.
    values : mapping of str to list
        The columns of the documents.
    """

    document: Longs
    before: list[str]
    match: list[str]
    after: list[str]
    measures: Mapping[str, Doubles]
    values: Mapping[str, list[Any]]

    def _own(self) -> Columns:
        return {"document": self.document, **{name: getattr(self, name) for name in TEXTS}, **self.measures}

    def columns(self) -> Columns:
        """Return the columns of the table by name."""
        return beside(self._own(), self.values)

    def to_dict(self) -> Any:
        """Return the lines as dictionaries, each with the columns of its document as a dictionary under "columns"."""
        own, rows = len(self._own()), [list(row.items()) for row in super().to_dict()]
        return [
            {**dict(row[:own]), "columns": dict(zip(self.values, (value for _, value in row[own:]), strict=True))}
            for row in rows
        ]

    def _printed_columns(self, most: int | None) -> Columns:
        """Return the columns with numbers as the data have them: a year has no comma."""
        written = {name: ["" if v is None else str(v) for v in values] for name, values in self.values.items()}
        shown = replace(self, values=written)
        return {**shown.columns(), "document": list(map(str, self.document.tolist()))}

    def __len__(self) -> int:
        """Return how many lines there are."""
        return len(self.document)


class LineSource(NamedTuple):
    """What lines are written from: the words of ids, and the values of documents' columns."""

    words: Sequence[str]
    values: Callable[[Longs], Mapping[str, list[Any]]]


@dataclass(frozen=True, eq=False)
class Uses:
    """All uses of a target, sorted or in the order of the text; `Concordance.uses` finds them.

    `len` is how many there are; `lines` writes any stretch of them.

    Parameters
    ----------
    places : list of Place
        Where the target occurs, segment by segment.
    source : LineSource
        What knows the words and the columns of the documents.
    order : array of int, optional
        The numbers of the uses as they are sorted; None for the order of the text.
    """

    places: list[Place]
    source: LineSource
    order: Longs | None = None

    def __len__(self) -> int:
        """Return how many uses there are."""
        return sum(len(place.begins) for place in self.places)

    def lines(self, skip: int = 0, limit: int | None = 20, *, around: int = AROUND) -> Lines:
        """Return the lines of a stretch of the uses.

        Parameters
        ----------
        skip : int, default 0
            How many uses to leave out first.
        limit : int, optional
            The most lines; None for all.
        around : int, default 10
            How many words to show on each side.

        Returns
        -------
        Lines
        """
        order = np.arange(len(self)) if self.order is None else self.order
        return self.at(order[stretch(skip, limit)], around=around)

    def at(self, numbers: Longs, measures: Mapping[str, Doubles] | None = None, *, around: int = AROUND) -> Lines:
        """Return the lines of some uses.

        Parameters
        ----------
        numbers : array of int
            Which uses, by their numbers in the order of the text.
        measures : mapping of str to array of float, optional
            What was measured of each of them, as columns of the lines.
        around : int, default 10
            How many words to show on each side.

        Returns
        -------
        Lines
        """
        around = whole_number(around, "around")
        bounds = np.cumsum([0, *(len(place.begins) for place in self.places)])
        which = np.searchsorted(bounds, numbers, side="right") - 1
        documents = np.zeros(len(numbers), dtype=np.int64)
        texts = {name: [""] * len(numbers) for name in TEXTS}
        for part in np.unique(which).tolist():
            rows = np.flatnonzero(which == part)
            place = self.places[part].only(numbers[rows] - bounds[part])
            documents[rows] = place.documents
            for row, line in zip(rows.tolist(), self._written(place, around), strict=True):
                for name, text in zip(TEXTS, line, strict=True):
                    texts[name][row] = text
        return Lines(documents, **texts, measures=measures or {}, values=self.source.values(documents))

    def _written(self, place: Place, around: int) -> Iterator[tuple[str, ...]]:
        """Yield the text before, of and after each match of a segment, as it is in the document."""
        segment, far = place.segment, max(around, LOOKED_AT)
        numbers = segment.document_of(place.begins)
        texts = dict(zip(numbers.tolist(), segment.texts(numbers), strict=True))
        originals = {number: Original(text) for number, text in texts.items() if isinstance(text, str)}
        windows = segment.window(place.begins, place.ends, far, far)
        for number, begin, end, *sides in zip(numbers.tolist(), place.begins, place.ends, *windows, strict=True):
            before, match, after = (
                segment.words_of(ids[ids >= 0], self.source.words)
                for ids in (sides[0], segment.ids[begin:end], sides[1])
            )
            shown = before[len(before) - min(around, len(before)) :], match, after[:around]
            found = originals[number].written(before, shown, after) if number in originals else None
            yield found or (" ".join(shown[0]), " ".join(shown[1]), " ".join(shown[2]))


@cache
def _spaces() -> re.Pattern[str]:
    """Return the pattern of characters that the tokenizers take for spaces, beside those that Python does."""
    return re.compile(f"[{re.escape(character_classes()['space'])}]")


class Original:
    """A document as it was written, in which its tokens are found again: they are all of it but for white space."""

    def __init__(self, text: str) -> None:
        self._text = text if text.isascii() else _spaces().sub(" ", unicodedata.normalize("NFC", text))
        folded = fold(self._text)
        if len(folded) != len(self._text):  # some characters are left out
            self._text = fold(self._text, lower=False)
        characters = np.frombuffer(self._text.encode("utf-32-le", "surrogatepass"), dtype="<U1")
        self._places = np.flatnonzero(~np.char.isspace(characters))
        self._letters = "".join(folded.split())

    def written(self, before: list[str], shown: tuple[list[str], ...], after: list[str]) -> tuple[str, ...] | None:
        """Return the text of three stretches of tokens that follow one another; None if they cannot be found.

        `before` and `after` are the tokens on either side by which the place is found, of which some are shown.
        """
        whole = "".join([*before, *shown[1], *after]).lower()
        place = self._letters.find(whole) if len(self._letters) == len(self._places) else -1
        if place < 0:
            return None
        sizes = [len("".join(tokens)) for tokens in (before[: len(before) - len(shown[0])], *shown)]
        bounds = place + np.cumsum(sizes)
        return tuple(self._between(low, high) for low, high in pairwise(bounds.tolist()))

    def _between(self, low: int, high: int) -> str:
        """Return the text from one letter up to another, with single spaces."""
        if low == high:
            return ""
        return " ".join(self._text[self._places[low] : self._places[high - 1] + 1].split())


def stretch(skip: int, limit: int | None) -> slice:
    """Return at most `limit` lines (None: all) after the first `skip`."""
    skip = whole_number(skip, "skip")
    return slice(skip, None if limit is None else skip + whole_number(limit, "limit"))


def order_by_words(places: list[Place], source: LineSource, order: str, descending: bool) -> Longs:
    """Return the order of uses by the words next to them on one side, from the nearest on, as in a dictionary.

    With "before 2" or "after 3" the words from the second or third on come first, and then those that are nearer.
    """
    side, first = CONTEXT_ORDERS[order]
    columns, names = [], []
    for place in places:
        before, after = place.segment.window(place.begins, place.ends, SORTED_BY, SORTED_BY)
        ids, inverse = np.unique(before[:, ::-1] if side == "before" else after, return_inverse=True)
        there = place.segment.words_of(ids[ids >= 0], source.words)
        names.append([*[""] * (len(ids) - len(there)), *there])
        columns.append(np.roll(inverse.reshape(-1, SORTED_BY), 1 - first, axis=1))
    ranks = {name: rank for rank, name in enumerate(sorted({name for some in names for name in some}))}
    keys = [np.array([ranks[name] for name in some])[inverse] for some, inverse in zip(names, columns, strict=True)]
    ranked = np.concatenate(keys)
    return np.lexsort((-ranked if descending else ranked).T[::-1])
