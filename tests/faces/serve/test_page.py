"""The page in a real browser."""

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from alacarte import Concordance, Corpus, Document
from alacarte.cli import app
from alacarte.concordance import keywords
from alacarte.contexts.weights import STOP_WORDS
from alacarte.serve.app import checked_token
from alacarte.serve.workspace import Workspace

pytest.importorskip("playwright.sync_api")

VIEWS = (  # an address of each view, and what is there when it is done
    ("/", ".quote, .wrong"),
    ("/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg", "svg circle"),
    ("/word?phrase=bank&over=year&with=money", "svg[aria-label*='by year'] circle"),
    ("/compare?phrase=bank&where=year<2060&other_where=year>=2060", "[data-line]"),
    ("/map?words=bank&words=money&words=river", ".map ellipse"),
    ("/corpora", ".things a"),
    ("/notes", "h1"),
)


def test_a_word_that_the_corpus_does_not_use_leads_on(browser: Any, workspace: Workspace, served: Any) -> None:
    corpus = next(iter(workspace.given.values()))
    path = corpus.with_name("other.concordance")
    if not path.exists():
        Concordance.build(workspace.model().vectors, ["a boat in the river"] * 3, path, show_progress=False)
    with served(Workspace(workspace.models, {"other": path, "hostile": corpus})) as address:
        page = browser.new_page()
        page.goto(f"{address}/word?corpus=other&phrase=bank")
        page.wait_for_selector("svg[aria-label*='in the vectors'] a")
        assert page.locator("[role=alert]").count() == 0
        page.click("a >> text=hostile")
        page.wait_for_selector("[data-line]")
        page.goto(f"{address}/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg")
        for number in (0, 4, 9):  # every nearest word of the first view leads to an answer
            page.wait_for_selector("svg[aria-label*='zorg'] a")
            page.locator("svg[aria-label*='zorg'] a").nth(number).click()
            page.wait_for_selector("svg[aria-label^='The words most like'] a, .answer .hint")
            assert page.locator("[role=alert]").count() == 0
            page.go_back()
        page.close()


def test_word_answers_while_one_types(page: Any, address: str) -> None:
    page.goto(f"{address}/word")
    page.wait_for_selector(".examples a")
    page.focus("#phrase")
    page.keyboard.type("bank", delay=20)
    page.wait_for_selector("svg[aria-label*='bank here'] a")
    page.wait_for_function("() => location.search.includes('phrase=bank')")
    page.keyboard.type("x")  # nobody uses it; what was known stays
    page.wait_for_timeout(500)
    assert page.locator("[role=alert]").count() == 0
    assert page.locator("svg[aria-label*='bank here'] a").count() == 10
    assert page.evaluate("document.activeElement.id") == "phrase"


def test_a_word_is_invented_while_one_types(page: Any, address: str) -> None:
    page.goto(f"{address}/invent")
    page.fill("#target", "zorg")
    page.fill("#sentences", "the zorg of the river\na deep zorg in a boat\nthe zorg of money")
    page.wait_for_selector("svg[aria-label*='zorg']")
    assert page.inner_text("h1") == "What could zorg mean?"
    assert page.locator(".shades .target").count() == 3
    assert page.locator("svg circle").count() == 10
    page.wait_for_function("() => location.search.includes('money')")
    address_now = page.url
    page.goto("about:blank")
    page.goto(address_now)  # a view is an address that can be shared
    page.wait_for_selector("svg[aria-label*='zorg']")
    assert page.input_value("#sentences").startswith("the zorg of the river")


def test_text_of_a_corpus_is_never_a_page(page: Any, address: str) -> None:
    for path, sign in VIEWS:
        page.goto(f"{address}{path}")
        page.wait_for_selector(sign)
        assert page.title().endswith("à la carte")
        assert "owned" not in page.title()
        assert page.locator("main img, main script").count() == 0
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line]")
    assert "script" in page.inner_text(".concordance")


def test_lines_filters_and_the_way_back(page: Any, address: str) -> None:
    page.goto(f"{address}/word")
    page.wait_for_selector("#phrase")
    page.keyboard.press("/")
    page.keyboard.type("bank")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-line]")
    whole = page.inner_text(".lede")
    page.select_option("[data-column=party]", label="D")
    page.wait_for_function(
        "whole => { const now = document.querySelector('.lede').textContent; return now !== whole && now !== '…' }",
        arg=whole,
    )
    assert "where=party%3DD" in page.url
    page.wait_for_selector("[data-line]")
    assert set(page.locator(".row:not(.head) .value:nth-child(1)").all_inner_texts()) == {"D"}
    page.go_back()
    page.wait_for_function("whole => document.querySelector('.lede').textContent === whole", arg=whole)
    page.fill("#phrase", "unheard")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert "does not occur" in page.inner_text("[role=alert]")


def test_lines_are_drawn_as_one_scrolls_and_sorted(page: Any, address: str, workspace: Workspace) -> None:
    uses = workspace.corpus().uses("bank")
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line='0']")
    assert page.locator("[data-line]").count() < len(uses)
    page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
    page.wait_for_selector(f"[data-line='{len(uses) - 1}']")
    page.click("role=columnheader >> text=year")
    page.wait_for_selector("[data-line='0']")
    page.click("role=columnheader >> text=year")
    last = workspace.corpus().uses("bank", sort="year", descending=True).lines(0, 1).values["year"][0]
    page.wait_for_function(
        "year => document.querySelector(\"[data-line='0'] .value:nth-child(2)\")?.textContent === year", arg=str(last)
    )
    assert "sort=-year" in page.url
    page.locator("[data-line='0']").press("Enter")
    page.wait_for_selector("dialog[open] .document")
    page.keyboard.press("Escape")


