"""The pass over a corpus: the same bits however it is cut, interrupted or shared out."""

import lzma
import threading
import zipfile
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import (
    EVERYTHING,
    NGRAMS,
    OTHER_VECTORS,
    PATTERNS,
    SPANS,
    VECTORS,
    WORDS,
    Stop,
    annotated,
    block_sizes,
    interrupted,
    lines,
    options,
    same,
    sample_text,
    stopping_after,
)

from alacarte import ContextSums, Corpus, Document, Targets, collect
from alacarte._io.artifact import read_artifact
from alacarte.contexts import _windows_kernel, summing
from alacarte.contexts.merging import merge
from alacarte.contexts.weights import resolve, save_counts
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus, BadSums, BadTargets
from alacarte.passes.collect import count_words
from alacarte.passes.pipeline import in_order
from alacarte.text import corpus as corpora
from alacarte.text import lines as lines_of_text
from alacarte.text.encoding import Encoder
from alacarte.text.segments import Block, read_segment
from alacarte.text.units import unit_of, unpack_units

pytestmark = pytest.mark.usefixtures("much_text_and_many_targets")


# ------------------------------------------------------------------------------------- threads and blocks


@settings(max_examples=60)
@given(lines, options, st.sampled_from([None, WORDS, NGRAMS, PATTERNS, EVERYTHING]), block_sizes, block_sizes)
def test_any_threads_and_blocks_give_the_same_bits(texts, chosen, targets, size, other_size):
    expected = collect(VECTORS, texts, targets, threads=1, **chosen)
    for threads, block_size in ((1, size), (2, size), (8, other_size)):
        assert same(collect(VECTORS, texts, targets, threads=threads, block_size=block_size, **chosen), expected)


@settings(max_examples=40)
@given(lines, options, st.sampled_from([SPANS, SPANS | PATTERNS, EVERYTHING]), block_sizes, st.integers(0, 99))
def test_spans_in_any_threads_and_blocks(texts, chosen, targets, block_size, seed):
    documents = annotated(texts, np.random.default_rng(seed))
    expected = collect(VECTORS, documents, targets, threads=1, **chosen)
    for threads in (1, 2, 8):
        ours = collect(VECTORS, documents, targets, threads=threads, block_size=block_size, **chosen)
        assert same(ours, expected)


def test_what_many_threads_read_together_is_the_same_text(tmp_path, monkeypatch):
    """Blocks of a file are encoded together; those of members of an archive, whose last line has no end, are not."""
    text = "\n".join(sample_text(200_000))
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        for number in range(30):
            archive.writestr(f"{number:02}.txt", f"a b c {number} w1")
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    files, taken = [tmp_path / "a.txt", tmp_path / "texts.zip"], []
    expected = collect(VECTORS, files, WORDS, threads=1, block_size=3000)
    encode = Encoder._encode_lines
    monkeypatch.setattr(
        Encoder, "_encode_lines", lambda self, block: taken.append(len(block.text)) or encode(self, block)
    )
    ours = collect(VECTORS, files, WORDS, threads=8, block_size=3000)
    assert same(ours, expected)
    assert ours.units == expected.units
    assert max(taken) > 9000
    assert ours.documents == expected.documents
    data = text.encode()
    (tmp_path / "a.txt").write_bytes(data[:150_000] + b"\n\xff" + data[150_000:])
    with pytest.raises(BadCorpus, match="byte 150001"):
        collect(VECTORS, tmp_path / "a.txt", WORDS, threads=8, block_size=3000)


@pytest.mark.parametrize("averaging", ["occurrence", "token", "context"])
@pytest.mark.parametrize("targets", [None, WORDS, NGRAMS, PATTERNS], ids=["all", "words", "n-grams", "patterns"])
def test_a_megabyte_in_any_threads_and_blocks(tmp_path, targets, averaging):
    texts = sample_text(1_000_000)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress("\n".join(texts).encode(), preset=0))
    expected = collect(VECTORS, texts, targets, averaging=averaging, threads=1)
    assert expected.tokens_read > 200_000
    for threads, block_size, corpus in (
        (1, 1 << 20, tmp_path / "a.txt"),
        (2, 70_001, tmp_path / "a.txt"),
        (8, 9_000, tmp_path / "b.txt.xz"),
        (2, 50_000, texts),
    ):
        ours = collect(VECTORS, corpus, targets, averaging=averaging, threads=threads, block_size=block_size)
        assert same(ours, expected)


