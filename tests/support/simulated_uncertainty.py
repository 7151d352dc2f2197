"""Targets whose true means are known, with the uncertainty of what is seen of them."""

import numpy as np

from alacarte import WordVectors
from alacarte.uncertainty.spread import deviations
from alacarte.uncertainty.uncertainty import Uncertainty

D = 20
SHAPE = np.diag(1 / np.arange(1, D + 1) ** 0.5)
OTHERS = WordVectors([f"v{i}" for i in range(300)], np.random.default_rng(9).normal(size=(300, D)))
UNITS = OTHERS.matrix / np.linalg.norm(OTHERS.matrix, axis=1, keepdims=True)


def simulated(words, n, seed, truth=None, groups=16):
    """(uncertainty, true means) of `words` targets with n contexts each, dealt to groups at random."""
    rng = np.random.default_rng(seed)
    if truth is None:
        truth = rng.normal(size=(words, D)) @ SHAPE
    sums, weights = np.zeros((words, groups, D)), np.zeros((words, groups))
    for word in range(words):
        group = rng.integers(0, groups, n)
        np.add.at(sums[word], group, truth[word] + 2 * rng.normal(size=(n, D)) @ SHAPE)
        np.add.at(weights[word], group, 1)
    found = deviations(sums, weights, [n] * words, np.eye(D))
    return Uncertainty([f"w{i}" for i in range(words)], lambda rows: found[rows], OTHERS), truth


def cosines(truth):
    return truth / np.linalg.norm(truth, axis=1, keepdims=True) @ UNITS.T
