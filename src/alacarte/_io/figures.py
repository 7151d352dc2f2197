"""How figures look, once for the whole library: sizes for a column and a page, colours and marks, labels, saving.

Colours are Okabe and Ito's, which the colour-blind can tell apart; marks and line styles differ too, so that figures
survive printing in black and white. Figures come from pyplot, so that `plt.show()` shows them.
"""

import math
import os
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from alacarte._io.files import atomic_write
from alacarte._io.printing import printable
from alacarte.errors import AlacarteError, require

SizeName = Literal["column", "page"]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A4A00")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", "h")
LINE_STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
GREY, PALE = "#595959", "#E5E5E5"
DRAWING = "drawing figures"
FIGURE_MARK = "alacarte-embeddings"  # in each figure we write, by which we know it again
STAMPS: dict[str, dict[str, str | None]] = {  # no date: the same figure gives the same bytes
    "png": {"Software": FIGURE_MARK},
    "pdf": {"Creator": FIGURE_MARK, "CreationDate": None},
    "svg": {"Creator": FIGURE_MARK, "Date": None},
}
END_BYTES = 1 << 16  # bytes at either end of a file in which the mark is looked for


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
    """Return the colour, mark and line of a series by its number; the first 56 differ in black and white too.

    >>> len({look(number)[:2] for number in range(72)}), len({look(number)[1:] for number in range(56)})
    (72, 56)
    """
    return Look(COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)], LINE_STYLES[number % len(LINE_STYLES)])


def literal(text: object) -> str:
    r"""Return text that matplotlib draws as it is: a dollar sign begins no formula, and no letter is a command.

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
    """Return the axes given, or those of a new figure of pyplot with the width of `size` and `height` in inches."""
    wanted = size_of(size)
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plot", purpose=DRAWING)
    figure = pyplot.figure(figsize=(wanted.width, height), layout="constrained", dpi=150)
    return figure.add_subplot()


def finish(ax: Any, size: SizeName, title: str | None = None, grid: Literal["x", "y"] | None = None) -> Any:
    """Set fonts, spines, grid and title as in all figures of this package; return the axes."""
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
    """Draw a legend of (label, how its mark is drawn): below the axes if there are no others in the figure."""
    if not entries:
        return
    lines = require("matplotlib.lines", extra="plot", purpose=DRAWING)
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


class Label(NamedTuple):
    """A name for a point of a figure; a strong one is larger and is placed first."""

    x: float
    y: float
    text: str
    colour: str
    strong: bool = False


def place_labels(
    axes: Any,
    labels: Sequence[Label],
    font: float,
    clear_of: Iterable[Sequence[float]] = (),
) -> int:
    """Put each label at the nearest place around its point where it covers no other label and no mark.

    A thin line leads to its point if that is not beside it. Returns how many labels found no room and are left out.
    `clear_of` are further places that no label covers.
    """
    axes.figure.canvas.draw()  # only now is it known where things are
    boxes = require("matplotlib.transforms", extra="plot", purpose=DRAWING)
    points = axes.figure.dpi / 72
    frame = axes.get_window_extent()
    taken: list[Any] = []
    for label in labels:  # labels keep off the marks
        column, row = axes.transData.transform((label.x, label.y))
        half = (5 if label.strong else 2) * points
        taken.append(boxes.Bbox.from_extents(column - half, row - half, column + half, row + half))
    for place in clear_of:
        column, row = axes.transData.transform(place)
        taken.append(boxes.Bbox.from_extents(column - points, row - points, column + points, row + points))
    without = 0
    for label in sorted(labels, key=lambda item: not item.strong):
        text = axes.annotate(
            literal(label.text),
            (label.x, label.y),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            color=label.colour,
            fontsize=font + (1.5 if label.strong else 0),
            fontweight="bold" if label.strong else "normal",
            zorder=5,
            annotation_clip=False,
        )
        centre = text.get_window_extent()
        width, height = centre.width / points, centre.height / points
        for dx, dy in _offsets(width, height, 7 if label.strong else 4):
            box = centre.translated(dx * points, dy * points)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        else:
            text.remove()
            without += 1
            continue
        taken.append(box)
        text.set_position((dx, dy))
        if max(abs(dx) - width / 2, abs(dy) - height / 2) > 9:
            line = {"arrowstyle": "-", "lw": 0.5, "color": label.colour, "alpha": 0.6, "shrinkA": 0, "shrinkB": 2}
            axes.annotate(
                "", (label.x, label.y), xytext=(dx, dy), textcoords="offset points", arrowprops=line, zorder=1
            )
    return without


def _offsets(width: float, height: float, gap: float) -> list[tuple[float, float]]:
    """Return positions for the middle of a label of this size around its point, in points, the nearest first."""
    places: list[tuple[float, float]] = []
    for ring in range(9):
        away = gap + ring * 7.0
        for angle in (0, 180, 90, 270, 45, 315, 135, 225, 20, 340, 160, 200, 70, 110, 250, 290):
            c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            places.append((c * (away + width / 2), s * (away + height / 2)))
    return places


def save_figure(axes: Any, path: str | os.PathLike[str]) -> Path:
    """Write the figure of some axes to a file, .pdf, .svg or .png; in .pdf and .svg, text stays text.

    The file is complete or not there at all.
    """
    matplotlib = require("matplotlib", extra="plot", purpose=DRAWING)
    target = Path(path)
    kind = target.suffix[1:].lower()
    if kind not in STAMPS:
        raise AlacarteError(f"{target}: figures end in .png, .pdf or .svg; choose one of these")
    figure = getattr(axes, "figure", axes)
    rules = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "alacarte"}
    with matplotlib.rc_context(rules), atomic_write(target) as file:
        figure.savefig(file, format=kind, dpi=200, metadata=STAMPS[kind])
    return target


def is_our_figure(path: str | os.PathLike[str]) -> bool:
    """Whether `save_figure` wrote a file."""
    with Path(path).open("rb") as file:
        head = file.read(END_BYTES)
        file.seek(max(0, os.fstat(file.fileno()).st_size - END_BYTES))
        return FIGURE_MARK.encode() in head + file.read()
