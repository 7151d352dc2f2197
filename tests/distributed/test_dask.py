"""Contexts summed on a Dask cluster: the bits of one pass, whatever happens to workers, scheduler and clients."""

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time

import passes as shared
import pytest

from alacarte import ALaCarte, Corpus, Targets, collect
from alacarte.errors import AlacarteError, BadRun
from alacarte.passes import dask as on_dask
from alacarte.passes import plan as planning
from alacarte.passes.collect import count_words

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals as POSIX has them")
BLOCK = 512
SECONDS = 180  # after which a test that waits has failed


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes with a thread each."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    quiet = {"silence_logs": logging.CRITICAL, "memory_limit": 0}
    with distributed.LocalCluster(**settings, **quiet) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text("\n".join(shared.sample_text(9000, number)), encoding="utf-8")
    return Corpus(folder)


def in_background(function, *arguments, **options):
    """Call a function in a thread; what it returned or raised, when it is asked for."""
    outcome = []

    def call():
        try:
            outcome.append(function(*arguments, **options))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()

    def result():
        thread.join(SECONDS)
        assert outcome, "it does not come to its end"
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    return result


def test_same_bits(client, text, tmp_path):
    """`collect`, `fit` and `induce`; the folder of the run is gone afterwards, unless it was named."""
    sums = collect(shared.VECTORS, text, block_size=BLOCK, client=client)
    assert sums == collect(shared.VECTORS, text, block_size=BLOCK)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
    options = {"context_weights": "top:2", "spread": 3, "block_size": BLOCK}
    sums = collect(shared.VECTORS, text, shared.NGRAMS, **options, client=client, run=tmp_path / "run")
    assert shared.same(sums, collect(shared.VECTORS, text, shared.NGRAMS, **options))
    assert planning.status(tmp_path / "run").complete
    model = ALaCarte.fit(shared.VECTORS, text, weighting="none", ridge=1.0, client=client)
    here = ALaCarte.fit(shared.VECTORS, text, weighting="none", ridge=1.0)
    assert (model.transform.matrix == here.transform.matrix).all()
    assert model.induce(text, ["x"], client=client)["x"].tolist() == here.induce(text, ["x"])["x"].tolist()


def test_what_a_cluster_does_not_do(client, text, tmp_path):
    with pytest.raises(AlacarteError, match="leave shard and checkpoint out"):
        collect(shared.VECTORS, text, client=client, checkpoint=tmp_path / "c")
    with pytest.raises(AlacarteError, match="a folder for a run goes with a cluster; pass client="):
        collect(shared.VECTORS, text, run=tmp_path / "run")
    with pytest.raises(AlacarteError, match="counting words is not done on a cluster"):
        count_words(shared.VECTORS, text, client=client)
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=2)
    with pytest.raises(BadRun, match="is the folder of another run"):
        collect(shared.VECTORS, text, window=3, client=client, run=tmp_path / "run")


def test_workers_killed(client, text, tmp_path):
    """Five workers killed with -9, at random moments; distributed starts others, and hands their tasks out again."""
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=24, block_size=BLOCK)
    result = in_background(collect, shared.VECTORS, text, block_size=BLOCK, client=client, run=tmp_path / "run")
    rng, killed = random.Random(3), 0
    while killed < 5 and planning.status(tmp_path / "run").count("done") < 22:
        time.sleep(rng.random() * 0.5)
        pids = [info["pid"] for info in client.run(_about_me, on_error="ignore").values() if isinstance(info, dict)]
        if pids:
            os.kill(rng.choice(pids), signal.SIGKILL)
            killed += 1
    assert shared.same(result(), collect(shared.VECTORS, text, block_size=BLOCK))
    assert killed


def _about_me():
    import os

    return {"pid": os.getpid()}


