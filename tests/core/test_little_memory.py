"""Sums that do not fit in memory: the same bits, with and without a checkpoint; amounts of memory."""

import weakref
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
    Stages,
    Stop,
    annotated,
    budget,
    lines,
    options,
    same,
    sample_text,
    stopping_after,
)

from alacarte import ContextSums, Corpus, Document, Targets, WordVectors, collect
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.summing import SumsTally, row_stride
from alacarte.contexts.weights import UNIFORM
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus
from alacarte.passes import collect as collecting
from alacarte.passes.checkpoint import delete_checkpoint
from alacarte.passes.memory import parse_size, room_for_sums

pytestmark = pytest.mark.usefixtures("much_text_and_many_targets")


def limit(rows, dimensions, threads=1, block_size=1000, targets=None):
    return budget(VECTORS, rows, dimensions, block_size, threads, targets)


@settings(max_examples=25)
@given(lines, options, st.sampled_from([12, 14, 28, 44, 60]), st.integers(1, 3))
def test_little_memory_gives_the_same_bits(texts, chosen, dimensions, threads):
    targets = WORDS | NGRAMS | PATTERNS
    expected = collect(VECTORS, texts, targets, threads=1, **chosen)
    memory = limit(len(targets), dimensions, threads, 100)
    with pytest.MonkeyPatch.context() as patched:
        stages = Stages(patched)
        ours = collect(VECTORS, texts, targets, memory=memory, block_size=100, threads=threads, **chosen)
    assert isinstance(ours.all.sums, np.memmap)
    assert same(ours, expected)
    lows = range(0, DIMENSION, dimensions)
    read = [name for name in stages.names if name != "counting words"]
    assert read == [f"dimensions {low + 1} to {min(DIMENSION, low + dimensions)} of {DIMENSION}" for low in lows]


def test_the_whole_vocabulary_in_little_memory():
    texts = sample_text(20_000)
    ours = collect(VECTORS, texts, memory=limit(len(VECTORS), 12, 2, targets=0), block_size=1000, threads=2)
    assert isinstance(ours.all.sums, np.memmap)
    assert ours == collect(VECTORS, texts)


def test_text_that_can_be_read_only_once_in_little_memory():
    texts = annotated(sample_text(20_000), np.random.default_rng(0))
    expected = collect(VECTORS, texts, EVERYTHING)
    ours = collect(VECTORS, iter(texts), EVERYTHING, memory=limit(len(expected), 28, 2), block_size=1000, threads=2)
    assert ours == expected


def test_labels_that_turn_up_on_the_way_in_little_memory():
    documents = [Document(tokens=["a", "b", "c"], spans=((1, 2, f"label {n}"),)) for n in range(300)]
    targets = Targets(["b", *(f"word {n}" for n in range(99))]) | SPANS
    expected = collect(VECTORS, documents, targets, threads=1)
    ours = collect(VECTORS, documents, targets, memory=limit(400, 60, 2, 100), block_size=100, threads=2)
    assert len(ours) == 400
    assert same(ours, expected)


def test_labels_of_unknown_number_are_found_first(tmp_path, monkeypatch):
    documents = annotated(sample_text(20_000), np.random.default_rng(5))
    expected = collect(VECTORS, documents, SPANS)
    for more in ({}, {"checkpoint": tmp_path / "checkpoint"}):
        stages = Stages(monkeypatch)
        ours = collect(VECTORS, documents, SPANS, memory="1GB", **more)
        assert stages.names == ["finding labels", "reading"]
        assert same(ours, expected)
    none = collect(VECTORS, ["a b"], SPANS, memory="1GB", checkpoint=None)
    assert none.all.sums.shape == (0, DIMENSION)


def test_the_usual_budget_changes_nothing():
    texts = sample_text(20_000)
    expected = collect(VECTORS, texts, NGRAMS)
    ours = collect(VECTORS, texts, NGRAMS, memory="1GB")
    assert not isinstance(ours.all.sums, np.memmap)
    assert same(ours, expected)


def test_sums_in_a_file_can_be_used_as_any_others(tmp_path):
    texts = sample_text(20_000)
    ours = collect(VECTORS, texts, NGRAMS, memory=limit(len(NGRAMS), 28), block_size=1000, threads=1)
    whole = collect(VECTORS, texts, NGRAMS)
    assert isinstance(ours.all.sums, np.memmap)
    ours.save(tmp_path / "sums")
    assert same(ContextSums.load(tmp_path / "sums"), whole)
    assert same(ours + ours, whole + whole)
    assert (ours + whole) - ours == whole
    assert ours.means().tobytes() == whole.means().tobytes()


def test_too_little_memory_says_what_is_missing():
    with pytest.raises(AlacarteError, match="do not even hold the program, the vectors and the text under way"):
        collect(VECTORS, ["a b"], memory=1000)
    many = Targets([f"t{n}" for n in range(1000)])
    enough = limit(1000, 12, 1, 100)
    with pytest.raises(AlacarteError, match="not even a few dimensions of the sums of 1,000 targets"):
        collect(VECTORS, ["a b"], many, memory=enough - 1, block_size=100, threads=1)
    assert collect(VECTORS, ["a b"], many, memory=enough, block_size=100, threads=1).tokens_read == 2


