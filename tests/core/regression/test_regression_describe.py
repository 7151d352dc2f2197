"""Neighbours, ratios, poles, change over time: against plain twins, with intervals that hold what they claim."""

from dataclasses import replace

import numpy as np
import pytest

from alacarte import WordVectors
from alacarte.errors import AlacarteError, AlacarteWarning, NotEnoughData
from alacarte.inference.cosines import drift_band, estimate, pulls
from alacarte.inference.means import Units
from alacarte.inference.two_groups import difference, sign_numbers, statistic, under_null
from alacarte.regression import (
    Inference,
    compat,
    contexts,
    dem,
    dem_group,
    documents,
    nearest,
    nearest_contexts,
    poles,
    ratio,
    similarity,
    similarity_over,
    typical_contexts,
)
from alacarte.regression.embed import Embeddings
from alacarte.regression.frames import Variables

RNG = np.random.default_rng(0)
WORDS = [f"w{number}" for number in range(30)]
VECTORS = (WORDS, (RNG.normal(size=(30, 6)) + 1).astype(np.float32).astype(np.float64))


def sample(count=40, seed=1, groups=("D", "R")):
    rng = np.random.default_rng(seed)
    tokens = [rng.choice(WORDS, 5).tolist() for _ in range(count)]
    party = [groups[number % len(groups)] for number in range(count)]
    year = [2000 + number % 4 for number in range(count)]
    speaker = [number // 4 * 2 + number % 2 for number in range(count)]
    variables = {"party": party, "year": year, "speaker": speaker}
    return dem(documents({"text": tokens} | variables), VECTORS)


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_nearest_against_a_plain_twin():
    found = sample()
    means = dem_group(found, "party")
    table = nearest(found, "party", k=7)
    for name in ("D", "R"):
        values = {word: cosine(means[name], VECTORS[1][row]) for row, word in enumerate(WORDS)}
        want = sorted(values.items(), key=lambda item: -item[1])[:7]
        rows = table["target"] == name
        assert table["feature"][rows].tolist() == [word for word, _ in want]
        np.testing.assert_allclose(table["value"][rows], [value for _, value in want])
        assert table["rank"][rows].tolist() == list(range(1, 8))


def test_candidates():
    found = sample()
    assert set(nearest(found, k=None, candidates=3)["feature"]) == {"w0", "w1", "w2"}
    assert nearest(found, k=5, candidates=["w7"])["feature"].tolist() == ["w7"]  # one alone is no problem
    assert len(nearest(found, k=None, candidates="contexts")) == len(found.features)
    with pytest.warns(AlacarteWarning, match="no vector"):
        assert len(nearest(found, candidates=["w1", "unknown"])) == 1
    with pytest.raises(NotEnoughData, match="spelling"):
        nearest(found, candidates=["unknown"])


def test_conTexts_stems_average_all_words_that_have_them():
    words = ["immigration", "immigrants", "immigrant", "law"]
    vectors = words, np.random.default_rng(5).normal(size=(4, 3))
    means = compat.dem_group(dem([["law"]], vectors), ["all"])
    cosines = {word: cosine(vectors[1][3], vectors[1][row]) for row, word in enumerate(words)}
    found = compat.nns(means, candidates=["immigration", "law"], stem="porter")
    values = dict(zip(found["feature"], found["value"], strict=True))
    assert values["immigr"] == pytest.approx(np.mean([cosines[word] for word in words[:3]]))
    with pytest.raises(AlacarteError, match="no stemmer"):
        compat.nns(means, stem="klingon")


def test_ratio_against_a_plain_twin():
    found = sample()
    means = dem_group(found, "party")
    table = ratio(found, "party", k=5, numerator="R")
    top = {name: set(nearest(means.select([row]), k=5)["feature"]) for row, name in enumerate(means.names)}
    assert set(table["feature"]) == top["D"] | top["R"]
    for feature, value, group in table.rows():
        word = VECTORS[1][WORDS.index(feature)]
        assert value == pytest.approx(cosine(means["R"], word) / cosine(means["D"], word))
        assert group == ("R and D" if feature in top["D"] & top["R"] else "D" if feature in top["D"] else "R")
    assert np.all(np.diff(table["value"]) <= 0)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_numbers_of_neighbours_that_mean_nothing(k):
    for ask in (nearest, nearest_contexts, ratio, typical_contexts):
        with pytest.raises(AlacarteError, match="k is a whole number from 1 on"):
            ask(dem(contexts({"text": ["w1 x w2", "w3 x w4"], "party": ["D", "R"]}, "x"), VECTORS), "party", k=k)


def test_a_group_that_is_called_as_context_calls_both():
    with pytest.raises(AlacarteError, match="a group is called 'shared'"):
        compat.get_nns_ratio(sample(groups=("shared", "D")), "party", N=3)


@pytest.mark.parametrize("names", [("shared", "D"), ("both", "D"), ("D", "D and shared")])
def test_a_group_may_have_any_name(names):
    """The words near to both groups are told from those of a group, whatever it is called."""
    found = sample(groups=names)
    table = ratio(found, "party", k=5)
    plain = ratio(sample(), "party", k=5)
    kinds = {"D": names[0], "R": names[1], "D and R": f"{min(names)} and {max(names)}"}
    if names == tuple(sorted(names)):
        assert table["group"].tolist() == [kinds[group] for group in plain["group"]]
    assert set(table["group"]) <= {*names, table.info["both"]}
    assert table.info["both"] not in names


def test_a_ratio_needs_two_groups_and_positive_cosines():
    with pytest.raises(AlacarteError, match="there are 3"):
        ratio(sample(groups=("D", "R", "I")), "party")
    with pytest.raises(AlacarteError, match="no group is called 'X'"):
        ratio(sample(), "party", numerator="X")
    opposed = dem([["a"], ["b"]], (["a", "b"], [[1.0, 0.0], [-1.0, 0.1]]))
    assert np.isnan(ratio(opposed, ["x", "y"], k=2)["value"]).all()


def test_permutations_find_what_is_there_and_nothing_else():
    rng = np.random.default_rng(3)
    base = rng.normal(size=(80, 6)) + 2
    party = np.array(["D", "R"] * 40)
    moved = base + np.where(party == "R", 3.0, 0.0)[:, None] * np.eye(6)[0]
    space = WordVectors.of(VECTORS)
    columns = Variables({"speaker": np.arange(80) // 4 * 2 + np.arange(80) % 2})

    def embedded(matrix):
        return Embeddings(matrix, [str(i) for i in range(80)], space, columns, [], np.arange(80))

    many, some = Inference(permutations=199), Inference(permutations=99)
    real = ratio(embedded(moved), party, k=5, inference=many)
    none = ratio(embedded(base), party, k=5, inference=many)
    assert real["p_value"].min() == 1 / 200
    assert none["p_value"].min() > 0.01
    assert np.all(real["p_adjusted"] >= real["p_value"])
    assert ratio(embedded(moved), party, k=5, inference=many).rows() == real.rows()
    clustered = ratio(embedded(moved), party, k=5, cluster="speaker", inference=some)
    assert clustered["p_value"].min() == 1 / 100
    shared = ratio(embedded(moved), party, k=5, cluster=(np.arange(80) // 2).tolist(), inference=some)
    assert shared["p_value"].min() == 1 / 100


@pytest.mark.parametrize("k", [5, None])
def test_a_ratio_has_one_test(k):
    """p is at most .05 where the 95 % interval does not hold 1, and nowhere else."""
    rejected = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        matrix = rng.normal(size=(60, 6)) + 2 + 0.5 * np.arange(60)[:, None] % 2 * np.eye(6)[0]
        found = Embeddings(
            matrix, [str(i) for i in range(60)], WordVectors.of(VECTORS), Variables({}), [], np.arange(60)
        )
        table = ratio(found, (np.arange(60) % 2).tolist(), k=k, inference=Inference(permutations=99))
        known = np.isfinite(table["p_value"])
        holds = (table["conf_low"] <= 1) & (table["conf_high"] >= 1)
        assert ((table["p_value"] > 0.05) == holds)[known].all()
        rejected += int((~holds & known).sum())
    assert rejected


def test_contexts_without_a_group_take_no_part_in_permutations():
    found = sample(80)
    party = ["D" if number % 3 else "R" for number in range(80)]
    some = [None if number >= 60 else name for number, name in enumerate(party)]
    want = ratio(found.select(np.arange(60)), party[:60], k=5, inference=Inference(permutations=99))
    assert ratio(found, some, k=5, inference=Inference(permutations=99)).rows() == want.rows()


def test_a_level_that_makes_no_sense():
    for wrong in (95, "jackknife", True):
        with pytest.raises((AlacarteError, TypeError)):
            nearest(sample(), k=2, intervals=wrong)


def test_the_pull_of_a_unit_is_what_weighing_it_more_changes():
    """The debiased cosine has a slope in each unit's weight; pulls are these, but for the factors of CR2."""
    rng = np.random.default_rng(4)
    many = 4000  # units, so that these factors are near 1
    matrix, direction, step = rng.normal(size=(many, 4)) + 1, np.array([[0.6, 0.8, 0.0, 0.0]]), 1e-4
    sizes = rng.integers(1, 4, many).astype(float)
    values, pull = pulls(Units(matrix * sizes[:, None], sizes, np.arange(many), many), direction)

    def cosine_with(unit, weight):
        weights = np.ones(many)
        weights[unit] += weight
        total = weights @ sizes
        mean = (weights * sizes) @ matrix / total
        apart = ((weights * sizes / total) ** 2 * ((matrix - mean) ** 2).sum(axis=1)).sum()
        return float(mean @ direction[0] / np.sqrt(mean @ mean - apart))

    assert values[0] == pytest.approx(cosine_with(0, 0.0), rel=1e-3)
    want = [(cosine_with(unit, step) - cosine_with(unit, -step)) / (2 * step) for unit in range(8)]
    np.testing.assert_allclose(pull[:8, 0], want, rtol=5e-3)


def test_without_a_difference_both_groups_have_one_mean_and_a_cluster_one_sign():
    rng = np.random.default_rng(8)
    matrix = rng.normal(size=(60, 4)) + 2
    directions = np.eye(4)[:2]
    party = np.arange(60) % 2
    for clusters, signs in ((None, 60), (np.arange(60) // 6 * 2 + party, 20), (np.arange(60) // 6, 10)):
        groups = [
            Units.of(matrix[party == side], None if clusters is None else clusters[party == side]) for side in (0, 1)
        ]
        apart, error, _ = difference(groups, directions)
        np.testing.assert_allclose(statistic(groups, directions), apart / error)
        common, away = under_null(groups)
        for group, deviation in zip(groups, away, strict=True):
            means = replace(group, sums=np.outer(group.sizes, common)).mean()  # if nothing deviated
            np.testing.assert_allclose(means, common)
            np.testing.assert_allclose(replace(group, sums=deviation).mean(), 0.0, atol=0.05)
        numbers = sign_numbers(groups)
        assert len(set(np.concatenate(numbers).tolist())) == signs
        if signs == 10:
            assert numbers[0].tolist() == numbers[1].tolist() == groups[0].labels.tolist()


def test_p_values_of_a_ratio_do_not_depend_on_noise_or_sizes():
    """Twenty contexts against 200, the small group twice as noisy: 0.59 of such p-values were at most 0.05."""
    rng = np.random.default_rng(10)
    mean, words = rng.normal(size=12) * 0.6, rng.normal(size=(200, 12))
    space = WordVectors.of(([f"v{number}" for number in range(200)], words))
    noise, party = np.repeat([2.0, 1.0], [20, 200])[:, None], np.repeat(["a", "b"], [20, 200])
    rejected = []
    for seed in range(120):
        matrix = mean + noise * rng.normal(size=(220, 12))
        found = Embeddings(matrix, [str(row) for row in range(220)], space, Variables({}), [], np.arange(220))
        rejected += (
            ratio(found, party, k=5, inference=Inference(permutations=39, seed=seed))["p_value"] <= 0.05
        ).tolist()
    assert 0.02 <= np.mean(rejected) <= 0.085


def test_the_squared_length_of_a_mean_is_debiased():
    rng = np.random.default_rng(5)
    true = np.full(20, 0.2)
    plain, debiased = [], []
    for _ in range(800):
        group = Units.of(rng.normal(size=(15, 20)) + true, None)
        plain.append(group.mean() @ group.mean())
        debiased.append(group.debiased_square())
    error = np.std(debiased) / np.sqrt(len(debiased))
    assert abs(np.mean(debiased) - true @ true) < 3.5 * error
    assert np.mean(plain) - true @ true > 10 * error


@pytest.mark.parametrize(("count", "clustered"), [(25, False), (60, False), (120, True)])
def test_intervals_cover(count, clustered):
    """95 % intervals of cosines of means of few contexts in many dimensions."""
    rng = np.random.default_rng(6)
    d = 60
    true = rng.normal(size=d) * 0.4
    directions = rng.normal(size=(8, d)) * 0.4 + true
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    truth = directions @ true / np.linalg.norm(true)
    inside, percentile = [], []
    for _ in range(300):
        matrix = rng.normal(size=(count, d)) * rng.gamma(4, 0.25, size=(count, 1)) + true
        units = None
        if clustered:
            units = rng.integers(0, 30, count)
            matrix += (rng.normal(size=(30, d)) * 0.5)[units]
        group = Units.of(matrix, units)
        found = estimate([group], directions)
        inside.append((found["conf_low"][0] <= truth) & (truth <= found["conf_high"][0]))
        percentile.append(np.all(found["value"][0] < found["estimate"][0]))
    assert 0.93 <= np.mean(inside) <= 0.97
    assert np.mean(percentile) > 0.9  # and the plain cosines are too small


def test_a_group_of_one_has_no_interval():
    found = similarity(sample(3), ["w1"], ["x", "x", "y"], intervals=0.95)
    assert np.isnan(found["std_error"]).tolist() == [True, True]  # nor has one of two
    assert np.isfinite(found["value"]).all()


def test_means_have_no_intervals():
    with pytest.raises(AlacarteError, match="means already"):
        nearest(dem_group(sample(), "party"), intervals=0.95)


def test_over_an_ordered_variable():
    found = sample(40)
    table = similarity_over(found, "year", ["w3", "w1"], intervals=0.95, cluster="speaker")
    assert table["year"].tolist() == [2000, 2000, 2001, 2001, 2002, 2002, 2003, 2003]
    assert table["feature"].tolist() == ["w3", "w1"] * 4
    assert table["n"].tolist() == [10] * 8
    mean = dem_group(found, "year").matrix[2]
    assert table["value"][4] == pytest.approx(cosine(mean, VECTORS[1][3]))
    split = similarity_over(found, "year", "w3", within="party")
    assert split["party"].tolist() == ["D"] * 4 + ["R"] * 4
    assert split["n"].tolist() == [10, 0, 10, 0, 0, 10, 0, 10]
    assert np.isnan(split["value"][1])


@pytest.mark.parametrize("name", ["value", "feature", "n", "std_error", "reason"])
def test_a_variable_that_is_called_as_a_result_overwrites_none(name):
    plain = sample()
    found = replace(plain, variables=Variables({name: plain.variables.columns["party"], **plain.variables.columns}))
    want = similarity_over(plain, "party", ["w1"], intervals=0.95)
    table = similarity_over(found, name, ["w1"], intervals=0.95)
    assert list(map(str, table.rows())) == list(map(str, want.rows()))
    assert table.info["over"] == f"columns.{name}"
    split = similarity_over(found, "year", ["w1"], within=name, intervals=0.95)
    want = similarity_over(plain, "year", ["w1"], within="party", intervals=0.95)
    assert list(map(str, split.rows())) == list(map(str, want.rows()))
    assert split[f"columns.{name}"].tolist() == ["D"] * 4 + ["R"] * 4


def test_a_step_larger_than_the_others_is_beyond_drift():
    rng = np.random.default_rng(0)
    values = np.cumsum(rng.normal(size=(400, 13)), axis=1)
    inside = []
    for series in values:
        low, high = drift_band(series / 100, np.full(13, 0.001), 0.95)
        assert np.isnan(low[0])
        inside += ((low <= series / 100) & (series / 100 <= high))[1:].tolist()
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)
    jump = np.array([0.1, 0.11, 0.1, np.nan, 0.12, 0.1, 0.11, 0.6, 0.61])
    low, high = drift_band(jump, np.full(9, 0.01), 0.95)
    assert np.flatnonzero((jump < low) | (jump > high)).tolist() == [7]
    assert np.isnan(drift_band(jump[:5], np.full(5, 0.01), 0.95)[0]).all()


def test_the_band_of_drift_is_of_each_word():
    found = sample(40)
    found = replace(found, contexts=None, variables=Variables({"year": np.arange(len(found)) % 8}))
    table = similarity_over(found, "year", ["w3", "w1"], intervals=0.9)
    alone = similarity_over(found, "year", "w1", intervals=0.9)
    np.testing.assert_allclose(table["drift_high"][1::2], alone["drift_high"])
    low, _ = drift_band(alone["estimate"], alone["std_error"], 0.9)
    np.testing.assert_allclose(alone["drift_low"], low)
    assert np.isfinite(low[1:]).all()


def test_years_are_shown_as_years():
    table = similarity_over(sample(), "year", ["w1"])
    assert "2003" in str(table)
    assert "2,003" not in table.to_markdown() + str(similarity(sample(), ["w1"], "year"))


def test_poles():
    found = sample()
    with pytest.warns(AlacarteWarning, match="1 of the features have no vector"):
        table = poles(found, "party", ["w1", "w2", "unknown"], ["w3"], intervals=0.95)
    mean = dem_group(found, "party")["D"]
    want = np.mean([cosine(mean, VECTORS[1][row]) for row in (1, 2)]) - cosine(mean, VECTORS[1][3])
    assert table["value"][0] == pytest.approx(want)
    with pytest.raises(NotEnoughData, match="spelling"):
        poles(found, "party", ["unknown"])


def test_contexts_near_a_group_are_its_own():
    found = sample(20)
    table = nearest_contexts(found, "party", k=3)
    own = dict(zip(found.texts(), found.variables.columns["party"], strict=True))
    assert all(own[text] == target for text, target in zip(table["context"], table["target"], strict=True))
    means = dem_group(found, "party")
    rows = table["target"] == "D"
    values = sorted((cosine(means["D"], x) for x, p in zip(found.matrix, own.values(), strict=True) if p == "D"))[::-1]
    np.testing.assert_allclose(table["value"][rows], values[:3])
    doubled = dem([["w1", "w2"]] * 3 + [["w3"]], VECTORS)
    assert len(nearest_contexts(doubled, k=5)) == 2


def test_typical_contexts_of_each_group():
    table = typical_contexts(sample(), "party", k=2)
    assert table["target"].tolist() == ["D", "D", "R", "R"]
    assert np.all(table["score"] > 0)


def test_a_vector_of_zeros_has_no_direction():
    """Its cosines are unknown, and not 0 ± 0."""
    vectors = (["a", "b", "zero"], np.array([[1.0, 0.2], [0.1, 1.0], [0.0, 0.0]]))
    found = dem([["a"], ["b"]] * 5 + [["zero"]] * 5, vectors)
    groups = ["x"] * 10 + ["nothing"] * 5
    for intervals in (None, 0.95):
        table = similarity(found, ["a", "zero"], groups, intervals=intervals)
        assert np.isnan(table["value"]).tolist() == [True, True, False, True]
        if intervals is not None:
            for name in ("estimate", "std_error", "conf_low", "conf_high"):
                assert np.isnan(table[name]).tolist() == [True, True, False, True]
            assert table["reason"][0] == "a vector of zeros has no direction"
    assert str(table).count("unknown") == 3
    assert nearest(found, groups, k=5)["feature"].tolist() == ["a", "b"]  # of x alone
    assert sorted(ratio(found, groups, k=2)["feature"]) == ["a", "b"]
    assert set(nearest_contexts(found, groups, k=2)["target"]) == {"x"}
    assert np.isnan(poles(found, groups, ["a"])["value"]).tolist() == [True, False]
