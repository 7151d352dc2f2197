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
from alacarte.model import ALaCarte, Contexts
from alacarte.uncertainty import Similarities, Uncertainty

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
    interval on each similarity, or none under the same condition.
    """

    word: str | None
    vector: npt.NDArray[np.float32]
    contexts: int
    words: tuple[WordShare, ...]
    intercept: float
    confidence: float | None
    nearest: Similarities | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "contexts": self.contexts,
            "confidence": self.confidence,
            "intercept": self.intercept,
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
) -> Explanation:
    """Explain `model.embed(contexts, target)`.

    >>> from alacarte import Transform, WordVectors
    >>> vectors = WordVectors(["a", "b", "c"], [[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> found = explain(ALaCarte(vectors, Transform(np.eye(2))), ["a x b", "x a"], target="x")
    >>> [(item.word, item.times, round(item.share, 3)) for item in found.words]
    [('a', 2, 0.973), ('b', 1, 0.027)]
    """
    given = contexts if isinstance(contexts, str) else list(contexts)
    windows = model.context_words(given, target)
    averaging, rows_of, scales_of, owners = model.settings.averaging, [], [], []
    weights = np.zeros(len(windows))
    for number, parts in enumerate(windows):
        for rows, scales in parts:
            total = float(scales.sum())
            weights[number] += {"occurrence": 1.0, "token": total, "context": float(total > 0)}[averaging]
            if len(rows):
                rows_of.append(rows)
                scales_of.append(scales / total if averaging == "context" and target is not None else scales)
                owners.append(np.full(len(rows), number))
    vector = model.embed(given, target, absent=absent)  # raises where no word is known
    ids, scales = np.concatenate(rows_of), np.concatenate(scales_of)
    matrix = model.vectors.matrix[ids].astype(np.float64) * scales[:, None]
    sums = np.zeros((len(windows), matrix.shape[1]))
    np.add.at(sums, np.concatenate(owners), matrix)
    mean = vector.astype(np.float64)
    along = mean / (mean @ mean)
    shares = matrix @ (model.transform.matrix.astype(np.float64).T @ along) / weights.sum()
    intercept = 0.0 if model.transform.intercept is None else float(model.transform.intercept @ along)
    distinct, inverse = np.unique(ids, return_inverse=True)
    by_word, times = np.bincount(inverse, weights=shares), np.bincount(inverse)
    order = np.argsort(-by_word, kind="stable")
    words = tuple(
        WordShare(model.vectors.words[distinct[row]], int(times[row]), float(by_word[row])) for row in order.tolist()
    )
    filled = weights > 0
    sure = Uncertainty.of_contexts(
        target or "", sums[filled], weights[filled], model.transform, model.vectors, model.typical
    )
    known = model.typical is not None or np.count_nonzero(filled) > 1
    confidence = float(sure.confidence[0]) if known else None
    nearest = sure.nearest(target or "", k, level=level, among=among) if known else None
    return Explanation(target, vector, len(windows), words, intercept, confidence, nearest)
