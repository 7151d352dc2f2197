"""What a file of text looks like before a corpus is built from it: its first rows, and what its columns are."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from alacarte._io.arrow import open_arrow
from alacarte._io.decoding import decoding
from alacarte.errors import BadCorpus
from alacarte.serve.columns import value_kind
from alacarte.text.options import CorpusOptions
from alacarte.text.records import delimiter_of
from alacarte.text.sources import file_streams
from alacarte.text.streams import reading

HEAD = 1 << 20  # bytes of a file that are looked at
ROWS = 1000  # of them
RECORDS_SHOWN = 5
LONG = 300  # characters of a value that are shown
LENGTH = 30.0  # characters that the values of a column have on average, at least, where it may be the text


def previewed(path: Path) -> dict[str, Any]:
    """Return the first rows of a file, the kind of each column, and the column that is likely to be the text."""
    format = CorpusOptions().format_of(path.name)
    try:
        rows = list(islice(_rows(path, format), ROWS))
    except (csv.Error, RecursionError) as error:
        raise BadCorpus(f"{path.name} cannot be read as {format} ({error}); check how it was written") from None
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [{"name": name, "kind": _kind([row.get(name) for row in rows])} for name in names]
    shown = [{name: _short(row.get(name)) for name in names} for row in rows[:RECORDS_SHOWN]]
    return {"rows": shown, "columns": columns, "text": _text_of(names, rows), "plain": format == "text"}


def _rows(path: Path, format: str) -> Iterator[dict[str, Any]]:
    if format == "parquet":
        with decoding(path.name, BadCorpus, "check how it was written"), open_arrow(path, "parquet") as file:
            for batch in file.batches(None, ROWS):
                yield from batch.to_pylist()
        return
    streams = file_streams(path)
    stream = next(streams)
    with reading(path.name):
        lines = stream.file.read(HEAD).decode("utf-8-sig", "replace").splitlines()
        if len(lines) > 1 and stream.file.read(1):
            lines.pop()  # it was cut off
    if format == "text":
        yield from ({"text": line} for line in lines if line.strip())
    elif format == "jsonl":
        yield from (_fields(line) for line in lines if line.strip())
    elif lines:
        delimiter = "\t" if format == "tsv" else delimiter_of(lines[0])
        for row in csv.DictReader((f"{line}\n" for line in lines), delimiter=delimiter):
            yield {name: value for name, value in row.items() if name}


def _fields(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {"text": line}
    return value if isinstance(value, dict) else {"text": value}


def _kind(values: list[Any]) -> str:
    return value_kind(
        Counter(value if isinstance(value, str | int | float) else str(value) for value in values if value)
    )


def _short(value: Any) -> str:
    text = "" if value is None else " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def _text_of(names: list[str], rows: list[dict[str, Any]]) -> str:
    """Return the column with the longest values; one of that name comes first."""

    def length(name: str) -> float:
        values = [row[name] for row in rows if isinstance(row.get(name), str)]
        return sum(map(len, values)) / max(1, len(values))

    likely = max(names, key=length, default="")
    named = next((name for name in names if name.casefold() == "text"), "")
    return named or (likely if likely and (length(likely) >= LENGTH or len(names) == 1) else "")
