"""The mean of contexts, and its noise: what is not known of the mean because there are only so many contexts.

Contexts form units (each alone, or those of a document, a speaker, a group of documents together). With S_u and N_u the
sum and the weight of unit u, N = Σ N_u, p_u = N_u / N its share and m = Σ S_u / N the mean,

    z_u = (S_u − N_u m) / N · (1 − p_u)^−½          covariance of m:  V = Σ z_u z_uᵀ,   noise: tr V
    q = ‖m‖² − tr V                                 squared length of the mean of infinitely many contexts

This is CR2, the covariance that `alacarte.inference.regression_noise` has, for a regression on a constant alone. It has
no bias for units of any sizes if contexts are equally noisy and independent. If contexts of a unit are correlated it is
too small where units are few and of very unequal sizes, but less so than with a common factor for all units
(U / (U − 1), or 1 / (1 − Σ p²); docs/inference.md has figures). With one context a unit it is the variance of a mean
as everybody computes it. Everything here is arrays only.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
DRAWS = 1 << 23  # numbers of a block of bootstrap weights
WHOLE = 1e-9  # a unit that lacks less than this share of all contexts has all of them


def scaled_deviations(sums: Doubles, weights: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """(means, z, degrees of freedom) from sums (…, units, dimensions) and weights (…, units).

    Σ_u z_u z_uᵀ is the covariance of the mean. Its degrees of freedom are Satterthwaite's; they are 0, and z is 0,
    where one unit has everything.

    The variance of 1 and 3 is 2, that of their mean is 1:

    >>> means, z, df = scaled_deviations(np.array([[1.0], [3.0]]), np.ones(2))
    >>> means.tolist(), round(float(np.sum(z**2)), 9), float(df)
    ([2.0], 1.0, 1.0)
    """
    total = weights.sum(axis=-1)
    share = weights / total[..., None]
    means = sums.sum(axis=-2) / total[..., None]
    several = share.max(axis=-1) < 1 - WHOLE
    left = np.where(several[..., None], 1 - share, 1.0)
    scale = np.where(several[..., None], 1 / np.sqrt(left), 0.0)
    z = (sums - weights[..., None] * means[..., None, :]) * (scale / total[..., None])[..., None]
    crossed = share**2 / left
    trace = np.sum(share**2, axis=-1) + np.sum(crossed, axis=-1) ** 2 - np.sum(crossed**2, axis=-1)
    return means, z, np.where(several, 1 / trace, 0.0)


def debiased_squares(means: Doubles, noise: npt.ArrayLike) -> Doubles:
    """‖m‖² − tr V, a row a mean: right on average for the squared length without noise, and so sometimes negative.

    >>> debiased_squares(np.array([[3.0, 4.0]]), 2.0).tolist()
    [23.0]
    """
    return np.asarray(np.einsum("...d,...d->...", means, means) - noise)


def ways_of(clusters: Sequence[Longs]) -> list[Longs]:
    """Two kinds of clusters, and the clusters that both make together.

    >>> [way.tolist() for way in ways_of([np.array([0, 0, 1]), np.array([5, 6, 6])])]
    [[0, 0, 1], [5, 6, 6], [0, 1, 2]]
    """
    both = np.unique(np.stack(clusters, axis=1), axis=0, return_inverse=True)[1].ravel()
    return [*clusters, np.asarray(both, dtype=np.int64)]


def combined(ways: Sequence[Any], size: Callable[[Any], Any] = np.asarray) -> Any:
    """What varies by one kind of cluster; or by two kinds and by both together, but no less than by either alone.

    >>> float(combined([3.0])), float(combined([3.0, 2.0, 1.0])), float(combined([3.0, 2.0, 2.5]))
    (3.0, 4.0, 3.0)
    """
    if len(ways) == 1:
        return np.asarray(ways[0])
    first, second, both = (np.asarray(way) for way in ways)
    larger = np.where(size(first) >= size(second), first, second)
    sum_of_both = first + second - both
    return np.where(size(sum_of_both) >= size(larger), sum_of_both, larger)


@dataclass(frozen=True, eq=False)
class Units:
    """The contexts of one group as units that vary together, with their sums and weights.

    `other_ways` are for clusters of two kinds (speakers and years): the units of the second kind, and those that are
    of one kind in both. What varies along both comes to the noise by the one, plus that by the other, less that by
    both together (Cameron, Gelbach and Miller 2011), but to no less than that by either alone.
    """

    sums: Doubles  # (units, d)
    sizes: Doubles  # the weight of each unit: how many contexts it has, if all contexts weigh 1
    labels: Longs  # which cluster each unit is, for clusters that lie in several groups
    contexts: int
    clustered: bool = False
    other_ways: "tuple[Units, ...]" = ()

    @classmethod
    def of(
        cls,
        matrix: Doubles,
        clusters: "Longs | Sequence[Longs] | None" = None,
        weights: Doubles | None = None,
    ) -> "Units":
        """From a row a context; rows of one cluster are one unit. Contexts weigh 1 if `weights` are not given.

        `clusters` are one number a context, or two arrays of such for clusters of two kinds.
        """
        if clusters is not None and not isinstance(clusters, np.ndarray):
            first, *others = (cls.of(matrix, way, weights) for way in ways_of(clusters))
            return replace(first, other_ways=tuple(others))
        weight = np.ones(len(matrix)) if weights is None else weights
        weighted = matrix if weights is None else matrix * weight[:, None]
        if clusters is None:
            return cls(weighted, weight, np.arange(len(matrix)), len(matrix))
        labels, codes = np.unique(clusters, return_inverse=True)
        sums = np.zeros((len(labels), matrix.shape[1]))
        np.add.at(sums, codes, weighted)
        return cls(sums, np.bincount(codes, weights=weight).astype(np.float64), labels, len(matrix), clustered=True)

    @property
    def ways(self) -> "tuple[Units, ...]":
        """The units themselves; or by the first kind of cluster, by the second, and by both."""
        return (replace(self, other_ways=()), *self.other_ways)

    def among(self, labels: Longs) -> "Units":
        """The same units in the order of `labels`, with nothing in those that this group has not."""
        sums, sizes = np.zeros((len(labels), self.sums.shape[1])), np.zeros(len(labels))
        places = np.searchsorted(labels, self.labels)
        sums[places], sizes[places] = self.sums, self.sizes
        return Units(sums, sizes, labels, self.contexts, self.clustered)

    def __len__(self) -> int:
        """How many units there are; of the kind that has fewer."""
        return min(len(way.sums) for way in (self, *self.other_ways[:1]))

    def mean(self) -> Doubles:
        return np.asarray(self.sums.sum(axis=0) / self.sizes.sum())

    def deviations(self) -> tuple[Doubles, float]:
        """(z, degrees of freedom): a row a unit, whose outer products add up to the covariance of the mean."""
        _, z, df = scaled_deviations(self.sums, self.sizes)
        return z, float(df)

    def df(self) -> float:
        """Satterthwaite's degrees of freedom of the noise; the fewer of two kinds of clusters."""
        without_sums = ((np.empty((len(way.sizes), 0)), way.sizes) for way in self.ways[:2])
        return min(float(scaled_deviations(*way)[2]) for way in without_sums)

    def covariance(self) -> Doubles:
        """The covariance of the mean."""
        return np.asarray(combined([z.T @ z for z, _ in (way.deviations() for way in self.ways)], np.trace))

    def noise(self) -> float:
        """tr V; NaN for a single unit, which does not say how far units lie apart."""
        if len(self) < 2:
            return float("nan")
        return float(combined([np.sum(way.deviations()[0] ** 2) for way in self.ways]))

    def debiased_square(self) -> float:
        """q = ‖m‖² − tr V; NaN for a single unit."""
        return float(debiased_squares(self.mean(), self.noise()))

    def bootstrap(self, draws: int, rng: np.random.Generator) -> Iterator[tuple[Doubles, Doubles]]:
        """Blocks of (means, debiased squares) of units drawn with replacement: one matrix product a block."""
        count = len(self)
        step = max(1, min(draws, DRAWS // count))
        squares = np.einsum("ud,ud->u", self.sums, self.sums)
        for low in range(0, draws, step):
            rows = min(step, draws - low)
            drawn = rng.integers(0, count, size=(rows, count)) + np.arange(rows)[:, None] * count
            weight = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)
            total = weight @ self.sizes
            total[total == 0] = np.nan  # units that are drawn may be those with nothing in them
            means = (weight @ self.sums) / total[:, None]
            share = self.sizes / total[:, None]
            scaled = weight / np.where(weight > 0, 1 - share, 1.0)
            weighted = np.einsum("bd,bd->b", (scaled * self.sizes) @ self.sums, means)
            lengths = np.einsum("bd,bd->b", means, means)
            spread = scaled @ squares - 2 * weighted + lengths * (scaled @ self.sizes**2)
            yield means, lengths - spread / total**2
