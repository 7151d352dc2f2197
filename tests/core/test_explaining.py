"""Shares and contributions of context words: they are what `embed` adds up, for every way to read contexts."""

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alacarte import ALaCarte, Transform, WordVectors, collect
from alacarte.contexts.reading import Reading
from alacarte.contexts.weights import ContextWeights
from alacarte.errors import NoOccurrences, NotEnoughData
from alacarte.model.explaining import explain
from alacarte.spelling.fusion import Fusion
from alacarte.uncertainty.spread import TypicalSpread
from alacarte.vectors.geometry import cosines

WORDS = ["a", "b", "c", "d", "e"]
VECTORS = WordVectors(WORDS, np.random.default_rng(7).normal(size=(5, 6)).astype(np.float32))
documents = st.lists(st.lists(st.sampled_from([*WORDS, "x", "y"]), max_size=30), min_size=1, max_size=6).filter(any)


def model(averaging="occurrence", positions="uniform", weights=None, unknown="keep", intercept=None):
    matrix = np.random.default_rng(1).normal(size=(6, 6))
    reading = Reading(3, 2, averaging, positions, "own" if weights else "uniform", "words", unknown)
    values = None if weights is None else np.array(weights, dtype=np.float32)
    return ALaCarte(VECTORS, Transform(matrix, intercept, reading, weights=ContextWeights(reading.weights, values)))


models = st.builds(
    model,
    st.sampled_from(["occurrence", "token", "context"]),
    st.sampled_from(["uniform", "linear", "inverse", "1,0,0.5/0.8,0.4"]),
    st.sampled_from([None, [1.0, 0.5, 2.0, 0.25, 1.0], [1.0, 0.0, 2.0, 0.0, 1.0]]),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from([None, np.ones(6)]),
)


def embedded(made, texts, target):
    try:
        vector = made.embed(texts, target, absent="whole")
    except (NoOccurrences, NotEnoughData):
        assume(False)
    assume(np.linalg.norm(vector) > 1e-3)
    return vector.astype(np.float64)


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
@settings(max_examples=150, deadline=None)
@given(documents, models, st.sampled_from([None, "x"]))
def test_contributions_add_up_to_what_embed_gives(texts, made, target):
    vector = embedded(made, texts, target)
    explanation = explain(made, texts, target, absent="whole")
    np.testing.assert_array_equal(explanation.vector, vector.astype(np.float32))
    intercept = np.zeros(6) if made.transform.intercept is None else made.transform.intercept
    np.testing.assert_allclose(explanation.contributions.sum(axis=0) + intercept, vector, rtol=1e-4, atol=1e-4)
    assert sum(item.share for item in explanation.words) + explanation.intercept == pytest.approx(1, rel=1e-3, abs=1e-3)
    for item, row in zip(explanation.words, explanation.contributions, strict=True):
        assert item.share == pytest.approx(float(row @ vector) / float(vector @ vector), rel=1e-5, abs=1e-7)
        direction = made.transform.matrix @ VECTORS[item.word]  # a word can only add along its own vector
        np.testing.assert_allclose(row, direction * (row @ direction) / (direction @ direction), atol=1e-5)
        assert item.times > 0


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
@settings(max_examples=60, deadline=None)
@given(documents, models, st.sampled_from([None, "x"]), st.sampled_from(WORDS))
def test_without_a_word_its_contribution_is_gone(texts, made, target, word):
    """Where N is the number of occurrences, a word that has no vector any more takes its contribution with it."""
    assume(made.settings.averaging == "occurrence" and made.settings.unknown == "keep")
    before = embedded(made, texts, target)
    after = embedded(made, [["y" if token == word else token for token in text] for text in texts], target)
    explanation = explain(made, texts, target, absent="whole")
    rows = {item.word: row for item, row in zip(explanation.words, explanation.contributions, strict=True)}
    np.testing.assert_allclose(before - rows.get(word, np.zeros(6)), after, rtol=1e-4, atol=1e-4)


