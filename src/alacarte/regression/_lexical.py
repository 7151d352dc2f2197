"""What embeddings are compared with: words or stems, as unit vectors."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from alacarte.errors import AlacarteError, AlacarteWarning, require
from alacarte.regression._space import Candidates, Space, unit_rows
from alacarte.regression.compat import Choices

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
    """Features to compare with: names, and for each the rows of the vectors whose cosines it averages."""

    space: Space
    names: Sequence[str]
    rows: Longs
    average: "sparse.csr_matrix | None"  # (names, rows); None: a word each

    @classmethod
    def of(
        cls, space: Space, candidates: Candidates, stem: str | None, rules: Choices, purpose: str = "candidates"
    ) -> "Lexical":
        rows, unknown = space.candidate_rows(candidates, purpose)
        if unknown and stem is None:
            warnings.warn(
                f"{len(unknown)} of the {purpose} have no vector and are left out: {', '.join(unknown[:5])}",
                AlacarteWarning,
                stacklevel=4,
            )
        if stem is None:
            return cls(space, [space.words[row] for row in rows.tolist()], rows, None)
        wanted = stems([space.words[row] for row in rows.tolist()], stem)
        if rules.stems_of_all_words:
            of_all = stems(space.words, stem)
            named = set(wanted)
            rows = np.array([row for row, name in enumerate(of_all) if name in named], dtype=np.int64)
            wanted = [of_all[row] for row in rows.tolist()]
        names = sorted(set(wanted))
        place = {name: number for number, name in enumerate(names)}
        owner = np.array([place[name] for name in wanted])
        share = 1 / np.bincount(owner)[owner]
        average = sparse.csr_matrix((share, (owner, np.arange(len(rows)))), shape=(len(names), len(rows)))
        return cls(space, names, rows, average)

    def cosines(self, x: Doubles) -> Doubles:
        """(rows of x, names)."""
        values = self.space.cosines(x, self.rows)
        return values if self.average is None else np.asarray((self.average @ values.T).T)

    def directions(self, chosen: Longs) -> Doubles:
        """Unit vectors, or their means for stems, of some of the names."""
        if self.average is None:
            return unit_rows(self.space.matrix[self.rows[chosen]].astype(np.float64))
        part = self.average[chosen]
        used = np.unique(part.indices)
        return np.asarray(part[:, used] @ unit_rows(self.space.matrix[self.rows[used]].astype(np.float64)))
