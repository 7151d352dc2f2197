"""`alc compare --all`, and `alc compare` on plain text: two corpora, or two groups of a table, word by word."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from alacarte.cli.output import note, show_columns, show_json, show_line, voice, wrote
from alacarte.errors import AlacarteError

if TYPE_CHECKING:
    from alacarte.inference.comparing import Comparisons

Q = 0.05  # the share of wrong words that is put up with among those reported


def check_table_file(path: Path | None) -> None:
    """Raise unless the ending says in which format the table is to be written."""
    if path is not None and path.suffix.lower() not in (".csv", ".json"):
        raise AlacarteError(f"{path}: tables end in .csv or .json; choose one of these")


def parse_groups(groups: list[str] | None, values: list[Any]) -> tuple[Any, Any] | None:
    """The values of a column that were meant: what was typed is text, and the column may hold numbers.

    >>> parse_groups(["1990", "D"], [1990, "D", "R"])
    (1990, 'D')
    """
    if not groups:
        return None
    if len(groups) != 2:
        raise typer.BadParameter(f"a comparison has two sides, not {len(groups)}", param_hint="--group")
    spelled = {str(value): value for value in values}
    return spelled.get(groups[0], groups[0]), spelled.get(groups[1], groups[1])


def write_comparison(comparisons: "Comparisons", out: Path | None) -> None:
    from alacarte._io.files import atomic_write

    if out is None:
        return
    if out.suffix.lower() == ".csv":
        comparisons.to_csv(out)
    else:
        with atomic_write(out) as file:
            file.write(comparisons.to_json().encode())
    wrote(out)


def show_comparison(comparisons: "Comparisons", top: int, contexts: int, as_json: bool) -> None:
    """The words that moved farthest for sure, with their numbers, then the lines that speak loudest for each."""
    if as_json:
        loudest = {word: {"a": list(lines.a), "b": list(lines.b)} for word, lines in comparisons.contexts.items()}
        facts = {"names": list(comparisons.names), "level": comparisons.level}
        show_json({**facts, "words": comparisons.to_dict(), "contexts": loudest})
        return
    from alacarte._io.table import format_p

    changed, untested = comparisons.changed(Q), sum(1 for item in comparisons if item.reason)
    tested = len(comparisons) - untested
    rest = [item for item in comparisons if not item.reason and not item.q_value <= Q]
    shown = [*changed, *rest][:top]
    cells = [
        (
            item.word,
            f"{item.contexts_a:,}",
            f"{item.contexts_b:,}",
            f"{item.distance:.3f}",
            f"{item.conf_low:.3f} … {item.conf_high:.3f}",
            format_p(item.p_value),
            format_p(item.q_value),
        )
        for item in shown
    ]
    a, b = comparisons.names
    if cells:
        names = ["word", f"uses in {a}", f"in {b}", "distance", f"{comparisons.level:.0%} interval", "p", "q"]
        show_columns(names, cells)
    for word in [item.word for item in shown if item.word in comparisons.contexts]:
        sides = comparisons.contexts[word]
        for name, lines in zip(comparisons.names, (sides.a, sides.b), strict=True):
            for line in lines[:contexts]:
                show_line(f"{word}, {name}: {line}")
    for item in [item for item in comparisons if item.reason][: top if not shown else 0]:
        show_line(f"{item.word}: {item.reason}")
    if not voice.quiet:
        verb = "is" if len(changed) == 1 else "are"
        show_line(f"{len(changed):,} of {tested:,} words {verb} used differently (q ≤ {Q}).")
    if untested:
        words = "1 word" if untested == 1 else f"{untested:,} words"
        note(f"{words} could not be tested; --out FILE keeps all rows, with the reason")
