"""The whole method on what every Python brings: its own language reference, read with GloVe's eyes.

Words such as *decorator* or *generator* mean one thing in the newspapers and encyclopedias that GloVe was
made from, and another in this text. The demo embeds them anew from their contexts here and compares.

>>> paragraphs({"yield": "Yield\\n*****\\n\\nA *generator* function is only used in\\nthis way."})
['A generator function is only used in this way.']
"""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.figures import save_figure
from alacarte.contexts.weights import STOP_WORDS
from alacarte.errors import AlacarteError, MissingExtra, require
from alacarte.model import ALaCarte, InducedVectors
from alacarte.passes.discover import discover
from alacarte.targets.targets import Targets
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

MODEL = "glove.6B.50d"
WORDS = (
    "decorator",
    "generator",
    "lambda",
    "class",
    "string",
    "float",
    "character",
    "module",
    "tuple",
    "exception",
    "yield",
    "operator",
)
PHRASE = "keyword argument"
INVENTED = "snorvel"
SENTENCE = "She played the snorvel in the orchestra, accompanied by violin and piano."

FREQUENT = 30_000  # neighbours are looked for among so many words: the tail of the vocabulary only clutters
NEIGHBOURS = 5
TERMS_FROM = 8  # occurrences of the words and phrases that are embedded beside the chosen ones
TONE_DEPTH = 40  # what is among so many nearest of TONE_SHARE of all terms is the tone of the text, not a meaning
TONE_SHARE = 0.2
IN_PICTURE = 8
COLOURS = (
    "tab:blue",
    "tab:orange",
    "tab:green",
    "tab:red",
    "tab:purple",
    "tab:brown",
    "tab:pink",
    "tab:cyan",
)

Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class WordShift:
    """A word's neighbours by its old vector and by the one from this text; the cosine of the two."""

    word: str
    occurrences: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    cosine: float


@dataclass(frozen=True)
class DemoResult:
    """What the demo found."""

    documents: int
    tokens: int
    words: tuple[WordShift, ...]
    tone: tuple[str, ...]  # words that nearly everything comes near to in this text; left out of `after`
    phrase: str
    phrase_occurrences: int
    phrase_neighbours: tuple[str, ...]  # among words and phrases of this text
    invented: str
    sentence: str
    invented_neighbours: tuple[str, ...]
    plot: str | None  # the picture's file
    no_plot: str | None  # why there is no picture though one was asked for
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def run(plot: Path | None = None) -> DemoResult:
    """Re-embed words, a phrase and an invented word; draw a map of the words where `plot` says."""
    start = time.perf_counter()
    model = ALaCarte.pretrained(MODEL)
    # Tokens instead of text: a first run would spend longer on compiling the fast tokenizer than this takes.
    known = model.vectors.key_to_index
    text = [model.tokenizer(paragraph, known) for paragraph in paragraphs(language_reference())]
    induced = model.induce(text, Targets([*WORDS, PHRASE]) | _terms(text, model), show_progress=False)
    tone = _tone(model.vectors, induced)
    shifts = tuple(_shift(model.vectors, induced, word, tone) for word in WORDS if word in induced)
    phrase = induced.nearest(induced[PHRASE], NEIGHBOURS, exclude=[PHRASE, f"{PHRASE}s"])
    invented = model.vectors.nearest(model.embed(SENTENCE, INVENTED), NEIGHBOURS, among=FREQUENT)
    drawn, no_plot = None, None
    if plot is not None:
        try:
            draw(plot, model.vectors, induced, shifts[:IN_PICTURE])
            drawn = str(plot)
        except MissingExtra as missing:
            no_plot = str(missing)
    return DemoResult(
        documents=induced.sums.documents,
        tokens=induced.sums.tokens_read,
        words=shifts,
        tone=tuple(tone),
        phrase=PHRASE,
        phrase_occurrences=induced.count(PHRASE),
        phrase_neighbours=tuple(word for word, _ in phrase),
        invented=INVENTED,
        sentence=SENTENCE,
        invented_neighbours=tuple(word for word, _ in invented),
        plot=drawn,
        no_plot=no_plot,
        seconds=time.perf_counter() - start,
    )


# ------------------------------------------------------------------------------------------------------- text

