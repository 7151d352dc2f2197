"""`alc serve`: the page."""

import os
import secrets
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte._io.files import data_folder
from alacarte.cli import options as o
from alacarte.cli.config import read_defaults
from alacarte.cli.opening import open_model
from alacarte.cli.output import show_line, voice
from alacarte.errors import AlacarteError, require

if TYPE_CHECKING:
    from alacarte.concordance import Concordance
    from alacarte.model import ALaCarte


MODEL = "glove.6B.50d"


def serve(
    concordances: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CONCORDANCE", show_default=False, help="Folders made by alc concordance build."),
    ] = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8765,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Answer other machines too, under this name or address (0.0.0.0: under any address); needs --token.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What others have to know; 'new' makes one up.", show_default=False),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where texts, corpora and notes of the page are kept; the user's own by default."
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The most memory for one long question; half of it by default.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    verbosity: o.Verbosity = None,
) -> None:
    """Open a page to invent words and to question corpora; without one, a small corpus to try.

    More corpora can be added on the page. Only this machine is answered, unless --host says otherwise. Ctrl-C ends it.

    \b
    alc serve
    alc serve reviews.concordance --model glove.6B.50d
    """
    require("starlette", extra="serve", purpose="alc serve")
    uvicorn = require("uvicorn", extra="serve", purpose="alc serve")
    from alacarte.concordance import Concordance
    from alacarte.passes.memory import parse_size
    from alacarte.serve.app import ANY_ADDRESS, LARGEST, THIS_MACHINE, application
    from alacarte.serve.worker import usual_memory
    from alacarte.serve.workspace import Opening, Workspace, corpus_name

    if host is not None and not token:
        raise AlacarteError("--host lets other machines in; pass --token TEXT too, or --token new to have one made up")
    if token and not (token.isascii() and token.isalnum()):
        raise AlacarteError("--token is made of letters from a to z and digits")
    secret = secrets.token_hex(16) if token == "new" else token or ""
    if transform is None:
        model = model or read_defaults().get("model", MODEL)
    usual = Opening(model, None if transform is None else str(transform), vectors)
    opened = open_model(usual.model, vectors=vectors, transform=transform)  # says at once what is wrong with it
    corpora = {corpus_name(path): Concordance(path).path.absolute() for path in concordances or ()}
    if len(corpora) < len(concordances or ()):
        raise AlacarteError("two of these concordances have the same name; rename one of the folders")
    if not concordances:
        corpora = {"Python's language reference": _small_corpus(opened).path.absolute()}
    folder = (data_folder() / "workspace" if workspace is None else workspace).absolute()
    kept = sorted(path for path in folder.glob("models/*") if path.is_dir())
    models = {usual.model or str(transform): usual, **{path.name: Opening(str(path)) for path in kept}}
    config = uvicorn.Config(
        application(
            Workspace(models, corpora, folder),
            (*THIS_MACHINE, *([host, socket.gethostname()] if host else ())),
            secret,
            usual_memory() if memory is None else parse_size(memory),
        ),
        log_level="info" if voice.verbose else "warning",
        server_header=False,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=LARGEST,
    )
    try:
        listening = _listening("127.0.0.1" if host is None else "0.0.0.0", port)
    except OSError as error:
        raise AlacarteError(
            f"port {port} cannot be used ({os.strerror(error.errno or 0)}); pass --port 0 for any that is free"
        ) from None
    place = f"{listening.getsockname()[1]}/{f'?token={secret}' if secret else ''}"
    address = f"http://{'localhost' if host in (None, ANY_ADDRESS) else host}:{place}"
    show_line(f"The page is at {address} (Ctrl-C ends it).")
    if host == ANY_ADDRESS:
        show_line(f"Other machines find it at http://{socket.gethostname()}:{place}, or by any address of this one.")
    sys.stdout.flush()
    if browser:
        import webbrowser

        webbrowser.open(address)
    with suppress(KeyboardInterrupt):  # how it is meant to end
        uvicorn.Server(config).run(sockets=[listening])


def _listening(address: str, port: int) -> socket.socket:
    """A socket that says that it is TCP: only then asyncio sends answers at once, and not 40 ms later."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere this would let two servers have the same port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
    except OSError:
        made.close()
        raise
    return made


def _small_corpus(model: "ALaCarte") -> "Concordance":
    """Python's own language reference, which is on every machine, as a concordance in the cache."""
    from alacarte._io.files import cache_folder
    from alacarte.cli._demo import language_reference, paragraphs, part_of_reference
    from alacarte.concordance import Concordance, is_concordance
    from alacarte.text.corpus import Corpus, Document

    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    folder = cache_folder() / f"demo-2-{model.vectors.fingerprint[:12]}-{python}.concordance"
    if is_concordance(folder) and len(Concordance(folder)):
        return Concordance(folder)
    documents = [
        Document(text, values=(part_of_reference(topic), topic))
        for text, topic in paragraphs(language_reference()).items()
    ]
    corpus = Corpus(documents, columns=["part", "topic"])
    return Concordance.build(model.vectors, corpus, folder, show_progress=False)
