"""Which group each row is in, and what is one observation: a document with its reprints, a speaker, a level.

A group is a value of a variable, a combination of values, or as given; a cluster is what varies together: a document,
a speaker, or whatever a variable varies between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs, Mask
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.inference.levels import LEAST_LEVELS, level_of, varies_between
from alacarte.regression.frames import as_column, missing
from alacarte.regression.results import Column

if TYPE_CHECKING:
    from alacarte.regression.embed import Embeddings

Groups = str | Sequence[Any] | npt.NDArray[Any]
DOCUMENT, CONTEXT = "document", "context"  # what `cluster` may name beside the columns
UNEVEN = 0.5  # clusters differ much in size if fewer than this share of them count
ENOUGH = 50.0  # clusters that count, from which on their sizes do no harm


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


# ------------------------------------------------------------------------------------------------ clusters


@dataclass(frozen=True, eq=False)
class LowLevel:
    """The clusters of a higher level, between which a variable varies, and what is to be said of them."""

    codes: Longs
    said: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row, what clusters are called, and what is to be said of them.

    `codes` has -1 where the cluster is missing, and is None where each row is a cluster by itself. With `equal`
    clusters weigh the same, whatever their size. `low` is set if they were asked for below the level at which a
    variable varies.
    """

    codes: Longs | None
    name: str
    notes: tuple[str, ...] = ()
    equal: bool = False
    low: LowLevel | None = None

    def select(self, rows: Mask) -> "Clusters":
        """Return the clusters of some of the rows."""
        return replace(self, codes=None if self.codes is None else self.codes[rows])

    def weights(self, used: Mask) -> Doubles | None:
        """Return what each row that is used counts if clusters weigh the same; None if all rows count the same."""
        if not self.equal or self.codes is None:
            return None
        taken = used & (self.codes >= 0)
        sizes = np.bincount(self.codes[taken], minlength=int(self.codes.max(initial=0)) + 1)
        return np.asarray(np.where(taken, 1 / np.maximum(sizes, 1)[self.codes], 0.0))


def clusters_of(
    embeddings: "Embeddings",
    cluster: Groups | None,
    equal: bool | None = None,
    variables: Mapping[str, Longs] | None = None,
) -> Clusters:
    """Return the clusters of some rows for a comparison along `variables` (their names and codes, -1 for missing).

    Where no cluster is asked for, it is the column between whose values a variable varies; else the document.
    """
    tested = dict(variables or {})
    name, codes = _named(embeddings, cluster)
    level = _level(embeddings, tested)
    notes: list[str] = []
    low = None
    if cluster is None:
        if level is not None:
            variable, name, count = level
            codes = _alone_if_missing(group_codes(embeddings, name)[1], document_codes(embeddings))
            constant = len(np.unique(tested[variable])) < 2
            varies = "contexts come from" if constant else f"{variable} varies between"
            notes.append(f"{varies} {count:,} values of {name}: clustered by {name}")
    elif level is not None and name != level[1] and len(np.unique(tested[level[0]])) > 1:
        higher = group_codes(embeddings, level[1])[1]
        if codes is None or len(np.unique(codes)) > level[2]:
            variable, column, count = level
            said = f"{variable} varies between {count:,} values of {column}, hardly within them, and not by {name}"
            low = LowLevel(_alone_if_missing(higher, None), said, f"Leave cluster out, or name {column!r}")
    copies = 0
    if codes is not None or cluster is None:
        codes, copies = _with_reprints(embeddings, codes)
    if codes is not None and cluster is None and len(np.unique(codes)) == len(codes):
        codes = None  # each row is one: no more is known than without clusters
    if copies:
        notes.append(f"{copies:,} contexts are in reprints of other documents: each counts with the first print")
    if codes is not None and level is None and cluster is None:
        notes.append("clustered by document")
    elif codes is not None and cluster is not None:
        notes.append(f"clustered by {name}")
    if equal is None and codes is not None:
        equal = _unequal(codes) and all(varies_between(one, codes) for one in tested.values())
        if equal:
            sizes = np.bincount(codes[codes >= 0])
            notes.append(
                f"{_plural(name)} weigh the same ({sizes[sizes > 0].min():,} to {sizes.max():,} contexts each): means "
                f"are those of the typical {name}; equal_clusters=False gives those of the typical context"
            )
    elif equal and codes is None and cluster is None and embeddings.contexts is None:
        raise AlacarteError("equal_clusters needs to know the clusters; pass cluster=… too")
    return Clusters(codes, name, tuple(notes), bool(equal) and codes is not None, low)


