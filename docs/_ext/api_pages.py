"""The pages of the API reference, written before Sphinx looks for pages: one entry for each public name.

Public is what a package lists in `__all__`, every error, what docs/reference.md names under *Further names*, and
every class that one of these takes or gives.
"""

import inspect
import re
import typing
from importlib import import_module
from pathlib import Path

PACKAGES = {
    "alacarte": "The package alacarte",
    "alacarte.regression": "Embedding regression: alacarte.regression",
    "alacarte.senses": "Word senses: alacarte.senses",
    "alacarte.documents": "Documents: alacarte.documents",
    "alacarte.errors": "Errors: alacarte.errors",
}
INTRODUCTION = """\
Public names, from their docstrings
===================================

What ``from alacarte import …`` gives, the packages for single topics, and further names by module. The
:doc:`map of all names </reference>` says in a line what each is for.

.. toctree::

"""
ROW = re.compile(r"^\| (?P<names>`[^|]+) \| \[(?P<module>[a-z_.]+)\]\((?P<path>[^)]+)\) \|")


def of_package(package):
    """(package, name) of what a package lists in `__all__`, or else of the classes it defines."""
    module = import_module(package)
    classes = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == package]
    return [(package, name) for name in getattr(module, "__all__", classes) if not name.startswith("_")]


def of_reference(reference):
    """(module, name) of each row of the table *Further names* in the text of docs/reference.md."""
    table = reference.split("Further names", 1)[1].split("| errors |", 1)[0]
    rows = filter(None, map(ROW.match, table.splitlines()))
    return [(f"alacarte.{row['module']}", name) for row in rows for name in re.findall(r"`(\w+)`", row["names"])]


def classes_within(hint):
    """The public classes of ours that a type hint is made of."""
    if inspect.isclass(hint) and not typing.get_args(hint):
        private = any(part.startswith("_") for part in [*hint.__module__.split("."), hint.__name__])
        return {hint} if hint.__module__.startswith("alacarte.") and not private else set()
    return set().union(*map(classes_within, typing.get_args(hint)))


def classes_mentioned(value):
    """The public classes of ours in the signature, the fields and the methods of a function or class."""
    parts = [value]
    if inspect.isclass(value):
        members = [member for name, member in vars(value).items() if not name.startswith("_") or name == "__init__"]
        parts += [getattr(member, "fget", None) or getattr(member, "__func__", member) for member in members]
    found = set().union(*map(classes_within, getattr(value, "__bases__", ())))
    for part in parts:
        try:
            found |= set().union(*map(classes_within, typing.get_type_hints(part, include_extras=True).values()))
        except (NameError, TypeError):  # no hints, or names that are imported for type checkers only
            continue
    return found


def pages(reference):
    """Title and public names, as (module, name), of each page, by the page's name."""
    found = {package.split(".")[-1]: (title, of_package(package)) for package, title in PACKAGES.items()}
    further = of_reference(reference)
    values = [getattr(import_module(module), name) for _, names in found.values() for module, name in names]
    values += [getattr(import_module(module), name) for module, name in further]
    documented = {id(value) for value in values}
    while values:
        new = set().union(*map(classes_mentioned, values))
        values = [value for value in new if id(value) not in documented]
        documented |= {id(value) for value in values}
        further += [(value.__module__, value.__qualname__) for value in values]
    return found | {"further": ("Further names, by module", further)}


def entry(module, name, value):
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    lines = [f".. auto{kind}:: {module}.{name}"]
    if kind == "class" and issubclass(value, BaseException):
        lines.append("   :no-members:")
    return [*lines, ""]


def page_text(title, names, documented):
    """A page; what has its entry elsewhere is linked to. `documented`: the id of a thing → the name of its entry."""
    lines, elsewhere = [title, "=" * len(title), ""], []
    for module, name in sorted(names, key=lambda pair: (pair[0], pair[1].lower())):
        value = getattr(import_module(module), name)
        place = documented.setdefault(id(value), f"{module}.{name}")
        if place == f"{module}.{name}":
            lines += entry(module, name, value)
        else:
            elsewhere.append(f"- ``{module}.{name}``: see :py:obj:`{place}`")
    return "\n".join([*lines, *elsewhere, ""])


def write_pages(app):
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    documented = {}
    contents = pages((Path(app.srcdir) / "reference.md").read_text(encoding="utf-8"))
    write(folder / "index.rst", INTRODUCTION + "".join(f"   {page}\n" for page in contents))
    for page, (title, names) in contents.items():
        write(folder / f"{page}.rst", page_text(title, names, documented))


def write(path, text):
    """Only if it changes something, so that Sphinx reads it again only then."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
