"""What a corpus says first: a word that moved, and the words that it moved from and toward."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from alacarte.concordance import Concordance
from alacarte.contexts.weights import STOP_WORDS
from alacarte.vectors.word_vectors import WordVectors

WHOLE = 100_000  # words of a usual file of vectors
FREQUENT = 50  # of which the first are grammar in any language
SHORTEST = 4  # letters of a word that says something
LOOKED_AT = 20  # lines of a word in which its first letter is looked at
RARE = 20_000  # tokens of a text in which a word that says something occurs once, at least
FEWEST = 5  # uses of such a word, at least
WIDEST = 1.0  # an interval over half of all likenesses says that nothing is known


def function_words(vectors: WordVectors) -> frozenset[str]:
    """Return words that carry grammar: those of English, and the first words of the vectors."""
    return STOP_WORDS.union(first_words(vectors, FREQUENT))


def first_words(vectors: WordVectors, most: int) -> list[str]:
    """Return the first words of vectors, in most files the most frequent ones; fewer where there are few."""
    return list(vectors.words[: min(most, most * len(vectors) // WHOLE)])


class Telling:
    """Tells words that say something about a text from grammar, names, and words that it hardly uses."""

    def __init__(self, texts: Iterable[Concordance], vectors: WordVectors) -> None:
        self._texts, self._grammar = list(texts), function_words(vectors)
        self._least = max(FEWEST, sum(text.tokens for text in self._texts) // RARE)

    def __call__(self, word: str) -> bool:
        """Whether a word says something."""
        if not word.isalpha() or len(word) < SHORTEST or word in self._grammar:
            return False
        counts = [text.count(word) for text in self._texts]
        return sum(counts) >= self._least and not is_name(self._texts[counts.index(max(counts))], word)


def is_name(text: Concordance, word: str) -> bool:
    """Whether a text writes a word with a capital letter, mostly, also where no sentence begins."""
    lines = text.lines(word, limit=LOOKED_AT, seed=0, around=1)
    inside = [
        match
        for match, before in zip(lines.match, lines.before, strict=True)
        if before[-1:].isalnum() or before[-1:] == ","
    ]
    return 2 * sum(match[:1].isupper() for match in inside) > len(inside)


def moved_between(words: Iterable[Mapping[str, Any]], tells: Callable[[str], bool]) -> list[str | None]:
    """Return the words from which and toward which a word surely moved most, of those that say something.

    `words` have a likeness on either side ("a" and "b"), with its interval; it surely moved where the two lie apart.

    >>> one = {"word": "atomic", "a": {"conf_low": 0.7, "conf_high": 0.8}, "b": {"conf_low": 0.1, "conf_high": 0.3}}
    >>> two = {"word": "solar", "a": {"conf_low": 0.1, "conf_high": 0.4}, "b": {"conf_low": 0.3, "conf_high": 0.6}}
    >>> moved_between([one, two], str.isalpha)
    ['atomic', None]
    """
    known = [item for item in words if all(_is_known(item[side]) for side in "ab")]

    def most(gap: Callable[[Mapping[str, Any]], float]) -> str | None:
        ordered = sorted((item for item in known if gap(item) > 0), key=gap, reverse=True)
        return next((item["word"] for item in ordered if tells(item["word"])), None)

    return [
        most(lambda item: item["a"]["conf_low"] - item["b"]["conf_high"]),
        most(lambda item: item["b"]["conf_low"] - item["a"]["conf_high"]),
    ]


def _is_known(side: Mapping[str, Any] | None) -> bool:
    return side is not None and side["conf_high"] - side["conf_low"] <= WIDEST
