"""Killed, interrupted, without room, not alone: a few of what `benchmarks/torture.py` does by the thousand."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from command_lines import all_commands
from passes import budget

from alacarte import ALaCarte, Corpus, Targets, Transform, WordVectors, collect
from alacarte._io.files import PART, atomic_write
from alacarte.errors import AlacarteError, BadCheckpoint, DiskFull
from alacarte.passes.checkpoint import Checkpoint
from alacarte.vectors.neighbours import Index

TORTURE = Path(__file__).parents[2] / "benchmarks" / "torture.py"
VECTORS = WordVectors(["a", "b", "c"], np.eye(3, dtype=np.float32))

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, signals and locks as POSIX has them")


def torture(*arguments):
    ended = subprocess.run(
        [sys.executable, str(TORTURE), *arguments], capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


COMPILED = any(map(shutil.which, ("cc", "gcc", "clang")))
shim = pytest.mark.skipif(sys.platform != "linux" or not COMPILED, reason="needs Linux and a C compiler")


@shim
def test_kill_9():
    """The same bits as without it, and nothing left behind; readers see what was there before, or what is new."""
    cases = ["fit", "induce, little memory", "concordance build", "convert to o.npy"]
    said = torture("kills", "--kills", "12", *(word for name in cases for word in ("--case", name)))
    assert "\n0 faults" in said


@shim
def test_ctrl_c_and_sigterm():
    assert "\n0 faults" in torture("signals", "--times", "6", "--case", "induce", "--case", "convert to o.npy")


@shim
def test_two_writers_and_a_reader():
    assert "\n0 faults" in torture("writers", "--times", "2", "--case", "convert to o.npy", "--case", "fit")


@shim
@pytest.mark.parametrize(
    ("errors", "cases"),
    [
        (30, ["induce", "concordance add", "convert to model2vec", "contexts"]),
        pytest.param(300, [], marks=pytest.mark.long),
    ],
)
def test_calls_that_fail_while_a_command_runs(errors, cases):
    """A full disk, a lost one, no rights, …: said in a line; what was there is intact; repeated, the same bits."""
    said = torture("errors", "--errors", str(errors), *(word for name in cases for word in ("--case", name)))
    assert "\n0 faults" in said


@shim
def test_calls_that_fail_while_a_file_is_read():
    """Of each format, for which there are mutants (`test_every_format_that_is_read_has_mutants`)."""
    for extra in ("rdata", "usearch", "zstandard", "pyarrow", "pandas", "tokenizers"):
        pytest.importorskip(extra)
    assert "\n0 faults" in torture("reads", "--errors", "100")


def test_every_command_that_writes_is_disturbed(monkeypatch):
    monkeypatch.syspath_prepend(TORTURE.parent)
    from torture_cases import CASES

    def is_disturbed(name):
        return any(f"{case.line} ".startswith(f"{name} ") for case in CASES)

    writes = {name for name, command in all_commands() if "overwrite" in {option.name for option in command.params}}
    writes |= {"concordance add", "concordance remove"}
    assert len(writes) > 15
    # The demo takes long, and its figure is written as that of compare.
    assert {name for name in writes if not name.startswith("eval ") and not is_disturbed(name)} == {"demo"}


# ------------------------------------------------------------------------------------ what killed processes left


def test_leftovers_of_dead_writers_go_and_nothing_else(tmp_path):
    dead, alive = (tmp_path / f".a.vec.{digit * 16}{PART}" for digit in "01")
    others = [tmp_path / f".b.vec.{'2' * 16}{PART}", tmp_path / f".a.vec.mine{PART}", tmp_path / ".a.vec.part"]
    for path in (dead, alive, *others):
        path.write_text("half")
    import fcntl

    with alive.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        VECTORS.save(tmp_path / "a.vec")
        assert set(tmp_path.iterdir()) == {alive, *others, tmp_path / "a.vec"}
    VECTORS.save(tmp_path / "a.vec")
    assert set(tmp_path.iterdir()) == {*others, tmp_path / "a.vec"}


def test_a_writer_is_not_taken_for_a_dead_one(tmp_path):
    """Threads that write the same file all the time never remove each other's work."""
    problems = []

    def write(number):
        try:
            for _ in range(60):
                with atomic_write(tmp_path / "a") as file:
                    file.write(str(number).encode() * 1000)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert len((tmp_path / "a").read_bytes()) == 1000


