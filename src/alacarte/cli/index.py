"""`alc index`: nearest words and n-grams among millions."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import open_vectors
from alacarte.cli.output import neighbour_dicts, show_json, show_line, show_neighbours, voice, wrote
from alacarte.cli.outputs import INDEX, check_outputs

app = typer.Typer(no_args_is_help=True, help="Search millions of vectors in milliseconds: build an index, query it.")

IndexFile = Annotated[Path, typer.Argument(metavar="INDEX", help="A file made by alc index build.")]
Effort = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Candidates to look at; more finds more, and takes longer (256 if left out)."
    ),
]


@app.command()
def build(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
    vectors: o.VectorsArgument = None,
    backend: Annotated[
        Literal["auto", "exact", "usearch"], typer.Option(help="auto: exact below 200,000 vectors, usearch above.")
    ] = "auto",
    precision: Annotated[
        Literal["f32", "f16", "bf16", "i8"], typer.Option(help="Of the values in the graph.")
    ] = "bf16",
    connectivity: Annotated[int, typer.Option(min=2, help="Edges of a node in the graph.")] = 32,
    effort: Annotated[int, typer.Option(min=1, help="How carefully the graph is built.")] = 64,
    queries: Annotated[
        int, typer.Option("--recall", min=0, metavar="N", help="Measure recall@10 with N queries; 0 does not.")
    ] = 100,
    threads: o.Threads = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Build an index over vectors, and measure what it finds against the exact search.

    \b
    alc induce --model glove.6B.50d --corpus news.txt --discover --ngrams 2,3 \\
        --out ngrams.safetensors
    alc index build ngrams.safetensors --out ngrams.index
    """
    check_outputs(ctx, out=INDEX)
    from alacarte._io.remote import shown
    from alacarte.vectors.neighbours import Index

    index = Index.build(
        open_vectors(vectors),
        backend=backend,
        precision=precision,
        connectivity=connectivity,
        effort=effort,
        threads=threads,
        show_progress=voice.progress,
    )
    index.save(out, overwrite=overwrite)
    wrote(out)
    measured = index.recall(queries=queries) if queries else None
    if as_json:
        recall = None if measured is None else measured.to_dict()
        show_json({"out": shown(out), "vectors": len(index), "backend": index.backend, "recall": recall})
        return
    if voice.quiet:
        return
    show_line(f"{len(index):,} vectors, {index.backend}, in {shown(out)}.")
    if measured is not None:
        show_line(
            f"recall@{measured.k} {measured.recall:.3f} of {measured.queries} queries; {measured.milliseconds:.2f} ms "
            f"a query, exact {measured.exact_milliseconds:.2f} ms."
        )


@app.command()
def query(
    file: IndexFile,
    word: o.Words = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE|NAME", help="Take the words from these vectors of the same space."),
    ] = None,
    k: o.K = 10,
    effort: Effort = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """List the nearest entries of an index.

    \b
    alc index query ngrams.index --word "waste of time"
    alc index query ngrams.index --word boring --from glove.6B.50d
    """
    if not word:
        raise typer.BadParameter("no word is given; pass --word WORD")
    from alacarte.vectors.neighbours import Index

    index = Index.load(file)
    vectors = index.vectors if source is None else open_vectors(source)
    lists = {asked: index.nearest(vectors[asked], k, exclude=[asked], effort=effort) for asked in word}
    if as_json:
        show_json({asked: neighbour_dicts(neighbours) for asked, neighbours in lists.items()})
    else:
        show_neighbours(lists)
