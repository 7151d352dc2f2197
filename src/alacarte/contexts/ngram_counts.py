"""How often sequences of words occur: tallies of keys, one per sequence."""

import threading
from collections.abc import Callable

import numpy as np

from alacarte._io.arrays import Longs
from alacarte.contexts.tally import Tally
from alacarte.text.encoding import Encoded

KeysOf = Callable[[Encoded], Longs]


class KeyCounts(Tally):
    """Counts of the keys that `keys_of` finds in a block; negative ones are left out."""

    def __init__(self, keys_of: KeysOf) -> None:
        self._keys_of = keys_of
        self._parts = [_nothing()]
        self._lock = threading.Lock()

    def adder(self) -> Callable[[Encoded], None]:
        """Return what one thread calls with each of its blocks."""
        return self._add

    def _add(self, encoded: Encoded) -> None:
        keys = self._keys_of(encoded)
        part = np.unique(keys[keys >= 0], return_counts=True)
        with self._lock:
            self._parts.append(part)
            # Parts wait until they are as large as what they are merged with, which keeps the merging linear.
            if sum(len(keys) for keys, _ in self._parts[1:]) >= len(self._parts[0][0]):
                self._parts = [_merged(self._parts)]

    def settle(self) -> None:
        """Put together what the adders hold."""
        self._parts = [_merged(self._parts)]

    @property
    def all(self) -> tuple[Longs, Longs]:
        """Return (keys, counts) by key; when all is settled."""
        return self._parts[0]

    def at_least(self, least: int) -> tuple[Longs, Longs]:
        """Return (keys, counts) from `least` occurrences on, the most frequent first, then by key."""
        keys, counts = self.all
        frequent = counts >= least
        keys, counts = keys[frequent], counts[frequent]
        order = np.argsort(-counts, kind="stable")
        return keys[order], counts[order]


def _nothing() -> tuple[Longs, Longs]:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


def _merged(parts: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    """Return keys in order, with their counts added up."""
    keys, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(counts[order], first) if first.size else counts[:0]
