"""Context sums: the windows around matches, added up per target.

The floor is one row read and one row of float64 sums read and written per match. Two ways to get near it, chosen
for each document by what it holds:

- *running*: where matches are dense, the sum over [j, j + window) slides along the document (one row added, one
  subtracted a token) and is kept for the last positions, so that a match costs two reads of it, whatever the
  window;
- *gathered*: where matches are few, only the rows of their windows are read.

All sums are float64: the running sum is exact to about 1e-16 of the largest partial sum per step and starts anew
with each document. The dimensions [low, high) are independent of each other, so threads may share them out and
the result is the same to the last bit.
"""

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
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
    known = rows.shape[0]
    n_left, n_right = left.size, right.size
    width = high - low
    longest = 1
    for m in range(starts.size):
        longest = max(longest, ends[m] - starts[m])
    ring_size = n_left + longest + 1
    ring_right = np.empty((ring_size, width))
    ring_left = ring_right if n_left == n_right else np.empty((ring_size, width))
    running_right = np.empty(width)
    running_left = np.empty(width)
    window = np.empty(width)

    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        first, last = bounds[document], bounds[document + 1]
        if first == last:
            continue

        if not uniform or (last - first) * (n_left + n_right) <= 3 * (stop - begin):
            for m in range(first, last):
                window[:] = 0.0
                for k in range(min(n_left, starts[m] - begin)):
                    token = ids[starts[m] - 1 - k]
                    if 0 <= token < known:
                        scale = left[k]
                        for j in range(width):
                            window[j] += scale * rows[token, low + j]
                for k in range(min(n_right, stop - ends[m])):
                    token = ids[ends[m] + k]
                    if 0 <= token < known:
                        scale = right[k]
                        for j in range(width):
                            window[j] += scale * rows[token, low + j]
                factor = 1.0
                if mean:
                    total = window_weight(ids, begin, stop, starts[m], ends[m], known, weights, left, right)[1]
                    factor = 1.0 / total if total > 0.0 else 0.0
                target = targets[m]
                for j in range(width):
                    sums[target, low + j] += factor * window[j]
            continue

        # Position p of a ring holds the sum over the n tokens from p on, cut at the document's edges. The first
        # position needed is begin - n_left: that whole window lies before the document but for what runs into it.
        running_right[:] = 0.0
        running_left[:] = 0.0
        at_right = at_left = begin - n_left  # where the running sums stand
        for k in range(begin, min(stop, at_right + n_right)):
            token = ids[k]
            if 0 <= token < known:
                for j in range(width):
                    running_right[j] += rows[token, low + j]
        ring_right[at_right % ring_size] = running_right
        ring_left[at_left % ring_size] = running_left

        for m in range(first, last):
            while at_right < ends[m]:
                _slide(ids, begin, stop, rows, known, at_right, n_right, low, width, running_right)
                at_right += 1
                ring_right[at_right % ring_size] = running_right
            if n_left != n_right:
                while at_left < starts[m] - n_left:
                    _slide(ids, begin, stop, rows, known, at_left, n_left, low, width, running_left)
                    at_left += 1
                    ring_left[at_left % ring_size] = running_left
            before = ring_left[(starts[m] - n_left) % ring_size]
            after = ring_right[ends[m] % ring_size]
            target = targets[m]
            if mean:
                total = window_weight(ids, begin, stop, starts[m], ends[m], known, weights, left, right)[1]
                factor = 1.0 / total if total > 0.0 else 0.0
                for j in range(width):
                    sums[target, low + j] += factor * (before[j] + after[j])
            else:
                for j in range(width):
                    sums[target, low + j] += before[j] + after[j]


@numba.njit(cache=True, nogil=True, inline="always")
def _slide(ids, begin, stop, rows, known, at, n, low, width, running):  # type: ignore[no-untyped-def]
    """Move a running sum over [at, at + n) one position on."""
    if at + n >= begin and at + n < stop:
        token = ids[at + n]
        if 0 <= token < known:
            for j in range(width):
                running[j] += rows[token, low + j]
    if at >= begin:
        token = ids[at]
        if 0 <= token < known:
            for j in range(width):
                running[j] -= rows[token, low + j]


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
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
    occurrences: Longs,
    contexts: Longs,
    tokens: Longs,
    totals: Doubles,
) -> None:
    """Per target: occurrences, those with any context token, context tokens, and their total weight."""
    plain = uniform and weights.size == 0
    before = np.zeros(ids.size + 1, dtype=np.int64)  # known tokens before each position
    if plain:
        for i in range(ids.size):
            before[i + 1] = before[i] + (0 <= ids[i] < known)
    for document in range(offsets.size - 1):
        begin, stop = offsets[document], offsets[document + 1]
        for m in range(bounds[document], bounds[document + 1]):
            start, end, target = starts[m], ends[m], targets[m]
            if plain:
                n = before[start] - before[max(begin, start - left.size)]
                n += before[min(stop, end + right.size)] - before[end]
                total = float(n)
            else:
                n, total = window_weight(ids, begin, stop, start, end, known, weights, left, right)
            occurrences[target] += 1
            contexts[target] += n > 0
            tokens[target] += n
            totals[target] += total
