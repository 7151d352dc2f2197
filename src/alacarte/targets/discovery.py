"""Counting frequent n-grams exactly, with memory bounded by what is frequent: Apriori over token ids on disk."""

import tempfile
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
BLOCK = 1 << 22  # positions looked at together


def frequent_ngrams(batches: Iterable[tuple[Ints, Longs]], longest: int, min_count: int) -> list[Ints]:
    """Sequences of ids that occur at least `min_count` times: for each length from 1 to `longest`, a row for each.

    The most frequent come first. A batch is (ids, document offsets).

    Level n works with the numbers of the frequent n-grams, one for each position of the corpus or -1; two
    neighbours that are both frequent make a candidate for level n + 1. Only numbers are kept, and on disk.
    """
    with tempfile.TemporaryFile() as file:
        total = 0
        for ids, offsets in batches:
            separated = np.insert(ids, offsets[1:], -1)  # so that no n-gram reaches across documents
            separated.tofile(file)
            total += separated.size
        if total == 0:
            return []
        file.flush()
        codes = np.memmap(file, dtype=np.int32, mode="r+", shape=(total,))
        found: list[Ints] = []
        names = np.empty((0, 0), dtype=np.int32)  # the n-gram behind each number
        for length in range(1, longest + 1):
            stride = len(names)
            keys, counts = _count(codes, length, stride)
            frequent = counts >= min_count
            keys, counts = keys[frequent], counts[frequent]
            if length == 1:
                names = keys.astype(np.int32)[:, None]
            else:
                names = np.column_stack([names[keys // stride], names[keys % stride, -1]])
            found.append(names[np.argsort(-counts, kind="stable")])
            if not len(names):
                break
            if length < longest:
                _renumber(codes, keys, length, stride)
        del codes
    return found


def _keys(codes: Ints, low: int, high: int, length: int, stride: int) -> Longs:
    """Candidate keys for positions [low, high): -1 where there is none."""
    here = codes[low:high].astype(np.int64)
    if length == 1:
        return here
    after = np.full(here.size, -1, dtype=np.int64)
    following = codes[low + 1 : high + 1]
    after[: following.size] = following
    return np.where((here >= 0) & (after >= 0), here * stride + after, -1)


def _count(codes: Ints, length: int, stride: int) -> tuple[Longs, Longs]:
    """All candidates and how often they occur; blocks wait until they are as large as what they are merged with."""
    parts = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for low in range(0, codes.size, BLOCK):
        block = _keys(codes, low, min(low + BLOCK, codes.size), length, stride)
        parts.append(np.unique(block[block >= 0], return_counts=True))
        if sum(keys.size for keys, _ in parts[1:]) >= parts[0][0].size:
            parts = [_merged(parts)]
    return _merged(parts)


def _merged(parts: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    keys, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(counts[order], first) if first.size else counts[:0]


def _renumber(codes: Ints, keys: Longs, length: int, stride: int) -> None:
    """Replace each position's number at level `length - 1` by its number at level `length`, or -1."""
    for low in range(0, codes.size, BLOCK):
        high = min(low + BLOCK, codes.size)
        block = _keys(codes, low, high, length, stride)
        place = np.minimum(np.searchsorted(keys, block), keys.size - 1)
        codes[low:high] = np.where((block >= 0) & (keys[place] == block), place, -1)
