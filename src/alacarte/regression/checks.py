"""What a reviewer asks of an embedding regression: joint tests, effect sizes, many targets, other choices, power."""

import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula
from alacarte.inference.lengths import joint_score_test
from alacarte.inference.multiple_testing import Adjust, adjusted, p_value
from alacarte.inference.regression_noise import Fit, independent, least_squares, noise, permute
from alacarte.regression._frames import Table, column_of
from alacarte.regression.design import INTERCEPT
from alacarte.regression.formulas import parse_formula
from alacarte.regression.infer import EmbeddingRegression, RegressOptions, regress

Doubles = npt.NDArray[np.float64]


def joint_test(fit: EmbeddingRegression, terms: str | Sequence[str] | None = None) -> Table:
    """Whether several coefficients are all 0: those of a factor, of a spline, of an interaction, or any terms.

    `terms` are names of terms, or a variable of the formula, which stands for all terms that hold it; all terms but the
    intercept if not given. By permutation as for one term; by the distribution of the estimate with clusters of two
    kinds. `squared_norm` is the sum of squared lengths of the effects in a basis in which their noise is independent,
    `noise` what noise adds to it.

    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(40)]
    >>> of = {"a": words[:20], "b": words[10:30], "c": words[20:]}
    >>> region = ["a", "b", "c"] * 20
    >>> text = [" ".join(["x", *rng.choice(of[name], 8)]) for name in region]
    >>> data = {"text": text, "region": region}
    >>> fit = regress("x ~ region", data, (words, rng.normal(size=(40, 5))), tokenizer="whitespace", permutations=99)
    >>> joint_test(fit, "region")["p_value"].tolist()
    [0.01]
    """
    listed = [terms] if isinstance(terms, str) else terms
    names = [name for name in fit.terms if name not in INTERCEPT] if listed is None else _terms_of(fit, listed)
    rows = np.eye(len(fit.terms))[[fit.terms.index(name) for name in names]]
    model, settings = fit._fit, fit.settings
    count = settings.permutations or 999
    apart = independent(model, rows)
    length = float(np.square(apart @ fit.coefficients).sum())
    added = float(noise(model, apart, settings.variance).sum())
    if model.other_ways:
        p = joint_score_test(model, rows)
    else:
        rng = np.random.default_rng(settings.seed)
        p = float(p_value(permute(model, [rows], count, rng), count)[0])
    columns: dict[str, Any] = {
        "terms": column_of([", ".join(names)]),
        "df": np.array([len(apart)]),
        "squared_norm": np.array([length]),
        "noise": np.array([added]),
        "statistic": np.array([length / added]),
        "p_value": np.array([p]),
    }
    return Table(columns, fit.table.backend, {"kind": "joint test"})


def _terms_of(fit: EmbeddingRegression, listed: Sequence[str]) -> list[str]:
    names: list[str] = []
    for asked in listed:
        matching = [asked] if asked in fit.terms else [term for term in fit.terms if _holds(term, asked)]
        if not matching:
            raise BadFormula(f"no term holds {asked!r}; the terms are {', '.join(map(repr, fit.terms))}")
        names += [term for term in matching if term not in names]
    return names


def _holds(term: str, variable: str) -> bool:
    """
    >>> _holds("C(party)[T.R]:year", "party"), _holds("bs(year, df=4)[2]", "year"), _holds("party[T.R]", "part")
    (True, True, False)
    """
    bare = re.sub(r"\[[^\]]*\]", "", term)
    return re.search(rf"(?<![\w.]){re.escape(variable)}(?![\w.])", bare) is not None or term.startswith(f"{variable}_")


def standardised_effects(fit: EmbeddingRegression) -> Table:
    """Effects in units that do not depend on the vectors' scale, a row a term.

    `effect` is the debiased length of a term over the standard deviation of a context about the model (all dimensions
    together): for a dummy what Cohen's d is for one dimension. `effect_of_sd` is the same for one standard deviation of
    the covariate. `partial_r_squared` is the debiased share of the variance left by the other terms that the term
    explains. Where the debiased squared length is negative they are 0.
    """
    model = fit._fit
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
    return Table(columns, fit.table.backend, {"kind": "standardised effects"})


def regress_each(
    formula: str,
    data: Any,
    vectors: Any = None,
    transform: Any = None,
    *,
    targets: Sequence[str],
    **options: Unpack[RegressOptions],
) -> Table:
    """One regression for each of several words, in one table: p-values are adjusted over all words and terms.

    The formula has no left side: `regress_each("~ party + year", data, model, targets=["tax", "freedom"])`. A word that
    cannot be regressed (too rare, say) has a row with NaN and the reason.
    """
    wanted, _ = parse_formula(formula)
    if wanted is not None:
        raise BadFormula(f"the words are those of `targets`; leave the left side of {formula!r} empty")
    adjust: Adjust = options.get("adjust", "holm")
    parts = [_one_target(formula, data, (vectors, transform), target, options) for target in targets]
    table = _stacked(parts, "target", list(targets))
    if "p_value" in table:
        table.values["p_adjusted"] = adjusted(table["p_value"].astype(np.float64), adjust)
    return table


