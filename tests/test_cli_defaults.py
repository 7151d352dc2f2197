"""`alc config` and what the Tab key offers."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.cli import app
from alacarte.cli.config import config_file, read_defaults

WORDS = ["river", "money", "water", "loan", "boat"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALACARTE_CONFIG", str(tmp_path / "settings" / "config.json"))
    vectors = WordVectors(WORDS, np.random.default_rng(0).normal(size=(5, 3)))
    vectors.save("v.txt")
    ALaCarte(vectors, Transform(np.eye(3))).save("mine", include_vectors=True)
    return tmp_path


def alc(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


# -------------------------------------------------------------------------------------------------------- defaults


def test_a_default_model_is_set_read_used_and_forgotten(folder: Path) -> None:
    asked = "embed", "--word", "bank", "--context", "the river bank with a boat"
    assert "alc config model" in alc(*asked).stderr
    assert alc("config", "model", "mine").exit_code == 0
    assert read_defaults() == {"model": str(folder / "mine")}
    assert alc("config", "model").stdout == f"{folder / 'mine'}\n"
    assert json.loads(alc("config", "--json").stdout) == {"model": str(folder / "mine")}
    by_default, by_name = alc(*asked), alc(*asked, "--model", "mine")
    assert by_default.exit_code == 0, by_default.output
    assert by_default.stdout == by_name.stdout
    assert by_default.stderr == f"alc: note: model {folder / 'mine'}, your default (alc config)\n"
    assert by_name.stderr == ""
    assert alc(*asked, "--quiet").stderr == ""
    assert alc("config", "model", "--unset").exit_code == 0
    assert alc("config").stdout == ""
    assert alc(*asked).exit_code == 2


def test_default_vectors(folder: Path) -> None:
    asked = "nearest", "--word", "river", "-k", "2", "--json"
    assert "alc config vectors" in alc(*asked).stderr
    assert alc("config", "vectors", "v.txt").exit_code == 0
    assert alc(*asked).stdout == alc("nearest", "v.txt", *asked[1:]).stdout
    Transform(np.eye(3)).save("t.safetensors")
    bare = alc("embed", "--word", "bank", "--context", "river bank", "--transform", "t.safetensors")
    assert bare.exit_code == 0, bare.output


def test_a_default_that_has_moved_says_so(folder: Path) -> None:
    alc("config", "model", "mine")
    Path("mine").rename("moved")
    result = alc("embed", "--word", "bank", "--context", "river bank")
    assert result.exit_code == 1
    assert "is not there any more" in result.stderr
    assert "alc config model --unset" in result.stderr
    assert alc("embed", "--word", "bank", "--context", "river bank", "--model", "moved").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["model", "nowhere"], 1, "neither a folder with a saved model nor one of the names glove.6B.100d"),
        (["model", "settings"], 1, "neither a folder"),
        (["model", "v.txt"], 1, "no saved model"),
        (["vectors", "nowhere"], 1, "neither a file nor"),
        (["colour", "red"], 2, "no default 'colour'"),
        (["model"], 1, "no default model"),
        (["vectors", "--unset"], 1, "no default vectors to forget"),
        (["--unset"], 2, "which default to forget"),
        (["model", "mine", "--unset"], 2, "not both"),
    ],
)
def test_what_cannot_be_a_default(folder: Path, arguments: list[str], code: int, message: str) -> None:
    result = alc("config", *arguments)
    assert result.exit_code == code
    assert message in " ".join(result.output.replace("│", " ").split())
    assert not config_file().exists()


def test_names_and_paths_come_back_as_they_were(folder: Path) -> None:
    assert alc("config", "model", "glove.6B.50d").exit_code == 0
    name = 'né "quoted" \\ back'
    Path("v.txt").rename(name)
    assert alc("config", "vectors", name).exit_code == 0
    assert read_defaults() == {"model": "glove.6B.50d", "vectors": str(folder / name)}


def test_a_damaged_file_of_defaults_is_named(folder: Path) -> None:
    config_file().parent.mkdir()
    config_file().write_text("model = mine")
    result = alc("config")
    assert result.exit_code == 1
    assert str(config_file()) in result.stderr


def test_what_a_default_reads_is_not_written_over(folder: Path) -> None:
    """The vectors of the default model are protected as those of a model that is named."""
    vectors = WordVectors.load("v.txt")
    vectors.save("v.safetensors")
    ALaCarte(WordVectors.load("v.safetensors"), Transform(np.eye(3))).save("other", include_vectors=False)
    alc("config", "model", "other")
    Path("text.txt").write_text("the river bank with a boat\n")
    result = alc("induce", "--corpus", "text.txt", "--word", "bank", "--out", "v.safetensors")
    assert result.exit_code == 1
    assert "the default model reads" in result.stderr
    assert WordVectors.load("v.safetensors").words == vectors.words


def test_the_file_is_where_the_system_keeps_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ALACARTE_CONFIG")
    assert (config_file().parent.name, config_file().name) == ("alacarte", "config.json")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        assert config_file() == tmp_path / "alacarte" / "config.json"


# ------------------------------------------------------------------------------------------------------ completion


def offered(line: str) -> list[str]:
    """What bash is told to offer for the last word of a command line."""
    words = {"_ALC_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    result = CliRunner().invoke(app, env=words, prog_name="alc")
    assert result.stderr == ""
    return result.stdout.split("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("alc ce", {"certainty"}),
        ("alc embed --mod", {"--model"}),
        ("alc embed --model glove.6B.5", {"glove.6B.50d", "glove.6B.50d.window5"}),
        ("alc embed --model m", {"mine/"}),
        ("alc convert a b --to word2vec", {"word2vec-text", "word2vec-binary"}),
        ("alc fit --averaging t", {"token"}),
        ("alc fit --tokenizer wor", {"words", "words-cased"}),
        ("alc regress speeches.csv --text s", {"speech", "speaker"}),
        ("alc contexts lines.jsonl --text b", {"body"}),
        ("alc config mo", {"model"}),
        ("alc config vectors v", {"v.txt"}),
    ],
)
def test_what_tab_offers(folder: Path, line: str, expected: set[str]) -> None:
    Path("speeches.csv").write_text("speech,speaker,party\na,b,c\n")
    Path("lines.jsonl").write_text('{"body": "a", "year": 1}\n')
    assert set(offered(line)) - {""} == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_each_shell(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    result = CliRunner().invoke(app, ["--show-completion", shell], prog_name="alc")
    assert "_ALC_COMPLETE" in result.stdout
