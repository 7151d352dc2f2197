"""Lists of words that need not be decoded: UTF-8 bytes, which may lie in a file, and a way to look words up in them.

A list of 400,000 words takes a fifth of a second to become a dictionary. If only a few words are looked up, they are
found by their hashes, which are kept beside the bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from alacarte._io.arrays import Bytes, Codes, Longs
from alacarte._io.artifact import Artifact
from alacarte._io.tensors import pack_words, unpack_words

HASH_FACTOR = 0x9E3779B97F4A7C15  # odd, so that no byte of a long word drops out of its hash
BITS = (1 << 64) - 1
HASHED_WORDS = 1 << 16  # words hashed together
LOOKED_UP_SINGLY = 1000  # words that are looked up one by one before a dictionary is made
BUILDING = Lock()  # a dictionary of words


class PackedWords(Sequence[str]):
    """Words as one array of bytes and offsets into it, with their hashes in order.

    >>> words = PackedWords.of(["the", "né"])
    >>> words[1], list(words), words.find("né"), words.find("of")
    ('né', ['the', 'né'], 1, None)
    """

    def __init__(
        self,
        data: Bytes,
        offsets: Longs,
        hashes: Codes,
        rows: Longs,
    ) -> None:
        self.data = data
        self.offsets = offsets
        self._hashes = hashes  # ascending
        self._rows = rows  # the word that has each hash

    @classmethod
    def of(cls, words: Sequence[str]) -> "PackedWords":
        """Return packed words."""
        if isinstance(words, PackedWords):
            return words
        data, offsets = pack_words(words)
        hashes = word_hashes(data, offsets)
        rows = np.argsort(hashes, kind="stable")
        return cls(data, offsets, hashes[rows], rows)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "PackedWords":
        """Return the words in an artifact that holds `tensors`; nothing is decoded."""
        data, offsets = artifact.tensor("words", np.uint8, 1), artifact.tensor("words_offsets", np.int64, 1)
        hashes, rows = artifact.tensor("word_hashes", np.uint64, 1), artifact.tensor("word_rows", np.int64, 1)
        count = len(offsets) - 1
        if (
            count < 0
            or offsets[0] != 0
            or offsets[-1] != len(data)
            or (np.diff(offsets) < 0).any()
            or (len(hashes), len(rows)) != (count, count)
            or (count and not 0 <= int(rows.min()) <= int(rows.max()) < count)
        ):
            raise artifact.damaged("its list of words makes no sense")
        return cls(data, offsets, hashes, rows)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that an artifact keeps."""
        return {
            "words": self.data,
            "words_offsets": self.offsets,
            "word_hashes": self._hashes,
            "word_rows": self._rows,
        }

    def first(self, count: int) -> "PackedWords":
        """Return the first `count` words."""
        if count >= len(self):
            return self
        kept = self._rows < count
        end = int(self.offsets[count])
        return PackedWords(self.data[:end], self.offsets[: count + 1], self._hashes[kept], self._rows[kept])

    def find(self, word: str) -> int | None:
        """Return the place of a word, or None."""
        encoded = word.encode("utf-8", "surrogatepass")
        wanted = np.uint64(_hash(encoded))
        at = int(np.searchsorted(self._hashes, wanted))
        while at < len(self._hashes) and self._hashes[at] == wanted:  # several words may share a hash
            row = int(self._rows[at])
            if self._bytes(row) == encoded:
                return row
            at += 1
        return None

    def duplicate(self) -> str | None:
        """Return a word that is listed twice, or None."""
        same = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
        rows = np.unique(np.concatenate([self._rows[same], self._rows[same + 1]]))
        seen: set[str] = set()
        for row in rows.tolist():
            word = self._bytes(row).decode()
            if word in seen:
                return word
            seen.add(word)
        return None

    def _bytes(self, row: int) -> bytes:
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        row = place + len(self) if place < 0 else place
        if not 0 <= row < len(self):
            raise IndexError(f"there is no word {place}; there are {len(self)}")
        return self._bytes(row).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(unpack_words(self.data, self.offsets))