def _one_target(formula: str, data: Any, space: tuple[Any, Any], target: str, options: RegressOptions) -> Table:
    try:
        return regress(formula, data, *space, targets=target, **options).table
    except AlacarteError as error:
        warnings.warn(f"{target!r} is left out: {error}", AlacarteWarning, stacklevel=3)
        return Table({"term": column_of([""]), "reason": column_of([str(error)])})


def _stacked(parts: Sequence[Table], name: str, labels: Sequence[Any]) -> Table:
    """Tables below each other, with a first column that says which is which; what a table lacks is NaN."""
    names = list(dict.fromkeys(column for part in parts for column in part.values))
    columns: dict[str, Any] = {
        name: column_of([label for label, part in zip(labels, parts, strict=True) for _ in range(len(part))])
    }
    for column in names:
        pieces = [part[column] if column in part else np.full(len(part), np.nan) for part in parts]
        columns[column] = np.concatenate(pieces)
    backend = next((part.backend for part in parts if "estimate" in part), "pandas")
    return Table(columns, backend, {"kind": "regressions"})


def sensitivity(
    formula: str,
    data: Any,
    vectors: Any = None,
    *,
    windows: Sequence[int | tuple[int, int] | None] = (None,),
    transforms: Mapping[str, Any] | None = None,
    **options: Unpack[RegressOptions],
) -> Table:
    """The same regression with other windows and other transforms or models, in one table.

    `transforms` names each choice: a transform for `vectors`, or, where `vectors` is None, a model (or vectors) each.
    Lengths of different transforms are not comparable; `statistic`, the squared length over what noise adds to it, and
    p-values are.

    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(30)]
    >>> text = [" ".join([*rng.choice(words, 6), "x", *rng.choice(words, 6)]) for _ in range(40)]
    >>> data, vectors = {"text": text, "year": list(range(40))}, (words, rng.normal(size=(30, 4)))
    >>> transforms = {"none": None, "twice": 2 * np.eye(4)}
    >>> table = sensitivity("x ~ year", data, vectors, windows=(2, 5), transforms=transforms, permutations=19)
    >>> table["window"].tolist(), table["transform"].tolist()
    ([2, 2, 5, 5], ['none', 'twice', 'none', 'twice'])
    """
    named = {"": None} if transforms is None else dict(transforms)
    if vectors is None and transforms is None:
        raise BadFormula("no vectors are given; pass vectors=…, or models as transforms={name: model}")
    parts, labels = [], []
    for window, (name, transform) in product(windows, named.items()):
        space = (transform, None) if vectors is None else (vectors, transform)
        chosen = options.copy()
        chosen["window"] = window
        table = regress(formula, data, *space, **chosen).table
        table.values["statistic"] = table["squared_norm"] / table["noise"]
        parts.append(table)
        labels.append((window, name))
    stacked = _stacked(parts, "choice", labels)
    chosen = stacked.values.pop("choice").tolist()
    first = {
        "window": column_of([window for window, _ in chosen]),
        "transform": column_of([name for _, name in chosen]),
    }
    return Table(first | stacked.values, stacked.backend, {"kind": "sensitivity"})


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
) -> Table:
    """How often a study of so many contexts (or clusters) would find an effect, by simulation from a pilot.

    Units are drawn with replacement from the pilot, residuals about its model with them. The effect has the direction
    of the pilot's coefficient and its debiased length, times each of `effects` (0 gives the size of the test). A pilot
    whose debiased length is not positive has nothing to plan with, and is an error. `std_error` is that of the
    simulation; the pilot's own noise is not in it.
    """
    place = fit.terms.index(term) if term in fit.terms else -1
    if place < 0:
        raise BadFormula(f"no term is called {term!r}; the terms are {', '.join(map(repr, fit.terms))}")
    model = fit._fit
    row = np.eye(len(fit.terms))[place : place + 1]
    plain = float(np.square(fit.coefficients[place]).sum())
    square = plain - float(noise(model, row)[0])
    if not square > 0:
        raise AlacarteError(
            f"the pilot's effect of {term!r} is not longer than its noise; there is nothing to plan with"
        )
    direction = fit.coefficients[place] * np.sqrt(square / plain)
    rng = np.random.default_rng(seed)
    cells: list[tuple[float, int, float]] = []
    for effect, number in product(effects, units):
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
    return Table(columns, fit.table.backend, {"kind": "power", "alpha": alpha})


def _drawn(model: Fit, place: int, effect: Doubles, number: int, rng: np.random.Generator) -> Fit:
    """A fit of units drawn from the pilot; drawn again where a draw cannot carry the coefficients."""
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
    weights = None if model.roots is None else model.weights[rows]
    return least_squares(x[rows], y, clusters, weights=weights)[0]