@settings(max_examples=40)
@given(
    lines,
    options,
    st.sampled_from([WORDS, NGRAMS, PATTERNS, EVERYTHING]),
    st.lists(st.integers(1, 9), max_size=6),
    st.integers(0, 7),
    st.integers(0, 99),
)
def test_little_memory_interrupted_and_resumed(tmp_path_factory, texts, chosen, targets, stops, dimensions, seed):
    """In the middle of the text or between passes, taken up with another amount of memory and of threads."""
    documents = annotated(texts, np.random.default_rng(seed))
    path = tmp_path_factory.mktemp("checkpoints") / "checkpoint"
    expected = collect(VECTORS, documents, targets, threads=1, **chosen)
    rng = np.random.default_rng(seed)

    def memory(threads):
        return limit(max(1, len(expected.keys)), 12 + 16 * int(rng.integers(0, min(dimensions, 3) + 1)), threads, 100)

    everything = {"checkpoint": path, "block_size": 100, **chosen}
    for stop in stops:
        threads = int(rng.integers(1, 4))
        with suppress(Stop):
            collect(
                VECTORS,
                documents,
                targets,
                memory=memory(threads),
                threads=threads,
                callback=stopping_after(stop),
                **everything,
            )
    for _ in range(2):  # the second finds it done
        ours = collect(VECTORS, documents, targets, memory=memory(2), threads=2, **everything)
        assert same(ours, expected)
        ours.all.sums[:] = 0  # the checkpoint's own are not touched
    assert len(list(path.parent.glob(".checkpoint.*.rows"))) == 1
    assert len(list(path.parent.iterdir())) == 2


def test_interrupted_in_each_slice(tmp_path, monkeypatch):
    texts, path = sample_text(20_000), tmp_path / "checkpoint"
    expected = collect(VECTORS, texts, NGRAMS)
    work = {"checkpoint": path, "block_size": 1000, "threads": 1, "memory": limit(len(NGRAMS), 28)}
    half = sum(1 for _ in Corpus(texts).blocks(1000)) // 2
    assert half > 5
    stages = Stages(monkeypatch)
    for number, last in enumerate([28, 56, 67]):
        stages.names.clear()
        calls = []

        def stop_in_the_slice(state, calls=calls, number=number):
            calls.append(stages.names[-1])
            if len(stages.names) == min(number, 1) + 1 and calls.count(stages.names[-1]) == half:
                raise Stop

        with pytest.raises(Stop):
            collect(VECTORS, texts, NGRAMS, callback=stop_in_the_slice, **work)
        # The slice that was stopped before is brought to its end; those before it are not done again.
        assert stages.names[-1] == f"dimensions {28 * number + 1} to {last} of 67"
        assert len(stages.names) == min(number, 1) + 1
    assert same(collect(VECTORS, texts, NGRAMS, **work), expected)


