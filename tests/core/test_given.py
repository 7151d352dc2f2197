"""What callers pass: words that come one by one, numbers of other types, and values that mean nothing."""

import numpy as np
import pytest
from spelled_language import language, text_in

from alacarte import (
    ALaCarte,
    Concordance,
    ContextSums,
    Corpus,
    Document,
    Index,
    Targets,
    Transform,
    WordVectors,
    collect,
    compare,
    discover,
    induce_senses,
)
from alacarte.concordance import over_periods
from alacarte.contexts.reading import Reading, window_sides
from alacarte.contexts.weights import resolve
from alacarte.errors import AlacarteError
from alacarte.regression import Inference, dem
from alacarte.regression.describe import candidate_vectors
from alacarte.transform.solve import Solve

VECTORS = WordVectors(["the", "cat", "sat"], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
TEXT = ["the cat sat", "the blorp sat"]
MODEL = ALaCarte(VECTORS, Transform(np.eye(2)))
GERMAN = WordVectors(["die", "Katze", "US", "us"], np.eye(4))


# ------------------------------------------------------------------------------------- words that come one by one


def test_stop_words_one_by_one(tmp_path):
    expected = collect(VECTORS, TEXT, ["blorp"], context_weights=["the"])
    for options in ({}, {"checkpoint": tmp_path / "a"}):
        assert collect(VECTORS, TEXT, ["blorp"], context_weights=(w for w in ("the",)), **options) == expected
    assert expected.total_weights.tolist() == [1.0]


def test_excluded_words_one_by_one():
    rng = np.random.default_rng(0)
    vectors = language(rng, roots=40, endings=10)
    text, out = text_in(vectors, rng, 4000), vectors.words[::9]
    options = {"window": 2, "weighting": None, "form": True, "show_progress": False}
    one = ALaCarte.fit(vectors, text, exclude=out, **options)
    two = ALaCarte.fit(vectors, text, exclude=(word for word in out), **options)
    assert two.form.words == one.form.words == len(vectors) - len(out)
    assert two.report.words == one.report.words == len(vectors) - len(out)


def test_a_string_is_no_list_of_words():
    with pytest.raises(AlacarteError, match=r"exclude is a list of words, not 'cat'; pass \['cat'\]"):
        Solve(exclude="cat")
    with pytest.raises(AlacarteError, match="and 3 is none"):
        Solve(exclude=[3])


# ------------------------------------------------------------------------------------------------------- numbers


def test_windows():
    assert window_sides(np.int64(5)) == (5, 5)
    assert window_sides([2, np.int32(3)]) == (2, 3)
    assert collect(VECTORS, TEXT, window=np.int64(1)) == collect(VECTORS, TEXT, window=1)
    for window in ((2.9, 1), 2.0, (1, 2, 3), (1,), -1, (1, -1), True, "5", None, np.array([1, 2])):
        with pytest.raises(AlacarteError, match="window is a whole number"):
            collect(VECTORS, TEXT, window=window)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"shard": (1.5, 2)}, "shard .* is a whole number from 1 on, not 1.5"),
        ({"shard": (1, 2.5)}, "shard .* is a whole number from 1 on, not 2.5"),
        ({"shard": (2, 1)}, "shard 2 of 1: parts are numbered"),
        ({"shard": (1,)}, r"shard is \(i, n\), the i-th of n parts of the text, not \(1,\)"),
        ({"shard": 2}, "shard is .* not 2"),
        ({"shard": "1/2"}, "shard is .* not '1/2'"),
        ({"block_size": 1.5}, "block_size is a whole number from 1 on, not 1.5"),
        ({"threads": True}, "threads is a whole number from 1 on, not True"),
        ({"spread": 2.5}, "spread is a whole number"),
        ({"spread": 1}, "spread is a whole number from 2 on"),
    ],
)
def test_parts_of_the_work_are_whole_numbers(options, why):
    with pytest.raises(AlacarteError, match=why):
        collect(VECTORS, TEXT, **options)


def test_numbers_of_numpy_are_kept_in_files(tmp_path):
    (tmp_path / "a.txt").write_text("the cat sat\nthe blorp sat\n")
    text, numbers = tmp_path / "a.txt", {"block_size": 1000, "spread": 4, "window": 3}
    options = {name: np.int64(number) for name, number in numbers.items()} | {"shard": (np.int64(1), np.int64(1))}
    sums = collect(VECTORS, text, ["blorp"], checkpoint=tmp_path / "c", **options)
    assert sums == collect(VECTORS, text, ["blorp"], checkpoint=tmp_path / "c", shard=(1, 1), **numbers)
    sums.save(tmp_path / "sums")
    assert ContextSums.load(tmp_path / "sums") == sums


