r"""Are senses found that are known to be there, and no others? The tables of docs/evidence/senses.md.

    python experiments/studies/induced_senses.py wiki.txt --wordnet wordnet3.0.tar.xz \
        --model glove.6B.100d --vectors glove.6B.100d.npy

Contexts of two words of about the same frequency are put together as if of one, equally many of each or one to three;
and single words. Words are those that WordNet lists once, as a noun, and that are mostly in lower case. Half of them
were for development (`--development`), on which `induction.bound` and `induction.KURTOSIS` were chosen; the tables are
made with the rest.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

import numpy as np

from alacarte import ALaCarte
from alacarte.senses import open_wordnet
from alacarte.senses.induction import (
    CONTEXTS_A_GROUP,
    MOST_TESTED,
    bound,
    group,
    held_out_densities,
    likeness,
)
from alacarte.senses.occurrences import gather
from alacarte.senses.points import WORDS_AROUND, PointSpace
from alacarte.vectors.geometry import cosines

FUNCTION_WORDS = {"might", "while", "yes", "why", "someone"}  # which WordNet lists as nouns
DEVELOPMENT = frozenset(
    """
    achievement advice aircraft algebra aluminium anthropology artist attorney availability beer businessman
    cattle citizen cocaine commentary composer consensus consumer cousin curriculum database deer dialect
    disease drummer dynasty electron employee equipment footballer friendship furniture geometry grammar
    grandson guitar habitat helicopter historian household hydrogen income knowledge lawsuit legacy lifestyle
    literacy mainland mathematics measurement merchant monastery movie myth opium outbreak oxygen petroleum
    physician platinum poem popularity pregnancy professor protein psychology radar referendum restaurant
    scientist soccer songwriter spacecraft statue tennis terrorism therapy tourism undergraduate uranium
    velocity vitamin website wife
    """.split()  # noqa: SIM905
)
SIZES = (50, 100, 200, 500, 1000, 5000)
FEWEST = 150  # occurrences of a word
LISTED = 600  # occurrences from which on words are divided by the list; of the others, every other is for development
MOST_SINGLE = 120  # single words for each number of contexts
LIKE = 10  # the second word is one of so many that are nearest in frequency


def words_of_one_sense(corpus: Path, wordnet: str) -> dict[str, int]:
    """Nouns of a single sense, and how often they occur."""
    counts: Counter[str] = Counter()
    with corpus.open(encoding="utf-8") as lines:
        for line in lines:
            counts.update(re.findall("[A-Za-z]+", line))
    listed, dictionary = {}, open_wordnet(wordnet)
    for word, lower in counts.items():
        total = lower + counts[word.capitalize()] + counts[word.upper()]
        if not word.islower() or total < FEWEST or lower < total / 2 or word in FUNCTION_WORDS or len(word) < 3:
            continue
        senses = dictionary.find(word)
        if len(senses) == 1 and senses[0][1].pos == "n" and word in senses[0][1].lemmas:
            listed[word] = total
    return dict(sorted(listed.items()))


def for_development(counts: dict[str, int]) -> set[str]:
    return {*DEVELOPMENT, *[word for word in counts if counts[word] < LISTED][::2]}


def purity(labels: np.ndarray, truth: np.ndarray) -> float:
    """The share of contexts whose group has mostly contexts of the same word."""
    return sum(np.bincount(truth[labels == one]).max() for one in np.unique(labels)) / len(labels)


class Contexts:
    """The contexts of many words, from which samples are drawn."""

    def __init__(self, given: argparse.Namespace, model: ALaCarte, words: list[str]) -> None:
        if given.cache and given.cache.exists():
            self.kept = dict(np.load(given.cache))
        else:
            gathered = gather(model, given.corpus, words, limit=2500, around=WORDS_AROUND)
            self.kept = {name: getattr(gathered, name) for name in ("targets", "documents", "before", "after")}
            self.kept["keys"] = np.array(gathered.keys)
            self.kept["vectors"] = model.adapted(gathered.means()).astype(np.float32)
            self.kept["word_counts"] = gathered.word_counts
            if given.cache:
                np.savez(given.cache, **self.kept)
        self.space = PointSpace.of(model.vectors, self.kept["word_counts"])
        keys = self.kept["keys"].tolist()
        self.rows = {key: np.flatnonzero(self.kept["targets"] == at) for at, key in enumerate(keys)}

    def senses(self, sizes: dict[str, int], most: int, rng: np.random.Generator) -> tuple[float, float, float]:
        """(likeness of two groups less its bound; of three; purity of two) for contexts of these words, so many of
        each: what `choose_number` goes by. Likeness is infinite for more groups than `most`, or than can be tried."""
        rows = np.concatenate([rng.choice(self.rows[word], size, replace=False) for word, size in sizes.items()])
        x, telling = self.space.points(self.kept["before"][rows], self.kept["after"][rows])
        tested = rng.permutation(np.flatnonzero(telling))[:MOST_TESTED]
        documents, vectors = (self.kept[name][rows][tested] for name in ("documents", "vectors"))
        two, three = (
            likeness(held_out_densities(x[tested], documents, k, rng), vectors.astype(np.float64))
            - bound(k, len(tested))
            if k <= min(most, len(tested) // CONTEXTS_A_GROUP)
            else np.inf
            for k in (2, 3)
        )
        labels, _ = group(x, telling, 2, rng)
        return two, three, purity(labels, np.repeat(np.arange(len(sizes)), list(sizes.values())))


def pairs_of(words: list[str], counts: dict[str, int], number: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Pairs of words of about the same frequency."""
    pairs = []
    while len(pairs) < number:
        first = words[rng.integers(len(words))]
        others = sorted((abs(np.log(counts[word] / counts[first])), word) for word in words if word != first)
        pairs.append((first, others[rng.integers(min(LIKE, len(others)))][1]))
    return pairs


