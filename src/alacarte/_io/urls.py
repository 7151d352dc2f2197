"""Files by name, wherever they are: a path on disk, or a URL, which fsspec opens.

`SCHEMES` lists every kind of URL that is opened. Of a URL, messages and saved files have scheme, host, path and the
names in its query, never user, password or values: see `without_secrets`.
"""

import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from alacarte.errors import AlacarteError, MissingExtra, require

# Every scheme that is opened, and what has to be installed for it beside fsspec.
SCHEMES = {
    "file": "",
    "http": "aiohttp",
    "https": "aiohttp",
    "s3": "s3fs",
    "gs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "hf": "huggingface_hub",
}
READ_AHEAD = 8 << 20  # bytes that are asked for beyond those that are needed
LITTLE_AHEAD = 1 << 16  # the same where only the beginning of a file, or a part, is wanted
BUFFER = 1 << 18  # bytes
SILENCE = 60.0  # seconds without a byte, after which a web server is given up
URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
COLLAPSED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")  # what pathlib makes of a URL
URL_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")
HIDDEN_VALUES = re.compile(r"[?;][^?#]*…#[0-9a-f]{12}")  # the end of what `without_secrets` makes
# By which of its facts a file system tells one content of a file from another, best first.
VERSIONS = (
    *("ETag", "etag", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest", "sha256", "blob_id", "oid"),
    *("VersionId", "Last-Modified", "LastModified", "last_modified", "mtime", "modified", "updated", "created"),
)
# The names of errors, by all libraries.
REFUSED = re.compile("Credential|Auth")
NOT_OPEN = re.compile("RepositoryNotFound|GatedRepo")  # on the Hub, a private repository is as one that does not exist
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
    """Return the URL that a name is, or None for a path; `Path("s3://bucket/key")`, which has lost a slash, is one too.

    Raises AlacarteError for what no system takes as a name: a NUL, half a character.

    >>> url_of("s3://bucket/key"), url_of(Path("s3://bucket/key")), url_of("s3/key")
    ('s3://bucket/key', 's3://bucket/key', None)
    """
    text = _checked_name(os.fspath(name))
    if URL.match(text):
        return text
    collapsed = COLLAPSED.match(text)
    if collapsed is None or collapsed[1] not in SCHEMES:
        return None
    slashes = ":///" if collapsed[1] == "file" else "://"
    return f"{collapsed[1]}{slashes}{text[collapsed.end() :]}"


def _checked_name(text: str) -> str:
    try:
        if b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:
        pass
    raise AlacarteError(f"{text[:80]!r} is no name of a file; check the path")


def local_path(name: str | os.PathLike[str]) -> Path | None:
    """Return the path on disk of a path or a `file://` URL; None for other URLs.

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

    return Path(_checked_name(url2pathname(rest.removeprefix("localhost"))))


def path_on_disk(name: str | os.PathLike[str], error: type[AlacarteError], what: str) -> Path:
    """Return the path that a name is, for what is locked or changed in place; raises `error` for a URL.

    >>> path_on_disk("lab/run", AlacarteError, "a run").as_posix()
    'lab/run'
    """
    path = local_path(name)
    if path is None:
        raise error(
            f"{display_name(name)}: {what} lies on a disk, where files can be locked and changed in place; name a path."
            " Text, vectors, models and sums can be at URLs"
        )
    return path


def without_secrets(url: str) -> str:
    """Return a URL without user, password and the values of its query; a digest of the query tells two URLs apart.

    >>> without_secrets("https://me:secret@host/a.csv?author=a&page=2")
    'https://host/a.csv?author=…&page=…#a8534941a2b2'
    >>> without_secrets("abfs://container@account.dfs.core.windows.net/a.txt")
    'abfs://container@account.dfs.core.windows.net/a.txt'
    """
    place, secret = _split(url)
    scheme, separator, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    user, at, server = host.rpartition("@")
    if at and not (scheme.lower() in ("az", "abfs") and ":" not in user):
        host = server
    place = f"{scheme}{separator}{host}{slash}{path}"
    if HIDDEN_VALUES.fullmatch(secret):
        return place + secret
    secret = secret.partition("#")[0]
    if not secret[1:]:
        return place
    names = [re.match(r"([^=]+=)=*[^=]", part) for part in secret[1:].split("&")]
    query = "&".join(f"{name[1] if name else ''}…" for name in names)
    return f"{place}{secret[0]}{query}#{sha256(secret.encode(errors='surrogatepass')).hexdigest()[:12]}"


def _split(url: str) -> tuple[str, str]:
    """Return a URL up to its path, and what follows: the query, or parameters behind a semicolon."""
    marks = {"http": r"[?;#]", "https": r"[?;#]", "az": r"\?", "abfs": r"\?"}  # elsewhere ? is a letter of a name
    scheme = url.partition("://")[0].lower()
    mark = re.search(marks[scheme], url) if scheme in marks else None
    return (url, "") if mark is None else (url[: mark.start()], url[mark.start() :])


def display_name(name: str | os.PathLike[str]) -> str:
    """Return a name for messages and saved files: a path as it is, a URL without secrets."""
    url = url_of(name)
    return os.fspath(name) if url is None else without_secrets(url)


def in_text_without_secrets(text: str) -> str:
    """Return a message of somebody else, with every URL in it as it may be shown, and no query.

    >>> in_text_without_secrets("400, url='https://me:secret@host/a?sig=secret'")
    "400, url='https://host/a"
    """
    return URL_IN_TEXT.sub(lambda match: without_secrets(match[0]), re.sub(r"[?;]\S+", "", text))


def base_name(url: str) -> str:
    """Return the last part of a URL's path.

    >>> base_name("https://host/a/b.txt?part=2"), base_name("s3://bucket/key/")
    ('b.txt', 'key')
    """
    return _split(url)[0].rstrip("/").rpartition("/")[2]


def sibling(url: str, name: str) -> str:
    """Return the URL of a file beside another.

    >>> sibling("s3://bucket/a.npy", "a.vocab.txt")
    's3://bucket/a.vocab.txt'
    """
    return f"{_split(url)[0].rstrip('/').rpartition('/')[0]}/{name}"


def is_in_repository(url: str) -> bool:
    """Whether a URL is one of a repository on the Hugging Face Hub, which has buckets too.

    >>> is_in_repository("hf://datasets/me/texts/a.txt"), is_in_repository("hf://buckets/me/texts/a.txt")
    (True, False)
    """
    return url.lower().startswith("hf://") and not url.lower().startswith("hf://buckets/")


def file_system(url: str, error: type[AlacarteError] = AlacarteError) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it; without a cache of listings, which would hide what changes.

    Raises `error` unless the scheme is one of `SCHEMES`; one URL within another (`::`) is refused.
    """
    scheme, name = url.partition("://")[0].lower(), without_secrets(url)
    if "::" in url:
        raise error(f"{name.partition('::')[0]}::…: URLs within URLs are not opened; name the file itself")
    if scheme not in SCHEMES:
        raise error(f"{name}: {scheme}:// is not opened; pass a path, or a URL with {', '.join(SCHEMES)}")
    fsspec = require("fsspec", extra="remote", purpose=f"reading {name}")
    try:
        system, path = fsspec.core.url_to_fs(url, use_listings_cache=False, **_http_options(scheme))
        return system, cast("str", path)
    except ImportError:
        package = SCHEMES[scheme]
        raise MissingExtra(
            f"{name}: {scheme}:// needs {package!r}, which is not installed. Run: pip install {package}"
        ) from None
    except ValueError as problem:
        raise error(f"{name}: {in_text_without_secrets(str(problem))}; check the URL") from None


def _http_options(scheme: str) -> dict[str, Any]:
    """Return what fsspec needs for web servers: stored bytes, and no limit on how long a file may take."""
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

    def open(self, start: int = 0, until: int | None = None) -> "io.BufferedReader[Any]":
        """Return the bytes from `start` on, as they are stored; nothing before it is read.

        `until` is where the reader will stop, if that is known: little behind it is read.
        """
        raw: io.RawIOBase
        if self.path is None:
            raw = _RemoteFile(self, READ_AHEAD if until is None else LITTLE_AHEAD)
        else:
            raw = io.FileIO(self.path)
        if start:
            raw.seek(start)
        return io.BufferedReader(raw, BUFFER)

    def check(self) -> None:
        """Raise unless the file is still the one that was located."""
        if self.path is not None:
            now = locate(self.path)
            is_same = (now.size, now.version) == (self.size, self.version)
        else:
            system, path = file_system(self.address, self.error)
            is_same = translated(lambda: _is_same(self, system, path), self.address, self.error)
        if not is_same:
            raise self.error(
                f"{self.name} was changed while it was read, or is not the same file everywhere; wait for what writes "
                "it, then begin again"
            )


def _is_same(location: Location, system: Any, path: str) -> bool:
    if is_in_repository(location.address):  # a listing would count against the narrow limits of the Hub
        hub = require("huggingface_hub", extra="hub", purpose=f"reading {location.name}")
        return str(hub.get_hf_file_metadata(system.url(path), token=system.token).etag) == location.version
    info = _info(system, path)
    return (info.get("size"), version_of(info)) == (location.size, location.version)


def locate(name: "str | os.PathLike[str] | Location", error: type[AlacarteError] = AlacarteError) -> Location:
    """Return the file that a path or a URL names; raises `error` (for a path, OSError) if there is none."""
    if isinstance(name, Location):
        return name
    path = local_path(name)
    if path is not None:
        stat = path.stat()
        return Location(str(path), stat.st_size, f"{stat.st_mtime_ns}-{stat.st_size}", path, error=error)
    url = cast("str", url_of(name))
    system, place = file_system(url, error)
    info = translated(lambda: _info(system, place), url, error)
    if info.get("type") == "directory":
        raise error(f"{without_secrets(url)} is a folder; name a file in it")
    return _location(url, info, error)


def _info(system: Any, place: str) -> dict[str, Any]:
    """Return the facts about a file as they are now."""
    system.invalidate_cache(place)
    return cast("dict[str, Any]", system.info(place))


def _location(url: str, info: dict[str, Any], error: type[AlacarteError]) -> Location:
    if info.get("mimetype") == "text/html":
        raise error(f"{without_secrets(url)} is a web page; name the files that it leads to")
    if info.get("size") is None:
        raise error(
            f"{without_secrets(url)}: the server does not say how large it is, so nobody could tell whether all of it "
            "was read; download it and pass the file"
        )
    return Location(without_secrets(url), int(info["size"]), version_of(info), None, url, error)


def version_of(info: dict[str, Any]) -> str:
    """Return what tells one content of a file from another, by the facts that its file system gives.

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
    """Return the files behind a URL: itself, those that match a pattern, or all below a folder; hidden ones not.

    Raises `error` if there are none.
    """
    system, place = file_system(url, error)
    system.invalidate_cache()  # all of it: that of Hugging Face keeps listings of folders below
    is_pattern = re.search(r"[*\[]" if url.startswith(("http://", "https://")) else r"[*?\[]", place) is not None
    if not is_pattern:
        info = translated(lambda: _info(system, place), url, error)
        if info.get("type") != "directory":
            return [_location(url, info, error)]
    find = system.glob if is_pattern else system.find
    listed = translated(lambda: cast("dict[str, dict[str, Any]]", find(place, detail=True)), url, error)
    folder = re.split(r"[*?\[]", place)[0].rpartition("/")[0] if is_pattern else place.rstrip("/")
    files = []
    for path, facts in listed.items():
        hidden = any(part.startswith(".") for part in path.removeprefix(f"{folder}/").split("/"))
        if hidden or facts.get("type") == "directory" or path.endswith("/"):
            continue
        address = _address(url, place, path)
        files.append(locate(address, error) if facts.get("size") is None else _location(address, facts, error))
    if not files:
        what = "no file matches" if is_pattern else "there is no file in"
        raise error(f"{what} {without_secrets(url)} (hidden ones are skipped); check the URL")
    return sorted(files, key=lambda file: file.name.split("/"))


def _address(url: str, place: str, path: str) -> str:
    """Return the URL of a path that was listed, in the form of the URL and its own path that it was listed for.

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


class _RemoteFile(io.RawIOBase):
    """A file that fsspec reads, whose errors say what to do."""

    def __init__(self, location: Location, ahead: int) -> None:
        self._location = location
        system, path = file_system(location.address, location.error)
        # With its size, nothing is asked of a repository: that would list the whole folder.
        known = {"size": location.size} if is_in_repository(location.address) else {}
        options = {"block_size": ahead, "cache_type": "readahead", **known}
        self._file = translated(lambda: system.open(path, "rb", **options), location.address, location.error)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = translated(lambda: self._file.read(len(view)), self._location.address, self._location.error)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()


# ----------------------------------------------------------------------------------------------- what goes wrong


def translated(call: Callable[[], Result], url: str, error: type[AlacarteError]) -> Result:
    """Return what a call to a file system returns; what it raises becomes `error`, without secrets."""
    try:
        return call()
    except AlacarteError:
        raise
    except Exception as problem:
        raise _failure(problem, url, error) from None


def _causes(problem: BaseException) -> Iterator[BaseException]:
    seen = set()
    current: BaseException | None = problem
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _status(problem: BaseException) -> int | None:
    """Return the HTTP status behind an error, as the libraries keep it in different places."""
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


def _failure(problem: BaseException, url: str, error: type[AlacarteError]) -> AlacarteError:
    """Return the error that says what is wrong with a URL and what to do, without secrets."""
    name, status = without_secrets(url), _status(problem)
    kinds = " ".join(f"{type(cause).__module__}.{type(cause).__name__}" for cause in _causes(problem))
    answer = "" if status is None else f" (the server answers {status})"
    if is_in_repository(url) and (status in (401, 403) or NOT_OPEN.search(kinds)):
        return error(f"{name}: there is no such repository, or it is not open to you{answer}; {LOG_IN}")
    if isinstance(problem, PermissionError) or status in (401, 403) or REFUSED.search(kinds):
        return error(f"{name}: access is denied{answer}; {CREDENTIALS}")
    if status in (412, 416) or type(problem).__name__ == "FileExpired":
        return error(f"{name} was changed while it was read; wait for what writes it, then begin again")
    if status in (404, 410) or (isinstance(problem, FileNotFoundError) and status is None and "aiohttp" not in kinds):
        return error(f"{name}: there is no such file or folder{answer}; check the URL")
    message = in_text_without_secrets(" ".join(str(problem).split()))[:200]
    reason = answer.strip(" ()") or f"{type(problem).__name__}{': ' if message else ''}{message}"
    return error(
        f"{name} cannot be read ({reason}); check the URL, the network and the service, then run the same command again"
    )
