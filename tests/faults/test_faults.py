"""What can go wrong on the way does, and nothing is lost: each fault is made here, and survived."""

import errno
import gzip
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from passes import budget, same

from alacarte import Corpus, Targets, WordVectors, collect
from alacarte._io.artifact import read_artifact
from alacarte.contexts import summing
from alacarte.errors import AlacarteError, AlacarteWarning, BadCheckpoint, BadCorpus, BadVectors
from alacarte.passes.checkpoint import Checkpoint
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.formats import streams

WORDS = ["a", "b", "c", "d", "e", "river", "bank", "."]
VECTORS = WordVectors(WORDS, np.random.default_rng(3).normal(size=(len(WORDS), 20)).astype(np.float32))
TARGETS = Targets(["bank", "river bank", "x"]) | Targets.glob("ri*")
BLOCK = 2000  # bytes


@pytest.fixture(autouse=True)
def _kernel_for_any_amount(monkeypatch):
    monkeypatch.setattr(Encoder, "SMALL", 0)
    monkeypatch.setattr(summing, "PRIVATE", 2 * 8 * 72)


def some_text(size, seed=1):
    rng = np.random.default_rng(seed)
    lines, length = [], 0
    while length < size:
        lines.append(" ".join(rng.choice([*WORDS, "x", "y"], int(rng.integers(1, 60)))))
        length += len(lines[-1]) + 1
    return "\n".join(lines)


@pytest.fixture
def files(tmp_path):
    """A plain file, a compressed one, a plain one."""
    (tmp_path / "1.txt").write_text(some_text(40_000, 1))
    (tmp_path / "2.txt.xz").write_bytes(lzma.compress(some_text(40_000, 2).encode()))
    (tmp_path / "3.txt").write_text(some_text(40_000, 3))
    return [tmp_path / "1.txt", tmp_path / "2.txt.xz", tmp_path / "3.txt"]


def stages_in(checkpoint):
    return read_artifact(checkpoint, "checkpoint").metadata["stages"]


def complete_stages(checkpoint):
    return sum(stage["complete"] for stage in stages_in(checkpoint).values())


def summed(corpus, **chosen):
    return collect(VECTORS, corpus, TARGETS, **{"block_size": BLOCK, "threads": 2, **chosen})


# ------------------------------------------------------------------------------------- the process is killed

# One process imports and compiles once, and forks a child for each run.
WORKER = """
import os, sys, time
from pathlib import Path
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/../support"]
import test_faults
folder = Path(sys.argv[2])
files = [folder / name for name in ("1.txt", "2.txt.xz", "3.txt")]
test_faults.Encoder.SMALL, test_faults.summing.PRIVATE = 0, 2 * 8 * 72
test_faults.summed(files)
for order in sys.stdin:
    threads, memory, checkpoint = order.rstrip("\\n").split(" ", 2)
    child = os.fork()
    if child == 0:
        def wait(state):
            os.write(1, b"block\\n")
            time.sleep(0.01)
        try:
            test_faults.summed(
                files, checkpoint=Path(checkpoint), checkpoint_seconds=0.01, threads=int(threads), callback=wait,
                memory=int(memory) or None,
            )
        finally:
            os._exit(0)
    os.write(1, f"child {child}\\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"ended\\n")
"""


class Workers:
    """Starts runs of the same work, one after another."""

    def __init__(self, folder):
        arguments = [sys.executable, "-c", WORKER, str(Path(__file__).parent), str(folder)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, checkpoint, threads, memory=None):
        """The process of a new run that has done at least one block."""
        print(threads, memory or 0, checkpoint, file=self.process.stdin, flush=True)
        child, begun = None, False
        while child is None or not begun:
            line = self.process.stdout.readline().split()
            assert line, "the worker died"
            begun = begun or line[0] == "block"
            child = int(line[1]) if line[0] == "child" else child
            if line[0] == "ended":
                return None
        return child

    def await_end(self):
        while self.process.stdout.readline() != "ended\n":
            pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.communicate()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")
