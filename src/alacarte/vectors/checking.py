"""Checks of words, matrices and numbers before vectors are built of them, and the errors where they fail."""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from alacarte._io.arrays import Longs, Singles
from alacarte.errors import BadVectors, Hint, UnknownKey
from alacarte.vectors.formats.rows import unfinished_rows


def single_precision(matrix: ArrayLike) -> Singles:
    """Return a matrix as float32 in C order; an array that its owner could change is copied."""
    try:
        given = np.asarray(matrix)
    except ValueError:
        raise BadVectors("the vectors have different numbers of values; give every word as many") from None
    if given.dtype.kind not in "fiub":
        raise BadVectors(f"the matrix holds {given.dtype} values; pass numbers")
    if given.ndim != 2 or 0 in given.shape:
        raise BadVectors(f"the matrix has shape {given.shape}; pass one row per word, with at least one value")
    with np.errstate(over="ignore"):
        array = np.require(given, np.float32, ["C", "A"])
    owned_by_others = array is given and array.flags.writeable and not isinstance(matrix, np.memmap)
    return array.copy() if owned_by_others else np.asarray(array)


def check_words(words: Sequence[str]) -> None:
    """Raise unless all words are strings, each of them once."""
    for word in words:
        if not isinstance(word, str):
            raise BadVectors(f"{word!r} is no string; pass words as strings")
    if len(set(words)) != len(words):
        seen: set[str] = set()
        again = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise BadVectors(f"{again!r} is listed twice; give each word once")


def check_matrix(words: Sequence[str], matrix: Singles) -> None:
    """Raise unless there is one row per word, and all values are finite."""
    if len(words) != len(matrix):
        raise BadVectors(f"{len(words)} words and {len(matrix)} rows; give one row per word")
    bad = unfinished_rows(matrix)
    if len(bad):
        raise BadVectors(
            f"the vector of {words[bad[0]]!r} (row {bad[0]}) holds NaN, infinity or a value too large "
            f"for float32, as do {len(bad) - 1} more; leave such words out"
        )


def whole_numbers(counts: ArrayLike, wanted: int) -> Longs:
    """Return counts as a read-only array, one for each of `wanted` words."""
    array = np.array(counts)
    if array.shape != (wanted,) or (wanted and array.dtype.kind not in "iu"):
        raise BadVectors(f"the counts are {array.dtype} values of shape {array.shape}; give each word a whole number")
    array = array.astype(np.int64)
    array.flags.writeable = False
    return array


def without_spaces(words: Sequence[str], space: str) -> list[str]:
    """Return the words with another character for their spaces; an error if two words would become one."""
    written = [word.replace(" ", space) for word in words]
    before: dict[str, str] = {}
    for word, new in zip(words, written, strict=True):
        if new in before:
            raise BadVectors(
                f"with {space!r} for a space, {before[new]!r} and {word!r} would both be written as {new!r}, which "
                "nothing could read; choose another character, or leave one of the words out"
            )
        before[new] = word
    return written


def unknown_key(word: Any, known: Container[str], source: str | None = None) -> UnknownKey:
    """Return the error for what is not among the known words, which were read from `source`."""
    if not isinstance(word, str):
        return UnknownKey(
            f"{word!r} is no word, and vectors go by words",
            hint=Hint("`matrix[row]` is the vector of a row, and `word(row)` its word"),
        )
    variants = [word.lower(), word.capitalize(), word.title(), word.upper(), word.strip().lower()]
    variants += [other for one in (word, word.lower()) for other in (one.replace("_", " "), one.replace(" ", "_"))]
    close = next((other for other in variants if other in known), None)
    hint = Hint(
        "`get` returns a default instead, and `ALaCarte.induce` makes one from text", "`alc embed` makes one from text"
    )
    if close is None and ("*" in word or "?" in word):
        hint = Hint(
            f"a pattern is looked for in text: ALaCarte.induce(corpus, Targets.glob([{word!r}]))",
            f"a pattern is looked for in text: alc induce --glob {word!r}",
        )
    suggestion = "" if close is None else f" (did you mean {close!r}?)"
    where = "" if source is None else f" in {Path(source).name}"
    return UnknownKey(f"no vector for {word!r}{where}{suggestion}", hint=hint)


def list_of(given: Any) -> list[Any]:
    """Return words and vectors, from one of either or a list of them."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, np.ndarray):
        return [given] if given.ndim == 1 and given.dtype.kind in "fiu" else list(given)
    items = list(given)
    return [items] if items and all(isinstance(item, int | float) for item in items) else items
