"""From a formula and variables to a design matrix, with what had to be left out and why."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg, sparse

from alacarte._io.arrays import Doubles, Longs, Mask
from alacarte.errors import BadFormula, require
from alacarte.regression.embed import Embeddings
from alacarte.regression.formulas import parse_covariates, split_effects
from alacarte.regression.frames import Variables, as_column, as_days, is_numeric, missing
from alacarte.regression.groups import level_codes
from alacarte.regression.results import Column

ROUNDS = 1000  # of taking means of several effects out by turns
DEPENDENT = 1e-8  # a column of length 1 that the others leave no more of than this is explained by them
INTERCEPT = ("Intercept", "(Intercept)")

Columns = Mapping[str, Column]
Encode = Callable[[Columns], Doubles]  # the rows of the design for values of the variables


@dataclass(frozen=True, eq=False)
class Design:
    """A design matrix, the names of its columns, and which rows of the data it has.

    `left_out` counts rows left out for each reason; `levels` are the levels of categorical variables.
    """

    formula: str
    columns: Columns  # of the rows in the design
    rows: Longs
    left_out: dict[str, int]
    levels: dict[str, list[Any]]
    matrix: Doubles
    names: list[str]
    encode: Encode
    effects: dict[str, Longs] = field(default_factory=dict)  # the level of each row, of variables that are taken out

    @property
    def variables(self) -> list[str]:
        """The names of the variables."""
        return list(self.columns)

    def at(self, profile: Mapping[str, Any] | Any) -> Doubles:
        """Return the rows of the design for given values of the variables: a mapping, or a frame of several."""
        lacking = [name for name in self.variables if name not in profile]
        if lacking:
            raise BadFormula(
                f"the profile has no value for {', '.join(map(repr, lacking))}; give one for each variable"
            )
        given = [np.atleast_1d(np.array(profile[name], dtype=object)) for name in self.variables]
        columns = map(as_column, np.broadcast_arrays(*given))
        full = dict(zip(self.variables, columns, strict=True))
        for name, column in full.items():
            levels = self.levels.get(name)
            if levels is not None:
                strange = [value for value in column.tolist() if value not in levels]
                if strange:
                    raise BadFormula(
                        f"{name!r} has no level {strange[0]!r}; the levels are {', '.join(map(repr, levels[:10]))}"
                    )
            elif not is_numeric(column):
                full[name] = as_days(column)
                if not is_numeric(full[name]):
                    raise BadFormula(f"{name!r} is a number or a date, not {column[0]!r}; give one in the profile")
        return self.encode(full)


def build(covariates: str, embeddings: Embeddings, usable: Mask) -> Design:
    """Return the design of `covariates` over the rows that are usable and have all the variables it needs."""
    text, effects = split_effects(covariates)
    parsed = parse_covariates(text, [name for name in embeddings.variables.columns if name not in effects])
    columns, rows, left_out, levels = complete_rows(
        text,
        list(dict.fromkeys([*parsed.variables, *effects])),
        embeddings,
        usable,
        dates=lambda name: name not in parsed.as_levels,
    )
    taken_out = {name: level_codes(columns[name], levels.get(name))[1] for name in effects}
    columns = {name: column for name, column in columns.items() if name in parsed.variables}
    levels = {name: labels for name, labels in levels.items() if name in parsed.variables}
    built = _model_matrix(parsed.formula, columns, levels)
    names, matrix = [str(name) for name in built.columns], np.asarray(built, dtype=np.float64)
    encode = partial(_encoded, built.model_spec, levels)
    design = check_design(Design(covariates, columns, rows, left_out, levels, matrix, names, encode))
    return with_effects(design, taken_out) if taken_out else design


def with_effects(design: Design, effects: dict[str, Longs]) -> Design:
    """Return the design without its constant, beside effects of which each level has its own."""
    kept = [place for place, name in enumerate(design.names) if name not in INTERCEPT]
    names, matrix = [design.names[place] for place in kept], design.matrix[:, kept]
    within = taken_out(matrix, list(effects.values()))
    gone = np.linalg.norm(within, axis=0) < DEPENDENT * np.linalg.norm(matrix, axis=0)
    if gone.any():
        name = names[int(np.flatnonzero(gone)[0])]
        raise BadFormula(
            f"{name!r} does not vary within the values of {' or '.join(effects)}, so that "
            "its effect cannot be told from theirs; leave one of the two out of the formula"
        )
    _check_rank(within, names, {})
    encode = partial(_columns_of, design.encode, kept)
    return replace(design, matrix=matrix, names=names, encode=encode, effects=effects)


def _columns_of(encode: Encode, kept: list[int], columns: Columns) -> Doubles:
    return encode(columns)[:, kept]


def taken_out(matrix: Doubles, effects: list[Longs], weights: Doubles | None = None) -> Doubles:
    """Return the columns of a matrix less the means of the levels of each row; of several effects by turns.

    >>> taken_out(np.array([[1.0], [3.0], [7.0]]), [np.array([0, 0, 1])]).tolist()
    [[-1.0], [1.0], [0.0]]
    """
    amounts = np.ones(len(matrix)) if weights is None else weights
    rows, result = np.arange(len(matrix)), np.array(matrix, dtype=np.float64)
    if not effects:
        return result
    adding = [sparse.csr_matrix((amounts, (codes, rows))) for codes in effects]
    totals = [np.asarray(add.sum(axis=1)) for add in adding]
    scale = float(np.abs(result).max(initial=0.0))
    for _ in range(ROUNDS):
        moved = 0.0
        for codes, add, total in zip(effects, adding, totals, strict=True):
            means = np.asarray(add @ result) / np.where(total > 0, total, 1.0)
            moved = max(moved, float(np.abs(means).max(initial=0.0)))
            result -= means[codes]
        if len(effects) == 1 or moved <= 1e-12 * scale:
            break
    return result


def _encoded(spec: Any, levels: Mapping[str, list[Any]], columns: Columns) -> Doubles:
    count = len(next(iter(columns.values())))
    return np.asarray(_model_matrix(spec, columns, levels), dtype=np.float64).reshape(count, -1)


def complete_rows(
    covariates: str, names: list[str], embeddings: Embeddings, usable: Mask, dates: Callable[[str], bool]
) -> tuple[Columns, Longs, dict[str, int], dict[str, list[Any]]]:
    """Return (columns, rows, left_out, levels) of a design: of the usable rows that have a value for every variable.

    Columns of dates become days, where `dates` says so. `left_out` counts rows by the first variable that they lack.
    """
    variables = embeddings.variables
    if not names:
        raise BadFormula(f"the formula has no covariate ({covariates!r}); name at least one column right of ~")
    columns: dict[str, Column] = {}
    keep, left_out = usable.copy(), {}
    for name in names:
        if name not in variables.columns and name not in embeddings.own:
            raise BadFormula(
                f"the formula asks for {name!r}, which is not among the columns "
                f"{', '.join(map(repr, variables.columns)) or '(none)'}"
            )
        columns[name] = embeddings.column(name, "the formula")
        if name not in variables.levels and dates(name):
            columns[name] = as_days(columns[name])
        absent = missing(columns[name])
        if absent.all():
            raise BadFormula(f"every value of {name!r} is missing; fill it in or leave it out of the formula")
        if (absent & keep).any():
            left_out[f"missing {name}"] = int((absent & keep).sum())
        keep &= ~absent
    if not keep.any():
        raise BadFormula(
            "no row has a value for every variable of the formula; leave out those that are mostly missing"
        )
    columns = {name: column[keep] for name, column in columns.items()}
    return columns, np.flatnonzero(keep), left_out, _levels(columns, variables)


def check_design(design: Design) -> Design:
    """Return the design, if its columns are finite and none of them is explained by others."""
    matrix, names = design.matrix, design.names
    if not np.isfinite(matrix).all():
        bad = [name for name, column in zip(names, matrix.T, strict=True) if not np.isfinite(column).all()]
        raise BadFormula(
            f"the term {bad[0]!r} has values that are not finite (a logarithm of 0, or a division by it?); "
            "change the formula or drop those rows"
        )
    _check_rank(matrix, names, design.levels)
    return design


def _levels(columns: Columns, variables: Variables) -> dict[str, list[Any]]:
    """Return the levels of the categorical variables; an error if a variable has one value only."""
    levels: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if not is_numeric(column):  # dates in C(…) among them
            levels[name] = level_codes(column, variables.levels.get(name))[0]
        values = levels.get(name) or np.unique(column).tolist()
        if len(values) < 2:
            raise BadFormula(
                f"{name!r} is the same ({values[0]!r}) in all {len(column):,} rows that are left, so that its effect "
                "cannot be separated from the intercept; leave it out, or widen the data"
            )
    return levels


def _model_matrix(formula: Any, columns: Columns, levels: Mapping[str, list[Any]]) -> Any:
    """Return formulaic's matrix of a formula, or of the spec of one, which keeps its knots, centres and scales."""
    try:
        # An empty context: nothing of ours, and nothing of the caller's, can be named in a formula.
        return formula.get_model_matrix(_frame(columns, levels), context={}, na_action="ignore")
    except Exception as error:  # formulaic raises many kinds
        raise BadFormula(f"the formula cannot be evaluated: {error}") from None


