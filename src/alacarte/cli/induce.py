"""`alc induce`: vectors for targets, from a corpus."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from alacarte._io.options import option
from alacarte._io.progress import phase
from alacarte._io.urls import display_name
from alacarte.cli._spelling import with_form
from alacarte.cli.command import command
from alacarte.cli.opening import (
    check_shard,
    finish_shard,
    keywords_of_work,
    listed_targets,
    open_corpus,
    open_model,
    open_sums,
    refuse,
    save_sums_to,
    write_lines,
)
from alacarte.cli.options import SAVE_SUMS, SUMS, WHERE, InducedTargets, ModelOptions, Sources
from alacarte.cli.output import note, note_written, show, show_line, voice
from alacarte.cli.outputs import check_vectors, format_for
from alacarte.errors import NotEnoughData
from alacarte.passes.work import Work
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.model import ALaCarte, InducedVectors
    from alacarte.passes.discover import Discovered
    from alacarte.text.corpus import Corpus

SHOWN_TARGETS = 8  # missing and discovered targets named in the summary


@command()
def induce(
    *,
    model: ModelOptions,
    out: Path | None = option(
        None,
        "Where the vectors go: .safetensors, .csv, .parquet, .vec, …; - is standard output (as TSV).",
        metavar="FILE",
        writes="word vectors",
    ),
    sums: list[Path] | None = SUMS,
    save_sums: Path | None = SAVE_SUMS,
    spread: int | None = option(
        None, "Keep sums by N groups of documents (16), for intervals and comparisons.", metavar="N", minimum=2
    ),
    form: bool = option(False, "Add what the spelling of words says; those that do not occur have it alone."),
    missing: Path | None = option(
        None, "List the targets that do not occur, one per line.", metavar="FILE", writes="file"
    ),
    targets: InducedTargets,
    sources: Sources,
    where: list[str] | None = WHERE,
    text: CorpusOptions,
    work: Work,
) -> None:
    """Give words, phrases and patterns vectors, from a corpus.

    \b
    alc induce --model glove.6B.50d --corpus news.txt --words words.txt \\
        --out new.safetensors
    alc induce --model model --corpus news.txt --discover --ngrams 1,2 \\
        --min-count 10 --out new.vec
    alc induce --model model --corpus news.txt --task reviews.csv --ngrams 3 \\
        --out ngrams.safetensors

    Targets that do not occur get no vector; the summary says which, and --missing keeps the list.
    """
    looked_for = targets.discover or targets.task
    if not looked_for:
        refuse("goes with --discover or --task", "ngrams", "min_count")
    if not targets.discover:
        refuse("goes with --discover", "min_score")
    if sums:
        from_text = ("where", "spread", Sources, CorpusOptions, InducedTargets, Work)
        refuse("saved sums have this already; leave it out with --sums", *from_text)
    check_shard(work, save_sums, out, "missing")
    if not sums and targets == InducedTargets():
        raise typer.BadParameter("nothing to embed is given; pass --word WORD, --words FILE, --discover or --task")
    listed, discovered = listed_targets(targets), None
    if out is not None:
        phrases = ["a phrase"] if looked_for and max(targets.ngrams) > 1 else []
        check_vectors(out, format_for(out, None), [*listed, *phrases])
    documents = None if sums else open_corpus(sources.places, text, where=where)
    opened = open_model(model)
    if form:
        opened = with_form(opened)
    if documents is None:
        collected = open_sums(sums or [])
    else:
        if targets.discover:
            discovered = _discovered(opened, documents, targets)
            listed = listed | discovered
        if targets.task:
            listed = listed | _in_task(opened, open_corpus(targets.task, text), targets)
        collected = opened.collect(documents, listed, spread=spread, **keywords_of_work(work))
    save_sums_to(save_sums, collected)
    if out is None:
        finish_shard(work, collected)
        return
    with phase("applying the transform", voice.progress):
        induced = opened.apply(collected, form=form)
    induced.save(out, format_for(out, None), overwrite=voice.overwrite)
    note_written(out)
    if missing is not None:
        write_lines(missing, induced.missing)
    facts = _facts(induced, out) | ({} if discovered is None else {"discovered": discovered.to_dict()})
    show(facts, lambda: _summarise(induced, out, missing, discovered), summary=True)


def _discovered(model: "ALaCarte", documents: "Corpus", targets: InducedTargets) -> "Discovered":
    """Return what --discover finds."""
    chosen: dict[str, Any] = {"min_count": targets.min_count, "min_score": targets.min_score}
    given = {name: value for name, value in chosen.items() if value is not None}
    found = model.discover(documents, ngrams=targets.ngrams, show_progress=voice.progress, **given)
    if not len(found):
        raise NotEnoughData(
            "nothing without a vector occurs often enough; lower --min-count or --min-score, or pass longer --ngrams"
        )
    return found


def _in_task(model: "ALaCarte", texts: "Corpus", targets: InducedTargets) -> "Discovered":
    """Return all n-grams of the texts of --task that have no vector."""
    lengths = targets.ngrams
    return model.discover(
        texts,
        ngrams=range(1, lengths[0] + 1) if len(lengths) == 1 else lengths,
        min_count=targets.min_count or 1,
        all_tokens=True,
        min_score=None,
        show_progress=voice.progress,
    )


def _show_found(found: "Discovered") -> None:
    """Print how many words and phrases were found, and the first of each."""
    counted = [f"{key} ({count:,})" for key, count in zip(found, found.counts.tolist(), strict=True)]
    phrases = [not math.isnan(score) for score in found.scores.tolist()]
    for what, wanted in (("words", False), ("phrases", True)):
        names = [name for name, is_phrase in zip(counted, phrases, strict=True) if is_phrase == wanted]
        if names:
            show_line(f"{len(names):,} {what} found, with their counts: {_beginning(names)}")


def _beginning(names: list[str]) -> str:
    return ", ".join(names[:SHOWN_TARGETS]) + (", …" if len(names) > SHOWN_TARGETS else "")


def _facts(induced: "InducedVectors", out: Path) -> dict[str, Any]:
    """Return what --json says."""
    facts = {
        "out": display_name(out),
        "induced": len(induced),
        "missing": induced.missing,
        "counts": dict(zip(induced.words, induced.counts.tolist(), strict=True)),
        "documents": induced.sums.documents,
        "tokens_read": induced.sums.tokens_read,
        "coverage": None if math.isnan(induced.coverage) else induced.coverage,
    }
    if induced.found_again is not None:
        facts["found_again"] = induced.found_again.to_dict()
    if induced.origin is not None:
        facts["origin"] = dict(zip(induced.words, induced.origin, strict=True))
    return facts


def _summarise(
    induced: "InducedVectors", out: Path, missing: Path | None, discovered: "Discovered | None" = None
) -> None:
    from alacarte.targets.targets import spelling_hint
    from alacarte.transform.report import LOW_COVERAGE

    if discovered is not None:
        _show_found(discovered)
    asked = len(induced) + len(induced.missing)
    covered = "" if math.isnan(induced.coverage) else f", {induced.coverage:.0%} of which have a vector"
    show_line(
        f"{len(induced):,} of {asked:,} targets embedded, from {int(induced.counts.sum()):,} occurrences in "
        f"{induced.sums.tokens_read:,} tokens{covered}."
    )
    if induced.coverage < LOW_COVERAGE:
        note("many tokens of the text have no vector: are text and vectors of the same language, spelling and case?")
    if induced.found_again is not None:
        show_line(f"{induced.found_again.summary}.".capitalize())
        if induced.found_again.is_poor:
            note("words of this text are hardly found again, so its vectors may say little; add text of the same kind")
    if induced.origin is not None:
        alone = ("spelling", "parts")
        spelled = [word for word, origin in zip(induced.words, induced.origin, strict=True) if origin in alone]
        named = f": {_beginning(spelled)}" if spelled else ""
        show_line(f"{len(spelled):,} of them do not occur and come from their spelling or their parts alone{named}.")
        if hint := spelling_hint(spelled, induced.sums.targets):
            note(hint.removeprefix("; "))
    if induced.missing:
        names = _beginning(induced.missing)
        where = f" (all in {display_name(missing)})" if missing else ""
        if not missing and len(induced.missing) > SHOWN_TARGETS:
            where = " (--missing FILE keeps all)"
        show_line(f"Not found, or never beside a word with a vector ({len(induced.missing):,}): {names}{where}")
        if hint := spelling_hint(induced.missing, induced.sums.targets):
            note(hint.removeprefix("; "))
    show_line(f"The vectors are in {display_name(out)}.")
