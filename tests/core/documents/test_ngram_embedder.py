import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.contexts.reading import Reading
from alacarte.documents import NgramEmbedder, _leaving_out
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus

rng = np.random.default_rng(0)  # in the order of this file; what tests draw themselves is not compared with constants
WORDS = WordVectors(["a", "b", "c"], rng.normal(size=(3, 4)))
NGRAMS = WordVectors(["a b", "b c", "a a", "x a", "a b c", "b", "x"], rng.normal(size=(7, 4)))
documents = st.lists(st.lists(st.sampled_from(["a", "b", "c", "x", "zz"]), max_size=12), min_size=1, max_size=6)


def plain(texts, n, unit=True, pooling="sum", weights=None):
    """The formula, word by word."""
    rows = []
    for tokens in texts:
        parts = []
        for k in range(1, n + 1):
            table = WORDS if k == 1 else NGRAMS
            found = [" ".join(tokens[i : i + k]) for i in range(len(tokens) - k + 1)]
            found = [key for key in found if key in table]
            vectors = [table[key].astype(float) for key in found]
            if unit:
                vectors = [vector / np.linalg.norm(vector) for vector in vectors]
            if weights:
                vectors = [weights[k][key] * vector for key, vector in zip(found, vectors, strict=True)]
            total = np.sum(vectors, axis=0) / k if vectors else np.zeros(4)
            parts.append(total / (len(vectors) if pooling == "mean" and vectors else 1))
        rows.append(np.concatenate(parts))
    return np.array(rows)


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
@settings(deadline=None, max_examples=60)
@given(
    documents,
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from(["sum", "mean"]),
)
def test_vectors_equal_the_plain_twin(texts, n, unit, pooling):
    options = {"unit": unit, "pooling": pooling}
    found = NgramEmbedder(WORDS, n=n, ngrams=NGRAMS, **options).fit_transform(texts)
    np.testing.assert_allclose(found, plain(texts, n, **options), atol=2e-6)


def test_sif_weights_are_by_frequency_in_the_fitted_documents():
    fitted = [["a", "b", "a"], ["b", "c"]]
    frequency = {1: {"a": 2 / 5, "b": 2 / 5, "c": 1 / 5}, 2: {"a b": 1 / 2, "b c": 1 / 2}}
    weights = {k: {key: 0.1 / (0.1 + p) for key, p in table.items()} for k, table in frequency.items()}
    weights[2]["a a"] = 1.0  # never met
    embedder = NgramEmbedder(WORDS, n=2, ngrams=NGRAMS, weights="sif:0.1").fit(fitted)
    texts = [["a", "b", "c"], ["a", "a"]]
    np.testing.assert_allclose(embedder.transform(texts), plain(texts, 2, weights=weights), atol=1e-6)


def test_text_is_tokenised_and_many_documents_are_the_same_as_few():
    texts = ["A b, c", "", " \n", "x a b", "zz"] * 1000  # several blocks, through the compiled tokenizer
    embedder = NgramEmbedder(WORDS, n=3, ngrams=NGRAMS, threads=3).fit(texts)
    with pytest.warns(AlacarteWarning, match="3000 of 5000 documents"):
        found = embedder.transform(texts)
    few = plain([["a", "b", ",", "c"], [], [], ["x", "a", "b"], ["zz"]], 3)
    np.testing.assert_allclose(found, np.tile(few, (1000, 1)), atol=1e-6)
    alone = NgramEmbedder(WORDS, n=3, ngrams=NGRAMS, threads=1).fit(texts)
    with pytest.warns(AlacarteWarning):
        assert np.array_equal(alone.transform(texts), found)


def test_empty_and_unknown_documents_become_zeros_and_are_told():
    embedder = NgramEmbedder(WORDS, n=2, ngrams=NGRAMS).fit(["a b"])
    with pytest.warns(AlacarteWarning, match="2 of 3 documents hold no n-gram that has a vector"):
        found = embedder.transform(["", "a", "nothing known"])
    assert found.any(axis=1).tolist() == [False, True, False]
    assert embedder.transform([]).shape == (0, 8)


