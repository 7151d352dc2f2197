"""Words that one text uses more often than another."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from alacarte._io.arrays import Longs
from alacarte._io.checks import whole_number
from alacarte._io.table import Record, Records
from alacarte.concordance.collocates import evenness, log_likelihood
from alacarte.errors import AlacarteError
from alacarte.passes.phrases import has_letter

if TYPE_CHECKING:
    from alacarte.concordance.concordance import Concordance


@dataclass(frozen=True)
class Keyword(Record):
    """A word that one text uses more often than another.

    Parameters
    ----------
    word : str
        The word.
    uses, other_uses : int
        How often the text uses it, and the other one.
    per_million, other_per_million : float
        The same per million tokens.
    documents : int
        How many documents of the text use it.
    evenness : float
        1 if it is spread over the documents as their tokens are, towards 0 if it comes from few of them: 1 − Gries's
        deviation of proportions.
    log_likelihood : float
        Dunning's G²: how surely the two differ, if every use counts by itself. 10.8 and more are 1 accident in 1,000.
    """

    word: str
    uses: int
    other_uses: int
    per_million: float
    other_per_million: float
    documents: int
    evenness: float
    log_likelihood: float


@dataclass(frozen=True, repr=False)
class Keywords(Records[Keyword]):
    """Words that one text uses more often than another, the surest first."""

    kind: ClassVar[type[Keyword]] = Keyword
    items: tuple[Keyword, ...]


def keywords(one: "Concordance", other: "Concordance", *, least: int = 3, limit: int = 50) -> Keywords:
    """Return the words that one text uses more often than another.

    Parameters
    ----------
    one, other : Concordance
        Two concordances, or two slices of one.
    least : int, default 3
        How often `one` has to use a word.
    limit : int, default 50
        The most words.

    Returns
    -------
    Keywords
        Words with a letter, also those without a vector.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from alacarte import Concordance, Corpus, Document, WordVectors
    >>> vectors = WordVectors(["a", "river", "bank", "boat"], np.eye(4))
    >>> texts = [Document("a river bank and a river boat", values=(side,)) for side in "AAB"]
    >>> texts += [Document("a bank of money", values=("B",))] * 3
    >>> path = Path(tempfile.mkdtemp()) / "bank.concordance"
    >>> banks = Concordance.build(vectors, Corpus(texts, columns=["side"]), path, show_progress=False)
    >>> found = keywords(banks.where("side=A"), banks.where("side=B"), limit=1)
    >>> [(item.word, item.uses, item.other_uses) for item in found]
    [('river', 4, 2)]
    """
    least, limit = whole_number(least, "least", 1), whole_number(limit, "limit", 1)
    if not (one.tokens and other.tokens):
        raise AlacarteError("one of the two has no text; choose other conditions")
    counts, others = _counts(one), _counts(other)
    words = [word for word, uses in counts.items() if uses >= least and has_letter(word)]
    uses = np.array([counts[word] for word in words], dtype=np.int64)
    other_uses = np.array([others[word] for word in words], dtype=np.int64)
    sureness = log_likelihood(uses, uses + other_uses, one.tokens, one.tokens + other.tokens)
    more = np.flatnonzero(uses * other.tokens > other_uses * one.tokens)
    best = more[np.argsort(-sureness[more], kind="stable")[:limit]].tolist()
    sizes = _sizes(one)
    rows = []
    for row in best:
        own = np.bincount(_documents_of(one, words[row]), minlength=len(sizes))
        often = int(uses[row]), int(other_uses[row])
        million = 1e6 * often[0] / one.tokens, 1e6 * often[1] / other.tokens
        spread = int(np.count_nonzero(own)), evenness(own, sizes)
        rows.append(Keyword(words[row], *often, *million, *spread, float(sureness[row])))
    return Keywords(tuple(rows))


def _counts(text: "Concordance") -> Counter[str]:
    """Return how often a text uses each word, also those without a vector."""
    counts: Counter[str] = Counter()
    for segment in text._segments:
        uses = segment.word_counts(text._of(segment))
        numbers = np.flatnonzero(uses)
        counts.update(dict(zip(segment.words_of(numbers, text._words), uses[numbers].tolist(), strict=True)))
    return counts


def _sizes(text: "Concordance") -> Longs:
    """Return the tokens of each document, by its number; 0 for those of other slices."""
    return np.concatenate([np.where(text._of(each), np.diff(each.offsets), 0) for each in text._segments])


def _documents_of(text: "Concordance", word: str) -> Longs:
    """Return the document of each use of a word."""
    found = []
    for segment in text._segments:
        for number in segment.ids_of(word, text._words).tolist():
            documents = segment.document_of(segment.occurrences(number))
            found.append(segment.first + documents[text._of(segment)[documents]])
    return np.concatenate(found)
