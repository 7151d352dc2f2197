"""The linear baselines: a mean of context words under some weights, and an affine map that is computed, not learned.

Each is an `ALaCarte` whose transform is (A, b) = (P, −P m): subtract m, then project by P. So everything a model
does (induce, embed, save, checks of what fits what) they do too.
"""

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import ProgressCallback
from alacarte.contexts.reading import Averaging, Positions, Reading, window_sides
from alacarte.contexts.sums import ContextSums, count_words
from alacarte.contexts.weights import UNIFORM, ContextWeights, resolve, sif
from alacarte.errors import BadSums, NotEnoughData
from alacarte.model import ALaCarte
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.transform.probe import Probe
from alacarte.transform.transform import Transform
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

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


class Baseline(ALaCarte):
    """What the linear baselines share: how they are made from a corpus, or from sums over the whole vocabulary."""

    averaging: ClassVar[Averaging] = "context"
    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "nothing"

    @classmethod
    def fit(
        cls,
        vectors: VectorsLike,
        corpus: CorpusLike | None = None,
        *,
        window: int | tuple[int, int] = 10,
        positions: Positions = "uniform",
        tokenizer: TokenizerLike = "words",
        unknown: Literal["keep", "drop"] = "keep",
        threads: int | None = None,
        show_progress: bool | None = None,
        callback: ProgressCallback | None = None,
        **options: Any,
    ) -> Self:
        """A model for these vectors. The corpus is read only where something is counted or averaged in it."""
        source = WordVectors.of(vectors)
        left, right = window_sides(window)
        split = get_tokenizer(tokenizer)
        settings = Reading(left, right, cls.averaging, positions, "uniform", split.name, unknown)
        if cls.needs == "nothing":
            return cls._make(source, settings, None, None, tokenizer, **options)
        if corpus is None:
            raise NotEnoughData(f"{cls.__name__} takes word frequencies from a corpus; pass one")
        text = Corpus.of(corpus)
        if cls.needs == "counts":
            counts = count_words(source, text, split, show_progress=show_progress, callback=callback)
            return cls._make(source, settings, counts, None, tokenizer, **options)
        sums = ContextSums.collect(
            source, text, window=window, averaging=cls.averaging, positions=positions, tokenizer=tokenizer,
            context_weights=cls.sums_weights(**options), unknown=unknown, threads=threads,
            show_progress=show_progress, callback=callback,
        )  # fmt: skip
        return cls.from_sums(source, sums, tokenizer=tokenizer, **options)

    @classmethod
    def from_sums(
        cls, vectors: VectorsLike, sums: ContextSums, *, tokenizer: TokenizerLike | None = None, **options: Any
    ) -> Self:
        """The same from sums over the whole vocabulary: they know the counts, the window and the tokenizer."""
        source = WordVectors.of(vectors)
        if sums.fingerprint != source.fingerprint or sums.targets is not None:
            raise BadSums("a baseline is made from sums over the whole vocabulary of the same vectors; collect those")
        settings = replace(sums.settings, averaging=cls.averaging)
        return cls._make(source, settings, sums.occurrences, sums, tokenizer, **options)

    @classmethod
    def sums_weights(cls, **options: Any) -> object:
        """The context weights that `from_sums` wants its sums to have."""
        return None

    @classmethod
    def _make(
        cls,
        vectors: WordVectors,
        settings: Reading,
        counts: Counts | None,
        sums: ContextSums | None,
        tokenizer: TokenizerLike | None,
        **options: Any,
    ) -> Self:
        weights = cls._weights_for(vectors, counts, sums, **options)
        projection, mean = cls._projection(vectors, sums, **options)
        offset = None if mean is None else -(projection @ mean)
        transform = Transform(
            projection.astype(np.float32), None if offset is None else offset.astype(np.float32),
            replace(settings, weights=weights.name), vectors.fingerprint, Probe.of(vectors), weights,
            name=cls.__name__,
        )  # fmt: skip
        return cls(vectors, transform, tokenizer=tokenizer)

    @classmethod
    def _weights_for(
        cls, vectors: WordVectors, counts: Counts | None, sums: ContextSums | None, **options: Any
    ) -> ContextWeights:
        return UNIFORM

    @classmethod
    def _projection(
        cls, vectors: WordVectors, sums: ContextSums | None, **options: Any
    ) -> tuple[Doubles, Doubles | None]:
        """(P, m): vectors become P (u − m); None for no m."""
        return np.eye(vectors.dimension), None


