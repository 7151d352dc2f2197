"""From text to tokens: named tokenizers that a saved model can record, and adapters for any other.

A tokenizer is a function of a text and of the words that are *known* (those with a vector), because some
decisions depend on them: `state-of-the-art` stays whole for vectors that hold it and is split for those that do
not. Tokens that nobody knows are kept as they are: they hold their place in a window.

| name | what it does |
|---|---|
| `words` | the default: lower-case; words, numbers and punctuation as GloVe 6B has them |
| `words-cased` | the same with upper and lower case as written |
| `whitespace`, `whitespace-lower` | split at white space and nothing else |
| `authors`, `authors-lower` | the tokenizer of the paper's released code |
| `spacy:de`, `spacy-cased:de`, `spacy-norm:ja` | spaCy's rules for a language: lower-case, as written, normal forms |
| `jieba` | Chinese, segmented by jieba; lower-case |
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from alacarte.errors import AlacarteError, require

Known = Container[str]
NO_WORDS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tokenizer:
    """A named function from a text, and the words that are known, to tokens.

    Examples
    --------
    >>> get_tokenizer("words")("Don't split well-known words.", {"n't", "well-known"})
    ['do', "n't", 'split', 'well-known', 'words', '.']
    """

    name: str
    function: Callable[[str, Known], list[str]]

    def __call__(self, text: str, known: Known = NO_WORDS) -> list[str]:
        """Return the tokens of a text."""
        return self.function(text, known)

    @property
    def named(self) -> bool:
        """Whether the name alone is enough to get this tokenizer back."""
        return _function_of_name(self.name) is self.function


# ------------------------------------------------------------------------------------------------- words
#
# A compound is a run of word characters (letters, digits, combining marks, `_`), possibly several joined by one
# of ' - . / & each, or by , or : between digits, possibly with an apostrophe before and a period behind. What a
# compound becomes is decided by `_split_compound`. Anything else that is not white space is punctuation; a run of
# one punctuation character is one token ("...", "--"), but a bracket or a double quote is a token by itself.

TYPOGRAPHIC = {"\u2019": "'", "\u2010": "-", "\u2011": "-"}
_PLAIN = str.maketrans(TYPOGRAPHIC)
_CONTRACTIONS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")


@cache
def character_classes() -> dict[str, str]:
    """Return characters that decide tokenisation and that `re` has no name for: marks, spaces, ignored ones.

    Planes above 3 hold no marks and no controls but for the tags and variation selectors of plane 14.
    """
    classes: dict[str, list[str]] = {"mark": ["\u200c", "\u200d"], "space": ["\u200b"], "ignored": []}
    characters = re.findall(r"\W", "".join(map(chr, (*range(0x1FFFF), *range(0xE0000, 0xE01F0)))))
    pairs = zip(characters, map(unicodedata.category, characters), strict=True)
    for character, category in [pair for pair in pairs if pair[1] not in ("Cn", "Co", "So", "Po")]:  # most of them
        if category[0] == "M":
            classes["mark"].append(character)
        elif (category in ("Cc", "Cs") or category[0] == "Z") and not character.isspace():
            classes["space"].append(character)
        elif category == "Cf" and character not in "\u200b\u200c\u200d":
            classes["ignored"].append(character)
    return {name: "".join(members) for name, members in classes.items()}


def _ranges(characters: str) -> str:
    """Return a regular expression class for many characters, as ranges."""
    codes = sorted(map(ord, characters))
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in spans)


def _compile_tokens(word: str, punctuation: str, flags: int = 0) -> re.Pattern[str]:
    joined = rf"(?:(?:['/&.]|\.?-){word}+|(?<=[0-9])[,:](?=[0-9]){word}+)*"
    return re.compile(rf"'?{word}+{joined}(?:\.(?!\.))?|([()\[\]{{}}\"])|({punctuation})\2*", flags)


@cache
def _ascii_tokens() -> re.Pattern[str]:
    """Return the pattern of tokens in pure ASCII text; it is compiled in a moment, unlike that of any text."""
    return _compile_tokens(r"[a-zA-Z0-9_]", r"[!-/:-@\[-^`{-~]", re.ASCII)


@cache
def _tokens() -> re.Pattern[str]:
    """Return the pattern of tokens in any text."""
    marks, spaces = _ranges(character_classes()["mark"]), _ranges(character_classes()["space"])
    return _compile_tokens(rf"[\w{marks}]", rf"[^\w\s{marks}{spaces}]")


@cache
def _ignored() -> re.Pattern[str]:
    """Return the pattern of characters that are left out."""
    return re.compile(f"[{_ranges(character_classes()['ignored'])}]")


def fold(text: str, lower: bool = True) -> str:
    r"""Return what `words` sees of a text: NFC, lower case, plain apostrophes and hyphens, no invisible characters.

    Examples
    --------
    >>> fold("Cafe\u0301 it\u2019s")
    "café it's"
    """
    if text.isascii():
        return text.lower() if lower else text
    text = unicodedata.normalize("NFC", text)
    text = _ignored().sub("", text)
    return (text.lower() if lower else text).translate(_PLAIN)


def _words(text: str, known: Known) -> list[str]:
    return _tokens_of_folded(fold(text), known)


def _words_cased(text: str, known: Known) -> list[str]:
    return _tokens_of_folded(fold(text, lower=False), known)


def _tokens_of_folded(text: str, known: Known) -> list[str]:
    tokens: list[str] = []
    if not text.isascii():
        _find_tokens(_tokens(), text, known, tokens)
        return tokens
    for piece in text.split():  # no token reaches over white space, and most pieces are plain words
        if piece.isalnum():
            tokens.append(piece)
        else:
            _find_tokens(_ascii_tokens(), piece, known, tokens)
    return tokens


def _find_tokens(pattern: re.Pattern[str], text: str, known: Known, tokens: list[str]) -> None:
    for match in pattern.finditer(text):
        token = match.group()
        if match.lastindex or token.isalnum():
            tokens.append(token)
        else:
            _split_compound(token, known, tokens)


def _split_compound(token: str, known: Known, tokens: list[str]) -> None:
    """Decide about what is more than one run of letters and digits; append the pieces to `tokens`.

    In this order: an abbreviation with its last period (u.s.) if known; a word with its first apostrophe ('em) if
    known; a contraction (do n't, dog 's) if its suffix is known; the whole if known; the parts between hyphens,
    each whole if known; the parts between any joiners, but numbers (1,000 or 3.5) whole.
    """
    period = token.endswith(".")
    if period:
        if token in known and "." in token[:-1]:
            tokens.append(token)
            return
        token = token[:-1]
    if token.startswith("'"):
        if token in known:
            tokens.append(token)
            token = ""
        else:
            tokens.append("'")
            token = token[1:]
    suffix = ""
    if "'" in token:
        ending = token.lower()
        for contraction in _CONTRACTIONS:
            if ending.endswith(contraction) and len(token) > len(contraction):
                suffix = token[len(token) - len(contraction) :]
                if suffix not in known:
                    suffix = ""
                break
        token = token[: len(token) - len(suffix)]
    if token:
        _split_hyphens(token, known, tokens)
    if suffix:
        tokens.append(suffix)
    if period:
        tokens.append(".")


def _split_hyphens(token: str, known: Known, tokens: list[str]) -> None:
    if token in known:
        tokens.append(token)
        return
    for position, part in enumerate(token.split("-")):
        if position:
            tokens.append("-")
        if part in known:
            tokens.append(part)
        else:
            tokens.extend(match.group() for match in _PIECES.finditer(part))


_PIECES = re.compile(r"(?:(?<=[0-9])[.,:](?=[0-9])|[^._/&',:])+|([._/&',:])\1*")


# -------------------------------------------------------------------------------------------- white space


def _whitespace(text: str, known: Known) -> list[str]:
    return text.split() if text.isascii() else unicodedata.normalize("NFC", text).split()


def _whitespace_lower(text: str, known: Known) -> list[str]:
    return _whitespace(text.lower(), known)


# ------------------------------------------------------------------------------------------------ authors


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "MPS"


def _authors(text: str, known: Known) -> list[str]:
    """Split as the released code does; what it calls a blank is here a token that is not known.

    Where its code would count a character twice (a known word that reaches one character past the border), the
    remainder starts behind that word.
    """
    tokens: list[str] = []
    for piece in text.split():
        rest = piece
        while rest:
            if rest in known:
                tokens.append(rest)
                break
            cut = _authors_cut(rest, known)
            if cut is None:
                tokens.append(rest)
                break
            left, rest = cut
            tokens.append(left)
    return tokens


def _authors_cut(piece: str, known: Known) -> tuple[str, str] | None:
    """Cut at the first border of punctuation and the rest, or one character on where that gives known words."""
    first = _is_punctuation(piece[0])
    border = next((i for i in range(1, len(piece)) if _is_punctuation(piece[i]) != first), None)
    if border is None or len(piece) > 1000:
        return None
    left, right = piece[:border], piece[border:]
    longer, shorter = piece[: border + 1], piece[border + 1 :]
    if left in known:
        if right not in known and longer in known and shorter in known:
            return longer, shorter
        return left, right
    if longer in known:
        return longer, shorter
    if right not in known and shorter in known:
        return longer, shorter
    return left, right


def _authors_lower(text: str, known: Known) -> list[str]:
    return _authors(text.lower(), known)


# --------------------------------------------------------------------------------------- names and adapters

Split = Callable[[str, Known], list[str]]
_NAMED: dict[str, Split] = {
    "words": _words,
    "words-cased": _words_cased,
    "whitespace": _whitespace,
    "whitespace-lower": _whitespace_lower,
    "authors": _authors,
    "authors-lower": _authors_lower,
}


_SPACY_FORMS = {"spacy": "lower_", "spacy-cased": "text", "spacy-norm": "norm_"}  # the attribute of a token
_SPACY_NAME = re.compile(r"(spacy|spacy-cased|spacy-norm):([a-z]{2,3})")


@cache
def _function_of_name(name: str) -> Split | None:
    """Return the function behind a name, always the same one; None if there is none of that name."""
    if name in _NAMED:
        return _NAMED[name]
    if name == "jieba":
        return _jieba()
    spacy_name = _SPACY_NAME.fullmatch(name)
    return None if spacy_name is None else _spacy_split(_blank_pipeline(spacy_name[2]), _SPACY_FORMS[spacy_name[1]])


def _blank_pipeline(language: str) -> Any:
    """Return the tokenizer of spaCy for a language, without a trained model."""
    spacy = require("spacy", "spacy", "tokenizers of spaCy")
    try:
        return spacy.blank(language)
    except ImportError as missing:
        raise AlacarteError(f"spaCy has no tokenizer for the language {language!r} here: {missing}") from missing


def _spacy_split(nlp: Any, attribute: str) -> Split:
    def split(text: str, known: Known) -> list[str]:
        return [getattr(token, attribute) for token in nlp.make_doc(text) if not token.is_space]

    return split


def _jieba() -> Split:
    jieba = require("jieba", "chinese", "the tokenizer jieba")
    jieba.setLogLevel("WARNING")  # else it tells stderr that it reads its dictionary

    def split(text: str, known: Known) -> list[str]:
        return [token.lower() for token in jieba.cut(unicodedata.normalize("NFC", text)) if not token.isspace()]

    return split


def tokenizer_names() -> list[str]:
    """Return the names of our own tokenizers; `get_tokenizer` knows `jieba` and those of spaCy, too.

    Examples
    --------
    >>> tokenizer_names()
    ['words', 'words-cased', 'whitespace', 'whitespace-lower', 'authors', 'authors-lower']
    """
    return list(_NAMED)


TokenizerLike = str | Tokenizer | Callable[[str], Iterable[str]]


def get_tokenizer(what: TokenizerLike) -> Tokenizer:
    """Return a tokenizer by its name, or made of anything that splits text.

    Parameters
    ----------
    what : str, callable, spaCy pipeline, Hugging Face tokenizer or Tokenizer
        A name: one of `tokenizer_names()`, "jieba", or "spacy:de" for the language de ("spacy-cased:de" keeps upper
        case, "spacy-norm:de" gives normal forms). A function is called with a text and gives its tokens.

    Returns
    -------
    Tokenizer
        Models that are saved record its name; an object of yours has to be passed again when they are loaded.

    Raises
    ------
    AlacarteError
        If no tokenizer has that name.

    Examples
    --------
    >>> get_tokenizer("whitespace")("New York!")
    ['New', 'York!']
    >>> get_tokenizer("spacy-cased:de")("Das ist z.B. die Straßenbahn.")
    ['Das', 'ist', 'z.B.', 'die', 'Straßenbahn', '.']
    >>> get_tokenizer(str.split).name
    'custom:str.split'
    """
    if isinstance(what, Tokenizer):
        return what
    if isinstance(what, str):
        function_of_name = _function_of_name(what)
        if function_of_name is not None:
            return Tokenizer(what, function_of_name)
        if what.startswith(("custom:", "spacy:", "huggingface:")):
            raise AlacarteError(
                f"the tokenizer {what!r} is a Python object that cannot be saved; pass it again as tokenizer=…"
            )
        raise AlacarteError(
            f"no tokenizer is called {what!r}; the names are {', '.join(_NAMED)}, jieba, and spacy:de for the "
            "language de; any function from a text to a list of tokens is accepted, too"
        )
    if hasattr(what, "pipe") and hasattr(what, "vocab"):
        return from_spacy(what)
    if hasattr(what, "encode") and (hasattr(what, "tokenize") or hasattr(what, "get_vocab")):
        return from_huggingface(what)
    if callable(what):
        function = what  # a name of its own, so that the closure's type stays narrow

        def split(text: str, known: Known) -> list[str]:
            return list(function(text))

        return Tokenizer(f"custom:{getattr(what, '__qualname__', type(what).__name__)}", split)
    raise AlacarteError(
        f"a tokenizer is a name or a function from a text to a list of tokens, not {type(what).__name__}"
    )


def from_spacy(nlp: Any, lower: bool = True) -> Tokenizer:
    """Return the tokenizer of a spaCy pipeline, of which nothing else runs.

    Parameters
    ----------
    nlp : spacy.Language
        The pipeline.
    lower : bool
        Whether tokens are put in lower case.

    Examples
    --------
    >>> spacy = __import__("spacy")
    >>> from_spacy(spacy.blank("en"))("He isn't here.")
    ['he', 'is', "n't", 'here', '.']
    """
    name = f"spacy:{nlp.meta.get('lang', '')}_{nlp.meta.get('name', '')}"
    return Tokenizer(name, _spacy_split(nlp, _SPACY_FORMS["spacy" if lower else "spacy-cased"]))


def from_huggingface(tokenizer: Any) -> Tokenizer:
    """Return a tokenizer for the pieces of a Hugging Face one (`tokenizers`, `transformers`), without special ones."""
    if hasattr(tokenizer, "tokenize"):  # transformers

        def split(text: str, known: Known) -> list[str]:
            return list(tokenizer.tokenize(text))

    else:

        def split(text: str, known: Known) -> list[str]:
            return list(tokenizer.encode(text, add_special_tokens=False).tokens)

    name = getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__
    return Tokenizer(f"huggingface:{name}", split)
