"""`regress` from text to table: formulas, exclusions that are counted, errors that say what to do, profiles."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, BadFormula, NoOccurrences, NotEnoughData
from alacarte.regression import Inference, compat, contexts, dem, documents, regress
from alacarte.regression.formulas import parse_formula

RNG = np.random.default_rng(0)
WORDS = [f"w{number}" for number in range(40)]
VECTORS = (WORDS, RNG.normal(size=(40, 5)))
FAST = {"window": 8, "inference": Inference(permutations=19)}
NO_P = Inference(permutations=0)


def speeches(count=60, seed=1):
    rng = np.random.default_rng(seed)
    party = rng.choice(["D", "R"], count)
    gender = rng.choice(["F", "M"], count)
    text = [
        " ".join(["tax" if i % 3 else "taxes", *rng.choice(WORDS[:25] if p == "D" else WORDS[15:], 8)])
        for i, p in enumerate(party)
    ]
    year = rng.integers(1990, 2020, count)
    return {
        "text": text,
        "party": party.tolist(),
        "gender": gender.tolist(),
        "year": year.tolist(),
        "speaker": [f"s{number // 3}" for number in range(count)],
    }


def test_formulas():
    assert parse_formula("immigr* ~ .") == (["immigr*"], ".")
    assert parse_formula("['a b', \"c\"] ~ x + y") == (["a b", "c"], "x + y")
    assert parse_formula("c(a, b) ~ x") == (["a", "b"], "x")
    for bad in ("no tilde", "tax ~ "):
        with pytest.raises(BadFormula, match="no formula"):
            parse_formula(bad)


def test_interactions_are_ordinary_least_squares():
    data = speeches()
    fit = regress("tax* ~ party * gender + year", data, VECTORS, **FAST)
    assert fit.terms == ["Intercept", "party[T.R]", "gender[T.M]", "year", "party[T.R]:gender[T.M]"]
    r, m = np.array(data["party"]) == "R", np.array(data["gender"]) == "M"
    x = np.column_stack([np.ones(60), r, m, data["year"], r & m])
    y = dem(contexts(data, "tax*", window=8), VECTORS).matrix
    np.testing.assert_allclose(fit.coefficients, np.linalg.lstsq(x, y, rcond=None)[0], atol=1e-8)
    np.testing.assert_allclose(
        fit.predict({"party": "R", "gender": "M", "year": 2000}), x[0] * 0 + [1, 1, 1, 2000, 1] @ fit.coefficients
    )


def test_transformations_contrasts_and_all_columns():
    data = speeches()
    fit = regress("tax* ~ C(party, contr.treatment('R')) + log(year) + center(year)", data, VECTORS, **FAST)
    assert any("T.D" in term for term in fit.terms)
    everything = regress("tax* ~ .", {key: data[key] for key in ("text", "party", "year")}, VECTORS, **FAST)
    assert everything.terms == ["Intercept", "party[T.R]", "year"]


def test_several_targets_and_whole_documents():
    data = speeches()
    both = regress('c("tax", "taxes") ~ party', data, VECTORS, **FAST)
    assert len(both) == 60
    assert len(regress("tax ~ party", documents(data), VECTORS, **FAST)) == 40
    whole = regress(". ~ party", data, VECTORS, inference=NO_P)
    np.testing.assert_allclose(whole.coefficients, both.coefficients)  # every word but the target, which is unknown


def test_what_goes_in():
    data = speeches()
    want = regress("tax* ~ party", data, VECTORS, **FAST)
    for given in (pd.DataFrame(data), pl.DataFrame(data), contexts(data, "tax*", window=8)):
        fit = regress("tax* ~ party", given, VECTORS, **FAST)
        np.testing.assert_array_equal(fit.coefficients, want.coefficients)
        assert type(fit.tidy()).__module__.partition(".")[0] == (
            "polars" if isinstance(given, pl.DataFrame) else "pandas"
        )
    own = dem(contexts(data, "tax*", window=8), VECTORS)
    np.testing.assert_array_equal(regress("~ party", own, inference=NO_P).coefficients, want.coefficients)
    model = ALaCarte(WordVectors(*VECTORS), Transform(np.eye(5), settings=Reading(8, 8, averaging="context")))
    fit = regress("tax* ~ party", data, model, inference=NO_P)
    np.testing.assert_allclose(fit.coefficients, want.coefficients, atol=1e-6)
    with pytest.raises(BadFormula, match="no vectors"):
        regress("tax ~ party", data)


def test_seeds_repeat_and_order_does_not_matter():
    data = speeches()
    a, b = (
        regress("tax* ~ party", data, VECTORS, window=8, inference=Inference(permutations=19, seed=3)) for _ in "ab"
    )
    assert a.table.rows() == b.table.rows()
    order = np.random.default_rng(0).permutation(60)
    mixed = {key: [column[i] for i in order] for key, column in data.items()}
    c, d = (
        regress("tax* ~ party", given, VECTORS, cluster="speaker", window=8, inference=NO_P) for given in (mixed, data)
    )
    np.testing.assert_allclose(c.table["std_error"], d.table["std_error"])
    np.testing.assert_allclose(c.coefficients, d.coefficients, atol=1e-7)


def test_clusters():
    data = speeches()
    fit = regress("tax* ~ party", data, VECTORS, cluster="speaker", **FAST)
    assert (fit.clusters, fit.table["clusters"][0], fit.table["contexts"][0]) == (20, 20, 60)
    plain = regress("tax* ~ party", data, VECTORS, **FAST)
    np.testing.assert_allclose(fit.coefficients, plain.coefficients)  # clusters change what is known of the error only
    assert fit.table["noise"][0] != pytest.approx(plain.table["noise"][0])
    with pytest.raises(BadFormula, match="too few"):
        regress("tax* ~ party", data | {"speaker": ["a", "b"] * 30}, VECTORS, cluster="speaker", **FAST)


def test_missing_values_are_left_out_and_counted():
    data = speeches()
    data["party"][0] = None
    data["year"] = [float("nan") if i == 1 else y for i, y in enumerate(data["year"])]
    data["text"][2] = None
    data["text"][3] = "tax unknown words"
    data["speaker"][4] = None
    fit = regress("tax* ~ party + year", data, VECTORS, cluster="speaker", **FAST)
    assert len(fit) == 55
    assert fit.left_out == {
        "documents without text": 1,
        "contexts without a known word": 1,
        "missing cluster": 1,
        "missing party": 1,
        "missing year": 1,
    }
    assert "left out: 1 (missing party)" in fit.summary()


def test_a_level_that_is_absent_is_dropped():
    frame = pd.DataFrame(speeches())
    frame["party"] = pd.Categorical(frame["party"], ["R", "D", "Whig"])
    assert regress("tax* ~ party", frame, VECTORS, **FAST).terms == ["Intercept", "party[T.D]"]


@pytest.mark.parametrize(
    ("change", "formula", "message"),
    [
        ({"party": ["D"] * 60}, "tax* ~ party", r"'party' is the same \('D'\) in all 60 rows"),
        ({"party": [None] * 60}, "tax* ~ party", "every value of 'party' is missing"),
        ({"twice": [2 * y + 1 for y in speeches()["year"]]}, "tax* ~ year + twice", r"'twice' says nothing.*'year'"),
        ({}, "tax* ~ parti", "asks for 'parti'.*'party'"),
        ({}, "tax* ~ party +* x", "cannot be"),
        ({}, "tax* ~ log(year - 2000000)", "not finite"),
        ({}, "tax* ~ 1", "no covariate"),
    ],
)
def test_designs_that_cannot_be_fitted(change, formula, message):
    with pytest.raises(BadFormula, match=message), np.errstate(invalid="ignore"):
        regress(formula, speeches() | change, VECTORS, **FAST)


def test_other_errors():
    data = speeches()
    with pytest.raises(NoOccurrences, match="'unheard'"):
        regress("unheard ~ party", data, VECTORS, **FAST)
    with pytest.raises(BadCorpus, match="no column 'speech'"):
        regress("tax ~ party", data, VECTORS, text="speech", **FAST)
    with pytest.raises(NotEnoughData, match="language"):
        regress("tax* ~ party", data, (["zzz"], np.eye(1)), **FAST)
    few = {key: column[:3] for key, column in data.items()}
    with pytest.raises(BadFormula, match=r"too few|the same"):
        regress("tax* ~ year + gender", few, VECTORS, **FAST)


def test_a_group_with_one_context():
    data = speeches()
    data["party"][0] = "Whig"
    with pytest.warns(AlacarteWarning, match="'party\\[T.Whig\\]' rests on a single context"):
        fit = regress("tax* ~ party", data, VECTORS, **FAST)
    for name in ("std_error", "conf_low", "conf_high"):
        assert np.isnan(fit.table[name]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"level": 95}, "level is a probability"),
        ({"permutations": -1}, "permutations is a whole number from 0 on"),
        ({"permutations": 2.5}, "permutations is a whole number from 0 on"),
        ({"adjust": "fdr"}, "adjust is 'none'"),
    ],
)
def test_settings_that_make_no_sense(wrong, message):
    with pytest.raises(AlacarteError, match=message):
        Inference(**wrong)


def test_profiles_and_contrasts():
    data = speeches()
    fit = regress("tax* ~ party + year", data, VECTORS, **FAST)
    a, b = {"party": "R", "year": 2000}, {"party": "D", "year": 2000}
    np.testing.assert_allclose(fit.predict(a) - fit.predict(b), fit.vector("party[T.R]"))
    assert fit.predict({"party": ["R", "D"], "year": 2000}).shape == (2, 5)
    for frame in (pd.DataFrame([a, b]), pl.DataFrame([a, b])):
        np.testing.assert_allclose(fit.predict(frame), [fit.predict(a), fit.predict(b)])
    between = fit.contrast(a, b)
    assert between["term"].tolist() == ["party: R − D"]
    for name in ("estimate", "noise", "conf_low", "conf_high"):
        assert between[name][0] == pytest.approx(fit.table[name][0])
    near = fit.nearest(a, k=3)
    assert len(near) == 3
    cosines = VECTORS[1] @ fit.predict(a) / np.linalg.norm(VECTORS[1], axis=1) / np.linalg.norm(fit.predict(a))
    assert near["value"][0] == pytest.approx(cosines.max())
    with pytest.raises(BadFormula, match="no value for 'year'"):
        fit.predict({"party": "R"})
    with pytest.raises(BadFormula, match="no level 'Whig'"):
        fit.predict({"party": "Whig", "year": 2000})
    with pytest.raises(BadFormula, match="the same"):
        fit.contrast(a, a)
    with pytest.raises(BadFormula, match="2 profiles, and one is wanted"):
        fit.contrast({"party": ["R", "D"], "year": 2000}, b)
    with pytest.raises(BadFormula, match="no term"):
        fit.vector("gender")


def test_tables():
    fit = regress("tax* ~ party + gender", speeches(), VECTORS, **FAST)
    tidy = fit.tidy()
    assert tidy["term"].tolist() == ["party[T.R]", "gender[T.M]"]
    np.testing.assert_allclose(tidy["estimate"], tidy["squared_norm"] - tidy["noise"])
    assert (tidy["p_adjusted"] >= tidy["p_value"]).all()
    assert "60 contexts, 5 dimensions" in str(fit)


def context(formula, **options):
    data = speeches(120)
    data["speaker"] = [f"s{number * number % 29}" for number in range(120)]  # clusters of different sizes
    return compat.conText(formula, data, VECTORS, window=8, **options)


def test_as_conText_does():
    fit = context("tax* ~ party + year")
    assert fit.terms == ["(Intercept)", "year", "party_R"]
    assert {"std_error", "p_value", "noise"} <= set(fit.table.values)
    with pytest.raises(BadFormula, match=r"names joined by \+"):
        context("tax* ~ party * year")
    plain = regress("tax* ~ party", speeches(120), VECTORS, window=8, inference=NO_P).table
    assert context("tax* ~ party").table["noise"][0] == pytest.approx(plain["noise"][0], rel=0.05)
    by_speaker = {"cluster": "speaker", "equal_clusters": True, "window": 8, "inference": NO_P}
    data = speeches(120) | {"speaker": [f"s{number * number % 29}" for number in range(120)]}
    ours = regress("tax* ~ party", data, VECTORS, **by_speaker)
    theirs = context("tax* ~ party", cluster_variable="speaker")
    np.testing.assert_allclose(ours.coefficients, theirs.coefficients, atol=1e-6)


@pytest.mark.parametrize("clustered", [False, True])
def test_conTexts_p_values_are_those_of_a_simple_permutation(clustered):
    fit = context("tax* ~ party", num_permutations=400, cluster_variable="speaker" if clustered else None)
    assert 0 <= fit.table["p_value"][0] <= 0.01
    rng = np.random.default_rng(0)
    shuffled = speeches(120) | {"party": rng.permutation(speeches(120)["party"]).tolist()}
    shuffled["speaker"] = [f"s{number * number % 29}" for number in range(120)]
    options = {"cluster_variable": "speaker"} if clustered else {}
    assert "intervals by jackknife" in str(compat.conText("tax* ~ party", shuffled, VECTORS, window=8, **options))
    assert compat.conText("tax* ~ party", shuffled, VECTORS, window=8, **options).table["p_value"][0] > 0.05


@pytest.mark.parametrize(
    "column",
    [
        lambda days: [str(day) for day in days],
        lambda days: days,
        lambda days: [day.item() for day in days],
        lambda days: list(pd.to_datetime(days).tz_localize("UTC")),
    ],
    ids=["strings", "numpy", "dates", "timestamps"],
)
def test_dates_count_in_days(column):
    data = speeches()
    days = np.array(data["year"]) * 365 % 9000
    dates = np.datetime64("1970-01-01") + days.astype("timedelta64[D]")
    found = regress("tax* ~ when", {**data, "when": column(dates)}, VECTORS, **FAST)
    want = regress("tax* ~ when", {**data, "when": days}, VECTORS, **FAST)
    assert found.terms == ["Intercept", "when"]
    np.testing.assert_allclose(found.coefficients, want.coefficients)
    profile = {"when": column(dates)[0]}
    np.testing.assert_allclose(found.predict(profile), want.predict({"when": days[0]}))
    with pytest.raises(BadFormula, match="'when' is a number or a date, not 'soon'"):
        found.predict({"when": "soon"})


def test_missing_dates_are_left_out_and_other_strings_are_groups():
    data = speeches()
    when = [None if number < 2 else f"20{number:02}-05-0{1 + number % 9}" for number in range(60)]
    fit = regress("tax* ~ when", {**data, "when": when}, VECTORS, **FAST)
    assert fit.left_out == {"missing when": 2}
    with pytest.raises(BadFormula, match="'when' has 60 values such as '1 May 2000', each a group of its own"):
        regress("tax* ~ when", {**data, "when": [f"1 May {2000 + number}" for number in range(60)]}, VECTORS, **FAST)
    declared = pd.DataFrame(data).assign(when=pd.Categorical(["2001-01-01", "2002-01-01"] * 30))
    assert regress("tax* ~ when", declared, VECTORS, **FAST).terms == ["Intercept", "when[T.2002-01-01]"]


def test_score_intervals_report_progress():
    from alacarte.inference import lengths as squared_lengths
    from alacarte.inference import regression_noise

    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(30), rng.normal(size=30)])
    fit, _ = regression_noise.least_squares(x, rng.normal(size=(30, 4)), np.arange(30) // 3)
    seen: list[int] = []
    squared_lengths.score_interval(fit, np.eye(2), 0.95, tick=seen.append)
    assert seen[-1] == fit.clusters == 10
