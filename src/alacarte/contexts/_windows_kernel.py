"""Ids and matches → sums of the windows around matches, in whole numbers.

A row of `rows` holds a word's vector as integers, then its weight and a 1 if it counts at all, so that a window's total
weight and its number of words are two more dimensions of the same sum. A row of `sums` holds the same columns added up
over all windows of a target, then the number of windows and of windows that are not empty.

Three ways to the same numbers, chosen by what there is to do. Where every word is a target, a window moves along the
document, one row added and one taken away at each step, and is all the while in the processor's registers (for long
vectors, one piece of their dimensions after the other). Where matches are many and of any length, the running sum of
all rows from the first match on is kept for the last positions, and a window is the difference of four of them:
those sums wrap around in 32 bits, which does not matter, since a window fits (`Scale`) and arithmetic modulo 2³² is
exact. Where matches are few, or weights depend on distance, the rows of each window are added one by one.

Several threads add to the same sums. The first targets that a thread meets, which are the commonest, get rows of the
thread's own as long as there is room for them; all others are added under a lock for each stripe of rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from alacarte._io.arrays import Bytes, Doubles, Ints, Longs, Singles
from alacarte._io.compiled import inlined, intrinsic, kernel, pointer, prefetch
from alacarte.contexts._vector_code import (
    add_row,
    fetch,
    no_words,
    row_at,
    store,
    with_row,
    without_row,
)
from alacarte.contexts.integers import LANES
from alacarte.contexts.scale import FINER

AHEAD = 6  # matches between asking for a row and using it; 3 and 12, tried once at d = 100 and 300, are within 10 %
LONGEST_MATCH = 256  # tokens in a match for which running sums are kept
APART = 16  # locks lie a cache line apart


@intrinsic
def _exchange(context, array, index, value):  # type: ignore[no-untyped-def]
    """Put `value` at `index` and return what was there, as one step that no other thread can divide."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", builder.gep(arguments[0], [arguments[1]]), arguments[2], "acquire")

    return types.int32(array, types.int64, types.int32), generate


@intrinsic
def _release(context, array, index, value):  # type: ignore[no-untyped-def]
    """Put `value` at `index`; a thread that finds it there finds all that was written before, too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = signature.args[2].bitwidth // 8
        builder.store_atomic(arguments[2], builder.gep(arguments[0], [arguments[1]]), "release", width)
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


@intrinsic
def _acquire(context, array, index):  # type: ignore[no-untyped-def]
    """Return what is at `index`, and with it all that was written before it was put there with `_release`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = signature.args[0].dtype.bitwidth // 8
        return builder.load_atomic(builder.gep(arguments[0], [arguments[1]]), "acquire", width)

    return array.dtype(array, types.int64), generate


@kernel
def quantise_rows(
    ids: Ints,
    matrix: Singles,
    first: int,
    weights: Singles,
    factors: Doubles,
    split: Longs,
    weight_factor: float,
    rows: Ints,
    filled: Bytes,
) -> None:
    """Make the rows of the words in `ids` that are not `filled`: rint(weight · value · factor) in each dimension.

    `factors` are those of the dimensions from `first` on. Of a dimension in `split`, the number with `FINER` more bits
    is made; its lowest bits lie behind the dimensions.

    Several threads may do so at once: if two make the same row, both write the same numbers.
    """
    known, columns = matrix.shape
    dimension, width, count, weighted = factors.size, rows.shape[1], ids.size, weights.size > 0
    second_parts = split.size
    behind = dimension + second_parts
    ids, matrix, weights, factors = pointer(ids), pointer(matrix), pointer(weights), pointer(factors)
    split = pointer(split)
    rows, filled = pointer(rows), pointer(filled)
    for place in range(count):
        word = np.int64(ids[place])
        if word < 0 or word >= known or _acquire(filled, word):
            continue
        weight = np.float64(weights[word]) if weighted else 1.0
        row, values = word * width, word * columns + first
        for j in range(dimension):
            rows[row + j] = np.int32(np.rint(weight * np.float64(matrix[values + j]) * factors[j]))
        for part in range(second_parts):
            j = split[part]
            number = np.int64(np.rint(weight * np.float64(matrix[values + j]) * factors[j] * (1 << FINER)))
            rows[row + j] = np.int32(number >> FINER)
            rows[row + dimension + part] = np.int32(number & ((1 << FINER) - 1))
        rows[row + behind] = np.int32(np.rint(weight * weight_factor))
        rows[row + behind + 1] = np.int32(weight > 0.0)
        _release(filled, word, np.uint8(1))


