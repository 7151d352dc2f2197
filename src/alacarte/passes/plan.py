"""One pass shared out among many processes or machines that see the same disk, without any engine.

`plan` cuts the text and writes what is to be done into a folder; `work` does a task; `reduce` adds up what the tasks
made; `status` says how far they are. Text is cut where a single pass would begin a block, and sums are whole numbers:
so any task may be done twice, by anybody, in any order, and any worker may be killed at any moment, and the sums are
those of one pass on one machine, to the last bit.

>>> import tempfile
>>> from alacarte import ContextSums, WordVectors, collect
>>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
>>> folder = Path(tempfile.mkdtemp())
>>> _ = (folder / "a.txt").write_text("a b x\\n" * 100)
>>> made = plan(vectors, folder / "a.txt", ["x"], out=folder / "run", tasks=3, block_size=64)
>>> made.tasks, work(folder / "run")
(3, [1, 2, 3])
>>> reduce(folder / "run", folder / "all.sums")
>>> ContextSums.load(folder / "all.sums") == collect(vectors, folder / "a.txt", ["x"], block_size=64)
True
"""

import os
import secrets
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.artifact import kind_of, read_artifact, write_artifact
from alacarte._io.files import amount, lock
from alacarte._io.progress import ProgressCallback, ProgressState
from alacarte._io.remote import path_on_disk
from alacarte.contexts.reading import Reading, ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import ContextWeights, resolve
from alacarte.contexts.word_counts import WordCounts
from alacarte.errors import AlacarteError, AlacarteWarning, BadCheckpoint, BadRun, Hint
from alacarte.passes._leases import (
    Lease,
    TaskState,
    claim,
    make_folders,
    part_path,
    record_done,
    record_failure,
    survey,
    task_path,
)
from alacarte.passes._manifest import NAME, VECTORS, Plan, read_plan
from alacarte.passes._parts import added_up, in_memory, is_damaged, total_counts, write_counts, write_sums
from alacarte.passes.checkpoint import Checkpoint, delete_checkpoint
from alacarte.passes.collect import CollectOptions, collect_share
from alacarte.passes.memory import parse_size
from alacarte.passes.scan import run
from alacarte.passes.work import BLOCK, Work, refuse_unknown
from alacarte.targets.targets import Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.members import CannotCut
from alacarte.text.pieces import Piece
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

__all__ = ["LEASE", "Plan", "RunStatus", "TaskState", "plan", "read_plan", "reduce", "status", "work"]

TASK_SIZE = 4 * 10**9  # bytes of text: some minutes of work
LEASE = 300.0  # seconds after which a worker of which nothing was heard is taken for dead
FAILURES = 3  # of a task, after which nobody takes it up unless it is named
WAIT = 5.0  # seconds, at most, between two looks at whether a task is free
WAIT_SHARE = 1 / 20  # of the time waited so far, which is when a worker looks again: it loses no more than that
WEIGHTS = "weights.safetensors"  # the context weights, once all words are counted


class TaskOptions(TypedDict, total=False):
    """How a task is done; see `Work`. Nothing here changes a result."""

    threads: int | None
    memory: int | str | None
    checkpoint_seconds: float
    show_progress: bool | None
    callback: ProgressCallback | None


