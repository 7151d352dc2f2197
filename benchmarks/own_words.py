"""Own-word retrieval: are words of a text, treated as new, found again among the 30,000 most frequent words?

    python benchmarks/own_words.py glove.6B.50d TEXT [TEXT …]
    python benchmarks/own_words.py glove.6B.100d TEXT --vectors DIR/glove.6B.100d.npy --spelling
    python benchmarks/own_words.py glove.6B.50d TEXT --settings            # windows and weights of context words
    python benchmarks/own_words.py glove.6B.50d TEXT --sizes 50000 100000  # a curve over the size of the text

A TEXT has one document per line. A fifth of the words are held out: they take no part in adapting to the text. A row
for each way to compare them with the words of the vectors, and a column for each number of uses: mean reciprocal rank
of a word's own vector, ± its standard error over words, and the median rank.

- *as in the paper*: the `.plain` model, plain cosine.
- *adapted*: what `nearest` compares. *Exported*: the same vectors under plain cosine with the vectors of words.
- *model's own*: the register that ships, which a single sentence gets.
- *learned here*: the paper's method with a transform learned from this text alone; *centred, hubs discounted*: that
  without the mean of its words, by 2·cos − the mean cosine of a word with its 10 nearest among the text's vectors.
- *with spelling*: adapted, and with vectors from spelling, learned without the words held out.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from alacarte import ALaCarte, ContextSums, Transform, WordVectors, collect
from alacarte.contexts.shared_words import WordContexts
from alacarte.spelling.form import FormModel
from alacarte.spelling.prior import Prior
from alacarte.transform.found_again import BANDS, TESTED_EVERY, rank_of_own
from alacarte.transform.register import Register, words_with_vectors
from alacarte.transform.solve import Solve
from alacarte.vectors.geometry import unit_rows

AMONG = 30_000
PER_BAND = 400
NEAREST, SAMPLE = 10, 3000  # for hubs
WINDOWS, POSITIONS, WEIGHTS = (3, 5, 10, 15), ("uniform", "linear", "inverse"), (None, "sif:1e-3")
FEWEST = 30  # words in a cell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model that ships, which adapts to texts")
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--vectors", help="its vectors, if not an installed package")
    parser.add_argument("--tokens", type=int, help="only so many tokens of each text")
    parser.add_argument("--sizes", type=int, nargs="+", help="a curve: the first so many tokens of each text")
    parser.add_argument("--settings", action="store_true", help="windows and weights of context words instead")
    parser.add_argument("--spelling", action="store_true")
    given = parser.parse_args()
    vectors = WordVectors.load(given.vectors or given.model)
    for path in given.texts:
        documents = path.read_text(encoding="utf-8").splitlines()
        for size in given.sizes or [given.tokens]:
            text = list(first_tokens(documents, size))
            print(f"\n{path.name}, {sum(map(len, map(str.split, text))):,} words separated by spaces\n")
            print("| | " + " | ".join(name_of(band) for band in BANDS) + " |\n|---|" + "---|" * len(BANDS))
            if given.settings:
                settings(given.model, vectors, text)
            else:
                ways(given.model, vectors, text, given.spelling)


def first_tokens(documents: list[str], size: int | None) -> Iterator[str]:
    """Return documents until they have so many tokens."""
    for document in documents:
        if size is not None and (size := size - len(document.split())) < 0:
            return
        yield document


def ways(name: str, vectors: WordVectors, text: list[str], spelling: bool) -> None:
    """Print one row per way to compare."""
    model = ALaCarte.pretrained(name, vectors=vectors)
    paper = ALaCarte.pretrained(f"{name}.plain", vectors=vectors)
    assert model.register is not None
    vocabulary: np.ndarray = vectors.matrix[:AMONG].astype(np.float64)

    words, rest = held_out(collect(vectors, text, **paper.reading), vectors)
    by_occurrence = words.contexts * words.lengths[:, None]
    row("as in the paper", words, paper.transform(by_occurrence), vocabulary)
    local = learned_here(vectors, collect(vectors, text, **paper.reading), words)
    x, others = local(by_occurrence), local(rest.contexts * rest.lengths[:, None])
    row("learned here", words, x, vocabulary)
    centre = np.average(others, axis=0, weights=np.minimum(rest.counts, 100))
    sample = np.random.default_rng(0).permutation(others)[:SAMPLE] - centre
    centred = vocabulary - vocabulary.mean(axis=0)
    row("learned here, centred, hubs discounted", words, x - centre, centred, hubs(centred, sample))

    sums = collect(vectors, text, **model.reading)
    words, rest = held_out(sums, vectors)
    adaptation, own = model.register.of_text(rest, vectors).adaptation(), model.register.adaptation()
    for label, used in (("model's own", own), ("adapted", adaptation)):
        row(label, words, words.contexts @ used.matrix.T + used.intercept, used.compared_words(vocabulary))
    exported = words.contexts @ adaptation.matrix.T + adaptation.intercept + adaptation.shift
    row("exported", words, exported, vocabulary)
    if spelling:
        names = [vectors.words[place] for place in words.words.tolist()]
        form = FormModel.fit(vectors, exclude=names)
        prior = Prior(vectors, form, model.fusion, adaptation)
        x = words.contexts @ adaptation.matrix.T + adaptation.intercept
        fused = prior.combine(x, prior.rows(names), words.counts, names).fused
        row("with spelling", words, adaptation.compared(fused), adaptation.compared_words(vocabulary))


def settings(name: str, vectors: WordVectors, text: list[str]) -> None:
    """Print one row per window and weighting of context words, adapted to the text alone."""
    for window in WINDOWS:
        for positions in POSITIONS:
            for weights in WEIGHTS:
                sums = collect(vectors, text, window=window, positions=positions, context_weights=weights)
                words, rest = held_out(sums, vectors)
                adaptation = Register.of_words(rest, vectors).adaptation()
                x = words.contexts @ adaptation.matrix.T + adaptation.intercept
                label = f"{window} words, {positions}, {weights or 'all words alike'}"
                row(label, words, x, adaptation.compared_words(vectors.matrix[:AMONG]))


def held_out(sums: ContextSums, vectors: WordVectors) -> tuple[WordContexts, WordContexts]:
    """(words to test, at most so many per number of uses; the others)."""
    words = words_with_vectors(sums, vectors)
    assert words is not None
    tested = words.words % TESTED_EVERY == 0
    rng = np.random.default_rng(0)
    chosen = [
        rng.permutation(np.flatnonzero(tested & (words.counts >= low) & (words.counts <= (high or np.inf))))[:PER_BAND]
        for low, high in BANDS
    ]
    return words.only(np.concatenate(chosen)), words.only(~tested)


def learned_here(vectors: WordVectors, sums: ContextSums, words: WordContexts) -> Transform:
    """Return a transform learned from a text without some words."""
    exclude = [vectors.words[place] for place in words.words.tolist()]
    return replace(Transform.learn(sums, vectors, Solve(exclude=exclude, folds=1)), fingerprint=None)


def hubs(vocabulary: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return the mean cosine of each word with the vectors of the text that are nearest to it."""
    cosines = unit_rows(vocabulary) @ unit_rows(sample).T
    return np.partition(cosines, -NEAREST, axis=1)[:, -NEAREST:].mean(axis=1)


def row(label: str, words: WordContexts, x: np.ndarray, vocabulary: np.ndarray, hub: np.ndarray | None = None) -> None:
    ranks = rank_of_own(x, vocabulary, words.words, None if hub is None else hub / 2)
    cells = []
    for low, high in BANDS:
        band = 1 / ranks[(words.counts >= low) & (words.counts <= (high or np.inf))]
        few = len(band) < FEWEST
        error = 0 if few else band.std() / np.sqrt(len(band))
        cells.append("–" if few else f"{band.mean():.3f} ±{error:.3f} ({1 / np.median(band):.0f})")
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def name_of(band: tuple[int, int | None]) -> str:
    low, high = band
    return f"{low}+ uses" if high is None else f"{low}–{high}" if high > low else str(low)


if __name__ == "__main__":
    main()
