"""Where a vector comes from: which context words made it, and how sure it is.

m = 1/N Σ_j s_j A v_j over the context words j (+ b), so that s_j (A v_j) · m / (N ‖m‖²) is the share of word j in the
vector's length: shares add up to 1, with that of b where the transform has one; a negative share pulls away from the
result.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte.errors import require
from alacarte.inference.uncertainty import Similarities, Uncertainty
from alacarte.model import ALaCarte, Contexts

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class WordShare:
    """A context word: how often it counted, and its share in the vector."""

    word: str
    times: int
    share: float

    def to_dict(self) -> dict[str, Any]:
        return {"word": self.word, "times": self.times, "share": self.share}


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a vector is made of, the largest shares first.

    `confidence` is the cosine to be expected with the vector that infinitely many contexts would give, None where
    nothing is known of how contexts differ: one context, and a model without a `typical` spread. `nearest` has an
    interval on each similarity, or none under the same condition. With `form`, `spelling` is the share that the
    word's spelling has, those of context words add up to the rest, and no interval is known.
    """

    word: str | None
    vector: npt.NDArray[np.float32]
    contexts: int
    words: tuple[WordShare, ...]
    intercept: float
    spelling: float | None
    confidence: float | None
    nearest: Similarities | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "contexts": self.contexts,
            "confidence": self.confidence,
            "intercept": self.intercept,
            "spelling": self.spelling,
            "words": [item.to_dict() for item in self.words],
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
        }

    def to_frame(self) -> Any:
        """A pandas frame, a row a context word."""
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        return pandas.DataFrame([item.to_dict() for item in self.words], columns=["word", "times", "share"])


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
    """Explain `model.embed(contexts, target)`, or with `form=True` where both spelling and contexts have a part.

    >>> from alacarte import Transform, WordVectors
    >>> vectors = WordVectors(["a", "b", "c"], [[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> found = explain(ALaCarte(vectors, Transform(np.eye(2))), ["a x b", "x a"], target="x")
    >>> [(item.word, item.times, round(item.share, 3)) for item in found.words]
    [('a', 2, 0.973), ('b', 1, 0.027)]
    """
    given = contexts if isinstance(contexts, str) else list(contexts)
    if not form:
        vector = model.embed(given, target, absent=absent)
        return _explained(model, given, target, vector, 1.0, None, (k, among, level))
    parts = model.embed_parts(given, target, absent=absent)
    fused = parts.fused[0].astype(np.float64)
    spelling = float(parts.form_part[0] @ fused / (fused @ fused))
    if not len(given) or not parts.context_part.any():
        return Explanation(target, parts.fused[0], 0, (), 0.0, spelling, None, None)
    return _explained(model, given, target, parts.fused[0], 1.0 - spelling, spelling, (k, among, level))


def _explained(
    model: ALaCarte,
    contexts: Contexts,
    target: str | None,
    vector: npt.NDArray[np.float32],
    total: float,
    spelling: float | None,
    search: tuple[int, int | None, float],
) -> Explanation:
    """Shares of the context words that add up to `total`."""
    windows = model.context_words(contexts, target)
    sums, weights, ids, matrix = _weighted_words(model, windows, target is None)
    u = sums.sum(axis=0) / weights.sum()
    mean = model.transform(u).astype(np.float64)
    along = mean / (mean @ mean)
    shares = total * (matrix @ (model.transform.matrix.astype(np.float64).T @ along)) / weights.sum()
    intercept = 0.0 if model.transform.intercept is None else total * float(model.transform.intercept @ along)
    distinct, inverse = np.unique(ids, return_inverse=True)
    by_word, times = np.bincount(inverse, weights=shares), np.bincount(inverse)
    order = np.argsort(-by_word, kind="stable")
    words = tuple(
        WordShare(model.vectors.words[distinct[row]], int(times[row]), float(by_word[row])) for row in order.tolist()
    )
    filled, name, (k, among, level) = weights > 0, target or "", search
    sure = Uncertainty.of_contexts(name, sums[filled], weights[filled], model.transform, model.vectors, model.typical)
    known = model.typical is not None or np.count_nonzero(filled) > 1
    confidence = float(sure.confidence[0]) if known else None
    nearest = sure.nearest(name, k, level=level, among=among) if known and spelling is None else None
    return Explanation(target, vector, len(windows), words, intercept, spelling, confidence, nearest)


def _weighted_words(
    model: ALaCarte, windows: list[list[tuple[npt.NDArray[np.int64], Doubles]]], whole: bool
) -> tuple[Doubles, Doubles, npt.NDArray[np.int64], Doubles]:
    """(sum and weight of each context; row and weighted vector of each word in them), as the model averages."""
    averaging, rows_of, scales_of, owners = model.settings.averaging, [], [], []
    weights = np.zeros(len(windows))
    for number, parts in enumerate(windows):
        for rows, scales in parts:
            total = float(scales.sum())
            weights[number] += {"occurrence": 1.0, "token": total, "context": float(total > 0)}[averaging]
            if total > 0:
                rows_of.append(rows)
                scales_of.append(scales / total if averaging == "context" and not whole else scales)
                owners.append(np.full(len(rows), number))
    ids = np.concatenate(rows_of)
    matrix = model.vectors.matrix[ids].astype(np.float64) * np.concatenate(scales_of)[:, None]
    sums = np.zeros((len(windows), matrix.shape[1]))
    np.add.at(sums, np.concatenate(owners), matrix)
    return sums, weights, ids, matrix
