"""Where a vector comes from: what each context word adds to it, and how certain the vector is.

A vector is m = 1/N Σ_j s_j A v_j (+ b) over the context words j, where s_j is the weight of word j (by the word, by its
distance, and under averaging="context" divided by the total weight of its window) and N is what the model's averaging
divides by. The contribution of word j is c_j = s_j A v_j / N, so contributions and b add up to m, and the share of
word j is c_j · m / ‖m‖²: shares add up to 1, with that of b. A negative share pulls away from the result.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte._io.table import Columns, Table
from alacarte.contexts.averaging import divisor
from alacarte.model.embedding import Contexts
from alacarte.model.model import ALaCarte
from alacarte.spelling.uncertainty import FusedUncertainty
from alacarte.uncertainty.uncertainty import Similarities, Uncertainty


@dataclass(frozen=True)
class WordShare:
    """A context word: how often it counts (with a weight above 0), and its share of the vector."""

    word: str
    times: int
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Table):
    """What a vector is made of; as a table, one row per context word, the largest shares first.

    Attributes
    ----------
    word : str or None
        The target.
    vector : numpy.ndarray
        Its vector.
    contexts : int
        How many contexts were read.
    words : tuple of WordShare
        The context words with their shares of the vector.
    contributions : numpy.ndarray
        What each of them adds to the vector, one row per word.
    intercept, spelling : float
        The shares of the transform's intercept and of the spelling; `spelling` is None without `form=True`.
    confidence : float or None
        The expected cosine with the vector that infinitely many contexts would give. None where nothing is known of
        how contexts differ: for one context, and a model without typical spread.
    nearest : Similarities or None
        The nearest words, with intervals; None under the same condition.
    """

    word: str | None
    vector: Singles
    contexts: int
    words: tuple[WordShare, ...]
    contributions: Doubles
    intercept: float
    spelling: float | None
    confidence: float | None
    nearest: Similarities | None

    def columns(self) -> Columns:
        """Return the table's columns."""
        return {name: [getattr(item, name) for item in self.words] for name in ("word", "times", "share")}

    def to_dict(self) -> Any:
        """Return all but the vectors, as JSON can hold it."""
        return {
            "word": self.word,
            "contexts": self.contexts,
            "confidence": self.confidence,
            "intercept": self.intercept,
            "spelling": self.spelling,
            "words": super().to_dict(),
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
        }


def explain(
    model: ALaCarte,
    contexts: Contexts,
    target: str | None = None,
    *,
    k: int = 10,
    among: int | None = None,
    level: float = 0.95,
    absent: Literal["error", "whole"] = "error",
    form: bool = False,
) -> Explanation:
    """Explain `model.embed(contexts, target)`: the same vector, and what it is made of.

    Parameters
    ----------
    model
        The model.
    contexts, target, absent, form
        As for `ALaCarte.embed`.
    k
        How many nearest words are listed.
    among
        Among how many of the first words, which are the most frequent ones; by default all.
    level
        The level of their intervals.

    Returns
    -------
    Explanation
        The share of each context word, and the nearest words with intervals.

    Examples
    --------
    >>> from alacarte import Transform, WordVectors
    >>> vectors = WordVectors(["a", "b", "c"], [[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> explanation = explain(ALaCarte(vectors, Transform(np.eye(2))), ["a x b", "x a"], target="x")
    >>> [(item.word, item.times, round(item.share, 3)) for item in explanation.words]
    [('a', 2, 0.973), ('b', 1, 0.027)]
    >>> explanation.contributions.tolist(), explanation.vector.tolist()
    ([[3.0, 0.0], [0.0, 0.5]], [3.0, 0.5])
    """
    given = contexts if isinstance(contexts, str) else list(contexts)
    if form:
        parts = model.embed_parts(given, target, absent=absent)
        vector, context_part = parts.fused[0], parts.context_part[0]
        along = _along(parts.fused[0] - parts.shift)
        spelling: float | None = float(parts.form_part[0] @ along)
        if not len(given) or not context_part.any():
            nothing = np.zeros((0, len(vector)))
            return Explanation(target, vector, 0, (), nothing, 0.0, spelling, None, None)
    else:
        vector, spelling = model.embed(given, target, absent=absent), None
        along = _along(vector if model.adaptation is None else model.adaptation.compared(vector))
    read = _read_contexts(model, given, target)
    rows, times, contributions = _contributions(model, read)
    offset = np.zeros(len(vector))
    if model.adaptation is None and model.transform.intercept is not None:
        offset = model.transform.intercept.astype(np.float64)
    if form:
        fused = _within_fusion(np.vstack([contributions, offset]), model.prior.common, context_part)
        contributions, offset = fused[:-1], fused[-1]
    shares = contributions @ along
    order = np.argsort(-shares, kind="stable")
    words = tuple(
        WordShare(model.vectors.words[rows[place]], int(times[place]), float(shares[place])) for place in order.tolist()
    )
    confidence, nearest = None, None
    if model.typical is not None or np.count_nonzero(read.weights > 0) > 1:
        uncertainty = _uncertainty(model, read, target or "", form)
        confidence = float(uncertainty.confidence[0])
        nearest = uncertainty.nearest(target or "", k, level=level, among=among)
    intercept = float(offset @ along)
    contexts_read = len(read.weights)
    return Explanation(
        target, vector, contexts_read, words, contributions[order], intercept, spelling, confidence, nearest
    )


