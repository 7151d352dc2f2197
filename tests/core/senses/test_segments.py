"""Choices among candidates against a plain loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from alacarte.senses.segments import best, log_prior, ranks, shares

values = st.lists(st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.5, 2.0]), max_size=5), min_size=1, max_size=6)
amounts = st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=6)


def flat(lists):
    return np.array([x for part in lists for x in part], dtype=np.float64), np.cumsum([0, *map(len, lists)])


@given(values)
def test_best_is_the_first_of_the_largest(lists):
    scores, bounds = flat(lists)
    expected = [int(low) + part.index(max(part)) if part else -1 for part, low in zip(lists, bounds, strict=False)]
    assert best(scores, bounds).tolist() == expected


@given(values)
def test_shares_are_softmax(lists):
    scores, bounds = flat(lists)
    found = shares(scores, bounds)
    for part, low, high in zip(lists, bounds[:-1], bounds[1:], strict=True):
        exponents = np.exp(part)
        total = exponents.sum()
        np.testing.assert_allclose(found[low:high], exponents / total if total else exponents, rtol=1e-12)


@given(amounts, st.sampled_from([0.5, 2.0]))
def test_prior_is_a_distribution_that_follows_counts_and_order(lists, smoothing):
    counts, bounds = flat(lists)
    prior = np.exp(log_prior(counts, bounds, smoothing))
    for part, low, high in zip(lists, bounds[:-1], bounds[1:], strict=True):
        order = sorted(range(len(part)), key=lambda i: (-part[i], i))
        assert [ranks(counts, bounds)[low + i] for i in order] == list(range(len(part)))
        raw = np.array([part[i] + smoothing / (1 + order.index(i)) for i in range(len(part))])
        np.testing.assert_allclose(prior[low:high], raw / raw.sum() if len(part) else raw, rtol=1e-12)
