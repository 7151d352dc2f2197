"""How the matrix is learned: which words take part, how much each counts, and what the penalty is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypedDict, TypeGuard

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs
from alacarte._io.checks import whole_number, word_set
from alacarte._io.options import option
from alacarte.errors import BadTransform

Weighting = str | int | float | Callable[[Longs], npt.ArrayLike] | None

FOLDS = 5


class SolveOptions(TypedDict, total=False):
    """The keywords that say how the matrix is learned, wherever a public function takes them; see `Solve`."""

    weighting: Weighting
    ridge: float | Literal["loo"]
    toward: Literal["zero", "identity"]
    intercept: bool
    exclude: Iterable[str]
    folds: int


@dataclass(frozen=True)
class Solve:
    """How the matrix is learned.

    Parameters
    ----------
    weighting
        How much a word counts by its number of occurrences c: None (all alike), a number τ (1 from τ occurrences on,
        0 below), "log" (log c), a function of the counts, or "auto": the τ that is best for held-out words of few
        contexts, and "log" where there are fewer than ten words per dimension.
    ridge
        The penalty, or "loo": the one with the least squared error over words left out one at a time.
    toward
        What the penalty shrinks to: the "zero" matrix, or the multiple of the "identity" that fits best.
    intercept
        Whether a constant vector is learned too.
    exclude
        Words that take no part.
    folds
        Parts that are held out in turn to measure how well unseen words do; 1 measures nothing.

    Examples
    --------
    >>> Solve(ridge="loo").weighting
    'auto'
    """

    weighting: Weighting = option(
        "auto",
        "Learn from words with N occurrences or more; auto finds the N that serves words of few contexts best; log "
        "weights words by log(count), for small corpora; none counts all words alike.",
        metavar="auto|N|log|none",
    )
    ridge: float | Literal["loo"] = option(
        0.0, "Penalty, or loo: chosen by leaving words out.", metavar="λ|loo", shown="0"
    )
    toward: Literal["zero", "identity"] = option("zero", "What the penalty shrinks to.")
    intercept: bool = False
    exclude: Iterable[str] = option((), "Words that take no part, one per line.", metavar="FILE")
    folds: int = FOLDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "exclude", word_set(self.exclude, "exclude"))
        object.__setattr__(self, "folds", whole_number(self.folds, "folds", 1))
        if self.ridge != "loo" and not _is_amount(self.ridge):
            raise BadTransform(f"ridge is a number from 0 on, or 'loo', not {self.ridge!r}")
        named = self.weighting is None or self.weighting in ("none", "log", "auto")
        if not (named or callable(self.weighting) or _is_amount(self.weighting)):
            raise BadTransform(
                f"weighting is None, 'log', 'auto', a count threshold or a function of counts, not {self.weighting!r}"
            )
        if self.toward not in ("zero", "identity"):
            raise BadTransform(f"toward is 'zero' or 'identity', not {self.toward!r}")

    def word_weights(self, counts: Longs) -> tuple[str, Doubles]:
        """Return (name of the weighting, weight of each word); "auto" is decided before (`fitting`)."""
        weighting = self.weighting
        if weighting is None or weighting == "none":
            return "every word alike", np.ones(len(counts))
        if weighting == "log":
            return "weight log(count)", np.log(np.maximum(counts, 1).astype(np.float64))
        if _is_amount(weighting):
            return f"count ≥ {weighting:g}", (counts >= weighting).astype(np.float64)
        assert callable(weighting)
        weights = np.asarray(weighting(counts), dtype=np.float64)
        if weights.shape != counts.shape or not np.isfinite(weights).all() or (weights < 0).any():
            raise BadTransform("the weighting function must return one finite, non-negative weight for each count")
        return getattr(weighting, "__name__", "custom weights"), weights


def _is_amount(value: object) -> TypeGuard[float]:
    """Whether this is a finite number from 0 on."""
    return not isinstance(value, bool) and isinstance(value, Real) and 0 <= float(value) < np.inf
