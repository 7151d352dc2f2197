"""`alc fit`: learn a transform."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from alacarte._io.options import described, option
from alacarte._io.urls import display_name
from alacarte.cli._spelling import form_rows
from alacarte.cli.command import command
from alacarte.cli.opening import (
    check_shard,
    finish_shard,
    keywords_of_reading,
    keywords_of_work,
    load_matrix,
    only_one,
    open_corpus,
    open_sums,
    open_vectors,
    refuse,
    save_sums_to,
    typed_options,
)
from alacarte.cli.options import LIMIT, SAVE_SUMS, SKIP_ERRORS, SUMS, VECTORS, Sources
from alacarte.cli.output import note_written, show, show_rows, voice
from alacarte.contexts.reading import Reading
from alacarte.passes.work import Work
from alacarte.text.options import CorpusOptions
from alacarte.transform.solve import Solve

if TYPE_CHECKING:
    from alacarte.model import ALaCarte
    from alacarte.vectors.word_vectors import WordVectors


@command()
def fit(
    *,
    vectors: str | None = VECTORS,
    out: Path | None = option(None, "Folder for the model; created if need be.", metavar="DIR", writes="model"),
    sums: list[Path] | None = SUMS,
    save_sums: Path | None = SAVE_SUMS,
    include_vectors: bool | None = option(
        None,
        "Save the vectors in the folder, too. [unless they ship under a name]",
        flag="--include-vectors/--no-include-vectors",
    ),
    form: bool = option(
        False, "Learn vectors from spelling too, and their weight beside contexts; reads the text twice."
    ),
    adapt: bool = option(
        True,
        "Adapt vectors to the text they come from; near words then count more. Without: as in the paper.",
        flag="--adapt/--no-adapt",
    ),
    transform: Path | None = option(
        None,
        "Learn nothing: make a model of a matrix (.safetensors, .bin, .npy, .csv, .rds) that was learned "
        "with this --window, --averaging and --tokenizer.",
        metavar="FILE",
    ),
    limit: int | None = LIMIT,
    skip_errors: bool = SKIP_ERRORS,
    sources: Sources,
    text: CorpusOptions,
    reading: Reading,
    solve: Solve,
    work: Work,
) -> None:
    """Learn a transform from word vectors and any text.

    \b
    alc fit --vectors glove.6B.50d --corpus wiki.txt.xz --out model
    alc fit --vectors my.vec --corpus a.txt --corpus b.jsonl --weighting log \\
        --ridge loo --out model
    alc fit --vectors glove.6B.50d --transform 6B.50d.bin --window 10 --out model
    """
    check_shard(work, save_sums, out, "sums", "include_vectors", "form")
    only_one("sums", "form")
    only_one("sums", "transform")
    if form and "-" in sources.places:
        raise typer.BadParameter("--form reads the text twice, and standard input can be read once; pass a file")
    if transform is not None:
        refuse("nothing is learned with --transform", "save_sums", "form", Sources, CorpusOptions, Solve, Work)
    elif sums:
        refuse("saved sums have this already; leave it out with --sums", Sources, CorpusOptions, Reading, Work)
    documents = None if transform or sums else open_corpus(sources.places, text)
    source = open_vectors(vectors, limit=limit, skip_errors=skip_errors)
    if transform is not None:
        _save(_of_matrix(source, transform, reading), out, include_vectors)
        return

    from alacarte.model.model import ADAPTED_POSITIONS, ALaCarte
    from alacarte.passes.collect import collect

    if documents is None:
        collected = open_sums(sums or [])
    else:
        if adapt and not typed_options("positions"):
            reading = replace(reading, positions=ADAPTED_POSITIONS)
        collected = collect(source, documents, **keywords_of_reading(reading), **keywords_of_work(work))
    save_sums_to(save_sums, collected)
    if work.shard is not None:
        finish_shard(work, collected)
        return
    model = ALaCarte.from_sums(
        source,
        collected,
        **{name: getattr(solve, name) for name in described(Solve)},
        form_corpus=documents if form else None,
        adapt=adapt,
        work={"threads": work.threads, "show_progress": voice.progress},
    )
    _save(model, out, include_vectors)


def _of_matrix(vectors: "WordVectors", file: Path, reading: Reading) -> "ALaCarte":
    """Return a model of a matrix that was learned elsewhere."""
    from alacarte.model import ALaCarte

    found = load_matrix(file, vectors, averaging=reading.averaging)
    weights = (found.settings or reading).weights
    return ALaCarte(vectors, replace(found, settings=replace(reading, weights=weights)))


def _save(model: "ALaCarte", out: Path | None, include_vectors: bool | None) -> None:
    """Save a model and say so."""
    assert out is not None
    model.save(out, include_vectors=include_vectors, overwrite=voice.overwrite)
    note_written(out)
    rows: list[tuple[str, object]] = [] if model.report is None else [*model.report.rows()]
    if model.form is not None and model.fusion is not None:
        rows += form_rows(model.form, model.fusion)
    facts = {"settings": asdict(model.settings)} if model.report is None else model.report.to_dict()
    show(
        {**facts, "out": display_name(out)},
        *([lambda: show_rows(rows)] if rows else []),
        f"The model is in {display_name(out)}. Next: alc embed --model {display_name(out)} --word … --context …",
        summary=True,
    )
