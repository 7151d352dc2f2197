"""Files cut into pieces: the units of the pieces are those of the whole file."""

import gzip
import lzma
import struct
import tarfile
import warnings
import zlib

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import Corpus
from alacarte.errors import BadCorpus
from alacarte.text import pieces, sources
from alacarte.text.members import CannotCut
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


def test_what_cannot_be_cut_and_why(tmp_path):
    text = b"one\n" * 1000
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "a.jsonl").write_text('"one"\n')
    (tmp_path / "b.txt").write_bytes(gzip.compress(text))
    (tmp_path / "c.txt").write_bytes(gzip.compress(text) + gzip.compress(text))
    (tmp_path / "d.txt").write_bytes(lzma.compress(text))
    with tarfile.open(tmp_path / "e.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.txt")

    def cut_of(name, **options):
        return Corpus(tmp_path, **options).cut(whole_file(tmp_path / name), [20], 8)

    assert len(cut_of("a.txt")) == 2
    for name, reason in {
        "a.jsonl": "is jsonl; write several files, or Parquet",
        "b.txt": "is one stream of gzip; compress it with bgzip",
        "c.txt": "is one stream of gzip; compress it with bgzip",
        "d.txt": "is xz, which cannot be read from the middle",
        "e.tar.gz": "is an archive; unpack it",
    }.items():
        with pytest.raises(CannotCut, match=reason):
            cut_of(name)
    with pytest.raises(CannotCut, match="documents of more than a line"):
        cut_of("a.txt", unit="paragraph")
    with pytest.raises(CannotCut, match="not UTF-8"):
        cut_of("a.txt", errors="replace")


def pieces_of(path, places, size, reason):
    """A file in pieces, or as a whole where it cannot be cut for this reason."""
    try:
        return Corpus(path).cut(whole_file(path), places, size)
    except CannotCut as error:
        if reason not in str(error):
            raise
        return [whole_file(path)]


def bgzf(text, size):
    """BGZF, by its specification: gzip members that say how long they are, and an empty one at the end."""
    members = []
    for start in [*range(0, len(text), size), None]:
        part = b"" if start is None else text[start : start + size]
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        data = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff\x06\x00BC\x02\x00" + struct.pack("<H", len(data) + 25)
        members.append(head + data + struct.pack("<II", zlib.crc32(part), len(part)))
    return b"".join(members)


def frames(text, size):
    """Frames of zstd, one after the other, each behind one that holds no text, as pzstd writes them."""
    packer = zstandard.ZstdCompressor(write_checksum=len(text) % 2 == 0)
    parts = [text[start : start + size] for start in range(0, max(1, len(text)), size)]
    return b"".join(struct.pack("<II", 0x184D2A50, 3) + b"abc" + packer.compress(part) for part in parts)


def seekable(text, size):
    """The seekable format, whose frames need not say how long their text is."""
    packer = zstandard.ZstdCompressor(write_content_size=False)
    made, sizes = b"", []
    for start in range(0, len(text), size):
        frame = packer.compress(text[start : start + size])
        sizes.append((len(frame), len(text[start : start + size])))
        made += frame
    table = b"".join(struct.pack("<II", *pair) for pair in sizes) + struct.pack("<IBI", len(sizes), 0, 0x8F92EAB1)
    return made + struct.pack("<II", 0x184D2A5E, len(table)) + table


@pytest.mark.parametrize("pack", [bgzf, frames, seekable])
@settings(deadline=None, max_examples=60)
@given(texts, st.integers(1, 40), st.integers(1, 60), st.lists(st.integers(0, 900), max_size=5), st.booleans())
def test_compressed_text_is_cut_as_plain_text_is(folder, pack, text, size, member, places, marked):
    """The units of the pieces are those of the whole file, and those of the plain text but for the name."""
    path, plain = folder / "p.txt", folder / "plain.txt"
    data = (b"\xef\xbb\xbf" if marked else b"") + text.encode()
    path.write_bytes(pack(data, member))
    plain.write_bytes(data)
    whole = units(Corpus(path), size)
    assert [unit[1:] for unit in whole] == [unit[1:] for unit in units(Corpus(plain), size)]
    parts = pieces_of(path, places, size, "has one member, or a few long ones")
    assert sorted(unit for part in parts for unit in units(Corpus([part]), size)) == sorted(whole)
    assert list(Corpus(parts)) == list(Corpus(path))
    if len(parts) > 1:
        assert Corpus(parts).size == len(data)


