"""What the Tab key offers: names of models, vectors, formats and tokenizers, and columns of tables.

Each function is called in a new process while somebody waits for it, so it reads no more than the first line of a file,
and offers nothing where that fails.
"""

import csv
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import typer

CONFIG_NAMES = ("model", "vectors")


def model_names(incomplete: str) -> list[str]:
    """Models that ship, and folders here."""
    from alacarte.model import pretrained_names

    folders = [path for path in _paths(incomplete) if path.endswith("/")]
    return _matching(pretrained_names(), incomplete) + folders


def vector_names(incomplete: str) -> list[str]:
    """Vectors that a package brings, and files here."""
    from alacarte.vectors.formats.named import PACKAGES

    return _matching(PACKAGES, incomplete) + _paths(incomplete)


def format_names(incomplete: str) -> list[str]:
    """
    >>> format_names("word2vec")
    ['word2vec-text', 'word2vec-binary']
    """
    from alacarte.vectors.formats import FORMATS

    return _matching(FORMATS, incomplete)


def tokenizer_names(incomplete: str) -> list[str]:
    """
    >>> tokenizer_names("whitespace")
    ['whitespace', 'whitespace-lower']
    """
    from alacarte.text.tokenizers import tokenizer_names

    return _matching(tokenizer_names(), incomplete)


def column_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the table that the command line names before."""
    # A command line that ends in an option without a value is not parsed to its end: its words are in `args`.
    words = [*ctx.args, ctx.params.get("data"), *(ctx.params.get("files") or ()), *(ctx.params.get("paths") or ())]
    words += ctx.params.get("corpus") or ()
    tables = [Path(str(word)).expanduser() for word in words if word and not str(word).startswith("-")]
    return _matching(dict.fromkeys(name for table in tables for name in _columns(table)), incomplete)


def config_names(incomplete: str) -> list[str]:
    """
    >>> config_names("m")
    ['model']
    """
    return _matching(CONFIG_NAMES, incomplete)


def config_values(ctx: typer.Context, incomplete: str) -> list[str]:
    return (model_names if ctx.params.get("name") == "model" else vector_names)(incomplete)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _paths(incomplete: str) -> list[str]:
    """Files and folders that begin like this, folders with a / behind."""
    folder, _, start = incomplete.rpartition("/")
    with suppress(OSError):
        entries = sorted(Path(f"{folder}/" if "/" in incomplete else ".").expanduser().iterdir())
        beginning = f"{folder}/" if "/" in incomplete else ""
        names = [path.name + ("/" if path.is_dir() else "") for path in entries if path.name.startswith(start)]
        return [beginning + name for name in names if start or not name.startswith(".")]
    return []


def _columns(table: Path) -> list[str]:
    """The columns of a CSV, TSV or JSON-lines file, as its first line has them."""
    from alacarte._io.files import compression, decompressed

    ends = {end.lower() for end in table.suffixes}
    with suppress(Exception), table.open("rb") as raw:  # whatever it is, it has no columns to offer
        kind = compression(raw.read(8))
        raw.seek(0)
        line = decompressed(raw, kind).readline().decode("utf-8-sig")
        if ends & {".jsonl", ".ndjson"}:
            return list(json.loads(line))
        if ends & {".csv", ".tsv"}:
            return next(csv.reader([line], delimiter="\t" if ".tsv" in ends else ","))
    return []
