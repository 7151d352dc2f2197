"""Words and a matrix with a row for each of them: looking up, comparing, and searching for the nearest."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from alacarte._io import html
from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte._io.checks import whole_number
from alacarte.errors import BadVectors, UnknownKey
from alacarte.vectors import checking, search
from alacarte.vectors.formats.rows import Skipped, WordRows
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.words import PackedWords, Vocabulary, length_prefixed

Default = TypeVar("Default")
Neighbours = list[tuple[str, float]]

SAMPLED_LENGTHS = 1000  # vectors whose lengths are looked at
SHOWN_IN_NOTEBOOKS = 6  # words, and values of each, in notebooks
COMPLETED_WORDS = 100_000  # words that the Tab key offers
FEW_LEFT_OUT = 100  # words left out of a search that are dropped from its result
HASHED = 1 << 16  # words that are hashed together
COMPARED_ROWS = 1 << 12  # rows whose largest values are looked for together: they stay in the processor's cache
GENSIM = {  # what gensim calls what is here
    "index_to_key": "words",
    "vector_size": "dimension",
    "vectors": "matrix",
    "get_index": "index",
    "has_index_for": "__contains__",
    "get_vector": "_vector",
    "similar_by_word": "most_similar",
    "similar_by_vector": "most_similar",
}
INSTEAD = {  # of what gensim has and is not here, what to write
    "get_vecattr": "counts of words are in `counts`, in the order of `words`",
    "get_normed_vectors": "write `normalised().matrix`",
    "distance": "write `1 - similarity(a, b)`",
    "add_vectors": "vectors never change; `extended(others)` returns both",
    "save_word2vec_format": 'write `save("v.bin")` or `save("v.vec")`',
}


class KeyedMatrix:
    """What `WordVectors` can do by themselves, without files and other libraries.

    It is built by `WordVectors` alone, which check what they are given.
    """

    name: str | None
    source: str | None
    counts: Longs | None
    origin: tuple[str, ...] | None
    skipped: Skipped

    def _set(self, rows: WordRows, name: str | None, source: str | None) -> None:
        """Hold what was checked before."""
        self._listed: PackedWords | tuple[str, ...] = (
            rows.words if isinstance(rows.words, PackedWords) else tuple(rows.words)
        )
        # Row by row in memory, whatever the file: everything here works on rows, and column order is ten times slower.
        self._matrix = np.ascontiguousarray(rows.matrix).view()
        self._matrix.flags.writeable = False
        self.name, self.source = name, source
        self.counts, self.origin, self.skipped = rows.counts, rows.origin, rows.skipped
        self._subwords = rows.subwords
        self._vocabulary: Vocabulary | None = None
        self._last_mapped: tuple[bytes, Self] | None = None

    @classmethod
    def _of_rows(cls, rows: WordRows, name: str | None = None, source: str | None = None) -> Self:
        vectors = cls.__new__(cls)
        vectors._set(rows, name, source)
        return vectors

    def _mapped(self, key: bytes, function: Callable[[Singles], Doubles]) -> Self:
        """Return the same words with vectors that `function` makes of these; the last ones are kept, by their key."""
        kept = self._last_mapped
        if kept is None or kept[0] != key:
            matrix = np.empty_like(self._matrix)
            for low in range(0, len(matrix), step := search.rows_per_block(matrix)):
                matrix[low : low + step] = function(self._matrix[low : low + step])
            other = self._of_rows(WordRows(self._listed, matrix))
            other._vocabulary = self.key_to_index  # both look words up in the same dictionary
            self._last_mapped = kept = key, other
        return kept[1]

    def _as_rows(self) -> WordRows:
        """Return the words, vectors, counts and origins, as writers take them."""
        return WordRows(self._listed, self._matrix, counts=self.counts, origin=self.origin)

    # ------------------------------------------------------------------------------------------------------- looking up

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words, in the order of the rows (in files, most frequent first)."""
        return tuple(self._listed)

    def word(self, row: int) -> str:
        """Return the word of a row; of large files it comes sooner than `words`, which decodes all of them."""
        return self._listed[row]

    @property
    def matrix(self) -> Singles:
        """The vectors, one row per word; read-only."""
        return self._matrix

    @property
    def dimension(self) -> int:
        """How many values a vector has."""
        return int(self._matrix.shape[1])

    @property
    def key_to_index(self) -> Vocabulary:
        """The row of each word: a read-only mapping, which becomes a dictionary when many words are looked up.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> WordVectors(["a", "b"], [[1.0], [2.0]]).key_to_index
        {'a': 0, 'b': 1}
        """
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self._listed)
        return self._vocabulary

    def index(self, word: str) -> int:
        """Return the row of a word.

        Raises
        ------
        UnknownKey
            If the word has no vector; the message names one that is written differently.
        """
        row: int | None = self.key_to_index.get(word)
        if row is None:
            raise checking.unknown_key(word, self.key_to_index, self.source)
        return row

    def __getitem__(self, key: str | Iterable[str]) -> Singles:
        """Return the vector of a word (read-only), or a matrix with one row for each of several words.

        >>> from alacarte import WordVectors
        >>> vectors = WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
        >>> vectors["b"].tolist(), vectors[["b", "a"]].tolist()
        ([3.0, 4.0], [[3.0, 4.0], [1.0, 2.0]])
        """
        vectors: Singles = self._matrix[self.index(key) if isinstance(key, str) else self._indices(key)]
        return vectors

    @overload
    def get(self, word: str) -> Singles | None: ...
    @overload
    def get(self, word: str, default: Default) -> Singles | Default: ...
    def get(self, word: str, default: Any = None) -> Any:
        """Return the vector of a word, or `default` if there is none."""
        row = self.key_to_index.get(word)
        return default if row is None else self._matrix[row]

    def subword(self, word: str) -> Singles:
        """Return the vector of any word: its own if known, else one made of its parts.

        Vectors of fastText and of static models can do this: with the n-grams or tokens of the word, by their mean.
        Saving keeps the words only.

        Raises
        ------
        UnknownKey
            If the vectors were made without parts, or know none of the word's.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> WordVectors(["cat"], [[1.0, 0.5]]).subword("cat").tolist()
        [1.0, 0.5]
        """
        vector = self.get(word)
        if vector is None and self._subwords is not None:
            vector = self._subwords.vector(word)
        if vector is None:
            raise UnknownKey(f"no vector for {word!r}, nor for any n-gram in it; `ALaCarte.induce` makes one")
        return vector

    if not TYPE_CHECKING:  # the names of `GENSIM` are for those who type them; they are not in the reference

        def __getattr__(self, name):
            """Return what gensim calls `name`, under which it is known here."""
            if name in GENSIM:
                return getattr(self, GENSIM[name])
            advice = f"; {INSTEAD[name]}" if name in INSTEAD else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{advice}")

        def _vector(self, word, norm=False):
            return unit_rows(self[word][None])[0].astype(np.float32) if norm else self[word]

    def __contains__(self, word: object) -> bool:
        return word in self.key_to_index

    def __len__(self) -> int:
        return len(self._matrix)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def _indices(self, words: Iterable[str]) -> Longs:
        if not isinstance(words, Iterable):
            raise checking.unknown_key(words, self.key_to_index)
        return np.array([self.index(word) for word in words], np.int64)

    # ------------------------------------------------------------------------------------------------------- neighbours

    def nearest(
        self,
        query: ArrayLike,
        k: int = 10,
        *,
        among: int | Iterable[str] | None = None,
        exclude: Iterable[str] = (),
    ) -> Any:
        """Return the words whose vectors have the largest cosine with a vector.

        The search is exact, and ties go to the word that comes first. Vectors of zeros have no direction: they are
        nobody's neighbours, and to ask for those of one is an error.

        Parameters
        ----------
        query : array_like of shape (n_dimensions,) or (n_queries, n_dimensions)
            A vector, or one per row.
        k : int
            How many words, at most.
        among : int or iterable of str, optional
            Search only the first `among` words, or only these words.
        exclude : iterable of str
            Words to leave out.

        Returns
        -------
        list
            Pairs (word, cosine); for a matrix, a list of them for each row.

        Raises
        ------
        BadVectors
            If a query is all zeros or not finite, or has another number of values, or if `k` is below 1.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        >>> vectors.nearest([0.0, 2.0], k=2)
        [('car', 1.0), ('dog', 0.8)]
        >>> vectors.nearest(vectors[["cat", "car"]], k=1, among=["dog", "car"])
        [[('dog', 0.6)], [('car', 1.0)]]
        """
        if isinstance(query, str):
            raise BadVectors(f"nearest takes vectors; pass v[{query!r}], or call most_similar({query!r})")
        queries, single = self._queries(query)
        k = whole_number(k, "k", 1, BadVectors)
        exclude = {exclude} if isinstance(exclude, str) else set(exclude)
        left_out = {self.key_to_index[word] for word in exclude if word in self.key_to_index}
        rows = self._search_rows(among)
        if len(left_out) > FEW_LEFT_OUT:
            rows, left_out = np.setdiff1d(rows, list(left_out)), set()
        neighbours = self._nearest(queries, k, rows, left_out)
        return neighbours[0] if single else neighbours

    def _queries(self, query: ArrayLike) -> tuple[Doubles, bool]:
        """Return unit vectors, and whether it was one vector and not a matrix."""
        try:
            array = np.asarray(query, np.float64)
        except (TypeError, ValueError):
            raise BadVectors("a query is a vector or a matrix of numbers; pass v[word] for a word") from None
        if array.ndim not in (1, 2) or array.shape[-1] != self.dimension:
            raise BadVectors(
                f"the query has shape {array.shape} and the vectors have {self.dimension} dimensions; "
                "pass a vector, or a matrix with a vector in each row, from the same space"
            )
        if not np.isfinite(array).all():
            raise BadVectors("the query holds NaN or infinity; leave out what has no vector")
        zeros = np.flatnonzero(~np.atleast_2d(array).any(axis=1))
        if len(zeros):
            which = "the query is" if array.ndim == 1 else f"row {zeros[0]} of the query is"
            raise BadVectors(f"{which} all zeros, which no word is near to; leave out what has no vector")
        return unit_rows(np.atleast_2d(array)), array.ndim == 1

    def _search_rows(self, among: int | Iterable[str] | None) -> Longs | range:
        """Return the rows to search, in their order: a range if they are all the first ones."""
        if among is None:
            return range(len(self))
        if isinstance(among, Iterable):
            return np.unique(self._indices([among] if isinstance(among, str) else among))
        return range(min(whole_number(among, "among", 0, BadVectors), len(self)))

    def _nearest(
        self, units: Doubles, k: int, rows: Longs | range, left_out: Set[int] = frozenset()
    ) -> list[Neighbours]:
        """Return the nearest words to each of some unit vectors, among some rows.

        The few that are left out are looked for too, and dropped: a search of all rows but them would copy all others.
        """
        neighbours = []
        for best, exact in search.nearest_rows(self._matrix, self._lengths, units, k + len(left_out), rows):
            pairs = zip(best.tolist(), exact.tolist(), strict=True)
            neighbours.append([(self.word(row), cosine) for row, cosine in pairs if row not in left_out][:k])
        return neighbours

    @cached_property
    def _lengths(self) -> Doubles:
        """The length of each row, infinite for zeros."""
        return search.row_lengths(self._matrix)

    def most_similar(
        self,
        positive: Any = (),
        negative: Any = (),
        k: int = 10,
        *,
        among: int | Iterable[str] | None = None,
        topn: int | None = None,
    ) -> Neighbours:
        """Return the words nearest to some words and far from others: king − man + woman.

        The query is the mean of their unit vectors, those of `negative` with a minus; the words themselves are left
        out of the answer. As in gensim, but that it leaves vectors (not words) at the length they come with.

        Parameters
        ----------
        positive, negative : str, vector, or list of them
            Words or vectors, or a single one of either.
        k, among
            As in `nearest`. A number in the place of `negative` is `k`.
        topn
            What gensim calls `k`.

        Returns
        -------
        list of (str, float)
            Words and cosines.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
        >>> [word for word, _ in vectors.most_similar("cat")]
        ['dog', 'car']
        >>> vectors.most_similar("cat", 1) == vectors.most_similar("cat", topn=1)
        True
        """
        if isinstance(negative, Integral):
            negative, k = (), int(negative)
        if topn is not None:
            k = topn
        parts = [(item, 1.0) for item in checking.list_of(positive)]
        parts += [(item, -1.0) for item in checking.list_of(negative)]
        if not parts:
            raise BadVectors("pass at least one word or vector")
        total = np.zeros(self.dimension)
        for item, sign in parts:
            vector = self._queries(self[item] if isinstance(item, str) else item)[0]
            if len(vector) != 1:
                raise BadVectors("pass words and vectors one by one, in a list")
            total += sign * vector[0]
        words = [item for item, _ in parts if isinstance(item, str)]
        result: Neighbours = self.nearest(total / len(parts), k, among=among, exclude=words)
        return result

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of the vectors of two words.

        Raises
        ------
        UnknownKey
            If one of them has no vector.
        BadVectors
            If the vector of one of them is all zeros, and so has no direction.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> round(WordVectors(["cat", "dog"], [[1.0, 0.0], [0.6, 0.8]]).similarity("cat", "dog"), 6)
        0.6
        """
        for word in (a, b):
            if not self[word].any():
                raise BadVectors(f"the vector of {word!r} is all zeros, and such a vector has no cosine with any other")
        return float(cosines(self[a], self[b]))

    # ------------------------------------------------------------------------------------------------- facts about them

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the words and values, whatever file held them: it tells these vectors from any others.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> WordVectors(["a"], [[3.0, 4.0]]).fingerprint
        '94cbbc5c7589ba42ec39284ab52c09cc'
        """
        digest = hashlib.blake2b(self.dimension.to_bytes(8, "little"), digest_size=16)
        data, offsets = self.key_to_index.packed()
        for start in range(0, len(self), HASHED):
            digest.update(length_prefixed(data, offsets, start, start + HASHED))
        for start in range(0, len(self), step := search.rows_per_block(self._matrix)):
            digest.update(np.ascontiguousarray(self._matrix[start : start + step], "<f4").data)
        return digest.hexdigest()

    @cached_property
    def column_max(self) -> Doubles:
        """The largest absolute value in each dimension.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> WordVectors(["a", "b"], [[3.0, -4.0], [-5.0, 0.0]]).column_max.tolist()
        [5.0, 4.0]
        """
        largest: Singles = np.max(
            [np.abs(self._matrix[low : low + COMPARED_ROWS]).max(axis=0) for low in range(0, len(self), COMPARED_ROWS)],
            axis=0,
        )
        return largest.astype(np.float64)

    @cached_property
    def typical_length(self) -> float:
        """The median length of a vector, by a thousand of them at equal distances.

        Examples
        --------
        >>> from alacarte import WordVectors
        >>> WordVectors(["a", "b"], [[3.0, -4.0], [-3.0, 4.0]]).typical_length
        5.0
        """
        places = np.unique(np.linspace(0, len(self) - 1, min(len(self), SAMPLED_LENGTHS)).astype(np.int64))
        lengths = np.linalg.norm(self._matrix[places].astype(np.float64), axis=1)
        return float(np.median(lengths)) if len(lengths) else 0.0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyedMatrix):
            return NotImplemented
        return self is other or (self.words == other.words and np.array_equal(self._matrix, other.matrix))

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing here ever changes, and scikit-learn's clone() makes many deep copies

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last_mapped": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._matrix.flags.writeable = False  # which a pickle forgets

    def __repr__(self) -> str:
        name = self.name or (Path(self.source).name if self.source else "")
        title = f"{name!r}, " if name else ""
        words = f"{len(self):,} word{'s' * (len(self) != 1)}"
        dimensions = f"{self.dimension} dimension{'s' * (self.dimension != 1)}"
        return f"{type(self).__name__}({title}{words}, {dimensions})"

    def _repr_html_(self) -> str:
        """Return the first words, with their counts if these are known and a few of their values."""
        listed: dict[str, Sequence[Any]] = {"word": self.words[:SHOWN_IN_NOTEBOOKS]}
        if self.counts is not None:
            listed["count"] = self.counts[:SHOWN_IN_NOTEBOOKS].tolist()
        if self.origin is not None:
            listed["origin"] = self.origin[:SHOWN_IN_NOTEBOOKS]
        for place, values in enumerate(self._matrix[:SHOWN_IN_NOTEBOOKS].T[:SHOWN_IN_NOTEBOOKS] if len(self) else ()):
            listed[str(place)] = [f"{value:.3f}" for value in values.tolist()]
        right = [name not in ("word", "origin") for name in listed]
        return html.card(repr(self), {}, html.table(list(listed), zip(*listed.values(), strict=True), right))

    def _ipython_key_completions_(self) -> list[str]:
        """Return what Tab offers after `vectors["`: the first words, which in most files are the most frequent."""
        return list(self.words[:COMPLETED_WORDS])
