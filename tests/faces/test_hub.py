"""Folders for the Hugging Face Hub: written with a card, read from a path or the hub's cache, without a network."""

import json
import socket

import pytest

from alacarte import WordVectors
from alacarte.errors import AlacarteError, BadVectors

VECTORS = WordVectors(["a", "new york"], [[1.0, 0.0], [0.0, 1.0]], counts=[7, 9], name="toy.2d")


@pytest.fixture
def no_network(monkeypatch):
    def refused(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)


def cached(tmp_path, monkeypatch, folder, name):
    """The folder as the hub's cache keeps it: a snapshot of links to blobs."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "cache" / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / commit
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    (repository / "blobs").mkdir()
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(folder.iterdir())):
        (repository / "blobs" / str(number)).write_bytes(file.read_bytes())
        try:
            (snapshot / file.name).symlink_to(repository / "blobs" / str(number))
        except OSError:  # Windows, where the hub copies
            (snapshot / file.name).write_bytes(file.read_bytes())


def test_vectors_with_a_card(tmp_path, monkeypatch, no_network):
    VECTORS.save_pretrained(tmp_path / "mine")
    assert {file.name for file in (tmp_path / "mine").iterdir()} == {"vectors.safetensors", "config.json", "README.md"}
    card = (tmp_path / "mine" / "README.md").read_text()
    assert "2 words and phrases with vectors of 2 dimensions" in card
    assert "toy.2d" in card
    for loaded in (WordVectors.from_pretrained(tmp_path / "mine"), WordVectors.load(tmp_path / "mine")):
        assert loaded == VECTORS
        assert loaded.counts.tolist() == [7, 9]
    with pytest.raises(BadVectors, match="overwrite=True"):
        VECTORS.save_pretrained(tmp_path / "mine")
    VECTORS.first(1).save_pretrained(tmp_path / "mine", overwrite=True)
    cached(tmp_path, monkeypatch, tmp_path / "mine", "someone/vectors")
    assert WordVectors.from_pretrained("someone/vectors").words == ("a",)
    with pytest.raises(BadVectors, match="hf download someone/other"):
        WordVectors.from_pretrained("someone/other")
    with pytest.raises(BadVectors, match="hf download someone/vectors"):
        WordVectors.from_pretrained("someone/vectors", revision="no-such-branch")


def test_from_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from alacarte.cli import app

    VECTORS.save(tmp_path / "v.csv")
    for format in ("hub", "model2vec"):
        arguments = ["convert", str(tmp_path / "v.csv"), str(tmp_path / format), "--to", format]
        assert CliRunner().invoke(app, arguments).exit_code == 0
        assert WordVectors.load(tmp_path / format).subset(VECTORS.words) == VECTORS
        again = CliRunner().invoke(app, arguments)
        assert again.exit_code == 1
        assert "or pass --overwrite" in again.output
        inspected = CliRunner().invoke(app, ["inspect", str(tmp_path / format), "--json"])
        assert json.loads(inspected.stdout)["what"] == "word vectors"
    with pytest.raises(BadVectors, match="on a disk"):
        VECTORS.save("s3://bucket/folder", "hub")


@pytest.mark.parametrize("name", ["no such folder/at/all", "../secret", "a b", "/nowhere"])
def test_names_that_are_neither(name, no_network):
    with pytest.raises(AlacarteError, match="neither a folder nor"):
        WordVectors.from_pretrained(name)


def test_damage_in_a_folder(tmp_path):
    VECTORS.save_pretrained(tmp_path / "mine")
    file = tmp_path / "mine" / "vectors.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(BadVectors, match=r"vectors\.safetensors"):
        WordVectors.from_pretrained(tmp_path / "mine")
