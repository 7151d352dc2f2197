"""Words and n-grams as sequences of token ids: which of them occur where."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._kernels.matching import ALONE, STARTS, build_table, find_sequences
from alacarte.encoding import UNKNOWN, Encoded

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """Occurrences, sorted by start: positions [start, end) hold target number `target`."""

    starts: Ints
    ends: Ints
    targets: Ints

    def __len__(self) -> int:
        return len(self.starts)


class SequenceTable:
    """Words and n-grams as sequences of ids, ready for the kernel."""

    def __init__(self, flat: Ints, lengths: Longs, keys_of: Ints, n_ids: int) -> None:
        # Two keys may be the same sequence ("New York" and "new york"): it is searched once and found for both.
        numbers = _same_numbers(flat, lengths, n_ids)
        _, firsts_of, self._owner_counts = np.unique(numbers, return_index=True, return_counts=True)
        self._owners = keys_of[np.argsort(numbers, kind="stable")]
        self._owner_bounds = np.concatenate([[0], np.cumsum(self._owner_counts)])
        begins, lengths = (np.cumsum(lengths) - lengths)[firsts_of], lengths[firsts_of]
        self._bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._flat = flat[np.repeat(begins - self._bounds[:-1], lengths) + np.arange(self._bounds[-1])]
        self._lengths = np.unique(lengths[lengths > 1])
        firsts = self._flat[self._bounds[:-1]]
        self._single = np.full(n_ids, -1, dtype=np.int32)
        self._single[firsts[lengths == 1]] = np.flatnonzero(lengths == 1)
        self._roles = np.zeros(n_ids, dtype=np.uint8)
        self._roles[firsts[lengths == 1]] |= ALONE
        self._roles[firsts[lengths > 1]] |= STARTS
        size = 1 << max(4, int(2 * (lengths > 1).sum()).bit_length())
        self._table = build_table(self._flat, self._bounds, size)
        self._one_owner = len(self._owner_counts) == len(self._owners)

    def find(self, encoded: Encoded) -> Matches:
        ids = encoded.ids
        if self._patterns_may_have_grown(ids):
            ids = np.where(ids < len(self._single), ids, UNKNOWN).astype(np.int32)
        room = ids.size * (1 + len(self._lengths))
        starts, ends, found = (np.empty(room, dtype=np.int32) for _ in range(3))
        count = find_sequences(
            ids, encoded.offsets, self._single, self._lengths, self._roles, self._flat, self._bounds,
            self._table, starts, ends, found,
        )  # fmt: skip
        starts, ends, found = starts[:count], ends[:count], found[:count]
        if self._one_owner:
            return Matches(starts, ends, self._owners[found])
        copies = self._owner_counts[found]
        first = np.repeat(self._owner_bounds[found], copies)
        within = np.arange(first.size) - np.repeat(np.cumsum(copies) - copies, copies)
        targets = self._owners[first + within]
        return Matches(np.repeat(starts, copies), np.repeat(ends, copies), targets)

    def _patterns_may_have_grown(self, ids: Ints) -> bool:
        return bool(ids.size) and int(ids.max()) >= len(self._single)


def _same_numbers(flat: Ints, lengths: Longs, n_ids: int) -> Longs:
    """A number for each sequence, the same for the same sequences: two ids at a time are made one number."""
    numbers = np.empty(lengths.size, dtype=np.int64)
    begins = np.cumsum(lengths) - lengths
    used = 0
    for length in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == length)
        codes = flat[begins[chosen]].astype(np.int64)
        for place in range(1, length):
            codes = np.unique(codes * n_ids + flat[begins[chosen] + place], return_inverse=True)[1].astype(np.int64)
        numbers[chosen] = codes + used
        used += int(codes.max()) + 1
    return numbers
