"""Induced vectors that know how sure they are: confidence, standard errors, intervals on similarities.

Everything is about the vector that infinitely many contexts of the same kind would give, not about the vector that a
word has in some pretrained set. The noise of a mean makes vectors longer and so cosines smaller: estimates here are
corrected for it. How the noise is measured: `alacarte.inference.spread`; what intervals cover: docs/uncertainty.md.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from alacarte._io.table import Columns, Record, Records, Table
from alacarte.contexts.sums import ContextSums
from alacarte.errors import AlacarteError, NotEnoughData, UnknownKey
from alacarte.inference.cosines import check_level, interval, selection_excess
from alacarte.inference.means import debiased_squares
from alacarte.inference.spread import LEARNED_FROM, Deviations, TypicalSpread, deviations
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
BLOCK = 1 << 10  # targets at a time
SAMPLE = 2000  # targets that the typical spread is learned from
PAIR_DF = 1.5  # degrees of freedom: two contexts have fewer, and say too little of how much targets differ
OTHERS = 5000  # words along whose directions targets are alike or not


@dataclass(frozen=True)
class Similarity(Record):
    """A cosine with its interval.

    `cosine` is that of the vectors as they are; `estimate` that of the vectors that infinitely many contexts would
    give, which is what `conf_low` and `conf_high` enclose.
    """

    word: str
    other: str
    cosine: float
    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    level: float


@dataclass(frozen=True)
class Similarities(Records[Similarity]):
    """Several similarities, in order; as a table, a row a similarity."""

    kind = Similarity
    items: tuple[Similarity, ...]


@dataclass(frozen=True, eq=False)
class SearchedVector:
    """A vector whose neighbours are looked for, with its noise: what `selection_excess` takes."""

    mean: Doubles
    square: float  # its squared length without noise
    covariance: Doubles
    lengths: Callable[[Doubles], Doubles]  # squared lengths without noise of vectors drawn like it
    query: Callable[[Doubles], Doubles] = np.asarray  # what is looked up for such vectors


class Uncertainty(Table):
    """How sure each of a set of induced vectors is; as a table, a row a vector.

    Made by `InducedVectors.uncertainty` from sums collected with `spread`:

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
    ) -> None:
        self.keys = list(keys)
        self.vectors = vectors
        self.deviations_of = deviations_of
        self._given = typical

    @classmethod
    def of_sums(
        cls, sums: ContextSums, transform: Transform, vectors: WordVectors, typical: TypicalSpread | None = None
    ) -> Self:
        """For the targets of sums that were collected with `spread`."""
        seen = sums.seen
        if sums.groups is None:
            raise AlacarteError(
                "these sums do not know how far contexts lie apart; collect them with spread=16 (--spread 16)"
            )
        matrix, intercept = _wide(transform)

        def deviations_of(rows: Rows) -> Deviations:
            chosen = seen[rows]
            return deviations(*sums.group_sums(chosen), sums.occurrences[chosen], matrix, intercept)

        return cls([sums.keys[row] for row in seen.tolist()], deviations_of, vectors, typical)

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
        """For one target from all of its contexts: a row of `sums` and a weight for each.

        Contexts that belong together (of one document) may be one row; `contexts` then says how many there are.
        """
        rows, counted = np.asarray(sums, dtype=np.float64)[None], np.asarray(weights, dtype=np.float64)[None]
        made = deviations(rows, counted, [contexts or int(np.count_nonzero(counted))], *_wide(transform))
        return cls([word], lambda chosen: made[chosen], vectors, typical)

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
        """What the targets' spreads have in common; what was given, where there are too few to tell."""
        step = max(1, len(self) // SAMPLE)
        target = self.deviations_of(np.arange(0, len(self), step, dtype=np.intp))
        if self._given is not None and np.count_nonzero(target.df > PAIR_DF) < LEARNED_FROM:
            return self._given
        return TypicalSpread.learn(target, self.vectors.matrix[:OTHERS].astype(np.float64))

    @cached_property
    def _scalars(self) -> tuple[Doubles, Doubles]:
        """(noise, confidence) of all targets."""
        typical = self.typical
        noises, confidences = np.empty(len(self)), np.empty(len(self))
        for low in range(0, len(self), BLOCK):
            target = self.deviations_of(np.arange(low, min(low + BLOCK, len(self))))
            noise, (q, _, _) = typical.noise(target), typical.lengths(target)
            known = target.df * typical.rank + typical.scale_df > 0
            noises[low : low + BLOCK] = np.where(known, noise, np.nan)
            confidences[low : low + BLOCK] = np.where(known, np.sqrt(q / (q + noise)), np.nan)
        return noises, confidences

    @property
    def confidence(self) -> Doubles:
        """For each target, the cosine to be expected between its vector and what infinitely many contexts would give.

        1: more text would change nothing; 0.7: half of the vector's squared length is noise.
        """
        return self._scalars[1]

    def confidence_of(self, word: str) -> float:
        place = self._place(word)
        self._known(word, self.deviations_of(np.array([place])))
        return float(self.confidence[place])

    @property
    def effective_contexts(self) -> Doubles:
        """How many contexts of a typical target would leave as much noise."""
        return np.asarray(self.typical.scale / self._scalars[0])

    def covariance(self, word: str) -> Doubles:
        """The covariance of the vector's noise: its own contexts' and the typical one, as their weight is."""
        target = self.one(word)
        typical, noise = self.typical, self.typical.noise(target)[0]
        own = target.df[0] / (target.df[0] + typical.direction_df)
        return np.asarray(own * (target.z[0].T @ target.z[0]) + (1 - own) * noise * typical.shape)

    def deviations(self, word: str) -> Doubles:
        """A row a group: their outer products add up to the covariance by the target's own contexts."""
        return np.array(self.one(word).z[0])

    def rows(self, words: Iterable[str]) -> Rows:
        """The places of targets among `keys`."""
        return np.array([self._place(word) for word in words], dtype=np.intp)

    def one(self, word: str) -> Deviations:
        """The parts that everything about one target is computed from."""
        target = self.deviations_of(np.array([self._place(word)]))
        self._known(word, target)
        return target

    def _known(self, word: str, target: Deviations) -> None:
        if target.df[0] + self.typical.direction_df <= 0:
            raise NotEnoughData(
                f"the contexts of {word!r} are one, or all in one document: they say nothing of how far contexts lie "
                f"apart. Embed it together with at least {LEARNED_FROM} others, or with more text"
            )

    # ------------------------------------------------------------------------------------- similarities

    def similarity(self, word: str, other: "str | npt.ArrayLike", level: float = 0.95) -> Similarity:
        """The cosine of a target with a word that has a vector, or with another target, or with any vector."""
        if isinstance(other, str) and other not in self.vectors and other in self._places:
            return self.between(word, other, level)
        vector = self.vectors[other] if isinstance(other, str) else np.asarray(other)
        name = other if isinstance(other, str) else "vector"
        return self._similarities(word, [name], vector[None].astype(np.float64), level)[0]

    def standard_error(self, word: str, other: "str | npt.ArrayLike") -> float:
        """The standard error of the cosine."""
        return self.similarity(word, other).std_error

    def interval(self, word: str, other: "str | npt.ArrayLike", level: float = 0.95) -> tuple[float, float]:
        """Where the cosine that infinitely many contexts would give lies."""
        similarity = self.similarity(word, other, level)
        return similarity.conf_low, similarity.conf_high

    def similarities(self, word: str, others: Iterable[str], level: float = 0.95) -> Similarities:
        """The cosines of a target with words that have a vector."""
        names = list(others)
        return Similarities(tuple(self._similarities(word, names, self.vectors[names].astype(np.float64), level)))

    def nearest(
        self, word: str, k: int = 10, *, level: float = 0.95, among: int | None = None, seed: int = 0
    ) -> Similarities:
        """The nearest words, each with an interval that knows that these words were chosen.

        The largest of many noisy numbers are too large. By how much at each rank is estimated by drawing vectors with
        this target's noise and searching with them; that is taken off the estimates.
        """
        about = self._searched(word)
        names = [name for name, _ in self.vectors.nearest(about.query(about.mean), k, among=among, exclude=[word])]

        def search(drawn: Doubles) -> Doubles:
            lists = self.vectors.nearest(about.query(drawn), k, among=among, exclude=[word])
            found = self.vectors[[name for near in lists for name, _ in near]].astype(np.float64)
            return unit_rows(found).reshape(len(drawn), len(names), -1)

        rng = np.random.default_rng(seed)
        excess = selection_excess(about.mean, about.square, about.covariance, search, about.lengths, rng)
        matrix = self.vectors[names].astype(np.float64)
        return Similarities(tuple(self._similarities(word, names, matrix, level, excess)))

    def _searched(self, word: str) -> "SearchedVector":
        target, typical = self.one(word), self.typical
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
        units = unit_rows(matrix)
        repeated = target[np.zeros(len(names), dtype=np.intp)]
        w, estimate = typical.direction(repeated, units)
        variance, df = typical.variance_along(repeated, w, estimate)
        error = np.sqrt(variance + estimate**2 * max(extra[0], 0.0) / (4 * q[0] ** 2))
        if excess is not None:
            estimate = estimate - excess
        columns = (units @ unit_rows(mean), _within(estimate), error, *interval(estimate, error, df, level))
        return [
            Similarity(word, name, cosine, value, wide, low, high, level)
            for name, (cosine, value, wide, low, high) in zip(names, np.stack(columns, axis=1).tolist(), strict=True)
        ]

    def between(self, word: str, other: str, level: float = 0.95) -> Similarity:
        """The cosine of two targets, which may share documents: these are in the same groups."""
        check_level(level)
        first, second, typical = self.one(word), self.one(other), self.typical
        cosine = float(cosines(first.means[0], second.means[0]))
        if word == other:
            return Similarity(word, other, 1.0, 1.0, 0.0, 1.0, 1.0, level)
        parts = [(target, *typical.lengths(target)) for target in (first, second)]
        roots = [float(np.sqrt(q[0])) for _, q, _, _ in parts]
        same = first.z.shape == second.z.shape
        shared = float(np.sum(first.z * second.z)) if same else 0.0  # contexts that count for both
        estimate = (float(first.means[0] @ second.means[0]) - shared) / (roots[0] * roots[1])
        along, expected, extra = 0.0, 0.0, 0.0
        for mine, theirs, at in ((0, 1, first), (1, 0, second)):
            _, q, own, second_order = parts[mine]
            unit = parts[theirs][0].means[0] / roots[theirs]
            w = ((unit - own[0] * estimate * at.means[0] / roots[mine]) / roots[mine])[
                None
            ]  # the `slope` at `estimate`
            along = along + np.einsum("tgd,td->g", at.z, w) if same else along
            expected += float(typical.expected_along(at, w, np.array([estimate]))[0])
            extra += estimate**2 * max(float(second_order[0]), 0.0) / (4 * float(q[0]) ** 2)
        df = min(float(first.df[0]), float(second.df[0])) if same else 0.0
        both = df + typical.direction_df
        variance = (df * float(np.sum(np.square(along))) + typical.direction_df * expected) / both
        error = float(np.sqrt(variance + extra))
        low, high = interval(np.array(estimate), np.array(error), both, level)
        return Similarity(word, other, cosine, float(_within(estimate)), error, float(low), float(high), level)

    # --------------------------------------------------------------------------------------------- table

    def columns(self) -> Columns:
        """Each target with its contexts, effective contexts, confidence and the length of its noise."""
        blocks = (self.deviations_of(np.arange(low, min(low + BLOCK, len(self)))) for low in self._blocks())
        contexts = np.concatenate([block.contexts for block in blocks]).astype(np.int64)
        return {
            "word": self.keys,
            "contexts": contexts,
            "effective_contexts": self.effective_contexts,
            "confidence": self.confidence,
            "noise": np.sqrt(self._scalars[0]),
        }

    def _shown(self, most: int | None) -> Columns:
        """Of many targets, the columns of the first ones only: those of all take a pass over the sums."""
        if most is None or len(self) <= most + 1:
            return self.columns()
        few = copy(self)
        vars(few).pop("_scalars", None)  # of all targets
        few.keys, few._given = self.keys[: most + 1], self.typical
        return few.columns()

    def to_frame(self) -> Any:
        """A pandas frame whose index is the word."""
        return super().to_frame().set_index("word")

    def _blocks(self) -> range:
        return range(0, len(self), BLOCK)


def _wide(transform: Transform) -> tuple[Doubles, Doubles | None]:
    intercept = None if transform.intercept is None else transform.intercept.astype(np.float64)
    return transform.matrix.astype(np.float64), intercept


def _within(values: Any) -> Any:
    return np.clip(values, -1.0, 1.0)
