"""The recipes of docs/cluster.md: the array job with a stand-in for sbatch, and the job script of dask-jobqueue."""

import doctest
import os
import re
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import passes as shared
import pytest

from alacarte import ContextSums, WordVectors, collect
from alacarte.model.model import ADAPTED_POSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"

SBATCH = f"""#!{sys.executable}
# What sbatch does with an array job, on this machine: `sbatch [--array=1-N] SCRIPT`.
import os, re, subprocess, sys
script = sys.argv[-1]
lines = [line for line in open(script) if line.startswith("#SBATCH")]
low, high = map(int, re.findall(r"--array=(\\d+)-(\\d+)", " ".join([*lines, *sys.argv[1:-1]]))[-1])
for task in reversed(range(low, high + 1)):
    subprocess.run(["sh", script], env={{**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}}, check=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the page is for a shell")
def test_the_array_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    job = re.search(r"```sh\n(#!/bin/sh\n.*?)```", text, re.DOTALL)[1]
    commands = re.search(r"```sh\n(mkdir .*?)```", text, re.DOTALL)[1]
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, content in {"sbatch": SBATCH, "alc": f'#!/bin/sh\nexec {sys.executable} -m alacarte "$@"\n'}.items():
        (tools / name).write_text(content)
        (tools / name).chmod(0o755 | stat.S_IXUSR)
    Path("job.sh").write_text(job.replace("=1-64", "=1-3").replace("SHARDS=64", "SHARDS=3"))
    shared.VECTORS.save("my.vec")
    Path("text").mkdir()
    for number in range(4):
        Path(f"text/{number}.txt").write_text("\n".join(shared.sample_text(900_000, number)), encoding="utf-8")
    commands = commands.replace("--out model", "--weighting none --ridge 1 --out model")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["sh", "-e", "-c", commands], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    sums = [ContextSums.load(path) for path in sorted(Path("parts").iterdir())]  # and no checkpoint is left
    assert len(sums) == 3
    assert min(part.tokens_read for part in sums) > 100_000
    whole = collect(WordVectors.load("my.vec"), Path("text"), positions=ADAPTED_POSITIONS)
    assert ContextSums.load("all.sums") == whole
    assert Path("model").is_dir()


def test_the_python_of_the_page():
    pytest.importorskip("distributed")
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 10
    assert not failed


def test_the_job_script_of_dask_jobqueue():
    pytest.importorskip("dask_jobqueue")
    recipe = re.search(r"    from dask_jobqueue .*?\n\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    recipe = textwrap.dedent(recipe).replace("cluster.scale(jobs=16)\nclient = Client(cluster)\n", "")
    names = {}
    exec(recipe, names)
    try:
        script = names["cluster"].job_script()
    finally:
        names["cluster"].close()
    assert "#SBATCH --cpus-per-task=8" in script
    assert "#SBATCH -t 04:00:00" in script
