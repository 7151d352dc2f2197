"""Bytes → token ids without an object a token: the `words` and `whitespace` tokenizers, compiled.

There are three paths, each for what the one before it does not decide. *Plain* text (`_read_plain`: ASCII words,
brackets, marks before white space) is told apart 64 bytes at a time, each class of bytes as the bits of one number.
Next, one token is read eight bytes at a time in a machine word: letters and digits are told from the rest by arithmetic
on the whole word. That decides about words and numbers in ASCII that end cleanly, contractions, compounds and single
marks. A token of up to eight bytes is its own key in a hash table of the vocabulary.

All else takes the *careful* path, up to the next ASCII white space: *fold* writes the folded text (case, typographic
signs, invisible characters) with a class for each byte, *split* cuts that into tokens and looks each up. Where
normalisation may change something, or where a lower-case letter depends on its neighbours, the characters are first
brought into normal form one by one. No rule of the tokenizers looks across ASCII white space.

The rules are those of `alacarte.text.tokenizers`, which is the reference; what this module does not know (characters
beyond the tables, bytes that are no UTF-8) is left to it and only listed.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte._io.compiled import (
    announce,
    bytes_within,
    count_ones,
    inlined,
    inner,
    kernel,
    leading_zeros,
    load_word,
    pointer,
    prefetch,
    trailing_zeros,
)

announce(__name__, "the text encoder", 25)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

SPACE, WORD, PUNCTUATION, IGNORED = 0, 1, 2, 3
KIND = 3  # the bits of a class that hold one of these; the others are flags:
HARD = 4  # normalisation may change it or join it to another, or its lower case is not one character's alone
COMBINING = 8  # two such characters in a row may change places in normalisation
CASED, CASE_IGNORABLE = 16, 32  # for the capital sigma, whose lower case depends on its neighbours
TABLE = 0x20000  # code points with an entry; those beyond are left to the reference
NOBODY = -1
NOT_NORMAL, NOT_OURS, TOO_LONG = -1, -2, -3  # instead of a length


# Kernels get these with arrays, and hand them on with pointers in place of the arrays.


class Table(NamedTuple):
    """A hash table of words. A slot is two numbers: the key, and where the word is and its id (zero: an empty slot).

    A word of up to eight bytes is its own key. The key of a longer one is a hash; its length and its bytes lie in
    `records`, eight to a number, at the place that the upper half of the slot's second number tells (plus one). The
    lower half is the id plus one.
    """

    slots: Words
    records: Words
    bits: int  # of the number of slots


class Characters(NamedTuple):
    """What a tokenizer does to a character, by its code point; and the tables of normal form C."""

    classes: Bytes
    folded: Ints
    order: Bytes  # the canonical combining class
    decomposition: Ints  # where the full one begins in `parts`, which ends in a zero; 0: none; -1: beyond the tables
    parts: Ints
    pairs: Words  # a hash table of the pairs that compose: the first character << 32 | the second; zero: an empty slot
    composed: Ints  # what the pair in that slot composes to


class Unknown(NamedTuple):
    """Tokens without an id, if they are wanted: their places among the ids, where texts end, the texts, how many.

    They are in no order: some wait to be looked up.
    """

    wanted: bool
    places: Ints
    bounds: Longs
    text: Bytes
    total: Longs


class Scratch(NamedTuple):
    """Room for what becomes of `size` bytes: as text, with a class a byte, and as characters, twice.

    Then for tokens that wait to be looked up: their keys, and three numbers each (place among the ids, begin, end).
    """

    text: Bytes
    kinds: Bytes
    codes: Ints
    spare: Ints
    size: int
    keys: Words
    spots: Longs


class Work(NamedTuple):
    """All that a loop works with. `case` is CASE for lower case, else 0; words with an id below `known` are known."""

    data: Bytes
    ids: Ints
    case: np.uint64
    known: int
    table: Table
    characters: Characters
    unknown: Unknown
    scratch: Scratch

    def plain(self) -> tuple[Any, ...]:
        """As plain tuples, which numba takes in a tenth of the time."""
        return tuple(tuple(part) if isinstance(part, tuple) else part for part in self)


_APOSTROPHE, _HYPHEN, _PERIOD, _UNDERSCORE, _NEWLINE, _SPACE = 39, 45, 46, 95, 10, 32
_COMMA, _COLON, _SLASH, _AMPERSAND = 44, 58, 47, 38
_CAPITAL_SIGMA, _SIGMA, _FINAL_SIGMA = 0x3A3, 0x3C3, 0x3C2
_DOTTED_I, _DOT_ABOVE = 0x130, 0x307


@inlined
def _digit(byte):  # type: ignore[no-untyped-def]
    return 48 <= byte <= 57


# ----------------------------------------------------------------------------------- eight bytes at a time

_ZERO, _ONE, _TWO, _SEVEN = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(7)
_HIGH = np.uint64(0x8080808080808080)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_FIRST = np.uint64(0x80)  # the highest bit of the first byte
CASE = np.uint64(0x2020202020202020)  # what sets lower case apart
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_LOWER_HALF = np.uint64(0xFFFFFFFF)


def _each(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


# Adding 0x80 - b to seven bits sets the eighth if they are at least b.
_FROM_A, _BEYOND_Z = _each(0x80 - 0x61), _each(0x80 - 0x7B)
_FROM_CAPITAL_A, _BEYOND_CAPITAL_Z = _each(0x80 - 0x41), _each(0x80 - 0x5B)
_FROM_0, _BEYOND_9 = _each(0x80 - 0x30), _each(0x80 - 0x3A)
_FROM_TAB, _BEYOND_RETURN = _each(0x80 - 0x09), _each(0x80 - 0x0E)
_FROM_SEPARATOR, _BEYOND_SPACE = _each(0x80 - 0x1C), _each(0x80 - 0x21)


@inlined
def _word_ends(word):  # type: ignore[no-untyped-def]
    """The highest bit of each byte that is no ASCII letter and no digit."""
    bits = word & _LOW7
    small = bits | CASE
    letters = (small + _FROM_A) & ~(small + _BEYOND_Z)
    digits = (bits + _FROM_0) & ~(bits + _BEYOND_9)
    return (~(letters | digits) | word) & _HIGH


@inlined
def _space_ends(word):  # type: ignore[no-untyped-def]
    """The highest bit of each byte that is ASCII white space or no ASCII at all."""
    bits = word & _LOW7
    controls = (bits + _FROM_TAB) & ~(bits + _BEYOND_RETURN)
    spaces = (bits + _FROM_SEPARATOR) & ~(bits + _BEYOND_SPACE)
    return (controls | spaces | word) & _HIGH


@inlined
def _lowered(word, case):  # type: ignore[no-untyped-def]
    """The same with ASCII letters in lower case, where `case` is CASE and not 0."""
    bits = word & _LOW7
    capital = (bits + _FROM_CAPITAL_A) & ~(bits + _BEYOND_CAPITAL_Z) & ~word & _HIGH
    return word | ((capital >> _TWO) & case)


@inlined
def _before(ends):  # type: ignore[no-untyped-def]
    """All bits of the bytes before the first that `ends` marks."""
    return ((ends & (_ZERO - ends)) >> _SEVEN) - _ONE


@inlined
def _first_bytes(word, count):  # type: ignore[no-untyped-def]
    """The first `count` bytes, one to eight of them; the others zero."""
    unused = np.uint64(64) - np.uint64(8 * count)
    return (word << unused) >> unused


# --------------------------------------------------------------------------------------------- the hash table


@inlined
def _mixed(code, word):  # type: ignore[no-untyped-def]
    """A hash with eight more bytes."""
    code = (code ^ word) * _FACTOR
    return code ^ (code >> _HALF)


@inlined
def _slot(key, table):  # type: ignore[no-untyped-def]
    """Where to begin to look for a key: the uppermost bits of the product are the best mixed."""
    return np.int64((key * _FACTOR) >> np.uint64(64 - table.bits))


@inlined
def _next_slot(slot, table):  # type: ignore[no-untyped-def]
    return (slot + 1) & ((1 << table.bits) - 1)


@inlined
def _is_short(text, low, high):  # type: ignore[no-untyped-def]
    """Whether text[low:high] is its own key: filled up with zeros, it must not be another."""
    return high - low <= 8 and (high == low or text[high - 1] != 0)


@inlined
def _short_key(text, low, high):  # type: ignore[no-untyped-def]
    return _ZERO if high == low else _first_bytes(load_word(text, low), high - low)


@inner
def _long_key(text, low, high):  # type: ignore[no-untyped-def]
    code = _ZERO
    while high - low >= 8:
        code = _mixed(code, load_word(text, low))
        low += 8
    return code if high == low else _mixed(code, _first_bytes(load_word(text, low), high - low))


@inlined
def _find_short(key, table):  # type: ignore[no-untyped-def]
    """The id of a word of up to eight bytes, or -1."""
    slots = table.slots
    slot = _slot(key, table)
    while True:
        value = slots[2 * slot + 1]
        if slots[2 * slot] == key and value - _ONE < _LOWER_HALF:
            return np.int32(value - _ONE)
        if value == _ZERO:
            return np.int32(NOBODY)
        slot = _next_slot(slot, table)


@inner
def _find_long(key, text, low, high, case, table):  # type: ignore[no-untyped-def]
    """The id of text[low:high], lower-cased if `case` says so, whose key is a hash; or -1."""
    slots, records = table.slots, table.records
    slot = _slot(key, table)
    while True:
        value = slots[2 * slot + 1]
        if value == _ZERO:
            return np.int32(NOBODY)
        if slots[2 * slot] == key and value > _LOWER_HALF:
            at = np.int64(value >> _HALF) - 1
            if np.int64(records[at]) == high - low:
                i = low
                while high - i >= 8 and _lowered(load_word(text, i), case) == records[at + 1]:
                    i += 8
                    at += 1
                left = high - i
                if left == 0:
                    return np.int32((value & _LOWER_HALF) - _ONE)
                if left < 8 and _lowered(_first_bytes(load_word(text, i), left), case) == records[at + 1]:
                    return np.int32((value & _LOWER_HALF) - _ONE)
        slot = _next_slot(slot, table)


@inner
def _look_up(text, low, high, table):  # type: ignore[no-untyped-def]
    """The id of text[low:high], or -1; seven bytes behind it may be read."""
    if _is_short(text, low, high):
        return _find_short(_short_key(text, low, high), table)
    return _find_long(_long_key(text, low, high), text, low, high, _ZERO, table)


@kernel
def add_words(text: Bytes, bounds: Longs, first: int, table: Table, at: int) -> None:
    """Put the words `text[bounds[i]:bounds[i + 1]]`, which have the ids from `first` on, into a hash table.

    The table has a power of two slots, more than words; records are written from `at` on. Behind the text there are
    eight more bytes.
    """
    slots, records = table.slots, table.records
    bytes_at = pointer(text)
    for i in range(bounds.size - 1):
        low, high = bounds[i], bounds[i + 1]
        value = np.uint64(first + i + 1)
        if _is_short(bytes_at, low, high):
            key = _short_key(bytes_at, low, high)
        else:
            key = _long_key(bytes_at, low, high)
            value |= np.uint64(at + 1) << _HALF
            records[at] = high - low
            at += 1
            for k in range(low, high, 8):
                records[at] = _first_bytes(load_word(bytes_at, k), min(high - k, 8))
                at += 1
        slot = _slot(key, table)
        while slots[2 * slot + 1] != _ZERO:
            slot = _next_slot(slot, table)
        slots[2 * slot] = key
        slots[2 * slot + 1] = value


@inlined
def _table_pointers(table):  # type: ignore[no-untyped-def]
    slots, records, bits = table
    return Table(pointer(slots), pointer(records), bits)


@kernel
def look_up_all(text: Bytes, size: int, count: int, table: Table) -> tuple[Ints, Longs, Longs]:
    """(ids, where words end, words in each sequence) of `count` sequences; a space ends a word, a line's end both.

    The text is text[:size], and behind it there are eight more bytes.
    """
    most = size // 2 + count
    ids, ends, lengths = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64), np.zeros(count, dtype=np.int64)
    bytes_at, words_at = pointer(text), _table_pointers(table)
    low = words = sequence = 0
    for i in range(size):
        byte = text[i]
        if byte != _SPACE and byte != _NEWLINE:
            continue
        ids[words] = _look_up(bytes_at, low, i, words_at)
        ends[words] = i
        words += 1
        lengths[sequence] += 1
        sequence += byte == _NEWLINE
        low = i + 1
    return ids[:words], ends[:words], lengths


# --------------------------------------------------------------------------------------------------- fold


@inlined
def _follows(byte):  # type: ignore[no-untyped-def]
    """Whether a byte continues a character."""
    return byte & 0xC0 == 0x80


@inlined
def _decode(data, i, high):  # type: ignore[no-untyped-def]
    """(code point, bytes) of the character at i, which is not ASCII; no bytes if it is none, or beyond the tables.

    Well-formed UTF-8 only (Unicode, table 3-7).
    """
    byte = np.int32(data[i])
    if 0xC2 <= byte <= 0xDF:
        if i + 1 < high and _follows(data[i + 1]):
            return np.int32((byte & 0x1F) << 6 | (data[i + 1] & 0x3F)), 2
    elif 0xE0 <= byte <= 0xEF:
        if i + 2 < high and _follows(data[i + 1]) and _follows(data[i + 2]):
            code = np.int32((byte & 0x0F) << 12 | (np.int32(data[i + 1]) & 0x3F) << 6 | (data[i + 2] & 0x3F))
            if code >= 0x800 and not 0xD800 <= code <= 0xDFFF:
                return code, 3
    elif byte == 0xF0 and i + 3 < high and _follows(data[i + 1]) and _follows(data[i + 2]) and _follows(data[i + 3]):
        upper = (np.int32(data[i + 1]) & 0x3F) << 12 | (np.int32(data[i + 2]) & 0x3F) << 6
        code = np.int32(upper | (data[i + 3] & 0x3F))
        if 0x10000 <= code < TABLE:
            return code, 4
    return np.int32(0), 0


@inlined
def _encode(code, kind, text, kinds, n):  # type: ignore[no-untyped-def]
    """Write one character at n; where the next one goes. Up to four bytes there are overwritten."""
    kinds[n] = kinds[n + 1] = kinds[n + 2] = kinds[n + 3] = kind
    if code < 0x80:
        text[n] = code
        return n + 1
    if code < 0x800:
        text[n] = 0xC0 | (code >> 6)
        text[n + 1] = 0x80 | (code & 0x3F)
        return n + 2
    if code < 0x10000:
        text[n] = 0xE0 | (code >> 12)
        text[n + 1] = 0x80 | ((code >> 6) & 0x3F)
        text[n + 2] = 0x80 | (code & 0x3F)
        return n + 3
    text[n] = 0xF0
    text[n + 1] = 0x80 | ((code >> 12) & 0x3F)
    text[n + 2] = 0x80 | ((code >> 6) & 0x3F)
    text[n + 3] = 0x80 | (code & 0x3F)
    return n + 4


@inner
def _fold(data, low, high, characters, text, kinds):  # type: ignore[no-untyped-def]
    """Fold data[low:high] character by character into `text`, with a class a byte in `kinds`.

    The length; NOT_NORMAL if characters depend on each other; NOT_OURS if the reference has to decide.
    """
    classes, folded = characters.classes, characters.folded
    n = 0
    i = low
    combining = False
    while i < high:
        byte = data[i]
        if byte < 128:
            text[n] = folded[byte]
            kinds[n] = classes[byte] & KIND
            n += 1
            i += 1
            combining = False
            continue
        code, width = _decode(data, i, high)
        if width == 0:
            return NOT_OURS
        i += width
        kind = classes[code]
        if kind & HARD:
            return NOT_NORMAL
        if kind & COMBINING:
            if combining:
                return NOT_NORMAL
            combining = True
        else:
            combining = False
        if kind & KIND != IGNORED:
            n = _encode(folded[code], kind & KIND, text, kinds, n)
    return n


# ------------------------------------------------------------------------------------- characters that depend


@inner
def _fold_dependent(data, low, high, characters, whitespace, scratch):  # type: ignore[no-untyped-def]
    """The same as `_fold` for any characters: into normal form C, and lower case with a view to the neighbours.

    In the order of the tokenizers: `words` normalises first, `whitespace-lower` last.
    """
    classes = characters.classes
    text, kinds, codes, spare = scratch.text, scratch.kinds, scratch.codes, scratch.spare
    count = 0
    i = low
    while i < high:
        code, width = np.int32(data[i]), 1
        if code >= 128:
            code, width = _decode(data, i, high)
            if width == 0:
                return NOT_OURS
        i += width
        codes[count] = code
        count += 1
    if whitespace:
        count = _fold_codes(data, low, codes, count, characters, spare)
        count = _normalise(spare, count, characters, codes)
    else:
        count = _normalise(codes, count, characters, spare)
        if count < 0:
            return NOT_OURS
        kept = 0
        for k in range(count):
            if classes[spare[k]] & KIND != IGNORED:
                spare[kept] = spare[k]
                kept += 1
        count = _fold_codes(data, low, spare, kept, characters, codes)
    if count < 0:
        return NOT_OURS
    n = 0
    for k in range(count):
        n = _encode(codes[k], classes[codes[k]] & KIND, text, kinds, n)
    return n


@inner
def _fold_codes(data, low, codes, count, characters, out):  # type: ignore[no-untyped-def]
    """Each character as the tokenizer wants it; `data` before `low` is ASCII back to the last white space."""
    folded = characters.folded
    lower = folded[65] != 65
    n = 0
    for k in range(count):
        code = codes[k]
        if lower and code == _DOTTED_I:
            out[n] = 105
            out[n + 1] = _DOT_ABOVE
            n += 2
            continue
        if lower and code == _CAPITAL_SIGMA:
            out[n] = _FINAL_SIGMA if _is_final(data, low, codes, count, k, characters.classes) else _SIGMA
        else:
            out[n] = folded[code]
        n += 1
    return n


@inner
def _is_final(data, low, codes, count, place, classes):  # type: ignore[no-untyped-def]
    """Whether a sigma at codes[place] ends a word: a cased letter before it, none behind; some signs do not count."""
    k = place - 1
    while k >= 0 and classes[codes[k]] & CASE_IGNORABLE:
        k -= 1
    if k >= 0:
        before = classes[codes[k]] & CASED
    else:
        i = low - 1
        while i >= 0 and data[i] < 128 and classes[data[i]] & CASE_IGNORABLE:
            i -= 1
        before = classes[data[i]] & CASED if i >= 0 and data[i] < 128 else np.uint8(0)
    if not before:
        return False
    k = place + 1
    while k < count and classes[codes[k]] & CASE_IGNORABLE:
        k += 1
    return k == count or not classes[codes[k]] & CASED


@inner
def _normalise(codes, count, characters, out):  # type: ignore[no-untyped-def]
    """Normal form C of codes[:count], in `out`; its length or NOT_OURS. Hangul syllables need not be taken apart."""
    order, decomposition, parts = characters.order, characters.decomposition, characters.parts
    n = 0
    for k in range(count):
        at = decomposition[codes[k]]
        if at == 0:
            out[n] = codes[k]
            n += 1
            continue
        if at < 0:
            return NOT_OURS
        while parts[at] != 0:
            out[n] = parts[at]
            n += 1
            at += 1
    for k in range(1, n):  # combining characters in their canonical order
        code = out[k]
        rank = order[code]
        place = k
        while rank and place > 0 and order[out[place - 1]] > rank:
            out[place] = out[place - 1]
            place -= 1
        out[place] = code
    kept = 0
    starter = -1
    highest = -1  # the rank of the last combining character since the starter that was not composed with it
    for k in range(n):
        code = out[k]
        rank = np.int64(order[code])
        if starter >= 0 and highest < rank:
            joined = _composed(out[starter], code, characters)
            if joined:
                out[starter] = joined
                continue
        if rank == 0:
            starter = kept
            highest = -1
        else:
            highest = rank  # type: ignore[assignment]
        out[kept] = code
        kept += 1
    return kept


PAIR_SLOTS = 1 << 12


@kernel
def pair_slot(pair: np.uint64) -> int:
    """Where to begin to look for a pair of characters."""
    return np.int64((pair * _FACTOR) >> np.uint64(52))  # type: ignore[return-value]


@inner
def _composed(first, second, characters):  # type: ignore[no-untyped-def]
    """The character that two compose to, or 0."""
    if 0x1100 <= first < 0x1113 and 0x1161 <= second < 0x1176:
        return np.int32(0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28)
    if 0xAC00 <= first < 0xD7A4 and 0x11A8 <= second < 0x11C3 and (first - 0xAC00) % 28 == 0:
        return np.int32(first + second - 0x11A7)
    if second < 0x300:  # as all ASCII
        return np.int32(0)
    pairs = characters.pairs
    wanted = np.uint64(first) << _HALF | np.uint64(second)
    slot = pair_slot(wanted)
    while pairs[slot] != wanted:
        if pairs[slot] == _ZERO:
            return np.int32(0)
        slot = (slot + 1) & (PAIR_SLOTS - 1)
    return characters.composed[slot]


# -------------------------------------------------------------------------------------------------- split


# Everything that writes ids takes `n`, how many there are, and returns how many there are then.


@inner
def _remember(text, low, high, case, n, unknown):  # type: ignore[no-untyped-def]
    """Keep the text of a token that has no id, where that is asked for."""
    m = unknown.total[0]
    unknown.places[m] = n
    begin = unknown.bounds[m]
    for k in range(high - low):
        byte = text[low + k]
        unknown.text[begin + k] = byte | 32 if case and 65 <= byte <= 90 else byte
    unknown.bounds[m + 1] = begin + high - low
    unknown.total[0] = m + 1


@inner
def _emit(text, low, high, token, ids, n, unknown):  # type: ignore[no-untyped-def]
    if token < 0 and unknown.wanted:
        _remember(text, low, high, _ZERO, n, unknown)
    ids[n] = token
    return n + 1


@inner
def _emit_found(text, low, high, table, ids, n, unknown):  # type: ignore[no-untyped-def]
    return _emit(text, low, high, _look_up(text, low, high, table), ids, n, unknown)


@inner
def _joiner(text, kinds, i):  # type: ignore[no-untyped-def]
    """How many bytes at i, after a run of word characters, join it to the next run; 0 if none do."""
    byte = text[i]
    if byte == _APOSTROPHE or byte == _SLASH or byte == _AMPERSAND or byte == _HYPHEN:
        return 1 if kinds[i + 1] == WORD else 0
    if byte == _PERIOD:
        if kinds[i + 1] == WORD:
            return 1
        return 2 if text[i + 1] == _HYPHEN and kinds[i + 2] == WORD else 0
    if byte == _COMMA or byte == _COLON:
        return 1 if _digit(text[i - 1]) and _digit(text[i + 1]) else 0
    return 0


@inner
def _split_words(text, kinds, size, known, table, ids, n, unknown):  # type: ignore[no-untyped-def]
    """Tokens of a folded text by the rules of `words`."""
    i = 0
    while i < size:
        kind = kinds[i]
        if kind == SPACE:
            i += 1
            continue
        if kind == WORD or (text[i] == _APOSTROPHE and kinds[i + 1] == WORD):
            start = i
            simple = kind == WORD
            i += kind != WORD
            while kinds[i] == WORD:
                simple = simple and text[i] != _UNDERSCORE
                i += 1
            skip = _joiner(text, kinds, i)
            if skip == 0 and simple:
                n = _emit_found(text, start, i, table, ids, n, unknown)
                continue
            while skip:
                i += skip
                while kinds[i] == WORD:
                    i += 1
                skip = _joiner(text, kinds, i)
            if text[i] == _PERIOD and text[i + 1] != _PERIOD:
                i += 1
            n = _split_compound(text, start, i, known, table, ids, n, unknown)
            continue
        # Punctuation: brackets and double quotes alone, else a run of one character.
        start = i
        byte = text[i]
        width = 1
        if byte >= 0xF0:
            width = 4
        elif byte >= 0xE0:
            width = 3
        elif byte >= 0xC0:
            width = 2
        i += width
        if not (byte == 40 or byte == 41 or byte == 91 or byte == 93 or byte == 123 or byte == 125 or byte == 34):
            while i + width <= size:
                same = True
                for k in range(width):
                    if text[i + k] != text[start + k]:
                        same = False
                        break
                if not same:
                    break
                i += width
        n = _emit_found(text, start, i, table, ids, n, unknown)
    return n


@inner
def _knows(token, known):  # type: ignore[no-untyped-def]
    return 0 <= token < known


@inner
def _contraction(text, low, high):  # type: ignore[no-untyped-def]
    """Where a contraction begins that text[low:high] ends in (n't 's 're 've 'll 'd 'm), or -1."""
    size = high - low
    a = text[high - 1] | 32
    b = text[high - 2] | 32 if size >= 2 else 0
    if size > 3 and a == 116 and text[high - 2] == _APOSTROPHE and text[high - 3] | 32 == 110:
        return high - 3
    if size > 2 and text[high - 2] == _APOSTROPHE and (a == 115 or a == 100 or a == 109):
        return high - 2
    ending = (a == 101 and (b == 114 or b == 118)) or (a == 108 and b == 108)
    if size > 3 and text[high - 3] == _APOSTROPHE and ending:
        return high - 3
    return -1


@inner
def _split_compound(text, low, high, known, table, ids, n, unknown):  # type: ignore[no-untyped-def]
    """The twin of `tokenizers._split_compound`."""
    period = text[high - 1] == _PERIOD
    if period:
        inner = False
        for k in range(low, high - 1):
            if text[k] == _PERIOD:
                inner = True
        if inner:
            token = _look_up(text, low, high, table)
            if _knows(token, known):
                return _emit(text, low, high, token, ids, n, unknown)
        high -= 1
    stop = high
    if text[low] == _APOSTROPHE:
        token = _look_up(text, low, high, table)
        if _knows(token, known):
            n = _emit(text, low, high, token, ids, n, unknown)
            low = high
        else:
            n = _emit_found(text, low, low + 1, table, ids, n, unknown)
            low += 1
    suffix = -1
    apostrophe = False
    for k in range(low, high):
        if text[k] == _APOSTROPHE:
            apostrophe = True
    if apostrophe:
        suffix = _contraction(text, low, high)
        if suffix >= 0:
            if _knows(_look_up(text, suffix, high, table), known):
                high = suffix
            else:
                suffix = -1
    if low < high:
        n = _split_hyphens(text, low, high, known, table, ids, n, unknown)
    if suffix >= 0:
        n = _emit_found(text, suffix, stop, table, ids, n, unknown)
    if period:
        n = _emit_found(text, stop, stop + 1, table, ids, n, unknown)
    return n


@inner
def _split_hyphens(text, low, high, known, table, ids, n, unknown):  # type: ignore[no-untyped-def]
    token = _look_up(text, low, high, table)
    if _knows(token, known):
        return _emit(text, low, high, token, ids, n, unknown)
    start = low
    for i in range(low, high + 1):
        if i < high and text[i] != _HYPHEN:
            continue
        if start < i:
            token = _look_up(text, start, i, table)
            if _knows(token, known):
                n = _emit(text, start, i, token, ids, n, unknown)
            else:
                n = _split_pieces(text, start, i, table, ids, n, unknown)
        if i < high:
            n = _emit_found(text, i, i + 1, table, ids, n, unknown)
        start = i + 1
    return n


@inner
def _joins(text, low, high, i):  # type: ignore[no-untyped-def]
    """Whether the byte at i is a joiner that parts a piece of text[low:high]: not within a number."""
    byte = text[i]
    if byte == _PERIOD or byte == _COMMA or byte == _COLON:
        return not (i > low and i + 1 < high and _digit(text[i - 1]) and _digit(text[i + 1]))
    return byte == _UNDERSCORE or byte == _SLASH or byte == _AMPERSAND or byte == _APOSTROPHE


@inner
def _split_pieces(text, low, high, table, ids, n, unknown):  # type: ignore[no-untyped-def]
    i = low
    while i < high:
        start = i
        if _joins(text, low, high, i):
            i += 1
            while i < high and text[i] == text[start]:
                i += 1
        else:
            while i < high and not _joins(text, low, high, i):
                i += 1
        n = _emit_found(text, start, i, table, ids, n, unknown)
    return n


@inner
def _split_spaces(text, kinds, size, table, ids, n, unknown):  # type: ignore[no-untyped-def]
    i = 0
    while i < size:
        if kinds[i] == SPACE:
            i += 1
            continue
        start = i
        while kinds[i] != SPACE:
            i += 1
        n = _emit_found(text, start, i, table, ids, n, unknown)
    return n


# ------------------------------------------------------------------------------------- tokens as they lie there

# What a byte may be to the token before it.
_CLEAN, _JOINS, _PERIODS, _IN_NUMBERS, _CAREFUL = 0, 1, 2, 3, 4


Flags = npt.NDArray[np.bool_]


def _kinds_of_bytes() -> tuple[Bytes, Flags, Flags, Flags, Flags]:
    """What a byte is behind a word; whether a word may go on with it, it is punctuation, stands alone, is a space."""
    behind = np.full(256, _CLEAN, np.uint8)
    in_word, mark, alone, space = np.zeros((4, 256), np.bool_)
    in_word[128:] = True
    for code in range(128):
        in_word[code] = chr(code).isalnum() or code == _UNDERSCORE
        mark[code] = 32 < code < 127 and not in_word[code]
        alone[code] = chr(code) in '()[]{}"'
        space[code] = chr(code).isspace()
    behind[in_word] = _CAREFUL
    behind[[_APOSTROPHE, _HYPHEN, _SLASH, _AMPERSAND]] = _JOINS
    behind[_PERIOD] = _PERIODS
    behind[[_COMMA, _COLON]] = _IN_NUMBERS
    return behind, in_word, mark, alone, space


_BEHIND, _IN_WORD, _MARK, _ALONE, _WHITE = _kinds_of_bytes()


@inlined
def _read_word(data, i, safe, case):  # type: ignore[no-untyped-def]
    """(key, end) of the letters and digits from i on, which may be none; -1 as the end if that lies beyond `safe`."""
    word = load_word(data, i)
    ends = _word_ends(word)
    if ends != _ZERO:
        return (word | case) & _before(ends), i + (trailing_zeros(ends) >> 3)
    first = word | case  # digits have this bit anyway
    code = _mixed(_ZERO, first)
    end = i + 8
    while end <= safe:
        word = load_word(data, end)
        ends = _word_ends(word)
        if ends == _ZERO:
            code = _mixed(code, word | case)
            end += 8
            continue
        if ends & _FIRST == _ZERO:
            return _mixed(code, (word | case) & _before(ends)), end + (trailing_zeros(ends) >> 3)
        return (first, end) if end == i + 8 else (code, end)
    return code, np.int64(-1)


@inlined
def _read_token(data, i, safe, case):  # type: ignore[no-untyped-def]
    """The same for anything in ASCII up to white space."""
    word = load_word(data, i)
    ends = _space_ends(word)
    first = _lowered(word, case)
    if ends != _ZERO:
        return first & _before(ends), i + (trailing_zeros(ends) >> 3)
    code = _mixed(_ZERO, first)
    end = i + 8
    while end <= safe:
        word = load_word(data, end)
        ends = _space_ends(word)
        if ends == _ZERO:
            code = _mixed(code, _lowered(word, case))
            end += 8
            continue
        if ends & _FIRST == _ZERO:
            return _mixed(code, _lowered(word, case) & _before(ends)), end + (trailing_zeros(ends) >> 3)
        return (first, end) if end == i + 8 else (code, end)
    return code, np.int64(-1)


@inlined
def _ends_cleanly(data, end):  # type: ignore[no-untyped-def]
    """Whether a word of letters and digits that ends at `end` is a token, whatever comes behind."""
    behind = _BEHIND[data[end]]
    if behind == _CLEAN:
        return True
    if behind == _CAREFUL:
        return False
    following = data[end + 1]
    if behind == _JOINS:
        return not _IN_WORD[following]
    if behind == _PERIODS:
        return not _IN_WORD[following] and following != _HYPHEN
    return not _digit(data[end - 1]) or not (_digit(following) or following >= 128)


@inner
def _read_compound(data, i, safe, case, text, room):  # type: ignore[no-untyped-def]
    """The end of the compound that begins at i, which is then in `text`; -1 if it is not all in ASCII or too long."""
    end = i + (data[i] == _APOSTROPHE)
    while end <= safe:
        byte, following = data[end], data[end + 1]
        if byte >= 128:
            return -1
        if _IN_WORD[byte]:
            end += 1
            continue
        behind = _BEHIND[byte]
        if behind == _CLEAN:
            break
        if following >= 128:
            return -1
        if behind == _PERIODS and following == _HYPHEN:
            if data[end + 2] >= 128:
                return -1
            if not _IN_WORD[data[end + 2]]:
                break
            end += 2
        elif behind == _IN_NUMBERS:
            if not (_digit(data[end - 1]) and _digit(following)):
                break
            end += 1
        else:
            if not _IN_WORD[following]:
                break
            end += 1
    if end > safe or end - i >= room:
        return -1
    if data[end] == _PERIOD and data[end + 1] != _PERIOD:
        end += 1
    for k in range(end - i):
        byte = data[i + k]
        text[k] = byte | 32 if case and 65 <= byte <= 90 else byte
    return end


# Tokens wait to be looked up until there are some: the memory of their slots is fetched meanwhile.
BATCH = 128
_MOST_WORDS = 32  # in 64 bytes


@inner
def _resolve(waiting, work):  # type: ignore[no-untyped-def]
    """Look up the tokens that are waiting; none are then."""
    keys, spots, slots = work.scratch.keys, work.scratch.spots, work.table.slots
    short, long = waiting
    for at in range(short):
        key = keys[at]
        slot = _slot(key, work.table)
        value = slots[2 * slot + 1]
        if slots[2 * slot] == key and value - _ONE < _LOWER_HALF:  # the commonest case, without a loop
            token = np.int32(value - _ONE)
        else:
            token = _find_short(key, work.table)
            if token < 0 and work.unknown.wanted:
                _remember(work.data, spots[3 * at + 1], spots[3 * at + 2], work.case, spots[3 * at], work.unknown)
        work.ids[spots[3 * at]] = token
    for at in range(BATCH, BATCH + long):
        n, low, high = spots[3 * at], spots[3 * at + 1], spots[3 * at + 2]
        token = _find_long(keys[at], work.data, low, high, work.case, work.table)
        if token < 0 and work.unknown.wanted:
            _remember(work.data, low, high, work.case, n, work.unknown)
        work.ids[n] = token
    return 0, 0


@inlined
def _add_waiting(key, n, low, high, waiting, work):  # type: ignore[no-untyped-def]
    """One more token, data[low:high], that gets the id at n; how many wait then: (short ones, long ones)."""
    keys, spots = work.scratch.keys, work.scratch.spots
    short, long = waiting
    is_long = high - low > 8
    at = BATCH + long if is_long else short
    prefetch(work.table.slots, 2 * _slot(key, work.table))
    keys[at] = key
    spots[3 * at] = n
    spots[3 * at + 1] = low
    spots[3 * at + 2] = high
    return short + (not is_long), long + is_long


@inlined
def _make_room(waiting, most, work):  # type: ignore[no-untyped-def]
    """Look up the tokens that wait if there are more than `most` of one kind."""
    short, long = waiting
    return _resolve(waiting, work) if short > most or long > most else waiting


@inlined
def _wait(key, n, low, high, waiting, most, work):  # type: ignore[no-untyped-def]
    """One more token that waits, and no more than `most` of one kind."""
    return _make_room(_add_waiting(key, n, low, high, waiting, work), most, work)


# ------------------------------------------------------------------------------------------------- the loops


@inlined
def _chunk_end(data, i, size):  # type: ignore[no-untyped-def]
    """Where the next ASCII white space is, or the end of the data."""
    while i < size and not _WHITE[data[i]]:
        i += 1
    return i


@inlined
def _reach(data, low, high, safe, size):  # type: ignore[no-untyped-def]
    """How far to go on from data[low:high] at once: over more chunks in one line that begin with other than ASCII."""
    while high < safe and high - low < 512 and data[high] == _SPACE and load_word(data, high + 1) & _HIGH:
        high = _chunk_end(data, high + 1, size)
    return high


@inner
def _careful(low, high, whitespace, n, work):  # type: ignore[no-untyped-def]
    """Ids of the tokens of data[low:high], which white space or the end of the data follows; where they end."""
    text, kinds = work.scratch.text, work.scratch.kinds
    length = _fold(work.data, low, high, work.characters, text, kinds)
    if length == NOT_NORMAL:
        length = _fold_dependent(work.data, low, high, work.characters, whitespace, work.scratch)
    if length < 0:
        return NOT_OURS
    for k in range(length, length + 4):  # so that looking ahead needs no check
        text[k] = 32
        kinds[k] = SPACE
    if whitespace:
        return _split_spaces(text, kinds, length, work.table, work.ids, n, work.unknown)
    return _split_words(text, kinds, length, work.known, work.table, work.ids, n, work.unknown)


@inner
def _read_chunk(i, size, safe, whitespace, n, work):  # type: ignore[no-untyped-def]
    """(where it ends, where its ids end) of what is read carefully from i on.

    Instead of the second, NOT_OURS if the reference has to decide, and TOO_LONG if there is no room for the first.
    """
    chunk = _chunk_end(work.data, i, size)
    high = _reach(work.data, i, chunk, safe, size)
    if high - i > work.scratch.size:
        return high, TOO_LONG
    after = _careful(i, high, whitespace, n, work)
    if after == NOT_OURS and high > chunk:
        return chunk, _careful(i, chunk, whitespace, n, work)
    return high, after


@inner
def _leave(left, count, document, n, low, high, data):  # type: ignore[no-untyped-def]
    """List data[low:high] among what the reference has to do."""
    if count == left.shape[0]:
        longer = np.empty((2 * count, 5), dtype=np.int64)
        longer[:count] = left
        left = longer
    begin = low
    while begin > 0 and not _WHITE[data[begin - 1]]:
        begin -= 1
    left[count, 0] = document
    left[count, 1] = n
    left[count, 2] = begin
    left[count, 3] = low
    left[count, 4] = high
    return left


@inlined
def _work_pointers(work):  # type: ignore[no-untyped-def]
    data, ids, case, known, table, characters, unknown, scratch = work
    classes, folded, order, decomposition, parts, pairs, composed = characters
    wanted, places, bounds, unknown_text, total = unknown
    text, kinds, codes, spare, size, keys, spots = scratch
    return Work(
        pointer(data),
        pointer(ids),
        case,
        known,
        _table_pointers(table),
        Characters(
            pointer(classes),
            pointer(folded),
            pointer(order),
            pointer(decomposition),
            pointer(parts),
            pointer(pairs),
            pointer(composed),
        ),
        Unknown(wanted, pointer(places), pointer(bounds), pointer(unknown_text), pointer(total)),
        Scratch(pointer(text), pointer(kinds), pointer(codes), pointer(spare), size, pointer(keys), pointer(spots)),
    )


@inlined
def _key_of(first, second, size):  # type: ignore[no-untyped-def]
    """The key of a token of one to sixteen bytes from the two words that it begins with."""
    first, second = _first_bytes(first, min(size, 8)), _first_bytes(second, min(max(size - 8, 1), 8))
    return first if size <= 8 else _mixed(_mixed(_ZERO, first), second)


@inner
def _key_in_case(data, low, high, case):  # type: ignore[no-untyped-def]
    """The key of more than eight bytes of ASCII."""
    code = _ZERO
    while high - low >= 8:
        code = _mixed(code, _lowered(load_word(data, low), case))
        low += 8
    return code if high == low else _mixed(code, _first_bytes(_lowered(load_word(data, low), case), high - low))


@inlined
def _fetch(data, low, high, work):  # type: ignore[no-untyped-def]
    """Ask for the memory of the slot in which a token of up to sixteen bytes is looked for."""
    size = high - low
    first, second = _lowered(load_word(data, low), work.case), _lowered(load_word(data, low + 8), work.case)
    prefetch(work.table.slots, 2 * _slot(_key_of(first, second, max(size, 1)), work.table))


@inlined
def _fetch_compound(data, low, joint, high, work):  # type: ignore[no-untyped-def]
    """Ask for the slots of a chunk that is not plain, of its part before `joint` and of that behind."""
    if not _IN_WORD[data[high - 1]]:
        high -= 1
    _fetch(data, low, high, work)
    _fetch(data, low, joint, work)
    _fetch(data, joint + 1, high, work)


@inner
def _read_plain(whitespace, i, last, n, documents, offsets, waiting, marks, work):  # type: ignore[no-untyped-def]
    """Read plain chunks of text from i on, as far as they go: (i, n, documents, waiting) behind them.

    A chunk is what lies between spaces and lines' ends. For `whitespace`, it is plain if it is in ASCII. For `words`,
    if it has only ASCII letters, digits, brackets and double quotation marks, and other marks only right before one of
    these or before white space. 64 bytes at a time are told apart, each class of bytes as the bits of one number; the
    rest is arithmetic on these numbers. `last` is where 64 bytes, and sixteen behind them, can be read for the last
    time.
    """
    data, case = work.data, work.case
    while i <= last:
        lines = bytes_within(data, i, 0, _NEWLINE, 1)
        white = bytes_within(data, i, 0, _SPACE, 1) | lines
        words, marks_at = bytes_within(data, i, 0, 33, 94), _ZERO
        if not whitespace:
            visible = words
            words = bytes_within(data, i, 32, 97, 26) | bytes_within(data, i, 0, 48, 10)
            alone = bytes_within(data, i, 1, 41, 1) | bytes_within(data, i, 0, 34, 1)  # ( ) and "
            alone |= bytes_within(data, i, 32, 123, 1) | bytes_within(data, i, 32, 125, 1)  # [ ] { }
            marks_at = visible & ~words & ~bytes_within(data, i, 0, _UNDERSCORE, 1)
            marks_at &= alone | ((alone | white) >> _ONE)
        other = ~(words | white | marks_at)
        before = (other & (_ZERO - other)) - _ONE  # the bits below the first byte that is not plain
        ending = white & before
        unused = leading_zeros(ending)
        if other != _ZERO and white & ~before != _ZERO:
            _fetch_compound(data, i + 64 - unused, i + trailing_zeros(other), i + trailing_zeros(white & ~before), work)
        if ending == _ZERO:
            break
        plain = ~_ZERO >> np.uint64(unused)
        words &= plain
        marks_at &= plain
        begins = words & ~(words << _ONE)
        ends = ~words & (words << _ONE)
        tokens = begins | marks_at
        waiting = _make_room(waiting, BATCH - _MOST_WORDS, work)
        while begins != _ZERO:
            low, high = i + trailing_zeros(begins), i + trailing_zeros(ends)
            place = n + count_ones(tokens & (begins ^ (begins - _ONE))) - 1
            begins &= begins - _ONE
            ends &= ends - _ONE
            size = high - low
            if whitespace:
                key = _key_of(_lowered(load_word(data, low), case), _lowered(load_word(data, low + 8), case), size)
            else:  # letters and digits only; digits have this bit anyway
                key = _key_of(load_word(data, low) | case, load_word(data, low + 8) | case, size)
            if size > 16:
                key = _key_in_case(data, low, high, case)
            waiting = _add_waiting(key, place, low, high, waiting, work)
        while marks_at != _ZERO:
            place, at = n + count_ones(tokens & (marks_at ^ (marks_at - _ONE))) - 1, i + trailing_zeros(marks_at)
            marks_at &= marks_at - _ONE
            work.ids[place] = marks[data[at]]
            if marks[data[at]] < 0 and work.unknown.wanted:
                _remember(data, at, at + 1, case, place, work.unknown)
        lines &= plain
        while lines != _ZERO:
            offsets[documents] = n + count_ones(tokens & (lines ^ (lines - _ONE)))
            documents += 1
            lines &= lines - _ONE
        n += count_ones(tokens)
        i += 64 - unused
    return i, n, documents, waiting


@inner
def _contraction_ids(table, known, case):  # type: ignore[no-untyped-def]
    """The ids of 's, 'd and 'm by their letter as it is written, if they are known, else -1."""
    found = np.full(128, NOBODY, dtype=np.int32)
    for letter in (83, 115, 68, 100, 77, 109):
        written = np.uint64(letter) | (case & np.uint64(32))
        token = _find_short(np.uint64(_APOSTROPHE) | (written << np.uint64(8)), table)
        if _knows(token, known):
            found[letter] = token
    return found


@kernel
def encode_words(arrays: tuple[Any, ...], offsets: Longs) -> tuple[int, int, Longs, int]:
    """Ids of all tokens of all lines by the rules of `words`: (ids written, documents, what is left, room needed).

    `arrays` is a plain `Work`. `offsets` gets the end of each document. What is left to the reference has a row
    (document, place among the ids, where its chunk of text begins, where it begins itself, where it ends) and no ids
    yet. If more room is needed than `scratch` has, nothing else of the result counts.
    """
    work = _work_pointers(arrays)
    size = arrays[0].size
    data, ids, case, known, table, _, unknown, scratch = work
    safe = size - 16  # up to here eight bytes can be read, and two more behind them
    most, last = BATCH - 2, size - 80
    contractions = _contraction_ids(table, known, case)
    marks = np.empty(128, dtype=np.int32)  # ids of single ASCII characters
    for k in range(128):
        marks[k] = _find_short(np.uint64(k), table)
    left, n_left = np.empty((16, 5), dtype=np.int64), 0
    n = documents = i = 0
    waiting = (0, 0)
    while True:
        if i <= last:
            i, n, documents, waiting = _read_plain(False, i, last, n, documents, pointer(offsets), waiting, marks, work)
        if i >= size:
            break
        byte = data[i]
        if i <= safe:
            key, end = _read_word(data, i, safe, case)
            following = data[i + 1]
            if end > i:
                behind = data[end]
                if behind == _SPACE:
                    waiting = _wait(key, n, i, end, waiting, most, work)
                    n += 1
                    i = end + 1
                    continue
                if data[end + 1] == _SPACE and _MARK[behind]:  # a comma or the like, which this takes along
                    waiting = _wait(key, n, i, end, waiting, most, work)
                    if marks[behind] < 0 and unknown.wanted:
                        _remember(data, end, end + 1, case, n + 1, unknown)
                    ids[n + 1] = marks[behind]
                    n += 2
                    i = end + 2
                    continue
                if _ends_cleanly(data, end):
                    waiting = _wait(key, n, i, end, waiting, most, work)
                    n += 1
                    i = end
                    continue
                if data[end] == _APOSTROPHE and end + 2 <= safe and data[end + 1] < 128:
                    token = contractions[data[end + 1]]
                    if token >= 0 and _ends_cleanly(data, end + 2):
                        waiting = _wait(key, n, i, end, waiting, most, work)
                        ids[n + 1] = token
                        n += 2
                        i = end + 2
                        continue
            elif end == i and _MARK[byte] and following < 128:
                joined = byte == _APOSTROPHE and _IN_WORD[following]
                if not joined and (following != byte or _ALONE[byte]):
                    if marks[byte] < 0 and unknown.wanted:
                        _remember(data, i, i + 1, case, n, unknown)
                    ids[n] = marks[byte]
                    n += 1
                    i += 1 + (following == _SPACE)
                    continue
            if _IN_WORD[byte] or (byte == _APOSTROPHE and _IN_WORD[following]):
                end = _read_compound(data, i, safe, case, scratch.text, scratch.size)
                if end > 0:
                    n = _split_compound(scratch.text, 0, end - i, known, table, ids, n, unknown)
                    i = end
                    continue
        if byte <= _SPACE or byte == 127:
            i += 1
            if byte == _NEWLINE:
                offsets[documents] = n
                documents += 1
            continue
        high, after = _read_chunk(i, size, safe, False, n, work)
        if after == TOO_LONG:
            return 0, 0, left, high - i
        if after == NOT_OURS:
            left = _leave(left, n_left, documents, n, i, high, data)
            n_left += 1
        else:
            n = after
        i = high
    _resolve(waiting, work)
    if size > 0 and data[size - 1] != _NEWLINE:
        offsets[documents] = n
        documents += 1
    return n, documents, left[:n_left], 0


@kernel
def encode_spaces(arrays: tuple[Any, ...], offsets: Longs) -> tuple[int, int, Longs, int]:
    """The same by the rules of `whitespace`."""
    work = _work_pointers(arrays)
    size = arrays[0].size
    data, case = work.data, work.case
    safe = size - 16
    most, last = BATCH - 2, size - 80
    marks = np.empty(0, dtype=np.int32)
    left, n_left = np.empty((16, 5), dtype=np.int64), 0
    n = documents = i = 0
    waiting = (0, 0)
    while True:
        if i <= last:
            i, n, documents, waiting = _read_plain(True, i, last, n, documents, pointer(offsets), waiting, marks, work)
        if i >= size:
            break
        byte = data[i]
        if _WHITE[byte]:
            i += 1
            if byte == _NEWLINE:
                offsets[documents] = n
                documents += 1
            continue
        if i <= safe:
            key, end = _read_token(data, i, safe, case)
            if end > i and data[end] < 128 and data[end - 1] != 0:
                waiting = _wait(key, n, i, end, waiting, most, work)
                n += 1
                i = end + (data[end] == _SPACE)
                continue
        high, after = _read_chunk(i, size, safe, True, n, work)
        if after == TOO_LONG:
            return 0, 0, left, high - i
        if after == NOT_OURS:
            left = _leave(left, n_left, documents, n, i, high, data)
            n_left += 1
        else:
            n = after
        i = high
    _resolve(waiting, work)
    if size > 0 and data[size - 1] != _NEWLINE:
        offsets[documents] = n
        documents += 1
    return n, documents, left[:n_left], 0
