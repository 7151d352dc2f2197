"""How much a context word tells: little if it keeps any company, much if its own contexts are all alike.

Of two equally frequent words, *add* stands beside anything and *protein* beside biology. A word's contexts have a mean
m_c; if the word tells nothing, m_c is the mean m of all contexts. The informativeness of c is

    κ(c) = (‖m_c − m‖² − σ² / n_c) / σ²

where σ² is the variance of one context word and n_c how many there are: the second term takes away the distance that
chance alone makes, which for rare words is most of it. It needs no pass of its own, only sums over the vocabulary.
"""

import numpy as np
import numpy.typing as npt

from alacarte import ContextSums, WordVectors
from alacarte.contexts.weights import ContextWeights, with_digest
from alacarte.contexts.word_counts import word_counts
from alacarte.errors import AlacarteError, BadSums, NotEnoughData

Doubles = npt.NDArray[np.float64]
ENOUGH = 200  # context tokens from which on a word's own κ is believed
LEAST = 1 / 30  # of the median: no word counts less for this alone


def informativeness(sums: ContextSums, vectors: WordVectors) -> Doubles:
    """κ for each word of the vectors; words with too few contexts to tell have the median of the others.

    >>> from alacarte import collect
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(20)] + ["all", "some"], rng.normal(size=(22, 5)))
    >>> def context(low, high):
    ...     return list(rng.choice(vectors.words[low:high], 2))
    >>> text = [[*context(0, 20), "all", *context(0, 20)] for _ in range(500)]
    >>> text += [[*context(0, 4), "some", *context(0, 4)] for _ in range(60)]
    >>> kappa = informativeness(collect(vectors, text, window=2), vectors)
    >>> bool(kappa[vectors.index("some")] > 3 * kappa[vectors.index("all")])
    True
    """
    if sums.fingerprint != vectors.fingerprint or sums.targets is not None or sums.settings.averaging == "context":
        raise BadSums(
            "informativeness is measured on sums over the whole vocabulary, made with these vectors and averaged by "
            "occurrence or token; collect such sums"
        )
    rows = np.fromiter((vectors.index(key) for key in sums.keys), dtype=np.intp, count=len(sums))
    believed = np.flatnonzero((sums.tokens >= ENOUGH) & (sums.total_weights > 0))
    if not len(believed):
        raise NotEnoughData(f"no word of the vectors has {ENOUGH} words in its contexts; give more text")
    mean = sums.vectors().sum(axis=0) / sums.total_weights.sum()
    weights = np.ones(len(vectors)) if sums.weights.values is None else sums.weights.values.astype(np.float64)
    share = np.zeros(len(vectors))
    share[rows] = sums.occurrences / sums.occurrences.sum()
    # Of a mean of n context words with weights w: E[w² ‖v − m‖²] / E[w]² / n.
    squares = np.einsum("ij,ij->i", vectors.matrix, vectors.matrix, dtype=np.float64)
    squares += mean @ mean - 2 * (vectors.matrix @ mean)
    variance = float((weights**2 * share) @ squares / (weights @ share) ** 2)
    apart = sums.vectors(believed) / sums.total_weights[believed, None] - mean
    kappa = (np.einsum("ij,ij->i", apart, apart) - variance / sums.tokens[believed]) / variance
    median = float(np.median(kappa))
    if median <= 0:
        raise NotEnoughData("the contexts of most words are like any others; give more text, or vectors that fit it")
    result = np.full(len(vectors), median)
    result[rows[believed]] = np.maximum(kappa, LEAST * median)
    return result


def informative_weights(
    sums: ContextSums, vectors: WordVectors, *, a: float = 1e-4, power: float = 1.0
) -> ContextWeights:
    """The context weights a / (a + p(w)) · κ(w)^power, the largest of them 1; power 0 is SIF."""
    if a <= 0 or power < 0:
        raise AlacarteError(f"informative weights take a positive a and a power from 0 on, not {a:g} and {power:g}")
    kappa = informativeness(sums, vectors)
    counts = word_counts(sums, vectors)
    share = counts / counts.sum()
    values = a / (a + share) * kappa**power
    weights = with_digest(f"informative:{a:g},{power:g}", (values / values.max()).astype(np.float32))
    return weights.for_vectors(vectors)
