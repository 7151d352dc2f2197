"""Documents → token ids, once: a lexicon of words that have an id, and the encoder that looks tokens up in it.

Text goes through a compiled kernel for the tokenizers it knows (`words` and `whitespace`, cased and lower-cased), and
through the tokenizer itself otherwise; the ids are the same either way.
"""

import threading
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np

from alacarte._io.arrays import Ints, Longs
from alacarte.text.documents import Document, plain
from alacarte.text.segments import Block
from alacarte.text.tokenizers import Tokenizer
from alacarte.vectors.words import Vocabulary

if TYPE_CHECKING:  # it takes a while to import, and a few sentences do without it
    from alacarte.text._kernels.look_up import WordTable

UNKNOWN_ID = -1
TEXTS_AT_ONCE = 1 << 15  # texts that are encoded together
FEW_EXTRA = 500  # words that are looked up outside of the table before it is made anew with them
# By name: whether white space alone counts, and whether upper case does not.
_RULES = {
    "words": (False, True),
    "words-cased": (False, False),
    "whitespace": (True, False),
    "whitespace-lower": (True, True),
}


class Lexicon:
    """The ids of words: first the words of vectors, by their rows, then words that only targets need.

    Several threads may use one lexicon at once.

    Parameters
    ----------
    index : mapping of str to int
        The row of each word that has a vector: the known words.
    grow : bool
        Whether every token gets an id when it is first seen. Otherwise tokens without an id are -1. The attribute
        `admit` may be set to a function that decides about each such token.
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
        self._lock = threading.RLock()
        self._tabled = -FEW_EXTRA - 1  # extra words that are in the table; fewer than none before there is one
        self._table: WordTable

    def __len__(self) -> int:
        return self.known + len(self._extra)

    def _copied_index(self) -> dict[str, int]:
        """Return the index as a dictionary of its own; a vocabulary copies its without a step for each word."""
        return self.index.copy() if isinstance(self.index, Vocabulary) else dict(self.index)

    def add(self, token: str) -> int:
        """Return the id of a token, which it gets now if it has none."""
        with self._lock:
            number = self._ids.get(token, UNKNOWN_ID)
            if number != UNKNOWN_ID:
                return number
            if self._ids is self.index:
                self._ids = self._copied_index()
            new = len(self)
            self._ids[token] = new  # type: ignore[index]
            self._extra.append(token)
            return new

    def add_all(self, tokens: Sequence[str]) -> Ints:
        """Return the ids of many tokens, as `add` gives them."""
        ids = np.fromiter(map(self._ids.get, tokens, repeat(UNKNOWN_ID)), dtype=np.int32, count=len(tokens))
        new = np.flatnonzero(ids == UNKNOWN_ID).tolist()
        given = {token: self.add(token) for token in dict.fromkeys(tokens[place] for place in new)}
        ids[new] = [given[tokens[place]] for place in new]
        return ids

    def add_sequences(self, sequences: Sequence[str]) -> tuple[Ints, Longs]:
        """Return the ids of all tokens of many sequences, as `add` gives them, and their numbers; a space ends a token.

        >>> ids, lengths = Lexicon({"a": 0, "b": 1}).add_sequences(["a b", "c"])
        >>> ids.tolist(), lengths.tolist()
        ([0, 1, 2], [2, 1])
        """
        text = "\n".join(sequences)
        if len(sequences) < self.MANY or text.count("\n") != len(sequences) - 1:
            lengths = np.fromiter(map(str.count, sequences, repeat(" ")), np.int64, len(sequences)) + 1
            return self.add_all(" ".join(sequences).split(" ")), lengths
        from alacarte.text import _compiled

        ids, lengths, unknown = _compiled.look_up_parts(text, self.table())
        if unknown:
            ids[[*unknown]] = self.add_all([*unknown.values()])
        return ids, lengths

    def table(self) -> "WordTable":
        """Return a hash table of the words that have an id, but for a few that were added since it was built."""
        with self._lock:  # several threads begin at once, and one table is enough
            extra = len(self._extra)
            # Where words are admitted on the way, each table has twice as many of them, or a few.
            if extra > (self._tabled if self.admit is None else 2 * self._tabled + FEW_EXTRA):
                self._table = self._new_table()
                self._tabled = extra
            return self._table

    def _new_table(self) -> "WordTable":
        """Build it of the known words, kept with the vectors for other passes, and of the others beside them."""
        from alacarte.text import _compiled

        kept: WordTable | None = self.index.table if isinstance(self.index, Vocabulary) else None
        if kept is None:
            kept = _compiled.word_table_of(self.index if isinstance(self.index, Vocabulary) else list(self.index))
            if isinstance(self.index, Vocabulary):
                self.index.table = kept
        if not self._extra:
            return kept
        if 4 * len(self) <= kept.slots.size:
            return _compiled.with_words(kept, self._extra, self.known)
        return _compiled.word_table_of([*self.index, *self._extra])

    @property
    def extra(self) -> Sequence[str]:
        """The words beyond the known ones, in the order of their ids."""
        return self._extra

    def word(self, token: int) -> str:
        """Return the word that has an id."""
        if token >= self.known:
            return self._extra[token - self.known]
        if self._words is None:
            self._words = list(self.index)
        return self._words[token]

    def ids(self, tokens: Iterable[str]) -> Iterable[int]:
        """Return the ids of tokens; new ones are given or refused as `admit` says."""
        if self.admit is None:
            return map(self._ids.get, tokens, repeat(UNKNOWN_ID))
        tokens = list(tokens)
        with self._lock:
            numbers = list(map(self._ids.get, tokens))
            return [
                self._admit_or_reject(token) if number is None else number
                for token, number in zip(tokens, numbers, strict=True)
            ]

    def _admit_or_reject(self, token: str) -> int:
        number = self._ids.get(token)  # it may have come a moment ago
        if number is not None:
            return number
        if self._ids is self.index:
            self._ids = self._copied_index()
        if self.admit is not None and self.admit(token):
            self._ids[token] = number = len(self)  # type: ignore[index]
            self._extra.append(token)
            return number
        if self._rejected >= self.FORGET_AFTER:
            self._ids = {word: number for word, number in self._ids.items() if number != UNKNOWN_ID}
            self._rejected = 0
        self._ids[token] = UNKNOWN_ID  # type: ignore[index]
        self._rejected += 1
        return UNKNOWN_ID


@dataclass(frozen=True)
class Encoded:
    """Documents as ids: document i is `ids[offsets[i]:offsets[i + 1]]`; spans count positions in `ids`."""

    ids: Ints
    offsets: Longs
    spans: list[tuple[int, int, str]]
    block: Block | None = None  # where they come from, in a pass over a corpus


class Encoder:
    """Documents → ids, with one tokenizer and one lexicon; several threads may use it at once.

    Examples
    --------
    >>> from alacarte.text.tokenizers import get_tokenizer
    >>> encoder = Encoder(get_tokenizer("words"), Lexicon({"a": 0, "rose": 1}))
    >>> encoder.encode(["A rose is", ["a"]]).ids.tolist()
    [0, 1, -1, 0]
    """

    SMALL = 1 << 20  # bytes, a tenth of a second for the tokenizer: below, loading the kernel takes longer

    def __init__(self, tokenizer: Tokenizer, lexicon: Lexicon) -> None:
        self.tokenizer = tokenizer
        self.lexicon = lexicon
        self.compiled = tokenizer.named and tokenizer.name in _RULES
        self._threads = threading.local()
        self._plain = 0  # bytes encoded by the tokenizer itself, or expected

    def encode(self, block: Block | Iterable[str | Sequence[str] | Document]) -> Encoded:
        """Return the ids of a block of documents."""
        documents = [
            plain(document) if isinstance(document, Document) and not document.spans else document
            for document in (block.documents if isinstance(block, Block) else block)
        ]
        if isinstance(block, Block) and block.text is not None:
            if self.compiled and self._enough(len(block.text)):
                return self._encode_lines(block)
            lines = block.line(0, len(block.text)).split("\n")
            return self._encode_documents(line for line in lines if line and not line.isspace())
        if self.compiled and all(type(document) is str for document in documents):
            # White space is white space: a line's end within a document becomes a space and ends nothing.
            text = "\n".join(document.replace("\n", " ") for document in documents) + "\n"  # type: ignore[union-attr]
            if self._enough(len(text)):
                return self._encode_lines(Block(text.encode("utf-8", "surrogatepass"), [], 0))
        return self._encode_documents(documents)

    def add_texts(self, texts: Sequence[str]) -> tuple[Ints, Longs]:
        """Return the ids of all tokens of many texts, which they get now if they have none, and how many each text has.

        >>> from alacarte.text.tokenizers import get_tokenizer
        >>> ids, lengths = Encoder(get_tokenizer("words"), Lexicon({"a": 0})).add_texts(["A rose", "a"])
        >>> ids.tolist(), lengths.tolist()
        ([0, 1, 0], [2, 1])
        """
        before, self.lexicon.admit = self.lexicon.admit, lambda token: True
        try:
            parts = [self.encode(texts[low : low + TEXTS_AT_ONCE]) for low in range(0, len(texts), TEXTS_AT_ONCE)]
        finally:
            self.lexicon.admit = before
        none = np.empty(0, np.int32)
        lengths = [np.diff(part.offsets) for part in parts]
        return np.concatenate([none, *(part.ids for part in parts)]), np.concatenate([none.astype(np.int64), *lengths])

    def expect(self, size: int) -> None:
        """Prepare for a number of bytes: if they are many, the first of them go through the kernel, too."""
        self._plain = max(self._plain, size)

    def _enough(self, size: int) -> bool:
        """Whether there is text enough for the kernel to pay."""
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
        text = block.text or b""
        ids, offsets, left = self._run(text)
        if left is None:
            ids, offsets, left = self._run(self._normalised(block.line(0, len(text))), is_normal=True)
        elif left.size:
            ids, offsets = self._with_left_chunks(ids, offsets, left, block)
        return Encoded(ids, offsets, [])

    def _normalised(self, text: str) -> bytes:
        """Return the text in normal form and in the right case, in the order in which the tokenizer does both."""
        is_whitespace, lower = _RULES[self.tokenizer.name]
        if lower and is_whitespace:
            text = text.lower()
        text = unicodedata.normalize("NFC", text)
        if lower and not is_whitespace:
            text = text.lower()
        return text.encode("utf-8", "surrogatepass")

    def _run(self, text: bytes, is_normal: bool = False) -> tuple[Ints, Longs, Longs | None]:
        """Return the ids and offsets of the lines of a text, and what is left of it (see `_compiled.Coded`)."""
        from alacarte.text import _compiled

        room: _compiled.Room | None = getattr(self._threads, "room", None)
        if room is None or len(text) > room.ids.size:
            room = _compiled.Room.of(-(-len(text) // _compiled.ROOM) * _compiled.ROOM)
            if len(text) <= _compiled.MOST_KEPT:  # by the thread for the next block, as new memory costs time
                self._threads.room = room
        lexicon = self.lexicon
        rules = _compiled.Rules(*_RULES[self.tokenizer.name], is_normal, lexicon.known, lexicon.admit is not None)
        coded = _compiled.encode_text(text, rules, lexicon.table(), room)
        if coded.unknown:
            coded.ids[coded.places] = np.fromiter(lexicon.ids(coded.unknown), np.int32, len(coded.unknown))
        return coded.ids, coded.offsets, coded.left

    def _with_left_chunks(self, ids: Ints, offsets: Longs, left: Longs, block: Block) -> tuple[Ints, Longs]:
        """Put the ids of what the kernel left out where they belong."""
        # From white space on, because a letter's case may depend on what is before it.
        rows = left.tolist()
        chunks = self._normalised("\n".join(block.line(begin, high) for _, _, begin, _, high in rows)).split(b"\n")
        # What is before `low` has ids already, and is ASCII, whose length nothing changes.
        chunks = [chunk[low - begin :] for chunk, (_, _, begin, low, _) in zip(chunks, rows, strict=True)]
        more, bounds, _ = self._run(b"\n".join([*chunks, b""]), is_normal=True)
        lengths = np.diff(bounds)
        added = np.zeros_like(offsets)
        np.add.at(added, left[:, 0] + 1, lengths)
        return np.insert(ids, np.repeat(left[:, 1], lengths), more), offsets + np.cumsum(added)


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
