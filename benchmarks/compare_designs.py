"""Does `alacarte.compare` hold what it says for speakers, reprints and distances that are known?

    python benchmarks/compare_designs.py null REVIEWS.txt SPEECHES.jsonl.xz --model glove.6B.100d
        --vectors glove.6B.100d.npy
    python benchmarks/compare_designs.py coverage A.txt B.txt --model glove.6B.100d --vectors glove.6B.100d.npy

`null` deals documents or speakers (here speeches and presidents) to two sides at random, so that every word found is a
false discovery, once as the library does by default and once by documents, with all reprints kept. In the last column
half of the uses of forty words on the second side are uses of other words: the share of these that is found. `coverage`
draws small samples of documents from two texts. The true distance of a word is the one between its mean vectors in the
whole texts, with the transform of the sample. Texts have a document per line; speeches have `text`, `docname_` and
`President`.
"""

import argparse
import json
import lzma
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from compare_vocabulary import plain, with_exchanged

from alacarte import ALaCarte, Targets, collect, compare
from alacarte.comparing.uses import Comparisons
from alacarte.contexts.shared_words import WordContexts
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteWarning
from alacarte.model.induced import as_compared
from alacarte.passes.collect import count_words
from alacarte.transform.register import Adaptation, words_with_vectors
from alacarte.uncertainty.uncertainty import OTHERS, Uncertainty

PAIRS = 40
USES = (50, 2000)  # of the words that are exchanged
SHARE = 0.5  # of their uses
PARAGRAPHS = 40  # of a speech, at most
CHANGED = 0.01  # of the words of a reprint
LEAST = 60  # uses in either whole text of the words whose distance is known
SAMPLE = 400_000  # words of a sample, about


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["null", "coverage"])
    parser.add_argument("texts", nargs=2)
    parser.add_argument("--model", default="glove.6B.50d")
    parser.add_argument("--vectors")
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore", AlacarteWarning)  # the wrong level is asked for on purpose
    model = ALaCarte.pretrained(options.model, vectors=options.vectors)
    {"null": null, "coverage": coverage}[options.what](options, model)


# ---------------------------------------------------------------------------------------------------- null