def test_long_and_short_contexts_have_equal_parts_under_averaging_context():
    """Issue 14, fault 8: the shares were those of sums, 98.5 % and 1.5 %, where `embed` takes the mean of means."""
    vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    made = ALaCarte(vectors, Transform(np.eye(2), settings=Reading(averaging="context")))
    explanation = explain(made, ["a " * 8, "b"])
    assert made.embed(["a " * 8, "b"]).tolist() == [0.5, 0.5]
    assert {item.word: item.share for item in explanation.words} == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("common", [None, np.eye(6)[0]])
@pytest.mark.parametrize("intercept", [None, np.ones(6)])
def test_with_spelling_all_parts_add_up_to_the_fused_vector(common, intercept):
    rng = np.random.default_rng(3)
    words = [first + second + third for first in "bdgk" for second in "aeiou" for third in ["n", "ns", "ning", "ned"]]
    vectors = WordVectors(words, rng.normal(size=(len(words), 6)))
    fusion = Fusion(-0.7, 0.9, 0.0, 1.0, common)
    transform = Transform(rng.normal(size=(6, 6)), intercept)
    made = ALaCarte(vectors, transform, fusion=fusion).with_form()
    contexts = ["bans karing dens", "karing bens bens gons"]
    explanation = explain(made, contexts, "karing", form=True)
    parts = made.embed_parts(contexts, "karing")
    assert explanation.vector.tolist() == parts.fused[0].tolist()
    rest = parts.context_part[0].astype(float) - explanation.contributions.sum(axis=0)
    if intercept is None:
        np.testing.assert_allclose(rest, 0, atol=1e-5)
    total = sum(item.share for item in explanation.words) + explanation.intercept + explanation.spelling
    assert total == pytest.approx(1, abs=1e-5)
    fused = explanation.vector.astype(float)
    assert explanation.words[0].share == pytest.approx(explanation.contributions[0] @ fused / (fused @ fused))
    assert json.dumps(explanation.to_dict())
    assert explanation.nearest is not None
    for item in explanation.nearest:
        assert item.cosine == pytest.approx(cosines(fused, vectors[item.other]), abs=1e-5)
        assert item.conf_low <= item.estimate <= item.conf_high


def test_shares_by_hand():
    # A u = (1, 2): of its squared length 5, "a" = (1, 0) gives 1 and the two "b" = (0, 1) give 4
    vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    found = explain(ALaCarte(vectors, Transform(np.eye(2))), "a x b b", "x")
    assert [(item.word, item.times, round(item.share, 6)) for item in found.words] == [("b", 2, 0.8), ("a", 1, 0.2)]
    assert found.confidence is None
    assert found.nearest is None


def test_several_contexts_and_a_typical_spread_make_it_sure():
    made = model()
    several = explain(made, ["a x b", "x c d", "e a x"], "x")
    assert 0 < several.confidence < 1
    assert several.nearest[0].conf_low < several.nearest[0].conf_high
    rng = np.random.default_rng(0)
    texts = [" ".join([f"t{i % 40}", *rng.choice(WORDS, 4)]) for i in range(400)]
    sums = collect(VECTORS, texts, [f"t{i}" for i in range(40)], window=(3, 2), spread=16)
    made.typical = made.apply(sums).uncertainty.typical
    assert isinstance(made.typical, TypicalSpread)
    one = explain(made, ["a x b"], "x")
    assert 0 < one.confidence < 1
    assert len(one.to_frame()) == 2


def test_a_model_fitted_with_spread_knows_it():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
    text = [" ".join(rng.choice(vectors.words, 20)) for _ in range(300)]
    assert ALaCarte.fit(vectors, text).typical is None
    made = ALaCarte.fit(vectors, text, spread=8)
    assert made.typical.targets == 50
    assert 0 < explain(made, "w1 x w2", "x").confidence < 1
