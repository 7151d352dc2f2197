r"""Are senses found that are known to be there, and no others? The tables of docs/senses.md.

    python experiments/studies/induced_senses.py pseudowords wiki.txt --wordnet wordnet3.0.tar.xz \
        --model glove.6B.100d --vectors glove.6B.100d.npy
    python experiments/studies/induced_senses.py table wiki.txt --model glove.6B.100d --vectors glove.6B.100d.npy

`pseudowords`: contexts of two words of about the same frequency, thrown together as if of one; and single words. Words
are those that WordNet lists once, as a noun, and that mostly stand in lower case. Every other one of them was for
development (`--development`, by which `threshold` was set); the tables are made with the rest. `table`: ten words
of several senses as they are.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

import numpy as np

from alacarte import ALaCarte
from alacarte.senses import gather, open_wordnet
from alacarte.senses.induction import LIMIT, choose_number, group, senses_among
from alacarte.senses.points import AROUND, PointSpace
from alacarte.vectors.geometry import cosines

TEN = ["bank", "apple", "jaguar", "mercury", "python", "crane", "bass", "cell", "spring", "plant"]
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
FEWEST = 600  # occurrences
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


def purity(labels: np.ndarray, truth: np.ndarray) -> float:
    """The share of contexts whose group has mostly contexts of the same word."""
    return sum(np.bincount(truth[labels == one]).max() for one in np.unique(labels)) / len(labels)


class Contexts:
    """The contexts of many words, from which samples are drawn."""

    def __init__(self, given: argparse.Namespace, model: ALaCarte, words: list[str]) -> None:
        self.space = PointSpace.of(model.vectors)
        if given.cache and given.cache.exists():
            kept = dict(np.load(given.cache))
        else:
            gathered = gather(model, given.corpus, words, limit=2500, around=AROUND)
            names = ("targets", "documents", "before", "after")
            kept = {name: getattr(gathered, name) for name in names} | {"keys": np.array(gathered.keys)}
            if given.cache:
                np.savez(given.cache, **kept)
        self.kept = kept
        self.rows = {key: np.flatnonzero(kept["targets"] == at) for at, key in enumerate(kept["keys"].tolist())}

    def senses(self, words: list[str], size: int, rng: np.random.Generator) -> tuple[int, float, float]:
        """(senses found, purity if two are asked for, overlap of two) for contexts of these words, equally many."""
        each = size // len(words)
        rows = np.concatenate([rng.choice(self.rows[word], each, replace=False) for word in words])
        x, telling = self.space.points(self.kept["before"][rows], self.kept["after"][rows])
        number, scores = choose_number(x[telling], self.kept["documents"][rows][telling], rng)
        labels, _ = group(x, telling, max(2, number), rng)
        return number, purity(labels, np.repeat(np.arange(len(words)), each)), scores[0] if scores else 1.0


def pseudowords(given: argparse.Namespace, model: ALaCarte) -> None:
    counts = words_of_one_sense(given.corpus, given.wordnet)
    chosen = [word for word in counts if (word in DEVELOPMENT) == given.development]
    contexts = Contexts(given, model, list(counts))
    print(f"{len(chosen)} words, {given.pairs} pairs; seed {given.seed}")
    print("| contexts | two found | one | more | purity | unrelated: two found | purity | single words | split |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in given.sizes:
        rng = np.random.default_rng([given.seed, size])
        able = [word for word in chosen if len(contexts.rows[word]) >= size // 2]
        pairs = []
        while len(pairs) < given.pairs:
            first = able[rng.integers(len(able))]
            others = sorted((abs(np.log(counts[word] / counts[first])), word) for word in able if word != first)
            pairs.append((first, others[rng.integers(min(LIKE, len(others)))][1]))
        found = np.array([contexts.senses(list(pair), size, rng) for pair in pairs])
        far = cosines(*(model.vectors[[pair[side] for pair in pairs]] for side in (0, 1))) < given.unrelated
        two = found[:, 0] == 2
        # A word with fewer than 5,000 contexts is taken with all that were kept
        alone = [word for word in chosen if len(contexts.rows[word]) >= min(size, 2500)]
        single = np.array([contexts.senses([word], min(size, 2500), rng) for word in alone])
        print(
            f"| {size:,} | {two.mean():.0%} | {np.mean(found[:, 0] == 1):.0%} | {np.mean(found[:, 0] > 2):.0%} | "
            f"{found[two, 1].mean():.2f} | {two[far].mean():.0%} of {far.sum()} | {found[two & far, 1].mean():.2f} | "
            f"{len(alone)} | {np.mean(single[:, 0] > 1):.0%} |",
            flush=True,
        )
        if given.development:
            print(
                "overlap, 2, 5, 10, 50 % of single words:", np.quantile(single[:, 2], [0.02, 0.05, 0.1, 0.5]).round(2)
            )
            print("         50, 80, 90 % of pairs:         ", np.quantile(found[:, 2], [0.5, 0.8, 0.9]).round(2))
        split = [word for word, row in zip(alone, single, strict=True) if row[0] > 1]
        missed = ["+".join(pair) for pair, one in zip(pairs, two, strict=True) if not one]
        print(f"<!-- split: {' '.join(split)}; not two: {' '.join(missed)} -->", flush=True)


def table(given: argparse.Namespace, model: ALaCarte) -> None:
    gathered = gather(model, given.corpus, given.words, limit=LIMIT, around=AROUND)
    for word in given.words:
        senses = senses_among(model, gathered.of(word), word)
        print(f"**{word}**, {len(senses.occurrences):,} contexts\n\n| sense | share | nearest words | typical lines |")
        print("|---|---|---|---|")
        for sense in senses:
            near = " ".join(name for name, _ in sense.nearest[:8])
            lines = "<br>".join(line.replace("|", r"\|") for line in sense.examples)
            print(f"| {sense.name} | {sense.share:.0%} | {near} | {lines} |")
        print(flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("pseudowords", "table"))
    options.add_argument("corpus", type=Path)
    options.add_argument("--model", default="glove.6B.50d")
    options.add_argument("--vectors")
    options.add_argument("--wordnet", help="folder or archive of WordNet's database files")
    options.add_argument("--development", action="store_true", help="the other half of the words")
    options.add_argument("--pairs", type=int, default=60)
    options.add_argument("--seed", type=int, default=2018)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options.add_argument("--unrelated", type=float, default=0.3, help="the cosine below which words are unrelated")
    options.add_argument("--cache", type=Path, help="keep gathered contexts in this .npz file, or take them from it")
    options.add_argument("--words", nargs="+", default=TEN)
    given = options.parse_args()
    model = ALaCarte.pretrained(given.model, vectors=given.vectors)
    (pseudowords if given.what == "pseudowords" else table)(given, model)


if __name__ == "__main__":
    main()
