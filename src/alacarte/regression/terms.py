"""What is known of the coefficients of an embedding regression: squared lengths, their intervals, their p-values."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from alacarte._io.progress import progress
from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula
from alacarte.inference.cosines import check_level
from alacarte.inference.lengths import score_interval, score_test
from alacarte.inference.multiple_testing import Adjust, adjusted, check_adjust, check_permutations, p_value
from alacarte.inference.regression_noise import Fit, Robust, alone, jackknife, least_squares, noise, permute
from alacarte.regression._frames import Table, column_of
from alacarte.regression.compat import Choices, Compat, choices, permute_cells
from alacarte.regression.design import INTERCEPT

if TYPE_CHECKING:
    from alacarte.regression.infer import EmbeddingRegression

Doubles = npt.NDArray[np.float64]
Intervals = Literal["score", "jackknife"] | None
FEW = 9.0  # clusters that count, below which one is warned


@dataclass(frozen=True, eq=False)
class Settings:
    """How inference is done, from `InferOptions`: with defaults, and checked before any work is done."""

    intervals: "Intervals | Literal['default']" = "default"
    level: float = 0.95
    permutations: int | None = None
    adjust: Adjust = "holm"
    compat: Compat = None
    robust: Robust | None = None
    jackknife_fraction: float = 1.0
    seed: int | None = 0
    show_progress: bool | None = None

    def __post_init__(self) -> None:
        rules = choices(self.compat)
        if self.intervals == "default":
            object.__setattr__(self, "intervals", "jackknife" if self.compat else "score")
        if self.robust is None:
            object.__setattr__(self, "robust", "HC1" if self.compat else "HC2")
        if self.permutations is None:
            object.__setattr__(self, "permutations", 999 if rules.plus_one else 100)
        if self.intervals not in ("score", "jackknife", None):
            raise BadFormula(f"intervals is 'score', 'jackknife' or None, not {self.intervals!r}")
        if self.robust not in ("HC1", "HC2"):
            raise BadFormula(f"robust is 'HC1', 'HC2' or None, not {self.robust!r}")
        if not 0 < self.jackknife_fraction <= 1:
            raise BadFormula(f"jackknife_fraction is a share above 0 and up to 1, not {self.jackknife_fraction}")
        check_level(self.level)
        check_permutations(self.permutations)
        check_adjust(self.adjust)

    @property
    def variance(self) -> Robust:
        return self.robust or "HC2"


def table_of_terms(model: "EmbeddingRegression") -> Table:
    """What is known of each coefficient but the intercept."""
    names = model.design.names
    places = [place for place, name in enumerate(names) if name not in INTERCEPT]
    means = model.design.matrix.mean(axis=0)[places]
    return table_of(model, np.eye(len(names))[places], [names[place] for place in places], means)


def table_of(model: "EmbeddingRegression", combinations: Doubles, names: list[str], means: Doubles) -> Table:
    """The table of squared lengths for some linear combinations of the coefficients."""
    fit, settings = model._fit, model.settings
    lengths = np.einsum("md,md->m", combinations @ model.coefficients, combinations @ model.coefficients)
    added = noise(fit, combinations, settings.variance)
    lone = alone(fit, combinations)
    _warn_of_lone_units(fit, names, lone)
    _warn_of_few_clusters(names, few_units(fit, combinations) & ~lone)
    if settings.compat is None:
        added = np.where(lone, np.nan, added)
    debiased = lengths - added
    columns: dict[str, Any] = {
        "term": column_of(names),
        "estimate": debiased,
        "squared_norm": lengths,
        "noise": added,
        "statistic": lengths / np.where(added > 0, added, np.nan),
    }
    rng = np.random.default_rng(settings.seed)
    if settings.intervals is not None:
        columns |= {
            name: np.where(lone, np.nan, column)
            for name, column in _intervals(model, combinations, debiased, rng).items()
        }
    if settings.permutations:
        p = _p_values(model, combinations, lengths, rng)
        columns["p_value"] = p if settings.compat else np.where(lone, np.nan, p)
        columns["p_adjusted"] = adjusted(columns["p_value"], settings.adjust)
    columns["n"] = np.full(len(names), fit.clusters)
    columns["contexts"] = np.full(len(names), fit.rows)
    columns["covariate_mean"] = means
    unit = "context" if fit.units is None else "cluster"
    columns["reason"] = column_of([f"rests on a single {unit}" if gone else "" for gone in lone.tolist()])
    info: dict[str, object] = {"kind": "regression", "level": settings.level, "adjust": settings.adjust}
    if settings.permutations and not choices(settings.compat).plus_one:
        info["least_p"] = 1 / settings.permutations
    return Table(columns, model.embeddings.variables.backend, info)


def _p_values(
    model: "EmbeddingRegression", combinations: Doubles, lengths: Doubles, rng: np.random.Generator
) -> Doubles:
    """By permutation; with clusters of two kinds, which cannot be permuted, by the distribution of the estimate."""
    fit, count, rules = model._fit, model.settings.permutations or 0, choices(model.settings.compat)
    if fit.other_ways:
        return score_test(fit, combinations)
    with progress(count, "permutations", "permuting", show=model.settings.show_progress) as bar:
        if rules.studentised or fit.units is None:
            exceeding = permute(fit, combinations, count, rng, rules.studentised, bar.update_to)
        else:
            roots = np.sqrt(fit.weights)[:, None]
            own = np.round((fit.z / roots) @ np.linalg.inv(fit.basis), 9)  # rows of equal covariates form cells
            x = np.asarray(own, dtype=np.float64)
            exceeding = permute_cells(
                x, fit.residuals / roots, fit.units, combinations, lengths, count, rng, bar.update_to
            )
    return p_value(exceeding, count, count_observed=rules.plus_one)


def _intervals(
    model: "EmbeddingRegression",
    combinations: Doubles,
    debiased: Doubles,
    rng: np.random.Generator,
) -> dict[str, Doubles]:
    """Standard errors and intervals of the squared lengths of some linear combinations of the coefficients."""
    fit, settings, rules = model._fit, model.settings, choices(model.settings.compat)
    tail = (1 + settings.level) / 2
    if settings.intervals == "score":
        with progress(fit.clusters, "units", "intervals", show=settings.show_progress) as bar:
            error, low, high = score_interval(fit, combinations, settings.level, bar.update_to)
        return {"std_error": error, "conf_low": low, "conf_high": high}
    if fit.other_ways:
        raise AlacarteError("there is no jackknife for clusters of two kinds; use intervals='score'")
    units = fit.rows if rules.jackknife_over_rows else fit.clusters
    share = settings.jackknife_fraction
    used = fit if share == 1 else _subsample(model, share, rng, rules)
    with progress(used.clusters, "units", "jackknife", show=settings.show_progress) as bar:
        values = jackknife(used, combinations, bar.update_to)
    spread = ((values - values.mean(axis=0)) ** 2).sum(axis=0) * share
    error = np.sqrt((units - 1) / units * spread)
    reach = special.stdtrit(units - 1, tail) * error
    return {"std_error": error, "conf_low": debiased - reach, "conf_high": debiased + reach}


def few_units(fit: Fit, combinations: Doubles) -> npt.NDArray[np.bool_]:
    """Which combinations rest on so few clusters that their tests and intervals may be wrong.

    The clusters that count are 1 / Σ s², s their shares in the variance if half of a context's noise is its cluster's
    (Carter, Schnepel and Steigerwald 2017).
    """
    few = np.zeros(len(combinations), dtype=bool)
    for way in fit.ways[:2]:
        if way.units is not None:
            pull = np.sqrt(way.weights)[:, None] * (way.z @ way.combined(combinations).T)
            starts = np.flatnonzero(np.diff(way.units, prepend=-1))
            variance = np.add.reduceat(pull, starts, axis=0) ** 2 + np.add.reduceat(pull**2, starts, axis=0)
            few |= (variance**2).sum(axis=0) * FEW > variance.sum(axis=0) ** 2
    return few


def _warn_of_lone_units(fit: Fit, names: list[str], undefined: npt.NDArray[np.bool_]) -> None:
    if undefined.any():
        listed = ", ".join(repr(name) for name, gone in zip(names, undefined, strict=True) if gone)
        what = "context" if fit.units is None else "cluster"
        warnings.warn(
            f"{listed} rests on a single {what}: without it there is no estimate, so it has no standard error. Merge "
            "levels, or read it with care",
            AlacarteWarning,
            stacklevel=4,
        )


def _warn_of_few_clusters(names: list[str], few: npt.NDArray[np.bool_]) -> None:
    if few.any():
        listed = ", ".join(repr(name) for name, is_few in zip(names, few, strict=True) if is_few)
        verb = "rests" if few.sum() == 1 else "rest"
        warnings.warn(
            f"{listed} {verb} on fewer than {FEW:.0f} clusters that count (one with many contexts counts for several): "
            "p-values and intervals may be wrong in either direction; see docs/inference.md",
            AlacarteWarning,
            stacklevel=5,
        )


def _subsample(model: "EmbeddingRegression", share: float, rng: np.random.Generator, rules: Choices) -> Fit:
    """The same model on a share of the units (of the rows, in conText's way)."""
    matrix, y, codes = model.design.matrix, model.embeddings.matrix, model._clusters
    if codes is None or rules.jackknife_over_rows:
        rows = rng.choice(len(matrix), size=int(share * len(matrix)), replace=False)
    else:
        units = rng.choice(int(codes.max()) + 1, size=int(share * (codes.max() + 1)), replace=False)
        rows = np.flatnonzero(np.isin(codes, units))
    if len(rows) <= matrix.shape[1] + 1 or np.linalg.matrix_rank(matrix[rows]) < matrix.shape[1]:
        raise BadFormula(f"a share of {share} of the contexts cannot carry {matrix.shape[1]} coefficients; raise it")
    kept = None if codes is None else np.unique(codes[rows], return_inverse=True)[1]
    weights = None
    if model._fit.roots is not None and not model.equal_clusters:
        weights = np.empty(len(matrix))
        weights[np.arange(len(matrix)) if codes is None else np.argsort(codes, kind="stable")] = model._fit.weights
        weights = weights[rows]
    return least_squares(matrix[rows], y[rows], kept, equal_clusters=model.equal_clusters, weights=weights)[0]
