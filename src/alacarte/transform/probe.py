"""How a transform knows its vectors again."""

from dataclasses import dataclass

import numpy as np

from alacarte._io.arrays import Singles
from alacarte.vectors.word_vectors import WordVectors


@dataclass(frozen=True, eq=False)
class Probe:
    """A few words with their vectors, by which a transform knows its space again.

    The fingerprint of the vectors changes with the number of words read; a probe does not, so vectors read with
    another `limit`, or with words added, still fit, and normalised, retrained or other vectors do not.
    """

    words: list[str]
    vectors: Singles

    @classmethod
    def of(cls, vectors: WordVectors, size: int = 32) -> "Probe":
        """Return the probe of some vectors."""
        spread = np.linspace(0, len(vectors) - 1, size).astype(int)
        rows = np.unique(np.concatenate([np.arange(min(size, len(vectors))), spread]))
        return cls([vectors.word(row) for row in rows.tolist()], np.array(vectors.matrix[rows]))

    def problem(self, vectors: WordVectors) -> str | None:
        """Why these vectors are not of this space, or None."""
        shared = [(row, word) for row, word in enumerate(self.words) if word in vectors]
        if len(shared) < min(8, len(self.words)):
            return f"of {len(self.words)} words that it remembers, they hold {len(shared)}"
        for row, word in shared:
            mine, theirs = self.vectors[row], vectors[word]
            if not np.allclose(mine, theirs, rtol=1e-3, atol=1e-3 * float(np.abs(mine).max())):
                return f"the vector of {word!r} is another one"
        return None
