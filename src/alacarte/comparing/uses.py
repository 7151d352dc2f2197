"""The test of whether two corpora use words differently, for any number of words, from sums by groups of documents.

Directions are compared, not lengths: shorter documents cut windows, which shortens vectors and is no other use. With
a = m_a / √q_a and b = m_b / √q_b (alacarte.uncertainty.spread), D is a − b without its part along a + b, and V the
covariance of D by how far the groups of documents lie apart, on either side. The statistic is ‖D‖² / tr V. If both
corpora use the word alike, it is distributed as Σ λ_i χ²₁ / (Σ λ_i χ²_f / f), with λ the eigenvalues of the true
covariance and f the degrees of freedom of V (`alacarte.inference.quadratic_forms`). Three things decide whether the
tail of this is right, and with a whole vocabulary only the tail counts:

- *f* falls as the uses of a word crowd in few documents (Satterthwaite). Where it is below `LEAST_DF` on either side,
  the word is not tested.
- *λ*: words share a spectrum, that of the noise of all words together. A word whose own noise lies in fewer dimensions
  than that (tr Λ² / (tr Λ)², estimated without bias from the groups, and drawn toward what words with as many degrees
  of freedom have on average) has the difference along one more direction, the heaviest tail that this allows.
- *The metric*: with many words, vectors are measured in units of the typical noise, so that no direction outweighs the
  others for being noisy. The difference counts in it as one more deviation, of which the direction alone is known.
  Words come from the same few groups of documents, and units learned from the groups' deviations alone would make
  these look less noisy than the difference, most of all for frequent words, whose noise is much the same. Distances
  and their intervals are in the units of the vectors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Mask, Rows
from alacarte._io.table import Columns, Record, Records
from alacarte.comparing._distances import Distances
from alacarte.comparing.plots import draw_volcano
from alacarte.errors import NoOccurrences
from alacarte.inference.cosines import check_level, directions_of
from alacarte.inference.multiple_testing import SMALLEST, adjusted
from alacarte.inference.quadratic_forms import ratio_tail
from alacarte.model import InducedVectors
from alacarte.uncertainty.spread import Deviations, TypicalSpread
from alacarte.uncertainty.uncertainty import SAMPLE, Space, Uncertainty
from alacarte.vectors.geometry import unit_rows

WORDS_AT_ONCE = 1 << 9  # words at a time
LEAST_DF = 4.0  # degrees of freedom of the noise on either side, about one less than the documents that carry it
METRIC_FROM = 200  # words: fewer do not say what the typical noise is well enough to measure in its units
RIDGE = 0.1  # of the average noise, added to that of each direction before it becomes the unit
OWN_WORTH = 10.0  # degrees of freedom that the dimensions of other words' noise are worth beside a word's own
NUMBER_COLUMNS = ("cosine", "distance", "conf_low", "conf_high", "statistic", "p_value", "q_value")
WORDS_PER_MEAN = 500  # words with about as many degrees of freedom, over which these dimensions are averaged


@dataclass(frozen=True)
class Comparison(Record):
    """One word in two corpora.

    `cosine` is that of the two vectors as they are, `distance` 1 − the cosine that infinitely many contexts would give,
    with its interval, `conf_low` to `conf_high`; `statistic` is the squared difference of directions over its noise;
    `p_value` is the chance of a difference as large as this or larger if there is none; `q_value` takes account of how
    many words were compared (Benjamini and Hochberg 1995). A word that cannot be tested has a `reason`, and NaN for
    these numbers.
    """

    word: str
    contexts_a: int
    contexts_b: int
    cosine: float
    distance: float
    conf_low: float
    conf_high: float
    statistic: float
    p_value: float
    q_value: float
    reason: str = ""


@dataclass(frozen=True)
class ContextLines:
    """The contexts of a word that contribute most to the difference of its two vectors, in order."""

    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Comparisons(Records[Comparison]):
    """Words in two corpora, the smallest p-value first, those that could not be tested last; one row per word.

    `names` are those of the two sides; `contexts` has, for words that are reported, the lines that contribute most;
    `notes` say what was taken as one piece of evidence, where that is not each document.
    """

    kind: ClassVar[type[Any]] = Comparison
    items: tuple[Comparison, ...]
    level: float
    names: tuple[str, str] = ("a", "b")
    contexts: Mapping[str, ContextLines] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def changed(self, q: float = 0.05) -> tuple[Comparison, ...]:
        """Return the words whose q-value is at most `q`, of which a share of q is expected to be wrong.

        They are in the order of `conf_low`, the least that their distance is likely to be, the largest first.
        """
        return tuple(sorted((item for item in self.items if item.q_value <= q), key=lambda item: -item.conf_low))

    @property
    def finding(self) -> str:
        """How many words are used differently, in a sentence."""
        changed, tested = len(self.changed()), sum(not item.reason for item in self.items)
        if not tested:
            return "No word could be tested; the reasons are in the table."
        return f"{changed:,} of {tested:,} words {'is' if changed == 1 else 'are'} used differently (q ≤ 0.05)."

    def _sentences(self) -> Sequence[str]:
        return *self.notes, self.finding

    def _printed_columns(self, most: int | None) -> Columns:
        columns, (a, b) = self.columns(), self.names
        low, high = columns["conf_low"], columns["conf_high"]
        printed: dict[str, Any] = {
            "word": columns["word"],
            f"uses in {a}": columns["contexts_a"],
            f"in {b}": columns["contexts_b"],
            "distance": columns["distance"],
            f"{self.level:.0%} interval": [
                f"{x:.3f} … {y:.3f}" if x <= y else "–" for x, y in zip(low, high, strict=True)
            ],
            "p": columns["p_value"],
            "q": columns["q_value"],
        }
        return printed | {"reason": columns["reason"]} if any(columns["reason"]) else printed

    def plot(self, ax: Any = None, *, q: float = 0.05, labels: int = 20, title: str | None = None) -> Any:
        """Draw distance against −log₁₀ q, with names for the first `labels` of `changed`; return matplotlib's axes."""
        return draw_volcano(self, ax, q=q, labels=labels, title=title)


