"""Several vectors for one word, without a dictionary: its contexts are grouped, and each group is embedded."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Unpack

import numpy as np
from scipy.optimize import linear_sum_assignment

from alacarte._io.arrays import Doubles, Longs, Mask, Singles
from alacarte._io.checks import whole_number
from alacarte._io.options import refuse_unknown
from alacarte._io.table import Columns, Table
from alacarte.model import ALaCarte
from alacarte.senses.mixture import fit_mixture, squared_distances
from alacarte.senses.occurrences import Occurrences, gather
from alacarte.senses.points import WORDS_AROUND, PointSpace
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.options import CorpusKeywords
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.geometry import top_components
from alacarte.vectors.word_vectors import WordVectors

MOST_GROUPS = 6  # that are tried
CONTEXTS_A_GROUP = 20  # contexts needed for each group that is tried
SMALLEST_GROUP = 3  # held-out contexts
AXES = 20  # along which contexts are grouped
FOLDS = 5  # parts of the documents, each held out once
KURTOSIS = 0.3  # weight of the logarithm of the kurtosis beside a cosine; chosen as `bound` was
SPLIT_BELOW, SPLIT_BY_NOISE, SPLIT_AGAIN_BELOW = 0.55, 2.0, 0.37  # see `bound`
MOST_TESTED = 1000  # contexts by which the number of groups is chosen
LIMIT = 5000  # contexts, chosen at random
NEAREST_AMONG = 50_000  # words of the vectors, in most files the most frequent, among which the nearest are looked for


@dataclass(frozen=True, eq=False)
class InducedSense:
    """One sense of a word: a group of its contexts.

    Parameters
    ----------
    name : str
        The word and a number, as in `bank#1`.
    share : float
        The share of the contexts that are in this group.
    contexts : int
        How many these are.
    vector : array
        The vector of the group.
    confidence : float
        The expected cosine of the vector with the one from many more contexts; NaN if all contexts are in one document.
    nearest : tuple of (str, float)
        The nearest words and their cosines.
    examples : tuple of str
        The most typical contexts.
    """

    name: str
    share: float
    contexts: int
    vector: Singles
    confidence: float
    nearest: tuple[tuple[str, float], ...]
    examples: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all but the vector, with values that JSON can hold."""
        return {
            "name": self.name,
            "share": self.share,
            "contexts": self.contexts,
            "confidence": None if math.isnan(self.confidence) else self.confidence,
            "nearest": [{"word": word, "cosine": cosine} for word, cosine in self.nearest],
            "examples": list(self.examples),
        }


@dataclass(frozen=True, eq=False, repr=False)
class InducedSenses(Table, Sequence[InducedSense]):
    """The senses of a word in a corpus, the most frequent first; as a table, one row per sense.

    Parameters
    ----------
    word : str
        The word.
    senses : tuple of InducedSense
        Its senses.
    scores : tuple of float
        The likeness of 2, 3, … groups, by which their number was chosen; empty if it was given.
    bounds : tuple of float
        The bound that each likeness had to be below.
    labels : array of int
        The sense of each occurrence.
    occurrences : Occurrences
        The contexts that were used.
    """

    word: str
    senses: tuple[InducedSense, ...]
    scores: tuple[float, ...]
    bounds: tuple[float, ...]
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
        """The vectors, keyed by word and number: `bank#1`, `bank#2`."""
        return WordVectors([sense.name for sense in self.senses], np.stack([sense.vector for sense in self.senses]))

    def columns(self) -> Columns:
        """Return the columns of the table."""
        return {
            "name": [sense.name for sense in self.senses],
            "share": [sense.share for sense in self.senses],
            "contexts": [sense.contexts for sense in self.senses],
            "confidence": [sense.confidence for sense in self.senses],
            "nearest": [" ".join(word for word, _ in sense.nearest) for sense in self.senses],
        }

    def to_dict(self) -> Any:
        """Return all but the vectors, with values that JSON can hold."""
        return {
            "word": self.word,
            "contexts": len(self.occurrences),
            "of": int(self.occurrences.counts.sum()),
            "scores": list(self.scores),
            "bounds": list(self.bounds),
            "senses": [sense.to_dict() for sense in self.senses],
        }


