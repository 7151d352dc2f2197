"""Folded text → tokens, which are looked up at once: the rules of `words` and of `whitespace`.

The functions that write ids take `n`, how many there are, and return how many there are then.
"""

import numpy as np

from alacarte._io.compiled import inlined, inner
from alacarte.text._kernels.fold import SPACE, WORD
from alacarte.text._kernels.look_up import ZERO, look_up

START = np.int64(0)  # unlike 0, for which, as a literal, whatever is called with it would be compiled once more
APOSTROPHE, HYPHEN, PERIOD, UNDERSCORE, BLANK = 39, 45, 46, 95, 32
_COMMA, _COLON, _SLASH, _AMPERSAND = 44, 58, 47, 38


@inlined
def _is_digit(byte):
    return 48 <= byte <= 57


@inner
def remember(text, low, high, case, n, work):
    """Keep the text of a token that has no id, if that is asked for; a space follows each."""
    count, at = work.counts[0], work.counts[1]
    work.places[count] = n
    for k in range(low, high):
        byte = text[k]
        work.unknown[at] = byte | 32 if case and 65 <= byte <= 90 else byte
        at += 1
    work.unknown[at] = BLANK
    work.counts[0], work.counts[1] = count + 1, at + 1


@inlined
def _find(low, high, work):
    return look_up(work.text, low, high, work.slots, work.records, work.bits)


@inlined
def _emit_known(low, high, n, work):
    """Write the id of the token text[low:high] if it is known."""
    token = _find(low, high, work)
    if 0 <= token < work.known:
        work.ids[n] = token
        return n + 1
    return n


@inlined
def _emit_any(low, high, n, work):
    """Write the id of the token text[low:high]."""
    token = _find(low, high, work)
    if token < 0 and work.is_growing:
        remember(work.text, low, high, ZERO, n, work)
    work.ids[n] = token
    return n + 1


@inlined
def split_spaces(size, n, work):
    """Write the ids of the tokens between white space in text[:size]."""
    i = START
    while i < size:
        start = i
        while work.kinds[i] != SPACE:
            i += 1
        if start < i:
            n = _emit_any(start, i, n, work)
        i += 1
    return n


@inlined
def split_words(size, n, work):
    """Write the ids of the tokens of text[:size] by the rules of `words`."""
    text, kinds = work.text, work.kinds
    i = START
    while i < size:
        start, kind = i, kinds[i]
        if kind == SPACE:
            i += 1
        elif kind == WORD or (text[i] == APOSTROPHE and kinds[i + 1] == WORD):
            i, is_simple = _end_of_compound(text, kinds, i)
            n = _emit_any(start, i, n, work) if is_simple else _split_compound(start, i, n, work)
        else:
            i = _end_of_marks(text, i, size)
            n = _emit_any(start, i, n, work)
    return n


@inlined
def _end_of_compound(text, kinds, i):
    """Return where runs of word characters and their joiners end; and whether it is one run of letters and digits."""
    is_simple = kinds[i] == WORD
    skip = 0 if is_simple else 1
    runs = 0
    while runs == 0 or skip > 0:
        i += skip
        while kinds[i] == WORD:
            is_simple = is_simple and text[i] != UNDERSCORE
            i += 1
        runs += 1
        skip = _joiner(text, kinds, i)
    is_simple = is_simple and runs == 1
    if not is_simple and text[i] == PERIOD and text[i + 1] != PERIOD:
        i += 1
    return i, is_simple


@inlined
def _joiner(text, kinds, i):
    """Return how many bytes at i, after a run of word characters, join it to the next run; 0 if none do."""
    byte = text[i]
    if byte == APOSTROPHE or byte == _SLASH or byte == _AMPERSAND or byte == HYPHEN:
        return 1 if kinds[i + 1] == WORD else 0
    if byte == PERIOD:
        if kinds[i + 1] == WORD:
            return 1
        return 2 if text[i + 1] == HYPHEN and kinds[i + 2] == WORD else 0
    if byte == _COMMA or byte == _COLON:
        return 1 if _is_digit(text[i - 1]) and _is_digit(text[i + 1]) else 0
    return 0


