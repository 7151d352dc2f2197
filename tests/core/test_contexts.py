import numpy as np
import plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte import ContextSums, Document, Targets, WordVectors, collect
from alacarte.contexts.integers import PIECE, row_pieces
from alacarte.contexts.merging import merge
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, BadCorpus, BadSums

ALPHABET = ["a", "b", "c", "d", "e", "x", "y", "z"]  # x, y, z have no vector
VECTORS = WordVectors(["a", "b", "c", "d", "e"], np.random.default_rng(7).normal(size=(5, 19)).astype(np.float32))

documents = st.lists(st.lists(st.sampled_from(ALPHABET), max_size=40), min_size=1, max_size=6).filter(any)
sequences = st.lists(
    st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=4).map(tuple), min_size=1, max_size=8, unique=True
)
options = st.fixed_dictionaries(
    {
        "averaging": st.sampled_from(["occurrence", "token", "context"]),
        "positions": st.sampled_from(["uniform", "linear", "inverse"]),
        "unknown": st.sampled_from(["keep", "drop"]),
        "weights": st.one_of(
            st.none(), st.dictionaries(st.sampled_from("abc"), st.sampled_from([0.0, 0.25, 2.0]), max_size=3)
        ),
    }
)
widths = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(any)


def sums_of(texts, targets, window, **chosen):
    chosen["context_weights"] = chosen.pop("weights", None)
    return collect(VECTORS, texts, targets, window=window, **chosen)


@given(documents, sequences, widths, options)
def test_sums_equal_the_plain_twin(texts, targets, window, chosen):
    sums = sums_of(texts, Targets(targets), window, **chosen)
    expected = plain.sums(texts, targets, VECTORS, *window, **chosen)
    # Each context word is rounded to about 1e-8; see test_the_error_of_rounding.
    np.testing.assert_allclose(sums.vectors(), [row[0] for row in expected], atol=1e-6)
    assert sums.occurrences.tolist() == [row[1] for row in expected]
    assert sums.contexts.tolist() == [row[2] for row in expected]
    assert sums.tokens.tolist() == [row[3] for row in expected]
    np.testing.assert_allclose(sums.total_weights, [row[4] for row in expected], atol=1e-6)


@given(documents, widths, options)
def test_vocabulary_as_targets_equals_the_plain_twin(texts, window, chosen):
    sums = sums_of(texts, None, window, **chosen)
    expected = plain.sums(texts, [(word,) for word in VECTORS.words], VECTORS, *window, **chosen)
    np.testing.assert_allclose(sums.vectors(), [row[0] for row in expected], atol=1e-6)
    assert sums.occurrences.tolist() == [row[1] for row in expected]


@given(documents, sequences, widths, options, st.integers(0, 6))
def test_any_split_of_a_corpus_merges_to_the_same_sums(texts, targets, window, chosen, cut):
    parts = [part for part in (texts[:cut], texts[cut:]) if any(part)]
    whole = sums_of(texts, Targets(targets), window, **chosen)
    merged = merge([sums_of(part, Targets(targets), window, **chosen) for part in parts])
    assert merged == whole
    if len(parts) == 2:
        first, second = (sums_of(part, Targets(targets), window, **chosen) for part in parts)
        assert second + first == whole
        assert whole - second == first
        assert (first + second) - second == first


@given(documents, sequences, widths)
def test_two_threads_give_the_same_bits(texts, targets, window):
    one = sums_of(texts, Targets(targets), window, threads=1)
    two = sums_of(texts, Targets(targets), window, threads=2)
    assert one == two


@given(documents, widths)
def test_windows_never_cross_documents(texts, window):
    """A document alone gives what it gives among others."""
    together = sums_of(texts, None, window)
    alone = merge([sums_of([text], None, window) for text in texts if text])
    assert together == alone


@given(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=30), sequences, widths)
def test_targets_never_see_themselves(text, targets, window):
    """The vector of a target's own tokens does not matter at any place it occurs once."""
    for target in targets:
        if len(plain.find([text], [target])) != 1 or any(text.count(token) != 1 for token in target):
            continue
        changed = VECTORS.matrix.copy()
        for token in target:
            if token in VECTORS:
                changed[VECTORS.index(token)] += 100
        other = WordVectors(VECTORS.words, changed)
        ours = collect(VECTORS, [text], Targets([target]), window=window)
        theirs = collect(other, [text], Targets([target]), window=window)
        np.testing.assert_allclose(ours.vectors(), theirs.vectors(), atol=1e-5)


