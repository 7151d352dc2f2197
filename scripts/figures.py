"""Draw every figure of the documentation again: `python scripts/figures.py [NAME …]`.

Each figure has its command here. Those that need data of the developers (`../shared`) are drawn if these are there, and
are named otherwise; `--list` names all.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
FIGURES = REPOSITORY / "docs" / "figures"
DATA = REPOSITORY.parent / "shared" / "data"
ALC = [sys.executable, "-m", "alacarte"]

SPEECHES = DATA / "regression" / "sotu.jsonl.xz"
SOTU = [sys.executable, "experiments/studies/sotu.py", str(SPEECHES), "--figures", str(FIGURES)]
GLOVE = os.environ.get("GLOVE_100D", "glove.6B.100d.npy")  # where GloVe 6B in 100 dimensions is
EVAL = ["--vectors", GLOVE, "--corpus", str(DATA / "wiki" / "enwiki.txt.xz")]

SCREENSHOTS = [sys.executable, "scripts/screenshots.py"]

# Figure → (the command, what it needs of the developers' data). One command may draw several figures.
# `alc eval` writes its figure into the folder that `--out` names, with its tables; copy it from there.
COMMANDS: dict[str, tuple[list[str], str | None]] = {
    "demo.png": ([*ALC, "demo", "--plot", str(FIGURES / "demo.png"), "--overwrite"], None),
    "regression-over.png": (SOTU, "regression/sotu.jsonl.xz"),
    "regression-ratio.png": (SOTU, "regression/sotu.jsonl.xz"),
    "regression-map.png": (SOTU, "regression/sotu.jsonl.xz"),
    "regression-terms.png": (SOTU, "regression/sotu.jsonl.xz"),
    "figure1-100d.svg": ([*ALC, "eval", "figure1", *EVAL, "--out", "out/figure1-100d"], "wiki/enwiki.txt.xz"),
    **{f"serve-{view}.png": (SCREENSHOTS, None) for view in ("start", "invent", "word", "compare", "map")},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="files of docs/figures; all if none is named")
    parser.add_argument("--list", action="store_true", help="print the commands and draw nothing")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(COMMANDS)
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    status, done = 0, []
    for name in arguments.names or COMMANDS:
        command, data = COMMANDS[name]
        if arguments.list:
            print(f"{name}: {' '.join(command)}")
        elif data is not None and not (DATA / data).exists():
            print(f"{name}: not drawn, for want of {DATA / data}")
        elif command not in done:
            print(f"{name}: {' '.join(command)}", flush=True)
            status |= subprocess.run(command, cwd=REPOSITORY, check=False).returncode
            done.append(command)
    return status


if __name__ == "__main__":
    sys.exit(main())
