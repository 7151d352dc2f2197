"""Long questions, each in a process of its own: with a limit on its memory, and ended when nobody waits any more.

A worker is `python -m alacarte.serve.worker`. It reads one question, as a line of JSON, and writes lines of JSON: how
far it has come, then the answer or what is wrong. One is always started ahead, so that a question need not wait for
Python to start.
"""

import asyncio
import json
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from alacarte.errors import AlacarteError
from alacarte.serve.workspace import Workspace

Message = dict[str, Any]
BUILD = "build"  # the question whose answer is a corpus
LONGEST_LINE = 1 << 28  # bytes of an answer
KEPT = 16  # answers about corpora that are kept, so that nobody who opens a link waits for them again


class Jobs:
    """The processes that answer long questions; at most `at_once` at a time, the others wait.

    Corpora are built one after the other, beside these, so that no question waits for a build.
    """

    def __init__(self, workspace: Workspace, memory: int | None = None, at_once: int = 2) -> None:
        self._workspace, self._memory = workspace, memory
        self._free, self._may_build = asyncio.Semaphore(at_once), asyncio.Semaphore(1)
        self._spare: asyncio.subprocess.Process | None = None
        self._starting, self._closed = asyncio.Lock(), False
        self._ending: set[asyncio.Task[None]] = set()
        self._answers: OrderedDict[str, Message] = OrderedDict()

    async def warm(self) -> None:
        """Start a worker ahead of the next question, if there is none."""
        async with self._starting:
            if not self._closed and (self._spare is None or self._spare.returncode is not None):
                self._spare = await self._started()

    async def close(self) -> None:
        """End the worker that waits; no other is started."""
        self._closed = True
        await asyncio.gather(*self._ending)
        async with self._starting:
            if self._spare is not None:
                await _ended(self._spare)
                self._spare = None

    async def ask(self, path: str, values: Mapping[str, Any]) -> AsyncIterator[Message]:
        """Yield the messages of a worker: {"progress": …}, then {"answer": …} or {"error": …}.

        Whoever stops listening (`aclose`) ends the process.
        """
        key = self._key(path, values)
        if key in self._answers:
            self._answers.move_to_end(key)
            yield self._answers[key]
            return
        free = self._may_build if path == BUILD else self._free
        if free.locked():
            yield {"progress": {"phase": "waiting for others", "done": 0, "total": None}}
        async with free:
            worker, self._spare = self._spare, None
            if worker is None or worker.returncode is not None:
                worker = await self._started()
            try:
                async for message in self._messages(worker, json.dumps([path, dict(values)])):
                    if key and "answer" in message:
                        self._keep(key, message)
                    yield message
            finally:  # in a task of its own: whoever stopped listening may be unable to wait for anything
                task = asyncio.get_running_loop().create_task(self._replaced(worker))
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
                await asyncio.shield(task)

    def _key(self, path: str, values: Mapping[str, Any]) -> str:
        """Return what an answer about corpora is kept by: the question, and the corpora as they are; else nothing."""
        corpora = [values[name] for name in ("corpus", "other") if name in values]
        try:
            states = [self._workspace.state(name) for name in corpora]
        except AlacarteError:  # the worker says what is wrong
            return ""
        return json.dumps([path, dict(values), states]) if states else ""

    def _keep(self, key: str, message: Message) -> None:
        self._answers[key] = message
        if len(self._answers) > KEPT:
            self._answers.popitem(last=False)

    async def _replaced(self, worker: asyncio.subprocess.Process) -> None:
        await _ended(worker)
        await self.warm()

    async def _messages(self, worker: asyncio.subprocess.Process, question: str) -> AsyncIterator[Message]:
        assert worker.stdin is not None
        assert worker.stdout is not None
        with suppress(ConnectionError):
            worker.stdin.write(question.encode() + b"\n")
            await worker.stdin.drain()
        last: Message = {}
        while line := await worker.stdout.readline():
            last = json.loads(line)
            yield last
        if "answer" not in last and "error" not in last:
            yield {"error": "the process that worked on this ended; it may have needed more memory than there is"}

    async def _started(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "alacarte.serve.worker",
            self._workspace.description(),
            str(self._memory or 0),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
        )


async def _ended(worker: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        worker.kill()
    await worker.wait()