def _along(vector: npt.ArrayLike) -> Doubles:
    """Return m / ‖m‖², by which a contribution is multiplied for its share; NaN for a vector of zeros."""
    wide = np.asarray(vector, dtype=np.float64)
    return np.asarray(wide / (float(wide @ wide) or np.nan))


@dataclass(frozen=True, eq=False)
class _ReadContexts:
    """The context words of `embed`: rows of the vectors and their weights, and the sum and weight of each context."""

    rows: Longs  # (context words,)
    scales: Doubles  # (context words,): what each vector is multiplied by before all are added
    sums: Doubles  # (contexts, dimensions)
    weights: Doubles  # (contexts,): these add up to N


def _read_contexts(model: ALaCarte, contexts: Contexts, target: str | None) -> _ReadContexts:
    averaging = model.context_settings.averaging
    windows = model.context_words(contexts, target)
    sums, weights = np.zeros((len(windows), model.vectors.dimension)), np.zeros(len(windows))
    all_rows, all_scales = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for number, parts in enumerate(windows):
        for rows, scales in parts:
            total = float(scales.sum())
            weights[number] += divisor(averaging, 1.0, total, float(total > 0))
            if averaging == "context" and total > 0:
                scales = scales / total
            sums[number] += scales @ model.vectors.matrix[rows]
            all_rows.append(rows[scales > 0])
            all_scales.append(scales[scales > 0])
    return _ReadContexts(np.concatenate(all_rows), np.concatenate(all_scales), sums, weights)


def _contributions(model: ALaCarte, read: _ReadContexts) -> tuple[Longs, Longs, Doubles]:
    """Return (row, how often it counted, contribution to the vector) of each distinct context word.

    In an adapted model, a word contributes what it differs by from the words of all contexts.
    """
    distinct, inverse = np.unique(read.rows, return_inverse=True)
    scales = np.bincount(inverse, weights=read.scales) / read.weights.sum()
    transformed = model.vectors.matrix[distinct].astype(np.float64) @ model.adapted.matrix.astype(np.float64).T
    if model.adaptation is not None:
        transformed += model.adaptation.intercept
    return distinct, np.bincount(inverse), scales[:, None] * transformed


def _within_fusion(rows: Doubles, common: Doubles | None, context_part: Singles) -> Doubles:
    """Turn rows that add up to the vector from contexts into rows that add up to its part in the fused vector.

    That part is the vector without the direction that all vectors share, times a number (`Fusion.combine`).
    """
    if common is not None:
        rows = rows - np.outer(rows @ common, common)
    whole = rows.sum(axis=0)
    return np.asarray(rows * (whole @ context_part / (whole @ whole)))


def _uncertainty(model: ALaCarte, read: _ReadContexts, name: str, form: bool) -> Uncertainty:
    filled = read.weights > 0
    contexts = read.sums[filled], read.weights[filled]
    known = model.compared, model.vocabulary, model.typical
    if form:
        return FusedUncertainty.of_fused_contexts(name, contexts, *known, model.prior)
    sums, weights = contexts
    return Uncertainty.of_contexts(name, sums, weights, *known)
