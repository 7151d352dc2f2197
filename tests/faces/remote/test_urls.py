"""URLs in general, with a file system in memory: names, secrets, the reader, what needs which package."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import passes as shared
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from alacarte import ALaCarte, ContextSums, Corpus, WordVectors, collect
from alacarte._io import copies, urls
from alacarte._io.urls import in_text_without_secrets, list_files, locate, url_of, without_secrets
from alacarte.cli import app
from alacarte.errors import AlacarteError, BadCorpus, MissingExtra
from alacarte.model.model import ADAPTED_POSITIONS

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'alacarte-embeddings[remote]'")


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_a_pass_has_the_bits_of_the_local_pass(memory, text, bits, local_bits):
    memory.pipe_file("/texts/a.txt", text)
    for source in ("memory://texts/a.txt", Path("memory://texts/a.txt"), "memory://texts", "memory://texts/*.txt"):
        assert bits(Corpus(source)) == local_bits


def test_file_urls_are_paths(tmp_path, toy):
    (tmp_path / "a b.txt").write_text("one\n")
    url = (tmp_path / "a b.txt").as_uri()
    corpus = Corpus(url)
    assert list(corpus) == list(Corpus(f"{tmp_path.as_uri()}/*.txt")) == ["one"]
    assert {block.source for block in corpus.blocks()} == {str(tmp_path / "a b.txt")}
    toy.save((tmp_path / "v.vec").as_uri())
    assert WordVectors.load(tmp_path / "v.vec") == WordVectors.load((tmp_path / "v.vec").as_uri()) == toy


def test_local_files_need_no_fsspec(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    (tmp_path / "a.txt").write_text("one\n")
    assert list(Corpus(tmp_path / "a.txt")) == ["one"]
    assert list(Corpus((tmp_path / "a.txt").as_uri())) == ["one"]


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(MissingExtra, match="pip install gcsfs"):
        Corpus("gs://bucket/a.txt")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"pip install 'alacarte-embeddings\[remote\]'"):
        Corpus("s3://bucket/a.txt")


def test_a_list_of_urls_is_not_taken_for_texts():
    with pytest.raises(BadCorpus, match="is a URL, but a list of str is a list of texts"):
        Corpus(["s3://a/b.txt", "s3://a/c.txt"])
    assert list(Corpus(["see https://example.com for more", "https://example.com"]))


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("s3://bucket/a.txt", "s3://bucket/a.txt"),
        ("s3://key:secret@bucket/a.txt", "s3://bucket/a.txt"),
        ("https://token@host/a.txt", "https://host/a.txt"),
        ("https://host/a.txt#hush", "https://host/a.txt"),
        ("https://host/a.txt?", "https://host/a.txt"),
        ("s3://bucket/what?.txt", "s3://bucket/what?.txt"),
        ("s3://bucket/a#1.txt", "s3://bucket/a#1.txt"),
        ("abfs://box@account/a.txt", "abfs://box@account/a.txt"),
        ("hf://datasets/me/words@main/a.txt", "hf://datasets/me/words@main/a.txt"),
    ],
)
def test_names_without_a_query(url, kept):
    assert without_secrets(url) == kept
    assert without_secrets(kept) == kept


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        *(
            (f"?{name}=hush", f"?{name}=…")
            for name in ("author", "shard", "split", "keyword", "design", "pwd", "ticket")
        ),
        ("?a=1;token=hush", "?a=…"),
        ("?a=1%26token=hush", "?a=…"),
        (";token=hush", ";token=…"),
        (";token=hush?a=1", ";token=…"),
        ("?hush", "?…"),
        ("?aHVzaA==", "?…"),
        ("?a=1&hush&b=hush&=hush", "?a=…&…&b=…&…"),
        ("?a=hush#hush", "?a=…"),
        ("?next=https://me:hush@host/b?sig=hush", "?next=…"),
        ("?a=…#hush", "?a=…"),
    ],
)
def test_of_a_query_the_names_are_shown_and_a_digest(query, kept):
    url = f"https://me:hush@host/a.csv{query}"
    name = without_secrets(url)
    assert re.fullmatch(re.escape(f"https://host/a.csv{kept}#") + "[0-9a-f]{12}", name)
    assert without_secrets(name) == name
    assert without_secrets(f"{url}1" if "#" not in query else url.replace("?", "?b=1&")) != name
    assert urls.base_name(url) == "a.csv"
    assert urls.sibling(url, "b.csv") == "https://me:hush@host/b.csv"
    assert "hush" not in in_text_without_secrets(f"400, url={url!r}: no /a.csv?{query[1:]}")


@pytest.mark.parametrize(
    "url",
    ["dask://host:1/x", "reference://x", "postgresql://host/x?table=y", "ftp://host/x", "github://a:b@/x", "local://x"],
)
def test_other_schemes_are_not_opened(url, tmp_path, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection"))
    for read in (Corpus, urls.locate, list_files):
        with pytest.raises(AlacarteError, match=r"://.* is not opened; pass a path, or a URL with file, http"):
            read(url)


@pytest.mark.parametrize("url", ["https://host/x::file:///etc/passwd", "s3://a/b::reference://c", "memory://a::b"])
def test_urls_within_urls_are_not_opened(url):
    for read in (Corpus, WordVectors.load, urls.locate, list_files):
        with pytest.raises(AlacarteError, match="URLs within URLs are not opened"):
            read(url)


def test_paths_are_no_urls():
    for name in ("a.txt", "/a/b", "C:\\a", "C:/a", "a:/b", "s3", "s3:", "*.txt", "a//b", "-"):
        assert url_of(name) is None


@settings(max_examples=50)
@given(data=st.data())
def test_any_order_of_reads_and_seeks_gives_the_bytes(data):
    size = data.draw(st.integers(0, 3000))
    whole = np.random.default_rng(size).bytes(size)
    fsspec.filesystem("memory").pipe_file("/a", whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urls, "LITTLE_AHEAD", data.draw(st.integers(1, 100)))
        patch.setattr(urls, "READ_AHEAD", data.draw(st.integers(100, 1000)))
        patch.setattr(urls, "BUFFER", data.draw(st.integers(1, 1000)))
        start = data.draw(st.integers(0, size))
        with locate("memory://a").open(start, data.draw(st.none() | st.integers(start, size))) as file:
            position = start
            for _ in range(data.draw(st.integers(1, 8))):
                if data.draw(st.booleans()):
                    position = data.draw(st.integers(0, size + 5))
                    assert file.seek(position) == position
                amount = data.draw(st.integers(0, 2000))
                assert file.read(amount) == whole[position : position + amount]
                position += len(whole[position : position + amount])
                assert file.tell() == position


def test_a_file_that_is_written_again_is_an_error(memory, text):
    memory.pipe_file("/a.txt", text)
    corpus = Corpus("memory://a.txt")
    memory.pipe_file("/a.txt", text)
    with pytest.raises(BadCorpus, match=r"memory://a\.txt was changed while it was read"):
        list(corpus)


def alc(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_the_command_line(memory, text, vectors, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory.pipe_file("/texts/a.txt", text[:100_000])
    memory.pipe_file("/texts/b.txt", text[100_000:])
    vectors.save("memory://v.safetensors")
    fit = ["fit", "--vectors", "memory://v.safetensors", "--weighting", "log"]
    made = alc(*fit, "--corpus", "memory://texts", "--save-sums", "memory://a.sums", "--out", "memory://model")
    assert made.exit_code == 0, made.output
    assert "The model is in memory://model." in made.output
    model = ALaCarte.load("memory://model")
    assert model.vectors == vectors
    texts = Corpus("memory://texts/*.txt")
    assert ContextSums.load("memory://a.sums") == collect(vectors, texts, positions=ADAPTED_POSITIONS)

    assert alc(*fit, "--sums", "memory://a.sums", "--out", "memory://again").exit_code == 0
    assert ALaCarte.load("memory://again").transform.matrix.tolist() == model.transform.matrix.tolist()

    induce = ["induce", "--model", "memory://model", "--corpus", "memory://texts", "--word", "über"]
    assert alc(*induce, "--out", "memory://n.vec").exit_code == 0
    assert list(WordVectors.load("memory://n.vec")) == ["über"]
    assert not list(tmp_path.glob("memory*"))


COMMANDS = """
fit --vectors memory://v.safetensors --corpus memory://t --weighting none --ridge 1 --save-sums memory://a.sums --out memory://model
fit --vectors memory://v.safetensors --corpus memory://t --shard 1/2 --save-sums memory://1.sums
fit --vectors memory://v.safetensors --corpus memory://t --shard 2/2 --save-sums memory://2.sums
merge memory://1.sums memory://2.sums --out memory://12.sums
fit --vectors memory://v.safetensors --sums memory://12.sums --weighting none --ridge 1 --out memory://again
induce --model memory://model --corpus memory://t --words memory://words --spread 4 --save-sums memory://x.sums --out memory://x.vec
induce --model memory://model --corpus memory://t --task memory://u --ngrams 2 --out memory://z.vec --missing memory://missing
induce --model memory://model/transform.safetensors --vectors memory://v.safetensors --sums memory://x.sums --out memory://w.vec
embed --model memory://model --word x --context "a river bank x"
nearest memory://v.safetensors --word x --from memory://x.vec
convert memory://v.safetensors memory://v.npy
inspect memory://v.safetensors
inspect memory://v.npy
inspect memory://x.vec
inspect memory://x.sums
inspect memory://model
inspect memory://t
inspect memory://t/a.txt
inspect memory://table.jsonl
contexts --word x memory://t --csv memory://contexts.csv
compare --word x memory://table.jsonl --by group --model memory://model --csv memory://compared.csv
regress memory://table.jsonl --formula "x ~ group" --model memory://model --csv memory://regressed.csv
nearest --model memory://model --sums memory://x.sums
senses induce --word x --corpus memory://t --model memory://model --out memory://senses.vec
convert memory://v.safetensors memory://v.index
nearest memory://v.index --word a
concordance build --corpus memory://t --vectors memory://v.safetensors --out here.concordance
""".strip().splitlines()  # docs/remote.md has the same as a table

REFUSED = """
fit --vectors memory://v.safetensors --corpus memory://t --checkpoint memory://checkpoint --out memory://m
concordance build --corpus memory://t --vectors memory://v.safetensors --out memory://c
concordance lines --word x memory://c
""".strip().splitlines()


def test_every_command_at_urls(memory, tmp_path, monkeypatch):
    """Each command that takes a path takes a URL, or says that it wants a path; nothing is written beside."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    lines = shared.sample_text(3000, 1)
    shared.VECTORS.save("memory://v.safetensors")
    memory.pipe({"/t/a.txt": "\n".join(lines).encode(), "/u/b.txt": "\n".join(shared.sample_text(500, 2)).encode()})
    rows = [json.dumps({"text": line, "group": "ab"[place % 2]}) for place, line in enumerate(lines)]
    memory.pipe({"/words": b"x\r\nriver bank\r\n", "/table.jsonl": "\n".join(rows).encode()})
    for command in COMMANDS:
        result = alc(*shlex.split(command))
        assert result.exit_code == 0, f"{command}\n{result.output}"
        assert "memory:/" not in result.output.replace("memory://", ""), command
    assert ContextSums.load("memory://x.sums").keys == ["x", "river bank"]
    assert sorted(path.name for path in here.iterdir()) == ["here.concordance"]
    for command in REFUSED:
        result = alc(*shlex.split(command))
        assert result.exit_code == 1, command
        assert "lies on a disk, where files can be locked" in " ".join(result.output.split())
    assert sorted(path.name for path in here.iterdir()) == ["here.concordance"]


