"""Means of groups of contexts and what can be said of their cosines: jackknife and bootstrap in closed form.

The mean m of n noisy vectors is longer than the mean it estimates, E‖m‖² = ‖μ‖² + tr V, so that its cosines with
other vectors are too small, the more so the smaller n and the larger the dimension. An interval around them then
misses the truth however it is made. The intervals here are around m·f / √(‖m‖² − tr V̂), which removes that bias.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from alacarte.errors import AlacarteError
from alacarte.regression._space import unit_rows
from alacarte.regression.compat import Choices

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Intervals = Literal["jackknife", "bootstrap"] | None
DRAWS = 1 << 23  # numbers of a block of bootstrap weights
REPORTED = 256  # features at a time in the jackknife


@dataclass(frozen=True, eq=False)
class GroupMean:
    """The units that are left out or drawn: contexts, or clusters of them, with their sums and sizes."""

    sums: Doubles  # (units, d)
    sizes: Doubles  # contexts in each unit
    labels: Longs  # which cluster each unit is, for those that lie in several groups

    @classmethod
    def of(cls, matrix: Doubles, clusters: Longs | None) -> "GroupMean":
        if clusters is None:
            return cls(matrix, np.ones(len(matrix)), np.arange(len(matrix)))
        labels, codes = np.unique(clusters, return_inverse=True)
        sums = np.zeros((len(labels), matrix.shape[1]))
        np.add.at(sums, codes, matrix)
        return cls(sums, np.bincount(codes).astype(np.float64), labels)

    def __len__(self) -> int:
        return len(self.sums)

    @property
    def contexts(self) -> int:
        return int(self.sizes.sum())

    def mean(self) -> Doubles:
        return np.asarray(self.sums.sum(axis=0) / self.sizes.sum())

    def debiased_square(self) -> float:
        """‖m‖² − tr V̂: unbiased for the squared length of the true mean."""
        squares = float(np.einsum("ud,ud", self.sums, self.sums))
        weighted = self.sizes @ self.sums
        mean = self.mean()
        return float(_debiased(mean @ mean, squares, weighted @ mean, *self._totals()))

    def _totals(self) -> tuple[float, float, float]:
        return float((self.sizes**2).sum()), float(self.sizes.sum()), float(len(self))

    def leave_one_out(self) -> tuple[Doubles, Doubles]:
        """(means, debiased squares) without each unit in turn."""
        size, total = self.sizes[:, None], self.sizes.sum()
        means = (self.sums.sum(axis=0) - self.sums) / (total - size)
        squares = np.einsum("ud,ud->u", self.sums, self.sums)
        weighted = np.einsum("ud,ud->u", self.sizes @ self.sums - size * self.sums, means)
        lengths = np.einsum("ud,ud->u", means, means)
        second = (self.sizes**2).sum() - self.sizes**2
        return means, _debiased(lengths, squares.sum() - squares, weighted, second, total - self.sizes, len(self) - 1.0)

    def bootstrap(self, draws: int, rng: np.random.Generator) -> Iterator[tuple[Doubles, Doubles]]:
        """Blocks of (means, debiased squares) of units drawn with replacement: one matrix product a block."""
        count = len(self)
        step = max(1, min(draws, DRAWS // count))
        squares = np.einsum("ud,ud->u", self.sums, self.sums)
        for low in range(0, draws, step):
            rows = min(step, draws - low)
            drawn = rng.integers(0, count, size=(rows, count)) + np.arange(rows)[:, None] * count
            weight = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)
            total = weight @ self.sizes
            means = (weight @ self.sums) / total[:, None]
            weighted = np.einsum("bd,bd->b", (weight * self.sizes) @ self.sums, means)
            lengths = np.einsum("bd,bd->b", means, means)
            yield means, _debiased(lengths, weight @ squares, weighted, weight @ self.sizes**2, total, float(count))


def _debiased(
    length: float | Doubles,
    squares: float | Doubles,
    weighted: float | Doubles,
    second: float | Doubles,
    total: float | Doubles,
    units: float,
) -> Doubles:
    """‖m‖² − U/(U−1) Σ ‖s_u − n_u m‖² / N², from Σ‖s_u‖², m·Σ n_u s_u, Σ n_u² and N."""
    if units < 2:
        return np.full(np.shape(length), np.nan)
    spread = squares - 2 * np.asarray(weighted) + np.asarray(length) * second
    return np.asarray(length - units / (units - 1) * spread / np.square(total))


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values with what is known of their error; (groups, features)."""

    value: Doubles
    debiased: Doubles | None = None
    std_error: Doubles | None = None
    lower: Doubles | None = None
    upper: Doubles | None = None


def plain_cosines(means: Doubles, directions: Doubles) -> Doubles:
    return unit_rows(means) @ directions.T


def debiased_cosines(means: Doubles, squares: Doubles, directions: Doubles) -> Doubles:
    """NaN where there is more noise than signal, so that the length of the true mean cannot be told from 0."""
    length = np.sqrt(np.where(squares > 0, squares, np.nan))
    return np.asarray((means @ directions.T) / length[..., None])


