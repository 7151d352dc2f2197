"""Embedding regression: contexts' embeddings on covariates, and the lengths of the coefficients with inference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io import html
from alacarte.contexts.reading import Averaging, window_sides
from alacarte.errors import BadFormula
from alacarte.inference.cosines import check_level
from alacarte.inference.multiple_testing import Adjust
from alacarte.inference.regression_noise import (
    Fit,
    Robust,
    covariances,
    least_squares,
)
from alacarte.passes.work import refuse_unknown
from alacarte.regression._frames import Table, as_column, column_of, make_frame
from alacarte.regression._lexical import Lexical
from alacarte.regression._patterns import Overlaps, ValueType
from alacarte.regression._space import Candidates, EmbeddingSpace
from alacarte.regression.compat import Compat, choices
from alacarte.regression.context_table import ContextTable, ReadingDocuments, contexts, documents
from alacarte.regression.design import Design, build
from alacarte.regression.embed import Case, Clusters, Embeddings, cluster_codes, dem, row_weights
from alacarte.regression.formulas import parse_formula
from alacarte.regression.terms import Intervals, Settings, table_of, table_of_terms
from alacarte.text.tokenizers import TokenizerLike

if TYPE_CHECKING:
    from alacarte.regression.plots import CoefficientOptions

Doubles = npt.NDArray[np.float64]


class TextOptions(TypedDict, total=False):
    """The keywords that say where the text is, what of it is a hit, and how contexts are embedded: as in `contexts` and
    `dem`."""

    text: str
    tokens: str | None
    id: str | None
    variables: Any
    tokenizer: TokenizerLike | None
    window: int | tuple[int, int] | None
    valuetype: ValueType
    case_sensitive: bool
    hard_cut: bool
    overlaps: Overlaps | None
    averaging: Averaging | None
    case: Case | None


class InferOptions(TypedDict, total=False):
    """The keywords that say how inference is done; see `regress`."""

    cluster: Clusters | None
    equal_clusters: bool | None
    weights: str | npt.ArrayLike | None
    robust: Robust | None
    intervals: "Intervals | Literal['default']"
    level: float
    jackknife_fraction: float
    permutations: int | None
    adjust: Adjust
    seed: int | None
    allow_code: bool
    compat: Compat
    show_progress: bool | None


class RegressOptions(TextOptions, InferOptions, total=False):
    """All keywords of `regress`."""


@dataclass(frozen=True, eq=False)
class EmbeddingRegression:
    """A fitted embedding regression: one row of coefficients (an embedding) for each term.

    `left_out` counts the contexts that took no part, by reason; `contexts` and `clusters` those that did.
    """

    formula: str
    targets: list[str] | None
    design: Design
    embeddings: Embeddings  # of the rows in the regression
    coefficients: Doubles  # (terms, dimensions)
    table: Table
    left_out: dict[str, int]
    clusters: int | None
    settings: Settings
    _fit: Fit = field(repr=False)
    _clusters: npt.NDArray[np.int64] | None = field(repr=False)
    equal_clusters: bool = False

    # ------------------------------------------------------------------------------------------- results

    @property
    def terms(self) -> list[str]:
        return self.design.names

    @property
    def features(self) -> list[str]:
        """The words of the contexts that have a vector."""
        return self.embeddings.features

    @property
    def window(self) -> tuple[int, int] | None:
        """Words before and after; None for whole documents and for embeddings made elsewhere."""
        contexts = self.embeddings.contexts
        return None if contexts is None or contexts.whole else contexts.window

    def __len__(self) -> int:
        return len(self.embeddings)

    def tidy(self) -> Any:
        """A frame with a row for each term: squared lengths, plain and debiased, with intervals and p-values."""
        return self.table.to_frame()

    to_frame = tidy

    def coef(self, term: str | None = None) -> Any:
        """The coefficients of a term (an embedding), or a frame of all of them, a row a term."""
        if term is not None:
            return self.coefficients[self._place(term)]
        columns = {"term": column_of(self.terms)}
        columns |= {f"d{place}": self.coefficients[:, place] for place in range(self.coefficients.shape[1])}
        return make_frame(columns, self.table.backend)

    def se(self) -> Any:
        """The standard errors of the debiased squared lengths, a pandas series by term."""
        return self.table.se()

    def tstat(self) -> Any:
        """The squared length of each term over what noise adds to it, by term: 1 on average if nothing is there."""
        return self.table.tstat()

    def pvalue(self, adjusted: bool = False) -> Any:
        """The p-values, each for itself or adjusted for all terms together, a pandas series by term."""
        return self.table.pvalue(adjusted)

    def confint(self, level: float | None = None) -> Any:
        """The intervals of the squared lengths, a pandas frame by term; of another level than the fit's, if asked."""
        if level is None or level == self.settings.level:
            return self.table.confint()
        check_level(level)
        other = replace(self, settings=replace(self.settings, level=level, permutations=0))
        return table_of_terms(other).confint()

    def glance(self) -> Any:
        """A frame with one row: what the model was fitted on, and how.

        `r_squared` is the share of the embeddings' variance, over all dimensions, that the covariates explain.
        """
        window = self.window
        one_row = {
            "formula": self.formula,
            "contexts": len(self),
            "clusters": self.clusters,
            "left_out": sum(self.left_out.values()),
            "window": None if window is None else f"{window[0]}, {window[1]}",
            "dimensions": self.coefficients.shape[1],
            "terms": len(self.terms),
            "r_squared": self._r_squared(),
            "robust": self._robust(),
            "intervals": self.settings.intervals,
            "level": self.settings.level,
            "permutations": self.settings.permutations,
            "adjust": self.settings.adjust,
        }
        return make_frame({name: column_of([value]) for name, value in one_row.items()}, self.table.backend)

    def _r_squared(self) -> float:
        weights, residuals = self._fit.weights, self._fit.residuals
        target = self._fit.z @ self._fit.inner + residuals
        total = (target**2).sum() - ((np.sqrt(weights) @ target) ** 2).sum() / weights.sum()
        return float(1 - (residuals**2).sum() / total)

    def _robust(self) -> str:
        return self.settings.variance if self.clusters is None else self.settings.variance.replace("HC", "CR")

    def vcov(self, dimension: int | None = None) -> Doubles:
        """The robust covariance of the coefficients in each dimension, (dimensions, terms, terms), or in one."""
        matrices = covariances(self._fit, self.settings.variance)
        return matrices if dimension is None else matrices[dimension]

    def _place(self, term: str) -> int:
        if term not in self.terms:
            raise BadFormula(f"no term is called {term!r}; the terms are {', '.join(map(repr, self.terms))}")
        return self.terms.index(term)

    # ------------------------------------------------------------------------------------------ profiles

    def predict(self, profile: Mapping[str, Any] | Any = None) -> Doubles:
        """The embedding that the model gives a profile such as {"party": "R", "year": 2010}; rows for a frame.

        Every variable of the formula needs a value. Without a profile: the embeddings fitted to the contexts.
        """
        if profile is None:
            return np.asarray(self.design.matrix @ self.coefficients)
        rows = self.design.at(profile) @ self.coefficients
        single = isinstance(profile, Mapping) and not any(
            isinstance(value, (list, tuple, np.ndarray)) for value in profile.values()
        )
        return np.asarray(rows[0] if single else rows)

    def nearest(
        self,
        profile: Mapping[str, Any] | Any,
        k: int = 10,
        *,
        candidates: Candidates | Literal["contexts"] = None,
        stem: str | None = None,
    ) -> Table:
        """The words nearest to the embedding of a profile."""
        wanted = self.features if isinstance(candidates, str) and candidates == "contexts" else candidates
        lexical = Lexical.of(
            self.embeddings.space, wanted, stem, all_words=choices(self.settings.compat).stems_of_all_words
        )
        values = lexical.similarities(np.atleast_2d(self.predict(profile)))
        parts: dict[str, list[Any]] = {"profile": [], "feature": [], "rank": [], "value": []}
        for number, row in enumerate(values):
            order = np.argsort(-row, kind="stable")[:k]
            parts["profile"] += [number] * len(order)
            parts["feature"] += [lexical.names[place] for place in order.tolist()]
            parts["rank"] += range(1, len(order) + 1)
            parts["value"] += row[order].tolist()
        if len(values) == 1:
            del parts["profile"]
        return Table({name: as_column(part) for name, part in parts.items()}, self.table.backend)

    def contrast(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> Table:
        """How far apart two profiles are: the squared length of the difference of their embeddings, as in `tidy`."""
        rows = self.design.at(a), self.design.at(b)
        if len(rows[0]) != 1 or len(rows[1]) != 1:
            raise BadFormula("a contrast is between two profiles; give one value for each variable, not several")
        difference = rows[0] - rows[1]
        if not np.abs(difference).any():
            raise BadFormula("the two profiles are the same; let them differ in at least one variable")
        name = ", ".join(f"{key}: {a[key]} − {b[key]}" for key in self.design.variables if a[key] != b[key])
        return table_of(self, difference, [name], np.full(1, np.nan))

    # -------------------------------------------------------------------------------------------- words

    def summary(self) -> str:
        """What was fitted on what, and the table of terms."""
        what = "whole documents" if self.targets is None else ", ".join(map(repr, self.targets))
        lines = [
            f"Embedding regression of {what} on {self.design.formula}",
            f"{len(self):,} contexts"
            + (f" in {self.clusters:,} clusters" if self.clusters is not None else "")
            + f", {self.coefficients.shape[1]} dimensions",
        ]
        lines += [f"left out: {count:,} ({reason})" for reason, count in self.left_out.items()]
        robust = self._robust() if self.clusters is None else f"cluster-robust ({self._robust()})"
        permuted = f"{self.settings.permutations} permutations"
        lines.append(
            f"squared lengths of the coefficients; debiased by their {robust} variance; "
            f"{self.settings.level:.0%} intervals by {self.settings.intervals or 'none'}; "
            + ("p-values by the distribution of the estimate" if self._fit.other_ways else permuted)
        )
        return "\n".join([*lines, "", str(self.table)])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"EmbeddingRegression({self.formula!r}, {len(self):,} contexts, terms {', '.join(self.terms)})"

    def _repr_html_(self) -> str:
        lines = self.summary().split("\n\n")[0].splitlines()
        return "".join(f"<p>{html.text_of(line)}</p>" for line in lines) + self.table._repr_html_()

    def to_markdown(self) -> str:
        """The table of terms in Markdown; `etable` sets several models side by side."""
        return self.table.to_markdown()

    def to_latex(self) -> str:
        """The table of terms as a LaTeX `tabular`; `etable` sets several models side by side."""
        return self.table.to_latex()

    def plot(self, **options: "Unpack[CoefficientOptions]") -> Any:
        """The terms' debiased lengths with their intervals; see `plot_coefficients`."""
        from alacarte.regression.plots import plot_coefficients

        return plot_coefficients(self, **options)


# ------------------------------------------------------------------------------------------------- regress


def regress(
    formula: str,
    data: Any,
    vectors: Any = None,
    transform: Any = None,
    *,
    targets: str | Sequence[str] | None = None,
    **options: Unpack[RegressOptions],
) -> EmbeddingRegression:
    """How a word's use depends on who speaks, when, and where: least squares of its contexts' embeddings.

    Args:
        formula: `"immigration ~ party * gender + year"`. Left: a word, a quoted phrase or glob, several as
            `c("a", "b")`, or `.` for whole documents. Right: columns, interactions, `C(…)`, `log(…)`, `bs(…)`,
            `poly(…)`, `scale(…)`, `cs(…, constraints='center')`, `.` for all columns. Dates (also as 2001-01-20) count
            in days since 1970; in `C(date)` each date is a level.
        data: as in `contexts`; or a `ContextTable` or `Embeddings`, with the same words on the left side or none.
        vectors, transform: as in `dem`; an `ALaCarte` model for both.
        targets: what to embed, instead of the formula's left side.
        text, tokens, id, variables, tokenizer: where documents come from, as in `contexts`.
        valuetype, case_sensitive, hard_cut, overlaps: what is a hit, as in `contexts`; averaging, case: as in `dem`.
        cluster: a column, a list of columns (every combination of their values is a cluster), or one value a context;
            its contexts are one unit of inference. `TwoWays("speaker", "year")`, or "speaker + year", is for clusters
            of two kinds. This changes standard errors, intervals and p-values, and no estimate.
        equal_clusters: whether clusters weigh the same whatever their size, which changes the estimates; False, or True
            with `compat="conText"`.
        weights: a column, or one number a context: how much each counts.
        window: words each side; the transform's own if it says so, else 10 (6 with `compat="conText"`).
        robust: the variance that is taken out of the squared lengths: "HC2" (the default; without bias for few
            independent contexts; too small where clusters are few and very unequal) or "HC1" (conText's); with clusters
            these are CR2, CR1.
        intervals: "score" (the default; right for weak effects too), "jackknife" (as conText, in closed form) or None.
        jackknife_fraction: use only this share of the units, drawn at random.
        permutations: for p-values; 999 if not given, 0 for none.
        adjust: p-values for several terms: "holm", "bh", "bonferroni" or "none".
        seed: the same seed, the same numbers; None for others every time.
        allow_code: let the formula run any Python (formulaic evaluates it); by default it may name columns and call
            the functions that `alacarte.regression.formulas` lists.

    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(40)]
    >>> vectors = (words, rng.normal(size=(40, 5)))
    >>> party = ["D", "R"] * 30
    >>> text = [" ".join(["x", *rng.choice(words[:25] if p == "D" else words[15:], 8)]) for p in party]
    >>> fit = regress("x ~ party", {"text": text, "party": party}, vectors, window=8, tokenizer="whitespace")
    >>> fit.terms, bool(fit.table["p_value"][0] <= 0.01)
    (['Intercept', 'party[T.R]'], True)
    """
    refuse_unknown("regress", options, RegressOptions)
    settings = _settings(options)
    wanted, covariates = parse_formula(formula)
    if targets is not None:
        wanted = [targets] if isinstance(targets, str) else list(targets)
    given, wanted, left_out = _embedded(data, wanted, (vectors, transform), options)
    usable, codes, weights = _usable(given, options, left_out)
    design = build(covariates, given.variables, usable, settings.compat, options.get("allow_code", False))
    left_out |= design.left_out
    chosen = given if len(design.rows) == len(given) else given.select(design.rows)
    kept = None if codes is None else [np.unique(way[design.rows], return_inverse=True)[1] for way in codes]
    count = None if kept is None else min(int(way.max()) + 1 for way in kept)
    if count is not None and count <= len(design.names):
        raise BadFormula(f"{count} clusters are too few for {len(design.names)} coefficients; use another cluster")
    equal = _equal_clusters(options, 0 if kept is None else len(kept))
    fit, _ = least_squares(
        design.matrix,
        chosen.matrix,
        None if kept is None else kept[0] if len(kept) == 1 else kept,
        equal_clusters=equal,
        weights=None if weights is None else weights[design.rows],
    )
    first = None if kept is None else kept[0]
    result = EmbeddingRegression(
        formula, wanted, design, chosen, fit.coefficients, Table({}), left_out, count, settings, fit, first, equal
    )
    return replace(result, table=table_of_terms(result))


def _settings(options: InferOptions) -> Settings:
    return Settings(**{name: value for name, value in options.items() if name in Settings.__dataclass_fields__})  # type: ignore[arg-type]


def _equal_clusters(options: RegressOptions, kinds: int) -> bool:
    """Whether clusters, of so many kinds, weigh the same whatever their size."""
    given = options.get("equal_clusters")
    equal = choices(options.get("compat")).equal_clusters if given is None else given
    if given and not kinds:
        raise BadFormula("equal_clusters needs to know the clusters; pass cluster=… too")
    if equal and kinds > 1:
        raise BadFormula("equal_clusters needs clusters of one kind, not of two; leave out one of the two")
    return equal


def _embedded(
    data: Any, wanted: list[str] | None, space_of: tuple[Any, Any], options: RegressOptions
) -> tuple[Embeddings, list[str] | None, dict[str, int]]:
    """(the embeddings of the contexts, what they are of, how many were left out and why)."""
    compat, window = options.get("compat"), options.get("window")
    space = None if isinstance(data, Embeddings) else _space(*space_of, options.get("averaging"))
    given = data if isinstance(data, (ContextTable, Embeddings)) else _found(data, wanted, space, options)
    wanted = _same_targets(wanted, given)
    given = given if window is None else _same_window(window_sides(window), given)
    left_out: dict[str, int] = {}
    if isinstance(given, ContextTable):
        if given.skipped:
            left_out["documents without text"] = given.skipped
        left_out |= {f"no hit of {pattern!r}": 0 for pattern in given.missing}
        given = dem(given, space, case=options.get("case") or choices(compat).case_in_regress, compat=compat)
    if given.dropped:
        left_out["contexts without a known word"] = given.dropped
    return given, wanted, left_out


def _found(data: Any, wanted: list[str] | None, space: EmbeddingSpace | None, options: RegressOptions) -> ContextTable:
    """The contexts of the words in the data, or whole documents."""
    reading: ReadingDocuments = {
        "text": options.get("text", "text"),
        "tokens": options.get("tokens"),
        "id": options.get("id"),
        "variables": options.get("variables"),
        "known": space,
        "tokenizer": options.get("tokenizer"),
        "show_progress": options.get("show_progress"),
    }
    if wanted is None:
        return documents(data, **reading)
    return contexts(
        data,
        wanted,
        window=options.get("window"),
        valuetype=options.get("valuetype", "glob"),
        case_sensitive=options.get("case_sensitive", False),
        hard_cut=options.get("hard_cut", False),
        overlaps=options.get("overlaps"),
        compat=options.get("compat"),
        **reading,
    )


def _usable(
    given: Embeddings, options: RegressOptions, left_out: dict[str, int]
) -> tuple[npt.NDArray[np.bool_], list[npt.NDArray[np.int64]] | None, Doubles | None]:
    """(which contexts have a cluster and a weight, their clusters of one kind or two, their weights)."""
    usable = np.ones(len(given), dtype=bool)
    codes = cluster_codes(given, options.get("cluster"))
    ways = None if codes is None else codes if isinstance(codes, list) else [codes]
    for way in ways or []:
        usable &= way >= 0
    if not usable.all():
        left_out["missing cluster"] = int((~usable).sum())
    weights = row_weights(given, None, False, options.get("weights"))
    if weights is not None and (usable & (weights == 0)).any():
        left_out["weight 0"] = int((usable & (weights == 0)).sum())
        usable &= weights > 0
    return usable, ways, weights


def _space(vectors: Any, transform: Any, averaging: Averaging | None) -> EmbeddingSpace:
    if vectors is None:
        raise BadFormula("no vectors are given; pass vectors=… and transform=…, or an ALaCarte model as vectors")
    return EmbeddingSpace.of(vectors, transform, averaging)


def _same_window(window: tuple[int, int], given: "ContextTable | Embeddings") -> "ContextTable | Embeddings":
    """Ready-made contexts with the window asked for; an error if they have another one."""
    table = given if isinstance(given, ContextTable) else given.contexts
    if table is None or table.whole or table.window == window:
        return given
    if table.window is None and isinstance(given, ContextTable):
        return replace(given, window=window)
    raise BadFormula(
        f"a window of {window} (words before, after) is asked for and the contexts have {table.window}; leave one of "
        "the two out"
    )


def _same_targets(wanted: list[str] | None, given: "ContextTable | Embeddings") -> list[str] | None:
    """What is regressed, after a check that the formula and ready-made contexts are about the same words."""
    table = given if isinstance(given, ContextTable) else given.contexts
    if table is None:
        return wanted
    actual = None if table.whole else list(table.patterns)
    if wanted is not None and (actual is None or set(wanted) != set(actual)):
        about = "whole documents" if actual is None else ", ".join(map(repr, actual))
        raise BadFormula(
            f"the formula is about {', '.join(map(repr, wanted))} and the contexts are of {about}; leave the left side "
            "of the formula empty, or find the contexts of the same words"
        )
    return actual
