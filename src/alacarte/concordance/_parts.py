"""The tally behind a concordance: for each block of text, its ids and its documents; together, a segment."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Bytes, Ints, Longs
from alacarte._io.tensors import Computed, Joined, pack_words, unpack_words
from alacarte.contexts.groups import document_codes
from alacarte.contexts.tally import Tally
from alacarte.errors import BadCorpus, Hint, require
from alacarte.text.documents import Document, Item, plain
from alacarte.text.encoding import Encoded, Lexicon
from alacarte.text.records import is_null
from alacarte.text.segments import Block
from alacarte.vectors.words import PackedWords

Arrays = dict[str, npt.NDArray[Any]]
Tensors = dict[str, npt.NDArray[Any] | Computed]
FRAME = 1 << 16  # bytes of text that are compressed together
BETWEEN = "\x1f"  # the tokens of a document that came as tokens
LINE_BREAK = 10
IS_TEXT, IS_TOKENS = 0, 1  # kinds of documents
MOST = 1 << 32  # tokens of a segment: positions have 32 bits

# What a part holds: a value for each token, for each document, for each frame of compressed text, or bytes.
FIELDS: dict[str, npt.DTypeLike] = {
    "ids": np.int32,
    "lengths": np.int32,  # tokens of each document
    "known": np.int32,  # of these, tokens that have a vector
    "codes": np.uint64,  # what says which group a document belongs to
    "kinds": np.uint8,
    "text_ends": np.uint32,  # where each document's text ends in its frame
    "frame_documents": np.int64,
    "frame_sizes": np.int64,  # bytes, compressed
    "text": np.uint8,
    "values": np.uint8,  # of the columns, as JSON; a list for each document
}


class SegmentParts(Tally):
    """Blocks of text as parts, in any order; they are put in the order of the text when a segment is made.

    `held` names the blocks (file, first byte) that the concordance has already; text is not taken twice.
    """

    def __init__(self, lexicon: Lexicon, columns: int, held: set[tuple[str, int]]) -> None:
        self._lexicon, self._columns, self._held = lexicon, columns, held
        self._parts: dict[tuple[str, int], Arrays] = {}
        self._lock = threading.Lock()
        self._compressor = require("zstandard", extra="zst", purpose="a concordance").ZstdCompressor

    # ------------------------------------------------------------------------------------------- as a tally

    def adder(self) -> Callable[[Encoded], None]:
        return self._add

    def arrays(self) -> Tensors:
        """Return all parts one after the other, their sizes, and the words that have no vector."""
        places = sorted(self._parts)
        names, bounds = pack_words([name for name, _ in places])
        words, word_bounds = pack_words(self._lexicon.extra)
        sizes = np.array([[self._parts[place][field].size for field in FIELDS] for place in places], dtype=np.int64)
        return {
            **self._joined(),
            "part_names": names,
            "part_name_bounds": bounds,
            "part_starts": np.array([start for _, start in places], dtype=np.int64),
            "part_sizes": sizes.reshape(len(places), len(FIELDS)),
            "words": words,
            "word_bounds": word_bounds,
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        for word in unpack_words(arrays["words"], arrays["word_bounds"]):
            self._lexicon.add(word)
        names = unpack_words(arrays["part_names"], arrays["part_name_bounds"])
        sizes = arrays["part_sizes"]
        before = np.cumsum(sizes, axis=0) - sizes
        for number, (name, start) in enumerate(zip(names, arrays["part_starts"].tolist(), strict=True)):
            self._parts[name, start] = {
                field: np.array(arrays[field][before[number, place] : before[number, place] + sizes[number, place]])
                for place, field in enumerate(FIELDS)
            }

    # ---------------------------------------------------------------------------------------------- adding

    def _add(self, encoded: Encoded) -> None:
        block = encoded.block
        assert block is not None
        place = block.source or block.name, block.start
        if place in self._held:
            raise BadCorpus(f"{block.source} is in this concordance already; leave it out, or build another one")
        if encoded.spans:
            raise BadCorpus(
                "a concordance keeps no labelled spans, and this corpus has some",
                hint=Hint("read it without them: Corpus(…, spans=None)", "the command reads none by itself"),
            )
        part = self._part(encoded, block)
        with self._lock:
            self._parts[place] = part

    def _part(self, encoded: Encoded, block: Block) -> Arrays:
        lengths = np.diff(encoded.offsets)
        full = np.flatnonzero(lengths)
        before = np.concatenate([[0], np.cumsum(encoded.ids.view(np.uint32) < np.uint32(self._lexicon.known))])
        known = before[encoded.offsets[1:]] - before[encoded.offsets[:-1]]
        values: list[list[Any]] = []
        lines = None if self._columns else _lines(block, len(lengths), full)
        if lines is not None:
            content, sizes, kinds = *lines, np.full(len(full), IS_TEXT, dtype=np.uint8)
        else:
            documents = _documents(block, len(lengths))
            chosen = [documents[number] for number in full.tolist()]
            content, sizes, kinds = _encode_documents(chosen)
            values = [self._values(document) for document in chosen] if self._columns else []
        return {
            "ids": encoded.ids,
            "lengths": lengths[full].astype(np.int32),
            "known": known[full].astype(np.int32),
            "codes": document_codes(encoded, self._lexicon.known)[full],
            "kinds": kinds,
            **self._compressed(content, sizes),
            "values": np.frombuffer(json.dumps(values).encode() if values else b"", dtype=np.uint8),
        }

    def _compressed(self, content: Bytes, sizes: Longs) -> Arrays:
        """Return the text of documents, one behind the other, as frames of whole documents."""
        compress = self._compressor(level=1).compress
        ends = np.cumsum(sizes)
        frames: list[bytes] = []
        counts: list[int] = []
        text_ends = ends.astype(np.uint32)
        begin = base = 0
        while begin < len(sizes):
            stop = min(int(np.searchsorted(ends, base + FRAME)) + 1, len(sizes))
            end = int(ends[stop - 1])
            frames.append(compress(content[base:end].data))
            counts.append(stop - begin)
            text_ends[begin:stop] = ends[begin:stop] - base
            begin, base = stop, end
        return {
            "text_ends": text_ends,
            "frame_documents": np.array(counts, dtype=np.int64),
            "frame_sizes": np.array([len(frame) for frame in frames], dtype=np.int64),
            "text": np.frombuffer(b"".join(frames), dtype=np.uint8),
        }

    def _values(self, document: Item | bytes) -> list[Any]:
        given = document.values if isinstance(document, Document) else ()
        return [_value(value) for value in given] or [None] * self._columns

    # --------------------------------------------------------------------------------------------- segment

    def _joined(self) -> dict[str, Joined]:
        parts = [self._parts[place] for place in sorted(self._parts)]
        return {field: Joined([part[field] for part in parts], kind) for field, kind in FIELDS.items()}

    def values(self) -> Iterator[list[Any]]:
        """Yield the values of the columns of each document, in the order of the segment."""
        for place in sorted(self._parts):
            content = self._parts[place]["values"].tobytes()
            yield from json.loads(content) if content else ()

    def columns_without_values(self) -> list[int]:
        """Return the numbers of the columns of which no document has a value."""
        lacking = set(range(self._columns))
        for row in self.values():
            lacking -= {place for place in lacking if row[place] not in (None, "")}
            if not lacking:
                break
        return sorted(lacking)

    def segment(self) -> Tensors:
        """Return the tensors of a segment: all parts in the order of the text, and the positions of each word.

        Words that have no vector are numbered behind the others by their spelling, so that nothing depends on which
        thread read them first.
        """
        joined = self._joined()
        tokens = len(joined["ids"])
        if tokens >= MOST:
            raise BadCorpus(f"{tokens:,} tokens are too many for one step; add the files in several steps")
        known, extra = self._lexicon.known, list(self._lexicon.extra)
        order = sorted(range(len(extra)), key=lambda number: extra[number].encode("utf-8", "surrogatepass"))
        numbers = np.arange(known + len(extra), dtype=np.int32)
        numbers[known + np.array(order, dtype=np.int64)] = known + np.arange(len(extra), dtype=np.int32)
        ids = [self._parts[place]["ids"] for place in sorted(self._parts)]
        starts, positions = positions_by_word(ids, numbers)
        words = PackedWords.of([extra[number] for number in order])
        return {
            "ids": Joined(ids, np.int32, numbers),
            "offsets": _ends(joined["lengths"].whole()),
            "starts": starts,
            "positions": positions,
            **{name: joined[name] for name in ("known", "codes", "kinds", "text_ends", "text")},
            "frame_documents": _ends(joined["frame_documents"].whole()),
            "frame_ends": _ends(joined["frame_sizes"].whole()),
            **words.tensors(),
        }


def positions_by_word(pieces: Sequence[Ints], numbers: Ints) -> tuple[Longs, npt.NDArray[np.uint32]]:
    """Return (where the positions of each word begin, the positions of each word one behind the other).

    The ids of the text come in pieces, and the word of an id is numbers[id].
    """
    from alacarte.concordance._kernel import count_occurrences, place_positions

    counts = np.zeros(len(numbers), dtype=np.int64)
    for piece in pieces:
        count_occurrences(piece, numbers, counts)
    starts = _ends(counts)
    begins, positions = starts[:-1].copy(), np.empty(int(starts[-1]), dtype=np.uint32)
    first = 0
    for piece in pieces:
        place_positions(piece, numbers, first, begins, positions)
        first += piece.size
    return starts, positions


def _ends(sizes: npt.NDArray[Any]) -> Longs:
    """Return 0, and where each of several pieces ends that follow one another."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _lines(block: Block, count: int, full: Longs) -> tuple[Bytes, Longs] | None:
    """Return (the bytes of some lines, one behind the other, the size of each) of a block of `count` plain lines.

    None if the block is none, or has other lines than were encoded: the readable tokenizer skips blank ones at once.
    """
    if block.text is None:
        return None
    text = block.text.removesuffix(b"\n")
    breaks = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == LINE_BREAK)
    if len(breaks) + 1 != count:
        return None
    sizes = np.diff(breaks, prepend=-1, append=len(text)) - 1
    content = np.frombuffer(text.replace(b"\n", b""), dtype=np.uint8)
    if sizes[full].sum() < len(content):  # some lines hold white space alone
        kept = np.zeros(count, dtype=bool)
        kept[full] = True
        content = content[np.repeat(kept, sizes)]
    return content, sizes[full]


