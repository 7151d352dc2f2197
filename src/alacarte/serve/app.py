"""The web application: routes, the page, and what keeps strangers out.

It answers requests that name this machine (by Host), refuses those that other pages send (by Origin and
Sec-Fetch-Site), wants a token, and bounds what is sent. The page is files of this package; nothing is fetched from
elsewhere.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping, MutableMapping
from contextlib import aclosing, asynccontextmanager
from importlib.resources import files
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlencode

from alacarte.errors import AlacarteError, require
from alacarte.passes.work import usable_cores
from alacarte.serve.answers import QUESTIONS
from alacarte.serve.desk import PAGES, Desk
from alacarte.serve.jobs import Jobs, Message, Pool
from alacarte.serve.questions import BadQuestion, Question, as_json, checked, openapi
from alacarte.serve.workspace import Workspace

LARGEST = 1 << 20  # bytes of a request, or of its address
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
POLICY = "default-src 'self'; img-src 'self' blob:; base-uri 'none'"
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
COOKIE = "alacarte-token"
MOST_PROCESSES = 4  # that answer short questions about words
LINE_PROCESSES = 2  # that find lines
SHORTEST_TOKEN = 16  # letters: nobody guesses that many
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
    notebook: bool = False,
) -> Any:
    """Yield the ASGI application.

    `hosts` are the names it answers to (0.0.0.0: any address), `token` what one has to know, from `checked_token`
    (without one, everybody on this machine is answered), and `memory` the bytes that one question may take. For a
    `notebook`, other pages of this machine may show the page in a frame.
    """
    require("starlette", extra="serve", purpose="alc serve")
    from starlette.applications import Starlette
    from starlette.routing import Route

    jobs = Jobs(workspace, memory)
    desk = Desk(workspace, jobs)
    pools = {
        "words": Pool(workspace, memory, min(usable_cores(), MOST_PROCESSES)),
        "lines": Pool(workspace, memory, LINE_PROCESSES),
    }

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        await asyncio.gather(*(pool.warm() for pool in pools.values()), jobs.warm())
        yield
        await desk.close()
        await asyncio.gather(*(pool.close() for pool in pools.values()), jobs.close())

    routes = [
        Route(question.path, _endpoint(question, desk, pools), methods=[question.method]) for question in QUESTIONS
    ]
    routes.append(Route("/openapi.json", lambda request: _answer(openapi(QUESTIONS))))
    page = _file("index.html")
    routes += [Route(path, _static(page, "text/html")) for path in PAGES]
    routes += [Route(f"/{name}", _static(_file(name), KINDS[name.rpartition(".")[2]])) for name in _page_files()]
    handlers = {404: _not_found, 405: _not_found, 500: _failed}
    inside = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return _Guard(inside, hosts, token, notebook)


def checked_token(given: str | None) -> str:
    """Return a token; one is made up for None and "new".

    >>> len(checked_token(None))
    32
    """
    token = secrets.token_hex(16) if given in (None, "new") else str(given)
    if not (token.isascii() and token.isalnum() and len(token) >= SHORTEST_TOKEN):
        raise AlacarteError(
            f"a token is made of at least {SHORTEST_TOKEN} letters from a to z and digits, so that nobody guesses it; "
            "leave it out to have one made up"
        )
    return token


def _page_files() -> list[str]:
    return [file.name for file in files("alacarte.serve").joinpath("page").iterdir() if file.name[0] != "."]


def _file(name: str) -> bytes:
    return files("alacarte.serve").joinpath("page", name).read_bytes()


def _static(content: bytes, kind: str) -> Any:
    from starlette.responses import Response

    return lambda request: Response(content, media_type=f"{kind}; charset=utf-8")


def _answer(value: object, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(as_json(value), status, media_type="application/json")


def _not_found(request: Any, error: Any) -> Any:
    return _answer(
        {"error": f"there is no {request.method} {request.url.path} here; see /openapi.json"}, error.status_code
    )


def _failed(request: Any, error: Exception) -> Any:
    """Return what we did not foresee; the whole of it is in the server's log."""
    return _answer({"error": f"the server has a fault ({type(error).__name__}); its log says more"}, 500)


