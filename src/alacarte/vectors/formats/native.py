"""Our own format: an artifact with the matrix, the words as bytes, and what else is known of each word.

Tensors: `matrix` (F32, words × dimensions); `words` (UTF-8 bytes, one word after the other) and `words_offsets` (I64,
one more than words) with their hashes; `counts` (I64, how many occurrences each vector comes from) and `origin` (I64, a
place in the list `origin_names`) where they are known. Words are unique and values finite: the writer saw to that.
"""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.artifact import Artifact, read_artifact, word_tensors, write_artifact
from alacarte.errors import BadVectors
from alacarte.vectors.formats.rows import Problems, WordRows
from alacarte.vectors.formats.streams import uncompressed
from alacarte.vectors.words import PackedWords

KIND = "word vectors"
IN_FOLDER = "vectors.safetensors"  # the vectors in the folder of a model


def write(path: str | PathLike[str], rows: WordRows, metadata: Mapping[str, Any] | None = None) -> None:
    """Write words and vectors, and metadata beside them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.safetensors"
    ...     write(file, WordRows(["a"], np.ones((1, 2), np.float32), counts=np.array([7])))
    ...     again = read(file, None, Problems(file))
    ...     list(again.words), again.counts.tolist()
    (['a'], [7])
    """
    write_artifact(path, KIND, tensors_of(rows), dict(metadata or {}))


def tensors_of(rows: WordRows) -> dict[str, NDArray[Any]]:
    """Return the arrays that `rows_of_artifact` reads."""
    tensors = {"matrix": np.asarray(rows.matrix, np.float32), **PackedWords.of(rows.words).tensors()}
    if rows.counts is not None:
        tensors["counts"] = np.asarray(rows.counts, np.int64)
    if rows.origin is not None:
        names, codes = np.unique(np.array(rows.origin, dtype=object), return_inverse=True)
        tensors |= {"origin": codes.astype(np.int64), **word_tensors(names.tolist(), "origin_names")}
    return tensors


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read words and matrix of a file or of a saved model; they stay memory-mapped unless the file is compressed."""
    path = Path(path) / IN_FOLDER if Path(path).is_dir() else path
    with uncompressed(path) as plain:
        rows = rows_of_artifact(read_artifact(plain, KIND, BadVectors))
        if plain != Path(path):  # a copy, which is removed at the end
            counts = None if rows.counts is None else rows.counts.copy()
            rows = replace(rows, words=list(rows.words), matrix=rows.matrix.copy(), counts=counts)
            rows.matrix.flags.writeable = False
        return rows if limit is None else rows.first(limit)


def rows_of_artifact(artifact: Artifact) -> WordRows:
    """Return the words and vectors in an artifact that holds `tensors_of`."""
    words = PackedWords.from_artifact(artifact)
    matrix = artifact.tensor("matrix", np.float32, 2)
    counts = artifact.tensor("counts", np.int64, 1) if "counts" in artifact.tensors else None
    origin = _origin(artifact) if "origin" in artifact.tensors else None
    if any(len(part) != len(words) for part in (matrix, counts, origin) if part is not None):
        raise artifact.damaged(f"it has {len(words)} words and a matrix of shape {matrix.shape}")
    return WordRows(
        words, matrix if matrix.flags.aligned else matrix.copy(), total=len(words), counts=counts, origin=origin
    )


def _origin(artifact: Artifact) -> tuple[str, ...]:
    names, codes = artifact.words("origin_names"), artifact.tensor("origin", np.int64, 1)
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
        raise artifact.damaged("it does not say where its vectors come from")
    return tuple(names[code] for code in codes.tolist())


def describe(artifact: Artifact) -> dict[str, Any]:
    """Return what `alc inspect` says of an artifact of this kind."""
    rows = rows_of_artifact(artifact)
    return {
        "format": "safetensors",
        "words": rows.total,
        "dimension": rows.matrix.shape[1],
        "counts": rows.counts is not None,
        "first_words": rows.words[:10],
    }
