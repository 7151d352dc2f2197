"""Public names that are imported when first used, so that importing a package takes no time."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return (`__getattr__`, `__dir__`, `__all__`) of a package with the names that its stub, `__init__.pyi`, imports.

    Each line of the stub is `from module import name as name`.

    >>> get, names, listed = exports("alacarte")
    >>> get("AlacarteError")
    <class 'alacarte.errors.AlacarteError'>
    >>> get("Nonsense")
    Traceback (most recent call last):
    AttributeError: module 'alacarte' has no attribute 'Nonsense'
    >>> names() == listed and "AlacarteError" in listed
    True
    """
    with open(f"{sys.modules[package].__file__}i", encoding="utf-8") as stub:  # noqa: PTH123 (pathlib takes a while)
        module_of = {name: module for _, module, _, name, *_ in map(str.split, stub)}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)  # so that the next use finds it at once
        return value

    return get, lambda: sorted(module_of), sorted(module_of)
