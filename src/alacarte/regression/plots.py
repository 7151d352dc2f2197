"""Figures: coefficients with intervals, ratios, change over time, a map of groups and their neighbours.

Colours are Okabe and Ito's, which the colour-blind can tell apart; marks and line styles differ too, so that the
figures survive black-and-white printing.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError, require
from alacarte.regression._frames import Table
from alacarte.regression._space import Candidates
from alacarte.regression.embed import Embeddings, Groups, dem_group
from alacarte.vectors.geometry import unit_rows

if TYPE_CHECKING:
    from alacarte.regression.infer import EmbeddingRegression

Given = ParamSpec("Given")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A4A00")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
GREY = "#595959"


def _axes(ax: Any, width: float, height: float) -> Any:
    figure_module = require("matplotlib.figure", extra="plot", purpose="drawing figures")
    if ax is not None:
        return ax
    backend = require("matplotlib.backends.backend_agg", extra="plot", purpose="drawing figures")
    figure = figure_module.Figure(figsize=(width, height), layout="constrained", dpi=150)
    backend.FigureCanvasAgg(figure)
    return figure.add_subplot()


def _plain_labels(plot: Callable[Given, Any]) -> Callable[Given, Any]:
    """Let a $ in the words and names of a plot be a $: matplotlib would take what stands between two for a formula."""

    @wraps(plot)
    def drawn(*args: Given.args, **options: Given.kwargs) -> Any:
        matplotlib = require("matplotlib", extra="plot", purpose="drawing figures")
        with matplotlib.rc_context({"text.parse_math": False}):
            axes = plot(*args, **options)
        for label in axes.findobj(type(axes.title)):
            if "$" in label.get_text() and "mathdefault" not in label.get_text():  # of axes that were there before
                label.set_parse_math(False)
        return axes

    return drawn


def _clean(ax: Any) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=3, color=GREY)
    ax.set_axisbelow(True)


@_plain_labels
def plot_coefficients(
    model: "EmbeddingRegression | Table", ax: Any = None, *, alpha: float = 0.05, title: str | None = None
) -> Any:
    """The debiased squared length of each term with its interval; filled marks have p (adjusted) below `alpha`.

    Returns the matplotlib axes; `ax.figure.savefig("terms.pdf")` writes it.
    """
    table = model if isinstance(model, Table) else model.table
    terms = table["term"].tolist()
    axes = _axes(ax, 6.4, 1.2 + 0.42 * len(terms))
    places = np.arange(len(terms))[::-1]
    p = table.values.get("p_adjusted", table.values.get("p_value"))
    estimates = table["estimate"]
    lower = table.values.get("lower", np.full(len(terms), -1.0))
    if not (lower < 0).any():  # as the interval, so the mark: no length is below 0
        estimates = np.maximum(estimates, 0.0)
    for place, row in zip(places, range(len(terms)), strict=True):
        sure = p is None or bool(p[row] < alpha)
        if "lower" in table and np.isfinite(table["lower"][row]):
            axes.plot([table["lower"][row], table["upper"][row]], [place, place], color=COLOURS[0], lw=1.8, zorder=2)
        axes.plot(
            estimates[row],
            place,
            "o",
            ms=7,
            mec=COLOURS[0],
            mew=1.6,
            mfc=COLOURS[0] if sure else "white",
            zorder=3,
        )
        if p is not None:
            axes.annotate(
                _p_text(float(p[row])) if np.isfinite(p[row]) else str(table["reason"][row]),
                (1.01, place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
                color=GREY,
            )
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    axes.set_yticks(places, terms)
    axes.set_ylim(-0.6, len(terms) - 0.4)
    level = table.info.get("level", 0.95)
    axes.set_xlabel(f"squared length of the coefficient, debiased ({level:.0%} interval)")
    axes.grid(axis="x", color="#E5E5E5", lw=0.8)
    if title is None and not isinstance(model, Table):
        what = "documents" if model.targets is None else ", ".join(f"“{target}”" for target in model.targets)
        title = f"What moves {what}"
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    _clean(axes)
    return axes


def _p_text(p: float) -> str:
    """
    >>> _p_text(0.0004), _p_text(0.25)
    ('p < 0.001', 'p = 0.25')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


