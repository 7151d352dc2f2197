"""Word senses: annotated corpora, WordNet, synset vectors, disambiguation, and senses without a dictionary.

The public names are imported when first used:

- readers: `read_semcor`, `read_semeval`, `read_conllu`, `read_brown`, `spacy_documents`, `documents`;
- WordNet: `open_wordnet`, `WordNet`, `Synset`;
- synset vectors: `induce_synsets`, `gloss_vectors`, `combined`, `graded`, `by_sense_key`, `sense_counts`;
- disambiguation: `Disambiguator`, `Answer`, `sentences_of_text`, `sentences_of_doc`;
- senses that a word has in a text: `induce_senses`; single contexts: `gather`, `Occurrences`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alacarte.senses.annotated import Instance, Sentence, documents
    from alacarte.senses.brown import read_brown
    from alacarte.senses.conllu import read_conllu
    from alacarte.senses.disambiguation import Answer, Disambiguator
    from alacarte.senses.induction import InducedSense, InducedSenses, induce_senses
    from alacarte.senses.occurrences import Occurrences, gather
    from alacarte.senses.plain_text import sentences_of_doc, sentences_of_text
    from alacarte.senses.semcor import read_semcor
    from alacarte.senses.semeval import read_semeval
    from alacarte.senses.spacy_docs import spacy_documents
    from alacarte.senses.synset_vectors import (
        SynsetVectors,
        by_sense_key,
        combined,
        gloss_vectors,
        graded,
        induce_synsets,
        sense_counts,
    )
    from alacarte.senses.wordnet import Synset, WordNet, open_wordnet

_HOME = {
    "Answer": "disambiguation",
    "Disambiguator": "disambiguation",
    "InducedSense": "induction",
    "InducedSenses": "induction",
    "Instance": "annotated",
    "Occurrences": "occurrences",
    "Sentence": "annotated",
    "Synset": "wordnet",
    "SynsetVectors": "synset_vectors",
    "WordNet": "wordnet",
    "by_sense_key": "synset_vectors",
    "combined": "synset_vectors",
    "documents": "annotated",
    "gather": "occurrences",
    "gloss_vectors": "synset_vectors",
    "graded": "synset_vectors",
    "induce_senses": "induction",
    "induce_synsets": "synset_vectors",
    "open_wordnet": "wordnet",
    "read_brown": "brown",
    "read_conllu": "conllu",
    "read_semcor": "semcor",
    "read_semeval": "semeval",
    "sense_counts": "synset_vectors",
    "sentences_of_doc": "plain_text",
    "sentences_of_text": "plain_text",
    "spacy_documents": "spacy_docs",
}

__all__ = [
    "Answer",
    "Disambiguator",
    "InducedSense",
    "InducedSenses",
    "Instance",
    "Occurrences",
    "Sentence",
    "Synset",
    "SynsetVectors",
    "WordNet",
    "by_sense_key",
    "combined",
    "documents",
    "gather",
    "gloss_vectors",
    "graded",
    "induce_senses",
    "induce_synsets",
    "open_wordnet",
    "read_brown",
    "read_conllu",
    "read_semcor",
    "read_semeval",
    "sense_counts",
    "sentences_of_doc",
    "sentences_of_text",
    "spacy_documents",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'alacarte.senses' has no attribute {name!r}")
    value = getattr(import_module(f"alacarte.senses.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