class Additive(Baseline):
    """The mean of the context's words, then the mean over contexts: the paper's equation 1.

    >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> Additive.fit(vectors).embed(["a x a", "x b"], target="x").tolist()
    [0.5, 0.5]
    """


class WithoutStopWords(Baseline):
    """`Additive` without English function words and punctuation (`weights.STOP_WORDS`), or without `stop_words`.

    >>> vectors = WordVectors(["the", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> WithoutStopWords.fit(vectors).embed("the x the b", target="x").tolist()
    [0.0, 1.0]
    """

    @classmethod
    def _weights_for(
        cls, vectors: WordVectors, counts: Counts | None, sums: ContextSums | None, **options: Any
    ) -> ContextWeights:
        def count() -> Counts:
            raise AssertionError("stop words need no counts")

        return resolve(options.get("stop_words", "stopwords"), vectors, count)


class SIF(Baseline):
    """Context words weighted by a / (a + p(w)), summed for each context, then the mean over contexts.

    The original divides by the number of words of the context, which is (nearly) the same for all windows.

    >>> vectors = WordVectors(["the", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> SIF.fit(vectors, ["the the the b"], a=0.25).embed("the x b", target="x").round(2).tolist()
    [0.25, 0.5]
    """

    averaging: ClassVar[Averaging] = "occurrence"
    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "counts"

    @classmethod
    def _weights_for(
        cls, vectors: WordVectors, counts: Counts | None, sums: ContextSums | None, **options: Any
    ) -> ContextWeights:
        if sums is not None and sums.settings.weights.startswith("sif"):
            return sums.weights
        assert counts is not None
        return sif(counts, float(options.get("a", 1e-3)))


class AllButTheTop(Baseline):
    """All-but-the-top on the words: their mean and top `components` removed, then as `Additive`.

    >>> vectors = WordVectors(["a", "b", "c"], [[5.0, 1.0], [9.0, 1.0], [7.0, 4.0]])
    >>> AllButTheTop.fit(vectors).embed("a").round(3).tolist()
    [0.0, -1.0]
    """

    @classmethod
    def _projection(
        cls, vectors: WordVectors, sums: ContextSums | None, **options: Any
    ) -> tuple[Doubles, Doubles | None]:
        mean, gram = _moments(vectors.matrix)
        components = int(options.get("components") or usual_components(vectors.dimension))
        return remove_top(gram - len(vectors) * np.outer(mean, mean), components), mean


class SumsButTheTop(Baseline):
    """All-but-the-top on the sums: the mean and top components of u_w over words seen `min_count` times removed.

    u is the mean over all context words, pooled (`token`): its length does not depend on that of the context.
    """

    averaging: ClassVar[Averaging] = "token"
    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "sums"

    @classmethod
    def _projection(
        cls, vectors: WordVectors, sums: ContextSums | None, **options: Any
    ) -> tuple[Doubles, Doubles | None]:
        means = _frequent_means(sums, cls.averaging, int(options.get("min_count", 100)), vectors.dimension)
        mean, gram = _moments(means)
        components = int(options.get("components") or usual_components(vectors.dimension))
        return remove_top(gram - len(means) * np.outer(mean, mean), components), mean


class SIFButTheTop(SIF):
    """`SIF`, with the top component of the sums removed (no mean is subtracted, as its authors have it)."""

    needs: ClassVar[Literal["nothing", "counts", "sums"]] = "sums"

    @classmethod
    def sums_weights(cls, **options: Any) -> object:
        return f"sif:{float(options.get('a', 1e-3)):g}"

    @classmethod
    def _projection(
        cls, vectors: WordVectors, sums: ContextSums | None, **options: Any
    ) -> tuple[Doubles, Doubles | None]:
        if sums is not None and not sums.settings.weights.startswith("sif"):
            raise BadSums("SIFButTheTop takes its top component from SIF-weighted sums; collect with context_weights")
        means = _frequent_means(sums, cls.averaging, int(options.get("min_count", 100)), vectors.dimension)
        return remove_top(_moments(means)[1], int(options.get("components") or 1)), None


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