def test_lines_in_the_order_of_the_second_word(page: Any, address: str, workspace: Workspace) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line='0']")
    sorted_lines = workspace.corpus().uses("bank", sort="after 2").lines(0, 100)
    with page.expect_response(lambda response: "sort=after+2" in response.url) as answered:
        page.select_option("[aria-label='Order of the lines']", "after 2")
    assert answered.value.json()["lines"] == json.loads(json.dumps(sorted_lines.to_dict()))
    assert "sort=after" in page.url
    page.reload()
    page.wait_for_selector("[data-line='0']")
    assert page.input_value("[aria-label='Order of the lines']") == "after 2"
    with page.expect_response(lambda response: "around=25" in response.url) as answered:
        page.select_option("[aria-label='Words on either side of a line']", "25")
    wider = workspace.corpus().uses("bank", sort="after 2").lines(0, 100, around=25)
    assert answered.value.json()["lines"] == json.loads(json.dumps(wider.to_dict()))
    page.reload()
    page.wait_for_selector("[data-line='9'] .before")
    assert page.inner_text("[data-line='9'] .before > bdi") == wider.before[9]
    row = page.locator("[data-line='9'] .text")
    assert row.evaluate("row => row.scrollHeight <= row.clientHeight")  # all of it is in sight


def test_over_time_senses_and_the_lines_that_count(page: Any, address: str) -> None:
    page.goto(f"{address}/word?phrase=bank&over=year&with=money&with=river")
    page.wait_for_selector("svg[aria-label*='by year'] .band")
    assert page.locator("svg[aria-label^='How like']").count() == 2  # a picture for each word
    page.click("text=Show the lines that made this vector")
    page.wait_for_selector(".row.share")
    page.click("text=Look for several senses")
    page.wait_for_selector(".sense")


def test_two_sides_and_all_words(page: Any, address: str, workspace: Workspace) -> None:
    page.goto(f"{address}/compare?phrase=bank&where=year<2060&other_where=year>=2060")
    page.wait_for_selector("svg[aria-label*='either side'] circle")
    page.wait_for_selector(".verdict >> text=apart")
    page.locator("svg[aria-label*='either side'] a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('h1').textContent.startsWith('bank')")
    page.go_back()
    page.wait_for_function("() => document.querySelector('h1').textContent.startsWith('bank')")
    page.wait_for_selector(".verdict >> text=apart")
    alone = page.inner_text(".verdict")
    corpus = workspace.corpus()
    more_often = keywords(corpus.where("year<2060"), corpus.where("year>=2060"))
    told = next(item.word for item in more_often if item.word not in STOP_WORDS)
    tables = page.locator("[aria-label^='Words that ']")
    assert tables.nth(0).locator("td a").first.inner_text() == told
    assert tables.count() == 2
    page.click("text=Compare all words")
    page.wait_for_selector("svg[aria-label^='All words']")
    with page.expect_download() as waiting:
        page.locator(".long .tools >> text=CSV").click()
    rows = list(csv.DictReader(Path(waiting.value.path()).read_text().splitlines()))
    row = next(row for row in rows if row["word"] == "bank")
    for name in ("distance", "conf_low", "conf_high"):  # one distance and one interval, alone and among all
        value = float(row[name])
        assert f"{value:.{3 if abs(value) < 0.1 else 2}f}" in alone
    assert not [row for row in rows if row["q_value"] and float(row["q_value"]) > 0.05 and row["word"] in changed(page)]
    assert not [row for row in rows if row["conf_low"] and float(row["conf_low"]) <= 0 and row["word"] in changed(page)]


def changed(page: Any) -> set[str]:
    return set(page.locator("svg[aria-label^='All words'] a").evaluate_all("links => links.map((a) => a.ariaLabel)"))


def test_a_choice_in_compare_is_answered_at_once(page: Any, address: str) -> None:
    page.goto(f"{address}/compare?phrase=bank&where=year<2060&other_where=year>=2060")
    page.wait_for_selector(".verdict >> text=apart")
    before = page.inner_text(".lede")
    page.select_option("#where-a-party", label="D")
    page.wait_for_function("old => !['…', old].includes(document.querySelector('.lede').textContent)", arg=before)
    assert "where=party%3DD" in page.url


def test_the_map_moves_and_zooms(page: Any, address: str) -> None:
    page.goto(f"{address}/map?words=bank&words=money&words=river")
    page.wait_for_selector(".map ellipse")
    assert page.locator(".map ellipse").count() == 3
    before = page.locator(".map ellipse").first.get_attribute("rx")
    page.click("[aria-label='Zoom in']")
    page.wait_for_function("was => document.querySelector('.map ellipse').getAttribute('rx') !== was", arg=before)
    page.locator(".map svg").press("0")
    page.wait_for_function("was => document.querySelector('.map ellipse').getAttribute('rx') === was", arg=before)


