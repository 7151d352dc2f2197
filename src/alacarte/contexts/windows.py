"""Single windows, given as ids, summed by the same kernel and so to the same bits as in a pass over text."""

import numpy as np
import numpy.typing as npt

from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import is_wide
from alacarte.contexts.summing import COUNTS, row_stride, scratch, sums_for_one_thread
from alacarte.contexts.sums import Sums

Ints = npt.NDArray[np.int32]
NOTHING = -1  # an id without a vector


def sums_of_windows(integers: IntegerVectors, reading: Reading, before: Ints, after: Ints) -> Sums:
    """The sums of each window by itself: ids before a target and after it, negative where there is no word."""
    from alacarte.contexts._windows_kernel import add_matches

    count, left = before.shape
    width = left + 1 + after.shape[1]
    ids = np.full((count, width), NOTHING, dtype=np.int32)
    ids[:, :left], ids[:, left + 1 :] = before, after
    integers.fill(ids.reshape(-1))
    places = np.arange(count + 1, dtype=np.int64)
    starts = (places[:-1] * width + left).astype(np.int32)
    rows = np.zeros((count, row_stride(integers.dimension)), dtype=np.int64)
    sides = reading.position_weights()
    add_matches(
        ids.reshape(-1),
        places * width,
        places,
        starts,
        starts + np.int32(1),
        places[:-1].astype(np.int32),
        integers.rows,
        integers.lanes,
        integers.dimension,
        *sides,
        reading.positions == "uniform" and not is_wide(reading),
        integers.scale.mean_factor if reading.averaging == "context" else 0.0,
        sums_for_one_thread(rows),
        *scratch(integers, reading, 1),
    )
    d = integers.dimension
    return Sums(rows[:, :d], **{name: rows[:, d + place] for place, name in enumerate(COUNTS)})
