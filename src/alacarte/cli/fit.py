"""`alc fit`: learn a transform."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from alacarte._io.remote import shown
from alacarte.cli import options as o
from alacarte.cli._cluster import Cluster, Run, Scheduler, open_client
from alacarte.cli._form import form_rows
from alacarte.cli.opening import (
    detail_memory,
    finish_shard,
    forget,
    open_corpus,
    open_shard,
    open_sums,
    open_vectors,
    parse_context_weights,
    parse_ridge,
    parse_window,
    read_list,
    refuse,
)
from alacarte.cli.output import note, show_json, show_line, show_rows, voice, wrote
from alacarte.cli.outputs import CHECKPOINT, MODEL, SUMS, check_outputs

if TYPE_CHECKING:
    from alacarte.model import ALaCarte


def fit(
    ctx: typer.Context,
    vectors: o.Vectors = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the model; made if it is not there.")
    ] = None,
    paths: o.CorpusPaths = None,
    corpus: o.Corpora = None,
    manifest: o.Manifests = None,
    sums: o.Sums = None,
    save_sums: o.SaveSums = None,
    include_vectors: Annotated[
        bool,
        typer.Option("--include-vectors", help="Put the vectors into the folder too, so that it can travel."),
    ] = False,
    window: o.Window = "10",
    averaging: o.Averaging = "occurrence",
    positions: o.Positions = "uniform",
    context_weights: o.ContextWeights = "uniform",
    tokenizer: o.Tokenizer = "words",
    unknown: o.Unknown = "keep",
    tau: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            rich_help_panel=o.MATRIX,
            help="Learn from words met N times or more; auto: as many as serve words of few contexts best.",
        ),
    ] = "auto",
    log: Annotated[
        bool,
        typer.Option("--log", rich_help_panel=o.MATRIX, help="Weight words by log(count): for small corpora."),
    ] = False,
    no_weighting: Annotated[
        bool,
        typer.Option("--no-weighting", rich_help_panel=o.MATRIX, help="Every word that occurs counts the same."),
    ] = False,
    ridge: Annotated[
        str,
        typer.Option(metavar="λ|loo", rich_help_panel=o.MATRIX, help="Penalty, or loo: chosen by leaving words out."),
    ] = "0",
    toward: Annotated[
        Literal["zero", "identity"],
        typer.Option(rich_help_panel=o.MATRIX, help="What the penalty shrinks to."),
    ] = "zero",
    intercept: Annotated[
        bool, typer.Option("--intercept", rich_help_panel=o.MATRIX, help="Learn a constant vector too.")
    ] = False,
    form: Annotated[
        bool,
        typer.Option(
            "--form",
            rich_help_panel=o.MATRIX,
            help="Learn vectors from spelling too, and their weight beside contexts; reads the text twice.",
        ),
    ] = False,
    exclude: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=o.MATRIX, help="Words that take no part, one a line."),
    ] = None,
    limit: o.Limit = None,
    vectors_format: o.VectorsFormat = None,
    skip_errors: o.SkipErrors = False,
    cache: o.Cache = False,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    text: o.TextColumn = "text",
    tokens: o.TokensColumn = "tokens",
    encoding: o.Encoding = "utf-8",
    errors: o.Errors = "strict",
    threads: o.Threads = None,
    memory: o.Memory = None,
    checkpoint: o.Checkpoint = None,
    checkpoint_every: o.CheckpointEvery = 60.0,
    shard: o.Shard = None,
    scheduler: Scheduler = None,
    cluster: Cluster = None,
    run: Run = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Learn the transform that turns contexts into vectors, from word vectors and any text.

    \b
    alc fit --vectors glove.6B.50d --corpus wiki.txt.xz --out model
    alc fit --vectors my.vec --corpus a.txt --corpus b.jsonl --log --ridge loo \\
        --out model

    How words are weighted is chosen for words of few contexts unless --tau, --log or --no-weighting says it.
    """
    weighting = _weighting(tau, log, no_weighting)
    sides, penalty = parse_window(window), parse_ridge(ridge)
    part = open_shard(ctx, shard, save_sums, "out", "sums", "include_vectors")
    if out is None and part is None:
        raise typer.BadParameter("say where the model goes with --out DIR")
    if form and (sums or part is not None):
        raise typer.BadParameter("--form reads the text again; give it with --corpus, and neither --sums nor --shard")
    if form and "-" in [*(corpus or []), *(paths or [])]:
        raise typer.BadParameter("--form reads the text twice, and standard input can be read once; pass a file")
    check_outputs(ctx, out=MODEL, save_sums=SUMS, checkpoint=CHECKPOINT)
    voice.checkpoint = checkpoint or run
    left_out = [] if exclude is None else read_list(exclude)

    from alacarte.model import ALaCarte, learning_sums

    if sums:
        read_from_text = (o.CORPUS, o.CONTEXTS, o.WORK)
        refuse(ctx, "saved sums have this already; leave it out with --sums", "paths", panels=read_from_text)
        collected = open_sums(sums)
        source = open_vectors(vectors, format=vectors_format, limit=limit, skip_errors=skip_errors, cache=cache)
        documents = None
    else:
        weights = parse_context_weights(context_weights)
        if weights == "learned":
            refuse(ctx, "it is learned with --context-weights learned", "positions", "shard", "checkpoint")
        documents = open_corpus(
            [*(corpus or []), *(paths or [])],
            manifests=manifest,
            unit=unit,
            format=format,
            text=text,
            tokens=tokens,
            encoding=encoding,
            errors=errors,
        )
        source = open_vectors(vectors, format=vectors_format, limit=limit, skip_errors=skip_errors, cache=cache)
        with open_client(scheduler, cluster) as client:
            collected, learned = learning_sums(
                source,
                documents,
                window=sides,
                averaging=averaging,
                positions=positions,
                context_weights=weights,
                tokenizer=tokenizer,
                unknown=unknown,
                threads=threads,
                memory=memory,
                checkpoint=checkpoint,
                checkpoint_seconds=checkpoint_every,
                shard=part,
                show_progress=voice.progress,
                client=client,
                run=run,
            )
        if learned is not None:
            note(learned)
        detail_memory()
    if save_sums is not None:
        collected.save(save_sums)
        wrote(save_sums)
    if shard is not None or out is None:
        finish_shard(shard or "", collected, as_json)
        forget(checkpoint)
        return
    model = ALaCarte.from_sums(
        source,
        collected,
        weighting=weighting,
        ridge=penalty,
        toward=toward,
        intercept=intercept,
        exclude=left_out,
        form_corpus=documents if form else None,
        work={"threads": threads, "show_progress": voice.progress},
    )
    # A saved model finds its vectors again by path or name alone, and so could not read them this way.
    special = limit is not None or skip_errors or vectors_format is not None
    if special and not include_vectors:
        note("the vectors were not read as the file has them, so the model keeps its own copy")
    model.save(out, include_vectors=True if include_vectors or special else None, overwrite=overwrite)
    wrote(out)
    forget(checkpoint)
    _show(model, out, as_json)


def _weighting(tau: str, log: bool, no_weighting: bool) -> float | str:
    """How words are weighted, by the one option of three that was passed."""
    passed: list[float | str] = [] if tau == "auto" else [_threshold(tau)]
    passed += ["log"] * log + ["none"] * no_weighting
    if len(passed) > 1:
        raise typer.BadParameter("--tau, --log and --no-weighting exclude each other; pass one of them")
    return passed[0] if passed else "auto"


def _threshold(tau: str) -> float:
    try:
        number = float(tau)
    except ValueError:
        number = 0.0
    if not number >= 1:
        raise typer.BadParameter(f"{tau!r} is neither a number of 1 or more nor auto", param_hint="--tau")
    return number


def _show(model: "ALaCarte", out: Path, as_json: bool) -> None:
    assert model.report is not None
    if as_json:
        show_json({**model.report.to_dict(), "out": shown(out)})
    elif not voice.quiet:
        more = form_rows(model.form, model.fusion) if model.form is not None and model.fusion is not None else []
        show_rows([*model.report.rows(), *more])
        show_line(f"The model is in {shown(out)}. Next: alc embed --model {shown(out)} --word … --context …")
