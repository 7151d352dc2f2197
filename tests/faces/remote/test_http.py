"""Text from web servers that misbehave: the bits of the local pass, or an error that says what to do."""

from pathlib import Path

import pytest
from servers import first
from typer.testing import CliRunner

from alacarte import Corpus, WordVectors, collect
from alacarte._io import urls
from alacarte._io.urls import without_secrets
from alacarte.cli import app
from alacarte.errors import AlacarteError, BadCorpus, BadVectors


@pytest.fixture
def url(site, text):
    site.files["/a.txt"] = text
    return site.url("/a.txt")


def test_a_pass_has_the_bits_of_the_local_pass(url, bits, local_bits):
    assert bits(Corpus(url)) == local_bits


def test_a_server_that_is_down_or_cuts_connections_says_so(site, url):
    for fault in (first(10**9, 503), first(10**9, cut=True)):
        site.faults[:] = [fault]
        with pytest.raises(BadCorpus, match=r"/a\.txt cannot be read .*run the same command again"):
            list(Corpus(url))


def test_a_server_that_ignores_ranges_says_so(site, url):
    site.ranges = False
    with pytest.raises(AlacarteError, match="range requests"), urls.locate(url).open(200_000) as file:
        file.read()


@pytest.mark.parametrize("status", [401, 403])
def test_no_access_ends_at_once(site, url, status):
    site.faults.append(first(10**9, status, only=("HEAD", "GET")))
    with pytest.raises(BadCorpus, match=rf"/a.txt: access is denied \(the server answers {status}\)"):
        Corpus(url)


def test_no_such_file_ends_at_once(site):
    with pytest.raises(BadCorpus, match=r"/none\.txt: there is no such file"):
        Corpus(site.url("/none.txt"))


@pytest.mark.parametrize("etags", [True, False])
def test_a_file_that_changes_half_way_is_an_error(site, url, text, other_text, etags):
    site.etags = etags
    reads = []

    def replace(handler):
        if handler.headers.get("Range"):
            reads.append(1)
            if len(reads) == 1:
                site.files["/a.txt"] = other_text if etags else other_text + b"more\n"

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
    shown = [repr(corpus), corpus.description, *names]
    for status in (403, 404, 500):
        site.faults[:] = [first(10**9, status, only=("HEAD", "GET"))]
        for broken in (lambda: list(corpus), lambda: Corpus(url), lambda: WordVectors.load(url)):
            with pytest.raises(AlacarteError) as caught:
                broken()
            shown += [str(caught.value), caught.value.for_command_line()]
    assert not any("hush" in item for item in shown)


def test_what_commands_say_in_detail_has_no_secrets(site, tmp_path):
    pytest.importorskip("pandas")
    site.files["/a.csv"] = b"text,year\nthe word,1\n"
    url = site.url("/a.csv").replace("http://", "http://me:hush@") + "?sig=hush"
    said = CliRunner().invoke(app, ["regress", url, "--formula", "word ~ year", "--model", str(tmp_path), "-v"]).output
    assert "1 rows; columns text, year" in said
    assert "hush" not in said


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
