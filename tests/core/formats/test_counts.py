"""Counts and origins travel with the vectors: through frames, through files, through parts of them (issue 14, 23)."""

import pickle

import numpy as np
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.errors import BadVectors, UnknownKey

VECTORS = WordVectors(
    ["a", "b", "new york"],
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    counts=[7, 0, 9],
    origin=["contexts", "spelling", "contexts"],
)
MODEL = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))


def same(found: WordVectors, expected: WordVectors) -> None:
    assert found == expected
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert found.counts.dtype == np.int64
    assert found.origin == expected.origin


def test_an_induced_frame_gives_the_same_vectors_again():
    pytest.importorskip("pandas")
    induced = MODEL.induce(["a x b", "a x", "b y"], ["x", "y"])
    frame = induced.to_frame()
    assert all(isinstance(name, str) for name in frame.columns)
    again = WordVectors.of(frame)
    assert again.dimension == induced.dimension
    same(again, induced)


def test_frames_with_counts_and_origins():
    pandas = pytest.importorskip("pandas")
    same(WordVectors.of(VECTORS.to_frame()), VECTORS)
    frame = pandas.DataFrame({"count": [1.0, 2.0], "king": [0.0, 5.0]}, index=["a", "b"])
    other = WordVectors.of(frame)  # somebody's dimension may be called "count"
    assert (other.dimension, other.counts) == (2, None)


def test_through_our_format(tmp_path):
    VECTORS.save(tmp_path / "v.safetensors")
    same(WordVectors.load(tmp_path / "v.safetensors"), VECTORS)
    first = WordVectors.load(tmp_path / "v.safetensors", limit=2)
    same(first, VECTORS.first(2))
    induced = MODEL.induce(["a x b", "a x", "b y"], ["x", "y"])
    induced.save(tmp_path / "i.safetensors")
    same(WordVectors.load(tmp_path / "i.safetensors"), induced)


def test_counts_are_none_where_nothing_is_known(tmp_path):
    plain = WordVectors(["a"], [[1.0]])
    plain.save(tmp_path / "v.safetensors")
    loaded = WordVectors.load(tmp_path / "v.safetensors")
    assert (loaded.counts, loaded.origin) == (None, None)
    VECTORS.save(tmp_path / "v.txt")
    assert WordVectors.load(tmp_path / "v.txt").counts is None


def test_parts_keep_theirs():
    part = VECTORS.subset(["new york", "a"])
    assert part.counts.tolist() == [9, 7]
    assert part.origin == ("contexts", "contexts")
    assert VECTORS.first(2).counts.tolist() == [7, 0]
    assert VECTORS.normalised().counts.tolist() == [7, 0, 9]
    same(pickle.loads(pickle.dumps(VECTORS)), VECTORS)


@pytest.mark.parametrize("counts", [[1, 2], [[1, 2, 3]], [0.5, 1.0, 2.0], ["a", "b", "c"]])
def test_counts_that_make_no_sense(counts):
    with pytest.raises(BadVectors, match="give each word a whole number"):
        WordVectors(["a", "b", "c"], np.eye(3), counts=counts)


@pytest.mark.parametrize("ending", [".safetensors", ".txt", ".vec", ".npy", ".bin"])
def test_two_words_are_never_written_as_one(tmp_path, ending):
    """Issue 14, 11: `new york` and `new_york` became one key, and nothing could load the file."""
    vectors = WordVectors(["new york", "of", "new_york"], np.eye(3), counts=[1, 2, 3])
    with pytest.raises(BadVectors, match="'new york' and 'new_york' would both be written as 'new_york'"):
        vectors.save(tmp_path / f"v{ending}", space="_")
    assert list(tmp_path.iterdir()) == []


def test_two_induced_targets_are_never_written_as_one(tmp_path):
    induced = MODEL.induce(["a new york b", "a new_york b"], ["new york", "new_york"])
    with pytest.raises(BadVectors, match="would both be written"):
        induced.save(tmp_path / "v.safetensors", space="_")
    assert list(tmp_path.iterdir()) == []
    induced.save(tmp_path / "v.safetensors", space="+")
    assert WordVectors.load(tmp_path / "v.safetensors").words == ("new+york", "new_york")


# ---------------------------------------------------------------------------------------------------- two sets in one

OTHERS = WordVectors(["b", "c"], [[9.0, 9.0], [5.0, 6.0]], counts=[1, 2], origin=["new", "new"])


def test_vectors_are_extended():
    with pytest.raises(BadVectors, match=r"'b' and 0 more words are in both.*on_collision"):
        VECTORS.extended(OTHERS)
    kept = VECTORS.extended(OTHERS, on_collision="keep")
    assert kept.words == ("a", "b", "new york", "c")
    assert kept["b"].tolist() == [3.0, 4.0]
    assert kept.counts.tolist() == [7, 0, 9, 2]
    assert kept.origin == ("contexts", "spelling", "contexts", "new")
    replaced = VECTORS.extended(OTHERS, on_collision="replace")
    assert replaced.words == kept.words
    assert replaced["b"].tolist() == [9.0, 9.0]
    assert replaced.counts.tolist() == [7, 1, 9, 2]
    assert replaced.origin == ("contexts", "new", "contexts", "new")
    assert VECTORS["b"].tolist() == [3.0, 4.0]
    assert VECTORS.extended(OTHERS.subset(["c"])) == kept


def test_extended_by_what_was_induced():
    induced = MODEL.induce(["a x b", "b new york"], ["x", "new york"])
    both = MODEL.vectors.extended(induced)
    assert both.words == ("a", "b", "x", "new york")
    assert both.counts is None  # of a and b nothing is known
    assert both.nearest(induced["x"], k=1)[0][0] == "x"
    assert MODEL.vectors.extended({"x": [1.0, 0.0]})["x"].tolist() == [1.0, 0.0]
    with pytest.raises(BadVectors, match="2 dimensions and the others 1"):
        MODEL.vectors.extended({"x": [1.0]})
    with pytest.raises(ValueError, match="on_collision"):
        MODEL.vectors.extended(induced, on_collision="both")


# ---------------------------------------------------------------------------------------------------- what is not there


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("Wine", "no vector for 'Wine' (did you mean 'wine'?)"),
        ("new_york", "(did you mean 'new york'?)"),
        ("New_York", "(did you mean 'new york'?)"),
        ("nato", "(did you mean 'NATO'?)"),
        ("immigr*", "Targets.glob(['immigr*'])"),
        (0, "0 is no word, and vectors go by words; `matrix[row]`"),
        ([0], "0 is no word"),
        (None, "None is no word"),
        ("blorp", "no vector for 'blorp'; `get` returns a default"),
    ],
)
def test_what_is_said_of_a_word_that_is_not_there(key, said):
    vectors = WordVectors(["wine", "new york", "NATO"], np.eye(3))
    with pytest.raises(UnknownKey) as caught:
        vectors[key]
    assert said in str(caught.value)


def test_a_number_is_no_key_of_what_was_induced():
    with pytest.raises(UnknownKey, match="vectors go by words"):
        MODEL.induce(["a x"], ["x"])[0]
