"""Contexts summed by the workers of a Dask cluster: the tasks of a plan, handed out by `distributed`.

Each task is `alacarte.passes.plan.work_on` on a worker: what it makes is a file in the folder of the run, which all
workers see, and the vectors are memory-mapped from there. Nothing large goes through the scheduler. A worker that is
lost loses its task to another one, which takes it up at its checkpoint; a call that is interrupted leaves the folder,
and the same call goes on from there.
"""

import secrets
import shutil
import time
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any, cast

from alacarte._io.files import lock
from alacarte._io.progress import Progress, progress
from alacarte._io.remote import path_on_disk
from alacarte.contexts.reading import ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, AlacarteWarning, BadRun, require
from alacarte.passes._leases import part_path, survey
from alacarte.passes._manifest import NAME, Plan, read_plan
from alacarte.passes.plan import FAILURES, TASK_SIZE, TaskOptions, new_plan, total, work_on, write_run
from alacarte.passes.work import Work, chosen
from alacarte.targets.targets import TargetsLike
from alacarte.text.corpus import Corpus
from alacarte.vectors.word_vectors import WordVectors

SMALL_TASK = 1 << 30  # bytes of text: less is not worth a task of its own, while every worker has one
TASKS_A_WORKER = 4  # at least, where there is text enough, so that all are busy to the end
LEASE = 60.0  # seconds without a sign of life after which the worker of another client is taken for dead
UNDER_WAY = ("pending", "lost")  # of futures: what a worker had made when it was lost is made again
MOST_CALLS = 100  # the same ones at the same time in one folder
LOOK = 1.0  # seconds between two looks at which workers there are
ALONE = 30.0  # seconds without a worker after which that is said
RESTART = "24 hours"  # that a local worker may take to come back, which on a busy machine is longer than Dask's 15 s


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Some processes of this machine with a thread each, as a cluster whose workers come back when they are killed.

    Dask gives up for good a worker that is not there 15 seconds after it was lost (`lost-worker-timeout`), or that was
    lost again by then. Here it has all the time that it needs. Dask also has its workers hand memory back to the system
    whenever some is free (`MALLOC_TRIM_THRESHOLD_`), which makes a pass slower by a sixth; here they keep it.
    """
    dask, distributed = require("dask", extra="dask", purpose="working on a Dask cluster"), _distributed()
    options = {"threads_per_worker": 1, "processes": True, "memory_limit": 0, "dashboard_address": ":0"}
    environment = {**dask.config.get("distributed.nanny.pre-spawn-environ")}
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    with (
        dask.config.set(
            {
                "distributed.deploy.lost-worker-timeout": RESTART,
                "distributed.nanny.pre-spawn-environ": environment,
            }
        ),
        distributed.LocalCluster(n_workers=workers, **options) as cluster,
    ):
        yield cluster


def collect_on_cluster(
    vectors: WordVectors,
    corpus: Corpus,
    targets: TargetsLike | None,
    spread: int | None,
    options: ReadingOptions,
    work: Work,
) -> ContextSums:
    """`collect` by the workers of `work.client`."""
    if work.shard is not None or work.checkpoint is not None:
        raise AlacarteError("a run on a cluster keeps its work in the folder run=…; leave shard and checkpoint out")
    if not hasattr(work.client, "nthreads"):
        raise AlacarteError(f"client= takes a client, as distributed.Client(address) gives one, not {work.client!r}")
    reading = cast(ReadingOptions, chosen(options, ReadingOptions))
    workers = max(1, len(work.client.nthreads()))
    folder = Path.cwd() if work.run is None else path_on_disk(work.run, BadRun, "a run").absolute()
    tasks = _tasks(corpus.size or 1, workers, work.block_size)
    plan = new_plan(vectors, corpus, targets, spread, reading, folder, work.block_size, tasks)
    if work.run is not None:
        return _done_by_all(plan, vectors, work)
    with _folder_of_its_own(plan) as own:
        sums = _done_by_all(own, vectors, work)
        shutil.rmtree(own.folder, ignore_errors=True)
    return sums


@contextmanager
def _folder_of_its_own(plan: Plan) -> Iterator[Plan]:
    """The plan in a hidden folder: that of the same call if it was interrupted, and another if it is at work now."""
    with ExitStack() as stack:
        for number in count(1):
            folder = plan.folder / f".alacarte-run-{plan.work[:16]}{f'-{number}' if number > 1 else ''}"
            try:
                stack.enter_context(lock(folder, BadRun, "folder"))
            except BadRun:
                if number == MOST_CALLS:
                    raise
                continue
            break
        yield replace(plan, folder=folder)


def _done_by_all(plan: Plan, vectors: WordVectors, work: Work) -> ContextSums:
    """The sums of a run, begun or taken up where it was left."""
    if (plan.folder / NAME).exists():  # of a call that was interrupted, perhaps with other workers
        before = read_plan(plan.folder)
        if before.work != plan.work:
            raise BadRun(f"{plan.folder} is the folder of another run; choose another folder, or delete this one")
        plan = before
    else:
        write_run(plan, vectors)
    finish(plan, work)
    return total(plan, memory=True)


def _tasks(size: int, workers: int, block_size: int) -> int:
    """How many tasks so many bytes of text are cut into: as many for each worker, so that all end together.

    >>> _tasks(4 << 30, 2, 1 << 20), _tasks(5 << 30, 2, 1 << 20), _tasks(3 << 20, 5, 1 << 20)
    (4, 6, 3)
    """
    share = min(TASK_SIZE, max(SMALL_TASK, size // (TASKS_A_WORKER * workers)))
    rounds = -(-size // (share * workers))
    return min(rounds * workers, -(-size // block_size))


def _distributed() -> ModuleType:
    return require("distributed", extra="dask", purpose="working on a Dask cluster")


def finish(plan: Plan, work: Work) -> None:
    """Have all tasks of a run done by the workers of `work.client`."""
    for tasks, description in ((plan.counting_tasks, "counting words"), (plan.summing_tasks, "reading")):
        size = sum(plan.size(task) for task in tasks)
        with progress(size, "B", description, work.show_progress, work.callback) as bar:
            _Stage(plan, tasks, work, bar).finish()


class _Stage:
    """Tasks that can be done in any order, one at a time by each worker with all of its threads."""

    def __init__(self, plan: Plan, tasks: Iterable[int], work: Work, bar: Progress) -> None:
        self.plan, self.client, self.bar = plan, work.client, bar
        self.owner = secrets.token_hex(8)
        self.options: TaskOptions = {"memory": work.memory, "checkpoint_seconds": work.checkpoint_seconds}
        self.threads = work.threads
        self.waiting = deque(tasks)
        self.running: dict[Any, int] = {}
        self.submitted: dict[int, float] = {}  # when each task was handed out last
        self.ended: SimpleQueue[Any] = SimpleQueue()  # of those that were running
        self.failures: Counter[int] = Counter()
        self.done: set[int] = set()
        self.read = 0
        self.survey_at = time.monotonic() + LEASE  # when leases are looked at next
        self.alone_since: float | None = None  # when there was no worker for the first time

    def finish(self) -> None:
        """Hand tasks out until all are done; if this ends early, none of them is left to a worker."""
        try:
            while self.waiting or self.running:
                self._hand_out()
                if not self.running:
                    time.sleep(LOOK)  # for workers, or for another client that works on the same run
                    continue
                with suppress(Empty):
                    self.ended.get(timeout=LOOK)
                for future in [future for future in self.running if future.status not in UNDER_WAY]:
                    if future in self.running:
                        self._take(future, self.running.pop(future))
        except BaseException:
            with suppress(Exception):  # the scheduler may be gone
                self.client.cancel(list(self.running), force=True)
            raise

    def _hand_out(self) -> None:
        """As many tasks as there are workers are under way: each has the threads of one."""
        try:
            workers = len(self.client.nthreads())
        except Exception as error:
            raise self._gone() from error
        self._warn_if_alone(workers)
        self._give_to_others()
        for _ in range(len(self.waiting)):
            if len(self.running) >= workers:
                return
            task = self.waiting.popleft()
            if part_path(self.plan, task).exists():
                self._done(task)
                continue
            key = f"alacarte-task-{task}-{secrets.token_hex(4)}"
            place = str(self.plan.folder), self.plan.identity
            arguments = (place, task, (self.owner, LEASE), self.threads, self.options)
            future = self.client.submit(_on_worker, *arguments, key=key, pure=False)
            future.add_done_callback(self.ended.put)
            self.running[future], self.submitted[task] = task, time.monotonic()

    def _warn_if_alone(self, workers: int) -> None:
        now = time.monotonic()
        self.alone_since = None if workers else self.alone_since or now
        if self.alone_since is not None and now - self.alone_since > ALONE:
            self.alone_since = float("inf")  # said once
            message = (
                f"the cluster has no workers; they are waited for. What is done is kept in {self.plan.folder}: if you "
                "end this, the same call goes on from there"
            )
            warnings.warn(AlacarteWarning(message), stacklevel=2)

    def _give_to_others(self) -> None:
        """Tasks of which nothing is heard, though Dask has not lost their workers, wait for another worker, too."""
        now = time.monotonic()
        if now < self.survey_at:
            return
        self.survey_at = now + LEASE / 2
        under_way = Counter(self.running.values())
        for state in survey(self.plan, LEASE):
            if state.task not in under_way:
                continue
            silent = state.status != "running" and now - self.submitted[state.task] > LEASE
            if state.status == "done":  # by another client
                self._done(state.task)
            elif silent and under_way[state.task] == 1 and state.task not in self.waiting:
                self.waiting.append(state.task)

    def _take(self, future: Any, task: int) -> None:
        if future.status == "finished":  # what counts is the part: the worker may be gone by now
            if part_path(self.plan, task).exists():
                self._done(task)
            else:  # another client works on it; it may be done, or lost, the next time
                self.waiting.append(task)
                time.sleep(LOOK / 2)
            return
        if future.status == "cancelled":
            raise self._gone()
        self.failures[task] += 1
        problem = future.exception()
        if self.failures[task] >= FAILURES:
            raise BadRun(
                f"task {task} failed {FAILURES} times: {problem}. What is done is kept in {self.plan.folder}: when "
                "that is mended, the same call goes on from there"
            ) from problem
        self.waiting.append(task)

    def _done(self, task: int) -> None:
        if task in self.done:
            return
        self.done.add(task)
        for future in [future for future, number in self.running.items() if number == task]:  # whose worker hangs
            del self.running[future]
            future.cancel(force=True)
        self.read += self.plan.size(task)
        self.bar.update_to(self.read, tasks=f"{len(self.waiting) + len(self.running)} left")

    def _gone(self) -> BadRun:
        return BadRun(
            f"the cluster is gone, or was started again. What is done is kept in {self.plan.folder}: the same call "
            "with a new client goes on from there"
        )


@lru_cache(maxsize=1)
def _plan_in(folder: str, identity: str) -> Plan:
    """The plan that a worker has at hand, with its vectors."""
    plan = read_plan(folder)
    if plan.identity != identity:
        raise BadRun(
            f"{folder} is another folder on this worker; name one on a disk that all workers see (run=…, --run)"
        )
    return plan


def _on_worker(
    place: tuple[str, str], task: int, claimed: tuple[str, float], threads: int | None, options: TaskOptions
) -> str:
    """Do a task, on the worker that this is called on.

    `place` is the folder of the run and the plan's identity, `claimed` the owner and the seconds of its leases.
    """
    (folder, identity), (owner, lease) = place, claimed
    if not (Path(folder) / NAME).is_file():
        raise BadRun(f"{folder} is not there on this worker; name one on a disk that all workers see (run=…, --run)")
    chosen_options: TaskOptions = {
        **options,
        "threads": threads or _distributed().get_worker().state.nthreads,
        "show_progress": False,
    }
    return work_on(_plan_in(folder, identity), task, owner=owner, lease=lease, options=chosen_options)
