"""Turn what was typed into what the library takes."""

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from alacarte._io.files import atomic_write
from alacarte._io.options import described
from alacarte._io.urls import display_name, local_path, sibling, url_of
from alacarte.cli.options import InducedTargets, ModelOptions, NamedWords, Patterns
from alacarte.cli.output import detail, note_written, show, voice
from alacarte.errors import AlacarteError

if TYPE_CHECKING:
    from alacarte.contexts.reading import Reading, ReadingOptions
    from alacarte.contexts.sums import ContextSums
    from alacarte.model import ALaCarte
    from alacarte.passes.work import Work, WorkOptions
    from alacarte.targets.targets import Targets
    from alacarte.text.corpus import Corpus
    from alacarte.text.options import CorpusOptions
    from alacarte.transform.transform import Transform
    from alacarte.vectors.word_vectors import WordVectors


MATRICES = {".safetensors", ".bin", ".npy", ".csv", ".rds", ".rda"}

# ------------------------------------------------------------------------------------------------------ parse


def parse_window(text: str) -> dict[str, int]:
    """Return the words before and after, as fields of `Reading`.

    >>> parse_window("10"), parse_window("5,10")
    ({'left': 10, 'right': 10}, {'left': 5, 'right': 10})
    """
    sides = _whole_numbers(text.split(","), (1, 2), "--window", "one number of words or two, as in 5,10")
    return {"left": sides[0], "right": sides[-1]}


def typed_sides(text: str | None) -> tuple[int, int] | None:
    """Return the words before and after, if they are given.

    >>> typed_sides("5,10")
    (5, 10)
    """
    return None if text is None else (parse_window(text)["left"], parse_window(text)["right"])


def number_or_text(text: str) -> float | str:
    """Return the number that a text spells, or the text, which may be the name of a choice.

    >>> number_or_text("log"), number_or_text("100")
    ('log', 100.0)
    """
    try:
        return float(text)
    except ValueError:
        return text


def _whole_numbers(parts: Sequence[str], lengths: Container[int], option: str, form: str) -> list[int]:
    if len(parts) not in lengths or not all(part.strip().isdecimal() for part in parts):
        raise typer.BadParameter(f"write {form}", param_hint=option)
    return list(map(int, parts))


def listed_targets(named: NamedWords | Patterns | InducedTargets) -> "Targets":
    """Return the targets that --word, --words, --glob, --regex and --span name.

    >>> listed_targets(Patterns(["new york"], ["immigr*"]))
    Targets(2: 'new york', 'immigr*')
    """
    from alacarte.targets.targets import Targets

    listed = Targets(named.word or ())
    for file in getattr(named, "words", None) or ():
        listed = listed | Targets.from_file(file)
    if isinstance(named, Patterns):
        listed = listed | Targets.glob(named.glob or ()) | Targets.regex(named.regex or ())
    if isinstance(named, InducedTargets):
        labels = named.span or []
        listed = listed | Targets.spans([label for label in labels if label != "*"])
        return listed | Targets.spans() if "*" in labels else listed
    return listed


def named_targets(named: Patterns) -> "Targets":
    """Return the targets that --word, --glob and --regex name, of which there must be one."""
    if named == Patterns():
        raise typer.BadParameter("no word is given; pass --word WORD, --glob PATTERN or --regex PATTERN")
    return listed_targets(named)


def parse_shard(text: str) -> tuple[int, int]:
    """Return the number of a part and of all parts.

    >>> parse_shard("2/8")
    (2, 8)
    """
    part, parts = _whole_numbers(text.split("/"), (2,), "--shard", "the number of a part and of all parts, as in 2/8")
    return part, parts


def check_shard(work: "Work", save_sums: Path | None, out: Path | None, *refused: str) -> None:
    """Raise unless there is a place for the result or, with --shard, for the sums of a part of the text."""
    if work.shard is not None:
        refuse("a shard only saves its sums; go on from all of them, with --sums", "out", *refused)
        if save_sums is None:
            raise typer.BadParameter("--shard needs --save-sums FILE, where the sums of this part go")
    elif out is None:
        raise typer.BadParameter("say where the result goes with --out")


def save_sums_to(path: Path | None, sums: "ContextSums") -> None:
    """Save sums, if there is a file to save them to."""
    if path is not None:
        sums.save(path)
        note_written(path)


