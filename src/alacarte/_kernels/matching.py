"""Where do targets (words and n-grams, as sequences of token ids) occur? One look-up a token and n-gram length.

Sequences are kept flat: sequence s is `flat[bounds[s]:bounds[s + 1]]`. A word id leads straight to its one-word
sequence; longer ones are found through a hash table with open addressing, and every hit is verified, so a collision
costs time and never a wrong match. The hash of an n-gram extends that of the (n-1)-gram before it. With millions of
targets the table does not fit the processor's cache; the places to be looked at are asked for some tokens ahead.
"""

import numba
import numpy as np
import numpy.typing as npt

from alacarte._kernels.compiled import inner, kernel
from alacarte._kernels.prefetch import prefetch

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Slots = npt.NDArray[np.uint64]

EMPTY = -1
ALONE, STARTS = 1, 2  # roles of an id: a sequence of its own, the beginning of longer ones
AHEAD = 16  # tokens whose hashes are made together
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
UPPER, LOWER = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)


@numba.njit(cache=True, nogil=True, inline="always")
def _extend(code: np.uint64, token: np.int32) -> np.uint64:
    code = (code ^ np.uint64(token)) * MULTIPLIER
    return code ^ (code >> np.uint64(29))


@kernel
def build_table(flat: Ints, bounds: Longs, size: int) -> Slots:
    """Hash table of all sequences of two or more ids; `size` is a power of two above their number.

    A slot holds the upper half of the hash and the number of the sequence plus one; zero is an empty slot.
    """
    table = np.zeros(size, dtype=np.uint64)
    mask = np.uint64(size - 1)
    for s in range(bounds.size - 1):
        low, high = bounds[s], bounds[s + 1]
        if high - low < 2:
            continue
        code = np.uint64(0)
        for i in range(low, high):
            code = _extend(code, flat[i])
        slot = code & mask
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = (code & UPPER) | np.uint64(s + 1)
    return table


@kernel
def find_sequences(
    ids: Ints,
    offsets: Longs,
    single: Ints,
    lengths: Longs,
    roles: npt.NDArray[np.uint8],
    flat: Ints,
    bounds: Longs,
    table: Slots,
    starts: Ints,
    ends: Ints,
    found: Ints,
) -> int:
    """Fill `starts`, `ends`, `found` (sequence numbers) with every occurrence; return how many there are.

    `roles[id]` is 0 for the many ids that no sequence begins with, so that these cost nothing but a glance;
    `single[id]` is the one-word sequence of an id or -1. `lengths` rise. The output arrays hold at least
    len(ids) × (1 + len(lengths)) entries.
    """
    count = 0
    mask = np.uint64(table.size - 1)
    codes = np.empty((AHEAD, max(1, lengths.size)), dtype=np.uint64)
    reach = np.empty(AHEAD, dtype=np.int64)  # how many lengths fit at a token
    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        for first in range(begin, stop, AHEAD):
            last = min(first + AHEAD, stop)
            anything = False
            for i in range(first, last):
                token = ids[i]
                reach[i - first] = -1
                if token >= 0 and roles[token]:
                    anything = True
                    reach[i - first] = 0
                    if roles[token] & STARTS:
                        reach[i - first] = _hash_ngrams(ids, i, stop, lengths, codes[i - first])
                        for k in range(reach[i - first]):
                            prefetch(table, np.int64(codes[i - first, k] & mask))  # type: ignore[call-arg]
            if not anything:
                continue
            for i in range(first, last):
                if reach[i - first] < 0:
                    continue
                if single[ids[i]] != EMPTY:
                    starts[count] = i
                    ends[count] = i + 1
                    found[count] = single[ids[i]]
                    count += 1
                for k in range(reach[i - first]):
                    s = _look_up(ids, i, lengths[k], codes[i - first, k], flat, bounds, table)
                    if s != EMPTY:
                        starts[count] = i
                        ends[count] = i + lengths[k]
                        found[count] = s
                        count += 1
    return count


@inner
def _hash_ngrams(ids, i, stop, lengths, codes):  # type: ignore[no-untyped-def]
    """Hashes of the n-grams at i for each length; how many there are before the document or the known ids end."""
    code = np.uint64(0)
    done = 0
    for k in range(lengths.size):
        if i + lengths[k] > stop:
            return k
        while done < lengths[k]:
            if ids[i + done] < 0:
                return k
            code = _extend(code, ids[i + done])
            done += 1
        codes[k] = code
    return lengths.size


@inner
def _look_up(ids, i, length, code, flat, bounds, table):  # type: ignore[no-untyped-def]
    """The number of the sequence ids[i:i + length], or -1."""
    mask = np.uint64(table.size - 1)
    slot = code & mask
    while True:
        entry = table[slot]
        if entry == 0:
            return np.int64(EMPTY)
        if (entry ^ code) & UPPER == 0:
            s = np.int64(entry & LOWER) - 1
            low = bounds[s]
            if bounds[s + 1] - low == length:
                same = True
                for k in range(length):
                    if flat[low + k] != ids[i + k]:
                        same = False
                        break
                if same:
                    return s
        slot = (slot + np.uint64(1)) & mask
