"""Statistical truth by simulation with known effects; `benchmarks/regression_truth.py` is the long version."""

import numpy as np
import pytest
from scipy import stats

from alacarte.regression import _estimate

TERM = np.eye(3)[1:2]


def noise_shape(rng, d):
    """Outputs that are correlated and of different size."""
    mixed = rng.normal(size=(d, d)) * np.exp(-np.arange(d) / 10)[:, None]
    return mixed / np.sqrt((mixed**2).sum() / d)


def draw(rng, shape, effect, n=200, clusters=None, spread=1.0):
    d = len(shape)
    codes = None
    group = (rng.random(n) < 0.4).astype(float)
    if clusters:
        codes = np.unique(rng.integers(0, clusters, n), return_inverse=True)[1]
        group = (rng.random(codes.max() + 1) < 0.4).astype(float)[codes]
    x = np.column_stack([np.ones(n), group, rng.normal(size=n)])
    y = rng.normal(size=(n, d)) @ shape * np.where(group == 1, spread, 1.0)[:, None]
    if codes is not None:
        y += (rng.normal(size=(codes.max() + 1, d)) @ shape)[codes] * 0.7
    y[:, 0] += effect * group
    return _estimate.least_squares(x, y, codes)[0]


@pytest.mark.parametrize(("clusters", "spread"), [(None, 1.0), (None, 2.0), (40, 1.0)])
def test_size_of_the_permutation_test(clusters, spread):
    """Without an effect, p ≤ 0.05 in 5 % of the samples, whether or not the groups are equally noisy."""
    rng = np.random.default_rng(0)
    shape = noise_shape(rng, 20)
    rejected = [
        (
            1
            + _estimate.permute(
                draw(rng, shape, 0.0, 100 if clusters is None else 200, clusters, spread), TERM, 59, rng
            )
        )
        <= 0.05 * 60
        for _ in range(400)
    ]
    assert 0.025 <= np.mean(rejected) <= 0.078  # five per cent and 2.5 standard errors


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_the_debiased_length_is_unbiased_and_the_plain_one_is_not(effect):
    rng = np.random.default_rng(1)
    shape = noise_shape(rng, 20)
    plain, debiased = [], []
    for _ in range(500):
        fit = draw(rng, shape, effect)
        length = float((fit.coefficients[1] ** 2).sum())
        plain.append(length)
        debiased.append(length - float(_estimate.noise(fit, TERM)[0]))
    error = np.std(debiased) / np.sqrt(len(debiased))
    assert abs(np.mean(debiased) - effect**2) < 3 * error
    assert np.mean(plain) - effect**2 > 8 * error


@pytest.mark.parametrize(
    ("effect", "clusters", "spread", "most"),
    [(0.5, None, 1.0, 1.0), (2.5, None, 2.0, 0.97), (3.0, None, 1.0, 0.97), (3.0, 60, 1.0, 0.97)],
)
def test_intervals_cover(effect, clusters, spread, most):
    # A length is never negative, so that weak effects can be missed on one side only: they are covered more often.
    rng = np.random.default_rng(2)
    shape = noise_shape(rng, 20)
    inside = []
    for _ in range(500):
        fit = draw(rng, shape, effect, 300, clusters, spread)
        quantile = float(stats.t.ppf(0.975, fit.clusters - 1))
        _, lower, upper = _estimate.score_interval(fit, TERM, quantile)
        inside.append(lower[0] <= effect**2 <= upper[0])
    assert 0.93 <= np.mean(inside) <= most
