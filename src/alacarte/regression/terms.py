"""The table of a regression: what is known of each coefficient, and what is to be said of it."""

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from alacarte._io.arrays import Doubles, Mask
from alacarte._io.progress import progress
from alacarte.errors import AlacarteWarning
from alacarte.inference.lengths import noise_of_each, score_interval
from alacarte.inference.multiple_testing import adjusted, p_value
from alacarte.inference.regression_noise import Fit, noise, on_one_unit, permute, unit_shares
from alacarte.regression.design import holds
from alacarte.regression.frames import is_numeric
from alacarte.regression.periods import BLOCK, COUNT, Periods, blocks_that_count
from alacarte.regression.results import Results, column_of

if TYPE_CHECKING:
    from alacarte.regression.infer import EmbeddingRegression

FEW = 9.0  # clusters that count, below which one is warned
HEAVY = 0.5  # of what a term rests on: a unit with more is named


def table_of(model: "EmbeddingRegression", combinations: Doubles, names: list[str], means: Doubles) -> Results:
    """Return the table of squared lengths for some linear combinations of the coefficients."""
    fit, asked = model.fit, model.inference
    unknown, reasons = _without_a_test(model, combinations, names)
    lengths = np.einsum("md,md->m", combinations @ model.coefficients, combinations @ model.coefficients)
    added = np.where(on_one_unit(fit, combinations), np.nan, noise(fit, combinations))
    p, least = None, least_p(asked.permutations)
    if asked.permutations:
        rng = np.random.default_rng(asked.seed)
        with progress(asked.permutations, "permutations", "permuting", show=asked.show_progress) as bar:
            exceeding = permute(fit, combinations, asked.permutations, rng, tick=bar.update_to)
        p = p_value(exceeding, asked.permutations)
    with progress(fit.clusters, "units", "intervals", show=asked.show_progress) as bar:
        *interval, agreed = score_interval(fit, combinations, asked.level, p, least, bar.update_to)
    columns: dict[str, Any] = {
        "term": column_of(names),
        "estimate": lengths - added,
        "squared_norm": lengths,
        "noise": added,
        "statistic": lengths / np.where(added > 0, added, np.nan),
    }
    columns |= {
        name: np.where(unknown, np.nan, column)
        for name, column in zip(("std_error", "conf_low", "conf_high"), interval, strict=True)
    }
    if p is not None:
        columns["p_value"] = np.where(unknown, np.nan, agreed)
        columns["p_adjusted"] = adjusted(columns["p_value"], asked.adjust)
    columns |= {
        "clusters": np.full(len(names), fit.clusters),
        "contexts": np.full(len(names), fit.rows),
        "covariate_mean": means,
        "reason": column_of(reasons),
    }
    info = {"kind": "regression", "level": asked.level, "adjust": asked.adjust}
    return Results(columns, model.embeddings.variables.backend, info)


def expected_sizes(asked: Fit, higher: Fit, terms: Doubles) -> Doubles:
    """Return how often p ≤ .05 if nothing differs and the noise is that of higher clusters, by term."""
    from scipy import special

    known = noise_of_each(higher, terms)
    dimensions = np.array([one.total**2 / one.second if one.second > 0 else 1.0 for one in known])
    inflation = np.array([one.total for one in known]) / noise(asked, terms)
    return np.asarray(special.chdtrc(dimensions, special.chdtri(dimensions, 0.05) / inflation))


