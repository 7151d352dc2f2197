"""Misspelt options are refused by mypy, before Python refuses them."""

import subprocess
import sys
from pathlib import Path

import pytest

import alacarte

MISSPELT = """
from alacarte import ALaCarte, Transform, WordVectors, collect
from alacarte.spelling.form import FormModel

vectors = WordVectors(["a"], [[1.0]])
ALaCarte.fit(vectors, ["a"], windows=5)  # error
ALaCarte.fit(vectors, ["a"], window="wide")  # error
model = ALaCarte.pretrained()
model.induce(["a"], ["a"], thread=2)  # error
model.induce(["a"], ["a"]).update(["a"], memmory="1GB")  # error
FormModel.fit(vectors, longst=3)  # error
model.induce(["a"], ["a"], spread=4, threads=2)
ALaCarte.fit(vectors, ["a"], window=(2, 3), ridge="loo", threads=1, form=True, spread=4)
collect(vectors, ["a a"], window=5, threads=1, spread=4)
collect(vectors, ["a a"], windwo=5)  # error
collect(vectors, ["a a"], averaging="mean")  # error
"""


def test_mypy_refuses_misspelt_options(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "misspelt.py").write_text(MISSPELT)
    source = Path(alacarte.__file__).parents[1]
    configuration = tmp_path / "mypy.ini"
    configuration.write_text("[mypy]\nignore_missing_imports = true\nfollow_imports = silent\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", configuration, "--cache-dir", tmp_path, "misspelt.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(source), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = [number for number, line in enumerate(MISSPELT.splitlines(), 1) if line.endswith("# error")]
    lines = [int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == expected, done.stdout + done.stderr
