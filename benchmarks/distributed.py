"""A pass shared out among processes: bits, overhead, memory of the reduce, killed workers; a large cluster on paper.

    python benchmarks/distributed.py bits CORPUS VECTORS         one digest by every way, with 1, 2, 3 and 5 workers
    python benchmarks/distributed.py speed CORPUS VECTORS        two workers beside two threads of one process
    python benchmarks/distributed.py reduce                      64 parts of 1M × 100: time and memory
    python benchmarks/distributed.py faults --kills 50 --seed 1  workers killed with -9, stopped, without room on disk
    python benchmarks/distributed.py constants CORPUS VECTORS    what "On paper" in docs/cluster.md uses
    python benchmarks/distributed.py simulate --workers 100      a cluster from these constants, with 1 % losses
    python benchmarks/distributed.py all CORPUS VECTORS          all of it, one after the other

Everything is written under --work FOLDER, which is deleted afterwards.
"""

import argparse
import errno
import hashlib
import heapq
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import ContextSums, Corpus, Targets, WordVectors, collect
from alacarte.contexts.scale import Scale
from alacarte.contexts.sums import Sums
from alacarte.contexts.weights import UNIFORM
from alacarte.passes import dask as on_dask
from alacarte.passes import plan as planning
from alacarte.passes._parts import write_sums
from alacarte.text.units import unit_of

