"""What can be asked of the server, and the answers: plain functions of a workspace. Every number is the library's."""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any, Literal

from alacarte._io.progress import ProgressCallback
from alacarte._version import __version__
from alacarte.comparing.clusters import level_between
from alacarte.comparing.vocabulary import compare
from alacarte.comparing.word_map import word_map
from alacarte.concordance import Concordance, collocates, keywords, over_periods
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.model import ALaCarte, InducedVectors, explain
from alacarte.passes.discover import discover
from alacarte.senses import induce_senses
from alacarte.serve.columns import by_years, described_column, groups_to_compare, matching
from alacarte.serve.desk import Desk
from alacarte.serve.findings import Telling, first_words, function_words, moved_between
from alacarte.serve.jobs import BUILD
from alacarte.serve.preview import previewed
from alacarte.serve.questions import Parameter, question
from alacarte.serve.speeches import FINDING, NAME
from alacarte.serve.workspace import Workspace, checked_name, target_of
from alacarte.text.corpus import Corpus

MOST_WORDS = 200  # on a map
COMMON = 500  # first words of the vectors, which are no good examples
GENERAL = 1_500  # first words of the vectors, which no corpus opens on: kind, rather, finally
SENSE_LINES = 500  # lines of a word that are shown with their sense
CHANCE = 0.05  # of a difference by accident, from which on words are said to be used differently
LEAST = 20  # uses that a word needs on either side to be compared
HEADLINE = 12_000  # tokens of a corpus in which a word that it opens on occurs once on either side, at least
FINDINGS = 16  # words that moved, among which one is looked for that moved from one word to another
MOVED, MOVED_AMONG = 16, 80  # words of a map that nobody named, and the frequent words that they are chosen from
SAME = 4  # letters that two forms of one word have in common
AMONG = 30_000  # words of the vectors among which neighbours are looked for
SURPRISING_AMONG = 200  # frequent words, among which one is looked for that a text without sides opens on
OWN = 12  # words and phrases of a corpus that are listed
OWN_FROM = 8  # uses of them, at least
VALUES = 20  # of a column that are offered while one types

CorpusName = Annotated[str, Parameter("the name of the corpus; the first one if left out", default="")]
ModelName = Annotated[str, Parameter("the name of the model; the first one if left out", default="")]
Phrase = Annotated[str, Parameter("a word or a phrase; * is any letters, as in immigr*", required=True)]
Where = Annotated[list[str], Parameter("conditions on columns, such as party=D; all must hold", most=20)]
Other = Annotated[str, Parameter("the corpus of the other side; the same one if left out", default="")]
OtherWhere = Annotated[list[str], Parameter("the conditions of the other side", most=20)]
Limit = Annotated[int, Parameter("how many lines", default=20, least=1, most=1000)]
Sort = Annotated[
    str,
    Parameter(
        "before, after, their second or third word (after 2), or the header of a column of lines; - turns it round",
        default="",
        most=200,
    ),
]
Around = Annotated[int, Parameter("how many words to show on either side", default=10, most=100)]
K = Annotated[int, Parameter("how many words", default=10, least=1, most=100)]
Among = Annotated[
    int,
    Parameter(
        "how many of the first words of the vectors, in most files the most frequent, neighbours are looked for among",
        default=AMONG,
        least=1,
        most=10**9,
    ),
]
Words = Annotated[list[str], Parameter("words to compare with", most=MOST_WORDS)]


# ----------------------------------------------------------------------------------------------------- what there is


def about(workspace: Workspace) -> Any:
    """Return what there is: the models and the corpora."""
    model = workspace.model()
    corpora, damaged = [], {}
    for name in workspace.corpora:
        try:
            corpora.append(_described(name, workspace.corpus(name)))
        except AlacarteError as error:  # the others can be asked all the same
            damaged[name] = str(error)
    return {
        "version": __version__,
        "models": [
            {"name": name, "python": opening.python, "imports": opening.imports, "options": opening.options}
            for name, opening in workspace.models.items()
        ],
        "vectors": {"words": len(model.vectors), "dimensions": model.vectors.dimension},
        "spelling": workspace.knows_spelling(),
        "keeps": workspace.folder is not None,
        "corpora": corpora,
        "damaged": damaged,
    }


