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

from alacarte._io.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__)
