"""Distances of words in two corpora, 1 − the cosine without noise, and their intervals.

The estimate d goes up and down with the true distance t by the variance

    s(t) + c t,    s(t) = tr V_a V_b + (1 − t)² (noise of the two squared lengths)

V_a and V_b are the covariances of either vector, at the length that it has without noise. s is there without any
difference; c says how much noise lies along the difference. An interval holds each t at which d is not in a tail:
Student's t, with tails that pass from one side at 0 to both as those of Feldman and Cousins do
(`alacarte.inference.lengths.tails`). At 0 the test of all differences decides, because it measures in units of the
noise and knows its distribution there. So an interval holds 0 if and only if the test does not reject it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alacarte._io.arrays import Doubles, Mask
from alacarte.inference.cosines import slope
from alacarte.inference.lengths import tails
from alacarte.uncertainty.spread import Deviations, TypicalSpread

LARGEST_DISTANCE = 2.0  # of all distances
HALVINGS = 30  # of the range in which a limit lies
TAIL_GRID = np.linspace(0.0, 4.0, 400)  # standard errors at which tails are computed; from two or so on they are even
TINY_DF = 1e-3
LEAST = 1e-24  # of a variance: contexts that are all the same have none


@dataclass(frozen=True, eq=False)
class Distances:
    """Estimates of some words' distances, and what their noise is made of; one number for each word."""

    estimate: Doubles
    crossed: Doubles  # tr V_a V_b
    lengths: Doubles  # the variance that the squared lengths cause where nothing differs
    along: Doubles  # by how much the variance grows with the distance
    df: Doubles

    @classmethod
    def of(cls, parts: tuple[Deviations, Deviations], typical: tuple[TypicalSpread, TypicalSpread]) -> "Distances":
        """Return the distances of words that have a vector on both sides."""
        q, own, extra = zip(*(shared.lengths(part) for part, shared in zip(parts, typical, strict=True)), strict=True)
        roots = [np.sqrt(values) for values in q]
        units = [part.means / root[:, None] for part, root in zip(parts, roots, strict=True)]
        shares = [shared.noise(part) / square for part, shared, square in zip(parts, typical, q, strict=True)]
        size = len(units[0])
        cosine, variance, lengths, df = np.empty(size), np.zeros(size), np.zeros(size), np.full(size, np.inf)
        for mine, theirs in ((0, 1), (1, 0)):
            w, cosine = slope(parts[mine].means, roots[mine], units[theirs], own[mine])
            along, along_df = typical[mine].variance_along(parts[mine], w, cosine)
            variance += along
            df = np.minimum(df, along_df)
            alone = shares[mine] ** 2 / (2 * typical[mine].rank)
            lengths += np.where(extra[mine] > 0, extra[mine] / (4 * q[mine] ** 2), alone)
        crossed = shares[0] * shares[1] * np.sum(typical[0].shape * typical[1].shape)
        estimate = 1 - cosine
        apart = np.maximum(estimate, 0.0) + (shares[0] + shares[1]) / 2  # half of ‖a − b‖², as noise makes it
        return cls(estimate, np.asarray(crossed), lengths, variance / apart, np.maximum(df, TINY_DF))

    @classmethod
    def joined(cls, blocks: Sequence["Distances"]) -> "Distances":
        """Return the distances of several blocks of words as one."""
        return cls(*(np.concatenate([getattr(part, name) for part in blocks]) for name in cls.__annotations__))

    def variance(self, distance: Doubles) -> Doubles:
        """Return the variance of the estimate for each word if its distance is this."""
        return np.maximum(self.crossed + (1 - distance) ** 2 * self.lengths + self.along * distance, LEAST)

    def intervals(self, p_values: Doubles, level: float) -> tuple[Doubles, Doubles, Doubles]:
        """Return (distance, lower limit, upper limit); the p-values are those of no distance."""
        from scipy import special

        below, above = tails(TAIL_GRID, level)
        tails_of = above, below
        found = p_values <= 1 - level
        error = np.sqrt(self.variance(np.zeros_like(self.estimate)))
        score = self.estimate / error
        tested = -special.stdtrit(self.df, p_values)
        # What the test sees beyond the estimate counts near 0 alone, where without it the interval would hold 0.
        shift = np.where(found & (special.stdtr(self.df, -score) > 1 - level), tested - score, 0.0)

        def beyond_tail(distance: Doubles, upper: bool) -> Mask:
            variance = self.variance(distance)
            score = (self.estimate - distance) / np.sqrt(variance) + shift * error**2 / variance
            probability = special.stdtr(self.df, score if upper else -score)
            return np.asarray(probability <= np.interp(distance / np.sqrt(variance), TAIL_GRID, tails_of[int(upper)]))

        zero, farthest = np.zeros_like(error), np.full_like(error, LARGEST_DISTANCE)
        low, high = zero, np.where(found, farthest, zero)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            outside = beyond_tail(middle, upper=False)
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        lower, low, high = high, high, farthest
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            outside = beyond_tail(middle, upper=True)
            low, high = np.where(outside, low, middle), np.where(outside, middle, high)
        return np.clip(self.estimate, lower, high), lower, high
