"""Contexts that agree: those that point elsewhere than the rest (another sense, boilerplate, a slip) count less.

Each context by itself gives a vector. It counts by a power of its cosine with the mean of the *others*, weighted
the same way, so the weights are found by going round a few times. The power is ½ n / (n + 8): the square root for many
contexts, and less for few, whose mean knows little. Fewer than four contexts count alike: there is no telling
who is the odd one out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError, require

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

LEAST = 4  # contexts
POWER = 0.5  # of the cosine, for many contexts: 1 and more throw away too much where nothing is wrong
HALF = 8  # contexts at which it is half of that
ROUNDS = 5
FLOOR = 1e-3  # cosines below count as this


@dataclass(frozen=True, eq=False)
class Agreement:
    """A vector from contexts by agreement: `weights[i]` (on average 1) and `cosines[i]`, with the others' mean."""

    contexts: list[str]
    weights: Doubles
    cosines: Doubles  # NaN for a context with no known word
    vector: Singles

    def to_frame(self) -> Any:
        """A pandas frame: a row a context, as given."""
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        return pandas.DataFrame({"weight": self.weights, "cosine": self.cosines, "context": self.contexts})


def agreement_weights(
    rows: npt.ArrayLike, *, power: float = POWER, rounds: int = ROUNDS, least: int = LEAST
) -> tuple[Doubles, Doubles]:
    """(weight, cosine with the weighted mean of the others) of each row; weights are 1 on average.

    Rows of zeros have weight 0 and no cosine. All others count alike where there are fewer than `least`.

    >>> weights, cosines = agreement_weights([[1.0, 0.1], [0.9, 0.0], [1.0, -0.1], [-0.1, 1.0]])
    >>> weights.round(2).tolist(), cosines.round(2).tolist()
    ([1.21, 1.21, 1.2, 0.38], [1.0, 0.99, 0.95, -0.1])
    >>> agreement_weights([[1.0, 0.0], [0.0, 1.0]])[0].tolist()
    [1.0, 1.0]
    """
    wide = np.asarray(rows, dtype=np.float64)
    if wide.ndim != 2 or power < 0 or rounds < 1:
        raise AlacarteError("agreement is measured between the rows of a matrix, by a power from 0 on, in some rounds")
    lengths = np.linalg.norm(wide, axis=1)
    some = lengths > 0
    units = np.divide(wide, lengths[:, None], out=np.zeros_like(wide), where=some[:, None])
    weights = some.astype(np.float64)
    if not some.any():
        return np.ones(len(wide)), np.full(len(wide), np.nan)
    exponent = power * some.sum() / (some.sum() + HALF)
    for _ in range(rounds if some.sum() >= least else 0):
        weights = _normed(np.where(some, np.maximum(_with_others(units, weights), FLOOR) ** exponent, 0.0))
    return _normed(weights), np.where(some, _with_others(units, weights), np.nan)


def _with_others(units: Doubles, weights: Doubles) -> Doubles:
    """The cosine of each row with the weighted sum of all others, 0 where there is none."""
    others = weights @ units - weights[:, None] * units
    lengths = np.linalg.norm(others, axis=1)
    dots: Doubles = np.einsum("ij,ij->i", units, others)
    return np.asarray(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 1e-12))


def _normed(weights: Doubles) -> Doubles:
    return np.asarray(weights / weights.mean())
