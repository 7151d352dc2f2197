"""The vectors of documents from those of their n-grams: 1/k Σ v_(k-gram) for k = 1 … n, side by side."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from alacarte._io.arrays import Longs, Singles
from alacarte.documents._bags import Bag, NgramBags
from alacarte.documents._composition import Composition, NgramVectors
from alacarte.text.encoding import Encoded

DOCUMENTS_AT_ONCE = 2048  # at a time


@dataclass(frozen=True, eq=False)
class Pooling:
    """How the n-grams of a document become its vector: the vectors of k-grams for k = 1 … n, and how they are added.

    `weights[k - 1]` has the weight of each k-gram. With `composition`, k-grams for k > 1 that
    have no vector of their own are composed of their words. There is a block of columns for each k.
    """

    ngrams: tuple[NgramVectors, ...]
    weights: tuple[Singles, ...]
    composition: Composition | None
    mean: bool
    unit: bool

    @property
    def widths(self) -> list[int]:
        """The dimensions of each block of columns."""
        return [ngrams.table.shape[1] for ngrams in self.ngrams]

    def vectors(self, documents: NgramBags) -> Singles:
        """Return one row per document."""
        parts = [self._pooled(documents.encoded, bag, k) for k, bag in enumerate(documents.bags, start=1)]
        return np.concatenate(parts, axis=1)

    def _pooled(self, encoded: Encoded, bag: Bag, k: int) -> Singles:
        """Return 1/k Σ, or 1/k times the mean, of the vectors of the k-grams of each document."""
        ngrams, weight = self.ngrams[k - 1], self.weights[k - 1][bag.rows]
        amounts = np.diff(bag.bounds)
        result = _sums(weight * ngrams.own[bag.rows], bag.rows, bag.bounds, ngrams.table)
        if self.composition is not None and k > 1:
            of_words = self._shares_of_words(encoded, bag, k, weight)
            has_vector = of_words > 0
            has_vector[bag.starts] = True
            amounts = np.diff(np.append(0, np.cumsum(has_vector))[encoded.offsets])
            result += self._sums_of_words(encoded, of_words, k)
        divisors = k * np.maximum(amounts, 1) if self.mean else np.array([k])
        result /= divisors[:, None].astype(np.float32)
        return result

    def _shares_of_words(self, encoded: Encoded, bag: Bag, k: int, weight: Singles) -> Singles:
        """Return, for the k-gram that begins at each token, the factor of its words' vectors; 0 if none begins."""
        assert self.composition is not None
        shares = np.zeros(len(encoded.ids), dtype=np.float32)
        alone = np.ones(len(encoded.ids), dtype=bool)
        for back in range(1, k):  # k-grams that would go beyond the end of their document
            ends = encoded.offsets[1:] - back
            alone[ends[ends >= encoded.offsets[:-1]]] = False
        alone[bag.starts] = False
        starts = np.flatnonzero(alone)
        shares[starts] = self.composition.unseen(encoded.ids[starts[:, None] + np.arange(k)])
        shares[bag.starts] = self.ngrams[k - 1].of_words[bag.rows] * weight
        return shares

    def _sums_of_words(self, encoded: Encoded, shares: Singles, k: int) -> Singles:
        """Return the sum of each document's word vectors, each times the shares of the k-grams that it is part of."""
        assert self.composition is not None
        factors = shares.copy()
        for place in range(1, k):
            factors[place:] += shares[:-place]
        factors *= self.composition.word_factors(encoded.ids)
        ids = np.where(factors > 0, encoded.ids, 0).astype(np.int64)
        return _sums(factors, ids, encoded.offsets, self.composition.words)


def _sums(factors: Singles, rows: Longs, bounds: Longs, table: Singles) -> Singles:
    """Return, for each document, the sum of rows of a table times their factors: a sparse matrix times the table."""
    sparse = scipy.sparse.csr_array((factors, rows, bounds), shape=(len(bounds) - 1, len(table)))
    result: Singles = sparse @ table
    return result


def sif_constant(weights: str | None) -> float | None:
    """Return the constant a of smooth inverse frequency, a / (a + p), from "sif" or "sif:1e-3"; None for None.

    Examples
    --------
    >>> sif_constant("sif"), sif_constant("sif:0.1")
    (0.001, 0.1)
    """
    if weights is None:
        return None
    name, _, number = weights.partition(":")
    try:
        constant = float(number or "1e-3")
    except ValueError:
        constant = -1.0
    if name != "sif" or not constant > 0:
        raise ValueError(f"weights are None, 'sif' or as in 'sif:1e-3', not {weights!r}")
    return constant
