"""Passes that sample contexts: of any targets, or of known words for learning from few examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.samples import ContextSample, SampledContexts
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.windows import sums_of_windows
from alacarte.errors import BadCorpus, NotEnoughData
from alacarte.passes.scan import run
from alacarte.passes.work import Work, WorkOptions
from alacarte.targets.targets import Matcher
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SampledWords:
    """Contexts of known words: `contexts.targets[i]` is a place in `rows`, which are rows of the vectors."""

    rows: Longs
    contexts: SampledContexts


def sample_words(
    vectors: WordVectors,
    corpus: CorpusLike,
    rows: Longs,
    limit: int,
    reading: Reading,
    *,
    tokenizer: TokenizerLike | None = None,
    seed: int = 0,
    **options: Unpack[WorkOptions],
) -> SampledWords:
    """At most `limit` contexts of each of the words in `rows`, read as `reading` says.

    >>> vectors = WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]])
    >>> sample = sample_words(vectors, ["a b", "b c x"], np.array([1]), 2, Reading(1, 1))
    >>> sorted(zip(sample.contexts.before[:, 0].tolist(), sample.contexts.after[:, 0].tolist()))
    [(-2, 2), (0, -2)]
    """
    source = Corpus.of(corpus)
    if source.once:
        raise BadCorpus("sampling contexts reads the corpus once more, and this one can be read only once")
    lexicon = Lexicon(vectors.key_to_index)
    matcher = Matcher.of_words(rows, lexicon)
    window = reading.left, reading.right
    tally = ContextSample(matcher, lexicon, window, limit, seed, drop_unknown=reading.unknown == "drop")
    encoder = Encoder(get_tokenizer(reading.tokenizer if tokenizer is None else tokenizer), lexicon)
    run(tally, source, encoder, Work(**options), "sampling contexts")
    return SampledWords(rows, tally.contexts)


def deal(
    sample: SampledWords, integers: IntegerVectors, reading: Reading, sizes: Sequence[int]
) -> tuple[Longs, Longs, Sums]:
    """Sums over disjoint samples of 1, 2, 4 … contexts of each word: (word's row, size, sums), a row a sample.

    A word has those samples, from the first size on, that it has contexts enough for.
    """
    contexts = sample.contexts  # sorted by target and key: in random order within a word
    first = np.searchsorted(contexts.targets, np.arange(len(sample.rows) + 1))
    ends = np.cumsum(sizes)
    counts = np.diff(first)
    enough = np.searchsorted(ends, counts, side="right")  # sizes that each word has contexts for
    owner = np.repeat(np.arange(len(sample.rows)), enough)
    if not len(owner):
        raise NotEnoughData("no word occurs often enough in the corpus to sample its contexts; give more text")
    step = np.arange(len(owner)) - np.repeat(np.cumsum(enough) - enough, enough)
    begin = first[owner] + np.concatenate([[0], ends])[step]
    size = np.asarray(sizes)[step]
    chosen = np.repeat(begin - (np.cumsum(size) - size), size) + np.arange(size.sum())
    single = sums_of_windows(integers, reading, contexts.before[chosen], contexts.after[chosen])
    edges = np.cumsum(size) - size
    return (
        sample.rows[owner],
        size,
        Sums(*(np.add.reduceat(getattr(single, name), edges, axis=0) for name in vars(single))),
    )
