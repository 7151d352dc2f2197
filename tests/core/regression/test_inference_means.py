"""The noise of a mean is one thing everywhere, and right."""

import numpy as np
import pytest

from alacarte.inference.cosines import estimate
from alacarte.inference.means import Units, scaled_deviations
from alacarte.inference.regression_noise import least_squares, noise
from alacarte.uncertainty.spread import deviations

SIZES = np.array([1, 1, 2, 3, 9])


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("equal", [False, True])
def test_contexts_spread_and_regression_agree_on_the_noise_of_a_mean(clustered, equal):
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(5), SIZES) if clustered else None
    x = rng.normal(size=(16, 4)) + 1
    weights = 1 / np.bincount(clusters)[clusters] if clustered and equal else None
    units = Units.of(x, clusters, weights)
    fit, _ = least_squares(np.ones((16, 1)), x, clusters, equal_clusters=equal)
    assert units.noise() == pytest.approx(float(noise(fit, np.eye(1))[0]))
    np.testing.assert_allclose(units.mean(), fit.coefficients[0])
    by_group = deviations(units.sums[None], units.sizes[None], [16], np.eye(4))
    assert by_group.noise[0] == pytest.approx(units.noise())
    assert units.debiased_square() == pytest.approx(units.mean() @ units.mean() - units.noise())
    if not clustered:
        assert units.noise() == pytest.approx(x.var(axis=0, ddof=1).sum() / 16)


@pytest.mark.parametrize("alike", [0.0, 0.3, 1.0])
def test_the_noise_of_a_mean_of_units_of_unequal_sizes(alike):
    """Without bias if contexts are independent; if those of a unit are alike, nearer to the truth than with a common
    factor for all units, U / (U − 1) or 1 / (1 − Σ p²), both of which this library had."""
    rng = np.random.default_rng(1)
    samples = 20_000
    own = rng.normal(size=(samples, SIZES.sum()))
    shared = np.repeat(rng.normal(size=(samples, len(SIZES))), SIZES, axis=1)
    x = np.sqrt(1 - alike) * own + np.sqrt(alike) * shared
    sums = np.add.reduceat(x, np.concatenate([[0], np.cumsum(SIZES)[:-1]]), axis=1)
    share = SIZES / SIZES.sum()
    truth = (1 - alike) / SIZES.sum() + alike * float(share @ share)
    means, z, df = scaled_deviations(sums[:, :, None], np.tile(SIZES.astype(float), (samples, 1)))
    found = np.sum(z**2, axis=(1, 2))
    raw = np.sum(((sums - SIZES * means) / SIZES.sum()) ** 2, axis=1)
    factors = len(SIZES) / (len(SIZES) - 1), 1 / (1 - float(share @ share))
    if alike == 0:
        assert found.mean() == pytest.approx(truth, rel=0.03)
        assert 2 * found.mean() ** 2 / found.var() == pytest.approx(df[0], rel=0.06)
        assert raw.mean() * factors[0] < 0.85 * truth
    else:
        assert max(raw.mean() * factor for factor in factors) < found.mean() < truth


def test_intervals_of_cosines_are_cosines():
    rng = np.random.default_rng(2)
    group = Units.of(rng.normal(size=(6, 3)) + np.array([4.0, 0.0, 0.0]))
    found = estimate([group], np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]]), level=0.999)
    assert found["conf_high"][0, 0] == 1.0
    assert np.all(np.abs(found["conf_low"][0]) <= [1.0, 0.5])
