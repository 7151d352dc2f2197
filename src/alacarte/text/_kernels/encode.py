"""The loop: plain text 64 bytes at a time, all else from white space to white space, folded and split.

No rule of the tokenizers looks across ASCII white space.
"""

from typing import Any, NamedTuple

import numpy as np

from alacarte._io.arrays import Bytes, Codes, Ints, Longs
from alacarte._io.compiled import inlined, kernel, load_word, pointer
from alacarte.text._kernels.fold import fold_bytes
from alacarte.text._kernels.plain import BYTES_NEEDED, NEWLINE, find_marks, look_up_waiting, read_plain
from alacarte.text._kernels.split import BLANK, START, split_spaces, split_words

FOLDED_AT_ONCE = 512  # bytes of text in other scripts
_NOT_ASCII = np.uint64(0x8080808080808080)


class LoopState(NamedTuple):
    """All that the loop works with."""

    data: Bytes  # the text
    ids: Ints  # of the tokens
    offsets: Longs  # where documents end, in `ids`
    left: Longs  # what is left to Python; see `encode`
    slots: Codes  # with `records`: the hash table of the words
    records: Codes
    entries: Ints  # what becomes of characters
    text: Bytes  # folded text
    kinds: Bytes  # the class of each byte of it
    marks: Ints  # ids of single ASCII characters
    keys: Codes  # of tokens that wait to be looked up
    spots: Longs  # of each of them: the place among the ids, begin, end
    places: Ints  # of tokens without an id, among the ids; in no order
    unknown: Bytes  # the texts of these, with a space behind each
    counts: Longs  # how many of them there are, and how many bytes their texts have
    bits: int  # of the number of slots
    known: int  # words with an id below are known
    case: np.uint64  # LOWER_CASE for lower case, else 0
    is_whitespace: bool  # whether the rules are those of `whitespace`
    is_growing: bool  # whether tokens without an id are kept


ARRAYS = 15  # of these fields


@inlined
def _is_white(byte):
    return byte <= 32 and (byte == 32 or byte >= 28 or 9 <= byte <= 13)


@inlined
def _chunk_end(data, i, size):
    """Return where the next ASCII white space is, or the end of the data."""
    while i < size and not _is_white(data[i]):
        i += 1
    return i


@inlined
def _reach(data, low, high, size):
    """Return how far to read on at once: over chunks of one line with other than ASCII at their beginning."""
    while (
        high < size - 16
        and high - low < FOLDED_AT_ONCE
        and data[high] == BLANK
        and load_word(data, high + 1) & _NOT_ASCII
    ):
        high = _chunk_end(data, high + 1, size)
    return high


@kernel
def encode(arrays: tuple[Any, ...], settings: tuple[Any, ...]) -> Any:
    """Write the ids of all tokens of all lines; return (ids, documents, chunks that are left).

    `arrays` and `settings` are the fields of `LoopState`. A chunk that is left has a row in `left` (document, place
    among the ids, where its chunk of text begins, where it begins itself, where it ends) and no ids yet. If there are
    more than `left` has room for, -1 comes in the place of their number, and nothing else counts.
    """
    work = _pointers(arrays, settings)
    data, offsets, left = work.data, work.offsets, work.left
    size, room = arrays[0].size, arrays[3].size // 5
    last = size - BYTES_NEEDED
    find_marks(work)
    i = n = documents = n_left = START
    waiting = (START, START)
    while True:
        if i <= last:
            i, n, documents, waiting = read_plain(i, last, n, documents, waiting, work)
        if i >= size:
            break
        if _is_white(data[i]):
            if data[i] == NEWLINE:
                offsets[documents] = n
                documents += 1
            i += 1
            continue
        chunk = _chunk_end(data, i, size)
        high = _reach(data, i, chunk, size)
        length = fold_bytes(data, i, high, work.entries, work.text, work.kinds)
        if length < 0 and high > chunk:
            high = chunk
            length = fold_bytes(data, i, high, work.entries, work.text, work.kinds)
        if length < 0:
            if n_left == room:
                return n, documents, -1
            row = 5 * n_left
            left[row], left[row + 1], left[row + 3], left[row + 4] = documents, n, i, high
            begin = i
            while begin > 0 and not _is_white(data[begin - 1]):
                begin -= 1
            left[row + 2] = begin
            n_left += 1
        elif work.is_whitespace:
            n = split_spaces(length, n, work)
        else:
            n = split_words(length, n, work)
        i = high
    look_up_waiting(waiting, work)
    if size > 0 and data[size - 1] != NEWLINE:
        offsets[documents] = n
        documents += 1
    return n, documents, n_left


@inlined
def _pointers(arrays, settings):
    """Return `LoopState` with pointers in place of arrays."""
    return LoopState(
        pointer(arrays[0]),
        pointer(arrays[1]),
        pointer(arrays[2]),
        pointer(arrays[3]),
        pointer(arrays[4]),
        pointer(arrays[5]),
        pointer(arrays[6]),
        pointer(arrays[7]),
        pointer(arrays[8]),
        pointer(arrays[9]),
        pointer(arrays[10]),
        pointer(arrays[11]),
        pointer(arrays[12]),
        pointer(arrays[13]),
        pointer(arrays[14]),
        settings[0],
        settings[1],
        settings[2],
        settings[3],
        settings[4],
    )
