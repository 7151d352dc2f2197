"""Intervals for squared lengths: the noise, the moments, the tails and the limits, each against a plain twin."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from alacarte.inference import lengths as squared_lengths
from alacarte.inference import regression_noise
from alacarte.inference.lengths import Length, Noise, noise_of_each, score_interval, tails


def example(seed, n=40, d=4, clustered=False):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.normal(size=n)])
    y = rng.normal(size=(n, d)) * (1 + x[:, 1:2]) + x[:, 1:2]
    clusters = rng.permutation(np.arange(n) % 9) if clustered else None
    return x, y, clusters


def corrected_scores(x, y, clusters, combination):
    """The scores of a combination with (I − H)^(−½) written out in full, for data whitened by the weights."""
    units = np.arange(len(x)) if clusters is None else clusters
    weight = 1 / np.array([np.sum(units == unit) for unit in units])
    xw, yw = x * np.sqrt(weight)[:, None], y * np.sqrt(weight)[:, None]
    inverse = np.linalg.inv(xw.T @ xw)
    hat = xw @ inverse @ xw.T
    residuals = yw - hat @ yw
    found = []
    for unit in np.unique(units):
        rows = units == unit
        values, vectors = np.linalg.eigh(np.eye(rows.sum()) - hat[np.ix_(rows, rows)])
        adjusted = vectors @ np.diag(values**-0.5) @ vectors.T @ residuals[rows]
        found.append(combination @ inverse @ xw[rows].T @ adjusted)
    return np.array(found)


@pytest.mark.parametrize("clustered", [False, True])
def test_noise_against_products_of_different_units(clustered):
    x, y, clusters = example(0, clustered=clustered)
    fit, _ = regression_noise.least_squares(x, y, clusters, equal_clusters=True)
    combination = np.array([0.5, 1.0, -1.0])
    s = corrected_scores(x, y, clusters, combination)
    noise = noise_of_each(fit, combination[None])[0]
    assert noise.total == pytest.approx((s**2).sum())
    assert regression_noise.noise(fit, combination[None])[0] == pytest.approx((s**2).sum())
    gram = s @ s.T
    pairs = sum(gram[g, h] ** 2 for g, h in itertools.permutations(range(len(s)), 2))
    triples = sum(gram[g, h] * gram[h, i] * gram[i, g] for g, h, i in itertools.permutations(range(len(s)), 3))
    tied, single = (float(part[0]) for part in squared_lengths.ties(fit, fit.combined(combination[None])))
    second = (pairs - tied * noise.total**2) / (1 - single + tied)
    assert noise.second == pytest.approx(max(second, pairs / (1 - single) * 2 / 3, noise.total**2 / 4))
    assert noise.third == pytest.approx(max(triples, 0.0))
    np.testing.assert_allclose(noise.axes * noise.values @ noise.axes.T, s.T @ s, atol=1e-12)
    assert noise.variances.sum() == pytest.approx(noise.total)
    assert noise.variances @ noise.values == pytest.approx(noise.second)


@pytest.mark.parametrize("clustered", [False, True])
def test_ties_are_those_of_scores_of_white_noise(clustered):
    """The covariance of the scores, exactly: each as a linear function of the data, which are white."""
    x, _, clusters = example(1, clustered=clustered)
    combination = np.array([0.5, 1.0, -1.0])
    units = np.arange(len(x)) if clusters is None else clusters
    sizes = np.array([np.sum(units == unit) for unit in units])
    whitened = np.diag(np.sqrt(sizes))  # an output for each row, with the variance the weights stand for
    scores = corrected_scores(x, whitened, clusters, combination)
    covariance = scores @ scores.T
    variances = np.diag(covariance)
    fit, _ = regression_noise.least_squares(x, np.zeros((len(x), 1)), clusters, equal_clusters=True)
    tied, single = (float(part[0]) for part in squared_lengths.ties(fit, fit.combined(combination[None])))
    assert single == pytest.approx((variances**2).sum() / variances.sum() ** 2)
    assert tied == pytest.approx(((covariance**2).sum() - (variances**2).sum()) / variances.sum() ** 2)


def known(variances, share=1e-9):
    """Noise of which everything is known."""
    values = np.sort(np.asarray(variances, dtype=float))
    powers = [float((values**power).sum()) for power in (1, 2, 3)]
    return Noise(*powers, share, np.eye(len(values)), values, values)


def test_even_noise_is_chi_squared():
    """Then the moments do not depend on the direction, and at 0 the gamma distribution is the exact one."""
    b = np.random.default_rng(0).normal(size=10) * 1.5
    length = Length.of(b, known(np.ones(10)))
    theta = np.array([0.0, 0.5, 3.0, 40.0])
    np.testing.assert_allclose(length.moments(theta), (20 + 4 * theta, 80 + 24 * theta), rtol=1e-6)
    assert length.places(theta)[0][0] == pytest.approx(stats.chi2.cdf(b @ b, 10), rel=1e-6)


def test_moments_follow_the_direction_of_the_effect():
    """Long effects: β'Vβ is that of the direction, and the θ asked about hardly changes where the effect lies."""
    variances = np.array([0.01, 0.1, 1.0, 10.0])
    for place, variance in enumerate(variances):
        length = Length.of(np.eye(4)[place] * 1000, known(variances))
        second, third = (float(moment[0]) for moment in length.moments(np.array([length.estimate])))
        assert length.error() == pytest.approx(np.sqrt(second))
        assert second == pytest.approx(2 * (variances**2).sum() + 4 * variance * length.estimate, rel=0.02)
        assert third == pytest.approx(8 * (variances**3).sum() + 24 * variance**2 * length.estimate, rel=0.05)


