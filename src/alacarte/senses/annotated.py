"""Sentences in which words are annotated with senses."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from alacarte.text.documents import Document


@dataclass(frozen=True, slots=True)
class Instance:
    """An annotated word or phrase of a sentence.

    Parameters
    ----------
    start, end : int
        The instance is `words[start:end]` of its sentence.
    lemma : str
        Its lemma, with `_` for spaces.
    pos : str
        "n", "v", "a" or "r"; "" for any part of speech.
    keys : tuple of str
        Its sense keys. Annotators sometimes give more than one; a test set without its answers has none.
    id : str
        Its name in the corpus.
    """

    start: int
    end: int
    lemma: str
    pos: str
    keys: tuple[str, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words as they are written, and the annotated ones among them.

    Parameters
    ----------
    words : tuple of str
        The words.
    instances : tuple of Instance
        The annotated words and phrases.
    id, document_id : str
        The names of the sentence and of its document in the corpus.

    Examples
    --------
    >>> sentence = Sentence(("The", "bank", "closed"), (Instance(1, 2, "bank", "n", ("bank%1:14:00::",)),))
    >>> sentence.text
    'The bank closed'
    >>> sentence.document().spans
    ((4, 8, 'bank%1:14:00::'),)
    """

    words: tuple[str, ...]
    instances: tuple[Instance, ...] = ()
    id: str = ""
    document_id: str = ""

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(self.words)

    def document(self, label: "Callable[[Instance], Iterable[str]] | None" = None) -> Document:
        """Return the sentence as a text with labelled spans.

        Parameters
        ----------
        label : callable, optional
            Gives the labels of an instance: none, one or several. By default each sense key is a label.
        """
        starts = [0]
        for word in self.words:
            starts.append(starts[-1] + len(word) + 1)
        spans = [
            (starts[instance.start], starts[instance.end] - 1, name)
            for instance in self.instances
            for name in (instance.keys if label is None else label(instance))
        ]
        return Document(self.text, spans=tuple(spans))


def documents(
    sentences: Iterable[Sentence], label: Callable[[Instance], Iterable[str]] | None = None
) -> Iterator[Document]:
    """Return sentences as documents with labelled spans, for `ALaCarte.induce(…, Targets.spans())`.

    Parameters
    ----------
    sentences : iterable of Sentence
        What `read_semcor` gives, for example.
    label : callable, optional
        Gives the labels of an instance; by default its sense keys.

    Examples
    --------
    >>> sentence = Sentence(("river", "bank"), (Instance(1, 2, "bank", "n", ("bank%1:17:01::",)),))
    >>> [document.spans for document in documents([sentence], label=lambda instance: [instance.lemma])]
    [((6, 10, 'bank'),)]
    """
    return (sentence.document(label) for sentence in sentences)
