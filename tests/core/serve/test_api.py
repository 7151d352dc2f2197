"""The programming interface: every number is the library's, and nobody else's page gets in."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("httpx")
from starlette.testclient import TestClient

from alacarte import (
    ALaCarte,
    Concordance,
    Corpus,
    Document,
    Targets,
    Transform,
    WordVectors,
    compare,
    explain,
    induce_senses,
)
from alacarte.cli._demo import language_reference, paragraphs
from alacarte.comparing.clusters import level_between
from alacarte.comparing.word_map import word_map
from alacarte.concordance import collocates, keywords, over_periods
from alacarte.errors import AlacarteError
from alacarte.serve import jobs as module
from alacarte.serve.answers import QUESTIONS, finding, quality, two_sides
from alacarte.serve.app import application, checked_token
from alacarte.serve.findings import Telling
from alacarte.serve.jobs import Jobs
from alacarte.serve.workspace import Opening, Workspace


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
    answer = client.get("/api/lines", params={"phrase": "bank", "limit": 1, "around": 30}).json()
    assert answer["lines"] == corpus.lines("bank", limit=1, around=30).to_dict()
    answer = client.get("/api/keywords", params={"where": ["year>=2050"], "other_where": ["year<2050"]}).json()
    assert answer["words"] == keywords(slice_, corpus.where("year<2050"), limit=20).to_dict()
    assert set(answer["grammar"]) == {item["word"] for item in answer["words"]} & {"the", "of", "in", "a"}
    answer = job(client, "/api/influence", {"phrase": "bank", "limit": 4})
    assert answer["lines"] == corpus.influence(model, "bank", limit=4).to_dict()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b'x,text\n1,"' + b"a" * 200_000 + b'"\n'),
        ("b.csv", b"x;text\n1;a;b;c\n2\n\0"),
        ("c.jsonl", b"[" * 100_000),
        ("d.jsonl", b'{"a": 1}\nno json\n5\n'),
        ("e.parquet", b"PAR1 and nothing else"),
        ("f.csv.gz", b"\x1f\x8b and nothing else"),
        ("g.tsv", b""),
        ("h.txt", b"\xff\xfe\0"),
    ],
)
def test_whatever_a_file_holds_its_preview_is_an_answer_or_says_what_is_wrong(
    client: TestClient, workspace: Workspace, name: str, content: bytes
) -> None:
    client.post(f"/api/upload?name={name}", content=content).raise_for_status()
    answer = client.get("/api/preview", params={"name": name})
    client.post("/api/text/delete", json={"name": name}).raise_for_status()
    assert answer.status_code in (200, 400), answer.text
    assert answer.status_code == 200 or answer.json()["error"]


NEAR = {"old": ["river", "stream", "shore"], "new": ["money", "purse", "coin"]}


def test_a_corpus_opens_on_a_word_that_says_something(tmp_path: Path) -> None:
    """Not on a name and not on grammar, though both move as surely as the bank does."""
    rng = np.random.default_rng(0)
    others = [f"w{number}" for number in range(60)]  # no words, so that nobody looks at them
    words = [*others, "bank", "jill", "and", *NEAR["old"], *NEAR["new"]]
    vectors = WordVectors(words, rng.normal(size=(len(words), 8)))
    documents = []
    for number in range(400):
        side = ("old", "new")[number % 2]
        near = [str(rng.choice(NEAR[side])) for _ in range(5)]
        text = [
            f"{near[0]} {near[1]} Jill {near[2]} {near[0]} Jill {near[1]}",
            f"{near[2]} and {near[3]}",
            *rng.choice(others, 12),
        ]
        text.append(f"{near[3]} bank {near[4]}")
        documents.append(Document(" . ".join(text), values=(side,)))
    path = tmp_path / "moved.concordance"
    corpus = Concordance.build(vectors, Corpus(documents, columns=["age"]), path, show_progress=False)
    ALaCarte(vectors, Transform(np.eye(8))).save(tmp_path / "model")
    workspace = Workspace({"own": Opening(str(tmp_path / "model"))}, {"moved": path})
    found = finding(workspace, lambda state: None, "", "")
    assert found["phrase"] == "bank"
    before, after = (found[where][0].removeprefix("age=") for where in ("where", "other_where"))
    changed = {item.word for item in compare(workspace.model(), *map(corpus.where, ("age=old", "age=new"))).changed()}
    assert {"bank", "jill", "and"} <= changed
    tells = Telling([corpus], vectors)
    assert [word for word in (*changed, "unheard") if tells(word)] == ["bank"]
    away, toward = two_sides(workspace, "bank", "", found["where"], "", found["other_where"], 10, 30_000, "")["moved"]
    assert away in NEAR[before]
    assert toward in NEAR[after]


def test_words_beside_a_word_are_counted_in_its_lines(client: TestClient, workspace: Workspace) -> None:
    stats = pytest.importorskip("scipy.stats")
    corpus = workspace.corpus()
    rows = client.get("/api/collocates", params={"phrase": "bank", "window": 3}).json()["words"]
    assert rows == collocates(corpus, "bank", window=3, limit=20).to_dict()
    lines = corpus.uses("bank").lines(limit=None, around=3)
    words = workspace.model().vectors.key_to_index
    tokens_of = partial(corpus.tokenizer, known=words)
    near = Counter(word for side in (lines.before, lines.after) for text in side for word in tokens_of(text))
    for row in rows:
        assert row["uses"] == near[row["word"]] > row["expected"]
        holding = {
            document
            for document, before, after in zip(lines.document.tolist(), lines.before, lines.after, strict=True)
            if row["word"] in tokens_of(f"{before} {after}")
        }
        assert row["documents"] == len(holding)
        near_it, places, uses, tokens = row["uses"], sum(near.values()), corpus.count(row["word"]), corpus.tokens
        table = [[near_it, uses - near_it], [places - near_it, tokens - places - uses + near_it]]
        expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert row["log_likelihood"] == pytest.approx(expected)
    assert [row["log_likelihood"] for row in rows] == sorted((row["log_likelihood"] for row in rows), reverse=True)


def test_what_there_is(client: TestClient, workspace: Workspace) -> None:
    answer = client.get("/api/about").json()
    assert answer["vectors"] == {"words": 12, "dimensions": 6}
    assert [corpus["name"] for corpus in answer["corpora"]] == list(workspace.corpora)
    assert answer["corpora"][0]["columns"][0]["name"] == "party"
    assert [column["kind"] for column in answer["corpora"][0]["columns"]] == ["few", "date"]
    assert answer["corpora"][0]["columns"][1]["values"] is None  # from so many one does not choose
    assert answer["corpora"][0]["sides"] == [["year<2060"], ["year>=2060"]]
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
        ("/api/lines", {"phrase": "x" * 20_000}, "characters"),
    ],
)
def test_a_question_that_makes_no_sense(client: TestClient, path: str, values: Any, message: str) -> None:
    response = client.get(path, params=values)
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_how_good_neighbours_are(tmp_path: Path, client: TestClient) -> None:
    model, text = ALaCarte.pretrained("glove.6B.50d"), list(paragraphs(language_reference()))
    Concordance.build(model.vectors, text, tmp_path / "c", show_progress=False)
    answer = quality(Workspace({"glove": Opening("glove.6B.50d")}, {"python": tmp_path / "c"}), "", [], "")
    expected = model.induce(text, ["class"]).found_again
    assert expected is not None
    assert answer == {"said": expected.summary, "poor": expected.is_poor, "words": expected.to_dict()}
    assert client.get("/api/quality").json() == {}  # the model does not adapt to texts


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


CROSS = ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "new in 2030"})


@pytest.mark.parametrize("headers", CROSS)
def test_other_pages_start_no_work(client: TestClient, headers: dict[str, str]) -> None:
    """Browsers send no Origin with a picture or a script of another page, but say that it is another one."""
    for question in (*QUESTIONS, "/openapi.json", "/app.js"):
        path, method = (question, "get") if isinstance(question, str) else (question.path, question.method)
        for mode in ("no-cors", "cors", "navigate"):
            assert client.request(method, path, headers={**headers, "sec-fetch-mode": mode}).status_code == 403
    assert client.get("/word", headers={**headers, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert client.get("/word", headers={**headers, "sec-fetch-mode": "navigate"}).status_code == 200  # a link
    assert client.get("/api/notes", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_token_is_asked_for_and_does_not_stay_in_the_address(workspace: Workspace) -> None:
    token = checked_token(None)
    client = TestClient(application(workspace, ("lab",), token=token), base_url="http://lab:8765")
    for path in ("/api/notes", "/", "/app.js", "/openapi.json"):
        assert client.get(path).status_code == 403
        assert client.get(path, params={"token": "wrong"}).status_code == 403
        assert client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 403
        assert client.get(path, headers={"authorization": f"Bearer {token}"}).status_code == 200
    assert client.get("/api/notes", params={"token": token}).status_code == 403  # links to the page alone have it
    opened = client.get("/word", params={"token": token, "phrase": "a & b"}, follow_redirects=False)
    assert (opened.status_code, opened.headers["location"]) == (303, "/word?phrase=a+%26+b")
    assert {"HttpOnly", "SameSite=strict"} <= set(opened.headers["set-cookie"].split("; "))
    assert opened.headers["set-cookie"].startswith("alacarte-token-8765=")  # cookies do not tell ports apart
    assert client.get("/api/notes").status_code == 200  # by the cookie


@pytest.mark.parametrize("given", ["a", "", "short1234567890", "x" * 15, "with spaces in it!", "ünïcödé" * 5])
def test_a_token_that_can_be_guessed_is_refused(given: str) -> None:
    with pytest.raises(AlacarteError, match="at least 16 letters"):
        checked_token(given)
    assert checked_token("new") != checked_token(None)


def test_any_address_of_this_machine_will_do_if_asked(workspace: Workspace) -> None:
    token = {"authorization": f"Bearer {'droplet' * 3}"}
    client = TestClient(application(workspace, ("0.0.0.0",), token="droplet" * 3), base_url="http://192.168.0.7:8765")
    assert client.get("/api/notes").status_code == 403
    assert client.get("/api/notes", headers=token).status_code == 200
    assert client.get("/api/notes", headers={**token, "host": "evil.example"}).status_code == 403


# ---------------------------------------------------------------------------------------- whatever a corpus holds

ODD = ("document", "match", "before", "after", "share", "columns", "score")


@pytest.fixture(scope="module")
def odd(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A corpus with columns that are called as those of a line, numbers that JSON has not, and half characters."""
    folder = tmp_path_factory.mktemp("odd")
    texts = ["this bank was the river", "deep money in a \ud800 bank", "the secret bank", "no such word"]
    scores = (1.5, float("inf"), -float("inf"), None)
    given = [
        Document(text, values=(*(f"final {name}" for name in ODD[:-1]), score))
        for text, score in zip(texts, scores, strict=True)
    ]
    corpus = Corpus(given, columns=list(ODD))
    built = Concordance.build(workspace.model().vectors, corpus, folder / "odd.concordance", show_progress=False)
    built.where("score=-inf").remove()
    (folder / "bad.concordance").mkdir()
    (folder / "bad.concordance" / "concordance.sqlite").write_bytes(b"damaged")
    corpora = {"odd": built.path, "bad": folder / "bad.concordance"}
    with TestClient(application(Workspace(workspace.models, corpora)), base_url="http://localhost:1") as opened:
        yield opened


