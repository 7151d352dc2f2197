"""Nearest words and n-grams among millions: exact where that is quick, through an approximate index where it is not.

Below `EXACT_LIMIT` vectors the search is `WordVectors.nearest`, exact and without further parts. Above, a graph (HNSW,
by usearch) answers in milliseconds; what it may miss is measured by `recall`, against the exact search.
"""

import json
import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from alacarte._io.files import atomic_write
from alacarte._io.progress import progress
from alacarte._io.table import Record
from alacarte.errors import AlacarteError, AlacarteWarning, BadVectors, require
from alacarte.vectors.word_vectors import Neighbours, VectorsLike, WordVectors

Backend = Literal["auto", "exact", "usearch"]
Precision = Literal["f32", "f16", "bf16", "i8"]
EXACT_LIMIT = 200_000  # vectors; searched exactly in a few hundredths of a second
FORMAT = "alacarte.Index/1"
BLOCK = 1 << 14
FEW = 10  # exact searches that are timed
SEARCHED = 256  # candidates that a query looks at


@dataclass(frozen=True)
class Recall(Record):
    """How many of the true nearest neighbours an index finds, and how long either search takes."""

    recall: float  # share of the exact k nearest that the index gives
    k: int
    queries: int
    milliseconds: float  # a query through the index
    exact_milliseconds: float