@dataclass(frozen=True)
class Side:
    """One corpus: how often each word occurs, the deviations its noise is computed from, and the typical spread."""

    contexts: Longs
    deviations: Callable[[Rows], Deviations]
    typical: TypicalSpread

    @classmethod
    def of(cls, words: Sequence[str], known: Uncertainty, contexts: Longs | None = None) -> "Side":
        """Return the side of these words; `contexts` is how many each target of `known` has, if that is at hand."""
        rows = known.rows(words)
        counts = known.deviations_of(rows).contexts.astype(np.int64) if contexts is None else contexts[rows]
        return cls(counts, lambda chosen: known.deviations_of(rows[chosen]), known.typical)


def compare_uses(
    a: InducedVectors | Uncertainty,
    b: InducedVectors | Uncertainty,
    words: str | Iterable[str] | None = None,
    level: float = 0.95,
) -> Comparisons:
    """Test whether two corpora use words differently, from vectors that one model induced from each.

    Parameters
    ----------
    a, b
        What ``model.induce(…, spread=16)`` gave for either corpus.
    words
        A word, or several; by default all targets that both sides have.
    level
        The level of the intervals of distances.

    Returns
    -------
    Comparisons
        One row per word, the smallest p-value first.

    Raises
    ------
    TransformMismatch, BadSums
        If the two sides were computed with other transforms, vectors or settings.
    UnknownKey
        If a word has no vector from contexts on one side.

    Examples
    --------
    >>> from alacarte import ALaCarte, Transform, WordVectors
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(90)], rng.normal(size=(90, 4)))
    >>> model = ALaCarte(vectors, Transform(np.eye(4)))
    >>> def text(first):  # "x" is among the first or the last words, "y" among all
    ...     near = vectors.words[:45] if first else vectors.words[45:]
    ...     pairs = [("x", near), ("y", vectors.words)]
    ...     return [" ".join([word, *rng.choice(others, 9)]) for word, others in pairs for _ in range(400)]
    >>> both = [model.induce(text(first), ["x", "y"], spread=16) for first in (True, False)]
    >>> [(item.word, item.p_value < 0.01) for item in compare_uses(*both)]
    [('x', True), ('y', False)]
    """
    first, second = _comparable(a, b)
    there = set(second.keys)
    if words is None:
        names = [key for key in first.keys if key in there]
        if not names:
            raise NoOccurrences("no target occurs in both corpora; embed the same targets from both")
    else:
        names = [words] if isinstance(words, str) else list(words)
    return compare_sides(names, (Side.of(names, first), Side.of(names, second)), level)


