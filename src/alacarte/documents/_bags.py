"""Documents → sparse bags of n-grams: which rows of which table each document holds, in the order of its text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt

from alacarte.targets.targets import Targets
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer
from alacarte.vectors.word_vectors import WordVectors

Longs = npt.NDArray[np.int64]
Item = str | Sequence[str]


@dataclass(frozen=True)
class Bag:
    """For each document, rows of a table: those of document i are `rows[bounds[i]:bounds[i + 1]]`."""

    rows: Longs
    bounds: Longs


class NgramFinder:
    """Finds the n-grams that have a vector; words are looked up in `words` or, if `induced`, in `ngrams` as well."""

    def __init__(
        self, words: WordVectors, ngrams: WordVectors | None, n: int, induced: bool, tokenizer: Tokenizer
    ) -> None:
        self.n = n
        self.known = len(words)
        self.induced = induced
        lexicon = Lexicon(words.key_to_index)
        self._matcher = None
        if ngrams is not None:
            spaces = np.fromiter(map(str.count, ngrams.words, repeat(" ")), dtype=np.int64, count=len(ngrams))
            self._rows = np.flatnonzero((spaces < n) & (spaces >= (0 if induced else 1)))
            keys = [ngrams.words[row] for row in self._rows.tolist()]
            if keys:
                self._matcher = Targets.ngrams(keys).compile(lexicon, tokenizer)
        self._encoder = Encoder(tokenizer, lexicon)

    def bags(self, documents: Sequence[Item]) -> tuple[list[Bag], Longs]:
        """For k = 1 … n the k-grams of each document that have a vector; and how many tokens each document has."""
        encoded = self._encoder.encode(list(documents))
        ids, offsets = encoded.ids, encoded.offsets
        bags = [Bag(np.empty(0, dtype=np.int64), np.zeros_like(offsets)) for _ in range(self.n)]
        if not self.induced:
            known = (ids >= 0) & (ids < self.known)
            bags[0] = Bag(ids[known].astype(np.int64), np.concatenate([[0], np.cumsum(known)])[offsets])
        if self._matcher is not None:
            matches = self._matcher.match(encoded)
            lengths = matches.ends - matches.starts
            for k in range(1 if self.induced else 2, self.n + 1):
                chosen = lengths == k
                rows = self._rows[matches.targets[chosen]]
                bags[k - 1] = Bag(rows, np.searchsorted(matches.starts[chosen], offsets).astype(np.int64))
        return bags, np.diff(offsets)