def test_json_is_always_valid(odd: TestClient) -> None:
    there = odd.get("/api/about").json()
    assert "damaged" in there["damaged"]["bad"]
    assert [corpus["name"] for corpus in there["corpora"]] == ["odd"]
    assert there["corpora"][0]["columns"][-1]["kind"] == "number"
    assert there["corpora"][0]["columns"][-1]["values"] == [1.5, "inf", None]
    assert odd.get("/api/corpora").status_code == 200
    for path, values in (
        ("/api/lines", {"phrase": "bank"}),
        ("/api/lines", {"phrase": "bank", "where": "score=inf"}),
        ("/api/lines", {"phrase": "bank", "sort": "-score"}),
        ("/api/document", {"number": 1}),
        ("/api/over", {"phrase": "bank", "column": "score"}),
        ("/api/influence", {"phrase": "bank"}),
    ):
        response = odd.get(path, params=values)
        assert response.status_code == 200, response.text
        content = response.content.decode("utf-8", "strict")
        for line in content.splitlines():
            json.loads(line, parse_constant=pytest.fail)
    assert odd.get("/api/lines", params={"phrase": "bank", "where": "score=inf"}).json()["count"] == 1
    assert "\ud800" in odd.get("/api/document", params={"number": 1}).json()["text"]


