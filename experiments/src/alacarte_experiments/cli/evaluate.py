"""`alc eval`: the few-shot experiments, and what all its commands share."""

from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alacarte.cli.output import note, note_written, show_columns, show_json, show_line, voice
from alacarte_experiments.cli import app

if TYPE_CHECKING:
    from alacarte import Table
    from alacarte_experiments.lab.results import Results
    from alacarte_experiments.lab.settings import Settings
    from alacarte_experiments.lab.store import Store

PROTOCOL = "The protocol"
OUTPUT = "Output"


def _protocol(help: str, min: int | None = None, metavar: str | None = None) -> Any:
    return typer.Option(help=help, rich_help_panel=PROTOCOL, show_default=False, min=min, metavar=metavar)


CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        rich_help_panel=OUTPUT,
        help="Where sums and results are kept. [$ALACARTE_CACHE, ~/.cache/alacarte]",
    ),
]
Json = Annotated[bool, typer.Option("--json", rich_help_panel=OUTPUT, help="Print JSON instead of a table.")]
Corpora = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="PATH", help="Text to learn from; repeat it for more.", show_default=False),
]
Unit = Annotated[str | None, _protocol("A document is a line, paragraph or file. [line]")]
Tokenizer = Annotated[str | None, _protocol("How text becomes tokens. [words]")]
OPTIONS: dict[str, Any] = {  # of the few-shot experiments, in the order of the help
    "data": Annotated[
        str | None, typer.Option(metavar="DIR|FILE", help="The data set, as described above.", show_default=False)
    ],
    "contexts": Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Contexts of the rare words, where --data is a file of pairs.", show_default=False
        ),
    ],
    "vectors": Annotated[
        str | None, typer.Option(metavar="FILE|NAME", help="Word vectors. [glove.6B.50d]", show_default=False)
    ],
    "corpus": Corpora,
    "systems": Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            metavar="NAME",
            show_default=False,
            help="additive, no-stop-words, sif, all-but-the-top, sums-but-the-top, sif-but-the-top, nonce2vec, "
            "word2vec, alacarte, form, alacarte+form; with settings of its own: alacarte,weights=sif:1e-3,tau=100. "
            "Repeat it. [the paper's]",
        ),
    ],
    "split": Annotated[
        str | None,
        typer.Option(metavar="train|test", help="The test split is for final runs. [train]", show_default=False),
    ],
    "sizes": Annotated[str | None, _protocol("Numbers of contexts. [1,2,4,8,16,32,64,128]", metavar="N,N")],
    "trials": Annotated[int | None, _protocol("Shuffles. [100]", min=1)],
    "unit": Unit,
    "window": Annotated[int | None, _protocol("Words each side. [5]", min=1)],
    "tau": Annotated[str | None, _protocol("Words in the regression: a least count, log, none, auto. [1000]")],
    "averaging": Annotated[str | None, _protocol("occurrence, token or context. [occurrence]")],
    "weights": Annotated[str | None, _protocol("Context weights: uniform, sif:1e-3, stopwords. [uniform]")],
    "ridge": Annotated[str | None, _protocol("A penalty, or loo. [0]")],
    "tokenizer": Tokenizer,
    "every": Annotated[int | None, _protocol("Use each N-th document of the corpus only. [1]", min=1)],
    "seed": Annotated[int | None, _protocol("Of whatever is random. [0]")],
    "config": Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=OUTPUT, help="Repeat a run from its settings.toml."),
    ],
    "out": Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", rich_help_panel=OUTPUT, help="Write results.csv, settings.toml and any figure here."
        ),
    ],
    "cache": CacheFolder,
    "as_json": Json,
}


def add_experiment(
    name: str,
    module: str,
    text: str,
    *,
    index: list[str],
    column: str,
    title: str,
    without: str = "contexts sizes trials",
    sizes: str | None = None,
) -> None:
    """Add the command that runs an experiment of `alacarte_experiments.fewshot`, with all but some of `OPTIONS`."""

    def run(**given: Any) -> None:
        config, out, cache, as_json = (given.pop(key) for key in ("config", "out", "cache", "as_json"))
        settings = read_settings(name, config, given)
        if "data" in given and not settings.data:
            raise typer.BadParameter("no data set is given; pass --data (--help says what it holds)")
        if not settings.corpus:
            raise typer.BadParameter("no text is given to learn from; pass --corpus FILE")
        experiment = import_module(f"alacarte_experiments.fewshot.{module}")
        show(experiment.run(settings, open_store(cache)), index, column, out, as_json, title)

    run.__doc__ = text
    defaults = {"as_json": False, "sizes": sizes}
    run.__signature__ = signature_without(without, defaults)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    app.command(name)(run)


