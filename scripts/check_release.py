"""Is this a release? Versions that agree, and a wheel that works where nothing else is installed.

    python scripts/check_release.py v0.3.0         # the tag, the package, the changelog, CITATION.cff and the recipe
    python scripts/check_release.py --wheel dist/  # the wheel in a bare environment of each Python that is here

Promised of the wheel: less than 1 MB, few run-time dependencies (`DEPENDENCIES`), Python 3.11 and newer.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
MEGABYTE = 1_000_000
DEPENDENCIES = 5
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NUMBERS = {
    "src/alacarte/_version.py": r'__version__ = "([^"]+)"',
    "CHANGELOG.md": r"^## \[?(\d[^\]\s]*)",
    "CITATION.cff": r"^version: (\S+)",
    "packaging/conda/recipe.yaml": r'^  version: "([^"]+)"',
}
TRIAL = """
import numpy as np
from alacarte import ALaCarte, Transform, WordVectors
vectors = WordVectors(["wine", "cheese", "bread"], np.eye(3, dtype=np.float32))
induced = ALaCarte(vectors, Transform(np.eye(3))).induce(["wine with blorp and cheese"], ["blorp"])
assert induced.counts.tolist() == [1] and np.allclose(induced["blorp"], [1.0, 1.0, 0.0])
"""


def numbers() -> dict[str, str | None]:
    """The version that each file names first."""
    found = {}
    for name, pattern in NUMBERS.items():
        match = re.search(pattern, (REPOSITORY / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else None
    return found


def check_numbers(tag: str) -> None:
    wrong = [f"{name} says {number}" for name, number in numbers().items() if number != tag.removeprefix("v")]
    if wrong:
        raise SystemExit(f"the tag is {tag}, but " + ", ".join(wrong))
    print(f"{tag}: all files agree")


def check_wheel(wheel: Path) -> None:
    """Size and dependencies."""
    if wheel.stat().st_size >= MEGABYTE:
        raise SystemExit(f"{wheel.name} has {wheel.stat().st_size:,} bytes; promised are fewer than {MEGABYTE:,}")
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    header, _, description = metadata.partition("\n\n")
    needed = [line for line in header.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    if len(needed) > DEPENDENCIES:
        raise SystemExit(f"{len(needed)} run-time dependencies; promised are at most {DEPENDENCIES}")
    relative = re.findall(r"\]\((?!https?:|#)[^)]*\)", description)
    if relative:
        raise SystemExit(f"links of the README that lead nowhere on PyPI: {relative[:3]}")
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {len(needed)} run-time dependencies")


def try_wheel(wheel: Path, python: str) -> None:
    """Install it and nothing else for `python`, embed a word, ask the command for its version."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True, env=environment)
        scripts = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        suffix = ".exe" if os.name == "nt" else ""
        own = str(scripts / f"python{suffix}")
        subprocess.run([own, "-m", "pip", "install", "-q", str(wheel)], check=True, env=environment, cwd=folder)
        subprocess.run([own, "-m", "pip", "check"], check=True, env=environment, cwd=folder)
        subprocess.run([own, "-c", TRIAL], check=True, env=environment, cwd=folder)
        subprocess.run([str(scripts / f"alc{suffix}"), "--version"], check=True, env=environment, cwd=folder)


def pythons_here() -> list[str]:
    """Pythons that we promise to support and that this machine has, also under pyenv."""
    found = []
    for version in PYTHONS:
        under_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        there = str(under_pyenv[-1]) if under_pyenv else shutil.which(f"python{version}")
        found += [there] if there else []
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tag", nargs="?", help="such as v0.3.0")
    parser.add_argument("--wheel", type=Path, help="a wheel, or a folder with one")
    parser.add_argument("--this-python", action="store_true", help="only the Python that runs this")
    arguments = parser.parse_args()
    if arguments.tag:
        check_numbers(arguments.tag)
    if arguments.wheel:
        wheel = next(arguments.wheel.glob("*.whl")) if arguments.wheel.is_dir() else arguments.wheel
        check_wheel(wheel.resolve())
        for python in [sys.executable] if arguments.this_python else pythons_here():
            print(python, flush=True)
            try_wheel(wheel.resolve(), python)


if __name__ == "__main__":
    main()
