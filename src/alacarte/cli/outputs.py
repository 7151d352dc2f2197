"""What a command writes, checked before its work starts: nothing that the user has is replaced by accident.

An output is never one of the inputs, nor another output. A file that is there already is replaced if this package wrote
it and says so (an artifact of the same kind, a saved model, a figure), and any other with --overwrite.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import typer

from alacarte._io.files import is_same_file, is_stream
from alacarte._io.uploads import check_writable
from alacarte._io.urls import display_name, locate, url_of
from alacarte.cli.output import voice
from alacarte.errors import AlacarteError, Hint

# The metavars of options whose values may lead to files.
PATH_METAVARS = {"FILE", "DIR", "PATH", "IN", "SUMS", "CORPUS", "VECTORS", "CONCORDANCE", "SPEC"}
OF_VECTORS, INDEX, OF_MODEL, FIGURE = "word vectors", "index", "model", "figure"  # kinds of artifacts
CONCORDANCE, FOLDER = "concordance", "folder of vectors"


class NamedPath(NamedTuple):
    """A file that was named on the command line, and the option as it is typed."""

    option: str
    path: Path


def check_outputs(ctx: typer.Context, kinds: dict[str, str]) -> None:
    """Raise unless everything that a command is going to write may be written.

    `kinds` gives for each parameter the kind of artifact that it names ("model", "figure", …), or "file" for files
    that cannot be recognised as ours.
    """
    outputs: list[NamedPath] = []
    for kind, (option, path) in [(kinds[name], place) for name in kinds for place in _typed(ctx, name)]:
        kind = FOLDER if kind == OF_VECTORS and _is_folder(ctx.params.get("to")) else kind
        for file in _files(path, kind, ctx.params.get("to")):
            for other in outputs:
                same = os.path.realpath(file) == os.path.realpath(other.path) or is_same_file(file, other.path)
                if same and not is_stream(file):
                    raise AlacarteError(
                        f"{file}: both {other.option} and {option} would be written there; name two files"
                    )
            outputs.append(NamedPath(option, file))
        _check_place(path, kind)
        if is_standard_output(path):
            if voice.as_json:
                raise typer.BadParameter(f"--json prints where {option} writes; leave it out, or name a file")
            voice.quiet = voice.silent = True  # whoever reads there wants the file, and nothing else
        if not ctx.params.get("overwrite"):
            _check_replaceable(option, path, kind, ctx)
    for option, path in _inputs(ctx, kinds):
        for output in outputs:
            if not is_stream(output.path) and is_same_file(path, output.path):
                raise AlacarteError(
                    f"{output.path}: is what {option} reads, and {output.option} would write over it; choose another "
                    "file"
                )


def check_file(path: Path | None) -> None:
    """Raise unless a file can be written here."""
    if path is not None:
        _check_place(path, None)


def check_vectors(path: Path, format: str | None, words: Iterable[str] = ("a",)) -> None:
    """Raise unless vectors of these words can be written in this format: tried out somewhere else."""
    from alacarte.vectors.word_vectors import WordVectors

    with TemporaryDirectory() as folder:
        keys = list(words) or ["a"]
        WordVectors(keys, [[1.0]] * len(keys)).save(Path(folder) / path.name, format)


def or_standard_output(path: Any) -> Any:
    """Return the path that was typed; "-" is standard output."""
    return type(path)("/dev/stdout") if os.fspath(path) == "-" else path


def format_for(path: Path | None, format: str | None) -> str | None:
    """Return the format to write vectors in: on standard output TSV, unless another is asked for."""
    return "tsv" if format is None and path is not None and is_standard_output(path) else format


def is_standard_output(path: Path) -> bool:
    """Whether what is written to a path appears where results do."""
    return path.as_posix() in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


# ------------------------------------------------------------------------------------------------------- one output


def _check_place(path: Path, kind: str | None) -> None:
    if kind == FIGURE and path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise AlacarteError(f"{path}: figures end in .png, .pdf or .svg; choose one of these")

    url = url_of(path)
    if url is not None:
        check_writable(url, AlacarteError)
        return
    if kind in (OF_MODEL, CONCORDANCE, FOLDER):
        _check_writable(next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists()))
        return
    if path.is_dir():
        raise AlacarteError(f"{path}: is a folder; name a file in it")
    if is_stream(path):
        return
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise AlacarteError(f"{path}: there is no folder {folder}; make it with `mkdir -p {folder}`")
    _check_writable(folder)


def _check_writable(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise AlacarteError(f"{folder}: is a file; choose a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise AlacarteError(f"{folder}: you may not write here; choose another folder")


def _check_replaceable(option: str, path: Path, kind: str | None, ctx: typer.Context) -> None:

    if kind == OF_MODEL:
        from alacarte.model.saving import check_folder

        check_folder(path)
    if kind in (OF_MODEL, CONCORDANCE):  # which sees to it itself
        return
    for file in _files(path, kind, ctx.params.get("to")):
        if not _size(file) or is_stream(file) or _is_ours(file, kind, path):
            continue
        raise AlacarteError(
            f"{display_name(file)}: is there already, and {option} would replace it; choose another name",
            hint=Hint("", "or pass --overwrite") if "overwrite" in ctx.params else None,
        )


def _size(file: Path) -> int:
    """Return the number of bytes at a path or URL; 0 if there is nothing."""
    try:
        return locate(file).size
    except (AlacarteError, OSError):
        return 0


def _is_ours(file: Path, kind: str | None, output: Path) -> bool:
    """Whether this package can prove that it wrote a file, and that it is of the kind that is going to replace it."""
    from alacarte._io.artifact import kind_of

    if kind == OF_VECTORS and output.suffix.lower() == ".index":
        kind = INDEX
    if kind == FIGURE:
        from alacarte._io.figures import is_our_figure

        return is_our_figure(file)
    if kind == OF_VECTORS and _is_pair(output):
        from alacarte.vectors.formats.npy import is_our_pair

        return is_our_pair(output)
    return kind_of(file) == kind


def _files(path: Path, kind: str | None, format: str | None = None) -> list[Path]:
    """Return the files that an output consists of."""
    if kind == OF_MODEL:
        from alacarte.model import saving

        # A model that is learned again from the vectors in its own folder keeps them.
        return [path / name for name in (saving.MAIN, *saving.FILE_NAMES) if name != saving.VECTORS]
    if kind in (CONCORDANCE, FOLDER):
        return [*path.iterdir()] if path.is_dir() else [path]
    if kind == OF_VECTORS and (_is_pair(path) or format == "npy"):
        from alacarte.vectors.formats.npy import words_path

        return [path, words_path(path)]
    return [path]


def _is_folder(format: str | None) -> bool:
    from alacarte.vectors.formats import FOLDERS

    return format in FOLDERS


def _is_pair(path: Path) -> bool:
    return path.suffix.lower() == ".npy"


# ----------------------------------------------------------------------------------------- what the command line names


def _inputs(ctx: typer.Context, outputs: Iterable[str]) -> Iterator[NamedPath]:
    """Yield every file that an option of this command leads to, but for the outputs."""
    for parameter in ctx.command.params:
        metavar = set((parameter.metavar or "").split("|"))
        if parameter.name is None or parameter.name in outputs or not metavar & PATH_METAVARS:
            continue
        for option, path in _typed(ctx, parameter.name):
            for place in _places_in(os.fspath(path), "SPEC" not in metavar):
                yield from (NamedPath(option, file) for file in _files_behind(place))


def _places_in(typed: str, lists_places: bool) -> Iterator[Path]:
    """Yield what a text leads to: itself; the file in `@FILE` and `sif@FILE`; and, of a list of places, all of them."""
    from alacarte.cli.opening import read_places

    yield Path(typed)
    before, _, file = typed.partition("@")
    if file:
        yield Path(file).expanduser()
    if file and not before and lists_places:
        with suppress(AlacarteError, OSError):  # what is wrong with it is said when it is opened
            yield from map(Path, read_places(file))


def _typed(ctx: typer.Context, name: str) -> Iterator[NamedPath]:
    """Yield what a parameter was given, as paths."""
    value = ctx.params.get(name)
    values: list[Any] = list(value) if isinstance(value, list | tuple) else [] if value is None else [value]
    parameter = next(parameter for parameter in ctx.command.params if parameter.name == name)
    option = parameter.opts[0] if parameter.opts[0].startswith("-") else (parameter.metavar or name)
    for item in values:
        yield NamedPath(option, or_standard_output(Path(item).expanduser()))


def _files_behind(path: Path) -> list[Path]:
    """Return the files that a path, a folder, a pattern or a saved model leads to; none for a name that is no path."""
    from alacarte.text.sources import find_files

    if url_of(path) is not None:  # by its name: listing it takes long
        return [path]
    if (path / "concordance.sqlite").is_file():
        return [*path.iterdir()]
    try:
        files = [Path(str(file)) for file in find_files(path)]
    except (AlacarteError, OSError, ValueError):  # ValueError: a text that is no name of a file
        return []
    with suppress(AlacarteError):
        from alacarte.model.saving import describe_model

        source = describe_model(path).get("vectors") if path.is_dir() else None
        files += [Path(source)] if isinstance(source, str) else []
    return files
