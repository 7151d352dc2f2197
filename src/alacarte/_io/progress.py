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

from alacarte._io.printing import printable

silent = False  # whether nothing is said that was not asked for (`alc --quiet`)
DELAY = 1.0  # seconds; what is done sooner needs no bar
TICK = 1.0  # seconds between two looks at the clock of a bar that is told nothing
SOON, RECENT = 0.2, 10.0  # seconds: where a bar was seen so recently, the next one need not wait so long
_last_seen = -RECENT  # when a bar was last shown
LONGEST = 30  # letters of a description; more are cut
BESIDE = 41  # what a bar takes beside its description: the share, a short bar, two sizes, two times
MANY = 100_000  # from here on, counts are written as 1.23M
KNOWN = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{unit} [{elapsed}<{remaining}{postfix}]"
UNKNOWN = "{desc}: {n_fmt}{unit} [{elapsed}{postfix}]"


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
                self._bar.set_postfix_str(self._fitting(postfix), refresh=False)
            self._bar.update(position - self._bar.n)
        if self._callback is not None:
            elapsed = time.perf_counter() - self._start
            self._callback(ProgressState(position, self._total, self._unit, elapsed, dict(postfix)))

    def _fitting(self, postfix: dict[str, object]) -> str:
        """As many of these as there is room for on the line, the first ones first."""
        room = (self._bar.ncols or 80) - len(self._bar.desc) - BESIDE
        text = ""
        for key, value in postfix.items():
            longer = f"{text}, {key}={_shown(value)}" if text else f"{key}={_shown(value)}"
            if len(longer) + 2 > room:
                break
            text = longer
        return text


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
        unit_scale=unit == "B" or (total or 0) >= MANY,
        bar_format=KNOWN if total else UNKNOWN,
    )
    with bar, _ticking(bar):
        yield Progress(bar, total, unit, callback)


@contextmanager
def phase(description: str, show: bool | None = None) -> Iterator[None]:
    """Name work that cannot say how far it has come, once it has taken a second; as a context manager.

    >>> with phase("sorting", show=False):
    ...     sorted([2, 1])
    [1, 2]
    """
    bar = _bar(description, show, bar_format="{desc} … [{elapsed}]", leave=False)
    with bar, _ticking(bar):
        yield


@contextmanager
def _ticking(bar: Any) -> Iterator[None]:
    """Let a bar be seen after its delay, and its clock run, also while it is told nothing."""
    if bar.disable:
        yield
        return
    ended = threading.Event()

    def tick() -> None:
        global _last_seen
        pause = bar.delay or TICK
        while not ended.wait(pause):
            bar.refresh()
            bar.last_print_t = bar._time()  # or tqdm takes it for one that was never seen, and leaves it unfinished
            pause, _last_seen = TICK, time.monotonic()

    thread = threading.Thread(target=tick, name="alacarte-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _bar(description: str, show: bool | None, **options: Any) -> Any:
    """A bar of tqdm: a widget in notebooks, else on the standard error, if that is a terminal or `show` is True."""
    from tqdm import tqdm  # a tenth of a second that `import alacarte` does not have to take

    notebook = in_notebook()
    if notebook:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that widgets are not installed: then bars are lines of text
            from tqdm.auto import tqdm
    hidden = None if show is None and not notebook else show is False
    if show is None and os.environ.get("TQDM_DISABLE", "0") not in ("", "0"):
        hidden = True
    named = printable(description)
    named = named if len(named) <= LONGEST else named[: LONGEST - 1] + "…"
    # Given, since tqdm shows nothing on a terminal that says it has 0 lines, as those of containers do.
    columns, lines = (None, None) if notebook else get_terminal_size()
    recent = time.monotonic() - _last_seen < RECENT
    delay = 0 if show is not None else min(SOON, DELAY) if recent else DELAY
    return tqdm(desc=named, disable=hidden, ncols=columns, nrows=lines, delay=delay, **options)


def in_notebook() -> bool:
    """Whether a notebook, or another front end of a Jupyter kernel, shows what is printed.

    >>> in_notebook()
    False
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
