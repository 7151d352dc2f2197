"""What the compiled encoder knows about characters: tables made from what Python and `unicodedata` say of each."""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte.text import _encoding_kernel as kernel
from alacarte.text.tokenizers import TYPOGRAPHIC, character_classes


@cache
def character_tables(whitespace: bool, lower: bool) -> kernel.Characters:
    """What a tokenizer does to each character; by `whitespace` alone, or by the rules of `words`."""
    characters = list(map(chr, range(kernel.TABLE)))
    results = [character.lower() for character in characters] if lower else characters[:]
    order, changes, *normal_form = _normal_form()
    hard = changes.copy()
    if whitespace:
        classes = np.array([kernel.SPACE if c.isspace() else kernel.WORD for c in characters], dtype=np.uint8)
    else:
        for typographic, plain in TYPOGRAPHIC.items():
            results[ord(typographic)] = plain
        classes = _classes_for_words(results)
    folded = np.array([ord(result[0]) for result in results], dtype=np.int32)
    if lower:
        hard[[ord("\u0130"), ord("\u03a3")]] = True  # one becomes two characters, one depends on its neighbours
        for code in np.flatnonzero(folded != np.arange(kernel.TABLE)).tolist():
            hard[code] |= not unicodedata.is_normalized("NFC", characters[code] + results[code])
        classes |= _case_flags(characters)
    classes[hard] |= kernel.HARD
    classes[order != 0] |= kernel.COMBINING
    return kernel.Characters(classes, folded, order, *normal_form)


def _classes_for_words(results: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The class of each character for `words`, given what it is folded to."""
    classes = np.full(len(results), kernel.PUNCTUATION, dtype=np.uint8)
    for code, result in enumerate(results):
        if result[0].isalnum():
            classes[code] = kernel.WORD
        elif result.isspace():
            classes[code] = kernel.SPACE
    classes[ord("_")] = kernel.WORD
    special = character_classes()
    for name, kind in (("mark", kernel.WORD), ("space", kernel.SPACE), ("ignored", kernel.IGNORED)):
        codes = np.array([code for code in map(ord, special[name]) if code < kernel.TABLE])
        classes[codes] = kind
    return classes


def _case_flags(characters: Sequence[str]) -> npt.NDArray[np.uint8]:
    """What a character is for the rule of the final sigma, found out by what Python makes of it."""
    cased, skipped = (
        np.frombuffer(
            "".join(f" {before}{c}\u03a3" for c in characters)
            .replace("\u0130", "I")
            .lower()
            .encode("utf-32-le", "surrogatepass"),
            np.uint32,
        )[2 + len(before) :: 3 + len(before)]
        == ord("\u03c2")
        for before in ("", "a")
    )
    return np.where(cased, kernel.CASED, np.where(skipped, kernel.CASE_IGNORABLE, 0)).astype(np.uint8)


@cache
def _normal_form() -> tuple[Any, ...]:
    """Of each character its combining class and whether NFC may change it or join it to the one before.

    Then what the kernel needs for NFC, as in `kernel.Characters`: decompositions, their parts, pairs and what they
    compose to. Hangul goes by a rule.
    """
    order = np.array([unicodedata.combining(chr(code)) for code in range(kernel.TABLE)], dtype=np.uint8)
    changes = np.zeros(kernel.TABLE, dtype=bool)
    changes[0x1161:0x1176] = changes[0x11A8:0x11C3] = True
    decompositions = np.zeros(kernel.TABLE, dtype=np.int32)
    parts = [0]
    pairs: dict[int, int] = {}
    for code in range(kernel.TABLE):
        character = chr(code)
        if unicodedata.decomposition(character)[:1] in ("", "<"):
            continue
        decomposed = [*map(ord, unicodedata.normalize("NFD", character)), 0]
        if max(decomposed) < kernel.TABLE:
            decompositions[code] = len(parts)
            parts += decomposed
        else:
            decompositions[code] = -1
        if unicodedata.normalize("NFC", character) != character:
            changes[code] = True
        else:
            first, second = (int(part, 16) for part in unicodedata.decomposition(character).split())
            pairs[first << 32 | second] = code
            changes[second] = True
    slots, composed = np.zeros(kernel.PAIR_SLOTS, np.uint64), np.zeros(kernel.PAIR_SLOTS, np.int32)
    begins = kernel.pair_slot.py_func(np.array(list(pairs), np.uint64))
    for (pair, code), slot in zip(pairs.items(), begins.tolist(), strict=True):
        while slots[slot]:
            slot = (slot + 1) % kernel.PAIR_SLOTS
        slots[slot], composed[slot] = pair, code
    return order, changes, decompositions, np.array(parts, dtype=np.int32), slots, composed
