"""What groups mean by a word: nearest words, cosines, nearest and typical contexts, change over time, poles.

Every function takes the embeddings of contexts and a grouping (`by`), or means computed by `dem_group`. With
`intervals`, a level such as 0.95, there are standard errors and intervals. Contexts of one cluster (a document, a
speaker) vary together; `cluster` is as in `dem_group`. The cosine of a mean of few noisy contexts is too small;
`estimate` is corrected for that, and is what the interval is around. Where a group has too few contexts or clusters for
that, it is NaN, and `reason` says why.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs
from alacarte._io.checks import random_seed, whole_number
from alacarte._io.table import PREFIX
from alacarte.errors import AlacarteError, AlacarteWarning, NotEnoughData
from alacarte.inference.cosines import check_level, directions_of, drift_band, estimate, selection_excess, why_undefined
from alacarte.inference.means import Units, debiased_squares
from alacarte.regression.embed import Embeddings, check_embeddings
from alacarte.regression.frames import all_numbers
from alacarte.regression.groups import Clusters, Groups, clusters_of, group_codes, name_of
from alacarte.regression.results import Column, Results, column_of, joined
from alacarte.vectors.word_vectors import WordVectors

Candidates = int | Iterable[str] | None
EVERYTHING = "all contexts"
DRIFT = ("drift_low", "drift_high")  # columns of a series: where a value lies if there is nothing but drift
LEAST_CLUSTER_DF = 3.5  # degrees of freedom of clusters below which one is warned


# ------------------------------------------------------------------------------------------- words and cosines


def candidate_vectors(
    embeddings: Embeddings, candidates: Candidates | Literal["contexts"], what: str = "candidates"
) -> WordVectors:
    """Return the vectors of the first words, of those of a list that have one, of those in the contexts, or all."""
    vectors = embeddings.vectors
    if candidates is None:
        return vectors
    if not isinstance(candidates, Iterable):
        return vectors.first(whole_number(candidates, what, 1))
    listed = [candidates] if isinstance(candidates, str) else list(candidates)
    if candidates == "contexts":
        listed = embeddings.features
    unknown = [word for word in listed if word not in vectors]
    if len(unknown) == len(listed):
        named = ", ".join(map(repr, unknown[:5]))
        raise NotEnoughData(f"none of the {what} has a vector ({named}); check spelling and case")
    if unknown:
        warnings.warn(
            f"{len(unknown)} of the {what} have no vector and are left out: {', '.join(unknown[:5])}",
            AlacarteWarning,
            stacklevel=3,
        )
    return vectors.subset(sorted(set(listed).difference(unknown), key=vectors.index))


def nearest_words(words: WordVectors, mean: Doubles, k: int | None) -> dict[str, Column]:
    """Return the columns about the words nearest to a mean; a vector of zeros is near to none."""
    pairs = words.nearest(mean, len(words) if k is None else k) if mean.any() else []
    columns = {"feature": column_of([word for word, _ in pairs]), "rank": np.arange(1, len(pairs) + 1)}
    return columns | {"value": np.array([cosine for _, cosine in pairs], dtype=np.float64)}


def largest(values: Doubles, k: int | None) -> Longs:
    """Return the places of the k largest values, the largest first; unknown values (NaN) are not among them.

    >>> largest(np.array([0.2, np.nan, 0.9, 0.5]), 2).tolist()
    [2, 3]
    """
    most = None if k is None else whole_number(k, "k", 1)
    return np.argsort(-values, kind="stable")[: int(np.isfinite(values).sum())][:most]


# -------------------------------------------------------------------------------------------------- groups


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups to describe: their labels, which of them each row has, and how many contexts each is of."""

    labels: list[Any]
    codes: Longs
    sizes: Longs
    matrix: Doubles
    clusters: Longs | None = None
    weights: Doubles | None = None
    notes: tuple[str, ...] = ()  # what was taken as one observation

    @classmethod
    def of(
        cls,
        embeddings: Embeddings,
        by: Groups | None,
        cluster: "Groups | Clusters | None" = None,
        equal_clusters: bool | None = None,
        intervals: float | None = None,
    ) -> "Grouped":
        """Return the contexts of each group, for intervals of this level if any; or means computed before."""
        check_embeddings(embeddings)
        if intervals is not None:
            check_level(intervals)
        if embeddings.counts is not None:
            if by is not None or cluster is not None or intervals is not None:
                raise AlacarteError("these are means already; pass the embeddings of the contexts, with by=…")
            return cls(embeddings.names, np.arange(len(embeddings)), embeddings.counts, embeddings.matrix)
        labels, codes = [EVERYTHING], np.zeros(len(embeddings), dtype=np.int64)
        if by is not None:
            labels, codes = group_codes(embeddings, by)
        if isinstance(cluster, Clusters):
            found = cluster
        else:
            found = clusters_of(embeddings, cluster, equal_clusters, {name_of(by): codes})
        clusters = found.codes
        if clusters is not None and (clusters < 0).any():
            raise AlacarteError(f"{int((clusters < 0).sum())} contexts have no cluster; fill in or drop these rows")
        weights = found.weights(codes >= 0)
        sizes = np.bincount(codes[codes >= 0])
        groups = cls(labels, codes, sizes, embeddings.matrix, clusters, weights, found.notes)
        if intervals is not None:
            if found.low is not None:
                warnings.warn(
                    f"{found.low.said}: intervals will be too short. {found.low.remedy}", AlacarteWarning, stacklevel=3
                )
            _warn_of_few_clusters(groups.labels, groups.units, found.name)
        return groups

    @cached_property
    def units(self) -> list[Units]:
        """The units of inference of each group."""
        return [self._units(self.codes == code) for code in range(len(self.labels))]

    @cached_property
    def means(self) -> Doubles:
        """The mean of each group."""
        return np.stack([unit.mean() for unit in self.units])

    def _units(self, rows: npt.NDArray[np.bool_]) -> Units:
        clusters = None if self.clusters is None else self.clusters[rows]
        return Units.of(self.matrix[rows], clusters, None if self.weights is None else self.weights[rows])


