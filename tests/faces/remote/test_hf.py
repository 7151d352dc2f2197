"""Text, vectors and models in repositories of the Hugging Face Hub, by its own client, from a stand-in on loopback."""

import gzip
import os
import subprocess
import sys

import pytest
from hub import commit_name
from servers import SECRET

from alacarte import ALaCarte, ContextSums, Corpus, WordVectors, collect
from alacarte._io.urls import list_files, locate
from alacarte.errors import AlacarteError, BadCorpus, BadVectors

TEXTS = "hf://datasets/me/texts"
LOG_IN = "check the URL, and log in: run `hf auth login`, or put a token in HF_TOKEN"


def is_read(handler, path=""):
    return handler.command == "GET" and "/resolve/" in handler.path and path in handler.path


def first(count, status=None, cut=False, of=is_read):
    """A fault: the first so many reads get a status, or half of what they asked for."""
    left = [count]

    def fault(handler):
        if not of(handler) or left[0] <= 0:
            return None
        left[0] -= 1
        return {"status": status, "cut": cut}

    return fault


def at_read(number, path, call):
    """No fault: something happens at a read of a file, once."""
    reads = []

    def fault(handler):
        if is_read(handler, path):
            reads.append(1)
            if len(reads) == number:
                call()

    return fault


@pytest.fixture
def logged_in(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", SECRET)


# ----------------------------------------------------------------------------------------------------------- text


def test_a_file_has_the_bits_of_the_local_pass(hub, text, bits, local_bits):
    assert bits(Corpus(hub.put("data/a.txt", text))) == local_bits


def test_a_large_file_behind_a_redirection(hub, text, bits, local_bits):
    url = hub.put("a.txt.gz", gzip.compress(text))
    assert bits(Corpus(url)) == local_bits
    assert any(path.startswith("/large/") for _, path, _ in hub.requests)


def test_a_folder_and_a_pattern_have_the_bits_of_the_same_files_on_disk(hub, text, bits, tmp_path):
    for place, name in enumerate(["b.txt", "a.txt", "deep/c.txt", "deep/er/d.txt"]):
        part = text[place * 70_000 : (place + 1) * 70_000]
        hub.put(f"data/{name}", part)
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_bytes(part)
    hub.put(".gitattributes", b"hidden\n")
    hub.put("data/.hidden/e.txt", b"hidden\n")
    for what in ("data", "data/*.txt", "data/**/*.txt", "data/deep/[a-c].txt"):
        assert bits(Corpus(f"{TEXTS}/{what}")) == bits(Corpus(tmp_path / what)), what
    assert bits(Corpus(TEXTS)) == bits(Corpus(tmp_path / "data"))
    names = {unit.name for unit in collect(WordVectors(["word1"], [[1.0]]), Corpus(f"{TEXTS}/data/*"), ["word1"]).units}
    assert names == {f"{TEXTS}/data/{name}" for name in ("a.txt", "b.txt")}


def test_listed_and_located_files_have_one_version(hub):
    for name in ("a.txt", "a.parquet"):
        url = hub.put(f"{name}s/{name}", b"one\n")
        assert list_files(f"{TEXTS}/{name}s")[0] == list_files(f"{TEXTS}/{name}s/*")[0] == locate(url)


def test_what_is_committed_later_is_listed(hub):
    hub.put("data/deep/a.txt", b"one\n")
    for what in (TEXTS, f"{TEXTS}/data", f"{TEXTS}/data/**/*.txt", f"{TEXTS}/data/deep/*"):
        before = list(Corpus(what))
        hub.put(f"data/deep/{len(before)}.txt", b"two\n")
        assert len(list(Corpus(what))) == len(before) + 1, what


def test_revisions(hub):
    hub.put("a.txt", b"one\n")
    commit = hub.repository().branches["main"][-1]
    hub.put("a.txt", b"two\n", "draft")
    hub.put("a.txt", b"three\n", "refs/convert/parquet")
    hub.put("a.txt", b"four\n")
    assert list(Corpus(f"{TEXTS}/a.txt")) == list(Corpus(f"{TEXTS}@main/a.txt")) == ["four"]
    assert list(Corpus(f"{TEXTS}@draft/a.txt")) == list(Corpus(f"{TEXTS}@draft")) == ["two"]
    assert list(Corpus(f"{TEXTS}@refs%2Fconvert%2Fparquet/*.txt")) == ["three"]
    assert list(Corpus(f"{TEXTS}@{commit_name(commit)}/*.txt")) == ["one"]


def test_a_model_repository(hub, text, bits, local_bits):
    hub.repository("models/me/model").commit({"data/a.txt": text})
    for url in ("hf://me/model/data/a.txt", "hf://me/model@main/data/*", "hf://me/model"):
        assert bits(Corpus(url)) == local_bits


def test_a_parquet_file_is_read_in_ranges(hub, text, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lines = text.decode().splitlines()
    parquet.write_table(pyarrow.table({"text": lines}), tmp_path / "a.parquet", row_group_size=500)
    url = hub.put("data/train-00000-of-00001.parquet", (tmp_path / "a.parquet").read_bytes())
    assert list(Corpus(url)) == list(Corpus(f"{TEXTS}/data/*.parquet")) == lines


def test_many_files_are_read_with_few_requests(hub):
    """The limits of the Hub on its API are narrow: nothing is listed anew for each file or range."""
    for number in range(20):
        hub.put(f"data/{number}.txt", b"one\n" * 300)
    corpus = Corpus(f"{TEXTS}/data/*.txt")
    hub.requests.clear()
    assert len(list(corpus)) == 6000
    assert len(hub.reads()) == 20
    assert len([path for _, path, _ in hub.requests if path.startswith("/api/")]) < 10


# --------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("name", ["a.txt", "a.npy"])
def test_a_commit_half_way_is_an_error(hub, text, other_text, name):
    url = hub.put(name, text)
    hub.faults.append(at_read(1, name, lambda: hub.put(name, other_text)))
    with pytest.raises(BadCorpus, match=f"{url} was changed while it was read"):
        list(Corpus(url))


def test_a_commit_after_the_listing_is_an_error(hub, text, other_text):
    for later, what in ((other_text, "was changed while it was read"), (text[:5000], "was changed"), (None, "no such")):
        url = hub.put("a.txt", text)
        corpus = Corpus(url)
        hub.put("a.txt", later)
        with pytest.raises(BadCorpus, match=f"{url}.* {what}"):
            list(corpus)
    hub.put("a.txt", other_text)
    assert len(list(Corpus(url))) == 3000


def test_a_commit_to_another_file_is_none(hub, text):
    url = hub.put("a.txt", text)
    hub.faults.append(at_read(1, "a.txt", lambda: hub.put("b.txt", b"other\n")))
    assert list(Corpus(url)) == text.decode().splitlines()


# ---------------------------------------------------------------------------------------- what is missing or closed


@pytest.mark.parametrize("what", ["none.txt", "none/*.txt", "data/none", "data/*.none"])
def test_no_such_file_is_an_error(hub, what):
    hub.put("data/a.txt", b"one\n")
    with pytest.raises(BadCorpus, match="check the URL"):
        Corpus(f"{TEXTS}/{what}")
    with pytest.raises(BadCorpus, match="there is no such file or folder"):
        Corpus(f"{TEXTS}@none/data/a.txt")


@pytest.mark.parametrize("token", [None, SECRET, f"wrong-{SECRET}"])
@pytest.mark.parametrize("what", ["none/a.txt", "none/*.txt", "none", "private/a.txt", "private", "gated/a.txt"])
def test_what_is_not_open_ends_at_once_without_the_token(hub, monkeypatch, what, token):
    for name in ("private", "gated"):
        hub.repository(f"datasets/me/{name}", **{name: True}).commit({"a.txt": b"one\n"})
    if token is not None:
        monkeypatch.setenv("HF_TOKEN", token)
    url = f"hf://datasets/me/{what}"
    if what.startswith("private") and token == SECRET:
        assert list(Corpus(url)) == ["one"]
        return
    with pytest.raises(
        BadCorpus, match=f"me/{what.split('/')[0]}.*: there is no such repository, or it is not"
    ) as caught:
        list(Corpus(url))
    assert LOG_IN in str(caught.value)
    assert SECRET not in str(caught.value)


def test_names_of_no_repository_end_at_once(hub):
    for url in ("hf://datasets/me", "hf://datasets", "hf://me", "hf://"):
        with pytest.raises(BadCorpus, match="check the URL"):
            Corpus(url)


def test_what_is_offline_is_an_error(hub, monkeypatch):
    from huggingface_hub import constants
    from huggingface_hub.utils import _http

    url = hub.put("a.txt", b"one\n")
    _http.close_session()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadCorpus, match=f"{url} cannot be read .*HF_HUB_OFFLINE"):
        Corpus(url)
    assert not hub.requests


# --------------------------------------------------------------------------------------- vectors, sums and models


@pytest.mark.parametrize("name", ["v.safetensors", "v.vec.gz", "v.npy", "v.bin"])
def test_vectors(hub, logged_in, vectors, name):
    url = f"{TEXTS}/vectors/{name}"
    vectors.save(url)
    loaded = WordVectors.load(url)
    assert loaded == vectors
    assert loaded.source == url
    hub.requests.clear()
    assert WordVectors.load(url) == vectors  # from the copy
    assert not hub.reads()
    other = vectors.subset(vectors.words[:10])
    other.save(url)
    assert WordVectors.load(url) == other


def test_sums_and_a_model(hub, logged_in, text, vectors):
    corpus = Corpus(hub.put("a.txt", text))
    sums = collect(vectors, corpus, ["word1", "word2"])
    sums.save(f"{TEXTS}/a.sums")
    assert ContextSums.load(f"{TEXTS}/a.sums") == sums
    vectors.save(f"{TEXTS}/v.safetensors")
    model = ALaCarte.fit(WordVectors.load(f"{TEXTS}/v.safetensors"), corpus)
    model.save(f"{TEXTS}/model")
    assert ALaCarte.load(f"{TEXTS}/model").transform.matrix.tolist() == model.transform.matrix.tolist()
    assert ALaCarte.load(f"{TEXTS}/model").vectors == vectors
    model.save(f"{TEXTS}/model", include_vectors=False)
    assert "model/vectors.safetensors" not in hub.listed()
    with pytest.raises(AlacarteError, match="exists and is not a saved model"):
        model.save(TEXTS)


def test_a_save_without_a_token_or_a_repository_ends_at_once(hub, vectors, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(BadVectors, match=r"not open to you .*401.*hf auth login"):
        vectors.save(f"{TEXTS}/v.vec")
    monkeypatch.setenv("HF_TOKEN", SECRET)
    with pytest.raises(BadVectors, match="there is no such repository") as caught:
        vectors.save("hf://datasets/me/none/v.vec")
    assert SECRET not in str(caught.value)
    assert not hub.listed()
    assert not list(tmp_path.iterdir())


# ----------------------------------------------------------------------------------------------- the command line


def test_the_command_line(hub, text, vectors, tmp_path):
    """In processes of its own, which find the Hub by HF_ENDPOINT, as users of a mirror do."""
    hub.put("data/a.txt", text[:100_000])
    hub.put("data/b.txt", text[100_000:])
    vectors.save(tmp_path / "v.safetensors")
    hub.put("v.safetensors", (tmp_path / "v.safetensors").read_bytes())
    hub.repository("datasets/me/gated", gated=True).commit({"a.txt": b"one\n"})
    settings = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path), "HF_TOKEN": SECRET}
    settings |= dict.fromkeys(("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY"), "1")

    def alc(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "alacarte", *arguments],
            env={**os.environ, **settings},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    made = alc(
        "fit", "--vectors", f"{TEXTS}/v.safetensors", "--corpus", f"{TEXTS}/data/*.txt", "--out", f"{TEXTS}/model"
    )
    assert made.returncode == 0, made.stderr
    model = ALaCarte.load(f"{TEXTS}/model")
    assert model.vectors.source == f"{TEXTS}/model/vectors.safetensors"
    local = ALaCarte.fit(vectors, Corpus(f"{TEXTS}/data"))
    assert model.transform.matrix.tolist() == local.transform.matrix.tolist()
    seen = alc("inspect", f"{TEXTS}/data/a.txt")
    assert seen.returncode == 0, seen.stderr
    assert text.decode().split(maxsplit=1)[0] in seen.stdout
    refused = alc("inspect", "hf://datasets/me/gated/a.txt")
    assert refused.returncode == 1
    assert "hf auth login" in refused.stderr
    for run in (made, seen, refused):
        assert SECRET not in run.stdout + run.stderr
