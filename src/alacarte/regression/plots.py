"""Figures for papers: coefficients with intervals, ratios, change over time, a map of groups and their neighbours.

Every function takes `ax` (axes to draw on; a new figure of pyplot's if left out), `title` and `size` ("column" or
"page" of a journal), and returns the axes. `save_figure(axes, "figure.pdf")` writes them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from alacarte._io.arrays import Doubles, Mask
from alacarte._io.figures import (
    COLOURS,
    GREY,
    MARKS,
    Label,
    SizeName,
    finish,
    key,
    literal,
    look,
    new_axes,
    place_labels,
    size_of,
)
from alacarte._io.figures import save_figure as save_figure
from alacarte.errors import AlacarteError
from alacarte.regression.describe import Candidates, nearest
from alacarte.regression.embed import Embeddings, dem_group
from alacarte.regression.groups import Groups
from alacarte.regression.results import Results
from alacarte.regression.side_by_side import label_of
from alacarte.vectors.geometry import principal_plane, unit_rows

if TYPE_CHECKING:
    from alacarte.regression.infer import EmbeddingRegression

ADJUSTED = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
TICKS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20)
RING = 60.0  # square points by which a ring is larger than its mark
LARGEST_RATIO = 20.0  # a ratio on the axis


# ---------------------------------------------------------------------------------------------- coefficients


def plot_coefficients(
    model: "EmbeddingRegression | Results",
    *,
    standardised: bool = False,
    labels: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    ax: Any = None,
    title: str | None = None,
    size: SizeName = "page",
) -> Any:
    """Draw the debiased squared length of each term with its interval; filled marks have p (adjusted) below `alpha`.

    Parameters
    ----------
    model : EmbeddingRegression or Results
        What `regress` gives, or a table of terms such as `contrast` and `regress_each` give.
    standardised : bool
        Whether to draw the effects of one standard deviation of each covariate, so that terms can be compared.
    labels : dict, optional
        Other names for terms, such as {"party[T.R]": "Republican"}.
    alpha : float
        Below which p a mark is filled.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    title : str, optional
        Above the figure.
    size : {"page", "column"}
        How wide the figure is.

    Returns
    -------
    matplotlib axes
    """
    table = model if isinstance(model, Results) else model.table
    terms = table["term"].tolist()
    absent = np.full(len(terms), np.nan)
    ends = np.column_stack([table.values.get("conf_low", absent), table.values.get("conf_high", absent)])
    estimates = table["estimate"].astype(np.float64)
    if not (ends[:, 0] < 0).any() and "conf_low" in table:  # as the interval, so the mark: no length is below 0
        estimates = np.maximum(estimates, 0.0)
    if standardised:
        if isinstance(model, Results):
            raise AlacarteError("a table of terms does not have the covariates' spread; pass the regression itself")
        variance = model.design.matrix[:, [model.terms.index(term) for term in terms]].var(axis=0)
        estimates, ends = estimates * variance, ends * variance[:, None]
    axes = new_axes(ax, size, 1.0 + 0.36 * len(terms))
    where: dict[str, Any] = {"va": "center", "color": GREY, "xycoords": ("axes fraction", "data")}
    p, p_name = _p_values(table)
    places = np.arange(len(terms))[::-1]
    for row, place in enumerate(places.tolist()):
        if np.isfinite(ends[row]).all():
            axes.plot(ends[row], [place, place], color=COLOURS[0], lw=1.6, zorder=2)
        face = COLOURS[0] if p is None or p[row] < alpha else "white"
        axes.plot(estimates[row], place, "o", ms=6, mec=COLOURS[0], mew=1.4, mfc=face, zorder=3)
        if p is not None:
            beside = _p_text(float(p[row])) if np.isfinite(p[row]) else str(table["reason"][row])
            axes.annotate(literal(beside), (1.02, place), fontsize=size_of(size).font - 1, **where)
    if p is not None:
        header = "p" if p_name == "p" else "adjusted p"
        axes.annotate(header, (1.02, len(terms) - 0.45), fontsize=size_of(size).font, **where)
        mark = {"marker": "o", "mec": COLOURS[0], "ms": 6, "mew": 1.4}
        key(axes, size, _p_key(p_name, alpha, mark))
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    axes.set_yticks(places, [literal(name) for name in _row_names(table, labels)])
    axes.set_ylim(-0.6, len(terms) - 0.4)
    level = f"{table.info['level']:.0%} " if "level" in table.info else ""
    interval = f" ({level}interval)" if np.isfinite(ends).any() else ""
    what = "effect of one standard deviation" if standardised else "coefficient"
    axes.set_xlabel(f"squared length of the {what}, debiased{interval}")
    if title is None and not isinstance(model, Results):
        named = "documents" if model.targets is None else ", ".join(f"“{target}”" for target in model.targets)
        title = f"What moves {named}"
    return finish(axes, size, title, "x")


def _row_names(table: Results, labels: Mapping[str, str] | None) -> list[str]:
    """Return the terms; with what else tells the rows of a table of several regressions apart."""
    names = [label_of(term, labels) for term in table["term"].tolist()]
    for column in table.about:
        values = table[column].tolist()
        if column != "term" and len(set(values)) > 1:
            shown = [f"{value}: " if column == "target" else f"{column} {value}: " for value in values]
            names = [before + name for before, name in zip(shown, names, strict=True)]
    return names


def _p_values(table: Results) -> tuple[Doubles | None, str]:
    """Return (p-values, or None; what they are called): adjusted ones, if the table has them, are called so."""
    adjust = table.info.get("adjust")
    if "p_adjusted" in table and adjust != "none":
        return table["p_adjusted"], f"adjusted p ({ADJUSTED[adjust]})" if adjust in ADJUSTED else "adjusted p"
    return table.values.get("p_value"), "p"


def _p_key(name: str, alpha: float, mark: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the entries of a key for filled and open marks: p below `alpha`, or not."""
    return [(f"{name} < {alpha:g}", mark | {"mfc": mark["mec"]}), (f"{name} ≥ {alpha:g}", mark | {"mfc": "white"})]