def estimate(
    groups: list[GroupMean],
    directions: Doubles,
    intervals: Intervals,
    rules: Choices,
    level: float = 0.95,
    draws: int = 1000,
    rng: np.random.Generator | None = None,
) -> Estimates:
    """Cosines of the groups' means with unit vectors (or means or differences of such), and their intervals."""
    value = np.stack([plain_cosines(group.mean()[None], directions)[0] for group in groups])
    if intervals is None:
        return Estimates(value)
    check_inference(level, draws)
    if intervals == "bootstrap" and rules.rounded_percentiles:
        return _context_bootstrap(groups, directions, level, draws, rng or np.random.default_rng())
    centre, error, lower, upper = (np.full_like(value, np.nan) for _ in range(4))
    for row, group in enumerate(groups):
        if len(group) < 2:
            continue
        centre[row] = debiased_cosines(group.mean()[None], np.array([group.debiased_square()]), directions)[0]
        if intervals == "jackknife":
            error[row] = jackknife_deviations(group, directions, sum_of_squares=True)[0]
        else:
            blocks = group.bootstrap(draws, rng or np.random.default_rng())
            values = np.concatenate([debiased_cosines(means, squares, directions) for means, squares in blocks])
            error[row] = np.nanstd(values, axis=0, ddof=1) * np.sqrt(len(group) / (len(group) - 1))
        reach = stats.t.ppf((1 + level) / 2, len(group) - 1) * error[row]
        lower[row], upper[row] = centre[row] - reach, centre[row] + reach
    return Estimates(value, centre, error, lower, upper)


def jackknife_deviations(group: GroupMean, directions: Doubles, sum_of_squares: bool = False) -> Doubles:
    """Each unit's pull on the debiased cosines, (units, features), scaled so that their squares add up to the
    variance; or that sum's root as one row."""
    if len(group) < 3:
        return np.full((1 if sum_of_squares else len(group), len(directions)), np.nan)
    means, squares = group.leave_one_out()
    result = []
    for low in range(0, len(directions), REPORTED):
        values = debiased_cosines(means, squares, directions[low : low + REPORTED])
        pulls = np.sqrt((len(group) - 1) / len(group)) * (values - values.mean(axis=0))
        result.append(np.sqrt((pulls**2).sum(axis=0))[None] if sum_of_squares else pulls)
    return np.concatenate(result, axis=1)


def _context_bootstrap(
    groups: list[GroupMean], directions: Doubles, level: float, draws: int, rng: np.random.Generator
) -> Estimates:
    parts = [
        np.concatenate([plain_cosines(means, directions) for means, _ in group.bootstrap(draws, rng)])
        for group in groups
    ]
    values = np.stack(parts, axis=1)
    return context_summary(values, level)


def context_summary(values: Doubles, level: float) -> Estimates:
    """conText's summary of bootstrap values (draws first): mean, sd, and the rounded order statistics.

    >>> found = context_summary(np.arange(1.0, 101.0)[:, None], 0.95)
    >>> found.value.tolist(), found.lower.tolist(), found.upper.tolist()
    ([50.5], [5.0], [95.0])
    """
    ordered = np.sort(values, axis=0)
    low = max(round((1 - level) * len(values)), 1)
    high = max(round(level * len(values)), 1)
    return Estimates(values.mean(axis=0), None, values.std(axis=0, ddof=1), ordered[low - 1], ordered[high - 1])


def check_inference(
    level: float, draws: int | None = None, permutations: int | None = None, adjust: str = "none"
) -> None:
    """Raise if a setting makes no sense, before any work is done."""
    if not 0 < level < 1:
        raise AlacarteError(f"level is a probability such as 0.95, not {level}")
    if draws is not None and draws < 2:
        raise AlacarteError(f"a bootstrap needs at least 2 draws, better 1000, not {draws}")
    if permutations is not None and permutations < 0:
        raise AlacarteError(f"permutations are 0 for none, or more, not {permutations}")
    adjusted(np.empty(0), adjust)


def p_value(exceeding: npt.ArrayLike, permutations: int, rules: Choices) -> Doubles:
    """
    >>> from alacarte.regression.compat import choices
    >>> float(p_value(0, 99, choices(None))), float(p_value(0, 99, choices("conText")))
    (0.01, 0.0)
    """
    more = 1 if rules.plus_one else 0
    return (np.asarray(exceeding, dtype=np.float64) + more) / (permutations + more)


Adjust = Literal["none", "bonferroni", "holm", "bh"]


def adjusted(p: Doubles, how: str) -> Doubles:
    """p-values adjusted for their number: Bonferroni, Holm, or Benjamini and Hochberg's false discovery rate.

    >>> adjusted(np.array([0.01, 0.04, 0.03]), "holm").round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "bh").round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    present = ~np.isnan(p)
    values, count = p[present], int(present.sum())
    order = np.argsort(values)
    if how == "bonferroni":
        changed = values * count
    elif how == "holm":
        changed = np.empty(count)
        changed[order] = np.maximum.accumulate(values[order] * (count - np.arange(count)))
    elif how == "bh":
        changed = np.empty(count)
        ranked = values[order] * count / np.arange(1, count + 1)
        changed[order] = np.minimum.accumulate(ranked[::-1])[::-1]
    elif how == "none":
        changed = values
    else:
        raise AlacarteError(f"adjust is 'none', 'bonferroni', 'holm' or 'bh', not {how!r}")
    result = np.full(len(p), np.nan)
    result[present] = np.minimum(changed, 1.0)
    return result
