"""spaCy's entities as labelled spans."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from alacarte.text.corpus import Document


def entity_name(entity: Any) -> str:
    """The link to a knowledge base if there is one, and else name and kind, as in `Paris/GPE`."""
    return str(entity.kb_id_ or f"{entity.text}/{entity.label_}")


def spacy_documents(docs: Iterable[Any], label: Callable[[Any], str] = entity_name) -> Iterator[Document]:
    """spaCy `Doc`s as documents whose entities are labelled spans; `label` names an entity.

    >>> spacy = __import__("spacy")
    >>> nlp = spacy.blank("en")
    >>> ruler = nlp.add_pipe("entity_ruler")
    >>> ruler.add_patterns([{"label": "GPE", "pattern": "Paris"}])
    >>> next(spacy_documents([nlp("I love Paris.")])).spans
    ((7, 12, 'Paris/GPE'),)
    """
    for doc in docs:
        spans = tuple((entity.start_char, entity.end_char, label(entity)) for entity in doc.ents)
        yield Document(doc.text, spans=spans)
