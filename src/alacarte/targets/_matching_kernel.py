"""Where do targets (words and n-grams, as sequences of token ids) occur? One look-up a token and n-gram length.

A word id leads straight to its one-word sequence; longer ones are found through a hash table with open addressing, and
every hit is verified, so a collision costs time and never a wrong match. The hash of an n-gram extends that of the
(n-1)-gram before it. With millions of targets neither the table nor the sequences fit the processor's cache: some
tokens are looked up together, and the places in memory of one step are asked for before the step before it is done.
"""

import numpy as np

from alacarte._io.arrays import Bytes, Codes, Ints, Longs
from alacarte._io.compiled import inlined, kernel, pointer, prefetch

EMPTY_SLOT = -1
ALONE, STARTS = 1, 2  # roles of an id: a sequence of its own, the beginning of longer ones
TOKENS_AT_ONCE = 16  # tokens that are looked up together
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
UPPER_32, LOWER_32 = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)


@inlined
def _extend(code, token):  # type: ignore[no-untyped-def]
    """Return the hash of an n-gram with one more id."""
    code = (code ^ np.uint64(token)) * HASH_MULTIPLIER
    return code ^ (code >> np.uint64(29))


@kernel
def build_table(
    flat: Ints, bounds: Longs, keys: Ints, single: Ints, owners: Ints, table: Codes, records: Ints, first: Ints
) -> int:
    """Fill what sequences are found with; return how much of `records` is used.

    Sequence i is `flat[bounds[i]:bounds[i + 1]]`, to be found as number `keys[i]`; `first[i]` becomes the first
    sequence that is equal to it. `single` gets the numbers of one-word sequences by id, and `owners` which sequences
    these are. `table` is a hash table of the others: all zeros at first, and of a power of two above their number. A
    slot holds the upper half of the hash and where the record begins, plus one; zero is an empty slot. A record is the
    number, the length, the ids and i: one place in memory to verify a hit and know whose it is.
    """
    mask = np.uint64(table.size - 1)
    count = first.size
    flat, bounds, keys, first = pointer(flat), pointer(bounds), pointer(keys), pointer(first)
    single, owners, table, records = pointer(single), pointer(owners), pointer(table), pointer(records)
    end = 0
    for i in range(count):
        low, size = bounds[i], bounds[i + 1] - bounds[i]
        first[i] = i
        if size == 1:
            token = np.int64(flat[low])
            if single[token] == EMPTY_SLOT:
                single[token], owners[token] = keys[i], i
            first[i] = owners[token]
            continue
        code = np.uint64(0)
        for k in range(size):
            code = _extend(code, flat[low + k])
        slot = _next_slot(table, mask, code & mask, code)
        while table[np.int64(slot)] != 0:
            at = np.int64(table[np.int64(slot)] & LOWER_32) - 1
            if _same(flat, low, size, records, at):
                first[i] = records[at + 2 + size]
                break
            slot = _next_slot(table, mask, (slot + np.uint64(1)) & mask, code)
        if first[i] == i:
            table[np.int64(slot)] = (code & UPPER_32) | np.uint64(end + 1)
            records[end] = keys[i]
            records[end + 1] = size
            for k in range(size):
                records[end + 2 + k] = flat[low + k]
            records[end + 2 + size] = i
            end += 3 + size
    return end


