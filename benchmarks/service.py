"""How much memory the service of docs/service.md takes, and how many questions it answers.

    python benchmarks/service.py --workers 2

Prints requests per second, the median and the slowest hundredth of the times they take, and for each process the
memory that is its own and that which it shares with others (Linux: /proc/PID/smaps_rollup).
"""

import argparse
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "service.md"
QUESTION = json.dumps({"word": "blorp", "contexts": ["they drank a bottle of fine french blorp with their meal"]})
JSON = {"Content-Type": "application/json"}


def write_service(folder: Path) -> None:
    """Write the page's service.py, and the model that it serves."""
    blocks = dict(re.findall(r"^```(python|sh)\n((?:import|python -c).*?)^```", PAGE.read_text("utf-8"), re.M | re.S))
    (folder / "service.py").write_text(blocks["python"], "utf-8")
    command = blocks["sh"].replace("python", f"'{sys.executable}'", 1)
    subprocess.run(command, shell=True, cwd=folder, check=True)


@contextmanager
def running(folder: Path, workers: int) -> Iterator[tuple[int, int]]:
    """Start the service and yield its port and the id of its first process; end it after that."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port), "--workers", str(workers)]
    process = subprocess.Popen([*command, "--log-level", "warning"], cwd=folder)
    try:
        until = time.monotonic() + 120
        while True:
            try:
                asked(port, "GET", "/health")
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.1)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)


def asked(port: int, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, object]]:
    """Return the status and the answer to a question."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, JSON)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def processes(parent: int) -> list[int]:
    """Return the processes that answer: those with the model, of a process and its children."""
    children = [int(child) for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    found = [parent, *children]
    return [pid for pid in found if "vectors.safetensors" in Path(f"/proc/{pid}/maps").read_text()]


def memory(pid: int) -> dict[str, float]:
    """Return megabytes of a process: those that it has written, and those of files that others can share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1000 for line in lines if "kB" in line}
    return {"own": sizes["Private_Dirty"], "with shared files": sizes["Rss"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8, help="questions at a time")
    parser.add_argument("--questions", type=int, default=2000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_service(folder)
        with running(folder, arguments.workers) as (port, pid):
            took: list[float] = []

            def client() -> None:
                for _ in range(arguments.questions // arguments.clients):
                    start = time.perf_counter()
                    status, _answer = asked(port, "POST", "/nearest", QUESTION)
                    assert status == 200
                    took.append(time.perf_counter() - start)

            threads = [threading.Thread(target=client) for _ in range(arguments.clients)]
            start = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.perf_counter() - start
            took.sort()
            print(f"{arguments.workers} processes on {os.cpu_count()} cores, {arguments.clients} questions at a time:")
            print(
                f"  {len(took) / seconds:,.0f} questions per second, median {took[len(took) // 2] * 1000:.1f} ms, ",
                end="",
            )
            print(f"slowest hundredth {took[-len(took) // 100] * 1000:.1f} ms")
            for process in processes(pid):
                print("  memory:", ", ".join(f"{value:.0f} MB {kind}" for kind, value in memory(process).items()))


if __name__ == "__main__":
    main()
