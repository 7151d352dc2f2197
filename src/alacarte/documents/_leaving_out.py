"""The vectors of fitted documents, each without its own occurrences in the vectors of its n-grams.

The n-grams of a new document have vectors from other texts. A document that was fitted also has n-grams that occur
nowhere else, with vectors from its own text, and a classifier would learn from these although new documents have none.
So the document's own occurrences are subtracted from the sums behind its n-grams. Sums are whole numbers, so the result
is exactly that of a fit without the document.
"""

from dataclasses import dataclass, replace

import numpy as np

from alacarte._io.arrays import Longs, Mask, Rows, Singles
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.windows import sums_of_matches
from alacarte.documents._bags import Bag, NgramBags
from alacarte.documents._composition import NgramVectors
from alacarte.documents._pooling import Pooling
from alacarte.model import ALaCarte
from alacarte.targets.sequences import Matches
from alacarte.text.encoding import Encoded
from alacarte.transform.transform import Transform

VALUES_AT_ONCE = 1 << 23  # of the n-gram vectors that one block of documents may need


@dataclass(frozen=True, eq=False)
class FittedNgrams:
    """The sums behind n-gram vectors: of the fitted documents, and of more text if there was any.

    `occurrences` are those in the fitted documents: an n-gram has a vector if it has `min_count` of them.
    """

    sums: ContextSums
    occurrences: Longs
    min_count: int
    transform: Transform
    integers: IntegerVectors
    seen: Rows  # the rows of the sums that have a vector, in the order of the n-gram vectors

    @classmethod
    def of(cls, model: ALaCarte, sums: ContextSums, occurrences: Longs, min_count: int) -> "FittedNgrams":
        integers = IntegerVectors.of(model.vectors, sums.weights, sums.settings)
        return cls(sums, occurrences, min_count, model.transform, integers, sums.seen)

    def block(self, n: int) -> int:
        """Return how many documents to embed at a time, for n-grams up to n."""
        tokens = max(1, self.sums.tokens_read // max(1, self.sums.documents))
        return int(np.clip(VALUES_AT_ONCE // (tokens * n * self.sums.dimension), 1, 2048))

    def without_own(self, encoded: Encoded, bag: Bag, k: int) -> tuple[Sums, Bag, Longs]:
        """Return (sums, bag, rows) for k-grams of fitted documents: one row of sums per document and k-gram in it.

        The sums are those of all text but the document. The bag has the k-grams that still have a vector, as rows of
        these sums; `rows` are their rows in the table of n-gram vectors.
        """
        documents = np.repeat(np.arange(len(bag.bounds) - 1), np.diff(bag.bounds))
        codes, pairs, own = np.unique(documents * len(self.seen) + bag.rows, return_inverse=True, return_counts=True)
        rows = codes % len(self.seen)
        kept = self.occurrences[self.seen[rows]] - own >= self.min_count
        bag, rows = _of_pairs(bag, pairs, kept), rows[kept]
        matches = Matches(bag.starts, bag.starts + np.int32(k), bag.rows.astype(np.int32))
        own_sums = sums_of_matches(self.integers, self.sums.settings, encoded, matches, len(rows))
        rest = self.sums.all.take(self.seen[rows]) - own_sums
        beside_words = rest.totals > 0
        return rest.take(beside_words), _of_pairs(bag, bag.rows, beside_words), rows[beside_words]

    def pooled(self, documents: NgramBags, pooling: Pooling) -> Singles:
        """Return the vectors of fitted documents, each without its own part in the vectors of its n-grams."""
        ngrams, weights, bags = list(pooling.ngrams), list(pooling.weights), list(documents.bags)
        for place in range(1, len(bags)):
            k = place + 1
            rest, bags[place], rows = self.without_own(documents.encoded, bags[place], k)
            table = self.transform(rest.means(self.sums.scale, self.sums.settings.averaging)).astype(np.float32)
            if pooling.composition is not None:
                starts = bags[place].starts[np.unique(bags[place].rows, return_index=True)[1]]
                parts = documents.encoded.ids[starts[:, None] + np.arange(k)]
                ngrams[place] = pooling.composition.shrunk(table, parts, rest.contexts)
            else:
                ngrams[place] = NgramVectors.plain(table, pooling.unit)
            weights[place] = weights[place][rows]
        own = replace(pooling, ngrams=tuple(ngrams), weights=tuple(weights))
        return own.vectors(replace(documents, bags=bags))


def _of_pairs(bag: Bag, pairs: Longs, kept: Mask) -> Bag:
    """Return the n-grams whose pair is kept, with the numbers of these pairs among those kept as rows."""
    still = kept[pairs]
    return bag.select(still, (np.cumsum(kept) - 1)[pairs[still]])