@pytest.mark.parametrize("little_memory", [False, True])
def test_kill_9_at_random_moments(tmp_path, files, little_memory):
    """Killed, started again, killed again, and in the end the same bits as a run that nobody disturbed."""
    chance = random.Random(20)
    expected = summed(files, threads=1)
    kills = middles = 0
    with Workers(tmp_path) as workers:
        for run in range(5):
            checkpoint, threads = tmp_path / f"checkpoint {run}", 1 + run % 3
            memory = None
            if little_memory:  # four dimensions at a time, so five passes
                memory = budget(VECTORS, len(TARGETS), 12, BLOCK, threads)
            for _ in range(5):
                process = workers.start(checkpoint, threads, memory)
                if process is None:
                    break
                time.sleep(chance.uniform(0, 0.15))  # at any moment: in a sum, in a write, before a rename
                os.kill(process, signal.SIGKILL)
                workers.await_end()
                kills += 1
                if checkpoint.exists():
                    middles += complete_stages(checkpoint) < (5 if little_memory else 1)
            assert same(summed(files, checkpoint=checkpoint, memory=memory, threads=threads), expected)
    assert kills >= 20
    assert middles >= 15  # most of them really in the middle


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_processes_with_the_same_checkpoint(tmp_path, files):
    checkpoint = tmp_path / "checkpoint"
    with Workers(tmp_path) as workers:
        process = workers.start(checkpoint, threads=2)
        os.kill(process, signal.SIGSTOP)
        with pytest.raises(BadCheckpoint, match="another process is working with this checkpoint"):
            summed(files, checkpoint=checkpoint)
        os.kill(process, signal.SIGCONT)
        workers.await_end()
    assert complete_stages(checkpoint) == 1
    assert same(summed(files, checkpoint=checkpoint), summed(files))


def test_a_lock_belongs_to_one_at_a_time_and_leaves_no_file(tmp_path):
    """A lock's file that a dead process left is no lock; one that is held is."""
    (tmp_path / ".c.alacarte-lock").write_text("")
    with Checkpoint(tmp_path / "c", {}).held():
        with pytest.raises(BadCheckpoint, match="another process"), Checkpoint(tmp_path / "c", {}).held():
            pytest.fail("two at a time")
        assert (tmp_path / ".c.alacarte-lock").exists()  # the one that was refused did not take it away
    assert not (tmp_path / ".c.alacarte-lock").exists()
    with Checkpoint(tmp_path / "c", {}).held():
        pass
    assert not list(tmp_path.iterdir())


# ----------------------------------------------------------------------------------- the corpus goes away


def after_first_block(action):
    calls = []

    def callback(state):
        if not calls:
            action()
        calls.append(state)

    return callback


def shrink(path, size):
    with path.open("r+b") as file:
        file.truncate(size)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_that_shrinks(tmp_path, threads):
    path, checkpoint = tmp_path / "a.txt", tmp_path / "checkpoint"
    text = some_text(3_000_000).encode()
    path.write_bytes(text)
    with pytest.raises(BadCorpus, match=r"a\.txt cannot be read to its end .it shrank while it was read"):
        summed(path, threads=threads, checkpoint=checkpoint, callback=after_first_block(lambda: shrink(path, 1000)))
    with pytest.raises(BadCheckpoint, match=r"a\.txt, from .* on, it differs"):
        summed(path, checkpoint=checkpoint)
    path.write_bytes(text)  # restored: the work goes on
    assert same(summed(path, checkpoint=checkpoint), summed(path))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("change", ["append", "rewrite", "replace"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_changes(tmp_path, threads, change, packed):
    path, new = tmp_path / "a.txt", tmp_path / "new"
    text = some_text(3_000_000).encode()
    path.write_bytes(gzip.compress(text, 0) if packed else text)
    before = path.read_bytes()

    def happen():
        if change == "append":
            with path.open("ab") as file:
                file.write(gzip.compress(b"more\n") if packed else b"more\n")
        elif change == "rewrite":
            with path.open("r+b") as file:
                file.write(before)
        else:
            new.write_bytes(before)
            new.replace(path)

    with pytest.raises(BadCorpus, match=r"a\.txt was changed while it was read"):
        summed(path, threads=threads, callback=after_first_block(happen))


@pytest.mark.parametrize("name", ["v.vec", "v.vec.gz", "v.bin", "v.csv", "v.parquet", "v.arrow", "v.npy"])
def test_vectors_that_change(tmp_path, monkeypatch, name):
    path = tmp_path / name
    WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]]).save(path)
    assert len(WordVectors.load(path)) == 2
    read = streams.Source.read

    def read_and_change(self, size):
        data = read(self, size)
        os.utime(path)
        return data

    monkeypatch.setattr(streams.Source, "read", read_and_change)
    with pytest.raises(BadVectors, match="was changed while it was read"):
        WordVectors.load(path)