def test_a_mixture_of_two_saves_is_said(tmp_path):
    """Its writer was killed between a list of words and its matrix; or half of a model was copied."""
    VECTORS.save(tmp_path / "a.npy")
    other = WordVectors(["x", "y", "z"], 2 * VECTORS.matrix)
    other.save(tmp_path / "b.npy")
    (tmp_path / "b.vocab.txt").replace(tmp_path / "a.vocab.txt")
    with pytest.raises(AlacarteError, match=r"a\.vocab\.txt is not the list of words that was written with"):
        WordVectors.load(tmp_path / "a.npy")
    VECTORS.save(tmp_path / "a.npy")
    assert WordVectors.load(tmp_path / "a.npy") == VECTORS


# --------------------------------------------------------------------------------------------------- a full disk


@pytest.fixture
def full(monkeypatch):
    """No byte reaches the disk."""

    def fail(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)


SAVES = {
    "a.vec": lambda path: VECTORS.save(path),
    "a.npy": lambda path: VECTORS.save(path),
    "a.safetensors": lambda path: VECTORS.save(path),
    "a.sums": lambda path: collect(VECTORS, ["a b c"]).save(path),
    "a.index": lambda path: Index.build(VECTORS).save(path),
    "a.csv": lambda path: Transform(np.eye(3, dtype=np.float32)).save(path),
    "m": lambda path: ALaCarte(VECTORS, Transform(np.eye(3, dtype=np.float32))).save(path),
}


@pytest.mark.parametrize("name", SAVES)
def test_a_full_disk_is_named_with_what_is_needed(tmp_path, full, name):
    with pytest.raises(DiskFull) as raised:
        SAVES[name](tmp_path / name)
    said = str(raised.value)
    assert said.startswith(str(tmp_path))
    assert "No space left on device: it needs " in said
    assert "are free in" in said
    assert "nothing was written" in said
    assert isinstance(raised.value, OSError)
    assert raised.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.vec", "a.npy", "a.safetensors", "a.index", "m"])
def test_what_was_there_is_intact(tmp_path, monkeypatch, name):
    SAVES[name](tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fail(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskFull):
        SAVES[name](tmp_path / name)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_no_checkpoint_is_claimed_that_is_not_there(tmp_path, full):
    with pytest.raises(BadCheckpoint, match=r"No space left on device: it needs .* free in") as raised:
        collect(VECTORS, ["a b c"] * 10, checkpoint=tmp_path / "c", checkpoint_seconds=0)
    assert "intact" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------------- sums beside a checkpoint


def test_a_damaged_file_of_sums_beside_a_checkpoint(tmp_path):
    """Sums that do not fit in memory have digests, too."""
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(50)]
    vectors = WordVectors(words, rng.normal(size=(50, 40)).astype(np.float32))
    (tmp_path / "text").write_text("\n".join(" ".join(rng.choice(words, 20)) for _ in range(400)))
    options = {
        "checkpoint": tmp_path / "c",
        "block_size": 4000,
        "threads": 1,
        "memory": budget(vectors, 800, 12, 4000, 1, targets=50),
        "spread": 16,
    }
    collect(vectors, Corpus(tmp_path / "text"), Targets(words), **options)
    (rows,) = tmp_path.glob(".c.*.rows")
    whole = rows.read_bytes()
    for place in rng.choice(len(whole) // 48 // 8 * 40, 5).tolist():
        damaged = bytearray(whole)
        damaged[place * 8] ^= 1
        if bytes(damaged) == whole:
            continue
        rows.write_bytes(bytes(damaged))
        if place % 48 < 43:  # the rest of a row is padding
            with pytest.raises(BadCheckpoint, match="is damaged"):
                collect(vectors, Corpus(tmp_path / "text"), Targets(words), **options)
    rows.write_bytes(whole)
    collect(vectors, Corpus(tmp_path / "text"), Targets(words), **options)


def test_a_checkpoint_whose_note_leads_elsewhere(tmp_path):
    with Checkpoint(tmp_path / "c", {}).held():
        pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "c").write_text("mine")
    with pytest.raises(AlacarteError, match="not a safetensors file"), Checkpoint(tmp_path / "c", {}).held():
        pass
    assert (tmp_path / "c").read_text() == "mine"
