"""What is one observation: the document with its reprints, or the level at which a variable varies."""

from dataclasses import replace

import numpy as np
import pytest

from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, BadFormula
from alacarte.regression import Inference, contexts, dem, dem_group, documents, nearest, ratio, regress, similarity

RNG = np.random.default_rng(0)
WORDS = [f"w{number}" for number in range(40)]
VECTORS = (WORDS, RNG.normal(size=(40, 5)))
FAST = Inference(permutations=19)


def text(times=1, length=12):
    """A document in which "tax" occurs some times, among words of its own."""
    rng = np.random.default_rng(RNG.integers(1 << 30))
    return " ".join(" ".join(["tax", *rng.choice(WORDS, length)]) for _ in range(times))


def speeches(speakers=24, each=3, times=1):
    """Documents of speakers, who have a party."""
    party = [["D", "R"][number % 2] for number in range(speakers)]
    rows = [(text(times), f"s{number}", party[number]) for number in range(speakers) for _ in range(each)]
    return dict(zip(("text", "speaker", "party"), map(list, zip(*rows, strict=True)), strict=True))


def test_a_document_is_one_observation():
    data = {"text": [text(4) for _ in range(30)], "group": ["a", "b"] * 15}
    fit = regress("tax ~ group", data, VECTORS, window=5, inference=FAST)
    assert (fit.clusters, len(fit)) == (30, 120)
    assert "clustered by document" in fit.summary()
    alone = regress("tax ~ group", data, VECTORS, window=5, cluster="context", inference=FAST)
    assert alone.clusters is None
    found = dem(contexts(data, "tax", window=5), VECTORS)
    table = similarity(found, ["w1"], "group", intervals=0.9)
    assert table.notes == ("clustered by document",)
    assert str(table).endswith("clustered by document")
    by_context = similarity(found, ["w1"], "group", intervals=0.9, cluster="context")
    assert not np.allclose(table["std_error"], by_context["std_error"])
    np.testing.assert_allclose(table["value"], by_context["value"])
    assert ratio(found, "group", k=3).notes == nearest(found, "group", k=3).notes == ("clustered by document",)


def test_one_context_in_each_document_needs_no_clusters():
    data = {"text": [text() for _ in range(30)], "group": ["a", "b"] * 15}
    assert regress("tax ~ group", data, VECTORS, window=5, inference=FAST).clusters is None


def test_the_level_at_which_a_variable_varies_is_looked_for():
    data = speeches()
    fit = regress("tax ~ party", data, VECTORS, window=5, inference=FAST)
    assert (fit.clusters, len(fit)) == (24, 72)
    assert "party varies between 24 values of speaker: clustered by speaker" in fit.summary()
    found = dem(contexts(data, "tax", window=5), VECTORS)
    assert "clustered by speaker" in similarity(found, ["w1"], "party").notes[0]
    assert "clustered by speaker" in ratio(found, "party", k=3).notes[0]


def test_a_speaker_who_is_missing_is_a_document_by_itself():
    data = speeches()
    data["speaker"][0] = data["speaker"][40] = None
    assert regress("tax ~ party", data, VECTORS, window=5, inference=FAST).clusters == 26


def test_a_lower_level_is_done_with_a_warning():
    data = speeches()
    with pytest.warns(AlacarteWarning, match=r"24 values of speaker.*about \d+% of such tests.*name 'speaker'"):
        fit = regress("tax ~ party", data, VECTORS, window=5, cluster="document", inference=FAST)
    assert fit.clusters == 72
    found = dem(contexts(data, "tax", window=5), VECTORS)
    with pytest.warns(AlacarteWarning, match="intervals will be too short"):
        similarity(found, ["w1"], "party", intervals=0.9, cluster="context")


def test_clusters_of_very_unequal_size_weigh_the_same():
    sizes = [60, 40, *[1] * 22]
    rows = [(text(), f"s{number}", "DR"[number % 2]) for number, size in enumerate(sizes) for _ in range(size)]
    data = dict(zip(("text", "speaker", "party"), map(list, zip(*rows, strict=True)), strict=True))
    fit = regress("tax ~ party", data, VECTORS, window=5, inference=FAST)
    assert "speakers weigh the same (1 to 60 contexts each): means are those of the typical speaker" in fit.summary()
    asked = regress("tax ~ party", data, VECTORS, window=5, equal_clusters=True, inference=FAST)
    np.testing.assert_allclose(fit.coefficients, asked.coefficients)
    found = dem(contexts(data, "tax", window=5), VECTORS)
    means = dem_group(found, "party")
    speaker = found.variables.columns["speaker"]
    own = [found.matrix[speaker == name].mean(axis=0) for name in [f"s{number}" for number in range(0, 24, 2)]]
    np.testing.assert_allclose(means["D"], np.mean(own, axis=0))
    with pytest.warns(AlacarteWarning, match="rests on fewer than"):
        by_context = regress("tax ~ party", data, VECTORS, window=5, equal_clusters=False, inference=FAST)
    assert not np.allclose(fit.coefficients, by_context.coefficients)


