import bz2
import gzip
import io
import json
import lzma
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alacarte.errors import BadCorpus, MissingExtra
from alacarte.text.corpus import Corpus
from alacarte.text.documents import Document
from alacarte.text.lines import line_blocks
from alacarte.text.streams import Stream


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def by_size(corpus: Corpus, size: int) -> list:
    return [document for block in corpus.blocks(size) for document in block.items()]


# Document


def test_document_keeps_spans_as_tuples():
    document = Document("He sat on the bank.", spans=[[14, 18, "bank.n.01"]])
    assert document.spans == ((14, 18, "bank.n.01"),)
    assert document == Document("He sat on the bank.", None, ((14, 18, "bank.n.01"),))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one"),
        ({"text": "a", "tokens": ["a"]}, "exactly one"),
        ({"text": 3}, "not int"),
        ({"tokens": "a b"}, "not str"),
        ({"tokens": ["a", 3]}, "item 1: expected str instance, int found"),
        ({"text": "abc", "spans": [(0, 4, "x")]}, r"\(0, 4, 'x'\).*3 characters"),
        ({"tokens": ["abc"], "spans": [(0, 2, "x")]}, "1 tokens"),
        ({"text": "abc", "spans": [(-1, 2, "x")]}, "0 <= start"),
        ({"text": "abc", "spans": [(2, 2, "x")]}, "start < end"),
        ({"text": "abc", "spans": [(0, 2, "")]}, "label"),
        ({"text": "abc", "spans": [(0, 2, None)]}, "label"),
        ({"text": "abc", "spans": [(0, 2)]}, r"\(0, 2\) is not"),
        ({"text": "abc", "spans": [(0.5, 2, "x")]}, "whole numbers"),
        ({"text": "abc", "spans": [7]}, "7 is not"),
    ],
)
def test_document_errors(arguments, message):
    with pytest.raises(BadCorpus, match=message):
        Document(**arguments)


# Plain text


def test_lines(tmp_path):
    path = write(tmp_path / "a.txt", "one\r\ntwo\n\n  \t\nthree")
    corpus = Corpus(path)
    assert list(corpus) == ["one", "two", "three"]
    assert list(corpus) == ["one", "two", "three"]  # again
    assert list(Corpus(str(path))) == ["one", "two", "three"]


def test_only_a_newline_ends_a_line(tmp_path):
    text = "a\rb\x0bc\x0cd\x85e\u2028f\u2029g\x1ch"
    assert list(Corpus(write(tmp_path / "a.txt", text + "\nnext\n"))) == [text, "next"]


def test_nul_bytes_are_characters(tmp_path):
    assert list(Corpus(write(tmp_path / "a.txt", b"a\0b\n\0\n"))) == ["a\0b", "\0"]


def test_paragraphs(tmp_path):
    path = write(tmp_path / "a.txt", "\n\none\r\nmore\r\n \t\r\n\r\ntwo\n\nthree\nend\n\n\n")
    for size in (1, 5, 1 << 20):
        assert by_size(Corpus(path, unit="paragraph"), size) == ["one\nmore", "two", "three\nend"]


def test_whole_files(tmp_path):
    write(tmp_path / "a.txt", "\ufeffone\n\ntwo\n")
    write(tmp_path / "b.txt", " \n ")
    write(tmp_path / "c.txt", "three")
    assert list(Corpus(tmp_path, unit="file")) == ["one\n\ntwo\n", "three"]


def test_a_byte_order_mark_is_dropped_at_the_start_of_each_file_only(tmp_path):
    paths = [write(tmp_path / name, "\ufeffone\ntwo\ufeff\n\ufeffthree") for name in ("a", "b")]
    assert list(Corpus(paths)) == ["one", "two\ufeff", "\ufeffthree"] * 2
    assert list(Corpus(paths[:1], encoding="utf-8-sig")) == ["one", "two\ufeff", "\ufeffthree"]


lines = st.lists(st.text(st.sampled_from("ab é\r\n\n€\u2028𝒳\0"), max_size=12), max_size=12).map("\n".join)


