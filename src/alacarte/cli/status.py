"""`alc status`: how far a run has come."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.output import show_columns, show_json, show_line
from alacarte.cli.work import Lease

if TYPE_CHECKING:
    from alacarte.passes.plan import RunStatus, TaskState

SHOWN = 20  # tasks of a kind that are listed one by one


def status(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that alc plan made.")],
    lease: Lease = 300.0,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Show how many tasks of a run are done, running, lost with their worker, failed (and why) or waiting.

    \b
    alc status run
    """
    from alacarte.passes.plan import status as look

    state = look(run, lease=lease)
    if as_json:
        show_json({**asdict(state), "complete": state.complete})
        return
    kinds = ("done", "running", "lost", "failed", "waiting")
    show_line(", ".join(f"{state.count(kind)} {kind}" for kind in kinds) + f" of {len(state.tasks)} tasks.")
    listed = [task for kind in ("failed", "lost", "running") for task in _some(state, kind)]
    if listed:
        rows = [(task.task, task.status, task.worker, _detail(task)) for task in listed]
        show_columns(("task", "state", "worker", ""), rows)
    if state.complete:
        show_line(f"All is done. Next: alc reduce {run} --out FILE")
    elif state.seconds_left is not None:
        show_line(f"About {_duration(state.seconds_left)} left with {state.count('running')} at work.")
    if state.count("failed"):
        show_line(f"Failed tasks are tried again by: alc work {run} --task N")


def _some(state: "RunStatus", kind: str) -> list["TaskState"]:
    return [task for task in state.tasks if task.status == kind][:SHOWN]


def _detail(task: "TaskState") -> str:
    return task.error if task.status == "failed" else f"last heard of {_duration(task.age)} ago"


def _duration(seconds: float) -> str:
    """
    >>> _duration(42), _duration(4000)
    ('42 s', '67 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