def signature_without(names: str, defaults: dict[str, Any], **more: Any) -> Signature:
    """Return a signature with more options, and all of `OPTIONS` but some; they are None unless there is a default."""
    kinds = more | {name: kind for name, kind in OPTIONS.items() if name not in names.split()}
    return Signature(
        [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=defaults.get(name))
            for name, kind in kinds.items()
        ]
    )


def read_settings(experiment: str, config: Path | None, given: dict[str, Any]) -> "Settings":
    """Return settings from a file, and from what was typed, which overrules it."""
    from alacarte.errors import BadData
    from alacarte_experiments.lab.settings import Settings

    settings = Settings(experiment) if config is None else Settings.read(config)
    if settings.experiment != experiment:
        raise BadData(f"{config}: settings of `alc eval {settings.experiment}`, not of {experiment}")
    return settings.with_options({name: value for name, value in given.items() if value is not None})


def open_store(cache: Path | None) -> "Store":
    from alacarte_experiments.lab.store import Store

    return Store(cache, show_progress=voice.progress)


def write_csv(result: "Table", path: Path | None) -> None:
    """Write a result as CSV if there is a path."""
    if path is not None:
        result.to_csv(path)
        note_written(path)


def show(results: "Results", index: list[str], column: str, out: Path | None, as_json: bool, title: str) -> None:
    """Print a table (or JSON) and what was left out; write files and figure."""
    if as_json:
        show_json(results)
    else:
        header, lines = results.pivot(index, column)
        show_columns(header, lines, title)
        for name, value in results.protocol.items():
            show_line(f"{name.replace('_', ' ')}: {value:,}" if isinstance(value, int) else f"{name}: {value}")
    for exclusion in results.exclusions:
        note(exclusion)
    if out is not None:
        from alacarte_experiments.fewshot.figures import draw

        for path in (*results.write(out), *draw(results, out)):
            note_written(path)


add_experiment(
    "nonce",
    "nonce",
    """Definitional nonces (Table 1, left): the rank of a word's own vector, given one definition.

    The data are lines of a word, a tab, and its definition with ___ in its place: a file of your own, or a folder
    with train.txt and test.txt.

    \b
    alc eval nonce --data fewshot/nonce --vectors glove.6B.50d \\
        --corpus wiki.txt.xz
    alc eval nonce --data definitions.txt --vectors vectors.txt \\
        --corpus text.txt --system additive --system alacarte
    """,
    index=["system", "source"],
    column="metric",
    title="Definitional nonces",
)
add_experiment(
    "chimera",
    "chimera",
    """Chimeras (Table 1, right): cosines with probes against human ratings, from 2, 4, 6 sentences.

    True mean Spearman is ρ; (ρ+p)/2 is what the authors' script prints. The data are lines of a name, sentences joined
    by @@, probes, ratings, by tabs: a file of your own, with any numbers of sentences, or a folder with l2.train.txt,
    l2.test.txt, and the same of 4 and 6.

    \b
    alc eval chimera --data fewshot/chimera --vectors glove.6B.50d \\
        --corpus wiki.txt.xz
    alc eval chimera --data trials.txt --vectors vectors.txt --corpus text.txt \\
        --system additive --system alacarte
    """,
    index=["system", "source", "metric"],
    column="sentences",
    title="Chimeras",
)
add_experiment(
    "crw",
    "crw",
    """Contextual rare words (Figure 2): Spearman with human ratings, by the number of contexts.

    The data are pairs (frequent word, rare word, score) and contexts (lines of JSON with "word" and "contexts"): two
    files of your own, a folder with pairs.tsv and contexts.jsonl.xz as `alc eval crw-build` makes it, or CRW as it
    comes.

    \b
    alc eval crw --data fewshot/crw-dev --vectors glove.6B.50d \\
        --corpus wiki.txt.xz
    alc eval crw --data pairs.tsv --contexts contexts.jsonl \\
        --vectors vectors.txt --corpus text.txt
    """,
    index=["system", "source"],
    column="size",
    title="Contextual rare words",
    without="split",
)
add_experiment(
    "wordsim",
    "wordsim",
    """Word similarity sets: coverage and Spearman, with missing words induced from the corpus.

    The data are one file of pairs (two words and a score a line, by tabs, commas or spaces), or a folder of such
    files.

    \b
    alc eval wordsim --data wordsim/ --vectors glove.6B.50d --corpus wiki.txt.xz
    alc eval wordsim --data my-pairs.tsv --vectors vectors.txt \\
        --corpus text.txt --system additive --system alacarte
    """,
    index=["system", "metric"],
    column="set",
    title="Word similarity",
    without="contexts split sizes trials",
)
add_experiment(
    "figure1",
    "figure1",
    """Figure 1: length after / before the transform, and cosine with the word's vector, by word count.""",
    index=["count"],
    column="curve",
    title="By word count",
    without="data contexts systems split sizes trials seed",
)
add_experiment(
    "weights",
    "context_weights",
    """Learned context weights: by frequency, informativeness, distance; and what held-out words say to each.

    \b
    alc eval weights --vectors glove.6B.50d --corpus wiki.txt.xz --sizes 4 \\
        --out weights
    """,
    index=["metric", "what", "at"],
    column="size",
    title="Learned context weights",
    without="data contexts systems split trials tau averaging weights ridge",
    sizes="4",
)
add_experiment(
    "agreement",
    "agreement",
    """Agreement between contexts, on known words: with contexts all their own, and a quarter another word's.""",
    index=["size", "foreign"],
    column="metric",
    title="Agreement between contexts",
    without="data contexts systems split trials",
    sizes="4,8,16,32",
)