def _warn_of_few_clusters(labels: Sequence[Any], units: Iterable[Units], name: str) -> None:
    """Warn where a group has so few clusters that count that no method knows its noise."""
    few = [
        f"{label!r} has {len(group)} clusters ({name}), of which {group.df() + 1:.1f} count"
        for label, group in zip(labels, units, strict=True)
        if group.clustered and len(group) > 2 and group.df() < LEAST_CLUSTER_DF
    ]
    if few:
        more = f" (and {len(few) - 3} more)" if len(few) > 3 else ""
        warnings.warn(
            f"{', '.join(few[:3])}{more}: intervals and p-values from so few may be wrong in either direction; use "
            "another cluster, or read them with care",
            AlacarteWarning,
            stacklevel=4,
        )


def cosine_columns(
    groups: Sequence[Units], directions: Doubles, level: float | None, excess: Doubles | None = None
) -> dict[str, Column]:
    """Return the columns about the cosines of groups with directions, each (groups, directions)."""
    if level is None:
        return {"value": directions_of(np.stack([group.mean() for group in groups])) @ directions.T}
    found = estimate(list(groups), directions, level, excess=excess)
    unknown = np.isnan(found["value"])
    known = {name: np.where(unknown, np.nan, column) for name, column in found.items()}
    reasons = np.repeat(column_of([why_undefined(group) for group in groups])[:, None], len(directions), axis=1)
    return known | {"reason": np.where(unknown, "a vector of zeros has no direction", reasons)}


def excess_of(group: Units, words: WordVectors, k: int, rng: np.random.Generator) -> Doubles | None:
    """Return by how much the cosines of the k nearest words are too large because they are the nearest, by rank.

    None where there is more noise than signal, or nothing to tell the two apart.
    """
    square = group.debiased_square()
    if not square > 0:
        return None
    noise = group.noise()

    def search(drawn: Doubles) -> Doubles:
        found = words.nearest(drawn, k)
        return np.stack([directions_of(words[[word for word, _ in pairs]]) for pairs in found])

    def lengths(drawn: Doubles) -> Doubles:
        return debiased_squares(drawn, noise)

    return selection_excess(group.mean(), square, group.covariance(), search, lengths, rng)


# --------------------------------------------------------------------------------------------- nearest words