# What follows works on pointers: an array that is handed over is counted, by one atomic step before and one after,
# which costs more than a row. Rows are whole numbers of sixteens: what lies behind the last column is zero.


class _Places(NamedTuple):
    """Where windows are added, for one thread.

    `rows` are those of all threads, flat, `stride` values each, under `locks`. `private` are rows of the thread's own,
    likewise, `capacity` of them: `slots` says which of them belongs to a row of the sums, `owners` the other way round,
    for the first `used[0]`. Kernels get it as a plain tuple of arrays, in this order and without the two sizes, which
    numba takes in a tenth of the time.
    """

    rows: Any
    stride: int
    locks: Any
    stripes: int
    slots: Any
    owners: Any
    used: Any
    capacity: int
    private: Any


@inlined
def _places(sums):  # type: ignore[no-untyped-def]
    rows, stride, locks, slots, owners, used, private = sums
    return _Places(
        pointer(rows),
        stride,
        pointer(locks),
        locks.size // APART,
        pointer(slots),
        pointer(owners),
        pointer(used),
        owners.size,
        pointer(private),
    )


@inlined
def _known(word, known):  # type: ignore[no-untyped-def]
    """Return the row of a word: its own, or the last one, which is zero."""
    return np.int64(word) if 0 <= word < known else np.int64(known)


@inlined
def _lock(row, sums):  # type: ignore[no-untyped-def]
    """Wait for the lock of a row's stripe, if there are any; its place, for `_unlock`."""
    place = (row & (sums.stripes - 1)) * APART
    if sums.stripes:
        while _exchange(sums.locks, place, np.int32(1)) != 0:
            pass
    return place


@inlined
def _unlock(place, sums):  # type: ignore[no-untyped-def]
    if sums.stripes:
        _release(sums.locks, place, np.int32(0))


@inlined
def _own_row(row, sums):  # type: ignore[no-untyped-def]
    """Return the number of the thread's own row for a row of the sums, taken now if there is room; else -1."""
    if sums.capacity == 0:
        return np.int64(-1)
    slot = np.int64(sums.slots[row])
    if slot < 0 and sums.used[0] < sums.capacity:
        slot = sums.used[0]
        sums.slots[row] = np.int32(slot)
        sums.owners[slot] = row
        sums.used[0] = slot + 1
    return slot


@inlined
def _add_window(window, first, counts, words, row, sums):  # type: ignore[no-untyped-def]
    """Add a piece of a window, from column `first` on, to a row of the sums or the thread's own row for it.

    `counts` is where the counts of windows are, in the last piece of a row; before that it is 0.
    """
    slot = _own_row(row, sums)
    if slot >= 0:
        _add_to(sums.private, slot * sums.stride, window, first, counts, words)
    else:
        place = _lock(row, sums)
        _add_to(sums.rows, row * sums.stride, window, first, counts, words)
        _unlock(place, sums)


@inlined
def _add_to(rows, at, window, first, counts, words):  # type: ignore[no-untyped-def]
    add_row(window, rows, at + first)
    if counts:
        rows[at + counts] += 1
        rows[at + counts + 1] += np.int64(words > 0)


@inlined
def _fetch_sums(row, first, piece, lanes, sums):  # type: ignore[no-untyped-def]
    """Have a row of the sums, or a piece of it, in the cache by the time it is needed."""
    if sums.capacity and sums.slots[row] >= 0:
        _fetch_row(sums.private, np.int64(sums.slots[row]) * sums.stride + first, piece, lanes)
    else:
        _fetch_row(sums.rows, row * sums.stride + first, piece, lanes)


@inlined
def _fetch_row(numbers, at, width, lanes):  # type: ignore[no-untyped-def]
    for j in range(0, width, LANES * len(lanes)):
        fetch(lanes, numbers, at + j)


