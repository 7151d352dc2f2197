"""What every table of results gets from the one mixin."""

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import alacarte
import alacarte.regression
import alacarte.senses
from alacarte import Transform, WordVectors
from alacarte._io.printing import json_text
from alacarte._io.table import Record, Records, Table
from alacarte.comparing.uses import Comparison, Comparisons
from alacarte.errors import MissingExtra
from alacarte.regression import contexts
from alacarte.regression.compat import conText
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion, Simulated
from alacarte.uncertainty.uncertainty import Similarities, Similarity


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


def test_no_number_of_json_is_infinite_however_deep_it_lies():
    inner = Shares(["a"], [(0.5, float("nan"))])
    for text in (inner.to_json(), json_text({"of": inner, "scores": [float("-inf")]})):
        assert "NaN" not in text
        assert "Infinity" not in text
        json.loads(text, parse_constant=pytest.fail)
    assert inner.to_dict() == [{"word": "a", "share": [0.5, None]}]


def test_half_characters_are_written_as_json_writes_them(tmp_path):
    Shares(["a\ud800"], [1]).to_csv(tmp_path / "shares.csv")
    assert (tmp_path / "shares.csv").read_text() == "word,share\na\\ud800,1\n"


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


@dataclass(frozen=True)
class Fits(Records[Fit]):
    kind = Fit
    items: tuple[Fit, ...]


def test_records_in_sequence():
    fits = Fits((Fit("a", 0.5), Fit("b", float("nan"))))
    assert len(fits) == 2
    assert fits[1].name == "b"
    assert [fit.name for fit in fits] == ["a", "b"]
    assert fits.to_dict() == [{"name": "a", "value": 0.5}, {"name": "b", "value": None}]
    assert Fits(()).to_frame().columns.tolist() == ["name", "value"]  # also without a row


def same_table(table, names, rows, printed=None):
    """Every way to show a table shows these columns, and so many rows; in print, some others."""
    assert table.to_csv().splitlines()[0] == ",".join(names)
    assert len(table.to_csv().splitlines()) == 1 + rows
    assert table.to_markdown().splitlines()[0] == "| " + " | ".join(printed or names) + " |"
    assert table.to_latex().count(r"\\") == 1 + rows
    assert table._repr_html_().count("<tr>") == 1 + rows
    json.loads(table.to_json())


def test_similarities_and_comparisons():
    nothing = float("nan")
    pair = Similarity("a", "b", 0.5, 0.75, nothing, nothing, nothing, 0.95)
    same_table(Similarities((pair, pair)), [*Similarity.__dataclass_fields__], 2)
    assert json.loads(Similarities((pair,)).to_json())[0]["conf_low"] is None
    test = Comparison("a", 3, 4, 0.5, 0.75, 0.25, 1.0, 2.0, 0.125, 0.25)
    printed = ["word", "uses in a", "in b", "distance", "95% interval", "p", "q"]
    same_table(Comparisons((test,), 0.95), [*Comparison.__dataclass_fields__], 1, printed)
    same_table(test, [*Comparison.__dataclass_fields__], 1)


def test_what_was_learned_of_spelling():
    words = [f"{start}{end}" for start in ("walk", "talk", "jump", "look") for end in ("", "s", "ed", "ing")]
    vectors = WordVectors(words, np.random.default_rng(0).normal(size=(len(words), 3)))
    form = FormModel.fit(vectors, min_words=2, ridge=1.0)
    same_table(form, ["kind", "words", "cosine", "explained"], len(form.quality))
    assert str(form) == repr(form)  # the model itself, and not its table
    row = Simulated(1, 40, 0.5, 0.75, 0.75, 0.875, 0.25, 0.25, 0.375)
    fusion = Fusion(0.0, 0.2, -1.0, 1.0, report=(row,))
    same_table(fusion, [*Simulated.__dataclass_fields__], 1)


def test_fit_report():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(40)], rng.normal(size=(40, 4)))
    text = [" ".join(rng.choice(vectors.words, 12)) for _ in range(80)]
    report = Transform.fit(alacarte.collect(vectors, text), vectors).report
    names, values = zip(*report.rows(), strict=True)
    assert report.columns() == {"what": names, "value": values}
    assert report.to_csv().startswith("what,value\nwords in the regression,")
    assert str(report).startswith("words in the regression  ")
    assert type(report).from_dict(json.loads(report.to_json())) == report


def test_tables_of_the_regression_need_no_pandas_to_print(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    table = alacarte.regression.Results({"feature": np.array(["law"]), "value": np.array([0.25])})
    same_table(table, ["feature", "value"], 1)
    assert str(table) == repr(table) == "feature  value\nlaw       0.25"
    reason = alacarte.regression.Results(
        {"value": np.array([1.0, np.nan]), "reason": np.array(["", "few"], dtype=object)}
    )
    assert "reason" in str(reason)
    assert "reason" not in str(reason.take([0]))  # there is nothing to explain
    assert reason.take([0]).to_csv() == "value,reason\n1.0,\n"


def test_contexts_are_shown_without_reading_all_of_them(monkeypatch):
    found = contexts({"text": ["lower the tax now"] * 500, "party": ["R"] * 500}, "tax", window=2)
    assert found.to_csv().splitlines()[0] == "document,position,pattern,match,left,right,party"
    assert found.to_dict()[0]["left"] == ["lower", "the"]
    sides = []
    side = type(found).side
    monkeypatch.setattr(type(found), "side", lambda self, row, which: sides.append(row) or side(self, row, which))
    assert found._repr_html_().count("lower the") == 60
    assert max(sides) <= 60


@pytest.mark.parametrize("package", [alacarte, alacarte.senses])
def test_packages_have_the_names_they_list(package):
    assert dir(package) == sorted(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nonsense'"):
        package.nonsense  # noqa: B018


def test_p_values_are_never_shown_as_0():
    @dataclass(frozen=True)
    class Tests(Table):
        least: float = 1e-16

        @property
        def least_p(self):
            return self.least

        def columns(self):
            return {"term": ["a", "b"], "p_value": [0.0, 0.25], "estimate": [0.0, 1.0]}

    assert [row[1:] for row in Tests().cells()[1]] == [["< 1e-16", "0"], ["0.25", "1"]]
    assert "< 0.01" in Tests(0.01).to_markdown().replace("\\", "")
    assert Tests().to_dict()[0]["p_value"] == 0.0  # for programs, as it is


def test_p_values_of_permutations_without_the_observed_one_are_below_one_of_them():
    """R's conText counts 0 of 100 as p = 0."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(40)]
    party = ["D", "R"] * 60
    text = [" ".join(["tax", *rng.choice(words[:15] if p == "D" else words[25:], 8)]) for p in party]
    vectors = (words, rng.normal(size=(40, 5)))
    fit = conText("tax ~ party", {"text": text, "party": party}, vectors, num_permutations=50)
    assert fit.table["p_value"].tolist() == [0.0]
    names, rows, _ = fit.table.cells()
    assert rows[0][names.index("p_value")] == "< 0.02"
