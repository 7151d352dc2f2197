"""`alc eval documents` and `alc eval bigrams`: the paper's section 5.2."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from alacarte.cli.command import command
from alacarte.cli.opening import open_corpus, open_model
from alacarte.cli.options import ModelOptions
from alacarte.cli.output import show_columns, show_json, show_line, voice
from alacarte.cli.outputs import check_file
from alacarte_experiments.cli import app
from alacarte_experiments.cli.evaluate import CacheFolder, Json, open_store, write_csv

if TYPE_CHECKING:
    from alacarte import WordVectors

Corpora = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="PATH", help="Text that shows the n-grams in use; repeat it.", show_default=False),
]
Ngrams = Annotated[
    str | None,
    typer.Option("--ngrams", metavar="FILE", help="N-gram vectors from `alc induce`, instead of --corpus."),
]
Csv = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the table as CSV, too.")]


@app.command()
@command(as_json=False)
def documents(
    *,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", show_default=False, help="The folder with the paper's eight tasks.")
    ] = None,
    model: ModelOptions,
    corpus: Corpora = None,
    ngrams: Ngrams = None,
    min_count: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Only n-grams that occur N times in the corpus (with --inductive: in training texts) have vectors.",
        ),
    ] = 1,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILES]",
            help="MR, CR, SUBJ, MPQA, TREC, SST, SST-fine, IMDB of --data (all but IMDB if left out), or a task of "
            "your own: NAME=FILE, NAME=TRAIN,TEST. Repeat it.",
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="bong-1…3, nb-bong-2…3, words, sif, sum-2, disc-2…3, alacarte-1…3, and tfidf-3, doc2vec, fasttext-2, "
            "minilm; repeat it (all before `and` if left out; with "
            "--inductive tfidf-3 and alacarte-1…3).",
        ),
    ] = None,
    encoded: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Vectors of minilm from experiments/studies/encode.py, instead of encoding here."
        ),
    ] = None,
    split: Annotated[
        Literal["train", "test"],
        typer.Option(help="train: cross-validate the training part alone, to choose settings on."),
    ] = "test",
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Each N-th document only, for a quick look.")] = 1,
    inductive: Annotated[
        bool,
        typer.Option(
            "--inductive",
            help="Learn n-gram vectors from training texts (and --corpus) alone, anew for each part that is tested.",
        ),
    ] = False,
    shrinkage: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="N",
            help="With --inductive: for how many occurrences the words of an n-gram count; 0: its own vector alone.",
        ),
    ] = 5.0,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads to use; all cores if left out.")
    ] = None,
    out: Csv = None,
    cache: CacheFolder = None,
    as_json: Json = False,
) -> None:
    """Document classification (Table 4): à la carte n-grams beside bags of n-grams, SIF, DisC and others.

    A task of your own is a file (ten folds), or two to train and to test on: a label, a tab and the text a line, or
    .jsonl with label and text. The paper's tasks lie in one folder, under their usual names: rt-polarity.neg and .pos,
    custrev.neg and .pos, subj.objective and .subjective, mpqa.neg and .pos, trec_train.csv and _test.csv, sst_…,
    sst_fine_…, imdb.tar.xz.

    \b
    alc eval documents --task mine=train.tsv,test.tsv --model glove.6B.50d \\
        --corpus text.txt
    alc eval documents --data documents --model glove.6B.50d \\
        --corpus enwiki.txt.xz --corpus imdb_unsup.jsonl
    alc eval documents --data documents --model glove.6B.50d --task CR \\
        --system bong-2 --system words
    alc eval documents --data documents --model glove.6B.50d --inductive
    """
    from alacarte_experiments.documents.data import TASKS, read_task
    from alacarte_experiments.documents.evaluation import Inductive, evaluate, induce_ngrams, load_ngrams
    from alacarte_experiments.documents.systems import INDUCTIVE, SYSTEMS, parse

    if data is None and not task:
        raise typer.BadParameter("pass --task NAME=FILE for a task of your own, or --data DIR for the paper's")
    if inductive and ngrams is not None:
        raise typer.BadParameter("--inductive learns n-gram vectors from training texts; leave --ngrams out")
    check_file(out)
    everything = [name for name in SYSTEMS if corpus or ngrams or not name.startswith("alacarte")]
    chosen = system or (list(INDUCTIVE) if inductive else everything)
    kinds = [parse(name) for name in chosen]
    tasks = [read_task(data, name).part(every) for name in task or TASKS[:-1]]
    if split == "train":
        tasks = [part.training() for part in tasks]
    opened = open_model(ModelOptions(model.model or "glove.6B.50d", model.vectors))
    store = open_store(cache)
    table: WordVectors | None = None
    if not inductive and any(kind == "alacarte" and n > 1 for kind, n in kinds):
        if ngrams is not None:
            table = load_ngrams(ngrams, min_count)
        else:
            text = open_corpus(corpus or [])
            longest = max(n for _, n in kinds)
            table = induce_ngrams(opened, tasks, text, store, longest, threads, min_count=min_count)
    learned = Inductive(min_count, open_corpus(corpus) if corpus else None, shrinkage) if inductive else None
    result = evaluate(
        tasks, chosen, opened, table, store, seed=seed, threads=threads, encoded=encoded, inductive=learned
    )
    write_csv(result, out)
    if as_json:
        show_json(result)
        return
    show_columns(*result.pivot(), "Accuracy, in percent")
    header, lines = result.margins()
    if lines:
        show_columns(header, lines, "What longer n-grams add, in points")
    header, lines = result.leads()
    if lines:
        show_columns(header, lines, "À la carte against bags of n-grams, in points")
    spent: dict[str, float] = {}
    for row in result.rows:
        if row.seconds is not None:
            spent[row.system] = spent.get(row.system, 0.0) + row.seconds
    show_columns(["system", "seconds"], [[name, f"{value:.0f}"] for name, value in spent.items()], "Time, all tasks")
    for line in result.notes:
        show_line(line)


@app.command()
@command(as_json=False)
def bigrams(
    *,
    word: Annotated[
        list[str] | None, typer.Option("--word", "-w", metavar="WORD", help="A phrase; repeat it for more.")
    ] = None,
    model: ModelOptions,
    corpus: Corpora = None,
    ngrams: Ngrams = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, metavar="N", help="How many neighbours.")] = 5,
    among: Annotated[
        int, typer.Option(min=1, metavar="N", help="Neighbours among the N words that come first in the vectors.")
    ] = 50_000,
    out: Csv = None,
    as_json: Json = False,
) -> None:
    """Nearest words of n-grams (Table 3): v1 + v2, additive, à la carte and DisC.

    \b
    alc eval bigrams --model glove.6B.50d --corpus enwiki.txt.xz
    alc eval bigrams --word "red tape" --word "kick the bucket" \\
        --model glove.6B.50d --corpus enwiki.txt.xz
    """
    from alacarte_experiments.documents.bigrams import compare

    check_file(out)
    opened = open_model(ModelOptions(model.model or "glove.6B.50d", model.vectors))
    result = compare(
        opened,
        None if ngrams else open_corpus(corpus or []),
        word or [],
        ngrams=_ngram_vectors(ngrams),
        k=k,
        among=among,
        show_progress=voice.progress,
    )
    write_csv(result, out)
    if as_json:
        show_json(result)
        return
    show_columns(["n-gram", "method", "nearest words"], result.lines(), "Nearest words of n-grams")
    for line in result.notes:
        show_line(line)


def _ngram_vectors(path: str | None) -> "WordVectors | None":
    from alacarte import WordVectors

    return None if path is None else WordVectors.load(path)
