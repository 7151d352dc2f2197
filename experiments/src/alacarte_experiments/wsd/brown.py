"""The Brown corpus as distributed: `word/tag` pairs, one sentence or heading a line."""

import re
from collections.abc import Iterator
from os import PathLike

from alacarte.errors import BadCorpus
from alacarte.senses.readers import read_texts

FILES = re.compile(r"(?:^|[/:])c[a-r]\d\d$")


def read_brown(path: str | PathLike[str]) -> Iterator[str]:
    """The sentences of the Brown corpus, as plain text, from its folder or archive.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ca01"
    >>> _ = file.write_text("\\n\\tThe/at 1/2/cd miles/nns ./.\\n")
    >>> list(read_brown(file))
    ['The 1/2 miles .']
    """
    for name, text in read_texts(path, FILES, "latin-1"):
        for number, line in enumerate(text.split("\n"), 1):
            pairs = [pair.rpartition("/") for pair in line.split()]
            if any(not slash for _, slash, _ in pairs):
                raise BadCorpus(f"{name}, line {number}: not word/tag pairs; give the tagged Brown corpus")
            if pairs:
                yield " ".join(word for word, _, _ in pairs)
