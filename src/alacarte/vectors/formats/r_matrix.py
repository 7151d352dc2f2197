"""R's .rds and .rda files; and vectors in them: a matrix with one row per word, and the words as names of the rows."""

import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from alacarte._io.decoding import decoding
from alacarte._io.files import compression, decompressed
from alacarte.errors import AlacarteError, BadVectors, require
from alacarte.vectors.formats.rows import Problems, WordRows, checked_rows

R_HEADS = (b"X\n\0\0\0", b"RDX2\n", b"RDX3\n", b"A\n2\n", b"A\n3\n", b"RDA2\n", b"RDA3\n")  # how R's files begin
LARGEST_R_FILE = 1 << 30  # bytes of an R file, unpacked: a matrix of 11,000 dimensions
READING = "reading R's .rds and .rda files"
SAVE = "in R, write it with saveRDS()"
LONGEST_SEQUENCE = 1 << 20  # numbers in sequences of an R file that are stored by their ends


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
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
    return checked_rows(WordRows([str(word) for word in names[0]], single), limit, problems)


def _no_matrix(path: str | PathLike[str]) -> BadVectors:
    return BadVectors(
        f"{path}: an R file with something else than a numeric matrix whose rows have names; in R, save the matrix "
        "alone: saveRDS(matrix, file), and of a data frame with the words in its first column "
        "as.matrix(data.frame(frame[-1], row.names = frame[[1]]))"
    )


def parse_r(file: Path, error: type[AlacarteError]) -> Any:
    """Return the content of an R file as the objects of rdata's parser."""
    parser = require("rdata.parser", extra="r", purpose=READING)
    with decoding(file, error, SAVE), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with file.open("rb") as raw:
            kind = compression(raw.read(16))
            raw.seek(0)
            data = decompressed(raw, kind).read(LARGEST_R_FILE + 1)
        if len(data) > LARGEST_R_FILE:
            raise error(
                f"{file}: more than {LARGEST_R_FILE >> 20} MiB of data, which is more than is read of an R file"
            )
        return parser.parse_data(
            data, altrep_constructor_dict=_bounded(parser.DEFAULT_ALTREP_MAP), extension=file.suffix.lower()
        )


def _bounded(constructors: Mapping[bytes, Callable[[Any], Any]]) -> dict[bytes, Callable[[Any], Any]]:
    """Limit the sequences that R stores by their ends, as 1:n for the names of rows, to `LONGEST_SEQUENCE` in all."""
    left = [LONGEST_SEQUENCE]

    def checked(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def sequence(state: Any) -> Any:
            left[0] -= int(state.value[0])
            if left[0] < 0 or state.value[0] < 0:
                raise ValueError(f"sequences of more than {LONGEST_SEQUENCE:,} numbers")
            return build(state)

        return sequence

    return {name: checked(build) if b"seq" in name else build for name, build in constructors.items()}