def test_spans_of_a_larger_corpus():
    documents = annotated(sample_text(200_000), np.random.default_rng(5))
    expected = collect(VECTORS, documents, EVERYTHING, threads=1)
    assert "first" in expected.keys
    for threads, block_size in ((1, 1000), (2, 10_000), (8, 3000)):
        assert same(collect(VECTORS, documents, EVERYTHING, threads=threads, block_size=block_size), expected)


def test_text_that_is_not_a_file_nor_named_tokenizer():
    """A callable and token lists take the ordinary path, and get the same treatment."""
    texts = sample_text(50_000)
    expected = collect(VECTORS, texts, NGRAMS, tokenizer=str.split, threads=1)
    tokens = [text.split() for text in texts]
    for threads in (2, 8):
        ours = collect(VECTORS, texts, NGRAMS, tokenizer=str.split, threads=threads, block_size=2000)
        assert same(ours, expected)
        listed = collect(VECTORS, tokens, NGRAMS, tokenizer=str.split, threads=threads, block_size=2000)
        np.testing.assert_array_equal(listed.all.sums, expected.all.sums)


@pytest.mark.parametrize("hot", [0, 1, 5, 4096])
def test_rows_of_a_threads_own_change_nothing(tmp_path, monkeypatch, hot):
    """However many targets are summed apart from the others, also over a checkpoint and while labels come."""
    documents = annotated(sample_text(50_000), np.random.default_rng(2))
    expected = collect(VECTORS, documents, EVERYTHING, threads=1)
    monkeypatch.setattr(summing, "PRIVATE", hot * 8 * 72)
    assert same(collect(VECTORS, documents, EVERYTHING, threads=3, block_size=2000), expected)
    work = {"checkpoint": tmp_path / "checkpoint", "checkpoint_seconds": 0}
    with pytest.raises(Stop):
        collect(VECTORS, documents, EVERYTHING, threads=2, block_size=2000, callback=stopping_after(9), **work)
    monkeypatch.setattr(summing, "PRIVATE", 2 * 8 * 72)
    assert same(collect(VECTORS, documents, EVERYTHING, threads=5, block_size=2000, **work), expected)


