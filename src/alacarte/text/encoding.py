"""Documents → token ids, once: a lexicon of words that have an id, and the encoder that looks tokens up in it.

Text goes through a compiled kernel for the tokenizers it knows (`words` and `whitespace`, cased and lower-cased), and
through the tokenizer itself otherwise; the ids are the same either way.
"""

import threading
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.tensors import pack_words
from alacarte.text import _encoding_kernel as kernel
from alacarte.text.corpus import Block, Document
from alacarte.text.tokenizers import TYPOGRAPHIC, Tokenizer, character_classes
from alacarte.vectors.words import Vocabulary

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Table = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]
UNKNOWN = -1


def _table_of(words: Sequence[str]) -> Table:
    """A hash table of words, which have the ids from 0 on: at least two slots a word."""
    nothing = np.zeros(1 << max(4, (2 * len(words)).bit_length()), np.uint64), np.empty(0, np.uint8)
    return _with_words(nothing, words, 0)


def _with_words(table: Table, words: Sequence[str], first: int) -> Table:
    """The same table with more words, whose ids begin at `first`."""
    slots, records = table[0].copy(), table[1]
    text, bounds = pack_words(words)
    longer = np.empty(records.size + text.size + 8 * len(words), np.uint8)
    longer[: records.size] = records
    kernel.add_words(text, bounds, first, slots, longer, records.size)
    return slots, longer


def _words_at(data: npt.NDArray[np.uint8], begins: Longs, ends: Longs) -> list[str]:
    """The words at [begin, end), each of which something ends that is no part of it."""
    lengths = ends - begins + 1
    where = np.arange(lengths.sum()) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    text = data[where]
    text[np.cumsum(lengths) - 1] = ord(" ")
    found: list[str] = text.tobytes().decode("utf-8", "surrogatepass").split(" ")
    return found[:-1]


