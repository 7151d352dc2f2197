"""One text, or its tokens, with labelled spans and the values of further columns."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from alacarte.errors import BadCorpus

Span: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Document:
    """A text, or its tokens, with labelled spans in it.

    Parameters
    ----------
    text : str, optional
        The text. Give either `text` or `tokens`.
    tokens : sequence of str, optional
        The tokens, which are taken as they are and not tokenised again.
    spans : sequence of (start, end, label)
        Labelled parts, with the end exclusive; they count characters of `text` or items of `tokens`.
    values : tuple
        The values of the columns that a corpus keeps (``Corpus(…, columns=…)``).

    Examples
    --------
    >>> Document("He sat on the bank.", spans=[(14, 18, "bank.n.01")]).spans
    ((14, 18, 'bank.n.01'),)
    >>> Document(tokens=["the", "bank"], spans=[(1, 2, "bank.n.01")]).tokens
    ['the', 'bank']
    """

    text: str | None = None
    tokens: Sequence[str] | None = None
    spans: tuple[Span, ...] = ()
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if (self.text is None) == (self.tokens is None):
            raise BadCorpus("a Document has either text or tokens: give exactly one of them")
        if self.text is not None and not isinstance(self.text, str):
            raise BadCorpus(f"the text of a Document is a str, not {type_name(self.text)}; decode or convert it")
        if self.tokens is not None:
            check_tokens(self.tokens)
        length = len(self.text if self.text is not None else cast("Sequence[str]", self.tokens))
        unit = "characters" if self.text is not None else "tokens"
        object.__setattr__(self, "spans", tuple(_checked_span(span, length, unit) for span in self.spans))


Item: TypeAlias = str | list[str] | Document  # what iterating a corpus gives


def _checked_span(span: Any, length: int, unit: str) -> Span:
    try:
        start, end, label = (span["start"], span["end"], span["label"]) if isinstance(span, Mapping) else tuple(span)
        start, end = operator.index(start), operator.index(end)
    except (TypeError, ValueError, KeyError):
        raise BadCorpus(f"the span {span!r} is not (start, end, label) with whole numbers; correct it") from None
    if not 0 <= start < end <= length:
        raise BadCorpus(
            f"the span {span!r} does not lie within the document's {length} {unit}: "
            f"it must be that 0 <= start < end <= {length}"
        )
    if not isinstance(label, str) or not label:
        raise BadCorpus(f"the span {span!r} has no label: give a non-empty str as the third value")
    return start, end, label


def check_tokens(tokens: Any) -> None:
    """Raise `BadCorpus` for anything but a sequence of str."""
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        raise BadCorpus(f"tokens are a list of str, not {type_name(tokens)}; give a text as text instead")
    try:
        "".join(tokens)  # the fastest way to have every item's type checked
    except TypeError as error:
        raise BadCorpus(f"tokens are a list of str, but: {error}; convert every token to str") from None


def type_name(value: object) -> str:
    """Return the name of a value's type."""
    return type(value).__name__


def plain(document: Document) -> str | list[str]:
    """Return the text of a document, or its tokens."""
    return document.text if document.text is not None else list(document.tokens or ())


def is_empty(item: Item) -> bool:
    """Whether a document holds nothing but white space, or no tokens.

    >>> is_empty(" "), is_empty(Document("a")), is_empty([])
    (True, False, True)
    """
    content = (item.text or item.tokens) if isinstance(item, Document) else item
    return not content or (isinstance(content, str) and content.isspace())
