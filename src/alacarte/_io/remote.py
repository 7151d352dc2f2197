"""Files by name, wherever they are: a path on disk, or a URL that fsspec knows (`s3://`, `gs://`, `hf://`, `https://`).

`locate` gives the `Location` of a file: its name, size and version, and a way to open it at any byte. Files on disk are
opened as ever. What is behind a URL is read in ranges, some of them ahead of the reader; what may pass (an overloaded
server, a cut connection) is tried again; a file that is not the one that was located any more is an error.

URLs may hold secrets (`user:password@`, signatures). They stay in the address that is asked, and are in no name,
message or saved file: see `without_secrets`.
"""

import io
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

from alacarte.errors import AlacarteError, MissingExtra, require

BLOCK = 8 << 20  # the most bytes that are asked for at a time
FIRST_BLOCK = 1 << 18  # what is asked for first; it doubles while a file is read in order
AHEAD = 4  # blocks that are on their way while the reader works
ATTEMPTS = 8
FIRST_WAIT = 0.5  # seconds before the second attempt; it doubles, up to
LONGEST_WAIT = 20.0
SILENCE = 60.0  # seconds without a byte, after which a web server is asked again

# What to install for a kind of URL, beside fsspec.
PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs", "abfss", "adl"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp"),
    "hf": "huggingface_hub",
    "memory": "fsspec",
    "file": "fsspec",
}
URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
COLLAPSED = re.compile(rf"({'|'.join(PACKAGES)}):/(?!/)")  # what pathlib makes of a URL
URL_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")
SECRET = re.compile(
    r"sig|token|key|secret|pass|auth|cred|session|expire|policy|jwt|^x-|^code$|^s[a-z]{1,4}$", re.IGNORECASE
)
# By which of its facts a file system tells one content of a file from another, best first.
VERSIONS = (
    *("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest", "sha256", "blob_id", "oid"),
    *("VersionId", "Last-Modified", "LastModified", "last_modified", "mtime", "modified", "updated", "created"),
)
# The names of errors, by all libraries, that a lost connection or a silent server makes, and a key that does not fit.
LOST = re.compile("Connect|Timeout|Payload|Incomplete|Disconnect|Endpoint")
NO_QUERIES = ("s3", "s3a", "gs", "gcs", "memory", "file", "local")  # where ? is a letter of a name
REFUSED = re.compile("Credential|Auth")
HIDDEN = re.compile("RepositoryNotFound|GatedRepo")  # of Hugging Face, where a private one is as one that is not there
OFFLINE = re.compile("Offline")  # what the user asked for does not pass
CREDENTIALS = (
    "check the credentials: fsspec takes them from the environment and from files of the provider (AWS_PROFILE, "
    "AWS_ACCESS_KEY_ID, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME, HF_TOKEN), never from this program"
)
LOG_IN = (
    "check the URL, and log in: run `hf auth login`, or put a token in HF_TOKEN; if the repository is gated, accept "
    "its terms on its page first"
)

Result = TypeVar("Result")


# --------------------------------------------------------------------------------------------------------- URLs


def url_of(name: str | os.PathLike[str]) -> str | None:
    """The URL that a name is, or None for a path; `Path("s3://bucket/key")`, which has lost a slash, is one too.

    >>> url_of("s3://bucket/key"), url_of(Path("s3://bucket/key")), url_of("s3/key")
    ('s3://bucket/key', 's3://bucket/key', None)
    """
    text = os.fspath(name)
    if URL.match(text):
        return text
    collapsed = COLLAPSED.match(text)
    if collapsed is None:
        return None
    slashes = ":///" if collapsed[1] == "file" else "://"
    return f"{collapsed[1]}{slashes}{text[collapsed.end() :]}"


def local_path(name: str | os.PathLike[str]) -> Path | None:
    """Where on disk a name leads, if it is a path or a `file://` URL; None for other URLs.

    >>> local_path("file:///tmp/a%20b.txt").as_posix(), local_path("~/a") == Path.home() / "a", local_path("s3://a/b")
    ('/tmp/a b.txt', True, None)
    """
    url = url_of(name)
    if url is None:
        return Path(name).expanduser()
    scheme, _, rest = url.partition("://")
    if scheme != "file":
        return None
    from urllib.request import url2pathname  # slow to load

    return Path(url2pathname(rest.removeprefix("localhost")))


