"""Servers that misbehave when they are told to: plain HTTP, and what stands before an S3 server."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler

BUCKET = "texts"
SECRET = "a-very-secret-key"


class Site:
    """Files by path, and what goes wrong: each of `faults` is asked before an answer is given."""

    def __init__(self):
        self.files, self.faults, self.requests = {}, [], []
        self.ranges = True
        self.etags = True
        self.lock = threading.Lock()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def fault(self, handler):
        with self.lock:
            self.requests.append((handler.command, handler.path, handler.headers.get("Range")))
            return next((made for made in (fault(handler) for fault in list(self.faults)) if made), None)


def first(count, status=None, cut=False, only=("GET",)):
    """A fault: the first so many requests get a status, or half of what they asked for."""
    left = [count]

    def fault(handler):
        if handler.command not in only or not left[0]:
            return None
        left[0] -= 1
        return {"status": status, "cut": cut}

    return fault


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        site = self.server.site
        fault = site.fault(self) or {}
        path = self.path.partition("?")[0]
        data = site.files.get(path)
        status = fault.get("status") or (404 if data is None else 200)
        if status >= 400:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        etag = f'"{hashlib.md5(data).hexdigest()}"'
        wanted = self.headers.get("Range")
        whole = len(data)
        if wanted and site.ranges:
            begin, _, end = wanted.removeprefix("bytes=").partition("-")
            data = data[int(begin) : int(end) + 1]
            status = 206
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {begin}-{int(begin) + len(data) - 1}/{whole}")
        self.send_header("Content-Length", str(len(data)))
        if site.etags:
            self.send_header("ETag", etag)
        self.end_headers()
        if body:
            self.wfile.write(data[: len(data) // 2] if fault.get("cut") else data)
        if fault.get("cut"):
            self.close_connection = True


class Faulty:
    """A WSGI application whose `faults` are asked first, each with the request: an answer, or None."""

    def __init__(self, application):
        self.application, self.faults = application, []

    def __call__(self, environ, start_response):
        for fault in list(self.faults):
            answer = fault(environ, start_response)
            if answer is not None:
                return answer
        return self.application(environ, start_response)


class Store:
    """A bucket, and what goes wrong when it is read."""

    def __init__(self, system, faults):
        self.system, self.faults = system, faults

    def put(self, key, data):
        self.system.pipe_file(f"{BUCKET}/{key}", data)
        return f"s3://{BUCKET}/{key}"

    def get(self, key):
        return self.system.cat_file(f"{BUCKET}/{key}")

    def listed(self):
        return sorted(path.removeprefix(f"{BUCKET}/") for path in self.system.find(BUCKET))
