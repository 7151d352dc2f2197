"""How well words of a text are found again: the check that needs no ratings.

Words that have a vector are treated as new. Their vectors are computed from the text, and the measure is the rank of a
word's own vector among those of the most frequent words. Words that are tested take no part in adapting to the text.
"""

from dataclasses import dataclass

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Mask, Rows
from alacarte._io.table import Record, Records
from alacarte.contexts.shared_words import COMMON_WORDS
from alacarte.contexts.sums import ContextSums
from alacarte.transform.register import Register, words_with_vectors
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

BANDS = ((1, 1), (2, 4), (5, 19), (20, 199), (200, None))  # uses, from and to
TESTED_EVERY = 5  # every fifth word is tested
LEAST_TESTED = 20  # words, below which a median says little
TESTED_PER_BAND = 400  # words tested for each number of uses
QUERIES_AT_ONCE = 64
POOR = 0.01  # of the words searched: a median rank beyond this is close to chance


@dataclass(frozen=True)
class FoundWords(Record):
    """Words with about the same number of uses.

    `median_rank` is that of a word's own vector (1 is best), `reciprocal_rank` the mean of 1/rank; `unadapted_rank`
    is the median rank with the transform alone.
    """

    uses: str
    words: int
    median_rank: float
    reciprocal_rank: float
    unadapted_rank: float


@dataclass(frozen=True, repr=False)
class FoundAgain(Records[FoundWords]):
    """How well held-out words are found again, by their number of uses; as a table, one row per number of uses."""

    kind = FoundWords
    items: tuple[FoundWords, ...]
    among: int  # words

    @property
    def summary(self) -> str:
        """The row for 20 to 199 uses, or the one with the most uses below, as a sentence."""
        if not self.items:
            return "too few words to know how well words of this text are found again"
        (uses,) = _usual([row.uses for row in self.items])
        row = next(row for row in self.items if row.uses == uses)
        return (
            f"words of this text with {row.uses} uses are found again at median rank {row.median_rank:,.0f} of "
            f"{self.among:,} (transform alone: {row.unadapted_rank:,.0f})"
        )

    @property
    def is_poor(self) -> bool:
        """Whether words with 20 to 199 uses are hardly found again."""
        return any(row.uses == "20–199" and row.median_rank > POOR * self.among for row in self.items)


def found_again(
    sums: ContextSums,
    vectors: WordVectors,
    register: Register | None,
    transform: Transform,
    by_uses: bool = True,
) -> FoundAgain | None:
    """Return how well words are found again in the text of some sums; None if these do not hold words with a vector.

    Parameters
    ----------
    sums
        Sums over the vocabulary, or for targets with `adapt=True`.
    vectors
        The vectors they were collected with.
    register
        What is known before the text; None for nothing.
    transform
        What to compare with.
    by_uses
        Whether words of all numbers of uses are looked for, or only those that the summary names.
    """
    words = words_with_vectors(sums, vectors)
    if words is None:
        return None
    held_out = words.words % TESTED_EVERY == 0
    kept = words.only(~held_out)
    text = Register.of_words(kept, vectors) if register is None else register.of_text(kept, vectors)
    adaptation = text.adaptation()
    tested = words.only(held_out)
    searched: Doubles = vectors.matrix[:COMMON_WORDS].astype(np.float64)
    adapted = tested.contexts @ adaptation.matrix.T + adaptation.intercept
    by_occurrence = transform.settings is not None and transform.settings.averaging == "occurrence"
    plain: Doubles = transform(tested.contexts * (tested.lengths[:, None] if by_occurrence else 1.0)).astype(np.float64)
    vocabulary = adaptation.compared_words(searched)
    tests: dict[str, Rows] = {}
    for low, high in BANDS:
        chosen = _evenly_chosen((tested.counts >= low) & (tested.counts <= (high or np.inf)))
        if len(chosen) >= LEAST_TESTED:
            tests[str(low) if low == high else f"{low}–{high}" if high else f"{low}+"] = chosen
    rows = []
    for name in tests if by_uses else _usual(list(tests)):
        chosen = tests[name]
        own = tested.words[chosen]
        ranks, unadapted = rank_of_own(adapted[chosen], vocabulary, own), rank_of_own(plain[chosen], searched, own)
        rows.append(
            FoundWords(name, len(own), float(np.median(ranks)), float(np.mean(1 / ranks)), float(np.median(unadapted)))
        )
    return FoundAgain(tuple(rows), len(searched))


def _usual(uses: list[str]) -> list[str]:
    """Return the number of uses that a summary names, if there is any: the most below 200."""
    return [name for name in uses if name != "200+"][-1:] or uses[-1:]


def _evenly_chosen(band: Mask) -> Rows:
    """Return some of the words of a band, of all frequencies."""
    rows = np.flatnonzero(band)
    return (
        rows if len(rows) <= TESTED_PER_BAND else rows[np.linspace(0, len(rows) - 1, TESTED_PER_BAND).astype(np.intp)]
    )


def rank_of_own(queries: Doubles, searched: Doubles, own: Rows, discount: Doubles | None = None) -> Longs:
    """Return the rank of each query's own row by cosine, less a discount for each row that is searched.

    >>> rank_of_own(np.array([[1.0, 0.0], [1.0, 3.0]]), np.eye(2), np.array([0, 0])).tolist()
    [1, 2]
    """
    units, ranks = unit_rows(searched).astype(np.float32), [np.zeros(0, dtype=np.int64)]
    for low in range(0, len(queries), QUERIES_AT_ONCE):
        cosines = unit_rows(queries[low : low + QUERIES_AT_ONCE]).astype(np.float32) @ units.T
        if discount is not None:
            cosines -= discount
        mine = cosines[np.arange(len(cosines)), own[low : low + QUERIES_AT_ONCE]]
        ranks.append(1 + np.count_nonzero(cosines > mine[:, None], axis=1))
    return np.concatenate(ranks)