class Lexicon:
    """Token → id: the vectors' words first, as rows; then words that only targets need; -1 for all others.

    `admit` decides about a token that is met for the first time; with `grow` every token gets an id.
    """

    MANY = 50_000  # sequences from which on a kernel pays
    FORGET_AFTER = 1_000_000  # unknown tokens remembered as such, which bounds the memory they take

    def __init__(self, index: Mapping[str, int], *, grow: bool = False) -> None:
        self.index = index
        self.known = len(index)
        self._ids: Mapping[str, int] = index
        self._extra: list[str] = []
        self._rejected = 0
        self._words: list[str] | None = None
        self.admit: Callable[[str], bool] | None = (lambda token: True) if grow else None
        self._lock = threading.Lock()
        self._size = -1  # when the table was made
        self._table: Table

    def __len__(self) -> int:
        return self.known + len(self._extra)

    def add(self, token: str) -> int:
        """The id of a token, which it gets now if it has none."""
        found = self._ids.get(token, UNKNOWN)
        if found != UNKNOWN:
            return found
        if self._ids is self.index:
            self._ids = dict(self.index)
        new = len(self)
        self._ids[token] = new  # type: ignore[index]
        self._extra.append(token)
        return new

    def add_all(self, tokens: Sequence[str]) -> Ints:
        """The ids of many tokens, as `add` gives them."""
        ids = np.fromiter(map(self._ids.get, tokens, repeat(UNKNOWN)), dtype=np.int32, count=len(tokens))
        new = np.flatnonzero(ids == UNKNOWN).tolist()
        given = {token: self.add(token) for token in dict.fromkeys(tokens[place] for place in new)}
        ids[new] = [given[tokens[place]] for place in new]
        return ids

    def add_sequences(self, sequences: Sequence[str]) -> tuple[Ints, Longs]:
        """The ids of all tokens of many sequences, as `add` gives them, and how many each has; a space ends a token.

        >>> ids, lengths = Lexicon({"a": 0, "b": 1}).add_sequences(["a b", "c"])
        >>> ids.tolist(), lengths.tolist()
        ([0, 1, 2], [2, 1])
        """
        text = "\n".join(sequences)
        if len(sequences) < self.MANY or text.count("\n") != len(sequences) - 1:
            lengths = np.fromiter(map(str.count, sequences, repeat(" ")), np.int64, len(sequences)) + 1
            return self.add_all(" ".join(sequences).split(" ")), lengths
        data = np.frombuffer((text + "\n").encode("utf-8", "surrogatepass"), dtype=np.uint8)
        ids, ends, lengths = kernel.look_up_all(data, len(sequences), *self.table())
        places = np.flatnonzero(ids == UNKNOWN)
        if places.size:
            words = _words_at(data, np.where(places > 0, ends[places - 1] + 1, 0), ends[places])
            ids[places] = self.add_all(words)
        return ids, lengths

    def table(self) -> Table:
        """The hash table of all words that have an id; made anew when enough of them have come."""
        with self._lock:  # several threads begin at once, and one table is enough
            size = len(self)
            grown = size > self._size + (0 if self.admit is None else self._size // 4 + 1000)
            if self._size < 0 or grown:
                self._table = self._made_table()
                self._size = size
            return self._table

    def _made_table(self) -> Table:
        """Of the known words, kept with the vectors for other passes, and of the others beside them."""
        kept: Table | None = self.index.table if isinstance(self.index, Vocabulary) else None
        if kept is None:
            kept = _table_of(list(self.index))
            if isinstance(self.index, Vocabulary):
                self.index.table = kept
        if not self._extra:
            return kept
        if 2 * len(self) <= kept[0].size:
            return _with_words(kept, self._extra, self.known)
        return _table_of([*self.index, *self._extra])

    @property
    def extra(self) -> Sequence[str]:
        """The words beyond the known ones, in the order of their ids."""
        return self._extra

    def word(self, token: int) -> str:
        if token >= self.known:
            return self._extra[token - self.known]
        if self._words is None:
            self._words = list(self.index)
        return self._words[token]

    def ids(self, tokens: Iterable[str]) -> Iterable[int]:
        if self.admit is None:
            return map(self._ids.get, tokens, repeat(UNKNOWN))
        return map(self._admit_or_reject, tokens)

    def _admit_or_reject(self, token: str) -> int:
        found = self._ids.get(token)
        if found is not None:
            return found
        if self.admit is not None and self.admit(token):
            return self.add(token)
        if self._ids is self.index:
            self._ids = dict(self.index)
        if self._rejected >= self.FORGET_AFTER:
            self._ids = {word: number for word, number in self._ids.items() if number != UNKNOWN}
            self._rejected = 0
        self._ids[token] = UNKNOWN  # type: ignore[index]
        self._rejected += 1
        return UNKNOWN


@dataclass(frozen=True)
class Encoded:
    """Documents as ids: document i is `ids[offsets[i]:offsets[i + 1]]`; spans count positions in `ids`."""

    ids: Ints
    offsets: Longs
    spans: list[tuple[int, int, str]]


class Encoder:
    """Turns documents into ids with one tokenizer and one lexicon.

    >>> from alacarte.text.tokenizers import get_tokenizer
    >>> encoder = Encoder(get_tokenizer("words"), Lexicon({"a": 0, "rose": 1}))
    >>> encoder.encode(["A rose is", ["a"]]).ids.tolist()
    [0, 1, -1, 0]
    """

    SMALL = 1 << 21  # bytes

    def __init__(self, tokenizer: Tokenizer, lexicon: Lexicon) -> None:
        self.tokenizer = tokenizer
        self.lexicon = lexicon
        self.compiled = tokenizer.named and tokenizer.name in _COMPILED
        self._plain = 0  # bytes encoded by the tokenizer itself, or expected

    def encode(self, block: Block | Iterable[str | Sequence[str] | Document]) -> Encoded:
        """The ids of a block of documents."""
        documents: Iterable[str | Sequence[str] | Document] = block.documents if isinstance(block, Block) else block
        if isinstance(block, Block) and block.text is not None:
            if self.compiled and self._enough(len(block.text)):
                return self._encode_lines(block)
            lines = block.line(0, len(block.text)).split("\n")
            return self._encode_documents(line for line in lines if line and not line.isspace())
        if self.compiled and isinstance(documents, list) and all(type(document) is str for document in documents):
            # White space is white space: a line's end within a document becomes a space and ends nothing.
            text = "\n".join(document.replace("\n", " ") for document in documents) + "\n"
            if self._enough(len(text)):
                return self._encode_lines(Block(text.encode("utf-8", "surrogatepass"), [], 0))
        return self._encode_documents(documents)

    def expect(self, size: int) -> None:
        """So many bytes are going to come: no need to wait and see whether they are many."""
        self._plain = max(self._plain, size)

    def _enough(self, size: int) -> bool:
        """Whether there is text enough for the kernel to pay: it takes seconds to compile the first time ever."""
        self._plain += size
        return self._plain > self.SMALL

    # ------------------------------------------------------------------------------ through the tokenizer

    def _encode_documents(self, documents: Iterable[str | Sequence[str] | Document]) -> Encoded:
        ids = array("i")
        offsets = array("q", [0])
        spans: list[tuple[int, int, str]] = []
        lexicon, tokenizer = self.lexicon, self.tokenizer
        known = lexicon.index
        for document in documents:
            if isinstance(document, str):
                ids.extend(lexicon.ids(tokenizer(document, known)))
            elif isinstance(document, Document):
                _encode_annotated(document, tokenizer, lexicon, ids, spans)
            else:
                ids.extend(lexicon.ids(document))
            offsets.append(len(ids))
        return Encoded(np.array(ids, dtype=np.int32), np.array(offsets, dtype=np.int64), spans)

    # ---------------------------------------------------------------------------------- through the kernel

    def _encode_lines(self, block: Block) -> Encoded:
        data = np.frombuffer(block.text or b"", dtype=np.uint8)
        classes, folded, whitespace = _character_tables(self.tokenizer.name)
        room = data.size + 1
        lines = int(np.count_nonzero(data == ord("\n"))) + 1
        ids = np.empty(room, dtype=np.int32)
        offsets = np.zeros(lines + 1, dtype=np.int64)
        slow = np.empty(3 * lines, dtype=np.int64)
        unknown: tuple[Any, ...]
        if self.lexicon.admit is None:
            unknown = np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint8)
        else:
            unknown = np.empty(room, np.int32), np.zeros(room + 1, np.int64), np.empty(2 * room, np.uint8)
        n_ids, documents, n_slow, n_unknown = kernel.encode_lines(
            data,
            classes,
            folded,
            whitespace,
            self.lexicon.known,
            *self.lexicon.table(),
            ids,
            offsets[1:],
            slow,
            *unknown,
        )
        ids, offsets = ids[:n_ids], offsets[: documents + 1]
        if n_unknown:
            self._resolve_unknown(ids, *unknown, n_unknown)
        if n_slow:
            ids, offsets = self._splice_slow_lines(ids, offsets, slow[: 3 * n_slow].reshape(-1, 3), block)
        return Encoded(ids, offsets, [])

    def _resolve_unknown(self, ids: Ints, places: Ints, bounds: Longs, text: npt.NDArray[np.uint8], count: int) -> None:
        """Tokens that the kernel has no id for, but that patterns or a growing lexicon may want."""
        raw = text[: bounds[count]].tobytes()
        tokens = [raw[low:high].decode() for low, high in pairwise(bounds[: count + 1].tolist())]
        ids[places[:count]] = np.fromiter(self.lexicon.ids(tokens), dtype=np.int32, count=count)

    def _splice_slow_lines(self, ids: Ints, offsets: Longs, slow: Longs, block: Block) -> tuple[Ints, Longs]:
        """Put the ids of the lines that the kernel left out where they belong."""
        pieces: list[Ints] = []
        lengths = np.diff(offsets)
        done = 0
        for document, low, high in slow.tolist():
            tokens = self.tokenizer(block.line(low, high), self.lexicon.index)
            piece = np.fromiter(self.lexicon.ids(tokens), dtype=np.int32, count=len(tokens))
            pieces += [ids[done : offsets[document]], piece]
            done = int(offsets[document])
            lengths[document] = len(tokens)
        pieces.append(ids[done:])
        return np.concatenate(pieces), np.concatenate([[0], np.cumsum(lengths)])


