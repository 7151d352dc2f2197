"""Bytes → token ids without an object a token: the `words` and `whitespace` tokenizers, compiled.

Two steps a line. *Fold* reads UTF-8 and writes the folded text (case, typographic signs, invisible characters) with a
class for each byte. *Split* cuts that into tokens and looks each up in a hash table of the vocabulary, comparing the
bytes of every hit. The rules are those of `alacarte.text.tokenizers`, which is the reference; a line that holds
anything these steps cannot decide alone (characters that normalisation may change, letters whose lower case depends on
others, bytes that are no UTF-8) is left to it and only listed.
"""

import numba
import numpy as np
import numpy.typing as npt

from alacarte._io.compiled import inner, kernel

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

SPACE, WORD, PUNCTUATION, IGNORED, SLOW = 0, 1, 2, 3, 4
COMBINING = 8  # a flag beside the class: two such characters in a row may change places in normalisation
TABLE = 0x20000  # code points with an entry; those beyond are left to the reference
NOBODY = -1

_BASIS = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_UPPER, _LOWER = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)
_APOSTROPHE, _HYPHEN, _PERIOD, _UNDERSCORE, _NEWLINE, _SPACE = 39, 45, 46, 95, 10, 32
_COMMA, _COLON, _SLASH, _AMPERSAND = 44, 58, 47, 38


@numba.njit(cache=True, nogil=True, inline="always")
def _digit(byte):  # type: ignore[no-untyped-def]
    return 48 <= byte <= 57


@numba.njit(cache=True, nogil=True, inline="always")
def _mixed(code):  # type: ignore[no-untyped-def]
    """The upper half, which is the better one, into the lower, which picks the slot."""
    return code ^ (code >> np.uint64(32))


@inner
def hash_bytes(text, low, high):  # type: ignore[no-untyped-def]
    code = _BASIS
    for i in range(low, high):
        code = (code ^ np.uint64(text[i])) * _PRIME
    return _mixed(code)


@kernel
def add_words(text: Bytes, bounds: Longs, first: int, table: Hashes, records: Bytes, at: int) -> None:
    """Put the words `text[bounds[i]:bounds[i + 1]]`, which have the ids from `first` on, into a hash table.

    Two places in memory a look-up: a slot holds half of the hash and where the word's record begins (plus one; zero is
    an empty slot); a record holds id and length, four bytes each, and the word itself. The table has a power of two
    slots, more than words; records are written from `at` on.
    """
    mask = np.uint64(table.size - 1)
    for i in range(bounds.size - 1):
        word, low, high = first + i, bounds[i], bounds[i + 1]
        code = hash_bytes(text, low, high)
        slot = code & mask
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = (code & _UPPER) | np.uint64(at + 1)
        for k in range(4):
            records[at + k] = (word >> (8 * k)) & 255
            records[at + 4 + k] = ((high - low) >> (8 * k)) & 255
        for k in range(high - low):
            records[at + 8 + k] = text[low + k]
        at += 8 + high - low


@inner
def _number(records, at):  # type: ignore[no-untyped-def]
    return (
        np.int32(records[at])
        | (np.int32(records[at + 1]) << 8)
        | (np.int32(records[at + 2]) << 16)
        | (np.int32(records[at + 3]) << 24)
    )


@inner
def _find(text, low, high, code, table, records):  # type: ignore[no-untyped-def]
    """The id of text[low:high], whose hash is `code`, or -1."""
    mask = np.uint64(table.size - 1)
    slot = code & mask
    tag = code & _UPPER
    while True:
        entry = table[slot]
        if entry == 0:
            return np.int32(NOBODY)
        if entry & _UPPER == tag:
            at = np.int64(entry & _LOWER) - 1
            if _number(records, at + 4) == high - low:
                same = True
                for k in range(high - low):
                    if records[at + 8 + k] != text[low + k]:
                        same = False
                        break
                if same:
                    return _number(records, at)
        slot = (slot + np.uint64(1)) & mask


