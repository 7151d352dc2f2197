"""The programming interface: every number is the library's, and nobody else's page gets in."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("httpx")
from starlette.testclient import TestClient

from alacarte import Targets, compare, explain, induce_senses
from alacarte.concordance import over_periods
from alacarte.inference.comparing import compare_uses
from alacarte.inference.word_map import word_map
from alacarte.serve.answers import QUESTIONS
from alacarte.serve.app import application
from alacarte.serve.workspace import Workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    with TestClient(application(workspace), base_url="http://localhost:8765") as opened:
        yield opened


def job(client: TestClient, path: str, values: dict[str, Any]) -> Any:
    """The last message of a long question: its answer."""
    response = client.get(path, params=values)
    assert response.status_code == 200
    *before, last = map(json.loads, response.text.splitlines())
    assert all("progress" in message for message in before)
    return last.get("answer", last)


def test_every_number_is_the_librarys(client: TestClient, workspace: Workspace) -> None:
    corpus, model = workspace.corpus(), workspace.model()
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
    answer = job(client, "/api/influence", {"phrase": "bank", "limit": 4})
    assert answer["lines"] == corpus.influence(model, "bank", limit=4).to_dict()


def test_what_there_is(client: TestClient, workspace: Workspace) -> None:
    answer = client.get("/api/about").json()
    assert answer["vectors"] == {"words": 12, "dimensions": 6}
    assert [corpus["name"] for corpus in answer["corpora"]] == list(workspace.corpora)
    assert answer["corpora"][0]["columns"][0]["name"] == "party"
    assert answer["corpora"][0]["columns"][1]["values"] is None  # too many to choose from
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {question.path for question in QUESTIONS} | {"/api/upload"}


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


def test_any_address_of_this_machine_will_do_if_asked(workspace: Workspace) -> None:
    client = TestClient(application(workspace, ("0.0.0.0",), token="droplet"), base_url="http://192.168.0.7:8765")
    assert client.get("/api/about").status_code == 403
    assert client.get("/api/about", params={"token": "droplet"}).status_code == 200
    assert client.get("/api/about", params={"token": "droplet"}, headers={"host": "evil.example"}).status_code == 403


def test_a_fault_of_ours_is_said_in_json(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Workspace, name: str = "") -> None:
        raise RuntimeError("not foreseen")

    monkeypatch.setattr(Workspace, "model", fail)
    client = TestClient(application(workspace), base_url="http://localhost:8765", raise_server_exceptions=False)
    answer = client.get("/api/about")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the server has a fault (RuntimeError); its log says more"}


def test_large_numbers_in_conditions_are_answered(client: TestClient) -> None:
    answer = client.get("/api/lines", params={"phrase": "bank", "where": f"year>={'9' * 40}"})
    assert answer.status_code == 400
    assert "no document is left" in answer.json()["error"]


def test_values_that_look_like_pages_are_text(client: TestClient) -> None:
    response = client.get("/api/lines", params={"phrase": "bank", "limit": 1})
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_every_number_about_two_sides_is_the_librarys(client: TestClient, workspace: Workspace) -> None:
    corpus, model = workspace.corpus(), workspace.model()
    early, late = {"where": ["year<2060"], "other_where": ["year>=2060"]}.values()
    asked = {"phrase": "bank", "where": early, "other_where": late, "k": 4}
    answer = client.get("/api/compare", params=asked).json()
    sides = [corpus.where(*conditions).induce(model, ["bank"]) for conditions in (early, late)]
    assert answer["difference"] == compare_uses(*sides, ["bank"])[0].to_dict()
    for shown, induced in zip(answer["sides"], sides, strict=True):
        assert shown["nearest"] == induced.uncertainty.nearest("bank", 4).to_dict()
    words = [item["word"] for item in answer["words"]]
    assert [item["b"] for item in answer["words"]] == sides[1].uncertainty.similarities("bank", words).to_dict()
    answer = job(client, "/api/differences", {"where": early, "other_where": late, "least": 5})
    expected = compare(model, corpus.where(*early), corpus.where(*late), min_count=5, show_progress=False)
    assert answer["words"] == expected.to_dict()
    assert "same text" in job(client, "/api/differences", {"where": early, "other_where": early})["error"]


def test_every_number_over_time_and_on_the_map_is_the_librarys(client: TestClient, workspace: Workspace) -> None:
    corpus, model = workspace.corpus(), workspace.model()
    answer = client.get("/api/over", params={"phrase": "bank", "column": "year", "words": ["money"], "most": 3}).json()
    expected = over_periods(corpus, model, "bank", "year", ["money"], most=3).to_dict()
    assert [{name: row[name] for name in expected[0]} for row in answer["rows"]] == expected
    for row in answer["rows"]:
        assert corpus.where(*row["where"]).count("bank") == row["uses"]
    answer = client.get("/api/over", params={"phrase": "b*", "column": "year", "words": ["money"], "most": 3}).json()
    assert sum(row["uses"] for row in answer["rows"]) == corpus.count(Targets.glob("b*"))
    words = ["bank", "river", "money", "unheard"]
    answer = client.get("/api/map", params={"words": words, "background": 5}).json()
    drawn = word_map(corpus.induce(model, words[:3]).uncertainty)
    assert answer["points"] == drawn.to_dict()
    assert answer["missing"] == ["unheard"]
    assert answer["background"]["words"] == list(model.vectors.words[:5])


def test_senses_are_the_librarys(client: TestClient, workspace: Workspace) -> None:
    answer = job(client, "/api/senses", {"phrase": "bank"})
    expected = induce_senses(workspace.model(), workspace.corpus(), "bank", show_progress=False)
    assert {name: answer[name] for name in expected.to_dict()} == expected.to_dict()
    assert [item["sense"] for item in answer["lines"]] == expected.labels[: len(answer["lines"])].tolist()


@pytest.mark.parametrize("sort", ["", "after", "-before", "year", "-year", "party"])
def test_lines_in_any_order_and_all_of_them(client: TestClient, workspace: Workspace, sort: str) -> None:
    uses = workspace.corpus().uses("bank", sort=sort.lstrip("-") or None, descending=sort.startswith("-"))
    response = client.get("/api/all-lines", params={"phrase": "bank", "sort": sort})
    assert list(map(json.loads, response.text.splitlines())) == uses.lines(limit=None).to_dict()
    page = client.get("/api/lines", params={"phrase": "bank", "sort": sort, "skip": 30, "limit": 7}).json()
    assert page == {"count": len(uses), "lines": uses.lines(30, 7).to_dict()}


def test_what_is_wrong_with_a_stream_is_said_before_it_begins(client: TestClient) -> None:
    response = client.get("/api/all-lines", params={"phrase": "unheard"})
    assert response.status_code == 400
    assert "does not occur" in response.json()["error"]
    assert "does not occur" in job(client, "/api/influence", {"phrase": "unheard"})["error"]
