"""Contexts by group, and how inference about groups is asked for: what `describe` and `ratios` share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError
from alacarte.inference.cosines import Estimates, Intervals, check_draws, check_level, estimate
from alacarte.inference.means import Units
from alacarte.regression._frames import Column, column_of
from alacarte.regression._space import Candidates
from alacarte.regression.compat import Choices, Compat, bootstrap_cosines, bootstrap_summary, choices
from alacarte.regression.embed import Embeddings, Groups, cluster_weights, group_codes

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
EVERYTHING = "all contexts"


class InferenceOptions(TypedDict, total=False):
    """The keywords that say what is known of the error of a cosine, wherever a function takes them.

    `intervals`: "jackknife" (the same numbers every time), "bootstrap" or None, the default. `level`: of the intervals,
    0.95. `draws`: of the bootstrap, 1000. `cluster`: a column, a list of columns (every combination of their values is
    a cluster: they are crossed, this is not two-way clustering), or one value a context; contexts of one cluster are
    left out or drawn together, which changes standard errors and no estimate. `equal_clusters`: whether clusters weigh
    the same whatever their size, which does change estimates. `seed`: the same seed, the same numbers; 0, or None for
    others every time. `compat`: "conText" for R's choices (see `alacarte.regression.compat`).
    """

    intervals: Intervals
    level: float
    draws: int | None
    cluster: Groups | None
    equal_clusters: bool
    seed: int | None
    compat: Compat


@dataclass(frozen=True)
class Inference:
    """`InferenceOptions` with their defaults."""

    intervals: Intervals = None
    level: float = 0.95
    draws: int | None = None
    cluster: Groups | None = None
    equal_clusters: bool = False
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
        self, groups: list[Units], directions: Doubles, rng: np.random.Generator, excess: Doubles | None = None
    ) -> Estimates:
        """Cosines of the groups' means with directions, and their intervals if they are asked for."""
        if self.as_conText:
            values = [bootstrap_cosines(group, directions, self.draws or 100, rng) for group in groups]
            return bootstrap_summary(np.stack(values, axis=1), self.level)
        return estimate(groups, directions, self.intervals, self.level, self.draws or 1000, rng, excess)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups to describe: labels, means, sizes, and the units of each."""

    labels: list[Any]
    codes: Longs
    units: list[Units]
    means: Doubles
    sizes: Longs


def grouped(embeddings: Embeddings, by: Groups | None, inference: Inference) -> Grouped:
    """The contexts of each group, as units of inference."""
    if embeddings.counts is not None:
        if by is not None or inference.intervals is not None or inference.cluster is not None:
            raise AlacarteError("these are means already; pass the embeddings of the contexts, with by=…")
        units = [Units.of(row[None]) for row in embeddings.matrix]
        codes = np.arange(len(embeddings))
        return Grouped(list(embeddings.names), codes, units, embeddings.matrix, embeddings.counts)
    if by is None:
        labels, codes = [EVERYTHING], np.zeros(len(embeddings), dtype=np.int64)
    else:
        labels, codes = group_codes(embeddings, by, inference.compat)
    clusters = clusters_of(embeddings, inference.cluster)
    weights = cluster_weights(clusters, codes >= 0) if clusters is not None and inference.equal_clusters else None
    units = [_units(embeddings.matrix, codes == code, clusters, weights) for code in range(len(labels))]
    means = np.stack([unit.mean() for unit in units])
    return Grouped(labels, codes, units, means, np.array([unit.contexts for unit in units]))


def _units(matrix: Doubles, rows: npt.NDArray[np.bool_], clusters: Longs | None, weights: Doubles | None) -> Units:
    return Units.of(
        matrix[rows], None if clusters is None else clusters[rows], None if weights is None else weights[rows]
    )


def clusters_of(embeddings: Embeddings, cluster: Groups | None) -> Longs | None:
    """The number of each context's cluster; an error if one has none."""
    if cluster is None:
        return None
    codes = group_codes(embeddings, cluster)[1]
    if (codes < 0).any():
        raise AlacarteError(f"{int((codes < 0).sum())} contexts have no cluster; fill in or drop these rows")
    return codes


def estimate_columns(estimates: Estimates, pick: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> dict[str, Column]:
    """The columns of estimates (groups, features), flattened by `pick`."""
    columns = {"value": pick(estimates.value)}
    if estimates.debiased is not None:
        columns["debiased"] = pick(estimates.debiased)
    if estimates.std_error is not None and estimates.lower is not None and estimates.upper is not None:
        columns |= {
            "std_error": pick(estimates.std_error),
            "lower": pick(estimates.lower),
            "upper": pick(estimates.upper),
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
