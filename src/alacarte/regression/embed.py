"""Contexts into embeddings, one row a context (`dem`), and their means by group (`dem_group`)."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from alacarte._io import html
from alacarte.contexts.reading import Averaging
from alacarte.errors import AlacarteError, AlacarteWarning, BadVectors, NotEnoughData
from alacarte.regression._frames import Column, Variables, as_column, column_of, make_frame, missing
from alacarte.regression._space import EmbeddingSpace
from alacarte.regression.compat import Choices, Compat, choices, collation_key
from alacarte.regression.context_table import SHOWN, ContextTable, from_tokens, ranges

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Case = Literal["fold", "lower", "exact"]
Groups = str | Sequence[Any] | npt.NDArray[Any]
BLOCK = 1 << 16  # contexts averaged at a time


@dataclass(frozen=True, eq=False)
class TwoWays:
    """Clusters of two kinds that cut across each other: `cluster=TwoWays("speaker", "year")`.

    Each is a column or one value a context. Columns may also be written as `cluster="speaker + year"`.
    """

    first: Groups
    second: Groups


Clusters = Groups | TwoWays


@dataclass(frozen=True, eq=False)
class Embeddings:
    """A vector for each context, document, feature or group, in the space of the word vectors.

    `rows` says which context each row is (those without a known word are left out, and counted in `dropped`),
    `counts` how many contexts a group mean comes from, `features` which words took part.
    """

    matrix: Doubles
    names: list[Any]
    space: EmbeddingSpace
    variables: Variables
    features: list[str]
    rows: Longs
    dropped: int = 0
    counts: Longs | None = None
    contexts: ContextTable | None = None

    def __post_init__(self) -> None:
        finite = np.asarray(np.isfinite(self.matrix).all(axis=1))
        if not finite.all():
            raise BadVectors(
                f"{int((~finite).sum()):,} of {len(finite):,} embeddings have values that are not finite (NaN?), the "
                f"first of them {self.names[int(np.flatnonzero(~finite)[0])]!r}; correct or drop these rows"
            )

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        left_out = f", {self.dropped:,} without a known word left out" if self.dropped else ""
        return f"Embeddings({len(self):,} × {self.matrix.shape[1]}{left_out})"

    def _repr_html_(self) -> str:
        counts = [""] * len(self) if self.counts is None else self.counts.tolist()
        rows = list(zip(self.names, counts, strict=True))[:10]
        return html.card(repr(self), {}, html.table(["name", "contexts"], rows, [False, True]))

    def _ipython_key_completions_(self) -> list[str]:
        return [str(name) for name in self.names[:1000]]

    def __getitem__(self, name: Any) -> Doubles:
        """The vector of a name, such as a group."""
        if name not in self.names:
            raise AlacarteError(f"no row is called {name!r}; there are {', '.join(map(repr, self.names[:10]))}")
        row: Doubles = self.matrix[self.names.index(name)]
        return row

    def select(self, rows: npt.ArrayLike) -> "Embeddings":
        """Some of the rows, by number or by mask."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return replace(
            self,
            matrix=self.matrix[chosen],
            names=[self.names[row] for row in chosen.tolist()],
            variables=self.variables.take(chosen),
            rows=self.rows[chosen],
            counts=None if self.counts is None else self.counts[chosen],
        )

    def texts(self) -> list[str]:
        """The text of each row's context."""
        if self.contexts is None:
            return [str(name) for name in self.names]
        return self.contexts.select(self.rows).texts()

    def to_frame(self) -> Any:
        """Names, variables and one column for each dimension."""
        columns: dict[str, Column] = {"name": column_of(self.names)}
        columns |= {name: column for name, column in self.variables.columns.items() if name != "name"}
        if self.counts is not None:
            columns["n"] = self.counts
        columns |= {f"d{place}": self.matrix[:, place] for place in range(self.matrix.shape[1])}
        return make_frame(columns, self.variables.backend)


