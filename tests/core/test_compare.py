"""Every word of two corpora compared: `alacarte.compare`, the test behind it, `alc compare --all`."""

import csv
import json
import warnings

import numpy as np
import pytest
from scipy import special, stats
from typer.testing import CliRunner

from alacarte import ALaCarte, Corpus, Document, Targets, Transform, WordVectors, collect, compare, merge
from alacarte.cli import app
from alacarte.comparing import uses as comparing
from alacarte.comparing.clusters import balanced_groups
from alacarte.comparing.uses import Side, compare_sides, compare_uses
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, BadSums, NoOccurrences
from alacarte.inference.quadratic_forms import ratio_tail
from alacarte.transform.register import Register
from alacarte.uncertainty.spread import deviations
from alacarte.uncertainty.uncertainty import Uncertainty

D = 6
RNG = np.random.default_rng(0)
VECTORS = WordVectors([f"w{i}" for i in range(120)], RNG.normal(size=(120, D)) + np.eye(D)[0])
MODEL = ALaCarte(VECTORS, Transform(np.eye(D)))
WORDS = VECTORS.words
BY_SPEAKER = (
    "party varies between 40 values of speaker, hardly within them: clustered by speaker, so that what a single "
    "speaker does is no difference between groups. Clustered by document, it would be found too"
)


