"""Files cut into pieces: the units of the pieces are those of the whole file."""

import gzip
import lzma
import re
import struct
import tarfile
import warnings
import zlib
from dataclasses import replace
from random import Random

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import Corpus
from alacarte.errors import BadCorpus
from alacarte.text import pieces, sources
from alacarte.text.members import CannotCut, Place
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
    (tmp_path / "d.txt").write_bytes(lzma.compress(text))
    with tarfile.open(tmp_path / "e.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.txt")

    def cut_of(name, **options):
        return Corpus(tmp_path, **options).cut(whole_file(tmp_path / name), [20], 8)

    assert len(cut_of("a.txt")) == 2
    for name, reason in {
        "a.jsonl": "is jsonl; write several files, or Parquet",
        "b.txt": "is one stream of gzip; compress it with bgzip",
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
        if not re.search(reason, str(error)):
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


def members(text, size):
    """Members of gzip, one after the other, as `cat a.gz b.gz` makes them; now and then an empty one."""
    parts = [text[start : start + size] for start in range(0, max(1, len(text)), size)]
    return b"".join(
        gzip.compress(part, 1) + (gzip.compress(b"") if number % 3 == 1 else b"") for number, part in enumerate(parts)
    )


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


@pytest.mark.parametrize("pack", [bgzf, members, frames, seekable])
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
    parts = pieces_of(path, places, size, "is one stream of gzip|has one member, or a few long ones")
    assert sorted(unit for part in parts for unit in units(Corpus([part]), size)) == sorted(whole)
    assert list(Corpus(parts)) == list(Corpus(path))
    if len(parts) > 1:
        assert Corpus(parts).size == len(data)


def test_enough_pieces(tmp_path):
    """Every place where a cut is wanted has one nearby."""
    text = b"".join(b"line %d\n" % number for number in range(20_000))
    for pack in (bgzf, members, frames, seekable):
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


def member(text, level=6, name=b"", extra=b"", comment=b"", has_checksum=False):
    """A member of gzip with the fields of its header that a writer may or may not put there."""
    flags = 2 * has_checksum + 4 * bool(extra) + 8 * bool(name) + 16 * bool(comment)
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    head += struct.pack("<H", len(extra)) + extra if extra else b""
    head += name + b"\0" if name else b""
    head += comment + b"\0" if comment else b""
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF) if has_checksum else b""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return head + packer.compress(text) + packer.flush() + struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)