@given(text=lines, size=st.integers(1, 40), unit=st.sampled_from(["line", "paragraph", "file"]))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_documents_do_not_depend_on_the_block_size(tmp_path, text, size, unit):
    path = write(tmp_path / "a.txt", text)
    corpus = Corpus(path, unit=unit)
    documents = list(corpus)
    assert by_size(corpus, size) == documents
    plain = text.replace("\r\n", "\n")
    if unit == "line":
        assert documents == [line for line in plain.split("\n") if line.strip()]
    elif unit == "file":
        assert documents == ([plain] if plain.strip() else [])
    else:
        assert "\n".join(documents).split("\n") == ([x for x in plain.split("\n") if x.strip()] or [""])


@given(blob=st.binary(max_size=60), size=st.integers(1, 20))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_replaced_characters_do_not_depend_on_the_block_size(tmp_path, blob, size):
    corpus = Corpus(write(tmp_path / "a.txt", b"x" + blob), errors="replace")
    expected = (b"x" + blob).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    assert by_size(corpus, size) == [line for line in expected if line.strip()]


def test_a_line_longer_than_the_block(tmp_path):
    long = "word " * 50_000
    assert by_size(Corpus(write(tmp_path / "a.txt", f"a\n{long}\nb")), 100) == ["a", long, "b"]


def test_a_long_line_takes_linear_time():
    def seconds(length: int) -> float:
        stream = Stream("x", io.BytesIO(b"x" * length), lambda: 0)
        start = time.perf_counter()
        ((block, _, _),) = line_blocks(stream, size=1 << 10)
        assert len(block) == length
        return time.perf_counter() - start

    seconds(1 << 20)
    assert seconds(16 << 20) < 2  # joining as it goes would copy 128 GiB


# Encodings


@pytest.mark.parametrize("size", [1, 8, 1 << 20])
@pytest.mark.parametrize(
    ("content", "offset"),
    [
        (b"\xe9t\xe9\n", 0),
        (b"one\ntwo\nthr\xe9e\nfour\n", 11),
        (b"\xef\xbb\xbfone\ntw\xff", 9),
        (b"one\ntwo\xe2\x82", 7),
        (b"caf\xc3\xa9\r\nb\xc3(\n", 8),
    ],
)
def test_the_offset_of_a_bad_byte(tmp_path, content, offset, size):
    for path in (write(tmp_path / "a.txt", content), write(tmp_path / "a.txt.gz", gzip.compress(content))):
        with pytest.raises(BadCorpus, match=rf"{path.name}: byte {offset} .*errors=\"replace\".*latin-1"):
            by_size(Corpus(path), size)
        assert "�" in "".join(Corpus(path, errors="replace"))
        assert "".join(Corpus(path, encoding="latin-1"))


@pytest.mark.parametrize("bom", [b"\xff\xfe", b"\xfe\xff"])
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_utf16_is_recognised_by_its_mark(tmp_path, bom, errors):
    path = write(tmp_path / "a.txt", bom + "text".encode("utf-16-le"))
    with pytest.raises(BadCorpus, match='encoding="utf-16"'):
        list(Corpus(path, errors=errors))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp037", "gb18030", "shift_jis"])
def test_other_encodings(tmp_path, encoding):
    text = "one\r\ntwo abc\n\nthree"
    text += "" if encoding == "cp037" else "日本"
    path = write(tmp_path / "a.txt", text.encode(encoding))
    for size in (3, 1 << 20):
        assert by_size(Corpus(path, encoding=encoding), size) == ["one", "two abc", text.rpartition("\n")[2]]


def test_the_offset_of_a_bad_byte_in_utf16(tmp_path):
    path = write(tmp_path / "a.txt", "abc\n".encode("utf-16-le") + b"\x00\xdc" + b"a\0")
    with pytest.raises(BadCorpus, match="byte 8 "):
        list(Corpus(path, encoding="utf-16-le"))


# Compression


def zst(content: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(content)


COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst}


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("name", ["a.txt", "a.txt.{}", "a.gz", "a.xz"])
def test_compression_is_seen_from_the_content(tmp_path, kind, name):
    path = write(tmp_path / name.format(kind), COMPRESSORS[kind](b"one\ntwo\n"))
    assert list(Corpus(path)) == ["one", "two"]


