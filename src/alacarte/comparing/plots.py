"""The pictures of a comparison: how far words moved against q-values (a volcano plot), and words on a plane."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from alacarte._io.figures import COLOURS, GREY, Label, finish, key, look, new_axes, place_labels, size_of
from alacarte.errors import NotEnoughData, require

if TYPE_CHECKING:
    from alacarte.comparing.uses import Comparisons
    from alacarte.comparing.word_map import WordMap

LEAST_Q = 1e-16  # smaller values are drawn here


def draw_volcano(comparisons: "Comparisons", ax: Any, *, q: float, labels: int, title: str | None) -> Any:
    """Axes with one mark per word, coloured where its q-value is at most `q`, and names that cover no other name."""
    tested = [item for item in comparisons if not item.reason]
    if not tested:
        raise NotEnoughData("no word could be tested, so there is nothing to draw; the table says why")
    x = np.array([item.distance for item in tested])
    y = -np.log10(np.maximum([item.q_value for item in tested], LEAST_Q))
    changed = np.array([item.q_value <= q for item in tested])
    axes = new_axes(ax, "page", 4.6)
    axes.scatter(x[~changed], y[~changed], s=9, color=GREY, alpha=0.35, lw=0, zorder=2)
    axes.scatter(x[changed], y[changed], s=12, color=COLOURS[1], alpha=0.7, lw=0, zorder=3)
    axes.axhline(-np.log10(q), color=GREY, lw=0.8, ls="--", zorder=1)
    axes.set_xlim(left=min(0.0, float(x.min())))
    axes.set_ylim(bottom=-0.02 * max(float(y.max()), 1.5))
    axes.margins(0.1)
    axes.set_xlabel(f"distance of the two uses (1 − cosine), {comparisons.names[0]} and {comparisons.names[1]}")
    axes.set_ylabel("−log₁₀ q")
    key(
        axes,
        "page",
        [
            (f"q ≤ {q:g}: {int(changed.sum()):,} words", {"marker": "o", "color": COLOURS[1], "ms": 4}),
            (f"others: {int((~changed).sum()):,}", {"marker": "o", "color": GREY, "ms": 3}),
        ],
    )
    finish(axes, "page", title)
    places = {item.word: place for place, item in enumerate(tested)}
    rows = [places[item.word] for item in comparisons.changed(q)[:labels]]
    names = [Label(float(x[row]), float(y[row]), tested[row].word, "black") for row in rows]
    place_labels(axes, names, size_of("page").font - 1)
    return axes


def draw_word_map(plane: "WordMap", ax: Any, *, title: str | None) -> Any:
    """Return axes with two marks per word, a line between them, and the region of the second."""
    axes = new_axes(ax, "page", 4.6)
    Ellipse = require("matplotlib.patches", extra="plot", purpose="drawing figures").Ellipse
    names = []
    for number, point in enumerate(plane):
        colour = look(number).colour
        place, angle = (point.x, point.y), math.degrees(point.angle)
        axes.add_patch(Ellipse(place, 2 * point.major, 2 * point.minor, angle=angle, color=colour, alpha=0.15, lw=0))
        axes.plot(*place, "o", color=colour, ms=4)
        names.append(Label(point.x, point.y, point.word, colour, strong=True))
        if not math.isnan(point.own_x):
            axes.plot([point.own_x, point.x], [point.own_y, point.y], "-", color=colour, lw=0.8)
            axes.plot(point.own_x, point.own_y, "o", color=colour, mfc="white", ms=4)
            names.append(Label(point.own_x, point.own_y, point.word, GREY))
    axes.set_aspect("equal", "datalim")
    axes.margins(0.1)
    marks = [("its own vector", {"marker": "o", "color": GREY, "mfc": "white", "ms": 4})]
    marks.append((f"by the corpus, with its {plane.level:.0%} region", {"marker": "o", "color": GREY, "ms": 4}))
    key(axes, "page", marks)
    finish(axes, "page", title)
    place_labels(axes, names, size_of("page").font - 1)
    return axes
