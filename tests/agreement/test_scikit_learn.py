"""The embedders among scikit-learn's own: frames out, columns in, several processes, metadata that is routed."""

import numpy as np
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.utils import get_tags

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.documents import NgramEmbedder

RNG = np.random.default_rng(4)
WORDS = WordVectors([f"w{i}" for i in range(30)], RNG.normal(size=(30, 4)))
TEXTS = [" ".join(RNG.choice(WORDS.words[:12] if label else WORDS.words[10:], 15)) for label in [0, 1] * 20]
LABELS = [0, 1] * 20
MODEL = ALaCarte(WORDS, Transform(np.eye(4)))
EMBEDDERS = {
    "given vectors": lambda: NgramEmbedder(WORDS, n=2, ngrams={" ".join(WORDS.words[:2]): np.ones(4)}),
    "a model": lambda: NgramEmbedder(MODEL, n=2),
}


@pytest.fixture(params=EMBEDDERS.values(), ids=EMBEDDERS)
def make(request):
    return request.param


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_out(make, library):
    module = pytest.importorskip(library)
    plain, framed = make(), make().set_output(transform=library)
    for method in ("fit_transform", "transform"):
        expected, frame = getattr(plain, method)(TEXTS), getattr(framed, method)(TEXTS)
        assert isinstance(frame, module.DataFrame)
        assert list(frame.columns) == framed.get_feature_names_out().tolist()
        np.testing.assert_array_equal(frame.to_numpy(), expected)
    assert len(set(frame.columns)) == expected.shape[1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_a_frame_beside_others(make, library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"text": TEXTS, "year": list(range(40))})
    columns = make_column_transformer((make(), "text"), ("passthrough", ["year"])).set_output(transform=library)
    out = columns.fit_transform(frame)
    assert isinstance(out, module.DataFrame)
    assert list(out.columns) == columns.get_feature_names_out().tolist()
    assert list(out.columns)[-1] == "passthrough__year"
    assert out.columns[0].endswith("__1gram0")
    np.testing.assert_array_equal(out.to_numpy()[:, :-1].astype(np.float32), make().fit_transform(TEXTS))
    np.testing.assert_array_equal(make().fit_transform(frame["text"]), make().fit_transform(TEXTS))


def test_beside_a_bag_of_words(make):
    union = make_union(make(), CountVectorizer()).fit(TEXTS)
    assert union.transform(TEXTS).shape == (40, len(union.get_feature_names_out()))


def test_several_processes_give_what_one_gives():
    """So estimators, with their vectors and models, travel to other processes and back."""
    results = []
    for jobs in (1, 2):
        pipeline = make_pipeline(NgramEmbedder(MODEL, threads=1), LogisticRegression())
        search = GridSearchCV(pipeline, {"ngramembedder__n": [1, 2]}, cv=2, n_jobs=jobs, error_score="raise")
        results.append(search.fit(TEXTS, LABELS))
    np.testing.assert_allclose(*(search.cv_results_["mean_test_score"] for search in results))
    np.testing.assert_array_equal(*(search.predict(TEXTS) for search in results))


def test_metadata_is_routed_past_the_embedder(make):
    weights = RNG.uniform(size=40)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = LogisticRegression().set_fit_request(sample_weight=True)
        routed = make_pipeline(make(), classifier).fit(TEXTS, LABELS, sample_weight=weights)
        with pytest.raises(TypeError, match="sample_weight"):
            make_pipeline(make(), LogisticRegression().set_fit_request(sample_weight=False)).fit(
                TEXTS, LABELS, sample_weight=weights
            )
    expected = LogisticRegression().fit(make().fit_transform(TEXTS), LABELS, sample_weight=weights)
    np.testing.assert_allclose(routed[-1].coef_, expected.coef_)


def test_tags_are_those_of_scikit_learns_own_vectorizers(make):
    ours, theirs = get_tags(make()), get_tags(CountVectorizer())
    assert ours.input_tags == theirs.input_tags
    assert (ours.requires_fit, ours.no_validation) == (theirs.requires_fit, theirs.no_validation)
    assert ours.estimator_type == theirs.estimator_type


def test_a_representation_for_notebooks(make):
    assert type(make()).__name__ in make()._repr_html_()
    assert repr(make()).startswith(f"{type(make()).__name__}(")