def test_two_fingers_zoom_the_map(browser: Any, address: str) -> None:
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"{address}/map?words=bank&words=money&words=river")
    page.wait_for_selector(".map ellipse")
    page.locator(".map").scroll_into_view_if_needed()
    size = "Number(document.querySelector('.map ellipse').getAttribute('rx'))"
    before, box = page.evaluate(size), page.locator(".map svg").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = context.new_cdp_session(page)

    def fingers(kind: str, apart: float) -> None:
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if apart else []})

    fingers("touchStart", 30)
    for apart in range(35, 95, 5):
        fingers("touchMove", apart)
    fingers("touchEnd", 0)
    page.wait_for_function(f"before => {size} > 2 * before", arg=before)
    assert page.evaluate(size) == pytest.approx(3 * before, rel=0.2)  # three times as far apart
    context.close()


def test_words_beside_a_word(page: Any, address: str) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[aria-label='Words beside it'] td a")
    assert not {"the", "of", "a"} & set(page.locator("[aria-label='Words beside it'] td a").all_inner_texts())
    page.wait_for_selector(".over h2")
    beside, over = (page.locator(place).bounding_box() for place in ("[aria-label='Words beside it']", ".over"))
    assert beside["x"] + beside["width"] < over["x"]  # below the nearest words, and not below the charts
    before = page.inner_text("[aria-label='Words beside it']")
    page.fill("#window", "1")
    page.press("#window", "Tab")
    page.wait_for_function(
        "before => document.querySelector(\"[aria-label='Words beside it']\").innerText !== before", arg=before
    )


def test_the_map_of_a_text_shows_lines_and_finds_words(page: Any, address: str) -> None:
    page.goto(f"{address}/map")  # the words that this text moves most
    page.wait_for_selector(".map ellipse")
    assert page.locator(".map a").count() > 4
    first = page.locator(".map a").last  # it lies above the others
    word = first.text_content()
    first.hover()
    page.wait_for_selector(f".beside-map li b >> text={word}")
    first.click()
    page.wait_for_selector(".beside-map h2 >> text=alone")
    assert page.locator(".map g.dim").count() == page.locator(".map a").count() - 1
    page.locator(".map svg").press("Escape")
    assert page.locator(".map .dim").count() == 0
    page.fill("[aria-label='Find a word']", "mon")
    page.wait_for_selector(".map .found")
    page.click(".beside-map a")
    page.wait_for_function("word => document.title.startsWith(word)", arg=word)


def test_a_corpus_is_added_while_another_is_explored(page: Any, address: str, tmp_path: Path) -> None:
    file = tmp_path / "letters.txt"
    file.write_text("the bank of the river\na boat in deep money\n" * 20)
    page.goto(f"{address}/corpora")
    with page.expect_file_chooser() as chooser:
        page.click(".choice:has-text('Choose a file')")
    chooser.value.set_files(file)
    page.wait_for_selector(".sample li >> text=a boat in deep money")
    assert page.input_value("#name") == "letters"
    page.click("text=Build the corpus")
    page.wait_for_function("() => location.search.includes('corpus=letters')")  # its overview
    page.wait_for_selector("text=letters: 40 documents")
    page.goto(f"{address}/word?corpus=letters&phrase=boat")
    page.wait_for_selector("[data-line='0']")
    page.wait_for_selector(".lede >> text='20 uses; the corpus has 40 documents.'")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{address}/corpora")
    page.wait_for_selector("li:has(a[href='/start?corpus=letters']) >> text=40 documents")
    page.click("[aria-label='Delete letters']")
    page.wait_for_selector("a[href='/start?corpus=letters']", state="detached")
    page.click("[aria-label='Delete letters.txt']")
    page.wait_for_selector("text=letters.txt", state="detached")


DROP = """([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name));
    const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new DragEvent("drop", options));
}"""
ROWS = [(f"the bank of the river {n}, a boat, deep money", f"{1990 + n % 9}-05-01", "DR"[n % 2]) for n in range(60)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_file_that_is_dropped_says_what_it_is(
    page: Any, address: str, ending: str, workspace: Workspace, tmp_path: Path
) -> None:
    names = ("remark", "day", "party")
    name, file = f"dropped-{ending}.{ending}", tmp_path / f"dropped-{ending}.{ending}"
    if ending == "parquet":
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame(ROWS, columns=names).to_parquet(file)
        page.goto(f"{address}/corpora")
        page.set_input_files("#file", file)
    else:
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in ROWS]
        if ending != "jsonl":
            mark = "," if ending == "csv" else "\t"
            lines = [mark.join(f'"{value}"' for value in row) for row in (names, *ROWS)]
        page.goto(f"{address}/word")
        page.wait_for_selector("#phrase")
        page.evaluate(DROP, [name, "\n".join(lines)])  # onto any view
    page.wait_for_selector(".sample td")
    heads = page.locator(".sample th").all_inner_texts()
    assert [head.split("\n")[1] for head in heads] == ["text", "dates", "groups"]
    assert page.locator(".sample select").evaluate_all("all => all.map((each) => each.value)") == [
        "text",
        "keep",
        "keep",
    ]
    page.click("text=Build the corpus")
    page.wait_for_selector(f"text=dropped-{ending}: 60 documents", timeout=60_000)
    page.wait_for_selector("text=Documents by day")
    built = workspace.corpus(f"dropped-{ending}")
    assert built.columns == ("day", "party")
    page.request.post(f"{address}/api/corpus/delete", data={"name": f"dropped-{ending}"})
    page.request.post(f"{address}/api/text/delete", data={"name": name})


