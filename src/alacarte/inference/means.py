"""The mean of contexts, and its noise: what is not known of the mean because there are only so many contexts.

Contexts form units (each alone, or those of a document, a speaker, a group of documents together). With S_u and N_u the
sum and the weight of unit u, N = Σ N_u, p_u = N_u / N its share and m = Σ S_u / N the mean,

    z_u = (S_u − N_u m) / N · (1 − p_u)^−½          covariance of m:  V = Σ z_u z_uᵀ,   noise: tr V
    q = ‖m‖² − tr V                                 squared length of the mean of infinitely many contexts

This is CR2, the covariance that `alacarte.inference.regression_noise` has, for a regression on a constant alone. It has
no bias for units of any sizes if contexts are alike and independent, and less than any common factor for all units
(U / (U − 1), or 1 / (1 − Σ p²)) if contexts of a unit are alike. With one context a unit it is the variance of a mean
as everybody computes it. Everything here is arrays only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Units:
    """The contexts of one group as units that are left out or drawn together, with their sums and weights."""

    sums: Doubles  # (units, d)
    sizes: Doubles  # the weight of each unit: how many contexts it has, if all contexts weigh 1
    labels: Longs  # which cluster each unit is, for clusters that lie in several groups
    contexts: int
    clustered: bool = False

    @classmethod
    def of(cls, matrix: Doubles, clusters: Longs | None = None, weights: Doubles | None = None) -> "Units":
        """From a row a context; rows of one cluster are one unit. Contexts weigh 1 if `weights` are not given."""
        weight = np.ones(len(matrix)) if weights is None else weights
        weighted = matrix if weights is None else matrix * weight[:, None]
        if clusters is None:
            return cls(weighted, weight, np.arange(len(matrix)), len(matrix))
        labels, codes = np.unique(clusters, return_inverse=True)
        sums = np.zeros((len(labels), matrix.shape[1]))
        np.add.at(sums, codes, weighted)
        return cls(sums, np.bincount(codes, weights=weight).astype(np.float64), labels, len(matrix), clustered=True)

    def among(self, labels: Longs) -> "Units":
        """The same units in the order of `labels`, with nothing in those that this group has not."""
        sums, sizes = np.zeros((len(labels), self.sums.shape[1])), np.zeros(len(labels))
        places = np.searchsorted(labels, self.labels)
        sums[places], sizes[places] = self.sums, self.sizes
        return Units(sums, sizes, labels, self.contexts, self.clustered)

    def __len__(self) -> int:
        return len(self.sums)

    def mean(self) -> Doubles:
        return np.asarray(self.sums.sum(axis=0) / self.sizes.sum())

    def deviations(self) -> tuple[Doubles, float]:
        """(z, degrees of freedom): a row a unit, whose outer products add up to the covariance of the mean."""
        _, z, df = scaled_deviations(self.sums, self.sizes)
        return z, float(df)

    def noise(self) -> float:
        """tr V; NaN for a single unit, which does not say how far units lie apart."""
        return float(np.sum(self.deviations()[0] ** 2)) if len(self) > 1 else float("nan")

    def debiased_square(self) -> float:
        """q = ‖m‖² − tr V; NaN for a single unit."""
        return float(debiased_squares(self.mean(), self.noise()))

    def leave_one_out(self) -> tuple[Doubles, Doubles]:
        """(means, debiased squares) without each unit in turn."""
        sizes, total = self.sizes, self.sizes.sum()
        means = (self.sums.sum(axis=0) - self.sums) / (total - sizes)[:, None]
        if len(self) < 3:
            return means, np.full(len(self), np.nan)
        lengths = np.einsum("ud,ud->u", means, means)
        own = np.einsum("ud,ud->u", self.sums, self.sums), np.einsum("ud,ud->u", self.sums, means)
        spread = np.empty(len(self))
        for size in np.unique(sizes):  # what is left weighs the same for all units of one size
            left_out = sizes == size
            rest = total - size
            # A unit too large to be among the rest is the one that is left out.
            scale = np.where(sizes < rest, 1 / np.where(sizes < rest, 1 - sizes / rest, 1.0), 0.0)
            crossed = means[left_out] @ ((scale * sizes) @ self.sums)
            everything = scale @ own[0] - 2 * crossed + lengths[left_out] * (scale @ sizes**2)
            mine = own[0][left_out] - 2 * size * own[1][left_out] + size**2 * lengths[left_out]
            spread[left_out] = (everything - scale[left_out] * mine) / rest**2
        return means, lengths - spread

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
