"""`alc concordance`: text that is read once, and questioned from then on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import listed_targets, open_corpus, open_model, open_vectors
from alacarte.cli.output import note, show_columns, show_json, show_line, show_rows, voice, wrote
from alacarte.cli.outputs import check_outputs

if TYPE_CHECKING:
    from alacarte._io.table import Table
    from alacarte.concordance import Concordance
    from alacarte.targets.targets import Targets

app = typer.Typer(
    no_args_is_help=True, help="Read text once; then ask for the lines, the vectors and the sources of any phrase."
)

Folder = Annotated[Path, typer.Argument(metavar="CONCORDANCE", help="A folder made by alc concordance build.")]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        "--date",
        "--group",
        metavar="COLUMN",
        rich_help_panel=o.CORPUS,
        help="A field or column to keep with each document, such as its date or its author; repeat it for more. "
        "--date and --group are other names of this.",
    ),
]
Count = Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many lines to show.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all lines as CSV.")]
TableCsv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.")]


@app.command()
def build(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make, as in reviews.concordance.")],
    vectors: o.Vectors = None,
    paths: o.CorpusPaths = None,
    corpus: o.Corpora = None,
    column: Column = None,
    tokenizer: o.Tokenizer = "words",
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    text: o.TextColumn = "text",
    tokens: o.TokensColumn = "tokens",
    encoding: o.Encoding = "utf-8",
    errors: o.Errors = "strict",
    threads: o.Threads = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Delete a concordance that is there already.")] = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Read text into a folder. Interrupted, the same command goes on where it stopped.

    \b
    alc concordance build reviews.jsonl --text body --column date --column party \\
        --vectors glove.6B.50d --out reviews.concordance
    alc concordance lines reviews.concordance --word "customer service" \\
        --where "date>=2020"
    """
    from alacarte.concordance import Concordance

    source = open_corpus(
        [*(paths or ()), *(corpus or ())],
        unit=unit,
        format=format,
        text=text,
        tokens=tokens,
        spans="",
        columns=column or (),
        encoding=encoding,
        errors=errors,
    )
    built = Concordance.build(
        open_vectors(vectors),
        source,
        out,
        tokenizer=tokenizer,
        overwrite=overwrite,
        threads=threads,
        show_progress=voice.progress,
    )
    wrote(out)
    _show_size(built, as_json)


@app.command()
def add(
    concordance: Folder,
    paths: o.CorpusPaths = None,
    corpus: o.Corpora = None,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    text: o.TextColumn = "text",
    tokens: o.TokensColumn = "tokens",
    encoding: o.Encoding = "utf-8",
    errors: o.Errors = "strict",
    threads: o.Threads = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Add text, which has the same columns; a file that is there already is refused.

    \b
    alc concordance add reviews.concordance may.jsonl --text body
    """
    opened = _open(concordance)
    source = open_corpus(
        [*(paths or ()), *(corpus or ())],
        unit=unit,
        format=format,
        text=text,
        tokens=tokens,
        spans="",
        columns=opened.columns,
        encoding=encoding,
        errors=errors,
    )
    opened.add(source, threads=threads, show_progress=voice.progress)
    _show_size(opened, as_json)


@app.command()
def remove(
    concordance: Folder,
    where: o.Where = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Take documents out. Their text stays in the folder and is not read any more.

    \b
    alc concordance remove reviews.concordance --where "date<2001-01-01"
    """
    count = _open(concordance).remove(*(where or ()))
    if as_json:
        show_json({"removed": count})
    elif not voice.quiet:
        show_line(f"{count:,} documents were removed.")


@app.command()
def show(concordance: Folder, as_json: o.Json = False, verbosity: o.Verbosity = None) -> None:
    """What is in a concordance, and whether every byte is as it was written.

    \b
    alc concordance show reviews.concordance
    """
    opened = _open(concordance)
    opened.verify()
    _show_size(opened, as_json)


@app.command()
def lines(
    ctx: typer.Context,
    concordance: Folder,
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    where: o.Where = None,
    limit: Count = 20,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Show a random choice instead of the first ones.")
    ] = None,
    csv: Csv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """The lines in which a word, a phrase or a pattern stands.

    \b
    alc concordance lines reviews.concordance --word "customer service" \\
        --where "party=D" --where "date>=2020"
    alc concordance lines reviews.concordance --glob "immigr*" --csv lines.csv
    """
    check_outputs(ctx, csv=None)
    chosen, target = _open(concordance, where), _targets(word, glob, regex)
    count = chosen.count(target)
    shown = chosen.lines(target, limit=limit, seed=seed)
    if csv is not None:
        chosen.lines(target, limit=None).to_csv(csv)
        wrote(csv)
    _show(shown, as_json)
    if count > limit and not as_json:
        note(f"{count - limit:,} more; --limit shows and --csv keeps them")


@app.command()
def influence(
    ctx: typer.Context,
    concordance: Folder,
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    where: o.Where = None,
    limit: Count = 20,
    csv: Csv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """The lines that made the vector of a phrase, those that count most first.

    The shares of all lines add up to 1; change is how far the vector would turn without the line.

    \b
    alc concordance influence reviews.concordance --word "customer service" \\
        --model glove.6B.50d
    """
    check_outputs(ctx, csv=None)
    opened = open_model(model, vectors=vectors, transform=transform)
    chosen, target = _open(concordance, where), _targets(word, glob, regex)
    if csv is not None:
        chosen.influence(opened, target, limit=None).to_csv(csv)
        wrote(csv)
    _show(chosen.influence(opened, target, limit=limit), as_json)


@app.command()
def nearest(
    ctx: typer.Context,
    concordance: Folder,
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    where: o.Where = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, metavar="N", help="How many words.")] = 10,
    among: o.Among = None,
    like: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="These words instead of the nearest; repeat it for more.")
    ] = None,
    csv: TableCsv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """The words most like a phrase as these texts use it, with 95 % intervals.

    \b
    alc concordance nearest reviews.concordance --word "customer service" \\
        --where "date>=2020" --model glove.6B.50d
    alc concordance nearest reviews.concordance --word service --like rude \\
        --like friendly --model glove.6B.50d
    """
    from alacarte.inference.uncertainty import Similarities

    check_outputs(ctx, csv=None)
    opened = open_model(model, vectors=vectors, transform=transform)
    induced = _open(concordance, where).induce(opened, _targets(word, glob, regex))
    sure = induced.uncertainty
    lists = [sure.similarities(each, like) if like else sure.nearest(each, k, among=among) for each in induced.words]
    _show_and_keep(Similarities(tuple(item for items in lists for item in items)), csv, as_json)


