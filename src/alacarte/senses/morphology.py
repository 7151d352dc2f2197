"""The base forms of inflected words, found as WordNet does it: exceptions, then endings.

>>> known = {("dog", "n"), ("take_place", "v"), ("big", "a")}.__contains__
>>> nothing = lambda word, pos: []
>>> base_forms("dogs", "n", nothing, lambda word, pos: known((word, pos)))
['dog']
>>> irregular = lambda word, pos: ["take"] if word == "took" else []
>>> base_forms("took_place", "v", irregular, lambda word, pos: known((word, pos)))
['take_place']
"""

from collections.abc import Callable
from itertools import product

# (ending, replacement), in the order in which they are tried.
ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
MOST_FORMS = 64  # of a phrase: enough for any, and no phrase of twenty words takes forever

Exceptions = Callable[[str, str], list[str]]
IsKnown = Callable[[str, str], bool]


def normal(lemma: str) -> str:
    """Return a lemma as dictionaries list it: in lower case, with `_` for spaces.

    Examples
    --------
    >>> normal("New York")
    'new_york'
    """
    return "_".join(lemma.lower().split())


def base_forms(word: str, pos: str, exceptions: Exceptions, known: IsKnown) -> list[str]:
    """Return the known base forms of a word or phrase in one part of speech, itself first if it is known.

    If there is an exception, endings are not tried. In a phrase each word may be inflected ("heads of state").
    """
    lemma = normal(word)
    candidates = [lemma, *exceptions(lemma, pos)]
    if len(candidates) == 1:
        parts = lemma.split("_")
        if len(parts) == 1:
            candidates += detached(lemma, pos)
        else:
            choices = [[part, *(exceptions(part, pos) or detached(part, pos))] for part in parts]
            candidates += ["_".join(choice) for choice, _ in zip(product(*choices), range(MOST_FORMS), strict=False)]
    return list(dict.fromkeys(form for form in candidates if known(form, pos)))


def detached(word: str, pos: str) -> list[str]:
    """Return what is left of a word when an ending of its part of speech is taken off.

    Examples
    --------
    >>> detached("churches", "n"), detached("boxesful", "n"), detached("glass", "n")
    (['churche', 'church'], ['boxeful', 'boxful'], [])
    """
    tail = ""
    if pos == "n":
        if word.endswith("ful"):
            word, tail = word.removesuffix("ful"), "ful"
        if word.endswith("ss") or len(word) <= 2:
            return []
    return [
        word.removesuffix(ending) + instead + tail
        for ending, instead in ENDINGS[pos]
        if word.endswith(ending) and len(word) > len(ending)
    ]
