"""How figures look, once for the whole library: sizes for a column and a page, colours and marks, labels, saving.

Colours are Okabe and Ito's, which the colour-blind can tell apart; marks and line styles differ too, so that figures
survive printing in black and white. Figures come from pyplot, so that `plt.show()` shows them.
"""

import os
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from alacarte._io.files import atomic_write
from alacarte._io.table import printable
from alacarte.errors import AlacarteError, require

SizeName = Literal["column", "page"]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A4A00")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", "h")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
GREY, PALE = "#595959", "#E5E5E5"
PURPOSE = "drawing figures"


@dataclass(frozen=True)
class Size:
    """Inches across, and points of the text."""

    width: float
    font: float


SIZES: dict[str, Size] = {"column": Size(3.4, 7.5), "page": Size(7.0, 9.0)}


class Look(NamedTuple):
    colour: str
    mark: str
    line: Any


def look(number: int) -> Look:
    """The colour, mark and line of a series by its number; the first 56 differ in black and white too.

    >>> len({look(number)[:2] for number in range(72)}), len({look(number)[1:] for number in range(56)})
    (72, 56)
    """
    return Look(COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)], LINES[number % len(LINES)])


def literal(text: object) -> str:
    r"""Text as matplotlib draws it letter by letter: a dollar sign begins no formula, and no letter is a command.

    Every label that comes from data goes through here.

    >>> literal("US$ and A$")
    'US\\$ and A\\$'
    """
    return printable(str(text)).replace("$", r"\$")


def size_of(size: SizeName) -> Size:
    if size not in SIZES:
        raise AlacarteError(f"size is 'column' or 'page', not {size!r}")
    return SIZES[size]


def new_axes(ax: Any, size: SizeName, height: float) -> Any:
    """The axes given, or those of a new figure of pyplot's: as wide as `size` says, and `height` inches high."""
    wanted = size_of(size)
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plot", purpose=PURPOSE)
    figure = pyplot.figure(figsize=(wanted.width, height), layout="constrained", dpi=150)
    return figure.add_subplot()


def finish(ax: Any, size: SizeName, title: str | None = None, grid: Literal["x", "y"] | None = None) -> Any:
    """Fonts, spines, grid and title of the house; returns the axes."""
    font = size_of(size).font
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=3, color=GREY, labelsize=font)
    inches = ax.figure.get_size_inches()
    for label, letters in ((ax.xaxis.label, inches[0] * 11), (ax.yaxis.label, inches[1] * 10)):
        label.set(size=font, text=textwrap.fill(label.get_text(), max(int(letters), 10)))
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=PALE, lw=0.8)
    if title:
        ax.set_title(literal(title), loc="left", fontsize=font + 1.5)
    return ax


def key(ax: Any, size: SizeName, entries: list[tuple[str, dict[str, Any]]]) -> None:
    """A legend, (label, how its mark is drawn) each: under the axes if they have the figure to themselves."""
    if not entries:
        return
    lines = require("matplotlib.lines", extra="plot", purpose=PURPOSE)
    font = size_of(size).font
    handles = [lines.Line2D([], [], label=literal(label), **({"ls": ""} | drawn)) for label, drawn in entries]
    look_of_key: dict[str, Any] = {"frameon": False, "fontsize": font - 1, "handletextpad": 0.4, "columnspacing": 1.2}
    alone = len(ax.figure.axes) == 1 and ax.figure.get_layout_engine() is not None
    if not alone:
        ax.legend(handles=handles, loc="best", **look_of_key)
        return
    longest = max(len(label) for label, _ in entries)
    columns = max(1, min(len(handles), int(size_of(size).width * 14 / (longest + 5))))
    ax.figure.legend(handles=handles, loc="outside lower left", ncols=columns, **look_of_key)


def save_figure(axes: Any, path: str | os.PathLike[str]) -> Path:
    """Write the figure of some axes to a file, .pdf, .svg or .png; in .pdf and .svg, text stays text.

    The file is complete or not there at all.
    """
    matplotlib = require("matplotlib", extra="plot", purpose=PURPOSE)
    target = Path(path)
    kind = target.suffix[1:].lower()
    if kind not in ("png", "pdf", "svg"):
        raise AlacarteError(f"{target}: figures end in .png, .pdf or .svg; choose one of these")
    figure = getattr(axes, "figure", axes)
    # No date in the file, and numbered names: the same figure gives the same bytes.
    stamp = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    rules = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "alacarte"}
    with matplotlib.rc_context(rules), atomic_write(target) as file:
        figure.savefig(file, format=kind, dpi=200, metadata=stamp)
    return target