def test_a_model_induces_the_ngrams_of_the_documents():
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    texts = ["a b", "c a b c", "b zz"]
    embedder = NgramEmbedder(model, n=2).fit(texts)
    expected = model.induce(texts, ["a b", "b c", "c a", "b zz"])
    assert sorted(embedder.ngrams_.words) == sorted(expected.words)
    np.testing.assert_allclose(embedder.ngrams_["b c"], expected["b c"])
    more = NgramEmbedder(model, n=2, corpus=["b c zz a", "a b c"]).fit(texts)
    both = model.induce([*texts, "b c zz a", "a b c"], ["b c"])
    np.testing.assert_allclose(more.ngrams_["b c"], both["b c"], rtol=1e-6)
    unseen = NgramEmbedder(model, n=2, shrinkage=0).fit(texts).transform(["a c"])  # an n-gram never seen adds nothing
    assert not unseen[0, 4:].any()
    assert unseen[0, :4].any()
    again = NgramEmbedder(model.induce(texts, ["a b"]), n=2).fit(texts)
    assert again.words_ is WORDS
    assert again.ngrams_.words == ("a b",)


def test_documents_whose_ngrams_have_no_context_leave_the_words():
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    found = NgramEmbedder(model, n=2, shrinkage=0).fit_transform(["a b"])  # nothing stands beside it
    assert found[0, :4].any()
    assert not found[0, 4:].any()
    composed = NgramEmbedder(model, n=2).fit_transform(["a b"])
    np.testing.assert_array_equal(composed[0, :4], found[0, :4])
    np.testing.assert_allclose(composed[0, 4:], direction(direction(WORDS["a"]) + direction(WORDS["b"])) / 2, rtol=1e-6)


# ------------------------------------------------------------------------------------- shrinking to the composition


def direction(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def plain_shrunk(model, fitted, texts, n, tau, unit=True, min_count=1, corpus=()):
    """Documents whose n-grams are shrunk toward the composition of their words, n-gram by n-gram."""
    rows = []
    for tokens in texts:
        parts = []
        for k in range(1, n + 1):
            total = np.zeros(4)
            for key in (" ".join(tokens[i : i + k]) for i in range(len(tokens) - k + 1)):
                words = [WORDS[word].astype(float) for word in key.split() if word in WORDS]
                if unit:
                    words = [direction(word) for word in words]
                if k == 1:
                    total += words[0] if words else 0
                    continue
                composed = np.sum(words, axis=0) if words else np.zeros(4)
                composed = direction(composed) if unit else composed / max(1, len(words))
                often = sum(" ".join(text[i : i + k]) == key for text in fitted for i in range(len(text)))
                sums = model.collect([*fitted, *corpus], [key])
                count = int(sums.contexts[0]) if often >= min_count else 0
                own = model.apply(sums)[key].astype(float) if count else np.zeros(4)
                if unit:
                    total += direction(count * direction(own) + tau * composed)
                elif words or count:
                    strength = tau if words else 0
                    total += (count * own + strength * composed) / (count + strength)
            parts.append(total / k)
        rows.append(np.concatenate(parts))
    return np.array(rows)


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"n": 2},
        {"n": 3, "unit": False},
        {"n": 3, "min_count": 2},
        {"n": 2, "corpus": [["a", "b", "x", "c"], ["zz", "a", "a", "b"]]},
    ],
)
@pytest.mark.parametrize("tau", [0.5, 5])
def test_shrunk_vectors_equal_the_plain_twin(options, tau):
    drawn = np.random.default_rng(4)
    texts = [drawn.choice(["a", "b", "c", "x", "zz"], size).tolist() for size in (9, 0, 1, 7, 3, 2)]
    model = ALaCarte(WORDS, Transform(drawn.normal(size=(4, 4))))
    embedder = NgramEmbedder(model, shrinkage=tau, **options).fit(texts)
    new = [drawn.choice(["a", "b", "c", "x", "zz", "new"], size).tolist() for size in (8, 0, 1, 6)]
    expected = plain_shrunk(model, texts, [*texts, *new], tau=tau, **options)
    np.testing.assert_allclose(embedder.transform([*texts, *new]), expected, atol=2e-6)


