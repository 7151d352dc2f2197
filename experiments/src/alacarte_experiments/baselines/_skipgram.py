"""Skip-gram steps with negative sampling on one vector, the context vectors frozen."""

import math

import numba
import numpy as np
import numpy.typing as npt


@numba.njit(cache=True, nogil=True)
def train_one(
    vector: npt.NDArray[np.float64],
    context: npt.NDArray[np.float32],
    words: npt.NDArray[np.int64],
    negatives: npt.NDArray[np.int64],
    rates: npt.NDArray[np.float64],
) -> None:
    """One step for each word: towards it, away from its negatives; `vector` changes in place.

    The gradient of a step is taken at the vector before it: Σ (label − σ(x·c)) c over the word and its negatives.
    """
    d = vector.size
    step = np.empty(d)
    for i in range(words.size):
        step[:] = 0.0
        for k in range(-1, negatives.shape[1]):
            row = words[i] if k < 0 else negatives[i, k]
            product = 0.0
            for j in range(d):
                product += vector[j] * context[row, j]
            error = (1.0 if k < 0 else 0.0) - 1.0 / (1.0 + math.exp(-product))
            for j in range(d):
                step[j] += error * context[row, j]
        for j in range(d):
            vector[j] += rates[i] * step[j]
