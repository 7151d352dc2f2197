"""Formulas name columns and call known functions; nothing else of theirs, and nothing of a table's header, is run."""

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import BSpline, CubicSpline
from typer.testing import CliRunner

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.cli import app
from alacarte.errors import BadFormula
from alacarte.regression import Inference, compat, regress

WORDS = [f"w{number}" for number in range(20)]
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(20, 4)))
FAST = {"window": 8, "inference": Inference(permutations=0)}
ROWS = 60
RUN = "__import__('os').system('touch ran')"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data(**more):
    rng = np.random.default_rng(1)
    return {
        "text": [" ".join(["tax", *rng.choice(WORDS, 6)]) for _ in range(ROWS)],
        "year": rng.integers(1990, 2020, ROWS).astype(float),
        "party": rng.choice(["D", "R", "I"], ROWS),
    } | more


HEADERS = [
    f"`{RUN}`",
    f"` + {{{RUN}}} + `",
    f"x` + scale({RUN}) + `y",
    RUN,
    f"{{{RUN}}}",
    f"log({RUN})",
    f"scale('\"]+{RUN}')",
    "'",
    '"',
    "\\`",
    "a'b\"c`d{e}f(g)[h]%i%\\j",
    "__class__",
    "np",
    "log",
    "x\n+ y",
    "~",
    "0",
    ".",
]


def plain(formula, columns):
    return compat.conText(formula, columns, VECTORS, window=8, jackknife=False, num_permutations=0)


@pytest.mark.parametrize("fit_by", [lambda formula, columns: regress(formula, columns, VECTORS, **FAST), plain])
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_is_a_name_whatever_it_says(folder, header, fit_by):
    columns = data(**{header: np.random.default_rng(2).normal(size=ROWS)})
    fit = fit_by("tax ~ .", columns)
    assert header in fit.terms
    assert fit.predict({"year": 2000.0, "party": "R", header: 0.5}).shape == (4,)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("name", ["document", "pattern", "match", "position", "left", "right", "tokens", "term"])
def test_all_columns_are_all_columns(name):
    """`.` names every column of the data, whatever it is called, and nothing that contexts bring."""
    columns = data(**{name: np.random.default_rng(2).normal(size=ROWS)})
    fit = regress("tax ~ .", columns, VECTORS, **FAST)
    assert fit.terms == ["Intercept", "year", "party[T.I]", "party[T.R]", name]
    want = regress("tax ~ year + party + x", data(x=columns[name]), VECTORS, **FAST)
    np.testing.assert_allclose(fit.coefficients, want.coefficients)


def test_patterns_and_documents_can_be_named_where_the_data_do_not():
    columns = data()
    columns["text"] = [text.replace("tax", "war") if row % 2 else text for row, text in enumerate(columns["text"])]
    fit = regress('c("tax", "war") ~ pattern', columns, VECTORS, **FAST)
    assert fit.terms == ["Intercept", "pattern[T.war]"]
    assert regress("tax ~ party", data(), VECTORS, cluster="document", **FAST).clusters == ROWS


@pytest.mark.parametrize("header", HEADERS[:7])
def test_a_header_in_a_file_is_a_name(folder, header):
    frame = pd.DataFrame(data(**{header: np.arange(ROWS) % 7}))
    frame.to_csv("table.csv", index=False)
    vectors = WordVectors(WORDS, VECTORS[1])
    ALaCarte(vectors, Transform(np.eye(4))).save("model")
    arguments = ["regress", "table.csv", "--formula", "tax ~ .", "--model", "model", "--permutations", "0"]
    result = CliRunner().invoke(app, [*arguments, "--where", "year > 1990"])
    assert result.exit_code == 0, result.output
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "term",
    [
        RUN,
        f"{{{RUN}}}",
        f"I({RUN})",
        f"scale({RUN})",  # formulaic evaluates arguments of such functions to learn their variables
        f"C(party, {RUN})",
        f"bs(year, df={RUN})",
        f"{{year + {RUN}}}",
        "{(lambda: 1)()}",
        "{[1 for _ in year]}",
        "{year.__class__}",
        "{year.to_csv('ran')}",
        "year.to_csv('ran')",
        "np.save('ran', year)",
        "np.memmap('ran', 'uint8', 'w+', 0, 8)",
        "np.log.__class__(year)",
        "np.random.seed(1)",
        "contr.custom(year)",
        "contr.__class__(year)",
        "open('ran', 'w')",
        "eval('1')",
        "exec('1')",
        "hashed(party, levels=3)",
        "{f'{year}'}",
        "{year['a']}",
        "year[0]",
        "{(x := year)}",
        "{*year,}",
        "{year.clip(2000, 2010)}",
        "log(year, **party)",
        "scale(year, _state=party)",
        "scale(year, _context=party)",
        "log(`a'b`) + log(`c'd`)",
        "scale(year, '\"] or " + RUN.replace("'", '"') + " or [\"')",
        'poly(year, "\'")',
        "log(`year" + "\\" + "`)",
        "log(" * 30 + "year" + ".real" + ")" * 30,
        "{" + "-" * 3000 + "year}",
        "{9" + "**9" * 5000 + "}",
        "{year + 9**9**9}",
        "{year + (9**99)**99}",
        "{year + 9**year}",
        "{year + (1 << 999999)}",
        "{year == 'a' * 999999999}",
    ],
)
def test_what_is_no_formula_is_refused_before_it_runs(folder, term):
    with pytest.raises(BadFormula):
        regress(f"tax ~ party + {term}", data(), VECTORS, **FAST)
    assert not list(folder.iterdir())


