"""Sentences to disambiguate, from plain text or from spaCy's `Doc` objects."""

import re
from collections.abc import Iterator
from typing import Any

from alacarte.contexts.weights import STOP_WORDS
from alacarte.errors import AlacarteError
from alacarte.senses.annotated import Instance, Sentence
from alacarte.senses.wordnet import WordNet, simple_pos

SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
WORD_PATTERN = re.compile(r"\w+(?:[-'’.]\w+)*|[^\w\s]")
LONGEST_PHRASE = 4  # words of a phrase that is looked up


def split_sentences(text: str) -> list[str]:
    r"""Cut a text at . ! ? before a capital letter or digit, and at line ends. This is crude, and enough for contexts.

    Examples
    --------
    >>> split_sentences("He left. She stayed!\nThe end")
    ['He left.', 'She stayed!', 'The end']
    """
    return [part for line in text.split("\n") for part in SENTENCE_END.split(line.strip()) if part]


def sentences_of_text(text: str, wordnet: WordNet) -> Iterator[Sentence]:
    """Return the sentences of a text, in which each word or phrase that WordNet lists is an instance.

    The longest phrase is taken (`hot dog` before `dog`). Function words and numbers are left out.

    Parameters
    ----------
    text : str
        Plain text; all parts of speech compete.
    wordnet : WordNet
        Where words are looked up.
    """
    for number, part in enumerate(split_sentences(text), 1):
        words = tuple(WORD_PATTERN.findall(part))
        if words:
            yield Sentence(words, tuple(_instances(words, wordnet)), f"s{number}")


def _instances(words: tuple[str, ...], wordnet: WordNet) -> Iterator[Instance]:
    place = 0
    while place < len(words):
        for end in range(min(len(words), place + LONGEST_PHRASE), place, -1):
            phrase = " ".join(words[place:end])
            if end - place == 1 and (phrase.lower() in STOP_WORDS or not phrase[0].isalpha() or len(phrase) == 1):
                continue
            if all(word[0].isalnum() for word in words[place:end]) and wordnet.find(phrase):
                yield Instance(place, end, phrase.lower().replace(" ", "_"), "", (), f"w{place + 1}")
                place = end
                break
        else:
            place += 1


def sentences_of_doc(doc: Any, wordnet: WordNet) -> Iterator[Sentence]:
    """Return the sentences of a spaCy `Doc` with tags and lemmas.

    Nouns, verbs, adjectives and adverbs that WordNet lists are instances.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        From a trained pipeline, which finds sentences and parts of speech.
    wordnet : WordNet
        Where words are looked up.
    """
    for kind, name in (("SENT_START", "sentences"), ("POS", "parts of speech")):
        if not doc.has_annotation(kind):
            raise AlacarteError(f"this spaCy pipeline finds no {name}; use a trained one, such as en_core_web_sm")
    for number, part in enumerate(doc.sents, 1):
        tokens = [token for token in part if not token.is_space]
        instances = []
        for place, token in enumerate(tokens):
            pos = simple_pos(token.pos_) if not token.is_punct and token.pos_ != "AUX" else None
            lemma = (token.lemma_ or token.text).lower()
            if pos is not None and wordnet.find(lemma, pos):
                instances.append(Instance(place, place + 1, lemma, pos, (), f"w{place + 1}"))
        yield Sentence(tuple(token.text for token in tokens), tuple(instances), f"s{number}")
