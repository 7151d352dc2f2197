"""Embeddings of contexts, groups and features."""

import numpy as np
import pandas as pd
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, BadTransform, NotEnoughData
from alacarte.regression import compute_transform, contexts, cooccurrences, dem, dem_group, dem_sample, fem
from alacarte.regression._space import EmbeddingSpace

WORDS = ["a", "b", "c", "US", "us"]
RNG = np.random.default_rng(0)
VECTORS = (WORDS, RNG.normal(size=(5, 3)))
MATRIX = RNG.normal(size=(3, 3))


def test_the_mean_of_known_words_transformed():
    found = dem([["a", "b", "b", "x"], ["x", ""], ["c"]], VECTORS, MATRIX)
    v = VECTORS[1]
    np.testing.assert_allclose(found.matrix[0], MATRIX @ (v[0] + 2 * v[1]) / 3, atol=1e-14)
    np.testing.assert_allclose(found.matrix[1], MATRIX @ v[2], atol=1e-14)
    assert (found.dropped, found.rows.tolist(), found.features) == (1, [0, 2], ["a", "b", "c"])


def test_case_of_tokens():
    for case, expected in (("fold", [3, 0]), ("lower", [4, 0]), ("exact", [3, None])):
        found = dem([["US"], ["A"]], VECTORS, case=case)
        want = [VECTORS[1][row] for row in expected if row is not None]
        np.testing.assert_allclose(found.matrix, want)


def test_a_model_keeps_its_own_average():
    vectors = WordVectors(WORDS[:3], VECTORS[1][:3])
    settings = Reading(left=2, right=2, averaging="occurrence")
    model = ALaCarte(vectors, Transform(np.eye(3), settings=settings))
    found = dem([["a", "b"]], model)
    np.testing.assert_allclose(found.matrix[0], vectors.matrix[0].astype(float) + vectors.matrix[1], rtol=1e-6)
    assert EmbeddingSpace.of(model).window == (2, 2)
    np.testing.assert_allclose(
        dem([["a", "b"]], EmbeddingSpace.of(model, averaging="context")).matrix * 2, found.matrix
    )


def test_as_the_facade_embeds():
    vectors = WordVectors(WORDS[:3], VECTORS[1][:3])
    model = ALaCarte(vectors, Transform(MATRIX, settings=Reading(left=2, right=2)))
    text = ["a b x c a", "x b"]
    found = dem(contexts(text, "x", window=2, known=vectors), model)
    np.testing.assert_allclose(found.matrix, model.embed(text, target="x", each=True), rtol=1e-5)


def test_groups():
    frame = pd.DataFrame({"text": ["a t", "b t", "c t", "a t"], "g": pd.Categorical(list("yxyz"), list("zyxw"))})
    found = dem(contexts(frame, "t", window=1), VECTORS)
    means = dem_group(found, "g")
    assert means.names == ["z", "y", "x"]  # in the order of the levels; the unused one is left out
    np.testing.assert_allclose(means["y"], (VECTORS[1][0] + VECTORS[1][2]) / 2)
    assert means.counts.tolist() == [1, 2, 1]
    with_gap = dem_group(found, ["p", None, "p", "q"])
    assert (with_gap.names, with_gap.dropped) == (["p", "q"], 1)
    crossed = dem_group(dem(contexts(frame.assign(h=[1, 1, 2, 2]), "t", window=1), VECTORS), ["h", "g"])
    assert crossed.names == ["1, y", "1, x", "2, z", "2, y"]
    with pytest.raises(AlacarteError, match="3 groups for 4 rows"):
        dem_group(found, [1, 2, 3])
    with pytest.raises(NotEnoughData, match="missing"):
        dem_group(found, [None] * 4)