def path_on_disk(name: str | os.PathLike[str], error: type[AlacarteError], what: str) -> Path:
    """The path that a name is, for what is locked or changed in place; raises `error` for a URL.

    >>> path_on_disk("lab/run", AlacarteError, "a run").as_posix()
    'lab/run'
    """
    path = local_path(name)
    if path is None:
        raise error(
            f"{shown(name)}: {what} lies on a disk, where files can be locked and changed in place; name a path. Text, "
            "vectors, models and sums can be at URLs"
        )
    return path


def without_secrets(url: str) -> str:
    """A URL without user and password, and without what signs it: what may be shown and saved.

    >>> without_secrets("https://me:secret@host/a.txt?X-Amz-Signature=1f&part=2")
    'https://host/a.txt?part=2'
    >>> without_secrets("abfs://container@account.dfs.core.windows.net/a.txt")
    'abfs://container@account.dfs.core.windows.net/a.txt'
    """
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    user, at, place = host.rpartition("@")
    if at and not (PACKAGES.get(scheme.lower()) == "adlfs" and ":" not in user):
        host = place
    if scheme.lower() in NO_QUERIES:
        return f"{scheme}{separator}{host}{slash}{path}"
    if scheme.lower() in ("http", "https"):
        path = path.partition("#")[0]
    path, mark, query = path.partition("?")
    given = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in given if not SECRET.search(name)]
    if kept != given:
        query = urlencode(kept)
        mark = "?" if query else ""
    return f"{scheme}{separator}{host}{slash}{path}{mark}{query}"


def base_name(url: str) -> str:
    """The last part of a URL's path.

    >>> base_name("https://host/a/b.txt?part=2"), base_name("s3://bucket/key/")
    ('b.txt', 'key')
    """
    return _without_query(url).rstrip("/").rpartition("/")[2]


def sibling(url: str, name: str) -> str:
    """The URL of a file beside another.

    >>> sibling("s3://bucket/a.npy", "a.vocab.txt")
    's3://bucket/a.vocab.txt'
    """
    return f"{_without_query(url).rstrip('/').rpartition('/')[0]}/{name}"


def _without_query(url: str) -> str:
    return url.partition("?")[0].partition("#")[0] if url.startswith(("http://", "https://")) else url


def shown(name: str | os.PathLike[str]) -> str:
    """A name for messages and saved files: a path as it is, a URL without secrets."""
    url = url_of(name)
    return os.fspath(name) if url is None else without_secrets(url)


def in_text_without_secrets(text: str) -> str:
    """A message of somebody else with every URL in it as it may be shown."""
    return URL_IN_TEXT.sub(lambda match: without_secrets(match[0]), text)


