"""Questions are answered in processes, with a limit on their memory, and stopped when nobody waits any more.

A worker is `python -m alacarte.serve.worker`. It reads questions, as lines of JSON, and writes lines of JSON for each:
how far it has come, then the answer or what is wrong. Workers stay for the next question (`Pool`); one whose question
is given up is ended. Lines have workers of their own, so that they never wait for words, and so have long questions
and builds (`Jobs`).
"""

import asyncio
import json
import os
import sys
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from alacarte.errors import AlacarteError
from alacarte.serve.workspace import Workspace

Message = dict[str, Any]
Result = TypeVar("Result")
BUILD = "build"  # the question whose answer is a corpus
LONGEST_ANSWER = 1 << 28  # bytes of an answer
PATIENCE = 1.0  # seconds that a short question goes on when nobody waits for it: a new process takes longer to start
ANSWERS_KEPT = 16  # answers about corpora that are kept, so that nobody who opens a link waits for them again


class Pool:
    """Processes that answer questions, one after the other; at most `size` at a time, started when needed."""

    def __init__(self, workspace: Workspace, memory: int | None, size: int) -> None:
        self._workspace, self._memory = workspace, memory
        self._free = asyncio.Semaphore(size)
        self._idle: list[asyncio.subprocess.Process] = []
        self._going: set[asyncio.Task[Any]] = set()

    async def messages(self, path: str, values: Mapping[str, Any]) -> AsyncGenerator[Message, None]:
        """Yield {"progress": …}, then {"answer": …} or {"error": …}; whoever stops listening ends the process."""
        if self._free.locked():
            yield {"progress": {"phase": "waiting for others", "done": 0, "total": None}}
        async with self._free:
            worker, message = await self._worker(), GONE
            try:
                async for message in messages_of(worker, json.dumps([path, dict(values)])):
                    yield message
            finally:
                if message is not GONE and message.keys() & {"answer", "error"}:
                    self._idle.append(worker)
                else:  # in a task of its own: whoever stopped listening may be unable to wait for anything
                    await asyncio.shield(self._begun(_ended(worker)))

    async def _worker(self) -> asyncio.subprocess.Process:
        while self._idle:
            worker = self._idle.pop()
            if worker.returncode is None:
                return worker
        return await started(self._workspace, self._memory)

    async def ask(self, path: str, values: Mapping[str, Any]) -> Message:
        """Return {"answer": …} or {"error": …}; a question that its asker gives up (by cancelling) is stopped."""
        task = self._begun(self._last(path, values))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(PATIENCE, task.cancel)
            raise

    async def _last(self, path: str, values: Mapping[str, Any]) -> Message:
        async with aclosing(self.messages(path, values)) as messages:
            return [message async for message in messages][-1]

    def _begun(self, work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
        task = asyncio.get_running_loop().create_task(work)
        self._going.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._going.discard(task)
        if not task.cancelled():
            task.exception()  # the asker may have gone

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
    """Long questions, at most two at a time; corpora are built one after the other beside these, and wait for none."""

    def __init__(self, workspace: Workspace, memory: int | None = None) -> None:
        self._workspace = workspace
        self._long, self._builds = Pool(workspace, memory, 2), Pool(workspace, memory, 1)
        self._answers: OrderedDict[str, Message] = OrderedDict()

    async def warm(self) -> None:
        """Start a worker ahead of the first question."""
        await self._long.warm()

    async def close(self) -> None:
        """End all workers."""
        await asyncio.gather(self._long.close(), self._builds.close())

    async def ask(self, path: str, values: Mapping[str, Any]) -> AsyncGenerator[Message, None]:
        """Yield the messages of a worker, as `Pool.messages` does, or the answer that was kept."""
        key = self._key(path, values)
        if key in self._answers:
            self._answers.move_to_end(key)
            yield self._answers[key]
            return
        pool = self._builds if path == BUILD else self._long
        async with aclosing(pool.messages(path, values)) as messages:
            async for message in messages:
                if key and "answer" in message:
                    self._keep(key, message)
                yield message

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
