"""The d × d matrix: learned by weighted least squares from sums and vectors, applied as A u.

A = argmin Σ_w α(c_w) ‖v_w − A u_w‖² + λ ‖A − c·I‖²
"""

import warnings
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io import html
from alacarte._io.arrays import Doubles, Singles
from alacarte._io.artifact import Artifact, read_artifact, word_tensors, write_artifact
from alacarte._io.copies import local_copy
from alacarte._io.decoding import decoding
from alacarte._io.files import atomic_write
from alacarte.contexts.reading import Averaging, Reading
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import UNIFORM, ContextWeights
from alacarte.errors import AlacarteWarning, BadSums, BadTransform, Hint, TransformMismatch
from alacarte.transform import matrices
from alacarte.transform.probe import Probe
from alacarte.transform.report import FitReport
from alacarte.transform.solve import Solve, SolveOptions
from alacarte.vectors.word_vectors import WordVectors

KIND, VERSION = "transform", 1


@dataclass(frozen=True, eq=False)
class Transform:
    """The matrix that turns an average of context vectors into a vector, with how it was learned.

    `transform(u)` is A u, plus an intercept if there is one.

    Parameters
    ----------
    matrix
        A, with as many rows and columns as the vectors have dimensions.
    intercept
        What is added to A u; mostly None.
    settings
        How the contexts were read that it was learned from. This and what follows is None for a matrix that came
        without metadata, and is not checked then.
    fingerprint, probe
        The vectors it was learned for.
    weights
        How much context words count.
    report
        How it was learned and how well it does.
    name
        What it is called.

    Examples
    --------
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
        """How many dimensions the vectors have."""
        return int(self.matrix.shape[0])

    def __call__(self, u: npt.ArrayLike) -> Singles:
        """Return A u for one vector, or for each row of a matrix; computed in float64, returned as float32."""
        u = np.asarray(u, dtype=np.float64)
        if u.shape[-1] != len(self._wide):
            raise TransformMismatch(f"a transform for {self.dimension} dimensions cannot be applied to {u.shape[-1]}")
        result = self._wide.dot(u) if u.ndim == 1 else u @ self._wide.T
        if self.intercept is not None:
            result = result + self.intercept
        return result.astype(np.float32)

    def __repr__(self) -> str:
        known = ""
        if self.report is not None:
            known = "; ".join([f", learned from {self.report.words:,} words", *self.report.problems])
        return f"Transform({self.dimension} × {self.dimension}{known})"

    def _repr_html_(self) -> str:
        facts = {"name": self.name, "contexts": None if self.settings is None else self.settings.described}
        return html.card(repr(self), facts, "" if self.report is None else self.report._repr_html_())

    # ------------------------------------------------------------------------------------------- checks

    def check_vectors(self, vectors: WordVectors) -> None:
        """Raise `TransformMismatch` for vectors that this transform was not learned for."""
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
    def fit(cls, sums: ContextSums, vectors: WordVectors, **options: Unpack[SolveOptions]) -> "Transform":
        """Learn a transform from the sums of words that have a vector.

        Parameters
        ----------
        sums
            Sums over the whole vocabulary: `collect` without targets gives them.
        vectors
            The vectors they were collected with.
        **options
            How the matrix is learned: `weighting`, `ridge`, … (see `alacarte.transform.solve.Solve`).

        Examples
        --------
        >>> from alacarte import collect
        >>> rng = np.random.default_rng(0)
        >>> vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
        >>> text = [" ".join(rng.choice(vectors.words, 40)) for _ in range(200)]
        >>> transform = Transform.fit(collect(vectors, text, window=5), vectors, weighting=None)
        >>> transform.report.words, transform.matrix.shape
        (50, (3, 3))
        """
        if not isinstance(sums, ContextSums):
            raise BadSums("a transform is learned from sums: pass `collect(vectors, corpus)`, or call `ALaCarte.fit`")
        return cls.learn(sums, WordVectors.of(vectors), Solve(**options))

    @classmethod
    def learn(cls, sums: ContextSums, vectors: WordVectors, solve: Solve) -> "Transform":
        """Return what `fit` does, with its options in a record."""
        # scipy loads slowly, and most transforms are loaded and not learned
        from alacarte.transform.fitting import learn_matrix

        if sums.dimension != vectors.dimension or sums.fingerprint != vectors.fingerprint:
            raise TransformMismatch("the sums were made with other vectors; collect them again with these")
        solution, report = learn_matrix(sums, vectors, solve)
        d = vectors.dimension
        return cls(
            solution[:, :d].astype(np.float32),
            solution[:, d].astype(np.float32) if solve.intercept else None,
            sums.settings,
            vectors.fingerprint,
            Probe.of(vectors),
            sums.weights.for_vectors(vectors),
            report,
        )

    # ------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """Save the transform: `.bin`, `.npy` and `.csv` hold the bare matrix, any other ending all metadata, too."""
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
        if self.intercept is not None:
            tensors["intercept"] = self.intercept
        if self.weights.values is not None:
            tensors["context_weights"] = self.weights.values
        if self.probe is not None:
            tensors |= {"probe": self.probe.vectors, **word_tensors(self.probe.words, "probe_words")}
        metadata = {
            "name": self.name,
            "weights": self.weights.name,
            "weights_words": self.weights.words,
            "settings": None if self.settings is None else asdict(self.settings),
            "fingerprint": self.fingerprint,
            "report": None if self.report is None else self.report.to_dict(),
        }
        write_artifact(path, KIND, tensors, metadata, VERSION)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, dimension: int | None = None, averaging: Averaging | None = None
    ) -> "Transform":
        """Load a transform: ours (`.safetensors`), the authors' `.bin`, `.npy`, `.csv`, R's `.rds` and `.rda`.

        Parameters
        ----------
        path
            The file.
        dimension
            How many dimensions it has; an error if the file holds another matrix.
        averaging
            How contexts were averaged for a bare matrix, which does not say: "occurrence" for `.bin` files by default,
            "token" or "context" for those of conText. For other files it is not checked if left out.
        """
        with local_copy(path, BadTransform) as file:
            if not file.is_file():
                raise BadTransform(f"{path}: no such file; pass the path of a transform (.safetensors, .bin, .npy, …)")
            with decoding(file, BadTransform):
                return cls._load(file, file.suffix.lower(), dimension, averaging)

    @classmethod
    def _load(cls, file: Path, ending: str, dimension: int | None, averaging: Averaging | None) -> "Transform":
        if ending == ".safetensors":
            return read_artifact(file, KIND, BadTransform, VERSION).decode(cls.from_artifact)
        if ending == ".bin":
            matrix = matrices.read_raw(file, dimension)
            averaging = averaging or "occurrence"
        elif ending == ".npy":
            matrix = matrices.read_npy(file)
        elif ending in (".csv", ".tsv", ".txt"):
            matrix = matrices.read_number_table(file)
        elif ending in (".rds", ".rda", ".rdata"):
            matrix = matrices.read_r(file)
        else:
            raise BadTransform(
                f"{file}: transforms end in .safetensors, .bin, .npy, .csv, .rds or .rda; rename or convert it"
            )
        if dimension is not None and matrix.shape != (dimension, dimension):
            raise BadTransform(f"{file}: holds a matrix of shape {matrix.shape}, not {dimension} × {dimension}")
        settings = Reading(averaging=averaging) if averaging else None
        return cls(matrix.astype(np.float32), settings=settings, name=file.name)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "Transform":
        """Return the transform in an artifact of ours."""
        matrix = artifact.tensor("matrix", np.float32, 2)
        if matrix.shape[0] != matrix.shape[1]:
            raise artifact.damaged("its matrix is not square")
        probe = None
        if "probe" in artifact.tensors:
            probe = Probe(artifact.words("probe_words"), np.array(artifact.tensor("probe", np.float32, 2)))
        values = artifact.tensors.get("context_weights")
        weights = ContextWeights(
            artifact.value("weights", str),
            None if values is None else np.array(values),
            artifact.optional("weights_words", str),
        )
        known = {name: artifact.metadata.get(name) is not None for name in ("settings", "report")}
        return cls(
            matrix,
            artifact.tensor("intercept", np.float32, 1) if "intercept" in artifact.tensors else None,
            artifact.record("settings", Reading) if known["settings"] else None,
            artifact.optional("fingerprint", str),
            probe,
            weights,
            FitReport.from_dict(artifact.value("report", dict)) if known["report"] else None,
            artifact.optional("name", str),
        )


def describe(artifact: Artifact) -> dict[str, Any]:
    """Return what is in a file with a transform, for people."""
    transform = Transform.from_artifact(artifact)
    facts: dict[str, Any] = {
        "name": transform.name,
        "dimension": transform.dimension,
        "intercept": transform.intercept is not None,
        "fingerprint_of_vectors": transform.fingerprint,
    }
    if transform.report is not None:
        facts["report"] = transform.report
    elif transform.settings is not None:
        facts["settings"] = asdict(transform.settings)
    return facts
