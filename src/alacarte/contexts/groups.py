"""Several sums for each target instead of one: contexts are dealt to groups, those of one document to the same.

How far the groups' means lie apart tells how sure the mean of all is. Groups are chosen by what a document says, not by
its number: no thread, block or shard has to know of another, text added later falls into the same groups, and a
document that occurs twice is one witness and not two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte.contexts.reading import Averaging
from alacarte.errors import AlacarteError
from alacarte.targets.sequences import Matches
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded

Ints = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint64]
NAMES = ("sums", "occurrences", "contexts", "totals")


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What `ContextSums` hold, for each target and group: (targets, groups), `sums` with the dimensions behind."""

    sums: Doubles
    occurrences: Counts
    contexts: Counts
    totals: Doubles

    @classmethod
    def of_rows(cls, arrays: dict[str, npt.NDArray[Any]], groups: int) -> "GroupSums":
        """From arrays with a row for each target and group."""
        return cls(*(arrays[name].reshape(-1, groups, *arrays[name].shape[1:]) for name in NAMES))

    def __len__(self) -> int:
        """How many groups there are."""
        return int(self.sums.shape[1])

    def weights(self, averaging: Averaging) -> npt.NDArray[Any]:
        """What the sums are divided by."""
        return {"occurrence": self.occurrences, "token": self.totals, "context": self.contexts}[averaging]


class GroupedMatcher(Matcher):
    """A matcher whose matches name a row for each target and group: target × groups + group."""

    def __init__(self, matcher: Matcher, groups: int, known: int) -> None:
        if groups < 2:
            raise AlacarteError(f"spread: at least 2 groups are needed to tell how far they lie apart, not {groups}")
        self.keys = matcher.keys
        self.any_label = matcher.any_label
        self._matcher = matcher
        self.groups = groups
        self._codes = document_codes(known)

    @property
    def stateless(self) -> bool:
        return self._matcher.stateless

    def restore(self, keys: Any) -> None:
        self._matcher.restore(keys)

    def match(self, encoded: Encoded) -> Matches:
        found = self._matcher.match(encoded)
        if self.rows > np.iinfo(np.int32).max:
            raise AlacarteError(
                f"{len(self.keys):,} targets in {self.groups} groups are too many; use fewer groups (spread), or "
                "embed the targets in several runs"
            )
        groups = groups_of(encoded, self._codes, self.groups)
        in_document = np.diff(np.searchsorted(found.starts, encoded.offsets))  # matches are sorted by start
        rows = found.targets * np.int32(self.groups)
        rows += np.repeat(groups, in_document)
        return Matches(found.starts, found.ends, rows)


def document_codes(known: int) -> Codes:
    """A code for each known word, and a last one for all others."""
    return _mixed(np.arange(1, known + 2, dtype=np.uint64))


def groups_of(encoded: Encoded, codes: Codes, groups: int) -> Ints:
    """The group of each document: from the sum of its words' codes, so that the same words are in the same group.

    >>> twice = Encoded(np.array([0, 1, 5, 0, 1, 7], dtype=np.int32), np.array([0, 3, 6]), [])
    >>> groups = groups_of(twice, document_codes(2), 16)
    >>> bool(groups[0] == groups[1])  # 5 and 7 are both unknown
    True
    """
    known = len(codes) - 1
    ids = np.where((encoded.ids >= 0) & (encoded.ids < known), encoded.ids, known)
    before = np.zeros(ids.size + 1, dtype=np.uint64)
    np.cumsum(codes[ids], out=before[1:])
    sums = before[encoded.offsets[1:]] - before[encoded.offsets[:-1]]  # modulo 2^64, as everything here
    return np.asarray(_mixed(sums) % np.uint64(groups)).astype(np.int32)


def _mixed(values: Codes) -> Codes:
    """Every bit of the result depends on every bit of the value (the finaliser of splitmix64; Steele et al. 2014)."""
    x = values * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
