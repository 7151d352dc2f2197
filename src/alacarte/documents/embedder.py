"""`NgramEmbedder`: the concatenation over k of 1/k Σ v_(k-gram), as a scikit-learn transformer."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Singles
from alacarte._io.checks import whole_number
from alacarte._io.progress import progress
from alacarte.documents._bags import NgramBags, NgramFinder, TextOrTokens
from alacarte.documents._composition import Composition, NgramVectors, word_ids
from alacarte.documents._leaving_out import FittedNgrams
from alacarte.documents._pooling import DOCUMENTS_AT_ONCE, Pooling, sif_constant
from alacarte.errors import AlacarteWarning, BadCorpus, NotEnoughData, require
from alacarte.model import ALaCarte
from alacarte.model.induced import InducedVectors
from alacarte.passes.discover import discover
from alacarte.passes.pipeline import in_order
from alacarte.passes.work import WorkOptions, usable_cores
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

base: Any = require("sklearn.base", extra="sklearn", purpose="embedding documents")
validation: Any = require("sklearn.utils.validation", extra="sklearn", purpose="embedding documents")

Result = TypeVar("Result")
POOLINGS = ("sum", "mean")


class NgramEmbedder(base.TransformerMixin, base.BaseEstimator):  # type: ignore[misc]
    """Represent documents as sums of the vectors of their words, bigrams, … n-grams (the paper's section 5.2).

    Documents are strings, or lists of tokens. A document without any n-gram that has a vector (an empty one, say)
    becomes zeros, with a warning.

    Parameters
    ----------
    vectors : WordVectors, InducedVectors, ALaCarte, str or path
        Word vectors (anything that `WordVectors.of` takes), induced vectors, or a model. With a model and no `ngrams`,
        `fit` induces the vectors of the documents' n-grams.
    n : int
        The length of the longest n-grams.
    ngrams : WordVectors, str or path, optional
        Vectors of n-grams, keyed by their tokens with spaces between; by default those in `vectors`. They are taken as
        they are, and n-grams that are not among them add nothing.
    corpus : Corpus, iterable of documents, or path, optional
        With a model, more text in which the n-grams are used, besides the documents that are fitted.
    unit : bool
        Scale each n-gram's vector to length 1 (the authors' setting).
    pooling : {"sum", "mean"}
        Add the n-grams of a document (the authors' setting), or take their mean.
    weights : str, optional
        "sif" or "sif:1e-3": n-grams have the weight a / (a + their frequency in the fitted documents).
    min_count : int
        With a model: n-grams that occur less often in the fitted documents get no vector.
    shrinkage : float
        With a model: the vector of an n-gram with c occurrences is the direction of c · its own vector + shrinkage ·
        the sum of its words' vectors, all at length 1; that of an n-gram without occurrences is the sum of its words'
        vectors. With 0 each n-gram has its own vector alone, and those without occurrences add nothing.
    tokenizer : str or callable, optional
        By default that of the model, or "words".
    threads : int, optional
        By default all cores. The result does not depend on it.
    show_progress : bool, optional
        By default a bar is shown on a terminal when the work takes more than a second.

    Attributes
    ----------
    words_ : WordVectors
        The vectors of words.
    ngrams_ : WordVectors or None
        The vectors of n-grams; None if no n-gram has one.
    tokenizer_ : Tokenizer
        The tokenizer.

    Notes
    -----
    `fit(X).transform(X)` does not equal `fit_transform(X)` where `fit` induces n-gram vectors from the documents.
    `fit_transform`, which a `Pipeline` calls on training data, leaves a document's own occurrences out of the vectors
    of its n-grams, and n-grams that occur in no other document count as never seen. So training documents have vectors
    like those that `transform` gives to new documents; whatever learns from the vectors should be fitted on those of
    `fit_transform`. (Weights are those of all documents.) A parameter that
    is set later has no effect before the next `fit`, except `threads` and `show_progress`.

    Examples
    --------
    >>> words = WordVectors(["new", "york"], [[2.0, 0.0], [0.0, 1.0]])
    >>> ngrams = WordVectors(["new york"], [[0.6, 0.8]])
    >>> embedder = NgramEmbedder(words, n=2, ngrams=ngrams)
    >>> embedder.fit_transform(["New York, New York"]).tolist()
    [[2.0, 2.0, 0.6000000238418579, 0.800000011920929]]
    """

    def __init__(
        self,
        vectors: VectorsLike | ALaCarte = None,
        n: int = 3,
        *,
        ngrams: VectorsLike = None,
        corpus: CorpusLike | None = None,
        unit: bool = True,
        pooling: Literal["sum", "mean"] = "sum",
        weights: str | None = None,
        min_count: int = 1,
        shrinkage: float = 5.0,
        tokenizer: TokenizerLike | None = None,
        threads: int | None = None,
        show_progress: bool | None = None,
    ) -> None:
        self.vectors = vectors
        self.n = n
        self.ngrams = ngrams
        self.corpus = corpus
        self.unit = unit
        self.pooling = pooling
        self.weights = weights
        self.min_count = min_count
        self.shrinkage = shrinkage
        self.tokenizer = tokenizer
        self.threads = threads
        self.show_progress = show_progress

    # ----------------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the vectors of the documents' n-grams, and their weights.

        Parameters
        ----------
        X : iterable of str or of lists of tokens
            The documents.
        y : ignored
            For scikit-learn.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Singles:
        """Fit, and return the vectors of the same documents, each without its own part in the n-gram vectors.

        Where n-gram vectors are induced from `X`, `fit(X).transform(X)` gives others: see the notes on the class.

        Parameters
        ----------
        X : iterable of str or of lists of tokens
            The documents.
        y : ignored
            For scikit-learn.
        """
        documents, fitted = self._fit(X)
        return self._with_warning(self._pooled(documents, fitted))

    def _begin(self, X: Any) -> list[TextOrTokens]:
        """Check the parameters, and return the documents to fit."""
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling is one of {', '.join(POOLINGS)}, not {self.pooling!r}")
        for name in ("n", "min_count"):
            whole_number(getattr(self, name), name, 1)
        if not 0 <= self.shrinkage < np.inf:
            raise ValueError(f"shrinkage is a number from 0 on, not {self.shrinkage!r}")
        sif_constant(self.weights)
        if self.vectors is None:
            raise ValueError("no vectors are given; pass word vectors, induced vectors or an ALaCarte model")
        documents = _documents(X)
        if not documents:
            raise BadCorpus("there are no documents to fit on; pass at least one")
        return documents

    def _new_finder(self) -> NgramFinder:
        return NgramFinder(self.words_, self.ngrams_, len(self.pooling_.ngrams), self.tokenizer_)

    def _fit(self, X: Any) -> tuple[list[TextOrTokens], FittedNgrams | None]:
        """Learn everything; return the documents, and the sums behind their n-grams if these are induced."""
        documents = self._begin(X)
        fitted = self._find_vectors(documents)
        self.pooling_ = self._new_pooling(fitted)
        self._finder: NgramFinder | None = self._new_finder()
        constant = sif_constant(self.weights)
        if constant is not None:
            self.pooling_ = replace(self.pooling_, weights=self._frequency_weights(documents, constant))
        return documents, fitted

    def _new_pooling(self, fitted: FittedNgrams | None) -> Pooling:
        """Return how n-grams are added, with all weights 1."""
        others = self.words_ if self.ngrams_ is None else self.ngrams_
        ngrams = NgramVectors.plain(others.matrix, self.unit)
        composition = None
        if self.induces_ngrams_ and self.shrinkage > 0 and self.n > 1:
            composition = Composition.of(self.words_.matrix, float(self.shrinkage), self.unit)
            if fitted is not None:
                counts = fitted.sums.contexts[fitted.seen]
                ngrams = composition.shrunk(others.matrix, word_ids(self.words_, others.words), counts)
        added = (NgramVectors.plain(self.words_.matrix, self.unit), *[ngrams] * (self.n - 1))
        weights = tuple(np.ones(len(one.table), dtype=np.float32) for one in added)
        return Pooling(added, weights, composition, self.pooling == "mean", self.unit)

    def _find_vectors(self, documents: list[TextOrTokens]) -> FittedNgrams | None:
        """Set `words_`, `ngrams_` and `tokenizer_`; return the sums if n-grams are induced."""
        vectors = self.vectors
        model = vectors.without_register() if isinstance(vectors, ALaCarte) else None
        ngrams = None if self.ngrams is None else WordVectors.of(self.ngrams)
        if model is not None:
            self.words_ = model.vectors
        elif isinstance(vectors, InducedVectors) and ngrams is None:
            model, ngrams, self.words_ = vectors.model, vectors, vectors.model.vectors
        else:
            self.words_ = WordVectors.of(vectors)
            ngrams = self.words_ if ngrams is None else ngrams
        if self.n > 1 and ngrams is self.words_ and not any(" " in word for word in ngrams.words):
            warnings.warn(
                AlacarteWarning(
                    "these vectors have no n-grams, so all columns behind those of words are 0; pass a model (as "
                    "ALaCarte.pretrained(…)), which makes them, or ngrams=…, or n=1"
                ),
                stacklevel=4,
            )
        if self.tokenizer is None and model is not None:
            self.tokenizer_ = model.tokenizer
        else:
            self.tokenizer_ = get_tokenizer(self.tokenizer or "words")
        self.ngrams_ = ngrams
        self.induces_ngrams_ = ngrams is None and model is not None
        if ngrams is not None or model is None or self.n == 1:
            return None
        if self.tokenizer_ != model.tokenizer:
            raise ValueError(
                f"the model induces n-grams with its tokenizer {model.tokenizer.name!r}, and "
                f"{self.tokenizer_.name!r} would not find them; leave tokenizer out"
            )
        return self._induced(model, documents)

    def _induced(self, model: ALaCarte, documents: list[TextOrTokens]) -> FittedNgrams | None:
        """Set `ngrams_` to vectors of the documents' n-grams; return None if none is beside a word with a vector."""
        targets = discover(
            model.vectors.words,
            documents,
            ngrams=range(2, self.n + 1),
            min_count=self.min_count,
            all_tokens=True,
            min_score=None,
            tokenizer=model.tokenizer,
            show_progress=self.show_progress,
        )
        if not len(targets):
            return None
        work: WorkOptions = {"threads": self.threads, "show_progress": self.show_progress}
        sums = model.collect(documents, targets, **work)
        occurrences = sums.occurrences
        if self.corpus is not None:
            sums = sums + model.collect(self.corpus, targets, **work)
        try:
            induced = model.apply(sums)
        except NotEnoughData:
            return None
        # Without the sums, which are three times as large.
        self.ngrams_ = WordVectors(induced.words, induced.matrix)
        return FittedNgrams.of(model, sums, occurrences, self.min_count)

    def _frequency_weights(self, documents: list[TextOrTokens], constant: float) -> tuple[Singles, ...]:
        """Return smooth inverse frequencies of n-grams in the documents; others have weight 1."""
        counts = [np.zeros(len(ngrams.table), dtype=np.int64) for ngrams in self.pooling_.ngrams]
        for bags in self._in_blocks(documents, "counting", lambda block: block.bags):
            for count, bag in zip(counts, bags, strict=True):
                np.add.at(count, bag.rows, 1)
        weights = [constant / (constant + count / max(1, int(count.sum()))) for count in counts]
        return tuple(weight.astype(np.float32) for weight in weights)

    # ----------------------------------------------------------------------------------------- transform

    def transform(self, X: Any) -> Singles:
        """Return one float32 row per document.

        Parameters
        ----------
        X : iterable of str or of lists of tokens
            New documents. For those that were fitted, see `fit_transform`.
        """
        validation.check_is_fitted(self)
        return self._with_warning(self._pooled(_documents(X)))

    def _with_warning(self, vectors: Singles) -> Singles:
        """Return the vectors, with a warning if some documents are zeros."""
        empty = int(np.count_nonzero(~vectors.any(axis=1)))
        if empty:
            warnings.warn(
                f"{empty} of {len(vectors)} documents hold no n-gram that has a vector and become zeros",
                AlacarteWarning,
                stacklevel=3,
            )
        return vectors

    def _pooled(self, documents: list[TextOrTokens], fitted: FittedNgrams | None = None) -> Singles:
        """Return the sums of n-gram vectors; with `fitted`, each document without its own part in them."""
        pooling = self.pooling_

        def pooled(block: NgramBags) -> Singles:
            return pooling.vectors(block) if fitted is None else fitted.pooled(block, pooling)

        size = DOCUMENTS_AT_ONCE if fitted is None else fitted.block(len(pooling.ngrams))
        vectors = np.zeros((len(documents), self._n_features_out), dtype=np.float32)
        row = 0
        for block in self._in_blocks(documents, "embedding", pooled, size):
            vectors[row : row + len(block)] = block
            row += len(block)
        return vectors

    def _in_blocks(
        self,
        documents: list[TextOrTokens],
        description: str,
        task: Callable[[NgramBags], Result],
        size: int = DOCUMENTS_AT_ONCE,
    ) -> Iterator[Result]:
        """Yield the result of `task` for the n-grams of each block of documents, in order."""
        finder = self._finder = self._finder or self._new_finder()

        def work(low: int) -> Result:
            return task(finder.find(documents[low : low + size]))

        with progress(len(documents), "documents", description, self.show_progress) as bar:
            starts = range(0, len(documents), size)
            for low, result in zip(starts, in_order(work, starts, self.threads or usable_cores()), strict=True):
                yield result
                bar.update_to(min(low + size, len(documents)))

    # --------------------------------------------------------------------------------------- scikit-learn

    @property
    def _n_features_out(self) -> int:
        return sum(self.pooling_.widths)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns: `1gram0`, `1gram1`, …, and so on for k = 1 … n.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.
        """
        validation.check_is_fitted(self)
        widths = self.pooling_.widths
        return np.array([f"{k}gram{i}" for k, width in enumerate(widths, 1) for i in range(width)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_finder" in state:
            state["_finder"] = None  # hash tables that are quickly built again
        return state


def _documents(X: Any) -> list[TextOrTokens]:
    """Return a list of texts and token lists."""
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
