"""The one place in this folder that makes data frames."""

from collections.abc import Mapping, Sequence
from typing import Any

from alacarte.errors import require


def frame_of(rows: Sequence[Mapping[str, Any]], columns: list[str] | None = None) -> Any:
    """A pandas frame of rows; `columns` names them where there may be no row.

    >>> frame_of([], ["word", "p_value"]).columns.tolist()
    ['word', 'p_value']
    """
    return require("pandas", extra="pandas", purpose="to_frame()").DataFrame(list(rows), columns=columns)
