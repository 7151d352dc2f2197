"""`alc inspect`: what a file is."""

from alacarte._io.options import option
from alacarte.cli._describe import describe
from alacarte.cli.command import command
from alacarte.cli.output import show, show_rows


@command()
def inspect(
    *,
    what: str = option(..., "A file, a folder, a URL, or glove.6B.50d.", metavar="FILE|DIR|NAME", argument=True),
) -> None:
    """Say what a file or folder is.

    \b
    alc inspect unknown.bin
    alc inspect glove.6B.50d --json
    """
    facts = describe(what)
    show(facts, lambda: show_rows([(name.replace("_", " "), _readable(value)) for name, value in facts.items()]))


def _readable(value: object) -> str:
    from alacarte._io.table import format_cell

    if value is None or isinstance(value, bool | int):
        return format_cell(value)
    if isinstance(value, list):
        return "\n".join(map(str, value)) if any(len(str(item)) > 30 for item in value) else ", ".join(map(str, value))
    if isinstance(value, dict):
        return "\n".join(f"{name}: {item}" for name, item in value.items())
    return str(value)
