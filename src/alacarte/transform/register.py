"""What all contexts of a text have in common, and vectors in which it no longer shows.

Contexts from one text look alike: reviews say *you, really, buy* around every word. So vectors that are computed from
them lie near the words of that kind of text, whatever they mean. Here the contexts of words that have a vector are
regressed on these vectors, u = c + B (v − m) + noise, and a vector is what the generalised least squares estimate of v
gives from u, on a scale on which the noise is the same in all directions:

    x = W^(−½) Bᵀ N⁻¹ (u − c)    beside    y = W^½ (v − m)    for words,    W = Bᵀ N⁻¹ B

N is the covariance of the noise. The cosine of x and y is the likeness that the library uses. Words that are near to
everything need no discount of their own, because the regression is from words to contexts.

A vector that users see is x + m/2, which is at home among the vectors of words as they are: other tools, which know
plain cosines only, find nearly the same neighbours. docs/meaning.md has the reasons, and what it is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles
from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte.contexts.shared_words import WordContexts, shared_rows
from alacarte.contexts.sums import ContextSums
from alacarte.errors import BadTransform
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

KIND, VERSION = "register", 1
MOST_USES = 100  # uses of a word that count; 30 to 300 do as well
# What a register counts for beside that of a text, where the size of a text is the geometric mean of its words and
# their uses: a text that repeats itself has few of the first, a short one of the second.
PRIOR = 10_000
PRIOR_CENTRE = 3_000  # the same for the centres, of which a text says more
LEAST_NOISE = 0.02  # added in all directions, of the mean noise
SHIFT = 0.5  # of the centre of words, added for plain cosines; .3 to .7 do nearly as well (benchmarks/own_words.py)
WORDS_PER_DIMENSION = 5  # at least, to learn from a text alone


@dataclass(frozen=True, eq=False)
class Register:
    """Means and covariances of the vectors of words and of their average contexts in a kind of text.

    Parameters
    ----------
    centre
        The mean vector, followed by the mean context.
    covariance
        The covariance matrix of both together.
    uses
        How many uses of words it comes from, a word with at most `MOST_USES` of them.
    between
        How far the mean contexts of several kinds of text lie apart, as a covariance.
    """

    centre: Doubles
    covariance: Doubles
    uses: float
    between: Doubles

    @classmethod
    def of_words(cls, words: WordContexts, vectors: WordVectors) -> "Register":
        """Return the register of words with a vector, from their contexts."""
        both = np.hstack([vectors.matrix[words.words].astype(np.float64), words.contexts])
        weights = np.minimum(words.counts, MOST_USES).astype(np.float64)
        uses, d = float(weights.sum()), vectors.dimension
        centre = weights @ both / uses
        both -= centre
        return cls(centre, (both * weights[:, None]).T @ both / uses, uses, np.zeros((d, d)))

    @classmethod
    def of_sums(cls, sums: ContextSums, vectors: WordVectors, least: int = 1) -> "Register | None":
        """Return the register of a text; None where too few words with a vector occur in it `least` times."""
        words = words_with_vectors(sums, vectors)
        if words is None:
            return None
        words = words.only(words.counts >= least)
        return cls.of_words(words, vectors) if len(words.words) >= WORDS_PER_DIMENSION * vectors.dimension else None

    @classmethod
    def mean(cls, registers: Sequence["Register"]) -> "Register":
        """Return the register of texts of no known kind, from those of several kinds."""
        centre = np.mean([register.centre for register in registers], axis=0)
        d = len(centre) // 2
        apart = np.array([register.centre[d:] - centre[d:] for register in registers])
        covariance = np.mean([register.covariance for register in registers], axis=0)
        return cls(centre, covariance, PRIOR, apart.T @ apart / len(registers))

    def of_text(self, words: WordContexts, vectors: WordVectors) -> "Register":
        """Return the register of a text, toward this one where the text has few words."""
        if not len(words.words):
            return self
        text = Register.of_words(words, vectors)
        size = float(np.sqrt(text.uses * len(words.words)))
        known, known_centre = size / (size + PRIOR), size / (size + PRIOR_CENTRE)
        return Register(
            known_centre * text.centre + (1 - known_centre) * self.centre,
            known * text.covariance + (1 - known) * self.covariance,
            text.uses,
            (1 - known_centre) * self.between,
        )

    @property
    def words(self) -> Doubles:
        """The mean vector of words."""
        return self.centre[: len(self.centre) // 2]

    @property
    def contexts(self) -> Doubles:
        """The mean context."""
        return self.centre[len(self.centre) // 2 :]

    @property
    def slope(self) -> Doubles:
        """What contexts change by with the vectors of words: B."""
        d = len(self.centre) // 2
        vectors = self.covariance[:d, :d]
        return np.asarray(np.linalg.solve(vectors + _some(vectors, 1e-9), self.covariance[d:, :d].T).T)

    def adaptation(self) -> "Adaptation":
        """Return what turns contexts and vectors into ones without this register."""
        d = len(self.centre) // 2
        words, contexts, slope = self.words, self.contexts, self.slope
        vectors, cross = self.covariance[:d, :d], self.covariance[d:, :d]
        noise = self.covariance[d:, d:] - slope @ cross.T + self.between
        inverse = np.linalg.inv(noise + _some(noise, LEAST_NOISE))
        values, axes = np.linalg.eigh(slope.T @ inverse @ slope)
        values = np.maximum(values, 1e-9 * values.max())
        matrix = (axes * values**-0.5) @ axes.T @ slope.T @ inverse
        # As long as the vectors of words are, on average.
        length = float(np.sqrt(np.trace(vectors) + words @ words))
        matrix *= length / np.sqrt(np.trace(matrix @ self.covariance[d:, d:] @ matrix.T))
        return Adaptation(matrix, -matrix @ contexts, (axes * values**0.5) @ axes.T, words, length, self.uses)

    @classmethod
    def adaptations(cls, registers: Sequence["Register"]) -> list["Adaptation"]:
        """Return what takes its own register out of each of some texts, on one scale, so that they can be compared.

        They differ in the intercept alone: in what contexts of the same word have in common in each text.
        """
        uses = np.array([register.uses for register in registers], dtype=np.float64)
        names = ("centre", "covariance", "between")
        parts = {
            name: np.average([getattr(register, name) for register in registers], axis=0, weights=uses)
            for name in names
        }
        both = cls(uses=float(uses.sum()), **parts)
        one, slope = both.adaptation(), both.slope
        own = [register.contexts + slope @ (both.words - register.words) for register in registers]
        return [replace(one, intercept=-one.matrix @ contexts) for contexts in own]

    def save(self, path: str | PathLike[str]) -> None:
        """Save the register as one file, in float32."""
        half = np.triu_indices(len(self.centre))
        d = len(self.centre) // 2
        tensors = {
            "centre": self.centre.astype(np.float32),
            "covariance": self.covariance[half].astype(np.float32),
            "between": self.between[np.triu_indices(d)].astype(np.float32),
        }
        write_artifact(path, KIND, tensors, {"uses": self.uses}, VERSION)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Register":
        """Load a register that `save` wrote."""
        return read_artifact(path, KIND, BadTransform, VERSION).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "Register":
        """Return the register in an artifact of ours."""
        centre = artifact.tensor("centre", np.float32, 1).astype(np.float64)
        covariance, between = (artifact.tensor(name, np.float32, 1) for name in ("covariance", "between"))
        n, d = len(centre), len(centre) // 2
        if n % 2 or len(covariance) != n * (n + 1) // 2 or len(between) != d * (d + 1) // 2:
            raise artifact.damaged("its parts do not belong together")
        if not all(np.isfinite(array).all() for array in (centre, covariance, between)):
            raise artifact.damaged("its numbers make no sense")
        return cls(centre, _symmetric(covariance, n), artifact.value("uses", float), _symmetric(between, d))


@dataclass(frozen=True, eq=False)
class Adaptation:
    """What turns average contexts into vectors without a register, and compares them with words.

    Parameters
    ----------
    matrix, intercept
        A context u is compared as x = `matrix` · u + `intercept`.
    root, centre
        The vector v of a word is compared as `root` · (v − `centre`).
    length
        The typical length of an x.
    uses
        How many uses of words the register comes from.
    """

    matrix: Doubles
    intercept: Doubles
    root: Doubles
    centre: Doubles
    length: float
    uses: float

    @property
    def shift(self) -> Doubles:
        """What is added to x to be at home among the vectors of words."""
        return SHIFT * self.centre

    def transform(self, plain: Transform, *, shifted: bool = True) -> Transform:
        """Return it as a transform for the contexts that `plain` is for: to vectors, or (not shifted) to x."""
        settings = plain.settings
        if settings is not None and settings.averaging == "occurrence":
            settings = replace(settings, averaging="token")
        intercept = self.intercept + self.shift if shifted else self.intercept
        return replace(
            plain, matrix=self.matrix.astype(np.float32), intercept=intercept.astype(np.float32), settings=settings
        )

    def compared(self, rows: npt.ArrayLike) -> Doubles:
        """Return the x of vectors that were computed with `transform`."""
        return np.asarray(np.asarray(rows, dtype=np.float64) - self.shift)

    def compared_words(self, matrix: npt.ArrayLike) -> Doubles:
        """Return what the vectors of words are compared as."""
        return np.asarray((np.asarray(matrix) - self.centre) @ self.root)

    def compared_forms(self, rows: npt.ArrayLike) -> Doubles:
        """Return what vectors from spelling, deviations from a mean, are compared as; their lengths stay."""
        forms = np.asarray(rows, dtype=np.float64)
        return np.asarray(unit_rows(forms @ self.root) * np.linalg.norm(forms, axis=1, keepdims=True))

    def words(self, vectors: WordVectors) -> WordVectors:
        """Return the same words with vectors whose cosine with an x is their likeness."""
        return vectors._mapped(self.centre.tobytes() + self.root.tobytes(), self.compared_words)


def words_with_vectors(sums: ContextSums, vectors: WordVectors) -> WordContexts | None:
    """Return the commonest words of the vectors that occur in a text, if the sums hold their contexts."""
    averaging = sums.settings.averaging
    if sums.shared is not None:
        return sums.shared.words_of(sums.scale, averaging)
    if sums.targets is not None:
        return None
    rows = sums.seen
    if len(sums) == len(vectors) and list(sums.keys) == list(vectors.words):
        words = rows
    else:
        words = np.array([vectors.key_to_index.get(sums.keys[row], -1) for row in rows.tolist()], dtype=np.intp)
    first, end = shared_rows(len(vectors))
    common = (words >= first) & (words < end)
    rows, words = rows[common], words[common]
    counts = np.column_stack([sums.occurrences[rows], sums.contexts[rows]])
    return WordContexts.of(words, sums.vectors(rows), sums.total_weights[rows], counts, averaging)


def _some(matrix: Doubles, share: float) -> Doubles:
    """Return a share of the mean of the diagonal, in all directions."""
    return np.asarray(share * np.trace(matrix) / len(matrix) * np.eye(len(matrix)))


def _symmetric(half: npt.NDArray[np.float32], size: int) -> Doubles:
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = half
    return np.asarray(matrix + np.triu(matrix, 1).T)


def describe(artifact: Artifact) -> dict[str, object]:
    """Return what is in a file with a register, for people."""
    register = Register.from_artifact(artifact)
    return {"dimension": len(register.centre) // 2, "uses_of_words": round(register.uses)}
