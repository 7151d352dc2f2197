"""The command `alc`: one file per command, which parses, calls the library and prints.

Nothing heavy is imported here, so that `alc --help` answers at once; a command is imported when it is asked for.
"""

import io
import os
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from alacarte.cli._group import INTERRUPTED, Group, report_failure
from alacarte.cli.options import Verbosity

__all__ = ["app", "main"]

app = typer.Typer(
    name="alc",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Defaults of options: $ALC_MODEL, $ALC_VECTORS, $ALC_THREADS, $ALC_MEMORY.",
)
# Threads of OpenBLAS wait for work by spinning: where there is little linear algebra, that costs more than they save.
LITTLE_ALGEBRA = {"demo", "fit", "induce", "embed", "nearest", "convert", "inspect", "merge", "concordance"}


@app.callback(invoke_without_command=True)
def _alc(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version; with -v, also of Python and the libraries."),
    ] = False,
    verbosity: Verbosity = None,
) -> None:
    """À la carte embedding: a vector for anything a text mentions, in the space of your word vectors.

    Try it, offline: alc demo
    """
    if version and verbosity:
        from alacarte.cli._versions import versions
        from alacarte.cli.output import show_rows

        show_rows(versions())
        raise typer.Exit
    if version:
        from alacarte import __version__

        typer.echo(f"alc {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.fail("Missing command.")


def main() -> None:
    """Run the installed command."""
    command = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    if command in LITTLE_ALGEBRA:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported, which is later
    signal.signal(signal.SIGTERM, _terminated)
    _open_streams()
    try:
        try:
            app(prog_name="alc")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # before or after the command itself; what happens inside it, `Group` sees to
        sys.exit(INTERRUPTED)
    except OSError as problem:  # the same: help that nobody can read
        sys.exit(report_failure(problem))


def _open_streams() -> None:
    """Let characters that the terminal cannot show be escapes, and keep the places of closed streams from files.

    What is written to a closed standard output fails, with a message; standard input stays None.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDONLY if name != "stderr" else os.O_WRONLY)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            if number:
                setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _terminated(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)  # as an exception, so that half-written files are removed on the way out
