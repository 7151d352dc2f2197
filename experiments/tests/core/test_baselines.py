"""Baselines against their formulas, written out; nonce2vec's kernel against a plain twin."""

import numpy as np
import pytest
from alacarte_experiments.baselines import (
    SIF,
    Additive,
    AllButTheTop,
    Nonce2Vec,
    Nonce2VecTraining,
    RetrainedWord2Vec,
    SIFButTheTop,
    SumsButTheTop,
    WithoutStopWords,
    Word2VecTraining,
    remove_top,
)
from alacarte_experiments.baselines._skipgram import train_one
from alacarte_experiments.baselines.word2vec import token_lists
from hypothesis import given
from hypothesis import strategies as st

from alacarte import ALaCarte, Document, WordVectors, collect
from alacarte.errors import AlacarteError, BadSums, NotEnoughData
from alacarte.text.tokenizers import get_tokenizer

LINEAR = [Additive, WithoutStopWords, SIF, AllButTheTop, SumsButTheTop, SIFButTheTop]


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(3)
    words = ["the", "of", ",", *(f"w{i}" for i in range(37))]
    return WordVectors(words, (rng.normal(size=(40, 4)) + np.array([2, 0, 0, 0])).astype(np.float32))


@pytest.fixture(scope="module")
def text(vectors):
    rng = np.random.default_rng(4)
    chances = 1 / np.arange(1, 41)
    return [" ".join(rng.choice(vectors.words, 30, p=chances / chances.sum())) for _ in range(150)]


def fitted(kind, vectors, text):
    baseline = kind(min_count=1) if kind in (SumsButTheTop, SIFButTheTop) else kind()
    return baseline.fit(vectors, text, window=3)


def test_additive_is_equation_1(vectors):
    model = Additive().fit(vectors, window=2)
    by_hand = [vectors[["the", "w1", "w2", "w3"]].mean(axis=0), vectors["w4"]]
    found = model.embed(["w9 the w1 x w2 w3 w9", "x w4"], target="x")
    np.testing.assert_allclose(found, np.mean(by_hand, axis=0), rtol=1e-5)


def test_stop_words_do_not_count(vectors):
    model = WithoutStopWords().fit(vectors)
    found = model.embed("the w1 of x , w2", target="x")
    np.testing.assert_allclose(found, vectors[["w1", "w2"]].mean(axis=0), rtol=1e-5)


def test_sif_weighs_by_frequency(vectors, text):
    counts = dict.fromkeys(vectors.words, 0)
    for document in text:
        for token in document.split():
            counts[token] += 1
    total = sum(counts.values())
    weight = {word: 0.01 / (0.01 + count / total) for word, count in counts.items()}
    expected = weight["the"] * vectors["the"] + weight["w30"] * vectors["w30"]
    np.testing.assert_allclose(SIF(a=0.01).fit(vectors, text).embed("the x w30", target="x"), expected, rtol=1e-5)


def test_all_but_the_top_on_words(vectors):
    centred = vectors.matrix.astype(np.float64) - vectors.matrix.mean(axis=0)
    top = np.linalg.svd(centred)[2][:2]
    processed = centred - centred @ top.T @ top
    expected = processed[[vectors.index("w1"), vectors.index("w2")]].mean(axis=0)
    found = AllButTheTop(components=2).fit(vectors).embed("w1 x w2", target="x")
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_all_but_the_top_on_sums(vectors, text):
    sums = collect(vectors, text, window=3, averaging="token")
    means = sums.means()
    mean = means.mean(axis=0)
    top = np.linalg.svd(means - mean)[2][:1]
    model = SumsButTheTop(min_count=1).from_sums(vectors, sums)
    u = vectors[["w1", "w2"]].mean(axis=0) - mean
    np.testing.assert_allclose(model.embed("w1 x w2", target="x"), u - u @ top.T @ top, atol=1e-5)


def test_sif_but_the_top_removes_one_direction_and_no_mean(vectors, text):
    sums = collect(vectors, text, window=3, context_weights="sif:0.001")
    top = np.linalg.svd(sums.means())[2][:1]
    model = SIFButTheTop(min_count=1).from_sums(vectors, sums)
    assert np.abs(model.embed("w1 x w2", target="x") @ top.T).max() < 1e-4
    assert model.transform.intercept is None
    with pytest.raises(BadSums, match="SIF-weighted"):
        SIFButTheTop(min_count=1).from_sums(vectors, collect(vectors, text, window=3))
    with pytest.raises(BadSums, match=r"sif:0\.5"):  # another a than that of the sums
        SIFButTheTop(a=0.5, min_count=1).from_sums(vectors, sums)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_baseline_can_stand_where_a_model_stands(kind, vectors, text, tmp_path):
    model = fitted(kind, vectors, text)
    assert isinstance(model, ALaCarte)
    induced = model.induce([*text[:2], "w1 w2 newword w3 w4"], ["newword", "absent"])
    assert induced.missing == ["absent"]
    np.testing.assert_allclose(induced["newword"], model.embed("w1 w2 newword w3 w4", target="newword"), atol=1e-5)
    assert model.embed_definition("___ : w1 w2").shape == (4,)
    model.save(tmp_path / "m")
    again = ALaCarte.load(tmp_path / "m")
    np.testing.assert_array_equal(again.embed("w1 x w9", target="x"), model.embed("w1 x w9", target="x"))