def test_a_plain_file_under_a_compressed_name(tmp_path):
    assert list(Corpus(write(tmp_path / "a.txt.gz", "one\ntwo"))) == ["one", "two"]


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_several_compressed_streams_in_one_file(tmp_path, kind):
    content = COMPRESSORS[kind](b"one\ntw") + COMPRESSORS[kind](b"o\nthree")
    assert by_size(Corpus(write(tmp_path / "a", content)), 2) == ["one", "two", "three"]


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_a_cut_off_file_is_an_error(tmp_path, kind, keep):
    content = COMPRESSORS[kind](os.urandom(100_000).hex().encode())
    path = write(tmp_path / "a.txt.gz", content[: int(len(content) * keep)])
    with pytest.raises(BadCorpus, match=r"a\.txt\.gz cannot be read to its end.*copy or download"):
        list(Corpus(path))


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_damaged_file_is_an_error(tmp_path, kind):
    content = bytearray(COMPRESSORS[kind](os.urandom(100_000).hex().encode()))
    content[50_000:50_100] = bytes(100)
    with pytest.raises(BadCorpus, match=r"a\.txt"):
        list(Corpus(write(tmp_path / "a.txt", bytes(content))))


# Several files


def test_globs_folders_and_lists(tmp_path):
    write(tmp_path / "b.txt", "b")
    write(tmp_path / "a.txt.xz", lzma.compress(b"a"))
    write(tmp_path / "deep/er/c.txt", "c")
    write(tmp_path / ".hidden", "hidden")
    write(tmp_path / ".folder/d.txt", "hidden")
    assert list(Corpus(tmp_path)) == ["a", "b", "c"]
    assert list(Corpus(str(tmp_path / "*.txt*"))) == ["a", "b"]
    assert list(Corpus(tmp_path / "**/*.txt")) == ["b", "c"]
    assert list(Corpus([tmp_path / "b.txt", tmp_path / "a.txt.xz"])) == ["b", "a"]
    assert list(Corpus([tmp_path / "b.txt", str(tmp_path / "deep")])) == ["b", "c"]
    assert list(Corpus((tmp_path / "b.txt",))) == ["b"]


def test_a_name_with_glob_characters_is_first_a_name(tmp_path):
    write(tmp_path / "a[1].txt", "brackets")
    assert list(Corpus(str(tmp_path / "a[1].txt"))) == ["brackets"]


def test_folders_that_link_to_each_other(tmp_path):
    """Issue 28, item 6: 84 files instead of 2; each is found once, under its own name."""
    for name, other in (("a", "b"), ("b", "a")):
        write(tmp_path / f"root/{name}/{name}.txt", name)
        (tmp_path / f"root/{name}/to_{other}").symlink_to(tmp_path / "root" / other)
    (tmp_path / "root/0.txt").symlink_to(tmp_path / "root/a/a.txt")
    (tmp_path / "root/up").symlink_to(tmp_path)
    corpus = Corpus(tmp_path / "root")
    assert [segment.source for segment in corpus.segments()] == [
        str(tmp_path / "root/a/a.txt"),
        str(tmp_path / "root/b/b.txt"),
    ]
    write(tmp_path / "elsewhere/c.txt", "c")
    for name in ("one", "two"):
        (tmp_path / f"root/{name}").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "root/three.txt").symlink_to(tmp_path / "elsewhere/c.txt")
    assert list(Corpus(tmp_path / "root")) == ["a", "b", "c"]


@pytest.mark.parametrize("pattern", ["root/**/*.txt", "root/**", "**/[ab].txt"])
def test_patterns_go_round_in_no_circles(tmp_path, monkeypatch, pattern):
    """Python's `**` takes all 2⁴⁰ ways through folders that link to each other."""
    for name, other in (("a", "b"), ("b", "a")):
        write(tmp_path / f"root/{name}/{name}.txt", name)
        (tmp_path / f"root/{name}/to_{other}").symlink_to(tmp_path / "root" / other)
    (tmp_path / "root/up").symlink_to(tmp_path)
    write(tmp_path / "root/.hidden/a.txt", "hidden")
    monkeypatch.chdir(tmp_path)
    assert list(Corpus(pattern)) == list(Corpus(tmp_path / pattern)) == ["a", "b"]


def test_a_file_named_twice_is_an_error(tmp_path):
    path = write(tmp_path / "a.txt", "a")
    (tmp_path / "b.txt").symlink_to(path)
    for source in ([path, path], [path, str(tmp_path / "*.txt")], [str(tmp_path), path]):
        with pytest.raises(BadCorpus, match=r"a\.txt is named twice"):
            Corpus(source)
    with pytest.raises(BadCorpus, match=r"b\.txt is named twice, also as .*a\.txt \(one is a link to the other\)"):
        Corpus(tmp_path / "*.txt")


