"""Checkpoints: taken up by the same work on the same text, and by nothing else; what is left when all is done."""

import json

import numpy as np
import pytest
from passes import (
    EVERYTHING,
    NGRAMS,
    SPANS,
    VECTORS,
    WORDS,
    Stages,
    Stop,
    annotated,
    budget,
    interrupted,
    same,
    sample_text,
    stopping_after,
)
from typer.testing import CliRunner

from alacarte import ALaCarte, Corpus, Transform, collect
from alacarte._io.artifact import read_artifact
from alacarte.cli import app
from alacarte.errors import BadCheckpoint, BadCorpus
from alacarte.passes.checkpoint import delete_checkpoint
from alacarte.text.encoding import Encoder

pytestmark = pytest.mark.usefixtures("much_text_and_many_targets")
SMALL = budget(VECTORS, len(NGRAMS), 28, 1000, 1)


def stages_in(checkpoint):
    stages = read_artifact(checkpoint, "checkpoint").metadata["stages"]
    return {name: stage["complete"] for name, stage in stages.items()}


# ------------------------------------------------------------------------------------------- other work, other text


@pytest.mark.parametrize("memory", [None, budget(VECTORS, 1, 28, 1000, 1)])
def test_a_complete_checkpoint_of_other_text_is_refused(tmp_path, memory):
    """Issue 14, fault 1: the first sums came back, whatever the text."""
    work = {"checkpoint": tmp_path / "c", "memory": memory, "threads": 1, "block_size": 1000}
    first = collect(VECTORS, ["a x", "b x"], ["x"], **work)
    before = (tmp_path / "c").read_bytes()
    for other in (["c x", "d x"], ["a x"], ["a x", "b x", "b x"]):
        with pytest.raises((BadCheckpoint, BadCorpus), match="the text is not the one"):
            collect(VECTORS, other, ["x"], **work)
    assert (tmp_path / "c").read_bytes() == before
    assert collect(VECTORS, ["a x", "b x"], ["x"], **work) == first


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(("begun", "resumed"), [(4, None), (None, 4), (4, 5)])
def test_a_checkpoint_with_other_groups_is_refused(tmp_path, begun, resumed, complete):
    """Issue 14, fault 2: begun with spread=4 and resumed without, occurrences were wrong."""
    texts, path = sample_text(20_000), tmp_path / "c"
    if complete:
        collect(VECTORS, texts, WORDS, spread=begun, checkpoint=path, block_size=1000)
    else:
        assert interrupted(path, VECTORS, texts, WORDS, after=5, spread=begun, block_size=1000)
    with pytest.raises(BadCheckpoint, match=f"spread was {begun or 'null'} and is {resumed or 'null'}"):
        collect(VECTORS, texts, WORDS, spread=resumed, checkpoint=path, block_size=1000)
    expected = collect(VECTORS, texts, WORDS, spread=begun)
    assert same(collect(VECTORS, texts, WORDS, spread=begun, checkpoint=path, block_size=1000), expected)


@pytest.fixture
def files(tmp_path):
    texts = sample_text(60_000)
    third = len(texts) // 3
    paths = [tmp_path / f"{number}.txt" for number in (1, 2, 3)]
    for number, path in enumerate(paths):
        path.write_text("\n".join(texts[number * third : (number + 1) * third]), encoding="utf-8")
    return paths


@pytest.mark.parametrize("complete", [True, False])
def test_a_file_may_be_appended_to_the_corpus(tmp_path, files, complete):
    path, work = tmp_path / "c", {"block_size": 2000, "threads": 2}
    if complete:
        collect(VECTORS, files[:2], EVERYTHING, checkpoint=path, **work)
    else:
        assert interrupted(path, VECTORS, files[:2], EVERYTHING, after=5, **work)
    ours = collect(VECTORS, files, EVERYTHING, checkpoint=path, **work)
    assert ours == collect(VECTORS, files, EVERYTHING, block_size=2000)
    with pytest.raises(BadCheckpoint, match=r"3\.txt"):  # and now it belongs to the work
        collect(VECTORS, files[:2], EVERYTHING, checkpoint=path, **work)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_changed_file_is_refused_by_name_and_spoils_nothing(tmp_path, files, threads):
    """Other files were added in the meantime; none of their text gets into the checkpoint of the first ones."""
    path, work = tmp_path / "c", {"block_size": 2000, "checkpoint_seconds": 0}
    collect(VECTORS, files[:2], WORDS, checkpoint=path, threads=2, **work)
    content = files[1].read_bytes()
    files[1].write_bytes(content[:-50] + content[-50:].replace(b"a", b"e").replace(b"b", b"d"))
    assert files[1].stat().st_size == len(content)
    for _ in range(2):
        with pytest.raises(BadCheckpoint, match=r"2\.txt, from [\d,]+ on, it differs"):
            collect(VECTORS, [files[2], *files[:2]], WORDS, checkpoint=path, threads=threads, **work)
    files[1].write_bytes(content)
    expected = collect(VECTORS, files[:2], WORDS, block_size=2000)
    assert collect(VECTORS, files[:2], WORDS, checkpoint=path, threads=threads, **work) == expected


def test_the_order_of_files_is_free(tmp_path, files):
    path, work = tmp_path / "c", {"block_size": 2000}
    assert interrupted(path, VECTORS, files, WORDS, after=9, threads=1, **work)
    expected = collect(VECTORS, files, WORDS, **work)
    assert collect(VECTORS, files[::-1], WORDS, checkpoint=path, threads=2, **work) == expected


# --------------------------------------------------------------------------------------------- stages are kept


