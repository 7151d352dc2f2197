"""Files cut into segments: the units of the segments are those of the whole file."""

import gzip
import lzma
import tarfile
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import Corpus
from alacarte.errors import BadCorpus
from alacarte.text import lines, segments
from alacarte.text.segments import cut_segment
from alacarte.text.units import unit_of

# Line ends of all kinds, blank lines, characters of several bytes, marks in the middle of a file, long lines.
bits = st.sampled_from(["a", "bb c", " ", "\n", "\n\n", "\r\n", "\r", "é", "\ufeff", "\u2028", "x" * 30, "w " * 30])
texts = st.lists(bits, max_size=60).map("".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("text")


def units(corpus, size):
    return [unit_of(block) for block in corpus.blocks(size)]


def parts_of(corpus, places, size):
    """The segments of a corpus of one file, cut near some places."""
    (segment,) = corpus.segments()
    return cut_segment(segment, places, corpus.options, size)


@settings(deadline=None, max_examples=150)
@given(texts, st.integers(1, 40), st.lists(st.integers(0, 600), max_size=5), st.randoms(), st.booleans())
def test_units_of_the_segments_are_those_of_the_whole(folder, text, size, places, random, marked):
    path = folder / "a.txt"
    path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text.encode())
    corpus = Corpus(path)
    parts = parts_of(corpus, places, size)
    assert sum(part.size for part in parts) == path.stat().st_size
    random.shuffle(parts)
    whole = units(corpus, size)
    assert sorted(units(corpus.only(parts), size)) == sorted(whole)
    assert sorted(unit for part in parts for unit in units(corpus.only([part]), size)) == sorted(whole)
    ends = [unit.start + unit.size for unit in sorted(whole)]
    starts = [unit.start for unit in sorted(whole)]
    assert starts[1:] == ends[:-1]  # and they cover the file
    if whole:
        assert starts[0] == (3 if path.read_bytes().startswith(b"\xef\xbb\xbf") else 0)
        assert ends[-1] == path.stat().st_size


@settings(deadline=None, max_examples=100)
@given(texts, st.integers(1, 40), st.lists(st.integers(0, 900), max_size=5))
def test_lines_that_are_cut(folder, text, size, places):
    """A line that is too long is cut at the same blanks, by the reader of the segment in which it begins."""
    path = folder / "a.txt"
    path.write_text(text.replace("x", "x "), newline="")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(lines, "LONGEST_LINE", 50)
        patch.setattr(segments, "LONGEST_LINE", 50)
        corpus = Corpus(path)
        parts = parts_of(corpus, places, size)
        read = [unit for part in parts for unit in units(corpus.only([part]), size)]
        assert sorted(read) == sorted(units(corpus, size))


def test_a_line_longer_than_what_is_read_at_once(tmp_path, monkeypatch):
    """The readers of the segments behind it find no line in theirs."""
    monkeypatch.setattr(lines, "READ_AT_ONCE", 16)
    (tmp_path / "a.txt").write_text("one\n" + "x " * 500 + "\nthree\nfour\n")
    corpus = Corpus(tmp_path / "a.txt")
    parts = parts_of(corpus, list(range(0, 1000, 40)), 8)
    assert len(parts) > 20
    assert [unit for part in parts for unit in units(corpus.only([part]), 8)] == units(corpus, 8)


def test_documents_of_the_segments(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\n\nthree\nfour")
    corpus = Corpus(path)
    parts = parts_of(corpus, [4, 8, 12], 4)
    assert [(part.start, part.stop) for part in parts] == [(0, 4), (4, 8), (8, 12), (12, 20)]
    assert list(corpus.only(parts)) == list(corpus) == ["one", "two", "three", "four"]
    assert corpus.only(parts).size == path.stat().st_size


def test_a_byte_that_is_not_utf8_is_named_by_its_place_in_the_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\nthr\xffee\n")
    corpus = Corpus(tmp_path / "a.txt")
    with pytest.raises(BadCorpus, match="byte 11 "):
        list(corpus.only(parts_of(corpus, [8], 4)))


def test_what_cannot_be_cut_is_whole(tmp_path):
    text = b"one\n" * 1000
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.jsonl").write_text('"one"\n' * 20)
    (tmp_path / "b.txt").write_bytes(gzip.compress(text))
    (tmp_path / "d.txt").write_bytes(lzma.compress(text))
    with tarfile.open(tmp_path / "e.tar", "w") as archive:
        archive.add(tmp_path / "a.txt")
    assert len(parts_of(Corpus(tmp_path / "a.txt"), [20], 8)) == 2
    for name in ("a.jsonl", "b.txt", "d.txt", "e.tar"):
        assert len(parts_of(Corpus(tmp_path / name), [20], 8)) == 1, name
    for options in ({"unit": "paragraph"}, {"errors": "replace"}, {"encoding": "latin-1"}, {"format": "csv"}):
        assert len(parts_of(Corpus(tmp_path / "a.txt", **options), [20], 8)) == 1, options
    assert Corpus(["a text"]).segments() == []


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text("ab \n", max_size=12), max_size=60),
    st.integers(1, 20),
    st.integers(1, 200),
    st.lists(st.integers(0, 2000), max_size=5),
    st.integers(1, 6),
)
def test_row_groups(folder, documents, rows, size, places, shards):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    path = folder / "a.parquet"
    parquet.write_table(pyarrow.table({"text": pyarrow.array(documents, pyarrow.string())}), path, row_group_size=rows)
    corpus = Corpus(path)
    whole = units(corpus, size)
    parts = parts_of(corpus, places, size)
    assert [unit for part in parts for unit in units(corpus.only([part]), size)] == whole
    assert list(corpus.only(parts)) == list(corpus) == [text for text in documents if text.strip()]
    shared = [corpus.shard(number, shards, size) for number in range(1, shards + 1)]
    assert [unit for shard in shared for unit in units(shard, size)] == whole


def test_a_file_that_was_changed_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    corpus = Corpus(path)
    rest = corpus.only(parts_of(corpus, [4], 4)[1:])
    path.write_text("one\ntoo\nmore\n")
    with pytest.raises(BadCorpus, match=r"a\.txt was changed while it was read"):
        list(rest)
    path.unlink()
    with pytest.raises(BadCorpus, match=r"no such file: .*a\.txt"):
        list(rest)


def test_segments_at_a_url():
    fsspec = pytest.importorskip("fsspec")
    text = b"".join(b"line %d\n" % number for number in range(3000))
    fsspec.filesystem("memory").pipe({"/cut/a.txt": text, "/cut/b.txt.gz": gzip.compress(text)})
    corpus = Corpus("memory://cut/*")
    parts = corpus.segments(512, 4096)
    assert len(parts) > 5
    assert units(corpus.only(parts), 512) == units(corpus, 512)
    shards = [corpus.shard(number, 4, 512) for number in range(1, 5)]
    assert [unit for shard in shards for unit in units(shard, 512)] == units(corpus, 512)
