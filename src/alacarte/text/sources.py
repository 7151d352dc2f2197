"""Where bytes come from: files, URLs, globs, folders, archives and standard input, as blocks of whole lines."""

import codecs
import glob
import io
import os
import re
import sys
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, TypeAlias, cast

from alacarte._io.decoding import in_words, read_json
from alacarte._io.files import DAMAGED, compression, decompressed
from alacarte._io.remote import Location, list_files, local_path, locate, url_of
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, Hint

BLOCK = 1 << 18  # read at a time; larger ones are slower, as malloc maps new memory for each of them
UNREADABLE: tuple[type[Exception], ...] = (AlacarteError, *DAMAGED)
LONGEST = 1 << 24  # bytes of a line, or characters of another document: what bounds the memory
WHOLE = 1 << 30  # bytes of a file that is read in one piece
LISTED_AT_ONCE = 16  # lines of a manifest
BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
Buffered: TypeAlias = "io.BufferedReader[Any]"
File: TypeAlias = Path | Location  # on disk, or behind a URL
EXTENSIONS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")
AS_TEXT = Hint('or, to pass text itself, put it in a list: ["…"]')


@dataclass(slots=True)
class Stream:
    """One open file, archive member or standard input, as plain (decompressed) bytes."""

    name: str  # for messages and for the format by ending
    file: BinaryIO
    position: Callable[[], int]  # bytes of the input consumed so far, as they lie on disk
    location: Location | None = None  # set where the bytes are stored just as they are


def find_files(source: str | os.PathLike[str]) -> Sequence[File]:
    """The files behind a path, a glob pattern or a folder, or a URL that is one of these."""
    path = local_path(source)
    if path is None:
        return list_files(cast("str", url_of(source)), BadCorpus)
    name = os.fspath(source) if url_of(source) is None else str(path)
    if name and os.path.exists(path):  # noqa: PTH110 (a whole text as a name makes Path.exists raise)
        return _walk(path) if path.is_dir() else [path]
    if glob.has_magic(name):
        matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
        files = sorted((p for p in map(Path, matches) if not p.is_dir()), key=lambda p: p.parts)
        if files:
            return files
        raise BadCorpus(f"no file matches {_short(name)}; check the pattern and the folder", hint=AS_TEXT)
    raise BadCorpus(f"no such file: {_short(name)}; check the path", hint=AS_TEXT)


def find_listed(manifest: str | os.PathLike[str]) -> list[File]:
    """The files behind each line of a manifest: a path, a URL, a pattern or a folder; relative ones are beside it."""
    try:
        location = locate(manifest, BadCorpus)
        with _open(location) as file:
            lines = file.read().decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadCorpus(f"the manifest {os.fspath(manifest)} cannot be read: {error}; check the file") from None
    places = [_beside(location, line.strip()) for line in lines if line.strip()]
    if not places:
        raise BadCorpus(f"the manifest {location} is empty; write a path or a URL on each line")
    with ThreadPoolExecutor(LISTED_AT_ONCE) as pool:  # each URL is a question to a server
        return [file for files in pool.map(find_files, places) for file in files]


def _beside(location: Location, name: str) -> str:
    if url_of(name) is not None or Path(name).expanduser().is_absolute():
        return name
    if location.path is not None:
        return str(location.path.parent / name)
    return f"{location.address.rpartition('/')[0]}/{name}"


def _short(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:79] + "…")


