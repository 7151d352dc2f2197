"""Which phrases `discover` finds, beside gensim's `Phrases` on the same tokens, judged by WordNet and by eye.

Where `discover`'s score and its thresholds come from. Chosen on the first:

    python benchmarks/phrases_found.py enwiki.txt.xz --tokens 8e6 --wordnet wordnet3.0.tar.xz --choose
    python benchmarks/phrases_found.py imdb_unsup.jsonl --tokens 8e6 --wordnet wordnet3.0.tar.xz

The truth are WordNet's lemmas of two and three words that occur often enough in the text and neither begin nor end with
a stop word. It is partial: names and terms that WordNet lacks count as errors, for all systems alike.
"""

import argparse
import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from alacarte import Corpus, discover
from alacarte.contexts.weights import STOP_WORDS
from alacarte.errors import require
from alacarte.passes import phrases
from alacarte.passes.discover import MIN_SCORE, Discovered
from alacarte.senses.wordnet import open_wordnet
from alacarte.text.tokenizers import get_tokenizer

Numbers: TypeAlias = npt.NDArray[np.float64]
AT = (100, 300, 1000, 3000)  # k of precision@k
SCORES: dict[str, Callable[[Numbers, Numbers, Numbers, float, int], Numbers]] = {
    "npmi": lambda both, a, b, n, words: np.log(both * n / (a * b)) / np.log(n / both),
    "pmi": lambda both, a, b, n, words: np.log(both * n / (a * b)),
    "log-likelihood": lambda both, a, b, n, words: _log_likelihood(both, a, b, n),
    "gensim's default": lambda both, a, b, n, words: (both - 5) * words / (a * b),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", type=Path)
    options.add_argument("--tokens", type=float, default=8e6, help="how many, from the beginning")
    options.add_argument("--wordnet", type=Path, required=True)
    options.add_argument("--min-count", type=int, default=10)
    options.add_argument("--choose", action="store_true", help="compare scores and thresholds, too")
    options.add_argument("--show", type=int, default=50, help="how many phrases to print")
    given = options.parse_args()
    texts = _tokens(given.corpus, given.tokens)
    truth = _lemmas(given.wordnet)
    print(f"{given.corpus.name}: {sum(map(len, texts)):,} tokens in {len(texts):,} documents\n")
    everything = discover(None, texts, ngrams=(2, 3), min_count=given.min_count, min_score=None)
    wanted = {length: _occurring(truth, everything, length) for length in (2, 3)}
    if given.choose:
        _choose(texts, wanted[2], given.min_count)
    default = discover(None, texts, ngrams=(2, 3), min_count=given.min_count)
    systems = {
        "`discover`, `min_score=None`": _by_length(everything),
        f"`discover` (normalised PMI ≥ {MIN_SCORE})": _by_length(default),
        "`Phrases` (threshold 10)": _gensim(texts, given.min_count, "default", 10.0),
        "`Phrases(scoring='npmi', threshold=0.5)`": _gensim(texts, given.min_count, "npmi", 0.5),
        "the same with `ENGLISH_CONNECTOR_WORDS`": _gensim(texts, given.min_count, "npmi", 0.5, connectors=True),
    }
    for length in (2, 3):
        print(f"\n{len(wanted[length]):,} lemmas of {length} words occur {given.min_count} times or more\n")
        print(f"| {length} words | found | {' | '.join(f'P@{k}' for k in AT)} | P | R | F1 | edge is a stop word |")
        print("|---|" + "---:|" * (len(AT) + 5))
        for name, found in systems.items():
            print(_row(name, found[length], wanted[length]))
    rng = random.Random(0)
    for length in (2, 3):
        for name, found in itertools.islice(systems.items(), 1, 4):
            print(f"\n{name}, the first {given.show} of {length} words:\n" + ", ".join(found[length][: given.show]))
            some = rng.sample(found[length], min(given.show, len(found[length])))
            print(f"{name}, {len(some)} at random:\n" + ", ".join(some))


def _tokens(path: Path, most: float) -> list[list[str]]:
    """The documents of a text as tokens, up to some number of tokens."""
    split = get_tokenizer("words")
    texts: list[list[str]] = []
    read = 0
    for document in Corpus(path):
        assert isinstance(document, str)
        texts.append(split(document))
        read += len(texts[-1])
        if read >= most:
            break
    return texts


def _lemmas(wordnet: Path) -> set[str]:
    """WordNet's lemmas of several words, split as the text is, without those that begin or end with a stop word."""
    split = get_tokenizer("words")
    lemmas = {lemma for synset in open_wordnet(wordnet).all_synsets() for lemma in synset.lemmas if "_" in lemma}
    tokens = [split(lemma.replace("_", " ")) for lemma in lemmas]
    return {" ".join(words) for words in tokens if STOP_WORDS.isdisjoint((words[0], words[-1]))}


def _occurring(truth: set[str], found: Discovered, length: int) -> set[str]:
    return {key for key in found if key.count(" ") == length - 1 and key in truth}


def _by_length(found: Iterable[str]) -> dict[int, list[str]]:
    keys = list(found)
    return {length: [key for key in keys if key.count(" ") == length - 1] for length in (2, 3)}


def _gensim(
    texts: Sequence[Sequence[str]], min_count: int, scoring: str, threshold: float, connectors: bool = False
) -> dict[int, list[str]]:
    """What gensim finds, best first: of three words by a second model over the first one's phrases.

    Phrases with a token without letters are left out, as `discover` does.
    """
    models = require("gensim", extra="gensim", purpose="the comparison").models.phrases
    words = models.ENGLISH_CONNECTOR_WORDS if connectors else frozenset()
    options = {"min_count": min_count, "threshold": threshold, "scoring": scoring, "connector_words": words}
    pairs = models.Phrases(texts, delimiter=" ", **options)
    longer = models.Phrases([pairs[text] for text in texts], delimiter=" ", **options)
    scores = pairs.export_phrases() | longer.export_phrases()
    found = sorted((key for key in scores if _lettered(key)), key=lambda key: (-scores[key], key))
    return _by_length(found)


def _lettered(key: str) -> bool:
    tokens = key.split(" ")
    edges = (tokens[0], tokens[-1])
    return all(map(phrases.has_letter, tokens)) and not any(map(phrases.is_fragment, edges))


def _row(name: str, found: Sequence[str], wanted: set[str]) -> str:
    hits = np.cumsum([key in wanted for key in found]) if found else np.zeros(1)
    precisions = [f"{hits[k - 1] / k:.3f}" if k <= len(found) else "–" for k in AT]
    right, listed = float(hits[-1]), max(1, len(found))
    stops = sum(not STOP_WORDS.isdisjoint((key.split(" ")[0], key.split(" ")[-1])) for key in found) / listed
    precision, recall = right / listed, right / max(1, len(wanted))
    f1 = 2 * right / (len(found) + len(wanted))
    shown = " | ".join(precisions)
    return f"| {name} | {len(found):,} | {shown} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {stops:.1%} |"


# ------------------------------------------------------------------------------------------------- choosing


def _choose(texts: list[list[str]], wanted: set[str], min_count: int) -> None:
    """Compare scores, and thresholds of the chosen one, on pairs of words."""
    words = discover(None, texts, min_count=1, known=True, all_tokens=True)
    counts = dict(zip(words, words.counts.tolist(), strict=True))
    tokens = float(words.counts.sum())
    print("| score | phrases end like phrases | average precision |\n|---|---|---:|")
    for rule in (False, True):
        # So low a least score is none, but for the words at both ends.
        found = discover(None, texts, ngrams=2, min_count=min_count, min_score=-1 if rule else None)
        keys, both = np.array(list(found)), found.counts.astype(float)
        first, second = (np.array([counts[key.split(" ")[place]] for key in keys], float) for place in (0, 1))
        for name, score in SCORES.items():
            order = np.argsort(-score(both, first, second, tokens, len(counts)), kind="stable")
            print(f"| {name} | {'yes' if rule else 'no'} | {_average_precision(keys[order].tolist(), wanted):.3f} |")
    for least in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6):
        kept = [key for key, score in zip(found, found.scores.tolist(), strict=True) if score >= least]
        if least == 0.2:
            print(f"\n| least score | found | {' | '.join(f'P@{k}' for k in AT)} | P | R | F1 | edge is a stop word |")
            print("|---|" + "---:|" * (len(AT) + 5))
        print(_row(str(least), kept, wanted))
    for name, values in {"ENDS_LESS": (0.25, 0.5, 0.75, 1.0), "COMMON": (1 / 250, 1 / 500, 1 / 1000)}.items():
        usual = getattr(phrases, name)
        for value in values:
            setattr(phrases, name, value)
            print(_row(f"{name} {value:g}", list(discover(None, texts, ngrams=2, min_count=min_count)), wanted))
        setattr(phrases, name, usual)


def _log_likelihood(both: Numbers, a: Numbers, b: Numbers, n: float) -> Numbers:
    """Dunning's log-likelihood ratio, negative where words occur together less than by chance."""

    def total(*cells: Numbers) -> Numbers:
        return np.asarray(np.sum([cell * np.log(np.maximum(cell, 1)) for cell in cells], axis=0))

    cells = (both, a - both, b - both, n - a - b + both)
    ratio = 2 * (total(*cells) - total(a, n - a) - total(b, n - b) + n * np.log(n))
    return np.asarray(np.where(both * n > a * b, ratio, -ratio))


def _average_precision(ranked: Sequence[str], wanted: set[str]) -> float:
    ranks = np.flatnonzero([key in wanted for key in ranked]) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / max(1, len(wanted)))


if __name__ == "__main__":
    main()
