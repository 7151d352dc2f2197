"""Adding and subtracting sums: which belong together, and files that are merged a few rows at a time."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import EVERYTHING, NGRAMS, PATTERNS, SPANS, VECTORS, WORDS, annotated, lines, options
from typer.testing import CliRunner

from alacarte import ContextSums, Document, Targets, Transform, WordVectors, collect
from alacarte.cli import app
from alacarte.contexts.merging import merge, merge_files
from alacarte.errors import BadSums
from alacarte.transform.solve import Solve

targets = st.sampled_from([None, WORDS, NGRAMS, PATTERNS, EVERYTHING])
spreads = st.sampled_from([None, 3])
DAYS = ["a bank x them", "them b them x", "x zorg a zorg them"]


def test_a_transform_is_learned_the_same_from_merged_sums_in_any_order():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(300)], rng.normal(size=(300, 4)))
    text = [" ".join(rng.choice(vectors.words, 12)) for _ in range(400)]
    order = [vectors.words[row] for row in rng.permutation(300)]
    whole, other = (collect(vectors, text, words, window=2) for words in (vectors.words, order))
    one, two = (Transform.learn(sums, vectors, Solve()) for sums in (whole, other))
    assert np.array_equal(one.matrix, two.matrix)
    assert one.report == two.report


def test_sums_with_other_targets_are_not_added():
    """What only one of them looked for would have too few occurrences."""
    first, second = collect(VECTORS, DAYS[:1], ["x"]), collect(VECTORS, DAYS[1:2], ["x", "them"])
    with pytest.raises(BadSums, match=r"'them' was looked for in some .* one list of targets.*shared_only=True"):
        first + second
    with pytest.raises(BadSums, match="'them' was looked for"):
        second + first
    with pytest.raises(BadSums, match="'them' was looked for"):
        merge([second, second, first])
    shared = merge([second, first], shared_only=True)
    assert shared == collect(VECTORS, DAYS[:2], ["x"])
    with pytest.raises(BadSums, match="no target was looked for in all"):
        merge([first, collect(VECTORS, DAYS, ["them"])], shared_only=True)


def test_a_word_and_a_pattern_are_other_targets():
    with pytest.raises(BadSums, match=r"'x\*' was looked for"):
        collect(VECTORS, DAYS, Targets.glob("x*")) + collect(VECTORS, DAYS, ["x*"])
    globbed = [collect(VECTORS, [day], Targets.glob(["zo*", "th*"])) for day in DAYS]
    assert merge(globbed) == collect(VECTORS, DAYS, Targets.glob(["zo*", "th*"]))


def test_the_order_of_targets_does_not_matter():
    one, two = collect(VECTORS, DAYS[:1], ["x", "a"]), collect(VECTORS, DAYS[1:], ["a", "x"])
    assert one + two == collect(VECTORS, DAYS, ["x", "a"])


def test_sums_with_fewer_targets_are_not_taken_away():
    both = collect(VECTORS, DAYS, ["x", "them"])
    with pytest.raises(BadSums, match="'them' was looked for"):
        both - collect(VECTORS, DAYS[:1], ["x"])
    only = collect(VECTORS, DAYS, ["x"])
    assert only - collect(VECTORS, DAYS[:1], ["x", "them"]) == collect(VECTORS, DAYS[1:], ["x"])


def test_labels_that_occur_in_some_texts_only():
    """Where any label is a target, one that is not listed does not occur."""
    texts = [[Document(tokens=["a", "x"], spans=[(1, 2, label)])] for label in ("P", "Q")]
    parts = [collect(VECTORS, text, SPANS) for text in texts]
    assert parts[0] + parts[1] == collect(VECTORS, texts[0] + texts[1], SPANS)
    named = collect(VECTORS, texts[0], Targets.spans(["Q"]))
    with pytest.raises(BadSums, match="every label was looked for"):
        parts[0] + named
    assert merge([parts[1], named], shared_only=True).keys == ["Q"]


def test_saved_vocabularies_without_words_that_do_not_occur(tmp_path):
    for number, day in enumerate(DAYS):
        collect(VECTORS, [day]).save(tmp_path / str(number))
    parts = [ContextSums.load(tmp_path / str(number)) for number in range(3)]
    assert parts[0].keys != parts[1].keys
    assert merge(parts) == merge(parts[::-1]) == collect(VECTORS, DAYS)
    assert merge(parts) != collect(VECTORS, [*DAYS[:2], "x zorg b zorg them"])
    assert merge_files([tmp_path / str(number) for number in range(3)], tmp_path / "all") == merge(parts)


@settings(max_examples=10)
@given(st.lists(lines, min_size=2, max_size=4), options, targets, spreads)
def test_files_are_merged_to_the_same_bits(tmp_path_factory, texts, chosen, targets, spread):
    if chosen["context_weights"] == "top:2":
        chosen = {**chosen, "context_weights": None}
    rng = np.random.default_rng(0)
    parts = [collect(VECTORS, annotated(text, rng), targets, spread=spread, **chosen) for text in texts]
    folder = tmp_path_factory.mktemp("files")
    for number, part in enumerate(parts):
        part.save(folder / f"{number}")
    files = [folder / f"{number}" for number in range(len(parts))]
    assert merge_files(files, folder / "all") == merge(parts)
    assert merge_files([folder / "all"], folder / "rest", subtract=files[1:]) == parts[0]


def test_files_are_merged_some_rows_at_a_time(tmp_path):
    """Neither the parts nor the total are ever in memory."""
    rng = np.random.default_rng(0)
    vectors = WordVectors(["a", "b"], rng.normal(size=(2, 100)))
    words = [f"t{i}" for i in range(20_000)]
    parts = [collect(vectors, [f"a {words[i]} b"], words) for i in range(4)]
    for number, part in enumerate(parts):
        part.save(tmp_path / f"{number}")
    size = parts[0].all.sums.nbytes
    expected = merge(parts)
    del parts, part
    tracemalloc.start()
    merged = merge_files([tmp_path / f"{number}" for number in range(4)], tmp_path / "all")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert merged == expected
    assert peak < size * 0.8 + 10_000_000 < 2 * size  # keys and counts of all targets, and some rows


def test_days_of_news_on_the_command_line(tmp_path):
    """What is new differs from day to day, so sums of days do not add up."""
    for number, day in enumerate(DAYS):
        collect(VECTORS, [day], {0: ["x"], 1: ["x", "them"], 2: ["x", "zorg"]}[number]).save(
            tmp_path / f"{number}.sums"
        )
    files = [str(tmp_path / f"{number}.sums") for number in range(3)]
    out = ["--out", str(tmp_path / "all.sums")]
    refused = CliRunner().invoke(app, ["merge", *files, *out])
    assert refused.exit_code == 1
    assert "--shared-only" in refused.stderr
    assert not (tmp_path / "all.sums").exists()
    assert CliRunner().invoke(app, ["merge", *files, *out, "--shared-only"]).exit_code == 0
    assert ContextSums.load(tmp_path / "all.sums") == collect(VECTORS, DAYS, ["x"])
