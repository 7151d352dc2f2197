"""Embeddings of contexts, groups and features."""

import numpy as np
import pandas as pd
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, NotEnoughData, TransformMismatch
from alacarte.regression import compat, contexts, dem, dem_group, documents

WORDS = ["a", "b", "c", "US", "us"]
RNG = np.random.default_rng(0)
VECTORS = (WORDS, RNG.normal(size=(5, 3)).astype(np.float32).astype(np.float64))
MATRIX = RNG.normal(size=(3, 3)).astype(np.float32).astype(np.float64)
MEANS = ALaCarte(VECTORS, Transform(MATRIX, settings=Reading(averaging="context")))


def test_the_mean_of_known_words_transformed():
    found = dem([["a", "b", "b", "x"], ["x", ""], ["c"]], MEANS)
    v = VECTORS[1]
    np.testing.assert_allclose(found.matrix[0], MATRIX @ (v[0] + 2 * v[1]) / 3, atol=1e-14)
    np.testing.assert_allclose(found.matrix[1], MATRIX @ v[2], atol=1e-14)
    assert (found.dropped, found.rows.tolist(), found.features) == (1, [0, 2], ["a", "b", "c"])


def test_words_are_looked_up_as_written_else_lower_cased():
    found = dem([["US"], ["A"]], VECTORS)
    np.testing.assert_allclose(found.matrix, VECTORS[1][[3, 0]])
    lowered = compat.dem(documents([["US"], ["A"]]), VECTORS)
    np.testing.assert_allclose(lowered.matrix, VECTORS[1][[4, 0]])


def test_a_model_keeps_its_own_average():
    vectors = WordVectors(WORDS[:3], VECTORS[1][:3])
    settings = Reading(left=2, right=2, averaging="occurrence")
    model = ALaCarte(vectors, Transform(np.eye(3), settings=settings))
    found = dem([["a", "b"]], model)
    np.testing.assert_allclose(found.matrix[0], vectors.matrix[0].astype(float) + vectors.matrix[1], rtol=1e-6)
    assert contexts(["a b"], "a", known=model).window == (2, 2)


def test_as_the_facade_embeds():
    vectors = WordVectors(WORDS[:3], VECTORS[1][:3])
    model = ALaCarte(vectors, Transform(MATRIX, settings=Reading(left=2, right=2)))
    text = ["a b x c a", "x b"]
    found = dem(contexts(text, "x", window=2, known=vectors), model, averaging="occurrence")
    np.testing.assert_allclose(found.matrix, model.embed(text, target="x", each=True), rtol=1e-5)


def test_contexts_at_the_edge_of_a_document_are_not_shorter():
    """The same words around a target in long documents and in short ones, which cut its windows."""
    vectors = WordVectors(WORDS[:3], VECTORS[1][:3])
    model = ALaCarte(vectors, Transform(MATRIX, settings=Reading(left=4, right=4)))
    table = contexts(["a b a b x a b a b", "a b x a b"], "x", known=model)
    rows = dem(table, model).matrix
    np.testing.assert_allclose(rows[0], rows[1])
    sums = dem(table, model, averaging="occurrence").matrix
    np.testing.assert_allclose(sums[0], 2 * sums[1])
    np.testing.assert_allclose(rows[0], sums.mean(axis=0))  # the scale is that of the model
    with pytest.raises(AlacarteError, match="averaging is"):
        dem(table, model, averaging="mean")


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
    drawn = compat.dem_sample(found, 0.5, by=groups, seed=1)
    assert len(drawn) == 8
    assert len(set(drawn.names)) == 8
    assert compat.dem_sample(found, 0.5, by=groups, seed=1).names == drawn.names
    assert len(compat.dem_sample(found, 2.0, replace=True, seed=0)) == 32


def test_errors():
    with pytest.raises(NotEnoughData, match="language"):
        dem([["x"]], VECTORS)
    with pytest.raises(TransformMismatch, match="2 dimensions"):
        compat.dem(documents([["a"]]), VECTORS, np.eye(2))


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
    embedded = compat.fem(docs, VECTORS, MATRIX, window=3, weights=weights)
    assert set(embedded.names) <= set(features)
    known = [feature for feature in features if feature in WORDS]
    for feature in known:
        row = counts[features.index(feature)]
        total = sum(row[features.index(word)] * VECTORS[1][WORDS.index(word)] for word in known)
        mean = total / sum(row[features.index(word)] for word in known)
        np.testing.assert_allclose(embedded[feature], MATRIX @ mean, rtol=1e-6)


def text_of(words, count=60):
    rng = np.random.default_rng(2)
    return [rng.choice(words, 30).tolist() for _ in range(count)]


def test_a_transform_is_the_least_squares_one():
    words = [f"w{number}" for number in range(20)]
    vectors = words, np.random.default_rng(3).normal(size=(20, 3))
    text = text_of(words)
    found = compat.compute_transform(text, vectors, 1, window=2)
    u = compat.fem(text, vectors, window=2)
    v = np.stack([vectors[1][words.index(name)] for name in u.names])
    want = np.linalg.lstsq(u.matrix, v, rcond=None)[0].T
    np.testing.assert_allclose(found.matrix, want, rtol=1e-4)
    assert (found.settings.left, found.settings.averaging) == (2, "context")
    with pytest.raises(NotEnoughData, match="too few to learn"):
        compat.compute_transform(text_of(words[:2], 5), vectors, 1, window=2)