def documents(seed: int, count: int = 400, changed: bool = False, topics: bool = True) -> list[str]:
    """Documents of 40 words about one of 20 topics each; "w0" stands beside other words if `changed`."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        topic = rng.choice(WORDS[1:], 12) if topics else WORDS[1:]
        words = [*rng.choice(WORDS[1:], 20), *rng.choice(topic, 20)]
        rng.shuffle(words)
        near = rng.choice(WORDS[60:] if changed else WORDS[1:60], 6)
        texts.append(" ".join([*words, "w0", *near]))
    return texts


# -------------------------------------------------------------------------------------------- squared lengths


@pytest.mark.parametrize(("dimensions", "df"), [(1, 4.0), (5, 10.0), (40, 25.0)])
def test_equal_eigenvalues_give_an_f_distribution(dimensions, df):
    ratio = np.array([0.3, 0.9, 1.0, 1.2, 2.0, 5.0])
    found = ratio_tail(ratio, np.full(dimensions, 1 / dimensions), np.full(6, df))
    np.testing.assert_allclose(found, special.fdtrc(dimensions, dimensions * df, ratio), rtol=0.06)


def test_the_tail_is_that_of_the_largest_eigenvalue():
    rng = np.random.default_rng(1)
    eigenvalues, df = np.array([0.3, *np.full(70, 0.01)]), 12.0
    above = rng.chisquare(1, (200_000, 71)) @ eigenvalues
    below = rng.chisquare(df, (200_000, 71)) @ eigenvalues / df
    ratio = np.array([0.8, 1.0, 1.5, 2.5, 3.5])
    found = ratio_tail(ratio, eigenvalues, np.full(5, df))
    simulated = np.array([np.mean(above > value * below) for value in ratio])
    np.testing.assert_allclose(found, simulated, rtol=0.12)
    by_f = special.fdtrc(1 / np.sum(eigenvalues**2), df / np.sum(eigenvalues**2), ratio)
    assert found[-1] > 5 * by_f[-1]  # what an F distribution with as many dimensions says there


# --------------------------------------------------------------------------------------------------- the test


def side_of(contexts, deviations_of, others) -> Side:
    words = [str(i) for i in range(len(contexts))]
    vectors = WordVectors([f"v{i}" for i in range(len(others))], others)
    return Side.of(words, Uncertainty(words, deviations_of, vectors), contexts)


def simulated(words: int, seed: int, truth: np.ndarray, heavy: bool = False) -> Side:
    """Group sums of words; if `heavy`, one document in twelve is far off and has ten times the uses of any other."""
    rng = np.random.default_rng(seed)
    sizes = rng.poisson(6, size=(words, 16)) + 1.0
    shape = np.diag(np.linspace(0.3, 2, truth.shape[1]))
    means = truth[:, None] + rng.normal(size=(words, 16, truth.shape[1])) @ shape / np.sqrt(sizes)[..., None]
    if heavy:
        bursts = rng.random((words, 16)) < 1 / 12
        sizes = np.where(bursts, 30.0, sizes)
        means += np.where(bursts, 1.0, 0.0)[..., None] * rng.normal(size=means.shape) * 2
    sums, contexts = means * sizes[..., None], sizes.sum(axis=1).astype(np.int64)

    def deviations_of(rows):
        return deviations(sums[rows], sizes[rows], contexts[rows], np.eye(truth.shape[1]))

    others = rng.normal(size=(300, truth.shape[1]))
    return side_of(contexts, deviations_of, others)


@pytest.mark.parametrize("heavy", [False, True])
def test_words_that_are_used_alike_are_not_found(heavy):
    truth = np.random.default_rng(5).normal(size=(1500, 20)) * 2
    sides = simulated(1500, 1, truth, heavy), simulated(1500, 2, 1.4 * truth, heavy)  # longer, in the same direction
    found = compare_sides([str(i) for i in range(1500)], sides)
    p = np.array([item.p_value for item in found if not item.reason])
    assert len(p) > 1000
    assert not found.changed(0.05)
    assert np.mean(p <= 0.05) < 0.07
    assert np.mean(p <= 0.01) < 0.018
    if not heavy:
        assert stats.kstest(p, "uniform").statistic < 0.08


@pytest.mark.parametrize("factors", [1, 4])
def test_noise_that_words_share_is_not_whitened_away(factors):
    """Words come from the same documents. Units of measurement that were learned from the deviations of these, without
    the differences, made 46 of 100 words differ where all shared one noise, and 11 where they had parts of four."""
    words, d = 250, 24

    def side(truth, parts, seed):
        rng = np.random.default_rng(seed)
        size = np.linspace(1.5, 0.5, d)
        shared = np.einsum("wk,kgd->wgd", parts, rng.normal(size=(factors, 16, d)) * size)
        x = truth[:, None] + shared + 0.3 * rng.normal(size=(words, 16, d)) * size
        made = deviations(8 * x, np.full((words, 16), 8.0), np.full(words, 128), np.eye(d))
        counts = np.full(words, 128)
        return side_of(counts, lambda rows: made[rows], truth)

    rejected = []
    for sample in range(8):
        rng = np.random.default_rng(sample)
        truth = 3 * rng.normal(size=(words, d))
        parts = np.ones((words, 1)) if factors == 1 else rng.normal(size=(words, factors)) / np.sqrt(factors)
        sides = side(truth, parts, 2 * sample + 1), side(truth, parts, 2 * sample + 2)
        result = compare_sides([f"w{i}" for i in range(words)], sides)
        rejected.append(np.mean([item.p_value <= 0.05 for item in result]))
    assert np.mean(rejected) < 0.07


@pytest.mark.parametrize("words", [60, 1200])  # with few, the units are those of the vectors
def test_intervals_hold_the_distance_and_hold_zero_only_where_the_test_does_not_reject(words):
    rng = np.random.default_rng(3)
    held = []
    for seed in range(1200 // words):
        truth = rng.normal(size=(words, 20)) * 2
        other = truth + rng.normal(size=truth.shape) * rng.uniform(0, 2.5, (words, 1)) * (rng.random((words, 1)) < 0.8)
        cosines = np.einsum("wd,wd->w", *(rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (truth, other)))
        found = compare_sides(
            list(map(str, range(words))), (simulated(words, seed, truth), simulated(words, 99, other))
        )
        for item in found:
            assert (item.p_value <= 0.05) == (item.conf_low > 0)
            assert item.conf_low <= item.distance <= item.conf_high
            assert item.conf_high > 0
            distance = 1 - cosines[int(item.word)]
            if distance > 0.1:
                held.append(item.conf_low <= distance <= item.conf_high)
    assert len(held) > 500
    assert 0.93 < np.mean(held) < 0.97


def test_no_p_value_is_zero():
    truth = np.random.default_rng(5).normal(size=(300, 8))
    found = compare_sides(
        [f"w{i}" for i in range(300)], (simulated(300, 1, 1e3 * truth), simulated(300, 2, -1e3 * truth))
    )
    assert all(0 < item.p_value < 1e-30 for item in found if not item.reason)


def test_uses_that_crowd_in_three_groups_of_documents_are_not_tested():
    uses = np.array([0, 1, 0, 0, 2, 10, 3, 0, 0, 39, 35, 15, 4, 0, 3, 0.0])  # "!" in one half of 245 speeches
    rng = np.random.default_rng(0)
    sides = []
    for weights in (uses, np.full(16, 7.0)):
        sums = weights[:, None] * (np.ones(D) + rng.normal(size=(30, 16, D)))
        made = deviations(sums, np.tile(weights, (30, 1)), np.full(30, 112), np.eye(D))
        counts = np.full(30, 112)
        sides.append(side_of(counts, made.__getitem__, np.eye(D)))
    result = compare_sides([f"w{i}" for i in range(30)], (sides[0], sides[1]))
    assert {item.reason for item in result} == {
        "too few documents or clusters: the uses in a are worth about 4, and 5 are needed"
    }
    assert all(np.isnan(item.p_value) for item in result)


def test_blocks_do_not_change_a_number(monkeypatch):
    truth = np.random.default_rng(5).normal(size=(230, 8)) * 2
    sides = simulated(230, 1, truth), simulated(230, 2, truth)
    names = [f"w{i}" for i in range(230)]
    at_once = {item.word: item for item in compare_sides(names, sides)}
    monkeypatch.setattr(comparing, "WORDS_AT_ONCE", 7)
    by_sevens = {item.word: item for item in compare_sides(names, sides)}
    for word in names:
        for name in comparing.NUMBER_COLUMNS:
            assert getattr(by_sevens[word], name) == pytest.approx(getattr(at_once[word], name), rel=1e-7, abs=1e-12)


def test_sums_compared_at_once_and_induced_vectors_give_the_same():
    texts = documents(1), documents(2)
    targets = Targets(WORDS)
    sums = [MODEL.collect(text, targets, spread=16) for text in texts]
    together = {item.word: item for item in compare(MODEL, *sums)}
    separate = compare_uses(*(MODEL.apply(part) for part in sums))
    assert len(separate) == len(together) == 120
    for item in separate:
        for name in comparing.NUMBER_COLUMNS:
            assert getattr(item, name) == pytest.approx(getattr(together[item.word], name), rel=1e-12, abs=1e-12)


def test_a_word_whose_uses_are_in_one_document_has_a_reason_and_no_p():
    texts = documents(1)
    texts[0] += " rare w1 w2 rare w3" * 20
    found = compare(MODEL, texts, [text + " rare w5" for text in documents(2)], ["rare"], contexts=0)
    item = next(item for item in found if item.word == "rare")
    assert np.isnan(item.p_value)
    assert np.isnan(item.q_value)
    assert np.isnan(item.distance)
    assert item.reason.startswith("too few documents or clusters: the uses in a are worth about 1")
    assert found[-1] is item  # after all that were tested
    assert json.loads(found.to_json())[-1]["p_value"] is None


# --------------------------------------------------------------------------------------------------- the verb


def test_random_halves_of_a_text_do_not_differ():
    text = documents(3, 1200)
    order = np.random.default_rng(4).permutation(len(text))
    halves = [[text[i] for i in part] for part in (order[:600], order[600:])]
    found = compare(MODEL, *halves)
    assert len(found) == 120
    assert not found.changed()
    assert not found.contexts
    assert np.mean([item.p_value <= 0.05 for item in found]) < 0.1


def test_a_word_with_other_neighbours_is_found_and_its_lines_are_shown():
    found = compare(MODEL, documents(1), documents(2, changed=True), ["w0 w3"], contexts=2)
    assert [item.word for item in found.changed()] == ["w0"]
    first = found[0]
    assert first.q_value < 1e-6
    assert 0 < first.conf_low < first.distance < first.conf_high
    assert (first.contexts_a, first.contexts_b) == (400, 400)
    lines = found.contexts["w0"]
    assert len(lines.a) == len(lines.b) == 2
    # By hand: which window lies farthest along the difference of the two directions.
    vectors = [MODEL.induce(text, ["w0"])["w0"].astype(float) for text in (documents(1), documents(2, changed=True))]
    direction = vectors[0] / np.linalg.norm(vectors[0]) - vectors[1] / np.linalg.norm(vectors[1])
    windows = [text.split()[-17:] for text in documents(1)]  # ten words, "w0", six words
    scores = [sum(VECTORS[word] @ direction for word in [*window[:10], *window[11:]]) for window in windows]
    sampled = {
        " ".join([*window[:10], "[w0]", *window[11:]]): score for window, score in zip(windows, scores, strict=True)
    }
    assert lines.a[0] in sampled
    assert lines.a[1] in sampled
    assert sampled[lines.a[0]] >= sampled[lines.a[1]]
    assert sampled[lines.a[0]] >= np.quantile(scores, 0.98)  # 300 of 400 contexts are looked at


def test_what_all_words_of_a_text_have_in_common_is_no_difference():
    near = documents(2, topics=False)
    learned = collect(VECTORS, documents(3), window=4)  # in which words say something of each other
    tone = ["w7 w8"]  # one side says these all the time
    toned = [
        " ".join(f"{word} {tone[0]}" if place % 5 == 0 else word for place, word in enumerate(text.split()))
        for text in documents(1, topics=False)
    ]
    vectors = WordVectors(WORDS, np.asarray(VECTORS.matrix))
    many = [f"x{i}" for i in range(150)]
    rng = np.random.default_rng(0)
    sides = [
        [" ".join(f"{word} {rng.choice(many)}" for word in text.split()) for text in side] for side in (toned, near)
    ]
    model = ALaCarte(vectors, Transform(np.eye(D)), register=Register.of_sums(learned, vectors))
    plain = compare(model.without_register(), *sides, many, contexts=0, vocabulary=False)
    adapted = compare(model, *sides, many, contexts=0, vocabulary=False)
    assert len(plain.changed()) > 100
    assert len(adapted.changed()) < 30
    both = [model.induce(side, ["x1", "x2"], spread=16) for side in sides]
    alone, among = compare_uses(*both, "x1")[0], next(item for item in adapted if item.word == "x1")
    assert (alone.distance, alone.conf_low) == pytest.approx((among.distance, among.conf_low), rel=0.2)


def test_a_word_on_its_own_has_the_typical_spread_of_the_model():
    texts = documents(1), documents(2, changed=True)
    typical = MODEL.induce(texts[0], WORDS, spread=16).uncertainty.typical
    model = ALaCarte(VECTORS, Transform(np.eye(D)), typical=typical)
    alone = compare(model, *texts, ["w1"], vocabulary=False, contexts=0)[0]
    induced = compare_uses(*(model.induce(text, ["w1"], spread=16) for text in texts))[0]
    assert alone.conf_high == pytest.approx(induced.conf_high)
    assert alone.conf_high != compare(MODEL, *texts, ["w1"], vocabulary=False, contexts=0)[0].conf_high


def test_vectors_alone_patterns_and_shards():
    texts = documents(1), documents(2, changed=True)
    found = compare(VECTORS, *texts, Targets.glob("w11?"), contexts=0)
    assert found[0].word == "w0"
    assert "w11?" in {item.word for item in found}
    whole = [MODEL.collect(text, ["w0", "w1"], spread=16) for text in texts]
    parts = [
        merge([MODEL.collect(text[::2], ["w0", "w1"], spread=16), MODEL.collect(text[1::2], ["w0", "w1"], spread=16)])
        for text in texts
    ]
    assert compare(MODEL, *parts) == compare(MODEL, *whole)
    chosen = compare(MODEL, *whole, ["w1", "w9"], vocabulary=False)
    assert {item.word: item.reason for item in chosen} == {"w1": "", "w9": "does not occur in either text"}
    assert compare(MODEL, *(MODEL.apply(sums) for sums in whole)) == compare(MODEL, *whole)


def test_groups_of_a_table(tmp_path):
    pandas = pytest.importorskip("pandas")
    texts = [*documents(1), *documents(2, changed=True)]
    frame = pandas.DataFrame({"speech": texts, "party": ["D"] * 400 + ["R"] * 400})
    found = compare(MODEL, frame, by="party", groups=("D", "R"), text="speech", contexts=1)
    assert found.names == ("D", "R")
    assert [item.word for item in found.changed()] == ["w0"]
    assert found.items == compare(MODEL, texts[:400], texts[400:], contexts=0).items
    frame.to_csv(tmp_path / "speeches.csv")
    assert compare(MODEL, tmp_path / "speeches.csv", by="party", text="speech", contexts=1) == found
    for options, message in [
        ({"by": "state"}, "no column 'state'"),
        ({"by": "party", "groups": ("D", "X")}, "no row has 'X'"),
        ({"by": "party", "groups": ("D", "D")}, "nothing to compare"),
        ({"by": "speech"}, "name them as groups="),
    ]:
        with pytest.raises(AlacarteError, match=message):
            compare(MODEL, frame, text="speech", **options)


def test_a_corpus_that_can_be_read_only_once():
    found = compare(MODEL, iter(documents(1)), iter(documents(2, changed=True)), contexts=1)
    assert found[0].word == "w0"
    assert found.contexts["w0"].b


def test_what_cannot_be_compared(tmp_path):
    texts = documents(1)
    path = tmp_path / "a.txt"
    path.write_text("\n".join(texts))
    for first, second in [(texts, texts), (str(path), path), (Corpus(path), Corpus(path))]:
        with pytest.raises(BadCorpus, match=r"nothing to compare|in both corpora"):
            compare(MODEL, first, second)
    with pytest.raises(NoOccurrences, match=r"20 times in both corpora \('w0' has 9 and 8\); .*lower min_count"):
        compare(MODEL, ["w0"] * 9, ["w0 w1"] * 8)
    with pytest.raises(NoOccurrences, match="none occurs in both"):
        compare(MODEL, ["w1 w2"] * 50, ["w3 w4"] * 50)
    for words, vocabulary in ((None, True), (["w1"], False)):
        with pytest.raises(BadCorpus, match="the second corpus holds no text"):
            compare(MODEL, texts, ["", " "], words, vocabulary=vocabulary)
    with pytest.raises(BadSums, match="spread=16"):
        compare(MODEL, *[MODEL.collect(text, ["w1"]) for text in (texts, documents(2))])
    with pytest.raises(AlacarteError, match="two corpora"):
        compare(MODEL, texts)
    with pytest.raises(AlacarteError, match="names a column of a table"):
        compare(MODEL, texts, by="party")
    with pytest.raises(AlacarteError, match=r"no option 'shard'.*collect the sums"):
        compare(MODEL, texts, documents(2), shard=(1, 2))
    only = compare(MODEL, texts, documents(2), ["nowhere", "w0"], vocabulary=False, contexts=0)
    assert {item.word: item.reason for item in only}["nowhere"] == "does not occur in either text"


def test_two_models_are_not_compared():
    """The same text under two transforms once had p = 2.5e-14."""
    text = documents(1)
    turned = ALaCarte(VECTORS, Transform(np.linalg.qr(np.random.default_rng(8).normal(size=(D, D)))[0]))
    wider = ALaCarte(VECTORS, Transform(np.eye(D), settings=Reading(5, 5)))
    moved = WordVectors(WORDS, VECTORS.matrix + 1)
    elsewhere = ALaCarte(moved, Transform(np.eye(D)))
    induced = MODEL.induce(text, ["w0", "w1"], spread=16)
    for other, what in [(turned, "transform"), (wider, "settings"), (elsewhere, "vectors")]:
        theirs = other.induce(documents(2), ["w0", "w1"], spread=16)
        for pair in ((induced, theirs), (theirs.uncertainty, induced.uncertainty)):
            with pytest.raises(AlacarteError, match=f"other {what}.*induce both with the same model"):
                compare_uses(*pair)
        if what != "transform":  # `compare` has one model, whose transform both sides get
            with pytest.raises(AlacarteError, match=f"other {what}.*with the same model"):
                compare(MODEL, induced, theirs)
    again = ALaCarte(VECTORS, Transform(np.eye(D)))  # another object, and the same numbers
    assert compare_uses(induced, again.induce(documents(2), ["w0", "w1"], spread=16))[0].p_value < 1


def test_a_word_whose_vector_is_zero_on_one_side_is_not_tested():
    vectors = WordVectors([*WORDS, "nothing"], np.vstack([VECTORS.matrix, np.zeros((1, D))]))
    first = [f"{text} nothing odd nothing" if at % 4 else text for at, text in enumerate(documents(1))]
    alone = [f"{'nothing ' * n}odd nothing" for n in range(30)]
    found = compare(vectors, [*documents(1), *alone], first, ["odd"], contexts=0)
    odd = next(item for item in found if item.word == "odd")
    assert odd.reason == "its vector in a is zero, so it has no direction"
    unknown = compare(vectors, ["odd qq"] * 30, [*documents(1), *["odd qq"] * 30], ["odd"], min_count=2)[0]
    assert unknown.reason == "no word near it in a has a vector"
    assert all(np.isnan(getattr(odd, name)) for name in comparing.NUMBER_COLUMNS)
    assert {item.word for item in found if item.reason} == {"odd", "nothing"}  # the others' numbers are as they were
    assert all(np.isfinite(item.p_value) for item in found if not item.reason)


@pytest.mark.parametrize("names", [("shared", "own"), ("b", "a"), ("", " ")])
def test_groups_of_any_name(names):
    pandas = pytest.importorskip("pandas")
    texts = [*documents(1, 60), *documents(2, 60, changed=True)]
    frame = pandas.DataFrame({"text": texts, "side": [names[0]] * 60 + [names[1]] * 60})
    found = compare(MODEL, frame, by="side", groups=names, contexts=0)
    assert found.names == names
    plain = compare(MODEL, texts[:60], texts[60:], contexts=0)
    assert [item.word for item in found] == [item.word for item in plain]
    np.testing.assert_array_equal([item.p_value for item in found], [item.p_value for item in plain])


def test_a_volcano_plot_with_labels_that_do_not_overlap():
    pytest.importorskip("matplotlib").use("Agg")
    truth = np.random.default_rng(5).normal(size=(300, 8)) * 2
    other = truth.copy()
    other[:40] = np.random.default_rng(6).normal(size=(40, 8)) * 2
    found = compare_sides([f"w{i}" for i in range(300)], (simulated(300, 1, truth), simulated(300, 2, other)))
    axes = found.plot(labels=15, title="a $ sign")
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]  # not the lines to their points
    assert 3 <= len(boxes) <= 15
    assert not any(one.overlaps(two) for place, one in enumerate(boxes) for two in boxes[:place])


# ------------------------------------------------------------------------------------------------ command line


@pytest.fixture
def folder(tmp_path):
    MODEL.save(tmp_path / "model")
    (tmp_path / "a.txt").write_text("\n".join(documents(1)))
    (tmp_path / "b.txt").write_text("\n".join(documents(2, changed=True)))
    rows = [{"speech": text, "year": 1990} for text in documents(1)]
    rows += [{"speech": text, "year": 2000} for text in documents(2, changed=True)]
    (tmp_path / "both.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def alc(folder, *options):
    return CliRunner().invoke(app, ["compare", "--model", str(folder / "model"), *map(str, options)])


def test_the_command_on_two_files(folder):
    pytest.importorskip("matplotlib")
    files = folder / "a.txt", folder / "b.txt", "--all"
    result = alc(folder, *files, "--contexts", 1, "--top", 2, "--csv", folder / "x.csv", "--plot", folder / "x.png")
    assert result.exit_code == 0, result.output
    assert "w0, a: " in result.output
    assert "w0, b: " in result.output
    assert "1 of 120 words is used differently" in result.output
    assert "95% interval" in result.output
    assert (folder / "x.png").stat().st_size > 1000
    with (folder / "x.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["word"] == "w0"
    assert float(rows[0]["q_value"]) < 0.001
    assert len(rows) == 120
    found = json.loads(alc(folder, *files, "--json", "--contexts", 2, "--min-count", 30).stdout)
    assert found["words"][0]["word"] == "w0"
    assert len(found["contexts"]["w0"]["a"]) == 2


def test_the_command_on_named_words_and_on_a_table(folder):
    files = folder / "a.txt", folder / "b.txt"
    found = json.loads(alc(folder, *files, "--word", "w0", "--word", "nowhere", "--json").stdout)
    assert [row["word"] for row in found["words"]] == ["w0", "nowhere"]
    assert found["words"][1]["reason"] == "does not occur in either text"
    pytest.importorskip("pandas")
    table = folder / "both.jsonl", "--text", "speech", "--by", "year", "--all"
    result = alc(folder, *table, "--group", "1990", "--group", "2000", "--contexts", 0)
    assert result.exit_code == 0, result.output
    assert "uses in 1990" in result.output
    assert "1 of 120 words" in result.output
    one = json.loads(alc(folder, *table[:-1], "--word", "w0", "--json").stdout)
    assert (one["names"], [row["word"] for row in one["words"]]) == (["1990", "2000"], ["w0"])


def test_the_command_on_two_files_of_tokens(folder, tmp_path):
    for name in "ab":
        texts = (folder / f"{name}.txt").read_text().splitlines()
        lines = [json.dumps({"text": "nothing of this", "words": text.split()}) for text in texts]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    asked = "--word", "w0", "--json"
    files = tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--tokens", "words"
    assert "pass --tokens '' to read the text, or --text '' to read the tokens" in alc(folder, *files, *asked).output
    found = json.loads(alc(folder, *files, "--text", "", *asked).stdout)
    assert found == json.loads(alc(folder, folder / "a.txt", folder / "b.txt", *asked).stdout)


def test_saved_sums_are_compared_word_by_word(folder):
    """Numbers for a word that is tested, the reason for one that is not."""
    (folder / "b.txt").write_text((folder / "b.txt").read_text() + " rare w1 w2" * 9)
    (folder / "a.txt").write_text((folder / "a.txt").read_text().replace(" w0 ", " rare w0 "))
    for name in ("a", "b"):
        options = ["--corpus", folder / f"{name}.txt", "--spread", 16, "--save-sums", folder / f"{name}.sums"]
        options += [option for word in ("w0", "w7", "rare") for option in ("--word", word)]
        options += ["--model", folder / "model", "--out", folder / f"{name}.vec"]
        assert CliRunner().invoke(app, ["induce", *map(str, options)]).exit_code == 0
    files = folder / "a.sums", folder / "b.sums", "--min-count", 2
    result = alc(folder, *files)
    assert result.exit_code == 0, result.output
    lines = {line.split()[0].rstrip(":"): line for line in result.output.splitlines() if line.strip()}
    assert "uses in a" in lines["word"]
    assert "95% interval" in lines["word"]
    rows = {item["word"]: item for item in json.loads(alc(folder, *files, "--json").stdout)["words"]}
    assert rows["w0"]["p_value"] < 1e-4 < rows["w7"]["p_value"]
    assert f"{rows['w0']['conf_low']:.3f} … {rows['w0']['conf_high']:.3f}" in lines["w0"]
    assert f"{rows['w7']['p_value']:.4g}" in lines["w7"]
    assert "too few documents or clusters: the uses in b are worth about 1, and 5 are needed" in lines["rare"]
    assert "these are sums" in " ".join(alc(folder, *files, "--threads", "3").output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--all"], "a comparison has two sides"),
        (["a.txt", "a.txt", "--all"], "there is nothing to compare"),
        (["a.txt", "b.txt"], "test every word with --all"),
        (["a.txt", "b.txt", "--all", "--min-count", "5000"], "lower --min-count"),
        (["a.txt", "b.txt", "--all", "--group", "w1"], "pass one, and --by COLUMN"),
        (["both.jsonl", "--all"], "--by COLUMN"),
        (["both.jsonl", "--word", "w0", "--by", "year", "--unit", "file"], "groups are in a table"),
        (["both.jsonl", "--word", "w0", "--text", "speech", "--by", "speech"], "name them with --group"),
    ],
)
def test_what_the_command_refuses(folder, monkeypatch, options, message):
    monkeypatch.chdir(folder)
    result = alc(folder, *options)
    assert result.exit_code != 0
    assert message in " ".join(result.output.replace("│", " ").split())


# ---------------------------------------------------------------------------------------------------- clusters


def speeches(seed: int, speakers: int = 40, each: int = 15) -> list[dict[str, object]]:
    """Speeches of people who each use words in their own way; the parties that they belong to do not matter."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for speaker in range(speakers):
        own = rng.choice(WORDS, 15)
        for _ in range(each):
            words = [*rng.choice(WORDS, 12), *rng.choice(own, 28)]
            rng.shuffle(words)
            rows.append({"text": " ".join(words), "party": "DR"[speaker % 2], "speaker": f"s{speaker}"})
    return rows