@_plain_labels
def plot_ratio(table: Table, ax: Any = None, *, alpha: float = 0.05, title: str | None = None) -> Any:
    """Words by the ratio of the two groups' cosines, on a logarithmic axis: from `ratio`.

    The mark says whose neighbour a word is; filled marks have p (adjusted, if there) below `alpha`.
    """
    if table.info.get("kind") != "ratio":
        raise AlacarteError("plot_ratio draws what `ratio` gives; pass that table")
    shown = table.take(np.isfinite(table["value"]))
    above, below = table.info["numerator"], table.info["denominator"]
    axes = _axes(ax, 6.4, 1.4 + 0.27 * len(shown))
    order = np.argsort(shown["value"], kind="stable")
    groups = [above, "shared", below]
    p = shown.values.get("p_adjusted", shown.values.get("p_value"))
    # With an interval, what is drawn is the ratio the interval is around.
    values = shown.values.get("debiased", shown["value"])
    values = np.where(np.isfinite(values), values, shown["value"])
    for place, row in enumerate(order.tolist()):
        kind = groups.index(shown["group"][row])
        colour = COLOURS[(1, 6, 0)[kind]]
        if "lower" in shown and np.isfinite(shown["lower"][row]):
            axes.plot([shown["lower"][row], shown["upper"][row]], [place, place], color=colour, lw=1.4, zorder=2)
        sure = p is None or bool(p[row] < alpha)
        axes.plot(
            values[row],
            place,
            MARKS[(1, 3, 0)[kind]],
            ms=6.5,
            mec=colour,
            mew=1.4,
            mfc=colour if sure else "white",
            zorder=3,
        )
    axes.axvline(1, color=GREY, lw=0.8, zorder=1)
    axes.set_xscale("log")
    ends = np.concatenate([shown.values.get("lower", values), shown.values.get("upper", values), values])
    ends = ends[np.isfinite(ends)]
    low, high = float(ends.min(initial=1.0)), float(ends.max(initial=1.0))
    limit = min(max(high, 1 / low if low > 0 else high, 1.1), 20.0) * 1.04
    axes.set_xlim(1 / limit, limit)
    ticks = [
        tick
        for tick in (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20)
        if 1 / limit <= tick <= limit
    ]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(shown)), shown["feature"][order].tolist())
    axes.set_ylim(-0.8, len(shown) - 0.2)
    axes.set_xlabel(f"cosine with {above} / cosine with {below}")
    axes.grid(axis="x", color="#E5E5E5", lw=0.8)
    lines = require("matplotlib.lines", extra="plot", purpose="drawing figures")
    handles = [
        lines.Line2D(
            [],
            [],
            ls="",
            marker=MARKS[(1, 3, 0)[kind]],
            color=COLOURS[(1, 6, 0)[kind]],
            label=name if name != "shared" else "both",
        )
        for kind, name in enumerate(groups)
        if name in shown["group"]
    ]
    axes.legend(
        handles=handles, loc="lower right", frameon=False, fontsize=8, title="among the nearest of", title_fontsize=8
    )
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    _clean(axes)
    return axes


@_plain_labels
def plot_over(table: Table, ax: Any = None, *, title: str | None = None, split: str | None = None) -> Any:
    """Cosines over an ordered variable as lines, with their intervals as bands: from `similarity_over`.

    One line for each feature (and group, if `within` was given); marks grow with the number of contexts.
    """
    if table.info.get("kind") != "over":
        raise AlacarteError("plot_over draws what `similarity_over` gives; pass that table")
    over, within = table.info["over"], table.info["within"]
    axes = _axes(ax, 7.2, 4.2)
    values = table.values.get("debiased", table["value"])
    levels = list(dict.fromkeys(table[over].tolist()))
    numeric = all(isinstance(level, (int, float)) for level in levels)
    at = np.array([level if numeric else levels.index(level) for level in table[over].tolist()], dtype=np.float64)
    keys = [
        (group, feature)
        for group in (dict.fromkeys(table[within].tolist()) if within else [None])
        for feature in dict.fromkeys(table["feature"].tolist())
    ]
    largest = max(int(table["n"].max()), 1)
    ends: list[tuple[float, float, str, str]] = []
    for number, (group, feature) in enumerate(keys):
        rows = table["feature"] == feature
        if within:
            rows = rows & (table[within] == group)
        if not np.isfinite(values[rows]).any():
            continue
        colour, line, mark = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)], MARKS[number % len(MARKS)]
        if "lower" in table:
            axes.fill_between(at[rows], table["lower"][rows], table["upper"][rows], color=colour, alpha=0.14, lw=0)
        axes.plot(at[rows], values[rows], color=colour, ls=line, lw=1.8, zorder=3)
        size = 10 + 50 * np.sqrt(table["n"][rows] / largest)
        axes.scatter(at[rows], values[rows], s=size, marker=mark, color=colour, zorder=4, edgecolor="white", lw=0.6)
        label = feature if group is None else f"{feature}, {group}" if len(set(table["feature"])) > 1 else str(group)
        last = np.flatnonzero(np.isfinite(values[rows]))[-1]  # a line is broken where there is nothing to draw
        ends.append((float(at[rows][last]), float(values[rows][last]), label, colour))
    _label_ends(axes, ends)
    if not numeric:
        names = [str(level) for level in levels]
        crowded = sum(map(len, names)) > 60
        axes.set_xticks(range(len(levels)), names, **({"rotation": 30, "ha": "right"} if crowded else {}))
    axes.set_xlabel(over)
    band = f", {table.info['level']:.0%} band" if "lower" in table else ""
    axes.set_ylabel(f"cosine{' (debiased)' if 'debiased' in table else ''}{band}")
    axes.grid(axis="y", color="#E5E5E5", lw=0.8)
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    _clean(axes)
    return axes


