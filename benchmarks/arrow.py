"""What it costs that another process decodes and checks Parquet and Arrow files.

    python benchmarks/arrow.py [--documents 100000]

Each file is read as text is, by `open_arrow` and by pyarrow in this process without checks; times are of the processor,
of both processes together, the best of five.
"""

import argparse
import resource
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import feather, ipc, parquet

from alacarte._io.arrow import _waiting_process, open_arrow

ROWS = 1024


def seconds() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


def best(read: Callable[[], Iterator[Any]]) -> float:
    """The seconds of the best of five; the other process has to end to be counted."""
    taken = []
    for _ in range(5):
        begun = seconds()
        for batch in read():
            batch.to_pydict()
        while process := _waiting_process():
            process.end()
        taken.append(seconds() - begun)
    return min(taken)


def apart(path: Path) -> Iterator[Any]:
    with open_arrow(path, "parquet" if path.suffix == ".parquet" else "arrow") as file:
        yield from file.batches(size=ROWS)


def here(path: Path) -> Iterator[Any]:
    if path.suffix == ".parquet":
        yield from parquet.ParquetFile(path).iter_batches(ROWS, use_threads=False)
        return
    yield from ipc.open_file(pyarrow.memory_map(str(path))).read_all().to_batches(ROWS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000, help="of 100 words each")
    documents = parser.parse_args().documents
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(5000)])
    table = pyarrow.table({"text": [" ".join(rng.choice(words, 100)) for _ in range(documents)]})
    with tempfile.TemporaryDirectory() as folder:
        tiny, plain, packed = (Path(folder) / name for name in ("tiny.arrow", "text.arrow", "text.parquet"))
        feather.write_feather(table.slice(0, 1), str(tiny), compression="uncompressed")
        feather.write_feather(table, str(plain), compression="uncompressed")
        parquet.write_table(table, packed)
        print("| file | MB of text | here, s | in a process of its own, s |\n|---|---:|---:|---:|")
        for path in (tiny, plain, packed):
            size = (table.slice(0, 1) if path == tiny else table).nbytes / 1e6
            print(f"| {path.name} | {size:.0f} | {best(partial(here, path)):.2f} | {best(partial(apart, path)):.2f} |")


if __name__ == "__main__":
    main()
