"""A copy of text that can be read only once, for work that takes several passes over it."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from alacarte.passes.memory import disk_space
from alacarte.text.corpus import Corpus, Document


def readable_again(corpus: Corpus) -> Corpus:
    """The corpus itself, or, where it can be read only once, a copy of its documents in a file without a name."""
    return Corpus(_Spool(corpus), name=corpus.description) if corpus.once else corpus


class _Spool:
    """Documents in a temporary file."""

    def __init__(self, corpus: Corpus) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (read again and again)
        with disk_space(Path(tempfile.gettempdir())):
            for item in corpus:
                if isinstance(item, Document):
                    content = [item.text, None if item.tokens is None else list(item.tokens), item.spans]
                else:
                    content = [item, None, ()] if isinstance(item, str) else [None, item, ()]
                self._file.write(json.dumps(content) + "\n")
            self._file.flush()  # here, and not when it is read, where nobody would know what found no room

    def __iter__(self) -> Iterator[Document]:
        self._file.seek(0)
        for line in self._file:
            text, tokens, spans = json.loads(line)
            yield Document(text, tokens, tuple(spans))