def _described(name: str, corpus: Concordance) -> dict[str, Any]:
    columns = [described_column(corpus, column) for column in corpus.columns]
    return {
        "name": name,
        "path": str(corpus.path),
        "documents": len(corpus),
        "tokens": corpus.tokens,
        "columns": columns,
        "sides": groups_to_compare(corpus, columns),
        "examples": corpus.frequent_words(beyond=COMMON) or corpus.frequent_words(),
        "finding": FINDING if name == NAME else None,
    }


def values(
    workspace: Workspace,
    corpus: CorpusName,
    column: Annotated[str, Parameter("the name of a column", required=True, most=200)],
    part: Annotated[str, Parameter("letters that the values hold", default="", most=200)],
) -> Any:
    """Values of a column that hold some letters, those of most documents first."""
    return {"values": matching(workspace.corpus(corpus), column, part, VALUES)}


# ----------------------------------------------------------------------------------------------------------- invent


def invent(
    workspace: Workspace,
    sentences: Annotated[list[str], Parameter("sentences with the word in them", most=200)],
    word: Annotated[str, Parameter("the word", required=True, most=200)],
    k: K,
    among: Among,
    model: ModelName,
    by: Annotated[Literal["contexts", "both", "spelling"], Parameter("what it is computed from", default="contexts")],
) -> Any:
    """Return a vector for a word from sentences, from its spelling or from both, with its nearest words."""
    if by == "spelling":
        return _spelled(workspace, word, model, k, among)
    opened = workspace.model(model) if by == "contexts" else workspace.spelling_model(model)
    explanation = explain(opened, sentences, word, k=k, among=among, form=by == "both")
    tokens = [list(opened.tokens(sentence)) for sentence in sentences]
    return {**explanation.to_dict(), "tokens": tokens}


def _spelled(workspace: Workspace, word: str, model: str, k: int, among: int) -> Any:
    """Return a vector from spelling alone, of which no standard error is known."""
    opened = workspace.spelling_model(model)
    nearest = opened.nearest(opened.embed_parts([], word).fused[0], k, among=among, without=word)
    unknown: dict[str, Any] = {"contexts": 0, "confidence": None, "words": [], "tokens": []}
    return {"word": word, "spelling": 1.0, "nearest": _unmeasured(nearest), **unknown}