def dem(
    contexts: ContextTable | Sequence[Sequence[str]],
    vectors: Any,
    transform: Any = None,
    *,
    averaging: Averaging | None = None,
    case: Case | None = None,
    compat: Compat = None,
) -> Embeddings:
    """One à la carte embedding for each context: A times the mean of its words' vectors.

    Words without a vector count neither above nor below the line; contexts without any known word are left out
    and counted. `vectors` are of any kind, or an `ALaCarte` model; `transform` is a `Transform`, a matrix (applied
    as A u), or None. Contexts are read as the model or `Transform` says (window, averaging, weights of words and of
    distances, words without a vector), so that a row is what `ALaCarte.embed` gives for that context; a matrix, or no
    transform, is for means over 10 words on each side. Contexts that were cut with another window than the transform's
    are embedded with their own, and a warning says so. `case` says how tokens are looked up: "fold" (as written, else
    lower-cased), "lower" or "exact".

    >>> vectors = (["a", "b"], np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> dem([["a", "b", "b", "x"], ["x"]], vectors, np.eye(2) * 3).matrix.tolist()
    [[1.0, 2.0]]
    """
    space = EmbeddingSpace.of(vectors, transform, averaging)
    given = contexts if isinstance(contexts, ContextTable) else from_tokens(contexts)
    given = replace(given, window=_window(given, space, choices(compat)))
    rows_of_type = space.rows_of(given.vocabulary, case or choices(compat).case)
    owners, rows, weight = words_in_windows(given, rows_of_type, space)
    if not len(rows):
        raise NotEnoughData(
            f"none of the words in {len(given):,} contexts has a vector; check that text and vectors share language "
            "and case"
        )
    used, first, column = np.unique(rows, return_index=True, return_inverse=True)
    totals = np.bincount(owners, weights=weight, minlength=len(given))
    kept = np.flatnonzero(totals > 0)
    counts = sparse.csr_matrix((weight, (owners, column)), shape=(len(given), len(used)))[kept]
    vectors_used = space.matrix[used].astype(np.float64)
    if space.transform is not None:  # A Σv = Σ Av, and there are fewer words than contexts most of the time
        vectors_used = vectors_used @ space.transform.T
    matrix = counts @ vectors_used
    if space.averaging != "occurrence":
        matrix /= totals[kept, None]
    if space.intercept is not None:
        matrix += space.intercept
    return Embeddings(
        np.asarray(matrix),
        [f"text{row + 1}" for row in kept.tolist()],
        space,
        given.row_variables().take(kept),
        [space.words[row] for row in used[np.argsort(first)].tolist()],
        kept,
        dropped=len(given) - len(kept),
        contexts=given,
    )


def _window(table: ContextTable, space: EmbeddingSpace, rules: Choices) -> tuple[int, int]:
    """The window of the contexts, or that of the transform if they have none of their own."""
    if table.window is None:
        return space.window or rules.window or SHOWN
    if not table.whole and space.window is not None and space.window != table.window:
        warnings.warn(
            f"the contexts have {_shown(table.window)} and the transform was learned with {_shown(space.window)}; "
            "leave `window` out for the transform's own",
            AlacarteWarning,
            stacklevel=3,
        )
    return table.window


def _shown(window: tuple[int, int]) -> str:
    """
    >>> _shown((6, 6)), _shown((5, 0))
    ('6 words on each side', '5 words before and 0 after')
    """
    left, right = window
    return f"{left} words on each side" if left == right else f"{left} words before and {right} after"


def words_in_windows(table: ContextTable, rows_of_type: Longs, space: EmbeddingSpace) -> tuple[Longs, Longs, Doubles]:
    """(context, row of the vectors, weight) of every word that counts, in the order of the text.

    `rows_of_type` has the row of each word of the table's vocabulary, -1 without a vector. The weight is that of the
    word times that of its distance; matched words that are kept have no distance, nor have words of whole documents.
    """
    ids, starts, ends = table.ids, table.starts, table.ends
    first, last = table.offsets[table.documents], table.offsets[table.documents + 1]
    if space.drops_unknown:  # positions are counted in known words only
        known = np.flatnonzero(rows_of_type[ids] >= 0)
        ids = ids[known]
        first, starts, ends, last = (np.searchsorted(known, at) for at in (first, starts, ends, last))
    left, right = table.sides
    low, high = np.maximum(first, starts - left), np.minimum(last, ends + right)
    middle = ends if table.keep_match or table.whole else starts
    part, positions = ranges(np.stack([low, starts, ends], axis=1).ravel(), np.stack([starts, middle, high], 1).ravel())
    rows = rows_of_type[ids[positions]]
    counts = rows >= 0
    part, positions, rows = part[counts], positions[counts], rows[counts]
    owners, side = np.divmod(part, 3)
    weight = np.ones(len(rows)) if space.weights is None else space.weights[rows]
    if not table.whole:
        before, after = space.position_weights(table.sides)
        is_before, is_after = side == 0, side == 2
        weight[is_before] *= before[(starts[owners] - positions)[is_before] - 1]
        weight[is_after] *= after[(positions - ends[owners])[is_after]]
    return owners, rows, weight


