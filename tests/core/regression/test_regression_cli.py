"""alc contexts, alc regress."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.cli import app

WORDS = [f"w{number}" for number in range(30)]


@pytest.fixture
def place(tmp_path):
    rng = np.random.default_rng(0)
    party = ["D", "R"] * 20
    text = [
        " ".join([*rng.choice(WORDS[:20] if p == "D" else WORDS[10:], 3), "tax", *rng.choice(WORDS, 3)]) for p in party
    ]
    frame = pd.DataFrame({"speech": text, "party": party, "year": np.arange(40) % 7, "who": np.arange(40) // 2})
    frame.to_csv(tmp_path / "speeches.csv", index=False)
    frame.to_json(tmp_path / "speeches.jsonl.gz", orient="records", lines=True)
    vectors = WordVectors(WORDS, rng.normal(size=(30, 4)) + 1)
    ALaCarte(vectors, Transform(np.eye(4))).save(tmp_path / "model")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def common(place, name="speeches.csv"):
    return place / name, "--text", "speech"


def test_regress(place):
    options = "--formula", "tax ~ party + year", "--model", place / "model", "--permutations", 19
    out = "--csv", place / "terms.csv", "--plot", place / "terms.svg"
    result = run("regress", *common(place), *options, *out)
    assert result.exit_code == 0, result.output
    assert "40 contexts, 4 dimensions" in result.output
    assert pd.read_csv(place / "terms.csv")["term"].tolist() == ["party[T.R]", "year"]
    assert "<svg" in (place / "terms.svg").read_text()
    again = run("regress", *common(place, "speeches.jsonl.gz"), *options, "--json", "--where", "year > 0")
    found = json.loads(again.stdout)
    assert found["contexts"] == 34
    assert [term["term"] for term in found["terms"]] == ["party[T.R]", "year"]


def test_regress_on_other_windows(place):
    options = "--formula", "tax ~ party", "--model", place / "model", "--permutations", 0, "--json"
    found = [run("regress", *common(place), *options, *window) for window in ((), ("--window", "1,2"))]
    assert found[1].exit_code == 0, found[1].output
    assert found[0].stdout != found[1].stdout


def test_contexts(place):
    result = run("contexts", *common(place), "--word", "tax", "--window", 2, "--limit", 3, "--csv", place / "c.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("[tax]") == 3
    kept = pd.read_csv(place / "c.csv")
    assert len(kept) == 40
    assert kept["left"].str.fullmatch(r"w\d+ w\d+").all()
    rows = json.loads(run("contexts", *common(place), "-w", "tax", "--json").stdout)
    assert rows[0]["match"] == "tax"
    assert len(rows[0]["left"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--formula", "tax ~ nobody"], "asks for 'nobody'"),
        (["--formula", "unheard ~ party"], "'unheard'"),
        (["--formula", "tax ~ party", "--where", "year > 99"], "leaves none of 40 rows"),
        (["--formula", "tax ~ party", "--where", "year >"], "cannot be evaluated"),
        (["--formula", "tax ~ party", "--plot", "x.bmp"], ".png, .pdf or .svg"),
    ],
)
def test_errors(place, arguments, message):
    result = run("regress", *common(place), "--model", place / "model", *arguments)
    assert result.exit_code == 1
    assert message in result.output
