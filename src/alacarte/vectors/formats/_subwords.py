"""fastText's character n-grams: which rows of the n-gram matrix a word uses, and the mean over them."""

import numpy as np

from alacarte._io.arrays import Bytes, Longs, Singles
from alacarte._io.compiled import kernel


@kernel
def ngram_rows(word: Bytes, shortest: int, longest: int, buckets: int, out: Longs) -> int:
    """Fill `out` with the bucket of every n-gram of "<word>", given with its brackets; returns how many."""
    size = len(word)
    count = 0
    for begin in range(size):
        if (word[begin] & 0xC0) == 0x80:  # inside a character
            continue
        hashed = np.uint32(2166136261)
        end = begin
        length = 1
        while end < size and length <= longest:
            first = True
            while end < size and (first or (word[end] & 0xC0) == 0x80):
                first = False
                # fastText reads bytes as signed, which sets the upper bits of those above 127.
                byte = np.uint32(word[end])
                if byte >= 128:
                    byte = np.uint32(byte | np.uint32(0xFFFFFF00))
                hashed = np.uint32(np.uint32(hashed ^ byte) * np.uint32(16777619))
                end += 1
            if length >= shortest and not (length == 1 and (begin == 0 or end == size)):
                out[count] = np.int64(hashed) % buckets
                count += 1
            length += 1
    return count


@kernel
def mean_rows(
    data: Bytes,
    offsets: Longs,
    own: Singles,
    ngrams: Singles,
    shortest: int,
    longest: int,
    out: Singles,
) -> None:
    """Compute the vector of each word: the mean of its row in `own` and of the rows of its n-grams in `ngrams`.

    `data[offsets[i]:offsets[i + 1]]` is "<word>"; an empty span marks a word that has no n-grams.
    """
    rows = np.empty(1024, np.int64)
    for i in range(len(offsets) - 1):
        word = data[offsets[i] : offsets[i + 1]]
        if len(word) * longest > len(rows):
            rows = np.empty(len(word) * longest, np.int64)
        count = ngram_rows(word, shortest, longest, len(ngrams), rows)
        for column in range(out.shape[1]):
            out[i, column] = own[i, column]
        for k in range(count):
            for column in range(out.shape[1]):
                out[i, column] += ngrams[rows[k], column]
        scale = np.float32(1.0 / (count + 1))
        for column in range(out.shape[1]):
            out[i, column] *= scale
