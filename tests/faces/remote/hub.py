"""A stand-in for the Hugging Face Hub: what HfFileSystem asks of it to list, read and write, and what goes wrong."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = (".parquet", ".safetensors", ".npy", ".gz")  # which lie in a store of large files, behind a redirection
PAGE = 3  # entries of a listing that are sent at a time


class Refused(Exception):
    """An answer that is an error: a status, and the code by which the Hub says which."""

    def __init__(self, status, code=""):
        super().__init__(status, code)
        self.status, self.code = status, code


class Repository:
    """Branches, each a list of commits, each of which is all files by path; the name of a commit is their digest."""

    def __init__(self, private=False, gated=False):
        self.private, self.gated = private, gated
        self.branches = {"main": [{}]}

    def files(self, revision):
        if revision in self.branches:
            return self.branches[revision][-1]
        for commits in self.branches.values():
            for files in commits:
                if commit_name(files) == revision:
                    return files
        raise Refused(404, "RevisionNotFound")

    def commit(self, files, revision="main"):
        """Files in addition to those that there are; None removes one."""
        commits = self.branches.setdefault(revision, [self.branches["main"][-1]])
        merged = {**commits[-1], **files}
        commits.append({path: data for path, data in merged.items() if data is not None})


class Hub:
    """Repositories by path, and `faults`, each of which is asked before an answer is given."""

    def __init__(self, token):
        self.token, self.repositories, self.large, self.faults, self.requests = token, {}, {}, [], []
        self.lock = threading.Lock()

    def repository(self, name="datasets/me/texts", **access):
        return self.repositories.setdefault(name, Repository(**access))

    def put(self, path, data, revision="main"):
        """Commit a file to the dataset of the tests; its URL."""
        with self.lock:
            self.repository().commit({path: data}, revision)
        return f"hf://datasets/me/texts{'' if revision == 'main' else f'@{revision}'}/{path}"

    def get(self, path):
        return self.repository().files("main")[path]

    def listed(self):
        return sorted(self.repository().files("main"))

    def reads(self):
        return [wanted for _, path, wanted in self.requests if wanted and "/resolve/" in path]


def commit_name(files):
    text = "".join(f"{path} {blob_name(data)}\n" for path, data in sorted(files.items()))
    return hashlib.sha1(text.encode()).hexdigest()


def blob_name(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def entry(path, data):
    """What a listing says about a file; None is a folder."""
    if data is None:
        return {"type": "directory", "path": path, "oid": hashlib.sha1(path.encode()).hexdigest(), "size": 0}
    made = {"type": "file", "path": path, "oid": blob_name(data), "size": len(data)}
    if path.endswith(LARGE):
        made["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 127}
    return made


def below(files, folder, recursive):
    """The entries of a folder."""
    prefix = f"{folder}/" if folder else ""
    inside = [path for path in files if path.startswith(prefix)]
    if not inside and folder:
        raise Refused(404, "EntryNotFound")
    found = {}
    for path in inside:
        parts = path.removeprefix(prefix).split("/")
        for depth in range(1, len(parts)):
            if recursive or depth == 1:
                found[prefix + "/".join(parts[:depth])] = None
        if recursive or len(parts) == 1:
            found[path] = files[path]
    return [entry(path, data) for path, data in sorted(found.items())]


class HubHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits for 40 ms

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer()

    do_GET = do_POST = do_PUT = do_HEAD

    def answer(self):
        hub = self.server.hub
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with hub.lock:
            hub.requests.append((self.command, self.path, self.headers.get("Range")))
        fault = next((made for made in (fault(self) for fault in list(hub.faults)) if made), {})
        try:
            if fault.get("status"):
                raise Refused(fault["status"])
            with hub.lock:
                status, headers, data = self.found(hub, body)
        except Refused as refused:
            status, headers, data = refused.status, {"X-Error-Code": refused.code} if refused.code else {}, b""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if fault.get("cut") else data)
        if fault.get("cut"):
            self.close_connection = True

    def found(self, hub, body):
        """(status, headers, data) of an answer."""
        address = urlsplit(self.path)
        parts = address.path.strip("/").split("/")
        if parts[0] == "large":  # the store of large files, which wants no token: its URLs are signed
            return self.large(hub, parts[1], body)
        is_api = parts[0] == "api"
        parts = parts[is_api:] if is_api or parts[0] == "datasets" else ["models", *parts]
        name = "/".join(parts[:3]).removesuffix(".git")
        what, rest = (parts[3], [unquote(part) for part in parts[4:]]) if len(parts) > 3 else ("", [])
        given = self.headers.get("Authorization")
        if given not in (None, f"Bearer {hub.token}"):
            raise Refused(401)
        repository = hub.repositories.get(name)
        if repository is None or (repository.private and given is None):
            raise Refused(401 if given is None else 404, "RepoNotFound")
        if what == "resolve":
            if repository.gated:
                raise Refused(401 if given is None else 403, "GatedRepo")
            return self.resolved(hub, repository, rest[0], "/".join(rest[1:]))
        if what in ("commit", "preupload", "info") and given is None:
            raise Refused(401)
        if what == "info":
            return answered(
                {"transfer": "basic", "objects": [self.place(item) for item in json.loads(body)["objects"]]}
            )
        if what == "preupload":
            files = [item["path"] for item in json.loads(body)["files"]]
            modes = [(path, "lfs" if path.endswith(LARGE) else "regular") for path in files]
            return answered(
                {"files": [{"path": path, "uploadMode": mode, "shouldIgnore": False} for path, mode in modes]}
            )
        if what == "commit":
            return self.committed(hub, repository, rest[0], [json.loads(line) for line in body.splitlines()])
        files = repository.files(rest[0] if rest else "main")
        if what == "tree":
            query = parse_qs(address.query)
            entries = below(files, "/".join(rest[1:]), query["recursive"][0].lower() == "true")
            begin = int(query.get("cursor", ["0"])[0])
            page, more = entries[begin : begin + PAGE], len(entries) > begin + PAGE
            after = f"{self.base()}{address.path}?recursive={query['recursive'][0]}&cursor={begin + PAGE}"
            status, headers, data = answered(page)
            return status, {**headers, **({"Link": f'<{after}>; rel="next"'} if more else {})}, data
        if what == "paths-info":
            asked = parse_qs(body.decode())["paths"]
            known = [path for path in asked if any(file == path or file.startswith(f"{path}/") for file in files)]
            return answered([entry(path, files.get(path)) for path in known])
        facts = {"id": name.partition("/")[2], "sha": commit_name(files), "private": repository.private, "siblings": []}
        return answered({**facts, "disabled": False, "gated": repository.gated, "downloads": 0, "likes": 0, "tags": []})

    def base(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def resolved(self, hub, repository, revision, path):
        files = repository.files(revision)
        if path not in files:
            raise Refused(404, "EntryNotFound")
        data = files[path]
        headers = {"X-Repo-Commit": commit_name(files), "ETag": f'"{blob_name(data)}"'}
        if not path.endswith(LARGE):
            return self.ranged(data, headers)
        digest = hashlib.sha256(data).hexdigest()
        hub.large[digest] = data
        linked = {"X-Linked-Size": str(len(data)), "X-Linked-ETag": f'"{digest}"'}
        return 302, {**headers, **linked, "Location": f"{self.base()}/large/{digest}?X-Amz-Signature=signed"}, b""

    def ranged(self, data, headers):
        wanted = self.headers.get("Range")
        if wanted is None:
            return 200, headers, data
        begin, _, end = wanted.removeprefix("bytes=").partition("-")
        if int(begin) >= len(data):
            raise Refused(416)
        part = data[int(begin) : int(end) + 1]
        return 206, {**headers, "Content-Range": f"bytes {begin}-{int(begin) + len(part) - 1}/{len(data)}"}, part

    def place(self, item):
        return {**item, "actions": {"upload": {"href": f"{self.base()}/large/{item['oid']}", "header": {}}}}

    def large(self, hub, digest, body):
        if self.command == "PUT":
            assert hashlib.sha256(body).hexdigest() == digest
            hub.large[digest] = body
            return 200, {}, b""
        return self.ranged(hub.large[digest], {"ETag": f'"{digest}"'})

    def committed(self, hub, repository, revision, lines):
        files = {}
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = hub.large[value["oid"]]
            elif line["key"] == "deletedFile":
                files[value["path"]] = None
        repository.commit(files, revision)
        made = commit_name(repository.files(revision))
        return answered({"commitUrl": f"{self.base()}/datasets/me/texts/commit/{made}", "commitOid": made})


def answered(value):
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()
