"""Figure 1: how the transform changes a vector's length, and how close it comes to the word's own, by word count."""

from itertools import pairwise
from typing import Any

import numpy as np

from alacarte import Corpus, WordVectors
from alacarte.contexts.word_counts import word_counts
from alacarte.errors import NotEnoughData
from alacarte.vectors.geometry import cosines
from alacarte_experiments.baselines import AllButTheTop, SumsButTheTop
from alacarte_experiments.fewshot.systems import Workbench
from alacarte_experiments.lab.results import Results, Row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

BINS = 24
RARE = 10  # occurrences below which a word is left out of the figure
QUARTILES = (0.25, 0.5, 0.75)


def run(
    settings: Settings, store: Store, *, vectors: WordVectors | None = None, corpus: Corpus | None = None
) -> Results:
    """Quartiles, by bins of word count, of ‖after‖/‖before‖ for both methods and of the cosine of A u with v.

    The ratio is taken twice. Of words: A v against v, and v less the words' mean and top components. It shows how
    much a word still counts as a context word. Of sums: A u against u, and the mean of a word's context words less mean
    and top components of all such means.
    """
    vectors, corpus = settings.open(vectors, corpus)
    bench = Workbench(vectors, corpus, store)
    model = bench.alacarte(settings)
    sums = bench.sums(settings, averaging=settings.averaging)
    rows = sums.seen[sums.occurrences[sums.seen] >= RARE]
    if len(rows) < BINS:
        raise NotEnoughData(f"{len(rows)} words occur {RARE} times or more; a figure over counts needs more text")
    counts = sums.occurrences[rows]
    plain = bench.sums(settings, "uniform")
    frequent = np.sort(word_counts(plain, vectors))[::-1]
    least = min(100, int(frequent[min(len(vectors), 10 * vectors.dimension) - 1]))
    without = SumsButTheTop(min_count=max(1, least)).from_sums(vectors, plain)
    words = [sums.keys[row] for row in rows]  # a row of the sums is no row of the vectors, nor of other sums
    places = {key: place for place, key in enumerate(plain.keys)}
    top, own = AllButTheTop().fit(vectors), vectors[words]
    mapped = model.transform(sums.means(rows))
    pooled = plain.with_averaging("token").means(np.array([places[word] for word in words], dtype=np.intp))
    measured = {
        ("à la carte", "norm ratio of words"): _lengths(model.transform(own)) / _lengths(own),
        ("all-but-the-top", "norm ratio of words"): _lengths(top.transform(own)) / _lengths(own),
        ("à la carte", "norm ratio of sums"): _lengths(mapped) / _lengths(sums.means(rows)),
        ("all-but-the-top", "norm ratio of sums"): _lengths(without.transform(pooled)) / _lengths(pooled),
        ("à la carte", "cosine(A u, v)"): cosines(mapped, own),
    }
    edges = np.unique(np.geomspace(RARE, counts.max() + 1, BINS + 1).astype(np.int64))
    table: list[Row] = []
    for (system, metric), values in measured.items():
        for low, high in pairwise(edges.tolist()):
            chosen = values[(counts >= low) & (counts < high)]
            if not len(chosen):
                continue
            quartiles = [float(q) for q in np.quantile(chosen, QUARTILES)]
            table.append(
                {
                    "system": system,
                    "metric": metric,
                    "curve": f"{metric}, {system}",
                    "count": round(float(np.sqrt(low * max(high - 1, low)))),
                    "value": quartiles[1],
                    "low": quartiles[0],
                    "high": quartiles[2],
                    "n": len(chosen),
                    "source": "ours",
                }
            )
    return Results(settings, tuple(table), (), bench.protocol(settings))


def _lengths(rows: Any) -> Any:
    lengths = np.linalg.norm(np.asarray(rows, dtype=np.float64), axis=1)
    return np.where(lengths > 0, lengths, np.nan)
