"""What R's conText 3.0.1 gives, number by number: deterministic outputs to 1e-6, seeded ones within their noise.

The inputs are read from ../shared; every test names the golden file it compares with.
"""

import csv
import json
import lzma
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from alacarte.errors import NotEnoughData
from alacarte.regression import compat, documents, poles, similarity_over, typical_contexts

pytestmark = pytest.mark.real
pytest.importorskip("formulaic")
pytest.importorskip("snowballstemmer")

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "data" / "regression" / "context-golden"
CLOSE = 1e-6


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
    found = compat.tokens_context(tokens("tokens_nostop_feats.jsonl.xz"), "immigr*")
    return compat.dem(found, vectors(), transform())


@cache
def by_party():
    return compat.dem_group(immigr(), "party")


@cache
def raw_contexts(hard_cut=False):
    """What get_context finds in the raw corpus."""
    read = documents(corpus(), tokenizer="whitespace", id="doc_id")
    return compat.tokens_context(read, "immigration", valuetype="fixed", hard_cut=hard_cut)


@cache
def legacy():
    return compat.dem(raw_contexts(), vectors(), transform())


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
        ("tokens_context_immigr_w6_keepkw", NOSTOP, "immigr*", {"rm_keyword": False}),
        ("tokens_context_multi", NOSTOP, ["immigration", "welfare", "immigration reform", "economy"], {}),
        ("tokens_context_raw_immigration_w6", RAW, "immigration", {}),
        ("toy_w1_dup", TOY, ["target", "target"], {"window": 1}),
        ("toy_w2", TOY, "target", {"window": 2}),
        ("toy_w2_case", TOY, "target", {"window": 2, "case_insensitive": False}),
        ("toy_w2_hard", TOY, "target", {"window": 2, "hard_cut": True}),
        ("toy_w2_keep", TOY, "target", {"window": 2, "rm_keyword": False}),
        ("toy_w2_overlap_patterns", TOY, ["target", "target reform", "targ*"], {"window": 2}),
        ("toy_w2_phrase_glob", TOY, "targ* refor*", {"window": 2}),
        ("toy_w2_regex", TOY, "targ", {"window": 2, "valuetype": "regex"}),
        ("toyp_w2", PADDED, "target", {"window": 2}),
    ],
)
def test_tokens_context(golden, source, pattern, options):
    want = lines(GOLDEN / "outputs" / f"{golden}.jsonl")
    found = compat.tokens_context(tokens(source), pattern, **options)
    assert found.tokens() == [row["tokens"] for row in want]
    columns = found.row_variables().columns
    for name in want[0]["docvars"]:
        assert columns[name].tolist() == [row["docvars"][name] for row in want]


def test_kwic():
    want = table("toy_kwic_overlap")
    read = documents(tokens(TOY), id="docname")
    found = compat.tokens_context(read, ["target", "target reform", "targ*"], window=2)
    # kwic orders matches of one place by pattern, then by length; the set of matches is the same.
    assert sorted(zip(found.document_names, found.variables.columns["pattern"], found.tokens(), strict=True)) == sorted(
        (row["docname"], row["keyword"], f"{row['pre']} {row['post']}".split()) for row in want
    )


@pytest.mark.parametrize(("golden", "hard_cut"), [("get_context", False), ("get_context_hard", True)])
def test_get_context(golden, hard_cut):
    want = table(golden)
    found = raw_contexts(hard_cut)
    assert found.document_names.tolist() == [row["docname"] for row in want]
    assert found.variables.columns["pattern"].tolist() == [row["target"] for row in want]
    assert found.tokens() == [row["context"].split() for row in want]


# ------------------------------------------------------------------------------------------------ embeddings


