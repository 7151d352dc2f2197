"""Documents that are reprints of each other: most of their words, in the same order.

A document's shingles are its runs of four words. Each shingle has a random number, which says into which of 64 buckets
it falls; the smallest number of each bucket is the document's signature (Li, Owen and Zhang 2012; empty buckets borrow
from the next one, Shrivastava and Li 2014). The share of places at which two signatures agree is, on average, the share
of shingles that the two documents have in common. Documents that agree at four neighbouring places are compared.
"""

import numpy as np

from alacarte._io.arrays import Codes, Ints, Longs
from alacarte._io.compiled import inlined, kernel

SHINGLE = 4  # words
SHORTEST_DOCUMENT = 10  # words; shorter documents may be alike by chance
BUCKETS = 64
BAND = 4  # places that agree before two documents are compared
ALIKE_PLACES = 0.5  # share of places that agree in reprints
EMPTY_BUCKET = np.uint64(0xFFFFFFFFFFFFFFFF)
SHINGLE_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # of the rolling number of a shingle, any odd number
LAST = np.uint64(0x9E3779B97F4A7C15**SHINGLE % 2**64)  # what the word that leaves a shingle was multiplied with


@inlined
def scattered(number):  # type: ignore[no-untyped-def]
    """Scatter a 64-bit number (the finaliser of MurmurHash3)."""
    number ^= number >> np.uint64(33)
    number *= np.uint64(0xFF51AFD7ED558CCD)
    number ^= number >> np.uint64(33)
    number *= np.uint64(0xC4CEB9FE1A85EC53)
    return number ^ (number >> np.uint64(33))


@kernel
def fill_signatures(ids: Ints, offsets: Longs, signatures: Codes) -> None:
    """Write the smallest number of each bucket, for each document that is not too short."""
    for document in range(len(offsets) - 1):
        start, end = offsets[document], offsets[document + 1]
        if end - start < SHORTEST_DOCUMENT:
            continue
        row = signatures[document]
        rolling = np.uint64(0)
        for place in range(start, end):
            rolling = rolling * SHINGLE_FACTOR + scattered(np.uint64(ids[place] + 1))
            if place >= start + SHINGLE:
                rolling -= scattered(np.uint64(ids[place - SHINGLE] + 1)) * LAST
            if place >= start + SHINGLE - 1:
                number = scattered(rolling)
                bucket = number >> np.uint64(58)
                row[bucket] = min(row[bucket], number)
        for step in range(2 * BUCKETS):  # from right to left, twice, so that the last one may borrow from the first
            bucket = (2 * BUCKETS - 1 - step) % BUCKETS
            if row[bucket] == EMPTY_BUCKET:
                row[bucket] = row[(bucket + 1) % BUCKETS]


@kernel
def fill_smallest(ids: Ints, offsets: Longs, known: int, smallest: Codes) -> None:
    """Write the smallest number of each document's shingles; of a short document, the number of all its words.

    Two documents with a share x of their shingles in common have the same one with probability x. Words from `known`
    on are passed over.
    """
    for document in range(len(offsets) - 1):
        one, two, three, whole = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        least, words = EMPTY_BUCKET, 0
        for place in range(offsets[document], offsets[document + 1]):
            if not 0 <= ids[place] < known:
                continue
            word = scattered(np.uint64(ids[place] + 1))
            whole = scattered(whole * SHINGLE_FACTOR + word)
            words += 1
            run = ((one * SHINGLE_FACTOR + two) * SHINGLE_FACTOR + three) * SHINGLE_FACTOR + word
            one, two, three = two, three, word
            if words >= SHINGLE:
                least = min(least, scattered(run))
        smallest[document] = least if words >= SHORTEST_DOCUMENT else whole


def signatures_of(ids: Ints, offsets: Longs) -> Codes:
    """Return the signature of each document, whose words are `ids[offsets[d]:offsets[d + 1]]`, one row of 64 numbers.

    Words have the same ids in all documents that are to be compared, also where signatures are computed block by block.
    """
    signatures = np.full((len(offsets) - 1, BUCKETS), EMPTY_BUCKET, dtype=np.uint64)
    fill_signatures(np.ascontiguousarray(ids, np.int32), np.ascontiguousarray(offsets, np.int64), signatures)
    return signatures


def reprint_groups(signatures: Codes) -> Longs:
    """Return a number for each document that is the same for reprints of each other, from 0 on, in order of occurrence.

    >>> text = np.arange(30, dtype=np.int32)
    >>> changed = np.where(text == 12, 99, text)
    >>> documents = np.concatenate([text, text + 50, changed])
    >>> reprint_groups(signatures_of(documents, np.array([0, 30, 60, 90]))).tolist()
    [0, 1, 0]
    """
    from scipy import sparse

    count = len(signatures)
    full = np.flatnonzero(signatures[:, 0] != EMPTY_BUCKET)
    one, other = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for band in np.split(signatures[full], BUCKETS // BAND, axis=1):
        key = band[:, 0].copy()
        for column in band.T[1:]:
            key = key * SHINGLE_FACTOR + column
        order = np.argsort(key, kind="stable")
        same = np.flatnonzero(key[order[1:]] == key[order[:-1]])
        one.append(full[order[same]])
        other.append(full[order[same + 1]])
    left, right = np.unique(np.stack([np.concatenate(one), np.concatenate(other)]), axis=1)
    alike = (signatures[left] == signatures[right]).mean(axis=1) >= ALIKE_PLACES
    edges = (np.ones(int(alike.sum())), (left[alike], right[alike]))
    _, labels = sparse.csgraph.connected_components(sparse.csr_matrix(edges, (count, count)), directed=False)
    first, numbers = np.unique(labels, return_index=True, return_inverse=True)[1:]
    return np.asarray(np.argsort(np.argsort(first))[numbers], dtype=np.int64)


def copies_among(groups: Longs) -> int:
    """Return how many documents are reprints of an earlier one.

    >>> copies_among(np.array([0, 1, 0, 0]))
    2
    """
    return len(groups) - len(np.unique(groups))
