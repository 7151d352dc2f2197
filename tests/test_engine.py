"""The pass over a corpus: the same bits however it is cut, interrupted, squeezed into memory or shared out."""

import lzma
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import ContextSums, Corpus, Document, Targets, WordVectors, _accumulate
from alacarte._accumulate import COUNTS, dimension_blocks
from alacarte._pass import memory_for_sums, parse_size, peak_memory
from alacarte._pipeline import in_background, in_order
from alacarte.contexts import merge
from alacarte.encoding import Encoder
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus, BadTargets

KNOWN = ["a", "b", "c", "d", "e", "river", "bank", "don't", "n't", ".", "é"]
UNKNOWN = ["x", "y", "z", "bankers", "rivers", "Σσς", "e\u0301", "İ"]  # the last ones are left to the slow path
DIMENSION = 67  # five cache lines of float32, the last one short
VECTORS = WordVectors(KNOWN, np.random.default_rng(3).normal(size=(len(KNOWN), DIMENSION)).astype(np.float32))
OTHER_VECTORS = WordVectors(KNOWN, VECTORS.matrix + 1)
AMOUNTS = ("documents", "tokens_read", "tokens_known")

WORDS = Targets(["a", "bank", "x"])
NGRAMS = Targets(["river bank", ["a", "b"], ["a", "b", "c"], "x", "River Bank"])
PATTERNS = Targets.glob(["bank*", "river* *"]) | Targets.regex(["^[xyz]$", "e b"])
SPANS = Targets.spans()
EVERYTHING = WORDS | NGRAMS | PATTERNS | SPANS

word = st.sampled_from(KNOWN + UNKNOWN)
line = st.lists(word, max_size=30).map(" ".join)
lines = st.lists(line, min_size=1, max_size=25).filter(lambda texts: any(text.strip() for text in texts))
averages = st.sampled_from(["occurrence", "token", "context"])
options = st.fixed_dictionaries(
    {
        "averaging": averages,
        "positions": st.sampled_from(["uniform", "linear", "inverse"]),
        "unknown": st.sampled_from(["keep", "drop"]),
        "context_weights": st.sampled_from([None, {"a": 0.5, "b": 0.0}, "top:2"]),
        "window": st.tuples(st.integers(0, 7), st.integers(1, 7)),
    }
)
block_sizes = st.integers(1, 600)


@pytest.fixture(autouse=True)
def _as_with_much_text_and_many_targets(monkeypatch):
    monkeypatch.setattr(Encoder, "SMALL", 0)
    monkeypatch.setattr(_accumulate, "HOT", 3)  # so that some targets are summed in corners and some in their rows
    monkeypatch.setattr(_accumulate, "FEW", 2)  # and most blocks are handed out


def same(ours, theirs):
    """Whether two sums are the same to the last bit."""
    assert ours.keys == theirs.keys
    for name in ("sums", *COUNTS):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.dtype == other.dtype
        assert mine.tobytes() == other.tobytes(), name
    for name in AMOUNTS:
        assert getattr(ours, name) == getattr(theirs, name), name
    return True


def annotated(texts, rng):
    """Some of the texts as documents with spans: of the text, or of tokens."""
    documents = []
    for text in texts:
        tokens = text.split(" ")
        if not text.strip() or rng.random() < 0.4:
            documents.append(text)
            continue
        low = int(rng.integers(len(tokens)))
        high = int(rng.integers(low + 1, len(tokens) + 1))
        label = f"label {rng.integers(6)}"
        if rng.random() < 0.5:
            documents.append(Document(tokens=tokens, spans=((low, high, label), (low, low + 1, "first"))))
        else:
            begin = len(" ".join(tokens[:low])) + (low > 0)
            documents.append(Document(text=text, spans=((begin, begin + len(" ".join(tokens[low:high])), label),)))
    return documents


