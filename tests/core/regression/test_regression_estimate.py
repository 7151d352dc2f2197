"""Least squares, robust variance, jackknife and permutations: each against a plain twin that refits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte.errors import NotEnoughData
from alacarte.inference import regression_noise


def plain(x, y, clusters, equal=True):
    """(coefficients, covariance of each output, debiased squared lengths), by the formulas."""
    n, k = x.shape
    units = np.arange(n) if clusters is None else clusters
    weight = np.ones(n)
    if clusters is not None and equal:
        weight = 1 / np.array([np.sum(clusters == c) for c in clusters])
    gram = np.linalg.inv(x.T @ (weight[:, None] * x))
    b = gram @ x.T @ (weight[:, None] * y)
    e = y - x @ b
    names = np.unique(units)
    covariance = np.zeros((y.shape[1], k, k))
    for name in names:
        rows = units == name
        score = gram @ (x[rows] * weight[rows, None]).T @ e[rows]
        covariance += np.einsum("pd,qd->dpq", score, score)
    covariance *= len(names) / (len(names) - 1) * (n - 1) / (n - k)
    return b, covariance, (b**2).sum(axis=1) - np.einsum("dpp->p", covariance)


def example(seed, n=40, d=4, clustered=False, k=3):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.normal(size=(n, k - 2))])
    y = rng.normal(size=(n, d)) * (1 + x[:, 1:2]) + x[:, 1:2]
    return x, y, rng.permutation(np.arange(n) % 11) if clustered else None


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_fit_and_variance(clustered, equal, k):
    x, y, clusters = example(0, clustered=clustered, k=k)
    fit, _ = regression_noise.least_squares(x, y, clusters, equal_clusters=equal)
    b, covariance, debiased = plain(x, y, clusters, equal)
    np.testing.assert_allclose(fit.coefficients, b, atol=1e-12)
    lengths = (fit.coefficients**2).sum(axis=1)
    np.testing.assert_allclose(lengths - regression_noise.noise(fit, np.eye(k), "HC1"), debiased, atol=1e-12)
    combination = np.arange(k)[None] - 1.0
    np.testing.assert_allclose(
        regression_noise.noise(fit, combination, "HC1"), np.einsum("mp,dpq,mq->m", combination, covariance, combination)
    )


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.integers(2, 4))
def test_jackknife_is_refitting_without_each_unit(seed, clustered, equal, k):
    x, y, clusters = example(seed, clustered=clustered, k=k)
    fit, _ = regression_noise.least_squares(x, y, clusters, equal_clusters=equal)
    found = regression_noise.jackknife(fit, np.eye(k))
    units = np.arange(len(x)) if clusters is None else clusters
    want = [
        plain(x[units != unit], y[units != unit], None if clusters is None else clusters[units != unit], equal)[2]
        for unit in np.unique(units)
    ]
    np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-10)


def test_jackknife_in_blocks(monkeypatch):
    x, y, clusters = example(1, clustered=True)
    whole = regression_noise.jackknife(
        regression_noise.least_squares(x, y, clusters, equal_clusters=True)[0], np.eye(3)
    )
    monkeypatch.setattr(regression_noise, "SCORES_AT_ONCE", 30)
    for units in (clusters, None):
        fit, _ = regression_noise.least_squares(x, y, units, equal_clusters=True)
        if units is clusters:
            np.testing.assert_allclose(regression_noise.jackknife(fit, np.eye(3)), whole)
        assert len(list(fit.blocks())) > 3


def test_a_covariate_far_from_zero_costs_no_precision():
    x, y, _ = example(2)
    far = x.copy()
    far[:, 2] += 1e6
    a, b = (
        regression_noise.jackknife(
            regression_noise.least_squares(design, y, None, equal_clusters=True)[0], np.eye(3)[1:]
        )
        for design in (x, far)
    )
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_level_with_one_row_cannot_be_left_out():
    x, y, _ = example(3)
    lone = np.column_stack([x, np.eye(len(x))[:, 5]])
    fit, _ = regression_noise.least_squares(lone, y, None, equal_clusters=True)
    found = regression_noise.jackknife(fit, np.eye(4))
    assert np.isnan(found[5, 3])
    assert np.isfinite(found[5, 1])
    np.testing.assert_allclose(found[5, 1], plain(np.delete(x, 5, 0), np.delete(y, 5, 0), None)[2][1])


@pytest.mark.parametrize("studentised", [False, True])
def test_permutations_against_refitting(studentised):
    x, y, _ = example(4)
    fit, _ = regression_noise.least_squares(x, y, None, equal_clusters=True)
    observed = (plain(x, y, None)[0] ** 2).sum(axis=1)
    residuals = fit.residuals
    if studentised:
        residuals = residuals / np.sqrt(1 - np.einsum("np,np->n", fit.z, fit.z))[:, None]
    own = (residuals**2).sum(axis=1)

    def noise_of(design, squares=own[:, None]):
        """Σ over rows of what a row gives each coefficient, squared, times its squared residual."""
        return (squares * (design @ np.linalg.inv(design.T @ design)) ** 2).sum(axis=0)

    held = []  # squared residuals of the models without one of the coefficients
    for place in range(3):
        rest = np.delete(x, place, axis=1)
        hat = rest @ np.linalg.pinv(rest)
        held.append(np.square(y - hat @ y).sum(axis=1) / (1 - np.diag(hat)))
    observed_noise = noise_of(x, np.stack(held, axis=1))
    rng = np.random.default_rng(7)
    exceeding = np.zeros(3)
    for _ in range(60):
        order = rng.permutation(len(x))
        length = (plain(x[order], residuals, None)[0] ** 2).sum(axis=1)
        if studentised:
            exceeding += length / noise_of(x[order]) >= observed / observed_noise
        else:
            exceeding += length > observed
    found = regression_noise.permute(fit, np.eye(3), 60, np.random.default_rng(7), studentised)
    np.testing.assert_array_equal(found, exceeding)


@pytest.mark.parametrize("clustered", [False, True])
def test_joint_tests_against_refitting(clustered):
    """Two coefficients at once: the statistic is that of the explained sum of squares, whatever their scales."""
    x, y, clusters = example(9, clustered=clustered)
    y = np.random.default_rng(2).normal(size=y.shape)
    fit, order = regression_noise.least_squares(x, y, clusters)
    x, y = x[order], y[order]
    both = np.eye(3)[1:]
    stretched = both @ np.diag([1.0, 3.0, 0.2]) + np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])  # spans the same
    found = [regression_noise.permute(fit, [test], 60, np.random.default_rng(7))[0] for test in (both, stretched)]
    assert found[0] == found[1]
    rest = np.eye(len(x)) - np.outer(x[:, 0], x[:, 0]) / (x[:, 0] @ x[:, 0])
    axes = np.linalg.svd(rest @ x[:, 1:], full_matrices=False)[0]  # the design without the constant
    rng, want = np.random.default_rng(7), 0
    if clustered:
        signs = rng.integers(0, 2, size=(fit.clusters, 60)).T * 2.0 - 1
        under_null = rest @ y
        for flips in signs:
            flipped = (axes * flips[fit.units][:, None]).T @ under_null
            hat = (axes * flips[fit.units][:, None]).T @ rest
            want += np.trace(flipped.T @ np.linalg.inv(hat @ hat.T) @ flipped) >= np.square(axes.T @ y).sum()
    else:
        residuals = fit.residuals / np.sqrt(1 - np.einsum("np,np->n", fit.z, fit.z))[:, None]
        own = (residuals**2).sum(axis=1)
        held = np.square(rest @ y).sum(axis=1) / np.diag(rest)
        observed = np.square(axes.T @ y).sum() / (held @ (axes**2).sum(axis=1))
        for _ in range(60):
            shuffled = axes[rng.permutation(len(x))]
            want += np.square(shuffled.T @ residuals).sum() / (own @ (shuffled**2).sum(axis=1)) >= observed
    assert found[0] == want
    assert 0 < want < 60


def test_the_jackknife_says_beforehand_that_it_would_not_fit_into_memory():
    rng = np.random.default_rng(0)
    fit, _ = regression_noise.least_squares(rng.normal(size=(300, 120)), rng.normal(size=(300, 2)), None)
    with pytest.raises(NotEnoughData, match="GiB"):
        regression_noise.jackknife(fit, np.eye(120)[:1])


@pytest.mark.parametrize("clustered", [False, True])
def test_permutations_in_blocks(monkeypatch, clustered):
    x, y, clusters = example(5, clustered=clustered)
    fit, _ = regression_noise.least_squares(x, y, clusters, equal_clusters=True)
    whole = regression_noise.permute(fit, np.eye(3), 30, np.random.default_rng(0))
    monkeypatch.setattr(regression_noise, "SCORES_AT_ONCE", 200)
    monkeypatch.setattr(regression_noise, "PERMUTED", 150)
    np.testing.assert_array_equal(regression_noise.permute(fit, np.eye(3), 30, np.random.default_rng(0)), whole)


def test_sign_flips_of_clusters_against_refitting():
    """Refit without the effect, flip residuals of whole clusters, and divide by the variance that white noise has."""
    x, y, clusters = example(6, clustered=True)
    fit, order = regression_noise.least_squares(x, y, clusters, equal_clusters=True)
    root = np.sqrt(fit.weights)[:, None]
    xw, yw = x[order] * root, y[order] * root
    signs = np.random.default_rng(3).integers(0, 2, size=(fit.clusters, 40)).T * 2.0 - 1
    combinations = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 1.0, -1.0]])
    exceeding = np.zeros(3)
    for place, combination in enumerate(combinations):
        under_null = xw @ np.linalg.svd(combination[None])[2][1:].T  # columns of all models without the effect
        hat = under_null @ np.linalg.pinv(under_null)
        residuals = yw - hat @ yw
        weights = combination @ np.linalg.inv(xw.T @ xw) @ xw.T  # what the estimate gives each row
        lengths = [
            np.square(flipped @ residuals).sum() / np.square(flipped - hat @ flipped).sum()
            for flipped in (weights * flips[fit.units] for flips in signs)
        ]
        length = np.square(weights @ yw).sum() / np.square(weights).sum()
        assert length == pytest.approx(np.square(weights @ residuals).sum() / np.square(weights - hat @ weights).sum())
        exceeding[place] = (np.array(lengths) >= length).sum()
    assert 0 < exceeding.max() < 40
    found = regression_noise.permute(fit, combinations, 40, np.random.default_rng(3))
    np.testing.assert_array_equal(found, exceeding)


def test_sign_flips_of_a_term_that_is_the_other_groups_opposite():
    """Two halves of equal size: a flip of one of them leaves nothing of the effect, which is not 0 / 0."""
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(4), 3)
    x = np.column_stack([np.ones(12), clusters < 2])
    fit, _ = regression_noise.least_squares(x, rng.normal(size=(12, 3)) + 5 * x[:, 1:], clusters)
    found = regression_noise.permute(fit, np.eye(2)[1:], 1600, np.random.default_rng(0))[0]
    assert 150 < found < 250  # only no flip and all flips reach it: 2 of 16


def test_which_combinations_rest_on_a_single_unit():
    x, y, clusters = example(3, clustered=True)
    for units, lone in ((None, np.eye(len(x))[:, 5]), (clusters, (clusters == 4).astype(float))):
        fit, _ = regression_noise.least_squares(np.column_stack([x, lone]), y, units, equal_clusters=True)
        assert regression_noise.on_one_unit(fit, np.eye(4)).tolist() == [False, False, False, True]
    fit, _ = regression_noise.least_squares(x, y, None, equal_clusters=True)
    assert not regression_noise.on_one_unit(fit, np.eye(3)).any()