@pytest.mark.parametrize("memory", [None, SMALL])
def test_words_that_were_counted_are_not_counted_again(tmp_path, monkeypatch, memory):
    """The first pass of SIF weights is a stage like any other: interrupted in it, after it, and found done."""
    texts, path = sample_text(40_000), tmp_path / "c"
    options = {"context_weights": "sif", "block_size": 1000, "threads": 1, "memory": memory}
    expected = collect(VECTORS, texts, NGRAMS, **options)
    blocks = sum(1 for _ in Corpus(texts).blocks(1000))
    assert interrupted(path, VECTORS, texts, NGRAMS, after=blocks // 2, **options)
    assert stages_in(path) == {"counting words": False}
    assert interrupted(path, VECTORS, texts, NGRAMS, after=blocks + blocks // 2, **options)
    assert list(stages_in(path).values()) == [True, False]
    encoded = []
    encode = Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda self, block: encoded.append(block) or encode(self, block))
    stages = Stages(monkeypatch)
    ours = collect(VECTORS, texts, NGRAMS, checkpoint=path, **options)
    assert same(ours, expected)
    first = blocks - blocks // 2  # of the first pass over the text with any sums
    assert len(encoded) <= first + 1 + (len(stages.names) - 2) * blocks
    assert all(stages_in(path).values())


def test_changed_counts_are_refused(tmp_path):
    """The text that words were counted in is the text that is summed."""
    texts, path = ["a b x"] * 300 + ["c d x"] * 300, tmp_path / "c"
    options = {"context_weights": "sif", "block_size": 1000, "threads": 1}
    blocks = sum(1 for _ in Corpus(texts).blocks(1000))
    assert interrupted(path, VECTORS, texts, WORDS, after=blocks + 2, **options)
    with pytest.raises(BadCheckpoint, match="the text is not the one"):
        collect(VECTORS, [*texts[:-1], "e e x"], WORDS, checkpoint=path, **options)
    assert same(collect(VECTORS, texts, WORDS, checkpoint=path, **options), collect(VECTORS, texts, WORDS, **options))


@pytest.mark.parametrize("first", [1, 2, 5])
def test_resumed_with_other_threads(tmp_path, first):
    documents = annotated(sample_text(60_000), np.random.default_rng(1))
    options = {"context_weights": "sif", "spread": 3, "block_size": 2000}
    expected = collect(VECTORS, documents, EVERYTHING, threads=1, **options)
    path = tmp_path / "c"
    for after, threads in ((8, first), (30, 3), (45, 1)):
        interrupted(path, VECTORS, documents, EVERYTHING, after=after, threads=threads, error=Stop, **options)
    for threads in (4, 1):
        assert collect(VECTORS, documents, EVERYTHING, checkpoint=path, threads=threads, **options) == expected


# ------------------------------------------------------------------------------------------ what is left, and inspect


@pytest.mark.parametrize("memory", [None, SMALL])
def test_what_is_left_when_all_is_done(tmp_path, memory):
    """The checkpoint stays for the caller to delete: in memory one file, else two; no lock, nothing temporary."""
    path = tmp_path / "c"
    collect(VECTORS, sample_text(20_000), NGRAMS, checkpoint=path, memory=memory, threads=1, block_size=1000)
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left[-1] == "c"
    assert len(left) == (1 if memory is None else 2)
    assert all(name.startswith(".c.") and name.endswith(".rows") for name in left[:-1])
    delete_checkpoint(path)
    delete_checkpoint(path)
    assert not list(tmp_path.iterdir())


def invoke(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_deletes_what_python_leaves(tmp_path):
    model = tmp_path / "model"
    ALaCarte(VECTORS, Transform(np.eye(VECTORS.dimension))).save(model)
    (tmp_path / "text.txt").write_text("\n".join(sample_text(20_000)), encoding="utf-8")
    (tmp_path / "targets.txt").write_text("\n".join(f"{one} {two}" for one in "abcdxyz" for two in "abcdxyz"))
    block = 1 << 20
    rows = 49 * 3
    memory = budget(VECTORS, rows, 12, block, 1, targets=49)
    work = tmp_path / "work"
    work.mkdir()
    invoke(
        "induce", "--model", model, "--corpus", tmp_path / "text.txt", "--words", tmp_path / "targets.txt",
        "--spread", 3, "--checkpoint", work / "c", "--memory", memory, "--threads", 1, "--out", work / "v.txt",
    )  # fmt: skip
    assert [file.name for file in work.iterdir()] == ["v.txt"]


@pytest.mark.parametrize("memory", [None, SMALL])
@pytest.mark.parametrize("targets", [None, NGRAMS, SPANS], ids=["all", "n-grams", "labels"])
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("more", [{}, {"context_weights": "sif", "spread": 4}], ids=["plain", "sif and spread"])
def test_inspect_describes_every_kind_of_checkpoint(tmp_path, memory, targets, complete, more):
    """Issue 14, fault 13: KeyError on a checkpoint of sums that do not fit in memory."""
    documents = annotated(sample_text(20_000), np.random.default_rng(0))
    if memory is not None:
        keys = len(collect(VECTORS, documents, targets))
        rows = keys * more.get("spread", 1)
        memory = budget(VECTORS, rows, 28, 1000, 1, targets=0 if targets is None else keys)
    options = {"memory": memory, "threads": 1, "block_size": 1000, "checkpoint": tmp_path / "c", **more}
    if complete:
        collect(VECTORS, documents, targets, **options)
    else:
        with pytest.raises(Stop):
            collect(VECTORS, documents, targets, callback=stopping_after(5), **options)
    facts = json.loads(invoke("inspect", tmp_path / "c", "--json"))
    assert facts["what"] == "checkpoint"
    assert "checkpoint" in invoke("inspect", tmp_path / "c")
