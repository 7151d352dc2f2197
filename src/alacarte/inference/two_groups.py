"""Whether two groups' means have the same cosines with given vectors: standard errors of the difference, and a test.

The test's statistic is the difference of the two debiased cosines over its standard error, so that it means the same
whatever the groups' noise and sizes are: a small and noisy group does not make the shuffled differences any smaller
than the observed one (Janssen 1997; Chung and Romano 2013). Shuffled are the groups of contexts, or of clusters. Where
clusters lie in both groups, it is tossed for each cluster whether its two parts change sides.

Words that were chosen because they are near to either group differ more than others. So words are chosen anew among
the candidates after each shuffling, and a chosen word is compared with the words that are chosen then: those near to
the first group with such, those near to the second or to both with such.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte.inference.cosines import own_pulls, pulls, slope
from alacarte.inference.means import WHOLE, Units, combined
from alacarte.inference.regression_noise import Tick

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
SHORTEST = 0.02  # of ‖m‖²: a shuffled mean's squared length without noise is no smaller
# Of two means: the unit vectors of the words chosen, and whose neighbour each is; None for words that are fixed.
Choose = Callable[[Doubles], tuple[Doubles, Longs | None]]


def difference(
    groups: list[Units], directions: Doubles, excess: Doubles | None = None, logarithm: bool = False
) -> tuple[Doubles, Doubles, Doubles]:
    """(θ₁ − θ₂, its standard error, its degrees of freedom) for debiased cosines θ, or for their logarithms.

    A cluster that lies in both groups pulls on both at once. `excess` (two groups, directions) is what choosing the
    directions added to the cosines.
    """
    values, by_unit = zip(*(pulls(group, directions) for group in groups), strict=True)
    if excess is not None:
        values = tuple(np.stack(values) - excess)
    scales = [value if logarithm else np.ones_like(value) for value in values]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = [[way / scale for way in ways] for ways, scale in zip(by_unit, scales, strict=True)]
        apart = np.log(values[0]) - np.log(values[1]) if logarithm else values[0] - values[1]
    own = [combined([np.sum(way**2, axis=0) for way in ways]) for ways in scaled]
    both = combined([_joint(*way) for way in zip(groups[0].ways, groups[1].ways, *scaled, strict=True)])
    few = min(map(len, groups)) < 3
    if groups[0].clustered and len(np.intersect1d(groups[0].labels, groups[1].labels)):
        df = np.full(len(both), min(group.df() for group in groups))
    else:
        df = np.asarray(
            (own[0] + own[1]) ** 2
            / sum(part**2 / max(group.df(), 1.0) for part, group in zip(own, groups, strict=True))
        )
    return apart, np.where(few, np.nan, np.sqrt(both)), df


def _joint(first: Units, second: Units, one: Doubles, other: Doubles) -> Doubles:
    """Σ (pull on the one − pull on the other)², by clusters that lie in both groups and by the others."""
    total = (one**2).sum(axis=0) + (other**2).sum(axis=0)
    if first.clustered:
        shared, here, there = np.intersect1d(first.labels, second.labels, return_indices=True)
        if len(shared):
            total = total - 2 * (one[here] * other[there]).sum(axis=0)
    return np.asarray(total)


# --------------------------------------------------------------------------------------------- permutations


@dataclass(frozen=True, eq=False)
class Cells:
    """The units of both groups; a cluster that lies in both has two cells, which change sides together."""

    sums: Doubles  # (cells, d)
    sizes: Doubles
    own: Doubles  # ‖sum‖²
    first: npt.NDArray[np.bool_]  # which cells are of the first group
    cluster: Longs | None  # sorted; None where no cluster lies in both groups

    @classmethod
    def of(cls, groups: list[Units]) -> "Cells":
        sums = np.concatenate([group.sums for group in groups])
        sizes = np.concatenate([group.sizes for group in groups])
        first = np.repeat([True, False], [len(group.sums) for group in groups])
        cluster = None
        if groups[0].clustered and len(np.intersect1d(groups[0].labels, groups[1].labels)):
            labels = np.concatenate([group.labels for group in groups])
            order = np.argsort(labels, kind="stable")
            sums, sizes, first = sums[order], sizes[order], first[order]
            cluster = np.unique(labels[order], return_inverse=True)[1]
        return cls(sums, sizes, np.einsum("ud,ud->u", sums, sums), first, cluster)

    def shuffled(self, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        if self.cluster is None:
            return np.asarray(rng.permutation(self.first))
        return np.asarray(self.first ^ (rng.random(int(self.cluster[-1]) + 1) < 0.5)[self.cluster])

    def means(self, first: npt.NDArray[np.bool_]) -> Doubles:
        """The two groups' means, if these cells were the first group's."""
        total = np.stack([first, ~first]).astype(np.float64)
        return np.asarray((total @ self.sums) / (total @ self.sizes)[:, None])

    def statistic(self, first: npt.NDArray[np.bool_], directions: Doubles) -> Doubles:
        """The studentised difference of debiased cosines, if these cells were the first group's."""
        means = self.means(first)
        sides = [self._side(taken, mean, directions) for taken, mean in zip((first, ~first), means, strict=True)]
        pull = sides[0][1] - sides[1][1]
        if self.cluster is not None:
            pull = np.add.reduceat(pull, np.flatnonzero(np.diff(self.cluster, prepend=-1)), axis=0)
        return np.asarray((sides[0][0] - sides[1][0]) / np.sqrt((pull**2).sum(axis=0)))

    def _side(self, taken: npt.NDArray[np.bool_], mean: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        """`cosines.pulls` of the cells taken, without a copy of their sums."""
        total = float(self.sizes @ taken)
        rest = 1 - self.sizes / total
        scale = np.where(taken & (rest > WHOLE), 1 / np.sqrt(np.maximum(rest, WHOLE)), 0.0) / total
        squared = float(mean @ mean)
        spread = self.own - 2 * self.sizes * (self.sums @ mean) + self.sizes**2 * squared
        spread *= scale**2
        square = max(squared - float(spread.sum()), SHORTEST * squared)
        w, values = slope(mean, np.sqrt(square), directions)
        own = own_pulls(spread, taken * self.sizes / total)
        pull = scale[:, None] * (self.sums @ w.T - np.outer(self.sizes, w @ mean))
        return values, pull + np.outer(own / square, values)


def permuted(
    groups: list[Units],
    choose: Choose,
    permutations: int,
    rng: np.random.Generator,
    tick: Tick = lambda done: None,
) -> tuple[Doubles, Doubles]:
    """(how many shuffled statistics reach the observed one, of how many) for each word that `choose` chooses.

    Of the words chosen after a shuffling that are near to the same side, the share counts whose statistic reaches.
    """
    cells = Cells.of(groups)
    directions, side = choose(cells.means(cells.first))
    observed = np.abs(cells.statistic(cells.first, directions)) * (1 - 1e-9)
    exceeding, drawn = np.zeros(len(observed)), np.zeros(len(observed))
    for done in range(permutations):
        first = cells.shuffled(rng)
        tick(done + 1)
        if min(first.sum(), (~first).sum()) < 2:
            continue
        chosen, near = choose(cells.means(first))
        statistic = np.abs(cells.statistic(first, chosen))
        if side is None or near is None:
            exceeding += statistic >= observed
            drawn += 1
            continue
        for kind in np.unique(near):
            mine, theirs = side == kind, statistic[near == kind]
            exceeding[mine] += (theirs >= observed[mine, None]).mean(axis=1)
            drawn[mine] += 1
    return exceeding, drawn
