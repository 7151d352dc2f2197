"""The picture of a word map: an open mark where a word's own vector puts it, a filled one where the corpus does."""

import math
from typing import TYPE_CHECKING, Any

from alacarte._io.figures import GREY, Label, finish, key, look, new_axes, place_labels, size_of
from alacarte.errors import require

if TYPE_CHECKING:
    from alacarte.comparing.word_map import WordMap


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