@pytest.mark.parametrize(("golden", "matrix"), [("dem_immigr", True), ("dem_immigr_untransformed", False)])
def test_dem(golden, matrix):
    found = compat.tokens_context(tokens(NOSTOP), "immigr*")
    embedded = compat.dem(found, vectors(), transform() if matrix else None)
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
    found = compat.tokens_context(tokens(NOSTOP), ["immigration", "welfare", "immigration reform", "economy"])
    return compat.dem_group(compat.dem(found, vectors(), transform()), "pattern")


@pytest.mark.parametrize(
    ("golden", "means"),
    [
        ("dem_group_party", by_party),
        ("dem_group_pattern", lambda: compat.dem_group(immigr(), "pattern")),
        ("dem_group_multi", several),
    ],
)
def test_dem_group(golden, means):
    found = means()
    assert found.names == listed(GOLDEN / "outputs" / f"{golden}.rows.txt")
    np.testing.assert_allclose(found.matrix, array(golden), rtol=CLOSE, atol=CLOSE)


def test_dem_sample_sizes():
    drawn = compat.dem_sample(immigr(), 0.1, by="party", replace=True, seed=42)
    parties = [row["party"] for row in table("dem_sample_party_docvars")]
    assert sorted(drawn.variables.columns["party"].tolist()) == sorted(parties)


# ------------------------------------------------------------------------------- co-occurrence and transforms


def test_fcm():
    """The features and how often each occurs, of those that are near a word with a vector."""
    found = compat.fem(tokens(NOSTOP)["tokens"], vectors())
    want = {row["feature"]: int(row["margin"]) for row in table("fcm_features")}
    counts = dict(zip(found.names, found.counts.tolist(), strict=True))
    assert len(counts) > 0.99 * len(want)
    assert counts == {name: want[name] for name in counts}
    assert found.names == [name for name in want if name in counts]


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
    found = compat.compute_transform(tokens(source)["tokens"], vectors(dimensions), weighting, weights=weights)
    want = array(golden)
    assert np.abs(found.matrix - want).max() / np.abs(want).max() < CLOSE


def test_compute_transform_that_is_not_determined():
    """conText's default leaves 22 words for 300 dimensions, and 278 columns of zeros."""
    with pytest.raises(NotEnoughData, match="22 words are too few"):
        compat.compute_transform(tokens(NOSTOP)["tokens"], vectors())


def test_feature_sim():
    data = tokens(NOSTOP)
    halves = []
    for party in ("D", "R"):
        chosen = [place for place, value in enumerate(data["party"]) if value == party]
        halves.append(compat.fem([data["tokens"][place] for place in chosen], vectors(), transform()))
    found = compat.feature_sim(*halves, features=["immigration", "reform"])
    for feature, value in found.rows():
        a, b = (half[feature] for half in halves)
        assert value == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-12)


# -------------------------------------------------------------------------------------------------- describe


@pytest.mark.parametrize(
    ("golden", "make"),
    [
        ("nns_party", lambda: compat.nns(by_party(), 5, "contexts")),
        ("nns_party_all", lambda: compat.nns(by_party(), None)),
        ("nns_multi", lambda: compat.nns(several(), 3, "contexts")),
        ("get_nns_party_nobs", lambda: compat.get_nns(immigr(), "party", candidates="contexts")),
    ],
)
def test_nns(golden, make):
    assert_same(make(), golden, ("target", "feature", "rank"))


def test_find_nns():
    found = compat.nns(by_party().select([1]), 10, "contexts")
    assert found["feature"].tolist() == [row["feature"] for row in table("find_nns_R")]


def test_bootstrap_nns_without_bootstrap():
    assert_same(compat.get_nns(legacy(), N=50, candidates="contexts"), "bootstrap_nns_nobs", ("feature",))


@pytest.mark.parametrize(
    ("golden", "make"),
    [
        ("cos_sim_party", lambda: compat.cos_sim(by_party(), ["reform", "enforcement"])),
        ("cos_sim_party_stem", lambda: compat.cos_sim(by_party(), ["reform", "enforcement"], "porter")),
        ("get_cos_sim_party_nobs", lambda: compat.get_cos_sim(immigr(), "party", ["reform", "enforce"])),
    ],
)
def test_cos_sim(golden, make):
    assert_same(make(), golden, ("target", "feature"))


