"""Nearest words and n-grams among millions: exact where that is quick, through an approximate index where it is not.

Below `EXACT_LIMIT` vectors the search is `WordVectors.nearest`, exact and without further parts. Above, a graph (HNSW,
by usearch) answers in milliseconds; what it may miss is measured by `recall`, against the exact search.
"""

import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from alacarte._io import html
from alacarte._io.artifact import kind_of, read_artifact, write_artifact
from alacarte._io.checks import random_seed, whole_number
from alacarte._io.decoding import decoding
from alacarte._io.files import is_stream
from alacarte._io.progress import progress
from alacarte._io.table import Record
from alacarte.errors import AlacarteError, AlacarteWarning, BadVectors, Hint, require
from alacarte.vectors.formats import native
from alacarte.vectors.keyed_matrix import Neighbours
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

Backend = Literal["auto", "exact", "usearch"]
EXACT_LIMIT = 200_000  # vectors; searched exactly in a few hundredths of a second
KIND = "index"
AGAIN = "make the index again with `alc convert`"
ADDED_VECTORS = 1 << 14
TIMED_SEARCHES = 10  # exact searches that are timed
SEARCHED = 256  # candidates that a query looks at
# How values are held in the graph, edges of each node, and candidates that are looked at for a vector that is added.
SETTINGS = {"dtype": "bf16", "connectivity": 32, "expansion_add": 64}


@dataclass(frozen=True)
class Recall(Record):
    """How many of the true nearest neighbours an index finds, and how long either search takes.

    Parameters
    ----------
    recall : float
        The share of the exact `k` nearest that the index finds.
    k, queries : int
        How many neighbours of how many vectors were asked for.
    milliseconds, exact_milliseconds : float
        The time of a query through the index, and of an exact one.
    """

    recall: float
    k: int
    queries: int
    milliseconds: float
    exact_milliseconds: float


