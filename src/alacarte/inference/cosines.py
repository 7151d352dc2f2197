"""Cosines of noisy means with fixed vectors: without the bias that noise gives them, and with intervals.

The mean m of n noisy vectors is longer than the mean it estimates, E‖m‖² = ‖μ‖² + tr V, so that its cosines with
other vectors are too small, the more so the smaller n and the larger the dimension. An interval around them then
misses the truth however it is made. The intervals here are around m·f / √(‖m‖² − tr V̂), which removes that bias.

Words that were picked because their cosines are large have cosines that are too large. `selection_excess` says by how
much, at each rank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError
from alacarte.inference.means import Units
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
Intervals = Literal["jackknife", "bootstrap"] | None
REPORTED = 256  # features at a time in the jackknife
SEARCHES = 200  # simulated vectors by which the excess of chosen neighbours is estimated
SHORTEST = 0.02  # of ‖m‖²: a simulated vector's squared length without noise is no smaller


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values with what is known of their error; (groups, features)."""

    value: Doubles
    debiased: Doubles | None = None
    std_error: Doubles | None = None
    lower: Doubles | None = None
    upper: Doubles | None = None
    reasons: tuple[str, ...] = ()  # a group each: why it has no interval, or ""


def plain_cosines(means: Doubles, directions: Doubles) -> Doubles:
    return unit_rows(means) @ directions.T


def debiased_cosines(means: Doubles, squares: Doubles, directions: Doubles) -> Doubles:
    """NaN where there is more noise than signal, so that the length of the true mean cannot be told from 0."""
    length = np.sqrt(np.where(squares > 0, squares, np.nan))
    return np.asarray((means @ directions.T) / length[..., None])


def interval(
    centre: Doubles, error: Doubles, df: npt.ArrayLike, level: float, most: npt.ArrayLike = 1.0
) -> tuple[Doubles, Doubles]:
    """(lower, upper): Student's t about an estimate, cut off at ± `most`, beyond which no cosine lies.

    >>> low, high = interval(np.array([0.9]), np.array([0.1]), 30, 0.95)
    >>> low.round(3).tolist(), high.tolist()
    ([0.696], [1.0])
    """
    from scipy import special

    reach = special.stdtrit(df, (1 + level) / 2) * error
    limit = np.asarray(most, dtype=np.float64)
    return np.clip(centre - reach, -limit, limit), np.clip(centre + reach, -limit, limit)


def estimate(
    groups: list[Units],
    directions: Doubles,
    intervals: Intervals,
    level: float = 0.95,
    draws: int = 1000,
    rng: np.random.Generator | None = None,
    excess: Doubles | None = None,
) -> Estimates:
    """Cosines of the groups' means with unit vectors (or means or differences of such), and their intervals.

    `excess` (a number a feature) is what choosing the features added to the cosines; it is taken off `debiased`.
    """
    value = np.stack([plain_cosines(group.mean()[None], directions)[0] for group in groups])
    if intervals is None:
        return Estimates(value)
    check_level(level)
    check_draws(draws)
    centre, error, lower, upper = (np.full_like(value, np.nan) for _ in range(4))
    most = np.linalg.norm(directions, axis=1)
    for row, group in enumerate(groups):
        if len(group) < 2:
            continue
        centre[row] = debiased_cosines(group.mean()[None], np.array([group.debiased_square()]), directions)[0]
        if intervals == "jackknife":
            error[row] = jackknife_deviations(group, directions, sum_of_squares=True)[0]
        else:
            blocks = group.bootstrap(draws, rng or np.random.default_rng())
            values = np.concatenate([debiased_cosines(means, squares, directions) for means, squares in blocks])
            error[row] = np.nanstd(values, axis=0, ddof=1) * np.sqrt(len(group) / (len(group) - 1))
        if excess is not None:
            centre[row] -= excess
        lower[row], upper[row] = interval(centre[row], error[row], group.deviations()[1], level, most)
    return Estimates(value, centre, error, lower, upper, tuple(why_undefined(group) for group in groups))


def why_undefined(group: Units) -> str:
    """Why a group has no interval, in words for a table; empty if it has one.

    >>> why_undefined(Units.of(np.ones((1, 2)))), why_undefined(Units.of(np.eye(5)))
    ('one context alone does not show its noise', 'more noise than signal')
    """
    if len(group) == 1:
        return f"one {'cluster' if group.clustered else 'context'} alone does not show its noise"
    if len(group) == 2:
        return f"two {'clusters' if group.clustered else 'contexts'} are too few for a standard error"
    return "" if group.debiased_square() > 1e-12 else "more noise than signal"


def jackknife_deviations(group: Units, directions: Doubles, sum_of_squares: bool = False) -> Doubles:
    """Each unit's pull on the debiased cosines, (units, features), scaled so that their squares add up to the
    variance; or that sum's root as one row."""
    if len(group) < 3:
        return np.full((1 if sum_of_squares else len(group), len(directions)), np.nan)
    means, squares = group.leave_one_out()
    result = []
    for low in range(0, len(directions), REPORTED):
        values = debiased_cosines(means, squares, directions[low : low + REPORTED])
        pulls = np.sqrt((len(group) - 1) / len(group)) * (values - values.mean(axis=0))
        result.append(np.sqrt((pulls**2).sum(axis=0))[None] if sum_of_squares else pulls)
    return np.concatenate(result, axis=1)


# ------------------------------------------------------------------------------------------------ selection


def selection_excess(
    mean: Doubles,
    square: float,
    covariance: Doubles,
    search: Callable[[Doubles], list[Doubles]],
    lengths: Callable[[Doubles], Doubles],
    rng: np.random.Generator,
) -> Doubles:
    """By how much the cosines of the nearest words are too large because these words were chosen, at each rank.

    Vectors are drawn with the noise `covariance` about one in the direction of `mean` with the squared length
    `square`. `search` gives the unit vectors of the nearest words of each drawn vector, the nearest first, and
    `lengths` the squared lengths without noise that would be estimated for the drawn vectors. The excess is the mean
    of what these cosines come to, less what they are for the vector the draws are about.
    """
    direction = unit_rows(mean)
    truth = direction * np.sqrt(square)
    values, axes = np.linalg.eigh(covariance)
    noise = rng.normal(size=(SEARCHES, len(mean))) @ (np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T)
    drawn = truth + noise
    roots = np.sqrt(np.maximum(lengths(drawn), SHORTEST * np.einsum("nd,nd->n", drawn, drawn)))
    chosen = np.stack(search(drawn))  # (draws, ranks, dimensions)
    cosines = np.einsum("nkd,nd->nk", chosen, drawn) / roots[:, None]
    return np.asarray((cosines - chosen @ direction).mean(axis=0))


# ---------------------------------------------------------------------------------------------------- checks


def check_level(level: float) -> None:
    """Raise if the level of an interval makes no sense."""
    if not 0 < level < 1:
        raise AlacarteError(f"level is a probability between 0 and 1, such as 0.95, not {level}")


def check_draws(draws: int | None) -> None:
    """Raise if there are too few draws for a bootstrap."""
    if draws is not None and draws < 2:
        raise AlacarteError(f"a bootstrap needs at least 2 draws, better 1000, not {draws}")
