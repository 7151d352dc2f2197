"""Questions are answered in processes, with a limit on their memory, and stopped when nobody waits any more.

A worker is `python -m alacarte.serve.worker`. It reads questions, as lines of JSON, and writes lines of JSON for each:
how far it has come, then the answer or what is wrong. A long question has a process of its own; one is always started
ahead, so that it need not wait for Python to start. Short questions go to processes that stay (`Pool`): lines have
some of their own, so that they never wait for words.
"""

import asyncio
import json
import os
import sys
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from alacarte.errors import AlacarteError
from alacarte.serve.workspace import Workspace

Message = dict[str, Any]
BUILD = "build"  # the question whose answer is a corpus
LONGEST_ANSWER = 1 << 28  # bytes of an answer
PATIENCE = 1.0  # seconds that a short question goes on when nobody waits for it: a new process takes longer to start
ANSWERS_KEPT = 16  # answers about corpora that are kept, so that nobody who opens a link waits for them again


class Pool:
    """Processes that answer short questions, one after the other; at most `size` at a time, started when needed."""

    def __init__(self, workspace: Workspace, memory: int | None, size: int) -> None:
        self._workspace, self._memory = workspace, memory
        self._free = asyncio.Semaphore(size)
        self._idle: list[asyncio.subprocess.Process] = []
        self._going: set[asyncio.Task[Message]] = set()

    async def ask(self, path: str, values: Mapping[str, Any]) -> Message:
        """Return {"answer": …} or {"error": …}; a question that its asker gives up (by cancelling) is stopped."""
        await self._free.acquire()
        task = asyncio.get_running_loop().create_task(self._answered(json.dumps([path, dict(values)])))
        self._going.add(task)
        task.add_done_callback(self._done)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(PATIENCE, task.cancel)
            raise

    def _done(self, task: "asyncio.Task[Message]") -> None:
        self._going.discard(task)
        self._free.release()
        if not task.cancelled():
            task.exception()  # the asker may have gone

    async def _answered(self, question: str) -> Message:
        worker = self._idle.pop() if self._idle else await started(self._workspace, self._memory)
        try:
            last = [message async for message in messages_of(worker, question)][-1]
        except asyncio.CancelledError:
            await _ended(worker)
            raise
        if worker.returncode is None and last is not GONE:
            self._idle.append(worker)
        return last

    async def warm(self) -> None:
        """Start a worker ahead of the first question."""
        self._idle.append(await started(self._workspace, self._memory))

    async def close(self) -> None:
        """End all workers."""
        for task in list(self._going):
            task.cancel()
        await asyncio.gather(*self._going, return_exceptions=True)
        while self._idle:
            await _ended(self._idle.pop())


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
                self._spare = await started(self._workspace, self._memory)

    async def close(self) -> None:
        """End the worker that waits; no other is started."""
        self._closed = True
        await asyncio.gather(*self._ending)
        async with self._starting:
            if self._spare is not None:
                await _ended(self._spare)
                self._spare = None

    async def ask(self, path: str, values: Mapping[str, Any]) -> AsyncGenerator[Message, None]:
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
                worker = await started(self._workspace, self._memory)
            try:
                async for message in messages_of(worker, json.dumps([path, dict(values)])):
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
        if len(self._answers) > ANSWERS_KEPT:
            self._answers.popitem(last=False)

    async def _replaced(self, worker: asyncio.subprocess.Process) -> None:
        await _ended(worker)
        await self.warm()


GONE = {"error": "the process that worked on this ended; it may have needed more memory than there is"}


async def messages_of(worker: asyncio.subprocess.Process, question: str) -> AsyncIterator[Message]:
    """Ask a worker, and yield what it says up to the answer."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    with suppress(ConnectionError):
        worker.stdin.write(question.encode() + b"\n")
        await worker.stdin.drain()
    while line := await worker.stdout.readline():
        message = json.loads(line)
        yield message
        if "answer" in message or "error" in message:
            return
    yield GONE


async def started(workspace: Workspace, memory: int | None) -> asyncio.subprocess.Process:
    """Start a worker: one of several, which use a core each."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "alacarte.serve.worker",
        workspace.description(),
        str(memory or 0),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LONGEST_ANSWER,
        env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
    )


async def _ended(worker: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        worker.kill()
    await worker.wait()
