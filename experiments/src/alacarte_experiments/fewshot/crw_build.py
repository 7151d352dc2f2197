"""A data set of contextual rare words from any corpus and any list of pairs, as the paper made CRW.

Of each pair the rarer word must occur between two bounds; some of the sentences it occurs in are sampled as its
contexts, and the corpus is written anew without them. Two passes over the text.
"""

import json
import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import Corpus, Document
from alacarte.errors import BadData, NotEnoughData
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte_experiments.fewshot.data import Pair
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.lab.results import Exclusion

BORDER = re.compile(r"(?<=[.!?])[\"')\]”’]*\s+(?=[\"'(\[“‘]*[^\W\d_a-z])")


@dataclass(frozen=True)
class Built:
    """What `build` made: the pairs kept, and what was left out."""

    pairs: list[Pair]
    contexts: dict[str, list[str]]
    counts: dict[str, int]
    removed: int  # sentences taken out of the corpus
    exclusions: list[Exclusion] = field(default_factory=list)


def sentences(text: str) -> list[str]:
    """A text cut after . ! ? before a capital; enough for contexts, no more.

    >>> sentences("It rained. We (all) left! e.g. this stays.")
    ['It rained.', 'We (all) left! e.g. this stays.']
    """
    return [part for part in BORDER.split(text) if part.strip()]


def build(
    pairs: list[Pair],
    corpus: CorpusLike,
    *,
    least: int = 255,
    most: int = 10_000,
    contexts: int = 255,
    seed: int = 0,
    tokenizer: TokenizerLike = "words",
    show_progress: bool | None = None,
) -> tuple[Built, Iterator[str]]:
    """The data set, and the documents of the corpus without the sampled sentences (read as they are taken).

    >>> built, rest = build([Pair("cat", "ocelot", 7.0)], ["An ocelot. A cat.", "A cat sat."], least=1, contexts=1)
    >>> built.contexts, list(rest)
    ({'ocelot': ['an ocelot .']}, ['A cat.', 'A cat sat.'])
    """
    if not 1 <= least <= most or contexts < 1:
        raise BadData(f"the bounds must satisfy 1 ≤ least ≤ most, with at least one context, not {least}, {most}")
    source = Corpus.of(corpus)
    if source.once:
        raise BadData("the corpus is read twice; pass files or a list, not a stream")
    split = get_tokenizer(tokenizer)
    wanted = {word for pair in pairs for word in (pair.first, pair.second)}
    counts, samples = _survey(source, split, wanted, contexts, seed, show_progress)
    kept: list[Pair] = []
    outside: list[str] = []
    for pair in pairs:
        rare, other = sorted((pair.second, pair.first), key=lambda word: counts.get(word, 0))
        if rare != other and least <= counts.get(rare, 0) <= most:
            kept.append(Pair(other, rare, pair.score))
        else:
            outside.append(f"{pair} ({counts.get(rare, 0)})")
    if not kept:
        raise NotEnoughData(
            f"in none of the {len(pairs)} pairs does the rarer word occur {least} to {most} times; change the bounds"
        )
    rare_words = list(dict.fromkeys(pair.second for pair in kept))
    chosen = {word: sorted(samples[word].places) for word in rare_words}
    gone = {place for places in chosen.values() for place in places}
    texts = {word: [samples[word].texts[place] for place in places] for word, places in chosen.items()}
    left_out = Exclusion.of("pairs", outside, f"the rarer word does not occur {least} to {most} times")
    built = Built(kept, texts, {word: counts[word] for word in rare_words}, len(gone), left_out)
    return built, _without(source, gone, show_progress)


@dataclass
class _Sample:
    """A uniform sample of places, without replacement, from a stream whose length is not known."""

    size: int
    rng: np.random.Generator
    met: int = 0
    places: list[tuple[int, int]] = field(default_factory=list)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)

    def offer(self, place: tuple[int, int], text: str) -> None:
        self.met += 1
        if len(self.places) < self.size:
            self.places.append(place)
            self.texts[place] = text
            return
        slot = int(self.rng.integers(self.met))
        if slot < self.size:
            del self.texts[self.places[slot]]
            self.places[slot] = place
            self.texts[place] = text


def _survey(
    corpus: Corpus, split: Any, wanted: set[str], contexts: int, seed: int, show_progress: bool | None
) -> tuple[dict[str, int], dict[str, _Sample]]:
    """(occurrences, a sample of sentences) of each word that is wanted."""
    counts: dict[str, int] = dict.fromkeys(wanted, 0)
    samples = {word: _Sample(contexts, np.random.default_rng([seed, i])) for i, word in enumerate(sorted(wanted))}
    with progress(*corpus.extent, "counting", show_progress) as bar:
        number = 0
        for block in corpus.blocks():
            for document in block.items():
                for place, sentence in enumerate(sentences(_text(document))):
                    tokens = split(sentence, wanted)
                    for word in wanted.intersection(tokens):
                        counts[word] += tokens.count(word)
                        samples[word].offer((number, place), " ".join(tokens))
                number += 1
            bar.update(block.position - bar.n)
    return counts, samples


def _without(corpus: Corpus, gone: set[tuple[int, int]], show_progress: bool | None) -> Iterator[str]:
    documents = {number for number, _ in gone}
    with progress(*corpus.extent, "writing", show_progress) as bar:
        number = 0
        for block in corpus.blocks():
            for document in block.items():
                text = _text(document)
                if number in documents:
                    kept = [part for place, part in enumerate(sentences(text)) if (number, place) not in gone]
                    text = " ".join(kept)
                number += 1
                if text:
                    yield text
            bar.update(block.position - bar.n)


def _text(document: Any) -> str:
    if isinstance(document, Document):
        return document.text if document.text is not None else " ".join(document.tokens or ())
    return document if isinstance(document, str) else " ".join(document)


def write(built: Built, rest: Iterator[str], folder: Path) -> list[Path]:
    """`pairs.tsv`, `contexts.jsonl.xz`, `corpus.txt.xz`: what `alc eval crw --data FOLDER` reads, and its corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in ("pairs.tsv", "contexts.jsonl.xz", "corpus.txt.xz")]
    pairs = (f"{pair.first}\t{pair.second}\t{pair.score:g}\n" for pair in built.pairs)
    records = ({"word": word, "contexts": texts} for word, texts in built.contexts.items())
    files[0].write_text("".join(pairs), encoding="utf-8")
    _pack(files[1], (json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    _pack(files[2], (f"{' '.join(text.split())}\n" for text in rest))
    return files


def _pack(path: Path, lines: Iterable[str]) -> None:
    """A compressed file of these lines, which has its name only when it is complete."""
    part = path.with_name(f"{path.name}.part")
    with lzma.open(part, "wt", preset=1, encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    part.replace(path)
