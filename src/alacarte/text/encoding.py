"""Documents → token ids, once: a lexicon of words that have an id, and the encoder that looks tokens up in it.

Text goes through a compiled kernel for the tokenizers it knows (`words` and `whitespace`, cased and lower-cased), and
through the tokenizer itself otherwise; the ids are the same either way.
"""

import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from alacarte._io.tensors import pack_words
from alacarte.errors import BadCorpus
from alacarte.text.corpus import Block, Document, plain
from alacarte.text.tokenizers import Tokenizer
from alacarte.vectors.words import Vocabulary

if TYPE_CHECKING:  # it takes a while to import, and a few sentences do without it
    from alacarte.text import _encoding_kernel as kernel

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
UNKNOWN = -1
TOGETHER = 1 << 15  # texts that are encoded together
FEW_EXTRA = 500  # words that are looked up outside of the table before it is made anew with them
# By name: whether white space alone counts, and whether upper case does not.
_COMPILED = {
    "words": (False, True),
    "words-cased": (False, False),
    "whitespace": (True, False),
    "whitespace-lower": (True, True),
}


def _padded(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The same with eight more bytes, for what reads eight at a time."""
    return np.concatenate([data, np.zeros(8, np.uint8)])


def _table_of(words: Sequence[str] | Vocabulary) -> "kernel.Table":
    """A hash table of words, which have the ids from 0 on: at least two slots a word."""
    from alacarte.text import _encoding_kernel as kernel

    bits = max(4, (2 * len(words)).bit_length())
    return _with_words(kernel.Table(np.zeros(2 << bits, np.uint64), np.empty(0, np.uint64), bits), words, 0)


def _with_words(table: "kernel.Table", words: Sequence[str] | Vocabulary, first: int) -> "kernel.Table":
    """The same table with more words, whose ids begin at `first`."""
    from alacarte.text import _encoding_kernel as kernel

    text, bounds = words.packed() if isinstance(words, Vocabulary) else pack_words(words)
    text, bounds = _padded(text), np.array(bounds)  # which may lie in a file: one type of array for the compiler
    lengths = np.diff(bounds)
    longer = lengths[(lengths > 8) | ((lengths > 0) & (text[bounds[1:] - 1] == 0))]
    more = np.empty(longer.size + int(((longer + 7) // 8).sum()), np.uint64)
    new = kernel.Table(table.slots.copy(), np.concatenate([table.records, more]), table.bits)
    kernel.add_words(text, bounds, first, new, table.records.size)
    return new


def _words_at(data: npt.NDArray[np.uint8], begins: Longs, ends: Longs) -> list[str]:
    """The words at [begin, end), each of which something ends that is no part of it."""
    lengths = ends - begins + 1
    where = np.arange(lengths.sum()) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    text = data[where]
    text[np.cumsum(lengths) - 1] = ord(" ")
    words: list[str] = text.tobytes().decode("utf-8", "surrogatepass").split(" ")
    return words[:-1]


class Lexicon:
    """Token → id: the vectors' words first, as rows; then words that only targets need; -1 for all others.

    `admit` decides about a token that is met for the first time; with `grow` every token gets an id. Several threads
    may use one lexicon at once.
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
        self._table: kernel.Table

    def __len__(self) -> int:
        return self.known + len(self._extra)

    def _copied_index(self) -> dict[str, int]:
        """The index as a dictionary of its own; a vocabulary's copy takes no step for each word."""
        return self.index.copy() if isinstance(self.index, Vocabulary) else dict(self.index)

    def add(self, token: str) -> int:
        """The id of a token, which it gets now if it has none."""
        with self._lock:
            number = self._ids.get(token, UNKNOWN)
            if number != UNKNOWN:
                return number
            if self._ids is self.index:
                self._ids = self._copied_index()
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
        from alacarte.text import _encoding_kernel as kernel

        data = _padded(np.frombuffer((text + "\n").encode("utf-8", "surrogatepass"), dtype=np.uint8))
        ids, ends, lengths = kernel.look_up_all(data, data.size - 8, len(sequences), self.table())
        places = np.flatnonzero(ids == UNKNOWN)
        if places.size:
            words = _words_at(data, np.where(places > 0, ends[places - 1] + 1, 0), ends[places])
            ids[places] = self.add_all(words)
        return ids, lengths

    def table(self) -> "kernel.Table":
        """The hash table of all words that have an id; made anew when enough of them have come."""
        with self._lock:  # several threads begin at once, and one table is enough
            extra = len(self._extra)
            # Where words are admitted on the way, each table has twice as many of them, or a few.
            if extra > (self._tabled if self.admit is None else 2 * self._tabled + FEW_EXTRA):
                self._table = self._made_table()
                self._tabled = extra
            return self._table

    def _made_table(self) -> "kernel.Table":
        """Of the known words, kept with the vectors for other passes, and of the others beside them."""
        kept: kernel.Table | None = self.index.table if isinstance(self.index, Vocabulary) else None
        if kept is None:
            kept = _table_of(self.index if isinstance(self.index, Vocabulary) else list(self.index))
            if isinstance(self.index, Vocabulary):
                self.index.table = kept
        if not self._extra:
            return kept
        if 4 * len(self) <= kept.slots.size:
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
            self._ids = {word: number for word, number in self._ids.items() if number != UNKNOWN}
            self._rejected = 0
        self._ids[token] = UNKNOWN  # type: ignore[index]
        self._rejected += 1
        return UNKNOWN


@dataclass(frozen=True)
class Encoded:
    """Documents as ids: document i is `ids[offsets[i]:offsets[i + 1]]`; spans count positions in `ids`.

    `block` is where they come from, in a pass over a corpus.
    """

    ids: Ints
    offsets: Longs
    spans: list[tuple[int, int, str]]
    block: Block | None = None


class Encoder:
    """Turns documents into ids with one tokenizer and one lexicon; several threads may use it at once.

    >>> from alacarte.text.tokenizers import get_tokenizer
    >>> encoder = Encoder(get_tokenizer("words"), Lexicon({"a": 0, "rose": 1}))
    >>> encoder.encode(["A rose is", ["a"]]).ids.tolist()
    [0, 1, -1, 0]
    """

    SMALL = 1 << 16  # bytes: below, loading the compiled kernel costs more than it saves
    KEPT = 3 << 19  # ids that a thread keeps room for: a block of a million bytes ends a little before or behind it

    def __init__(self, tokenizer: Tokenizer, lexicon: Lexicon) -> None:
        self.tokenizer = tokenizer
        self.lexicon = lexicon
        self.compiled = tokenizer.named and tokenizer.name in _COMPILED
        self._threads = threading.local()
        self._plain = 0  # bytes encoded by the tokenizer itself, or expected

    def encode(self, block: Block | Iterable[str | Sequence[str] | Document]) -> Encoded:
        """The ids of a block of documents."""
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
        """The ids of all tokens of many texts, which they get now if they have none, and how many tokens each has.

        >>> from alacarte.text.tokenizers import get_tokenizer
        >>> ids, lengths = Encoder(get_tokenizer("words"), Lexicon({"a": 0})).add_texts(["A rose", "a"])
        >>> ids.tolist(), lengths.tolist()
        ([0, 1, 0], [2, 1])
        """
        before, self.lexicon.admit = self.lexicon.admit, lambda token: True
        try:
            parts = [self.encode(texts[low : low + TOGETHER]) for low in range(0, len(texts), TOGETHER)]
        finally:
            self.lexicon.admit = before
        none = np.empty(0, np.int32)
        lengths = [np.diff(part.offsets) for part in parts]
        return np.concatenate([none, *(part.ids for part in parts)]), np.concatenate([none.astype(np.int64), *lengths])

    def expect(self, size: int) -> None:
        """So many bytes are going to come: no need to wait and see whether they are many."""
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
        from alacarte.text import _encoding_kernel as kernel
        from alacarte.text._character_tables import character_tables

        text = block.text or b""
        data = np.frombuffer(text, dtype=np.uint8)
        whitespace, lower = _COMPILED[self.tokenizer.name]
        encode = kernel.encode_spaces if whitespace else kernel.encode_words
        ids = self._room_for_ids(data.size)  # a token has at least one byte
        offsets = np.zeros(text.count(b"\n") + 2, dtype=np.int64)
        unknown = self._room_for_unknown(0 if self.lexicon.admit is None else data.size)
        work = kernel.Work(
            data=data,
            ids=ids,
            case=kernel.CASE if lower else np.uint64(0),
            known=self.lexicon.known,
            table=self.lexicon.table(),
            characters=character_tables(whitespace, lower),
            unknown=unknown,
            scratch=self._scratch(),
        )
        written, documents, left, needed = encode(work.plain(), offsets[1:])
        while needed:  # so long a chunk of text without white space has not been met yet: once more, with more room
            unknown.total[0] = 0
            work = work._replace(scratch=self._scratch(2 * needed))
            written, documents, left, needed = encode(work.plain(), offsets[1:])
        ids, offsets = ids[:written].copy(), offsets[: documents + 1]
        if unknown.total[0]:
            self._resolve_unknown(ids, unknown)
        if left.size:
            ids, offsets = self._splice_left_out(ids, offsets, left, block)
        return Encoded(ids, offsets, [])

    def _room_for_ids(self, size: int) -> Ints:
        """At least so many; kept by the thread for the next block, as new memory costs time."""
        if size > self.KEPT:
            return np.empty(size, np.int32)
        kept: Ints | None = getattr(self._threads, "ids", None)
        if kept is None:
            kept = self._threads.ids = np.empty(self.KEPT, np.int32)  # memory that is not touched costs nothing
        return kept

    def _room_for_unknown(self, size: int) -> "kernel.Unknown":
        """For the tokens of so many bytes of text; none for 0. Kept by the thread, like the room for ids."""
        from alacarte.text import _encoding_kernel as kernel

        kept: kernel.Unknown | None = getattr(self._threads, "unknown", None)
        if kept is None or kept.places.size < size or size > self.KEPT or kept.wanted != (size > 0):
            kept = kernel.Unknown(
                size > 0,
                np.empty(size, np.int32),
                np.empty(size + 1, np.int64),
                np.empty(4 * size, np.uint8),
                np.zeros(1, np.int64),
            )
            self._threads.unknown = kept
        kept.bounds[0] = kept.total[0] = 0
        return kept

    def _scratch(self, size: int = 0) -> "kernel.Scratch":
        """This thread's room for the kernel to work in, of at least so many bytes of text."""
        from alacarte.text import _encoding_kernel as kernel

        scratch: kernel.Scratch | None = getattr(self._threads, "scratch", None)
        if scratch is None or scratch.size < size:
            size = max(size, 4096)
            room = 4 * size + 32  # a normalised character is at most three times as long
            scratch = self._threads.scratch = kernel.Scratch(
                text=np.empty(room, np.uint8),
                kinds=np.empty(room, np.uint8),
                codes=np.empty(room, np.int32),
                spare=np.empty(room, np.int32),
                size=size,
                keys=np.empty(2 * kernel.BATCH, np.uint64),
                spots=np.empty(6 * kernel.BATCH, np.int64),
            )
        return scratch

    def _resolve_unknown(self, ids: Ints, unknown: "kernel.Unknown") -> None:
        """Tokens that the kernel has no id for, but that patterns or a growing lexicon may want."""
        count = int(unknown.total[0])
        ends = unknown.bounds[1 : count + 1]
        words = np.insert(unknown.text[: ends[-1]], ends, ord(" ")).tobytes().decode().split(" ")
        order = np.argsort(unknown.places[:count], kind="stable")
        tokens = [words[number] for number in order.tolist()]
        ids[unknown.places[order]] = np.fromiter(self.lexicon.ids(tokens), dtype=np.int32, count=count)

    def _splice_left_out(self, ids: Ints, offsets: Longs, left: Longs, block: Block) -> tuple[Ints, Longs]:
        """Put the ids of what the kernel left out where they belong."""
        pieces: list[Ints] = []
        lengths = np.diff(offsets)
        done = 0
        for document, place, begin, low, high in left.tolist():
            tokens = self._tokens_within(block, begin, low, high)
            pieces += [ids[done:place], np.fromiter(self.lexicon.ids(tokens), dtype=np.int32, count=len(tokens))]
            done = place
            lengths[document] += len(tokens)
        pieces.append(ids[done:])
        return np.concatenate(pieces), np.concatenate([[0], np.cumsum(lengths)])

    def _tokens_within(self, block: Block, begin: int, low: int, high: int) -> list[str]:
        """The tokens of text[low:high], which is the end of a chunk between white space that begins at `begin`."""
        try:
            chunk = block.line(begin, high)
        except BadCorpus:  # say so as for the whole line
            text = block.text or b""
            end = text.find(b"\n", high)
            block.line(text.rfind(b"\n", 0, begin) + 1, len(text) if end < 0 else end)
            raise
        known = self.lexicon.index
        before = self.tokenizer(block.line(begin, low), known)
        return self.tokenizer(chunk, known)[len(before) :]


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
