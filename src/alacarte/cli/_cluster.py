"""A Dask cluster for the commands that sum contexts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from alacarte.cli.options import WORK
from alacarte.cli.output import detail

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", rich_help_panel=WORK, help="Work on the Dask cluster whose scheduler is at tcp://HOST:PORT."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="local:N", rich_help_panel=WORK, help="Work in N processes of this machine, by Dask."),
]
Run = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="DIR",
        rich_help_panel=WORK,
        help="With these two: a folder for the work so far, on a disk that all workers see.",
    ),
]


@contextmanager
def open_client(scheduler: str | None, cluster: str | None) -> Iterator[Any]:
    """A client of the cluster that the options name; None without any."""
    if scheduler is None and cluster is None:
        yield None
        return
    if scheduler is not None and cluster is not None:
        raise typer.BadParameter("--scheduler and --cluster name two clusters; pass one of them")
    from alacarte._io.remote import in_text_without_secrets, without_secrets
    from alacarte.errors import AlacarteError, require

    distributed = require("distributed", extra="dask", purpose="working on a Dask cluster")
    if cluster is not None:
        from alacarte.passes.dask import local_cluster

        with local_cluster(_workers(cluster)) as local, distributed.Client(local) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        shown, said = without_secrets(scheduler or ""), in_text_without_secrets(str(error))
        raise AlacarteError(f"no scheduler answers at {shown} ({said}); check the address") from None
    with client:
        detail(f"dashboard: {client.dashboard_link}")
        yield client


def _workers(cluster: str) -> int:
    """
    >>> _workers("local:4")
    4
    """
    kind, _, number = cluster.partition(":")
    if kind != "local" or not number.isdecimal() or int(number) < 1:
        raise typer.BadParameter(f"{cluster!r} is not as in local:4", param_hint="--cluster")
    return int(number)
