"""What can be asked of the server, and the answers: plain functions of a workspace. Every number is the library's."""

from collections.abc import Iterator
from typing import Any, TypedDict, Unpack

from alacarte._io.progress import ProgressCallback
from alacarte._version import __version__
from alacarte.concordance import Concordance, over_periods
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.inference.comparing import NUMBERS, Comparison, compare_uses
from alacarte.inference.uncertainty import Uncertainty
from alacarte.inference.vocabulary import compare
from alacarte.inference.word_map import word_map
from alacarte.model import InducedVectors, explain
from alacarte.senses import induce_senses
from alacarte.serve.desk import Desk
from alacarte.serve.jobs import BUILD
from alacarte.serve.questions import Parameter, Question
from alacarte.serve.workspace import Workspace, target_of
from alacarte.text.corpus import Corpus

MOST_LINES = 1000  # at a time
MOST_SENTENCES = 200
MOST_WORDS = 200  # on a map
MOST_BACKGROUND = 200_000
AT_ONCE = 2000  # lines that are read at a time for a stream
COMMON = 500  # first words of the vectors, which are no good examples
SENSE_LINES = 500  # lines of a word that are shown with their sense

CORPUS = Parameter("corpus", "string", "the name of the corpus; the first one if left out", default="")
MODEL = Parameter("model", "string", "the name of the model; the first one if left out", default="")
PHRASE = Parameter("phrase", "string", "a word or a phrase; * stands for any letters, as in immigr*", required=True)
WHERE = Parameter("where", "strings", "conditions on columns, such as party=D; all must hold", default=(), most=20)
LIMIT = Parameter("limit", "integer", "how many lines", default=20, least=1, most=MOST_LINES)
SKIP = Parameter("skip", "integer", "how many lines to leave out first", default=0, most=2**40)
SORT = Parameter(
    "sort", "string", "before, after, or the name of a column; with - in front, the other way", default="", most=200
)
K = Parameter("k", "integer", "how many words", default=10, least=1, most=100)
AMONG = Parameter(
    "among",
    "integer",
    "neighbours are looked for among the first so many words of the vectors, in most files the most frequent",
    default=30_000,
    least=1,
    most=10**9,
)
OTHER_CORPUS = Parameter("other", "string", "the corpus of the other side; the same one if left out", default="")
OTHER_WHERE = Parameter("other_where", "strings", "the conditions of the other side", default=(), most=20)
COLUMN = Parameter("column", "string", "the name of a column of dates or numbers", required=True, most=200)
WORDS = Parameter("words", "strings", "words to compare with", default=(), most=MOST_WORDS)
MOST = Parameter("most", "integer", "how many periods at most", default=12, least=1, most=60)


# ----------------------------------------------------------------------------------------------------- what there is


def about(workspace: Workspace) -> Any:
    """What there is: the models and the corpora."""
    model = workspace.model()
    return {
        "version": __version__,
        "models": [
            {"name": name, "python": opening.python, "imports": opening.imports, "options": opening.options}
            for name, opening in workspace.models.items()
        ],
        "vectors": {"words": len(model.vectors), "dimensions": model.vectors.dimension},
        "spelling": workspace.knows_spelling(),
        "keeps": workspace.folder is not None,
        "corpora": [_described(name, workspace.corpus(name)) for name in workspace.corpora],
    }


def _described(name: str, corpus: Concordance) -> dict[str, Any]:
    return {
        "name": name,
        "path": str(corpus.path),
        "documents": len(corpus),
        "tokens": corpus.tokens,
        "columns": [{"name": column, "values": _few(corpus.levels(column))} for column in corpus.columns],
        "examples": corpus.frequent_words(beyond=COMMON) or corpus.frequent_words(),
    }


def _few(values: list[Any], most: int = 40) -> list[Any] | None:
    """The values of a column if they are few enough to choose from."""
    return values if len(values) <= most else None


# ----------------------------------------------------------------------------------------------------------- invent


