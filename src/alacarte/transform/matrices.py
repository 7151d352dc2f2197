"""Square matrices in the files that other tools write: raw float32, numpy, CSV, R."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.decoding import decoding
from alacarte.errors import BadTransform
from alacarte.vectors.formats.r_matrix import r_matrices


def read_raw(file: Path, dimension: int | None) -> npt.NDArray[Any]:
    """Read the authors' files: raw little-endian float32, row by row, without a header."""
    size = file.stat().st_size
    side = dimension or round((size / 4) ** 0.5)
    if size == 0 or size != 4 * side * side:
        raise BadTransform(
            f"{file}: {size:,} bytes are no square float32 matrix"
            + (f" of {dimension} × {dimension} ({4 * side * side:,} bytes)" if dimension else "")
            + "; is the file complete, and is the dimension right?"
        )
    return np.fromfile(file, dtype="<f4").reshape(side, side)


def read_npy(file: Path) -> npt.NDArray[Any]:
    """Return a matrix that numpy.save wrote; a pickle in it is never opened."""
    with decoding(file, BadTransform, "save the matrix with numpy.save"):
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False), np.float64)


def read_number_table(file: Path) -> npt.NDArray[Any]:
    """Read numbers separated by commas, tabs or spaces; a header line and a column of row names are left out."""
    try:
        lines = [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise BadTransform(f"{file}: byte {error.start} is not UTF-8; save the matrix as CSV in UTF-8") from None
    delimiter = next((mark for mark in ",;\t" if lines and mark in lines[0]), None)
    cells = [[cell.strip().strip('"') for cell in line.split(delimiter)] for line in lines]

    def number(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return False
        return True

    if cells and not any(number(cell) for cell in cells[0]):
        cells = cells[1:]
    if cells and len(cells[0]) == len(cells) + 1:
        cells = [row[1:] for row in cells]
    for position, row in enumerate(cells, start=1):
        if len(row) != len(cells) or not all(number(cell) for cell in row):
            raise BadTransform(
                f"{file}: row {position} is not {len(cells)} numbers; a transform is a square table of numbers"
            )
    return np.array(cells, dtype=np.float64)


def read_r(file: Path) -> npt.NDArray[Any]:
    """Return the one square matrix in an R file."""
    matrices = r_matrices(file, BadTransform)
    if len(matrices) != 1:
        raise BadTransform(f"{file}: holds {len(matrices)} matrices; save the one transform alone, with saveRDS()")
    return np.asarray(matrices[0])
