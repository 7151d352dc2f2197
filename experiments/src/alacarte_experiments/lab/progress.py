"""Progress bars as the library shows them: on a terminal, and only once the work has taken two seconds."""

from typing import Any

from tqdm import tqdm

DELAY = 2.0  # seconds; what is done sooner needs no bar


def progress(total: int | None, unit: str, description: str, show: bool | None = None) -> Any:
    """tqdm's bar, a context manager with `update(n)`; `show` is what the library calls `show_progress`.

    >>> with progress(10, "runs", "classifying", show=False) as bar:
    ...     _ = bar.update(1)
    """
    return tqdm(
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=True,
        desc=description,
        disable=None if show is None else not show,
        delay=DELAY if show is None else 0,
        dynamic_ncols=True,
    )
