"""Standard errors of vectors from contexts and spelling: intervals around cosines of fused vectors.

With x from n contexts and f from spelling, both without the common direction, the fused vector is

    w x/|x| + (1 − w) f/|f|

and only x has noise. An interval encloses the cosine that infinitely many contexts would give with the same w and f.
As for contexts alone (`alacarte.uncertainty`), |x|² is taken without the noise in it, and what a small change of x does
to the cosine (its gradient) says how much noise the cosine has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from alacarte._io.arrays import Doubles, Singles
from alacarte.contexts.sums import ContextSums
from alacarte.inference.cosines import check_level, directions_of, interval
from alacarte.spelling.fusion import without_direction
from alacarte.spelling.prior import Prior
from alacarte.transform.transform import Transform
from alacarte.uncertainty.spread import LEARNED_FROM, Deviations, TypicalSpread
from alacarte.uncertainty.uncertainty import OTHERS, SAMPLE, TARGETS_AT_ONCE, SearchedVector, Similarity, Uncertainty
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

USUAL_AGREEMENT = (0.45, 0.2)  # mean and standard deviation of the cosine of contexts and spelling, if nothing is known
LEAST_AGREEMENT_SPREAD = 0.05
LEAST_LENGTH = 0.25  # of the typical squared length of x without noise
CLEAR = 2.0  # standard errors from which on a cosine is not all noise
LEAST_SQUARE = 0.05  # squared length that a fused vector has without noise, at least


@dataclass(frozen=True, eq=False)
class _Fused:
    """One target: x, its length without noise, and what x is put together with.

    Both the length and the agreement are shrunk toward what targets have in common: `own_length` and `own_agreement`
    are the shares of them that the target's own contexts say.
    """

    target: Deviations
    weight: float  # of contexts
    form: Doubles  # direction of the spelling; zeros if there is none
    length: float  # of x without noise
    own_length: float
    agreement: float  # cosine of x and the spelling without noise
    own_agreement: float
    unexplained: float  # variance of the agreement, beyond what a change of x along one direction explains
    unexplained_length: float  # that of the squared length

    @property
    def vector(self) -> Doubles:
        """The fused vector w x/|x| + (1 − w) f/|f|, |x| without noise."""
        return np.asarray(self.weight * self.target.means[0] / self.length + (1 - self.weight) * self.form)

    @property
    def as_given(self) -> Doubles:
        """Return the vectors with x/|x| as it is, noise and all: those whose neighbours are looked for."""
        return replace(self, length=float(np.linalg.norm(self.target.means[0]))).vector

    @property
    def square(self) -> float:
        """The squared length that the fused vector has without noise."""
        w, spelled = self.weight, float(self.form @ self.form)
        return max(w**2 + (1 - w) ** 2 * spelled + 2 * w * (1 - w) * self.agreement, LEAST_SQUARE)

    def gradient(self, units: Doubles) -> tuple[Doubles, Doubles]:
        """Return (θ, d θ / d x) for cosines θ with unit vectors: a row each.

        The derivative is that at x of the length without noise: at x as it is, noise would add to itself.
        """
        x, w, size, root = unit_rows(self.target.means[0]), self.weight, np.sqrt(self.square), self.length
        theta = units @ self.vector / size

        def along(rows: Doubles) -> Doubles:
            """How rows · x/|x| changes with x."""
            return np.asarray((rows - self.own_length * (rows @ x)[:, None] * x) / root)

        by_agreement = self.own_agreement * w * (1 - w) / self.square * theta[:, None] * along(self.form[None])
        return theta, w / size * along(units) - by_agreement

    def reach(self, units: Doubles) -> tuple[Doubles, Doubles]:
        """Return between which cosines with unit vectors the fused vector lies, whatever its contexts say.

        Where spelling has more weight than contexts, these turn its direction by a limited angle.
        """
        if self.weight >= 0.5 or not self.form.any():
            return np.full(len(units), -1.0), np.full(len(units), 1.0)
        turn = np.arcsin(self.weight / (1 - self.weight))
        angle = np.arccos(np.clip(units @ self.form, -1, 1))
        return np.cos(np.minimum(angle + turn, np.pi)), np.cos(np.maximum(angle - turn, 0.0))

    def unexplained_variance(self, near: Doubles, theta: Doubles) -> Doubles:
        """Return the variance of cosines θ that the gradient does not explain: of the length and of the agreement.

        `near` are the cosines of x alone. A wrong length changes these and the cosine of x and the spelling alike, so
        that the fused vector's length goes along with its products: only what is left of the two counts.
        """
        by_agreement = theta * self.weight * (1 - self.weight) / self.square
        along = self.weight * near / np.sqrt(self.square) - by_agreement * self.own_agreement * self.agreement
        by_length = along / (2 * self.length**2)
        return np.asarray(by_length**2 * self.unexplained_length + by_agreement**2 * self.unexplained)


class FusedUncertainty(Uncertainty):
    """`Uncertainty` of vectors that are made of contexts and spelling; the methods are the same."""

    prior: Prior

    @classmethod
    def of_fused(
        cls,
        sums: ContextSums,
        transform: Transform,
        vectors: WordVectors,
        typical: TypicalSpread | None,
        prior: Prior,
    ) -> "FusedUncertainty":
        """Return the uncertainty of the targets of sums that were collected with `spread`."""
        transform, typical = _without_common(transform, vectors, typical, prior.common)
        return cls.of_sums(sums, transform, vectors, typical)._with(prior)

    @classmethod
    def of_fused_contexts(
        cls,
        word: str,
        contexts: tuple[Doubles, Doubles],
        transform: Transform,
        vectors: WordVectors,
        typical: TypicalSpread | None,
        prior: Prior,
    ) -> "FusedUncertainty":
        """Return that of one target from all of its contexts: (a row of sums for each, a weight for each)."""
        transform, typical = _without_common(transform, vectors, typical, prior.common)
        return cls.of_contexts(word, *contexts, transform, vectors, typical)._with(prior)

    def _with(self, prior: Prior) -> "FusedUncertainty":
        self.prior = prior
        return self

    def _fused(self, word: str) -> _Fused:
        target = self.one(word)
        weight, form = self._parts([word], target)
        q, own, unexplained_length = self._lengths(target)
        agreement, own_agreement, unexplained = self._agreements(target, form)
        numbers = (agreement, own_agreement, unexplained, unexplained_length)
        return _Fused(
            target, float(weight[0]), form[0], float(np.sqrt(q[0])), float(own[0]), *(float(one[0]) for one in numbers)
        )

    def _lengths(self, targets: Deviations) -> tuple[Doubles, Doubles, Doubles]:
        """Return |x|² without noise: (q, the share of it that is the target's own, variance unexplained by it).

        Noise may leave next to nothing of a squared length; hardly a target is that much shorter than others.
        """
        q, own, unexplained = self.typical.lengths(targets)
        least = LEAST_LENGTH * self.typical.length
        return np.fmax(q, least), np.where(q > least, own, 0.0), np.fmax(unexplained, 0.0)

    def _agreements(self, targets: Deviations, forms: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return (cosine of x and spelling without noise, share of it that is the target's own, unexplained variance).

        One or two contexts say next to nothing of it: it is shrunk toward the mean over targets.
        """
        mean, spread = self._typical_agreement
        cosine, noise = self._noisy_agreements(targets, forms)
        own = spread**2 / (spread**2 + noise)
        return np.clip(own * cosine + (1 - own) * mean, -1, 1), own, own * (1 - own) * noise

    def _noisy_agreements(self, targets: Deviations, forms: Doubles) -> tuple[Doubles, Doubles]:
        """Return (x · f / |x| |f| with |x| without noise, its variance)."""
        root = np.sqrt(self._lengths(targets)[0])
        cosine = np.einsum("td,td->t", targets.means, forms) / root
        return cosine, self.typical.variance_along(targets, forms / root[:, None], np.zeros(len(root)))[0]

    @cached_property
    def _typical_agreement(self) -> tuple[float, float]:
        """Return mean and standard deviation over targets of the cosine of x and spelling, without noise."""
        rows = np.arange(0, len(self), max(1, len(self) // SAMPLE), dtype=np.intp)
        forms = self._parts([self.keys[row] for row in rows], self.deviations_of(rows))[1]
        spelled = forms.any(axis=1)
        if np.count_nonzero(spelled) < LEARNED_FROM:
            reported = [item.form_cosine for item in self.prior.words.report]
            return (float(np.mean(reported)) if reported else USUAL_AGREEMENT[0]), USUAL_AGREEMENT[1]
        cosine, noise = self._noisy_agreements(self.deviations_of(rows[spelled]), forms[spelled])
        mean = float(np.average(cosine, weights=1 / (noise + USUAL_AGREEMENT[1] ** 2)))
        excess = float(np.average((cosine - mean) ** 2 - noise, weights=1 / (noise + USUAL_AGREEMENT[1] ** 2) ** 2))
        between = max(excess, LEAST_AGREEMENT_SPREAD**2)
        return float(np.clip(mean, -1, 1)), float(np.sqrt(between))

    def _parts(self, words: list[str], targets: Deviations) -> tuple[Doubles, Doubles]:
        """Return (the weight of contexts, the direction of what is known before) of each target."""
        rows = self.prior.rows(words)
        return self.prior.weights(words, rows, targets.contexts), without_direction(rows, self.prior.common)

    @property
    def confidence(self) -> Doubles:
        """The cosine to be expected between each vector and what infinitely many contexts would give."""
        result = np.empty(len(self))
        for low in range(0, len(self), TARGETS_AT_ONCE):
            part = slice(low, min(low + TARGETS_AT_ONCE, len(self)))
            target = self.deviations_of(np.arange(part.start, part.stop))
            w, form = self._parts(self.keys[part], target)
            alike = super().confidence[part]  # of x/|x| with what it would be
            a = self._agreements(target, form)[0]
            spelled, crossed = (1 - w) ** 2 * form.any(axis=1), w * (1 - w) * a
            squares = [w**2 + spelled + 2 * crossed * share for share in (alike, np.ones_like(alike))]
            result[part] = (w**2 * alike + spelled + crossed * (1 + alike)) / np.sqrt(squares[0] * squares[1])
        return result

    def _similarities(
        self,
        word: str,
        names: Sequence[str],
        matrix: Doubles,
        level: float,
        excess: Doubles | None = None,
    ) -> list[Similarity]:
        check_level(level)
        fused, typical, units = self._fused(word), self.typical, directions_of(matrix)
        estimate, direction = fused.gradient(units)
        repeated = fused.target[np.zeros(len(names), dtype=np.intp)]
        near = self._without_noise(repeated, units / fused.length)
        variance, df = typical.variance_along(repeated, direction, near)
        if excess is not None:
            estimate = estimate - excess
        error = np.sqrt(variance + fused.unexplained_variance(near, estimate))
        bounds = fused.reach(units)
        within = [np.clip(values, *bounds) for values in (estimate, *interval(estimate, error, df, level))]
        columns = (cosines(units, fused.as_given), within[0], error, *within[1:])
        return [
            Similarity(word, name, cosine, value, wide, low, high, level)
            for name, (cosine, value, wide, low, high) in zip(names, np.stack(columns, axis=1).tolist(), strict=True)
        ]

    def _without_noise(self, targets: Deviations, directions: Doubles) -> Doubles:
        """Return cosines of x, less what noise may have added: those of CLEAR standard errors or fewer are 0.

        Where contexts are few, a cosine that is all noise would make its own interval wider.
        """
        cosine = np.einsum("td,td->t", targets.means, directions)
        noise = self.typical.variance_along(targets, directions, np.zeros(len(cosine)))[0]
        return np.asarray(cosine * np.sqrt(np.maximum(1 - CLEAR**2 * noise / np.maximum(cosine**2, 1e-12), 0.0)))

    def between(self, word: str, other: str, level: float = 0.95) -> Similarity:
        """Return the cosine of two targets, which may share documents: these are in the same groups."""
        check_level(level)
        if word == other:
            return Similarity(word, other, 1.0, 1.0, 0.0, 1.0, 1.0, level)
        first, second, typical = self._fused(word), self._fused(other), self.typical
        same = first.target.z.shape == second.target.z.shape
        along, expected, estimate = 0.0, 0.0, 0.0
        for mine, theirs in ((first, second), (second, first)):
            unit = theirs.vector / np.sqrt(theirs.square)
            theta, direction = mine.gradient(unit[None])
            estimate = float(theta[0])
            along = along + np.einsum("tgd,td->g", mine.target.z, direction) if same else along
            near = self._without_noise(mine.target, unit[None] / mine.length)
            expected += float(typical.expected_along(mine.target, direction, near)[0])
        if same:  # contexts that count for both
            both = first.weight * second.weight / (first.length * second.length)
            estimate -= both * float(np.sum(first.target.z * second.target.z)) / np.sqrt(first.square * second.square)
        df = min(float(first.target.df[0]), float(second.target.df[0])) if same else 0.0
        total = df + typical.direction_df
        error = float(np.sqrt((df * float(np.sum(np.square(along))) + typical.direction_df * expected) / total))
        low, high = interval(np.array(estimate), np.array(error), total, level)
        cosine = float(cosines(first.as_given, second.as_given))
        return Similarity(word, other, cosine, float(np.clip(estimate, -1, 1)), error, float(low), float(high), level)

    def _searched(self, word: str) -> SearchedVector:
        fused = self._fused(word)
        x = unit_rows(fused.target.means[0])
        pull = fused.weight / fused.length * (np.eye(len(x)) - fused.own_length * np.outer(x, x))
        covariance = pull @ self.covariance(word) @ pull.T
        spelled = (1 - fused.weight) * fused.form
        own = 2 * (1 - fused.weight) * fused.own_agreement  # what the agreement of a drawn vector adds to its length

        def squares(drawn: Doubles) -> Doubles:
            """Return the squared lengths without noise that would be estimated for drawn vectors."""
            return np.asarray(fused.square + own * ((drawn - fused.vector) @ fused.form))

        def as_given(rows: Doubles) -> Doubles:
            """With x/|x| as it is, noise and all: the vector that the user has, whose neighbours are looked for."""
            return np.asarray(fused.weight * unit_rows(rows - spelled) + spelled)

        return SearchedVector(fused.vector, fused.square, covariance, squares, as_given)


def _without_common(
    transform: Transform, vectors: WordVectors, typical: TypicalSpread | None, common: Doubles | None
) -> tuple[Transform, TypicalSpread | None]:
    """Return a transform and a typical spread without the direction that is taken out of vectors."""
    if common is None:
        return transform, typical
    keep = np.eye(len(common)) - np.outer(common, common)
    shift = None if transform.intercept is None else (keep @ transform.intercept).astype(np.float32)
    transform = replace(transform, matrix=(keep @ transform.matrix).astype(np.float32), intercept=shift)
    return transform, None if typical is None else _projected(typical, keep, vectors.matrix[:OTHERS])


def _projected(typical: TypicalSpread, keep: Doubles, vectors: Singles) -> TypicalSpread:
    """Return the typical spread without the common direction; lengths lose what those of words do, on average."""
    shape = keep @ typical.shape @ keep
    share = float(np.trace(shape))
    rank = typical.rank * share**2 * float(np.sum(typical.shape**2)) / max(float(np.sum(shape**2)), 1e-300)
    kept = float(np.sum(np.square(vectors @ keep)) / max(float(np.sum(np.square(vectors, dtype=np.float64))), 1e-300))
    return replace(
        typical,
        shape=shape / share,
        scale=typical.scale * share,
        rank=rank,
        length=typical.length * kept,
        length_spread=typical.length_spread * kept,
    )
