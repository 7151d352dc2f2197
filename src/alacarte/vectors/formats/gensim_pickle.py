"""Vectors that gensim saved with its own `save`: KeyedVectors, and models that hold them.

Such files are Python pickles. Opening a pickle runs whatever code its author put in it, so `formats.read` comes here
only if its caller named the format and said that the file is trusted.
"""

from dataclasses import replace
from os import PathLike, fspath
from typing import Any, BinaryIO

import numpy as np

from alacarte.errors import BadVectors, require
from alacarte.vectors.formats.objects import COUNTED, from_gensim
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
    table = from_gensim(getattr(loaded, "wv", loaded), fspath(path))
    matrix = np.ascontiguousarray(table.matrix, np.float32).view(np.ndarray)
    checked = whole_table(list(table.words), matrix, limit, problems, counts=table.counts)
    return replace(checked, subwords=table.subwords, files=None)  # gensim keeps arrays beside it


def write(file: BinaryIO, table: Table) -> None:
    """Write KeyedVectors as gensim's own `save` does, with everything in one file; nothing is opened for it."""
    keyed_vectors(table).save(file)


def keyed_vectors(table: Table) -> Any:
    """The table as gensim's KeyedVectors, with its counts."""
    module = require("gensim.models.keyedvectors", extra="gensim", purpose="making gensim KeyedVectors")
    keyed = module.KeyedVectors(table.matrix.shape[1], count=0)
    keyed.add_vectors(list(table.words), np.array(table.matrix))
    if table.counts is not None:
        keyed.expandos["count"] = np.array(table.counts)  # `add_vectors(extras=…)` of gensim 4.4 cannot take them
        setattr(keyed, COUNTED, True)
    return keyed
