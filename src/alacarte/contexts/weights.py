"""How much each context word counts: all the same, stop words not at all, SIF, or any weight per word.

A specification is a word that a saved model can record; `resolve` turns it into one number for each vector.

| specification | weight of word w |
|---|---|
| `uniform` | 1 |
| `sif`, `sif:1e-3` | a / (a + p(w)), p from the corpus, a = 1e-3 unless given |
| `top:100` | 0 for the 100 most frequent words of the corpus, else 1 |
| `sif@counts.tsv`, `top:100@counts.tsv` | the same by a file of counts: a word, a tab and its count on each line |
| `stopwords` | 0 for English function words, else 1 |
| a list of words | 0 for these, else 1 |
| a mapping from words to numbers | as given, 1 for words that are not in it |
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from alacarte._io.arrays import Longs, Singles
from alacarte._io.checks import real_number, whole_number, word_set
from alacarte._io.files import atomic_write
from alacarte.errors import AlacarteError, TransformMismatch
from alacarte.vectors.word_vectors import WordVectors

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
        """Return these weights, tied to the words of `vectors`; raise if they are for other words or another order.

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


def repeatable(what: object) -> object:
    """Return a specification that can be read as often as one likes: words that come one by one become a set.

    >>> sorted(repeatable(word for word in ("the", "a")))
    ['a', 'the']
    """
    if what is None or isinstance(what, str | ContextWeights):
        return what
    if isinstance(what, Mapping):
        return {word: real_number(weight, f"the context weight of {word!r}") for word, weight in what.items()}
    if isinstance(what, Iterable):
        return word_set(what, "context_weights")
    raise AlacarteError(f"context weights cannot be made from {type(what).__name__}; pass a name, words or a mapping")


def resolve(what: object, vectors: WordVectors, count: Callable[[], Longs]) -> ContextWeights:
    """Return the weights that a specification means for these vectors; `count` counts their words in the corpus.

    `ContextWeights` that are ready-made must have been made for the same words in the same order.

    >>> vectors = WordVectors(["the", "cat"], [[1.0], [2.0]])
    >>> resolve("sif:0.1", vectors, lambda: np.array([90, 10])).values.round(2)
    array([0.1, 0.5], dtype=float32)
    >>> resolve(["the"], vectors, lambda: np.array([90, 10])).values.tolist()
    [0.0, 1.0]
    """
    asked = repeatable(what)
    if isinstance(asked, ContextWeights):
        return asked.for_vectors(vectors)
    if asked is None or isinstance(asked, str):
        return _by_name(asked or "uniform", vectors, count).for_vectors(vectors)
    if isinstance(asked, dict):
        values = np.ones(len(vectors), dtype=np.float32)
        for word, weight in asked.items():
            if word in vectors:
                values[vectors.index(word)] = weight
        return with_digest("custom", values).for_vectors(vectors)
    assert isinstance(asked, frozenset)
    return with_digest("without", _without(asked, vectors)).for_vectors(vectors)


def _by_name(what: str, vectors: WordVectors, count: Callable[[], Longs]) -> ContextWeights:
    rule, _, file = what.partition("@")
    if file:
        return _by_name(rule, vectors, lambda: counts_of(file, vectors))
    name, _, argument = what.partition(":")
    if what == "uniform":
        return UNIFORM
    if name == "sif":
        return sif(count(), _number(argument or "1e-3", what))
    if name == "top":
        number = _number(argument, what)
        k = whole_number(int(number) if number.is_integer() else number, f"context weights {what!r}: the number")
        values = np.ones(len(vectors), dtype=np.float32)
        values[np.argsort(-count(), kind="stable")[:k]] = 0
        return with_digest(f"top:{k}", values)
    if what == "stopwords":
        return with_digest("stopwords", _without(STOP_WORDS, vectors))
    raise AlacarteError(
        f"context weights {what!r} are not known; use uniform, sif, sif:1e-3, top:100, stopwords, "
        "a list of stop words or a mapping from words to weights"
    )


def specification(what: object) -> str:
    """Return a name for what `resolve` is given, by which a checkpoint knows whether it is the same."""
    asked = repeatable(what)
    if asked is None or isinstance(asked, str):
        return asked or "uniform"
    if isinstance(asked, ContextWeights):
        return asked.name
    content = sorted(asked.items() if isinstance(asked, dict) else asked)  # type: ignore[call-overload]
    return hashlib.blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def save_counts(path: str | PathLike[str], vectors: WordVectors, counts: Longs) -> None:
    """Write how often words occur to a file, with a word, a tab and its count on each line.

    >>> import tempfile
    >>> vectors, path = WordVectors(["the", "cat"], [[1.0], [2.0]]), tempfile.mkdtemp() + "/counts.tsv"
    >>> save_counts(path, vectors, np.array([90, 10]))
    >>> resolve(f"sif:0.1@{path}", vectors, lambda: None).values.round(2)
    array([0.1, 0.5], dtype=float32)
    """
    with atomic_write(Path(path)) as file:
        file.writelines(f"{word}\t{count}\n".encode() for word, count in zip(vectors.words, counts, strict=True))


def counts_of(source: Mapping[str, int] | str | PathLike[str], vectors: WordVectors) -> Longs:
    """Return how often each word of the vectors occurs, by a mapping or by a file that `save_counts` wrote.

    Words of which nothing is known occur 0 times.

    >>> counts_of({"cat": 10}, WordVectors(["the", "cat"], [[1.0], [2.0]])).tolist()
    [0, 10]
    """
    counts = np.zeros(len(vectors), dtype=np.int64)
    for word, count in (source if isinstance(source, Mapping) else _read_counts(Path(source))).items():
        if word in vectors:
            counts[vectors.index(word)] = count
    return counts


def _read_counts(path: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                word, _, count = line.rstrip("\r\n").rpartition("\t")
                counts[word] = counts.get(word, 0) + int(count)
    except OSError as error:
        raise AlacarteError(f"{path}: the word counts cannot be read ({error.strerror}); check the path") from None
    except ValueError:
        raise AlacarteError(
            f"{path}: line {len(counts) + 1:,} is not as it should be; write a word, a tab and its count on every line"
        ) from None
    return counts


def sif(counts: Longs, a: float = 1e-3) -> ContextWeights:
    """Return smooth inverse frequencies a / (a + p(w)) from word counts; words that never occur get weight 1."""
    if not 0 < a < np.inf:
        raise AlacarteError(f"the constant of sif is a number above 0, not {a:g}")
    total = int(counts.sum())
    if total == 0:
        raise AlacarteError("sif weights need text in which the vectors' words occur; none of them does")
    return with_digest(f"sif:{a:g}", (a / (a + counts / total)).astype(np.float32))


def _without(stop: frozenset[str], vectors: WordVectors) -> Singles:
    values = np.ones(len(vectors), dtype=np.float32)
    values[[vectors.index(word) for word in stop if word in vectors]] = 0
    return values


def with_digest(name: str, values: Singles) -> ContextWeights:
    """Return weights whose name has a digest, so that others of the same name are recognised."""
    digest = hashlib.blake2b(values.tobytes(), digest_size=4).hexdigest()
    return ContextWeights(f"{name}#{digest}", values)


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise AlacarteError(f"context weights {what!r}: {text!r} is not a number, as in sif:1e-3 or top:100")
    return number
