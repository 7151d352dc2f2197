"""Where the kernel for text found the parts of each row; apart from it, so that reading needs no compiler to begin."""

import numpy as np
from numpy.typing import NDArray

FINE, SHORT, SLOW = 0, 1, 2  # status of a row: parsed; too few fields; leave it to Python's `float`

# Columns of `places`.
LINE, WORD_BEGIN, WORD_END, LINE_END = 0, 1, 2, 3


def new_places(rows: int) -> NDArray[np.int64]:
    """Room for what the kernels say about `rows` rows."""
    return np.zeros((rows, 4), np.int64)
