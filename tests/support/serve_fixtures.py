"""A small corpus, full of what a page must never take for its own, and a server for it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alacarte import ALaCarte, Concordance, Corpus, Document, Transform, WordVectors

pytest.importorskip("starlette")

from alacarte.cli.serve import _listening
from alacarte.serve.app import LARGEST, application
from alacarte.serve.workspace import Opening, Workspace

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
WORDS = ["the", "bank", "of", "river", "money", "in", "a", "boat", "deep", "script", "document", "title"]


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    rng = np.random.default_rng(0)
    vectors = WordVectors(WORDS, rng.normal(size=(len(WORDS), 6)))
    documents = [
        Document(
            " ".join(rng.choice(WORDS, size=60)) + f" {SCRIPT} bank", values=(str(rng.choice(["D", SCRIPT])), 2000 + n)
        )
        for n in range(120)
    ]
    folder = tmp_path_factory.mktemp("serve")
    path = folder / "hostile.concordance"
    Concordance.build(vectors, Corpus(documents, columns=["party", "year"]), path, show_progress=False)
    ALaCarte(vectors, Transform(rng.normal(size=(6, 6)))).save(folder / "model")
    return Workspace({"six": Opening(str(folder / "model"))}, {f"hostile {SCRIPT}": path}, folder / "workspace")


@contextmanager
def serving(workspace: Workspace, token: str = "") -> Iterator[str]:
    """The address of a server on this machine, for real browsers."""
    uvicorn = pytest.importorskip("uvicorn")
    options = {"log_level": "error", "h11_max_incomplete_event_size": LARGEST}
    config = uvicorn.Config(application(workspace, token=token), host="127.0.0.1", port=0, **options)
    server, socket = uvicorn.Server(config), _listening("127.0.0.1", 0)  # as the command does it
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def served() -> Any:
    return serving


@pytest.fixture(scope="session")
def address(workspace: Workspace) -> Iterator[str]:
    with serving(workspace) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Path:
    for name in ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"):
        if Path(name).exists():
            return Path(name)
    pytest.skip("there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))

    def note(message: Any) -> None:
        if message.type == "error" and "status of 400" not in message.text:  # an error of ours, which the page shows
            problems.append(message.text)

    opened.on("console", note)
    yield opened
    context.close()
    assert not problems, problems
