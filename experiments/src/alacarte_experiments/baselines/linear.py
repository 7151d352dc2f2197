"""The linear baselines: a mean of context words under some weights, and an affine map that is computed, not learned.

A baseline is a small record of its parameters; `fit` and `from_sums` give an `ALaCarte` whose transform is
(A, b) = (P, −P m): subtract m, then project by P. So everything a model does (induce, embed, save, checks of what fits
what) they do too.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, ContextSums, Corpus, Transform, WordVectors, collect
from alacarte.contexts.reading import Averaging, Reading, window_sides
from alacarte.contexts.weights import UNIFORM, ContextWeights, resolve, sif
from alacarte.contexts.word_counts import word_counts
from alacarte.errors import BadSums, NotEnoughData
from alacarte.passes.collect import count_words
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.transform.probe import Probe
from alacarte.vectors.word_vectors import VectorsLike

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

BLOCK = 8192


def remove_top(gram: Doubles, components: int) -> Doubles:
    """The projection I − Σ cᵢ cᵢᵀ away from the top eigenvectors of a Gram matrix.

    >>> remove_top(np.diag([4.0, 1.0]), 1).round(3).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    if not 0 <= components < len(gram):
        raise NotEnoughData(f"{components} components cannot be removed from {len(gram)} dimensions; remove fewer")
    top = np.linalg.eigh(gram)[1][:, len(gram) - components :]
    projection: Doubles = np.eye(len(gram)) - top @ top.T
    return projection


def usual_components(dimension: int) -> int:
    """How many top components Mu & Viswanath remove: d / 100, at least one.

    >>> usual_components(50), usual_components(300)
    (1, 3)
    """
    return max(1, round(dimension / 100))


@dataclass(frozen=True)
class Baseline:
    """What the linear baselines share. Parameters are the fields; `fit` and `from_sums` give a model.

    `averaging` is how the model averages contexts; `needs` says what it must know of a corpus: nothing, how often
    words occur ("counts"), or the context sums of the whole vocabulary ("sums").
    """

    averaging: ClassVar[Averaging] = "context"
    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "nothing"

    @property
    def sums_weights(self) -> str:
        """The context weights that `from_sums` wants its sums to be collected with."""
        return "uniform"

    def fit(
        self,
        vectors: VectorsLike,
        corpus: CorpusLike | None = None,
        *,
        window: int | tuple[int, int] = 10,
        tokenizer: TokenizerLike = "words",
        show_progress: bool | None = None,
    ) -> ALaCarte:
        """A model for these vectors. The corpus is read only where something is counted or averaged in it."""
        source = WordVectors.of(vectors)
        left, right = window_sides(window)
        split = get_tokenizer(tokenizer)
        reading = Reading(left, right, self.averaging, tokenizer=split.name)
        if self.needs == "nothing":
            return self._model(source, reading, tokenizer)
        if corpus is None:
            raise NotEnoughData(f"{type(self).__name__} takes word frequencies from a corpus; pass one")
        text = Corpus.of(corpus)
        if self.needs == "counts":
            counts = count_words(source, text, split, show_progress=show_progress)
            return self._model(source, reading, tokenizer, counts)
        sums = collect(
            source,
            text,
            window=window,
            averaging=self.averaging,
            tokenizer=tokenizer,
            context_weights=self.sums_weights,
            show_progress=show_progress,
        )
        return self.from_sums(source, sums, tokenizer=tokenizer)

    def from_sums(self, vectors: VectorsLike, sums: ContextSums, *, tokenizer: TokenizerLike | None = None) -> ALaCarte:
        """The same from sums over the whole vocabulary: they know the counts, the window and the tokenizer."""
        source = WordVectors.of(vectors)
        if sums.fingerprint != source.fingerprint or sums.targets is not None:
            raise BadSums("a baseline is made from sums over the whole vocabulary of the same vectors; collect those")
        reading = replace(sums.settings, averaging=self.averaging)
        return self._model(source, reading, tokenizer, word_counts(sums, source), sums)

    def _model(
        self,
        vectors: WordVectors,
        reading: Reading,
        tokenizer: TokenizerLike | None,
        counts: Counts | None = None,
        sums: ContextSums | None = None,
    ) -> ALaCarte:
        weights = self._weights(vectors, counts)
        projection, mean = self._projection(vectors, sums)
        intercept = None if mean is None else -(projection @ mean)
        transform = Transform(
            projection.astype(np.float32),
            None if intercept is None else intercept.astype(np.float32),
            replace(reading, weights=weights.name),
            vectors.fingerprint,
            Probe.of(vectors),
            weights,
            name=type(self).__name__,
        )
        return ALaCarte(vectors, transform, tokenizer=tokenizer)

    def _weights(self, vectors: WordVectors, counts: Counts | None) -> ContextWeights:
        """The weight of each context word."""
        return UNIFORM

    def _projection(self, vectors: WordVectors, sums: ContextSums | None) -> tuple[Doubles, Doubles | None]:
        """(P, m): vectors become P (u − m); None for no m."""
        return np.eye(vectors.dimension), None