_RULE = re.compile(r"^\s*[*=~^-]{3,}\s*$", re.MULTILINE)  # below a heading
_BROKEN_WORD = re.compile(r"(?<=\w)-\n\s*(?=\w)")
_MARKUP = re.compile(r"[\"“”`*|]|\[\d+\]")
_PROSE_WORD = re.compile(r"\(?[A-Za-z’'-]+[.,;:)]*")
_NOT_PROSE = ("::=", ">>>")  # grammar, and sessions with the interpreter
_LINKS = re.compile(r"\b(?:the|an?|is|are|of|to|and|in|be|by|with)\b")  # which code does not have


def language_reference() -> Mapping[str, str]:
    """Topic → text, as `help()` shows it."""
    try:
        from pydoc_data.topics import topics
    except ModuleNotFoundError:
        raise AlacarteError(
            "this Python comes without its language reference (pydoc_data), which the demo reads; use "
            "another build of Python, or start with your own text: alc induce --help"
        ) from None
    return dict(topics)


def paragraphs(topics: Mapping[str, str]) -> list[str]:
    """The prose of the topics, a paragraph each, without mark-up, headings, grammar, code and repetitions."""
    kept: dict[str, None] = {}
    for text in topics.values():
        for paragraph in re.split(r"\n\s*\n", _RULE.sub("\n", text)):
            if any(mark in paragraph for mark in _NOT_PROSE) or not _LINKS.search(paragraph):
                continue
            words = _MARKUP.sub(" ", _BROKEN_WORD.sub("-", paragraph)).split()
            prose = sum(_PROSE_WORD.fullmatch(word) is not None for word in words)
            if prose >= 6 and prose >= 0.7 * len(words):
                kept[" ".join(words)] = None
    return list(kept)


# ------------------------------------------------------------------------------------------------- neighbours


def _terms(text: Sequence[Sequence[str]], model: ALaCarte) -> Targets:
    """The words and phrases that are frequent here, less those with function words."""
    frequent = discover(
        text,
        n=(1, 2),
        min_count=TERMS_FROM,
        vectors=model.vectors.words,
        tokenizer=model.tokenizer,
        known=True,
    )
    split = [key.split(" ") for key in frequent]
    chosen = {*WORDS, PHRASE}
    return Targets(tokens for tokens in split if STOP_WORDS.isdisjoint(tokens) and " ".join(tokens) not in chosen)


def _tone(vectors: WordVectors, induced: InducedVectors) -> list[str]:
    """Words that a good part of all terms comes near to here: the tone of a manual, most common first."""
    lists = vectors.nearest(induced.matrix, TONE_DEPTH, among=FREQUENT)
    counts = Counter(neighbour for neighbours in lists for neighbour, _ in neighbours)
    return [word for word, count in counts.most_common() if count >= TONE_SHARE * len(induced)]


def _shift(vectors: WordVectors, induced: InducedVectors, word: str, tone: Sequence[str]) -> WordShift:
    old, new = vectors[word], induced[word]
    before = _telling(word, vectors.nearest(old, 10 * NEIGHBOURS, among=FREQUENT))
    after = _telling(word, vectors.nearest(new, 10 * NEIGHBOURS, among=FREQUENT, exclude=tone))
    return WordShift(word, induced.count(word), before, after, float(cosines(old, new)))


def _telling(word: str, neighbours: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """The first neighbours that are words (not numbers, signs or letters) and no forms of the word itself."""
    words = [other for other, _ in neighbours if other.isalpha() and len(other) > 2 and not other.startswith(word)]
    return tuple(words[:NEIGHBOURS])


# ---------------------------------------------------------------------------------------------------- picture


def draw(path: Path, vectors: WordVectors, induced: InducedVectors, shifts: Sequence[WordShift]) -> None:
    """Where GloVe has each word, where this text puts it, and the nearest other word at both ends."""
    require("matplotlib", extra="plot", purpose="drawing the map of words")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    words = [shift.word for shift in shifts]
    anchors = list(dict.fromkeys([s.before[0] for s in shifts] + [s.after[0] for s in shifts]))
    points, shares = plane(np.vstack([vectors[words], induced[words], vectors[anchors]]))
    old, new, fixed = np.split(points, [len(words), 2 * len(words)])

    figure = Figure(figsize=(9, 6.5), dpi=130, layout="tight")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(words))]
    axes.scatter(fixed[:, 0], fixed[:, 1], s=14, color="0.6", zorder=2)
    for start, end, colour in zip(old, new, colours, strict=True):
        axes.annotate(
            "",
            end,
            start,
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 3, "shrinkB": 3},
        )
    axes.scatter(old[:, 0], old[:, 1], s=26, facecolor="white", edgecolor=colours, zorder=3)
    axes.scatter(new[:, 0], new[:, 1], s=30, color=colours, zorder=3)
    axes.set_title("What words come to mean in Python's language reference", loc="left", fontsize=13)
    axes.set_xlabel(
        f"Two principal components of the unit vectors ({shares[0]:.0%} and {shares[1]:.0%} of the "
        "variance). Open: the word in GloVe;\n"
        "filled: embedded from this text; grey: the nearest other word at either end.",
        fontsize=9,
        loc="left",
    )
    axes.margins(0.1)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["top", "right"]].set_visible(False)
    labels = [(place, word, colour, True) for place, word, colour in zip(old, words, colours, strict=True)]
    labels += [(place, f"{word}′", colour, True) for place, word, colour in zip(new, words, colours, strict=True)]
    labels += [(place, word, "0.4", False) for place, word in zip(fixed, anchors, strict=True)]
    along = np.linspace(0, 1, 60)[:, None, None]
    _place_labels(figure, axes, labels, np.vstack([old, new, fixed]), (old + along * (new - old)).reshape(-1, 2))
    kinds = figure.canvas.get_supported_filetypes()
    kind = path.suffix.removeprefix(".").lower()
    if kind not in kinds:
        raise AlacarteError(f"{path}: a picture ends in one of {', '.join(f'.{name}' for name in kinds)}")
    save_figure(figure, path)


