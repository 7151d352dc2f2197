"""Contexts summed by a Dask client in this process; workers that are processes, and die, are in tests/faults."""

import passes as shared
import pytest

from alacarte import Corpus, Targets, collect
from alacarte.errors import AlacarteError, BadCorpus
from alacarte.passes.collect import count_words

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def text(tmp_path):
    folder = tmp_path / "text"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text("\n".join(shared.sample_text(10_000, number)), encoding="utf-8")
    return Corpus(folder)


def test_same_bits_as_without(client, text):
    for targets in (None, shared.NGRAMS):
        sums = collect(shared.VECTORS, text, targets, block_size=256, client=client)
        assert shared.same(sums, collect(shared.VECTORS, text, targets, block_size=256))


def test_labels(client, tmp_path):
    targets = shared.WORDS | Targets.spans()
    (tmp_path / "a.jsonl").write_text('{"text": "a river bank", "spans": [[2, 7, "one"]]}\n' * 50)
    (tmp_path / "b.jsonl").write_text('{"text": "a river bank", "spans": [[0, 7, "another"]]}\n' * 50)
    corpus = Corpus(tmp_path)
    sums = collect(shared.VECTORS, corpus, targets, block_size=100, client=client)
    assert sums == collect(shared.VECTORS, corpus, targets, block_size=100)


def test_what_a_cluster_does_not_do(client, text, tmp_path):
    for more in ({"checkpoint": tmp_path / "c"}, {"shard": (1, 2)}):
        with pytest.raises(AlacarteError, match="leave shard and checkpoint out"):
            collect(shared.VECTORS, text, client=client, **more)
    with pytest.raises(AlacarteError, match="counting words is not done on a cluster"):
        count_words(shared.VECTORS, text, client=client)
    with pytest.raises(BadCorpus, match="a cluster reads files, and this corpus is iterable of 1 documents"):
        collect(shared.VECTORS, ["a text"], client=client)
    with pytest.raises(AlacarteError, match="client= takes a client"):
        collect(shared.VECTORS, text, client="tcp://127.0.0.1:1")
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(BadCorpus, match="holds no text"):
        collect(shared.VECTORS, tmp_path / "empty.txt", client=client)
    with pytest.raises(BadCorpus, match="is named twice"):
        collect(shared.VECTORS, [tmp_path / "empty.txt"] * 2, client=client)