def test_a_folder_is_dropped(page: Any, address: str, tmp_path: Path) -> None:
    folder = tmp_path / "letters of 1900"
    (folder / "inside").mkdir(parents=True)
    for name in ("one.txt", "inside/two.txt", ".hidden.txt"):
        (folder / name).write_text(f"the bank of the river, in {name}\n")
    page.goto(f"{address}/word")
    page.wait_for_selector("#phrase")
    mouse = page.context.new_cdp_session(page)
    dropped = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        mouse.send("Input.dispatchDragEvent", {"type": kind, "x": 200, "y": 200, "data": dropped})
    page.wait_for_selector("h2 >> text=and 1 more")
    sent = page.locator(".things label").all_inner_texts()
    assert {"one.txt", "two.txt"} <= set(sent)
    assert ".hidden.txt" not in sent
    for name in ("one.txt", "two.txt"):
        page.request.post(f"{address}/api/text/delete", data={"name": name})


def test_a_note_is_kept(page: Any, address: str) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line]")
    page.click("summary >> text=Keep this view")
    page.fill("#note", "a <b>remark</b>")
    page.click("button >> text=Keep this view")
    page.wait_for_selector("text=Kept, under Notes.")
    page.goto(f"{address}/notes")
    page.wait_for_selector("article.note")
    assert page.locator("article.note textarea").input_value() == "a <b>remark</b>"
    page.click("article.note a")
    page.wait_for_selector("[data-line]")
    page.goto(f"{address}/notes")
    page.click("[aria-label^='Delete']")
    page.wait_for_selector("text=None yet.")


@pytest.mark.parametrize(
    ("label", "ending", "begins"),
    [
        ("CSV", "csv", b'"word","other"'),
        ("SVG", "svg", b"<svg"),
        ("PNG", "png", b"\x89PNG"),
        ("HTML", "html", b"<!doctype html>"),
    ],
)
def test_every_way_out(page: Any, address: str, label: str, ending: str, begins: bytes) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector(".answer .tools")
    with page.expect_download() as waiting:
        page.click(f".answer .tools >> text={label}")
    saved = waiting.value
    assert saved.suggested_filename == f"bank.{ending}"
    content = Path(saved.path()).read_bytes()
    assert content.startswith(begins)
    if ending == "svg":
        assert b"rgb(" in content  # colours are in it
        for said in (b">bank</text>", b"95 percent intervals", "à la carte · hostile".encode(), b"/word?phrase=bank"):
            assert said in content  # what it says and shows, its source, its address
    if ending == "png":
        assert len(content) > 10_000  # something is drawn


def test_a_view_is_one_file_that_opens_without_a_server(page: Any, address: str, tmp_path: Path) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector(".answer .tools")
    with page.expect_download() as waiting:
        page.click(".answer .tools >> text=HTML")
    file = tmp_path / "bank.html"
    waiting.value.save_as(file)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert page.inner_text("h1") == "bank"
    assert page.locator("svg circle").count() == 10
    assert page.locator("table tbody tr").count() >= 10
    assert page.locator("script").count() == 0
    assert "Concordance(" in page.inner_text("pre")
    assert asked == [file.as_uri()]


def test_a_line_on_a_phone_is_not_cut_off(browser: Any, address: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line]")
    heights = page.locator("[data-line]").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert max(heights) < 100
    assert page.locator("[data-line] .text").evaluate_all(
        "all => all.every((text) => text.scrollHeight <= text.clientHeight + 1)"
    )
    first = page.locator("svg a text").evaluate_all("all => Math.min(...all.map((text) => text.getBBox().x))")
    assert first >= 0
    page.close()