def sample_text(size, seed=0):
    """Lines of different lengths, blank ones among them, with now and then a character for the slow path."""
    rng = np.random.default_rng(seed)
    usual, all_words = np.array(KNOWN + UNKNOWN[:-3]), np.array(KNOWN + UNKNOWN)
    text, length = [], 0
    while length < size:
        count = int(rng.choice([0, 1, 3, 12, 60, 400]))
        text.append(" ".join(rng.choice(usual if rng.random() < 0.95 else all_words, count)))
        length += len(text[-1].encode()) + 1
    return text


# ------------------------------------------------------------------------------------- threads and blocks


@settings(max_examples=60)
@given(lines, options, st.sampled_from([None, WORDS, NGRAMS, PATTERNS, EVERYTHING]), block_sizes, block_sizes)
def test_any_threads_and_blocks_give_the_same_bits(texts, chosen, targets, size, other_size):
    expected = ContextSums.collect(VECTORS, texts, targets, threads=1, **chosen)
    for threads, block_size in ((1, size), (2, size), (8, other_size)):
        assert same(
            ContextSums.collect(VECTORS, texts, targets, threads=threads, block_size=block_size, **chosen), expected
        )


@settings(max_examples=40)
@given(lines, options, st.sampled_from([SPANS, SPANS | PATTERNS, EVERYTHING]), block_sizes, st.integers(0, 99))
def test_spans_in_any_threads_and_blocks(texts, chosen, targets, block_size, seed):
    documents = annotated(texts, np.random.default_rng(seed))
    expected = ContextSums.collect(VECTORS, documents, targets, threads=1, **chosen)
    for threads in (1, 2, 8):
        ours = ContextSums.collect(VECTORS, documents, targets, threads=threads, block_size=block_size, **chosen)
        assert same(ours, expected)


@pytest.mark.parametrize("averaging", ["occurrence", "token", "context"])
@pytest.mark.parametrize("targets", [None, WORDS, NGRAMS, PATTERNS], ids=["all", "words", "n-grams", "patterns"])
def test_a_megabyte_in_any_threads_and_blocks(tmp_path, targets, averaging):
    texts = sample_text(1_000_000)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress("\n".join(texts).encode(), preset=0))
    expected = ContextSums.collect(VECTORS, texts, targets, averaging=averaging, threads=1)
    assert expected.tokens_read > 200_000
    for threads, block_size, corpus in (
        (1, 1 << 20, tmp_path / "a.txt"),
        (2, 70_001, tmp_path / "a.txt"),
        (8, 9_000, tmp_path / "b.txt.xz"),
        (2, 50_000, texts),
    ):
        ours = ContextSums.collect(
            VECTORS, corpus, targets, averaging=averaging, threads=threads, block_size=block_size
        )
        assert same(ours, expected)


def test_spans_of_a_larger_corpus():
    documents = annotated(sample_text(200_000), np.random.default_rng(5))
    expected = ContextSums.collect(VECTORS, documents, EVERYTHING, threads=1)
    assert "first" in expected.keys
    for threads, block_size in ((1, 1000), (2, 10_000), (8, 3000)):
        assert same(
            ContextSums.collect(VECTORS, documents, EVERYTHING, threads=threads, block_size=block_size), expected
        )


def test_text_that_is_not_a_file_nor_named_tokenizer():
    """A callable and token lists take the ordinary path, and get the same treatment."""
    texts = sample_text(50_000)
    expected = ContextSums.collect(VECTORS, texts, NGRAMS, tokenizer=str.split, threads=1)
    tokens = [text.split() for text in texts]
    for threads in (2, 8):
        ours = ContextSums.collect(VECTORS, texts, NGRAMS, tokenizer=str.split, threads=threads, block_size=2000)
        assert same(ours, expected)
        listed = ContextSums.collect(VECTORS, tokens, NGRAMS, tokenizer=str.split, threads=threads, block_size=2000)
        assert listed.sums.tobytes() == expected.sums.tobytes()


