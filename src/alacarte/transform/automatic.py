"""`weighting="auto"`: how much a word counts in the regression, chosen for words that are embedded from few contexts.

The mean u of a word's c contexts has noise in proportion to 1 / c, so v − A u has a variance σ² + s / c, and least
squares gives the word the weight c / (c + k), k = s / σ². Which k is best depends on what the matrix is for: here, on
words that are embedded from 1 to 128 contexts. Words that occur so often in the text are a sample of them, and their
sums are there: k is the one with the largest cosine of A u with v over such words, held out, each doubling of the
count counting alike. All candidates come from one set of normal equations, by the doubling of the count.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte._io.draw import evenly_over_octaves
from alacarte.contexts.sums import ContextSums
from alacarte.transform.solve import Solve
from alacarte.vectors.geometry import cosines
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

HALVES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0)
MOST = 256  # occurrences below which a word is one that is embedded from few contexts
WORDS = 20_000  # that take part in the choice, evenly from each doubling of the count
FOLDS = 3
LEAST_WORDS = 10  # a dimension
THRESHOLD = 1000  # the paper's, which the choice is compared with
JITTER = 1e-9  # of the mean eigenvalue, so that few words can be solved for


@dataclass(frozen=True)
class Choice:
    """The weight count / (count + `half`), and the mean cosine of words held out that occur up to 255 times."""

    half: float
    cosine: float
    threshold_cosine: float | None  # with the paper's threshold, where enough words are that frequent

    @property
    def reason(self) -> str:
        """What was chosen by and what it gained, for a report."""
        gained = f"cosine of held-out words that occur 1 to {MOST - 1} times: {self.cosine:.3f}"
        if self.threshold_cosine is None:
            return gained
        return f"{gained}, with count ≥ {THRESHOLD} {self.threshold_cosine:.3f}"


def choose(sums: ContextSums, vectors: WordVectors, rows: tuple[Rows, Rows], solve: Solve) -> Choice | None:
    """The best weight for words that are embedded from few contexts; None where there are too few words to tell.

    `rows`: which rows of the sums, and of the vectors, may take part.
    """
    counts = sums.occurrences[rows[0]]
    size = np.bincount(_octaves(counts))
    rng = np.random.default_rng(0)
    drawn = evenly_over_octaves(counts, WORDS, rng)
    counts = counts[drawn]
    if len(counts) < LEAST_WORDS * (vectors.dimension + solve.intercept) or not (counts < MOST).any():
        return None
    octave = _octaves(counts)
    fold = rng.permutation(len(drawn)) % FOLDS
    u, v = sums.means(rows[0][drawn]), vectors.matrix[rows[1][drawn]].astype(np.float64)
    share = size / np.maximum(np.bincount(octave, minlength=len(size)), 1)
    gram, cross = _by_octave_and_fold(u, v, octave, fold, share)
    few = np.flatnonzero(counts < MOST)
    present = np.unique(octave[few])

    def held_out_cosine(weights: Doubles) -> float:
        """The mean over doublings of the count of the mean cosine, with these weights by octave."""
        reached = np.empty(len(few))
        for number in range(FOLDS):
            others = np.arange(FOLDS) != number
            matrix = _solved(
                np.tensordot(weights, gram[:, others].sum(axis=1), 1),
                np.tensordot(weights, cross[:, others].sum(axis=1), 1),
            )
            inside = fold[few] == number
            reached[inside] = cosines(u[few[inside]] @ matrix.T, v[few[inside]])
        return float(np.mean([reached[octave[few] == one].mean() for one in present]))

    middle = 2.0 ** (np.arange(len(size)) + 0.5)
    reached = {half: held_out_cosine(middle / (middle + half)) for half in HALVES}
    half = max(reached, key=lambda one: reached[one])
    frequent = (2 ** np.arange(len(size)) >= THRESHOLD).astype(np.float64)
    enough = float(size @ frequent) >= LEAST_WORDS * vectors.dimension
    return Choice(half, reached[half], held_out_cosine(frequent) if enough else None)


def _octaves(counts: Longs) -> Longs:
    return np.log2(np.maximum(counts, 1)).astype(np.int64)


def _by_octave_and_fold(u: Doubles, v: Doubles, octave: Longs, fold: Longs, share: Doubles) -> tuple[Doubles, Doubles]:
    """Σ u uᵀ and Σ v uᵀ over the words of each octave and fold, scaled to all words of the octave."""
    d = u.shape[1]
    gram, cross = np.zeros((len(share), FOLDS, d, d)), np.zeros((len(share), FOLDS, d, d))
    for o in range(len(share)):
        for f in range(FOLDS):
            here = (octave == o) & (fold == f)
            gram[o, f], cross[o, f] = share[o] * u[here].T @ u[here], share[o] * v[here].T @ u[here]
    return gram, cross


def _solved(gram: Doubles, cross: Doubles) -> Doubles:
    from scipy import linalg

    steady = gram + JITTER * max(float(np.trace(gram)), 1e-300) / len(gram) * np.eye(len(gram))
    return np.asarray(linalg.solve(steady, cross.T, assume_a="pos").T)
