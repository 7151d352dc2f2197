"""Least squares of d outputs at once, the noise of its coefficients, and their jackknife and permutations.

`alacarte.inference.lengths` says what follows for the length of a coefficient vector.

All of it works in a basis Z = √W X T of the design in which Z'Z = I (W the rows' weights), so that no covariate's scale
or origin costs precision; a coefficient, a contrast or any other linear combination is a row of `combinations` @ T in
that basis.

With units g (rows, or clusters), A_g = Z_g'Z_g and S_g = Z_g'E_g (E the residuals, times √W):

- squared length of a combination a:  ‖a c‖²;
- what noise adds to it:              Σ_g ‖a (I − A_g)^(−½) S_g‖²                   (HC2, or CR2 with clusters)
                                  or  f Σ_g ‖a S_g‖², f = J/(J−1) · (N−1)/(N−k)   (HC1, or CR1);
- debiased:                           the first less the second.

The first kind has no bias where rows are independent and equally noisy, however few units there are and however hard
some pull. Where the rows of a cluster are correlated it is too small if clusters are few and of very unequal sizes
(docs/evidence/inference.md has figures); the second, which conText has and the jackknife here uses, is smaller still.
For a regression on a constant alone the first kind is the noise of a mean (`alacarte.inference.means`).

Leaving out g changes c by δ_g = (I − A_g)⁻¹ S_g and another unit's S_h to S_h + A_h δ_g. Sums over all h of products
of these are contractions of three tensors that do not depend on g, so that the whole jackknife is linear in N.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs, Mask
from alacarte.errors import NotEnoughData
from alacarte.inference.cosines import directions_of

Floats = npt.NDArray[np.floating[Any]]
SCORES_AT_ONCE = 1 << 22  # numbers of a block of scores: 32 MiB
PERMUTED = 1 << 25  # row numbers of a block of permutations: 128 MiB
JACKKNIFE = 1 << 27  # numbers of the jackknife's largest tensor: 1 GiB, 107 coefficients
SINGLE = 1 << 15  # rows from which on permutations are in single precision
SATURATED = 1e-9  # a unit that takes this close to all of a direction cannot be left out
LEVERAGE = 1e-3  # scores are not blown up more than if this share of a direction were left to the other units

Tick = Callable[[int], None]
Robust = Literal["HC1", "HC2"]  # with clusters CR1, CR2


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model: coefficients, and what its inference needs."""

    basis: Doubles  # T: Z = √W X T
    z: Doubles
    residuals: Doubles  # times √W
    units: Longs | None  # the cluster of each row, rows sorted by it; None: each row is its own
    coefficients: Doubles  # in the user's basis, (k, d)
    inner: Doubles  # in the basis Z
    roots: Doubles | None = None  # √W; None where all rows weigh the same

    @property
    def weights(self) -> Doubles:
        """The weight of each row."""
        return np.ones(len(self.z)) if self.roots is None else self.roots**2

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.z)

    @property
    def clusters(self) -> int:
        """How many clusters there are; as many as rows, if there are none."""
        return self.rows if self.units is None else int(self.units[-1]) + 1

    @property
    def columns(self) -> int:
        """How many coefficients there are."""
        return int(self.z.shape[1])

    def combined(self, combinations: Doubles) -> Doubles:
        """Return rows that act on `inner` as `combinations` act on the coefficients."""
        return np.atleast_2d(combinations) @ self.basis

    def blocks(self) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Yield blocks of (which units, their S (units, k, d), their A (units, k, k))."""
        k, d = self.columns, self.residuals.shape[1]
        numbers = np.arange(self.clusters + 1)
        bounds = numbers if self.units is None else np.searchsorted(self.units, numbers)
        step = max(1, SCORES_AT_ONCE // (k * d))
        for low in range(0, self.clusters, step):
            high = min(low + step, self.clusters)
            start, end = bounds[low], bounds[high]
            z, e = self.z[start:end], self.residuals[start:end]
            if self.units is None:
                yield slice(low, high), z[:, :, None] * e[:, None, :], z[:, :, None] * z[:, None, :]
                continue
            cuts = bounds[low:high] - start
            s, a = np.empty((high - low, k, d)), np.empty((high - low, k, k))
            for p in range(k):
                s[:, p] = np.add.reduceat(z[:, p, None] * e, cuts, axis=0)
                a[:, p] = np.add.reduceat(z[:, p, None] * z, cuts, axis=0)
            yield slice(low, high), s, a


def least_squares(x: Doubles, y: Doubles, clusters: Longs | None, *, equal_clusters: bool = False) -> tuple[Fit, Longs]:
    """Return (fit, the order the rows were brought into).

    With `equal_clusters` the rows of a cluster weigh 1 together.
    """
    from scipy import linalg

    order, units, roots = np.arange(len(x)), None, None
    if clusters is not None:
        order = np.argsort(clusters, kind="stable")
        units = np.unique(clusters[order], return_inverse=True)[1]
        x, y = x[order], y[order]
        roots = 1 / np.sqrt(np.bincount(units)[units]) if equal_clusters else None
    scale = np.sqrt((x * x).sum(axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = x / scale if roots is None else roots[:, None] * (x / scale)
    triangle = linalg.qr(scaled, mode="r")[0][: x.shape[1]]
    inverse = linalg.solve_triangular(triangle, np.eye(x.shape[1]))
    basis, z = inverse / scale[:, None], scaled @ inverse
    target = y if roots is None else roots[:, None] * y
    inner = z.T @ target
    residuals = z @ inner
    np.subtract(target, residuals, out=residuals)  # in place: this is as large as the data
    return Fit(basis, z, residuals, units, basis @ inner, inner, roots), order


def factor(units: float, rows: npt.ArrayLike, columns: float) -> Doubles:
    """Return Stata's small-sample factor; N/(N−k) where each row is a unit of its own."""
    rows = np.asarray(rows, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = units / (units - 1) * (rows - 1) / (rows - columns)
    return np.asarray(np.where((rows > columns) & (units > 1), correction, np.nan))


def noise(fit: Fit, combinations: Doubles, robust: Robust = "HC2") -> Doubles:
    """Return the sum over outputs of the squared standard errors of each combination."""
    a = fit.combined(combinations)
    total = np.zeros((fit.columns, fit.columns))
    for s in leverage_corrected(fit) if robust == "HC2" else (s for _, s, _ in fit.blocks()):
        total += np.einsum("gpd,gqd->pq", s, s, optimize=True)
    correction = 1.0 if robust == "HC2" else factor(fit.clusters, fit.rows, fit.columns)
    return np.asarray(correction * np.einsum("mp,pq,mq->m", a, total, a))


def leverage_corrected(fit: Fit) -> Iterator[Doubles]:
    """Yield blocks of scores (units, k, d) that are not too small where a unit pulls hard: (I − A_g)^(−½) S_g."""
    for _, s, g in fit.blocks():
        yield for_leverage(fit, s, g)


def for_leverage(fit: Fit, s: Doubles, g: Doubles) -> Doubles:
    """Return (I − A_g)^(−½) S_g, or of any other S_g that is a product of the unit's own rows of the design."""
    if fit.units is None:  # A_g is zz', and zz'/√(1 − z'z) comes to the same
        return np.asarray(s / np.sqrt(np.maximum(1 - np.einsum("gpp->g", g), LEVERAGE))[:, None, None])
    values, vectors = np.linalg.eigh(np.eye(g.shape[1]) - g)
    root = 1 / np.sqrt(np.maximum(values, LEVERAGE))
    return np.asarray((vectors * root[:, None, :]) @ (vectors.transpose(0, 2, 1) @ s))


def on_one_unit(fit: Fit, combinations: Doubles) -> Mask:
    """Return which combinations rest on a single unit: without it they cannot be estimated, so its noise is hidden."""
    a = fit.combined(combinations)
    lone = np.zeros(len(a), dtype=bool)
    for _, _, g in fit.blocks():
        heavy = g[np.einsum("gpp->g", g) > 1 - SATURATED]
        if len(heavy):
            lone |= _unknown(_without(heavy)[2], a).any(axis=0)
    return lone


def unit_shares(fit: Fit, combinations: Doubles) -> Doubles:
    """Return the share of each unit in what each combination rests on, (units, combinations)."""
    pull = np.square(fit.z @ fit.combined(combinations).T)
    sums = pull if fit.units is None else np.add.reduceat(pull, np.flatnonzero(np.diff(fit.units, prepend=-1)), axis=0)
    return np.asarray(sums / sums.sum(axis=0))


# ---------------------------------------------------------------------------------------------- jackknife


def jackknife(fit: Fit, combinations: Doubles) -> Doubles:
    """Return the debiased squared lengths without each unit in turn, (units, combinations).

    They are NaN where a combination cannot be estimated without that unit.
    """
    k, d = fit.columns, fit.residuals.shape[1]
    if k**4 > JACKKNIFE:
        raise NotEnoughData(
            f"the jackknife of {k} coefficients takes {8 * k**4 / 2**30:.0f} GiB; use "
            "alacarte.regression.regress, whose intervals take next to nothing"
        )
    a = fit.combined(combinations)
    squares = np.zeros((k, k))  # Σ S S'
    cross = np.zeros((k * k, k * d))  # Σ A ⊗ S, as [(q, r), (p, output)]
    fourth = np.zeros((k * k, k * k))  # Σ A ⊗ A, as [(p, r), (q, s)]
    for _, s, g in fit.blocks():
        flat = g.reshape(len(g), k * k)
        squares += np.einsum("gpd,gqd->pq", s, s, optimize=True)
        cross += flat.T @ s.reshape(len(s), k * d)
        fourth += flat.T @ flat
    # [(r, output), (p, q)] and [(r, s), (p, q)]: what δ and δδ' are multiplied with
    crossed = cross.reshape(k, k, k, d).transpose(1, 3, 2, 0).reshape(k * d, k * k)
    doubled = fourth.reshape(k, k, k, k).transpose(1, 3, 0, 2).reshape(k * k, k * k)
    sizes = np.ones(fit.rows) if fit.units is None else np.bincount(fit.units).astype(np.float64)
    result = np.empty((fit.clusters, len(a)))
    for which, s, g in fit.blocks():
        rest, rank, lost = _without(g)
        delta = rest @ s
        moved = a @ rest  # (units, combinations, k)
        kept = a @ (fit.inner - delta)
        u = (delta.reshape(len(s), k * d) @ crossed).reshape(-1, k, k)
        v = ((delta @ delta.transpose(0, 2, 1)).reshape(len(s), k * k) @ doubled).reshape(-1, k, k)
        total = squares + u + u.transpose(0, 2, 1) + v
        everything = np.einsum("gmp,gpq,gmq->gm", moved, total, moved, optimize=True)
        own = moved @ (s + g @ delta)
        error = everything - np.einsum("gmd,gmd->gm", own, own)
        left = np.asarray(sizes[which])
        small = factor(fit.clusters - 1, fit.rows - left, 0) * (fit.rows - left) / (fit.rows - left - rank)
        values = np.einsum("gmd,gmd->gm", kept, kept) - small[:, None] * error
        values[_unknown(lost, a)] = np.nan
        result[which] = values
    return result


def _without(g: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return ((I − A_g)⁻¹, rank left, directions lost) for each unit; a pseudo-inverse where something is lost."""
    k = g.shape[1]
    values, vectors = np.linalg.eigh(np.eye(k) - g)
    gone = values < SATURATED
    inverse = np.where(gone, 0.0, 1.0 / np.where(gone, 1.0, values))
    rest = (vectors * inverse[:, None, :]) @ vectors.transpose(0, 2, 1)
    return rest, (~gone).sum(axis=1).astype(np.float64), vectors * gone[:, None, :]


def _unknown(lost: Doubles, a: Doubles) -> Mask:
    """Which combinations need a direction that is lost, (units, combinations)."""
    needed = np.abs(np.einsum("gkr,mk->gmr", lost, a, optimize=True))
    return np.asarray((needed > 1e-6 * np.linalg.norm(a, axis=1)[None, :, None]).any(axis=2))


# -------------------------------------------------------------------------------------------- permutations


def permute(
    fit: Fit,
    tests: Iterable[Doubles],
    permutations: int,
    rng: np.random.Generator,
    studentised: bool = True,
    tick: Tick = lambda done: None,
) -> Doubles:
    """Return how often the statistic of residuals without any effect reaches the observed one, for each test.

    A test is of one combination of coefficients, or of several rows of such together (a factor, a spline). Rows:
    residuals are shuffled over the rows of the design; the statistic is ‖b‖² over what noise adds to it if
    `studentised`, or else ‖b‖² itself, where b are the combinations in a basis in which they are independent. Clusters:
    their scores change sign at random.
    """
    bases = [_independent(fit.combined(test)) for test in tests]
    if fit.units is not None:
        return _flip_clusters(fit, bases, permutations, rng, tick)
    return _shuffle_rows(fit, bases, permutations, rng, studentised, tick)


def _independent(rows: Doubles) -> Doubles:
    """Orthonormal rows that span the same; the noise of combinations is independent along them if rows are alike."""
    if len(rows) == 1:
        return directions_of(rows)
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(basis[sizes > SATURATED * sizes[0]])


def independent(fit: Fit, combinations: Doubles) -> Doubles:
    """Return combinations that span the same, of length 1 and independent of each other if rows are equally noisy."""
    return np.asarray(_independent(fit.combined(combinations)) @ np.linalg.inv(fit.basis))


def _shuffle_rows(
    fit: Fit, bases: list[Doubles], count: int, rng: np.random.Generator, studentised: bool, tick: Tick
) -> Doubles:
    """Permute many times side by side.

    A block of rows of residuals is read once and multiplied with the permuted designs of all permutations, so that the
    work is one wide matrix product and not many narrow ones. Permuted residuals are studentised by their own squares,
    and so is the observed effect by those of residuals that still hold it.
    """
    precision: type[np.floating[Any]] = np.float32 if fit.rows >= SINGLE else np.float64
    leverage = np.einsum("np,np->n", fit.z, fit.z)
    squares = np.einsum("nd,nd->n", fit.residuals, fit.residuals)
    scale = np.ones(fit.rows)
    if studentised:  # residuals of rows that pull hard are too small
        scale = 1 / np.sqrt(1 - np.minimum(leverage, 0.999))
    pulls = [fit.z @ basis.T for basis in bases]
    observed = np.array([np.square(basis @ fit.inner).sum() for basis in bases])
    if studentised:
        observed /= [
            _noise_with_effect(fit, pull, basis @ fit.inner, squares, leverage)
            for pull, basis in zip(pulls, bases, strict=True)
        ]
    own, scale = (squares * scale**2).astype(precision), scale.astype(precision)
    exceeding = np.zeros(len(bases))
    step = max(1, min(count, PERMUTED // fit.rows))
    for low in range(0, count, step):
        order = np.tile(np.arange(fit.rows, dtype=np.int32), (min(step, count - low), 1))
        for draw in order:
            rng.shuffle(draw)
        for test, pull in enumerate(pulls):
            lengths, error = _permuted_lengths(pull.astype(precision), scale, own, fit.residuals, order)
            statistic = lengths / error if studentised else lengths
            exceeding[test] += _exceeds(statistic, observed[test], studentised).sum()
        tick(min(low + step, count))
    return exceeding


def _noise_with_effect(fit: Fit, pull: Doubles, effect: Doubles, squares: Doubles, leverage: Doubles) -> float:
    """Return what noise adds to an effect, by the residuals of a model without it."""
    crossed = np.einsum("nm,nm->n", fit.residuals @ effect.T, pull)
    held = squares + 2 * crossed + np.einsum("nm,nm->n", pull @ (effect @ effect.T), pull)
    square = np.square(pull).sum(axis=1)
    return float((held / (1 - np.minimum(leverage - square, 0.999))) @ square)


def _permuted_lengths(
    pull: Floats, scale: Floats, own: Floats, e: Doubles, order: npt.NDArray[np.int32]
) -> tuple[Doubles, Doubles]:
    """Return (‖b‖², what noise adds to it) of permuted residuals, for each permutation."""
    (number, n), m = order.shape, pull.shape[1]
    rows = max(64, SCORES_AT_ONCE // (4 * number * m))
    b, error = np.zeros((number * m, e.shape[1])), np.zeros(number * m)
    for start in range(0, n, rows):
        block = slice(start, start + rows)
        shuffled = np.take(pull, order[:, block].T, axis=0).reshape(-1, number * m)
        b += shuffled.T @ (e[block] * scale[block, None]).astype(pull.dtype, copy=False)
        error += own[block] @ np.square(shuffled, out=shuffled)
    return np.square(b).reshape(number, -1).sum(axis=1), error.reshape(number, m).sum(axis=1)


def _flip_clusters(fit: Fit, bases: list[Doubles], count: int, rng: np.random.Generator, tick: Tick) -> Doubles:
    """Scores of clusters with the null imposed, whose signs change at random (Hemerik, Goeman and Finos 2020).

    With the orthonormal rows U, residuals of the model without the effect U c have the scores s_g = U S_g + U A_g U'U c
    that come to U c, the effect itself, if no sign changes. They are tied to each other because other coefficients are
    fitted: if clusters are equally noisy, Σ ε_g s_g has the variance L = I − P P', P = Σ ε_g U A_g (I − U'U), in units
    of theirs, which is I if no sign changes. Sums are divided by it, so that none is too short (De Santis et al. 2022).
    """
    k, d = fit.inner.shape
    sums = [np.zeros((count, len(u) * d)) for u in bases]
    ties = [np.zeros((count, len(u) * k)) for u in bases]
    for which, s, g in fit.blocks():
        signs = rng.integers(0, 2, size=(len(s), count)).T * 2.0 - 1
        for test, u in enumerate(bases):
            pull = u @ g  # (units, m, k)
            scores = u @ s + pull @ u.T @ (u @ fit.inner)
            sums[test] += signs @ scores.reshape(len(s), -1)
            ties[test] += signs @ (pull - pull @ u.T @ u).reshape(len(s), -1)
        tick(count * which.stop // fit.clusters)
    exceeding = np.empty(len(bases))
    for test, u in enumerate(bases):
        m = len(u)
        tied, score = ties[test].reshape(count, m, k), sums[test].reshape(count, m, d)
        values, axes = np.linalg.eigh(np.eye(m) - tied @ tied.transpose(0, 2, 1))
        along = np.square(axes.transpose(0, 2, 1) @ score).sum(axis=2)
        observed = np.square(u @ fit.inner).sum()
        exceeding[test] = _exceeds((along / np.maximum(values, SATURATED)).sum(axis=1), observed, True).sum()
    return exceeding


def _exceeds(statistic: Doubles, observed: npt.ArrayLike, studentised: bool) -> Mask:
    least = np.asarray(observed)
    return np.asarray(statistic >= least - 1e-12 * np.abs(least) if studentised else statistic > least)
