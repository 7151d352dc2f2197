"""Characters of UTF-8 → what a tokenizer sees of them, with the class of each byte.

`entries` has a number for each character: how far the code point changes, times 64, with the flags below. All
characters of planes 0 to 3 come first, then the first 1,024 of plane 14; all others are as the last of these.
"""

import numpy as np

from alacarte._io.compiled import inlined, inner

SPACE, WORD, PUNCTUATION, IGNORED = 0, 1, 2, 3
KIND_BITS = 3  # the bits of an entry that hold one of these
COMBINING = 4  # two such characters in a row may change places in normal form
HARD = 8  # normal form changes it
COMPOSES_1, COMPOSES_2 = 16, 32  # normal form may make one character of the first and the second of these in a row
FLAG_BITS = 6
PLANES = 0x40000
_TAG_CHARACTERS = 0xE0000
_DOTTED_I, _CAPITAL_SIGMA = 0x130, 0x3A3
GROWTH = 1.5  # a folded text has at most this many times the bytes of the text


@inlined
def _follows(byte):
    """Whether a byte continues a character."""
    return byte & 0xC0 == 0x80


@inlined
def _decode(data, i, high):
    """Return (code point, bytes) of the character at i, which is not ASCII; no bytes if it is none.

    Well-formed UTF-8 (Unicode, table 3-7) and lone surrogates, which the tables decide about.
    """
    byte = np.int32(data[i])
    if 0xC2 <= byte <= 0xDF:
        if i + 1 < high and _follows(data[i + 1]):
            return np.int32((byte & 0x1F) << 6 | (data[i + 1] & 0x3F)), 2
    elif 0xE0 <= byte <= 0xEF:
        if i + 2 < high and _follows(data[i + 1]) and _follows(data[i + 2]):
            code = np.int32((byte & 0x0F) << 12 | (np.int32(data[i + 1]) & 0x3F) << 6 | (data[i + 2] & 0x3F))
            if code >= 0x800:
                return code, 3
    elif byte >= 0xF0 and i + 3 < high and _follows(data[i + 1]) and _follows(data[i + 2]) and _follows(data[i + 3]):
        upper = (byte & 0x0F) << 18 | (np.int32(data[i + 1]) & 0x3F) << 12
        code = np.int32(upper | (np.int32(data[i + 2]) & 0x3F) << 6 | (data[i + 3] & 0x3F))
        if 0x10000 <= code <= 0x10FFFF:
            return code, 4
    return np.int32(0), 0


@inlined
def _encode(code, text, n):
    """Write a character at n; return where the next one goes."""
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
    text[n] = 0xF0 | (code >> 18)
    text[n + 1] = 0x80 | ((code >> 12) & 0x3F)
    text[n + 2] = 0x80 | ((code >> 6) & 0x3F)
    text[n + 3] = 0x80 | (code & 0x3F)
    return n + 4


@inlined
def _is_greek(data, i, high):
    """Whether a Greek letter with a case is at i: one from U+0391 to U+03CE."""
    if i + 1 >= high:
        return False
    return (data[i] == 0xCE and 0x91 <= data[i + 1] != 0xA2) or (data[i] == 0xCF and 0x80 <= data[i + 1] <= 0x8E)


@inner
def fold_bytes(data, low, high, entries, text, kinds):
    """Fold data[low:high] into `text`, with the class of each byte in `kinds`, and eight spaces behind.

    Return the length; -1 if a character cannot be folded by itself, or is none.
    """
    n, i, before = 0, low, np.int32(0)
    while i < high:
        byte = data[i]
        if byte < 128:
            entry = entries[byte]
            text[n] = byte + (entry >> FLAG_BITS)
            kinds[n] = entry & KIND_BITS
            n += 1
            i += 1
            before = entry
            continue
        code, width = _decode(data, i, high)
        if width == 0:
            return -1
        if code < PLANES:
            entry = entries[code]
        elif _TAG_CHARACTERS <= code < _TAG_CHARACTERS + 0x400:
            entry = entries[PLANES + (code & 0x3FF)]
        else:
            entry = entries[PLANES + 0x3FF]
        if entry & HARD or entry & before & COMBINING or (entry & COMPOSES_2 and before & COMPOSES_1):
            return -1
        i += width
        before = entry
        change = entry >> FLAG_BITS
        if code == _CAPITAL_SIGMA and change != 0 and not _is_greek(data, i, high):
            return -1  # it may be a final one
        if entry & KIND_BITS == IGNORED:
            continue
        kinds[n] = kinds[n + 1] = kinds[n + 2] = kinds[n + 3] = entry & KIND_BITS
        n = _encode(code + change, text, n)
        if code == _DOTTED_I and change != 0:
            text[n], text[n + 1] = 0xCC, 0x87  # the dot, as a character of its own
            n += 2
            before |= COMBINING
    for k in range(n, n + 8):  # so that looking ahead needs no check
        text[k] = 32
        kinds[k] = SPACE
    return n
