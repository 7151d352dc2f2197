"""Files that are written on this disk and uploaded when they are whole; and what is removed behind a URL."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from alacarte._io.urls import (
    base_name,
    file_system,
    is_in_repository,
    local_path,
    sibling,
    translated,
    url_of,
    without_secrets,
)
from alacarte.errors import AlacarteError, require


@contextmanager
def upload_target(name: str | os.PathLike[str], error: type[AlacarteError] = AlacarteError) -> Iterator[Path]:
    """Yield a path to write a file to: as it is, or, for a URL, in a folder that is uploaded at the end.

    Files that are written beside it are uploaded first, and nothing is if anything is raised.
    """
    path = local_path(name)
    if path is not None:
        yield path
        return
    url = cast("str", url_of(name))
    check_writable(url, error)
    with TemporaryDirectory(prefix="alacarte-") as folder:
        main = Path(folder) / base_name(url)
        yield main
        for file in sorted(Path(folder).iterdir(), key=lambda file: file == main):
            upload(file, sibling(url, file.name), error)


def check_writable(url: str, error: type[AlacarteError]) -> None:
    """Raise unless files can be written behind a URL of this kind, as far as that is known without trying."""
    if url.startswith(("http://", "https://")):
        raise error(f"{without_secrets(url)}: nothing can be saved there; name a file, or a bucket such as s3://…")
    file_system(url, error)


def upload(file: Path, url: str, error: type[AlacarteError]) -> None:
    """Put a file behind a URL; object stores show it when it is whole, and not before."""
    check_writable(url, error)
    system, path = file_system(url, error)
    put = partial(_commit, file, system) if is_in_repository(url) else partial(system.put_file, str(file))
    translated(lambda: put(path), url, error)


def _commit(file: Path, system: Any, path: str) -> None:
    """Put a file into a repository; `put_file` would copy it first, and leave the copy where it fails."""
    hub = require("huggingface_hub", extra="hub", purpose=f"saving hf://{path}")
    place = system.resolve_path(path)
    hub.HfApi(endpoint=system.endpoint, token=system.token).upload_file(
        path_or_fileobj=str(file),
        path_in_repo=place.path_in_repo,
        repo_id=place.repo_id,
        repo_type=place.repo_type,
        revision=place.revision,
    )
    system.invalidate_cache(path)


def remove_remote(url: str, error: type[AlacarteError]) -> None:
    """Remove a file behind a URL, if it exists."""
    system, path = file_system(url, error)

    def delete() -> None:
        system.invalidate_cache(path)
        with suppress(FileNotFoundError):
            system.rm_file(path)

    translated(delete, url, error)
