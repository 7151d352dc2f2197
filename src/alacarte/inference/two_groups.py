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
from dataclasses import replace

import numpy as np

from alacarte._io.arrays import Doubles, Longs
from alacarte.inference.cosines import pulls
from alacarte.inference.means import ROUNDING_OF_SHARES, Units
from alacarte.inference.regression_noise import Tick

LEAST_SHUFFLED_LENGTH = 0.02  # of ‖m‖²: a shuffled mean's squared length without noise is no smaller
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
    both = _joint(groups, scaled[0], scaled[1])
    few = min(map(len, groups)) < 3
    if share_clusters(groups):
        df = np.full(len(both), min(group.df() for group in groups))
    else:
        df = np.asarray(
            (own[0] + own[1]) ** 2
            / sum(part**2 / max(group.df(), 1.0) for part, group in zip(own, groups, strict=True))
        )
    return apart, np.where(few, np.nan, np.sqrt(both)), df


def _joint(groups: list[Units], one: Doubles, other: Doubles) -> Doubles:
    """Σ (pull on the one − pull on the other)², by clusters that lie in both groups and by the others."""
    total = (one**2).sum(axis=0) + (other**2).sum(axis=0)
    if groups[0].clustered:
        _, here, there = np.intersect1d(groups[0].labels, groups[1].labels, return_indices=True)
        total = total - 2 * (one[here] * other[there]).sum(axis=0)
    return np.asarray(total)


# ------------------------------------------------------------------------------------------- wild bootstrap


def statistic(groups: list[Units], directions: Doubles) -> Doubles:
    """Return the difference of debiased cosines over its standard error, also where `difference` has none."""
    (values, pull), (others, other_pull) = (pulls(group, directions, LEAST_SHUFFLED_LENGTH) for group in groups)
    return np.asarray((values - others) / np.sqrt(_joint(groups, pull, other_pull)))


def under_null(groups: list[Units]) -> tuple[Doubles, list[Doubles]]:
    """Return (the mean that both groups have in common, the deviations of each group's units from its own mean).

    The common mean weighs each group by its noise, and has the length it would have without noise.
    """
    means, noise = [group.mean() for group in groups], np.array([group.noise() for group in groups])
    weights = (1 / noise) / (1 / noise).sum()
    common = weights @ np.stack(means)
    common *= np.sqrt(max(1 - float(weights**2 @ noise) / float(common @ common), LEAST_SHUFFLED_LENGTH))
    deviations = []
    for group, mean in zip(groups, means, strict=True):
        left = np.sqrt(np.maximum(1 - group.sizes / group.sizes.sum(), ROUNDING_OF_SHARES))
        deviations.append((group.sums - np.outer(group.sizes, mean)) / left[:, None])
    return common, deviations


def sign_numbers(groups: list[Units]) -> list[Longs]:
    """Return the number of each unit's sign, by group: a cluster that lies in both groups has one sign."""
    sizes = [len(group) for group in groups]
    if not share_clusters(groups):
        return np.split(np.arange(sum(sizes)), sizes[:1])
    labels = np.concatenate([group.labels for group in groups])
    return np.split(np.unique(labels, return_inverse=True)[1], sizes[:1])


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
    directions, side = words
    observed = np.abs(statistic(groups, directions)) * (1 - 1e-9)
    exceeding, drawn = np.zeros(len(observed)), np.zeros(len(observed))
    common, deviations = under_null(groups)
    numbers = sign_numbers(groups)
    centres = [np.outer(group.sizes, common) for group in groups]
    for done in range(draws):
        signs = rng.integers(0, 2, 1 + max(own.max() for own in numbers)) * 2.0 - 1
        tossed = [
            replace(group, sums=centre + signs[own][:, None] * deviation)
            for group, centre, own, deviation in zip(groups, centres, numbers, deviations, strict=True)
        ]
        chosen, near = choose(np.stack([group.mean() for group in tossed]))
        reached = np.abs(statistic(tossed, chosen))
        if side is None or near is None:
            exceeding += reached >= observed
            drawn += 1
        else:
            for kind in np.unique(near):
                mine, theirs = side == kind, reached[near == kind]
                exceeding[mine] += (theirs >= observed[mine, None]).mean(axis=1)
                drawn[mine] += 1
        tick(done + 1)
    return exceeding, drawn
