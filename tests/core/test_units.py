"""Sums add up and come apart to the last bit, and know which text they hold."""

import itertools
import os
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passes import (
    EVERYTHING,
    NGRAMS,
    OTHER_VECTORS,
    PATTERNS,
    SPANS,
    VECTORS,
    WORDS,
    annotated,
    lines,
    options,
    sample_text,
)

from alacarte import ContextSums, Corpus, Targets, collect
from alacarte.contexts.merging import merge
from alacarte.contexts.scale import MOST_WINDOWS
from alacarte.errors import BadSums
from alacarte.text.units import Unit, pack_units, unit_of, unpack_units

targets = st.sampled_from([None, WORDS, NGRAMS, PATTERNS, EVERYTHING])
spreads = st.sampled_from([None, 3])


# --------------------------------------------------------------------------------------------- the arithmetic


@settings(max_examples=60)
@given(lines, lines, options, targets, spreads, st.integers(0, 99))
def test_what_was_added_can_be_taken_away(one, two, chosen, targets, spread, seed):
    if chosen["context_weights"] == "top:2":
        chosen = {**chosen, "context_weights": None}  # which are those of all of the text
    rng = np.random.default_rng(seed)
    a, b = (collect(VECTORS, annotated(text, rng), targets, spread=spread, **chosen) for text in (one, two))
    assert (a + b) - b == a
    assert (a + b) - a == b
    assert a + b == b + a
    nothing = a - a
    assert not any(getattr(nothing.all, name).any() for name in ("sums", "totals", "tokens", "occurrences", "contexts"))
    assert (nothing.documents, nothing.tokens_read, nothing.tokens_known) == (0, 0, 0)
    assert nothing + b == b


@settings(max_examples=40)
@given(st.lists(lines, min_size=2, max_size=5), options, targets, spreads, st.randoms(use_true_random=False))
def test_any_order_and_grouping(texts, chosen, targets, spread, chance):
    if chosen["context_weights"] == "top:2":
        chosen = {**chosen, "context_weights": None}
    rng = np.random.default_rng(chance.randint(0, 99))
    documents = [annotated(text, rng) for text in texts]
    parts = [collect(VECTORS, text, targets, spread=spread, **chosen) for text in documents]
    whole = collect(VECTORS, [item for text in documents for item in text], targets, spread=spread, **chosen)
    assert merge(parts) == whole
    shuffled = list(parts)
    chance.shuffle(shuffled)
    assert merge(shuffled) == whole
    cut = chance.randint(1, len(parts) - 1)
    assert merge(shuffled[:cut]) + merge(shuffled[cut:]) == whole
    assert reduce(lambda x, y: x + y, shuffled) == whole
    assert whole - merge(shuffled[:cut]) == merge(shuffled[cut:])


def test_sums_that_differ_are_not_equal():
    sums = collect(VECTORS, ["a b x"], WORDS, spread=2)
    for name in ("sums", "totals", "tokens", "occurrences", "contexts"):
        for part in ("all", "groups"):
            changed = getattr(getattr(sums, part), name).copy()
            changed.flat[0] += 1
            assert sums != replace(sums, **{part: replace(getattr(sums, part), **{name: changed})})
    assert sums != sums.without_spread()
    assert sums != replace(sums, documents=2)
    assert sums != collect(OTHER_VECTORS, ["a b x"], WORDS, spread=2)
    assert sums != "sums"


@pytest.mark.parametrize(
    ("less", "message"),
    [
        (["bank bank"], "more was taken away than there is"),
        (["x x x x"], "more was taken away than there is"),
    ],
)
def test_what_is_not_there_cannot_be_taken_away(less, message):
    sums = collect(VECTORS, ["a bank x"], WORDS)
    with pytest.raises(BadSums, match=message):
        sums - collect(VECTORS, less, WORDS)


def test_targets_of_the_text_that_is_taken_away_may_be_more():
    less = collect(VECTORS, ["b b"], Targets(["b"]))
    with_zorg = collect(VECTORS, ["b b"], Targets(["b", "zorg"]))
    both = collect(VECTORS, ["a b c", "b b"], Targets(["b"]))
    assert both - with_zorg == both - less == collect(VECTORS, ["a b c"], Targets(["b"]))


@pytest.mark.parametrize(
    ("text", "less"),
    [
        (["bank x bank x bank"], ["a b c d e bank a b c d e"]),  # fewer context words
        (["bank", "bank", "bank x"], ["a bank"]),  # fewer contexts
        (["a bank", "a bank b bank"], ["x bank a", "y y y y y y"]),  # less text
    ],
)
def test_less_than_is_taken_away(text, less):
    """Occurrences alone do not prove that a text is part of sums: its other counts must be, too."""
    bank = Targets(["bank"])
    sums, other = collect(VECTORS, text, bank), collect(VECTORS, less, bank)
    assert (sums.occurrences >= other.occurrences).all()
    with pytest.raises(BadSums, match="more was taken away than there is"):
        sums - other


# ---------------------------------------------------------------------------------------------- which text it is


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("\n".join(sample_text(20_000)), encoding="utf-8")
    return path


def test_text_added_twice_is_refused(tmp_path, file, monkeypatch):
    sums = collect(VECTORS, file, WORDS)
    with pytest.raises(BadSums, match=r"one\.txt is in more than one of these sums"):
        sums + collect(VECTORS, file, WORDS)
    monkeypatch.chdir(tmp_path)
    for same in ("one.txt", os.path.relpath(file), str(file)):
        with pytest.raises(BadSums, match="is in more than one"):
            sums + collect(VECTORS, same, WORDS)


