"""The sampler: the same contexts in whatever order text comes, each occurrence as likely as any other."""

from collections import Counter
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from passes import EVERYTHING, NGRAMS, PATTERNS, VECTORS, WORDS, annotated, lines, sample_text

from alacarte import Corpus, Targets
from alacarte.contexts import samples
from alacarte.contexts.samples import ContextSample, SampledContexts, smallest
from alacarte.passes.scan import run
from alacarte.passes.work import Work
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer

pytestmark = pytest.mark.usefixtures("much_text_and_many_targets")
NAMES = [item.name for item in fields(SampledContexts)]


def sampled(texts, targets, limit, *, window=(2, 3), seed=0, drop_unknown=False, grow=False, **work):
    """(contexts with words for ids, counts by key)"""
    lexicon = Lexicon(VECTORS.key_to_index, grow=grow)
    tokenizer = get_tokenizer("words")
    matcher = targets.compile(lexicon, tokenizer)
    if grow:
        lexicon.admit = lambda token: True
    tally = ContextSample(matcher, lexicon, window, limit, seed, drop_unknown)
    run(tally, Corpus.of(texts), Encoder(tokenizer, lexicon), Work(**work))
    return tally, matcher, lexicon


def readable(tally, matcher, lexicon):
    """The contexts in an order and with names that do not depend on how ids were given."""
    contexts = tally.contexts

    def words(row):
        return tuple(lexicon.word(token) if token >= 0 else token for token in row.tolist() if token != samples.OUTSIDE)

    rows = [
        (matcher.keys[target], int(key), int(document), words(before), words(matched), words(after))
        for target, key, document, before, matched, after in zip(
            *(getattr(contexts, name) for name in NAMES), strict=True
        )
    ]
    counts = {key: int(count) for key, count in zip(matcher.keys, tally.counts, strict=False) if count}
    return sorted(rows), counts


@settings(max_examples=40)
@example(  # labels that turn up when other targets are full
    [*["", "a", "a a a a a a", "", "", "a a a a a a"], "a a bankers b a a bank" + 14 * " a", "", "a a a a"],
    EVERYTHING,
    1,
    False,
    False,
    1,
    1,
    0,
)
@given(
    lines,
    st.sampled_from([WORDS, NGRAMS, PATTERNS, EVERYTHING]),
    st.sampled_from([None, 1, 2, 5]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 400),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_any_order_blocks_and_threads(texts, targets, limit, drop, grow, block_size, threads, seed):
    rng = np.random.default_rng(seed)
    documents = annotated(texts, rng)
    options = {"seed": seed, "drop_unknown": drop, "grow": grow}
    expected = readable(*sampled(documents, targets, limit, threads=1, **options))
    shuffled = [documents[i] for i in rng.permutation(len(documents))]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(samples, "LEAST_BUFFER", int(rng.integers(0, 20)))
        ours = sampled(shuffled, targets, limit, threads=threads, block_size=block_size, **options)
    assert readable(*ours) == expected
    if limit is not None:
        assert max(Counter(row[0] for row in expected[0]).values(), default=0) <= limit
    everything = readable(*sampled(documents, targets, None, threads=1, **options))
    kept = Counter(row[0] for row in expected[0])
    assert kept == {key: min(count, limit or count) for key, count in everything[1].items()}
    assert not Counter(expected[0]) - Counter(everything[0])


def same(ours, theirs):
    return all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in NAMES)


@pytest.mark.parametrize("limit", [None, 1, 20])
def test_parts_merge_into_the_sample_of_the_whole(limit):
    texts = sample_text(60_000)
    whole = sampled(texts, NGRAMS, limit)[0].contexts
    parts = [sampled(texts, NGRAMS, limit, shard=(i, 4), block_size=2000)[0].contexts for i in range(1, 5)]
    assert all(len(part) for part in parts)
    assert same(smallest(parts, limit)[0], whole)
    assert same(smallest(parts[::-1], limit)[0], whole)
    two = [smallest(parts[:2], limit)[0], smallest(parts[2:], limit)[0]]
    assert same(smallest(two, limit)[0], whole)