def induce_senses(
    model: ALaCarte,
    corpus: CorpusLike,
    word: str,
    k: int | Literal["auto"] = "auto",
    *,
    limit: int = LIMIT,
    nearest: int = 10,
    examples: int = 3,
    seed: int = 0,
    show_progress: bool | None = None,
    **options: Unpack[CorpusKeywords],
) -> InducedSenses:
    """Group the contexts of a word or phrase, and embed each group.

    Parameters
    ----------
    model : ALaCarte
        Word vectors and transform.
    corpus : Corpus, iterable of documents, or path
        Where the word occurs.
    word : str
        The word or phrase.
    k : int or "auto"
        How many groups. "auto": as many, up to six, as lie further apart than the uses of a word with one sense do.
    limit : int
        Use this many contexts at most, chosen at random.
    nearest, examples : int
        How many nearest words, and how many typical contexts, each sense has.
    seed : int
        For all that is random.
    show_progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    **options
        How a table is read: `text`, `tokens`, … (see `Corpus`).

    Raises
    ------
    NotEnoughData
        If there are too few contexts beside words with vectors.

    Examples
    --------
    >>> from alacarte import Transform, WordVectors
    >>> rng = np.random.default_rng(0)
    >>> rows = np.repeat(np.eye(4), 10, axis=0) + 0.3 * rng.normal(size=(40, 4))
    >>> vectors = WordVectors([f"w{i}" for i in range(40)], rows)
    >>> model = ALaCarte(vectors, Transform(np.eye(4)))
    >>> kinds = [vectors.words[:10], vectors.words[20:30]]  # "x" is among words of one kind or of another
    >>> text = [" ".join(["x", *rng.choice(kinds[i % 3 == 0], 8)]) for i in range(300)]
    >>> senses = induce_senses(model, text, "x")
    >>> [(sense.name, round(sense.share, 2)) for sense in senses]
    [('x#1', 0.67), ('x#2', 0.33)]
    """
    if k != "auto":
        k = whole_number(k, "a number of senses k, if it is not 'auto',", 1)
    examples = whole_number(examples, "examples")
    refuse_unknown(induce_senses, options, CorpusKeywords)
    source = Corpus(corpus, **options) if options else corpus
    occurrences = gather(
        model, source, [word], limit=limit, seed=seed, around=WORDS_AROUND, show_progress=show_progress
    )
    occurrences = occurrences.usable(CONTEXTS_A_GROUP if k == "auto" else max(2, k))
    rng = np.random.default_rng(seed)
    space = PointSpace.of(model.vectors, occurrences.word_counts)
    x, telling = space.points(occurrences.before, occurrences.after)
    scores: tuple[float, ...] = ()
    number = k
    if number == "auto":
        vectors = np.asarray(model.adapted(occurrences.means()[telling]), dtype=np.float64)
        number, scores = choose_number(x[telling], vectors, occurrences.documents[telling], rng)
    labels, typicality = group(x, telling, number, rng)
    senses = []
    for place in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == place)
        typical = members[np.lexsort((-typicality[members], ~telling[members]))][: 8 * examples]
        vector, confidence = _embedded(model, occurrences.select(members), word)
        senses.append(
            InducedSense(
                f"{word}#{place + 1}",
                len(members) / len(occurrences),
                len(members),
                vector,
                confidence,
                tuple(model.nearest(vector, nearest, among=NEAREST_AMONG, without=word)),
                _texts(occurrences, typical, (model.settings.left, model.settings.right))[:examples],
            )
        )
    tested = min(int(telling.sum()), MOST_TESTED)
    bounds = tuple(bound(groups, tested) for groups in range(2, 2 + len(scores)))
    return InducedSenses(word, tuple(senses), scores, bounds, labels, occurrences)


def _texts(occurrences: Occurrences, rows: Longs, window: tuple[int, int]) -> tuple[str, ...]:
    """Return the texts of some occurrences: the first of each document, without repeated ones."""
    rows = rows[np.sort(np.unique(occurrences.documents[rows], return_index=True)[1])]
    return tuple(dict.fromkeys(occurrences.text(row, window=window) for row in rows.tolist()))