def test_clusters_within_which_a_variable_varies_keep_their_sizes():
    sizes = [60, 40, *[2] * 22]
    rows = [(text(), f"s{number}", "DR"[place % 2]) for number, size in enumerate(sizes) for place in range(size)]
    data = dict(zip(("text", "speaker", "party"), map(list, zip(*rows, strict=True)), strict=True))
    with pytest.warns(AlacarteWarning, match="rests on fewer than"):
        fit = regress("tax ~ party", data, VECTORS, window=5, cluster="speaker", inference=FAST)
    assert "weigh the same" not in fit.summary()


def reprinted():
    """30 documents, five of which are reprinted four times each with one word changed."""
    texts = [text(2) for _ in range(30)]
    copies = [" ".join(["changed", *texts[number].split()[1:]]) for number in range(5) for _ in range(4)]
    groups = ["a", "b"] * 15
    return {"text": texts + copies, "group": groups + [groups[number] for number in range(5) for _ in range(4)]}


def test_reprints_are_one_observation_with_their_first_print():
    fit = regress("tax ~ group", reprinted(), VECTORS, window=5, inference=FAST)
    assert (fit.clusters, len(fit)) == (30, 2 * 30 + 20)  # in the copies, the first "tax" was changed
    assert "20 contexts are in reprints of other documents" in fit.summary()


def test_reprints_may_be_dropped_or_kept():
    dropped = regress("tax ~ group", reprinted(), VECTORS, window=5, duplicates="drop", inference=FAST)
    assert (dropped.clusters, len(dropped)) == (30, 60)
    assert dropped.left_out["reprints of other documents"] == 20
    kept = regress("tax ~ group", reprinted(), VECTORS, window=5, duplicates="keep", inference=FAST)
    assert (kept.clusters, len(kept)) == (50, 80)
    assert len(contexts(documents(reprinted(), duplicates="drop"), "tax")) == 60
    with pytest.raises(BadCorpus, match="duplicates is"):
        documents(reprinted(), duplicates="no")


def test_vectors_from_elsewhere_know_of_no_documents():
    found = dem(contexts(speeches(), "tax", window=5), VECTORS)
    alone = replace(found, contexts=None)
    assert regress("~ party", alone, inference=FAST).clusters == 24
    with pytest.raises(AlacarteError, match="pass cluster"):
        similarity(replace(alone, variables=alone.variables.without("speaker")), ["w1"], "party", equal_clusters=True)


def test_effects_of_speakers_are_taken_out():
    """Coefficients are those beside a dummy for each speaker; speakers are the clusters."""
    data = speeches(each=4)
    rng = np.random.default_rng(1)
    data["year"] = rng.integers(1990, 2010, 96).tolist()
    data["chamber"] = rng.choice(["H", "S"], 96).tolist()
    fit = regress("tax ~ year + chamber | speaker", data, VECTORS, window=5, inference=FAST)
    dummies = regress("tax ~ year + chamber + C(speaker)", data, VECTORS, window=5, inference=FAST)
    assert fit.terms == ["year", "chamber[T.S]"]
    assert "speaker: 24 effects taken out" in fit.summary()
    assert fit.clusters == 24
    for term in fit.terms:
        np.testing.assert_allclose(fit.vector(term), dummies.vector(term), rtol=1e-6)
    apart = fit.contrast({"year": 2000, "chamber": "H"}, {"year": 2000, "chamber": "S"})
    np.testing.assert_allclose(apart["estimate"], fit.table["estimate"][1:])
    for call in (lambda: fit.predict({"year": 2000, "chamber": "H"}), fit.predict, lambda: fit.nearest({"year": 1})):
        with pytest.raises(BadFormula, match="are taken out"):
            call()


def test_two_kinds_of_effects_are_taken_out():
    data = speeches(each=5)
    rng = np.random.default_rng(1)
    data["year"] = rng.integers(2000, 2006, 120).tolist()
    data["x"] = rng.normal(size=120).tolist()
    fit = regress("tax ~ x | speaker + year", data, VECTORS, window=5, inference=FAST)
    dummies = regress("tax ~ x + C(speaker) + C(year)", data, VECTORS, window=5, inference=FAST)
    np.testing.assert_allclose(fit.vector("x"), dummies.vector("x"), rtol=1e-6)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("tax ~ party | speaker", "'party.*does not vary within the values of speaker"),
        ("tax ~ party | nobody", "asks for 'nobody'"),
        ("tax ~ party |", "behind it"),
        ("tax ~ | speaker", "no covariate before"),
        ("tax ~ party | speaker | text", "two |"),
        ("tax ~ party | log(speaker)", "behind it"),
    ],
)
def test_effects_that_cannot_be_taken_out(formula, message):
    with pytest.raises(BadFormula, match=message):
        regress(formula, speeches(), VECTORS, window=5, inference=FAST)


def test_a_measure_is_no_level():
    """Numbers with fractions that happen to repeat name no speakers; whole numbers may."""
    data = speeches()
    share = [round(int(name[1:]) / 7, 3) for name in data["speaker"]]
    alone = {name: column for name, column in data.items() if name != "speaker"}
    assert regress("tax ~ party", alone | {"share": share}, VECTORS, window=5, inference=FAST).clusters is None
    number = [int(name[1:]) for name in data["speaker"]]
    assert regress("tax ~ party", alone | {"number": number}, VECTORS, window=5, inference=FAST).clusters == 24