def _unmeasured(nearest: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Nearest words of a vector of which no standard error is known."""
    unknown = {"conf_low": None, "conf_high": None}
    return [{"other": other, "cosine": cosine, "estimate": cosine, **unknown} for other, cosine in nearest]


def learn_spelling(workspace: Workspace, report: ProgressCallback, model: ModelName) -> Any:
    """Learn what spelling says about meaning, from the vectors; kept for later."""
    workspace.spelling_model(model)
    return {"spelling": True}


# ------------------------------------------------------------------------------------------------------------- word


def lines(
    workspace: Workspace,
    corpus: CorpusName,
    phrase: Phrase,
    where: Where,
    limit: Limit,
    skip: Annotated[int, Parameter("how many lines to leave out first", default=0, most=2**40)],
    sort: Sort,
    around: Around,
) -> Any:
    """Return the lines in which a phrase occurs."""
    uses = workspace.uses(corpus, where, phrase, sort)
    return {"count": len(uses), "lines": uses.lines(skip, limit, around=around).to_dict() if len(uses) > skip else []}


def document(
    workspace: Workspace,
    corpus: CorpusName,
    number: Annotated[int, Parameter("its number, as in the lines", required=True, most=2**40)],
) -> Any:
    """One document, with its columns."""
    chosen = workspace.corpus(corpus)
    text = chosen.text(number)
    return {"text": text if isinstance(text, str) else " ".join(text), "values": chosen.values(number)}


def stand_near(
    workspace: Workspace,
    corpus: CorpusName,
    phrase: Phrase,
    where: Where,
    window: Annotated[int, Parameter("how many words on either side are near", default=5, least=1, most=50)],
    limit: Limit,
    model: ModelName,
) -> Any:
    """Return the words that occur near a phrase more often than by chance, the surest first; which are grammar."""
    chosen = workspace.corpus(corpus, where)
    rows = collocates(chosen, target_of(phrase), window=window, limit=limit).to_dict()
    return {"words": rows, "grammar": _grammar(workspace, rows, model)}


def _grammar(workspace: Workspace, rows: list[dict[str, Any]], model: str) -> list[str]:
    """Return the words of some rows that carry grammar; the page folds them."""
    known = function_words(workspace.model(model).vectors)
    return [row["word"] for row in rows if row["word"] in known]


def influence(
    workspace: Workspace,
    report: ProgressCallback,
    corpus: CorpusName,
    phrase: Phrase,
    where: Where,
    limit: Limit,
    model: ModelName,
) -> Any:
    """Return the lines that the vector of a phrase is computed from, those that count most first."""
    chosen = workspace.corpus(corpus, where)
    return {"lines": chosen.influence(workspace.model(model), target_of(phrase), limit=limit).to_dict()}


def word(
    workspace: Workspace, corpus: CorpusName, phrase: Phrase, where: Where, k: K, among: Among, model: ModelName
) -> Any:
    """Return the vector of a phrase in a corpus: its nearest words with intervals, and the confidence in it."""
    chosen = workspace.corpus(corpus, where)
    facts = {"phrase": phrase, "documents": len(chosen), "elsewhere": []}
    if len(chosen) and not chosen.count(target_of(phrase)):
        unused = _unused(workspace, phrase, k, among, model)
        if unused["nearest"] or unused["elsewhere"]:
            return {**facts, **unused}
    return {**facts, **_likeness(_induced(workspace, corpus, phrase, where, model), phrase, k, among)}


def _unused(workspace: Workspace, phrase: str, k: int, among: int, model: str) -> dict[str, Any]:
    """Return what is known of a word that a corpus does not use: its own vector's neighbours, and who uses it."""
    opened = workspace.model(model)
    known = phrase in opened.vectors
    nearest = opened.vectors.nearest(opened.vectors[phrase], k, among=among, exclude=[phrase]) if known else []
    others = {name: whole for name in workspace.corpora if (whole := _opened(workspace, name)) is not None}
    counts = {name: whole.count(target_of(phrase)) for name, whole in others.items()}
    elsewhere = [{"corpus": name, "uses": count} for name, count in counts.items() if count]
    return {"uses": 0, "confidence": None, "nearest": _unmeasured(nearest), "reason": "", "elsewhere": elsewhere}


def _opened(workspace: Workspace, name: str) -> Concordance | None:
    try:
        return workspace.corpus(name)
    except AlacarteError:  # damaged; the others can be asked all the same
        return None


def quality(workspace: Workspace, corpus: CorpusName, where: Where, model: ModelName) -> Any:
    """Return how well words of a corpus are found again when they are treated as new; nothing for a plain model."""
    chosen = workspace.corpus(corpus, where)
    found = chosen.induce(workspace.model(model), chosen.frequent_words()[:1]).found_again
    return {} if found is None else {"said": found.summary, "poor": found.is_poor, "words": found.to_dict()}


def _induced(workspace: Workspace, corpus: str, phrase: str, where: list[str], model: str) -> InducedVectors:
    workspace.uses(corpus, where, phrase, "")  # says what to do where there is none
    return workspace.induced(corpus, where, phrase, model)


def _likeness(induced: InducedVectors, phrase: str, k: int, among: int) -> dict[str, Any]:
    """How often a phrase is used, the confidence in its vector, its nearest words; none of these from too little."""
    uses = induced.count(phrase)
    try:
        nearest = induced.uncertainty.nearest(phrase, k, among=among).to_dict()
    except NotEnoughData as error:
        return {"uses": uses, "confidence": None, "nearest": [], "reason": error.message}
    return {"uses": uses, "confidence": induced.uncertainty.confidence_of(phrase), "nearest": nearest, "reason": ""}


def over(
    workspace: Workspace,
    corpus: CorpusName,
    phrase: Phrase,
    where: Where,
    column: Annotated[str, Parameter("the name of a column of dates or numbers", required=True, most=200)],
    words: Words,
    most: Annotated[int, Parameter("how many periods at most", default=12, least=1, most=60)],
    model: ModelName,
) -> Any:
    """Return a phrase over time: how often it is used in each period, and how like other words it is."""
    chosen = workspace.corpus(corpus, where)
    periods = over_periods(chosen, workspace.model(model), target_of(phrase), column, words, most=most)
    conditions = {period.name: period.conditions for period in chosen.periods(column, most)}
    return {"rows": [{**row, "where": conditions[row["period"]]} for row in periods.to_dict()]}


def senses(
    workspace: Workspace,
    report: ProgressCallback,
    corpus: CorpusName,
    phrase: Phrase,
    where: Where,
    model: ModelName,
) -> Any:
    """Return the senses of a word in a corpus, each with its nearest words and lines."""
    chosen = workspace.corpus(corpus, where).holding(target_of(phrase))
    found = induce_senses(workspace.model(model), chosen, phrase, show_progress=False)
    labelled = [
        {"sense": int(found.labels[row]), "line": found.occurrences.text(row)}
        for row in range(min(len(found.occurrences), SENSE_LINES))
    ]
    return {**found.to_dict(), "lines": labelled}


# ---------------------------------------------------------------------------------------------------------- compare


def two_sides(
    workspace: Workspace,
    phrase: Phrase,
    corpus: CorpusName,
    where: Where,
    other: Other,
    other_where: OtherWhere,
    k: K,
    among: Among,
    model: ModelName,
) -> Any:
    """Return a phrase on two sides: its nearest words on each, and how like all of these it is on either."""
    texts = [workspace.corpus(corpus, where), workspace.corpus(other or corpus, other_where)]
    both = [
        _induced(workspace, corpus, phrase, where, model),
        _induced(workspace, other or corpus, phrase, other_where, model),
    ]
    sides = [_likeness(induced, phrase, k, among) for induced in both]
    words = list(dict.fromkeys(item["other"] for side in sides for item in side["nearest"]))
    pairs = [_similarities(induced, phrase, words) for induced in both]
    rows = [{"word": word, "a": one, "b": two} for word, one, two in zip(words, *pairs, strict=True)]
    tells = Telling(texts, workspace.model(model).vectors)
    return {"sides": sides, "words": rows, "moved": moved_between(rows, tells)}


def _similarities(induced: InducedVectors, phrase: str, words: list[str]) -> list[Any]:
    try:
        return list(induced.uncertainty.similarities(phrase, words).to_dict()) if words else []
    except NotEnoughData:
        return [None] * len(words)


def differences(
    workspace: Workspace,
    report: ProgressCallback,
    corpus: CorpusName,
    where: Where,
    other: Other,
    other_where: OtherWhere,
    least: Annotated[int, Parameter("uses on either side, at least", default=20, least=2, most=10**9)],
    phrase: Annotated[str, Parameter("a word or phrase to test alone; all words if left out", default="")],
    model: ModelName,
) -> Any:
    """All words on two sides, with intervals: which are used differently, the surest first, which are frequent."""
    one, two = workspace.corpus(corpus, where), workspace.corpus(other or corpus, other_where)
    if one.path == two.path and set(where) == set(other_where):
        raise AlacarteError("both sides are the same text; choose two groups, two periods, or two corpora")
    opened = workspace.model(model)
    options: dict[str, Any] = {"min_count": least, "contexts": 0 if phrase else 3, "vocabulary": not phrase}
    targets = target_of(phrase) if phrase else None
    found = compare(opened, one, two, targets, show_progress=False, callback=report, **options)
    contexts = {word: {"a": list(lines.a), "b": list(lines.b)} for word, lines in found.contexts.items()}
    changed = [item.word for item in found.changed(CHANCE) if item.conf_low > 0]
    known = function_words(opened.vectors)
    grammar = [word for word in changed if word in known or not any(map(str.isalpha, word))]
    level = level_between(one, two) if one.path == two.path else None
    return {"words": found.to_dict(), "changed": changed, "grammar": grammar, "contexts": contexts, "level": level}


def more_often(
    workspace: Workspace,
    corpus: CorpusName,
    where: Where,
    other: Other,
    other_where: OtherWhere,
    limit: Limit,
    model: ModelName,
) -> Any:
    """Return the words that one side uses more often than the other, the surest first; which are grammar."""
    one, two = workspace.corpus(corpus, where), workspace.corpus(other or corpus, other_where)
    rows = keywords(one, two, limit=limit).to_dict()
    return {"words": rows, "grammar": _grammar(workspace, rows, model)}


def finding(workspace: Workspace, report: ProgressCallback, corpus: CorpusName, model: ModelName) -> Any:
    """Return a word of a corpus that is worth a look, and on which two sides: what the page opens on."""
    chosen, opened = workspace.corpus(corpus), workspace.model(model)
    tells, common = Telling([chosen], opened.vectors), set(first_words(opened.vectors, GENERAL))
    sides = groups_to_compare(chosen, [described_column(chosen, column) for column in chosen.columns])
    if sides is not None:
        both = chosen.where(*sides[0]), chosen.where(*sides[1])
        options: dict[str, Any] = {"min_count": max(LEAST, chosen.tokens // HEADLINE), "contexts": 0}
        try:
            compared = compare(opened, *both, show_progress=False, callback=report, **options)
            changed = [item.word for item in compared.changed(CHANCE) if item.conf_low > 0]
        except AlacarteError:  # too little text
            changed = []
        found = list(islice((word for word in changed if word not in common and tells(word)), FINDINGS))
        partly = ""
        for word in found:
            moved = two_sides(workspace, word, corpus, sides[0], corpus, sides[1], 10, AMONG, model)["moved"]
            if any(moved):
                partly = partly or word
            if all(moved):
                partly = word
                break
        phrase = partly or next(iter(found), "")
        if phrase:
            return {"phrase": phrase, "where": sides[0], "other_where": sides[1]}
    return {"phrase": _surprising(opened, chosen, lambda word: word not in common and tells(word))}


def _surprising(model: ALaCarte, corpus: Concordance, tells: Callable[[str], bool]) -> str:
    """Return a word that a text moves, and whose nearest word in the text is another word that says something."""
    moved = _moved(model, corpus, SURPRISING_AMONG)
    uncertainty = corpus.induce(model, moved).uncertainty
    for word in filter(tells, moved):
        first = uncertainty.nearest(word, 1, among=AMONG).to_dict()[0]["other"]
        if first[:SAME] != word[:SAME] and tells(first):
            return word
    return next(iter(moved), "")


# -------------------------------------------------------------------------------------------------------------- map


def word_positions(
    workspace: Workspace,
    corpus: CorpusName,
    where: Where,
    words: Words,
    background: Annotated[int, Parameter("how many other words to draw", default=2000, most=200_000)],
    model: ModelName,
) -> Any:
    """Words on a plane: where their own vectors put them, where the corpus puts them, with regions of doubt."""
    opened, chosen = workspace.model(model), workspace.corpus(corpus, where)
    asked = words or _moved(opened, chosen, MOVED_AMONG)[:MOVED]
    used = [word for word in dict.fromkeys(asked) if chosen.count(word)]
    if len(used) < 2:
        raise AlacarteError("a map needs at least two words that this text uses; name more")
    plane = word_map(chosen.induce(opened, used).uncertainty)
    behind = plane.project(opened.vectors.matrix[:background])
    return {
        "points": plane.to_dict(),
        "missing": [word for word in words if word not in used],
        "background": {
            "words": list(opened.vectors.words[:background]),
            "x": [round(value, 4) for value in behind[:, 0].tolist()],
            "y": [round(value, 4) for value in behind[:, 1].tolist()],
        },
    }


def _moved(model: ALaCarte, corpus: Concordance, among: int) -> list[str]:
    """Return frequent words, those first that a text surely moves most beyond what all of its words have in common."""
    common = corpus.frequent_words(among, beyond=COMMON) or corpus.frequent_words(among)
    grammar = function_words(model.vectors)
    frequent = [word for word in common if word not in grammar]
    uncertainty = corpus.induce(model, frequent).uncertainty
    high = {}
    for word in frequent:
        with suppress(NotEnoughData):
            high[word] = uncertainty.similarity(word, word).conf_high
    return sorted(high, key=lambda word: high[word])


# ------------------------------------------------------------------------------------------------- a corpus as a whole


def overview(workspace: Workspace, report: ProgressCallback, corpus: CorpusName, model: ModelName) -> Any:
    """Return a corpus as a whole: its documents over time, and its own words and phrases."""
    chosen, vectors = workspace.corpus(corpus), workspace.model(model).vectors
    dates = [column for column in chosen.columns if described_column(chosen, column)["kind"] == "date"]
    options: dict[str, Any] = {"show_progress": False, "callback": report, "threads": 1}
    found = discover(vectors, chosen, ngrams=(1, 2), min_count=OWN_FROM, **options)
    rows = sorted(found.to_dict(), key=lambda row: -row["count"])
    return {
        "column": dates[0] if dates else None,
        "periods": by_years(chosen, dates[0]) if dates else [],
        "words": [row for row in rows if " " not in row["word"]][:OWN],
        "phrases": [row for row in rows if " " in row["word"]][:OWN],
    }


# ---------------------------------------------------------------------------------------------------------- the table


def preview(
    workspace: Workspace, name: Annotated[str, Parameter("the name of a text that was sent", required=True, most=80)]
) -> Any:
    """Return the first rows of a text that was sent, the kinds of its columns, and which is likely to be the text."""
    if workspace.folder is None:
        raise AlacarteError("this server has no folder for texts; start it with alc serve --workspace DIR")
    return previewed(workspace.folder / "texts" / checked_name(name))


def build_corpus(
    workspace: Workspace, report: ProgressCallback, name: str, texts: list[str], text: str, columns: list[str]
) -> Any:
    """Return what a worker does for a build."""
    assert workspace.folder is not None
    source = Corpus([workspace.folder / "texts" / each for each in texts], text=text, columns=columns)
    path = workspace.corpus_path(name)
    built = Concordance.build(workspace.model().vectors, source, path, show_progress=False, callback=report)
    return {"documents": len(built), "tokens": built.tokens}


QUESTIONS = (
    question("/api/about", about, manner="here"),
    question("/api/values", values, manner="lines"),
    question("/api/invent", invent, "post"),
    question("/api/spelling", learn_spelling, "post", "job"),
    question("/api/lines", lines, manner="lines"),
    question("/api/collocates", stand_near, manner="lines"),
    question("/api/document", document, manner="lines"),
    question("/api/influence", influence, manner="job"),
    question("/api/word", word),
    question("/api/quality", quality),
    question("/api/over", over),
    question("/api/senses", senses, manner="job"),
    question("/api/compare", two_sides),
    question("/api/differences", differences, manner="job"),
    question("/api/keywords", more_often, manner="lines"),
    question("/api/finding", finding, manner="job"),
    question("/api/map", word_positions),
    question("/api/notes", Desk.notes, manner="desk"),
    question("/api/note", Desk.keep_note, "post", "desk"),
    question("/api/note/delete", Desk.delete_note, "post", "desk"),
    question("/api/corpora", Desk.overview, manner="desk"),
    question("/api/overview", overview, manner="job"),
    question("/api/preview", preview, manner="lines"),
    question("/api/upload", Desk.receive, "post", "upload"),
    question("/api/build", Desk.build, "post", "desk"),
    question("/api/build/cancel", Desk.cancel, "post", "desk"),
    question("/api/build/resume", Desk.resume, "post", "desk"),
    question("/api/corpus/delete", Desk.forget, "post", "desk"),
    question("/api/text/delete", Desk.delete_text, "post", "desk"),
)
INSIDE = (question(BUILD, build_corpus, manner="job"),)