def test_samples():
    found = dem([["a"]] * 10 + [["b"]] * 6, VECTORS)
    groups = ["x"] * 10 + ["y"] * 6
    drawn = dem_sample(found, 0.5, by=groups, seed=1)
    assert len(drawn) == 8
    assert len(set(drawn.names)) == 8
    assert dem_sample(found, 0.5, by=groups, seed=1).names == drawn.names
    assert len(dem_sample(found, 2.0, replace=True, seed=0)) == 32
    with pytest.raises(AlacarteError, match="share"):
        dem_sample(found, 2.0)
    with pytest.raises(NotEnoughData, match="less than one row"):
        dem_sample(found, 0.01)
    weights = np.arange(16.0)
    assert "text1" not in dem_sample(found, 0.9, weight=weights, seed=0).names
    for wrong, message in (
        (weights[:5], "5 weights for 16 rows"),
        (-weights, "not negative"),
        (np.zeros(16), "not all 0"),
        (np.eye(16)[0], "1 rows have a weight above 0"),
    ):
        with pytest.raises(AlacarteError, match=message):
            dem_sample(found, 0.5, weight=wrong)


def test_errors():
    with pytest.raises(NotEnoughData, match="language"):
        dem([["x"]], VECTORS)
    with pytest.raises(BadTransform, match="3 × 3"):
        dem([["a"]], VECTORS, np.eye(2))
    with pytest.raises(BadTransform, match="not finite"):
        dem([["a"]], VECTORS, np.full((3, 3), np.nan))


def plain_pairs(docs, window, weights):
    features = list(dict.fromkeys(token for doc in docs for token in doc if token))
    counts = np.zeros((len(features), len(features)))
    for doc in docs:
        for i, left in enumerate(doc):
            for j in range(i + 1, min(i + window, len(doc) - 1) + 1):
                if left and doc[j]:
                    p, q = features.index(left), features.index(doc[j])
                    counts[p, q] += weights[j - i - 1]
                    counts[q, p] += weights[j - i - 1]
    return features, counts


@pytest.mark.parametrize("weights", ["uniform", "inverse"])
def test_cooccurrence_against_a_plain_twin(weights):
    rng = np.random.default_rng(1)
    docs = [rng.choice(["a", "b", "c", "x", ""], size=size).tolist() for size in (1, 7, 20)]
    scale = np.ones(3) if weights == "uniform" else 1 / np.arange(1, 4)
    features, counts = plain_pairs(docs, 3, scale)
    found = cooccurrences(docs, window=3, weights=weights)
    assert found.features == features
    np.testing.assert_allclose(found.counts.toarray(), counts)
    embedded = fem(found, VECTORS, MATRIX)
    known = [feature for feature in features if feature in WORDS]
    for feature in known:
        row = counts[features.index(feature)]
        total = sum(row[features.index(word)] * VECTORS[1][WORDS.index(word)] for word in known)
        mean = total / sum(row[features.index(word)] for word in known)
        np.testing.assert_allclose(embedded[feature], MATRIX @ mean)


def text_of(words, count=60):
    rng = np.random.default_rng(2)
    return [rng.choice(words, 30).tolist() for _ in range(count)]


def test_a_transform_is_the_least_squares_one():
    words = [f"w{number}" for number in range(20)]
    vectors = words, np.random.default_rng(3).normal(size=(20, 3))
    pairs = cooccurrences(text_of(words), window=2)
    found = compute_transform(pairs, vectors, weighting=1)
    u = fem(pairs, vectors)
    v = np.stack([vectors[1][words.index(name)] for name in u.names])
    want = np.linalg.lstsq(u.matrix, v, rcond=None)[0].T
    np.testing.assert_allclose(found.matrix, want, rtol=1e-8)
    assert found.held_out < found.cosine
    np.testing.assert_allclose(dem([["w1"]], vectors, found).matrix[0], want @ vectors[1][1])


def test_too_few_words_for_a_transform():
    words = [f"w{number}" for number in range(4)]
    vectors = words, np.random.default_rng(3).normal(size=(4, 6))
    pairs = cooccurrences(text_of(words, 5), window=2)
    with pytest.raises(NotEnoughData, match="4 words are too few to learn 6 dimensions"):
        compute_transform(pairs, vectors)
    assert (np.abs(compute_transform(pairs, vectors, weighting=1, compat="conText").matrix).sum(axis=0) == 0).sum() == 2
    assert np.isfinite(compute_transform(pairs, vectors, ridge=1.0).matrix).all()
    with pytest.raises(BadTransform, match="weighting"):
        compute_transform(pairs, vectors, weighting="squared")
