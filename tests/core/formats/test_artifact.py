"""The one saved-artifact format: written whole, read with its errors, and no damaged byte accepted."""

import errno
import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte._io import urls
from alacarte._io.artifact import kind_of, read_artifact, word_tensors, write_artifact
from alacarte._io.tensors import layout, read_tensors, write_tensors
from alacarte.cli._describe import DESCRIBERS, describe_artifact
from alacarte.errors import AlacarteError, BadSums, BadTransform

ARRAYS = {
    "sums": np.arange(12, dtype=np.int64).reshape(3, 4),
    "half": np.ones((2, 3), np.float16),
    "empty": np.empty((0, 5), np.float32),
    "number": np.array(7.5),
    "ääh": np.array([True, False]),
    **word_tensors(["a", "né", ""]),
}
METADATA = {"settings": {"window": 5, "name": "é"}, "read": [1, 2.5, None]}


@dataclass(frozen=True)
class Settings:
    window: int
    name: str = "words"

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError("the window is negative")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_artifact(tmp_path / "a.sums", "context sums", ARRAYS, METADATA)
    return tmp_path / "a.sums"


def test_round_trip(file):
    artifact = read_artifact(file, "context sums", BadSums)
    assert (artifact.kind, artifact.version, artifact.metadata) == ("context sums", 1, METADATA)
    assert artifact.tensors.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(artifact.tensors[name], array)
        assert artifact.tensors[name].dtype == array.dtype
        assert not artifact.tensors[name].flags.writeable
    assert artifact.words() == ["a", "né", ""]
    artifact.verify()


def test_other_programs_can_read_it(file):
    safetensors = pytest.importorskip("safetensors.numpy")
    theirs = safetensors.load_file(file)
    np.testing.assert_array_equal(theirs["sums"], ARRAYS["sums"])


