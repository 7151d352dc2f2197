"""`alc eval weights`, `alc eval agreement`: which context words count, and which contexts."""

from alacarte_experiments.cli import app
from alacarte_experiments.cli import evaluate as e


@app.command()
def weights(
    vectors: e.Vectors = None,
    corpus: e.Corpora = None,
    unit: e.Unit = None,
    window: e.Window = None,
    sizes: e.Sizes = "4",
    tokenizer: e.Tokenizer = None,
    every: e.Every = None,
    seed: e.Seed = None,
    config: e.Config = None,
    out: e.Out = None,
    cache: e.CacheFolder = None,
    as_json: e.Json = False,
) -> None:
    """Learned context weights: by frequency, informativeness, distance; and what held-out words say to each.

    \b
    alc eval weights --vectors glove.6B.50d --corpus wiki.txt.xz --sizes 4 \\
        --out weights
    """
    given = dict(locals())
    from alacarte_experiments.fewshot.context_weights import run

    title = "Learned context weights"
    e.run_experiment("weights", run, given, index=["metric", "what", "at"], column="size", title=title)


@app.command()
def agreement(
    vectors: e.Vectors = None,
    corpus: e.Corpora = None,
    unit: e.Unit = None,
    window: e.Window = None,
    sizes: e.Sizes = "4,8,16,32",
    tau: e.Tau = None,
    averaging: e.Averaging = None,
    weights: e.Weights = None,
    ridge: e.Ridge = None,
    tokenizer: e.Tokenizer = None,
    every: e.Every = None,
    seed: e.Seed = None,
    config: e.Config = None,
    out: e.Out = None,
    cache: e.CacheFolder = None,
    as_json: e.Json = False,
) -> None:
    """Agreement between contexts, on known words: with contexts all their own, and a quarter another word's."""
    given = dict(locals())
    from alacarte_experiments.fewshot.agreement import run

    e.run_experiment(
        "agreement", run, given, index=["size", "foreign"], column="metric", title="Agreement between contexts"
    )
