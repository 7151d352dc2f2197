"""`alc contexts`: every place where a word occurs, with the words around it."""

from typing import Annotated

import typer

from alacarte.cli import _study as s
from alacarte.cli import options as o
from alacarte.cli.opening import parse_window
from alacarte.cli.output import note, show_json, show_line, voice


def contexts(
    data: s.Data,
    patterns: Annotated[
        list[str], typer.Option("--pattern", "-p", metavar="PATTERN", help="A word, phrase or glob; repeat for more.")
    ],
    text: s.Text = "text",
    tokens: s.Tokens = None,
    identity: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", rich_help_panel=s.DATA, help="The document's name.")
    ] = None,
    where: s.Where = None,
    window: s.WindowSize = None,
    match: s.ValueKind = "glob",
    case_sensitive: Annotated[bool, typer.Option("--case-sensitive", help="Upper and lower case must agree.")] = False,
    tokenizer: o.Tokenizer = "words",
    limit: Annotated[int, typer.Option(min=1, help="Show so many; --csv has them all.")] = 20,
    csv: s.Csv = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """List the contexts of a pattern, one a line.

    \b
    alc contexts --data speeches.csv --text speech --pattern "immigr*" --window 6 --csv contexts.csv
    """
    s.check_outputs(csv, None)
    frame = s.open_table(data, where)
    from alacarte.regression import contexts as find

    hits = find(
        frame,
        patterns,
        text=text,
        tokens=tokens,
        id=identity,
        window=None if window is None else parse_window(window),
        valuetype=match,
        case_sensitive=case_sensitive,
        tokenizer=tokenizer,
        show_progress=voice.progress,
    )
    table = hits.to_frame()
    if csv is not None:
        joined = table.assign(
            left=[" ".join(side) for side in table["left"]], right=[" ".join(side) for side in table["right"]]
        )
        s.write_csv(joined, csv)
    for pattern in hits.missing:
        note(f"{pattern!r} does not occur")
    if as_json:
        show_json(hits.to_dict())
        return
    few = hits.select(range(min(limit, len(hits))))
    sides = [tuple(" ".join(few.side(row, which)) for which in ("left", "match", "right")) for row in range(len(few))]
    width = max((len(left) for left, _, _ in sides), default=0)
    for left, hit, right in sides:
        show_line(f"{left:>{width}}  [{hit}]  {right}")
    if len(hits) > limit:
        note(f"{len(hits) - limit:,} more; --limit shows and --csv keeps them")
