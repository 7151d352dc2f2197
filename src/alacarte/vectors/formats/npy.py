"""A NumPy .npy matrix, memory-mapped, with its words one per line in a text file beside it."""

import io
import json
import re
import time
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from alacarte._io.decoding import decoding
from alacarte._io.files import Companions, atomic_write, hidden_companion, is_stream
from alacarte._io.tensors import encode_word, little_endian_blocks
from alacarte.errors import BadVectors
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.streams import Source, plain_suffix
from alacarte.vectors.formats.table import Table, whole_table

ENDINGS = (".vocab.txt", ".words.txt", ".txt", ".words", ".vocab")
ATTEMPTS = 5  # to read a pair that is being replaced
MARK = b"alacarte "  # begins what stands behind the matrix in a file of ours


def words_path(path: str | PathLike[str]) -> Path:
    """Where `write` puts the words.

    >>> words_path("glove.npy").name
    'glove.vocab.txt'
    """
    path = Path(path)
    return path.with_name((path.name[: -len(".npy")] if path.name.lower().endswith(".npy") else path.name) + ENDINGS[0])


def _word_lists(path: Path) -> list[Path]:
    while path.suffix and plain_suffix(path) == ".npy":
        path = path.with_suffix("")
    return [path.with_name(path.name + ending) for ending in ENDINGS]


def word_list_names(path: str | PathLike[str]) -> list[str]:
    """What a list of words beside a file could be called, if the file is a matrix by its name.

    >>> word_list_names("glove.npy")[:2], word_list_names("glove.txt")
    (['glove.vocab.txt', 'glove.words.txt'], [])
    """
    return [place.name for place in _word_lists(Path(path))] if plain_suffix(path) == ".npy" else []


def word_list_of(path: str | PathLike[str]) -> Path:
    """The word list beside a matrix, or an error that names what was looked for."""
    candidates = _word_lists(Path(path))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    names = ", ".join(candidate.name for candidate in candidates)
    raise BadVectors(f"{path} has no list of words beside it; put the words, one per line, into one of: {names}")


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read the matrix and its list of words; float32 in C order stays memory-mapped."""
    matrix, listed, content = _read_pair(Path(path))
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
    table = whole_table(words, matrix, limit, problems)
    if table.matrix.dtype != np.float32 or not table.matrix.flags.c_contiguous:
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(table.matrix, np.float32)
        table = whole_table(list(table.words), single, None, problems, len(words))
    return replace(table, files=(listed,))


def _read_pair(path: Path) -> tuple[NDArray[Any], Path, bytes]:
    """The matrix, and the file with its words and what it holds; of a pair that we wrote, the words of this matrix."""
    for attempt in range(ATTEMPTS):
        belongs = written_with(path)
        matrix = read_matrix(path)
        if belongs is None:
            candidates = [word_list_of(path)]
        else:
            candidates = [*_word_lists(path), hidden_companion(words_path(path), belongs["generation"])]
        for candidate in candidates:
            try:
                content = candidate.read_bytes()
            except FileNotFoundError:
                continue
            right = belongs is None or sha256(content).hexdigest() == belongs["words"]
            if right and written_with(path) == belongs:
                return matrix, candidate, content
        if attempt and written_with(path) == belongs:
            break
        time.sleep(0.01)  # the pair may be just being replaced
    raise BadVectors(
        f"{words_path(path)} is not the list of words that was written with {path}: it is missing, of another matrix, "
        "or was changed; write both again, or pass (words, matrix) to WordVectors yourself"
    )


def written_with(path: str | PathLike[str]) -> dict[str, str] | None:
    """What `write` put behind a matrix: the digest of its words and its generation; None if it is none of ours.

    It stands in the file as a second array, which whoever reads one array from the file does not see.
    """
    try:
        with Path(path).open("rb") as file:
            shape, _, dtype = _header(file)
            file.seek(int(np.prod(shape, dtype=object)) * dtype.itemsize, io.SEEK_CUR)
            _, _, kind = _header(file)
            text = file.read(1000)
        if kind != np.uint8 or not text.startswith(MARK):
            return None
        facts = json.loads(text[len(MARK) :])
        if re.fullmatch("[0-9a-f]{16}", facts["generation"]) and isinstance(facts["words"], str):
            return {"generation": facts["generation"], "words": facts["words"]}
    except Exception:  # whatever it is, it is not what `write` wrote
        pass
    return None


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    version = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return reader(file)


def read_matrix(path: str | PathLike[str]) -> NDArray[Any]:
    """A two-dimensional matrix of numbers from a .npy file, memory-mapped unless compressed."""
    with Source(path) as source:
        compressed = source.compression is not None
    with decoding(path, BadVectors, "save it again with numpy.save"):
        if compressed:
            with Source(path) as source:
                matrix = np.lib.format.read_array(cast("BinaryIO", source), allow_pickle=False)
        else:
            matrix = _mapped(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise BadVectors(f"{path} holds {matrix.ndim}-dimensional {matrix.dtype} values; a matrix of numbers is needed")
    return cast("NDArray[Any]", matrix.view(np.ndarray))


def _mapped(path: str | PathLike[str]) -> NDArray[Any]:
    """The array in a file, memory-mapped; `numpy.load` opens it twice, and it may be replaced in between."""
    try:
        return cast("NDArray[Any]", np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError:
        time.sleep(0.01)
        return cast("NDArray[Any]", np.load(path, mmap_mode="r", allow_pickle=False))


def write(path: str | PathLike[str], table: Table) -> None:
    """Write X.npy, and the words to X.vocab.txt; both change at one moment, for readers and if the process is killed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.npy"
    ...     write(file, Table(["a", "b"], np.ones((2, 3), np.float32)))
    ...     sorted(item.name for item in Path(folder).iterdir()), np.load(file).shape
    (['a.npy', 'a.vocab.txt'], (2, 3))
    """
    path = Path(path)
    if is_stream(path):
        raise BadVectors(f"{path}: this format needs two files, and here is room for one; choose another format")
    for word in table.words:
        if "\n" in word or word.endswith("\r"):
            raise BadVectors(f"{word!r} cannot be written one word per line; save as .safetensors")
    matrix = np.ascontiguousarray(table.matrix, "<f4")
    words = b"".join(encode_word(word) + b"\n" for word in table.words)
    listed = words_path(path)
    pair = Companions(path, [listed.name], _generation)
    facts = json.dumps({"words": sha256(words).hexdigest(), "generation": pair.generation})
    with pair.writing():
        with atomic_write(pair.path(listed.name), len(words)) as file:
            file.write(words)
        with atomic_write(path, matrix.nbytes) as file:
            for array in (matrix, np.frombuffer(MARK + facts.encode(), np.uint8)):
                np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
                for block in little_endian_blocks(array):
                    file.write(block)


def _generation(path: Path) -> str | None:
    facts = written_with(path)
    return None if facts is None else facts["generation"]


def is_our_pair(path: str | PathLike[str]) -> bool:
    """Whether `write` wrote a matrix and, if there is a list of words, that too."""
    facts, listed = written_with(path), words_path(path)
    return facts is not None and (not listed.exists() or sha256(listed.read_bytes()).hexdigest() == facts["words"])
