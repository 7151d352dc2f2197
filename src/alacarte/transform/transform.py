"""The d × d matrix: learned by weighted least squares from sums and vectors, applied as A u.

A = argmin Σ_w α(c_w) ‖v_w − A u_w‖² + λ ‖A − c·I‖²
"""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from alacarte._io.files import atomic_write
from alacarte._io.tensors import pack_words, read_tensors, unpack_words, write_tensors
from alacarte.contexts.reading import Averaging, Positions, Reading
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import UNIFORM, ContextWeights
from alacarte.errors import AlacarteWarning, BadTransform, Hint, NotEnoughData, TransformMismatch, require
from alacarte.transform.least_squares import Regression
from alacarte.vectors.formats import matrices
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Weighting = str | int | float | Callable[[npt.NDArray[np.int64]], npt.ArrayLike] | None

FOLDS = 5


class SolveOptions(TypedDict, total=False):
    """The keywords that say how the matrix is learned, wherever a public function takes them; see `Transform.fit`."""

    weighting: Weighting
    ridge: float | Literal["loo"]
    toward: Literal["zero", "identity"]
    intercept: bool
    exclude: Iterable[str]
    folds: int


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


# ------------------------------------------------------------------------------------------------- probe


@dataclass(frozen=True, eq=False)
class Probe:
    """A few words with their vectors, by which a transform knows its space again.

    The fingerprint of the vectors changes with the number of words read; a probe does not, so vectors read with
    another `limit`, or with words added, still fit, and normalised, retrained or other vectors do not.
    """

    words: list[str]
    vectors: Singles

    @classmethod
    def of(cls, vectors: WordVectors, size: int = 32) -> "Probe":
        spread = np.linspace(0, len(vectors) - 1, size).astype(int)
        rows = np.unique(np.concatenate([np.arange(min(size, len(vectors))), spread]))
        return cls([vectors.words[row] for row in rows], np.array(vectors.matrix[rows]))

    def problem(self, vectors: WordVectors) -> str | None:
        """Why these vectors are not of this space, or None."""
        shared = [(row, word) for row, word in enumerate(self.words) if word in vectors]
        if len(shared) < min(8, len(self.words)):
            return f"of {len(self.words)} words that it remembers, they hold {len(shared)}"
        for row, word in shared:
            mine, theirs = self.vectors[row], vectors[word]
            if not np.allclose(mine, theirs, rtol=1e-3, atol=1e-3 * float(np.abs(mine).max())):
                return f"the vector of {word!r} is another one"
        return None


# ------------------------------------------------------------------------------------------------ report


@dataclass(frozen=True)
class FitReport:
    """How a transform was learned and how well it does; prints as a table."""

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

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "FitReport":
        names = {item.name for item in fields(cls)}
        chosen: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in names
        }
        return cls(**chosen)

    def to_frame(self) -> Any:
        """A pandas frame with one row for each line of the table."""
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        return pandas.DataFrame(self.rows(), columns=["what", "value"])

    def rows(self) -> list[tuple[str, str]]:
        settings = Reading(**self.settings)

        def share(part: int, whole: int) -> str:
            return f"{part / whole:.1%}" if whole else "–"

        def spread(quantiles: tuple[float, ...]) -> str:
            return "  ".join(f"{q:.0%} {value:.3f}" for q, value in zip(QUANTILES, quantiles, strict=True))

        toward = f", toward {self.ridge_toward:.4g} · identity" if self.ridge_toward else ""
        rows = [
            ("words in the regression", f"{self.words:,} of {self.vocabulary:,} vectors ({self.dimension} dimensions)"),
            ("chosen by", f"{self.weighting} ({self.weighting_reason})"),
            ("text", f"{self.tokens_read:,} tokens in {self.documents:,} documents"),
            ("tokens with a vector", f"{self.tokens_known:,} ({share(self.tokens_known, self.tokens_read)})"),
            ("vocabulary met in the text", f"{self.words_seen:,} ({share(self.words_seen, self.vocabulary)})"),
            ("window", f"{settings.left} words before, {settings.right} after; {settings.positions} weights"),
            ("context words", f"{settings.weights}; tokenizer {settings.tokenizer}; average per {settings.averaging}"),
            ("ridge", f"{self.ridge:.4g}{toward}" if self.ridge else "none"),
            ("intercept", "yes" if self.intercept else "no"),
            ("condition number", f"{self.condition:.3g} ({self.solver})"),
            ("cosine(A u, v), mean", f"{self.cosine_mean:.3f}"),
            ("  quantiles", spread(self.cosine_quantiles)),
        ]
        if self.cv_cosine_mean is not None and self.cv_cosine_quantiles is not None:
            rows.append((f"  words held out ({self.folds} folds)", f"{self.cv_cosine_mean:.3f}"))
            rows.append(("  quantiles", spread(self.cv_cosine_quantiles)))
        return rows

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.rows())