@pytest.mark.parametrize("distance", [0.05, 0.5, 1.0, 1.7])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_tails_are_of_the_likeliest_values(distance, level):
    """The plain twin: values in the order of their likelihood over that of the best truth, until there are enough."""
    grid = np.linspace(-12, 12, 400_001)
    ratio = stats.norm.logpdf(grid - distance) - stats.norm.logpdf(grid - np.maximum(grid, 0))
    order = np.argsort(-ratio, kind="stable")
    mass = np.cumsum(stats.norm.pdf(grid[order] - distance)) * (grid[1] - grid[0])
    taken = grid[order[: np.searchsorted(mass, level)]]
    below, above = (float(tail[0]) for tail in tails(np.array([distance]), level))
    assert below + above == pytest.approx(1 - level)
    assert below == pytest.approx(special.ndtr(taken.min() - distance), abs=2e-5)
    assert above == pytest.approx(special.ndtr(distance - taken.max()), abs=2e-5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 4), st.sampled_from([0.8, 0.95, 0.99]), st.sampled_from([0.005, 0.1]))
def test_an_interval_has_the_lengths_that_are_not_in_a_tail(seed, effect, level, share):
    rng = np.random.default_rng(seed)
    noise = known(rng.gamma(0.5, size=8) + 1e-3, share)
    b = rng.normal(size=8) * np.sqrt(noise.variances) + effect * np.sqrt(noise.total) * np.eye(8)[seed % 8]
    length = Length.of(b, noise)
    lower, upper = length.interval(level)
    assert 0 <= lower <= max(length.estimate, 0) <= upper
    theta = np.linspace(0, 2 * upper, 50)
    position, distance = length.places(theta)
    below, above = tails(distance, level)
    accepted = (below <= position) & (position <= 1 - above)
    between = (lower - 1e-6 * upper <= theta) & (theta <= upper * (1 + 1e-6))
    assert np.all(between | ~accepted)
    for limit in (lower, upper):  # one step inside it is accepted, one outside is not
        inner, outer = limit + np.array([1e-5, -1e-5]) * upper * (1 if limit == lower else -1)
        assert max(tail[0] for tail in length.outside(np.array([inner]), level)) <= 0 or inner > upper
        assert outer < 0 or max(tail[0] for tail in length.outside(np.array([outer]), level)) > 0
    narrower = length.interval(level - 0.1)
    assert lower <= narrower[0]
    assert narrower[1] <= upper


