"""`alc merge`: add saved sums."""

from pathlib import Path

from alacarte._io.options import option
from alacarte._io.urls import display_name
from alacarte.cli.command import command
from alacarte.cli.output import note_written, show


@command()
def merge(
    *,
    sums: list[Path] = option(..., "Files that --save-sums wrote.", metavar="SUMS", argument=True),
    out: Path = option(..., "Where the total goes.", metavar="FILE", writes="context sums"),
    subtract: list[Path] | None = option(None, "Take these away from the total; repeat it for more.", metavar="SUMS"),
    shared_only: bool = option(False, "Keep the targets that were looked for in all of the files."),
) -> None:
    """Add up saved context sums, or take some away.

    \b
    alc fit --vectors V --corpus part1.txt --save-sums 1.sums --out m1
    alc fit --vectors V --corpus part2.txt --save-sums 2.sums --out m2
    alc merge 1.sums 2.sums --out all.sums
    alc fit --vectors V --sums all.sums --out model
    alc merge all.sums --subtract 1.sums --out 2.sums
    """
    from alacarte.contexts.merging import merge_files

    total = merge_files(sums, out, subtract=subtract or (), shared_only=shared_only)
    note_written(out)
    facts = {
        "out": display_name(out),
        "files": len(sums),
        "targets": len(total),
        "occurrences": int(total.occurrences.sum()),
        "documents": total.documents,
        "tokens_read": total.tokens_read,
    }
    taken = f", {len(subtract)} taken away" if subtract else ""
    show(
        facts,
        f"{len(sums)} files added{taken}: {len(total):,} targets, {total.tokens_read:,} tokens in "
        f"{total.documents:,} documents. The sums are in {display_name(out)}.",
        summary=True,
    )