@pytest.mark.parametrize("hot", [0, 1, 5, 4096])
def test_corners_change_nothing(tmp_path, monkeypatch, hot):
    """However many targets are summed apart from the others, also over a checkpoint and while labels come."""
    documents = annotated(sample_text(50_000), np.random.default_rng(2))
    expected = ContextSums.collect(VECTORS, documents, EVERYTHING, threads=1)
    monkeypatch.setattr(_accumulate, "HOT", hot)
    assert same(ContextSums.collect(VECTORS, documents, EVERYTHING, threads=3, block_size=2000), expected)
    work = {"checkpoint": tmp_path / "checkpoint", "checkpoint_seconds": 0}
    with pytest.raises(Stop):
        ContextSums.collect(
            VECTORS, documents, EVERYTHING, threads=2, block_size=2000, callback=stopping_after(9), **work
        )
    monkeypatch.setattr(_accumulate, "HOT", 2)
    assert same(ContextSums.collect(VECTORS, documents, EVERYTHING, threads=5, block_size=2000, **work), expected)


def test_a_thread_that_fails_stops_the_pass_and_spoils_no_checkpoint(tmp_path, monkeypatch):
    texts, path = sample_text(50_000), tmp_path / "checkpoint"
    kept, add, calls = [], _accumulate.add_windows, [0]

    def fails(*arguments):
        calls[0] += 1
        if calls[0] == 12:  # one of two threads, in the middle of a block
            kept.append(path.read_bytes())
            raise MemoryError("no room")
        add(*arguments)

    work = {"checkpoint": path, "checkpoint_seconds": 0, "block_size": 2000}
    monkeypatch.setattr(_accumulate, "add_windows", fails)
    with pytest.raises(MemoryError, match="no room"):
        ContextSums.collect(VECTORS, texts, threads=2, **work)
    assert kept == [path.read_bytes()]
    monkeypatch.undo()
    assert same(ContextSums.collect(VECTORS, texts, threads=2, **work), ContextSums.collect(VECTORS, texts, threads=1))


@given(st.integers(1, 500), st.integers(1, 20))
def test_dimensions_are_shared_out_in_whole_cache_lines(dimension, threads):
    blocks = dimension_blocks(dimension, threads)
    assert blocks[0][0] == 0
    assert blocks[-1][1] == dimension
    assert len(blocks) <= threads
    assert all(low < high for low, high in blocks)
    assert all(high == low and high % 16 == 0 for (_, high), (low, _) in pairwise(blocks))


def test_threads_must_be_some():
    with pytest.raises(AlacarteError, match="at least one thread"):
        ContextSums.collect(VECTORS, ["a b"], threads=-1)


# ------------------------------------------------------------------------------------------------ pipeline


def test_errors_come_out_where_the_items_are_wanted():
    def items():
        yield 1
        raise BadCorpus("cut off")

    for stream in (in_background(items(), 2), in_order(lambda item: item, in_background(items(), 2), 2)):
        with pytest.raises(BadCorpus, match="cut off"):
            list(stream)
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 // item, [1, 0], 2))


def test_the_reader_runs_no_further_ahead_than_told():
    made = []

    def items():
        for number in range(100):
            made.append(number)
            yield number

    stream = in_background(items(), ahead=3)
    assert next(stream) == 0
    stream.close()
    assert len(made) <= 6


class Stop(Exception):
    """What a caller's callback may raise."""


def stopping_after(count, error=Stop):
    """A callback that raises at the count-th block."""
    calls = [0]

    def callback(state):
        calls[0] += 1
        if calls[0] == count:
            raise error

    return callback


def test_no_thread_is_left_behind(tmp_path):
    texts = sample_text(100_000)
    before = threading.active_count()
    caught = []
    for checkpoint in (None, tmp_path / "checkpoint"):
        with pytest.raises(Stop) as error:
            ContextSums.collect(
                VECTORS, texts, threads=3, block_size=1000, checkpoint=checkpoint, callback=stopping_after(3)
            )
        caught.append(error)  # with its traceback and the frames in it, as an interactive session keeps it
    assert threading.active_count() == before


