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

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _intrinsic

from alacarte._io.compiled import announce, kernel, prefetch

AHEAD = 6  # matches between asking for a row and using it; 3 and 12, tried once at d = 100 and 300, are within 10 %
LONGEST = 256  # tokens in a match for which running sums are kept
APART = 16  # locks lie a cache line apart

announce(__name__, "the sums of contexts", 15)

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

intrinsic: Any = _intrinsic  # which numba types as what it is before it is compiled
# Copied into the caller as Python, so that no array is handed over.
inlined: Any = numba.njit(cache=True, nogil=True, inline="always")


@intrinsic
def _exchange(context, array, index, value):  # type: ignore[no-untyped-def]
    """Put `value` at `index` and return what was there, as one step that no other thread can divide."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("xchg", builder.gep(view.data, [arguments[1]]), arguments[2], "acquire")

    return types.int32(array, types.int64, types.int32), generate


@intrinsic
def _release(context, array, index):  # type: ignore[no-untyped-def]
    """Put 0 at `index`; a thread that finds it there finds all that was written before, too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        builder.store_atomic(ir.Constant(ir.IntType(32), 0), builder.gep(view.data, [arguments[1]]), "release", 4)
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@kernel
def quantise_rows(
    ids: Ints, matrix: Singles, weights: Singles, factors: Doubles, weight_factor: float, rows: Ints, ready: Any
) -> None:
    """Fill the rows of the words in `ids` that are not `ready`: rint(weight · value · factor) in each dimension."""
    known, dimension = matrix.shape
    for place in range(ids.size):
        word = ids[place]
        if word < 0 or word >= known or ready[word]:
            continue
        weight = np.float64(weights[word]) if weights.size else 1.0
        for j in range(dimension):
            rows[word, j] = np.int32(np.rint(weight * np.float64(matrix[word, j]) * factors[j]))
        rows[word, dimension] = np.int32(np.rint(weight * weight_factor))
        rows[word, dimension + 1] = 1 if weight > 0.0 else 0
        ready[word] = 1


# Loops over one row, on flat arrays. Unsigned indices, because numba takes signed ones for possibly negative and would
# then not make vector code; np.int32 around each sum, because numba would go on in 64 bits.


@inlined
def _fetch(array, at, width, line):  # type: ignore[no-untyped-def]
    """Have a row in the cache by the time it is needed; `line` is how many of its values a cache line holds."""
    j = -line
    while j + line < width:  # and no range: its step would be divided by, for each row
        j += line
        prefetch(array, at + j)


@inlined
def _advance(ring, old, new, rows, row, columns):  # type: ignore[no-untyped-def]
    """The running sum one word on."""
    for j in range(columns):
        ring[np.uint64(new + j)] = np.int32(ring[np.uint64(old + j)] + rows[np.uint64(row + j)])


@inlined
def _add_window(sums, at, ring, before, low, high, after, dimension, mean):  # type: ignore[no-untyped-def]
    """Add the window (running sums before − low + high − after) to a row of sums."""
    if mean == 0.0:
        for j in range(dimension + 2):
            left = np.int32(ring[np.uint64(before + j)] - ring[np.uint64(low + j)])
            right = np.int32(ring[np.uint64(high + j)] - ring[np.uint64(after + j)])
            sums[np.uint64(at + j)] += np.int64(np.int32(left + right))
    else:
        j = dimension
        left = np.int32(ring[before + j] - ring[low + j])
        weight = np.int64(np.int32(left + np.int32(ring[high + j] - ring[after + j])))
        sums[at + j] += weight
        scale = mean / weight if weight > 0 else 0.0
        for k in range(dimension):
            left = np.int32(ring[np.uint64(before + k)] - ring[np.uint64(low + k)])
            right = np.int32(ring[np.uint64(high + k)] - ring[np.uint64(after + k)])
            sums[np.uint64(at + k)] += np.int64(np.rint(scale * np.float64(np.int32(left + right))))
        j = dimension + 1
        left = np.int32(ring[before + j] - ring[low + j])
        sums[at + j] += np.int64(np.int32(left + np.int32(ring[high + j] - ring[after + j])))
    j = dimension + 1
    words = np.int32(np.int32(ring[before + j] - ring[low + j]) + np.int32(ring[high + j] - ring[after + j]))
    sums[at + dimension + 2] += 1
    sums[at + dimension + 3] += words > 0


