"""The web application: routes, the page, and what keeps strangers out.

It answers requests that name this machine (by Host), refuses those that other pages send (by Origin), wants a token if
one is set, and bounds what is sent. The page is files of this package; nothing is fetched from elsewhere.
"""

import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from ipaddress import ip_address
from typing import Any

from alacarte.errors import AlacarteError, require
from alacarte.passes.work import usable_cores
from alacarte.serve.answers import QUESTIONS
from alacarte.serve.desk import Desk, desk_answer
from alacarte.serve.jobs import Jobs
from alacarte.serve.questions import BadQuestion, Parameter, Question, checked, openapi
from alacarte.serve.workspace import Workspace

LARGEST = 1 << 20  # bytes of a request, or of its address
PAGES = ("/", "/invent", "/word", "/compare", "/map", "/corpora", "/notes")  # views of the one page
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
UPLOAD = "/api/upload"
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
COOKIE = "alacarte-token"
ANY_ADDRESS = "0.0.0.0"
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def application(
    workspace: Workspace,
    hosts: tuple[str, ...] = THIS_MACHINE,
    token: str = "",
    memory: int | None = None,
) -> Any:
    """The ASGI application.

    `hosts` are the names it answers to (0.0.0.0: any address), `token` what a stranger has to know, if set, and
    `memory` the bytes that one long question may take.
    """
    require("starlette", extra="serve", purpose="alc serve")
    from anyio import CapacityLimiter
    from starlette.applications import Starlette
    from starlette.routing import Route

    jobs = Jobs(workspace, memory)
    desk = Desk(workspace, jobs)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        await jobs.warm()
        yield
        await desk.close()
        await jobs.close()

    at_once = CapacityLimiter(usable_cores() + 1)  # more quick questions would only get into each other's way
    routes = [
        Route(question.path, _endpoint(question, desk, at_once), methods=[question.method]) for question in QUESTIONS
    ]
    routes.append(Route(UPLOAD, _receiver(desk), methods=["post"]))
    routes.append(Route("/openapi.json", lambda request: _answer(_document())))
    page = _file("index.html")
    routes += [Route(path, _static(page, "text/html")) for path in PAGES]
    routes += [Route(f"/{name}", _static(_file(name), KINDS[name.rpartition(".")[2]])) for name in _page_files()]
    handlers = {404: _not_found, 405: _not_found, 500: _failed}
    inside = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return _Guard(inside, hosts, token)


def _page_files() -> list[str]:
    return [file.name for file in files("alacarte.serve").joinpath("page").iterdir() if file.name[0] != "."]


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


def _failed(request: Any, error: Exception) -> Any:
    """What we did not foresee; the whole of it is in the server's log."""
    return _answer({"error": f"the server has a fault ({type(error).__name__}); its log says more"}, 500)


def _endpoint(question: Question, desk: Desk, at_once: Any) -> Any:
    from anyio import to_thread
    from starlette.concurrency import iterate_in_threadpool

    async def endpoint(request: Any) -> Any:
        try:
            values = checked(question, await _given(question, request))
            if question.manner == "job":
                return _stream(desk.jobs.ask(question.path, values))
            if question.manner == "desk":
                return _answer(await desk_answer(question.answer(desk, **values)))
            if question.manner == "lines":
                return _stream(await _begun(iterate_in_threadpool(question.answer(desk.workspace, **values))))
            answer = partial(question.answer, desk.workspace, **values)
            return _answer(await to_thread.run_sync(answer, limiter=at_once))
        except AlacarteError as error:
            return _refused(error)

    return endpoint


def _refused(error: AlacarteError) -> Any:
    return _answer({"error": error.message, "hint": error.hint.python if error.hint else ""}, 400)


async def _begun(items: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The same items; what is wrong with the first one is said before anything is sent."""
    first = await anext(items)  # there is one: a phrase that nobody uses is an error

    async def all_items() -> AsyncIterator[Any]:
        yield first
        async for item in items:
            yield item

    return all_items()


def _stream(messages: AsyncIterator[Any]) -> Any:
    """Lines of JSON, as they come. When nobody listens any more, the source is closed."""
    from starlette.responses import StreamingResponse

    async def written() -> AsyncIterator[str]:
        try:
            async for message in messages:
                yield json.dumps(message, ensure_ascii=False, allow_nan=False) + "\n"
        finally:
            close = getattr(messages, "aclose", None)
            if close is not None:
                await close()

    return StreamingResponse(written(), media_type="application/x-ndjson")


def _receiver(desk: Desk) -> Any:
    async def receive(request: Any) -> Any:
        try:
            size = await desk.receive(request.query_params.get("name", ""), request.stream())
        except AlacarteError as error:
            return _refused(error)
        return _answer({"bytes": size})

    return receive


def _document() -> dict[str, Any]:
    """The OpenAPI document, with the one question that is no JSON."""
    document = openapi(QUESTIONS)
    name = Parameter("name", "string", "the name of the file", required=True, most=80)
    sent = Question(UPLOAD, "Send a text, as the body.", print, (name,), manner="desk")
    operation = openapi([sent])["paths"][UPLOAD]["get"]
    operation["requestBody"] = {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
    document["paths"][UPLOAD] = {"post": operation}
    return document


async def _given(question: Question, request: Any) -> dict[str, Any]:
    """What a request says, by name."""
    if question.method == "get":
        lists = {parameter.name for parameter in question.parameters if parameter.kind == "strings"}
        query = request.query_params
        named = [name for name in query if name != "token"]  # which is the guard's
        return {name: query.getlist(name) if name in lists else query[name] for name in named}
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

    def _answers_to(self, name: str) -> bool:
        """Where every address of this machine is one of its names, any address will do: strangers' pages have names."""
        return name in self._hosts or (ANY_ADDRESS in self._hosts and _is_address(name))

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
        if not self._answers_to(_name_of(host)):
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


def _is_address(name: str) -> bool:
    """
    >>> _is_address("192.168.0.7"), _is_address("[::1]"), _is_address("example.org")
    (True, True, False)
    """
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """A Host header without its port.

    >>> _name_of("localhost:8000"), _name_of("[::1]:8000"), _name_of("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    return host if host.endswith("]") else host.rpartition(":")[0] or host
