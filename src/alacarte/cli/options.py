"""The options that several commands share, each declared once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from alacarte._io import progress
from alacarte.cli.completing import column_names, format_names, model_names, tokenizer_names, vector_names
from alacarte.cli.output import voice

CORPUS = "The corpus"
CONTEXTS = "How contexts are read"
MATRIX = "How the matrix is learned"
VECTORS = "The vectors"
WORK = "Large corpora"
TARGETS = "Which words"


def _set_verbosity(value: bool | None) -> bool | None:
    if value is not None:
        voice.verbose, voice.quiet = value, not value
        progress.silent = not value
    return value


# ---------------------------------------------------------------------------------------------------- general

Verbosity = Annotated[
    bool | None,
    typer.Option(
        "--verbose/--quiet",
        "-v/-q",
        callback=_set_verbosity,
        show_default=False,
        help="Say more (and show tracebacks), or nothing but results and errors.",
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace files that are there, whatever they are; without it, only what alacarte wrote."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]
Force = Annotated[
    bool, typer.Option("--force", help="Use a transform with vectors or sums it does not know. For experts.")
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=WORK, help="Threads to use; as many as there are cores if left out."),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", rich_help_panel=WORK, help="Most memory to use, as in 4GB; no limit if left out."),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=WORK,
        help="Keep the work so far in FILE; the same command goes on from there. Deleted when all is done.",
    ),
]
CheckpointEvery = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", rich_help_panel=WORK, help="How often to write the checkpoint.")
]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        rich_help_panel=WORK,
        help="Read only the I-th of N parts and save its sums (--save-sums), for alc merge to add up.",
    ),
]
K = Annotated[int, typer.Option("--k", "-k", min=1, help="How many neighbours.")]
Among = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Search only the first N words (in most files the most frequent)."),
]

# ---------------------------------------------------------------------------------------------------- vectors

Vectors = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME",
        autocompletion=vector_names,
        help="Word vectors: a file of any common format, or glove.6B.50d; else your default.",
    ),
]
VectorsArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="VECTORS",
        show_default=False,
        autocompletion=vector_names,
        help="A file of any common format, or glove.6B.50d; else your default.",
    ),
]
OtherVectors = Annotated[
    str | None,
    typer.Option(
        "--vectors",
        metavar="FILE|NAME",
        autocompletion=vector_names,
        help="The word vectors, with --transform or if they have moved.",
    ),
]
VectorsFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        rich_help_panel=VECTORS,
        autocompletion=format_names,
        help="Their format, if the content misleads.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", rich_help_panel=VECTORS, help="Read only the first N vectors."),
]
SkipErrors = Annotated[
    bool, typer.Option("--skip-errors", rich_help_panel=VECTORS, help="Leave out rows that cannot be used.")
]
Cache = Annotated[
    bool,
    typer.Option("--cache", rich_help_panel=VECTORS, help="Keep a binary copy, which opens at once next time."),
]
Space = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What to write for spaces in phrases, as in --space _ for gensim."),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        autocompletion=format_names,
        help="Format to write, if the ending of the name does not tell.",
    ),
]

# ------------------------------------------------------------------------------------------------------ model

Model = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|NAME",
        autocompletion=model_names,
        help="A folder made by alc fit, or a transform that ships: glove.6B.50d, glove.6B.50d.window5 …; else your "
        "default (alc config).",
    ),
]
TransformFile = Annotated[
    Path | None,
    typer.Option(
        "--transform",
        metavar="FILE",
        help="Instead of --model: a bare transform (.safetensors, .bin, .npy, .csv, .rds), with --vectors.",
    ),
]
ModelWindow = Annotated[
    str | None,
    typer.Option("--window", metavar="N|B,A", help="With a bare --transform: words each side. 10 if left out."),
]
ModelAveraging = Annotated[
    Literal["occurrence", "token", "context"] | None,
    typer.Option("--averaging", help="With a bare --transform: the average it was learned for."),
]
ModelTokenizer = Annotated[
    str | None,
    typer.Option(
        "--tokenizer", metavar="NAME", autocompletion=tokenizer_names, help="Another tokenizer than the model's."
    ),
]

# --------------------------------------------------------------------------------------------------- contexts

Window = Annotated[
    str,
    typer.Option(metavar="N|B,A", rich_help_panel=CONTEXTS, help="Words each side, or before and after: 10, or 5,10."),
]
Averaging = Annotated[
    Literal["occurrence", "token", "context"],
    typer.Option(rich_help_panel=CONTEXTS, help="What sums are divided by; the paper's is occurrence."),
]
Positions = Annotated[
    str,
    typer.Option(
        metavar="NAME|W,W/W,W",
        rich_help_panel=CONTEXTS,
        help="How weight falls with distance: uniform, linear, inverse, or weights to the left / to the right.",
    ),
]
ContextWeights = Annotated[
    str,
    typer.Option(
        metavar="SPEC",
        rich_help_panel=CONTEXTS,
        help="uniform, sif, sif:1e-3, top:100, stopwords, learned, or @FILE with stop words or words and weights.",
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=CONTEXTS,
        autocompletion=tokenizer_names,
        help="words, words-cased, whitespace, whitespace-lower, authors, authors-lower, jieba, spacy:de.",
    ),
]
Unknown = Annotated[
    Literal["keep", "drop"],
    typer.Option(rich_help_panel=CONTEXTS, help="Whether words without a vector take a place in the window."),
]
SaveSums = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save the context sums too, to merge or learn from again without the text."),
]
Sums = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Use saved context sums instead of a corpus; several are added up."),
]

# ---------------------------------------------------------------------------------------------------- targets

# One way to name a word, in every command: --word W, and for many --words FILE; patterns are --glob and --regex.
Words = Annotated[
    list[str] | None,
    typer.Option(
        "--word",
        "-w",
        metavar="WORD",
        rich_help_panel=TARGETS,
        help='A word or phrase, as in "new york"; repeat for more.',
    ),
]
Word = Annotated[str, typer.Option("--word", "-w", metavar="WORD", help="The word or phrase.")]
WordFiles = Annotated[
    list[Path] | None,
    typer.Option("--words", metavar="FILE", rich_help_panel=TARGETS, help="A file with a word or phrase a line."),
]
Globs = Annotated[
    list[str] | None,
    typer.Option("--glob", metavar="PATTERN", rich_help_panel=TARGETS, help='All words that match, as one: "immigr*".'),
]
Regexes = Annotated[
    list[str] | None,
    typer.Option(
        "--regex", metavar="PATTERN", rich_help_panel=TARGETS, help='The same with a regular expression: "^un".'
    ),
]
AllSpans = Annotated[
    bool, typer.Option("--spans", rich_help_panel=TARGETS, help="Every label of the documents' annotated spans.")
]
SpanLabels = Annotated[
    list[str] | None,
    typer.Option(metavar="LABEL", rich_help_panel=TARGETS, help="One label of annotated spans; repeat for more."),
]

# ----------------------------------------------------------------------------------------------------- corpus

CorpusPaths = Annotated[
    list[str] | None,
    typer.Argument(metavar="CORPUS", show_default=False, help="Text, as with --corpus."),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE", show_default=False, help="Text: a file, folder, archive, glob, URL, or - for stdin."
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="Of a concordance, only documents with 'party=D', 'party=D|R', 'date>=2001-01-01', 'date=' (no date) …; "
        "repeat it: all must hold.",
    ),
]
Corpora = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        rich_help_panel=CORPUS,
        help="Text: a file, folder, archive, glob, URL (s3://…), or - for stdin; repeat it for more.",
    ),
]
Manifests = Annotated[
    list[Path] | None,
    typer.Option(
        "--manifest",
        metavar="FILE",
        rich_help_panel=CORPUS,
        help="A file that lists text, a path or URL a line; repeat it for more.",
    ),
]
Unit = Annotated[
    Literal["line", "paragraph", "file"],
    typer.Option(rich_help_panel=CORPUS, help="What a document is in plain text; no window crosses its border."),
]
CorpusFormat = Annotated[
    Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow"] | None,
    typer.Option("--format", rich_help_panel=CORPUS, help="Format of the files, if their names do not tell."),
]
TextColumn = Annotated[
    str,
    typer.Option(
        "--text",
        metavar="COLUMN",
        rich_help_panel=CORPUS,
        autocompletion=column_names,
        help="Field or column with the text.",
    ),
]
TokensColumn = Annotated[
    str,
    typer.Option(
        "--tokens",
        metavar="COLUMN",
        rich_help_panel=CORPUS,
        autocompletion=column_names,
        help="Field with ready-made tokens.",
    ),
]
SpansColumn = Annotated[
    str,
    typer.Option(
        "--spans-column",
        metavar="COLUMN",
        rich_help_panel=CORPUS,
        help="Field with spans (start, end, label).",
    ),
]
Encoding = Annotated[str, typer.Option(rich_help_panel=CORPUS, help="Encoding of the text.")]
Errors = Annotated[
    Literal["strict", "replace"],
    typer.Option(rich_help_panel=CORPUS, help="What to do with bytes that do not decode."),
]
