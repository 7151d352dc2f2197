"""Words and vectors, some thousand at a time, on their way into a database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.progress import progress
from alacarte.errors import BadVectors
from alacarte.vectors.databases import Address
from alacarte.vectors.formats.table import Table

ROWS = 4096
VALUES = 1 << 21  # no more of them at a time


@dataclass(frozen=True)
class Block:
    """Some rows of a table."""

    first: int  # the place of the first word
    words: list[str]
    matrix: NDArray[np.float32]
    counts: list[int] | list[None]
    origin: Sequence[str] | list[None]

    @property
    def ranks(self) -> range:
        return range(self.first, self.first + len(self.words))


def blocks(table: Table, address: Address) -> Iterator[Block]:
    """All rows, with a progress bar."""
    rows = max(1, min(ROWS, VALUES // table.matrix.shape[1]))
    with progress(len(table.words), "words", f"writing to {address.name}") as bar:
        for start in range(0, len(table.words), rows):
            words = [table.words[row] for row in range(start, min(start + rows, len(table.words)))]
            stop = start + len(words)
            nothing: list[None] = [None] * len(words)
            counts = nothing if table.counts is None else table.counts[start:stop].tolist()
            origin = nothing if table.origin is None else table.origin[start:stop]
            yield Block(start, words, table.matrix[start:stop], counts, origin)
            bar.update_to(stop)


def table_of(
    words: list[str], matrix: NDArray[np.float32], counts: Sequence[Any], origin: Sequence[Any], address: Address
) -> Table:
    """What was read; counts and origins are known of all words or, as None, of none."""
    for values, what in ((counts, "count"), (origin, "origin")):
        missing = sum(value is None for value in values)
        if 0 < missing < len(words):
            raise BadVectors(
                f"{address.shown}: {missing:,} of {len(words):,} words have no {what}; fill it, or drop the column"
            )
    matrix.flags.writeable = False
    return Table(
        words,
        matrix,
        counts=None if counts[0] is None else np.array(counts, np.int64),
        origin=None if origin[0] is None else tuple(origin),
    )
