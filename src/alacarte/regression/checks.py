"""What a reviewer asks of an embedding regression: joint tests, effect sizes, many targets, other choices, power."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from alacarte._io.arrays import Doubles
from alacarte._io.checks import random_seed, real_number, whole_number
from alacarte.contexts.reading import Averaging
from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula
from alacarte.inference.cosines import check_level
from alacarte.inference.multiple_testing import adjusted, p_value
from alacarte.inference.regression_noise import Fit, independent, least_squares, noise, permute
from alacarte.model import ALaCarte
from alacarte.regression.context_table import ContextTable, Duplicates, contexts, documents
from alacarte.regression.design import INTERCEPT, holds
from alacarte.regression.formulas import parse_formula
from alacarte.regression.groups import Groups
from alacarte.regression.infer import EmbeddingRegression, Inference, regress
from alacarte.regression.results import Results, column_of
from alacarte.vectors.word_vectors import WordVectors


def joint_test(fit: EmbeddingRegression, terms: str | Sequence[str] | None = None) -> Results:
    """Test whether several coefficients are all 0: those of a factor, of a spline, of an interaction, or any terms.

    Parameters
    ----------
    fit : EmbeddingRegression
        What `regress` gives.
    terms : str or list of str, optional
        Names of terms, or a variable of the formula, which means all terms that hold it; all terms but the intercept if
        left out.

    Returns
    -------
    Results
        One row. `squared_norm` is the sum of squared lengths of the effects in a basis in which their noise is
        independent, `noise` what noise adds to it; `p_value` is by permutation, as for one term.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(40)]
    >>> of = {"a": words[:20], "b": words[10:30], "c": words[20:]}
    >>> region = ["a", "b", "c"] * 20
    >>> text = [" ".join(["x", *rng.choice(of[name], 8)]) for name in region]
    >>> data = {"text": text, "region": region}
    >>> fit = regress("x ~ region", data, (words, rng.normal(size=(40, 5))), inference=Inference(permutations=99))
    >>> joint_test(fit, "region")["p_value"].tolist()
    [0.01]
    """
    if fit.refused:
        raise BadFormula(f"there is no test: {fit.refused}")
    listed = [terms] if isinstance(terms, str) else terms
    names = [name for name in fit.terms if name not in INTERCEPT] if listed is None else _terms_of(fit, listed)
    rows = np.eye(len(fit.terms))[[fit.terms.index(name) for name in names]]
    model, count = fit.fit, fit.inference.permutations or Inference().permutations
    apart = independent(model, rows)
    length = float(np.square(apart @ fit.coefficients).sum())
    added = float(noise(model, apart).sum())
    p = p_value(permute(model, [rows], count, np.random.default_rng(fit.inference.seed)), count)
    columns: dict[str, Any] = {
        "terms": column_of([", ".join(names)]),
        "df": np.array([len(apart)]),
        "squared_norm": np.array([length]),
        "noise": np.array([added]),
        "statistic": np.array([length / added]),
        "p_value": p,
    }
    return Results(columns, fit.table.backend, {"kind": "joint test"})


def _terms_of(fit: EmbeddingRegression, listed: Sequence[str]) -> list[str]:
    names: list[str] = []
    for asked in listed:
        matching = [asked] if asked in fit.terms else [term for term in fit.terms if holds(term, asked)]
        if not matching:
            raise BadFormula(f"no term holds {asked!r}; the terms are {', '.join(map(repr, fit.terms))}")
        names += [term for term in matching if term not in names]
    return names


def standardised_effects(fit: EmbeddingRegression) -> Results:
    """Return effects in units that do not depend on the vectors' scale, one row per term.

    Parameters
    ----------
    fit : EmbeddingRegression
        What `regress` gives.

    Returns
    -------
    Results
        `effect` is the debiased length of a term over the standard deviation of a context about the model (all
        dimensions together): for a dummy what Cohen's d is for one dimension. `effect_of_sd` is the same for one
        standard deviation of the covariate. `partial_r_squared` is the debiased share of the variance left by the other
        terms that the term explains. Where the debiased squared length is negative they are 0.
    """
    model = fit.fit
    places = [fit.terms.index(name) for name in fit.table["term"].tolist()]
    rows = np.eye(len(fit.terms))[places]
    square = np.maximum(fit.table["estimate"], 0.0)
    weights = model.weights
    spread = float(np.square(model.residuals).sum() / weights.sum()) * model.rows / (model.rows - model.columns)
    x = fit.design.matrix[:, places]
    deviation = np.sqrt(np.maximum(np.mean(x**2, axis=0) - np.mean(x, axis=0) ** 2, 0.0))
    explained = square / np.einsum("mk,mk->m", model.combined(rows), model.combined(rows))
    columns: dict[str, Any] = {
        "term": fit.table["term"],
        "effect": np.sqrt(square / spread),
        "effect_of_sd": np.sqrt(square / spread) * deviation,
        "partial_r_squared": explained / (explained + np.square(model.residuals).sum()),
    }
    return Results(columns, fit.table.backend, {"kind": "standardised effects"})


def regress_each(
    formula: str,
    data: Any,
    model: Any,
    *,
    targets: Iterable[str],
    text: str = "text",
    window: int | tuple[int, int] | None = None,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    averaging: Averaging | None = None,
    duplicates: Duplicates = "cluster",
    inference: Inference | None = None,
) -> Results:
    """Fit the same regression to several words, and adjust p-values over all words and terms.

    Parameters
    ----------
    formula : str
        Without a left side: "~ party + year".
    targets : list of str
        The words. One that cannot be regressed (too rare, say) has a row with NaN and the reason.
    data, model, text, window, cluster, equal_clusters, averaging, duplicates, inference
        As in `regress`. The text is read once.

    Returns
    -------
    Results
        The tables of terms, with a first column `target`.
    """
    if parse_formula(formula)[0] is not None:
        raise BadFormula(f"the words are those of `targets`; leave the left side of {formula!r} empty")
    read = _read(data, text, model, duplicates)
    options: dict[str, Any] = {"cluster": cluster, "equal_clusters": equal_clusters, "averaging": averaging}
    options["inference"] = inference
    parts, words = [], list(targets)
    for target in words:
        try:
            found = contexts(read, target, window=window, known=model if isinstance(model, ALaCarte) else None)
            parts.append(regress(formula, found, model, **options).table)
        except AlacarteError as error:
            warnings.warn(f"{target!r} is left out: {error}", AlacarteWarning, stacklevel=2)
            parts.append(Results({"term": column_of([""]), "reason": column_of([str(error)])}))
    table = _stacked(parts, [{"target": target} for target in words], "regressions")
    if "p_value" in table:
        adjust = (inference or Inference()).adjust
        table.values["p_adjusted"] = adjusted(table["p_value"].astype(np.float64), adjust)
    return table


def _read(data: Any, text: str, model: Any, duplicates: Duplicates) -> ContextTable:
    """Return the documents, read once."""
    if isinstance(data, ContextTable):
        return data
    known = model if isinstance(model, ALaCarte) else WordVectors.of(model)
    return documents(data, text=text, known=known, duplicates=duplicates)


def _stacked(parts: Sequence[Results], labels: Sequence[Mapping[str, Any]], kind: str) -> Results:
    """Tables below each other, with first columns that say which is which; what a table lacks is NaN."""
    columns: dict[str, Any] = {
        name: column_of([label[name] for label, part in zip(labels, parts, strict=True) for _ in range(len(part))])
        for name in labels[0]
    }
    for column in dict.fromkeys(column for part in parts for column in part.values):
        pieces = [part[column] if column in part else np.full(len(part), np.nan) for part in parts]
        columns[column] = np.concatenate(pieces)
    backend = next((part.backend for part in parts if "estimate" in part), "pandas")
    return Results(columns, backend, {"kind": kind})


def sensitivity(
    formula: str,
    data: Any,
    models: Any,
    *,
    windows: Sequence[int | tuple[int, int] | None] = (None,),
    text: str = "text",
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    averaging: Averaging | None = None,
    duplicates: Duplicates = "cluster",
    inference: Inference | None = None,
) -> Results:
    """Fit the same regression with other windows and other models, in one table.

    Parameters
    ----------
    models : ALaCarte, vectors or dict
        One model; or several by name.
    windows : list
        Words on each side, or (before, after); None for a model's own.
    formula, data, text, cluster, equal_clusters, averaging, duplicates, inference
        As in `regress`.

    Returns
    -------
    Results
        The tables of terms, with first columns `window` and `model`. Lengths of different transforms are not
        comparable; `statistic`, the squared length over what noise adds to it, and p-values are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(30)]
    >>> text = [" ".join([*rng.choice(words, 6), "x", *rng.choice(words, 6)]) for _ in range(40)]
    >>> matrix, quick = rng.normal(size=(30, 4)), Inference(permutations=19)
    >>> models = {"plain": (words, matrix), "stretched": (words, matrix * [1, 2, 3, 4])}
    >>> table = sensitivity("x ~ year", {"text": text, "year": range(40)}, models, windows=(2, 5), inference=quick)
    >>> table["window"].tolist(), table["model"].tolist()
    ([2, 2, 5, 5], ['plain', 'stretched', 'plain', 'stretched'])
    """
    named = dict(models) if isinstance(models, Mapping) else {"": models}
    read = {name: _read(data, text, model, duplicates) for name, model in named.items()}
    options: dict[str, Any] = {"cluster": cluster, "equal_clusters": equal_clusters, "averaging": averaging}
    options["inference"] = inference
    parts, labels = [], []
    for window, (name, model) in product(windows, named.items()):
        parts.append(regress(formula, read[name], model, window=window, **options).table)
        labels.append({"window": window, "model": name})
    return _stacked(parts, labels, "sensitivity")


def power(
    fit: EmbeddingRegression,
    term: str,
    units: Sequence[int],
    *,
    effects: Sequence[float] = (1.0,),
    alpha: float = 0.05,
    samples: int = 200,
    permutations: int = 99,
    seed: int | None = 0,
) -> Results:
    """Simulate how often a study with n contexts (or clusters) would find an effect, from a pilot.

    Units are drawn with replacement from the pilot, residuals about its model with them. The effect has the direction
    of the pilot's coefficient and its debiased length, times each of `effects`. A pilot whose debiased length is not
    positive has nothing to plan with, and is an error.

    Parameters
    ----------
    fit : EmbeddingRegression
        The pilot.
    term : str
        The name of the term.
    units : list of int
        How many contexts, or clusters, a study may have.
    effects : list of float
        Multiples of the pilot's effect; 0 gives the size of the test.
    alpha : float
        The level of the test.
    samples, permutations : int
        How many studies are simulated, and how many permutations each has.
    seed : int, optional
        The same seed gives the same numbers.

    Returns
    -------
    Results
        `power`, and `std_error`, that of the simulation; the pilot's own noise is not in it.
    """
    place = fit.terms.index(term) if term in fit.terms else -1
    if place < 0:
        raise BadFormula(f"no term is called {term!r}; the terms are {', '.join(map(repr, fit.terms))}")
    check_level(alpha)
    samples, permutations = whole_number(samples, "samples", 1), whole_number(permutations, "permutations", 1)
    sizes = [whole_number(number, "units", 2) for number in units]
    multiples = [real_number(effect, "an effect") for effect in effects]
    model = fit.fit
    row = np.eye(len(fit.terms))[place : place + 1]
    plain = float(np.square(fit.coefficients[place]).sum())
    square = plain - float(noise(model, row)[0])
    if not square > 0:
        raise AlacarteError(
            f"the pilot's effect of {term!r} is not longer than its noise; there is nothing to plan with"
        )
    direction = fit.coefficients[place] * np.sqrt(square / plain)
    rng = np.random.default_rng(random_seed(seed))
    cells: list[tuple[float, int, float]] = []
    for effect, number in product(multiples, sizes):
        rejections = [
            p_value(permute(drawn, [row], permutations, rng), permutations)[0] <= alpha
            for drawn in (_drawn(model, place, effect * direction, number, rng) for _ in range(samples))
        ]
        cells.append((effect, number, float(np.mean(rejections))))
    share = np.array([cell[2] for cell in cells])
    unit = "contexts" if model.units is None else "clusters"
    columns: dict[str, Any] = {
        "term": column_of([term] * len(cells)),
        "effect": np.array([cell[0] for cell in cells]),
        unit: np.array([cell[1] for cell in cells]),
        "power": share,
        "std_error": np.sqrt(share * (1 - share) / samples),
    }
    return Results(columns, fit.table.backend, {"kind": "power", "alpha": alpha})


def _drawn(model: Fit, place: int, effect: Doubles, number: int, rng: np.random.Generator) -> Fit:
    """Return a fit of units drawn from the pilot; drawn again where a draw cannot carry the coefficients."""
    units = np.arange(model.rows) if model.units is None else model.units
    bounds = np.searchsorted(units, np.arange(model.clusters + 1))
    roots = np.ones(model.rows) if model.roots is None else model.roots
    x = (model.z / roots[:, None]) @ np.linalg.inv(model.basis)
    left = 1 - np.minimum(np.einsum("np,np->n", model.z, model.z), 0.999)
    residuals = model.residuals / (roots * np.sqrt(left))[:, None]
    for _ in range(100):
        drawn = rng.integers(0, model.clusters, number)
        rows = np.concatenate([np.arange(bounds[unit], bounds[unit + 1]) for unit in drawn])
        if np.linalg.matrix_rank(x[rows]) == x.shape[1]:
            break
    else:
        raise AlacarteError(f"{number} units are too few for {x.shape[1]} coefficients; ask for more")
    clusters = None if model.units is None else np.repeat(np.arange(number), (bounds[1:] - bounds[:-1])[drawn])
    y = residuals[rows] + np.outer(x[rows, place], effect)
    return least_squares(x[rows], y, clusters, equal_clusters=model.roots is not None)[0]
