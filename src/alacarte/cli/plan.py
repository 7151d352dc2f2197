"""`alc plan`: share a pass over text out among many processes."""

from pathlib import Path
from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import (
    listed_targets,
    open_corpus,
    open_model,
    open_vectors,
    parse_context_weights,
    parse_window,
    refuse,
)
from alacarte.cli.output import show_json, show_line, voice, wrote


def plan(
    ctx: typer.Context,
    run: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the run, on a disk that all machines see.")
    ],
    paths: o.CorpusPaths = None,
    vectors: Annotated[
        str | None, typer.Option(metavar="FILE|NAME", help="Word vectors, to learn a model for; or pass --model.")
    ] = None,
    model: o.Model = None,
    corpus: o.Corpora = None,
    manifest: o.Manifests = None,
    tasks: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many tasks to make.")] = None,
    task_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Without --tasks: how much text a task reads, as in 4GB.")
    ] = "4GB",
    word: o.Words = None,
    words: o.WordFiles = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    spans: o.AllSpans = False,
    span: o.SpanLabels = None,
    spread: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Sums by N groups of documents, for alc certainty: 16.")
    ] = None,
    window: o.Window = "10",
    averaging: o.Averaging = "occurrence",
    positions: o.Positions = "uniform",
    context_weights: o.ContextWeights = "uniform",
    tokenizer: o.Tokenizer = "words",
    unknown: o.Unknown = "keep",
    limit: o.Limit = None,
    vectors_format: o.VectorsFormat = None,
    skip_errors: o.SkipErrors = False,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    text: o.TextColumn = "text",
    tokens: o.TokensColumn = "tokens",
    spans_column: o.SpansColumn = "spans",
    encoding: o.Encoding = "utf-8",
    errors: o.Errors = "strict",
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Share a pass over text out among many processes, on one machine or on many that see the same disk.

    \b
    alc plan --vectors my.vec --corpus 'text/*.txt' --tasks 64 --out run
    alc work run --any
    alc status run
    alc reduce run --out all.sums
    alc fit --vectors my.vec --sums all.sums --out model

    Without targets, the sums are those of every word, to learn a model from; with targets, those to induce vectors
    from. With --model, contexts are read as the model needs them.
    """
    from alacarte.contexts.reading import ReadingOptions
    from alacarte.passes.plan import plan as make_plan

    if (vectors is None) == (model is None):
        raise typer.BadParameter("pass --vectors FILE|NAME, to learn a model, or --model DIR|NAME, to use one")
    listed = listed_targets(word, words, glob, regex, span, spans)
    some = bool(len(listed)) or spans
    documents = open_corpus(
        [*(corpus or []), *(paths or [])],
        manifests=manifest,
        unit=unit,
        format=format,
        text=text,
        tokens=tokens,
        spans=spans_column,
        encoding=encoding,
        errors=errors,
    )
    reading: ReadingOptions
    if model is not None:
        refuse(ctx, "is the model's own; leave it out with --model", panels=(o.CONTEXTS, o.VECTORS))
        opened = open_model(model)
        source, reading = opened.vectors, opened.reading
    else:
        assert vectors is not None
        source = open_vectors(vectors, format=vectors_format, limit=limit, skip_errors=skip_errors)
        reading = {
            "window": parse_window(window),
            "averaging": averaging,
            "positions": positions,
            "context_weights": parse_context_weights(context_weights),
            "tokenizer": tokenizer,
            "unknown": unknown,
        }
    made = make_plan(
        source,
        documents,
        listed if some else None,
        out=run,
        tasks=tasks,
        task_size=task_size,
        spread=spread,
        **reading,
    )
    wrote(run)
    if as_json:
        counting = len(made.counting_tasks)
        show_json({"out": str(run), "tasks": made.tasks, "counting_tasks": counting, "size": documents.size})
    elif not voice.quiet:
        first = f", the first {len(made.counting_tasks)} of which count words for the others" if made.counting else ""
        show_line(f"{made.tasks} tasks{first}. Next: alc work {run} --any, in as many processes as you like.")