@inlined
def _lock(locks, row):  # type: ignore[no-untyped-def]
    """Wait for the lock of a row's stripe, if there are any; its place, for `_release`."""
    place = np.int64(row & (locks.size // APART - 1)) * APART
    if locks.size:
        while _exchange(locks, place, np.int32(1)) != 0:
            pass
    return place


@inlined
def _own_row(row, slots, owners, used):  # type: ignore[no-untyped-def]
    """The number of the thread's own row for a row of the sums, taken now if there is room; -1 if it has none."""
    slot = slots[row]
    if slot < 0 and used[0] < owners.size:
        slot = np.int32(used[0])
        slots[row] = slot
        owners[slot] = row
        used[0] += 1
    return slot


@inlined
def _fetch_sums(row, stride, slots, private, sums):  # type: ignore[no-untyped-def]
    if slots.size and slots[row] >= 0:
        _fetch(private, np.int64(slots[row]) * stride, stride, 8)
    else:
        _fetch(sums, np.int64(row) * stride, stride, 8)


@inlined
def _add(sums, row, stride, slots, owners, used, private, locks, ring, places, dimension, mean):  # type: ignore[no-untyped-def]
    """Add a window to a row of the thread's own, or to one that all share."""
    before, low, high, after = places
    slot = _own_row(row, slots, owners, used) if slots.size else np.int32(-1)
    if slot >= 0:
        _add_window(private, np.int64(slot) * stride, ring, before, low, high, after, dimension, mean)
    else:
        place = _lock(locks, row)
        _add_window(sums, np.int64(row) * stride, ring, before, low, high, after, dimension, mean)
        if locks.size:
            _release(locks, place)


@inlined
def _move_and_add(sums, at, window, rows, enter, leave, own, dimension, mean):  # type: ignore[no-untyped-def]
    """Move the window one word on, and add it less the target's own row."""
    if mean == 0.0:
        for j in range(dimension + 2):
            change = np.int32(rows[np.uint64(enter + j)] - rows[np.uint64(leave + j)])
            value = np.int32(window[np.uint64(j)] + change)
            window[np.uint64(j)] = value
            sums[np.uint64(at + j)] += np.int64(np.int32(value - rows[np.uint64(own + j)]))
        words = np.int32(window[dimension + 1] - rows[own + dimension + 1])
    else:
        _move(window, rows, enter, leave, dimension + 2)
        weight = np.int64(np.int32(window[dimension] - rows[own + dimension]))
        words = np.int32(window[dimension + 1] - rows[own + dimension + 1])
        scale = mean / weight if weight > 0 else 0.0
        for j in range(dimension):
            value = np.int32(window[np.uint64(j)] - rows[np.uint64(own + j)])
            sums[np.uint64(at + j)] += np.int64(np.rint(scale * np.float64(value)))
        sums[at + dimension] += weight
        sums[at + dimension + 1] += np.int64(words)
    sums[at + dimension + 2] += 1
    sums[at + dimension + 3] += words > 0


@inlined
def _move(window, rows, enter, leave, columns):  # type: ignore[no-untyped-def]
    for j in range(columns):
        change = np.int32(rows[np.uint64(enter + j)] - rows[np.uint64(leave + j)])
        window[np.uint64(j)] = np.int32(window[np.uint64(j)] + change)


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
) -> None:
    """Every word that has a row is a target: add the window around each to its row of `sums`.

    With `groups` > 1, document i adds to row word · groups + group_of[i]. `mean` is 0, or what a window's sum is
    multiplied by before it is divided by the window's weight. The last row of `rows` is zero. `slots` (empty: none)
    says which row of `private` stands for a row of the sums, `owners` the other way round, for the first `used[0]`.
    """
    known, width = rows.shape[0] - 1, rows.shape[1]
    flat = rows.reshape(-1)
    columns = dimension + 2
    window = np.empty(width, dtype=np.int32)
    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        group = group_of[document] if groups > 1 else 0
        for j in range(columns):
            window[j] = 0
        for p in range(begin, min(stop, begin + right)):
            if 0 <= ids[p] < known:
                _advance(window, 0, 0, flat, np.int64(ids[p]) * width, columns)
        for p in range(begin, stop):
            coming = p + AHEAD
            if coming < stop and 0 <= ids[coming] < known:
                _fetch_sums(np.int64(ids[coming]) * groups + group, stride, slots, private, sums)
            coming = p + right + AHEAD
            if coming < stop and 0 <= ids[coming] < known:
                _fetch(flat, np.int64(ids[coming]) * width, columns, 16)
            enter = leave = np.int64(known)
            if p + right < stop and 0 <= ids[p + right] < known:
                enter = np.int64(ids[p + right])
            if p - left - 1 >= begin and 0 <= ids[p - left - 1] < known:
                leave = np.int64(ids[p - left - 1])
            enter, leave = enter * width, leave * width
            if not 0 <= ids[p] < known:
                _move(window, flat, enter, leave, columns)
                continue
            row, own = np.int64(ids[p]) * groups + group, np.int64(ids[p]) * width
            slot = _own_row(row, slots, owners, used) if slots.size else np.int32(-1)
            if slot >= 0:
                _move_and_add(private, np.int64(slot) * stride, window, flat, enter, leave, own, dimension, mean)
            else:
                place = _lock(locks, row)
                _move_and_add(sums, row * stride, window, flat, enter, leave, own, dimension, mean)
                if locks.size:
                    _release(locks, place)


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
) -> None:
    """Add the window around each match to its target's row of `sums`.

    Matches are sorted by start; those of document i are [bounds[i], bounds[i + 1]). `left[k]` and `right[k]` weigh
    distance k + 1; `uniform` says they are all 1. The rest is as in `add_vocabulary`.
    """
    known, width = rows.shape[0] - 1, rows.shape[1]
    flat = rows.reshape(-1)
    columns = dimension + 2
    longest = 1
    for m in range(starts.size):
        longest = max(longest, int(ends[m] - starts[m]))
    size = 1
    while size < left.size + right.size + min(longest, LONGEST) + 2:
        size *= 2
    mask = size - 1
    ring = np.zeros(size * width, dtype=np.int32)
    pair = np.zeros(2 * width, dtype=np.int32)  # a window, and zeros
    wide = np.zeros(columns, dtype=np.float64)
    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        first, last = bounds[document], bounds[document + 1]
        if first == last:
            continue
        few = (last - first) * (left.size + right.size) <= 3 * (stop - begin)
        if not uniform:
            for m in range(first, last):
                _weigh_window(ids, begin, stop, starts[m], ends[m], known, flat, width, left, right, wide)
                place = _lock(locks, targets[m])
                _add_weighed(sums, np.int64(targets[m]) * stride, wide, dimension, mean)
                if locks.size:
                    _release(locks, place)
            continue
        if few or longest > LONGEST:
            for m in range(first, last):
                for j in range(columns):
                    pair[j] = 0
                for p in range(max(begin, starts[m] - left.size), starts[m]):
                    if 0 <= ids[p] < known:
                        _advance(pair, 0, 0, flat, np.int64(ids[p]) * width, columns)
                for p in range(ends[m], min(stop, ends[m] + right.size)):
                    if 0 <= ids[p] < known:
                        _advance(pair, 0, 0, flat, np.int64(ids[p]) * width, columns)
                places = (0, width, width, width)
                _add(sums, targets[m], stride, slots, owners, used, private, locks, pair, places, dimension, mean)
            continue
        at = max(begin, starts[first] - left.size)  # nothing before it is asked for
        for j in range(columns):
            ring[(at & mask) * width + j] = 0
        for m in range(first, last):
            start, end = np.int64(starts[m]), np.int64(ends[m])
            if m + AHEAD < last:
                _fetch_sums(targets[m + AHEAD], stride, slots, private, sums)
            coming = end + right.size + AHEAD
            if coming < stop and 0 <= ids[coming] < known:
                _fetch(flat, np.int64(ids[coming]) * width, columns, 16)
            high = min(stop, end + right.size)
            while at < high:
                word = np.int64(ids[at]) if 0 <= ids[at] < known else np.int64(known)
                _advance(ring, (at & mask) * width, ((at + 1) & mask) * width, flat, word * width, columns)
                at += 1
            before, after = (start & mask) * width, (end & mask) * width
            low, high = (max(begin, start - left.size) & mask) * width, (high & mask) * width
            places = (before, low, high, after)
            _add(sums, targets[m], stride, slots, owners, used, private, locks, ring, places, dimension, mean)