@pytest.mark.parametrize(
    ("path", "place", "holds"),
    [
        ("/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg", "main", "money"),
        ("/word?phrase=bank&over=year&with=money", ".over", "money"),
        ("/word?phrase=ban*", ".near", "ban*"),
        ("/word?phrase=ban*", ".stand", "expected"),
        ("/compare?phrase=bank&where=year<2060&other_where=year>=2060", ".compared", "contexts_a"),
        ("/compare?phrase=bank&where=year<2060&other_where=year>=2060", ".keywords", "per_million"),
        ("/map?words=bank&words=money&words=river", "main", "river"),
    ],
)
def test_the_python_prints_the_numbers(
    page: Any, address: str, path: str, place: str, holds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page.goto(f"{address}{path}")
    page.wait_for_selector(f"{place} .tools >> text=Show the Python")
    page.wait_for_timeout(300)
    for button in page.locator(f"{place} .tools >> text=Show the Python").all():
        button.click()
    for written in page.locator(f"{place} pre:not([hidden])").all_inner_texts():
        exec(written, {})
        assert holds in capsys.readouterr().out


def test_the_python_of_a_comparison_gives_what_is_drawn(page: Any, address: str, workspace: Workspace) -> None:
    page.goto(f"{address}/compare?phrase=bank&where=year<2060&other_where=year>=2060")
    page.wait_for_selector("svg[aria-label*='either side'] circle")
    drawn = page.locator("main .unseen tbody tr").first.inner_text().split("\t")
    page.click("text=Show the Python")
    names: dict[str, Any] = {}
    exec(page.inner_text("main pre:not([hidden])"), names)
    first = names["induced"]["a"].uncertainty.similarities("bank", [drawn[0]])[0]
    assert drawn[1].startswith(f"{first.estimate:.2f}") or drawn[1] == "unknown"


@pytest.mark.parametrize(
    ("path", "sign"),
    [
        ("/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg", "svg circle"),
        ("/word?phrase=bank&over=year&with=money&senses=1&influence=1", ".sense"),
        ("/compare?phrase=bank&where=year<2060&other_where=year>=2060", ".verdict >> text=apart"),
        ("/map?words=bank&words=money&words=river", ".map ellipse"),
    ],
)
def test_the_commands_are_those_that_there_are(page: Any, address: str, path: str, sign: str) -> None:
    page.goto(f"{address}{path}")
    page.wait_for_selector(sign)
    for button in page.locator("text=Show the command").all():
        button.click()
    shown = [text for text in page.locator(".tools + pre:not([hidden])").all_inner_texts() if text.startswith("alc ")]
    assert shown or path.startswith("/map")
    for command in "\n".join(shown).splitlines():
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, (command, done.output)


def delay(page: Any, holding: str, seconds: float = 1.0) -> None:
    """Answers to requests whose address holds this come later."""
    page.evaluate(
        """([holding, wait]) => {
            const now = window.fetch;
            window.fetch = async (path, ...rest) => {
                if (String(path).includes(holding)) await new Promise((done) => setTimeout(done, wait));
                return now(path, ...rest);
            };
        }""",
        [holding, 1000 * seconds],
    )


@pytest.mark.parametrize("view", ["word", "compare"])
def test_an_old_answer_is_dropped(page: Any, address: str, view: str) -> None:
    page.goto(f"{address}/{view}?where=year<2060&other_where=year>=2060" if view == "compare" else f"{address}/word")
    page.wait_for_selector(".examples a")  # nothing is blank without a question
    delay(page, "phrase=river")
    page.fill("#phrase", "river")
    page.keyboard.press("Enter")
    page.fill("#phrase", "money")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('money')")
    page.wait_for_selector("[data-line]")
    page.wait_for_timeout(1300)
    assert page.inner_text("h1").startswith("money")
    assert set(page.locator("[data-line] .match").all_inner_texts()) == {"money"}
    assert page.title().startswith("money")


def test_questions_end_with_their_view(page: Any, address: str) -> None:
    given_up: list[str] = []
    page.on("requestfailed", lambda request: given_up.append(request.url))
    page.route("**/api/word?*", lambda route: None)  # never answered
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line]")
    page.click("nav >> text=Notes")
    page.wait_for_function("() => document.title.startsWith('Notes')")
    page.wait_for_timeout(200)
    assert any("/api/word" in url for url in given_up)


