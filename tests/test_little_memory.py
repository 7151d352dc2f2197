"""Sums that do not fit in memory: the same bits, with and without a checkpoint; amounts of memory."""

import subprocess
import sys
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import (
    DIMENSION,
    EVERYTHING,
    NGRAMS,
    PATTERNS,
    SPANS,
    VECTORS,
    WORDS,
    Stop,
    annotated,
    lines,
    options,
    same,
    sample_text,
    stopping_after,
)

from alacarte import ContextSums, Document, Targets, collect
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus
from alacarte.passes.scan import memory_for_sums, parse_size, peak_memory

pytestmark = pytest.mark.usefixtures("much_text_and_many_targets")


def budget(targets, dimensions, block_size, threads, weighted=False):
    """A budget with room for the sums of so many dimensions."""
    others = (
        VECTORS.matrix.nbytes * (2 if weighted else 1) + (2 * threads + (3 if threads == 1 else 5)) * 30 * block_size
    )
    return others + 8 * targets * dimensions


@settings(max_examples=25)
@given(lines, options, st.sampled_from([1, 3, 16, 20, 40, 66]), st.integers(1, 3))
def test_little_memory_gives_the_same_bits(texts, chosen, dimensions, threads):
    targets = WORDS | NGRAMS | PATTERNS
    expected = collect(VECTORS, texts, targets, threads=1, **chosen)
    memory = budget(len(targets), dimensions, 100, threads, chosen["context_weights"] is not None)
    ours = collect(VECTORS, texts, targets, memory=memory, block_size=100, threads=threads, **chosen)
    assert isinstance(ours.sums, np.memmap)
    assert same(ours, expected)


def test_labels_that_turn_up_on_the_way_in_little_memory():
    documents = [Document(tokens=["a", "b", "c"], spans=((1, 2, f"label {n}"),)) for n in range(300)]
    targets = Targets(["b", *(f"word {n}" for n in range(99))]) | SPANS
    expected = collect(VECTORS, documents, targets, threads=1)
    ours = collect(VECTORS, documents, targets, memory=budget(100, 60, 100, 2), block_size=100, threads=2)
    assert len(ours) == 400
    assert same(ours, expected)