def nearest(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    candidates: Candidates | Literal["contexts"] = None,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    intervals: float | None = None,
    seed: int | None = 0,
) -> Results:
    """Return the words nearest to each group's mean.

    Parameters
    ----------
    embeddings : Embeddings
        Of contexts; or means that `dem_group` gives.
    by : str, list of str, or one value per row, optional
        The groups, as in `dem_group`; all contexts together if left out.
    k : int, optional
        How many words for each group; None for all.
    candidates : int, list of str or "contexts", optional
        Search among this number of first words of the vectors, these words, or those that occur in the contexts.
    cluster, equal_clusters
        As in `dem_group`.
    intervals : float, optional
        The level of intervals, such as 0.95. `estimate` and its interval are corrected for these words having been
        chosen: the largest of many noisy cosines are too large.
    seed : int, optional
        Seed of the simulation behind that correction.

    Returns
    -------
    Results
        `target` (the group), `feature` (the word), `rank`, `value` (the cosine); with intervals `estimate`,
        `std_error`, `conf_low`, `conf_high`, `reason`.

    Examples
    --------
    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"], ["b"]], (["a", "b", "c"], [[1, 0], [0, 1], [3, 4]]))
    >>> nearest(found, ["D", "R", "R"], k=2).rows()
    [('D', 'a', 1, 1.0), ('D', 'c', 2, 0.6), ('R', 'b', 1, 1.0), ('R', 'c', 2, 0.8)]
    """
    groups = Grouped.of(embeddings, by, cluster, equal_clusters, intervals)
    words = candidate_vectors(embeddings, candidates)
    rng = np.random.default_rng(random_seed(seed))
    parts: list[dict[str, Column]] = []
    for label, unit, mean in zip(groups.labels, groups.units, groups.means, strict=True):
        near = nearest_words(words, mean, k)
        part = {"target": column_of([label] * len(near["rank"]))} | near
        if intervals is not None:
            excess = None
            if len(near["rank"]) < len(words):
                excess = excess_of(unit, words, len(near["rank"]), rng)
            columns = cosine_columns([unit], directions_of(words[near["feature"]]), intervals, excess)
            part |= {name: column[0] for name, column in columns.items()} | {"value": near["value"]}
        parts.append(part)
    return Results(
        joined(parts), embeddings.variables.backend, {"kind": "nearest", "level": intervals, "notes": groups.notes}
    )


def similarity(
    embeddings: Embeddings,
    features: str | Sequence[str],
    by: Groups | None = None,
    *,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    intervals: float | None = None,
) -> Results:
    """Return the cosine of each group's mean with some words.

    Parameters
    ----------
    embeddings, by, cluster, equal_clusters, intervals
        As in `nearest`.
    features : str or list of str
        The words.

    Returns
    -------
    Results
        As `nearest` gives, without `rank`. The cosine with a vector of zeros is unknown.

    Examples
    --------
    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b", "c"], [[1, 0], [0, 1], [3, 4]]))
    >>> similarity(found, ["c"], ["D", "R"]).rows()
    [('D', 'c', 0.6), ('R', 'c', 0.8)]
    """
    groups = Grouped.of(embeddings, by, cluster, equal_clusters, intervals)
    names, directions = _known_features(embeddings, features)
    found = cosine_columns(groups.units, directions, intervals)
    columns = {
        "target": np.repeat(column_of(groups.labels), len(names)),
        "feature": column_of(names * len(groups.labels)),
    } | {name: column.ravel() for name, column in found.items()}
    return Results(
        columns, embeddings.variables.backend, {"kind": "similarity", "level": intervals, "notes": groups.notes}
    )


def _known_features(embeddings: Embeddings, features: str | Sequence[str]) -> tuple[list[str], Doubles]:
    """Return the features that have a vector, in the order asked for, and their directions."""
    listed = [features] if isinstance(features, str) else list(features)
    words = candidate_vectors(embeddings, listed, "features")
    names = [name for name in dict.fromkeys(listed) if name in words]
    return names, directions_of(words[names])


# ------------------------------------------------------------------------------------------------- contexts