def test_contexts_are_sorted_by_target_and_key_and_those_kept_have_the_smallest_keys():
    texts = sample_text(60_000)
    everything = sampled(texts, WORDS, None)[0].contexts
    assert (np.diff(everything.targets) >= 0).all()
    kept = sampled(texts, WORDS, 10)[0].contexts
    for target in range(len(WORDS)):
        keys = everything.keys[everything.targets == target]
        assert (keys[1:] >= keys[:-1]).all()
        np.testing.assert_array_equal(kept.keys[kept.targets == target], keys[:10])


def test_every_occurrence_is_equally_likely():
    """Chi-square over many seeds: occurrences that differ in place, in a document with others or alone."""
    texts = [f"n{i} x" for i in range(12)] + ["x x x x", "a x b x c x", "x"] + [f"n{i} b c d e x" for i in range(5)]
    lexicon = Lexicon({f"n{i}": i for i in range(12)} | {word: 12 + i for i, word in enumerate("abcde")})
    tokenizer = get_tokenizer("words")
    matcher = Targets(["x"]).compile(lexicon, tokenizer)
    encoded = Encoder(tokenizer, lexicon).encode(texts)
    total, limit, seeds = sum(text.split().count("x") for text in texts), 5, 3000
    drawn = Counter()
    for seed in range(seeds):
        tally = ContextSample(matcher, lexicon, (9, 9), limit, seed)
        tally.adder()(encoded)
        tally.settle()
        contexts = tally.contexts
        assert len(contexts) == limit
        drawn.update((int(d), bytes(b)) for d, b in zip(contexts.documents, contexts.before, strict=True))
    assert len(drawn) == total == 25
    expected = seeds * limit / total
    statistic = sum((count - expected) ** 2 / expected for count in drawn.values()) / (1 - limit / total)
    assert statistic < 51.2  # 24 degrees of freedom: p = 0.001
    assert statistic > 8  # nor is it more even than chance: p = 0.999


def test_seeds_draw_different_samples():
    texts = sample_text(60_000)
    first, again, other = (sampled(texts, WORDS, 20, seed=seed)[0].contexts for seed in (0, 0, 1))
    assert same(first, again)
    assert len(np.intersect1d(first.keys, other.keys)) == 0


def test_documents_that_say_the_same_are_drawn_together():
    """Their occurrences have the same keys: ties, of which any are as good as any others."""
    texts = ["a x b"] * 30 + ["c x d"] * 30 + ["e x"]
    expected = readable(*sampled(texts, Targets(["x"]), 40, threads=1))
    assert len(expected[0]) == 40
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(samples, "LEAST_BUFFER", 1)
        for threads, block_size in ((1, 10), (3, 40)):
            for order in (texts, texts[::-1]):
                ours = sampled(order, Targets(["x"]), 40, threads=threads, block_size=block_size)
                assert readable(*ours) == expected
    whole = readable(*sampled(texts, Targets(["x"]), None))
    assert len(whole[0]) == 61
    assert len({row[2] for row in whole[0]}) == 3  # codes of documents


def test_words_around():
    tally, _, _ = sampled(["a zz x b c d e"], Targets(["x"]), None, window=(3, 2))
    contexts = tally.contexts
    assert contexts.before.tolist() == [[-2, VECTORS.index("a"), -1]]
    assert contexts.after.tolist() == [[VECTORS.index("b"), VECTORS.index("c")]]
    dropped = sampled(["a zz x b c d e"], Targets(["x"]), None, window=(3, 2), drop_unknown=True)[0].contexts
    assert dropped.before.tolist() == [[-2, -2, VECTORS.index("a")]]


@pytest.mark.parametrize("window", [(0, 2), (2, 0)])
def test_windows_on_one_side(window):
    contexts = sampled(["a x b", "x"], Targets(["x"]), None, window=window)[0].contexts
    assert contexts.before.shape == (2, window[0])
    assert contexts.after.shape == (2, window[1])
