"""conText's regression: dummies, clusters that weigh the same, HC1, its jackknife and permutations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from alacarte._io.arrays import Doubles, Longs
from alacarte.errors import BadFormula
from alacarte.inference.regression_noise import Fit, least_squares, noise, permute
from alacarte.inference.regression_noise import jackknife as leave_one_out
from alacarte.regression.compat.contexts import embedded_as_written, tokens_context
from alacarte.regression.context_table import ContextTable, documents
from alacarte.regression.design import INTERCEPT, Columns, Design, check_design, complete_rows
from alacarte.regression.formulas import parse_formula, tokens_of
from alacarte.regression.groups import Groups, group_codes
from alacarte.regression.infer import EmbeddingRegression, Inference
from alacarte.regression.results import Results, column_of
from alacarte.vectors.word_vectors import WordVectors


def conText(
    formula: str,
    data: Any,
    pre_trained: Any,
    transform_matrix: Any = None,
    *,
    window: int = 6,
    cluster_variable: Groups | None = None,
    jackknife: bool = True,
    num_permutations: int = 100,
    seed: int | None = 0,
) -> EmbeddingRegression:
    """Fit conText's embedding regression.

    Parameters
    ----------
    formula : str
        Left: a word, a phrase or a glob, several as `c("a", "b")`, `.` for whole documents. Right: names of columns
        joined by +, or `.` for all.
    data : frame, mapping, list or ContextTable
        As `tokens_context` takes it; or its result, with nothing left of ~.
    pre_trained, transform_matrix
        As in `dem`.
    window : int
        Words on each side.
    cluster_variable : str, list of str, or one value per context, optional
        Clusters weigh the same, whatever their size.
    jackknife : bool
        Whether there are standard errors and intervals, by leaving out each context (or cluster) in turn.
    num_permutations : int
        For p-values; 0 for none.
    seed : int, optional
        The same seed gives the same numbers.

    Returns
    -------
    EmbeddingRegression
        Its table has conText's noise (HC1), jackknife and p-values.
    """
    targets, covariates = parse_formula(formula)
    read = data if isinstance(data, ContextTable) else documents(data, tokenizer="whitespace", duplicates="keep")
    found = read if targets is None else tokens_context(read, targets, window=window)
    vectors = WordVectors.of(pre_trained)
    exact = [word if word in vectors else "" for word in found.vocabulary]  # conText does not lower-case here
    embedded = embedded_as_written(replace(found, vocabulary=exact), vectors, transform_matrix)
    names = _names(covariates, [name for name in embedded.variables.columns if name != "pattern" or targets is None])
    codes = None if cluster_variable is None else group_codes(embedded, cluster_variable)[1]
    usable = np.ones(len(embedded), dtype=bool) if codes is None else codes >= 0
    columns, rows_used, left_out, levels = complete_rows(covariates, names, embedded, usable, dates=lambda name: False)
    encode = partial(_dummies, levels)
    terms = _terms(levels, names)
    design = check_design(Design(covariates, columns, rows_used, left_out, levels, encode(columns), terms, encode))
    rows = embedded.select(design.rows)
    clusters = None if codes is None else codes[design.rows]
    fit, order = least_squares(design.matrix, rows.matrix, clusters, equal_clusters=True)
    if embedded.dropped:
        left_out = {"contexts without a known word": embedded.dropped} | left_out
    inference = Inference(permutations=num_permutations, adjust="none", seed=seed)
    model = EmbeddingRegression(formula, targets, design, rows, left_out, inference, fit)
    return replace(model, table=_terms_table(model, jackknife, order))


def _names(covariates: str, columns: Sequence[str]) -> list[str]:
    """Return the variables of names joined by +.

    >>> _names("party + `my age` + .", ["year"])
    ['party', 'my age', 'year']
    """
    names: list[str] = []
    for token in tokens_of(covariates):
        if token.token == ".":
            names += columns
        elif token.kind.value == "name":
            names.append(token.token)
        elif token.token != "+":
            raise BadFormula(
                f"covariates are names joined by +, not {covariates!r}; alacarte.regression.regress takes interactions "
                "and functions"
            )
    return list(dict.fromkeys(names))


def _terms(levels: Mapping[str, list[Any]], names: Sequence[str]) -> list[str]:
    shown = ["(Intercept)", *(name for name in names if name not in levels)]
    for name in names:
        written = (str(level).upper() if isinstance(level, bool) else level for level in levels.get(name, [])[1:])
        shown += [f"{name}_{level}" for level in written]
    return shown


def _dummies(levels: Mapping[str, list[Any]], columns: Columns) -> Doubles:
    """Return conText's design: an intercept, the numeric covariates, then 0/1 columns of levels."""
    matrix = [np.ones(len(next(iter(columns.values()))))]
    matrix += [column.astype(np.float64) for name, column in columns.items() if name not in levels]
    for name, column in columns.items():
        for level in levels.get(name, [])[1:]:
            matrix.append(np.array([value == level for value in column.tolist()], dtype=np.float64))
    return np.column_stack(matrix)


