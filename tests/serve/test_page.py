"""The page in a real browser."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alacarte.serve.workspace import Workspace

playwright = pytest.importorskip("playwright.sync_api")

VIEWS = (  # an address of each view, and what is there when it is done
    ("/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg", "svg circle"),
    ("/word?phrase=bank&over=year&with=money", "svg[aria-label*='by year'] circle"),
    ("/compare?phrase=bank&where=year<2060&other_where=year>=2060", "[data-line]"),
    ("/map?words=bank&words=money&words=river", ".map ellipse"),
    ("/corpora", ".things a"),
    ("/notes", "h1"),
)


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Any]:
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
    assert not problems


def test_a_word_is_invented_while_one_types(page: Any, address: str) -> None:
    page.goto(f"{address}/")
    page.fill("#target", "zorg")
    page.fill("#sentences", "the zorg of the river\na deep zorg in a boat\nthe zorg of money")
    page.wait_for_selector("svg[aria-label*='zorg']")
    assert page.inner_text("h1") == "What could zorg mean?"
    assert page.locator(".sentence .target").count() == 3
    assert page.locator("svg circle").count() == 10
    address_now = page.url
    page.goto("about:blank")
    page.goto(address_now)  # a view is an address that can be shared
    page.wait_for_selector("svg[aria-label*='zorg']")
    assert page.input_value("#sentences").startswith("the zorg of the river")


def test_text_of_a_corpus_is_never_a_page(page: Any, address: str) -> None:
    for path, sign in VIEWS:
        page.goto(f"{address}{path}")
        page.wait_for_selector(sign)
        assert page.title() == "à la carte"
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
    page.select_option("[data-column=party]", "D")
    page.wait_for_function(
        "whole => { const now = document.querySelector('.lede').textContent; return now !== whole && now !== '…' }",
        arg=whole,
    )
    assert "where=party%3DD" in page.url
    page.wait_for_selector("[data-line]")
    assert set(page.locator(".row:not(.head) .cell:nth-child(4)").all_inner_texts()) == {"D"}
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
        "year => document.querySelector(\"[data-line='0'] .cell:nth-child(5)\")?.textContent === year", arg=str(last)
    )
    assert "sort=-year" in page.url
    page.locator("[data-line='0']").press("Enter")
    page.wait_for_selector("dialog[open] .document")
    page.keyboard.press("Escape")


def test_over_time_senses_and_the_lines_that_count(page: Any, address: str) -> None:
    page.goto(f"{address}/word?phrase=bank&over=year&with=money&with=river")
    page.wait_for_selector("svg[aria-label*='by year'] .band")
    page.click("text=Show the lines that made this vector")
    page.wait_for_selector("tr.share")
    page.click("text=Look for several senses")
    page.wait_for_selector(".sense")


def test_two_sides_and_all_words(page: Any, address: str) -> None:
    page.goto(f"{address}/compare?phrase=bank&where=year<2060&other_where=year>=2060")
    page.wait_for_selector("svg[aria-label*='either side'] circle")
    assert "apart" in page.inner_text(".lede")
    page.locator("svg[aria-label*='either side'] a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('h1').textContent.startsWith('bank')")
    page.go_back()
    page.wait_for_function("() => document.querySelector('h1').textContent.startsWith('bank')")
    page.click("text=Compare all words")
    page.wait_for_selector("svg[aria-label^='All words']")


def test_the_map_moves_and_zooms(page: Any, address: str) -> None:
    page.goto(f"{address}/map?words=bank&words=money&words=river")
    page.wait_for_selector(".map ellipse")
    assert page.locator(".map ellipse").count() == 3
    before = page.locator(".map ellipse").first.get_attribute("rx")
    page.click("[aria-label='Zoom in']")
    page.wait_for_function("was => document.querySelector('.map ellipse').getAttribute('rx') !== was", arg=before)
    page.locator(".map svg").press("0")
    page.wait_for_function("was => document.querySelector('.map ellipse').getAttribute('rx') === was", arg=before)


def test_a_corpus_is_added_while_another_is_explored(page: Any, browser: Any, address: str, tmp_path: Path) -> None:
    file = tmp_path / "letters.txt"
    file.write_text("the bank of the river\na boat in deep money\n" * 20)
    page.goto(f"{address}/corpora")
    page.set_input_files("#file", file)
    page.wait_for_selector("text=letters.txt")
    page.fill("#name", "letters")
    page.click("text=Build >> nth=-1")
    page.wait_for_selector("a[href='/word?corpus=letters']")
    page.click("a[href='/word?corpus=letters']")
    page.wait_for_selector("#phrase")
    page.fill("#phrase", "boat")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-line='0']")
    assert "20 uses in 40 documents" in page.inner_text(".lede")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{address}/corpora")
    page.click("[aria-label='Delete letters']")
    page.wait_for_selector("a[href='/word?corpus=letters']", state="detached")
    page.click("[aria-label='Delete letters.txt']")
    page.wait_for_selector("text=letters.txt", state="detached")


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
    [("CSV", "csv", b'"word","other"'), ("SVG", "svg", b"<svg"), ("PNG", "png", b"\x89PNG")],
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
    if ending == "png":
        assert len(content) > 10_000  # something is drawn


def test_the_python_and_the_command_give_the_same(page: Any, address: str, workspace: Workspace) -> None:
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector(".answer .tools")
    page.click("text=Show the Python")
    *lines, _, _ = page.inner_text(".answer pre").splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    assert names["induced"].count("bank") == workspace.corpus().count("bank")
    page.click("text=Show the command")
    first, second = page.inner_text(".answer pre").splitlines()
    for command in (first, second):
        done = subprocess.run(
            [sys.executable, "-m", "alacarte", *shlex.split(command)[1:]], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_everyone_can_use_it(browser: Any, address: str, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for path, sign in VIEWS:
        page.goto(f"{address}{path}")
        page.wait_for_selector(sign)
        violations = axe.Axe().run(page).response["violations"]
        assert not [(item["id"], item["nodes"][0]["html"]) for item in violations]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
