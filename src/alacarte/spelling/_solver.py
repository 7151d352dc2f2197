"""Ridge regression from sparse features to vectors, by conjugate gradients on a few dimensions at a time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Ints, Longs, Singles

WIDTH = 32  # dimensions at a time: wider takes more memory for each thread, narrower more time


def scales_of(bounds: Longs) -> Singles:
    """Return 1 / √(number of features) of each word, so that long words weigh no more than short ones."""
    scales: Singles = (1 / np.sqrt(np.maximum(np.diff(bounds), 1))).astype(np.float32)
    return scales


def predict(features: Ints, bounds: Longs, weights: npt.NDArray[np.floating]) -> Singles:
    """Return x W, whatever the precision of the weights; rows of words without features are zero."""
    from alacarte.spelling._kernel import add_features

    out = np.zeros((len(bounds) - 1, weights.shape[1]), dtype=np.float32)
    scales = scales_of(bounds)
    if weights.dtype == np.float32:
        add_features(features, bounds, scales, weights, out)
        return out
    step = 2048  # words whose rows are widened together
    for low in range(0, len(out), step):
        high = min(low + step, len(out))
        part = features[bounds[low] : bounds[high]]
        if len(part):
            used, places = np.unique(part, return_inverse=True)
            wide = weights[used].astype(np.float32)
            here = bounds[low : high + 1] - bounds[low]
            add_features(places.astype(np.int32), here, scales[low:high], wide, out[low:high])
    return out


@dataclass(frozen=True, eq=False)
class SpelledWords:
    """Words to learn from: those of word i are `features[bounds[i]:bounds[i + 1]]`, of `size` features in all."""

    features: Ints
    bounds: Longs
    size: int
    weights: Singles | None = None  # how much each word counts; None: all alike

    def some(self, rows: Longs) -> "SpelledWords":
        """Return some of the words only."""
        lengths = np.diff(self.bounds)[rows]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        features = self.features[np.repeat(self.bounds[rows] - ends[:-1], lengths) + np.arange(ends[-1])]
        return SpelledWords(features, ends, self.size, None if self.weights is None else self.weights[rows])

    @property
    def roots(self) -> Singles:
        """The square roots of the weights."""
        words = len(self.bounds) - 1
        return np.ones(words, dtype=np.float32) if self.weights is None else np.sqrt(self.weights, dtype=np.float32)


def solve_ridge(
    words: SpelledWords,
    targets: Singles,
    ridge: float,
    *,
    rows: Longs | None = None,
    start: Singles | None = None,
    iterations: int = 8,
    threads: int = 1,
    step_done: Callable[[], None] = lambda: None,
) -> Singles:
    """Return the W that minimises Σ weight · ‖y − x W‖² + λ‖W‖², as far as `iterations` steps get.

    The preconditioner is the diagonal, which takes the place of most steps: features occur three times or a hundred
    thousand times. `start` is where to begin, for instance the solution with a few words fewer. `rows` says which
    of the targets belong to the words, if not all. `step_done` is called `steps_of(dimensions, iterations)` times.
    """
    from alacarte.spelling._kernel import normal_product, spread_over_features, take_step, turn

    features, bounds, size, roots = words.features, words.bounds, words.size, words.roots
    scales = scales_of(bounds) * roots
    diagonal = np.bincount(features, np.repeat(scales.astype(np.float64) ** 2, np.diff(bounds)), size) + ridge
    inverse = (1 / np.maximum(diagonal, 1e-12)).astype(np.float32)
    result = np.zeros((size, targets.shape[1]), dtype=np.float32)

    def block(low: int) -> None:
        part = targets[:, low : low + WIDTH]
        y = np.ascontiguousarray((part if rows is None else part[rows]) * roots[:, None])
        residual = np.empty((size, y.shape[1]), dtype=np.float32)
        spread_over_features(features, bounds, scales, y, residual)
        w, product = np.zeros_like(residual), np.empty_like(residual)
        along, slopes = np.empty(y.shape[1]), np.empty(y.shape[1])
        if start is not None:
            w[:] = start[:, low : low + WIDTH]
            normal_product(features, bounds, scales, ridge, w, product, along)
            residual -= product
        direction = inverse[:, None] * residual
        np.einsum("ij,ij->j", residual, direction, dtype=np.float64, out=slopes)
        for _ in range(iterations):
            normal_product(features, bounds, scales, ridge, direction, product, along)
            before = slopes.copy()
            take_step(_ratio(slopes, along), direction, product, inverse, w, residual, slopes)
            turn(_ratio(slopes, before), residual, inverse, direction)
            step_done()
        result[:, low : low + WIDTH] = w

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(block, range(0, targets.shape[1], WIDTH)))
    return result


def steps_of(dimensions: int, iterations: int) -> int:
    """Return how many steps `solve_ridge` takes, which are about equally long.

    >>> steps_of(50, 8), steps_of(32, 8)
    (16, 8)
    """
    return len(range(0, dimensions, WIDTH)) * iterations


def _ratio(over: Doubles, under: Doubles) -> Singles:
    """Return the quotients; 0 where there is nothing left to do."""
    quotient: Singles = np.divide(over, under, out=np.zeros_like(over), where=under > 0).astype(np.float32)
    return quotient