@inner
def _look_up(text, low, high, table, records):  # type: ignore[no-untyped-def]
    return _find(text, low, high, hash_bytes(text, low, high), table, records)


@kernel
def look_up_all(text: Bytes, count: int, table: Hashes, records: Bytes) -> tuple[Ints, Longs, Longs]:
    """(ids, where words end, words in each sequence) of `count` sequences; a space ends a word, a line's end both."""
    most = text.size // 2 + count
    ids, ends, lengths = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64), np.zeros(count, dtype=np.int64)
    low = words = sequence = 0
    code = _BASIS
    for i in range(text.size):
        byte = text[i]
        if byte != _SPACE and byte != _NEWLINE:
            code = (code ^ np.uint64(byte)) * _PRIME
            continue
        ids[words] = _find(text, low, i, _mixed(code), table, records)
        ends[words] = i
        words += 1
        lengths[sequence] += 1
        sequence += byte == _NEWLINE
        low, code = i + 1, _BASIS
    return ids[:words], ends[:words], lengths


# --------------------------------------------------------------------------------------------------- fold


@inner
def _fold(data, low, high, classes, folded, out, kinds):  # type: ignore[no-untyped-def]
    """Fold data[low:high] into `out` with a class a byte in `kinds`; the length, or -1 if the line is not for us."""
    n = 0
    i = low
    combining = False
    while i < high:
        byte = data[i]
        if byte < 128:
            kind = classes[byte]
            if kind == IGNORED:
                i += 1
                combining = False
                continue
            out[n] = folded[byte]
            kinds[n] = kind
            n += 1
            i += 1
            combining = False
            continue
        # Well-formed UTF-8 only (Unicode, table 3-7).
        if 0xC2 <= byte <= 0xDF:
            extra, code = 1, np.int32(byte & 0x1F)
        elif 0xE0 <= byte <= 0xEF:
            extra, code = 2, np.int32(byte & 0x0F)
        elif byte == 0xF0:
            extra, code = 3, np.int32(0)
        else:
            return -1  # beyond the table, or not UTF-8
        if i + extra >= high:
            return -1
        for k in range(1, extra + 1):
            following = data[i + k]
            if following & 0xC0 != 0x80:
                return -1
            code = (code << 6) | np.int32(following & 0x3F)
        if extra == 2 and (code < 0x800 or 0xD800 <= code <= 0xDFFF):
            return -1
        if extra == 3 and (code < 0x10000 or code >= TABLE):
            return -1
        i += extra + 1
        kind = classes[code]
        if kind & COMBINING:
            if combining:
                return -1
            combining = True
            kind = kind & 7
        else:
            combining = False
        if kind == SLOW:
            return -1
        if kind == IGNORED:
            continue
        code = folded[code]
        first = n
        if code < 0x80:
            out[n] = code
            n += 1
        elif code < 0x800:
            out[n] = 0xC0 | (code >> 6)
            out[n + 1] = 0x80 | (code & 0x3F)
            n += 2
        elif code < 0x10000:
            out[n] = 0xE0 | (code >> 12)
            out[n + 1] = 0x80 | ((code >> 6) & 0x3F)
            out[n + 2] = 0x80 | (code & 0x3F)
            n += 3
        else:
            out[n] = 0xF0
            out[n + 1] = 0x80 | ((code >> 12) & 0x3F)
            out[n + 2] = 0x80 | ((code >> 6) & 0x3F)
            out[n + 3] = 0x80 | (code & 0x3F)
            n += 4
        for k in range(first, n):
            kinds[k] = kind
    for k in range(n, n + 4):  # so that looking ahead needs no check
        out[k] = 32
        kinds[k] = SPACE
    return n


# -------------------------------------------------------------------------------------------------- split


# Everything that writes ids takes `n`, how many there are, and returns how many there are then.


