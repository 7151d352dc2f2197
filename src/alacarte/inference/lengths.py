"""Intervals for the squared length θ = ‖β‖² of a coefficient vector b that is noisy.

b has the covariance V. T = ‖b‖² − tr V̂ is θ on average, with the variance 2 tr V² + 4 β'Vβ and the third moment
8 tr V³ + 24 β'V²β. The interval has every θ at which T is not in the tails of that distribution. What it takes:

- V from scores of units (rows or clusters) that are corrected for leverage (HC2, CR2), its traces from products of
  different units, so that they are not too large when there are fewer units than outputs.
- How much of an effect lies where there is much noise. In a direction with the noise variance λ, b² − λ is the effect's
  mass on average, but T and these masses go up and down together: an estimate from them would make intervals too short
  when T is too small. So for each θ one takes out of the masses what they share with T − θ (their regression on it).
- A gamma distribution with the three moments: exact for noise of one size in all directions, and close for others.
- Near θ = 0 the tails of Feldman and Cousins (1998): all on the upper side at 0, evenly on both from about two standard
  errors on. An interval holds 0 if and only if a one-sided test does not reject it, is never empty, and covers as often
  as it says, where one with even tails that is cut off at 0 covers more.
- Student's t, because V̂ comes from a finite number of units.
"""

from dataclasses import dataclass, replace

import numpy as np

from alacarte._io.arrays import Doubles
from alacarte.inference.regression_noise import Fit, Tick, for_leverage, leverage_corrected

MASS_STEPS = 4  # of the masses' fixed point; two would do
SLACK = 0.075  # β'Vβ may come out this much of tr V² below 0: cut at 0 its estimate would be too large on average
KEPT = 2 / 3  # of tr V², at least, when ties are taken out: with few units they are known too poorly for more
ALONE = 1e-9  # of the variance is that of other units where a coefficient rests on a single one
SURE = 1e-12  # a smaller tail counts as none
SCORE_STRETCH = (0.1, 1.5)  # scores are stretched by no less and no more, to agree with a test by permutation
LENGTHS_TRIED = 48  # lengths that are looked at before a limit is sought between two
NEWTON = 6


@dataclass(frozen=True, eq=False)
class Noise:
    """What is known of the covariance V of one combination of coefficients."""

    total: float  # tr V
    second: float  # tr V²
    third: float  # tr V³
    share: float  # of a unit in V, as 1 / (the number of units that count)
    axes: Doubles  # the eigenvectors of V̂, as columns
    values: Doubles  # its eigenvalues: too far apart, the more so the fewer the units
    variances: Doubles  # the noise there is along each axis: the eigenvalues, drawn together


def noise_of_each(fit: Fit, combinations: Doubles, tick: Tick = lambda done: None) -> list[Noise]:
    """Return the noise of each combination of coefficients."""
    a = fit.combined(combinations)
    d = fit.residuals.shape[1]
    covariance = np.zeros((len(a), d, d))
    fourth = np.zeros_like(covariance)
    own = np.zeros((len(a), 2))
    done = 0
    for s in leverage_corrected(fit):
        scores = (a @ s).transpose(1, 0, 2)
        turned = scores.transpose(0, 2, 1)
        squares = np.einsum("mgd,mgd->mg", scores, scores)
        covariance += turned @ scores
        fourth += (turned * squares[:, None, :]) @ scores
        own += np.stack([(squares**2).sum(axis=1), (squares**3).sum(axis=1)], axis=1)
        done += len(s)
        tick(done)
    return [_noise(*parts) for parts in zip(covariance, fourth, own, *ties(fit, a), strict=True)]


def ties(fit: Fit, a: Doubles) -> tuple[Doubles, Doubles]:
    """Return (Σ of squared covariances of two scores, Σ of squared variances), over the squared sum of variances.

    Scores of residuals are tied to each other: if all units are equally noisy, those of g and h have the covariance
    c Σ with c = −v_g·v_h, v_g = a (I − A_g)^(−½) A_g, and each has the variance a A_g a' Σ.
    """
    variances, fourths = np.zeros(len(a)), np.zeros(len(a))
    products = np.zeros((len(a), fit.columns, fit.columns))
    for _, _, g in fit.blocks():
        v = a @ for_leverage(fit, g, g)
        variances += np.square(np.einsum("gmk,mk->gm", a @ g, a)).sum(axis=0)
        fourths += (np.einsum("gmk,gmk->gm", v, v) ** 2).sum(axis=0)
        products += np.einsum("gmk,gml->mkl", v, v, optimize=True)
    total = np.einsum("mk,mk->m", a, a) ** 2
    return (np.einsum("mkl,mkl->m", products, products) - fourths) / total, variances / total


