"""The one format of every file that this package writes for itself: context sums, transforms, models and so on.

An artifact is a safetensors file (`alacarte._io.tensors`) whose metadata say `format` "alacarte", its `kind`, the
`version` of that kind, and hold one JSON object with everything that is not an array. Its last tensor holds SHA-256
digests: of the header, and of every other tensor that is not empty. Reading compares all of them, but for tensors that
the reader names (`lazily`), which it compares when they are first used (`Artifact.verify`).

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     file = Path(folder) / "a.safetensors"
...     write_artifact(file, "example", {"matrix": np.eye(2)}, {"name": "identity"})
...     artifact = read_artifact(file, "example")
...     print(artifact.metadata["name"], artifact.tensor("matrix", np.float64, 2).tolist())
identity [[1.0, 0.0], [0.0, 1.0]]
"""

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from alacarte._io.copies import local_copy
from alacarte._io.decoding import decoding, read_json
from alacarte._io.files import atomic_write
from alacarte._io.printing import shortened
from alacarte._io.tensors import (
    Computed,
    Places,
    damaged,
    layout,
    little_endian_blocks,
    map_tensors,
    pack_words,
    read_header,
    unpack_words,
)
from alacarte.errors import AlacarteError

FORMAT = "alacarte"
DIGESTS = "digests"  # the name of the last tensor
UPGRADE = "upgrade it: pip install --upgrade alacarte-embeddings"

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Artifact:
    """What `read_artifact` returns: memory-mapped arrays, and a dictionary of everything else."""

    path: Path
    kind: str
    version: int
    metadata: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    """The arrays by name, memory-mapped and read-only."""
    error: type[AlacarteError]
    """What is raised when something in the file is not as it should be."""
    _digests: dict[str, bytes]
    _verified: set[str] = field(default_factory=set)

    def damaged(self, what: str) -> AlacarteError:
        """Return the error for a file that is not as it should be.

        >>> artifact = Artifact(Path("a.sums"), "context sums", 1, {}, {}, AlacarteError, {})
        >>> print(artifact.damaged("its counts are negative"))
        a.sums is damaged: its counts are negative; copy or write it again
        """
        return damaged(self.path, what, self.error)

    def tensor(self, name: str, dtype: DTypeLike | None = None, ndim: int | None = None) -> NDArray[Any]:
        """Return an array, which must exist and have this type of values and this number of dimensions."""
        if name not in self.tensors:
            raise self.damaged(f"it has no tensor {name!r}")
        array = self.tensors[name]
        if (dtype is not None and array.dtype != np.dtype(dtype)) or (ndim is not None and array.ndim != ndim):
            raise self.damaged(f"tensor {name!r} holds {array.dtype} values in {array.ndim} dimensions")
        return array

    def words(self, name: str = "words") -> list[str]:
        """Return the list of words that `word_tensors` stored under this name."""
        data, offsets = self.tensor(name, np.uint8, 1), self.tensor(f"{name}_offsets", np.int64, 1)
        return unpack_words(data, offsets, self.path, self.error)

    def value(self, name: str, kind: type[Result]) -> Result:
        """Return an entry of the metadata, which must exist and have this type (`object` for any)."""
        if name not in self.metadata:
            raise self.damaged(f"it does not say its {name!r}")
        value = self.metadata[name]
        if kind is float and type(value) is int:
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind in (int, float)):
            raise self.damaged(f"its {name!r} is {shortened(repr(value))}, of another type than {kind.__name__}")
        return value

    def optional(self, name: str, kind: type[Result]) -> Result | None:
        """Return the same for an entry that may be missing, or null."""
        return None if self.metadata.get(name) is None else self.value(name, kind)

    def record(self, name: str, kind: type[Result]) -> Result:
        """Return an entry of the metadata as a dataclass, such as the settings.

        A key that the dataclass does not have was written by a newer version of this package, and is an error: what
        it means is not known here.
        """
        return self.build(kind, cast("dict[str, Any]", self.value(name, dict)), name)

    def build(self, kind: type[Result], values: Mapping[str, Any], name: str) -> Result:
        """Return a dataclass built from a dictionary of the metadata, which messages call `name`."""
        assert is_dataclass(kind)
        known = {item.name: item for item in fields(kind) if item.init}
        unknown = [key for key in values if key not in known]
        if unknown:
            raise self.error(
                f"{self.path}: {name} {unknown[0]!r} is not known here; the file was made by a newer version of "
                f"alacarte, so {UPGRADE}"
            )
        for key, item in known.items():
            if key not in values and item.default is MISSING and item.default_factory is MISSING:
                raise self.damaged(f"{name} {key!r} is missing")
        try:
            return cast("Result", kind(**values))
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, AlacarteError) as problem:
            raise self.damaged(f"{name} make no sense ({problem})") from None

    def decode(self, build: Callable[["Artifact"], Result]) -> Result:
        """Return `build(self)`; an error that it raises names the file."""
        with decoding(self.path, self.error):
            return build(self)

    def verify(self, *names: str) -> None:
        """Compare tensors (all, unless some are named) with their digests; raises if a byte is not what was written.

        What was compared before is not compared again.
        """
        for name in names or self.tensors:
            array = self.tensors[name]
            if name in self._verified or not array.size:
                continue
            if sha256(array.reshape(-1).view(np.uint8).data).digest() != self._digests[name]:
                raise self.damaged(f"tensor {name!r} is not what was written")
            self._verified.add(name)


