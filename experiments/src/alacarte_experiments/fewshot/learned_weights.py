"""Context weights learned from text: how much a context word counts by frequency, distance and side.

    u = Σ over context words c of f(frequency of c) · g(distance, side) · v_c

f and g are step functions. Few-shot learning is simulated on known words: u from a few sampled contexts of a word
should lead to its vector, A u ≈ v. Given the weights, A is a least squares solution; given A and one of the functions,
so is the other, with a penalty that pulls it to where it started and no value below 0. The steps are taken in turn.
Each function has 1 as its largest value (the scale is A's). The start is SIF; uniform weights, SIF and weights that
fall with distance are special cases. At the end words that took no part decide: if they are not predicted better than
with SIF, SIF is kept, and the result says so.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from alacarte import ContextSums, WordVectors
from alacarte.contexts.weights import ContextWeights, sif, with_digest
from alacarte.contexts.word_counts import word_counts
from alacarte.errors import AlacarteError, NotEnoughData
from alacarte.passes.work import WorkOptions
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike
from alacarte.vectors.geometry import cosines, top_components, unit_rows
from alacarte_experiments.fewshot.sampled_windows import SampledWindows, sample_windows

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]
PER_DECADE = 3  # bins of frequency
LEAST = 20  # occurrences of a word that is learned from
HELD_OUT = 5  # each fifth word
RIDGE = 1e-3  # on A, of the mean of the diagonal
SIF = 1e-3
FUNCTIONS = ("distance", "frequency")


@dataclass(frozen=True)
class Learning:
    """How context weights are learned.

    `words` and `contexts` say how much is sampled: the number of words and of contexts of each, by the random `seed`.
    `functions` are those that are learned, in `rounds` rounds; the others stay as they start. `penalty` is how
    strongly they are held there, in units of what the data say about an average bin.
    """

    functions: Collection[str] = FUNCTIONS
    words: int = 8000
    contexts: int = 4
    rounds: int = 4
    penalty: float = 1e-2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.contexts < 1 or self.rounds < 1 or self.penalty < 0 or not set(self.functions) <= set(FUNCTIONS):
            raise AlacarteError(
                f"contexts and rounds are at least 1, the penalty is not negative, and functions are out of "
                f"{', '.join(FUNCTIONS)}"
            )


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """What was learned: `weights` and `positions` are what `collect` and `ALaCarte.fit` take."""

    weights: ContextWeights
    positions: str
    by_frequency: list[tuple[float, float, int]]  # (least share of the text, weight, words)
    left: Doubles  # by distance 1, 2, …
    right: Doubles
    held_out: dict[str, float]  # mean cosine with the vectors of held-out words, for each kind of weights
    learned: bool  # False: SIF was no worse, and is kept
    words: int
    contexts: int
    rounds: list[float]  # held-out cosine after each

    def rows(self) -> list[tuple[str, str, float]]:
        """(what, value of it, weight) of everything that was learned."""
        rows = [("frequency", f"{share:.2g}", weight) for share, weight, _ in self.by_frequency]
        for side, values in (("left", self.left), ("right", self.right)):
            rows += [(side, str(distance), float(weight)) for distance, weight in enumerate(values, start=1)]
        return rows

    def __str__(self) -> str:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in self.held_out.items())
        verdict = "kept" if self.learned else "not better than SIF, which is kept"
        return f"learned context weights: {verdict}; cosine with held-out words from {self.contexts} contexts: {scores}"


def learn_weights(
    vectors: WordVectors,
    corpus: CorpusLike,
    sums: ContextSums,
    *,
    tokenizer: TokenizerLike | None = None,
    learning: Learning | None = None,
    **work: Unpack[WorkOptions],
) -> LearnedWeights:
    """Learn context weights from a corpus whose `sums` over the whole vocabulary are at hand (best: SIF-weighted ones).

    `work` says how the text is read (`threads`, `show_progress`, …: `Work`).
    """
    learning = learning or Learning()
    sample = sample_windows(
        vectors,
        corpus,
        word_counts(sums, vectors),
        sums.settings,
        words=learning.words,
        contexts=learning.contexts,
        least=LEAST,
        tokenizer=tokenizer,
        seed=learning.seed,
        **work,
    )
    return learn_weights_from_sample(vectors, sums, sample, learning)


def learn_weights_from_sample(
    vectors: WordVectors, sums: ContextSums, sample: SampledWindows, learning: Learning | None = None
) -> LearnedWeights:
    """The same from contexts that were sampled before; of `learning`, what says how they are sampled has no effect."""
    learning = learning or Learning()
    if len(sample.rows) < 4 * vectors.dimension:
        raise NotEnoughData(
            f"{len(sample.rows):,} words occur {LEAST} times or more, too few to learn weights for "
            f"{vectors.dimension} dimensions; give more text, or use sif"
        )
    counts = word_counts(sums, vectors)
    share = counts / counts.sum()
    bins = _bins(np.log10(np.maximum(share, share[share > 0].min())) * PER_DECADE)
    smooth = sif(counts, SIF)
    assert smooth.values is not None
    problem = FewShot(vectors, sample)
    start = [np.ones(sample.windows.shape[2]), _means(smooth.values, bins)]
    values, history = _alternate(problem, start, bins, learning)
    by_word, by_place = _split(values, bins)
    left, right = by_place[: sample.left], by_place[sample.left :]
    scores = {**_scores_of_fixed_weights(problem, smooth.values, (len(left), len(right))), "learned": history[-1]}
    learned = scores["learned"] > scores["sif"]
    weights = with_digest("learned", by_word.astype(np.float32)) if learned else smooth
    return LearnedWeights(
        weights.for_vectors(vectors),
        written_positions(left, right) if learned else "uniform",
        _table(share, bins, values[1]),
        left,
        right,
        scores,
        learned,
        len(sample.rows),
        sample.contexts,
        history,
    )


def _alternate(
    problem: "FewShot", start: list[Doubles], bins: Longs, learning: Learning
) -> tuple[list[Doubles], list[float]]:
    """(the functions after all rounds, the score on held-out words after each): A and the functions in turn."""
    values = [function.copy() for function in start]
    history: list[float] = []
    for _ in range(learning.rounds):
        matrix = problem.matrix(*_split(values, bins))[0]
        for which, name in enumerate(FUNCTIONS):
            if name in learning.functions:
                values[which] = _improved(problem, matrix, values, bins, which, start[which], learning.penalty)
        history.append(problem.held_out(*_split(values, bins)))
    return values, history


def _scores_of_fixed_weights(problem: "FewShot", smooth: Singles, sides: tuple[int, int]) -> dict[str, float]:
    """The score on held-out words of weights that are not learned, by name."""
    distance = np.concatenate([np.arange(1, side + 1) for side in sides])
    same, by_word = np.ones(len(distance)), smooth.astype(np.float64)
    return {
        "uniform": problem.held_out(np.ones(len(by_word)), same),
        "sif": problem.held_out(by_word, same),
        "sif, linear": problem.held_out(by_word, distance.max() + 1.0 - distance),
        "sif, inverse": problem.held_out(by_word, 1 / distance),
    }


class FewShot:
    """The regression behind it: sampled contexts as a sparse matrix, vectors as unit targets, some words held out."""

    def __init__(self, vectors: WordVectors, sample: SampledWindows) -> None:
        self.contexts = sample.contexts
        words, contexts, width = sample.windows.shape
        flat = sample.windows.reshape(-1)
        known = np.flatnonzero(flat >= 0)
        self.owner = known // (contexts * width)
        self.place = known % width
        self.used, self.token = np.unique(flat[known], return_inverse=True)  # only words that occur in the sample
        self.matrix_of_used = vectors.matrix[self.used]
        # Without the mean and the first component of the vectors, which all of them share.
        centred = vectors.matrix[sample.rows] - vectors.matrix.mean(axis=0, dtype=np.float64)
        common = top_components(vectors.matrix, 1)
        self.target = unit_rows(centred - centred @ common.T @ common)
        self.words = words
        self.held = np.random.default_rng(0).permutation(words) % HELD_OUT == 0

    def grouped(self, group: Longs, groups: int, scale: Doubles) -> Singles:
        """Σ scale · v over the context words of each word and group: (words, groups, dimensions)."""
        from scipy import sparse

        shape = (self.words * groups, len(self.used))
        counts = sparse.csr_matrix((scale.astype(np.float32), (self.owner * groups + group, self.token)), shape=shape)
        summed = counts @ self.matrix_of_used / np.float32(self.contexts)
        result: Singles = summed.reshape(self.words, groups, -1)
        return result

    def scale(self, by_word: Doubles, by_place: Doubles) -> Doubles:
        result: Doubles = by_word[self.used][self.token] * by_place[self.place]
        return result

    def matrix(self, by_word: Doubles, by_place: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """(A, u of all words less the mean, the targets less theirs) by least squares on the words not held out."""
        from scipy import linalg

        u = self.grouped(np.zeros(len(self.token), dtype=np.int64), 1, self.scale(by_word, by_place))[:, 0]
        rest = ~self.held
        centred = (u - u[rest].mean(axis=0)).astype(np.float64)
        target = self.target - self.target[rest].mean(axis=0)
        gram = centred[rest].T @ centred[rest]
        gram += RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
        return linalg.solve(gram, centred[rest].T @ target[rest], assume_a="pos").T, centred, target

    def held_out(self, by_word: Doubles, by_place: Doubles) -> float:
        """The mean cosine of A u with the target over the words held out."""
        matrix, u, target = self.matrix(by_word, by_place)
        return float(cosines(u[self.held] @ matrix.T, target[self.held]).mean())

    def equations(self, matrix: Doubles, group: Longs, groups: int, scale: Doubles) -> tuple[Doubles, Doubles]:
        """(G, h) of the normal equations G f = h for a weight f of each group, given A and all other weights."""
        rest = ~self.held
        parts = self.grouped(group, groups, scale)[rest]
        parts -= parts.mean(axis=0)
        target = (self.target[rest] - self.target[rest].mean(axis=0)).astype(np.float32)
        moved = parts.reshape(-1, parts.shape[2]) @ matrix.T.astype(np.float32)
        moved = moved.reshape(parts.shape[0], groups, -1)
        across = np.ascontiguousarray(moved.transpose(1, 0, 2)).reshape(groups, -1).astype(np.float64)
        return across @ across.T, across @ target.reshape(-1)


def _improved(
    problem: FewShot,
    matrix: Doubles,
    functions: list[Doubles],
    bins: Longs,
    which: int,
    start: Doubles,
    penalty: float,
) -> Doubles:
    """One function anew, by non-negative least squares with a pull to its start; the largest value is 1."""
    by_word, by_place = _split(functions, bins, without=which)
    group = problem.place if which == 0 else bins[problem.used][problem.token]
    gram, right = problem.equations(matrix, group, len(start), problem.scale(by_word, by_place))
    current = functions[which]
    scale = float(current @ start / (start @ start))  # the start, at the scale that A has now
    return solve_step(gram, right, scale * start, penalty * float(np.trace(gram)) / len(gram))


def solve_step(gram: Doubles, right: Doubles, toward: Doubles, penalty: float) -> Doubles:
    """argmin over f ≥ 0 of fᵀ G f − 2 hᵀ f + λ ‖f − f₀‖², scaled so that its largest value is 1.

    >>> solve_step(np.eye(2), np.array([1.0, -1.0]), np.array([1.0, 1.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    from scipy import linalg, optimize

    ridge = penalty + 1e-12 * float(np.trace(gram))
    factor = linalg.cholesky(gram + ridge * np.eye(len(gram)))
    wanted = linalg.solve_triangular(factor, right + ridge * toward, trans="T")
    solution: Doubles = optimize.nnls(factor, wanted)[0]
    best: Doubles = solution if solution.max() > 0 else toward
    return np.asarray(best / best.max())


def written_positions(left: Doubles, right: Doubles) -> str:
    """Weights by distance as `collect` takes them for `positions`.

    >>> written_positions(np.array([1.0, 0.5]), np.array([0.8]))
    '1,0.5/0.8'
    """
    return "/".join(",".join(f"{weight:.4g}" for weight in side) for side in (left, right))


def _split(functions: list[Doubles], bins: Longs, without: int | None = None) -> tuple[Doubles, Doubles]:
    """(weight of each word, weight of each place); `without` leaves one function out."""
    by_place = np.ones_like(functions[0]) if without == 0 else functions[0]
    by_word = np.ones(len(bins)) if without == 1 else functions[1][bins]
    return by_word, by_place


def _bins(values: Doubles) -> Longs:
    """Bins of width 1, numbered from 0.

    >>> _bins(np.array([0.1, 0.2, 1.5, 3.9])).tolist()
    [0, 0, 1, 3]
    """
    whole = np.floor(values).astype(np.int64)
    return np.asarray(whole - whole.min())


def _means(values: Singles, group: Longs) -> Doubles:
    return np.asarray(
        np.bincount(group, weights=values.astype(np.float64)) / np.maximum(np.bincount(group), 1), dtype=np.float64
    ).clip(1e-6)


def _table(values: Doubles, group: Longs, weights: Doubles) -> list[tuple[float, float, int]]:
    """(least value, weight, words) of each bin that holds any."""
    sizes = np.bincount(group, minlength=len(weights))
    least = np.full(len(weights), np.inf)
    np.minimum.at(least, group, values)
    return [(float(least[i]), float(weights[i]), int(sizes[i])) for i in np.flatnonzero(sizes)]
