"""Vectors as whole numbers: how fine they are, so that every window fits in 32 bits and sums are exact.

A value v of dimension j under context weight c becomes rint(c · v · 2^s_j). The exponents s depend on the vectors, the
weights and the window alone: they are the largest with which a whole window of the largest values still fits in int32.
Sums of such windows in int64 are exact up to 2³² windows a target, and adding them commutes.

Where a few values of a dimension are so large that a unit is no longer small beside a usual vector, the dimension is
split: its integers have four more bits, which are summed by themselves. Sums are exact up to 2²⁸ windows then.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs
from alacarte.contexts.reading import Reading

Exponents = npt.NDArray[np.int16]

LARGEST_INT32 = 2.0**31 - 1
MOST_WINDOWS = 2**32 - 1  # of one target: each is below 2³¹, so their sum is below 2⁶³
PRECISION = 21  # bits: a dimension is split if a unit of it is larger than a usual vector's length / 2²¹
FINER = 4  # bits that a split dimension has more; each of them halves the windows that a target may have
WIDE_WINDOW = 256  # words in a window from which on it need not fit in 32 bits, since it is added up word by word


@dataclass(frozen=True, eq=False)
class Scale:
    """Row values are multiples of 2^-rows[j], sums of 2^-sums[j], weights of 2^-weights.

    >>> scale = Scale.of(np.array([1.0, 4.0]), 1.0, Reading(left=2, right=2))
    >>> scale.rows.tolist(), scale.weights
    ([28, 26], 0)
    """

    rows: Exponents
    sums: Exponents
    weights: int

    @classmethod
    def of(cls, column_max: Doubles, largest_weight: float, reading: Reading, length: float = 0.0) -> "Scale":
        """Return the finest scale for vectors whose largest absolute value in each dimension is `column_max`.

        `length` is that of a usual vector; without it no dimension is split. Nor is any where a window is divided by
        its weight, or weighed by distance, and then rounded.
        """
        left, right = reading.position_weights()
        reach = max(1.0, float(left.sum() + right.sum()))  # a single row fits, too
        if reading.positions == "uniform":
            reach += 1.0  # running sums hold the word itself, too
        room = LARGEST_INT32 / (1.0 if is_wide(reading) else reach) - 1.0  # less one for rounding
        rows = _exponents(room, column_max * largest_weight)
        if reading.positions == "uniform" and reading.weights == "uniform":
            weights = 0
        else:
            weights = int(_exponents(room, np.array([largest_weight]))[0])
        finer: Exponents | int = 0
        if reading.averaging == "context" and not is_wide(reading):
            finer = int(np.floor(np.log2(reach * largest_weight)))
        elif reading.averaging != "context" and reading.positions == "uniform" and length * largest_weight > 0:
            coarse = rows < PRECISION - np.floor(np.log2(length * largest_weight))
            finer = np.where(coarse & (column_max > 0), FINER, 0)
        return cls(rows, (rows + finer).astype(np.int16), weights)

    @property
    def row_factors(self) -> Doubles:
        """What each dimension is multiplied by to be a whole number."""
        return np.asarray(np.exp2(self.rows.astype(np.float64)))

    @property
    def sum_units(self) -> Doubles:
        """The value of one unit of the sums, in each dimension."""
        return np.asarray(np.exp2(-self.sums.astype(np.float64)))

    @property
    def mean_factor(self) -> float:
        """What a window's sum is multiplied by before it is divided by the window's weight, to be a mean in units."""
        finer = int(self.sums[0]) - int(self.rows[0]) if len(self.rows) else 0
        return float(np.exp2(self.weights + finer))

    def slice(self, low: int, high: int) -> "Scale":
        """Return the scale of some of the dimensions."""
        return Scale(self.rows[low:high], self.sums[low:high], self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scale):
            return NotImplemented
        same = np.array_equal(self.rows, other.rows) and np.array_equal(self.sums, other.sums)
        return same and self.weights == other.weights

    __hash__ = None  # type: ignore[assignment]


def is_wide(reading: Reading) -> bool:
    """Whether windows are so wide that their sums are made word by word, in float64, which is exact up to 2⁵³."""
    return reading.positions == "uniform" and reading.left + reading.right > WIDE_WINDOW


def split_dimensions(scale: Scale, reading: Reading) -> Longs:
    """Return the dimensions whose integers have a second part."""
    return np.flatnonzero(scale.sums > scale.rows) if reading.averaging != "context" else np.zeros(0, dtype=np.int64)


def most_windows(reading: Reading, scale: Scale) -> int:
    """How many windows of one target sums can hold."""
    most = MOST_WINDOWS >> FINER if split_dimensions(scale, reading).size else MOST_WINDOWS
    return most // (reading.left + reading.right + 1) if is_wide(reading) else most


def _exponents(room: float, largest: Doubles) -> Exponents:
    """Return the largest s with largest · 2^s ≤ room; 0 where there is nothing to scale."""
    safe = np.where(largest > 0, largest, room)
    return np.asarray(np.floor(np.log2(room / safe)), dtype=np.int16)
