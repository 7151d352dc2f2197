"""The commands of `alc` by name, the command lines in a script, and whether `alc` takes them."""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress

import typer
from typer.main import get_command

from alacarte.cli import app

ALC = get_command(app)
CONTEXT = typer.Context(ALC)


def parts(command) -> dict:
    """The commands of a group by name, those of plug-ins too."""
    return {name: command.get_command(CONTEXT, name) for name in command.list_commands(CONTEXT)}


def all_commands(command=ALC, path=()):
    if hasattr(command, "commands"):
        for name, part in parts(command).items():
            yield from all_commands(part, (*path, name))
    else:
        yield " ".join(path), command


def commands_in(script: str) -> Iterator[list[str]]:
    """The arguments of each `alc` in a script, with the variables that it sets put in."""
    variables: dict[str, str] = {}
    script = re.sub(r'="[^"]*"', lambda value: value[0].replace("\n", " "), script.replace("\\\n", " "))
    for written in script.splitlines():
        line = re.sub(r"\$\{?(\w+)\}?", lambda found: variables.get(found[1], found[0]), written)
        for name, quoted, plain in re.findall(r"(?:^|; *)([A-Z]\w*)=(?:\"([^\"]*)\"|([^\s;]*))", line):
            variables[name] = quoted or plain
        if "alc" not in line:
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        current: list[str] | None = None
        for token in [*lexer, ";"]:
            if token == "alc" and current is None:
                current = []
            elif token and set(token) <= set("|&;<>()"):
                if current is not None:
                    yield current
                current = None
            elif current is not None:
                current.append(token)


def check(arguments: list[str]) -> None:
    """Raise unless `alc` takes these arguments; nothing is run."""
    command = ALC
    while hasattr(command, "commands") and arguments and not arguments[0].startswith("-"):
        assert arguments[0] in parts(command), f"alc has no command {arguments[0]!r}"
        command, arguments = parts(command)[arguments[0]], arguments[1:]
    with suppress(typer.Exit):  # --help and --version
        command.make_context("alc", list(arguments))
