"""Agreement against a plain twin; who counts less, and when nobody does."""

import numpy as np
import pytest
from alacarte_experiments.fewshot.agreement import agreement_weights
from hypothesis import given
from hypothesis import strategies as st

from alacarte.errors import AlacarteError


def plain(rows, power=0.5, rounds=5):
    """The same in loops."""
    units = [np.array(row) / np.linalg.norm(row) for row in rows]
    n = len(units)
    weights = [1.0] * n

    def cosines():
        found = []
        for i in range(n):
            others = sum((weights[j] * units[j] for j in range(n) if j != i), np.zeros(len(units[0])))
            found.append(float(units[i] @ others / np.linalg.norm(others)))
        return found

    for _ in range(rounds):
        raw = [max(cosine, 1e-3) ** (power * n / (n + 8)) for cosine in cosines()]
        weights = [value / (sum(raw) / n) for value in raw]
    return weights, cosines()


@given(st.integers(0, 10_000), st.integers(4, 9), st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.integers(1, 6))
def test_against_the_twin(seed, n, power, rounds):
    rows = np.random.default_rng(seed).normal(size=(n, 5)) + 1
    weights, cosines = agreement_weights(rows, power=power, rounds=rounds)
    expected, of = plain(rows, power, rounds)
    np.testing.assert_allclose(weights, expected, rtol=1e-9)
    np.testing.assert_allclose(cosines, of, rtol=1e-9)
    assert weights.mean() == pytest.approx(1)
    order = np.random.default_rng(seed).permutation(n)
    lengths = np.random.default_rng(seed).uniform(0.1, 9, size=(n, 1))  # how long a context is does not matter
    np.testing.assert_allclose(
        agreement_weights((rows * lengths)[order], power=power, rounds=rounds)[0], weights[order], rtol=1e-9
    )


def test_fewer_than_four_count_alike():
    rows = np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    assert agreement_weights(rows)[0].tolist() == [1, 1, 1]
    assert agreement_weights(np.vstack([rows, [1.0, 0.05]]))[0][2] < 0.5
    assert agreement_weights(np.zeros((5, 2)))[0].tolist() == [1] * 5


def test_contexts_without_a_known_word_are_none():
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.2], [0.9, 0.1], [1.0, 0.0]])
    weights, cosines = agreement_weights(rows)
    assert weights[1] == 0
    assert np.isnan(cosines[1])
    assert weights.mean() == pytest.approx(1)


def test_errors():
    with pytest.raises(AlacarteError, match="rows of a matrix"):
        agreement_weights([1.0, 2.0])
