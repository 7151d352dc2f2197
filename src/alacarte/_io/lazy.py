"""Public names that are imported when first used, so that importing a package takes no time."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def exports(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return (`__getattr__`, `__dir__`) of a package whose file imports its names under `if TYPE_CHECKING:`.

    >>> import alacarte
    >>> get, names = exports("alacarte", alacarte.__file__)
    >>> get("AlacarteError")
    <class 'alacarte.errors.AlacarteError'>
    >>> get("Nonsense")
    Traceback (most recent call last):
    AttributeError: module 'alacarte' has no attribute 'Nonsense'
    >>> "AlacarteError" in names()  # what the package lists in `__all__`
    True
    """
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    module_of = {alias.name: str(node.module) for node in imports for alias in node.names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)  # so that the next use finds it at once
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get, names
