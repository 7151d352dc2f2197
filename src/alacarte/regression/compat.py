"""Where this package decides otherwise than R's conText on purpose, in one place.

`compat="conText"` on any function of `alacarte.regression` takes conText's side of each line:

| choice | here | conText 3.0.1 |
|---|---|---|
| hits of several patterns that overlap | the longest, once | all of them |
| `pattern` of a hit | the pattern as asked for | the matched text as it occurs |
| a full window (`hard_cut`) | counts context tokens | counts the keyword too if it is kept |
| tokens looked up | as written, else lower-cased | lower-cased (`dem`), as written (`conText`) |
| reported value | of the full sample | the mean over bootstraps |
| 95 % interval | 2.5 % on either side, bias removed | the 5th and 95th of 100 values |
| noise in a squared length | HC2, CR2: by leverage | HC1, CR1: a factor for all |
| p-value | (1 + exceeding) / (1 + permutations) | exceeding / permutations |
| statistic permuted | norm over its standard error | the norm as it is |
| units of the jackknife | clusters, where there are any | rows |
| mean cosine of a stem | over the candidates with that stem | over all words with that stem |
| tables of several targets | sorted by target | pooled, sorted by value |
"""

import re
from dataclasses import dataclass
from typing import Literal

from alacarte.errors import AlacarteError

Compat = Literal["conText"] | None


@dataclass(frozen=True)
class Choices:
    """One side of every decision above.

    >>> choices(None).plus_one, choices("conText").plus_one
    (True, False)
    """

    overlaps: Literal["longest", "all"] = "longest"
    matched_as_pattern: bool = False
    hard_cut_counts_keyword: bool = False
    case: Literal["fold", "lower"] = "fold"
    case_in_regress: Literal["fold", "exact"] = "fold"
    value_is_bootstrap_mean: bool = False
    rounded_percentiles: bool = False
    plus_one: bool = True
    studentised: bool = True
    jackknife_over_rows: bool = False
    stems_of_all_words: bool = False
    pooled: bool = False
    collated: bool = False


OURS = Choices()
CONTEXT = Choices(
    overlaps="all",
    matched_as_pattern=True,
    hard_cut_counts_keyword=True,
    case="lower",
    case_in_regress="exact",
    value_is_bootstrap_mean=True,
    rounded_percentiles=True,
    plus_one=False,
    studentised=False,
    jackknife_over_rows=True,
    stems_of_all_words=True,
    pooled=True,
    collated=True,
)


def choices(compat: Compat) -> Choices:
    if compat is None:
        return OURS
    if compat == "conText":
        return CONTEXT
    raise AlacarteError(f"compat is None or 'conText', not {compat!r}")


def collation_key(text: str) -> tuple[str, str, str]:
    """About how R sorts strings in an English locale: letters and digits first, then case, then the rest.

    >>> sorted(["b", "A", "a b", "ab", "B"], key=collation_key)
    ['A', 'a b', 'ab', 'b', 'B']
    """
    bare = "".join(character for character in text if character.isalnum())
    return bare.casefold(), bare.swapcase(), text


_PIECES = re.compile(r"\s+|\S+")


def with_separators(text: str) -> list[str]:
    """A tokenizer that keeps the blanks between words as empty tokens, which take up window positions.

    It is what conText's `get_grouped_similarity` does by default, so that its `window=12` sees 6 words a side.

    >>> with_separators("a new  day")
    ['a', '', 'new', '', 'day']
    """
    return ["" if piece.isspace() else piece for piece in _PIECES.findall(text)]
