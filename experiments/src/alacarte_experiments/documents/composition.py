"""N-gram vectors from the vectors of their words alone: what à la carte is compared with."""

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from alacarte import WordVectors
from alacarte.errors import NotEnoughData
from alacarte.vectors.geometry import unit_rows

Method = Literal["sum", "mean", "product"]
Singles = npt.NDArray[np.float32]
BLOCK = 1 << 15


def compose(vectors: WordVectors, ngrams: Iterable[str], method: Method = "sum") -> WordVectors:
    """Vectors for n-grams all of whose words have a vector; the others are left out.

    `sum` and `mean` are of the words' vectors. `product` is DisC (Arora et al. 2018): the element-wise product of
    the words' unit vectors times d^((k-1)/2), which keeps the length of such a product of k random vectors near 1.

    >>> vectors = WordVectors(["new", "york"], [[1.0, 0.0], [0.6, 0.8]])
    >>> compose(vectors, ["new york", "new zorg"])["new york"].tolist()
    [1.600000023841858, 0.800000011920929]
    >>> round(float(compose(vectors, ["new york"], "product")["new york"][0]), 4)
    0.8485
    """
    if method not in get_args(Method):
        raise ValueError(f"n-grams are composed by {', '.join(get_args(Method))}, not by {method!r}")
    index = vectors.key_to_index
    keys: dict[int, list[str]] = {}
    rows: dict[int, list[list[int]]] = {}
    for ngram in ngrams:
        parts = [index.get(word, -1) for word in ngram.split(" ")]
        if min(parts) >= 0:
            keys.setdefault(len(parts), []).append(ngram)
            rows.setdefault(len(parts), []).append(parts)
    if not keys:
        raise NotEnoughData("none of the n-grams is made of words that have a vector; check vectors and tokenizer")
    words = [ngram for length in sorted(keys) for ngram in keys[length]]
    matrix = np.concatenate([_composed(vectors, np.array(rows[length]), method) for length in sorted(keys)])
    return WordVectors(words, matrix)


def _composed(vectors: WordVectors, rows: npt.NDArray[np.int64], method: Method) -> Singles:
    count, length = rows.shape
    result = np.empty((count, vectors.dimension), dtype=np.float32)
    for low in range(0, count, BLOCK):
        block = rows[low : low + BLOCK]
        parts = [vectors.matrix[block[:, place]].astype(np.float64) for place in range(length)]
        if method == "product":
            combined = np.prod([unit_rows(part) for part in parts], axis=0)
            combined *= vectors.dimension ** ((length - 1) / 2)
        else:
            combined = np.sum(parts, axis=0) / (length if method == "mean" else 1)
        result[low : low + BLOCK] = combined
    return result
