"""fastText's own .bin models, version 12: words, and character n-grams for unknown words."""

import struct
from dataclasses import dataclass, replace
from os import PathLike, fspath

import numpy as np

from alacarte._io.arrays import Singles
from alacarte.errors import BadVectors
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, decode_words, rows_at_once, usable_rows
from alacarte.vectors.formats.streams import STREAM_BUFFER, Source

FASTTEXT_MAGIC, FASTTEXT_VERSION = 793712314, 12
LONGEST_NGRAM = 1000  # characters of an n-gram
END_OF_SENTENCE = "</s>"  # the one word that has no n-grams
_START = struct.Struct("<14id")  # magic, version, twelve settings, t
_DICTIONARY = struct.Struct("<3i2q")
_ENTRY = struct.Struct("<qb")
_MATRIX = struct.Struct("<?2q")


@dataclass(frozen=True)
class Subwords:
    """The n-gram rows of a fastText model and how to find them."""

    matrix: Singles
    shortest: int
    longest: int

    def vector(self, word: str) -> Singles | None:
        """Return the mean of the rows of the word's n-grams, or None if it has none."""
        from alacarte.vectors.formats._subwords import ngram_rows

        if self.longest == 0 or word == END_OF_SENTENCE:
            return None
        data = np.frombuffer(f"<{word}>".encode(), np.uint8)
        rows = np.empty(len(data) * self.longest, np.int64)
        count = ngram_rows(data, self.shortest, self.longest, len(self.matrix), rows)
        if count == 0:
            return None
        return np.asarray(self.matrix[rows[:count]].sum(axis=0, dtype=np.float32) / np.float32(count))


def looks_like(head: bytes) -> bool:
    """Whether the first bytes are those of a fastText model.

    >>> looks_like(struct.pack("<2i", FASTTEXT_MAGIC, 12)), looks_like(b"the 0.1 0.2")
    (True, False)
    """
    return head[:4] == FASTTEXT_MAGIC.to_bytes(4, "little")


class _Reader:
    """Reads exactly what is asked for, and knows its place in the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data = b""
        self.position = 0  # in `data`
        self.offset = 0  # of `data` in the file

    def need(self, size: int) -> None:
        if len(self.data) - self.position < size:
            rest = self.data[self.position :]
            self.offset += self.position
            self.data = rest + self.source.read(max(STREAM_BUFFER, size - len(rest)))
            self.position = 0
            if len(self.data) < size:
                raise BadVectors(f"{self.source.path} is cut off; download or copy it again")

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        self.need(layout.size)
        values = layout.unpack_from(self.data, self.position)
        self.position += layout.size
        return values

    def word(self) -> bytes:
        end = self.data.find(b"\0", self.position)
        while end < 0:
            before = len(self.data) - self.position
            if before > STREAM_BUFFER:
                raise BadVectors(f"{self.source.path} is damaged: a word has no end; download it again")
            self.need(before + 1)
            end = self.data.find(b"\0", self.position)
        word = self.data[self.position : end]
        self.position = end + 1
        return word

    def matrix(self, rows: int, columns: int) -> Singles:
        start, size = self.offset + self.position, 4 * rows * columns
        if self.source.compression is None:
            if start + size > self.source.size:
                raise BadVectors(f"{self.source.path} is cut off; download or copy it again")
            mapped = np.memmap(self.source.path, "<f4", "r", start, (rows, columns))
            return mapped.view(np.ndarray)
        parts = [self.data[self.position :][:size]]
        missing = size - len(parts[0])
        while missing:
            part = self.source.read(min(missing, 1 << 26))
            if not part:
                raise BadVectors(f"{self.source.path} is cut off; download or copy it again")
            parts.append(part)
            missing -= len(part)
        return np.frombuffer(b"".join(parts), "<f4").reshape(rows, columns)


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the words and compute their vectors as fastText does; the n-grams stay memory-mapped."""
    with Source(path) as source:
        reader = _Reader(source)
        magic, version, dimension, *settings = reader.unpack(_START)
        buckets, shortest, longest = settings[7:10]
        if magic != FASTTEXT_MAGIC or version != FASTTEXT_VERSION:
            raise BadVectors(f"{path}: fastText version {version} is not known here; version {FASTTEXT_VERSION} is")
        entries, known, _, _, pruned = reader.unpack(_DICTIONARY)
        if (
            not 0 <= known <= entries
            or dimension < 1
            or not 0 <= shortest <= LONGEST_NGRAM
            or not 0 <= longest <= LONGEST_NGRAM
        ):
            raise BadVectors(f"{path} is damaged: its header makes no sense; download it again")
        encoded, counts = [], []
        for _ in range(entries):
            word = reader.word()
            count, label = reader.unpack(_ENTRY)
            if not label:
                encoded.append(word)
                counts.append(count)
        quantised, height, columns = reader.unpack(_MATRIX)
        if quantised or pruned > 0:
            raise BadVectors(
                f"{fspath(path)} is a quantised model (.ftz), which holds only rough vectors; "
                "get the .bin or the .vec file of the model"
            )
        if not longest or pruned == 0:
            buckets = longest = 0
        if columns != dimension or len(encoded) != known or height < known + buckets or buckets < 0:
            raise BadVectors(f"{path} is damaged: its matrix has {height} × {columns} values; download it again")
        matrix = reader.matrix(height, columns)
    if longest and not buckets:
        longest = 0
    subwords = Subwords(matrix[known : known + buckets], shortest, longest)
    rows = Growing(dimension, known if limit is None else min(limit, known))
    at_once, low = rows_at_once(dimension), 0
    while low < known and (limit is None or len(rows) < limit):
        high = min(known, low + (at_once if limit is None else min(at_once, limit - len(rows))))
        out = rows.room(high - low)
        _fill(out, encoded[low:high], matrix[low:known], subwords)
        words, good = decode_words(encoded[low:high], problems, low)
        keep = usable_rows(words, out, problems, rows.seen, low, good)
        rows.take(words, keep, np.array(counts[low:high], np.int64))
        low = high
    return replace(rows.finish(problems, known), subwords=subwords)


def _fill(out: Singles, encoded: list[bytes], own: Singles, subwords: Subwords) -> None:
    """Compute the vectors of some words: the mean of their own rows, the first ones of `own`, and of their n-grams'."""
    from alacarte.vectors.formats._subwords import mean_rows

    if not subwords.longest:
        out[:] = own[: len(out)]
        return
    bracketed = [b"" if word == END_OF_SENTENCE.encode() else b"<" + word + b">" for word in encoded]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in bracketed], out=offsets[1:])
    data = np.frombuffer(b"".join(bracketed), np.uint8)
    mean_rows(data, offsets, own, subwords.matrix, subwords.shortest, subwords.longest, out)