@pytest.mark.parametrize("seconds", [0, 1e9], ids=["other checkpoints", "no other checkpoint"])
def test_a_thread_that_fails_stops_the_pass_and_spoils_no_checkpoint(tmp_path, monkeypatch, seconds):
    files, path = [tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "checkpoint"
    for seed, file in enumerate(files):
        file.write_text("\n".join(sample_text(50_000, seed)), encoding="utf-8")
    work = {"checkpoint": path, "checkpoint_seconds": seconds, "block_size": 2000}
    whole = collect(VECTORS, files, threads=1, block_size=2000)
    first = collect(VECTORS, files[:1], threads=1, **work).units
    kept = path.read_bytes()
    add, calls = _windows_kernel.add_vocabulary, count(1)
    failing, has_failed = [], threading.Event()

    def fails(*arguments):
        number = next(calls)
        if number > 12:  # the other thread goes on when the failing one has come to its end
            assert has_failed.wait(60)
            failing[0].join()
        add(*arguments)
        if number == 12:  # what is added and not recorded must be in no checkpoint
            failing.append(threading.current_thread())
            has_failed.set()
            raise MemoryError("no room")

    monkeypatch.setattr(_windows_kernel, "add_vocabulary", fails)
    with pytest.raises(MemoryError, match="no room"):
        collect(VECTORS, files, threads=2, **work)
    monkeypatch.undo()
    assert next(calls) <= 14  # the other thread added one more block at most
    left = read_artifact(path, "checkpoint", BadCheckpoint, 1).tensors
    held = unpack_units({name.removeprefix("reading/"): left[name] for name in left if "unit" in name})
    assert first <= held
    assert len(held) <= len(first) + 11 < len(whole.units)
    assert seconds == 0 or path.read_bytes() == kept
    assert same(collect(VECTORS, files, threads=2, **work), whole)


def test_threads_must_be_some():
    with pytest.raises(AlacarteError, match="whole number from 1 on"):
        collect(VECTORS, ["a b"], threads=-1)


# ------------------------------------------------------------------------------------------------ pipeline


def test_errors_come_out_where_the_items_are_wanted():
    def items():
        yield 1
        raise BadCorpus("cut off")

    with pytest.raises(BadCorpus, match="cut off"):
        list(in_order(lambda item: item, items(), 2))
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 // item, [1, 0], 2))


def test_no_thread_is_left_behind(tmp_path):
    texts = sample_text(100_000)
    before = threading.active_count()
    caught = []
    for checkpoint in (None, tmp_path / "checkpoint"):
        with pytest.raises(Stop) as error:
            collect(VECTORS, texts, threads=3, block_size=1000, checkpoint=checkpoint, callback=stopping_after(3))
        caught.append(error)  # with its traceback and the frames in it, as an interactive session keeps it
    assert threading.active_count() == before


# --------------------------------------------------------------------------------------------- checkpoints


@settings(max_examples=40)
@given(
    lines,
    options,
    st.sampled_from([None, WORDS, NGRAMS, PATTERNS, EVERYTHING]),
    st.integers(1, 200),
    st.lists(st.integers(1, 9), max_size=6),
    st.integers(0, 99),
)
def test_interrupted_and_resumed_is_uninterrupted(tmp_path_factory, texts, chosen, targets, block_size, stops, seed):
    documents = annotated(texts, np.random.default_rng(seed))
    folder = tmp_path_factory.mktemp("checkpoints")
    expected = collect(VECTORS, documents, targets, threads=1, **chosen)
    threads = 1 + seed % 3
    for stop in stops:
        interrupted(
            folder / "c", VECTORS, documents, targets, after=stop, threads=threads, block_size=block_size, **chosen
        )
    ours = collect(
        VECTORS, documents, targets, checkpoint=folder / "c", threads=1 + seed % 2, block_size=block_size, **chosen
    )
    assert same(ours, expected)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stop])
@pytest.mark.parametrize("threads", [1, 2])
def test_interrupted_at_every_block_of_several_files(tmp_path, threads, error):
    texts = sample_text(60_000)
    third = len(texts) // 3
    (tmp_path / "1.txt").write_text("\n".join(texts[:third]), encoding="utf-8")
    (tmp_path / "2.txt.xz").write_bytes(lzma.compress("\n".join(texts[third : 2 * third]).encode()))
    (tmp_path / "3.txt").write_text("\n".join(texts[2 * third :]), encoding="utf-8")
    corpus = [tmp_path / name for name in ("1.txt", "2.txt.xz", "3.txt")]
    expected = collect(VECTORS, corpus, PATTERNS | WORDS, threads=1)
    chosen = {"threads": threads, "block_size": 6000}
    after = 0
    while True:
        after += 1
        path = tmp_path / f"checkpoint {after}"
        if not interrupted(path, VECTORS, corpus, PATTERNS | WORDS, after=after, error=error, **chosen):
            break
        assert same(collect(VECTORS, corpus, PATTERNS | WORDS, checkpoint=path, **chosen), expected)
    assert after >= 10


def test_labels_that_turn_up_on_the_way(tmp_path):
    documents = [Document(tokens=["a", "b", "c"], spans=((1, 2, f"label {n}"),)) for n in range(60)]
    expected = collect(VECTORS, documents, Targets.spans(), threads=1)
    assert len(expected) == 60
    for after in (1, 7, 30):
        path = tmp_path / f"checkpoint {after}"
        assert interrupted(path, VECTORS, documents, Targets.spans(), after=after, threads=2, block_size=100)
        ours = collect(VECTORS, documents, Targets.spans(), threads=2, block_size=100, checkpoint=path)
        assert same(ours, expected)
        assert len(ours.targets) == 60


