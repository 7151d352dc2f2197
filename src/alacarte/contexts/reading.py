"""How contexts are read: all that sums and transforms must agree on."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError
from alacarte.text.tokenizers import TokenizerLike

Averaging = Literal["occurrence", "token", "context"]
Positions = str  # one of POSITIONS, or weights by distance: "1,0.5/0.8,0.4", to the left / to the right
AVERAGINGS = ("occurrence", "token", "context")
POSITIONS = ("uniform", "linear", "inverse")
Doubles = npt.NDArray[np.float64]


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
    """How contexts were read: all that must agree for sums to be added, or for a transform to apply.

    `averaging` is what u_f means (METHOD: three averages that must never be mixed):

    - `occurrence`: the sum over all contexts / the number of occurrences, the paper's equations 2 and 4;
    - `token`: the sum over all contexts / the (weighted) number of context tokens, pooled;
    - `context`: the mean over contexts of each context's own mean, the paper's equation 1.

    `positions` weighs context words by their distance: `uniform` (1), `linear` (1 … 1/n), `inverse` (1/distance), or
    one number for each distance 1, 2, … to the left, a slash, and to the right.

    >>> Reading(2, 2, positions="1,0.5/0.8,0.4").position_weights()[1].tolist()
    [0.8, 0.4]
    """

    left: int = 10
    right: int = 10
    averaging: Averaging = "occurrence"
    positions: Positions = "uniform"
    weights: str = "uniform"
    tokenizer: str = "words"
    unknown: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        if min(self.left, self.right) < 0 or self.left + self.right == 0:
            raise AlacarteError(f"a window of {self.left} words before and {self.right} after holds nothing")
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
        """In words, for people.

        >>> Reading(5, 10).described
        '5 words before, 10 after; uniform by distance, uniform by word; an average per occurrence'
        """
        return (
            f"{self.left} words before, {self.right} after; {self.positions} by distance, {self.weights} by word; an "
            f"average per {self.averaging}"
        )

    def position_weights(self) -> tuple[Doubles, Doubles]:
        """Weight by distance 1, 2, … on the left and on the right."""
        if self.positions not in POSITIONS:
            return _explicit(self.positions, (self.left, self.right))
        return _by_distance(self.left, self.positions), _by_distance(self.right, self.positions)

    @classmethod
    def of(cls, options: "ReadingOptions", tokenizer: str) -> "Reading":
        """What the keywords say, with the name of the tokenizer; context weights are named once they are made.

        >>> Reading.of({"window": (2, 3)}, "words").window
        '2,3'
        """
        left, right = window_sides(options.get("window", 10))
        averaging, positions = options.get("averaging", "occurrence"), options.get("positions", "uniform")
        return cls(left, right, averaging, positions, "uniform", tokenizer, options.get("unknown", "keep"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Reading":
        """What `dataclasses.asdict` wrote into a file; a setting of a newer version is an error that says so.

        >>> Reading.from_dict({"left": 2, "right": 3}).window
        '2,3'
        """
        unknown = sorted(set(values) - {item.name for item in fields(cls)})
        if unknown:
            raise AlacarteError(
                f"the settings hold {', '.join(map(repr, unknown))}, which this version of alacarte does not know: the "
                "file was made by a newer version; upgrade with pip install --upgrade alacarte-embeddings"
            )
        return cls(**values)

    @property
    def window(self) -> str:
        return f"{self.left}" if self.left == self.right else f"{self.left},{self.right}"


def _by_distance(width: int, positions: Positions) -> Doubles:
    distance = np.arange(1, width + 1, dtype=np.float64)
    if positions == "linear":
        return (width + 1 - distance) / max(width, 1)
    if positions == "inverse":
        return 1 / distance
    return np.ones(width)


def _explicit(positions: str, widths: tuple[int, int]) -> tuple[Doubles, Doubles]:
    """Weights by distance out of "1,0.5/0.8,0.4"."""
    try:
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


def written_positions(left: Doubles, right: Doubles) -> Positions:
    """Weights by distance as `Reading` takes them.

    >>> written_positions(np.array([1.0, 0.5]), np.array([0.8]))
    '1,0.5/0.8'
    """
    return "/".join(",".join(f"{weight:.4g}" for weight in side) for side in (left, right))


def window_sides(window: int | tuple[int, int]) -> tuple[int, int]:
    """A window of n words each side, or of (before, after)."""
    return (window, window) if isinstance(window, int) else (int(window[0]), int(window[1]))
