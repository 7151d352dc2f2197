"""What the experiments use of the library's inner modules, in one place; all else that they import is public.

Each of these would be no longer needed here if the library had it in a public module.
"""

from pathlib import Path

from alacarte._io.files import DAMAGED, atomic_write, compression, decompressed
from alacarte._io.progress import progress
from alacarte._io.table import Columns, Table, columns_of
from alacarte.text.corpus import Corpus

__all__ = [
    "DAMAGED",
    "Columns",
    "Table",
    "atomic_write",
    "columns_of",
    "compression",
    "corpus_identity",
    "decompressed",
    "progress",
    "write_text",
]


def write_text(path: Path, text: str) -> None:
    """A text file that is complete or not there at all."""
    with atomic_write(path) as file:
        file.write(text.encode())


def corpus_identity(corpus: Corpus) -> list[str] | None:
    """Names, sizes and times of a corpus's files, and how they are read; None where it is not files."""
    if corpus.size is None:
        return None
    files = [Path(path) for path in corpus._source]
    return [
        *(f"{path.resolve()} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files),
        repr(corpus._options()),
    ]