def _terms_table(model: EmbeddingRegression, jackknife: bool, order: Longs) -> Results:
    fit, rng = model.fit, np.random.default_rng(model.inference.seed)
    places = [place for place, name in enumerate(model.terms) if name not in INTERCEPT]
    terms = np.eye(len(model.terms))[places]
    lengths = np.square(model.coefficients[places]).sum(axis=1)
    added = noise(fit, terms, "HC1")
    columns: dict[str, Any] = {
        "term": column_of([model.terms[place] for place in places]),
        "estimate": lengths - added,
        "squared_norm": lengths,
        "noise": added,
    }
    if jackknife:
        values = leave_one_out(fit, terms)
        spread = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
        error = np.sqrt((fit.rows - 1) / fit.rows * spread)  # n is the number of rows, even with clusters
        reach = special.stdtrit(fit.rows - 1, 0.975) * error
        columns |= {"std_error": error, "conf_low": lengths - added - reach, "conf_high": lengths - added + reach}
    info: dict[str, Any] = {
        "kind": "regression",
        "level": 0.95,
        "adjust": "none",
        "noise": "HC1; intervals by jackknife",
    }
    if count := model.inference.permutations:
        if fit.units is None:
            exceeding = permute(fit, terms, count, rng, studentised=False)
        else:
            exceeding = _permuted_cells(fit, model.design.matrix[order], terms, lengths, count, rng)
        columns["p_value"] = exceeding / count
        info["least_p"] = 1 / count
    columns["clusters"] = np.full(len(places), fit.clusters)
    columns["contexts"] = np.full(len(places), fit.rows)
    columns["covariate_mean"] = model.design.matrix.mean(axis=0)[places]
    return Results(columns, model.embeddings.variables.backend, info)


def _permuted_cells(
    fit: Fit, x: Doubles, terms: Doubles, observed: Doubles, permutations: int, rng: np.random.Generator
) -> Doubles:
    """Return how often a squared length is exceeded with clusters.

    Rows of equal covariates in a cluster form a cell, whose block of residuals is shuffled among the cells; a cell
    takes the rows of its new block, and clusters are weighted anew.
    """
    units = fit.units if fit.units is not None else np.arange(fit.rows)
    residuals = fit.residuals / np.sqrt(fit.weights)[:, None]
    cells, cell_of = np.unique(np.column_stack([units.astype(np.float64), x]), axis=0, return_inverse=True)
    sums = np.zeros((len(cells), residuals.shape[1]))
    np.add.at(sums, cell_of.ravel(), residuals)
    sizes = np.bincount(cell_of.ravel()).astype(np.float64)
    owner = np.unique(cells[:, 0], return_inverse=True)[1]
    design = cells[:, 1:]
    exceeding = np.zeros(len(terms))
    for _ in range(permutations):
        drawn = rng.permutation(len(cells))
        weight = 1 / np.bincount(owner, weights=sizes[drawn])[owner]
        gram = (design * (weight * sizes[drawn])[:, None]).T @ design
        b = terms @ np.linalg.lstsq(gram, (design * weight[:, None]).T @ sums[drawn], rcond=None)[0]
        exceeding += np.einsum("md,md->m", b, b) > observed
    return exceeding
