"""Does `alacarte.compare` keep its false discovery rate, what does it find, what does it mistake, what does it cost?

    python benchmarks/compare_vocabulary.py null  CORPUS --model glove.6B.100d --vectors glove.6B.100d.npy
    python benchmarks/compare_vocabulary.py power CORPUS --model glove.6B.100d --vectors glove.6B.100d.npy
    python benchmarks/compare_vocabulary.py topic CORPUS CORPUS --model glove.6B.100d --vectors glove.6B.100d.npy
    python benchmarks/compare_vocabulary.py cost

`null` splits a corpus by document at random, so that every word found is a false discovery (documents are dealt to 128
groups at random, once, and 64 of these make a half, each time others). `power` splits it once, and
in one half lets some words take over a share of the contexts of others. `topic` compares two different corpora: what it
finds there is no evidence that a word means something else. `cost` is of made-up sums.
"""

import argparse
import re
import resource
import time
from collections import Counter
from dataclasses import fields, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, ContextSums, Corpus, Targets, WordVectors, compare
from alacarte.comparing.uses import Comparisons, Side, compare_sides
from alacarte.contexts.sums import Sums
from alacarte.passes.collect import count_words
from alacarte.uncertainty.spread import deviations
from alacarte.uncertainty.uncertainty import Uncertainty

BINS = (20, 50, 200, 1000, 10**12)
LEVELS = (0.05, 0.01, 0.001, 0.0001)
SHARES = (0.1, 0.2, 0.5, 1.0)
PAIRS = 60
DEALT = 128  # groups of documents that a random split puts on either side


def texts_of(place: str, options: argparse.Namespace) -> list[str]:
    corpus = Corpus(place, unit=options.unit) if place.endswith(".txt") else Corpus(place)
    return [item for item in corpus if isinstance(item, str)][: options.documents]


def halves(texts: list[str], seed: int) -> tuple[list[str], list[str]]:
    order = np.random.default_rng(seed).permutation(len(texts)).tolist()
    middle = len(texts) // 2
    return [texts[place] for place in order[:middle]], [texts[place] for place in order[middle:]]


def frequent_words(model: ALaCarte, texts: list[str], least: int) -> Targets:
    counts = count_words(model.vectors, texts, model.tokenizer)
    return Targets.ngrams([model.vectors.words[row] for row in np.flatnonzero(counts >= least)])


# ---------------------------------------------------------------------------------------------------- null


