"""Every file format that word vectors come in, and the table that picks one by the content of a file."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from alacarte._io.decoding import decoding
from alacarte._io.files import SUFFIXES
from alacarte.errors import BadVectors, Hint
from alacarte.vectors.formats.rows import Problems, Skipped, WordRows
from alacarte.vectors.formats.sniff import PICKLE, sniff
from alacarte.vectors.formats.streams import plain_suffix

__all__ = ["FORMATS", "Format", "Problems", "Skipped", "WordRows", "describe", "read", "sniff", "write"]


@dataclass(frozen=True)
class Format:
    """One format: the module and the functions that read and write it, and the endings of such files' names.

    The functions are named and not imported: some of them need a compiler, and few files are read by more than one.
    """

    module: str
    reader: str = "read"
    writer: str | None = "write"  # None: only read
    suffixes: tuple[str, ...] = ()
    compressible: bool = True  # whether a file may be compressed as a whole, as its ending says

    def function(self, name: str) -> Callable[..., Any]:
        """Return a reader or writer, which is imported now."""
        function: Callable[..., Any] = getattr(import_module(f"alacarte.vectors.formats.{self.module}"), name)
        return function


IPC = (".arrow", ".arrows", ".ipc", ".feather")
FORMATS = {
    "safetensors": Format("native", suffixes=(".safetensors",), compressible=False),
    "glove-text": Format("text", "read_glove", "write_glove", suffixes=(".txt", ".glove")),
    "word2vec-text": Format("text", "read_word2vec", "write_word2vec", suffixes=(".vec", ".w2v")),
    "word2vec-binary": Format("word2vec_binary", suffixes=(".bin",)),
    "npy": Format("npy", suffixes=(".npy",), compressible=False),
    "csv": Format("csv_table", "read", "write_csv", suffixes=(".csv",)),
    "tsv": Format("csv_table", "read", "write_tsv", suffixes=(".tsv",)),
    "parquet": Format("arrow", "read_parquet", "write_parquet", suffixes=(".parquet",), compressible=False),
    "arrow": Format("arrow", "read_arrow", "write_arrow", suffixes=IPC, compressible=False),
    "rds": Format("r_matrix", writer=None),
    "fasttext-binary": Format("fasttext_binary", writer=None),
    PICKLE: Format("gensim_pickle", suffixes=(".kv",), compressible=False),
    "model2vec": Format("static_models"),
}
FOLDERS = ("model2vec",)  # formats that are folders


def read(
    path: str | PathLike[str],
    format: str | None = None,
    limit: int | None = None,
    on_error: str = "raise",
    trust: bool = False,
) -> WordRows:
    r"""Read a vector file of any format; a pickle, which runs code, only if the caller names it and says `trust`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tiny.txt"
    ...     _ = file.write_text("the 0.5 1\nof 2 3\n")
    ...     rows = read(file)
    >>> rows.words, rows.matrix.tolist()
    (['the', 'of'], [[0.5, 1.0], [2.0, 3.0]])
    """
    problems = Problems(path, on_error)
    chosen = _format_named(format or sniff(path)[0])
    if chosen is FORMATS[PICKLE] and not (trust and format):
        raise _untrusted(path)
    rows = _read(chosen, path, limit, problems)
    if not len(rows.words):
        raise BadVectors(f"{fspath(path)} holds no usable vector; check the file. {problems.report()}")
    return rows


def write(path: str | PathLike[str], rows: WordRows, format: str | None = None, overwrite: bool = False) -> None:
    """Write words and vectors, atomically, in the format that the name asks for; with `overwrite`, to a full folder.

    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "tiny.vec.gz", WordRows(["the"], np.ones((1, 2), np.float32)))
    ...     sniff(Path(folder) / "tiny.vec.gz")
    ('word2vec-text', 'gz')
    """
    chosen = _format_named(format or _format_for(path))
    if not chosen.compressible and Path(path).suffix.lower() in SUFFIXES:
        raise BadVectors(f"{path}: files of this format are not compressed as a whole; leave the ending away")
    if chosen.writer is None:
        raise BadVectors(f"the format {format!r} is only read; write one of: {_writable()}")
    options = {"overwrite": overwrite} if format in FOLDERS else {}
    chosen.function(chosen.writer)(path, rows, **options)


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    r"""Return what a file is: format, compression, bytes, and where cheap to tell words, dimension and first words.

    A pickle is not opened, since that would run its code.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tiny.vec"
    ...     _ = file.write_text("2 3\nthe 1 2 3\nof 4 5 6\n")
    ...     facts = describe(file)
    >>> facts["format"], facts["words"], facts["dimension"], facts["first_words"]
    ('word2vec-text', 2, 3, ['the', 'of'])
    """
    format, compression = sniff(path)
    files = [file for file in Path(path).rglob("*") if file.is_file()] or [Path(path)]
    facts: dict[str, Any] = {
        "path": fspath(path),
        "format": format,
        "compression": compression,
        "bytes": sum(file.stat().st_size for file in files),
        "words": None,
        "dimension": None,
        "first_words": [],
    }
    if format != PICKLE:
        chosen = _format_named(format)
        rows = _read(chosen, path, 10, Problems(path, "skip"))
        facts.update(words=rows.total, dimension=rows.matrix.shape[1], first_words=list(rows.words))
    return facts


def _read(chosen: Format, path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    with decoding(path, BadVectors, "download or copy it again"):
        rows: WordRows = chosen.function(chosen.reader)(path, limit, problems)
    return rows


def _untrusted(path: str | PathLike[str]) -> BadVectors:
    return BadVectors(
        f"{fspath(path)} is a Python pickle, the kind of file that gensim's save() writes, and opening a pickle runs "
        "whatever code is in it. If you made the file, or trust who did, say so",
        hint=Hint(
            f'WordVectors.load(path, format="{PICKLE}", trust=True)',
            f"alc convert {fspath(path)} vectors.safetensors --format {PICKLE} --trust",
        ),
    )


def _format_named(format: str) -> Format:
    if format not in FORMATS:
        raise BadVectors(f"there is no format {format!r}; formats are {', '.join(FORMATS)}; written are {_writable()}")
    return FORMATS[format]


def _writable() -> str:
    return ", ".join(name for name, format in FORMATS.items() if format.writer)


def _format_for(path: str | PathLike[str]) -> str:
    suffix = plain_suffix(path)
    for name, format in FORMATS.items():
        if suffix in format.suffixes:
            return name
    if suffix == ".rds":
        raise BadVectors(f"{path}: R's own files are only read; save as .feather, which arrow::read_feather() reads")
    endings = ", ".join(suffix for format in FORMATS.values() for suffix in format.suffixes)
    raise BadVectors(
        f"cannot tell a format from the name {Path(path).name!r}; use one of {endings}",
        hint=Hint(f"or pass format= one of: {_writable()}", f"or pass --to with one of: {_writable()}"),
    )
