"""A pass shared out by plan, work and reduce: the same bits as one pass, whatever happens to the workers."""

import errno
import gzip
import io
import json
import os
import random
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import passes as shared
import pytest

from alacarte import ContextSums, Corpus, Targets, WordVectors, collect
from alacarte._io.remote import Location
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, BadRun
from alacarte.passes import _leases, _parts
from alacarte.passes import plan as planning
from alacarte.passes.plan import plan, read_plan, reduce, status, work, work_on
from alacarte.text.pieces import whole_file

BLOCK = 512


@pytest.fixture
def text(tmp_path):
    """Two plain files, one that is compressed, an empty one and one with a single long line."""
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(2):
        (folder / f"{number}.txt").write_text("\n".join(shared.sample_text(6000, number)), encoding="utf-8")
    (folder / "2.txt.gz").write_bytes(gzip.compress("\n".join(shared.sample_text(2000, 2)).encode()))
    (folder / "3.txt").write_text("")
    (folder / "4.txt").write_text("a b x " * 700)
    return Corpus(folder)


def one_pass(path, corpus, targets=None, **options):
    collect(shared.VECTORS, corpus, targets, block_size=BLOCK, **options).save(path)
    return path.read_bytes()


def reduced(run, path):
    reduce(run, path)
    return path.read_bytes()


