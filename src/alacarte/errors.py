"""Every error this package raises on purpose, in one tree under `AlacarteError`.

Each message says what went wrong, where, and what to do next.

>>> from alacarte import WordVectors
>>> from alacarte.errors import AlacarteError
>>> try:
...     WordVectors(["a"], [[1.0, 0.0]])["b"]
... except AlacarteError as error:
...     print(error)
no vector for 'b'; `get` returns a default instead, and `ALaCarte.induce` makes one from text
"""

from importlib import import_module
from types import ModuleType
from typing import NamedTuple


class Hint(NamedTuple):
    """What to do next, for each of the two faces of this package: where Python has an argument, `alc` has an option.

    >>> error = AlacarteError("a.txt: byte 3 is not UTF-8", hint=Hint('pass errors="replace"', "pass --errors replace"))
    >>> print(error)
    a.txt: byte 3 is not UTF-8; pass errors="replace"
    >>> print(error.for_command_line())
    a.txt: byte 3 is not UTF-8; pass --errors replace
    """

    python: str
    command: str = ""  # "": there is nothing to do about it on the command line


class _Hinted(Exception):
    """A message, and a hint that depends on who reads it."""

    hint: Hint | None

    def __init__(self, message: object = "", *, hint: Hint | None = None) -> None:
        super().__init__(message)
        self.message = str(message)
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}; {self.hint.python}"

    def for_command_line(self) -> str:
        """Return the message with the hint for those who typed a command."""
        return f"{self.message}; {self.hint.command}" if self.hint is not None and self.hint.command else self.message


class AlacarteError(_Hinted):
    """The root: catch this to catch everything this package raises on purpose."""


class AlacarteWarning(_Hinted, UserWarning):
    """Something worth knowing that does not stop the work."""


class UnknownKey(AlacarteError, KeyError):
    """A word or label that the vectors do not hold."""


class UnknownOption(AlacarteError, TypeError):
    """A keyword that a function does not take."""


class BadVectors(AlacarteError, ValueError):
    """A vector file or array that cannot be used as it is."""


class BadCorpus(AlacarteError, ValueError):
    """Text that cannot be read as asked."""


class BadTargets(AlacarteError, ValueError):
    """Targets that cannot be looked for."""


class BadSums(AlacarteError, ValueError):
    """Context sums that cannot be read, or that do not belong together."""


class BadCheckpoint(AlacarteError, ValueError):
    """A checkpoint that cannot be written, or that belongs to other work."""


class DiskFull(AlacarteError, OSError):
    """There is no room for a file; what stood in its place is as it was.

    >>> import errno
    >>> error = DiskFull("a.vec: no room", errno.ENOSPC, "No space left on device")
    >>> print(error, isinstance(error, OSError), error.errno == errno.ENOSPC)
    a.vec: no room True True
    """

    def __init__(self, message: object, number: int = 0, reason: str = "", hint: Hint | None = None) -> None:
        super().__init__(message, hint=hint)
        self.errno, self.strerror = number, reason


class NoFolder(AlacarteError, FileNotFoundError):
    """The folder that a file is to be written to is not there.

    >>> print(NoFolder("out/a.vec: there is no folder out; make it with `mkdir -p out`"))
    out/a.vec: there is no folder out; make it with `mkdir -p out`
    """


class BadTransform(AlacarteError, ValueError):
    """A transform file or matrix that cannot be used as it is."""


class TransformMismatch(AlacarteError, ValueError):
    """A transform was given vectors or sums that it was not learned for."""


class NotEnoughData(AlacarteError, ValueError):
    """Too little text, or too few words, for what was asked."""


class NoOccurrences(AlacarteError, ValueError):
    """A target does not occur in the contexts it should be embedded from."""


class BadWordNet(AlacarteError, ValueError):
    """WordNet data that is missing, damaged or of another version than the annotation."""


class BadData(AlacarteError, ValueError):
    """A data set or the settings of an experiment that cannot be used as they are."""


class BadFormula(AlacarteError, ValueError):
    """A regression formula, or the data for it, that cannot be fitted as it is."""


class MissingExtra(AlacarteError, ImportError):
    """An optional dependency is not installed; the message names the `pip install` to run."""


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional dependency, or say which extra provides it.

    >>> require("json", extra="none", purpose="reading JSON").__name__
    'json'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # the package is there but broken: its own error says more
        raise MissingExtra(
            f"{purpose} needs the package {module.partition('.')[0]!r}. Run: pip install 'alacarte-embeddings[{extra}]'"
        ) from None
