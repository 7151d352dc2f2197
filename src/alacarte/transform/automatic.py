"""`weighting="auto"`: from how many occurrences on a word is learned from, chosen for words of few contexts.

The threshold τ is the one with the largest cosine of A u with v over words held out that are embedded from n = 1, 2,
4 … 128 contexts: at each n, words that occur n to 8 n times, as words of which so few contexts are known are rare.
Their means are known from all c of their contexts, and what fewer would give follows in closed form:

    cos ≈ v · A u / (|v| √(|A u|² + (1/n − 1/c) tr A Σ Aᵀ))

Σ, the covariance of single contexts about their word's mean, is in the sums too: E[u uᵀ] = B + Σ / c over the words
that occur c times. All thresholds are solved from one set of normal equations, by the doubling of the count.
"""

from dataclasses import dataclass

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Rows
from alacarte._io.draw import evenly_over_octaves
from alacarte.contexts.sums import ContextSums
from alacarte.transform.solve import Solve
from alacarte.vectors.word_vectors import WordVectors

CONTEXTS = (1, 2, 4, 8, 16, 32, 64, 128)
RARER = 8  # times as many occurrences as contexts, at most: words that are about as rare
NOISY = 64  # occurrences below which words tell what the noise of contexts is
DRAWN_WORDS = 20_000  # that take part in the choice, evenly from each doubling of the count
FOLDS = 3
LEAST_WORDS_PER_DIMENSION = 10  # a dimension
PAPER_THRESHOLD = 1024  # about the paper's threshold, which the choice is compared with
JITTER = 1e-9  # of the mean eigenvalue, so that few words can be solved for


@dataclass(frozen=True)
class Choice:
    """A threshold, and the mean cosine expected of words held out, from 1 to 128 contexts."""

    threshold: int
    cosine: float
    others: tuple[tuple[int, float], ...]  # thresholds that it is compared with, and theirs: all words, the paper's

    @property
    def reason(self) -> str:
        """What was chosen by and what it gained, for a report."""
        gained = f"cosine of held-out words from 1 to {CONTEXTS[-1]} contexts: {self.cosine:.3f}"
        return gained + "".join(f", with count ≥ {least} {cosine:.3f}" for least, cosine in self.others)


def choose(sums: ContextSums, vectors: WordVectors, rows: tuple[Rows, Rows], solve: Solve) -> Choice | None:
    """Return the best threshold for words of few contexts; None where there are too few words to tell.

    `rows`: which rows of the sums, and of the vectors, may take part.
    """
    counts = sums.occurrences[rows[0]]
    needed = LEAST_WORDS_PER_DIMENSION * (vectors.dimension + solve.intercept)
    size = np.bincount(_octaves(counts))
    rng = np.random.default_rng(0)
    drawn = evenly_over_octaves(counts, DRAWN_WORDS, rng)
    counts = counts[drawn]
    few = np.flatnonzero(counts < RARER * CONTEXTS[-1])
    if size.sum() < needed or not len(few):
        return None
    octave = _octaves(counts)
    fold = rng.permutation(len(drawn)) % FOLDS
    u, v = sums.means(rows[0][drawn]), vectors.matrix[rows[1][drawn]].astype(np.float64)
    share = size / np.maximum(np.bincount(octave, minlength=len(size)), 1)
    gram, cross = _by_octave_and_fold(u, v, octave, fold, share)
    spread = _noise(u, counts, share[octave])

    def held_out_cosine(least: int) -> float:
        """Return the mean over numbers of contexts of the mean cosine, learning from octaves from `least` on."""
        reached = np.empty((len(few), len(CONTEXTS)))
        for number in range(FOLDS):
            others = np.arange(FOLDS) != number
            matrix = _solved(gram[least:, others].sum(axis=(0, 1)), cross[least:, others].sum(axis=(0, 1)))
            inside = fold[few] == number
            chosen = few[inside]
            reached[inside] = _expected_cosines(matrix, u[chosen], v[chosen], counts[chosen], spread)
        known = ~np.isnan(reached).all(axis=0)
        return float(np.nanmean(reached[:, known], axis=0).mean())

    enough = [least for least in range(len(size)) if size[least:].sum() >= needed]
    cosines = {least: held_out_cosine(least) for least in enough}
    best = max(cosines, key=lambda least: cosines[least])
    compared = {0, min(max(cosines), round(np.log2(PAPER_THRESHOLD)))} & cosines.keys() - {best}
    return Choice(2**best, cosines[best], tuple((2**least, cosines[least]) for least in sorted(compared)))


def _octaves(counts: Longs) -> Longs:
    return np.log2(np.maximum(counts, 1)).astype(np.int64)


def _by_octave_and_fold(u: Doubles, v: Doubles, octave: Longs, fold: Longs, share: Doubles) -> tuple[Doubles, Doubles]:
    """Return σ u uᵀ and Σ v uᵀ over the words of each octave and fold, scaled to all words of the octave."""
    d = u.shape[1]
    gram, cross = np.zeros((len(share), FOLDS, d, d)), np.zeros((len(share), FOLDS, d, d))
    for o in range(len(share)):
        for f in range(FOLDS):
            here = (octave == o) & (fold == f)
            gram[o, f], cross[o, f] = share[o] * u[here].T @ u[here], share[o] * v[here].T @ u[here]
    return gram, cross


def _noise(u: Doubles, counts: Longs, weights: Doubles) -> Doubles:
    """Return Σ, the covariance of single contexts about a word's mean: the slope of u uᵀ in 1 / c over rare words.

    >>> rng = np.random.default_rng(0)
    >>> counts = rng.integers(1, 9, 40_000)
    >>> u = rng.normal(size=(40_000, 2)) * [1, 2] + rng.normal(size=(40_000, 2)) * [3, 1] / np.sqrt(counts)[:, None]
    >>> [round(float(value)) for value in np.diag(_noise(u, counts, np.ones(40_000)))]
    [9, 1]
    """
    rare = counts < NOISY
    if len(np.unique(counts[rare])) < 2:
        return np.zeros((u.shape[1], u.shape[1]))
    inverse = 1 / counts[rare]
    deviation = weights[rare] * (inverse - np.average(inverse, weights=weights[rare]))
    return np.asarray((u[rare].T * deviation) @ u[rare] / (deviation @ inverse))


def _expected_cosines(matrix: Doubles, u: Doubles, v: Doubles, counts: Longs, spread: Doubles) -> Doubles:
    """Return (words, numbers of contexts); NaN where a word does not occur so often, or is not that rare."""
    induced = u @ matrix.T
    along = np.einsum("wd,wd->w", induced, v) / np.maximum(np.linalg.norm(v, axis=1), 1e-300)
    noise = max(float(np.sum(matrix @ spread * matrix)), 0.0)
    n, c = np.array(CONTEXTS), counts[:, None]
    squared = np.einsum("wd,wd->w", induced, induced)[:, None] + np.maximum(1 / n - 1 / c, 0.0) * noise
    return np.where((c >= n) & (c < RARER * n), along[:, None] / np.sqrt(np.maximum(squared, 1e-300)), np.nan)


def _solved(gram: Doubles, cross: Doubles) -> Doubles:
    steady = gram + JITTER * max(float(np.trace(gram)), 1e-300) / len(gram) * np.eye(len(gram))
    return np.asarray(np.linalg.solve(steady, cross.T).T, dtype=np.float64)
