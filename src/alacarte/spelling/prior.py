"""What is known of a target before any context: of a word, its spelling; of a phrase, its parts.

Both are combined with contexts in the same way (`alacarte.spelling.fusion`), each with weights of its own. What the
parts of a phrase say is the mean of its words' directions; a word without a vector has that of its spelling, if any.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Mask
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion, Parts, without_direction
from alacarte.transform.register import Adaptation
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

# Of WordNet's phrases and their synonyms, with contexts in Wikipedia (benchmarks/phrases.py).
PHRASE_LEVEL, PHRASE_DOUBLING, PHRASE_LENGTH = -1.1, 0.35, 0.75
SPELLING, PARTS = "spelling", "parts"


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known of words and phrases before any context, and how much contexts count beside it.

    Parameters
    ----------
    vectors
        The vectors of known words.
    form
        Vectors from spelling; without them, nothing is known of words.
    fusion
        How much contexts count beside spelling.
    adaptation
        How contexts and words are compared; None for plain vectors.
    """

    vectors: WordVectors
    form: FormModel | None = None
    fusion: Fusion | None = None
    adaptation: Adaptation | None = None

    @cached_property
    def common(self) -> Doubles | None:
        """The direction that all vectors share, which is taken out; there is none in adapted vectors."""
        if self.adaptation is not None:
            return None
        if self.fusion is not None:
            return self.fusion.common
        mean = self.vectors.matrix.mean(axis=0, dtype=np.float64)
        return unit_rows(mean) if mean.any() else None

    @cached_property
    def phrases(self) -> Fusion:
        """How much contexts count beside the parts of phrases."""
        return Fusion(PHRASE_LEVEL, PHRASE_DOUBLING, 0.0, PHRASE_LENGTH, self.common)

    @cached_property
    def words(self) -> Fusion:
        """How much contexts count beside the spelling of words."""
        fusion = self.fusion or Fusion.usual()
        return Fusion(fusion.level, fusion.doubling, fusion.length, fusion.typical, self.common, fusion.report)

    def rows(self, targets: Sequence[str]) -> Doubles:
        """Return a vector for each target, in the space in which vectors are compared; zeros where nothing is known.

        The length of a vector says how much is known.

        Examples
        --------
        >>> vectors = WordVectors(["new", "york", "x"], [[2.0, 0.0], [0.0, 1.0], [-2.0, -1.0]])
        >>> Prior(vectors).rows(["new york", "york", "no such"]).round(2).tolist()
        [[0.5, 0.5], [0.0, 0.0], [0.0, 0.0]]
        """
        single = ~_phrases(targets)
        rows = np.zeros((len(targets), self.vectors.dimension))
        rows[single] = self._spelled([target for target, one in zip(targets, single, strict=True) if one])
        index = self.vectors.key_to_index
        for place in np.flatnonzero(~single).tolist():
            words = targets[place].split()
            known = [index[word] for word in words if word in index]
            directions = [self._directions(self.vectors.matrix[known])]
            directions.append(self._spelled([word for word in words if word not in index]))
            found = np.concatenate(directions)
            found = unit_rows(found[found.any(axis=1)])
            if len(found):
                rows[place] = found.mean(axis=0)
        return rows

    def _directions(self, matrix: npt.ArrayLike) -> Doubles:
        """Return what the vectors of words are compared as, at length 1."""
        rows = np.asarray(matrix, dtype=np.float64)
        if self.adaptation is not None:
            rows = self.adaptation.compared_words(rows)
        return without_direction(rows, self.common)

    def _spelled(self, words: Sequence[str]) -> Doubles:
        """Return vectors from spelling, as long as the form model has them."""
        if self.form is None or not len(words):
            return np.zeros((len(words), self.vectors.dimension))
        rows = self.form.rows(list(words))[0].astype(np.float64)
        return rows if self.adaptation is None else self.adaptation.compared_forms(rows)

    def weights(self, targets: Sequence[str], rows: Doubles, counts: npt.ArrayLike) -> Doubles:
        """Return how much the contexts of each target count beside what `rows` knows of it."""
        lengths, phrase = np.linalg.norm(rows, axis=1), _phrases(targets)
        sides = [fusion.context_weights(counts, lengths) for fusion in (self.words, self.phrases)]
        return np.where(lengths > 0, np.where(phrase, sides[1], sides[0]), 1.0)

    def combine(self, contexts: npt.ArrayLike, rows: Doubles, counts: npt.ArrayLike, targets: Sequence[str]) -> Parts:
        """Return vectors from contexts and what `rows` knows of targets; rows of zeros mean that there is nothing.

        The vectors from contexts are as they are compared; `fused` is at home among the vectors of words.
        """
        x, n, phrase = np.atleast_2d(np.asarray(contexts, np.float64)), np.asarray(counts), _phrases(targets)
        chosen = [(fusion, here) for fusion, here in ((self.words, ~phrase), (self.phrases, phrase)) if here.any()]
        parts = [fusion.combine(x[here], rows[here], n[here]) for fusion, here in chosen]
        order = np.argsort(np.concatenate([np.flatnonzero(here) for _, here in chosen]), kind="stable")
        origin = sum((part.origin for part in parts), ())
        named = [
            origin[place].replace(SPELLING, PARTS) if phrase[at] else origin[place] for at, place in enumerate(order)
        ]
        arrays = {
            item.name: np.concatenate([getattr(part, item.name) for part in parts])[order]
            for item in fields(Parts)
            if item.name not in ("origin", "shift")
        }
        shift = np.zeros(x.shape[1])
        if self.adaptation is not None:
            alone = (arrays["context_weight"] == 0) & (arrays["form_weight"] > 0)
            scale = np.where(alone, self.adaptation.length / np.maximum(np.linalg.norm(rows, axis=1), 1e-300), 1.0)
            arrays["form_part"] = (arrays["form_part"] * scale[:, None]).astype(np.float32)
            shift = self.adaptation.shift
            has = (arrays["context_weight"] > 0) | (arrays["form_weight"] > 0)
            arrays["fused"] = (arrays["context_part"] + arrays["form_part"] + has[:, None] * shift).astype(np.float32)
        return Parts(**arrays, origin=tuple(named), shift=shift)


def is_phrase(target: str) -> bool:
    """Whether a target has several words: these are spelled, the phrase is not.

    >>> is_phrase("york"), is_phrase("new york")
    (False, True)
    """
    return len(target.split()) > 1


def _phrases(targets: Sequence[str]) -> Mask:
    return np.fromiter(map(is_phrase, targets), np.bool_, len(targets))
