"""Few contexts of known words, kept as word ids: what weights of context words are learned from.

One pass. Each occurrence of a chosen word is drawn with a chance that gives its word more than enough of them, and the
first few of those, in random order, are kept; so memory is bounded by what is asked for.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import ProgressCallback, progress
from alacarte.errors import BadCorpus, NotEnoughData
from alacarte.text.corpus import Corpus, CorpusLike, extent
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
MARGIN = 4  # occurrences drawn for each that is kept


@dataclass(frozen=True, eq=False)
class SampledWindows:
    """`windows[i, j]`: the n · (left + right) ids around `contexts` occurrences of word `rows[i]`, -1 for none.

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
    *,
    words: int,
    contexts: int,
    least: int,
    window: tuple[int, int],
    tokenizer: TokenizerLike = "words",
    unknown: Literal["keep", "drop"] = "keep",
    seed: int = 0,
    show_progress: bool | None = None,
    callback: ProgressCallback | None = None,
) -> SampledWindows:
    """The windows of `contexts` occurrences each of up to `words` words that occur `least` times or more.

    >>> vectors = WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]])
    >>> options = {"words": 9, "contexts": 2, "least": 2, "window": (1, 1)}
    >>> found = sample_windows(vectors, ["a b", "b c x"], np.array([1, 2, 1]), **options)
    >>> found.rows.tolist(), sorted(found.windows[0].tolist())
    ([1], [[-1, 2], [0, -1]])
    """
    source = Corpus.of(corpus)
    if source.once:
        raise BadCorpus("weights are learned in a second pass over the corpus, and this one can be read only once")
    rng = np.random.default_rng(seed)
    enough = np.flatnonzero(counts >= max(least, contexts))
    chosen = np.sort(rng.permutation(enough)[:words])
    if not len(chosen):
        raise NotEnoughData(f"no word occurs {max(least, contexts)} times in the corpus; give more text")
    left, right = window
    steps = np.concatenate([-np.arange(1, left + 1), np.arange(1, right + 1)])
    chance = np.zeros(len(vectors) + 1)  # the last entry is for unknown words, -1
    chance[chosen] = np.minimum(1.0, MARGIN * contexts / counts[chosen])
    encoder = Encoder(get_tokenizer(tokenizer), Lexicon(vectors.key_to_index))
    owners, found = [], []
    with progress(*extent(source), "sampling contexts", show_progress, callback) as bar:
        for block in source.blocks():
            encoded = encoder.encode(block)
            ids, offsets = np.where(encoded.ids < len(vectors), encoded.ids, -1), encoded.offsets
            if unknown == "drop":  # the gaps that they leave are closed
                before = np.concatenate([[0], np.cumsum(ids >= 0)])
                ids, offsets = ids[ids >= 0], before[offsets]
            drawn = np.flatnonzero(rng.random(ids.size) < chance[ids])
            document = np.searchsorted(offsets, drawn, side="right") - 1
            places = drawn[:, None] + steps
            inside = (places >= offsets[document, None]) & (places < offsets[document + 1, None])
            owners.append(ids[drawn])
            found.append(np.where(inside, ids[np.clip(places, 0, max(ids.size - 1, 0))], -1).astype(np.int32))
            bar.update_to(block.position)
    owner, windows = np.concatenate(owners), np.concatenate(found)
    order = rng.permutation(len(owner))
    order = order[np.argsort(owner[order], kind="stable")]
    owner, windows = owner[order], windows[order]
    first = np.searchsorted(owner, chosen)
    whole = np.searchsorted(owner, chosen, side="right") - first >= contexts
    if not whole.any():
        raise NotEnoughData("the words that were counted are not in this corpus; count and sample the same text")
    kept = first[whole, None] + np.arange(contexts)
    return SampledWindows(chosen[whole], windows[kept], left)
