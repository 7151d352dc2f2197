"""Files cut into pieces: the units of the pieces are those of the whole file."""

import gzip
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import Corpus
from alacarte.errors import BadCorpus
from alacarte.text import pieces, sources
from alacarte.text.pieces import Piece, cut, whole_file
from alacarte.text.units import unit_of

# Line ends of all kinds, blank lines, characters of several bytes, marks in the middle of a file, long lines.
bits = st.sampled_from(["a", "bb c", " ", "\n", "\n\n", "\r\n", "\r", "é", "\ufeff", "\u2028", "x" * 30, "w " * 30])
texts = st.lists(bits, max_size=60).map("".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("text")


def units(corpus, size):
    return [unit_of(block) for block in corpus.blocks(size)]


@settings(deadline=None, max_examples=150)
@given(texts, st.integers(1, 40), st.lists(st.integers(0, 600), max_size=5), st.randoms(), st.booleans())
def test_units_of_the_pieces_are_those_of_the_whole(folder, text, size, places, random, marked):
    path = folder / "a.txt"
    path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text.encode())
    parts = cut(whole_file(path), places, size)
    random.shuffle(parts)
    whole = units(Corpus(path), size)
    assert sorted(units(Corpus(parts), size)) == sorted(whole)
    assert sorted(unit for part in parts for unit in units(Corpus([part]), size)) == sorted(whole)
    ends = [unit.start + unit.size for unit in sorted(whole)]
    starts = [unit.start for unit in sorted(whole)]
    assert starts[1:] == ends[:-1]  # and they cover the file, which `reduce` counts on
    if whole:
        assert starts[0] == (3 if path.read_bytes().startswith(b"\xef\xbb\xbf") else 0)
        assert ends[-1] == path.stat().st_size


@settings(deadline=None, max_examples=100)
@given(texts, st.integers(1, 40), st.lists(st.integers(0, 900), max_size=5))
def test_lines_that_are_cut(folder, text, size, places):
    """A line that is too long is cut at the same blanks, by the reader of the piece in which it begins."""
    path = folder / "a.txt"
    path.write_text(text.replace("x", "x "), newline="")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(sources, "LONGEST", 50)
        patch.setattr(pieces, "LONGEST", 50)
        whole = units(Corpus(path), size)
        parts = cut(whole_file(path), places, size)
        assert sorted(unit for part in parts for unit in units(Corpus([part]), size)) == sorted(whole)


def test_documents_of_the_pieces(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\n\nthree\nfour")
    parts = cut(whole_file(path), [4, 8, 12], 4)
    assert len(parts) == 4
    assert list(Corpus(parts)) == list(Corpus(path)) == ["one", "two", "three", "four"]
    assert Corpus(parts).size == path.stat().st_size
    assert Corpus(parts).holds(str(path))


def test_a_byte_that_is_not_utf8_is_named_by_its_place_in_the_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\nthr\xffee\n")
    with pytest.raises(BadCorpus, match="byte 11 "):
        list(Corpus(cut(whole_file(path), [8], 4)))


def test_what_can_be_cut(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "a.jsonl").write_text('"one"\n')
    (tmp_path / "b.txt").write_bytes(gzip.compress(b"one\n"))
    corpus = Corpus(tmp_path)
    assert corpus.can_cut(str(tmp_path / "a.txt"))
    assert not corpus.can_cut(str(tmp_path / "a.jsonl"))
    assert not corpus.can_cut(str(tmp_path / "b.txt"))
    assert not Corpus(tmp_path, unit="paragraph").can_cut(str(tmp_path / "a.txt"))
    assert not Corpus(tmp_path, errors="replace").can_cut(str(tmp_path / "a.txt"))


def test_a_file_that_was_changed_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    parts = cut(whole_file(path), [4], 4)
    path.write_text("one\ntoo\nmore\n")
    with pytest.raises(BadCorpus, match=r"a\.txt was changed after the work was planned; restore it"):
        list(Corpus(parts[1:]))
    path.unlink()
    with pytest.raises(BadCorpus, match=r"a\.txt cannot be read: No such file"):
        list(Corpus(parts[1:]))


def test_blocks_of_another_size_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    piece = Piece(**{**_fields(whole_file(tmp_path / "a.txt")), "start": 4})
    with pytest.raises(BadCorpus, match="cut for blocks of another size"):
        list(Corpus([piece]).blocks(3))


def _fields(piece):
    return {name: getattr(piece, name) for name in Piece.__slots__}


def test_only_files_can_be_shared_out():
    with pytest.raises(BadCorpus, match="only files can be shared out, and this corpus is iterable of 1 documents"):
        Corpus(["a text"]).whole_files()
