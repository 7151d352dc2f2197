"""Parquet and Arrow files, decoded and checked in full by another process, which a damaged file may end.

Arrow's own code believes much of what a file says. It runs in `_arrow_process`, which asks for the bytes that it needs
and gives back record batches whose lengths, offsets and texts were checked. A process that is done with a file waits
for the next one.
"""

import atexit
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

from alacarte._io._arrow_process import ASKS, DONE, FAILED, FRAME_COUNT, FRAME_HEAD, RANGE
from alacarte.errors import require

Read = Callable[[int, int], bytes]  # so many bytes from a place on
_idle: list[tuple[int, "_Process"]] = []  # with the number of the process that started it: a fork has none


class ArrowFile:
    """An open file; it raises what its bytes raise, and ValueError if they make no sense."""

    def __init__(self, process: "_Process", command: dict[str, Any], read: Read) -> None:
        self._process, self._read = process, read
        self._schema, facts = list(process.answers(command, read))
        self.groups: list[tuple[int, int]] = [tuple(group) for group in json.loads(facts)]
        """Where each row group of Parquet begins, and its number of rows; one entry per record batch of Arrow."""

    @cached_property
    def schema(self) -> Any:
        """The schema, as pyarrow has it."""
        arrow = require("pyarrow", extra="parquet", purpose="reading Arrow files")
        return arrow.ipc.read_schema(arrow.py_buffer(self._schema))

    def batches(self, columns: list[str] | None = None, size: int = 1 << 16, group: int | None = None) -> Iterator[Any]:
        """Give record batches of at most `size` rows; of one row group of Parquet, or of all there is."""
        ipc = require("pyarrow.ipc", extra="parquet", purpose="reading Arrow files")
        for batch in self._process.answers({"columns": columns, "size": size, "group": group}, self._read):
            yield ipc.open_stream(batch).read_next_batch()

    def read(self) -> Any:
        """Return all of it as a table."""
        arrow = require("pyarrow", extra="parquet", purpose="reading Arrow files")
        return arrow.Table.from_batches(self.batches(), self.schema)


@contextmanager
def open_arrow(
    source: Path | BinaryIO, kind: Literal["parquet", "arrow"], head: bytes | None = None
) -> Iterator[ArrowFile]:
    """Open a file; `head` is what was read already of one that can only be read in order (a stream of Arrow)."""
    require("pyarrow", extra="parquet", purpose=f"reading {kind.capitalize()} files")
    command: dict[str, Any] = {"open": kind, "path": None, "size": None}
    if isinstance(source, Path):
        command["path"] = str(source.absolute())
    elif head is None:
        command["size"] = source.seek(0, io.SEEK_END)
    before = io.BytesIO(head or b"")

    def read(place: int, count: int) -> bytes:
        assert not isinstance(source, Path)
        if head is None:
            source.seek(place)
        content = before.read(count)
        while len(content) < count and (part := source.read(count - len(content))):
            content += part
        return content

    process = _waiting_process() or _Process()
    try:
        yield ArrowFile(process, command, read)
    finally:
        if process.is_waiting:
            _idle.append((os.getpid(), process))
        else:  # nobody wants the rest of its answer
            process.end()


def _waiting_process() -> "_Process | None":
    while True:
        try:
            number, process = _idle.pop()
        except IndexError:
            return None
        if number == os.getpid() and process.is_running:
            return process


class _Process:
    """A running `_arrow_process`."""

    def __init__(self) -> None:
        self.is_waiting = True
        script = Path(__file__).with_name("_arrow_process.py")
        self._running = subprocess.Popen(
            [sys.executable, "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    @property
    def is_running(self) -> bool:
        return self._running.poll() is None

    def answers(self, command: dict[str, Any], read: Read) -> Iterator[bytes]:
        """Give what the process answers to a command, and the bytes of the file that it asks for to it."""
        self.is_waiting = False
        self._give(f"{json.dumps(command)}\n".encode())
        while True:
            kind, length = FRAME_HEAD.unpack(self._take(FRAME_HEAD.size))
            content = self._take(length)
            if kind == ASKS:
                data = read(*RANGE.unpack(content))
                self._give(FRAME_COUNT.pack(len(data)), data)
            elif kind in (DONE, FAILED):
                self.is_waiting = True
                if kind == FAILED:
                    raise ValueError(content.decode(errors="replace"))
                return
            else:
                yield content

    def _give(self, *parts: bytes) -> None:
        assert self._running.stdin is not None
        with suppress(BrokenPipeError):  # that it ended shows when it is to answer
            for part in parts:
                self._running.stdin.write(part)
            self._running.stdin.flush()

    def _take(self, count: int) -> bytes:
        assert self._running.stdout is not None
        content = self._running.stdout.read(count)
        if len(content) < count:
            self.end()
            raise ValueError(f"it ended the process that read it ({self._running.returncode})")
        return content

    def end(self) -> None:
        """End the process."""
        self._running.kill()
        self._running.communicate()


@atexit.register
def _end_all() -> None:
    for number, process in _idle:
        if number == os.getpid():
            process.end()
