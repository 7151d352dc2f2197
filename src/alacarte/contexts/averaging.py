"""What an average of contexts is divided by, in one place.

The paper has three averages that must never be mixed under one transform (see `Reading`). All that knows about
contexts in this package, whole passes, groups of documents, sampled contexts, a single sentence, divides by this.
"""

from typing import TypeVar

from alacarte.contexts.reading import Averaging

Amount = TypeVar("Amount")


def divisor(averaging: Averaging, occurrences: Amount, total_weight: Amount, contexts: Amount) -> Amount:
    """Return what the sum over contexts is divided by.

    `occurrences` counts contexts, `contexts` those with any word that counts, and `total_weight` adds up the weights
    of all words in them. Under averaging="context" the sum is one of means and not of words.

    >>> divisor("occurrence", 3, 7.5, 2), divisor("token", 3, 7.5, 2), divisor("context", 3, 7.5, 2)
    (3, 7.5, 2)
    """
    return {"occurrence": occurrences, "token": total_weight, "context": contexts}[averaging]
