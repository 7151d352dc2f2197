"""The ids of words: a hash table, and how the bytes of a word become a key.

A slot of the table is two numbers: the key, and where the word is and its id (zero for an empty slot). A word of up to
eight bytes is its own key. The key of a longer one is a hash; its length and its bytes lie in `records`, eight bytes to
a number, at the place in the upper half of the slot's second number (plus one). The lower half is the id plus one.
"""

from typing import NamedTuple

import numpy as np

from alacarte._io.arrays import Bytes, Codes, Ints, Longs
from alacarte._io.compiled import inlined, inner, kernel, load_word, pointer


class WordTable(NamedTuple):
    """A hash table of words with 2 ** bits slots."""

    slots: Codes
    records: Codes
    bits: int


NOBODY = -1
ZERO, ONE = np.uint64(0), np.uint64(1)
LOWER_CASE = np.uint64(0x2020202020202020)  # the bit of each byte that sets lower case apart
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_HIGH = np.uint64(0x8080808080808080)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
LOWER_HALF = np.uint64(0xFFFFFFFF)
# Adding 0x80 - b to seven bits sets the eighth if they are at least b.
_FROM_CAPITAL_A = np.uint64((0x80 - 0x41) * 0x0101010101010101)
_BEYOND_CAPITAL_Z = np.uint64((0x80 - 0x5B) * 0x0101010101010101)


@inlined
def lowered(word, case):
    """Return eight bytes with ASCII letters in lower case, if `case` is LOWER_CASE and not 0."""
    bits = word & _LOW7
    capital = (bits + _FROM_CAPITAL_A) & ~(bits + _BEYOND_CAPITAL_Z) & ~word & _HIGH
    return word | ((capital >> np.uint64(2)) & case)


@inlined
def first_bytes(word, count):
    """Return the first `count` of eight bytes, one to eight of them; the others zero."""
    unused = np.uint64(64) - np.uint64(8 * count)
    return (word << unused) >> unused


@inlined
def hash_more(code, word):
    """Return a hash with eight more bytes."""
    code = (code ^ word) * _FACTOR
    return code ^ (code >> _HALF)


@inner
def long_key(text, low, high, case):
    """Return the key of more than eight bytes."""
    code = ZERO
    while high - low >= 8:
        code = hash_more(code, lowered(load_word(text, low), case))
        low += 8
    return code if high == low else hash_more(code, first_bytes(lowered(load_word(text, low), case), high - low))


@inlined
def slot_of(key, bits):
    """Return where to begin to look for a key: the uppermost bits of the product are the best mixed."""
    return np.int64((key * _FACTOR) >> np.uint64(64 - bits))


@inlined
def find_short(key, slots, bits):
    """Return the id of a word of up to eight bytes, or -1."""
    slot = slot_of(key, bits)
    while True:
        value = slots[2 * slot + 1]
        if slots[2 * slot] == key and value - ONE < LOWER_HALF:
            return np.int32(value - ONE)
        if value == ZERO:
            return np.int32(NOBODY)
        slot = (slot + 1) & ((1 << bits) - 1)


@inner
def find_long(key, text, low, high, case, slots, records, bits):
    """Return the id of text[low:high], whose key is a hash; or -1."""
    slot = slot_of(key, bits)
    while True:
        value = slots[2 * slot + 1]
        if value == ZERO:
            return np.int32(NOBODY)
        if slots[2 * slot] == key and value > LOWER_HALF:
            at = np.int64(value >> _HALF) - 1
            if np.int64(records[at]) == high - low:
                i = low
                while high - i >= 8 and lowered(load_word(text, i), case) == records[at + 1]:
                    i += 8
                    at += 1
                left = high - i
                if left == 0 or (left < 8 and first_bytes(lowered(load_word(text, i), case), left) == records[at + 1]):
                    return np.int32((value & LOWER_HALF) - ONE)
        slot = (slot + 1) & ((1 << bits) - 1)


@inlined
def is_short(text, low, high):
    """Whether text[low:high] is its own key: filled up with zeros, it must not be another word's."""
    return high - low <= 8 and (high == low or text[high - 1] != 0)


@inlined
def short_key(text, low, high):
    """Return the key of up to eight bytes."""
    return ZERO if high == low else first_bytes(load_word(text, low), high - low)


@inner
def look_up(text, low, high, slots, records, bits):
    """Return the id of text[low:high], or -1; seven bytes behind it may be read."""
    if is_short(text, low, high):
        return find_short(short_key(text, low, high), slots, bits)
    return find_long(long_key(text, low, high, ZERO), text, low, high, ZERO, slots, records, bits)


@kernel
def add_words(text: Bytes, bounds: Longs, first: int, table: tuple[Codes, Codes, int], at: int) -> None:
    """Put the words `text[bounds[i]:bounds[i + 1]]`, which have the ids from `first` on, into a hash table.

    There must be more slots than words; records are written from `at` on. Behind the text there are eight more bytes.
    """
    text_at, (slots, records, bits) = pointer(text), table
    for i in range(bounds.size - 1):
        low, high = bounds[i], bounds[i + 1]
        value = np.uint64(first + i + 1)
        if is_short(text_at, low, high):
            key = short_key(text_at, low, high)
        else:
            key = long_key(text_at, low, high, ZERO)
            value |= np.uint64(at + 1) << _HALF
            records[at] = high - low
            at += 1
            for k in range(low, high, 8):
                records[at] = first_bytes(load_word(text_at, k), min(high - k, 8))
                at += 1
        slot = slot_of(key, bits)
        while slots[2 * slot + 1] != ZERO:
            slot = (slot + 1) & ((1 << bits) - 1)
        slots[2 * slot] = key
        slots[2 * slot + 1] = value


@kernel
def look_up_all(text: Bytes, begins: Longs, ends: Longs, table: tuple[Codes, Codes, int], ids: Ints) -> None:
    """Write the ids of the words `text[begins[i]:ends[i]]`, behind the last of which there are eight more bytes."""
    slots, records, bits = table
    text_at, slots_at, records_at = pointer(text), pointer(slots), pointer(records)
    for i in range(begins.size):
        ids[i] = look_up(text_at, begins[i], ends[i], slots_at, records_at, bits)