def _noise(covariance: Doubles, fourth: Doubles, own: Doubles, tied: float, single: float) -> Noise:
    """Return the noise from Σ ss', Σ ss'·‖s‖², and (Σ‖s‖⁴, Σ‖s‖⁶) over the scores s, and their `ties`."""
    d = len(covariance)
    if single > 1 - ALONE:  # one unit has all of the noise that is left, which is rounding
        return Noise(0.0, 0.0, 0.0, 0.0, np.eye(d), np.zeros(d), np.zeros(d))
    total = float(np.trace(covariance))
    products = covariance @ covariance
    crude = float(np.trace(products))
    even = total**2 / d  # the least that tr V² can be
    pairs = crude - float(own[0])  # tr V² but for the pairs of a unit with itself and for ties
    second = max((pairs - tied * total**2) / (1 - single + tied), pairs / (1 - single) * KEPT, even)
    third = max(float((products * covariance).sum()) - 3 * float((fourth * covariance).sum()) + 2 * float(own[1]), 0.0)
    values, axes = np.linalg.eigh(covariance)
    values = np.maximum(values, 0.0)
    keep = (second - even) / (crude - even) if crude - even > 1e-12 * crude else 0.0  # as Ledoit and Wolf (2004)
    variances = keep * values + (1 - keep) * total / d
    share = 0.0
    if total > 0:
        share = float(own[0]) / total**2 / (1 + 2 * second / total**2)  # a normal ‖s‖⁴ is (1 + 2/dimensions)‖s‖²‖s‖²
    return Noise(total, second, third, share, axes, values, variances)


