"""What R's conText 3.0.1 gives, number by number: deterministic outputs to 1e-8, seeded ones within their noise.

The inputs are read from ../shared; every test names the golden file it compares with.
"""

import csv
import json
import lzma
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from alacarte.regression import (
    compute_transform,
    contexts,
    cooccurrences,
    dem,
    dem_group,
    dem_sample,
    feature_similarity,
    fem,
    nearest,
    nearest_contexts,
    poles,
    ratio,
    regress,
    similarity,
    similarity_over,
    typical_contexts,
)
from alacarte.regression._lexical import stems
from alacarte.regression.compat import bootstrap_contrast, compute_contrast, permute_contrast, with_separators

pytestmark = pytest.mark.real
pytest.importorskip("formulaic")
pytest.importorskip("snowballstemmer")

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "data" / "regression" / "context-golden"
R = {"compat": "conText"}
CLOSE = 1e-9


# ------------------------------------------------------------------------------------------------- inputs


def lines(path):
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def listed(path):
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]


@cache
def tokens(name):
    rows = lines(GOLDEN / "inputs" / name)
    columns = {key: [row["docvars"][key] for row in rows] for key in rows[0]["docvars"]}
    names = [row["docname"] for row in rows]
    return {"tokens": [row["tokens"] for row in rows], "docname": names, **columns}


