"""Do two corpora use a word differently? A test for each word, from what is known of the noise of both vectors.

Directions are compared, not lengths: shorter documents cut windows, which shortens vectors and is no other use.
With a = m_a / √q_a and b = m_b / √q_b (alacarte.inference.spread), D = a − b without its part along a + b, and P the
projection that takes this part out,

    F = ‖D‖² / tr P (V_a / q_a + V_b / q_b) P

has about the F distribution with r and r · f degrees of freedom if both corpora use the word alike (Dempster 1958; r is
the effective number of dimensions of the noise, f the degrees of freedom of the variances).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from alacarte._io.table import Record, Records
from alacarte.errors import NoOccurrences
from alacarte.inference.cosines import interval
from alacarte.inference.multiple_testing import adjusted
from alacarte.inference.spread import Deviations, TypicalSpread
from alacarte.inference.uncertainty import Uncertainty
from alacarte.vectors.geometry import cosines, unit_rows

Doubles = npt.NDArray[np.float64]


class HasUncertainty(Protocol):
    @property
    def uncertainty(self) -> Uncertainty: ...


@dataclass(frozen=True)
class Comparison(Record):
    """One word in two corpora.

    `similarity` is the cosine between the two uses, corrected for noise, with its interval; `p_value` is the chance of
    a difference as large as this or larger if there is none; `q_value` takes account of how many words were compared
    (Benjamini and Hochberg 1995).
    """

    word: str
    contexts_a: int
    contexts_b: int
    cosine: float
    similarity: float
    low: float
    high: float
    statistic: float
    p_value: float
    q_value: float


@dataclass(frozen=True)
class Comparisons(Records[Comparison]):
    """Words in two corpora, the surest difference first; as a table, a row a word."""

    kind = Comparison
    items: tuple[Comparison, ...]
    level: float


def compare_uses(
    a: "HasUncertainty | Uncertainty",
    b: "HasUncertainty | Uncertainty",
    words: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> Comparisons:
    """Test words that were induced from two corpora, with `spread`, by the same model; all that both have, by default.

    >>> from alacarte import ALaCarte, Transform, WordVectors
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(90)], rng.normal(size=(90, 4)))
    >>> model = ALaCarte(vectors, Transform(np.eye(4)))
    >>> def text(first):  # "x" is among the first or the last words, "y" among all
    ...     near = vectors.words[:45] if first else vectors.words[45:]
    ...     pairs = [("x", near), ("y", vectors.words)]
    ...     return [" ".join([word, *rng.choice(others, 9)]) for word, others in pairs for _ in range(400)]
    >>> both = [model.induce(text(first), ["x", "y"], spread=16) for first in (True, False)]
    >>> [(item.word, item.p_value < 0.01) for item in compare_uses(*both)]
    [('x', True), ('y', False)]
    """
    first, second = (given if isinstance(given, Uncertainty) else given.uncertainty for given in (a, b))
    there = set(second.keys)
    if words is None:
        names = [key for key in first.keys if key in there]
        if not names:
            raise NoOccurrences("no target occurs in both corpora; embed the same targets from both")
    else:
        names = [words] if isinstance(words, str) else list(words)
    tests = [_compare(name, first, second, level) for name in names]
    tests.sort(key=lambda item: (item.p_value, -item.statistic))
    q_values = adjusted([item.p_value for item in tests], "bh").tolist()
    items = tuple(replace(item, q_value=q) for item, q in zip(tests, q_values, strict=True))
    return Comparisons(items, level)


def _compare(word: str, first: Uncertainty, second: Uncertainty, level: float) -> Comparison:
    from scipy import special

    sides = [(corpus.one(word), corpus.typical) for corpus in (first, second)]
    parts = [_scaled(*side) for side in sides]
    middle = unit_rows(parts[0].unit + parts[1].unit)
    difference = parts[0].unit - parts[1].unit
    difference = difference - (difference @ middle) * middle
    shapes = [part.noise * _without(side[1].shape, middle) for part, side in zip(parts, sides, strict=True)]
    traces = [float(np.trace(shape)) for shape in shapes]
    both = shapes[0] + shapes[1]
    rank = float(np.trace(both) ** 2 / np.sum(both**2))
    below = sum(traces) ** 2 / sum(trace**2 / part.df for trace, part in zip(traces, parts, strict=True))
    statistic = float(difference @ difference) / sum(traces)
    # The cosine of the two: its noise is that of either, along what changes it.
    estimate = float(parts[0].unit @ parts[1].unit)
    variance, dfs = 0.0, []
    for at, (target, typical) in enumerate(sides):
        mine, theirs = parts[at], parts[1 - at]
        w = ((theirs.unit - mine.own * estimate * mine.unit) / mine.root)[None]
        along, df = typical.variance_along(target, w, np.array([estimate]))
        variance += float(along[0]) + estimate**2 * max(mine.extra, 0.0) / (4 * mine.root**4)
        dfs.append(float(df[0]))
    low, high = interval(np.array(estimate), np.sqrt(variance), min(dfs), level)
    n_a, n_b = (int(target.contexts[0]) for target, _ in sides)
    cosine = float(cosines(sides[0][0].means[0], sides[1][0].means[0]))
    p = float(special.fdtrc(rank, below, statistic))
    similarity = float(np.clip(estimate, -1, 1))
    return Comparison(word, n_a, n_b, cosine, similarity, float(low), float(high), statistic, p, p)


@dataclass(frozen=True)
class _Side:
    unit: Doubles  # m / √q
    root: float  # √q
    own: float
    extra: float
    noise: float  # tr V / q
    df: float  # of the noise


def _scaled(target: Deviations, typical: TypicalSpread) -> _Side:
    q, own, extra = (float(values[0]) for values in typical.lengths(target))
    root = float(np.sqrt(q))
    df = float(target.df[0]) * typical.rank + typical.scale_df
    return _Side(target.means[0] / root, root, own, extra, float(typical.noise(target)[0]) / q, df)


def _without(shape: Doubles, unit: Doubles) -> Doubles:
    """P S P, where P takes the part along a unit vector out."""
    along = shape @ unit
    crossed = np.outer(unit, along)
    return np.asarray(shape - crossed - crossed.T + (unit @ along) * np.outer(unit, unit))
