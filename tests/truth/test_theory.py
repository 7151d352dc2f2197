"""The paper's model of text: a context has a vector c from a Gaussian, and its words come with odds exp⟨c, v⟩.

Under it the vector of a word is a linear transform of the mean of its context words' vectors. So text made this
way must give a transform that recovers words it was not learned from, the better the more text there is.
"""

import numpy as np
import pytest

from alacarte import Transform, WordVectors, collect

D, WORDS, WINDOW = 10, 300, 5


def generate(vectors, documents, length, rng):
    """Documents of `length` words drawn independently given the document's own context vector."""
    topics = rng.normal(size=(documents, D))
    odds = np.exp(topics @ vectors.matrix.T.astype(np.float64))
    cumulative = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    draws = rng.random((documents, length))
    ids = np.array([np.searchsorted(row, draw) for row, draw in zip(cumulative, draws, strict=True)])
    words = np.array(vectors.words)
    return [words[np.minimum(row, WORDS - 1)].tolist() for row in ids]


def held_out_cosine(vectors, texts):
    held_out = vectors.words[: WORDS // 5]
    sums = collect(vectors, texts, window=WINDOW)
    transform = Transform.fit(sums, vectors, weighting=None, exclude=held_out)
    rows = [sums.keys.index(word) for word in held_out]
    guess = transform(sums.means(np.array(rows)))
    true = vectors[held_out]
    cosine = (guess * true).sum(axis=1) / np.linalg.norm(guess, axis=1) / np.linalg.norm(true, axis=1)
    return float(cosine.mean())


@pytest.fixture(scope="module")
def cosines():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(WORDS)], 0.6 * rng.normal(size=(WORDS, D)))
    texts = generate(vectors, documents=16_000, length=20, rng=rng)
    return {size: held_out_cosine(vectors, texts[:size]) for size in (1_000, 4_000, 16_000)}


def test_held_out_words_are_recovered(cosines):
    assert cosines[16_000] > 0.9


def test_the_error_falls_as_the_corpus_grows(cosines):
    assert cosines[1_000] < cosines[4_000] < cosines[16_000]
