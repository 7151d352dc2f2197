"""Joint tests, standardised effects, several targets, weights, clusters of two kinds, warnings."""

import numpy as np
import pytest

from alacarte.errors import AlacarteWarning, BadFormula
from alacarte.inference.multiple_testing import adjusted
from alacarte.regression import (
    Inference,
    dem,
    documents,
    joint_test,
    nearest,
    nearest_contexts,
    regress,
    regress_each,
    similarity,
    standardised_effects,
    typical_contexts,
)
from alacarte.regression.terms import few_units

WORDS = [f"w{number}" for number in range(30)]
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(30, 6)) + 1)
SOME, NO_P = Inference(permutations=99), Inference(permutations=0)
OF = {"a": WORDS[:15], "b": WORDS[10:25], "c": WORDS[5:20]}


def speeches(count=90, seed=1, effect=True):
    rng = np.random.default_rng(seed)
    region = [("a", "b", "c")[row % 3] for row in range(count)]
    text = [" ".join(["tax", *rng.choice(OF[name] if effect else WORDS, 6)]) for name in region]
    year = rng.integers(1990, 2020, count)
    return {"text": text, "region": region, "year": year.tolist(), "speaker": (np.arange(count) // 3).tolist()}


def fitted(formula="tax ~ region + year", data=None, **options):
    return regress(formula, data or speeches(), VECTORS, inference=Inference(permutations=99), **options)


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
    with pytest.raises(BadFormula, match="no term holds 'party'"):
        joint_test(fit, "party")


def test_standardised_effects_do_not_depend_on_scales():
    data = speeches()
    one = standardised_effects(fitted(data=data))
    months = {**data, "year": [12 * year for year in data["year"]]}
    other = standardised_effects(regress("tax ~ region + year", months, (WORDS, 7 * VECTORS[1]), inference=NO_P))
    for name in ("effect_of_sd", "partial_r_squared"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-5)
    assert one["effect"][2] == pytest.approx(12 * other["effect"][2], rel=1e-5)
    assert np.all((one["partial_r_squared"] >= 0) & (one["partial_r_squared"] < 1))


def test_the_effect_is_cohens_d_in_one_dimension():
    rng = np.random.default_rng(3)
    group = np.arange(400) % 2
    found = dem(documents({"text": [["w"]] * 400, "group": group.tolist()}), (["w"], np.ones((1, 1))))
    found.matrix[:, 0] = rng.normal(size=400) + 1.5 * group
    effect = standardised_effects(regress("~ group", found, inference=NO_P))
    apart = found.matrix[group == 1].mean() - found.matrix[group == 0].mean()
    within = np.sqrt(np.mean([found.matrix[group == side].var(ddof=1) for side in (0, 1)]))
    assert effect["effect"][0] == pytest.approx(apart / within, rel=0.01)


def test_several_targets_are_adjusted_together():
    data = speeches()
    data["text"] = [f"{text} and freedom {text[4:]}" for text in data["text"]]
    with pytest.warns(AlacarteWarning, match="'liberty' is left out"):
        table = regress_each(
            "~ region", data, VECTORS, targets=(word for word in ("tax", "liberty", "freedom")), inference=SOME
        )
    assert table["target"].tolist() == ["tax", "tax", "liberty", "freedom", "freedom"]
    one = regress("tax ~ region", data, VECTORS, inference=SOME).table
    np.testing.assert_allclose(table["estimate"][:2], one["estimate"])
    known = np.isfinite(table["p_value"])
    assert known.tolist() == [True, True, False, True, True]
    np.testing.assert_allclose(table["p_adjusted"], adjusted(table["p_value"], "holm"))
    assert table["reason"][2]
    with pytest.raises(BadFormula, match="empty"):
        regress_each("tax ~ region", data, VECTORS, targets=["tax"])


# ---------------------------------------------------------------------------------------------- clusters


def test_clusters_by_several_variables():
    found = dem(documents(speeches()), VECTORS)
    both = similarity(found, ["w1"], "region", cluster=["speaker", "year"], intervals=0.95)
    assert np.isfinite(both["std_error"]).all()


def test_few_clusters_are_warned_of():
    """One cluster with nearly all contexts leaves few that count, however many there are."""
    speaker = np.repeat(np.arange(8), [60, 1, 1, 1, 60, 1, 1, 1])
    rng = np.random.default_rng(5)
    tokens = [rng.choice(WORDS, 5).tolist() for _ in speaker]
    party = np.where(speaker < 4, "D", "R").tolist()
    found = dem(documents({"text": tokens} | {"party": party, "speaker": speaker.tolist()}), VECTORS)
    with pytest.warns(AlacarteWarning, match="clusters that count"):
        fit = regress("~ party", found, cluster="speaker", inference=NO_P)
    assert few_units(fit.fit, np.eye(2)[1:]).tolist() == [True]
    with pytest.warns(AlacarteWarning, match="has 4 clusters (.*), of which"):
        nearest(found, "party", k=2, cluster="speaker", intervals=0.95)
    regress("~ party", found, inference=NO_P)  # contexts are enough


# ----------------------------------------------------------------------------------------------- contexts


def test_contexts_are_shown_with_the_keyword_and_their_document():
    from alacarte.regression import contexts

    data = {"name": ["first", "second"], "text": ["w1 w2 tax w3", "w4 Tax w5"]}
    found = dem(contexts(data, "tax", id="name", window=2), VECTORS)
    for table in (typical_contexts(found), nearest_contexts(found)):
        shown = dict(zip(table["document"], table["context"], strict=True))
        assert shown == {"first": "w1 w2 tax w3", "second": "w4 tax w5"}