def plan(
    vectors: VectorsLike,
    corpus: CorpusLike,
    targets: TargetsLike | None = None,
    *,
    out: str | os.PathLike[str],
    tasks: int | None = None,
    task_size: int | str = TASK_SIZE,
    spread: int | None = None,
    block_size: int = BLOCK,
    **options: Unpack[ReadingOptions],
) -> Plan:
    """Cut a corpus of files into tasks, and write what is to be done into the folder `out`, which is made.

    There are `tasks` of them, or as many as it takes for each to read about `task_size` bytes. `spread` and the options
    that say how contexts are read are those of `collect`. Context weights that need the counts of words (`sif`,
    `top:100`) make two tasks of each: all those that count come first.

    The folder, the text and the vectors (a copy of which goes into the folder unless they are in a file of our own
    format) must have the same paths on all machines. The same call again leaves the folder as it is.
    """
    refuse_unknown("plan", options, ReadingOptions)
    source, text, folder = WordVectors.of(vectors), Corpus.of(corpus), path_on_disk(out, BadRun, "a run").absolute()
    number = tasks or max(1, -(-(text.size or 0) // parse_size(task_size)))
    made = new_plan(source, text, targets, spread, options, folder, block_size, number)
    write_run(made, source)
    return made


def new_plan(
    vectors: WordVectors,
    corpus: Corpus,
    targets: TargetsLike | None,
    spread: int | None,
    options: ReadingOptions,
    folder: Path,
    block_size: int,
    tasks: int,
) -> Plan:
    """A plan that is in no file yet."""
    tokenizer = get_tokenizer(options.get("tokenizer", "words"))
    if not tokenizer.named:
        raise AlacarteError(
            f"the tokenizer {tokenizer.name!r} is a Python object that other processes cannot read from a file; use "
            "one that has a name"
        )
    if spread is not None and spread < 2:
        raise AlacarteError(f"spread: at least 2 groups are needed to tell how far they lie apart, not {spread}")
    return Plan(
        folder,
        _native_file(vectors) or VECTORS,
        vectors.fingerprint,
        None if targets is None else Targets.of(targets),
        Reading.of(options, tokenizer.name),
        _weights(options.get("context_weights"), vectors),
        spread,
        corpus.options,
        block_size,
        _share_out(corpus, tasks, block_size),
    )


def write_run(plan: Plan, vectors: WordVectors) -> None:
    """Write a plan into its folder, with a copy of the vectors where they are in no file that can be memory-mapped."""
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadRun(f"{plan.folder} is a file; name a folder for the run") from None
    copy, is_new = plan.folder / VECTORS, not (plan.folder / NAME).exists()
    whole = copy.is_file() and WordVectors.load(copy).fingerprint == plan.fingerprint
    if plan.vectors == VECTORS and is_new and not whole:
        if copy.exists():
            raise BadRun(f"{copy} holds other vectors, and is not written over; choose another folder for the run")
        vectors.save(copy)
    make_folders(plan)
    plan.write()  # last: who sees the plan can begin


def _share_out(corpus: Corpus, number: int, block_size: int) -> tuple[tuple[Piece, ...], ...]:
    """The text in so many shares of about the same size; fewer where it cannot be cut."""
    files = corpus.whole_files()
    _refuse_repeated(files)
    size = sum(file.size for file in files)
    if not size:
        raise AlacarteError(f"there is nothing in {corpus.description}; check the path")
    if number < 1:
        raise AlacarteError(f"there is at least one task, not {number}")
    shares: list[list[Piece]] = [[] for _ in range(number)]
    done = 0
    for file in files:
        places = [place * size // number - done for place in range(1, number)]
        places = [place for place in places if 0 < place < file.size]
        pieces = [file]
        try:
            if places and file.size > block_size:
                pieces = corpus.cut(file, places, block_size)
        except CannotCut as reason:
            if file.size > 2 * size // number:
                _warn_of_whole(file, size // number, reason)
        for piece in pieces:
            middle = done + (piece.start + piece.stop) * file.size // (2 * max(1, piece.size))
            shares[min(middle * number // size, number - 1)].append(piece)
        done += file.size
    return tuple(tuple(share) for share in shares if share)


def _refuse_repeated(files: Sequence[Piece]) -> None:
    """The same file twice would be noticed when the parts are added up, after all of the work."""
    counts = Counter(file.path for file in files)
    path, count = counts.most_common(1)[0] if counts else ("", 0)
    if count > 1:
        raise AlacarteError(f"{path} is named {count} times; a run reads a file once, so name it once")


def _warn_of_whole(file: Piece, share: int, reason: CannotCut) -> None:
    message = (
        f"{file.path} ({amount(file.size)}) cannot be shared out: one task reads all of it, and the others about "
        f"{amount(share)}. It {reason}"
    )
    warnings.warn(AlacarteWarning(message), stacklevel=4)


def _native_file(vectors: WordVectors) -> str | None:
    """The file of our own format that vectors lie in as they are, if there is one."""
    path = os.path.abspath(vectors.source or "")  # noqa: PTH100 (links are not followed)
    ours = Path(path).is_file() and kind_of(path) == "word vectors"
    return path if ours and WordVectors.load(path).fingerprint == vectors.fingerprint else None


class _NeedsCounts(Exception):
    """Context weights that cannot be made before words are counted."""


def _weights(what: object, vectors: WordVectors) -> str | ContextWeights:
    """Context weights, or, where they need counts, what they are called."""

    def refuse() -> npt.NDArray[np.int64]:
        raise _NeedsCounts

    try:
        return resolve(what, vectors, refuse)
    except _NeedsCounts:
        return str(what)


# --------------------------------------------------------------------------------------------------------- work


def work(
    run_folder: str | os.PathLike[str],
    task: int | None = None,
    *,
    lease: float = LEASE,
    **options: Unpack[TaskOptions],
) -> list[int]:
    """Do a task of a run, or, without a number, one after the other until all are done; which ones this call has done.

    A task that is done already is left as it is, one that was begun is taken up where its worker left it. A task that
    is named is done at once, and again if its part is damaged; of all others, those are left to their workers of which
    something was heard in the last `lease` seconds.
    """
    refuse_unknown("work", options, TaskOptions)
    plan = read_plan(run_folder)
    make_folders(plan)
    if task is not None:
        return [task] if work_on(plan, task, lease=lease, force=True, options=options) == "done" else []
    return _work_on_all(plan, lease, options)


def work_on(
    plan: Plan,
    task: int,
    *,
    owner: str = "",
    lease: float = LEASE,
    force: bool = False,
    options: TaskOptions | None = None,
) -> str:
    """Do a task: "done", "done before", or "taken" if another worker has a lease on it (see `claim`)."""
    if not 1 <= task <= plan.tasks:
        raise BadRun(f"{plan.folder} has the tasks 1 to {plan.tasks}, and no task {task}")
    if part_path(plan, task).exists():
        if not force or not is_damaged(plan, task):
            return "done before"
        part_path(plan, task).unlink()
    if task in plan.summing_tasks:
        lacking = [number for number in plan.counting_tasks if not part_path(plan, number).exists()]
        if lacking:
            raise BadRun(
                f"task {task} needs the counts of all words, and {_named(lacking)} not done yet; do these first"
            )
    held = claim(plan, task, owner, lease, force=force)
    if held is None:
        return "taken"
    with held.held():
        if part_path(plan, task).exists():
            return "done before"
        started = time.perf_counter()
        try:
            _do(plan, task, held, options or {})
        except Exception as problem:
            record_failure(plan, task, problem)
            raise
        record_done(plan, task, time.perf_counter() - started)
    return "done"


def _do(plan: Plan, task: int, lease: Lease, options: TaskOptions) -> None:
    with lease.no_progress():
        vectors = plan.word_vectors
        weights = None if task in plan.counting_tasks else _final_weights(plan)
    checkpoint = _free(task_path(plan, task, "checkpoint"))
    callers = options.get("callback")

    def callback(state: ProgressState) -> None:
        lease.progress()
        if callers is not None:
            callers(state)

    working = {"checkpoint_seconds": LEASE, **options, "callback": callback, "block_size": plan.block_size}
    if weights is None:
        _count(plan, task, vectors, Work(checkpoint=checkpoint, **working))  # type: ignore[arg-type]
    else:
        choices: CollectOptions = {**plan.options(weights), **working, "checkpoint": checkpoint}  # type: ignore[typeddict-item]
        sums = collect_share(vectors, plan.text(task), plan.targets, plan.spread, choices)
        with lease.no_progress():
            write_sums(plan, task, sums)
    if checkpoint is not None:
        delete_checkpoint(checkpoint)


def _count(plan: Plan, task: int, vectors: WordVectors, work: Work) -> None:
    tally = WordCounts(len(vectors))
    encoder = Encoder(get_tokenizer(plan.reading.tokenizer), Lexicon(vectors.key_to_index))
    if work.checkpoint is None:
        state = run(tally, plan.text(task), encoder, work, "counting words")
    else:
        checkpoint = Checkpoint(Path(work.checkpoint), {"plan": plan.identity, "task": task}, work.checkpoint_seconds)
        with checkpoint.held():
            state = run(tally, plan.text(task), encoder, work, "counting words", checkpoint, keep=False)
    write_counts(plan, task, tally.counts, state.units)


def _free(checkpoint: Path) -> Path | None:
    """The checkpoint, if no other process holds it: one that hangs may, and its task is begun again without it."""
    try:
        with lock(checkpoint, BadCheckpoint):
            return checkpoint
    except BadCheckpoint:
        return None


def _final_weights(plan: Plan) -> ContextWeights:
    """The context weights, made from the counts of all tasks by whoever comes first; all would make the same."""
    if isinstance(plan.weights, ContextWeights):
        return plan.weights
    path = plan.folder / WEIGHTS
    if not path.exists():
        made = resolve(plan.weights, plan.word_vectors, lambda: total_counts(plan))
        assert made.values is not None
        metadata = {"plan": plan.identity, "name": made.name, "words": made.words}
        write_artifact(path, "context weights", {"values": made.values}, metadata)
    artifact = read_artifact(path, "context weights", BadRun)
    if artifact.value("plan", str) != plan.identity:
        raise BadRun(f"{path} belongs to another run; delete it")
    values = artifact.tensor("values", np.float32, 1)
    return ContextWeights(artifact.value("name", str), values, artifact.value("words", str))


def _work_on_all(plan: Plan, lease: float, options: TaskOptions) -> list[int]:
    """Take one free task after the other."""
    owner, done, failed = secrets.token_hex(8), [], dict[int, str]()
    idle_since = time.monotonic()
    while True:
        states = survey(plan, lease)
        counting = [state for state in states if state.task in plan.counting_tasks and state.status != "done"]
        candidates = counting or [state for state in states if state.status != "done"]
        free = [state for state in candidates if state.status != "running" and state.task not in failed]
        free = [state for state in free if state.failures < FAILURES]
        for state in sorted(free, key=lambda state: (state.failures, state.task)):
            try:
                if work_on(plan, state.task, owner=owner, lease=lease, options=options) == "done":
                    done.append(state.task)
                    idle_since = time.monotonic()
                    break  # and look again: others may have done more by now
            except (AlacarteError, OSError, MemoryError) as problem:
                failed[state.task] = str(problem)
                idle_since = time.monotonic()
                break
        else:
            if not candidates:
                return done
            if not any(state.status == "running" for state in candidates) and not free:
                raise _failed(plan, candidates, failed)
            time.sleep(min(WAIT, lease / 5, max(0.05, WAIT_SHARE * (time.monotonic() - idle_since))))


def _failed(plan: Plan, states: list[TaskState], failed: dict[int, str]) -> BadRun:
    number = min((state.task for state in states if state.task in failed or state.error), default=states[0].task)
    reason = failed.get(number) or next(state.error for state in states if state.task == number)
    others = f" (and {len(states) - 1} more)" if len(states) > 1 else ""
    return BadRun(
        f"task {number}{others} failed: {reason}",
        hint=Hint(
            f"when that is mended, call work({str(plan.folder)!r}, {number})",
            f"when that is mended, run `alc work {plan.folder} --task {number}`",
        ),
    )


def _named(tasks: list[int]) -> str:
    shown = ", ".join(map(str, tasks[:5])) + (f" and {len(tasks) - 5} more" if len(tasks) > 5 else "")
    return f"task {shown} is" if len(tasks) == 1 else f"tasks {shown} are"


# ------------------------------------------------------------------------------------------------------- reduce


def reduce(run_folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """Add up what the tasks of a run made, and save the sums, which are those of one pass over all of the text.

    A few rows of all parts are in memory at a time. It is checked that every unit of text is there exactly once.
    """
    total(read_plan(run_folder)).save(out)


def total(plan: Plan, *, memory: bool = False) -> ContextSums:
    """The sums of all tasks; with `memory`, all of them made at once, else as they are saved."""
    lacking = [task for task in plan.summing_tasks if not part_path(plan, task).exists()]
    if lacking:
        folder = plan.folder
        raise BadRun(
            f"{folder}: {_named(lacking)} not done yet",
            hint=Hint(
                f"call work({str(folder)!r}), and status to see why",
                f"run `alc work {folder} --any`; `alc status {folder}` says more",
            ),
        )
    words = list(plan.word_vectors.words) if plan.targets is None else None
    sums = added_up(plan, words, _final_weights(plan))
    return in_memory(sums) if memory else sums


# ------------------------------------------------------------------------------------------------------- status


@dataclass(frozen=True)
class RunStatus:
    """How far a run has come. `seconds_left` is None while nothing is done, or nobody is at work."""

    folder: str
    tasks: tuple[TaskState, ...]
    seconds_left: float | None

    def count(self, status: str) -> int:
        """How many tasks are "done", "running", "lost" (their worker is gone), "failed" or "waiting"."""
        return sum(task.status == status for task in self.tasks)

    @property
    def complete(self) -> bool:
        return self.count("done") == len(self.tasks)


def status(run_folder: str | os.PathLike[str], *, lease: float = LEASE) -> RunStatus:
    """How far a run has come: whether each task is done, running, lost, failed or waiting, and the time left."""
    plan = read_plan(run_folder)
    states = survey(plan, lease, timed=True)
    timed = [state for state in states if state.status == "done" and state.seconds]
    running = sum(state.status == "running" for state in states)
    left = sum(state.size for state in states if state.status != "done")
    seconds = None
    if not left:
        seconds = 0.0
    elif timed and running:
        speed = sum(state.size for state in timed) / sum(state.seconds for state in timed)
        seconds = left / speed / running
    return RunStatus(str(plan.folder), tuple(states), seconds)