class Additive(Baseline):
    """The mean of the context's words, then the mean over contexts: the paper's equation 1.

    >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> Additive().fit(vectors).embed(["a x a", "x b"], target="x").tolist()
    [0.5, 0.5]
    """


class WithoutStopWords(Baseline):
    """`Additive` without English function words and punctuation (`weights.STOP_WORDS`).

    >>> vectors = WordVectors(["the", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> WithoutStopWords().fit(vectors).embed("the x the b", target="x").tolist()
    [0.0, 1.0]
    """

    def _weights(self, vectors: WordVectors, counts: Counts | None) -> ContextWeights:
        def count() -> Counts:
            raise AssertionError("stop words need no counts")

        return resolve("stopwords", vectors, count)


@dataclass(frozen=True)
class SIF(Baseline):
    """Context words weighted by a / (a + p(w)), summed for each context, then the mean over contexts.

    The original divides by the number of words of the context, which is (nearly) the same for all windows.

    >>> vectors = WordVectors(["the", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> SIF(a=0.25).fit(vectors, ["the the the b"]).embed("the x b", target="x").round(2).tolist()
    [0.25, 0.5]
    """

    averaging: ClassVar[Averaging] = "occurrence"
    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "counts"
    a: float = 1e-3

    def _weights(self, vectors: WordVectors, counts: Counts | None) -> ContextWeights:
        assert counts is not None
        return sif(counts, self.a)


@dataclass(frozen=True)
class AllButTheTop(Baseline):
    """All-but-the-top on the words: their mean and top `components` removed, then as `Additive`.

    `components=None` removes the usual number, d / 100; 0 removes the mean alone.

    >>> vectors = WordVectors(["a", "b", "c"], [[5.0, 1.0], [9.0, 1.0], [7.0, 4.0]])
    >>> AllButTheTop().fit(vectors).embed("a").round(3).tolist()
    [0.0, -1.0]
    >>> AllButTheTop(components=0).fit(vectors).embed("a").round(3).tolist()
    [-2.0, -1.0]
    """

    components: int | None = None

    def _projection(self, vectors: WordVectors, sums: ContextSums | None) -> tuple[Doubles, Doubles | None]:
        return _without_top(vectors.matrix, self.components)


@dataclass(frozen=True)
class SumsButTheTop(Baseline):
    """All-but-the-top on the sums: the mean and top components of u_w over words seen `min_count` times removed.

    u is the mean over all context words, pooled (`token`): its length does not depend on that of the context.
    """

    averaging: ClassVar[Averaging] = "token"
    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "sums"
    components: int | None = None
    min_count: int = 100

    def _projection(self, vectors: WordVectors, sums: ContextSums | None) -> tuple[Doubles, Doubles | None]:
        return _without_top(_frequent_means(sums, self.averaging, self.min_count, vectors.dimension), self.components)


@dataclass(frozen=True)
class SIFButTheTop(SIF):
    """`SIF`, with the top `components` of the sums removed (no mean is subtracted, as its authors have it)."""

    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "sums"
    components: int = 1
    min_count: int = 100

    @property
    def sums_weights(self) -> str:
        return f"sif:{self.a:g}"

    def _projection(self, vectors: WordVectors, sums: ContextSums | None) -> tuple[Doubles, Doubles | None]:
        if sums is not None and sums.settings.weights.partition("#")[0] != self.sums_weights:
            raise BadSums(
                f"SIFButTheTop takes its top component from SIF-weighted sums, and these have the weights "
                f"{sums.settings.weights!r}; collect them with context_weights={self.sums_weights!r}"
            )
        means = _frequent_means(sums, self.averaging, self.min_count, vectors.dimension)
        return remove_top(_moments(means)[1], self.components), None


def _without_top(rows: npt.NDArray[Any], components: int | None) -> tuple[Doubles, Doubles]:
    """(P, m): the mean of the rows, and the projection away from the top components of what is left without it."""
    mean, gram = _moments(rows)
    centred = gram - len(rows) * np.outer(mean, mean)
    return remove_top(centred, usual_components(rows.shape[1]) if components is None else components), mean


def _moments(rows: npt.NDArray[Any]) -> tuple[Doubles, Doubles]:
    """(mean, Gram matrix) of the rows in float64, a block at a time."""
    total, gram = np.zeros(rows.shape[1]), np.zeros((rows.shape[1], rows.shape[1]))
    for low in range(0, len(rows), BLOCK):
        block = rows[low : low + BLOCK].astype(np.float64)
        total += block.sum(axis=0)
        gram += block.T @ block
    return total / len(rows), gram


def _frequent_means(sums: ContextSums | None, averaging: Averaging, min_count: int, dimension: int) -> Doubles:
    assert sums is not None
    sums = sums.with_averaging(averaging)
    rows = sums.seen[sums.occurrences[sums.seen] >= min_count]
    if len(rows) <= dimension:
        raise NotEnoughData(
            f"{len(rows)} words occur {min_count} times or more, too few for {dimension} dimensions; give more "
            "text or a lower min_count"
        )
    return sums.means(rows)
