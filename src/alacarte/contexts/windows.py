"""Context sums: the windows around matches, added up per target.

The floor is one row read and one row of float64 sums read and written per match. Three ways to get near it, chosen
for each document by what it holds:

- *gathered*: where matches are few, only the rows of their windows are read; so also where weights depend on distance;
- *moving*: where words are matched, one sum over [p - left, p + right] moves along the document (one row added, one
  subtracted a token), and a match adds it less its own row;
- *ringed*: where n-grams are matched, whose windows have a gap of any width, the sum over [p, p + right) moves along
  and is kept for the last positions, so that a match costs two reads of it.

All sums are float64: a moving sum is exact to about 1e-16 of the largest partial sum per step and starts anew
with each document. The dimensions [low, high) are independent of each other, so threads may share them out and
the result is the same to the last bit.
"""

import numba
import numpy as np
import numpy.typing as npt

from alacarte._io.compiled import inner, kernel, prefetch

AHEAD = 6  # matches between asking for a row and using it; 3 and 12, tried once at d = 100 and 300, are within 10 %

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@kernel
def add_windows(
    ids: Ints,
    offsets: Longs,
    bounds: Longs,
    starts: Ints,
    ends: Ints,
    targets: Ints,
    rows: Singles,
    weights: Singles,
    left: Doubles,
    right: Doubles,
    uniform: bool,
    mean: bool,
    sums: Doubles,
    low: int,
    high: int,
    hot: int,
    corner: int,
) -> None:
    """Add the window of each match to its target's row of `sums`, in dimensions [low, high).

    `sums` is flat. Of the first `hot` targets, these dimensions lie together from `corner` on, away from those that
    other threads write; of the others, they lie in the rows that begin the array.

    Matches are sorted by start; those of document i are [bounds[i], bounds[i + 1]). `rows` already carry the word
    weights; `weights` (one a row, or empty for all ones) serve the means only. `left[k]` and `right[k]` weigh
    distance k + 1; `uniform` says they are all 1. `mean` divides each window by its total weight.
    """
    known, stride = rows.shape
    n_left, n_right = left.size, right.size
    both = n_left + n_right
    width = high - low
    longest = 1
    for m in range(starts.size):
        longest = max(longest, ends[m] - starts[m])
    size = 1
    while size < n_left + longest + 1:
        size *= 2
    mask = size - 1
    # The ring of sums: position p is row p & mask. With one window width, left and right share it.
    ring_right = np.empty(size * width)
    ring_left = ring_right if n_left == n_right else np.empty(size * width)
    window = np.empty(width)
    rows_flat = rows.reshape(-1)
    factor = 1.0

    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        first, last = bounds[document], bounds[document + 1]
        if first == last:
            continue

        if not uniform or (last - first) * both <= 3 * (stop - begin):
            for m in range(first, last):
                _set_zero(window, 0, width)
                for k in range(min(n_left, starts[m] - begin)):
                    token = ids[starts[m] - 1 - k]
                    if 0 <= token < known:
                        _add_scaled(window, 0, left[k], rows_flat, token * stride + low, width)
                for k in range(min(n_right, stop - ends[m])):
                    token = ids[ends[m] + k]
                    if 0 <= token < known:
                        _add_scaled(window, 0, right[k], rows_flat, token * stride + low, width)
                if mean:
                    factor = _mean_factor(ids, begin, stop, starts[m], ends[m], known, weights, left, right)
                _add_scaled(sums, _place(targets[m], hot, corner, width, stride, low), factor, window, 0, width)
            continue

        words = True  # one token each; none, where words without a vector hold no place
        for m in range(first, last):
            words = words and ends[m] == starts[m] + 1
        if words:
            at = begin
            _set_zero(window, 0, width)
            for k in range(begin, min(stop, begin + n_right + 1)):
                if 0 <= ids[k] < known:
                    _add_scaled(window, 0, 1.0, rows_flat, ids[k] * stride + low, width)
            for m in range(first, last):
                start, to = starts[m], _place(targets[m], hot, corner, width, stride, low)
                if m + AHEAD < starts.size:
                    _fetch(sums, _place(targets[m + AHEAD], hot, corner, width, stride, low), width, 8)
                coming = start + 1 + n_right + AHEAD
                if coming < ids.size and 0 <= ids[coming] < known:
                    _fetch(rows_flat, ids[coming] * stride + low, width, 16)
                own = np.int64(-1)
                if 0 <= ids[start] < known:
                    own = ids[start] * stride + low
                # By far the commonest case, one step on with a word coming and a word going: all in one loop.
                if at == start - 1 and at - n_left >= begin and start + n_right < stop and own >= 0 and not mean:
                    came, went = ids[start + n_right], ids[at - n_left]
                    if 0 <= came < known and 0 <= went < known:
                        enter, leave = came * stride + low, went * stride + low
                        _slide_and_add(window, rows_flat, enter, leave, own, sums, to, width)
                        at = start
                        continue
                while at < start:
                    enter, leave = _changes(ids, begin, stop, at - n_left, both + 1, known, stride, low)
                    _slide(window, 0, 0, rows_flat, enter, leave, width)
                    at += 1
                if mean:
                    factor = _mean_factor(ids, begin, stop, start, start + 1, known, weights, left, right)
                if own >= 0:
                    _add_less(sums, to, factor, window, rows_flat, own, width)
                else:
                    _add_scaled(sums, to, factor, window, 0, width)
            continue

        # Position p of a ring holds the sum over the n tokens from p on, cut at the document's edges. The first
        # position needed is begin - n_left: that whole window lies before the document but for what runs into it.
        at_right = at_left = begin - n_left  # where the running sums stand
        _set_zero(ring_left, (at_left & mask) * width, width)
        _set_zero(ring_right, (at_right & mask) * width, width)
        for k in range(begin, min(stop, at_right + n_right)):
            if 0 <= ids[k] < known:
                _add_scaled(ring_right, (at_right & mask) * width, 1.0, rows_flat, ids[k] * stride + low, width)
        for m in range(first, last):
            start, end = starts[m], ends[m]
            if m + AHEAD < starts.size:
                _fetch(sums, _place(targets[m + AHEAD], hot, corner, width, stride, low), width, 8)
            coming = end + n_right + AHEAD
            if coming < ids.size and 0 <= ids[coming] < known:
                _fetch(rows_flat, ids[coming] * stride + low, width, 16)
            while at_right < end:
                enter, leave = _changes(ids, begin, stop, at_right, n_right, known, stride, low)
                old, new = (at_right & mask) * width, ((at_right + 1) & mask) * width
                _slide(ring_right, old, new, rows_flat, enter, leave, width)
                at_right += 1
            if n_left != n_right:
                while at_left < start - n_left:
                    enter, leave = _changes(ids, begin, stop, at_left, n_left, known, stride, low)
                    old, new = (at_left & mask) * width, ((at_left + 1) & mask) * width
                    _slide(ring_left, old, new, rows_flat, enter, leave, width)
                    at_left += 1
            if mean:
                factor = _mean_factor(ids, begin, stop, start, end, known, weights, left, right)
            before, after = ((start - n_left) & mask) * width, (end & mask) * width
            to = _place(targets[m], hot, corner, width, stride, low)
            _add_two(sums, to, factor, ring_left, before, ring_right, after, width)


