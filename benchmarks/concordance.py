"""A concordance: how fast it is built, how large it is, and how long a question takes.

    python benchmarks/concordance.py TEXT --vectors FILE [--model NAME|DIR] [--work FOLDER]

Building is compared with one pass over the same text that sums the contexts of every word, in the same run. Questions
are asked three times, and the best counts: the vector of a phrase with its interval and twenty lines.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alacarte import ALaCarte, Concordance, Corpus, WordVectors, collect


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--model", default="glove.6B.100d", help="a model for these vectors (default: glove.6B.100d)")
    parser.add_argument(
        "--phrases", nargs="+", default=["climate change", "supreme court", "united states", "was", "of"]
    )
    parser.add_argument("--column", action="append", default=[], help="columns to keep; slices by the first one")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.vectors)
    model = ALaCarte.pretrained(arguments.model, vectors=vectors)
    corpus = Corpus(arguments.text, columns=arguments.column)
    folder = arguments.work / "benchmark.concordance"

    def build() -> Concordance:
        shutil.rmtree(folder, ignore_errors=True)
        return Concordance.build(vectors, corpus, folder, show_progress=False)

    Concordance.build(vectors, ["warm up"], arguments.work / "warm.concordance", show_progress=False, overwrite=True)
    shutil.rmtree(arguments.work / "warm.concordance")
    passing, sums = best(lambda: collect(vectors, corpus, show_progress=False), 2)
    building, concordance = best(build, 2)
    tokens = sums.tokens_read
    text = sum(segment.artifact.tensors["text"].nbytes for segment in concordance._segments)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{tokens:,} tokens in {len(concordance):,} documents")
    print(f"one pass {tokens / passing / 1e6:.1f} Mtok/s; build {tokens / building / 1e6:.1f} Mtok/s", end="")
    print(f" = {passing / building:.0%} (wanted: 50 %)")
    print(f"{(size - text) / tokens:.1f} bytes a token without the text (wanted: 12), {size / tokens:.1f} with it")
    slices = [concordance]
    if arguments.column:
        level = next(iter(concordance.value_counts(arguments.column[0])))
        slices.append(concordance.where(f"{arguments.column[0]}={level}"))
    for part in slices:
        print(f"\n{part!r}\n\n| phrase | uses | vector, interval and 20 lines, ms |\n|---|---:|---:|")
        for phrase in arguments.phrases:
            seconds, _ = best(lambda phrase=phrase, part=part: ask(part, model, phrase), 3)
            print(f"| {phrase} | {part.count(phrase):,} | {1e3 * seconds:.0f} |")


def ask(concordance: Concordance, model: ALaCarte, phrase: str) -> Any:
    induced = concordance.induce(model, [phrase])
    return induced.uncertainty.confidence_of(phrase), concordance.lines(phrase)


def best(call: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The shortest time of several, and the last result."""
    shortest, result = float("inf"), None
    for _ in range(times):
        began = time.perf_counter()
        result = call()
        shortest = min(shortest, time.perf_counter() - began)
    return shortest, result


if __name__ == "__main__":
    main()
