"""Errors that decoders of damaged files raise, turned into errors of this package.

Decoders raise errors of many kinds: `struct.error`, `KeyError`, `RecursionError` for JSON nested too deeply,
`ValueError` for an integer of 5,000 digits, `zlib.error`, pyarrow's own. Every reader of files runs inside `decoding`.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alacarte._io.printing import shortened
from alacarte.errors import AlacarteError, AlacarteWarning

LONGEST_MESSAGE = 200  # characters of a decoder's own message


@contextmanager
def decoding(
    path: str | os.PathLike[str], error: type[AlacarteError], advice: str = "copy or write it again"
) -> Iterator[None]:
    """Turn what a decoder raises into `error`, with the name of the file; errors of the system are left as they are.

    >>> with decoding("a.json", AlacarteError):
    ...     read_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    alacarte.errors.AlacarteError: a.json is damaged: JSON nested too deeply; copy or write it again
    """
    try:
        yield
    except (AlacarteError, AlacarteWarning):
        raise
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise
        raise error(f"{os.fspath(path)} is damaged: {in_words(problem)}; {advice}") from problem


def in_words(problem: Exception) -> str:
    """Return the message of a decoder's error, on one line.

    >>> in_words(KeyError("words")), in_words(EOFError()), in_words(MemoryError())
    ("KeyError: 'words'", 'EOFError', 'it asks for more memory than there is')
    """
    if isinstance(problem, MemoryError):
        return "it asks for more memory than there is"
    message = shortened(" ".join(str(problem).split()), LONGEST_MESSAGE)
    if not message or isinstance(problem, LookupError | AttributeError | TypeError):
        return f"{type(problem).__name__}{': ' if message else ''}{message}"
    return message


def read_json(text: str | bytes) -> Any:
    """Return what JSON text holds; raise ValueError for anything that is not JSON, or that Python cannot hold.

    >>> read_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
