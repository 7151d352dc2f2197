"""A progress bar on the terminal, or a callback for anything else that wants to show progress."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from alacarte._io.printing import printable

silent = False  # whether nothing is said that was not asked for (`alc --quiet`)
DELAY = 2.0  # seconds; what is done sooner needs no bar


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How far the work has come, as told to a callback.

    >>> ProgressState(done=5, total=10, unit="B", elapsed=0.5).done
    5
    """

    done: int
    total: int | None
    unit: str
    elapsed: float  # seconds
    postfix: dict[str, object] = field(default_factory=dict)


ProgressCallback = Callable[[ProgressState], None]


class Progress:
    """What `progress` gives: tell it how far the work has come."""

    def __init__(self, bar: Any, total: int | None, unit: str, callback: ProgressCallback | None):
        self._bar = bar
        self._total = total
        self._unit = unit
        self._callback = callback
        self._start = time.perf_counter()

    @property
    def watched(self) -> bool:
        """Whether anybody is told; if not, what would be shown need not be worked out."""
        return not self._bar.disable or self._callback is not None

    def update_to(self, position: int, **postfix: object) -> None:
        """`position` out of the total is done; `postfix` is shown beside the bar."""
        if not self._bar.disable:
            if postfix:
                self._bar.set_postfix({key: _shown(value) for key, value in postfix.items()}, refresh=False)
            self._bar.update(position - self._bar.n)
        if self._callback is not None:
            elapsed = time.perf_counter() - self._start
            self._callback(ProgressState(position, self._total, self._unit, elapsed, dict(postfix)))


def _shown(value: object) -> str:
    """Numbers short enough for a bar.

    >>> _shown(12345), _shown(1234567.8), _shown("done")
    ('12,345', '1.23M', 'done')
    """
    from tqdm import tqdm

    if isinstance(value, float):
        return str(tqdm.format_sizeof(value))
    return f"{value:,}" if isinstance(value, int) else str(value)


@contextmanager
def progress(
    total: int | None,
    unit: str,
    description: str,
    show: bool | None = None,
    callback: ProgressCallback | None = None,
) -> Iterator[Progress]:
    """A bar from 0 to `total` (None: unknown), as a context manager.

    `show=None` shows it only on a terminal, and only once the work has taken two seconds. The unit "B" is
    bytes. The callback is called at every update, shown or not.

    >>> with progress(10, "B", "reading", show=False, callback=lambda s: print(s.done, s.postfix)) as bar:
    ...     bar.update_to(5, targets=3)
    5 {'targets': 3}
    """
    from tqdm import tqdm  # a tenth of a second that `import alacarte` does not have to take

    with tqdm(
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=True,
        desc=printable(description),
        disable=None if show is None else not show,
        delay=DELAY if show is None else 0,
        dynamic_ncols=True,
    ) as bar:
        yield Progress(bar, total, unit, callback)
