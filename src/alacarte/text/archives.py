"""The members of zip and tar archives, in the order of their names, as streams of text."""

import io
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from shutil import copyfileobj
from typing import Any, BinaryIO, cast

from alacarte._io.files import DAMAGED, compression
from alacarte._io.urls import Location
from alacarte.errors import AlacarteError, BadCorpus
from alacarte.text.streams import BUFFER, Buffered, Stream, decompressed_stream, open_location, reading

HEAD = 512  # bytes by which an archive is recognised
ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # how a file begins, and an empty one
LONGEST_NAME = 1 << 24  # bytes that describe a member of a tar
EXTENSIONS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")
NO_TAR: tuple[type[Exception], ...] = (AlacarteError, *DAMAGED)


def looks_like_archive(head: bytes) -> bool:
    """Whether a file that begins like this is a zip or a tar."""
    return head.startswith(ZIP) or _is_tar_header(head)


def members_of(location: Location, head: bytes) -> Iterator[Stream] | None:
    """Give the members of a file that begins with `head`; None if it is no archive."""
    if head.startswith(ZIP):
        return _named(location, _zip_members(location))
    if _is_tar_header(head) if compression(head) is None else _is_compressed_tar(location):
        return _named(location, _tar_members(location))
    return None


def _named(location: Location, members: Iterator[Stream]) -> Iterator[Stream]:
    with reading(str(location)):
        yield from members


def _streams(
    location: Location, members: Iterable[tuple[str, int, Callable[[], Buffered]]], total: int
) -> Iterator[Stream]:
    """The streams of some members (name, size, how to open it), which hold `total` bytes in all."""
    done = 0
    for name, size, opener in members:
        whole = f"{location}/{name}"
        try:
            opened = opener()
        except (RuntimeError, NotImplementedError) as error:  # encrypted, or a rare compression
            raise BadCorpus(f"{whole} cannot be opened: {error}; unpack the archive first") from error
        with opened as file:
            if looks_like_archive(file.peek(HEAD)):
                raise BadCorpus(f"{whole} is an archive inside an archive; unpack the outer one first")
            # Members are read in the order of their names, so a share of the archive is taken for the place in it.
            yield decompressed_stream(whole, file, partial(_share, file.tell, done, total, location.size))
        done += size


def _share(tell: Callable[[], int], done: int, total: int, on_disk: int) -> int:
    return on_disk * (done + tell()) // max(total, 1)


def _is_wanted(name: str) -> bool:
    return not any(part[0] == "." and part not in (".", "..") for part in name.split("/") if part)


# ------------------------------------------------------------------------------------------------------------- zip


def _zip_members(location: Location) -> Iterator[Stream]:
    with _buffered(location) as file, zipfile.ZipFile(file) as archive:
        # By name: of two members with one name, the last one counts, as when the archive is unpacked.
        members = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        if "[Content_Types].xml" in members or "mimetype" in members:
            raise BadCorpus(f"{location} is an office document or e-book, not text; export it as plain text first")
        wanted = [members[name] for name in sorted(members) if _is_wanted(name)]
        opened = ((info.filename, info.file_size, cast(Any, partial(archive.open, info))) for info in wanted)
        yield from _streams(location, opened, sum(info.file_size for info in wanted))


def _buffered(location: Location) -> Buffered:
    return io.BufferedReader(open_location(location), BUFFER)


# ------------------------------------------------------------------------------------------------------------- tar


def _is_tar_header(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _is_compressed_tar(location: Location) -> bool:
    with _tar_bytes(location) as file:
        try:
            return _is_tar_header(file.read(HEAD))
        except NO_TAR:
            return False  # what is wrong is said when the file is read


@contextmanager
def _tar_bytes(location: Location) -> Iterator[BinaryIO]:
    with _buffered(location) as buffered:
        yield decompressed_stream(str(location), buffered, buffered.tell).file


class _TarInfo(tarfile.TarInfo):
    """A member of a tar. A damaged header is an error, where tarfile would end the archive; long names have limits."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "_TarInfo":
        try:
            return super().fromtarfile(archive)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(f"the header at byte {archive.offset:,}: {error}") from None

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        described = self.size if self.type in EXTENSIONS else 0
        if described > LONGEST_NAME:
            raise tarfile.ReadError(f"{described:,} bytes for the name of a member")
        return super()._proc_member(archive)  # type: ignore[misc]


def _tar_members(location: Location) -> Iterator[Stream]:
    """Members by name; a compressed tar is read straight through if in that order, else from a copy."""
    with _buffered(location) as stored:
        if compression(stored.peek(8)) is None:
            with tarfile.open(fileobj=stored, mode="r:", tarinfo=_TarInfo) as archive:
                yield from _tar_sorted(location, archive)
            return
    with _tar_bytes(location) as file, tarfile.open(fileobj=file, mode="r|", tarinfo=_TarInfo) as archive:
        listed = [(info.name, info.size) for info in _wanted_of(archive)]
    names = [name for name, _ in listed]
    with _tar_bytes(location) as file:
        if names == sorted(set(names)):
            with tarfile.open(fileobj=file, mode="r|", tarinfo=_TarInfo) as archive:
                members = (_tar_member(archive, info) for info in _wanted_of(archive))
                yield from _streams(location, members, sum(size for _, size in listed))
            return
        # Going back in a compressed stream means starting over, once per member: a plain copy is faster.
        with tempfile.TemporaryFile() as copy:
            copyfileobj(file, copy, 1 << 20)
            copy.seek(0)
            with tarfile.open(fileobj=copy, mode="r:", tarinfo=_TarInfo) as archive:
                yield from _tar_sorted(location, archive)


def _tar_sorted(location: Location, archive: tarfile.TarFile) -> Iterator[Stream]:
    by_name = {info.name: info for info in _wanted_of(archive)}  # of two with one name, the last one counts
    infos = [by_name[name] for name in sorted(by_name)]
    members = (_tar_member(archive, info) for info in infos)
    yield from _streams(location, members, sum(info.size for info in infos))


def _wanted_of(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    return (info for info in archive if info.isreg() and _is_wanted(info.name))


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> tuple[str, int, Callable[[], Buffered]]:
    return info.name, info.size, cast("Callable[[], Buffered]", partial(archive.extractfile, info))
