import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from alacarte import WordVectors
from alacarte.errors import BadVectors, UnknownKey
from alacarte.vectors import keyed_matrix, search


@pytest.fixture
def random_vectors():
    rng = np.random.default_rng(1)
    return WordVectors([f"w{i}" for i in range(300)], rng.normal(size=(300, 20)).astype(np.float32))


def test_look_up(random_vectors):
    v = random_vectors
    assert v.dimension == 20
    assert np.array_equal(v["w3"], v.matrix[3])
    assert np.array_equal(v[["w3", "w1"]], v.matrix[[3, 1]])
    assert v[[]].shape == (0, 20)
    assert v.index("w3") == 3
    assert "w3" in v
    assert "x" not in v
    assert v.get("x") is None
    assert v.get("x", 5) == 5
    assert list(v) == list(v.words)
    for look_up in (lambda: v["x"], lambda: v[["w1", "x"]], lambda: v.index("x")):
        with pytest.raises(UnknownKey) as caught:
            look_up()
        assert str(caught.value) == (
            "no vector for 'x'; `get` returns a default instead, and `ALaCarte.induce` makes one from text"
        )
    assert len(v) == 300


def test_nothing_can_be_changed(random_vectors):
    with pytest.raises(ValueError, match="read-only"):
        random_vectors.matrix[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        random_vectors["w1"][0] = 0
    mine = np.ones((1, 2), np.float32)
    v = WordVectors(["a"], mine)
    mine[0, 0] = 9
    assert v["a"].tolist() == [1, 1]


def test_arrays_are_converted_and_mapped_ones_are_not_copied(tmp_path):
    assert WordVectors(["a"], np.array([[1, 2]])).matrix.dtype == np.float32
    assert WordVectors(["a", "b"], np.asfortranarray(np.eye(2))).matrix.flags.c_contiguous
    np.save(tmp_path / "a.npy", np.eye(2, dtype=np.float32))
    for mode in ("r", "r+"):
        mapped = np.load(tmp_path / "a.npy", mmap_mode=mode)
        assert np.shares_memory(WordVectors(["a", "b"], mapped).matrix, mapped)


@pytest.mark.parametrize(
    ("words", "matrix", "said"),
    [
        (["a", "a"], np.eye(2), "'a' is listed twice"),
        (["a"], np.eye(2), "1 words and 2 rows"),
        (["a", 3], np.eye(2), "3 is no string"),
        (["a"], [1.0, 2.0], "shape"),
        ([], np.empty((0, 3)), "shape"),
        (["a"], np.empty((1, 0)), "shape"),
        (["a", "b"], [[1.0], [np.nan]], r"'b' \(row 1\)"),
        (["a", "b"], [[1.0], [np.inf]], r"'b' \(row 1\)"),
        (["a"], [[1e300]], "too large"),
        (["a"], [["x"]], "pass numbers"),
        (["a", "b"], [[1.0], [1.0, 2.0]], "different numbers"),
        (["a"], [[1j]], "pass numbers"),
    ],
)
def test_what_is_refused(words, matrix, said):
    with pytest.raises(BadVectors, match=said):
        WordVectors(words, matrix)


def brute_force(v, query, k, rows):
    wide = v.matrix.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1) * (np.linalg.norm(query) or 1)
    scores = np.divide(wide @ query, norms, out=np.zeros(len(v)), where=norms > 0)
    order = sorted((row for row in rows if norms[row]), key=lambda row: (-round(scores[row], 12), row))[:k]
    return [(v.words[row], scores[row]) for row in order]


def agree(found, expected):
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert np.allclose([score for _, score in found], [score for _, score in expected], atol=1e-12)


def test_nearest_equals_brute_force(random_vectors, monkeypatch):
    v = random_vectors
    monkeypatch.setattr(search, "BLOCK_VALUES", 1000)  # several blocks, and pieces of them
    monkeypatch.setattr(search, "PIECE_VALUES", 100)
    monkeypatch.setattr(search, "BLOCK_QUERIES", 3)
    queries = np.random.default_rng(2).normal(size=(10, 20))
    everything = range(300)
    for k in (1, 10, 299, 300, 1000):
        for query, found in zip(queries, v.nearest(queries, k), strict=True):
            agree(found, brute_force(v, query, k, everything))
    agree(v.nearest(queries[0], 7, among=100), brute_force(v, queries[0], 7, range(100)))
    agree(v.nearest(queries[0], 7, among=1000), brute_force(v, queries[0], 7, everything))
    some = [250, 3, 77, 12, 120]
    names = [v.words[row] for row in some]
    agree(v.nearest(queries[0], 7, among=names), brute_force(v, queries[0], 7, some))
    agree(
        v.nearest(queries[0], 7, among=iter(names), exclude=["w3", "nobody"]),
        brute_force(v, queries[0], 7, [250, 77, 12, 120]),
    )
    best = v.nearest(queries[0], 1)[0][0]
    agree(
        v.nearest(queries[0], 5, exclude=best),
        brute_force(v, queries[0], 5, [row for row in everything if v.words[row] != best]),
    )
    for few in (1000, 3):  # words left out are dropped from the result, or their rows are not searched
        monkeypatch.setattr(keyed_matrix, "FEW_LEFT_OUT", few)
        left_out = [v.words[row] for row in range(0, 300, 7)]
        for k in (1, 5, 300):
            for query, found in zip(queries, v.nearest(queries, k, among=200, exclude=left_out), strict=True):
                agree(found, brute_force(v, query, k, [row for row in range(200) if row % 7]))
    assert v.nearest(queries[0], among=[]) == []
    assert v.nearest(queries[0], among=0) == []
    assert v.nearest(np.empty((0, 20))) == []