@inner
def _remember(text, low, high, n, unknown):  # type: ignore[no-untyped-def]
    """Keep the text of a token that has no id, where that is asked for."""
    places, bounds, kept, count = unknown
    m = count[0]
    places[m] = n
    begin = bounds[m]
    for k in range(high - low):
        kept[begin + k] = text[low + k]
    bounds[m + 1] = begin + high - low
    count[0] = m + 1


@inner
def _emit(text, low, high, token, ids, n, unknown):  # type: ignore[no-untyped-def]
    if token < 0 and unknown[0].size:
        _remember(text, low, high, n, unknown)
    ids[n] = token
    return n + 1


@inner
def _emit_found(text, low, high, table, records, ids, n, unknown):  # type: ignore[no-untyped-def]
    return _emit(text, low, high, _look_up(text, low, high, table, records), ids, n, unknown)


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
def _split_words(text, kinds, size, known, marks, table, records, ids, n, unknown):  # type: ignore[no-untyped-def]
    """Tokens of one folded line by the rules of `words`."""
    mask = np.uint64(table.size - 1)
    collect = unknown[0].size > 0
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
            code = _BASIS
            j = np.uint64(i)  # unsigned, so that no index is taken for a negative one
            while kinds[j] == WORD:
                byte = text[j]
                code = (code ^ np.uint64(byte)) * _PRIME
                if byte == _UNDERSCORE:
                    simple = False
                j += np.uint64(1)
            i = np.int64(j)  # type: ignore[assignment]
            skip = 0
            if kinds[i] == PUNCTUATION:
                skip = _joiner(text, kinds, i)
            if skip == 0 and simple:
                # By far the commonest case, so the look-up is written out: a call with this many arrays costs more.
                code = _mixed(code)
                token = np.int32(NOBODY)
                slot = code & mask
                while True:
                    entry = table[slot]
                    if entry == 0:
                        break
                    if (entry ^ code) & _UPPER == 0:
                        at = np.uint64((entry & _LOWER) - np.uint64(1))
                        length = np.uint64(i - start)
                        if np.uint64(_number(records, at + np.uint64(4))) == length:
                            same = True
                            for k in range(length):
                                if records[at + np.uint64(8) + k] != text[np.uint64(start) + k]:
                                    same = False
                                    break
                            if same:
                                token = _number(records, at)
                                break
                    slot = (slot + np.uint64(1)) & mask
                if token < 0 and collect:
                    _remember(text, start, i, n, unknown)
                ids[n] = token
                n += 1
                continue
            while skip:
                i += skip
                while kinds[i] == WORD:
                    i += 1
                skip = _joiner(text, kinds, i)
            if text[i] == _PERIOD and text[i + 1] != _PERIOD:
                i += 1
            n = _split_compound(text, start, i, known, table, records, ids, n, unknown)
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
        if i - start == 1 and marks[byte] >= 0:
            ids[n] = marks[byte]
            n += 1
        else:
            n = _emit_found(text, start, i, table, records, ids, n, unknown)
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
def _split_compound(text, low, high, known, table, records, ids, n, unknown):  # type: ignore[no-untyped-def]
    """The twin of `tokens._split_compound`."""
    period = text[high - 1] == _PERIOD
    if period:
        inner = False
        for k in range(low, high - 1):
            if text[k] == _PERIOD:
                inner = True
        if inner:
            token = _look_up(text, low, high, table, records)
            if _knows(token, known):
                return _emit(text, low, high, token, ids, n, unknown)
        high -= 1
    stop = high
    if text[low] == _APOSTROPHE:
        token = _look_up(text, low, high, table, records)
        if _knows(token, known):
            n = _emit(text, low, high, token, ids, n, unknown)
            low = high
        else:
            n = _emit_found(text, low, low + 1, table, records, ids, n, unknown)
            low += 1
    suffix = -1
    apostrophe = False
    for k in range(low, high):
        if text[k] == _APOSTROPHE:
            apostrophe = True
    if apostrophe:
        suffix = _contraction(text, low, high)
        if suffix >= 0:
            if _knows(_look_up(text, suffix, high, table, records), known):
                high = suffix
            else:
                suffix = -1
    if low < high:
        n = _split_hyphens(text, low, high, known, table, records, ids, n, unknown)
    if suffix >= 0:
        n = _emit_found(text, suffix, stop, table, records, ids, n, unknown)
    if period:
        n = _emit_found(text, stop, stop + 1, table, records, ids, n, unknown)
    return n


