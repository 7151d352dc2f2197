"""Vectors as a table with named columns: which column holds what, in frames, Parquet, Arrow and CSV files alike.

We write a column `word`, then `count` and `origin` where they are known, then the values in columns "0", "1", …. Tables
of others are read too: their values may be in columns of any name, or in one column of lists.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.frames import open_frame
from alacarte.errors import BadVectors, Hint, require
from alacarte.vectors.formats.rows import WordRows

WORD_COLUMN, COUNT_COLUMN, ORIGIN_COLUMN = "word", "count", "origin"
TEXTUAL, WHOLE, NUMERIC, LIST, OTHER = "text", "whole numbers", "numbers", "lists", "something else"  # kinds of columns

ColumnArrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Layout:
    """Which columns of a table hold the words, the values (or the one column of lists), the counts, the origins."""

    words: str
    dimensions: tuple[str, ...]
    counts: str | None = None
    origin: str | None = None
    lists: bool = False

    @property
    def names(self) -> list[str]:
        """The columns that are needed, each once."""
        return list(dict.fromkeys([self.words, *filter(None, (self.counts, self.origin)), *self.dimensions]))


def find_layout(
    kinds: Mapping[str, str],
    source: str,
    *,
    words: str | None = None,
    counts: str | None = None,
    dimensions: Iterable[str] | None = None,
) -> Layout:
    """Find which columns hold what, by their names and kinds; those that the caller names are used as named.

    A column `count` holds counts, and is no dimension, if the dimensions are called "0", "1", … as we call them, or if
    it is the only column of whole numbers. `source` is named in errors.

    >>> layout = find_layout({"word": TEXTUAL, "count": WHOLE, "0": NUMERIC, "1": NUMERIC}, "a.csv")
    >>> layout.words, layout.counts, layout.dimensions
    ('word', 'count', ('0', '1'))
    """
    chosen = None if dimensions is None else list(dimensions)
    for name in (words, counts, *(chosen or [])):
        if name is not None and name not in kinds:
            raise BadVectors(f"{source}: there is no column {name!r}; there are {_some(kinds)}")
    words = words if words is not None else _find_words(kinds, source)
    origin = ORIGIN_COLUMN if kinds.get(ORIGIN_COLUMN) == TEXTUAL and words != ORIGIN_COLUMN else None
    layout = Layout(words, (), counts, origin)
    rest = [name for name in kinds if name not in (words, counts, origin)]
    lists = [name for name in rest if kinds[name] == LIST]
    if chosen is None and len(lists) == 1:
        chosen = lists
    if counts is None and COUNT_COLUMN in rest and COUNT_COLUMN not in (chosen or []):
        others = [name for name in rest if name != COUNT_COLUMN]
        alone = kinds[COUNT_COLUMN] == WHOLE and all(kinds[name] != WHOLE for name in others)
        if alone or (kinds[COUNT_COLUMN] in (WHOLE, NUMERIC) and _in_order(others)):
            rest, layout = others, replace(layout, counts=COUNT_COLUMN)
    numbered = _in_order(rest)
    names = chosen or numbered or rest
    if len(names) == 1 and kinds[names[0]] == LIST:
        return replace(layout, dimensions=tuple(names), lists=True)
    for name in names:
        if kinds[name] not in (NUMERIC, WHOLE):
            raise BadVectors(f"{source}: the column {name!r} holds {kinds[name]}, no numbers", hint=_HINT)
    if not names:
        raise BadVectors(f"{source}: no column holds numbers; there are {_some(kinds)}")
    whole = [name for name in names if kinds[name] == WHOLE]
    if chosen is None and numbered is None and 0 < len(whole) < len(names):  # an identifier, or a count of something
        raise BadVectors(f"{source}: {_some(whole)} and the other columns differ: they hold whole numbers", hint=_HINT)
    return replace(layout, dimensions=tuple(names))


_HINT = Hint('name the columns: WordVectors.from_frame(frame, words="…", dimensions=[…])', "leave the column out")


def _find_words(kinds: Mapping[str, str], source: str) -> str:
    if kinds.get(WORD_COLUMN) == TEXTUAL:
        return WORD_COLUMN
    texts = [name for name, kind in kinds.items() if kind == TEXTUAL and name != ORIGIN_COLUMN]
    if len(texts) != 1:
        reason = f"{_some(texts)} hold text" if texts else f"none of {_some(kinds)} holds text"
        raise BadVectors(
            f"{source}: it is not clear which column has the words: {reason}; call it {WORD_COLUMN!r}", hint=_HINT
        )
    return texts[0]


def _in_order(names: Sequence[str]) -> list[str] | None:
    """Return the names "0", "1", … in their order, if they are these and no others."""
    wanted = [str(number) for number in range(len(names))]
    return wanted if wanted and set(wanted) == set(names) else None


def _some(names: Iterable[str]) -> str:
    listed = [repr(name) for name in names]
    return ", ".join(listed[:8]) + (", …" if len(listed) > 8 else "")


def column_kind(column: NDArray[Any]) -> str:
    """Return what kind of values a column has.

    >>> [column_kind(np.array(values)) for values in (["a"], [1, 2], [0.5], [[1.0, 2.0]])]
    ['text', 'whole numbers', 'numbers', 'lists']
    """
    if column.ndim == 2:
        return LIST
    if column.dtype.kind in "iu":
        return WHOLE
    if column.dtype.kind in "fb":
        return NUMERIC
    value = next((value for value in column.tolist() if value is not None), None)
    if isinstance(value, str):
        return TEXTUAL
    return LIST if isinstance(value, list | tuple | np.ndarray) else OTHER


def take_columns(columns: ColumnArrays, layout: Layout, source: str) -> WordRows:
    """Return the words, values, counts and origins of some rows, not checked."""
    matrix = _matrix(columns, layout, source)
    counts = None if layout.counts is None else _counts(columns[layout.counts], source)
    origin = None if layout.origin is None else tuple(name or "" for name in columns[layout.origin].tolist())
    return WordRows(columns[layout.words].tolist(), matrix, counts=counts, origin=origin)


def _matrix(columns: ColumnArrays, layout: Layout, source: str) -> NDArray[Any]:
    if not layout.lists:
        return np.column_stack([columns[name] for name in layout.dimensions])
    (name,) = layout.dimensions
    column = columns[name]
    if column.ndim == 2:
        return column
    lengths = {len(row) if isinstance(row, list | tuple | np.ndarray) else -1 for row in column.tolist()}
    if len(lengths) != 1 or min(lengths) < 1:
        raise BadVectors(f"{source}: the lists in the column {name!r} differ in length; give each word as many values")
    return np.array(column.tolist())


def _counts(column: NDArray[Any], source: str) -> NDArray[Any]:
    if column.dtype.kind == "f" and np.isfinite(column).all() and (column == np.floor(column)).all():
        return column.astype(np.int64)
    if column.dtype.kind not in "iu":
        raise BadVectors(f"{source}: the counts are no whole numbers; leave the column out, or correct it")
    return column


def rows_of_frame(
    frame: Any, words: str | None = None, counts: str | None = None, dimensions: Iterable[str] | None = None
) -> WordRows:
    """Return words, values, counts and origins of a frame of pandas, polars or Arrow, not checked."""
    advice = "pass (words, matrix)"
    opened = open_frame(frame, BadVectors, "reading vectors from a data frame", advice, eager=True)
    # By place: pandas may have numbers for names, which narwhals would take for rows.
    columns = {
        str(column.name): np.asarray(column.to_numpy())
        for column in (opened[:, place] for place in range(len(opened.columns)))
    }
    index = require("narwhals", extra="frames", purpose="frames").maybe_get_index(opened)
    kinds = {name: column_kind(column) for name, column in columns.items()}
    if words is None and index is not None and kinds.get(WORD_COLUMN) != TEXTUAL:
        labels = np.asarray(index)
        # Labels that are numbers are refused where the words are checked.
        if column_kind(labels) == TEXTUAL or TEXTUAL not in kinds.values():
            columns, kinds, words = {_LABELS: labels, **columns}, {_LABELS: TEXTUAL, **kinds}, _LABELS
    layout = find_layout(kinds, "the frame", words=words, counts=counts, dimensions=dimensions)
    return take_columns(columns, layout, "the frame")


_LABELS = "\0index"  # no column is called this


def written_columns(rows: WordRows, low: int = 0, high: int | None = None) -> dict[str, Any]:
    """Return the columns that words and vectors are written as, from one row to another."""
    columns: dict[str, Any] = {WORD_COLUMN: list(rows.words[low:high])}
    if rows.counts is not None:
        columns[COUNT_COLUMN] = np.asarray(rows.counts[low:high], np.int64)
    if rows.origin is not None:
        columns[ORIGIN_COLUMN] = list(rows.origin[low:high])
    values = np.asarray(rows.matrix[low:high], np.float32)
    return columns | {str(number): column for number, column in enumerate(values.T)}
