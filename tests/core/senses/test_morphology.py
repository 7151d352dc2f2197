"""Detachment of endings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alacarte.senses.morphology import ENDINGS, base_forms, detached


@pytest.mark.parametrize(
    ("word", "pos", "form"),
    [
        ("dogs", "n", "dog"),
        ("boxes", "n", "box"),
        ("churches", "n", "church"),
        ("firemen", "n", "fireman"),
        ("ponies", "n", "pony"),
        ("spoonsful", "n", "spoonful"),
        ("flies", "v", "fly"),
        ("loved", "v", "love"),
        ("walked", "v", "walk"),
        ("making", "v", "make"),
        ("finer", "a", "fine"),
        ("tallest", "a", "tall"),
    ],
)
def test_endings(word, pos, form):
    assert form in detached(word, pos)


@pytest.mark.parametrize(("word", "pos"), [("glass", "n"), ("is", "n"), ("quickly", "r"), ("s", "v")])
def test_what_has_no_ending(word, pos):
    assert detached(word, pos) == []


@given(st.text("abcdefginrs", min_size=1, max_size=12), st.sampled_from("nvar"))
def test_every_form_is_the_word_with_one_ending_exchanged(word, pos):
    tail = "ful" if pos == "n" and word.endswith("ful") else ""
    stem = word.removesuffix(tail)
    for form in detached(word, pos):
        assert any(
            stem.endswith(old) and form == stem[: len(stem) - len(old)] + new + tail for old, new in ENDINGS[pos]
        )


def test_exceptions_overrule_endings():
    known = {"leave", "leaf", "leav"}
    assert base_forms("leaves", "n", lambda word, pos: ["leaf"], lambda word, pos: word in known) == ["leaf"]


def test_a_long_phrase_ends():
    assert base_forms(" ".join(["dogs"] * 40), "n", lambda word, pos: [], lambda word, pos: False) == []