def test_a_part_that_was_read_before_is_refused(file):
    whole = collect(VECTORS, file, WORDS, block_size=2000)
    part = collect(VECTORS, file, WORDS, block_size=2000, shard=(2, 3))
    assert part.units < whole.units
    with pytest.raises(BadSums, match="would be counted twice"):
        whole + part
    rest = whole - part
    assert rest.units == whole.units - part.units
    assert rest + part == whole
    with pytest.raises(BadSums, match=r"one\.txt is not part of these sums"):
        rest - part


def test_the_same_words_in_another_file_are_another_text(tmp_path, file):
    (tmp_path / "two.txt").write_bytes(file.read_bytes())
    one, two = (collect(VECTORS, tmp_path / name, WORDS) for name in ("one.txt", "two.txt"))
    assert (one + two).occurrences.tolist() == (2 * one.occurrences).tolist()
    with pytest.raises(BadSums, match=r"two\.txt is not part"):
        one - two
    assert (one + two) - two == one


def test_a_file_that_was_changed_is_another_text(file):
    before = collect(VECTORS, file, WORDS)
    file.write_text("bank a bank\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    after = collect(VECTORS, file, WORDS)
    assert not before.units & after.units
    assert (before + after).tokens_read == before.tokens_read + after.tokens_read


def test_lists_and_streams_have_no_name_and_are_never_refused():
    texts = ["a bank x", "b"]
    for corpus in (texts, [text.split() for text in texts]):
        sums = collect(VECTORS, corpus, WORDS)
        assert sums.units == frozenset()
        assert (sums + sums) - sums == sums
    stream = collect(VECTORS, iter(texts), WORDS)
    assert stream.units == frozenset()
    assert (stream + collect(VECTORS, iter(texts), WORDS)).occurrences.tolist() == (2 * stream.occurrences).tolist()


def test_standard_input_is_never_refused(monkeypatch):
    import io
    import sys

    parts = []
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a bank x\nb bank\n")))
        parts.append(collect(VECTORS, "-", WORDS))
    assert parts[0].units == frozenset()
    assert (parts[0] + parts[1]).occurrences.tolist() == [2, 4, 2]


@pytest.mark.parametrize("spread", [None, 3])
@pytest.mark.parametrize("targets", [None, WORDS, SPANS | WORDS])
def test_units_survive_files(tmp_path, file, targets, spread):
    sums = collect(VECTORS, file, targets, spread=spread, block_size=3000)
    assert len(sums.units) > 3
    sums.save(tmp_path / "sums")
    loaded = ContextSums.load(tmp_path / "sums")
    assert loaded.units == sums.units
    if targets is not None or sums.occurrences.all():
        assert loaded == sums
    with pytest.raises(BadSums, match="would be counted twice"):
        loaded + sums
    assert not (sums - loaded).occurrences.any()


@given(
    st.sets(
        st.builds(
            Unit,
            st.text(max_size=8),
            st.integers(0, 2**62),
            st.integers(0, 2**62),
            st.integers(0, 2**64 - 1),
        ),
        max_size=20,
    )
)
def test_packed_units(units):
    packed = pack_units(units)
    assert unpack_units(packed) == units
    again = pack_units(reversed(list(units)))
    assert all(np.array_equal(packed[name], again[name]) for name in packed)


@settings(max_examples=40)
@given(lines, st.integers(1, 300))
def test_text_is_cut_by_the_text_alone(tmp_path_factory, texts, block_size):
    folder = tmp_path_factory.mktemp("units")
    (folder / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    (folder / "b.txt").write_text("bank", encoding="utf-8")
    alone = {unit_of(block) for block in Corpus(folder / "a.txt").blocks(block_size)}
    among = {unit_of(block) for block in Corpus([folder / "b.txt", folder / "a.txt"]).blocks(block_size)}
    assert {unit for unit in among if unit.name.endswith("a.txt")} == alone
    size = (folder / "a.txt").stat().st_size
    covered = sorted((unit.start, unit.size) for unit in alone)
    assert covered[0][0] == 0
    assert all(start + length <= after for (start, length), (after, _) in itertools.pairwise(covered))
    assert covered[-1][0] + covered[-1][1] <= size + 1


# ---------------------------------------------------------------------------------------------------- overflow


@pytest.mark.parametrize("spread", [None, 2])
def test_more_occurrences_than_sums_can_hold_are_an_error(tmp_path, spread):
    sums = collect(VECTORS, ["a bank x a"], WORDS, spread=spread)
    many = sums.all.occurrences.copy()
    many[1] = MOST_WINDOWS - 1
    nearly = replace(sums, all=replace(sums.all, occurrences=many))
    full = nearly + sums
    assert full.occurrences[1] == MOST_WINDOWS == 2**32 - 1
    with pytest.raises(BadSums, match=r"4,294,967,296 occurrences of one target are more than sums can hold"):
        full + sums
    with pytest.raises(BadSums, match="more than sums can hold"):
        merge([nearly, sums, sums])
    full.save(tmp_path / "full")
    with pytest.raises(BadSums, match="more than sums can hold"):
        ContextSums.load(tmp_path / "full") + sums


def test_so_many_of_the_largest_windows_still_fit():
    """2³² − 1 windows, each below 2³¹, are below 2⁶³."""
    assert MOST_WINDOWS * (2**31 - 1) < 2**63
