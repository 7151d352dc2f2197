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
from alacarte.senses.mixture import fit_mixture, squared_distances
from alacarte.senses.occurrences import Occurrences, gather
from alacarte.senses.points import AROUND, PointSpace
from alacarte.text.corpus import CorpusLike
from alacarte.vectors.geometry import top_components
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]
MOST = 6  # groups that are tried
LEAST = 20  # contexts for each group that is tried
SMALLEST = 3  # contexts that a group must have in the half of the documents that it was not found in
AXES = 20  # along which contexts are grouped
SPLITS = 3  # ways to halve the documents
TESTED = 1000  # contexts by which the number of groups is chosen, at most
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

    `scores` has the overlap of 2, 3, … groups (`group_overlap`), by which their number was chosen (empty if it was
    given), and `threshold` what it had to be below; `labels` has the sense of each of `occurrences`.
    """

    word: str
    senses: tuple[InducedSense, ...]
    scores: tuple[float, ...]
    threshold: float
    labels: Longs
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
            "threshold": self.threshold,
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

    `k` is how many groups, or "auto": as many, up to six, as lie further apart than the uses of a word with one sense
    do; `choose_number` has the test and docs/senses.md its error rates. `limit` bounds how many contexts are used; they
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
    gathered = gather(model, corpus, [word], limit=limit, seed=seed, around=AROUND, show_progress=show_progress)
    return senses_among(model, gathered, word, k, seed=seed, **details)


def senses_among(
    model: ALaCarte,
    occurrences: Occurrences,
    word: str,
    k: int | Literal["auto"] = "auto",
    *,
    seed: int = 0,
    **details: Unpack[SenseDetails],
) -> InducedSenses:
    """The senses of a word by occurrences of it that are there already: `gather(…, around=AROUND)`."""
    wanted = Details(**details)
    occurrences = occurrences.usable(LEAST if k == "auto" else max(2, k))
    rng = np.random.default_rng(seed)
    x, telling = PointSpace.of(model.vectors).points(occurrences.before, occurrences.after)
    scores: tuple[float, ...] = ()
    number = k
    if number == "auto":
        number, scores = choose_number(x[telling], occurrences.documents[telling], rng)
    labels, distances = group(x, telling, number, rng)
    senses = []
    for place in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == place)
        typical = members[np.lexsort((distances[members], ~telling[members]))][: 4 * wanted.examples]
        window = model.settings.left, model.settings.right
        texts = list(dict.fromkeys(occurrences.text(row, window=window) for row in typical.tolist()))
        vector, confidence = _embedded(model, occurrences.select(members), word)
        near = tuple(model.nearest(vector, wanted.nearest, among=wanted.among, without=word))
        share = len(members) / len(occurrences)
        examples = tuple(texts[: wanted.examples])
        senses.append(InducedSense(f"{word}#{place + 1}", share, len(members), vector, confidence, near, examples))
    return InducedSenses(word, tuple(senses), scores, threshold(int(telling.sum())), labels, occurrences)


def choose_number(x: Doubles, documents: Longs, rng: np.random.Generator) -> tuple[int, tuple[float, ...]]:
    """(how many groups there are, the overlap of 2, 3, … groups): one more is tried as long as the overlap is below
    the threshold and there are `LEAST` contexts for each."""
    bound = threshold(len(x))
    if len(x) > TESTED:
        chosen = rng.choice(len(x), TESTED, replace=False)
        x, documents = x[chosen], documents[chosen]
    scores: list[float] = []
    for k in range(2, min(MOST, len(x) // LEAST) + 1):
        scores.append(group_overlap(x, documents, k, rng))
        if scores[-1] >= bound:
            return k - 1, tuple(scores)
    return len(scores) + 1, tuple(scores)


def threshold(contexts: int) -> float:
    """The overlap below which groups of so many contexts are senses.

    Chosen on words with a single sense in WordNet. Of such words that had no part in it, one in seven or eight stays
    below (docs/senses.md).
    """
    return 0.35 + 9 / max(contexts, LEAST)


def group_overlap(x: Doubles, documents: Longs, k: int, rng: np.random.Generator) -> float:
    """How alike the two most alike of k groups are, by contexts that had no part in finding the groups.

    Groups are found in one half of the documents and contexts of the other half are put into them. There, the cosine of
    two groups' means, without what noise adds to lengths, says how much the groups have in common: all that is left of
    a word if its uses differ by topic only, and little if it means different things. 1 for a group that has hardly any
    contexts in the other half; averaged over both halves and several ways to halve.

    >>> rng = np.random.default_rng(0)
    >>> noise, means = rng.normal(size=(300, 8)), np.eye(8)[:2] * 6
    >>> alike = noise + means[0]
    >>> different = noise + np.repeat(means, 150, axis=0)
    >>> [group_overlap(x, np.arange(300), 2, rng) < 0.5 for x in (alike, different)]
    [False, True]
    """
    names, inverse = np.unique(documents, return_inverse=True)
    overlaps = []
    for _ in range(SPLITS):
        half = (rng.permutation(len(names)) % 2 == 0)[inverse]
        for inside in (half, ~half):
            if inside.sum() < 2 * k or (~inside).sum() < 2 * k:
                return 1.0
            center, axes = _axes(x[inside])
            mixture = fit_mixture((x[inside] - center) @ axes, k, rng, restarts=2)
            labels = mixture.log_densities((x[~inside] - center) @ axes).argmax(axis=1)
            overlaps.append(_largest_cosine(x[~inside], labels, k))
    return float(np.mean(overlaps))


def group(x: Doubles, telling: npt.NDArray[np.bool_], k: int, rng: np.random.Generator) -> tuple[Longs, Doubles]:
    """(the group of each context, the largest group being 0, the squared distance to its centre): found by those
    contexts that are `telling`, or by all if there are too few of these."""
    found_by = x[telling] if telling.sum() >= max(LEAST, 2 * k) else x
    center, axes = _axes(found_by)
    mixture = fit_mixture((found_by - center) @ axes, k, rng)
    y = (x - center) @ axes
    labels = mixture.log_densities(y).argmax(axis=1)
    sizes = np.bincount(labels, minlength=k)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(k, dtype=np.int64)
    rank[order] = np.arange(k)
    return rank[labels], squared_distances(y, mixture.centers)[np.arange(len(y)), labels]


def _axes(x: Doubles) -> tuple[Doubles, Doubles]:
    """(the mean, the directions in which points differ most, as columns)."""
    return x.mean(axis=0), top_components(x, min(AXES, x.shape[1], max(1, len(x) // 4))).T


def _largest_cosine(x: Doubles, labels: Longs, k: int) -> float:
    """Of the cosines of groups' means, lengths without noise, the largest; 1 if a group has hardly any points."""
    sizes = np.bincount(labels, minlength=k)
    if sizes.min() < SMALLEST:
        return 1.0
    members = np.eye(k)[labels]
    means = members.T @ x / sizes[:, None]
    squares = np.sum(means**2, axis=1)
    noise = (members.T @ np.sum(x**2, axis=1) / sizes - squares) / (sizes - 1)
    lengths = np.sqrt(np.maximum(squares - noise, 1e-3 * squares.max()))
    cosines = means @ means.T / np.outer(lengths, lengths)
    return float(np.clip(cosines[~np.eye(k, dtype=np.bool_)].max(), -1, 1))


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
