"""What goes wrong, and what one is told: every case names its place and says what to do next, and nothing is lost.

Each test is a short story: something is off, this is the message. More cases, one by one, are in the tests of each
module.
"""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

from alacarte import ALaCarte, ContextSums, Corpus, Document, Targets, Transform, WordVectors, collect
from alacarte.errors import (
    AlacarteError,
    AlacarteWarning,
    BadCheckpoint,
    BadCorpus,
    BadSums,
    BadTargets,
    BadTransform,
    BadVectors,
    MissingExtra,
    NoOccurrences,
    NotEnoughData,
    TransformMismatch,
    UnknownKey,
    require,
)

VECTORS = WordVectors(["the", "cat", "sat"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
MODEL = ALaCarte(VECTORS, Transform(np.eye(2)))


# ------------------------------------------------------------------------------------------------- vectors


def test_an_empty_vector_file(tmp_path):
    (tmp_path / "v.txt").write_text("")
    with pytest.raises(BadVectors, match=r"v\.txt.*empty"):
        WordVectors.load(tmp_path / "v.txt")


def test_a_row_with_too_few_values_names_line_and_word(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2 3\ncat 4 5 6\nsat 7 8\nmat 1 2 3\n")
    with pytest.raises(BadVectors, match=r"line 3.*sat"):
        WordVectors.load(tmp_path / "v.txt")


def test_a_word_given_twice(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2\ncat 3 4\nthe 5 6\n")
    with pytest.raises(BadVectors, match=r"line 3.*'the'"):
        WordVectors.load(tmp_path / "v.txt")


def test_bad_rows_can_be_left_out_and_are_counted(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2\ncat 3 nan\nthe 5 6\nsat 7 8\n")
    with pytest.warns(AlacarteWarning, match="2"):
        vectors = WordVectors.load(tmp_path / "v.txt", on_error="skip")
    assert list(vectors) == ["the", "sat"]
    assert sum(vectors.skipped.counts.values()) == 2


def test_a_value_that_is_not_a_finite_number(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2\ncat inf 4\n")
    with pytest.raises(BadVectors, match=r"line 2.*cat"):
        WordVectors.load(tmp_path / "v.txt")
    with pytest.raises(BadVectors, match="cat"):
        WordVectors(["the", "cat"], [[1.0], [np.nan]])


def test_a_binary_file_that_breaks_off(tmp_path):
    VECTORS.save(tmp_path / "v.bin")
    whole = (tmp_path / "v.bin").read_bytes()
    (tmp_path / "v.bin").write_bytes(whole[:-5])
    with pytest.raises(BadVectors, match=r"v\.bin"):
        WordVectors.load(tmp_path / "v.bin")


def test_a_download_that_was_cut_off(tmp_path):
    packed = gzip.compress(b"".join(b"word%d 1 2\n" % i for i in range(5000)))
    (tmp_path / "v.txt.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(BadVectors, match=r"v\.txt\.gz"):
        WordVectors.load(tmp_path / "v.txt.gz")


def test_a_word_without_a_vector():
    with pytest.raises(UnknownKey, match="no vector for 'dog'"):
        VECTORS["dog"]
    assert VECTORS.get("dog") is None
    assert "dog" not in VECTORS  # looking did not add it


def test_a_name_that_is_no_file_and_no_known_set():
    with pytest.raises(BadVectors, match="glove"):
        WordVectors.load("glove.6B.50")


# -------------------------------------------------------------------------------------------------- corpus


def test_a_corpus_that_is_not_there(tmp_path):
    with pytest.raises(BadCorpus, match="no such file"):
        MODEL.induce(tmp_path / "nothing.txt", ["cat"])


def test_text_where_a_path_belongs():
    with pytest.raises(BadCorpus, match=r"put it in a list"):
        MODEL.induce("the cat sat on the mat", ["cat"])


def test_a_corpus_without_text(tmp_path):
    (tmp_path / "empty.txt").write_text(" \n\n\t\n")
    with pytest.raises(BadCorpus, match="holds no text"):
        MODEL.induce(tmp_path / "empty.txt", ["cat"])


def test_another_encoding_names_the_byte(tmp_path):
    (tmp_path / "latin.txt").write_bytes("the cat\nthe café sat\n".encode("latin-1"))
    with pytest.raises(BadCorpus, match=r"latin\.txt: byte 15 .*latin-1"):
        MODEL.induce(tmp_path / "latin.txt", ["cat"])
    assert MODEL.induce(Corpus(tmp_path / "latin.txt", errors="replace"), ["cat"]).count("cat") == 1


def test_a_column_that_is_not_there(tmp_path):
    (tmp_path / "a.csv").write_text("id,body\n1,the cat sat\n")
    with pytest.raises(BadCorpus, match=r"body"):
        MODEL.induce(Corpus(tmp_path / "a.csv"), ["cat"])
    assert MODEL.induce(Corpus(tmp_path / "a.csv", text="body"), ["cat"]).count("cat") == 1


def test_a_line_that_is_no_json(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "the cat"}\n{"text": \n')
    with pytest.raises(BadCorpus, match=r"a\.jsonl.*2"):
        MODEL.induce(tmp_path / "a.jsonl", ["cat"])


def test_reading_an_iterator_twice():
    corpus = Corpus(iter(["the cat sat"]))
    MODEL.induce(corpus, ["cat"])
    with pytest.raises(BadCorpus, match="already read"):
        MODEL.induce(corpus, ["cat"])


def test_spans_outside_their_text():
    with pytest.raises(BadCorpus, match="span"):
        Document(text="the cat", tokens=None, spans=((4, 99, "animal"),))


# ------------------------------------------------------------------------------------------------- targets


def test_a_target_that_never_occurs_is_listed_not_zero():
    induced = MODEL.induce(["the cat sat"], ["cat", "dog"])
    assert induced.missing == ["dog"]
    assert "dog" not in induced


def test_no_target_occurs_at_all():
    with pytest.raises(NotEnoughData, match="none of the 2 targets occurs"):
        MODEL.induce(["the cat sat"], ["dog", "cow"])


def test_an_empty_list_of_targets(tmp_path):
    (tmp_path / "targets.txt").write_text("\n\n")
    with pytest.raises(BadTargets, match="one word or n-gram per line"):
        Targets.from_file(tmp_path / "targets.txt")


def test_a_word_that_is_not_in_its_context():
    with pytest.raises(NoOccurrences, match="leave `target` out"):
        MODEL.embed("the cat sat", target="dog")


def test_a_context_of_unknown_words():
    with pytest.raises(NotEnoughData, match="none of the context words has a vector"):
        MODEL.embed("colourless green ideas")


# ---------------------------------------------------------------------------------------- sums and transforms


def test_too_little_text_to_learn_from():
    wide = WordVectors(["the", "cat"], np.eye(2, 5))
    with pytest.raises(NotEnoughData, match=r"too few to learn 5 dimensions.*ridge"):
        ALaCarte.fit(wide, ["the cat"], weighting=None)


def test_a_transform_of_another_dimension():
    with pytest.raises(TransformMismatch, match="3 dimensions and the vectors have 2"):
        ALaCarte(VECTORS, Transform(np.eye(3)))


def test_sums_of_another_average():
    model = ALaCarte.fit(VECTORS, ["the cat sat " * 5] * 5, weighting=None, averaging="token")
    with pytest.raises(TransformMismatch, match="averaging"):
        model.apply(collect(VECTORS, ["the cat sat"], ["cat"]))


def test_sums_that_do_not_belong_together():
    one = collect(VECTORS, ["the cat sat"], ["cat"], window=2)
    with pytest.raises(BadSums, match="left"):
        one + collect(VECTORS, ["the cat sat"], ["cat"], window=3)


def test_a_matrix_file_that_is_incomplete(tmp_path):
    Transform(np.eye(4)).save(tmp_path / "a.bin")
    (tmp_path / "a.bin").write_bytes((tmp_path / "a.bin").read_bytes()[:-3])
    with pytest.raises(BadTransform, match="is the file complete"):
        Transform.load(tmp_path / "a.bin")


def test_a_file_of_another_kind(tmp_path):
    VECTORS.save(tmp_path / "v.safetensors")
    with pytest.raises(BadSums, match="not context sums but word vectors; pass another file"):
        ContextSums.load(tmp_path / "v.safetensors")


def test_a_checkpoint_of_other_work(tmp_path):
    collect(VECTORS, ["the cat sat"], ["cat"], checkpoint=tmp_path / "c")
    with pytest.raises(BadCheckpoint, match="settings was"):
        collect(VECTORS, ["the cat sat"], ["cat"], window=3, checkpoint=tmp_path / "c")


# ---------------------------------------------------------------------------------------------- the machine


def test_a_full_disk_leaves_the_old_file_whole(tmp_path, monkeypatch):
    VECTORS.save(tmp_path / "v.safetensors")
    before = (tmp_path / "v.safetensors").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        VECTORS.normalised().save(tmp_path / "v.safetensors")
    monkeypatch.undo()
    assert (tmp_path / "v.safetensors").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["v.safetensors"]


def test_an_extra_that_is_not_installed():
    with pytest.raises(MissingExtra, match=r"pip install 'alacarte-embeddings\[parquet\]'"):
        require("no_such_module", extra="parquet", purpose="reading Parquet")


def test_the_command_says_it_in_one_line(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2\ncat 3\n")
    run = subprocess.run(
        [sys.executable, "-m", "alacarte", "nearest", str(tmp_path / "v.txt"), "-w", "the"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith("alc: error: ")
    assert "line 2" in run.stderr
    assert "Traceback" not in run.stderr


def test_everything_is_an_alacarte_error():
    """One `except` catches all of the above; each is also a ValueError, a KeyError or an ImportError."""
    for error in (
        UnknownKey,
        BadVectors,
        BadCorpus,
        BadTargets,
        BadSums,
        BadTransform,
        TransformMismatch,
        MissingExtra,
    ):
        assert issubclass(error, AlacarteError)
        assert issubclass(error, (ValueError, KeyError, ImportError))
