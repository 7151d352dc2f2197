"""How the matrix is learned: which words take part, how much each counts, and what the penalty is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np
import numpy.typing as npt

from alacarte.errors import BadTransform

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Weighting = str | int | float | Callable[[Counts], npt.ArrayLike] | None

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

    `weighting` is α(c): None (1 for all), a number τ (1 from τ occurrences on), "log" (log c), any function of
    the counts, or "auto": the τ that is best for held-out words of few contexts (`alacarte.transform.automatic`),
    log c where there are fewer than 10 words a dimension.
    `ridge` is λ, or "loo": the λ with the least squared error over words left out one at a time, in closed form.
    `toward` says what the penalty shrinks to: the zero matrix, or the multiple of the identity that fits best.
    `intercept`: learn a constant vector too. `exclude` names words that take no part.
    `folds`: parts that are held out in turn to measure how well unseen words do; 1 measures nothing.

    >>> Solve(ridge="loo").weighting
    'auto'
    """

    weighting: Weighting = "auto"
    ridge: float | Literal["loo"] = 0.0
    toward: Literal["zero", "identity"] = "zero"
    intercept: bool = False
    exclude: Iterable[str] = ()
    folds: int = FOLDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "exclude", frozenset(self.exclude))
        if self.ridge != "loo" and (not isinstance(self.ridge, (int, float)) or self.ridge < 0):
            raise BadTransform(f"ridge is a number from 0 on, or 'loo', not {self.ridge!r}")
        if self.toward not in ("zero", "identity"):
            raise BadTransform(f"toward is 'zero' or 'identity', not {self.toward!r}")

    def word_weights(self, counts: Counts) -> tuple[str, Doubles]:
        """(name of the weighting, weight of each word in the regression); "auto" is decided before (`fitting`)."""
        weighting = self.weighting
        if weighting is None or weighting == "none":
            return "every word alike", np.ones(len(counts))
        if weighting == "log":
            return "weight log(count)", np.log(np.maximum(counts, 1).astype(np.float64))
        if isinstance(weighting, (int, float)):
            return f"count ≥ {weighting:g}", (counts >= weighting).astype(np.float64)
        if callable(weighting):
            weights = np.asarray(weighting(counts), dtype=np.float64)
            if weights.shape != counts.shape or not np.isfinite(weights).all() or (weights < 0).any():
                raise BadTransform("the weighting function must return one finite, non-negative weight for each count")
            return getattr(weighting, "__name__", "custom weights"), weights
        raise BadTransform(
            f"weighting is None, 'log', 'auto', a count threshold or a function of counts, not {weighting!r}"
        )