@settings(max_examples=60, deadline=None)
@given(
    st_numpy.arrays(np.float32, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(-2, 2)),
    st_numpy.arrays(np.float32, 3, elements=st.integers(-2, 2)).filter(np.any),
    st.integers(1, 13),
)
def test_ties_go_to_the_first(matrix, query, k):
    """Equal rows come in their order; different rows with the same cosine may differ in its last digit."""
    v = WordVectors([str(i) for i in range(len(matrix))], matrix)
    found = v.nearest(query, k)
    expected = brute_force(v, query.astype(np.float64), k, range(len(v)))
    np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], atol=1e-12)
    exact = dict(brute_force(v, query.astype(np.float64), len(v), range(len(v))))
    np.testing.assert_allclose([score for _, score in found], [exact[word] for word, _ in found], atol=1e-12)
    rows = [int(word) for word, _ in found]
    assert len(set(rows)) == len(rows)
    for row in rows:
        equal = np.flatnonzero((matrix == matrix[row]).all(axis=1)).tolist()
        kept = [other for other in rows if other in equal]
        assert kept == equal[: len(kept)]


def test_many_equal_rows_keep_their_order(monkeypatch):
    monkeypatch.setattr(search, "BLOCK_VALUES", 100)
    row = np.random.default_rng(0).normal(size=30)
    v = WordVectors([str(i) for i in range(500)], np.tile(row, (500, 1)))
    assert [word for word, _ in v.nearest(row, 20)] == [str(i) for i in range(20)]


def test_extreme_values():
    matrix = [[3e38, 3e38], [1e-45, 0], [0, 0], [1, 1], [1, 0], [-3e38, 3e38]]
    v = WordVectors(list("abcdef"), matrix)
    assert v.nearest([1.0, 1.0], 2) == [("a", pytest.approx(1)), ("d", pytest.approx(1))]
    assert [word for word, _ in v.nearest([1e300, 0.0], 2)] == ["b", "e"]
    assert {word for word, _ in v.nearest([1.0, 0.0])} == set("abdef")
    assert v.similarity("b", "e") == pytest.approx(1)
    assert v.normalised()["a"].tolist() == pytest.approx([0.5**0.5] * 2)
    assert v.normalised()["c"].tolist() == [0, 0]


def test_vectors_of_zeros_have_no_neighbours_and_are_none():
    v = WordVectors(["a", "none", "b"], [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.5]])
    for query in ([0, 0], v["none"], [[1, 0], [0, 0]]):
        with pytest.raises(BadVectors, match="all zeros"):
            v.nearest(query, 2)
    with pytest.raises(BadVectors, match="row 1 of the query"):
        v.nearest(v[["a", "none"]])
    for call in (
        lambda: v.most_similar("none"),
        lambda: v.most_similar("a", "a"),
        lambda: v.similarity("a", "none"),
        lambda: v.similarity("none", "a"),
    ):
        with pytest.raises(BadVectors, match="all zeros"):
            call()
    assert [word for word, _ in v.nearest([1.0, 0.0])] == ["a", "b"]
    assert [word for word, _ in v.nearest([1.0, 0.0], among=["none", "b"])] == ["b"]
    assert v.nearest([1.0, 0.0], among=["none"]) == []


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None])
def test_a_number_of_neighbours_that_makes_no_sense(random_vectors, k):
    """Issue 28, 13: k=0 and k=-1 gave lists, 2.5 an error of NumPy's."""
    v = random_vectors
    for find in (v.nearest, v.most_similar):
        with pytest.raises(BadVectors, match="k is a whole number from 1 on"):
            find(v["w1"], k=k)


def test_numbers_of_numpy_s_are_numbers(random_vectors):
    v = random_vectors
    assert v.nearest(v["w1"], np.int64(3), among=np.int32(50)) == v.nearest(v["w1"], 3, among=50)
    assert v.first(np.int64(3)) == v.first(3)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ([1.0], "3 dimensions"),
        (np.ones((2, 2, 3)), "3 dimensions"),
        (np.float32(1), "3 dimensions"),
        ([1.0, np.nan, 0.0], "NaN"),
        ([[1.0, 2.0, np.inf]], "NaN or infinity"),
        (["a", "b", "c"], "numbers"),
    ],
)
def test_queries_that_make_no_sense(query, said):
    with pytest.raises(BadVectors, match=said):
        WordVectors(["a", "b", "c"], np.eye(3)).nearest(query)


