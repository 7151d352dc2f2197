"""How every command ends: exit codes, errors in one line, notes, Ctrl-C, closed pipes."""

import errno
import os
import sys
import traceback
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

import typer
from typer.core import TyperGroup

from alacarte.cli.output import error, note, voice
from alacarte.errors import AlacarteError, AlacarteWarning

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

FAILED = 1
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
PIPE_CLOSED = 141  # 128 + SIGPIPE


class Group(TyperGroup):
    """Runs a command and turns what goes wrong into a message and an exit code."""

    @cached_property
    def _plug_ins(self) -> "EntryPoints":
        """Commands of other distributions: `alc eval`, where alacarte-experiments is installed."""
        from importlib.metadata import entry_points

        return entry_points(group="alacarte.commands")

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *sorted(self._plug_ins.names)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; those of other distributions are loaded when they are asked for."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in self._plug_ins.names:
            command = typer.main.get_command(self._plug_ins[cmd_name].load())
            command.name = cmd_name
        return command

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
    except OSError:
        _discard_stdout()
    return PIPE_CLOSED if closed else FAILED


def _discard_stdout() -> None:
    """Nobody reads any more: what is still in the buffer must not fail again when Python ends."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
