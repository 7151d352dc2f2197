"""From `pip install` to a finding about one's own CSV, in a fresh environment and a real browser: seconds of each step.

    python benchmarks/first_minutes.py [FILE.csv]

Needs the network (or an index of pip's), Chromium, and Playwright from the extra `dev`.
"""

import csv
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
SPEECHES = ROOT / "src" / "alacarte" / "serve" / "speeches.jsonl.xz"


def main() -> None:
    begin = last = time.perf_counter()

    def step(said: str) -> None:
        nonlocal last
        now = time.perf_counter()
        print(f"{now - last:6.1f} s  {said}", flush=True)
        last = now

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = Path(sys.argv[1]) if len(sys.argv) > 1 else sample(folder / "speeches.csv")
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        step("python -m venv")
        package = f"{ROOT}[glove,serve]"
        subprocess.run([folder / "venv/bin/pip", "install", "--quiet", package], check=True)
        step("pip install 'alacarte-embeddings[glove,serve]'")
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": ""}
        command = [folder / "venv/bin/alc", "serve", "--port", "0", "--no-browser", "--workspace", folder / "own"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found is not None
                step("alc serve prints the address")
                explore(found.group(), file, step)
            finally:
                server.terminate()
    print(f"{last - begin:6.1f} s  in all; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def sample(path: Path) -> Path:
    """Write the speeches that the page opens on as a CSV of paragraphs, as a stranger's text would be."""
    with path.open("w", encoding="utf-8", newline="") as file, lzma.open(SPEECHES, "rt", encoding="utf-8") as lines:
        writer = csv.writer(file)
        writer.writerow(["when", "who", "said"])
        for row in map(json.loads, lines):
            writer.writerows([row["date"], row["speaker"], part] for part in row["text"].split("\n") if part.strip())
    return path


def explore(address: str, file: Path, step: object) -> None:
    assert callable(step)
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.goto(address)
        page.wait_for_selector("svg[aria-label*='over time'] .band")
        step("the first screen has its picture")
        page.click("nav >> text=Corpora")
        page.set_input_files("#file", file)
        page.wait_for_selector(".sample td")
        step(f"{file.name} shows its rows and columns")
        page.click("text=Build the corpus")
        page.wait_for_function("() => location.search.includes('corpus=')")
        step("the corpus is built")
        page.wait_for_selector(".quote, .wrong")
        step(f"it says: {page.inner_text('h1')}")
        browser.close()


if __name__ == "__main__":
    main()
