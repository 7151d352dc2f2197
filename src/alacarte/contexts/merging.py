"""Sums of contexts of several texts added up, or taken away from each other, in memory or from file to file."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Literal

import numpy as np

from alacarte._io.arrays import Ints, Longs, Rows
from alacarte._io.tensors import Computed
from alacarte.contexts.scale import most_windows
from alacarte.contexts.shared_words import SharedWords
from alacarte.contexts.sums import SUM_FIELDS, ContextSums, Sums
from alacarte.errors import BadSums, Hint
from alacarte.targets.targets import Targets
from alacarte.text.units import Unit


def merge(parts: Iterable[ContextSums], *, shared_only: bool = False) -> ContextSums:
    """Return the sum of any number of `ContextSums`, exact and the same in any order.

    Parameters
    ----------
    parts
        Sums collected with the same vectors, settings and targets.
    shared_only
        Whether sums with different targets are added, for the targets that were looked for in all of them. Otherwise
        they are refused: other targets would lack the occurrences in text where nobody looked for them.

    Returns
    -------
    ContextSums
        What `collect` gives for all the texts together.

    Raises
    ------
    BadSums
        For sums that do not belong together.

    Examples
    --------
    >>> from alacarte import WordVectors, collect
    >>> vectors = WordVectors(["a", "b"], [[1.0], [2.0]])
    >>> merge([collect(vectors, ["a b"]), collect(vectors, ["b b"])]).occurrences.tolist()
    [1, 3]
    """
    openers = [partial(_itself, part) for part in parts]
    return _combined(openers, shared_only=shared_only)._in_memory()


def merge_files(
    files: Iterable[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    subtract: Iterable[str | PathLike[str]] = (),
    shared_only: bool = False,
) -> ContextSums:
    """Add saved sums, subtract others, and save the result; only some rows of each file are in memory at a time.

    Parameters
    ----------
    files
        The sums to add.
    out
        The file to write.
    subtract
        Sums to take away from the total: each must be part of it.
    shared_only
        As in `merge`.

    Returns
    -------
    ContextSums
        The sums in `out`.
    """
    added, less = ([partial(ContextSums.load, file) for file in group] for group in (files, subtract))
    _combined(added, less, shared_only=shared_only).save(out)
    return ContextSums.load(out)


def subtract(total: ContextSums, part: ContextSums) -> ContextSums:
    """Return sums without those of a text that is part of them."""
    return _combined([partial(_itself, total)], [partial(_itself, part)])._in_memory()


Opener = Callable[[], ContextSums]


def _itself(sums: ContextSums) -> ContextSums:
    return sums


def _combined(added: Sequence[Opener], subtracted: Sequence[Opener] = (), *, shared_only: bool = False) -> ContextSums:
    """Return the total of some sums less others, whose rows are computed when they are asked for.

    Sums are opened one after the other, and of each only its arrays are kept, which may lie in a file.
    """
    if not added:
        raise BadSums("there is nothing to merge; name at least one file of sums")
    first = added[0]()
    targets = _shared_targets(first, added[1:]) if shared_only else first.targets
    start = first.keys if targets is None or not shared_only else list(targets)
    places = {key: place for place, key in enumerate(start)}
    units: set[Unit] = set()
    read = np.zeros(3, dtype=np.int64)
    shared: SharedWords | None = None
    parts: list[_Part] = []
    for number, opener in enumerate([*added, *subtracted]):
        part, sign = opener(), 1 if number < len(added) else -1
        first.check_compatible(part)
        if targets is not None and part.targets is not None:
            _check_targets(targets, part.targets)
            if sign > 0 and not shared_only:
                _check_targets(part.targets, targets)
        if sign > 0:
            _check_not_twice(units & part.units)
            units |= part.units
            for key in _keys_that_occur(part, targets):
                places.setdefault(key, len(places))
        else:
            _check_contained(part, targets, places, units)
            units -= part.units
        if shared is None:
            shared = part.shared
        elif part.shared is not None:
            shared = shared.plus(part.shared, sign)
        same = len(part.keys) == len(start) and part.keys == start
        at = None if same else np.array([places.get(key, -1) for key in part.keys], dtype=np.int32)
        parts.append(_Part(part.all, part.groups, at, sign))
        read += sign * np.array([part.documents, part.tokens_read, part.tokens_known])
    keys = list(places)
    total = _added(parts, len(keys), "all")
    total = Sums(total.sums, *(getattr(total, name).whole() for name in SUM_FIELDS[1:]))
    groups = None if first.groups is None else _added(parts, len(keys), "groups")
    _check_counts(total, groups, first, read, bool(subtracted))
    if targets is not None and targets.any_label:
        targets = targets | Targets.spans(key for key in keys if key not in targets)
        order = np.array(targets.in_order(keys), dtype=np.intp)
        keys, total = [keys[place] for place in order.tolist()], total.take(order)
        groups, targets = None if groups is None else groups.take(order), targets.only(keys)
    documents, tokens_read, tokens_known = read.tolist()
    result = replace(
        first,
        keys=keys,
        all=total,
        groups=groups,
        targets=targets,
        documents=documents,
        tokens_read=tokens_read,
        tokens_known=tokens_known,
        units=frozenset(units),
        shared=shared,
    )
    return result._without_labels_that_are_gone() if subtracted else result


@dataclass(frozen=True, eq=False)
class _Part:
    """The arrays of sums that are added."""

    all: Sums
    groups: Sums | None
    places: Ints | None  # of its rows in the total, -1 for none; None: the first ones, in their order
    sign: int


def _added(parts: Sequence[_Part], size: int, which: Literal["all", "groups"]) -> Sums:
    """Return the arrays of the total, which are computed some rows at a time."""
    rows_of = [None if part.places is None else _inverse(part.places, size) for part in parts]

    def block(name: str, numbers: Rows) -> Longs:
        arrays = [getattr(getattr(part, which), name) for part in parts]
        result = np.zeros((len(numbers), *arrays[0].shape[1:]), dtype=np.int64)
        for array, rows, part in zip(arrays, rows_of, parts, strict=True):
            at = numbers if rows is None else rows[numbers]
            known = np.flatnonzero((at >= 0) & (at < len(array)))
            result[known] += part.sign * array[at[known]]
        return result

    shapes = {name: (size, *getattr(getattr(parts[0], which), name).shape[1:]) for name in SUM_FIELDS}
    return Sums(*(Computed(shapes[name], np.int64, partial(block, name)) for name in SUM_FIELDS))  # type: ignore[arg-type]


def _inverse(places: Ints, size: int) -> Ints:
    rows = np.full(size, -1, dtype=np.int32)
    kept = np.flatnonzero(places >= 0)
    rows[places[kept]] = kept
    return rows


def _shared_targets(first: ContextSums, others: Sequence[Opener]) -> Targets | None:
    """Return the targets that were looked for in all of some sums."""
    targets = first.targets
    for opener in others:
        more = opener().targets
        if targets is not None and more is not None:  # otherwise they are refused when they are added
            targets = targets & more
    if targets is not None and not len(targets) and not targets.any_label:
        raise BadSums("no target was looked for in all of these sums; collect them again for one list of targets")
    return targets


def _keys_that_occur(part: ContextSums, targets: Targets | None) -> list[str]:
    """Return the keys that are listed because they occur: words of a whole vocabulary, and labels."""
    if targets is None or part.targets is None:
        return part.keys
    return [key for key in part.keys if part.targets.is_label(key)] if targets.any_label else []


def _check_targets(wanted: Targets, given: Targets) -> None:
    lacking = wanted.lacking(given)
    if lacking is not None:
        raise BadSums(
            f"{lacking} was looked for in some of these sums and not in others, so occurrences would be missing; "
            "collect all texts for one list of targets, which `discover` gives for all of them together, or keep the "
            "texts in a concordance, which answers for any target",
            hint=Hint(
                "or keep the targets that were looked for everywhere: merge(…, shared_only=True)",
                "or keep the targets that were looked for everywhere: --shared-only",
            ),
        )


def _check_not_twice(twice: set[Unit]) -> None:
    if twice:
        raise BadSums(
            f"{next(iter(twice)).name} is in more than one of these sums and would be counted twice; leave one out"
        )


def _check_contained(part: ContextSums, targets: Targets | None, places: dict[str, int], units: set[Unit]) -> None:
    """Raise unless sums may be subtracted from a total of these targets and units."""
    lacking = part.units - units
    if lacking:
        raise BadSums(f"{next(iter(lacking)).name} is not part of these sums, so it cannot be taken away")
    found = set(_keys_that_occur(part, targets)) - places.keys()
    for key, count in zip(part.keys, part.occurrences.tolist(), strict=True):
        if count and key in found:
            raise BadSums(f"{key!r} does not occur in these sums, so it cannot be taken away")


def _check_counts(total: Sums, groups: Sums | None, first: ContextSums, read: Longs, subtracted: bool) -> None:
    counts = [total] if groups is None else [total, groups]
    if subtracted and ((read < 0).any() or any(part.any_count_below_zero() for part in counts)):
        raise BadSums("more was taken away than there is; these sums do not hold that text")
    most = int(total.occurrences.max(initial=0))
    possible = most_windows(first.settings, first.scale)
    if most > possible:
        raise BadSums(f"{most:,} occurrences of one target are more than sums can hold ({possible:,})")