def invent(workspace: Workspace, sentences: list[str], word: str, k: int, among: int, model: str, by: str) -> Any:
    """A vector for a word from sentences, from its spelling, or from both: where it comes from, its nearest words."""
    if by == "spelling":
        return _spelled(workspace, word, model, k, among)
    opened = workspace.model(model) if by == "contexts" else workspace.spelling_model(model)
    explanation = explain(opened, sentences, word, k=k, among=among, form=by == "both")
    tokens = [list(opened.tokens(sentence)) for sentence in sentences]
    return {**explanation.to_dict(), "tokens": tokens}


def _spelled(workspace: Workspace, word: str, model: str, k: int, among: int) -> Any:
    """A vector from spelling alone; nothing is known of how sure it is."""
    opened = workspace.spelling_model(model)
    vector = opened.embed_parts([], word).fused[0]
    nearest = [
        {"other": other, "cosine": cosine, "estimate": cosine, "conf_low": None, "conf_high": None}
        for other, cosine in opened.nearest(vector, k, among=among, without=word)
    ]
    return {
        "word": word,
        "contexts": 0,
        "confidence": None,
        "spelling": 1.0,
        "words": [],
        "nearest": nearest,
        "tokens": [],
    }


def learn_spelling(workspace: Workspace, report: ProgressCallback, model: str) -> Any:
    """Learn what spelling says about meaning, from the vectors; kept for later."""
    workspace.spelling_model(model)
    return {"spelling": True}


# ------------------------------------------------------------------------------------------------------------- word


def lines(workspace: Workspace, corpus: str, phrase: str, where: list[str], limit: int, skip: int, sort: str) -> Any:
    """The lines in which a phrase stands."""
    uses = workspace.uses(corpus, where, phrase, sort)
    return {"count": len(uses), "lines": uses.lines(skip, limit).to_dict() if len(uses) > skip else []}


def all_lines(workspace: Workspace, corpus: str, phrase: str, where: list[str], sort: str) -> Iterator[Any]:
    """All lines in which a phrase stands, one at a time."""
    uses = workspace.uses(corpus, where, phrase, sort)
    for low in range(0, len(uses), AT_ONCE):
        yield from uses.lines(low, AT_ONCE).to_dict()


def document(workspace: Workspace, corpus: str, number: int) -> Any:
    """One document, with its columns."""
    chosen = workspace.corpus(corpus)
    text = chosen.text(number)
    return {"text": text if isinstance(text, str) else " ".join(text), "values": chosen.values(number)}


def influence(
    workspace: Workspace,
    report: ProgressCallback,
    corpus: str,
    phrase: str,
    where: list[str],
    limit: int,
    model: str,
) -> Any:
    """The lines that made the vector of a phrase, those that count most first."""
    chosen = workspace.corpus(corpus, where)
    return {"lines": chosen.influence(workspace.model(model), target_of(phrase), limit=limit).to_dict()}


def word(workspace: Workspace, corpus: str, phrase: str, where: list[str], model: str, **near: int) -> Any:
    """The vector of a phrase in a corpus: its nearest words with intervals, and how sure it is."""
    chosen = workspace.corpus(corpus, where)
    induced = _induced(workspace, corpus, phrase, where, model)
    return {"phrase": phrase, "documents": len(chosen), **_likeness(induced, phrase, **near)}


def _induced(workspace: Workspace, corpus: str, phrase: str, where: list[str], model: str) -> InducedVectors:
    workspace.uses(corpus, where, phrase, "")  # says what to do where there is none
    return workspace.corpus(corpus, where).induce(workspace.model(model), target_of(phrase))


def _likeness(induced: InducedVectors, phrase: str, k: int, among: int) -> dict[str, Any]:
    """How often a phrase is used, how sure its vector is, its nearest words; nothing of these from too little text."""
    uncertainty: Uncertainty = induced.uncertainty
    uses = induced.count(phrase)
    try:
        nearest = uncertainty.nearest(phrase, k, among=among).to_dict()
    except NotEnoughData as error:
        return {"uses": uses, "confidence": None, "nearest": [], "reason": error.message}
    return {"uses": uses, "confidence": uncertainty.confidence_of(phrase), "nearest": nearest, "reason": ""}


