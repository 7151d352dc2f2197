"""Variables that vary only over time: blocks, refusals in words, placebo cuts; and single rows that decide."""

import numpy as np
import pytest

from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula, NotEnoughData
from alacarte.regression import Inference, contexts, dem, joint_test, nearest, placebo_cuts, regress, similarity

RNG = np.random.default_rng(0)
WORDS = [f"w{number}" for number in range(40)]
VECTORS = (WORDS, RNG.normal(size=(40, 5)))
FAST = Inference(permutations=19)
YEARS = list(range(1900, 2000))


def series(seed=0, rho=0.9):
    """One number per year, each much like the one before."""
    rng = np.random.default_rng(seed)
    values = [rng.normal()]
    for _ in YEARS[1:]:
        values.append(rho * values[-1] + rng.normal())
    return values


def speeches(each=2, **columns):
    """Some documents in each year; `columns` have one value per year."""
    text = [" ".join(["tax", *RNG.choice(WORDS, 8)]) for _ in range(each * len(YEARS))]
    rows = {"text": text, "year": np.repeat(YEARS, each).tolist()}
    return rows | {name: np.repeat(values, each).tolist() for name, values in columns.items()}


def test_a_variable_of_time_is_compared_within_blocks_of_periods():
    fit = regress("tax ~ x", speeches(x=series()), VECTORS, window=8, inference=FAST)
    assert "x varies over 100 values of year: compared within 12 blocks of year, and clustered by them" in fit.summary()
    assert (fit.clusters, fit.terms) == (12, ["x"])
    assert np.isfinite([fit.table["p_value"][0], fit.table["conf_low"][0]]).all()
    trend = regress("tax ~ year", speeches(), VECTORS, window=8, inference=FAST)
    assert trend.clusters == 12


def test_drift_is_taken_out():
    """Words that change once in the middle of the century, beside a variable that does so too, and moves otherwise."""
    rng = np.random.default_rng(1)
    late = np.array(YEARS) >= 1950
    x = (3.0 * late + 0.3 * rng.normal(size=100)).round(3)
    text = [" ".join(["tax", *rng.choice(WORDS[20:] if after else WORDS[:20], 8)]) for after in np.repeat(late, 2)]
    data = speeches(x=x) | {"text": text}
    with pytest.warns(AlacarteWarning, match="varies only with year.*time='year'"):
        by_document = regress("tax ~ x", data, VECTORS, window=8, cluster="year", inference=FAST)
    assert by_document.table["p_value"][0] == 0.05
    assert regress("tax ~ x", data, VECTORS, window=8, inference=FAST).table["p_value"][0] > 0.05


def test_what_changes_too_rarely_is_refused_in_words():
    era = ["before" if year < 1947 else "after" for year in YEARS]
    fit = regress("tax ~ era", speeches(era=era), VECTORS, window=8, inference=FAST)
    assert np.isnan([fit.table[name][0] for name in ("p_value", "conf_low", "conf_high", "std_error")]).all()
    assert np.isfinite(fit.table["estimate"][0])
    assert "changes too rarely to tell an effect from drift; see placebo_cuts" in fit.table["reason"][0]
    with pytest.raises(BadFormula, match="there is no test"):
        joint_test(fit)


def test_too_few_periods_are_refused_in_words():
    data = {name: values[:60] for name, values in speeches(x=series()).items()}
    fit = regress("tax ~ x", data, VECTORS, window=8, inference=FAST)
    assert "x varies over 30 values of year, too few" in fit.table["reason"][0]
    assert np.isnan(fit.table["p_value"][0])


def test_what_is_not_like_in_neighbouring_years_is_no_variable_of_time():
    data = speeches(1, x=RNG.normal(size=100), group=RNG.choice(["a", "b"], 100))
    for formula in ("tax ~ x", "tax ~ group"):
        assert regress(formula, data, VECTORS, window=8, inference=FAST).clusters is None


def test_beside_other_variables_a_term_of_time_is_named():
    data = speeches(x=series()) | {"group": RNG.choice(["a", "b"], 200).tolist()}
    fit = regress("tax ~ group + x", data, VECTORS, window=8, inference=FAST)
    reasons = dict(zip(fit.table["term"], fit.table["reason"], strict=True))
    assert reasons == {"group[T.b]": "", "x": "varies only with year; time='year' tests it"}
    asked = regress("tax ~ group + x", data, VECTORS, window=8, time="year", inference=FAST)
    assert (asked.clusters, asked.terms) == (12, ["group[T.b]", "x"])


def test_dates_are_periods_and_text_is_none():
    days = [f"{1900 + month // 12}-{month % 12 + 1:02}-01" for month in range(100)]
    data = speeches(x=series()) | {"when": np.repeat(days, 2).tolist(), "name": [f"n{row}" for row in range(200)]}
    fit = regress("tax ~ x", data, VECTORS, window=8, time="when", inference=FAST)
    assert "100 values of when" in fit.summary()
    with pytest.raises(AlacarteError, match="no column of numbers or dates"):
        regress("tax ~ x", data, VECTORS, window=8, time="name", inference=FAST)


def test_placebo_cuts():
    """A cut where words change is the largest of all; one where nothing changes is one of many."""
    rng = np.random.default_rng(1)
    late = np.repeat(np.array(YEARS) >= 1950, 2)
    text = [" ".join(["tax", *rng.choice(WORDS[20:] if after else WORDS[:20], 8)]) for after in late]
    found = dem(contexts(speeches() | {"text": text}, "tax", window=8), VECTORS)
    table = placebo_cuts(found, "year", 1950)
    assert table.info["p_value"] == 1 / 91
    assert "as large a difference in 0 of 90 cuts" in str(table)
    assert table["cut"][np.argmax(table["estimate"])] == 1950
    assert (table["contexts_before"] + table["contexts_after"] == 200).all()
    assert placebo_cuts(found, "year", 1930).info["p_value"] > 0.2
    for at, message in ((1902, "on one side"), (2050, "on one side")):
        with pytest.raises(NotEnoughData, match=message):
            placebo_cuts(found, "year", at)
    with pytest.raises(AlacarteError, match="numbers or dates"):
        placebo_cuts(found, "text", 3) if "text" in found.variables.columns else placebo_cuts(found, "match", "tax")


def test_a_row_that_decides_alone_is_named():
    """One year typed as 9999."""
    rng = np.random.default_rng(2)
    data = {
        "text": [" ".join(["tax", *rng.choice(WORDS, 8)]) for _ in range(80)],
        "votes": rng.integers(5, 50, 80).tolist(),
    }
    data["votes"][17] = 9999
    with pytest.warns(AlacarteWarning) as caught:
        fit = regress("tax ~ votes", data, VECTORS, window=8, inference=FAST)
    assert any("'votes': document 17 (votes = 9999) has 99% of the leverage" in str(one.message) for one in caught)
    assert "document 17 (votes = 9999)" in fit.table["reason"][0]
    assert (fit.table["p_value"][0] <= 0.05) == (fit.table["conf_low"][0] > 0)


@pytest.mark.parametrize("given", ["war ~ year", [[1.0, 2.0]], None])
def test_what_is_no_embeddings_is_said(given):
    for call in (lambda: placebo_cuts(given, "year", 1990), lambda: nearest(given), lambda: similarity(given, ["a"])):
        with pytest.raises(AlacarteError, match=r"this takes what dem\("):
            call()
