"""What does a command cost before and after the text? CPU seconds of small runs, each in a process of its own.

    python benchmarks/startup.py [--vectors glove.6B.50d] [--repeat 5] [--against PATH]
    python benchmarks/startup.py --profile

User and system time, the best of several runs, after one that fills the caches (bytecode, compiled kernels, vectors).
PATH is the root of another source tree, whose runs alternate with those of this one. `--profile` says instead what
`alc fit` spends its time with.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent
SENTENCE = "the quick brown fox jumps over the lazy dog"
ALC = "from alacarte.cli import main; main()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", default="glove.6B.50d", help="a file or a name (default: glove.6B.50d)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each case, the best counts (default: 5)")
    parser.add_argument("--megabytes", type=float, default=1.0, help="length of the text to fit on (default: 1)")
    parser.add_argument("--against", type=Path, help="the root of another source tree")
    parser.add_argument("--profile", action="store_true", help="what alc fit spends its time with")
    arguments = parser.parse_args()
    trees = [HERE] if arguments.against is None else [HERE, arguments.against.resolve()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder / "text.txt", arguments.vectors, int(arguments.megabytes * 1e6))
        if arguments.profile:
            profile(folder, arguments.vectors, arguments.repeat)
            return
        print(f"{'CPU seconds, best of ' + str(arguments.repeat):<28}", *(f"{tree.name:>12}" for tree in trees))
        # A model of each tree's own: what is saved differs from version to version.
        for tree in trees:
            seconds(tree, fit_command(folder, tree, arguments.vectors))
        for case in ("import alacarte", "alc --help", "alc nearest", "alc embed", "alc fit"):
            commands = {tree: command_of(case, folder, tree, arguments.vectors) for tree in trees}
            for tree in trees:
                seconds(tree, commands[tree])
            times = [[seconds(tree, commands[tree]) for tree in trees] for _ in range(arguments.repeat)]
            print(f"{case:<28}", *(f"{best:12.2f}" for best in np.min(times, axis=0)), flush=True)


def write_text(path: Path, vectors: str, size: int) -> None:
    """Lines of twenty words, as frequent as their rank says, all of which have vectors."""
    from alacarte import WordVectors

    words = WordVectors.load(vectors).words
    known = np.array([words[row] for row in range(min(50_000, len(words)))])
    chances = 1 / np.arange(1, len(known) + 1)
    drawn = np.random.default_rng(1).choice(known, size=size // 5, p=chances / chances.sum())
    lines = [" ".join(drawn[low : low + 20].tolist()) for low in range(0, len(drawn), 20)]
    path.write_bytes("\n".join(lines).encode()[:size].rsplit(b"\n", 1)[0] + b"\n")


def fit_command(folder: Path, tree: Path, vectors: str) -> list[str]:
    text, out = str(folder / "text.txt"), str(folder / f"model-{abs(hash(tree))}")
    return ["-c", ALC, "-q", "fit", "--vectors", vectors, "--corpus", text, "--out", out]


STAGES = """
import sys, time
marks = [("start of Python", 0.0, time.process_time())]

def mark(name, since=None):
    now = time.process_time()
    marks.append((name, marks[-1][2] if since is None else since, now))

def timed(owner, function, name):
    found = owner.__dict__[function]
    called = found.__func__ if isinstance(found, classmethod) else found
    def run(*given, **named):
        mark("between")
        try:
            return called(*given, **named)
        finally:
            mark(name)
    setattr(owner, function, classmethod(run) if isinstance(found, classmethod) else run)

import numpy; mark("numpy")
import alacarte.cli.fit, alacarte.model.model; from alacarte.cli import main; mark("this package, typer")
import pyarrow.parquet; mark("pyarrow")
import alacarte.contexts._windows_kernel, alacarte.text._compiled; mark("numba")
from alacarte.vectors.keyed_matrix import KeyedMatrix
from alacarte.contexts.integers import IntegerVectors
from alacarte.text.encoding import Lexicon
from alacarte.transform.transform import Transform
import alacarte.passes.collect as collect, alacarte.model.model as model, alacarte.cli.fit as fit
timed(fit, "open_vectors", "read and check the vectors")
timed(IntegerVectors, "of", "the largest value of each dimension")
timed(collect, "run", "read, encode and sum the text, with the kernels loaded")
timed(collect, "_context_sums", "hash the vectors")
timed(Transform, "learn", "learn the transform")
timed(model, "found_again", "find words again")
timed(fit, "_save", "write")
try:
    main()
finally:
    mark("between")
    for name, began, ended in marks:
        print(f"{name}\t{ended - began}")
"""


def profile(folder: Path, vectors: str, repeat: int) -> None:
    """Print the CPU seconds of each part of `alc fit`, the least of several runs."""
    found: dict[str, list[float]] = {}
    for number in range(repeat + 1):
        command = [sys.executable, "-c", STAGES, *fit_command(folder, HERE, vectors)[2:], "--overwrite"]
        environment = {**os.environ, "PYTHONPATH": str(HERE / "src")}
        lines = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
        parts: dict[str, float] = {}
        for name, spent in (line.split("\t") for line in lines if "\t" in line):
            parts[name] = parts.get(name, 0.0) + float(spent)
        if number:  # the first fills the caches
            for name, spent_there in parts.items():
                found.setdefault(name, []).append(spent_there)
    print("| `alc fit` | CPU seconds |\n|---|---:|")
    for name, times in found.items():
        print(f"| {'options, reports and what is left' if name == 'between' else name} | {min(times):.2f} |")


def command_of(case: str, folder: Path, tree: Path, vectors: str) -> list[str]:
    model = str(folder / f"model-{abs(hash(tree))}")
    commands = {
        "import alacarte": ["-c", "import alacarte"],
        "alc --help": ["-c", ALC, "--help"],
        "alc nearest": ["-c", ALC, "nearest", vectors, "--word", "fox"],
        "alc embed": ["-c", ALC, "embed", "--model", model, "--word", "fox", "--context", SENTENCE],
        "alc fit": fit_command(folder, tree, vectors),
    }
    return commands[case]


def seconds(tree: Path, command: list[str]) -> float:
    """User and system time of one run of Python, which has to succeed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tree / "src"), str(tree / "experiments" / "src")])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{tree}: {' '.join(command)} failed\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
