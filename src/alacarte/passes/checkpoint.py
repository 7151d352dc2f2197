"""Work in progress on disk, so that nothing is lost and nothing done twice.

A job may take several passes over its text, its stages. A checkpoint holds, for each stage begun, the tally so far and
the set of units of text that are in it. It is written completely or not at all, belongs to one process at a time, and
is taken up only by the same job on the same text.
"""

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte._io.files import lock, remove_leftovers
from alacarte._io.urls import path_on_disk
from alacarte.errors import BadCheckpoint
from alacarte.text.units import Unit, pack_units, unpack_units

KIND, VERSION = "checkpoint", 1
# What an artifact takes: arrays as they are read, `Computed` ones among those to be written.
TallyArrays = Mapping[str, Any]


@dataclass
class Amounts:
    """How much text a pass has read."""

    documents: int = 0
    tokens_read: int = 0
    tokens_known: int = 0  # of these, tokens that have a vector


@dataclass
class Stage:
    """One pass, as far as it has come."""

    arrays: TallyArrays = field(default_factory=dict)
    amounts: Amounts = field(default_factory=Amounts)
    units: set[Unit] = field(default_factory=set)
    complete: bool = False


class Checkpoint:
    """A file that is written every `seconds` and read when the same job starts again.

    `identity` is all that decides the result but the text itself; a checkpoint with another one is refused.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], seconds: float = 60.0) -> None:
        self.path = path_on_disk(path, BadCheckpoint, "a checkpoint")
        self.identity = json.loads(json.dumps(identity))
        self.seconds = seconds
        self.stages: dict[str, Stage] = {}
        self.notes: dict[str, str] = {}  # what else the job wants to know when it is taken up
        self._written = time.monotonic()
        self._kept = False  # whether the file holds work that can be taken up

    @property
    def due(self) -> bool:
        """Whether the file should be written again."""
        return time.monotonic() - self._written >= self.seconds

    @contextmanager
    def held(self) -> Iterator["Checkpoint"]:
        """Hold the file for this process, and read what is in it; the lock goes with the process, however it ends."""
        with lock(self.path, BadCheckpoint, "checkpoint"):
            remove_leftovers(self.path)
            if self.path.exists():
                self._load()
            yield self

    def save(self, stage: str, state: Stage) -> None:
        """Write the state of a stage, beside those of the stages before it."""
        self.stages[stage] = state
        self.write()

    def write(self) -> None:
        """Write all stages and notes."""
        tensors: dict[str, Any] = {}
        for name, saved in self.stages.items():
            for key, array in {**saved.arrays, **pack_units(saved.units)}.items():
                tensors[f"{name}/{key}"] = array
        stages = {name: {**asdict(saved.amounts), "complete": saved.complete} for name, saved in self.stages.items()}
        metadata = {"identity": self.identity, "stages": stages, "notes": self.notes}
        try:
            write_artifact(self.path, KIND, tensors, metadata, VERSION)
        except OSError as error:
            kept = "; the one written before it is intact" if self._kept else ""
            raise BadCheckpoint(
                f"{self.path}: the checkpoint could not be written ({error.strerror}){kept}. Make room and run the "
                "same command again"
            ) from error
        self._written = time.monotonic()
        self._kept = bool(self.stages)

    def _load(self) -> None:
        artifact = read_artifact(self.path, KIND, BadCheckpoint, VERSION)
        artifact.decode(self._take_up)

    def _take_up(self, artifact: Artifact) -> None:
        before = artifact.value("identity", dict)
        for name in sorted({*before, *self.identity}):
            if before.get(name) != self.identity.get(name):
                raise BadCheckpoint(
                    f"{self.path}: this checkpoint belongs to other work: {name} was {_short(before.get(name))} and is "
                    f"{_short(self.identity.get(name))}. Finish that work, delete the file, or choose another "
                    "--checkpoint"
                )
        self.notes = artifact.value("notes", dict)
        for name, amounts in artifact.value("stages", dict).items():
            self.stages[name] = _stage_of(artifact, name, dict(amounts))
        self._kept = bool(self.stages)


def delete_checkpoint(path: Path) -> None:
    """Delete a checkpoint, and the file with sums that belongs to it, if there is one. Nothing else is touched."""
    if not path.exists():
        return
    beside = read_artifact(path, KIND, BadCheckpoint, VERSION).value("notes", dict).get("rows")
    if beside is not None and is_rows_name(path, beside):  # whatever the file says: nothing but what we made
        path.with_name(beside).unlink(missing_ok=True)
    path.unlink()


def new_rows_name(path: Path) -> str:
    """Return a name for the file with sums that belongs to a checkpoint; nothing else has such a name."""
    return f".{path.name}.{secrets.token_hex(8)}.rows"


def is_rows_name(path: Path, name: object) -> bool:
    """Whether `new_rows_name` made a name for this checkpoint.

    >>> is_rows_name(Path("a"), new_rows_name(Path("a"))), is_rows_name(Path("a"), "a.sums")
    (True, False)
    """
    pattern = rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.rows"
    return isinstance(name, str) and re.fullmatch(pattern, name) is not None


def describe(artifact: Artifact) -> dict[str, Any]:
    """Return what a checkpoint holds, for `alc inspect`."""
    identity = artifact.value("identity", dict)
    stages = artifact.value("stages", dict)
    return {
        "complete": bool(stages) and all(stage.get("complete") for stage in stages.values()),
        "stages": stages,
        **{name: value for name, value in identity.items() if value is not None},
    }


def _stage_of(artifact: Artifact, name: str, amounts: dict[str, Any]) -> Stage:
    arrays = {
        key.removeprefix(f"{name}/"): array for key, array in artifact.tensors.items() if key.startswith(f"{name}/")
    }
    units = unpack_units(arrays)
    complete = bool(amounts.pop("complete", False))
    tally = {key: array for key, array in arrays.items() if not key.startswith("unit_")}
    return Stage(tally, artifact.build(Amounts, amounts, "amounts"), units, complete)


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "…"