def plane(matrix: npt.ArrayLike) -> tuple[Doubles, Doubles]:
    """Unit vectors in the plane where they spread most, and the share of the variance on its two axes.

    >>> points, shares = plane([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0]])
    >>> points.shape, round(float(shares.sum()), 6)
    ((3, 2), 1.0)
    """
    rows = unit_rows(matrix)
    rows = rows - rows.mean(axis=0)
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    return left[:, :2] * values[:2], values[:2] ** 2 / np.sum(values**2)


def _place_labels(
    figure: Any, axes: Any, labels: Sequence[tuple[Any, str, str, bool]], points: Doubles, arrows: Doubles
) -> None:
    """Each label at the free place nearest to its point: clear of points, arrows, labels and edges."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    to_pixels = axes.transData.transform
    taken = [_around(x, y, 5) for x, y in to_pixels(points)] + [_around(x, y, 2) for x, y in to_pixels(arrows)]
    frame = axes.get_window_extent(renderer)
    for point, word, colour, bold in labels:
        style = {"color": colour, "weight": "bold" if bold else "normal", "fontsize": 9.5 if bold else 8.5}
        label = axes.annotate(word, point, xytext=point, zorder=4, annotation_clip=False, **style)
        box = label.get_window_extent(renderer)
        x, y = to_pixels(point)
        areas = [
            (x + dx, y + dy, x + dx + box.width, y + dy + box.height)
            for dx, dy in _places_around(box.width, box.height)
        ]
        free = [area for area in areas if _inside(area, frame) and not any(_overlap(area, t) for t in taken)]
        area = free[0] if free else areas[0]
        taken.append(area)
        label.set_position(axes.transData.inverted().transform(area[:2]))
        gap = max(area[0] - x, x - area[2], area[1] - y, y - area[3])
        if gap > FAR_LABEL:  # a hair line shows what it belongs to
            nearest = (min(max(x, area[0]), area[2]), min(max(y, area[1]), area[3]))
            ends = axes.transData.inverted().transform([(x, y), nearest])
            axes.plot(*ends.T, color=colour, lw=0.5, alpha=0.6, zorder=1)


Area = tuple[float, float, float, float]  # left, bottom, right, top, in pixels
FAR_LABEL = 16  # pixels


def _around(x: float, y: float, radius: float) -> Area:
    return x - radius, y - radius, x + radius, y + radius


def _inside(area: Area, frame: Any) -> bool:
    return bool(frame.x0 <= area[0] and area[2] <= frame.x1 and frame.y0 <= area[1] and area[3] <= frame.y1)


def _overlap(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _places_around(width: float, height: float) -> list[tuple[float, float]]:
    """Offsets of a label's lower left corner from its point, nearest first: sides, then corners."""
    places = []
    for gap in range(7, 140, 7):
        right, left, middle = gap, -gap - width, -width / 2
        above, below, level = gap, -gap - height, -height / 2
        places += [
            (right, level),
            (left, level),
            (middle, above),
            (middle, below),
            (right, above),
            (left, above),
            (right, below),
            (left, below),
        ]
    return places
