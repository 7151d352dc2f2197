"""`alc inspect`: what is this file?"""

from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli._describe import describe
from alacarte.cli.output import show_json, show_rows


def inspect(
    what: Annotated[str, typer.Argument(metavar="FILE|DIR|NAME", help="A file, a folder, a URL, or glove.6B.50d.")],
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Say what a file or folder is: vectors, saved sums, a transform, a model, or text.

    \b
    alc inspect unknown.bin
    alc inspect glove.6B.50d --json
    """
    facts = describe(what)
    if as_json:
        show_json(facts)
    else:
        show_rows([(name.replace("_", " "), _readable(value)) for name, value in facts.items()])


def _readable(value: object) -> str:
    from alacarte._io.table import format_cell

    if value is None or isinstance(value, bool | int):
        return format_cell(value)
    if isinstance(value, list):
        return "\n".join(map(str, value)) if any(len(str(item)) > 30 for item in value) else ", ".join(map(str, value))
    if isinstance(value, dict):
        return "\n".join(f"{name}: {item}" for name, item in value.items())
    return str(value)