@inlined
def _weigh_window(ids, begin, stop, start, end, known, rows, width, left, right, wide):  # type: ignore[no-untyped-def]
    """The window with weights by distance, in float64 and in a fixed order: to the left, then to the right."""
    columns = wide.size
    for j in range(columns):
        wide[j] = 0.0
    for k in range(min(left.size, start - begin)):
        word = ids[start - 1 - k]
        if 0 <= word < known and left[k] > 0.0:
            _add_scaled(wide, left[k], rows, np.int64(word) * width, columns)
    for k in range(min(right.size, stop - end)):
        word = ids[end + k]
        if 0 <= word < known and right[k] > 0.0:
            _add_scaled(wide, right[k], rows, np.int64(word) * width, columns)


@inlined
def _add_scaled(wide, scale, rows, row, columns):  # type: ignore[no-untyped-def]
    for j in range(columns - 1):
        wide[np.uint64(j)] += scale * np.float64(rows[np.uint64(row + j)])
    wide[columns - 1] += np.float64(rows[row + columns - 1])  # a word counts once, whatever its weight


@inlined
def _add_weighed(sums, at, wide, dimension, mean):  # type: ignore[no-untyped-def]
    """Round once, then add."""
    weight = wide[dimension]
    scale = 1.0
    if mean != 0.0:
        scale = mean / weight if weight > 0.0 else 0.0
    for j in range(dimension):
        sums[np.uint64(at + j)] += np.int64(np.rint(scale * wide[np.uint64(j)]))
    sums[at + dimension] += np.int64(np.rint(weight))
    sums[at + dimension + 1] += np.int64(wide[dimension + 1])
    sums[at + dimension + 2] += 1
    sums[at + dimension + 3] += wide[dimension + 1] > 0.0
