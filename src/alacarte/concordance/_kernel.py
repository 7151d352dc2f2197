"""Where each word stands: positions sorted by word."""

import numpy as np
import numpy.typing as npt

from alacarte._io.compiled import announce, kernel

announce(__name__, "the positions of words", 2)


@kernel
def sort_positions(
    ids: npt.NDArray[np.int32], starts: npt.NDArray[np.int64], positions: npt.NDArray[np.uint32]
) -> None:
    """Put position p of the text, for each p in turn, behind the others of word ids[p].

    `starts[word]` is where the positions of a word begin; `positions` has as many values as `ids`.
    """
    ends = starts.copy()
    for position in range(ids.size):
        word = ids[position]
        positions[ends[word]] = np.uint32(position)
        ends[word] += 1