def test_a_resumed_run_reads_what_was_read_but_does_not_encode_it_again(tmp_path, monkeypatch):
    texts = sample_text(60_000)
    path = tmp_path / "checkpoint"
    assert interrupted(path, VECTORS, texts, after=8, threads=1, block_size=3000)
    encoded = []
    encode = Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda self, block: encoded.append(block.position) or encode(self, block))
    collect(VECTORS, texts, checkpoint=path, threads=1, block_size=3000)
    blocks = [block.position for block in Corpus(texts).blocks(3000)]
    assert encoded == blocks[len(blocks) - len(encoded) :]
    assert len(encoded) <= len(blocks) - 8


def test_checkpoints_are_written_every_so_often(tmp_path, monkeypatch):
    """Without any chance to write at the end: the process is gone."""
    texts = sample_text(60_000)
    path = tmp_path / "checkpoint"
    seen = []
    collect(
        VECTORS, texts, threads=1, block_size=3000, checkpoint=path, checkpoint_seconds=0,
        callback=lambda state: seen.append(path.exists()),
    )  # fmt: skip
    assert all(seen[1:])
    assert len(seen) > 10
    late = tmp_path / "late"
    seen.clear()
    collect(
        VECTORS, texts, threads=1, block_size=3000, checkpoint=late, checkpoint_seconds=1e9,
        callback=lambda state: seen.append(late.exists()),
    )  # fmt: skip
    assert not any(seen)
    assert late.exists()


