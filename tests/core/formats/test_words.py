"""Packed words and the vocabulary over them, against a plain list and dictionary on random input."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte._io.artifact import read_artifact, write_artifact
from alacarte.errors import BadVectors
from alacarte.vectors import words as module
from alacarte.vectors.words import PackedWords, Vocabulary, length_prefixed

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
lists = st.lists(texts, unique=True, max_size=40)


@given(lists, texts)
def test_packed_words_are_the_list(words, other):
    packed = PackedWords.of(words)
    assert list(packed) == words
    assert len(packed) == len(words)
    assert [packed[row] for row in range(len(words))] == words
    assert packed[1:3] == words[1:3]
    assert [packed.find(word) for word in words] == list(range(len(words)))
    assert packed.find(other) == (words.index(other) if other in words else None)
    half = packed.first(len(words) // 2)
    assert list(half) == words[: len(words) // 2]
    assert [half.find(word) for word in words] == [row if row < len(half) else None for row in range(len(words))]


@given(lists, texts, st.integers(0, 5))
def test_a_vocabulary_is_the_dictionary(words, other, few):
    plain = {word: row for row, word in enumerate(words)}
    before = module.LOOKED_UP_SINGLY
    try:
        module.LOOKED_UP_SINGLY = few  # the dictionary is made after so many look-ups
        lazy = Vocabulary(PackedWords.of(words))
        for word in [*words, other, *words]:
            assert lazy.get(word) == plain.get(word)
            assert lazy.get(word, -1) == plain.get(word, -1)
            assert (word in lazy) == (word in plain)
    finally:
        module.LOOKED_UP_SINGLY = before
    assert list(lazy) == words
    assert lazy == plain
    assert lazy.copy() == dict(lazy) == plain
    assert pickle.loads(pickle.dumps(lazy)) == plain
    assert lazy == Vocabulary(words)
    for found, expected in zip(lazy.packed(), Vocabulary(words).packed(), strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(KeyError):
        lazy["\ud800"]


def test_words_that_share_a_hash(monkeypatch):
    monkeypatch.setattr(module, "crc32", lambda word: 5)
    packed = PackedWords.of(["a", "b", "c"])
    assert [packed.find(word) for word in "abcd"] == [0, 1, 2, None]


@given(lists)
def test_what_a_fingerprint_covers(words):
    encoded = [word.encode() for word in words]
    expected = b"".join(len(word).to_bytes(4, "little") + word for word in encoded[1:7])
    packed = PackedWords.of(words)
    assert length_prefixed(packed.data, packed.offsets, 1, 7) == expected


def test_in_an_artifact(tmp_path):
    packed = PackedWords.of(["a", "né", ""])
    write_artifact(tmp_path / "a", "example", packed.tensors(), {})
    assert list(PackedWords.from_artifact(read_artifact(tmp_path / "a"))) == ["a", "né", ""]
    older = {name: tensor for name, tensor in packed.tensors().items() if name != "word_crc32"}
    write_artifact(tmp_path / "c", "example", {**older, "word_hashes": np.arange(3)}, {})
    assert PackedWords.from_artifact(read_artifact(tmp_path / "c")).find("né") == 1
    for name, wrong in [
        ("words_offsets", np.array([0, 1, 2, 9])),
        ("words_offsets", np.array([0, 3, 1, 4])),
        ("words_offsets", np.array([], np.int64)),
        ("word_rows", np.array([0, 1, 3])),
        ("word_rows", np.array([0, 1])),
        ("word_crc32", np.array([0.5, 1, 2])),
    ]:
        write_artifact(tmp_path / "b", "example", {**packed.tensors(), name: wrong}, {})
        with pytest.raises(BadVectors, match="b is damaged"):
            PackedWords.from_artifact(read_artifact(tmp_path / "b", "example", BadVectors))


def test_threads_that_look_words_up_at_once_share_one_dictionary():
    """Else each of them makes one, which for 400,000 words is 70 MB."""
    vocabulary = Vocabulary(PackedWords.of([f"w{number}" for number in range(100_000)]))
    together = Barrier(8)

    def dictionary(_):
        together.wait()
        return id(vocabulary._as_dictionary())

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(dictionary, range(8)))) == 1
