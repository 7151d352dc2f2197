"""Lists of words that need not be decoded: UTF-8 bytes, which may lie in a file, and a way to look words up in them.

A list of 400,000 words takes a fifth of a second to become a dictionary. If only a few words are looked up, they are
found by their hashes, which are kept beside the bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from threading import Lock
from typing import Any, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from alacarte._io.arrays import Bytes, Longs
from alacarte._io.artifact import Artifact
from alacarte._io.tensors import pack_words, unpack_words

Hashes = NDArray[np.uint32]

HASHES = "word_crc32"  # the tensor with the hashes
LOOKED_UP_SINGLY = 1000  # words that are looked up one by one before a dictionary is made
BUILDING = Lock()  # a dictionary of words


class PackedWords(Sequence[str]):
    """Words as one array of bytes and offsets into it, with their hashes in order.

    >>> words = PackedWords.of(["the", "né"])
    >>> words[1], list(words), words.find("né"), words.find("of")
    ('né', ['the', 'né'], 1, None)
    """

    def __init__(self, data: Bytes, offsets: Longs, hashes: Hashes, rows: Longs) -> None:
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
        text = data.tobytes()
        hashes = np.array([crc32(text[begin:end]) for begin, end in pairwise(offsets.tolist())], np.uint32)
        rows = np.argsort(hashes, kind="stable")
        return cls(data, offsets, hashes[rows], rows)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "PackedWords":
        """Return the words in an artifact that holds `tensors`; nothing is decoded."""
        if HASHES not in artifact.tensors:  # older files have other hashes
            return cls.of(artifact.words())
        data, offsets = artifact.tensor("words", np.uint8, 1), artifact.tensor("words_offsets", np.int64, 1)
        hashes, rows = artifact.tensor(HASHES, np.uint32, 1), artifact.tensor("word_rows", np.int64, 1)
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
        return {"words": self.data, "words_offsets": self.offsets, HASHES: self._hashes, "word_rows": self._rows}

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
        wanted = np.uint32(crc32(encoded))
        at = int(np.searchsorted(self._hashes, wanted))
        while at < len(self._hashes) and self._hashes[at] == wanted:  # several words may share a hash
            row = int(self._rows[at])
            if self._bytes(row) == encoded:
                return row
            at += 1
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


def length_prefixed(data: Bytes, offsets: Longs, low: int, high: int) -> bytes:
    """Return some packed words, each after its length in bytes as four bytes: what a fingerprint of vectors covers."""
    offsets = offsets[min(low, len(offsets) - 1) : high + 1]
    lengths = np.diff(offsets).astype("<u4").view(np.uint8)
    return np.insert(data[offsets[0] : offsets[-1]], np.repeat(offsets[:-1] - offsets[0], 4), lengths).tobytes()