def test_the_more_often_an_ngram_was_seen_the_nearer_to_its_own_vector():
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    composed = direction(direction(WORDS["a"]) + direction(WORDS["b"]))
    own = direction(WORDS["c"])
    nearness = []
    for times in (0, 1, 10, 1000):
        found = NgramEmbedder(model, n=2).fit([["c"], *[["a", "b", "c"]] * times]).transform([["a", "b"]])[0, 4:]
        nearness.append((float(direction(found) @ own), float(direction(found) @ composed)))
    assert [pair[0] for pair in nearness] == sorted(pair[0] for pair in nearness)
    assert [pair[1] for pair in nearness] == sorted((pair[1] for pair in nearness), reverse=True)
    assert nearness[0][1] == pytest.approx(1)
    assert nearness[-1][0] > 0.999


def test_means_count_composed_ngrams_too():
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    embedder = NgramEmbedder(model, n=2, pooling="mean").fit([["c", "a", "b", "c"]])
    one, other = (embedder.transform([tokens])[0, 4:] for tokens in (["a", "b"], ["b", "a"]))  # seen, and never seen
    nothing = ["a", "b", "a", "new", "new"]  # "new new" is neither
    both, third = embedder.transform([["a", "b", "a"], ["a", "new"]])[:, 4:]
    np.testing.assert_allclose(both, (one + other) / 2, rtol=1e-5)
    np.testing.assert_allclose(embedder.transform([nothing])[0, 4:], (one + other + third) / 3, rtol=1e-5)


# ------------------------------------------------------------------------------------------- training documents


def without_each(make, texts):
    """Each document as it looks to what was fitted on the others."""
    rows = [make().fit(texts[:place] + texts[place + 1 :]).transform([text]) for place, text in enumerate(texts)]
    return np.concatenate(rows)


@pytest.mark.filterwarnings("ignore::alacarte.errors.AlacarteWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"n": 2},
        {"n": 3, "pooling": "mean"},
        {"n": 3, "min_count": 3},
        {"n": 2, "corpus": [["a", "b", "x", "c"], ["zz", "a", "a", "b"]], "unit": False},
    ],
)
@pytest.mark.parametrize("shrinkage", [0, 0.5, 5])
@pytest.mark.parametrize(
    "reading",
    [
        {},
        {"left": 1, "right": 3, "averaging": "token", "unknown": "drop"},
        {"left": 2, "right": 2, "averaging": "context", "positions": "linear"},
    ],
)
def test_training_documents_look_as_if_they_had_not_been_fitted(options, reading, shrinkage):
    """Issue 18, part 3. The transform is the identity, so that no order of adding can change a bit."""
    drawn = np.random.default_rng(1)
    texts = [drawn.choice(["a", "b", "c", "x", "zz"], size).tolist() for size in (9, 0, 1, 7, 12, 5, 12, 3)]
    model = ALaCarte(WORDS, Transform(np.eye(4), settings=Reading(**reading)))
    options = options | {"shrinkage": shrinkage}
    embedder = NgramEmbedder(model, **options)
    found = embedder.fit_transform(texts)
    np.testing.assert_array_equal(found, without_each(lambda: NgramEmbedder(model, **options), texts))
    assert not np.array_equal(found, embedder.transform(texts))


def test_blocks_and_threads_do_not_change_training_documents(monkeypatch):
    drawn = np.random.default_rng(2)
    texts = [drawn.choice(["a", "b", "c", "x"], 10).tolist() for _ in range(40)]
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    whole = NgramEmbedder(model, threads=1).fit_transform(texts)
    monkeypatch.setattr(_leaving_out, "VALUES_AT_ONCE", 500)
    np.testing.assert_array_equal(NgramEmbedder(model, threads=3).fit_transform(texts), whole)


def test_an_ngram_of_one_document_is_unknown_to_it_and_known_to_new_ones():
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    embedder = NgramEmbedder(model, n=2, shrinkage=0)
    trained = embedder.fit_transform(["c a b c", "b a"])
    assert not trained[:, 4:].any()
    assert embedder.transform(["c a b c"])[0, 4:].any()


