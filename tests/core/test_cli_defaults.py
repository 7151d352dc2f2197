"""Defaults by environment variables, and what the Tab key offers."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.cli import app

WORDS = ["river", "money", "water", "loan", "boat"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    vectors = WordVectors(WORDS, np.random.default_rng(0).normal(size=(5, 3)))
    vectors.save("v.txt")
    ALaCarte(vectors, Transform(np.eye(3))).save("mine", include_vectors=True)
    return tmp_path


def alc(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


# -------------------------------------------------------------------------------------------------------- defaults


def test_a_default_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "embed", "--word", "bank", "--context", "the river bank with a boat"
    assert "set ALC_MODEL" in alc(*asked).stderr
    monkeypatch.setenv("ALC_MODEL", "mine")
    by_default = alc(*asked)
    monkeypatch.setenv("ALC_MODEL", "nowhere")
    assert "nowhere: neither a folder" in alc(*asked).stderr
    by_name = alc(*asked, "--model", "mine")
    assert by_default.exit_code == by_name.exit_code == 0, by_default.output
    assert by_default.stdout == by_name.stdout


def test_default_vectors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "nearest", "--word", "river", "-k", "2", "--json"
    assert "set ALC_VECTORS" in " ".join(alc(*asked).stderr.replace("│", " ").split())
    monkeypatch.setenv("ALC_VECTORS", "v.txt")
    assert alc(*asked).stdout == alc("nearest", "v.txt", *asked[1:]).stdout
    Path("text.txt").write_text("the river bank with a boat\n" * 3)
    fitted = alc("fit", "--corpus", "text.txt", "--ridge", "1", "--weighting", "none", "--out", "own")
    assert fitted.exit_code == 0, fitted.output


def test_default_threads_are_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALC_THREADS", "none")
    Path("text.txt").write_text("the river bank with a boat\n")
    result = alc("induce", "--model", "mine", "--corpus", "text.txt", "--word", "bank", "--out", "o.vec")
    assert result.exit_code == 2
    assert "--threads" in result.stderr


def test_what_a_default_reads_is_not_written_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of the default model are protected as those of a model that is named."""
    vectors = WordVectors.load("v.txt")
    ALaCarte(vectors, Transform(np.eye(3))).save("other")
    monkeypatch.setenv("ALC_MODEL", "other")
    Path("text.txt").write_text("the river bank with a boat\n")
    result = alc("induce", "--corpus", "text.txt", "--word", "bank", "--out", "other/vectors.safetensors")
    assert result.exit_code == 1
    assert "is what --model reads" in result.stderr
    assert WordVectors.load("other/vectors.safetensors").words == vectors.words


# ------------------------------------------------------------------------------------------------------ completion


def offered(line: str) -> list[str]:
    """What bash is given to offer for the last word of a command line."""
    words = {"_ALC_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    result = CliRunner().invoke(app, env=words, prog_name="alc")
    assert result.stderr == ""
    return result.stdout.split("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("alc conc", {"concordance"}),
        ("alc embed --mod", {"--model"}),
        ("alc embed --model glove.6B.5", {"glove.6B.50d", "glove.6B.50d.plain"}),
        ("alc convert a b --to word2vec", {"word2vec-text", "word2vec-binary"}),
        ("alc fit --averaging t", {"token"}),
        ("alc fit --tokenizer wor", {"words", "words-cased"}),
    ],
)
def test_what_tab_offers(folder: Path, line: str, expected: set[str]) -> None:
    assert set(offered(line)) - {""} == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_each_shell(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    result = CliRunner().invoke(app, ["--show-completion", shell], prog_name="alc")
    assert "_ALC_COMPLETE" in result.stdout