def test_other_arguments_that_make_no_sense(random_vectors):
    v = random_vectors
    with pytest.raises(BadVectors, match="most_similar"):
        v.nearest("w1")
    with pytest.raises(BadVectors, match="among is a whole number"):
        v.nearest(v["w1"], among=-1)
    with pytest.raises(UnknownKey):
        v.nearest(v["w1"], among=["x"])
    with pytest.raises(ValueError, match="at least one"):
        v.most_similar()
    with pytest.raises(UnknownKey):
        v.most_similar("x")
    with pytest.raises(ValueError, match="from 1 on"):
        v.first(0)
    with pytest.raises(BadVectors, match="at least one word"):
        v.subset([])
    with pytest.raises(BadVectors, match="twice"):
        v.subset(["w1", "w1"])
    with pytest.raises(UnknownKey):
        v.subset(["x"])


def test_most_similar_takes_words_vectors_and_lists(random_vectors):
    v = random_vectors
    by_word = v.most_similar("w1", k=5)
    assert len(by_word) == 5
    assert "w1" not in dict(by_word)
    assert v.most_similar(["w1"], k=5) == by_word
    assert v.most_similar(v["w1"], k=6)[1:] == by_word
    assert v.most_similar(v["w1"].tolist(), k=6)[1:] == by_word
    assert v.most_similar(v[["w1", "w2"]], k=5)[0][0] in ("w1", "w2")
    units = [v[word] / np.linalg.norm(v[word]) for word in ("w1", "w2", "w3")]
    found = v.most_similar(["w1", "w2"], "w3", k=5)
    agree_with = v.nearest(units[0] + units[1] - units[2], 5, exclude=["w1", "w2", "w3"])
    assert [word for word, _ in found] == [word for word, _ in agree_with]


def test_others_of_the_same_kind(random_vectors):
    v = random_vectors
    assert v.subset(["w9", "w2"]).words == ("w9", "w2")
    assert np.array_equal(v.subset(["w9", "w2"]).matrix, v.matrix[[9, 2]])
    assert v.first(5).words == v.words[:5]
    assert np.shares_memory(v.first(5).matrix, v.matrix)
    assert len(v.first(1000)) == 300
    assert np.allclose(np.linalg.norm(v.normalised().matrix, axis=1), 1)
    for other in (v.subset(["w1"]), v.first(2), v.normalised()):
        assert not other.matrix.flags.writeable


def test_fingerprint_and_equality(random_vectors, monkeypatch):
    v = random_vectors
    same = WordVectors(v.words, v.matrix.copy(), name="other name")
    assert same == v
    assert same.fingerprint == v.fingerprint
    assert len(v.fingerprint) == 32
    changed = v.matrix.copy()
    changed[7, 7] += 1e-5
    renamed = WordVectors([*v.words[:-1], "other"], v.matrix)
    for other in (WordVectors(v.words, changed), renamed, v.first(299)):
        assert other != v
        assert other.fingerprint != v.fingerprint
    assert WordVectors(["a", "bc"], np.eye(2)).fingerprint != WordVectors(["ab", "c"], np.eye(2)).fingerprint
    monkeypatch.setattr(search, "BLOCK_VALUES", 64)
    assert WordVectors(v.words, v.matrix).fingerprint == v.fingerprint
    assert v != "something else"


def test_pickles_and_copies(random_vectors):
    v = random_vectors
    v.nearest(v["w1"])
    for other in (pickle.loads(pickle.dumps(v)), copy.deepcopy(v), copy.copy(v)):
        assert other == v
        assert not other.matrix.flags.writeable
        assert other.nearest(v["w1"]) == v.nearest(v["w1"])


def test_of_many_things(tmp_path):
    v = WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    assert WordVectors.of(v) is v
    assert WordVectors.of((["a", "b"], [[1.0, 2.0], [3.0, 4.0]])) == v
    assert WordVectors.of({"a": [1, 2], "b": np.array([3.0, 4.0])}) == v
    v.save(tmp_path / "v.txt")
    assert WordVectors.of(tmp_path / "v.txt") == v
    assert WordVectors.of(str(tmp_path / "v.txt")) == v
    for uneven in ({"a": [1, 2], "b": [1]}, (["a", "b"], [[1, 2], [1]])):
        with pytest.raises(BadVectors, match="different numbers of values"):
            WordVectors.of(uneven)
    with pytest.raises(BadVectors, match="shape"):
        WordVectors.of({})
    for nonsense in (3, None, [1, 2], object()):
        with pytest.raises(BadVectors, match="cannot make word vectors"):
            WordVectors.of(nonsense)


def test_repr():
    assert repr(WordVectors(["a"], [[1.0]])) == "WordVectors(1 word, 1 dimension)"