@pytest.mark.parametrize(
    ("golden", "keys", "make"),
    [
        ("nns_ratio_party", ("feature",), lambda: compat.nns_ratio(by_party(), 5, "R", "contexts")),
        ("nns_ratio_party_all", ("feature",), lambda: compat.nns_ratio(by_party(), None, "R")),
        (
            "nns_ratio_party_stem",
            ("feature",),
            lambda: compat.nns_ratio(by_party(), 10, "R", "contexts", "porter"),
        ),
        (
            "get_nns_ratio_party_nobs",
            ("feature", "group"),
            lambda: compat.get_nns_ratio(immigr(), "party", numerator="R", candidates="contexts"),
        ),
        ("contrast_nns_nobs", ("feature",), lambda: compat.contrast_nns(immigr(), "party")),
    ],
)
def test_nns_ratio(golden, keys, make):
    assert_same(make(), golden, keys)


@pytest.mark.parametrize(("golden", "column"), [("ncs_party", "context"), ("ncs_party_noctx", "name")])
def test_ncs(golden, column):
    found = compat.ncs(by_party(), immigr())
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
    read = documents(corpus(), tokenizer="whitespace")
    found = compat.dem(compat.tokens_context(read, "equal", valuetype="fixed"), vectors(), transform())
    features = ["immigration", "immigrants"]
    values = {row[:2]: row[2] for row in similarity_over(found, "year", features).rows()}
    for row in table("get_seq_cos_sim"):
        for feature in features:
            expected = float(row[feature]) if row[feature] != "NA" else None
            found_value = values.get((int(row["seqvar"]), feature))
            assert found_value == (expected if expected is None else pytest.approx(expected, rel=CLOSE))


@pytest.mark.parametrize(
    ("golden", "column", "window", "first", "second"),
    [
        ("get_grouped_similarity_1", "first_val", 6, ["reform", "system"], None),
        ("get_grouped_similarity_2", "val", 12, ["left", "lefty"], ["right", "rightwinger"]),
    ],
)
@pytest.mark.filterwarnings("ignore:1 of the features have no vector")
def test_grouped_similarity(golden, column, window, first, second):
    # conText keeps blanks as tokens here, which fill half of the window.
    read = documents(corpus(), tokenizer=compat.with_separators)
    found = compat.tokens_context(read, "immigration", window=window, valuetype="fixed")
    values = poles(compat.dem(found, vectors(), transform()), "year", first, second)
    want = table(golden)
    assert [str(group) for group in values["group"]] == [row["group"] for row in want]
    np.testing.assert_allclose(values["value"], [float(row[column]) for row in want], rtol=CLOSE)


@pytest.mark.parametrize("language", ["porter", "english"])
def test_stems(language):
    want = table("wordstem")
    found = compat.stems([row["word"] for row in want], language)
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


BY_DOCUMENT = {"cluster_variable": "docname"}
NOTHING = {"jackknife": False, "num_permutations": 0}


