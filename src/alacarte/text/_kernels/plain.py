"""The commonest text, 64 bytes at a time: words of ASCII letters and digits, with brackets and single marks.

Each class of bytes is recognised in the bits of one number, and the rest is arithmetic on these numbers. Tokens wait to
be looked up until there are some: the memory of their slots is fetched meanwhile.
"""

import numpy as np

from alacarte._io.compiled import (
    bytes_within,
    count_ones,
    inlined,
    inner,
    leading_zeros,
    load_word,
    prefetch,
    trailing_zeros,
)
from alacarte.text._kernels.look_up import (
    LOWER_HALF,
    NOBODY,
    ONE,
    ZERO,
    find_long,
    find_short,
    first_bytes,
    hash_more,
    long_key,
    lowered,
    slot_of,
)
from alacarte.text._kernels.split import BLANK, START, UNDERSCORE, remember

NEWLINE = 10
BATCH = 128  # tokens of either kind that can wait
WORDS_PER_STEP = 32  # in 64 bytes
BYTES_NEEDED = 80  # bytes that must be there: 64, and sixteen behind them


@inlined
def look_up_waiting(waiting, work):
    """Look up the tokens that are waiting; none are then."""
    keys, spots, slots, bits = work.keys, work.spots, work.slots, work.bits
    short, long = waiting
    for at in range(short):
        slot = slot_of(keys[at], bits)
        value = slots[2 * slot + 1]
        if slots[2 * slot] == keys[at] and value - ONE < LOWER_HALF:  # the commonest case, without a loop
            token = np.int32(value - ONE)
        else:
            token = find_short(keys[at], slots, bits)
            if token < 0 and work.is_growing:
                remember(work.data, spots[3 * at + 1], spots[3 * at + 2], work.case, spots[3 * at], work)
        work.ids[spots[3 * at]] = token
    for at in range(BATCH, BATCH + long):
        n, low, high = spots[3 * at], spots[3 * at + 1], spots[3 * at + 2]
        token = find_long(keys[at], work.data, low, high, work.case, slots, work.records, bits)
        if token < 0 and work.is_growing:
            remember(work.data, low, high, work.case, n, work)
        work.ids[n] = token


@inlined
def _key_of(first, second, size):
    """Return the key of a token of one to sixteen bytes from the two words that it begins with."""
    first, second = first_bytes(first, min(size, 8)), first_bytes(second, min(max(size - 8, 1), 8))
    return first if size <= 8 else hash_more(hash_more(ZERO, first), second)


@inlined
def _wait(low, high, n, waiting, work):
    """Let data[low:high] wait for the id at n; return how many wait then: (short ones, long ones)."""
    data, case, size = work.data, work.case, high - low
    first, second = load_word(data, low), load_word(data, low + 8)
    if work.is_whitespace:
        first, second = lowered(first, case), lowered(second, case)
    else:  # letters and digits only; digits have this bit anyway
        first, second = first | case, second | case
    key = _key_of(first, second, size)
    if size > 16:
        key = long_key(data, low, high, case)
    prefetch(work.slots, 2 * slot_of(key, work.bits))
    short, long = waiting
    is_long = size > 8
    at = BATCH + long if is_long else short
    work.keys[at] = key
    work.spots[3 * at] = n
    work.spots[3 * at + 1] = low
    work.spots[3 * at + 2] = high
    return short + (not is_long), long + is_long


@inner
def find_marks(work):
    """Look up all single characters of ASCII."""
    for byte in range(128):
        work.marks[byte] = find_short(np.uint64(byte), work.slots, work.bits)


@inner
def read_plain(i, last, n, documents, waiting, work):
    """Read plain chunks of text from i on, as far as they go: return (i, n, documents, waiting) behind them.

    A chunk is what lies between spaces and lines' ends. For `whitespace`, it is plain if it is in ASCII. For `words`,
    if it has only ASCII letters, digits, brackets and double quotation marks, and other marks only right before one of
    these or before white space. At `last`, the bytes that must be there are there for the last time.
    """
    data = work.data
    while i <= last:
        lines = bytes_within(data, i, 0, NEWLINE, 1)
        white = bytes_within(data, i, 0, BLANK, 1) | lines
        words, marks = bytes_within(data, i, 0, 33, 94), ZERO
        if not work.is_whitespace:
            visible = words
            words = bytes_within(data, i, 32, 97, 26) | bytes_within(data, i, 0, 48, 10)
            alone = bytes_within(data, i, 1, 41, 1) | bytes_within(data, i, 0, 34, 1)  # ( ) and "
            alone |= bytes_within(data, i, 32, 123, 1) | bytes_within(data, i, 32, 125, 1)  # [ ] { }
            marks = visible & ~words & ~bytes_within(data, i, 0, UNDERSCORE, 1)
            marks &= alone | ((alone | white) >> ONE)
        other = ~(words | white | marks)
        ending = white & ((other & (ZERO - other)) - ONE)  # white space before the first byte that is not plain
        unused = leading_zeros(ending)
        if ending == ZERO:
            break
        plain = ~ZERO >> np.uint64(unused)
        words &= plain
        marks &= plain
        lines &= plain
        begins = words & ~(words << ONE)
        ends = ~words & (words << ONE)
        tokens = begins | marks
        short, long = waiting
        if max(short, long) > BATCH - WORDS_PER_STEP:
            look_up_waiting(waiting, work)
            waiting = (START, START)
        while begins != ZERO:
            place = n + count_ones(tokens & (begins ^ (begins - ONE))) - 1
            waiting = _wait(i + trailing_zeros(begins), i + trailing_zeros(ends), place, waiting, work)
            begins &= begins - ONE
            ends &= ends - ONE
        while marks != ZERO:
            place, at = n + count_ones(tokens & (marks ^ (marks - ONE))) - 1, i + trailing_zeros(marks)
            marks &= marks - ONE
            token = work.marks[data[at]]
            work.ids[place] = token
            if token == NOBODY and work.is_growing:
                remember(data, at, at + 1, ZERO, place, work)
        while lines != ZERO:
            work.offsets[documents] = n + count_ones(tokens & (lines ^ (lines - ONE)))
            documents += 1
            lines &= lines - ONE
        n += count_ones(tokens)
        i += 64 - unused
    return i, n, documents, waiting
