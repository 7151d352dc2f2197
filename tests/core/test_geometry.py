"""Unit rows, cosines and principal components, against their definitions on random input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte.errors import NotEnoughData
from alacarte.vectors.geometry import cosines, top_components, unit_rows

random = np.random.default_rng(5)


@given(st.integers(1, 20), st.integers(1, 9), st.sampled_from([1e-300, 1e-20, 1.0, 1e150, 1e300]), st.integers(0, 99))
def test_unit_rows(n, d, scale, seed):
    rows = np.random.default_rng(seed).normal(size=(n, d)) * scale
    rows[0] = 0
    units = unit_rows(rows)
    assert not units[0].any()
    np.testing.assert_allclose(np.linalg.norm(units[1:], axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(
        units[1:] * np.abs(rows[1:]).max(axis=1, keepdims=True) / np.abs(units[1:]).max(axis=1, keepdims=True),
        rows[1:],
        rtol=1e-12,
    )
    np.testing.assert_array_equal(unit_rows(rows[-1]), units[-1])


def test_unit_rows_leave_what_they_are_given(tmp_path):
    rows = random.normal(size=(4, 3)).astype(np.float32)
    before = rows.copy()
    assert unit_rows(rows).dtype == np.float64
    np.testing.assert_array_equal(rows, before)


def test_scaling_rounds_nothing():
    rows = random.normal(size=(200, 7))
    plain = rows / np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(unit_rows(rows), plain)
    np.testing.assert_array_equal(unit_rows([5e-324, 0.0]), [1.0, 0.0])


def test_cosines():
    a, b = random.normal(size=(2, 50, 7))
    plain = [float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y))) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(cosines(a, b), plain, atol=1e-15)
    np.testing.assert_allclose(cosines(a, b[0]), [float(unit_rows(x) @ unit_rows(b[0])) for x in a], atol=1e-15)
    assert float(cosines(a[0], a[0])) == pytest.approx(1, abs=1e-15)
    assert (cosines(a, a) <= 1).all()
    assert (cosines(a, np.zeros(7)) == 0).all()


@pytest.mark.parametrize("n", [5, 9, 40_000])
def test_top_components(n):
    rows = (random.normal(size=(n, 6)) * [9, 7, 5, 3, 2, 1] + 4).astype(np.float32)
    k = 3
    components = top_components(rows, k)
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    expected = np.linalg.svd(centred, full_matrices=False)[2][:k]
    np.testing.assert_allclose(np.abs((components * expected).sum(axis=1)), 1, atol=1e-9)
    np.testing.assert_allclose(components @ components.T, np.eye(k), atol=1e-12)
    assert (components[np.arange(k), np.abs(components).argmax(axis=1)] > 0).all()


def test_too_many_components():
    with pytest.raises(NotEnoughData, match="3 principal components"):
        top_components(np.eye(2), 3)
    assert top_components(np.eye(2), 0).shape == (0, 2)