@app.command()
def over(
    ctx: typer.Context,
    concordance: Folder,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="The column of dates or numbers.")],
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    like: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="A word to compare with; repeat it for more.")
    ] = None,
    periods: Annotated[int, typer.Option(min=1, metavar="N", help="How many periods at most.")] = 12,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    where: o.Where = None,
    csv: TableCsv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """A phrase over time: how often it is used, and how like other words it is.

    \b
    alc concordance over speeches.concordance --word freedom --by year \\
        --like rights --like hope --model glove.6B.50d
    """
    from alacarte.concordance import over_periods

    check_outputs(ctx, csv=None)
    opened = open_model(model, vectors=vectors, transform=transform)
    target = _targets(word, glob, regex)
    if len(target) > 1:
        raise typer.BadParameter("name one word, phrase or pattern at a time")
    _show_and_keep(over_periods(_open(concordance, where), opened, target, by, like or (), most=periods), csv, as_json)


@app.command()
def compare(
    ctx: typer.Context,
    concordance: Folder,
    word: Annotated[
        list[str] | None,
        typer.Option("--word", "-w", metavar="WORD", help="A word or phrase; all words without one. Repeat it."),
    ] = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    where: o.Where = None,
    other: Annotated[
        Path | None, typer.Option(metavar="CONCORDANCE", help="Another concordance for the other side.")
    ] = None,
    other_where: Annotated[
        list[str] | None, typer.Option(metavar="CONDITION", help="The documents of the other side, as --where.")
    ] = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    min_count: Annotated[int, typer.Option(min=2, metavar="N", help="Uses on either side, at least.")] = 20,
    csv: TableCsv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Do two groups, periods or corpora use a word differently, or which of all words?

    \b
    alc concordance compare speeches.concordance --word freedom \\
        --where "year<1900" --other-where "year>=1981" --model glove.6B.50d
    """
    from alacarte.inference.comparing import compare_uses
    from alacarte.inference.vocabulary import compare as compare_words

    check_outputs(ctx, csv=None)
    opened = open_model(model, vectors=vectors, transform=transform)
    sides = _open(concordance, where), _open(other or concordance, other_where)
    if word or glob or regex:
        target = _targets(word, glob, regex)
        found = compare_uses(sides[0].induce(opened, target), sides[1].induce(opened, target), list(target))
    else:
        found = compare_words(opened, *sides, min_count=min_count, contexts=0, show_progress=voice.progress)
    _show_and_keep(found, csv, as_json)


@app.command("map")
def draw_map(
    ctx: typer.Context,
    concordance: Folder,
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    where: o.Where = None,
    csv: TableCsv = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Words on a plane: where their own vectors put them and where these texts do, with regions of doubt.

    \b
    alc concordance map reviews.concordance --word plot --word acting \\
        --word director --csv map.csv --model glove.6B.50d
    """
    from alacarte.inference.word_map import word_map

    check_outputs(ctx, csv=None)
    opened = open_model(model, vectors=vectors, transform=transform)
    induced = _open(concordance, where).induce(opened, _targets(word, glob, regex))
    if induced.missing:
        note(f"not on the map, since these texts do not use it: {', '.join(induced.missing)}")
    _show_and_keep(word_map(induced.uncertainty), csv, as_json)


def _show_and_keep(table: "Table", csv: Path | None, as_json: bool) -> None:
    if csv is not None:
        table.to_csv(csv)
        wrote(csv)
    _show(table, as_json)


def _open(path: Path, where: list[str] | None = None) -> "Concordance":
    from alacarte.concordance import Concordance

    return Concordance(path).where(*where) if where else Concordance(path)


def _targets(words: list[str] | None, globs: list[str] | None, regexes: list[str] | None) -> "Targets":
    if not (words or globs or regexes):
        raise typer.BadParameter("no word is given; pass --word WORD, --glob PATTERN or --regex PATTERN")
    return listed_targets(words, None, globs, regexes)


def _show(table: "Table", as_json: bool) -> None:
    if as_json:
        show_json(table.to_dict())
        return
    names, rows, _ = table.cells()
    show_columns(names, rows)


def _show_size(concordance: "Concordance", as_json: bool) -> None:
    facts = {
        "path": str(concordance.path),
        "documents": len(concordance),
        "tokens": concordance.tokens,
        "columns": list(concordance.columns),
        "tokenizer": concordance.tokenizer.name,
    }
    if as_json:
        show_json(facts)
    elif not voice.quiet:
        columns = ", ".join(concordance.columns) or "none"
        show_rows([(name, columns if name == "columns" else value) for name, value in facts.items()])
