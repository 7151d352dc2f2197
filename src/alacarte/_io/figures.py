"""Figures of matplotlib, written completely or not at all, and marked as ours."""

import os
from pathlib import Path
from typing import Any

from alacarte._io.files import atomic_write

MARK = "alacarte-embeddings"
FIELDS = {"png": "Software", "pdf": "Creator", "svg": "Creator"}  # where these formats say what made them
ENDS = 1 << 16  # bytes at either end of a file in which the mark is looked for


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format of the path's ending."""
    kind = Path(path).suffix[1:].lower()
    metadata = {FIELDS[kind]: MARK} if kind in FIELDS else None
    with atomic_write(path) as file:
        figure.savefig(file, format=kind, metadata=metadata)


def is_our_figure(path: str | os.PathLike[str]) -> bool:
    """Whether `save_figure` wrote a file."""
    with Path(path).open("rb") as file:
        head = file.read(ENDS)
        file.seek(max(0, os.fstat(file.fileno()).st_size - ENDS))
        return MARK.encode() in head + file.read()