def nearest_contexts(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int = 5,
    within: bool = True,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
) -> Results:
    """Return the contexts whose embeddings are nearest to each group's mean; identical texts once.

    Parameters
    ----------
    embeddings, by, k, cluster, equal_clusters
        As in `nearest`.
    within : bool
        Whether to look among a group's own contexts only.

    Returns
    -------
    Results
        As `nearest` gives, with `context` for `feature`; and `name` and `document` of the context.
    """
    groups = Grouped.of(embeddings, by, cluster, equal_clusters)
    texts = np.array(embeddings.texts(with_match=True), dtype=object)
    units = directions_of(embeddings.matrix)
    parts: list[dict[str, Column]] = []
    for row, label in enumerate(groups.labels):
        mine = np.flatnonzero(groups.codes == row) if within else np.arange(len(texts))
        eligible = mine[np.sort(np.unique(texts[mine].astype(str), return_index=True)[1])]
        values = directions_of(groups.means[row]) @ units[eligible].T
        places = largest(values, k)
        chosen = eligible[places]
        part = {"target": column_of([label] * len(chosen)), "context": texts[chosen]}
        part |= {"rank": np.arange(1, len(chosen) + 1), "value": values[places]}
        parts.append(part | _identity(embeddings, chosen))
    return Results(joined(parts), embeddings.variables.backend, {"kind": "nearest contexts", "notes": groups.notes})


def _identity(embeddings: Embeddings, rows: Longs) -> dict[str, Column]:
    """Return the columns that say which contexts these are: their names, and their documents' where there are any."""
    columns = {"name": column_of([embeddings.names[row] for row in rows.tolist()])}
    return columns | {name: column[rows] for name, column in embeddings.own.items() if name == "document"}


def typical_contexts(embeddings: Embeddings, by: Groups | None = None, *, k: int = 3) -> Results:
    """Return the contexts most like all others of their group: mean cosine with all, in standard deviations.

    Parameters
    ----------
    embeddings, by, k
        As in `nearest`.

    Returns
    -------
    Results
        `target` (the group), `context`, `score`, and `name` and `document` of the context.

    Examples
    --------
    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["c"], ["b"]], (["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]))
    >>> typical_contexts(found, k=1)["context"].tolist()
    ['c']
    """
    groups = Grouped.of(embeddings, by)
    texts = column_of(embeddings.texts(with_match=True))
    units = directions_of(embeddings.matrix)
    parts: list[dict[str, Column]] = []
    k = whole_number(k, "k", 1)
    for code, label in enumerate(groups.labels):
        rows = np.flatnonzero(groups.codes == code)
        rows = rows[np.isfinite(units[rows]).all(axis=1)]
        scores = units[rows] @ units[rows].mean(axis=0)  # the mean of the products is the product with the mean
        spread = scores.std(ddof=1) if len(rows) > 1 else np.nan
        scores = (scores - scores.mean()) / spread if spread > 0 else np.full(len(rows), np.nan)
        chosen = np.argsort(-scores, kind="stable")[:k]
        part = {"target": column_of([label] * len(chosen)), "context": texts[rows[chosen]], "score": scores[chosen]}
        parts.append(part | _identity(embeddings, rows[chosen]))
    return Results(joined(parts), embeddings.variables.backend, {"kind": "typical contexts"})


# ----------------------------------------------------------------------------------- ordered variables and poles


