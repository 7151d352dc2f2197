"""Text, vectors, sums and models in a bucket: the bits of the local pass, or an error that says what to do."""

import bz2
import gzip
import io
import lzma
import tarfile
import threading
import zipfile

import pytest
from servers import BUCKET, SECRET

from alacarte import ALaCarte, ContextSums, Corpus, WordVectors, collect
from alacarte._io import urls
from alacarte._io.urls import list_files, locate
from alacarte.errors import AlacarteError, BadCorpus


def is_read(environ, key=None):
    return environ["REQUEST_METHOD"] == "GET" and "HTTP_RANGE" in environ and (key or "") in environ["PATH_INFO"]


def first(count, answer):
    """A fault: the first so many reads get another answer; afterwards None."""
    left, lock = [count], threading.Lock()

    def fault(environ, start_response):
        with lock:
            if not left[0] or not is_read(environ):
                return None
            left[0] -= 1
        return answer(environ, start_response)

    return fault


def slow_down(environ, start_response):
    start_response("503 Slow Down", [("Content-Type", "application/xml")])
    if environ["REQUEST_METHOD"] == "HEAD":  # whose answer has no body: it would be taken for the next answer
        return []
    return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]


def cut_off(text):
    """An answer with half of the bytes that it announces, all of them right."""

    def answer(environ, start_response):
        begin, _, end = environ["HTTP_RANGE"].removeprefix("bytes=").partition("-")
        part = text[int(begin) : int(end) + 1]
        start_response("206 Partial Content", [("Content-Length", str(len(part))), ("Connection", "close")])
        return [part[: len(part) // 2]]

    return answer


def test_a_pass_over_a_bucket_has_the_bits_of_the_local_pass(store, text, bits, local_bits):
    url = store.put("a.txt", text)
    assert bits(Corpus(url)) == local_bits


def test_units_are_named_by_the_url(store, text, vectors):
    url = store.put("a.txt", text)
    assert {unit.name for unit in collect(vectors, Corpus(url), ["word1"]).units} == {url}


def test_files_are_found_by_pattern_and_folder(store):
    store.put("news/b.txt", b"two\n")
    store.put("news/a.txt", b"one\n")
    store.put("news/.hidden/c.txt", b"hidden\n")
    store.put("news/deep/c.jsonl", b'{"text": "three"}\n')
    store.put("news/", b"")
    assert list(Corpus(f"s3://{BUCKET}/news/*.txt")) == ["one", "two"]
    assert list(Corpus(f"s3://{BUCKET}/news")) == list(Corpus(f"s3://{BUCKET}/news/")) == ["one", "two", "three"]


def test_listed_and_located_files_have_one_version(store):
    url = store.put("a.txt", b"one\n")
    assert list_files(f"s3://{BUCKET}")[0] == list_files(f"s3://{BUCKET}/*")[0] == locate(url)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files(store, text, bits, local_bits, compress):
    assert bits(Corpus(store.put("a.txt.packed", compress(text)))) == local_bits


def test_zst_parquet_zip_and_tar(store, text, bits, local_bits, tmp_path):
    zstandard, pyarrow = pytest.importorskip("zstandard"), pytest.importorskip("pyarrow")
    assert bits(Corpus(store.put("a.zst", zstandard.compress(text)))) == local_bits

    lines = text.decode().splitlines()
    pytest.importorskip("pyarrow.parquet").write_table(
        pyarrow.table({"text": lines}), tmp_path / "a.parquet", row_group_size=500
    )
    rows = Corpus(store.put("a.parquet", (tmp_path / "a.parquet").read_bytes()))
    assert list(rows) == lines

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.txt", "before it\n")
        archive.writestr("a.txt", text)
    assert list(Corpus(store.put("a.zip", packed.getvalue()))) == ["before it", *lines]

    for mode in ("w:", "w:gz"):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode=mode) as archive:
            for name, data in {"b.txt": b"before it\n", "a.txt": text}.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        assert list(Corpus(store.put("a.tar", packed.getvalue()))) == ["before it", *lines]


def test_a_range_is_read_without_what_is_before_it(store, text):
    location = locate(store.put("a.txt", text))
    asked = []
    store.faults.append(lambda environ, _: asked.append(environ.get("HTTP_RANGE")))
    with location.open(200_000, until=200_100) as file:
        assert file.read(100) == text[200_000:200_100]
    ranges = [item.removeprefix("bytes=").split("-") for item in asked if item]
    assert ranges
    assert min(int(begin) for begin, _ in ranges) == 200_000
    assert max(int(end) for _, end in ranges) < 200_100 + urls.BUFFER + urls.LITTLE_AHEAD


# --------------------------------------------------------------------------------------------------------- faults


def test_an_object_that_is_replaced_half_way_is_an_error(store, text, other_text):
    url = store.put("a.txt", text)
    reads = []

    def replace(environ, _):
        if is_read(environ, "a.txt"):
            reads.append(1)
            if len(reads) == 1:
                store.put("a.txt", other_text)

    store.faults.append(replace)
    with pytest.raises(BadCorpus, match=f"{url} was changed while it was read"):
        list(Corpus(url))


def test_an_object_that_is_replaced_after_it_was_listed_is_an_error(store, text, other_text):
    corpus = Corpus(store.put("a.txt", text))
    store.put("a.txt", other_text)
    with pytest.raises(BadCorpus, match="was changed while it was read"):
        list(corpus)
    assert len(list(Corpus(f"s3://{BUCKET}/a.txt"))) == 3000


def test_an_object_that_is_gone_after_it_was_listed_is_an_error(store):
    store.put("a.txt", b"one\n")
    url = store.put("b.txt", b"two\n")
    corpus = Corpus(f"s3://{BUCKET}/*")
    store.system.rm_file(f"{BUCKET}/b.txt")
    with pytest.raises(BadCorpus, match=f"{url}: there is no such file"):
        list(corpus)


def test_a_checkpoint_is_taken_up_after_the_network_fails(store, text, vectors, monkeypatch, tmp_path):
    url = store.put("a.txt", 4 * text)
    options = {"window": 3, "block_size": 1 << 14, "threads": 1, "checkpoint": tmp_path / "work"}
    reads = []

    def fail_later(environ, start_response):
        if is_read(environ):
            reads.append(1)
            if len(reads) > 2:
                return slow_down(environ, start_response)
        return None

    store.faults.append(fail_later)
    with pytest.raises(BadCorpus, match="cannot be read"):
        collect(vectors, Corpus(url), ["word1"], **options)
    assert (tmp_path / "work").exists()
    store.faults.clear()
    assert collect(vectors, Corpus(url), ["word1"], **options) == collect(
        vectors, Corpus(url), ["word1"], window=3, block_size=1 << 14
    )


def test_wrong_credentials_end_at_once_without_the_secret(store, new_session, s3_server, monkeypatch):
    import requests

    url = store.put("a.txt", b"one\n")
    requests.post(f"{s3_server[0]}/moto-api/reset-auth", data="0", timeout=10)
    try:
        with pytest.raises(BadCorpus, match=f"{url}: access is denied.*check the credentials") as caught:
            list(Corpus(url))
        assert SECRET not in str(caught.value)
        assert "tester" not in str(caught.value)
    finally:
        requests.post(f"{s3_server[0]}/moto-api/reset-auth", data="inf", timeout=10)


def test_no_credentials_end_at_once(new_session, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(BadCorpus, match="credentials"):
        Corpus("s3://texts/a.txt")


def test_no_such_bucket_or_key_end_at_once(store, monkeypatch):
    for url in (f"s3://{BUCKET}/none.txt", "s3://no-such-bucket/a.txt", f"s3://{BUCKET}/*.none"):
        with pytest.raises(BadCorpus, match="check the URL"):
            Corpus(url)


# --------------------------------------------------------------------------------------- vectors, sums and models


@pytest.mark.parametrize("name", ["v.safetensors", "v.vec.gz", "v.npy", "v.bin"])
def test_vectors(store, vectors, name):
    url = f"s3://{BUCKET}/{name}"
    vectors.save(url)
    loaded = WordVectors.load(url)
    assert loaded == vectors
    assert loaded.source == url
    assert WordVectors.load(url) == vectors  # from the copy


def test_a_copy_is_made_once_and_again_when_the_file_changes(store, vectors):
    url = f"s3://{BUCKET}/v.safetensors"
    vectors.save(url)
    reads = []
    store.faults.append(lambda environ, _: reads.append(1) if is_read(environ) else None)
    WordVectors.load(url)
    once = len(reads)
    WordVectors.load(url)
    assert once
    assert len(reads) == once
    other = vectors.subset(vectors.words[:10])
    other.save(url)
    assert WordVectors.load(url) == other


def test_a_damaged_file_is_named_by_its_url(store, vectors):
    url = f"s3://{BUCKET}/v.safetensors"
    vectors.save(url)
    store.put("v.safetensors", store.get("v.safetensors")[:-40])
    with pytest.raises(AlacarteError, match=url):
        WordVectors.load(url)


def test_sums(store, text, vectors):
    sums = collect(vectors, Corpus(store.put("a.txt", text)), ["word1", "word2"])
    sums.save(f"s3://{BUCKET}/a.sums")
    assert ContextSums.load(f"s3://{BUCKET}/a.sums") == sums


def test_a_model_in_a_bucket_and_its_vectors(store, text, vectors):
    vectors.save(f"s3://{BUCKET}/v.safetensors")
    model = ALaCarte.fit(WordVectors.load(f"s3://{BUCKET}/v.safetensors"), Corpus(store.put("a.txt", text)))
    url = f"s3://{BUCKET}/model"
    uploads = []
    store.faults.append(
        lambda environ, _: uploads.append(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "PUT" else None
    )
    model.save(url)
    assert uploads[-1].endswith("/model.json")
    loaded = ALaCarte.load(url)
    assert loaded.vectors.source == f"{url}/vectors.safetensors"
    assert loaded.transform.matrix.tolist() == model.transform.matrix.tolist()

    model.save(url, include_vectors=False)
    assert "model/vectors.safetensors" not in store.listed()
    with pytest.raises(AlacarteError, match=f"{url}: the vectors of this model are not in its folder .*v.safetensors"):
        ALaCarte.load(url)
    assert ALaCarte.load(url, vectors=model.vectors).transform.matrix.tolist() == model.transform.matrix.tolist()


def test_vectors_in_a_model_in_a_bucket_are_found_there(store, text, vectors):
    url = f"s3://{BUCKET}/model"
    ALaCarte.fit(vectors, Corpus(store.put("a.txt", text))).save(url)  # vectors of no file are always included
    model = ALaCarte.load(url)
    assert model.vectors.source == f"{url}/vectors.safetensors"
    model.save(url)
    assert "model/vectors.safetensors" in store.listed()
    model.save(f"s3://{BUCKET}/other")
    assert ALaCarte.load(f"s3://{BUCKET}/other").vectors == vectors


@pytest.mark.parametrize("missing", ["transform.safetensors", "vectors.safetensors", "model.json"])
def test_a_model_that_cannot_be_copied_says_what_is_wrong(store, text, vectors, missing):
    """An `UnboundLocalError` hid it."""
    url = f"s3://{BUCKET}/model"
    ALaCarte.fit(vectors, Corpus(store.put("a.txt", text))).save(url)
    store.system.rm_file(f"{BUCKET}/model/{missing}")
    with pytest.raises(AlacarteError, match=f"{url}/{missing}: there is no such file"):
        ALaCarte.load(url)


def test_a_model_that_cannot_be_read_says_so(store, text, vectors):
    url = f"s3://{BUCKET}/model"
    ALaCarte.fit(vectors, Corpus(store.put("a.txt", text))).save(url)
    store.faults.append(lambda environ, start: slow_down(environ, start) if is_read(environ, "transform") else None)
    with pytest.raises(AlacarteError, match=f"{url}/transform.safetensors cannot be read"):
        ALaCarte.load(url)


def test_files_of_two_models_are_not_taken_for_one(store, text, vectors):
    url = f"s3://{BUCKET}/model"
    ALaCarte.fit(vectors, Corpus(store.put("a.txt", text)), window=2).save(url)
    other = store.get("model/transform.safetensors")
    ALaCarte.fit(vectors, Corpus(store.put("a.txt", text)), window=3).save(url)
    store.put("model/transform.safetensors", other)
    with pytest.raises(AlacarteError, match=f"{url}/transform.safetensors is not the file that was saved"):
        ALaCarte.load(url)


def test_a_folder_of_other_files_is_not_taken_for_a_model(store, text, vectors):
    store.put("things/notes.txt", b"mine\n")
    model = ALaCarte.fit(vectors, Corpus(store.put("a.txt", text)))
    with pytest.raises(AlacarteError, match="exists and is not a saved model"):
        model.save(f"s3://{BUCKET}/things")
    with pytest.raises(AlacarteError, match=f"s3://{BUCKET}/things/model.json: there is no such file"):
        ALaCarte.load(f"s3://{BUCKET}/things")