def is_in_repository(url: str) -> bool:
    """Whether a URL is one of a repository on the Hugging Face Hub, which has buckets too.

    >>> is_in_repository("hf://datasets/me/texts/a.txt"), is_in_repository("hf://buckets/me/texts/a.txt")
    (True, False)
    """
    return url.lower().startswith("hf://") and not url.lower().startswith("hf://buckets/")


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it; without a cache of listings, which would hide what changes."""
    fsspec = require("fsspec", extra="remote", purpose=f"reading {without_secrets(url)}")
    scheme = url.partition("://")[0].lower()
    try:
        system, path = fsspec.core.url_to_fs(url, use_listings_cache=False, **_http_options(scheme))
        return system, cast("str", path)
    except ImportError:
        package = PACKAGES.get(scheme)
        extra = "" if package is None else f"; {scheme}:// needs {package!r}. Run: pip install {package}"
        raise MissingExtra(f"{without_secrets(url)}: a package for {scheme}:// is not installed{extra}") from None
    except ValueError as error:
        raise AlacarteError(
            f"{without_secrets(url)}: no file system for {scheme}:// is known "
            f"({in_text_without_secrets(str(error))}); check the URL"
        ) from None


def _http_options(scheme: str) -> dict[str, Any]:
    """For web servers: the bytes as they are stored, and no limit on how long a large file may take."""
    if scheme not in ("http", "https"):
        return {}
    aiohttp = require("aiohttp", extra="remote", purpose=f"reading {scheme}:// URLs")
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
    return {"headers": {"Accept-Encoding": "identity"}, "client_kwargs": {"timeout": timeout}}


# ------------------------------------------------------------------------------------------------------ locations


@dataclass(frozen=True, slots=True)
class Location:
    """A file that can be opened at any byte: its name (a URL without secrets, or a path), size and version.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.txt").write_text("one two")
    ...     location = locate(Path(folder) / "a.txt")
    ...     with location.open(4) as file:
    ...         print(location.size, file.read())
    7 b'two'
    """

    name: str
    size: int
    version: str  # an ETag or the like, or the time of the last change
    path: Path | None = None  # on disk, None for what is behind a URL
    address: str = field(default="", repr=False)  # the whole URL, which may hold secrets
    error: type[AlacarteError] = AlacarteError

    def __str__(self) -> str:
        return self.name

    def open(self, start: int = 0, until: int | None = None) -> BinaryIO:
        """The bytes from `start` on, as they are stored; nothing before it is read.

        `until` is where the reader will stop, if that is known: nothing behind it is read ahead.
        """
        if self.path is None:
            return cast("BinaryIO", _Reader(self, start, self.size if until is None else until))
        file = io.FileIO(self.path)
        if start:
            file.seek(start)
        return cast("BinaryIO", file)


def locate(name: "str | os.PathLike[str] | Location", error: type[AlacarteError] = AlacarteError) -> Location:
    """The file that a path or a URL names; raises `error` (for a path, OSError) if there is none."""
    if isinstance(name, Location):
        return name
    path = local_path(name)
    if path is not None:
        stat = path.stat()
        return Location(str(path), stat.st_size, f"{stat.st_mtime_ns}-{stat.st_size}", path, error=error)
    url = cast("str", url_of(name))
    system, place = file_system(url)
    info = with_retries(lambda: _info(system, place), url, error)
    if info.get("type") == "directory":
        raise error(f"{without_secrets(url)} is a folder; name a file in it")
    return _location(url, info, error)


def _info(system: Any, place: str) -> dict[str, Any]:
    """The facts about a file as they are now."""
    system.invalidate_cache(place)
    return cast("dict[str, Any]", system.info(place))


def _location(url: str, info: dict[str, Any], error: type[AlacarteError]) -> Location:
    if info.get("mimetype") == "text/html":
        raise error(
            f"{without_secrets(url)} is a web page; name the files that it leads to, or list them in a manifest"
        )
    if info.get("size") is None:
        raise error(
            f"{without_secrets(url)}: the server does not say how large it is, so nobody could tell whether all of it "
            "was read; download it and pass the file"
        )
    return Location(without_secrets(url), int(info["size"]), version_of(info), None, url, error)


def version_of(info: dict[str, Any]) -> str:
    """What tells one content of a file from another, by the facts that its file system gives.

    >>> version_of({"ETag": '"9f3c"', "size": 3}), version_of({"size": 3})
    ('9f3c', '')
    """
    large = info.get("lfs") or {}  # of Hugging Face
    value = large.get("sha256") if isinstance(large, dict) else getattr(large, "sha256", None)
    for name in VERSIONS:
        value = value or info.get(name)
    if isinstance(value, datetime):
        value = value.timestamp()  # as some listings have it
    return "" if value is None else str(value).removeprefix("W/").strip('"')


def list_files(url: str, error: type[AlacarteError] = AlacarteError) -> list[Location]:
    """The files behind a URL: itself, those that match it as a pattern, or all below it as a folder; hidden ones not.

    Raises `error` if there are none.
    """
    system, place = file_system(url)
    system.invalidate_cache()  # all of it: that of Hugging Face keeps listings of folders below
    shown = without_secrets(url)
    is_http = url.startswith(("http://", "https://"))
    is_pattern = re.search(r"[*\[]" if is_http else r"[*?\[]", place) is not None
    info = with_retries(lambda: info_or_none(system, place), url, error, missing_is_error=not is_pattern)
    if info is not None and info.get("type") != "directory":
        return [_location(url, info, error)]
    listed = with_retries(lambda: _listed(system, place, is_pattern), url, error)
    folder = re.split(r"[*?\[]", place)[0].rpartition("/")[0] if is_pattern else place.rstrip("/")
    files = []
    for path, facts in listed.items():
        below = path.removeprefix(f"{folder}/")
        hidden = any(part.startswith(".") for part in below.split("/"))
        if hidden or facts.get("type") == "directory" or path.endswith("/"):
            continue
        address = _address(url, place, path)
        files.append(locate(address, error) if facts.get("size") is None else _location(address, facts, error))
    if not files:
        what = "no file matches" if is_pattern else "there is no file in"
        raise error(f"{what} {shown} (hidden ones are skipped); check the URL")
    return sorted(files, key=lambda file: file.name.split("/"))


def _listed(system: Any, place: str, is_pattern: bool) -> dict[str, dict[str, Any]]:
    """The facts about the files below a place, or of a pattern."""
    try:
        files = system.glob(place, detail=True) if is_pattern else system.find(place, detail=True)
    except Exception:
        system.invalidate_cache()  # huggingface_hub 1.0 takes what it listed until then for all there is
        raise
    return cast("dict[str, dict[str, Any]]", files)


def _address(url: str, place: str, path: str) -> str:
    """The URL of a path that was listed, in the form of the URL and its own path that it was listed for.

    >>> _address("s3://bucket/texts/", "bucket/texts", "bucket/texts/a.txt"), _address("memory://a", "/a", "/a/b")
    ('s3://bucket/texts/a.txt', 'memory://a/b')
    >>> _address("abfs://box@account/texts", "box/texts", "box/texts/a.txt")
    'abfs://box@account/texts/a.txt'
    """
    whole, within = url.rstrip("/"), place.strip("/")
    if whole.endswith(within):
        return whole.removesuffix(within) + path.lstrip("/")
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{path.lstrip('/').partition('/')[2]}"


def info_or_none(system: Any, place: str) -> dict[str, Any] | None:
    """The facts about a file as they are now; None if there is no such file."""
    try:
        return _info(system, place)
    except FileNotFoundError as problem:
        if not may_pass(problem) and _status(problem) in (None, 404) and not _is_named(problem, HIDDEN):
            return None
        raise


# --------------------------------------------------------------------------------------- what may pass, and what not


def with_retries(
    call: Callable[[], Result], url: str, error: type[AlacarteError], *, missing_is_error: bool = True
) -> Result:
    """What a call to a file system gives; what may pass is tried again, and the rest is `error`, without secrets."""
    for attempt in range(ATTEMPTS):
        try:
            result = call()
        except AlacarteError:
            raise
        except Exception as problem:
            if not may_pass(problem) or attempt == ATTEMPTS - 1:
                raise _failure(problem, url, error, attempt + 1) from None
            time.sleep(waiting_time(attempt))
            continue
        if result is None and missing_is_error:
            raise _failure(FileNotFoundError(), url, error, 1)
        return result
    raise AssertionError


def waiting_time(attempt: int) -> float:
    """Seconds before another attempt: twice as long each time, and never the same for two readers."""
    import random

    return min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt) * random.uniform(0.5, 1.5)


def _causes(problem: BaseException) -> Iterator[BaseException]:
    met = set()
    current: BaseException | None = problem
    while current is not None and id(current) not in met:
        met.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _status(problem: BaseException) -> int | None:
    """The HTTP status behind an error, as the libraries keep it in different places."""
    for cause in _causes(problem):
        response = getattr(cause, "response", None)
        if isinstance(response, dict):  # botocore
            response = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        is_aiohttp = type(cause).__module__.startswith("aiohttp")  # whose `code` is no answer of a server
        names = ("status", "status_code", "status" if is_aiohttp else "code")
        candidates = [getattr(cause, name, None) for name in names]
        candidates += [response, getattr(response, "status_code", None), getattr(response, "status", None)]
        for value in candidates:
            if isinstance(value, int | str) and str(value).isdigit() and 100 <= int(value) < 600:
                return int(value)
    return None


def _is_named(problem: BaseException, names: re.Pattern[str]) -> bool:
    return any(names.search(type(cause).__name__) for cause in _causes(problem))


def may_pass(problem: BaseException) -> bool:
    """Whether trying again may help.

    >>> may_pass(TimeoutError()), may_pass(PermissionError()), may_pass(ConnectionResetError())
    (True, False, True)
    """
    status = _status(problem)
    if status is not None:
        return status in (408, 425, 429) or (status >= 500 and status not in (501, 505))
    if _is_named(problem, REFUSED) or _is_named(problem, OFFLINE):
        return False
    if isinstance(problem, TimeoutError | ConnectionError | EOFError) or _is_named(problem, LOST):
        return True
    for_good = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, NotImplementedError)
    if isinstance(problem, for_good) or not isinstance(problem, Exception):
        return False
    return not isinstance(problem, LookupError | TypeError | AttributeError | ValueError | ImportError | MemoryError)


def _failure(problem: BaseException, url: str, error: type[AlacarteError], attempts: int) -> AlacarteError:
    """The error that says what is wrong with a URL and what to do."""
    shown, status = without_secrets(url), _status(problem)
    if is_in_repository(url) and (status in (401, 403) or _is_named(problem, HIDDEN)):
        return error(f"{shown}: there is no such repository, or it is not open to you{_said(status)}; {LOG_IN}")
    if isinstance(problem, PermissionError) or status in (401, 403):
        return error(f"{shown}: access is denied{_said(status)}; {CREDENTIALS}")
    if _is_named(problem, REFUSED):
        return error(f"{shown}: there are no credentials that are accepted; {CREDENTIALS}")
    if status in (404, 410) or (isinstance(problem, FileNotFoundError) and status is None and not may_pass(problem)):
        return error(f"{shown}: there is no such file or folder{_said(status)}; check the URL")
    message = in_text_without_secrets(" ".join(str(problem).split()))[:200]
    reason = _said(status).strip(" ()") or f"{type(problem).__name__}{': ' if message else ''}{message}"
    if may_pass(problem):
        return error(
            f"{shown} cannot be reached ({reason}; {attempts} attempts); check the network and the service, then run "
            "the same command again"
        )
    return error(f"{shown} cannot be read ({reason}); check the URL and how it is served")


def _said(status: int | None) -> str:
    return "" if status is None else f" (the server answers {status})"


def changed(location: Location) -> AlacarteError:
    return location.error(
        f"{location.name} was changed while it was read: it is not the file that was listed any more; wait for what "
        "writes it, then begin again"
    )


# ------------------------------------------------------------------------------------------------------- reading


class _Ranges:
    """Any range of a file behind a URL, each of the version that was located; for several threads."""

    def __init__(self, location: Location) -> None:
        self.location, self.closed = location, False
        self.system, self.path = file_system(location.address)
        # Of a repository nothing is asked by `info`, which lists the whole folder, and for all threads in one place.
        known = {"size": location.size} if is_in_repository(location.address) else {}
        handle = with_retries(
            lambda: self.system.open(self.path, "rb", cache_type="none", **known), location.address, location.error
        )
        # S3 is asked for the bytes of one ETag; of other systems it is asked after each range what there is now.
        self.is_conditional = type(handle).__module__.startswith("s3fs")
        if self.is_conditional:
            self._check(handle.details)
        self.is_whole = "Stream" in type(handle).__name__  # of a server that says that it sends whole files only
        self._fetch = getattr(handle, "_fetch_range", None) or self._cat
        if self.is_whole:
            handle.close()

    def close(self) -> None:
        """What is on its way is not tried again."""
        self.closed = True

    def _cat(self, start: int, stop: int) -> bytes:
        return cast("bytes", self.system.cat_file(self.path, start=start, end=stop))

    def read(self, start: int, stop: int) -> bytes:
        """All bytes of a range. What was read stays when an attempt fails; each asks for the rest, or half of it."""
        parts: list[bytes] = []
        step, attempt = stop - start, 0
        while start < stop:
            wanted = min(step, stop - start)
            try:
                if self.is_whole:
                    raise _NoRanges
                data = self._fetch(start, start + wanted)
                if len(data) > wanted:
                    raise _NoRanges
                if not data:
                    self.check_now()
                    raise EOFError("no bytes came")
            except (AlacarteError, _NoRanges):
                raise
            except Exception as problem:
                if type(problem).__name__ == "FileExpired" or _status(problem) == 412:
                    raise changed(self.location) from None
                if _status(problem) == 416:  # it is shorter now
                    self.check_now()
                if isinstance(problem, ValueError) and "range" in str(problem):
                    raise _NoRanges from None
                if self.closed or not may_pass(problem) or attempt == ATTEMPTS - 1:
                    raise _failure(problem, self.location.address, self.location.error, attempt + 1) from None
                time.sleep(waiting_time(attempt))
                attempt, step = attempt + 1, max(step // 2, min(step, FIRST_BLOCK))
                continue
            parts.append(data)
            start, attempt = start + len(data), 0
        if not self.is_conditional:
            self.check_now()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def check_now(self) -> None:
        location = self.location
        self._check(with_retries(self._info_now, location.address, location.error))

    def _info_now(self) -> dict[str, Any]:
        if not is_in_repository(self.location.address):
            return _info(self.system, self.path)
        hub = require("huggingface_hub", extra="hub", purpose=f"reading {self.location.name}")
        facts = hub.get_hf_file_metadata(self.system.url(self.path), token=self.system.token)
        return {"size": self.location.size, "ETag": facts.etag}  # a digest of the content, as the listing has it

    def _check(self, info: dict[str, Any]) -> None:
        if info.get("size") != self.location.size or version_of(info) != self.location.version:
            raise changed(self.location)


class _NoRanges(Exception):
    """The server sends whole files only."""


class _WholeCopy:
    """The same for a server that sends whole files only: a copy in a temporary file, which ends with its reader."""

    def __init__(self, ranges: _Ranges) -> None:
        from tempfile import NamedTemporaryFile

        location = ranges.location
        self._file = NamedTemporaryFile(prefix="alacarte-")  # noqa: SIM115 (closed by the reader)

        def get() -> bool:
            ranges.system.get_file(ranges.path, self._file.name)
            if Path(self._file.name).stat().st_size != location.size:
                ranges.check_now()
                raise EOFError("the file was cut off on its way")
            return True

        try:
            with_retries(get, location.address, location.error)
        finally:
            ranges.check_now()

    def read(self, start: int, stop: int) -> bytes:
        with Path(self._file.name).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def close(self) -> None:
        self._file.close()


class _Block:
    """A range that a thread of its own reads; a thread that the program does not wait for when it ends."""

    def __init__(self, ranges: "_Ranges | _WholeCopy", start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self._ranges = ranges
        self._data: bytes | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._read, name="alacarte-read-ahead", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            self._data = self._ranges.read(self.start, self.stop)
        except BaseException as error:  # raised again where the bytes are needed
            self._error = error

    def result(self) -> bytes:
        """The bytes, when they are there."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return cast("bytes", self._data)


