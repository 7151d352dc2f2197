"""Ranks and rank correlations against scipy and against counting by hand."""

import numpy as np
import pytest
from alacarte_experiments.lab import measures
from alacarte_experiments.lab.measures import gold_ranks, spearman, spearman_p
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from alacarte import WordVectors
from alacarte.vectors.geometry import cosines, unit_rows

few = st.lists(st.integers(-3, 3), min_size=4, max_size=9)


@given(few, st.integers(0, 2**32 - 1))
def test_spearman_is_scipys(values, seed):
    other = np.random.default_rng(seed).integers(-2, 3, len(values))
    if len(set(values)) == 1 or len(set(other.tolist())) == 1:
        assert np.isnan(spearman(values, other))
        return
    expected = stats.spearmanr(values, other)
    assert float(spearman(values, other)) == pytest.approx(expected.statistic, abs=1e-12)
    assert float(spearman_p(expected.statistic, len(values))) == pytest.approx(expected.pvalue, abs=1e-9)


def test_spearman_of_many_rows_is_that_of_each():
    rng = np.random.default_rng(0)
    rows, scores = rng.normal(size=(3, 5, 20)), rng.normal(size=20)
    found = spearman(rows, scores)
    assert found.shape == (3, 5)
    for place in np.ndindex(3, 5):
        assert found[place] == pytest.approx(stats.spearmanr(rows[place], scores).statistic)


@given(st.integers(0, 2**32 - 1), st.integers(2, 70), st.integers(1, 5))
def test_ranks_are_counted(seed, words, dimension):
    """Over blocks smaller than the vocabulary; small whole numbers make ties."""
    rng = np.random.default_rng(seed)
    vectors = WordVectors([f"w{i}" for i in range(words)], rng.integers(-2, 3, (words, dimension)).astype(np.float32))
    queries, gold = rng.integers(-2, 3, (4, dimension)).astype(float), rng.integers(words, size=4)
    plain = []
    for query, row in zip(queries, gold, strict=True):
        similar = cosines(np.broadcast_to(query, vectors.matrix.shape), vectors.matrix)
        plain.append(1 + int((similar > similar[row] + 1e-12).sum()))
    before = measures.BLOCK
    measures.BLOCK = 16
    try:
        assert gold_ranks(vectors, queries, gold).tolist() == plain
    finally:
        measures.BLOCK = before


def test_zero_vectors_have_cosine_zero():
    assert cosines([[0.0, 0.0]], [[1.0, 0.0]]).tolist() == [0.0]
    assert unit_rows(np.zeros((1, 2))).tolist() == [[0.0, 0.0]]
