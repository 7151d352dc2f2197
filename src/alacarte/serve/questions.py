"""What can be asked of the server, and the answers: plain functions of a workspace, each with its parameters.

The same table makes the routes, checks what is asked, and writes the OpenAPI document. Every number in an answer is the
library's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from alacarte._version import __version__
from alacarte.concordance import Concordance
from alacarte.errors import AlacarteError
from alacarte.model import ALaCarte, explain

LONGEST = 10_000  # characters of a value
MOST_LINES = 1000  # at a time
MOST_SENTENCES = 200

Kind = Literal["string", "integer", "strings"]


@dataclass(frozen=True)
class Workspace:
    """What the server has at hand: a model, corpora by name, and the Python that opens the model."""

    model: ALaCarte
    corpora: Mapping[str, Concordance] = field(default_factory=dict)
    opening: str = 'ALaCarte.pretrained("glove.6B.50d")'

    def corpus(self, name: str, where: list[str]) -> Concordance:
        """A corpus, or the first one for "", or a slice of it."""
        if not self.corpora:
            raise AlacarteError("there is no corpus here; start the server with one: alc serve reviews.concordance")
        if name and name not in self.corpora:
            raise AlacarteError(f"there is no corpus {name!r}; there are {', '.join(map(repr, self.corpora))}")
        corpus = self.corpora[name or next(iter(self.corpora))]
        return corpus.where(*where) if where else corpus


@dataclass(frozen=True)
class Parameter:
    """A value that a question takes."""

    name: str
    kind: Kind
    about: str
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = LONGEST


@dataclass(frozen=True)
class Question:
    """A route: its path, what it answers, its parameters, and the function that answers."""

    path: str
    about: str
    answer: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    method: Literal["get", "post"] = "get"


CORPUS = Parameter("corpus", "string", "the name of the corpus; the first one if left out", default="")
PHRASE = Parameter("phrase", "string", "a word or a phrase", required=True)
WHERE = Parameter("where", "strings", "conditions on columns, such as party=D; all must hold", default=(), most=20)
LIMIT = Parameter("limit", "integer", "how many lines", default=20, least=1, most=MOST_LINES)
SKIP = Parameter("skip", "integer", "how many lines to leave out first", default=0, most=2**40)
K = Parameter("k", "integer", "how many words", default=10, least=1, most=100)


def about(workspace: Workspace) -> Any:
    """What there is: the model and the corpora."""
    model = workspace.model
    return {
        "version": __version__,
        "model": workspace.opening,
        "vectors": {"words": len(model.vectors), "dimensions": model.vectors.dimension},
        "corpora": [
            {
                "name": name,
                "path": str(corpus.path),
                "documents": len(corpus),
                "tokens": corpus.tokens,
                "columns": [{"name": column, "values": _few(corpus.levels(column))} for column in corpus.columns],
            }
            for name, corpus in workspace.corpora.items()
        ],
    }


def _few(values: list[Any], most: int = 40) -> list[Any] | None:
    """The values of a column if they are few enough to choose from."""
    return values if len(values) <= most else None


def invent(workspace: Workspace, sentences: list[str], word: str, k: int) -> Any:
    """A vector for a word from sentences: the words it comes from, its nearest words, how sure it is."""
    explanation = explain(workspace.model, sentences, word, k=k)
    tokens = [list(workspace.model.tokens(sentence)) for sentence in sentences]
    return {**explanation.to_dict(), "tokens": tokens}


def lines(workspace: Workspace, corpus: str, phrase: str, where: list[str], limit: int, skip: int) -> Any:
    """The lines in which a phrase stands."""
    chosen = workspace.corpus(corpus, where)
    count = chosen.count(phrase)
    return {"count": count, "lines": chosen.lines(phrase, limit=limit, skip=skip).to_dict() if count > skip else []}


def influence(workspace: Workspace, corpus: str, phrase: str, where: list[str], limit: int) -> Any:
    """The lines that made the vector of a phrase, those that count most first."""
    return {"lines": workspace.corpus(corpus, where).influence(workspace.model, phrase, limit=limit).to_dict()}


def word(workspace: Workspace, corpus: str, phrase: str, where: list[str], k: int) -> Any:
    """The vector of a phrase in a corpus: its nearest words with intervals, and how sure it is."""
    chosen = workspace.corpus(corpus, where)
    chosen.lines(phrase, limit=1)  # says what to do where there is none
    induced = chosen.induce(workspace.model, [phrase])
    uncertainty = induced.uncertainty
    return {
        "phrase": phrase,
        "uses": induced.count(phrase),
        "documents": len(chosen),
        "confidence": uncertainty.confidence_of(phrase),
        "nearest": uncertainty.nearest(phrase, k).to_dict(),
    }


QUESTIONS = (
    Question("/api/about", "What there is: the model and the corpora.", about),
    Question(
        "/api/invent",
        "A vector for a word, from sentences that use it.",
        invent,
        (
            Parameter("sentences", "strings", "sentences with the word in them", required=True, most=MOST_SENTENCES),
            Parameter("word", "string", "the word", required=True),
            K,
        ),
        "post",
    ),
    Question("/api/lines", "The lines in which a phrase stands.", lines, (CORPUS, PHRASE, WHERE, LIMIT, SKIP)),
    Question("/api/influence", "The lines that made a vector.", influence, (CORPUS, PHRASE, WHERE, LIMIT)),
    Question("/api/word", "The vector of a phrase: nearest words, how sure.", word, (CORPUS, PHRASE, WHERE, K)),
)


class BadQuestion(AlacarteError):
    """A request whose values make no sense."""


def checked(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a request, each of the right type and within its limits; `BadQuestion` otherwise.

    >>> checked(QUESTIONS[2], {"phrase": "bank", "limit": "5"})["limit"]
    5
    """
    known = {parameter.name for parameter in question.parameters}
    strange = next((name for name in given if name not in known), None)
    if strange is not None:
        raise BadQuestion(f"{question.path} takes {', '.join(sorted(known)) or 'nothing'}, and not {strange!r}")
    return {parameter.name: _value(parameter, given) for parameter in question.parameters}


