"""Our own format: an artifact with the matrix, the words as bytes, and what else is known of each word.

Tensors: `matrix` (F32, words × dimensions); `words` (UTF-8 bytes, one word after the other) and `words_offsets` (I64,
one more than words) with their hashes; `counts` (I64, how many occurrences each vector comes from) and `origin` (I64, a
place in the list `origin_names`) where they are known. Words are unique and values finite: the writer saw to that.

A plain safetensors file of another program with `matrix`, `words` and `words_offsets` is read too, and checked.
"""

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.artifact import DIGESTS, Artifact, kind_of, read_artifact, word_tensors, write_artifact
from alacarte._io.tensors import damaged, read_tensors, unpack_words
from alacarte.errors import BadVectors
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.streams import uncompressed
from alacarte.vectors.formats.table import Table, whole_table
from alacarte.vectors.words import PackedWords

KIND = "word vectors"
LAZILY = ("matrix",)  # what is compared with its digests when it is used,
SMALL = 1 << 26  # if it has more bytes than this


def write(path: str | PathLike[str], table: Table, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a table of words and vectors, and metadata beside it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.safetensors"
    ...     write(file, Table(["a"], np.ones((1, 2), np.float32), counts=np.array([7])))
    ...     again = read(file, None, Problems(file))
    ...     list(again.words), again.counts.tolist()
    (['a'], [7])
    """
    write_artifact(path, KIND, tensors_of(table), dict(metadata or {}))


def tensors_of(table: Table) -> dict[str, NDArray[Any]]:
    """The arrays that `table_of` reads."""
    words = PackedWords.of(table.words)
    twice = words.duplicate()
    if twice is not None:
        raise BadVectors(f"{twice!r} would be written twice; give each word once")
    tensors = {"matrix": np.asarray(table.matrix, np.float32), **words.tensors()}
    if table.counts is not None:
        tensors["counts"] = np.asarray(table.counts, np.int64)
    if table.origin is not None:
        names, codes = np.unique(np.array(table.origin, dtype=object), return_inverse=True)
        tensors |= {"origin": codes.astype(np.int64), **word_tensors(names.tolist(), "origin_names")}
    return tensors


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read words and matrix; the matrix stays memory-mapped unless the file is compressed."""
    with uncompressed(path) as plain:
        return _read(plain, limit, problems, copied=plain != Path(path))


def _read(path: Path, limit: int | None, problems: Problems, copied: bool = False) -> Table:
    if kind_of(path) is None:
        return _read_plain(path, limit, problems, copied)
    artifact = read_artifact(path, KIND, BadVectors, lazily=() if copied else LAZILY)
    return table_of(artifact, limit, copied)


def table_of(artifact: Artifact, limit: int | None = None, copied: bool = False) -> Table:
    """The table in an artifact that holds `write`'s tensors; `copied` takes the values out of the file."""
    words = PackedWords.from_artifact(artifact)
    total = len(words)
    matrix = artifact.tensor("matrix", np.float32, 2)
    counts = artifact.tensor("counts", np.int64, 1) if "counts" in artifact.tensors else None
    origin = _origin(artifact) if "origin" in artifact.tensors else None
    if any(len(part) != total for part in (matrix, counts, origin) if part is not None):
        raise artifact.damaged(f"it has {total} words and a matrix of shape {matrix.shape}")
    if limit is not None:
        words, matrix = words.first(limit), matrix[:limit]
        counts, origin = None if counts is None else counts[:limit], None if origin is None else origin[:limit]
    if copied:
        words = PackedWords.of(list(words))
        matrix, counts = np.array(matrix), None if counts is None else np.array(counts)
        matrix.flags.writeable = False
    lazy: Callable[[Any], bool] | None = partial(artifact.verify_rows, "matrix")
    if copied or matrix.nbytes <= SMALL:
        artifact.verify("matrix")
        lazy = None
    matrix = matrix if matrix.flags.aligned else matrix.copy()
    return Table(words, matrix, total=total, counts=counts, origin=origin, verify=lazy)


def _origin(artifact: Artifact) -> tuple[str, ...]:
    names, codes = artifact.words("origin_names"), artifact.tensor("origin", np.int64, 1)
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
        raise artifact.damaged("it does not say where its vectors come from")
    return tuple(names[code] for code in codes.tolist())


def _read_plain(path: Path, limit: int | None, problems: Problems, copied: bool) -> Table:
    """A safetensors file that is none of ours."""
    tensors, _ = read_tensors(path)
    missing = {"matrix", "words", "words_offsets"} - tensors.keys()
    if missing:
        raise BadVectors(
            f"{path} is a safetensors file without {', '.join(sorted(missing))}: not word vectors written by "
            "alacarte; read it with the safetensors package and pass (words, matrix) to WordVectors.of"
        )
    if {DIGESTS, "word_hashes"} & tensors.keys():
        raise damaged(path, "it was written by alacarte, and does not say so any more", BadVectors)
    words = unpack_words(tensors["words"], tensors["words_offsets"], path)
    matrix = tensors["matrix"]
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype != np.float32:
        raise BadVectors(
            f"{path} is damaged: {len(words)} words and a {matrix.dtype} matrix of shape {matrix.shape}; write it again"
        )
    return whole_table(words, np.array(matrix) if copied or not matrix.flags.aligned else matrix, limit, problems)


def describe(artifact: Artifact) -> dict[str, Any]:
    """What `alc inspect` says of an artifact of this kind."""
    table = table_of(artifact)
    return {
        "format": "safetensors",
        "words": table.total,
        "dimension": table.matrix.shape[1],
        "counts": table.counts is not None,
        "first_words": table.words[:10],
    }
