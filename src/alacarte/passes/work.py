"""How a pass over text is run: threads, memory, checkpoint, progress. Nothing here changes a result."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from os import PathLike
from typing import Any, TypedDict

from alacarte._io.progress import ProgressCallback
from alacarte.errors import AlacarteError, Hint

BLOCK = 1 << 20  # bytes of text that are worked on together


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
    run: str | PathLike[str] | None


@dataclass(frozen=True)
class Work:
    """How a pass is run.

    `threads`: how many to use; None is all cores. The result is the same to the last bit for any number.
    `memory`: a limit such as "4GB" for vectors, sums and text; sums that do not fit are made some dimensions at a time.
    `checkpoint`: a file that keeps the work so far, written every `checkpoint_seconds` and on Ctrl-C; the same call
    takes it up again and gives the same result to the last bit. It stays when all is done, for the caller to delete
    once the result is safe.
    `shard`: (i, n) reads only the i-th of n parts of the text, counted from 1; the parts add up to the whole.
    `show_progress`: True or False; None shows a bar on a terminal when the work takes more than a second.
    `callback`: called with a `ProgressState` as the work goes on.
    `block_size`: bytes of text that are worked on together.
    `client`: a `distributed.Client`, on whose workers contexts are summed (`alacarte.passes.dask`); the result is the
    same to the last bit.
    `run`: with a client, a folder for the work so far, on a disk that all workers see; without it, a folder in the one
    that Python was started in, which is deleted when all is done.

    >>> Work(threads=2).threads
    2
    """

    threads: int | None = None
    memory: int | str | None = None
    checkpoint: str | PathLike[str] | None = None
    checkpoint_seconds: float = 60.0
    shard: tuple[int, int] | None = None
    show_progress: bool | None = None
    callback: ProgressCallback | None = None
    block_size: int = BLOCK
    client: Any = None
    run: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.threads is not None and not _is_count(self.threads):
            raise AlacarteError(
                f"threads is a whole number from 1 on, not {self.threads!r}",
                hint=Hint("leave it out for as many as there are cores"),
            )
        if self.shard is not None and not 1 <= self.shard[0] <= self.shard[1]:
            raise AlacarteError(f"shard {self.shard[0]} of {self.shard[1]}: parts are numbered from 1 to their number")
        if self.run is not None and self.client is None:
            raise AlacarteError(
                "a folder for a run goes with a cluster",
                hint=Hint("pass client=…, too", "pass --scheduler or --cluster, too"),
            )
        if self.block_size < 1:
            raise AlacarteError(f"a block cannot have a size of {self.block_size} bytes; give at least 1")

    @property
    def cores(self) -> int:
        """How many threads that is: by default, as many as there are cores that this process may use."""
        return self.threads or usable_cores()


def usable_cores() -> int:
    """The cores that this process may use, which a scheduler or `taskset` may have limited."""
    allowed: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)  # Linux
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def chosen(options: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Those of the options that a TypedDict names.

    >>> chosen({"window": 5, "threads": 1}, WorkOptions)
    {'threads': 1}
    """
    return {name: options[name] for name in kind.__annotations__ if name in options}


def refuse_unknown(function: str, options: Mapping[str, Any], kind: type) -> None:
    """Raise `TypeError`, as Python does for its own keywords, for an option that a TypedDict does not name."""
    for name in options:
        if name not in kind.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and int(value) >= 1