def test_inspect_reads_little_of_a_long_text(memory, monkeypatch):
    """Text behind a URL is not copied to see what it is."""
    memory.pipe_file("/long.txt", b"some words of text\n" * 500_000)
    monkeypatch.setattr(copies, "copy_files", lambda _: pytest.fail("it was copied"))
    assert "some words of text" in alc("inspect", "memory://long.txt").output
    missing = alc("inspect", "memory://nothing.txt")
    assert missing.exit_code == 1
    assert "memory://nothing.txt: there is no such file or folder" in missing.output


def test_nothing_is_replaced_by_accident(memory, text, vectors):
    memory.pipe_file("/texts/a.txt", text)
    memory.pipe_file("/other.sums", b"mine")
    vectors.save("memory://v.safetensors")
    run = ["fit", "--vectors", "memory://v.safetensors", "--corpus", "memory://texts", "--shard", "1/2"]
    for place in ("memory://other.sums", "memory://v.safetensors"):
        refused = alc(*run, "--save-sums", place)
        assert refused.exit_code
        assert place in refused.output
    assert memory.cat_file("/other.sums") == b"mine"
    assert WordVectors.load("memory://v.safetensors") == vectors
    with pytest.raises(AlacarteError, match="read from this file"):
        WordVectors.load("memory://v.safetensors").save("memory://v.safetensors")
