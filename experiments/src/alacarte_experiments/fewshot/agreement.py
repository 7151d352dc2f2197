"""Agreement weighting played through on known words: what it costs where all contexts are the word's own, and what it
gives where a quarter of them are another word's.
"""

import numpy as np

from alacarte import Corpus, WordVectors
from alacarte.contexts.agreement import agreement_weights
from alacarte.contexts.reading import Reading
from alacarte.contexts.word_counts import word_counts
from alacarte.vectors.geometry import cosines
from alacarte_experiments.fewshot.sampled_windows import sample_windows
from alacarte_experiments.fewshot.systems import Workbench
from alacarte_experiments.lab.results import Results, Row, mean_row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

WORDS = 1500
SHARES = (0.0, 0.25)  # of contexts that are another word's
POWERS = (0.0, 0.5, 1.0, 2.0)


def run(
    settings: Settings, store: Store, *, vectors: WordVectors | None = None, corpus: Corpus | None = None
) -> Results:
    """The mean cosine of a word's vector with the one induced from its contexts, for some powers (0: all alike).

    The powers are those for many contexts, as `agreement_weights` takes them.

    The words take no part in learning the matrix. Each fourth context is one of another word out of the same list.
    """
    vectors, corpus = settings.open(vectors, corpus)
    bench = Workbench(vectors, corpus, store)
    sums = bench.sums(settings, averaging=settings.averaging)
    most = max(settings.sizes)
    counts = word_counts(sums, vectors)
    words = min(WORDS, int((counts >= 2 * most).sum()) // 3)  # the others are there to learn from
    sample = sample_windows(
        vectors,
        bench.text(settings),
        counts,
        Reading(settings.window, settings.window, tokenizer=settings.tokenizer),
        words=words,
        contexts=2 * most,
        least=2 * most,
        seed=settings.seed,
        show_progress=store.show_progress,
    )
    bench.exclude = [vectors.words[row] for row in sample.rows]
    model = bench.alacarte(settings)
    scale = model.transform.weights.values
    weighted = vectors.matrix if scale is None else vectors.matrix * scale[:, None]
    known = (sample.windows >= 0)[..., None]
    single = np.stack(
        [np.where(mask, weighted[ids], 0.0).sum(axis=1) for ids, mask in zip(sample.windows, known, strict=True)]
    )
    mapped = model.transform(single).astype(np.float64)  # (words, contexts, dimensions)
    gold = vectors.matrix[sample.rows]
    rows: list[Row] = []
    for size in settings.sizes:
        for share in SHARES:
            foreign = round(share * size)
            mixed = mapped[:, :size].copy()
            mixed[:, :foreign] = np.roll(mapped[:, most : most + foreign], 1, axis=0)
            for power in POWERS:
                weights = np.stack([agreement_weights(word, power=power)[0] for word in mixed])
                values = cosines(np.einsum("wc,wcj->wj", weights, mixed), gold)
                metric = f"power {power:g}" if power else "all alike"
                rows.append(mean_row(values, size=size, foreign=foreign, metric=metric))
    return Results(settings, tuple(rows), (), bench.protocol(settings))
