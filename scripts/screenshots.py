"""Pictures of the page for the docs, from the speeches that it opens on: docs/figures/serve-*.png.

    python scripts/screenshots.py

Needs Chromium, and Playwright from the extra `dev`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
COMPARED = "/compare?phrase=energy&where=date<1970&other_where=date>=1970"
VIEWS = {  # the picture, its address, what is there when it is done
    "start": ("/", ".quote + .quote"),
    "invent": ("/invent", "svg circle"),
    "word": ("/word?phrase=freedom", "svg[aria-label*='by date'] .band"),
    "compare": (COMPARED, ".verdict >> text=apart"),
    "map": ("/map", ".map ellipse"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "alacarte", "serve", "--workspace", f"{folder}/workspace"]
        with subprocess.Popen([*words, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found is not None
                draw(*found.group().split("/?token="))
            finally:
                server.terminate()


def draw(address: str, token: str) -> None:
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        headers = {"authorization": f"Bearer {token}"}
        page: Page = browser.new_page(viewport={"width": 1180, "height": 900}, extra_http_headers=headers)
        for name, (path, sign) in VIEWS.items():
            page.goto(address + path)
            page.wait_for_selector(sign, timeout=120_000)
            page.wait_for_timeout(500)
            picture = DOCS / "figures" / f"serve-{name}.png"
            page.screenshot(path=picture, full_page=name in ("word", "map"))
            print(picture)
        browser.close()


if __name__ == "__main__":
    main()
