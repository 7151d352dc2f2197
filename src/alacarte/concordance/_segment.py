"""One segment of a concordance, memory-mapped: ids, documents and where each word occurs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from re import Pattern
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Bytes, Codes, Ints, Longs, Mask
from alacarte._io.artifact import Artifact, identity, read_artifact, write_artifact
from alacarte._io.decoding import decoding
from alacarte.concordance._database import SegmentRow
from alacarte.concordance._parts import Tensors, decode_document
from alacarte.errors import BadCorpus, require
from alacarte.text.units import Unit, pack_units, unpack_units
from alacarte.vectors.words import PackedWords

KIND, VERSION = "concordance segment", 1
LAZY_TENSORS = ("ids", "positions", "text", "starts", "offsets", "known", "codes", "kinds", "text_ends")


def write_segment(path: Path, tensors: Tensors, units: set[Unit]) -> SegmentRow:
    """Write a segment, completely or not at all; return the row by which it counts."""
    documents, tokens = len(tensors["offsets"]) - 1, len(tensors["ids"])
    metadata = {"documents": documents, "tokens": tokens}
    write_artifact(path, KIND, {**tensors, **pack_units(units)}, metadata, VERSION)
    return SegmentRow(path.name, documents, tokens, identity(path))


@dataclass(frozen=True, eq=False)
class StoredSegment:
    """Documents [first, first + documents) of a concordance. Positions count the tokens of the segment.

    Each tensor is compared with its digest when it is first used, and so is whether its values make sense: a segment
    may come from somebody else. The tensors, for D documents of T tokens, in F frames of compressed text:

    ====================================  =====================================================================
    ``ids`` [T]                           words by number: first those that have a vector, then those of `extra`
    ``offsets`` [D + 1]                   where documents begin in `ids`
    ``positions`` [T], ``starts``         where in `ids` each word occurs; those of word w are
                                          ``positions[starts[w]:starts[w + 1]]``
    ``codes``, ``known`` [D]              what decides a document's group; how many of its tokens have a vector
    ``text``, ``frame_ends`` [F + 1]      documents as they were read, compressed; where frames begin in it
    ``frame_documents`` [F + 1]           the first document of each frame
    ``text_ends``, ``kinds`` [D]          where a document ends in its frame; whether it is a text or tokens
    ``words``, ``word_…``                 `extra`: the words that have no vector, and a hash table of them
    ``unit_…``                            which text, of which files, is in here (`pack_units`)
    ====================================  =====================================================================
    """

    artifact: Artifact
    first: int
    documents: int
    vocabulary: int  # how many words have a vector

    @classmethod
    def open(cls, folder: Path, row: SegmentRow, first: int, vocabulary: int) -> "StoredSegment":
        """Open the segment of a row of the database."""
        artifact = read_artifact(folder / row.file, KIND, BadCorpus, VERSION, lazily=LAZY_TENSORS)
        if identity(artifact.path) != row.id or artifact.tensor("offsets", np.int64, 1).size != row.documents + 1:
            raise artifact.damaged("it does not belong to this concordance")
        return cls(artifact, first, row.documents, vocabulary)

    def _tensor(self, name: str, dtype: npt.DTypeLike, size: int | None = None) -> npt.NDArray[Any]:
        tensor = self.artifact.tensor(name, dtype, 1)
        self.artifact.verify(name)
        if size is not None and tensor.size != size:
            raise self.artifact.damaged(f"its {name} are {tensor.size:,}, not {size:,}")
        return tensor

    def _ends(self, name: str, last: int | None) -> Longs:
        """Return a tensor that begins with 0, never falls, and ends with `last`."""
        ends = self._tensor(name, np.int64)
        if not ends.size or ends[0] != 0 or (np.diff(ends) < 0).any() or last not in (None, int(ends[-1])):
            raise self.artifact.damaged(f"its {name} are not in order")
        return ends

    @cached_property
    def ids(self) -> Ints:
        """The words of the text, by number."""
        ids = self._tensor("ids", np.int32)
        if ids.min(initial=0) < 0 or ids.max(initial=-1) >= len(self.starts) - 1:
            raise self.artifact.damaged("it has ids of no word")
        return ids

    @cached_property
    def offsets(self) -> Longs:
        """The positions at which documents begin, and the end of the last one."""
        return self._ends("offsets", self.artifact.tensor("ids").size)

    @cached_property
    def starts(self) -> Longs:
        """The places at which the positions of each word begin."""
        starts = self._ends("starts", self.artifact.tensor("ids").size)
        if starts.size != self.vocabulary + len(self.extra) + 1:
            raise self.artifact.damaged("it has not as many words as it should")
        return starts

    @cached_property
    def positions(self) -> npt.NDArray[np.uint32]:
        """The positions of words, one word after the other."""
        size = self.artifact.tensor("ids").size
        positions = self._tensor("positions", np.uint32, size)
        if positions.max(initial=0) >= max(1, size):
            raise self.artifact.damaged("it has positions beyond its end")
        return positions

    @cached_property
    def codes(self) -> Codes:
        """The code of each document, which decides its group."""
        return self._tensor("codes", np.uint64, self.documents)

    @cached_property
    def known(self) -> Ints:
        """The number of tokens of each document that have a vector."""
        return self._tensor("known", np.int32, self.documents)

    @cached_property
    def extra(self) -> PackedWords:
        """The words that have no vector, by number."""
        return PackedWords.from_artifact(self.artifact)

    @property
    def units(self) -> set[Unit]:
        """The text that is in here."""
        with decoding(self.artifact.path, BadCorpus):
            return unpack_units(self.artifact.tensors)

    def occurrences(self, word: int) -> Longs:
        """Return the positions of a word."""
        return self.positions[self.starts[word] : self.starts[word + 1]].astype(np.int64)

    def word_counts(self, mask: Mask) -> Longs:
        """Return how often each word occurs in some of the documents, by its number."""
        if mask.all():
            return np.diff(self.starts)
        return np.bincount(self.ids[np.repeat(mask, np.diff(self.offsets))], minlength=len(self.starts) - 1)

    def ids_of(self, part: str | Pattern[str], words: PackedWords) -> Longs:
        """Return the ids of a word, or of all words that match a pattern; `words` are those that have a vector."""
        if isinstance(part, str):
            row, extra = words.find(part), self.extra.find(part)
            rows = [row] if row is not None else [] if extra is None else [len(words) + extra]
            return np.array(rows, dtype=np.int64)
        rows = [number for number, word in enumerate([*words, *self.extra]) if part.search(word)]
        return np.intersect1d(np.flatnonzero(np.diff(self.starts)), np.array(rows, dtype=np.int64))

    def words_of(self, numbers: Ints | Longs, words: Sequence[str]) -> list[str]:
        """Return the words of some ids; `words` are those that have a vector."""
        known = len(words)
        return [words[number] if number < known else self.extra[number - known] for number in numbers.tolist()]

    def find(self, sequence: list[Longs]) -> Longs:
        """Return where a sequence occurs, in the order of the text; each element may be any of several words."""
        length = len(sequence)
        counts = [int((self.starts[words + 1] - self.starts[words]).sum()) for words in sequence]
        rarest = int(np.argmin(counts))
        places = [self.occurrences(word) for word in sequence[rarest].tolist()]
        begins = np.concatenate(places or [np.empty(0, np.int64)])
        begins = (begins if len(places) == 1 else np.sort(begins)) - rarest
        begins = begins[(begins >= 0) & (begins + length <= self.ids.size)]
        for shift, words in enumerate(sequence):
            if shift != rarest:
                begins = begins[np.isin(self.ids[begins + shift], words)]
        if length > 1:  # all in one document
            begins = begins[begins + length <= self.offsets[self.document_of(begins) + 1]]
        return begins

    def document_of(self, places: Longs) -> Longs:
        """Return the document that each position belongs to, counted within the segment."""
        return np.searchsorted(self.offsets, places, side="right") - 1

    def window(self, begins: Longs, ends: Longs, left: int, right: int) -> tuple[Ints, Ints]:
        """Return the ids before and after some matches, -1 beyond the ends of their documents."""
        document = self.document_of(begins)
        low, high = self.offsets[document][:, None], self.offsets[document + 1][:, None]
        before, after = begins[:, None] + np.arange(-left, 0), ends[:, None] + np.arange(right)
        return (
            np.where(before >= low, self.ids[np.maximum(before, 0)], -1).astype(np.int32),
            np.where(after < high, self.ids[np.minimum(after, self.ids.size - 1)], -1).astype(np.int32),
        )

    # --------------------------------------------------------------------------------------------------- text

    @cached_property
    def _frames(self) -> tuple[Longs, Longs]:
        """The first document of each frame of text, and where the frame begins; and the ends of both."""
        return self._ends("frame_documents", self.documents), self._ends("frame_ends", self._text.size)

    @cached_property
    def _text(self) -> Bytes:
        return self._tensor("text", np.uint8)

    @cached_property
    def _documents(self) -> tuple[npt.NDArray[np.uint32], Bytes]:
        """The end of each document in its frame, and the kind of each."""
        return self._tensor("text_ends", np.uint32, self.documents), self._tensor("kinds", np.uint8, self.documents)

    def texts(self, documents: Longs) -> list[str | list[str]]:
        """Return documents as they were read, text or tokens, in the order that is asked for."""
        firsts, ends = self._frames
        text_ends, kinds = self._documents
        texts: dict[int, Any] = {}
        frames = np.searchsorted(firsts, documents, side="right") - 1
        with decoding(self.artifact.path, BadCorpus):
            for frame in np.unique(frames).tolist():
                content = _decompress(self._text[ends[frame] : ends[frame + 1]], int(text_ends[firsts[frame + 1] - 1]))
                for document in np.unique(documents[frames == frame]).tolist():
                    begin = 0 if document == firsts[frame] else int(text_ends[document - 1])
                    texts[document] = decode_document(content[begin : int(text_ends[document])], int(kinds[document]))
        return [texts[document] for document in documents.tolist()]


def _decompress(content: Bytes, size: int) -> bytes:
    """Return a frame of text, of which the size is known: one that claims more would take all memory."""
    zstandard = require("zstandard", extra="zst", purpose="a concordance")
    data = content.tobytes()
    if zstandard.frame_content_size(data) != size:
        raise ValueError("its text is not as long as it should be")
    decompressed: bytes = zstandard.ZstdDecompressor().decompress(data)
    return decompressed
