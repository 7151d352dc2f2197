"""Contexts are read in one way: `dem` gives what `ALaCarte.embed` gives, and every path has the same window."""

import itertools
import warnings

import numpy as np
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.weights import ContextWeights
from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula, NotEnoughData
from alacarte.regression import Inference, contexts, dem, documents, regress

WORDS = [f"w{number}" for number in range(12)]
RNG = np.random.default_rng(0)
VECTORS = WordVectors(WORDS, RNG.normal(size=(12, 4)))
WEIGHTS = ContextWeights("given", np.round(RNG.random(12), 2).astype(np.float32))
NO_P = Inference(permutations=0)
WINDOWS = [(3, 3), (4, 1), (0, 3)]


def model_of(reading, weights=None, intercept=False):
    given = {} if weights is None else {"weights": weights}
    if intercept:
        given["intercept"] = np.arange(4, dtype=np.float32)
    return ALaCarte(VECTORS, Transform(RNG.normal(size=(4, 4)), settings=reading, **given))


def positions_for(kind, window):
    if kind != "explicit":
        return kind
    sides = (np.round(RNG.random(size) + 0.1, 2) for size in window)
    return "/".join(",".join(map(str, side)) for side in sides)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(
    ("averaging", "positions", "unknown", "weighted"),
    list(
        itertools.product(
            ["occurrence", "token", "context"],
            ["uniform", "linear", "inverse", "explicit"],
            ["keep", "drop"],
            [False, True],
        )
    ),
)
def test_a_row_is_what_the_model_embeds(averaging, positions, unknown, weighted, window):
    reading = Reading(
        *window, averaging=averaging, positions=positions_for(positions, window), unknown=unknown, tokenizer="words"
    )
    model = model_of(reading, WEIGHTS if weighted else None, intercept=weighted)
    rng = np.random.default_rng(1)
    texts = []
    for _ in range(30):
        words = rng.choice([*WORDS, "unknown", "strange"], rng.integers(0, 14)).tolist()
        place = int(rng.integers(0, len(words) + 1))
        texts.append(" ".join([*words[:place], "target", *words[place:]]))
    table = contexts(texts, "target", known=model)
    found = dem(table, model, averaging=averaging)
    expected = {}
    for number, text in enumerate(texts):
        try:
            expected[number] = model.embed(text, "target")
        except NotEnoughData:
            continue
    assert found.rows.tolist() == list(expected)
    assert found.dropped == len(texts) - len(expected)
    np.testing.assert_allclose(found.matrix, np.stack(list(expected.values())), rtol=1e-4, atol=1e-5)


def test_whole_documents_are_embedded_as_the_model_embeds_them():
    model = model_of(Reading(3, 3, averaging="token", positions="inverse"), WEIGHTS)
    texts = ["w1 w2 unknown w3", "w5 w5"]
    found = dem(documents(texts, known=model), model)
    np.testing.assert_allclose(found.matrix, model.embed(texts, each=True), rtol=1e-4)


def speeches(count=40):
    rng = np.random.default_rng(2)
    text = [" ".join([*rng.choice(WORDS, 9), "tax", *rng.choice(WORDS, 9)]) for _ in range(count)]
    return {"text": text, "party": ["D", "R"] * (count // 2)}


def test_the_same_analysis_in_two_ways_gives_one_answer():
    data, model = speeches(), model_of(Reading(3, 2, positions="linear"))
    direct = regress("tax ~ party", data, model, inference=NO_P)
    for table in (contexts(data, "tax"), contexts(data, "tax", known=model), contexts(data, "tax", known=VECTORS)):
        in_two_steps = regress("tax ~ party", table, model, inference=NO_P)
        np.testing.assert_array_equal(in_two_steps.coefficients, direct.coefficients)
        np.testing.assert_array_equal(dem(table, model).matrix, direct.embeddings.matrix)
    assert contexts(data, "tax", known=model).window == (3, 2)
    assert (
        dem(contexts(data, "tax"), model).texts()[0].split()
        == data["text"][0].split()[6:9] + (data["text"][0].split()[10:12])
    )


def test_another_window_than_the_transforms_is_said():
    data, model = speeches(), model_of(Reading(3, 3))
    with pytest.warns(AlacarteWarning, match="5 words on each side and the transform was learned with 3 words"):
        dem(contexts(data, "tax", window=5), model)
    with pytest.warns(AlacarteWarning, match="5 words before and 1 after"):
        regress("tax ~ party", data, model, window=(5, 1), inference=NO_P)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dem(contexts(data, "tax", window=3), model)
        dem(contexts(data, "tax", window=7), VECTORS)
    explicit = model_of(Reading(1, 1, positions="1/0.5"))
    with pytest.raises(AlacarteError, match="window of 1 words before"), pytest.warns(AlacarteWarning):
        dem(contexts(data, "tax", window=2), explicit)


def test_a_window_for_contexts_that_are_cut_already():
    data = speeches()
    with pytest.raises(BadFormula, match="have a window already"):
        regress("tax ~ party", dem(contexts(data, "tax", window=4), VECTORS), window=2)
    direct = regress("tax ~ party", data, VECTORS, window=2, inference=NO_P)
    for found in (contexts(data, "tax"), contexts(data, "tax", window=4)):
        cut = regress("tax ~ party", found, VECTORS, window=2, inference=NO_P)
        np.testing.assert_array_equal(cut.coefficients, direct.coefficients)


def test_the_formula_and_the_contexts_must_be_of_the_same_words():
    data = speeches()
    data["text"] = [text + " war" for text in data["text"]]
    war = contexts(data, "war")
    with pytest.raises(BadFormula, match=r"'tax'.*'war'"):
        regress("tax ~ party", war, VECTORS)
    with pytest.raises(BadFormula, match=r"'tax'.*'war'"):
        regress("tax ~ party", dem(war, VECTORS))
    read = documents(data)
    np.testing.assert_array_equal(
        regress("tax ~ party", read, VECTORS, inference=NO_P).coefficients,
        regress("tax ~ party", data, VECTORS, inference=NO_P).coefficients,
    )
    with pytest.raises(BadFormula, match=r"'tax'.*whole documents"):
        regress("tax ~ party", dem(read, VECTORS))
    for formula in ("~ party", "war ~ party"):
        fit = regress(formula, war, VECTORS, inference=NO_P)
        assert fit.targets == ["war"]
        assert "'war' on party" in fit.summary()
