"""Cosines of noisy means with fixed vectors: without the bias that noise gives them, and with intervals.

The mean m of n noisy vectors is longer than the mean it estimates, E‖m‖² = ‖μ‖² + tr V, so that its cosines with
other vectors are too small, the more so the smaller n and the larger the dimension. An interval around them misses the
truth, whatever its width is based on. The intervals here are around m·f / √(‖m‖² − tr V̂), which removes that bias.

Words that were picked because their cosines are large have cosines that are too large. `selection_excess` says by how
much, at each rank.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles
from alacarte.errors import AlacarteError
from alacarte.inference.means import ROUNDING_OF_SHARES, Units

LEAST_INTERVAL_DF = 1.0  # degrees of freedom of an interval, at least
SEARCHES = 200  # simulated vectors by which the excess of chosen neighbours is estimated
ERROR_STRETCH = (0.25, 10.0)  # standard errors change by no less and no more, to agree with another test
LEAST_STEPS = 5  # from one value of a series to the next, to say what is usual
LEAST_SQUARED_LENGTH = 0.02  # of ‖m‖²: a simulated vector's squared length without noise is no smaller


def directions_of(rows: npt.ArrayLike) -> Doubles:
    """Return vectors at length 1; a vector of zeros has no direction, and becomes NaN.

    >>> directions_of([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[0.6, 0.8], [nan, nan]]
    """
    matrix = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(matrix, axis=-1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, np.nan))


def interval(
    centre: Doubles, error: Doubles, df: npt.ArrayLike, level: float, most: npt.ArrayLike = 1.0
) -> tuple[Doubles, Doubles]:
    """Return (lower, upper): Student's t about an estimate, cut off at ± `most`, beyond which no cosine lies.

    >>> low, high = interval(np.array([0.9]), np.array([0.1]), 30, 0.95)
    >>> low.round(3).tolist(), high.tolist()
    ([0.696], [1.0])
    """
    from scipy import special

    reach = special.stdtrit(df, (1 + level) / 2) * error
    limit = np.asarray(most, dtype=np.float64)
    return np.clip(centre - reach, -limit, limit), np.clip(centre + reach, -limit, limit)


def agreeing_errors(centre: Doubles, error: Doubles, df: Doubles, p: Doubles, least: float) -> tuple[Doubles, Doubles]:
    """Return (standard errors with which t tests of `centre` have the p-values of another test, these p-values).

    `least` is the smallest p-value the other test can give. Errors change by no more than `ERROR_STRETCH`; p
    gives way there. They are as they were where p is not known.

    >>> error, p = agreeing_errors(np.array([2.0]), np.array([1.0]), np.array([30.0]), np.array([0.1]), 0.01)
    >>> low, high = interval(np.array([2.0]), error, 30, 0.9, 9.0)
    >>> low.round(3).tolist(), p.tolist()
    ([0.0], [0.1])
    """
    from scipy import special

    score, wanted = np.abs(centre) / error, -special.stdtrit(df, p * (1 - 1e-6) / 2)
    change = np.where((p <= least) & (score >= wanted), 1.0, np.clip(score / wanted, *ERROR_STRETCH))
    change = np.where(np.isfinite(change), change, 1.0)
    agreed = 2 * special.stdtr(df, -score / change)
    same = np.isclose(agreed, p, rtol=1e-4) | ((p <= least) & (score >= wanted))
    return error * change, np.where(same, p, agreed)


def slope(means: Doubles, roots: npt.ArrayLike, units: Doubles, own: npt.ArrayLike = 1.0) -> tuple[Doubles, Doubles]:
    """Return (w, θ) for each unit vector v: θ = m · v / √q is the debiased cosine, and d θ = w · d m.

    `roots` are √q; `own` is the share of q that comes from the mean itself, the rest being what means have in common.

    >>> w, theta = slope(np.array([3.0, 4.0]), 5.0, np.array([[1.0, 0.0]]))
    >>> w.round(3).tolist(), theta.tolist()
    ([[0.128, -0.096]], [0.6])
    """
    root = np.asarray(roots, dtype=np.float64)
    cosines = np.einsum("...d,...d->...", np.broadcast_to(means, units.shape), units) / root
    along = (np.asarray(own) * cosines / root)[..., None] * means
    return np.asarray((units - along) / root[..., None]), np.asarray(cosines)


def pulls(group: Units, directions: Doubles, shortest: float = 0.0) -> tuple[Doubles, Doubles]:
    """Return (debiased cosines, the pull of each unit on them): squares of pulls add up to the variance.

    This is the delta method with the CR2 covariance of the mean, also known as the infinitesimal jackknife. q is, but
    for a factor, a sum of products of different units; what a unit's own square would pull is taken out (`own_pulls`).
    It counts as `shortest` of ‖m‖² at least. All is NaN for a direction of zeros, for a single unit, and where there is
    more noise than signal.
    """
    mean, z = group.mean(), group.deviations()
    squares = np.einsum("ud,ud->u", z, z)
    square = max(float(mean @ mean - squares.sum()), shortest * float(mean @ mean))
    if len(group) < 2 or not square > 0:
        return np.full(len(directions), np.nan), np.full((len(group), len(directions)), np.nan)
    w, values = slope(mean, np.sqrt(square), _or_unknown(directions))
    own = own_pulls(squares, group.sizes / group.sizes.sum())
    return values, z @ w.T + np.outer(own / square, values)


def _or_unknown(directions: Doubles) -> Doubles:
    """Return directions with NaN for those that are zero."""
    return np.where(directions.any(axis=-1, keepdims=True), directions, np.nan)


def own_pulls(squares: Doubles, shares: Doubles) -> Doubles:
    """Return what units' own squares pull on ‖m‖²/2 beyond their shares of tr V, from ‖z‖² and the units' shares."""
    left = np.maximum(1 - shares, ROUNDING_OF_SHARES)
    return np.asarray((squares - shares * squares.sum(axis=-1, keepdims=True)) / np.sqrt(left))


def estimate(
    groups: list[Units],
    directions: Doubles,
    level: float = 0.95,
    excess: Doubles | None = None,
) -> dict[str, Doubles]:
    """Return cosines of the groups' means with unit vectors (or means or differences of such), and their intervals.

    All are (groups, directions), by the names of columns: value, estimate, std_error, conf_low, conf_high.
    `excess` (one number per direction) is what choosing the directions added to the cosines; it is taken off the
    estimates. Cosines with a mean or a direction of zeros are NaN.
    """
    value = directions_of(np.stack([group.mean() for group in groups])) @ _or_unknown(directions).T
    centre, error, lower, upper = (np.full_like(value, np.nan) for _ in range(4))
    most = np.linalg.norm(directions, axis=1)
    for row, group in enumerate(groups):
        centre[row], by_unit = pulls(group, directions)
        if len(group) > 2:
            error[row] = np.sqrt(np.sum(by_unit**2, axis=0))
        if excess is not None:
            centre[row] -= excess
        lower[row], upper[row] = interval(centre[row], error[row], max(group.df(), LEAST_INTERVAL_DF), level, most)
    return {"value": value, "estimate": centre, "std_error": error, "conf_low": lower, "conf_high": upper}


def why_undefined(group: Units) -> str:
    """Return why a group has no interval, in words for a table; empty if it has one.

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
) -> Doubles:
    """Return by how much the cosines of the nearest words are too large because they are the nearest, at each rank.

    Vectors are drawn with the noise `covariance` about one in the direction of `mean` with the squared length
    `square`. `search` gives the unit vectors of the nearest words of each drawn vector (draws, ranks, dimensions), and
    `lengths` the squared lengths without noise that would be estimated for the drawn vectors. The excess is the mean
    of what these cosines come to, less what they are for the vector the draws are about.
    """
    direction = directions_of(mean)
    values, axes = np.linalg.eigh(covariance)
    noise = rng.normal(size=(SEARCHES, len(mean))) @ (np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T)
    drawn = direction * np.sqrt(square) + noise
    roots = np.sqrt(np.maximum(lengths(drawn), LEAST_SQUARED_LENGTH * np.einsum("nd,nd->n", drawn, drawn)))
    chosen = search(drawn)
    cosines = np.einsum("nkd,nd->nk", chosen, drawn) / roots[:, None]
    return np.asarray((cosines - chosen @ direction).mean(axis=0))