def dem_group(
    embeddings: Embeddings,
    groups: Groups,
    *,
    cluster: Clusters | None = None,
    equal_clusters: bool = False,
    weights: str | npt.ArrayLike | None = None,
    compat: Compat = None,
) -> Embeddings:
    """The mean of the rows of each group, every context counting once; or every cluster, if `equal_clusters`.

    `weights` (a column, or one number a row) lets contexts count as much as they say.

    `groups` names a variable, or several as a list, or gives one value a row. Groups come in the order of their
    levels where there is one, else sorted; rows whose group is missing are left out and counted in `dropped`.
    `cluster` alone changes no mean.

    >>> found = dem([["a"], ["b"], ["b"]], (["a", "b"], np.eye(2)))
    >>> means = dem_group(found, ["D", "R", "D"])
    >>> means.names, means.matrix.tolist(), means.counts.tolist()
    (['D', 'R'], [[0.5, 0.5], [0.0, 1.0]], [2, 1])
    """
    labels, codes = group_codes(embeddings, groups, compat)
    present = codes >= 0
    counts = np.bincount(codes[present], minlength=len(labels))
    given = row_weights(embeddings, cluster_codes(embeddings, cluster), equal_clusters, weights, present)
    weight = np.ones(len(embeddings)) if given is None else given
    adding = sparse.csr_matrix((weight[present], (codes[present], np.flatnonzero(present))), (len(labels), len(codes)))
    return replace(
        embeddings,
        matrix=np.asarray(adding @ embeddings.matrix / np.asarray(adding.sum(axis=1))),
        names=labels,
        variables=Variables(backend=embeddings.variables.backend),
        rows=np.arange(len(labels)),
        dropped=int((~present).sum()),
        counts=counts,
        contexts=None,
    )


def cluster_codes(embeddings: Embeddings, cluster: Clusters | None) -> "Longs | list[Longs] | None":
    """The number of each context's cluster, -1 where it is missing; two arrays for clusters of two kinds."""
    if cluster is None:
        return None
    if isinstance(cluster, str) and "+" in cluster and cluster not in embeddings.variables.columns:
        parts = [part.strip() for part in cluster.split("+")]
        if len(parts) != 2:
            raise AlacarteError(f"clusters are of one kind or of two, not of {len(parts)} ({cluster!r}); name two")
        cluster = TwoWays(*parts)
    if isinstance(cluster, TwoWays):
        return [group_codes(embeddings, way)[1] for way in (cluster.first, cluster.second)]
    return group_codes(embeddings, cluster)[1]


def row_weights(
    embeddings: Embeddings,
    clusters: "Longs | list[Longs] | None",
    equal_clusters: bool,
    weights: str | npt.ArrayLike | None,
    used: npt.NDArray[np.bool_] | None = None,
) -> Doubles | None:
    """What each context counts; None if all count the same. Contexts that are not used count nothing."""
    given = None if weights is None else _checked_weights(embeddings, weights)
    if not equal_clusters:
        return given
    if clusters is None:
        raise AlacarteError("equal_clusters needs to know the clusters; pass cluster=… too")
    if isinstance(clusters, list):
        raise AlacarteError("equal_clusters needs clusters of one kind, not of two; leave out one of the two")
    taken = np.ones(len(embeddings), dtype=bool) if used is None else used
    factors = cluster_weights(clusters, taken, given)
    return factors if given is None else given * factors