@dataclass(frozen=True, eq=False)
class Length:
    """The squared length of one combination b, of which `noise` is known."""

    noise: Noise
    estimate: float  # T
    masses: Doubles  # b² less the noise, along each axis
    stretch: float = 1.0  # of scores

    @classmethod
    def of(cls, b: Doubles, noise: Noise) -> "Length":
        """Return the length of a coefficient vector."""
        masses = np.square(b @ noise.axes) - noise.variances
        return cls(noise, float(b @ b) - noise.total, masses)

    def agreeing(self, p: float, least: float) -> tuple["Length", float]:
        """Return (the length with scores stretched so that they reject θ = 0 at the level p, that p).

        `p` is that of a test by permutation, at least `least`, and so may only say that it is no larger. Where no
        stretch within `SCORE_STRETCH` makes the two agree, p gives way.
        """
        from scipy import special

        df = 1 / self.noise.share if self.noise.share > 0 else np.inf
        own = self.places(np.zeros(1))[0]
        score = float(special.stdtrit(df, np.clip(own, SURE, 1 - SURE))[0])
        wanted = float(special.stdtrit(df, 1 - p * (1 - 1e-6)))  # a p of .05 rejects, too
        if p <= least and score >= wanted:
            return self, p
        bent = float(np.clip(wanted / score, *SCORE_STRETCH)) if score > 0 else 1.0
        changed = replace(self, stretch=bent)
        agreed = float(1 - changed.places(np.zeros(1))[0][0])
        return changed, p if np.isclose(agreed, p, rtol=1e-4) else agreed

    def moments(self, theta: Doubles) -> tuple[Doubles, Doubles]:
        """Return the variance and the third moment of T for each θ that might be true."""
        noise, along = self.noise, self.noise.variances
        gap = (self.estimate - theta)[:, None]
        weights = np.broadcast_to(2 * along**2, (len(theta), len(along)))
        masses = self.masses - gap * weights / weights.sum(axis=1, keepdims=True)
        for _ in range(MASS_STEPS):
            weights = 2 * along**2 + 4 * along * np.maximum(masses, 0.0)  # the covariances of b² with T
            masses = self.masses - gap * weights / weights.sum(axis=1, keepdims=True)
        most = noise.values[-1] * theta
        first = np.clip(masses @ noise.values, -np.minimum(SLACK * noise.second, most), most)
        positive = np.maximum(first, 0.0)
        square = np.maximum(masses @ (noise.values * along), positive**2 / np.maximum(theta, 1e-300))
        square = np.minimum(square, noise.values[-1] * positive)
        return 2 * noise.second * (1 + noise.share) + 4 * first, 8 * noise.third + 24 * square

    def error(self) -> float:
        """Return the standard error of T if it is right, or if there is no effect where it is negative."""
        return float(np.sqrt(self.moments(np.array([max(self.estimate, 0.0)]))[0][0])) if self.noise.total > 0 else 0.0

    def places(self, theta: Doubles) -> tuple[Doubles, Doubles]:
        """Return (the probability of a smaller T, θ in standard errors) for each θ that might be true."""
        from scipy import special

        variance, third = self.moments(theta)
        shape = 4 / np.maximum(third / variance**1.5, 1e-3) ** 2
        below = special.gammainc(shape, np.maximum(shape + (self.estimate - theta) * np.sqrt(shape / variance), 0.0))
        score = special.ndtri(np.clip(below, SURE, 1 - SURE))
        below = special.stdtr(1 / self.noise.share, self.stretch * score)
        return np.asarray(below), np.asarray(theta / np.sqrt(variance))

    def outside(self, theta: Doubles, level: float) -> tuple[Doubles, Doubles]:
        """Return how far T is in the tail below (θ is too large) and above (θ is too small); at most 0 if it is not."""
        position, distance = self.places(theta)
        below, above = tails(distance, level)
        return below - position, position - (1 - above)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the lowest and the highest θ at which T is not in a tail."""
        from scipy import special

        centre = max(self.estimate, 0.0)
        if self.noise.total <= 0:
            return centre, centre
        # The upper limit if all of the effect lay where there is most noise, in a normal distribution
        reach = special.stdtrit(1 / self.noise.share, (1 + level) / 2) / self.stretch
        most = float(self.noise.values[-1]) * reach**2
        even = most * 2 * self.noise.second * (1 + self.noise.share) / self.noise.values[-1]
        farthest = centre + 2 * most + np.sqrt(4 * most * centre + 4 * most**2 + even)
        steps = np.linspace(0.0, 1.0, LENGTHS_TRIED) ** 2
        upper = self._limit(centre + (farthest - centre) * steps, level, 0)
        lower = self._limit(centre * (1 - steps), level, 1) if centre > 0 else 0.0
        return lower, upper

    def _limit(self, grid: Doubles, level: float, side: int) -> float:
        """Return the last θ on the way along the grid at which T is not in the tail of that side."""
        from scipy import optimize

        inside = np.flatnonzero(self.outside(grid, level)[side] <= 0)
        last = int(inside[-1]) if len(inside) else 0
        if last == len(grid) - 1:
            return float(grid[-1])
        ends = sorted(grid[last : last + 2].tolist())
        return float(optimize.brentq(lambda theta: self.outside(np.array([theta]), level)[side][0], *ends, rtol=1e-8))


def tails(distance: Doubles, level: float) -> tuple[Doubles, Doubles]:
    """Return the probabilities left out below and above, for truths that are `distance` standard errors above 0.

    Feldman and Cousins' for a normal: of all regions of probability `level` the one whose values are likeliest under
    this truth in comparison with the best truth ≥ 0.

    >>> below, above = tails(np.array([0.0, 1.0, 3.0]), 0.95)
    >>> below.round(4).tolist(), above.round(4).tolist()
    ([0.0, 0.0156, 0.025], [0.05, 0.0344, 0.025])
    """
    from scipy import special

    even = float(special.ndtri((1 + level) / 2))
    near = np.clip(distance, 1e-6, even)
    reach = np.full(near.shape, even)
    for _ in range(NEWTON):  # for the upper end: the lower end is as likely, and both tails come to 1 − level
        lower = (near**2 + reach**2) / (2 * near)
        missing = special.ndtr(reach) - special.ndtr(-lower) - level
        reach -= missing * np.sqrt(2 * np.pi) / (np.exp(-(reach**2) / 2) + np.exp(-(lower**2) / 2) * reach / near)
    above = special.ndtr(-reach)
    return np.maximum(1 - level - above, 0.0), above


def score_interval(
    fit: Fit,
    combinations: Doubles,
    level: float,
    p: Doubles | None = None,
    least: float = 0.0,
    tick: Tick = lambda done: None,
) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Return (standard error, lower, upper, p) of the squared lengths of combinations of coefficients.

    With the p-values of another test, of which `least` is the smallest, intervals agree with them (`Length.agreeing`).
    """
    coefficients = fit.combined(combinations) @ fit.inner
    columns = np.empty((4, len(coefficients)))
    for m, (b, noise) in enumerate(zip(coefficients, noise_of_each(fit, combinations, tick), strict=True)):
        length, own = Length.of(b, noise), np.nan
        if p is not None and np.isfinite(p[m]) and noise.total > 0:
            length, own = length.agreeing(float(p[m]), least)
        columns[:, m] = length.error(), *length.interval(level), own
    return columns[0], columns[1], columns[2], columns[3]
