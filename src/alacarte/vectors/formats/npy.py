"""A NumPy .npy matrix, memory-mapped, with its words in a text file beside it, one word per line.

Behind the matrix we write a second array, which holds a digest of the words. Readers of one array from the file do not
see it; we tell by it whether the list of words beside a matrix is the one that was written with it.
"""

import json
import math
import os
from hashlib import sha256
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.decoding import decoding
from alacarte._io.files import atomic_write, is_stream, lock
from alacarte._io.tensors import encode_word, little_endian_blocks
from alacarte.errors import AlacarteError, BadVectors
from alacarte.vectors.formats.rows import Problems, WordRows, checked_rows
from alacarte.vectors.formats.streams import Source, plain_suffix

WAIT = 60.0  # seconds for another process that writes the same pair
WORD_LIST_ENDINGS = (".vocab.txt", ".words.txt", ".txt", ".words", ".vocab")
NPY_MARK = b"alacarte "  # begins the second array in a file of ours


def words_path(path: str | PathLike[str]) -> Path:
    """Where `write` puts the words.

    >>> words_path("glove.npy").name
    'glove.vocab.txt'
    """
    return _word_lists(Path(path))[0]


def _word_lists(path: Path) -> list[Path]:
    while path.suffix and plain_suffix(path) == ".npy":
        path = path.with_suffix("")
    return [path.with_name(path.name + ending) for ending in WORD_LIST_ENDINGS]


def word_list_names(path: str | PathLike[str]) -> list[str]:
    """Return what a list of words beside a file could be called, if the file is a matrix by its name.

    >>> word_list_names("glove.npy")[:2], word_list_names("glove.txt")
    (['glove.vocab.txt', 'glove.words.txt'], [])
    """
    return [place.name for place in _word_lists(Path(path))] if plain_suffix(path) == ".npy" else []


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the matrix and its list of words; float32 in C order stays memory-mapped."""
    matrix, digest = read_matrix(path)
    listed, content = _read_words(Path(path), digest)
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadVectors(f"{listed}, line {line}: the word is not UTF-8; convert the file to UTF-8") from None
    if lines[-1] == "":
        lines.pop()
    words = [line.removesuffix("\r") for line in lines] if b"\r" in content else lines
    if len(words) != len(matrix):
        raise BadVectors(
            f"{listed} has {len(words)} words and {path} has {len(matrix)} rows; "
            "make them the same, one word per line in the order of the rows"
        )
    if matrix.dtype != np.float32 or not matrix.flags.c_contiguous:
        with np.errstate(over="ignore"):
            matrix = np.ascontiguousarray(matrix, np.float32)
    return checked_rows(WordRows(words, matrix), limit, problems)


def _read_words(path: Path, digest: str | None) -> tuple[Path, bytes]:
    """Return the file with the words of a matrix, and its content; `digest` is that of the words written with it."""
    for place in _word_lists(path):
        if place.is_file():
            content = place.read_bytes()
            if digest in (None, sha256(content).hexdigest()):
                return place, content
    if digest is None:
        names = ", ".join(place.name for place in _word_lists(path))
        raise BadVectors(f"{path} has no list of words beside it; put the words, one per line, into one of: {names}")
    raise BadVectors(
        f"{words_path(path)} is not the list of words that was written with {path}: it is missing, of another matrix, "
        "or was changed; write both again, or pass (words, matrix) to WordVectors yourself"
    )


def read_matrix(path: str | PathLike[str]) -> tuple[NDArray[Any], str | None]:
    """Return a matrix, memory-mapped unless compressed, and the digest of its words, if `write` wrote it.

    The file is opened once: another one may take its place at any time.
    """
    with decoding(path, BadVectors, "save it again with numpy.save"), Source(path) as source:
        data = source.whole()
        file = BytesIO(data) if isinstance(data, bytes) else data
        shape, by_column, dtype = _header(file)
        matrix = np.frombuffer(data, dtype, math.prod(shape), file.tell()).reshape(
            shape, order="F" if by_column else "C"
        )
        file.seek(matrix.nbytes, os.SEEK_CUR)
        digest = _read_mark(file)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise BadVectors(f"{path} holds {matrix.ndim}-dimensional {matrix.dtype} values; a matrix of numbers is needed")
    return matrix, digest


def _read_mark(file: Any) -> str | None:
    """Return the digest behind a matrix that `write` wrote."""
    try:
        _, _, kind = _header(file)
        text = file.read(1000)
        if kind == np.uint8 and text.startswith(NPY_MARK):
            return str(json.loads(text[len(NPY_MARK) :])["words"])
    except (ValueError, KeyError, TypeError, EOFError, SyntaxError, RecursionError):
        pass  # whatever it is, it is not what `write` wrote
    return None


def _header(file: Any) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    version = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return reader(file)


def write(path: str | PathLike[str], rows: WordRows) -> None:
    """Write X.npy, and the words to X.vocab.txt; a reader who finds one of them without the other says so.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.npy"
    ...     write(file, WordRows(["a", "b"], np.ones((2, 3), np.float32)))
    ...     sorted(item.name for item in Path(folder).iterdir()), np.load(file).shape
    (['a.npy', 'a.vocab.txt'], (2, 3))
    """
    path = Path(path)
    if is_stream(path):
        raise BadVectors(f"{path}: this format needs two files, and here is room for one; choose another format")
    for word in rows.words:
        if "\n" in word or word.endswith("\r"):
            raise BadVectors(f"{word!r} cannot be written one word per line; save as .safetensors")
    matrix = np.ascontiguousarray(rows.matrix, "<f4")
    words = b"".join(encode_word(word) + b"\n" for word in rows.words)
    mark = NPY_MARK + json.dumps({"words": sha256(words).hexdigest()}).encode()
    with lock(path, BadVectors, wait=WAIT), atomic_write(words_path(path), len(words)) as listed:
        listed.write(words)
        listed.flush()  # so that both files lie on the disk before either takes its place
        os.fsync(listed.fileno())
        with atomic_write(path, matrix.nbytes) as file:
            for array in (matrix, np.frombuffer(mark, np.uint8)):
                np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
                for block in little_endian_blocks(array):
                    file.write(block)


def is_our_pair(path: str | PathLike[str]) -> bool:
    """Whether `write` wrote a matrix and, if there is a list of words, that too."""
    try:
        digest, listed = read_matrix(path)[1], words_path(path)
    except AlacarteError:
        return False
    return digest is not None and (not listed.exists() or sha256(listed.read_bytes()).hexdigest() == digest)
