"""Damaged files: seeded mutants of every format that is read, and what the readers make of them.

    python benchmarks/torture_mutants.py --mutants 200000 --seed 1
    python benchmarks/torture_mutants.py --formats sums checkpoint --mutants 20000 --keep bad

Every mutant is a small file with bits flipped, ranges cut, doubled or blanked, numbers blown up, JSON edited, or half
of another file. It is read in a child process that has little memory and little time. The table counts, by format,

- refused: an error of ours, or of the system (no such file);
- read: no error (a changed number in a text file is a text file);
- crashes, hangs: the process died, or did not answer in time;
- foreign: an exception that is not ours;
- accepted: a file of ours that was damaged, and read without an error as something else than was written.

The last four have to be 0, and the exit code says whether they are. `--keep` keeps the mutants they were found with.
"""

import argparse
import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import pickle
import random
import re
import resource
import select
import signal
import struct
import sys
import tarfile
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 1 << 30  # bytes that a reader may take beyond what the process has when it starts
SECONDS = 20.0  # that a reader may take for one mutant
BATCH = 1000  # mutants a process
OUTCOMES = ("refused", "read", "crashes", "hangs", "foreign", "accepted")
BAD = OUTCOMES[2:]
Files = dict[str, bytes]


@dataclass(frozen=True)
class Seed:
    """Small files of one format, and how they are read: to something that can be compared."""

    name: str
    files: Files
    read: Callable[[Path], Any]
    ours: bool = False  # its bytes are covered by digests: no damage may pass
    edit: Callable[[random.Random, bytes], bytes] | None = None  # edits the content and leaves the wrapping whole
    forged: bool = False  # `edit` writes new digests too, so that what it makes is no damaged file
    only: tuple[str, ...] = ()  # the files that are mutated; all, if empty


# ------------------------------------------------------------------------------------------------ mutations

NUMBERS = (
    b"0", b"-1", b"1", b"255", b"65536", b"2147483647", b"4294967295", b"9223372036854775807", b"1000000000000",
    b"99999999999999999999", b"1e999", b"nan", b"inf", b"1" * 30, b"7" * 5000,
)  # fmt: skip
PIECES = (
    b"\x00", b"\xff", b"\n", b"\r", b"\t", b" ", b'"', b"'", b"<", b">", b"&", b"{", b"[", b"\\", b"%", b"/", b",",
    b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\x1b[2J", b"..", b"nan", b"&x;", b"<!DOCTYPE a>", b":",
    b"[" * 3000, b"<a>" * 300,
)  # fmt: skip
WIDE = (0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 1 << 40, 1 << 33)


def flip(rng: random.Random, data: bytes, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 4))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def delete(rng: random.Random, data: bytes, other: bytes) -> bytes:
    low, high = _range(rng, data)
    return data[:low] + data[high:]


def duplicate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    low, high = _range(rng, data)
    return data[:high] + data[low:high] * rng.choice((1, 1, 3)) + data[high:]