@pytest.mark.parametrize("options", [{}, {"weights": "sif"}])
def test_a_pipeline_trains_on_vectors_without_their_own_part(options):
    class Keep(BaseEstimator):
        def fit(self, X, y=None):
            self.given_ = X
            return self

    drawn = np.random.default_rng(3)
    texts = [drawn.choice(["a", "b", "c", "x"], 10).tolist() for _ in range(20)]
    model = ALaCarte(WORDS, Transform(np.eye(4)))
    pipeline = make_pipeline(NgramEmbedder(model, **options), Keep()).fit(texts)
    one, other = NgramEmbedder(model, **options), NgramEmbedder(model, **options)
    np.testing.assert_array_equal(pipeline[-1].given_, one.fit_transform(texts))
    np.testing.assert_array_equal(one.transform(texts), other.fit(texts).transform(texts))  # fitted alike
    np.testing.assert_array_equal(pipeline[0].transform(texts), one.transform(texts))


def test_vectors_that_are_given_are_the_same_in_training():
    texts = ["a b c", "x a b", "b c"]
    embedder = NgramEmbedder(WORDS, ngrams=NGRAMS)
    np.testing.assert_array_equal(embedder.fit_transform(texts), embedder.transform(texts))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: NgramEmbedder().fit(["a"]), ValueError, "no vectors are given"),
        (lambda: NgramEmbedder(WORDS).fit("a b"), BadCorpus, "put it in a list"),
        (lambda: NgramEmbedder(WORDS).fit([]), BadCorpus, "no documents"),
        (lambda: NgramEmbedder(WORDS).fit(["a", None]), BadCorpus, "document 1 is None"),
        (lambda: NgramEmbedder(WORDS).fit(np.array([["a"], ["b"]])), BadCorpus, "one column"),
        (lambda: NgramEmbedder(WORDS, n=0).fit(["a"]), AlacarteError, "n is a whole number from 1 on"),
        (lambda: NgramEmbedder(WORDS, n=2.5).fit(["a"]), AlacarteError, "n is a whole number from 1 on"),
        (lambda: NgramEmbedder(WORDS, min_count=1.5).fit(["a"]), AlacarteError, "min_count is a whole number"),
        (lambda: NgramEmbedder(WORDS, shrinkage=-1).fit(["a"]), ValueError, "shrinkage is a number from 0 on"),
        (lambda: NgramEmbedder(WORDS, shrinkage=np.nan).fit(["a"]), ValueError, "shrinkage is a number from 0 on"),
        (lambda: NgramEmbedder(WORDS, pooling="max").fit(["a"]), ValueError, "pooling is one of"),
        (lambda: NgramEmbedder(WORDS, weights="tfidf").fit(["a"]), ValueError, "as in 'sif:1e-3'"),
        (
            lambda: NgramEmbedder(ALaCarte(WORDS, Transform(np.eye(4))), tokenizer="whitespace").fit(["a"]),
            ValueError,
            "leave tokenizer out",
        ),
    ],
)
def test_bad_input_says_what_to_do(make, error, message):
    with pytest.raises(error, match=message):
        make()


# ------------------------------------------------------------------------------------------------ scikit-learn

TEXTS = ["a a b", "a b a", "a a", "c c b", "c b", "c c c"] * 5
LABELS = ["up", "up", "up", "down", "down", "down"] * 5


class NumbersAsWords:
    """Before an embedder: tables of numbers, which scikit-learn's checks are made of, become documents of words.

    scikit-learn has one check for estimators that take text. With this, all its checks for transformers run: fitted
    state, parameters, clones, pickles, the order and subsets of samples, names of features, frames.
    """

    def fit(self, X, y=None):
        return super().fit(self.texts(X, reset=True))

    def transform(self, X):
        return super().transform(self.texts(X, reset=False))

    def fit_transform(self, X, y=None):
        return super().fit_transform(self.texts(X, reset=True))

    def texts(self, X, reset):
        table = np.asarray(validate_data(self, X, reset=reset), dtype=float)
        return [[f"w{int(abs(value) * 7 + 3 * column) % 30}" for column, value in enumerate(row)] for row in table]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        tags.input_tags.two_d_array = True
        return tags


