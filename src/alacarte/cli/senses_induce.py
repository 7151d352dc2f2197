"""`alc senses induce`: the senses that a word has in a text, without a dictionary."""

from pathlib import Path
from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import open_corpus, open_model
from alacarte.cli.output import detail, note, show_columns, show_json, show_line, voice, wrote
from alacarte.cli.outputs import VECTORS, check_outputs, check_vectors
from alacarte.cli.senses import app


@app.command()
def induce(
    ctx: typer.Context,
    word: o.Word,
    paths: o.CorpusPaths = None,
    model: o.Model = None,
    corpus: o.Corpora = None,
    manifest: o.Manifests = None,
    where: o.Where = None,
    number: Annotated[
        str, typer.Option("--number", "-n", metavar="N|auto", help="How many senses; auto finds out.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the vectors, keyed by word#1, word#2, …")
    ] = None,
    k: o.K = 10,
    among: o.Among = 50_000,
    examples: Annotated[int, typer.Option(min=0, help="Contexts shown for each sense.")] = 3,
    limit: Annotated[int, typer.Option(min=2, help="Contexts used at most, chosen at random.")] = 5000,
    seed: Annotated[int, typer.Option(help="The same seed, the same senses.")] = 0,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    text: o.TextColumn = "text",
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    tokenizer: o.ModelTokenizer = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Group the contexts of a word in a corpus: a vector, the nearest words and typical contexts for each group.

    \b
    alc senses induce --word bank --model glove.6B.50d --corpus wiki.txt
    alc senses induce --word bank --model glove.6B.50d --corpus wiki.txt \\
        --number 3 --out bank.vec
    alc senses induce --word bank --model glove.6B.50d \\
        --corpus speeches.concordance --where "party=D"
    """
    if number != "auto" and not (number.isdigit() and int(number)):
        raise typer.BadParameter(f"{number!r} is neither a number nor auto", param_hint="--number")
    if out is not None:
        check_vectors(out, None, [f"{word}#1"])
    check_outputs(ctx, out=VECTORS)
    documents = open_corpus(
        [*(corpus or []), *(paths or [])], manifests=manifest, unit=unit, format=format, text=text, where=where
    )
    opened = open_model(model, vectors=vectors, transform=transform, tokenizer=tokenizer)
    from alacarte.senses.induction import FOLDS, induce_senses

    senses = induce_senses(
        opened,
        documents,
        word,
        "auto" if number == "auto" else int(number),
        nearest=k,
        examples=examples,
        among=among,
        limit=limit,
        seed=seed,
        show_progress=voice.progress,
    )
    if out is not None:
        senses.vectors.save(out)
        wrote(out)
    if as_json:
        show_json(senses)
        return
    total = int(senses.occurrences.counts.sum())
    if total > limit:
        note(f"{len(senses.occurrences):,} of {total:,} contexts are used; --limit takes more")
    for groups, (score, bound) in enumerate(zip(senses.scores, senses.bounds, strict=True), start=2):
        detail(f"{groups} groups: likeness {score:.2f}; senses are below {bound:.2f}")
    documents_met = len(set(senses.occurrences.documents.tolist()))
    if number == "auto" and documents_met < 2 * FOLDS:
        note(
            f"the contexts stand in {documents_met} documents, too few to hold some out and tell how many senses there "
            "are; cut the text into more (--unit), or pass --number"
        )
    elif len(senses) == 1 and senses.scores:
        note(
            f"one sense: two groups of contexts are too much alike (likeness {senses.scores[0]:.2f}, senses are below "
            f"{senses.bounds[0]:.2f}); --number 2 groups them all the same"
        )
    rows = [
        (sense.name, f"{sense.share:.0%}", f"{sense.contexts:,}", " ".join(name for name, _ in sense.nearest))
        for sense in senses
    ]
    show_columns(["sense", "share", "contexts", "nearest words"], rows)
    for sense in senses:
        for example in sense.examples:
            show_line(f"{sense.name}  {example}")