def test_long_documents_drift_less_than_float32_could(tmp_path):
    """Sums over 200,000 tokens stay within 1e-7 of a context's length (the authors' float32 drifts by 1e-4)."""
    rng = np.random.default_rng(1)
    text = rng.choice(VECTORS.words, 200_000).tolist()
    sums = collect(VECTORS, [text], window=5)
    rows = VECTORS[text].astype(np.float64)
    around = sum(np.roll(np.pad(rows, ((5, 5), (0, 0))), shift, axis=0) for shift in (*range(-5, 0), *range(1, 6)))
    exact = np.array([around[5:-5][np.array(text) == word].sum(axis=0) for word in VECTORS.words])
    np.testing.assert_allclose(sums.means(), exact / sums.occurrences[:, None], rtol=0, atol=1e-7)


def test_golden_case(toy):
    text = "a b x c a x zz a"
    sums = collect(toy, [text], ["x", "a"], window=2)
    assert sums.vectors().tolist() == [[8, 5], [2, 3]]
    assert sums.occurrences.tolist() == [2, 3]


def test_three_averages(toy):
    text = ["a b x c", "x b"]  # contexts of x: {a, b, c} and {b}
    for averaging, expected in {
        "occurrence": [3 / 2, 4 / 2],
        "token": [3 / 4, 4 / 4],
        "context": [(3 / 3 + 0) / 2, (3 / 3 + 1) / 2],
    }.items():
        sums = collect(toy, text, ["x"], window=2, averaging=averaging)
        np.testing.assert_allclose(sums.means()[0], expected)
    sums = collect(toy, text, ["x"], window=2)
    np.testing.assert_allclose(sums.with_averaging("token").means()[0], [3 / 4, 1])
    with pytest.raises(BadSums, match="collect them again"):
        sums.with_averaging("context")


def test_sif_and_top_weights_come_from_a_first_pass(toy):
    text = ["a a a b x c"]
    sif = collect(toy, text, ["x"], window=9, context_weights="sif:0.1")
    share = np.array([3, 1, 1]) / 5
    weights = 0.1 / (0.1 + share)
    np.testing.assert_allclose(sif.vectors(0), weights * [3, 1, 1] @ toy.matrix, rtol=1e-6)
    top = collect(toy, text, ["x"], window=9, context_weights="top:1")
    np.testing.assert_allclose(top.vectors(0), toy["b"] + toy["c"])
    assert top.tokens[0] == 2
    with pytest.raises(BadCorpus, match="read only once"):
        collect(toy, iter(text), ["x"], context_weights="sif")


def test_save_and_load(tmp_path, toy):
    targets = Targets(["x", ["b", "x"]]) | Targets.glob("z*") | Targets.spans(["label"])
    text = Document(text=None, tokens=["a", "b", "x", "zz", "c"], spans=((1, 3, "label"),))
    sums = collect(toy, [text], targets, window=(1, 2), context_weights={"a": 0.5})
    sums.save(tmp_path / "sums")
    again = ContextSums.load(tmp_path / "sums")
    assert again.keys == sums.keys
    assert again.targets == sums.targets
    assert again.settings == sums.settings
    assert again == sums
    assert again.weights.values.tolist() == [0.5, 1, 1]
    assert (again + sums).occurrences.tolist() == (2 * sums.occurrences).tolist()


def test_spans_get_labels_as_they_come(toy):
    texts = [
        Document(text="a New York b", tokens=None, spans=((2, 10, "LOC"), (6, 10, "part"))),
        Document(text=None, tokens=["c", "x"], spans=((1, 2, "LOC"),)),
        "a b c",
    ]
    sums = collect(toy, texts, Targets.spans() | Targets(["b"]), window=2)
    assert sums.keys == ["b", "LOC", "part"]
    assert sums.occurrences.tolist() == [2, 2, 1]
    assert sums.vectors().tolist() == [[3, 2], [3, 3], [1, 1]]
    only = collect(toy, texts, Targets.spans(["part"]), window=2)
    assert only.keys == ["part"]
    more = sums + collect(toy, texts[1:], Targets.spans() | Targets(["b"]), window=2)
    assert dict(zip(more.keys, more.occurrences.tolist(), strict=True)) == {"b": 3, "LOC": 3, "part": 1}