def similarity_over(
    embeddings: Embeddings,
    over: str,
    features: str | Sequence[str],
    *,
    within: str | None = None,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    intervals: float | None = None,
) -> Results:
    """Return the cosine with some words at each value of an ordered variable (a year, a quartile).

    Parameters
    ----------
    embeddings, features, cluster, equal_clusters, intervals
        As in `similarity`.
    over : str
        The variable. Values that the documents have, but no context does, come with NaN and a count of 0.
    within : str, optional
        A second variable; the contexts of each of its values are taken by themselves.

    Returns
    -------
    Results
        As `similarity` gives, with `n`, the number of contexts; a variable that is called as one of these columns has
        "columns." before its name. With intervals, `drift_low` and `drift_high` are the limits between which the
        estimate would lie if the step from the value before were like the other steps: outside, it is more than drift.
    """
    names, directions = _known_features(embeddings, features)
    splits: list[tuple[Any, npt.NDArray[np.bool_]]] = [(None, np.ones(len(embeddings), dtype=bool))]
    if within is not None:
        labels, codes = group_codes(embeddings, within)
        splits = [(label, codes == code) for code, label in enumerate(labels)]
    compared = {} if within is None else {within: group_codes(embeddings, within)[1]}
    clusters = clusters_of(embeddings, cluster, equal_clusters, compared)
    parts: list[dict[str, Column]] = []
    for split, rows in splits:
        groups = Grouped.of(embeddings.select(rows), over, clusters.select(rows), intervals=intervals)
        values = _levels_of_documents(embeddings, over, groups.labels)
        place = {label: number for number, label in enumerate(groups.labels)}
        at = np.array([place.get(value, -1) for value in values])
        columns: dict[str, Column] = {"feature": column_of(names * len(values))}
        for name, column in cosine_columns(groups.units, directions, intervals).items():
            absent: Any = "no context" if column.dtype == object else np.nan
            columns[name] = np.where(at[:, None] >= 0, column[at], absent).ravel()
        if intervals is not None:
            shape, limits = (len(values), len(names)), np.full((2, len(values) * len(names)), np.nan)
            series = zip(*(columns[name].reshape(shape).T for name in ("estimate", "std_error")), strict=True)
            for number, (steps, errors) in enumerate(series):
                limits[:, number :: len(names)] = drift_band(steps, errors, intervals)
            columns |= dict(zip(DRIFT, limits, strict=True))
        columns["n"] = np.repeat(np.where(at >= 0, groups.sizes[at], 0), len(names))
        headers = {name: PREFIX + name if name in columns else name for name in (within, over) if name is not None}
        given: dict[str, Column] = {}
        if within is not None:
            given[headers[within]] = column_of([split] * (len(values) * len(names)))
        given[headers[over]] = np.repeat(np.array(values, dtype=None if all_numbers(values) else object), len(names))
        parts.append(given | columns)
    info = {"kind": "over", "over": headers[over], "within": headers.get(within or ""), "level": intervals}
    return Results(joined(parts), embeddings.variables.backend, {**info, "notes": clusters.notes})


def _levels_of_documents(embeddings: Embeddings, over: str, labels: list[Any]) -> list[Any]:
    """Return all values that the documents have, in order."""
    if embeddings.contexts is None or over not in embeddings.contexts.variables.columns:
        return labels
    column = embeddings.contexts.variables.columns[over]
    everything = [value for value in dict.fromkeys(column.tolist()) if value is not None and value == value]
    declared = embeddings.variables.levels.get(over)
    if declared is not None:
        return [level for level in declared if level in set(everything)]
    return sorted(everything, key=None if all_numbers(everything) else str)


def poles(
    embeddings: Embeddings,
    by: Groups | None,
    first: Sequence[str],
    second: Sequence[str] | None = None,
    *,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    intervals: float | None = None,
) -> Results:
    """Return how much nearer each group's mean is to the words of one pole than to those of another.

    Parameters
    ----------
    embeddings, by, cluster, equal_clusters, intervals
        As in `nearest`.
    first, second : list of str
        The words of the poles. The value is the mean cosine with the words of `first`, less that with the words of
        `second` if they are given. Words without a vector are left out, with a warning.

    Returns
    -------
    Results
        `group`, `value`, `n` (the number of contexts); with intervals as `nearest` gives.

    Examples
    --------
    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b"], [[1.0, 0.0], [0.0, 1.0]]))
    >>> poles(found, ["D", "R"], ["a"], ["b"]).rows()
    [('D', 1.0, 1), ('R', -1.0, 1)]
    """
    groups = Grouped.of(embeddings, by, cluster, equal_clusters, intervals)
    direction = _known_features(embeddings, first)[1].mean(axis=0)
    if second:
        direction -= _known_features(embeddings, second)[1].mean(axis=0)
    found = cosine_columns(groups.units, direction[None], intervals)
    columns: dict[str, Column] = {"group": column_of(groups.labels)}
    columns |= {name: column[:, 0] for name, column in found.items()} | {"n": groups.sizes}
    return Results(columns, embeddings.variables.backend, {"kind": "poles", "level": intervals, "notes": groups.notes})
