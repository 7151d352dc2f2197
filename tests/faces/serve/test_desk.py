"""Notes, texts and builds: kept whatever happens, and nothing outside the workspace; long questions that are ended."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

from alacarte import ALaCarte, Concordance, Transform, WordVectors
from alacarte.errors import AlacarteError
from alacarte.serve import jobs as jobs_module
from alacarte.serve.app import application
from alacarte.serve.desk import Desk
from alacarte.serve.jobs import Jobs, Pool
from alacarte.serve.workspace import Opening, Workspace, checked_name

WORDS = [f"w{number}" for number in range(50)]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    rng = np.random.default_rng(0)
    ALaCarte(WordVectors(WORDS, rng.normal(size=(50, 6))), Transform(np.eye(6))).save(tmp_path / "model")
    return Workspace({"six": Opening(str(tmp_path / "model"))}, {}, tmp_path / "workspace")


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with TestClient(application(workspace), base_url="http://localhost:8765") as opened:
        yield opened


def text(size: int) -> bytes:
    """Documents with columns, as lines of JSON."""
    rng = np.random.default_rng(1)
    lines = (
        json.dumps({"body": " ".join(rng.choice(WORDS, size=20)), "year": 2000 + number % 9}) for number in range(size)
    )
    return ("\n".join(lines) + "\n").encode()


def state_of(client: Any, name: str, until: Any, seconds: float = 60) -> Any:
    """The build of this name, when it is as `until` says; None when it is a corpus."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = client.get("/api/corpora").json()
        build = next((item for item in found["builds"] if item["name"] == name), None)
        if until(build):
            return build
        time.sleep(0.02)
    raise AssertionError(build)


def test_a_text_is_sent_built_and_questioned(client: TestClient, workspace: Workspace) -> None:
    assert client.get("/api/about").json()["corpora"] == []
    assert client.post("/api/upload", params={"name": "a.jsonl"}, content=text(300)).json()["bytes"] == len(text(300))
    asked = {"name": "reviews", "texts": ["a.jsonl"], "text": "body", "columns": ["year"]}
    assert client.post("/api/build", json=asked).status_code == 200
    state_of(client, "reviews", lambda build: build is None)
    (corpus,) = client.get("/api/about").json()["corpora"]
    assert (corpus["name"], corpus["documents"], corpus["columns"][0]["name"]) == ("reviews", 300, "year")
    answer = client.get("/api/word", params={"phrase": "w3", "where": ["year=2001"]}).json()
    assert answer["uses"] == Concordance(workspace.corpora["reviews"]).where("year=2001").count("w3")
    assert "already" in client.post("/api/build", json=asked).json()["error"]
    assert client.post("/api/corpus/delete", json={"name": "reviews"}).status_code == 200
    assert client.get("/api/about").json()["corpora"] == []
    assert [item["name"] for item in client.get("/api/corpora").json()["texts"]] == ["a.jsonl"]
    assert client.post("/api/text/delete", json={"name": "a.jsonl"}).status_code == 200
    assert client.get("/api/corpora").json()["texts"] == []


def test_a_build_that_fails_says_why(client: TestClient) -> None:
    client.post("/api/upload", params={"name": "a.jsonl"}, content=text(5))
    client.post("/api/build", json={"name": "bad", "texts": ["a.jsonl"], "text": "nobody"})
    build = state_of(client, "bad", lambda build: build is not None and build["state"] == "failed")
    assert "nobody" in build["message"]
    assert client.get("/api/about").json()["corpora"] == []


def test_a_build_is_stopped_and_taken_up(client: TestClient, workspace: Workspace) -> None:
    client.post("/api/upload", params={"name": "a.jsonl"}, content=text(100_000))
    client.post("/api/build", json={"name": "large", "texts": ["a.jsonl"], "text": "body", "columns": ["year"]})
    state_of(client, "large", lambda build: build is not None and build.get("done", 0) > 0)
    assert client.post("/api/build/cancel", json={"name": "large"}).status_code == 200
    build = state_of(client, "large", lambda build: build["state"] == "stopped")
    assert build["texts"] == ["a.jsonl"]
    assert client.post("/api/build/resume", json={"name": "large"}).status_code == 200
    state_of(client, "large", lambda build: build is None)
    assert len(workspace.corpus("large")) == 100_000


