"""Lengths and directions of vectors: unit rows, cosines, principal components. All in float64."""

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles
from alacarte.errors import NotEnoughData

CENTRED_ROWS = 1 << 14  # rows that are converted to float64 together


def unit_rows(matrix: npt.ArrayLike) -> Doubles:
    """Return one vector, or each row of a matrix, at length 1; a row of zeros stays zeros.

    Examples
    --------
    >>> unit_rows([[3.0, 4.0], [0.0, 0.0], [1e300, 0.0]]).tolist()
    [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]
    """
    rows = np.asarray(matrix, dtype=np.float64)
    exponent = np.frexp(np.abs(rows).max(axis=-1, keepdims=True))[1]
    # No square overflows, and none of them vanishes; multiplying by a power of 2 rounds nothing.
    rows = rows * np.ldexp(1.0, np.minimum(-exponent, 1000))
    return np.asarray(rows / _lengths(rows))


def cosines(a: npt.ArrayLike, b: npt.ArrayLike) -> Doubles:
    """Return the cosine of each row of `a` with the same row of `b`; either may be a single vector.

    With a row of zeros, which has no direction, it is 0. For every row of `a` with every row of `b`, multiply:
    ``unit_rows(a) @ unit_rows(b).T``.

    Examples
    --------
    >>> cosines([[3.0, 4.0], [0.0, 0.0], [-2.0, 0.0]], [1.0, 0.0]).tolist()
    [0.6, 0.0, -1.0]
    """
    return np.asarray(np.clip((unit_rows(a) * unit_rows(b)).sum(axis=-1), -1.0, 1.0))


def top_components(matrix: npt.ArrayLike, k: int) -> Doubles:
    """Return the k principal components: orthogonal directions of length 1 in which rows differ most, as k rows.

    The mean of the rows is taken away first. Of the two signs a direction can have, it gets the one that makes its
    largest value positive.

    Examples
    --------
    >>> top_components([[0.0, 1.0], [4.0, 1.5], [8.0, 1.0]], 1).round(6).tolist()
    [[1.0, 0.0]]
    """
    rows = np.asarray(matrix)
    n, d = rows.shape
    if not 0 <= k <= min(n, d):
        raise NotEnoughData(f"{n} vectors of {d} dimensions do not have {k} principal components; ask for fewer")
    mean = rows.mean(axis=0, dtype=np.float64)
    scatter = np.zeros((d, d))
    for low in range(0, n, CENTRED_ROWS):
        centred = rows[low : low + CENTRED_ROWS] - mean
        scatter += centred.T @ centred
    components = np.linalg.eigh(scatter)[1].T[::-1][:k]
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return np.asarray(components * np.sign(largest))


def principal_plane(points: npt.ArrayLike) -> tuple[Doubles, Doubles]:
    """Return points on the plane of their first two principal components, and the share of the variance along each.

    Examples
    --------
    >>> flat, shares = principal_plane([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0]])
    >>> flat.shape, round(float(shares.sum()), 6)
    ((3, 2), 1.0)
    """
    rows = np.asarray(points, dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    flat, squares = np.zeros((len(rows), 2)), np.zeros(2)
    flat[:, : len(directions[:2])] = centred @ directions[:2].T
    squares[: len(singular[:2])] = singular[:2] ** 2
    return flat, squares / max(float((singular**2).sum()), np.finfo(float).tiny)


def _lengths(rows: Doubles) -> Doubles:
    """Return the length of each row, as a column; 1 for a row of zeros."""
    lengths = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    return np.asarray(np.where(lengths > 0, lengths, 1.0))
