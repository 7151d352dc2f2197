"""What `alc regress`, `alc contexts` and `alc compare` share: reading the table, writing tables and figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from alacarte.cli.completing import column_names
from alacarte.cli.output import detail, note, show_columns, show_json, wrote
from alacarte.cli.outputs import FIGURE, check_outputs
from alacarte.errors import AlacarteError, BadCorpus

if TYPE_CHECKING:
    from alacarte.regression import ModelTable, Table

DATA = "The data"
SHOWN = 50  # rows of a table on the terminal

Data = Annotated[
    Path, typer.Argument(metavar="FILE", help="A table: CSV, TSV, JSON lines or Parquet, compressed or not.")
]
Text = Annotated[
    str,
    typer.Option(
        "--text", metavar="COLUMN", rich_help_panel=DATA, autocompletion=column_names, help="The column with the text."
    ),
]
Tokens = Annotated[
    str | None,
    typer.Option(
        "--tokens",
        metavar="COLUMN",
        rich_help_panel=DATA,
        autocompletion=column_names,
        help="Or the one with lists of tokens.",
    ),
]
Where = Annotated[
    str | None,
    typer.Option(metavar="EXPR", rich_help_panel=DATA, help="Use only rows for which this holds: 'year >= 1900'."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        autocompletion=column_names,
        help="Contexts with the same value (a speaker; or first,last) are one unit of inference.",
    ),
]
EqualClusters = Annotated[
    bool, typer.Option("--equal-clusters", help="Let clusters weigh the same, whatever their size.")
]
WindowSize = Annotated[
    str | None,
    typer.Option("--window", metavar="N|B,A", help="Words each side; the transform's own if left out, else 10."),
]
ValueKind = Annotated[
    Literal["glob", "regex", "fixed"],
    typer.Option("--match", help="What patterns are: * and ? over whole words, regular expressions, or words."),
]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV too.")]
PaperTable = Annotated[
    Path | None, typer.Option("--table", metavar="FILE", help="Write the table as papers print it: .tex or .md.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .pdf or .svg.")]
Seed = Annotated[int, typer.Option(help="The same seed, the same numbers.")]
Level = Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of the intervals.")]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Let --formula and --where run any Python they hold; otherwise refused.")
]
CompatOption = Annotated[
    Literal["conText"] | None, typer.Option(help="Decide as R's conText does where we differ on purpose.")
]


def open_table(data: Path, where: str | None, allow_code: bool = False) -> Any:
    """A pandas frame, with the rows asked for."""
    from alacarte.regression import read_table
    from alacarte.regression.formulas import check_condition

    frame = read_table(data)
    detail(f"{data}: {len(frame):,} rows; columns {', '.join(map(str, frame.columns))}")
    if where is None:
        return frame
    if not allow_code:
        check_condition(where)
    try:
        chosen = frame.query(where)
    except Exception as error:  # whatever pandas makes of a wrong expression
        raise BadCorpus(f"--where {where!r} cannot be evaluated: {error}") from None
    if not len(chosen):
        raise BadCorpus(f"--where {where!r} leaves none of {len(frame):,} rows; check the values of the column")
    return chosen


def is_table(path: str) -> bool:
    """Whether a file is a table, by the ending of its name.

    >>> is_table("speeches.csv.gz"), is_table("news.txt")
    (True, False)
    """
    return bool({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"} & {end.lower() for end in Path(path).suffixes})


def one_kind(
    words: list[str] | None, globs: list[str] | None, regexes: list[str] | None
) -> tuple[list[str], Literal["fixed", "glob", "regex"]]:
    """(what was named, of which kind it is), where all must be of one kind.

    >>> one_kind(None, ["immigr*"], None)
    (['immigr*'], 'glob')
    """
    given: list[tuple[list[str], Literal["fixed", "glob", "regex"]]]
    given = [(words or [], "fixed"), (globs or [], "glob"), (regexes or [], "regex")]
    given = [(named, kind) for named, kind in given if named]
    if len(given) != 1:
        problem = "these cannot be mixed here" if given else "no word is given"
        raise typer.BadParameter(f"{problem}; pass --word WORD, or --glob PATTERN, or --regex PATTERN")
    return given[0]


def columns_of(cluster: str | None) -> str | list[str] | None:
    """
    >>> columns_of("speaker"), columns_of("first,last")
    ('speaker', ['first', 'last'])
    """
    return cluster.split(",") if cluster is not None and "," in cluster else cluster


def check_study(ctx: typer.Context, plot: Path | None, table: Path | None = None) -> None:
    """Raise unless the tables and the figure may be written where --csv, --plot and --table say."""
    tables = [name for name in ("csv", "table", "out") if name in ctx.params]
    check_outputs(ctx, plot=FIGURE, **dict.fromkeys(tables))
    if table is not None and table.suffix.lower() not in (".tex", ".md"):
        raise AlacarteError(f"{table}: tables for papers end in .tex or .md; choose one of these")
    if plot is not None and plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise AlacarteError(f"{plot}: figures end in .png, .pdf or .svg; choose one of these")


def show_table(table: "Table", as_json: bool, title: str | None = None) -> None:
    if as_json:
        show_json(table.to_dict())
        return
    names, rows, _ = table.cells(SHOWN)
    show_columns(names, rows[:SHOWN], title)
    if len(table) > SHOWN:
        note(f"{len(table) - SHOWN:,} more rows; --csv FILE keeps all")


def write_csv(frame: Any, path: Path | None) -> None:
    from alacarte._io.files import atomic_write
    from alacarte._io.printing import guarded, map_text, quoting

    if path is None:
        return
    with atomic_write(path) as file:
        safe = map_text(frame, guarded)
        quoted = quoting(cell for name in safe.columns for cell in safe[name])
        file.write(safe.to_csv(index=False, quoting=quoted).encode())
    wrote(path)


def write_paper_table(table: "ModelTable", path: Path | None) -> None:
    """A table in LaTeX or Markdown, as its name says."""
    from alacarte._io.files import atomic_write

    if path is None:
        return
    with atomic_write(path) as file:
        file.write(((table.to_latex() if path.suffix.lower() == ".tex" else table.to_markdown()) + "\n").encode())
    wrote(path)


def write_plot(axes: Any, path: Path | None) -> None:
    from alacarte._io.figures import save_figure

    if path is not None:
        save_figure(axes, path)
        wrote(path)
