"""Groups of one or two contexts or clusters, what clusters change and what not, values that are not finite."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alacarte import ALaCarte
from alacarte.errors import AlacarteWarning, BadVectors
from alacarte.regression import (
    Inference,
    dem,
    dem_group,
    documents,
    nearest,
    plot_over,
    plot_ratio,
    poles,
    ratio,
    regress,
    similarity,
    similarity_over,
)

WORDS = [f"w{number}" for number in range(30)]
SOME = Inference(permutations=19)
VECTORS = (WORDS, np.random.default_rng(0).normal(size=(30, 6)) + 1)
NAN = ("estimate", "std_error", "conf_low", "conf_high")


def sample(party, **columns):
    rng = np.random.default_rng(1)
    tokens = [rng.choice(WORDS, 5).tolist() for _ in party]
    return dem(documents({"text": tokens} | {"party": party, **columns}), VECTORS)


LONE = ["D"] * 20 + ["R"]
SPEAKERS = [f"s{number // 4}" for number in range(20)] + ["t", "t"]


def test_a_group_of_one_context_is_nan_and_says_why():
    found = sample(LONE)
    tables = [
        (similarity(found, ["w1", "w2"], "party", intervals=0.95), "target"),
        (nearest(found, "party", k=2, intervals=0.95), "target"),
        (poles(found, "party", ["w1"], ["w2"], intervals=0.95), "group"),
    ]
    for table, name in tables:
        lone = table[name] == "R"
        for column in NAN:
            assert np.isnan(table[column][lone]).all()
            assert np.isfinite(table[column][~lone]).all()
        assert set(table["reason"][lone]) == {"one context alone does not show its noise"}
        assert set(table["reason"][~lone]) == {""}
        assert "one context alone" in str(table)


def test_a_group_of_one_cluster_is_nan_and_says_why():
    found = sample(["D"] * 20 + ["R"] * 2, speaker=SPEAKERS)
    table = similarity(found, ["w1"], "party", intervals=0.95, cluster="speaker")
    assert np.isnan(table["estimate"]).tolist() == [False, True]
    assert table["reason"].tolist() == ["", "one cluster alone does not show its noise"]
    assert similarity(found, ["w1"], "party", intervals=0.95)["reason"][1] == (
        "two contexts are too few for a standard error"
    )


def test_a_ratio_with_a_group_of_one():
    table = ratio(sample(LONE), "party", k=3, inference=SOME)
    for column in NAN:
        assert np.isnan(table[column]).all()
    assert np.isfinite(table["value"]).any()
    assert set(table["reason"]) == {"one context alone does not show its noise"}
    plot_ratio(table)  # draws what there is


def test_a_term_that_rests_on_one_context_has_no_estimate():
    """Its squared length is the noise of one context, which nothing tells from an effect."""
    found = sample(LONE)
    with pytest.warns(AlacarteWarning, match="rests on a single context"):
        table = regress("~ party", found, inference=SOME).table
    for column in ("estimate", "noise", "std_error", "conf_low", "conf_high", "p_value", "p_adjusted"):
        assert np.isnan(table[column]).all(), column
    assert np.isfinite(table["squared_norm"]).all()
    assert table["reason"].tolist() == ["rests on a single context"]
    clustered = sample(["D"] * 20 + ["R"] * 2, speaker=SPEAKERS)
    with pytest.warns(AlacarteWarning, match="rests on a single cluster"):
        fit = regress("~ party", clustered, cluster="speaker", inference=SOME)
    assert np.isnan(fit.table["estimate"]).all()
    assert "rests on a single cluster" in [text.get_text() for text in fit.plot().texts]


def test_values_that_are_not_finite():
    vectors = WORDS, VECTORS[1].copy()
    vectors[1][7, 2] = np.nan
    with pytest.raises(BadVectors, match="'w7'"):
        dem([["w1"]], vectors)
    found = sample(LONE)
    found.matrix[3, 0] = np.inf
    with pytest.raises(BadVectors, match="not finite"):
        found.select(np.arange(10))


def test_clusters_over_an_ordered_variable():
    year = [2000 + number % 3 for number in range(24)]
    speaker = [f"s{number // 4}" for number in range(24)]
    party = ["D", "D", "R"] * 8
    found = sample(party, year=year, speaker=speaker, chamber=["h", "s"] * 12)
    options = {"intervals": 0.95, "within": "party"}
    want = similarity_over(found, "year", ["w1"], cluster="speaker", **options)
    for given in (speaker, np.array(speaker), [number // 4 for number in range(24)]):
        assert similarity_over(found, "year", ["w1"], cluster=given, **options)["std_error"] == pytest.approx(
            want["std_error"], nan_ok=True
        )
    crossed = [f"{name} {chamber}" for name, chamber in zip(speaker, ["h", "s"] * 12, strict=True)]
    both = similarity_over(found, "year", ["w1"], cluster=["speaker", "chamber"], **options)
    assert both["std_error"] == pytest.approx(
        similarity_over(found, "year", ["w1"], cluster=crossed, **options)["std_error"], nan_ok=True
    )
    assert set(want["reason"][want["n"] == 0]) == {"no context"}
    plot_over(want)


# ------------------------------------------------------------------------------------------------- clusters


def unequal():
    rng = np.random.default_rng(2)
    speaker = np.repeat([f"s{number}" for number in range(12)], rng.integers(1, 9, 12))
    party = np.where(np.isin(speaker, [f"s{number}" for number in range(0, 12, 2)]), "D", "R")
    party[speaker == "s5"] = np.where(np.arange((speaker == "s5").sum()) % 2, "D", "R")  # one speaks for both
    return sample(party.tolist(), speaker=speaker.tolist())


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.filterwarnings("ignore:.*clusters that count")
def test_clusters_are_weighed_in_one_way_everywhere(equal):
    found = unequal()
    options = {"cluster": "speaker", "equal_clusters": equal}
    fit = regress("~ party", found, inference=Inference(permutations=0), **options)
    means = dem_group(found, "party", **options)
    for party in "DR":
        np.testing.assert_allclose(fit.predict({"party": party}), means[party])
    want = similarity(means, ["w1", "w4"])["value"]
    np.testing.assert_allclose(similarity(found, ["w1", "w4"], "party", **options)["value"], want)
    near = nearest(means, k=3)
    assert nearest(found, "party", k=3, intervals=0.95, **options)["feature"].tolist() == near["feature"].tolist()
    for table in (ratio(found, "party", k=30, **options), ratio(means, k=30)):
        values = dict(zip(table["feature"], table["value"], strict=True))
        assert values["w1"] == pytest.approx(want[0] / want[2])


def test_clusters_change_no_estimate_unless_asked():
    found = unequal()
    plain = similarity(found, ["w1"], "party", intervals=0.95)
    clustered = similarity(found, ["w1"], "party", intervals=0.95, cluster="speaker")
    equal = similarity(found, ["w1"], "party", intervals=0.95, cluster="speaker", equal_clusters=True)
    np.testing.assert_allclose(clustered["value"], plain["value"])
    assert not np.allclose(clustered["std_error"], plain["std_error"])
    assert not np.allclose(equal["value"], plain["value"])
    np.testing.assert_allclose(dem_group(found, "party", cluster="speaker").matrix, dem_group(found, "party").matrix)


def test_a_cluster_that_lies_in_both_groups_is_left_out_of_both_also_if_it_has_one_context_in_each():
    party = ["D", "R"] * 12
    found = sample(party, speaker=[f"s{number // 2}" for number in range(24)])
    apart = ratio(found, "party", k=5, inference=SOME)
    together = ratio(found, "party", k=5, inference=SOME, cluster="speaker")
    assert apart["feature"].tolist() == together["feature"].tolist()
    assert not np.allclose(apart["std_error"], together["std_error"])


def test_a_cluster_in_both_groups_pulls_on_both_at_once():
    """What a speaker says is much alike, whichever group it counts for: its pull on the ratio cancels."""
    rng = np.random.default_rng(5)
    own = np.repeat(rng.normal(size=(40, 6)), 4, axis=0)
    matrix = 3 + own + 0.05 * rng.normal(size=(160, 6))
    found = replace(sample(["D", "R"] * 80, speaker=[f"s{number // 4}" for number in range(160)]), matrix=matrix)
    together, apart = (ratio(found, "party", k=5, cluster=cluster, inference=SOME) for cluster in ("speaker", None))
    assert apart["std_error"].min() > 3 * together["std_error"].max()


def test_levels_of_one_block_of_years_beside_others():
    """What is left of the noise of a level that lies in one cluster is rounding, which has no interval."""
    pd = pytest.importorskip("pandas")
    speeches = pd.read_json(Path(__file__).parents[3] / "docs" / "samples" / "sotu.jsonl.xz", lines=True)
    speeches = speeches[speeches["text"].str.contains("freedom")]
    with pytest.warns(AlacarteWarning, match="rest on a single cluster"):
        table = regress("freedom ~ party", speeches, ALaCarte.pretrained("glove.6B.50d"), inference=SOME).table
    lone = np.array([bool(reason) for reason in table["reason"]])
    assert lone.any()
    np.testing.assert_array_equal(np.isnan(table["std_error"]), lone)
    np.testing.assert_array_equal(np.isnan(table["conf_high"]), lone)
