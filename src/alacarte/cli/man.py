"""`alc man`: manual pages, made of the same text as `--help`."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from alacarte._version import __version__
from alacarte.cli import options as o
from alacarte.cli._group import subcommands, type_shown
from alacarte.cli.output import show_line, voice, wrote
from alacarte.errors import AlacarteError

MADE_BY = '.\\" Made by `alc man`.\n'


def man(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where alc.1, alc-fit.1, … go; made if need be.")],
    overwrite: o.Overwrite = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Write a manual page for each command, for man(1) and for packages of distributions.

    \b
    alc man --out ~/.local/share/man/man1
    """
    from alacarte._io.files import atomic_write

    folder = out.expanduser()
    pages = {folder / f"{name.replace(' ', '-')}.1": text for name, text in _pages(ctx.find_root())}
    for path in pages:
        if path.exists() and not overwrite and not path.read_bytes().startswith(MADE_BY.encode()):
            raise AlacarteError(f"{path}: is there already, and alc did not write it; pass --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in pages.items():
        with atomic_write(path) as file:
            file.write(text.encode())
        wrote(path)
    if not voice.quiet:
        show_line(f"{len(pages)} manual pages are in {folder}.")


def _pages(root: Any) -> Iterator[tuple[str, str]]:
    """(name, page) of `alc` and of every command below it."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, str]]:
        below = subcommands(command, root)
        yield name, _page(name, command, root, [f"{name} {part}" for part in below])
        for part, child in below.items():
            yield from walk(f"{name} {part}", child)

    return walk("alc", root.command)


def _page(name: str, command: Any, ctx: Any, below: list[str]) -> str:
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    first = " ".join(paragraphs[0].split())
    usage = [_escaped(part) for part in command.collect_usage_pieces(ctx)]
    lines = [
        f'{MADE_BY}.TH "{_escaped(name.replace(" ", "-").upper())}" 1 "" "alacarte {__version__}" "alacarte"',
        f".SH NAME\n{_escaped(name.replace(' ', '-'))} \\- {_escaped(first.rstrip('.'))}",
        f".SH SYNOPSIS\n.B {_escaped(name)}\n{' '.join(usage)}",
    ]
    examples = [text.removeprefix("\b\n") for text in paragraphs if text.startswith("\b\n")]
    prose = [" ".join(text.split()) for text in paragraphs if not text.startswith("\b\n")]
    lines += [".SH DESCRIPTION", "\n.PP\n".join(map(_escaped, prose))]
    if examples:
        code = "\n.sp\n".join("\n".join(map(_escaped, text.splitlines())) for text in examples)
        lines += [".SH EXAMPLES", f".nf\n{code}\n.fi"]
    panels: dict[str, list[str]] = {}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            panel = getattr(parameter, "rich_help_panel", None) or f"{parameter.param_type_name}s"
            panels.setdefault(panel, []).append(_parameter(parameter, ctx))
    for panel, entries in panels.items():
        lines += [f".SH {_escaped(panel.upper())}", *entries]
    if below:
        lines += [".SH COMMANDS", *(f".TP\n.B {_escaped(other)}" for other in below)]
    parent = name.rpartition(" ")[0]
    if parent:
        lines += [f".SH SEE ALSO\n.BR {_escaped(parent.replace(' ', '-'))} (1)"]
    return "\n".join(lines) + "\n"


def _parameter(parameter: Any, ctx: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        heading = f"\\fI{_escaped(parameter.metavar or parameter.name)}\\fR"
    else:
        heading = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in names)
        shown = type_shown(parameter, ctx)
        heading += f" \\fI{_escaped(shown)}\\fR" if shown else ""
    default = parameter.default
    said = (
        "" if default in (None, False) or callable(default) or not parameter.show_default else f" [default: {default}]"
    )
    return f".TP\n{heading}\n{_escaped(' '.join((parameter.help or '').split()) + said)}"


def _escaped(text: str) -> str:
    r"""Text for troff, which obeys backslashes, and dots and quotes at the beginning of a line.

    >>> print(_escaped(r".a\b --c …"))
    \&.a\eb \-\-c \[u2026]
    """
    plain = re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))
    return "".join(mark if mark.isascii() else f"\\[u{ord(mark):04X}]" for mark in plain)
