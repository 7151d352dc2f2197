"""Named arrays in one safetensors file: written atomically, memory-mapped when read.

The layout (github.com/huggingface/safetensors) is eight bytes that give the length of a JSON header, the
header, then the arrays one after the other. It is read here and not through the library, which copies.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     file = Path(folder) / "a.safetensors"
...     write_tensors(file, {"matrix": np.eye(2, dtype=np.float32)}, {"kind": "example"})
...     tensors, metadata = read_tensors(file)
...     print(tensors["matrix"].tolist(), metadata)
[[1.0, 0.0], [0.0, 1.0]] {'kind': 'example'}
"""

import json
import math
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from alacarte._io.decoding import decoding, read_json
from alacarte._io.files import atomic_write
from alacarte._io.urls import display_name, locate
from alacarte.errors import AlacarteError, BadVectors

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
CODES = {np.dtype(text): code for code, text in DTYPES.items()}
MAX_HEADER = 1 << 25  # bytes; JSON takes up to thirty times as much memory
BYTES_AT_ONCE = 1 << 22  # bytes written at a time: few enough to be computed in the same memory again and again


class Computed:
    """An array that is computed a few rows at a time, while it is written: `rows` returns those of some sorted numbers.

    >>> squares = Computed((4, 1), np.int64, lambda numbers: (numbers**2)[:, None])
    >>> squares[1:3].tolist(), squares.take(np.array([0, 3]))[0:2].tolist()
    ([[1], [4]], [[0], [9]])
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: DTypeLike, rows: Callable[[NDArray[np.intp]], NDArray[Any]]
    ) -> None:
        self.shape, self.dtype, self.ndim = shape, np.dtype(dtype), len(shape)
        self.nbytes = math.prod(shape) * self.dtype.itemsize
        self._rows = rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, chosen: slice) -> NDArray[Any]:
        return self._rows(np.arange(*chosen.indices(len(self)), dtype=np.intp))

    def take(self, numbers: NDArray[np.intp]) -> "Computed":
        """Return some of the rows, which are not computed yet either."""
        return Computed((len(numbers), *self.shape[1:]), self.dtype, lambda chosen: self._rows(numbers[chosen]))

    def whole(self) -> NDArray[Any]:
        """Return all rows, in memory."""
        rows = np.empty(self.shape, self.dtype)
        step = max(1, BYTES_AT_ONCE // max(1, self.nbytes // max(1, len(self))))
        for start in range(0, len(self), step):
            rows[start : start + step] = self[start : start + step]
        return rows


class Joined(Computed):
    """One-dimensional arrays, one behind the other, that are joined a few values at a time, while they are written.

    With `numbers`, the values are `numbers[array]`.

    >>> Joined([np.arange(3), np.arange(3)], np.int32)[2:5].tolist()
    [2, 0, 1]
    """

    def __init__(self, arrays: Sequence[NDArray[Any]], dtype: DTypeLike, numbers: NDArray[Any] | None = None) -> None:
        self._arrays, self._numbers = arrays, numbers
        self._bounds = np.concatenate([[0], np.cumsum([array.size for array in arrays], dtype=np.int64)])
        super().__init__((int(self._bounds[-1]),), dtype, lambda chosen: self.whole()[chosen])

    def __getitem__(self, chosen: slice) -> NDArray[Any]:
        low, high, _ = chosen.indices(len(self))
        first, last = np.searchsorted(self._bounds, [low, high], side="right").tolist()
        pieces = [
            array[max(0, low - begin) : max(0, high - begin)]
            for array, begin in zip(self._arrays[first - 1 : last], self._bounds[first - 1 :].tolist(), strict=False)
        ]
        joined = np.concatenate(pieces or [np.empty(0, self.dtype)])
        return (joined if self._numbers is None else self._numbers[joined]).astype(self.dtype, copy=False)


Places = dict[str, tuple[str, tuple[int, ...], int]]  # of each tensor: dtype, shape, first byte


def write_tensors(
    path: str | os.PathLike[str], tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Write named arrays and string metadata to one safetensors file, completely or not at all."""
    header, order = layout(tensors, metadata)
    with atomic_write(path, len(header) + sum(array.nbytes for array in tensors.values())) as file:
        file.write(header)
        for name in order:
            for block in little_endian_blocks(tensors[name]):
                file.write(block)