@pytest.mark.parametrize(
    ("golden", "formula", "data", "options"),
    [
        ("ct_cluster_doc_det", BOTH, None, BY_DOCUMENT),
        ("ct_cluster_doc_jack", BOTH, None, BY_DOCUMENT | {"jackknife": True}),
        ("ct_cluster_doc_perm", BOTH, None, BY_DOCUMENT),
        ("ct_fulldoc_jack", ". ~ party", short, {"jackknife": True}),
        ("ct_fulldoc_jack_frac", ". ~ party", short, {}),
        ("ct_fulldoc_perm", ". ~ party", short, {}),
        ("ct_nominate_perm", "immigration ~ nominate_dim1", None, {}),
        ("ct_party_gender_det", BOTH, None, {}),
        ("ct_party_gender_perm", BOTH, None, {}),
        ("ct_phrase_det", '"immigration reform" ~ party', None, {}),
    ],
)
def test_context(golden, formula, data, options):
    given = tokens(NOSTOP) if data is None else data()
    fit = compat.conText(formula, given, vectors(), transform(), **NOTHING | options)
    assert fit.terms == listed(GOLDEN / "outputs" / f"{golden}_coef.rows.txt")
    np.testing.assert_allclose(fit.coefficients, array(f"{golden}_coef"), rtol=CLOSE, atol=CLOSE)
    want = table(f"{golden}_normed")
    assert fit.table["term"].tolist() == [row["coefficient"] for row in want]
    for theirs, ours in COLUMNS.items():
        if theirs in want[0] and ours in fit.table:
            np.testing.assert_allclose(fit.table[ours], [float(row[theirs]) for row in want], rtol=CLOSE, err_msg=ours)
    assert ("std_error" in fit.table) == ("jackknife" in options)


def test_profiles():
    fit = compat.conText(BOTH, tokens(NOSTOP), vectors(), transform(), **NOTHING)
    profiles = {f"{party}{gender}_wv": {"party": party, "gender": gender} for party in "DR" for gender in "FM"}
    found = {name: fit.nearest(profile, 10, candidates="contexts") for name, profile in profiles.items()}
    for row in table("ct_nns_groups"):
        place = int(row["rank"]) - 1
        assert found[row["target"]]["feature"][place] == row["feature"]
        assert found[row["target"]]["value"][place] == pytest.approx(float(row["value"]), abs=CLOSE)


def test_percentiles():
    fit = compat.conText("immigration ~ nominate_dim1", tokens(NOSTOP), vectors(), transform(), **NOTHING)
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


BOOT = {"num_bootstraps": 1000, "seed": 1}


@pytest.mark.parametrize(
    ("golden", "keys", "make"),
    [
        (
            "get_nns_party_bs",
            ("target", "feature"),
            lambda: compat.get_nns(immigr(), "party", candidates="contexts", **BOOT),
        ),
        (
            "get_cos_sim_party_bs",
            ("target", "feature"),
            lambda: compat.get_cos_sim(immigr(), "party", ["reform", "enforce"], **BOOT),
        ),
        ("bootstrap_nns_bs", ("feature",), lambda: compat.get_nns(legacy(), N=50, candidates="contexts", **BOOT)),
        (
            "get_nns_ratio_party_bs_perm",
            ("feature", "group"),
            lambda: compat.get_nns_ratio(
                immigr(), "party", numerator="R", candidates="contexts", num_permutations=500, **BOOT
            ),
        ),
        (
            "contrast_nns_bs_perm",
            ("feature",),
            lambda: compat.contrast_nns(immigr(), "party", num_permutations=500, **BOOT),
        ),
        (
            "get_ncs_party_bs",
            ("target", "context"),
            lambda: compat.get_ncs(immigr(), "party", N=10, **BOOT),
        ),
    ],
)
def test_bootstraps(golden, keys, make):
    assert_near(make(), golden, keys)


@pytest.mark.parametrize(
    ("golden", "formula", "data", "options"),
    [
        ("ct_cluster_doc_perm", BOTH, None, BY_DOCUMENT),
        ("ct_fulldoc_perm", ". ~ party", short, {}),
        ("ct_nominate_perm", "immigration ~ nominate_dim1", None, {}),
        ("ct_party_gender_perm", BOTH, None, {}),
    ],
)
def test_permutations(golden, formula, data, options):
    given = tokens(NOSTOP) if data is None else data()
    fit = compat.conText(
        formula, given, vectors(), transform(), jackknife=False, num_permutations=500, seed=1, **options
    )
    for place, row in enumerate(table(f"{golden}_normed")):
        want, found = float(row["p.value"]), fit.table["p_value"][place]
        assert abs(found - want) <= 4 * np.sqrt(max(found * (1 - found), 0.002) / 100)
