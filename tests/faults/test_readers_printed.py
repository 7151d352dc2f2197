"""What is printed or filed does nothing to the terminal, the spreadsheet or the figure that it is for."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from alacarte import Corpus, WordVectors
from alacarte._io.printing import guarded, unguarded
from alacarte.cli import app

ESCAPE = "evil\x1b]0;owned\x07\x9b2J\u202egnp"
OBEYED = ("\x1b", "\x07", "\x9b", "\u202e")


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "v.safetensors"
    WordVectors(["cat", ESCAPE, "[b]", "né"], [[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]).save(path)
    return path


def alc(*arguments, **options):
    environment = {**os.environ, **options.pop("env", {})}
    command = [sys.executable, "-m", "alacarte", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env=environment, check=False, timeout=120, **options)


def test_words_do_not_reach_the_terminal_as_commands(vectors):
    for arguments in (["nearest", str(vectors), "-w", "cat"], ["inspect", str(vectors)]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        assert "evil\\x1b]0;owned\\x07\\x9b2J\\u202egnp" in result.output
        assert not any(mark in result.output for mark in OBEYED)
        as_json = CliRunner().invoke(app, [*arguments, "--json"])
        assert not any(mark in as_json.output for mark in OBEYED)
        assert ESCAPE in list(_strings(json.loads(as_json.stdout)))


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def test_names_of_files_do_not_reach_the_terminal_as_commands(tmp_path):
    missing = tmp_path / "a\x1b[2Jb.txt"
    result = CliRunner().invoke(app, ["inspect", str(missing)])
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    missing.write_bytes(b"\x00\xff")
    result = CliRunner().invoke(app, ["inspect", str(missing)])
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\\x1b[2Jb.txt" in result.output


def test_ascii_streams(vectors):
    result = alc("nearest", vectors, "-w", "cat", env={"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0, result.stderr
    assert b"n\\xe9" in result.stdout
    assert b"Traceback" not in result.stderr
    result = alc("--help", env={"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert b"Traceback" not in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="of shells on Unix")
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("nearest {v} -w cat >&-", 1, b"Bad file descriptor"),
        ("nearest {v} -w cat > /dev/full", 1, b"No space left"),
        ("nearest {v} -w cat >&- 2>&-", 1, b""),
        ("nearest {v} -w cat <&-", 0, b""),
        ("convert {v} {v}.out.safetensors -q >&-", 0, b""),
        ("--help >&-", 1, b""),
    ],
)
def test_closed_streams(vectors, line, code, said):
    command = f"{sys.executable} -m alacarte {line.format(v=vectors)}"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert b"Traceback" not in result.stderr, result.stderr
    assert b"Exception ignored" not in result.stderr
    assert said in result.stderr
    assert result.returncode == code, result.stderr


@pytest.mark.skipif(os.name == "nt", reason="of shells on Unix")
def test_a_pipe_that_is_closed_early(vectors):
    command = f"{sys.executable} -m alacarte inspect {vectors} --json | head -c 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=120)
    assert (result.stdout, result.stderr) == (b"{", b"")


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        list(Corpus("-"))


# ---------------------------------------------------------------------------------------------------- CSV

CELLS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "'=1",
    "''-1",
    "it's",
    "'tis",
    "-0.5",
    "",
    "- he",
]


@pytest.mark.parametrize("cell", CELLS)
def test_guards_can_be_taken_away(cell):
    assert unguarded(guarded(cell)) == cell
    assert guarded(cell)[:1] not in ("=", "+", "@", "\t", "\r")


def test_csv_of_results_holds_no_formulas(tmp_path):
    from dataclasses import dataclass

    from alacarte._io.table import Table

    @dataclass(frozen=True)
    class Counts(Table):
        def columns(self):
            return {"=text": CELLS, "number": np.arange(len(CELLS)) - 3.5}

    Counts().to_csv(tmp_path / "a.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_bytes().decode(), newline="")))
    assert rows[0] == ["'=text", "number"]
    assert not any(row[0][:1] in ("=", "+", "@", "\t", "\r") for row in rows)
    assert [float(row[1]) for row in rows[1:]] == (np.arange(len(CELLS)) - 3.5).tolist()
    assert Counts().to_dict()[0]["=text"] == "=1+1"


def test_csv_of_studies_is_read_back_as_it_was(tmp_path):
    pytest.importorskip("pandas")
    from alacarte.regression import Results, read_table

    texts = [cell for cell in CELLS if cell.strip()]
    columns = {"text": texts, "year": np.arange(len(texts)) - 5, "@by": [None, *texts[1:]]}
    Results({name: np.array(column, dtype=object) for name, column in columns.items()}).to_csv(tmp_path / "a.csv")
    assert b"\n=" not in (tmp_path / "a.csv").read_bytes()
    back = read_table(tmp_path / "a.csv")
    assert back["text"].tolist() == texts
    assert back["year"].tolist() == columns["year"].tolist()
    assert "@by" in back.columns
    assert list(Corpus(tmp_path / "a.csv")) == texts


# ------------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("own", [False, True])
def test_dollars_in_labels_are_dollars(own):
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from alacarte.regression import Results
    from alacarte.regression.plots import plot_coefficients

    table = Results({"term": np.array(["$x^{$", "$\\frac{$"]), "estimate": np.array([1.0, 2.0])})
    axes = None
    if own:
        figure = Figure()
        FigureCanvasAgg(figure)
        axes = figure.subplots()
    drawn = plot_coefficients(table, ax=axes, title="cost in $_{$")
    drawn.figure.savefig(io.BytesIO(), format="png")  # which fails on what is no formula
    assert {label.get_text().replace("\\$", "$") for label in drawn.get_yticklabels()} == {"$x^{$", "$\\frac{$"}