@pytest.mark.parametrize("sides", [{"left": 2.9}, {"right": 1.5}, {"left": -1}, {"left": True}])
def test_readings_have_whole_windows(sides):
    with pytest.raises(AlacarteError, match="window is a whole number from 0 on"):
        Reading(**sides)
    assert Reading(left=np.int64(2)) == Reading(left=2)


@pytest.mark.parametrize(
    "weights",
    [
        *("top:-1", "top:nan", "top:1.5", "top:inf", "top:", "sif:0", "sif:-1", "sif:nan", "sif:inf", "most", 3),
        *({"the": "much"}, {"the": np.nan}, {"the": -1.0}, [1, 2], {"the": 0, "cat": 0, "sat": 0}),
    ],
)
def test_context_weights_that_mean_nothing(weights):
    with pytest.raises(AlacarteError):
        resolve(weights, VECTORS, lambda: np.array([3, 2, 1]))


def test_the_most_frequent_words():
    values = resolve("top:1", VECTORS, lambda: np.array([3, 2, 1])).values
    assert values.tolist() == [0, 1, 1]
    assert resolve("top:1.0", VECTORS, lambda: np.array([3, 2, 1])).values.tolist() == values.tolist()


@pytest.mark.parametrize(
    "options",
    [{"ridge": -1}, {"ridge": np.nan}, {"ridge": "much"}, {"ridge": None}, {"folds": 0}, {"folds": 2.5}, {"toward": 1}],
)
def test_fitting_that_means_nothing(options):
    with pytest.raises(AlacarteError):
        Solve(**options)
    assert Solve(ridge=np.float32(0.5), folds=np.int64(3)).folds == 3


@pytest.mark.parametrize("number", [0, -1, 2.5, True, "3"])
def test_numbers_of_senses_uses_and_words_that_mean_nothing(number, tmp_path):
    induced = MODEL.induce(["the blorp sat", "a blorp the cat", "cat blorp"] * 3, ["blorp"], spread=2)
    concordance = Concordance.build(VECTORS, TEXT, tmp_path / "c", show_progress=False)
    calls = {
        "k": lambda: induce_senses(MODEL, TEXT, "blorp", k=number),
        "limit": lambda: induce_senses(MODEL, TEXT, "blorp", limit=number),
        "among": lambda: induced.uncertainty.nearest("blorp", among=number),
        "min_count": lambda: compare(MODEL, TEXT, [*TEXT, "cat"], min_count=number),
        "spread": lambda: concordance.induce(MODEL, "cat", spread=number),
    }
    if number != 0:
        calls |= {
            "examples": lambda: induce_senses(MODEL, TEXT, "blorp", examples=number),
            "seed": lambda: induce_senses(MODEL, TEXT, "blorp", seed=number),
            "contexts": lambda: compare(MODEL, TEXT, [*TEXT, "cat"], contexts=number),
            "limit of lines": lambda: concordance.lines("cat", limit=number),
            "skip": lambda: concordance.lines("cat", skip=number),
            "around": lambda: concordance.lines("cat", around=number),
            "seed of lines": lambda: concordance.lines("cat", seed=number),
            "limit of influence": lambda: concordance.influence(MODEL, "cat", limit=number),
            "document": lambda: concordance.text(number),
            "count": lambda: concordance.frequent_words(number),
        }
    for name, call in calls.items():
        with pytest.raises(AlacarteError, match=name.partition(" ")[0]):
            call()
    induced.uncertainty.nearest("blorp", k=np.int64(1), among=np.int64(2))
    assert len(concordance.lines("the", limit=np.int64(1), skip=np.int32(1), seed=np.int64(1))) == 1


@pytest.mark.parametrize("weighting", [-1, np.nan, "most", True])
def test_weightings_that_mean_nothing(weighting):
    with pytest.raises(AlacarteError, match="weighting is"):
        Solve(weighting=weighting).word_weights(np.array([1, 2]))


@pytest.mark.parametrize(
    "options",
    [
        {"ngrams": 0},
        {"ngrams": 1.5},
        {"ngrams": ()},
        {"min_count": 0},
        {"min_count": 2.5},
        {"ngrams": "12"},
        {"min_score": "high"},
    ],
)
def test_discovering_what_means_nothing(options):
    with pytest.raises(AlacarteError, match=r"ngrams|min_count|min_score"):
        discover(None, ["a a"], **options)


