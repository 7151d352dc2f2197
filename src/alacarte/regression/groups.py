"""Which group each row is in: by a variable, by every combination of several, or as given."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Longs
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.regression.frames import as_column, missing
from alacarte.regression.results import Column

if TYPE_CHECKING:
    from alacarte.regression.embed import Embeddings

Groups = str | Sequence[Any] | npt.NDArray[Any]


def group_codes(embeddings: "Embeddings", groups: Groups) -> tuple[list[Any], Longs]:
    """Return (labels in order, which label each row has; -1 where it is missing)."""
    names = [groups] if isinstance(groups, str) else groups
    many = isinstance(names, list) and all(isinstance(name, str) for name in names) and len(names) != len(embeddings)
    known = embeddings.variables.columns.keys() | embeddings.own.keys() if many else set()
    if isinstance(groups, str) or (many and all(name in known for name in names)):
        levels = embeddings.variables.levels
        parts = [level_codes(embeddings.column(str(name), "the groups"), levels.get(name)) for name in names]
        return parts[0] if len(parts) == 1 else _crossed(parts)
    values = as_column(groups)
    if len(values) != len(embeddings):
        raise AlacarteError(
            f"{len(values)} groups for {len(embeddings)} rows; name a variable, or give one value for each row"
        )
    return level_codes(values, None)


def level_codes(column: Column, levels: list[Any] | None, key: Any = None) -> tuple[list[Any], Longs]:
    """Return (labels that occur, in order; the place of each value's label, -1 where it is missing)."""
    absent = missing(column)
    occurring = set(column[~absent].tolist())
    if levels is not None:
        labels = [level for level in levels if level in occurring]
    else:
        try:
            labels = sorted(occurring, key=None if column.dtype.kind in "iufb" else key)
        except (TypeError, AttributeError):
            labels = sorted(occurring, key=str)
    if not labels:
        raise NotEnoughData("every value of the grouping variable is missing; choose another one")
    place = {label: number for number, label in enumerate(labels)}
    codes = [-1 if gone else place[value] for value, gone in zip(column.tolist(), absent.tolist(), strict=True)]
    return labels, np.array(codes, dtype=np.int64)


def _crossed(parts: list[tuple[list[Any], Longs]]) -> tuple[list[Any], Longs]:
    """Return the labels and codes of every combination of several variables that occurs."""
    codes = np.stack([codes for _, codes in parts], axis=1)
    absent = (codes < 0).any(axis=1)
    used, inverse = np.unique(codes[~absent], axis=0, return_inverse=True)
    names = [", ".join(str(labels[at]) for (labels, _), at in zip(parts, row, strict=True)) for row in used.tolist()]
    joint = np.full(len(codes), -1, dtype=np.int64)
    joint[~absent] = inverse.ravel()
    return names, joint


def name_of(groups: Groups | None) -> str:
    """Return what a grouping is called.

    >>> name_of("party"), name_of(["party", "gender"]), name_of([0, 1, 1])
    ('party', 'party, gender', 'the group')
    """
    if isinstance(groups, str):
        return groups
    if isinstance(groups, list) and groups and all(isinstance(name, str) for name in groups) and len(groups) < 4:
        return ", ".join(groups)
    return "the group"