def over(
    workspace: Workspace,
    corpus: str,
    phrase: str,
    where: list[str],
    column: str,
    words: list[str],
    most: int,
    model: str,
) -> Any:
    """A phrase over time: how often it is used in each period, and how like other words it is."""
    chosen = workspace.corpus(corpus, where)
    periods = over_periods(chosen, workspace.model(model), target_of(phrase), column, words, most=most)
    conditions = {period.name: period.conditions for period in chosen.periods(column, most)}
    return {"rows": [{**row, "where": conditions[row["period"]]} for row in periods.to_dict()]}


def senses(
    workspace: Workspace, report: ProgressCallback, corpus: str, phrase: str, where: list[str], model: str
) -> Any:
    """The senses of a word in a corpus, each with its nearest words and lines."""
    chosen = workspace.corpus(corpus, where).holding(target_of(phrase))
    found = induce_senses(workspace.model(model), chosen, phrase, show_progress=False)
    labelled = [
        {"sense": int(found.labels[row]), "line": found.occurrences.text(row)}
        for row in range(min(len(found.occurrences), SENSE_LINES))
    ]
    return {**found.to_dict(), "lines": labelled}


# ---------------------------------------------------------------------------------------------------------- compare


class Sides(TypedDict):
    """The two sides of a comparison: a corpus, or the same one for "", and the conditions of its documents."""

    corpus: str
    where: list[str]
    other: str
    other_where: list[str]


def compared(workspace: Workspace, phrase: str, k: int, among: int, model: str, **sides: Unpack[Sides]) -> Any:
    """A phrase on two sides: its nearest words on each, and how far apart the two are."""
    both = [
        _induced(workspace, sides["corpus"], phrase, sides["where"], model),
        _induced(workspace, sides["other"] or sides["corpus"], phrase, sides["other_where"], model),
    ]
    shown = [_likeness(induced, phrase, k, among) for induced in both]
    words = list(dict.fromkeys(item["other"] for side in shown for item in side["nearest"]))
    pairs = [_similarities(induced, phrase, words) for induced in both]
    return {
        "difference": _difference(both, phrase).to_dict(),
        "sides": shown,
        "words": [{"word": word, "a": one, "b": two} for word, one, two in zip(words, *pairs, strict=True)],
    }


def _difference(both: list[InducedVectors], phrase: str) -> Comparison:
    """How far apart two sides are; a reason, where nothing can be known of that."""
    try:
        found: Comparison = compare_uses(both[0], both[1], [phrase])[0]
        return found
    except NotEnoughData as error:
        unknown = dict.fromkeys(NUMBERS, float("nan"))
        return Comparison(phrase, both[0].count(phrase), both[1].count(phrase), **unknown, reason=error.message)


def _similarities(induced: InducedVectors, phrase: str, words: list[str]) -> list[Any]:
    try:
        return list(induced.uncertainty.similarities(phrase, words).to_dict()) if words else []
    except NotEnoughData:
        return [None] * len(words)


def differences(workspace: Workspace, report: ProgressCallback, model: str, least: int, **sides: Unpack[Sides]) -> Any:
    """All words that both sides use at least so often: which are used differently, and how sure that is."""
    one = workspace.corpus(sides["corpus"], sides["where"])
    two = workspace.corpus(sides["other"] or sides["corpus"], sides["other_where"])
    if one.path == two.path and set(sides["where"]) == set(sides["other_where"]):
        raise AlacarteError("both sides are the same text; choose two groups, two periods, or two corpora")
    found = compare(workspace.model(model), one, two, min_count=least, contexts=3, show_progress=False, callback=report)
    contexts = {word: {"a": list(lines.a), "b": list(lines.b)} for word, lines in found.contexts.items()}
    return {"words": found.to_dict(), "contexts": contexts}


