"""Windows around some occurrences of known words, taken for new words that have few contexts."""

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from alacarte import WordVectors
from alacarte.contexts.reading import Reading
from alacarte.errors import NotEnoughData
from alacarte.passes.sample import sample_words
from alacarte.passes.work import WorkOptions
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SampledWindows:
    """`windows[i, j]`: the ids around `contexts` occurrences of word `rows[i]`, -1 for none.

    Distances 1, 2, … to the left come first, then those to the right.
    """

    rows: Longs  # (words,)
    windows: Ints  # (words, contexts, left + right)
    left: int

    @property
    def contexts(self) -> int:
        return int(self.windows.shape[1])


def sample_windows(
    vectors: WordVectors,
    corpus: CorpusLike,
    counts: Longs,
    reading: Reading,
    *,
    words: int,
    contexts: int,
    least: int,
    tokenizer: TokenizerLike | None = None,
    seed: int = 0,
    **options: Unpack[WorkOptions],
) -> SampledWindows:
    """The windows of `contexts` occurrences each of up to `words` words that occur `least` times or more.

    >>> vectors = WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]])
    >>> sampled = sample_windows(
    ...     vectors, ["a b", "b c x"], np.array([1, 2, 1]), Reading(1, 1), words=9, contexts=2, least=2
    ... )
    >>> sampled.rows.tolist(), sorted(sampled.windows[0].tolist())
    ([1], [[-1, 2], [0, -1]])
    """
    enough = np.flatnonzero(counts >= max(least, contexts))
    chosen = np.sort(np.random.default_rng(seed).permutation(enough)[:words])
    if not len(chosen):
        raise NotEnoughData(f"no word occurs {max(least, contexts)} times in the corpus; give more text")
    sample = sample_words(vectors, corpus, chosen, contexts, reading, tokenizer=tokenizer, seed=seed, **options)
    first = np.searchsorted(sample.contexts.targets, np.arange(len(chosen) + 1))
    whole = np.diff(first) >= contexts
    if not whole.any():
        raise NotEnoughData("the words that were counted are not in this corpus; count and sample the same text")
    kept = first[:-1][whole, None] + np.arange(contexts)
    windows = np.concatenate([sample.contexts.before[:, ::-1], sample.contexts.after], axis=1)
    windows = np.where((windows >= 0) & (windows < len(vectors)), windows, -1).astype(np.int32)
    return SampledWindows(chosen[whole], windows[kept], reading.left)
