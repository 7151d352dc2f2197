"""Make text from data harmless: terminals obey escape sequences, and spreadsheets compute formulas."""

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Control characters, line and paragraph separators, marks for the direction of writing, halves of surrogate pairs.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def printable(text: str, keep: str = "") -> str:
    r"""Return text without characters that a terminal obeys, but for those in `keep`; they are written as escapes.

    >>> printable("né\x1b[2J\n"), printable("a\tb\r", keep="\t")
    ('né\\x1b[2J\\n', 'a\tb\\r')
    """
    return _OBEYED.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def shortened(text: str, most: int = 60) -> str:
    """Return the beginning of a text, at most `most` characters.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def finite(value: Any) -> Any:
    """Return a value for JSON, which has no NaN and no infinity: they are None, however deep they lie.

    >>> finite({"score": float("nan"), "bounds": (0.5, float("inf"))})
    {'score': None, 'bounds': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: object, indent: int | None = 2) -> str:
    r"""Return readable JSON without what a terminal obeys; results of the library are what their `to_dict()` gives.

    >>> print(json_text({"word": "né\x9b\x1b"}, indent=None))
    {"word": "né\u009b\u001b"}
    """
    text = json.dumps(finite(value), ensure_ascii=False, indent=indent, default=lambda result: finite(result.to_dict()))
    return _OBEYED.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def guarded(cell: Any) -> Any:
    """Return a cell of CSV: text that a spreadsheet would take for a formula gets a ' before it.

    `unguarded` takes it away again, so that what we write as CSV is read as it was.

    >>> [guarded(cell) for cell in ("=1+1", "'=1", "-0.5", -0.5, "it's")]
    ["'=1+1", "''=1", '-0.5', -0.5, "it's"]
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _is_number(cell):
        return "'" + cell
    return cell


def unguarded(cell: Any) -> Any:
    """Undo `guarded`.

    >>> [unguarded(cell) for cell in ("'=1+1", "''=1", "-0.5", -0.5, "it's", "'tis")]
    ['=1+1', "'=1", '-0.5', -0.5, "it's", "'tis"]
    """
    return cell[1:] if isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell) else cell


def quoting(texts: Iterable[Any]) -> int:
    """How to quote CSV with these cells: all text, if there is a carriage return, which csv forgets; else as needed."""
    return csv.QUOTE_NONNUMERIC if any(isinstance(text, str) and "\r" in text for text in texts) else csv.QUOTE_MINIMAL


def map_text(frame: Any, function: Callable[[Any], Any]) -> Any:
    """Return a frame with `guarded` or `unguarded` applied to names of columns, and to cells that are no numbers."""
    result = frame.copy(deep=False)
    for place, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "iufbcMm":
            result.isetitem(place, frame.iloc[:, place].map(function, na_action="ignore"))
    return result.rename(columns=function)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()
