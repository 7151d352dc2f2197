"""What a spelling is made of: character n-grams with border marks, and what kind of word it is."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alacarte._io.arrays import Codes, Ints, Longs
from alacarte.targets.targets import is_cased

END = "\x03"
LOWER, CAPITALISED, UPPER, MIXED = "\x02", "\x04", "\x05", "\x06"  # how a word begins says how it is cased
WORD_KINDS = ("letters", "capitalised", "compound", "digits", "other script", "other")


def case_mark(word: str) -> str:
    """How a word is cased, as its first mark.

    >>> [case_mark(word) for word in ("word", "Word", "WORD", "wOrd")] == [LOWER, CAPITALISED, UPPER, MIXED]
    True
    """
    if word == word.lower():
        return LOWER
    if word == word.upper() and len(word) > 1:
        return UPPER
    return CAPITALISED if word[1:] == word[1:].lower() else MIXED


def marked_word(word: str, cased: bool) -> str:
    """Return a word with its marks: composed (NFC), in lower case, the case kept in the first mark if it matters.

    >>> marked_word("Ab", cased=True) == CAPITALISED + "ab" + END, marked_word("Ab", cased=False) == LOWER + "ab" + END
    (True, True)
    """
    if not word.isascii():
        word = unicodedata.normalize("NFC", word)
    return (case_mark(word) if cased else LOWER) + word.lower() + END


def ngram_codes_of(words: Sequence[str], shortest: int, longest: int, cased: bool) -> tuple[Codes, Longs]:
    r"""Return (a number for each n-gram, where each word's begin and end).

    >>> codes, bounds = ngram_codes_of(["ab", "b"], 2, 3, cased=False)
    >>> bounds.tolist(), len(set(codes.tolist()))  # \x02a ab b\x03 and so on; "b\x03" is in both
    ([0, 5, 8], 7)
    """
    from alacarte.spelling._kernel import ngram_codes

    marked = [marked_word(word, cased) for word in words]
    text = "".join(marked).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(text, dtype="<u4").astype(np.uint32, copy=False)
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in marked], out=offsets[1:])
    codes = np.empty(points.size * (longest - shortest + 1), dtype=np.uint64)
    bounds = np.zeros(len(words) + 1, dtype=np.int64)
    count = ngram_codes(points, offsets, shortest, longest, codes, bounds)
    return codes[:count], bounds


def find_codes(known: Codes, codes: Codes, bounds: Longs) -> tuple[Ints, Longs]:
    """Return (features, bounds): the places of those codes that are among the known ones, which are sorted."""
    if not len(known):
        return np.empty(0, dtype=np.int32), np.zeros_like(bounds)
    places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    is_known = known[places] == codes
    ends = np.concatenate([[0], np.cumsum(is_known)])
    return places[is_known].astype(np.int32), ends[bounds]


def frequent_codes(codes: Codes, min_words: int) -> Codes:
    """Return codes that occur so often or more, sorted; a word that has an n-gram twice counts twice.

    >>> frequent_codes(np.array([5, 3, 5], np.uint64), 2).tolist()
    [5]
    """
    distinct, counts = np.unique(codes, return_counts=True)
    kept: Codes = distinct[counts >= min_words]
    return kept


def script_of(word: str) -> str:
    """Return the script of a word's first letter as Unicode names it; empty for a word without letters.

    >>> script_of("word"), script_of("слово"), script_of("42")
    ('LATIN', 'CYRILLIC', '')
    """
    for character in word:
        if character.isalpha():
            return "LATIN" if character.isascii() else unicodedata.name(character, "").partition(" ")[0]
    return ""


@dataclass(frozen=True)
class Writing:
    """How a vocabulary is written: its main script, and whether it tells capitals apart."""

    script: str
    cased: bool

    @classmethod
    def of(cls, words: Sequence[str]) -> "Writing":
        """Return the writing of some words.

        >>> Writing.of(["a", "b", "я"])
        Writing(script='LATIN', cased=False)
        """
        some = words[:: max(1, len(words) // 5000)]
        scripts = Counter(script for word in some if (script := script_of(word)))
        return cls(scripts.most_common(1)[0][0] if scripts else "", is_cased(words))

    def kind(self, word: str) -> str:
        """Return what kind of word this is, one of `WORD_KINDS`.

        >>> [Writing("LATIN", True).kind(word) for word in ("word", "Oslo", "x-ray", "b52", "слово", "?!")]
        ['letters', 'capitalised', 'compound', 'digits', 'other script', 'other']
        """
        if word.isascii() and word.isalpha():
            return "capitalised" if self.cased and word[0].isupper() else "letters"
        if any(character.isdigit() for character in word):
            return "digits"
        script = script_of(word)
        if not script:
            return "other"
        if script != self.script:
            return "other script"
        if all(character.isalpha() or unicodedata.combining(character) for character in word):
            return "capitalised" if self.cased and word[0].isupper() else "letters"
        return "compound"