@cache
def corpus():
    with (GOLDEN / "inputs" / "corpus.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (GOLDEN / "inputs" / "year.csv").open(encoding="utf-8") as file:
        years = [int(row["year"]) for row in csv.DictReader(file)]
    return {key: [row[key] for row in rows] for key in rows[0]} | {"year": years}


@cache
def vectors(dimensions=300):
    matrix = np.load(GOLDEN / "inputs" / "glove_subset.npy")
    return listed(GOLDEN / "inputs" / "glove_subset.rows.txt"), matrix[:, :dimensions]


@cache
def transform():
    return np.load(GOLDEN / "inputs" / "transform.npy")


@cache
def immigr():
    found = contexts(tokens("tokens_nostop_feats.jsonl.xz"), "immigr*", window=6, **R)
    return dem(found, vectors(), transform(), **R)


@cache
def by_party():
    return dem_group(immigr(), "party", **R)


@cache
def legacy():
    """What get_context finds in the raw corpus, embedded."""
    found = contexts(corpus(), "immigration", window=6, valuetype="fixed", id="doc_id", tokenizer="whitespace", **R)
    return dem(found, vectors(), transform(), **R)


def table(name):
    with (GOLDEN / "outputs" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def array(name):
    return np.load(GOLDEN / "outputs" / f"{name}.npy")


def assert_same(found, name, keys, value="value"):
    """The same rows in the same order, with the same values."""
    want = table(name)
    assert [tuple(row[key] for key in keys) for row in want] == [
        tuple(str(found[key][place]) for key in keys) for place in range(len(found))
    ]
    np.testing.assert_allclose(found[value], [float(row[value]) for row in want], rtol=CLOSE, atol=CLOSE)


# ------------------------------------------------------------------------------------------------- contexts

TOY, PADDED = "toy_tokens.jsonl", "toy_tokens_padded.jsonl"
NOSTOP, RAW = "tokens_nostop_feats.jsonl.xz", "tokens_raw.jsonl.xz"


@pytest.mark.parametrize(
    ("golden", "source", "pattern", "options"),
    [
        ("tokens_context_immigr_w6", NOSTOP, "immigr*", {}),
        ("tokens_context_immigr_w6_hardcut", NOSTOP, "immigr*", {"hard_cut": True}),
        ("tokens_context_immigr_w6_keepkw", NOSTOP, "immigr*", {"keep_match": True}),
        ("tokens_context_multi", NOSTOP, ["immigration", "welfare", "immigration reform", "economy"], {}),
        ("tokens_context_raw_immigration_w6", RAW, "immigration", {}),
        ("toy_w1_dup", TOY, ["target", "target"], {"window": 1}),
        ("toy_w2", TOY, "target", {"window": 2}),
        ("toy_w2_case", TOY, "target", {"window": 2, "case_sensitive": True}),
        ("toy_w2_hard", TOY, "target", {"window": 2, "hard_cut": True}),
        ("toy_w2_keep", TOY, "target", {"window": 2, "keep_match": True}),
        ("toy_w2_overlap_patterns", TOY, ["target", "target reform", "targ*"], {"window": 2}),
        ("toy_w2_phrase_glob", TOY, "targ* refor*", {"window": 2}),
        ("toy_w2_regex", TOY, "targ", {"window": 2, "valuetype": "regex"}),
        ("toyp_w2", PADDED, "target", {"window": 2}),
    ],
)
def test_tokens_context(golden, source, pattern, options):
    want = lines(GOLDEN / "outputs" / f"{golden}.jsonl")
    found = contexts(tokens(source), pattern, **options, **R)
    assert found.tokens() == [row["tokens"] for row in want]
    columns = found.row_variables().columns
    for name in want[0]["docvars"]:
        assert columns[name].tolist() == [row["docvars"][name] for row in want]


def test_kwic():
    want = table("toy_kwic_overlap")
    found = contexts(tokens(TOY), ["target", "target reform", "targ*"], window=2, id="docname", overlaps="all")
    rows = found.to_frame().to_dict("records")
    key = ("docname", "from", "to", "pre", "keyword", "post", "pattern")
    # kwic orders hits of one place by pattern, then by length; the set of hits is the same.
    assert sorted(
        (r["document"], str(r["position"] + 1), str(r["position"] + len(r["match"].split())), " ".join(r["left"]),
         r["match"], " ".join(r["right"]), r["pattern"])
        for r in rows
    ) == sorted(tuple(row[name] for name in key) for row in want)  # fmt: skip


@pytest.mark.parametrize(("golden", "hard_cut"), [("get_context", False), ("get_context_hard", True)])
def test_get_context(golden, hard_cut):
    want = table(golden)
    found = contexts(
        corpus(),
        "immigration",
        window=6,
        valuetype="fixed",
        hard_cut=hard_cut,
        id="doc_id",
        tokenizer="whitespace",
        **R,
    )
    assert found.document_ids[found.documents].tolist() == [row["docname"] for row in want]
    assert found.matches() == [row["target"] for row in want]
    assert found.tokens() == [row["context"].split() for row in want]


# ------------------------------------------------------------------------------------------------ embeddings


@pytest.mark.parametrize(("golden", "matrix"), [("dem_immigr", True), ("dem_immigr_untransformed", False)])
def test_dem(golden, matrix):
    found = contexts(tokens(NOSTOP), "immigr*", window=6, **R)
    embedded = dem(found, vectors(), transform() if matrix else None, **R)
    np.testing.assert_allclose(embedded.matrix, array(golden), rtol=CLOSE, atol=CLOSE)
    assert embedded.names == listed(GOLDEN / "outputs" / f"{golden}.rows.txt")
    assert embedded.features == listed(GOLDEN / "outputs" / "dem_immigr_features.txt")
    rows = table("dem_immigr_docvars")
    for name in ("pattern", "party", "gender"):
        assert embedded.variables.columns[name].tolist() == [row[name] for row in rows]
    assert embedded.variables.columns["nominate_dim1"].tolist() == [float(row["nominate_dim1"]) for row in rows]


def test_mean_of_all():
    np.testing.assert_allclose(immigr().matrix.mean(axis=0), array("immig_wv").ravel(), rtol=CLOSE, atol=CLOSE)


def test_embed_target():
    np.testing.assert_allclose(legacy().matrix.mean(axis=0), array("embed_target_agg").ravel(), rtol=CLOSE, atol=CLOSE)
    assert [str(row + 1) for row in legacy().rows] == [row["obs"] for row in table("embed_target_obs")]
    assert legacy().features == listed(GOLDEN / "outputs" / "get_local_vocab.txt")


@cache
def several():
    found = contexts(tokens(NOSTOP), ["immigration", "welfare", "immigration reform", "economy"], window=6, **R)
    return dem_group(dem(found, vectors(), transform(), **R), "pattern", **R)


@pytest.mark.parametrize(
    ("golden", "means"),
    [
        ("dem_group_party", by_party),
        ("dem_group_pattern", lambda: dem_group(immigr(), "pattern", **R)),
        ("dem_group_multi", several),
    ],
)
def test_dem_group(golden, means):
    found = means()
    assert found.names == listed(GOLDEN / "outputs" / f"{golden}.rows.txt")
    np.testing.assert_allclose(found.matrix, array(golden), rtol=CLOSE, atol=CLOSE)


def test_dem_sample_sizes():
    drawn = dem_sample(immigr(), 0.1, by="party", replace=True, seed=42)
    parties = [row["party"] for row in table("dem_sample_party_docvars")]
    assert sorted(drawn.variables.columns["party"].tolist()) == sorted(parties)


# ------------------------------------------------------------------------------- co-occurrence and transforms


@cache
def pairs_of(source, weights="uniform"):
    return cooccurrences(tokens(source), window=6, weights=weights)


def test_fcm():
    pairs = pairs_of(NOSTOP)
    want = table("fcm_features")
    assert pairs.features == [row["feature"] for row in want]
    assert pairs.frequencies.tolist() == [int(row["margin"]) for row in want]
    head = {row["name"]: int(row["margin"]) for row in table("fcm_margin_head")}
    frequency = dict(zip(pairs.features, pairs.frequencies.tolist(), strict=True))
    assert all(frequency[name] == count for name, count in head.items() if name)  # R counts pads too, under ""


@pytest.mark.parametrize(
    ("golden", "source", "weights", "dimensions", "weighting"),
    [
        ("compute_transform_1", NOSTOP, "uniform", 300, 1),
        ("compute_transform_25", NOSTOP, "uniform", 300, 25),
        ("compute_transform_d50_100", NOSTOP, "uniform", 50, 100),
        ("compute_transform_d50_log", NOSTOP, "uniform", 50, "log"),
        ("compute_transform_log", NOSTOP, "uniform", 300, "log"),
        ("compute_transform_raw_wlog", RAW, "inverse", 300, "log"),
    ],
)
def test_compute_transform(golden, source, weights, dimensions, weighting):
    found = compute_transform(pairs_of(source, weights), vectors(dimensions), weighting=weighting, **R)
    want = array(golden)
    assert np.abs(found.matrix - want).max() / np.abs(want).max() < 1e-10


def test_compute_transform_that_is_not_determined():
    # README: the default weighting leaves 22 words for 300 dimensions, 278 columns of zeros, ‖A‖ ≈ 12 284.
    found = compute_transform(pairs_of(NOSTOP), vectors(), **R)
    assert int((np.abs(found.matrix).sum(axis=0) == 0).sum()) == 278
    assert np.linalg.norm(found.matrix) == pytest.approx(12284, abs=1)


def test_feature_sim():
    data = tokens(NOSTOP)
    halves = []
    for party in ("D", "R"):
        chosen = [place for place, value in enumerate(data["party"]) if value == party]
        pairs = cooccurrences({"tokens": [data["tokens"][place] for place in chosen]}, window=6)
        halves.append(fem(pairs, vectors(), transform()))
    found = feature_similarity(*halves, features=["immigration", "reform"])
    for feature, value in found.rows():
        a, b = (half[feature] for half in halves)
        assert value == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-12)


# -------------------------------------------------------------------------------------------------- describe


@pytest.mark.parametrize(
    ("golden", "make"),
    [
        ("nns_party", lambda: nearest(by_party(), k=5, candidates="contexts", **R)),
        ("nns_party_all", lambda: nearest(by_party(), k=None, **R)),
        ("nns_multi", lambda: nearest(several(), k=3, candidates="contexts", **R)),
        ("get_nns_party_nobs", lambda: nearest(immigr(), "party", k=10, candidates="contexts", **R)),
    ],
)
def test_nns(golden, make):
    assert_same(make(), golden, ("target", "feature", "rank"))


def test_find_nns():
    found = nearest(by_party().select([1]), k=10, candidates="contexts", **R)
    assert found["feature"].tolist() == [row["feature"] for row in table("find_nns_R")]


def test_bootstrap_nns_without_bootstrap():
    assert_same(nearest(legacy(), k=50, candidates="contexts", **R), "bootstrap_nns_nobs", ("feature",))


@pytest.mark.parametrize(
    ("golden", "make"),
    [
        ("cos_sim_party", lambda: similarity(by_party(), ["reform", "enforcement"], **R)),
        ("cos_sim_party_stem", lambda: similarity(by_party(), ["reform", "enforcement"], stem="porter", **R)),
        ("get_cos_sim_party_nobs", lambda: similarity(immigr(), ["reform", "enforce"], "party", **R)),
    ],
)
def test_cos_sim(golden, make):
    assert_same(make(), golden, ("target", "feature"))


@pytest.mark.parametrize(
    ("golden", "keys", "make"),
    [
        ("nns_ratio_party", ("feature",), lambda: ratio(by_party(), k=5, numerator="R", candidates="contexts", **R)),
        ("nns_ratio_party_all", ("feature",), lambda: ratio(by_party(), k=None, numerator="R", **R)),
        (
            "nns_ratio_party_stem",
            ("feature",),
            lambda: ratio(by_party(), k=10, numerator="R", candidates="contexts", stem="porter", **R),
        ),
        (
            "get_nns_ratio_party_nobs",
            ("feature", "group"),
            lambda: ratio(immigr(), "party", k=10, numerator="R", candidates="contexts", **R),
        ),
        ("contrast_nns_nobs", ("feature",), lambda: ratio(immigr(), "party", k=20, **R)),
    ],
)
def test_nns_ratio(golden, keys, make):
    assert_same(make(), golden, keys)


def test_contrasts_of_single_draws_are_those_of_contrast_nns():
    """compute_contrast, bootstrap_contrast and permute_contrast: one step of contrast_nns each, over all candidates."""
    groups = np.array(immigr().variables.columns["party"])
    want = {row["feature"]: row for row in table("contrast_nns_nobs")}
    first = list(dict.fromkeys(groups.tolist()))
    sides = [immigr().select(groups == party) for party in first]
    values = dict(compute_contrast(*sides).ratio.rows())
    assert {word: pytest.approx(float(row["value"]), rel=CLOSE) for word, row in want.items()} == {
        word: values[word] for word in want
    }
    drawn = {row["feature"]: row for row in table("contrast_nns_bs_perm")}
    boot = [dict(bootstrap_contrast(*sides, list(drawn), seed=seed).ratio.rows()) for seed in range(200)]
    dealt = [dict(permute_contrast(*sides, list(drawn), seed=seed).ratio.rows()) for seed in range(200)]
    for word, row in drawn.items():
        of_word = np.array([draw[word] for draw in boot])
        assert of_word.std(ddof=1) == pytest.approx(float(row["std.error"]), rel=0.3)
        assert of_word.mean() == pytest.approx(float(row["value"]), abs=3 * float(row["std.error"]) / 10)
        exceeding = np.mean([abs(draw[word] - 1) >= abs(float(row["value"]) - 1) for draw in dealt])
        assert exceeding == pytest.approx(float(row["p.value"]), abs=0.2)


@pytest.mark.parametrize(("golden", "column"), [("ncs_party", "context"), ("ncs_party_noctx", "name")])
def test_ncs(golden, column):
    found = nearest_contexts(immigr(), targets=by_party(), k=5, **R)
    want = table(golden)
    assert found["target"].tolist() == [row["target"] for row in want]
    assert found[column].tolist() == [row["context"] for row in want]
    np.testing.assert_allclose(found["value"], [float(row["value"]) for row in want], rtol=CLOSE)


def test_prototypical_context():
    found = typical_contexts(legacy(), k=3)
    unit = legacy().matrix / np.linalg.norm(legacy().matrix, axis=1, keepdims=True)
    scores = (unit @ unit.T).mean(axis=1)
    scores = (scores - scores.mean()) / scores.std(ddof=1)
    np.testing.assert_allclose(found["score"], np.sort(scores)[::-1][:3], rtol=1e-10)


def test_seq_cos_sim():
    found = contexts(corpus(), "equal", window=6, valuetype="fixed", tokenizer="whitespace", **R)
    features = ["immigration", "immigrants"]
    over = similarity_over(dem(found, vectors(), transform(), **R), "year", features, **R)
    want = table("get_seq_cos_sim")
    assert over["year"][:: len(features)].tolist() == [int(row["seqvar"]) for row in want]
    expected = [float(row[feature]) for row in want for feature in features]
    np.testing.assert_allclose(over["value"], expected, rtol=CLOSE)


@pytest.mark.parametrize(
    ("golden", "column", "window", "first", "second"),
    [
        ("get_grouped_similarity_1", "first_val", 6, ["reform", "system"], None),
        ("get_grouped_similarity_2", "val", 12, ["left", "lefty"], ["right", "rightwinger"]),
    ],
)
def test_grouped_similarity(golden, column, window, first, second):
    # conText keeps blanks as tokens here, which fill half of the window.
    found = contexts(corpus(), "immigration", window=window, valuetype="fixed", tokenizer=with_separators, **R)
    values = poles(dem(found, vectors(), transform(), **R), "year", first, second, **R)
    want = table(golden)
    assert [str(group) for group in values["group"]] == [row["group"] for row in want]
    np.testing.assert_allclose(values["value"], [float(row[column]) for row in want], rtol=CLOSE)


@pytest.mark.parametrize("language", ["porter", "english"])
def test_stems(language):
    want = table("wordstem")
    found = stems([row["word"] for row in want], language)
    different = {row["word"] for row, stem in zip(want, found, strict=True) if row[language] != stem}
    # Snowball 3 keeps "university" from falling together with "universe"; SnowballC has an older Snowball.
    assert different <= ({"university"} if language == "english" else set())


# ------------------------------------------------------------------------------------------------ regression

COLUMNS = {
    "normed.estimate.orig": "squared_norm",
    "normed.estimate.deflated": "estimate",
    "normed.estimate.beta.error.null": "noise",
    "n": "n",
    "n_obs": "contexts",
    "covariate_mean": "covariate_mean",
    "std.error": "std_error",
    "lower.ci": "conf_low",
    "upper.ci": "conf_high",
}


@cache
def short():
    data = tokens(NOSTOP)
    keep = [place for place, row in enumerate(data["tokens"]) if len(row) <= 100]
    return {key: [column[place] for place in keep] for key, column in data.items()}


BOTH = "immigration ~ party + gender"


@pytest.mark.parametrize(
    ("golden", "formula", "data", "options"),
    [
        ("ct_cluster_doc_det", BOTH, None, {"cluster": "docname", "intervals": None}),
        ("ct_cluster_doc_jack", BOTH, None, {"cluster": "docname", "intervals": "jackknife"}),
        ("ct_cluster_doc_perm", BOTH, None, {"cluster": "docname", "intervals": None}),
        ("ct_fulldoc_jack", ". ~ party", short, {"intervals": "jackknife"}),
        ("ct_fulldoc_jack_frac", ". ~ party", short, {"intervals": None}),
        ("ct_fulldoc_perm", ". ~ party", short, {"intervals": None}),
        ("ct_nominate_perm", "immigration ~ nominate_dim1", None, {"intervals": None}),
        ("ct_party_gender_det", BOTH, None, {"intervals": None}),
        ("ct_party_gender_perm", BOTH, None, {"intervals": None}),
        ("ct_phrase_det", '"immigration reform" ~ party', None, {"intervals": None}),
    ],
)
def test_context(golden, formula, data, options):
    given = tokens(NOSTOP) if data is None else data()
    fit = regress(formula, given, vectors(), transform(), window=6, permutations=0, **options, **R)
    assert fit.terms == listed(GOLDEN / "outputs" / f"{golden}_coef.rows.txt")
    np.testing.assert_allclose(fit.coefficients, array(f"{golden}_coef"), rtol=1e-8, atol=CLOSE)
    want = table(f"{golden}_normed")
    assert fit.table["term"].tolist() == [row["coefficient"] for row in want]
    for theirs, ours in COLUMNS.items():
        if theirs in want[0] and ours in fit.table:
            np.testing.assert_allclose(fit.table[ours], [float(row[theirs]) for row in want], rtol=CLOSE, err_msg=ours)
    if options["intervals"] == "jackknife":
        assert "std_error" in fit.table


def test_profiles():
    fit = regress(BOTH, tokens(NOSTOP), vectors(), transform(), window=6, intervals=None, permutations=0, **R)
    profiles = {f"{party}{gender}_wv": {"party": party, "gender": gender} for party in "DR" for gender in "FM"}
    found = {name: fit.nearest(profile, 10, candidates="contexts") for name, profile in profiles.items()}
    for row in table("ct_nns_groups"):
        place = int(row["rank"]) - 1
        assert found[row["target"]]["feature"][place] == row["feature"]
        assert found[row["target"]]["value"][place] == pytest.approx(float(row["value"]), abs=CLOSE)


def test_percentiles():
    options = {"intervals": None, "permutations": 0}
    fit = regress("immigration ~ nominate_dim1", tokens(NOSTOP), vectors(), transform(), window=6, **options, **R)
    words, matrix = vectors()
    for row in table("ct_percentile_cos_sim"):
        embedding = fit.predict({"nominate_dim1": float(row["nominate"])})
        word = matrix[words.index(row["feature"])]
        cosine = embedding @ word / np.linalg.norm(embedding) / np.linalg.norm(word)
        assert cosine == pytest.approx(float(row["value"]), abs=CLOSE)


# ---------------------------------------------------------- seeded in R: equal within the noise of 100 draws


def assert_near(found, name, keys, draws=100):
    want = {tuple(row[key] for key in keys): row for row in table(name)}
    common = 0
    for place in range(len(found)):
        row = want.get(tuple(str(found[key][place]) for key in keys))
        if row is None:
            continue  # neighbours of about the same rank may change places
        common += 1
        error = float(row["std.error"])
        assert abs(found["value"][place] - float(row["value"])) < 5 * error / np.sqrt(draws)
        assert found["std_error"][place] == pytest.approx(error, rel=0.3)
        for ours, theirs in (("conf_low", "lower.ci"), ("conf_high", "upper.ci")):
            assert abs(found[ours][place] - float(row[theirs])) < 1.2 * error
        if "p.value" in row:
            p = found["p_value"][place]  # of a ratio that is itself a mean over bootstraps
            assert abs(p - float(row["p.value"])) <= 5 * np.sqrt(max(p * (1 - p), 0.002) / draws)
    assert common >= 0.85 * len(want)


BOOT = {"intervals": "bootstrap", "draws": 1000, "seed": 1, **R}


@pytest.mark.parametrize(
    ("golden", "keys", "make"),
    [
        (
            "get_nns_party_bs",
            ("target", "feature"),
            lambda: nearest(immigr(), "party", k=10, candidates="contexts", **BOOT),
        ),
        (
            "get_cos_sim_party_bs",
            ("target", "feature"),
            lambda: similarity(immigr(), ["reform", "enforce"], "party", **BOOT),
        ),
        ("bootstrap_nns_bs", ("feature",), lambda: nearest(legacy(), k=50, candidates="contexts", **BOOT)),
        (
            "get_nns_ratio_party_bs_perm",
            ("feature", "group"),
            lambda: ratio(
                immigr(), "party", k=10, numerator="R", candidates="contexts", permutations=500, adjust="none", **BOOT
            ),
        ),
        ("contrast_nns_bs_perm", ("feature",), lambda: ratio(immigr(), "party", k=20, permutations=500, **BOOT)),
        (
            "get_ncs_party_bs",
            ("target", "context"),
            lambda: nearest_contexts(immigr(), "party", k=10, **BOOT),
        ),
    ],
)
def test_bootstraps(golden, keys, make):
    assert_near(make(), golden, keys)


@pytest.mark.parametrize(
    ("golden", "formula", "data", "options"),
    [
        ("ct_cluster_doc_perm", BOTH, None, {"cluster": "docname"}),
        ("ct_fulldoc_perm", ". ~ party", short, {}),
        ("ct_nominate_perm", "immigration ~ nominate_dim1", None, {}),
        ("ct_party_gender_perm", BOTH, None, {}),
    ],
)
def test_permutations(golden, formula, data, options):
    given = tokens(NOSTOP) if data is None else data()
    fit = regress(
        formula, given, vectors(), transform(), window=6, intervals=None, permutations=500, seed=1, **options, **R
    )
    for place, row in enumerate(table(f"{golden}_normed")):
        want, found = float(row["p.value"]), fit.table["p_value"][place]
        assert abs(found - want) <= 4 * np.sqrt(max(found * (1 - found), 0.002) / 100)


def test_part_of_the_jackknife():
    # R's one draw of half the rows must lie where ours do.
    want = float(table("ct_fulldoc_jack_frac_normed")[0]["std.error"])
    options = {"intervals": "jackknife", "permutations": 0, "jackknife_fraction": 0.5}
    errors = [
        regress(". ~ party", short(), vectors(), transform(), seed=seed, **options, **R).table["std_error"][0]
        for seed in range(10)
    ]
    assert abs(want - np.mean(errors)) < 3 * np.std(errors, ddof=1)
