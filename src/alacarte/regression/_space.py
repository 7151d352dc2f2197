"""Word vectors, the transform and how contexts are read: what turns contexts into embeddings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte.contexts.reading import AVERAGINGS, Averaging, Reading
from alacarte.errors import BadTransform, BadVectors, NotEnoughData
from alacarte.inference.cosines import Norm
from alacarte.model import ALaCarte
from alacarte.text.tokenizers import TokenizerLike
from alacarte.transform.transform import Transform
from alacarte.vectors.formats import objects
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.search import row_lengths
from alacarte.vectors.word_vectors import WordVectors

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
BLOCK = 1 << 16  # words whose vectors are widened to float64 at a time

Candidates = int | Iterable[str] | None


@dataclass(frozen=True, eq=False)
class EmbeddingSpace:
    """Words, their vectors, a transform A (None: contexts are averaged and left as they are), and how contexts are
    read for it (`reading`; None where the transform does not say).

    Vectors given as (words, float64 matrix) and transforms given as float64 arrays keep their precision.

    >>> space = EmbeddingSpace.of((["a", "b"], np.array([[1.0, 0.0], [0.0, 1.0]])), np.eye(2) * 2)
    >>> space.apply(np.array([[1.0, 3.0]])).tolist()
    [[2.0, 6.0]]
    """

    words: Sequence[str]
    matrix: npt.NDArray[Any]
    index: dict[str, int]
    transform: Doubles | None = None
    intercept: Doubles | None = None
    averaging: Averaging = "context"
    weights: Doubles | None = None
    reading: Reading | None = None
    tokenizer: TokenizerLike = "words"

    @classmethod
    def of(cls, vectors: Any, transform: Any = None, averaging: Averaging | None = None) -> "EmbeddingSpace":
        """From vectors of any kind, or an `ALaCarte` model, and a transform: a `Transform`, a matrix or None."""
        if isinstance(vectors, EmbeddingSpace):
            space = vectors if transform is None else vectors._with(transform)
        elif isinstance(vectors, ALaCarte):
            space = cls._of_words(vectors.vectors.words, vectors.vectors.matrix)
            space = space._with(vectors.transform)._read_as(vectors.settings)
            space = space if transform is None else space._with(transform)
            space = replace(space, tokenizer=vectors.tokenizer)
        elif isinstance(vectors, WordVectors) or (table := objects.table_of(vectors)) is None:
            source = WordVectors.of(vectors)
            if isinstance(transform, Transform):
                transform.check_vectors(source)
            space = cls._of_words(source.words, source.matrix)._with(transform)
        else:
            space = cls._of_words(table.words, table.matrix)._with(transform)
        if averaging is None:
            return space
        if averaging not in AVERAGINGS:
            raise BadTransform(f"averaging is 'occurrence', 'token' or 'context', not {averaging!r}")
        return replace(space, averaging=averaging)

    @classmethod
    def _of_words(cls, words: Iterable[str], matrix: Any) -> "EmbeddingSpace":
        listed = words if isinstance(words, (list, tuple)) else list(words)
        array = np.asarray(matrix)
        if array.ndim != 2 or len(array) != len(listed) or array.dtype.kind not in "fiu":
            raise BadVectors(f"{len(listed)} words and a matrix of shape {array.shape}; give each word one row")
        index = {word: row for row, word in enumerate(listed)}
        if len(index) != len(listed):
            raise BadVectors(f"{len(listed) - len(index)} words stand there twice; give each word once")
        for low in range(0, len(array), BLOCK):
            finite = np.isfinite(array[low : low + BLOCK]).all(axis=1)
            if not finite.all():
                word = listed[low + int(np.flatnonzero(~finite)[0])]
                raise BadVectors(f"the vector of {word!r} has values that are not finite (NaN?); correct or drop it")
        return cls(listed, array, index)

    def _with(self, transform: Any) -> "EmbeddingSpace":
        if transform is None:
            return self
        given = transform if isinstance(transform, Transform) else getattr(transform, "matrix", transform)
        if isinstance(given, Transform):
            weights = given.weights.values
            changed = replace(
                self,
                transform=np.asarray(given.matrix, dtype=np.float64),
                intercept=None if given.intercept is None else given.intercept.astype(np.float64),
                weights=None if weights is None else weights.astype(np.float64),
            )
            if given.settings is not None:
                changed = changed._read_as(given.settings)
        else:
            changed = replace(
                self,
                transform=np.asarray(given, dtype=np.float64),
                intercept=None,
                weights=None,
                reading=None,
                averaging="context",
            )
            window = getattr(transform, "window", None)
            if window is not None:  # of co-occurrence counts, which are pooled and so say nothing of the average
                changed = replace(changed, reading=Reading(left=window, right=window, averaging="context"))
        matrix = changed.transform
        if matrix is None or matrix.shape != (self.dimension, self.dimension):
            shape = None if matrix is None else matrix.shape
            raise BadTransform(
                f"a transform for these vectors has {self.dimension} × {self.dimension} values, not {shape}; "
                "pass the one that was learned for them (applied as A u)"
            )
        if not np.isfinite(matrix).all():
            raise BadTransform("the transform holds values that are not finite; learn or fetch it again")
        if changed.weights is not None and len(changed.weights) != len(self.words):
            raise BadTransform(f"context weights for {len(changed.weights)} words and {len(self.words)} vectors")
        return changed

    def _read_as(self, reading: Reading) -> "EmbeddingSpace":
        return replace(self, reading=reading, averaging=reading.averaging, tokenizer=reading.tokenizer)

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def window(self) -> tuple[int, int] | None:
        """Words before and after, if it is known what the transform was learned with."""
        return None if self.reading is None else (self.reading.left, self.reading.right)

    @property
    def drops_unknown(self) -> bool:
        """Whether words without a vector are taken out of the text before windows are cut."""
        return self.reading is not None and self.reading.unknown == "drop"

    def position_weights(self, window: tuple[int, int]) -> tuple[Doubles, Doubles]:
        """What words count by their distance 1, 2, … to the left and to the right, in a window of this size."""
        if self.reading is None:
            return np.ones(window[0]), np.ones(window[1])
        return replace(self.reading, left=window[0], right=window[1]).position_weights()

    def apply(self, means: Doubles) -> Doubles:
        """A u (+ b) for each row."""
        result = means if self.transform is None else means @ self.transform.T
        return result if self.intercept is None else result + self.intercept

    def rows_of(self, tokens: Sequence[str], case: Literal["fold", "lower", "exact"] = "fold") -> Longs:
        """The row of each token, -1 where there is none; the empty token (a pad) never has one.

        >>> space = EmbeddingSpace.of((["US", "us", "war"], np.eye(3)))
        >>> [space.rows_of(["US", "War", ""], case).tolist() for case in ("fold", "lower", "exact")]
        [[0, 2, -1], [1, 2, -1], [0, -1, -1]]
        """
        get = self.index.get
        if case == "lower":
            rows = [get(token.lower(), -1) if token else -1 for token in tokens]
        elif case == "exact":
            rows = [get(token, -1) if token else -1 for token in tokens]
        else:
            rows = [get(token, get(token.lower(), -1)) if token else -1 for token in tokens]
        return np.array(rows, dtype=np.int64)

    def candidate_rows(self, candidates: Candidates, purpose: str = "candidates") -> tuple[Longs, list[str]]:
        """(rows to search in the order of the vectors, names that have no vector)."""
        if candidates is None:
            return np.arange(len(self.words)), []
        if isinstance(candidates, (int, np.integer)):
            return np.arange(min(int(candidates), len(self.words))), []
        listed = [candidates] if isinstance(candidates, str) else list(candidates)
        unknown = [word for word in listed if word not in self.index]
        rows = np.unique(np.array([self.index[word] for word in listed if word in self.index], dtype=np.int64))
        if not len(rows):
            shown = ", ".join(map(repr, unknown[:5]))
            raise NotEnoughData(f"none of the {purpose} has a vector ({shown}); check spelling and case")
        return rows, unknown

    @cached_property
    def lengths(self) -> Doubles:
        """The length of each word's vector, 1 for zeros."""
        return row_lengths(self.matrix)

    def similarities(self, x: Doubles, rows: Longs, norm: Norm = "l2") -> Doubles:
        """Cosines of each row of x with the vectors of these words, or products: (len(x), len(rows)); zeros give 0."""
        cosines = norm == "l2"
        left = unit_rows(x) if cosines else x
        result = np.empty((len(x), len(rows)))
        for low in range(0, len(rows), BLOCK):
            part = rows[low : low + BLOCK]
            block = self.matrix[part].astype(np.float64)
            if cosines:
                block /= self.lengths[part, None]
            result[:, low : low + BLOCK] = left @ block.T
        return result
