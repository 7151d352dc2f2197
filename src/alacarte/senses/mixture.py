"""A mixture of round normal distributions of one width, for points that were whitened before.

scipy has k-means, from which the mixture starts, and no mixture; scikit-learn, which is optional, has none whose groups
share one width. A covariance of any form was tried: it puts fewer contexts into the group of their word.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from alacarte._io.arrays import Doubles, Longs

EM_STEPS = 200  # of expectation and maximisation at most
K_MEANS_STEPS = 20  # before these, from each start
RESTARTS = 8
CONVERGED = 1e-5  # gain in mean log density at which a run stops


@dataclass(frozen=True, eq=False)
class Mixture:
    """`shares` (k,) and `centers` (k, dimensions) of the groups, and the variance in every direction."""

    shares: Doubles
    centers: Doubles
    variance: float
    score: float  # mean log density of what it was fitted to

    def log_densities(self, x: Doubles) -> Doubles:
        """Return the log of share × density: (points, groups)."""
        constant = x.shape[1] * np.log(2 * np.pi * self.variance)
        return np.asarray(np.log(self.shares) - 0.5 * (squared_distances(x, self.centers) / self.variance + constant))


def fit_mixture(x: Doubles, k: int, rng: np.random.Generator, restarts: int = RESTARTS) -> Mixture:
    """Return the best of several runs of expectation and maximisation, each started from k-means.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(100, 2)) + [6, 0]])
    >>> mixture = fit_mixture(x, 2, rng)
    >>> sorted(mixture.shares.round(2).tolist())
    [0.25, 0.75]
    """
    if k == 1:
        return _maximise(x, np.ones((len(x), 1)))
    runs = [_maximise(x, np.eye(k)[_k_means(x, k, rng)]) for _ in range(restarts)]
    return max(runs, key=lambda run: run.score)


def _maximise(x: Doubles, members: Doubles) -> Mixture:
    before = -np.inf
    for _ in range(EM_STEPS):
        mixture = _from_members(x, members)
        logs = mixture.log_densities(x)
        norms = logsumexp(logs, axis=1, keepdims=True)
        score = float(norms.mean())
        members = np.exp(logs - norms)
        if score - before < CONVERGED:
            break
        before = score
    return Mixture(mixture.shares, mixture.centers, mixture.variance, score)


def _from_members(x: Doubles, members: Doubles) -> Mixture:
    size = members.sum(axis=0) + 1e-9
    centers = (members.T @ x) / size[:, None]
    total = float(np.sum(x**2) - np.sum(size * np.sum(centers**2, axis=1)))
    variance = max(total / x.size, 1e-9 * float(np.mean(x**2)), 1e-300)
    return Mixture(size / size.sum(), centers, variance, 0.0)


def _k_means(x: Doubles, k: int, rng: np.random.Generator) -> Longs:
    """Return labels by scipy's k-means, started from points that are far apart (k-means++)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a group may be empty, or all points equal: the mixture copes with both
        labels: Longs = kmeans2(x, k, iter=K_MEANS_STEPS, minit="++", seed=rng)[1]
    return labels


def squared_distances(x: Doubles, centers: Doubles) -> Doubles:
    """Return the squared distances of points and centers: (points, centers)."""
    return np.asarray(cdist(x, centers, "sqeuclidean"))
