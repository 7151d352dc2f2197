"""Groups of points: a mixture of normal distributions that share one covariance, and how many of them there are.

The shared covariance is what keeps one long cloud from being cut in pieces: only what is apart by more than contexts
of one sense are makes a second group.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
STEPS = 200
RESTARTS = 8


@dataclass(frozen=True, eq=False)
class Mixture:
    """`shares` (k,) and `centers` (k, dimensions) of the groups, and the covariance that they share."""

    shares: Doubles
    centers: Doubles
    covariance: Doubles
    score: float  # mean log density of what it was fitted to

    def log_densities(self, x: Doubles) -> Doubles:
        """log of share × density: (points, groups)."""
        lower = np.linalg.cholesky(self.covariance)
        whitened = np.linalg.solve(lower, x.T).T
        centers = np.linalg.solve(lower, self.centers.T).T
        distances = np.sum((whitened[:, None] - centers) ** 2, axis=2)
        constant = x.shape[1] * np.log(2 * np.pi) + 2 * np.sum(np.log(np.diag(lower)))
        return np.asarray(np.log(self.shares) - 0.5 * (distances + constant))

    def memberships(self, x: Doubles) -> Doubles:
        """How probable each group is for each point: rows add up to 1."""
        logs = self.log_densities(x)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))

    def point_scores(self, x: Doubles) -> Doubles:
        return np.asarray(logsumexp(self.log_densities(x), axis=1))


def fit_mixture(x: Doubles, k: int, rng: np.random.Generator, restarts: int = RESTARTS) -> Mixture:
    """The best of several runs of expectation and maximisation, each from k-means.

    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(100, 2)) + [6, 0]])
    >>> found = fit_mixture(x, 2, rng)
    >>> sorted(found.shares.round(2).tolist())
    [0.25, 0.75]
    """
    runs = [_maximised(x, _one_hot(k_means(x, k, rng), k)) for _ in range(1 if k == 1 else restarts)]
    return max(runs, key=lambda run: run.score)


def _maximised(x: Doubles, members: Doubles) -> Mixture:
    before = -np.inf
    for _ in range(STEPS):
        mixture = _from_members(x, members)
        logs = mixture.log_densities(x)
        norms = logsumexp(logs, axis=1, keepdims=True)
        score = float(norms.mean())
        members = np.exp(logs - norms)
        if score - before < 1e-6:
            break
        before = score
    return Mixture(mixture.shares, mixture.centers, mixture.covariance, score)


def _from_members(x: Doubles, members: Doubles) -> Mixture:
    size = members.sum(axis=0) + 1e-9
    centers = (members.T @ x) / size[:, None]
    total = x.T @ x - (centers * size[:, None]).T @ centers
    covariance = total / len(x)
    covariance += (1e-6 * np.trace(covariance) / len(covariance) + 1e-12) * np.eye(len(covariance))
    return Mixture(size / size.sum(), centers, covariance, 0.0)


def k_means(x: Doubles, k: int, rng: np.random.Generator) -> Longs:
    """Labels; started from points that are far apart (k-means++; Arthur and Vassilvitskii 2007)."""
    centers = x[rng.integers(len(x))][None]
    for _ in range(k - 1):
        nearest = _distances(x, centers).min(axis=1)
        total = nearest.sum()
        chosen = rng.choice(len(x), p=nearest / total) if total > 0 else rng.integers(len(x))
        centers = np.concatenate([centers, x[chosen][None]])
    labels = np.full(len(x), -1)
    for _ in range(STEPS):
        new = np.argmin(_distances(x, centers), axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
        for group in range(k):
            if (labels == group).any():
                centers[group] = x[labels == group].mean(axis=0)
    return labels


def _distances(x: Doubles, centers: Doubles) -> Doubles:
    squares = np.sum(x**2, axis=1)[:, None] - 2 * x @ centers.T + np.sum(centers**2, axis=1)
    return np.asarray(np.maximum(squares, 0.0))


def _one_hot(labels: Longs, k: int) -> Doubles:
    return np.eye(k)[labels]


def prediction_strength(
    x: Doubles, units: npt.NDArray[np.int64], k: int, rng: np.random.Generator, splits: int = 3
) -> float:
    """How well k groups found in one half of the units hold in the other (Tibshirani and Walther 2005).

    Of the pairs of points that are together in a group found in their own half, the share that the groups of the other
    half put together too; of the worst group, averaged over both halves and several ways to halve. 1: the same groups.

    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(100, 2)) + [7, 0]])
    >>> [prediction_strength(x, np.arange(300), k, rng) > 0.9 for k in (2, 3)]
    [True, False]
    """
    names, inverse = np.unique(units, return_inverse=True)
    if len(names) < 2:
        return 0.0
    strengths = []
    for _ in range(splits):
        half = (rng.permutation(len(names)) % 2 == 0)[inverse]
        if min(half.sum(), (~half).sum()) < k:
            return 0.0
        found = [fit_mixture(x[inside], k, rng, restarts=4) for inside in (half, ~half)]
        for own, other, inside in ((0, 1, half), (1, 0, ~half)):
            mine, theirs = (found[at].memberships(x[inside]).argmax(axis=1) for at in (own, other))
            table = np.zeros((k, k))
            np.add.at(table, (mine, theirs), 1)
            size = table.sum(axis=1)
            pairs, together = size * (size - 1), np.sum(table * (table - 1), axis=1)
            strengths.append(float(np.min(np.where(pairs > 0, together / np.where(pairs > 0, pairs, 1), 0.0))))
    return float(np.mean(strengths))
