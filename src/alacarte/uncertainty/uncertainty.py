"""Confidence, standard errors and intervals of induced vectors.

Everything is about the vector that infinitely many contexts of the same kind would give, not about the vector that a
word has in some pretrained set. The noise of a mean makes vectors longer and so cosines smaller: estimates here are
corrected for it. How the noise is measured: `alacarte.uncertainty.spread`; what intervals cover: docs/uncertainty.md.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Rows
from alacarte._io.checks import random_seed, whole_number
from alacarte._io.table import Columns, Record, Records, Table
from alacarte.contexts.reading import Reading
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, BadSums, NotEnoughData, TransformMismatch, UnknownKey
from alacarte.inference.cosines import check_level, directions_of, interval, selection_excess
from alacarte.inference.means import debiased_squares
from alacarte.transform.transform import Transform
from alacarte.uncertainty.spread import LEARNED_FROM, Deviations, TypicalSpread, deviations
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

TARGETS_AT_ONCE = 1 << 10  # targets at a time
SAMPLE = 2000  # targets that the typical spread is learned from
PAIR_DF = 1.5  # degrees of freedom: two contexts have fewer, and say too little of how much targets differ
OTHERS = 5000  # words along whose directions targets are alike or not


@dataclass(frozen=True)
class Similarity(Record):
    """A cosine with its interval; all numbers are NaN where one of the two vectors is zero.

    `cosine` is that of the vectors as they are; `estimate` that of the vectors that infinitely many contexts would
    give, which is what `conf_low` and `conf_high` enclose with the probability `level`.
    """

    word: str
    other: str
    cosine: float
    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    level: float


@dataclass(frozen=True, repr=False)
class Similarities(Records[Similarity]):
    """Several similarities, in order; as a table, one row per similarity."""

    kind = Similarity
    items: tuple[Similarity, ...]

    def _printed_columns(self, most: int | None) -> Columns:
        columns = {name: list(values) for name, values in self.columns().items()}
        for row, item in enumerate(self.items):
            unknown = ["cosine"] if math.isnan(item.cosine) else []
            if not item.conf_high - item.conf_low <= 1:  # half of all cosines
                unknown += ["estimate", "std_error", "conf_low", "conf_high"]
            for name in unknown:
                columns[name][row] = "unknown"
        return columns


@dataclass(frozen=True)
class Space:
    """What sums and vectors were computed with; vectors can be compared with each other where all of it is the same."""

    vectors: str  # their fingerprint
    settings: Reading
    transform: str  # a digest of its matrix and intercept

    @classmethod
    def of(cls, sums: ContextSums, transform: Transform) -> Self:
        """Return the space of vectors computed from these sums with this transform."""
        digest = hashlib.blake2b(np.ascontiguousarray(transform.matrix).tobytes(), digest_size=16)
        if transform.intercept is not None:
            digest.update(np.ascontiguousarray(transform.intercept).tobytes())
        return cls(sums.fingerprint, sums.settings, digest.hexdigest())

    def check_same(self, other: "Space") -> None:
        """Raise if vectors of the two cannot be compared."""
        for name in ("vectors", "settings"):
            if getattr(self, name) != getattr(other, name):
                raise BadSums(f"the two sides were computed with other {name}; induce both with the same model")
        if self.transform != other.transform:
            raise TransformMismatch(
                "the two sides were computed with other transforms, so that even the same text would differ; induce "
                "both with the same model"
            )


@dataclass(frozen=True, eq=False)
class SearchedVector:
    """A vector whose neighbours are looked for, with its noise: what `selection_excess` takes."""

    mean: Doubles
    square: float  # its squared length without noise
    covariance: Doubles
    lengths: Callable[[Doubles], Doubles]  # squared lengths without noise of vectors drawn like it
    query: Callable[[Doubles], Doubles] = np.asarray  # what is looked up for such vectors


class Uncertainty(Table):
    """How certain each of a set of induced vectors is; as a table, one row per vector.

    `InducedVectors.uncertainty` gives it, for sums collected with `spread`:

    >>> from alacarte import collect
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(60)], rng.normal(size=(60, 4)) + [3, 0, 0, 0])
    >>> text = [" ".join(rng.choice(vectors.words, 9)) for _ in range(4000)]
    >>> sums = collect(vectors, text, vectors.words[:30], spread=16)
    >>> uncertainty = Uncertainty.of_sums(sums, Transform(np.eye(4)), vectors)
    >>> bool(0.9 < uncertainty.confidence_of("w3") <= 1)
    True
    >>> low, high = uncertainty.interval("w3", "w7")
    >>> bool(-1 <= low < uncertainty.similarity("w3", "w7").estimate < high <= 1)
    True
    """

    def __init__(
        self,
        keys: Sequence[str],
        deviations_of: Callable[[Rows], Deviations],
        vectors: WordVectors,
        typical: TypicalSpread | None = None,
        space: Space | None = None,
    ) -> None:
        self.keys = list(keys)
        self.vectors = vectors
        self.deviations_of = deviations_of
        self.space = space
        self._given = typical

    @classmethod
    def of_sums(
        cls, sums: ContextSums, transform: Transform, vectors: WordVectors, typical: TypicalSpread | None = None
    ) -> Self:
        """Return the uncertainty of the targets of sums that were collected with `spread`."""
        seen = sums.seen
        if sums.groups is None:
            raise AlacarteError(
                "these sums do not know how far contexts lie apart; collect them with spread=16 (--spread 16)"
            )
        matrix, intercept = _wide(transform)

        def deviations_of(rows: Rows) -> Deviations:
            chosen = seen[rows]
            return deviations(*sums.group_sums(chosen), sums.occurrences[chosen], matrix, intercept)

        keys = [sums.keys[row] for row in seen.tolist()]
        return cls(keys, deviations_of, vectors, typical, Space.of(sums, transform))

    @classmethod
    def of_contexts(
        cls,
        word: str,
        sums: npt.ArrayLike,
        weights: npt.ArrayLike,
        transform: Transform,
        vectors: WordVectors,
        typical: TypicalSpread | None = None,
        contexts: int | None = None,
    ) -> Self:
        """Return the uncertainty of one target from all of its contexts.

        Parameters
        ----------
        word
            The target.
        sums, weights
            One row and one weight per context, or per group of contexts that belong together (of one document).
        transform, vectors
            Those of the model.
        typical
            How far contexts of a typical target lie apart, if that is known.
        contexts
            How many contexts there are, where a row is the sum of several.
        """
        rows, counted = np.asarray(sums, dtype=np.float64)[None], np.asarray(weights, dtype=np.float64)[None]
        found = deviations(rows, counted, [contexts or int(np.count_nonzero(counted))], *_wide(transform))
        return cls([word], lambda chosen: found[chosen], vectors, typical)

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"Uncertainty({len(self):,} targets)"

    @cached_property
    def _places(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def _place(self, word: str) -> int:
        if word not in self._places:
            few = ", ".join(self.keys[:3]) + (", …" if len(self) > 3 else "")
            raise UnknownKey(
                f"{word!r} is not among the {len(self):,} targets that have a vector from contexts ({few}); make it a "
                "target, and collect the sums again"
            )
        return self._places[word]

    # ------------------------------------------------------------------------------------------- spread

    @cached_property
    def typical(self) -> TypicalSpread:
        """What the targets' spreads have in common; the typical spread that was given, where targets are too few."""
        step = max(1, len(self) // SAMPLE)
        target = self.deviations_of(np.arange(0, len(self), step, dtype=np.intp))
        if self._given is not None and np.count_nonzero(target.df > PAIR_DF) < LEARNED_FROM:
            return self._given
        return TypicalSpread.learn(target, self.vectors.matrix[:OTHERS].astype(np.float64))

    @cached_property
    def _scalars(self) -> Doubles:
        """(noise, confidence, contexts) of all targets."""
        typical, scalars = self.typical, np.empty((3, len(self)))
        for low in range(0, len(self), TARGETS_AT_ONCE):
            rows = np.arange(low, min(low + TARGETS_AT_ONCE, len(self)))
            target = self.deviations_of(rows)
            known = target.df * typical.rank + typical.scale_df > 0
            noise, q = np.where(known, typical.noise(target), np.nan), typical.lengths(target)[0]
            scalars[:, rows] = noise, np.sqrt(q / (q + noise)), target.contexts
        return scalars

    @property
    def confidence(self) -> Doubles:
        """For each target, the cosine to be expected between its vector and what infinitely many contexts would give.

        1: more text would change nothing; 0.7: half of the vector's squared length is noise.
        """
        return np.asarray(self._scalars[1])

    def confidence_of(self, word: str) -> float:
        """Return the confidence of one target."""
        self.one(word)
        return float(self.confidence[self._place(word)])

    @property
    def effective_contexts(self) -> Doubles:
        """How many contexts of a typical target would leave as much noise."""
        return np.asarray(self.typical.scale / self._scalars[0])

    def covariance(self, word: str) -> Doubles:
        """Return the covariance of the vector's noise: of its own contexts and the typical one, weighed."""
        target = self.one(word)
        typical, noise = self.typical, self.typical.noise(target)[0]
        own = target.df[0] / (target.df[0] + typical.direction_df)
        return np.asarray(own * (target.z[0].T @ target.z[0]) + (1 - own) * noise * typical.shape)

    def rows(self, words: Iterable[str]) -> Rows:
        """Return the places of targets among `keys`."""
        return np.array([self._place(word) for word in words], dtype=np.intp)

    def one(self, word: str) -> Deviations:
        """Return what everything about one target is computed from."""
        target = self.deviations_of(np.array([self._place(word)]))
        if target.df[0] + self.typical.direction_df <= 0:
            raise NotEnoughData(
                f"the contexts of {word!r} are one, or all in one document: they say nothing of how far contexts lie "
                f"apart. Embed it together with at least {LEARNED_FROM} others, or with more text"
            )
        return target

    # ------------------------------------------------------------------------------------- similarities

    def similarity(self, word: str, other: "str | npt.ArrayLike", level: float = 0.95) -> Similarity:
        """Return the cosine of a target with a word that has a vector, with another target, or with any vector."""
        if isinstance(other, str) and other not in self.vectors and other in self._places:
            return self.between(word, other, level)
        vector = self.vectors[other] if isinstance(other, str) else np.asarray(other)
        name = other if isinstance(other, str) else "vector"
        return self._similarities(word, [name], vector[None].astype(np.float64), level)[0]

    def interval(self, word: str, other: "str | npt.ArrayLike", level: float = 0.95) -> tuple[float, float]:
        """Return the limits between which the cosine from infinitely many contexts lies with probability `level`.

        `other` is that of `similarity`.
        """
        similarity = self.similarity(word, other, level)
        return similarity.conf_low, similarity.conf_high

    def similarities(self, word: str, others: Iterable[str], level: float = 0.95) -> Similarities:
        """Return the cosines of a target with words that have a vector, in the order given."""
        names = list(others)
        return Similarities(tuple(self._similarities(word, names, self.vectors[names].astype(np.float64), level)))

    def nearest(
        self, word: str, k: int = 10, *, level: float = 0.95, among: int | None = None, seed: int = 0
    ) -> Similarities:
        """Return the nearest words, each with an interval that allows for these words having been chosen.

        The largest of many noisy numbers are too large. By how much at each rank is estimated by drawing vectors with
        this target's noise and searching with them; that is taken off the estimates.

        Parameters
        ----------
        word
            A target.
        k
            How many neighbours.
        level
            The probability with which an interval holds the cosine from infinitely many contexts.
        among
            Search only this many of the first words.
        seed
            The same seed gives the same numbers.

        Raises
        ------
        NotEnoughData
            If the vector is zero, or nothing is known of how far its contexts lie apart.
        """
        about = self._searched(word)
        among = None if among is None else whole_number(among, "among", 1)
        names = [name for name, _ in self.vectors.nearest(about.query(about.mean), k, among=among, exclude=[word])]

        def search(drawn: Doubles) -> Doubles:
            lists = self.vectors.nearest(about.query(drawn), k, among=among, exclude=[word])
            found = self.vectors[[name for near in lists for name, _ in near]].astype(np.float64)
            return unit_rows(found).reshape(len(drawn), len(names), -1)

        rng = np.random.default_rng(random_seed(seed))
        excess = selection_excess(about.mean, about.square, about.covariance, search, about.lengths, rng)
        matrix = self.vectors[names].astype(np.float64)
        return Similarities(tuple(self._similarities(word, names, matrix, level, excess)))

    def _searched(self, word: str) -> SearchedVector:
        target, typical = self.one(word), self.typical
        if not target.means.any():
            raise NotEnoughData(f"the vector of {word!r} is zero, so it has no neighbours; give other contexts")
        noise, (q, own, _) = typical.noise(target)[0], typical.lengths(target)

        def lengths(drawn: Doubles) -> Doubles:
            return np.asarray(own[0] * debiased_squares(drawn, noise) + (1 - own[0]) * q[0])

        return SearchedVector(target.means[0], float(q[0]), self.covariance(word), lengths)

    def _similarities(
        self, word: str, names: Sequence[str], matrix: Doubles, level: float, excess: Doubles | None = None
    ) -> list[Similarity]:
        check_level(level)
        target = self.one(word)
        typical, mean = self.typical, target.means[0]
        q, _, extra = typical.lengths(target)
        units = directions_of(matrix)
        repeated = target[np.zeros(len(names), dtype=np.intp)]
        w, estimate = typical.direction(repeated, units)
        variance, df = typical.variance_along(repeated, w, estimate)
        error = np.sqrt(variance + estimate**2 * max(extra[0], 0.0) / (4 * q[0] ** 2))
        if excess is not None:
            estimate = estimate - excess
        columns = (units @ directions_of(mean), np.clip(estimate, -1, 1), error, *interval(estimate, error, df, level))
        return [
            Similarity(word, name, cosine, value, wide, low, high, level)
            for name, (cosine, value, wide, low, high) in zip(names, np.stack(columns, axis=1).tolist(), strict=True)
        ]

    def between(self, word: str, other: str, level: float = 0.95) -> Similarity:
        """Return the cosine of two targets, which may share documents: these are in the same groups."""
        check_level(level)
        first, second, typical = self.one(word), self.one(other), self.typical
        if not (first.means.any() and second.means.any()):
            unknown = float("nan")
            return Similarity(word, other, unknown, unknown, unknown, unknown, unknown, level)
        if word == other:
            return Similarity(word, other, 1.0, 1.0, 0.0, 1.0, 1.0, level)
        cosine = float(cosines(first.means[0], second.means[0]))
        squares, owns, extras = np.array([typical.lengths(target) for target in (first, second)])[:, :, 0].T
        roots = np.sqrt(squares)
        units = [target.means[0] / root for target, root in zip((first, second), roots, strict=True)]
        same = first.z.shape == second.z.shape
        shared = float(np.sum(first.z * second.z)) if same else 0.0  # contexts that count for both
        estimate = np.array([units[0] @ units[1] - shared / roots.prod()])
        along, expected = 0.0, 0.0
        for at, target in enumerate((first, second)):
            w = ((units[1 - at] - owns[at] * estimate * units[at]) / roots[at])[None]  # the `slope` at `estimate`
            along = along + np.einsum("tgd,td->g", target.z, w) if same else along
            expected += float(typical.expected_along(target, w, estimate)[0])
        extra = np.sum(estimate**2 * np.maximum(extras, 0.0) / (4 * squares**2))
        df = min(float(first.df[0]), float(second.df[0])) if same else 0.0
        both = df + typical.direction_df
        variance = (df * float(np.sum(np.square(along))) + typical.direction_df * expected) / both
        error = np.sqrt([variance + extra])
        columns = np.concatenate([np.clip(estimate, -1, 1), error, *interval(estimate, error, both, level)])
        value, wide, low, high = columns.tolist()
        return Similarity(word, other, cosine, value, wide, low, high, level)

    # --------------------------------------------------------------------------------------------- table

    def columns(self) -> Columns:
        """Return each target with its contexts, effective contexts, confidence and the length of its noise."""
        return {
            "word": self.keys,
            "contexts": self._scalars[2].astype(np.int64),
            "effective_contexts": self.effective_contexts,
            "confidence": self.confidence,
            "noise": np.sqrt(self._scalars[0]),
        }

    def _printed_columns(self, most: int | None) -> Columns:
        # Of many targets, the columns of the first ones only: those of all take a pass over the sums.
        if most is None or len(self) <= most + 1:
            return self.columns()
        few = copy(self)
        vars(few).pop("_scalars", None)  # of all targets
        few.keys = self.keys[: most + 1]
        few.typical = self.typical
        return few.columns()

    def to_frame(self) -> Any:
        """Return a pandas frame whose index is the word."""
        return super().to_frame().set_index("word")


def _wide(transform: Transform) -> tuple[Doubles, Doubles | None]:
    intercept = None if transform.intercept is None else transform.intercept.astype(np.float64)
    return transform.matrix.astype(np.float64), intercept
