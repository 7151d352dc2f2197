"""The options that belong to the command line alone, each declared once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from alacarte._io import progress
from alacarte._io.options import Option, option
from alacarte.cli.output import voice

TARGETS, CORPUS = "Which words", "The corpus"


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
OVERWRITE = Option("Replace existing files, whatever they are; without it, only our own.", flag="--overwrite")
JSON = Option("Print JSON on stdout instead of tables.", flag="--json")

# --------------------------------------------------------------------------------------------- options of several ones

K = option(10, "How many neighbours.", flag="--k", short="-k", minimum=1)
AMONG = option(None, "Search only the first N words (in most files the most frequent).", metavar="N", minimum=1)
LEVEL = option(0.95, "The confidence level of intervals.", minimum=0.5, maximum=0.9999)
SEED = option(0, "The same seed, the same numbers.", minimum=0)
THREADS = option(None, "Threads to use; all cores if left out.", metavar="N", minimum=1)
CSV = option(None, "Write the table as CSV; - is stdout.", metavar="FILE", writes="file")
PLOT = option(None, "Draw it: .png, .pdf or .svg.", metavar="FILE", writes="figure")

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


VECTORS = option(
    None,
    "Word vectors: a file of any common format, or glove.6B.50d; else $ALC_VECTORS.",
    metavar="FILE|NAME",
    environment="ALC_VECTORS",
)
LIMIT = option(None, "Read only the first N vectors.", metavar="N", minimum=1)
SKIP_ERRORS = option(False, "Leave out rows of the vectors that cannot be used.", flag="--skip-errors")

# --------------------------------------------------------------------------------------------------------------- text


@dataclass(frozen=True)
class Sources:
    """Where text is."""

    paths: list[str] | None = option(None, "Text, as with --corpus.", metavar="CORPUS", argument=True)
    corpus: list[str] | None = option(
        None,
        "Text: a file, folder, archive, glob, URL (s3://…), a concordance, @FILE with one of these per line, or - "
        "for stdin; repeat it for more.",
        metavar="PATH",
        panel=CORPUS,
    )

    @property
    def places(self) -> list[str]:
        """What was named, in order."""
        return [*(self.corpus or ()), *(self.paths or ())]


FILES = option(None, "Text: a file, folder, archive, glob, URL, or - for stdin.", metavar="FILE", argument=True)
WHERE = option(
    None,
    "Of a concordance, only documents with 'party=D', 'party=D|R', 'date>=2001-01-01', 'date=' (no date) …; "
    "repeat it: all must hold.",
    metavar="CONDITION",
    panel=CORPUS,
)
SAVE_SUMS = option(
    None,
    "Save the context sums too, to merge or learn from again without the text.",
    metavar="FILE",
    writes="context sums",
)
SUMS = option(None, "Use saved context sums instead of a corpus; several are added up.", metavar="FILE")

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
