"""Copies on this disk of files behind URLs, to be read as any other files and mapped into memory.

A copy is kept in the cache folder under the name and version of its source, so that it is made once; when there is
another version, the older copy is removed after a while. To read text, nothing is copied: see `alacarte._io.urls`.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from alacarte._io.files import atomic_write, cache_folder
from alacarte._io.urls import Location, base_name, display_name, local_path, locate, sibling, url_of
from alacarte.errors import AlacarteError

OLD_AFTER = 3600.0  # seconds for which another process may still be about to open a copy of an older version


@contextmanager
def local_copy(
    name: str | os.PathLike[str],
    error: type[AlacarteError] = AlacarteError,
    beside: Iterable[str] = (),
    needed: Iterable[str] = (),
) -> Iterator[Path]:
    """Yield a path as it is; for a URL, the path of a copy of the file. Errors raised inside name the URL.

    `needed` are names of files beside it that are copied too; so are those of `beside`, if they exist.
    """
    path = local_path(name)
    if path is not None:
        yield path
        return
    url = cast("str", url_of(name))
    locations = [locate(url, error), *(locate(sibling(url, other), error) for other in needed)]
    for other in beside:
        with suppress(AlacarteError):
            locations.append(locate(sibling(url, other), error))
    folder = copy_files(locations)
    try:
        yield folder / base_name(url)
    except AlacarteError as problem:
        problem.message = problem.message.replace(str(folder), display_name(url).rpartition("/")[0])
        raise


def copy_files(locations: list[Location]) -> Path:
    """Return a folder with copies of some files, as they were located; their names are the last parts of the URLs.

    Raises if a file is not the one that was located any more.
    """
    main = hashlib.sha256(locations[0].name.encode()).hexdigest()[:24]
    states = "\n".join(f"{location.name} {location.size} {location.version}" for location in locations)
    kept = cache_folder() / "remote" / main
    folder = kept / hashlib.sha256(states.encode()).hexdigest()[:24]
    folder.mkdir(parents=True, exist_ok=True)
    for location in locations:
        copy = folder / base_name(location.address)
        if location.version and copy.is_file() and copy.stat().st_size == location.size:
            continue
        with location.open() as source, atomic_write(copy, location.size) as file:
            shutil.copyfileobj(source, file, 1 << 20)
            location.check()
    for other in kept.iterdir():
        if other != folder and time.time() - other.stat().st_mtime > OLD_AFTER:
            shutil.rmtree(other, ignore_errors=True)
    return folder
