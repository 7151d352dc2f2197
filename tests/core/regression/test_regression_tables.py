"""Tables from files and frames: strings stay the levels they are, dates stay dates."""

import datetime
import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from alacarte.errors import BadCorpus, BadFormula
from alacarte.regression import Inference, dem_group, read_table, regress

WORDS = [f"w{number}" for number in range(20)]
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(20, 4)))
FAST = {"window": 8, "inference": Inference(permutations=0)}
ROWS = 48


def data():
    rng = np.random.default_rng(1)
    days = [f"20{1 + number // 12:02}-0{1 + number % 4}-15" for number in range(ROWS)]
    return {
        "text": [" ".join(["tax", *rng.choice(WORDS, 6)]) for _ in range(ROWS)],
        "district": ["01", "1", "2"] * (ROWS // 3),
        "year": [str(1990 + number % 7) for number in range(ROWS)],
        "share": [f"{number / 8}" for number in range(ROWS)],
        "day": days,
    }


def written(folder, kind):
    """The same table as a file of some kind, every value a string where the kind has strings."""
    rows = pd.DataFrame(data())
    path = folder / f"speeches.{kind}"
    if kind in ("csv", "tsv"):
        rows.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows.to_dict("records"))
        (gzip.open if kind.endswith("gz") else open)(path, "wt", encoding="utf-8").write(text)
    return path


@pytest.fixture(params=["jsonl", "csv", "tsv"])
def table(request, tmp_path):
    return read_table(written(tmp_path, request.param))


def test_codes_in_files_stay_levels(table):
    assert table["district"].tolist()[:3] == ["01", "1", "2"]
    fit = regress("tax ~ district", table, VECTORS, **FAST)
    assert fit.terms == ["Intercept", "district[T.1]", "district[T.2]"]
    assert dem_group(fit.embeddings, "district").names == ["01", "1", "2"]


def test_numbers_in_files_are_numbers(table):
    assert table["year"].tolist()[:2] == [1990, 1991]
    assert table["share"].tolist()[:2] == [0.0, 0.125]


def test_dates_in_files_are_dates(table):
    assert table["day"].tolist()[0] == pd.Timestamp("2001-01-15")
    fit = regress("tax ~ day", table, VECTORS, **FAST)
    assert fit.terms == ["Intercept", "day"]  # days since 1970
    days = regress(
        "tax ~ days", table.assign(days=(table["day"] - pd.Timestamp("1970-01-01")).dt.days), VECTORS, **FAST
    )
    np.testing.assert_allclose(fit.coefficients, days.coefficients)
    means = dem_group(fit.embeddings, "day")
    assert means.names[0] == pd.Timestamp("2001-01-15")


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_strings_in_frames_stay_levels(make):
    fit = regress("tax ~ district", make(data()), VECTORS, **FAST)
    assert fit.terms == ["Intercept", "district[T.1]", "district[T.2]"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("typed", [False, True])
def test_dates_in_frames_are_dates_and_levels_where_asked(make, typed):
    columns = data()
    if typed:
        columns["day"] = [datetime.date.fromisoformat(day) for day in columns["day"]]
    fit = regress("tax ~ day", make(columns), VECTORS, **FAST)
    assert fit.terms == ["Intercept", "day"]
    levels = regress("tax ~ C(day)", make(columns), VECTORS, **FAST)
    assert len(levels.terms) == 16
    assert levels.terms[1].startswith("C(day)[T.2001-02-15")
    np.testing.assert_allclose(
        levels.predict({"day": columns["day"][1]}), dem_group(levels.embeddings, "day").matrix[1], atol=1e-9
    )


def test_a_column_of_codes_and_missing_values(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("text,code,n\na,01,1\nb,,2\nc,1,\n", encoding="utf-8")
    frame = read_table(path)
    assert frame["code"].tolist()[::2] == ["01", "1"]
    assert pd.isna(frame["code"][1])
    assert frame["n"].tolist()[:2] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("term", "count"),
    [
        ("bs(year, df=4)", 4),
        ("cs(year, df=4, constraints='center')", 4),
        ("cr(year, df=4, constraints='center')", 4),
        ("poly(year, 2)", 2),
        ("scale(year)", 1),
        ("center(year)", 1),
        ("party:scale(year)", 2),
        ("poly(`my year`, 2)", 2),
        ("Q('my year')", 1),
        ("`my-year` + party", 2),
        ("class", 1),
        ("np.log(year)", 1),
    ],
)
def test_functions_in_formulas(term, count):
    rng = np.random.default_rng(3)
    columns = data() | {"year": rng.integers(1990, 2020, ROWS), "party": rng.choice(["D", "R"], ROWS)}
    columns |= dict.fromkeys(("my year", "my-year", "class"), columns["year"])
    fit = regress(f"tax ~ {term}", columns, VECTORS, **FAST)
    names = [name for name in fit.terms if name != "Intercept"]
    assert len(names) == count
    profile = {name: list(columns[name][:5]) for name in fit.design.variables}
    fitted = fit.design.matrix[:5] @ fit.coefficients
    np.testing.assert_allclose(fit.predict(profile), fitted, atol=1e-8)  # the same knots, means and scales


def test_splines_that_hold_the_constant_say_what_to_write():
    with pytest.raises(BadFormula, match="constraints='center'"):
        regress("tax ~ cs(share, df=4)", data() | {"share": np.arange(ROWS) / 8}, VECTORS, **FAST)


def test_a_variable_inside_a_function_that_is_not_there_is_named():
    with pytest.raises(BadFormula, match="asks for 'yaer'"):
        regress("tax ~ bs(yaer, df=4)", data(), VECTORS, **FAST)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_an_empty_file_is_said(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(BadCorpus, match="is empty; pass a file with a header and rows"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_columns_on_disk_keep_their_types(tmp_path, ending):
    frame = pl.DataFrame({"text": ["a b", "c"], "year": [1990, 1991], "district": ["01", "1"]})
    (frame.write_parquet if ending == "parquet" else frame.write_ipc)(tmp_path / f"a.{ending}")
    pd.testing.assert_frame_equal(read_table(tmp_path / f"a.{ending}"), pd.DataFrame(frame.to_dict(as_series=False)))
