"""Words that occur near a word more often than by chance."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from alacarte._io.arrays import Doubles, Longs
from alacarte._io.checks import whole_number
from alacarte._io.table import Record, Records
from alacarte.passes.phrases import has_letter
from alacarte.targets.targets import Targets, TargetsLike

if TYPE_CHECKING:
    from alacarte.concordance.concordance import Concordance
    from alacarte.concordance.uses import Place


@dataclass(frozen=True)
class Collocate(Record):
    """A word that occurs near another one.

    Parameters
    ----------
    word : str
        The word.
    uses : int
        How often it occurs near.
    expected : float
        How often it would if words were shuffled.
    documents : int
        In how many documents it occurs near.
    evenness : float
        1 if it is spread over the documents as the places near the other word are, towards 0 if it comes from few of
        them: 1 − Gries's deviation of proportions.
    log_likelihood : float
        Dunning's G²: how surely it is no accident. 10.8 and more are 1 accident in 1,000.
    """

    word: str
    uses: int
    expected: float
    documents: int
    evenness: float
    log_likelihood: float


@dataclass(frozen=True, repr=False)
class Collocates(Records[Collocate]):
    """Words that occur near a word, the surest first."""

    kind: ClassVar[type[Collocate]] = Collocate
    items: tuple[Collocate, ...]


def collocates(
    concordance: "Concordance", target: TargetsLike, *, window: int = 5, least: int = 3, limit: int = 50
) -> Collocates:
    """Return the words that occur near a word, phrase or pattern more often than by chance.

    Parameters
    ----------
    concordance : Concordance
        The text, or a slice of it.
    target : str or Targets
        A word or phrase, or several targets as one.
    window : int, default 5
        How many words on either side are near.
    least : int, default 3
        How often a word has to occur near.
    limit : int, default 50
        The most words.

    Returns
    -------
    Collocates
        Among the words that have a vector and a letter.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from alacarte import Concordance, WordVectors
    >>> vectors = WordVectors(["a", "deep", "river", "bank", "boat"], np.eye(5))
    >>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
    >>> text = ["a deep river bank", "a river bank", "a deep boat", "a river bank in may", "a boat", "a deep boat"]
    >>> text = Concordance.build(vectors, text, path, show_progress=False)
    >>> [(item.word, item.uses) for item in collocates(text, "bank", window=1)]
    [('river', 3)]
    """
    window, least = whole_number(window, "window", 1), whole_number(least, "least", 1)
    uses = concordance.uses(Targets.of(target))
    near_each = [_near(place, window) for place in uses.places]
    words, documents = (np.concatenate(each) for each in zip(*near_each, strict=True))
    counts = concordance._word_counts()
    known = words < len(counts)
    near = np.bincount(words[known], minlength=len(counts))
    expected = counts * (len(words) / concordance.tokens)
    candidates = np.flatnonzero((near >= least) & (near > expected)).tolist()
    chosen = np.array([row for row in candidates if has_letter(uses.source.words[row])], dtype=np.int64)
    sureness = log_likelihood(near[chosen], counts[chosen], len(words), concordance.tokens)
    best = np.argsort(-sureness, kind="stable")[: whole_number(limit, "limit", 1)]
    spread = _spread(words, documents, chosen[best])
    return Collocates(
        tuple(
            Collocate(uses.source.words[row], int(near[row]), float(expected[row]), count, even, float(sure))
            for row, sure, (count, even) in zip(chosen[best].tolist(), sureness[best], spread, strict=True)
        )
    )


def _near(place: "Place", window: int) -> tuple[Longs, Longs]:
    """Return the numbers of the words near the uses in a segment, and the document of each."""
    both = np.hstack(place.segment.window(place.begins, place.ends, window, window)).astype(np.int64)
    documents = np.broadcast_to(place.documents[:, None], both.shape)
    there = both >= 0
    return both[there], documents[there]


def log_likelihood(near: Longs, counts: Longs, places: int, tokens: int) -> Doubles:
    """Return Dunning's G² of words that occur `near` times at some places, and `counts` times in all tokens."""
    elsewhere = np.maximum(counts - near, 0)
    cells = np.array([near, elsewhere, places - near, tokens - places - elsewhere], dtype=np.float64)
    rows, columns = cells[:2].sum(axis=0), np.array([places, tokens - places], dtype=np.float64)
    share = columns / tokens
    expected = np.array([rows * share[0], rows * share[1], (tokens - rows) * share[0], (tokens - rows) * share[1]])
    terms = np.where(cells > 0, cells * np.log(np.maximum(cells, 1e-300) / np.maximum(expected, 1e-300)), 0.0)
    return np.asarray(2 * terms.sum(axis=0))


def _spread(words: Longs, documents: Longs, chosen: Longs) -> list[tuple[int, float]]:
    """Return in how many documents each chosen word occurs near, and how evenly."""
    _, numbers = np.unique(documents, return_inverse=True)
    places = np.bincount(numbers)
    found = []
    for word in chosen.tolist():
        own = np.bincount(numbers[words == word], minlength=len(places))
        found.append((int(np.count_nonzero(own)), evenness(own, places)))
    return found


def evenness(uses: Longs, sizes: Longs) -> float:
    """Return 1 minus Gries's deviation of proportions: of uses by document, beside the sizes of the documents.

    >>> evenness(np.array([1, 1]), np.array([20, 20])), evenness(np.array([2, 0]), np.array([20, 20]))
    (1.0, 0.5)
    """
    return float(1 - 0.5 * np.abs(uses / uses.sum() - sizes / sizes.sum()).sum())