def test_the_same_content_is_the_same_file(file, tmp_path):
    write_artifact(tmp_path / "b", "context sums", dict(reversed(ARRAYS.items())), METADATA)
    assert (tmp_path / "b").read_bytes() == file.read_bytes()


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_no_damaged_byte_is_accepted(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    file = folder / "whole"
    if not file.exists():
        write_artifact(file, "context sums", ARRAYS, METADATA)
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    (folder / "damaged").write_bytes(content)
    with pytest.raises(BadSums, match="damaged"):  # the file's name, in every message
        read_artifact(folder / "damaged", "context sums", BadSums)


@pytest.mark.parametrize("length", [0, 7, 8, 100, 500, -1])
def test_cut_off(file, length):
    content = file.read_bytes()
    file.write_bytes(content[:length])
    with pytest.raises(BadSums, match=r"a\.sums"):
        read_artifact(file, "context sums", BadSums)


def test_tensors_are_verified_when_read_or_when_first_used(tmp_path):
    large, small = np.arange(3001, dtype=np.int64), -np.arange(300, dtype=np.int64)
    write_artifact(tmp_path / "a", "context sums", {"large": large, "small": small}, {})
    read_artifact(tmp_path / "a", "context sums", BadSums).verify()
    content = bytearray((tmp_path / "a").read_bytes())
    first = content.index(large.tobytes())
    for place in (first, first + 999, first + large.nbytes - 1):
        damaged = bytearray(content)
        damaged[place] ^= 1
        (tmp_path / "b").write_bytes(damaged)
        with pytest.raises(BadSums, match=r"b is damaged: tensor 'large'"):
            read_artifact(tmp_path / "b", "context sums", BadSums)
        artifact = read_artifact(tmp_path / "b", "context sums", BadSums, lazily=("large",))
        for _ in range(2):
            with pytest.raises(BadSums, match=r"b is damaged: tensor 'large'"):
                artifact.verify("large")
            with pytest.raises(BadSums, match=r"b is damaged: tensor 'large'"):
                artifact.verify()
    damaged = bytearray(content)
    damaged[content.index(small.tobytes()) + 5] ^= 1
    (tmp_path / "b").write_bytes(damaged)
    with pytest.raises(BadSums, match="tensor 'small'"):
        read_artifact(tmp_path / "b", "context sums", BadSums, lazily=("large",))


def test_files_with_a_digest_for_each_16_mib_say_that_they_are_old(tmp_path):
    """As versions up to 0.2 wrote them; where no tensor is larger, the files are the same."""
    arrays = {"large": np.zeros(100), "digests": np.zeros((3, 32), np.uint8)}
    strings = {"format": "alacarte", "kind": "example", "version": "1", "metadata": "{}"}
    header, _ = layout(arrays, strings, last="digests")
    rows = [sha256(part).digest() for part in (header, bytes(400), bytes(400))]
    (tmp_path / "a").write_bytes(header + bytes(800) + b"".join(rows))
    with pytest.raises(BadSums, match="written by an older version of alacarte, with other digests; make it again"):
        read_artifact(tmp_path / "a", "example", BadSums)


def test_arrays_that_are_not_contiguous(tmp_path):
    matrix = np.arange(60.0).reshape(10, 6).T[::2]
    write_artifact(tmp_path / "a", "example", {"matrix": matrix, "big": matrix.astype(">f8")}, {})
    artifact = read_artifact(tmp_path / "a", "example")
    np.testing.assert_array_equal(artifact.tensor("matrix"), matrix)
    np.testing.assert_array_equal(artifact.tensor("big"), matrix)


def test_what_it_is_not(file, tmp_path):
    with pytest.raises(
        BadTransform, match=r"a\.sums: not a transform but context sums; pass another file, `alc inspect`"
    ):
        read_artifact(file, "transform", BadTransform)
    with pytest.raises(BadSums, match="no such file"):
        read_artifact(tmp_path / "nothing", "context sums", BadSums)
    write_tensors(tmp_path / "theirs", {"weight": np.ones(3)}, {"format": "pt"})
    with pytest.raises(BadSums, match="theirs: not context sums but a safetensors file of another program"):
        read_artifact(tmp_path / "theirs", "context sums", BadSums)
    (tmp_path / "text").write_text("the cat sat on the mat")
    with pytest.raises(BadSums, match="text"):
        read_artifact(tmp_path / "text", "context sums", BadSums)
    kinds = [kind_of(tmp_path / name) for name in ("a.sums", "theirs", "text", "nothing")]
    assert kinds == ["context sums", None, None, None]


def test_newer_version(tmp_path):
    write_artifact(tmp_path / "a", "transform", {}, {}, version=3)
    with pytest.raises(BadTransform, match=r"newer version of alacarte.*version 3.*up to 2.*pip install --upgrade"):
        read_artifact(tmp_path / "a", "transform", BadTransform, version=2)
    assert read_artifact(tmp_path / "a", "transform", version=4).version == 3


def test_records(tmp_path):
    def reading(**settings):
        write_artifact(tmp_path / "a", "example", {}, {"settings": settings, "list": [1]})
        return read_artifact(tmp_path / "a", "example", BadSums).record("settings", Settings)

    assert reading(window=3) == Settings(3)
    with pytest.raises(BadSums, match=r"settings 'colour' is not known here.*newer version of alacarte"):
        reading(window=3, colour="red")
    with pytest.raises(BadSums, match="damaged: settings 'window' is missing"):
        reading(name="x")
    with pytest.raises(BadSums, match=r"damaged: settings make no sense.*negative"):
        reading(window=-1)
    with pytest.raises(BadSums, match="damaged"):
        reading(window="five")
    artifact = read_artifact(tmp_path / "a", "example", BadSums)
    with pytest.raises(BadSums, match="'list' is"):
        artifact.record("list", Settings)
    with pytest.raises(BadSums, match="does not say its 'missing'"):
        artifact.value("missing", int)


def test_tensors_that_must_be_there(file):
    artifact = read_artifact(file, "context sums", BadSums)
    assert artifact.tensor("sums", np.int64, 2).shape == (3, 4)
    for name, dtype, ndim in [("none", None, None), ("sums", np.float64, 2), ("sums", np.int64, 1)]:
        with pytest.raises(BadSums, match=rf"a\.sums is damaged.*{name}"):
            artifact.tensor(name, dtype, ndim)
    with pytest.raises(BadSums, match="no tensor 'keys'"):
        artifact.words("keys")


def test_metadata_that_is_no_object(tmp_path):
    write_artifact(tmp_path / "a", "example", {}, {"a": 1})
    for text in ("[1, 2]", '{"a": ' + "[" * 100_000, "{"):
        strings = {"format": "alacarte", "kind": "example", "version": "1", "metadata": text}
        _write_with_header(tmp_path / "b", strings)
        with pytest.raises(AlacarteError, match="metadata make no sense"):
            read_artifact(tmp_path / "b", "example")


def _write_with_header(path: Path, strings: dict[str, str]) -> None:
    digests = np.zeros((1, 32), np.uint8)
    write_tensors(path, {"digests": digests}, strings)
    content = path.read_bytes()
    path.write_bytes(content[:-32] + sha256(content[:-32]).digest())


def test_describe_by_the_table(file, monkeypatch):
    monkeypatch.delitem(DESCRIBERS, "context sums")
    plain = describe_artifact(read_artifact(file))
    assert plain["what"] == "context sums"
    assert plain["tensors"]["sums"] == "int64 3 × 4"
    assert plain["settings"] == METADATA["settings"]
    monkeypatch.setitem(DESCRIBERS, "context sums", f"{__name__}:described")
    assert describe_artifact(read_artifact(file))["targets"] == 3


def described(artifact):
    return {"targets": len(artifact.words())}


def test_every_kind_in_the_table_has_its_function():
    from importlib import import_module

    for place in DESCRIBERS.values():
        module, _, function = place.partition(":")
        assert callable(getattr(import_module(module), function))


def test_nothing_is_left_of_a_write_that_fails(tmp_path):
    with pytest.raises(TypeError):
        write_artifact(tmp_path / "a", "example", {"text": np.array(["text"])}, {})
    with pytest.raises(TypeError):
        write_artifact(tmp_path / "a", "example", {}, {"path": tmp_path})
    assert list(tmp_path.iterdir()) == []


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path):
    """While another process puts one file after the other in the same place."""
    import subprocess
    import sys

    code = """
import sys, numpy as np
from alacarte._io.artifact import write_artifact
number = 0
while True:
    number += 1
    size = 10 + 7 * (number % 5)
    write_artifact(sys.argv[1], "example", {"a" * (number % 3 + 1): np.full(size, number)}, {"number": number})
"""
    write_artifact(tmp_path / "a", "example", {"a": np.zeros(3, np.int64)}, {"number": 0})
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "a")])
    try:
        seen = set()
        while len(seen) < 50:
            artifact = read_artifact(tmp_path / "a", "example")
            (array,) = artifact.tensors.values()
            assert set(array.tolist()) == {artifact.metadata["number"]}
            seen.add(artifact.metadata["number"])
            assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()


def test_no_tensor_takes_the_place_of_the_digests(tmp_path):
    with pytest.raises(ValueError, match="digests"):
        write_artifact(tmp_path / "a", "example", {"digests": np.zeros(3)}, {})


def test_low_level_reader_sees_the_digests(file):
    tensors, strings = read_tensors(file)
    assert tensors["digests"].shape[1] == 32
    assert json.loads(strings["metadata"]) == METADATA


def test_a_file_that_cannot_be_read_is_not_said_to_be_of_another_kind(file, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    assert kind_of(file) == "context sums"
    assert kind_of(file.parent) is None
    assert kind_of(file.with_name("missing")) is None
    monkeypatch.setattr(urls.io, "FileIO", refuse)
    with pytest.raises(PermissionError):
        kind_of(file)
