"""The house keeps its rules: what begins with `_` is private to its folder."""

import ast
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TREES = [REPOSITORY / "src", REPOSITORY / "experiments" / "src"]
SHARED = {"_io", "_version"}  # the ground floor, for all rooms of the library


def imports(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("tree", TREES, ids=["library", "experiments"])
def test_no_folder_imports_anothers_private_modules(tree):
    modules = {".".join(file.relative_to(tree).with_suffix("").parts) for tree in TREES for file in tree.rglob("*.py")}
    for file in tree.rglob("*.py"):
        folder = file.relative_to(tree).parent.parts
        for name in imports(file):
            parts = name.split(".")
            for place, part in enumerate(parts):
                private = part.startswith("_") and part not in SHARED and ".".join(parts[: place + 1]) in modules
                assert not private or folder[:place] == tuple(parts[:place]), f"{file} imports {name}"


def test_experiments_use_public_names_only():
    for file in TREES[1].rglob("*.py"):
        for name in imports(file):
            private = [part for part in name.split(".") if part.startswith("_")]
            assert not private or not name.startswith("alacarte."), f"{file} imports {name}"
