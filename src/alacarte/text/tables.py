"""Table files as frames of pandas, with numbers and dates where text is written as such."""

import contextlib
import datetime
import io
import json
import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from alacarte._io.arrow import open_arrow
from alacarte._io.copies import local_copy
from alacarte._io.decoding import decoding
from alacarte._io.files import compression, decompressed
from alacarte._io.printing import map_text, unguarded
from alacarte.errors import BadCorpus, require
from alacarte.text.records import delimiter_of

PADDED = r"\s*[+-]?0\d"  # a number that begins with 0, as codes do: 01, 007
LONGEST_VALUE = 40  # characters of a number or a date
ARROW: dict[str, Literal["parquet", "arrow"]] = {  # what pyarrow reads, by ending
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


def read_table(path: str | PathLike[str]) -> Any:
    """Read CSV, TSV, JSON lines, Parquet, Arrow or Feather into a pandas frame; the first three compressed or not.

    Text in CSV and JSON becomes numbers or dates (2001-01-20) where every value of a column is written as one is; 01 is
    not, and such a column stays text: 01 and 1 are two levels.

    Parameters
    ----------
    path : str or path
        The file, or its URL; its ending says what it is.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "speeches.jsonl"
    ...     _ = path.write_text('{"text": "a b", "year": "1990", "district": "01", "day": "1990-05-01"}')
    ...     row = read_table(path).iloc[0]
    >>> int(row["year"]), row["district"], str(row["day"].date())
    (1990, '01', '1990-05-01')
    """
    pandas = require("pandas", extra="regression", purpose="reading tables")
    with local_copy(path, BadCorpus) as file:
        return _read_table(file, pandas)


def _read_table(path: Path, pandas: Any) -> Any:
    if not path.is_file():
        raise BadCorpus(f"{path}: there is no such file; pass CSV, TSV, JSON lines, Parquet or Arrow, or a frame")
    if not path.stat().st_size:
        raise BadCorpus(f"{path} is empty; pass a file with a header and rows")
    kinds = [suffix.lower() for suffix in path.suffixes]
    with decoding(path, BadCorpus, "check how it was written"):
        for kind in kinds:
            if kind in ARROW:
                with open_arrow(path, ARROW[kind]) as table:
                    return table.read().to_pandas()
        if ".jsonl" in kinds or ".ndjson" in kinds:
            return _typed(_read_json_lines(path, pandas), pandas)
        if ".csv" in kinds or ".tsv" in kinds:
            separator = "\t" if ".tsv" in kinds else delimiter_of(_first_line(path))
            frame = pandas.read_csv(path, sep=separator, dtype=str)
            return _typed(map_text(frame, unguarded), pandas)
    raise BadCorpus(f"{path}: the ending does not say what it is; name it .csv, .tsv, .jsonl, .parquet or .arrow")


def _first_line(path: Path) -> str:
    with _opened(path, errors="replace") as text:
        return text.readline()


def _read_json_lines(path: Path, pandas: Any) -> Any:
    with _opened(path) as text:
        return pandas.DataFrame([json.loads(line) for line in text if line.strip()])


@contextlib.contextmanager
def _opened(path: Path, errors: str = "strict") -> Iterator[io.TextIOWrapper]:
    with path.open("rb") as raw:
        kind = compression(raw.read(8))
        raw.seek(0)
        yield io.TextIOWrapper(decompressed(raw, kind), encoding="utf-8", errors=errors)


def _typed(frame: Any, pandas: Any) -> Any:
    """Return the frame with strings as numbers or as dates, where every value of a column is written as one."""
    for name in frame.columns:
        present = frame[name].dropna()
        if not len(present) or not all(isinstance(value, str) and len(value) < LONGEST_VALUE for value in present):
            continue
        if not any(re.match(PADDED, value) for value in present):
            with contextlib.suppress(ValueError, TypeError):
                frame[name] = pandas.to_numeric(frame[name])
                continue
        if all(map(is_date, present)):
            with contextlib.suppress(ValueError, TypeError):  # 2001-02-30
                frame[name] = pandas.to_datetime(frame[name], format="ISO8601")
    return frame


def is_date(value: Any) -> bool:
    """Whether a value is a date, or text that is written as one."""
    if isinstance(value, str):
        return re.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?", value) is not None
    return isinstance(value, (datetime.date, np.datetime64))
