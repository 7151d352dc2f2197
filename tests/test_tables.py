"""What every table of results gets from the one mixin."""

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from alacarte._io.table import Record, Table
from alacarte.errors import MissingExtra


@dataclass(frozen=True)
class Shares(Table):
    words: Any
    shares: Any
    times: Any = None

    def columns(self):
        columns = {"word": self.words, "share": self.shares}
        return columns if self.times is None else {**columns, "times_met": self.times}


@dataclass(frozen=True)
class Fit(Record):
    name: str
    value: float


NASTY = ["<b>bold</b>", "50% & $5_{x}", "a|b", "x\x1b[2J\ny"]
TABLE = Shares(NASTY, np.array([0.123456789, 1e-9, np.nan, 1234567.0]), np.array([1, 2, 3, 40_000]))


def test_to_dict_is_json_with_python_values():
    rows = TABLE.to_dict()
    assert rows[0] == {"word": "<b>bold</b>", "share": 0.123456789, "times_met": 1}
    assert type(rows[0]["times_met"]) is int
    assert rows[2]["share"] is None  # JSON has no NaN
    assert json.loads(TABLE.to_json()) == rows


def test_to_frame():
    pandas = pytest.importorskip("pandas")
    frame = TABLE.to_frame()
    assert frame.columns.tolist() == ["word", "share", "times_met"]
    assert frame["times_met"].dtype == np.int64
    assert pandas.isna(frame["share"][2])
    assert Shares((), ()).to_frame().columns.tolist() == ["word", "share"]


def test_to_frame_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[pandas\]"):
        TABLE.to_frame()


def test_to_csv_keeps_every_digit(tmp_path):
    text = TABLE.to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == text == TABLE.to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["word"] for row in rows] == NASTY
    assert float(rows[0]["share"]) == 0.123456789


def test_html_escapes_its_cells():
    shown = TABLE._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;bold" in shown
    assert "\x1b" not in shown


def test_latex_escapes_its_cells():
    lines = TABLE.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert lines[2] == r"word & share & times\_met \\"
    assert r"50\% \& \$5\_\{x\} & 1e-09 & 2 \\" in lines
    assert lines[-1] == r"\end{tabular}"


def test_markdown_has_one_line_a_row():
    lines = TABLE.to_markdown().splitlines()
    assert len(lines) == 2 + len(NASTY)
    assert r"| a\|b | – | 3 |" in lines


def test_text_is_aligned_and_harmless():
    lines = str(TABLE).splitlines()
    assert len(lines) == 1 + len(NASTY)
    assert lines[0].split() == ["word", "share", "times_met"]
    assert {len(line) for line in lines} == {len(lines[0])}
    assert "\x1b" not in str(TABLE)


def test_long_tables_are_cut_for_people_only():
    table = Shares([f"w{i}" for i in range(1000)], np.arange(1000.0))
    assert len(str(table).splitlines()) < 100
    assert len(table._repr_html_()) < 20_000
    assert len(table.to_csv().splitlines()) == 1001
    assert len(table.to_markdown().splitlines()) == 1002


def test_records_are_one_row():
    record = Fit("a", np.float64(0.5))
    assert record.to_dict() == {"name": "a", "value": 0.5}
    assert record.to_frame().shape == (1, 2)
    assert record.to_csv() == "name,value\na,0.5\n"
    assert "0.5" in str(record)
