"""How far the contexts of a target lie apart, and the noise of their mean that follows.

A target's contexts are distributed over groups, documents kept whole (`collect(..., spread=16)`): the units of
`alacarte.inference.means`, which has the noise of their mean u. That of the vector m = A u + b follows.

Few contexts say little about their own spread, but targets are much alike in it: `TypicalSpread` is what all of them
have in common, and each is shrunk toward it by as much as the data say (variances as in moderated t-tests; Smyth 2004).
"""

from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Rows
from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte.errors import BadSums, NotEnoughData
from alacarte.inference.cosines import own_pulls, slope
from alacarte.inference.means import debiased_squares, scaled_deviations
from alacarte.vectors.geometry import unit_rows

KIND = "typical spread"
SAME = 1e6  # degrees of freedom that mean "all targets alike"
LEARNED_FROM = 20  # targets: fewer say nothing of how much targets differ
NEAR_MOST = 3.0  # times the typical variance, at most, that a cosine of 1 adds
SHRUNK_LEAST = 0.02  # of ‖m‖²: no estimate of the true squared length is smaller


@dataclass(frozen=True, eq=False)
class Deviations:
    """Targets by groups, after the transform: what means and their uncertainty are computed from.

    `z` are scaled so that Σ_g z_g z_gᵀ is the covariance of the mean; groups without a context are rows of zeros.
    """

    means: Doubles  # (targets, dimensions)
    z: Doubles  # (targets, groups, dimensions)
    df: Doubles  # (targets,) degrees of freedom; 0 where one group has everything
    contexts: Doubles  # (targets,) how many contexts
    shares: Doubles  # (targets, groups) of each group in the mean

    @property
    def noise(self) -> Doubles:
        """The trace of V by the target's own contexts."""
        return np.asarray(np.einsum("tgd,tgd->t", self.z, self.z))

    def __getitem__(self, rows: "Rows | slice") -> "Deviations":
        return Deviations(self.means[rows], self.z[rows], self.df[rows], self.contexts[rows], self.shares[rows])


def deviations(
    sums: Doubles, weights: Doubles, contexts: npt.ArrayLike, matrix: Doubles, intercept: Doubles | None = None
) -> Deviations:
    """Return the deviations from group sums (targets, groups, dimensions) and group weights (targets, groups).

    The variance of 1 and 3 is 2, that of their mean is 1:

    >>> sums, one = np.array([[[1.0], [3.0]]]), np.ones((1, 2))
    >>> targets = deviations(sums, one, [2], np.eye(1))
    >>> targets.means.tolist(), targets.noise.round(9).tolist(), targets.df.tolist()
    ([[2.0]], [1.0], [1.0])
    """
    means, z, df = scaled_deviations(sums, weights)
    mapped = means @ matrix.T
    return Deviations(
        mapped if intercept is None else mapped + intercept,
        z @ matrix.T,
        df,
        np.asarray(contexts, dtype=np.float64),
        weights / weights.sum(axis=-1, keepdims=True),
    )


# --------------------------------------------------------------------------------------- what targets share