@inlined
def _end_of_marks(text, start, size):
    """Return where punctuation ends: brackets and double quotes alone, else a run of one character."""
    byte = text[start]
    width = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
    i = start + width
    if not (byte == 40 or byte == 41 or byte == 91 or byte == 93 or byte == 123 or byte == 125 or byte == 34):
        while i < size and text[i] == text[i - width]:
            i += 1
        i -= (i - start) % width
    return i


@inlined
def _holds(text, low, high, wanted):
    """Whether a byte is in text[low:high]."""
    while low < high and text[low] != wanted:
        low += 1
    return low < high


@inlined
def _contraction(text, low, high):
    """Return where a contraction begins that text[low:high] ends in (n't 's 're 've 'll 'd 'm); high if none does."""
    size = high - low
    a = text[high - 1] | 32
    b = text[high - 2] | 32 if size >= 2 else 0
    if size > 3 and a == 116 and text[high - 2] == APOSTROPHE and text[high - 3] | 32 == 110:
        return high - 3
    if size > 2 and text[high - 2] == APOSTROPHE and (a == 115 or a == 100 or a == 109):
        return high - 2
    ending = (a == 101 and (b == 114 or b == 118)) or (a == 108 and b == 108)
    if size > 3 and text[high - 3] == APOSTROPHE and ending:
        return high - 3
    return high


@inner
def _split_compound(low, high, n, work):
    """Write the ids of what a compound becomes: the twin of `tokenizers._split_compound`."""
    text = work.text
    has_period = text[high - 1] == PERIOD
    if has_period:
        if _holds(text, low, high - 1, PERIOD):
            after = _emit_known(low, high, n, work)
            if after > n:
                return after
        high -= 1
    if text[low] == APOSTROPHE:
        after = _emit_known(low, high, n, work)
        if after > n:
            low = high
        else:
            after = _emit_any(low, low + 1, n, work)
            low += 1
        n = after
    suffix = high
    if _holds(text, low, high, APOSTROPHE):
        suffix = _contraction(text, low, high)
        if suffix < high and not 0 <= _find(suffix, high, work) < work.known:
            suffix = high
    if low < suffix:
        n = _split_hyphens(low, suffix, n, work)
    if suffix < high:
        n = _emit_any(suffix, high, n, work)
    return _emit_any(high, high + 1, n, work) if has_period else n


@inner
def _split_hyphens(low, high, n, work):
    """Write the ids of a compound without a contraction: all of it if known, else what is between hyphens."""
    after = _emit_known(low, high, n, work)
    if after > n:
        return after
    start = low
    for i in range(low, high + 1):
        if i < high and work.text[i] != HYPHEN:
            continue
        if start < i:
            after = _emit_known(start, i, n, work)
            n = after if after > n else _split_pieces(start, i, n, work)
        if i < high:
            n = _emit_any(i, i + 1, n, work)
        start = i + 1
    return n


@inlined
def _parts(text, low, high, i):
    """Whether the byte at i parts a piece of text[low:high]: a joiner that is not within a number."""
    byte = text[i]
    if byte == PERIOD or byte == _COMMA or byte == _COLON:
        return not (i > low and i + 1 < high and _is_digit(text[i - 1]) and _is_digit(text[i + 1]))
    return byte == UNDERSCORE or byte == _SLASH or byte == _AMPERSAND or byte == APOSTROPHE


@inner
def _split_pieces(low, high, n, work):
    """Write the ids of the pieces between joiners, and of runs of one joiner."""
    text, i = work.text, low
    while i < high:
        start = i
        if _parts(text, low, high, i):
            i += 1
            while i < high and text[i] == text[start]:
                i += 1
        else:
            while i < high and not _parts(text, low, high, i):
                i += 1
        n = _emit_any(start, i, n, work)
    return n
