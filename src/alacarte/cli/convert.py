"""`alc convert`: any vector format to any other, or to an index."""

from pathlib import Path

from alacarte._io.options import option
from alacarte._io.urls import display_name
from alacarte.cli.command import command
from alacarte.cli.opening import open_vectors, refuse
from alacarte.cli.options import LIMIT, SKIP_ERRORS
from alacarte.cli.output import note_written, show, voice
from alacarte.cli.outputs import OF_VECTORS, check_vectors, format_for


@command()
def convert(
    *,
    source: str = option(..., "A file of any common format, or glove.6B.50d.", metavar="IN", argument=True),
    out: str = option(
        ...,
        "The file to write, whose ending gives the format; or -, standard output.",
        metavar="OUT",
        argument=True,
        writes=OF_VECTORS,
    ),
    from_format: str | None = option(None, "Format of IN, if its content misleads.", flag="--format", metavar="FORMAT"),
    trust: bool = option(False, "Open a pickle of gensim's (--format gensim-pickle): its code is run."),
    to: str | None = option(None, "Format of OUT, if the ending of its name does not give it.", metavar="FORMAT"),
    space: str | None = option(
        None, "What to write for spaces in phrases, as in --space _ for gensim.", metavar="TEXT"
    ),
    limit: int | None = LIMIT,
    skip_errors: bool = SKIP_ERRORS,
) -> None:
    """Convert word vectors from any format to any other.

    \b
    alc convert GoogleNews-vectors-negative300.bin.gz news.safetensors
    alc convert glove.6B.50d first.vec.gz --limit 50000
    alc convert new.safetensors - | head
    alc convert ngrams.safetensors ngrams.index

    Every value stays exactly the same. Endings: .safetensors, .npy (with .vocab.txt), .parquet, .arrow or .feather,
    .csv, .tsv, .kv (gensim), .txt (GloVe), .vec (word2vec text), .bin (word2vec binary). A folder: --to model2vec.
    An .index, for alc nearest, finds the neighbours of a word among millions in milliseconds.
    """
    index = Path(out).suffix.lower() == ".index"
    if index:
        refuse("does not go with an index", "to", "space")
    else:
        to = format_for(Path(out), to)
        check_vectors(Path(out), to)
    vectors = open_vectors(source, format=from_format, limit=limit, skip_errors=skip_errors, trust=trust)
    facts: dict[str, object] = {"out": display_name(out), "words": len(vectors), "dimension": vectors.dimension}
    facts["skipped"] = dict(vectors.skipped.counts)
    line = f"{len(vectors):,} vectors of {vectors.dimension} dimensions are in {display_name(out)}."
    if index:
        from alacarte.vectors.neighbours import Index

        built = Index.build(vectors, show_progress=voice.progress)
        built.save(out, overwrite=voice.overwrite)
        recall = built.recall()
        facts |= {"backend": built.backend, "recall": recall.to_dict()}
        line += (
            f" {built.backend}: recall@{recall.k} {recall.recall:.3f} of {recall.queries} queries; "
            f"{recall.milliseconds:.2f} ms a query, exact {recall.exact_milliseconds:.2f} ms."
        )
    else:
        vectors.save(out, to, space=space, overwrite=voice.overwrite)
    note_written(out)
    show(facts, line, summary=True)
