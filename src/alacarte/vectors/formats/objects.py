"""Words and vectors out of other libraries' objects, known by what they have and not by their type."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alacarte._io.arrays import Longs, Singles
from alacarte._io.frames import is_frame
from alacarte.errors import BadVectors
from alacarte.vectors.checking import single_precision
from alacarte.vectors.formats import static_models
from alacarte.vectors.formats.columns import rows_of_frame
from alacarte.vectors.formats.fasttext_binary import Subwords
from alacarte.vectors.formats.rows import WordRows

COUNTED = "alacarte_counts"  # an attribute of KeyedVectors whose counts are not made up


@dataclass(frozen=True)
class AskedObject:
    """Asks another library's object for the vector of any word."""

    function: Callable[[str], Any]

    def vector(self, word: str) -> Singles | None:
        """Return the vector that the object gives, or None if it is all zeros, which means that there is none."""
        vector = np.asarray(self.function(word), np.float32)
        return vector if vector.any() else None

    def __reduce__(self) -> tuple[Any, ...]:
        return AskedObject, (_raise_not_pickled,)  # most of these objects cannot be pickled; the words and vectors can


def _raise_not_pickled(word: str) -> Any:
    raise BadVectors(f"{word!r}: what makes vectors of parts of words stayed in another process; load it here")


def rows_of_object(obj: Any) -> WordRows | None:
    """Return words and matrix of anything that has them, not checked, or None.

    >>> rows = rows_of_object({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    >>> rows.words, rows.matrix.tolist()
    (['a', 'b'], [[1.0, 0.0], [0.0, 1.0]])
    """
    if is_frame(obj):
        return rows_of_frame(obj)
    if isinstance(obj, Mapping):
        return WordRows(list(obj), single_precision(list(obj.values())))
    if isinstance(obj, tuple) and len(obj) == 2:
        return WordRows(list(obj[0]), single_precision(obj[1]))
    keyed = getattr(obj, "wv", obj)
    if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors"):
        return from_gensim(keyed, "these vectors")
    if hasattr(obj, "get_words") and hasattr(obj, "get_word_vector"):
        return _from_fasttext(obj)
    vocab = getattr(obj, "vocab", obj)
    if hasattr(vocab, "strings") and hasattr(vocab, "vectors"):
        return _from_spacy(vocab)
    if static_models.static_model_in(obj) is not None:
        return static_models.single_tokens(*static_models.parts_of(obj))
    return None


def only(rows: WordRows, words: Iterable[str]) -> WordRows:
    """Return the rows of some words, in the order given.

    The vector of a word without a row is computed from its parts, where possible.
    """
    wanted = list(words)
    places = {word: place for place, word in enumerate(rows.words)}
    if places.keys() >= set(wanted):
        return rows.chosen(np.array([places[word] for word in wanted], np.int64))
    vectors = []
    for word in wanted:
        vector = rows.matrix[places[word]] if word in places else None
        if vector is None and rows.subwords is not None:
            vector = rows.subwords.vector(word)
        if vector is None:
            raise BadVectors(f"there is no vector for {word!r}; leave it out of words")
        vectors.append(vector)
    return replace(rows, words=wanted, matrix=np.array(vectors), counts=None, origin=None)


def from_gensim(keyed: Any, source: str) -> WordRows:
    """Return words, matrix and counts of gensim's KeyedVectors; with n-grams, if they are those of fastText."""
    if not hasattr(keyed, "index_to_key") or not hasattr(keyed, "vectors"):
        raise BadVectors(f"{source}: {type(keyed).__name__} holds no word vectors; pass KeyedVectors or a model")
    words = [key if isinstance(key, str) else str(key) for key in keyed.index_to_key]
    ngrams = getattr(keyed, "vectors_ngrams", None)
    subwords = None
    if ngrams is not None and len(ngrams) and keyed.max_n:
        subwords = Subwords(np.asarray(ngrams, np.float32), int(keyed.min_n), int(keyed.max_n))
    counts = _gensim_counts(getattr(keyed, "expandos", {}).get("count"), len(words), hasattr(keyed, COUNTED))
    return WordRows(words, keyed.vectors[: len(words)], counts=counts, subwords=subwords)


def _gensim_counts(counts: Any, words: int, counted: bool) -> Longs | None:
    """Return counts as gensim keeps them; None for n, n - 1, …, 1, which it puts where a file has none."""
    array = np.asarray(() if counts is None else counts)
    if array.shape != (words,) or array.dtype.kind not in "iu":
        return None
    made_up = not counted and np.array_equal(array, np.arange(words, 0, -1))
    return None if made_up else array.astype(np.int64)


def _from_fasttext(model: Any) -> WordRows:
    """Return the words of a model of fastText's or floret's own library, which gives a vector to any word."""
    words, counts = model.get_words(include_freq=True)
    if not len(words):
        raise BadVectors("this model lists no words; pass those you want: WordVectors.of(model, words=[…])")
    matrix = np.stack([model.get_word_vector(word) for word in words])
    return WordRows(
        list(words), matrix, counts=np.asarray(counts, np.int64), subwords=AskedObject(model.get_word_vector)
    )


def _from_spacy(vocab: Any) -> WordRows:
    vectors = vocab.vectors
    if getattr(vectors, "mode", "default") != "default":
        # Floret's vectors belong to no words: those that the pipeline has seen are taken; others can be asked for.
        words = [word for word in vocab.strings if any(map(str.isalpha, word)) and not any(map(str.isspace, word))]
        matrix = np.array([vocab.get_vector(word) for word in words], np.float32).reshape(-1, vectors.shape[1])
        return WordRows(words, matrix, subwords=AskedObject(vocab.get_vector))
    if len(vectors.data) == 0 or not vectors.key2row:
        raise BadVectors("this spaCy vocabulary has no vectors; load a model that has, such as en_core_web_md")
    keys = [(key, row) for key, row in vectors.key2row.items() if row >= 0]
    data = vectors.data.get() if hasattr(vectors.data, "get") else vectors.data  # from a GPU, if there
    rows = np.array([row for _, row in keys], np.int64)
    return WordRows([vocab.strings[key] for key, _ in keys], np.asarray(data)[rows])
