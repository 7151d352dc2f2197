"""Which n-grams are phrases: how much more often than by chance their words occur together, and how they begin and end.

What function words are is read off the text: they seldom occur before a comma or a full stop.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alacarte._io.arrays import Doubles, Ints, Longs, Mask

DIGITS = 4  # of a score, so that the order does not depend on how a machine rounds
ENDS_LESS = 0.5  # of the average share of uses before a comma or a full stop: function words have less than this
UNSURE = 2.0  # uses before a comma or a full stop that each word is given, so that chance does not decide on rare ones
COMMON_SHARE = 1 / 500  # of the tokens: a function word as common as this opens no phrase
NEVER_COMMON = 20  # uses that make no word common, however short the text
PUNCTUATED = 0.01  # share of words before a comma or a full stop; below it, a text says nothing about function words
CONTRACTION = "n't"
CLAUSE_MARKS = ("Po", "Pe", "Pf")  # Unicode's categories: other, closing, final punctuation
NO_END = "\"'#%&*/@\\"  # punctuation that ends no clause, or begins one as well


class Level(NamedTuple):
    """Frequent sequences of one length: their words, counts, and where both parts are among those one word shorter."""

    sequences: Ints
    counts: Longs
    without_last: Longs
    without_first: Longs


def has_letter(token: str) -> bool:
    """Whether a token has a letter of any script.

    >>> [has_letter(token) for token in ("word", "20th", "été", "猫", "1,000", "$", "--")]
    [True, True, True, True, False, False, False]
    """
    return any(character.isalpha() for character in token)


def is_fragment(token: str) -> bool:
    """Whether a token is no word by itself: a number, punctuation, a single letter, the end of a contraction.

    >>> [is_fragment(token) for token in ("1980", "j.", "'s", "n't", "'re", "u.s.", "c++", "猫", "ox")]
    [True, True, True, True, True, False, False, False, False]
    """
    core = token.strip("'.")
    is_letter = len(core) == 1 and core.lower() != core.upper()
    return is_letter or token == CONTRACTION or token.startswith("'") or not has_letter(token)


def ends_clause(token: str) -> bool:
    """Whether a token is a mark behind the last word of a clause: a comma, a full stop, a closing bracket.

    >>> [ends_clause(token) for token in (",", ".", "...", "。", ")", "(", '"', "&", "of")]
    [True, True, True, True, True, False, False, False, False]
    """
    return unicodedata.category(token[0]) in CLAUSE_MARKS and token[0] not in NO_END


def mutual_information(levels: Sequence[Level], tokens: int) -> Doubles:
    """Return the normalised pointwise mutual information of the sequences of the last level.

    It is the least over all ways to cut a sequence in two. The levels are those of lengths 1, 2, …, all frequent.
    """
    last = levels[-1]
    beginning = ending = np.arange(len(last.counts))
    beginnings, endings = [], []  # counts of what each sequence begins and ends with, the longest first
    for longer, shorter in zip(levels[:0:-1], levels[-2::-1], strict=True):
        beginning, ending = longer.without_last[beginning], longer.without_first[ending]
        beginnings.append(shorter.counts[beginning])
        endings.append(shorter.counts[ending])
    together = np.log(last.counts / tokens)
    cuts = [
        together - np.log(before / tokens) - np.log(after / tokens)
        for before, after in zip(beginnings, reversed(endings), strict=True)
    ]
    return np.asarray(np.round(np.min(cuts, axis=0) / -together, DIGITS))


def have_ends(levels: Sequence[Level], names: Sequence[str], at_ends: Longs, tokens: int) -> Mask:
    """Whether the sequences of the last level begin and end as phrases do.

    `names` are the words of the first level, and `at_ends` is how often each is followed by a mark that ends a clause.
    """
    first_pair = last_pair = np.arange(len(levels[-1].counts))
    for level in levels[:1:-1]:
        first_pair, last_pair = level.without_last[first_pair], level.without_first[last_pair]
    singles, pairs = levels[0].counts, levels[1]
    opening, closing = pairs.without_last, pairs.without_first
    # Outside of this pair: *united* is common in speeches, and does not stand before much else than *states*.
    common = max(NEVER_COMMON, COMMON_SHARE * tokens)
    may_open = singles[opening] - pairs.counts < common
    words = np.array([has_letter(name) for name in names], dtype=bool)
    share = at_ends[words].sum() / max(1, singles[words].sum())
    if share >= PUNCTUATED:
        ends = (at_ends + UNSURE) / (share * singles + UNSURE) >= ENDS_LESS
        may_open |= ends[opening]
        may_close = ends[closing]
    else:
        may_close = singles[closing] - pairs.counts < common
    return np.asarray(may_open[first_pair] & may_close[last_pair])
