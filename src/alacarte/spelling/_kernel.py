"""Character n-grams as numbers, and the products that ridge regression on them takes.

A word is a row of code points between two marks. The features of word i are `features[bounds[i]:bounds[i + 1]]`; each
counts `scales[i]`. Matrices are a few dimensions wide, so that the rows a word touches stay in the processor's cache.
"""

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Codes, Doubles, Ints, Longs, Singles
from alacarte._io.compiled import kernel, pointer, prefetch

SEED = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
AHEAD = 24  # features between asking for a row and using it: about a word
CACHE_LINE = 16  # values in a line of the cache


@kernel
def ngram_codes(
    points: npt.NDArray[np.uint32], offsets: Longs, shortest: int, longest: int, codes: Codes, bounds: Longs
) -> int:
    """Fill `codes` with a number for each n-gram of each word, and `bounds` with where each word's begin and end.

    `points[offsets[i]:offsets[i + 1]]` is word i with its marks; a mark by itself is no n-gram. Returns how many
    n-grams there are.
    """
    count = 0
    bounds[0] = 0
    for i in range(offsets.size - 1):
        begin, stop = offsets[i], offsets[i + 1]
        for start in range(begin, stop):
            code = SEED
            for end in range(start, min(stop, start + longest)):
                code = (code ^ np.uint64(points[end])) * MULTIPLIER
                code = code ^ (code >> np.uint64(32))
                length = end - start + 1
                alone = length == 1 and (start == begin or end == stop - 1)
                if length >= shortest and not alone:
                    codes[count] = code
                    count += 1
        bounds[i + 1] = count
    return count


@kernel
def add_features(features: Ints, bounds: Longs, scales: Singles, weights: Singles, out: Singles) -> None:
    """Compute out = X W: for each word, the scaled sum of the rows of its features."""
    width = weights.shape[1]
    for i in range(bounds.size - 1):
        for j in range(width):
            out[i, j] = np.float32(0)
        for t in range(bounds[i], bounds[i + 1]):
            f = features[t]
            for j in range(width):
                out[i, j] += weights[f, j]
        for j in range(width):
            out[i, j] *= scales[i]


@kernel
def spread_over_features(features: Ints, bounds: Longs, scales: Singles, rows: Singles, out: Singles) -> None:
    """Compute out = Xᵀ Y."""
    width = rows.shape[1]
    out[:] = np.float32(0)
    for i in range(bounds.size - 1):
        for t in range(bounds[i], bounds[i + 1]):
            f = features[t]
            for j in range(width):
                out[f, j] += scales[i] * rows[i, j]


@kernel
def normal_product(
    features: Ints, bounds: Longs, scales: Singles, penalty: float, weights: Singles, out: Singles, products: Doubles
) -> None:
    """Compute out = Xᵀ X W + penalty · W, a word at a time, and the product of each column of W with that of out."""
    width = weights.shape[1]
    total = np.empty(width, dtype=np.float32)
    out[:] = np.float32(penalty) * weights
    rows, sums = pointer(weights.reshape(-1)), pointer(out.reshape(-1))
    for i in range(bounds.size - 1):
        for j in range(width):
            total[j] = np.float32(0)
        for t in range(bounds[i], bounds[i + 1]):
            if t + AHEAD < features.size:
                coming = np.int64(features[t + AHEAD]) * width
                for j in range(0, width, CACHE_LINE):
                    prefetch(rows, coming + j)
                    prefetch(sums, coming + j)
            f = np.int64(features[t]) * width
            for j in range(width):
                total[j] += rows[f + j]
        square = scales[i] * scales[i]
        for j in range(width):
            total[j] *= square
        for t in range(bounds[i], bounds[i + 1]):
            f = np.int64(features[t]) * width
            for j in range(width):
                sums[f + j] += total[j]
    products[:] = 0.0
    for f in range(weights.shape[0]):
        for j in range(width):
            products[j] += np.float64(weights[f, j]) * np.float64(out[f, j])


@kernel
def take_step(
    steps: Singles,
    direction: Singles,
    product: Singles,
    inverse: Singles,
    weights: Singles,
    residual: Singles,
    slopes: Doubles,
) -> None:
    """Go along the direction, whose normal product is given: weights += step · direction, residual −= step · product.

    `steps` has one number for each column, and `inverse` one for each row: the preconditioner P. `slopes` becomes the
    product of each column of the residual with that of P · residual.
    """
    rows, width = weights.shape
    slopes[:] = 0.0
    for f in range(rows):
        for j in range(width):
            weights[f, j] += steps[j] * direction[f, j]
            residual[f, j] -= steps[j] * product[f, j]
            slopes[j] += np.float64(inverse[f]) * np.float64(residual[f, j]) * np.float64(residual[f, j])


@kernel
def turn(shares: Singles, residual: Singles, inverse: Singles, direction: Singles) -> None:
    """Compute the next direction: P · residual + share · direction."""
    rows, width = direction.shape
    for f in range(rows):
        for j in range(width):
            direction[f, j] = inverse[f] * residual[f, j] + shares[j] * direction[f, j]
