"""Context sums: the windows around matches, added up per target.

The floor is one row read and one row of float64 sums read and written per match. With equal weights, one sum over
[p - left, p + right] moves along the document from match to match: it slides (a row comes, a row goes, a token) or is
made anew, whichever reads fewer rows; a match adds it less the rows of the match itself. Where every token is a match,
that is three rows read a token, whatever the window; where matches are few, only the rows around them are read.
Weights that depend on the distance are gathered for each match.

All sums are float64: the moving sum is exact to about 1e-16 of the largest partial sum per step and starts anew
with each document. The dimensions [low, high) are independent of each other, so threads may share them out and
the result is the same to the last bit.
"""

import numba
import numpy as np
import numpy.typing as npt

from alacarte._kernels.compiled import inner, kernel
from alacarte._kernels.prefetch import prefetch

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
) -> None:
    """Add the window of each match to its target's row of `sums`, in dimensions [low, high).

    Matches are sorted by start; those of document i are [bounds[i], bounds[i + 1]). `rows` already carry the word
    weights; `weights` (one a row, or empty for all ones) serve the means only. `left[k]` and `right[k]` weigh
    distance k + 1; `uniform` says they are all 1. `mean` divides each window by its total weight.
    """
    known, stride = rows.shape
    n_left, n_right = left.size, right.size
    width = high - low
    around = np.empty(width)  # the sum over [at - n_left, at + n_right], cut at the document's edges
    window = np.empty(width)
    rows_flat = rows.reshape(-1)
    sums_flat = sums.reshape(-1)
    factor = 1.0

    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        at = np.int64(-1)
        for m in range(bounds[document], bounds[document + 1]):
            start, end = starts[m], ends[m]
            if m + AHEAD < starts.size:
                _fetch(sums_flat, targets[m + AHEAD] * stride + low, width, 8)
            coming = start + 1 + n_right + AHEAD
            if at >= 0 and coming < ids.size and 0 <= ids[coming] < known:
                _fetch(rows_flat, ids[coming] * stride + low, width, 16)
            # By far the commonest case, one step on with a word coming and a word going: all in one loop.
            if at == start - 1 and end == start + 1 and at - n_left >= begin and end + n_right <= stop and not mean:
                came, went, here = ids[start + n_right], ids[at - n_left], ids[start]
                if 0 <= came < known and 0 <= went < known and 0 <= here < known:
                    enter, leave, own = came * stride + low, went * stride + low, here * stride + low
                    _slide_and_add(around, rows_flat, enter, leave, own, sums_flat, targets[m] * stride + low, width)
                    at = start
                    continue
            if mean:
                factor = _inverse(window_weight(ids, begin, stop, start, end, known, weights, left, right)[1])

            # (A match of no length is one whose words hold no place.)
            if not uniform or end == start or 2 * (end - start) > n_left + n_right:
                window[:] = 0.0
                for k in range(min(n_left, start - begin)):
                    token = ids[start - 1 - k]
                    if 0 <= token < known:
                        _add_scaled(window, 0, left[k], rows_flat, token * stride + low, width)
                for k in range(min(n_right, stop - end)):
                    token = ids[end + k]
                    if 0 <= token < known:
                        _add_scaled(window, 0, right[k], rows_flat, token * stride + low, width)
                _add_scaled(sums_flat, targets[m] * stride + low, factor, window, 0, width)
                continue

            if at < 0 or 2 * (start - at) > n_left + n_right:
                around[:] = 0.0
                for k in range(max(begin, start - n_left), min(stop, start + n_right + 1)):
                    if 0 <= ids[k] < known:
                        _fetch(rows_flat, ids[k] * stride + low, width, 16)
                for k in range(max(begin, start - n_left), min(stop, start + n_right + 1)):
                    if 0 <= ids[k] < known:
                        _add_scaled(around, 0, 1.0, rows_flat, ids[k] * stride + low, width)
                at = start
            while at < start:
                enter, leave = at + n_right + 1, at - n_left
                comes = enter < stop and 0 <= ids[enter] < known
                goes = leave >= begin and 0 <= ids[leave] < known
                if comes and goes:
                    _slide(around, rows_flat, ids[enter] * stride + low, ids[leave] * stride + low, width)
                elif comes:
                    _add_scaled(around, 0, 1.0, rows_flat, ids[enter] * stride + low, width)
                elif goes:
                    _add_scaled(around, 0, -1.0, rows_flat, ids[leave] * stride + low, width)
                at += 1
            # A longer match needs more words on its right than the sum has, and lacks those that it covers itself.
            after = start + n_right + 1
            if end == start + 1 and 0 <= ids[start] < known and not mean:
                own = ids[start] * stride + low
                _add_less(sums_flat, targets[m] * stride + low, around, rows_flat, own, width)
                continue
            if end == start + 2 and after < stop and not mean:
                one, two, more = ids[start], ids[start + 1], ids[after]
                if 0 <= one < known and 0 <= two < known and 0 <= more < known:
                    first, second, third = one * stride + low, two * stride + low, more * stride + low
                    _add_pair(sums_flat, targets[m] * stride + low, around, rows_flat, third, first, second, width)
                    continue
            window[:] = around
            for k in range(after, min(stop, end + n_right)):
                if 0 <= ids[k] < known:
                    _add_scaled(window, 0, 1.0, rows_flat, ids[k] * stride + low, width)
            for k in range(start, end):
                if 0 <= ids[k] < known:
                    _add_scaled(window, 0, -1.0, rows_flat, ids[k] * stride + low, width)
            _add_scaled(sums_flat, targets[m] * stride + low, factor, window, 0, width)