# --------------------------------------------------------------------------------------------- transform


@dataclass(frozen=True, eq=False)
class Transform:
    """The matrix A (and intercept b, mostly none) with how it was learned; `transform(u)` is A u + b.

    What is not known of a matrix that came without metadata is None, and is not checked.

    >>> import numpy as np
    >>> Transform(np.eye(2) * 3)([1.0, 2.0]).tolist()
    [3.0, 6.0]
    """

    matrix: Singles
    intercept: Singles | None = None
    settings: Reading | None = None
    fingerprint: str | None = None
    probe: Probe | None = None
    weights: ContextWeights = UNIFORM
    report: FitReport | None = None
    name: str | None = None
    _wide: Doubles = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=np.float32)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise BadTransform(f"a transform is a square matrix, not one of shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise BadTransform("the matrix holds values that are not finite; learn or fetch it again")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "_wide", matrix.astype(np.float64))
        matrix.flags.writeable = False
        if self.intercept is not None:
            intercept = np.array(self.intercept, dtype=np.float32)
            if intercept.shape != (len(matrix),):
                raise BadTransform(f"an intercept of shape {intercept.shape} does not fit {len(matrix)} dimensions")
            object.__setattr__(self, "intercept", intercept)

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[0])

    def __call__(self, u: npt.ArrayLike) -> Singles:
        """A u for one vector, or for each row of a matrix; computed in float64, returned as float32."""
        u = np.asarray(u, dtype=np.float64)
        if u.shape[-1] != self.dimension:
            raise TransformMismatch(f"a transform for {self.dimension} dimensions cannot be applied to {u.shape[-1]}")
        result = self._wide @ u if u.ndim == 1 else u @ self._wide.T
        if self.intercept is not None:
            result = result + self.intercept
        return result.astype(np.float32)

    def read_with(self, weights: ContextWeights, positions: Positions | None = None) -> "Transform":
        """The same matrix for contexts that are read with other weights than it was learned under.

        With many contexts what is not to the point averages out; with few it does not, so words that tell more may
        count more there (`alacarte.transform.informative`).

        >>> transform = Transform(np.eye(2), settings=Reading())
        >>> transform.read_with(ContextWeights("mine", np.array([1.0, 0.5]))).settings.weights
        'mine'
        """
        settings = self.settings or Reading()
        reading = replace(settings, weights=weights.name, positions=positions or settings.positions)
        return replace(self, weights=weights, settings=reading)

    def __repr__(self) -> str:
        known = f", learned from {self.report.words:,} words" if self.report else ""
        return f"Transform({self.dimension} × {self.dimension}{known})"

    # ------------------------------------------------------------------------------------------- checks

    def check_vectors(self, vectors: WordVectors) -> None:
        """Raise `TransformMismatch` unless the vectors are those this transform was learned for."""
        if vectors.dimension != self.dimension:
            raise TransformMismatch(
                f"the transform has {self.dimension} dimensions and the vectors have {vectors.dimension}; "
                "use the vectors it was learned for"
            )
        if self.probe is None or self.fingerprint == vectors.fingerprint:
            return
        problem = self.probe.problem(vectors)
        if problem is not None:
            raise TransformMismatch(
                f"the transform was learned for other vectors: {problem}. Use those vectors, learn a transform for "
                "these",
                hint=Hint(
                    "or pass check=False if you know that they share a space",
                    "or pass --force if you know that they share a space",
                ),
            )

    def check_sums(self, sums: ContextSums) -> None:
        """Raise `TransformMismatch` for sums that this transform was not learned for."""
        if sums.dimension != self.dimension:
            raise TransformMismatch(f"the transform has {self.dimension} dimensions and the sums have {sums.dimension}")
        if self.settings is None:
            return
        for name in ("averaging", "weights", "positions"):
            mine, theirs = getattr(self.settings, name), getattr(sums.settings, name)
            if mine != theirs:
                raise TransformMismatch(
                    f"the transform was learned with {name} {mine!r} and the sums were made with {theirs!r}; "
                    "collect them anew",
                    hint=Hint("or pass check=False if you know better", "or pass --force if you know better"),
                )
        if self.fingerprint is None:
            return  # a bare matrix, of which the rest is not known
        for name in ("window", "tokenizer", "unknown"):
            mine, theirs = getattr(self.settings, name), getattr(sums.settings, name)
            if mine != theirs:
                warnings.warn(
                    f"the transform was learned with {name} {mine}, the sums were made with {theirs}",
                    AlacarteWarning,
                    stacklevel=3,
                )

    # --------------------------------------------------------------------------------------------- fit

    @classmethod
    def fit(
        cls,
        sums: ContextSums,
        vectors: WordVectors,
        *,
        weighting: Weighting = "auto",
        ridge: float | Literal["loo"] = 0.0,
        toward: Literal["zero", "identity"] = "zero",
        intercept: bool = False,
        exclude: Iterable[str] = (),
        folds: int = FOLDS,
    ) -> "Transform":
        """Learn A from the sums of words that have a vector.

        `weighting` is α(c): None (1 for all), a number τ (1 from τ occurrences on), "log" (log c), any function of
        the counts, or "auto": τ = 1000 where at least 10 words a dimension are that frequent, else log c.
        `ridge` is λ, or "loo": the λ with the least squared error over words left out one at a time, in closed
        form. `toward` says what it shrinks to: the zero matrix, or the multiple of the identity that fits best.
        `exclude` names words that take no part.

        >>> rng = np.random.default_rng(0)
        >>> vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
        >>> text = [" ".join(rng.choice(vectors.words, 40)) for _ in range(200)]
        >>> transform = Transform.fit(collect(vectors, text, window=5), vectors, weighting=None)
        >>> transform.report.words, transform.matrix.shape
        (50, (3, 3))
        """
        if sums.dimension != vectors.dimension or sums.fingerprint != vectors.fingerprint:
            raise TransformMismatch("the sums were made with other vectors; collect them again with these")
        if ridge != "loo" and (not isinstance(ridge, (int, float)) or ridge < 0):
            raise BadTransform(f"ridge is a number from 0 on, or 'loo', not {ridge!r}")
        if toward not in ("zero", "identity"):
            raise BadTransform(f"toward is 'zero' or 'identity', not {toward!r}")
        excluded = set(exclude)
        rows = np.array(
            [row for row in sums.seen if sums.keys[row] in vectors and sums.keys[row] not in excluded], dtype=np.intp
        )
        counts = sums.occurrences[rows]
        name, reason, alpha = _alpha(weighting, counts, vectors.dimension)
        rows, alpha = rows[alpha > 0], alpha[alpha > 0]
        data = Regression(sums, vectors, rows, alpha, intercept, folds)
        needed = vectors.dimension + intercept
        if ridge == 0 and len(rows) < needed:
            if sums.targets is not None:
                raise NotEnoughData(
                    f"these are the sums of {len(sums):,} chosen targets, {len(rows):,} of them words with a vector; a "
                    "transform is learned from sums over the whole vocabulary, which alc fit --save-sums and "
                    "collect without targets give"
                )
            lower, or_log, or_log_option = "", "", ""
            if name.startswith("count"):
                lower, or_log, or_log_option = ", a lower threshold", "weighting='log', ", "--log, "
            raise NotEnoughData(
                f"{len(rows):,} words are too few to learn {needed} dimensions from (weighting: {name}). "
                f"Give more text{lower}",
                hint=Hint(f"or pass {or_log}ridge='loo'", f"or pass {or_log_option}--ridge loo"),
            )
        if len(rows) == 0:
            raise NotEnoughData(
                f"no word of the vectors is left to learn from (weighting: {name}); give more text, a lower "
                "threshold, or check that text and vectors share language and case"
            )
        center = data.best_scalar() if toward == "identity" else 0.0
        penalty = data.leave_one_out(center) if ridge == "loo" else float(ridge)
        solution, solver, condition = data.solve(penalty, center)
        cosines = data.cosines(lambda fold: solution)
        held_out: Doubles | None = None
        if folds > 1 and (penalty > 0 or len(rows) - -(-len(rows) // folds) >= needed):
            without = [data.solve(penalty, center, without=fold)[0] for fold in range(folds)]
            held_out = data.cosines(lambda fold: without[fold])
        report = FitReport(
            words=len(rows), vocabulary=len(vectors), dimension=vectors.dimension, documents=sums.documents,
            tokens_read=sums.tokens_read, tokens_known=sums.tokens_known, words_seen=len(sums.seen),
            weighting=name, weighting_reason=reason, ridge=penalty, ridge_toward=center, intercept=intercept,
            solver=solver, condition=condition, cosine_mean=float(cosines.mean()),
            cosine_quantiles=_quantiles(cosines),
            cv_cosine_mean=None if held_out is None else float(held_out.mean()),
            cv_cosine_quantiles=None if held_out is None else _quantiles(held_out),
            folds=folds, settings=asdict(sums.settings),
        )  # fmt: skip
        d = vectors.dimension
        return cls(
            solution[:, :d].astype(np.float32), solution[:, d].astype(np.float32) if intercept else None,
            sums.settings, vectors.fingerprint, Probe.of(vectors), sums.weights, report,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """By the ending: `.bin` the authors' raw float32 matrix, `.npy`, `.csv`, else safetensors with all metadata."""
        ending = Path(path).suffix
        if ending in (".bin", ".npy", ".csv"):
            if self.intercept is not None:
                raise BadTransform(f"a {ending} file cannot hold an intercept; save as .safetensors")
            with atomic_write(path) as file:
                if ending == ".bin":
                    file.write(self.matrix.astype("<f4").tobytes())
                elif ending == ".npy":
                    np.save(file, self.matrix)
                else:
                    np.savetxt(file, self.matrix, delimiter=",", fmt="%.9g")
            return
        tensors: dict[str, npt.NDArray[Any]] = {"matrix": self.matrix}
        metadata = {"format": "alacarte.Transform/1", "weights": self.weights.name}
        if self.intercept is not None:
            tensors["intercept"] = self.intercept
        if self.weights.values is not None:
            tensors["context_weights"] = self.weights.values
        if self.probe is not None:
            tensors["probe"] = self.probe.vectors
            tensors["probe_words"], tensors["probe_offsets"] = pack_words(self.probe.words)
        if self.settings is not None:
            metadata["settings"] = json.dumps(asdict(self.settings))
        if self.fingerprint is not None:
            metadata["fingerprint"] = self.fingerprint
        if self.report is not None:
            metadata["report"] = json.dumps(self.report.to_dict())
        if self.name is not None:
            metadata["name"] = self.name
        write_tensors(path, tensors, metadata)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, dimension: int | None = None, averaging: Averaging | None = None
    ) -> "Transform":
        """Read a transform: ours (safetensors), the authors' `.bin`, `.npy`, `.csv`, R's `.rds` and `.rda`.

        A bare matrix says nothing about itself. `averaging` tells how its sums were averaged: the authors' and
        other `.bin` files are taken as `occurrence`; conText's (R) are `token` or `context`; left out for other
        bare matrices, it is not checked.
        """
        file = Path(path)
        if not file.is_file():
            raise BadTransform(f"{path}: no such file; pass the path of a transform (.safetensors, .bin, .npy, …)")
        ending = file.suffix.lower()
        if ending == ".safetensors":
            return cls._load_safetensors(file)
        if ending == ".bin":
            matrix = matrices.read_raw(file, dimension)
            averaging = averaging or "occurrence"
        elif ending == ".npy":
            matrix = matrices.read_npy(file)
        elif ending in (".csv", ".tsv", ".txt"):
            matrix = matrices.read_csv(file)
        elif ending in (".rds", ".rda", ".rdata"):
            matrix = matrices.read_r(file)
        else:
            raise BadTransform(
                f"{path}: transforms end in .safetensors, .bin, .npy, .csv, .rds or .rda; rename or convert it"
            )
        if dimension is not None and matrix.shape != (dimension, dimension):
            raise BadTransform(f"{path}: holds a matrix of shape {matrix.shape}, not {dimension} × {dimension}")
        settings = Reading(averaging=averaging) if averaging else None
        return cls(matrix.astype(np.float32), settings=settings, name=file.name)

    @classmethod
    def _load_safetensors(cls, file: Path) -> "Transform":
        tensors, metadata = read_tensors(file, BadTransform)
        if metadata.get("format") != "alacarte.Transform/1":
            raise BadTransform(
                f"{file}: no transform but {metadata.get('format', 'something else')!r}; `alc inspect` tells more"
            )
        probe = None
        if "probe" in tensors:
            words = unpack_words(tensors["probe_words"], tensors["probe_offsets"])
            probe = Probe(words, np.array(tensors["probe"]))
        values = tensors.get("context_weights")
        return cls(
            tensors["matrix"],
            tensors.get("intercept"),
            Reading(**json.loads(metadata["settings"])) if "settings" in metadata else None,
            metadata.get("fingerprint"),
            probe,
            ContextWeights(metadata["weights"], None if values is None else np.array(values)),
            FitReport.from_dict(json.loads(metadata["report"])) if "report" in metadata else None,
            metadata.get("name"),
        )


def _quantiles(values: Doubles) -> tuple[float, ...]:
    return tuple(float(value) for value in np.quantile(values, QUANTILES))


def _alpha(weighting: Weighting, counts: npt.NDArray[np.int64], dimension: int) -> tuple[str, str, Doubles]:
    """(name, why, α for each count)."""
    reason = "as asked"
    if weighting == "auto":
        frequent = int((counts >= 1000).sum())
        enough = frequent >= 10 * dimension
        weighting = 1000 if enough else "log"
        reason = (
            f"{frequent:,} words occur 1000 times or more, {'at least' if enough else 'fewer than'} "
            f"10 for each of {dimension} dimensions"
        )
    if weighting is None or weighting == "none":
        return "every word alike", reason, np.ones(len(counts))
    if weighting == "log":
        return "weight log(count)", reason, np.log(np.maximum(counts, 1).astype(np.float64))
    if isinstance(weighting, (int, float)):
        return f"count ≥ {weighting:g}", reason, (counts >= weighting).astype(np.float64)
    if callable(weighting):
        alpha = np.asarray(weighting(counts), dtype=np.float64)
        if alpha.shape != counts.shape or not np.isfinite(alpha).all() or (alpha < 0).any():
            raise BadTransform("the weighting function must return one finite, non-negative weight for each count")
        return getattr(weighting, "__name__", "custom weights"), reason, alpha
    raise BadTransform(
        f"weighting is None, 'log', 'auto', a count threshold or a function of counts, not {weighting!r}"
    )
