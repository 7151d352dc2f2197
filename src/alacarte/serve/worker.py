"""A process that answers questions; see `alacarte.serve.jobs`."""

import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from alacarte._io.progress import ProgressState
from alacarte.errors import AlacarteError
from alacarte.serve.answers import INSIDE, QUESTIONS
from alacarte.serve.questions import as_json
from alacarte.serve.workspace import Workspace

EVERY = 0.1  # seconds between two messages about progress


def main() -> None:
    """Read questions from standard input, write messages to standard output."""
    description, memory = sys.argv[1:3]
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # nothing that is printed by accident is taken for a message
    limit_memory(int(memory))
    workspace = Workspace.from_description(description)
    with suppress(AlacarteError):  # ahead of the question; what is wrong with it is said in the answer
        workspace.model()
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(asked,), daemon=True).start()
    while True:
        path, values = json.loads(asked.get())
        for message in _answered(workspace, path, values, _Reporter(out)):
            _write(out, message)


def _read(asked: "queue.SimpleQueue[str]") -> None:
    """Nobody waits for an answer once standard input is closed, as it is when the server ends, however it does."""
    for line in sys.stdin:
        asked.put(line)
    os._exit(1)


def _answered(workspace: Workspace, path: str, values: dict[str, Any], report: "_Reporter") -> Iterator[dict[str, Any]]:
    question = next(question for question in (*QUESTIONS, *INSIDE) if question.path == path)
    if question.manner == "job":
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, 0, 5)  # short questions come first
    try:
        answer = question.answer(workspace, *([report] if question.manner == "job" else []), **values)
        yield {"answer": answer}
    except AlacarteError as error:
        yield {"error": error.message, "hint": error.hint.python if error.hint else ""}
    except MemoryError:
        yield {"error": "this needs more memory than one question may take; ask about less text, or raise --memory"}
    except Exception as error:
        traceback.print_exc()
        yield {
            "fault": type(error).__name__,
            "error": f"the server has a fault ({type(error).__name__}); its log says more",
        }


class _Reporter:
    """Writes how far a pass has come, a few times a second."""

    def __init__(self, out: Any) -> None:
        self._out, self._last = out, 0.0

    def __call__(self, state: ProgressState) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            _write(self._out, {"progress": {"phase": "reading", "done": state.done, "total": state.total}})


def _write(out: Any, message: dict[str, Any]) -> None:
    out.write(as_json(message) + b"\n")
    out.flush()


def usual_memory() -> int | None:
    """Half of the memory of this machine, in bytes; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # Windows, and whatever has no such number
        return None


def limit_memory(size: int) -> None:
    """Limit this process to `size` bytes of memory of its own; 0 is no limit. Does nothing on Windows."""
    if not size or sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


if __name__ == "__main__":
    main()
