"""Joint tests, standardised effects, several targets, sensitivity, power, weights, clusters of two kinds, warnings."""

from dataclasses import replace

import numpy as np
import pytest

from alacarte.errors import AlacarteError, AlacarteWarning, BadFormula
from alacarte.inference.multiple_testing import adjusted
from alacarte.regression import (
    TwoWays,
    dem,
    dem_group,
    dem_sample,
    from_tokens,
    joint_test,
    nearest,
    nearest_contexts,
    power,
    regress,
    regress_each,
    sensitivity,
    similarity,
    similarity_over,
    standardised_effects,
    typical_contexts,
)
from alacarte.regression.terms import few_units

WORDS = [f"w{number}" for number in range(30)]
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(30, 6)) + 1)
OF = {"a": WORDS[:15], "b": WORDS[10:25], "c": WORDS[5:20]}


def speeches(count=90, seed=1, effect=True):
    rng = np.random.default_rng(seed)
    region = [("a", "b", "c")[row % 3] for row in range(count)]
    text = [" ".join(["tax", *rng.choice(OF[name] if effect else WORDS, 6)]) for name in region]
    year = rng.integers(1990, 2020, count)
    return {"text": text, "region": region, "year": year.tolist(), "speaker": (np.arange(count) // 3).tolist()}


def fitted(formula="tax ~ region + year", data=None, **options):
    return regress(formula, data or speeches(), VECTORS, **{"permutations": 99, **options})


def test_a_joint_test_finds_a_factor_and_not_what_is_not_there():
    fit = fitted()
    region, year = joint_test(fit, "region"), joint_test(fit, "year")
    assert region["terms"][0] == "region[T.b], region[T.c]"
    assert region["df"][0] == 2
    assert region["p_value"][0] == 0.01
    assert year["p_value"][0] == fit.table["p_value"][fit.table["term"].tolist().index("year")]  # of one it is its own
    assert joint_test(fit)["df"][0] == 3
    nothing = joint_test(fitted(data=speeches(effect=False)), "region")
    assert nothing["p_value"][0] > 0.05
    assert 0.4 < nothing["statistic"][0] < 2  # the noise is what it is
    two = joint_test(fitted(cluster=TwoWays("speaker", "year")), "region")
    assert two["p_value"][0] < 0.01
    with pytest.raises(BadFormula, match="no term holds 'party'"):
        joint_test(fit, "party")


def test_standardised_effects_do_not_depend_on_scales():
    data = speeches()
    one = standardised_effects(fitted(data=data))
    months = {**data, "year": [12 * year for year in data["year"]]}
    other = standardised_effects(regress("tax ~ region + year", months, (WORDS, 7 * VECTORS[1]), permutations=0))
    for name in ("effect_of_sd", "partial_r_squared"):
        np.testing.assert_allclose(one[name], other[name])
    assert one["effect"][2] == pytest.approx(12 * other["effect"][2])
    assert np.all((one["partial_r_squared"] >= 0) & (one["partial_r_squared"] < 1))


def test_the_effect_is_cohens_d_in_one_dimension():
    rng = np.random.default_rng(3)
    group = np.arange(400) % 2
    found = dem(from_tokens([["w"]] * 400, {"group": group.tolist()}), (["w"], np.ones((1, 1))))
    found.matrix[:, 0] = rng.normal(size=400) + 1.5 * group
    effect = standardised_effects(regress("~ group", found, permutations=0))
    apart = found.matrix[group == 1].mean() - found.matrix[group == 0].mean()
    within = np.sqrt(np.mean([found.matrix[group == side].var(ddof=1) for side in (0, 1)]))
    assert effect["effect"][0] == pytest.approx(apart / within, rel=0.01)


def test_several_targets_are_adjusted_together():
    data = speeches()
    data["text"] = [f"{text} and freedom {text[4:]}" for text in data["text"]]
    with pytest.warns(AlacarteWarning, match="'liberty' is left out"):
        table = regress_each("~ region", data, VECTORS, targets=["tax", "liberty", "freedom"], permutations=99)
    assert table["target"].tolist() == ["tax", "tax", "liberty", "freedom", "freedom"]
    one = regress("tax ~ region", data, VECTORS, permutations=99).table
    np.testing.assert_allclose(table["estimate"][:2], one["estimate"])
    known = np.isfinite(table["p_value"])
    assert known.tolist() == [True, True, False, True, True]
    np.testing.assert_allclose(table["p_adjusted"], adjusted(table["p_value"], "holm"))
    assert table["reason"][2]
    with pytest.raises(BadFormula, match="empty"):
        regress_each("tax ~ region", data, VECTORS, targets=["tax"])


def test_sensitivity_is_the_regressions_one_by_one():
    data = speeches()
    transforms = {"none": None, "stretched": np.diag([1.0, 2, 3, 4, 5, 6])}
    table = sensitivity("tax ~ region", data, VECTORS, windows=(2, 4), transforms=transforms, permutations=0)
    assert len(table) == 8
    rows = (table["window"] == 4) & (table["transform"] == "stretched")
    want = regress("tax ~ region", data, VECTORS, transforms["stretched"], window=4, permutations=0).table
    np.testing.assert_allclose(table["estimate"][rows].astype(float), want["estimate"])
    assert "statistic" in table


def test_power_grows_with_contexts_and_is_the_size_without_an_effect():
    fit = fitted("tax ~ region", data=speeches(60))
    table = power(fit, "region[T.b]", [20, 120], effects=(0.0, 1.0), samples=60, permutations=39)
    none, some = table["power"][:2], table["power"][2:]
    assert np.all(none < 0.17)
    assert some[1] > some[0]
    assert some[1] > 0.9
    clustered = power(fitted("tax ~ region", cluster="speaker"), "region[T.b]", [20], samples=20, permutations=19)
    assert "clusters" in clustered
    with pytest.raises(BadFormula, match="no term"):
        power(fit, "party", [20])
    with pytest.raises(AlacarteError, match="nothing to plan with"):
        power(fitted("tax ~ year", data=speeches(30, seed=2, effect=False)), "year", [20])


# ------------------------------------------------------------------------------------- weights, clusters


@pytest.mark.filterwarnings("ignore:.*clusters that count")
def test_weights_are_copies_everywhere():
    rng = np.random.default_rng(4)
    tokens = [rng.choice(WORDS, 5).tolist() for _ in range(40)]
    party, speaker, weight = ["D", "R"] * 20, (np.arange(40) // 4).tolist(), rng.integers(1, 4, 40)
    found = dem(from_tokens(tokens, {"party": party, "speaker": speaker, "weight": weight.tolist()}), VECTORS)
    copies = found.select(np.repeat(np.arange(40), weight))
    options = {"intervals": "jackknife", "cluster": "speaker"}
    ours, theirs = (
        similarity(found, ["w1"], "party", weights="weight", **options),
        similarity(copies, ["w1"], "party", **options),
    )
    for name in ("value", "estimate", "std_error", "conf_low", "conf_high"):
        np.testing.assert_allclose(ours[name], theirs[name])
    np.testing.assert_allclose(dem_group(found, "party", weights=weight).matrix, dem_group(copies, "party").matrix)
    fit = regress("~ party", found, weights="weight", cluster="speaker", permutations=0)
    want = regress("~ party", copies, cluster="speaker", permutations=0)
    for name in ("estimate", "conf_low", "conf_high"):
        np.testing.assert_allclose(fit.table[name], want.table[name], rtol=1e-6)
    np.testing.assert_allclose(fit.predict({"party": "D"}), dem_group(found, "party", weights="weight")["D"])
    nothing = weight * (np.arange(40) > 5)
    assert regress("~ party", found, weights=nothing, permutations=0).left_out == {"weight 0": 6}
    for wrong in ([1.0] * 3, -weight, ["a"] * 40):
        with pytest.raises(AlacarteError, match="weights"):
            similarity(found, ["w1"], "party", weights=wrong)


def test_clusters_of_two_kinds_change_no_estimate():
    found = dem(from_tokens([text.split() for text in speeches()["text"]], speeches()), VECTORS)
    plain = similarity(found, ["w1", "w2"], "region", intervals="jackknife")
    both = similarity(found, ["w1", "w2"], "region", intervals="jackknife", cluster="speaker + year")
    same = similarity(found, ["w1", "w2"], "region", intervals="jackknife", cluster=TwoWays("speaker", "year"))
    np.testing.assert_allclose(both["value"], plain["value"])
    assert both.rows() == same.rows()
    for way in ("speaker", "year"):
        one = similarity(found, ["w1", "w2"], "region", intervals="jackknife", cluster=way)
        assert np.all(both["std_error"] >= 0.999 * one["std_error"])
    over = similarity_over(found, "region", ["w1", "w2"], intervals="jackknife", cluster="speaker + year")
    np.testing.assert_allclose(over["std_error"], both["std_error"])
    fit = regress("~ region", found, cluster="speaker + year", permutations=9)
    assert fit.clusters == len(set(speeches()["year"])) < 30  # of the kind that has fewer
    np.testing.assert_allclose(fit.coefficients, regress("~ region", found, permutations=0).coefficients)
    with pytest.raises(AlacarteError, match="two kinds"):
        regress("~ region", found, cluster="speaker + year", permutations=0, intervals="jackknife")
    with pytest.raises(AlacarteError, match="one kind"):
        regress("~ region", found, cluster="speaker + year", permutations=0, equal_clusters=True)
    for wrong, message in (({"intervals": "bootstrap"}, "two kinds"), ({"equal_clusters": True}, "one kind")):
        with pytest.raises(AlacarteError, match=message):
            similarity(found, ["w1"], cluster="speaker + year", **{"intervals": "jackknife", **wrong})
    assert "permutations" not in fit.summary()  # p-values come from the distribution of the estimate
    effect = found.matrix + 50 * (np.array(speeches()["region"]) == "b")[:, None]
    assert regress("~ region", replace(found, matrix=effect), cluster="speaker + year").table["p_value"].min() > 0
    with pytest.raises(AlacarteError, match="of one kind or of two"):
        similarity(found, ["w1"], cluster="speaker + year + region", intervals="jackknife")


def test_few_clusters_are_warned_of():
    """One cluster with nearly all contexts leaves few that count, however many there are."""
    speaker = np.repeat(np.arange(8), [60, 1, 1, 1, 60, 1, 1, 1])
    rng = np.random.default_rng(5)
    tokens = [rng.choice(WORDS, 5).tolist() for _ in speaker]
    party = np.where(speaker < 4, "D", "R").tolist()
    found = dem(from_tokens(tokens, {"party": party, "speaker": speaker.tolist()}), VECTORS)
    with pytest.warns(AlacarteWarning, match="clusters that count"):
        fit = regress("~ party", found, cluster="speaker", permutations=0)
    assert few_units(fit._fit, np.eye(2)[1:]).tolist() == [True]
    with pytest.warns(AlacarteWarning, match="a group has 4 clusters"):
        nearest(found, "party", k=2, cluster="speaker", intervals="jackknife")
    regress("~ party", found, permutations=0)  # contexts are enough


# ----------------------------------------------------------------------------------------------- contexts


def test_contexts_are_shown_with_the_keyword_and_their_document():
    from alacarte.regression import contexts

    data = {"name": ["first", "second"], "text": ["w1 w2 tax w3", "w4 Tax w5"]}
    found = dem(contexts(data, "tax", id="name", window=2), VECTORS)
    for table in (typical_contexts(found), nearest_contexts(found)):
        shown = dict(zip(table["document"], table["context"], strict=True))
        assert shown == {"first": "w1 w2 tax w3", "second": "w4 tax w5"}


def test_samples_are_the_same_unless_asked_otherwise():
    found = dem([["w1"], ["w2"], ["w3"]] * 10, VECTORS)
    assert dem_sample(found, 0.3).names == dem_sample(found, 0.3).names
    assert dem_sample(found, 0.3, seed=1).names != dem_sample(found, 0.3).names