def test_a_member_that_is_twice_in_an_archive_is_an_error(tmp_path):
    for suffix, mode in (("tar", "w"), ("tar.gz", "w:gz")):
        with tarfile.open(tmp_path / f"a.{suffix}", mode) as archive:
            for text in (b"old", b"new text"):
                info = tarfile.TarInfo("a.txt")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text))
        with pytest.raises(BadCorpus, match=r"a\.txt is in the archive twice"):
            list(Corpus(tmp_path / f"a.{suffix}"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "old")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.txt", "new text")
    with pytest.raises(BadCorpus, match=r"a\.txt is in the archive twice"):
        list(Corpus(tmp_path / "a.zip"))


def test_folder_links_are_followed_but_not_in_circles(tmp_path):
    write(tmp_path / "elsewhere/a.txt", "a")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "corpus/loop").symlink_to(tmp_path / "corpus")
    assert list(Corpus(tmp_path / "corpus")) == ["a"]


@pytest.mark.parametrize(
    "source",
    ["no such file.txt", "", "A text of its own. " * 1000, "with a \0 in it", "What? *This* [is] text."],
)
def test_a_string_is_never_taken_for_text(source):
    with pytest.raises(BadCorpus, match=r"put it in a list: \[\"…\"\]"):
        Corpus(source)


def test_a_glob_without_matches(tmp_path):
    with pytest.raises(BadCorpus, match="no file matches"):
        Corpus(tmp_path / "*.txt")


def test_an_empty_folder(tmp_path):
    write(tmp_path / ".hidden", "x")
    with pytest.raises(BadCorpus, match="holds no files"):
        Corpus(tmp_path)


def test_a_list_of_strings_that_name_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.txt", "a")
    write(tmp_path / "bank", "b")
    with pytest.raises(BadCorpus, match=r"Path\(name\)"):
        Corpus(["typo.txt", "a.txt"])
    assert list(Corpus(["bank", "x" * 5000 + "."])) == ["bank", "x" * 5000 + "."]
    with pytest.raises(BadCorpus, match="nothing but paths"):
        Corpus([Path("a.txt"), ["tokens"]])


def test_a_file_that_goes_away(tmp_path):
    path = write(tmp_path / "a.txt", "a")
    corpus = Corpus(path)
    path.unlink()
    with pytest.raises(BadCorpus, match="no such file"):
        list(corpus)
    with pytest.raises(BadCorpus, match="no such file"):
        _ = corpus.size
    path.mkdir()
    with pytest.raises(BadCorpus, match="cannot be opened: Is a directory"):
        list(corpus)


def test_positions_reach_the_size(tmp_path):
    paths = [
        write(tmp_path / "a.txt", "line\n" * 1000),
        write(tmp_path / "b.xz", lzma.compress(b"line\n" * 1000)),
        write(tmp_path / "c.jsonl", '"line"\n' * 1000),
    ]
    corpus = Corpus(paths)
    assert corpus.size == sum(path.stat().st_size for path in paths)
    blocks = list(corpus.blocks(500))
    positions = [block.position for block in blocks]
    assert positions == sorted(positions)
    assert positions[-1] == corpus.size
    assert len(blocks) > 10
    assert sum(len(block.items()) for block in blocks) == 3000


def test_a_block_has_a_size():
    with pytest.raises(BadCorpus, match="from 1 on"):
        list(Corpus(["a"]).blocks(0))


def test_closing_early_closes_the_file(tmp_path, recwarn):
    iterator = iter(Corpus(write(tmp_path / "a.txt", "one\ntwo\n")))
    assert next(iterator) == "one"
    iterator.close()
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]


# Archives


