"""What the compiled encoder knows about characters: tables made from what Python and `unicodedata` say of each."""

import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte.text import _encoding_kernel as kernel
from alacarte.text.tokenizers import TYPOGRAPHIC, character_classes

BLOCK = 256  # characters that are looked at together


_LOCK = threading.Lock()


def character_tables(whitespace: bool, lower: bool) -> kernel.Characters:
    """What a tokenizer does to each character; by `whitespace` alone, or by the rules of `words`."""
    with _LOCK:  # threads begin together, and each would make its own
        return _made_tables(whitespace, lower)


@cache
def _made_tables(whitespace: bool, lower: bool) -> kernel.Characters:
    characters = _characters()
    # One becomes two characters, one depends on its neighbours; all others can be lowered together.
    plain = characters.replace("\u0130", "i").replace("\u03a3", "\u03c3")
    results = plain.lower() if lower else characters
    order, changes, *normal_form = _normal_form()
    hard = changes.copy()
    if whitespace:
        classes = np.where(_are(str.isspace, characters), kernel.SPACE, kernel.WORD).astype(np.uint8)
    else:
        for typographic, simple in TYPOGRAPHIC.items():
            results = results.replace(typographic, simple)
        classes = _classes_for_words(results)
    folded = _codes(results).astype(np.int32)
    if lower:
        hard[[ord("\u0130"), ord("\u03a3")]] = True
        for code in np.flatnonzero(folded != np.arange(kernel.TABLE)).tolist():
            hard[code] |= not unicodedata.is_normalized("NFC", characters[code] + results[code])
        classes |= _case_flags(characters)
    classes[hard] |= kernel.HARD
    classes[order != 0] |= kernel.COMBINING
    return kernel.Characters(classes, folded, order, *normal_form)


@cache
def _characters() -> str:
    """All characters that the tables know, in their order."""
    return np.arange(kernel.TABLE, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _codes(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _are(condition: Callable[[str], bool], characters: str) -> npt.NDArray[np.bool_]:
    """Of each character whether a condition holds."""
    return np.fromiter(map(condition, characters), np.bool_, len(characters))


def _classes_for_words(results: str) -> npt.NDArray[np.uint8]:
    """The class of each character for `words`, given what it is folded to."""
    classes = np.full(len(results), kernel.PUNCTUATION, dtype=np.uint8)
    classes[_are(str.isspace, results)] = kernel.SPACE
    classes[_are(str.isalnum, results)] = kernel.WORD
    classes[ord("_")] = kernel.WORD
    special = character_classes()
    for name, kind in (("mark", kernel.WORD), ("space", kernel.SPACE), ("ignored", kernel.IGNORED)):
        codes = _codes(special[name])
        classes[codes[codes < kernel.TABLE]] = kind
    return classes


def _case_flags(characters: str) -> npt.NDArray[np.uint8]:
    """What a character is for the rule of the final sigma, found out by what Python makes of it."""
    codes = _codes(characters.replace("\u0130", "I"))
    cased, skipped = (_ends_a_word(before, codes) for before in (" ", " a"))
    return np.where(cased, kernel.CASED, np.where(skipped, kernel.CASE_IGNORABLE, 0)).astype(np.uint8)


def _ends_a_word(before: str, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Of each character whether a capital sigma behind it, and behind some text before both, is a final one."""
    rows = np.empty((len(codes), len(before) + 2), "<u4")
    rows[:, : len(before)] = _codes(before)
    rows[:, -2], rows[:, -1] = codes, ord("\u03a3")
    lowered = rows.tobytes().decode("utf-32-le", "surrogatepass").lower()
    return np.asarray(_codes(lowered)[len(before) + 1 :: len(before) + 2] == ord("\u03c2"))


def _canonically_decomposed(characters: str) -> Iterator[int]:
    """The characters, by their places, that Unicode defines as one or several others; Hangul syllables are not."""
    for low in range(0, len(characters), BLOCK):
        block = characters[low : low + BLOCK]
        if unicodedata.is_normalized("NFD", block):
            continue
        for place, decomposition in enumerate(map(unicodedata.decomposition, block), start=low):
            if decomposition and not decomposition.startswith("<"):
                yield place


@cache
def _normal_form() -> tuple[Any, ...]:
    """Of each character its combining class and whether NFC may change it or join it to the one before.

    Then what the kernel needs for NFC, as in `kernel.Characters`: decompositions, their parts, pairs and what they
    compose to. Hangul goes by a rule.
    """
    characters = _characters()
    order = np.fromiter(map(unicodedata.combining, characters), np.uint8, kernel.TABLE)
    changes = np.zeros(kernel.TABLE, dtype=bool)
    changes[0x1161:0x1176] = changes[0x11A8:0x11C3] = True
    decompositions = np.zeros(kernel.TABLE, dtype=np.int32)
    parts = [0]
    pairs: dict[int, int] = {}
    for code in _canonically_decomposed(characters):
        character, decomposition = characters[code], unicodedata.decomposition(characters[code])
        decomposed = [*map(ord, unicodedata.normalize("NFD", character)), 0]
        if max(decomposed) < kernel.TABLE:
            decompositions[code] = len(parts)
            parts += decomposed
        else:
            decompositions[code] = -1
        if unicodedata.normalize("NFC", character) != character:
            changes[code] = True
        else:
            first, second = (int(part, 16) for part in decomposition.split())
            pairs[first << 32 | second] = code
            changes[second] = True
    slots, composed = np.zeros(kernel.PAIR_SLOTS, np.uint64), np.zeros(kernel.PAIR_SLOTS, np.int32)
    begins = kernel.pair_slot.py_func(np.array(list(pairs), np.uint64))
    for (pair, code), slot in zip(pairs.items(), begins.tolist(), strict=True):
        while slots[slot]:
            slot = (slot + 1) % kernel.PAIR_SLOTS
        slots[slot], composed[slot] = pair, code
    return order, changes, decompositions, np.array(parts, dtype=np.int32), slots, composed
