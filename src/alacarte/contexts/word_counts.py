"""How often each word of the vectors occurs: a tally, and by sums that were collected."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Longs
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.tally import Tally
from alacarte.errors import BadSums
from alacarte.text.encoding import Encoded
from alacarte.vectors.word_vectors import WordVectors


def word_counts(sums: ContextSums, vectors: WordVectors) -> Longs:
    """How often each word of the vectors occurred, by sums over the whole vocabulary."""
    if sums.fingerprint != vectors.fingerprint or sums.targets is not None:
        raise BadSums("word counts come from sums over the whole vocabulary of the same vectors; collect those")
    counts = np.zeros(len(vectors), dtype=np.int64)
    for key, count in zip(sums.keys, sums.occurrences.tolist(), strict=True):
        counts[vectors.index(key)] = count
    return counts


class WordCounts(Tally):
    """Counts of the ids from 0 to `known`; all others are left out."""

    def __init__(self, known: int) -> None:
        self.counts = np.zeros(known, dtype=np.int64)
        self._lock = threading.Lock()

    def adder(self) -> Callable[[Encoded], None]:
        """Return what one thread calls with each of its blocks."""
        return self._add

    def _add(self, encoded: Encoded) -> None:
        known = encoded.ids[encoded.ids.view(np.uint32) < np.uint32(len(self.counts))]
        counts = np.bincount(known, minlength=len(self.counts))
        with self._lock:
            self.counts += counts

    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return all that was added so far."""
        return {"counts": self.counts}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up what `arrays` gave."""
        self.counts[:] = arrays["counts"]