@pytest.mark.parametrize("kind", [SIF, SumsButTheTop])
def test_fit_and_from_sums_agree(kind, vectors, text):
    sums = collect(vectors, text, window=3)
    baseline = kind(min_count=1) if kind is SumsButTheTop else kind()
    first, second = baseline.fit(vectors, text, window=3), baseline.from_sums(vectors, sums)
    np.testing.assert_allclose(first.embed("w1 x", target="x"), second.embed("w1 x", target="x"), atol=1e-6)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_misspelt_parameter_is_an_error(kind, vectors, text):
    with pytest.raises(TypeError, match="alpha"):
        kind(alpha=0.5)
    with pytest.raises(TypeError, match="alpha"):
        kind().fit(vectors, text, alpha=0.5)


@pytest.mark.parametrize("kind", [AllButTheTop, SumsButTheTop, SIFButTheTop])
def test_no_component_is_removed_where_none_is_asked_for(kind, vectors, text):
    options = {} if kind is AllButTheTop else {"min_count": 1}
    model = kind(components=0, **options).fit(vectors, text, window=3)
    np.testing.assert_array_equal(model.transform.matrix, np.eye(vectors.dimension, dtype=np.float32))
    assert np.linalg.matrix_rank(kind(components=1, **options).fit(vectors, text, window=3).transform.matrix) == 3


def test_what_a_baseline_cannot_be_made_from(vectors, text):
    with pytest.raises(NotEnoughData, match="corpus"):
        SIF().fit(vectors)
    with pytest.raises(NotEnoughData, match="too few"):
        SumsButTheTop(min_count=10**6).fit(vectors, text)
    with pytest.raises(BadSums, match="whole vocabulary"):
        SIF().from_sums(vectors, collect(vectors, text, ["w1"], window=3))
    with pytest.raises(NotEnoughData, match="components"):
        remove_top(np.eye(3), 3)


# ------------------------------------------------------------------------------------------------- nonce2vec


def plain_training(vector, context, words, negatives, rates):
    x = vector.astype(np.float64).copy()
    for word, others, rate in zip(words, negatives, rates, strict=True):
        rows = context[[word, *others]].astype(np.float64)
        labels = np.array([1.0] + [0.0] * len(others))
        x = x + rate * (labels - 1 / (1 + np.exp(-rows @ x))) @ rows
    return x


@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(0, 12),
    negatives=st.integers(0, 4),
    dimension=st.integers(1, 9),
)
def test_the_skip_gram_kernel_is_the_formula(seed, steps, negatives, dimension):
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(7, dimension)).astype(np.float32)
    vector = rng.normal(size=dimension)
    words, noise = rng.integers(7, size=steps), rng.integers(7, size=(steps, negatives))
    rates = rng.random(steps)
    expected = plain_training(vector, context, words, noise, rates)
    train_one(vector, context, words, noise, rates)
    np.testing.assert_allclose(vector, expected, rtol=1e-9, atol=1e-9)


def everything_kept(vectors, **options):
    return Nonce2Vec(vectors, np.ones(len(vectors)), Nonce2VecTraining(sample=1e15, **options))


def test_nonce2vec_starts_from_the_sum(vectors):
    model = everything_kept(vectors, rate=0.0, min_rate=0.0)
    np.testing.assert_allclose(model.embed("w1 ___ w2 w3"), vectors[["w1", "w2", "w3"]].sum(axis=0), rtol=1e-5)


def test_nonce2vec_trains_on_the_window_only(vectors):
    """With a window of 1 the far word adds to the start, and its steps are not taken."""
    near, wide = (everything_kept(vectors, window=w, window_decay=0, negatives=0) for w in (1, 5))
    rows = near.encode(["w1", "w2", "___"])
    assert rows.tolist() == [vectors.index("w1"), vectors.index("w2"), -2]
    start = vectors[["w1", "w2"]].sum(axis=0).astype(np.float64)
    context = vectors.matrix
    one = plain_training(start, context, [vectors.index("w2")], [[]], [1.0])
    two = plain_training(start, context, [vectors.index("w1"), vectors.index("w2")], [[], []], [1.0, np.exp(-1 / 70)])
    np.testing.assert_allclose(near.embed_rows([rows]), one, rtol=1e-5)
    np.testing.assert_allclose(wide.embed_rows([rows]), two, rtol=1e-5)