def test_a_finished_checkpoint_returns_at_once(tmp_path, monkeypatch):
    texts = sample_text(20_000)
    path = tmp_path / "checkpoint"
    targets = EVERYTHING
    expected = collect(VECTORS, texts, targets, checkpoint=path, block_size=3000)
    encode = Encoder.encode

    def targets_only(self, documents):
        return pytest.fail("it was read again") if isinstance(documents, Block) else encode(self, documents)

    monkeypatch.setattr(Encoder, "encode", targets_only)
    assert same(collect(VECTORS, texts, targets, checkpoint=path, block_size=3000), expected)
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]  # no lock, no rest of a write


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"vectors": OTHER_VECTORS}, "vectors"),
        ({"targets": Targets(["a", "bank"])}, "targets"),
        ({"targets": None}, "targets"),
        ({"targets": Targets([["a"], "bank", "x"])}, "targets"),
        ({"window": 3}, "settings"),
        ({"averaging": "token"}, "settings"),
        ({"positions": "linear"}, "settings"),
        ({"unknown": "drop"}, "settings"),
        ({"context_weights": {"a": 0.5}}, "context weights"),
        ({"context_weights": ["a"]}, "context weights"),
        ({"spread": 4}, "spread"),
        ({"tokenizer": "whitespace"}, "settings"),
        ({"shard": (1, 2)}, "shard"),
        ({"block_size": 4000}, "block size"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_a_checkpoint_of_other_work_is_refused(tmp_path, change, named, finished):
    text = "\n".join(sample_text(20_000))
    (tmp_path / "one.txt").write_text(text, encoding="utf-8")
    usual = {"vectors": VECTORS, "corpus": tmp_path / "one.txt", "targets": WORDS, "window": 5, "block_size": 3000}
    path = tmp_path / "checkpoint"
    if finished:
        collect(**usual, checkpoint=path)
    else:
        assert interrupted(path, *(usual.pop(name) for name in ("vectors", "corpus", "targets")), after=2, **usual)
        usual |= {"vectors": VECTORS, "corpus": tmp_path / "one.txt", "targets": WORDS}
    before = path.read_bytes()
    with pytest.raises(BadCheckpoint, match=f"other work: {named} was .* and is .*choose another --checkpoint"):
        collect(**{**usual, **change}, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["file", "list", "tokens", "spans"])
def test_changed_text_of_the_same_size_is_refused(tmp_path, kind):
    texts = ["a b c"] * 500
    changed = ["a b d", *texts[1:]]

    def corpus(texts):
        if kind == "file":
            (tmp_path / "a.txt").write_text("\n".join(texts))
            return tmp_path / "a.txt"
        if kind == "spans":
            return [Document(text, spans=((0, 1, text[-1]),)) for text in texts]
        return texts if kind == "list" else [text.split() for text in texts]

    path = tmp_path / "checkpoint"
    assert interrupted(path, VECTORS, corpus(texts), after=3, threads=2, block_size=200)
    with pytest.raises(BadCheckpoint, match="the text is not the one"):
        collect(VECTORS, corpus(changed), checkpoint=path, block_size=200)
    restored = collect(VECTORS, corpus(texts), checkpoint=path, block_size=200)
    assert same(restored, collect(VECTORS, corpus(texts)))


def test_a_corpus_shorter_than_the_checkpoint_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    assert interrupted(path, VECTORS, iter(["a b c"] * 50), after=8, threads=1, block_size=200)
    with pytest.raises(BadCheckpoint, match="the text is not the one"):
        collect(VECTORS, iter(["a b c"] * 4), checkpoint=path, block_size=200)


@pytest.mark.parametrize("content", [b"", b"some text", b"\x00" * 100])
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(BadCheckpoint, match=r"checkpoint"):
        collect(VECTORS, ["a b"], checkpoint=path)
    assert path.read_bytes() == content


def test_sums_are_no_checkpoint(tmp_path):
    path = tmp_path / "sums"
    collect(VECTORS, ["a b"]).save(path)
    with pytest.raises(BadCheckpoint, match="not a checkpoint but context sums"):
        collect(VECTORS, ["a b"], checkpoint=path)
    assert ContextSums.load(path).tokens_read == 2


# -------------------------------------------------------------------------------------------------- shards


@settings(max_examples=30)
@given(lines, options, st.integers(1, 5), st.integers(1, 300), st.integers(0, 99))
def test_shards_add_up(texts, chosen, parts, block_size, seed):
    documents = annotated(texts, np.random.default_rng(seed))
    if chosen["context_weights"] == "top:2":  # the counts are those of all of the text
        weights = resolve("top:2", VECTORS, lambda: count_words(VECTORS, documents))
        chosen = {**chosen, "context_weights": weights}
    whole = collect(VECTORS, documents, EVERYTHING, **chosen)
    shards = [
        collect(VECTORS, documents, EVERYTHING, shard=(i, parts), block_size=block_size, **chosen)
        for i in range(1, parts + 1)
    ]
    total = merge(shards)
    assert total == whole
    assert merge(shards[::-1]) == whole
    for part in shards:
        total = total - part
    assert not total.occurrences.any()


def test_shards_share_the_text_evenly():
    texts = sample_text(100_000)
    amounts = [collect(VECTORS, texts, shard=(i, 4), block_size=2000).tokens_read for i in range(1, 5)]
    assert max(amounts) < 1.5 * min(amounts)


def test_shards_with_checkpoints(tmp_path):
    texts = sample_text(60_000)
    for i in (1, 2, 3):
        expected = collect(VECTORS, texts, NGRAMS, shard=(i, 3), block_size=2000)
        path = tmp_path / f"shard {i}"
        assert interrupted(path, VECTORS, texts, NGRAMS, after=3, shard=(i, 3), block_size=2000, threads=2)
        ours = collect(VECTORS, texts, NGRAMS, shard=(i, 3), block_size=2000, checkpoint=path)
        assert same(ours, expected)


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (-1, 2), (1, 0)])
def test_shards_are_numbered_from_one(shard):
    with pytest.raises(AlacarteError, match=r"numbered from 1|from 1 on, not"):
        collect(VECTORS, ["a b"], shard=shard)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=4), st.integers(1, 9), st.integers(1, 400))
