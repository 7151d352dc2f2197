"""The space that vectors are compared in: as they come, or without their mean and a few directions they all share.

In many sets of vectors a mean and a few components, which mostly tell how frequent a word is, make up a good part of
every cosine. Removing them on *both* sides of the cosine (Mu & Viswanath 2018) is an affine map, so sums of contexts
move along: nothing is read again, and à la carte in the new space is à la carte for vectors like any others.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from alacarte import ContextSums, WordVectors
from alacarte.contexts.integers import IntegerVectors
from alacarte.errors import BadSums, NotEnoughData

Doubles = npt.NDArray[np.float64]
BLOCK = 1 << 15  # rows in float64 at a time


@dataclass(frozen=True, eq=False)
class ComponentRemoval:
    """x ↦ Qᵀ (x − m): Q spans what is left when the top components are gone, so the map keeps lengths and angles there.

    >>> from alacarte import collect
    >>> vectors = WordVectors(["a", "b", "c"], [[5.0, 1.0], [9.0, 1.0], [7.0, 4.0]])
    >>> space = ComponentRemoval.of(vectors, 1)
    >>> space([5.0, 1.0]).round(3).tolist()
    [-1.0]
    >>> sums = collect(vectors, ["a x b", "c x c"], ["x"], window=1)
    >>> moved = space.vectors(vectors)
    >>> space.sums(sums, moved).vectors().round(3).tolist()
    [[2.0]]
    >>> collect(moved, ["a x b", "c x c"], ["x"], window=1).vectors().round(3).tolist()
    [[2.0]]
    """

    mean: Doubles
    basis: Doubles  # (dimensions, dimensions left), orthonormal columns

    @classmethod
    def of(
        cls, vectors: WordVectors, components: int = 1, rows: npt.NDArray[np.intp] | None = None
    ) -> "ComponentRemoval":
        """Without the mean and the top principal components of the vectors, or of those in `rows`."""
        chosen = np.arange(len(vectors)) if rows is None else rows
        d = vectors.dimension
        if not 0 <= components < d or len(chosen) <= components:
            raise NotEnoughData(
                f"{components} components cannot be removed from {len(chosen)} vectors of {d} dimensions; remove fewer"
            )
        total, gram = np.zeros(d), np.zeros((d, d))
        for low in range(0, len(chosen), BLOCK):
            block = vectors.matrix[chosen[low : low + BLOCK]].astype(np.float64)
            total += block.sum(axis=0)
            gram += block.T @ block
        mean = total / len(chosen)
        if components == 0:
            return cls(mean, np.eye(d))
        axes = np.linalg.eigh(gram - len(chosen) * np.outer(mean, mean))[1][:, : d - components]
        largest = axes[np.abs(axes).argmax(axis=0), np.arange(d - components)]
        return cls(mean, axes * np.sign(largest))  # eigenvectors have no sign of their own

    def __call__(self, rows: npt.ArrayLike) -> Doubles:
        """One vector, or each row of a matrix, in this space."""
        moved: Doubles = (np.asarray(rows, dtype=np.float64) - self.mean) @ self.basis
        return moved

    def vectors(self, vectors: WordVectors) -> WordVectors:
        """The same words in this space."""
        matrix = np.empty((len(vectors), self.basis.shape[1]), dtype=np.float32)
        for low in range(0, len(vectors), BLOCK):
            matrix[low : low + BLOCK] = self(vectors.matrix[low : low + BLOCK])
        matrix.flags.writeable = False
        return WordVectors(vectors.words, matrix)

    def sums(self, sums: ContextSums, vectors: WordVectors) -> ContextSums:
        """Sums collected with the old vectors as the new ones (`vectors`, made by this space) would have given them."""
        if sums.dimension != len(self.mean):
            raise BadSums(f"the space is one of {len(self.mean)} dimensions, the sums have {sums.dimension}")
        weight = sums.contexts if sums.settings.averaging == "context" else sums.total_weights
        scale = IntegerVectors.of(vectors, sums.weights, sums.settings).scale
        moved = np.empty((len(sums), self.basis.shape[1]), dtype=np.int64)
        for low in range(0, len(moved), BLOCK):
            part = slice(low, low + BLOCK)
            values = (sums.vectors(part) - weight[part, None] * self.mean) @ self.basis
            moved[part] = np.rint(values / scale.sum_units)
        return replace(sums, all=replace(sums.all, sums=moved), scale=scale, fingerprint=vectors.fingerprint)
