"""Contexts as points to be grouped, from a window wider than a vector's own.

Which words a context happens to have moves its sum most along the directions in which words differ most. Whitened by
the covariance of words drawn at random, this noise is the same in all directions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from alacarte._io.arrays import Doubles, Ints, Longs, Mask
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

WORDS_AROUND = 30  # words on each side: the sense of a word shows in more words than its vector is made of
NEAR = 10  # words from the target at which a word counts half as much as beside it: NEAR / (NEAR + distance)
SIF = 1e-3  # a word of relative frequency p, in general or in the text, counts SIF / (SIF + p)
ORDERED_FROM = 10_000  # words from which on vectors are taken to be in order of frequency, as they are distributed
NOISE_WORDS = 50_000  # words whose covariance is the noise
VARIANCE_FLOOR = 1e-3  # of the largest variance: directions with less are not blown up further
FEW_WORDS = 0.2  # contexts with less than this share of the median weight take no part in finding groups


@dataclass(frozen=True, eq=False)
class PointSpace:
    """Turns the words of a context into a point: word weights, the average word, and a whitening matrix."""

    vectors: WordVectors
    weights: Doubles
    center: Doubles
    whiten: Doubles

    @classmethod
    def of(cls, vectors: WordVectors, word_counts: Longs | None = None) -> "PointSpace":
        """Compute weights, average word and whitening from word vectors, and weights from counts in the text as well.

        What is frequent in the text tells as little as what is frequent elsewhere: *br* in reviews from the web.
        """
        frequency = frequencies(vectors)
        weights = SIF / (SIF + frequency)
        words = np.asarray(vectors.matrix[:NOISE_WORDS], dtype=np.float64)
        p, w = frequency[:NOISE_WORDS], weights[:NOISE_WORDS]
        center = (p * w) @ words / (p @ w)
        deviations = words - center
        values, directions = np.linalg.eigh((deviations.T * (p * w**2)) @ deviations)
        least = max(VARIANCE_FLOOR * float(values.max()), 1e-300)
        if word_counts is not None:
            frequency = np.maximum(frequency, word_counts / max(1, int(word_counts.sum())))
        return cls(vectors, SIF / (SIF + frequency), center, directions / np.sqrt(np.maximum(values, least)))

    def points(self, before: Ints, after: Ints) -> tuple[Doubles, Mask]:
        """Return (a point of length 1 for each context, whether it takes part in finding groups).

        Contexts that repeat another one word by word, and contexts with far fewer words than most, take no part.

        Parameters
        ----------
        before, after : array of int
            One row per context: the ids of its words before and after the target.

        Examples
        --------
        >>> space = PointSpace.of(WordVectors(["a", "b", "c"], np.eye(3)))
        >>> x, telling = space.points(np.array([[0, 0], [1, 1], [1, 1]]), np.array([[0], [1], [1]]))
        >>> x.shape, telling.tolist()
        ((3, 3), [True, True, False])
        """
        ids = np.concatenate([before, after], axis=1)
        known = (ids >= 0) & (ids < len(self.vectors))
        words, columns = np.unique(ids[known], return_inverse=True)
        distances = np.concatenate([np.arange(before.shape[1], 0, -1), np.arange(1, after.shape[1] + 1)])
        near = np.broadcast_to(NEAR / (NEAR + distances), ids.shape)
        entries = self.weights[words[columns]] * near[known], (np.nonzero(known)[0], columns)
        bags = csr_array(entries, shape=(len(ids), len(words)))
        total = np.asarray(bags.sum(axis=1))
        x = unit_rows(bags @ ((self.vectors.matrix[words] - self.center) @ self.whiten))
        telling = np.zeros(len(ids), dtype=np.bool_)
        telling[np.unique(ids, axis=0, return_index=True)[1]] = True
        return x, telling & (total >= FEW_WORDS * np.median(total))


def frequencies(vectors: WordVectors) -> Doubles:
    """Return the relative frequency of each word: by its count, or by Zipf's law and its place if there are no counts.

    Fewer than `ORDERED_FROM` vectors without counts are not taken to be in order of frequency: all words count alike.
    """
    if vectors.counts is not None and vectors.counts.any():
        frequency = vectors.counts.astype(np.float64)
    elif len(vectors) >= ORDERED_FROM:
        frequency = 1 / (np.arange(len(vectors)) + 3.7)
    else:
        frequency = np.ones(len(vectors))
    return np.asarray(frequency / frequency.sum())
