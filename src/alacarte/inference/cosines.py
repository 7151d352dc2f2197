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
from alacarte.inference.means import WHOLE, Units, combined
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
Intervals = Literal["jackknife", "bootstrap"] | None
Norm = Literal["l2", "none"]
LEAST_DF = 1.0  # degrees of freedom of an interval, at least
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


def slope(means: Doubles, roots: npt.ArrayLike, units: Doubles, own: npt.ArrayLike = 1.0) -> tuple[Doubles, Doubles]:
    """(w, θ), a row a unit vector v: θ = m · v / √q is the debiased cosine, and d θ = w · d m.

    `roots` are √q; `own` is the share of q that the mean itself says, where the rest is what means have in common.

    >>> w, theta = slope(np.array([3.0, 4.0]), 5.0, np.array([[1.0, 0.0]]))
    >>> w.round(3).tolist(), theta.tolist()
    ([[0.128, -0.096]], [0.6])
    """
    root = np.asarray(roots, dtype=np.float64)
    cosines = np.einsum("...d,...d->...", np.broadcast_to(means, units.shape), units) / root
    along = (np.asarray(own) * cosines / root)[..., None] * means
    return np.asarray((units - along) / root[..., None]), np.asarray(cosines)


def pulls(group: Units, directions: Doubles) -> tuple[Doubles, list[Doubles]]:
    """(debiased cosines, each unit's pull on them): the squares of the pulls add up to the variance (`alacarte.
    inference.means.combined`, if there are clusters of two kinds).

    This is the delta method with the CR2 covariance of the mean, also known as the infinitesimal jackknife. q is, but
    for a factor, a sum of products of different units; what a unit's own square would pull is taken out (`own_pulls`).
    """
    mean, square = group.mean(), group.debiased_square()
    if len(group) < 2 or not square > 0:
        unknown = np.full(len(directions), np.nan)
        return unknown, [np.broadcast_to(unknown, (len(way.sums), len(unknown))) for way in group.ways]
    w, values = slope(mean, np.sqrt(square), directions)
    result = []
    for way in group.ways:
        z, _ = way.deviations()
        own = own_pulls(np.einsum("ud,ud->u", z, z), way.sizes / way.sizes.sum())
        result.append(z @ w.T + np.outer(own / square, values))
    return values, result


def _values(means: Doubles, directions: Doubles, products: bool) -> Doubles:
    return means @ directions.T if products else plain_cosines(means, directions)


def _product_pulls(group: Units, directions: Doubles) -> tuple[Doubles, list[Doubles]]:
    """`pulls` of the products m · v."""
    known = np.nan if len(group) < 2 else 1.0
    return known * (directions @ group.mean()), [known * (way.deviations()[0] @ directions.T) for way in group.ways]


def own_pulls(squares: Doubles, shares: Doubles) -> Doubles:
    """What the own squares of units pull on ‖m‖²/2 beyond their shares of tr V, from ‖z‖² and the units' shares."""
    left = np.maximum(1 - shares, WHOLE)
    return np.asarray((squares - shares * squares.sum(axis=-1, keepdims=True)) / np.sqrt(left))


def estimate(
    groups: list[Units],
    directions: Doubles,
    intervals: Intervals,
    level: float = 0.95,
    draws: int = 1000,
    rng: np.random.Generator | None = None,
    excess: Doubles | None = None,
    norm: Norm = "l2",
) -> Estimates:
    """Cosines of the groups' means with unit vectors (or means or differences of such), and their intervals.

    `excess` (a number a feature) is what choosing the features added to the cosines; it is taken off `estimate`. With
    the norm "none" it is products instead of cosines, which have no bias and no bounds.
    """
    products = norm == "none"
    value = np.stack([_values(group.mean()[None], directions, products)[0] for group in groups])
    if intervals is None:
        return Estimates(value)
    check_level(level)
    check_draws(draws)
    centre, error, lower, upper = (np.full_like(value, np.nan) for _ in range(4))
    most = np.full(len(directions), np.inf) if products else np.linalg.norm(directions, axis=1)
    for row, group in enumerate(groups):
        centre[row], by_unit = _product_pulls(group, directions) if products else pulls(group, directions)
        if intervals == "bootstrap" and len(group) > 1:
            check_one_way(group)
            blocks = group.bootstrap(draws, rng or np.random.default_rng())
            values = np.concatenate(
                [
                    means @ directions.T if products else debiased_cosines(means, squares, directions)
                    for means, squares in blocks
                ]
            )
            error[row] = np.nanstd(values, axis=0, ddof=1) * np.sqrt(len(group) / (len(group) - 1))
        elif len(group) > 2:
            error[row] = np.sqrt(combined([np.sum(way**2, axis=0) for way in by_unit]))
        if excess is not None:
            centre[row] -= excess
        lower[row], upper[row] = interval(centre[row], error[row], max(group.df(), LEAST_DF), level, most)
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


# ------------------------------------------------------------------------------------------------ selection


def selection_excess(
    mean: Doubles,
    square: float,
    covariance: Doubles,
    search: Callable[[Doubles], Doubles],
    lengths: Callable[[Doubles], Doubles],
    rng: np.random.Generator,
    norm: Norm = "l2",
) -> Doubles:
    """By how much the cosines of the nearest words are too large because these words were chosen, at each rank.

    Vectors are drawn with the noise `covariance` about one in the direction of `mean` with the squared length
    `square`. `search` gives the unit vectors of the nearest words of each drawn vector (draws, ranks, dimensions), and
    `lengths` the squared lengths without noise that would be estimated for the drawn vectors. The excess is the mean
    of what these cosines come to, less what they are for the vector the draws are about. With the norm "none" it is
    products that are too large, and `search` gives vectors of any length.
    """
    direction = unit_rows(mean)
    truth = direction * np.sqrt(square)
    values, axes = np.linalg.eigh(covariance)
    noise = rng.normal(size=(SEARCHES, len(mean))) @ (np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T)
    drawn = truth + noise
    if norm == "none":
        chosen = search(drawn)
        # What is the same in all draws has no part in choosing; without it few draws say more.
        return np.asarray(np.einsum("nkd,nd->nk", chosen - chosen.mean(axis=0), noise).mean(axis=0))
    roots = np.sqrt(np.maximum(lengths(drawn), SHORTEST * np.einsum("nd,nd->n", drawn, drawn)))
    chosen = search(drawn)
    cosines = np.einsum("nkd,nd->nk", chosen, drawn) / roots[:, None]
    return np.asarray((cosines - chosen @ direction).mean(axis=0))


# ---------------------------------------------------------------------------------------------------- checks


def check_norm(norm: str) -> None:
    """Raise if there is no such norm."""
    if norm not in ("l2", "none"):
        raise AlacarteError(f"norm is 'l2' for cosines or 'none' for products, not {norm!r}")


def check_level(level: float) -> None:
    """Raise if the level of an interval makes no sense."""
    if not 0 < level < 1:
        raise AlacarteError(f"level is a probability between 0 and 1, such as 0.95, not {level}")


def check_one_way(group: Units) -> None:
    """Raise if a bootstrap is asked for with clusters of two kinds, which cannot be drawn together."""
    if group.other_ways:
        raise AlacarteError("there is no bootstrap for clusters of two kinds; use intervals='jackknife'")


def check_draws(draws: int | None) -> None:
    """Raise if there are too few draws for a bootstrap."""
    if draws is not None and draws < 2:
        raise AlacarteError(f"a bootstrap needs at least 2 draws, better 1000, not {draws}")