def _comparable(a: InducedVectors | Uncertainty, b: InducedVectors | Uncertainty) -> tuple[Uncertainty, Uncertainty]:
    """Both sides, as vectors that differ only where the uses of a word do; an error for those of other models."""
    if isinstance(a, InducedVectors) and isinstance(b, InducedVectors):
        spaces = [Space.of(side.sums, side.model.transform) for side in (a, b)]
        spaces[0].check_same(spaces[1])
        first, second = a.model.adapted_together(a.sums, b.sums)
        return a.uncertainty_after(first), b.uncertainty_after(second)
    sides = tuple(side if isinstance(side, Uncertainty) else side.uncertainty for side in (a, b))
    if sides[0].space is not None and sides[1].space is not None:
        sides[0].space.check_same(sides[1].space)
    return sides[0], sides[1]


def compare_sides(
    words: Sequence[str],
    sides: tuple[Side, Side],
    level: float = 0.95,
    names: tuple[str, str] = ("a", "b"),
) -> Comparisons:
    """Test all words that two sides have, in blocks: memory grows with the words only as the table does."""
    check_level(level)
    count = len(words)
    numbers = {name: np.full(count, np.nan) for name in NUMBER_COLUMNS}
    df = np.empty((2, count))
    zero = np.zeros((2, count), dtype=bool)
    enough = np.zeros(count, dtype=bool)
    measure: _Measure | None = None
    noises, distances = [], []
    for low in range(0, count, WORDS_AT_ONCE):
        rows = np.arange(low, min(low + WORDS_AT_ONCE, count), dtype=np.intp)
        parts = sides[0].deviations(rows), sides[1].deviations(rows)
        df[:, rows] = [part.df for part in parts]
        zero[:, rows] = [~part.means.any(axis=1) for part in parts]
        numbers["cosine"][rows] = np.einsum("td,td->t", *(directions_of(part.means) for part in parts))
        usable = (df[:, rows].min(axis=0) > LEAST_DF - 1e-9) & ~zero[:, rows].any(axis=0)  # five even documents have 4
        usable = np.flatnonzero(usable)
        if len(usable):
            enough[rows[usable]] = True
            tested = parts[0][usable], parts[1][usable]
            distances.append(Distances.of(tested, (sides[0].typical, sides[1].typical)))
            measure = measure or _Measure.learn(sides)
            noises.append(measure.noise(tested))
    if measure is not None:
        statistic, p_values = measure.test(noises)
        intervals = Distances.joined(distances).intervals(p_values, level)
        tested_names = "statistic", "p_value", "distance", "conf_low", "conf_high"
        for name, values in zip(tested_names, (statistic, p_values, *intervals), strict=True):
            numbers[name][enough] = values
    numbers["q_value"] = adjusted(numbers["p_value"], "bh")
    order = np.lexsort((-numbers["statistic"], numbers["p_value"]))  # NaN is last
    columns = [column[order].tolist() for column in (*(side.contexts for side in sides), *numbers.values())]
    reasons = ["" if enough[row] else _reason(df[:, row], zero[:, row], names) for row in order]
    listed = [words[row] for row in order]
    items = tuple(Comparison(*row) for row in zip(listed, *columns, reasons, strict=True))
    return Comparisons(items, level, names)


