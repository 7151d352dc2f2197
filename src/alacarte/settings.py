"""How contexts are read: all that sums and transforms must agree on."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError

Averaging = Literal["occurrence", "token", "context"]
Positions = Literal["uniform", "linear", "inverse"]
AVERAGINGS = ("occurrence", "token", "context")
POSITIONS = ("uniform", "linear", "inverse")
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ContextSettings:
    """How contexts were read: all that must agree for sums to be added, or for a transform to apply.

    `averaging` is what u_f means (METHOD: three averages that must never be mixed):

    - `occurrence`: the sum over all contexts / the number of occurrences, the paper's equations 2 and 4;
    - `token`: the sum over all contexts / the (weighted) number of context tokens, pooled;
    - `context`: the mean over contexts of each context's own mean, the paper's equation 1.
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
            ("positions", self.positions, POSITIONS),
            ("unknown", self.unknown, ("keep", "drop")),
        ):
            if value not in allowed:
                raise AlacarteError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")

    def position_weights(self) -> tuple[Doubles, Doubles]:
        """Weight by distance 1, 2, … on the left and on the right."""
        return _by_distance(self.left, self.positions), _by_distance(self.right, self.positions)

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


def window_sides(window: int | tuple[int, int]) -> tuple[int, int]:
    """A window of n words each side, or of (before, after)."""
    return (window, window) if isinstance(window, int) else (int(window[0]), int(window[1]))
