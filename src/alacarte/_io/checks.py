"""Checks of what callers pass, made once where it comes in."""

from collections.abc import Iterable
from math import isfinite
from numbers import Integral, Real

from alacarte.errors import AlacarteError


def word_set(words: Iterable[str], name: str) -> frozenset[str]:
    """Return the words of any iterable as a set; errors call them `name`.

    >>> sorted(word_set((word for word in "a b a".split()), "exclude"))
    ['a', 'b']
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        listed = f"; pass [{words!r}] for a single word" if isinstance(words, str) else ""
        raise AlacarteError(f"{name} is a list of words, not {words!r}{listed}")
    found = frozenset(words)
    other = next((word for word in found if not isinstance(word, str)), None)
    if other is not None:
        raise AlacarteError(f"{name} is a list of words, and {other!r} is none")
    return found


def whole_number(value: object, name: str, least: int = 0, error: type[AlacarteError] = AlacarteError) -> int:
    """Return a whole number of at least `least`, of whatever type; raise `error` for anything else.

    >>> import numpy as np
    >>> whole_number(np.int64(3), "window")
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise error(f"{name} is a whole number from {least} on, not {value!r}")
    return int(value)


def random_seed(value: object) -> int | None:
    """Return a seed of random numbers; None means other numbers every time."""
    return None if value is None else whole_number(value, "seed")


def real_number(value: object, name: str) -> float:
    """Return a finite number, of whatever type."""
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise AlacarteError(f"{name} is a number, not {value!r}")
    return float(value)