def test_a_task_that_fails_says_why(client, text, tmp_path):
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=3)
    with (tmp_path / "text" / "2.txt").open("a") as file:
        file.write("more")
    vectors = shared.VECTORS
    with pytest.raises(BadRun, match="is the folder of another run"):
        collect(vectors, Corpus(tmp_path / "text"), client=client, run=tmp_path / "run")
    work = on_dask.Work(client=client, run=tmp_path / "run", show_progress=False)
    with pytest.raises(BadRun, match=r"failed 3 times: .*2\.txt was changed.*kept in .*run: when that is mended"):
        on_dask.finish(planning.read_plan(tmp_path / "run"), work)


def test_interrupted_and_two_clients(client, text, tmp_path):
    """Ctrl-C leaves a run that the same call takes up; two clients share one run."""
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=8, block_size=BLOCK)
    stop = shared.stopping_after(3, KeyboardInterrupt)
    options = {"block_size": BLOCK, "run": tmp_path / "run"}
    with pytest.raises(KeyboardInterrupt):
        collect(shared.VECTORS, text, client=client, callback=stop, **options)
    assert 3 <= planning.status(tmp_path / "run").count("done") < 8
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        result = in_background(collect, shared.VECTORS, text, client=other, **options)
        mine = collect(shared.VECTORS, text, client=client, **options)
        theirs = result()
    expected = collect(shared.VECTORS, text, block_size=BLOCK)
    assert shared.same(mine, expected)
    assert shared.same(theirs, expected)


SCHEDULER = """
import asyncio, sys
from distributed import Scheduler
async def run():
    async with Scheduler(port=0, dashboard_address=":0", dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(run())
"""
WORKER = """
import asyncio, sys
from distributed import Worker
async def run():
    async with Worker(sys.argv[1], nthreads=1, dashboard=False, memory_limit=0) as worker:
        await worker.finished()
asyncio.run(run())
"""


def start_cluster(folder):
    quiet = {"stderr": subprocess.DEVNULL, "cwd": folder}
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True, **quiet)
    address = scheduler.stdout.readline().strip()
    worker = subprocess.Popen([sys.executable, "-c", WORKER, address], **quiet)
    return address, scheduler, worker


def test_a_scheduler_that_is_started_again(text, tmp_path):
    """Its client ends with an error that says what to do, and the same call with a new one goes on."""
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=12, block_size=BLOCK)
    options = {"block_size": BLOCK, "run": tmp_path / "run"}
    timeouts = {"distributed.comm.timeouts.connect": "2s", "distributed.comm.timeouts.tcp": "5s"}
    import dask

    with dask.config.set(timeouts):
        address, scheduler, worker = start_cluster(tmp_path)
        try:
            client = distributed.Client(address, set_as_default=False, timeout=30)
            result = in_background(collect, shared.VECTORS, text, client=client, **options)
            deadline = time.monotonic() + SECONDS
            while planning.status(tmp_path / "run").count("done") < 3 and time.monotonic() < deadline:
                time.sleep(0.05)
            scheduler.kill()
            with pytest.raises(BadRun, match=r"the cluster is gone.*the same call with a new client goes on"):
                result()
        finally:
            client.close(timeout=2)
            for process in (scheduler, worker):
                process.kill()
                process.wait()
        done = planning.status(tmp_path / "run").count("done")
        assert 3 <= done < 12
        for path in (tmp_path / "run" / "tasks").glob("*.lease-*"):
            os.utime(path, (0, 0))  # as if a minute had passed since the worker was killed
        address, scheduler, worker = start_cluster(tmp_path)
        try:
            with distributed.Client(address, set_as_default=False, timeout=30) as client:
                sums = collect(shared.VECTORS, text, client=client, **options)
        finally:
            for process in (scheduler, worker):
                process.kill()
                process.wait()
    assert shared.same(sums, collect(shared.VECTORS, text, block_size=BLOCK))


def test_labels(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    targets = shared.WORDS | Targets.spans()
    (tmp_path / "a.jsonl").write_text('{"text": "a river bank", "spans": [[2, 7, "one"]]}\n' * 50)
    corpus = Corpus(tmp_path / "a.jsonl")
    assert collect(shared.VECTORS, corpus, targets, client=client) == collect(shared.VECTORS, corpus, targets)
