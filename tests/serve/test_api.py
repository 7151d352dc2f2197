"""The programming interface: every number is the library's, and nobody else's page gets in."""

import json
from typing import Any

import pytest

pytest.importorskip("httpx")
from starlette.testclient import TestClient

from alacarte import explain
from alacarte.serve.app import application
from alacarte.serve.questions import QUESTIONS, Workspace


@pytest.fixture
def client(workspace: Workspace) -> TestClient:
    return TestClient(application(workspace), base_url="http://localhost:8765")


def test_every_number_is_the_librarys(client: TestClient, workspace: Workspace) -> None:
    corpus, model = next(iter(workspace.corpora.values())), workspace.model
    induced = corpus.induce(model, ["bank"])
    answer = client.get("/api/word", params={"phrase": "bank", "k": 5}).json()
    assert answer["uses"] == induced.count("bank")
    assert answer["confidence"] == induced.uncertainty.confidence_of("bank")
    assert answer["nearest"] == induced.uncertainty.nearest("bank", 5).to_dict()
    sentences = ["the zorg of the river", "a deep zorg", "a boat in the zorg"]
    answer = client.post("/api/invent", json={"sentences": sentences, "word": "zorg"}).json()
    expected = explain(model, sentences, "zorg").to_dict()
    assert {name: answer[name] for name in expected} == json.loads(json.dumps(expected))
    slice_ = corpus.where("year>=2050")
    answer = client.get("/api/lines", params={"phrase": "bank", "where": ["year>=2050"], "limit": 3, "skip": 2}).json()
    assert answer == {"count": slice_.count("bank"), "lines": slice_.lines("bank", limit=3, skip=2).to_dict()}
    answer = client.get("/api/influence", params={"phrase": "bank", "limit": 4}).json()
    assert answer["lines"] == corpus.influence(model, "bank", limit=4).to_dict()


def test_what_there_is(client: TestClient, workspace: Workspace) -> None:
    answer = client.get("/api/about").json()
    assert answer["vectors"] == {"words": 12, "dimensions": 6}
    assert [corpus["name"] for corpus in answer["corpora"]] == list(workspace.corpora)
    assert answer["corpora"][0]["columns"][0]["name"] == "party"
    assert answer["corpora"][0]["columns"][1]["values"] is None  # too many to choose from
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {question.path for question in QUESTIONS}


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ("/api/lines", {}, "phrase is missing"),
        ("/api/lines", {"phrase": " "}, "not empty"),
        ("/api/lines", {"phrase": "bank", "limit": "0"}, "from 1 to 1,000"),
        ("/api/lines", {"phrase": "bank", "limit": "x"}, "whole number"),
        ("/api/lines", {"phrase": "bank", "skip": "-1"}, "whole number"),
        ("/api/lines", {"phrase": "bank", "other": "1"}, "not 'other'"),
        ("/api/lines", {"phrase": "bank", "where": "nobody=1"}, "no column"),
        ("/api/lines", {"phrase": "bank", "where": "1; DROP TABLE documents"}, "no condition"),
        ("/api/lines", {"phrase": "bank", "corpus": "../../etc"}, "there is no corpus"),
        ("/api/word", {"phrase": "unheard"}, "does not occur"),
        ("/api/influence", {"phrase": "unheard"}, "does not occur"),
        ("/api/lines", {"phrase": "x" * 20_000}, "characters"),
    ],
)
def test_a_question_that_makes_no_sense(client: TestClient, path: str, values: Any, message: str) -> None:
    response = client.get(path, params=values)
    assert response.status_code == 400
    assert message in response.json()["error"]


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"no json", "application/json", "no JSON"),
        (b"[]", "application/json", "JSON object"),
        (b"[" * 100_000, "application/json", "no JSON"),
        (b"{}", "text/plain", "Content-Type"),
        (b'{"sentences": "one", "word": "x"}', "application/json", "list of texts"),
        (b'{"sentences": [1], "word": "x"}', "application/json", "list of texts"),
        (b'{"sentences": ["a"], "word": "x", "k": true}', "application/json", "whole number"),
        (b'{"sentences": ["the river"], "word": "zorg"}', "application/json", "does not occur in context 1"),
        (b'{"sentences": ["' + b"x" * (1 << 21) + b'"], "word": "x"}', "application/json", "more than 1 MB"),
    ],
)
def test_a_body_that_makes_no_sense(client: TestClient, content: bytes, kind: str, message: str) -> None:
    response = client.post("/api/invent", content=content, headers={"content-type": kind})
    assert response.status_code == 400
    assert message in response.json()["error"]


@pytest.mark.parametrize("path", ["/nothing", "/page/../app.py", "/..%2f..%2fetc/passwd", "/app.py"])
def test_nothing_else_is_there(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"host": ""}, {"origin": "http://evil.example"}, {"origin": "null"}]
)
def test_other_pages_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    for path in ("/", "/api/about", "/app.js"):
        response = client.get(path, headers=headers)
        assert response.status_code == 403
        assert "default-src 'self'" in response.headers["content-security-policy"]
    assert client.get("/api/about", headers={"origin": "http://localhost:8765"}).status_code == 200


def test_a_token_is_asked_for(workspace: Workspace) -> None:
    client = TestClient(application(workspace, ("lab",), token="droplet"), base_url="http://lab:8765")
    assert client.get("/api/about").status_code == 403
    assert client.get("/api/about", params={"token": "wrong"}).status_code == 403
    assert client.get("/api/about", headers={"authorization": "Bearer wrong"}).status_code == 403
    opened = client.get("/", params={"token": "droplet"})
    assert opened.status_code == 200
    assert "HttpOnly" in opened.headers["set-cookie"]


def test_values_that_look_like_pages_are_text(client: TestClient) -> None:
    response = client.get("/api/lines", params={"phrase": "bank", "limit": 1})
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
