"""What a question is: its path, and the function that answers it, whose signature says what it takes.

One table of questions (`alacarte.serve.answers`) gives the routes, checks what is asked, and writes the OpenAPI
document.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from alacarte._io.printing import finite
from alacarte._version import __version__
from alacarte.errors import AlacarteError

LONGEST_TEXT = 10_000  # characters of a value

ParameterKind = Literal["string", "integer", "strings", "choice"]
Manner = Literal["here", "words", "lines", "job", "desk", "upload"]
PARAMETER_KINDS: dict[Any, ParameterKind] = {str: "string", int: "integer", list[str]: "strings"}


@dataclass(frozen=True)
class Parameter:
    """A value that a question takes, as a note on an argument. A string that is not required may be empty."""

    about: str
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = LONGEST_TEXT
    name: str = ""
    kind: ParameterKind = "string"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A route: its path, what it answers, its parameters, and the function that answers.

    How it is answered (`manner`): "here", in a thread of the server; "words" and "lines", by one of the processes that
    answer short questions of either kind; "job", in a process of its own; "desk", by what the server keeps (notes,
    corpora that are being built); "upload", by the desk, which is sent a file. All processes stop when nobody waits any
    more.
    """

    path: str
    about: str
    answer: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    method: Literal["get", "post"] = "get"
    manner: Manner = "words"

    @property
    def in_query(self) -> bool:
        """Whether the values are in the address."""
        return self.method == "get" or self.manner == "upload"


def question(
    path: str, answer: Callable[..., Any], method: Literal["get", "post"] = "get", manner: Manner = "words"
) -> Question:
    """Return the question that a function answers; its parameters are the arguments that are annotated as such.

    >>> def lines(workspace: object, limit: Annotated[int, Parameter("how many lines", default=20)]) -> None:
    ...     '''The lines.'''
    >>> question("/api/lines", lines).parameters[0].kind
    'integer'
    """
    hints = get_type_hints(answer, include_extras=True)
    parameters = tuple(_noted(name, hint) for name, hint in hints.items() if get_origin(hint) is Annotated)
    return Question(path, (answer.__doc__ or "").partition("\n")[0], answer, parameters, method, manner)


def _noted(name: str, hint: Any) -> Parameter:
    note: Parameter
    plain, note = get_args(hint)
    if get_origin(plain) is Literal:
        return replace(note, name=name, kind="choice", choices=get_args(plain))
    return replace(note, name=name, kind=PARAMETER_KINDS[plain])


class BadQuestion(AlacarteError):
    """A request whose values make no sense."""


def checked(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a request, each of the right type and within its limits; `BadQuestion` otherwise.

    >>> limit = Parameter("how many lines", default=20, least=1, most=100, name="limit", kind="integer")
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
        return list(parameter.default or ()) if parameter.kind == "strings" else parameter.default
    value = given[name]
    if parameter.kind == "strings":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise BadQuestion(f"{name} is a list of texts")
        if len(value) > parameter.most or any(len(item) > LONGEST_TEXT for item in value):
            raise BadQuestion(f"{name}: at most {parameter.most} texts of {LONGEST_TEXT:,} characters each")
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


def as_json(value: object) -> bytes:
    r"""Return JSON, whatever the value holds: numbers that are not finite are null, half characters are escapes.

    >>> as_json({"score": float("inf"), "text": "\ud800"})
    b'{"score": null, "text": "\\ud800"}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(finite(value), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")  # which is how JSON escapes them, too


# ---------------------------------------------------------------------------------------------------------- OpenAPI


def openapi(questions: Iterable[Question]) -> dict[str, Any]:
    """Return the OpenAPI document of these questions."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "alacarte", "version": __version__},
        "paths": {question.path: {question.method: _operation(question)} for question in questions},
    }


def _operation(question: Question) -> dict[str, Any]:
    failed = {"description": "what is wrong, and what to do", "content": _json(_ERROR)}
    kind = "application/x-ndjson" if question.manner == "job" else "application/json"
    content = {kind: {"schema": {"type": "string" if "x-" in kind else "object"}}}
    operation: dict[str, Any] = {
        "summary": question.about,
        "operationId": question.path.rpartition("/")[2],
        "responses": {
            "200": {"description": _ANSWERS.get(question.manner, "the answer"), "content": content},
            "400": failed,
            "403": failed,
        },
    }
    if question.in_query:
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
    else:
        required = [parameter.name for parameter in question.parameters if parameter.required]
        properties = {parameter.name: _schema(parameter) for parameter in question.parameters}
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        operation["requestBody"] = {"required": True, "content": _json(schema)}
    if question.manner == "upload":
        operation["requestBody"] = {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
    return operation


_ANSWERS: dict[Manner, str] = {
    "job": 'lines of JSON: {"progress": …} any number of times, then {"answer": …} or {"error": …}',
}
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _schema(parameter: Parameter) -> dict[str, Any]:
    if parameter.kind == "integer":
        return {"type": "integer", "minimum": parameter.least, "maximum": parameter.most}
    if parameter.kind == "choice":
        return {"type": "string", "enum": list(parameter.choices)}
    if parameter.kind == "strings":
        return {"type": "array", "items": {"type": "string", "maxLength": LONGEST_TEXT}, "maxItems": parameter.most}
    if not parameter.required:
        return {"type": "string", "maxLength": parameter.most}
    return {"type": "string", "minLength": 1, "maxLength": parameter.most, "pattern": r"\S"}