def tar(path: Path, members: dict[str, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


MEMBERS = {
    "./b.txt": b"b1\nb2\n",
    "./a/a.jsonl.gz": gzip.compress(b'{"text": "a1"}\n"a2"\n'),
    "./._b.txt": b"hidden",
    "./c.txt": b"",
}


@pytest.mark.parametrize("order", [sorted(MEMBERS), sorted(MEMBERS, reverse=True)])
@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst", "zip", "wrong name"])
def test_archives(tmp_path, kind, order):
    path = tmp_path / ("a.txt" if kind == "wrong name" else f"a.{kind}")
    members = {name: MEMBERS[name] for name in order}
    if kind == "zip":
        zipped(path, members)
    elif kind == "tar.zst":
        path.write_bytes(zst(tar(tmp_path / "plain.tar", members).read_bytes()))
    else:
        tar(path, members, {"tar": "w", "wrong name": "w:gz"}.get(kind, f"w:{kind[4:]}"))
    corpus = Corpus(path)
    texts = {"./b.txt": ["b1", "b2"], "./a/a.jsonl.gz": ["a1", "a2"]}
    assert list(corpus) == [text for name in order for text in texts.get(name, [])]
    positions = [block.position for block in corpus.blocks(1)]
    assert positions == sorted(positions)
    assert 0 < positions[-1] <= corpus.size


@pytest.mark.parametrize("make", [tar, zipped])
def test_archive_errors_name_the_member(tmp_path, make):
    path = make(tmp_path / "a.archive", {"good.txt": b"good", "x/bad.txt": b"b\xe9d"})
    with pytest.raises(BadCorpus, match=r"a\.archive/x/bad\.txt: byte 1 "):
        list(Corpus(path))
    inner = make(tmp_path / "inner", {"a.txt": b"a"}).read_bytes()
    with pytest.raises(BadCorpus, match="archive inside an archive"):
        list(Corpus(make(tmp_path / "outer", {"inner": inner})))


@pytest.mark.parametrize("make", [tar, zipped])
def test_a_cut_off_archive(tmp_path, make):
    path = make(tmp_path / "a.archive", {"a.txt": os.urandom(50_000).hex().encode()})
    path.write_bytes(path.read_bytes()[:30_000])
    with pytest.raises(BadCorpus, match=r"a\.archive.*cannot be read to its end"):
        list(Corpus(path))


def test_an_office_document_is_not_a_corpus(tmp_path):
    with pytest.raises(BadCorpus, match="office document"):
        list(Corpus(zipped(tmp_path / "a.docx", {"[Content_Types].xml": b"<xml/>"})))


# JSON lines


def test_jsonl(tmp_path):
    rows = [
        {"text": "a text", "id": 3},
        {"tokens": ["its", "tokens"]},
        "a bare text",
        ["bare", "tokens"],
        {"text": ""},
        {"tokens": []},
        {"text": "a bank", "spans": [[2, 6, "bank.n.01"]]},
        {"tokens": ["a", "bank"], "spans": [{"start": 1, "end": 2, "label": "bank.n.01", "by": "me"}]},
        {"text": None, "tokens": ["x"], "spans": None},
        {"text": "no spans", "spans": []},
    ]
    path = write(tmp_path / "a.jsonl", "\ufeff" + "\r\n\n".join(map(json.dumps, rows)))
    expected = [
        "a text",
        ["its", "tokens"],
        "a bare text",
        ["bare", "tokens"],
        Document("a bank", spans=((2, 6, "bank.n.01"),)),
        Document(tokens=["a", "bank"], spans=((1, 2, "bank.n.01"),)),
        ["x"],
        "no spans",
    ]
    assert list(Corpus(path)) == expected
    assert by_size(Corpus(path), 1) == expected
    assert list(Corpus(path, spans=None))[4:6] == ["a bank", ["a", "bank"]]
    assert list(Corpus(path.rename(tmp_path / "a.dat"), format="jsonl")) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plain text", r"a\.ndjson, line 3: not JSON.*format=\"text\""),
        ('{"body": "x", "id": 1}', r"line 3: no 'text' or 'tokens' among 'body', 'id'.*text=…"),
        ("{}", "line 3: .*no fields at all"),
        ("7", "line 3: 7 is no document"),
        ("null", "line 3: null is no document"),
        ('["a", 7]', "line 3: .*item 1: expected str instance, int found"),
        ('{"text": 7}', "line 3: 'text' is of type int"),
        ('{"tokens": "x"}', "line 3: tokens are a list of str, not str"),
        ('{"text": null}', "line 3: 'text' and 'tokens': nothing there.*drop such rows"),
        ('{"text": "x", "tokens": ["x"]}', "line 3: both 'text' and 'tokens'.*tokens=None"),
        ('{"text": "x", "spans": [[0, 5, "y"]]}', r"line 3: the span \[0, 5, 'y'\]"),
        ('{"text": "x", "spans": [{"start": 0}]}', "line 3: the span {'start': 0}"),
        ('{"text": "x", "spans": "y"}', "line 3: 'spans' is of type str"),
        ('{"text": "x", "spans": 7}', "line 3: 'spans' is of type int"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_jsonl_errors(tmp_path, line, message, size):
    path = write(tmp_path / "a.ndjson", f'"fine"\n\n{line}\n"fine"\n')
    with pytest.raises(BadCorpus, match=message):
        by_size(Corpus(path), size)


def test_the_fields_can_be_chosen(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "x y", "tokens": ["x", "y"], "body": "z"}')
    assert list(Corpus(path, tokens=None)) == ["x y"]
    assert list(Corpus(path, text=None)) == [["x", "y"]]
    assert list(Corpus(path, text="body", tokens=None)) == ["z"]


# CSV


def test_csv(tmp_path):
    content = '\ufeffid,text\r\n1,one\r\n2,"two, ""quoted""\nand on"\r\n\r\n3,\r\n4,four'
    path = write(tmp_path / "a.csv.gz", gzip.compress(content.encode()))
    for size in (1, 1 << 20):
        assert by_size(Corpus(path), size) == ["one", 'two, "quoted"\nand on', "four"]
    assert list(Corpus(path, text="id")) == ["1", "2", "3", "4"]
    tabs = write(tmp_path / "a.tsv", "id\tbody\n1\tone, two\n")
    assert list(Corpus(tabs, text="body")) == ["one, two"]
    assert list(Corpus(write(tmp_path / "empty.csv", ""))) == []


def test_csv_with_semicolons(tmp_path):
    path = write(tmp_path / "a.csv", 'text;"price, net"\nein Satz, kurz;1\n"noch; einer";2\n')
    assert list(Corpus(path)) == ["ein Satz, kurz", "noch; einer"]


@pytest.mark.parametrize("name", ["a.arrow", "a.ipc", "a.arrows"])
def test_arrow_files_that_polars_writes(tmp_path, name):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"text": ["one text", "two"], "party": ["D", "R"]}, schema_overrides={"party": polars.Enum(["D", "R"])}
    )
    (frame.write_ipc_stream if name.endswith("s") else frame.write_ipc)(tmp_path / name)
    assert [(item.text, item.values) for item in Corpus(tmp_path / name, columns=["party"])] == [
        ("one text", ("D",)),
        ("two", ("R",)),
    ]