@kernel
def find_sequences(
    ids: Ints,
    offsets: Longs,
    single: Ints,
    lengths: Longs,
    roles: Bytes,
    table: Codes,
    records: Ints,
    starts: Ints,
    ends: Ints,
    targets: Ints,
    codes: Codes,
    reach: Longs,
) -> int:
    """Fill `starts`, `ends`, `found` (the sequences' numbers) with every occurrence; return how many there are.

    `roles[id]` is 0 for the many ids that no sequence begins with, so that these cost nothing but a glance; words that
    got an id later, from patterns, are beyond its end;
    `single[id]` is the one-word sequence of an id or -1. `lengths` rise. The output arrays hold at least
    len(ids) × (1 + len(lengths)) entries. `codes` is room for 2 · TOKENS_AT_ONCE · len(lengths) numbers, `reach` for
    TOKENS_AT_ONCE: how many lengths fit at a token.
    """
    count, n_lengths, documents, known = 0, lengths.size, offsets.size - 1, roles.size
    mask = np.uint64(table.size - 1)
    slots = TOKENS_AT_ONCE * n_lengths  # where, behind the codes, the slots of the n-grams are kept
    ids, offsets, single, lengths, roles = (
        pointer(ids),
        pointer(offsets),
        pointer(single),
        pointer(lengths),
        pointer(roles),
    )
    table, records = pointer(table), pointer(records)
    starts, ends, targets = pointer(starts), pointer(ends), pointer(targets)
    codes, reach = pointer(codes), pointer(reach)
    for document in range(documents):
        begin, stop = offsets[document], offsets[document + 1]
        for low in range(begin, stop, TOKENS_AT_ONCE):
            high = min(low + TOKENS_AT_ONCE, stop)
            anything = False
            for i in range(low, high):
                token = np.int64(ids[i])
                reach[i - low] = -1
                if token < 0 or token >= known or roles[token] == 0:
                    continue
                anything = True
                reach[i - low] = 0
                if roles[token] & STARTS:
                    reach[i - low] = _hash_ngrams(ids, i, stop, lengths, n_lengths, codes, (i - low) * n_lengths)
                    for k in range(reach[i - low]):
                        prefetch(table, np.int64(codes[(i - low) * n_lengths + k] & mask))
            if not anything:
                continue
            for i in range(low, high):
                for at in range((i - low) * n_lengths, (i - low) * n_lengths + reach[i - low]):
                    slot = _next_slot(table, mask, codes[at] & mask, codes[at])
                    codes[slots + at] = slot
                    if table[np.int64(slot)] != 0:
                        prefetch(records, np.int64(table[np.int64(slot)] & LOWER_32) - 1)
            for i in range(low, high):
                if reach[i - low] < 0:
                    continue
                if single[np.int64(ids[i])] != EMPTY_SLOT:
                    starts[count] = i
                    ends[count] = i + 1
                    targets[count] = single[np.int64(ids[i])]
                    count += 1
                for k in range(reach[i - low]):
                    code, slot = codes[(i - low) * n_lengths + k], codes[slots + (i - low) * n_lengths + k]
                    while table[np.int64(slot)] != 0:
                        record = np.int64(table[np.int64(slot)] & LOWER_32) - 1
                        if _same(ids, i, lengths[k], records, record):
                            starts[count] = i
                            ends[count] = i + lengths[k]
                            targets[count] = records[record]
                            count += 1
                            break
                        slot = _next_slot(table, mask, (slot + np.uint64(1)) & mask, code)
    return count


@inlined
def _hash_ngrams(ids, i, stop, lengths, n_lengths, codes, at):  # type: ignore[no-untyped-def]
    """Hashes of the n-grams at i for each length; how many there are before the document or the known ids end."""
    code = np.uint64(0)
    done = 0
    for k in range(n_lengths):
        if i + lengths[k] > stop:
            return k
        while done < lengths[k]:
            if ids[i + done] < 0:
                return k
            code = _extend(code, ids[i + done])
            done += 1
        codes[at + k] = code
    return n_lengths


@inlined
def _next_slot(table, mask, slot, code):  # type: ignore[no-untyped-def]
    """Return the first slot from this one on that is empty or has the upper half of this hash."""
    while table[np.int64(slot)] != 0 and (table[np.int64(slot)] ^ code) & UPPER_32 != 0:
        slot = (slot + np.uint64(1)) & mask
    return slot


@inlined
def _same(ids, low, length, records, at):  # type: ignore[no-untyped-def]
    """Whether the record holds just the ids from `low` on."""
    if records[at + 1] != length:
        return False
    for k in range(length):  # noqa: SIM110 (numba)
        if records[at + 2 + k] != ids[low + k]:
            return False
    return True
