"""The page in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")


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
    page.goto(f"{address}/word?phrase=bank")
    page.wait_for_selector(".lines td")
    assert page.title() == "à la carte"
    assert page.locator("main img, main script").count() == 0
    assert "script" in page.inner_text(".lines")


def test_lines_filters_and_the_way_back(page: Any, address: str) -> None:
    page.goto(f"{address}/word")
    page.wait_for_selector("#phrase")
    page.keyboard.press("/")
    page.keyboard.type("bank")
    page.keyboard.press("Enter")
    page.wait_for_selector(".lines td")
    whole = page.inner_text(".lede")
    page.select_option("[data-column=party]", "D")
    page.wait_for_function(
        "whole => { const now = document.querySelector('.lede').textContent; return now !== whole && now !== '…' }",
        arg=whole,
    )
    assert "where=party%3DD" in page.url
    page.wait_for_selector(".lines td")
    assert set(page.locator(".lines tbody tr td:nth-child(4)").all_inner_texts()) == {"D"}
    page.go_back()
    page.wait_for_function("whole => document.querySelector('.lede').textContent === whole", arg=whole)
    page.click("text=More lines")
    page.wait_for_function("() => document.querySelectorAll('.lines tbody tr').length === 100")
    page.fill("#phrase", "unheard")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert "does not occur" in page.inner_text("[role=alert]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_everyone_can_use_it(browser: Any, address: str, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for path, sign in (
        ("/invent?word=zorg&sentence=the+zorg+of+money&sentence=a+deep+zorg", "svg"),
        ("/word?phrase=bank", ".lines td"),
    ):
        page.goto(f"{address}{path}")
        page.wait_for_selector(sign)
        violations = axe.Axe().run(page).response["violations"]
        assert not [(item["id"], item["nodes"][0]["html"]) for item in violations]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
