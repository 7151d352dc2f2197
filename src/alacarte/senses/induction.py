"""Several vectors for one word: its contexts are grouped, and each group is embedded by itself.

No dictionary is asked: groups are what the text has, with their shares, nearest words and most typical contexts.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.table import Columns, Table
from alacarte.errors import AlacarteError
from alacarte.inference.uncertainty import Uncertainty
from alacarte.model import ALaCarte
from alacarte.senses.mixture import fit_mixture, prediction_strength, squared_distances
from alacarte.senses.occurrences import Occurrences, gather
from alacarte.text.corpus import CorpusLike
from alacarte.vectors.geometry import top_components, unit_rows
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
MOST = 6  # groups that are tried
LEAST = 20  # contexts for each group that is tried
AXES = 10  # along which contexts are grouped
STRONG = 0.85  # prediction strength from which on groups are taken to be there
LIMIT = 5000  # contexts, chosen at random


@dataclass(frozen=True, eq=False)
class InducedSense:
    """One group of contexts: its share of all, its vector, the nearest words and the contexts nearest to its centre.

    `confidence` is NaN where all contexts are in one document.
    """

    name: str
    share: float
    contexts: int
    vector: Singles
    confidence: float
    nearest: tuple[tuple[str, float], ...]
    examples: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "share": self.share,
            "contexts": self.contexts,
            "confidence": None if math.isnan(self.confidence) else self.confidence,
            "nearest": [{"word": word, "cosine": cosine} for word, cosine in self.nearest],
            "examples": list(self.examples),
        }


@dataclass(frozen=True, eq=False)
class InducedSenses(Table, Sequence[InducedSense]):
    """The senses of a word in a corpus, the most frequent first; as a table, a row a sense.

    `scores` has the prediction strength of 2, 3, … groups, by which their number was chosen (empty if it was given);
    `labels` the sense of each of `occurrences`.
    """

    word: str
    senses: tuple[InducedSense, ...]
    scores: tuple[float, ...]
    labels: npt.NDArray[np.int64]
    occurrences: Occurrences

    def __len__(self) -> int:
        return len(self.senses)

    def __getitem__(self, place: Any) -> Any:
        return self.senses[place]

    def __iter__(self) -> Iterator[InducedSense]:
        return iter(self.senses)

    @property
    def vectors(self) -> WordVectors:
        """The vectors under the keys `bank#1`, `bank#2`, …"""
        return WordVectors([sense.name for sense in self.senses], np.stack([sense.vector for sense in self.senses]))

    def columns(self) -> Columns:
        return {
            "name": [sense.name for sense in self.senses],
            "share": [sense.share for sense in self.senses],
            "contexts": [sense.contexts for sense in self.senses],
            "confidence": [sense.confidence for sense in self.senses],
            "nearest": [" ".join(word for word, _ in sense.nearest) for sense in self.senses],
        }

    def to_dict(self) -> Any:
        """All but the vectors, with values that JSON can hold."""
        return {
            "word": self.word,
            "contexts": len(self.occurrences),
            "of": int(self.occurrences.counts.sum()),
            "scores": list(self.scores),
            "senses": [sense.to_dict() for sense in self.senses],
        }


class SenseDetails(TypedDict, total=False):
    """The keywords that say how much is told about each sense; see `Details`."""

    nearest: int
    among: int | None
    examples: int


@dataclass(frozen=True)
class Details:
    """How much is told about each sense: so many `nearest` words, among the first so many of the vectors, and so many
    `examples`, its most typical contexts."""

    nearest: int = 10
    among: int | None = 50_000
    examples: int = 3


def induce_senses(
    model: ALaCarte,
    corpus: CorpusLike,
    word: str,
    k: int | Literal["auto"] = "auto",
    *,
    limit: int = LIMIT,
    seed: int = 0,
    show_progress: bool | None = None,
    **details: Unpack[SenseDetails],
) -> InducedSenses:
    """Group the contexts of a word (or phrase) and embed each group.

    `k` is how many groups, or "auto": the largest number up to six whose groups, found in one half of the documents,
    hold in the other (a prediction strength of at least 0.85), or one. `limit` bounds how many contexts are used; they
    are chosen at random. `nearest`, `among` and `examples` say what is told about each sense (`Details`).

    >>> from alacarte import Transform, WordVectors
    >>> rng = np.random.default_rng(0)
    >>> rows = np.repeat(np.eye(4), 10, axis=0) + 0.3 * rng.normal(size=(40, 4))
    >>> vectors = WordVectors([f"w{i}" for i in range(40)], rows)
    >>> model = ALaCarte(vectors, Transform(np.eye(4)))
    >>> kinds = [vectors.words[:10], vectors.words[20:30]]  # "x" stands among words of one kind or of another
    >>> text = [" ".join(["x", *rng.choice(kinds[i % 3 == 0], 8)]) for i in range(300)]
    >>> senses = induce_senses(model, text, "x")
    >>> [(sense.name, round(sense.share, 2)) for sense in senses]
    [('x#1', 0.67), ('x#2', 0.33)]
    """
    if k != "auto" and (not isinstance(k, int) or k < 1):
        raise AlacarteError(f"k is a number of senses from 1 on, or 'auto', not {k!r}")
    wanted = Details(**details)
    gathered = gather(model, corpus, [word], limit=limit, seed=seed, show_progress=show_progress)
    occurrences = gathered.usable(LEAST if k == "auto" else max(2, k))
    rng = np.random.default_rng(seed)
    x = features(model, occurrences)
    scores: tuple[float, ...] = ()
    if isinstance(k, int):
        number = k
    else:
        most = max(1, min(MOST, len(occurrences) // LEAST))
        scores = tuple(prediction_strength(x, occurrences.documents, groups, rng) for groups in range(2, most + 1))
        number = max((groups for groups, score in enumerate(scores, start=2) if score >= STRONG), default=1)
    mixture = fit_mixture(x, number, rng)
    groups = mixture.memberships(x).argmax(axis=1)
    sizes = np.bincount(groups, minlength=number)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    senses = []
    for place, group in enumerate(order.tolist(), start=1):
        members = np.flatnonzero(groups == group)
        distances = squared_distances(x[members], mixture.centers[[group]])[:, 0]
        typical = members[np.argsort(distances, kind="stable")][: 4 * wanted.examples]
        texts = list(dict.fromkeys(occurrences.text(row) for row in typical.tolist()))[: wanted.examples]
        vector, confidence = _embedded(model, occurrences.select(members), word)
        near = tuple(model.nearest(vector, wanted.nearest, among=wanted.among, without=word))
        share = len(members) / len(occurrences)
        senses.append(InducedSense(f"{word}#{place}", share, len(members), vector, confidence, near, tuple(texts)))
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.arange(len(order))
    return InducedSenses(word, tuple(senses), scores, rank[groups], occurrences)


def features(model: ALaCarte, occurrences: Occurrences, axes: int = AXES) -> Doubles:
    """Contexts as points: transformed, at length 1, along the axes in which they differ most.

    Where the model knows how contexts spread, directions in which those of any word do count less.
    """
    x = model.transform(occurrences.means()).astype(np.float64)
    if model.typical is not None:
        values, directions = np.linalg.eigh(model.typical.shape)
        x = x @ (directions / np.sqrt(np.maximum(values, 1e-3 * values.max())))
    x = unit_rows(x)
    axes = min(axes, x.shape[1], max(1, len(x) // 4))
    points: Doubles = (x - x.mean(axis=0)) @ top_components(x, axes).T
    return points


def _embedded(model: ALaCarte, occurrences: Occurrences, word: str) -> tuple[Singles, float]:
    """The vector of some occurrences of a word, and its confidence: NaN where all are in one document."""
    weights = occurrences.weights
    vector = model.transform(occurrences.sums.sum(axis=0, dtype=np.float64) / weights.sum())
    documents, inverse = np.unique(occurrences.documents, return_inverse=True)
    if len(documents) < 2:
        return vector, float("nan")
    sums = np.zeros((len(documents), occurrences.sums.shape[1]))
    np.add.at(sums, inverse, occurrences.sums)
    by_document = np.bincount(inverse, weights=weights)
    uncertainty = Uncertainty.of_contexts(
        word, sums, by_document, model.transform, model.vectors, model.typical, len(occurrences)
    )
    return vector, float(uncertainty.confidence[0])
