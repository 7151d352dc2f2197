"""N-gram vectors shrunk toward the composition of their words, by the number of occurrences of the n-gram.

An n-gram with c occurrences and vector v gets the direction of c·v + τ·s. Here v has length 1, and so has s, the
direction of the sum of the unit vectors of its words. An n-gram without occurrences gets s. No table of such vectors is
kept: each is a number times the n-gram's own vector plus a number times each of its words' vectors, and only these two
numbers are computed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Ints, Longs, Singles
from alacarte.text.encoding import Lexicon
from alacarte.vectors.word_vectors import WordVectors

TABLE_ROWS = 1 << 12  # of a table at a time
NO_WORD = -1


@dataclass(frozen=True, eq=False)
class NgramVectors:
    """The vector of n-gram i is `own[i] * table[i]`, plus `of_words[i]` times the vector of each of its words."""

    table: Singles
    own: Singles
    of_words: Singles

    @classmethod
    def plain(cls, table: Singles, unit: bool) -> "NgramVectors":
        """Return the rows of the table, at length 1 if `unit`."""
        return cls(table, scales(table, unit), np.zeros(len(table), dtype=np.float32))


@dataclass(frozen=True, eq=False)
class Composition:
    """How n-grams are composed of words: the words' vectors, and τ, the occurrences that the composition counts for.

    `scales` has 1 / length of each word's vector if n-grams are at length 1 (`unit`), and else 1. In that case the
    composition is the mean of the words' vectors, and the shrunk vector is (c·v + τ·s) / (c + τ).
    """

    words: Singles
    scales: Singles
    tau: float
    unit: bool

    @classmethod
    def of(cls, words: Singles, tau: float, unit: bool) -> "Composition":
        return cls(words, scales(words, unit), tau, unit)

    def word_factors(self, ids: Ints) -> Singles:
        """Return the factor of each word's vector; 0 for words without a vector."""
        known = (ids >= 0) & (ids < len(self.words))
        return np.where(known, self.scales[np.where(known, ids, 0)], np.float32(0))

    def unseen(self, parts: Ints) -> Singles:
        """Return `NgramVectors.of_words` for n-grams without a vector of their own, one row of word ids per n-gram."""
        factors = np.empty(len(parts), dtype=np.float32)
        for low in range(0, len(parts), TABLE_ROWS):
            factors[low : low + TABLE_ROWS] = self._composed(parts[low : low + TABLE_ROWS])[1]
        return factors

    def shrunk(self, table: Singles, parts: Ints, counts: Longs) -> NgramVectors:
        """Return the rows of a table of n-gram vectors, shrunk; `parts` has one row of word ids per n-gram."""
        own, of_words = np.empty((2, len(table)), dtype=np.float32)
        for low in range(0, len(table), TABLE_ROWS):
            block = slice(low, low + TABLE_ROWS)
            vectors = table[block].astype(np.float64)
            sums, composed = self._composed(parts[block])
            lengths = scales(vectors, self.unit)
            # N-grams of words without a vector, and vectors of zeros, count for nothing.
            count, tau = counts[block] * (lengths > 0), self.tau * (composed > 0)
            total = count + tau
            if self.unit:
                cosines = np.einsum("ij,ij->i", vectors, sums) * lengths * composed
                total = np.sqrt(np.maximum(count**2 + tau**2 + 2 * count * tau * cosines, 0))
            share = np.divide(1, total, out=np.zeros(len(vectors)), where=total > 0)
            own[block], of_words[block] = count * lengths * share, tau * composed * share
        return NgramVectors(table, own, of_words)

    def _composed(self, parts: Ints) -> tuple[Doubles, Singles]:
        """Return (the sum of the words' vectors of each n-gram, the factor that makes it the composition)."""
        sums = np.zeros((len(parts), self.words.shape[1]))
        known = np.zeros(len(parts), dtype=np.float32)
        for ids in parts.T:
            factors = self.word_factors(ids)
            sums += self.words[np.where(factors > 0, ids, 0)] * factors[:, None]
            known += factors > 0
        return sums, scales(sums, True) if self.unit else np.divide(1, known, out=known, where=known > 0)


def word_ids(words: WordVectors, ngrams: Sequence[str]) -> Ints:
    """Return the ids of the words of each n-gram, one row each; `NO_WORD` after the last word of shorter n-grams.

    Examples
    --------
    >>> words = WordVectors(["new", "york"], [[1.0], [2.0]])
    >>> word_ids(words, ["new york", "york is new"])[:, [0, 1]].tolist()
    [[0, 1], [1, 2]]
    """
    ids, lengths = Lexicon(words.key_to_index).add_sequences(ngrams)
    parts = np.full((len(ngrams), int(lengths.max(initial=1))), NO_WORD, dtype=np.int32)
    parts[np.arange(parts.shape[1]) < lengths[:, None]] = ids
    return parts


def scales(table: npt.NDArray[Any], unit: bool) -> Singles:
    """Return 1 / length of each row, 0 for rows of zeros; 1 for every row if they are to keep their lengths."""
    if not unit:
        return np.ones(len(table), dtype=np.float32)
    lengths = np.empty(len(table), dtype=np.float32)
    for low in range(0, len(table), TABLE_ROWS):
        block = table[low : low + TABLE_ROWS].astype(np.float64, copy=False)
        lengths[low : low + TABLE_ROWS] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