class Vocabulary(Mapping[str, int]):
    """The row of each word. Packed words are looked up by their hashes, until a dictionary pays.

    `table` is a place for the hash table that encoders make of the words, so that it is built once.

    >>> vocabulary = Vocabulary(PackedWords.of(["the", "of"]))
    >>> vocabulary["of"], vocabulary.get("and", -1), "the" in vocabulary, list(vocabulary)
    (1, -1, True, ['the', 'of'])
    """

    table: Any
    get: Callable[..., Any]  # that of the dictionary, once there is one

    def __init__(self, words: Sequence[str]) -> None:
        self.table = None
        self._words = words
        self._dictionary: dict[str, int] | None = None
        self._asked = 0
        self.get = self._get

    def copy(self) -> dict[str, int]:
        """Return a dictionary with the same content, which may be changed."""
        return self._as_dictionary().copy()

    def packed(self) -> tuple[Bytes, Longs]:
        """Return the words as bytes and offsets into them, as `pack_words` gives them; no word is decoded for it."""
        if isinstance(self._words, PackedWords):
            return self._words.data, self._words.offsets
        return pack_words(self._words)

    def _as_dictionary(self) -> dict[str, int]:
        with BUILDING:  # or each thread that asks builds one
            if self._dictionary is None:
                self._dictionary = dict(zip(self._words, range(len(self._words)), strict=True))
                self.get = self._dictionary.get
        return self._dictionary

    def _get(self, word: str, default: Any = None) -> Any:
        if isinstance(self._words, PackedWords) and self._dictionary is None and isinstance(word, str):
            self._asked += 1
            if self._asked <= LOOKED_UP_SINGLY:
                row = self._words.find(word)
                return default if row is None else row
        return self._as_dictionary().get(word, default)

    def __getitem__(self, word: str) -> int:
        row = self.get(word)
        if row is None:
            raise KeyError(word)
        return int(row)

    def __contains__(self, word: object) -> bool:
        return self.get(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        theirs = other._as_dictionary() if isinstance(other, Vocabulary) else other
        return self._as_dictionary() == theirs

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[Sequence[str]]]:
        return Vocabulary, (self._words,)

    def __repr__(self) -> str:
        if len(self) <= 10:
            return repr(self._as_dictionary())
        return f"Vocabulary({len(self):,} words: {', '.join(map(repr, islice(self, 3)))}, …)"


def word_hashes(data: Bytes, offsets: Longs) -> Codes:
    """Return a number of 64 bits for each word: Σ (byte + 1) · factor^(its place, from 1 on)."""
    lengths = np.diff(offsets)
    hashes = np.zeros(len(lengths), np.uint64)
    longest = int(lengths.max(initial=0))
    powers = np.full(longest, HASH_FACTOR, np.uint64)
    np.multiply.accumulate(powers, out=powers)
    for low in range(0, len(lengths), HASHED_WORDS):
        part = lengths[low : low + HASHED_WORDS]
        filled = np.flatnonzero(part)
        if not len(filled):
            continue
        begin, end = int(offsets[low]), int(offsets[low + len(part)])
        starts = offsets[low : low + len(part)] - begin
        places = np.arange(end - begin) - np.repeat(starts, part)
        terms = (data[begin:end].astype(np.uint64) + np.uint64(1)) * powers[places]
        hashes[low + filled] = np.add.reduceat(terms, starts[filled])
    return hashes


def _hash(word: bytes) -> int:
    """Return the same for one word.

    >>> words = pack_words(["the", "né", ""])
    >>> [_hash(word.encode()) for word in ("the", "né", "")] == word_hashes(*words).tolist()
    True
    """
    total = 0
    for byte in reversed(word):
        total = (total + byte + 1) * HASH_FACTOR & BITS
    return total


def length_prefixed(data: Bytes, offsets: Longs, low: int, high: int) -> bytes:
    """Return some packed words, each after its length in bytes as four bytes: what a fingerprint of vectors covers."""
    offsets = offsets[min(low, len(offsets) - 1) : high + 1]
    lengths = np.diff(offsets)
    starts = offsets[:-1] - offsets[0] + 4 * np.arange(len(lengths))
    mixed = np.empty(int(offsets[-1] - offsets[0]) + 4 * len(lengths), np.uint8)
    heads = starts[:, None] + np.arange(4)
    text = np.ones(len(mixed), np.bool_)
    text[heads] = False
    mixed[heads] = lengths.astype("<u4")[:, None].view(np.uint8)
    mixed[text] = data[offsets[0] : offsets[-1]]
    return mixed.tobytes()
