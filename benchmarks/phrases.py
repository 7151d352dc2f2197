"""Phrases: how well contexts, parts and both find the synonyms of a phrase, by the number of contexts.

    python benchmarks/phrases.py glove.6B.50d CORPUS WORDNET
    python benchmarks/phrases.py glove.6B.100d CORPUS WORDNET --vectors DIR/glove.6B.100d.npy

WORDNET is a folder or archive of its database files. Its phrases of two and three words that occur at least `--least`
times in CORPUS and have a synonym of one word, of another stem than any of theirs, among the first 60,000 words. Their
vectors come from 1 to 64 contexts that are drawn; the measure is the mean reciprocal rank of the nearest synonym among
these words, less the phrase's own. The odds of contexts, level + doubling · log2 n, are those that do best on one half
of the phrases, over all n together; the table is of the other half, with those weights and with the ones that ship
(`spelling/prior.py`).
"""

import argparse
from itertools import product

import numpy as np
from scipy.special import expit

from alacarte import ALaCarte, WordVectors
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.windows import sums_of_windows
from alacarte.errors import require
from alacarte.passes.sample import sample_targets
from alacarte.senses.wordnet import open_wordnet
from alacarte.spelling.prior import PHRASE_DOUBLING, PHRASE_LEVEL, Prior
from alacarte.vectors.geometry import unit_rows

AMONG = 60_000
SIZES = (1, 2, 4, 8, 16, 32, 64)
LEVELS, DOUBLINGS = np.arange(-2.0, 1.6, 0.25), np.arange(0.0, 0.75, 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("wordnet")
    parser.add_argument("--vectors")
    parser.add_argument("--least", type=int, default=64)
    parser.add_argument("--no-adapt", action="store_true")
    given = parser.parse_args()
    vectors = WordVectors.load(given.vectors or given.model)
    model = ALaCarte.pretrained(given.model + ".plain" * given.no_adapt, vectors=vectors)
    synonyms = phrases_of(given.wordnet, vectors)
    sums = model.collect(given.corpus, list(synonyms))
    adaptation = model.adapted_to(sums)
    frequent = [key for key, count in zip(sums.keys, sums.occurrences.tolist(), strict=True) if count >= given.least]
    reading = model.context_settings
    sampled = sample_targets(vectors, given.corpus, frequent, reading, SIZES[-1], tokenizer=model.tokenizer)
    integers = IntegerVectors.of(vectors, model.transform.weights, reading)
    each = sums_of_windows(integers, reading, sampled.contexts.before, sampled.contexts.after)
    weights = each.divisor(integers.scale, reading.averaging).astype(np.float64)
    contexts = each.sums * integers.scale.sum_units
    vocabulary = vectors.matrix[:AMONG].astype(np.float64)
    if adaptation is not None:
        vocabulary = adaptation.compared_words(vocabulary)
    prior = Prior(vectors, adaptation=adaptation)
    if prior.common is not None:
        vocabulary = vocabulary - np.outer(vocabulary @ prior.common, prior.common)
    units = unit_rows(vocabulary)
    parts = unit_rows(prior.rows(sampled.keys))
    x: dict[int, np.ndarray] = {}
    for size in SIZES:
        mean = np.zeros((len(sampled.keys), vectors.dimension))
        for target in range(len(sampled.keys)):
            rows = np.flatnonzero(sampled.contexts.targets == target)[:size]
            mean[target] = contexts[rows].sum(axis=0) / max(weights[rows].sum(), 1e-300)
        rows = model.transform(mean) if adaptation is None else mean @ adaptation.matrix.T + adaptation.intercept
        if prior.common is not None:
            rows = rows - np.outer(rows @ prior.common, prior.common)
        x[size] = unit_rows(np.asarray(rows, dtype=np.float64))
    golds = [synonyms[key] for key in sampled.keys]
    own = [[row for word in key.split() if (row := vectors.index(word)) < AMONG] for key in sampled.keys]
    order = np.random.default_rng(0).permutation(len(golds))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    print(f"{len(golds)} phrases with {given.least} contexts or more; {len(halves[1])} are in the table")

    def found(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
        scores = queries[rows] @ units.T
        for place, row in enumerate(rows.tolist()):
            scores[place, own[row]] = -np.inf
        best = np.array([scores[place, golds[row]].max() for place, row in enumerate(rows.tolist())])
        return np.asarray(1 / (1 + np.count_nonzero(scores > best[:, None], axis=1)))

    def both(size: int, level: float, doubling: float) -> np.ndarray:
        w = expit(level + doubling * np.log2(size))
        return np.asarray(w * x[size] + (1 - w) * parts)

    grid = list(product(LEVELS.tolist(), DOUBLINGS.tolist()))
    totals = [np.mean([found(halves[0], both(size, *point)).mean() for size in SIZES]) for point in grid]
    level, doubling = grid[int(np.argmax(totals))]
    print(f"best on the first half: level {level:.2f}, doubling {doubling:.2f}")
    print("| | " + " | ".join(map(str, SIZES)) + " |\n|---|" + "---|" * len(SIZES))
    alone = found(halves[1], parts)
    rows = {
        "contexts": [found(halves[1], x[size]) for size in SIZES],
        "parts": [alone for _ in SIZES],
        "both": [found(halves[1], both(size, level, doubling)) for size in SIZES],
        f"both, as shipped ({PHRASE_LEVEL}, {PHRASE_DOUBLING})": [
            found(halves[1], both(size, PHRASE_LEVEL, PHRASE_DOUBLING)) for size in SIZES
        ],
    }
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(f"{value.mean():.3f}" for value in values) + " |")
    gains = [
        row - np.maximum(one.mean(), alone.mean()) for one, row in zip(rows["contexts"], rows["both"], strict=True)
    ]
    better = [
        np.std(row - (one if one.mean() > alone.mean() else alone)) / np.sqrt(len(alone))
        for one, row in zip(rows["contexts"], rows["both"], strict=True)
    ]
    cells = [f"{gain.mean():+.3f} ±{error:.3f}" for gain, error in zip(gains, better, strict=True)]
    print("| gain over the better part | " + " | ".join(cells) + " |")


def phrases_of(wordnet: str, vectors: WordVectors) -> dict[str, list[int]]:
    """Phrases of two or three known words, and the rows of their synonyms of one word."""
    stem = require("snowballstemmer", extra="regression", purpose="telling stems apart").stemmer("english").stemWord
    index = vectors.key_to_index
    found: dict[str, set[int]] = {}
    for synset in open_wordnet(wordnet).all_synsets():
        lemmas = [lemma.lower().replace("_", " ").split() for lemma in synset.lemmas]
        singles = {lemma[0] for lemma in lemmas if len(lemma) == 1}
        for words in lemmas:
            if len(words) not in (2, 3) or not all(word in index for word in words):
                continue
            own = {stem(word) for word in words}
            rows = {index[word] for word in singles if index.get(word, AMONG) < AMONG and stem(word) not in own}
            found.setdefault(" ".join(words), set()).update(rows)
    return {phrase: sorted(rows) for phrase, rows in found.items() if rows}


if __name__ == "__main__":
    main()