def drift_band(values: Doubles, errors: Doubles, level: float) -> tuple[Doubles, Doubles]:
    """Return between which limits each value of a series would lie if the step to it were like the other steps.

    Steps, in units of their standard errors, are compared by Student's t. Steps without values on either side, and
    those of a series with fewer than `LEAST_STEPS`, have NaN.

    >>> low, high = drift_band(np.array([0.1, 0.2, 0.1, 0.2, 0.3, 0.9]), np.full(6, 0.05), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([nan, -0.77, -0.67, -0.77, -0.67, 0.02], [nan, 0.97, 1.0, 0.97, 1.0, 0.58])
    """
    from scipy.special import stdtrit

    known = np.flatnonzero(np.isfinite(values) & (errors > 0))
    low, high = np.full(len(values), np.nan), np.full(len(values), np.nan)
    if len(known) > LEAST_STEPS:
        start, noise = values[known][:-1], np.square(errors[known])
        noise = noise[1:] + noise[:-1]
        scaled = np.square(values[known][1:] - start) / noise
        others = (scaled.sum() - scaled) / (len(scaled) - 1)
        reach = stdtrit(len(scaled) - 1, 0.5 + level / 2) * np.sqrt(noise * others)
        low[known[1:]], high[known[1:]] = np.maximum(start - reach, -1), np.minimum(start + reach, 1)
    return low, high


def check_level(level: object) -> None:
    """Raise if the level of an interval makes no sense."""
    if isinstance(level, bool) or not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise AlacarteError(f"level is a probability between 0 and 1, such as 0.95, not {level!r}")
