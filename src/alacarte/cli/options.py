"""The options that belong to the command line alone, each declared once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from alacarte._io import progress
from alacarte._io.options import option
from alacarte.cli.output import voice

TARGETS = "Which words"


class Writes(NamedTuple):
    """What an option names: a file or folder that the command writes, and of which kind it is."""

    kind: str | None = None
    folder: bool = False


def _set_verbosity(value: bool | None) -> bool | None:
    if value is not None:
        voice.verbose, voice.quiet = value, not value
        progress.silent = not value
    return value


# ------------------------------------------------------------------------------------------- options of every command

Verbosity = Annotated[
    bool | None,
    typer.Option(
        "--verbose/--quiet",
        "-v/-q",
        callback=_set_verbosity,
        show_default=False,
        help="Say more, or nothing but results.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files, whatever they are; without it, only our own.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]
K = Annotated[int, typer.Option("--k", "-k", min=1, help="How many neighbours.")]
AMONG_HELP = "Search only the first N words (in most files the most frequent)."
Among = Annotated[int | None, typer.Option(min=1, metavar="N", help=AMONG_HELP)]
Level = Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of the intervals.")]
Seed = Annotated[int, typer.Option(help="The same seed, the same numbers.", min=0)]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV; - is stdout."), Writes()]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .pdf or .svg."), Writes("figure")]

# ------------------------------------------------------------------------------------------------- models and vectors


@dataclass(frozen=True)
class ModelOptions:
    """Which model a command uses."""

    model: str | None = option(
        None,
        "A folder made by alc fit, a model that ships (glove.6B.50d, glove.6B.50d.plain, …), or a bare matrix "
        "with --vectors; else $ALC_MODEL.",
        metavar="DIR|NAME|FILE",
    )
    vectors: str | None = option(
        None, "The word vectors, if they have moved or --model is a bare matrix.", metavar="FILE|NAME"
    )


VectorsOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME",
        envvar="ALC_VECTORS",
        show_envvar=False,
        help="Word vectors: a file of any common format, or glove.6B.50d; else $ALC_VECTORS.",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Read only the first N vectors.")]
SkipErrors = Annotated[bool, typer.Option("--skip-errors", help="Leave out rows of the vectors that cannot be used.")]

# --------------------------------------------------------------------------------------------------------------- text

CorpusPaths = Annotated[
    list[str] | None, typer.Argument(metavar="CORPUS", show_default=False, help="Text, as with --corpus.")
]
Corpora = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        rich_help_panel="The corpus",
        help="Text: a file, folder, archive, glob, URL (s3://…), a concordance, @FILE with one of these per line, or - "
        "for stdin; repeat it for more.",
    ),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE", show_default=False, help="Text: a file, folder, archive, glob, URL, or - for stdin."
    ),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        rich_help_panel="The corpus",
        help="Of a concordance, only documents with 'party=D', 'party=D|R', 'date>=2001-01-01', 'date=' (no date) …; "
        "repeat it: all must hold.",
    ),
]
SaveSums = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save the context sums too, to merge or learn from again without the text."),
    Writes("context sums"),
]
Sums = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Use saved context sums instead of a corpus; several are added up."),
]

# -------------------------------------------------------------------------------------------------------------- words

# One way to name a word, in every command: --word W, and for many --words FILE; patterns are --glob and --regex.
WORD_HELP = 'A word or phrase, as in "new york"; repeat for more.'


@dataclass(frozen=True)
class NamedWords:
    """Words and phrases, named one by one or in files."""

    word: list[str] | None = option(None, WORD_HELP, short="-w", metavar="WORD", panel=TARGETS)
    words: list[Path] | None = option(None, "A file with one word or phrase per line.", metavar="FILE", panel=TARGETS)


@dataclass(frozen=True)
class Patterns:
    """Words, phrases and patterns."""

    word: list[str] | None = option(None, WORD_HELP, short="-w", metavar="WORD", panel=TARGETS)
    glob: list[str] | None = option(None, 'All words that match, as one: "immigr*".', metavar="PATTERN", panel=TARGETS)
    regex: list[str] | None = option(
        None, 'The same with a regular expression: "^un".', metavar="PATTERN", panel=TARGETS
    )


@dataclass(frozen=True)
class InducedTargets(Patterns):
    """All that `alc induce` can give a vector to."""

    words: list[Path] | None = option(None, "A file with one word or phrase per line.", metavar="FILE", panel=TARGETS)
    span: list[str] | None = option(
        None, 'A label of annotated spans; "*" is every label; repeat for more.', metavar="LABEL", panel=TARGETS
    )
    discover: bool = option(
        False,
        "What is frequent in the corpus and has no vector; of n-grams, what scores --min-score (0.4) or more.",
        panel=TARGETS,
    )
    task: list[str] | None = option(
        None, "All n-grams of these documents that have no vector (see --ngrams).", metavar="PATH", panel=TARGETS
    )
    ngrams: tuple[int, ...] = option(
        (1,),
        "With --discover: lengths, as in 1,2; with --task also N, for all up to it.",
        metavar="N,N",
        shown="1",
        panel=TARGETS,
    )
    min_count: int | None = option(
        None, "How frequent: 10 with --discover, 1 with --task.", metavar="N", minimum=1, panel=TARGETS
    )
    min_score: float | None = option(
        None,
        "The least score of phrases (0.4); 0 is all n-grams.",
        metavar="SCORE",
        minimum=0,
        maximum=1,
        panel=TARGETS,
        hidden=True,  # --discover says it
    )
