"""Data frames of any library, known without importing one."""

from typing import Any

from alacarte.errors import AlacarteError, require

LIBRARIES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")


def is_frame(source: object) -> bool:
    """Whether something is a data frame, by the name of its type's module.

    >>> is_frame(["no frame"])
    False
    """
    return type(source).__module__.partition(".")[0] in LIBRARIES and hasattr(type(source), "columns")


def open_frame(source: Any, error: type[AlacarteError], purpose: str, advice: str, *, eager: bool = False) -> Any:
    """A frame behind the one interface of narwhals; with `eager`, one whose rows are in memory."""
    narwhals = require("narwhals", extra="frames", purpose=purpose)
    try:
        return narwhals.from_native(source, eager_only=eager)
    except TypeError:
        raise error(
            f"a {type(source).__module__}.{type(source).__name__} is not a frame that can be read; make it a "
            f"pandas or polars DataFrame or an Arrow Table, or {advice}"
        ) from None