def _walk(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise BadCorpus(f"{error.filename} cannot be listed: {error.strerror}; check its permissions")

    if (folder / "concordance.sqlite").is_file():
        raise BadCorpus(
            f"{folder} is a concordance, not a folder of text",
            hint=Hint("pass alacarte.Concordance(path)", "pass it by itself, without other text"),
        )
    files = _saved_dataset(folder)
    if files:
        return files
    for root, folders, names in os.walk(folder, followlinks=True, onerror=refuse):
        here = Path(root).resolve()
        # Links are followed, but not the ones that lead back up: they would never end.
        folders[:] = [f for f in folders if f[0] != "." and not here.is_relative_to((here / f).resolve())]
        paths = (Path(root, name) for name in names if name[0] != ".")
        files += (path for path in paths if path.is_file() or path.is_symlink())
    if not files:
        raise BadCorpus(f"the folder {folder} holds no files (hidden ones are skipped); check the path")
    return sorted(files, key=lambda path: path.parts)


def _saved_dataset(folder: Path) -> list[Path]:
    """The files of a dataset that Hugging Face's `save_to_disk` wrote here; none for any other folder."""
    try:
        listed = read_json((folder / "state.json").read_bytes())["_data_files"]
        return [folder / Path(file["filename"]).name for file in listed]
    except (OSError, ValueError, LookupError, TypeError):
        return []


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what decompressors and disks raise into a `BadCorpus` that names the file."""
    try:
        yield
    except (AlacarteError, AlacarteWarning):
        raise
    except Exception as error:
        raise BadCorpus(
            f"{name} cannot be read to its end ({in_words(error)}): it is damaged or was cut "
            "off; copy or download it again"
        ) from error


def standard_input() -> Iterator[Stream]:
    if sys.stdin is None:
        raise BadCorpus("standard input is closed; pass a file, or text through a pipe")
    counted = _Counted(cast("io.RawIOBase", sys.stdin.buffer))
    yield _plain("standard input", io.BufferedReader(counted), lambda: counted.count)


def file_streams(file: File) -> Iterator[Stream]:
    """The stream of a file, or those of an archive's members; each is closed when the next is asked for."""
    location = find(file)
    with _open(location) as raw:
        counted = _Counted(raw, location.size)
        buffered = io.BufferedReader(counted, BLOCK)
        with reading(str(location)):
            head = buffered.peek(512)
        kind = compression(head)
        # A pipe can be opened only once, so it is never taken for an archive.
        seekable = location.path is None or location.path.is_file()
        if seekable and head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            members = _zip_members(location)
        elif seekable and (_tar_magic(head) if kind is None else _is_tar(location)):
            members = _tar_members(location)
        else:
            stream = _plain(str(location), buffered, lambda: counted.count)
            stream.location = location if kind is None else None
            yield stream
            return
    yield from _members(location, members)


def find(file: File) -> Location:
    """A file that was found before, as it is now: its size and how to open it."""
    try:
        return locate(file)
    except FileNotFoundError:
        raise BadCorpus(f"no such file: {file}; it was there before, or a link to it was") from None
    except OSError as error:
        raise _not_opened(str(file), error) from error


def _open(location: Location) -> io.RawIOBase:
    try:
        return cast("io.RawIOBase", location.open())
    except OSError as error:
        raise _not_opened(location.name, error) from error


def _not_opened(name: str, error: OSError) -> BadCorpus:
    return BadCorpus(f"{name} cannot be opened: {error.strerror}; check that it is a readable file")


def _plain(name: str, buffered: Buffered, position: Callable[[], int]) -> Stream:
    with reading(name):
        kind = compression(buffered.peek(8))
        return Stream(name, decompressed(cast("BinaryIO", buffered), kind), position)


class _Counted(io.RawIOBase):
    """Counts the bytes that go through: a pipe cannot tell its position, and a file may shrink while it is read."""

    def __init__(self, raw: io.RawIOBase, expected: int = 0) -> None:
        self.raw = raw
        self.count = 0
        self.expected = expected

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self.raw.readinto(buffer) or 0
        self.count += count
        if not count and self.count < self.expected:  # its new end would pass for the end of the text
            raise OSError("it shrank while it was read")
        return count


@dataclass(slots=True)
class _Member:
    name: str
    size: int
    open: Callable[[], Buffered]


def _members(location: Location, members: Iterator[tuple[int, _Member]]) -> Iterator[Stream]:
    done = 0
    with reading(str(location)):
        for total, member in members:
            name = f"{location}/{member.name}"
            try:
                opened = member.open()
            except (RuntimeError, NotImplementedError) as error:  # encrypted, or a rare compression
                raise BadCorpus(f"{name} cannot be opened: {error}; unpack the archive first") from error
            with opened as file:
                if _looks_like_archive(file.peek(512)):
                    raise BadCorpus(f"{name} is an archive inside an archive; unpack the outer one first")
                # Members are read in the order of their names, so a share of the archive stands in for the
                # place in it.
                yield _plain(name, file, partial(_share, file.tell, done, total, location.size))
            done += member.size


def _share(tell: Callable[[], int], done: int, total: int, on_disk: int) -> int:
    return on_disk * (done + tell()) // max(total, 1)


def _wanted(name: str) -> bool:
    return not any(part[0] == "." and part not in (".", "..") for part in name.split("/") if part)


def _looks_like_archive(head: bytes) -> bool:
    return head.startswith(b"PK\x03\x04") or _tar_magic(head)


def _tar_magic(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _zip_members(location: Location) -> Iterator[tuple[int, _Member]]:
    with _buffered(location) as file, zipfile.ZipFile(file) as archive:
        infos = sorted((i for i in archive.infolist() if not i.is_dir()), key=lambda i: i.filename)
        if any(i.filename in ("[Content_Types].xml", "mimetype") for i in infos):
            raise BadCorpus(f"{location} is an office document or e-book, not text; export it as plain text first")
        infos = [i for i in infos if _wanted(i.filename)]
        total = sum(i.file_size for i in infos)
        for info in infos:
            opener = cast("Callable[[], Buffered]", partial(archive.open, info))
            yield total, _Member(info.filename, info.file_size, opener)


def _buffered(location: Location) -> Buffered:
    return io.BufferedReader(_open(location), BLOCK)


@contextmanager
def _tar_bytes(location: Location) -> Iterator[BinaryIO]:
    with _buffered(location) as buffered:
        yield _plain(str(location), buffered, buffered.tell).file


def _is_tar(location: Location) -> bool:
    with _tar_bytes(location) as file:
        try:
            return _tar_magic(file.read(512))
        except UNREADABLE:
            return False  # said properly when the file is read


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
        if described > LONGEST:
            raise tarfile.ReadError(f"{described:,} bytes for the name of a member")
        return super()._proc_member(archive)  # type: ignore[misc]


def _tar_members(location: Location) -> Iterator[tuple[int, _Member]]:
    """Members by name; a compressed tar is read straight through if in that order, else from a copy."""
    with _buffered(location) as stored:
        if compression(stored.peek(8)) is None:
            with tarfile.open(fileobj=stored, mode="r:", tarinfo=_TarInfo) as archive:
                yield from _tar_sorted(archive)
            return
    with _tar_bytes(location) as file, tarfile.open(fileobj=file, mode="r|", tarinfo=_TarInfo) as archive:
        infos = [(info.name, info.size) for info in archive if info.isreg() and _wanted(info.name)]
    total = sum(size for _, size in infos)
    with _tar_bytes(location) as file:
        if infos == sorted(infos):
            with tarfile.open(fileobj=file, mode="r|", tarinfo=_TarInfo) as archive:
                for info in archive:
                    if info.isreg() and _wanted(info.name):
                        yield total, _tar_member(archive, info)
            return
        # Going back in a compressed stream means starting over, once per member: a plain copy is faster.
        with tempfile.TemporaryFile() as copy:
            copyfileobj(file, copy, 1 << 20)
            copy.seek(0)
            with tarfile.open(fileobj=copy, mode="r:", tarinfo=_TarInfo) as archive:
                yield from _tar_sorted(archive)


def _tar_sorted(archive: tarfile.TarFile) -> Iterator[tuple[int, _Member]]:
    infos = sorted((i for i in archive if i.isreg() and _wanted(i.name)), key=lambda i: i.name)
    total = sum(info.size for info in infos)
    for info in infos:
        yield total, _tar_member(archive, info)


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> _Member:
    return _Member(info.name, info.size, cast("Callable[[], Buffered]", partial(archive.extractfile, info)))


def line_blocks(
    stream: Stream, size: int = BLOCK, cut: bool = True, start: int = 0
) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of whole lines: (bytes, where they begin in the stream, position after reading them).

    A line belongs to the block in which it begins, and block k begins at the first line's start from byte k · size on.
    So blocks depend on the text and `size` alone. A line longer than a block makes the block grow; its parts are joined
    once, so this stays linear. A line that does not end within `LONGEST` bytes is cut at the last blank among these,
    which is made a line end, and a block begins behind it; or, without `cut`, it is an error. `start` is where the
    stream begins in its file, if not at the beginning.

    >>> stream = Stream("x", io.BytesIO(b"one\\ntwo\\nthree\\nfour"), lambda: 0)
    >>> [block[:2] for block in line_blocks(stream, size=6)]
    [(b'one\\ntwo\\n', 0), (b'three\\n', 8), (b'four', 14)]
    """
    size = min(size, LONGEST)
    parts: list[bytes] = []  # lines that began in the block before, the last of them not yet whole
    pending = 0  # bytes of that last line
    begin = read = start
    whole = True  # no line was cut so far
    while True:
        with reading(stream.name):
            data = stream.file.read(size)
        if not data:
            break
        while parts and data:
            most = LONGEST - pending
            end = data.find(b"\n", 0, most) + 1
            taken = data[: end or most]
            parts.append(taken)
            data = data[len(taken) :]
            read, pending = read + len(taken), pending + len(taken)
            if end:
                yield b"".join(parts), begin, stream.position()
                parts = []
            elif data:
                block = b"".join(parts)
                at = _last_blank(stream.name, block, begin, len(block) - LONGEST, whole, cut)
                whole = False
                yield block[:at] + b"\n", begin, stream.position()
                begin, parts = begin + at + 1, [block[at + 1 :]]
                pending = len(parts[0])
        if not parts and data:
            begin, read = read, read + len(data)
            if data.endswith(b"\n"):
                yield data, begin, stream.position()
            else:
                parts, pending = [data], len(data) - data.rfind(b"\n") - 1
    if parts:
        yield b"".join(parts), begin, stream.position()


def _last_blank(name: str, block: bytes, begin: int, line: int, warn: bool, cut: bool) -> int:
    """Where a line that is too long, from block[line] on, is cut."""
    where = f"{name}: the line that begins at byte {begin + line:,} is longer than {LONGEST >> 20} MiB"
    if not cut:
        raise BadCorpus(f"{where}, the most that is read of a row; split its text into several rows")
    at = max(block.rfind(b" ", line), block.rfind(b"\t", line))
    if at < 0:
        raise BadCorpus(f"{where}, and there is no blank in it; is it text? If it is, break it into lines")
    if warn:
        message = f"{where}; such lines are cut at blanks, and each part is a document of its own"
        warnings.warn(AlacarteWarning(message), stacklevel=2)
    return at


def text_blocks(
    stream: Stream, encoding: str, errors: str, size: int = BLOCK, cut: bool = True
) -> Iterator[tuple[str, int, int]]:
    r"""`line_blocks`, each decoded in one call, with its size in bytes and the position.

    ``\r\n`` is made ``\n``, and a byte order mark at the start is dropped.

    >>> stream = Stream("x", io.BytesIO(b"\xef\xbb\xbfone\r\ntwo"), lambda: 0)
    >>> list(text_blocks(stream, "utf-8", "strict"))
    [('one\ntwo', 11, 0)]
    """
    if not _newline_is_a_byte(encoding):
        file = io.BufferedReader(_Transcoded(stream, encoding, errors), 1 << 20)
        stream = Stream(stream.name, cast("BinaryIO", file), stream.position)
        encoding, errors = "utf-8", "surrogatepass"
    utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    for block, offset, position in line_blocks(stream, size, cut):
        skip = byte_order_mark(stream.name, block) if offset == 0 and utf8 else 0
        try:
            text = (block[skip:] if skip else block).decode("utf-8" if utf8 else encoding, errors)
        except UnicodeDecodeError as error:
            raise _undecodable(stream.name, encoding, offset + skip + error.start, error) from error
        yield text.replace("\r\n", "\n") if "\r" in text else text, len(block), position


def utf8_blocks(stream: Stream, encoding: str, errors: str, size: int = BLOCK) -> Iterator[tuple[bytes, int, int]]:
    """`line_blocks` as UTF-8, each with its offset in the stream and the position.

    Strict UTF-8 is passed on as it is, unchecked: whoever decodes it calls `decode_line`. Text in another encoding is
    cut after it was turned into UTF-8, and its offsets count bytes of that.
    """
    if not is_strict_utf8(encoding, errors):
        offset = 0
        for text, _, position in text_blocks(stream, encoding, errors, size):
            block = text.encode("utf-8", "surrogatepass")
            yield block, offset, position
            offset += len(block)
        return
    for block, offset, position in line_blocks(stream, size):
        skip = byte_order_mark(stream.name, block) if offset == 0 else 0
        yield block[skip:] if skip else block, offset + skip, position


def is_strict_utf8(encoding: str, errors: str) -> bool:
    """Whether text is passed on as it is, so that places in it are places in its file."""
    return errors == "strict" and codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def decode_line(name: str, block: bytes, offset: int, low: int, high: int) -> str:
    """The text of block[low:high]; an error names the byte that is not UTF-8 by its place in the file."""
    try:
        return block[low:high].decode("utf-8", "strict" if name else "surrogatepass")
    except UnicodeDecodeError as error:
        raise _undecodable(name, "utf-8", offset + low + error.start, error) from error


def byte_order_mark(name: str, block: bytes) -> int:
    """How many bytes of a first block are a mark and not text."""
    if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadCorpus(f'{name} is UTF-16 text, not UTF-8; pass encoding="utf-16"')
    return 3 if block.startswith(codecs.BOM_UTF8) else 0


def read_whole(stream: Stream) -> bytes:
    """All bytes of a stream, up to a limit that no file of its kind reaches."""
    with reading(stream.name):
        data = stream.file.read(WHOLE + 1)
    if len(data) > WHOLE:
        raise BadCorpus(f"{stream.name} holds more than {WHOLE >> 30} GiB in one piece; split it into several files")
    return data


def paragraphs(texts: Iterable[str]) -> Iterator[str]:
    r"""What stands between blank lines, out of blocks of whole lines.

    >>> list(paragraphs(["one\nstill one\n", "\ntwo\n"]))
    ['one\nstill one', 'two']
    """
    paragraph = _Pieces()
    for text in texts:
        # The line end before the block is put back, for a blank line right at its start.
        first, *others = BLANK_LINES.split("\n" + text)
        yield from paragraph.add(first[1:])
        for other in others:
            yield paragraph.end().removesuffix("\n")
            yield from paragraph.add(other)
    text, newline, last = paragraph.end().rpartition("\n")
    yield text if not last or last.isspace() else text + newline + last


def pieces(texts: Iterable[str]) -> Iterator[str]:
    r"""All blocks of whole lines as one document, or, of more than `LONGEST` characters, as several, cut at line ends.

    >>> list(pieces(["one\n", "two"]))
    ['one\ntwo']
    """
    document = _Pieces()
    for text in texts:
        yield from document.add(text)
    yield document.end()


class _Pieces:
    """A document that grows by whole lines; what is beyond `LONGEST` characters begins another."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str) -> Iterator[str]:
        self._parts.append(text)
        self._length += len(text)
        while self._length > LONGEST:
            whole = "".join(self._parts)
            at = whole.rfind("\n", 0, LONGEST) + 1 or len(whole)
            yield whole[:at]
            self._parts, self._length = [whole[at:]], len(whole) - at

    def end(self) -> str:
        whole = "".join(self._parts)
        self._parts, self._length = [], 0
        return whole


def _undecodable(name: str, encoding: str, offset: int, error: UnicodeDecodeError) -> BadCorpus:
    return BadCorpus(
        f"{name}: byte {offset} (0x{error.object[error.start]:02x}) is not {encoding} text ({error.reason})",
        hint=Hint(
            'pass errors="replace" to put � there, or the encoding the file is in, such as encoding="latin-1"',
            "pass --errors replace to put � there, or the encoding the file is in, such as --encoding latin-1",
        ),
    )


def _newline_is_a_byte(encoding: str) -> bool:
    """Whether lines can be told apart before decoding."""
    name = codecs.lookup(encoding).name
    if name == "utf-8-sig":
        return True
    stateful = name.startswith(("iso2022", "hz", "utf-7"))  # a line may depend on the one before
    return "\n".encode(encoding) == b"\n" and not stateful


class _Transcoded(io.RawIOBase):
    """A stream in UTF-16 or the like, as UTF-8."""

    def __init__(self, stream: Stream, encoding: str, errors: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._fed = 0
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            with reading(self._stream.name):
                data = self._stream.file.read(1 << 20)
            self._ended = not data
            pending = len(self._decoder.getstate()[0])
            try:
                text = self._decoder.decode(data, final=self._ended)
            except UnicodeDecodeError as error:
                offset = self._fed - pending + error.start
                raise _undecodable(self._stream.name, self._encoding, offset, error) from error
            except UnicodeError as error:
                raise BadCorpus(f"{self._stream.name} is not {self._encoding} text: {error}") from error
            self._fed += len(data)
            self._ready = text.encode("utf-8", "surrogatepass")
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
