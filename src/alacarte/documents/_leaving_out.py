"""Fitted documents without their own occurrences: n-gram vectors as the rest of the text makes them.

A new document holds n-grams whose vectors come from other texts. A document that the vectors were made from would hold,
beside them, all n-grams that occur nowhere else, each with the vector of its own surroundings, and a classifier would
learn from what new documents do not have. So from the sums behind the n-grams of a fitted document its own occurrences
are taken away, exactly (sums are whole numbers): what is left is what a fit without the document would have given.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

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

Singles = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]
VALUES = 1 << 23  # of the n-gram vectors that one block of documents may need


@dataclass(frozen=True, eq=False)
class FittedNgrams:
    """The sums behind n-gram vectors: of the fitted documents, and of more text if there was any.

    `occurrences` counts the fitted documents alone: an n-gram has a vector if they hold it `min_count` times.
    """

    sums: ContextSums
    occurrences: Longs
    min_count: int
    transform: Transform
    integers: IntegerVectors
    seen: npt.NDArray[np.intp]  # the rows of the sums that have a vector, in the order of the n-gram vectors

    @classmethod
    def of(cls, model: ALaCarte, sums: ContextSums, occurrences: Longs, min_count: int) -> "FittedNgrams":
        integers = IntegerVectors.of(model.vectors, sums.weights, sums.settings)
        return cls(sums, occurrences, min_count, model.transform, integers, sums.seen)

    def block(self, n: int) -> int:
        """How many documents to embed at a time, for n-grams up to n."""
        tokens = max(1, self.sums.tokens_read // max(1, self.sums.documents))
        return int(np.clip(VALUES // (tokens * n * self.sums.dimension), 1, 2048))

    def without_own(self, encoded: Encoded, bag: Bag, k: int) -> tuple[Sums, Bag, Longs]:
        """(sums, bag, rows) for k-grams of fitted documents: a row of sums for each document and k-gram in it.

        The sums are those of all text but the document. The bag holds the k-grams that still have a vector, as rows of
        these sums; `rows` says which row of the n-gram vectors each of them was.
        """
        documents = np.repeat(np.arange(len(bag.bounds) - 1), np.diff(bag.bounds))
        codes, pairs, own = np.unique(documents * len(self.seen) + bag.rows, return_inverse=True, return_counts=True)
        rows = codes % len(self.seen)
        kept = self.occurrences[self.seen[rows]] - own >= self.min_count
        bag, rows = _of_pairs(bag, pairs, kept), rows[kept]
        matches = Matches(bag.starts, bag.starts + np.int32(k), bag.rows.astype(np.int32))
        rest = self.sums.all.take(self.seen[rows])
        rest.add(sums_of_matches(self.integers, self.sums.settings, encoded, matches, len(rows)), slice(None), sign=-1)
        beside_words = rest.totals > 0
        return rest.take(beside_words), _of_pairs(bag, bag.rows, beside_words), rows[beside_words]

    def pooled(self, documents: NgramBags, pooling: Pooling, induced_words: bool) -> Singles:
        """The vectors of fitted documents, each without its own part in the vectors of its n-grams."""
        ngrams, weights, bags = list(pooling.ngrams), list(pooling.weights), list(documents.bags)
        for place in range(0 if induced_words else 1, len(bags)):
            k = place + 1
            rest, bags[place], rows = self.without_own(documents.encoded, bags[place], k)
            table = self.transform(rest.means(self.sums.scale, self.sums.settings.averaging)).astype(np.float32)
            if pooling.composition is not None and k > 1:
                starts = bags[place].starts[np.unique(bags[place].rows, return_index=True)[1]]
                parts = documents.encoded.ids[starts[:, None] + np.arange(k)]
                ngrams[place] = pooling.composition.shrunk(table, parts, rest.contexts)
            else:
                ngrams[place] = NgramVectors.as_they_are(table, unit=ngrams[place].own is not None)
            weights[place] = None if (factors := weights[place]) is None else factors[rows]
        own = replace(pooling, ngrams=tuple(ngrams), weights=tuple(weights))
        return own.vectors(replace(documents, bags=bags))


def _of_pairs(bag: Bag, pairs: Longs, kept: Bools) -> Bag:
    """The bag with the number of its pair for each n-gram, where that is kept; those kept are counted anew."""
    still = kept[pairs]
    return bag.chosen(still, (np.cumsum(kept) - 1)[pairs[still]])