def layout(
    tensors: Mapping[str, NDArray[Any] | Computed], metadata: Mapping[str, str], last: str | None = None
) -> tuple[bytes, list[str]]:
    """Return the bytes before the arrays, and the order of the arrays; `last` names the one at the end."""
    # Widest items first keeps every array aligned without gaps, which the format forbids.
    order = sorted(tensors, key=lambda name: (name == last, -tensors[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in order:
        array = tensors[name]
        code = CODES.get(array.dtype.newbyteorder("<"))
        if code is None:
            raise TypeError(f"tensor {name!r} has dtype {array.dtype}; convert it to one of {', '.join(DTYPES)}")
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, order


def little_endian_blocks(array: NDArray[Any] | Computed) -> Iterator[memoryview]:
    """Yield the bytes of an array in the order of the file, a few MiB at a time."""
    little = array.dtype.newbyteorder("<")
    rows = array.reshape(1) if isinstance(array, np.ndarray) and array.ndim == 0 else array
    step = max(1, BYTES_AT_ONCE // max(1, rows.nbytes // max(1, len(rows))))
    for start in range(0, len(rows), step):
        block = np.ascontiguousarray(rows[start : start + step], dtype=little)
        yield block.reshape(-1).view(np.uint8).data


def read_header(path: str | os.PathLike[str], error: type[AlacarteError] = BadVectors) -> tuple[Places, dict[str, str]]:
    """Where each tensor lies, and the metadata; checks every size."""
    location = locate(path, error)
    with location.open() as file:  # on a disk, another file may have taken its place meanwhile
        size = location.size if location.path is None else os.fstat(file.fileno()).st_size
        return _header(file, size, display_name(path), error)


def map_tensors(
    path: str | os.PathLike[str], error: type[AlacarteError] = BadVectors
) -> tuple[dict[str, NDArray[Any]], Places, dict[str, str], NDArray[np.uint8]]:
    """Return the arrays of a file, memory-mapped; where they lie; the metadata; and all bytes of the file.

    The file is opened once: another one may take its place at any time.
    """
    with Path(path).open("rb") as file:
        places, metadata = _header(file, os.fstat(file.fileno()).st_size, path, error)
        mapped = np.memmap(file, np.uint8, "r").view(np.ndarray)
    tensors: dict[str, NDArray[Any]] = {}
    for name, (dtype, shape, begin) in places.items():
        count = math.prod(shape)
        with decoding(path, error):  # a shape may be beyond what NumPy can hold
            flat = np.frombuffer(mapped, dtype, count, begin) if count else np.empty(0, dtype)
            tensors[name] = flat.reshape(shape)
        tensors[name].flags.writeable = False
    return tensors, places, metadata, mapped


def forget_pages(array: NDArray[Any]) -> None:
    """Let the system take back the memory of an array that lies in a file; it is read again when it is needed.

    Does nothing for an array in memory of its own, and where the system has no way to do it.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    # A class of its own is memory that lies in no file (`aligned_zeros`), whose content would be lost.
    if type(owner) is not mmap.mmap or not hasattr(mmap, "MADV_DONTNEED") or not array.size:
        return
    begin = array.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    extent = array.itemsize + sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True))
    first, end = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE, begin + extent
    if end - first >= mmap.PAGESIZE:
        owner.madvise(mmap.MADV_DONTNEED, first, (end - first) // mmap.PAGESIZE * mmap.PAGESIZE)


def _header(
    file: BinaryIO, size: int, path: str | os.PathLike[str], error: type[AlacarteError]
) -> tuple[Places, dict[str, str]]:
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length < 2 or length > MAX_HEADER:
        raise error(f"{path} is not a safetensors file; check the path")
    if 8 + length > size:
        raise damaged(path, "its header is cut off", error)
    text = file.read(length)
    try:
        header = read_json(text)
        metadata = header.pop("__metadata__", {})
        entries = sorted(
            (int(begin), int(end), name, DTYPES.get(entry["dtype"]), tuple(int(n) for n in entry["shape"]))
            for name, entry in header.items()
            for begin, end in [entry["data_offsets"]]
        )
        if not all(isinstance(key, str) and isinstance(value, str) for key, value in metadata.items()):
            raise ValueError("metadata that is not text")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise damaged(path, "its header makes no sense", error) from None
    places: Places = {}
    position = 0
    for begin, end, name, dtype, shape in entries:
        if dtype is None:
            raise error(f"{path}: tensor {name!r} has a type that is not supported; convert it to F32 first")
        if begin != position or min(shape, default=0) < 0:
            raise damaged(path, f"tensor {name!r} is not where it should be", error)
        if end - begin != math.prod(shape) * np.dtype(dtype).itemsize:
            raise damaged(path, f"tensor {name!r} has the wrong size", error)
        places[name] = (dtype, shape, 8 + length + begin)
        position = end
    if 8 + length + position != size:
        raise damaged(path, f"it should have {8 + length + position} bytes and has {size}", error)
    return places, metadata


def read_tensors(
    path: str | os.PathLike[str], error: type[AlacarteError] = BadVectors
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Return the arrays of a safetensors file, read-only and memory-mapped, and its metadata.

    A damaged file raises `error`, with the name of the file.
    """
    tensors, _, metadata, _ = map_tensors(path, error)
    return tensors, metadata


def pack_words(words: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    r"""Return words as one array of UTF-8 bytes and `n + 1` offsets into it.

    >>> data, offsets = pack_words(["a", "né"])
    >>> bytes(data), offsets.tolist()
    (b'an\xc3\xa9', [0, 1, 4])
    """
    encoded = [encode_word(word) for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def encode_word(word: str) -> bytes:
    """Return a word in UTF-8; the error names one that cannot be encoded."""
    try:
        return word.encode()
    except UnicodeEncodeError:
        raise BadVectors(
            f"{word!r} holds half a surrogate pair and cannot be stored as UTF-8; rename it or leave it out"
        ) from None


def unpack_words(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    path: str | os.PathLike[str] = "",
    error: type[AlacarteError] = BadVectors,
) -> list[str]:
    """Return the words that `pack_words` packed; `path` is named in the error if they are damaged.

    >>> unpack_words(*pack_words(["a", "né"]))
    ['a', 'né']
    """
    whole = data.ndim == 1 and offsets.ndim == 1 and data.dtype == np.uint8 and offsets.dtype == np.int64
    if not whole or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
        raise damaged(path, "its list of words makes no sense", error)
    text = data.tobytes()
    try:
        return [text[begin:end].decode() for begin, end in pairwise(offsets.tolist())]
    except UnicodeDecodeError:
        raise damaged(path, "its list of words is not UTF-8", error) from None


def damaged(path: str | os.PathLike[str], what: str, error: type[AlacarteError]) -> AlacarteError:
    """Return the error for a file that is not whole."""
    return error(f"{os.fspath(path) or 'the file'} is damaged: {what}; copy or write it again")