# Loops over the dimensions of one row, on flat arrays. Unsigned indices, because numba takes signed ones for possibly
# negative and would then not make vector code.


@numba.njit(cache=True, nogil=True, inline="always")
def _fetch(array, at, width, line):  # type: ignore[no-untyped-def]
    """Have a row in the cache by the time it is needed; `line` is how many of its values a cache line holds."""
    j = 0
    while j < width:  # and no range: its step would be divided by, for each row
        prefetch(array, at + j)  # type: ignore[call-arg]
        j += line


@inner
def _add_scaled(total, at, factor, row, begin, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        total[np.uint64(at + j)] += factor * row[np.uint64(begin + j)]


@inner
def _slide(around, rows, enter, leave, width):  # type: ignore[no-untyped-def]
    for j in range(width):
        change = np.float64(rows[np.uint64(enter + j)]) - np.float64(rows[np.uint64(leave + j)])
        around[np.uint64(j)] += change


@inner
def _add_less(sums, at, around, rows, own, width):  # type: ignore[no-untyped-def]
    """Add the window of a match of one word."""
    for j in range(width):
        sums[np.uint64(at + j)] += around[np.uint64(j)] - np.float64(rows[np.uint64(own + j)])


@inner
def _add_pair(sums, at, around, rows, more, one, two, width):  # type: ignore[no-untyped-def]
    """Add the window of a match of two words: one more on the right, less the two."""
    for j in range(width):
        own = np.float64(rows[np.uint64(one + j)]) + np.float64(rows[np.uint64(two + j)])
        sums[np.uint64(at + j)] += around[np.uint64(j)] + np.float64(rows[np.uint64(more + j)]) - own


@numba.njit(cache=True, nogil=True, inline="always")
def _slide_and_add(around, rows, enter, leave, own, sums, at, width):  # type: ignore[no-untyped-def]
    """Move the sum one step on, and add it less the match's own row."""
    for j in range(width):
        change = np.float64(rows[np.uint64(enter + j)]) - np.float64(rows[np.uint64(leave + j)])
        value = around[np.uint64(j)] + change
        around[np.uint64(j)] = value
        sums[np.uint64(at + j)] += value - np.float64(rows[np.uint64(own + j)])


@numba.njit(cache=True, nogil=True, inline="always")
def _inverse(weight):  # type: ignore[no-untyped-def]
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
            if m + AHEAD < starts.size:
                prefetch(counts_flat, 4 * np.int64(targets[m + AHEAD]))  # type: ignore[call-arg]
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
