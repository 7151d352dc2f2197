"""How files of text are read: one record of options, checked when it is made."""

import codecs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from alacarte._io.files import SUFFIXES
from alacarte._io.options import option
from alacarte.errors import BadCorpus, Hint

DocumentUnit: TypeAlias = Literal["line", "paragraph", "file"]
Format: TypeAlias = Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow"]

FORMAT_OF_ENDING: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
}
# Any other ending is taken for plain text, but reading these so would quietly embed their mark-up.
UNREADABLE_ENDINGS = {".json", ".xml", ".html", ".htm", ".pdf", ".doc", ".docx", ".xlsx"}


class CorpusKeywords(TypedDict, total=False):
    """The fields of `CorpusOptions` as keywords of `Corpus`."""

    unit: DocumentUnit
    format: Format | None
    text: str | None
    tokens: str | None
    spans: str | None
    columns: Sequence[str]
    encoding: str
    errors: str


@dataclass(frozen=True)
class CorpusOptions:
    """How files of text are read.

    Parameters
    ----------
    unit : {"line", "paragraph", "file"}
        What a document is in a plain text file; paragraphs are separated by blank lines.
    format : {"text", "jsonl", "csv", "tsv", "parquet", "arrow"}, optional
        The format of all files; None goes by the ending of each file's name. Feather files are "arrow".
    text : str, optional
        The field or column with the text; None if there is none.
    tokens : str, optional
        The field or column with a list of tokens; None if there is none.
    spans : str, optional
        The field or column with labelled spans; None leaves them out.
    columns : sequence of str
        Further fields or columns, whose values are kept with each document.
    encoding : str
        The encoding of text, JSON lines and CSV.
    errors : str
        What to do with bytes that are not in that encoding: "strict" stops, "replace" puts a �.

    Examples
    --------
    >>> CorpusOptions(format="jsonl", text="body").text
    'body'
    """

    unit: DocumentUnit = option("line", "What a document is in plain text; no window crosses its border.")
    format: Format | None = option(None, "Format of the files, if their names do not say it.")
    text: str | None = option("text", "Field or column with the text.", metavar="COLUMN")
    tokens: str | None = option("tokens", "Field or column with ready-made tokens.", metavar="COLUMN")
    spans: str | None = "spans"
    columns: Sequence[str] = ()
    encoding: str = option("utf-8", "Encoding of the text.", metavar="NAME")
    errors: str = option("strict", "What to do with bytes that do not decode: strict or replace.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if self.unit not in get_args(DocumentUnit):
            raise BadCorpus(f"unit={self.unit!r} is not known; give one of {_in_words(DocumentUnit)}")
        if self.format is not None and self.format not in get_args(Format):
            raise BadCorpus(f"format={self.format!r} is not known; give one of {_in_words(Format)}")
        if self.unit != "line" and self.format not in (None, "text"):
            raise BadCorpus(
                f"unit={self.unit!r} is for plain text, not for format={self.format!r}; leave one of them out"
            )
        if self.text is None and self.tokens is None:
            raise BadCorpus("text=None and tokens=None leave nothing to read; name the field of one of them")
        try:
            "\n".encode(self.encoding)
            codecs.lookup_error(self.errors)
        except LookupError as error:
            raise BadCorpus(f'{error}; give a name such as encoding="utf-8" and errors="strict"') from None

    @property
    def is_strict_utf8(self) -> bool:
        """Whether text is passed on as it is stored, so that places in it are places in its file."""
        return self.errors == "strict" and codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig")

    def format_of(self, name: str) -> Format:
        """Return the format in which a file of this name is read.

        >>> CorpusOptions().format_of("a.jsonl.gz"), CorpusOptions().format_of("a.txt")
        ('jsonl', 'text')
        """
        if self.format is not None:
            return self.format
        path = Path(name)
        while path.suffix.lower() in SUFFIXES:
            path = path.with_suffix("")
        ending = path.suffix.lower()
        if ending in UNREADABLE_ENDINGS:
            formats = f"one of {_in_words(Format)} if it is one of these"
            raise BadCorpus(
                f"{name}: files ending in {ending} are not read; convert it to text, JSON lines, CSV or Parquet",
                hint=Hint(f"or pass format= with {formats}", f"or pass --format with {formats}"),
            )
        return FORMAT_OF_ENDING.get(ending, "text")

    def fields_among(self, columns: Iterable[str], where: str) -> list[str]:
        """Return the fields to read among those that exist, which must include text or tokens."""
        columns = list(columns)
        if self.text not in columns and self.tokens not in columns:
            wanted = " or ".join(repr(name) for name in (self.text, self.tokens) if name is not None)
            raise BadCorpus(
                f"{where}: no {wanted} among {', '.join(map(repr, columns)) or 'no fields at all'}",
                hint=Hint(
                    "name the one with the text as text=…, or the one with a list of tokens as tokens=…",
                    "name the one with the text as --text …, or the one with a list of tokens as --tokens …",
                ),
            )
        absent = [name for name in self.columns if name not in columns]
        if absent:
            raise BadCorpus(f"{where}: no {absent[0]!r} among {', '.join(map(repr, columns))}; check the column's name")
        read = dict.fromkeys((self.text, self.tokens, self.spans, *self.columns))
        return [name for name in read if name is not None and name in columns]

    def values_of(self, record: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of the further columns in one record; None for a column that it lacks."""
        return tuple(record.get(name) for name in self.columns)


def _in_words(choices: Any) -> str:
    return ", ".join(map(repr, get_args(choices)))
