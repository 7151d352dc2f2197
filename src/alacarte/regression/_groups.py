"""Contexts by group, and how inference about groups is asked for: what `describe` and `ratios` share."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError, AlacarteWarning
from alacarte.inference.cosines import (
    Estimates,
    Intervals,
    Norm,
    check_draws,
    check_level,
    estimate,
    selection_excess,
)
from alacarte.inference.means import Units, debiased_squares
from alacarte.regression._frames import Column, column_of
from alacarte.regression._lexical import Lexical
from alacarte.regression._space import Candidates
from alacarte.regression.compat import Choices, Compat, bootstrap_cosines, bootstrap_summary, choices
from alacarte.regression.embed import Clusters, Embeddings, Groups, cluster_codes, group_codes, row_weights

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
EVERYTHING = "all contexts"
FEW = 3.5  # degrees of freedom of clusters below which one is warned
SEARCHED = 1 << 24  # cosines of drawn vectors with candidates at a time


class InferenceOptions(TypedDict, total=False):
    """The keywords that say what is known of the error of a cosine, wherever a function takes them.

    `intervals`: "jackknife" (the same numbers every time), "bootstrap" or None, the default. `level`: of the intervals,
    0.95. `draws`: of the bootstrap, 1000. `cluster`: a column, a list of columns (every combination of their values is
    a cluster), one value a context, or `TwoWays` of these ("speaker + year") for clusters of two kinds; contexts of one
    cluster vary together, which changes standard errors and no estimate. `weights`: a column, or one number a context.
    `equal_clusters`: whether clusters weigh
    the same whatever their size, which does change estimates. `seed`: the same seed, the same numbers; 0, or None for
    others every time. `compat`: "conText" for R's choices (see `alacarte.regression.compat`).
    """

    intervals: Intervals
    level: float
    draws: int | None
    cluster: Clusters | None
    equal_clusters: bool
    weights: str | npt.ArrayLike | None
    seed: int | None
    compat: Compat


@dataclass(frozen=True)
class Inference:
    """`InferenceOptions` with their defaults."""

    intervals: Intervals = None
    level: float = 0.95
    draws: int | None = None
    cluster: Clusters | None = None
    equal_clusters: bool = False
    weights: str | npt.ArrayLike | None = None
    seed: int | None = 0
    compat: Compat = None

    def __post_init__(self) -> None:
        if self.intervals not in (None, "jackknife", "bootstrap"):
            raise AlacarteError(f"intervals is 'jackknife', 'bootstrap' or None, not {self.intervals!r}")
        check_level(self.level)
        check_draws(self.draws)
        if self.equal_clusters and self.cluster is None:
            raise AlacarteError("equal_clusters needs to know the clusters; pass cluster=… too")

    @property
    def rules(self) -> Choices:
        return choices(self.compat)

    @property
    def as_conText(self) -> bool:
        """Whether values and intervals are conText's summaries of bootstraps."""
        return self.intervals == "bootstrap" and self.rules.rounded_percentiles

    def random(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def estimate(
        self,
        groups: list[Units],
        directions: Doubles,
        rng: np.random.Generator,
        excess: Doubles | None = None,
        norm: Norm = "l2",
    ) -> Estimates:
        """Cosines of the groups' means with directions, and their intervals if they are asked for."""
        if self.as_conText:
            if norm != "l2":
                raise AlacarteError("bootstraps as conText has them are of cosines; leave out norm='none' or compat")
            values = [bootstrap_cosines(group, directions, self.draws or 100, rng) for group in groups]
            return bootstrap_summary(np.stack(values, axis=1), self.level)
        return estimate(groups, directions, self.intervals, self.level, self.draws or 1000, rng, excess, norm)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups to describe: labels, means, sizes, and the units of each."""

    labels: list[Any]
    codes: Longs
    units: list[Units]
    means: Doubles
    sizes: Longs
    without: Callable[[int, int], Units]  # the units of a group, by number, but for a context and its cluster


def grouped(embeddings: Embeddings, by: Groups | None, inference: Inference) -> Grouped:
    """The contexts of each group, as units of inference."""
    if embeddings.counts is not None:
        if by is not None or inference.intervals is not None or inference.cluster is not None:
            raise AlacarteError("these are means already; pass the embeddings of the contexts, with by=…")
        units = [Units.of(row[None]) for row in embeddings.matrix]
        codes = np.arange(len(embeddings))
        return Grouped(
            list(embeddings.names), codes, units, embeddings.matrix, embeddings.counts, lambda group, _: units[group]
        )
    if by is None:
        labels, codes = [EVERYTHING], np.zeros(len(embeddings), dtype=np.int64)
    else:
        labels, codes = group_codes(embeddings, by, inference.compat)
    clusters = clusters_of(embeddings, inference.cluster)
    weights = row_weights(embeddings, clusters, inference.equal_clusters, inference.weights, codes >= 0)
    units = [_units(embeddings.matrix, codes == code, clusters, weights) for code in range(len(labels))]
    if inference.intervals is not None:
        warn_of_few_clusters(units)

    def without(group: int, context: int) -> Units:
        rows = codes == group
        rows[context] = False
        for way in [] if clusters is None else clusters if isinstance(clusters, list) else [clusters]:
            rows &= way != way[context]
        if not rows.any():
            return units[group]
        return _units(embeddings.matrix, rows, clusters, weights)

    means = np.stack([unit.mean() for unit in units])
    return Grouped(labels, codes, units, means, np.array([unit.contexts for unit in units]), without)


def _units(
    matrix: Doubles, rows: npt.NDArray[np.bool_], clusters: "Longs | list[Longs] | None", weights: Doubles | None
) -> Units:
    own = (
        [way[rows] for way in clusters] if isinstance(clusters, list) else None if clusters is None else clusters[rows]
    )
    return Units.of(matrix[rows], own, None if weights is None else weights[rows])


def clusters_of(embeddings: Embeddings, cluster: Clusters | None) -> "Longs | list[Longs] | None":
    """The number of each context's cluster, of one kind or two; an error if one has none."""
    codes = cluster_codes(embeddings, cluster)
    for way in [] if codes is None else codes if isinstance(codes, list) else [codes]:
        if (way < 0).any():
            raise AlacarteError(f"{int((way < 0).sum())} contexts have no cluster; fill in or drop these rows")
    return codes


def warn_of_few_clusters(units: Iterable[Units]) -> None:
    """Warn where a group has so few clusters that count that no method knows its noise."""
    few = [group for group in units if group.clustered and len(group) > 2 and group.df() < FEW]
    if few:
        warnings.warn(
            f"a group has {len(few[0])} clusters, of which {few[0].df() + 1:.1f} count: intervals and p-values from so "
            "few may be wrong in either direction; use another cluster, or read them with care",
            AlacarteWarning,
            stacklevel=4,
        )


def estimate_columns(estimates: Estimates, pick: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> dict[str, Column]:
    """The columns of estimates (groups, features), flattened by `pick`."""
    columns = {"value": pick(estimates.value)}
    if estimates.debiased is not None:
        columns["estimate"] = pick(estimates.debiased)
    if estimates.std_error is not None and estimates.lower is not None and estimates.upper is not None:
        columns |= {
            "std_error": pick(estimates.std_error),
            "conf_low": pick(estimates.lower),
            "conf_high": pick(estimates.upper),
        }
    if estimates.reasons:
        columns["reason"] = pick(np.repeat(column_of(estimates.reasons)[:, None], estimates.value.shape[1], axis=1))
    return columns


def top(values: Doubles, k: int | None, ties: bool = False) -> Longs:
    """The places of the k largest values, the largest first; with `ties`, all that equal the last of them.

    >>> top(np.array([0.2, 0.9, 0.5]), 2).tolist()
    [1, 2]
    """
    order = np.argsort(-values, kind="stable")
    if k is None or k >= len(order):
        return order
    if ties:
        return np.asarray(order[values[order] >= values[order[k - 1]]])
    return order[:k]


def candidates_of(embeddings: Embeddings, candidates: Candidates | Literal["contexts"]) -> Candidates:
    """The words to search: those of the contexts, if that is what was asked for."""
    return embeddings.features if isinstance(candidates, str) and candidates == "contexts" else candidates


def excess_of(group: Units, lexical: Lexical, k: int, rng: np.random.Generator) -> Doubles | None:
    """By how much the similarities of the k nearest words are too large because they are the nearest, by rank.

    None where there is more noise than signal, or nothing to tell the two apart.
    """
    square = group.debiased_square()
    if not square > 0:
        return None
    noise = group.noise()

    def search(drawn: Doubles) -> Doubles:
        step = max(1, SEARCHED // len(lexical.names))
        directions: list[Doubles] = []
        for low in range(0, len(drawn), step):
            similarities = lexical.similarities(drawn[low : low + step])
            directions += [lexical.directions(top(values, k)) for values in similarities]
        return np.stack(directions)

    def lengths(drawn: Doubles) -> Doubles:
        return debiased_squares(drawn, noise)

    return selection_excess(group.mean(), square, group.covariance(), search, lengths, rng, lexical.norm)
