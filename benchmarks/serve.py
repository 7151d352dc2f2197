"""How quick the page is: typing, many users at once, while a corpus is built; bytes and time of the first screenful.

    python benchmarks/serve.py wiki.concordance --model glove.6B.100d --vectors glove.6B.100d.npy \
        [--build wiki.txt] [--users 20] [--seconds 20]

It starts `alc serve` on this machine and asks it as people do. With `--build`, a text is copied into the workspace and
built while one types. The browser is Chromium, if it is there.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx

SENTENCES = [
    "They drank a bottle of fine french blorp with their meal.",
    "A glass of chilled blorp goes well with oysters and lemon.",
    "The vineyard sold its best blorp to restaurants in Paris.",
]
HEADERS: dict[str, str] = {}  # with the token of the server
WORDS = ["bank", "spring", "cell", "river", "music", "united states", "computer", "war", "king", "water"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concordance", type=Path)
    parser.add_argument("--model", default="glove.6B.50d")
    parser.add_argument("--vectors")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--typed", type=int, default=200)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    command = [sys.executable, "-m", "alacarte", "serve", str(given.concordance), "--model", given.model]
    command += ["--vectors", given.vectors] if given.vectors else []
    command += ["--workspace", str(folder), "--port", "0", "--no-browser"]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://\S+", line)
            if found is None:
                raise SystemExit("the server did not start")
            address, _, token = found.group().partition("/?token=")
            print(f"{'the server answers after':40} {time.perf_counter() - started:8.2f} s")
            HEADERS["authorization"] = f"Bearer {token}"
            measure(address, given, folder)
        finally:
            server.terminate()
            server.wait()
            shutil.rmtree(folder)


def measure(address: str, given: Any, folder: Path) -> None:
    with httpx.Client(base_url=address, headers=HEADERS, timeout=120) as client:
        ask(client, "invent")  # what is opened when it is first asked for
        ask(client, "word")
        show("typing, one sentence to three", typed(client, given.typed))
    show_load(f"{given.users} users, each without a pause", load(address, given.users, given.seconds, pause=0.0))
    show_load(f"{given.users} users, a question every 2 s", load(address, given.users, given.seconds, pause=2.0))
    if given.build is not None:
        (folder / "texts").mkdir(exist_ok=True)
        size = (folder / "texts" / "text.txt").write_bytes(given.build.read_bytes())
        with httpx.Client(base_url=address, headers=HEADERS, timeout=120) as client:
            client.post("/api/build", json={"name": "built", "texts": ["text.txt"]}).raise_for_status()
            begun, times = time.perf_counter(), []
            while client.get("/api/corpora").json()["builds"]:
                times += typed(client, 60)
            print(f"{'a corpus is built from':40} {size / 1e6:8.0f} MB in {time.perf_counter() - begun:.0f} s")
            show("typing meanwhile", times)
    in_browser(address)


def ask(client: httpx.Client, kind: str) -> float:
    """Seconds that a question took; raises on any error."""
    word = random.choice(WORDS)
    start = time.perf_counter()
    if kind == "invent":
        sentences = [sentence.replace("blorp", "zorg") for sentence in random.sample(SENTENCES, random.randint(1, 3))]
        response = client.post("/api/invent", json={"sentences": sentences, "word": "zorg"})
    elif kind == "word":
        response = client.get("/api/word", params={"phrase": word})
    else:
        response = client.get("/api/lines", params={"phrase": word, "skip": random.randint(0, 50), "limit": 100})
    took = time.perf_counter() - start
    response.raise_for_status()
    return took


def typed(client: httpx.Client, count: int) -> list[float]:
    """A word is invented, a letter at a time: the time to each answer."""
    text, times = "", []
    for letter in " ".join(SENTENCES)[:count]:
        text += letter
        if "blorp" in text:
            start = time.perf_counter()
            client.post("/api/invent", json={"sentences": text.split("\n"), "word": "blorp"}).raise_for_status()
            times.append(time.perf_counter() - start)
    return times


def load(address: str, users: int, seconds: float, pause: float) -> tuple[dict[str, list[float]], list[str]]:
    times: dict[str, list[float]] = {"invent": [], "word": [], "lines": []}
    errors: list[str] = []
    end = time.monotonic() + seconds

    def user() -> None:
        time.sleep(pause * random.random())
        with httpx.Client(base_url=address, headers=HEADERS, timeout=120) as client:
            while time.monotonic() < end:
                kind = random.choice(["invent", "invent", "word", "lines"])
                try:
                    times[kind].append(ask(client, kind))
                except Exception as error:
                    errors.append(repr(error))
                time.sleep(pause)

    threads = [threading.Thread(target=user) for _ in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, errors


def show(label: str, times: list[float]) -> None:
    ordered = sorted(times)
    middle, high = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    print(
        f"{label:40} {1e3 * middle:8.1f} ms in the middle, {1e3 * high:.1f} at the 95th percentile, {len(times)} asked"
    )


def show_load(label: str, result: tuple[dict[str, list[float]], list[str]]) -> None:
    times, errors = result
    print(f"{label}: {sum(map(len, times.values())):,} answers, {len(errors)} errors {errors[:2] or ''}")
    for kind, each in times.items():
        if each:
            show(f"  {kind}", each)


def in_browser(address: str) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        paints, weights, times = [], [], []
        for _ in range(5):
            page = browser.new_page(extra_http_headers=HEADERS)
            page.goto(address)
            page.wait_for_selector("svg circle")
            entries = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            paints.append(page.evaluate(entries) / 1e3)
            sizes = "performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)"
            weights.append(page.evaluate(sizes))
            if len(paints) == 5:
                times = typed_in_browser(page)
            page.close()
        browser.close()
    print(f"{'first paint':40} {max(paints):8.2f} s at most of 5")
    print(f"{'page weight':40} {max(weights) / 1e3:8.1f} kB, with the first answers")
    show("in the browser: a letter to neighbours", times)


def typed_in_browser(page: Any) -> list[float]:
    """From a letter that is typed to the new picture, with the page's own short wait."""
    script = """() => new Promise((done) => {
        const text = document.querySelector("#sentences"), result = document.querySelector("[aria-live=polite]");
        const start = performance.now();
        const watch = new MutationObserver(() => {
            watch.disconnect();
            requestAnimationFrame(() => done(performance.now() - start));
        });
        watch.observe(result, { childList: true });
        text.value += "x";
        text.dispatchEvent(new Event("input"));
    })"""
    return [page.evaluate(script) / 1e3 for _ in range(60)]


if __name__ == "__main__":
    main()
