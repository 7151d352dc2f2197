"""Binary copies of slow text files, memory-mapped the next time."""

import hashlib
import json
import os
import warnings
from pathlib import Path

from alacarte._io.tensors import read_header
from alacarte.errors import AlacarteWarning, BadVectors
from alacarte.vectors import formats
from alacarte.vectors.formats import native
from alacarte.vectors.formats.problems import Problems, Skipped
from alacarte.vectors.formats.table import Table

SLOW = ("glove-text", "word2vec-text", "word2vec-binary")  # the others are memory-mapped anyway
VERSION = 1  # raise it when the same file would be read differently


def default_folder() -> Path:
    """Where copies go: `$XDG_CACHE_HOME/alacarte`, or `~/.cache/alacarte`."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "alacarte"


def read(
    path: str | os.PathLike[str],
    format: str | None,
    limit: int | None,
    on_error: str,
    folder: str | os.PathLike[str] | None = None,
) -> Table:
    """As `formats.read`, by way of a copy that is made the first time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tiny.txt"
    ...     _ = file.write_text("the 0.5 1\\nof 2 3\\n")
    ...     first = read(file, None, None, "raise", Path(folder) / "copies")
    ...     again = read(file, None, None, "raise", Path(folder) / "copies")
    ...     [copy.suffix for copy in (Path(folder) / "copies").iterdir()], again.words == first.words
    (['.safetensors'], True)
    """
    Problems(path, on_error)  # complains about an unknown on_error
    format = format or formats.sniff(path)[0]
    if format not in SLOW:
        return formats.read(path, format, limit, on_error)
    copy = Path(folder or default_folder()) / _name(Path(path), format, limit, on_error)
    try:
        return _read_copy(copy)
    except (OSError, BadVectors, ValueError, KeyError):  # not there, or damaged: make it
        table = formats.read(path, format, limit, on_error)
    metadata = {
        "skipped": json.dumps([dict(table.skipped.counts), table.skipped.examples]),
        "total": json.dumps(table.total),
    }
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        native.write(copy, table.words, table.matrix, metadata=metadata)
        return _read_copy(copy)
    except OSError as error:
        warnings.warn(
            f"no cached copy of {path}: {error}; pass cache= a folder that can be written to",
            AlacarteWarning,
            stacklevel=4,
        )
        return table


def _name(path: Path, format: str, limit: int | None, on_error: str) -> str:
    state = path.stat()
    key = [VERSION, str(path.resolve()), state.st_size, state.st_mtime_ns, format, limit, on_error]
    digest = hashlib.blake2b(json.dumps(key).encode(), digest_size=12).hexdigest()
    return f"{path.name[:80]}-{digest}.safetensors"


def _read_copy(copy: Path) -> Table:
    words, matrix = native.words_and_matrix(copy)
    metadata = read_header(copy)[1]
    counts, examples = json.loads(metadata["skipped"])
    return Table(words, matrix, Skipped(counts, tuple(examples)), json.loads(metadata["total"]))
