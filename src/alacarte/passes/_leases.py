"""Who works on which task of a run, by files in its folder that many machines share.

A task belongs to whoever makes its next lease, `tasks/00017.lease-0001`: of several processes, the file system lets one
do so. The worker renews its lease, by the time of the file, as long as it gets on; a lease that was not renewed for a
while is that of a worker that died or hangs, and the next one may be made. Nothing depends on this but how much work is
done twice: parts of a run are the same to the last bit whoever makes them, and take their place at once.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from alacarte._io.files import atomic_write
from alacarte.passes._manifest import Plan

TASKS, PARTS = "tasks", "parts"
LEASE = re.compile(r"(\d+)\.lease-(\d+)")
Status = Literal["done", "running", "lost", "failed", "waiting"]


@dataclass(frozen=True)
class TaskState:
    """Where a task stands. `age` is how long ago its worker was last heard of, in seconds."""

    task: int
    status: Status
    size: int  # bytes of text
    worker: str = ""
    age: float = 0.0
    seconds: float = 0.0  # that it took
    error: str = ""
    failures: int = 0


def part_path(plan: Plan, task: int) -> Path:
    """The file with what a task made; it is there when the task is done."""
    return plan.folder / PARTS / f"{task:05}.safetensors"


def task_path(plan: Plan, task: int, ending: str) -> Path:
    """Another file of a task."""
    return plan.folder / TASKS / f"{task:05}.{ending}"


def make_folders(plan: Plan) -> None:
    for name in (TASKS, PARTS):
        (plan.folder / name).mkdir(exist_ok=True)


def now(plan: Plan) -> float:
    """The time by the clock of the disk that the run lies on: those of the machines may differ."""
    clock = plan.folder / TASKS / ".clock"
    try:
        clock.touch()
        return clock.stat().st_mtime
    except OSError:  # no room, or a run that may only be read
        return time.time()


def survey(plan: Plan, lease: float, *, timed: bool = False) -> list[TaskState]:
    """Where each task stands, if leases end after so many seconds; `timed` reads how long those took that are done."""
    done = {path.name for path in _listed(plan.folder / PARTS)}
    names = {path.name for path in _listed(plan.folder / TASKS)}
    leases: dict[int, int] = {}
    for name in names:
        if match := LEASE.fullmatch(name):
            leases[int(match[1])] = max(leases.get(int(match[1]), 0), int(match[2]))
    clock = now(plan) if leases else 0.0
    states = []
    for task in range(1, plan.tasks + 1):
        if part_path(plan, task).name in done:
            record = _read(task_path(plan, task, "done")) if timed else {}
            worker, seconds = record.get("worker", ""), float(record.get("seconds", 0))
            states.append(TaskState(task, "done", plan.size(task), worker, seconds=seconds))
        else:
            states.append(_not_done(plan, task, names, leases.get(task), clock, lease))
    return states


def _not_done(plan: Plan, task: int, names: set[str], generation: int | None, clock: float, lease: float) -> TaskState:
    size = plan.size(task)
    record = _read(task_path(plan, task, "error")) if f"{task:05}.error" in names else {}
    error, failures = str(record.get("error", "")), int(record.get("failures", 0))
    if generation is not None:
        path = _lease_path(plan, task, generation)
        with suppress(OSError):  # given back in the meantime
            age = abs(clock - path.stat().st_mtime)  # of the future if the disk's clock was set back
            status: Status = "running" if age < lease else "lost"
            return TaskState(task, status, size, _read(path).get("worker", ""), age, 0.0, error, failures)
    return TaskState(task, "failed" if error else "waiting", size, record.get("worker", ""), 0.0, 0.0, error, failures)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _read(path: Path) -> dict[str, Any]:
    """A small JSON file; nothing if it is not there, or not yet whole."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def record_done(plan: Plan, task: int, seconds: float) -> None:
    """Note how long a task took, for `status`."""
    with suppress(OSError):  # the part is there, and that is what counts
        _write(task_path(plan, task, "done"), {"worker": worker_name(), "seconds": round(seconds, 3)})
        task_path(plan, task, "error").unlink(missing_ok=True)


def record_failure(plan: Plan, task: int, problem: BaseException) -> None:
    """Note why a task could not be done."""
    path = task_path(plan, task, "error")
    failures = int(_read(path).get("failures", 0)) + 1
    message = str(problem) or type(problem).__name__
    with suppress(OSError):  # a full disk may have been the reason
        _write(path, {"worker": worker_name(), "error": message, "failures": failures})


def _write(path: Path, record: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(record).encode())


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


# ------------------------------------------------------------------------------------------------------ leases


def _lease_path(plan: Plan, task: int, generation: int) -> Path:
    return task_path(plan, task, f"lease-{generation:04}")


class Lease:
    """The right of one worker to a task, renewed by a thread while the worker gets on."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        self._heard = time.monotonic()
        self._always = False
        self._ended = threading.Event()

    def progress(self, state: object = None) -> None:
        """What the worker calls as it gets on."""
        self._heard = time.monotonic()

    @contextmanager
    def no_progress(self) -> Iterator[None]:
        """A time in which nothing is heard of the worker though it is at work: reading vectors, writing results."""
        self._always = True
        try:
            yield
        finally:
            self._always = False
            self.progress()

    @contextmanager
    def held(self) -> Iterator["Lease"]:
        """Renew the lease within this, and give it back at the end, however that comes."""
        thread = threading.Thread(target=self._renew, name="alacarte-lease", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            thread.join()
            self.path.unlink(missing_ok=True)

    def _renew(self) -> None:
        while not self._ended.wait(self.seconds / 5):
            if self._always or time.monotonic() - self._heard < self.seconds:
                with suppress(OSError):
                    os.utime(self.path)


def claim(plan: Plan, task: int, owner: str, seconds: float, *, force: bool = False) -> Lease | None:
    """The next lease of a task, or None if another worker has one that holds.

    `owner` may take a task from itself: a scheduler that knows that its worker is gone. `force` asks nobody.
    """
    while True:
        number = _newest(plan, task)
        if number and not force:
            path = _lease_path(plan, task, number)
            with suppress(OSError):
                holds = abs(now(plan) - path.stat().st_mtime) < seconds
                if holds and (not owner or _read(path).get("owner") != owner):
                    return None
        path = _lease_path(plan, task, number + 1)
        try:
            file = path.open("x", encoding="utf-8")
        except FileExistsError:
            if force:
                continue
            return None
        with suppress(OSError), file:  # where there is no room, a lease that says nothing is a lease
            json.dump({"worker": worker_name(), "owner": owner}, file)
        if number:
            _lease_path(plan, task, number).unlink(missing_ok=True)
        return Lease(path, seconds)


def _newest(plan: Plan, task: int) -> int:
    """The number of the latest lease of a task; 0 if there is none."""
    numbers = [
        int(match[2])
        for path in (plan.folder / TASKS).glob(f"{task:05}.lease-*")
        if (match := LEASE.fullmatch(path.name))
    ]
    return max(numbers, default=0)