# -------------------------------------------------------------------------------------------------------------- map


def drawn(workspace: Workspace, corpus: str, where: list[str], words: list[str], background: int, model: str) -> Any:
    """Words on a plane: where their own vectors put them, where the corpus puts them, with regions of doubt."""
    opened, chosen = workspace.model(model), workspace.corpus(corpus, where)
    used = [word for word in dict.fromkeys(words) if chosen.count(word)]
    if len(used) < 2:
        raise AlacarteError("a map needs at least two words that this text uses; name more")
    plane = word_map(chosen.induce(opened, used).uncertainty)
    behind = plane.project(opened.vectors.matrix[:background])
    return {
        "points": plane.to_dict(),
        "missing": [word for word in words if word not in used],
        "background": {
            "words": list(opened.vectors.words[:background]),
            "x": _short(behind[:, 0]),
            "y": _short(behind[:, 1]),
        },
    }


def _short(values: Any) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


# ------------------------------------------------------------------------------------------------ the server's own


def notes(desk: Desk) -> Any:
    """Notes and saved views."""
    return {"notes": desk.notes()}


def keep_note(desk: Desk, number: int, address: str, title: str, text: str) -> Any:
    """Keep a note on a view."""
    return {"number": desk.keep_note(number, address, title, text)}


def delete_note(desk: Desk, number: int) -> Any:
    """Delete a note."""
    desk.delete_note(number)
    return {}


def corpora(desk: Desk) -> Any:
    """Corpora, builds and texts."""
    ours = set(desk.workspace.corpora) - set(desk.workspace.given)
    listed = [{"name": name, "path": str(path), "ours": name in ours} for name, path in desk.workspace.corpora.items()]
    if desk.workspace.folder is None:
        return {"corpora": listed, "builds": [], "texts": [], "folder": None}
    folder = str(desk.workspace.folder / "texts")
    return {"corpora": listed, "builds": desk.builds(), "texts": desk.texts(), "folder": folder}


def build(desk: Desk, name: str, texts: list[str], text: str, columns: list[str]) -> Any:
    """Begin to build a corpus from texts."""
    desk.build(name, texts, text, columns)
    return {}


def resume(desk: Desk, name: str) -> Any:
    """Go on with a build that was stopped or cut off."""
    desk.resume(name)
    return {}


async def cancel(desk: Desk, name: str) -> Any:
    """Stop a build."""
    await desk.cancel(name)
    return {}


async def forget(desk: Desk, name: str) -> Any:
    """Delete a corpus that was built here, or a build."""
    await desk.forget(name)
    return {}


def delete_text(desk: Desk, name: str) -> Any:
    """Delete a text."""
    desk.delete_text(name)
    return {}


def build_corpus(
    workspace: Workspace, report: ProgressCallback, name: str, texts: list[str], text: str, columns: list[str]
) -> Any:
    """What a worker does for `build`."""
    assert workspace.folder is not None
    paths = [workspace.folder / "texts" / each for each in texts]
    source = Corpus(paths, text=text, columns=columns)
    path = workspace.folder / "corpora" / f"{name}.concordance"
    built = Concordance.build(workspace.model().vectors, source, path, show_progress=False, callback=report)
    return {"documents": len(built), "tokens": built.tokens}


# ---------------------------------------------------------------------------------------------------------- the table

