"""What a reviewer asks of an embedding regression: joint tests, effect sizes, many targets."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula
from alacarte.inference.multiple_testing import adjusted, p_value
from alacarte.inference.regression_noise import independent, noise, permute
from alacarte.model import ALaCarte
from alacarte.regression.context_table import ContextTable, Duplicates, contexts, documents
from alacarte.regression.design import INTERCEPT, holds
from alacarte.regression.formulas import parse_formula
from alacarte.regression.infer import EmbeddingRegression, Inference, RegressOptions, regress
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
        independent, `noise` what noise adds to it; `p_value` is by permutation, for one term as in the table.

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
    tested = fit.table["term"].tolist()
    if len(names) == 1 and names[0] in tested and "p_value" in fit.table:
        p = fit.table["p_value"][[tested.index(names[0])]]
    else:
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
    duplicates: Duplicates = "cluster",
    **options: Unpack[RegressOptions],
) -> Results:
    """Fit the same regression to several words, and adjust p-values over all words and terms.

    Parameters
    ----------
    formula : str
        Without a left side: "~ party + year".
    targets : list of str
        The words. One that cannot be regressed (too rare, say) has a row with NaN and the reason.
    data, model, text, window, duplicates, **options
        As in `regress`. The text is read once.

    Returns
    -------
    Results
        The tables of terms, with a first column `target`.
    """
    if parse_formula(formula)[0] is not None:
        raise BadFormula(f"the words are those of `targets`; leave the left side of {formula!r} empty")
    read, known = data, model if isinstance(model, ALaCarte) else WordVectors.of(model)
    if not isinstance(read, ContextTable):
        read = documents(data, text=text, known=known, duplicates=duplicates)
    parts: list[Results] = []
    words = list(targets)
    for target in words:
        try:
            found = contexts(read, target, window=window, known=known if known is model else None)
            parts.append(regress(formula, found, model, **options).table)
        except AlacarteError as error:
            warnings.warn(f"{target!r} is left out: {error}", AlacarteWarning, stacklevel=2)
            parts.append(Results({"term": column_of([""]), "reason": column_of([str(error)])}))
    columns: dict[str, Any] = {"target": np.repeat(column_of(words), [len(part) for part in parts])}
    for name in dict.fromkeys(name for part in parts for name in part.values):
        columns[name] = np.concatenate([part.values.get(name, np.full(len(part), np.nan)) for part in parts])
    if "p_value" in columns:
        adjust = options.get("inference") or Inference()
        columns["p_adjusted"] = adjusted(columns["p_value"], adjust.adjust)
    backend = next((part.backend for part in parts if "estimate" in part), "pandas")
    return Results(columns, backend, {"kind": "regressions"})