def test_enough_pieces(tmp_path):
    """Every place where a cut is wanted has one nearby."""
    text = b"".join(b"line %d\n" % number for number in range(20_000))
    for pack in (bgzf, frames, seekable):
        (tmp_path / "a.txt").write_bytes(pack(text, 5000))
        whole = whole_file(tmp_path / "a.txt")
        parts = Corpus(tmp_path / "a.txt").cut(whole, [whole.size * n // 4 for n in (1, 2, 3)], 1024)
        assert len(parts) == 4
        assert max(part.stop - part.start for part in parts) < len(text) / 4 + 8000


def test_tables_that_are_wrong(tmp_path, monkeypatch):
    text = b"".join(b"line %d\n" % number for number in range(3000))
    path = tmp_path / "a.txt"
    good = seekable(text, 4000)

    def cut_of(data, number=2):
        path.write_bytes(data)
        return Corpus(path).cut(whole_file(path), [len(data) * place // number for place in range(1, number)], 512)

    at = good.index(struct.pack("<II", 0x184D2A5E, len(good) - good.index(b"\x5e\x2a\x4d\x18") - 8))
    stored, plain = struct.unpack_from("<II", good, at + 8)
    wrong_length = good[: at + 8] + struct.pack("<II", stored, plain + 512) + good[at + 16 :]
    with pytest.raises(BadCorpus, match="the index of its members does not fit it"):
        list(Corpus(cut_of(wrong_length)))
    monkeypatch.setattr(pieces, "STEP", 64)
    for place in range(at + 8, len(good) - 9, 8):  # wherever the wrong entry is, one of the readers notices
        stored, plain = struct.unpack_from("<II", good, place)
        for wrong in (plain - 512, plain + 512):
            parts = cut_of(good[:place] + struct.pack("<II", stored, wrong) + good[place + 8 :], 5)
            with pytest.raises(BadCorpus, match="the index of its members does not fit it"):
                [list(Corpus([part])) for part in parts]
    stored, plain = struct.unpack_from("<II", good, at + 8)
    with pytest.raises(CannotCut, match="a seek table that does not fit it"):
        cut_of(good[: at + 8] + struct.pack("<II", stored + 1, plain) + good[at + 16 :])
    with pytest.raises(CannotCut, match="a seek table that is damaged"):
        cut_of(good[:-9] + struct.pack("<IBI", 10**6, 0, 0x8F92EAB1))
    for pack in (bgzf, frames):
        data = pack(text, 4000)
        for cut_off in (data[:-3], data[: len(data) // 2]):
            with pytest.raises(CannotCut, match=r"damaged or cut off|does not fit it|something else"):
                cut_of(cut_off)
    with pytest.raises(CannotCut, match="do not say how long their text is"):
        cut_of(zstandard.ZstdCompressor(write_content_size=False).compress(text) * 2)


def test_compressed_text_at_a_url():
    """Frames by their table, BGZF by the index beside it; without them, a reason."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    text = b"".join(b"line %d\n" % number for number in range(3000))
    packed = bgzf(text, 1000)
    members, place = [], 0
    while place < len(packed):
        place += struct.unpack_from("<H", packed, place + 16)[0] + 1
        members.append((place, min(1000 * (len(members) + 1), len(text))))
    index = struct.pack("<Q", len(members) - 1) + b"".join(struct.pack("<QQ", *pair) for pair in members[:-1])
    store.pipe({"/cut/a.gz": packed, "/cut/a.gz.gzi": index, "/cut/b.gz": packed})
    store.pipe({"/cut/a.zst": seekable(text, 1000), "/cut/b.zst": frames(text, 1000)})
    for name in ("a.gz", "a.zst"):
        corpus = Corpus(f"memory://cut/{name}")
        parts = corpus.cut(corpus.whole_files()[0], [1000, 2000], 512)
        assert len(parts) > 1
        assert sorted(units(Corpus(parts), 512)) == sorted(units(corpus, 512))
    for name, reason in {"b.gz": r"no index \(.gzi\) beside it", "b.zst": "no seek table at its end"}.items():
        corpus = Corpus(f"memory://cut/{name}")
        with pytest.raises(CannotCut, match=reason):
            corpus.cut(corpus.whole_files()[0], [1000], 512)
    store.pipe_file("/cut/a.gz.gzi", index[:8] + struct.pack("<QQ", members[0][0], 999) + index[24:])
    corpus = Corpus("memory://cut/a.gz")
    with pytest.raises(BadCorpus, match="the index of its members does not fit it"):
        list(Corpus(corpus.cut(corpus.whole_files()[0], [members[0][0]], 1)))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text("ab \n", max_size=12), max_size=60),
    st.integers(1, 20),
    st.integers(1, 200),
    st.lists(st.integers(0, 2000), max_size=5),
)
def test_row_groups(folder, documents, rows, size, places):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    path = folder / "a.parquet"
    parquet.write_table(pyarrow.table({"text": pyarrow.array(documents, pyarrow.string())}), path, row_group_size=rows)
    whole = units(Corpus(path), size)
    parts = pieces_of(path, places, size, "has one row group")
    assert sorted(unit for part in parts for unit in units(Corpus([part]), size)) == sorted(whole)
    assert list(Corpus(parts)) == list(Corpus(path)) == [text for text in documents if text.strip()]


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
