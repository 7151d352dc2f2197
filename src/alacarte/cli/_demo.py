r"""The whole method on what every Python brings: its own language reference.

Words such as *string* or *package* mean one thing in the newspapers and encyclopedias that GloVe was
made from, and another in this text. The demo embeds them again from their contexts here and compares.

>>> paragraphs({"yield": "Yield\n*****\n\nA *generator* function is only used in\nthis way."})
['A generator function is only used in this way.']
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from alacarte._io.figures import save_figure
from alacarte.comparing.word_map import word_map
from alacarte.contexts.weights import STOP_WORDS
from alacarte.errors import AlacarteError, MissingExtra
from alacarte.model import ALaCarte, InducedVectors
from alacarte.passes.discover import discover
from alacarte.targets.targets import Targets
from alacarte.vectors.geometry import cosines

MODEL = "glove.6B.50d"
DEMO_WORDS = (
    *("string", "exception", "character", "operator", "float", "loop"),
    *("slice", "module", "package", "complex", "import", "generator"),
)
PHRASE = "keyword argument"
INVENTED = "snorvel"
SENTENCE = "She played the snorvel in the orchestra, accompanied by violin and piano."

DEMO_AMONG = 30_000  # first words of the vocabulary, among which neighbours are looked for: rare ones are noise
NEIGHBOURS = 5
TERMS_FROM = 8  # occurrences of the words and phrases of the text that may be neighbours
IN_PICTURE = 8


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
    phrase_occurrences: int
    phrase_neighbours: tuple[str, ...]  # among words and phrases of this text
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
    induced = model.induce(text, Targets([*DEMO_WORDS, PHRASE]) | _terms(text, model), spread=16, show_progress=False)
    shifts = tuple(_shift(induced, word) for word in DEMO_WORDS if word in induced)
    phrase = induced.compared.nearest(induced.compared[PHRASE], NEIGHBOURS, exclude=[PHRASE, f"{PHRASE}s"])
    invented = model.nearest(model.embed(SENTENCE, INVENTED), NEIGHBOURS, among=DEMO_AMONG)
    no_plot = None
    if plot is not None:
        drawn = word_map(induced.uncertainty, [shift.word for shift in shifts[:IN_PICTURE]])
        try:
            save_figure(drawn.plot(title="What words come to mean in Python's language reference"), plot)
        except MissingExtra as missing:
            no_plot = str(missing)
    return DemoResult(
        documents=induced.sums.documents,
        tokens=induced.sums.tokens_read,
        words=shifts,
        phrase_occurrences=induced.count(PHRASE),
        phrase_neighbours=tuple(word for word, _ in phrase),
        invented_neighbours=tuple(word for word, _ in invented),
        plot=str(plot) if plot is not None and no_plot is None else None,
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


def paragraphs(topics: Mapping[str, str]) -> list[str]:
    """Return the paragraphs of prose in the topics, each once."""
    kept: dict[str, None] = {}
    for paragraph in re.split(r"\n\s*\n", _RULE.sub("\n", "\n\n".join(topics.values()))):
        if any(mark in paragraph for mark in _NOT_PROSE) or not _LINKS.search(paragraph):
            continue
        words = _MARKUP.sub(" ", _BROKEN_WORD.sub("-", paragraph)).split()
        prose = sum(_PROSE_WORD.fullmatch(word) is not None for word in words)
        if prose >= 6 and prose >= 0.7 * len(words):
            kept[" ".join(words)] = None
    return list(kept)


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