def _endpoint(question: Question, desk: Desk, pools: Mapping[str, Pool]) -> Any:
    async def endpoint(request: Any) -> Any:
        try:
            values = checked(question, await _given(question, request))
            if question.manner == "job":
                return _stream(desk.jobs.ask(question.path, values))
            if question.manner in ("desk", "upload"):
                sent = {"parts": request.stream()} if question.manner == "upload" else {}
                answer = question.answer(desk, **values, **sent)
                return _answer((await answer if isinstance(answer, Coroutine) else answer) or {})
            if question.manner == "here":
                return _answer(await asyncio.to_thread(question.answer, desk.workspace, **values))
            said = await _while_waited_for(request, pools[question.manner].ask(question.path, values))
            status = 500 if "fault" in said else 400 if "error" in said else 200
            return _answer(said.get("answer", said), status)
        except AlacarteError as error:
            return _answer({"error": error.message, "hint": error.hint.python if error.hint else ""}, 400)

    return endpoint


async def _while_waited_for(request: Any, work: Coroutine[Any, Any, Message]) -> Message:
    """Return what comes of the work, which is given up when the one who asked is gone."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, watch = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait((task, watch), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else {"error": "nobody waits for this answer any more"}
    finally:
        task.cancel()
        watch.cancel()


def _stream(messages: AsyncGenerator[Message, None]) -> Any:
    """Lines of JSON, as they come. When nobody listens any more, the source is closed."""
    from starlette.responses import StreamingResponse

    async def written() -> AsyncIterator[bytes]:
        async with aclosing(messages):
            async for message in messages:
                yield as_json(message) + b"\n"

    return StreamingResponse(written(), media_type="application/x-ndjson")


async def _given(question: Question, request: Any) -> dict[str, Any]:
    """Return what a request says, by name."""
    if question.in_query:
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

    def __init__(self, inside: Any, hosts: tuple[str, ...], token: str, notebook: bool = False) -> None:
        self._inside, self._hosts, self._token = inside, hosts, token
        frames = "http://localhost:* http://127.0.0.1:*" if notebook else "'none'"
        self._headers = {**HEADERS, "content-security-policy": f"{POLICY}; frame-ancestors {frames}"}

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
                added = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        answer: Any = self._inside
        refused = self._refusal(request)
        if refused is not None:
            answer = _answer({"error": refused}, 403)
        elif "token" in request.query_params and request.url.path in PAGES:
            answer = self._let_in(request)
        await answer(scope, receive, with_headers)

    def _refusal(self, request: Any) -> str | None:
        host = request.headers.get("host", "")
        if not self._answers_to(_name_of(host)):
            return "this server does not answer to that name; open it by the address that alc serve printed"
        origin = request.headers.get("origin")
        page = request.url.path in PAGES
        from_page = request.headers.get("sec-fetch-site", "none")  # browsers say from where a page asks
        opened = page and request.headers.get("sec-fetch-mode") == "navigate"  # a link that somebody followed
        if (origin is not None and origin.partition("://")[2] != host) or (
            from_page not in ("same-origin", "none") and not opened
        ):
            return "this request comes from another page; requests of other pages are refused"
        if self._token and not self._knows_token(request, page):
            return "a token is needed; open the address that alc serve printed"
        return None

    def _let_in(self, request: Any) -> Any:
        """Return the page without the token in its address, so that nobody copies it; a cookie has it from here on."""
        from starlette.responses import RedirectResponse

        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        answer = RedirectResponse(request.url.path + (f"?{urlencode(rest)}" if rest else ""), 303)
        if self._token:
            answer.set_cookie(self._cookie(request), self._token, httponly=True, samesite="strict")
        return answer

    @staticmethod
    def _cookie(request: Any) -> str:
        """Browsers send cookies to all ports of a machine, on which other servers may be."""
        return f"{COOKIE}-{request.url.port or 80}"

    def _knows_token(self, request: Any, page: bool) -> bool:
        given = (
            request.query_params.get("token") if page else None,
            request.cookies.get(self._cookie(request)),
            request.headers.get("authorization", "").removeprefix("Bearer "),
        )
        return any(secrets.compare_digest(value.encode(), self._token.encode()) for value in given if value)


def _is_address(name: str) -> bool:
    """Whether a host is an address and not a name.

    >>> _is_address("192.168.0.7"), _is_address("[::1]"), _is_address("example.org")
    (True, True, False)
    """
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """Return a Host header without its port.

    >>> _name_of("localhost:8000"), _name_of("[::1]:8000"), _name_of("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    return host if host.endswith("]") else host.rpartition(":")[0] or host
