"""A pass shared out among processes, by shards and by Dask: bits, overhead, killed workers.

    python benchmarks/distributed.py bits CORPUS VECTORS         one digest by every way, with 1, 2, 3 and 5 workers
    python benchmarks/distributed.py speed CORPUS VECTORS        two workers beside two threads of one process
    python benchmarks/distributed.py faults --kills 50 --seed 1  Dask's workers killed with -9 at random moments

Everything is written under --work FOLDER, which is deleted afterwards.
"""

import argparse
import hashlib
import os
import random
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

# This file has the name of a package that it needs, so its folder must not be where packages are looked for.
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]

from alacarte import ContextSums, Corpus, WordVectors, collect  # noqa: E402
from alacarte.contexts.merging import merge  # noqa: E402

WORKERS = (1, 2, 3, 5)
SHARD = """
import sys
from alacarte import WordVectors, collect
corpus, vectors, out, number, of = sys.argv[1:]
shard = (int(number), int(of))
collect(WordVectors.load(vectors), corpus, threads=1, shard=shard, show_progress=False).save(out)
"""


def by_shards(corpus: Path, vectors: Path, work: Path, shards: int) -> ContextSums:
    """As many processes, each of which reads a shard with one thread."""
    outs = [work / f"{number}.sums" for number in range(1, shards + 1)]
    arguments = [map(str, (corpus, vectors, out, number, shards)) for number, out in enumerate(outs, 1)]
    processes = [subprocess.Popen([sys.executable, "-c", SHARD, *given]) for given in arguments]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise SystemExit("a shard failed")
    return merge(map(ContextSums.load, outs))


def local_cluster(workers: int) -> Any:
    """Processes of this machine with one thread each, which come back when they are killed."""
    import dask
    from distributed import LocalCluster

    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour", "logging.distributed": "critical"})
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0", silence_logs=50
    )


def bits(corpus: Path, vectors: Path, work: Path) -> None:
    """One digest of the saved sums by every way."""
    from distributed import Client

    def digest_of(sums: ContextSums) -> str:
        sums.save(work / "sums")
        with (work / "sums").open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]

    loaded = WordVectors.load(vectors)
    digests = {"one pass": digest_of(collect(loaded, corpus, show_progress=False))}
    for workers in WORKERS:
        digests[f"{workers} shards"] = digest_of(by_shards(corpus, vectors, work, workers))
        with local_cluster(workers) as cluster, Client(cluster) as client:
            digests[f"Dask, {workers} workers"] = digest_of(collect(loaded, corpus, client=client, show_progress=False))
    for name, digest in digests.items():
        print(f"{name:20} {digest}")
    print("one digest" if len(set(digests.values())) == 1 else "DIFFERENT DIGESTS")


def speed(corpus: Path, vectors: Path, work: Path, rounds: int) -> None:
    """Two threads of one process, one process for each of two shards, and Dask's workers, which are there before."""
    from distributed import Client

    loaded, text = WordVectors.load(vectors), Corpus(corpus)

    def best(function: Callable[[], object]) -> float:
        times = []
        for _ in range(rounds + 1):  # the first one compiles, and fills caches
            started = time.perf_counter()
            function()
            times.append(time.perf_counter() - started)
        return min(times[1:])

    base = best(lambda: collect(loaded, text, threads=2, show_progress=False))
    seconds = {"two shards, from the start of Python": best(lambda: by_shards(corpus, vectors, work, 2))}
    with local_cluster(2) as cluster, Client(cluster) as client:
        seconds["Dask, two workers"] = best(lambda: collect(loaded, text, client=client, show_progress=False))
    print(f"{(text.size or 0) / 1e6:,.0f} MB of text; best of {rounds}, load {os.getloadavg()[0]:.1f}")
    print(f"{'two threads':40} {base:6.1f} s")
    for name, taken in seconds.items():
        print(f"{name:40} {taken:6.1f} s {base / taken:6.0%}")


def faults(work: Path, kills: int, seed: int) -> None:
    """Workers killed with -9 at random moments, until so many were; the bits are those of one pass all the same."""
    from distributed import Client

    rng, words = random.Random(seed), [f"w{place}" for place in range(200)]
    vectors = WordVectors(words, np.random.default_rng(seed).normal(size=(200, 20)).astype(np.float32))
    text = work / "text.txt"
    text.write_text("\n".join(" ".join(rng.choices(words, k=50)) for _ in range(40_000)))
    expected = collect(vectors, text, block_size=1 << 14, show_progress=False)
    killed = runs = wrong = 0
    with local_cluster(2) as cluster, Client(cluster) as client:
        while killed < kills:
            outcome: list[ContextSums] = []

            def call(outcome: list[ContextSums] = outcome) -> None:
                outcome.append(collect(vectors, text, block_size=1 << 14, client=client, show_progress=False))

            thread = threading.Thread(target=call)
            thread.start()
            while thread.is_alive():
                time.sleep(2 * rng.random())
                process = cluster.workers[rng.randrange(2)].pid
                # One at a time: if all are lost together, the vectors are, too, and all is begun again.
                if process is not None and thread.is_alive() and len(client.nthreads()) == 2:
                    os.kill(process, signal.SIGKILL)
                    killed += 1
            runs += 1
            wrong += not outcome or outcome[0] != expected
    print(f"{killed} workers killed in {runs} runs, {wrong} with other bits or an error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["bits", "speed", "faults"])
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("vectors", nargs="?")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        work = Path(folder)
        if given.what == "faults":
            faults(work, given.kills, given.seed)
            return
        if given.corpus is None or given.vectors is None:
            parser.error("name a CORPUS and VECTORS")
        saved = work / "vectors.safetensors"
        WordVectors.load(given.vectors).save(saved)
        if given.what == "bits":
            bits(given.corpus, saved, work)
        else:
            speed(given.corpus, saved, work, given.rounds)


if __name__ == "__main__":
    main()