class Index:
    """Vectors that can be searched; built by `Index.build`, kept in a file by `save`.

    Attributes
    ----------
    vectors : WordVectors
        The vectors.
    backend : {"exact", "usearch"}
        How they are searched.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> Index.build(vectors).nearest([0.0, 2.0], k=2)
    [('car', 1.0), ('dog', 0.8)]
    """

    def __init__(self, vectors: WordVectors, graph: Any = None) -> None:
        self.vectors = vectors
        self._graph = graph

    @property
    def backend(self) -> str:
        """How the vectors are searched: "exact" or "usearch"."""
        return "exact" if self._graph is None else "usearch"

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        return f"Index({len(self):,} vectors, {self.backend})"

    def _repr_html_(self) -> str:
        return html.card(repr(self), {"vectors": repr(self.vectors)})

    @classmethod
    def build(
        cls,
        vectors: VectorsLike,
        *,
        backend: Backend = "auto",
        threads: int | None = None,
        show_progress: bool | None = None,
    ) -> "Index":
        """Build an index over vectors.

        Every cosine that a search returns is computed from the vectors themselves.

        Parameters
        ----------
        vectors : vectors
            Anything that `WordVectors.of` takes.
        backend : {"auto", "exact", "usearch"}
            "auto" is exact below 200,000 vectors and usearch above.
        threads : int, optional
            How many threads build the graph; all cores by default.
        show_progress : bool, optional
            Whether to show a progress bar; by default, after a second.
        """
        if backend not in get_args(Backend):
            raise AlacarteError(f"a backend is one of {', '.join(get_args(Backend))}, not {backend!r}")
        source = WordVectors.of(vectors)
        if backend == "exact" or (backend == "auto" and len(source) < EXACT_LIMIT):
            return cls(source)
        usearch = require("usearch.index", extra="index", purpose="an approximate index")
        graph = usearch.Index(ndim=source.dimension, metric="cos", **SETTINGS)
        with progress(len(source), "vectors", "building the index", show_progress) as bar:
            for low in range(0, len(source), ADDED_VECTORS):
                block = source.matrix[low : low + ADDED_VECTORS]
                try:
                    graph.add(np.arange(low, low + len(block)), block, threads=threads or 0)
                except RuntimeError as error:  # what usearch makes of Ctrl-C
                    if "terminated" in str(error):
                        raise KeyboardInterrupt from None
                    raise
                bar.update_to(low + len(block))
        return cls(source, graph)

    # --------------------------------------------------------------------------------------------- search

    def nearest(
        self, query: npt.ArrayLike, k: int = 10, *, exclude: Iterable[str] = (), effort: int | None = None
    ) -> Any:
        """Return (word, cosine) pairs for a vector, or a list of these for each row of a matrix.

        Parameters
        ----------
        query, k, exclude
            As in `WordVectors.nearest`.
        effort : int, optional
            How many candidates the graph looks at; more finds more and takes longer.
        """
        if self._graph is None:
            return self.vectors.nearest(query, k, exclude=exclude)
        k = whole_number(k, "k", 1, BadVectors)
        left_out = {exclude} if isinstance(exclude, str) else set(exclude)
        excluded = [self.vectors.index(word) for word in left_out if word in self.vectors]
        wanted = min(k + len(left_out), len(self))
        queries, single = self.vectors._queries(query)
        self._graph.expansion_search = max(effort or SEARCHED, wanted)
        answers: list[Neighbours] = []
        for row in queries:
            keys = np.asarray(self._graph.search(row.astype(np.float32), wanted).keys).astype(np.int64).ravel()
            answers += self.vectors._nearest(row[None], k, np.setdiff1d(keys, excluded))
        return answers[0] if single else answers

    def recall(self, k: int = 10, queries: int = 100, *, seed: int = 0, effort: int | None = None) -> Recall:
        """Search for some of the index's own vectors, and compare with the exact search.

        Parameters
        ----------
        k : int
            How many neighbours to ask for.
        queries : int
            For how many vectors, drawn at random.
        seed : int
            Of the draw.
        effort : int, optional
            As in `nearest`.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        >>> Index.build(vectors).recall(k=2, queries=3).recall
        1.0
        """
        queries, rng = whole_number(queries, "queries", 1), np.random.default_rng(random_seed(seed))
        usable = np.flatnonzero(np.isfinite(self.vectors._lengths))  # vectors of zeros have no neighbours
        rows = rng.choice(usable, size=min(queries, len(usable)), replace=False)
        matrix = self.vectors.matrix[rows]
        self.nearest(matrix[0], k, effort=effort)  # what is built when first needed is not the search
        self.vectors.nearest(matrix[0], k)
        begun = time.perf_counter()
        answers = [self.nearest(row, k, effort=effort) for row in matrix]
        between = time.perf_counter()
        for row in matrix[:TIMED_SEARCHES]:
            self.vectors.nearest(row, k)
        ended = time.perf_counter()
        exact = self.vectors.nearest(matrix, k)  # all at once, which is faster
        # By cosine and not by name: of several words with one vector, any will do.
        hits = sum(
            sum(cosine >= truth[-1][1] - 1e-6 for _, cosine in answer)
            for answer, truth in zip(answers, exact, strict=True)
        )
        share = hits / sum(len(truth) for truth in exact)
        searches = 1000 * (between - begun) / len(rows), 1000 * (ended - between) / min(TIMED_SEARCHES, len(rows))
        return Recall(share, k, len(rows), *searches)

    # ---------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write one file with the vectors and the graph, completely or not at all.

        Parameters
        ----------
        path : str or path
            The file. An older index is replaced, any other file only with `overwrite`.
        overwrite : bool
            Replace whatever file is there.
        """
        file = Path(path)
        if file.is_dir():
            raise AlacarteError(f"{file}: is a folder, and an index is a file; choose another name")
        if not overwrite and file.is_file() and not is_stream(file) and kind_of(file) != KIND:
            raise AlacarteError(
                f"{file}: exists and is no index; choose another name or remove it",
                hint=Hint("or pass overwrite=True", "or pass --overwrite"),
            )
        tensors = native.tensors_of(self.vectors._as_rows())
        if self._graph is not None:
            tensors["graph"] = np.frombuffer(self._graph.save(), np.uint8)
        write_artifact(file, KIND, tensors, {"fingerprint": self.vectors.fingerprint})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Index":
        """Read an index from its file; vectors and graph are mapped into memory.

        If usearch is not installed, there is a warning, and the search is exact and slower.
        """
        file = Path(path)
        if kind_of(file) is None:
            raise BadVectors(f"{file}: not an index; `alc convert VECTORS FILE.index` makes one")
        artifact = read_artifact(file, KIND, BadVectors)
        vectors = WordVectors._of_rows(native.rows_of_artifact(artifact), None, os.fspath(path))
        if "graph" not in artifact.tensors:
            return cls(vectors)
        try:
            usearch = require("usearch.index", extra="index", purpose="an approximate index")
        except AlacarteError as error:
            warnings.warn(f"{error}; until then the search is exact and slower", AlacarteWarning, stacklevel=2)
            return cls(vectors)
        with decoding(file, BadVectors, AGAIN):
            graph = usearch.Index.restore(artifact.tensor("graph", np.uint8, 1), view=True)
        if (len(graph), graph.ndim) != vectors.matrix.shape:
            raise artifact.damaged(f"its graph holds {len(graph):,} of {len(vectors):,} vectors")
        return cls(vectors, graph)