# --------------------------------------------------------------------------------------------- checkpoints


def interrupted(path, *arguments, after, error=KeyboardInterrupt, **chosen):
    """Stop after `after` blocks, leaving a checkpoint; False if it came to its end."""
    try:
        ContextSums.collect(*arguments, checkpoint=path, callback=stopping_after(after, error), **chosen)
    except error:
        return True
    return False


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
    expected = ContextSums.collect(VECTORS, documents, targets, threads=1, **chosen)
    threads = 1 + seed % 3
    for stop in stops:
        interrupted(
            folder / "c", VECTORS, documents, targets, after=stop, threads=threads, block_size=block_size, **chosen
        )
    ours = ContextSums.collect(
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
    expected = ContextSums.collect(VECTORS, corpus, PATTERNS | WORDS, threads=1)
    chosen = {"threads": threads, "block_size": 6000}
    after = 0
    while True:
        after += 1
        path = tmp_path / f"checkpoint {after}"
        if not interrupted(path, VECTORS, corpus, PATTERNS | WORDS, after=after, error=error, **chosen):
            break
        assert same(ContextSums.collect(VECTORS, corpus, PATTERNS | WORDS, checkpoint=path, **chosen), expected)
    assert after >= 10


def test_labels_that_turn_up_on_the_way(tmp_path):
    documents = [Document(tokens=["a", "b", "c"], spans=((1, 2, f"label {n}"),)) for n in range(60)]
    expected = ContextSums.collect(VECTORS, documents, Targets.spans(), threads=1)
    assert len(expected) == 60
    for after in (1, 7, 30):
        path = tmp_path / f"checkpoint {after}"
        assert interrupted(path, VECTORS, documents, Targets.spans(), after=after, threads=2, block_size=100)
        ours = ContextSums.collect(VECTORS, documents, Targets.spans(), threads=2, block_size=100, checkpoint=path)
        assert same(ours, expected)
        assert len(ours.targets) == 60


def test_a_resumed_run_reads_what_was_read_but_does_not_encode_it_again(tmp_path, monkeypatch):
    texts = sample_text(60_000)
    path = tmp_path / "checkpoint"
    assert interrupted(path, VECTORS, texts, after=8, threads=1, block_size=3000)
    encoded = []
    encode = Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda self, block: encoded.append(block.position) or encode(self, block))
    ContextSums.collect(VECTORS, texts, checkpoint=path, threads=1, block_size=3000)
    blocks = [block.position for block in Corpus(texts).blocks(3000)]
    assert encoded == blocks[8:] or encoded == blocks[7:]


def test_checkpoints_are_written_every_so_often(tmp_path, monkeypatch):
    """Without any chance to write at the end: the process is gone."""
    texts = sample_text(60_000)
    path = tmp_path / "checkpoint"
    seen = []
    ContextSums.collect(
        VECTORS, texts, threads=1, block_size=3000, checkpoint=path, checkpoint_seconds=0,
        callback=lambda state: seen.append(path.exists()),
    )  # fmt: skip
    assert all(seen[1:])
    assert len(seen) > 10
    late = tmp_path / "late"
    seen.clear()
    ContextSums.collect(
        VECTORS, texts, threads=1, block_size=3000, checkpoint=late, checkpoint_seconds=1e9,
        callback=lambda state: seen.append(late.exists()),
    )  # fmt: skip
    assert not any(seen)
    assert late.exists()


