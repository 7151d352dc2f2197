"""Learned context weights: the sample, each closed-form step against a twin, and a world whose weights are known."""

import numpy as np
import pytest
from alacarte_experiments.fewshot.learned_weights import (
    FewShot,
    Learning,
    learn_weights,
    learn_weights_from_sample,
    solve_step,
)
from alacarte_experiments.fewshot.sampled_windows import SampledWindows, sample_windows
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from alacarte import ALaCarte, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, BadCorpus, BadSums, NotEnoughData
from alacarte.passes.collect import collect, count_words

D, WORDS = 6, 200


@pytest.fixture(scope="module")
def world():
    """The word before and the word after a word are near it; all the others are anything, and often function words."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(WORDS + 10, D))
    matrix[WORDS:] *= 0.8
    vectors = WordVectors([f"w{i}" for i in range(WORDS)] + [f"s{i}" for i in range(10)], matrix)
    scores = matrix[:WORDS] @ matrix[:WORDS].T
    np.fill_diagonal(scores, -np.inf)
    chances = np.exp(2 * (scores - scores.max(axis=1, keepdims=True)))
    chances /= chances.sum(axis=1, keepdims=True)

    def anything():
        return f"s{rng.integers(10)}" if rng.random() < 0.6 else f"w{rng.integers(WORDS)}"

    text = []
    for word in rng.integers(WORDS, size=6000):
        before, after = rng.choice(WORDS, 2, p=chances[word])
        text.append([anything(), anything(), f"w{before}", f"w{word}", f"w{after}", anything(), anything()])
    return vectors, text


@pytest.fixture(scope="module")
def sums(world):
    return collect(*world, window=3, context_weights="sif", show_progress=False)


# ------------------------------------------------------------------------------------------------- the sample


@pytest.mark.parametrize("unknown", ["keep", "drop"])
def test_sampled_windows_are_windows_of_the_text(unknown):
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(8)], np.eye(8))
    text = [list(rng.choice([*vectors.words, "zz"], rng.integers(1, 9))) for _ in range(60)]
    counts = count_words(vectors, text, show_progress=False)
    found = sample_windows(
        vectors,
        text,
        counts,
        Reading(2, 3, unknown=unknown),
        words=5,
        contexts=4,
        least=6,
        show_progress=False,
    )
    assert found.windows.shape == (len(found.rows), 4, 5)
    assert 3 <= len(found.rows) <= 5
    possible = {word: [] for word in vectors.words}
    for words in text:
        ids = [vectors.key_to_index.get(word, -1) for word in words]
        if unknown == "drop":
            ids = [token for token in ids if token >= 0]
        for i, token in enumerate(ids):
            if token >= 0:
                left, right = ids[max(0, i - 2) : i][::-1], ids[i + 1 : i + 4]
                window = [*left, *[-1] * (2 - len(left)), *right, *[-1] * (3 - len(right))]
                possible[vectors.words[token]].append(window)
    for row, windows in zip(found.rows, windows_of(found), strict=True):
        there = list(possible[vectors.words[row]])
        for window in windows:
            there.remove(window)  # drawn without replacement: each at most once


def windows_of(sample):
    return sample.windows.tolist()


def test_a_sample_is_the_same_for_the_same_seed(world):
    vectors, text = world
    counts = count_words(vectors, text, show_progress=False)
    options = {"words": 20, "contexts": 3, "least": 5, "show_progress": False}
    first, again, other = (
        sample_windows(vectors, text, counts, Reading(2, 2), **options, seed=seed) for seed in (1, 1, 2)
    )
    backwards = sample_windows(vectors, text[::-1], counts, Reading(2, 2), **options, seed=1, threads=2, block_size=500)
    assert np.array_equal(first.windows, backwards.windows)
    assert np.array_equal(first.rows, backwards.rows)
    assert np.array_equal(first.windows, again.windows)
    assert not np.array_equal(first.rows, other.rows)


def test_what_cannot_be_sampled(world):
    vectors, text = world
    counts = count_words(vectors, text, show_progress=False)
    options = {"reading": Reading(2, 2), "words": 20, "contexts": 3, "show_progress": False}
    with pytest.raises(NotEnoughData, match="no word occurs 1000000 times"):
        sample_windows(vectors, text, counts, **options, least=10**6)
    with pytest.raises(BadCorpus, match="read only once"):
        sample_windows(vectors, iter(text), counts, **options, least=5)
    with pytest.raises(NotEnoughData, match="count and sample the same text"):
        sample_windows(vectors, [["nothing"]], counts, **options, least=5)


# -------------------------------------------------------------------------------------------------- the steps


@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.0, 0.1, 5.0]))
def test_a_step_is_the_best_non_negative_solution(seed, n, penalty):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, n))
    gram, right, toward = rows.T @ rows, rng.normal(size=n) * 5, rng.uniform(0.1, 1, size=n)
    found = solve_step(gram, right, toward, penalty)
    assert found.max() == pytest.approx(1)

    def loss(f):
        return f @ gram @ f - 2 * right @ f + penalty * np.sum((f - toward) ** 2)

    best = optimize.minimize(loss, toward, bounds=[(0, None)] * n, method="L-BFGS-B", tol=1e-14).x
    if best.max() > 1e-4:
        np.testing.assert_allclose(found, best / best.max(), atol=2e-3)


def test_the_equations_are_those_of_the_regression(world):
    vectors, text = world
    counts = count_words(vectors, text, show_progress=False)
    sample = sample_windows(vectors, text, counts, Reading(2, 2), words=40, contexts=2, least=5, show_progress=False)
    problem = FewShot(vectors, sample)
    mean = vectors.matrix.mean(axis=0, dtype=np.float64)
    common = np.linalg.svd(vectors.matrix - mean, full_matrices=False)[2][0]
    rng = np.random.default_rng(0)
    by_word, by_place = rng.uniform(size=len(vectors)), rng.uniform(size=4)
    matrix = rng.normal(size=(D, D))
    gram, right = problem.equations(matrix, problem.place, 4, problem.scale(by_word, np.ones(4)))
    design, target = [], []
    for word in np.flatnonzero(~problem.held):
        parts = np.zeros((4, D))
        for window in sample.windows[word]:
            for place, token in enumerate(window):
                if token >= 0:
                    parts[place] += by_word[token] * vectors.matrix[token] / 2
        design.append(parts @ matrix.T)
        goal = vectors.matrix[sample.rows[word]] - mean
        goal = goal - (goal @ common) * common
        target.append(goal / np.linalg.norm(goal))
    design, target = np.array(design), np.array(target)
    design, target = design - design.mean(axis=0), target - target.mean(axis=0)
    np.testing.assert_allclose(gram, np.einsum("wbd,wcd->bc", design, design), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(right, np.einsum("wbd,wd->b", design, target), rtol=1e-3, atol=1e-3)
    # A is the ridge solution for the sums under all the weights.
    found, u, goal = problem.matrix(by_word, by_place)
    rest = ~problem.held
    summed = np.array(
        [
            sum(
                by_word[token] * by_place[place] * vectors.matrix[token] / 2
                for window in windows
                for place, token in enumerate(window)
                if token >= 0
            )
            for windows in sample.windows
        ]
    )
    centred = summed - summed[rest].mean(axis=0)
    np.testing.assert_allclose(u, centred, atol=1e-5)
    penalty = 1e-3 * np.trace(centred[rest].T @ centred[rest]) / D
    stacked = np.vstack([centred[rest], np.sqrt(penalty) * np.eye(D)])
    expected = np.linalg.lstsq(stacked, np.vstack([goal[rest], np.zeros((D, D))]), rcond=None)[0].T
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------------------------------------ what is learned


def test_planted_weights_are_found(world, sums):
    found = learn_weights(*world, sums, learning=Learning(contexts=8), show_progress=False)
    assert found.learned
    assert found.held_out["learned"] > found.held_out["sif"] + 0.02
    assert found.held_out["learned"] > found.held_out["uniform"]
    assert max(found.left[0], found.right[0]) == 1
    assert min(found.left[0], found.right[0]) > 0.7
    assert max(*found.left[1:], *found.right[1:]) < 0.4  # what is farther away is anything
    weight_of = dict(zip(world[0].words, found.weights.values.tolist(), strict=True))
    function_words = [weight_of[f"s{i}"] for i in range(10)]
    assert max(function_words) < 0.5 * np.mean([weight_of[f"w{i}"] for i in range(WORDS)])  # they are noise
    assert found.weights.values.shape == (WORDS + 10,)
    assert found.weights.name.startswith("learned#")
    assert {what for what, _, _ in found.rows()} == {"frequency", "left", "right"}
    assert "kept; cosine with held-out words from 8 contexts: uniform" in str(found)


def test_functions_that_are_not_learned_stay(world, sums):
    found = learn_weights(*world, sums, learning=Learning(functions=["distance"], contexts=4), show_progress=False)
    share = sums.occurrences / sums.occurrences.sum()
    assert found.by_frequency
    for least, weight, _ in found.by_frequency:
        assert weight >= 1e-3 / (1e-3 + share.max())
        assert weight <= 1e-3 / (1e-3 + least)


def test_sif_is_kept_where_learning_does_not_help(world, sums, monkeypatch):
    true = FewShot.held_out
    monkeypatch.setattr(FewShot, "held_out", lambda self, words, places: -true(self, words, places))
    found = learn_weights(*world, sums, learning=Learning(contexts=8), show_progress=False)
    assert not found.learned
    assert found.positions == "uniform"
    assert found.weights.name.startswith("sif:0.001#")
    assert "not better than SIF, which is kept" in str(found)


def test_a_model_with_learned_weights(world, sums, tmp_path):
    vectors, text = world
    found = learn_weights(vectors, text, sums, show_progress=False)
    how = {"context_weights": found.weights, "positions": found.positions}
    model = ALaCarte.fit(vectors, text, window=3, **how, weighting=None, adapt=False, show_progress=False)
    assert model.settings.weights.startswith("learned#")
    model.save(tmp_path / "model")
    again = ALaCarte.load(tmp_path / "model")
    assert again.settings == model.settings
    contexts = ["w1 w2 blorp w3 s1", "s2 blorp w5"]
    induced = again.induce(contexts, ["blorp"], show_progress=False)
    np.testing.assert_allclose(induced["blorp"], model.embed(contexts, target="blorp"), rtol=1e-5)
    # The same again by hand.
    left, right = model.settings.position_weights()
    weights = model.transform.weights.values
    total = np.zeros(D)
    for words, at in ((contexts[0].split(), 2), (contexts[1].split(), 1)):
        for place, word in enumerate(words):
            if place != at:
                side = left if place < at else right
                total += side[abs(place - at) - 1] * weights[vectors.index(word)] * vectors[word]
    np.testing.assert_allclose(induced["blorp"], model.transform(total / 2), rtol=1e-4)


def test_errors(world, sums):
    vectors, text = world
    with pytest.raises(BadSums, match="over the whole vocabulary"):
        learn_weights(vectors, text, collect(vectors, text, ["w1"], show_progress=False))
    with pytest.raises(AlacarteError, match="functions are out of distance, frequency"):
        learn_weights(vectors, text, sums, learning=Learning(functions=["length"]), show_progress=False)
    few = SampledWindows(np.arange(5), np.zeros((5, 1, 6), dtype=np.int32), 3)
    with pytest.raises(NotEnoughData, match="too few to learn weights for 6 dimensions"):
        learn_weights_from_sample(vectors, sums, few)