def test_the_file_beside_a_checkpoint(tmp_path):
    """It is needed, it is checked, and it is deleted with the checkpoint."""
    texts, path = sample_text(20_000), tmp_path / "checkpoint"
    work = {"checkpoint": path, "checkpoint_seconds": 0, "block_size": 1000, "threads": 1}
    small = limit(len(NGRAMS), 28)
    expected = collect(VECTORS, texts, NGRAMS)
    with pytest.raises(Stop):
        collect(VECTORS, texts, NGRAMS, memory=small, callback=stopping_after(40), **work)
    (rows,) = tmp_path.glob(".checkpoint.*.rows")
    content = rows.read_bytes()
    for broken in (content[:100], None):
        rows.unlink()
        if broken is not None:
            rows.write_bytes(broken)
        with pytest.raises(BadCheckpoint, match=r"\.checkpoint\..*\.rows is not whole.*restore it, or delete both"):
            collect(VECTORS, texts, NGRAMS, memory=small, **work)
        rows.write_bytes(content)
    assert same(collect(VECTORS, texts, NGRAMS, **work), expected)  # with all the memory there is
    assert same(collect(VECTORS, texts, NGRAMS, memory=small, **work), expected)
    delete_checkpoint(path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("memory", [None, limit(len(NGRAMS), 28)])
def test_nothing_is_left_of_a_pass_that_read_nothing(tmp_path, memory):
    work = {"checkpoint": tmp_path / "checkpoint", "block_size": 1000, "threads": 1, "memory": memory}
    with pytest.raises(BadCorpus, match="holds no text"):
        collect(VECTORS, [], NGRAMS, **work)
    with pytest.raises(ZeroDivisionError):
        collect(VECTORS, (1 / 0 for _ in range(3)), NGRAMS, **work)
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_begun_in_memory_goes_on_with_less_and_the_other_way_round(tmp_path):
    texts = sample_text(20_000)
    small, expected = limit(len(NGRAMS), 28), collect(VECTORS, texts, NGRAMS)
    for name, first, second in (("a", None, small), ("b", small, None)):
        work = {"checkpoint": tmp_path / name, "block_size": 1000, "threads": 1}
        with pytest.raises(Stop):
            collect(VECTORS, texts, NGRAMS, memory=first, callback=stopping_after(5), **work)
        assert same(collect(VECTORS, texts, NGRAMS, memory=second, **work), expected)


def test_sums_of_a_slice_are_freed_before_the_next_one_is_made(monkeypatch):
    """They were held until it was done."""
    alive = []

    class Watched(SumsTally):
        def __init__(self, *arguments):
            assert not any(memory() is not None for memory in alive)
            super().__init__(*arguments)
            alive.append(weakref.ref(self.rows.base))

    monkeypatch.setattr(collecting, "SumsTally", Watched)
    collect(VECTORS, sample_text(20_000), NGRAMS, memory=limit(len(NGRAMS), 28), block_size=1000, threads=1)
    assert len(alive) == 3


def test_names_of_targets_are_not_written_to_a_checkpoint_again(tmp_path):
    """They were held twice: seven million n-grams took 1.2 GB more than the limit."""
    targets = Targets([f"a {'b' * 1000} {n}" for n in range(100)])
    collect(VECTORS, ["a b c"], targets, checkpoint=tmp_path / "checkpoint")
    assert (tmp_path / "checkpoint").stat().st_size < 100 * 1000 + 8 * 100 * row_stride(DIMENSION)


def test_some_dimensions_of_integers_are_those_of_all_and_hold_no_copy_of_the_vectors():
    whole = IntegerVectors.of(VECTORS, UNIFORM, Reading())
    part = whole.slice(10, 60).slice(5, 25)
    ids = np.arange(len(VECTORS), dtype=np.int32)
    whole.fill(ids)
    part.fill(ids)
    assert part.matrix is whole.matrix
    assert np.array_equal(part.rows[:, :20], whole.rows[:, 15:35])
    assert np.array_equal(part.rows[:, 20:22], whole.rows[:, DIMENSION : DIMENSION + 2])


@pytest.mark.parametrize("spread", [None, 3])
def test_split_dimensions_in_slices_interrupted_and_in_parts(tmp_path, spread):
    """Vectors of which some dimensions have two columns of sums: the same bits on every way."""
    matrix = VECTORS.matrix.copy()
    matrix[3, ::3] *= 1e5
    vectors, texts = WordVectors(VECTORS.words, matrix), sample_text(20_000)
    for targets in (None, NGRAMS):
        expected = collect(vectors, texts, targets, spread=spread, threads=1)
        assert np.array_equal(np.flatnonzero(expected.scale.sums > expected.scale.rows), np.arange(0, DIMENSION, 3))
        halves = [collect(vectors, texts, targets, spread=spread, shard=(i, 2), block_size=1000) for i in (1, 2)]
        assert same(halves[1] + halves[0], expected)
        rows, path = len(expected) * (spread or 1), tmp_path / f"checkpoint of {targets}"
        memory = limit(rows, 44, 2, targets=0 if targets is None else len(targets)) + 4 * 64 * len(VECTORS)
        work = {"spread": spread, "memory": memory, "block_size": 1000, "threads": 2, "checkpoint": path}
        with pytest.raises(Stop):
            collect(vectors, texts, targets, callback=stopping_after(8), checkpoint_seconds=0, **work)
        ours = collect(vectors, texts, targets, **work)
        assert isinstance((ours.groups or ours.all).sums, np.memmap)
        assert same(ours, expected)


def test_memory_left_for_sums():
    assert room_for_sums("10GB", 10**9) == 9 * 10**9
    with pytest.raises(AlacarteError, match=r"1\.00 GB of memory do not even hold .*1\.00 GB.*give more"):
        room_for_sums("1GB", 10**9)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4 * 10**9), ("500M", 5 * 10**8), ("1.5g", 15 * 10**8), ("2TB", 2 * 10**12), (" 64 kb ", 64_000),
        ("1e9", 10**9), ("123", 123), ("4GiB", 4 << 30), ("1.5 MiB", 3 << 19), ("2Ti", 2 << 40), ("3B", 3), (7, 7),
    ],
)  # fmt: skip
def test_amounts_of_memory(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "4 PB", "GB", "4GG", "4iB", "nan", "inf", "-1", "0", 0, -5])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(AlacarteError, match="amount of memory; write it as 4GB"):
        parse_size(text)


def test_pages_are_given_back_of_files_only(tmp_path):
    from alacarte._io.tensors import forget_pages
    from alacarte.contexts.integers import aligned_zeros

    in_file = np.memmap(tmp_path / "rows", dtype=np.int64, mode="w+", shape=(4096, 64))
    in_memory = [aligned_zeros(4096, 64, np.int64, few) for few in (False, True)]
    for array in (in_file, *in_memory):
        array[:] = np.arange(array.size).reshape(array.shape)
        forget_pages(array)
        forget_pages(array[100:2000])
        forget_pages(array[:, 7])
        assert (array.reshape(-1) == np.arange(array.size)).all()