@pytest.mark.parametrize(
    "name",
    [
        "../a.txt",
        "/etc/passwd",
        "a/b.txt",
        "",
        ".hidden.txt",
        "a\x00.txt",
        "a.exe",
        "x" * 200 + ".txt",
        "..",
        "a\\b.txt",
    ],
)
def test_names_that_lead_elsewhere_are_refused(client: TestClient, workspace: Workspace, name: str) -> None:
    response = client.post("/api/upload", params={"name": name}, content=b"text")
    assert response.status_code == 400
    assert "name" in response.json()["error"]
    for path, values in (("/api/text/delete", {}), ("/api/build", {"texts": [name]}), ("/api/corpus/delete", {})):
        refused = client.post(path, json={"name": name or "x", **values})
        assert refused.status_code == 400
    assert not any(path.is_file() for path in Path(str(workspace.folder)).glob("texts/*"))


def test_a_link_out_of_the_folder_is_not_followed(client: TestClient, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("w1 w2")
    client.get("/api/corpora")
    assert workspace.folder is not None
    (workspace.folder / "texts" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert client.post("/api/build", json={"name": "x", "texts": ["link.txt"]}).status_code == 400


def test_nothing_outside_is_deleted_or_written_through_a_link(
    client: TestClient, workspace: Workspace, tmp_path: Path
) -> None:
    assert workspace.folder is not None
    outside = Concordance.build(workspace.model().vectors, ["w1 w2"], tmp_path / "outside.concordance")
    client.post("/api/upload?name=a.txt", content=b"w1 w2").raise_for_status()
    corpora = workspace.folder / "corpora"
    corpora.mkdir()
    (corpora / "link.concordance").symlink_to(outside.path)
    (corpora / "new.concordance").symlink_to(tmp_path / "new.concordance")  # where nothing is yet
    (workspace.folder / "texts" / "new.txt").symlink_to(tmp_path / "new.txt")
    listed = {item["name"]: item["ours"] for item in client.get("/api/corpora").json()["corpora"]}
    assert listed == {"link": False}
    assert client.get("/api/lines", params={"corpus": "link", "phrase": "w1"}).json()["count"] == 1  # but it is read
    for path, values in (
        ("/api/corpus/delete", {"name": "link"}),
        ("/api/corpus/delete", {"name": "new"}),
        ("/api/build", {"name": "new", "texts": ["a.txt"]}),
        ("/api/build", {"name": "link", "texts": ["a.txt"]}),
        ("/api/text/delete", {"name": "new.txt"}),
    ):
        assert client.post(path, json=values).status_code == 400
    assert client.post("/api/upload?name=new.txt", content=b"w1").status_code == 400
    (corpora / "link.concordance").unlink()
    (corpora / "new.concordance").unlink()
    corpora.rmdir()
    (tmp_path / "elsewhere").mkdir()
    outside.path.rename(tmp_path / "elsewhere" / "outside.concordance")
    corpora.symlink_to(tmp_path / "elsewhere")  # the whole folder
    assert client.post("/api/corpus/delete", json={"name": "outside"}).status_code == 400
    assert client.post("/api/build", json={"name": "x", "texts": ["a.txt"]}).status_code == 400
    assert list(Concordance(tmp_path / "elsewhere" / "outside.concordance")) == ["w1 w2"]
    assert not (tmp_path / "new.txt").exists()


def test_a_text_that_stops_half_way_is_not_there(workspace: Workspace) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield b"half of it"
        raise ConnectionResetError

    desk = Desk(workspace, Jobs(workspace))
    with pytest.raises(ConnectionResetError):
        asyncio.run(desk.receive("a.txt", half()))
    assert desk.texts() == []


JSON = {"content-type": "application/json"}


def test_notes(client: TestClient) -> None:
    number = client.post("/api/note", json={"address": "/word?phrase=bank", "title": "t", "text": "<b>"}).json()[
        "number"
    ]
    client.post("/api/note", json={"address": "/map", "text": "second"})
    client.post("/api/note", json={"number": number, "address": "/word?phrase=bank", "text": "changed"})
    assert [note["text"] for note in client.get("/api/notes").json()["notes"]] == ["changed", "second"]
    assert client.post("/api/note/delete", json={"number": number}).status_code == 200
    assert client.post("/api/note/delete", json={"number": number}).status_code == 400
    for address in (
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/word\\..\\evil.example",
        "/\t/evil.example",
        "/word.evil.example",
        "/api/about",
        "javascript:alert(1)",
    ):
        assert client.post("/api/note", json={"address": address}).status_code == 400
    assert len(client.get("/api/notes").json()["notes"]) == 1


def test_half_a_character_in_a_note_is_no_end_of_all_notes(client: TestClient) -> None:
    assert client.post("/api/note", content=b'{"address": "/map", "text": "\\ud800"}', headers=JSON).status_code == 200
    assert client.get("/api/notes").json()["notes"][0]["text"] == "?"


def test_half_a_character_in_the_name_of_a_corpus_is_no_name(client: TestClient) -> None:
    for path in ("/api/corpus/delete", "/api/build/cancel", "/api/build/resume"):
        response = client.post(path, content=b'{"name": "x\\ud800"}', headers=JSON)
        assert response.status_code == 400, response.text


def test_a_server_without_a_folder_keeps_nothing(tmp_path: Path, workspace: Workspace) -> None:
    with TestClient(application(Workspace(workspace.models)), base_url="http://localhost:1") as client:
        assert client.get("/api/corpora").json()["folder"] is None
        assert "--workspace" in client.get("/api/notes").json()["error"]


@pytest.mark.parametrize("name", ["reviews", "Größe 2", "a-b_c.d"])
def test_names_that_are_fine(name: str) -> None:
    assert checked_name(f" {name} ") == name


def test_a_worker_that_takes_too_much_memory_is_an_error(workspace: Workspace) -> None:
    if sys.platform != "linux":
        pytest.skip("the limit is that of Linux")

    async def answers() -> list[dict[str, Any]]:
        jobs = Jobs(workspace, memory=60_000_000)
        messages = [message async for message in jobs.ask("/api/influence", {})]
        await jobs.close()
        return messages

    assert "memory" in asyncio.run(answers())[-1]["error"]


def test_a_short_question_that_takes_too_much_memory_is_an_error_and_the_next_is_answered(
    workspace: Workspace, tmp_path: Path
) -> None:
    if sys.platform != "linux":
        pytest.skip("the limit is that of Linux")
    documents = [" ".join(["w1 w2 w3 w4 w5"] * 2000)] * 200  # two million uses of w*
    Concordance.build(workspace.model().vectors, documents, tmp_path / "large.concordance", show_progress=False)
    large = Workspace(workspace.models, {"large": tmp_path / "large.concordance"})
    question = {"corpus": "", "where": [], "limit": 5, "skip": 0, "sort": "before", "around": 10}

    async def answers() -> list[dict[str, Any]]:
        pool = Pool(large, 250_000_000, 1)
        both = [await pool.ask("/api/lines", {**question, "phrase": phrase}) for phrase in ("w*", "nothing")]
        await pool.close()
        return both

    first, second = asyncio.run(answers())
    assert "memory" in first["error"]
    assert "does not occur" in second["error"]


SLOW = """
import json, sys, time
for line in sys.stdin:
    path, values = json.loads(line)
    time.sleep(60 if path == "slow" else 0)
    print(json.dumps({"answer": path}), flush=True)
"""


def test_a_short_question_that_is_given_up_is_stopped_and_no_other_waits(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def started(*given: Any) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(sys.executable, "-c", SLOW, stdin=pipe, stdout=pipe)

    monkeypatch.setattr(jobs_module, "started", started)
    monkeypatch.setattr(jobs_module, "PATIENCE", 0.1)

    async def answers() -> tuple[Any, Any, int | None]:
        pool = Pool(workspace, None, 1)
        await pool.warm()
        (worker,) = pool._idle
        slow = asyncio.ensure_future(pool.ask("slow", {}))
        await asyncio.sleep(0.3)
        waiting = asyncio.ensure_future(pool.ask("quick", {}))
        slow.cancel()
        second = await asyncio.wait_for(waiting, 10)
        third = await pool.ask("again", {})
        await pool.close()
        return second, third, worker.returncode

    assert asyncio.run(answers()) == ({"answer": "quick"}, {"answer": "again"}, -signal.SIGKILL)


def test_lines_do_not_wait_for_words(workspace: Workspace) -> None:
    """A server whose processes for words are all busy answers questions about lines."""
    assert workspace.folder is not None
    folder = workspace.folder / "corpora"
    folder.mkdir(parents=True)
    documents = [" ".join(["w1 w2 w3 w4 w5"] * 2000)] * 200
    Concordance.build(workspace.model().vectors, documents, folder / "large.concordance", show_progress=False)
    with TestClient(application(workspace), base_url="http://localhost:8765") as client:
        client.get("/api/lines", params={"phrase": "w1"}).raise_for_status()
        ended: list[float] = []

        def ask() -> None:
            client.get("/api/word", params={"phrase": "w*"}).raise_for_status()
            ended.append(time.monotonic())

        words = [threading.Thread(target=ask) for _ in range(6)]
        for thread in words:
            thread.start()
        time.sleep(0.2)
        waits: list[float] = []
        while any(thread.is_alive() for thread in words) and len(waits) < 20:
            begin = time.monotonic()
            client.get("/api/lines", params={"phrase": "w1"}).raise_for_status()
            waits.append(time.monotonic() - begin)
        for thread in words:
            thread.join()
    assert waits
    assert sorted(waits)[len(waits) // 2] < 0.5


def test_nobody_waits_for_a_job_and_it_ends(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a question that is given up is ended; one that has answered waits for the next question."""
    workers: list[Any] = []
    start = jobs_module.started

    async def noted(*given: Any) -> Any:
        workers.append(await start(*given))
        return workers[-1]

    monkeypatch.setattr(jobs_module, "started", noted)

    async def asked() -> None:
        pool = Pool(workspace, None, 1)
        folder = Desk(workspace, Jobs(workspace))._part("texts")
        (folder / "a.jsonl").write_bytes(text(200_000))
        messages = pool.messages("build", {"name": "x", "texts": ["a.jsonl"], "text": "body", "columns": []})
        assert "progress" in await anext(messages)
        await messages.aclose()
        assert [worker.returncode for worker in workers] == [-signal.SIGKILL]
        for _ in range(2):
            assert "answer" in await pool.ask("/api/about", {})
        assert [worker.returncode for worker in workers] == [-signal.SIGKILL, None]
        workers[1].kill()  # by the system, which needs memory
        await workers[1].wait()
        assert "answer" in await pool.ask("/api/about", {})
        await pool.close()

    asyncio.run(asked())
    assert [worker.returncode for worker in workers] == [-signal.SIGKILL] * 3


def test_a_question_that_was_given_up_leaves_room_for_the_next(workspace: Workspace) -> None:
    """Starlette cancels a stream that nobody reads, and then nothing can be waited for inside of it."""

    async def given_up() -> dict[str, Any]:
        jobs = Jobs(workspace)
        (Path(str(workspace.folder)) / "texts").mkdir(parents=True)
        (Path(str(workspace.folder)) / "texts" / "a.jsonl").write_bytes(text(100_000))
        asked = {"name": "x", "texts": ["a.jsonl"], "text": "body", "columns": []}

        async with anyio.create_task_group() as group:

            async def listen() -> None:
                async for _ in jobs.ask("build", asked):
                    group.cancel_scope.cancel()

            group.start_soon(listen)
        last = [message async for message in jobs.ask("build", asked)][-1]  # the first one has let go of its lock
        await jobs.close()
        return last

    assert "answer" in asyncio.run(given_up())


SERVER = """
import sys, uvicorn
from alacarte.serve import jobs as jobs_module
from alacarte.serve.app import application
from alacarte.serve.workspace import Workspace
uvicorn.run(application(Workspace.from_description(sys.argv[1])), port=int(sys.argv[2]), log_level="error")
"""


def started(workspace: Workspace, port: int) -> "subprocess.Popen[bytes]":
    server = subprocess.Popen([sys.executable, "-c", SERVER, workspace.description(), str(port)])
    for _ in range(600):
        try:
            httpx.get(f"http://127.0.0.1:{port}/api/corpora")
            return server
        except httpx.ConnectError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def send_slowly(port: int) -> None:
    """Send a text, a little at a time, to a server that ends meanwhile."""

    def parts() -> Iterator[bytes]:
        for _ in range(100):
            yield b"half of it\n"
            time.sleep(0.05)

    with suppress(httpx.HTTPError):
        httpx.post(f"http://127.0.0.1:{port}/api/upload", params={"name": "slow.txt"}, content=parts())


def test_all_is_there_after_kill_9(workspace: Workspace) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = started(workspace, port)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            client.post("/api/upload", params={"name": "a.jsonl"}, content=text(200_000))
            client.post("/api/note", json={"address": "/map", "text": "kept"})
            client.post("/api/build", json={"name": "large", "texts": ["a.jsonl"], "text": "body"})
            state_of(client, "large", lambda build: build is not None and build.get("done", 0) > 0)
            sending = threading.Thread(target=send_slowly, args=(port,))
            sending.start()
            time.sleep(0.3)
            server.send_signal(signal.SIGKILL)
            server.wait()
            sending.join()
        server = started(workspace, port)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            assert [note["text"] for note in client.get("/api/notes").json()["notes"]] == ["kept"]
            assert state_of(client, "large", bool)["state"] == "cut off"
            assert [item["name"] for item in client.get("/api/corpora").json()["texts"]] == ["a.jsonl"]
            client.post("/api/upload", params={"name": "slow.txt"}, content=b"all of it").raise_for_status()
            assert workspace.folder is not None
            assert sorted(path.name for path in (workspace.folder / "texts").iterdir()) == ["a.jsonl", "slow.txt"]
            for _ in range(200):  # the worker of the server that was killed ends by itself, and gives its lock back
                client.post("/api/build/resume", json={"name": "large"})
                build = state_of(client, "large", lambda build: build is None or build["state"] != "building")
                if build is None:
                    break
                assert "another process" in build["message"]
                time.sleep(0.05)
            assert len(workspace.corpus("large")) == 200_000
    finally:
        server.kill()
        server.wait()


def test_the_command_asks_for_a_token_that_only_its_own_address_has(workspace: Workspace, tmp_path: Path) -> None:
    words = Concordance.build(workspace.model().vectors, ["w1 w2"], tmp_path / "words.concordance")
    command = [sys.executable, "-m", "alacarte", "serve", str(words.path), "--port", "0", "--no-browser"]
    chosen = ["--model", str(tmp_path / "model"), "--workspace", str(tmp_path / "kept")]
    server = subprocess.Popen([*command, *chosen], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = httpx.URL(next(word for word in server.stdout.readline().split() if word.startswith("http")))
        assert len(address.params["token"]) == 32
        with httpx.Client(base_url=address.copy_with(query=None), timeout=60) as stranger:
            for path in ("/", "/word", "/api/about", "/api/lines?phrase=w1", "/app.js", "/openapi.json"):
                assert stranger.get(path).status_code == 403
        with httpx.Client(timeout=60, follow_redirects=True) as owner:
            assert owner.get(address).status_code == 200
            assert owner.get(address.copy_with(path="/api/about", query=None)).status_code == 200
    finally:
        server.kill()
        server.communicate()


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "workspace").write_text("no folder")
    with pytest.raises(AlacarteError, match="cannot be used"):
        Desk(workspace, Jobs(workspace)).notes()


def test_a_file_in_the_place_of_a_folder_is_said_by_every_question(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "workspace").write_text("no folder")
    with TestClient(application(workspace), base_url="http://localhost:8765") as client:
        answers = [
            client.get("/api/notes"),
            client.get("/api/corpora"),
            client.post("/api/note", json={"address": "/"}),
            client.post("/api/upload?name=a.txt", content=b"a"),
            client.post("/api/build", json={"name": "a", "texts": ["a.txt"]}),
        ]
    for answer in answers:
        assert answer.status_code == 400
        assert "cannot be used" in answer.json()["error"]


def test_the_corpus_that_was_named_is_the_one_that_is_shown(tmp_path: Path, workspace: Workspace) -> None:
    vectors = workspace.model().vectors
    named = Concordance.build(vectors, ["w1 w2"], tmp_path / "speeches.concordance", show_progress=False)
    other = Path(workspace.folder or "") / "corpora" / "speeches.concordance"
    Concordance.build(vectors, ["w3 w4", "w5"], other, show_progress=False)
    both = Workspace(workspace.models, {"speeches": named.path}, workspace.folder)
    assert both.corpora == {"speeches": named.path, "speeches (workspace)": other}
    desk = Desk(both, Jobs(both))
    with pytest.raises(AlacarteError, match="deletes no other"):
        asyncio.run(desk.forget("speeches"))
    asyncio.run(desk.forget("speeches (workspace)"))
    assert both.corpora == {"speeches": named.path}


def test_no_question_waits_for_a_build(client: TestClient) -> None:
    client.post("/api/upload?name=a.jsonl", content=text(60_000)).raise_for_status()
    for name in ("one", "two", "three"):
        client.post("/api/build", json={"name": name, "texts": ["a.jsonl"], "text": "body"}).raise_for_status()
    with client.stream("post", "/api/spelling", json={}) as answer:
        first = next(answer.iter_lines())
    assert "waiting" not in first
    for build in client.get("/api/corpora").json()["builds"]:
        client.post("/api/build/cancel", json={"name": build["name"]})
