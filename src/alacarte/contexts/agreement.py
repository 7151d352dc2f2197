"""Agreement between contexts: those that differ from the rest (another sense, boilerplate, a slip) count less.

Each context by itself gives a vector. The context counts by a power of the cosine of that vector with the mean of the
*others*, weighted the same way, so the weights are found by repeating this a few times. The power is ½ n / (n + 8): the
square root for many contexts, and less for few, whose mean says little. Fewer than four contexts count alike, since
there is no telling which of them is the exception.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Singles
from alacarte._io.table import Columns, Table
from alacarte.errors import AlacarteError
from alacarte.vectors.geometry import cosines, unit_rows

LEAST_CONTEXTS = 4  # contexts
POWER = 0.5  # of the cosine, for many contexts: 1 and more throw away too much where nothing is wrong
HALF_POWER_AT = 8  # contexts at which the power is half of that
AGREEMENT_ROUNDS = 5
COSINE_FLOOR = 1e-3  # cosines below count as this


@dataclass(frozen=True, eq=False)
class Agreement(Table):
    """A vector from contexts that count by their agreement; as a table, one row per context.

    Attributes
    ----------
    contexts : list of str
        The contexts, as given.
    weights : numpy.ndarray
        How much each counts, 1 on average.
    cosines : numpy.ndarray
        The cosine of each with the mean of the others; NaN for a context with no known word.
    vector : numpy.ndarray
        The vector.
    """

    contexts: list[str]
    weights: Doubles
    cosines: Doubles
    vector: Singles

    def columns(self) -> Columns:
        """Return the table's columns."""
        return {"weight": self.weights, "cosine": self.cosines, "context": self.contexts}


def agreement_weights(
    rows: npt.ArrayLike, *, power: float = POWER, rounds: int = AGREEMENT_ROUNDS
) -> tuple[Doubles, Doubles]:
    """Return (weight, cosine with the weighted mean of the others) of each row; weights are 1 on average.

    Rows of zeros have weight 0 and no cosine. All others count alike where there are fewer than LEAST_CONTEXTS.

    >>> weights, cosines = agreement_weights([[1.0, 0.1], [0.9, 0.0], [1.0, -0.1], [-0.1, 1.0]])
    >>> weights.round(2).tolist(), cosines.round(2).tolist()
    ([1.21, 1.21, 1.2, 0.38], [1.0, 0.99, 0.95, -0.1])
    >>> agreement_weights([[1.0, 0.0], [0.0, 1.0]])[0].tolist()
    [1.0, 1.0]
    """
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:
        raise AlacarteError("agreement is measured between the rows of a matrix")
    if not matrix.any():
        return np.ones(len(matrix)), np.full(len(matrix), np.nan)
    units = unit_rows(matrix)
    not_empty = units.any(axis=1)
    number = int(not_empty.sum())
    weights = np.asarray(not_empty, dtype=np.float64)
    exponent = power * number / (number + HALF_POWER_AT)
    for _ in range(rounds if number >= LEAST_CONTEXTS else 0):
        powers = np.maximum(_cosines_with_others(units, weights), COSINE_FLOOR) ** exponent
        weights = _mean_one(np.where(not_empty, powers, 0.0))
    return _mean_one(weights), np.where(not_empty, _cosines_with_others(units, weights), np.nan)


def _cosines_with_others(units: Doubles, weights: Doubles) -> Doubles:
    """Return the cosine of each row with the weighted sum of all others; 0 where these cancel."""
    others = weights @ units - weights[:, None] * units
    cancel = np.linalg.norm(others, axis=1) <= 1e-12
    return np.where(cancel, 0.0, cosines(units, others))


def _mean_one(weights: Doubles) -> Doubles:
    return np.asarray(weights / weights.mean())
