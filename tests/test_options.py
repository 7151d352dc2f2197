"""Misspelt options are refused: by Python when they are used, and by mypy before."""

import subprocess
import sys

import pytest
from passes import VECTORS

from alacarte import collect, discover
from alacarte.passes.collect import count_words

SNIPPET = """
from alacarte import WordVectors, collect
vectors = WordVectors(["a"], [[1.0]])
collect(vectors, ["a a"], window=5, threads=1, spread=4)
collect(vectors, ["a a"], windwo=5)
collect(vectors, ["a a"], averaging="mean")
"""


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: collect(VECTORS, ["a b"], windwo=5), "windwo"),
        (lambda: collect(VECTORS, ["a b"], ["a"], window=5, thread=1), "thread"),
        (lambda: collect(VECTORS, ["a b"], limit=3), "limit"),
        (lambda: discover(["a b"], min_cuont=5), "min_cuont"),
        (lambda: count_words(VECTORS, ["a b"], window=5), "window"),
    ],
)
def test_a_misspelt_option_is_named(call, named):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{named}'"):
        call()


def test_mypy_refuses_a_misspelt_option(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports"]
    result = subprocess.run([*command, "snippet.py"], capture_output=True, text=True, cwd=tmp_path)
    errors = [line for line in result.stdout.splitlines() if "error:" in line]
    assert [line.split(":")[1] for line in errors] == ["5", "6"], result.stdout + result.stderr
    assert "windwo" in errors[0]
