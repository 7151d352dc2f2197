"""Ids and matches → sums of the windows around matches, in whole numbers.

A row of `rows` holds a word's vector as integers, then its weight and a 1 if it counts at all, so that a window's total
weight and its number of words are two more dimensions of the same sum. A row of `sums` holds the same columns added up
over all windows of a target, then the number of windows and of windows that are not empty.

Three ways to the same numbers, chosen by what there is to do. Where every word is a target, a window moves along the
document, one row added and one taken away at each step. Where matches are many and of any length, the running sum of
all rows from the first match on is kept for the last positions, and a window is the difference of four of them:
those sums wrap around in 32 bits, which does not matter, since a window fits (`Scale`) and arithmetic modulo 2³² is
exact. Where matches are few, or weights depend on distance, the rows of each window are added one by one.

Several threads add to the same sums. The first targets that a thread meets, which are the commonest, get rows of the
thread's own as long as there is room for them; all others are added under a lock for each stripe of rows.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from alacarte._io.compiled import announce, inlined, intrinsic, kernel, pointer, prefetch
from alacarte.contexts._vector_code import add_difference, advance, move, move_and_add
from alacarte.contexts.integers import LANES

AHEAD = 6  # matches between asking for a row and using it; 3 and 12, tried once at d = 100 and 300, are within 10 %
LONGEST = 256  # tokens in a match for which running sums are kept
APART = 16  # locks lie a cache line apart

announce(__name__, "the sums of contexts", 15)

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


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
    """What is at `index`, and with it all that was written before it was put there with `_release`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = signature.args[0].dtype.bitwidth // 8
        return builder.load_atomic(builder.gep(arguments[0], [arguments[1]]), "acquire", width)

    return array.dtype(array, types.int64), generate


@kernel
def quantise_rows(
    ids: Ints, matrix: Singles, weights: Singles, factors: Doubles, weight_factor: float, rows: Ints, filled: Bytes
) -> None:
    """Make the rows of the words in `ids` that are not `filled`: rint(weight · value · factor) in each dimension.

    Several threads may do so at once: if two make the same row, both write the same numbers.
    """
    known, dimension = matrix.shape
    width, count, weighted = rows.shape[1], ids.size, weights.size > 0
    ids, matrix, weights, factors = pointer(ids), pointer(matrix), pointer(weights), pointer(factors)
    rows, filled = pointer(rows), pointer(filled)
    for place in range(count):
        word = np.int64(ids[place])
        if word < 0 or word >= known or _acquire(filled, word):
            continue
        weight = np.float64(weights[word]) if weighted else 1.0
        row, values = word * width, word * dimension
        for j in range(dimension):
            rows[row + j] = np.int32(np.rint(weight * np.float64(matrix[values + j]) * factors[j]))
        rows[row + dimension] = np.int32(np.rint(weight * weight_factor))
        rows[row + dimension + 1] = np.int32(weight > 0.0)
        _release(filled, word, np.uint8(1))


# What follows works on pointers: an array that is handed over is counted, by one atomic step before and one after,
# which costs more than a row. Rows are whole numbers of sixteens: what lies behind the last column is zero.


@inlined
def _fetch(numbers, at, width, line):  # type: ignore[no-untyped-def]
    """Have a row in the cache by the time it is needed; `line` is how many of its values a cache line holds."""
    for j in range(0, width, line):
        prefetch(numbers, at + j)


@inlined
def _known(word, known):  # type: ignore[no-untyped-def]
    """The row of a word: its own, or the last one, which is zero."""
    return np.int64(word) if 0 <= word < known else np.int64(known)


@inlined
def _advance(ring, old, new, rows, row, width):  # type: ignore[no-untyped-def]
    """The running sum one word on."""
    for j in range(0, width, LANES):
        advance(ring, old + j, new + j, rows, row + j)