def test_the_level_at_which_groups_vary_is_looked_for():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(speeches(1))
    frame["date"] = np.arange(len(frame)) % 50  # in both parties
    frame.loc[0, "speaker"] = "s1"  # of the other party
    options = {"by": "party", "contexts": 0}
    found = compare(MODEL, frame, **options)
    assert found.notes == (BY_SPEAKER,)
    assert str(found).endswith(f"{BY_SPEAKER}\n\n{found.finding}")
    assert found.finding.startswith("0 of ")
    assert found.finding in found._repr_html_()
    assert not found.changed()
    with pytest.warns(AlacarteWarning, match="varies between 40 values of speaker"):
        lower = compare(MODEL, frame, **options, cluster="document")
    assert len(lower.changed()) > 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = compare(MODEL, frame, **options, cluster="speaker")
        plain = compare(MODEL, frame.drop(columns="speaker"), **options)
    assert str(same.items) == str(found.items)  # NaN is not equal to itself
    assert str(plain.items) == str(lower.items)
    assert plain.notes == ()
    with pytest.raises(BadCorpus, match="no column 'state' among 'text', 'party', 'speaker'"):
        compare(MODEL, frame, **options, cluster="state")


def test_clusters_of_two_corpora_and_of_any_size():
    rows = speeches(2)
    sides = [[row for row in rows if row["party"] == party] for party in "DR"]
    corpora = [
        Corpus([Document(row["text"], values=(row["speaker"],)) for row in side], columns=["s"]) for side in sides
    ]
    assert not compare(MODEL, *corpora, cluster="s", contexts=0).changed()
    assert compare(MODEL, *corpora, contexts=0).changed()
    with pytest.raises(BadCorpus, match="no column 'x'"):
        compare(MODEL, *corpora, cluster="x")
    few = [
        Corpus([Document(row["text"], values=(place % 3,)) for place, row in enumerate(side)], columns=["s"])
        for side in sides
    ]
    reasons = {item.reason for item in compare(MODEL, *few, cluster="s", contexts=0)}
    assert all(reason.startswith("too few documents or clusters: the uses in") for reason in reasons)
    with pytest.raises(AlacarteError, match="sums no longer know"):
        compare(MODEL, *(MODEL.collect(corpus, ["w1"], spread=16) for corpus in corpora), cluster="s")