def test_shards_of_files_seek_to_their_part(tmp_path_factory, sizes, parts, block_size):
    """Laid end to end, the parts have all units of the files, each once, and about the same size."""
    folder = tmp_path_factory.mktemp("files")
    for number, size in enumerate(sizes):
        (folder / f"{number}.txt").write_text("\n".join(sample_text(size, number))[:size], encoding="utf-8")
    corpus = Corpus(folder)
    whole = [unit_of(block) for block in corpus.blocks(block_size)]
    shards = [corpus.shard(number, parts, block_size) for number in range(1, parts + 1)]
    assert [unit_of(block) for shard in shards for block in shard.blocks(block_size)] == whole
    assert sum(shard.size for shard in shards) == corpus.size
    assert max(shard.size for shard in shards) <= corpus.size / parts + block_size + 1


def test_a_shard_reads_only_its_part(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("\n".join(sample_text(400_000)), encoding="utf-8")
    read = []
    open_location = lines_of_text.open_location

    def watched(location, start=0):
        read.append(start)
        return open_location(location, start)

    monkeypatch.setattr(lines_of_text, "open_location", watched)
    collect(VECTORS, tmp_path / "a.txt", shard=(4, 4), block_size=1000, threads=1)
    assert len(read) == 1
    assert 299_000 < read[0] < 302_000


def test_files_that_cannot_be_cut_belong_to_the_shard_in_which_they_begin(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.txt.xz").write_bytes(lzma.compress("\n".join(sample_text(9000, number)).encode()))
    shards = [Corpus(tmp_path).shard(number, 2, 1000) for number in (1, 2)]
    assert [len(shard.segments()) for shard in shards] == [2, 1]
    assert merge([collect(VECTORS, shard) for shard in shards]) == collect(VECTORS, tmp_path)
    assert not collect(VECTORS, tmp_path, shard=(6, 6)).tokens_read  # nothing begins there


@pytest.mark.parametrize("weights", ["sif", "top:2"])
def test_weights_of_shards_by_counts_of_all_of_the_text(tmp_path, weights):
    texts = sample_text(20_000)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    work = {"context_weights": weights, "block_size": 1000}
    with pytest.raises(AlacarteError, match=r"need the counts .* of the text.*save_counts\(.*sif@counts\.tsv"):
        collect(VECTORS, tmp_path / "a.txt", shard=(1, 2), **work)
    whole = collect(VECTORS, tmp_path / "a.txt", **work)
    save_counts(tmp_path / "counts.tsv", VECTORS, count_words(VECTORS, texts))
    work["context_weights"] = f"{weights}@{tmp_path / 'counts.tsv'}"
    for number in (1, 2):
        path = tmp_path / f"c{number}"
        assert interrupted(path, VECTORS, tmp_path / "a.txt", after=3, shard=(number, 2), threads=1, **work)
    saved = (tmp_path / "counts.tsv").read_text()
    (tmp_path / "counts.tsv").write_text("a\t1\nb\t9\nc\t9\n")
    with pytest.raises(BadCheckpoint, match="context weights was"):
        collect(VECTORS, tmp_path / "a.txt", shard=(1, 2), checkpoint=tmp_path / "c1", **work)
    (tmp_path / "counts.tsv").write_text(saved)
    parts = [collect(VECTORS, tmp_path / "a.txt", shard=(n, 2), checkpoint=tmp_path / f"c{n}", **work) for n in (1, 2)]
    assert merge(parts) == whole
    for wrong, message in (("a 3\n", "line 1"), ("a\t3\nb\tx\n", "line 2"), (None, "cannot be read")):
        path = tmp_path / ("wrong" if wrong else "absent")
        if wrong:
            path.write_text(wrong)
        with pytest.raises(AlacarteError, match=message):
            collect(VECTORS, texts, context_weights=f"sif@{path}")


# ----------------------------------------------------------------------------------------- several readers of a file


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4000), st.integers(1, 60), st.integers(2, 5), st.sampled_from([None, WORDS, PATTERNS]))
def test_one_file_is_read_by_several_threads(tmp_path_factory, size, block_size, threads, targets):
    path = tmp_path_factory.mktemp("one") / "a.txt"
    path.write_text("\n".join([*sample_text(size), "a"]), encoding="utf-8")
    expected = collect(VECTORS, path, targets, threads=1, block_size=block_size)
    ours = collect(VECTORS, path, targets, threads=threads, block_size=block_size)
    assert same(ours, expected)
    assert ours.units == expected.units


