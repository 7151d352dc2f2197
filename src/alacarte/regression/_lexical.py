"""What embeddings are compared with: words or stems, as unit vectors."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from alacarte.errors import AlacarteError, AlacarteWarning, NotEnoughData, require
from alacarte.inference.cosines import Norm, check_norm
from alacarte.regression._space import Candidates, EmbeddingSpace
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


def stems(words: Iterable[str], language: str) -> list[str]:
    """Snowball stems.

    >>> stems(["immigration", "immigrants"], "porter")
    ['immigr', 'immigr']
    """
    module = require("snowballstemmer", extra="regression", purpose="stemming")
    known = sorted(module.algorithms())
    if language not in known:
        raise AlacarteError(f"no stemmer for {language!r}; there are {', '.join(known)}")
    return list(module.stemmer(language).stemWords(list(words)))


@dataclass(frozen=True, eq=False)
class Lexical:
    """Features to compare with: names, and for each the rows of the vectors whose similarities it averages.

    Similarities are cosines, or products with the norm "none".
    """

    space: EmbeddingSpace
    names: Sequence[str]
    rows: Longs
    average: "sparse.csr_matrix | None"  # (names, rows); None: a word each
    norm: Norm = "l2"

    @classmethod
    def of(
        cls,
        space: EmbeddingSpace,
        candidates: Candidates,
        stem: str | None,
        purpose: str = "candidates",
        *,
        all_words: bool = False,
        again: str | None = None,
        norm: Norm = "l2",
    ) -> "Lexical":
        """Words, or the stems of words: averaged over the candidates that have it, or over `all_words` that do.

        `again` stems the stems once more, in another language.
        """
        check_norm(norm)
        if stem is None:
            rows, unknown = space.candidate_rows(candidates, purpose)
            if unknown:
                warnings.warn(
                    f"{len(unknown)} of the {purpose} have no vector and are left out: {', '.join(unknown[:5])}",
                    AlacarteWarning,
                    stacklevel=4,
                )
            return cls(space, [space.words[row] for row in rows.tolist()], rows, None, norm)
        if all_words:
            limit = len(space.words) if candidates is None else candidates
            listed = space.words[:limit] if isinstance(limit, int) else limit
            wanted = set(stems([listed] if isinstance(listed, str) else listed, stem))
            of_all = stems(space.words, stem)
            rows = np.array([row for row, name in enumerate(of_all) if name in wanted], dtype=np.int64)
            if not len(rows):
                raise NotEnoughData(f"no word with a vector has the stem of any of the {purpose}; check the language")
            stem_of_row = [of_all[row] for row in rows.tolist()]
        else:
            rows, _ = space.candidate_rows(candidates, purpose)
            stem_of_row = stems([space.words[row] for row in rows.tolist()], stem)
        if again is not None:
            stem_of_row = stems(stem_of_row, again)
        names = sorted(set(stem_of_row))
        place = {name: number for number, name in enumerate(names)}
        owner = np.array([place[name] for name in stem_of_row])
        share = 1 / np.bincount(owner)[owner]
        average = sparse.csr_matrix((share, (owner, np.arange(len(rows)))), shape=(len(names), len(rows)))
        return cls(space, names, rows, average, norm)

    def similarities(self, x: Doubles) -> Doubles:
        """(rows of x, names)."""
        values = self.space.similarities(x, self.rows, self.norm)
        return values if self.average is None else np.asarray((self.average @ values.T).T)

    def directions(self, chosen: Longs) -> Doubles:
        """The vectors whose products with a unit vector (or, with the norm "none", with a vector) are similarities."""

        def vectors(rows: Longs) -> Doubles:
            matrix = self.space.matrix[self.rows[rows]].astype(np.float64)
            return unit_rows(matrix) if self.norm == "l2" else matrix

        if self.average is None:
            return vectors(chosen)
        part = self.average[chosen]
        used = np.unique(part.indices)
        return np.asarray(part[:, used] @ vectors(used))
