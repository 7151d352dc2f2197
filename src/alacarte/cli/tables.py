"""What `alc regress`, `alc contexts` and `alc compare` share: reading the table, writing tables and figures."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from alacarte._io.options import option
from alacarte._io.urls import display_name
from alacarte.cli.opening import write_lines
from alacarte.cli.output import detail, note_written
from alacarte.errors import BadCorpus

if TYPE_CHECKING:
    from alacarte.regression import ModelTable
    from alacarte.uncertainty.uncertainty import Similarities, Uncertainty

DATA = "The data"
TABLE_ENDINGS = {".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".ipc"}

ROWS = option(
    None, "Of a table, only rows for which this holds: 'year >= 1900'.", metavar="EXPR", flag="--where", panel=DATA
)


@dataclass(frozen=True)
class ClusterOptions:
    """What is one unit of inference."""

    cluster: str | None = option(
        None,
        "What is one observation: a column such as speaker (or first,last), document or context. [found in the data]",
        metavar="COLUMN",
        panel=DATA,
    )
    duplicates: Literal["cluster", "drop", "keep"] = option(
        "cluster", "Reprints of a document count with it, are dropped, or are kept as documents.", panel=DATA
    )


@dataclass(frozen=True)
class Study(ClusterOptions):
    """What is one context, and what is one unit of inference."""

    equal_clusters: bool | None = option(
        None, "Let clusters weigh the same, whatever their size; if left out, where they are very unequal.", panel=DATA
    )
    context_window: str | None = option(
        None, "Words on each side; the transform's own if left out, else 10.", name="window", metavar="N|B,A"
    )

    @property
    def columns(self) -> str | list[str] | None:
        """The columns whose values tell clusters apart.

        >>> Study("speaker").columns, Study("first,last").columns
        ('speaker', ['first', 'last'])
        """
        return self.cluster.split(",") if self.cluster is not None and "," in self.cluster else self.cluster


def open_table(data: str | Path, where: str | None) -> Any:
    """Return a pandas frame with the rows that were asked for."""
    from alacarte.regression import read_table
    from alacarte.regression.formulas import check_condition

    frame = read_table(data)
    detail(f"{display_name(data)}: {len(frame):,} rows; columns {', '.join(map(str, frame.columns))}")
    if where is None:
        return frame
    check_condition(where)
    try:
        chosen = frame.query(where)
    except Exception as error:  # whatever pandas makes of a wrong expression
        names = ", ".join(map(str, frame.columns))
        raise BadCorpus(f"--where {where!r} cannot be evaluated: {error}; the columns are {names}") from None
    if not len(chosen):
        raise BadCorpus(f"--where {where!r} leaves none of {len(frame):,} rows; check the values of the column")
    return chosen


def is_table(path: str) -> bool:
    """Whether a file is a table, by the ending of its name.

    >>> is_table("speeches.csv.gz"), is_table("news.txt")
    (True, False)
    """
    return bool(TABLE_ENDINGS & {end.lower() for end in Path(path).suffixes})


def write_paper_table(table: "ModelTable", path: Path) -> None:
    """Write a table in LaTeX or Markdown, as the ending of the name says."""
    write_lines(path, [table.to_latex() if path.suffix.lower() == ".tex" else table.to_markdown()])


def similarities(
    uncertainty: "Uncertainty", words: Iterable[str], like: list[str] | None, k: int, among: int | None, level: float
) -> "Similarities":
    """Return the likeness of each of some words to others, or to its nearest words, in one table."""
    from alacarte.uncertainty.uncertainty import Similarities

    lists = [
        uncertainty.similarities(word, like, level) if like else uncertainty.nearest(word, k, level=level, among=among)
        for word in words
    ]
    return Similarities(tuple(item for items in lists for item in items))


def write_plot(axes: Any, path: Path) -> None:
    """Save a figure."""
    from alacarte._io.figures import save_figure

    save_figure(axes, path)
    note_written(path)
