"""`alc plan`, `work`, `reduce` and `status`, and the array job of docs/cluster.md with a stand-in for sbatch."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import passes as shared
import pytest
from typer.testing import CliRunner

from alacarte import ContextSums, WordVectors, collect
from alacarte.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    shared.VECTORS.save("v.safetensors")
    for number in range(2):
        Path(f"{number}.txt").write_text("\n".join(shared.sample_text(4000, number)), encoding="utf-8")
    return tmp_path


def alc(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_from_plan_to_model(folder):
    said = alc("plan", "--vectors", "v.safetensors", "--corpus", "*.txt", "--tasks", "2", "--out", "run")
    assert "2 tasks. Next: alc work run --any" in said
    assert "0 done, 0 running, 0 lost, 0 failed, 2 waiting of 2 tasks." in alc("status", "run")
    assert "tasks 1, 2 are not done yet; run `alc work run --any`" in alc(
        "reduce", "run", "--out", "a", code=1
    ).replace(str(folder) + "/", "")
    assert "which task? Pass --task N or --any" in re.sub(r"[\s│]+", " ", alc("work", "run", code=2))
    assert "Task 2 done." in alc("work", "run", "--task", "2", "--threads", "1")
    assert json.loads(alc("work", "run", "--task", "2", "--json"))["done"] == []
    assert "Task 1 done." in alc("work", "run", "--any")
    assert "All is done. Next: alc reduce run --out FILE" in alc("status", "run")
    assert json.loads(alc("status", "run", "--json"))["complete"]
    assert "The sums are in all.sums. Next: alc fit --sums all.sums" in alc("reduce", "run", "--out", "all.sums")
    collect(shared.VECTORS, [Path("0.txt"), Path("1.txt")]).save("one.sums")
    assert Path("all.sums").read_bytes() == Path("one.sums").read_bytes()
    alc("fit", "--vectors", "v.safetensors", "--sums", "all.sums", "--out", "model", "--no-weighting", "--ridge", "1")
    plan = ("plan", "--model", "model", "--corpus", "0.txt", "--word", "x", "--word", "river bank")
    alc(*plan, "--tasks", "2", "--out", "run2")
    alc("work", "run2", "--any")
    assert "Next: alc induce --sums x.sums" in alc("reduce", "run2", "--out", "x.sums")
    assert "2 of 2 targets embedded" in alc("induce", "--model", "model", "--sums", "x.sums", "--out", "x.vec")
    facts = json.loads(alc("inspect", "run2/plan.safetensors", "--json"))
    assert (facts["what"], facts["targets"]) == ("plan", 2)
    assert json.loads(alc("inspect", "run2/parts/00001.safetensors", "--json"))["task"] == 1


def test_what_went_wrong_is_shown(folder):
    alc("plan", "--vectors", "v.safetensors", "--corpus", "0.txt", "--tasks", "1", "--out", "run")
    Path("0.txt").write_text("something else")
    assert "0.txt was changed after the work was planned" in alc("work", "run", "--task", "1", code=1)
    said = alc("status", "run")
    assert "1 failed" in said
    assert "0.txt was changed" in said
    assert "Failed tasks are tried again by: alc work run --task N" in said
    assert "passes one of them" not in alc("plan", "--corpus", "0.txt", "--out", "b", code=2)


SBATCH = f"""#!{sys.executable}
# What sbatch does with an array job, on this machine: `sbatch [--dependency=…] --array=1-N SCRIPT`.
import os, re, subprocess, sys
script = sys.argv[-1]
if not open(script).read().startswith("#!"):
    sys.exit("This does not look like a batch script.")
lines = [line for line in open(script) if line.startswith("#SBATCH")]
options = " ".join([*lines, *sys.argv[1:-1]])
low, high = map(int, re.search(r"--array=(\\d+)-(\\d+)", options).groups())
for task in reversed(range(low, high + 1)):
    subprocess.run(["sh", script], env={{**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}}, check=True)
print("Submitted batch job 1")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the page is for a shell")
def test_the_array_job_of_the_page(folder):
    """The commands of docs/cluster.md, as they stand there, with a stand-in for sbatch."""
    text = PAGE.read_text(encoding="utf-8")
    job = re.search(r"```sh\n(#!/bin/sh\n.*?)```", text, re.DOTALL)[1]
    commands = re.search(r"```sh\n(alc plan .*?)```", text, re.DOTALL)[1]
    tools = folder / "tools"
    tools.mkdir()
    for name, content in {"sbatch": SBATCH, "alc": f'#!/bin/sh\nexec {sys.executable} -m alacarte "$@"\n'}.items():
        (tools / name).write_text(content)
        (tools / name).chmod(0o755 | stat.S_IXUSR)
    Path("job.sh").write_text(job.replace("-64", "-2"))
    shared.VECTORS.save("my.vec")
    (folder / "text").mkdir()
    for number in range(2):
        Path(f"{number}.txt").rename(folder / "text" / f"{number}.txt")
    commands = commands.replace("--tasks 64", "--tasks 2")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    ended = subprocess.run(
        ["sh", "-e", "-c", commands], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    sums = ContextSums.load(folder / "all.sums")
    collect(WordVectors.load("my.vec"), folder / "text").save("one.sums")
    assert Path("all.sums").read_bytes() == Path("one.sums").read_bytes()
    assert sums.tokens_read > 1000