def _sample(sides: tuple[Side, Side]) -> tuple[Deviations, Deviations]:
    """At most about `SAMPLE` words at even distances, without those whose vector is zero on a side."""
    count = len(sides[0].contexts)
    rows = np.arange(0, count, max(1, count // SAMPLE), dtype=np.intp)
    a, b = sides[0].deviations(rows), sides[1].deviations(rows)
    known = np.flatnonzero(a.means.any(axis=1) & b.means.any(axis=1))
    return a[known], b[known]


def _reason(df: Doubles, zero: Mask, names: tuple[str, str]) -> str:
    """Why a word was not tested.

    >>> _reason(np.array([1.2, 14.0]), np.array([False, False]), ("1990", "2000"))
    'too few documents or clusters: the uses in 1990 are worth about 2, and 5 are needed'
    """
    if zero.any():
        return f"its vector in {names[int(np.argmax(zero))]} is zero, so it has no direction"
    side = int(np.argmin(df))
    return (
        f"too few documents or clusters: the uses in {names[side]} are worth about {df[side] + 1:.0f}, "
        f"and {LEAST_DF + 1:.0f} are needed"
    )


# --------------------------------------------------------------------------------------------------- the test


@dataclass(frozen=True)
class _Noise:
    """Of each word: ‖D‖², tr V of either side, tr Λ² without bias, and the degrees of freedom of either side."""

    difference: Doubles
    traces: Doubles  # (2, words)
    square: Doubles
    df: Doubles  # (2, words)


@dataclass(frozen=True)
class _Measure:
    """The units in which vectors are measured, and what the noise of all words has in common in these."""

    metric: Doubles
    typical: tuple[TypicalSpread, TypicalSpread]
    spectrum: Doubles

    @classmethod
    def learn(cls, sides: tuple[Side, Side]) -> "_Measure":
        """From at most `SAMPLE` words; the units are those of the vectors if there are fewer than `METRIC_FROM`."""
        parts, typical = _sample(sides), (sides[0].typical, sides[1].typical)
        metric, many = np.eye(parts[0].means.shape[1]), len(sides[0].contexts) >= METRIC_FROM
        if many:
            values, axes = np.linalg.eigh(_typical_shape(parts, typical, many)[0])
            metric = (axes / np.sqrt(np.maximum(values, 0.0) + RIDGE * values.mean())) @ axes.T
            parts = _measured(parts[0], metric), _measured(parts[1], metric)
            typical = TypicalSpread.learn(parts[0]), TypicalSpread.learn(parts[1])
        return cls(metric, typical, _spectrum(*_typical_shape(parts, typical, many)))

    def noise(self, parts: tuple[Deviations, Deviations]) -> _Noise:
        return _noise((_measured(parts[0], self.metric), _measured(parts[1], self.metric)), self.typical)

    def test(self, blocks: Sequence[_Noise]) -> tuple[Doubles, Doubles]:
        """(statistic, p-value) of words whose noise is known on both sides."""
        noise = _Noise(
            *(np.concatenate([getattr(part, name) for part in blocks], axis=-1) for name in _Noise.__annotations__)
        )
        trace = noise.traces.sum(axis=0)
        df = trace**2 / (noise.traces**2 / noise.df).sum(axis=0)
        statistic = noise.difference / trace
        p = ratio_tail(statistic, _with_own(self.spectrum, noise.square / trace**2, df), df)
        return statistic, np.maximum(p, SMALLEST)


def _measured(part: Deviations, metric: Doubles) -> Deviations:
    return replace(part, means=part.means @ metric, z=part.z @ metric)


def _differences(
    parts: tuple[Deviations, Deviations], typical: tuple[TypicalSpread, TypicalSpread]
) -> tuple[Doubles, list[Doubles]]:
    """(D, the deviations of either side's groups in the units of D), all without their part along a + b."""
    roots = [np.sqrt(shared.lengths(part)[0])[:, None] for part, shared in zip(parts, typical, strict=True)]
    a, b = (part.means / root for part, root in zip(parts, roots, strict=True))
    middle = unit_rows(a + b)
    difference = a - b - np.einsum("td,td->t", a - b, middle)[:, None] * middle
    groups = [part.z / root[:, None] for part, root in zip(parts, roots, strict=True)]
    return difference, [z - (z @ middle[:, :, None]) * middle[:, None] for z in groups]


def _typical_shape(
    parts: tuple[Deviations, Deviations], typical: tuple[TypicalSpread, TypicalSpread], differences: bool
) -> tuple[Doubles, float]:
    """Return (the covariance of all words' noise together at trace 1, its degrees of freedom).

    If words are used alike, their differences are noise as the deviations of groups are; with `differences` they count
    as such, by their directions.
    """
    difference, sides = _differences(parts, typical)
    directions = unit_rows(difference) if differences else difference[:0]
    shape, total = directions.T @ directions, float(len(directions))
    for z, part in zip(sides, parts, strict=True):
        trace = np.einsum("tgd,tgd->t", z, z)
        unit = z * np.sqrt(part.df / np.where(trace > 0, trace, np.inf))[:, None, None]
        flat = unit.reshape(-1, unit.shape[-1])
        shape += flat.T @ flat
        total += float(part.df.sum())
    return shape / max(float(np.trace(shape)), 1e-300), total


def _spectrum(shape: Doubles, df: float) -> Doubles:
    """Eigenvalues at sum 1, drawn together by as much as those of an estimate lie too far apart (Ledoit and Wolf)."""
    values = np.maximum(np.linalg.eigvalsh(shape), 0.0)
    values = values / values.sum()
    apart, flat = float(np.sum(values**2)), 1 / len(values)
    true = _square_without_bias(np.ones(1), np.array([apart]), np.array([df]))[0]
    kept = np.sqrt(np.clip((true - flat) / max(apart - flat, 1e-300), 0.0, 1.0))
    return np.asarray(flat + kept * (values - flat))


def _square_without_bias(trace: Doubles, square: Doubles, df: Doubles) -> Doubles:
    """Return the trace of Σ² from those of S and S², S an estimate of Σ with `df` degrees of freedom."""
    return np.asarray(df**2 / ((df - 1) * (df + 2)) * (square - trace**2 / df))


def _noise(parts: tuple[Deviations, Deviations], typical: tuple[TypicalSpread, TypicalSpread]) -> _Noise:
    difference, (a, b) = _differences(parts, typical)
    products = [x @ y.transpose(0, 2, 1) for x, y in ((a, a), (b, b), (a, b))]
    traces = np.stack([np.einsum("tgg->t", product) for product in products[:2]])
    squares = [np.einsum("tgh,tgh->t", product, product) for product in products]
    df = np.stack([part.df for part in parts])
    own = [_square_without_bias(traces[side], squares[side], df[side]) for side in (0, 1)]
    return _Noise(np.einsum("td,td->t", difference, difference), traces, own[0] + own[1] + 2 * squares[2], df)


def _with_own(spectrum: Doubles, concentration: Doubles, df: Doubles) -> Doubles:
    """Return the spectrum of each word: the common one, and a share w along one more direction.

    `concentration` is tr Λ² / (tr Λ)² by each word's own groups; w is such that the spectrum has as much.
    """
    average = np.empty_like(concentration)
    for alike in np.array_split(np.argsort(df, kind="stable"), max(1, len(df) // WORDS_PER_MEAN)):
        average[alike] = concentration[alike].mean()
    wanted = np.clip((df * concentration + OWN_WORTH * average) / (df + OWN_WORTH), 0.0, 1.0)
    common = float(np.sum(spectrum**2))
    lacking = np.maximum(wanted - common, 0.0)  # (1 + common) w² − 2 common w = lacking
    w = np.where(lacking > 0, (common + np.sqrt(common**2 + (1 + common) * lacking)) / (1 + common), 0.0)
    return np.column_stack([w, (1 - w)[:, None] * spectrum])
