"""How much each context word counts: all the same, stop words not at all, SIF, or any weight a word.

A specification is a word that a saved model can record; `resolve` turns it into one number for each vector.

| specification | weight of word w |
|---|---|
| `uniform` | 1 |
| `sif`, `sif:1e-3` | a / (a + p(w)), p from the corpus, a = 1e-3 unless given |
| `top:100` | 0 for the 100 most frequent words of the corpus, else 1 |
| `stopwords` | 0 for English function words, else 1 |
| a list of words | 0 for these, else 1 |
| a mapping from words to numbers | as given, 1 for words that are not in it |
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from alacarte.errors import AlacarteError, TransformMismatch
from alacarte.vectors.word_vectors import WordVectors

Singles = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int64]

# Words that carry grammar rather than meaning, and punctuation, in the spelling of the `words` tokenizer.
STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below
    between both but by ca can could did do does doing done down during each either else ever every few for from
    further had has have having he her here hers herself him himself his how however i if in into is it its itself
    just may me might mine more most much must my myself neither no nor not of off on once only onto or other
    ought our ours ourselves out over own per shall she should since so some such than that the their theirs them
    themselves then there these they this those though through thus to too toward towards under until up upon us
    very via was we were what whatever when where whether which while who whom whose why will with within without
    would yet you your yours yourself yourselves 's n't 're 've 'll 'd 'm . , ; : ! ? ... - -- ' " `` '' ( ) [ ] { }
    / & – — “ ”""".split()  # noqa: SIM905
)


@dataclass(frozen=True, eq=False)
class ContextWeights:
    """One weight for each vector, and the name a model records; `values` is None where all are 1.

    `words` is a digest of the words, in order, that `values` has a weight for; None where that is not known.
    """

    name: str
    values: Singles | None
    words: str | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            if not np.isfinite(self.values).all() or (self.values < 0).any():
                raise AlacarteError("context weights must be finite and not negative")
            if not (self.values > 0).any():
                raise AlacarteError("every context word has weight 0; no context would hold anything")
            if self.values.flags.owndata:
                self.values.flags.writeable = False

    def for_vectors(self, vectors: WordVectors) -> "ContextWeights":
        """These weights, tied to the words of `vectors`; an error if they were made for other words or another order.

        >>> weights = ContextWeights("mine", np.array([1.0, 0.5], dtype=np.float32))
        >>> tied = weights.for_vectors(WordVectors(["the", "cat"], [[1.0], [2.0]]))
        >>> tied.for_vectors(WordVectors(["cat", "the"], [[2.0], [1.0]]))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        alacarte.errors.TransformMismatch: the context weights 'mine' go by row and were made for ...
        """
        if self.values is None:
            return self
        if self.values.shape != (len(vectors),):
            raise TransformMismatch(
                f"there are context weights for {len(self.values):,} words and {len(vectors):,} vectors; load all the "
                "vectors that the weights were made for, or make weights for these vectors"
            )
        digest = hashlib.blake2b("\n".join(vectors.words).encode(errors="surrogatepass"), digest_size=16).hexdigest()
        if self.words is None:
            return replace(self, words=digest)
        if self.words != digest:
            raise TransformMismatch(
                f"the context weights {self.name!r} go by row and were made for the same number of vectors with other "
                "words, or with their words in another order; load the vectors that the weights were made for"
            )
        return self


UNIFORM = ContextWeights("uniform", None)


def resolve(what: object, vectors: WordVectors, count: Callable[[], Counts]) -> ContextWeights:
    """The weights that a specification means for these vectors; `count` counts their words in the corpus.

    `ContextWeights` that are ready-made must have been made for the same words in the same order.

    >>> vectors = WordVectors(["the", "cat"], [[1.0], [2.0]])
    >>> resolve("sif:0.1", vectors, lambda: np.array([90, 10])).values.round(2)
    array([0.1, 0.5], dtype=float32)
    >>> resolve(["the"], vectors, lambda: np.array([90, 10])).values.tolist()
    [0.0, 1.0]
    """
    made = what if isinstance(what, ContextWeights) else _made(what, vectors, count)
    return made.for_vectors(vectors)


def _made(what: object, vectors: WordVectors, count: Callable[[], Counts]) -> ContextWeights:
    """The weights that a name, a list or a mapping asks for."""
    if what is None or what == "uniform":
        return UNIFORM
    if isinstance(what, str):
        name, _, argument = what.partition(":")
        if name == "sif":
            return sif(count(), _number(argument or "1e-3", what))
        if name == "top":
            k = int(_number(argument, what))
            values = np.ones(len(vectors), dtype=np.float32)
            values[np.argsort(-count(), kind="stable")[:k]] = 0
            return named(f"top:{k}", values)
        if what == "stopwords":
            return named("stopwords", _without(STOP_WORDS, vectors))
        if name in ("learned", "informative"):
            raise AlacarteError(
                f"{name} context weights are made from sums, not from counts: "
                "alacarte.transform.learned_weights.learn_weights and "
                "alacarte.transform.informative_weights.informative_weights make them, and alc fit --context-weights "
                "learned does"
            )
        raise AlacarteError(
            f"context weights {what!r} are not known; use uniform, sif, sif:1e-3, top:100, stopwords, "
            "a list of stop words or a mapping from words to weights"
        )
    if isinstance(what, Mapping):
        values = np.ones(len(vectors), dtype=np.float32)
        for word, weight in what.items():
            if word in vectors:
                values[vectors.index(word)] = weight
        return named("custom", values)
    if isinstance(what, Iterable):
        return named("without", _without(frozenset(what), vectors))
    raise AlacarteError(f"context weights cannot be made from {type(what).__name__}")


def specification(what: object) -> str:
    """A name for what `resolve` is given, by which a checkpoint knows whether it is the same."""
    if what is None or isinstance(what, str):
        return what or "uniform"
    if isinstance(what, ContextWeights):
        return what.name
    content = sorted(what.items()) if isinstance(what, Mapping) else sorted(map(str, what))  # type: ignore[call-overload]
    return hashlib.blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def sif(counts: Counts, a: float = 1e-3) -> ContextWeights:
    """Smooth inverse frequency, a / (a + p(w)), from word counts; words that never occur get weight 1."""
    if a <= 0:
        raise AlacarteError(f"the constant of sif must be positive, not {a:g}")
    total = int(counts.sum())
    if total == 0:
        raise AlacarteError("sif weights need text in which the vectors' words occur; none of them does")
    return named(f"sif:{a:g}", (a / (a + counts / total)).astype(np.float32))


def _without(stop: frozenset[str], vectors: WordVectors) -> Singles:
    values = np.ones(len(vectors), dtype=np.float32)
    values[[vectors.index(word) for word in stop if word in vectors]] = 0
    return values


def named(name: str, values: Singles) -> ContextWeights:
    """The name carries a digest, so that other weights under the same name are told apart."""
    digest = hashlib.blake2b(values.tobytes(), digest_size=4).hexdigest()
    return ContextWeights(f"{name}#{digest}", values)


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise AlacarteError(f"context weights {what!r}: {text!r} is not a number, as in sif:1e-3 or top:100") from None