def choose_number(
    x: Doubles, vectors: Doubles, documents: Longs, rng: np.random.Generator
) -> tuple[int, tuple[float, ...]]:
    """Return (the number of groups, the likeness of 2, 3, … groups).

    One group more is tried as long as the likeness is below the bound and there are enough contexts for each group.
    `vectors` has the vector that each context alone would give.
    """
    if len(x) > MOST_TESTED:
        chosen = rng.choice(len(x), MOST_TESTED, replace=False)
        x, vectors, documents = x[chosen], vectors[chosen], documents[chosen]
    scores: list[float] = []
    for k in range(2, min(MOST_GROUPS, len(x) // CONTEXTS_A_GROUP) + 1):
        scores.append(likeness(held_out_densities(x, documents, k, rng), vectors))
        if scores[-1] >= bound(k, len(x)):
            return k - 1, tuple(scores)
    return len(scores) + 1, tuple(scores)


def bound(k: int, contexts: int) -> float:
    """Return the likeness below which k groups of n contexts are senses.

    It was chosen on words with a single sense in WordNet, and on pairs of such words put together, so that about one
    word in twelve is split in two and one pair in a hundred in three. Few contexts fall apart more easily, so their
    bound is lower. docs/evidence/senses.md has the rates on other words.

    Examples
    --------
    >>> round(bound(2, 50), 3), round(bound(2, 1000), 3)
    (0.51, 0.548)
    """
    return SPLIT_BELOW - SPLIT_BY_NOISE / max(contexts, 1) if k == 2 else SPLIT_AGAIN_BELOW


def held_out_densities(x: Doubles, documents: Longs, k: int, rng: np.random.Generator) -> Doubles:
    """Return the log of share × density of k groups at each context, by a mixture fitted without its document.

    Documents are divided into `FOLDS` parts. The mixture for the contexts of one part is fitted to all others; its
    groups are matched to those of a mixture of all contexts, so that group 0 is the same in every part.
    """
    names, inverse = np.unique(documents, return_inverse=True)
    folds = (rng.permutation(len(names)) % FOLDS)[inverse]
    center, axes = _axes(x)
    centers = center + fit_mixture((x - center) @ axes, k, rng, restarts=2).centers @ axes.T
    logs = np.zeros((len(x), k))
    for fold in np.unique(folds).tolist():
        inside, held_out = x[folds != fold], folds == fold
        if len(inside) < 2 * k:
            continue
        center, axes = _axes(inside)
        mixture = fit_mixture((inside - center) @ axes, k, rng, restarts=2)
        of_all, here = linear_sum_assignment(squared_distances(centers, center + mixture.centers @ axes.T))
        logs[np.ix_(held_out, of_all)] = mixture.log_densities((x[held_out] - center) @ axes)[:, here]
    return logs


def likeness(logs: Doubles, vectors: Doubles) -> float:
    """Return how alike the two most alike groups are.

    This is the cosine of their vectors, with noise taken out of the lengths, plus `KURTOSIS` times the log kurtosis of
    the contexts along the line between them. The cosine is high if uses differ by topic only. The kurtosis is low if
    the contexts are in two heaps, and high if a few are far from all others. A group of fewer than `SMALLEST_GROUP`
    contexts has likeness 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise, means = rng.normal(size=(300, 8)), np.eye(8)[:2] * 6
    >>> alike = noise + means[0]
    >>> different = noise + np.repeat(means, 150, axis=0)
    >>> [likeness(held_out_densities(x, np.arange(300), 2, rng), x) < 0.7 for x in (alike, different)]
    [False, True]
    """
    k = logs.shape[1]
    labels = logs.argmax(axis=1)
    sizes = np.bincount(labels, minlength=k)
    if sizes.min() < SMALLEST_GROUP:
        return 2.0
    members = np.eye(k)[labels]
    means = members.T @ vectors / sizes[:, None]
    squares = np.sum(means**2, axis=1)
    noise = (members.T @ np.sum(vectors**2, axis=1) / sizes - squares) / (sizes - 1)
    lengths = np.sqrt(np.maximum(squares - noise, 1e-3 * squares.max()))
    cosines = np.clip(means @ means.T / np.outer(lengths, lengths), -1, 1)
    scores = []
    for one, other in combinations(range(k), 2):
        among = logs[(labels == one) | (labels == other)]
        odds = among[:, one] - among[:, other]
        deviations = odds - odds.mean()
        kurtosis = np.mean(deviations**4) / max(np.mean(deviations**2) ** 2, 1e-300)
        scores.append(cosines[one, other] + KURTOSIS * np.log(max(kurtosis, 1.0)))
    return float(max(scores))


def group(x: Doubles, telling: Mask, k: int, rng: np.random.Generator) -> tuple[Longs, Doubles]:
    """Return (the group of each context, how typical of its group it is); the largest group is 0.

    Groups are found by the contexts that are `telling`, or by all if there are too few of these. Typical contexts lie
    far out in the direction from the mean of all contexts to the mean of the group.
    """
    found_by = x[telling] if telling.sum() >= max(CONTEXTS_A_GROUP, 2 * k) else x
    center, axes = _axes(found_by)
    mixture = fit_mixture((found_by - center) @ axes, k, rng)
    labels = mixture.log_densities((x - center) @ axes).argmax(axis=1)
    order = np.argsort(-np.bincount(labels, minlength=k), kind="stable")
    labels = np.argsort(order)[labels]
    means = np.stack([x[labels == place].mean(axis=0) for place in range(int(labels.max()) + 1)])
    directions = means - center if len(means) > 1 else means
    return labels, np.einsum("cd,cd->c", x, directions[labels])


def _axes(x: Doubles) -> tuple[Doubles, Doubles]:
    """Return (the mean, the directions in which points differ most, as columns)."""
    return x.mean(axis=0), top_components(x, min(AXES, x.shape[1], max(1, len(x) // 4))).T


def _embedded(model: ALaCarte, occurrences: Occurrences, word: str) -> tuple[Singles, float]:
    """Return the vector of some occurrences of a word, and its confidence; NaN if all are in one document."""
    weights = occurrences.weights
    vector = model.adapted(occurrences.sums.sum(axis=0, dtype=np.float64) / weights.sum())
    documents, inverse = np.unique(occurrences.documents, return_inverse=True)
    if len(documents) < 2:
        return vector, float("nan")
    sums = np.zeros((len(documents), occurrences.sums.shape[1]))
    np.add.at(sums, inverse, occurrences.sums)
    by_document = np.bincount(inverse, weights=weights)
    uncertainty = Uncertainty.of_contexts(
        word, sums, by_document, model.compared, model.vocabulary, model.typical, len(occurrences)
    )
    return vector, float(uncertainty.confidence[0])