def test_columns_of_any_name_overwrite_no_text(odd: TestClient) -> None:
    answer = odd.get("/api/lines", params={"phrase": "bank", "sort": "columns.before"}).json()["lines"]
    assert [line["before"] for line in answer] == ["this", "deep money in a"]
    assert {line["match"] for line in answer} == {"bank"}
    assert {line["columns"]["match"] for line in answer} == {"final match"}
    (first, *_) = job(odd, "/api/influence", {"phrase": "bank"})["lines"]
    assert isinstance(first["share"], float)
    assert first["columns"]["share"] == "final share"


def test_removed_documents_are_not_readable(odd: TestClient) -> None:
    response = odd.get("/api/document", params={"number": 2})
    assert response.status_code == 400
    assert "removed" in response.json()["error"]


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
    for shown, induced in zip(answer["sides"], sides, strict=True):
        assert shown["nearest"] == induced.uncertainty.nearest("bank", 4).to_dict()
    words = [item["word"] for item in answer["words"]]
    assert [item["b"] for item in answer["words"]] == sides[1].uncertainty.similarities("bank", words).to_dict()
    answer = job(client, "/api/differences", {"where": early, "other_where": late, "least": 5})
    assert answer["level"] == level_between(corpus.where(*early), corpus.where(*late))
    expected = compare(model, corpus.where(*early), corpus.where(*late), min_count=5, show_progress=False)
    assert answer["words"] == expected.to_dict()
    assert answer["changed"] == [item.word for item in expected.changed() if item.conf_low > 0]
    alone = compare(model, corpus.where(*early), corpus.where(*late), ["bank"], vocabulary=False, show_progress=False)
    answer = job(client, "/api/differences", {"where": early, "other_where": late, "phrase": "bank"})
    assert answer["words"] == alone.to_dict()
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
def test_lines_in_any_order(client: TestClient, workspace: Workspace, sort: str) -> None:
    uses = workspace.corpus().uses("bank", sort=sort.lstrip("-") or None, descending=sort.startswith("-"))
    page = client.get("/api/lines", params={"phrase": "bank", "sort": sort, "skip": 30, "limit": 7}).json()
    assert page == {"count": len(uses), "lines": uses.lines(30, 7).to_dict()}


def test_what_is_wrong_with_a_long_question_is_said(client: TestClient) -> None:
    assert "does not occur" in job(client, "/api/influence", {"phrase": "unheard"})["error"]


def test_a_long_answer_is_kept_until_the_corpus_changes(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    async def asked() -> list[Any]:
        path = tmp_path / "small.concordance"
        built = Concordance.build(workspace.model().vectors, ["the bank of money"] * 9, path, show_progress=False)
        jobs = Jobs(Workspace(workspace.models, {"small": path}))
        answers, real = [], module.messages_of
        monkeypatch.setattr(module, "messages_of", lambda *asked: started.append(asked[1]) or real(*asked))
        question = {"corpus": "", "phrase": "bank", "where": [], "limit": 3, "model": ""}
        for change in (False, False, True):
            if change:
                built.add(["a bank"], show_progress=False)
            answers.append([message async for message in jobs.ask("/api/influence", question)][-1])
        await jobs.close()
        return answers

    first, again, changed = asyncio.run(asked())
    assert first == again != changed
    assert len(started) == 2
