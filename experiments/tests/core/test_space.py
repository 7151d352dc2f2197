"""A space without mean and top components: sums move along, and what is removed is gone."""

import numpy as np
import pytest
from alacarte_experiments.fewshot.component_removal import ComponentRemoval
from hypothesis import given
from hypothesis import strategies as st

from alacarte import WordVectors, collect
from alacarte.errors import BadSums, NotEnoughData

WORDS = [f"w{i}" for i in range(30)]


def made(seed=0):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(30, 6)) + rng.normal(size=(30, 1)) * 5 * rng.normal(size=6) + 3
    return WordVectors(WORDS, matrix), rng


@given(
    st.integers(0, 99),
    st.integers(0, 4),
    st.sampled_from(["occurrence", "token", "context"]),
    st.sampled_from([None, {"w1": 0.3, "w2": 0.0}]),
    st.sampled_from(["uniform", "linear"]),
)
def test_moved_sums_are_the_sums_of_moved_vectors(seed, components, averaging, weights, positions):
    vectors, rng = made(seed)
    text = [" ".join(rng.choice([*WORDS, "unknown"], 12)) for _ in range(20)]
    options = {"window": 3, "averaging": averaging, "context_weights": weights, "positions": positions}
    space = ComponentRemoval.of(vectors, components)
    moved = space.vectors(vectors)
    there = collect(moved, text, **options, show_progress=False)
    along = space.sums(collect(vectors, text, **options, show_progress=False), moved)
    assert along.fingerprint == there.fingerprint
    np.testing.assert_allclose(along.vectors(), there.vectors(), atol=2e-4)
    np.testing.assert_allclose(along.means(), there.means(), atol=2e-4)


def test_what_is_removed_is_gone_and_the_rest_keeps_its_angles():
    vectors, _ = made()
    for components in (0, 1, 3):
        moved = ComponentRemoval.of(vectors, components).vectors(vectors).matrix.astype(np.float64)
        assert moved.shape == (30, 6 - components)
        np.testing.assert_allclose(moved.mean(axis=0), 0, atol=1e-5)
        centred = vectors.matrix - vectors.matrix.mean(axis=0)
        _, values, axes = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
        plain = centred @ (np.eye(6) - axes[:components].T @ axes[:components])
        np.testing.assert_allclose(moved @ moved.T, plain @ plain.T, atol=1e-3)
        np.testing.assert_allclose(np.linalg.svd(moved)[1], values[components:], rtol=1e-4)


def test_rows_decide_whose_mean_it_is():
    vectors, _ = made()
    space = ComponentRemoval.of(vectors, 0, np.arange(10))
    np.testing.assert_allclose(space.mean, vectors.matrix[:10].mean(axis=0), atol=1e-6)


def test_errors():
    vectors, _ = made()
    with pytest.raises(NotEnoughData, match="6 components cannot be removed"):
        ComponentRemoval.of(vectors, 6)
    with pytest.raises(NotEnoughData, match="remove fewer"):
        ComponentRemoval.of(vectors, 2, np.arange(2))
    other = WordVectors(["a"], [[1.0]])
    sums = collect(other, ["a a"], window=1, show_progress=False)
    with pytest.raises(BadSums, match="6 dimensions, the sums have 1"):
        ComponentRemoval.of(vectors, 1).sums(sums, vectors)
