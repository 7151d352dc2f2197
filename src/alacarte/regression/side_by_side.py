"""Several regressions in one table, as papers print them: one column per model, standard errors in brackets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from alacarte._io.checks import whole_number
from alacarte._io.table import Columns, Table, latex, markdown
from alacarte.errors import AlacarteError

if TYPE_CHECKING:
    from alacarte.regression.infer import EmbeddingRegression

Below = Literal["std_error", "interval"]
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
ABSENT = "–"


@dataclass(frozen=True, repr=False)
class ModelTable(Table):
    """Models side by side: `to_markdown()`, `to_latex()`, `to_frame()`, `to_csv(path)`, and HTML in notebooks.

    Parameters
    ----------
    models : tuple of str
        The names of the models.
    rows : tuple of (str, tuple of str)
        The name of each row, and a cell for each model.
    terms : int
        How many rows, the first ones, are about terms; the rest are about the models.
    note : str
        What the cells are.
    """

    models: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    terms: int
    note: str

    def columns(self) -> Columns:
        """Return the cells of each model by its name."""
        listed = {"": [name for name, _ in self.rows]}
        return listed | {model: [cells[place] for _, cells in self.rows] for place, model in enumerate(self.models)}

    def to_markdown(self) -> str:
        """Return the table in Markdown, with the note below."""
        return f"{super().to_markdown()}\n\n{markdown(self.note)}"

    def to_latex(self) -> str:
        r"""Return a `tabular` for the package booktabs, with a rule between terms and models, and the note below."""
        lines = super().to_latex().splitlines()
        lines.insert(4 + self.terms, r"\midrule")
        width = len(self.models) + 1
        note = rf"\multicolumn{{{width}}}{{l}}{{\footnotesize {latex(self.note)}}} \\"
        return "\n".join([*lines[:-1], note, lines[-1]])

    def _sentences(self) -> Sequence[str]:
        return (self.note,)

    def cells(self, most: int | None = None) -> tuple[list[str], list[list[str]], list[bool]]:
        """Return (names, rows of text, which columns are numbers)."""
        names, rows, _ = super().cells(None)
        return names, rows, [False] + [True] * len(self.models)


def etable(
    models: "Iterable[EmbeddingRegression] | EmbeddingRegression",
    *,
    names: Iterable[str] | None = None,
    labels: Mapping[str, str] | None = None,
    below: Below = "interval",
    stars: bool = False,
    digits: int = 3,
) -> ModelTable:
    """Set regressions side by side: the debiased squared length of each term, and below it its interval.

    Parameters
    ----------
    models : EmbeddingRegression or list of them
        What `regress` gives.
    names : list of str, optional
        Names of the columns; by default (1), (2), …
    labels : dict, optional
        Other names for terms, such as {"party[T.R]": "Republican"}; terms are in this order, others after them.
    below : {"interval", "std_error"}
        What is below an estimate: the interval in square brackets, or the standard error in round ones.
    stars : bool
        Whether to mark p (adjusted, if the model adjusts it) below 0.05, 0.01 and 0.001.
    digits : int
        How many digits of a number count.

    Returns
    -------
    ModelTable

    Examples
    --------
    >>> from alacarte.regression import dem, documents, regress
    >>> rng = np.random.default_rng(0)
    >>> tokens = [rng.choice(["a", "b", "c"], 4).tolist() for _ in range(40)]
    >>> found = dem(documents({"text": tokens, "party": ["D", "R"] * 20}), (["a", "b", "c"], np.eye(3)))
    >>> table = etable([regress("~ party", found)], labels={"party[T.R]": "Republican"})
    >>> print(table.to_markdown().splitlines()[0], table.rows[0][0], table.rows[2])
    |  | (1) | Republican ('contexts', ('40',))
    """
    listed = list(models) if isinstance(models, Iterable) else [models]
    digits = whole_number(digits, "digits", 1)
    names = None if names is None else tuple(names)
    if not listed:
        raise AlacarteError("there is no model to show; pass a list of what `regress` gives")
    if names is not None and len(names) != len(listed):
        raise AlacarteError(f"{len(names)} names for {len(listed)} models; give one per model")
    if below not in ("std_error", "interval"):
        raise AlacarteError(f"below is 'std_error' or 'interval', not {below!r}")
    known = list(dict.fromkeys(term for model in listed for term in model.table["term"].tolist()))
    order = [term for term in labels or () if term in known]
    order += [term for term in known if term not in order]
    rows: list[tuple[str, tuple[str, ...]]] = []
    for term in order:
        cells = [_cells(model, term, below, stars, digits) for model in listed]
        rows.append((label_of(term, labels), tuple(first for first, _ in cells)))
        rows.append(("", tuple(second for _, second in cells)))
    terms = len(rows)
    rows += _about(listed)
    shown = names if names is not None else tuple(f"({number + 1})" for number in range(len(listed)))
    return ModelTable(shown, tuple(rows), terms, _note(listed, below, stars))


def label_of(term: str, labels: Mapping[str, str] | None) -> str:
    """Return the label of a term; those of its factors, if only they have one.

    >>> label_of("party[T.R]:year", {"party[T.R]": "Republican"}), label_of("year", None)
    ('Republican × year', 'year')
    """
    names = labels or {}
    factors = term.split(":")
    if term in names or not any(factor in names for factor in factors):
        return names.get(term, term)
    return " × ".join(names.get(factor, factor) for factor in factors)


def _cells(model: "EmbeddingRegression", term: str, below: Below, stars: bool, digits: int) -> tuple[str, str]:
    """Return (the estimate, what is below it); empty where the model has no such term."""
    table = model.table
    rows = np.flatnonzero(table["term"] == term)
    if not len(rows):
        return "", ""
    row = int(rows[0])

    def value(name: str) -> float:
        return float(table[name][row]) if name in table else np.nan

    def written(number: float) -> str:
        return ABSENT if np.isnan(number) else f"{number:.{digits}g}"

    adjusted = value("p_adjusted" if model.inference.adjust != "none" else "p_value")
    marks = next((mark for limit, mark in STARS if adjusted < limit), "") if stars else ""
    second = f"({written(value('std_error'))})"
    if below == "interval":
        second = f"[{written(value('conf_low'))}, {written(value('conf_high'))}]"
    return f"{written(value('estimate'))}{marks}", second


def _about(models: "Sequence[EmbeddingRegression]") -> list[tuple[str, tuple[str, ...]]]:
    """Rows about the models: what they were fitted on."""
    clusters = tuple(
        "" if model.clusters is None else f"{model.clusters:,} ({model.clustering.name})" for model in models
    )
    weights = tuple("clusters" if model.clustering.equal else "contexts" for model in models)
    sides = [model.window for model in models]
    windows = tuple("" if w is None else str(w[0]) if w[0] == w[1] else f"{w[0]}, {w[1]}" for w in sides)
    rows = [("contexts", tuple(f"{len(model):,}" for model in models))]
    rows += [("clusters", clusters)] if any(clusters) else []
    rows += [("equal weights of", weights)] if "clusters" in weights else []
    rows += [("window", windows)] if any(windows) else []
    rows.append(("variance explained", tuple(f"{model.r_squared:.3f}" for model in models)))
    return rows


def _note(models: "Sequence[EmbeddingRegression]", below: Below, stars: bool) -> str:
    levels = ", ".join(dict.fromkeys(f"{model.inference.level:.0%}" for model in models))
    beneath = "standard errors" if below == "std_error" else f"{levels} intervals"
    parts = ["Debiased squared lengths of coefficients", f"{beneath} in brackets"]
    if stars:
        adjustments = dict.fromkeys(model.inference.adjust for model in models)
        named = ", ".join("not adjusted" if adjust == "none" else f"adjusted: {adjust}" for adjust in adjustments)
        parts.append(f"* p < 0.05, ** p < 0.01, *** p < 0.001 ({named})")
    return "; ".join(parts) + "."
