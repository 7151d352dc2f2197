"""Own-word retrieval with the register taken out, by a regression from words to contexts.

    python experiments/studies/register.py VECTORS PRIOR.sums TEXT [TEXT …] [--window 5]

Words of the vocabulary are treated as new: their contexts are averaged in TEXT, and the rank of each word's own vector
among the 30,000 most frequent ones is printed by number of uses, as mean reciprocal rank and median rank. PRIOR.sums
are sums over the whole vocabulary of some large text, as `alc fit --save-sums` writes them; the transform learned from
them is what is compared with ("transform").

The other way to compare ("register out") expects the average context u of a word v to be c + B (v - m), with noise
around it that has one part that differs between words and one that shrinks with the number of contexts. B, the two
centres and the noise are estimated from the words that TEXT shares with the vocabulary, the tested ones left out, and
from PRIOR.sums as if they were so many further words (SLOPE, NOISE, CENTRE): with little text the prior decides. Both
sides are then whitened by the noise of NOMINAL contexts, and likeness is the cosine there. Words that are near to
everything need no discount of their own: the regression is from words to contexts, not the other way round.

The constants were chosen on IMDB reviews, State of the Union speeches and Python's documentation, from 20,000 to two
million tokens each.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte import ContextSums, Transform, WordVectors, collect

Doubles = npt.NDArray[np.float64]
AMONG = 30_000
BANDS = ((1, 2), (2, 5), (5, 20), (20, 200), (200, 10**9))
PER_BAND = 400
FUNCTION_WORDS = 50  # first words of the vocabulary, which tell nothing
MOST = 100.0  # uses of a word that count
SLOPE, NOISE, CENTRE = 10_000.0, 1_000.0, 3_000.0  # uses, words and uses that the prior counts for
RIDGE = 0.02  # on the slope, toward the prior's, of the mean of the diagonal
NOMINAL = 20.0  # contexts
FLOOR = 0.1  # added to the noise in all directions, of its mean


@dataclass(frozen=True)
class Words:
    """Average contexts of words, their vectors, and how often they occur."""

    contexts: Doubles
    vectors: Doubles
    counts: Doubles

    @property
    def weights(self) -> Doubles:
        return np.minimum(self.counts, MOST)

    def centres(self) -> tuple[Doubles, Doubles]:
        mean = np.average
        return mean(self.contexts, axis=0, weights=self.weights), mean(self.vectors, axis=0, weights=self.weights)


@dataclass(frozen=True)
class Register:
    """What a text's contexts share, and how they follow from vectors."""

    context: Doubles
    word: Doubles
    slope: Doubles
    between: Doubles
    sampling: Doubles
    moment: Doubles

    def whiten(self, contexts: Doubles, vectors: Doubles) -> tuple[Doubles, Doubles]:
        noise = self.between + self.sampling / NOMINAL
        noise = noise + FLOOR * np.trace(noise) / len(noise) * np.eye(len(noise))
        root = np.linalg.inv(np.linalg.cholesky(noise))
        return (contexts - self.context) @ root.T, (vectors - self.word) @ self.slope.T @ root.T


def learn(words: Words, prior: Register | None = None) -> Register:
    total, (context, word) = words.weights.sum(), words.centres()
    if prior is not None:
        context = (total * context + CENTRE * prior.context) / (total + CENTRE)
        word = (total * word + CENTRE * prior.word) / (total + CENTRE)
    u, v, weights = words.contexts - context, words.vectors - word, words.weights[:, None]
    gram, cross = (weights * v).T @ v, (weights * v).T @ u
    penalty = RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    toward = np.zeros_like(gram)
    if prior is not None:
        penalty, toward = penalty + SLOPE * prior.moment, prior.slope
    slope = np.linalg.solve(gram + penalty, cross + penalty @ toward.T).T
    # Squared residuals regressed on 1 and 1/count.
    residuals, inverse, reliable = u - v @ slope.T, 1 / words.counts, np.minimum(words.counts, NOMINAL)
    design = np.array([[reliable.sum(), (reliable * inverse).sum()], [0, (reliable * inverse**2).sum()]])
    sides = [(residuals * (reliable * power)[:, None]).T @ residuals for power in (inverse**0, inverse)]
    for uses in (3.0, 100.0) if prior is not None else ():
        assert prior is not None
        weight = min(uses, NOMINAL) * NOISE / 2
        design += weight * np.array([[1, 1 / uses], [0, 1 / uses**2]])
        expected = prior.between + prior.sampling / uses
        sides = [side + weight * scale * expected for side, scale in zip(sides, (1.0, 1 / uses), strict=True)]
    design[1, 0] = design[0, 1]
    solved = np.linalg.inv(design)
    between, sampling = (positive(row[0] * sides[0] + row[1] * sides[1]) for row in solved)
    return Register(context, word, slope, between, sampling, gram / total)


def positive(matrix: Doubles) -> Doubles:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 1e-3 * values.max())) @ vectors.T)


def words_of(sums: ContextSums, vectors: WordVectors) -> tuple[npt.NDArray[np.intp], Words]:
    rows = sums.seen
    places = np.array([vectors.index(sums.keys[row]) for row in rows.tolist()])
    rows, places = rows[places < AMONG], places[places < AMONG]
    contexts = sums.vectors(rows) / sums.total_weights[rows, None]
    own = np.asarray(vectors.matrix[places], float)
    return places, Words(contexts, own, sums.occurrences[rows].astype(float))


def some(words: Words, rows: npt.ArrayLike) -> Words:
    return Words(words.contexts[rows], words.vectors[rows], words.counts[rows])


def unit(rows: Doubles) -> Doubles:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors")
    parser.add_argument("prior", help="sums over the whole vocabulary of a large text")
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--window", type=int, default=5)
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.vectors)
    vocabulary = np.asarray(vectors.matrix[:AMONG], float)
    sums = ContextSums.load(arguments.prior)
    transform = Transform.fit(sums, vectors).matrix.astype(float)
    places, words = words_of(sums, vectors)
    prior = learn(some(words, (places > FUNCTION_WORDS) & (words.counts >= 5)))
    for text in arguments.texts:
        sums = collect(vectors, text, window=arguments.window)
        places, words = words_of(sums, vectors)
        rng = np.random.default_rng(0)
        tested = []
        for low, high in BANDS:
            band = np.flatnonzero((words.counts >= low) & (words.counts < high) & (places > 300))
            tested.append(rng.permutation(band)[:PER_BAND])
        test = np.concatenate(tested)
        register = learn(some(words, np.setdiff1d(np.flatnonzero(places > FUNCTION_WORDS), test)), prior)
        given = words.contexts[test]
        print(f"{text}: {sums.tokens_read:,} tokens")
        for name, (left, right) in {
            "transform": (given @ transform.T, vocabulary),
            "register out": register.whiten(given, vocabulary),
        }.items():
            cosines = unit(left) @ unit(right).T
            own = cosines[np.arange(len(test)), places[test]]
            ranks = 1 + (cosines > own[:, None]).sum(axis=1)
            cells = []
            for low, high in BANDS:
                band = ranks[(words.counts[test] >= low) & (words.counts[test] < high)]
                if len(band) > 30:
                    error = np.std(1 / band) / np.sqrt(len(band))
                    cells.append(f"{low}+: {np.mean(1 / band):.3f} ±{error:.3f} ({np.median(band):.0f})")
            print(f"  {name:13}", "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