@inner
def _split_hyphens(text, low, high, known, table, records, ids, n, unknown):  # type: ignore[no-untyped-def]
    token = _look_up(text, low, high, table, records)
    if _knows(token, known):
        return _emit(text, low, high, token, ids, n, unknown)
    start = low
    for i in range(low, high + 1):
        if i < high and text[i] != _HYPHEN:
            continue
        if start < i:
            token = _look_up(text, start, i, table, records)
            if _knows(token, known):
                n = _emit(text, start, i, token, ids, n, unknown)
            else:
                n = _split_pieces(text, start, i, table, records, ids, n, unknown)
        if i < high:
            n = _emit_found(text, i, i + 1, table, records, ids, n, unknown)
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
def _split_pieces(text, low, high, table, records, ids, n, unknown):  # type: ignore[no-untyped-def]
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
        n = _emit_found(text, start, i, table, records, ids, n, unknown)
    return n


@inner
def _split_spaces(text, kinds, size, table, records, ids, n, unknown):  # type: ignore[no-untyped-def]
    i = 0
    while i < size:
        if kinds[i] == SPACE:
            i += 1
            continue
        start = i
        code = _BASIS
        while kinds[i] != SPACE:
            code = (code ^ np.uint64(text[i])) * _PRIME
            i += 1
        n = _emit(text, start, i, _find(text, start, i, _mixed(code), table, records), ids, n, unknown)
    return n


# --------------------------------------------------------------------------------------------------- lines


@kernel
def encode_lines(
    data: Bytes,
    classes: Bytes,
    folded: Ints,
    whitespace: bool,
    known: int,
    table: Hashes,
    records: Bytes,
    ids: Ints,
    offsets: Longs,
    slow: Longs,
    unknown_places: Ints,
    unknown_bounds: Longs,
    unknown_text: Bytes,
) -> tuple[int, int, int, int]:
    """Ids of all tokens of all lines; (ids, documents, slow lines, unknown tokens) written.

    `offsets` gets the end of each document; `slow` gets (document, begin, end) of the lines left to the reference,
    which hold no ids yet. `unknown_*` collect the text of tokens without an id, unless they are empty.
    """
    n_unknown = np.zeros(1, dtype=np.int64)
    unknown = (unknown_places, unknown_bounds, unknown_text, n_unknown)
    n = 0
    one = np.empty(1, dtype=np.uint8)
    marks = np.empty(128, dtype=np.int32)  # ids of single ASCII characters
    for k in range(128):
        one[0] = k
        marks[k] = _look_up(one, 0, 1, table, records)
    text = np.empty(1024, dtype=np.uint8)
    kinds = np.empty(1024, dtype=np.uint8)
    documents = 0
    n_slow = 0
    low = 0
    size = data.size
    while low < size:
        high = low
        while high < size and data[high] != _NEWLINE:
            high += 1
        room = 3 * (high - low) // 2 + 8  # a folded character is at most half as long again
        if text.size < room:
            text = np.empty(2 * room, dtype=np.uint8)
            kinds = np.empty(2 * room, dtype=np.uint8)
        length = _fold(data, low, high, classes, folded, text, kinds)
        if length < 0:
            slow[3 * n_slow] = documents
            slow[3 * n_slow + 1] = low
            slow[3 * n_slow + 2] = high
            n_slow += 1
        elif whitespace:
            n = _split_spaces(text, kinds, length, table, records, ids, n, unknown)
        else:
            n = _split_words(text, kinds, length, known, marks, table, records, ids, n, unknown)
        offsets[documents] = n
        documents += 1
        low = high + 1
    return n, documents, n_slow, n_unknown[0]
