"""Folders whose files belong together: written beside their place, then put there as a whole."""

import ctypes
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from alacarte._io.files import LONGEST_NAME, keep_owner_and_mode, lock
from alacarte.errors import AlacarteError

NEW_ENDING = ".alacarte-new"  # ends the name of a folder that is being written
OLD_ENDING = ".alacarte-old"  # ends the name of one that was replaced
WAIT = 60.0  # seconds for another process that writes the same folder
EXCHANGE = 2  # renameat2's RENAME_EXCHANGE
HERE = -100  # its AT_FDCWD


@contextmanager
def replaced_folder(folder: Path, ours: Callable[[Path], Collection[str]]) -> Iterator[Path]:
    """Yield a new folder to write files to, which takes the place of `folder` at the end, unless anything is raised.

    Of an older folder there, the files that `ours` names are deleted; all others move to the new one, unless it has
    files of their names. What a killed process left is put in order by the next one that writes the same folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     folder = Path(there) / "model"
    ...     for text in ("1", "2"):
    ...         with replaced_folder(folder, lambda old: ["main"]) as new:
    ...             _ = (new / "main").write_text(text)
    ...     print([(file.name, file.read_text()) for file in folder.iterdir()], os.listdir(there))
    [('main', '2')] ['model']
    """
    folder = Path(os.path.realpath(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock(folder, what="folder", wait=WAIT):
        _settle(folder, ours)
        new = _name(folder, NEW_ENDING)
        new.mkdir()
        try:
            yield new
            for before in [folder, *folder.iterdir()] if folder.is_dir() else []:
                after = new if before == folder else new / before.name
                if after.exists():
                    keep_owner_and_mode(after, before.stat())
            held, ending = _names(folder), {*_names(new), *(ours(folder) if folder.is_dir() else ())}
            old = _name(folder, OLD_ENDING)
            take_place(new, folder, old)
        except BaseException as problem:
            shutil.rmtree(new, ignore_errors=True)
            if isinstance(problem, AlacarteError):
                problem.message = problem.message.replace(str(new), str(folder))
            raise
        if old.exists():
            _empty(old, folder, held, ending)


def _name(folder: Path, ending: str) -> Path:
    return folder.with_name(f".{folder.name[:LONGEST_NAME]}.{secrets.token_hex(8)}{ending}")


def take_place(new: Path, folder: Path, old: Path) -> None:
    """Give a whole folder its name, in one step where the system can; one that had it is called `old` then."""
    if folder.is_dir():
        with suppress(OSError):
            folder.rmdir()  # an empty one
    if not folder.is_dir():
        new.rename(folder)
        return
    new.rename(old)
    if _exchanged(old, folder):
        return
    old.rename(new)
    try:
        folder.rename(old)
        new.rename(folder)
    except OSError as problem:  # where another file system is mounted, or on Windows a file is open
        raise AlacarteError(
            f"{folder}: cannot be replaced as a whole ({problem.strerror}); name a new folder, or one in it"
        ) from None


def _exchanged(one: Path, two: Path) -> bool:
    """Whether the system could swap two folders in one step, as Linux can."""
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).renameat2(HERE, os.fsencode(one), HERE, os.fsencode(two), EXCHANGE) == 0)
    except (AttributeError, OSError):
        return False


def _settle(folder: Path, ours: Callable[[Path], Collection[str]]) -> None:
    """Remove what was being written, and of what was replaced the files that are ours; others go back to the folder."""
    named = rf"{re.escape(f'.{folder.name[:LONGEST_NAME]}.')}[0-9a-f]{{16}}({NEW_ENDING}|{OLD_ENDING})"
    for left in sorted(folder.parent.iterdir()):
        found = re.fullmatch(named, left.name)
        if found is None or left.is_symlink() or not left.is_dir():
            continue
        if found[1] == NEW_ENDING:
            shutil.rmtree(left, ignore_errors=True)
        elif not folder.exists():
            left.rename(folder)
        else:
            _empty(left, folder, _names(left), ours(left))


def _names(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 (names)


def _empty(old: Path, folder: Path, names: Collection[str], ours: Collection[str]) -> None:
    """Delete files of `names` that are ours, move all others to the folder, and remove what is empty then.

    Nothing is opened, so that it works where no more files can be.
    """
    for name in names:
        if name in ours and not (old / name).is_dir():
            (old / name).unlink()
        elif not os.path.lexists(folder / name):
            (old / name).rename(folder / name)
    with suppress(OSError):  # what has the name of a newer file stays
        old.rmdir()