def _without_a_test(model: "EmbeddingRegression", combinations: Doubles, names: list[str]) -> tuple[Mask, list[str]]:
    """Return (which combinations have no interval and p-value, what is to be said of each), with warnings."""
    fit = model.fit
    lone = on_one_unit(fit, combinations)
    unit = "context" if fit.units is None else "cluster"
    reasons = [f"rests on a single {unit}" if gone else "" for gone in lone.tolist()]
    unknown = lone.copy()
    in_blocks = model.clustering.name.startswith(BLOCK)
    if in_blocks:
        unknown |= blocks_that_count(fit, combinations) < COUNT
        for row in np.flatnonzero(unknown & ~lone).tolist():
            reasons[row] = "changes in too few blocks to tell an effect from drift; see placebo_cuts"
    if model.refused:
        unknown[:] = True
        reasons = [model.refused] * len(reasons)
    if model.periods is not None:
        time = model.periods.name
        for row in np.flatnonzero([_varies_only_with(model.periods, name, model) for name in names]).tolist():
            reasons[row] = reasons[row] or f"varies only with {time}; time={time!r} tests it"
    _warn(names, lone & (not model.refused), f"on a single {unit}: without it there is no estimate, so it has no "
          "standard error. Merge levels, or read it with care")  # fmt: skip
    shares = unit_shares(fit, combinations)
    for row, (share, unit_number) in enumerate(zip(shares.max(axis=0), shares.argmax(axis=0), strict=True)):
        if share > HEAVY and not unknown[row]:
            reasons[row] = f"{_described(model, names[row], unit_number)} has {share:.0%} of the leverage"
            message = f"{names[row]!r}: {reasons[row]}; check that it is right, or leave it out"
            warnings.warn(message, AlacarteWarning, stacklevel=5)
    few = few_units(fit, combinations) & ~unknown & (not in_blocks)
    why = (
        f"on fewer than {FEW:.0f} clusters that count (of {model.clustering.name}; one with many contexts counts "
        "for several): p-values and intervals may be wrong in either direction; see docs/inference.md"
    )
    _warn(names, few, why)
    return unknown, reasons


def _varies_only_with(periods: Periods, term: str, model: "EmbeddingRegression") -> bool:
    """Whether all variables of a term vary only over time."""
    held = [name for name in model.design.variables if holds(term, name)]
    return bool(held) and set(held) <= set(periods.only)


def _described(model: "EmbeddingRegression", term: str, number: int) -> str:
    """Return which unit has a number in the fit, and what its variables of a term are if they are numbers."""
    codes, embeddings = model.clustering.codes, model.embeddings
    rows = np.array([number]) if codes is None else np.flatnonzero(codes == np.unique(codes)[number])
    first = int(rows[0])
    name = model.clustering.name
    if name in embeddings.variables.columns or name in embeddings.own:
        unit = f"{name} {embeddings.column(name, 'the clusters')[first]}"
    else:
        unit = f"the context {embeddings.names[first]}" if len(rows) == 1 else f"{len(rows)} contexts of one {name}"
    values = {
        variable: column[first]
        for variable, column in model.design.columns.items()
        if is_numeric(column) and holds(term, variable)
    }
    return unit + "".join(f" ({variable} = {value:g})" for variable, value in values.items())


def least_p(permutations: int) -> float:
    """Return the smallest p-value that this number of permutations can give."""
    return 1 / (1 + permutations)


def few_units(fit: Fit, combinations: Doubles) -> Mask:
    """Which combinations rest on so few clusters that their tests and intervals may be wrong.

    The clusters that count are 1 / Σ s², s their shares in the variance if half of a context's noise is its cluster's
    (Carter, Schnepel and Steigerwald 2017).
    """
    if fit.units is None:
        return np.zeros(len(combinations), dtype=bool)
    pull = np.sqrt(fit.weights)[:, None] * (fit.z @ fit.combined(combinations).T)
    starts = np.flatnonzero(np.diff(fit.units, prepend=-1))
    variance = np.add.reduceat(pull, starts, axis=0) ** 2 + np.add.reduceat(pull**2, starts, axis=0)
    return np.asarray((variance**2).sum(axis=0) * FEW > variance.sum(axis=0) ** 2)


def _warn(names: Iterable[str], concerned: Mask, why: str) -> None:
    if concerned.any():
        listed = [repr(name) for name, of_it in zip(names, concerned, strict=True) if of_it]
        verb = "rests" if len(listed) == 1 else "rest"
        warnings.warn(f"{', '.join(listed)} {verb} {why}", AlacarteWarning, stacklevel=4)
