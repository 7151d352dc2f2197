"""Data frames of any library, known without importing one."""

from typing import Any

from alacarte.errors import AlacarteError, require

FRAME_LIBRARIES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")


def is_frame(source: object) -> bool:
    """Whether something is a data frame or a dataset, by the name of its type's module.

    >>> is_frame(["no frame"])
    False
    """
    kind = type(source)
    return (kind.__module__.partition(".")[0] in FRAME_LIBRARIES and hasattr(kind, "columns")) or is_dataset(source)


def is_dataset(source: object) -> bool:
    """Whether this is a dataset of Hugging Face's `datasets`, and not several of them in a dictionary."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "datasets" and hasattr(kind, "column_names") and hasattr(kind, "iter")


def open_frame(source: Any, error: type[AlacarteError], purpose: str, advice: str, *, eager: bool = False) -> Any:
    """Return a frame wrapped by narwhals; with `eager`, one whose rows are in memory."""
    narwhals = require("narwhals", extra="frames", purpose=purpose)
    if is_dataset(source) and hasattr(source, "__len__"):
        source = source.with_format("arrow")[:]  # as it lies on disk, mapped into memory
    try:
        return narwhals.from_native(source, eager_only=eager)
    except TypeError:
        raise error(
            f"a {type(source).__module__}.{type(source).__name__} is not a frame that can be read; make it a "
            f"pandas or polars DataFrame or an Arrow Table, or {advice}"
        ) from None
