"""Words and vectors out of other libraries' objects, known by what they have and not by their type."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte.errors import BadVectors
from alacarte.vectors.formats.table import Table

Pair = tuple[list[str], NDArray[Any]]


def table_of(obj: Any) -> Table | None:
    """Words and matrix of anything that has them, not checked, or None.

    >>> table = table_of({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    >>> table.words, table.matrix.tolist()
    (['a', 'b'], [[1.0, 0.0], [0.0, 1.0]])
    """
    if hasattr(obj, "index") and hasattr(obj, "columns") and hasattr(obj, "to_numpy"):
        return _from_frame(obj)
    pair = _pair(obj)
    return None if pair is None else Table(*pair)


def _pair(obj: Any) -> Pair | None:
    if isinstance(obj, Mapping):
        return _from_rows(list(obj), list(obj.values()))
    if isinstance(obj, tuple) and len(obj) == 2:
        return list(obj[0]), np.asarray(obj[1])
    keyed = getattr(obj, "wv", obj)
    if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors"):
        return from_gensim(keyed, "these vectors")
    vocab = getattr(obj, "vocab", obj)
    if hasattr(vocab, "strings") and hasattr(vocab, "vectors"):
        return _from_spacy(vocab)
    return None


def _from_frame(frame: Any) -> Table:
    """A pandas frame with a word a row. What `WordVectors.to_frame` writes beside the dimensions is known again."""
    names = [str(name) for name in frame.columns]
    dimensions = [place for place, name in enumerate(names) if name not in ("count", "origin")]
    if [names[place] for place in dimensions] != [str(number) for number in range(len(dimensions))]:
        return Table(list(frame.index), np.asarray(frame.to_numpy()))  # the columns of someone else
    matrix = np.asarray(frame.iloc[:, dimensions].to_numpy())
    counts = frame["count"].to_numpy() if "count" in names else None
    origin = tuple(frame["origin"]) if "origin" in names else None
    return Table(list(frame.index), matrix, counts=counts, origin=origin)


def _from_rows(words: list[str], rows: list[Any]) -> Pair:
    arrays = [np.asarray(row) for row in rows]
    for word, array in zip(words, arrays, strict=True):
        if array.ndim != 1 or array.shape != arrays[0].shape:
            raise BadVectors(
                f"the vector of {word!r} has shape {array.shape} and the first one {arrays[0].shape}; "
                "give every word as many values"
            )
    return words, np.stack(arrays) if arrays else np.empty((0, 0))


def from_gensim(keyed: Any, source: str) -> Pair:
    """Words and matrix of gensim's KeyedVectors."""
    if not hasattr(keyed, "index_to_key") or not hasattr(keyed, "vectors"):
        raise BadVectors(f"{source}: {type(keyed).__name__} holds no word vectors; pass KeyedVectors or a model")
    words = [key if isinstance(key, str) else str(key) for key in keyed.index_to_key]
    return words, keyed.vectors[: len(words)]


def _from_spacy(vocab: Any) -> Pair:
    vectors = vocab.vectors
    if getattr(vectors, "mode", "default") != "default":
        raise BadVectors(
            "this spaCy vocabulary has floret vectors, which belong to no fixed list of words; "
            "pass a model with ordinary vectors, such as en_core_web_md"
        )
    if len(vectors.data) == 0 or not vectors.key2row:
        raise BadVectors("this spaCy vocabulary has no vectors; load a model that has, such as en_core_web_md")
    keys = [(key, row) for key, row in vectors.key2row.items() if row >= 0]
    data = vectors.data.get() if hasattr(vectors.data, "get") else vectors.data  # from a GPU, if there
    rows = np.array([row for _, row in keys], np.int64)
    return [vocab.strings[key] for key, _ in keys], np.asarray(data)[rows]
