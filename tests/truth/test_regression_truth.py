"""Statistical truth by simulation with known effects; `benchmarks/inference_truth.py` is the long version."""

import numpy as np
import pytest

from alacarte.inference import lengths as squared_lengths
from alacarte.inference import regression_noise

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
    return regression_noise.least_squares(x, y, codes)[0]


@pytest.mark.parametrize(("clusters", "spread"), [(None, 1.0), (None, 2.0), (40, 1.0)])
def test_size_of_the_permutation_test(clusters, spread):
    """Without an effect, p ≤ 0.05 in 5 % of the samples, whether or not the groups are equally noisy."""
    rng = np.random.default_rng(0)
    shape = noise_shape(rng, 20)
    rejected = [
        (
            1
            + regression_noise.permute(
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
        debiased.append(length - float(regression_noise.noise(fit, TERM)[0]))
    error = np.std(debiased) / np.sqrt(len(debiased))
    assert abs(np.mean(debiased) - effect**2) < 3 * error
    assert np.mean(plain) - effect**2 > 8 * error


@pytest.mark.parametrize("clusters", [None, 30])
def test_the_debiased_length_of_few_units_is_unbiased(clusters):
    """With few clusters, whose scores are too small, Stata's factor does not make up for it; leverage does."""
    rng = np.random.default_rng(4)
    shape = np.eye(40)
    small, right = [], []
    for _ in range(600):
        fit = draw(rng, shape, 0.0, 60 if clusters is None else 120, clusters)
        length = float((fit.coefficients[1] ** 2).sum())
        small.append(length - float(regression_noise.noise(fit, TERM, "HC1")[0]))
        right.append(length - float(regression_noise.noise(fit, TERM)[0]))
    error = np.std(right) / np.sqrt(len(right))
    assert abs(np.mean(right)) < 2.5 * error
    assert clusters is None or np.mean(small) > 2 * error


@pytest.mark.parametrize(
    ("n", "clusters", "spread"), [(50, None, 1.0), (200, None, 2.0), (120, 30, 1.0)], ids=["few", "unequal", "clusters"]
)
def test_intervals_cover(n, clusters, spread):
    """95 % intervals hold 95 % of the true lengths, whether or not there is an effect, and wherever it points."""
    rng = np.random.default_rng(2)
    shape = noise_shape(rng, 30)
    unit = np.sqrt(30 * 4.2 / (clusters or n))
    inside = {}
    for _ in range(600):
        fit = draw(rng, shape, 0.0, n, clusters, spread)
        noise = squared_lengths.noise_of_each(fit, TERM)[0]
        for where, direction in (("along", shape.sum(axis=0)), ("across", np.ones(30))):
            for effect in (0.0, 1.0, 3.0):
                beta = direction * effect * unit / np.linalg.norm(direction)
                length = squared_lengths.Length.of(fit.coefficients[1] + beta, noise)
                tails = length.outside(np.array([beta @ beta]), 0.95)
                inside.setdefault((where, effect), []).append(max(tail[0] for tail in tails) <= 0)
    for cell, values in inside.items():
        assert 0.925 <= np.mean(values) <= 0.98, cell


def test_the_table_has_the_interval_that_is_simulated():
    rng = np.random.default_rng(6)
    shape = noise_shape(rng, 20)
    fit = draw(rng, shape, 1.0, 100)
    error, low, high, _ = squared_lengths.score_interval(fit, TERM, 0.9)
    length = squared_lengths.Length.of(fit.coefficients[1], squared_lengths.noise_of_each(fit, TERM)[0])
    assert (error[0], low[0], high[0]) == pytest.approx((length.error(), *length.interval(0.9)))
    assert length.estimate == pytest.approx((fit.coefficients[1] ** 2).sum() - regression_noise.noise(fit, TERM)[0])