def move(rng: random.Random, data: bytes, other: bytes) -> bytes:
    low, high = _range(rng, data)
    rest = data[:low] + data[high:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + data[low:high] + rest[at:]


def blank(rng: random.Random, data: bytes, other: bytes) -> bytes:
    low, high = _range(rng, data)
    return data[:low] + rng.choice((b"\0", b"\xff", b" ")) * (high - low) + data[high:]


def splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def insert(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(PIECES) + data[at:]


def blow_up(rng: random.Random, data: bytes, other: bytes) -> bytes:
    places = [match.span() for match in re.finditer(rb"\d+", data)]
    if not places:
        return widen(rng, data, other)
    low, high = rng.choice(places)
    return data[:low] + rng.choice(NUMBERS) + data[high:]


def widen(rng: random.Random, data: bytes, other: bytes) -> bytes:
    size = rng.choice((2, 4, 8))
    at = rng.randrange(max(1, len(data) - size + 1))
    value = rng.choice(WIDE) & ((1 << 8 * size) - 1)
    return data[:at] + value.to_bytes(size, rng.choice(("little", "big"))) + data[at + size :]


def _range(rng: random.Random, data: bytes) -> tuple[int, int]:
    low = rng.randrange(len(data))
    return low, min(len(data), low + 1 + int(rng.random() ** 3 * len(data)))


MUTATIONS = (flip, flip, set_bytes, truncate, delete, duplicate, move, blank, splice, insert, blow_up, widen)


def mutant(rng: random.Random, seed: Seed, others: list[bytes]) -> tuple[str, bytes]:
    """(the file that is changed, what it says then)."""
    name = rng.choice(sorted(seed.only or seed.files))
    data = seed.files[name]
    if seed.edit is not None and rng.random() < 0.5:
        return name, seed.edit(rng, data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            data = rng.choice(MUTATIONS)(rng, data, rng.choice(others))
    return name, data


def inside(unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]) -> Callable[[random.Random, bytes], bytes]:
    """Mutations of what is packed in a file, packed again."""

    def edit(rng: random.Random, data: bytes) -> bytes:
        return pack(rng.choice(MUTATIONS)(rng, unpack(data), b"spliced 1 2 3\n" * 3))

    return edit


STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**63, 10**30, 0.5, float("nan"), float("inf"), "", "x", "../../etc/passwd", [], {}, [[]],
    [0], {"a": 1}, ["x"], {"": None}, "\x1b[2J", "1" * 40,
)  # fmt: skip


def edit_value(rng: random.Random, value: Any) -> Any:
    """A JSON value with one thing in it changed."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(sorted(value))
        what = rng.random()
        if what < 0.15:
            return {name: item for name, item in value.items() if name != key}
        if what < 0.25:
            return {**value, rng.choice(("", "x", "shape", "kind")): rng.choice(STRANGE)}
        return {**value, key: edit_value(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + 1 :] if rng.random() < 0.5 else [*value, rng.choice(STRANGE)]
        return [*value[:at], edit_value(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, str) and value[:1] == "{" and rng.random() < 0.9:
        return json.dumps(edit_value(rng, json.loads(value)))
    if rng.random() < 0.02:
        deep: Any = 0
        for _ in range(500):
            deep = [deep]
        return deep
    return rng.choice(STRANGE)


def edit_json(rng: random.Random, data: bytes) -> bytes:
    """JSON, or one line of JSON lines, with one thing in it changed."""
    try:
        return json.dumps(edit_value(rng, json.loads(data))).encode()
    except ValueError:
        lines = data.splitlines()
        at = rng.randrange(len(lines))
        lines[at] = json.dumps(edit_value(rng, json.loads(lines[at]))).encode()
        return b"\n".join(lines)


def edit_header(rng: random.Random, data: bytes) -> bytes:
    """A safetensors file with another header, of the right length, and digests that fit it if there are any."""
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    before = {name: entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"}
    if rng.random() < 0.3:  # values, and not what is said about them
        # Not those of a graph: whoever makes digests that fit can make usearch crash, see SECURITY.md.
        low, high = rng.choice([place for name, place in sorted(before.items()) if name not in ("digests", "graph")])
        if high > low:
            body[low:high] = rng.choice((flip, set_bytes, widen))(rng, bytes(body[low:high]), b"")[: high - low]
    else:
        header = edit_value(rng, header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    start = len(text).to_bytes(8, "little") + text
    if "digests" in before:
        low, high = before["digests"]
        ranges = [place for name, place in before.items() if name != "digests" and place[1] > place[0]]
        parts = [start, *(bytes(body[begin:end]) for begin, end in sorted(ranges))]
        body[low:high] = b"".join(hashlib.sha256(part).digest() for part in parts)
    return start + bytes(body)


# --------------------------------------------------------------------------------------------------- seeds


def digest(*parts: Any) -> str:
    """A short name for what was read."""
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(part.tobytes() + str(part.shape).encode() if isinstance(part, np.ndarray) else repr(part).encode())
        whole.update(b"\x1e")
    return whole.hexdigest()


def read_vectors(name: str, **options: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        from alacarte import WordVectors

        vectors = WordVectors.load(folder / name, **options)
        return digest(list(vectors.words), vectors.matrix, vectors.counts, vectors.origin)

    return read


def read_transform(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        from alacarte import Transform

        loaded = Transform.load(folder / name)
        return digest(loaded.matrix, loaded.settings, str(loaded.report), loaded.name, loaded.fingerprint)

    return read


def read_text(name: str, **options: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        from alacarte import Corpus

        whole = list(Corpus(folder / name, **options))
        blocks = [(block.text, block.documents) for block in Corpus(folder / name, **options).blocks(256)]
        return digest(whole, blocks)

    return read


def vector_seeds() -> Iterator[Seed]:
    from alacarte import WordVectors

    rng = np.random.default_rng(0)
    words = ["the", "of", "né", "new york", "bank", "river", "x1"]
    matrix = rng.normal(size=(7, 4)).astype(np.float32)
    plain = WordVectors([word.replace(" ", "_") for word in words], matrix)
    counted = WordVectors(words, matrix, counts=[3, 1, 4, 1, 5, 9, 2], origin=["contexts"] * 6 + ["spelling"])
    for name, source in (("v.txt", counted), ("v.vec", counted), ("v.bin", plain)):
        yield Seed(f"vectors {name[1:]}", written(source.save, name), read_vectors(name))
    yield Seed("vectors .vec, skipping", written(counted.save, "v.vec"), read_vectors("v.vec", on_error="skip"))
    text = written(counted.save, "v.vec")["v.vec"]
    for ending, (pack, unpack) in PACKED.items():
        yield Seed(f"vectors .vec.{ending}", {"v.vec": pack(text)}, read_vectors("v.vec"), edit=inside(unpack, pack))
    yield Seed("vectors .npy", written(counted.save, "v.npy"), read_vectors("v.npy"))
    double = io.BytesIO()
    np.save(double, np.asfortranarray(matrix.astype(np.float64)))
    npy = {"v.npy": double.getvalue(), "v.vocab.txt": "\n".join(words).encode()}
    yield Seed("vectors .npy, float64", npy, read_vectors("v.npy"))
    packed = {"v.npy": gzip.compress(npy["v.npy"]), "v.vocab.txt": npy["v.vocab.txt"]}
    edit = inside(gzip.decompress, gzip.compress)
    yield Seed("vectors .npy.gz", packed, read_vectors("v.npy"), edit=edit, only=("v.npy",))
    ours = written(counted.save, "v.safetensors")
    yield Seed("vectors .safetensors", ours, read_vectors("v.safetensors"), ours=True)
    yield Seed("vectors forged", ours, read_vectors("v.safetensors"), edit=edit_header, forged=True)
    gz = {"v.safetensors": gzip.compress(ours["v.safetensors"])}
    yield Seed(
        "vectors .safetensors.gz", gz, read_vectors("v.safetensors"), edit=inside(gzip.decompress, gzip.compress)
    )
    yield Seed("fastText .bin", {"v.bin": fasttext(words, rng)}, read_vectors("v.bin"))
    for ending in ("csv", "tsv", "parquet", "arrow"):
        yield Seed(f"vectors .{ending}", written(counted.save, f"v.{ending}"), read_vectors(f"v.{ending}"))
    yield Seed("static model", static_model(counted), read_vectors("."), only=("tokenizer.json", "model.safetensors"))
    model = {"m/vectors.safetensors": ours["v.safetensors"]}
    yield Seed("vectors of a model", model, read_vectors("m"), ours=True)
    names = {"v.rds": r_matrix(matrix.astype(float), words)}
    yield Seed("vectors .rds", names, read_vectors("v.rds"))
    pickled = {"v.kv": pickle.dumps({"words": words, "matrix": matrix.tolist()}, 4)}
    yield Seed("pickle, sniffed", pickled, read_vectors("v.kv"))
    indexed = written(index_writer(words, matrix), "v.index")
    yield Seed("index", indexed, read_index, ours=True)
    yield Seed("index forged", indexed, read_index, edit=edit_header, forged=True)


def static_model(vectors: Any) -> Files:
    """The files of a model2vec folder."""
    with tempfile.TemporaryDirectory() as folder:
        vectors.save(Path(folder) / "model", "model2vec")
        return {file.name: file.read_bytes() for file in (Path(folder) / "model").iterdir()}


def index_writer(words: list[str], matrix: np.ndarray) -> Callable[[Path], None]:
    from alacarte import WordVectors
    from alacarte.vectors.neighbours import Index

    return Index.build(WordVectors(words, matrix), backend="usearch", threads=1).save


def read_index(folder: Path) -> str:
    from alacarte.vectors.neighbours import Index

    loaded = Index.load(folder / "v.index")
    return digest(
        list(loaded.vectors.words), loaded.vectors.matrix, loaded.nearest(np.ones(loaded.vectors.dimension), 3)
    )


def fasttext(words: list[str], rng: np.random.Generator) -> bytes:
    buckets, dimension = 20, 4
    parts = [struct.pack("<14id", 793712314, 12, dimension, 5, 5, 1, 5, 1, 1, 2, buckets, 3, 4, 100, 1e-4)]
    known = [word.replace(" ", "_") for word in words]
    parts.append(struct.pack("<3i2q", len(known), len(known), 0, 100, -1))
    parts += [word.encode() + b"\0" + struct.pack("<qb", 5, 0) for word in known]
    rows = len(known) + buckets
    parts.append(
        struct.pack("<?2q", False, rows, dimension) + rng.normal(size=(rows, dimension)).astype("<f4").tobytes()
    )
    return b"".join(parts)


TEXT = "A bank by the river.\nThe  bank, né 1,5 — closed!\n\nthe river of new york\nx1 the bank the of\n"
PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gz": (lambda data: gzip.compress(data, mtime=0), gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
    "zst": (lambda data: _zstandard().compress(data), lambda data: _unzstandard(data)),
}


def _zstandard() -> Any:
    import zstandard

    return zstandard.ZstdCompressor()


def _unzstandard(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdDecompressor().decompress(data)


def text_seeds() -> Iterator[Seed]:
    data = TEXT.encode()
    yield Seed("text", {"a.txt": data}, read_text("a.txt"))
    yield Seed("text, paragraphs", {"a.txt": data}, read_text("a.txt", unit="paragraph"))
    yield Seed("text, replacing", {"a.txt": data}, read_text("a.txt", errors="replace"))
    yield Seed("text, UTF-16", {"a.txt": TEXT.encode("utf-16")}, read_text("a.txt", encoding="utf-16"))
    for ending, (pack, unpack) in PACKED.items():
        edit = inside(unpack, pack)
        yield Seed(f"text .{ending}", {f"a.txt.{ending}": pack(data)}, read_text(f"a.txt.{ending}"), edit=edit)
    yield Seed("text .zip", {"a.zip": zipped(data)}, read_text("a.zip"))
    yield Seed("text .tar", {"a.tar": tarred(data)}, read_text("a.tar"))
    edit = inside(gzip.decompress, gzip.compress)
    yield Seed("text .tar.gz", {"a.tar.gz": gzip.compress(tarred(data))}, read_text("a.tar.gz"), edit=edit)
    lines = b'{"text": "a bank", "id": 1}\n{"tokens": ["a", "b"], "spans": [[0, 1, "x"]]}\n["of", "the"]\n"text"\n'
    yield Seed("JSON lines", {"a.jsonl": lines}, read_text("a.jsonl"), edit=edit_json)
    yield Seed("CSV", {"a.csv": b'id,text\n1,"a, bank"\n2,"two\nlines"\n3,of\n'}, read_text("a.csv"))
    yield Seed("TSV", {"a.tsv": b"id\ttext\n1\ta bank\n2\tthe river\n"}, read_text("a.tsv"))
    for name, options in (("Parquet", {}), ("Parquet, plain", {"compression": "none", "use_dictionary": False})):
        yield Seed(name, {"a.parquet": parquet(**options)}, read_text("a.parquet"))
    yield Seed("targets", {"t.txt": "the bank\nnew york\nné\n".encode()}, _read_targets)
    table = b'party,year,text\nD,1990,"a bank"\nR,01,"the river"\n'
    yield Seed("table .csv", {"a.csv": table}, read_frame("a.csv"))
    yield Seed("table .jsonl", {"a.jsonl": lines.splitlines()[0] + b"\n"}, read_frame("a.jsonl"), edit=edit_json)
    yield Seed("table .parquet", {"a.parquet": parquet()}, read_frame("a.parquet"))


def arrow_seeds() -> Iterator[Seed]:
    import pyarrow as pa
    from pyarrow import feather, ipc

    table = pa.table({"text": ["a bank", "the né river", "of"], "id": [1, 2, 3]})
    words = pa.table({"word": ["the", "né", "of"], "0": [1.0, 2.0, 3.0], "1": [0.5, 1.5, 2.5], "2": [0.0, 1.0, 2.0]})

    def stream(path: Path, content: Any) -> None:
        with ipc.new_stream(str(path), content.schema) as writer:
            writer.write_table(content)

    writers: dict[str, Callable[..., Any]] = {
        "file": lambda path, content: feather.write_feather(content, str(path), compression="uncompressed"),
        "compressed": lambda path, content: feather.write_feather(content, str(path), compression="lz4"),
        "stream": stream,
    }
    for name, write in writers.items():
        yield Seed(f"Arrow {name}", written(partial(write, content=table), "a.arrow"), read_text("a.arrow"))
        yield Seed(f"vectors Arrow {name}", written(partial(write, content=words), "v.arrow"), read_vectors("v.arrow"))
    saved = written(lambda path: stream(path, table), "data.arrow")
    saved["state.json"] = b'{"_data_files": [{"filename": "data.arrow"}]}'
    yield Seed("saved dataset", saved, read_text("."), edit=_edit_any)


def folder_seeds() -> Iterator[Seed]:
    """What is in an SQLite file, and beside it."""
    from alacarte import Concordance, Corpus, WordVectors
    from alacarte.serve.desk import Desk
    from alacarte.serve.jobs import Jobs
    from alacarte.serve.workspace import Workspace

    rng = np.random.default_rng(0)
    vectors = WordVectors(["the", "bank", "river"], rng.normal(size=(3, 4)).astype(np.float32))
    rows = [
        {"text": "the bank of the river", "year": 1990},
        {"text": "né bank", "year": "x"},
        {"text": "of", "year": 1},
    ]

    def build(path: Path) -> None:
        text = path.with_name("text.jsonl")
        text.write_text("\n".join(map(json.dumps, rows)))
        Concordance.build(vectors, Corpus(text, columns=["year"]), path)
        text.unlink()

    def read(folder: Path) -> Any:
        opened = Concordance(folder / "k")
        chosen = opened.where("year>5")
        sums = opened.collect(vectors, ["bank", "of the"], window=2)
        return digest(
            list(opened), opened.value_counts("year"), opened.to_columns(), str(opened.lines("bank")), len(chosen),
            list(chosen), sums.all.sums, sums.occurrences, opened.frequent_words(),
        )  # fmt: skip

    files = written(build, "k")
    parts = tuple(name for name in files if name.endswith(".safetensors"))
    yield Seed("concordance", files, read, ours=True)
    yield Seed("concordance forged", files, read, edit=edit_header, forged=True, only=parts)

    def desk(folder: Path) -> Any:
        workspace = Workspace(folder=folder)
        return Desk(workspace, Jobs(workspace))

    def write_notes(path: Path) -> None:
        made = desk(path)
        made.keep_note(0, "/word?phrase=bank", "a title", "a note")
        made.keep_note(0, "/map", "", "another")

    notes = written(write_notes, "w")
    yield Seed("notes of the page", notes, lambda folder: digest(desk(folder / "w").notes()), ours=True)


def _read_targets(folder: Path) -> str:
    from alacarte import Targets

    return digest(list(Targets.from_file(folder / "t.txt")))


def read_frame(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        from alacarte.regression import read_table

        return digest(read_table(folder / name).to_csv())

    return read


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("a.txt", (2020, 1, 1, 0, 0, 0)), data)
        archive.writestr(zipfile.ZipInfo("b/c.txt", (2020, 1, 1, 0, 0, 0)), b"the second\n")
    return file.getvalue()


def tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in (("b.txt", data), ("a/" + "c" * 120 + ".txt", b"the second\n")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def parquet(**options: Any) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet as module

    file = io.BytesIO()
    columns = {"text": ["a bank", "the né river", "of"], "id": [1, 2, 3], "tokens": [None, None, None]}
    module.write_table(pa.table({**columns, "tokens": pa.array([None] * 3, pa.list_(pa.string()))}), file, **options)
    return file.getvalue()


def written(write: Callable[[Path], Any], name: str) -> Files:
    """The files that something writes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


# ------------------------------------------------------------------------------------------ seeds: ours


def artifact_seeds() -> Iterator[Seed]:
    from alacarte import ALaCarte, Targets, WordVectors, collect
    from alacarte.spelling.form import FormModel
    from alacarte.spelling.fusion import Fusion, Simulated
    from alacarte.uncertainty.spread import TypicalSpread

    rng = np.random.default_rng(0)
    words = [first + second for first in ("ba", "ri", "ne", "of", "th") for second in ("nk", "ver", "w", "e", "")]
    vectors = WordVectors(words, rng.normal(size=(len(words), 3)).astype(np.float32))
    corpus = [" ".join(rng.choice(words, 12)) for _ in range(60)]
    sums = collect(vectors, corpus, Targets(["bank", "river new"]), spread=4)
    model = ALaCarte.fit(vectors, corpus, ridge=1.0)
    yield from both("sums", written(sums.save, "a.sums"), lambda folder: _sums(folder / "a.sums"))
    transform = written(model.transform.save, "a.safetensors")
    yield from both("transform", transform, read_transform("a.safetensors"))
    form = FormModel.fit(vectors, min_words=1, ridge=1.0)
    yield from both("form model", written(form.save, "a.safetensors"), _form)
    report = (Simulated(1, 2, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5),)
    fusion = Fusion(-0.5, 0.2, -1.0, 1.5, np.ones(3), report)
    yield from both("fusion", written(fusion.save, "a.safetensors"), _fusion)
    typical = TypicalSpread(np.eye(3), 1.0, 2.0, 3.0, 2.0, 1.0, 0.5, 0.2, 7)
    yield from both("typical spread", written(typical.save, "a.safetensors"), _typical)
    yield from both("register", written(model.register.save, "a.safetensors"), _register)
    yield from both("checkpoint", checkpoint(vectors, corpus), _checkpoint)
    whole = ALaCarte(vectors, model.transform, form=form, fusion=fusion, typical=typical)
    folder = written(lambda path: whole.save(path, include_vectors=True), "m")
    parts = tuple(name for name in folder if name.endswith(".safetensors"))
    yield Seed("model folder", folder, _model, ours=True, only=parts)
    yield Seed("model.json", folder, _model, edit=edit_json, only=("m/model.json",))
    yield Seed("model folder, inspected", folder, _inspect, edit=_edit_any)


def both(name: str, files: Files, read: Callable[[Path], Any]) -> Iterator[Seed]:
    yield Seed(name, files, read, ours=True)
    yield Seed(f"{name} forged", files, read, edit=edit_header, forged=True)


def _edit_any(rng: random.Random, data: bytes) -> bytes:
    return edit_json(rng, data) if data[:1] == b"{" else edit_header(rng, data) if data[8:9] == b"{" else data


def _sums(path: Path) -> str:
    from alacarte import ContextSums

    sums = ContextSums.load(path)
    parts = [sums.all.sums, sums.occurrences, sums.means(), *(() if sums.groups is None else (sums.groups.sums,))]
    return digest(
        list(sums.keys), *map(np.asarray, parts), sums.settings, sums.documents, sorted(sums.units), str(sums)
    )


def _form(folder: Path) -> str:
    from alacarte.spelling.form import FormModel

    form = FormModel.load(folder / "a.safetensors")
    return digest(form.codes, form.weights, form.center, form.quality, form.writing, form.fingerprint)


def _fusion(folder: Path) -> str:
    from alacarte.spelling.fusion import Fusion

    fusion = Fusion.load(folder / "a.safetensors")
    return digest(fusion.level, fusion.doubling, fusion.length, fusion.typical, fusion.common, fusion.report)


def _register(folder: Path) -> str:
    from alacarte.transform.register import Register

    register = Register.load(folder / "a.safetensors")
    return digest(register.centre, register.covariance, register.between, register.uses)


def _typical(folder: Path) -> str:
    from alacarte.uncertainty.spread import TypicalSpread

    return digest(*vars(TypicalSpread.load(folder / "a.safetensors")).values())


def checkpoint(vectors: Any, corpus: list[str]) -> Files:
    from alacarte import Targets, collect

    def write(path: Path) -> None:
        collect(vectors, corpus, Targets(["bank"]), checkpoint=path)

    return {name: data for name, data in written(write, "a.check").items() if name == "a.check"}


def _checkpoint(folder: Path) -> str:
    from alacarte._io.artifact import read_artifact
    from alacarte.errors import BadCheckpoint
    from alacarte.passes.checkpoint import KIND, VERSION, Checkpoint

    identity = read_artifact(folder / "a.check", KIND, BadCheckpoint, VERSION).value("identity", dict)
    with Checkpoint(folder / "a.check", identity).held() as held:
        stages = [
            (name, stage.amounts, sorted(stage.units), stage.complete) for name, stage in sorted(held.stages.items())
        ]
        arrays = [array for _, stage in sorted(held.stages.items()) for _, array in sorted(stage.arrays.items())]
    return digest(stages, *map(np.asarray, arrays))


def _model(folder: Path) -> str:
    from alacarte import ALaCarte

    model = ALaCarte.load(folder / "m")
    parts = [model.transform.matrix, model.vectors.matrix, list(model.vectors.words), model.settings]
    parts += [
        model.form and model.form.weights,
        model.fusion and (model.fusion.level, model.fusion.doubling, model.fusion.length),
        model.typical and model.typical.shape,
    ]
    return digest(*parts)


def _inspect(folder: Path) -> str:
    from alacarte.cli._describe import describe

    return digest([describe(str(folder / "m")), describe(str(folder / "m" / "form.safetensors"))])


# ---------------------------------------------------------------------------------------- seeds: others'


def sense_seeds() -> Iterator[Seed]:
    from alacarte_experiments.wsd.brown import read_brown
    from alacarte_experiments.wsd.semeval import read_semeval

    from alacarte.senses import open_wordnet, read_conllu, read_semcor

    semcor = (
        b"<contextfile concordance=brown>\n<context filename=br-a01 paras=yes>\n<p pnum=1>\n<s snum=1>\n"
        b"<wf cmd=ignore pos=PRP>It</wf>\n<wf cmd=done pos=VB lemma=take_place wnsn=1 lexsn=2:30:00::>took_place</wf>\n"
        b"<wf cmd=done pos=JJ lemma=only wnsn=1;0 lexsn=5:00:00:single(a):00;3:00:01::>only</wf>\n<punc>.</punc>\n"
        b"</s>\n</p>\n</context>\n</contextfile>\n"
    )
    yield Seed("SemCor", {"br-a01": semcor}, lambda folder: digest(list(read_semcor(folder / "br-a01", missing=False))))
    xml = (
        b'<?xml version="1.0" encoding="UTF-8" ?>\n<corpus lang="en">\n<text id="d0">\n<sentence id="d0.s0">\n'
        b'<wf lemma="the" pos="DET">the</wf>\n<instance id="d0.s0.t0" lemma="bank" pos="NOUN">bank</instance>\n'
        b'<wf id="d0.s0.t1" lemma="hot" pos="ADJ">hot</wf>\n<wf id="d0.s0.t2" lemma="dog" pos="NOUN">dog</wf>\n'
        b"</sentence>\n</text>\n</corpus>\n"
    )
    gold = b"d0.s0.t0 bank%1:17:01::\nd0.s0.t1\td0.s0.t2\twn:hot_dog%1:13:01::\n"
    files = {"a.xml": xml, "a.key": gold}
    yield Seed(
        "SemEval", files, lambda folder: digest(list(read_semeval(folder / "a.xml", folder / "a.key", last_word=False)))
    )
    yield Seed(
        "Brown",
        {"ca01": b"\n\tThe/at 1/2/cd miles/nns ./.\n"},
        lambda folder: digest(list(read_brown(folder / "ca01"))),
    )
    row = "{}\t{}\t{}\tVERB\t_\t{}\t0\troot\t_\t{}\n"
    conllu = row.format(1, "New", "new", "_", "NER=B-LOC") + row.format(2, "York", "york", "Case=Nom", "NER=I-LOC")
    plus = "# global.columns = ID FORM NER\n1\tNew\tB-LOC\n2\tYork\tI-LOC\n\n"
    yield Seed(
        "CoNLL-U",
        {"a.conllu": conllu.encode(), "b.conllup": plus.encode()},
        lambda folder: digest(
            list(read_conllu(folder / "a.conllu")),
            list(read_conllu(folder / "a.conllu", "NER")),
            list(read_conllu(folder / "b.conllup", "NER")),
        ),
    )
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
    from tiny_wordnet import write_wordnet

    wordnet = written(write_wordnet, "dict")

    def read(folder: Path) -> str:
        opened = open_wordnet(folder / "dict")
        found = [opened.synsets(word) for word in ("bank", "geese", "take_place", "quiet", "rapid")]
        return digest(list(opened.all_synsets()), found)

    yield Seed("WordNet", wordnet, read)


def matrix_seeds() -> Iterator[Seed]:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(3, 3))
    npy = io.BytesIO()
    np.save(npy, matrix)
    csv = "\n".join(
        [",a,b,c", *(f"{name},{row[0]},{row[1]},{row[2]}" for name, row in zip("abc", matrix, strict=True))]
    )
    yield Seed("matrix .bin", {"a.bin": matrix.astype("<f4").tobytes()}, read_transform("a.bin"))
    yield Seed("matrix .npy", {"a.npy": npy.getvalue()}, read_transform("a.npy"))
    yield Seed("matrix .csv", {"a.csv": csv.encode()}, read_transform("a.csv"))
    plain = r_matrix(matrix)
    edit = inside(gzip.decompress, gzip.compress)
    yield Seed("R .rds", {"a.rds": gzip.compress(plain, mtime=0)}, read_transform("a.rds"), edit=edit)
    yield Seed("R .rds, plain", {"a.rds": plain}, read_transform("a.rds"))
    listed = b"RDX3\nX\n" + plain[2:23] + struct.pack(">i", 0x402) + _symbol("A") + plain[23:] + struct.pack(">i", 0xFE)
    yield Seed("R .rda", {"a.rda": gzip.compress(listed, mtime=0)}, read_transform("a.rda"), edit=edit)


