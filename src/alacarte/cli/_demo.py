r"""The whole method on what every Python brings: its own language reference, read with GloVe's eyes.

Words such as *string* or *package* mean one thing in the newspapers and encyclopedias that GloVe was
made from, and another in this text. The demo embeds them again from their contexts here and compares.

>>> paragraphs({"yield": "Yield\n*****\n\nA *generator* function is only used in\nthis way."})
{'A generator function is only used in this way.': 'yield'}
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any

import numpy as np

from alacarte._io.figures import Label, place_labels, save_figure
from alacarte.contexts.weights import STOP_WORDS
from alacarte.errors import AlacarteError, MissingExtra, require
from alacarte.model import ALaCarte, InducedVectors
from alacarte.passes.discover import discover
from alacarte.targets.targets import Targets
from alacarte.vectors.geometry import cosines, principal_plane, unit_rows

MODEL = "glove.6B.50d"
DEMO_WORDS = (
    "string",
    "exception",
    "character",
    "operator",
    "float",
    "loop",
    "slice",
    "module",
    "package",
    "complex",
    "import",
    "generator",
)
PHRASE = "keyword argument"
INVENTED = "snorvel"
SENTENCE = "She played the snorvel in the orchestra, accompanied by violin and piano."

DEMO_AMONG = 30_000  # first words of the vocabulary, among which neighbours are looked for: rare ones are noise
NEIGHBOURS = 5
TERMS_FROM = 8  # occurrences of the words and phrases of the text that may be neighbours
IN_PICTURE = 8
DEMO_COLOURS = (
    "tab:blue",
    "tab:orange",
    "tab:green",
    "tab:red",
    "tab:purple",
    "tab:brown",
    "tab:pink",
    "tab:cyan",
)


@dataclass(frozen=True)
class WordShift:
    """A word's neighbours in GloVe, those among the words and phrases of this text, and the likeness of the two."""

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
    """Embed words, a phrase and an invented word again; draw a map of the words in the file `plot`."""
    start = time.perf_counter()
    model = ALaCarte.pretrained(MODEL)
    # Tokens instead of text: a first run would spend longer on compiling the fast tokenizer than this takes.
    known = model.vectors.key_to_index
    text = [model.tokenizer(paragraph, known) for paragraph in paragraphs(language_reference())]
    induced = model.induce(text, Targets([*DEMO_WORDS, PHRASE]) | _terms(text, model), show_progress=False)
    shifts = tuple(_shift(induced, word) for word in DEMO_WORDS if word in induced)
    phrase = induced.compared.nearest(induced.compared[PHRASE], NEIGHBOURS, exclude=[PHRASE, f"{PHRASE}s"])
    invented = model.nearest(model.embed(SENTENCE, INVENTED), NEIGHBOURS, among=DEMO_AMONG)
    drawn, no_plot = None, None
    if plot is not None:
        try:
            draw(plot, induced, shifts[:IN_PICTURE])
            drawn = str(plot)
        except MissingExtra as missing:
            no_plot = str(missing)
    return DemoResult(
        documents=induced.sums.documents,
        tokens=induced.sums.tokens_read,
        words=shifts,
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
    """Return the text of each topic, as `help()` shows it."""
    try:
        from pydoc_data.topics import topics
    except ModuleNotFoundError:
        raise AlacarteError(
            "this Python comes without its language reference (pydoc_data), which the demo reads; use "
            "another build of Python, or start with your own text: alc induce --help"
        ) from None
    return dict(topics)


def paragraphs(topics: Mapping[str, str]) -> dict[str, str]:
    """Return the paragraphs of prose in the topics, each with the first topic that has it."""
    kept: dict[str, str] = {}
    for topic, text in topics.items():
        for paragraph in re.split(r"\n\s*\n", _RULE.sub("\n", text)):
            if any(mark in paragraph for mark in _NOT_PROSE) or not _LINKS.search(paragraph):
                continue
            words = _MARKUP.sub(" ", _BROKEN_WORD.sub("-", paragraph)).split()
            prose = sum(_PROSE_WORD.fullmatch(word) is not None for word in words)
            if prose >= 6 and prose >= 0.7 * len(words):
                kept.setdefault(" ".join(words), topic)
    return kept


def part_of_reference(topic: str) -> str:
    """Return the part of the reference that a topic belongs to.

    >>> [part_of_reference(topic) for topic in ("typesseq", "while", "debugger", "specialnames")]
    ['built-in types', 'statements', 'debugger', 'objects and expressions']
    """
    if iskeyword(topic) or topic in ("assignment", "async", "compound"):
        return "statements"
    if topic.startswith(("types", "bltin-", "string", "formatstrings")) or topic.endswith("-types"):
        return "built-in types"
    return topic if topic == "debugger" else "objects and expressions"


# ------------------------------------------------------------------------------------------------- neighbours


def _terms(text: Sequence[Sequence[str]], model: ALaCarte) -> Targets:
    """Return the words and phrases that are frequent here, without those with function words."""
    frequent = discover(
        model.vectors.words,
        text,
        ngrams=(1, 2),
        min_count=TERMS_FROM,
        tokenizer=model.tokenizer,
        known=True,
        min_score=None,
    )
    split = [key.split(" ") for key in frequent]
    chosen = {*DEMO_WORDS, PHRASE}
    return Targets(tokens for tokens in split if STOP_WORDS.isdisjoint(tokens) and " ".join(tokens) not in chosen)


def _shift(induced: InducedVectors, word: str) -> WordShift:
    vocabulary, here = induced.vocabulary, induced.compared
    before = _first_words(word, vocabulary.nearest(vocabulary[word], 10 * NEIGHBOURS, among=DEMO_AMONG))
    after = _first_words(word, here.nearest(here[word], 10 * NEIGHBOURS))
    return WordShift(word, induced.count(word), before, after, float(cosines(vocabulary[word], here[word])))


def _first_words(word: str, neighbours: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """Return the first neighbours that are words (not numbers, signs or letters) and do not hold the word itself."""
    words = [
        other for other, _ in neighbours if other.replace(" ", "").isalpha() and len(other) > 2 and word not in other
    ]
    return tuple(words[:NEIGHBOURS])


# ---------------------------------------------------------------------------------------------------- picture


def draw(path: Path, induced: InducedVectors, shifts: Sequence[WordShift]) -> None:
    """Draw where GloVe has each word, where this text puts it, and the nearest other word at both ends."""
    require("matplotlib", extra="plot", purpose="drawing the map of words")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    words = [shift.word for shift in shifts]
    vocabulary, here = induced.vocabulary, induced.compared
    anchors = list(dict.fromkeys([s.before[0] for s in shifts] + [s.after[0] for s in shifts]))
    ends = [here[word] if word in here else vocabulary[word] for word in anchors]
    points, shares = principal_plane(unit_rows(np.vstack([vocabulary[words], here[words], *ends])))
    old, new, fixed = np.split(points, [len(words), 2 * len(words)])

    figure = Figure(figsize=(9, 6.5), dpi=130, layout="tight")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = [DEMO_COLOURS[place % len(DEMO_COLOURS)] for place in range(len(words))]
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
    named = [*zip(old, words, colours, strict=True), *zip(new, (f"{word}′" for word in words), colours, strict=True)]
    labels = [Label(float(x), float(y), word, colour, strong=True) for (x, y), word, colour in named]
    labels += [Label(float(x), float(y), word, "0.4") for (x, y), word in zip(fixed, anchors, strict=True)]
    along = np.linspace(0, 1, 60)[:, None, None]
    place_labels(axes, labels, 8.5, clear_of=(old + along * (new - old)).reshape(-1, 2).tolist())
    save_figure(figure, path)