def test_nonce2vec_stops_learning_after_three_sentences(vectors):
    model = everything_kept(vectors, sample_decay=1.0, negatives=0)
    rows = [model.encode([f"w{i}", "___"]) for i in range(5)]
    words = [vectors.index(f"w{i}") for i in range(5)]
    start = vectors.matrix[words].sum(axis=0).astype(np.float64)
    rates = np.exp(-np.arange(3) / 70)
    np.testing.assert_allclose(
        model.embed_rows(rows), plain_training(start, vectors.matrix, words[:3], [[]] * 3, rates), rtol=1e-4
    )


def test_nonce2vec_samples_frequent_words_away(vectors):
    counts = np.ones(len(vectors))
    counts[0] = 1e9
    model = Nonce2Vec(vectors, counts, Nonce2VecTraining(rate=0.0, min_rate=0.0, sample=1.0))
    np.testing.assert_allclose(model.embed("the the ___ w1 the"), vectors["w1"], rtol=1e-5)


def test_nonce2vec_is_random_but_repeatable(vectors, text):
    first, again, other = (
        Nonce2Vec.fit(vectors, text, Nonce2VecTraining(seed=seed, sample=1e9)).embed("w1 ___ w2") for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_nonce2vec_induces_from_a_corpus(vectors, text):
    model = Nonce2Vec.fit(vectors, text)
    found = model.induce([*text, "w1 w2 blorp w3", "blorp w4"], ["blorp", "absent"])
    assert (list(found.words), found.counts.tolist(), found.missing) == (["blorp"], [2], ["absent"])
    expected = model.embed_rows([model.encode(["w1", "w2", "___", "w3"]), model.encode(["___", "w4"])])
    np.testing.assert_allclose(found["blorp"], expected)


def test_nonce2vec_says_what_it_lacks(vectors):
    with pytest.raises(NotEnoughData, match="known words"):
        everything_kept(vectors).embed("___ qqq")
    with pytest.raises(NotEnoughData, match="counts"):
        Nonce2Vec(vectors, [1, 2])
    with pytest.raises(AlacarteError, match="at least one"):
        everything_kept(vectors).embed([])
    with pytest.raises(NotEnoughData, match="none of the targets"):
        everything_kept(vectors).induce(["w1 w2"], ["blorp"])


# -------------------------------------------------------------------------------------------------- word2vec


@pytest.fixture(scope="module")
def two_topics():
    pytest.importorskip("gensim")
    rng = np.random.default_rng(0)
    topics = [[f"a{i}" for i in range(12)], [f"b{i}" for i in range(12)]]
    return [" ".join(rng.choice(topics[i % 2], 8)) for i in range(600)]


def test_word2vec_trained_again_puts_a_new_word_in_its_topic(two_topics):
    model = RetrainedWord2Vec.fit(10, two_topics, Word2VecTraining(epochs=8))
    found = model.retrain({"blorp": ["a1 blorp a2 a3", "a4 a5 blorp a6"] * 20})
    nearest = [word for word, _ in found.nearest(found["blorp"], k=6, exclude=["blorp"])]
    assert sum(word.startswith("a") for word in nearest) >= 5
    other = model.retrain({"blorp": ["b1 b2 blorp b3 b4 b5"] * 20})
    nearest = [word for word, _ in other.nearest(other["blorp"], k=6, exclude=["blorp"])]
    assert sum(word.startswith("b") for word in nearest) >= 5


def test_word2vec_goes_on_with_a_definition(two_topics):
    model = RetrainedWord2Vec.fit(10, two_topics, Word2VecTraining(epochs=8))
    before = np.array(model.vectors.matrix)
    vector = model.embed_definition("___ a1 a2 a3")
    assert vector.shape == (10,)
    assert np.isfinite(vector).all()
    np.testing.assert_array_equal(before, model.vectors.matrix)
    with pytest.raises(NotEnoughData, match="too little text"):
        _ = RetrainedWord2Vec.fit(10, ["one word"]).vectors


@pytest.mark.parametrize("tokenizer", ["words", "words-cased", "whitespace"])
def test_word2vec_reads_text_as_the_tokenizer_splits_it(tokenizer):
    """By the one scan, which is compiled for large texts: the same tokens as those of the readable tokenizer."""
    known = {"e-mail": 0, "n't": 1}
    texts = [f"Don't e-mail Ann{i}, re-read “{i}.5” in Zürich!" for i in range(3000)]
    split = get_tokenizer(tokenizer)
    lists = list(token_lists([*texts, "", ["as", "It is"], Document(tokens=["x"])], split, known, False))
    assert lists == [*(split(text, known) for text in texts), ["as", "It is"], ["x"]]