@pytest.mark.parametrize("level", [0, 1, 2.5, -0.5, np.nan, True, "0.9", None, np.array([0.5, 0.9])])
def test_levels_of_intervals_that_mean_nothing(level):
    induced = MODEL.induce(["the blorp sat", "a blorp the cat", "cat blorp"] * 3, ["blorp"], spread=2)
    sure = induced.uncertainty
    for call in (
        lambda: sure.similarity("blorp", "cat", level=level),
        lambda: sure.nearest("blorp", level=level),
        lambda: sure.between("blorp", "blorp", level=level),
        lambda: compare(MODEL, TEXT, [*TEXT, "cat"], level=level),
        lambda: Inference(level=level),
    ):
        with pytest.raises(AlacarteError, match="level is a probability between 0 and 1"):
            call()
    assert sure.similarity("blorp", "cat", level=np.float64(0.9)).conf_low < 1


@pytest.mark.parametrize("seed", [-1, 2.5, np.nan, True, "3"])
def test_seeds_that_mean_nothing(seed):
    with pytest.raises(AlacarteError, match="seed is a whole number from 0 on"):
        Inference(seed=seed)
    with pytest.raises(AlacarteError, match="seed is a whole number from 0 on"):
        Index.build(VECTORS).recall(seed=seed)


def test_numbers_of_periods_blocks_and_queries_that_mean_nothing(tmp_path):
    documents = [Document(text, values=(2000 + number,)) for number, text in enumerate(TEXT)]
    concordance = Concordance.build(VECTORS, Corpus(documents, columns=["year"]), tmp_path / "c", show_progress=False)
    for number in (0, -1, 1.5, np.nan, True, "3", None):
        for call in (
            lambda number=number: concordance.periods("year", number),
            lambda number=number: over_periods(concordance, MODEL, "the", "year", most=number),
            lambda number=number: list(Corpus(TEXT).blocks(number)),
            lambda number=number: Index.build(VECTORS).recall(queries=number),
            lambda number=number: candidate_vectors(dem([["the"]], VECTORS), 0 if number is None else number),
        ):
            with pytest.raises(AlacarteError, match=r"whole number from 1 on|no vector for '3'|has a vector \('3'"):
                call()
    for seconds in (-1, np.nan, True, "3", None):
        with pytest.raises(AlacarteError, match="checkpoint_seconds is a"):
            collect(VECTORS, TEXT, checkpoint=tmp_path / "k", checkpoint_seconds=seconds)
    for positions in (["1", "2"], (weight for weight in (1, 2)), 3, None):
        with pytest.raises(AlacarteError, match="positions must be one of"):
            collect(VECTORS, TEXT, window=1, positions=positions)


def test_contexts_targets_and_windows_that_are_none():
    for contexts in (b"abc", [5], [b"the"], 5):
        with pytest.raises(AlacarteError, match="a context is a text or a list of tokens"):
            MODEL.embed(contexts, "the")
    with pytest.raises(AlacarteError, match="a target is a word or phrase"):
        MODEL.embed(["the cat"], 5)
    with pytest.raises(AlacarteError, match="at most 1,000,000 words on a side"):
        collect(VECTORS, TEXT, window=10**8)


# ----------------------------------------------------------------------------------------------------------- case


def test_patterns_tell_case_where_the_tokenizer_does():
    text = ["US us Us user"]
    cased, folded = ({"tokenizer": name, "window": 1} for name in ("words-cased", "words"))
    patterns = Targets.glob(["US", "u*"]) | Targets.regex("^Us$")
    assert collect(GERMAN, text, patterns, **cased).occurrences.tolist() == [1, 2, 1]
    assert collect(GERMAN, text, patterns, **folded).occurrences.tolist() == [3, 4, 3]


def test_what_is_new_for_cased_vectors():
    text = ["die Katze sah die Blorp", "die Katze und die Blorp"]
    model = ALaCarte(GERMAN, Transform(np.eye(4), settings=Reading(tokenizer="words-cased")))
    expected = ["Blorp"]
    assert list(model.discover(text, min_count=2)) == expected
    assert list(discover(GERMAN, text, min_count=2)) == expected
    assert list(discover(GERMAN.words, text, min_count=2)) == expected
    assert list(discover(GERMAN, text, min_count=2, tokenizer="words")) == ["blorp", "katze"]
    assert list(ALaCarte(VECTORS, Transform(np.eye(2))).discover(["The Blorp"] * 2, min_count=2)) == ["blorp"]
