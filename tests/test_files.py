"""Files and folders that are whole or not there, and locks that end with their process."""

import os
import signal
import subprocess
import sys
import time

import pytest

from alacarte._io.files import atomic_write, check_folder, lock, new_folder
from alacarte.errors import AlacarteError, BadCheckpoint

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
        assert (tmp_path / "work.lock").exists()
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
    with pytest.raises(BadCheckpoint, match="nothing can be written there"), lock(tmp_path / "no" / "x", BadCheckpoint):
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


def fill_half(path):
    with new_folder(path) as staging:
        (staging / "other").write_text("2")
        raise RuntimeError


def test_files_are_whole_or_not_there(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(RuntimeError):
        write_half(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "old"
    with atomic_write(tmp_path / "a") as file:
        file.write(b"whole")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "whole")]


def test_folders_are_whole_or_not_there(tmp_path):
    with new_folder(tmp_path / "m") as staging:
        (staging / "model.json").write_text("1")
    with pytest.raises(RuntimeError):
        fill_half(tmp_path / "m")
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["model.json"]
    check_folder(tmp_path / "m")
    check_folder(tmp_path / "nothing yet")
    with new_folder(tmp_path / "m") as staging:
        (staging / "other").write_text("2")
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["other"]
    with pytest.raises(AlacarteError, match="not a saved model"):
        check_folder(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
