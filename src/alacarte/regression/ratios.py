"""Which words tell two groups' uses of a word apart: the ratio of their cosines, with intervals and p-values."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from alacarte._io.arrays import Doubles, Longs
from alacarte._io.progress import progress
from alacarte.errors import AlacarteError
from alacarte.inference.cosines import LEAST_INTERVAL_DF, agreeing_errors, directions_of, interval, why_undefined
from alacarte.inference.means import Units
from alacarte.inference.multiple_testing import adjusted
from alacarte.inference.two_groups import Chosen, difference, wild_bootstrap
from alacarte.regression.describe import Candidates, Grouped, candidate_vectors, excess_of, largest, nearest_words
from alacarte.regression.embed import Embeddings
from alacarte.regression.groups import Groups
from alacarte.regression.infer import Inference
from alacarte.regression.results import Column, Results, column_of
from alacarte.regression.terms import least_p
from alacarte.vectors.word_vectors import WordVectors

POOL = 2000  # nearest words of either group that may be chosen when a test chooses anew
FIRST, SECOND, BOTH = 1, 2, 3  # whose neighbour a word is


def ratio(
    embeddings: Embeddings,
    by: Groups | None = None,
    *,
    k: int | None = 10,
    numerator: Any = None,
    candidates: Candidates | Literal["contexts"] = None,
    cluster: Groups | None = None,
    equal_clusters: bool | None = None,
    inference: Inference | None = None,
) -> Results:
    """Return the ratio of two groups' cosines with the k nearest words of either, the largest ratio first.

    Parameters
    ----------
    embeddings, by, k, candidates, cluster, equal_clusters
        As in `nearest`; there must be two groups.
    numerator : optional
        The group whose cosines are the numerators; the first one if left out.
    inference : Inference, optional
        Asks for intervals, and for p-values unless its `permutations` are 0. Both allow for the choice of these words.

    Returns
    -------
    Results
        `feature`, `value` (unknown where the cosines are not positive) and `group`: whose neighbour the word is, one of
        the two or both. With inference `estimate`, `std_error`, `conf_low`, `conf_high`; `p_value` of the difference of
        the debiased cosines over its standard error, by a wild bootstrap, with which intervals agree; `p_adjusted`.

    Examples
    --------
    >>> from alacarte.regression import dem
    >>> found = dem([["a"], ["b"]], (["a", "b", "c"], [[1.0, 0.2], [0.1, 1.0], [0.6, 0.8]]))
    >>> ratio(found, ["D", "R"], k=1)["group"].tolist()
    ['D', 'R']
    """
    level = None if inference is None else inference.level
    groups = Grouped.of(embeddings, by, cluster, equal_clusters, level)
    first = first_group(groups.labels, numerator)
    pair = [first, 1 - first]
    means, words = groups.means[pair], candidate_vectors(embeddings, candidates)
    pool = _pool(words, means, k)
    directions = directions_of(pool.matrix)
    values = directions_of(means) @ directions.T
    chosen, near = _near_either(values, k)
    compared = _Pair([groups.units[code] for code in pair], words, directions, chosen, near, k)
    above, below = values[:, chosen]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where((above > 0) & (below > 0), above / below, np.nan)
    columns: dict[str, Column] = {"feature": column_of([pool.word(row) for row in chosen.tolist()]), "value": value}
    if inference is not None:
        rng = np.random.default_rng(inference.seed)
        columns |= _with_inference(compared, inference, rng)
    one, other = (str(groups.labels[code]) for code in pair)
    # Longer than either name, so that it is the name of no group.
    label = {FIRST: one, SECOND: other, BOTH: f"{one} and {other}"}
    columns["group"] = column_of([label[side] for side in near.tolist()])
    order = np.argsort(np.where(np.isnan(value), -np.inf, value))[::-1]
    info: dict[str, Any] = {"kind": "ratio", "numerator": one, "denominator": other, "both": label[BOTH]}
    info["notes"] = groups.notes
    info |= {} if inference is None else {"level": inference.level, "adjust": inference.adjust}
    return Results(columns, embeddings.variables.backend, info).take(order)


def first_group(labels: list[Any], numerator: Any) -> int:
    """Which of two groups is the numerator: the one named, or the first."""
    if len(labels) != 2:
        raise AlacarteError(
            f"a ratio compares two groups, and there are {len(labels)} "
            f"({', '.join(map(str, labels[:6]))}); choose two, for instance with embeddings.select(…)"
        )
    if numerator is not None and numerator not in labels:
        raise AlacarteError(f"no group is called {numerator!r}; the groups are {', '.join(map(repr, labels))}")
    return 0 if numerator is None else labels.index(numerator)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two groups, the words that may be chosen, and those they are compared by."""

    units: list[Units]
    words: WordVectors
    pool: Doubles  # directions of the words that are not far from either group
    chosen: Longs  # rows of the pool
    near: Longs  # whose neighbour each word is
    k: int | None

    @property
    def all_words(self) -> bool:
        """Whether nothing was chosen."""
        return len(self.chosen) == len(self.words)

    @cached_property
    def directions(self) -> Doubles:
        return self.pool[self.chosen]

    @property
    def choice(self) -> Chosen:
        """The words as a test takes them: with the groups that they were chosen for, if they were chosen."""
        return self.directions, None if self.all_words else self.near

    def choose(self, means: Doubles) -> Chosen:
        """Return the words that would be chosen for these two means."""
        if self.all_words:
            return self.choice
        chosen, near = _near_either(directions_of(means) @ self.pool.T, self.k)
        return self.pool[chosen], near

    def excess(self, rng: np.random.Generator) -> Doubles | None:
        """Return what choosing the words added to the cosines of either group, (2, words)."""
        if self.all_words:
            return None
        result = np.zeros((2, len(self.chosen)))
        for row, (unit, own) in enumerate(zip(self.units, (FIRST, SECOND), strict=True)):
            mine = np.flatnonzero((self.near == own) | (self.near == BOTH))
            by_rank = excess_of(unit, self.words, len(mine), rng)
            if by_rank is not None:
                cosines = self.directions[mine] @ unit.mean()
                result[row, mine[np.argsort(-cosines, kind="stable")]] = by_rank
        return result


