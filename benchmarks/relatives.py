"""Do the neighbours of words say how much contexts count beside spelling, as WordNet does?

Where `fusion.NEIGHBOUR_CORRECTION` comes from.

    python benchmarks/relatives.py ../shared/data/wsd/wordnet3.0.tar.xz --vectors DIR/glove.6B.100d.npy \\
        --corpus ../shared/data/wiki/enwiki.txt.xz

Weights are learned from words' nearest neighbours, as the library does, and from their relatives in WordNet (synonyms,
hypernyms, co-hyponyms of the first three senses, other stems), for words of rank 5,000 and of rank 20,000 on. Then the
AUC of WordNet's relatives with each set of weights.
"""

import argparse
import re
import tarfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from alacarte import WordVectors, collect
from alacarte.errors import require
from alacarte.spelling import fusion as fusing
from alacarte.spelling.form import FormSettings
from alacarte.spelling.fusion import Fusion, Trials, simulate

POS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SENSES, FEW, KNOWN = 3, 3, 60_000  # senses of a word, relatives it must have, ranks they may have


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wordnet", type=Path)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--corpus", required=True, type=Path)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--weights", default="sif:1e-3")
    parser.add_argument("--rank-power", type=float, help="of the form model; default: chosen on held-out words")
    given = parser.parse_args()
    vectors = WordVectors.load(given.vectors)
    sums = collect(vectors, given.corpus, window=given.window, context_weights=given.weights)
    trials = replace(
        simulate(vectors, sums, given.corpus, form=FormSettings(rank_power=given.rank_power))[1],
        correction=(0.0, 0.0, 0.0),
    )
    neighbours = Fusion.learn(trials)
    show("neighbours", neighbours)
    relatives = wordnet_relatives(given.wordnet, vectors, np.unique(trials.words).tolist())
    print("| words | weights | " + " | ".join(map(str, np.unique(trials.sizes))) + " |")
    for rank in (5_000, 20_000):
        judged = among(trials, vectors, {row: rows for row, rows in relatives.items() if row >= rank})
        wordnet = Fusion.learn(judged)
        show(f"WordNet, rank {rank} on, {len(np.unique(judged.words))} words", wordnet)
        changes = dict(zip(("level", "doubling", "length"), fusing.NEIGHBOUR_CORRECTION, strict=True))
        corrected = replace(neighbours, **{name: getattr(neighbours, name) + by for name, by in changes.items()})
        for name, fusion in (("neighbours", neighbours), ("corrected", corrected), ("WordNet", wordnet)):
            print(f"| {rank} on | {name} | " + " | ".join(f"{value:.4f}" for value in auc(judged, fusion)) + " |")


def show(name: str, fusion: Fusion) -> None:
    print(f"{name}: level {fusion.level:.3f}, doubling {fusion.doubling:.3f}, length {fusion.length:.3f}", flush=True)


def auc(trials: Trials, fusion: Fusion) -> list[float]:
    sides = fusing._Sides.of(
        fusion.direction(trials.contexts), fusion.direction(trials.forms), trials.relatives, trials.scatter
    )
    values = sides.auc(fusion.context_weights(trials.sizes, np.linalg.norm(trials.forms, axis=1)))[0]
    return [float(values[trials.sizes == size].mean()) for size in np.unique(trials.sizes)]


def among(trials: Trials, vectors: WordVectors, relatives: dict[int, list[int]]) -> Trials:
    """The trials of words with relatives, judged by these."""
    kept = np.flatnonzero(np.isin(trials.words, list(relatives)))
    unique, place = np.unique(trials.words[kept], return_inverse=True)
    centres, scatter = fusing._moments(vectors, [np.array(relatives[row]) for row in unique.tolist()])
    arrays = {name: getattr(trials, name)[kept] for name in ("words", "contexts", "forms", "truth", "sizes", "folds")}
    return replace(trials, **arrays, relatives=centres[place], scatter=scatter)


def wordnet_relatives(path: Path, vectors: WordVectors, rows: list[int]) -> dict[int, list[int]]:
    """The rows of each word's relatives that have another stem and begin with other letters."""
    stem = cache(require("snowballstemmer", extra="regression", purpose="stems").stemmer("english").stemWord)
    synsets, senses = read_wordnet(path)
    index, words = vectors.key_to_index, vectors.words
    result = {}
    for row in rows:
        related: set[str] = set()
        for pos, offsets in senses.get(words[row], ()):
            for offset in offsets[:SENSES]:
                lemmas, pointers = synsets[pos, offset]
                related.update(lemmas)
                for symbol, other_pos, target in pointers:
                    if symbol in ("@", "&"):
                        related.update(synsets[other_pos, target][0])
                    if symbol == "@":
                        below = [(p, t) for s, p, t in synsets[other_pos, target][1] if s == "~"]
                        related.update(lemma for key in below for lemma in synsets[key][0])
        own = words[row]
        known = [other for other in related if index.get(other, KNOWN) < KNOWN and other[:4] != own[:4]]
        kept = [other for other in known if stem(other) != stem(own)]
        if len(kept) >= FEW:
            result[row] = sorted(index[other] for other in kept)
    return result


def read_wordnet(path: Path) -> tuple[dict, dict]:
    """(lemmas and pointers of each synset, synsets of each lemma) from WordNet's database files in an archive."""
    with tarfile.open(path) as archive:
        files = {Path(one.name).name: archive.extractfile(one).read().decode() for one in archive if one.isfile()}
    synsets, senses = {}, {}
    for pos, name in POS.items():
        for line in files[f"data.{name}"].splitlines():
            if line[:1].isdigit():
                fields = line.split(" | ")[0].split(" ")
                count = int(fields[3], 16)
                lemmas = [re.sub(r"\(.*\)", "", fields[4 + 2 * i]).lower() for i in range(count)]
                start = 5 + 2 * count
                pointers = [fields[start + 4 * i : start + 3 + 4 * i] for i in range(int(fields[start - 1]))]
                synsets[pos, int(fields[0])] = lemmas, [(s, p.replace("s", "a"), int(o)) for s, o, p in pointers]
        for line in files[f"index.{name}"].splitlines():
            if not line.startswith(" "):
                fields = line.split()
                senses.setdefault(fields[0], []).append((pos, [int(one) for one in fields[-int(fields[2]) :]]))
    return synsets, senses


if __name__ == "__main__":
    main()
