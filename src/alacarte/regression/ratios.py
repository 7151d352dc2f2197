"""Which words tell two groups' uses of a word apart: the ratio of their cosines, with intervals and permutations."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import progress
from alacarte.errors import AlacarteError
from alacarte.inference.cosines import check_one_way, debiased_cosines, interval, plain_cosines, why_undefined
from alacarte.inference.means import Units
from alacarte.inference.multiple_testing import Adjust, adjusted, check_adjust, check_permutations, p_value, t_test
from alacarte.inference.two_groups import Chosen, difference, wild_bootstrap
from alacarte.regression._frames import Column, Table, column_of
from alacarte.regression._groups import (
    Inference,
    InferenceOptions,
    candidates_of,
    estimate_columns,
    excess_of,
    grouped,
    top,
)
from alacarte.regression._lexical import Lexical
from alacarte.regression._space import Candidates
from alacarte.regression.compat import Choices, bootstrap_cosines, bootstrap_summary
from alacarte.regression.embed import Embeddings, Groups
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
CELLS = 1 << 24  # of a block of permuted group labels
POOL = 2000  # nearest words of either group that may be chosen when a test chooses anew
FIRST, SECOND, BOTH = 1, 2, 3  # whose neighbour a word is


class PermutationOptions(TypedDict, total=False):
    """`permutations`: how many draws p-values come from; 0, the default, for none. `adjust`: p-values for
    several words: "holm", the default, "bh", "bonferroni" or "none"."""

    permutations: int
    adjust: Adjust
    show_progress: bool | None


class RatioOptions(InferenceOptions, PermutationOptions, total=False):
    """The keywords of `ratio` that say what is known of its error."""


@dataclass(frozen=True)
class RatioInference(Inference):
    """`RatioOptions` with their defaults."""

    permutations: int = 0
    adjust: Adjust = "holm"
    show_progress: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_permutations(self.permutations)
        check_adjust(self.adjust)


def ratio(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    numerator: Any = None,
    candidates: Candidates | Literal["contexts"] = None,
    stem: str | None = None,
    **options: Unpack[RatioOptions],
) -> Table:
    """For the k nearest words of either of two groups, the ratio of its cosines with them, the largest first.

    `group` says whose neighbour a word is: one of the two, or "shared". `numerator` names the group above the line.
    A ratio of cosines that are not positive means nothing and is NaN. With `intervals`, and with `permutations`, it
    counts that these words were chosen. `p_value` is that of the difference of the debiased cosines over its standard
    error, `p_adjusted` the same for all words together; `test` says where it comes from:

    - "wild bootstrap": contexts (or clusters) are moved to a common mean, and their deviations change sign at random,
      as often as `permutations` says;
    - "t": there are clusters of two kinds, which cannot be drawn; Student's t, as if the words had been named
      beforehand.

    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b", "c"], [[1.0, 0.2], [0.1, 1.0], [0.6, 0.8]]))
    >>> ratio(found, ["D", "R"], k=1)["group"].tolist()
    ['D', 'R']
    """
    inference = RatioInference(**options)
    rules = inference.rules
    groups = grouped(embeddings, by, inference)
    if len(groups.labels) != 2:
        raise AlacarteError(
            f"a ratio compares two groups, and there are {len(groups.labels)} "
            f"({', '.join(map(str, groups.labels[:6]))}); choose two, for instance with embeddings.select(…)"
        )
    first = _numerator(groups.labels, groups.codes, numerator, rules)
    pair = [first, 1 - first]
    lexical = Lexical.of(
        embeddings.space, candidates_of(embeddings, candidates), stem, all_words=rules.stems_of_all_words
    )
    values = lexical.similarities(groups.means[pair])
    chosen, near = _chosen(values, k, rules.pooled)
    asked = _Asked([groups.units[code] for code in pair], lexical, chosen, near, k)
    above, below = values[:, chosen]
    columns: dict[str, Column] = {"feature": column_of([lexical.names[number] for number in chosen.tolist()])}
    columns["value"] = _divided(above, below, rules)
    rng = inference.random()
    if inference.intervals is not None:
        columns |= _intervals(asked, inference, rng)
    if inference.permutations:
        columns |= _p_values(asked, columns["value"], inference, rng)
    label = {FIRST: str(groups.labels[first]), SECOND: str(groups.labels[1 - first]), BOTH: "shared"}
    columns["group"] = column_of([label[side] for side in near.tolist()])
    order = np.argsort(np.where(np.isnan(columns["value"]), -np.inf, columns["value"]))[::-1]
    info = {"kind": "ratio", "numerator": label[FIRST], "denominator": label[SECOND], "level": inference.level}
    info["adjust"] = inference.adjust
    if inference.permutations and rules.value_is_bootstrap_mean:
        info["least_p"] = 1 / inference.permutations
    return Table(columns, embeddings.variables.backend, info).take(order)


@dataclass(frozen=True, eq=False)
class _Asked:
    """Two groups, and the words they are compared by."""

    units: list[Units]
    lexical: Lexical
    chosen: Longs
    near: Longs  # whose neighbour each word is
    k: int | None

    @property
    def all_words(self) -> bool:
        """Whether nothing was chosen."""
        return len(self.chosen) == len(self.lexical.names)

    def directions(self) -> Doubles:
        return self.lexical.directions(self.chosen)

    def words(self) -> Chosen:
        return self.directions(), None if self.all_words else self.near

    @cached_property
    def pool(self) -> Doubles:
        """The words that may be chosen after a toss: those that are not far from either group."""
        means = np.stack([unit.mean() for unit in self.units])
        return self.lexical.directions(_chosen(self.lexical.similarities(means), max(POOL, 20 * len(self.chosen)))[0])

    def choose(self, means: Doubles) -> Chosen:
        """The words that would be chosen for these two means."""
        if self.all_words:
            return self.words()
        chosen, near = _chosen(unit_rows(means) @ self.pool.T, self.k)
        return self.pool[chosen], near

    def excess(self, rng: np.random.Generator) -> Doubles | None:
        """What choosing the words added to the cosines of either group, (2, words)."""
        if self.all_words:
            return None
        result = np.zeros((2, len(self.chosen)))
        for row, (unit, own) in enumerate(zip(self.units, (FIRST, SECOND), strict=True)):
            mine = np.flatnonzero((self.near == own) | (self.near == BOTH))
            by_rank = excess_of(unit, self.lexical, len(mine), rng)
            if by_rank is not None:
                cosines = self.lexical.directions(self.chosen[mine]) @ unit.mean()
                result[row, mine[np.argsort(-cosines, kind="stable")]] = by_rank
        return result


def _chosen(values: Doubles, k: int | None, ties: bool = False) -> tuple[Longs, Longs]:
    """(the words among the k nearest of either group, in order; whose neighbour each is) from (2, words) cosines."""
    near = np.zeros(values.shape[1], dtype=np.int64)
    for row, side in zip(values, (FIRST, SECOND), strict=True):
        near[top(row, k, ties=ties)] += side
    chosen = np.flatnonzero(near)
    return chosen, near[chosen]


def _numerator(labels: list[Any], codes: Longs, numerator: Any, rules: Choices) -> int:
    if numerator is None:
        return int(codes[codes >= 0][0]) if rules.pooled and len(codes) > 2 else 0
    if numerator not in labels:
        raise AlacarteError(f"no group is called {numerator!r}; the groups are {', '.join(map(repr, labels))}")
    return labels.index(numerator)


def _divided(above: Doubles, below: Doubles, rules: Choices) -> Doubles:
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = above / below
    return plain if rules.pooled else np.where((above > 0) & (below > 0), plain, np.nan)


def _intervals(asked: _Asked, inference: RatioInference, rng: np.random.Generator) -> dict[str, Column]:
    """Around the ratio of debiased cosines, on the scale of its logarithm."""
    units, directions = asked.units, asked.directions()
    if inference.as_conText:
        both = [bootstrap_cosines(unit, directions, inference.draws or 100, rng) for unit in units]
        return estimate_columns(bootstrap_summary(both[0] / both[1], inference.level), lambda array: array)
    excess = asked.excess(rng) if min(map(len, units)) > 1 else None
    with np.errstate(invalid="ignore"):
        centre, error, df = difference(units, directions, excess, logarithm=True)
        if inference.intervals == "bootstrap":
            error = _bootstrap_error(units, directions, inference.draws or 1000, rng)
    low, high = interval(centre, error, np.maximum(df, 1.0), inference.level, np.inf)
    ratio_at = np.exp(centre)
    return {
        "estimate": ratio_at,
        "std_error": ratio_at * error,
        "conf_low": np.exp(low),
        "conf_high": np.exp(high),
        "reason": column_of([_why_undefined(units, value) for value in (centre + error).tolist()]),
    }


def _bootstrap_error(units: list[Units], directions: Doubles, draws: int, rng: np.random.Generator) -> Doubles:
    """The standard error of the logarithm of the ratio of debiased cosines; NaN where a group is a single unit."""
    if min(map(len, units)) < 2:
        return np.full(len(directions), np.nan)
    check_one_way(units[0])
    if not units[0].clustered:
        logs = [_bootstrap_logs(unit, directions, draws, rng).std(axis=0, ddof=1) for unit in units]
        scaled = [log * np.sqrt(len(unit) / (len(unit) - 1)) for log, unit in zip(logs, units, strict=True)]
        return np.asarray(np.hypot(*scaled))
    # A cluster that lies in both groups is drawn for both at once.
    labels = np.union1d(units[0].labels, units[1].labels)
    seed = int(rng.integers(1 << 62))
    above, below = (
        _bootstrap_logs(unit.among(labels), directions, draws, np.random.default_rng(seed)) for unit in units
    )
    return np.asarray(np.nanstd(above - below, axis=0, ddof=1) * np.sqrt(len(labels) / (len(labels) - 1)))


def _bootstrap_logs(unit: Units, directions: Doubles, draws: int, rng: np.random.Generator) -> Doubles:
    """The logarithms of debiased cosines of units drawn with replacement, (draws, features)."""
    blocks = unit.bootstrap(draws, rng)
    return np.concatenate([np.log(debiased_cosines(means, squares, directions)) for means, squares in blocks])


def _why_undefined(units: list[Units], known: float) -> str:
    if np.isfinite(known):
        return ""
    return next((reason for reason in map(why_undefined, units) if reason), "cosines that are not positive")


# ------------------------------------------------------------------------------------------------------ tests


def _p_values(asked: _Asked, value: Doubles, inference: RatioInference, rng: np.random.Generator) -> dict[str, Column]:
    """The columns of the test, for each word."""
    units, number = asked.units, inference.permutations
    if inference.rules.value_is_bootstrap_mean:
        exceeding = _permuted_as_conText(units, asked.directions(), np.abs(value - 1), number, rng)
        p = p_value(exceeding, number, count_observed=False)
        return {"p_value": p, "p_adjusted": adjusted(p, inference.adjust)}
    apart, error, df = difference(units, asked.directions())
    known = np.isfinite(apart + error)
    if units[0].other_ways:
        test, p = "t", t_test(apart, error, df)
    else:
        test, p = "wild bootstrap", np.full(len(apart), np.nan)
        if known.any():
            with progress(number, "draws", "testing ratios", show=inference.show_progress) as bar:
                exceeding, drawn = wild_bootstrap(units, asked.words(), asked.choose, number, rng, bar.update_to)
            p = (1 + exceeding) / (1 + drawn)
    p = np.where(known, p, np.nan)
    tests = column_of([test if there else "" for there in known.tolist()])
    return {"p_value": p, "p_adjusted": adjusted(p, inference.adjust), "test": tests}


def _permuted_as_conText(
    units: list[Units], directions: Doubles, observed: Doubles, permutations: int, rng: np.random.Generator
) -> Doubles:
    """How many relabellings have a ratio of plain cosines that is at least as far from 1, for each feature."""
    sums, sizes = (np.concatenate([getattr(unit, name) for unit in units]) for name in ("sums", "sizes"))
    labels = np.repeat([1.0, 0.0], [len(unit.sums) for unit in units])
    exceeding = np.zeros(len(directions))
    step = max(1, CELLS // len(labels))
    for low in range(0, permutations, step):
        shuffled = rng.permuted(np.tile(labels, (min(step, permutations - low), 1)), axis=1)
        total = shuffled @ sizes
        above = plain_cosines(shuffled @ sums / total[:, None], directions)
        below = plain_cosines((1 - shuffled) @ sums / (sizes.sum() - total)[:, None], directions)
        exceeding += (np.abs(above / below - 1) >= observed).sum(axis=0)
    return exceeding