class EmbedderOfNumbers(NumbersAsWords, NgramEmbedder):
    pass


OWN_PART = dict.fromkeys(
    ["check_transformer_general", "check_transformer_data_not_an_array"],
    "fit_transform leaves a document's own part out of the n-gram vectors, as documented",
)


@pytest.mark.filterwarnings("ignore")  # documents of unknown words, and what scikit-learn's checks do on purpose
@pytest.mark.parametrize(
    ("with_model", "options", "cannot"),
    [
        (False, {"n": 2}, {}),
        (False, {"n": 1, "weights": "sif"}, {}),
        (True, {"n": 2}, OWN_PART),
        (True, {"n": 1, "weights": "sif"}, {}),
    ],
)
def test_all_checks_of_scikit_learn(with_model, options, cannot):
    vectors = WordVectors([f"w{i}" for i in range(30)], np.random.default_rng(0).normal(size=(30, 4)))
    given = ALaCarte(vectors, Transform(np.eye(4))) if with_model else vectors
    results = check_estimator(EmbedderOfNumbers(given, **options), expected_failed_checks=cannot, on_skip=None)
    outcomes = {result["check_name"]: result["status"] for result in results}
    assert len(results) > 40
    assert {name for name, outcome in outcomes.items() if outcome == "xfail"} == set(cannot)
    assert {name for name, outcome in outcomes.items() if outcome == "skipped"} <= {"check_array_api_input"}


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # with tables of numbers: those checks are above
def test_vectors_without_ngrams_are_noticed():
    with pytest.warns(AlacarteWarning, match="have no n-grams"):
        found = NgramEmbedder(WORDS, n=2).fit_transform(["a b"])
    assert not found[:, WORDS.dimension :].any()


def test_check_of_scikit_learn_for_text():
    (result,) = check_estimator(NgramEmbedder(WORDS, n=1))
    assert result["status"] == "passed"


@pytest.mark.parametrize(
    "later",
    [
        {"n": 1},
        {"n": 3},
        {"pooling": "mean"},
        {"unit": False},
        {"weights": "sif"},
        {"vectors": NGRAMS, "ngrams": None},
        {"tokenizer": "whitespace"},
    ],
)
def test_parameters_that_are_set_after_fit_change_nothing_before_the_next(later):
    """Issue 14, fault 22: `set_params` after `fit` changed what `transform` gives."""
    texts = ["a b c", "x a, b", "b c"]
    embedder = NgramEmbedder(WORDS, n=2, ngrams=NGRAMS).fit(texts)
    before, names = embedder.transform(texts), embedder.get_feature_names_out().tolist()
    embedder.set_params(**later)
    for fitted in (embedder, pickle.loads(pickle.dumps(embedder))):
        np.testing.assert_array_equal(fitted.transform(texts), before)
        assert fitted.get_feature_names_out().tolist() == names
    again = embedder.fit(texts).transform(texts)
    assert later == {"tokenizer": "whitespace"} or again.shape != before.shape or not np.array_equal(again, before)


def test_clone_shares_the_vectors():
    embedder = NgramEmbedder(WORDS, ngrams=NGRAMS, n=2)
    copy = clone(embedder)
    assert copy.vectors is WORDS
    assert copy.get_params()["n"] == 2


def test_pipeline_grid_search_frames_and_pickles():
    pipeline = make_pipeline(NgramEmbedder(WORDS, ngrams=NGRAMS), LogisticRegression())
    search = GridSearchCV(pipeline, {"ngramembedder__n": [1, 2], "ngramembedder__unit": [True, False]}, cv=3)
    search.fit(TEXTS, LABELS)
    assert search.best_score_ == 1.0
    embedder = NgramEmbedder(WORDS, ngrams=NGRAMS, n=2).set_output(transform="pandas").fit(TEXTS)
    frame = embedder.transform(TEXTS)
    assert list(frame.columns) == [f"{k}gram{i}" for k in (1, 2) for i in range(4)]
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.predict(TEXTS).tolist() == LABELS