def test_csv_with_a_huge_field(tmp_path):
    assert list(Corpus(write(tmp_path / "a.csv", "text\n" + "x" * 300_000))) == ["x" * 300_000]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,body\n1,x\n", r"a\.csv, header: no 'text' among 'id', 'body'.*text=…"),
        ("id,text\n1,x\n2\n", r"line 3: 1 values under a header of 2"),
        ("id,text\n1,x,y\n", r"line 2: 3 values"),
        ('id,text\n1,"x\n', "line 2: unexpected end of data.*quotes"),
        ('id,text\n1,"x"y\n', "line 2: .*quotes"),
    ],
)
def test_csv_errors(tmp_path, content, message):
    with pytest.raises(BadCorpus, match=message):
        list(Corpus(write(tmp_path / "a.csv", content)))


# Parquet and frames

TABLE = {
    "id": [1, 2, 3, 4],
    "text": ["one bank", "", "three", "four"],
    "spans": [[{"start": 4, "end": 8, "label": "bank.n.01"}], [], None, []],
}
TABLE_DOCUMENTS = [Document("one bank", spans=((4, 8, "bank.n.01"),)), "three", "four"]


@pytest.fixture
def parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    module = pytest.importorskip("pyarrow.parquet")

    def make(columns: dict[str, list]) -> Path:
        module.write_table(arrow.table(columns), tmp_path / "a.parquet", row_group_size=2)
        return tmp_path / "a.parquet"

    return make


