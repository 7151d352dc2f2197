"""From what was typed to what the library takes."""

import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from alacarte.cli.config import default
from alacarte.cli.output import detail, show_json, show_line, voice, wrote
from alacarte.errors import AlacarteError

if TYPE_CHECKING:
    from alacarte.contexts.reading import Averaging
    from alacarte.contexts.sums import ContextSums
    from alacarte.model import ALaCarte
    from alacarte.targets.targets import Targets
    from alacarte.text.corpus import Corpus
    from alacarte.vectors.word_vectors import WordVectors


# ------------------------------------------------------------------------------------------------------ parse


def parse_window(text: str) -> tuple[int, int]:
    """
    >>> parse_window("10"), parse_window("5,10")
    ((10, 10), (5, 10))
    """
    try:
        sides = [int(part) for part in text.split(",")]
        before, after = sides * 2 if len(sides) == 1 else sides
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a number of words nor two, as in 5,10", param_hint="--window"
        ) from None
    return before, after


def listed_targets(
    words: Iterable[str] | None,
    files: Iterable[Path] | None = None,
    globs: Iterable[str] | None = None,
    regexes: Iterable[str] | None = None,
    labels: Iterable[str] | None = None,
    any_label: bool = False,
) -> "Targets":
    """The targets that --word, --words, --glob, --regex, --span and --spans name.

    >>> listed_targets(["new york"], globs=["immigr*"])
    Targets(2: 'new york', 'immigr*')
    """
    from alacarte.targets.targets import Targets

    listed = Targets(words or ())
    for file in files or ():
        listed = listed | Targets.from_file(file)
    listed = listed | Targets.glob(globs or ()) | Targets.regex(regexes or ()) | Targets.spans(labels or ())
    return listed | Targets.spans() if any_label else listed


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """
    >>> parse_shard("2/8")
    (2, 8)
    """
    if text is None:
        return None
    try:
        part, parts = (int(number) for number in text.split("/"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not as in 2/8", param_hint="--shard") from None
    if not 1 <= part <= parts:
        raise typer.BadParameter(f"{text!r}: parts are numbered from 1 to {parts}", param_hint="--shard")
    return part, parts


def open_shard(ctx: typer.Context, shard: str | None, save_sums: Path | None, *refused: str) -> tuple[int, int] | None:
    """Which part of the text to read; with a part, some options make no sense, and its sums must go somewhere."""
    part = parse_shard(shard)
    if part is not None:
        refuse(ctx, "a shard only saves its sums; go on from all of them, with --sums", *refused)
        if save_sums is None:
            raise typer.BadParameter("--shard needs --save-sums FILE, where the sums of this part go")
    return part


def finish_shard(shard: str, sums: "ContextSums", as_json: bool) -> None:
    """What to say when one of several parts is done."""
    if as_json:
        show_json({"shard": shard, "documents": sums.documents, "tokens_read": sums.tokens_read})
    elif not voice.quiet:
        show_line(
            f"Part {shard} is done: {sums.tokens_read:,} tokens in {sums.documents:,} documents. "
            "When all are: alc merge, then this command with --sums."
        )


def detail_memory() -> None:
    from alacarte.passes.memory import peak_memory

    peak = peak_memory()
    if peak is not None:
        detail(f"peak memory so far: {peak / 1e9:.2f} GB")


def forget(checkpoint: Path | None) -> None:
    """The results are safe, so the work that led to them need not be kept."""
    from alacarte.passes.checkpoint import delete_checkpoint

    if checkpoint is not None:
        delete_checkpoint(checkpoint)


def parse_ridge(text: str) -> float | Literal["loo"]:
    """
    >>> parse_ridge("loo"), parse_ridge("0.5")
    ('loo', 0.5)
    """
    if text == "loo":
        return "loo"
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor loo", param_hint="--ridge") from None


def parse_lengths(text: str) -> list[int]:
    """
    >>> parse_lengths("1,2")
    [1, 2]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not as in 1,2", param_hint="--ngrams") from None


def parse_context_weights(text: str) -> object:
    """A specification as it is; `@FILE` as the words or the word → weight table in it."""
    if not text.startswith("@"):
        return text
    lines = read_list(Path(text[1:]))
    if "\t" not in lines[0]:
        return lines
    try:
        pairs = [line.split("\t") for line in lines]
        return {word: float(weight) for word, weight in pairs}
    except ValueError:
        raise AlacarteError(
            f"{text[1:]}: write a stop word a line, or a word, a tab and its weight on every line"
        ) from None


def read_list(path: Path) -> list[str]:
    """The lines of a file, less blank ones and repetitions."""
    from alacarte.targets.targets import Targets

    return list(Targets.from_file(path))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file, completely or not at all."""
    from alacarte._io.files import atomic_write

    with atomic_write(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
    wrote(path)


def refuse(ctx: typer.Context, reason: str, *names: str, panels: Container[str] = ()) -> None:
    """Options that would have no effect are an error and not ignored: those named, and all of some panels of --help."""
    typed = []
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        listed = parameter.name in names or getattr(parameter, "rich_help_panel", None) in panels
        if listed and source is not None and source.name == "COMMANDLINE":
            typed.append(parameter.opts[0])
    if typed:
        raise typer.BadParameter(f"{', '.join(typed)}: {reason}")


# ------------------------------------------------------------------------------------------------------- open


def open_vectors(
    source: str | None,
    *,
    format: str | None = None,
    limit: int | None = None,
    skip_errors: bool = False,
    cache: bool = False,
    trust: bool = False,
) -> "WordVectors":
    from alacarte.vectors.word_vectors import WordVectors

    if source is None:
        source = default("vectors", "no vectors are given; name a file, or glove.6B.50d")
    path = Path(source).expanduser()
    # A whole path, so that a saved model finds its vectors from any folder.
    where = os.fspath(path.resolve()) if path.exists() else source
    vectors = WordVectors.load(
        where, format=format, limit=limit, on_error="skip" if skip_errors else "raise", cache=cache, trust=trust
    )
    detail(f"{vectors!r}")
    return vectors


def open_corpus(
    paths: Iterable[str],
    *,
    unit: Literal["line", "paragraph", "file"] = "line",
    format: Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow"] | None = None,
    text: str = "text",
    tokens: str = "tokens",
    spans: str = "spans",
    columns: Sequence[str] = (),
    encoding: str = "utf-8",
    errors: str = "strict",
    manifests: Iterable[Path] | None = None,
    where: Sequence[str] | None = None,
) -> "Corpus":
    """The text that was named; `where` chooses documents of a concordance."""
    from alacarte.text.corpus import Corpus
    from alacarte.text.sources import find_files, find_listed

    places, lists = list(paths), list(manifests or ())
    if not places and not lists:
        raise typer.BadParameter("no text is given; name a file, or - for standard input")
    if "-" in places and len(places) + len(lists) > 1:
        raise typer.BadParameter("- (standard input) cannot be mixed with files; use `cat` to join them")
    if len(places) == 1 and not lists and Path(places[0]).is_dir():
        from alacarte.concordance import Concordance, is_concordance  # which takes a while to import

        if is_concordance(places[0]):
            return Corpus(Concordance(places[0]).where(*where or ()))
    if where:
        raise typer.BadParameter("--where chooses documents of a concordance; make one with alc concordance build")
    source: Any = "-"
    if places != ["-"]:
        listed = [*map(find_files, places), *map(find_listed, lists)]
        source = [file for files in listed for file in files]
    corpus = Corpus(
        source,
        unit=unit,
        format=format,
        text=text or None,
        tokens=tokens or None,
        spans=spans or None,
        columns=columns,
        encoding=encoding,
        errors=errors,
    )
    detail(f"{corpus!r}")
    return corpus


def open_model(
    model: str | None,
    *,
    vectors: str | None = None,
    transform: Path | None = None,
    window: str | None = None,
    averaging: "Averaging | None" = None,
    tokenizer: str | None = None,
    force: bool = False,
) -> "ALaCarte":
    """A saved model, a pretrained one, or a bare transform with vectors; the default model if none is named."""
    if model is not None and transform is not None:
        raise typer.BadParameter("pass either --model DIR|NAME, or --transform FILE with --vectors")
    if transform is not None:
        if vectors is None:
            vectors = default("vectors", "--transform needs the vectors it belongs to; pass --vectors FILE|NAME")
        return _with_transform(open_vectors(vectors), transform, window, averaging, tokenizer, force)
    if window is not None or averaging is not None:
        raise typer.BadParameter("--window and --averaging are the model's own; they go with --transform only")
    from alacarte._io.remote import url_of
    from alacarte.model import ALaCarte, pretrained_names

    given_vectors = None if vectors is None else open_vectors(vectors)
    if model is None:
        model = default("model", "no model is given; pass --model DIR|NAME, or --transform FILE with --vectors")
    folder = Path(model).expanduser()
    if folder.is_dir() or url_of(model) is not None:
        opened = ALaCarte.load(
            folder if folder.is_dir() else model, vectors=given_vectors, tokenizer=tokenizer, check=not force
        )
    elif model in pretrained_names():
        opened = ALaCarte.pretrained(model, vectors=given_vectors, tokenizer=tokenizer, check=not force)
    else:
        names = ", ".join(pretrained_names()) or "none"
        raise AlacarteError(
            f"{model}: neither a folder with a saved model nor a transform that ships ({names}); make one "
            "with `alc fit --vectors … --corpus … --out DIR`"
        )
    detail(f"{opened!r}")
    return opened


def _with_transform(
    vectors: "WordVectors",
    file: Path,
    window: str | None,
    averaging: "Averaging | None",
    tokenizer: str | None,
    force: bool,
) -> "ALaCarte":
    from alacarte.contexts.reading import Reading
    from alacarte.model import ALaCarte
    from alacarte.transform.transform import Transform

    bare = file.suffix.lower() == ".bin"
    loaded = Transform.load(file, dimension=vectors.dimension if bare else None, averaging=averaging)
    if window is not None:
        before, after = parse_window(window)
        settings = loaded.settings or Reading()
        loaded = replace(loaded, settings=replace(settings, left=before, right=after))
    return ALaCarte(vectors, loaded, tokenizer=tokenizer, check=not force)


def open_sums(files: Iterable[Path], *, repeated: bool = False) -> "ContextSums":
    """The sum of some files of sums; `repeated` counts text that is in two of them twice."""
    from alacarte._io.remote import url_of
    from alacarte.contexts.sums import ContextSums, merge

    files = list(files)
    for file in files:
        if url_of(file) is None and not file.exists():
            raise AlacarteError(f"{file}: no such file; `alc fit` and `alc induce` make one with --save-sums FILE")
    return merge([ContextSums.load(file) for file in files], repeated=repeated)
