"""`alc contexts`: every place where a word occurs, with the words around it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.opening import named_targets, open_corpus, refuse, typed_options, typed_sides
from alacarte.cli.options import CSV, FILES, Patterns
from alacarte.cli.output import note, save_table, show, voice
from alacarte.cli.tables import DATA, ROWS, is_table, open_table
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.regression import ContextTable


@command()
def contexts(
    *,
    files: list[str] | None = FILES,
    patterns: Patterns,
    identity: str | None = option(
        None, "Of a table, the column with names.", flag="--id", metavar="COLUMN", panel=DATA
    ),
    where: str | None = ROWS,
    window: str = option("10", "Words on each side.", metavar="N|B,A"),
    tokenizer: str = option("words", "How text is split: words, whitespace, …", metavar="NAME"),
    limit: int = option(20, "How many to show; --csv has them all.", metavar="N", minimum=1),
    csv: Path | None = CSV,
    text: CorpusOptions,
) -> None:
    """List the contexts of a word, one per line.

    \b
    alc contexts news.txt --word bank --window 6
    alc contexts speeches.csv --text speech --glob "immigr*" --csv contexts.csv
    """
    targets = named_targets(patterns)
    data: Any
    if files is not None and len(files) == 1 and is_table(files[0]):
        refuse("is for plain text, and this is a table", "unit", "format", "encoding", "errors")
        data = open_table(files[0], where)
    else:
        refuse("is for the columns of one table, and this is text", "where", "identity", "tokens")
        data = open_corpus(files or [], text)
    from alacarte import regression

    hits = regression.contexts(
        data,
        targets,
        text=(text.tokens if typed_options("tokens") else text.text) or "text",
        id=identity,
        window=typed_sides(window),
        tokenizer=tokenizer,
        show_progress=voice.progress,
    )
    save_table(hits, csv)
    for pattern in hits.missing:
        note(f"{pattern!r} does not occur")
    show(hits, *_lines(hits, limit))
    if len(hits) > limit and not voice.as_json:
        note(f"{len(hits) - limit:,} more; --limit shows and --csv keeps them")


def _lines(hits: "ContextTable", limit: int) -> Iterator[str]:
    """Yield the first contexts, with the words that were looked for below each other."""
    few = hits.select(range(min(limit, len(hits))))
    sides = [tuple(" ".join(few.side(row, which)) for which in ("left", "match", "right")) for row in range(len(few))]
    width = max((len(left) for left, _, _ in sides), default=0)
    for left, hit, right in sides:
        yield f"{left:>{width}}  [{hit}]  {right}"
