"""How a transform was learned, and how well it does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from alacarte._io.arrays import Doubles
from alacarte._io.table import Columns, Table
from alacarte.contexts.reading import Reading

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LOW_COVERAGE = 0.8  # of the tokens: English text has .9 and more in vectors of its language


@dataclass(frozen=True)
class FitReport(Table):
    """How a transform was learned and how well it does; as a table, one row per fact: `what` and its `value` in words.

    `cosine_mean` is that of A u with v over the words learned from, `cv_cosine_mean` over words held out: the one to
    judge by. It is None where none were, since `folds` is 1 or words are too few. `found_again` says how well words of
    the text are found again once vectors are adapted to it; `found_poorly` is whether that is close to chance.
    """

    words: int
    vocabulary: int
    dimension: int
    documents: int
    tokens_read: int
    tokens_known: int
    words_seen: int
    weighting: str
    weighting_reason: str
    ridge: float
    ridge_toward: float
    intercept: bool
    solver: str
    condition: float
    cosine_mean: float
    cosine_quantiles: tuple[float, ...]
    cv_cosine_mean: float | None
    cv_cosine_quantiles: tuple[float, ...] | None
    folds: int
    settings: dict[str, Any]
    found_again: str = ""
    found_poorly: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as they are, for `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "FitReport":
        """Return the report that `to_dict` described."""
        names = {item.name for item in fields(cls)}
        chosen: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in names
        }
        report = cls(**chosen)
        report.rows()  # which raises where a value is of another type than its field
        return report

    @property
    def problems(self) -> list[str]:
        """What speaks against this transform, in words; mostly nothing."""
        found = []
        if self.tokens_known < LOW_COVERAGE * self.tokens_read:
            share = _share(self.tokens_known, self.tokens_read)
            found.append(f"only {share} of the tokens have a vector: do text and vectors share language and case?")
        if self.cv_cosine_mean is None and self.folds > 1:
            found.append("how well it does is unknown: words are too few to hold some out")
        if self.found_poorly:
            found.append(
                "words of this text are hardly found again: more text, or text like that of the vectors, helps"
            )
        return found

    def columns(self) -> Columns:
        """Return the table's columns."""
        what, values = zip(*self.rows(), strict=True)
        return {"what": what, "value": values}

    def rows(self) -> list[tuple[str, str]]:
        """Return pairs of a fact's name and its value in words."""
        settings = Reading(**self.settings)

        def spread(quantiles: tuple[float, ...]) -> str:
            return "  ".join(f"{q:.0%} {value:.3f}" for q, value in zip(QUANTILES, quantiles, strict=True))

        toward = f", toward {self.ridge_toward:.4g} · identity" if self.ridge_toward else ""
        rows = [
            ("words in the regression", f"{self.words:,} of {self.vocabulary:,} vectors ({self.dimension} dimensions)"),
            ("chosen by", f"{self.weighting} ({self.weighting_reason})"),
            ("text", f"{self.tokens_read:,} tokens in {self.documents:,} documents"),
            ("tokens with a vector", f"{self.tokens_known:,} ({_share(self.tokens_known, self.tokens_read)})"),
            ("vocabulary found in the text", f"{self.words_seen:,} ({_share(self.words_seen, self.vocabulary)})"),
            ("window", f"{settings.left} words before, {settings.right} after; {settings.positions} weights"),
            ("context words", f"{settings.weights}; tokenizer {settings.tokenizer}; average per {settings.averaging}"),
            ("ridge", f"{self.ridge:.4g}{toward}" if self.ridge else "none"),
            ("intercept", "yes" if self.intercept else "no"),
            ("condition number", f"{self.condition:.3g} ({self.solver})"),
        ]
        if self.cv_cosine_mean is not None or self.folds == 1:
            rows.append(("cosine(A u, v), mean", f"{self.cosine_mean:.3f}"))
            rows.append(("  quantiles", spread(self.cosine_quantiles)))
        if self.cv_cosine_mean is not None and self.cv_cosine_quantiles is not None:
            rows.append((f"  words held out ({self.folds} folds)", f"{self.cv_cosine_mean:.3f}"))
            rows.append(("  quantiles", spread(self.cv_cosine_quantiles)))
        if self.found_again:
            rows.append(("adapted to the text", self.found_again))
        rows += [("problem", problem) for problem in self.problems]
        return rows

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.rows())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def quantiles(values: Doubles, weights: Doubles) -> tuple[float, ...]:
    """Return the `QUANTILES` of some cosines, words counting as they do in the regression.

    >>> quantiles(np.array([0.0, 0.5, 1.0, 9.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    (0.05, 0.25, 0.5, 0.75, 0.95)
    """
    order = np.argsort(values)
    ordered, weight = values[order], weights[order]
    kept = weight > 0
    ordered, weight = ordered[kept], weight[kept]
    at = np.cumsum(weight) - weight  # as np.quantile has it for equal weights: the first at 0, the last at 1
    at /= at[-1] if at[-1] > 0 else 1.0
    return tuple(float(value) for value in np.interp(QUANTILES, at, ordered))