def _checked_weights(embeddings: Embeddings, weights: str | npt.ArrayLike) -> Doubles:
    column = embeddings.variables.column(weights, "the weights") if isinstance(weights, str) else as_column(weights)
    if column.dtype.kind not in "iuf":
        raise AlacarteError(f"weights are numbers, and {weights!r} holds {column.dtype.kind!r} values")
    if len(column) != len(embeddings):
        raise AlacarteError(f"{len(column)} weights for {len(embeddings)} rows; give one for each row")
    values = np.asarray(column, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise AlacarteError("weights are finite, not negative, and not all 0")
    return values


def cluster_weights(clusters: Longs, used: npt.NDArray[np.bool_], weights: Doubles | None = None) -> Doubles:
    """Factors of the contexts' weights with which every cluster weighs one; unused contexts weigh nothing.

    >>> cluster_weights(np.array([0, 0, 1]), np.array([True, True, True])).tolist()
    [0.5, 0.5, 1.0]
    """
    taken = used & (clusters >= 0)
    own = None if weights is None else weights[taken]
    sizes = np.bincount(clusters[taken], weights=own, minlength=int(clusters.max(initial=0)) + 1)
    return np.asarray(np.where(taken, 1 / np.where(sizes > 0, sizes, 1.0)[clusters], 0.0))


def group_codes(embeddings: Embeddings, groups: Groups, compat: Compat = None) -> tuple[list[Any], Longs]:
    """(labels in order, which label each row has; -1 where it is missing)."""
    names = [groups] if isinstance(groups, str) else groups
    many = isinstance(names, list) and all(isinstance(name, str) for name in names) and len(names) != len(embeddings)
    if isinstance(groups, str) or (many and all(name in embeddings.variables.columns for name in names)):
        parts = [
            codes_of(
                embeddings.variables.column(str(name), "the groups"), embeddings.variables.levels.get(name), compat
            )
            for name in names
        ]
        if len(parts) == 1:
            return parts[0]
        return _crossed(parts)
    values = as_column(groups)
    if len(values) != len(embeddings):
        raise AlacarteError(
            f"{len(values)} groups for {len(embeddings)} rows; name a variable, or give one value for each row"
        )
    return codes_of(values, None, compat)


def codes_of(column: Column, levels: list[Any] | None, compat: Compat = None) -> tuple[list[Any], Longs]:
    """(labels that occur, in order; the place of each value's label, -1 where it is missing)."""
    absent = missing(column)
    if column.dtype.kind in "iufb":
        labels = np.unique(column[~absent]).tolist()
    elif levels is not None:
        occurring = set(column[~absent].tolist())
        labels = [level for level in levels if level in occurring]
    else:
        occurring = set(column[~absent].tolist())
        try:
            labels = sorted(occurring, key=collation_key if choices(compat).collated else None)
        except (TypeError, AttributeError):
            labels = sorted(occurring, key=str)
    if not labels:
        raise NotEnoughData("every value of the grouping variable is missing; choose another one")
    place = {label: number for number, label in enumerate(labels)}
    codes = [-1 if gone else place[value] for value, gone in zip(column.tolist(), absent.tolist(), strict=True)]
    return labels, np.array(codes, dtype=np.int64)


def _crossed(parts: list[tuple[list[Any], Longs]]) -> tuple[list[Any], Longs]:
    joint = np.zeros(len(parts[0][1]), dtype=np.int64)
    absent = np.zeros(len(joint), dtype=bool)
    for labels, codes in parts:
        joint = joint * len(labels) + codes
        absent |= codes < 0
    joint[absent] = -1
    used = np.unique(joint[~absent])
    names = []
    for code in used.tolist():
        name: list[str] = []
        for labels, _ in reversed(parts):
            code, place = divmod(code, len(labels))
            name.append(str(labels[place]))
        names.append(", ".join(reversed(name)))
    codes = np.where(absent, -1, np.searchsorted(used, joint))
    return names, codes


def dem_sample(
    embeddings: Embeddings,
    size: float,
    *,
    by: Groups | None = None,
    replace: bool = False,
    weight: npt.ArrayLike | None = None,
    seed: int | None = 0,
) -> Embeddings:
    """A random share `size` of the rows, of each group if `by` is given; round(size · n) rows, in random order.

    >>> found = dem([["a"]] * 10, (["a"], np.eye(1)))
    >>> len(dem_sample(found, 0.3, seed=0))
    3
    """
    if size <= 0 or (size > 1 and not replace):
        raise AlacarteError(f"size is the share to draw, above 0 and, without replacement, at most 1, not {size}")
    rng = np.random.default_rng(seed)
    pools: Iterable[Longs] = [np.arange(len(embeddings))]
    if by is not None:
        if weight is not None:
            raise AlacarteError("weights go with a sample of all rows; leave out either `by` or `weight`")
        labels, codes = group_codes(embeddings, by)
        pools = [np.flatnonzero(codes == code) for code in range(len(labels))]
    chance = None if weight is None else _checked_weights(embeddings, weight)
    if chance is not None and not replace and round(size * len(chance)) > np.count_nonzero(chance):
        raise AlacarteError(
            f"{np.count_nonzero(chance)} rows have a weight above 0, too few for a share of {size} without replacement"
        )
    share = None if chance is None else chance / chance.sum()
    drawn = [rng.choice(pool, size=round(size * len(pool)), replace=replace, p=share) for pool in pools]
    rows = np.concatenate(drawn)
    if not len(rows):
        raise NotEnoughData(f"a share of {size} of {len(embeddings)} rows is less than one row; raise it")
    return embeddings.select(rows)
