"""The vectors as whole numbers, computed when their words occur: rows that windows are summed from."""

import mmap
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Bytes, Ints, Longs, Singles
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import FINER, Scale, split_dimensions
from alacarte.contexts.weights import ContextWeights
from alacarte.vectors.word_vectors import WordVectors

LANES = 16  # values that vector code works on at a time
CACHE_LINE = 64  # bytes of a cache line
JOINED_ROWS = 4096  # rows of sums whose parts are put together at a time
PIECE = 20  # vectors, at most, of a piece of a row: as many as registers hold, with some to spare


@dataclass(frozen=True, eq=False)
class IntegerVectors:
    """Rows of int32 for the vectors under a scale: its dimensions, then weight and a 1 for words that count.

    Behind the dimensions lie the second parts of those that are split (`alacarte.contexts.scale`), in their order.
    `rows` is empty until `fill` is called with the ids of words; its last row is zero, for unknown words.
    """

    matrix: Singles
    weights: Singles  # one a word, or empty if all are 1
    scale: Scale
    split: Longs  # dimensions that have a second part
    few: bool = False  # whether few of the words are going to occur
    first: int = 0  # the dimension of the matrix that is the first of the scale
    rows: Ints = field(init=False)
    _filled: Bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_filled", np.zeros(self.known, dtype=np.uint8))
        object.__setattr__(self, "rows", aligned_zeros(self.known + 1, row_width(self.columns), np.int32, self.few))

    @classmethod
    def of(cls, vectors: WordVectors, weights: ContextWeights, reading: Reading, few: bool = False) -> "IntegerVectors":
        """Return the vectors under the finest scale for this reading; `few`: few of them are going to occur."""
        largest = 1.0 if weights.values is None else float(weights.values.max())
        values = np.zeros(0, dtype=np.float32) if weights.values is None else weights.values
        scale = Scale.of(vectors.column_max, largest, reading, vectors.typical_length)
        return cls(vectors.matrix, values, scale, split_dimensions(scale, reading), few)

    @property
    def known(self) -> int:
        """How many words have a vector."""
        return int(self.matrix.shape[0])

    @property
    def dimension(self) -> int:
        """How many dimensions the vectors have."""
        return len(self.scale.rows)

    @property
    def columns(self) -> int:
        """The dimensions and the second parts of those that are split."""
        return self.dimension + len(self.split)

    @property
    def lanes(self) -> tuple[int, ...]:
        """Return a zero for each vector of a piece of a row: by its length kernels know how many there are."""
        return (0,) * row_pieces(self.columns)[1]

    def fill(self, ids: Ints) -> None:
        """Make the rows of these words, where that was not done before; may be called by several threads at once."""
        from alacarte.contexts._windows_kernel import quantise_rows

        factors, unit = self.scale.row_factors, float(np.exp2(self.scale.weights))
        quantise_rows(ids, self.matrix, self.first, self.weights, factors, self.split, unit, self.rows, self._filled)

    def slice(self, low: int, high: int) -> "IntegerVectors":
        """Return some of the dimensions."""
        split = self.split[(self.split >= low) & (self.split < high)] - low
        scale = self.scale.slice(low, high)
        return IntegerVectors(self.matrix, self.weights, scale, split, self.few, self.first + low)

    def join(self, rows: Longs) -> None:
        """Put the parts of split dimensions together in rows of sums, in place; counts then follow the dimensions."""
        if not self.split.size:
            return
        for low in range(0, len(rows), JOINED_ROWS):
            block = rows[low : low + JOINED_ROWS]
            block[:, self.split] = (block[:, self.split] << FINER) + block[:, self.dimension : self.columns]
            block[:, self.dimension : rows.shape[1] - len(self.split)] = block[:, self.columns :].copy()


def row_pieces(dimension: int) -> tuple[int, int]:
    """Return (pieces, vectors of sixteen values in each) of a row of integers: the dimensions, a weight and a count.

    >>> row_pieces(100), row_pieces(768)
    ((1, 7), (3, 17))
    """
    vectors = -(-(dimension + 2) // LANES)
    pieces = -(-vectors // PIECE)
    return pieces, -(-vectors // pieces)


def row_width(dimension: int) -> int:
    """Return the number of values in a row of integers."""
    pieces, vectors = row_pieces(dimension)
    return pieces * vectors * LANES


class _Memory(mmap.mmap):
    """Memory that lies in no file: what is in it is nowhere else (see `forget_pages`)."""


def aligned_zeros(rows: int, width: int, dtype: npt.DTypeLike, few: bool = False) -> npt.NDArray[np.generic]:
    """Return zeros that begin with a line of the cache; the system gives the memory when it is first touched.

    NumPy asks for large pages, of which the first touch clears two megabytes. Where `few` rows are going to be touched,
    small ones are asked for.
    """
    kind = np.dtype(dtype)
    size = rows * width * kind.itemsize
    if few and size and hasattr(mmap, "MADV_NOHUGEPAGE"):
        pages = _Memory(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pages.madvise(mmap.MADV_NOHUGEPAGE)
        return np.frombuffer(pages, dtype=kind).reshape(rows, width)  # a page begins with a line
    memory = np.zeros(rows * width + CACHE_LINE // kind.itemsize, dtype=kind)
    shift = -memory.ctypes.data % CACHE_LINE // kind.itemsize
    return memory[shift : shift + rows * width].reshape(rows, width)