CASES = {
    "every word": (None, {}),
    "n-grams and patterns": (shared.NGRAMS | shared.PATTERNS, {"averaging": "context", "positions": "linear"}),
    "by group": (shared.WORDS, {"spread": 4, "window": (2, 5)}),
    "every word by group": (None, {"spread": 3, "unknown": "drop"}),
    "weights": (shared.NGRAMS, {"context_weights": {"a": 0.5, "b": 0.0}, "averaging": "token"}),
    "weights from counts": (None, {"context_weights": "sif:0.01"}),
    "without frequent words": (shared.WORDS, {"context_weights": "top:2", "spread": 2}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tasks", [1, 3, 8])
def test_same_bits(tmp_path, text, case, tasks):
    """Any number of tasks, in any order, some of them twice: the file of sums that one pass makes."""
    targets, options = CASES[case]
    made = plan(shared.VECTORS, text, targets, out=tmp_path / "run", tasks=tasks, block_size=BLOCK, **options)
    assert len(made.shares) == tasks
    for numbers in (list(made.counting_tasks), list(made.summing_tasks)):
        random.Random(tasks).shuffle(numbers)
        for number in numbers:
            assert work(tmp_path / "run", number, threads=1 + number % 2) == [number]
    again = made.summing_tasks[-1]
    before = _leases.part_path(made, again).read_bytes()
    _leases.part_path(made, again).unlink()
    assert work(tmp_path / "run") == [again]
    assert _leases.part_path(made, again).read_bytes() == before
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", text, targets, **options)
    assert status(tmp_path / "run").complete


def test_a_worker_with_nothing_to_do_waits_little_at_first(tmp_path, text, monkeypatch):
    """Who waits for another's task looks often at first, then less often: it loses a twentieth of the time at most."""
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    assert _leases.claim(made, 1, "another", 60) is not None
    clock, waits = [0.0], []

    def sleep(seconds):
        waits.append(seconds)
        clock[0] += seconds
        if clock[0] > 60:
            work(tmp_path / "run", 1)  # what the other does

    monkeypatch.setattr(
        planning, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep, perf_counter=time.perf_counter)
    )
    assert work(tmp_path / "run") == [2]
    assert clock[0] < 1.06 * 60
    assert waits[0] <= 0.1
    assert len(waits) < 150


@pytest.mark.parametrize("targets", [Targets.spans(), shared.WORDS | Targets.spans(["label 3"]) | Targets.spans()])
def test_labels_that_turn_up_on_the_way(tmp_path, targets):
    for number in range(3):
        documents = shared.annotated(shared.sample_text(2000, number), np.random.default_rng(number))
        with (tmp_path / f"{number}.jsonl").open("w") as file:
            for document in documents:
                row = {"text": document} if isinstance(document, str) else {"spans": document.spans}
                if not isinstance(document, str):
                    row |= {"text": document.text} if document.text is not None else {"tokens": document.tokens}
                file.write(json.dumps(row) + "\n")
    corpus = Corpus(str(tmp_path / "*.jsonl"))
    plan(shared.VECTORS, corpus, targets, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    assert work(tmp_path / "run") == [1, 2, 3]
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", corpus, targets)


def test_little_memory(tmp_path, text):
    """A worker that makes some dimensions at a time makes the same part."""
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    budget = shared.budget(shared.VECTORS, len(shared.VECTORS), 28, BLOCK, 1, targets=0)
    work(tmp_path / "run", memory=budget, threads=1)
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", text)


def test_text_at_a_url(tmp_path):
    """Pieces of a file in a store are read by ranges, and a file that is replaced is noticed."""
    fsspec = pytest.importorskip("fsspec")
    store, text = fsspec.filesystem("memory"), "\n".join(shared.sample_text(6000)).encode()
    store.pipe_file("/planned/a.txt", text)
    corpus = Corpus("memory://planned/a.txt")
    made = plan(shared.VECTORS, corpus, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    assert len(made.shares) == 3
    work(tmp_path / "run")
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", corpus)
    plan(shared.VECTORS, corpus, out=tmp_path / "again", tasks=3, block_size=BLOCK)
    store.pipe_file("/planned/a.txt", text.replace(b"river", b"RIVER"))
    with pytest.raises(BadRun, match=r"memory://planned/a\.txt was changed after the work was planned"):
        work(tmp_path / "again")


def test_compressed_files_and_tables_are_shared_out(tmp_path):
    """Frames of zstd, members of gzip, row groups of Parquet: the file of sums that one pass over whole files makes."""
    import pyarrow
    from pyarrow import parquet
    from test_pieces import bgzf, frames, members, seekable

    folder = tmp_path / "text"
    folder.mkdir()
    for number, pack in enumerate((bgzf, members, frames, seekable)):
        plain = "\n".join(shared.sample_text(4000, number)).encode()
        (folder / f"{number}.txt").write_bytes(pack(plain, 3000))
    table = pyarrow.table({"text": shared.sample_text(6000, 5)})
    parquet.write_table(table, folder / "a.parquet", row_group_size=20)
    corpus = Corpus(folder)
    made = plan(shared.VECTORS, corpus, out=tmp_path / "run", tasks=20, block_size=BLOCK)
    cut = {piece.path for share in made.shares for piece in share if not piece.whole}
    assert len(cut) == 5
    assert work(tmp_path / "run") == list(range(1, made.tasks + 1))
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", corpus)


def test_planned_again(tmp_path, text):
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    work(tmp_path / "run", 2)
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    assert status(tmp_path / "run").count("done") == 1
    with pytest.raises(BadRun, match="is the folder of another run; choose another folder"):
        plan(shared.VECTORS, text, out=tmp_path / "run", tasks=4, block_size=BLOCK)


def test_vectors_in_a_file_are_used_from_there(tmp_path, text):
    shared.VECTORS.save(tmp_path / "v.safetensors")
    vectors = WordVectors.load(tmp_path / "v.safetensors")
    plan(vectors, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    assert read_plan(tmp_path / "run").vectors == str(tmp_path / "v.safetensors")
    shared.OTHER_VECTORS.save(tmp_path / "v.safetensors", overwrite=True)
    with pytest.raises(BadRun, match="holds other vectors than those"):
        work(tmp_path / "run", 1)


def test_what_cannot_be_planned(tmp_path, text):
    with pytest.raises(BadCorpus, match="only files can be shared out"):
        plan(shared.VECTORS, ["a text"], out=tmp_path / "run")
    with pytest.raises(AlacarteError, match="Python object that other processes cannot read"):
        plan(shared.VECTORS, text, out=tmp_path / "run", tokenizer=str.split)
    with pytest.raises(AlacarteError, match="are made from sums, not from counts"):
        plan(shared.VECTORS, text, out=tmp_path / "run", context_weights="learned")
    with pytest.raises(BadRun, match=r"no plan in this folder; `alc plan --out"):
        work(tmp_path)
    (tmp_path / "text" / "big.txt.gz").write_bytes(gzip.compress(os.urandom(40_000)))
    with pytest.warns(AlacarteWarning, match=r"big\.txt\.gz .* cannot be shared out: .* It is one stream of gzip"):
        plan(shared.VECTORS, Corpus(tmp_path / "text"), out=tmp_path / "run2", tasks=4, block_size=BLOCK)


# -------------------------------------------------------------------------------------- what is not as it should be


def test_parts_that_lack(tmp_path, text):
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    work(tmp_path / "run", 2)
    with pytest.raises(BadRun, match="tasks 1, 3 are not done yet; call work"):
        reduce(tmp_path / "run", tmp_path / "b")
    with pytest.raises(BadRun, match="has the tasks 1 to 3, and no task 4"):
        work(tmp_path / "run", 4)


def test_counts_come_first(tmp_path, text):
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK, context_weights="sif")
    work(tmp_path / "run", 1)
    with pytest.raises(BadRun, match="task 3 needs the counts of all words, and task 2 is not done yet"):
        work(tmp_path / "run", 3)


def test_every_unit_once(tmp_path, text, monkeypatch):
    """A part that belongs to another task, another run, or holds too little text, is refused by name."""
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    work(tmp_path / "run")
    one, two = (_leases.part_path(made, task) for task in (1, 2))
    kept = one.read_bytes()
    one.write_bytes(two.read_bytes())
    with pytest.raises(BadRun, match=r"00001\.safetensors belongs to another run; delete it, and do task 1 again"):
        reduce(tmp_path / "run", tmp_path / "b")
    one.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    with pytest.raises(BadRun, match=r"00001\.safetensors is damaged"):
        reduce(tmp_path / "run", tmp_path / "b")
    one.unlink()
    read = Corpus.streams
    monkeypatch.setattr(Corpus, "streams", lambda self, size: (_without_last(stream) for stream in read(self, size)))
    work(tmp_path / "run", 1)
    with pytest.raises(BadRun, match=r"\.txt: .* do its tasks again"):
        reduce(tmp_path / "run", tmp_path / "b")


def _without_last(stream):
    blocks = list(stream)
    return iter(blocks[:-1])


def test_a_sum_that_was_changed_is_noticed(tmp_path, text):
    """The digests of the sums are compared as they are added."""
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    work(tmp_path / "run")
    path = _leases.part_path(made, 1)
    places = _parts.open_part(made, 1).tensors["sums"]
    data = bytearray(path.read_bytes())
    at = data.find(np.ascontiguousarray(places[3]).tobytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(BadRun, match="tensor 'sums' is not what was written"):
        reduce(tmp_path / "run", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_text_that_changes(tmp_path, text):
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    file = tmp_path / "text" / "4.txt"
    before, times = file.read_bytes(), file.stat()
    file.write_bytes(before[:-5] + b"other")
    with pytest.raises(BadRun, match=r"task 3.* failed: .*4\.txt was changed after the work was planned"):
        work(tmp_path / "run")
    said = status(tmp_path / "run")
    assert [task.status for task in said.tasks] == ["done", "done", "failed"]
    assert "4.txt was changed" in said.tasks[2].error
    file.write_bytes(before)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert work(tmp_path / "run") == [3]
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", text)
    assert status(tmp_path / "run").tasks[2].error == ""


def test_a_full_disk_at_one_worker(tmp_path, text, monkeypatch):
    """The worker says so and leaves the task to others; nothing half-written is left."""
    plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    fsync, full = os.fsync, [True]

    def no_room(descriptor):
        if full[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(BadRun, match=r"task 1 .*cannot be written \(No space left.*Make room"):
        work(tmp_path / "run")
    assert not any(path.suffix == ".safetensors" for path in (tmp_path / "run" / "parts").iterdir())
    assert status(tmp_path / "run").count("waiting") == 3
    full[0] = False
    assert work(tmp_path / "run") == [1, 2, 3]
    assert reduced(tmp_path / "run", tmp_path / "b") == one_pass(tmp_path / "a", text)


def test_a_task_that_always_fails_is_given_up(tmp_path, text, monkeypatch):
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    monkeypatch.setattr("alacarte.passes.plan.collect_share", lambda *_: 1 / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            work_on(made, 2)
    monkeypatch.undo()
    with pytest.raises(BadRun, match=r"task 2 failed: division by zero; when that is mended, call work\(.*, 2\)"):
        work(tmp_path / "run")
    assert work(tmp_path / "run", 2) == [2]


# ------------------------------------------------------------------------------------------------------------- leases


def test_leases(tmp_path, text):
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    first = _leases.claim(made, 1, "me", 60)
    assert first is not None
    assert _leases.claim(made, 1, "you", 60) is None
    assert work_on(made, 1, owner="you") == "taken"
    assert [task.status for task in _leases.survey(made, 60)] == ["running", "waiting"]
    os.utime(first.path, (0, 0))
    assert [task.status for task in _leases.survey(made, 60)] == ["lost", "waiting"]
    second = _leases.claim(made, 1, "you", 60)
    assert second is not None
    assert _leases.claim(made, 1, "me", 60) is None
    assert _leases.claim(made, 1, "you", 60) is not None  # who knows that its own worker is gone
    assert _leases.claim(made, 1, "", 60, force=True) is not None
    assert status(tmp_path / "run").seconds_left is None  # nothing is done yet
    work(tmp_path / "run", 2)
    left = status(tmp_path / "run")
    assert [task.status for task in left.tasks] == ["running", "done"]
    assert left.tasks[1].seconds > 0
    sizes = [task.size for task in left.tasks]
    assert left.seconds_left == pytest.approx(left.tasks[1].seconds * sizes[0] / sizes[1])


def test_one_of_many_gets_a_lease(tmp_path, text):
    import threading

    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=1, block_size=BLOCK)
    for expired in (False, True):
        if expired:
            for path in (tmp_path / "run" / "tasks").glob("*.lease-*"):
                os.utime(path, (0, 0))
        barrier, won = threading.Barrier(8), []

        def compete(number, barrier=barrier, won=won):
            barrier.wait()
            won.append(_leases.claim(made, 1, str(number), 60) is not None)

        threads = [threading.Thread(target=compete, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(won) == 1


def test_a_lease_is_renewed_while_the_worker_gets_on(tmp_path, text):
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=1, block_size=BLOCK)
    lease = _leases.claim(made, 1, "", 0.5)
    with lease.held():
        os.utime(lease.path, (0, 0))
        for _ in range(20):
            lease.progress()
            time.sleep(0.05)
        assert lease.path.stat().st_mtime > 0
        time.sleep(0.7)  # nothing is heard of it
        os.utime(lease.path, (0, 0))
        time.sleep(0.3)
        assert lease.path.stat().st_mtime == 0
        with lease.no_progress():
            time.sleep(0.3)
            assert lease.path.stat().st_mtime > 0
    assert not lease.path.exists()


# ------------------------------------------------------------------------------------------------------ real processes

WORKER = """
import sys
from alacarte.passes.plan import work
work(sys.argv[1], lease=float(sys.argv[2]), threads=1, checkpoint_seconds=0.0)
"""


def start_worker(run, lease):
    return subprocess.Popen([sys.executable, "-c", WORKER, str(run), str(lease)], stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals as POSIX has them")
def test_killed_and_hanging_workers(tmp_path, text):
    """Two workers that are killed with -9, one that hangs, and one that comes to the end."""
    import signal

    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=6, block_size=BLOCK, context_weights="sif")
    rng = random.Random(5)
    for how in (signal.SIGKILL, signal.SIGSTOP, signal.SIGKILL):
        worker = start_worker(tmp_path / "run", 2.0)
        before = status(tmp_path / "run").count("done")
        while worker.poll() is None and status(tmp_path / "run", lease=2.0).count("running") == 0:
            time.sleep(0.01)
        while worker.poll() is None and status(tmp_path / "run").count("done") < before + 2:
            time.sleep(0.01)
        time.sleep(rng.random() * 0.05)
        worker.send_signal(how)
        if how == signal.SIGSTOP:
            hanging = worker
        else:
            worker.wait()
    last = start_worker(tmp_path / "run", 2.0)
    try:
        assert last.wait(timeout=120) == 0, last.stderr.read()
    finally:
        hanging.send_signal(signal.SIGCONT)
    assert hanging.wait(timeout=60) == 0  # it woke up, and did no harm
    assert status(tmp_path / "run").complete
    expected = one_pass(tmp_path / "a", text, context_weights="sif")
    assert reduced(tmp_path / "run", tmp_path / "b") == expected
    assert made.tasks == 12
    assert ContextSums.load(tmp_path / "b").units == ContextSums.load(tmp_path / "a").units


def test_archives_have_the_same_units(tmp_path, text):
    """Members keep their names as they stand in the archive, with a dot in front or not."""
    import tarfile
    import zipfile

    content = "\n".join(shared.sample_text(3000, 5)).encode()
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("./0.txt", "b//1.txt"):
            facts = tarfile.TarInfo(name)
            facts.size = len(content)
            archive.addfile(facts, io.BytesIO(content))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for name in ("./0.txt", "../1.txt"):
            archive.writestr(name, content)
    for name in ("a.tar", "b.zip"):
        corpus = Corpus(tmp_path / name)
        expected = one_pass(tmp_path / "one", corpus)
        plan(shared.VECTORS, corpus, out=tmp_path / f"run-{name}", tasks=2, block_size=BLOCK)
        work(tmp_path / f"run-{name}")
        assert reduced(tmp_path / f"run-{name}", tmp_path / "sums") == expected
        units = collect(shared.VECTORS, corpus, block_size=BLOCK).units
        assert all(corpus.holds(unit.name) for unit in units)


def test_vectors_that_lie_in_the_folder_are_not_written_over(tmp_path, text):
    other = WordVectors(["x"], [[1.0]])
    other.save(tmp_path / "vectors.safetensors")
    with pytest.raises(BadRun, match="not written over"):
        plan(shared.VECTORS, text, out=tmp_path, tasks=2)
    assert WordVectors.load(tmp_path / "vectors.safetensors").fingerprint == other.fingerprint
    (tmp_path / "file").write_text("")
    with pytest.raises(BadRun, match="is a file"):
        plan(shared.VECTORS, text, out=tmp_path / "file", tasks=2)


def test_a_damaged_part_is_made_again_when_its_task_is_named(tmp_path, text):
    expected = one_pass(tmp_path / "one", text)
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3, block_size=BLOCK)
    work(tmp_path / "run")
    for damage in ("flip", "cut", "empty"):
        path = _leases.part_path(made, 2)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes({"flip": bytes(content), "cut": bytes(content[:-40]), "empty": b""}[damage])
        with pytest.raises(BadRun, match="do task 2 again"):
            reduce(tmp_path / "run", tmp_path / "sums")
        assert work(tmp_path / "run", 2) == [2]
        assert reduced(tmp_path / "run", tmp_path / "sums") == expected
    assert work(tmp_path / "run", 2) == []


def test_a_lease_of_the_future_does_not_hold(tmp_path, text):
    made = plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2, block_size=BLOCK)
    lease = made.folder / "tasks" / "00001.lease-0099"
    lease.write_text(json.dumps({"worker": "gone", "owner": ""}))
    os.utime(lease, (time.time() + 86400, time.time() + 86400))
    assert [state.status for state in status(tmp_path / "run").tasks] == ["lost", "waiting"]
    assert sorted(work(tmp_path / "run", lease=1.0)) == [1, 2]


def test_a_file_that_is_named_twice_is_refused_at_once(tmp_path, text):
    path = tmp_path / "text" / "0.txt"
    with pytest.raises(AlacarteError, match="is named 2 times"):
        plan(shared.VECTORS, Corpus([path, path]), out=tmp_path / "run", tasks=2)


def test_sums_of_every_word_equal_those_that_were_saved(tmp_path):
    vectors = WordVectors(["a", "b", "never", "x"], np.eye(4))
    sums, other = (collect(vectors, [text]) for text in ("a b a", "a b x"))
    sums.save(tmp_path / "sums")
    loaded = ContextSums.load(tmp_path / "sums")
    assert len(loaded) < len(sums)
    assert loaded == sums
    assert loaded != other


def test_a_url_with_a_secret_is_refused(tmp_path):
    import fsspec

    fsspec.filesystem("memory").pipe({"/odd?session=1.txt": b"a b x\n" * 100})
    plan(shared.VECTORS, "memory://odd?session=1.txt", out=tmp_path / "run", tasks=1)
    assert work(tmp_path / "run") == [1]
    location = Location("https://host/a.txt", 5, "1", None, "https://me:hunter2@host/a.txt")
    with pytest.raises(BadCorpus, match="holds a secret") as caught:
        whole_file(location)
    assert "hunter2" not in str(caught.value)
