"""How contexts are read: all that sums and transforms must agree on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from alacarte._io.arrays import Doubles
from alacarte._io.checks import whole_number
from alacarte._io.options import option
from alacarte.errors import AlacarteError
from alacarte.text.tokenizers import TokenizerLike

Averaging = Literal["occurrence", "token", "context"]
Positions = str  # one of POSITIONS, or weights by distance: "1,0.5/0.8,0.4", to the left / to the right
AVERAGINGS = ("occurrence", "token", "context")
POSITIONS = ("uniform", "linear", "inverse")
WIDEST = 1_000_000  # words on a side; room for them is taken at once


class ReadingOptions(TypedDict, total=False):
    """The keywords that say how contexts are read, wherever a public function takes them.

    `window`: words on each side, or (before, after). `context_weights`: see `alacarte.contexts.weights`. `tokenizer`:
    a name or a function, see `alacarte.text.tokenizers`. `unknown`: whether a word without a vector keeps its place in
    the window ("keep") or is taken out of the text first ("drop"). `averaging` and `positions`: see `Reading`.
    """

    window: int | tuple[int, int]
    averaging: Averaging
    positions: Positions
    context_weights: object
    tokenizer: TokenizerLike
    unknown: Literal["keep", "drop"]


@dataclass(frozen=True)
class Reading:
    """How contexts are read: what must agree for sums to be added, or for a transform to apply.

    Parameters
    ----------
    left, right
        Words of the window before and after.
    averaging
        What the average of contexts is, which must be the same for a transform and for what it is applied to:
        "occurrence" (the sum over all contexts / the number of occurrences; the paper's equations 2 and 4), "token"
        (the same sum / the weighted number of all context words) or "context" (the mean of each context's own mean;
        the paper's equation 1).
    positions
        How much a context word counts by its distance: "uniform" (1), "linear" (1 … 1/n), "inverse" (1/distance), or
        one number for each distance to the left and, after a slash, to the right, as in "1,0.5/0.8,0.4".
    weights
        The name of the context weights (`alacarte.contexts.weights`).
    tokenizer
        The name of the tokenizer (`alacarte.text.tokenizers`).
    unknown
        Whether a word without a vector keeps its place in the window ("keep") or is taken out first ("drop").

    Examples
    --------
    >>> Reading(2, 2, positions="1,0.5/0.8,0.4").position_weights()[1].tolist()
    [0.8, 0.4]
    """

    left: int = option(10, "Words on each side, or before and after: 10, or 5,10.", name="window", metavar="N|B,A")
    right: int = 10
    averaging: Averaging = option("occurrence", "What sums are divided by; the paper divides by occurrence.")
    positions: Positions = option(
        "uniform",
        "How weight falls with distance: uniform, linear, inverse, or weights to the left / to the right. Models that "
        "adapt to texts are learned with linear, if nothing is said.",
        metavar="NAME|W,W/W,W",
    )
    weights: str = option(
        "uniform",
        "uniform, sif, sif:1e-3, top:100, stopwords, or @FILE with stop words or words and weights.",
        name="context_weights",
        metavar="SPEC",
    )
    tokenizer: str = option(
        "words",
        "words, words-cased, whitespace, whitespace-lower, authors, authors-lower, jieba, spacy:de.",
        metavar="NAME",
    )
    unknown: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            object.__setattr__(self, side, whole_number(getattr(self, side), "window"))
        if self.left + self.right == 0:
            raise AlacarteError(f"a window of {self.left} words before and {self.right} after holds nothing")
        if max(self.left, self.right) > WIDEST:
            raise AlacarteError(
                f"a window has at most {WIDEST:,} words on a side, longer than any document; take fewer"
            )
        for name, value, allowed in (
            ("averaging", self.averaging, AVERAGINGS),
            ("unknown", self.unknown, ("keep", "drop")),
        ):
            if value not in allowed:
                raise AlacarteError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if self.positions not in POSITIONS:
            _explicit(self.positions, (self.left, self.right))

    @property
    def described(self) -> str:
        """The same in words.

        Examples
        --------
        >>> Reading(5, 10).described
        '5 words before, 10 after; uniform by distance, uniform by word; an average per occurrence'
        """
        return (
            f"{self.left} words before, {self.right} after; {self.positions} by distance, {self.weights} by word; an "
            f"average per {self.averaging}"
        )

    def position_weights(self) -> tuple[Doubles, Doubles]:
        """Return the weights of distances 1, 2, … to the left and to the right."""
        if self.positions not in POSITIONS:
            return _explicit(self.positions, (self.left, self.right))
        return _by_distance(self.left, self.positions), _by_distance(self.right, self.positions)

    @classmethod
    def of(cls, options: "ReadingOptions", tokenizer: str) -> "Reading":
        """Return what keywords say, with the name of the tokenizer; context weights are named later.

        Examples
        --------
        >>> Reading.of({"window": (2, 3)}, "words").window
        '2,3'
        """
        left, right = window_sides(options.get("window", 10))
        averaging, positions = options.get("averaging", "occurrence"), options.get("positions", "uniform")
        return cls(left, right, averaging, positions, "uniform", tokenizer, options.get("unknown", "keep"))

    @property
    def window(self) -> str:
        """The words before and after, as on the command line."""
        return f"{self.left}" if self.left == self.right else f"{self.left},{self.right}"


def _by_distance(width: int, positions: Positions) -> Doubles:
    distance = np.arange(1, width + 1, dtype=np.float64)
    if positions == "linear":
        return (width + 1 - distance) / max(width, 1)
    if positions == "inverse":
        return 1 / distance
    return np.ones(width)


def _explicit(positions: object, widths: tuple[int, int]) -> tuple[Doubles, Doubles]:
    """Weights by distance out of "1,0.5/0.8,0.4"."""
    try:
        if not isinstance(positions, str):
            raise ValueError
        sides = [np.array([float(number) for number in side.split(",") if number]) for side in positions.split("/")]
        left, right = sides
    except ValueError:
        raise AlacarteError(
            f"positions must be one of {', '.join(POSITIONS)}, or weights by distance to the left and to the right "
            f'as in "1,0.5/0.8,0.4", not {positions!r}'
        ) from None
    if (len(left), len(right)) != widths:
        raise AlacarteError(
            f"positions {positions!r} are weights for a window of {len(left)} words before and {len(right)} after, "
            f"and the window has {widths[0]} and {widths[1]}; give one weight for each distance"
        )
    both = np.concatenate([left, right])
    if not np.isfinite(both).all() or (both < 0).any() or not (both > 0).any():
        raise AlacarteError(f"positions {positions!r}: weights are finite, not negative, and not all 0")
    return left, right


def window_sides(window: int | tuple[int, int]) -> tuple[int, int]:
    """Return a window of n words on each side, or of (before, after).

    >>> window_sides(5), window_sides((2, 3))
    ((5, 5), (2, 3))
    """
    sides = tuple(window) if isinstance(window, Sequence) and not isinstance(window, str) else (window, window)
    if len(sides) != 2:
        raise AlacarteError(f"window is a whole number, or two for the words before and after, not {window!r}")
    return whole_number(sides[0], "window"), whole_number(sides[1], "window")
