"""What a question is: its path, its parameters, and the function that answers it.

One table of questions (`alacarte.serve.answers`) makes the routes, checks what is asked, and writes the OpenAPI
document.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from alacarte._version import __version__
from alacarte.errors import AlacarteError

LONGEST = 10_000  # characters of a value

Kind = Literal["string", "integer", "strings", "choice"]
Manner = Literal["quick", "job", "desk", "lines"]


@dataclass(frozen=True)
class Parameter:
    """A value that a question takes. A string that is not required may be empty."""

    name: str
    kind: Kind
    about: str
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = LONGEST
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A route: its path, what it answers, its parameters, and the function that answers.

    How it is answered (`manner`): "quick", at once, in a thread; "job", in a process of its own that is told to stop
    when nobody waits any more; "desk", by what the server keeps (notes, corpora that are being built); "lines", as a
    stream of JSON, a line each.
    """

    path: str
    about: str
    answer: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    method: Literal["get", "post"] = "get"
    manner: Manner = "quick"


class BadQuestion(AlacarteError):
    """A request whose values make no sense."""


def checked(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a request, each of the right type and within its limits; `BadQuestion` otherwise.

    >>> limit = Parameter("limit", "integer", "how many lines", default=20, least=1, most=100)
    >>> checked(Question("/api/lines", "Lines.", print, (limit,)), {"limit": "5"})
    {'limit': 5}
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
    if parameter.kind == "choice":
        if value not in parameter.choices:
            raise BadQuestion(f"{name} is one of {', '.join(parameter.choices)}")
        return value
    if value == "" and not parameter.required:
        return value
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


def openapi(questions: Iterable[Question]) -> dict[str, Any]:
    """The OpenAPI document of these questions."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "alacarte", "version": __version__},
        "paths": {question.path: {question.method: _operation(question)} for question in questions},
    }


def _operation(question: Question) -> dict[str, Any]:
    failed = {"description": "what is wrong, and what to do", "content": _json(_ERROR)}
    operation: dict[str, Any] = {
        "summary": question.about,
        "operationId": question.path.rpartition("/")[2],
        "responses": {
            "200": {"description": _ANSWERS[question.manner], "content": _content(question)},
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


_ANSWERS: dict[Manner, str] = {
    "quick": "the answer",
    "desk": "the answer",
    "job": 'lines of JSON: {"progress": …} any number of times, then {"answer": …} or {"error": …}',
    "lines": "lines of JSON, one for each line of the text",
}


def _content(question: Question) -> dict[str, Any]:
    kind = "application/x-ndjson" if question.manner in ("job", "lines") else "application/json"
    return {kind: {"schema": {"type": "string" if "x-" in kind else "object"}}}


_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schema(parameter: Parameter) -> dict[str, Any]:
    if parameter.kind == "integer":
        return {"type": "integer", "minimum": parameter.least, "maximum": parameter.most}
    if parameter.kind == "choice":
        return {"type": "string", "enum": list(parameter.choices)}
    if parameter.kind == "strings":
        return {"type": "array", "items": {"type": "string", "maxLength": LONGEST}, "maxItems": parameter.most}
    if not parameter.required:
        return {"type": "string", "maxLength": parameter.most}
    return {"type": "string", "minLength": 1, "maxLength": parameter.most, "pattern": r"\S"}
