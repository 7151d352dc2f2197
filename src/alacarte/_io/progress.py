"""Progress bars on a terminal and in notebooks, or a callback for anything else that wants to show progress."""

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from shutil import get_terminal_size
from typing import Any

from alacarte._io.printing import printable, shortened

silent = False  # whether notes are suppressed (`alc --quiet`)
DELAY = 1.0  # seconds; what is done sooner needs no bar
TICK = 1.0  # seconds between two updates of the clock of a bar
LONGEST_DESCRIPTION = 30  # letters of a description; more are cut
BESIDE = 41  # what a bar takes beside its description: the share, a short bar, two sizes, two times
SHORTENED_FROM = 100_000  # from here on, counts are written as 1.23M
BAR_WITH_TOTAL = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{unit} [{elapsed}<{remaining}{postfix}]"
BAR_WITHOUT_TOTAL = "{desc}: {n_fmt}{unit} [{elapsed}{postfix}]"


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How far the work has come, as passed to a callback.

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
    """A bar to update, as `progress` yields it."""

    def __init__(self, bar: Any, total: int | None, unit: str, callback: ProgressCallback | None):
        self._bar = bar
        self._total = total
        self._unit = unit
        self._callback = callback
        self._start = time.perf_counter()

    @property
    def watched(self) -> bool:
        """Whether there is a bar or a callback; if not, what would be shown need not be computed."""
        return not self._bar.disable or self._callback is not None

    def update_to(self, position: int, **postfix: object) -> None:
        """Move the bar to `position`; `postfix` is shown beside it."""
        if not self._bar.disable:
            if postfix:
                self._bar.set_postfix_str(self._fitting(postfix), refresh=False)
            self._bar.update(position - self._bar.n)
        if self._callback is not None:
            elapsed = time.perf_counter() - self._start
            self._callback(ProgressState(position, self._total, self._unit, elapsed, dict(postfix)))

    def _fitting(self, postfix: dict[str, object]) -> str:
        """Return as many of these as there is room for on the line."""
        room = (self._bar.ncols or 80) - len(self._bar.desc) - BESIDE
        text = ""
        for key, value in postfix.items():
            longer = f"{text}, {key}={_short(value)}" if text else f"{key}={_short(value)}"
            if len(longer) + 2 > room:
                break
            text = longer
        return text


def _short(value: object) -> str:
    """Return a number as text short enough for a bar.

    >>> _short(12345), _short(1234567.8), _short("done")
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
    """Show a bar from 0 to `total` (None: unknown), as a context manager.

    `show=None` shows it only on a terminal and in notebooks, and only once the work has taken a second. The unit
    "B" is bytes. The callback is called at every update, shown or not.

    >>> with progress(10, "B", "reading", show=False, callback=lambda s: print(s.done, s.postfix)) as bar:
    ...     bar.update_to(5, targets=3)
    5 {'targets': 3}
    """
    bar = _bar(
        description,
        show,
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=unit == "B" or (total or 0) >= SHORTENED_FROM,
        bar_format=BAR_WITH_TOTAL if total else BAR_WITHOUT_TOTAL,
    )
    with bar, _ticking(bar):
        yield Progress(bar, total, unit, callback)


@contextmanager
def phase(description: str, show: bool | None = None) -> Iterator[None]:
    """Name work of unknown length once it has taken a second, as a context manager.

    >>> with phase("sorting", show=False):
    ...     sorted([2, 1])
    [1, 2]
    """
    bar = _bar(description, show, bar_format="{desc} … [{elapsed}]", leave=False)
    with bar, _ticking(bar):
        yield


@contextmanager
def _ticking(bar: Any) -> Iterator[None]:
    """Show a bar after its delay, and let its clock run between updates."""
    if bar.disable:
        yield
        return
    ended = threading.Event()

    def tick() -> None:
        pause = bar.delay or TICK
        while not ended.wait(pause):
            bar.refresh()
            bar.last_print_t = bar._time()  # or tqdm takes it for one that was never seen, and leaves it unfinished
            pause = TICK

    thread = threading.Thread(target=tick, name="alacarte-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _bar(description: str, show: bool | None, **options: Any) -> Any:
    """Return a bar of tqdm: a widget in notebooks, else text on stderr, if that is a terminal or `show` is True."""
    from tqdm import tqdm  # a tenth of a second that `import alacarte` does not have to take

    notebook = in_notebook()
    if notebook:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that widgets are not installed: then bars are lines of text
            from tqdm.auto import tqdm
    hidden = None if show is None and not notebook else show is False
    if show is None and os.environ.get("TQDM_DISABLE", "0") not in ("", "0"):
        hidden = True
    # Given, since tqdm shows nothing on a terminal that says it has 0 lines, as those of containers do.
    columns, lines = (None, None) if notebook else get_terminal_size()
    delay = 0 if show is not None else DELAY
    return tqdm(
        desc=shortened(printable(description), LONGEST_DESCRIPTION),
        disable=hidden,
        ncols=columns,
        nrows=lines,
        delay=delay,
        **options,
    )


def in_notebook() -> bool:
    """Whether a notebook, or another front end of a Jupyter kernel, shows the output.

    >>> in_notebook()
    False
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
