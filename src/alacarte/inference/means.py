"""The mean of contexts, and its noise: how far it may be from the mean of infinitely many.

Contexts form units (each alone, or those of a document, a speaker, a group of documents together). With S_u and N_u the
sum and the weight of unit u, N = Σ N_u, p_u = N_u / N its share and m = Σ S_u / N the mean,

    z_u = (S_u − N_u m) / N · (1 − p_u)^−½          covariance of m:  V = Σ z_u z_uᵀ,   noise: tr V
    q = ‖m‖² − tr V                                 squared length of the mean of infinitely many contexts

This is CR2, the covariance that `alacarte.inference.regression_noise` has, for a regression on a constant alone. It has
no bias for units of any sizes if contexts are equally noisy and independent. If contexts of a unit are correlated it is
too small where units are few and of very unequal sizes, but less so than with a common factor for all units
(U / (U − 1), or 1 / (1 − Σ p²); docs/evidence/inference.md has figures). With one context per unit it is the variance
of a mean as everybody computes it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs

ROUNDING_OF_SHARES = 1e-9  # a unit that lacks less than this share of all contexts has all of them


def scaled_deviations(sums: Doubles, weights: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return (means, z, degrees of freedom) from sums (…, units, dimensions) and weights (…, units).

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
    several = share.max(axis=-1) < 1 - ROUNDING_OF_SHARES
    left = np.where(several[..., None], 1 - share, 1.0)
    scale = np.where(several[..., None], 1 / np.sqrt(left), 0.0)
    z = (sums - weights[..., None] * means[..., None, :]) * (scale / total[..., None])[..., None]
    crossed = share**2 / left
    trace = np.sum(share**2, axis=-1) + np.sum(crossed, axis=-1) ** 2 - np.sum(crossed**2, axis=-1)
    return means, z, np.where(several, 1 / trace, 0.0)


def debiased_squares(means: Doubles, noise: npt.ArrayLike) -> Doubles:
    """Return ‖m‖² − tr V for each mean: right on average for the squared length without noise, so sometimes negative.

    >>> debiased_squares(np.array([[3.0, 4.0]]), 2.0).tolist()
    [23.0]
    """
    return np.asarray(np.einsum("...d,...d->...", means, means) - noise)


@dataclass(frozen=True, eq=False)
class Units:
    """The contexts of one group as units that vary together, with their sums and weights."""

    sums: Doubles  # (units, d)
    sizes: Doubles  # the weight of each unit: how many contexts it has, if all contexts weigh 1
    labels: Longs  # which cluster each unit is, for clusters that lie in several groups
    contexts: int
    clustered: bool = False

    @classmethod
    def of(cls, matrix: Doubles, clusters: Longs | None = None, weights: Doubles | None = None) -> "Units":
        """Return the units of contexts, one row of `matrix` each.

        Rows with the same number in `clusters` are one unit; without it, each row is one. Contexts weigh 1 if
        `weights` are not given.
        """
        weight = np.ones(len(matrix)) if weights is None else weights
        weighted = matrix if weights is None else matrix * weight[:, None]
        if clusters is None:
            return cls(weighted, weight, np.arange(len(matrix)), len(matrix))
        labels, codes = np.unique(clusters, return_inverse=True)
        sums = np.zeros((len(labels), matrix.shape[1]))
        np.add.at(sums, codes, weighted)
        return cls(sums, np.bincount(codes, weights=weight).astype(np.float64), labels, len(matrix), clustered=True)

    def __len__(self) -> int:
        """How many units there are."""
        return len(self.sums)

    def mean(self) -> Doubles:
        """Return the mean of the contexts."""
        return np.asarray(self.sums.sum(axis=0) / self.sizes.sum())

    def deviations(self) -> Doubles:
        """Return z, one row per unit, whose outer products add up to the covariance of the mean."""
        return scaled_deviations(self.sums, self.sizes)[1]

    def df(self) -> float:
        """Return Satterthwaite's degrees of freedom of the noise."""
        return float(scaled_deviations(np.empty((len(self.sizes), 0)), self.sizes)[2])

    def covariance(self) -> Doubles:
        """Return the covariance of the mean."""
        z = self.deviations()
        return np.asarray(z.T @ z)

    def noise(self) -> float:
        """Return tr V; NaN for a single unit, which does not show how far units lie apart."""
        return float("nan") if len(self) < 2 else float(np.sum(self.deviations() ** 2))

    def debiased_square(self) -> float:
        """Return q = ‖m‖² − tr V; NaN for a single unit."""
        return float(debiased_squares(self.mean(), self.noise()))