WORKERS = (1, 2, 3, 5)
# This file has the name of a package that it needs, so its folder must not be where packages are looked for.
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def alc(*arguments: object) -> subprocess.Popen[str]:
    """Start a command."""
    command = [sys.executable, "-m", "alacarte", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finished(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        _, said = process.communicate()
        if process.returncode:
            raise SystemExit(said)


def cluster(workers: int) -> Any:
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return on_dask.local_cluster(workers)


# --------------------------------------------------------------------------------------------------------- bits


def bits(corpus: Path, vectors: WordVectors, work: Path) -> None:
    """One digest of the saved sums by every way."""
    from distributed import Client

    out = work / "sums"
    collect(vectors, corpus, show_progress=False).save(out)
    digests = {"one pass": digest_of(out)}
    for workers in WORKERS:
        run = work / f"run-{workers}"
        planning.plan(vectors, corpus, out=run, tasks=2 * workers + 1)
        finished(*[alc("work", run, "--any", "--threads", 1) for _ in range(workers)])
        planning.reduce(run, out)
        digests[f"plan, work, reduce: {workers} workers"] = digest_of(out)
        shutil.rmtree(run)
        with cluster(workers) as local, Client(local) as client:
            planning.plan(vectors, corpus, out=run, tasks=2 * workers + 1)
            collect(vectors, corpus, client=client, run=run, show_progress=False).save(out)
        digests[f"Dask: {workers} workers"] = digest_of(out)
        shutil.rmtree(run)
    for name, digest in digests.items():
        print(f"{name:40} {digest}")
    print("one digest" if len(set(digests.values())) == 1 else "DIFFERENT DIGESTS")


# -------------------------------------------------------------------------------------------------------- speed


def wall() -> float:
    return time.perf_counter()


def processor() -> float:
    """Seconds of processor time of this process and of those that it has waited for."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(function: Callable[[], object], clock: Callable[[], float] = wall) -> float:
    started = clock()
    function()
    return clock() - started


def slice_of(text: Corpus, path: Path) -> Path:
    """A file with the first megabyte of a text."""
    path.write_bytes(next(text.blocks(1 << 20)).text or b"")
    return path


ONE_PROCESS = """
import sys
from alacarte import WordVectors, collect
corpus, vectors, out = sys.argv[1:]
collect(WordVectors.load(vectors), corpus, threads=2, show_progress=False).save(out)
"""


def speed(corpus: Path, vectors: WordVectors, work: Path, rounds: int) -> None:
    """Two threads of one process; two processes of one thread each, by plan/work/reduce and by Dask.

    With --times, the text is read several times, as so many files: what workers take to start and to write what they
    made is the same for any length of the text. Dask's workers are there before the clock starts, as is the process
    that they are compared with; those of `alc work` are not, so they are compared with a process from its start.
    Where others use the machine, go by the processor time of all processes.
    """
    from distributed import Client

    text = Corpus(corpus)
    times: dict[str, list[tuple[float, float]]] = {}
    out, run, short = work / "sums", work / "run", work / "short"

    def measure(name: str, function: Callable[[], object], clock: Callable[[], float] = processor) -> None:
        before = wall(), clock()
        function()
        times.setdefault(name, []).append((wall() - before[0], clock() - before[1]))

    def one() -> None:
        collect(vectors, text, threads=2, show_progress=False).save(out)

    def from_start() -> None:
        saved = work / "vectors.safetensors"
        if not saved.exists():
            vectors.save(saved)
        subprocess.run([sys.executable, "-c", ONE_PROCESS, str(corpus), str(saved), str(out)], check=True)

    def share() -> None:
        finished(*[alc("work", run, "--any", "--threads", 1) for _ in range(2)])

    for _ in range(rounds):
        planning.plan(vectors, slice_of(text, work / "slice.txt"), out=short, tasks=1)
        measure("two threads, from the start of the process", from_start)
        measure("plan", lambda: planning.plan(vectors, text, out=run, tasks=2))
        measure("work", share)
        measure("a worker that reads 1 MB", lambda: finished(alc("work", short, "--any", "--threads", 1)))
        measure("reduce", lambda: planning.reduce(run, out))
        shutil.rmtree(run)
        shutil.rmtree(short)
    with cluster(2) as local, Client(local) as client:

        def dask() -> None:
            collect(vectors, text, client=client, show_progress=False).save(out)

        def of_all() -> float:
            return processor() + sum(client.run(time.process_time).values())

        collect(vectors, slice_of(text, work / "slice.txt"), client=client, show_progress=False)  # code is compiled
        for _ in range(rounds):
            measure("two threads", one)
            measure("Dask", dask, of_all)
    parts = [times[name] for name in ("plan", "work", "reduce")]
    times["plan, work, reduce"] = [tuple(map(sum, zip(*steps, strict=True))) for steps in zip(*parts, strict=True)]
    print(f"{(text.size or 0) / 1e6:,.0f} MB of text; best of {rounds} by each clock, load {os.getloadavg()[0]:.1f}")
    best = {name: [min(clock) for clock in zip(*measured, strict=True)] for name, measured in times.items()}
    compared = {"plan, work, reduce": best["two threads, from the start of the process"], "Dask": best["two threads"]}
    for name, (seconds, processor_seconds) in best.items():
        base = compared.get(name)
        shares = f"  {base[0] / seconds:5.0%} {base[1] / processor_seconds:5.0%}" if base else ""
        print(f"{name:44} {seconds:6.1f} s, processor {processor_seconds:6.1f} s{shares}")


# ------------------------------------------------------------------------------------------------------- reduce


def make_parts(work: Path, parts: int, targets: int, dimension: int, met: float) -> Path:
    """A run whose parts are made up: each task met some of the targets, the first ones more often."""
    (work / "text.txt").write_text("".join(f"line {number}\n" for number in range(64 * parts)))
    words = [f"w{number}" for number in range(1000)]
    vectors = WordVectors(words, np.random.default_rng(0).normal(size=(1000, dimension)).astype(np.float32))
    keys = Targets.ngrams([f"w{number // 1000} w{number % 1000} {number}" for number in range(targets)])
    size = (work / "text.txt").stat().st_size // parts
    run = work / "run"
    made = planning.plan(vectors, work / "text.txt", keys, out=run, tasks=parts, block_size=max(1, size // 8))
    scale = Scale.of(vectors.column_max, 1.0, made.reading)
    sums = np.random.default_rng(0).integers(-(2**40), 2**40, size=(targets, dimension), dtype=np.int64)
    for task in range(1, made.tasks + 1):
        rng = np.random.default_rng(task)
        occurrences = (rng.random(targets) < met).astype(np.int64)
        counts = dict.fromkeys(("totals", "tokens", "occurrences", "contexts"), occurrences)
        units = frozenset(unit_of(block) for block in made.text(task).blocks(made.block_size))
        result = ContextSums(
            list(keys), Sums(sums, **counts), scale, made.reading, made.fingerprint, keys, UNIFORM, 1, 1, 1, None, units
        )
        write_sums(made, task, result)
    return run


REDUCE = """
import json, sys, time
from alacarte.passes.memory import peak_memory
from alacarte.passes.plan import reduce
started = time.perf_counter()
reduce(sys.argv[1], sys.argv[2])
print(json.dumps([time.perf_counter() - started, time.process_time(), peak_memory()]))
"""


def reduce(work: Path, parts: int, targets: int, dimension: int, met: float) -> None:
    """Add up parts in a process of its own, which says how much memory it took."""
    run = make_parts(work, parts, targets, dimension, met)
    size = sum(path.stat().st_size for path in (run / "parts").iterdir())
    said = subprocess.run(
        [sys.executable, "-c", REDUCE, str(run), str(work / "sums")], capture_output=True, text=True, check=False
    )
    print(f"{parts} parts of {targets:,} × {dimension}, {met:.0%} of the targets met in each: {size / 1e9:.1f} GB")
    if said.returncode:
        raise SystemExit(said.stderr)
    seconds, processor_seconds, peak = json.loads(said.stdout)
    print(f"{seconds:.1f} s, {processor_seconds:.1f} s of processor time, {peak / 1e9:.2f} GB of memory at most")
    note(part_bytes_added_a_second=size / processor_seconds)
    shutil.rmtree(run)


# ------------------------------------------------------------------------------------------------------- faults


def faults(work: Path, number: int, seed: int) -> None:
    """Workers killed with -9 at random moments, until so many were; the bits are those of one pass all the same.

    Half of them are processes of `alc work`, half workers that Dask has started on this machine and starts again. Some
    of the latter are stopped instead of killed, some find no room on the disk, and two clients share each run.
    """
    rng = random.Random(seed)
    words = [f"w{place}" for place in range(200)]
    vectors = WordVectors(words, np.random.default_rng(seed).normal(size=(200, 20)).astype(np.float32))
    draw = np.random.default_rng(seed)
    corpus = work / "text.txt"
    corpus.write_text("".join(" ".join(draw.choice(words, 30)) + "\n" for _ in range(20_000)))
    options: dict[str, Any] = {"context_weights": "sif", "block_size": 1 << 14}
    collect(vectors, corpus, show_progress=False, **options).save(work / "one")
    expected = digest_of(work / "one")
    killed = wrong = runs = 0
    while killed < number // 2:
        run = work / "run"
        planning.plan(vectors, corpus, out=run, tasks=8, **options)
        workers = [_worker(run) for _ in range(2)]
        while not planning.status(run).complete:
            time.sleep(rng.random() * 2.5)
            place = rng.randrange(2)
            if workers[place].poll() is None:
                workers[place].send_signal(signal.SIGKILL)
                killed += 1
            workers[place].wait()
            workers[place] = _worker(run)
            if killed >= number // 2 and rng.random() < 0.5:
                break
        for worker in workers:
            worker.wait()
        planning.reduce(run, work / "sums")
        wrong += digest_of(work / "sums") != expected
        runs += 1
        shutil.rmtree(run)
    print(f"plan, work, reduce: {killed} workers killed in {runs} runs, {wrong} with other bits", flush=True)
    _dask_faults(work, number - number // 2, rng, vectors, corpus, options, expected)


def _dask_faults(
    work: Path,
    number: int,
    rng: random.Random,
    vectors: WordVectors,
    corpus: Path,
    options: dict[str, Any],
    expected: str,
) -> None:
    from distributed import Client

    counts = dict.fromkeys(("killed", "stopped", "without room", "runs", "wrong", "errors", "taken up"), 0)
    on_dask.LEASE = 3.0
    with cluster(2) as local, Client(local) as one, Client(local) as two:
        while counts["killed"] < number:
            run = work / "run"
            planning.plan(vectors, corpus, out=run, tasks=24, **options)
            while True:  # as long as it ends with an error: the same call goes on
                results: list[Any] = []
                threads = [
                    threading.Thread(target=_collect_into, args=(results, vectors, corpus, client, run, options))
                    for client in (one, two)
                ]
                for thread in threads:
                    thread.start()
                while any(thread.is_alive() for thread in threads):
                    time.sleep(rng.random() * 2.0)
                    if counts["killed"] < number:
                        _disturb(local, one, rng, counts)
                problems = [result for result in results if not isinstance(result, ContextSums)]
                if not problems:
                    break
                counts["errors"] += len(problems)
                counts["taken up"] += 1
                print(f"  {problems[0]}", flush=True)
                if counts["taken up"] > number:
                    raise SystemExit("it does not come to its end")
            for result in results:
                result.save(work / "sums")
                counts["wrong"] += digest_of(work / "sums") != expected
            counts["runs"] += 1
            shutil.rmtree(run)
    said = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"Dask, two clients of two workers that it starts again: {said}")


def _disturb(local: Any, client: Any, rng: random.Random, counts: dict[str, int]) -> None:
    """Kill a worker with -9; now and then stop one for four seconds, or let it find no room on the disk for two."""
    process = local.workers[rng.randrange(2)].pid
    if process is None:  # it is being started again
        return
    kind = rng.choices(["killed", "stopped", "without room"], [8, 1, 1])[0]
    if kind == "killed":
        os.kill(process, signal.SIGKILL)
    elif kind == "stopped":
        os.kill(process, signal.SIGSTOP)
        time.sleep(4)
        os.kill(process, signal.SIGCONT)
    elif client.nthreads():
        client.run(_no_room, 2.0, workers=[next(iter(client.nthreads()))], on_error="ignore")
    counts[kind] += 1


def _no_room(seconds: float) -> None:
    """Let this process find no room on the disk for a while."""
    fsync, until = os.fsync, time.monotonic() + seconds

    def full(descriptor: int) -> None:
        if time.monotonic() < until:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    os.fsync = full  # type: ignore[assignment]


def _worker(run: Path) -> subprocess.Popen[str]:
    return alc("work", run, "--any", "--threads", 1, "--lease", 3, "--checkpoint-every", 0)


def _collect_into(
    results: list[Any], vectors: WordVectors, corpus: Path, client: Any, run: Path, options: dict[str, Any]
) -> None:
    """The sums, or why there are none."""
    try:
        results.append(collect(vectors, corpus, client=client, run=run, show_progress=False, **options))
    except Exception as error:
        results.append(error)


# ------------------------------------------------------------------------------------- constants, and what follows

CONSTANTS = Path(__file__).resolve().with_name("distributed_constants.json")  # the last ones that were measured


def constants(corpus: Path, vectors: WordVectors, work: Path) -> None:
    """Seconds to start, bytes of text a second and core, bytes of parts written a second: processor time."""
    text, run = Corpus(corpus), work / "run"
    size = text.size or 1
    collect(vectors, ["a few words, so that all is compiled"] * 10, show_progress=False)
    reading = timed(lambda: collect(vectors, text, threads=1, show_progress=False), processor)
    made = planning.plan(vectors, text, out=run, tasks=1)
    sums = collect(vectors, text, threads=2, show_progress=False)
    (run / "parts").mkdir(exist_ok=True)
    writing = timed(lambda: write_sums(made, 1, sums), processor)
    part = (run / "parts" / "00001.safetensors").stat().st_size
    start = timed(
        lambda: finished(alc("work", run, "--task", 1)), processor
    )  # which is done: all that is left is the start
    measured = {
        "text_bytes": size,
        "tokens": sums.tokens_read,
        "bytes_a_token": size / sums.tokens_read,
        "text_bytes_a_second_and_core": size / reading,
        "met_targets": int(np.count_nonzero(sums.occurrences)),
        "part_bytes": part,
        "part_bytes_written_a_second": part / writing,
        "start_seconds": start,
        "dimension": vectors.dimension,
    }
    print(json.dumps(measured, indent=2))
    note(**measured)


def note(**measured: float) -> None:
    """Keep what was measured, for `simulate`."""
    before = json.loads(CONSTANTS.read_text()) if CONSTANTS.exists() else {}
    CONSTANTS.write_text(json.dumps({**before, **measured}, indent=2) + "\n")


def simulate(
    workers: int, losses: float, tokens: float, task_size: float, targets: int, dimension: int, ns: float
) -> None:
    """A run of many workers of one core, from measured constants; each attempt at a task may be lost on the way.

    `ns` is the processor time a token (docs/performance.md); every task meets every target; disks keep up with workers.
    """
    measured = json.loads(CONSTANTS.read_text())
    text = tokens * measured["bytes_a_token"]
    speed = measured["bytes_a_token"] / ns * 1e9
    part = 8 * targets * (dimension + 5)
    tasks = int(-(-text // task_size))
    checkpoint, lease, restart = 300.0, 300.0, 60.0
    takes = measured["start_seconds"] + task_size / speed + part / measured["part_bytes_written_a_second"]
    rng = random.Random(0)
    free = [(0.0, worker) for worker in range(workers)]  # when each worker is free
    heapq.heapify(free)
    waiting: list[tuple[float, float]] = [(0.0, takes) for _ in range(tasks)]  # from when on, and how long it takes
    heapq.heapify(waiting)
    ended = lost = 0.0
    while waiting:
        now, worker = heapq.heappop(free)
        ready, length = heapq.heappop(waiting)
        begin = max(now, ready)
        if rng.random() < losses:
            after = rng.random() * length
            kept = after // checkpoint * checkpoint
            lost += after - kept
            heapq.heappush(waiting, (begin + after + lease, length - kept))
            heapq.heappush(free, (begin + after + restart, worker))
        else:
            ended = max(ended, begin + length)
            heapq.heappush(free, (begin + length, worker))
    ideal = tasks * takes / workers
    adding = tasks * part / measured["part_bytes_added_a_second"]
    print(f"{text / 1e12:.1f} TB of text, {tokens * ns / 3.6e12:,.0f} core-hours, {targets:,} targets × {dimension}")
    print(f"{workers} workers, {tasks} tasks of {task_size / 1e9:.0f} GB and {takes / 60:.1f} min, {losses:.0%} lost")
    print(f"all done after {ended / 3600:.2f} h; without losses and with no waiting at the end {ideal / 3600:.2f} h")
    print(
        f"work done twice: {lost / 3600:.2f} h; parts: {tasks * part / 1e12:.2f} TB, added up in {adding / 3600:.1f} h"
    )


# ---------------------------------------------------------------------------------------------------------- main


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["bits", "speed", "reduce", "faults", "constants", "simulate", "all"])
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("vectors", nargs="?")
    parser.add_argument("--work", type=Path, help="folder for temporary files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--times", type=int, default=1, help="how often the text is read, for `speed`")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", type=int, default=64)
    parser.add_argument("--targets", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=100)
    parser.add_argument("--met", type=float, default=0.25, help="share of the targets that each part met")
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--losses", type=float, default=0.01)
    parser.add_argument("--tokens", type=float, default=1e12, help="of text, for `simulate`")
    parser.add_argument("--ns", type=float, default=175.0, help="nanoseconds a token, for `simulate`")
    parser.add_argument("--task-size", type=float, default=4e9)
    asked = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # workers start as a user's do
    if asked.what in ("bits", "speed", "constants", "all"):
        if asked.vectors is None:
            parser.error("name a corpus and vectors")
        corpus, vectors = asked.corpus.absolute(), WordVectors.load(asked.vectors)
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        work = Path(folder)
        os.chdir(work)
        if asked.times > 1:
            corpus = _repeated(corpus, work / "text", asked.times)
        if asked.what in ("bits", "all"):
            bits(corpus, vectors, work)
        if asked.what in ("speed", "all"):
            speed(corpus, vectors, work, asked.rounds)
        if asked.what in ("reduce", "all"):
            reduce(work, asked.parts, asked.targets, asked.dimension, asked.met)
        if asked.what in ("faults", "all"):
            faults(work, asked.kills, asked.seed)
        if asked.what in ("constants", "all"):
            constants(corpus, vectors, work)
        if asked.what in ("simulate", "all"):
            size, shape = asked.task_size, (asked.targets, asked.dimension)
            simulate(asked.workers, asked.losses, asked.tokens, size, *shape, asked.ns)


def _repeated(corpus: Path, folder: Path, times: int) -> Path:
    """A folder with so many names for the same text."""
    folder.mkdir()
    for number in range(times):
        (folder / f"{number}.txt").symlink_to(corpus)
    return folder


if __name__ == "__main__":
    main()
