import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte._io.tensors import pack_words, read_tensors, unpack_words, write_tensors
from alacarte.errors import BadSums, BadVectors

ARRAYS = {
    "bytes": np.arange(3, dtype=np.uint8),
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
    "sums": np.linspace(0, 1, 4),
    "counts": np.array([1, -2], np.int64),
    "scalar": np.array(2.5),
    "empty": np.empty((0, 4), np.float32),
}


def test_round_trip_is_exact_and_read_only(tmp_path):
    path = tmp_path / "a.safetensors"
    write_tensors(path, ARRAYS, {"clé": "né"})
    tensors, metadata = read_tensors(path)
    assert metadata == {"clé": "né"}
    assert set(tensors) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert tensors[name].dtype == array.dtype
        assert tensors[name].shape == array.shape
        assert np.array_equal(tensors[name], array)
        assert not tensors[name].flags.writeable
        assert tensors[name].flags.aligned


def test_the_library_reads_what_we_write_and_we_read_what_it_writes(tmp_path):
    numpy_io = pytest.importorskip("safetensors.numpy")
    write_tensors(tmp_path / "ours", ARRAYS, {"a": "b"})
    theirs = numpy_io.load_file(tmp_path / "ours")
    assert all(np.array_equal(theirs[name], array) for name, array in ARRAYS.items())
    numpy_io.save_file(ARRAYS, tmp_path / "theirs", {"a": "b"})
    ours, metadata = read_tensors(tmp_path / "theirs")
    assert metadata == {"a": "b"}
    assert all(np.array_equal(ours[name], array) for name, array in ARRAYS.items())


def test_not_contiguous_and_big_endian_arrays_are_written_right(tmp_path):
    matrix = np.arange(12, dtype=np.float64).reshape(3, 4).T
    write_tensors(tmp_path / "a", {"t": matrix, "big": matrix.astype(">f4")}, {})
    tensors, _ = read_tensors(tmp_path / "a")
    assert np.array_equal(tensors["t"], matrix)
    assert np.array_equal(tensors["big"], matrix)


def test_a_type_that_cannot_be_stored_leaves_no_file(tmp_path):
    with pytest.raises(TypeError, match="convert it"):
        write_tensors(tmp_path / "a", {"t": np.array(["text"])}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [0, 4, 8, 40, -1])
def test_a_truncated_file_is_named(tmp_path, cut):
    write_tensors(tmp_path / "a", ARRAYS, {})
    (tmp_path / "b").write_bytes((tmp_path / "a").read_bytes()[:cut])
    with pytest.raises(BadSums, match=str(tmp_path / "b")):
        read_tensors(tmp_path / "b", BadSums)


@pytest.mark.parametrize(
    "header",
    [
        b"[1]    ",
        b'{"a":3}',
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}',
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
        b'{"a":{"dtype":"F32","shape":[-1,-2],"data_offsets":[0,8]}}',
        b'{"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}',
        b'{"__metadata__":{"a":1}}',
        b"\xff\xff{}",
    ],
)
def test_a_damaged_header_is_an_error(tmp_path, header):
    (tmp_path / "a").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(BadVectors, match=r"a is damaged|not supported"):
        read_tensors(tmp_path / "a")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_words_round_trip(words):
    assert unpack_words(*pack_words(words)) == words


def test_words_that_make_no_sense():
    data, offsets = pack_words(["abc", "né"])
    for bad in (offsets[:-1], offsets[1:], offsets[::-1].copy(), offsets[:0]):
        with pytest.raises(BadVectors, match=r"f\.bin is damaged"):
            unpack_words(data, bad, "f.bin")
    with pytest.raises(BadVectors, match="not UTF-8"):
        unpack_words(data, np.array([0, 5, 6]))
    with pytest.raises(BadVectors, match="surrogate"):
        pack_words(["\ud800"])
