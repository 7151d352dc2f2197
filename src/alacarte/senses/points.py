"""Contexts as points to be grouped: wider than a vector's window, rare and near words weighing more, noise made round.

What words a context happens to have moves its sum most along the directions in which words differ most. Seen in units
of that noise (whitened by the covariance of words drawn at random), only what contexts have in common stands out.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
AROUND = 30  # words on each side: the sense of a word shows in more words than its vector is made of
NEAR = 10  # words from the target at which a word counts half as much as beside it: NEAR / (NEAR + distance)
SIF = 1e-3  # a word of relative frequency p counts SIF / (SIF + p)
IN_ORDER = 10_000  # from so many words on, vectors are taken to be in order of frequency, as they are distributed
FREQUENT = 50_000  # words whose covariance is the noise
FLOOR = 1e-3  # of the largest variance: directions with less are not blown up further
FEW_WORDS = 0.2  # contexts with less than this share of the median weight say too little to find groups by


@dataclass(frozen=True, eq=False)
class PointSpace:
    """What turns the words of a context into a point: a weight for each word, the average word, and a matrix that makes
    words drawn at random spread equally in all directions."""

    vectors: WordVectors
    weights: Doubles
    center: Doubles
    whiten: Doubles

    @classmethod
    def of(cls, vectors: WordVectors) -> "PointSpace":
        frequency = frequencies(vectors)
        weights = SIF / (SIF + frequency)
        words = np.asarray(vectors.matrix[:FREQUENT], dtype=np.float64)
        p, w = frequency[:FREQUENT], weights[:FREQUENT]
        center = (p * w) @ words / (p @ w)
        deviations = words - center
        values, directions = np.linalg.eigh((deviations.T * (p * w**2)) @ deviations)
        least = max(FLOOR * float(values.max()), 1e-300)
        return cls(vectors, weights, center, directions / np.sqrt(np.maximum(values, least)))

    def points(self, before: Ints, after: Ints) -> tuple[Doubles, npt.NDArray[np.bool_]]:
        """(a point of length 1 for each context, whether it takes part in finding groups), from the ids of its words.

        Contexts that repeat another one word by word, and contexts of far fewer words than most, take no part.

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
    """The relative frequency of each word: by its count if vectors have counts, else by Zipf's law and its place, if
    there are many enough to be in order of frequency."""
    if vectors.counts is not None and vectors.counts.any():
        frequency = vectors.counts.astype(np.float64)
    elif len(vectors) >= IN_ORDER:
        frequency = 1 / (np.arange(len(vectors)) + 3.7)
    else:
        frequency = np.ones(len(vectors))
    return np.asarray(frequency / frequency.sum())
