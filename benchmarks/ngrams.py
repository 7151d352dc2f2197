"""Millions of bigrams and trigrams, from text to a file of vectors: time, peak memory, size on disk.

    python benchmarks/ngrams.py --vectors glove.6B.100d.npy --model glove.6B.100d \
        --corpus enwiki.txt.xz --corpus imdb_unsup.jsonl --bigrams 2e6 --trigrams 5e6 --memory 8GB --interrupt 60

`--interrupt` ends the pass after so many seconds and takes it up again from its checkpoint; the result is the same.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peak import peak_memory

from alacarte import ALaCarte, Corpus, Targets, WordVectors
from alacarte._io.progress import ProgressState
from alacarte.passes.work import WorkOptions


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--vectors", default="glove.6B.50d")
    options.add_argument("--model", default="glove.6B.50d")
    options.add_argument("--corpus", action="append", required=True)
    options.add_argument("--bigrams", type=float, default=1e6, help="how many, the most frequent ones")
    options.add_argument("--trigrams", type=float, default=1e6)
    options.add_argument("--memory", default=None, help="a limit such as 8GB")
    options.add_argument("--min-count", type=int, default=3)
    options.add_argument("--interrupt", type=float, default=None, metavar="SECONDS")
    options.add_argument("--out", type=Path, default=None, help="keep the vectors here")
    given = options.parse_args()
    steps: dict[str, Any] = {}

    def timed(name: str, function: Callable[[], Any]) -> Any:
        begun, worked = time.perf_counter(), time.process_time()
        result = function()
        steps[name] = {
            "seconds": round(time.perf_counter() - begun, 1),
            "cpu_seconds": round(time.process_time() - worked, 1),  # what counts on a machine that others use
            "peak_gb": round(peak_memory() / 1e9, 2),
        }
        print(f"{name}: {steps[name]}", flush=True)
        return result

    vectors = WordVectors.load(given.vectors)
    model = ALaCarte.pretrained(given.model, vectors=vectors)
    corpus = Corpus([Path(path) for path in given.corpus])
    found = timed(
        "find the n-grams",
        lambda: model.discover(corpus, ngrams=(2, 3), min_count=given.min_count, min_score=None),
    )
    keys = list(found)
    frequent_first = [keys[place] for place in np.argsort(-found.counts, kind="stable")]
    pairs = [key for key in frequent_first if key.count(" ") == 1][: int(given.bigrams)]
    triples = [key for key in frequent_first if key.count(" ") == 2][: int(given.trigrams)]
    del found, keys, frequent_first
    targets = Targets.ngrams(pairs + triples)
    print(f"{len(pairs):,} bigrams and {len(triples):,} trigrams", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        work: WorkOptions = {"memory": given.memory, "checkpoint": checkpoint, "checkpoint_seconds": 120}
        if given.interrupt is not None:
            timed("until the interruption", lambda: _interrupted(model, targets, corpus, work, given.interrupt))
        sums = timed("sum their contexts", lambda: model.collect(corpus, targets, **work))
        induced = timed("transform", lambda: model.apply(sums))
        out = given.out or Path(folder) / "ngrams.safetensors"
        timed("save", lambda: induced.save(out))
        loaded = timed("load (memory-mapped)", lambda: WordVectors.load(out))
        summary = {
            "targets": len(targets),
            "induced": len(loaded),
            "dimension": loaded.dimension,
            "tokens": sums.tokens_read,
            "file_gb": round(out.stat().st_size / 1e9, 2),
            "checkpoint_gb": round(sum(kept.stat().st_size for kept in Path(folder).glob("*checkpoint*")) / 1e9, 2),
            "steps": steps,
        }
        print(json.dumps(summary, indent=2))


def _interrupted(model: ALaCarte, targets: Targets, corpus: Corpus, work: WorkOptions, seconds: float) -> None:
    begun = time.perf_counter()

    def stop(state: ProgressState) -> None:
        if time.perf_counter() - begun > seconds:
            raise KeyboardInterrupt

    try:
        model.collect(corpus, targets, callback=stop, **work)
    except KeyboardInterrupt:
        print("interrupted; the work so far is kept", flush=True)


if __name__ == "__main__":
    main()
