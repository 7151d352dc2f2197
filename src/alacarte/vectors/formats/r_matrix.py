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
LONGEST_SEQUENCE = 1 << 20  # numbers in sequences of an R file that are stored by their ends


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the one matrix with row names in an R file."""
    matrices = r_matrices(Path(path), BadVectors)
    names = [getattr(matrix, "coords", {}).get("dim_0") for matrix in matrices]
    if len(matrices) != 1 or names[0] is None or matrices[0].dtype.kind not in "fiub":
        raise BadVectors(
            f"{path}: an R file with something else than a numeric matrix whose rows have names; in R, save the matrix "
            "alone: saveRDS(matrix, file), and of a data frame with the words in its first column "
            "as.matrix(data.frame(frame[-1], row.names = frame[[1]]))"
        )
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(matrices[0], np.float32)
    return checked_rows(WordRows([str(word) for word in names[0].values], single), limit, problems)


def r_matrices(file: Path, error: type[AlacarteError]) -> list[Any]:
    """Return the matrices in an R file, those with names as arrays of xarray; nothing else is made of what is in it."""
    rdata, parser = require("rdata", extra="r", purpose=READING), require("rdata.parser", extra="r", purpose=READING)
    with decoding(file, error, "in R, write it with saveRDS()"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with file.open("rb") as raw:
            kind = compression(raw.read(16))
            raw.seek(0)
            data = decompressed(raw, kind).read(LARGEST_R_FILE + 1)
        if len(data) > LARGEST_R_FILE:
            raise error(
                f"{file}: more than {LARGEST_R_FILE >> 20} MiB of data, which is more than is read of an R file"
            )
        parsed = parser.parse_data(
            data, altrep_constructor_dict=_bounded(parser.DEFAULT_ALTREP_MAP), extension=file.suffix.lower()
        )
        content = rdata.conversion.convert(parsed, constructor_dict={})
    values = list(content.values()) if isinstance(content, dict) else [content]
    return [value for value in values if getattr(value, "ndim", 0) == 2]


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
