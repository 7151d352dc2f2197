"""Random choices that are even over orders of magnitude."""

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Longs


def evenly_over_octaves(values: npt.NDArray[np.integer], wanted: int, rng: np.random.Generator) -> Longs:
    """Return random places of values (1 or more), the same number from each octave (doubling) as far as it has some.

    >>> evenly_over_octaves(np.array([1000, 1001, 4, 5, 6, 1002]), 2, np.random.default_rng(0)).tolist()
    [3, 5]
    """
    shuffled = rng.permutation(len(values))
    octaves = np.log2(values[shuffled]).astype(np.int64)
    order = np.argsort(octaves, kind="stable")
    turn = np.empty(len(values), dtype=np.int64)  # the i-th of each octave comes before the (i + 1)-th of any
    turn[order] = np.arange(len(values)) - np.searchsorted(octaves[order], octaves[order])
    places: Longs = np.sort(shuffled[np.argsort(turn, kind="stable")[:wanted]])
    return places
