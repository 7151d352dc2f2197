"""Contexts summed on a Dask cluster: the bits of one process, whatever happens to the workers."""

import os
import random
import signal
import threading
import time

import passes as shared
import pytest

from alacarte import ALaCarte, Corpus, collect
from alacarte.errors import AlacarteError, BadCorpus

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals as POSIX has them")
BLOCK = 256
SECONDS = 90  # after which a test that waits has failed


@pytest.fixture(scope="module")
def cluster():
    """Two processes of this machine; one that is killed may take as long to come back as a busy machine needs."""
    options = {"threads_per_worker": 1, "processes": True, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(n_workers=2, **options) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False, timeout=60) as client:
        yield client


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text("\n".join(shared.sample_text(30_000, number)), encoding="utf-8")
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

    result.is_alive = thread.is_alive
    return result


def until(condition):
    """Wait for something."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


def test_same_bits(client, text, tmp_path):
    """`collect`, `fit` and `induce`, with nothing left on the disk."""
    sums = collect(shared.VECTORS, text, block_size=BLOCK, client=client)
    expected = collect(shared.VECTORS, text, block_size=BLOCK)
    assert sums == expected
    assert shared.same(sums, expected)
    assert sums.units == expected.units
    options = {"context_weights": "top:2", "spread": 3, "block_size": BLOCK, "tokenizer": str.split}
    sums = collect(shared.VECTORS, text, shared.NGRAMS, **options, client=client)
    assert shared.same(sums, collect(shared.VECTORS, text, shared.NGRAMS, **options))
    model = ALaCarte.fit(shared.VECTORS, text, weighting="none", ridge=1.0, client=client)
    here = ALaCarte.fit(shared.VECTORS, text, weighting="none", ridge=1.0)
    assert (model.transform.matrix == here.transform.matrix).all()
    assert model.induce(text, ["x"], client=client)["x"].tolist() == here.induce(text, ["x"])["x"].tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_little_memory_and_weights_by_counts(client, text):
    memory = shared.budget(shared.VECTORS, len(shared.NGRAMS), 28, BLOCK, 1)
    options = {"context_weights": "sif", "block_size": BLOCK}
    sums = collect(shared.VECTORS, text, shared.NGRAMS, memory=memory, client=client, **options)
    assert shared.same(sums, collect(shared.VECTORS, text, shared.NGRAMS, **options))


def hide(dask_worker, path, hidden):
    """Have a worker not see a file, or see it again."""
    import pathlib

    if hidden:
        real = pathlib.Path.stat

        def stat(self, **options):
            if str(self) == path:
                raise FileNotFoundError(2, "No such file or directory", path)
            return real(self, **options)

        stat.real = real
        pathlib.Path.stat = stat
    else:
        pathlib.Path.stat = pathlib.Path.stat.real


def test_workers_that_do_not_see_the_files(client, text, tmp_path):
    path = str(tmp_path / "text" / "2.txt")
    client.run(hide, path=path, hidden=True)
    try:
        with pytest.raises(BadCorpus, match=r"no such file: .*2\.txt.*on the worker .*: every worker reads the text"):
            collect(shared.VECTORS, text, block_size=BLOCK, client=client)
    finally:
        client.run(hide, path=path, hidden=False)
    assert shared.same(
        collect(shared.VECTORS, text, block_size=BLOCK, client=client), collect(shared.VECTORS, text, block_size=BLOCK)
    )


def test_a_task_that_fails_for_good_says_why(client, text):
    (text.segments()[0].location.path).write_bytes(b"a b\nc\xff\n")
    with pytest.raises(BadCorpus, match=r"0\.txt: byte 5 .*is not utf-8"):
        collect(shared.VECTORS, Corpus(text.segments()[0].location.path), client=client)


def test_interrupted(client, text):
    """Ctrl-C ends the call, its tasks are forgotten, and the same call does it again."""
    stop = shared.stopping_after(2, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        collect(shared.VECTORS, text, block_size=BLOCK, client=client, callback=stop)
    until(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
    states = []
    ours = collect(shared.VECTORS, text, block_size=BLOCK, client=client, callback=states.append)
    assert shared.same(ours, collect(shared.VECTORS, text, block_size=BLOCK))
    assert states[-1].done == states[-1].total == text.size
    assert len(states) >= 8


def test_two_clients(cluster, client, text):
    with distributed.Client(cluster, set_as_default=False) as other:
        results = [
            in_background(collect, shared.VECTORS, text, block_size=BLOCK, client=one) for one in (client, other)
        ]
        expected = collect(shared.VECTORS, text, block_size=BLOCK)
        assert all(shared.same(result(), expected) for result in results)


def test_workers_that_are_killed(cluster, client, text):
    """Killed with -9 at random moments, and started again by nobody but Dask."""
    rng = random.Random(8)
    expected = collect(shared.VECTORS, text, shared.EVERYTHING, block_size=64, context_weights="top:2")
    options = {"block_size": 64, "context_weights": "top:2", "client": client}
    result = in_background(collect, shared.VECTORS, text, shared.EVERYTHING, **options)
    for number in range(4):
        time.sleep(rng.random())
        if not result.is_alive() and number:
            break
        process = cluster.workers[number % 2].pid
        if process is not None:
            os.kill(process, signal.SIGKILL)
    assert shared.same(result(), expected)
    until(lambda: len(client.nthreads()) == 2)
    assert shared.same(collect(shared.VECTORS, text, shared.EVERYTHING, **options), expected)


def test_a_cluster_that_is_gone(text):
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
        own = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        )
        client = distributed.Client(own, set_as_default=False)
        own.close()
        with pytest.raises(AlacarteError, match="cluster"):
            collect(shared.VECTORS, text, block_size=BLOCK, client=client)
        client.close(timeout=2)