def finish_shard(work: "Work", sums: "ContextSums") -> None:
    """Say that one of several parts is done."""
    part, parts = work.shard or (1, 1)
    show(
        {"shard": f"{part}/{parts}", "documents": sums.documents, "tokens_read": sums.tokens_read},
        f"Part {part}/{parts} is done: {sums.tokens_read:,} tokens in {sums.documents:,} documents. "
        "When all are: alc merge, then this command with --sums.",
        summary=True,
    )


def parse_lengths(text: str) -> tuple[int, ...]:
    """Return lengths of n-grams.

    >>> parse_lengths("1,2")
    (1, 2)
    """
    return tuple(_whole_numbers(text.split(","), range(1, 10), "--ngrams", "lengths of n-grams, as in 1,2"))


def parse_context_weights(text: str) -> object:
    """Return a specification as it is, and `@FILE` as the words or the word → weight table in it."""
    if not text.startswith("@"):
        return text
    lines = read_list(text[1:])
    return read_numbers(text[1:]) if "\t" in lines[0] else lines


def read_numbers(file: str | os.PathLike[str]) -> dict[str, float]:
    """Return the name → number table in a file: of words and weights, or of sense keys and counts."""
    try:
        return {name: float(number) for name, number in (line.split("\t") for line in read_list(os.fspath(file)))}
    except ValueError:
        raise AlacarteError(
            f"{os.fspath(file)}: a line is not a name, a tab and a number; write each line so, or, for stop words, "
            "one word per line alone"
        ) from None


def keywords_of_reading(reading: "Reading") -> "ReadingOptions":
    """Return how contexts are read, as keywords of `collect`."""
    return {
        "window": (reading.left, reading.right),
        "averaging": reading.averaging,
        "positions": reading.positions,
        "context_weights": parse_context_weights(reading.weights),
        "tokenizer": reading.tokenizer,
        "unknown": reading.unknown,
    }


def keywords_of_work(work: "Work") -> "WorkOptions":
    """Return how a pass is run, as keywords of `collect`."""
    return {name: getattr(work, name) for name in described(type(work))} | {"show_progress": voice.progress}  # type: ignore[return-value]


def read_list(path: str) -> list[str]:
    """Return the lines of a file, less blank ones and repetitions."""
    from alacarte.targets.targets import Targets

    return list(Targets.from_file(path))


