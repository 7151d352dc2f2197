"""Intervals of words that were chosen because they are near hold what they claim, and the comparison keeps its size."""

import numpy as np
import pytest
from simulated_uncertainty import OTHERS, cosines, simulated

from alacarte import WordVectors
from alacarte.comparing.uses import compare_uses
from alacarte.regression import nearest, similarity
from alacarte.regression.embed import Embeddings
from alacarte.regression.frames import Variables


def chosen_words(count, clusters, samples, seed):
    """(coverage, mean error) of the debiased cosines of the five nearest of 1500 words: selected, and as if fixed."""
    rng = np.random.default_rng(seed)
    d, words = 60, [f"w{number}" for number in range(1500)]
    true = rng.normal(size=d) * 0.4
    vectors = rng.normal(size=(1500, d))
    space = WordVectors.of((words, vectors))
    truth = vectors @ true / np.linalg.norm(vectors, axis=1) / np.linalg.norm(true)
    hits, errors = ([], []), ([], [])
    for _ in range(samples):
        matrix = rng.normal(size=(count, d)) * rng.gamma(4, 0.25, size=(count, 1)) + true
        options = {"intervals": 0.95}
        if clusters:
            owner = rng.integers(0, clusters, count)
            matrix += (rng.normal(size=(clusters, d)) * 0.5)[owner]
            options["cluster"] = owner.tolist()
        found = Embeddings(matrix, list(range(count)), space, Variables(), [], np.arange(count))
        selected = nearest(found, k=5, **options)
        fixed = similarity(found, selected["feature"].tolist(), **options)
        for number, table in enumerate((selected, fixed)):
            true_cosines = truth[[words.index(word) for word in table["feature"]]]
            hits[number].append((table["conf_low"] <= true_cosines) & (true_cosines <= table["conf_high"]))
            errors[number].append(table["estimate"] - true_cosines)
    return np.mean(hits, axis=(1, 2)), np.mean(errors, axis=(1, 2))


@pytest.mark.parametrize(("count", "clusters"), [(25, None), (60, None), (120, 30)])
def test_intervals_of_the_nearest_words_know_that_they_were_chosen(count, clusters):
    coverage, error = chosen_words(count, clusters, samples=50, seed=3)
    assert coverage[0] >= 0.93
    assert coverage[1] < 0.87  # without the correction
    assert abs(error[0]) < 0.25 * error[1]


def test_intervals_of_the_nearest_know_that_they_were_chosen():
    sure, truth = simulated(300, 8, seed=1)
    true = cosines(truth)
    hits, naive, excess = [], [], []
    for number in range(0, 300, 3):
        for item in sure.nearest(f"w{number}", 3):
            value = true[number, OTHERS.index(item.other)]
            hits.append(item.conf_low <= value <= item.conf_high)
            excess.append(item.estimate - value)
            naive.append(sure.similarity(f"w{number}", item.other).estimate - value)
    assert np.mean(hits) > 0.9
    assert abs(np.mean(excess)) < 0.5 * abs(np.mean(naive))


@pytest.mark.parametrize(("n_a", "n_b"), [(8, 8), (64, 64), (8, 64)])
def test_the_comparison_keeps_its_size(n_a, n_b):
    first, truth = simulated(400, n_a, seed=1)
    second, _ = simulated(400, n_b, seed=2, truth=1.5 * truth)  # longer, but the same direction
    found = compare_uses(first, second)
    assert np.mean([item.p_value < 0.05 for item in found]) < 0.09  # .05 is expected; this is four standard errors
    tested = [item for item in found if not item.reason]
    assert len(tested) > 200  # eight contexts are often worth fewer than five documents
    assert np.mean([item.p_value for item in tested]) == pytest.approx(0.5, abs=0.1)
    hits = [item.conf_low <= 0 <= item.conf_high for item in tested]
    assert np.mean(hits) > 0.85
