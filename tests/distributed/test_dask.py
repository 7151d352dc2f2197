"""Contexts summed on a Dask cluster: the bits of one pass, whatever happens to workers, scheduler and clients."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import passes as shared
import pytest

from alacarte import ALaCarte, Corpus, Targets, collect
from alacarte.errors import AlacarteError, AlacarteWarning, BadRun
from alacarte.passes import dask as on_dask
from alacarte.passes import plan as planning
from alacarte.passes.collect import count_words

distributed = pytest.importorskip("distributed")
parse_timedelta = pytest.importorskip("dask.utils").parse_timedelta
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals as POSIX has them")
BLOCK = 512
SECONDS = 180  # after which a test that waits has failed


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


class Processes:
    """A scheduler and some workers with a thread each, all of them processes of their own."""

    def __init__(self, workers):
        command = [sys.executable, "-c", SCHEDULER]
        self.scheduler = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.scheduler.stdout.readline().strip()
        self.workers = [self.start() for _ in range(workers)]

    def start(self):
        return subprocess.Popen([sys.executable, "-c", WORKER, self.address], stderr=subprocess.DEVNULL)

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def processes():
    made = Processes(2)
    yield made
    made.end()


@pytest.fixture(scope="module")
def client(processes):
    with distributed.Client(processes.address, set_as_default=False, timeout=60) as client:
        client.wait_for_workers(2, timeout=SECONDS)
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


# ------------------------------------------------------------------- processes of this machine, as Dask starts them


@pytest.fixture(scope="module")
def local():
    with on_dask.local_cluster(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield cluster, client


def test_killed_workers_of_a_local_cluster_come_back(local, text, tmp_path):
    """Six workers killed with -9 at random moments, some while they start; nobody starts others but Dask."""
    cluster, client = local
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=24, block_size=BLOCK)
    result = in_background(collect, shared.VECTORS, text, block_size=BLOCK, client=client, run=tmp_path / "run")
    rng = random.Random(8)
    for number in range(6):
        until(lambda number=number: planning.status(tmp_path / "run").count("done") >= 3 * number)
        time.sleep(rng.random() * 0.2)
        process = cluster.workers[rng.randrange(2)].pid
        if process is not None:
            os.kill(process, signal.SIGKILL)
    assert shared.same(result(), collect(shared.VECTORS, text, block_size=BLOCK))
    until(lambda: len(client.nthreads()) == 2)


def test_lost_workers_are_not_given_up(local):
    """Dask would close a worker for good that is not back after 15 s, which on a busy machine it is not."""
    import dask

    assert parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout")) > 3600


@pytest.mark.parametrize("stopped_after", [0, 3])
def test_a_worker_that_hangs(local, text, tmp_path, monkeypatch, stopped_after):
    """Its task goes to another worker, and what it does when it wakes up does no harm."""
    cluster, client = local
    monkeypatch.setattr(on_dask, "LEASE", 2.0)
    until(lambda: len(client.nthreads()) == 2)
    made = planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=12, block_size=BLOCK)
    result = in_background(collect, shared.VECTORS, text, block_size=BLOCK, client=client, run=tmp_path / "run")
    until(lambda: planning.status(tmp_path / "run").count("done") >= stopped_after)
    process = cluster.workers[0].pid
    os.kill(process, signal.SIGSTOP)
    try:
        sums = result()
    finally:
        os.kill(process, signal.SIGCONT)
    assert shared.same(sums, collect(shared.VECTORS, text, block_size=BLOCK))
    assert planning.status(tmp_path / "run").count("done") == made.tasks


def fill_disk(dask_worker, full):
    """Have a worker find no room when it writes, or find it again."""
    import errno

    if not full:
        os.fsync = os.fsync.real
        return

    def no_room(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    no_room.real, os.fsync = os.fsync, no_room


def test_a_full_disk_at_one_worker(local, text, tmp_path):
    """Either the other one does all of the work, or the error says what to do, and the same call goes on."""
    _, client = local
    until(lambda: len(client.nthreads()) == 2)
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=12, block_size=BLOCK)
    full = list(client.nthreads())[:1]
    client.run(fill_disk, full=True, workers=full)
    options = {"block_size": BLOCK, "client": client, "run": tmp_path / "run"}
    said = None
    try:
        collect(shared.VECTORS, text, **options)
    except BadRun as error:
        said = str(error)
    finally:
        client.run(fill_disk, full=False, workers=full)
    assert said is None or re.search("No space left.*Make room.*the same call goes on", said)
    assert shared.same(collect(shared.VECTORS, text, **options), collect(shared.VECTORS, text, block_size=BLOCK))


def test_two_clients_of_a_local_cluster(local, text, tmp_path):
    """Both end with the bits of one pass, and a worker that is killed in between changes nothing."""
    cluster, client = local
    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=12, block_size=BLOCK)
    options = {"block_size": BLOCK, "run": tmp_path / "run"}
    with distributed.Client(cluster, set_as_default=False) as other:
        results = [in_background(collect, shared.VECTORS, text, client=one, **options) for one in (client, other)]
        until(lambda: planning.status(tmp_path / "run").count("done") >= 2)
        if cluster.workers[1].pid is not None:
            os.kill(cluster.workers[1].pid, signal.SIGKILL)
        expected = collect(shared.VECTORS, text, block_size=BLOCK)
        assert all(shared.same(result(), expected) for result in results)


def test_no_workers(text, tmp_path, monkeypatch):
    """A cluster that has none is waited for, and that is said."""
    monkeypatch.setattr(on_dask, "ALONE", 1.0)
    with on_dask.local_cluster(0) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        result = in_background(collect, shared.VECTORS, text, block_size=BLOCK, client=client)
        with pytest.warns(AlacarteWarning, match="the cluster has no workers; they are waited for") as caught:
            until(lambda: len(caught))
        cluster.scale(1)
        assert shared.same(result(), collect(shared.VECTORS, text, block_size=BLOCK))


def until(condition):
    """Wait for something."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


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


