"""What is kept on disk so that it need not be made again: copies of files that are slow to read; facts about vectors.

Both belong to files as they were: path, size, time of the last change and inode are part of their names.
"""

import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from alacarte._io.artifact import read_artifact, write_artifact
from alacarte._io.files import cache_folder
from alacarte.errors import AlacarteError, AlacarteWarning, BadVectors, Hint
from alacarte.vectors import formats
from alacarte.vectors.formats import named, native
from alacarte.vectors.formats.problems import Problems, Skipped
from alacarte.vectors.formats.table import Table

SLOW = ("glove-text", "word2vec-text", "word2vec-binary", "csv", "tsv", "rds")  # the others open soon enough
VERSION = 2  # raise it when the same file would be read differently
YOUNG = 2.0  # seconds; a file that was changed so lately may change again without a sign
LARGE = 1 << 20  # values of a matrix from which on facts about it are worth a file


def read(
    path: str | os.PathLike[str],
    format: str | None,
    limit: int | None,
    on_error: str,
    folder: str | os.PathLike[str] | None = None,
    trust: bool = False,
) -> Table:
    """As `formats.read`, by way of a copy that is made the first time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tiny.txt"
    ...     _ = file.write_text("the 0.5 1\\nof 2 3\\n")
    ...     first = read(file, None, None, "raise", Path(folder) / "copies")
    ...     again = read(file, None, None, "raise", Path(folder) / "copies")
    ...     [copy.suffix for copy in (Path(folder) / "copies").iterdir()], list(again.words) == list(first.words)
    (['.safetensors'], True)
    """
    Problems(path, on_error)  # complains about an unknown on_error
    kind = format or formats.sniff(path)[0]
    if kind not in SLOW:
        return formats.read(path, format, limit, on_error, trust)
    copy = Path(folder or cache_folder()) / f"{_name([Path(path)], kind, limit, on_error)}.safetensors"
    try:
        return _read_copy(copy)
    except BadVectors:  # not there, or damaged: make it
        table = formats.read(path, kind, limit, on_error)
    try:
        _write_copy(copy, table)
        return _read_copy(copy)
    except OSError as error:
        warning = AlacarteWarning(
            f"no cached copy of {path}: {error}",
            hint=Hint(
                "pass cache= a folder that can be written to", "let XDG_CACHE_HOME name a folder that can be written to"
            ),
        )
        warnings.warn(warning, stacklevel=4)
        return table


def read_package(name: str, limit: int | None, problems: Problems) -> Table:
    """The vectors that an installed package brings, by way of a copy that opens at once."""
    files = named.files(name)
    try:
        copy = cache_folder() / f"{_name(files)}.safetensors"
        try:
            return _read_copy(copy, limit)
        except BadVectors:  # not there, or damaged: make it
            _write_copy(copy, named.read(name, None, problems))
        return _read_copy(copy, limit)
    except OSError:  # nobody asked for a copy
        return named.read(name, limit, problems)


def _write_copy(copy: Path, table: Table) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    skipped = {"counts": dict(table.skipped.counts), "examples": list(table.skipped.examples)}
    native.write(copy, table, {"skipped": skipped, "total": table.total})


def _read_copy(copy: Path, limit: int | None = None) -> Table:
    artifact = read_artifact(copy, native.KIND, BadVectors, lazily=native.LAZILY)
    skipped = artifact.record("skipped", Skipped)
    skipped = replace(skipped, examples=tuple(skipped.examples))
    total = artifact.metadata.get("total")
    return replace(native.table_of(artifact, limit), skipped=skipped, total=total)


class Facts:
    """Arrays that take long to work out from the values of vectors, such as the lengths of all rows, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, NDArray[Any]] | None = None

    def get(self, name: str) -> NDArray[Any] | None:
        if self._known is None:
            try:
                self._known = dict(read_artifact(self._path, "facts about vectors", BadVectors).tensors)
            except (AlacarteError, OSError):
                self._known = {}
        return self._known.get(name)

    def put(self, name: str, array: NDArray[Any]) -> None:
        self._known = {**(self._known or {}), name: array}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_artifact(self._path, "facts about vectors", self._known, {})
        except OSError:  # nobody asked for the file
            pass


def facts(source: str | os.PathLike[str], table: Table, *options: object) -> Facts | None:
    """Where facts about vectors from a file or package are kept; None for small ones and for files just changed."""
    if table.matrix.size < LARGE or table.files is None:
        return None
    if isinstance(source, str) and source in named.PACKAGES and not Path(source).is_file():
        files = named.files(source)
    else:
        files = [Path(source).expanduser(), *table.files]
    try:
        if any(time.time() - file.stat().st_mtime < YOUNG for file in files):
            return None
        return Facts(cache_folder() / f"{_name(files, *options)}.facts")
    except OSError:  # nobody asked for facts
        return None


def _name(files: Iterable[Path], *options: object) -> str:
    """A name for what is made of files as they are now, under some options."""
    files = list(files)
    states = [(file, file.stat()) for file in files]
    identities = [[str(file.resolve()), state.st_size, state.st_mtime_ns, state.st_ino] for file, state in states]
    digest = hashlib.blake2b(json.dumps([VERSION, identities, options]).encode(), digest_size=12).hexdigest()
    return f"{files[0].name[:80]}-{digest}"
