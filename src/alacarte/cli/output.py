"""What the commands say: results on stdout, everything else on stderr."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from alacarte._io.printing import json_text, printable
from alacarte._io.urls import display_name
from alacarte.errors import AlacarteError, AlacarteWarning

if TYPE_CHECKING:
    import rich.table

    from alacarte._io.table import Table

WIDTH_ELSEWHERE = 200  # columns where no terminal says otherwise
MOST_ROWS = 50  # rows of a table on the terminal
SIDE_BY_SIDE = 3  # lists of neighbours


class Voice:
    """How a command speaks, and which files are complete. One for each run of the command."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Forget all that was said of another command."""
        self.quiet = False
        self.verbose = False
        self.as_json = False
        self.overwrite = False
        self.silent = False  # what is read on stdout is a file, and nothing else may be there
        self.context: typer.Context | None = None
        self.written: list[str] = []
        self.checkpoint: Path | None = None

    def begin(self, context: typer.Context) -> None:
        """Take over the options that every command has."""
        self.context, self.as_json = context, bool(context.params.get("as_json"))
        self.overwrite = bool(context.params.get("overwrite"))

    def has_option(self, option: str) -> bool:
        """Whether the command that runs has an option of this name; True if none runs."""
        return self.context is None or any(option in item.opts for item in self.context.command.params)

    @property
    def progress(self) -> bool | None:
        """What the library calls `show_progress`: never when quiet, else on a terminal."""
        return False if self.quiet else None


voice = Voice()


def error(message: object) -> None:
    """Say what went wrong."""
    _say(f"alc: error: {_for_command_line(message)}")


def note(message: object) -> None:
    """Say something worth knowing, unless with --quiet."""
    if not voice.quiet:
        _say(f"alc: note: {_for_command_line(message)}")


def detail(message: str) -> None:
    """Say something with --verbose."""
    if voice.verbose:
        _say(f"alc: {message}")


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)


def _for_command_line(message: object) -> str:
    """Return one line; errors and warnings of the library have a hint, which is left out if this command lacks it."""
    text = str(message)
    if isinstance(message, AlacarteError | AlacarteWarning):
        hint = message.hint.command if message.hint is not None else ""
        elsewhere = hint.startswith(("alc ", "`alc ")) or " alc " in hint
        usable = elsewhere or all(map(voice.has_option, re.findall(r"(?<![\w-])--[a-z][a-z-]*", hint)))
        text = message.for_command_line() if usable else message.message
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


# ------------------------------------------------------------------------------------------------------------ results


def show(
    result: object, *parts: "str | Table | Callable[[], None]", summary: bool = False, csv: Path | None = None
) -> None:
    """Print a result: as JSON with --json, else its parts, of which strings are lines; by default, the result itself.

    A `summary` of what was written is left out with --quiet. A result that is a table is also written to `csv`.
    """
    if csv is not None:
        save_table(cast("Table", result), csv)
    if voice.silent:
        return
    if voice.as_json:
        print(json_text(result))
        return
    if summary and voice.quiet:
        return
    for part in parts or (result,):
        if isinstance(part, str):
            show_line(part)
        elif callable(part):
            part()
        else:
            show_table(cast("Table", part))


def show_table(table: "Table", title: str | None = None) -> None:
    """Print the first rows of a table."""
    names, rows, _ = table.cells(MOST_ROWS)
    show_columns(names, rows[:MOST_ROWS], title)
    if len(rows) > MOST_ROWS:
        note("there are more rows" + ("; --csv FILE keeps all" if voice.has_option("--csv") else ""))


def save_table(table: "Table", path: Path | None) -> None:
    """Write a table to a file, if there is one to write it to."""
    if path is not None:
        table.to_csv(path)
        note_written(path)


def show_json(value: object) -> None:
    """Print JSON; results of the library as their `to_dict()`."""
    print(json_text(value))


def show_line(text: str = "") -> None:
    """Print a line of a result."""
    print(printable(text, keep="\t\n"))


def show_rows(rows: Sequence[tuple[str, object]]) -> None:
    """Print a table of names and values."""
    table = _table()
    table.show_header = False
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(_plain(name), _plain(value))
    _print(table)


def show_neighbours(lists: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    """Print neighbours and their cosines, a few lists beside each other."""
    for start in range(0, len(lists), SIDE_BY_SIDE):
        chosen = list(lists.items())[start : start + SIDE_BY_SIDE]
        rows = zip_longest(*(neighbours for _, neighbours in chosen), fillvalue=("", None))
        cells = [
            [part for word, cosine in row for part in (word, "" if cosine is None else f"{cosine:.3f}")] for row in rows
        ]
        show_columns([part for name, _ in chosen for part in (name, "cosine")], cells)


def show_columns(names: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> None:
    """Print a table with a header."""
    table = _table(title)
    for place, name in enumerate(names):
        table.add_column(_plain(name), style="bold" if place == 0 else None, overflow="fold")
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    _print(table)


def neighbour_dicts(neighbours: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return neighbours as --json prints them."""
    return [{"word": word, "cosine": cosine} for word, cosine in neighbours]


def note_written(path: str | os.PathLike[str]) -> None:
    """Note that a file is complete."""
    voice.written.append(display_name(path))


def _table(title: str | None = None) -> "rich.table.Table":
    import rich.table
    from rich import box

    shown = None if title is None else _plain(title)
    return rich.table.Table(box=box.SIMPLE_HEAD, title=shown, title_justify="left", pad_edge=False)


def _plain(value: object) -> Any:
    from rich.text import Text

    return Text(printable(str(value), keep="\n"))  # not markup: a word may be "[b]"


def _print(table: "rich.table.Table") -> None:
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else WIDTH_ELSEWHERE, highlight=False)
    with console.capture() as captured:  # so that a closed pipe meets us here, as with any other line
        console.print(table)
    lines = [line.rstrip() for line in captured.get().split("\n")]
    print("\n".join(lines), end="")
