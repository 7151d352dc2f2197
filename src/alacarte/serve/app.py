"""The web application: routes, the page, and what keeps strangers out.

It answers requests that name this machine (by Host), refuses those that other pages send (by Origin), wants a token if
one is set, and bounds what is sent. The page is files of this package; nothing is fetched from elsewhere.
"""

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from importlib.resources import files
from typing import Any

from alacarte.errors import AlacarteError, require
from alacarte.serve.questions import QUESTIONS, BadQuestion, Question, Workspace, checked, openapi

LARGEST = 1 << 20  # bytes of a request
PAGES = ("/", "/invent", "/word")  # views of the one page
FILES = {"/app.js": "text/javascript", "/style.css": "text/css", "/icon.svg": "image/svg+xml"}
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
COOKIE = "alacarte-token"
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def application(
    workspace: Workspace, hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]"), token: str = ""
) -> Any:
    """The ASGI application; `hosts` are the names it answers to, `token` what a stranger has to know, if set."""
    require("starlette", extra="serve", purpose="alc serve")
    from starlette.applications import Starlette
    from starlette.routing import Route

    routes = [Route(question.path, _endpoint(question, workspace), methods=[question.method]) for question in QUESTIONS]
    routes.append(Route("/openapi.json", lambda request: _answer(openapi())))
    page = _file("index.html")
    routes += [Route(path, _static(page, "text/html")) for path in PAGES]
    routes += [Route(path, _static(_file(path.strip("/")), kind)) for path, kind in FILES.items()]
    return _Guard(Starlette(routes=routes, exception_handlers={404: _not_found, 405: _not_found}), hosts, token)


def _file(name: str) -> bytes:
    return files("alacarte.serve").joinpath("page", name).read_bytes()


def _static(content: bytes, kind: str) -> Any:
    from starlette.responses import Response

    return lambda request: Response(content, media_type=f"{kind}; charset=utf-8")


def _answer(value: object, status: int = 200) -> Any:
    from starlette.responses import Response

    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return Response(text, status, media_type="application/json")


def _not_found(request: Any, error: Any) -> Any:
    return _answer(
        {"error": f"there is no {request.method} {request.url.path} here; see /openapi.json"}, error.status_code
    )


def _endpoint(question: Question, workspace: Workspace) -> Any:
    from starlette.concurrency import run_in_threadpool

    async def endpoint(request: Any) -> Any:
        try:
            given = await _given(question, request)
            values = checked(question, given)
            return _answer(await run_in_threadpool(question.answer, workspace, **values))
        except AlacarteError as error:
            return _answer({"error": error.message, "hint": error.hint.python if error.hint else ""}, 400)

    return endpoint


async def _given(question: Question, request: Any) -> dict[str, Any]:
    """What a request says, by name."""
    if question.method == "get":
        lists = {parameter.name for parameter in question.parameters if parameter.kind == "strings"}
        query = request.query_params
        return {name: query.getlist(name) if name in lists else query[name] for name in query}
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadQuestion("send JSON, with the header Content-Type: application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise BadQuestion(f"that is more than {LARGEST >> 20} MB; send less")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadQuestion("that is no JSON") from None
    if not isinstance(value, dict):
        raise BadQuestion("send a JSON object")
    return value


class _Guard:
    """Lets a request through that names this machine, comes from our own page or from no page, and knows the token."""

    def __init__(self, inside: Any, hosts: tuple[str, ...], token: str) -> None:
        self._inside, self._hosts, self._token = inside, hosts, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        from starlette.requests import Request

        request = Request(scope)

        async def with_headers(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                if self._token and request.query_params.get("token") == self._token:
                    cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
                    added.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        refused = self._refusal(request)
        if refused is not None:
            await _answer({"error": refused}, 403)(scope, receive, with_headers)
            return
        await self._inside(scope, receive, with_headers)

    def _refusal(self, request: Any) -> str | None:
        host = request.headers.get("host", "")
        if _name_of(host) not in self._hosts:
            return "this server does not answer to that name; open it by the address that alc serve printed"
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "this request comes from another page; requests of other pages are refused"
        if self._token and not self._knows_token(request):
            return "a token is needed; open the address that alc serve printed"
        return None

    def _knows_token(self, request: Any) -> bool:
        given = (
            request.query_params.get("token"),
            request.cookies.get(COOKIE),
            request.headers.get("authorization", "").removeprefix("Bearer "),
        )
        return any(secrets.compare_digest(value.encode(), self._token.encode()) for value in given if value)


def _name_of(host: str) -> str:
    """A Host header without its port.

    >>> _name_of("localhost:8000"), _name_of("[::1]:8000"), _name_of("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    return host if host.endswith("]") else host.rpartition(":")[0] or host