def test_labels_of_unknown_number_are_held_in_a_file_from_the_start(tmp_path):
    documents = annotated(sample_text(20_000), np.random.default_rng(5))
    expected = collect(VECTORS, documents, SPANS)
    for more in ({}, {"checkpoint": tmp_path / "checkpoint"}):
        ours = collect(VECTORS, documents, SPANS, memory="1GB", **more)
        assert isinstance(ours.sums, np.memmap)
        assert same(ours, expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            none = collect(VECTORS, ["a b"], SPANS, memory="1GB", checkpoint=None)
        assert none.sums.shape == (0, DIMENSION)


def test_the_usual_budget_changes_nothing():
    texts = sample_text(20_000)
    expected = collect(VECTORS, texts, NGRAMS)
    ours = collect(VECTORS, texts, NGRAMS, memory="1GB")
    assert not isinstance(ours.sums, np.memmap)
    assert same(ours, expected)


def test_sums_in_a_file_can_be_used_as_any_others(tmp_path):
    texts = sample_text(20_000)
    memory = budget(len(NGRAMS), 20, 1000, 1)
    ours = collect(VECTORS, texts, NGRAMS, memory=memory, block_size=1000, threads=1)
    whole = collect(VECTORS, texts, NGRAMS)
    ours.save(tmp_path / "sums")
    assert same(ContextSums.load(tmp_path / "sums"), whole)
    assert same(ours + ours, whole + whole)
    assert ours.means().tobytes() == whole.means().tobytes()


def test_too_little_memory_says_what_is_missing():
    with pytest.raises(AlacarteError, match="do not even hold the vectors and the text under way"):
        collect(VECTORS, ["a b"], memory=1000)
    many = Targets([f"t{n}" for n in range(1000)])
    with pytest.raises(AlacarteError, match="not even one dimension of the sums of 1,000 targets"):
        collect(VECTORS, ["a b"], many, memory=budget(900, 1, 100, 1), block_size=100, threads=1)


@settings(max_examples=40)
@given(
    lines,
    options,
    st.sampled_from([WORDS, NGRAMS, PATTERNS, EVERYTHING]),
    st.lists(st.integers(1, 9), max_size=6),
    st.integers(1, DIMENSION - 1),
    st.integers(0, 99),
)
def test_little_memory_interrupted_and_resumed(tmp_path_factory, texts, chosen, targets, stops, dimensions, seed):
    """In the middle of the text or between passes, taken up with another amount of memory and of threads."""
    documents = annotated(texts, np.random.default_rng(seed))
    path = tmp_path_factory.mktemp("checkpoints") / "checkpoint"
    expected = collect(VECTORS, documents, targets, threads=1, **chosen)
    rng = np.random.default_rng(seed)

    def memory(threads):
        weighted = chosen["context_weights"] is not None
        return budget(max(1, len(expected.keys)), int(rng.integers(1, dimensions + 1)), 100, threads, weighted)

    everything = {"checkpoint": path, "block_size": 100, **chosen}
    for stop in stops:
        threads = int(rng.integers(1, 4))
        with suppress(Stop):
            collect(
                VECTORS, documents, targets, memory=memory(threads), threads=threads, callback=stopping_after(stop),
                **everything,
            )  # fmt: skip
    for _ in range(2):  # the second finds it done
        ours = collect(VECTORS, documents, targets, memory=memory(2), threads=2, **everything)
        assert same(ours, expected)
        ours.sums[:] = 0  # the checkpoint's own are not touched
    assert sorted(file.name for file in path.parent.iterdir()) == ["checkpoint", "checkpoint.sums"]


def test_files_beside_a_checkpoint_that_are_gone(tmp_path):
    texts, path = sample_text(20_000), tmp_path / "checkpoint"
    work = {"checkpoint": path, "checkpoint_seconds": 0, "block_size": 1000, "threads": 1}
    small = budget(len(NGRAMS), 20, 1000, 1)
    with pytest.raises(Stop):
        collect(VECTORS, texts, NGRAMS, memory=small, callback=stopping_after(5), **work)
    ids = tmp_path / "checkpoint.ids"
    content = ids.read_bytes()
    ids.write_bytes(content[:100])
    with pytest.raises(BadCheckpoint, match=r"checkpoint\.ids is not whole.*restore it, or delete both"):
        collect(VECTORS, texts, NGRAMS, memory=small, **work)
    ids.write_bytes(content + b"cut off")
    expected = collect(VECTORS, texts, NGRAMS)
    assert same(collect(VECTORS, texts, NGRAMS, **work), expected)  # with all the memory there is
    (tmp_path / "checkpoint.sums").unlink()
    with pytest.raises(BadCheckpoint, match=r"checkpoint\.sums is not whole"):
        collect(VECTORS, texts, NGRAMS, **work)


@pytest.mark.parametrize("memory", [None, budget(len(NGRAMS), 20, 1000, 1)])
def test_nothing_is_left_of_a_pass_that_read_nothing(tmp_path, memory):
    work = {"checkpoint": tmp_path / "checkpoint", "block_size": 1000, "threads": 1, "memory": memory}
    with pytest.raises(BadCorpus, match="holds no text"):
        collect(VECTORS, [], NGRAMS, **work)
    with pytest.raises(ZeroDivisionError):
        collect(VECTORS, (1 / 0 for _ in range(3)), NGRAMS, **work)
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_begun_in_memory_wants_as_much_again(tmp_path):
    texts, path = sample_text(20_000), tmp_path / "checkpoint"
    work = {"checkpoint": path, "block_size": 1000, "threads": 1}
    with pytest.raises(Stop):
        collect(VECTORS, texts, NGRAMS, callback=stopping_after(5), **work)
    with pytest.raises(BadCheckpoint, match=r"begun with sums in memory.*give as much, or delete it"):
        collect(VECTORS, texts, NGRAMS, memory=budget(len(NGRAMS), 20, 1000, 1), **work)
    assert same(collect(VECTORS, texts, NGRAMS, **work), collect(VECTORS, texts, NGRAMS))


def test_memory_left_for_sums():
    rows = VECTORS.matrix
    assert memory_for_sums(None, rows, False, 2, 1 << 20) is None
    plain, weighted = (memory_for_sums("10GB", rows, weighted, 2, 1 << 20) for weighted in (False, True))
    assert plain - weighted == rows.nbytes
    assert memory_for_sums("10GB", rows, False, 8, 1 << 20) < plain < 10**10


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4 * 10**9), ("500M", 5 * 10**8), ("1.5g", 15 * 10**8), ("2TB", 2 * 10**12), (" 64 kb ", 64_000),
        ("1e9", 10**9), ("123", 123), ("4GiB", 4 * 10**9), (7, 7),
    ],
)  # fmt: skip
def test_amounts_of_memory(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "4 PB", "GB", "4GG", "nan", "inf", "-1", "0", 0, -5])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(AlacarteError, match="amount of memory; write it as 4GB"):
        parse_size(text)


def test_peak_memory_counts_what_was_held():
    before = peak_memory()
    if before is None:
        pytest.skip("this system does not tell")
    held = np.ones(before // 8 + 4_000_000)  # more than all that was held before
    assert peak_memory() >= before + 16_000_000
    assert held.nbytes > before


def test_peak_memory_is_of_this_process_and_not_of_the_one_that_started_it():
    if peak_memory() is None:
        pytest.skip("this system does not tell")
    held = np.ones(60_000_000)  # 480 MB, more than the child will ever hold
    code = "from alacarte.passes.memory import peak_memory; print(peak_memory())"
    child = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert 10_000_000 < child < held.nbytes
