"""`AlaCarteVectorizer`: document vectors from raw text and pretrained word vectors."""

from typing import Literal

from alacarte.contexts.merging import merge
from alacarte.documents._bags import TextOrTokens
from alacarte.documents.embedder import NgramEmbedder
from alacarte.model import ALaCarte
from alacarte.passes.collect import collect
from alacarte.passes.work import WorkOptions
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike
from alacarte.transform.solve import Weighting
from alacarte.vectors.word_vectors import VectorsLike, WordVectors


class AlaCarteVectorizer(NgramEmbedder):
    """Represent documents as sums of n-gram vectors, with the transform learned from the documents.

    The documents that are fitted are the corpus, and `corpus` adds to it: a transform needs some hundred thousand words
    of text at least. If there is a transform for the vectors, `NgramEmbedder` with an `ALaCarte` model is faster and,
    for small data, better.

    Parameters
    ----------
    vectors : WordVectors, str or path
        Word vectors.
    n : int
        The length of the longest n-grams.
    corpus : Corpus, iterable of documents, or path, optional
        More text.
    window : int or (int, int)
        Words on each side of an n-gram that are its context.
    weighting, ridge
        How the transform is learned, as in `Transform.fit`.
    unigrams, unit, pooling, weights, min_count, shrinkage, tokenizer, threads, show_progress
        As for `NgramEmbedder`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
    >>> text = [" ".join(rng.choice(vectors.words, 40)) for _ in range(200)]
    >>> AlaCarteVectorizer(vectors, n=2).fit_transform(text).shape
    (200, 6)
    """

    def __init__(
        self,
        vectors: VectorsLike = "glove.6B.50d",
        n: int = 3,
        *,
        corpus: CorpusLike | None = None,
        window: int | tuple[int, int] = 10,
        weighting: Weighting = "auto",
        ridge: float | Literal["loo"] = "loo",
        unigrams: Literal["source", "induced"] = "source",
        unit: bool = True,
        pooling: Literal["sum", "mean"] = "sum",
        weights: str | None = None,
        min_count: int = 1,
        shrinkage: float = 5.0,
        tokenizer: TokenizerLike | None = None,
        threads: int | None = None,
        show_progress: bool | None = None,
    ) -> None:
        super().__init__(
            vectors,
            n,
            corpus=corpus,
            unigrams=unigrams,
            unit=unit,
            pooling=pooling,
            weights=weights,
            min_count=min_count,
            shrinkage=shrinkage,
            tokenizer=tokenizer,
            threads=threads,
            show_progress=show_progress,
        )
        self.window = window
        self.weighting = weighting
        self.ridge = ridge

    def _source(self, documents: list[TextOrTokens]) -> ALaCarte:
        """Return a model whose transform is learned from the documents, and from more text if there is any."""
        vectors = WordVectors.of(self.vectors)
        tokenizer = self.tokenizer or "words"
        work: WorkOptions = {"threads": self.threads, "show_progress": self.show_progress}
        texts = [documents] if self.corpus is None else [documents, self.corpus]
        sums = merge([collect(vectors, text, window=self.window, tokenizer=tokenizer, **work) for text in texts])
        self.model_ = ALaCarte.from_sums(
            vectors, sums, weighting=self.weighting, ridge=self.ridge, tokenizer=tokenizer, adapt=False
        )
        return self.model_