def split(dealt: ContextSums, seed: int) -> list[ContextSums]:
    """Two random halves of documents that were dealt to `DEALT` groups, each in sixteen groups again."""
    order = np.random.default_rng(seed).permutation(DEALT)
    return [_some(dealt, part) for part in (order[: DEALT // 2], order[DEALT // 2 :])]


def _some(dealt: ContextSums, groups: npt.NDArray[np.intp]) -> ContextSums:
    def joined(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return values[:, groups].reshape(len(values), 16, len(groups) // 16, *values.shape[2:]).sum(axis=2)

    assert dealt.groups is not None
    sums = Sums(*(joined(getattr(dealt.groups, item.name)) for item in fields(Sums)))
    return replace(dealt, all=sums.over_groups(), groups=sums, units=frozenset())


def null(options: argparse.Namespace, model: ALaCarte) -> None:
    texts = texts_of(options.corpus[0], options)
    words = frequent_words(model, texts, 2 * options.min_count)
    print(f"{options.corpus[0]}: {len(texts):,} documents, {options.splits} random splits")
    dealt = model.collect(texts, words, spread=DEALT)
    splits: list[_Split] = []
    try:
        for seed in range(options.first, options.first + options.splits):
            found = compare(model, *split(dealt, seed), min_count=options.min_count)
            tested = [item for item in found if not item.reason]
            p = np.array([item.p_value for item in tested])
            count = np.array([min(item.contexts_a, item.contexts_b) for item in tested])
            bins = [_shares(p[(count >= low) & (count < high)])[:3] for low, high in pairwise(BINS)]
            covered = float(np.mean([item.conf_low <= 0 for item in tested]))
            splits.append(_Split(len(found), len(p), len(found.changed(0.05)), _shares(p), bins, covered))
            print(
                f"  split {seed}: {len(p):,} tested, {splits[-1].found} found, least p × words {p.min() * len(p):.2g}"
            )
    except KeyboardInterrupt:
        print("  interrupted; of the splits so far:")
    _summarise(splits)


class _Split(NamedTuple):
    words: int
    tested: int
    found: int
    sizes: list[float]
    bins: list[list[float]]
    covered: float


def _summarise(splits: list[_Split]) -> None:
    columns = [np.array(column, dtype=np.float64) for column in zip(*splits, strict=True)]
    words, tested, _, sizes, bins, covered = (np.nanmean(column, axis=0) for column in columns)
    any_found = int(np.count_nonzero(columns[2]))
    levels = " | ".join(f"p ≤ {level:g}" for level in LEVELS)
    print(f"| words | tested | splits | with a discovery | {levels} | covers 0 |")
    shown = " | ".join(f"{size:.5f}".rstrip("0") for size in sizes)
    print(f"| {words:,.0f} | {tested:,.0f} | {len(splits)} | {any_found} | {shown} | {covered:.3f} |")
    for low, shares in zip(BINS, bins, strict=False):
        print(f"| {low:,} and more uses | {' | '.join(f'{share:.4f}' for share in shares)} |")


def _shares(p: npt.NDArray[np.float64]) -> list[float]:
    return [float(np.mean(p <= level)) if len(p) else float("nan") for level in LEVELS]


# --------------------------------------------------------------------------------------------------- power


def power(options: argparse.Namespace, model: ALaCarte) -> None:
    """In one half, a share of the uses of x goes, and as large a share of those of y becomes uses of x."""
    texts = texts_of(options.corpus[0], options)
    first, second = halves(texts, 0)
    second = [text.lower() for text in second]
    counts = [count_words(model.vectors, half, model.tokenizer) for half in (first, second)]
    both = np.minimum(*counts)
    rng = np.random.default_rng(7)
    pairs: list[tuple[str, str]] = []
    strata = ((20, 50), (50, 200), (200, 2000))
    for low, high in strata:
        usable = [row for row in np.flatnonzero((both >= low) & (both < high)) if plain(model.vectors.words[row])]
        chosen = rng.permutation(usable)[: 2 * PAIRS // 3]
        chosen = chosen[np.argsort(both[chosen])]
        pairs += [(model.vectors.words[x], model.vectors.words[y]) for x, y in chosen.reshape(-1, 2)]
    words = Targets.ngrams([model.vectors.words[row] for row in np.flatnonzero(both >= options.min_count)])
    before = model.collect(first, words, spread=16)
    print(f"{options.corpus[0]}: {len(words):,} words, {len(pairs)} of them changed; the share found at q ≤ .05")
    print(
        "| share of uses | 20 to 50 uses | 50 to 200 | 200 to 2,000 | other words found |\n|---:|---:|---:|---:|---:|"
    )
    for share in SHARES:
        after = model.collect(with_exchanged(second, pairs, share), words, spread=16)
        found = compare(model, before, after, min_count=options.min_count // 2)
        changed = {item.word for item in found.changed(0.05)}
        hit = np.array([x in changed for x, _ in pairs]).reshape(len(strata), -1).mean(axis=1)
        exchanged = {word for pair in pairs for word in pair}
        others = sorted(changed - exchanged)
        print(f"| {share:.0%} | {' | '.join(f'{value:.2f}' for value in hit)} | {len(others)} |", flush=True)
        if others:
            beside = _beside(second, exchanged)
            least = {item.word for item in found if not item.reason}
            usual = np.median([beside[word] for word in least - exchanged if word in beside])
            shown = ", ".join(f"{word} {beside.get(word, 0.0):.2f}" for word in others)
            print(f"  exchanged words among the ten on either side: {usual:.2f} for the median word; {shown}")


def _beside(texts: list[str], exchanged: set[str]) -> dict[str, float]:
    """For each word the share of its uses that have an exchanged word among the ten words on either side."""
    uses: Counter[str] = Counter()
    near: Counter[str] = Counter()
    for text in texts:
        words = re.findall(r"[a-z']+|[^\sa-z']", text)
        places = np.array([place for place, word in enumerate(words) if word in exchanged])
        uses.update(words)
        close = {place for low in places.tolist() for place in range(max(low - 10, 0), min(low + 11, len(words)))}
        near.update(words[place] for place in close)
    return {word: near[word] / count for word, count in uses.items()}


def plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and len(word) > 2


def with_exchanged(texts: list[str], pairs: list[tuple[str, str]], share: float) -> list[str]:
    rng = np.random.default_rng(11)
    becomes = {x: "" for x, _ in pairs} | {y: x for x, y in pairs}
    pattern = re.compile(rf"\b({'|'.join(becomes)})\b")
    return [pattern.sub(lambda match: becomes[match[1]] if rng.random() < share else match[1], text) for text in texts]


# --------------------------------------------------------------------------------------------------- topic


def topic(options: argparse.Namespace, model: ALaCarte) -> None:
    sides = [texts_of(place, options) for place in options.corpus]
    words = frequent_words(model, sides[0], options.min_count)
    sums = [model.collect(side, words, spread=16) for side in sides]
    found = compare(model, *sums, min_count=options.min_count)
    tested = [item for item in found if not item.reason]
    changed = found.changed(0.05)
    share = len(changed) / max(len(tested), 1)
    distance = np.median([item.distance for item in tested])
    print(f"{len(changed):,} of {len(tested):,} words differ ({share:.0%}); median distance {distance:.3f}")
    print("  " + ", ".join(f"{item.word} {item.distance:.2f}" for item in changed[:25]))
    print("  two halves of the first:", _within(model, sides[0], words, options))


def _within(model: ALaCarte, texts: list[str], words: Targets, options: argparse.Namespace) -> int:
    sums: list[ContextSums] = [model.collect(half, words, spread=16) for half in halves(texts, 0)]
    return len(compare(model, *sums, min_count=options.min_count).changed(0.05))


# ---------------------------------------------------------------------------------------------------- cost


def cost(words: int = 100_000, dimension: int = 100, groups: int = 16) -> None:
    """The test alone, of sums that are drawn block by block, so that memory is that of the test."""
    shape = np.diag(np.linspace(0.2, 2.0, dimension))
    weights = np.full(groups, 8.0)

    def side(seed: int) -> Side:
        def deviations_of(rows: npt.NDArray[np.intp]) -> object:
            rng = np.random.default_rng(seed * 1000 + int(rows[0]))
            truth = np.random.default_rng(int(rows[0])).normal(size=(len(rows), 1, dimension))
            drawn = truth + rng.normal(size=(len(rows), groups, dimension)) @ shape / np.sqrt(8)
            full = np.broadcast_to(weights, (len(rows), groups))
            return deviations(drawn * 8, full, np.full(len(rows), 8 * groups), np.eye(dimension))

        contexts, drawn = np.full(words, 8 * groups), np.random.default_rng(0).normal(size=(5000, dimension))
        others = WordVectors([f"v{number}" for number in range(5000)], drawn)
        return Side.of(names, Uncertainty(names, deviations_of, others), contexts)

    names = [f"w{number}" for number in range(words)]
    sides = side(1), side(2)
    began, used = time.perf_counter(), time.process_time()
    found: Comparisons = compare_sides(names, sides)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{len(found):,} words × {dimension} × {groups}: {wall:.0f} s, {cpu:.0f} s of CPU, peak {peak:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("null", "power", "topic", "cost"))
    parser.add_argument("corpus", nargs="*")
    parser.add_argument("--model", default="glove.6B.100d")
    parser.add_argument("--vectors")
    parser.add_argument("--unit", default="paragraph", help="what a document is in plain text")
    parser.add_argument("--documents", type=int, help="use only the first so many")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first split")
    parser.add_argument("--min-count", type=int, default=20)
    parser.add_argument("--no-adapt", action="store_true", help="as in the paper")
    options = parser.parse_args()
    if options.part == "cost":
        cost()
        return
    model = ALaCarte.pretrained(options.model + ".plain" * options.no_adapt, vectors=options.vectors)
    {"null": null, "power": power, "topic": topic}[options.part](options, model)


if __name__ == "__main__":
    main()
