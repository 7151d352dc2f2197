"""Embedding regression: contexts' embeddings on covariates, and the lengths of the coefficients with inference."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from alacarte._io import html
from alacarte._io.arrays import Doubles, Longs
from alacarte._io.checks import random_seed, whole_number
from alacarte.contexts.reading import Averaging
from alacarte.errors import AlacarteWarning, BadFormula
from alacarte.inference.cosines import check_level
from alacarte.inference.lengths import score_interval
from alacarte.inference.multiple_testing import Adjust, check_adjust
from alacarte.inference.regression_noise import Fit, least_squares
from alacarte.model import ALaCarte
from alacarte.regression.context_table import ContextTable, Duplicates, checked_window, contexts, documents
from alacarte.regression.describe import Candidates, candidate_vectors, nearest_words
from alacarte.regression.design import INTERCEPT, Design, build, taken_out, with_effects
from alacarte.regression.embed import Embeddings, dem
from alacarte.regression.formulas import parse_formula
from alacarte.regression.groups import Clusters, Groups, LowLevel, clusters_of, codes_by_name, has_cluster
from alacarte.regression.periods import BLOCK, COUNT, Periods, blocks_that_count, periods_of
from alacarte.regression.results import PlotOptions, Results
from alacarte.regression.terms import expected_sizes, least_p, table_of
from alacarte.vectors.word_vectors import WordVectors

HARMLESS = 0.075  # size of tests up to which clusters at a lower level are not warned of


@dataclass(frozen=True)
class Inference:
    """How intervals and p-values are computed.

    Parameters
    ----------
    level : float
        The confidence level of intervals.
    permutations : int
        How many draws p-values come from; 0 for none.
    adjust : {"holm", "bh", "none"}
        How p-values of several terms or words are adjusted for their number.
    seed : int, optional
        The same seed gives the same numbers; None, others every time.
    show_progress : bool, optional
        Whether to show a bar; by default, on a terminal if it takes long.
    """

    level: float = 0.95
    permutations: int = 999
    adjust: Adjust = "holm"
    seed: int | None = 0
    show_progress: bool | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        whole_number(self.permutations, "permutations")
        check_adjust(self.adjust)
        random_seed(self.seed)


class RegressOptions(TypedDict, total=False):
    """What `regress` takes beside formula, data, model and how text is read."""

    cluster: Groups | None
    equal_clusters: bool | None
    time: str | None
    averaging: Averaging | None
    inference: Inference | None


@dataclass(frozen=True, eq=False)
class EmbeddingRegression:
    """A fitted embedding regression: one row of coefficients (an embedding) for each term.

    Attributes
    ----------
    formula : str
        What was fitted.
    targets : list of str or None
        The words that the contexts are of; None for whole documents and for embeddings from elsewhere.
    design : Design
        The covariates as columns of numbers.
    embeddings : Embeddings
        The rows in the regression.
    left_out : dict of str to int
        How many contexts took no part, by reason.
    inference : Inference
        How intervals and p-values were asked for.
    fit : Fit
        Weights, residuals and coefficients.
    clustering : Clusters
        What counts as one observation, and why.
    refused : str
        Why there are no intervals and p-values; "" where there are.
    periods : Periods or None
        The periods with which some of the variables vary only.
    table : Results
        The squared lengths of the coefficients, their intervals and p-values.
    """

    formula: str
    targets: list[str] | None
    design: Design
    embeddings: Embeddings
    left_out: dict[str, int]
    inference: Inference
    fit: Fit = field(repr=False)
    clustering: Clusters = field(default_factory=lambda: Clusters(None, "context"))
    refused: str = ""
    periods: Periods | None = None
    table: Results = field(default_factory=lambda: Results({}))

    @property
    def coefficients(self) -> Doubles:
        """The coefficients, (terms, dimensions)."""
        return self.fit.coefficients

    @property
    def clusters(self) -> int | None:
        """How many clusters there are."""
        return None if self.fit.units is None else self.fit.clusters

    @property
    def terms(self) -> list[str]:
        """The names of the columns of the design."""
        return self.design.names

    @property
    def window(self) -> tuple[int, int] | None:
        """Words before and after; None for whole documents and for embeddings from elsewhere."""
        table = self.embeddings.contexts
        return None if table is None or table.whole else table.window

    @property
    def r_squared(self) -> float:
        """The share of the embeddings' variance, over all dimensions, that the covariates explain."""
        weights, residuals = self.fit.weights, self.fit.residuals
        target = self.fit.z @ self.fit.inner + residuals
        total = (target**2).sum() - ((np.sqrt(weights) @ target) ** 2).sum() / weights.sum()
        return float(1 - (residuals**2).sum() / total)

    def __len__(self) -> int:
        return len(self.embeddings)

    def tidy(self) -> Any:
        """Return a frame with one row per term: squared lengths, plain and debiased, with intervals and p-values."""
        return self.table.to_frame()

    to_frame = tidy

    def vector(self, term: str) -> Doubles:
        """Return the coefficient of a term: an embedding."""
        if term not in self.terms:
            raise BadFormula(f"no term is called {term!r}; the terms are {', '.join(map(repr, self.terms))}")
        return np.asarray(self.coefficients[self.terms.index(term)])

    def coef(self) -> Any:
        """Return the debiased squared lengths, a pandas series by term."""
        return self.table.coef()

    def se(self) -> Any:
        """Return the standard errors of the debiased squared lengths, a pandas series by term."""
        return self.table.se()

    def tstat(self) -> Any:
        """Return the debiased squared lengths over their standard errors, a pandas series by term."""
        return self.table.tstat()

    def pvalue(self, adjusted: bool = False) -> Any:
        """Return the p-values, each for itself or adjusted for all terms together, a pandas series by term."""
        return self.table.pvalue(adjusted)

    def confint(self, level: float | None = None) -> Any:
        """Return the intervals of the squared lengths, a pandas frame by term; of another level, if asked."""
        if level is None or level == self.inference.level:
            return self.table.confint()
        check_level(level)
        terms = np.eye(len(self.terms))[[self.terms.index(term) for term in self.table["term"].tolist()]]
        p = self.table.values.get("p_value")
        ends = score_interval(self.fit, terms, level, p, least_p(self.inference.permutations))[1:3]
        known = np.isfinite(self.table["std_error"])
        low, high = (np.where(known, end, np.nan) for end in ends)
        return Results(self.table.values | {"conf_low": low, "conf_high": high}).confint()

    # ------------------------------------------------------------------------------------------ profiles

    def predict(self, profile: Mapping[str, Any] | Any = None) -> Doubles:
        """Return the embedding that the model gives a profile such as {"party": "R", "year": 2010}; rows for a frame.

        Every variable of the formula needs a value. Without a profile: the embeddings fitted to the contexts.
        """
        self._check_constant()
        if profile is None:
            return np.asarray(self.design.matrix @ self.coefficients)
        rows = self.design.at(profile) @ self.coefficients
        single = isinstance(profile, Mapping) and not any(map(np.ndim, profile.values()))
        return np.asarray(rows[0] if single else rows)

    def _check_constant(self) -> None:
        """Raise if effects are taken out, and the constant with them."""
        if self.design.effects:
            raise BadFormula(
                f"the effects of {', '.join(self.design.effects)} are taken out, so that a profile has no embedding of "
                "its own; contrast() compares two, or fit without |"
            )

    def _row(self, profile: Mapping[str, Any]) -> Doubles:
        """Return the row of the design for one profile, as a matrix."""
        rows = self.design.at(profile)
        if len(rows) != 1:
            raise BadFormula(f"these are {len(rows)} profiles, and one is wanted; give one value for each variable")
        return rows

    def nearest(
        self, profile: Mapping[str, Any], k: int = 10, *, candidates: Candidates | Literal["contexts"] = None
    ) -> Results:
        """Return the words nearest to the embedding of a profile."""
        self._check_constant()
        alike = replace(self.embeddings, outcome=None)
        fit = _fitted(self.design, alike, self.clustering.codes, self.clustering.equal)
        mean = self._row(profile)[0] @ fit.coefficients
        return Results(nearest_words(candidate_vectors(self.embeddings, candidates), mean, k), self.table.backend)

    def contrast(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> Results:
        """Return how far apart two profiles are: the squared length of the difference of their embeddings."""
        difference = self._row(a) - self._row(b)
        if not np.abs(difference).any():
            raise BadFormula("the two profiles are the same; let them differ in at least one variable")
        name = ", ".join(f"{key}: {a[key]} − {b[key]}" for key in self.design.variables if a[key] != b[key])
        return table_of(self, difference, [name], np.full(1, np.nan))

    # ------------------------------------------------------------------------------------------ printing

    def summary(self) -> str:
        """Return what was fitted on what, and the table of terms, as text."""
        what = "whole documents" if self.targets is None else ", ".join(map(repr, self.targets))
        lines = [
            f"Embedding regression of {what} on {self.design.formula}",
            f"{len(self):,} contexts"
            + (f" in {self.clusters:,} clusters" if self.clusters is not None else "")
            + f", {self.coefficients.shape[1]} dimensions",
        ]
        lines += self.clustering.notes
        lines += [f"left out: {count:,} ({reason})" for reason, count in self.left_out.items()]
        robust = "HC2" if self.clusters is None else "cluster-robust (CR2)"
        robust = self.table.info.get("noise", f"{robust} variance; {self.inference.level:.0%} intervals by score")
        lines.append(
            f"squared lengths of the coefficients; debiased by their {robust}; "
            f"{self.inference.permutations} permutations"
        )
        return "\n".join([*lines, "", str(self.table)])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"EmbeddingRegression({self.formula!r}, {len(self):,} contexts, terms {', '.join(self.terms)})"

    def _repr_html_(self) -> str:
        lines = self.summary().split("\n\n")[0].splitlines()
        return "".join(f"<p>{html.text_of(line)}</p>" for line in lines) + self.table._repr_html_()

    def plot(self, **options: Unpack[PlotOptions]) -> Any:
        """Draw the terms' debiased lengths with their intervals; options as in `plot_coefficients`."""
        from alacarte.regression.plots import plot_coefficients

        return plot_coefficients(self, **options)


# ------------------------------------------------------------------------------------------------------ regress


def regress(
    formula: str,
    data: Any,
    model: Any = None,
    *,
    text: str = "text",
    window: int | tuple[int, int] | None = None,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    time: str | None = None,
    averaging: Averaging | None = None,
    duplicates: Duplicates = "cluster",
    inference: Inference | None = None,
) -> EmbeddingRegression:
    """Regress the embeddings of a word's contexts on who speaks, when, and where.

    Parameters
    ----------
    formula : str
        `"immigration ~ party * gender + year"`. Left: a word, a quoted phrase or glob, several as `c("a", "b")`, or
        nothing (or `.`) for whole documents and for contexts found before. Right: columns, interactions, `C(…)`,
        `log(…)`, `bs(…)`, `poly(…)`, `scale(…)`, `cs(…, constraints='center')`, `.` for all columns of the data. Dates
        (also as 2001-01-20) count in days since 1970; in `C(date)` each date is a level. `year | speaker` compares
        within speakers: a constant for each is taken out, and speakers are the clusters.
    data : frame, mapping, path, ContextTable or Embeddings
        As in `contexts`; or contexts found before, or their embeddings.
    model : ALaCarte or vectors
        As in `dem`; not needed for embeddings.
    text : str
        The column with the texts, or with lists of words.
    window : int or pair of int, optional
        Words on each side; the model's own if left out.
    cluster : str, list of str, or one value per context, optional
        What is one observation: contexts with the same value (of every column of a list) vary together. If left out,
        the level is looked for: the column between whose values a variable varies (party between speakers), else the
        document with its reprints. "document" and "context" ask for these levels; one that is too low is used, with a
        warning.
    equal_clusters : bool, optional
        Whether every cluster weighs the same, whatever its size; this changes the estimates. If left out, they do where
        variables vary between clusters and these differ so much in size that less than half of them count.
    time : str, optional
        A column of years or dates: contexts are compared within up to 12 blocks of them, which are the clusters. If
        left out, this is done where all variables vary only with a column that is called year, date or the like and
        neighbouring values are alike. Where there are fewer than 40 periods, or a variable changes in too few of the
        blocks, there are no intervals and no p-values (see `placebo_cuts`).
    averaging : {"context", "occurrence", "token"}, optional
        As in `dem`.
    duplicates : {"cluster", "drop", "keep"}
        As in `documents`.
    inference : Inference, optional
        The level of the intervals, the number of permutations, how p-values are adjusted, and the seed.

    Returns
    -------
    EmbeddingRegression

    Raises
    ------
    BadFormula
        If the formula, or the data for it, cannot be fitted as it is; the message says what to change.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> words = [f"w{i}" for i in range(40)]
    >>> vectors = (words, rng.normal(size=(40, 5)))
    >>> party = ["D", "R"] * 30
    >>> text = [" ".join(["x", *rng.choice(words[:25] if p == "D" else words[15:], 8)]) for p in party]
    >>> fit = regress("x ~ party", {"text": text, "party": party}, vectors, window=8)
    >>> fit.terms, bool(fit.table["p_value"][0] <= 0.01)
    (['Intercept', 'party[T.R]'], True)
    """
    asked = inference or Inference()
    targets, covariates = parse_formula(formula)
    left_out: dict[str, int] = {}
    if isinstance(data, Embeddings):
        if window is not None:
            raise BadFormula("embeddings have a window already; leave `window` out, or pass contexts")
        embedded = data
    else:
        if model is None:
            raise BadFormula("no vectors are given; pass an ALaCarte model, or word vectors")
        model = model if isinstance(model, ALaCarte) else WordVectors.of(model)
        found = _contexts_of(data, targets, model, text, window, duplicates, asked.show_progress)
        left_out = {"documents without text": found.skipped} if found.skipped else {}
        left_out |= {"reprints of other documents": found.dropped} if found.dropped else {}
        left_out |= {f"no match of {pattern!r}": 0 for pattern in found.missing}
        embedded = dem(found, model, averaging=averaging)
    targets = _same_targets(targets, embedded.contexts)
    if embedded.dropped:
        left_out["contexts without a known word"] = embedded.dropped
    usable = has_cluster(embedded, cluster)
    if not usable.all():
        left_out["missing cluster"] = int((~usable).sum())
    design = build(covariates, embedded, usable)
    rows = embedded if len(design.rows) == len(embedded) else embedded.select(design.rows)
    if cluster is not None and not isinstance(cluster, str) and len(cluster) == len(embedded):
        cluster = np.asarray(cluster, dtype=object)[design.rows]
    periods = periods_of(rows, design.columns, time)
    if design.effects:
        clusters = _clusters_of_effects(rows, design, cluster, equal_clusters)
    else:
        clusters = clusters_of(rows, cluster, equal_clusters, codes_by_name(design.columns))
    refused = ""
    if periods is not None:
        alone = set(periods.only) == set(design.columns)
        if time is not None or (alone and cluster is None and not design.effects):
            design, clusters, refused = _in_blocks(design, clusters, periods)
            periods = None
        elif alone and not design.effects:
            _warn_of_time(periods)
    fit = _fitted(design, rows, clusters.codes, clusters.equal)
    if fit.units is not None and fit.clusters <= len(design.names):
        raise BadFormula(
            f"{fit.clusters} clusters are too few for {len(design.names)} coefficients; use another cluster"
        )
    left_out |= design.left_out
    model_of = EmbeddingRegression(formula, targets, design, rows, left_out, asked, fit, clusters, refused, periods)
    if clusters.low is not None:
        _warn_of_low_level(model_of, clusters.low)
    places = [place for place, name in enumerate(design.names) if name not in INTERCEPT]
    named, means = [design.names[place] for place in places], design.matrix.mean(axis=0)[places]
    return replace(model_of, table=table_of(model_of, np.eye(len(design.names))[places], named, means))


def _clusters_of_effects(
    rows: Embeddings, design: Design, cluster: Groups | None, equal_clusters: bool | None
) -> Clusters:
    """Return the clusters of a model with effects that are taken out: their own, if no others are asked for."""
    first = next(iter(design.effects))
    found = clusters_of(rows, first if cluster is None else cluster, equal_clusters, codes_by_name(design.columns))
    said = [f"{name}: {codes.max() + 1:,} effects taken out" for name, codes in design.effects.items()]
    return replace(found, notes=(*said, *found.notes), low=None)


def _in_blocks(design: Design, clusters: Clusters, periods: Periods) -> tuple[Design, Clusters, str]:
    """Return (the design within blocks of periods, these as clusters, why there is no test, if there is none)."""
    blocks, name = periods.blocks(), periods.name
    verb = "vary" if len(periods.only) > 1 else "varies"
    said = f"{' and '.join(periods.only) or 'the formula'} {verb} over {len(periods):,} values of {name}"
    if blocks is None:
        return design, clusters, f"{said}, too few to tell an effect from drift (40 are needed)"
    count = int(blocks.max()) + 1
    try:
        within = with_effects(design, {BLOCK + name: blocks})
        fit, _ = least_squares(taken_out(within.matrix, [blocks]), np.zeros((len(blocks), 1)), blocks)
        enough = bool((blocks_that_count(fit, np.eye(len(within.names))) >= COUNT).any())
    except BadFormula:
        enough = False
    if not enough:
        return design, clusters, f"{said} and changes too rarely to tell an effect from drift; see placebo_cuts"
    note = f"{said}: compared within {count} blocks of {name}, and clustered by them"
    return within, Clusters(blocks, BLOCK + name, (note,)), ""


def _warn_of_time(periods: Periods) -> None:
    listed, verb = " and ".join(map(repr, periods.only)), "vary" if len(periods.only) > 1 else "varies"
    warnings.warn(
        f"{listed} {verb} only with {periods.name}, whose neighbouring values are alike: p ≤ .05 may come in most "
        f"samples if nothing but drift is there. Pass time={periods.name!r}, which compares within blocks of it",
        AlacarteWarning,
        stacklevel=3,
    )


def _fitted(design: Design, rows: Embeddings, clusters: Longs | None, equal: bool) -> Fit:
    """Return the fit of a design to embeddings, both without the effects that are taken out."""
    x, y = design.matrix, rows.matrix if rows.outcome is None else rows.outcome
    if design.effects:
        weights = 1 / np.bincount(clusters)[clusters] if equal and clusters is not None else None
        x, y = (taken_out(part, list(design.effects.values()), weights) for part in (x, y))
    return least_squares(x, y, clusters, equal_clusters=equal)[0]


def _contexts_of(
    data: Any,
    targets: list[str] | None,
    model: Any,
    text: str,
    window: int | tuple[int, int] | None,
    duplicates: Duplicates,
    show_progress: bool | None,
) -> ContextTable:
    """Return whole documents, or the contexts of the words in them; contexts found before get the window asked for."""
    if isinstance(data, ContextTable) and (targets is None or not data.whole):
        return data if window is None or data.whole else replace(data, window=checked_window(window))
    if targets is None:
        return documents(data, text=text, known=model, duplicates=duplicates, show_progress=show_progress)
    options: dict[str, Any] = {"text": text, "known": model, "duplicates": duplicates}
    return contexts(data, targets, window=window, **options, show_progress=show_progress)


def _same_targets(wanted: list[str] | None, table: ContextTable | None) -> list[str] | None:
    """Return what is regressed, after a check that the formula and contexts found before are about the same words."""
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


def _warn_of_low_level(model: EmbeddingRegression, low: LowLevel) -> None:
    """Warn of clusters below the level at which a variable varies, with the size that tests have then."""
    terms = np.eye(len(model.terms))[[place for place, name in enumerate(model.terms) if name not in INTERCEPT]]
    higher = _fitted(model.design, model.embeddings, low.codes, model.clustering.equal)
    size = float(np.max(expected_sizes(model.fit, higher, terms)))
    if size <= HARMLESS:
        return
    warnings.warn(
        f"{low.said}. If nothing differs, about {size:.0%} of such tests will find p ≤ .05, not 5 %. {low.remedy}",
        AlacarteWarning,
        stacklevel=3,
    )
