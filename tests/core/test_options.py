"""Misspelt options are refused when they are used; by mypy before: tests/faces/test_typed_options.py."""

import pytest
from passes import VECTORS

from alacarte import collect, discover
from alacarte.passes.collect import count_words


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: collect(VECTORS, ["a b"], windwo=5), "windwo"),
        (lambda: collect(VECTORS, ["a b"], ["a"], window=5, thread=1), "thread"),
        (lambda: collect(VECTORS, ["a b"], limit=3), "limit"),
        (lambda: discover(["a b"], min_cuont=5), "min_cuont"),
        (lambda: count_words(VECTORS, ["a b"], window=5), "window"),
    ],
)
def test_a_misspelt_option_is_named(call, named):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{named}'"):
        call()
