"""The keywords of public functions that learn a transform, typed, and the means to hand them on."""

from collections.abc import Mapping
from typing import Any

from alacarte.contexts.reading import ReadingOptions
from alacarte.passes.work import WorkOptions
from alacarte.transform.solve import SolveOptions


class CollectOptions(ReadingOptions, WorkOptions, total=False):
    """How contexts are read (`ReadingOptions`) and how the work is done (`WorkOptions`)."""


class FitOptions(CollectOptions, SolveOptions, total=False):
    """All that `ALaCarte.fit` takes: `CollectOptions`, and how the matrix is learned (`SolveOptions`)."""


def chosen(options: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Those of the options that a TypedDict names.

    >>> chosen({"window": 5, "ridge": 1.0}, SolveOptions)
    {'ridge': 1.0}
    """
    return {name: options[name] for name in kind.__annotations__ if name in options}


def refuse_unknown(function: str, options: Mapping[str, Any], kind: type) -> None:
    """Raise `TypeError`, as Python does for its own keywords, for an option that a TypedDict does not name."""
    for name in options:
        if name not in kind.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
