"""A copy of text that can be read only once, for work that takes several passes over it."""

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path

from alacarte.passes.memory import disk_space
from alacarte.text.corpus import Corpus
from alacarte.text.documents import Item


def readable_again(corpus: Corpus) -> Corpus:
    """Return the corpus itself, or, if it can be read only once, a copy of its documents in a file without a name."""
    return Corpus(_Spool(corpus), name=corpus.description, columns=corpus.columns) if corpus.once else corpus


class _Spool:
    """Documents in a temporary file, which nobody else can open."""

    def __init__(self, corpus: Corpus) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (read again and again)
        with disk_space(Path(tempfile.gettempdir())):
            for item in corpus:
                pickle.dump(item, self._file)
            self._file.flush()  # here, and not when it is read, where nobody would know what found no room
            self._end = self._file.tell()

    def __iter__(self) -> Iterator[Item]:
        place = 0
        while place < self._end:
            self._file.seek(place)  # another reader may have moved on in the meantime
            item: Item = pickle.load(self._file)
            place = self._file.tell()
            yield item
