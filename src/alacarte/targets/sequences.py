"""Words and n-grams as sequences of token ids: which of them occur where."""

from dataclasses import dataclass

import numpy as np

from alacarte._io.arrays import Ints, Longs
from alacarte.text.encoding import Encoded


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
        from alacarte.targets._matching_kernel import ALONE, EMPTY_SLOT, STARTS, build_table

        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._lengths = np.unique(lengths[lengths > 1])
        self._roles = np.zeros(n_ids, dtype=np.uint8)
        self._roles[flat[bounds[:-1][lengths == 1]]] |= ALONE
        self._roles[flat[bounds[:-1][lengths > 1]]] |= STARTS
        size = 1 << max(4, int(2 * (lengths > 1).sum()).bit_length())
        self._single, self._table = np.full(n_ids, EMPTY_SLOT, dtype=np.int32), np.zeros(size, dtype=np.uint64)
        records, first = (np.empty(room, dtype=np.int32) for room in (flat.size + 3 * lengths.size, lengths.size))
        owners = np.empty(n_ids, dtype=np.int32)
        used = build_table(flat, bounds, keys_of, self._single, owners, self._table, records, first)
        self._records = records[:used]
        # Two keys may be the same sequence ("New York" and "new york"): it is found for the first, and given to both.
        self._owners: tuple[Ints, Longs, Longs] | None = None
        if (first != np.arange(len(first))).any():
            heads = keys_of[first]
            copies = np.bincount(heads, minlength=int(keys_of.max()) + 1)
            self._owners = keys_of[np.argsort(heads, kind="stable")], copies, np.cumsum(copies) - copies

    def find(self, encoded: Encoded) -> Matches:
        """Return where the sequences occur in a block."""
        from alacarte.targets._matching_kernel import TOKENS_AT_ONCE, find_sequences

        ids = encoded.ids
        room = ids.size * (1 + len(self._lengths))
        starts, ends, targets = (np.empty(room, dtype=np.int32) for _ in range(3))
        count = find_sequences(
            ids,
            encoded.offsets,
            self._single,
            self._lengths,
            self._roles,
            self._table,
            self._records,
            starts,
            ends,
            targets,
            np.empty(2 * TOKENS_AT_ONCE * len(self._lengths), dtype=np.uint64),
            np.empty(TOKENS_AT_ONCE, dtype=np.int64),
        )
        starts, ends, targets = starts[:count], ends[:count], targets[:count]
        if self._owners is None:
            return Matches(starts, ends, targets)
        owners, amounts, begins = self._owners
        copies = amounts[targets]
        within = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        targets = owners[np.repeat(begins[targets], copies) + within]
        return Matches(np.repeat(starts, copies), np.repeat(ends, copies), targets)
