"""The compiled kernels with the arrays they work on: text → ids, and the hash table of the words."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Bytes, Codes, Ints, Longs
from alacarte._io.tensors import pack_words
from alacarte.text._characters import character_table
from alacarte.text._kernels import encode, fold, look_up, plain
from alacarte.text._kernels.look_up import WordTable
from alacarte.vectors.words import Vocabulary

ROOM = 3 << 19  # bytes of text, in steps of which room grows: a block of a million ends a little before or behind it
MOST_KEPT = 8 * ROOM


def word_table_of(words: Sequence[str] | Vocabulary) -> WordTable:
    """Return a hash table of words, which have the ids from 0 on: at least two slots for each word."""
    bits = max(4, (2 * len(words)).bit_length())
    return with_words(WordTable(np.zeros(2 << bits, np.uint64), np.empty(0, np.uint64), bits), words, 0)


def with_words(table: WordTable, words: Sequence[str] | Vocabulary, first: int) -> WordTable:
    """Return the table with more words, whose ids begin at `first`."""
    text, bounds = words.packed() if isinstance(words, Vocabulary) else pack_words(words)
    text, bounds = _padded(text), np.array(bounds)  # which may lie in a file: one type of array for the compiler
    lengths = np.diff(bounds)
    longer = lengths[(lengths > 8) | ((lengths > 0) & (text[bounds[1:] - 1] == 0))]
    more = np.empty(longer.size + int(((longer + 7) // 8).sum()), np.uint64)
    new = WordTable(table.slots.copy(), np.concatenate([table.records, more]), table.bits)
    look_up.add_words(text, bounds, first, tuple(new), table.records.size)
    return new


def look_up_parts(sequences: str, table: WordTable) -> tuple[Ints, Longs, dict[int, str]]:
    """Return the ids of the parts of lines between spaces, their number in each line, and the parts without an id."""
    data = _padded(np.frombuffer((sequences + "\n").encode("utf-8", "surrogatepass"), np.uint8))
    ends = np.flatnonzero((data == ord(" ")) | (data == ord("\n")))
    begins = np.concatenate([[0], ends[:-1] + 1])
    ids = np.empty(ends.size, np.int32)
    look_up.look_up_all(data, begins, ends, tuple(table), ids)
    lengths = np.diff(np.flatnonzero(data[ends] == ord("\n")), prepend=-1)
    unknown = {
        place: data[begins[place] : ends[place]].tobytes().decode("utf-8", "surrogatepass")
        for place in np.flatnonzero(ids < 0).tolist()
    }
    return ids, lengths, unknown


def _padded(data: Bytes) -> Bytes:
    """Return the same with eight more bytes, for what reads eight at a time."""
    return np.concatenate([data, np.zeros(8, np.uint8)])


class Room(NamedTuple):
    """Arrays that a chunk of text is encoded into. Memory that is not touched costs nothing."""

    ids: Ints
    offsets: Longs
    left: Longs
    text: Bytes
    kinds: Bytes
    marks: Ints
    keys: Codes
    spots: Longs
    places: Ints
    unknown: Bytes
    counts: Longs

    @classmethod
    def of(cls, size: int) -> "Room":
        folded = int(size * fold.GROWTH) + 16
        return cls(
            ids=np.empty(size, np.int32),  # a token has at least one byte
            offsets=np.empty(size + 2, np.int64),  # and a line its end
            left=np.empty(5 * _most_left(size), np.int64),
            text=np.empty(folded, np.uint8),
            kinds=np.empty(folded, np.uint8),
            marks=np.empty(128, np.int32),
            keys=np.empty(2 * plain.BATCH, np.uint64),
            spots=np.empty(6 * plain.BATCH, np.int64),
            places=np.empty(size, np.int32),
            unknown=np.empty(folded + size, np.uint8),
            counts=np.zeros(2, np.int64),
        )


def _most_left(size: int) -> int:
    """Return how many chunks may be left to Python: if there are more, it is faster to normalise the whole text."""
    return size // 128 + 8


class Coded(NamedTuple):
    """Lines as ids: line i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: Ints
    offsets: Longs
    left: npt.NDArray[np.int64] | None  # see `_kernels.encode`; None if that is much, and nothing else counts
    places: Ints  # of tokens without an id, in their order; only if they are wanted
    unknown: list[str]  # these tokens


class Rules(NamedTuple):
    """How text is split, and what is wanted of it."""

    is_whitespace: bool  # whether white space alone counts
    lower: bool  # whether upper case does not
    is_normal: bool  # whether the text is in normal form and in the right case; then nothing is left
    known: int  # words with an id below guide the splitting
    is_growing: bool  # whether tokens without an id are wanted


def encode_text(text: bytes, rules: Rules, table: WordTable, room: Room) -> Coded:
    """Return the ids of all lines of a text; what the kernel cannot decide is left."""
    lower = rules.lower and not rules.is_normal
    data = np.frombuffer(text, np.uint8)
    room.counts[:] = 0
    work = encode.LoopState(
        data=data,
        slots=table.slots,
        records=table.records,
        bits=table.bits,
        entries=character_table(rules.is_whitespace, lower, rules.is_normal),
        known=rules.known,
        case=look_up.LOWER_CASE if lower else np.uint64(0),
        is_whitespace=rules.is_whitespace,
        is_growing=rules.is_growing,
        **room._replace(left=room.left[: 5 * _most_left(data.size)])._asdict(),
    )
    written, lines, n_left = encode.encode(work[: encode.ARRAYS], work[encode.ARRAYS :])
    offsets = np.zeros(lines + 1, np.int64)
    offsets[1:] = room.offsets[:lines]
    count, size = room.counts.tolist()
    order = np.argsort(room.places[:count], kind="stable")
    tokens = room.unknown[:size].tobytes().decode("utf-8", "surrogatepass").split(" ") if count else []
    return Coded(
        room.ids[:written].copy(),
        offsets,
        None if n_left < 0 else room.left[: 5 * n_left].reshape(n_left, 5).copy(),
        room.places[order],
        [tokens[number] for number in order.tolist()],
    )