def test_two_same_calls_without_a_folder_do_not_disturb_each_other(client, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        result = in_background(collect, shared.VECTORS, text, client=other, block_size=BLOCK)
        mine = collect(shared.VECTORS, text, client=client, block_size=BLOCK)
        theirs = result()
    expected = collect(shared.VECTORS, text, block_size=BLOCK)
    assert shared.same(mine, expected)
    assert shared.same(theirs, expected)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".alacarte-run")] == []
    with pytest.raises(AlacarteError, match="client= takes a client"):
        collect(shared.VECTORS, text, client="tcp://127.0.0.1:1", block_size=BLOCK)


def test_a_scheduler_that_is_started_again(text, tmp_path):
    """Its client ends with an error that says what to do, and the same call with a new one goes on."""
    import dask

    planning.plan(shared.VECTORS, text, out=tmp_path / "run", tasks=12, block_size=BLOCK)
    options = {"block_size": BLOCK, "run": tmp_path / "run"}
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
        first = Processes(1)
        client = distributed.Client(first.address, set_as_default=False, timeout=60)
        try:
            result = in_background(collect, shared.VECTORS, text, client=client, **options)
            until(lambda: planning.status(tmp_path / "run").count("done") >= 3)
            first.scheduler.kill()
            with pytest.raises(BadRun, match=r"the cluster is gone.*the same call with a new client goes on"):
                result()
        finally:
            first.end()
            client.close(timeout=2)
    assert planning.status(tmp_path / "run").count("done") < 12
    for path in (tmp_path / "run" / "tasks").glob("*.lease-*"):
        os.utime(path, (0, 0))  # as if a minute had passed since the worker was killed
    second = Processes(1)
    try:
        with distributed.Client(second.address, set_as_default=False, timeout=60) as client:
            sums = collect(shared.VECTORS, text, client=client, **options)
    finally:
        second.end()
    assert shared.same(sums, collect(shared.VECTORS, text, block_size=BLOCK))


def test_labels(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    targets = shared.WORDS | Targets.spans()
    (tmp_path / "a.jsonl").write_text('{"text": "a river bank", "spans": [[2, 7, "one"]]}\n' * 50)
    corpus = Corpus(tmp_path / "a.jsonl")
    assert collect(shared.VECTORS, corpus, targets, client=client) == collect(shared.VECTORS, corpus, targets)
