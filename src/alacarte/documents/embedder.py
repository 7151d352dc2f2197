"""`NgramEmbedder`: v_D = concatenation over k of 1/k Σ v_(k-gram), as a scikit-learn transformer."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import cpu_count
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse

from alacarte._io.progress import progress
from alacarte.documents._bags import Bag, Item, NgramFinder
from alacarte.errors import AlacarteWarning, BadCorpus, NotEnoughData, require
from alacarte.model import ALaCarte, InducedVectors
from alacarte.passes.pipeline import in_order
from alacarte.targets.targets import Targets
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import Tokenizer, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

base: Any = require("sklearn.base", extra="sklearn", purpose="embedding documents")
validation: Any = require("sklearn.utils.validation", extra="sklearn", purpose="embedding documents")

Singles = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]
BLOCK = 2048  # documents at a time
CHOICES = {
    "unigrams": ("source", "induced"),
    "pooling": ("sum", "mean"),
    "combine": ("concat", "add"),
}


@dataclass(frozen=True)
class Coverage:
    """How much of each document the vectors cover."""

    tokens: Longs  # (documents,)
    found: Longs  # (documents, n): k-grams that have a vector

    @property
    def empty(self) -> npt.NDArray[np.intp]:
        """The documents without any n-gram that has a vector: their vectors are zeros."""
        return np.flatnonzero(~self.found.any(axis=1))

    def to_frame(self) -> Any:
        """A pandas frame with a row for each document."""
        pandas = require("pandas", extra="frames", purpose="to_frame()")
        columns = {f"{k}-grams": self.found[:, k - 1] for k in range(1, self.found.shape[1] + 1)}
        return pandas.DataFrame({"tokens": self.tokens, **columns})


class NgramEmbedder(base.TransformerMixin, base.BaseEstimator):  # type: ignore[misc]
    """Documents as sums of the vectors of their words, bigrams, … n-grams: the paper's section 5.2.

    Documents are strings, or lists of tokens. A document without any n-gram that has a vector (an empty one, say)
    becomes zeros, with a warning; n-grams that have no vector add nothing.

    Args:
        vectors: word vectors (anything `WordVectors.of` takes), induced vectors, or an `ALaCarte` model. With a
            model and no `ngrams`, `fit` induces the vectors of the documents' n-grams.
        n: the longest n-grams.
        ngrams: vectors of n-grams, keyed by their tokens with spaces between. If left out, `vectors` holds them.
        corpus: with a model, more text that shows the n-grams in use, besides the documents that are fitted.
        unigrams: "source": words have the vectors they came with (the authors' setting); "induced": those in `ngrams`.
        unit: scale each n-gram's vector to length 1 (the authors' setting).
        pooling: "sum" (the authors' setting), or "mean" over the n-grams of a document.
        weights: None, or "sif" / "sif:1e-3": a / (a + frequency of the n-gram in the documents that are fitted).
        combine: "concat" the sums for k = 1 … n, or "add" them.
        components: how many common directions of the fitted documents to remove (1 in SIF), for each k.
        normalise: scale each document's vector to length 1.
        min_count: with a model, how often an n-gram occurs in the fitted documents at least.
        tokenizer: None is that of the model, or "words".
        threads: None is all cores. The result does not depend on it.

    >>> words = WordVectors(["new", "york"], [[2.0, 0.0], [0.0, 1.0]])
    >>> ngrams = WordVectors(["new york"], [[0.6, 0.8]])
    >>> embedder = NgramEmbedder(words, n=2, ngrams=ngrams)
    >>> embedder.fit_transform(["New York, New York"]).tolist()
    [[2.0, 2.0, 0.6000000238418579, 0.800000011920929]]
    """

    def __init__(
        self,
        vectors: Any = None,
        n: int = 3,
        *,
        ngrams: Any = None,
        corpus: CorpusLike | None = None,
        unigrams: Literal["source", "induced"] = "source",
        unit: bool = True,
        pooling: Literal["sum", "mean"] = "sum",
        weights: str | None = None,
        combine: Literal["concat", "add"] = "concat",
        components: int = 0,
        normalise: bool = False,
        min_count: int = 1,
        tokenizer: Any = None,
        threads: int | None = None,
        show_progress: bool | None = None,
    ) -> None:
        self.vectors = vectors
        self.n = n
        self.ngrams = ngrams
        self.corpus = corpus
        self.unigrams = unigrams
        self.unit = unit
        self.pooling = pooling
        self.weights = weights
        self.combine = combine
        self.components = components
        self.normalise = normalise
        self.min_count = min_count
        self.tokenizer = tokenizer
        self.threads = threads
        self.show_progress = show_progress

    # ----------------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the vectors of the documents' n-grams, and what the weights and the common directions are."""
        documents = self._begin(X)
        return self._fit(self.vectors, documents)

    def _begin(self, X: Any) -> list[Item]:
        """The documents to fit, after a look at the parameters."""
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is one of {', '.join(allowed)}, not {getattr(self, name)!r}")
        if self.n < 1 or self.components < 0 or self.min_count < 1:
            raise ValueError("n and min_count are at least 1, and components at least 0")
        _sif_constant(self.weights)
        if self.vectors is None:
            raise ValueError("no vectors are given; pass word vectors, induced vectors or an ALaCarte model")
        documents = _documents(X)
        if not documents:
            raise BadCorpus("there are no documents to fit on; pass at least one")
        return documents

    def _fit(self, vectors: Any, documents: list[Item]) -> Self:
        self._find_vectors(vectors, documents)
        self._finder: NgramFinder | None = None
        self._scales = [self._lengths(table) for table in self._tables()]
        self.components_: list[Singles] = []
        constant = _sif_constant(self.weights)
        if constant is not None:
            self._weigh(documents, constant)
        if self.components:
            self.components_ = self._common_directions(documents)
        return self

    def _find_vectors(self, vectors: Any, documents: list[Item]) -> None:
        """`words_`, `ngrams_` and the tokenizer, from what `vectors` is."""
        model = vectors if isinstance(vectors, ALaCarte) else None
        given = None if self.ngrams is None else WordVectors.of(self.ngrams)
        if model is not None:
            self.words_ = model.vectors
        elif isinstance(vectors, InducedVectors) and given is None:
            model, given, self.words_ = vectors.model, vectors, vectors.model.vectors
        else:
            self.words_ = WordVectors.of(vectors)
            given = self.words_ if given is None else given
        named = self.tokenizer is None and model is not None
        self._tokenizer: Tokenizer = (
            model.tokenizer if named and model is not None else get_tokenizer(self.tokenizer or "words")
        )
        self.ngrams_ = given
        if given is None and model is not None and (self.n > 1 or self.unigrams == "induced"):
            self.ngrams_ = self._induced(model, documents)
        if self.combine == "add" and self.ngrams_ is not None and self.ngrams_.dimension != self.words_.dimension:
            raise ValueError(
                f"words have {self.words_.dimension} dimensions and n-grams {self.ngrams_.dimension}; "
                "combine='add' needs as many, combine='concat' does not"
            )

    def _induced(self, model: ALaCarte, documents: list[Item]) -> WordVectors | None:
        induced_words = self.unigrams == "induced"
        targets = Targets.from_documents(
            documents, range(1 if induced_words else 2, self.n + 1), min_count=self.min_count,
            vectors=model.vectors.words, tokenizer=model.tokenizer, known=induced_words,
            show_progress=self.show_progress,
        )  # fmt: skip
        if not len(targets):
            return None
        how: dict[str, Any] = {"threads": self.threads, "show_progress": self.show_progress}
        sums = model.collect(documents, targets, **how)
        if self.corpus is not None:
            sums = sums + model.collect(self.corpus, targets, **how)
        try:
            induced = model.apply(sums)
        except NotEnoughData:  # not one beside a word that has a vector: there is nothing to add to the words
            return None
        return WordVectors._of_checked(induced.words, induced.matrix)  # without the sums, which are thrice as large

    def _tables(self) -> list[WordVectors]:
        """The vectors of the k-grams, for k = 1 … n."""
        others = self.words_ if self.ngrams_ is None else self.ngrams_
        return [self.words_ if self.unigrams == "source" else others] + [others] * (self.n - 1)

    def _lengths(self, table: WordVectors) -> Singles | None:
        """What each row is multiplied by: 1 / its length; None where vectors stay as they are."""
        if not self.unit:
            return None
        lengths = np.empty(len(table), dtype=np.float32)
        for low in range(0, len(table), 1 << 16):
            block = table.matrix[low : low + (1 << 16)]
            lengths[low : low + (1 << 16)] = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def _weigh(self, documents: list[Item], constant: float) -> None:
        """Smooth inverse frequency, by the documents at hand; what they do not hold has weight 1."""
        tables = self._tables()
        counts = [np.zeros(len(table), dtype=np.int64) for table in tables]
        for bags, _ in self._bags(documents, "counting"):
            for count, bag in zip(counts, bags, strict=True):
                np.add.at(count, bag.rows, 1)
        for k, count in enumerate(counts):
            weights = (constant / (constant + count / max(1, int(count.sum())))).astype(np.float32)
            before = self._scales[k]
            self._scales[k] = weights if before is None else before * weights

    def _common_directions(self, documents: list[Item]) -> list[Singles]:
        """For each k, the leading right singular vectors of the documents' vectors."""
        vectors = self._transform(documents)
        found = []
        for part in self._parts(vectors):
            gram = np.zeros((part.shape[1], part.shape[1]))
            for low in range(0, len(part), BLOCK):
                block = part[low : low + BLOCK].astype(np.float64)
                gram += block.T @ block
            if self.components >= len(gram):
                raise ValueError(f"{self.components} components cannot be removed from {len(gram)} dimensions")
            found.append(np.linalg.eigh(gram)[1][:, -self.components :].T.astype(np.float32))
        return found

    # ----------------------------------------------------------------------------------------- transform

    def transform(self, X: Any) -> Singles:
        """A row for each document; float32."""
        validation.check_is_fitted(self, "words_")
        documents = _documents(X)
        vectors = self._transform(documents)
        nothing = int(np.count_nonzero(~vectors.any(axis=1)))
        if nothing:
            warnings.warn(
                f"{nothing} of {len(documents)} documents hold no n-gram that has a vector and become zeros; "
                "coverage() tells which",
                AlacarteWarning,
                stacklevel=2,
            )
        for part, directions in zip(self._parts(vectors), self.components_, strict=False):
            part -= (part @ directions.T) @ directions
        if self.normalise:
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
            np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    def coverage(self, X: Any) -> Coverage:
        """How many tokens each document has, and how many of its n-grams have a vector."""
        validation.check_is_fitted(self, "words_")
        documents = _documents(X)
        tokens, found = [np.empty(0, dtype=np.int64)], [np.empty((0, self.n), dtype=np.int64)]
        for bags, lengths in self._bags(documents, "counting"):
            tokens.append(lengths)
            found.append(np.column_stack([np.diff(bag.bounds) for bag in bags]))
        return Coverage(np.concatenate(tokens), np.concatenate(found))

    def _transform(self, documents: list[Item]) -> Singles:
        tables = self._tables()
        vectors = np.zeros((len(documents), self._n_features_out), dtype=np.float32)
        row = 0
        for bags, _ in self._bags(documents, "embedding", pooled=tables):
            block = vectors[row : row + len(bags[0])]
            for k, pooled in enumerate(bags, start=1):
                self._parts(block)[k - 1 if self.combine == "concat" else 0][...] += pooled
            row += len(block)
        return vectors

    def _bags(self, documents: list[Item], what: str, pooled: list[WordVectors] | None = None) -> Iterator[Any]:
        """Blocks of documents, in order, by several threads: their bags, or the pooled vectors of these."""
        finder = self._get_finder()

        def work(low: int) -> Any:
            bags, tokens = finder.bags(documents[low : low + BLOCK])
            if pooled is None:
                return bags, tokens
            return [self._pool(bag, k, pooled[k]) for k, bag in enumerate(bags)], tokens

        with progress(len(documents), "documents", what, self.show_progress) as bar:
            starts = range(0, len(documents), BLOCK)
            for low, result in zip(starts, in_order(work, starts, self.threads or cpu_count() or 1), strict=True):
                yield result
                bar.update_to(min(low + BLOCK, len(documents)))

    def _pool(self, bag: Bag, k: int, table: WordVectors) -> Singles:
        """1/(k+1) Σ or mean of the rows in each bag: a sparse matrix times the table."""
        scale = self._scales[k]
        data = np.ones(len(bag.rows), dtype=np.float32) if scale is None else scale[bag.rows]
        data /= k + 1
        if self.pooling == "mean":
            amounts = np.diff(bag.bounds)
            data /= np.repeat(amounts, amounts)
        counts = scipy.sparse.csr_array((data, bag.rows, bag.bounds), shape=(len(bag.bounds) - 1, len(table)))
        result: Singles = counts @ table.matrix
        return result

    def _parts(self, vectors: Singles) -> list[Singles]:
        """Views of the columns that belong to k = 1 … n."""
        borders = np.cumsum(self._widths())[:-1]
        return np.split(vectors, borders, axis=1)

    def _widths(self) -> list[int]:
        if self.combine == "add":
            return [self.words_.dimension]
        return [table.dimension for table in self._tables()]

    def _get_finder(self) -> NgramFinder:
        if self._finder is None:
            self._finder = NgramFinder(self.words_, self.ngrams_, self.n, self.unigrams == "induced", self._tokenizer)
        return self._finder

    # --------------------------------------------------------------------------------------- scikit-learn

    @property
    def _n_features_out(self) -> int:
        return sum(self._widths())

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """`1gram0`, `1gram1`, …: the sums for k = 1 … n, one after the other."""
        validation.check_is_fitted(self, "words_")
        names = ["ngram"] if self.combine == "add" else [f"{k}gram" for k in range(1, self.n + 1)]
        return np.array(
            [f"{name}{i}" for name, width in zip(names, self._widths(), strict=True) for i in range(width)],
            dtype=object,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_finder" in state:
            state["_finder"] = None  # hash tables that are quickly made again
        return state


def _documents(X: Any) -> list[Item]:
    """A list of texts and token lists, from whatever holds them one after the other."""
    if isinstance(X, str):
        raise BadCorpus("a string is one document, and several are wanted; put it in a list")
    if getattr(X, "ndim", 1) > 1:
        raise BadCorpus(f"documents with shape {X.shape} are a table; pass the one column that holds the texts")
    documents = list(X)
    for position, document in enumerate(documents):
        if isinstance(document, str):
            continue
        if not isinstance(document, Sequence) or not all(isinstance(token, str) for token in document):
            raise BadCorpus(
                f"document {position} is {document!r:.60}, neither a text nor a list of tokens; put '' for missing ones"
            )
    return documents


def _sif_constant(weights: str | None) -> float | None:
    if weights is None:
        return None
    name, _, number = weights.partition(":")
    try:
        constant = float(number or "1e-3")
    except ValueError:
        constant = -1.0
    if name != "sif" or not constant > 0:
        raise ValueError(f"weights are None, 'sif' or as in 'sif:1e-3', not {weights!r}")
    return constant
