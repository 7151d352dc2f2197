"""Text from web servers that misbehave: the bits of the local pass, or an error that says what to do."""

from pathlib import Path

import numpy as np
import pytest
from servers import first

from alacarte import Corpus, WordVectors, collect
from alacarte._io import urls
from alacarte._io.urls import without_secrets
from alacarte.errors import AlacarteError, BadCorpus, BadVectors


@pytest.fixture
def url(site, text):
    site.files["/a.txt"] = text
    return site.url("/a.txt")


def test_a_pass_has_the_bits_of_the_local_pass(url, bits, local_bits):
    assert bits(Corpus(url)) == local_bits


@pytest.mark.parametrize(
    "fault",
    [first(4, 503), first(4, 429), first(4, cut=True), first(3, 500, only=("HEAD", "GET"))],
    ids=["503", "429", "cut", "also when asked for its size"],
)
def test_what_passes_is_tried_again(site, url, text, fault):
    site.faults.append(fault)
    assert list(Corpus(url)) == text.decode().splitlines()


@pytest.mark.parametrize("seed", range(3))
def test_any_mixture_of_what_passes_gives_the_bytes(site, url, text, seed):
    random = np.random.default_rng(seed)

    def fault(handler):
        if random.random() > 0.25:
            return None
        return {"cut": True} if random.random() < 0.3 else {"status": int(random.choice([429, 500, 502, 503, 504]))}

    site.faults.append(fault)
    assert list(Corpus(url)) == text.decode().splitlines()


def test_a_read_goes_on_from_where_it_was(site, url, text):
    with urls.locate(url).open() as file:
        begin = file.read(100_000)
        site.requests.clear()
        site.faults.append(first(3, cut=True))
        assert begin + file.read() == text
    ranges = [wanted for _, _, wanted in site.requests if wanted]
    assert min(int(item.removeprefix("bytes=").partition("-")[0]) for item in ranges) > 50_000


def test_a_server_that_ignores_ranges(site, url, text, bits, local_bits):
    site.ranges = False
    assert bits(Corpus(url)) == local_bits
    with urls.locate(url).open(200_000) as file:
        assert file.read() == text[200_000:]


def test_a_server_that_ignores_ranges_and_cuts_connections(site, url, text):
    site.ranges = False
    site.faults.append(first(4, cut=True))
    assert list(Corpus(url)) == text.decode().splitlines()


@pytest.mark.parametrize("status", [401, 403])
def test_no_access_ends_at_once(site, url, status, monkeypatch):
    monkeypatch.setattr(urls, "WAITS", (100.0,))
    site.faults.append(first(10**9, status, only=("HEAD", "GET")))
    with pytest.raises(BadCorpus, match=rf"/a.txt: access is denied \(the server answers {status}\)"):
        Corpus(url)


def test_no_such_file_ends_at_once(site, monkeypatch):
    monkeypatch.setattr(urls, "WAITS", (100.0,))
    with pytest.raises(BadCorpus, match=r"/none\.txt: there is no such file"):
        Corpus(site.url("/none.txt"))


@pytest.mark.parametrize("etags", [True, False])
def test_a_file_that_changes_half_way_is_an_error(site, url, text, other_text, etags):
    site.etags = etags
    reads = []

    def replace(handler):
        if handler.headers.get("Range"):
            reads.append(1)
            if len(reads) == 5:
                site.files["/a.txt"] = other_text if etags else other_text + b"more\n"

    site.faults.append(replace)
    with pytest.raises(BadCorpus, match=r"/a\.txt was changed while it was read"):
        list(Corpus(url))


def test_a_file_that_changes_where_ranges_are_ignored_is_an_error(site, url, text, other_text):
    site.ranges = False

    def replace(handler):
        if handler.command == "GET" and not handler.headers.get("Range"):
            site.files["/a.txt"] = other_text

    site.faults.append(replace)
    with pytest.raises(BadCorpus, match=r"/a\.txt was changed while it was read"):
        list(Corpus(url))


def test_secrets_are_used_and_not_shown(site, text, vectors, tmp_path):
    site.files["/a.txt"] = text
    url = site.url("/a.txt").replace("http://", "http://me:hush@") + "?sig=hush&part=1"
    corpus = Corpus(url)
    assert len(list(corpus)) == 3000
    assert all("sig=hush" in path for _, path, _ in site.requests)
    names = {block.source for block in corpus.blocks()}
    assert names == {without_secrets(url)}
    assert without_secrets(url).startswith(site.url("/a.txt?sig=…&part=…#"))
    assert [segment.source for segment in corpus.segments()] == [without_secrets(url)]
    shown = [repr(corpus), corpus.description, str(corpus.identity), *names]
    for status in (403, 404, 500):
        site.faults[:] = [first(10**9, status, only=("HEAD", "GET"))]
        for broken in (lambda: list(corpus), lambda: Corpus(url), lambda: WordVectors.load(url)):
            with pytest.raises(AlacarteError) as caught:
                broken()
            shown += [str(caught.value), caught.value.for_command_line()]
    assert not any("hush" in item for item in shown)


def test_vectors(site, vectors, tmp_path):
    vectors.save(tmp_path / "v.vec")
    site.files["/v.vec"] = (tmp_path / "v.vec").read_bytes()
    assert WordVectors.load(site.url("/v.vec")) == vectors
    with pytest.raises(BadVectors, match="nothing can be saved there"):
        vectors.save(site.url("/w.vec"))


def test_urls_that_differ_in_their_query_are_two(site, text, vectors, tmp_path):
    site.files["/a.txt"] = text
    corpus = Corpus([Path(site.url(f"/a.txt?author={name}")) for name in "ab"])
    whole = collect(vectors, corpus, ["word1"], window=3, block_size=1 << 14)
    assert len({unit.name for unit in whole.units}) == 2

    class Stop(Exception):
        pass

    def stop(state):
        if state.done > 0.7 * state.total:
            raise Stop

    work = {"window": 3, "block_size": 1 << 14, "threads": 1, "checkpoint": tmp_path / "work"}
    with pytest.raises(Stop):
        collect(vectors, corpus, ["word1"], callback=stop, checkpoint_seconds=0, **work)
    assert collect(vectors, corpus, ["word1"], **work) == whole
    assert b"author=a" not in (tmp_path / "work").read_bytes()
