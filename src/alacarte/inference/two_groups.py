"""Whether two groups' means have the same cosines with given vectors: standard errors of the difference, and a test.

The test is a wild cluster bootstrap with the null imposed (Cameron, Gelbach and Miller 2008). Each unit, a context or a
cluster, is set to the mean that both groups have in common plus its own deviation from its group, whose sign is tossed;
a cluster that lies in both groups keeps one sign. So the groups' noise and sizes stay what they are, where shuffling
groups would make a small and noisy group's differences too small. The statistic is the difference of the two debiased
cosines over its standard error.

Words that were chosen because they are near to either group differ more than others. So words are chosen anew among
the candidates after each toss, and a chosen word is compared with the words that are chosen then: those near to the
first group with such, those near to the second or to both with such.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Mask
from alacarte.inference.cosines import own_pulls, pulls, slope
from alacarte.inference.means import WHOLE, Units
from alacarte.inference.regression_noise import Tick

SHORTEST = 0.02  # of ‖m‖²: a shuffled mean's squared length without noise is no smaller
# Unit vectors of words, and whose neighbour each is; None for words that are fixed.
Chosen = tuple[Doubles, Longs | None]
Choose = Callable[[Doubles], Chosen]  # the words that would be chosen for two means


def difference(
    groups: list[Units], directions: Doubles, excess: Doubles | None = None, logarithm: bool = False
) -> tuple[Doubles, Doubles, Doubles]:
    """Return (θ₁ − θ₂, its standard error, its degrees of freedom) for debiased cosines θ, or for their logarithms.

    A cluster that lies in both groups pulls on both at once. `excess` (two groups, directions) is what choosing the
    directions added to the cosines.
    """
    values, by_unit = zip(*(pulls(group, directions) for group in groups), strict=True)
    if excess is not None:
        values = tuple(np.stack(values) - excess)
    scales = [value if logarithm else np.ones_like(value) for value in values]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = [pull / scale for pull, scale in zip(by_unit, scales, strict=True)]
        apart = np.log(values[0]) - np.log(values[1]) if logarithm else values[0] - values[1]
    own = [np.sum(pull**2, axis=0) for pull in scaled]
    both = _joint(groups[0], groups[1], scaled[0], scaled[1])
    few = min(map(len, groups)) < 3
    if share_clusters(groups):
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


# ------------------------------------------------------------------------------------------- wild bootstrap


@dataclass(frozen=True, eq=False)
class Cells:
    """The units of both groups; a cluster that lies in both has two cells."""

    sums: Doubles  # (cells, d)
    sizes: Doubles
    first: Mask  # which cells are of the first group
    cluster: Longs | None  # sorted; None where no cluster lies in both groups

    @classmethod
    def of(cls, groups: list[Units]) -> "Cells":
        """Return the cells of two groups."""
        sums = np.concatenate([group.sums for group in groups])
        sizes = np.concatenate([group.sizes for group in groups])
        first = np.repeat([True, False], [len(group.sums) for group in groups])
        if not share_clusters(groups):
            return cls(sums, sizes, first, None)
        labels = np.concatenate([group.labels for group in groups])
        order = np.argsort(labels, kind="stable")
        cluster = np.unique(labels[order], return_inverse=True)[1]
        return cls(sums[order], sizes[order], first[order], cluster)

    def means(self) -> Doubles:
        """Return the two groups' means."""
        taken = np.stack([self.first, ~self.first]).astype(np.float64)
        return np.asarray((taken @ self.sums) / (taken @ self.sizes)[:, None])

    def statistic(self, directions: Doubles) -> Doubles:
        """Return the studentised difference of debiased cosines; as `difference` has it, but never undefined."""
        sides = [self._side(taken, mean, directions) for taken, mean in zip(self._sides(), self.means(), strict=True)]
        pull = sides[0][1] - sides[1][1]
        if self.cluster is not None:
            pull = np.add.reduceat(pull, np.flatnonzero(np.diff(self.cluster, prepend=-1)), axis=0)
        return np.asarray((sides[0][0] - sides[1][0]) / np.sqrt((pull**2).sum(axis=0)))

    def under_null(self, groups: list[Units]) -> tuple[Doubles, Doubles]:
        """Return (the cells' sums if all were at the mean that both groups have in common, their deviations from it).

        That mean weighs each group by its noise, and has the length it would have without noise.
        """
        means, noise = self.means(), np.array([group.noise() for group in groups])
        weights = (1 / noise) / (1 / noise).sum()
        common = weights @ means
        squared = float(common @ common)
        common *= np.sqrt(max(1 - float(weights**2 @ noise) / squared, SHORTEST))
        own = np.where(self.first[:, None], means[0], means[1])
        total = np.where(self.first, self.sizes @ self.first, self.sizes @ ~self.first)
        left = np.sqrt(np.maximum(1 - self.sizes / total, WHOLE))
        return np.outer(self.sizes, common), (self.sums - self.sizes[:, None] * own) / left[:, None]

    def signs(self, rng: np.random.Generator) -> Doubles:
        """Return one random sign per cell; cells of one cluster have the same."""
        number = len(self.sums) if self.cluster is None else int(self.cluster[-1]) + 1
        signs = np.asarray(rng.integers(0, 2, number) * 2.0 - 1, dtype=np.float64)
        return signs if self.cluster is None else np.asarray(signs[self.cluster])

    def _sides(self) -> tuple[Mask, Mask]:
        return self.first, ~self.first

    def _side(self, taken: Mask, mean: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        """`cosines.pulls` of the cells taken, without a copy of their sums."""
        total = float(self.sizes @ taken)
        rest = 1 - self.sizes / total
        scale = np.where(taken & (rest > WHOLE), 1 / np.sqrt(np.maximum(rest, WHOLE)), 0.0) / total
        squared = float(mean @ mean)
        spread = np.einsum("ud,ud->u", self.sums, self.sums) - 2 * self.sizes * (self.sums @ mean)
        spread = (spread + self.sizes**2 * squared) * scale**2
        square = max(squared - float(spread.sum()), SHORTEST * squared)
        w, values = slope(mean, np.sqrt(square), directions)
        own = own_pulls(spread, taken * self.sizes / total)
        pull = scale[:, None] * (self.sums @ w.T - np.outer(self.sizes, w @ mean))
        return values, pull + np.outer(own / square, values)


def share_clusters(groups: list[Units]) -> bool:
    """Return whether a cluster lies in both groups."""
    return groups[0].clustered and len(np.intersect1d(groups[0].labels, groups[1].labels)) > 0


def wild_bootstrap(
    groups: list[Units],
    words: Chosen,
    choose: Choose,
    draws: int,
    rng: np.random.Generator,
    tick: Tick = lambda done: None,
) -> tuple[Doubles, Doubles]:
    """Return, for each word, how many statistics without a difference reach the observed one, and of how many.

    Where words are chosen anew, what counts is the share of those near to the same side whose statistic reaches it.
    """
    cells = Cells.of(groups)
    directions, side = words
    observed = np.abs(cells.statistic(directions)) * (1 - 1e-9)
    exceeding, drawn = np.zeros(len(observed)), np.zeros(len(observed))
    centre, deviations = cells.under_null(groups)
    for done in range(draws):
        tossed = replace(cells, sums=centre + cells.signs(rng)[:, None] * deviations)
        chosen, near = choose(tossed.means())
        statistic = np.abs(tossed.statistic(chosen))
        if side is None or near is None:
            exceeding += statistic >= observed
            drawn += 1
        else:
            for kind in np.unique(near):
                mine, theirs = side == kind, statistic[near == kind]
                exceeding[mine] += (theirs >= observed[mine, None]).mean(axis=1)
                drawn[mine] += 1
        tick(done + 1)
    return exceeding, drawn