# Loops over the dimensions of one row, on flat arrays. Unsigned indices, because numba takes signed ones for possibly
# negative and would then not make vector code.


@numba.njit(cache=True, nogil=True, inline="always")
def _fetch(array, at, width, line):  # type: ignore[no-untyped-def]
    """Have a row in the cache by the time it is needed; `line` is how many of its values a cache line holds."""
    j = -line
    while j + line < width:  # and no range: its step would be divided by, for each row
        j += line
        prefetch(array, at + j)  # type: ignore[call-arg]


@inner
def _place(target, hot, corner, width, stride, low):  # type: ignore[no-untyped-def]
    """Where a target's sums of the thread's dimensions begin."""
    return corner + target * width if target < hot else target * stride + low


@inner
def _set_zero(total, at, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        total[np.uint64(at + j)] = 0.0


@inner
def _add_scaled(total, at, factor, row, begin, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        total[np.uint64(at + j)] += factor * row[np.uint64(begin + j)]


@inner
def _add_less(total, at, factor, window, row, own, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        total[np.uint64(at + j)] += factor * (window[np.uint64(j)] - np.float64(row[np.uint64(own + j)]))


@numba.njit(cache=True, nogil=True, inline="always")
def _add_two(total, at, factor, left, before, right, after, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        total[np.uint64(at + j)] += factor * (left[np.uint64(before + j)] + right[np.uint64(after + j)])


@numba.njit(cache=True, nogil=True, inline="always")
def _changes(ids, begin, stop, at, n, known, stride, low):  # type: ignore[no-untyped-def]
    """Where the rows begin that enter and leave a window when it moves on from [at, at + n), or -1."""
    enter = leave = np.int64(-1)
    if begin <= at + n < stop:
        token = ids[at + n]
        if 0 <= token < known:
            enter = token * stride + low
    if at >= begin:
        token = ids[at]
        if 0 <= token < known:
            leave = token * stride + low
    return enter, leave


@numba.njit(cache=True, nogil=True, inline="always")
def _slide(ring, old, new, rows, enter, leave, width):  # type: ignore[no-untyped-def]
    if enter >= 0 and leave >= 0:
        for j in range(width):
            change = np.float64(rows[np.uint64(enter + j)]) - np.float64(rows[np.uint64(leave + j)])
            ring[np.uint64(new + j)] = ring[np.uint64(old + j)] + change
    elif enter >= 0:
        for j in range(width):
            ring[np.uint64(new + j)] = ring[np.uint64(old + j)] + np.float64(rows[np.uint64(enter + j)])
    elif leave >= 0:
        for j in range(width):
            ring[np.uint64(new + j)] = ring[np.uint64(old + j)] - np.float64(rows[np.uint64(leave + j)])
    else:
        for j in range(width):
            ring[np.uint64(new + j)] = ring[np.uint64(old + j)]


@numba.njit(cache=True, nogil=True, inline="always")
def _slide_and_add(window, rows, enter, leave, own, sums, at, width):  # type: ignore[no-untyped-def]
    """Move the sum one step on, and add it less the match's own row."""
    for j in range(width):
        change = np.float64(rows[np.uint64(enter + j)]) - np.float64(rows[np.uint64(leave + j)])
        value = window[np.uint64(j)] + change
        window[np.uint64(j)] = value
        sums[np.uint64(at + j)] += value - np.float64(rows[np.uint64(own + j)])


@numba.njit(cache=True, nogil=True, inline="always")
def _mean_factor(ids, begin, stop, start, end, known, weights, left, right):  # type: ignore[no-untyped-def]
    weight = window_weight(ids, begin, stop, start, end, known, weights, left, right)[1]
    return 1.0 / weight if weight > 0.0 else 0.0


@inner
def window_weight(ids, begin, stop, start, end, known, weights, left, right):  # type: ignore[no-untyped-def]
    """(number of context tokens that count, their total weight) for one match."""
    tokens = 0
    total = 0.0
    for k in range(min(left.size, start - begin)):
        token = ids[start - 1 - k]
        if 0 <= token < known:
            weight = left[k] * (weights[token] if weights.size else 1.0)
            if weight > 0.0:
                tokens += 1
                total += weight
    for k in range(min(right.size, stop - end)):
        token = ids[end + k]
        if 0 <= token < known:
            weight = right[k] * (weights[token] if weights.size else 1.0)
            if weight > 0.0:
                tokens += 1
                total += weight
    return tokens, total


@kernel
def count_windows(
    ids: Ints,
    offsets: Longs,
    bounds: Longs,
    starts: Ints,
    ends: Ints,
    targets: Ints,
    known: int,
    weights: Singles,
    left: Doubles,
    right: Doubles,
    uniform: bool,
    counts: Doubles,
) -> None:
    """Per target, in one row: occurrences, those with any context token, context tokens, and their total weight."""
    counts_flat = counts.reshape(-1)
    # Where many windows are counted, the number of known tokens before each position answers for all of them.
    plain = uniform and weights.size == 0 and starts.size * (left.size + right.size) > ids.size
    before = np.zeros(ids.size + 1 if plain else 1, dtype=np.int32)
    if plain:
        for i in range(ids.size):
            before[i + 1] = before[i] + (0 <= ids[i] < known)
    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        for m in range(bounds[document], bounds[document + 1]):
            start, end, at = starts[m], ends[m], 4 * np.int64(targets[m])
            if m + 2 * AHEAD < starts.size:
                prefetch(counts_flat, 4 * np.int64(targets[m + 2 * AHEAD]))  # type: ignore[call-arg]
            if plain:
                n = before[start] - before[max(begin, start - left.size)]
                n += before[min(stop, end + right.size)] - before[end]
                total = float(n)
            else:
                n, total = window_weight(ids, begin, stop, start, end, known, weights, left, right)
            counts_flat[at] += 1.0
            counts_flat[at + 1] += n > 0
            counts_flat[at + 2] += n
            counts_flat[at + 3] += total