def test_clusters_are_dealt_whole_and_evenly():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 40, 600)
    groups = balanced_groups(clusters, np.ones(600, dtype=np.int64), 16)
    assert all(len(set(groups[clusters == cluster])) == 1 for cluster in range(40))
    loads = np.bincount(groups, minlength=16)
    assert loads.min() > 0.5 * loads.max()


def reprinted(texts: list[str], seed: int, share: float = 0.02) -> list[str]:
    """Each text twice, the second time with a share of its words changed."""
    rng = np.random.default_rng(seed)
    copies = [[rng.choice(WORDS) if rng.random() < share else word for word in text.split()] for text in texts]
    return [*texts, *map(" ".join, copies)]


def test_reprints_are_found_and_counted_once():
    text = documents(7, 600)
    once = text[:300], text[300:]
    twice = reprinted(once[0], 1), reprinted(once[1], 2)
    plain = {item.word: item for item in compare(MODEL, *once, contexts=0)}
    found = {how: compare(MODEL, *twice, contexts=0, duplicates=how) for how in ("keep", "cluster", "drop")}
    assert found["keep"].notes == ()
    [sentence] = found["cluster"].notes
    assert sentence.endswith("documents of b are reprints; they count with the first print as one piece of evidence")
    assert int(sentence.split()[0]) > 290
    assert found["drop"].notes == (sentence.partition("they")[0] + "they are left out",)
    ratio = {
        how: np.median([item.statistic / plain[item.word].statistic for item in result])
        for how, result in found.items()
    }
    assert ratio["keep"] > 1.3  # the noise seems to be smaller than it is
    assert ratio["cluster"] == pytest.approx(1, abs=0.15)
    assert ratio["drop"] == pytest.approx(1, abs=0.15)
    assert all(abs(item.contexts_a - plain[item.word].contexts_a) < 9 for item in found["drop"])
    with pytest.raises(AlacarteError, match="duplicates: 'cluster', 'drop', 'keep', not 'no'"):
        compare(MODEL, *once, duplicates="no")


def test_the_command_takes_clusters_and_reprints(folder):
    table = folder / "speeches.jsonl"
    table.write_text("\n".join(map(json.dumps, speeches(1))))
    options = table, "--by", "party", "--all", "--contexts", 0, "--json"
    found = json.loads(alc(folder, *options).stdout)
    assert found["notes"] == [BY_SPEAKER]
    assert json.loads(alc(folder, *options, "--cluster", "speaker").stdout)["words"] == found["words"]
    twice = folder / "twice.txt"
    twice.write_text("\n".join(documents(3) * 2))
    files = folder / "a.txt", twice, "--all", "--contexts", 0, "--json"
    assert json.loads(alc(folder, *files).stdout)["notes"][0].startswith("400 documents of b are reprints")
    assert json.loads(alc(folder, *files, "--duplicates", "keep").stdout)["notes"] == []
