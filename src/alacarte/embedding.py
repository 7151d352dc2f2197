"""One context at a time: what `ALaCarte.embed` sums and averages, in microseconds and without compilation.

A pass over a corpus (`ContextSums.collect`) does the same for millions of contexts; tests hold the two together.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte.contexts.reading import Averaging, Reading
from alacarte.contexts.weights import ContextWeights
from alacarte.transform.transform import Transform
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Window = tuple[list[int], list[float] | None]  # rows of the vectors, and their weights by distance; None: all 1

FEW = 64  # words whose sum in float32 is as good as the vectors are; more are added up in float64
ONES = np.ones(FEW, dtype=np.float32)


class ContextSum(NamedTuple):
    """The sum of the vectors in one context, and what each of the three averages divides it by."""

    vectors: npt.NDArray[np.floating]
    occurrences: float
    weight: float  # of all context words together
    filled: float  # occurrences beside at least one word that has a vector

    def times(self, factor: float) -> "ContextSum":
        """As if the context had been there so many times."""
        return ContextSum(factor * self.vectors, factor * self.occurrences, factor * self.weight, factor * self.filled)


class ContextReader:
    """Sums single contexts: the words of `vectors`, weighted and windowed as `reading` says."""

    def __init__(self, vectors: WordVectors, reading: Reading, weights: ContextWeights) -> None:
        self._vectors = vectors
        self._weights = None if weights.values is None else weights.values.astype(np.float64)
        self._by_context = reading.averaging == "context"
        self._drop = reading.unknown == "drop"
        self._uniform = reading.positions == "uniform"
        self._left, self._right = (side.tolist() for side in reading.position_weights())

    @cached_property
    def _index(self) -> dict[str, int]:
        return self._vectors.key_to_index

    def whole(self, tokens: Sequence[str]) -> ContextSum:
        """All words of a context."""
        vectors, weight = self._sum(self._known(tokens), None)
        if self._by_context and weight > 0:
            vectors = vectors / weight
        return ContextSum(vectors, 1, weight, weight > 0)

    def around(self, tokens: Sequence[str], target: list[str]) -> ContextSum | None:
        """The windows around each occurrence of a target, given as its tokens; None where it does not occur."""
        sums = []
        for rows, scales in self.windows(tokens, target):
            vectors, weight = self._sum(rows, scales)
            if self._by_context and weight > 0:
                vectors = vectors / weight
            sums.append(ContextSum(vectors, 1, weight, weight > 0))
        return total(sums) if sums else None

    def windows(self, tokens: Sequence[str], target: list[str]) -> list[Window]:
        """What stands around each occurrence of a target."""
        tokens, get = list(tokens), self._index.get
        windows: list[Window] = []
        for start in _occurrences(tokens, target):
            end = start + len(target)
            if self._uniform and not self._drop:
                near = tokens[max(0, start - len(self._left)) : start] + tokens[end : end + len(self._right)]
                windows.append(([row for row in map(get, near) if row is not None], None))
                continue
            rows: list[int] = []
            weights: list[float] = []
            for side, scales in ((tokens[:start][::-1], self._left), (tokens[end:], self._right)):
                if self._drop:
                    side = [token for token in side if token in self._index]
                for row, scale in zip(map(get, side), scales, strict=False):
                    if row is not None:
                        rows.append(row)
                        weights.append(scale)
            windows.append((rows, weights))
        return windows

    def words(self, tokens: Sequence[str], target: list[str] | None) -> list[tuple[npt.NDArray[np.int64], Doubles]]:
        """(rows of the vectors, their weights) of each window; of the whole context where the target does not occur."""
        windows = [] if target is None else self.windows(tokens, target)
        windows = windows or [(self._known(tokens), None)]
        return [(np.array(rows, dtype=np.int64), self._word_weights(rows, scales)) for rows, scales in windows]

    def _known(self, tokens: Sequence[str]) -> list[int]:
        return [row for row in map(self._index.get, tokens) if row is not None]

    def _word_weights(self, rows: list[int], scales: list[float] | None) -> Doubles:
        weights = np.ones(len(rows)) if self._weights is None else self._weights.take(rows)
        return weights if scales is None else weights * scales

    def _sum(self, rows: list[int], scales: list[float] | None) -> tuple[npt.NDArray[np.floating], float]:
        """(weighted sum of these vectors, total weight)."""
        if not rows:
            return np.zeros(self._vectors.dimension), 0.0
        block = self._vectors.matrix.take(rows, axis=0)
        if self._weights is None and scales is None:
            if len(rows) <= FEW:
                return ONES[: len(rows)] @ block, float(len(rows))
            return block.sum(axis=0, dtype=np.float64), float(len(rows))
        weights = self._word_weights(rows, scales)
        return weights @ block, float(weights.sum())


def total(sums: Sequence[ContextSum]) -> ContextSum:
    """Several contexts together, added up in float64."""
    if len(sums) == 1:
        return sums[0]
    return ContextSum(
        np.add.reduce([part.vectors for part in sums], axis=0, dtype=np.float64),
        sum(part.occurrences for part in sums),
        sum(part.weight for part in sums),
        sum(part.filled for part in sums),
    )


def transformed_mean(context: ContextSum, averaging: Averaging, transform: Transform) -> Singles:
    """A u (+ b) for the u that the averaging means; a single short context stays in float32."""
    if averaging == "occurrence":
        divisor = context.occurrences
    elif averaging == "token":
        divisor = context.weight
    else:
        divisor = context.filled
    mean = context.vectors / divisor
    if mean.dtype != np.float32:
        return transform(mean)
    vector: Singles = transform.matrix @ mean
    return vector if transform.intercept is None else vector + transform.intercept


def _occurrences(tokens: list[str], target: list[str]) -> list[int]:
    """Where a target begins.

    >>> _occurrences(["new", "york", "new", "york"], ["new", "york"])
    [0, 2]
    """
    places = []
    start, last = 0, len(tokens) - len(target)
    while start <= last:
        try:
            start = tokens.index(target[0], start, last + 1)
        except ValueError:
            break
        if tokens[start : start + len(target)] == target:
            places.append(start)
        start += 1
    return places
