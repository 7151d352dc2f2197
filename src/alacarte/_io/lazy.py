"""Public names that are imported when first used, so that importing a package takes no time."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def exports(package: str, modules: Mapping[str, Iterable[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """(`__getattr__`, `__dir__`) of a package whose names live in `modules`: names by module, relative to the package.

    >>> get, names = exports("alacarte", {"errors": ["AlacarteError"]})
    >>> get("AlacarteError")
    <class 'alacarte.errors.AlacarteError'>
    >>> get("Nonsense")
    Traceback (most recent call last):
    AttributeError: module 'alacarte' has no attribute 'Nonsense'
    >>> "AlacarteError" in names()  # what the package lists in `__all__`
    True
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # so that the next use finds it at once
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get, names
