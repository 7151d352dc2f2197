"""Where each word occurs: positions sorted by word, by counting."""

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Ints, Longs
from alacarte._io.compiled import kernel


@kernel
def count_occurrences(ids: Ints, numbers: Ints, counts: Longs) -> None:
    """Add to `counts` how often each word occurs; the word of an id is numbers[id]."""
    for place in range(ids.size):
        counts[numbers[ids[place]]] += 1


@kernel
def place_positions(ids: Ints, numbers: Ints, first: int, begins: Longs, positions: npt.NDArray[np.uint32]) -> None:
    """Put position `first` + p, for each p in turn, to the next free place of its word, which is begins[word]."""
    for place in range(ids.size):
        word = numbers[ids[place]]
        positions[begins[word]] = np.uint32(first + place)
        begins[word] += 1