def test_what_was_opened_is_in_the_address(page: Any, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/word?phrase=bank")
    page.click("text=Show the lines that made this vector")
    page.wait_for_selector(".row.share")
    assert "influence=1" in page.url
    page.click("svg[aria-label^='The words most like'] a >> nth=0")
    page.wait_for_function("() => !document.title.startsWith('bank')")
    page.go_back()
    page.wait_for_selector(".row.share")
    assert sum("/api/influence" in url for url in asked) == 1  # the answer was kept
    page.reload()
    page.wait_for_selector(".row.share")
    page.goto(f"{address}/compare?where=year<2060&other_where=year>=2060")
    page.click("text=Compare all words")
    page.wait_for_selector("svg[aria-label^='All words']")
    assert "all=1" in page.url


def test_one_writes_in_the_shaded_sentence(page: Any, address: str) -> None:
    page.goto(f"{address}/invent?word=zorg&sentence=The+Zorg+of+Money&sentence=a+deep+zorg")
    page.wait_for_selector(".shades .share >> text=Money")
    same = "() => [...document.querySelectorAll('.sheet > *')].map((each) => each.getBoundingClientRect().height)"
    for more in ("", "\nzorg in a boat of the river with money and a bank of the river in a deep boat" * 3):
        page.locator("#sentences").press_sequentially(more, delay=1)
        shades, text = page.evaluate(same)
        assert shades == text  # letter over letter
    page.fill("#target", "blick")  # the sentences keep their word
    assert page.input_value("#sentences").startswith("The blick of Money\na deep blick")
    page.wait_for_selector("svg[aria-label*='blick']")
    assert page.input_value("#sentences").count("blick") == 5


def test_a_sentence_waits_for_the_word(page: Any, address: str) -> None:
    page.goto(f"{address}/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg")
    page.wait_for_selector("svg[aria-label*='zorg'] a")  # words lead to the corpus
    page.fill("#sentences", "the zorg of money\na deep zorg\na boat in the")
    page.wait_for_selector("text=1 sentence without the word")
    assert page.locator(".shades .waiting").inner_text().strip() == "a boat in the"
    assert page.locator("svg[aria-label*='zorg'] circle").count() == 10
    page.fill("#sentences", "a boat in the")
    page.wait_for_function("() => document.querySelector('.shades').textContent === 'a boat in the\\n'")
    assert page.locator("svg[aria-label*='zorg'] circle").count() == 10  # stays until there is a better answer
    page.fill("#sentences", "")
    page.wait_for_selector("svg[aria-label*='zorg']", state="detached")
    assert page.locator("[role=alert]").count() == 0


def test_typing_goes_on_where_the_address_cannot_be_written(page: Any, address: str) -> None:
    page.add_init_script("history.replaceState = () => { throw new DOMException('too often', 'SecurityError'); }")
    page.goto(f"{address}/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg")
    page.wait_for_selector("svg[aria-label*='zorg']")
    page.wait_for_timeout(400)
    page.fill("#sentences", "the zorg of money\na deep zorg\nzorg in a boat")
    page.wait_for_function("() => document.querySelectorAll('.shades .target').length === 3")


def test_slash_goes_to_the_search(page: Any, address: str) -> None:
    for view, field in (("invent", "target"), ("word", "phrase"), ("compare", "phrase"), ("map", "words")):
        page.goto(f"{address}/{view}")
        page.wait_for_selector("[data-search]")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == field


def test_points_over_time_open_their_lines_and_all_lines_are_saved(page: Any, address: str) -> None:
    page.goto(f"{address}/word?phrase=bank&over=year&with=money")
    page.wait_for_selector("svg[aria-label*='by year'] a")
    with page.expect_download() as waiting:
        page.click("text=CSV of all lines")
    rows = Path(waiting.value.path()).read_text().splitlines()
    assert rows[0] == '"document","before","match","after","party","year"'
    assert f"{len(rows) - 1} lines" in page.inner_text(".over-lines")
    page.locator("svg[aria-label*='by year'] a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.lede').textContent.includes('the slice has')")
    assert "year%3E%3D" in page.url


def test_nothing_is_sure_from_three_documents(page: Any, address: str) -> None:
    page.goto(f"{address}/compare?phrase=bank&where=year<2003&other_where=year>=2003")
    page.wait_for_selector("svg[aria-label*='either side'] circle")
    page.wait_for_selector(".verdict >> text=unknown from so few uses")
    assert page.locator("svg[aria-label*='either side'] circle.unknown").count() > 0
    assert page.locator("svg[aria-label*='either side'] circle.context").count() == 0
    assert page.locator("svg[aria-label*='either side'] circle.spelling").count() > 0


def test_errors_are_sentences(page: Any, address: str) -> None:
    page.goto(f"{address}/word?corpus=gone&phrase=bank")
    page.wait_for_selector("[role=alert] >> text=There is no corpus gone here")
    page.route("**/api/word?*", lambda route: route.fulfill(status=400, body="<html>a proxy</html>"))
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[role=alert] >> text=The server could not answer this (status 400)")
    page.goto(f"{address}/word?phrase={'x' * 200}")
    page.wait_for_selector("[role=alert]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_the_corpora_come_back_with_the_server(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/api/corpora?", lambda route: route.abort())
    page.goto(f"{address}/corpora")
    page.wait_for_selector("text=The server does not answer; trying again")
    page.unroute("**/api/corpora?")
    page.wait_for_selector(".things a")
    assert page.locator("[role=alert]").count() == 0
    context.close()


def test_a_missing_value_can_be_chosen(page: Any, address: str) -> None:
    def without(route: Any) -> None:
        answer = route.fetch()
        there = answer.json()
        there["corpora"][0]["columns"][0]["values"].append(None)
        route.fulfill(response=answer, json=there)

    page.route("**/api/about?", without)
    page.goto(f"{address}/word")
    page.wait_for_selector("#phrase")
    page.select_option("[data-column=party]", label="(missing)")
    page.wait_for_function("() => location.search.includes('where=party%3D')")
    assert page.url.endswith("where=party%3D")


def test_a_long_document_is_read_from_the_use_on(page: Any, address: str) -> None:
    def long(route: Any) -> None:
        answer = route.fetch()
        document = answer.json()
        document["text"] = "far away " * 20_000 + document["text"] + " far away" * 20_000
        route.fulfill(response=answer, json=document)

    page.route("**/api/document?*", long)
    page.goto(f"{address}/word?phrase=bank")
    page.click("[data-line='0']")
    page.wait_for_selector("dialog[open] mark >> text=bank")
    before = len(page.inner_text("dialog .document"))
    assert before < 5000
    page.click("dialog >> text=Later")
    assert len(page.inner_text("dialog .document")) > before


def test_lines_are_text_cut_between_words(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector("[data-line]")
    for side in ("before", "after"):
        cells = page.locator(f"[data-line] .{side} > bdi").all_inner_texts()
        assert max(len(text.split()) for text in cells) >= 8
    assert page.evaluate(
        "[...document.querySelectorAll('.before')].every((cell) => cell.scrollWidth <= cell.clientWidth)"
    )
    page.click("summary >> text=Columns")
    page.uncheck("label:has-text('year') input")
    page.wait_for_function("() => !document.querySelector('[data-line] .value:nth-child(2)')")
    assert "show=party" in page.url


CUT = """(width) => [...document.querySelectorAll("main *")].filter((each) => {
    const box = each.getBoundingClientRect();
    const inside = each.closest(".cell, .scroller, .sample, pre, svg, .unseen");
    return box.right > width + 1 && box.width && each.checkVisibility() && !inside;
}).map((each) => each.outerHTML.slice(0, 90))"""


def barriers(page: Any) -> list[Any]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    violations = axe.Axe().run(page).response["violations"]
    return [(item["id"], item["nodes"][0]["html"]) for item in violations]


# 720 pixels with two to a point are a window of 1440 pixels at 200 %.
@pytest.mark.parametrize(
    ("width", "points", "scheme"),
    [(1200, 1, "light"), (1200, 1, "dark"), (390, 1, "light"), (390, 1, "dark"), (720, 2, "light")],
)
def test_everyone_can_use_it(browser: Any, address: str, scheme: str, width: int, points: int) -> None:
    viewport = {"width": width, "height": 900 // points}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, device_scale_factor=points)
    page = context.new_page()
    for path, sign in (*VIEWS, ("/word", ".examples a"), ("/compare", ".examples a"), ("/map", ".map ellipse")):
        page.goto(f"{address}{path}")
        page.wait_for_selector(sign)
        assert barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CUT, width) == []
        rows = page.locator("nav a").evaluate_all(
            "links => new Set(links.map((link) => Math.round(link.getBoundingClientRect().top))).size"
        )
        assert rows == 1
        assert page.locator("nav a").last.evaluate("link => link.getBoundingClientRect().right") <= width
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_everyone_can_use_what_opens(browser: Any, address: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}/word?phrase=bank&senses=1&influence=1&around=25")
    page.wait_for_selector(".sense")
    assert not re.search(r" [,.;:)]", page.inner_text(".sense ul >> nth=0"))
    page.wait_for_selector(".row.share")
    page.locator("text=Show the Python").first.click()
    page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
    assert barriers(page) == []
    assert page.evaluate(CUT, width) == []
    page.locator("[data-line='0']").click()
    page.wait_for_selector("dialog[open] mark")
    assert barriers(page) == []
    page.keyboard.press("Escape")
    page.goto(f"{address}/corpora")
    page.wait_for_selector(".things a")
    rows = ["remark,day,party", *(",".join(f'"{value}"' for value in row) for row in ROWS)]
    page.evaluate(DROP, ["opened.csv", "\n".join(rows)])
    page.wait_for_selector(".sample td")
    assert barriers(page) == []
    assert page.evaluate(CUT, width) == []
    page.request.post(f"{address}/api/text/delete", data={"name": "opened.csv"})
    context.close()


def test_the_token_does_not_stay_in_the_address(browser: Any, workspace: Workspace, served: Any) -> None:
    token = checked_token(None)
    with served(workspace, token) as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{address}/word?phrase=bank&token={token}")
        page.wait_for_selector("[data-line]")
        assert page.url == f"{address}/word?phrase=bank"
        assert token not in page.evaluate("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })")
        page.goto(f"{address}/corpora")
        page.wait_for_selector(".things a")
        other = browser.new_context().new_page()  # somebody else on this machine
        assert other.goto(f"{address}/word?phrase=bank").status == 403
        context.close()


def test_columns_and_periods_of_any_kind(browser: Any, workspace: Workspace, served: Any, tmp_path: Path) -> None:
    """Columns that are called as those of a line; values in quotes; a period without documents."""
    names = ["match", "before", "counts", "group", "year"]
    given = [
        Document(f"this bank number {n} was the river", values=("final", f"b{9 - n}", "c", "'it' |", 2000 + n % 3))
        for n in range(9)
    ]
    given += [Document("money", values=("final", "b", "c", "D", year)) for year in (2003, 2003, 2004)]
    given += [Document("money and the bank", values=("final", "b", "c", "D", year)) for year in (2000, 2002) * 9]
    path = tmp_path / "odd.concordance"
    Concordance.build(workspace.model().vectors, Corpus(given, columns=names), path, show_progress=False)
    with served(Workspace(workspace.models, {"odd": path})) as address:
        page = browser.new_page()
        page.goto(f"{address}/word?phrase=bank&show=match&show=before&show=group")
        page.wait_for_selector("[data-line='0']")
        first = page.locator("[data-line='0']")
        assert [first.locator(f".{kind}").inner_text() for kind in ("before", "match")] == ["this", "bank"]
        assert first.locator(".value").all_inner_texts() == ["final", "b9", "'it' |"]
        page.click(".head .value:nth-child(2) button")
        page.wait_for_function(
            "() => document.querySelector(\"[data-line='0'] .value:nth-child(2)\")?.textContent === 'b'"
        )
        assert "sort=columns.before" in page.url
        with page.expect_download() as waiting:
            page.click("text=CSV of all lines")
        header, row, *_ = Path(waiting.value.path()).read_text().splitlines()
        own = '"document","before","match","after","columns.match","columns.before","counts","group","year"'
        assert header == own
        assert '"bank"' in row
        page.select_option("[data-column=group]", label="'it' |")
        page.wait_for_function("() => document.querySelector('.lede').textContent.startsWith('9 uses')")
        page.goto(f"{address}/word?phrase=bank&where=group=D&over=year")
        page.wait_for_selector("svg[aria-label^='How often']")
        cells = page.locator("svg[aria-label^='How often'] + .unseen tbody tr").all_inner_texts()
        assert [cell.split("\t")[2] for cell in cells][:2] != ["0", "0"]
        assert "unknown" in cells[1]  # 2001 has no document of this group
        assert page.locator("svg[aria-label^='How often'] circle").count() == 4
        page.click("text=Show the lines that made this vector")
        page.wait_for_selector(".row.share")
        assert page.locator(".row.share .match").first.inner_text() == "bank"
        page.close()


def tabbed(page: Any, most: int) -> list[str]:
    """Press Tab until the focus is back where the page begins; what had it on the way, most of it at most."""
    stops: list[str] = []
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    page.focus(".skip")
    for _ in range(most):
        page.keyboard.press("Tab")
        page.wait_for_timeout(20)
        now = page.evaluate("document.activeElement.outerHTML.slice(0, 90)")
        if now.startswith(("<body", '<a class="skip"')):
            return stops
        stops.append(now)
    raise AssertionError(f"Tab came to no end; it was last at {stops[-12:]}")


@pytest.mark.parametrize(("path", "sign"), VIEWS)
def test_tab_comes_to_the_end_of_every_view(page: Any, address: str, path: str, sign: str) -> None:
    page.goto(f"{address}{path}")
    page.wait_for_selector(sign)
    page.wait_for_timeout(300)
    stops = tabbed(page, 80)
    assert len(set(stops)) >= 6
    last = page.evaluate(
        "[...document.querySelectorAll(':is(nav, main) :is(a[href], button, input, select, summary, textarea)')]"
        ".filter((each) => each.checkVisibility()).pop().outerHTML.slice(0, 90)"
    )
    assert stops[-1] == last or "tabindex" in last


def test_arrows_walk_the_lines_and_keep_the_focus(page: Any, address: str, workspace: Workspace) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.focus("[data-line='0']")
    for _ in range(45):
        page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.activeElement.dataset.line === '45'")
    page.keyboard.press("End")
    last = str(len(workspace.corpus().uses("bank")) - 1)
    page.wait_for_function("last => document.activeElement.dataset.line === last", arg=last)
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.scroller')")


def test_a_build_that_goes_on_keeps_its_buttons(page: Any, address: str) -> None:
    done = 0

    def building(route: Any) -> None:
        nonlocal done
        done += 1
        answer = route.fetch()
        now = answer.json()
        now["builds"] = [{"name": "letters", "state": "building", "message": "", "done": done, "total": 100}]
        route.fulfill(response=answer, json=now)

    page.route("**/api/corpora?", building)
    page.goto(f"{address}/corpora")
    page.focus("[aria-label='Stop letters']")
    page.wait_for_function("() => document.querySelector('progress').value > 4")
    assert page.evaluate("document.activeElement.ariaLabel") == "Stop letters"


def test_the_tabs_keep_the_corpus_and_back_keeps_the_place(browser: Any, workspace: Workspace, served: Any) -> None:
    both = Workspace(workspace.models, {**workspace.given, "letters": next(iter(workspace.given.values()))})
    with served(both) as address:
        page = browser.new_page(viewport={"width": 1200, "height": 300})
        page.goto(f"{address}/word?corpus=letters&phrase=bank")
        page.wait_for_selector("[data-line='0']")
        page.wait_for_selector("svg a")
        page.evaluate("document.querySelector('.scroller').scrollTop = 900")
        page.wait_for_selector("[data-line='30']")
        page.locator("svg a").first.scroll_into_view_if_needed()
        top = page.evaluate("scrollY")
        assert top > 50
        page.locator("svg a").first.click()
        page.wait_for_function("() => !document.title.startsWith('bank')")
        page.go_back()
        page.wait_for_function("() => document.title.startsWith('bank')")
        page.wait_for_selector("[data-line='30']")
        page.wait_for_function("top => Math.abs(scrollY - top) < 3", arg=top)
        for view in ("Compare", "Map", "Invent", "Word"):
            page.click(f"nav >> text={view}")
            page.wait_for_function("view => document.title.includes(view)", arg=view)
            assert view == "Invent" or "corpus=letters" in page.url
        page.close()


def test_what_a_column_is_decides_what_is_offered(
    browser: Any, workspace: Workspace, served: Any, tmp_path: Path
) -> None:
    names = ["senator", "date", "rating", "party", "remark"]
    given = [
        Document(
            f"the bank of the river {n} and money in a boat",
            values=(f"Senator {n % 60}", f"{1950 + n % 50}-03-01", n % 5, "DR"[n % 2], f"a remark, number {n}"),
        )
        for n in range(240)
    ]
    path = tmp_path / "senate.concordance"
    Concordance.build(workspace.model().vectors, Corpus(given, columns=names), path, show_progress=False)
    with served(Workspace(workspace.models, {"senate": path})) as address:
        page = browser.new_page()
        page.goto(f"{address}/compare")
        page.wait_for_selector(".examples a")
        offered = page.locator(".examples a").all_inner_texts()
        assert offered
        assert all(re.search(r"before (19\d\d) and since \1", text) for text in offered)
        page.goto(f"{address}/word?phrase=bank")
        page.wait_for_selector("#over")
        assert page.locator("#over option").evaluate_all("all => all.map((each) => each.value)") == [
            "",
            "date",
            "rating",
        ]
        assert page.locator("#where-remark, #from-remark").count() == 0
        page.wait_for_selector("[data-line]")
        page.focus("[data-search-in=senator]")
        page.keyboard.type("Senator 12")
        page.wait_for_function("() => document.querySelector('datalist').options.length === 1")
        page.fill("#from-date", "1960")
        page.fill("#to-date", "1970")
        page.keyboard.press("Enter")
        page.wait_for_function("() => location.search.includes('date%3C1971')")
        page.wait_for_function("() => /^1 use;/.test(document.querySelector('.lede').textContent)")
        assert page.locator("#conditions").input_value() == ""
        page.reload()
        page.wait_for_selector("[data-line]")
        assert [page.input_value(f"#{part}-date") for part in ("from", "to")] == ["1960", "1970"]
        page.close()