def test_a_finished_checkpoint_returns_at_once(tmp_path, monkeypatch):
    texts = sample_text(20_000)
    path = tmp_path / "checkpoint"
    targets = EVERYTHING
    expected = ContextSums.collect(VECTORS, texts, targets, checkpoint=path, block_size=3000)
    monkeypatch.setattr(Encoder, "encode", lambda *arguments: pytest.fail("it was read again"))
    assert same(ContextSums.collect(VECTORS, texts, targets, checkpoint=path, block_size=3000), expected)
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
        ({"context_weights": {"a": 0.5}}, "settings"),
        ({"context_weights": ["a"]}, "settings"),
        ({"tokenizer": "whitespace"}, "settings"),
        ({"shard": (1, 2)}, "shard"),
        ({"block_size": 4000}, "block_size"),
        ({"corpus": "another"}, "corpus"),
        ({"corpus": "longer"}, "corpus"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_a_checkpoint_of_other_work_is_refused(tmp_path, change, named, finished):
    text = "\n".join(sample_text(20_000))
    (tmp_path / "one.txt").write_text(text, encoding="utf-8")
    (tmp_path / "another").write_text(text, encoding="utf-8")
    (tmp_path / "longer").write_text(text, encoding="utf-8")
    usual = {"vectors": VECTORS, "corpus": tmp_path / "one.txt", "targets": WORDS, "window": 5, "block_size": 3000}
    path = tmp_path / "checkpoint"
    if finished:
        ContextSums.collect(**usual, checkpoint=path)
    else:
        assert interrupted(path, *(usual.pop(name) for name in ("vectors", "corpus", "targets")), after=2, **usual)
        usual |= {"vectors": VECTORS, "corpus": tmp_path / "one.txt", "targets": WORDS}
    before = path.read_bytes()
    if change == {"corpus": "longer"}:
        (tmp_path / "one.txt").write_text(text + " a", encoding="utf-8")
        change = {}
    elif "corpus" in change:
        change = {"corpus": tmp_path / change["corpus"]}
    with pytest.raises(BadCheckpoint, match=f"other work: {named} was .* and is .*choose another --checkpoint"):
        ContextSums.collect(**{**usual, **change}, checkpoint=path)
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
    with pytest.raises(BadCheckpoint, match="does not begin with the text"):
        ContextSums.collect(VECTORS, corpus(changed), checkpoint=path, block_size=200)
    restored = ContextSums.collect(VECTORS, corpus(texts), checkpoint=path, block_size=200)
    assert same(restored, ContextSums.collect(VECTORS, corpus(texts)))


def test_a_corpus_shorter_than_the_checkpoint_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    assert interrupted(path, VECTORS, iter(["a b c"] * 50), after=8, threads=1, block_size=200)
    with pytest.raises(BadCheckpoint, match="does not begin with the text"):
        ContextSums.collect(VECTORS, iter(["a b c"] * 4), checkpoint=path, block_size=200)


@pytest.mark.parametrize("content", [b"", b"some text", b"\x00" * 100])
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(BadCheckpoint, match=r"checkpoint"):
        ContextSums.collect(VECTORS, ["a b"], checkpoint=path)
    assert path.read_bytes() == content


def test_sums_are_no_checkpoint(tmp_path):
    path = tmp_path / "sums"
    ContextSums.collect(VECTORS, ["a b"]).save(path)
    with pytest.raises(BadCheckpoint, match="not a checkpoint; choose another name"):
        ContextSums.collect(VECTORS, ["a b"], checkpoint=path)
    assert ContextSums.load(path).tokens_read == 2


# -------------------------------------------------------------------------------------------------- memory


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
    expected = ContextSums.collect(VECTORS, texts, targets, threads=1, **chosen)
    memory = budget(len(targets), dimensions, 100, threads, chosen["context_weights"] is not None)
    ours = ContextSums.collect(VECTORS, texts, targets, memory=memory, block_size=100, threads=threads, **chosen)
    assert isinstance(ours.sums, np.memmap)
    assert same(ours, expected)


def test_labels_that_turn_up_on_the_way_in_little_memory():
    documents = [Document(tokens=["a", "b", "c"], spans=((1, 2, f"label {n}"),)) for n in range(300)]
    targets = Targets(["b", *(f"word {n}" for n in range(99))]) | SPANS
    expected = ContextSums.collect(VECTORS, documents, targets, threads=1)
    ours = ContextSums.collect(VECTORS, documents, targets, memory=budget(100, 60, 100, 2), block_size=100, threads=2)
    assert len(ours) == 400
    assert same(ours, expected)


def test_labels_of_unknown_number_are_held_in_a_file_from_the_start(tmp_path):
    documents = annotated(sample_text(20_000), np.random.default_rng(5))
    expected = ContextSums.collect(VECTORS, documents, SPANS)
    for more in ({}, {"checkpoint": tmp_path / "checkpoint"}):
        ours = ContextSums.collect(VECTORS, documents, SPANS, memory="1GB", **more)
        assert isinstance(ours.sums, np.memmap)
        assert same(ours, expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            none = ContextSums.collect(VECTORS, ["a b"], SPANS, memory="1GB", checkpoint=None)
        assert none.sums.shape == (0, DIMENSION)


def test_the_usual_budget_changes_nothing():
    texts = sample_text(20_000)
    expected = ContextSums.collect(VECTORS, texts, NGRAMS)
    ours = ContextSums.collect(VECTORS, texts, NGRAMS, memory="1GB")
    assert not isinstance(ours.sums, np.memmap)
    assert same(ours, expected)


def test_sums_in_a_file_can_be_used_as_any_others(tmp_path):
    texts = sample_text(20_000)
    memory = budget(len(NGRAMS), 20, 1000, 1)
    ours = ContextSums.collect(VECTORS, texts, NGRAMS, memory=memory, block_size=1000, threads=1)
    whole = ContextSums.collect(VECTORS, texts, NGRAMS)
    ours.save(tmp_path / "sums")
    assert same(ContextSums.load(tmp_path / "sums"), whole)
    assert same(ours + ours, whole + whole)
    assert ours.means().tobytes() == whole.means().tobytes()


def test_too_little_memory_says_what_is_missing():
    with pytest.raises(AlacarteError, match="do not even hold the vectors and the text under way"):
        ContextSums.collect(VECTORS, ["a b"], memory=1000)
    many = Targets([f"t{n}" for n in range(1000)])
    with pytest.raises(AlacarteError, match="not even one dimension of the sums of 1,000 targets"):
        ContextSums.collect(VECTORS, ["a b"], many, memory=budget(900, 1, 100, 1), block_size=100, threads=1)


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
    expected = ContextSums.collect(VECTORS, documents, targets, threads=1, **chosen)
    rng = np.random.default_rng(seed)

    def memory(threads):
        weighted = chosen["context_weights"] is not None
        return budget(max(1, len(expected.keys)), int(rng.integers(1, dimensions + 1)), 100, threads, weighted)

    everything = {"checkpoint": path, "block_size": 100, **chosen}
    for stop in stops:
        threads = int(rng.integers(1, 4))
        with suppress(Stop):
            ContextSums.collect(
                VECTORS, documents, targets, memory=memory(threads), threads=threads, callback=stopping_after(stop),
                **everything,
            )  # fmt: skip
    for _ in range(2):  # the second finds it done
        ours = ContextSums.collect(VECTORS, documents, targets, memory=memory(2), threads=2, **everything)
        assert same(ours, expected)
        ours.sums[:] = 0  # the checkpoint's own are not touched
    assert sorted(file.name for file in path.parent.iterdir()) == ["checkpoint", "checkpoint.sums"]


def test_files_beside_a_checkpoint_that_are_gone(tmp_path):
    texts, path = sample_text(20_000), tmp_path / "checkpoint"
    work = {"checkpoint": path, "checkpoint_seconds": 0, "block_size": 1000, "threads": 1}
    small = budget(len(NGRAMS), 20, 1000, 1)
    with pytest.raises(Stop):
        ContextSums.collect(VECTORS, texts, NGRAMS, memory=small, callback=stopping_after(5), **work)
    ids = tmp_path / "checkpoint.ids"
    content = ids.read_bytes()
    ids.write_bytes(content[:100])
    with pytest.raises(BadCheckpoint, match=r"checkpoint\.ids is not whole.*restore it, or delete both"):
        ContextSums.collect(VECTORS, texts, NGRAMS, memory=small, **work)
    ids.write_bytes(content + b"cut off")
    expected = ContextSums.collect(VECTORS, texts, NGRAMS)
    assert same(ContextSums.collect(VECTORS, texts, NGRAMS, **work), expected)  # with all the memory there is
    (tmp_path / "checkpoint.sums").unlink()
    with pytest.raises(BadCheckpoint, match=r"checkpoint\.sums is not whole"):
        ContextSums.collect(VECTORS, texts, NGRAMS, **work)


def test_a_checkpoint_begun_in_memory_wants_as_much_again(tmp_path):
    texts, path = sample_text(20_000), tmp_path / "checkpoint"
    work = {"checkpoint": path, "block_size": 1000, "threads": 1}
    with pytest.raises(Stop):
        ContextSums.collect(VECTORS, texts, NGRAMS, callback=stopping_after(5), **work)
    with pytest.raises(BadCheckpoint, match=r"begun with sums in memory.*give as much, or delete it"):
        ContextSums.collect(VECTORS, texts, NGRAMS, memory=budget(len(NGRAMS), 20, 1000, 1), **work)
    assert same(ContextSums.collect(VECTORS, texts, NGRAMS, **work), ContextSums.collect(VECTORS, texts, NGRAMS))


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
    code = "from alacarte._pass import peak_memory; print(peak_memory())"
    child = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert 10_000_000 < child < held.nbytes


# -------------------------------------------------------------------------------------------------- shards


@settings(max_examples=30)
@given(lines, options, st.integers(1, 5), st.integers(1, 300), st.integers(0, 99))
def test_shards_add_up(texts, chosen, parts, block_size, seed):
    documents = annotated(texts, np.random.default_rng(seed))
    whole = ContextSums.collect(VECTORS, documents, EVERYTHING, **chosen)
    shards = [
        ContextSums.collect(VECTORS, documents, EVERYTHING, shard=(i, parts), block_size=block_size, **chosen)
        for i in range(1, parts + 1)
    ]
    total = merge(shards)
    order = [total.keys.index(key) for key in whole.keys]
    assert len(total) == len(whole)
    np.testing.assert_allclose(total.sums[order], whole.sums, atol=1e-12)
    for name in ("occurrences", "contexts", "tokens"):
        assert getattr(total, name)[order].tolist() == getattr(whole, name).tolist()
    for name in AMOUNTS:
        assert getattr(total, name) == getattr(whole, name)


def test_shards_share_the_text_evenly():
    texts = sample_text(100_000)
    amounts = [ContextSums.collect(VECTORS, texts, shard=(i, 4), block_size=2000).tokens_read for i in range(1, 5)]
    assert max(amounts) < 1.5 * min(amounts)


def test_shards_with_checkpoints(tmp_path):
    texts = sample_text(60_000)
    for i in (1, 2, 3):
        expected = ContextSums.collect(VECTORS, texts, NGRAMS, shard=(i, 3), block_size=2000)
        path = tmp_path / f"shard {i}"
        assert interrupted(path, VECTORS, texts, NGRAMS, after=3, shard=(i, 3), block_size=2000, threads=2)
        ours = ContextSums.collect(VECTORS, texts, NGRAMS, shard=(i, 3), block_size=2000, checkpoint=path)
        assert same(ours, expected)


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (-1, 2), (1, 0)])
def test_shards_are_numbered_from_one(shard):
    with pytest.raises(AlacarteError, match="numbered from 1"):
        ContextSums.collect(VECTORS, ["a b"], shard=shard)


# ------------------------------------------------------------------------------------------------ progress


def test_progress_tells_the_truth(tmp_path):
    texts = sample_text(60_000)
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    for corpus, unit in ((tmp_path / "a.txt", "B"), (texts, "documents")):
        states = []
        ContextSums.collect(VECTORS, corpus, threads=2, block_size=3000, callback=states.append)
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
            ContextSums.collect(VECTORS, documents, WORDS | SPANS, threads=threads, block_size=100)
