"""Work in progress on disk: sums so far and the place in the corpus, so that nothing is lost and nothing done twice.

A checkpoint is written completely or not at all, belongs to one process at a time, and is taken up only by the same
work: the same options, targets and vectors, and a corpus that begins with the very bytes that were read before.
"""

import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy.typing as npt

from alacarte._io.tensors import read_tensors, write_tensors
from alacarte.errors import BadCheckpoint
from alacarte.text.corpus import Block, Document

FORMAT = "alacarte.Checkpoint/1"
Arrays = Mapping[str, npt.NDArray[Any]]


def digest(block: Block, before: int) -> int:
    """A checksum of all text up to and with this block."""
    if block.text is not None:
        return zlib.crc32(block.text, before)
    for document in block.documents:
        if isinstance(document, Document):
            content = repr((document.text, document.tokens, document.spans))
        else:
            content = document if isinstance(document, str) else "\x1f".join(document)
        before = zlib.crc32(content.encode("utf-8", "surrogatepass") + b"\x1e", before)
    return before


@dataclass
class Checkpoint:
    """A file that is written every `interval` seconds and read when the same work starts again."""

    path: Path
    identity: dict[str, Any]
    interval: float = 60.0
    _last: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= self.interval

    def save(self, arrays: Arrays, progress: Mapping[str, Any]) -> None:
        metadata = {
            "format": FORMAT,
            "identity": json.dumps(self.identity, sort_keys=True),
            "progress": json.dumps(dict(progress)),
        }
        try:
            write_tensors(self.path, arrays, metadata)
        except OSError as error:
            raise BadCheckpoint(
                f"{self.path}: the checkpoint could not be written ({error.strerror}); the one written before it is "
                "intact. Make room and run the same command again"
            ) from error
        self._last = time.monotonic()

    def load(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]] | None:
        """(arrays, progress) of the work done before, or None if there is none. The arrays lie in the file."""
        if not self.path.exists():
            return None
        tensors, metadata = read_tensors(self.path, BadCheckpoint)
        if metadata.get("format") != FORMAT:
            raise BadCheckpoint(f"{self.path}: not a checkpoint; choose another name for --checkpoint")
        before = json.loads(metadata["identity"])
        now = json.loads(json.dumps(self.identity))
        differing = [name for name in now if before.get(name) != now[name]]
        if differing:
            name = differing[0]
            raise BadCheckpoint(
                f"{self.path}: this checkpoint belongs to other work: {name} was {_short(before.get(name))} and is "
                f"{_short(now[name])}. Finish that work, delete the file, or choose another --checkpoint"
            )
        return tensors, json.loads(metadata["progress"])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the checkpoint for this process; the lock goes with the process, however that ends."""
        lock = self.path.with_name(self.path.name + ".lock")
        handle, taken = -1, False
        try:
            while not taken:
                handle = self._open_lock(lock)
                if not _take(handle):
                    raise BadCheckpoint(
                        f"{self.path}: another process is working with this checkpoint; wait for it or choose another"
                    )
                taken = _is_at(handle, lock)
                if not taken:  # removed by a process that was done just now: a new one counts
                    os.close(handle)
                    handle = -1
            yield
        finally:
            if taken:
                with suppress(OSError):  # Windows does not remove an open file
                    lock.unlink()
            if handle >= 0:
                os.close(handle)

    def _open_lock(self, lock: Path) -> int:
        try:
            return os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise BadCheckpoint(
                f"{self.path}: no checkpoint can be written there ({error.strerror}); choose another --checkpoint"
            ) from None


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _take(handle: int) -> bool:
    """An exclusive lock that the system drops when the process dies."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