@inlined
def _clear(numbers, at, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        numbers[at + j] = 0


@inlined
def _lock(locks, stripes, row):  # type: ignore[no-untyped-def]
    """Wait for the lock of a row's stripe, if there are any; its place, for `_unlock`."""
    place = (row & (stripes - 1)) * APART
    if stripes:
        while _exchange(locks, place, np.int32(1)) != 0:
            pass
    return place


@inlined
def _unlock(locks, stripes, place):  # type: ignore[no-untyped-def]
    if stripes:
        _release(locks, place, np.int32(0))


@inlined
def _own_row(row, slots, owners, capacity, used):  # type: ignore[no-untyped-def]
    """The number of the thread's own row for a row of the sums, taken now if there is room; -1 if it has none."""
    if capacity == 0:
        return np.int64(-1)
    slot = np.int64(slots[row])
    if slot < 0 and used[0] < capacity:
        slot = used[0]
        slots[row] = np.int32(slot)
        owners[slot] = row
        used[0] = slot + 1
    return slot


@inlined
def _fetch_sums(row, stride, slots, capacity, private, sums):  # type: ignore[no-untyped-def]
    if capacity and slots[row] >= 0:
        _fetch(private, np.int64(slots[row]) * stride, stride, 8)
    else:
        _fetch(sums, row * stride, stride, 8)


@inlined
def _move(window, rows, enter, leave, width):  # type: ignore[no-untyped-def]
    for j in range(0, width, LANES):
        move(window, j, rows, enter + j, leave + j)


@inlined
def _move_and_add(sums, at, window, rows, enter, leave, own, width, dimension, mean):  # type: ignore[no-untyped-def]
    """Move the window one word on, and add it less the target's own row."""
    if mean == 0.0:
        for j in range(0, width, LANES):
            move_and_add(window, j, rows, enter + j, leave + j, own + j, sums, at + j)
        words = np.int32(window[dimension + 1] - rows[own + dimension + 1])
    else:
        _move(window, rows, enter, leave, width)
        weight = np.int64(np.int32(window[dimension] - rows[own + dimension]))
        words = np.int32(window[dimension + 1] - rows[own + dimension + 1])
        scale = mean / weight if weight > 0 else 0.0
        for j in range(dimension):
            sums[at + j] += np.int64(np.rint(scale * np.float64(np.int32(window[j] - rows[own + j]))))
        sums[at + dimension] += weight
        sums[at + dimension + 1] += np.int64(words)
    sums[at + dimension + 2] += 1
    sums[at + dimension + 3] += np.int64(words > 0)


@kernel
def add_vocabulary(
    ids: Ints,
    offsets: Longs,
    group_of: Ints,
    groups: int,
    rows: Ints,
    dimension: int,
    left: int,
    right: int,
    mean: float,
    sums: Longs,
    stride: int,
    slots: Ints,
    owners: Longs,
    used: Longs,
    private: Longs,
    locks: Ints,
    window: Ints,
) -> None:
    """Every word that has a row is a target: add the window around each to its row of `sums`.

    With `groups` > 1, document i adds to row word · groups + group_of[i]. `mean` is 0, or what a window's sum is
    multiplied by before it is divided by the window's weight. The last row of `rows` is zero. `slots` (empty: none)
    says which row of `private` stands for a row of the sums, `owners` the other way round, for the first `used[0]`.
    `window` is room for a row.
    """
    known, width = rows.shape[0] - 1, rows.shape[1]
    documents, capacity, stripes = offsets.size - 1, owners.size, locks.size // APART
    tokens = ids.size
    ids, offsets, group_of, flat = pointer(ids), pointer(offsets), pointer(group_of), pointer(rows)
    sums, private, window, locks = pointer(sums), pointer(private), pointer(window), pointer(locks)
    slots, owners, used = pointer(slots), pointer(owners), pointer(used)
    for document in range(documents):
        begin, stop = offsets[document], offsets[document + 1]
        group = np.int64(group_of[document]) if groups > 1 else np.int64(0)
        _clear(window, 0, width)
        for p in range(begin, min(stop, begin + right)):
            _advance(window, 0, 0, flat, _known(ids[p], known) * width, width)
        for p in range(begin, stop):
            coming = p + AHEAD  # in this document or the next
            if coming < tokens and 0 <= ids[coming] < known:
                _fetch_sums(np.int64(ids[coming]) * groups + group, stride, slots, capacity, private, sums)
            coming = p + right + AHEAD
            if coming < tokens and 0 <= ids[coming] < known:
                _fetch(flat, np.int64(ids[coming]) * width, width, 16)
            enter = _known(ids[p + right], known) * width if p + right < stop else np.int64(known) * width
            leave = _known(ids[p - left - 1], known) * width if p - left > begin else np.int64(known) * width
            if not 0 <= ids[p] < known:
                _move(window, flat, enter, leave, width)
                continue
            row, own = np.int64(ids[p]) * groups + group, np.int64(ids[p]) * width
            slot = _own_row(row, slots, owners, capacity, used)
            if slot >= 0:
                _move_and_add(private, slot * stride, window, flat, enter, leave, own, width, dimension, mean)
            else:
                place = _lock(locks, stripes, row)
                _move_and_add(sums, row * stride, window, flat, enter, leave, own, width, dimension, mean)
                _unlock(locks, stripes, place)


@inlined
def _add_window(sums, at, ring, before, low, high, after, width, dimension, mean):  # type: ignore[no-untyped-def]
    """Add the window (running sums before − low + high − after) to a row of sums."""
    j = dimension + 1
    words = np.int32(np.int32(ring[before + j] - ring[low + j]) + np.int32(ring[high + j] - ring[after + j]))
    if mean == 0.0:
        for j in range(0, width, LANES):
            add_difference(sums, at + j, ring, before + j, low + j, high + j, after + j)
    else:
        j = dimension
        weight = np.int32(np.int32(ring[before + j] - ring[low + j]) + np.int32(ring[high + j] - ring[after + j]))
        scale = mean / weight if weight > 0 else 0.0
        for j in range(dimension):
            left, right = np.int32(ring[before + j] - ring[low + j]), np.int32(ring[high + j] - ring[after + j])
            sums[at + j] += np.int64(np.rint(scale * np.float64(np.int32(left + right))))
        sums[at + dimension] += np.int64(weight)
        sums[at + dimension + 1] += np.int64(words)
    sums[at + dimension + 2] += 1
    sums[at + dimension + 3] += np.int64(words > 0)


@kernel
def add_matches(
    ids: Ints,
    offsets: Longs,
    bounds: Longs,
    starts: Ints,
    ends: Ints,
    targets: Ints,
    rows: Ints,
    dimension: int,
    left: Doubles,
    right: Doubles,
    uniform: bool,
    mean: float,
    sums: Longs,
    stride: int,
    slots: Ints,
    owners: Longs,
    used: Longs,
    private: Longs,
    locks: Ints,
    ring: Ints,
    wide: Doubles,
) -> None:
    """Add the window around each match to its target's row of `sums`.

    Matches are sorted by start; those of document i are [bounds[i], bounds[i + 1]). `left[k]` and `right[k]` weigh
    distance k + 1; `uniform` says they are all 1. `ring` is room for running sums, a power of two of rows
    (`ring_rows`), and two rows behind them, the last of them zero; `wide` for a row with its weight and its number of
    words. The rest is as in `add_vocabulary`.
    """
    known, width = rows.shape[0] - 1, rows.shape[1]
    documents, capacity, stripes = offsets.size - 1, owners.size, locks.size // APART
    n_left, n_right, columns = left.size, right.size, wide.size
    tokens, matches = ids.size, starts.size
    size = ring.size // width - 2
    mask = size - 1
    ids, offsets, bounds, flat = pointer(ids), pointer(offsets), pointer(bounds), pointer(rows)
    starts, ends, targets = pointer(starts), pointer(ends), pointer(targets)
    sums, private, ring, locks = pointer(sums), pointer(private), pointer(ring), pointer(locks)
    slots, owners, used = pointer(slots), pointer(owners), pointer(used)
    left, right, wide = pointer(left), pointer(right), pointer(wide)
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
                place = _lock(locks, stripes, row)
                _add_weighed(sums, row * stride, wide, dimension, mean)
                _unlock(locks, stripes, place)
                continue
            if few:
                _clear(ring, single, width)
                for p in range(low, start):
                    _advance(ring, single, single, flat, _known(ids[p], known) * width, width)
                for p in range(end, high):
                    _advance(ring, single, single, flat, _known(ids[p], known) * width, width)
                before, low, high, after = single, zero, zero, zero
            else:
                if m + 2 * AHEAD < matches and capacity:
                    prefetch(slots, np.int64(targets[m + 2 * AHEAD]))
                if m + AHEAD < matches:
                    _fetch_sums(np.int64(targets[m + AHEAD]), stride, slots, capacity, private, sums)
                coming = end + n_right + AHEAD
                if coming < tokens and 0 <= ids[coming] < known:
                    _fetch(flat, np.int64(ids[coming]) * width, width, 16)
                while at < high:
                    word = _known(ids[at], known)
                    _advance(ring, (at & mask) * width, ((at + 1) & mask) * width, flat, word * width, width)
                    at += 1
                before, after = (start & mask) * width, (end & mask) * width
                low, high = (low & mask) * width, (high & mask) * width
            slot = _own_row(row, slots, owners, capacity, used)
            if slot >= 0:
                _add_window(private, slot * stride, ring, before, low, high, after, width, dimension, mean)
            else:
                place = _lock(locks, stripes, row)
                _add_window(sums, row * stride, ring, before, low, high, after, width, dimension, mean)
                _unlock(locks, stripes, place)


def ring_rows(left: int, right: int, longest: int) -> int:
    """How many running sums `add_matches` has to keep for matches of up to so many words."""
    rows = 1
    while rows < left + right + min(longest, LONGEST) + 2:
        rows *= 2
    return rows


@inlined
def _weigh_window(ids, low, start, end, high, known, rows, width, left, right, wide, columns):  # type: ignore[no-untyped-def]
    """The window with weights by distance, in float64 and in a fixed order: to the left, then to the right."""
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
    """Round once, then add."""
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
