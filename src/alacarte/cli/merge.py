"""`alc merge`: add saved sums."""

from pathlib import Path
from typing import Annotated

import typer

from alacarte._io.remote import shown
from alacarte.cli import options as o
from alacarte.cli.opening import open_sums
from alacarte.cli.output import show_json, show_line, voice, wrote
from alacarte.cli.outputs import SUMS, check_outputs


def merge(
    ctx: typer.Context,
    sums: Annotated[list[Path], typer.Argument(metavar="SUMS", help="Files that --save-sums wrote.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the total goes.")],
    subtract: Annotated[
        list[Path] | None,
        typer.Option(metavar="SUMS", show_default=False, help="Take these away from the total; repeat it for more."),
    ] = None,
    repeated: Annotated[
        bool, typer.Option("--repeated", help="Count text that is in several files as often as it is there.")
    ] = False,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Add context sums of parts of a corpus: the total is that of the whole corpus.

    \b
    alc fit --vectors V --corpus part1.txt --save-sums 1.sums --out m1
    alc fit --vectors V --corpus part2.txt --save-sums 2.sums --out m2
    alc merge 1.sums 2.sums --out all.sums
    alc fit --vectors V --sums all.sums --out model
    alc merge all.sums --subtract 1.sums --out 2.sums
    """
    check_outputs(ctx, out=SUMS)
    total = open_sums(sums, repeated=repeated)
    for file in subtract or ():
        total = total - open_sums([file])
    total.save(out)
    wrote(out)
    if as_json:
        show_json(
            {
                "out": shown(out),
                "files": len(sums),
                "targets": len(total),
                "occurrences": int(total.occurrences.sum()),
                "documents": total.documents,
                "tokens_read": total.tokens_read,
            }
        )
    elif not voice.quiet:
        taken = f", {len(subtract)} taken away" if subtract else ""
        show_line(
            f"{len(sums)} files added{taken}: {len(total):,} targets, {total.tokens_read:,} tokens in "
            f"{total.documents:,} documents. The sums are in {shown(out)}."
        )