def designs(reviews: str, speeches: str) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Yield (a name, documents, the column whose values are dealt to two sides)."""
    rng = np.random.default_rng(0)
    texts = lines(reviews)
    texts = [texts[place] for place in rng.permutation(len(texts))[:2000]]
    alone = pd.DataFrame({"text": texts, "print": np.arange(len(texts))})
    yield f"{len(texts):,} reviews", alone, "print"
    words = sorted({word for text in texts for word in text.split()})
    copies = [
        " ".join(str(rng.choice(words)) if rng.random() < CHANGED else word for word in text.split()) for text in texts
    ]
    yield "each review twice, 1 % of words changed", pd.concat([alone, alone.assign(text=copies)]), "print"
    rows = []
    for line in lzma.decompress(Path(speeches).read_bytes()).splitlines():
        speech = json.loads(line)
        parts = [part for part in speech["text"].split("\n") if len(part.split()) >= 12]
        chosen = rng.permutation(len(parts))[:PARAGRAPHS]
        rows += [{"text": parts[place], "speech": speech["docname_"], "by": speech["President"]} for place in chosen]
    table = pd.DataFrame(rows)
    yield f"{table.speech.nunique()} speeches by paragraph", table[["text", "speech"]], "speech"
    yield f"{table.by.nunique()} presidents by paragraph", table[["text", "by"]], "by"


def lines(path: str) -> list[str]:
    return [line for line in Path(path).read_text(encoding="utf-8").split("\n") if len(line.split()) >= 12]


def null(options: argparse.Namespace, model: ALaCarte) -> None:
    print("| design | how | words tested | p ≤ .05 | splits with a word found | words found | of exchanged words |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, table, unit in designs(*options.texts):
        given = table.drop(columns="print") if unit == "print" else table
        for how, naive in (("default", {}), ("by documents", {"cluster": "document", "duplicates": "keep"})):
            sizes, tested, found = [], [], []
            for seed in range(options.splits):
                levels = np.unique(table[unit])
                second = np.random.default_rng(seed).permutation(levels)[: len(levels) // 2]
                sides = np.where(table[unit].isin(second), "b", "a")
                result = compare(model, given.assign(side=sides), by="side", contexts=0, **naive)
                p = np.array([item.p_value for item in result if not item.reason])
                sizes.append(float(np.mean(p <= 0.05)))
                tested.append(len(p))
                found.append(len(result.changed()))
            share = power(model, given.assign(side=sides)) if not naive else float("nan")
            print(
                f"| {name} | {how} | {np.mean(tested):,.0f} | {np.mean(sizes):.3f} | {np.count_nonzero(found)} of "
                f"{len(found)} | {np.mean(found):,.1f} | {share:.2f} |".replace("nan", ""),
                flush=True,
            )


def power(model: ALaCarte, table: pd.DataFrame) -> float:
    """Return the share of words found that take over half of the uses of others on the second side."""
    changed = table.side.eq("b").to_numpy()
    texts = table.text.str.lower().to_numpy()
    both = np.minimum(*(count_words(model.vectors, list(texts[side]), model.tokenizer) for side in (changed, ~changed)))
    words = model.vectors.words
    usable = [row for row in np.flatnonzero((both >= USES[0]) & (both < USES[1])) if plain(words[row])]
    chosen = np.random.default_rng(7).permutation(usable)[: 2 * PAIRS]
    chosen = chosen[np.argsort(both[chosen], kind="stable")]
    pairs = [(words[x], words[y]) for x, y in chosen.reshape(-1, 2)]
    texts[changed] = with_exchanged(list(texts[changed]), pairs, SHARE)
    found = {item.word for item in compare(model, table.assign(text=texts), by="side", contexts=0).changed()}
    return float(np.mean([x in found for x, _ in pairs]))


# ------------------------------------------------------------------------------------------------ coverage


def coverage(options: argparse.Namespace, model: ALaCarte) -> None:
    texts = [lines(path) for path in options.texts]
    counts = [count_words(model.vectors, text, model.tokenizer) for text in texts]
    words = [model.vectors.words[row] for row in np.flatnonzero(np.minimum(*counts) >= LEAST)]
    targets = Targets.ngrams(words)
    whole = [model.collect(text, targets, spread=16) for text in texts]
    everything = [words_with_vectors(collect(model.vectors, text, **model.reading), model.vectors) for text in texts]
    orders = [np.random.default_rng(seed).permutation(len(text)) for seed, text in enumerate(texts)]
    sizes = [round(SAMPLE * len(text) / count.sum()) for text, count in zip(texts, counts, strict=True)]
    rows = []
    for draw in range(min(options.splits, *(len(text) // size for text, size in zip(texts, sizes, strict=True)))):
        sums = [
            model.collect([text[place] for place in order[draw * size : (draw + 1) * size]], targets, spread=16)
            for text, order, size in zip(texts, orders, sizes, strict=True)
        ]
        true = dict(zip(words, true_distances(model, sums, whole, everything, words), strict=True))
        rows += _rows(compare(model, *sums), true, draw)
    draws, true, low, high, p, uses = np.array(rows).T
    held = (low <= true) & (true <= high)
    print(f"{' and '.join(options.texts)}: {draw + 1} samples of {sizes[0]:,} and {sizes[1]:,} documents")
    print("| words | how many | interval holds the distance | width | p ≤ .05 | of these, it holds 0 |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, chosen in (
        ("distance > .1", true > 0.1),
        ("distance ≤ .1", true <= 0.1),
        ("20 to 50 uses", uses < 50),
        ("50 to 200", (uses >= 50) & (uses < 200)),
        ("200 and more", uses >= 200),
    ):
        by_draw = [held[chosen & (draws == one)].mean() for one in np.unique(draws[chosen])]
        error = np.std(by_draw) / np.sqrt(len(by_draw))
        significant = chosen & (p <= 0.05)
        print(
            f"| {name} | {chosen.sum():,} | {held[chosen].mean():.3f} ± {error:.3f} | {(high - low)[chosen].mean():.2f}"
            f" | {significant.sum() / chosen.sum():.2f} | {np.count_nonzero(low[significant] <= 0)} |"
        )


def _rows(found: Comparisons, true: dict[str, float], draw: int) -> list[tuple[float, ...]]:
    return [
        (draw, true[item.word], item.conf_low, item.conf_high, item.p_value, min(item.contexts_a, item.contexts_b))
        for item in found
        if not item.reason
    ]


def true_distances(
    model: ALaCarte,
    sums: Sequence[ContextSums],
    whole: Sequence[ContextSums],
    everything: Sequence[WordContexts | None],
    words: list[str],
) -> npt.NDArray[np.float64]:
    """Return the distances of words in two whole texts, in the space in which samples of these are compared."""
    means, lengths = [], []
    for sample, text, contexts, adapted in zip(sums, whole, everything, model.adapted_together(*sums), strict=True):
        if adapted is not None and contexts is not None:
            adapted = without_noise(model, sample, contexts, adapted)
        compared = as_compared(adapted, text, model.transform, model.vectors.first(OTHERS))
        known = Uncertainty.of_sums(*compared)
        part = known.deviations_of(known.rows(words))
        means.append(part.means)
        lengths.append(np.einsum("td,td->t", part.means, part.means) - part.noise)
    cosines = np.einsum("td,td->t", *means) / np.sqrt(np.maximum(lengths[0] * lengths[1], 1e-3))
    return np.asarray(np.clip(1 - cosines, 0, 2))


def without_noise(model: ALaCarte, sample: ContextSums, contexts: WordContexts, adapted: Adaptation) -> Adaptation:
    """Return what adapts to a sample, but with the mean contexts that its words have in the whole text."""
    seen = words_with_vectors(sample, model.vectors)
    assert seen is not None
    assert model.register is not None
    order = np.argsort(contexts.words)
    places = order[np.searchsorted(contexts.words, seen.words, sorter=order)]
    true = model.register.of_text(seen._replace(contexts=contexts.contexts[places]), model.vectors)
    own = model.register.of_text(seen, model.vectors)
    return replace(adapted, intercept=adapted.intercept - adapted.matrix @ (true.contexts - own.contexts))


if __name__ == "__main__":
    main()
