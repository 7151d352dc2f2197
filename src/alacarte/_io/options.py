"""Options: fields of frozen dataclasses that carry their own help, so that each is declared once.

A record such as `Reading` or `Work` groups what belongs together. The library passes the record on; the command line
makes an option of every field that was declared with `option`.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Cut:
...     unit: str = option("line", "What a document is.", metavar="KIND")
>>> Cut(), Cut("file").unit, described(Cut)["unit"].help
(Cut(unit='line'), 'file', 'What a document is.')
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Concatenate, ParamSpec

from alacarte.errors import UnknownOption

P = ParamSpec("P")


@dataclass(frozen=True)
class Option:
    """How a field is shown and typed on the command line.

    `name` is that of the option if the field has another one; `flag` its spelling if that does not follow from the
    name, and `short` a second one such as "-w". `shown` is the default as help writes it, `panel` the heading in the
    help if it is not that of the record. `writes` says what is written there: a kind of artifact, or "file". What is an
    `argument` is typed without a name; `environment` is the variable that has its default.
    """

    help: str
    metavar: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    name: str | None = None
    flag: str | None = None
    short: str | None = None
    shown: str | None = None
    panel: str | None = None
    writes: str | None = None
    hidden: bool = False
    argument: bool = False
    environment: str | None = None


def _with_default(describe: Callable[P, Option]) -> Callable[Concatenate[Any, P], Any]:
    def option(default: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return field(default=default, metadata={"option": describe(*args, **kwargs)})

    return option


# A dataclass field: `option(default, help, …)`, with the fields of `Option` as keywords; `...` is a required one.
option = _with_default(Option)


def described(record: type) -> dict[str, Option]:
    """Return the fields of a record that are options, in order."""
    return {item.name: item.metadata["option"] for item in fields(record) if "option" in item.metadata}


def refuse_unknown(function: Callable[..., Any], options: Iterable[str], kind: type) -> None:
    """Raise `UnknownOption` for a keyword that a TypedDict does not name, with the nearest that the function takes.

    >>> refuse_unknown(described, {"metavra": 1}, Option)
    Traceback (most recent call last):
    alacarte.errors.UnknownOption: described() has no option 'metavra'; did you mean 'metavar'?
    """
    for name in options:
        if name not in kind.__annotations__:
            parameters = inspect.signature(function).parameters.values()
            known = sorted(
                {item.name for item in parameters if item.kind != item.VAR_KEYWORD} | {*kind.__annotations__}
            )
            near = [other for other in known if other.startswith(name)] or get_close_matches(name, known, 1)
            advice = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}"
            raise UnknownOption(f"{function.__qualname__}() has no option {name!r}; {advice}")
