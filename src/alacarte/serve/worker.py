"""A process that answers one long question; see `alacarte.serve.jobs`."""

import json
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from alacarte._io.progress import ProgressState
from alacarte.errors import AlacarteError
from alacarte.serve.answers import INSIDE, QUESTIONS
from alacarte.serve.questions import as_json
from alacarte.serve.workspace import Workspace

EVERY = 0.1  # seconds between two messages about progress


def main() -> None:
    """Read a question from standard input, write messages to standard output."""
    description, memory = sys.argv[1:3]
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # nothing that is printed by accident is taken for a message
    limit_memory(int(memory))
    with suppress(OSError, AttributeError):
        os.nice(5)  # short questions come first
    workspace = Workspace.from_description(description)
    with suppress(AlacarteError):  # ahead of the question; what is wrong with it is said in the answer
        workspace.model()
    line = sys.stdin.readline()
    if line:
        path, values = json.loads(line)
        threading.Thread(target=_end_with_the_server, daemon=True).start()
        _write(out, _answered(workspace, path, values, _Reporter(out)))


def _end_with_the_server() -> None:
    """Nobody waits for an answer once standard input is closed, as it is when the server ends, however it does."""
    sys.stdin.read()
    os._exit(1)


def _answered(workspace: Workspace, path: str, values: dict[str, Any], report: "_Reporter") -> dict[str, Any]:
    question = next(question for question in (*QUESTIONS, *INSIDE) if question.path == path)
    try:
        return {"answer": question.answer(workspace, report, **values)}
    except AlacarteError as error:
        return {"error": error.message, "hint": error.hint.python if error.hint else ""}
    except MemoryError:
        return {"error": "this needs more memory than one question may take; ask about less text, or raise --memory"}


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