def _p_text(p: float) -> str:
    """Return a p-value as text.

    >>> _p_text(0.0004), _p_text(0.25)
    ('< 0.001', '0.25')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


# ---------------------------------------------------------------------------------------------------- ratios


def plot_ratio(
    table: Results,
    *,
    alpha: float = 0.05,
    ax: Any = None,
    title: str | None = None,
    size: SizeName = "page",
) -> Any:
    """Draw words by the ratio of the two groups' cosines, on a logarithmic axis.

    The mark says whose neighbour a word is; filled marks have p (adjusted, if there) below `alpha`. An arrow is drawn
    where an interval goes on beyond the axis.

    Parameters
    ----------
    table : Results
        What `ratio` gives.
    alpha, ax, title, size
        As in `plot_coefficients`.

    Returns
    -------
    matplotlib axes
    """
    if table.info.get("kind") != "ratio":
        raise AlacarteError("plot_ratio draws what `ratio` gives; pass that table")
    shown = table.take(np.isfinite(table["value"]))
    above, below, both = (table.info[name] for name in ("numerator", "denominator", "both"))
    axes = new_axes(ax, size, 1.5 + 0.2 * len(shown))
    looks = {above: (COLOURS[1], MARKS[1]), both: (COLOURS[6], MARKS[3]), below: (COLOURS[0], MARKS[0])}
    p, p_name = _p_values(shown)
    # With an interval, what is drawn is the ratio the interval is around.
    values = shown.values.get("estimate", shown["value"])
    values = np.where(np.isfinite(values), values, shown["value"])
    low, high = (shown.values.get(name, np.full(len(shown), np.nan)) for name in ("conf_low", "conf_high"))
    limit = _ratio_axis(axes, np.concatenate([values, low, high]))
    order = np.argsort(values, kind="stable")
    for place, row in enumerate(order.tolist()):
        colour, mark = looks[shown["group"][row]]
        if np.isfinite(low[row]):
            axes.plot([max(low[row], 1 / limit), min(high[row], limit)], [place, place], color=colour, lw=1.3, zorder=2)
            for end, beyond, arrow in ((1 / limit, low[row] < 1 / limit, "<"), (limit, high[row] > limit, ">")):
                if beyond:
                    axes.plot(end, place, arrow, ms=4, color=colour, zorder=2, clip_on=False)
        filled = p is None or bool(p[row] < alpha)
        face = colour if filled else "white"
        axes.plot(np.clip(values[row], 1 / limit, limit), place, mark, ms=5.5, mec=colour, mew=1.3, mfc=face, zorder=3)
    axes.axvline(1, color=GREY, lw=0.8, zorder=1)
    axes.set_xlabel(literal(f"cosine with {above} / cosine with {below}"))
    axes.set_yticks(range(len(shown)), [literal(word) for word in shown["feature"][order].tolist()])
    axes.set_ylim(-0.8, len(shown) - 0.2)
    groups = set(shown["group"].tolist())
    entries: list[tuple[str, dict[str, Any]]] = [
        ("near both" if group == both else f"near {group}", {"marker": mark, "color": colour, "ms": 5.5})
        for group, (colour, mark) in looks.items()
        if group in groups
    ]
    if p is not None:
        entries += _p_key(p_name, alpha, {"marker": "o", "mec": GREY, "mew": 1.3, "ms": 5.5})
    key(axes, size, entries)
    return finish(axes, size, title, "x")


def _ratio_axis(axes: Any, values: Doubles) -> float:
    """Return a logarithmic axis around 1 that holds the values, with ticks that do not crowd; returns where it ends."""
    finite = values[np.isfinite(values) & (values > 0)]
    reach = float(np.exp(np.abs(np.log(finite)).max(initial=np.log(1.1))))
    limit = min(reach, LARGEST_RATIO) * 1.04
    axes.set_xscale("log")
    axes.set_xlim(1 / limit, limit)
    ticks: list[float] = []
    for tick in sorted((tick for tick in TICKS if 1 / limit <= tick <= limit), key=lambda tick: abs(np.log(tick))):
        if all(abs(np.log(tick / other)) > 0.2 * np.log(limit) for other in ticks):
            ticks.append(tick)
    axes.set_xticks(sorted(ticks), [f"{tick:g}" for tick in sorted(ticks)])
    axes.minorticks_off()
    return limit


# ------------------------------------------------------------------------------------------------- over time


def plot_over(table: Results, *, ax: Any = None, title: str | None = None, size: SizeName = "page") -> Any:
    """Draw cosines over an ordered variable as lines, with their intervals as bands.

    One line for each feature (and group, if `within` was given); marks grow with the number of contexts, those without
    an interval are open, and those that a step larger than drift leads to have a ring. The axis stays within −1 and 1.

    Parameters
    ----------
    table : Results
        What `similarity_over` gives.
    ax, title, size
        As in `plot_coefficients`.

    Returns
    -------
    matplotlib axes
    """
    if table.info.get("kind") != "over":
        raise AlacarteError("plot_over draws what `similarity_over` gives; pass that table")
    over, within = table.info["over"], table.info["within"]
    axes = new_axes(ax, size, {"column": 2.7, "page": 4.2}[size])
    levels = list(dict.fromkeys(table[over].tolist()))
    numeric = all(isinstance(level, (int, float)) for level in levels)
    at = np.array([level if numeric else levels.index(level) for level in table[over].tolist()], dtype=np.float64)
    features = list(dict.fromkeys(table["feature"].tolist()))
    groups = list(dict.fromkeys(table[within].tolist())) if within else [None]
    largest = max(int(table["n"].max()), 1)
    ends: list[tuple[float, str, str]] = []
    for number, (group, feature) in enumerate((group, feature) for group in groups for feature in features):
        rows = table["feature"] == feature
        if within:
            rows = rows & (table[within] == group)
        y = _line(axes, table.take(rows), at[rows], number, largest)
        if not np.isfinite(y).any():
            continue
        label = feature if group is None else f"{feature}, {group}" if len(features) > 1 else str(group)
        ends.append((float(y[np.flatnonzero(np.isfinite(y))[-1]]), label, look(number).colour))
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -1.0), min(high, 1.0))
    _label_ends(axes, ends, size)
    if numeric and all(isinstance(level, int) for level in levels):
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # years
    if not numeric:
        names = [literal(level) for level in levels]
        crowded = sum(map(len, names)) > 8.5 * size_of(size).width
        axes.set_xticks(range(len(levels)), names, **({"rotation": 30, "ha": "right"} if crowded else {}))
    axes.set_xlabel(literal(over))
    band = f", {table.info['level']:.0%} band" if "conf_low" in table else ""
    axes.set_ylabel(f"cosine{' (debiased)' if 'estimate' in table else ''}{band}")
    key(axes, size, _over_key(table, largest))
    return finish(axes, size, title, "y")


def _line(axes: Any, rows: Results, at: Doubles, number: int, largest: int) -> Doubles:
    """One line with its marks; a band where there are intervals, a bar where a point with one has no neighbour.

    A point without an interval, though others have one, is the plain cosine, and its mark is open. Returns the heights.
    """
    colour, mark, line = look(number)
    values = rows.values.get("estimate", rows["value"])
    axes.plot(at, values, color=colour, ls=line, lw=1.6, zorder=3)
    known = np.isfinite(values)
    if "conf_low" in rows:
        low, high = np.clip(rows["conf_low"], -1, 1), np.clip(rows["conf_high"], -1, 1)
        known = np.isfinite(low) & np.isfinite(high)
        axes.fill_between(at, low, high, color=colour, alpha=0.14, lw=0)
        beside = np.concatenate([[False], known[:-1]]) | np.concatenate([known[1:], [False]])
        alone = known & ~beside
        axes.vlines(at[alone], low[alone], high[alone], color=colour, lw=1.2, zorder=2)
    area = _mark_area(rows["n"], largest)
    ringed = _beyond_drift(rows)
    axes.scatter(
        at[ringed], values[ringed], s=area[ringed] + RING, facecolor="none", edgecolor=colour, lw=1.2, zorder=4
    )
    axes.scatter(
        at[known], values[known], s=area[known], marker=mark, color=colour, edgecolor="white", lw=0.6, zorder=4
    )
    heights = np.where(np.isfinite(values), values, rows["value"])
    axes.scatter(
        at[~known], heights[~known], s=area[~known], marker=mark, facecolor="white", edgecolor=colour, lw=1.2, zorder=4
    )
    return np.asarray(heights)


def _beyond_drift(rows: Results) -> Mask:
    """Return which values lie outside of what drift would give."""
    if "drift_low" not in rows:
        return np.zeros(len(rows), dtype=bool)
    return np.asarray((rows["estimate"] < rows["drift_low"]) | (rows["estimate"] > rows["drift_high"]))


def _mark_area(count: Any, largest: int) -> Any:
    return 10 + 45 * np.sqrt(np.asarray(count) / largest)


def _over_key(table: Results, largest: int) -> list[tuple[str, dict[str, Any]]]:
    """Return what the size of a mark and an open mark mean."""
    drawn = np.isfinite(table["value"])
    entries: list[tuple[str, dict[str, Any]]] = [
        (_contexts(count), {"marker": "o", "color": GREY, "ms": float(np.sqrt(_mark_area(count, largest)))})
        for count in sorted({int(table["n"][drawn].min(initial=largest)), largest})
    ]
    if "conf_low" in table and (drawn & ~np.isfinite(table["conf_low"])).any():
        entries.append(("no interval (plain cosine)", {"marker": "o", "mec": GREY, "mfc": "white", "ms": 5}))
    if _beyond_drift(table).any():
        ring = {"marker": "o", "mec": GREY, "mfc": "none", "ms": float(np.sqrt(RING + 20))}
        entries.append(("after a step larger than drift", ring))
    return entries


def _contexts(count: int) -> str:
    return "1 context" if count == 1 else f"{count:,} contexts"


def _label_ends(axes: Any, ends: list[tuple[float, str, str]], size: SizeName) -> None:
    """Names at the right end of the lines, pushed apart where they would overlap."""
    low, high = axes.get_ylim()
    gap = 1.35 * size_of(size).font / 72 / max(axes.get_window_extent().height / axes.figure.dpi, 0.1) * (high - low)
    ordered = sorted(ends, key=lambda end: end[0])
    places = [y for y, _, _ in ordered]
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + gap)
    ceiling = high
    for number in reversed(range(len(places))):  # the highest stays inside, and pushes the others down
        places[number] = min(places[number], ceiling)
        ceiling = places[number] - gap
    for place, (_, label, colour) in zip(places, ordered, strict=True):
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
        axes.annotate(literal(label), (1.02, place), color=colour, fontsize=size_of(size).font, **where)


# ------------------------------------------------------------------------------------------------------- map


def plot_map(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int = 8,
    candidates: Candidates = None,
    ax: Any = None,
    title: str | None = None,
    size: SizeName = "page",
) -> Any:
    """Draw groups and their nearest words on a plane: the two directions in which their unit vectors differ most.

    The axes say how much of the variance among the points they show. A word that finds no room for its label keeps its
    dot, and is counted below.

    Parameters
    ----------
    embeddings, by, k, candidates
        As in `nearest`.
    ax, title, size
        As in `plot_coefficients`.

    Returns
    -------
    matplotlib axes
    """
    means = (
        embeddings
        if embeddings.counts is not None
        else dem_group(embeddings, by if by is not None else [0] * len(embeddings))
    )
    neighbours = nearest(means, k=k, candidates=candidates)
    owners: dict[str, list[Any]] = {}
    for target, feature in zip(neighbours["target"].tolist(), neighbours["feature"].tolist(), strict=True):
        owners.setdefault(feature, []).append(target)
    words = list(owners)
    points = np.vstack([unit_rows(means.matrix), unit_rows(means.vectors[words])])
    placed, shares = principal_plane(points)
    axes = new_axes(ax, size, 0.8 * size_of(size).width)
    font = size_of(size).font
    names = [str(name) for name in means.names]
    count = len(names)
    texts: list[Label] = []
    for (x, y), name, number in zip(placed[:count].tolist(), names, range(count), strict=True):
        colour, mark, _ = look(number)
        axes.plot(x, y, mark, ms=8, color=colour, mec="white", mew=0.8, zorder=4)
        texts.append(Label(x, y, name, colour, strong=True))
    for (x, y), word in zip(placed[count:].tolist(), words, strict=True):
        own = len(owners[word]) == 1
        colour = look(means.names.index(owners[word][0])).colour if own else GREY
        axes.plot(x, y, ".", ms=3.5, color=colour, zorder=2)
        texts.append(Label(x, y, word, colour))
    axes.margins(0.12)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel(f"first direction, {shares[0]:.0%} of the variance")
    axes.set_ylabel(f"second direction, {shares[1]:.0%} of the variance")
    finish(axes, size, title)
    dot = {"marker": ".", "ms": 7}
    key(
        axes,
        size,
        [("in a group's colour: near it alone", dot | {"color": COLOURS[0]}), ("near several", dot | {"color": GREY})],
    )
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(True)
        axes.spines[side].set_color("#CCCCCC")
    without = place_labels(axes, texts, font - 0.5)
    if without:
        where: dict[str, Any] = {"xycoords": "axes fraction", "ha": "right", "va": "bottom", "color": GREY}
        axes.annotate(f"{without} words without room for a label", (0.99, 0.01), fontsize=font - 1.5, **where)
    return axes
