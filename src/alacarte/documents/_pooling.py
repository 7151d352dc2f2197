"""Bags of n-grams → document vectors: 1/k Σ v_(k-gram) for k = 1 … n, side by side or added."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from alacarte.documents._bags import Bag

Singles = npt.NDArray[np.float32]
ROWS = 1 << 16  # of a table at a time
DOCUMENTS = 2048  # at a time


@dataclass(frozen=True, eq=False)
class Pooling:
    """All that says how bags become vectors: the tables of k-gram vectors for k = 1 … n, and how they are added.

    `lengths[k]` has 1 / length of each row of `tables[k]`, by which it is multiplied, and `weights[k]` its weight; None
    where all are 1. With `add` there is one block of columns, otherwise one for each k.
    """

    tables: tuple[Singles, ...]
    lengths: tuple[Singles | None, ...]
    weights: tuple[Singles | None, ...]
    mean: bool
    add: bool

    @property
    def widths(self) -> list[int]:
        """The dimensions of each block of columns."""
        return [table.shape[1] for table in (self.tables[:1] if self.add else self.tables)]

    def parts(self, vectors: Singles) -> list[Singles]:
        """Views of the blocks of columns."""
        return np.split(vectors, np.cumsum(self.widths)[:-1], axis=1)

    def vectors(self, bags: Sequence[Bag]) -> Singles:
        """A row for each document, from the bags of its k-grams for k = 1 … n."""
        result = np.zeros((len(bags[0].bounds) - 1, sum(self.widths)), dtype=np.float32)
        parts = self.parts(result)
        for k, bag in enumerate(bags, start=1):
            parts[0 if self.add else k - 1][...] += self._pooled(bag, k)
        return result

    def _pooled(self, bag: Bag, k: int) -> Singles:
        """1/k Σ, or 1/k times the mean, of the rows in each bag: a sparse matrix times the table."""
        table = self.tables[k - 1]
        data = np.ones(len(bag.rows), dtype=np.float32)
        for factors in (self.lengths[k - 1], self.weights[k - 1]):
            if factors is not None:
                data *= factors[bag.rows]
        data /= k
        if self.mean:
            amounts = np.diff(bag.bounds)
            data /= np.repeat(amounts, amounts)
        counts = scipy.sparse.csr_array((data, bag.rows, bag.bounds), shape=(len(bag.bounds) - 1, len(table)))
        result: Singles = counts @ table
        return result


def inverse_lengths(table: Singles) -> Singles:
    """1 / length of each row; 0 for rows of zeros."""
    lengths = np.empty(len(table), dtype=np.float32)
    for low in range(0, len(table), ROWS):
        block = table[low : low + ROWS]
        lengths[low : low + ROWS] = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
    return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def common_directions(vectors: Singles, components: int) -> Singles:
    """The leading right singular vectors, a row each."""
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    for low in range(0, len(vectors), DOCUMENTS):
        block = vectors[low : low + DOCUMENTS].astype(np.float64)
        gram += block.T @ block
    if components >= len(gram):
        raise ValueError(f"{components} components cannot be removed from {len(gram)} dimensions")
    return np.asarray(np.linalg.eigh(gram)[1][:, -components:].T.astype(np.float32))


def sif_constant(weights: str | None) -> float | None:
    """The constant a of smooth inverse frequency, a / (a + p), out of "sif" or "sif:1e-3"; None for None.

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
