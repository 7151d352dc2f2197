"""`alc concordance`: text that is read once, and questioned from then on."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from alacarte._io.options import option
from alacarte.cli._describe import concordance_facts
from alacarte.cli.command import command
from alacarte.cli.opening import named_targets, open_corpus, open_model, open_vectors
from alacarte.cli.options import AMONG, CSV, THREADS, VECTORS, WHERE, K, ModelOptions, Patterns, Sources
from alacarte.cli.output import note, note_written, save_table, show, show_rows, voice
from alacarte.cli.tables import similarities
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.concordance import Concordance

concordance = typer.Typer(no_args_is_help=True, help="Read text once, then question it: lines, vectors, sources.")

FOLDER = option(..., "A folder made by alc concordance build.", metavar="CONCORDANCE", argument=True)
LINES = option(20, "How many lines to show.", metavar="N", minimum=1)
LIKE = option(None, "The likeness to this word; repeat it for more.", metavar="WORD")


@concordance.command()
@command()
def build(
    *,
    out: Path = option(..., "The folder to make, as in reviews.concordance.", metavar="DIR", writes="concordance"),
    vectors: str | None = VECTORS,
    sources: Sources,
    column: list[str] | None = option(
        None,
        "A field or column to keep with each document, such as its date or its author; repeat it for more.",
        metavar="COLUMN",
        panel="The corpus",
    ),
    text: CorpusOptions,
    tokenizer: str = option("words", "How text is split: words, whitespace, …", metavar="NAME"),
    threads: int | None = THREADS,
) -> None:
    """Read text into a folder. Interrupted, the same command goes on where it stopped.

    \b
    alc concordance build reviews.jsonl --text body --column date --column party \\
        --vectors glove.6B.50d --out reviews.concordance
    alc concordance lines reviews.concordance --word "customer service" \\
        --where "date>=2020"
    """
    from alacarte.concordance import Concordance

    text = replace(text, spans=None)  # a concordance keeps no labelled spans
    source = open_corpus(sources.places, text, columns=column or ())
    built = Concordance.build(
        open_vectors(vectors),
        source,
        out,
        tokenizer=tokenizer,
        overwrite=voice.overwrite,
        threads=threads,
        show_progress=voice.progress,
    )
    note_written(out)
    _show_size(built)


@concordance.command()
@command()
def add(
    *,
    folder: Path = FOLDER,
    sources: Sources,
    text: CorpusOptions,
    threads: int | None = THREADS,
) -> None:
    """Add text, which has the same columns; a file that is in the concordance already is refused.

    \b
    alc concordance add reviews.concordance may.jsonl --text body
    """
    opened = _open(folder)
    source = open_corpus(sources.places, replace(text, spans=None), columns=opened.columns)
    opened.add(source, threads=threads, show_progress=voice.progress)
    _show_size(opened)


@concordance.command()
@command()
def remove(*, folder: Path = FOLDER, where: list[str] | None = WHERE) -> None:
    """Take documents out. Their text stays in the folder and is not read any more.

    \b
    alc concordance remove reviews.concordance --where "date<2001-01-01"
    """
    count = _open(folder).remove(*(where or ()))
    show({"removed": count}, f"{count:,} documents were removed.", summary=True)


@concordance.command("show")
@command()
def show_facts(*, folder: Path = FOLDER) -> None:
    """Say what is in a concordance, and check every byte.

    \b
    alc concordance show reviews.concordance
    """
    opened = _open(folder)
    opened.verify()
    _show_size(opened)


@concordance.command()
@command()
def lines(
    *,
    folder: Path = FOLDER,
    patterns: Patterns,
    where: list[str] | None = WHERE,
    limit: int = LINES,
    seed: int | None = option(None, "Show a random choice instead of the first ones.", metavar="N", minimum=0),
    csv: Path | None = CSV,
) -> None:
    """List the lines in which a word, a phrase or a pattern occurs.

    \b
    alc concordance lines reviews.concordance --word "customer service" \\
        --where "party=D" --where "date>=2020"
    alc concordance lines reviews.concordance --glob "immigr*" --csv lines.csv
    """
    chosen, target = _open(folder, where), named_targets(patterns)
    if csv is not None:
        save_table(chosen.lines(target, limit=None), csv)
    show(chosen.lines(target, limit=limit, seed=seed))
    count = chosen.count(target)
    if count > limit and not voice.as_json:
        note(f"{count - limit:,} more; --limit shows and --csv keeps them")


@concordance.command()
@command()
def nearest(
    *,
    folder: Path = FOLDER,
    patterns: Patterns,
    model: ModelOptions,
    where: list[str] | None = WHERE,
    k: int = K,
    among: int | None = AMONG,
    like: list[str] | None = LIKE,
    csv: Path | None = CSV,
) -> None:
    """List the words most like a phrase as these texts use it, with 95 % intervals.

    \b
    alc concordance nearest reviews.concordance --word "customer service" \\
        --where "date>=2020" --model glove.6B.50d
    alc concordance nearest reviews.concordance --word service --like rude \\
        --like friendly --model glove.6B.50d
    """
    induced = _open(folder, where).induce(open_model(model), named_targets(patterns))
    show(similarities(induced.uncertainty, induced.words, like, k, among, 0.95), csv=csv)


@concordance.command()
@command()
def compare(
    *,
    folder: Path = FOLDER,
    patterns: Patterns,
    where: list[str] | None = WHERE,
    other: Path | None = option(None, "Another concordance for the other side.", metavar="CONCORDANCE"),
    other_where: list[str] | None = option(None, "The documents of the other side, as --where.", metavar="CONDITION"),
    model: ModelOptions,
    min_count: int = option(20, "Uses on either side, at least.", metavar="N", minimum=2),
    cluster: str | None = option(
        None, "A column whose values are one observation each, such as speaker. [each document]", metavar="COLUMN"
    ),
    csv: Path | None = CSV,
) -> None:
    """Test whether two groups, periods or corpora use a word differently; without --word, every word.

    \b
    alc concordance compare speeches.concordance --word freedom \\
        --where "year<1900" --other-where "year>=1981" --model glove.6B.50d
    """
    from alacarte.comparing import vocabulary
    from alacarte.comparing.clusters import level_between

    if other is None and not (where and other_where):
        raise typer.BadParameter("two sides are compared: name both, with --where and --other-where, or with --other")
    opened = open_model(model)
    sides = _open(folder, where), _open(other or folder, other_where)
    targets = None if patterns == Patterns() else named_targets(patterns)
    found = vocabulary.compare(
        opened,
        *sides,
        targets,
        vocabulary=targets is None,
        min_count=min_count,
        contexts=0,
        cluster=cluster,
        show_progress=voice.progress,
    )
    level = level_between(*sides) if cluster is None and other is None else None
    if level is not None:
        note(
            f"hardly a value of {level} is on both sides, so what is peculiar to one of them counts as a difference; "
            f"--cluster {level} does not count it"
        )
    show(found, csv=csv)


def _open(path: Path, where: list[str] | None = None) -> "Concordance":
    from alacarte.concordance import Concordance

    return Concordance(path).where(*where) if where else Concordance(path)


def _show_size(opened: "Concordance") -> None:
    facts = concordance_facts(opened)
    shown = {**facts, "columns": ", ".join(opened.columns) or "none"}
    show(facts, lambda: show_rows([*shown.items()]), summary=True)
