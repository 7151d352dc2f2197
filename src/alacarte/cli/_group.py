"""How commands are found, and how every one ends: exit codes, errors in one line, notes, Ctrl-C, closed pipes."""

import errno
import os
import sys
import traceback
import warnings
from functools import cache, partial
from importlib import import_module
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from alacarte.cli.output import error, note, voice
from alacarte.errors import AlacarteError, AlacarteWarning

# In the order of the help; the function, or the group of commands, has the name of its module.
COMMANDS = (
    *("demo", "fit", "induce", "embed", "nearest", "compare", "regress", "contexts", "senses"),
    *("convert", "inspect", "merge", "concordance", "serve"),
)
FAILURE = 1
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
PIPE_CLOSED = 141  # 128 + SIGPIPE


TYPE_METAVARS = {"int range": "N", "int": "N", "float range": "X", "float": "X", "str": "TEXT"}


def _type_text(parameter: Any, ctx: Any) -> str | None:
    """Return what help says of the values an option takes: its metavar, N for a number, choices, None for a flag."""
    if parameter.param_type_name == "argument" or getattr(parameter, "is_flag", False):
        return None
    if parameter.metavar:
        return str(parameter.metavar)
    written = parameter.display_type(ctx) if hasattr(parameter, "display_type") else parameter.make_metavar(ctx)
    plain = str(written).strip("<>[]")
    return TYPE_METAVARS.get(plain, plain)


def _show_types_plainly(command: Any) -> None:
    """Let help show N and not <int range>, and nothing instead of <list[str]>."""
    all_parameters = command.get_params  # --help and what typer adds, too

    def parameters(ctx: Any) -> Any:
        found = all_parameters(ctx)
        for parameter in found:
            parameter.display_type_rich = partial(_type_text, parameter)
        return found

    command.get_params = parameters
    if not isinstance(command, Group):
        for child in getattr(command, "commands", {}).values():
            _show_types_plainly(child)


@cache
def _plug_ins() -> Any:
    """Return the commands of other distributions: `alc eval`, if alacarte-experiments is installed."""
    from importlib.metadata import entry_points

    return entry_points(group="alacarte.commands")


@cache
def _command(name: str) -> Any:
    """Import and build a command; None if there is no such command."""
    if name in COMMANDS:
        found = getattr(import_module(f"alacarte.cli.{name}"), name)
    elif name in _plug_ins().names:
        found = _plug_ins()[name].load()
    else:
        return None
    if not isinstance(found, typer.Typer):
        function, found = found, typer.Typer(add_completion=False, rich_markup_mode="rich")
        found.command(name)(function)
    command = typer.main.get_command(found)
    command.name = name
    _show_types_plainly(command)
    return command


class Group(TyperGroup):
    """Runs a command and turns what goes wrong into a message and an exit code."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)  # for typer's suggestions
        _show_types_plainly(self)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, without a look at the commands."""
        return [*COMMANDS, *sorted(_plug_ins().names)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, which is imported when it is asked for."""
        return _command(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        voice.start()
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", AlacarteWarning)
                warnings.showwarning = _show_warning
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError as problem:
            raise typer.Exit(report_failure(problem)) from None
        except (AlacarteError, OSError) as problem:
            if voice.verbose:
                traceback.print_exc()
            raise typer.Exit(report_failure(problem)) from None
        except KeyboardInterrupt:
            done = ", ".join(voice.written)
            kept = voice.checkpoint is not None and voice.checkpoint.exists()
            where = f"the work so far is in {voice.checkpoint}: run the same command again to go on"
            error(f"interrupted; {f'complete: {done}' if done else where if kept else 'nothing was written'}")
            raise typer.Exit(INTERRUPTED) from None


def _in_words(problem: Exception) -> object:
    if isinstance(problem, OSError) and not isinstance(problem, AlacarteError) and problem.strerror:
        # Files are named wherever they are written, so what is full without a name is where results go.
        name = problem.filename or ("standard output" if problem.errno == errno.ENOSPC else None)
        return f"{name}: {problem.strerror}" if name else problem.strerror
    return problem


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, AlacarteWarning):
        note(message)
    elif voice.verbose:
        print(warnings.formatwarning(message, category, filename, lineno, line), file=sys.stderr, end="")


def report_failure(problem: Exception) -> int:
    """Say what went wrong, unless it is that nobody reads any more; returns the exit code."""
    closed = isinstance(problem, BrokenPipeError)
    if not closed:
        error(_in_words(problem))
    try:
        sys.stdout.flush()
    except OSError:  # nobody reads any more: what is still in the buffer must not fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED if closed else FAILURE
