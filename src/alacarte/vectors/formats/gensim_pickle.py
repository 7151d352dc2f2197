"""Vectors that gensim saved with its own `save`: KeyedVectors, and models that hold them.

Such files are Python pickles. Opening a pickle runs whatever code its author put in it, so `formats.read` comes here
only if its caller named the format and said that the file is trusted.
"""

from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte.errors import BadVectors, require
from alacarte.vectors.formats.objects import from_gensim
from alacarte.vectors.formats.problems import Problems
from alacarte.vectors.formats.streams import Source
from alacarte.vectors.formats.table import Table, whole_table


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> Table:
    """Let gensim open the file, with its large arrays memory-mapped."""
    with Source(path) as source:
        if source.compression is not None:
            raise BadVectors(f"{path} is a compressed pickle; unpack it first")
    keyedvectors = require("gensim.models.keyedvectors", extra="gensim", purpose="reading gensim's own files")
    try:
        loaded: Any = keyedvectors.KeyedVectors.load(fspath(path), mmap="r")
    except Exception as error:  # whatever the code in it raises
        raise BadVectors(f"{path} is a pickle that gensim cannot open ({error!r}); save it again") from error
    words, matrix = from_gensim(getattr(loaded, "wv", loaded), fspath(path))
    return replace(whole_table(words, _single(matrix), limit, problems), files=None)  # gensim keeps arrays beside it


def _single(matrix: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(matrix, np.float32).view(np.ndarray)
