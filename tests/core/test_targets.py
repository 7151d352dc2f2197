import re

import numpy as np
import plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte import Document, Targets, WordVectors, collect, discover
from alacarte.errors import BadTargets
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer

INDEX = {"a": 0, "b": 1, "c": 2}
ALPHABET = ["a", "b", "c", "x", "yx", "z"]
documents = st.lists(st.lists(st.sampled_from(ALPHABET), max_size=25), min_size=1, max_size=5)
WORDS = get_tokenizer("words")


def matches(texts, targets, tokenizer=WORDS, index=INDEX):
    """(document, start, end, key), positions counted within the document."""
    lexicon = Lexicon(index)
    matcher = targets.compile(lexicon, tokenizer)
    encoded = Encoder(tokenizer, lexicon).encode(texts)
    found = matcher.match(encoded)
    assert (np.diff(found.starts) >= 0).all()
    document = np.searchsorted(encoded.offsets, found.starts, side="right") - 1
    first = encoded.offsets[document]
    return sorted(
        (int(d), int(s - o), int(e - o), matcher.keys[t])
        for d, o, s, e, t in zip(document, first, found.starts, found.ends, found.targets, strict=True)
    )


@given(
    documents,
    st.lists(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=5).map(tuple), min_size=1, unique=True),
)
def test_matching_equals_the_plain_twin(texts, sequences):
    expected = [(d, s, e, " ".join(sequences[i])) for d, s, e, i in plain.find(texts, sequences)]
    assert matches(texts, Targets(sequences)) == sorted(expected)


@given(documents, st.lists(st.sampled_from(["?", "*x", "a *", "* b ?", "yx", "[bc]"]), min_size=1, unique=True))
def test_globs_equal_the_plain_twin(texts, patterns):
    def expand(pattern):
        parts = [re.compile(part.replace("*", ".*").replace("?", ".")) for part in pattern.split()]
        for d, tokens in enumerate(texts):
            for s in range(len(tokens) - len(parts) + 1):
                if all(part.fullmatch(token) for part, token in zip(parts, tokens[s:], strict=False)):
                    yield d, s, s + len(parts), pattern

    assert matches(texts, Targets.glob(patterns)) == sorted(m for pattern in patterns for m in expand(pattern))


def test_regular_expressions_search_inside_tokens():
    text = [["Immigration", "and", "emigrants", "xx"]]
    assert matches(text, Targets.regex("migra")) == [(0, 0, 1, "migra"), (0, 2, 3, "migra")]
    assert matches(text, Targets.regex("^migra")) == []
    assert matches(text, Targets.regex("^and$ ^em")) == [(0, 1, 3, "^and$ ^em")]


def test_many_distinct_unknown_tokens_are_forgotten_and_still_matched(monkeypatch):
    monkeypatch.setattr(Lexicon, "FORGET_AFTER", 3)
    text = [[f"u{i}" for i in range(20)] + ["zebra"] + [f"u{i}" for i in range(20)] + ["zoo"]]
    assert matches(text, Targets.glob("z*")) == [(0, 20, 21, "z*"), (0, 41, 42, "z*")]


def test_overlapping_and_nested_matches_all_count():
    text = ["new york city"]
    found = matches(text, Targets(["new york", "york city", "new york city", "york"]))
    assert found == [
        (0, 0, 2, "new york"), (0, 0, 3, "new york city"), (0, 1, 2, "york"), (0, 1, 3, "york city"),
    ]  # fmt: skip


def test_targets_follow_the_tokenizer():
    """Case and hyphens of a target are those of the corpus; keys stay as asked for, also two for one sequence."""
    text = ["in New York, well-known"]
    found = matches(text, Targets(["New York", "new york", "Well-Known"]))
    assert found == [(0, 1, 3, "New York"), (0, 1, 3, "new york"), (0, 4, 7, "Well-Known")]


def test_spans_in_text_begin_and_end_with_tokens():
    text = Document(text="The New Yorker reads", tokens=None, spans=((4, 12, "CITY"), (4, 14, "MAG")))
    found = matches([text], Targets.spans())
    assert found == [(0, 1, 3, "CITY"), (0, 1, 4, "MAG")]  # "Yorker" is cut where a span ends
    empty = Document(text="a  b", tokens=None, spans=((1, 3, "SPACE"),))
    assert matches([empty], Targets.spans()) == []


def test_span_labels_do_not_mix_with_words():
    text = Document(text=None, tokens=["x", "a"], spans=((0, 1, "bank"),))
    with pytest.raises(BadTargets, match="rename"):
        matches([text], Targets(["bank"]) | Targets.spans())


def test_from_file(tmp_path):
    file = tmp_path / "targets.txt"
    file.write_text("\ufeffNew York\n\nzorg\nNew York\n", encoding="utf-8")
    assert list(Targets.from_file(file)) == ["New York", "zorg"]
    assert Targets.of(file) == Targets(["New York", "zorg"])


def test_union_and_state():
    targets = Targets(["a", ["b", "c"]]) | Targets.glob("x*") | Targets.regex("^y") | Targets.spans(["L"])
    assert list(targets) == ["a", "b c", "x*", "^y", "L"]
    assert Targets.from_state(list(targets), targets.to_state()) == targets
    assert "b c" in targets
    assert len(targets) == 5


@given(documents, st.integers(1, 3), st.integers(1, 4))
def test_discovery_equals_counting_everything(texts, longest, min_count):
    counts: dict[tuple[str, ...], int] = {}
    for tokens in texts:
        for n in range(1, longest + 1):
            for i in range(len(tokens) - n + 1):
                gram = tuple(tokens[i : i + n])
                counts[gram] = counts.get(gram, 0) + 1
    expected = {" ".join(gram) for gram, count in counts.items() if count >= min_count}
    found = discover(None, texts, ngrams=range(1, longest + 1), min_count=min_count, all_tokens=True, min_score=None)
    assert set(found) == expected
    ranked = [counts[tuple(key.split())] for key in found if " " not in key]
    assert ranked == sorted(ranked, reverse=True)


def test_discovery_leaves_out_known_words_and_what_is_no_word():
    vectors = WordVectors(["a", "rose"], [[1.0], [2.0]])
    texts = ["A rose, a zorg, a zorg"]
    assert list(discover(vectors, texts, ngrams=(1, 2), min_count=2)) == ["zorg"]
    with_all = discover(vectors, texts, ngrams=1, min_count=2, known=True, all_tokens=True)
    assert list(with_all) == ["a", ",", "zorg"]


def test_discovered_targets_are_found_again():
    vectors = WordVectors(["a", "rose"], [[1.0], [2.0]])
    texts = ["It isn't well-known, is it?"] * 3
    targets = discover(vectors, texts, ngrams=(1, 2, 3), min_count=3, min_score=None)
    sums = collect(vectors, texts, targets)
    assert {"isn", "well", "is it"} <= set(targets)  # n't is not among these vectors, so isn't is isn ' t
    assert sums.occurrences.tolist() == [6 if key == "it" else 3 for key in targets]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Targets(["a", "  "]), "empty"),
        (lambda: Targets([3]), "a string or a sequence of tokens"),
        (lambda: Targets([[]]), "a string or a sequence of tokens"),
        (lambda: Targets(["a"]) | Targets.glob("a"), "both as words and as glob"),
        (lambda: Targets.regex("("), "malformed"),
        (lambda: Targets.from_file("nowhere.txt"), "nowhere.txt"),
        (lambda: matches(["a"], Targets(["\u200b"])), "finds no token"),
    ],
)
def test_bad_targets(make, message):
    with pytest.raises(BadTargets, match=message):
        make()