@dataclass(frozen=True, eq=False)
class TypicalSpread:
    """How one context of a typical target differs from the target's mean, after the transform.

    `shape` is the covariance at trace 1, `scale` its trace; `rank` is 1 / tr shape², the number of dimensions that the
    noise effectively has. `scale_df` and `direction_df` say how alike targets are, as degrees of freedom that the
    typical value is worth: in the trace, and in the variance along one direction. Contexts vary most along what the
    target itself is about: the variance that matters for a cosine θ is 1 + `near` · θ² times that of `shape`. `length`
    and `length_spread` are the mean and standard deviation of ‖μ‖², the squared length without noise.
    """

    shape: Doubles
    scale: float
    scale_df: float
    direction_df: float
    rank: float
    length: float
    length_spread: float
    near: float
    targets: int

    @classmethod
    def learn(cls, targets: Deviations, others: Doubles | None = None, seed: int = 0) -> "TypicalSpread":
        """Learn it from targets with at least two groups each; few targets are taken without shrinkage.

        `others` are vectors that targets will be compared with; how alike targets are is estimated along these.

        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(200, 8, 3)) + rng.normal(size=(200, 1, 3))  # eight contexts for each of 200 targets
        >>> typical = TypicalSpread.learn(deviations(x, np.ones((200, 8)), [8] * 200, np.eye(3)))
        >>> round(typical.scale, 1), round(typical.rank, 1), round(typical.length, 1)
        (3.0, 3.0, 2.8)
        """
        targets = targets[np.flatnonzero((targets.df > 0.5) & targets.means.any(axis=1))]
        size = len(targets.df)
        if not size:
            raise NotEnoughData(
                "no target has contexts from two documents or more, so nothing is known of how contexts differ; give "
                "more text, or one that is split into documents"
            )
        noise, df, enough = targets.noise, targets.df, size >= LEARNED_FROM
        trace = np.where(noise > 0, noise * targets.contexts, np.nan)
        level = noise
        for _ in range(2):  # at the targets' own traces first, then at the shrunken ones
            unit = targets.z * np.sqrt(df / np.where(level > 0, level, 1.0))[:, None, None]
            flat = unit.reshape(-1, unit.shape[-1])
            shape = flat.T @ flat / df.sum()
            shape /= max(float(np.trace(shape)), 1e-300)
            rank = _effective_rank(shape, float(df.sum()))
            scale, scale_df = _prior(trace, df * rank)
            own = cls(shape, scale, scale_df if enough else 0.0, 0.0, rank, 0.0, np.inf, 0.0, size)
            level = own.noise(targets)
        length, spread = own._lengths(targets)
        if not enough:
            return own
        own = replace(own, length=length, length_spread=spread)
        rng = np.random.default_rng(seed)
        if others is None:
            pairs = [(rng.normal(size=targets.means.shape), np.zeros(size))]
        else:
            pairs = own._directions(targets, others, rng)
        ratios = [own_variance_along(targets, w) / own.expected_along(targets, w) for w, _ in pairs]
        ratio, squares, dfs = np.concatenate(ratios), np.concatenate([c**2 for _, c in pairs]), np.tile(df, len(pairs))
        near = float(np.sum(dfs * (ratio - 1) * squares) / max(float(np.sum(dfs * squares**2)), 1e-12))
        near = float(np.clip(near, 0.0, NEAR_MOST))
        return replace(own, near=near, direction_df=_prior(ratio / (1 + near * squares), dfs)[1])

    def _directions(
        self, targets: Deviations, others: Doubles, rng: np.random.Generator
    ) -> list[tuple[Doubles, Doubles]]:
        """For each target the direction of a cosine with any other vector and of one with a near one: (w, cosine)."""
        units = unit_rows(others[others.any(axis=1)])
        order = np.argsort(-(targets.means @ units.T), axis=1)
        tenth = max(1, len(units) // 10)
        columns = rng.integers(0, len(units), len(order)), rng.integers(0, tenth, len(order))
        chosen = [units[order[np.arange(len(order)), column]] for column in columns]
        return [self.direction(targets, unit) for unit in chosen]

    def direction(self, targets: Deviations, units: Doubles) -> tuple[Doubles, Doubles]:
        """Return (w, θ): θ = m · v / √q is the cosine with one unit vector v per target, and d θ = w · d m."""
        q, own, _ = self.lengths(targets)
        return slope(targets.means, np.sqrt(q), units, own)

    def noise(self, targets: Deviations) -> Doubles:
        """Return tr V for each target: its own and the typical one, weighed by their degrees of freedom."""
        own = targets.df * self.rank
        typical = self.scale / targets.contexts
        both = own + self.scale_df
        return np.asarray((own * targets.noise + self.scale_df * typical) / np.where(both > 0, both, 1.0))

    def lengths(self, targets: Deviations) -> tuple[Doubles, Doubles, Doubles]:
        """Return ‖μ‖² for each target: (q, the share of it that is the target's own, its variance of second order).

        q is NaN where the mean is zero, whose direction is unknown. Second order: what a change along one direction
        does not explain, from the square of the noise and from how much targets differ; nothing for targets on their
        own, see `alacarte.inference.cosines.pulls`.
        """
        noise, squared = self.noise(targets), debiased_squares(targets.means, 0.0)
        squared = np.where(squared > 0, squared, np.nan)
        raw = debiased_squares(targets.means, noise)
        if not (np.isfinite(self.length_spread) and self.length > 0):
            return np.maximum(raw, SHRUNK_LEAST * squared), np.ones_like(raw), np.zeros_like(raw)
        prior = max(self.length_spread, 1e-3 * self.length) ** 2
        q = np.full_like(raw, self.length)
        for _ in range(2):  # the noise in ‖m‖² grows with ‖μ‖² itself
            sampling = self._squared_noise(targets, noise) + self._crossed_noise(targets, q, noise)
            own = prior / (prior + sampling)
            q = np.maximum(own * raw + (1 - own) * self.length, SHRUNK_LEAST * squared)
        return q, own, own * sampling - own**2 * self._crossed_noise(targets, q, noise)

    def variance_along(self, targets: Deviations, directions: Doubles, cosines: Doubles) -> tuple[Doubles, Doubles]:
        """Return (w · V w, degrees of freedom) for one direction w and cosine per target."""
        along = cosines / self.lengths(targets)[0] if self.direction_df == 0 else None
        own = own_variance_along(targets, directions, along)
        typical = self.expected_along(targets, directions, cosines)
        df = targets.df + self.direction_df
        return (targets.df * own + self.direction_df * typical) / np.where(df > 0, df, 1.0), df

    def expected_along(self, targets: Deviations, directions: Doubles, cosines: Doubles | None = None) -> Doubles:
        """Return w · V w if the target's contexts spread as typical ones do."""
        along = self.noise(targets) * _quadratic(self.shape, directions)
        return np.asarray(along if cosines is None else along * (1 + self.near * np.clip(cosines, -1, 1) ** 2))

    def _squared_noise(self, targets: Deviations, noise: Doubles) -> Doubles:
        """Return the variance of ‖e‖² − tr V, where tr V is estimated too."""
        own = targets.df * self.rank + self.scale_df
        return np.asarray(2 * noise**2 * (1 / self.rank + 1 / np.where(own > 0, own, np.inf)))

    def _crossed_noise(self, targets: Deviations, q: Doubles, noise: Doubles) -> Doubles:
        """Return the variance of 2 μ · e for a vector of squared length q."""
        units = unit_rows(targets.means)
        return np.asarray(4 * q * noise * _quadratic(self.shape, units))

    def _lengths(self, targets: Deviations) -> tuple[float, float]:
        """Mean and standard deviation of ‖μ‖² over targets, the sampling noise taken off."""
        noise = self.noise(targets)
        raw = debiased_squares(targets.means, noise)
        center, between = max(float(np.mean(raw)), 0.0), 0.0
        for _ in range(50):  # weights by precision, and the variance between targets that they leave
            sampling = self._squared_noise(targets, noise) + self._crossed_noise(
                targets, np.full_like(raw, center), noise
            )
            variance = between + sampling
            weights = 1 / np.maximum(variance, 1e-12 * variance.max() + 1e-100)
            center = max(float(np.average(raw, weights=weights)), 0.0)
            excess = float(np.sum(weights**2 * ((raw - center) ** 2 - sampling)) / np.sum(weights**2))
            if abs(max(excess, 0.0) - between) < 1e-6 * (between + 1e-12):
                break
            between = max(excess, 0.0)
        return center, float(np.sqrt(between))

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """Write one file, completely or not at all."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        half = self.shape[np.tril_indices(len(self.shape))].astype(np.float32)  # the other half is the same
        write_artifact(path, KIND, {"half": half}, {**numbers, "targets": self.targets})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "TypicalSpread":
        """Read what `save` wrote."""
        return read_artifact(path, KIND, BadSums).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "TypicalSpread":
        """Return the typical spread in an artifact."""
        half = artifact.tensor("half", np.float32, 1)
        dimension = int(np.sqrt(2 * len(half)))
        if dimension * (dimension + 1) // 2 != len(half):
            raise artifact.damaged("its values are no half of a matrix")
        shape = np.zeros((dimension, dimension))
        shape[np.tril_indices(dimension)] = half
        shape += np.tril(shape, -1).T
        numbers = {name: artifact.value(name, float) for name in _NUMBERS}
        return cls(shape, targets=artifact.value("targets", int), **numbers)


_NUMBERS = ("scale", "scale_df", "direction_df", "rank", "length", "length_spread", "near")


def own_variance_along(targets: Deviations, directions: Doubles, along: Doubles | None = None) -> Doubles:
    """Return w · V w by the target's own contexts; with `along` (θ / q) the variance of the cosine θ."""
    pull = (targets.z @ directions[:, :, None])[..., 0]
    if along is not None:
        pull = pull + along[:, None] * own_pulls(np.einsum("tgd,tgd->tg", targets.z, targets.z), targets.shares)
    return np.asarray(np.sum(pull**2, axis=1))


def _quadratic(matrix: Doubles, rows: Doubles) -> Doubles:
    """Return the product w · S w for each row w."""
    return np.asarray(np.einsum("td,td->t", rows @ matrix, rows))


def _effective_rank(shape: Doubles, df: float) -> float:
    """(tr Σ)² / tr Σ² from a sample covariance with `df` degrees of freedom, without the bias of its square.

    >>> round(_effective_rank(np.eye(4), 1e9), 6)
    4.0
    """
    trace, square = float(np.trace(shape)), float(np.sum(shape**2))
    if df > 1.5:
        square = df**2 / ((df - 1) * (df + 2)) * (square - trace**2 / df)
    return float(np.clip(trace**2 / max(square, 1e-300), 1.0, len(shape)))


def _prior(variances: Doubles, df: Doubles) -> tuple[float, float]:
    """(typical value, degrees of freedom it is worth) of variances with df degrees of freedom each.

    log s² − ψ(f/2) + log(f/2) has the mean log s₀² − ψ(f₀/2) + log(f₀/2) and the variance ψ'(f/2) + ψ'(f₀/2).

    >>> rng = np.random.default_rng(0)
    >>> true = 2 * 10 / rng.chisquare(10, 4000)
    >>> value, worth = _prior(true * rng.chisquare(6, 4000) / 6, np.full(4000, 6.0))
    >>> round(value, 1), round(worth)
    (2.0, 10)
    """
    from scipy.special import digamma, polygamma

    usable = np.isfinite(variances) & (variances > 0)
    variances, half = variances[usable], df[usable] / 2
    if not len(variances):
        return 0.0, 0.0
    e = np.log(variances) - digamma(half) + np.log(half)
    within = polygamma(1, half)
    weights = 1 / (within + within.mean() * 0.1 + 1e-6)  # targets with more contexts say more
    center = float(np.average(e, weights=weights))
    n = len(e)
    excess = float(
        np.average((e - center) ** 2, weights=weights) * n / max(n - 1, 1) - np.average(within, weights=weights)
    )
    if excess <= 1e-9:
        return float(np.exp(center)), SAME
    worth = 2 * _inverse_trigamma(excess)
    return float(np.exp(center + digamma(worth / 2) - np.log(worth / 2))), min(worth, SAME)


def _inverse_trigamma(value: float) -> float:
    """Return the x at which ψ'(x) is `value`.

    >>> from scipy.special import polygamma
    >>> round(_inverse_trigamma(float(polygamma(1, 3.0))), 6)
    3.0
    """
    from scipy.special import polygamma

    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return float(x)
