"""Discovery of words and n-grams: a plain counter on random text, in a canonical order, however it is run."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import VECTORS, sample_text

from alacarte import Document, WordVectors, discover
from alacarte.text.tokenizers import get_tokenizer

word = st.sampled_from(["a", "b", "bank", "x", "y", "zorg", "!", ".", "é", "don't", "2"])
texts = st.lists(st.lists(word, max_size=25), min_size=1, max_size=8)


def plainly(documents, lengths, min_count, known=(), punctuation=False):
    """{length: {n-gram: count}}, by counting everything."""
    counted = {}
    for n in lengths:
        counts = Counter(tuple(tokens[i : i + n]) for tokens in documents for i in range(len(tokens) - n + 1))
        counted[n] = {
            " ".join(gram): count
            for gram, count in counts.items()
            if count >= min_count
            and (punctuation or all(any(c.isalnum() for c in token) for token in gram))
            and not (n == 1 and gram[0] in known)
        }
    return counted


def in_order(counted, known):
    """Shorter first; then the most frequent; then by the words: known ones by their place, others by the alphabet."""
    place = {token: (0, number) for number, token in enumerate(known)}

    def rank(key):
        return [place.get(token, (1, token)) for token in key.split(" ")]

    return [key for n in sorted(counted) for key in sorted(counted[n], key=lambda key: (-counted[n][key], rank(key)))]


@settings(max_examples=100)
@given(
    texts,
    st.sets(st.integers(1, 3), min_size=1),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(1, 3),
    st.integers(1, 300),
)
def test_equal_to_a_plain_counter(documents, lengths, min_count, vectors, known, punctuation, threads, block_size):
    index = VECTORS.words if vectors else []
    found = discover(
        documents,
        ngrams=lengths,
        min_count=min_count,
        vectors=VECTORS if vectors else None,
        known=known,
        punctuation=punctuation,
        threads=threads,
        block_size=block_size,
    )
    expected = plainly(documents, lengths, min_count, () if known else index, punctuation)
    assert list(found) == in_order(expected, index)


def test_a_megabyte_in_any_threads_blocks_and_order(tmp_path):
    lines = sample_text(300_000)
    tokenizer = get_tokenizer("words")
    documents = [list(tokenizer(line, VECTORS.key_to_index)) for line in lines]
    expected = in_order(plainly(documents, (1, 2, 3), 20, VECTORS.words), VECTORS.words)
    assert len(expected) > 500
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    rng = np.random.default_rng(0)
    options = {"ngrams": (1, 2, 3), "min_count": 20, "vectors": VECTORS}
    for corpus, threads, block_size in (
        (tmp_path / "a.txt", 1, 1 << 20),
        (tmp_path / "a.txt", 5, 10_000),
        ([lines[i] for i in rng.permutation(len(lines))], 2, 30_000),
    ):
        assert list(discover(corpus, threads=threads, block_size=block_size, **options)) == expected


def test_text_that_can_be_read_only_once():
    lines = sample_text(30_000)
    for n in (1, (1, 2), 3):
        assert list(discover(iter(lines), ngrams=n, min_count=3)) == list(discover(lines, ngrams=n, min_count=3))
    documents = [Document(text="a bank a bank"), Document(tokens=["a", "bank"]), ["a", "bank"], "a bank"]
    assert list(discover(iter(documents), ngrams=2, min_count=2)) == ["a bank"]


def test_no_n_gram_reaches_into_the_next_document():
    assert list(discover([["a", "b"], ["c"], [], ["a", "b"]], ngrams=(2, 3), min_count=1)) == ["a b"]
    assert list(discover([["a"], ["b"]], ngrams=2, min_count=1)) == []


def test_nothing_is_frequent():
    assert list(discover(["a b c d"], ngrams=(1, 2, 3), min_count=2)) == []
    assert list(discover([[], ""], ngrams=(1, 2), min_count=1)) == []


def test_a_shard_counts_its_part():
    lines = ["a b"] * 100
    parts = [discover(lines, min_count=50, shard=(i, 2), block_size=100) for i in (1, 2)]
    whole = discover(lines, min_count=100)
    assert list(whole) == list(parts[0]) == list(parts[1]) == ["a", "b"]
    assert not list(discover(lines, min_count=60, shard=(1, 2), block_size=100))


def test_a_vector_that_is_no_word_of_the_text():
    vectors = WordVectors(["zorg"], [[1.0]])
    assert list(discover(["a zorg"], ngrams=(1, 2), min_count=1, vectors=vectors)) == ["a", "a zorg"]
