"""`alc reduce`: add up what the tasks of a run made."""

from pathlib import Path
from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import detail_memory
from alacarte.cli.output import show_json, show_line, voice, wrote
from alacarte.cli.outputs import SUMS, check_outputs


def reduce(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that alc plan made.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the sums go.")],
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Add up what the tasks of a run made: the sums of one pass over all of the text, to the last bit.

    \b
    alc reduce run --out all.sums
    alc fit --vectors my.vec --sums all.sums --out model

    A few rows of all parts are in memory at a time, and every unit of text is checked to be there exactly once.
    """
    from alacarte._io.remote import shown
    from alacarte.passes.plan import read_plan, total

    check_outputs(ctx, out=SUMS)
    sums = total(read_plan(run))
    sums.save(out)
    wrote(out)
    detail_memory()
    if as_json:
        facts = {"targets": len(sums), "documents": sums.documents, "tokens_read": sums.tokens_read}
        show_json({"out": shown(out), **facts, "occurrences": int(sums.occurrences.sum())})
    elif not voice.quiet:
        then = "alc fit" if sums.targets is None else "alc induce"
        show_line(
            f"{len(sums):,} targets, {sums.tokens_read:,} tokens in {sums.documents:,} documents. "
            f"The sums are in {shown(out)}. Next: {then} --sums {shown(out)}; the folder {run} is not needed any more."
        )