def write_artifact(
    path: str | os.PathLike[str],
    kind: str,
    tensors: Mapping[str, NDArray[Any] | Computed],
    metadata: Mapping[str, Any],
    version: int = 1,
) -> None:
    """Write an artifact, completely or not at all. `metadata` is anything that JSON can hold."""
    if DIGESTS in tensors:
        raise ValueError(f"no tensor may be called {DIGESTS!r}")
    arrays: dict[str, NDArray[Any] | Computed] = {
        name: array if isinstance(array, Computed) else np.asarray(array) for name, array in tensors.items()
    }
    arrays[DIGESTS] = np.empty((1 + sum(array.nbytes > 0 for array in arrays.values()), 32), np.uint8)
    strings = {
        "format": FORMAT,
        "kind": kind,
        "version": str(version),
        "metadata": json.dumps(dict(metadata), ensure_ascii=False),
    }
    header, order = layout(arrays, strings, last=DIGESTS)
    digests = [sha256(header).digest()]
    size = len(header) + sum(array.nbytes for array in arrays.values())
    with atomic_write(path, size) as file:
        file.write(header)
        for name in order[:-1]:
            digest = sha256()
            for block in little_endian_blocks(arrays[name]):
                digest.update(block)
                file.write(block)
            if arrays[name].nbytes:
                digests.append(digest.digest())
        file.write(b"".join(digests))


def read_artifact(
    path: str | os.PathLike[str],
    kind: str | None = None,
    error: type[AlacarteError] = AlacarteError,
    version: int = 1,
    lazily: tuple[str, ...] = (),
) -> Artifact:
    """Open an artifact of a kind (None: any), of this version or an older one.

    All tensors are compared with their digests, but for those named in `lazily`, which their reader sees to.

    Raises `error`, which says whether the file is no artifact, one of another kind, of a newer version, or damaged.
    """
    with local_copy(path, error) as file:
        return _read_artifact(file, kind, error, version, lazily)


def _read_artifact(
    path: Path, kind: str | None, error: type[AlacarteError], version: int, lazily: tuple[str, ...]
) -> Artifact:
    if not path.is_file():
        raise error(f"{path}: there is no such file; check the path")
    tensors, places, strings, mapped = map_tensors(path, error)
    if strings.get("format") != FORMAT or "kind" not in strings:
        raise error(
            f"{path}: not {_a(kind)} but a safetensors file of another program; `alc inspect` says what is in it"
        )
    digests = _read_digests(path, places, mapped, error)
    del tensors[DIGESTS]
    if kind is not None and strings["kind"] != kind:
        raise error(f"{path}: not {_a(kind)} but {_a(strings['kind'])}; pass another file, `alc inspect` says more")
    try:
        found_version = int(strings["version"])
        metadata = read_json(strings["metadata"])
        if not isinstance(metadata, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged(path, "its metadata make no sense", error) from None
    if kind is not None and found_version > version:
        raise error(
            f"{path}: made by a newer version of alacarte ({strings['kind']}, version {found_version}; this one reads "
            f"up to {version}); {UPGRADE}"
        )
    artifact = Artifact(path, strings["kind"], found_version, metadata, tensors, error, digests)
    for name in tensors:
        if name not in lazily:
            artifact.verify(name)
    return artifact


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of artifact that a file says it is, or None if it is no artifact; it may still be damaged."""
    try:
        strings = read_header(path, AlacarteError)[1]
    except AlacarteError:
        return None
    except OSError:
        if Path(path).is_file():  # and cannot be read just now: nobody knows what it is
            raise
        return None
    return strings.get("kind") if strings.get("format") == FORMAT else None


def identity(path: str | os.PathLike[str]) -> str:
    """Return a digest that identifies a file: of its bytes or, for an artifact, of its digests, which is quicker."""
    if kind_of(path) is None:
        with Path(path).open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    _, places, _, mapped = map_tensors(path, AlacarteError)
    if DIGESTS not in places:
        raise damaged(path, "it has no digests", AlacarteError)
    return sha256(mapped[places[DIGESTS][2] :].data).hexdigest()


def word_tensors(words: Iterable[str], name: str = "words") -> dict[str, NDArray[Any]]:
    """Return a list of words as two tensors, for `write_artifact`; `Artifact.words` gives the list back.

    >>> {name: array.tolist() for name, array in word_tensors(["a", "bc"]).items()}
    {'words': [97, 98, 99], 'words_offsets': [0, 1, 3]}
    """
    data, offsets = pack_words(words)
    return {name: data, f"{name}_offsets": offsets}


def _read_digests(
    path: Path, places: Places, mapped: NDArray[np.uint8], error: type[AlacarteError]
) -> dict[str, bytes]:
    """Return the digest of each tensor; that of the header is compared here."""
    if DIGESTS not in places:
        raise damaged(path, "it has no digests", error)
    dtype, shape, begin = places[DIGESTS]
    rows = [bytes(row) for row in mapped[begin:].reshape(-1, 32)] if (len(mapped) - begin) % 32 == 0 else []
    if not rows or np.dtype(dtype) != np.uint8 or shape != (len(rows), 32):
        raise damaged(path, "its digests make no sense", error)
    start = min(place[2] for place in places.values())
    if sha256(mapped[:start].data).digest() != rows[0]:
        raise damaged(path, "its header is not what was written", error)
    full = [name for name in sorted(places, key=lambda name: places[name][2]) if math.prod(places[name][1])]
    if len(full) != len(rows):
        raise error(f"{path}: written by an older version of alacarte, with other digests; make it again")
    return dict(zip(full[:-1], rows[1:], strict=True))


def _a(kind: str | None) -> str:
    """Return a kind with its article, if it is a thing that can be counted.

    >>> _a("transform"), _a("index"), _a("context sums")
    ('a transform', 'an index', 'context sums')
    """
    if not kind:
        return "a file of alacarte"
    if kind.endswith("s"):
        return kind
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