def r_matrix(matrix: np.ndarray, rows: list[str] | None = None) -> bytes:
    """What R's saveRDS writes of a matrix, and of the names of its rows: XDR, version 3."""
    head = b"X\n" + struct.pack(">iii", 3, 0x40200, 0x30500) + struct.pack(">i", 5) + b"UTF-8"
    values = struct.pack(">ii", 0x20E, matrix.size) + matrix.T.astype(">f8").tobytes()
    dims = struct.pack(">i", 0x402) + _symbol("dim") + struct.pack(">ii", 0xD, 2) + struct.pack(">ii", *matrix.shape)
    if rows is not None:
        texts = [struct.pack(">ii", 0x8009, len(name.encode())) + name.encode() for name in rows]
        dims += struct.pack(">i", 0x402) + _symbol("dimnames") + struct.pack(">ii", 0x13, 2)
        dims += struct.pack(">ii", 0x10, len(rows)) + b"".join(texts) + struct.pack(">i", 0xFE)
    return head + values + dims + struct.pack(">i", 0xFE)


def _symbol(name: str) -> bytes:
    return struct.pack(">iii", 1, 0x40009, len(name)) + name.encode()


def all_seeds() -> list[Seed]:
    """Every format; each is read once, so that all is imported and compiled before the processes part."""
    seeds = [*vector_seeds(), *text_seeds(), *arrow_seeds(), *artifact_seeds(), *folder_seeds(), *sense_seeds()]
    seeds += matrix_seeds()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            put(Path(folder), seed.files)
            try:
                seed.read(Path(folder))
            except Exception as error:
                if seed.name != "pickle, sniffed":
                    raise RuntimeError(f"the seed of {seed.name!r} cannot be read") from error
    return seeds


