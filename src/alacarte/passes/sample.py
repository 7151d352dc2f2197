"""Passes that sample contexts: of any targets, or of known words for learning from few examples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from alacarte._io.arrays import Doubles, Longs
from alacarte._io.draw import evenly_over_octaves
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.samples import ContextSample, SampledContexts
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.windows import sums_of_windows
from alacarte.errors import BadCorpus, NotEnoughData
from alacarte.passes.scan import run
from alacarte.passes.work import Work, WorkOptions
from alacarte.targets.targets import Matcher, Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

SAMPLE_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
SAMPLED_WORDS = 8000
LEAST_OCCURRENCES = 4  # occurrences of a word that is drawn


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
    """Return at most `limit` contexts of each of the words in `rows`, read as `reading` says.

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


@dataclass(frozen=True, eq=False)
class SampledTargets:
    """Contexts of targets of any kind; `lexicon` knows every word of them, with a vector or not."""

    keys: list[str]
    counts: Longs  # (targets,): how many contexts there were, kept or not
    contexts: SampledContexts  # sorted by target
    lexicon: Lexicon
    word_counts: Longs  # how often each word that has a vector occurs in the text


def sample_targets(
    vectors: WordVectors,
    corpus: CorpusLike,
    targets: TargetsLike,
    reading: Reading,
    limit: int | None,
    *,
    tokenizer: TokenizerLike,
    seed: int = 0,
    around: int = 0,
    **options: Unpack[WorkOptions],
) -> SampledTargets:
    """Return at most `limit` contexts (None: all) of each target, as wide as `reading` says, or `around` words.

    >>> sample = sample_targets(
    ...     WordVectors(["a"], [[1.0]]), ["a x b", "x"], ["x"], Reading(1, 1), None, tokenizer="words"
    ... )
    >>> sample.counts.tolist(), sorted(sample.lexicon.word(i) for i in sample.contexts.after.ravel() if i >= 0)
    ([2], ['b'])
    """
    rule = get_tokenizer(tokenizer)
    lexicon = Lexicon(vectors.key_to_index, grow=True)
    matcher = Targets.of(targets).compile(lexicon, rule)
    lexicon.admit = lambda token: True  # patterns admit only what they match, and every word is to be shown
    window = max(reading.left, around), max(reading.right, around)
    tally = ContextSample(matcher, lexicon, window, limit, seed, drop_unknown=reading.unknown == "drop")
    read = run(tally, Corpus.of(corpus), Encoder(rule, lexicon), Work(**options), "gathering contexts").amounts
    if not read.tokens_read:
        raise BadCorpus("the corpus holds no text; check the path and, for tables, the name of the text column")
    return SampledTargets(list(matcher.keys), tally.counts, tally.contexts, lexicon, tally.word_counts)


@dataclass(frozen=True, eq=False)
class Samples:
    """Averages over few contexts of known words: `means[i]` is u of word `rows[i]` from `sizes[i]` contexts."""

    rows: Longs  # of the vectors
    sizes: Longs
    means: Doubles

    def __len__(self) -> int:
        return len(self.rows)


def sample_contexts(
    vectors: WordVectors,
    corpus: CorpusLike,
    sums: ContextSums,
    *,
    exclude: Iterable[str] = (),
    words: int = SAMPLED_WORDS,
    sizes: Sequence[int] = SAMPLE_SIZES,
    tokenizer: TokenizerLike | None = None,
    seed: int = 0,
    **options: Unpack[WorkOptions],
) -> Samples:
    """Read the corpus that `sums` (over the whole vocabulary) came from once more, for few contexts of its words.

    Words are drawn evenly from each doubling of their count; each has disjoint samples of 1, 2, 4 … contexts, as many
    as it has enough for.

    >>> from alacarte import collect
    >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> sums = collect(vectors, ["a b a b a"] * 2, window=1)
    >>> samples = sample_contexts(vectors, ["a b a b a"] * 2, sums, sizes=(1, 2), exclude=["b"])
    >>> [vectors.words[row] for row in samples.rows], samples.sizes.tolist()
    (['a', 'a'], [1, 2])
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(vectors), dtype=np.int64)
    index = vectors.key_to_index
    for key, count in zip(sums.keys, sums.occurrences.tolist(), strict=True):
        if key in index:
            counts[index[key]] = count
    usable = np.flatnonzero(counts >= LEAST_OCCURRENCES)
    left_out = [index[key] for key in exclude if key in index]
    usable = usable[~np.isin(usable, left_out)]
    chosen = np.sort(usable[evenly_over_octaves(counts[usable], words, rng)])
    if not len(chosen):
        raise NotEnoughData(f"no word occurs {LEAST_OCCURRENCES} times in the corpus; give more text")
    reading, limit = sums.settings, int(sum(sizes))
    sample = sample_words(vectors, corpus, chosen, limit, reading, tokenizer=tokenizer, seed=seed, **options)
    integers = IntegerVectors.of(vectors, sums.weights, reading)
    rows, drawn, summed = disjoint_samples(sample, integers, reading, sizes)
    usable_samples = np.flatnonzero(summed.totals > 0)
    means = summed.means(integers.scale, reading.averaging, usable_samples)
    return Samples(rows[usable_samples], drawn[usable_samples], means)


def disjoint_samples(
    sample: SampledWords, integers: IntegerVectors, reading: Reading, sizes: Sequence[int]
) -> tuple[Longs, Longs, Sums]:
    """Return (word's row, size, sums) of disjoint samples of 1, 2, 4 … contexts of each word, one row per sample.

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
