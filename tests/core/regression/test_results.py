"""Results behave as those of statsmodels and pyfixest do: series by term, intervals of any level, tables for papers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.cli import app
from alacarte.errors import AlacarteError
from alacarte.regression import (
    Inference,
    contexts,
    dem,
    documents,
    etable,
    joint_test,
    nearest,
    ratio,
    regress,
    similarity,
    similarity_over,
)

WORDS = [f"w{number}" for number in range(20)]
SOME, NO_P = Inference(permutations=99), Inference(permutations=0)
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(20, 5)) + 1)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(1)
    party = ["D", "R", "I"] * 40
    tokens = [rng.choice(WORDS[:15] if p == "D" else WORDS[5:], 6).tolist() for p in party]
    variables = {"party": party, "two": ["D", "R"] * 60, "year": [2000 + i % 5 for i in range(120)]}
    return dem(documents({"text": tokens, "who": [f"s{i % 30}" for i in range(120)]} | variables), VECTORS)


@pytest.fixture(scope="module")
def fit(found):
    return regress("~ party + year", found, inference=SOME)


def test_joint_test_of_one_term_is_the_tables():
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(40)]
    data = {
        "text": [" ".join(["x", *rng.choice(words[: 20 + 5 * (i % 2)], 8)]) for i in range(60)],
        "side": ["a", "b"] * 30,
        "year": [f"{i // 6}" for i in range(60)],
    }
    fit = regress("x ~ side + year", data, (words, rng.normal(size=(40, 5))), inference=Inference(permutations=99))
    place = fit.table["term"].tolist().index("side[T.b]")
    assert joint_test(fit, "side")["p_value"].tolist() == [fit.table["p_value"][place]]


def test_columns_come_as_series_by_term(fit):
    tidy = fit.tidy().set_index("term")
    for series, name in ((fit.se(), "std_error"), (fit.pvalue(), "p_value"), (fit.pvalue(adjusted=True), "p_adjusted")):
        assert isinstance(series, pd.Series)
        pd.testing.assert_series_equal(series, tidy[name], check_index_type=False)
    assert fit.tstat()["year"] == pytest.approx(tidy.loc["year", "estimate"] / tidy.loc["year", "std_error"])
    pd.testing.assert_series_equal(fit.coef(), fit.table.coef())
    assert fit.vector("year").shape == (5,)
    profiles = {name: list(fit.embeddings.variables.columns[name]) for name in ("party", "year")}
    np.testing.assert_allclose(fit.predict(), fit.predict(profiles))


def test_intervals_of_another_level(fit, found):
    usual, wide = fit.confint(), fit.confint(0.99)
    assert (wide.iloc[:, 1] > usual.iloc[:, 1]).all()
    pd.testing.assert_frame_equal(fit.confint(0.95), usual)
    again = regress("~ party + year", found, inference=Inference(level=0.99, permutations=0))
    pd.testing.assert_frame_equal(again.confint(), wide)
    with pytest.raises(AlacarteError):
        fit.confint(1.5)


def test_the_variance_explained_is_that_of_all_dimensions(found):
    plain = regress("~ party", found, inference=NO_P)
    y = found.matrix
    groups = np.array(found.variables.columns["party"])
    within = sum(((y[groups == g] - y[groups == g].mean(axis=0)) ** 2).sum() for g in "DRI")
    expected = 1 - within / ((y - y.mean(axis=0)) ** 2).sum()
    assert plain.r_squared == pytest.approx(expected)


def test_other_tables_behave_the_same(found):
    table = similarity(found, ["w1", "w2"], "party", intervals=0.95)
    assert table.coef().loc[("D", "w2")] == pytest.approx(float(table["estimate"][1]))
    assert list(table.confint().index.names) == ["target", "feature"]
    assert table.se().shape == (6,)
    apart = ratio(found, "two", k=3, inference=Inference(permutations=19))
    assert apart.pvalue().index.tolist() == apart["feature"].tolist()
    with pytest.raises(AlacarteError, match="std_error"):
        ratio(found, "two", k=3).se()
    over = similarity_over(found, "year", "w1", within="two")
    assert over.coef().loc[("D", 2001, "w1")] == pytest.approx(float(over["value"][1]))
    assert over.tidy().equals(over.to_frame())
    assert len(over.plot().lines) == 2
    with pytest.raises(AlacarteError, match="no figure"):
        nearest(found, "two").plot()


def test_notebooks_show_what_was_fitted_and_the_table(fit):
    html = fit._repr_html_()
    assert "Embedding regression of whole documents" in html
    assert "<table>" in html
    assert "party[T.R]" in html


def test_models_side_by_side(found, fit):
    other = regress("~ party", found, inference=SOME, cluster="who")
    table = etable(
        [fit, other], names=["all", "party <only>"], labels={"year": "Year & day", "party[T.R]": "Rep."}, stars=True
    )
    names = [name for name, _ in table.rows]
    assert names == [
        "Year & day",
        "",
        "Rep.",
        "",
        "party[T.I]",
        "",
        "contexts",
        "clusters",
        "variance explained",
    ]
    rows = dict(zip(names, (cells for _, cells in table.rows), strict=True))
    estimate = fit.table["estimate"][fit.table["term"] == "year"][0]
    assert rows["Year & day"][0].rstrip("*") == f"{estimate:.3g}"
    assert rows["Year & day"][1] == ""
    p = fit.pvalue(adjusted=True)["party[T.R]"]
    stars = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""
    assert rows["Rep."][0].endswith(stars)
    assert rows["clusters"] == ("30 (who)", "30 (who)")
    latex = table.to_latex()
    assert r"Year \& day" in latex
    assert latex.count(r"\midrule") == 2
    assert latex.splitlines()[9:11] == [latex.splitlines()[9], r"\midrule"]
    assert latex.splitlines()[11].startswith("contexts")
    assert "&lt;only&gt;" in table._repr_html_()
    markdown = table.to_markdown()
    assert "***" not in markdown.split("\n\n")[0].replace(r"\*", "")
    assert markdown.splitlines()[1] == "|---|---:|---:|"
    assert table.to_frame().shape == (9, 3)
    assert "holm" in table.note


def test_side_by_side_with_intervals_or_standard_errors(found, fit):
    low, high = fit.confint().loc["year"]
    assert dict(etable(fit, below="interval").rows[4:6])[""] == (f"[{low:.3g}, {high:.3g}]",)
    bare = regress("~ party + year", found, inference=NO_P)
    assert etable(bare, stars=True, below="std_error").rows[1][1][0].startswith("(")
    assert etable((fit for _ in "ab"), names=(name for name in "ab")) == etable([fit, fit], names=["a", "b"])
    wrong_numbers = [{"models": fit, "digits": number} for number in (0, -1, 2.5, True)]
    for wrong in (
        {"names": ["a"], "models": [fit, fit]},
        {"models": []},
        {"models": fit, "below": "x"},
        *wrong_numbers,
    ):
        with pytest.raises(AlacarteError):
            etable(**wrong)


@pytest.mark.parametrize("make", [lambda data: pl.DataFrame(data).to_arrow(), pl.DataFrame, pd.DataFrame])
def test_models_of_any_frame_side_by_side(make, found):
    text = [f"w{i % 9} w{i % 7} tax w{i % 5}" for i in range(40)]
    data = make({"text": text, "x": np.arange(40) % 11, "party": ["D", "R"] * 20})
    fits = [regress(formula, data, VECTORS, inference=NO_P) for formula in ("tax ~ x", "tax ~ x + party")]
    table = etable(fits)
    assert [name for name, _ in table.rows][-3:] == ["contexts", "window", "variance explained"]
    assert table.to_latex().count("tabular") == 2


def test_the_window_of_the_contexts_is_told():
    text = [f"w{i % 9} w{i % 7} tax w{i % 5}" for i in range(40)]
    fit = regress("tax ~ x", {"text": text, "x": np.arange(40) % 11}, VECTORS, window=(2, 1), inference=NO_P)
    assert ("window", ("2, 1",)) in etable(fit).rows


def test_a_number_that_no_computer_word_holds_is_a_number():
    text = [f"w{i % 9} w{i % 7} tax" for i in range(12)]
    fit = regress(
        "tax ~ x", {"text": text, "x": [2**70 * (i % 5) for i in range(12)]}, VECTORS, window=2, inference=NO_P
    )
    assert fit.terms == ["Intercept", "x"]


def test_a_misspelt_keyword_is_an_error(found):
    with pytest.raises(TypeError, match="permutatons"):
        regress("~ party", found, permutatons=3)
    with pytest.raises(TypeError, match="widnow"):
        contexts(["a b"], "a", widnow=3)
    with pytest.raises(TypeError, match="witin"):
        nearest(found, witin=3)


@pytest.mark.parametrize(("name", "start"), [("t.tex", r"\begin{tabular}{lr}"), ("t.md", "|  | (1) |")])
def test_tables_for_papers_on_the_command_line(tmp_path, name, start):
    text = [f"w{i % 9} w{i % 7} tax w{i % 5}" for i in range(40)]
    pd.DataFrame({"text": text, "x": np.arange(40) % 11}).to_csv(tmp_path / "d.csv", index=False)
    ALaCarte(WordVectors(*VECTORS), Transform(np.eye(5))).save(tmp_path / "model")
    arguments = ["regress", tmp_path / "d.csv", "--formula", "tax ~ x", "--model", tmp_path / "model"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--permutations", "19", "--table", str(tmp_path / name)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / name).read_text().startswith(start)
    assert CliRunner().invoke(app, [*map(str, arguments), "--table", str(tmp_path / "t.doc")]).exit_code == 1
