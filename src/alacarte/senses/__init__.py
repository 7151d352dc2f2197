"""Word senses: annotated corpora, WordNet, synset vectors, disambiguation, and senses without a dictionary.

The public names are imported when first used:

- readers: `read_semcor`, `read_conllu`, `spacy_documents`, `documents`;
- WordNet: `open_wordnet`, `WordNet`, `Synset`;
- synset vectors: `induce_synsets`, `gloss_vectors`, `combined`, `graded`, `by_sense_key`, `sense_counts`;
- disambiguation: `Disambiguator`, `Answer`, `sentences_of_text`, `sentences_of_doc`;
- senses that a word has in a text: `induce_senses`; single contexts: `gather`, `Occurrences`.
"""

from typing import TYPE_CHECKING

from alacarte._io.lazy import exports

if TYPE_CHECKING:
    from alacarte.senses.annotated import Instance, Sentence, documents
    from alacarte.senses.conllu import read_conllu
    from alacarte.senses.disambiguation import Answer, Disambiguator
    from alacarte.senses.induction import InducedSense, InducedSenses, induce_senses
    from alacarte.senses.occurrences import Occurrences, gather
    from alacarte.senses.plain_text import sentences_of_doc, sentences_of_text
    from alacarte.senses.semcor import read_semcor
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
    "read_conllu",
    "read_semcor",
    "sense_counts",
    "sentences_of_doc",
    "sentences_of_text",
    "spacy_documents",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "annotated": ["Instance", "Sentence", "documents"],
        "conllu": ["read_conllu"],
        "disambiguation": ["Answer", "Disambiguator"],
        "induction": ["InducedSense", "InducedSenses", "induce_senses"],
        "occurrences": ["Occurrences", "gather"],
        "plain_text": ["sentences_of_doc", "sentences_of_text"],
        "semcor": ["read_semcor"],
        "spacy_docs": ["spacy_documents"],
        "synset_vectors": [
            "SynsetVectors",
            "by_sense_key",
            "combined",
            "gloss_vectors",
            "graded",
            "induce_synsets",
            "sense_counts",
        ],
        "wordnet": ["Synset", "WordNet", "open_wordnet"],
    },
)
