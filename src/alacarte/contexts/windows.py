"""Chosen windows, summed by the same kernel and so to the same bits as in a pass over text."""

from dataclasses import replace

import numpy as np

from alacarte._io.arrays import Ints
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.summing import COUNTS, add_windows, row_stride, sums_for_one_thread
from alacarte.contexts.sums import Sums
from alacarte.targets.sequences import Matches
from alacarte.text.encoding import Encoded

NO_ID = -1  # an id without a vector


def sums_of_windows(
    integers: IntegerVectors, reading: Reading, before: Ints, after: Ints, rows: Ints | None = None
) -> Sums:
    """Return the sums of windows: ids before a target and after it, negative where there is no word.

    Each window has a row of sums by itself; or, with `rows`, window i is added to row rows[i].
    """
    count, left = before.shape
    width = left + 1 + after.shape[1]
    ids = np.full((count, width), NO_ID, dtype=np.int32)
    ids[:, :left], ids[:, left + 1 :] = before, after
    places = np.arange(count + 1, dtype=np.int64)
    starts = (places[:-1] * width + left).astype(np.int32)
    if rows is None:
        rows = places[:-1].astype(np.int32)
    windows = Matches(starts, starts + np.int32(1), rows)
    encoded, count = Encoded(ids.reshape(-1), places * width, []), int(rows.max(initial=-1)) + 1
    return sums_of_matches(integers, replace(reading, unknown="keep"), encoded, windows, count)


def sums_of_matches(integers: IntegerVectors, reading: Reading, encoded: Encoded, matches: Matches, count: int) -> Sums:
    """Return the sums of the windows around matches, one row for each of the `count` numbers of targets."""
    rows = np.zeros((count, row_stride(integers.columns)), dtype=np.int64)
    add_windows(integers, reading, encoded, matches, sums_for_one_thread(rows))
    integers.join(rows)
    d = integers.dimension
    return Sums(rows[:, :d], **{name: rows[:, d + place] for place, name in enumerate(COUNTS)})