def noise(random, size):
    """Lines that compress as text does, or hardly."""
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyzäß", k=random.randint(1, 9))) for _ in range(300)]
    return " ".join(random.choices([*words, "\n"], k=size // 5 + 1)).encode()[:size].decode(errors="ignore").encode()


LENGTHS = [0, 1, 100, 4095, 4096, 4097, 20_000, 65_536, 70_000, 300_000]
FAKE = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"


@pytest.mark.parametrize("seed", range(30))
def test_members_of_any_length_and_header(tmp_path, seed):
    """Short and long ones, all fields of headers, beginnings that are none, zeros between members and at the end."""
    path, data, text, random = tmp_path / "m.txt", b"", b"", Random(seed)
    size, few = random.randint(500, 60_000), seed % 3 == 0  # zeros, which may be taken for a length
    for length in random.choices(LENGTHS, k=random.randint(2, 9)):
        part = noise(random, length)
        data += member(
            part,
            random.choice([0, 1, 9]),
            random.choice([b"", b"a.txt", b"\x1f\x8b\x08\x08" * 3]),
            random.choice([b"", b"AB\x02\x00xy", FAKE, bytes(300), gzip.compress(b"not this")]),
            random.choice([b"", b"said of it"]),
            random.random() < 0.5,
        )
        data += bytes(random.choice([0, 0, 1, 2, 3] if few else [0, 0, 4, 5, 512, 5000]))
        text += part
    path.write_bytes(data)
    places = [len(data) * part // 5 for part in range(1, 5)]
    parts = pieces_of(path, places, size, "a few long ones" + few * "|do not say rightly")
    assert sorted(unit for part in parts for unit in units(Corpus([part]), size)) == sorted(units(Corpus(path), size))
    assert parts[0].packed is None or parts[0].size == len(text)


@pytest.mark.parametrize("before", [100, 1_000_000])
@pytest.mark.parametrize("inner", [100, 400_000])
@pytest.mark.parametrize("ahead", [b"the ", bytes(4), struct.pack("<I", 1_000_000)])
def test_a_member_within_the_stored_text_of_another(tmp_path, before, inner, ahead):
    """Which UTF-8 cannot hold, so the text is read as bytes here: all of it and in order, or an error."""
    text = b"".join(b"line %d\n" % number for number in range(200_000))
    within = text[:before] + ahead + gzip.compress(text[:inner]) + text[-300_000:]
    path = tmp_path / "a.txt"
    path.write_bytes(member(text[:50_000]) + member(within, level=0) + member(text))
    size, whole = path.stat().st_size, text[:50_000] + within + text
    try:
        parts = pieces.cut_lines(whole_file(path), [size * part // 8 for part in range(1, 8)], 10_000)
    except CannotCut:
        return
    try:
        read = [data for part in parts for data, _, _ in pieces.piece_blocks(part, 10_000)]
    except BadCorpus as error:
        if not re.search(r"a\.txt.*(does not fit it|cannot be read to its end)", str(error)):
            raise
    else:
        assert b"".join(read) == whole


def test_members_of_gzip_that_cannot_be_told(tmp_path, monkeypatch):
    text = b"".join(b"line %d\n" % number for number in range(30_000))
    path = tmp_path / "a.txt"

    def cut_of(data):
        path.write_bytes(data)
        return Corpus(path).cut(whole_file(path), [len(data) // 2], 512)

    for damaged in (member(text[:100]) * 9 + b"rest", member(text[:100]) * 9 + member(text[:100])[:-9]):
        with pytest.raises(CannotCut, match="damaged or cut off"):
            cut_of(damaged)
    two = member(text) * 2
    assert len(cut_of(two)) == 2
    for cut_off in (two[:-3], two[: len(two) * 3 // 4]):  # the last bytes say something else
        try:
            parts = cut_of(cut_off)
        except CannotCut:
            parts = [whole_file(path)]
        with pytest.raises(BadCorpus, match=r"a\.txt cannot be read to its end|the index of its members"):
            [list(Corpus([part])) for part in parts]
    wrong = two[:-4] + struct.pack("<I", len(text) + 512)
    with pytest.raises(BadCorpus, match=r"a\.txt cannot be read to its end|the index of its members"):
        list(Corpus(cut_of(wrong)))
    with pytest.raises(CannotCut, match="do not say rightly how long their text is"):
        cut_of(two[:-4] + struct.pack("<I", 9))
    parts = cut_of(two)
    path.write_bytes(member(text[:-1] + b"X") * 2)
    with pytest.raises(BadCorpus, match=r"a\.txt was changed after the work was planned"):
        list(Corpus(parts[1:]))
    monkeypatch.setattr("alacarte.text.members.MOST_STORED", len(two) // 3)
    with pytest.raises(CannotCut, match="may hold 4 GiB"):
        cut_of(two)
    with pytest.raises(CannotCut, match="is one stream of gzip"):
        cut_of(member(text))


def test_more_text_than_planned_is_noticed(tmp_path):
    """Also where the text of a piece ends with a line: nothing that was not planned is left out."""
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"one\n" * 1000) * 4)
    parts = Corpus(path).cut(whole_file(path), [path.stat().st_size // 2], 8)
    assert [part.stop for part in parts] == [8000, 16000]
    short = replace(parts[1].packed, end=Place(parts[1].packed.end.stored, 12000))
    with pytest.raises(BadCorpus, match="should end at byte 12,000 goes on behind byte 12,000"):
        list(Corpus([replace(parts[1], stop=12000, size=12000, packed=short)]))


def test_compressed_text_at_a_url():
    """Frames by their table, BGZF by the index beside it; without them, a reason."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    text = b"".join(b"line %d\n" % number for number in range(3000))
    packed = bgzf(text, 1000)
    blocks, place = [], 0
    while place < len(packed):
        place += struct.unpack_from("<H", packed, place + 16)[0] + 1
        blocks.append((place, min(1000 * (len(blocks) + 1), len(text))))
    index = struct.pack("<Q", len(blocks) - 1) + b"".join(struct.pack("<QQ", *pair) for pair in blocks[:-1])
    store.pipe({"/cut/a.gz": packed, "/cut/a.gz.gzi": index, "/cut/b.gz": packed, "/cut/c.gz": members(text, 1000)})
    store.pipe({"/cut/a.zst": seekable(text, 1000), "/cut/b.zst": frames(text, 1000)})
    for name in ("a.gz", "a.zst"):
        corpus = Corpus(f"memory://cut/{name}")
        parts = corpus.cut(corpus.whole_files()[0], [1000, 2000], 512)
        assert len(parts) > 1
        assert sorted(units(Corpus(parts), 512)) == sorted(units(corpus, 512))
    for name, reason in {
        "b.gz": r"no index \(.gzi\) beside it",
        "c.gz": "is gzip but not BGZF, whose members are looked for on disk only; download it",
        "b.zst": "no seek table at its end",
    }.items():
        corpus = Corpus(f"memory://cut/{name}")
        with pytest.raises(CannotCut, match=reason):
            corpus.cut(corpus.whole_files()[0], [1000], 512)
    store.pipe_file("/cut/a.gz.gzi", index[:8] + struct.pack("<QQ", blocks[0][0], 999) + index[24:])
    corpus = Corpus("memory://cut/a.gz")
    with pytest.raises(BadCorpus, match="the index of its members does not fit it"):
        list(Corpus(corpus.cut(corpus.whole_files()[0], [blocks[0][0]], 1)))


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