class Index:
    """Vectors that can be searched; made by `Index.build`, kept in a folder by `save`.

    >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> Index.build(vectors).nearest([0.0, 2.0], k=2)
    [('car', 1.0), ('dog', 0.8)]
    """

    def __init__(self, vectors: WordVectors, graph: Any = None, settings: dict[str, Any] | None = None) -> None:
        self.vectors = vectors
        self._graph = graph
        self.settings = settings or {}

    @property
    def backend(self) -> str:
        return "exact" if self._graph is None else "usearch"

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        return f"Index({len(self):,} vectors, {self.backend})"

    @classmethod
    def build(
        cls,
        vectors: VectorsLike,
        *,
        backend: Backend = "auto",
        precision: Precision = "bf16",
        connectivity: int = 32,
        effort: int = 64,
        threads: int | None = None,
        show_progress: bool | None = None,
    ) -> "Index":
        """An index over vectors; "auto" is exact below 200,000 of them and usearch above.

        `precision` of the values in the graph, its `connectivity` (edges a node) and the `effort` of building it
        trade recall for memory and time; every cosine that is returned is computed from the vectors themselves.
        """
        if backend not in get_args(Backend):
            raise AlacarteError(f"a backend is one of {', '.join(get_args(Backend))}, not {backend!r}")
        source = WordVectors.of(vectors)
        if backend == "exact" or (backend == "auto" and len(source) < EXACT_LIMIT):
            return cls(source)
        usearch = require("usearch.index", extra="index", purpose="an approximate index")
        settings = {"precision": precision, "connectivity": connectivity, "effort": effort}
        graph = _graph(usearch, source.dimension, settings)
        with progress(len(source), "vectors", "building the index", show_progress) as bar:
            for low in range(0, len(source), BLOCK):
                block = source.matrix[low : low + BLOCK]
                try:
                    graph.add(np.arange(low, low + len(block)), block, threads=threads or 0)
                except RuntimeError as error:  # what usearch makes of Ctrl-C
                    if "terminated" in str(error):
                        raise KeyboardInterrupt from None
                    raise
                bar.update_to(low + len(block))
        return cls(source, graph, settings)

    # --------------------------------------------------------------------------------------------- search

    def nearest(
        self, query: npt.ArrayLike, k: int = 10, *, exclude: Iterable[str] = (), effort: int | None = None
    ) -> Any:
        """As `WordVectors.nearest`: (word, cosine) pairs for a vector, or a list of these for each row of a matrix.

        `effort` is how many candidates the graph looks at; more finds more and takes longer.
        """
        if self._graph is None:
            return self.vectors.nearest(query, k, exclude=exclude)
        left_out = {exclude} if isinstance(exclude, str) else set(exclude)
        wanted = min(k + len(left_out), len(self))
        queries, single = self.vectors._queries(query)
        if k < 0:
            raise ValueError(f"k must not be negative, not {k}")
        self._graph.expansion_search = max(effort or SEARCHED, wanted)
        found: list[Neighbours] = []
        for row in queries:
            if k == 0 or not row.any():
                found.append(self.vectors.nearest(row, k, exclude=left_out))
                continue
            keys = np.asarray(self._graph.search(row.astype(np.float32), wanted).keys).astype(np.int64).ravel()
            candidates = [self.vectors.words[key] for key in np.sort(keys)]
            found.append(self.vectors.nearest(row, k, among=candidates, exclude=left_out))
        return found[0] if single else found

    def recall(self, k: int = 10, queries: int = 100, *, seed: int = 0, effort: int | None = None) -> Recall:
        """Search for some of the index's own vectors, and compare with the exact search.

        >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        >>> Index.build(vectors).recall(k=2, queries=3).recall
        1.0
        """
        rng = np.random.default_rng(seed)
        rows = rng.choice(len(self), size=min(queries, len(self)), replace=False)
        matrix = self.vectors.matrix[rows]
        self.nearest(matrix[0], k, effort=effort)  # what is made when first needed is not the search
        self.vectors.nearest(matrix[0], k)
        begun = time.perf_counter()
        answers = [self.nearest(row, k, effort=effort) for row in matrix]
        between = time.perf_counter()
        for row in matrix[:FEW]:
            self.vectors.nearest(row, k)
        ended = time.perf_counter()
        exact = self.vectors.nearest(matrix, k)  # all at once, which is faster
        # By cosine and not by name: of several words with one vector, any will do.
        hits = sum(
            sum(cosine >= truth[-1][1] - 1e-6 for _, cosine in answer)
            for answer, truth in zip(answers, exact, strict=True)
        )
        share = hits / sum(len(truth) for truth in exact)
        searches = 1000 * (between - begun) / len(rows), 1000 * (ended - between) / min(FEW, len(rows))
        return Recall(share, k, len(rows), *searches)

    # ---------------------------------------------------------------------------------------------- files

    def save(self, folder: str | os.PathLike[str]) -> None:
        """A folder with the vectors (memory-mapped when loaded), the graph, and what they are."""
        path = Path(folder)
        if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or (path / "index.json").is_file())):
            raise AlacarteError(f"{path}: exists and is no index; choose another folder or remove it")
        path.mkdir(parents=True, exist_ok=True)
        (path / "index.json").unlink(missing_ok=True)  # until all is there again
        self.vectors.save(path / "vectors.safetensors")
        (path / "graph.usearch").unlink(missing_ok=True)
        if self._graph is not None:
            self._graph.save(os.fspath(path / "graph.usearch"))
        told = {
            "format": FORMAT, "backend": self.backend, "fingerprint": self.vectors.fingerprint,
            "words": len(self), "dimension": self.vectors.dimension, **self.settings,
        }  # fmt: skip
        with atomic_write(path / "index.json") as file:
            file.write((json.dumps(told, indent=2) + "\n").encode())

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "Index":
        """An index from its folder; nothing is read before it is needed."""
        path = Path(folder)
        try:
            told = json.loads((path / "index.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise AlacarteError(f"{path}: not an index ({error}); `alc index build` makes one") from None
        if told.get("format") != FORMAT:
            raise AlacarteError(f"{path}: an index of another format, {told.get('format')!r}; build it again")
        vectors = WordVectors.load(path / "vectors.safetensors")
        if (len(vectors), vectors.dimension) != (told["words"], told["dimension"]):
            raise BadVectors(f"{path}: the vectors are not those the index was made of; build it again")
        if told["backend"] == "exact":
            return cls(vectors)
        settings = {name: told[name] for name in ("precision", "connectivity", "effort")}
        try:
            usearch = require("usearch.index", extra="index", purpose="an approximate index")
        except AlacarteError as error:
            warnings.warn(f"{error}; until then the search is exact and slower", AlacarteWarning, stacklevel=2)
            return cls(vectors)
        graph = _graph(usearch, vectors.dimension, settings)
        graph.view(os.fspath(path / "graph.usearch"))
        if len(graph) != len(vectors):
            raise BadVectors(f"{path}: the graph holds {len(graph):,} of {len(vectors):,} vectors; build it again")
        return cls(vectors, graph, settings)


def _graph(usearch: Any, dimension: int, settings: dict[str, Any]) -> Any:
    return usearch.Index(
        ndim=dimension, metric="cos", dtype=settings["precision"], connectivity=settings["connectivity"],
        expansion_add=settings["effort"],
    )  # fmt: skip
