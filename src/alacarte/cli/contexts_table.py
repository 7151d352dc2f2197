"""`alc contexts`: every place where a word occurs, with the words around it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from alacarte.cli import _study as s
from alacarte.cli import options as o
from alacarte.cli.completing import column_names
from alacarte.cli.opening import open_corpus, parse_window, refuse
from alacarte.cli.output import note, show_json, show_line, voice
from alacarte.cli.outputs import check_outputs


def contexts(
    ctx: typer.Context,
    files: o.Files = None,
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    text: s.Text = "text",
    tokens: s.Tokens = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            rich_help_panel=s.DATA,
            autocompletion=column_names,
            help="The document's name.",
        ),
    ] = None,
    where: s.Where = None,
    window: s.WindowSize = None,
    case_sensitive: Annotated[bool, typer.Option("--case-sensitive", help="Upper and lower case must agree.")] = False,
    tokenizer: o.Tokenizer = "words",
    limit: Annotated[int, typer.Option(min=1, help="Show so many; --csv has them all.")] = 20,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    csv: s.Csv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """List the contexts of a word, one a line.

    \b
    alc contexts news.txt --word bank --window 6
    alc contexts speeches.csv --text speech --glob "immigr*" --csv contexts.csv
    """
    patterns, kind = s.one_kind(word, glob, regex)
    check_outputs(ctx, csv=None)
    data: Any
    if files is not None and len(files) == 1 and s.is_table(files[0]):
        refuse(ctx, "is for plain text, and this is a table", "unit", "format")
        data = s.open_table(Path(files[0]), where)
    else:
        refuse(ctx, "is for the columns of one table, and this is text", "where", "identity", "tokens")
        data = open_corpus(files or [], unit=unit, format=format, text=text)
    from alacarte.regression import contexts as find

    hits = find(
        data,
        patterns,
        text=text,
        tokens=tokens,
        id=identity,
        window=None if window is None else parse_window(window),
        valuetype=kind,
        case_sensitive=case_sensitive,
        tokenizer=tokenizer,
        show_progress=voice.progress,
    )
    if csv is not None:
        table = hits.to_frame()
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
