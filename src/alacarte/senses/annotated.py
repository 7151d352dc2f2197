"""Sentences in which words are annotated with senses: what the readers of sense-annotated corpora give."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from alacarte.errors import BadCorpus
from alacarte.text.corpus import Document
from alacarte.text.sources import Stream, file_streams, find_files, read_whole


@dataclass(frozen=True, slots=True)
class Instance:
    """An annotated word or phrase: `words[start:end]` of its sentence, with the sense keys it was given.

    Annotators sometimes give more than one key, and a test set without its answers gives none.
    """

    start: int
    end: int
    lemma: str
    pos: str  # n, v, a or r
    keys: tuple[str, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words as written, and those of them that carry an annotation.

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
        return " ".join(self.words)

    def document(self, label: "Callable[[Instance], Iterable[str]] | None" = None) -> Document:
        """The sentence as a text with labelled spans; by default every sense key is a label.

        `label` gives the labels of an instance instead: none, one or several.
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
    """Sentences as `Document`s, which `ALaCarte.induce(…, Targets.spans())` takes; see `Sentence.document`.

    >>> from alacarte import Targets
    >>> sentence = Sentence(("river", "bank"), (Instance(1, 2, "bank", "n", ("bank%1:17:01::",)),))
    >>> [document.spans for document in documents([sentence], label=lambda instance: [instance.lemma])]
    [((6, 10, 'bank'),)]
    """
    for sentence in sentences:
        yield sentence.document(label)


def annotated_streams(path: str | PathLike[str], only: re.Pattern[str] | None = None) -> Iterator[Stream]:
    """The files behind a path, folder, glob or archive; with `only`, those whose path matches it."""
    any_file = False
    for file in find_files(path):
        for stream in file_streams(file):
            if only is None or only.search(stream.name.replace("\\", "/")):
                any_file = True
                yield stream
    if not any_file:
        pattern = "" if only is None else f" whose path has the form {only.pattern}"
        raise BadCorpus(f"{path}: holds no file{pattern}; check that it is the corpus as it is distributed")


def decoded(stream: Stream, encoding: str = "utf-8") -> str:
    """The whole text of a stream."""
    raw = read_whole(stream)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{stream.name}: byte {error.start} is not {encoding}; convert the file") from None


def short_name(stream: Stream) -> str:
    return Path(stream.name.replace("\\", "/")).name
