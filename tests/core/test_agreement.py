"""Agreement against a plain twin; who counts less, and when nobody does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.agreement import agreement_weights
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


def test_a_model_that_listens():
    vectors = WordVectors(["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.2]])
    model = ALaCarte(vectors, Transform(np.eye(2)))
    contexts = ["a x c", "c x", "a x a", "x c a", "b x b"]
    found = model.agreement(contexts, target="x")
    assert found.weights.argmin() == 4
    assert found.contexts[4] == "b x b"
    listened = model.embed(contexts, target="x", agreement=True)
    assert listened.tolist() == found.vector.tolist()
    plainly = model.embed(contexts, target="x")
    assert listened[1] / listened[0] < 0.8 * plainly[1] / plainly[0]
    few = contexts[:3]
    np.testing.assert_allclose(model.embed(few, target="x", agreement=True), model.embed(few, target="x"), rtol=1e-6)
    frame = found.to_frame()
    assert list(frame.columns) == ["weight", "cosine", "context"]


@pytest.mark.parametrize("averaging", ["occurrence", "token", "context"])
def test_every_average_is_weighted(averaging):
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(9)], rng.normal(size=(9, 4)) + 1)
    from alacarte.contexts.reading import Reading

    transform = Transform(rng.normal(size=(4, 4)), settings=Reading(3, 3, averaging))
    model = ALaCarte(vectors, transform)
    contexts = ["w0 w1 x w2", "w3 x w4", "w5 w6 w1 x w7", "x w8 w2"]
    found = model.agreement(contexts, target="x")
    sums, weights = [], []
    for text in contexts:
        known = [vectors[word] for word in text.split() if word != "x"]
        divisor = len(known) if averaging == "context" else 1
        sums.append(np.sum(known, axis=0) / divisor)
        weights.append(len(known) if averaging == "token" else 1)
    top = sum(weight * total for weight, total in zip(found.weights, sums, strict=True))
    mean = top / sum(weight * by for weight, by in zip(found.weights, weights, strict=True))
    np.testing.assert_allclose(found.vector, transform(mean), rtol=1e-4)


def test_errors():
    with pytest.raises(AlacarteError, match="rows of a matrix"):
        agreement_weights([1.0, 2.0])