def sweep(**given: Any) -> None:
    """Learning curves: à la carte over a grid of settings, on training data only.

    \b
    alc eval sweep --task nonce --grid window=2,5,10 --grid tau=100,1000 \\
        --data fewshot/nonce --corpus wiki.txt.xz

    With --out, best.toml holds the best settings, for a final run: alc eval nonce --config best.toml --split test
    """
    from alacarte_experiments.fewshot.sweep import TASKS, WITHOUT_DATA, best, parse_grid, run

    grid, task, workers, config, out, cache, as_json = (
        given.pop(name) for name in ("grid", "task", "workers", "config", "out", "cache", "as_json")
    )
    axes = parse_grid(grid or [])
    settings = read_settings("sweep", config, given)
    if not settings.corpus:
        raise typer.BadParameter("no text is given to learn from; pass --corpus FILE")
    if not settings.data and task not in WITHOUT_DATA:
        raise typer.BadParameter(f"the task {task} needs its data set; pass --data")
    results = run(settings, axes, task, open_store(cache), workers=workers)
    column = next((name for name in ("size", "sentences") if name in results.rows[0]), "metric")
    show(results, list(axes), column, out, as_json, f"Sweep on {task} ({TASKS[task][0]})")
    chosen = best(results)
    if out is not None:
        (out / "best.toml").write_text(chosen.to_toml(), encoding="utf-8")
        note_written(out / "best.toml")


sweep.__signature__ = signature_without(  # type: ignore[attr-defined]
    "systems split",
    {"task": "nonce", "workers": 1, "as_json": False},
    grid=Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V", help="An axis: window, tau, weights, averaging, ridge, every, vectors, tokenizer."
        ),
    ],
    task=Annotated[str, typer.Option(metavar="NAME", help="nonce, chimera, crw; cosine and rare need no data.")],
    workers=Annotated[int, typer.Option(min=1, help="Processes at a time.")],
)
sweep.__annotations__ = {}
app.command()(sweep)


@app.command("crw-build")
def crw_build(
    pairs: Annotated[Path, typer.Option(metavar="FILE", help="Pairs: two words and a score a line.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the data set goes.")],
    corpus: Corpora = None,
    least: Annotated[int, typer.Option(min=1, help="The rarer word occurs at least this often.")] = 255,
    most: Annotated[int, typer.Option(min=1, help="And at most this often.")] = 10_000,
    contexts: Annotated[int, typer.Option(min=1, help="Sentences to sample for each rare word.")] = 255,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    unit: Unit = None,
    tokenizer: Tokenizer = None,
    as_json: Json = False,
) -> None:
    """Make a data set of contextual rare words from any corpus and any list of rated pairs.

    Writes pairs.tsv, contexts.jsonl.xz, and corpus.txt.xz: the corpus without the sampled sentences.
    """
    from alacarte_experiments.fewshot.crw_build import build, write
    from alacarte_experiments.fewshot.data import read_pairs
    from alacarte_experiments.lab.settings import Settings

    if not corpus:
        raise typer.BadParameter("no text is given to sample from; pass --corpus FILE")
    text = Settings("crw").with_options({"corpus": corpus, "unit": unit or "line"}).open_corpus()
    built, rest = build(
        read_pairs(pairs),
        text,
        least=least,
        most=most,
        contexts=contexts,
        seed=seed,
        tokenizer=tokenizer or "words",
        show_progress=voice.progress,
    )
    for path in write(built, rest, out):
        note_written(path)
    for exclusion in built.exclusions:
        note(exclusion)
    if as_json:
        show_json({"pairs": len(built.pairs), "rare_words": built.counts, "removed_sentences": built.removed})
    elif not voice.quiet:
        show_line(
            f"{len(built.pairs):,} pairs with {len(built.contexts):,} rare words; {built.removed:,} sentences taken "
            f"out of the corpus. Next: alc eval crw --data {out} --corpus {out / 'corpus.txt.xz'} --vectors …"
        )
