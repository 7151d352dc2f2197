"""Files and folders that are whole or not there, and locks that end with their process."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from alacarte import ContextSums, WordVectors, collect
from alacarte._io import folders
from alacarte._io.files import atomic_write, lock
from alacarte._io.folders import replaced_folder
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


def test_two_updates_of_one_file_of_sums(tmp_path):
    """Each holds the lock from reading to writing: the second is refused, and no text is lost."""
    update = """
import sys, time
from pathlib import Path
from alacarte import ContextSums, WordVectors, collect
from alacarte._io.files import lock
from alacarte.errors import AlacarteError

path = Path(sys.argv[1])
try:
    with lock(path, what="file of sums"):
        before = ContextSums.load(path)
        print("read", flush=True)
        sys.stdin.readline()
        text = Path(sys.argv[2])
        (before + collect(WordVectors(["a", "b"], [[1.0], [2.0]]), text, ["a"], show_progress=False)).save(path)
except AlacarteError as error:
    print(error)
"""
    vectors = WordVectors(["a", "b"], [[1.0], [2.0]])
    for name in "012":
        (tmp_path / name).write_text("a b a\n")
    path = tmp_path / "sums"
    collect(vectors, tmp_path / "0", ["a"]).save(path)
    one, two = (
        subprocess.Popen(
            [sys.executable, "-c", update, str(path), str(tmp_path / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "12"
    )
    said = [process.stdout.readline() for process in (one, two)]
    refused = f"{path}: another process is working with this file of sums; wait for it or choose another\n"
    assert sorted(said) == sorted(["read\n", refused])
    for process in (one, two):
        process.communicate("\n", timeout=120)
        assert process.returncode == 0
    assert ContextSums.load(path).documents == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0", "1", "2", "sums"]


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


# ------------------------------------------------------------------------------------------------------- folders


def made(folder):
    """The names that `write_folder` wrote."""
    return (folder / "main").read_text().split() if (folder / "main").exists() else []


def write_folder(folder, fails=False, **texts):
    with replaced_folder(folder, made) as new:
        for name, text in texts.items():
            (new / name).write_text(text)
        if fails:
            raise RuntimeError
        (new / "main").write_text(" ".join(["main", *texts]))


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


FIRST = {"m/main": "main one two", "m/one": "1", "m/two": "1"}


@pytest.fixture(params=["in one step", "in two"])
def folder(tmp_path, request, monkeypatch):
    if request.param == "in two":
        monkeypatch.setattr(folders, "_exchanged", lambda one, two: False)
    write_folder(tmp_path / "m", one="1", two="1")
    assert contents(tmp_path) == FIRST
    return tmp_path


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(folder):
    with pytest.raises(RuntimeError):
        write_folder(folder / "m", one="2", fails=True)
    assert contents(folder) == FIRST
    (folder / "m").chmod(0o750)
    (folder / "m" / "one").chmod(0o640)
    write_folder(folder / "m", one="3")
    assert contents(folder) == {"m/main": "main one", "m/one": "3"}
    assert (folder / "m").stat().st_mode & 0o777 == 0o750
    assert (folder / "m" / "one").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in folder.iterdir()] == ["m"]


def test_files_of_others_move_to_the_new_folder(folder):
    (folder / "m" / "notes").mkdir()
    (folder / "m" / "notes" / "a").write_text("mine")
    (folder / "m" / "three").write_text("mine, too")
    write_folder(folder / "m", one="2")
    assert contents(folder) == {"m/main": "main one", "m/one": "2", "m/notes/a": "mine", "m/three": "mine, too"}


def test_what_a_killed_writer_left_of_others_is_never_deleted(folder):
    left = folder / ".m.0123456789abcdef.alacarte-old"
    left.mkdir()
    (left / "notes").write_text("older notes")
    (folder / "m" / "notes").write_text("mine")
    write_folder(folder / "m", one="2")
    assert (left / "notes").read_text() == "older notes"
    (folder / "m" / "notes").unlink()
    write_folder(folder / "m", one="2")
    assert contents(folder) == {"m/main": "main one", "m/one": "2", "m/notes": "older notes"}
    assert not left.exists()


def test_a_folder_behind_a_link_is_replaced_and_the_link_stays(folder):
    (folder / "far").mkdir()
    (folder / "link").symlink_to(folder / "far")
    write_folder(folder / "link", one="2")
    assert (folder / "link").is_symlink()
    assert contents(folder / "far") == {"main": "main one", "one": "2"}


STEPS = ["mkdir", "rename", "keep_owner_and_mode", "unlink", "rmdir"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("number", range(4))
def test_a_kill_at_any_step_leaves_the_old_or_the_new(folder, step, number, monkeypatch):
    """What was left is put in order by the next writer, and nothing of others is lost."""
    (folder / "m" / "notes").write_text("mine")
    new = {"m/main": "main one", "m/one": "2", "m/notes": "mine"}

    class Killed(BaseException):
        pass

    calls = []
    module = folders if step == "keep_owner_and_mode" else Path
    real = getattr(module, step)

    def kill(*arguments, **options):
        calls.append(1)
        if len(calls) > number:
            raise Killed
        return real(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(module, step, kill)
        patched.setattr(folders.shutil, "rmtree", lambda *_, **__: None)  # nothing is tidied up by who is dead
        with suppress(Killed):
            write_folder(folder / "m", one="2")
    left = contents(folder)
    assert sum(name.endswith("/notes") for name in left) == 1
    if (folder / "m").exists():  # but between two renames, where the system cannot swap
        seen = {name: text for name, text in left.items() if name.startswith("m/") and name != "m/notes"}
        assert seen in (FIRST, {name: text for name, text in new.items() if name != "m/notes"})
    with pytest.raises(RuntimeError):
        write_folder(folder / "m", fails=True)
    after = contents(folder)
    assert after in ({**FIRST, "m/notes": "mine"}, new)
    assert [path.name for path in folder.iterdir()] == ["m"]


def test_a_folder_that_cannot_be_replaced_is_left_alone(folder, monkeypatch):
    """As a folder where another file system is mounted."""

    def busy(self, target):
        if self == folder / "m":
            raise OSError(16, "Device or resource busy")
        return real(self, target)

    real = Path.rename
    monkeypatch.setattr(folders, "_exchanged", lambda one, two: False)
    monkeypatch.setattr(Path, "rename", busy)
    with pytest.raises(AlacarteError, match=r"m: cannot be replaced as a whole \(Device or resource busy\)"):
        write_folder(folder / "m", one="2")
    assert contents(folder) == FIRST


def test_other_folders_with_such_names_stay(folder):
    for name in (".m.mine.alacarte-new", ".n.0123456789abcdef.alacarte-new", ".m.0123456789abcdef.alacarte"):
        (folder / name).mkdir()
        (folder / name / "x").write_text("mine")
    before = contents(folder)
    write_folder(folder / "m", one="1", two="1")
    assert contents(folder) == before
