"""Folders that are written completely or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from alacarte.errors import AlacarteError


def check_folder(folder: str | PathLike[str]) -> None:
    """Raise unless a model may be saved here: nothing is there yet, or an empty folder, or an older model."""
    path = Path(folder)
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or (path / "model.json").is_file())):
        raise AlacarteError(f"{path}: exists and is not a saved model; choose another folder or remove it")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes its place, and that of an older one, when all is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        yield staging
        staging.chmod(0o777 & ~_umask())
        _replace_folder(staging, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def absolute(source: str | None) -> str | None:
    """A path that holds in any folder; a name stays a name."""
    return os.path.abspath(source) if source is not None and Path(source).exists() else source  # noqa: PTH100


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _replace_folder(new: Path, old: Path) -> None:
    """Put a finished folder in the place of another; the other goes only when this one is there."""
    if not old.exists():
        new.rename(old)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{old.name}.", suffix=".old", dir=old.parent))
    old.rename(aside / "old")
    try:
        new.rename(old)
    except BaseException:
        (aside / "old").rename(old)
        raise
    shutil.rmtree(aside)
