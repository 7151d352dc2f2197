"""The n-grams of a task, and induced vectors in blocks."""

import mmap

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from alacarte import ALaCarte, Targets, Transform, WordVectors, collect, discover
from alacarte.cli import app
from alacarte.model import induced

WORDS = WordVectors(["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@given(st.lists(st.lists(st.sampled_from(["a", "b", "zz", "!"]), max_size=8), max_size=5), st.integers(1, 3))
def test_all_ngrams_of_the_documents(texts, n):
    expected = {
        " ".join(tokens[i : i + k]) for tokens in texts for k in range(1, n + 1) for i in range(len(tokens) - k + 1)
    }
    options = {"ngrams": range(1, n + 1), "min_count": 1, "all_tokens": True, "min_score": None}
    assert set(discover(WORDS.words, texts, known=True, **options)) == expected
    without = {key for key in expected if key not in WORDS}
    assert set(discover(WORDS.words, texts, **options)) == without


def test_counts_do_not_depend_on_the_blocks():
    texts = [np.random.default_rng(i).choice(list("abcdef"), 30).tolist() for i in range(20)]
    options = {"ngrams": (1, 2, 3), "min_count": 2, "all_tokens": True, "min_score": None}
    whole = discover(WORDS.words, texts, **options)
    assert len(whole) > 100
    for block_size in (7, 300):
        assert list(discover(WORDS.words, texts, block_size=block_size, threads=2, **options)) == list(whole)


def test_repeated_sequences_count_for_each_key():
    targets = Targets(["New York", "new york"]) | Targets.ngrams(["a new york", "york"])
    sums = collect(WORDS, ["a New York b"], targets)
    assert dict(zip(sums.keys, sums.occurrences.tolist(), strict=True)) == dict.fromkeys(targets, 1)


def root(array):
    """What owns the memory of an array."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def test_large_results_are_made_in_blocks_and_lie_in_a_file(monkeypatch):
    model = ALaCarte(WORDS, Transform(np.array([[0.0, 2.0], [1.0, 0.0]])))
    texts = [f"a t{i} b c" for i in range(10)]
    targets = [f"t{i}" for i in range(10)] + ["never"]
    expected = model.induce(texts, targets)
    monkeypatch.setattr(induced, "TRANSFORMED_AT_ONCE", 3)
    monkeypatch.setattr(induced, "LARGE_RESULT", 8)
    found = model.induce(texts, targets)
    assert isinstance(root(found.matrix), mmap.mmap)
    assert not isinstance(root(expected.matrix), mmap.mmap)
    assert found == expected
    assert found.missing == ["never"]


def test_induce_the_ngrams_of_a_task(tmp_path):
    WORDS.save(tmp_path / "words.txt")
    Transform(np.eye(2), settings=None).save(tmp_path / "eye.bin")
    (tmp_path / "reviews.csv").write_text("label,text\n1,a zz b\n0,b zz\n")
    (tmp_path / "corpus.txt").write_text("c a zz b c\nb zz a\n")
    out = tmp_path / "out.safetensors"
    result = CliRunner().invoke(
        app,
        [
            "induce",
            "--vectors",
            str(tmp_path / "words.txt"),
            "--model",
            str(tmp_path / "eye.bin"),
            "--corpus",
            str(tmp_path / "corpus.txt"),
            "--task",
            str(tmp_path / "reviews.csv"),
            "--ngrams",
            "2",
            "--out",
            str(out),
        ],
    )
    assert result.exit_code == 0, result.output
    assert set(WordVectors.load(out).words) == {"zz", "a zz", "zz b", "b zz"}
