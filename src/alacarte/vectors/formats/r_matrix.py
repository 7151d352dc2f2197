"""Vectors as a matrix of R's in an .rds file: a row a word, the words as the names of the rows, as conText wants them.

Counts and origins are the attributes `count` and `origin` of the matrix. Values are doubles, which hold every float32.
The format is R's "XDR" of version 2, which every R since 1.4 reads, compressed with gzip as `saveRDS` does.
"""

import gzip
import struct
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from alacarte._io.decoding import decoding
from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors, require
from alacarte.vectors.formats.columns import COUNT, ORIGIN
from alacarte.vectors.formats.matrices import READING, SAVE, parse_r
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.table import Table, whole_table

HEADS = (b"X\n\0\0\0", b"RDX2\n", b"RDX3\n", b"A\n2\n", b"A\n3\n", b"RDA2\n", b"RDA3\n")  # how R's files begin
# R's codes for kinds of objects, and flags beside them.
SYMBOL, PAIR, CHARACTERS, WHOLES, DOUBLES, STRINGS, LIST, NOTHING = 1, 2, 9, 13, 14, 16, 19, 254
WITH_ATTRIBUTES, WITH_TAG = 1 << 9, 1 << 10
UTF8, ASCII = 1 << 15, 1 << 18
EXACT = 1 << 53  # up to which a double holds every whole number
LONG = (1 << 31) - 1  # from which on a length takes 64 bits
BLOCK = 1 << 16


def write(file: BinaryIO, table: Table) -> None:
    """Write the matrix with its row names."""
    for word in (*table.words, *(table.origin or ())):
        if "\0" in word:
            raise BadVectors(f"{word!r} holds a character that R's strings cannot hold; save as .safetensors")
    if table.counts is not None and len(table.counts) and int(np.abs(table.counts).max()) > EXACT:
        raise BadVectors("a count is larger than R's numbers are exact; save as .safetensors")
    with gzip.GzipFile("", "wb", 1, file, mtime=0) as packed:
        _write_matrix(cast("BinaryIO", packed), table)


def _write_matrix(out: BinaryIO, table: Table) -> None:
    rows, columns = table.matrix.shape
    out.write(b"X\n" + _integers(2, 0x30000, 0x20300))
    out.write(_integers(DOUBLES | WITH_ATTRIBUTES) + _length(rows * columns))
    with progress(columns, "dimensions", "writing") as bar:
        for column in range(columns):
            out.write(np.ascontiguousarray(table.matrix[:, column], ">f8").data)
            bar.update_to(column + 1)
    _write_attribute(out, "dim")
    out.write(_integers(WHOLES, 2, rows, columns))
    _write_attribute(out, "dimnames")
    out.write(_integers(LIST, 2))
    _write_strings(out, table.words)
    out.write(_integers(NOTHING))
    if table.counts is not None:
        _write_attribute(out, COUNT)
        out.write(_integers(DOUBLES) + _length(rows) + np.ascontiguousarray(table.counts, ">f8").tobytes())
    if table.origin is not None:
        _write_attribute(out, ORIGIN)
        _write_strings(out, table.origin)
    out.write(_integers(NOTHING))


def _write_attribute(out: BinaryIO, name: str) -> None:
    """The name of an attribute; its value comes next."""
    out.write(_integers(PAIR | WITH_TAG, SYMBOL) + _characters(name))


def _write_strings(out: BinaryIO, texts: Sequence[str]) -> None:
    out.write(_integers(STRINGS) + _length(len(texts)))
    for low in range(0, len(texts), BLOCK):
        out.write(b"".join(map(_characters, texts[low : low + BLOCK])))


def _characters(text: str) -> bytes:
    encoded = encode_word(text)
    return _integers(CHARACTERS | (ASCII if text.isascii() else UTF8), len(encoded)) + encoded


def _integers(*values: int) -> bytes:
    return struct.pack(f">{len(values)}i", *values)


def _length(values: int) -> bytes:
    return _integers(values) if values <= LONG else _integers(-1) + struct.pack(">Q", values)


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Read the one matrix with row names in an R file."""
    rdata = require("rdata", extra="r", purpose=READING)
    parsed = parse_r(Path(path), BadVectors).object
    kinds = require("rdata.parser", extra="r", purpose=READING).RObjectType
    if parsed.info.type is kinds.LIST and parsed.value[1].info.type is kinds.NILVALUE:
        parsed = parsed.value[0]  # of an .rda, the one object in it
    if parsed.info.type not in (kinds.REAL, kinds.INT) or parsed.attributes is None:
        raise _no_matrix(path)
    with decoding(path, BadVectors, SAVE), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attributes = rdata.conversion.convert(parsed.attributes, constructor_dict={})
        shape = tuple(int(size) for size in attributes.get("dim", ()))
        names = attributes.get("dimnames") or [None]
        names = list(names.values()) if isinstance(names, dict) else names
        if len(shape) != 2 or names[0] is None or len(names[0]) != shape[0]:
            raise _no_matrix(path)
        matrix = np.asarray(parsed.value).reshape(shape, order="F")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(matrix, np.float32)
    words = [str(word) for word in names[0]]
    counts, origin = _whole(attributes.get(COUNT), len(words)), _texts(attributes.get(ORIGIN), len(words))
    return whole_table(words, single, limit, problems, counts=counts, origin=origin)


def _no_matrix(path: str | PathLike[str]) -> BadVectors:
    return BadVectors(
        f"{path}: an R file with something else than a numeric matrix whose rows have names; in R, save the matrix "
        "alone: saveRDS(matrix, file), and of a data frame with the words in its first column "
        "as.matrix(data.frame(frame[-1], row.names = frame[[1]]))"
    )


def _whole(values: Any, wanted: int) -> Any:
    array = np.asarray([] if values is None else values)
    fits = array.shape == (wanted,) and array.dtype.kind in "fi" and np.isfinite(array).all()
    return array.astype(np.int64) if fits and (array == np.floor(array)).all() else None


def _texts(values: Iterable[Any] | None, wanted: int) -> tuple[str, ...] | None:
    texts = tuple(str(value) for value in values) if isinstance(values, list | np.ndarray) else ()
    return texts if len(texts) == wanted else None