def document_codes(embeddings: "Embeddings") -> Longs | None:
    """Return the number of each row's document; None if nothing is known of documents."""
    if embeddings.contexts is None:
        return None
    return embeddings.contexts.documents[embeddings.rows]


def _named(embeddings: "Embeddings", cluster: Groups | None) -> tuple[str, Longs | None]:
    """Return (what clusters are called, the number of each row's); None for the number if each row is one."""
    columns = embeddings.variables.columns
    if isinstance(cluster, str) and cluster == CONTEXT and CONTEXT not in columns:
        return CONTEXT, None
    if cluster is None or (isinstance(cluster, str) and cluster == DOCUMENT and DOCUMENT not in columns):
        return DOCUMENT, document_codes(embeddings)
    if isinstance(cluster, str):
        return cluster, group_codes(embeddings, cluster)[1]
    codes = group_codes(embeddings, cluster)[1]
    named = len(cluster) != len(embeddings) and all(isinstance(part, str) for part in cluster)
    return (", ".join(map(str, cluster)) if named else "cluster"), codes


def _level(embeddings: "Embeddings", tested: Mapping[str, Longs]) -> tuple[str, str, int] | None:
    """Return (a variable, the column between whose values it varies, how many these are), the fewest of all.

    Variables are those of documents, and so one row of each document is looked at.
    """
    rows = np.arange(len(embeddings))
    documents = document_codes(embeddings)
    if documents is not None:
        rows = np.unique(documents, return_index=True)[1]
    columns: dict[str, Longs] = {}
    for name, column in embeddings.variables.columns.items():
        if name in tested or (column.dtype.kind == "f" and (column % 1 > 0).any()):  # a measure is no name
            continue
        codes = _codes(column[rows])
        if codes is not None and LEAST_LEVELS <= len(np.unique(codes[codes >= 0])) <= len(rows) / 2:
            columns[name] = codes
    found = []
    for name, codes in tested.items():
        level = level_of(codes[rows], columns)
        if level is not None:
            found.append((level[1], name, level[0]))
    return None if not found else (min(found)[1], min(found)[2], min(found)[0])


def _codes(column: npt.NDArray[Any]) -> Longs | None:
    """Return a number for each value of a column, -1 where it is missing; None for lists and such."""
    absent = missing(column)
    if column.dtype.kind in "iuf":
        codes = np.unique(column, return_inverse=True)[1]
    else:
        numbers: dict[Any, int] = {}
        try:
            codes = np.array([numbers.setdefault(value, len(numbers)) for value in column.tolist()], dtype=np.int64)
        except TypeError:
            return None
    return np.where(absent, -1, codes)


def _alone_if_missing(codes: Longs, documents: Longs | None) -> Longs:
    """Codes in which rows without a cluster are clusters by themselves, or by document."""
    absent = codes < 0
    if not absent.any():
        return codes
    own = np.cumsum(absent) if documents is None else documents + 1
    return np.where(absent, codes.max(initial=-1) + own, codes)


def _with_reprints(embeddings: "Embeddings", codes: Longs | None) -> tuple[Longs | None, int]:
    """Return (codes in which a reprint is in the cluster of the first print, how many rows are of reprints)."""
    table = embeddings.contexts
    if table is None or table.reprints is None or codes is None:
        return codes, 0
    prints = table.reprints[table.documents[embeddings.rows]]
    documents = table.documents[embeddings.rows]
    first, inverse = np.unique(prints, return_index=True, return_inverse=True)[1:]
    copies = int((documents != documents[first][inverse]).sum())
    return (codes[first][inverse] if copies else codes), copies


def _unequal(codes: Longs) -> bool:
    """Whether clusters differ so much in size that few of them count."""
    sizes = np.bincount(codes[codes >= 0])
    sizes = sizes[sizes > 0].astype(np.float64)
    count = float(sizes.sum() ** 2 / (sizes**2).sum())
    return count < UNEVEN * len(sizes) and count < ENOUGH


def _plural(name: str) -> str:
    return f"{name}s" if name.isidentifier() else f"values of {name}"


def has_cluster(embeddings: "Embeddings", cluster: Groups | None) -> Mask:
    """Return which rows have a cluster, of those that are asked for."""
    codes = _named(embeddings, cluster)[1]
    return np.ones(len(embeddings), dtype=bool) if codes is None else codes >= 0


def codes_by_name(columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, Longs]:
    """Return the codes of variables, without those whose values are lists and such."""
    found = {name: _codes(column) for name, column in columns.items()}
    return {name: codes for name, codes in found.items() if codes is not None}