def _value(parameter: Parameter, given: Mapping[str, Any]) -> Any:
    name = parameter.name
    if name not in given:
        if parameter.required:
            raise BadQuestion(f"{name} is missing: {parameter.about}")
        return list(parameter.default) if parameter.kind == "strings" else parameter.default
    value = given[name]
    if parameter.kind == "strings":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise BadQuestion(f"{name} is a list of texts")
        if len(value) > parameter.most or any(len(item) > LONGEST for item in value):
            raise BadQuestion(f"{name}: at most {parameter.most} texts of {LONGEST:,} characters each")
        return value
    if parameter.kind == "integer":
        return _integer(parameter, value)
    if not isinstance(value, str) or not value.strip() or len(value) > parameter.most:
        raise BadQuestion(f"{name} is a text of up to {parameter.most:,} characters that is not empty")
    return value


def _integer(parameter: Parameter, value: Any) -> int:
    try:
        number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or not parameter.least <= number <= parameter.most:
        raise BadQuestion(f"{parameter.name} is a whole number from {parameter.least} to {parameter.most:,}")
    return number


def openapi() -> dict[str, Any]:
    """The OpenAPI document, made from the same table."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "alacarte", "version": __version__},
        "paths": {question.path: {question.method: _operation(question)} for question in QUESTIONS},
    }


def _operation(question: Question) -> dict[str, Any]:
    failed = {"description": "what is wrong, and what to do", "content": _json(_ERROR)}
    operation: dict[str, Any] = {
        "summary": question.about,
        "operationId": question.path.rpartition("/")[2],
        "responses": {
            "200": {"description": "the answer", "content": _json({"type": "object"})},
            "400": failed,
            "403": failed,
        },
    }
    if question.method == "post":
        required = [parameter.name for parameter in question.parameters if parameter.required]
        properties = {parameter.name: _schema(parameter) for parameter in question.parameters}
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        operation["requestBody"] = {"required": True, "content": _json(schema)}
    else:
        operation["parameters"] = [
            {
                "name": parameter.name,
                "in": "query",
                "required": parameter.required,
                "description": parameter.about,
                "schema": _schema(parameter),
            }
            for parameter in question.parameters
        ]
    return operation


_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schema(parameter: Parameter) -> dict[str, Any]:
    if parameter.kind == "integer":
        return {"type": "integer", "minimum": parameter.least, "maximum": parameter.most}
    text = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    if parameter.kind == "strings":
        return {"type": "array", "items": {**text, "minLength": 0}, "maxItems": parameter.most}
    return text
