"""The n-grams of documents that have a vector, in the order of the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from alacarte._io.arrays import Ints, Longs, Mask
from alacarte.targets.targets import Targets
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer
from alacarte.vectors.word_vectors import WordVectors

TextOrTokens = str | Sequence[str]


@dataclass(frozen=True)
class Bag:
    """For each document, rows of a table: those of document i are `rows[bounds[i]:bounds[i + 1]]`."""

    rows: Longs
    bounds: Longs
    starts: Ints  # where each n-gram begins, counted in the tokens of all documents

    def select(self, kept: Mask, rows: Longs) -> "Bag":
        """Return the n-grams that are kept, with other rows."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return Bag(rows, before[self.bounds], self.starts[kept])


@dataclass(frozen=True)
class NgramBags:
    """Some documents: the ids of their tokens, and for k = 1 … n a bag of the k-grams with a vector of their own."""

    encoded: Encoded
    bags: list[Bag]


class NgramFinder:
    """Finds the words and n-grams that have a vector."""

    def __init__(self, words: WordVectors, ngrams: WordVectors | None, n: int, tokenizer: Tokenizer) -> None:
        self.n = n
        self.known = len(words)
        lexicon = Lexicon(words.key_to_index)
        self._matcher = None
        if ngrams is not None:
            spaces = np.fromiter(map(str.count, ngrams.words, repeat(" ")), dtype=np.int64, count=len(ngrams))
            self._rows = np.flatnonzero((spaces < n) & (spaces >= 1))
            keys = [ngrams.words[row] for row in self._rows.tolist()]
            if keys:
                self._matcher = Targets.ngrams(keys).compile(lexicon, tokenizer)
        self._encoder = Encoder(tokenizer, lexicon)

    def find(self, documents: Sequence[TextOrTokens]) -> NgramBags:
        """Return the tokens of each document, and its k-grams that have a vector, for k = 1 … n."""
        encoded = self._encoder.encode(list(documents))
        ids, offsets = encoded.ids, encoded.offsets
        nothing = np.empty(0, dtype=np.int64)
        bags = [Bag(nothing, np.zeros_like(offsets), nothing.astype(np.int32)) for _ in range(self.n)]
        positions = np.arange(len(ids), dtype=np.int32)
        known = (ids >= 0) & (ids < self.known)
        bags[0] = Bag(ids.astype(np.int64), offsets, positions).select(known, ids[known].astype(np.int64))
        if self._matcher is not None:
            matches = self._matcher.match(encoded)
            lengths = matches.ends - matches.starts
            for k in range(2, self.n + 1):
                chosen = lengths == k
                rows, starts = self._rows[matches.targets[chosen]], matches.starts[chosen]
                bags[k - 1] = Bag(rows, np.searchsorted(starts, offsets).astype(np.int64), starts)
        return NgramBags(encoded, bags)