def test_a_name_that_is_no_column_is_not_looked_up_elsewhere(folder):
    for name in ("exit", "np", "__builtins__", "require", "formulaic", "I(exit)", "log(`exit`)", "Q('exit')"):
        with pytest.raises(BadFormula, match="asks for"):
            regress(f"tax ~ {name}", data(), VECTORS, **FAST)


@pytest.mark.parametrize(
    "where", ["@pd.DataFrame", "year.to_csv('ran')", "year > @year", "open('ran', 'w')", "__name__.x"]
)
def test_conditions_compare_columns_and_run_nothing(folder, where):
    pd.DataFrame(data()).to_csv("table.csv", index=False)
    arguments = ["regress", "table.csv", "--formula", "tax ~ party", "--where", where]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert [path.name for path in folder.iterdir()] == ["table.csv"]


def test_missing_values_are_counted_once():
    columns = data()
    columns["year"][:5] = np.nan
    columns["party"] = [None if 3 <= row < 9 else party for row, party in enumerate(columns["party"])]
    fit = regress("tax ~ party + year", columns, VECTORS, **FAST)
    assert fit.left_out == {"missing party": 6, "missing year": 3}
    assert len(fit) == ROWS - 9


# --------------------------------------------------------------- functions that remember, against numpy and scipy


def fitted(term):
    fit = regress(f"tax ~ {term}", data(), VECTORS, **FAST)
    x = data()["year"]
    new = np.linspace(x.min(), x.max(), 7)
    return x, fit.design.matrix[:, 1:], new, fit.design.at({"year": new})[:, 1:]


def test_b_splines_are_scipy_s_at_the_same_knots():
    x, matrix, new, predicted = fitted("bs(year, df=5)")
    inner = np.quantile(x, [1 / 3, 2 / 3])
    knots = np.concatenate([[x.min()] * 4, inner, [x.max()] * 4])
    for at, columns in ((x, matrix), (new, predicted)):
        np.testing.assert_allclose(columns, BSpline.design_matrix(at, knots, 3).toarray()[:, 1:], atol=1e-12)


def test_natural_splines_are_scipy_s_at_the_same_knots():
    x, _, new, _ = fitted("0 + cs(year, df=4)")
    knots = np.quantile(np.unique(x), np.linspace(0, 1, 4))
    natural = CubicSpline(knots, np.eye(4), bc_type="natural")
    full = regress("tax ~ 0 + cs(year, df=4)", data(), VECTORS, **FAST).design
    np.testing.assert_allclose(full.matrix, natural(x), atol=1e-9)
    np.testing.assert_allclose(full.at({"year": new}), natural(new), atol=1e-9)


def test_polynomials_are_orthogonal_ones_of_the_data():
    x, matrix, new, predicted = fitted("poly(year, 3)")
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(3), atol=1e-10)
    powers = np.vander(x - x.mean(), 4, increasing=True)
    q, _ = np.linalg.qr(powers)
    expected = q[:, 1:] * np.sign((q[:, 1:] * matrix).sum(axis=0))
    np.testing.assert_allclose(matrix, expected, atol=1e-10)
    map_back = np.linalg.lstsq(powers, matrix, rcond=None)[0]
    np.testing.assert_allclose(predicted, np.vander(new - x.mean(), 4, increasing=True) @ map_back, atol=1e-8)


@pytest.mark.parametrize(
    ("term", "centre", "spread"),
    [("center(year)", True, None), ("scale(year)", True, 1), ("standardize(year)", True, 0)],
)
def test_centres_and_scales_are_those_of_the_data(term, centre, spread):
    x, matrix, new, predicted = fitted(term)
    width = 1.0 if spread is None else x.std(ddof=spread)
    np.testing.assert_allclose(matrix[:, 0], (x - x.mean()) / width)
    np.testing.assert_allclose(predicted[:, 0], (new - x.mean()) / width)


def test_a_value_outside_a_spline_s_range_is_an_error_that_says_so():
    fit = regress("tax ~ bs(year, df=4)", data(), VECTORS, **FAST)
    with pytest.raises(BadFormula, match="beyond upper"):
        fit.predict({"year": 1800.0})
