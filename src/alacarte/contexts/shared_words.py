"""Contexts of the commonest words of the vectors, collected beside the targets from a sample of the documents.

From them a model learns what the contexts of this text have in common (`alacarte.transform.register`). A pass need not
read all of a large text for that. Documents have levels, by what they say: three quarters have level 0, three quarters
of the others level 1, and so on. Of a text, the documents from the lowest level on are used that have at most
`ENOUGH_TOKENS` tokens together, so the sample depends on nothing but the text: sums of parts add up to the
sums of the whole.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Ints, Longs, Rows
from alacarte._io.artifact import Artifact
from alacarte.contexts.groups import document_sums, mixed, word_codes
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Averaging, Reading
from alacarte.contexts.scale import Scale
from alacarte.contexts.summing import COUNTS, SumsTally
from alacarte.contexts.tally import Tally
from alacarte.errors import BadSums
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded, Lexicon

COMMON_WORDS = 30_000  # of the first words of the vectors
COMMONEST = 200  # of these are left out of large vectors: half of all text, and no better for it
ENOUGH_TOKENS = 1 << 20  # tokens; four times as many gain .02 in mean reciprocal rank (benchmarks/own_words.py)
LEVEL_SHARE = 4  # each level has a quarter of the documents from the level before on
LEVELS = 7  # the last one has every document that is left: one in 4096


class WordContexts(NamedTuple):
    """Words of the vectors, as rows of these, and their average contexts in a text.

    A context is divided by the weight of its words (under averaging="context", each by its own), so that its length
    does not matter. `lengths` is the weight of the words in a context.
    """

    words: Rows
    contexts: Doubles
    counts: Longs
    lengths: Doubles

    @classmethod
    def of(cls, words: Rows, sums: Doubles, weights: Doubles, counts: Longs, averaging: Averaging) -> "WordContexts":
        """Return the averages of sums; `counts` are occurrences, and those with a context word that counts."""
        occurrences, contexts = counts.T
        by = contexts if averaging == "context" else weights
        return cls(words, sums / by[:, None], occurrences, weights / occurrences)

    def only(self, rows: Any) -> "WordContexts":
        """Return some of the words."""
        return WordContexts(*(array[rows] for array in self))


@dataclass(frozen=True, eq=False)
class SharedWords:
    """Sums of the contexts of words in a sample of a text, level by level.

    Attributes
    ----------
    tokens
        How many tokens each level of documents has in the whole text.
    first
        The lowest level that is kept.
    levels, words
        Of each row: its level, and its word as a row of the vectors.
    sums
        Whole numbers: the dimensions, then the counts of `contexts.summing`.
    """

    tokens: Longs
    first: int
    levels: Ints
    words: Ints
    sums: Longs

    @property
    def tokens_used(self) -> int:
        """How many tokens the documents have that are kept."""
        return int(self.tokens[self.first :].sum())

    def words_of(self, scale: Scale, averaging: Averaging) -> "WordContexts":
        """Return the average contexts of the words, over all levels."""
        words, places = np.unique(self.words.astype(np.intp), return_inverse=True)
        sums = np.zeros((len(words), self.sums.shape[1]), dtype=np.int64)
        np.add.at(sums, places, self.sums)
        dimension = self.sums.shape[1] - len(COUNTS)
        weights = np.asarray(sums[:, dimension] * float(np.exp2(-scale.weights)))
        seen = weights > 0
        return WordContexts.of(
            words[seen], sums[seen, :dimension] * scale.sum_units, weights[seen], sums[seen, dimension + 2 :], averaging
        )

    def plus(self, other: "SharedWords", sign: int = 1) -> "SharedWords":
        """Return those of both texts, or (-1) of a text without a part of it; levels kept in one alone stay out."""
        tokens = self.tokens + sign * other.tokens
        if (tokens < 0).any():
            raise BadSums("more was taken away than there is; these sums do not hold that text")
        first = max(self.first, other.first, first_level(tokens))
        parts = [self._from(first), other._from(first)]
        keys = np.concatenate([level.astype(np.int64) << 32 | word for level, word, _ in parts])
        unique, places = np.unique(keys, return_inverse=True)
        sums = np.zeros((len(unique), self.sums.shape[1]), dtype=np.int64)
        own = len(parts[0][0])
        np.add.at(sums, places[:own], parts[0][2])
        np.add.at(sums, places[own:], sign * parts[1][2])
        kept = sums.any(axis=1)
        levels, words = (unique >> 32).astype(np.int32), (unique & 0xFFFFFFFF).astype(np.int32)
        return SharedWords(tokens, first, levels[kept], words[kept], sums[kept])

    def _from(self, first: int) -> tuple[Ints, Ints, Longs]:
        kept = self.levels >= first
        return self.levels[kept], self.words[kept], self.sums[kept]

    def same(self, other: "SharedWords") -> bool:
        """Whether two are the same in all levels that both keep: what was subtracted from may keep fewer."""
        first = max(self.first, other.first)
        mine, theirs = self._from(first), other._from(first)
        same = [np.array_equal(mine[place], theirs[place]) for place in range(3)]
        return np.array_equal(self.tokens, other.tokens) and all(same)

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays to save."""
        places = {"shared_tokens": self.tokens, "shared_first": np.array([self.first])}
        return {**places, "shared_levels": self.levels, "shared_words": self.words, "shared_sums": self.sums}

    @classmethod
    def from_artifact(cls, artifact: Artifact, dimension: int) -> "SharedWords | None":
        """Return what was saved with `tensors`, if anything was."""
        if "shared_sums" not in artifact.tensors:
            return None
        tokens, first = artifact.tensor("shared_tokens", np.int64, 1), artifact.tensor("shared_first", np.int64, 1)
        levels, words = artifact.tensor("shared_levels", np.int32, 1), artifact.tensor("shared_words", np.int32, 1)
        sums = artifact.tensor("shared_sums", np.int64, 2)
        if not len(levels) == len(words) == len(sums) or sums.shape[1] != dimension + len(COUNTS):
            raise artifact.damaged("its shared words do not belong together")
        if len(tokens) != LEVELS or len(first) != 1 or not 0 <= first[0] < LEVELS or (tokens < 0).any():
            raise artifact.damaged("the levels of its shared words make no sense")
        if len(words) and not (levels.min() >= 0 and levels.max() < LEVELS and 0 <= words.min() < words.max() + 1):
            raise artifact.damaged("its shared words make no sense")
        return cls(np.array(tokens), int(first[0]), np.array(levels), np.array(words), sums)


