"""What the compiled encoder knows about characters: tables made from what Python and `unicodedata` say of each."""

import threading
import unicodedata
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Ints, Mask
from alacarte.text._kernels import fold as kernel
from alacarte.text.tokenizers import TYPOGRAPHIC, character_classes

# All characters beyond are as the last of these: no letters, and changed by nothing.
_CODES = np.concatenate([np.arange(kernel.PLANES, dtype="<u4"), np.arange(0xE0000, 0xE0400, dtype="<u4")])
_TOGETHER = 256  # characters that are looked at together
_LOCK = threading.Lock()


def character_table(is_whitespace: bool, lower: bool, is_normal: bool) -> Ints:
    """Return the entries (see `_kernels.fold`) for `words`, or for `whitespace`.

    Nothing depends on other characters in text that is in normal form and in the right case already.
    """
    with _LOCK:  # threads begin together, and each would build its own
        return _table(is_whitespace, lower, is_normal)


@cache
def _table(is_whitespace: bool, lower: bool, is_normal: bool) -> Ints:
    characters = _text(_CODES)
    # Dotted I becomes two characters, and sigma depends on its neighbours: the kernel knows of both.
    results = characters.replace("\u0130", "i").replace("\u03a3", "\u03c3").lower() if lower else characters
    if is_whitespace:
        entries = np.where(_are(str.isspace, characters), kernel.SPACE, kernel.WORD)
    else:
        for typographic, simple in TYPOGRAPHIC.items():
            results = results.replace(typographic, simple)
        entries = _kinds_for_words(results)
    folded = _codes(results)
    if not is_normal:
        flags = _flags()
        entries |= flags
        if lower:
            entries |= flags[np.minimum(folded, kernel.PLANES - 1)] & kernel.COMPOSES_1
            for place in np.flatnonzero(folded != _CODES).tolist():
                if not unicodedata.is_normalized("NFC", characters[place] + results[place]):
                    entries[place] |= kernel.HARD
    entries |= (folded.astype(np.int64) - _CODES) << kernel.FLAG_BITS
    return entries.astype(np.int32)


def _text(codes: npt.NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def _codes(text: str) -> npt.NDArray[np.uint32]:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _are(condition: Callable[[str], bool | int], characters: str) -> Mask:
    """Whether a condition holds, for each character."""
    return np.fromiter(map(condition, characters), np.bool_, len(characters))


def _kinds_for_words(results: str) -> npt.NDArray[np.int64]:
    """Return the kind of each character for `words`, given what it becomes."""
    kinds = np.where(_are(str.isalnum, results), kernel.WORD, kernel.PUNCTUATION)
    kinds[_are(str.isspace, results)] = kernel.SPACE
    kinds[ord("_")] = kernel.WORD
    special = character_classes()
    for name, kind in (("mark", kernel.WORD), ("space", kernel.SPACE), ("ignored", kernel.IGNORED)):
        kinds[np.isin(_CODES, _codes(special[name]))] = kind
    return kinds


@cache
def _flags() -> npt.NDArray[np.int64]:
    """Return the flags that say what normal form C may make of each character."""
    characters = _text(_CODES)
    flags = np.where(_are(unicodedata.combining, characters), kernel.COMBINING, 0)
    flags[0xD800:0xE000] |= kernel.HARD  # lone surrogates: Python says whether they may be there
    flags[0x1100:0x1113] |= kernel.COMPOSES_1  # Hangul
    flags[0xAC00:0xD7A4:28] |= kernel.COMPOSES_1
    flags[0x1161:0x1176] |= kernel.COMPOSES_2
    flags[0x11A8:0x11C3] |= kernel.COMPOSES_2
    for low in range(0, len(characters), _TOGETHER):
        block = characters[low : low + _TOGETHER]
        if unicodedata.is_normalized("NFD", block):  # as most are
            continue
        for character in block:
            parts = unicodedata.decomposition(character).split()
            if not parts or parts[0].startswith("<"):
                continue
            if unicodedata.normalize("NFC", character) == character:
                first, second = parts
                for code in (int(first, 16), ord(character)):  # è and a cedilla become ȩ and a grave accent
                    flags[code] |= kernel.COMPOSES_1
                flags[int(second, 16)] |= kernel.COMPOSES_2
            else:
                flags[ord(character)] |= kernel.HARD
    return flags