def test_parquet(parquet, monkeypatch, tmp_path):
    monkeypatch.setattr("alacarte.text.records.RECORDS_AT_ONCE", 2)
    corpus = Corpus(parquet(TABLE))
    assert list(corpus) == TABLE_DOCUMENTS
    assert by_size(corpus, 1) == TABLE_DOCUMENTS
    assert [block.position for block in corpus.blocks(1)][-1] == corpus.size
    assert list(Corpus(parquet({"tokens": [["a", "b"], []]}))) == [["a", "b"]]
    assert list(Corpus(parquet({"text": ["x"]}).rename(tmp_path / "a.dat"), format="parquet")) == ["x"]


def test_parquet_errors(parquet, tmp_path):
    with pytest.raises(BadCorpus, match="no 'text' or 'tokens' among 'body'"):
        list(Corpus(parquet({"body": ["x"]})))
    with pytest.raises(BadCorpus, match=r"a\.parquet, at index 1: .*nothing there.*drop"):
        list(Corpus(parquet({"text": ["x", None]})))
    path = parquet({"text": ["x"]})
    with pytest.raises(BadCorpus, match="plain file only"):
        list(Corpus(write(tmp_path / "a.parquet.gz", gzip.compress(path.read_bytes()))))
    with pytest.raises(BadCorpus, match=r"b\.parquet is damaged: .*Parquet"):
        list(Corpus(write(tmp_path / "b.parquet", "text")))


def frame(library: str, columns: dict[str, list]):
    pytest.importorskip("narwhals")
    module = pytest.importorskip(library.partition(" ")[0])
    if library == "pyarrow":
        return module.table(columns)
    return module.LazyFrame(columns) if library == "polars lazy" else module.DataFrame(columns)


LIBRARIES = ["pandas", "polars", "polars lazy", "pyarrow"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames(library, monkeypatch):
    monkeypatch.setattr("alacarte.text.records.RECORDS_AT_ONCE", 2)
    corpus = Corpus(frame(library, TABLE))
    assert list(corpus) == TABLE_DOCUMENTS
    assert list(corpus) == TABLE_DOCUMENTS
    assert corpus.length == (None if library == "polars lazy" else 4)
    assert corpus.size is None
    assert not corpus.once
    assert [block.position for block in corpus.blocks(1)] == [1, 3, 4]
    assert corpus.description == ("frame" if library == "polars lazy" else "frame of 4 rows")
    tokens = frame(library, {"words": [["a", "b"], ["c"]]})
    assert list(Corpus(tokens, tokens="words")) == [["a", "b"], ["c"]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_frame_errors(library):
    with pytest.raises(BadCorpus, match="the frame: no 'text' or 'tokens' among 'body'"):
        list(Corpus(frame(library, {"body": ["x"]})))
    with pytest.raises(BadCorpus, match=r"the frame, at index 1: .*nothing there.*drop"):
        list(Corpus(frame(library, {"text": ["x", None]})))
    with pytest.raises(BadCorpus, match="'text' is of type int"):
        list(Corpus(frame(library, {"text": [1]})))
    with pytest.raises(BadCorpus, match="for files"):
        Corpus(frame(library, TABLE), format="csv")


def test_pandas_missing_values_and_arrays():
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    with pytest.raises(BadCorpus, match="at index 0"):
        list(Corpus(pandas.DataFrame({"text": pandas.array([None, "x"], dtype="string")})))
    assert list(Corpus(pandas.DataFrame({"tokens": [numpy.array(["a", "b"])]}))) == [["a", "b"]]
    assert list(Corpus(pandas.Series(["a text"]))) == ["a text"]


@pytest.mark.parametrize("module", ["narwhals", "pyarrow", "zstandard"])
def test_missing_extras_are_named(tmp_path, monkeypatch, module):
    sources = {
        "narwhals": lambda: frame("pandas", TABLE),
        "pyarrow": lambda: write(tmp_path / "a.parquet", "x"),
        "zstandard": lambda: write(tmp_path / "a.txt", zst(b"x")),
    }
    source = sources[module]()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match="pip install"):
        list(Corpus(source))


# Iterables


def test_iterables():
    annotated = Document("a bank", spans=((2, 6, "bank.n.01"),))
    items = [
        "a text",
        ["to", "kens"],
        ("tu", "ple"),
        annotated,
        Document("plain"),
        Document(tokens=("x",)),
        " ",
        [],
    ]
    expected = ["a text", ["to", "kens"], ["tu", "ple"], annotated, "plain", ["x"]]
    corpus = Corpus(items)
    assert list(corpus) == expected
    assert list(corpus) == expected
    assert list(Corpus(tuple(items))) == expected
    assert (corpus.length, corpus.size, corpus.once) == (8, None, False)
    assert corpus.description == "iterable of 8 documents"
    assert list(Corpus([])) == []


def test_blocks_of_iterables_are_bounded():
    taken = 0

    def texts():
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield "x" * 1000

    block = next(Corpus(texts()).blocks(5000))
    assert (block.items(), block.position) == (["x" * 1000] * 5, 5)
    assert taken == 5


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (3, "item 1 .*type int"),
        (None, "item 1 .*NoneType.*leave it out"),
        (b"x", "item 1 .*bytes.*decode"),
        ({"text": "x"}, "item 1 .*dict.*row"),
        (Path("x"), "item 1 .*Path.*list of Path"),
        (["a", None], "item 1 .*NoneType found"),
    ],
)
def test_items_of_the_wrong_type(item, message):
    with pytest.raises(BadCorpus, match=message):
        list(Corpus(iter(["fine", item])))