_NAME = Parameter("name", "string", "the name of a corpus", required=True, most=80)
_TWO = (CORPUS, WHERE, OTHER_CORPUS, OTHER_WHERE)
QUESTIONS = (
    Question("/api/about", "What there is: the models and the corpora.", about),
    Question(
        "/api/invent",
        "A vector for a word, from sentences that use it.",
        invent,
        (
            Parameter("sentences", "strings", "sentences with the word in them", default=(), most=MOST_SENTENCES),
            Parameter("word", "string", "the word", required=True, most=200),
            K,
            AMONG,
            MODEL,
            Parameter(
                "by", "choice", "what it is made from", default="contexts", choices=("contexts", "both", "spelling")
            ),
        ),
        "post",
    ),
    Question("/api/spelling", "Learn what spelling says about meaning.", learn_spelling, (MODEL,), "post", "job"),
    Question("/api/lines", "The lines in which a phrase stands.", lines, (CORPUS, PHRASE, WHERE, LIMIT, SKIP, SORT)),
    Question(
        "/api/document",
        "One document, with its columns.",
        document,
        (CORPUS, Parameter("number", "integer", "its number, as in the lines", required=True, most=2**40)),
    ),
    Question("/api/all-lines", "All of these lines.", all_lines, (CORPUS, PHRASE, WHERE, SORT), manner="lines"),
    Question(
        "/api/influence",
        "The lines that made a vector, those that count most first.",
        influence,
        (CORPUS, PHRASE, WHERE, LIMIT, MODEL),
        manner="job",
    ),
    Question(
        "/api/word",
        "The vector of a phrase: nearest words, how sure.",
        word,
        (CORPUS, PHRASE, WHERE, K, AMONG, MODEL),
    ),
    Question("/api/over", "A phrase over time.", over, (CORPUS, PHRASE, WHERE, COLUMN, WORDS, MOST, MODEL)),
    Question("/api/senses", "The senses of a word.", senses, (CORPUS, PHRASE, WHERE, MODEL), manner="job"),
    Question("/api/compare", "A phrase on two sides.", compared, (PHRASE, *_TWO, K, AMONG, MODEL)),
    Question(
        "/api/differences",
        "All words on two sides: which are used differently.",
        differences,
        (*_TWO, Parameter("least", "integer", "uses on either side, at least", default=20, least=2, most=10**9), MODEL),
        manner="job",
    ),
    Question(
        "/api/map",
        "Words on a plane, with regions of doubt.",
        drawn,
        (
            CORPUS,
            WHERE,
            WORDS,
            Parameter("background", "integer", "how many other words to draw", default=2000, most=MOST_BACKGROUND),
            MODEL,
        ),
    ),
    Question("/api/notes", "Notes and saved views.", notes, manner="desk"),
    Question(
        "/api/note",
        "Keep a note on a view.",
        keep_note,
        (
            Parameter("number", "integer", "the note to change; 0 for a new one", default=0, most=2**53),
            Parameter("address", "string", "the address of the view, from its / on", required=True),
            Parameter("title", "string", "a title", default="", most=200),
            Parameter("text", "string", "the note", default=""),
        ),
        "post",
        "desk",
    ),
    Question(
        "/api/note/delete",
        "Delete a note.",
        delete_note,
        (Parameter("number", "integer", "the note", required=True, least=1, most=2**53),),
        "post",
        "desk",
    ),
    Question("/api/corpora", "Corpora, builds and texts.", corpora, manner="desk"),
    Question(
        "/api/build",
        "Begin to build a corpus from texts.",
        build,
        (
            _NAME,
            Parameter("texts", "strings", "the names of texts", required=True, most=1000),
            Parameter("text", "string", "the column or field with the text", default="text", most=200),
            Parameter("columns", "strings", "columns or fields to keep", default=(), most=40),
        ),
        "post",
        "desk",
    ),
    Question("/api/build/cancel", "Stop a build.", cancel, (_NAME,), "post", "desk"),
    Question("/api/build/resume", "Go on with a build.", resume, (_NAME,), "post", "desk"),
    Question("/api/corpus/delete", "Delete a corpus that was built here.", forget, (_NAME,), "post", "desk"),
    Question(
        "/api/text/delete",
        "Delete a text.",
        delete_text,
        (Parameter("name", "string", "the name of a text", required=True, most=80),),
        "post",
        "desk",
    ),
)
INSIDE = (Question(BUILD, "What a worker does for a build.", build_corpus, manner="job"),)
