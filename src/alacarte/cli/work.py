"""`alc work`: do a task of a run that `alc plan` made."""

import os
from pathlib import Path
from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.output import show_json, show_line, voice

ARRAY_TASK = "SLURM_ARRAY_TASK_ID"
Lease = Annotated[
    float,
    typer.Option(min=1, metavar="SECONDS", help="After how long without a sign of life a worker is taken for dead."),
]


def work(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that alc plan made.")],
    task: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"The task to do; ${ARRAY_TASK} if neither this nor --any is given."),
    ] = None,
    any_task: Annotated[
        bool, typer.Option("--any", help="Do one task after the other that nobody works on, until all are done.")
    ] = False,
    lease: Lease = 300.0,
    threads: o.Threads = None,
    memory: o.Memory = None,
    checkpoint_every: o.CheckpointEvery = 300.0,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Do a task of a run. Tasks may be done twice, by anybody, in any order; killed workers lose a few minutes.

    \b
    alc work run --task 17
    alc work run --any
    sbatch --array=1-64 --wrap 'alc work run'
    """
    from alacarte.passes.plan import work as do_work

    if task is not None and any_task:
        raise typer.BadParameter("--task names one task and --any takes all that are free; pass one of them")
    voice.checkpoint = run
    number = task if task is not None or any_task else _array_task()
    done = do_work(
        run,
        number,
        lease=lease,
        threads=threads,
        memory=memory,
        checkpoint_seconds=checkpoint_every,
        show_progress=voice.progress,
    )
    if as_json:
        show_json({"run": str(run), "done": done})
    elif not voice.quiet:
        named = f"{'Task' if len(done) == 1 else 'Tasks'} {', '.join(map(str, done))} done." if done else "Done before."
        show_line(f"{named} alc status {run} says how far the others are.")


def _array_task() -> int:
    """The task that SLURM says this process is for."""
    value = os.environ.get(ARRAY_TASK, "")
    if not value.isdecimal():
        raise typer.BadParameter(f"which task? Pass --task N or --any, or set {ARRAY_TASK} as SLURM does")
    return int(value)
