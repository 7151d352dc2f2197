"""Discovery of words and n-grams: a plain counter on random text, in a canonical order, however it is run."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import VECTORS, sample_text

from alacarte import ALaCarte, Document, Targets, Transform, WordVectors, discover
from alacarte.text.tokenizers import get_tokenizer

word = st.sampled_from(["a", "b", "bank", "x", "yes", "zorg", "!", ".", "été", "don't", "2", "'s"])
WHOLE = {"bank", "yes", "zorg", "été", "don't"}
texts = st.lists(st.lists(word, max_size=25), min_size=1, max_size=8)


EVERYTHING = {"all_tokens": True, "min_score": None}


def plainly(documents, lengths, min_count, known=(), all_tokens=False):
    """{length: {n-gram: count}}, by counting everything; words are those of `WHOLE`."""
    counted = {}
    for n in lengths:
        counts = Counter(tuple(tokens[i : i + n]) for tokens in documents for i in range(len(tokens) - n + 1))
        counted[n] = {
            " ".join(gram): count
            for gram, count in counts.items()
            if count >= min_count
            and (
                all_tokens or (all(any(c.isalpha() for c in token) for token in gram) and {gram[0], gram[-1]} <= WHOLE)
            )
            and not (n == 1 and gram[0] in known)
        }
    return counted


def in_order(counted, known):
    """Shorter first; then the most frequent; then by the words: known ones by their place, others by the alphabet."""
    place = {token: (0, number) for number, token in enumerate(known)}

    def rank(key):
        return [place.get(token, (1, token)) for token in key.split(" ")]

    return [key for n in sorted(counted) for key in sorted(counted[n], key=lambda key: (-counted[n][key], rank(key)))]


def plain_score(documents, gram):
    """The least normalised pointwise mutual information over all cuts; NaN for a single word."""

    def chance(part):
        found = sum(list(doc[i : i + len(part)]) == part for doc in documents for i in range(len(doc) - len(part) + 1))
        return found / sum(map(len, documents))

    together = math.log(chance(gram))
    cuts = [together - math.log(chance(gram[:i])) - math.log(chance(gram[i:])) for i in range(1, len(gram))]
    return min(cuts) / -together if cuts else math.nan


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
def test_equal_to_a_plain_counter(documents, lengths, min_count, vectors, known, all_tokens, threads, block_size):
    index = VECTORS.words if vectors else []
    found = discover(
        VECTORS if vectors else None,
        documents,
        ngrams=lengths,
        min_count=min_count,
        known=known,
        all_tokens=all_tokens,
        min_score=None,
        threads=threads,
        block_size=block_size,
    )
    expected = plainly(documents, lengths, min_count, () if known else index, all_tokens)
    assert dict(zip(found, found.counts.tolist(), strict=True)) == {
        k: c for n in expected for k, c in expected[n].items()
    }
    scores = dict(zip(found, found.scores.tolist(), strict=True))
    for key, score in scores.items():
        assert score == pytest.approx(plain_score(documents, key.split(" ")), abs=1e-4, nan_ok=True)
    assert list(found) == sorted(
        in_order(expected, index), key=lambda key: (key.count(" "), -scores[key] if " " in key else 0)
    )


def test_a_megabyte_in_any_threads_blocks_and_order(tmp_path):
    lines = sample_text(300_000)
    tokenizer = get_tokenizer("words")
    documents = [list(tokenizer(line, VECTORS.key_to_index)) for line in lines]
    options = {"ngrams": (1, 2, 3), "min_count": 20, "all_tokens": True, "min_score": None}
    counted = plainly(documents, (1, 2, 3), 20, VECTORS.words, all_tokens=True)
    expected = {key: count for n in counted for key, count in counted[n].items()}
    assert len(expected) > 500
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    rng = np.random.default_rng(0)
    first = discover(VECTORS, lines, **options)
    for corpus, threads, block_size in (
        (tmp_path / "a.txt", 1, 1 << 20),
        (tmp_path / "a.txt", 5, 10_000),
        ([lines[i] for i in rng.permutation(len(lines))], 2, 30_000),
    ):
        found = discover(VECTORS, corpus, threads=threads, block_size=block_size, **options)
        assert dict(zip(found, found.counts.tolist(), strict=True)) == expected
        assert list(found) == list(first)
        np.testing.assert_array_equal(found.scores, first.scores)


def test_text_that_can_be_read_only_once():
    lines = sample_text(30_000)
    for n in (1, (1, 2), 3):
        options = {"ngrams": n, "min_count": 3, "min_score": None}
        assert list(discover(None, iter(lines), **options)) == list(discover(None, lines, **options)) != []
    documents = [Document(text="a bank a bank"), Document(tokens=["a", "bank"]), ["a", "bank"], "a bank"]
    assert list(discover(None, iter(documents), ngrams=2, min_count=2, **EVERYTHING)) == ["a bank"]


def test_no_n_gram_reaches_into_the_next_document():
    assert list(discover(None, [["a", "b"], ["c"], [], ["a", "b"]], ngrams=(2, 3), min_count=1, **EVERYTHING)) == [
        "a b"
    ]
    assert list(discover(None, [["a"], ["b"]], ngrams=2, min_count=1, **EVERYTHING)) == []


def test_nothing_is_frequent():
    assert list(discover(None, ["a b c d"], ngrams=(1, 2, 3), min_count=2)) == []
    assert list(discover(None, [[], ""], ngrams=(1, 2), min_count=1)) == []


def test_a_shard_counts_its_part():
    lines = ["ax bx"] * 100
    parts = [discover(None, lines, min_count=50, shard=(i, 2), block_size=100) for i in (1, 2)]
    whole = discover(None, lines, min_count=100)
    assert list(whole) == list(parts[0]) == list(parts[1]) == ["ax", "bx"]
    assert not list(discover(None, lines, min_count=60, shard=(1, 2), block_size=100))


def test_a_vector_that_is_no_word_of_the_text():
    vectors = WordVectors(["zorg"], [[1.0]])
    found = discover(vectors, ["a zorg"], ngrams=(1, 2), min_count=1, **EVERYTHING)
    assert list(found) == ["a", "a zorg"]


def invented_text(punctuated):
    """Sentences of words at random and three phrases, with function words between them."""
    rng = np.random.default_rng(0)
    units = [f"word{i}" for i in range(200)] + ["hong kong", "isle of man", "fish tank", "fish"] * 10
    between = ["of the", "of", "has been", "the", "has", "in the", "been in", "is", "is the"]
    lines = []
    for _ in range(3000):
        words = [*zip(rng.choice(units, 4), rng.choice(between, 4), strict=True)]
        line = " ".join(f"{function} {unit}" for unit, function in words)
        lines.append(f"{line} ." if punctuated else line)
    return lines


@pytest.mark.parametrize("punctuated", [True, False])
def test_phrases_are_found_and_function_words_left_out(punctuated):
    lines = invented_text(punctuated)
    found = discover(None, lines, ngrams=(2, 3), min_count=10, min_score=0.2)
    # Without punctuation, nothing tells a function word from a word as common as *fish*.
    assert set(found) == {"hong kong", "isle of man"} | ({"fish tank"} if punctuated else set())
    everything = discover(None, lines, ngrams=(2, 3), min_count=10, min_score=None)
    scores = dict(zip(everything, everything.scores, strict=True))
    assert {"the hong kong", "isle of"} < set(everything)
    assert scores["has been"] > 0.2  # only its ends say that it is no phrase
    assert scores["isle of"] > 0.2
    assert list(discover(None, lines, ngrams=(2, 3), min_count=10, min_score=0.9)) == ["hong kong", "isle of man"]
    assert list(discover(None, lines, ngrams=(2, 3), min_count=10, min_score=0)) == list(everything)


def test_found_targets_are_a_table_and_targets():
    text = ["he saw new york .", "new york was calling", "he was in york"]
    found = discover(None, text, ngrams=(1, 2), min_count=2)
    assert found.to_dict()[-2:] == [
        {"word": "was", "count": 2, "score": None},
        {"word": "new york", "count": 2, "score": 0.7834},
    ]
    assert found == Targets.ngrams(["york", "he", "new", "was", "new york"])
    assert list(found | Targets(["saw"])) == ["york", "he", "new", "was", "new york", "saw"]
    assert Targets.of(found) is found
    model = ALaCarte(WordVectors(["saw", "he"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
    assert model.induce(text, model.discover(text, ngrams=2, min_count=2)).words == ("new york",)
    assert "0.7834" in found._repr_html_()
    assert repr(discover(None, ["x"])) == "Discovered(none)"
    assert found.to_csv().splitlines()[0] == "word,count,score"
    assert discover(None, ["x"]).to_dict() == []
    assert str(discover(None, ["x"])) == "word  count  score"


def test_numbers_and_fragments_are_left_out():
    text = ["parkinson 's disease in 1990 , the 20th century , j. smith 1990"] * 20
    split = {"tokenizer": "whitespace", "min_count": 10}
    assert set(discover(None, text, **split)) == {"parkinson", "disease", "in", "the", "20th", "century", "smith"}
    assert "parkinson 's disease" in discover(None, text, ngrams=3, min_score=None, **split)
    pairs = set(discover(None, text, ngrams=2, min_score=None, **split))
    assert pairs == {"the 20th", "20th century", "disease in"}
    assert {"1990", ",", "'s", "j."} < set(discover(None, text, all_tokens=True, **split))
