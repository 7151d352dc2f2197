"""Learned context weights: what was learned, and how held-out words fare with it and without each ingredient."""

from alacarte import Corpus, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.word_counts import word_counts
from alacarte_experiments.fewshot.informed import MEASURED
from alacarte_experiments.fewshot.learned_weights import LEAST, LearnedWeights, Learning, learn_weights_from_sample
from alacarte_experiments.fewshot.sampled_windows import sample_windows
from alacarte_experiments.fewshot.systems import Workbench
from alacarte_experiments.lab.results import Results, Row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

WORDS = 8000
INGREDIENTS = (("distance",), ("frequency",), ("distance", "frequency"))


def run(
    settings: Settings, store: Store, *, vectors: WordVectors | None = None, corpus: Corpus | None = None
) -> Results:
    """Rows of two metrics: `held-out cosine` of each kind of weights, `weight` of each bin of the learned ones.

    For each of `sizes`: so many contexts of each word are sampled.
    """
    vectors, corpus = settings.open(vectors, corpus)
    bench = Workbench(vectors, corpus, store)
    sums = bench.sums(settings, MEASURED)
    text = bench.text(settings)
    rows: list[Row] = []
    for size in settings.sizes:
        sample = sample_windows(
            vectors,
            text,
            word_counts(sums, vectors),
            Reading(settings.window, settings.window, tokenizer=settings.tokenizer),
            words=WORDS,
            contexts=size,
            least=LEAST,
            seed=settings.seed,
            show_progress=store.show_progress,
        )
        held = len(sample.rows) // 5
        learned: LearnedWeights | None = None
        for functions in INGREDIENTS:
            learned = learn_weights_from_sample(vectors, sums, sample, Learning(functions=functions))
            if functions == INGREDIENTS[0]:
                for name, value in learned.held_out.items():
                    if name != "learned":
                        rows.append(_row(size, "held-out cosine", name, "", value, held))
            name = "learned: " + ", ".join(functions)
            rows.append(_row(size, "held-out cosine", name, "", learned.held_out["learned"], held))
        assert learned is not None
        for what, at, value in learned.rows():
            rows.append(_row(size, "weight", what, at, value, len(sample.rows)))
    return Results(settings, tuple(rows), (), bench.protocol(settings))


def _row(size: int, metric: str, what: str, at: str, value: float, n: int) -> Row:
    return {"size": size, "metric": metric, "what": what, "at": at, "value": value, "n": n, "source": "ours"}
