"""`alc induce`: vectors for targets, from a corpus."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alacarte._io.progress import phase
from alacarte._io.remote import shown
from alacarte.cli import options as o
from alacarte.cli._cluster import Cluster, Run, Scheduler, open_client
from alacarte.cli._form import with_form
from alacarte.cli.opening import (
    detail_memory,
    finish_shard,
    forget,
    listed_targets,
    open_corpus,
    open_model,
    open_shard,
    open_sums,
    parse_lengths,
    refuse,
    write_lines,
)
from alacarte.cli.output import note, show_json, show_line, voice, wrote
from alacarte.cli.outputs import CHECKPOINT, SUMS, VECTORS, check_outputs, check_vectors, format_for, or_standard_output
from alacarte.errors import NotEnoughData

if TYPE_CHECKING:
    from alacarte.model import ALaCarte, InducedVectors
    from alacarte.passes.work import WorkOptions
    from alacarte.targets.targets import Targets
    from alacarte.text.corpus import Corpus

LOW_COVERAGE = 0.8  # of the tokens: English text has .9 and more in vectors of its language
SHOWN = 8  # missing targets named in the summary


def induce(
    ctx: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=or_standard_output,
            help="Where the vectors go: .safetensors, .csv, .parquet, .vec, …; - is standard output (TSV, or --to).",
        ),
    ] = None,
    paths: o.CorpusPaths = None,
    model: o.Model = None,
    corpus: o.Corpora = None,
    manifest: o.Manifests = None,
    where: o.Where = None,
    word: o.Words = None,
    words: o.WordFiles = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    spans: o.AllSpans = False,
    span: o.SpanLabels = None,
    discover: Annotated[
        bool,
        typer.Option("--discover", rich_help_panel=o.TARGETS, help="What is frequent in the corpus and has no vector."),
    ] = False,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", rich_help_panel=o.TARGETS, help="All n-grams of these documents (see --ngrams)."),
    ] = None,
    ngrams: Annotated[
        str,
        typer.Option(
            metavar="N,N",
            rich_help_panel=o.TARGETS,
            help="With --discover: lengths, as in 1,2; with --task also N, for all up to it.",
        ),
    ] = "1",
    min_count: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", rich_help_panel=o.TARGETS, help="How frequent: 10 with --discover, 1 with --task."
        ),
    ] = None,
    known: Annotated[
        bool,
        typer.Option("--known", rich_help_panel=o.TARGETS, help="With these two: words that have a vector, too."),
    ] = False,
    sums: o.Sums = None,
    save_sums: o.SaveSums = None,
    update: Annotated[
        Path | None,
        typer.Option(metavar="SUMS", help="Continue saved sums with more text, for the same targets."),
    ] = None,
    spread: Annotated[
        int | None,
        typer.Option(
            min=2, metavar="N", rich_help_panel=o.WORK, help="Sums by N groups of documents, for alc certainty: 16."
        ),
    ] = None,
    form: Annotated[
        bool, typer.Option("--form", help="Add what the spelling of words says; those that do not occur have it alone.")
    ] = False,
    missing: Annotated[
        Path | None, typer.Option(metavar="FILE", help="List the targets that do not occur, one a line.")
    ] = None,
    to: o.To = None,
    space: o.Space = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    window: o.ModelWindow = None,
    averaging: o.ModelAveraging = None,
    tokenizer: o.ModelTokenizer = None,
    force: o.Force = False,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    text: o.TextColumn = "text",
    tokens: o.TokensColumn = "tokens",
    spans_column: o.SpansColumn = "spans",
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
    """Give every word, phrase, pattern or label in a list a vector, from a corpus that mentions it.

    \b
    alc induce --model glove.6B.50d --corpus news.txt --words words.txt \\
        --out new.safetensors
    alc induce --model model --corpus news.txt --discover --ngrams 1,2 \\
        --min-count 10 --out new.vec
    alc induce --model model --corpus news.txt --task reviews.csv --ngrams 3 \\
        --out ngrams.safetensors

    Targets that do not occur get no vector; the summary says which, and --missing keeps the list.
    """
    if not (discover or task):
        refuse(ctx, "goes with --discover or --task", "ngrams", "min_count", "known")
    if sums:
        read_from_text = (o.TARGETS, o.CORPUS, o.WORK)
        refuse(ctx, "saved sums have this already; leave it out with --sums", "paths", "update", panels=read_from_text)
    part = open_shard(ctx, shard, save_sums, "out", "update", "missing")
    if part is None and out is None:
        raise typer.BadParameter("say where the vectors go with --out FILE")
    if update is not None:
        refuse(ctx, "--update continues the targets of the saved sums; leave it out", panels=(o.TARGETS,))
    elif not sums and not (word or words or glob or regex or spans or span or discover or task):
        raise typer.BadParameter("nothing to embed is given; pass --word WORD, --words FILE, --discover or --task")
    to = format_for(out, to)
    lengths = parse_lengths(ngrams)
    listed = listed_targets(word, words, glob, regex, span, spans)
    if out is not None:
        phrases = ["a phrase"] if (discover or task) and max(lengths) > 1 else []
        check_vectors(out, to, [*listed, *phrases], space)
    check_outputs(
        ctx,
        out=VECTORS,
        save_sums=SUMS,
        missing=None,
        checkpoint=CHECKPOINT,
        in_place=("save_sums", "update"),
    )
    voice.checkpoint = checkpoint or run
    documents = None
    if not sums:
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
            where=where,
        )
    opened = open_model(
        model,
        vectors=vectors,
        transform=transform,
        window=window,
        averaging=averaging,
        tokenizer=tokenizer,
        force=force,
    )
    if form:
        opened = with_form(opened)
        opened.require_form()
    work: WorkOptions = {
        "threads": threads,
        "memory": memory,
        "checkpoint": checkpoint,
        "checkpoint_seconds": checkpoint_every,
        "shard": part,
        "show_progress": voice.progress,
        "run": run,
    }
    if documents is None:
        collected = open_sums(sums or [])
    elif update is not None:
        before = open_sums([update])
        if before.targets is None:
            raise typer.BadParameter(f"{update} covers the whole vocabulary, as alc fit saves it; use alc merge")
        groups = before.spread or spread
        with open_client(scheduler, cluster) as client:
            more = opened.collect(documents, before.targets, spread=groups, **{**work, "client": client})
        collected = before + more
    else:
        if discover:
            frequent = _ngrams(opened, documents, lengths, min_count or 10, known)
            if not len(frequent):
                raise NotEnoughData(
                    f"nothing without a vector occurs {min_count or 10} times or more; lower --min-count, add "
                    "--ngrams 1,2 or pass --known for words that have a vector too"
                )
            listed = listed | frequent
        if task:
            texts = open_corpus(task, unit=unit, format=format, text=text, encoding=encoding, errors=errors)
            all_lengths = range(1, lengths[0] + 1) if len(lengths) == 1 else lengths
            listed = listed | _ngrams(opened, texts, all_lengths, min_count or 1, known, punctuation=True)
        with open_client(scheduler, cluster) as client:
            collected = opened.collect(documents, listed, spread=spread, **{**work, "client": client})
    # Sums that are continued in place go last: until then, the same command can be repeated.
    last = save_sums is not None and update is not None and save_sums.exists() and save_sums.samefile(update)
    if save_sums is not None and not last:
        collected.save(save_sums)
        wrote(save_sums)
    if documents is not None:
        detail_memory()
    if shard is not None or out is None:
        finish_shard(shard or "", collected, as_json)
        forget(checkpoint)
        return
    with phase("applying the transform", voice.progress):
        induced = opened.apply(collected, form=form)
    induced.save(out, to, space=space, overwrite=overwrite)
    wrote(out)
    if missing is not None:
        write_lines(missing, induced.missing)
    if save_sums is not None and last:
        collected.save(save_sums)
        wrote(save_sums)
    forget(checkpoint)
    if as_json:
        show_json(_facts(induced, out))
    elif not voice.quiet:
        _summarise(induced, out, missing)


def _facts(induced: "InducedVectors", out: Path) -> dict[str, Any]:
    """What --json says."""
    facts = {
        "out": shown(out),
        "induced": len(induced),
        "missing": induced.missing,
        "counts": dict(zip(induced.words, induced.counts.tolist(), strict=True)),
        "documents": induced.sums.documents,
        "tokens_read": induced.sums.tokens_read,
        "coverage": None if math.isnan(induced.coverage) else induced.coverage,
    }
    if induced.origin is not None:
        facts["origin"] = dict(zip(induced.words, induced.origin, strict=True))
    return facts


def _ngrams(
    model: "ALaCarte", texts: "Corpus", lengths: Iterable[int], min_count: int, known: bool, punctuation: bool = False
) -> "Targets":
    """The n-grams of some texts, as the model splits them; those that have a vector only if `known`."""
    from alacarte.passes.discover import discover

    return discover(
        texts,
        n=lengths,
        min_count=min_count,
        punctuation=punctuation,
        vectors=model.vectors.words,
        tokenizer=model.tokenizer,
        known=known,
        show_progress=voice.progress,
    )


def _summarise(induced: "InducedVectors", out: Path, missing: Path | None) -> None:
    from alacarte.targets.targets import spelling_hint

    asked = len(induced) + len(induced.missing)
    covered = "" if math.isnan(induced.coverage) else f", {induced.coverage:.0%} of which have a vector"
    show_line(
        f"{len(induced):,} of {asked:,} targets embedded, from {int(induced.counts.sum()):,} occurrences in "
        f"{induced.sums.tokens_read:,} tokens{covered}."
    )
    if induced.coverage < LOW_COVERAGE:
        note("many tokens of the text have no vector: are text and vectors of the same language, spelling and case?")
    if induced.origin is not None:
        spelled = [word for word, origin in zip(induced.words, induced.origin, strict=True) if origin == "spelling"]
        named = f": {', '.join(spelled[:SHOWN])}{', …' if len(spelled) > SHOWN else ''}" if spelled else ""
        show_line(f"{len(spelled):,} of them do not occur and come from their spelling alone{named}.")
        if hint := spelling_hint(spelled, induced.sums.targets):
            note(hint.removeprefix("; "))
    if induced.missing:
        names = ", ".join(induced.missing[:SHOWN]) + (", …" if len(induced.missing) > SHOWN else "")
        where = f" (all in {shown(missing)})" if missing else ""
        if not missing and len(induced.missing) > SHOWN:
            where = " (--missing FILE keeps all)"
        show_line(f"Not found, or never beside a word with a vector ({len(induced.missing):,}): {names}{where}")
        if hint := spelling_hint(induced.missing, induced.sums.targets):
            note(hint.removeprefix("; "))
    show_line(f"The vectors are in {shown(out)}.")
