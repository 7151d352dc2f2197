"""Nothing that is read runs code, and nothing that is read takes memory without bounds."""

import gzip
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import tarfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from alacarte import ALaCarte, Concordance, Corpus, Targets, Transform, WordVectors, collect
from alacarte._io.arrow import open_arrow
from alacarte.cli import app
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, BadTransform, BadVectors
from alacarte.text import lines

VECTORS = WordVectors(["the", "cat", "sat"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


# ------------------------------------------------------------------------------------------------- code


class Runs:
    """A pickle of this makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("name", ["glove.txt", "v.kv", "v.bin", "v.npy"])
@pytest.mark.parametrize("options", [{}, {"trust": True}, {"format": "gensim-pickle"}])
def test_a_pickle_is_not_opened_by_sniffing(tmp_path, monkeypatch, name, options):
    pytest.importorskip("gensim")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / name).write_bytes(pickle.dumps(Runs(tmp_path / "ran"), 4))
    with pytest.raises(BadVectors, match="pickle") as caught:
        WordVectors.load(tmp_path / name, **options)
    assert "trust=True" in str(caught.value)
    assert "--format gensim-pickle --trust" in caught.value.for_command_line()
    assert not (tmp_path / "ran").exists()
    with pytest.raises(BadVectors):
        WordVectors.load(tmp_path / name, format="gensim-pickle", trust=True)
    assert (tmp_path / "ran").exists()  # so the test would have seen it


def test_a_pickle_of_gensim_s_is_converted_by_who_trusts_it(tmp_path):
    pytest.importorskip("gensim")
    VECTORS.to_gensim().save(str(tmp_path / "old.kv"))
    arguments = ["convert", str(tmp_path / "old.kv"), str(tmp_path / "new.safetensors")]
    for options in ([], ["--trust"], ["--format", "gensim-pickle"]):
        refused = CliRunner().invoke(app, [*arguments, *options])
        assert refused.exit_code == 1
        assert "--format gensim-pickle --trust" in refused.output
    assert CliRunner().invoke(app, [*arguments, "--format", "gensim-pickle", "--trust"]).exit_code == 0
    assert WordVectors.load(tmp_path / "new.safetensors") == VECTORS
    described = CliRunner().invoke(app, ["inspect", str(tmp_path / "old.kv"), "--json"])
    assert json.loads(described.stdout)["format"] == "gensim-pickle"


def test_a_pickle_in_a_model_folder_is_not_opened(tmp_path):
    pytest.importorskip("gensim")
    ALaCarte(VECTORS, Transform(np.eye(2))).save(tmp_path / "model")
    (tmp_path / "model" / "vectors.safetensors").write_bytes(pickle.dumps(Runs(tmp_path / "ran"), 4))
    with pytest.raises(AlacarteError, match=r"vectors\.safetensors"):
        ALaCarte.load(tmp_path / "model")
    assert not (tmp_path / "ran").exists()


def test_a_pickle_in_npy_is_not_opened(tmp_path):
    objects = np.array([[Runs(tmp_path / "ran")]], dtype=object)
    np.save(tmp_path / "v.npy", objects, allow_pickle=True)
    (tmp_path / "v.vocab.txt").write_text("a\n")
    (tmp_path / "v.npy.gz").write_bytes(gzip.compress((tmp_path / "v.npy").read_bytes()))
    for name in ("v.npy", "v.npy.gz"):
        with pytest.raises(BadVectors, match=r"v\.npy"):
            WordVectors.load(tmp_path / name)
    with pytest.raises(BadTransform, match=r"v\.npy"):
        Transform.load(tmp_path / "v.npy")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "where",
    [
        *("../secret.txt", "secret.txt", "//server/share/v.txt", "\\\\server\\v.txt", "/dev/zero", "{}/secret.txt"),
        *("dask://127.0.0.1:9/x::file:///x", "http://127.0.0.1:9/v.vec", "postgresql://127.0.0.1:9/x?table=y"),
        *("file:///etc/passwd", "memory://v.vec", 7, ["a"], {}),
    ],
)
def test_model_json_leads_nowhere_but_to_shipped_names(tmp_path, monkeypatch, where):
    ALaCarte(VECTORS, Transform(np.eye(2))).save(tmp_path / "model", include_vectors=False)
    VECTORS.save(tmp_path / "secret.txt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection"))
    file = tmp_path / "model" / "model.json"
    where = where.format(tmp_path) if isinstance(where, str) else where
    file.write_text(json.dumps({**json.loads(file.read_text()), "vectors": where}))
    with pytest.raises(AlacarteError, match=r"model") as caught:
        ALaCarte.load(tmp_path / "model")
    if isinstance(where, str):
        assert "pass them as vectors=" in str(caught.value)
        assert ALaCarte.load(tmp_path / "model", vectors=VECTORS).vectors == VECTORS


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "http://127.0.0.1:9/x", "secret.txt"])
def test_model_json_names_no_file_outside_of_its_folder(tmp_path, name):
    ALaCarte(VECTORS, Transform(np.eye(2))).save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    description = json.loads(file.read_text())
    file.write_text(json.dumps({**description, "files": {**description["files"], name: "0" * 64}}))
    with pytest.raises(AlacarteError, match="which is not known here"):
        ALaCarte.load(tmp_path / "model")


def r_sequence(count):
    """What saveRDS writes of 1:count with the dimensions (1, count)."""

    def symbol(name):
        return struct.pack(">iii", 1, 0x40009, len(name)) + name.encode()

    head = b"X\n" + struct.pack(">iii", 3, 0x40200, 0x30500) + struct.pack(">i", 5) + b"UTF-8"
    kind = struct.pack(">i", 2) + symbol("compact_realseq") + struct.pack(">i", 2) + symbol("base")
    kind += struct.pack(">i", 2) + struct.pack(">iii", 0xD, 1, 14) + struct.pack(">i", 0xFE)
    state = struct.pack(">ii", 0xE, 3) + struct.pack(">ddd", count, 1, 1)
    return head + struct.pack(">i", 0xEE) + kind + state + struct.pack(">i", 0xFE)


def test_an_r_file_cannot_ask_for_a_sequence_of_any_length(tmp_path):
    pytest.importorskip("rdata")
    (tmp_path / "a.rds").write_bytes(r_sequence(1e6))
    with pytest.raises(BadTransform, match="0 matrices"):
        Transform.load(tmp_path / "a.rds")
    (tmp_path / "a.rds").write_bytes(r_sequence(1e11))
    with pytest.raises(BadTransform, match="sequences of more than"):
        Transform.load(tmp_path / "a.rds")


# --------------------------------------------------------------------------------------------- long lines


def blocks_of(path, size, **options):
    return [block.text for block in Corpus(path, **options).blocks(size)]


@pytest.fixture
def short(monkeypatch):
    """Documents of at most 64 bytes."""
    monkeypatch.setattr(lines, "LONGEST_LINE", 64)


LONG = b"first\n" + b" ".join(b"w%03d" % number for number in range(100)) + b"\nlast one\n"


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
@pytest.mark.parametrize("size", [1, 5, 63, 64, 65, 100, 1 << 20])
def test_a_long_line_is_cut_at_blanks_in_the_same_way_for_any_block(tmp_path, short, size):
    (tmp_path / "a.txt").write_bytes(LONG)
    joined = b"".join(blocks_of(tmp_path / "a.txt", size))
    assert joined.replace(b"\n", b" ") == LONG.replace(b"\n", b" ")
    assert max(map(len, joined.split(b"\n"))) <= 64
    assert joined == b"".join(blocks_of(tmp_path / "a.txt", 17))
    assert [line.encode() for line in Corpus(tmp_path / "a.txt")] == [line for line in joined.split(b"\n") if line]


def test_a_line_that_is_cut_is_said(tmp_path, short):
    (tmp_path / "a.txt").write_bytes(LONG * 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(Corpus(tmp_path / "a.txt"))
    assert [str(warning.message) for warning in caught if issubclass(warning.category, AlacarteWarning)] == [
        f"{tmp_path / 'a.txt'}: the line that begins at byte 6 is longer than 0 MiB; such lines are cut at blanks, and "
        "each part is a document of its own"
    ]


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
def test_sums_over_a_long_line_are_the_same_for_blocks_and_threads(tmp_path, short):
    rng = np.random.default_rng(0)
    (tmp_path / "a.txt").write_text(" ".join(rng.choice(["the", "cat", "sat", "mat"], 2000)))
    first = collect(VECTORS, tmp_path / "a.txt", Targets(["mat"]), block_size=1 << 20, threads=1)
    again = collect(VECTORS, tmp_path / "a.txt", Targets(["mat"]), block_size=100, threads=2)
    assert first.occurrences.tolist() == again.occurrences.tolist()
    assert first.vectors().tolist() == again.vectors().tolist()
    assert first.documents == again.documents > 100


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("size", [1 << 10, 1 << 20])
def test_a_line_without_a_blank_or_of_records_is_refused(tmp_path, short, name, size):
    (tmp_path / name).write_bytes(b'"text"\n"' + b"x" * 1000 + b'"\n')
    with pytest.raises(BadCorpus, match=rf"{name}.*byte 7 is longer"):
        list(Corpus(tmp_path / name).blocks(size))


@pytest.mark.parametrize("unit", ["paragraph", "file"])
@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
def test_long_paragraphs_and_files_are_cut_at_line_ends(tmp_path, short, unit):
    text = "\n".join(f"line {number}" for number in range(100))
    (tmp_path / "a.txt").write_text(text)
    documents = [list(Corpus(tmp_path / "a.txt", unit=unit).blocks(size)) for size in (1, 10, 1000)]
    flat = [[item for block in blocks for item in block.items()] for blocks in documents]
    assert flat[0] == flat[1] == flat[2]
    assert max(map(len, flat[0])) <= 64
    assert " ".join(" ".join(flat[0]).split()) == text.replace("\n", " ")


BOMB = """
import resource, sys
from alacarte import Corpus, WordVectors
from alacarte.errors import AlacarteError
import numpy, zstandard
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for block in Corpus(sys.argv[1]).blocks():
        pass
except AlacarteError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_zeros_that_unpack_to_gigabytes_are_refused_early(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    compressor = zstandard.ZstdCompressor().compressobj()
    with (tmp_path / "a.txt.zst").open("wb") as file:
        for _ in range(1 << 10):  # 2 GiB
            file.write(compressor.compress(bytes(1 << 21)))
        file.write(compressor.flush())
    assert (tmp_path / "a.txt.zst").stat().st_size < 1 << 18
    result = subprocess.run(
        [sys.executable, "-c", BOMB, str(tmp_path / "a.txt.zst")], capture_output=True, text=True, check=True
    )
    message, kilobytes = result.stdout.splitlines()
    assert "longer than 16 MiB, and there is no blank in it" in message
    assert int(kilobytes) < 200_000


# ------------------------------------------------------------------------------------------------ headers


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.vec", b"999999999999 50\nthe" + b" 1" * 50 + b"\n"),
        ("a.vec", b"1 999999999\n"),
        ("a.vec", b"3 900000\n\n"),
        ("a.bin", b"999999999999 2\nthe \0\0\x80\x3f\0\0\x80\x3f\n"),
        ("a.bin", b"1 999999999\nthe \0\0\x80\x3f"),
        ("a.bin", b"1 1000000\nthe \0\0\x80\x3f\x01\x02"),
        ("a.safetensors", (1 << 40).to_bytes(8, "little") + b"{}"),
        ("a.safetensors", (40).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[4' + b"0" * 300 + b'],"da'),
    ],
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_headers_do_not_decide_how_much_memory_is_taken(tmp_path, name, content, on_error):
    (tmp_path / name).write_bytes(content)
    before = _virtual()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = WordVectors.load(tmp_path / name, on_error=on_error)
        assert kept.words[0] in content.decode("latin-1")  # two numbers may be a word and a value
    except BadVectors as error:
        assert name in str(error)  # noqa: PT017
    assert _virtual() - before < 1 << 28


def _virtual():
    """The most address space that this process has had."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("no /proc here")
    lines = status.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmPeak")) * 1024


def test_a_tar_that_claims_a_long_name_is_refused(tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("x" * 300)
        archive.addfile(info)
    data = bytearray(file.getvalue())
    data[124:136] = b"77777777777\0"
    checksum = 256 + sum(data[:148]) + sum(data[156:512])
    data[148:156] = b"%06o\0 " % checksum
    (tmp_path / "a.tar").write_bytes(bytes(data))
    with pytest.raises(BadCorpus, match=r"a\.tar"):
        list(Corpus(tmp_path / "a.tar"))


# ------------------------------------------------------------------------------------------------ digests


def flipped(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["matrix", "words", "words_offsets", "word_crc32", "word_rows"])
@pytest.mark.parametrize("indexed", [False, True])
def test_damaged_vectors_are_refused(tmp_path, name, indexed):
    from alacarte._io.tensors import read_header
    from alacarte.vectors.neighbours import Index

    path = tmp_path / "v.safetensors"
    vectors = WordVectors([f"w{number}" for number in range(50)], np.random.default_rng(0).normal(size=(50, 5)))
    (Index.build(vectors) if indexed else vectors).save(path)
    flipped(path, read_header(path)[0][name][2] + 7)
    with pytest.raises(BadVectors, match=rf"v\.safetensors is damaged: tensor '{name}'"):
        Index.load(path) if indexed else WordVectors.load(path)


@pytest.mark.parametrize("name", ["sums", "occurrences", "group_sums", "unit_places"])
def test_damaged_sums_are_refused(tmp_path, name):
    from alacarte import ContextSums
    from alacarte._io.tensors import read_header
    from alacarte.errors import BadSums

    (tmp_path / "c.txt").write_text("the cat sat\n" * 20)
    collect(VECTORS, tmp_path / "c.txt", Targets(["cat"]), spread=4).save(tmp_path / "a.sums")
    flipped(tmp_path / "a.sums", read_header(tmp_path / "a.sums")[0][name][2])
    with pytest.raises(BadSums, match=rf"a\.sums is damaged: tensor '{name}'"):
        ContextSums.load(tmp_path / "a.sums")


# --------------------------------------------------------------------------------------------- decoders


@pytest.mark.parametrize("byte", [b"\x80", b"\x93", b"{", b"\x00", b"1", b"\xff"])
def test_a_vector_file_of_one_byte(tmp_path, byte):
    (tmp_path / "v.bin").write_bytes(byte)
    with pytest.raises(BadVectors, match=r"v\.bin"):
        WordVectors.load(tmp_path / "v.bin")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'"fine"\n' + b"[" * 100_000 + b"\n", "line 2: not JSON .*nested too deeply"),
        ("a.jsonl", b'{"text": ' + b"1" * 5000 + b"}\n", "line 1: not JSON .*digits"),
        ("a.txt", b"\xfe\xff\x00a\xd8\x00", "UTF-16"),
    ],
)
def test_text_that_decoders_choke_on(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadCorpus, match=said):
        list(Corpus(tmp_path / name))


def test_utf_16_without_a_mark(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"no mark")
    with pytest.raises(BadCorpus, match=r"a\.txt is not utf-16 text"):
        list(Corpus(tmp_path / "a.txt", encoding="utf-16"))


def test_parquet_with_bytes_that_are_not_text(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    table = pyarrow.table({"text": ["fine", "abcdefgh"]})
    parquet.write_table(table, file, compression="none", use_dictionary=False, write_statistics=False)
    (tmp_path / "a.parquet").write_bytes(file.getvalue().replace(b"abcdefgh", b"\xff" * 8))
    with pytest.raises(BadCorpus, match=r"a\.parquet, after row 0, is damaged"):
        list(Corpus(tmp_path / "a.parquet"))


@pytest.mark.parametrize("encoding", ["UUF-8", "utf-7", "rot13", "utf-16"])
def test_xml_in_an_unknown_encoding(tmp_path, encoding):
    from alacarte_experiments.wsd.semeval import read_semeval

    (tmp_path / "a.xml").write_text(f'<?xml version="1.0" encoding="{encoding}"?><corpus><sentence/></corpus>')
    with pytest.raises(BadCorpus, match=r"a\.xml is damaged"):
        list(read_semeval(tmp_path / "a.xml"))


def test_a_zip_of_a_later_version(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "text")
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 255
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(BadCorpus, match=r"a\.zip cannot be read"):
        list(Corpus(tmp_path / "a.zip"))


@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_header_in_a_tar_is_not_its_end(tmp_path, packed):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("a.txt", "b.txt", "c.txt"):
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"text\n"))
    data = bytearray(file.getvalue())
    data[1024] ^= 1  # the name of the second
    (tmp_path / "a.tar").write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(BadCorpus, match=r"a\.tar.*header at byte 1,024"):
        list(Corpus(tmp_path / "a.tar"))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("sums", {"read": ["x", None, []]}),
        ("sums", {"targets": {"kinds": "q", "any_label": 1}}),
        ("sums", {"settings": {"left": "x"}}),
        ("sums", {"weight_exponent": 10**30}),
        ("transform", {"report": {"a": []}}),
        ("transform", {"weights": 7}),
        ("fusion", {"report": 3}),
        ("fusion", {"report": [1]}),
    ],
)
def test_metadata_that_make_no_sense(tmp_path, kind, change):
    """With digests that fit: what somebody wrote on purpose, or a version of this package that never was."""
    from alacarte import ContextSums
    from alacarte._io.artifact import read_artifact, write_artifact
    from alacarte.spelling.fusion import Fusion

    path = tmp_path / "a.safetensors"
    if kind == "sums":
        collect(VECTORS, ["the cat sat"], Targets(["cat"])).save(path)
        load = ContextSums.load
    elif kind == "transform":
        ALaCarte.fit(VECTORS, ["the cat sat"] * 9, ridge=1.0).transform.save(path)
        load = Transform.load
    else:
        Fusion(-0.5, 0.2, -1.0, 1.5).save(path)
        load = Fusion.load
    artifact = read_artifact(path)
    write_artifact(path, artifact.kind, artifact.tensors, {**artifact.metadata, **change}, artifact.version)
    with pytest.raises(AlacarteError, match=r"a\.safetensors is damaged"):
        load(path)
    if kind != "fusion":  # of which inspect shows what there is, unread
        result = CliRunner().invoke(app, ["inspect", str(path)])
        assert result.exit_code == 1
        assert "damaged" in result.output


def test_inspecting_a_model_whose_description_is_damaged(tmp_path):
    ALaCarte(VECTORS, Transform(np.eye(2))).save(tmp_path / "model")
    for content in ("[" * 100_000, "[1]", '{"words": ' + "1" * 5000 + "}", "\x00", '{"format": []}'):
        (tmp_path / "model" / "model.json").write_text(content)
        result = CliRunner().invoke(app, ["inspect", str(tmp_path / "model")])
        assert result.exit_code == 1
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert "model" in result.output


def test_xml_entities_neither_explode_nor_reach_out(tmp_path):
    from alacarte_experiments.wsd.semeval import read_semeval

    (tmp_path / "secret").write_text("secret")
    levels = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    body = '<corpus><text id="d"><sentence id="s"><wf>{}</wf></sentence></text></corpus>'
    for entities, text in (
        (f'<!ENTITY a0 "lol">{levels}', "&a9;"),
        (f'<!ENTITY a SYSTEM "{(tmp_path / "secret").as_uri()}">', "&a;"),
    ):
        (tmp_path / "a.xml").write_text(f"<!DOCTYPE corpus [{entities}]>{body.format(text)}")
        with pytest.raises(BadCorpus, match=r"a\.xml is damaged"):
            list(read_semeval(tmp_path / "a.xml"))


# ------------------------------------------------------------------------------------------ Arrow's own decoders


def arrow_text(path, stream=False):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"text": ["aaaa", "bbbb", "cccc"] * 1000})
    with (arrow.ipc.new_stream if stream else arrow.ipc.new_file)(str(path), table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("stream", [False, True])
def test_offsets_of_arrow_that_lead_elsewhere(tmp_path, stream):
    path = tmp_path / "a.arrow"
    arrow_text(path, stream)
    offsets = struct.pack("<3i", 4, 8, 12)
    assert path.read_bytes().count(offsets) == 1
    path.write_bytes(path.read_bytes().replace(offsets, struct.pack("<3i", 4, 0x7FFFFF00, 12)))
    with pytest.raises(BadCorpus, match=r"a\.arrow, after row 0, is damaged: .*offset"):
        list(Corpus(path))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals as POSIX has them")
def test_a_decoder_that_crashes_ends_its_own_process(tmp_path):
    path = tmp_path / "a.arrow"
    arrow_text(path)
    with open_arrow(path, "arrow") as file:
        rows = file.batches(size=10)
        assert next(rows).num_rows == 10
        os.kill(file._process._running.pid, signal.SIGSEGV)
        with pytest.raises(ValueError, match=r"it ended the process that read it \(-11\)"):
            list(rows)
    assert len(list(Corpus(path))) == 3000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals as POSIX has them")
def test_a_process_that_decodes_is_used_again_and_not_by_a_fork(tmp_path):
    path = tmp_path / "a.arrow"
    arrow_text(path)
    with open_arrow(path, "arrow") as file:
        first = file._process
    with open_arrow(path, "arrow") as file, open_arrow(path, "arrow") as other:
        assert file._process is first
        assert other._process is not first
        next(file.batches(size=10))  # and no more
    assert not first.is_running
    child = os.fork()
    if child == 0:
        with open_arrow(path, "arrow") as file:
            os._exit(file._process is other._process)
    assert os.waitpid(child, 0)[1] == 0
    assert other._process.is_running


# --------------------------------------------------------------------------------- names, and reads that are short


def test_a_system_that_gives_less_than_was_asked_for(tmp_path, monkeypatch):
    """As network file systems may, and not at the end of a file alone."""

    class Short(io.FileIO):
        def readinto(self, buffer):
            return super().readinto(memoryview(buffer)[: max(1, len(buffer) // 2)])

        def read(self, size=-1):
            return super().read(size if size < 2 else size // 2)

    ALaCarte(VECTORS, Transform(np.eye(2))).save(tmp_path / "model", include_vectors=True)
    (tmp_path / "t.txt").write_text("the\ncat\n")
    monkeypatch.setattr("alacarte._io.urls.io.FileIO", Short)
    assert ALaCarte.load(tmp_path / "model").vectors == VECTORS
    assert list(Targets.from_file(tmp_path / "t.txt")) == ["the", "cat"]
    assert list(Corpus(tmp_path / "t.txt")) == ["the", "cat"]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "file:///a%00b"])
def test_what_no_system_takes_as_a_name_is_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    calls = [
        *(WordVectors.load, Transform.load, ALaCarte.load, Targets.from_file, Concordance),
        lambda name: list(Corpus(name)),
        VECTORS.save,
        lambda name: collect(VECTORS, ["the cat"], Targets(["cat"]), checkpoint=name),
        lambda name: Concordance.build(VECTORS, ["the cat"], name),
    ]
    for call in calls:
        with pytest.raises((AlacarteError, FileNotFoundError), match=r"no name of a file|no such file"):
            call(name)
    assert list(tmp_path.iterdir()) == []


def test_a_saved_dataset_whose_files_have_no_name(tmp_path):
    (tmp_path / "state.json").write_text(r'{"_data_files": [{"filename": "a\ud800.arrow"}]}')
    with pytest.raises(AlacarteError, match="is no name of a file"):
        list(Corpus(tmp_path))


def test_a_model_without_a_transform_is_damaged(tmp_path):
    ALaCarte(VECTORS, Transform(np.eye(2))).save(tmp_path / "model")
    described = json.loads((tmp_path / "model" / "model.json").read_text())
    del described["files"]["transform.safetensors"]
    (tmp_path / "model" / "model.json").write_text(json.dumps(described))
    result = CliRunner().invoke(app, ["inspect", str(tmp_path / "model")])
    assert result.exit_code == 1
    assert "it names no transform" in result.output
