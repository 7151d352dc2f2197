"""`alc convert`: any vector format to any other."""

from pathlib import Path
from typing import Annotated

import typer

from alacarte._io.remote import shown
from alacarte.cli import options as o
from alacarte.cli.opening import open_vectors
from alacarte.cli.output import show_json, show_line, voice, wrote
from alacarte.cli.outputs import VECTORS, check_outputs, check_vectors, format_for, or_standard_output


def convert(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="IN", help="A file of any common format, or glove.6B.50d.")],
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            callback=or_standard_output,
            help="The file to write, whose ending tells the format; or a table of a database; or -, standard output.",
        ),
    ],
    from_format: Annotated[
        str | None, typer.Option("--from", "--format", metavar="FORMAT", help="Format of IN, if its content misleads.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Open a pickle of gensim's (--from gensim-pickle): its code is run.")
    ] = False,
    to: o.To = None,
    space: o.Space = None,
    limit: o.Limit = None,
    skip_errors: o.SkipErrors = False,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Convert word vectors from any format to any other; every value stays exactly the same.

    \b
    alc convert GoogleNews-vectors-negative300.bin.gz news.safetensors
    alc convert glove.6B.50d first.vec.gz --limit 50000
    alc convert new.safetensors - | head
    alc convert news.safetensors "postgresql://localhost/lab?table=words"

    Endings: .safetensors, .npy (with .vocab.txt), .parquet, .arrow or .feather, .csv, .tsv, .rds (R), .kv (gensim),
    .txt (GloVe), .vec (word2vec text), .bin (word2vec binary). Folders: --to model2vec, --to hub (Hugging Face).
    Databases: postgresql://… (pgvector), lancedb:///FOLDER, both with ?table=NAME; qdrant://…?collection=NAME.
    """
    from alacarte.vectors.databases import check_database, is_database

    if is_database(out):
        check_database(out, overwrite)
    else:
        to = format_for(Path(out), to)
        check_vectors(Path(out), to)
        check_outputs(ctx, out=VECTORS)
    vectors = open_vectors(source, format=from_format, limit=limit, skip_errors=skip_errors, trust=trust)
    vectors.save(out, to, space=space, overwrite=overwrite)
    wrote(out)
    if as_json:
        show_json(
            {
                "out": shown(out),
                "words": len(vectors),
                "dimension": vectors.dimension,
                "skipped": dict(vectors.skipped.counts),
            }
        )
    elif not voice.quiet:
        show_line(f"{len(vectors):,} vectors of {vectors.dimension} dimensions are in {shown(out)}.")
