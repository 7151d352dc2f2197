"""The folder of a concordance: built beside its place and swapped in; a reader sees the old one or the new one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from alacarte._io.files import lock
from alacarte._io.folders import take_place
from alacarte._io.urls import path_on_disk
from alacarte.errors import BadCorpus

DATABASE, VOCABULARY, UNFINISHED = "concordance.sqlite", "vocabulary.safetensors", "unfinished"


def is_concordance(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is a concordance."""
    return (Path(path) / DATABASE).is_file()


def folder_of(path: str | os.PathLike[str]) -> Path:
    """Return the folder behind any links; a concordance that was not replaced completely is put back."""
    folder = path_on_disk(path, BadCorpus, "a concordance")
    folder = Path(os.path.realpath(folder)) if folder.is_symlink() or folder.name in ("", "..") else folder
    if is_concordance(_old(folder)) and not folder.exists():
        with locked(folder):
            pass
    return folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from changing a concordance; what one left behind that was killed is put right first."""
    if folder.exists() and not folder.is_dir():
        raise BadCorpus(f"{folder}: is a file; choose a folder for the concordance")
    with lock(folder, BadCorpus, "concordance"):
        old = _old(folder)
        if folder.exists() or old.is_symlink():
            delete(old)
        elif is_concordance(old):  # it was killed between two renames of `swap`
            old.rename(folder)
        yield


def draft_of(folder: Path) -> Path:
    """Where a concordance is built."""
    return folder.with_name(f".{folder.name}.draft")


def _old(folder: Path) -> Path:
    """Where a concordance is for the moment in which another one takes its place."""
    return folder.with_name(f".{folder.name}.old")


def swap(folder: Path) -> None:
    """Put the draft in its place: where the system can, in one step."""
    if folder.exists():
        refuse_others(folder)
    take_place(draft_of(folder), folder, _old(folder))
    delete(_old(folder))


def files_of(folder: Path) -> list[Path]:
    """Return the files that a concordance may have, the database first: without it, there is none."""
    database = folder / DATABASE
    own = [database.with_name(DATABASE + "-journal"), folder / UNFINISHED, folder / VOCABULARY]
    return [database, *own, *folder.glob("segment-[0-9]*.safetensors")]


def refuse_others(folder: Path) -> None:
    """Raise if anything else is in a folder; hidden files, such as those that are being written, do not count."""
    others = {path for path in folder.iterdir() if path.name[0] != "."} - {*files_of(folder)}
    if others:
        raise BadCorpus(f"{folder} holds {min(others).name}, which is no part of a concordance; move it elsewhere")


def delete(folder: Path) -> None:
    """Delete the files of a concordance, and its folder if nothing else is in it; of a link, the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        for path in files_of(folder):
            path.unlink(missing_ok=True)
        for left in (".*.alacarte-*", f".{DATABASE}.new*"):  # by a process that was killed while it wrote
            for path in folder.glob(left):
                path.unlink(missing_ok=True)
        with suppress(OSError):  # something else is in it
            folder.rmdir()


def delete_concordance(path: str | os.PathLike[str]) -> None:
    """Delete a concordance, and what was begun in its place.

    Refused where anything else is in its folder, and where the path is a link.
    """
    folder = path_on_disk(path, BadCorpus, "a concordance")
    if folder.is_symlink():
        raise BadCorpus(f"{folder} is a link to another place; nothing was deleted")
    with locked(folder):
        if folder.is_dir():
            refuse_others(folder)
        delete(folder)
        delete(draft_of(folder))
