"""How much faster is a pass over one plain file with more threads, and how much faster could it be on this machine?

    python benchmarks/scaling.py TEXT WORDS [--threads 1 2 4 8 16] [--megabytes 384]

TEXT is plain text, a document a line, repeated to `--megabytes`; WORDS has a word on each line, which get random
vectors. Each row is a number of threads: million tokens a second, the cores that were busy, and times one thread. In
the last rows as many processes as cores read a part of the text each, by one thread: they share no lock and no sums, so
this is what the machine can do. The first line is the first pass of a process that finds no compiled kernels. "Rows
alone" are no passes: threads read rows of vectors and add them to rows of sums, at words as frequent as in text, which
is what a pass asks of the memory; million words a second.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

CASES = {
    "every word, d = 100": (100, None),
    "every word, d = 300": (300, None),
    "every word of 1,500, d = 100": (100, None),  # their rows fit into the caches of the processor
    "3 targets": (100, 3),
}
ROWS = {"rows alone, sums of each thread": True, "rows alone, sums of all": False}
REPEAT = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("words", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--megabytes", type=int, default=384)
    parser.add_argument("--cases", nargs="+", choices=[*CASES, *ROWS], default=[*CASES, *ROWS])
    parser.add_argument("--block", type=float, default=1.0, help="megabytes of text that are worked on together")
    parser.add_argument("--part", help="for the processes that this one starts")
    given = parser.parse_args()
    if given.part is not None:
        print(json.dumps(run(given.text, given.words, **json.loads(given.part))))
        return
    with tempfile.TemporaryDirectory() as folder:
        data, text = given.text.read_bytes(), Path(folder) / "text.txt"
        with text.open("wb") as file:
            for _ in range(-(-given.megabytes * 1_000_000 // len(data))):
                file.write(data)
        kernels = {"NUMBA_CACHE_DIR": f"{folder}/kernels"}
        began = time.perf_counter()
        small = Path(folder) / "small.txt"
        small.write_bytes(data[:5_000_000])
        part(small, given.words, kernels, case="every word, d = 100", threads=2, repeat=1, block=1.0)
        print(f"first pass, with nothing compiled: {time.perf_counter() - began:.1f} s", flush=True)
        print("| | | Mtok/s | cores busy | × | peak memory |\n|---|---:|---:|---:|---:|---:|")
        for case in given.cases:
            base = 0.0
            for threads in given.threads:
                found = part(text, given.words, kernels, case=case, threads=threads, repeat=REPEAT, block=given.block)
                peak = f"{found['memory'] / 1e6:.2f} GB"
                speed = found["tokens"] / found["wall"] / 1e6
                base = base or speed
                busy = found["cpu"] / found["wall"]
                print(
                    f"| {case} | {threads} threads | {speed:.1f} | {busy:.1f} | {speed / base:.1f} | {peak} |",
                    flush=True,
                )
            if case in ROWS:
                continue
            number = max(given.threads)
            slices = [Path(folder) / f"part{place}.txt" for place in range(number)]
            for place, path in enumerate(slices):
                low, high = (len(data) * end // number for end in (place, place + 1))
                path.write_bytes(data[low:high] * max(1, given.megabytes * 1_000_000 // len(data)))
            options = {"case": case, "threads": 1, "repeat": REPEAT, "block": given.block, "at": time.time() + 20}
            started = [start(path, given.words, kernels, **options) for path in slices]
            results: list[dict[str, float]] = [json.loads(process.communicate()[0]) for process in started]
            speed = sum(found["tokens"] / found["wall"] for found in results) / 1e6
            print(f"| {case} | {number} processes | {speed:.1f} | | {speed / base:.1f} | |", flush=True)


def start(text: Path, words: Path, environment: dict[str, str], **options: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, __file__, str(text), str(words), "--part", json.dumps(options)]
    return subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)


def part(text: Path, words: Path, environment: dict[str, str], **options: Any) -> dict[str, float]:
    found: dict[str, float] = json.loads(start(text, words, environment, **options).communicate()[0])
    return found


def run(
    text: Path, words: Path, case: str, threads: int, repeat: int, block: float = 1.0, at: float = 0.0
) -> dict[str, float]:
    """Return the best of some passes; they begin at a time, so that several processes work side by side."""
    import numpy as np

    from alacarte import WordVectors, collect

    if case in ROWS:
        return add_rows(threads, repeat, own=ROWS[case])
    dimension, targets = CASES[case]
    listed = words.read_text(encoding="utf-8").split("\n")[: 1500 if "1,500" in case else 400_000]
    listed = list(dict.fromkeys(word for word in listed if word))
    vectors = WordVectors(listed, np.random.default_rng(0).standard_normal((len(listed), dimension), dtype=np.float32))
    wanted = None if targets is None else [word for word in listed[1000:] if word.isalpha()][:targets]
    if at or repeat > 1:
        collect(vectors, ["a b c d e f\n"] * 200_000, wanted, window=10, threads=threads, show_progress=False)
    time.sleep(max(0.0, at - time.time()))
    found = []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        size = round(block * (1 << 20))
        sums = collect(vectors, text, wanted, window=10, threads=threads, block_size=size, show_progress=False)
        spent = time.perf_counter() - wall, time.process_time() - cpu
        found.append({"tokens": sums.tokens_read, "wall": spent[0], "cpu": spent[1], "memory": peak_memory()})
    return min(found, key=lambda one: one["wall"])


def peak_memory() -> float:
    """Return the most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def add_rows(threads: int, repeat: int, own: bool, words: int = 400_000, each: int = 1_500_000) -> dict[str, float]:
    """Return the best time in which threads add `each` rows to sums, their `own` or those of all."""
    import numba
    import numpy as np

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def add(order: Any, rows: Any, sums: Any) -> None:
        for row in order:
            for column in range(rows.shape[1]):
                sums[row, column] += rows[row, column]

    chances = 1 / np.arange(1, words + 1)
    orders = [np.random.default_rng(i).choice(words, each, p=chances / chances.sum()) for i in range(threads)]
    rows = np.zeros((words, 112), np.int32)
    sums = [np.zeros((words, 112), np.int64) for _ in range(threads if own else 1)]
    add(orders[0][:1], rows, sums[0])
    found = []
    for _ in range(repeat):
        workers = [threading.Thread(target=add, args=(orders[i], rows, sums[i % len(sums)])) for i in range(threads)]
        wall, cpu = time.perf_counter(), time.process_time()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        spent = time.perf_counter() - wall, time.process_time() - cpu
        found.append({"tokens": threads * each, "wall": spent[0], "cpu": spent[1], "memory": peak_memory()})
    return min(found, key=lambda one: one["wall"])


if __name__ == "__main__":
    main()