@kernel
def add_vocabulary(
    ids: Ints,
    offsets: Longs,
    group_of: Ints,
    groups: int,
    rows: Ints,
    lanes: tuple[int, ...],
    dimension: int,
    left: int,
    right: int,
    sums: tuple[Any, ...],
) -> None:
    """Add the window around every word that has a row to the word's row of `sums`, the tuple of arrays of `_Places`.

    With `groups` > 1, document i adds to row word · groups + group_of[i]. The last row of `rows` is zero; `lanes` has
    an element for each vector of a piece of a row, and a row is a whole number of such pieces.
    """
    known, width = rows.shape[0] - 1, rows.shape[1]
    documents, tokens, piece = offsets.size - 1, ids.size, LANES * len(lanes)
    ids, offsets, group_of, flat = pointer(ids), pointer(offsets), pointer(group_of), pointer(rows)
    places = _places(sums)
    for document in range(documents):
        begin, stop = offsets[document], offsets[document + 1]
        group = np.int64(group_of[document]) if groups > 1 else np.int64(0)
        for first in range(0, width, piece):
            counts = dimension + 2 if first + piece == width else 0
            window, words = no_words(lanes), np.int32(0)
            for p in range(begin, min(stop, begin + right)):
                row = _known(ids[p], known) * width
                window = with_row(window, flat, row + first)
                words += flat[row + dimension + 1]
            for p in range(begin, stop):
                coming = p + AHEAD  # in this document or the next
                if coming < tokens and 0 <= ids[coming] < known:
                    _fetch_sums(np.int64(ids[coming]) * groups + group, first, piece, lanes, places)
                coming = p + right + AHEAD
                if coming < tokens and 0 <= ids[coming] < known:
                    fetch(lanes, flat, np.int64(ids[coming]) * width + first)
                enter = _known(ids[p + right], known) * width if p + right < stop else np.int64(known) * width
                leave = _known(ids[p - left - 1], known) * width if p - left > begin else np.int64(known) * width
                window = without_row(with_row(window, flat, enter + first), flat, leave + first)
                words += flat[enter + dimension + 1] - flat[leave + dimension + 1]
                if not 0 <= ids[p] < known:
                    continue
                own, row = np.int64(ids[p]) * width, np.int64(ids[p]) * groups + group
                others = words - flat[own + dimension + 1]
                _add_window(without_row(window, flat, own + first), first, counts, others, row, places)


