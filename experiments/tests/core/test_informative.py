"""Informativeness against a plain twin, and that chance alone makes none."""

import numpy as np
import pytest
from alacarte_experiments.fewshot.informative_weights import informative_weights, informativeness

from alacarte import WordVectors, collect
from alacarte.errors import AlacarteError, BadSums, NotEnoughData, TransformMismatch

D = 6


@pytest.fixture(scope="module")
def world():
    """Words w0 … w39; `any` stands beside all of them, `few` beside the first four, `rare` too, but seldom."""
    rng = np.random.default_rng(3)
    vectors = WordVectors([*(f"w{i}" for i in range(40)), "any", "few", "rare"], rng.normal(size=(43, D)))
    text = []
    for name, most, times in (("any", 40, 900), ("few", 4, 90), ("rare", 4, 3)):
        for _ in range(times):
            words = [f"w{i}" for i in rng.integers(most, size=4)]
            text.append([*words[:2], name, *words[2:]])
    return vectors, text


def plain(vectors, text, window, weights):
    """κ with one loop over everything."""
    tokens, contexts = [], {word: [] for word in vectors.words}
    for words in text:
        tokens += words
        for i, word in enumerate(words):
            contexts[word] += words[max(0, i - window) : i] + words[i + 1 : i + 1 + window]
    pooled = [word for found in contexts.values() for word in found]
    mean = np.average([vectors[word] for word in pooled], axis=0, weights=[weights[word] for word in pooled])
    top = np.mean([weights[word] ** 2 * np.sum((vectors[word] - mean) ** 2) for word in tokens])
    variance = top / np.mean([weights[word] for word in tokens]) ** 2
    result = {}
    for word, found in contexts.items():
        if len(found) >= 200:
            own = np.average([vectors[other] for other in found], axis=0, weights=[weights[other] for other in found])
            result[word] = (np.sum((own - mean) ** 2) - variance / len(found)) / variance
    return result


@pytest.mark.parametrize("specification", [None, {f"w{i}": 0.1 + i / 20 for i in range(40)}])
def test_against_the_twin(world, specification):
    vectors, text = world
    sums = collect(vectors, text, window=2, context_weights=specification, show_progress=False)
    found = informativeness(sums, vectors)
    expected = plain(vectors, text, 2, {word: (specification or {}).get(word, 1.0) for word in vectors.words})
    median = np.median(list(expected.values()))
    for word, value in expected.items():
        assert found[vectors.index(word)] == pytest.approx(max(value, median / 30), rel=1e-4)
    assert found[vectors.index("rare")] == pytest.approx(median)  # too few contexts to tell
    assert found[vectors.index("few")] > 5 * found[vectors.index("any")]


def test_weights(world):
    vectors, text = world
    sums = collect(vectors, text, window=2, show_progress=False)
    share = sums.occurrences / sums.occurrences.sum()
    smooth = 0.01 / (0.01 + share)
    weights = informative_weights(sums, vectors, a=0.01, power=0)
    np.testing.assert_allclose(weights.values, smooth / smooth.max(), rtol=1e-5)
    assert weights.name.startswith("informative:0.01,0#")
    with pytest.raises(TransformMismatch, match="in another order"):
        weights.for_vectors(WordVectors(vectors.words[::-1], vectors.matrix[::-1]))
    told = informative_weights(sums, vectors, a=0.01, power=1).values
    expected = smooth * informativeness(sums, vectors)
    np.testing.assert_allclose(told, expected / expected.max(), rtol=1e-5)


def test_errors(world):
    vectors, text = world
    sums = collect(vectors, text, window=2, show_progress=False)
    with pytest.raises(AlacarteError, match="positive a"):
        informative_weights(sums, vectors, a=0)
    with pytest.raises(BadSums, match="over the whole vocabulary"):
        informativeness(collect(vectors, text, ["w1"], window=2, show_progress=False), vectors)
    with pytest.raises(BadSums, match="occurrence or token"):
        informativeness(collect(vectors, text, averaging="context", show_progress=False), vectors)
    with pytest.raises(NotEnoughData, match="give more text"):
        informativeness(collect(vectors, text[:5], window=2, show_progress=False), vectors)
