"""One context at a time: what `ALaCarte.embed` sums and averages, in microseconds and without compilation.

A pass over a corpus (`collect`) does the same for millions of contexts; tests hold the two together.
"""

import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte._io.printing import shortened
from alacarte.contexts.averaging import divisor
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, NoOccurrences, NotEnoughData
from alacarte.transform.transform import Transform
from alacarte.vectors.word_vectors import WordVectors

Contexts = str | Iterable[str | Sequence[str]]
Absent = Literal["error", "whole"]
ONES = np.ones(256)
Window = tuple[list[int], list[float] | None]  # rows of the vectors, and their weights by distance; None: all 1


class ContextSum(NamedTuple):
    """The sum of the vectors in one context, and what each of the three averages divides it by."""

    vectors: Doubles
    occurrences: float
    weight: float  # of all context words together
    filled: float  # occurrences beside at least one word that has a vector


class ContextReader:
    """Sums and transforms single contexts: the words of `vectors`, windowed and weighted as `reading` says."""

    def __init__(
        self, vectors: WordVectors, transform: Transform, reading: Reading, tokenize: Callable[[str], Sequence[str]]
    ) -> None:
        self._vectors, self._transform, self._tokenize = vectors, transform, tokenize
        weights = transform.weights.values
        self._weights = None if weights is None else weights.astype(np.float64)
        self._averaging = reading.averaging
        self._drop = reading.unknown == "drop"
        self._uniform = reading.positions == "uniform"
        self._left, self._right = (side.tolist() for side in reading.position_weights())

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return self._vectors.key_to_index

    # ------------------------------------------------------------------------------------------------ read

    def token_lists(self, contexts: Contexts) -> list[Sequence[str]]:
        """Return the tokens of each context."""
        if isinstance(contexts, str):
            return [self._tokenize(contexts)]
        listed: list[Any] = list(contexts) if isinstance(contexts, Iterable) else [contexts]
        for context in listed:
            if not isinstance(context, Iterable) or isinstance(context, bytes):
                raise BadCorpus(f"a context is a text or a list of tokens, and not {context!r:.60}")
        lists = [self._tokenize(context) if isinstance(context, str) else context for context in listed]
        if not lists:
            raise NoOccurrences("there is no context to embed; give at least one")
        return lists

    def target_tokens(self, target: str) -> list[str]:
        """Return the tokens of a target."""
        if not isinstance(target, str):
            raise AlacarteError(f"a target is a word or phrase, and not {target!r:.60}")
        tokens = list(self._tokenize(target))
        if not tokens:
            raise NoOccurrences(f"the tokenizer finds no token in the target {target!r}")
        return tokens

    def read(
        self, contexts: Contexts, target: str | None, absent: Absent
    ) -> tuple[list[ContextSum], list[Sequence[str]]]:
        """Return the sum of each context, and its tokens.

        A context without the target is an error, or counts with all its words if `absent` is "whole" (with a warning).
        """
        lists = self.token_lists(contexts)
        if target is None:
            return [self.whole(tokens) for tokens in lists], lists
        wanted = self.target_tokens(target)
        sums = []
        whole = 0
        for position, tokens in enumerate(lists):
            context = self.around(tokens, wanted)
            if context is None and absent == "error":
                raise NoOccurrences(
                    f"{target!r} does not occur in context {position + 1}, {_as_text(tokens)!r}; correct the "
                    "spelling, or leave `target` out to use the whole context"
                )
            whole += context is None
            sums.append(self.whole(tokens) if context is None else context)
        if whole:
            warnings.warn(
                f"{target!r} does not occur in {whole} of {len(lists)} contexts; all words of these count",
                AlacarteWarning,
                stacklevel=4,
            )
        return sums, lists

    def whole(self, tokens: Sequence[str]) -> ContextSum:
        """Return the sum of all words of a context."""
        return self._sum(self._known(tokens), None)

    def around(self, tokens: Sequence[str], target: list[str]) -> ContextSum | None:
        """Return the windows around each occurrence of a target, given as its tokens; None where it does not occur."""
        sums = [self._sum(rows, scales) for rows, scales in self.windows(tokens, target)]
        return total(sums) if sums else None

    def windows(self, tokens: Sequence[str], target: list[str]) -> list[Window]:
        """Return the words around each occurrence of a target."""
        tokens, get = list(tokens), self._index.get
        windows: list[Window] = []
        plain = self._uniform and not self._drop
        # Where the words are that take a place in a window, so that no window looks at more than it holds.
        places = [] if plain else [n for n, token in enumerate(tokens) if not self._drop or token in self._index]
        for start in _occurrences(tokens, target):
            end = start + len(target)
            if plain:
                near = tokens[max(0, start - len(self._left)) : start] + tokens[end : end + len(self._right)]
                windows.append(([row for row in map(get, near) if row is not None], None))
                continue
            rows: list[int] = []
            weights: list[float] = []
            before, after = bisect_left(places, start), bisect_left(places, end)
            left = places[max(0, before - len(self._left)) : before][::-1]
            right = places[after : after + len(self._right)]
            for side, scales in ((left, self._left), (right, self._right)):
                for place, scale in zip(side, scales, strict=False):
                    row = get(tokens[place])
                    if row is not None:
                        rows.append(row)
                        weights.append(scale)
            windows.append((rows, weights))
        return windows

    def words(self, tokens: Sequence[str], target: list[str] | None) -> list[tuple[Longs, Doubles]]:
        """Return (rows of the vectors, their weights) of each window, or of the whole context without the target."""
        windows = [] if target is None else self.windows(tokens, target)
        windows = windows or [(self._known(tokens), None)]
        return [(np.array(rows, dtype=np.int64), self._word_weights(rows, scales)) for rows, scales in windows]

    def _known(self, tokens: Sequence[str]) -> list[int]:
        return [row for row in map(self._index.get, tokens) if row is not None]

    def _word_weights(self, rows: list[int], scales: list[float] | None) -> Doubles:
        if self._weights is None:
            weights = ONES[: len(rows)] if len(rows) <= len(ONES) else np.ones(len(rows))
        else:
            weights = self._weights.take(rows)
        return weights if scales is None else weights * scales

    def _sum(self, rows: list[int], scales: list[float] | None) -> ContextSum:
        """Return one window: the weighted sum of its vectors, or their mean if each context counts by its own mean."""
        if not rows:
            return ContextSum(np.zeros(self._vectors.dimension), 1, 0.0, 0)
        weights = self._word_weights(rows, scales)
        weight = float(len(rows)) if self._weights is None and scales is None else float(weights.sum())
        vectors = weights.dot(self._vectors.matrix[rows].astype(np.float64))
        if self._averaging == "context" and weight > 0:
            vectors = vectors / weight
        return ContextSum(vectors, 1, weight, weight > 0)

    # ------------------------------------------------------------------------------------------- transform

    def vector(self, context: ContextSum, tokens: Sequence[str]) -> Singles:
        """Return A u (+ b) for the average context u; the error where there is none names the tokens."""
        if context.weight <= 0:
            raise NotEnoughData(
                f"none of the context words has a vector: {_as_text(tokens)!r}; give a context with known words"
            )
        by = divisor(self._averaging, context.occurrences, context.weight, context.filled)
        return self._transform(context.vectors if by == 1 else context.vectors / by)


def total(sums: Sequence[ContextSum]) -> ContextSum:
    """Return several contexts added up, in float64."""
    if len(sums) == 1:
        return sums[0]
    return ContextSum(
        np.add.reduce([part.vectors for part in sums], axis=0, dtype=np.float64),
        sum(part.occurrences for part in sums),
        sum(part.weight for part in sums),
        sum(part.filled for part in sums),
    )


def _occurrences(tokens: list[str], target: list[str]) -> list[int]:
    """Where a target begins.

    >>> _occurrences(["new", "york", "new", "york"], ["new", "york"])
    [0, 2]
    """
    places = []
    start, last = 0, len(tokens) - len(target)
    while start <= last:
        try:
            start = tokens.index(target[0], start, last + 1)
        except ValueError:
            break
        if tokens[start : start + len(target)] == target:
            places.append(start)
        start += 1
    return places


def _as_text(tokens: Sequence[str]) -> str:
    return shortened(" ".join(tokens))
