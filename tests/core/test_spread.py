"""Sums by group of documents: they add up however the corpus is cut, and their spread is the jackknife's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import budget

from alacarte import ContextSums, Document, Targets, WordVectors, collect
from alacarte.contexts.groups import groups_of
from alacarte.contexts.merging import merge
from alacarte.errors import AlacarteError, BadCheckpoint, BadSums
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer
from alacarte.uncertainty.spread import TypicalSpread, deviations, own_variance_along

WORDS = ["a", "b", "c", "d", "e"]
VECTORS = WordVectors(WORDS, np.random.default_rng(7).normal(size=(5, 19)).astype(np.float32))
TARGETS = Targets(["a", "b c", "x"])

documents = st.lists(st.lists(st.sampled_from([*WORDS, "x", "y"]), max_size=30), min_size=1, max_size=12).filter(any)
averages = st.sampled_from(["occurrence", "token", "context"])


def sample_text(size, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice([*WORDS, "x", "y"], rng.integers(1, 20))) for _ in range(size)]


# --------------------------------------------------------------------------------------------------- adding


@settings(max_examples=30)
@given(documents, averages, st.integers(2, 9))
def test_groups_add_up_to_the_plain_sums(texts, averaging, spread):
    plain = collect(VECTORS, texts, TARGETS, window=3, averaging=averaging)
    ours = collect(VECTORS, texts, TARGETS, window=3, averaging=averaging, spread=spread)
    assert plain.groups is None
    assert ours.groups.sums.shape == (3, spread, 19)
    assert ours.spread == spread
    assert ours.without_spread() == plain
    for name in ("sums", "totals", "tokens", "occurrences", "contexts"):
        np.testing.assert_array_equal(getattr(ours.groups, name).sum(axis=1), getattr(plain.all, name))


@settings(max_examples=30)
@given(documents, averages)
def test_a_group_is_the_plain_sum_of_its_documents(texts, averaging):
    encoder = Encoder(get_tokenizer("words"), Lexicon(VECTORS.key_to_index))
    group = groups_of(encoder.encode(texts), len(VECTORS), 4)
    ours = collect(VECTORS, texts, TARGETS, window=3, averaging=averaging, spread=4).groups
    for number in range(4):
        mine = [text for text, at in zip(texts, group, strict=True) if at == number]
        if not any(mine):
            assert not ours.occurrences[:, number].any()
            continue
        part = collect(VECTORS, mine, TARGETS, window=3, averaging=averaging)
        for name in ("sums", "totals", "tokens", "occurrences", "contexts"):
            np.testing.assert_array_equal(getattr(ours, name)[:, number], getattr(part.all, name))


@settings(max_examples=30)
@given(documents, st.integers(0, 12))
def test_parts_merge(texts, cut):
    parts = [part for part in (texts[:cut], texts[cut:]) if any(part)]
    merged = merge([collect(VECTORS, part, TARGETS, window=3, spread=4) for part in parts])
    assert merged == collect(VECTORS, texts, TARGETS, window=3, spread=4)


@pytest.mark.parametrize(
    "how",
    [
        {"threads": 3},
        {"block_size": 300},
        {"threads": 2, "block_size": 700},
        {"memory": budget(VECTORS, 3 * 16, 12, 1000, 1, targets=3), "block_size": 1000, "threads": 1},
        {"memory": budget(VECTORS, 3 * 16, 12, 1000, 3, targets=3), "block_size": 1000, "threads": 3},
    ],
)
def test_the_same_bits_however_it_is_read(how):
    texts = sample_text(400)
    ours = collect(VECTORS, texts, TARGETS, spread=16, **how)
    assert isinstance(ours.groups.sums, np.memmap) == ("memory" in how)
    assert ours == collect(VECTORS, texts, TARGETS, spread=16, threads=1)


def test_shards_add_up():
    texts = sample_text(300)
    parts = [collect(VECTORS, texts, TARGETS, spread=4, shard=(i, 3), block_size=500) for i in (1, 2, 3)]
    whole = collect(VECTORS, texts, TARGETS, spread=4)
    assert all(part.groups.occurrences.any() for part in parts)
    assert merge(parts) == merge(parts[::-1]) == whole


class Stop(Exception):
    pass


@pytest.mark.parametrize("targets", [TARGETS, Targets.spans(), Targets.glob(["b *", "?"])])
def test_interrupted_and_resumed_is_uninterrupted(tmp_path, targets):
    rng = np.random.default_rng(1)
    texts = [
        Document(text, spans=[(0, len(text.split(" ", 1)[0]), f"label {rng.integers(40)}")])
        for text in sample_text(300)
    ]

    calls = []

    def stop(state):
        calls.append(state)
        if len(calls) > 5:
            raise Stop

    how = {"spread": 5, "block_size": 400, "checkpoint": tmp_path / "c", "threads": 2}
    with pytest.raises(Stop):
        collect(VECTORS, texts, targets, callback=stop, show_progress=False, **how)
    assert (tmp_path / "c").exists()
    for other in (6, None):
        with pytest.raises(BadCheckpoint, match="other work: spread was 5"):
            collect(VECTORS, texts, targets, **{**how, "spread": other})
    assert collect(VECTORS, texts, targets, **how) == collect(VECTORS, texts, targets, spread=5)


def test_files(tmp_path):
    sums = collect(VECTORS, sample_text(50), TARGETS, spread=4)
    sums.save(tmp_path / "sums.safetensors")
    assert ContextSums.load(tmp_path / "sums.safetensors") == sums
    whole = collect(VECTORS, sample_text(50), spread=4)
    whole.save(tmp_path / "whole.safetensors")
    loaded = ContextSums.load(tmp_path / "whole.safetensors")
    np.testing.assert_array_equal(loaded.groups.sums, whole.groups.sums[whole.occurrences > 0])


def test_sums_with_and_without_spread_do_not_mix():
    texts = sample_text(20)
    plain, spread = (collect(VECTORS, texts, TARGETS, spread=spread) for spread in (None, 4))
    with pytest.raises(BadSums, match="collect both with the same"):
        plain + spread
    assert (plain + spread.without_spread()).groups is None
    with pytest.raises(AlacarteError, match="from 2 on"):
        collect(VECTORS, texts, TARGETS, spread=1)


def test_documents_that_say_the_same_are_in_one_group_and_others_are_dealt_evenly():
    encoder = Encoder(get_tokenizer("words"), Lexicon({f"w{i}": i for i in range(1000)}))
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 1000, 12)) for _ in range(16_000)]
    groups = groups_of(encoder.encode(texts), 1000, 16)
    counts = np.bincount(groups, minlength=16)
    assert np.sum((counts - 1000) ** 2 / 1000) < 40  # chi-square, 15 degrees of freedom: p = 0.0005
    again = groups_of(encoder.encode(["w1 w2", *texts[:50], "unknown"]), 1000, 16)
    np.testing.assert_array_equal(again[1:51], groups[:50])


def test_nearly_all_reprints_are_in_the_group_of_their_first_print():
    encoder = Encoder(get_tokenizer("words"), Lexicon({f"w{i}": i for i in range(1000)}))
    rng = np.random.default_rng(0)
    words = rng.integers(0, 1000, (2000, 100))
    reprints = words.copy()
    reprints[np.arange(2000), rng.integers(0, 100, 2000)] = rng.integers(0, 1000, 2000)  # one of 100 words
    texts = [[" ".join(f"w{i}" for i in row) for row in rows] for rows in (words, reprints)]
    first, second = (groups_of(encoder.encode(part), 1000, 16) for part in texts)
    assert np.mean(first == second) > 0.9


# ---------------------------------------------------------------------------------------------------- spread


def test_one_context_a_group_is_the_delete_one_jackknife():
    rng = np.random.default_rng(0)
    x, matrix = rng.normal(size=(9, 4)), rng.normal(size=(4, 4))
    found = deviations(x[None], np.ones((1, 9)), [9], matrix)
    without = np.array([np.delete(x, i, axis=0).mean(axis=0) @ matrix.T for i in range(9)])
    away = without - without.mean(axis=0)
    np.testing.assert_allclose(found.z[0].T @ found.z[0], 8 / 9 * away.T @ away, atol=1e-12)
    assert found.df[0] == pytest.approx(8)


def test_empty_groups_change_nothing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 5, 3))
    more = np.concatenate([x, np.zeros((1, 4, 3))], axis=1)
    plain = deviations(x, np.ones((1, 5)), [5], np.eye(3))
    padded = deviations(more, np.array([[1.0] * 5 + [0.0] * 4]), [5], np.eye(3))
    np.testing.assert_allclose(padded.noise, plain.noise)
    np.testing.assert_allclose(padded.df, plain.df)


def test_the_variance_is_unbiased_for_groups_of_unequal_sizes():
    rng = np.random.default_rng(0)
    sizes = np.array([1, 1, 2, 3, 9])
    x = rng.normal(size=(40_000, sizes.sum()))
    sums = np.add.reduceat(x, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=1)
    found = deviations(sums[:, :, None], np.tile(sizes.astype(float), (len(x), 1)), [16] * len(x), np.eye(1))
    assert found.noise.mean() == pytest.approx(1 / 16, rel=0.02)
    # a variance with f degrees of freedom has the relative variance 2 / f
    assert 2 / (found.noise.var() / found.noise.mean() ** 2) == pytest.approx(found.df[0], rel=0.05)


def test_one_group_tells_nothing():
    found = deviations(np.ones((1, 3, 2)) * [[1], [0], [0]], np.array([[4.0, 0.0, 0.0]]), [4], np.eye(2))
    assert found.df.tolist() == [0.0]
    assert found.noise.tolist() == [0.0]


def test_what_targets_share_is_found():
    rng = np.random.default_rng(0)
    axes = np.diag([3.0, 1.0, 1.0, 0.5])
    scales = np.sqrt(30 / rng.chisquare(30, 1500))  # of each target's contexts
    x = rng.normal(size=(1500, 8, 4)) @ axes * scales[:, None, None]
    x += rng.normal(size=(1500, 1, 4)) * 2
    found = deviations(x, np.ones((1500, 8)), [8] * 1500, np.eye(4))
    typical = TypicalSpread.learn(found)
    np.testing.assert_allclose(typical.shape, axes**2 / np.trace(axes**2), atol=0.02)
    assert typical.scale == pytest.approx(np.trace(axes**2), rel=0.05)
    assert typical.rank == pytest.approx(np.trace(axes**2) ** 2 / np.sum(axes**4), rel=0.05)
    assert typical.length == pytest.approx(16, rel=0.05)
    assert 15 < typical.scale_df < 60
    # shrunken variances are nearer to the truth than the targets' own
    truth = scales**2 * np.trace(axes**2) / 8
    assert np.mean((typical.noise(found) - truth) ** 2) < 0.7 * np.mean((found.noise - truth) ** 2)


def test_few_targets_are_taken_as_they_are():
    rng = np.random.default_rng(0)
    found = deviations(rng.normal(size=(3, 8, 4)), np.ones((3, 8)), [8] * 3, np.eye(4))
    typical = TypicalSpread.learn(found)
    np.testing.assert_allclose(typical.noise(found), found.noise)
    w = rng.normal(size=(3, 4))
    np.testing.assert_allclose(typical.variance_along(found, w, np.zeros(3))[0], own_variance_along(found, w))


def test_typical_spread_on_disk(tmp_path):
    rng = np.random.default_rng(0)
    found = deviations(rng.normal(size=(30, 8, 4)), np.ones((30, 8)), [8] * 30, np.eye(4))
    typical = TypicalSpread.learn(found)
    typical.save(tmp_path / "spread.safetensors")
    loaded = TypicalSpread.load(tmp_path / "spread.safetensors")
    np.testing.assert_allclose(loaded.shape, typical.shape, atol=1e-7)
    assert (loaded.scale, loaded.near, loaded.targets) == (typical.scale, typical.near, typical.targets)
    VECTORS.save(tmp_path / "vectors.safetensors")
    with pytest.raises(BadSums, match="not a typical spread but word vectors"):
        TypicalSpread.load(tmp_path / "vectors.safetensors")
