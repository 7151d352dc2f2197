"""spaCy: vectors into a vocabulary, and the pipeline component that makes vectors for words that have none."""

import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, BadVectors
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion

spacy = pytest.importorskip("spacy")

import alacarte.spacy_component as component  # noqa: E402

ROOT = Path(__file__).parents[2]
WORDS = ["the", "cat", "sat", "on", "mat", "and", "purred", "dog", "."]
TEXT = "The blorp sat on the mat, and Blorp purred at zzyx."


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(5)
    vectors = WordVectors(WORDS, rng.normal(size=(len(WORDS), 6)))
    return ALaCarte(vectors, Transform(rng.normal(size=(6, 6)), settings=Reading(left=3, right=3)))


@pytest.fixture
def nlp(model):
    nlp = spacy.blank("en")
    nlp.add_pipe("alacarte").embedder = model
    return nlp


def tokens_of(model, doc):
    return [piece for token in doc for piece in model.tokens(token.text)]


# ------------------------------------------------------------------------------------------------- vocabularies


def test_a_vocabulary_is_filled_and_read_back(model):
    nlp = spacy.blank("en")
    model.vectors.to_spacy(nlp)
    assert WordVectors.of(nlp) == model.vectors
    assert [token.has_vector for token in nlp("cat Cat CAT")] == [True, False, False]
    again = spacy.blank("en").from_bytes(nlp.to_bytes())
    assert WordVectors.of(again) == model.vectors


def test_words_with_capitals_share_a_vector(model):
    nlp = spacy.blank("en")
    WordVectors(["cat", "Cat", "dog"], [[1.0], [2.0], [3.0]]).to_spacy(nlp, capitals=True)
    again = spacy.blank("en").from_bytes(nlp.to_bytes())
    for pipeline in (nlp, again):
        assert [token.vector[0] for token in pipeline("cat Cat CAT dog Dog DOG doG")] == [1, 2, 1, 3, 3, 3, 0]
    assert len(nlp.vocab.vectors.data) == 3


@pytest.mark.parametrize("on_collision", ["replace", "keep"])
def test_a_vocabulary_is_extended(on_collision):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("cat", np.array([1.0, 2.0], np.float32))
    nlp.vocab.set_vector("dog", np.array([3.0, 4.0], np.float32))
    new = WordVectors(["blorp", "dog"], [[5.0, 6.0], [7.0, 8.0]])
    with pytest.raises(BadVectors, match=r"'dog' has a vector.*on_collision"):
        new.to_spacy(nlp)
    new.to_spacy(nlp, on_collision=on_collision)
    assert {token.text: token.vector.tolist() for token in nlp("cat dog blorp")} == {
        "cat": [1.0, 2.0],
        "dog": [7.0, 8.0] if on_collision == "replace" else [3.0, 4.0],
        "blorp": [5.0, 6.0],
    }
    assert len(nlp.vocab.vectors.data) == 3
    with pytest.raises(BadVectors, match="2 values and these have 1"):
        WordVectors(["x"], [[1.0]]).to_spacy(nlp)


# ------------------------------------------------------------------------------------------------- the component


def test_words_without_a_vector_have_what_embed_makes_of_the_text(model, nlp):
    doc = nlp(TEXT)
    context = tokens_of(model, doc)
    by_text = {token.text: token for token in doc}
    for text in ("blorp", "Blorp", "at", "zzyx", ","):
        assert np.array_equal(by_text[text].vector, model.embed([context], text)), text
        assert by_text[text]._.vector_origin == "contexts"
    assert np.array_equal(by_text["blorp"].vector, model.embed(TEXT, "blorp"))  # as the model reads the text itself
    assert np.array_equal(by_text["The"].vector, model.vectors["the"])
    assert by_text["The"]._.vector_origin == "vectors"


@pytest.mark.parametrize("reading", [{}, {"unknown": "drop"}, {"positions": "linear"}, {"averaging": "context"}])
def test_long_texts_of_random_words(reading):
    """Only what is near a word is looked at, which must not show."""
    rng = np.random.default_rng(8)
    vectors = WordVectors(WORDS, rng.normal(size=(len(WORDS), 6)))
    model = ALaCarte(vectors, Transform(rng.normal(size=(6, 6)), settings=Reading(left=4, right=2, **reading)))
    nlp = spacy.blank("en")
    nlp.add_pipe("alacarte").embedder = model
    doc = nlp(" ".join(rng.choice([*WORDS[:8], *(f"x{i}" for i in range(40)), "xx/yy", "ZZ"], 300)))
    context = tokens_of(model, doc)
    unknown = {token.text for token in doc if token._.vector_origin == "contexts"}
    assert len(unknown) > 30
    for token in doc:
        if token.text in unknown:
            assert np.array_equal(token.vector, model.embed([context], token.text)), token.text


