"""fastText's own .bin models, version 12: words, and character n-grams for unknown words."""

import struct
from dataclasses import dataclass, replace
from mmap import mmap
from os import PathLike, fspath

import numpy as np

from alacarte._io.arrays import Singles
from alacarte.errors import BadVectors
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, decode_words
from alacarte.vectors.formats.streams import Source

FASTTEXT_MAGIC, FASTTEXT_VERSION = 793712314, 12
LONGEST_NGRAM = 1000  # characters of an n-gram
LONGEST_WORD = 1 << 22  # bytes
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


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the words and compute their vectors as fastText does; the n-grams stay memory-mapped."""
    with Source(path) as source:
        data = source.whole()
        try:
            encoded, counts, matrix, subwords = _parts(path, data)
        except struct.error:
            raise BadVectors(f"{path} is cut off; download or copy it again") from None
        known = len(encoded)
        rows = Growing(matrix.shape[1], limit, problems)
        while wanted := min(rows.wanted, known - rows.rows_read):
            part = slice(rows.rows_read, rows.rows_read + wanted)
            _fill(rows.room(wanted), encoded[part], matrix[part], subwords)
            words, good = decode_words(encoded[part], problems, rows.where)
            rows.take(words, good, np.array(counts[part], np.int64))
    return replace(rows.finish(known), subwords=subwords)


def _parts(path: str | PathLike[str], data: bytes | mmap) -> tuple[list[bytes], list[int], Singles, Subwords]:
    """Return the words, their counts, their own rows and the n-grams in a file; `struct.error` where it is cut off."""
    magic, version, dimension, *settings = _START.unpack_from(data)
    buckets, shortest, longest = settings[7:10]
    if magic != FASTTEXT_MAGIC or version != FASTTEXT_VERSION:
        raise BadVectors(f"{path}: fastText version {version} is not known here; version {FASTTEXT_VERSION} is")
    entries, known, _, _, pruned = _DICTIONARY.unpack_from(data, _START.size)
    if (
        not 0 <= known <= entries
        or dimension < 1
        or not 0 <= shortest <= LONGEST_NGRAM
        or not 0 <= longest <= LONGEST_NGRAM
    ):
        raise BadVectors(f"{path} is damaged: its header makes no sense; download it again")
    encoded, counts = [], []
    place = _START.size + _DICTIONARY.size
    for _ in range(entries):
        end = data.find(b"\0", place, place + LONGEST_WORD)
        if end < 0:
            raise BadVectors(f"{path} is damaged or cut off: a word has no end; download it again")
        count, label = _ENTRY.unpack_from(data, end + 1)
        if not label:
            encoded.append(data[place:end])
            counts.append(count)
        place = end + 1 + _ENTRY.size
    quantised, height, columns = _MATRIX.unpack_from(data, place)
    if quantised or pruned > 0:
        raise BadVectors(
            f"{fspath(path)} is a quantised model (.ftz), which holds only rough vectors; "
            "get the .bin or the .vec file of the model"
        )
    if not longest or pruned == 0 or not buckets:
        buckets = longest = 0
    if columns != dimension or len(encoded) != known or height < known + buckets or buckets < 0:
        raise BadVectors(f"{path} is damaged: its matrix has {height} × {columns} values; download it again")
    place += _MATRIX.size
    if len(data) < place + 4 * height * columns:
        raise struct.error
    matrix = np.frombuffer(data, "<f4", height * columns, place).reshape(height, columns)
    return encoded, counts, matrix[:known], Subwords(matrix[known : known + buckets], shortest, longest)


def _fill(out: Singles, encoded: list[bytes], own: Singles, subwords: Subwords) -> None:
    """Compute the vectors of some words: the mean of their own rows and of their n-grams'."""
    from alacarte.vectors.formats._subwords import mean_rows

    if not subwords.longest:
        out[:] = own
        return
    bracketed = [b"" if word == END_OF_SENTENCE.encode() else b"<" + word + b">" for word in encoded]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in bracketed], out=offsets[1:])
    data = np.frombuffer(b"".join(bracketed), np.uint8)
    mean_rows(data, offsets, own, subwords.matrix, subwords.shortest, subwords.longest, out)