def shared_rows(known: int) -> tuple[int, int]:
    """Return the first of the words that are collected, as rows of the vectors, and the first one after them.

    >>> shared_rows(400_000), shared_rows(50)
    ((200, 30000), (0, 50))
    """
    return (COMMONEST if known > COMMON_WORDS else 0), min(COMMON_WORDS, known)


def first_level(tokens: Longs) -> int:
    """Return the lowest level from which on documents have at most `ENOUGH_TOKENS` tokens.

    >>> first_level(np.array([3 * ENOUGH_TOKENS, ENOUGH_TOKENS, 0, 0, 0, 0, 0]))
    1
    """
    from_there = np.cumsum(tokens[::-1])[::-1]
    few = np.flatnonzero(from_there <= ENOUGH_TOKENS)
    return int(few[0]) if len(few) else len(tokens) - 1


class SharedWordsTally(Tally):
    """The sums of `SharedWords` while a text is read.

    Documents wait until all is settled, since those of low levels are left out in the end if the text is large.
    """

    def __init__(self, integers: IntegerVectors, reading: Reading, lexicon: Lexicon, threads: int = 1) -> None:
        self._integers, self._threads = integers, threads
        self._words = shared_rows(integers.known)
        self._codes = word_codes(integers.known)
        self._tokens = np.zeros(LEVELS, dtype=np.int64)
        self._first = 0
        self._lock = threading.Lock()
        self._waiting: list[list[Encoded]] = [[] for _ in range(LEVELS)]
        matcher = Matcher.of_words(np.arange(*self._words), lexicon)
        self._sums = [SumsTally(integers, reading, matcher, threads=threads) for _ in range(LEVELS)]
        self._adders = [[tally.adder() for _ in range(threads)] for tally in self._sums]

    def adder(self) -> Callable[[Encoded], None]:
        """Return what one thread calls with each of its blocks."""
        return self._add

    def _add(self, encoded: Encoded) -> None:
        levels = levels_of(encoded, self._codes)
        tokens = np.bincount(levels, np.diff(encoded.offsets), LEVELS).astype(np.int64)
        kept = {level: _documents(encoded, levels == level) for level in range(self._first, LEVELS) if tokens[level]}
        with self._lock:
            self._tokens += tokens
            self._first = first_level(self._tokens)
            for level, documents in kept.items():
                self._waiting[level].append(documents)
            self._waiting[: self._first] = [[] for _ in range(self._first)]

    def settle(self) -> None:
        """Sum the contexts in the documents that wait."""
        with ThreadPoolExecutor(self._threads) as pool:
            for level in range(self._first, LEVELS):
                waiting, self._waiting[level] = self._waiting[level], []
                parts = [waiting[place :: self._threads] for place in range(self._threads)]
                list(pool.map(_add_all, self._adders[level], parts))
                self._sums[level].settle()

    def result(self) -> SharedWords:
        """Return the sums of the words that occur, after all is settled; to be called once."""
        parts: list[tuple[Ints, Longs]] = []
        for tally in self._sums[self._first :]:
            rows = tally.result()
            seen = np.flatnonzero(rows[:, self._integers.dimension + 2])
            parts.append(
                ((seen + self._words[0]).astype(np.int32), rows[seen, : self._integers.dimension + len(COUNTS)])
            )
        counts = [len(words) for words, _ in parts]
        levels = np.repeat(np.arange(self._first, LEVELS, dtype=np.int32), counts)
        words, sums = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return SharedWords(self._tokens, self._first, levels, words, sums)

    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the sums so far."""
        kept: dict[str, npt.NDArray[Any]] = {"tokens": self._tokens}
        for level in range(self._first, LEVELS):
            rows = self._sums[level].arrays()["rows"]
            seen = np.flatnonzero(rows[:, self._integers.columns + 2])
            kept |= {f"words_{level}": seen, f"sums_{level}": rows[seen]}
        return kept

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up what `arrays` gave."""
        self._tokens = np.array(arrays["tokens"])
        self._first = first_level(self._tokens)
        for level in range(self._first, LEVELS):
            self._sums[level].rows[arrays[f"words_{level}"]] = arrays[f"sums_{level}"]


def levels_of(encoded: Encoded, codes: npt.NDArray[np.uint64]) -> Ints:
    """Return the level of each document, by a hash of its words.

    >>> documents = Encoded(np.arange(4000, dtype=np.int32), np.arange(0, 4001, 2), [])
    >>> np.bincount(levels_of(documents, word_codes(4000)))[:3].tolist()
    [1494, 396, 79]
    """
    hashes = mixed(document_sums(encoded, codes) + np.uint64(1))  # other numbers than those of groups
    levels = np.zeros(len(hashes), dtype=np.int32)
    for level in range(1, LEVELS):
        levels += hashes < np.uint64((1 << 64) // LEVEL_SHARE**level)
    return levels


def _documents(encoded: Encoded, chosen: npt.NDArray[np.bool_]) -> Encoded:
    """Return some of the documents of a block, without its text; few documents cost little."""
    starts, lengths = encoded.offsets[:-1][chosen], np.diff(encoded.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Encoded(encoded.ids[places], offsets, [])


def _add_all(add: Callable[[Encoded], None], parts: list[Encoded]) -> None:
    for encoded in parts:
        add(encoded)