@pytest.mark.parametrize("source", [3, None, b"text", {"a": 1}, {"a"}])
def test_sources_of_the_wrong_type(source):
    with pytest.raises(BadCorpus, match="a corpus cannot be made of"):
        Corpus(source)


def test_an_iterator_is_read_once():
    corpus = Corpus(text for text in ["a", "b"])
    assert corpus.once
    assert corpus.length is None
    assert corpus.description == "iterator"
    again = Corpus(corpus)
    assert list(corpus) == ["a", "b"]
    for other in (corpus, again):
        with pytest.raises(BadCorpus, match="already read; pass a list, a file"):
            list(other)


def test_standard_input(monkeypatch):
    for content in (b"\xef\xbb\xbfone\ntwo", gzip.compress(b"one\ntwo")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        corpus = Corpus("-")
        assert corpus.once
        assert (corpus.size, corpus.length, corpus.description) == (None, None, "standard input")
        (block,) = corpus.blocks()
        assert (block.items(), block.position) == (["one", "two"], len(content))
        with pytest.raises(BadCorpus, match="already read"):
            list(corpus)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    corpus = Corpus(tmp_path / "pipe")
    assert corpus.once
    assert corpus.size is None
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=(gzip.compress(b"one\ntwo"),))
    writer.start()
    assert list(corpus) == ["one", "two"]
    writer.join()
    with pytest.raises(BadCorpus, match="already read"):
        list(corpus)


# Options


def test_a_corpus_of_a_corpus():
    corpus = Corpus(["a text"], name="mine")
    assert Corpus.of(corpus) is corpus
    assert Corpus(corpus).description == "mine"
    assert Corpus(corpus, name="yours").description == "yours"
    assert list(Corpus(corpus)) == ["a text"]
    with pytest.raises(BadCorpus, match="already is a Corpus"):
        Corpus(corpus, unit="file")


def test_descriptions(tmp_path):
    one, two = write(tmp_path / "a.txt", "a"), write(tmp_path / "b.txt", "b")
    assert Corpus(one).description == str(one)
    assert Corpus([one, two]).description == "2 files"
    assert repr(Corpus([one, two], name="letters")) == "<Corpus: letters>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "sentence"}, "'line', 'paragraph', 'file'"),
        ({"format": "xml"}, "'jsonl'"),
        ({"format": "csv", "unit": "file"}, "plain text"),
        ({"text": None, "tokens": None}, "nothing to read"),
        ({"encoding": "utf-9"}, "unknown encoding: utf-9"),
        ({"encoding": "rot13"}, "not a text encoding"),
        ({"errors": "mend"}, "unknown error handler name"),
    ],
)
def test_bad_options(tmp_path, options, message):
    with pytest.raises(BadCorpus, match=message):
        Corpus(write(tmp_path / "a.txt", "a"), **options)


def test_units_are_for_files():
    with pytest.raises(BadCorpus, match="for files"):
        Corpus(["a\n\nb"], unit="paragraph")


@pytest.mark.parametrize("name", ["a.json", "a.pdf.gz", "a.HTML"])
def test_endings_that_are_not_text(tmp_path, name):
    path = write(tmp_path / name, "text")
    with pytest.raises(BadCorpus, match="format="):
        list(Corpus(path))
    assert list(Corpus(path, format="text")) == ["text"]