def test_a_large_file_has_several_readers(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("\n".join(sample_text(200_000)), encoding="utf-8")
    read = []
    monkeypatch.setattr(
        corpora, "read_segment", lambda segment, *more: read.append(segment) or read_segment(segment, *more)
    )
    collect(VECTORS, tmp_path / "a.txt", threads=4, block_size=1000)
    assert len(read) >= 4
    assert [segment.start for segment in read][1:] == [segment.stop for segment in read][:-1]


# ---------------------------------------------------------------------------------------------- repeated text


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("more", [{}, {"shard": (1, 2), "block_size": 100}, {"memory": "1GB"}])
def test_a_text_named_twice_is_refused(tmp_path, checkpoint, more):
    """Issue 28, item 2: 800 occurrences, and 400 when it was taken up; less the file, 400 of no text at all."""
    path = tmp_path / "a.txt"
    path.write_text("a x b\n" * 400)
    (tmp_path / "link.txt").symlink_to(path)
    (tmp_path / "folder").symlink_to(tmp_path)
    work = {**more, "checkpoint": tmp_path / "c"} if checkpoint else more
    for source in (
        [path, path],
        [path, tmp_path / "link.txt"],
        [tmp_path / "a*.txt", path],
        [tmp_path / "folder" / "a.txt", path],
        tmp_path / "*.txt",
    ):
        with pytest.raises(BadCorpus, match=r"a\.txt is named twice|link\.txt is named twice"):
            collect(VECTORS, source, ["x"], **work)
        with pytest.raises(BadCorpus, match="is named twice"):
            count_words(VECTORS, source)
    once = collect(VECTORS, path, ["x"], **work)
    if not more.get("shard"):
        assert once.occurrences.tolist() == [400]
    assert not (once - once).occurrences.any()
    assert not (once - once).units
    with pytest.raises(BadSums, match="would be counted twice"):
        once + once


def test_generators_of_stop_words_are_read_once(tmp_path):
    """Issue 28, item 3: with a checkpoint, they were ignored."""
    texts, stop = sample_text(5000), ["a", "b"]
    expected = collect(VECTORS, texts, WORDS, context_weights=stop)
    for more in ({}, {"checkpoint": tmp_path / "c"}, {"checkpoint": tmp_path / "c"}):
        ours = collect(VECTORS, texts, WORDS, context_weights=(word for word in stop), **more)
        assert same(ours, expected)
        assert ours.settings == expected.settings


# ------------------------------------------------------------------------------------------------ progress


def test_progress_tells_the_truth(tmp_path):
    texts = sample_text(60_000)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    for corpus, unit in ((tmp_path / "a.txt", "B"), (texts, "documents")):
        states = []
        collect(VECTORS, corpus, threads=2, block_size=3000, callback=states.append)
        total = (tmp_path / "a.txt").stat().st_size if unit == "B" else len(texts)
        assert {(state.total, state.unit) for state in states} == {(total, unit)}
        done = [state.done for state in states]
        assert done == sorted(done)
        assert done[-1] == total
        assert len(done) > 10


def test_a_label_that_is_also_a_target_is_an_error_in_any_thread():
    documents = ["a b"] * 50 + [Document(tokens=["a", "b"], spans=((0, 1, "bank"),))]
    for threads in (1, 4):
        with pytest.raises(BadTargets, match="also the key of another target"):
            collect(VECTORS, documents, WORDS | SPANS, threads=threads, block_size=100)