def _frame(columns: Columns, levels: Mapping[str, list[Any]]) -> Any:
    pandas = require("pandas", extra="regression", purpose="formulas")
    return pandas.DataFrame(
        {
            name: pandas.Categorical(column.tolist(), categories=levels[name]) if name in levels else column
            for name, column in columns.items()
        }
    )


def _check_rank(matrix: Doubles, names: list[str], levels: Mapping[str, list[Any]]) -> None:
    """Raise with the names of the columns that others explain."""
    rows, columns = matrix.shape
    if rows <= columns:
        most = max(levels, key=lambda name: len(levels[name]), default=None)
        why = ""
        if most is not None and len(levels[most]) > 10:
            why = (
                f". {most!r} has {len(levels[most])} values such as {levels[most][0]!r}, each a group of its own; if "
                "it is a number, or a date (2001-01-20), make it one"
            )
        raise BadFormula(
            f"{rows} rows are too few for {columns} coefficients; give more text, or a formula with fewer terms{why}"
        )
    scale = np.linalg.norm(matrix, axis=0)
    empty = [name for name, length in zip(names, scale, strict=True) if length == 0]
    if empty:
        raise BadFormula(
            f"the term {empty[0]!r} is 0 in every row: no context has that combination of levels. Leave out the "
            "interaction, or merge levels"
        )
    triangle, order = linalg.qr(matrix / scale, mode="r", pivoting=True)
    rank = int((np.abs(np.diag(triangle)) > DEPENDENT).sum())
    if rank < columns:
        weights = linalg.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank])
        together = sorted([int(order[rank]), *order[:rank][np.abs(weights) > 1e-6].tolist()])
        last, others = names[together[-1]], [names[place] for place in together[:-1]]
        remedy = "leave one of them out of the formula"
        if re.match(r"c[csr]\(", last):
            remedy = "these splines hold the constant too: write constraints='center' in them, or 0 + before them"
        raise BadFormula(
            f"{last!r} says nothing that {', '.join(map(repr, others))} do not say already (collinear); {remedy}"
        )


def holds(term: str, variable: str) -> bool:
    """Whether a term holds a variable.

    >>> holds("C(party)[T.R]:year", "party"), holds("bs(year, df=4)[2]", "year"), holds("party[T.R]", "part")
    (True, True, False)
    """
    bare = re.sub(r"\[[^\]]*\]", "", term)
    return re.search(rf"(?<![\w.]){re.escape(variable)}(?![\w.])", bare) is not None or term.startswith(f"{variable}_")
