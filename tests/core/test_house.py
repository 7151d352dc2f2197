"""The house keeps its rules: what begins with `_` is private to its folder."""

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
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


def test_what_benchmarks_import_exists():
    for file in [*(REPOSITORY / "benchmarks").glob("*.py"), *(REPOSITORY / "experiments" / "studies").glob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("alacarte"):
                module = import_module(node.module)
                for name in (alias.name for alias in node.names):
                    there = hasattr(module, name) or find_spec(f"{node.module}.{name}")
                    assert there, f"{file} imports {name} from {node.module}"


def public_names():
    """What docs/reference.md and experiments/README.md list: names, then the module that holds them."""
    pages = [REPOSITORY / "docs" / "reference.md", REPOSITORY / "experiments" / "README.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    listed = {}
    for names, module in re.findall(r"^\| (`[^|]+) \| \[([a-z_.]+)\]\(\.\./src/", text, re.MULTILINE):
        listed.setdefault(f"alacarte.{module}", set()).update(re.findall(r"`(\w+)`", names))
    return listed


def test_experiments_use_public_names_only():
    """A public name is in the `__all__` of its package, an error, or listed with its module."""
    listed = public_names()
    for file in TREES[1].rglob("*.py"):
        for name in imports(file):
            module, _, leaf = name.rpartition(".")
            if module.partition(".")[0] == "alacarte" and module != "alacarte.errors":
                known = {*getattr(import_module(module), "__all__", ()), *listed.get(module, ())}
                assert leaf in known, f"{file} imports {name}, which experiments/README.md does not list"
