"""Words on a plane: where their own vectors put them, where a corpus puts them, and how certain the second is.

Directions are drawn, not lengths. A corpus's vector m is an estimate of μ with covariance V; on the plane P it is
drawn at P m / √q, with q the squared length without noise (`alacarte.uncertainty.spread`). The region in which
P μ / ‖μ‖ lies with probability `level` is the ellipse of the covariance P J V Jᵀ Pᵀ / q, where J takes away what only
changes the length.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles
from alacarte._io.table import Record, Records
from alacarte.comparing.plots import draw_word_map
from alacarte.errors import NotEnoughData
from alacarte.inference.cosines import check_level
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.geometry import top_components, unit_rows


@dataclass(frozen=True)
class MapPoint(Record):
    """A word: its place by the corpus (`x`, `y`), and by its own vector (`own_x`, `own_y`; NaN without one).

    The region in which the place from infinitely many contexts lies is an ellipse about (`x`, `y`) with the half axes
    `major` and `minor`, the first at `angle` radians to the x-axis.
    """

    word: str
    contexts: int
    x: float
    y: float
    own_x: float
    own_y: float
    major: float
    minor: float
    angle: float


@dataclass(frozen=True, eq=False, repr=False)
class WordMap(Records[MapPoint]):
    """Words on the plane in which they differ most; one row per word."""

    kind: ClassVar[type[Any]] = MapPoint
    items: tuple[MapPoint, ...]
    origin: Doubles  # what is taken from a direction of length 1 before it is drawn
    axes: Doubles  # (2, dimensions)
    level: float

    def plot(self, ax: Any = None, *, title: str | None = None) -> Any:
        """Draw each word where its own vector puts it (open) and where the corpus does (filled, with its region).

        Parameters
        ----------
        ax
            The axes to draw on; new ones by default.
        title
            Their title.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return draw_word_map(self, ax, title=title)

    def project(self, vectors: npt.ArrayLike) -> Doubles:
        """Return the places of other vectors on this plane, in two columns."""
        return np.asarray((unit_rows(np.asarray(vectors, dtype=np.float64)) - self.origin) @ self.axes.T)


def word_map(uncertainty: Uncertainty, words: Iterable[str] | None = None, level: float = 0.95) -> WordMap:
    """Draw words on the plane in which they differ most, by their own vectors and by those of a corpus together.

    Parameters
    ----------
    uncertainty
        That of induced vectors.
    words
        Which of their words to draw; all by default.
    level
        The probability with which a region holds the place from infinitely many contexts.

    Examples
    --------
    >>> from alacarte import Transform, WordVectors, collect
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(60)], rng.normal(size=(60, 4)))
    >>> text = [" ".join(rng.choice(vectors.words, 9)) for _ in range(1000)]
    >>> sums = collect(vectors, text, vectors.words[:30], spread=16)
    >>> drawn = word_map(Uncertainty.of_sums(sums, Transform(np.eye(4)), vectors), ["w1", "w2", "w3"])
    >>> [point.word for point in drawn], drawn[0].major > drawn[0].minor > 0
    (['w1', 'w2', 'w3'], True)
    """
    check_level(level)
    listed = list(uncertainty.keys if words is None else dict.fromkeys(words))
    if len(listed) < 2:
        raise NotEnoughData(f"a map needs at least two words, not {len(listed)}")
    drawn = [_drawn(uncertainty, word) for word in listed]
    vectors = uncertainty.vectors
    own = {word: unit_rows(vectors[word]) for word in listed if word in vectors and vectors[word].any()}
    rows = np.vstack([*(direction for _, direction, _, _ in drawn), *own.values()])
    origin, axes = rows.mean(axis=0), top_components(rows, 2)
    points = []
    for word, (contexts, direction, covariance, df) in zip(listed, drawn, strict=True):
        place = axes @ (direction - origin)
        own_place = axes @ (own[word] - origin) if word in own else np.full(2, np.nan)
        region = _ellipse(axes @ covariance @ axes.T, df, level)
        points.append(MapPoint(word, contexts, *map(float, (*place, *own_place, *region))))
    return WordMap(tuple(points), origin, axes, level)


def _drawn(uncertainty: Uncertainty, word: str) -> tuple[int, Doubles, Doubles, float]:
    """Return (contexts, a corpus's vector at the length 1 it would have without noise, its covariance, that one's df).

    An error along the vector changes its length. The share `own` of it cancels, because the vector is divided by that
    length; the rest of the length comes from what words have in common, and has an error of its own.
    """
    target = uncertainty.one(word)
    if not target.means.any():
        raise NotEnoughData(f"the vector of {word!r} is zero, so it has no place; leave it out")
    square, own, second = (float(part[0]) for part in uncertainty.typical.lengths(target))
    direction, df = target.means[0] / np.sqrt(square), float(target.df[0] + uncertainty.typical.direction_df)
    unit = unit_rows(direction)
    across = np.eye(len(unit)) - own * np.outer(unit, unit)
    covariance = across @ uncertainty.covariance(word) @ across / square
    return int(target.contexts[0]), direction, covariance + second / (4 * square**2) * np.outer(unit, unit), df


def _ellipse(covariance: Doubles, df: float, level: float) -> tuple[float, float, float]:
    """(half axis, half axis, angle of the first) on a plane."""
    from scipy.special import fdtri

    variances, directions = np.linalg.eigh(covariance)
    rest = max(df - 1, 1.0)
    bound = 2 * df / rest * fdtri(2, rest, level)  # of Hotelling's T² in two dimensions
    minor, major = np.sqrt(np.maximum(variances, 0) * bound)
    return float(major), float(minor), float(np.arctan2(directions[1, 1], directions[0, 1]))
