"""What does a command cost before and after the text? CPU seconds of small runs, each in a process of its own.

    python benchmarks/startup.py [--vectors glove.6B.50d] [--repeat 5] [--against PATH]

User and system time, the best of several runs, after one that fills the caches (bytecode, compiled kernels, vectors).
PATH is the root of another source tree, whose runs alternate with those of this one.
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
    arguments = parser.parse_args()
    trees = [HERE] if arguments.against is None else [HERE, arguments.against.resolve()]
    print(f"{'CPU seconds, best of ' + str(arguments.repeat):<28}", *(f"{tree.name:>12}" for tree in trees))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder / "text.txt", arguments.vectors, int(arguments.megabytes * 1e6))
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
