"""Word senses: vectors for WordNet's synsets, disambiguation, and the senses that a word has in a text.

| name | what it does |
|---|---|
| `read_semcor`, `read_conllu`, `spacy_documents` | read annotated text |
| `documents` | turn annotated sentences into documents with labelled spans |
| `open_wordnet` | open a WordNet, which gives each `Synset` |
| `induce_synsets`, `gloss_vectors`, `combined`, `graded`, `by_sense_key` | compute vectors for synsets |
| `sense_counts` | count senses in annotated text |
| `Disambiguator`, `sentences_of_text`, `sentences_of_doc` | find the senses of words in a text |
| `induce_senses` | several vectors for one word, without a dictionary |
"""

from typing import TYPE_CHECKING

from alacarte._io.lazy import exports

if TYPE_CHECKING:
    from alacarte.senses.annotated import Instance, Sentence, documents
    from alacarte.senses.disambiguation import Answer, Disambiguator
    from alacarte.senses.induction import InducedSense, InducedSenses, induce_senses
    from alacarte.senses.plain_text import sentences_of_doc, sentences_of_text
    from alacarte.senses.readers import read_conllu, read_semcor, spacy_documents
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
    "Sentence",
    "Synset",
    "SynsetVectors",
    "WordNet",
    "by_sense_key",
    "combined",
    "documents",
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
        "disambiguation": ["Answer", "Disambiguator"],
        "induction": ["InducedSense", "InducedSenses", "induce_senses"],
        "plain_text": ["sentences_of_doc", "sentences_of_text"],
        "readers": ["read_conllu", "read_semcor", "spacy_documents"],
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