def _pool(words: WordVectors, means: Doubles, k: int | None) -> WordVectors:
    """Return the words that are chosen, or may be after a toss: those that are not far from either of two means."""
    if k is None or len(words) <= POOL:
        return words
    near = [nearest_words(words, mean, max(POOL, 40 * k))["feature"].tolist() for mean in means]
    return words.subset(sorted({*near[0], *near[1]}, key=words.index))


def _near_either(values: Doubles, k: int | None) -> tuple[Longs, Longs]:
    """Return (the words that are among the k nearest of either group, whose neighbour each is), from their cosines."""
    near = np.zeros(values.shape[1], dtype=np.int64)
    for row, side in zip(values, (FIRST, SECOND), strict=True):
        near[largest(row, k)] += side
    chosen = np.flatnonzero(near)
    return chosen, near[chosen]


def _with_inference(compared: _Pair, inference: Inference, rng: np.random.Generator) -> dict[str, Column]:
    """Return the columns around the ratio of debiased cosines, on the scale of its logarithm."""
    units = compared.units
    excess = compared.excess(rng) if min(map(len, units)) > 1 else None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        centre, error, df = difference(units, compared.directions, excess, logarithm=True)
        df = np.maximum(df, LEAST_INTERVAL_DF)
        p, least = None, least_p(inference.permutations)
        if inference.permutations:
            p = _p_values(compared, inference, rng)
            error, p = agreeing_errors(centre, error, df, p, least)
        low, high = interval(centre, error, df, inference.level, np.inf)
        ratio_at, low, high = np.exp(centre), np.exp(low), np.exp(high)
    reasons = [reason for reason in map(why_undefined, units) if reason] or ["cosines that are not positive"]
    columns = {"estimate": ratio_at, "std_error": ratio_at * error, "conf_low": low, "conf_high": high}
    columns["reason"] = column_of(["" if np.isfinite(known) else reasons[0] for known in (centre + error).tolist()])
    return columns if p is None else columns | {"p_value": p, "p_adjusted": adjusted(p, inference.adjust)}


def _p_values(compared: _Pair, inference: Inference, rng: np.random.Generator) -> Doubles:
    """Return the p-value of each word's difference, by a wild bootstrap."""
    units, number = compared.units, inference.permutations
    apart, error, _ = difference(units, compared.directions)
    known = np.isfinite(apart + error)
    if not known.any():
        return np.full(len(apart), np.nan)
    with progress(number, "draws", "testing ratios", show=inference.show_progress) as bar:
        exceeding, drawn = wild_bootstrap(units, compared.choice, compared.choose, number, rng, bar.update_to)
    return np.where(known, (1 + exceeding) / (1 + drawn), np.nan)
