"""A NumPy .npy matrix, memory-mapped, with its words one per line in a text file beside it."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from alacarte._io.decoding import decoding
from alacarte._io.files import atomic_write
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.streams import Source, plain_suffix
from alacarte.vectors.formats.table import Table, whole_table

ENDINGS = (".vocab.txt", ".words.txt", ".txt", ".words", ".vocab")


def word_list_of(path: str | PathLike[str]) -> Path:
    """The word list beside a matrix, or an error that names what was looked for."""
    path = Path(path)
    while path.suffix and plain_suffix(path) == ".npy":
        path = path.with_suffix("")
    candidates = [path.with_name(path.name + ending) for ending in ENDINGS]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    names = ", ".join(candidate.name for candidate in candidates)
    raise BadVectors(f"{path}.npy has no list of words beside it; put the words, one per line, into one of: {names}")


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read the matrix and its list of words; float32 in C order stays memory-mapped."""
    matrix = read_matrix(path)
    words_path = word_list_of(path)
    try:
        lines = words_path.read_bytes().decode().split("\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadVectors(f"{words_path}, line {line}: the word is not UTF-8; convert the file to UTF-8") from None
    if lines[-1] == "":
        lines.pop()
    words = [line.removesuffix("\r") for line in lines]
    if len(words) != len(matrix):
        raise BadVectors(
            f"{words_path} has {len(words)} words and {path} has {len(matrix)} rows; "
            "make them the same, one word per line in the order of the rows"
        )
    table = whole_table(words, matrix, limit, problems)
    if table.matrix.dtype != np.float32 or not table.matrix.flags.c_contiguous:
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(table.matrix, np.float32)
        table = whole_table(list(table.words), single, None, problems, len(words))
    return replace(table, files=(words_path,))


def read_matrix(path: str | PathLike[str]) -> NDArray[Any]:
    """A two-dimensional matrix of numbers from a .npy file, memory-mapped unless compressed."""
    with Source(path) as source:
        compressed = source.compression is not None
    with decoding(path, BadVectors, "save it again with numpy.save"):
        if compressed:
            with Source(path) as source:
                matrix = np.lib.format.read_array(cast("BinaryIO", source), allow_pickle=False)
        else:
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise BadVectors(f"{path} holds {matrix.ndim}-dimensional {matrix.dtype} values; a matrix of numbers is needed")
    return cast("NDArray[Any]", matrix.view(np.ndarray))


def write(path: str | PathLike[str], table: Table) -> None:
    """Write X.npy, and the words to X.vocab.txt."""
    path = Path(path)
    for word in table.words:
        if "\n" in word or word.endswith("\r"):
            raise BadVectors(f"{word!r} cannot be written one word per line; save as .safetensors")
    name = path.name[: -len(".npy")] if path.name.lower().endswith(".npy") else path.name
    # One inside the other: both are complete before either takes its place.
    with atomic_write(path.with_name(name + ENDINGS[0])) as word_file, atomic_write(path) as matrix_file:
        word_file.writelines(encode_word(word) + b"\n" for word in table.words)
        np.lib.format.write_array(matrix_file, np.ascontiguousarray(table.matrix, "<f4"), allow_pickle=False)
