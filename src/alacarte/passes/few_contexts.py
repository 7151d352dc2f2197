"""Few contexts of known words, sampled from a corpus: learning from few examples where the truth is known.

Each chosen word has some of its occurrences drawn at random without replacement and dealt out to disjoint samples of
1, 2, 4 … contexts, as many as it has enough for. One pass over the text sums each sample.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import cpu_count

import numpy as np
import numpy.typing as npt

from alacarte._io.draw import evenly_over_octaves
from alacarte._io.progress import ProgressCallback
from alacarte.contexts.reading import Reading
from alacarte.contexts.sums import ContextSums
from alacarte.errors import BadCorpus, NotEnoughData
from alacarte.passes.scan import Pass
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Matcher
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
WORDS = 8000
LEAST = 4  # occurrences of a word that is drawn


@dataclass(frozen=True, eq=False)
class Samples:
    """Averages over few contexts of known words: `means[i]` is u of word `rows[i]` from `sizes[i]` contexts."""

    rows: Rows  # of the vectors
    sizes: Rows
    means: Doubles

    def __len__(self) -> int:
        return len(self.rows)


class SampledOccurrences(Matcher):
    """A matcher that finds only chosen occurrences: the j-th occurrence of a word belongs to a sample, or to none."""

    def __init__(self, words: Rows, numbers: Rows, samples: Rows, count: int, vocabulary: int) -> None:
        """`numbers[i]` counts the occurrences of word `words[i]` from 0; it belongs to sample `samples[i]`."""
        self.keys = [str(sample) for sample in range(count)]
        self._chosen = np.zeros(vocabulary + 1, dtype=bool)  # the last entry is for unknown words, -1
        self._chosen[words] = True
        self._seen = np.zeros(vocabulary, dtype=np.int64)
        order = np.lexsort((numbers, words))
        self._codes = (words[order] << 32) | numbers[order]
        self._samples = samples[order].astype(np.int32)

    @property
    def stateless(self) -> bool:
        return False  # occurrences are counted through the text

    def match(self, encoded: Encoded) -> Matches:
        ids = np.where(encoded.ids < len(self._seen), encoded.ids, -1)
        places = np.flatnonzero(self._chosen[ids])
        found = ids[places].astype(np.int64)
        order = np.argsort(found, kind="stable")
        sorted_words = found[order]
        first = np.flatnonzero(np.diff(sorted_words, prepend=-1))
        lengths = np.diff(np.append(first, len(sorted_words)))
        within = np.arange(len(sorted_words)) - np.repeat(first, lengths)
        codes = (sorted_words << 32) | (self._seen[sorted_words] + within)
        self._seen[sorted_words[first]] += lengths
        at = np.searchsorted(self._codes, codes)
        hit = np.flatnonzero((at < len(self._codes)) & (self._codes[np.minimum(at, len(self._codes) - 1)] == codes))
        starts = places[order[hit]]
        in_text = np.argsort(starts)
        begins: npt.NDArray[np.int32] = starts[in_text].astype(np.int32)
        ends: npt.NDArray[np.int32] = (begins + 1).astype(np.int32)
        return Matches(begins, ends, self._samples[at[hit]][in_text])


def deal(counts: Rows, sizes: Sequence[int], rng: np.random.Generator) -> tuple[Rows, Rows, Rows, Rows]:
    """For words with these counts: (word, occurrence, sample) of all that is drawn, and the (word, size) of samples.

    >>> word, occurrence, sample, owners = deal(np.array([2, 4]), (1, 2), np.random.default_rng(0))
    >>> word.tolist(), sample.tolist(), owners.tolist()
    ([0, 1, 1, 1], [0, 1, 2, 2], [[0, 1], [1, 1], [1, 2]])
    """
    ends = np.cumsum(sizes)
    words, numbers, samples = [], [], []
    owners: list[tuple[int, int]] = []
    for word, count in enumerate(counts.tolist()):
        enough = int(np.searchsorted(ends, count, side="right"))
        if not enough:
            continue
        drawn = rng.choice(count, size=ends[enough - 1], replace=False)
        numbers.append(drawn)
        words.append(np.full(len(drawn), word))
        samples.append(len(owners) + np.repeat(np.arange(enough), sizes[:enough]))
        owners += [(word, size) for size in sizes[:enough]]
    if not owners:
        return (*(np.empty(0, dtype=np.int64) for _ in range(3)), np.empty((0, 2), dtype=np.int64))  # type: ignore[return-value]
    return np.concatenate(words), np.concatenate(numbers), np.concatenate(samples), np.array(owners)


def sample_contexts(
    vectors: WordVectors,
    corpus: CorpusLike,
    sums: ContextSums,
    *,
    exclude: Iterable[str] = (),
    words: int = WORDS,
    sizes: Sequence[int] = SIZES,
    tokenizer: TokenizerLike | None = None,
    seed: int = 0,
    threads: int | None = None,
    show_progress: bool | None = None,
    callback: ProgressCallback | None = None,
) -> Samples:
    """Read the corpus that `sums` (over the whole vocabulary) came from once more, for samples of its words' contexts.

    Words are drawn evenly from each doubling of their count.

    >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> sums = ContextSums.collect(vectors, ["a b a b a"] * 2, window=1)
    >>> samples = sample_contexts(vectors, ["a b a b a"] * 2, sums, sizes=(1, 2), exclude=["b"])
    >>> [vectors.words[row] for row in samples.rows], samples.sizes.tolist(), samples.means.tolist()[0]
    (['a', 'a'], [1, 2], [0.0, 2.0])
    """
    source = Corpus.of(corpus)
    if source.once:
        raise BadCorpus("sampling contexts reads the corpus a second time, and this one can be read only once")
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(vectors), dtype=np.int64)
    index = vectors.key_to_index
    for key, count in zip(sums.keys, sums.occurrences.tolist(), strict=True):
        row = index.get(key)
        if row is not None:
            counts[row] = count
    usable = np.flatnonzero(counts >= LEAST)
    left_out = {index[key] for key in exclude if key in index}
    usable = usable[~np.isin(usable, list(left_out))] if left_out else usable
    chosen = usable[evenly_over_octaves(counts[usable], words, rng)]
    word, number, sample, owners = deal(counts[chosen], sizes, rng)
    if not len(owners):
        raise NotEnoughData(f"no word occurs {LEAST} times in the corpus; give more text")
    split = get_tokenizer(sums.settings.tokenizer if tokenizer is None else tokenizer)
    lexicon = Lexicon(index)
    matcher = SampledOccurrences(chosen[word], number, sample, len(owners), len(vectors))
    settings: Reading = sums.settings
    work = Pass(
        source, Encoder(split, lexicon), matcher, vectors.matrix, settings, sums.weights,
        threads or cpu_count() or 1, None, 1 << 20, (show_progress, callback),
    )  # fmt: skip
    arrays = work.straight(None)
    found = ContextSums(
        matcher.keys, settings=settings, fingerprint=sums.fingerprint, targets=None, weights=sums.weights,
        **arrays,  # type: ignore[arg-type]
    )  # fmt: skip
    whole = np.flatnonzero((found.occurrences == owners[:, 1]) & (found.totals > 0))
    return Samples(chosen[owners[whole, 0]], owners[whole, 1], found.means(whole))