def read_places(file: str) -> list[str]:
    """Return the places that a list names, which are below its own folder or, of a list at a URL, on its own host."""
    path, url, places = local_path(file), url_of(file) or "", []
    folder = (path or Path()).parent
    for line in read_list(file):
        if path is None:
            place = url_of(line) or sibling(url, line)
            inside = not line.startswith("/") and place.split("/")[:3] == url.split("/")[:3]
        else:
            place = os.fspath(folder / line)
            inside = url_of(line) is None and Path(place).resolve().is_relative_to(folder.resolve())
        if not inside:
            raise AlacarteError(
                f"{display_name(file)} lists {display_name(line)!r}; a list names files below its own folder and, if "
                "it is at a URL, URLs of its own host. Name others on the command line"
            )
        places.append(place)
    return places


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file, completely or not at all."""
    with atomic_write(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
    note_written(path)


def typed_options(*what: str | type) -> list[str]:
    """Return those of some options, named one by one or by their record, that the command line has."""
    names = {item for item in what if isinstance(item, str)}
    names |= {item.name or name for kind in what if isinstance(kind, type) for name, item in described(kind).items()}
    context = voice.context
    parameters = [] if context is None else [item for item in context.command.params if item.name in names]
    sources = {item.opts[0]: context.get_parameter_source(item.name or "") for item in parameters if context}
    return [option for option, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def refuse(reason: str, *what: str | type) -> None:
    """Raise if the command line has any of some options, which would have no effect."""
    options = typed_options(*what)
    if options:
        raise typer.BadParameter(f"{', '.join(options)}: {reason}")


def only_one(*what: str) -> None:
    """Raise if the command line has two of some options, of which each says what to do."""
    options = typed_options(*what)
    if len(options) > 1:
        raise typer.BadParameter(f"{' and '.join(options)} do not go together; leave one of them out")


# ------------------------------------------------------------------------------------------------------- open


def open_vectors(
    source: str | None,
    *,
    format: str | None = None,
    limit: int | None = None,
    skip_errors: bool = False,
    trust: bool = False,
) -> "WordVectors":
    """Return the vectors that were named."""
    from alacarte.vectors.word_vectors import WordVectors

    if source is None:
        raise typer.BadParameter("no vectors are given; name a file or glove.6B.50d, or set ALC_VECTORS")
    path = Path(source).expanduser()
    # A whole path, so that a saved model finds its vectors from any folder.
    where = os.fspath(path.resolve()) if path.exists() else source
    on_error = "skip" if skip_errors else "raise"
    vectors = WordVectors.load(where, format=format, limit=limit, on_error=on_error, trust=trust)
    detail(f"{vectors!r}")
    return vectors


def open_corpus(
    paths: Iterable[str],
    options: "CorpusOptions | None" = None,
    *,
    columns: Sequence[str] = (),
    where: Sequence[str] | None = None,
) -> "Corpus":
    """Return the text that was named; `where` chooses documents of a concordance."""
    from alacarte.text.corpus import Corpus
    from alacarte.text.options import CorpusOptions
    from alacarte.text.sources import find_files

    options = options or CorpusOptions()
    places = [name for path in paths for name in (read_places(path[1:]) if path.startswith("@") else [path])]
    if not places:
        raise typer.BadParameter("no text is given; name a file, or - for standard input")
    if "-" in places and len(places) > 1:
        raise typer.BadParameter("- (standard input) cannot be mixed with files; use `cat` to join them")
    if len(places) == 1 and Path(places[0]).is_dir():
        from alacarte.concordance import Concordance, is_concordance  # which takes a while to import

        if is_concordance(places[0]):
            return Corpus(Concordance(places[0]).where(*where or ()))
    if where:
        raise typer.BadParameter("--where chooses documents of a concordance; make one with alc concordance build")
    source: Any = "-"
    if places != ["-"]:
        listed = [find_files(place) for place in places]
        source = [file for files in listed for file in files]
    named = {item.name: getattr(options, item.name) or None for item in fields(options) if item.name != "columns"}
    corpus = Corpus(source, columns=columns, **named)  # type: ignore[arg-type]
    detail(f"{corpus!r}")
    return corpus


def is_matrix(model: str) -> bool:
    """Whether --model names a file with a bare matrix."""
    place = Path(model).expanduser()
    return not place.is_dir() and (place.is_file() or place.suffix.lower() in MATRICES)


def open_model(options: ModelOptions, *, check: bool = True) -> "ALaCarte":
    """Return a saved model, one that ships, or a bare matrix with vectors."""
    from alacarte.model import ALaCarte

    if options.model is None:
        raise typer.BadParameter("no model is given; pass --model DIR|NAME, or set ALC_MODEL")
    place = Path(options.model).expanduser()
    vectors = None if options.vectors is None else open_vectors(options.vectors)
    if is_matrix(options.model):
        if vectors is None:
            raise typer.BadParameter(f"{place} is a bare matrix; pass the --vectors that it belongs to")
        opened = ALaCarte(vectors, load_matrix(options.model, vectors), check=check)
    elif place.is_dir() or url_of(options.model) is not None:
        folder = place if place.is_dir() else options.model
        opened = ALaCarte.load(folder, vectors=vectors, check=check)
    else:
        opened = ALaCarte.pretrained(options.model, vectors=vectors, check=check)
    detail(f"{opened!r}")
    return opened


def load_matrix(file: str | Path, vectors: "WordVectors", **options: Any) -> "Transform":
    """Return a bare matrix as a transform of vectors, whose dimension files without a header do not say."""
    from alacarte.transform.transform import Transform

    bare = Path(file).suffix.lower() == ".bin"
    return Transform.load(file, dimension=vectors.dimension if bare else None, **options)


def open_sums(files: Iterable[Path]) -> "ContextSums":
    """Return the sum of some files of sums."""
    from alacarte.contexts.merging import merge
    from alacarte.contexts.sums import ContextSums

    files = list(files)
    for file in files:
        if url_of(file) is None and not file.exists():
            raise AlacarteError(f"{file}: no such file; `alc fit` and `alc induce` make one with --save-sums FILE")
    return merge([ContextSums.load(file) for file in files])
