"""What a run of many processes is to do: `plan.safetensors` in the folder of the run, which nobody changes."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np

from alacarte._io.artifact import Artifact, identity, kind_of, read_artifact, word_tensors, write_artifact
from alacarte._io.remote import path_on_disk
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.weights import ContextWeights
from alacarte.errors import BadRun
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Corpus
from alacarte.text.members import Place
from alacarte.text.pieces import Packed, Piece
from alacarte.vectors.word_vectors import WordVectors

KIND, VERSION = "plan", 1
NAME = "plan.safetensors"
VECTORS = "vectors.safetensors"  # the copy of the vectors in the folder, where one is needed


@dataclass(frozen=True, eq=False)
class Plan:
    """The work of a run: how contexts are read, what is looked for, and which pieces of text belong together.

    Tasks have the numbers from 1 on. Where context weights need the counts of words (`counting`), there are two tasks
    for each share of the text: first those that count, then those that sum.
    """

    folder: Path
    vectors: str  # a path, or `VECTORS` for the copy in the folder
    fingerprint: str  # of the vectors
    targets: Targets | None  # None: every word of the vectors
    reading: Reading
    weights: str | ContextWeights  # a specification that needs counts, or the weights themselves
    spread: int | None
    corpus: Mapping[str, str | None]  # the options of `Corpus`
    block_size: int
    shares: tuple[tuple[Piece, ...], ...]  # of the text

    @property
    def counting(self) -> bool:
        """Whether words have to be counted before anything can be summed."""
        return isinstance(self.weights, str)

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.shares) * (2 if self.counting else 1)

    @property
    def counting_tasks(self) -> range:
        """The numbers of the tasks that count words."""
        return range(1, len(self.shares) + 1 if self.counting else 1)

    @property
    def summing_tasks(self) -> range:
        """The numbers of the tasks that sum contexts."""
        return range(self.counting_tasks.stop, self.tasks + 1)

    def share(self, task: int) -> tuple[Piece, ...]:
        """The pieces of text that a task reads."""
        return self.shares[(task - 1) % len(self.shares)]

    def text(self, task: int) -> Corpus:
        """The text that a task reads."""
        return Corpus(self.share(task), **cast("dict[str, Any]", self.corpus))

    def format_of(self, path: str) -> str:
        """What a file of the corpus is read as."""
        return Corpus((), **cast("dict[str, Any]", self.corpus)).format_of(path)

    def size(self, task: int) -> int:
        """Bytes of that text, as it lies on disk; of a compressed file that was cut, of its plain text."""
        return sum(piece.stop - piece.start for piece in self.share(task))

    @cached_property
    def identity(self) -> str:
        """What tells this plan from any other: a digest of its file."""
        return identity(self.folder / NAME)

    def options(self, weights: ContextWeights) -> ReadingOptions:
        """How contexts are read, as keywords of `collect`."""
        return {
            "window": (self.reading.left, self.reading.right),
            "averaging": self.reading.averaging,
            "positions": self.reading.positions,
            "context_weights": weights,
            "tokenizer": self.reading.tokenizer,
            "unknown": self.reading.unknown,
        }

    @cached_property
    def work(self) -> str:
        """A digest of all that decides the result, and of nothing else: not of how many tasks there are."""
        files = sorted({(piece.path, piece.stored_size, piece.version) for share in self.shares for piece in share})
        targets = None if self.targets is None else self.targets.digest()
        decisive = {**self._metadata(), "vectors": None, "targets": targets, "files": files}
        return sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

    @cached_property
    def word_vectors(self) -> WordVectors:
        """The vectors, memory-mapped; an error if they are not those that the plan was made for."""
        path = self.folder / VECTORS if self.vectors == VECTORS else Path(self.vectors)
        vectors = WordVectors.load(path)
        if vectors.fingerprint != self.fingerprint:
            raise BadRun(f"{path} holds other vectors than those that {self.folder} was planned for; restore the file")
        return vectors

    # -------------------------------------------------------------------------------------------------- files

    def write(self) -> None:
        """Put the plan into its folder, which is made; the same plan may be there, another one is an error."""
        self.folder.mkdir(parents=True, exist_ok=True)
        place = self.folder / NAME
        with tempfile.TemporaryDirectory() as elsewhere:
            new = Path(elsewhere) / NAME
            write_artifact(new, KIND, self._tensors(), self._metadata(), VERSION)
            if not place.exists():
                write_artifact(place, KIND, self._tensors(), self._metadata(), VERSION)
            elif kind_of(place) != KIND or identity(place) != identity(new):
                raise BadRun(f"{self.folder} is the folder of another run; choose another folder, or delete this one")

    def _metadata(self) -> dict[str, Any]:
        return {
            "vectors": self.vectors,
            "fingerprint": self.fingerprint,
            "targets": None if self.targets is None else self.targets.to_state(),
            "settings": asdict(self.reading),
            "weights": self.weights if isinstance(self.weights, str) else [self.weights.name, self.weights.words],
            "spread": self.spread,
            "corpus": dict(self.corpus),
            "block_size": self.block_size,
        }

    def _tensors(self) -> dict[str, Any]:
        listed = [(number, piece) for number, share in enumerate(self.shares) for piece in share]
        places = [(number, piece.start, piece.stop, piece.size) for number, piece in listed]
        tensors: dict[str, Any] = {"places": np.array(places, np.int64).reshape(-1, 4)}
        packed = [
            (0, 0, 0, 0, 0) if piece.packed is None else (piece.packed.size, *piece.packed.begin, *piece.packed.end)
            for _, piece in listed
        ]
        tensors["packed"] = np.array(packed, np.int64).reshape(-1, 5)
        tensors |= word_tensors([piece.path for _, piece in listed], "paths")
        tensors |= word_tensors([piece.version for _, piece in listed], "versions")
        if self.targets is not None:
            tensors |= word_tensors(self.targets, "targets")
        if isinstance(self.weights, ContextWeights) and self.weights.values is not None:
            tensors["context_weights"] = self.weights.values
        return tensors


def read_plan(folder: str | os.PathLike[str]) -> Plan:
    """The plan in the folder of a run."""
    path = path_on_disk(folder, BadRun, "a run") / NAME
    if not path.is_file():
        raise BadRun(f"{folder}: there is no plan in this folder; `alc plan --out {folder}` makes one")
    return read_artifact(path, KIND, BadRun, VERSION).decode(_plan_of)


def _plan_of(artifact: Artifact) -> Plan:
    state, weights = artifact.value("targets", object), artifact.value("weights", object)
    if not isinstance(weights, str):
        name, words = cast("Sequence[Any]", weights)
        weights = ContextWeights(name, artifact.tensors.get("context_weights"), words)
    return Plan(
        artifact.path.parent,
        artifact.value("vectors", str),
        artifact.value("fingerprint", str),
        None if state is None else Targets.from_state(artifact.words("targets"), cast("dict[str, object]", state)),
        artifact.record("settings", Reading),
        weights,
        artifact.optional("spread", int),
        artifact.value("corpus", dict),
        artifact.value("block_size", int),
        _shares_of(artifact),
    )


def _shares_of(artifact: Artifact) -> tuple[tuple[Piece, ...], ...]:
    shares: dict[int, list[Piece]] = {}
    places = artifact.tensor("places", np.int64, 2).tolist()
    listed_packed = artifact.tensor("packed", np.int64, 2).tolist()
    paths, versions = artifact.words("paths"), artifact.words("versions")
    for (number, start, stop, size), path, version, (stored, *ends) in zip(
        places, paths, versions, listed_packed, strict=True
    ):
        packed = Packed(stored, Place(*ends[:2]), Place(*ends[2:])) if stored else None
        shares.setdefault(number, []).append(Piece(path, start, stop, size, version, packed))
    if list(shares) != list(range(len(shares))):
        raise artifact.damaged("its shares of the text are not in order")
    return tuple(tuple(share) for share in shares.values())


def describe(artifact: Artifact) -> dict[str, Any]:
    """What is in a plan, for people."""
    plan = _plan_of(artifact)
    return {
        "tasks": plan.tasks,
        "files": len({piece.path for share in plan.shares for piece in share}),
        "bytes_of_text": sum(map(plan.size, range(1, len(plan.shares) + 1))),
        "targets": "every word of the vectors" if plan.targets is None else len(plan.targets),
        "counts_words_first": plan.counting,
        "vectors": plan.vectors,
        "spread": plan.spread,
        "settings": asdict(plan.reading),
    }
