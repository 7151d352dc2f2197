"""How a pass over text is run: threads, memory, checkpoint, progress. Nothing here changes a result."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypedDict

from alacarte._io.checks import real_number, whole_number
from alacarte._io.options import option
from alacarte._io.progress import ProgressCallback
from alacarte.errors import AlacarteError
from alacarte.text.corpus import Corpus, CorpusLike
from alacarte.text.options import CorpusKeywords

BLOCK_SIZE = 1 << 20  # bytes of text that are worked on together


class WorkOptions(TypedDict, total=False):
    """The keywords that say how a pass is run, wherever a public function takes them; see `Work`."""

    threads: int | None
    memory: int | str | None
    checkpoint: str | PathLike[str] | None
    checkpoint_seconds: float
    shard: tuple[int, int] | None
    show_progress: bool | None
    callback: ProgressCallback | None
    block_size: int
    client: Any


class PassOptions(CorpusKeywords, WorkOptions, total=False):
    """The keywords of functions that read text: how a file or frame is read (see `Corpus`), and `WorkOptions`."""


@dataclass(frozen=True)
class Work:
    """How a pass is run; nothing here but `shard` changes a bit of its result.

    Parameters
    ----------
    threads : int, optional
        The number of threads; None is all cores.
    memory : int or str, optional
        A limit such as "4GB" for vectors, sums and text; sums that do not fit are computed some dimensions at a time.
    checkpoint : path, optional
        A file that keeps the work so far, written every `checkpoint_seconds` and on Ctrl-C; the same call takes it up
        again. It stays when all is done, for the caller to delete once the result is safe.
    checkpoint_seconds : float
        The time between two checkpoints.
    shard : (int, int), optional
        (i, n) reads only the i-th of n parts of the text, counted from 1; the parts add up to the whole.
    show_progress : bool, optional
        None shows a bar on a terminal when the work takes more than a second.
    callback : callable, optional
        Called with a `ProgressState` as the work goes on.
    block_size : int
        The bytes of text that are worked on together.
    client : distributed.Client, optional
        A Dask client, on whose workers contexts are summed.

    Examples
    --------
    >>> Work(threads=2).threads
    2
    """

    threads: int | None = option(None, "Threads to use; all cores if left out.", metavar="N", minimum=1)
    memory: int | str | None = option(None, "Most memory to use, as in 4GB; no limit if left out.", metavar="SIZE")
    checkpoint: str | PathLike[str] | None = option(
        None,
        "Keep the work so far in FILE; the same command goes on from there. Deleted when all is done.",
        metavar="FILE",
        writes="checkpoint",
    )
    checkpoint_seconds: float = option(
        60.0, "How often to write the checkpoint.", name="checkpoint_every", metavar="SECONDS", minimum=0, hidden=True
    )
    shard: tuple[int, int] | None = option(
        None, "Read only the I-th of N parts and save its sums (--save-sums), for alc merge to add up.", metavar="I/N"
    )
    show_progress: bool | None = None
    callback: ProgressCallback | None = None
    block_size: int = BLOCK_SIZE
    client: Any = None

    def __post_init__(self) -> None:
        for name in ("threads", "block_size"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else whole_number(value, name, 1))
        if real_number(self.checkpoint_seconds, "checkpoint_seconds") < 0:
            raise AlacarteError(f"checkpoint_seconds is a time from 0 on, not {self.checkpoint_seconds}")
        if self.shard is not None:
            if not isinstance(self.shard, Sequence) or isinstance(self.shard, str) or len(self.shard) != 2:
                raise AlacarteError(f"shard is (i, n), the i-th of n parts of the text, not {self.shard!r}")
            part, parts = (whole_number(number, f"shard {self.shard}: each number", 1) for number in self.shard)
            if part > parts:
                raise AlacarteError(f"shard {part} of {parts}: parts are numbered from 1 to their number")
            object.__setattr__(self, "shard", (part, parts))

    @property
    def cores(self) -> int:
        """The number of threads: by default, as many as there are cores that this process may use."""
        return self.threads or usable_cores()


def usable_cores() -> int:
    """Return the number of cores that this process may use, which a scheduler or `taskset` may have limited."""
    allowed: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)  # Linux
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def select(options: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return those of the options that a TypedDict names.

    >>> select({"window": 5, "threads": 1}, WorkOptions)
    {'threads': 1}
    """
    return {name: options[name] for name in kind.__annotations__ if name in options}


def corpus_of(corpus: CorpusLike, options: Mapping[str, Any]) -> Corpus:
    """Return the corpus that a function was given, read as its keywords say."""
    keywords = select(options, CorpusKeywords)
    return Corpus(corpus, **keywords) if keywords else Corpus.of(corpus)
