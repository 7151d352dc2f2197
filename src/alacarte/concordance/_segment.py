"""One segment of a concordance, memory-mapped: ids, documents and where each word stands."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte.concordance._parts import Tensors, restored
from alacarte.errors import AlacarteError, require
from alacarte.text.units import Unit, pack_units, unpack_units
from alacarte.vectors.words import PackedWords

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
KIND, VERSION = "concordance segment", 1
LARGE = ("ids", "positions", "text", "starts", "offsets", "known", "codes", "kinds", "text_ends")


def write_segment(path: Path, tensors: Tensors, units: set[Unit]) -> None:
    """Write a segment, completely or not at all."""
    metadata = {"documents": len(tensors["offsets"]) - 1, "tokens": len(tensors["ids"])}
    write_artifact(path, KIND, {**tensors, **pack_units(units)}, metadata, VERSION)


@dataclass(frozen=True, eq=False)
class Segment:
    """Documents [first, first + documents) of a concordance. Positions count the tokens of the segment."""

    artifact: Artifact
    first: int
    ids: Ints
    offsets: Longs
    starts: Longs
    positions: npt.NDArray[np.uint32]

    @classmethod
    def open(cls, path: Path, first: int) -> "Segment":
        artifact = read_artifact(path, KIND, AlacarteError, VERSION, lazily=LARGE)
        ids, offsets = artifact.tensor("ids", np.int32, 1), artifact.tensor("offsets", np.int64, 1)
        starts, positions = artifact.tensor("starts", np.int64, 1), artifact.tensor("positions", np.uint32, 1)
        whole = len(offsets) and offsets[-1] == ids.size == positions.size and len(starts) and starts[-1] == ids.size
        if not whole:
            raise artifact.damaged("its parts do not belong together")
        return cls(artifact, first, ids, offsets, starts, positions)

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def codes(self) -> npt.NDArray[np.uint64]:
        """What says which group each document belongs to."""
        return self.artifact.tensor("codes", np.uint64, 1)

    @cached_property
    def known(self) -> Ints:
        """How many tokens of each document have a vector."""
        return self.artifact.tensor("known", np.int32, 1)

    @cached_property
    def extra(self) -> PackedWords:
        """The words that have no vector, by number."""
        return PackedWords.from_artifact(self.artifact)

    @property
    def units(self) -> set[Unit]:
        """The text that is in here."""
        return unpack_units(self.artifact.tensors)

    def occurrences(self, word: int) -> Longs:
        """Where a word stands."""
        return self.positions[self.starts[word] : self.starts[word + 1]].astype(np.int64)

    def find(self, sequence: list[Longs]) -> Longs:
        """Where a sequence begins, of which each element may be any of several words; in the order of the text."""
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
        """The document that each position belongs to, counted within the segment."""
        return np.searchsorted(self.offsets, places, side="right") - 1

    def window(self, begins: Longs, ends: Longs, left: int, right: int) -> tuple[Ints, Ints]:
        """The ids before and after some matches, -1 beyond the ends of their documents."""
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
        return self.artifact.tensor("frame_documents", np.int64, 1), self.artifact.tensor("frame_ends", np.int64, 1)

    def texts(self, documents: Longs) -> list[str | list[str]]:
        """Documents as they came, in this order: text, or tokens."""
        decompress = require("zstandard", extra="zst", purpose="a concordance").ZstdDecompressor().decompress
        firsts, ends = self._frames
        compressed, text_ends = self.artifact.tensor("text"), self.artifact.tensor("text_ends")
        kinds = self.artifact.tensor("kinds")
        texts: dict[int, Any] = {}
        frames = np.searchsorted(firsts, documents, side="right") - 1
        for frame in np.unique(frames).tolist():
            content = decompress(compressed[ends[frame] : ends[frame + 1]].tobytes())
            for document in np.unique(documents[frames == frame]).tolist():
                begin = 0 if document == firsts[frame] else int(text_ends[document - 1])
                texts[document] = restored(content[begin : int(text_ends[document])], int(kinds[document]))
        return [texts[document] for document in documents.tolist()]


def describe(artifact: Artifact) -> dict[str, Any]:
    """What a segment holds, for people."""
    return {"documents": artifact.value("documents", int), "tokens": artifact.value("tokens", int)}
