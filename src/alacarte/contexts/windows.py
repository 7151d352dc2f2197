"""Chosen windows, summed by the same kernel and so to the same bits as in a pass over text."""

import numpy as np

from alacarte._io.arrays import Ints, Longs
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import is_wide
from alacarte.contexts.summing import COUNTS, row_stride, scratch, sums_for_one_thread, without_unknown
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
    encoded = Encoded(ids.reshape(-1), places * width, [])
    return _sums_in_one_thread(integers, reading, encoded, windows, places, int(rows.max(initial=-1)) + 1)


def sums_of_matches(integers: IntegerVectors, reading: Reading, encoded: Encoded, matches: Matches, count: int) -> Sums:
    """Return the sums of the windows around matches, one row for each of the `count` numbers of targets."""
    ids, offsets, starts, ends = encoded.ids, encoded.offsets, matches.starts, matches.ends
    bounds = np.searchsorted(starts, offsets)
    if reading.unknown == "drop":
        ids, offsets, before = without_unknown(ids, offsets, integers.known)
        starts, ends = before[starts].astype(np.int32), before[ends].astype(np.int32)
    changed = Encoded(ids, offsets, []), Matches(starts, ends, matches.targets)
    return _sums_in_one_thread(integers, reading, *changed, bounds, count)


def _sums_in_one_thread(
    integers: IntegerVectors, reading: Reading, encoded: Encoded, matches: Matches, bounds: Longs, count: int
) -> Sums:
    """Return the sums; `bounds` says how many matches there are before each document, and in all."""
    from alacarte.contexts._windows_kernel import add_matches

    integers.fill(encoded.ids)
    rows = np.zeros((count, row_stride(integers.columns)), dtype=np.int64)
    add_matches(
        encoded.ids,
        encoded.offsets,
        bounds,
        matches.starts,
        matches.ends,
        matches.targets,
        integers.rows,
        integers.lanes,
        integers.columns,
        *reading.position_weights(),
        reading.positions == "uniform" and not is_wide(reading),
        integers.scale.mean_factor if reading.averaging == "context" else 0.0,
        sums_for_one_thread(rows),
        *scratch(integers, reading, int((matches.ends - matches.starts).max(initial=1))),
    )
    integers.join(rows)
    d = integers.dimension
    return Sums(rows[:, :d], **{name: rows[:, d + place] for place, name in enumerate(COUNTS)})
