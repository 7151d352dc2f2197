"""Counts and origins travel with the vectors: through frames, through files, through parts of them (issue 14, 23)."""

import pickle

import numpy as np
import pytest

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.errors import BadVectors

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
