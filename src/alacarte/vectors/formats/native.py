"""Our own format: a safetensors file with the matrix, the words, and room for more.

Tensors: `matrix` (F32, words × dimensions), `words` (UTF-8 bytes, one word after the other), `word_offsets`
(I64, one more than words). Other tensors and metadata may stand beside them.
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from alacarte._io.tensors import pack_words, read_tensors, unpack_words, write_tensors
from alacarte.errors import BadVectors
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.streams import Source
from alacarte.vectors.formats.table import Table, whole_table

FORMAT, VERSION = "alacarte-vectors", 1


def write(
    path: str | PathLike[str],
    words: Sequence[str],
    matrix: NDArray[Any],
    extra: Mapping[str, NDArray[Any]] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write words, matrix, and `extra` tensors and metadata beside them.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.safetensors"
    ...     write(file, ["a"], np.ones((1, 2), np.float32), {"counts": np.array([7])})
    ...     read(file, None, Problems(file)).words, read_tensors(file)[0]["counts"].tolist()
    (['a'], [7])
    """
    data, offsets = pack_words(words)
    tensors = {
        **(extra or {}),
        "matrix": np.asarray(matrix, np.float32),
        "words": data,
        "word_offsets": offsets,
    }
    write_tensors(path, tensors, {"format": FORMAT, "version": str(VERSION), **(metadata or {})})


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read words and matrix; the matrix stays memory-mapped unless the file is compressed."""
    words, matrix = words_and_matrix(path)
    return whole_table(words, matrix, limit, problems)


def words_and_matrix(path: str | PathLike[str]) -> tuple[list[str], NDArray[np.float32]]:
    """The two without a look at each value."""
    tensors, metadata = _tensors(path)
    missing = {"matrix", "words", "word_offsets"} - tensors.keys()
    if missing:
        raise BadVectors(
            f"{path} is a safetensors file without {', '.join(sorted(missing))}: not word vectors written by "
            "alacarte; read it with the safetensors package and pass (words, matrix) to WordVectors.of"
        )
    if metadata.get("format") == FORMAT and metadata.get("version") != str(VERSION):
        raise BadVectors(f"{path} was written by a newer alacarte; run: pip install --upgrade alacarte-embeddings")
    words = unpack_words(tensors["words"], tensors["word_offsets"], path)
    matrix = tensors["matrix"]
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype != np.float32:
        raise BadVectors(
            f"{path} is damaged: {len(words)} words and a {matrix.dtype} matrix of shape {matrix.shape}; write it again"
        )
    return words, matrix if matrix.flags.aligned else matrix.copy()


def _tensors(path: str | PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    with Source(path) as source:
        if source.compression is None:
            return read_tensors(path)
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / Path(path).name
            with plain.open("wb") as file:
                shutil.copyfileobj(cast("BinaryIO", source), file)
            tensors, metadata = read_tensors(plain)
            return {name: np.array(array) for name, array in tensors.items()}, metadata
