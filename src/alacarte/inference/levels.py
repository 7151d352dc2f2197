"""At which level a variable varies: between documents, or only between those who wrote them."""

from collections.abc import Mapping

import numpy as np

from alacarte._io.arrays import Longs

LEAST_LEVELS = 10  # fewer do not show how far levels lie apart
EXCEPTIONS = 0.1  # of the rows that differ from most others, at most, may differ from most of their own level


def level_of(variable: Longs, columns: Mapping[str, Longs]) -> tuple[str, int] | None:
    """Return the column between whose levels a variable varies, but hardly within them, and how many levels it has.

    Variable and columns are codes, one per row, -1 where the value is missing. Of several such columns it is one within
    whose levels the variable is constant, if there is any, and of these the one with the fewest levels. Columns with
    fewer than `LEAST_LEVELS`, or a level per row, do not count.

    >>> party, speaker = np.repeat([0, 1], 30), np.arange(60) // 3
    >>> level_of(party, {"speaker": speaker, "date": np.arange(60) % 15, "number": np.arange(60)})
    ('speaker', 20)
    >>> name = np.where(speaker == 19, 0, speaker)  # first names: two speakers have the same, but not the same party
    >>> level_of(party, {"speaker": speaker, "name": name})
    ('speaker', 20)
    """
    found = []
    for name, column in columns.items():
        known = (column >= 0) & (variable >= 0)
        levels = len(np.unique(column[known]))
        if not LEAST_LEVELS <= levels < np.count_nonzero(known) or levels == len(np.unique(variable[known])):
            continue
        if varies_between(variable, column):
            found.append((exceptions_of(variable, column) > 0, levels, name))
    return None if not found else (min(found)[2], min(found)[1])


def varies_between(variable: Longs, clusters: Longs) -> bool:
    """Whether a variable differs between clusters, but hardly within them; codes are -1 where they are missing.

    >>> varies_between(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))
    True
    >>> varies_between(np.array([0, 1]), np.array([0, 0]))
    False
    """
    known = (clusters >= 0) & (variable >= 0)
    if not known.any():
        return False
    most = np.bincount(variable[known]).max()
    return bool(exceptions_of(variable, clusters) <= EXCEPTIONS * (np.count_nonzero(known) - most))


def exceptions_of(variable: Longs, clusters: Longs) -> int:
    """Return how many rows differ from most others of their cluster.

    >>> exceptions_of(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    1
    """
    known = (clusters >= 0) & (variable >= 0)
    pairs, counts = np.unique(np.column_stack([clusters, variable])[known], axis=0, return_counts=True)
    commonest = np.maximum.reduceat(counts, np.flatnonzero(np.diff(pairs[:, 0], prepend=-1)))
    return int(counts.sum() - commonest.sum())