def pseudowords(given: argparse.Namespace, model: ALaCarte) -> None:
    counts = words_of_one_sense(given.corpus, given.wordnet)
    chosen = [word for word in counts if (word in for_development(counts)) == given.development]
    contexts = Contexts(given, model, list(counts))
    print(f"{len(chosen)} words, {given.pairs} pairs; seed {given.seed}")
    print(
        "| contexts | two found | one | more | purity | unrelated: two found "
        "| 1 : 3, split | purity | single words | split |"
    )
    print("|---" * 10 + "|")
    measured = {}
    for size in given.sizes:
        rng = np.random.default_rng([given.seed, size])
        pairs = pairs_of([word for word in chosen if len(contexts.rows[word]) >= size // 2], counts, given.pairs, rng)
        even = np.array([contexts.senses(dict.fromkeys(pair, size // 2), 3, rng) for pair in pairs])
        more = {word: min(3 * size // 4, len(contexts.rows[word])) for word, _ in pairs}
        uneven = np.array([contexts.senses({a: more[a], b: more[a] // 3}, 2, rng) for a, b in pairs])
        # A word with fewer than 5,000 contexts is taken with all that were kept
        alone = [word for word in chosen if len(contexts.rows[word]) >= min(size, 2500)]
        alone = sorted(rng.permutation(alone)[:MOST_SINGLE].tolist())
        single = np.array([contexts.senses({word: min(size, 2500)}, 2, rng) for word in alone])
        measured[size] = even, uneven, single
        one, more_than_two = even[:, 0] >= 0, (even[:, 0] < 0) & (even[:, 1] < 0)
        found = ~one & ~more_than_two
        far = cosines(*(model.vectors[[pair[side] for pair in pairs]] for side in (0, 1))) < given.unrelated
        print(
            f"| {size:,} | {found.mean():.0%} | {one.mean():.0%} | {more_than_two.mean():.0%} | "
            f"{even[found, 2].mean():.2f} | {found[far].mean():.0%} of {far.sum()} | {np.mean(uneven[:, 0] < 0):.0%} | "
            f"{uneven[uneven[:, 0] < 0, 2].mean():.2f} | {len(alone)} | {np.mean(single[:, 0] < 0):.0%} |",
            flush=True,
        )
        split = [word for word, row in zip(alone, single, strict=True) if row[0] < 0]
        missed = ["+".join(pair) for pair, two in zip(pairs, found, strict=True) if not two]
        print(f"<!-- split: {' '.join(split)}; not two: {' '.join(missed)} -->", flush=True)
    print("\nOther bounds: pairs found as at least two / single words split\n")
    print("| bound moved by | " + " | ".join(f"{size:,}" for size in measured) + " |")
    print("|---" * (1 + len(measured)) + "|")
    for shift in (-0.15, -0.1, -0.05, 0, 0.05, 0.1, 0.15):
        rates = [f"{np.mean(e[:, 0] < shift):.0%} / {np.mean(s[:, 0] < shift):.0%}" for e, _, s in measured.values()]
        print(f"| {shift:+.2f} | " + " | ".join(rates) + " |")
    if given.scores:
        kinds = ("even", "uneven", "single")
        all_scores = {
            f"{kind}{size}": part for size, parts in measured.items() for kind, part in zip(kinds, parts, strict=True)
        }
        np.savez(given.scores, **all_scores)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", type=Path)
    options.add_argument("--model", default="glove.6B.50d")
    options.add_argument("--vectors")
    options.add_argument("--wordnet", help="folder or archive of WordNet's database files")
    options.add_argument("--development", action="store_true", help="the other half of the words")
    options.add_argument("--pairs", type=int, default=60)
    options.add_argument("--seed", type=int, default=2018)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options.add_argument("--unrelated", type=float, default=0.3, help="the cosine below which words are unrelated")
    options.add_argument("--scores", type=Path, help="keep what was measured of each sample in this .npz file")
    options.add_argument("--cache", type=Path, help="keep gathered contexts in this .npz file, or take them from it")
    given = options.parse_args()
    pseudowords(given, ALaCarte.pretrained(given.model, vectors=given.vectors))


if __name__ == "__main__":
    main()
