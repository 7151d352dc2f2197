"""The members of zip and tar archives, in the order of the archive, as streams of text."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from alacarte._io.files import DAMAGED, compression
from alacarte._io.urls import Location
from alacarte.errors import AlacarteError, BadCorpus
from alacarte.text.streams import BUFFER, Buffered, Stream, decompressed_stream, open_location, reading

ARCHIVE_HEAD = 512  # bytes by which an archive is recognised
ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # how a file begins, and an empty one
LONGEST_MEMBER_NAME = 1 << 24  # bytes that describe a member of a tar
EXTENSIONS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")
NO_TAR: tuple[type[Exception], ...] = (AlacarteError, *DAMAGED)

Member = tuple[str, Callable[[], Buffered], Callable[[], int]]  # name, how to open it, how much of the file was read


def looks_like_archive(head: bytes) -> bool:
    """Whether a file that begins like this is a zip or a tar."""
    return head.startswith(ZIP) or _is_tar_header(head)


def members_of(location: Location, head: bytes) -> Iterator[Stream] | None:
    """Return the members of a file that begins with `head`; None if it is no archive."""
    if head.startswith(ZIP):
        return _streams(location, _zip_members(location))
    if _is_tar_header(head) if compression(head) is None else _is_compressed_tar(location):
        return _streams(location, _tar_members(location))
    return None


def _streams(location: Location, members: Iterator[Member]) -> Iterator[Stream]:
    """Yield a stream for each member that is not hidden."""
    seen = set()
    with reading(str(location)):
        for name, opener, position in members:
            if any(part[0] == "." and part not in (".", "..") for part in name.split("/") if part):
                continue
            whole = f"{location}/{name}"
            if name in seen:
                raise BadCorpus(f"{whole} is in the archive twice; unpack it, and pass the file that counts")
            seen.add(name)
            try:
                opened = opener()
            except (RuntimeError, NotImplementedError) as error:  # encrypted, or a rare compression
                raise BadCorpus(f"{whole} cannot be opened: {error}; unpack the archive first") from error
            with opened as file:
                if looks_like_archive(file.peek(ARCHIVE_HEAD)):
                    raise BadCorpus(f"{whole} is an archive inside an archive; unpack the outer one first")
                yield decompressed_stream(whole, file, position)


def _zip_members(location: Location) -> Iterator[Member]:
    with _buffered(location) as file, zipfile.ZipFile(file) as archive:
        if {"[Content_Types].xml", "mimetype"} & set(archive.namelist()):
            raise BadCorpus(f"{location} is an office document or e-book, not text; export it as plain text first")
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, cast("Callable[[], Buffered]", partial(archive.open, info)), file.tell


def _buffered(location: Location) -> Buffered:
    return io.BufferedReader(open_location(location), BUFFER)


# ------------------------------------------------------------------------------------------------------------- tar


def _is_tar_header(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _is_compressed_tar(location: Location) -> bool:
    with _plain_bytes(location) as stream:
        try:
            return _is_tar_header(stream.file.read(ARCHIVE_HEAD))
        except NO_TAR:
            return False  # what is wrong is said when the file is read


@contextmanager
def _plain_bytes(location: Location) -> Iterator[Stream]:
    with _buffered(location) as buffered:
        yield decompressed_stream(str(location), buffered, buffered.tell)


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
        if described > LONGEST_MEMBER_NAME:
            raise tarfile.ReadError(f"{described:,} bytes for the name of a member")
        return super()._proc_member(archive)  # type: ignore[misc]


def _tar_members(location: Location) -> Iterator[Member]:
    with (
        _plain_bytes(location) as stream,
        tarfile.open(fileobj=stream.file, mode="r|", tarinfo=_TarInfo) as archive,
    ):
        for info in archive:
            if info.isreg():
                yield info.name, cast("Callable[[], Buffered]", partial(archive.extractfile, info)), stream.position