@inlined
def _clear(numbers, at, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        numbers[at + j] = 0


@inlined
def _advance(ring, old, new, rows, row, width, lanes):  # type: ignore[no-untyped-def]
    """Return the running sum one word on."""
    for j in range(0, width, LANES * len(lanes)):
        store(with_row(row_at(lanes, ring, old + j), rows, row + j), ring, new + j)


@inlined
def _add_mean(ring, before, low, high, after, dimension, mean, row, sums):  # type: ignore[no-untyped-def]
    """Add the mean of a window (running sums before − low + high − after) to a row of the sums, rounded once."""
    at = row * sums.stride
    j = dimension
    weight = np.int32(np.int32(ring[before + j] - ring[low + j]) + np.int32(ring[high + j] - ring[after + j]))
    j = dimension + 1
    words = np.int32(np.int32(ring[before + j] - ring[low + j]) + np.int32(ring[high + j] - ring[after + j]))
    scale = mean / weight if weight > 0 else 0.0
    place = _lock(row, sums)
    for j in range(dimension):
        left, right = np.int32(ring[before + j] - ring[low + j]), np.int32(ring[high + j] - ring[after + j])
        sums.rows[at + j] += np.int64(np.rint(scale * np.float64(np.int32(left + right))))
    sums.rows[at + dimension] += np.int64(weight)
    sums.rows[at + dimension + 1] += np.int64(words)
    sums.rows[at + dimension + 2] += 1
    sums.rows[at + dimension + 3] += np.int64(words > 0)
    _unlock(place, sums)


@kernel
def add_matches(
    ids: Ints,
    offsets: Longs,
    bounds: Longs,
    starts: Ints,
    ends: Ints,
    targets: Ints,
    rows: Ints,
    lanes: tuple[int, ...],
    dimension: int,
    left: Doubles,
    right: Doubles,
    uniform: bool,
    mean: float,
    sums: tuple[Any, ...],
    ring: Ints,
    wide: Doubles,
) -> None:
    """Add the window around each match to its target's row of `sums`, the tuple of arrays of `_Places`.

    Matches are sorted by start; those of document i are [bounds[i], bounds[i + 1]). `left[k]` and `right[k]` weigh
    distance k + 1; `uniform` says they are all 1. `mean` is 0, or what a window's sum is multiplied by before it is
    divided by the window's weight. `ring` is room for running sums, a power of two of rows (`ring_rows`), and two rows
    behind them, the last of them zero; `wide` for a row with its weight and its number of words. The rest is as in
    `add_vocabulary`.
    """
    known, width = rows.shape[0] - 1, rows.shape[1]
    documents, piece = offsets.size - 1, LANES * len(lanes)
    n_left, n_right, columns = left.size, right.size, wide.size
    tokens, matches = ids.size, starts.size
    size = ring.size // width - 2
    mask = size - 1
    ids, offsets, bounds, flat = pointer(ids), pointer(offsets), pointer(bounds), pointer(rows)
    starts, ends, targets = pointer(starts), pointer(ends), pointer(targets)
    left, right, wide, ring, places = pointer(left), pointer(right), pointer(wide), pointer(ring), _places(sums)
    single, zero = size * width, (size + 1) * width
    for document in range(documents):
        begin, stop = offsets[document], offsets[document + 1]
        first, last = bounds[document], bounds[document + 1]
        if first == last:
            continue
        few = (last - first) * (n_left + n_right) <= 3 * (stop - begin)
        longest = np.int64(0)
        for m in range(first, last):
            longest = max(longest, np.int64(ends[m]) - np.int64(starts[m]))
        few = few or n_left + n_right + longest + 2 > size
        at = max(begin, np.int64(starts[first]) - n_left)  # nothing before it is asked for
        _clear(ring, (at & mask) * width, width)
        for m in range(first, last):
            start, end, row = np.int64(starts[m]), np.int64(ends[m]), np.int64(targets[m])
            low, high = max(begin, start - n_left), min(stop, end + n_right)
            if not uniform:
                _weigh_window(ids, low, start, end, high, known, flat, width, left, right, wide, columns)
                place = _lock(row, places)
                _add_weighed(places.rows, row * places.stride, wide, dimension, mean)
                _unlock(place, places)
                continue
            if few:
                _clear(ring, single, width)
                for p in range(low, start):
                    _advance(ring, single, single, flat, _known(ids[p], known) * width, width, lanes)
                for p in range(end, high):
                    _advance(ring, single, single, flat, _known(ids[p], known) * width, width, lanes)
                before, low, high, after = single, zero, zero, zero
            else:
                if m + 2 * AHEAD < matches and places.capacity:
                    prefetch(places.slots, np.int64(targets[m + 2 * AHEAD]))
                if m + AHEAD < matches:
                    _fetch_sums(np.int64(targets[m + AHEAD]), 0, width, lanes, places)
                coming = end + n_right + AHEAD
                if coming < tokens and 0 <= ids[coming] < known:
                    _fetch_row(flat, np.int64(ids[coming]) * width, width, lanes)
                while at < high:
                    word = _known(ids[at], known)
                    _advance(ring, (at & mask) * width, ((at + 1) & mask) * width, flat, word * width, width, lanes)
                    at += 1
                before, after = (start & mask) * width, (end & mask) * width
                low, high = (low & mask) * width, (high & mask) * width
            if mean != 0.0:
                _add_mean(ring, before, low, high, after, dimension, mean, row, places)
                continue
            j = dimension + 1
            words = np.int32(np.int32(ring[before + j] - ring[low + j]) + np.int32(ring[high + j] - ring[after + j]))
            for j in range(0, width, piece):
                window = without_row(row_at(lanes, ring, before + j), ring, low + j)
                window = without_row(with_row(window, ring, high + j), ring, after + j)
                counts = dimension + 2 if j + piece == width else 0
                _add_window(window, j, counts, words, row, places)


def ring_rows(left: int, right: int, longest: int) -> int:
    """How many running sums `add_matches` has to keep for the longest matches."""
    rows = 1
    while rows < left + right + min(longest, LONGEST_MATCH) + 2:
        rows *= 2
    return rows


@inlined
def _weigh_window(ids, low, start, end, high, known, rows, width, left, right, wide, columns):  # type: ignore[no-untyped-def]
    """Return the window with weights by distance, in float64 and in a fixed order: to the left, then to the right."""
    for j in range(columns):
        wide[j] = 0.0
    for k in range(start - low):
        if 0 <= ids[start - 1 - k] < known and left[k] > 0.0:
            _add_scaled(wide, left[k], rows, np.int64(ids[start - 1 - k]) * width, columns)
    for k in range(high - end):
        if 0 <= ids[end + k] < known and right[k] > 0.0:
            _add_scaled(wide, right[k], rows, np.int64(ids[end + k]) * width, columns)


@inlined
def _add_scaled(wide, scale, rows, row, columns):  # type: ignore[no-untyped-def]
    for j in range(columns - 1):
        wide[j] += scale * np.float64(rows[row + j])
    wide[columns - 1] += np.float64(rows[row + columns - 1])  # a word counts once, whatever its weight


@inlined
def _add_weighed(sums, at, wide, dimension, mean):  # type: ignore[no-untyped-def]
    """Round the window once, and add it."""
    weight = wide[dimension]
    scale = 1.0
    if mean != 0.0:
        scale = mean / weight if weight > 0.0 else 0.0
    for j in range(dimension):
        sums[at + j] += np.int64(np.rint(scale * wide[j]))
    sums[at + dimension] += np.int64(np.rint(weight))
    sums[at + dimension + 1] += np.int64(wide[dimension + 1])
    sums[at + dimension + 2] += 1
    sums[at + dimension + 3] += np.int64(wide[dimension + 1] > 0.0)
