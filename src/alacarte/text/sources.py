"""Where bytes come from: files, URLs, patterns, folders and standard input."""

import glob
import io
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from alacarte._io.decoding import read_json
from alacarte._io.files import compression
from alacarte._io.urls import Location, list_files, local_path, url_of
from alacarte.errors import AlacarteError, BadCorpus, Hint
from alacarte.text.archives import ARCHIVE_HEAD, looks_like_archive, members_of
from alacarte.text.streams import BUFFER, Counted, Stream, decompressed_stream, find, is_pipe, open_location, reading

AS_TEXT = Hint('or, to pass text itself, put it in a list: ["…"]')


# --------------------------------------------------------------------------------------------------- finding files


def find_files(source: str | os.PathLike[str]) -> list[Location]:
    """Return the files behind a path, a glob pattern or a folder, or a URL that is one of these."""
    try:
        path = local_path(source)
    except AlacarteError as error:
        raise BadCorpus(error.message, hint=AS_TEXT) from None
    if path is None:
        return list_files(cast("str", url_of(source)), BadCorpus)
    name = os.fspath(source) if url_of(source) is None else str(path)
    if name and os.path.exists(path):  # noqa: PTH110 (a whole text as a name makes Path.exists raise)
        return [find(file) for file in (_files_in(path) if path.is_dir() else [path])]
    if glob.has_magic(name):
        files = sorted((p for p in set(_matching(path)) if not p.is_dir()), key=lambda p: p.parts)
        if files:
            return [find(file) for file in files]
        raise BadCorpus(f"no file matches {_short(name)}; check the pattern and the folder", hint=AS_TEXT)
    raise BadCorpus(f"no such file: {_short(name)}; check the path", hint=AS_TEXT)


def refuse_repeated(files: Sequence[Location]) -> None:
    """Raise `BadCorpus` if two of the files are the same one, also by way of links."""
    seen: dict[str, Location] = {}
    for file in files if len(files) > 1 else ():
        before = seen.setdefault(file.name if file.path is None else os.path.realpath(file.path), file)
        if before is not file:
            through = "" if before.name == file.name else f", also as {before.name} (one is a link to the other)"
            raise BadCorpus(
                f"{file.name} is named twice{through}, and its text would be counted twice; name each file once, by "
                "patterns that do not overlap"
            )


def _short(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:79] + "…")


def _files_in(folder: Path) -> list[Path]:
    """Return the files in a folder and those below it, each once, whatever links lead to it."""
    if (folder / "concordance.sqlite").is_file():
        raise BadCorpus(
            f"{folder} is a concordance, not a folder of text",
            hint=Hint("pass alacarte.Concordance(path)", "pass it by itself, without other text"),
        )
    files = _saved_dataset(folder) or list(_walk(folder))
    if not files:
        raise BadCorpus(f"the folder {folder} holds no files (hidden ones are skipped); check the path")
    return sorted(files, key=lambda path: path.parts)


def _matching(pattern: Path) -> Iterator[Path]:
    """Yield what matches a pattern; `**` is a folder and those below it, each once, whatever links there are.

    That of Python goes round in circles through folders that link to each other.
    """
    if "**" not in pattern.parts:
        yield from map(Path, glob.glob(str(pattern)))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        return
    place = pattern.parts.index("**")
    rest = pattern.parts[place + 1 :] or ("*",)
    for start in _matching(Path(*pattern.parts[:place])) if place else [Path()]:
        if start.is_dir():
            for folder, _ in _folders(start):
                yield from _matching(Path(glob.escape(str(folder)), *rest))


def _folders(top: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Yield a folder and each one below it once, with what is in it and not hidden; those behind links come last."""
    folders, linked_folders, seen = deque([top]), deque[Path](), set[str]()
    while folders or linked_folders:
        here = folders.popleft() if folders else linked_folders.popleft()
        real = os.path.realpath(here)
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = sorted((e for e in os.scandir(here) if e.name[0] != "."), key=lambda entry: entry.name)
        except OSError as error:
            raise BadCorpus(f"{here} cannot be listed: {error.strerror}; check its permissions") from None
        for path in (here / entry.name for entry in entries if entry.is_dir()):
            if not path.is_symlink():
                folders.append(path)
            elif not Path(real).is_relative_to(path.resolve()):  # what leads back up holds other text as well
                linked_folders.append(path)
        yield here, entries


def _walk(folder: Path) -> Iterator[Path]:
    """Each file below a folder once; links come last, so that a file keeps its own name if it has one here."""
    links, seen_files = list[Path](), set[str]()
    for here, entries in _folders(folder):
        real = os.path.realpath(here)
        for entry in entries:
            if entry.is_symlink():
                links += [] if entry.is_dir() else [here / entry.name]
            elif entry.is_file():
                seen_files.add(f"{real}{os.sep}{entry.name}")
                yield here / entry.name
    for path in links:
        real = os.path.realpath(path)
        if real not in seen_files:
            seen_files.add(real)
            yield path


def _saved_dataset(folder: Path) -> list[Path]:
    """Return the files of a dataset that Hugging Face's `save_to_disk` wrote here; none for any other folder."""
    try:
        listed = read_json((folder / "state.json").read_bytes())["_data_files"]
        return [folder / Path(file["filename"]).name for file in listed]
    except (OSError, ValueError, LookupError, TypeError):
        return []


# --------------------------------------------------------------------------------------------------- opening files


def standard_input() -> Iterator[Stream]:
    """Give standard input as a stream."""
    if sys.stdin is None:
        raise BadCorpus("standard input is closed; pass a file, or text through a pipe")
    counted = Counted(cast("io.RawIOBase", sys.stdin.buffer))
    yield decompressed_stream("standard input", io.BufferedReader(counted), lambda: counted.count)


def file_streams(file: Path | Location) -> Iterator[Stream]:
    """Give the stream of a file, or those of an archive's members; each is closed when the next is asked for."""
    location = find(file)
    with open_location(location) as raw:
        counted = Counted(raw, location.size)
        buffered = io.BufferedReader(counted, BUFFER)
        with reading(str(location)):
            head = buffered.peek(ARCHIVE_HEAD)
        # A pipe can be opened only once, so it is never taken for an archive.
        members = None if is_pipe(location) else members_of(location, head)
        if members is None:
            stream = decompressed_stream(str(location), buffered, lambda: counted.count)
            stream.location = location if compression(head) is None else None
            yield stream
            return
    yield from members


def is_stored_plainly(location: Location) -> bool:
    """Whether a file is neither compressed nor an archive nor a pipe, so that it can be read from any byte on."""
    if is_pipe(location):
        return False
    with open_location(location) as raw, reading(str(location)):
        head = raw.read(ARCHIVE_HEAD) or b""
    return compression(head) is None and not looks_like_archive(head)
