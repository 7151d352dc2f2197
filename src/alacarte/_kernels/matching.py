"""Where do targets (words and n-grams, as sequences of token ids) occur? One look-up a token and n-gram length.

Sequences are kept flat: sequence s is `flat[bounds[s]:bounds[s + 1]]`. A word id leads straight to its one-word
sequence; longer ones are found through a hash table with open addressing, and every hit is verified, so a
collision costs time and never a wrong match.
"""

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

EMPTY = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(cache=True, nogil=True, inline="always")
def _mix(code: np.uint64, token: np.int32) -> np.uint64:
    code = (code ^ np.uint64(token)) * MULTIPLIER
    return code ^ (code >> np.uint64(29))


@numba.njit(cache=True, nogil=True)
def build_table(flat: Ints, bounds: Longs, size: int) -> Ints:
    """Hash table of all sequences of two or more ids; `size` is a power of two above their number."""
    table = np.full(size, EMPTY, dtype=np.int32)
    mask = np.uint64(size - 1)
    for s in range(bounds.size - 1):
        low, high = bounds[s], bounds[s + 1]
        if high - low < 2:
            continue
        code = np.uint64(high - low)
        for i in range(low, high):
            code = _mix(code, flat[i])
        slot = code & mask
        while table[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = s
    return table


@numba.njit(cache=True, nogil=True)
def find_sequences(
    ids: Ints,
    offsets: Longs,
    single: Ints,
    lengths: Longs,
    starters: npt.NDArray[np.uint8],
    flat: Ints,
    bounds: Longs,
    table: Ints,
    starts: Ints,
    ends: Ints,
    found: Ints,
) -> int:
    """Fill `starts`, `ends`, `found` (sequence numbers) with every occurrence; return how many there are.

    `single[id]` is the one-word sequence of an id or -1; `starters[id]` tells whether any longer sequence begins
    with it. The output arrays hold at least len(ids) × (1 + len(lengths)) entries.
    """
    count = 0
    mask = np.uint64(table.size - 1)
    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        for i in range(begin, stop):
            token = ids[i]
            if token < 0:
                continue
            if single[token] != EMPTY:
                starts[count] = i
                ends[count] = i + 1
                found[count] = single[token]
                count += 1
            if starters[token] == 0:
                continue
            for length in lengths:
                if i + length > stop:
                    break
                code = np.uint64(length)
                for k in range(i, i + length):
                    code = _mix(code, ids[k])
                slot = code & mask
                while table[slot] != EMPTY:
                    s = table[slot]
                    low = bounds[s]
                    if bounds[s + 1] - low == length:
                        same = True
                        for k in range(length):
                            if flat[low + k] != ids[i + k]:
                                same = False
                                break
                        if same:
                            starts[count] = i
                            ends[count] = i + length
                            found[count] = s
                            count += 1
                            break
                    slot = (slot + np.uint64(1)) & mask
    return count
