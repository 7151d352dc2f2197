"""Files and folders that are whole or not there, and locks that end with their process."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from alacarte._io.artifact import read_artifact, write_artifact
from alacarte._io.files import Companions, atomic_write, hidden_companion, lock
from alacarte._io.tensors import copy_from_file, forget_pages
from alacarte.errors import BadCheckpoint

HOLD = """
import sys, time
from pathlib import Path
from alacarte._io.files import lock
from alacarte.errors import BadCheckpoint

with lock(Path(sys.argv[1]), BadCheckpoint):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_process_at_a_time(tmp_path):
    path = tmp_path / "work"
    with (
        lock(path, BadCheckpoint, "checkpoint"),
        pytest.raises(BadCheckpoint, match=r"work: another process is working with this checkpoint; wait"),
        lock(path, BadCheckpoint, "checkpoint"),
    ):
        pass
    with lock(path, BadCheckpoint):
        assert (tmp_path / ".work.alacarte-lock").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_lock_ends_with_its_process(tmp_path):
    path = tmp_path / "work"
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BadCheckpoint, match="another process"), lock(path, BadCheckpoint):
            pass
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    with lock(path, BadCheckpoint):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_cannot_be_written(tmp_path):
    with pytest.raises(BadCheckpoint, match="no file can be written there"), lock(tmp_path / "no" / "x", BadCheckpoint):
        pass


def test_many_take_turns(tmp_path):
    """Each adds one to a number in a file; nothing is lost although the lock's file goes and comes."""
    turn = """
import sys, time
from pathlib import Path
from alacarte._io.files import lock
from alacarte.errors import BadCheckpoint

path, done = Path(sys.argv[1]), 0
while done < 40:
    try:
        with lock(path, BadCheckpoint):
            number = int(path.read_text())
            time.sleep(0.0005)
            path.write_text(str(number + 1))
            done += 1
    except BadCheckpoint:
        pass
"""
    path = tmp_path / "number"
    path.write_text("0")
    others = [subprocess.Popen([sys.executable, "-c", turn, str(path)]) for _ in range(3)]
    deadline = time.monotonic() + 120
    for other in others:
        assert other.wait(max(1, deadline - time.monotonic())) == 0
    assert path.read_text() == "120"


def write_half(path):
    with atomic_write(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_files_are_whole_or_not_there(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(RuntimeError):
        write_half(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "old"
    with atomic_write(tmp_path / "a") as file:
        file.write(b"whole")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "whole")]


def generation(main):
    return main.read_text() if main.exists() else None


def write_set(main, content, fails=False):
    """A main file, which names its generation, and two companions."""
    companions = Companions(main, ["one", "two"], generation)
    with companions.writing():
        for name in ("one", "two"):
            with atomic_write(companions.path(name)) as file:
                file.write(content)
        if fails:
            raise RuntimeError
        with atomic_write(main) as file:
            file.write(companions.generation.encode())
    return companions.generation


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_files_that_belong_together_change_together(tmp_path):
    first = write_set(tmp_path / "main", b"1")
    with pytest.raises(RuntimeError):
        write_set(tmp_path / "main", b"2", fails=True)
    assert contents(tmp_path) == {"main": first, "one": "1", "two": "1"}
    second = write_set(tmp_path / "main", b"3")
    assert contents(tmp_path) == {"main": second, "one": "3", "two": "3"}


def test_the_next_writer_finishes_or_removes_what_a_killed_one_left(tmp_path):
    first = write_set(tmp_path / "main", b"1")
    hidden_companion(tmp_path / "one", first).write_text("1, not yet in its place")
    hidden_companion(tmp_path / "two", "f" * 16).write_text("never named by a main file")
    (tmp_path / ".two.mine").write_text("of somebody else")
    with pytest.raises(RuntimeError):
        write_set(tmp_path / "main", b"2", fails=True)
    assert contents(tmp_path) == {
        "main": first,
        "one": "1, not yet in its place",
        "two": "1",
        ".two.mine": "of somebody else",
    }


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells what lies in memory")
def test_what_is_copied_from_a_file_does_not_stay_in_memory(tmp_path):
    def mapped_memory():
        listed = Path("/proc/self/smaps").read_text().split("big.safetensors")[1]
        return int(re.search(r"Rss: *(\d+) kB", listed)[1]) * 1024

    numbers = np.arange(1 << 20, dtype=np.int64).reshape(-1, 64)
    write_artifact(tmp_path / "big.safetensors", "x", {"rows": numbers}, {})
    rows = read_artifact(tmp_path / "big.safetensors").tensors["rows"]
    assert int(rows.sum()) == int(numbers.sum())
    assert mapped_memory() > 0.9 * numbers.nbytes
    copy = np.empty_like(numbers)
    copy_from_file(rows, copy)
    assert np.array_equal(copy, numbers)
    assert mapped_memory() < 0.1 * numbers.nbytes
    assert np.array_equal(rows, numbers)  # read again
    forget_pages(copy)  # not in a file: nothing happens
    assert np.array_equal(copy, numbers)
