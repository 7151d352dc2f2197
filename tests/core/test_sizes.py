"""Modules that can be read at one go, classes that can be remembered, and one thing of each name.

Each list holds the exceptions that there are at present. It can only shrink: an exception that is none any more must
be taken out.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import alacarte

ROOT = Path(alacarte.__file__).parent
TREES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}

LINES, METHODS = 600, 25
LONG_MODULES: set[str] = set()
LARGE_CLASSES: set[str] = set()
SHARED_NAMES: set[str] = set()


@cache
def classes():
    """(module, class) of every public class."""
    nodes = ((name, node) for name, text in TREES.items() for node in ast.walk(ast.parse(text)))
    return [(name, node) for name, node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def test_modules_are_short():
    assert {name for name, text in TREES.items() if len(text.splitlines()) > LINES} == LONG_MODULES


def test_classes_have_few_public_methods():
    large = set()
    for name, node in classes():
        functions = (item.name for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
        if len({function for function in functions if not function.startswith("_")}) > METHODS:
            large.add(f"{name}: {node.name}")
    assert large == LARGE_CLASSES


def test_no_two_public_classes_have_one_name():
    places = defaultdict(set)
    for name, node in classes():
        places[node.name].add(name)
    assert {name for name, found in places.items() if len(found) > 1} == SHARED_NAMES