class _Reader(io.RawIOBase):
    """The bytes of a file behind a URL, in order, some blocks ahead; after a seek it begins with small ones."""

    def __init__(self, location: Location, start: int, until: int) -> None:
        self._ranges: _Ranges | _WholeCopy = _Ranges(location)
        self._size = location.size
        self._until = min(until, location.size)
        self._position = start
        self._blocks: deque[_Block] = deque()  # on their way, in order, without gaps
        self._block, self._at = memoryview(b""), start  # the block that is being read, and where it begins
        self._step, self._ahead = FIRST_BLOCK, 1

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < len(view) and self._position < self._size:
            if not self._at <= self._position < self._at + len(self._block):
                self._next_block(len(view) - filled)
            begin = self._position - self._at
            part = self._block[begin : begin + len(view) - filled]
            view[filled : filled + len(part)] = part
            filled, self._position = filled + len(part), self._position + len(part)
        return filled

    def _next_block(self, wanted: int) -> None:
        """Make the block that holds the position the current one, and ask for the ones behind it."""
        while self._blocks and not self._blocks[0].start <= self._position < self._blocks[0].stop:
            self._blocks.popleft()
        if not self._blocks and self._position != self._at + len(self._block):  # elsewhere, by a seek
            self._step, self._ahead = FIRST_BLOCK, 1
        self._ask(wanted)
        block = self._blocks.popleft()
        try:
            self._block, self._at = memoryview(block.result()), block.start
        except _NoRanges:
            assert isinstance(self._ranges, _Ranges)
            self._ranges = _WholeCopy(self._ranges)
            self._blocks.clear()
            self._next_block(wanted)
            return
        self._step, self._ahead = min(2 * self._step, BLOCK), min(2 * self._ahead, AHEAD)
        self._ask(0)

    def _ask(self, wanted: int) -> None:
        begin = self._blocks[-1].stop if self._blocks else max(self._position, self._at + len(self._block))
        if not self._blocks and wanted:
            begin = self._position
        end = max(self._until, self._position + wanted)
        while len(self._blocks) < self._ahead and begin < min(end, self._size):
            stop = min(begin + min(max(self._step, wanted), BLOCK), self._size)
            self._blocks.append(_Block(self._ranges, begin, stop))
            begin = stop

    def close(self) -> None:
        if not self.closed:
            self._blocks.clear()
            self._ranges.close()
        super().close()
