"""What the tests of the pass over a corpus share: vectors, targets, texts and settings, and ways to stop a pass."""

from dataclasses import fields
from importlib import import_module

import numpy as np
from hypothesis import strategies as st

from alacarte import Document, Targets, WordVectors, collect
from alacarte.contexts.summing import private_memory, row_stride, widest_row
from alacarte.contexts.sums import Sums

collecting = import_module("alacarte.passes.collect")  # `alacarte.passes.collect.collect` is a function

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


def same(ours, theirs):
    """Whether two sums are the same to the last bit."""
    assert ours.keys == theirs.keys
    for name in (item.name for item in fields(Sums)):
        for mine, other in ((ours.all, theirs.all), (ours.groups, theirs.groups)):
            if mine is not None:
                assert getattr(mine, name).dtype == np.int64
                np.testing.assert_array_equal(getattr(mine, name), getattr(other, name), err_msg=name)
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


def budget(vectors, rows, dimensions, block_size, threads, targets=None):
    """Bytes with which as many dimensions of so many rows of sums are made at a time (12, 28, …), and not one more.

    There are as many targets as rows, unless `targets` says how many; 0 if every word of the vectors is one.
    """
    known, d = vectors.matrix.shape
    integers = 4 * (known + 1) * 16 * -(-(d + 2) // 16)
    private = private_memory(rows, row_stride(d), threads, chosen=targets != 0)
    names = collecting.BYTES_OF_WORD * known + collecting.BYTES_OF_KEY * (rows if targets is None else targets)
    others = collecting.PROGRAM + vectors.matrix.nbytes + integers + private + names + (threads + 1) * 30 * block_size
    assert widest_row(row_stride(dimensions)) == dimensions
    return others + 8 * rows * row_stride(dimensions)


class Stages:
    """The names of the passes over the text, in their order."""

    def __init__(self, monkeypatch):
        self.names = []
        run = collecting.run

        def watched(tally, corpus, encoder, work, stage="reading", *more, **options):
            self.names.append(stage)
            return run(tally, corpus, encoder, work, stage, *more, **options)

        monkeypatch.setattr(collecting, "run", watched)


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


def interrupted(path, *arguments, after, error=KeyboardInterrupt, **chosen):
    """Stop after `after` blocks, leaving a checkpoint; False if it came to its end."""
    try:
        collect(*arguments, checkpoint=path, callback=stopping_after(after, error), **chosen)
    except error:
        return True
    return False