def put(folder: Path, files: Files) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


# ------------------------------------------------------------------------------------------------- running


@dataclass
class Counts:
    """What became of the mutants of one format."""

    outcomes: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run_seed(seed: Seed, number: int, mutants: int, others: list[bytes], keep: Path | None = None) -> Counts:
    """Read so many mutants of one format, in child processes."""
    counts = Counts()
    begun = time.monotonic()
    first = 0
    while first < mutants:
        last = min(mutants, first + BATCH)
        first = _batch(seed, number, range(first, last), others, counts, keep)
    counts.seconds = time.monotonic() - begun
    return counts


def _rng(number: int, seed: Seed, place: int) -> random.Random:
    return random.Random(f"{number} {seed.name} {place}")


def _batch(seed: Seed, number: int, places: range, others: list[bytes], counts: Counts, keep: Path | None) -> int:
    """Run a batch in a child; returns where the next one begins: behind the mutant that ended this one, if any did."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(seed, number, places, others, writing)
    os.close(writing)
    pending, done = b"", places.start
    ended = "crashes"
    try:
        while True:
            if not select.select([reading], [], [], SECONDS)[0]:
                os.kill(child, signal.SIGKILL)
                ended = "hangs"
                break
            part = os.read(reading, 1 << 16)
            if not part:
                break
            *lines, pending = (pending + part).split(b"\n")
            for line in lines:
                outcome, _, detail = line.decode(errors="replace").partition("\t")
                _count(seed, number, done, others, outcome, detail, counts, keep)
                done += 1
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if done < places.stop:
        _count(seed, number, done, others, ended, f"status {status}", counts, keep)
        done += 1
    return done


def _count(
    seed: Seed,
    number: int,
    place: int,
    others: list[bytes],
    outcome: str,
    detail: str,
    counts: Counts,
    keep: Path | None,
) -> None:
    counts.outcomes[outcome] += 1
    if outcome in BAD:
        if len(counts.examples) < 20:
            counts.examples.append(f"{outcome}: {seed.name}, mutant {place}: {detail}")
        if keep is not None:
            name, data = mutant(_rng(number, seed, place), seed, others)
            folder = keep / re.sub(r"\W+", "-", seed.name) / str(place)
            put(folder, {**seed.files, name: data})


def _child(seed: Seed, number: int, places: range, others: list[bytes], writing: int) -> None:
    code = 1
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        warnings.simplefilter("ignore")
        memory = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            root = Path(folder)
            put(root, seed.files)
            original = _read(seed, root)[1]
            for place in places:
                name, data = mutant(_rng(number, seed, place), seed, others)
                (root / name).write_bytes(data)
                outcome, detail = _read(seed, root)
                if outcome == "read" and seed.ours and data != seed.files[name] and detail != original:
                    outcome, detail = "accepted", f"{name} is read as something else"
                os.write(writing, f"{outcome}\t{detail if outcome in BAD else ''}\n".encode())
                (root / name).write_bytes(seed.files[name])
        code = 0
    finally:
        os._exit(code)


def _read(seed: Seed, root: Path) -> tuple[str, str]:
    from alacarte.errors import AlacarteError

    try:
        return "read", str(seed.read(root))
    except AlacarteError:
        return "refused", ""
    except OSError as error:
        return ("refused", "") if error.errno is not None else ("foreign", repr(error)[:200])
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)
        ours = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in where if "alacarte" in frame.filename]
        return "foreign", f"{' '.join(repr(error)[:200].split())} at {' '.join(ours[-3:])}"


def run(seeds: list[Seed], mutants: int, number: int, keep: Path | None = None, show: bool = True) -> dict[str, Counts]:
    """So many mutants, evenly over formats."""
    others = [data for seed in seeds for data in seed.files.values() if data]
    results = {}
    for place, seed in enumerate(seeds):
        share = mutants // len(seeds) + (place < mutants % len(seeds))
        results[seed.name] = run_seed(seed, number, share, others, keep)
        if show:
            print(row(seed.name, results[seed.name]), flush=True)
            for example in results[seed.name].examples:
                print(f"    {example}", file=sys.stderr, flush=True)
    return results


def row(name: str, counts: Counts) -> str:
    return f"| {name} | " + " | ".join(f"{counts.outcomes[outcome]:,}" for outcome in OUTCOMES) + " |"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=200_000, help="how many in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", nargs="*", help="only formats whose names hold one of these")
    parser.add_argument("--keep", type=Path, help="a folder for the mutants that something went wrong with")
    options = parser.parse_args(argv)
    os.environ.setdefault("XDG_CACHE_HOME", tempfile.gettempdir())
    warnings.simplefilter("ignore")
    begun = time.monotonic()
    seeds = all_seeds()
    if options.formats:
        seeds = [seed for seed in seeds if any(part in seed.name for part in options.formats)]
    print("| format | " + " | ".join(OUTCOMES) + " |")
    print("|---|" + "---:|" * len(OUTCOMES))
    results = run(seeds, options.mutants, options.seed, options.keep)
    total = Counts(sum((counts.outcomes for counts in results.values()), Counter()))
    print(row("all", total))
    print(f"\n{sum(total.outcomes.values()):,} mutants, {len(seeds)} formats, {time.monotonic() - begun:.0f} s")
    return int(any(total.outcomes[outcome] for outcome in BAD))


if __name__ == "__main__":
    sys.exit(main())