def test_an_interval_holds_zero_unless_a_one_sided_test_rejects_it():
    noise = known(np.ones(6))
    for quantile, holds in ((0.94, True), (0.96, False)):
        b = np.eye(6)[0] * np.sqrt(stats.chi2.ppf(quantile, 6))
        assert (Length.of(b, noise).interval(0.95)[0] == 0) is holds
    low, high = Length.of(np.zeros(6), noise).interval(0.95)  # as far below the noise as can be
    assert low == 0
    assert 0 < high < 2 * 6


@pytest.mark.parametrize("clustered", [False, True])
def test_scale_and_rotation(clustered):
    """Intervals of squared lengths scale with the square and do not know the axes."""
    x, y, clusters = example(3, n=60, clustered=clustered)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    terms = np.eye(3)[1:]
    one = score_interval(regression_noise.least_squares(x, y, clusters, equal_clusters=True)[0], terms, 0.95)
    other = score_interval(
        regression_noise.least_squares(x, 10 * y @ rotation, clusters, equal_clusters=True)[0], terms, 0.95
    )
    np.testing.assert_allclose(np.array(other), 100 * np.array(one), rtol=1e-6)


def test_without_noise_there_is_nothing_to_be_unsure_of():
    x, _, _ = example(4)
    fit, _ = regression_noise.least_squares(x, np.zeros((40, 3)), None)
    assert np.array(squared_lengths.score_interval(fit, np.eye(3)[1:], 0.95)[:3]).tolist() == [[0, 0]] * 3


def test_a_single_output_is_students_t():
    """One output: the interval of its square holds 0 exactly where the t test does not reject, for equal noise."""
    rng = np.random.default_rng(5)
    agree = 0
    for _ in range(100):
        x = np.column_stack([np.ones(30), np.arange(30) % 2])
        y = rng.normal(size=(30, 1)) + 0.7 * x[:, 1:]
        fit, _ = regression_noise.least_squares(x, y, None, equal_clusters=True)
        holds = score_interval(fit, np.eye(2)[1:], 0.95)[1][0] == 0
        agree += holds == (stats.ttest_ind(y[::2], y[1::2]).pvalue[0] > 0.05)
    assert agree >= 97


@pytest.mark.parametrize("clusters", [None, 8, 25])
def test_a_p_value_and_an_interval_are_one_test(clusters):
    """At every level: the interval holds 0 if and only if p is above it, also where permutations say otherwise."""
    bent = rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        codes = None if clusters is None else rng.integers(0, clusters, 50)
        x = np.column_stack([np.ones(50), (np.arange(50) if codes is None else codes) % 2])
        y = rng.normal(size=(50, 3)) * rng.gamma(1.0, size=(50, 1)) + 0.5 * x[:, 1:]
        fit, _ = regression_noise.least_squares(x, y, codes)
        p = (1 + regression_noise.permute(fit, np.eye(2)[1:], 99, rng)) / 100
        for level in (0.9, 0.95):
            _, low, _, agreed = score_interval(fit, np.eye(2)[1:], level, p, 0.01)
            assert (low[0] > 0) == (agreed[0] < 1 - level + 1e-9)
        own = score_interval(fit, np.eye(2)[1:], 0.95)[1][0]
        bent += (own > 0) != (low[0] > 0)
        rejected += low[0] > 0
    assert 0 < rejected < 40
    assert bent


def test_a_p_value_that_permutations_cannot_make_smaller_does_not_widen():
    fit, _ = regression_noise.least_squares(*example(3)[:2], None)
    strong, _ = regression_noise.least_squares(example(3)[0], example(3)[1] + 9 * example(3)[0][:, 1:2], None)
    term = np.eye(3)[1:2]
    assert np.array_equal(
        score_interval(strong, term, 0.95, np.array([0.01]), 0.01)[:3], score_interval(strong, term, 0.95)[:3]
    )
    wide, plain = score_interval(fit, term, 0.95, np.array([0.9]), 0.01), score_interval(fit, term, 0.95)
    assert wide[1][0] == 0
    assert wide[2][0] != plain[2][0]
