"""Vectors that gensim saved with its own `save`: KeyedVectors, and models that hold them.

Such files are Python pickles. Opening a pickle runs whatever code its author put in it, so `formats.read` comes here
only if its caller named the format and said that the file is trusted.
"""

from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np

from alacarte.errors import BadVectors, require
from alacarte.vectors.formats.objects import COUNTED, from_gensim
from alacarte.vectors.formats.rows import Problems, WordRows, checked_rows
from alacarte.vectors.formats.streams import Source, open_sink


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Let gensim open the file, with its large arrays memory-mapped."""
    with Source(path) as source:
        if source.compression is not None:
            raise BadVectors(f"{path} is a compressed pickle; unpack it first")
    keyedvectors = require("gensim.models.keyedvectors", extra="gensim", purpose="reading gensim's own files")
    try:
        loaded: Any = keyedvectors.KeyedVectors.load(fspath(path), mmap="r")
    except Exception as error:  # whatever the code in it raises
        raise BadVectors(f"{path} is a pickle that gensim cannot open ({error!r}); save it again") from error
    rows = from_gensim(getattr(loaded, "wv", loaded), fspath(path))
    matrix = np.ascontiguousarray(rows.matrix, np.float32).view(np.ndarray)
    return checked_rows(replace(rows, matrix=matrix), limit, problems)


def write(path: str | PathLike[str], rows: WordRows) -> None:
    """Write KeyedVectors as gensim's own `save` does, with everything in one file; nothing is opened for it."""
    with open_sink(path) as file:
        keyed_vectors(rows).save(file)


def keyed_vectors(rows: WordRows) -> Any:
    """Return the words and vectors as gensim's KeyedVectors, with their counts."""
    module = require("gensim.models.keyedvectors", extra="gensim", purpose="making gensim KeyedVectors")
    keyed = module.KeyedVectors(rows.matrix.shape[1], count=0)
    keyed.add_vectors(list(rows.words), np.array(rows.matrix))
    if rows.counts is not None:
        keyed.expandos["count"] = np.array(rows.counts)  # `add_vectors(extras=…)` of gensim 4.4 cannot take them
        setattr(keyed, COUNTED, True)
    return keyed