def _label_ends(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Names at the right end of the lines, pushed apart where they would overlap."""
    if not ends:
        return
    low, high = axes.get_ylim()
    gap = 0.055 * (high - low)
    place = -np.inf
    for _, y, label, colour in sorted(ends, key=lambda end: end[1]):
        place = max(y, place + gap)
        axes.annotate(
            label,
            (1.02, place),
            xycoords=("axes fraction", "data"),
            color=colour,
            va="center",
            fontsize=9,
            annotation_clip=False,
        )


@_plain_labels
def plot_map(
    embeddings: Embeddings,
    by: Groups | None = None,
    ax: Any = None,
    *,
    k: int = 8,
    candidates: Candidates = None,
    title: str | None = None,
) -> Any:
    """Groups and their nearest words on a plane: the two directions in which their unit vectors differ most.

    `embeddings` are those of contexts with a grouping, or means made by `dem_group`.
    """
    from alacarte.regression.describe import nearest

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
    rows = np.array([means.space.index[word] for word in words])
    points = np.vstack([unit_rows(means.matrix), unit_rows(means.space.matrix[rows].astype(np.float64))])
    placed = _plane(points)
    axes = _axes(ax, 7.0, 5.6)
    names = [str(name) for name in means.names]
    count = len(names)
    texts: list[tuple[float, float, str, str, bool]] = []
    for place, word in enumerate(words):
        x, y = placed[count + place]
        colour = GREY if len(owners[word]) > 1 else COLOURS[means.names.index(owners[word][0]) % len(COLOURS)]
        axes.plot(x, y, ".", ms=4, color=colour, zorder=2)
        texts.append((x, y, word, colour, False))
    for place, name in enumerate(names):
        x, y = placed[place]
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(x, y, MARKS[place % len(MARKS)], ms=11, color=colour, mec="white", mew=1, zorder=4)
        texts.append((x, y, name, colour, True))
    axes.margins(0.12)
    axes.set_aspect("equal", adjustable="datalim")
    _place_labels(axes, texts)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_color("#CCCCCC")
    axes.set_xlabel("words in a group's colour are near it alone; grey ones are near several", fontsize=8, color=GREY)
    if title:
        axes.set_title(title, loc="left", fontsize=11)
    return axes


def _plane(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    centred = points - points.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    flat = centred @ directions[:2].T
    if flat.shape[1] < 2:
        flat = np.column_stack([flat, np.zeros(len(flat))])
    return np.asarray(flat)


def _place_labels(axes: Any, texts: Sequence[tuple[float, float, str, str, bool]]) -> None:
    """Each label at the first of some places around its point where it covers no other."""
    axes.figure.canvas.draw()
    boxes = require("matplotlib.transforms", extra="plot", purpose="drawing figures")
    taken: list[Any] = []
    for x, y, _, _, strong in texts:
        if strong:  # labels keep off the groups' marks
            column, row = axes.transData.transform((x, y))
            taken.append(boxes.Bbox.from_extents(column - 11, row - 11, column + 11, row + 11))
    choices_of_place = [(6, 0, "left"), (-6, 0, "right"), (0, 8, "center"), (0, -8, "center")]
    choices_of_place += [(8, step, "left") for step in (12, -12, 22, -22)] + [(-8, step, "right") for step in (12, -12)]
    for x, y, text, colour, strong in sorted(texts, key=lambda item: not item[4]):
        for dx, dy, side in choices_of_place:
            label = axes.annotate(
                text,
                (x, y),
                xytext=(dx * (1.6 if strong else 1), dy * (1.5 if strong else 1)),
                textcoords="offset points",
                ha=side,
                va="center",
                color=colour,
                fontsize=11 if strong else 8.5,
                fontweight="bold" if strong else "normal",
                zorder=5,
            )
            box = label.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()
        else:
            taken.append(
                axes.annotate(
                    text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=colour, fontsize=8.5
                ).get_window_extent()
            )
