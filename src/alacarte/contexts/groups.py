"""Several sums for each target instead of one: each document belongs to a group, and its contexts with it.

How far the groups' means lie apart gives the standard error of the mean of all. Groups are chosen by what a document
says, not by its number: no thread, block or shard has to know of another, text added later falls into the same groups,
and a document that is printed twice, with a few words changed, counts as one and not as two.
"""

import numpy as np

from alacarte._io.arrays import Codes, Ints
from alacarte.text.documents import Document
from alacarte.text.encoding import Encoded

GROUP = "group of documents"  # a column that says which group a document is in, instead of the document's words


def word_codes(known: int) -> Codes:
    """Return a code for each known word, and a last one for all others."""
    return mixed(np.arange(1, known + 2, dtype=np.uint64))


def groups_of(encoded: Encoded, known: int, groups: int) -> Ints:
    """Return the group of each document; `known` words have ids below it, and others do not count.

    >>> twice = Encoded(np.array([0, 1, 5, 0, 1, 7], dtype=np.int32), np.array([0, 3, 6]), [])
    >>> groups = groups_of(twice, 2, 16)
    >>> bool(groups[0] == groups[1])  # 5 and 7 are both unknown
    True
    """
    return group_numbers(document_codes(encoded, known), groups)


def document_codes(encoded: Encoded, known: int) -> Codes:
    """Return a code for each document that reprints nearly always share: its smallest run of words, by a hash."""
    from alacarte.text.reprints import fill_smallest

    codes = np.empty(len(encoded.offsets) - 1, dtype=np.uint64)
    fill_smallest(encoded.ids, np.ascontiguousarray(encoded.offsets, np.int64), known, codes)
    return codes


def groups_given(encoded: Encoded) -> Ints:
    """Return the group of each document, as the only column of the corpus says."""
    documents = () if encoded.block is None else encoded.block.documents
    return np.array([item.values[0] for item in documents if isinstance(item, Document)], dtype=np.int32)


def document_sums(encoded: Encoded, codes: Codes) -> Codes:
    """Return the sum of the codes of each document's words, modulo 2^64 as everything here."""
    ids = np.minimum(encoded.ids.view(np.uint32), np.uint32(len(codes) - 1))  # -1 is large without its sign
    sums = np.zeros(len(encoded.offsets) - 1, dtype=np.uint64)
    filled = np.flatnonzero(np.diff(encoded.offsets))
    if filled.size:
        sums[filled] = np.add.reduceat(codes[ids], encoded.offsets[filled])
    return sums


def group_numbers(codes: Codes, groups: int) -> Ints:
    """Return the group of each document, by what `document_codes` gives."""
    return np.asarray(mixed(codes) % np.uint64(groups)).astype(np.int32)


def mixed(values: Codes) -> Codes:
    """Return numbers whose bits depend on every bit of the value (splitmix64's finaliser; Steele et al. 2014)."""
    x = values * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