def test_a_compressed_file_that_shrinks(tmp_path):
    path, checkpoint = tmp_path / "a.txt.xz", tmp_path / "checkpoint"
    rng = np.random.default_rng(0)
    numbers = "\n".join(" ".join(map(str, row)) for row in rng.integers(0, 10**9, (12_000, 10)))  # hard to compress
    data = lzma.compress(numbers.encode(), preset=0)
    path.write_bytes(data)
    with pytest.raises(BadCorpus, match=r"a\.txt\.xz"):
        summed(path, checkpoint=checkpoint, callback=after_first_block(lambda: shrink(path, len(data) // 2)))
    path.write_bytes(data)
    assert same(summed(path, checkpoint=checkpoint), summed(path))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_that_disappears(tmp_path, files, threads):
    many = [*files, *(tmp_path / f"{number}.txt" for number in range(10, 40))]  # more than threads read ahead
    for path in many[3:]:
        path.write_bytes(files[0].read_bytes())
    last = many[-1].read_bytes()
    expected = summed(many)
    checkpoint = tmp_path / "checkpoint"
    with pytest.raises(BadCorpus, match=r"no such file: .*39\.txt"):
        summed(many, threads=threads, checkpoint=checkpoint, callback=after_first_block(many[-1].unlink))
    many[-1].write_bytes(last)
    assert same(summed(many, checkpoint=checkpoint), expected)


@pytest.mark.parametrize("kind", ["xz", "gz", "bz2"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_compressed_stream_that_is_cut_off(tmp_path, kind, threads):
    import bz2
    import gzip

    data = {"xz": lzma, "gz": gzip, "bz2": bz2}[kind].compress(some_text(200_000).encode())
    path, checkpoint = tmp_path / f"a.txt.{kind}", tmp_path / "checkpoint"
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(BadCorpus, match=rf"a\.txt\.{kind} cannot be read to its end.*copy or download it again"):
        summed(path, threads=threads, checkpoint=checkpoint)
    kept = checkpoint.exists()
    path.write_bytes(data)  # what was read of it is the same text, so the work goes on
    assert same(summed(path, checkpoint=checkpoint), summed(path))
    assert kept == (kind != "bz2")  # which gives its text in blocks of 900 kB


# ---------------------------------------------------------------------------------------------- odd text


def test_a_line_of_100_MB_is_cut(tmp_path):
    unit = ("a b c river bank x . " * 500).encode()
    count = 100_000_000 // len(unit)
    (tmp_path / "long.txt").write_bytes(unit * count)
    with pytest.warns(AlacarteWarning, match="longer than 16 MiB"):
        sums = collect(VECTORS, tmp_path / "long.txt", TARGETS, window=2)
    assert sums.documents == 6
    assert sums.tokens_read == count * 500 * 7
    assert sums.occurrences.tolist() == [count * 500, count * 500, count * 500, count * 500]


def test_a_line_of_16_MB(tmp_path):
    unit = ("a b c river bank x . " * 500).encode()
    count = 16_000_000 // len(unit)
    path = tmp_path / "long.txt"
    path.write_bytes(unit * count)
    sums = collect(VECTORS, path, TARGETS, window=2)
    assert sums.documents == 1
    assert sums.tokens_read == count * 500 * 7
    assert sums.occurrences.tolist() == [count * 500, count * 500, count * 500, count * 500]
    # bank sees "c river … x .", but for x without a vector: the sum of so many equal windows is as exact as one of them
    one = collect(VECTORS, ["c river bank x ."], TARGETS, window=2)
    np.testing.assert_array_equal(sums.all.sums[0], one.all.sums[0] * count * 500)
    expected = VECTORS[["c", "river", "."]].sum(axis=0, dtype=np.float64) * count * 500
    np.testing.assert_allclose(sums.vectors()[0], expected, rtol=1e-7)  # the quantum of one window, over its sum


def test_documents_of_one_token(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("bank\n" * 1000 + "x")
    for corpus in (path, ["bank"] * 1000 + ["x"], [["bank"]] * 1000 + [["x"]]):
        sums = summed(corpus)
        assert (sums.documents, sums.tokens_read) == (1001, 1001)
        assert sums.occurrences.tolist() == [1000, 0, 1, 0]
        assert not sums.contexts.any()
        assert not sums.all.sums.any()
        assert sums.seen.size == 0  # nothing to average is not a vector of zeros


@pytest.mark.parametrize("content", [b"", b" \n\t\n\r\n" * 5000, b"\xc2\xa0\n", b"\n", b"\xef\xbb\xbf"])
def test_a_file_of_only_white_space(tmp_path, content):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    for chosen in (
        {},
        {"checkpoint": tmp_path / "checkpoint"},
        {"memory": budget(VECTORS, len(TARGETS), 12, BLOCK, 2)},
    ):
        with pytest.raises(BadCorpus, match="holds no text; check the path"):
            summed(path, **chosen)
    (tmp_path / "b.txt").write_text("a bank")
    assert summed([path, tmp_path / "b.txt"]).tokens_read == 2


def test_NUL_bytes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a bank\x00 b\n\x00\x00\nriver\x00bank a\n\x00")
    sums = summed(path)
    assert same(summed(path, block_size=3), sums)
    texts = path.read_text().split("\n")
    assert same(collect(VECTORS, texts, TARGETS), sums)
    index, words = VECTORS.key_to_index, get_tokenizer("words")
    for text in texts:
        expected = [index.get(token, -1) for token in words(text, index)]
        assert Encoder(words, Lexicon(index)).encode([text]).ids.tolist() == expected
    assert sums.occurrences[0] >= 1


@pytest.mark.parametrize("threads", [1, 3])
def test_invalid_utf_8(tmp_path, threads):
    text = some_text(50_000).encode()
    place = text.index(b"bank", 30_000)
    path, checkpoint = tmp_path / "a.txt", tmp_path / "checkpoint"
    path.write_bytes(text[:place] + b"\xff" + text[place + 1 :])
    with pytest.raises(BadCorpus, match=rf'a\.txt: byte {place} \(0xff\) is not utf-8.*errors="replace"'):
        summed(path, threads=threads, checkpoint=checkpoint)
    assert checkpoint.exists()  # what came before it is kept
    replaced = summed(Corpus(path, errors="replace"), threads=threads)
    assert same(replaced, summed((text[:place].decode() + "\ufffd" + text[place + 1 :].decode()).split("\n")))
    path.write_bytes(text)
    assert same(summed(path, checkpoint=checkpoint), summed(path))


def test_a_vocabulary_of_one_word():
    one = WordVectors(["a"], np.ones((1, 1), dtype=np.float32))
    sums = collect(one, ["a b a", "b", "a"], threads=8, block_size=1)
    assert (sums.vectors().tolist(), sums.occurrences.tolist()) == ([[2.0]], [3])
    assert collect(one, ["a b a"], ["b"], memory="1GB").vectors().tolist() == [[2.0]]


def test_a_target_longer_than_any_document(tmp_path):
    long = ["a"] * 500
    corpus = ["a " * 499, "a b", "a"]
    for chosen in ({}, {"block_size": 1}, {"checkpoint": tmp_path / "checkpoint"}):
        sums = collect(VECTORS, corpus, Targets([long, "b"]), **chosen)
        assert sums.occurrences.tolist() == [0, 1]
    assert collect(VECTORS, ["a " * 501], Targets([long])).occurrences.tolist() == [2]


# ------------------------------------------------------------------------------------ nowhere to write to


def test_a_folder_that_cannot_be_written_to(tmp_path, files):
    (tmp_path / "file").write_text("")
    sums = summed(files)
    for folder in (tmp_path / "file", tmp_path / "missing"):  # root may write to read-only ones
        with pytest.raises(BadCheckpoint, match=r"no checkpoint can be written there .*choose another"):
            summed(files, checkpoint=folder / "checkpoint")
        with pytest.raises((OSError, AlacarteError), match="sums"):
            sums.save(folder / "sums")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path, files):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    with pytest.raises(BadCheckpoint, match=r"no checkpoint can be written there .*choose another"):
        summed(files, checkpoint=folder / "checkpoint")


@pytest.mark.parametrize("broken", ["fsync", "replace"])
@pytest.mark.parametrize("fails_at", [1, 3])
def test_a_full_disk(tmp_path, files, monkeypatch, broken, fails_at):
    """The checkpoint that was written before stays, and nothing half-written beside it."""
    checkpoint = tmp_path / "checkpoint"
    calls = []
    real = getattr(os, broken)

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) >= fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(os, broken, fail)
        with pytest.raises(BadCheckpoint, match=r"could not be written .No space left.*Make room and run the same"):
            summed(files, checkpoint=checkpoint, checkpoint_seconds=0)
    assert fails_at <= len(calls) <= fails_at + 1  # it tries once more, if there is more to read, before it gives up
    left = {path.name for path in tmp_path.iterdir()} - {path.name for path in files} - {".checkpoint.alacarte-lock"}
    assert left == ({"checkpoint"} if fails_at > 1 else set())
    if fails_at > 1:
        assert list(stages_in(checkpoint)) == ["reading"]
        assert read_artifact(checkpoint, "checkpoint").tensors["reading/unit_places"].size > 0
    assert same(summed(files, checkpoint=checkpoint), summed(files))


def test_a_system_that_gives_no_more_room_for_sums_that_do_not_fit_in_memory(files):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))  # bytes in a file
    try:
        with pytest.raises(AlacarteError, match=r"cannot be written .File too large.*make room there"):
            summed(files, memory=budget(VECTORS, len(TARGETS), 12, BLOCK, 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="elsewhere the space is not taken at once")
def test_a_full_disk_for_the_sums_beside_a_checkpoint(tmp_path, files, monkeypatch):
    """It is found out before any text is read, and the same command goes on when there is room."""
    work = {"checkpoint": tmp_path / "checkpoint", "memory": budget(VECTORS, len(TARGETS), 12, BLOCK, 2)}

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(tmp_path.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full)
        with pytest.raises(AlacarteError, match=r"No space left.*make room there"):
            summed(files, callback=lambda state: pytest.fail("text was read"), **work)
        assert sorted(tmp_path.iterdir()) == before
        with pytest.raises(AlacarteError, match=r"No space left.*make room there"):
            summed(files, context_weights="sif", **work)
    assert complete_stages(tmp_path / "checkpoint") == 1  # words that were counted need not be counted again
    assert same(summed(files, context_weights="sif", **work), summed(files, context_weights="sif"))
    (tmp_path / "checkpoint").unlink()
    assert same(summed(files, **work), summed(files))