def test_sums_of_different_kinds_do_not_add(toy):
    sums = collect(toy, ["a x"], ["x"], window=2)
    for other, word in (
        (collect(toy, ["a x"], ["x"], window=3), "left"),
        (collect(toy, ["a x"], ["x"], window=2, averaging="token"), "averaging"),
        (collect(toy, ["a x"], ["x"], window=2, tokenizer="whitespace"), "tokenizer"),
        (collect(toy.normalised(), ["a x"], ["x"], window=2), "different vectors"),
        (collect(toy, ["a x"], window=2), "whole vocabulary"),
    ):
        with pytest.raises(BadSums, match=word):
            sums + other


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"window": 0}, "holds nothing"),
        ({"window": (-1, 3)}, "window is a whole number from 0 on"),
        ({"averaging": "mean"}, "averaging must be one of occurrence, token, context"),
        ({"positions": "square"}, "positions must be one of"),
        ({"unknown": "skip"}, "unknown must be one of"),
        ({"context_weights": "idf"}, "not known"),
        ({"context_weights": "learned"}, "not known"),
        ({"context_weights": "sif:x"}, "not a number"),
        ({"context_weights": {"a": -1}}, "not negative"),
        ({"context_weights": ["a", "b", "c"]}, "every context word has weight 0"),
    ],
)
def test_bad_options_are_refused(toy, chosen, message):
    with pytest.raises(AlacarteError, match=message):
        collect(toy, ["a b"], ["a"], **chosen)


# ---------------------------------------------------------------------------------------------- weights by distance


def test_positions_by_number():
    settings = Reading(2, 3, positions="1,0.5/0.75,0,0.25")
    left, right = settings.position_weights()
    assert (left.tolist(), right.tolist()) == ([1, 0.5], [0.75, 0, 0.25])
    vectors = WordVectors(["a", "b", "c"], np.eye(3))
    sums = collect(vectors, ["a b x c b a"], ["x"], window=(2, 3), positions=settings.positions, show_progress=False)
    assert sums.vectors().tolist() == [[0.5 + 0.25, 1.0, 0.75]]
    assert sums.total_weights.tolist() == [2.5]
    assert sums.tokens.tolist() == [4]


@pytest.mark.parametrize("kind", ["uniform", "linear", "inverse"])
def test_named_positions_are_special_cases(kind):
    text = [np.random.default_rng(3).choice(ALPHABET, 300).tolist()]
    by_name = collect(VECTORS, text, window=(2, 4), averaging="token", positions=kind)
    sides = by_name.settings.position_weights()
    numbers = "/".join(",".join(str(weight) for weight in side) for side in sides)
    by_number = collect(VECTORS, text, window=(2, 4), averaging="token", positions=numbers)
    np.testing.assert_allclose(by_number.means(), by_name.means(), atol=1e-7)


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ("1,2", "as in"),
        ("1,x/1,2", "as in"),
        ("1/1,2", "a window of 1 words before and 2 after, and the window has 2 and 2"),
        ("1,-1/1,1", "not negative"),
        ("0,0/0,0", "not all 0"),
        ("1,nan/1,1", "finite"),
    ],
)
def test_positions_that_are_none(positions, message):
    with pytest.raises(AlacarteError, match=message):
        Reading(2, 2, positions=positions)


@pytest.mark.parametrize(("dimension", "window"), [(1, 3), (8192, 10_000)])
def test_any_dimension_and_window(dimension, window):
    """Rows of any length are summed in pieces of bounded length, by code that does not grow with them."""
    assert max(row_pieces(d)[1] for d in range(1, 10_000)) <= PIECE
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(12)]
    vectors = WordVectors(words, rng.normal(size=(12, dimension)).astype(np.float32))
    text = rng.choice(words, 300).tolist()
    sums = collect(vectors, [text], ["w1"], window=window, averaging="token")
    places = [place for place, word in enumerate(text) if word == "w1"]
    around = [text[max(0, place - window) : place] + text[place + 1 : place + 1 + window] for place in places]
    expected = np.mean([vectors[word].astype(float) for context in around for word in context], axis=0)
    np.testing.assert_allclose(sums.means()[0], expected, rtol=1e-4, atol=1e-5)
