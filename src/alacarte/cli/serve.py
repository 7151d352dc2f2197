"""`alc serve`: the page."""

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

from alacarte._io.files import data_folder
from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.opening import is_matrix, open_model
from alacarte.cli.options import ModelOptions
from alacarte.cli.output import show_line, voice
from alacarte.errors import AlacarteError, require

MODEL = "glove.6B.50d"


@command(as_json=False)
def serve(
    *,
    concordances: list[Path] | None = option(
        None, "Folders made by alc concordance build.", metavar="CONCORDANCE", argument=True
    ),
    model: ModelOptions,
    port: int = option(8765, "The port; 0 takes any that is free.", minimum=0, maximum=65535),
    host: str | None = option(
        None,
        "Answer other machines too, under this name or address (0.0.0.0: under any address).",
        metavar="NAME",
    ),
    token: str | None = option(
        None,
        "What one has to know to be answered, at least 16 letters and digits; a random one by default.",
        metavar="TEXT",
    ),
    workspace: Path | None = option(
        None, "Where texts, corpora and notes of the page are kept; the user's own by default.", metavar="DIR"
    ),
    memory: str | None = option(None, "The most memory for one question. [half of the machine's]", metavar="SIZE"),
    notebook: bool = option(False, "Let notebooks on this machine show the page in a cell.", flag="--notebook"),
    browser: bool = option(True, "Open the page in the browser.", flag="--browser/--no-browser"),
) -> None:
    """Open a page to invent words and question corpora.

    Without a concordance, it opens on the addresses on the State of the Union since 1934.
    More corpora can be added on the page. Only this machine is answered, unless --host says otherwise. Ctrl-C ends it.

    \b
    alc serve
    alc serve reviews.concordance --model glove.6B.50d
    """
    require("starlette", extra="serve", purpose="alc serve")
    uvicorn = require("uvicorn", extra="serve", purpose="alc serve")
    from alacarte.concordance import Concordance
    from alacarte.passes.memory import parse_size
    from alacarte.serve.app import ANY_ADDRESS, LARGEST, THIS_MACHINE, application, checked_token
    from alacarte.serve.speeches import NAME, speeches
    from alacarte.serve.worker import usual_memory
    from alacarte.serve.workspace import Opening, Workspace, corpus_name

    secret = checked_token(token)
    name = model.model or MODEL
    usual = Opening(None, name, model.vectors) if is_matrix(name) else Opening(name, None, model.vectors)
    opened = open_model(ModelOptions(name, model.vectors))  # says at once what is wrong with it
    corpora = {corpus_name(path): Concordance(path).path.absolute() for path in concordances or ()}
    if len(corpora) < len(concordances or ()):
        raise AlacarteError("two of these concordances have the same name; rename one of the folders")
    if not concordances:
        corpora = {NAME: speeches(opened.vectors).path.absolute()}
    folder = (data_folder() / "workspace" if workspace is None else workspace).absolute()
    kept = sorted(path for path in folder.glob("models/*") if path.is_dir())
    models = {name: usual, **{path.name: Opening(str(path)) for path in kept}}
    config = uvicorn.Config(
        application(
            Workspace(models, corpora, folder),
            (*THIS_MACHINE, *([host, socket.gethostname()] if host else ())),
            secret,
            usual_memory() if memory is None else parse_size(memory),
            notebook,
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
    place = f"{listening.getsockname()[1]}/?token={secret}"
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
    """Return a socket that says that it is TCP: only then asyncio sends answers at once, and not 40 ms later."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere this would let two servers have the same port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen()  # at once, since the address is opened before the server has started
    except OSError:
        listening.close()
        raise
    return listening