def _encode_annotated(
    document: Document, tokenizer: Tokenizer, lexicon: Lexicon, ids: "array[int]", spans: list[tuple[int, int, str]]
) -> None:
    start = len(ids)
    if document.tokens is not None:
        ids.extend(lexicon.ids(document.tokens))
        spans.extend((start + low, start + high, label) for low, high, label in document.spans)
        return
    # Text is tokenised between the borders of the spans, so that a span always begins and ends with a token.
    text = document.text or ""
    borders = sorted({0, len(text), *(border for low, high, _ in document.spans for border in (low, high))})
    token_at = {0: start}
    for low, high in pairwise(borders):
        ids.extend(lexicon.ids(tokenizer(text[low:high], lexicon.index)))
        token_at[high] = len(ids)
    for low, high, label in document.spans:
        if token_at[low] < token_at[high]:  # a span of white space holds no token
            spans.append((token_at[low], token_at[high], label))


# ------------------------------------------------------------------------------------- tables for the kernel

_COMPILED = ("words", "words-cased", "whitespace", "whitespace-lower")


@cache
def _character_tables(name: str) -> tuple[npt.NDArray[np.uint8], Ints, bool]:
    """(class of each code point, what it is folded to, whether only white space counts) for a tokenizer."""
    whitespace, lower = name.startswith("whitespace"), name in ("words", "whitespace-lower")
    classes = np.full(kernel.TABLE, kernel.SLOW, dtype=np.uint8)
    folded = np.arange(kernel.TABLE, dtype=np.int32)
    special, second = character_classes(), _may_compose()
    marks, spaces, ignored = set(special["mark"]), set(special["space"]), set(special["ignored"])
    for code, character in enumerate(map(chr, range(kernel.TABLE))):
        small = character.lower()
        if len(small) != 1 or character == "\u03a3" or 0xD800 <= code <= 0xDFFF or code in second:
            continue  # its lower case is longer, or depends on its neighbours (final sigma), or it may join another
        if not unicodedata.is_normalized("NFC", character):
            continue
        result = small if lower else character
        if not whitespace:  # as `fold` does, for a character that normalisation leaves alone
            result = "" if character in ignored else TYPOGRAPHIC.get(result, result)
        if result != character and not unicodedata.is_normalized("NFC", character + result):
            continue
        if not whitespace and character in ignored:
            kind = kernel.IGNORED
        elif result.isspace() or (not whitespace and result in spaces):
            kind = kernel.SPACE
        elif whitespace or result.isalnum() or result == "_" or result in marks:
            kind = kernel.WORD
        else:
            kind = kernel.PUNCTUATION
        classes[code] = kind | (kernel.COMBINING if unicodedata.combining(character) else 0)
        if result:
            folded[code] = ord(result)
    return classes, folded, whitespace


@cache
def _may_compose() -> frozenset[int]:
    """Characters that normalisation may join to the one before: second in a canonical pair, and Hangul vowels."""
    second = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for code in range(0x30000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second.add(int(parts[1], 16))
    return frozenset(second)
