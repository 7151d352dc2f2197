"""Documents that are reprints of each other."""

import numpy as np
import pytest

from alacarte.text.reprints import (
    BUCKETS,
    SHINGLE,
    SHINGLE_FACTOR,
    SHORTEST_DOCUMENT,
    copies_among,
    reprint_groups,
    signatures_of,
)

WRAP = 2**64


def plain_mixed(number):
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor % WRAP
    return number ^ number >> 33


def plain_signature(words):
    """The smallest number of each bucket; empty buckets borrow from the next one that is not."""
    smallest = {}
    for place in range(len(words) - SHINGLE + 1):
        number = 0
        for word in words[place : place + SHINGLE]:
            number = (number * int(SHINGLE_FACTOR) + plain_mixed(word + 1)) % WRAP
        number = plain_mixed(number)
        smallest[number >> 58] = min(number, smallest.get(number >> 58, WRAP))
    return [
        next(smallest[(b + i) % BUCKETS] for i in range(BUCKETS) if (b + i) % BUCKETS in smallest) for b in range(64)
    ]


def test_signatures_are_those_of_the_plain_computation():
    rng = np.random.default_rng(0)
    lengths = [SHORTEST_DOCUMENT, 40, 700, 3]
    words = rng.integers(-1, 300, sum(lengths)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    signatures = signatures_of(words, offsets)
    for document in range(3):
        own = [int(word) for word in words[offsets[document] : offsets[document + 1]]]
        assert signatures[document].tolist() == plain_signature(own)
    assert (signatures[3] == np.iinfo(np.uint64).max).all()
    parts = [
        signatures_of(words[: offsets[1]], offsets[:2]),
        signatures_of(words[offsets[1] :], offsets[1:] - offsets[1]),
    ]
    np.testing.assert_array_equal(np.vstack(parts), signatures)


@pytest.mark.parametrize(("length", "changed", "found"), [(21, 0.0, 1.0), (60, 0.02, 0.97), (300, 0.03, 0.97)])
def test_copies_with_small_changes_are_found_and_other_documents_are_not(length, changed, found):
    rng = np.random.default_rng(1)
    share = 1 / np.arange(1, 5001)
    share /= share.sum()
    text = rng.choice(5000, (600, length), p=share)
    copies = np.where(rng.random(text.shape) < changed, rng.choice(5000, text.shape, p=share), text)
    groups = reprint_groups(signatures_of(np.vstack([text, copies]).ravel(), np.arange(1201) * length))
    assert np.mean(groups[:600] == groups[600:]) >= found
    assert np.bincount(groups).max() == 2
    assert copies_among(groups) == (groups[:600] == groups[600:]).sum()


def test_short_documents_are_never_copies():
    groups = reprint_groups(
        signatures_of(np.tile(np.arange(SHORTEST_DOCUMENT - 1), 4), np.arange(5) * (SHORTEST_DOCUMENT - 1))
    )
    assert groups.tolist() == [0, 1, 2, 3]
    assert reprint_groups(signatures_of(np.zeros(0), np.zeros(1))).tolist() == []