def _documents(block: Block, count: int) -> Sequence[Item | bytes]:
    """Return the documents of a block as they came, lines as bytes; as many as were encoded."""
    if block.text is None:
        return block.documents
    lines = block.text.removesuffix(b"\n").split(b"\n")
    if len(lines) != count:
        lines = [line for line in lines if line.decode("utf-8", "replace").strip()]
    assert len(lines) == count
    return lines


def _encode_documents(
    documents: Sequence[Item | bytes],
) -> tuple[Bytes, Longs, Bytes]:
    """Return (the bytes of documents, one behind the other, the size of each, and which kind each is)."""
    kinds = np.full(len(documents), IS_TEXT, dtype=np.uint8)
    contents: list[bytes] = []
    for number, document in enumerate(documents):
        content = plain(document) if isinstance(document, Document) else document
        if isinstance(content, bytes):
            contents.append(content)
            continue
        if not isinstance(content, str):
            if any(BETWEEN in token for token in content):
                raise BadCorpus("a token holds the control character U+001F, which keeps tokens apart; remove it")
            content = BETWEEN.join(content)
            kinds[number] = IS_TOKENS
        contents.append(content.encode("utf-8", "surrogatepass"))
    sizes = np.fromiter(map(len, contents), dtype=np.int64, count=len(contents))
    return np.frombuffer(b"".join(contents), dtype=np.uint8), sizes, kinds


def decode_document(content: bytes, kind: int) -> str | list[str]:
    """Return the document that `_encode_documents` turned into bytes."""
    text = content.decode("utf-8", "surrogatepass")
    return text.split(BETWEEN) if kind == IS_TOKENS else text


def _value(value: Any) -> str | int | float | None:
    """Return a value as SQLite keeps it: dates and times by their ISO form, large whole numbers by their digits.

    >>> _value(12), _value(2**70)
    (12, '1180591620717411303424')
    """
    if is_null(value):
        return None
    if isinstance(value, str):  # half of a character, which JSON can hold, becomes a mark
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, int) and abs(value) >= 2**63:
        return str(value)
    if isinstance(value, int | float):
        return value
    if hasattr(value, "item"):  # NumPy
        return _value(value.item())
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise BadCorpus(f"a column holds {value!r}, of type {type(value).__name__}; make it text, a number or a date")