def test_docs_spans_and_similarities_use_the_vectors(nlp):
    doc = nlp(TEXT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # spaCy warns where there are no vectors
        assert doc.has_vector
        assert doc[0:2].has_vector
        np.testing.assert_allclose(doc.vector, np.mean([token.vector for token in doc], axis=0), rtol=1e-6)
        np.testing.assert_allclose(doc[1:3].vector, (doc[1].vector + doc[2].vector) / 2, rtol=1e-6)
        np.testing.assert_allclose(doc[1].vector_norm, np.linalg.norm(doc[1].vector), rtol=1e-6)
        cosine = doc[1].vector @ doc[2].vector / np.linalg.norm(doc[1].vector) / np.linalg.norm(doc[2].vector)
        assert doc[1].similarity(doc[2]) == pytest.approx(float(cosine), rel=1e-5)
        assert doc.similarity(doc) == pytest.approx(1)
        assert doc[0:3].similarity(doc) == pytest.approx(doc.similarity(doc[0:3]))
    with pytest.raises(BadVectors, match="same pipeline"):
        doc.similarity(spacy.blank("en")("another pipeline"))


def test_what_nothing_is_known_about_has_no_vector(nlp):
    doc = nlp("xx\n yy")
    assert not any(token.has_vector for token in doc)
    assert not doc.has_vector
    assert not doc.vector.any()
    assert {token._.vector_origin for token in doc} == {None}
    assert not nlp("").has_vector
    assert nlp("").vector.shape == (6,)


def test_the_vocabulary_of_the_pipeline_is_left_alone(model, nlp):
    nlp.vocab.set_vector("cat", np.ones(3, np.float32))
    doc = nlp("the cat")
    assert np.array_equal(doc[1].vector, model.vectors["cat"])
    assert nlp.vocab["cat"].vector.tolist() == [1, 1, 1]


def test_spelling_counts_where_the_model_has_learned_it(model):
    form = FormModel.fit(model.vectors, ridge=1.0, min_words=1)
    spelled = ALaCarte(model.vectors, model.transform, form=form, fusion=Fusion(0.0, 1.0, -1.0, typical=2.0))
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("alacarte")
    pipe.embedder = spelled
    doc = nlp("the cats sat")
    assert np.array_equal(doc[1].vector, spelled.embed([["the", "cats", "sat"]], "cats", form=True))
    assert doc[1]._.vector_origin == "contexts and spelling"
    assert nlp("cats")[0]._.vector_origin == "spelling"
    pipe.form = False
    assert nlp("the cats sat")[1]._.vector_origin == "contexts"
    again = spacy.blank("en")
    again.add_pipe("alacarte")
    again.from_bytes(nlp.to_bytes())
    assert np.array_equal(again("the cats sat")[1].vector, doc[1].vector)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_pipeline_is_saved_and_loaded(tmp_path, model, by_name):
    """The folder that the config names need not be there any more."""
    nlp = spacy.blank("en")
    folder = tmp_path / "model"
    if by_name:
        model.save(folder)
        nlp.add_pipe("alacarte", config={"model": str(folder), "form": False})
    else:
        nlp.add_pipe("alacarte").embedder = model
    expected = nlp(TEXT)[1].vector
    nlp.to_disk(tmp_path / "pipeline")
    nlp.to_disk(tmp_path / "pipeline")  # over itself
    if by_name:
        (folder / "model.json").rename(folder / "gone.json")
    loaded = spacy.load(tmp_path / "pipeline")
    assert np.array_equal(loaded(TEXT)[1].vector, expected)
    assert loaded.get_pipe("alacarte").form == (False if by_name else None)
    by_bytes = spacy.blank("en").from_bytes(nlp.to_bytes(), exclude=["alacarte"])
    by_bytes.add_pipe("alacarte")
    by_bytes.from_bytes(loaded.to_bytes())
    assert np.array_equal(by_bytes(TEXT)[1].vector, expected)
    by_bytes.to_disk(tmp_path / "again")  # vectors whose file is gone
    assert np.array_equal(spacy.load(tmp_path / "again")(TEXT)[1].vector, expected)


def test_a_model_that_was_learned_with_the_pipeline_s_tokenizer(tmp_path, model):
    nlp = spacy.blank("en")
    own = ALaCarte(model.vectors, model.transform, tokenizer=nlp)
    nlp.add_pipe("alacarte").embedder = own
    nlp.to_disk(tmp_path / "pipeline")
    assert np.array_equal(spacy.load(tmp_path / "pipeline")(TEXT)[1].vector, own.embed(TEXT, "blorp"))


def test_saved_docs_get_their_vectors_back(nlp):
    doc = nlp(TEXT)
    with pytest.warns(UserWarning, match="W109"):
        data = doc.to_bytes()
    saved = spacy.tokens.Doc(nlp.vocab).from_bytes(data)
    assert not saved[1].has_vector
    nlp.get_pipe("alacarte").set_hooks(saved)
    assert np.array_equal(saved[1].vector, doc[1].vector)
    assert saved[1]._.vector_origin == "contexts"


def test_a_component_without_a_model_says_so(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("alacarte")
    with pytest.raises(AlacarteError, match="has no model"):
        nlp("a text")
    nlp.to_disk(tmp_path / "empty")
    assert spacy.load(tmp_path / "empty").pipe_names == ["alacarte"]
    nlp.get_pipe("alacarte").source = str(tmp_path / "nowhere")
    with pytest.raises(AlacarteError, match="not a saved model"):
        nlp("a text")


def test_spacy_finds_the_component_by_itself(tmp_path, model):
    """By the entry point in pyproject.toml; and starting spaCy does not load the rest of the library."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["spacy_factories"]
    assert points == {"alacarte": f"{component.__name__}:{component.make_component.__name__}"}
    info = tmp_path / "pretend-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pretend\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[spacy_factories]\nalacarte = {points['alacarte']}\n")
    model.save(tmp_path / "model")
    code = (
        "import sys, spacy; nlp = spacy.blank('en'); assert 'alacarte.model.model' not in sys.modules; "
        f"nlp.add_pipe('alacarte', config={{'model': {str(tmp_path / 'model')!r}}}); print(nlp({TEXT!r})[1].has_vector)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "True", run.stderr
